// From a description to a mesh: copy, reverse inverted elements, drop unused vertices,
// find faces, boundary and surfaces.
#include <stdio.h>
#include "mesh/mesh_impl.h"

// Everything needed while a mesh is built; freed at the end except for the mesh.
typedef struct mesh_work {
    const pl_mesh_def *def;
    const int64_t *surface_face; // given instead of corners, or NULL
    pl_mesh *mesh;
    pl_mesh_report report;
    int32_t *vertex_of; // def vertex -> mesh vertex, -1 when unused
    pl_table face;      // corners of all faces
    int64_t *owner;     // two per face of the table: element * 8 + side, -1 for none
} mesh_work;

// ---- memory

void pl_mesh_destroy(pl_mesh *mesh)
{
    if (!mesh) {
        return;
    }

    // names are copies of our own
    pl_mesh_view *v = &mesh->view;
    for (int32_t i = 0; v->region_name && i < v->region_count; ++i) {
        pl_free((void *)v->region_name[i]);
    }
    for (int32_t i = 0; v->surface_name && i < v->surface_count; ++i) {
        pl_free((void *)v->surface_name[i]);
    }

    // the view's arrays are const for its users only
    void *const block[] = {(void *)v->position,     (void *)v->kind,          (void *)v->node_start,
                           (void *)v->node,         (void *)v->region,        (void *)v->region_name,
                           (void *)v->surface_name, (void *)v->surface_start, (void *)v->surface_face,
                           mesh->boundary};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_mesh_trees_destroy(mesh->trees);
    pl_free(mesh->sky);
    pl_free(mesh);
}

// A copy of an array of names; NULL when out of memory.
static const char *const *create_names(int32_t count, const char *const *name)
{
    char **copy = PL_NEW_ARRAY(char *, count);
    bool ok = copy != NULL;

    for (int32_t i = 0; i < count && ok; ++i) {
        copy[i] = pl_strdup(name[i]);
        ok = copy[i] != NULL;
    }

    // a half-made copy is released
    for (int32_t i = 0; i < count && copy && !ok; ++i) {
        pl_free(copy[i]);
    }
    if (!ok) {
        pl_free(copy);
        copy = NULL;
    }

    return (const char *const *)copy;
}

// A copy of an array; NULL when out of memory.
static void *create_copy(const void *data, size_t count, size_t size)
{
    void *copy = pl_alloc_array(count, size);
    if (copy && count > 0) {
        memcpy(copy, data, count * size);
    }
    return copy;
}

// ---- vertices: unused ones go, the others keep their order

static pl_status create_vertices(mesh_work *w, pl_error *err)
{
    const pl_mesh_def *def = w->def;
    pl_mesh_view *v = &w->mesh->view;
    const int64_t node_count = def->node_start[def->element_count];

    w->vertex_of = PL_NEW_ARRAY(int32_t, def->vertex_count);
    if (!w->vertex_of) {
        return pl_fail_memory(err, "mesh: vertices");
    }

    // mark the vertices that elements use, then number them in their old order
    for (int64_t i = 0; i < node_count; ++i) {
        w->vertex_of[def->node[i]] = 1;
    }

    int32_t used = 0;
    for (int32_t i = 0; i < def->vertex_count; ++i) {
        w->vertex_of[i] = w->vertex_of[i] ? used++ : -1;
    }

    double *x = PL_NEW_ARRAY(double, 3 * (size_t)used);
    v->position = x;
    v->vertex_count = used;
    w->report.unused_vertices = def->vertex_count - used;
    if (!x) {
        return pl_fail_memory(err, "mesh: vertices");
    }

    // copy the positions and find the bounding box
    pl_mesh *mesh = w->mesh;
    for (int i = 0; i < 3; ++i) {
        mesh->low[i] = INFINITY;
        mesh->high[i] = -INFINITY;
    }

    for (int32_t i = 0; i < def->vertex_count; ++i) {
        for (int k = 0; k < 3 && w->vertex_of[i] >= 0; ++k) {
            const double at = def->position[3 * (size_t)i + k];
            x[3 * (size_t)w->vertex_of[i] + k] = at;
            mesh->low[k] = fmin(mesh->low[k], at);
            mesh->high[k] = fmax(mesh->high[k], at);
        }
    }

    return PL_OK;
}

// Vertices at the same place (within 1e-9 of the size) are allowed but reported: they are often a missing
// join.
static pl_status create_count_duplicates(mesh_work *w, pl_error *err)
{
    const pl_mesh_view *v = &w->mesh->view;
    int32_t *same = PL_NEW_ARRAY(int32_t, v->vertex_count);
    const int32_t joined =
        same ? pl_points_weld(v->vertex_count, v->position, 1e-9 * pl_mesh_size(w->mesh), same) : -1;

    pl_free(same);
    if (joined < 0) {
        return pl_fail_memory(err, "mesh: duplicate vertices");
    }
    w->report.duplicate_vertices = joined;

    return PL_OK;
}

// ---- elements

// Kinds, nodes (renumbered), regions and their names.
static pl_status create_elements(mesh_work *w, pl_error *err)
{
    const pl_mesh_def *def = w->def;
    pl_mesh_view *v = &w->mesh->view;
    const size_t count = (size_t)def->element_count, nodes = (size_t)def->node_start[count];

    v->element_count = def->element_count;
    v->region_count = def->region_count;
    v->kind = create_copy(def->kind, count, sizeof *def->kind);
    v->node_start = create_copy(def->node_start, count + 1, sizeof *def->node_start);
    v->region = create_copy(def->region, count, sizeof *def->region);
    v->region_name = create_names(def->region_count, def->region_name);
    int32_t *node = PL_NEW_ARRAY(int32_t, nodes);
    v->node = node;
    if (!v->kind || !v->node_start || !v->region || !v->region_name || !node) {
        return pl_fail_memory(err, "mesh: elements");
    }
    for (size_t i = 0; i < nodes; ++i) {
        node[i] = w->vertex_of[def->node[i]];
    }

    return PL_OK;
}

// Volume of the element spanned by the corners alone, and the longest distance between two of them.
static double create_corner_volume(const pl_mesh *mesh, int32_t e, double *longest)
{
    double x[3 * PL_ELEMENT_NODES_MAX];
    pl_mesh_gather(mesh, e, x);
    const int corners = pl_element_corner_count((pl_element_kind)mesh->view.kind[e]);
    *longest = 0;

    for (int a = 0; a < corners; ++a) {
        for (int b = 0; b < a; ++b) {
            *longest = fmax(*longest, pl_distance3(x + 3 * a, x + 3 * b));
        }
    }

    return pl_element_volume(corners == 4 ? PL_TET4 : PL_PRISM6, x);
}

// Mirrors the node order: a tet exchanges its corners 1 and 2, a prism its bottom and top.
static void create_turn(pl_element_kind kind, int32_t *node)
{
    static const int8_t tet[3][2] = {{1, 2}, {4, 6}, {8, 9}};
    static const int8_t prism[6][2] = {{0, 3}, {1, 4}, {2, 5}, {6, 9}, {7, 10}, {8, 11}};
    const bool is_tet = pl_element_is_tet(kind);
    const int swaps = kind == PL_TET4 ? 1 : kind == PL_PRISM15 ? 6 : 3;

    for (int i = 0; i < swaps; ++i) {
        const int8_t *pair = is_tet ? tet[i] : prism[i];
        const int32_t first = node[pair[0]];
        node[pair[0]] = node[pair[1]];
        node[pair[1]] = first;
    }
}

// Elements must have a positive volume by their corners. A negative one is reversed, unless surfaces are
// given as faces: these would change their sides.
static pl_status create_orient(mesh_work *w, pl_error *err)
{
    const pl_mesh_view *v = &w->mesh->view;
    for (int32_t e = 0; e < v->element_count; ++e) {
        double longest;
        const double volume = create_corner_volume(w->mesh, e, &longest);

        // flat to rounding: there is no orientation to restore
        const double *at = v->position + 3 * (size_t)v->node[v->node_start[e]];
        if (fabs(volume) <= 1e-14 * longest * longest * longest) {
            return pl_fail(err, PL_BAD_INPUT, "mesh: element %d (%s) has zero volume (near %.6g %.6g %.6g)",
                           (int)e, pl_element_kind_name(v->kind[e]), at[0], at[1], at[2]);
        }

        if (volume < 0 && w->surface_face) {
            return pl_fail(err, PL_BAD_INPUT,
                           "mesh: element %d: its corners alone span a negative volume (near %.6g %.6g %.6g)",
                           (int)e, at[0], at[1], at[2]);
        }

        if (volume < 0) {
            create_turn((pl_element_kind)v->kind[e], (int32_t *)v->node + v->node_start[e]);
            w->report.flipped_elements++;
        }
    }

    return PL_OK;
}

// Inverted elements are counted and the first ten are named.
// Curved elements (and twisted prisms) may be inside out somewhere although their corners are not.
static pl_status create_check_jacobians(mesh_work *w, pl_error *err)
{
    const pl_mesh_view *v = &w->mesh->view;
    char list[200] = "";
    size_t length = 0;
    int32_t bad = 0;

    for (int32_t e = 0; e < v->element_count; ++e) {
        double x[3 * PL_ELEMENT_NODES_MAX];
        // a linear tet has one determinant, already checked
        pl_mesh_gather(w->mesh, e, x);
        if (v->kind[e] == PL_TET4 || pl_jacobian_bound((pl_element_kind)v->kind[e], x) > 0) {
            continue;
        }
        if (bad++ < 10) {
            length += (size_t)snprintf(list + length, sizeof list - length, " %d", (int)e);
        }
    }

    if (bad > 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "mesh: %d element%s inverted somewhere in their curved shape (Jacobian not positive): "
                       "element%s%s%s",
                       (int)bad, bad == 1 ? " is" : "s are", bad == 1 ? "" : "s", list,
                       bad > 10 ? " ..." : "");
    }

    return PL_OK;
}

// Two elements with the same corners would double the material there.
static pl_status create_check_repeats(mesh_work *w, pl_error *err)
{
    const pl_mesh_view *v = &w->mesh->view;

    // sorted corners identify an element; tets are padded with -1
    pl_table table;
    int32_t *first = PL_NEW_ARRAY(int32_t, v->element_count);

    if (!first || !pl_table_init(&table, 6, v->element_count)) {
        pl_free(first);
        return pl_fail_memory(err, "mesh: elements");
    }

    pl_status status = PL_OK;
    for (int32_t e = 0; e < v->element_count && status == PL_OK; ++e) {
        int32_t key[6] = {-1, -1, -1, -1, -1, -1};
        const int corners = pl_element_corner_count((pl_element_kind)v->kind[e]);
        memcpy(key, v->node + v->node_start[e], (size_t)corners * sizeof *key);
        pl_sort_small(key, 6);
        const int32_t before = table.count, at = pl_table_add(&table, key);
        if (at < before) {
            status = pl_fail(err, PL_BAD_INPUT, "mesh: element %d repeats element %d (same corners)", (int)e,
                             (int)first[at]);
        } else {
            first[at] = e;
        }
    }

    pl_table_clear(&table);
    pl_free(first);

    return status;
}

// Two elements that share the corners of an edge must share its mid node.
static pl_status create_check_mid_nodes(mesh_work *w, pl_error *err)
{
    // the table is sized by the edges of quadratic elements
    const pl_mesh_view *v = &w->mesh->view;
    int64_t edges = 0;

    for (int32_t e = 0; e < v->element_count; ++e) {
        edges += v->kind[e] == PL_TET10 ? 6 : v->kind[e] == PL_PRISM15 ? 9 : 0;
    }

    pl_table table;
    int32_t *mid = PL_NEW_ARRAY(int32_t, edges);
    if (!mid || !pl_table_init(&table, 2, edges)) {
        pl_free(mid);
        return pl_fail_memory(err, "mesh: edges");
    }

    pl_status status = PL_OK;

    // the first element of an edge decides, the others must agree
    for (int32_t e = 0; e < v->element_count && edges > 0 && status == PL_OK; ++e) {
        const pl_element_kind kind = (pl_element_kind)v->kind[e];
        const int32_t *node = v->node + v->node_start[e];

        for (int i = 0; i < pl_element_edge_count(kind) && status == PL_OK; ++i) {
            int local[3];
            pl_element_edge_nodes(kind, i, local);
            if (local[2] < 0) {
                break;
            }
            int32_t key[2] = {node[local[0]], node[local[1]]};
            pl_sort_small(key, 2);
            const int32_t before = table.count, at = pl_table_add(&table, key);
            if (at == before) {
                mid[at] = node[local[2]];
            } else if (mid[at] != node[local[2]]) {
                status = pl_fail(
                    err, PL_BAD_INPUT,
                    "mesh: element %d has mid node %d between vertices %d and %d, another element has %d",
                    (int)e, (int)node[local[2]], (int)key[0], (int)key[1], (int)mid[at]);
            }
        }
    }

    pl_table_clear(&table);
    pl_free(mid);

    return status;
}

// ---- faces

// The table of faces by their sorted corners, with one or two owners each. Three owners mean an overlap.
static pl_status create_faces(mesh_work *w, pl_error *err)
{
    const pl_mesh_view *v = &w->mesh->view;
    int64_t total = 0;

    for (int32_t e = 0; e < v->element_count; ++e) {
        total += pl_element_face_count((pl_element_kind)v->kind[e]);
    }
    w->owner = PL_NEW_ARRAY(int64_t, 2 * total);
    if (!w->owner || !pl_table_init(&w->face, 4, total)) {
        return pl_fail_memory(err, "mesh: faces");
    }

    for (int32_t e = 0; e < v->element_count; ++e) {
        for (int side = 0; side < pl_element_face_count((pl_element_kind)v->kind[e]); ++side) {
            int32_t node[PL_FACE_NODES_MAX], key[4];
            const int64_t face = 8 * (int64_t)e + side;
            const int count = pl_mesh_face_nodes(w->mesh, face, node);
            pl_face_key(count == 3 || count == 6 ? 3 : 4, node, key);
            const int32_t before = w->face.count, at = pl_table_add(&w->face, key);
            int64_t *owner = w->owner + 2 * (size_t)at;
            if (at == before) {
                owner[0] = face;
                owner[1] = -1;
            } else if (owner[1] < 0) {
                owner[1] = face;
            } else {
                return pl_fail(err, PL_BAD_INPUT,
                               "mesh: elements %d, %d and %d share one face, at most two can (they overlap)",
                               (int)(owner[0] / 8), (int)(owner[1] / 8), (int)e);
            }
        }
    }

    return PL_OK;
}

// Faces with one owner. Entries of the table are in element order, so the boundary is too.
// Entries of the table are in element order, so the boundary is too.
static pl_status create_boundary(mesh_work *w, pl_error *err)
{
    int64_t count = 0;
    for (int32_t i = 0; i < w->face.count; ++i) {
        count += w->owner[2 * (size_t)i + 1] < 0;
    }
    if (count == 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "mesh: no face lies on a boundary, the elements overlap each other");
    }

    w->mesh->boundary = PL_NEW_ARRAY(int64_t, count);
    if (!w->mesh->boundary) {
        return pl_fail_memory(err, "mesh: boundary");
    }

    for (int32_t i = 0; i < w->face.count; ++i) {
        if (w->owner[2 * (size_t)i + 1] < 0) {
            w->mesh->boundary[w->mesh->boundary_count++] = w->owner[2 * (size_t)i];
        }
    }

    return PL_OK;
}

// ---- surfaces

// The face with these corners; between two elements, the one of the lower region (then of the lower element).
static int64_t create_find_face(const mesh_work *w, const int32_t corner[4], int32_t *entry)
{
    // corners in the numbers of the mesh; a face with a dropped vertex belongs to no element
    int32_t mapped[4], key[4];
    const int count = corner[3] < 0 ? 3 : 4;

    for (int a = 0; a < count; ++a) {
        mapped[a] = w->vertex_of[corner[a]];
        if (mapped[a] < 0) {
            return -1;
        }
    }

    pl_face_key(count, mapped, key);
    *entry = pl_table_find(&w->face, key);
    if (*entry < 0) {
        return -1;
    }

    const int64_t *owner = w->owner + 2 * (size_t)*entry;
    const int32_t *region = w->mesh->view.region;

    return owner[1] >= 0 && region[owner[1] / 8] < region[owner[0] / 8] ? owner[1] : owner[0];
}

// Faces of the surfaces by their corners; unmatched ones are dropped, repeated ones kept once.
static pl_status create_look_up(mesh_work *w, int64_t *start, int64_t *face, pl_error *err)
{
    const pl_mesh_def *def = w->def;
    int32_t *last = PL_NEW_ARRAY(int32_t, w->face.count); // 1 + the surface that had this face last

    if (!last) {
        return pl_fail_memory(err, "mesh: surfaces");
    }

    // each surface has a face once: `last` remembers which surface listed it
    int64_t count = 0;
    for (int32_t s = 0; s < def->surface_count; ++s) {
        start[s] = count;

        for (int64_t f = def->surface_start[s]; f < def->surface_start[s + 1]; ++f) {
            int32_t entry;
            const int64_t found = create_find_face(w, def->surface_corner + 4 * f, &entry);
            if (found < 0) {
                w->report.unmatched_faces++;
            } else if (last[entry] != s + 1) {
                last[entry] = s + 1;
                face[count++] = found;
            }
        }
    }

    start[def->surface_count] = count;
    pl_free(last);

    return PL_OK;
}

// Surfaces either by corners (looked up) or as faces (copied and checked).
static pl_status create_surfaces(mesh_work *w, pl_error *err)
{
    const pl_mesh_def *def = w->def;
    pl_mesh_view *v = &w->mesh->view;
    const int64_t total = def->surface_count > 0 ? def->surface_start[def->surface_count] : 0;
    int64_t *start = PL_NEW_ARRAY(int64_t, (size_t)def->surface_count + 1);
    int64_t *face = PL_NEW_ARRAY(int64_t, total);

    v->surface_start = start;
    v->surface_face = face;
    v->surface_name = create_names(def->surface_count, def->surface_name);
    if (!start || !face || !v->surface_name) {
        return pl_fail_memory(err, "mesh: surfaces");
    }
    v->surface_count = def->surface_count;
    if (!w->surface_face) {
        return create_look_up(w, start, face, err);
    }

    // given as faces: element * 8 + side must exist
    for (int32_t s = 0; s < def->surface_count; ++s) {
        start[s + 1] = def->surface_start[s + 1];
    }

    for (int64_t f = 0; f < total; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        face[f] = w->surface_face[f];

        if (pl_mesh_face_nodes(w->mesh, face[f], node) == 0) {
            return pl_fail(err, PL_BAD_INPUT,
                           "mesh: surface face %lld is not a face of the mesh (element %lld, side %lld)",
                           (long long)f, (long long)(face[f] / 8), (long long)(face[f] % 8));
        }
    }

    return PL_OK;
}

// ---- entry points

pl_status pl_mesh_build(const pl_mesh_def *def, const int64_t *surface_face, pl_mesh **out,
                        pl_mesh_report *report, pl_error *err)
{
    // in the order of their dependence: each step reads what the steps left of it made
    static pl_status (*const step[])(mesh_work *, pl_error *) = {
        create_vertices,      create_elements,        create_orient, create_check_jacobians,
        create_check_repeats, create_check_mid_nodes, create_faces,  create_boundary,
        create_surfaces,      create_count_duplicates};
    *out = NULL;
    pl_status status = pl_mesh_def_check(def, !surface_face, err);
    if (status != PL_OK) {
        return status;
    }

    // run the steps, then free what only they needed
    mesh_work w = {.def = def, .surface_face = surface_face, .mesh = PL_NEW(pl_mesh)};
    if (!w.mesh) {
        return pl_fail_memory(err, "mesh");
    }
    for (int i = 0; i < PL_COUNT(step) && status == PL_OK; ++i) {
        status = step[i](&w, err);
    }
    pl_free(w.vertex_of);
    pl_free(w.owner);
    pl_table_clear(&w.face);
    if (status != PL_OK) {
        pl_mesh_destroy(w.mesh);
        return status;
    }

    if (report) {
        *report = w.report;
    }
    *out = w.mesh;

    return PL_OK;
}

pl_status pl_mesh_create(const pl_mesh_def *def, pl_mesh **out, pl_mesh_report *report, pl_error *err)
{
    if (!out) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: the result pointer is NULL");
    }
    *out = NULL;
    if (!def) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: the definition is NULL");
    }

    return pl_mesh_build(def, NULL, out, report, err);
}
