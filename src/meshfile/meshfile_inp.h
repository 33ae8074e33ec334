// Inside meshfile: Abaqus and CalculiX input files; a map from sparse labels to indices, and sets of labels.
#ifndef PL_MESHFILE_INP_H
#define PL_MESHFILE_INP_H

#include "meshfile/meshfile_build.h"

#define PL_LABEL_FLAT (-2) // the index of elements without volume (shells, lines)

// Open addressing; labels are not negative.
typedef struct pl_label_map {
    int64_t *label; // -1: free
    int32_t *index;
    int64_t room; // a power of two, or 0
    int64_t count;
} pl_label_map;

int32_t pl_label_find(const pl_label_map *map, int64_t label);      // -1 when there is none
bool pl_label_add(pl_label_map *map, int64_t label, int32_t index); // false when out of memory
void pl_label_clear(pl_label_map *map);

// A set as the file gives it: labels, or (negative) -1-k for the set named word[k].
typedef struct pl_inp_set {
    char name[256];
    int64_t *entry;
    int32_t count, room;
    bool for_surface; // used by a *SURFACE: not a region, unless
    bool of_elements; // it was given together with elements (*ELEMENT, ELSET=)
    bool section;     // named by a *SOLID SECTION
} pl_inp_set;

// All sets of a kind, and the names that they use.
typedef struct pl_inp_sets {
    pl_inp_set *set;
    int32_t count, room;
    pl_names word;
} pl_inp_sets;

// Names are the same when they differ in case only. Returns the index; find gives -1 when there is none, need
// -1 when out of memory.
int32_t pl_inp_set_find(const pl_inp_sets *sets, const char *name);
int32_t pl_inp_set_need(pl_inp_sets *sets, const char *name);
bool pl_inp_set_add(pl_inp_set *set, int64_t entry);
bool pl_inp_set_add_word(pl_inp_sets *sets, int32_t set, const char *word);
void pl_inp_sets_clear(pl_inp_sets *sets);

// One line of a *SURFACE: side `side` (1-based, as Abaqus numbers them) of an element or of all elements of a
// set.
typedef struct pl_inp_side {
    int32_t surface;
    int64_t element; // label, or -1-k for the set word[k]
    int side;
    int line;
} pl_inp_side;

// A file being read. Owns its arrays.
typedef struct pl_inp {
    const char *path;
    pl_error *err;
    const char *at, *end; // what is not read yet
    int line;             // of the last one read
    pl_build build;
    pl_label_map nodes, elements;
    pl_inp_sets elsets, nsets;
    pl_inp_side *side;
    int32_t side_count, side_room;
    int64_t *face_of; // surface elements (shells): node labels, 5 each: surface, four corners
    int32_t face_count, face_room;
    int64_t *element_node; // node labels of the volume elements, resolved at the end
    int32_t element_node_count, element_node_room;
} pl_inp;

// ---- writing (meshfile_inp_write.c), also for decks with loads: names (with other characters than letters,
// digits, '_', '-' and '.' they are quoted), reals with a comma before them, faces as a surface by element
// sides, and a whole mesh with its element sets and surfaces; the set of all nodes is Nall.
void pl_inp_put_name(pl_text *text, const char *name);
void pl_inp_put_real(pl_text *text, double value);
void pl_inp_put_surface(pl_text *text, const pl_mesh *mesh, const char *name, const int64_t *face,
                        int64_t faces);
void pl_inp_put_mesh(pl_text *text, const pl_mesh *mesh);

// ---- reading
// Turns what was read into regions and surfaces (meshfile_inp_sets.c).
pl_status pl_inp_resolve(pl_inp *inp);

// Local corners of side `side` (1-based); returns their number, 0 when there is no such side.
int pl_inp_side_corners(pl_element_kind kind, int side, int corner[4]);

#endif
