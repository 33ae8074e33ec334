// What the steps of remeshing share (meshing_remesh.c).
#ifndef PL_MESHING_REMESH_H
#define PL_MESHING_REMESH_H

#include "meshing/meshing_part.h"

#define REMESH_ROUNDS_MAX 40 // an edge is halved once in a round

#define REMESH_TURN 0.7 // least cosine between normals before and after a flip

// free: moves on its patch; feature: along its line; corner: stays
typedef enum vertex_kind { VERTEX_FREE, VERTEX_FEATURE, VERTEX_CORNER } vertex_kind;

typedef struct remesh_tri {
    int32_t v[3];   // v[0] < 0: gone
    bool sharp[3];  // edge k, from v[k] to v[k + 1], is a feature
    int32_t origin; // triangle of the cells that says what lies on its sides
    int32_t patch;  // of the part
} remesh_tri;

typedef struct remesh_edge {
    int32_t a, b;         // vertices, a < b
    int32_t first;        // uses of the edge, 3 t + k, chained by next[]
    double length, ratio; // ratio: of the length and the size
} remesh_edge;

// What the steps share. Arrays grow; those of a round are made again by remesh_round.
typedef struct remesh {
    const part_shape *part;
    const cells *c;
    const size_field *field;
    double near;                             // mm, the part of the thinnest wall a triangle may be away
    bool polish;                             // most edges are of the right length already
    bool exact;                              // splits and flips only, within the triangles given
    double *x;                               // mm, 3 per vertex
    uint8_t *kind;                           // vertex_kind of each
    int32_t vertex_count, x_room, kind_room; // rooms: capacities
    remesh_tri *tri;
    int32_t tri_count, tri_room;
    // of a round
    pl_table table;
    remesh_edge *edge;
    int32_t edge_count;      // at its start; flips add keys to the table
    int32_t *next;           // per use
    int32_t *start, *around; // triangles around each vertex
    uint8_t *touched;        // per triangle
} remesh;

// Position of vertex v, valid until the next vertex is added.
const double *remesh_at(const remesh *r, int32_t v);

// Normal times twice the area.
void remesh_normal(const double *a, const double *b, const double *c, double n[3]);

// Takes gone triangles out and lists edges, longest first, and the triangles around vertices.
bool remesh_round(remesh *r);

// Whether the middle of a triangle is far from its patch.
bool remesh_off(const remesh *r, const double *const x[3], int32_t patch);

// Flips edges whose opposite angles sum to more than pi (not Delaunay), where that neither turns a triangle
// over nor moves the surface by more than the tolerances. Returns how many.
int32_t remesh_flip(remesh *r);

// Until none is left: a flip may make another needle. Both triangles must separate the same cells.
bool remesh_needles(remesh *r);

// Whether vertex `gone` may move onto `kept`: its triangles keep their sides and none gets an edge much
// longer than the size, or longer than before.
bool remesh_may_move(const remesh *r, int32_t gone, int32_t kept, const double to[3]);

// Until none is left, shortest first.
bool remesh_short_edges(remesh *r);

// Collapses edges with a ratio of length to size below `shorter`, shortest first.
void remesh_collapse(remesh *r, double shorter);

// After collapses: an edge that one of its triangles calls a feature is one for all of them.
void remesh_agree(remesh *r);

#endif
