// Labels, sets and surfaces of Abaqus and CalculiX files: what a file names, made into regions and surfaces.
// Regions are the element sets of *SOLID SECTION; without sections, each element belongs to the smallest set
// that holds it (sets that only serve a *SURFACE aside). Surfaces come from *SURFACE, from shell elements,
// and from node sets whose nodes cover boundary faces.
#include <stdio.h>
#include <strings.h>
#include "meshfile/meshfile_inp.h"
#include "mesh/mesh.h"

// ---- labels

// Linear probing from a multiplicative hash; half of the slots are free, so it ends.
static int64_t label_slot(const pl_label_map *map, int64_t label)
{
    uint64_t h = (uint64_t)label * UINT64_C(0x9e3779b97f4a7c15);
    int64_t slot = (int64_t)(h >> 20) & (map->room - 1);
    while (map->label[slot] >= 0 && map->label[slot] != label) {
        slot = (slot + 1) & (map->room - 1);
    }
    return slot;
}

int32_t pl_label_find(const pl_label_map *map, int64_t label)
{
    if (map->room == 0 || label < 0) {
        return -1;
    }
    const int64_t slot = label_slot(map, label);
    return map->label[slot] == label ? map->index[slot] : -1;
}

// Twice the slots; all labels find new ones.
static bool label_enlarge(pl_label_map *map)
{
    const int64_t room = map->room ? 2 * map->room : 256;
    pl_label_map larger = {
        .label = PL_NEW_ARRAY(int64_t, room), .index = PL_NEW_ARRAY(int32_t, room), .room = room};

    if (!larger.label || !larger.index) {
        pl_label_clear(&larger);
        return false;
    }

    // -1 in every slot
    memset(larger.label, 0xff, (size_t)room * sizeof(int64_t));
    for (int64_t i = 0; i < map->room; ++i) {
        if (map->label[i] >= 0) {
            const int64_t slot = label_slot(&larger, map->label[i]);
            larger.label[slot] = map->label[i];
            larger.index[slot] = map->index[i];
        }
    }

    larger.count = map->count;
    pl_label_clear(map);
    *map = larger;

    return true;
}

bool pl_label_add(pl_label_map *map, int64_t label, int32_t index)
{
    if (2 * (map->count + 1) > map->room && !label_enlarge(map)) {
        return false;
    }

    const int64_t slot = label_slot(map, label);
    map->label[slot] = label;
    map->index[slot] = index;
    map->count++;

    return true;
}

void pl_label_clear(pl_label_map *map)
{
    pl_free(map->label);
    pl_free(map->index);
    *map = (pl_label_map){0};
}

// ---- sets

int32_t pl_inp_set_find(const pl_inp_sets *sets, const char *name)
{
    for (int32_t i = 0; i < sets->count; ++i) {
        if (strcasecmp(sets->set[i].name, name) == 0) {
            return i;
        }
    }

    return -1;
}

int32_t pl_inp_set_need(pl_inp_sets *sets, const char *name)
{
    const int32_t known = pl_inp_set_find(sets, name);
    if (known >= 0) {
        return known;
    }
    if (!pl_grow((void **)&sets->set, &sets->room, (int64_t)sets->count + 1, sizeof(pl_inp_set))) {
        return -1;
    }

    pl_inp_set *set = sets->set + sets->count;
    *set = (pl_inp_set){0};
    snprintf(set->name, sizeof set->name, "%s", name);

    return sets->count++;
}

bool pl_inp_set_add(pl_inp_set *set, int64_t entry)
{
    if (!pl_grow((void **)&set->entry, &set->room, (int64_t)set->count + 1, sizeof(int64_t))) {
        return false;
    }
    set->entry[set->count++] = entry;
    return true;
}

// A name within a set, once.
bool pl_inp_set_add_word(pl_inp_sets *sets, int32_t set, const char *word)
{
    const int32_t k = pl_names_add(&sets->word, word);
    for (int32_t i = 0; i < sets->set[set].count; ++i) {
        if (sets->set[set].entry[i] == -1 - (int64_t)k) {
            return k >= 0; // once is enough
        }
    }

    return k >= 0 && pl_inp_set_add(sets->set + set, -1 - (int64_t)k);
}

void pl_inp_sets_clear(pl_inp_sets *sets)
{
    for (int32_t i = 0; i < sets->count; ++i) {
        pl_free(sets->set[i].entry);
    }
    pl_free(sets->set);
    pl_names_clear(&sets->word);
    *sets = (pl_inp_sets){0};
}

// Marks the members of a set with `value`. Labels that exist nowhere are refused; sets may hold sets, not
// deeper than `depth`.
static pl_status inp_mark(pl_inp *inp, const pl_inp_sets *sets, int32_t s, const pl_label_map *map,
                          int32_t *mark, int32_t value, int depth)
{
    const pl_inp_set *set = sets->set + s;
    for (int32_t i = 0; i < set->count; ++i) {
        const int64_t entry = set->entry[i];

        if (entry >= 0) {
            const int32_t index = pl_label_find(map, entry);
            if (index == PL_LABEL_FLAT) {
                continue;
            }
            if (index < 0) {
                return pl_fail(inp->err, PL_BAD_INPUT,
                               "%s: the set %s refers to %s %lld, which does not exist", inp->path, set->name,
                               map == &inp->nodes ? "node" : "element", (long long)entry);
            }

            mark[index] = value;
            continue;
        }

        const char *word = sets->word.name[-1 - entry];
        const int32_t inner = pl_inp_set_find(sets, word);
        if (inner < 0 || depth == 0) {
            return pl_fail(inp->err, PL_BAD_INPUT, "%s: the set %s contains the set %s, which %s", inp->path,
                           set->name, word, inner < 0 ? "does not exist" : "is nested too deep");
        }

        const pl_status status = inp_mark(inp, sets, inner, map, mark, value, depth - 1);
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// ---- elements: node labels to indices

static pl_status inp_resolve_elements(pl_inp *inp)
{
    pl_build *b = &inp->build;
    const int64_t *label = inp->element_node;
    int32_t *node = b->node;

    for (int32_t e = 0; e < b->element_count; ++e) {
        const int count = pl_element_node_count((pl_element_kind)b->kind[e]);
        for (int a = 0; a < count; ++a, ++label, ++node) {
            *node = pl_label_find(&inp->nodes, *label);

            if (*node < 0) {
                return pl_fail(inp->err, PL_BAD_INPUT,
                               "%s: an element refers to node %lld, which does not exist", inp->path,
                               (long long)*label);
            }
        }
    }

    return PL_OK;
}

// ---- regions

// Sections decide, later ones over earlier ones; without any, the smallest set, because
// it says most about an element.
static pl_status inp_resolve_regions(pl_inp *inp)
{
    pl_build *b = &inp->build;
    pl_inp_sets *sets = &inp->elsets;
    bool sections = false;

    // are there sections?
    for (int32_t s = 0; s < sets->count; ++s) {
        sections = sections || sets->set[s].section;
    }

    int32_t *mark = PL_NEW_ARRAY(int32_t, b->element_count), *size = PL_NEW_ARRAY(int32_t, b->element_count);
    pl_status status = mark && size ? PL_OK : pl_fail_memory(inp->err, inp->path);
    for (int32_t e = 0; status == PL_OK && e < b->element_count; ++e) {
        b->region[e] = -1;
        size[e] = INT32_MAX;
    }

    // set by set; `size` remembers the smallest so far
    for (int32_t s = 0; status == PL_OK && s < sets->count; ++s) {
        const pl_inp_set *set = sets->set + s;
        if (sections ? !set->section : set->for_surface && !set->of_elements) {
            continue;
        }
        status = inp_mark(inp, sets, s, &inp->elements, mark, s + 1, 4);
        int32_t members = 0;
        for (int32_t e = 0; e < b->element_count; ++e) {
            members += mark[e] == s + 1;
        }
        for (int32_t e = 0; e < b->element_count; ++e) {
            if (mark[e] == s + 1 && (sections || members < size[e])) {
                b->region[e] = s;
                size[e] = members;
            }
        }
    }

    // names for the sets that are in use, in the order of the file
    int32_t *index = PL_NEW_ARRAY(int32_t, sets->count + 1);
    if (status == PL_OK && !index) {
        status = pl_fail_memory(inp->err, inp->path);
    }
    for (int32_t e = 0; status == PL_OK && e < b->element_count; ++e) {
        index[b->region[e] + 1] = 1;
    }

    for (int32_t s = 0; status == PL_OK && s <= sets->count; ++s) {
        if (index[s]) {
            index[s] = pl_names_add(&b->regions, s ? sets->set[s - 1].name : "body");
            status = index[s] < 0 ? pl_fail_memory(inp->err, inp->path) : PL_OK;
        }
    }

    for (int32_t e = 0; status == PL_OK && e < b->element_count; ++e) {
        b->region[e] = index[b->region[e] + 1];
    }
    pl_free(index);
    pl_free(mark);
    pl_free(size);

    return status;
}

// ---- surfaces

// Abaqus numbers sides by corners: tets 1-2-3, 1-4-2, 2-4-3, 3-4-1; wedges 1-2-3, 4-6-5, 1-4-5-2, 2-5-6-3,
// 3-6-4-1.
int pl_inp_side_corners(pl_element_kind kind, int side, int corner[4])
{
    static const int tet[4][4] = {{0, 1, 2, -1}, {0, 3, 1, -1}, {1, 3, 2, -1}, {2, 3, 0, -1}};
    static const int wedge[5][4] = {{0, 1, 2, -1}, {3, 5, 4, -1}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}};
    const bool is_tet = pl_element_is_tet(kind);

    if (side < 1 || side > (is_tet ? 4 : 5)) {
        return 0;
    }
    memcpy(corner, is_tet ? tet[side - 1] : wedge[side - 1], 4 * sizeof(int));

    return corner[3] < 0 ? 3 : 4;
}

// The corners of a side in our numbering; b->node holds indices already.
static pl_status inp_add_side(pl_inp *inp, const pl_inp_side *s, int32_t e, const int64_t *start)
{
    pl_build *b = &inp->build;
    int local[4];
    const int count = pl_inp_side_corners((pl_element_kind)b->kind[e], s->side, local);

    if (count == 0) {
        return pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: side S%d does not exist on this element", inp->path,
                       s->line, s->side);
    }

    int32_t corner[4];
    for (int a = 0; a < count; ++a) {
        corner[a] = b->node[start[e] + local[a]];
    }
    pl_build_face(b, s->surface, corner, count);

    return PL_OK;
}

// Sides of single elements and of sets.
static pl_status inp_resolve_sides(pl_inp *inp)
{
    pl_build *b = &inp->build;
    int64_t *start = PL_NEW_ARRAY(int64_t, b->element_count + 1);
    int32_t *mark = PL_NEW_ARRAY(int32_t, b->element_count);
    pl_status status = start && mark ? PL_OK : pl_fail_memory(inp->err, inp->path);

    // where the nodes of each element begin
    for (int32_t e = 0; status == PL_OK && e < b->element_count; ++e) {
        start[e + 1] = start[e] + pl_element_node_count((pl_element_kind)b->kind[e]);
    }

    for (int32_t i = 0; status == PL_OK && i < inp->side_count; ++i) {
        const pl_inp_side *s = inp->side + i;
        if (s->element >= 0) {
            const int32_t e = pl_label_find(&inp->elements, s->element);
            status = e >= 0 ? inp_add_side(inp, s, e, start)
                            : pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: element %lld does not exist", inp->path,
                                      s->line, (long long)s->element);
            continue;
        }

        const char *word = inp->elsets.word.name[-1 - s->element];
        const int32_t set = pl_inp_set_find(&inp->elsets, word);
        if (set < 0) {
            status = pl_fail(inp->err, PL_BAD_INPUT, "%s:%d: the element set %s does not exist", inp->path,
                             s->line, word);
            break;
        }

        status = inp_mark(inp, &inp->elsets, set, &inp->elements, mark, i + 1, 4);
        for (int32_t e = 0; status == PL_OK && e < b->element_count; ++e) {
            if (mark[e] == i + 1) {
                status = inp_add_side(inp, s, e, start);
            }
        }
    }

    pl_free(start);
    pl_free(mark);

    return status;
}

// Shell elements as faces.
static pl_status inp_resolve_shells(pl_inp *inp)
{
    for (int32_t f = 0; f < inp->face_count; ++f) {
        const int64_t *face = inp->face_of + 5 * (int64_t)f;
        int32_t corner[4];
        int count = 0;

        for (int a = 0; a < 4 && face[1 + a] >= 0; ++a) {
            corner[count] = pl_label_find(&inp->nodes, face[1 + a]);
            if (corner[count++] < 0) {
                return pl_fail(inp->err, PL_BAD_INPUT,
                               "%s: an element refers to node %lld, which does not exist", inp->path,
                               (long long)face[1 + a]);
            }
        }

        pl_build_face(&inp->build, (int32_t)face[0], corner, count);
    }

    return PL_OK;
}

// Node sets become surfaces where they cover faces; a *SURFACE of the same name goes before them.
static pl_status inp_resolve_node_sets(pl_inp *inp)
{
    pl_build *b = &inp->build;
    int32_t *mark = PL_NEW_ARRAY(int32_t, b->vertex_count);
    uint8_t *in = PL_NEW_ARRAY(uint8_t, b->vertex_count);
    pl_status status = mark && in ? PL_OK : pl_fail_memory(inp->err, inp->path);

    for (int32_t s = 0; status == PL_OK && s < inp->nsets.count; ++s) {
        const char *name = inp->nsets.set[s].name;
        status = inp_mark(inp, &inp->nsets, s, &inp->nodes, mark, s + 1, 4);
        if (status != PL_OK || pl_names_find(&b->surfaces, name) >= 0) {
            continue;
        }
        int32_t members = 0;
        for (int32_t v = 0; v < b->vertex_count; ++v) {
            in[v] = mark[v] == s + 1;
            members += in[v];
        }

        // every file has such a set
        if (members == b->vertex_count) {
            continue; // a name for all nodes is no surface
        }
        const int32_t before = b->face_count, surface = pl_names_add(&b->surfaces, name);
        status = surface < 0 ? pl_fail_memory(inp->err, inp->path)
                             : pl_build_faces_of_nodes(b, surface, in, inp->err);
        if (status == PL_OK && b->face_count == before) {
            pl_free(b->surfaces.name[--b->surfaces.count]); // a set of single nodes names no surface
        }
    }

    pl_free(mark);
    pl_free(in);

    return status;
}

// Elements first: everything else needs their nodes.
pl_status pl_inp_resolve(pl_inp *inp)
{
    // sets that a surface names, before it or after it
    for (int32_t i = 0; i < inp->side_count; ++i) {
        const int64_t word = -1 - inp->side[i].element;
        const int32_t set = word >= 0 ? pl_inp_set_find(&inp->elsets, inp->elsets.word.name[word]) : -1;
        if (set >= 0) {
            inp->elsets.set[set].for_surface = true;
        }
    }

    pl_status status = inp->build.failed ? pl_fail_memory(inp->err, inp->path) : inp_resolve_elements(inp);
    if (status == PL_OK) {
        status = inp_resolve_regions(inp);
    }
    if (status == PL_OK) {
        status = inp_resolve_shells(inp);
    }
    if (status == PL_OK) {
        status = inp_resolve_sides(inp);
    }
    if (status == PL_OK) {
        status = inp_resolve_node_sets(inp);
    }

    return status;
}
