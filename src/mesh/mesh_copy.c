// New meshes from old ones: raised to quadratic, reduced to corners, with more surfaces. Elements keep their
// numbers and sides, so faces stay valid.
#include "mesh/mesh_impl.h"

// surfaces without faces still need an array to point to
static const int64_t copy_no_faces[1] = {0};

// A description that borrows every array of the mesh.
static pl_mesh_def copy_def(const pl_mesh_view *v)
{
    return (pl_mesh_def){.vertex_count = v->vertex_count,
                         .position = v->position,
                         .element_count = v->element_count,
                         .kind = v->kind,
                         .node_start = v->node_start,
                         .node = v->node,
                         .region = v->region,
                         .region_count = v->region_count,
                         .region_name = v->region_name,
                         .surface_count = v->surface_count,
                         .surface_name = v->surface_name,
                         .surface_start = v->surface_start};
}

static const int64_t *copy_faces(const int64_t *face)
{
    return face ? face : copy_no_faces;
}

// The new mesh compares with the part as the old one did.
static pl_status copy_build(const pl_mesh *mesh, const pl_mesh_def *def, const int64_t *face, pl_mesh **out,
                            pl_error *err)
{
    const pl_status status = pl_mesh_build(def, face, out, NULL, err);
    if (status == PL_OK) {
        (*out)->fit = mesh->fit;
    }
    return status;
}

// The arrays of a mesh in the making.
typedef struct copy_work {
    uint8_t *kind;
    int64_t *node_start;
    int32_t *node;
    double *position;
    int32_t *mid; // per edge of the table
    pl_table edge;
} copy_work;

static void copy_clear(copy_work *w)
{
    pl_free(w->kind);
    pl_free(w->node_start);
    pl_free(w->node);
    pl_free(w->position);
    pl_free(w->mid);
    pl_table_clear(&w->edge);
}

// Kinds (raised or lowered) and starts of the new elements; false when out of memory.
static bool copy_layout(const pl_mesh_view *v, bool raise, copy_work *w)
{
    w->kind = PL_NEW_ARRAY(uint8_t, v->element_count);
    w->node_start = PL_NEW_ARRAY(int64_t, (size_t)v->element_count + 1);
    if (!w->kind || !w->node_start) {
        return false;
    }

    for (int32_t e = 0; e < v->element_count; ++e) {
        const pl_element_traits *old = pl_element_get(v->kind[e]);
        const pl_element_kind kind = raise ? old->raised : old->lowered;

        w->kind[e] = (uint8_t)kind;
        w->node_start[e + 1] = w->node_start[e] + pl_element_node_count(kind);
    }

    w->node = PL_NEW_ARRAY(int32_t, w->node_start[v->element_count]);

    return w->node != NULL;
}

// Visits the edges of all elements; mid nodes that quadratic elements already have are kept.
static void raise_collect_edges(const pl_mesh_view *v, copy_work *w)
{
    for (int32_t e = 0; e < v->element_count; ++e) {
        const pl_element_kind kind = (pl_element_kind)v->kind[e];
        const int32_t *node = v->node + v->node_start[e];

        for (int i = 0; i < pl_element_edge_count(kind); ++i) {
            int local[3];
            pl_element_edge_nodes(kind, i, local);
            int32_t key[2] = {node[local[0]], node[local[1]]};
            pl_sort_small(key, 2);
            const int32_t before = w->edge.count, at = pl_table_add(&w->edge, key);
            if (at == before) {
                w->mid[at] = -1;
            }
            if (local[2] >= 0) {
                w->mid[at] = node[local[2]];
            }
        }
    }
}

// Numbers the new mid nodes in the order of the edges and puts them midway; returns the new vertex count.
static int32_t raise_place_mid_nodes(const pl_mesh_view *v, copy_work *w)
{
    int32_t count = v->vertex_count;
    for (int32_t i = 0; i < w->edge.count; ++i) {
        if (w->mid[i] >= 0) {
            continue;
        }
        const double *a = v->position + 3 * (size_t)w->edge.key[2 * (size_t)i];
        const double *b = v->position + 3 * (size_t)w->edge.key[2 * (size_t)i + 1];
        for (int k = 0; k < 3; ++k) {
            w->position[3 * (size_t)count + k] = 0.5 * (a[k] + b[k]);
        }
        w->mid[i] = count++;
    }

    return count;
}

// Corners as they are, mid nodes from the table of edges.
static void raise_fill_nodes(const pl_mesh_view *v, copy_work *w)
{
    for (int32_t e = 0; e < v->element_count; ++e) {
        const pl_element_kind kind = (pl_element_kind)w->kind[e];
        const int32_t *old = v->node + v->node_start[e];
        int32_t *node = w->node + w->node_start[e];
        const int corners = pl_element_corner_count(kind);
        memcpy(node, old, (size_t)corners * sizeof *node);

        for (int i = 0; i < pl_element_edge_count(kind); ++i) {
            int local[3];
            pl_element_edge_nodes(kind, i, local);
            int32_t key[2] = {node[local[0]], node[local[1]]};
            pl_sort_small(key, 2);
            node[local[2]] = w->mid[pl_table_find(&w->edge, key)];
        }
    }
}

pl_status pl_mesh_raise(const pl_mesh *mesh, pl_mesh **out, pl_error *err)
{
    const pl_mesh_view *v = &mesh->view;
    *out = NULL;

    // upper bound of the number of edges: each counted once per element
    int64_t edges = 0;
    for (int32_t e = 0; e < v->element_count; ++e) {
        edges += pl_element_edge_count((pl_element_kind)v->kind[e]);
    }

    // edges and the mid nodes that exist already
    copy_work w = {0};
    bool ok = copy_layout(v, true, &w) && pl_table_init(&w.edge, 2, edges);
    w.mid = ok ? PL_NEW_ARRAY(int32_t, edges) : NULL;
    if (w.mid) {
        raise_collect_edges(v, &w);
        w.position = PL_NEW_ARRAY(double, 3 * ((size_t)v->vertex_count + (size_t)w.edge.count));
    }

    if (!w.position) {
        copy_clear(&w);
        return pl_fail_memory(err, "mesh: raise to quadratic");
    }

    // old vertices keep their numbers, new ones follow
    memcpy(w.position, v->position, 3 * (size_t)v->vertex_count * sizeof *w.position);
    pl_mesh_def def = copy_def(v);
    def.vertex_count = raise_place_mid_nodes(v, &w);
    raise_fill_nodes(v, &w);
    def.position = w.position;
    def.kind = w.kind;
    def.node_start = w.node_start;
    def.node = w.node;
    const pl_status status = copy_build(mesh, &def, copy_faces(v->surface_face), out, err);
    copy_clear(&w);

    return status;
}

pl_status pl_mesh_moved(const pl_mesh *mesh, const double *position, pl_mesh **out, pl_error *err)
{
    pl_mesh_def def = copy_def(&mesh->view);
    def.position = position;
    return copy_build(mesh, &def, copy_faces(mesh->view.surface_face), out, err);
}

// Numbers the corner vertices in their old order: new_of[old] or -1, vertex_of[new]. Returns their count.
static int32_t corners_number(const pl_mesh_view *v, int32_t *new_of, int32_t *vertex_of)
{
    // mark, then number in rising order: corners keep the order of the old mesh
    int32_t count = 0;
    for (int32_t e = 0; e < v->element_count; ++e) {
        const int corners = pl_element_corner_count((pl_element_kind)v->kind[e]);
        for (int a = 0; a < corners; ++a) {
            new_of[v->node[v->node_start[e] + a]] = 1;
        }
    }

    for (int32_t i = 0; i < v->vertex_count; ++i) {
        if (new_of[i]) {
            vertex_of[count] = i;
            new_of[i] = count++;
        } else {
            new_of[i] = -1;
        }
    }

    return count;
}

pl_status pl_mesh_corners(const pl_mesh *mesh, pl_mesh **out, int32_t **vertex_of, pl_error *err)
{
    const pl_mesh_view *v = &mesh->view;
    *out = NULL;
    if (vertex_of) {
        *vertex_of = NULL;
    }

    copy_work w = {0};
    const bool ok = copy_layout(v, false, &w);
    int32_t *new_of = PL_NEW_ARRAY(int32_t, v->vertex_count),
            *old_of = PL_NEW_ARRAY(int32_t, v->vertex_count);
    w.position = PL_NEW_ARRAY(double, 3 * (size_t)v->vertex_count);
    pl_status status = PL_OK;
    if (!ok || !new_of || !old_of || !w.position) {
        status = pl_fail_memory(err, "mesh: corners");
    } else {
        // positions and nodes of the corners only
        pl_mesh_def def = copy_def(v);
        def.vertex_count = corners_number(v, new_of, old_of);
        for (int32_t i = 0; i < def.vertex_count; ++i) {
            memcpy(w.position + 3 * (size_t)i, v->position + 3 * (size_t)old_of[i], 3 * sizeof *w.position);
        }
        for (int32_t e = 0; e < v->element_count; ++e) {
            for (int a = 0; a < pl_element_corner_count((pl_element_kind)v->kind[e]); ++a) {
                w.node[w.node_start[e] + a] = new_of[v->node[v->node_start[e] + a]];
            }
        }

        def.position = w.position;
        def.kind = w.kind;
        def.node_start = w.node_start;
        def.node = w.node;
        status = copy_build(mesh, &def, copy_faces(v->surface_face), out, err);
    }

    // the caller gets the map from new to old vertices if it asked for it
    if (status == PL_OK && vertex_of) {
        *vertex_of = old_of;
        old_of = NULL;
    }

    pl_free(new_of);
    pl_free(old_of);
    copy_clear(&w);

    return status;
}

// ---- surfaces added

// Names and ranges of the surfaces to add. Faces are checked when the mesh is built.
static pl_status surfaces_check(int32_t count, const char *const *name, const int64_t *start,
                                const int64_t *face, pl_error *err)
{
    if (count < 0 || (count > 0 && (!name || !start))) {
        return pl_fail(err, PL_BAD_INPUT,
                       "mesh: %d surfaces to add, expected 0 or more with names and starts", (int)count);
    }

    for (int32_t s = 0; s < count; ++s) {
        if (!name[s] || !name[s][0]) {
            return pl_fail(err, PL_BAD_INPUT, "mesh: surface %d to add has no name", (int)s);
        }
        if (start[s + 1] < start[s] || start[s] < 0 || (start[s + 1] > start[s] && !face)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "mesh: surface '%s' to add has faces %lld .. %lld, expected a range", name[s],
                           (long long)start[s], (long long)start[s + 1]);
        }
    }

    return PL_OK;
}

// Surfaces of the mesh in the making: faces of surface s are face[start[s]] .. face[start[s+1] - 1].
typedef struct surface_list {
    const char **name;
    int64_t *start, *face;
    int32_t count;
} surface_list;

// Appends a surface; the capacity has been allocated by the caller.
static void surface_list_add(surface_list *list, const char *name, const int64_t *face, int64_t count)
{
    const int64_t at = list->start[list->count];
    if (count > 0) {
        memcpy(list->face + at, face, (size_t)count * sizeof *face);
    }
    list->name[list->count++] = name;
    list->start[list->count] = at + count;
}

pl_status pl_mesh_with_surfaces(const pl_mesh *mesh, int32_t count, const char *const *name,
                                const int64_t *start, const int64_t *face, pl_mesh **out, pl_error *err)
{
    const pl_mesh_view *v = &mesh->view;
    *out = NULL;
    pl_status status = surfaces_check(count, name, start, face, err);
    if (status != PL_OK) {
        return status;
    }

    // sizes: faces of the old surfaces and of the new ones
    int64_t faces = v->surface_start[v->surface_count];
    for (int32_t s = 0; s < count; ++s) {
        faces += start[s + 1] - start[s];
    }

    const size_t lists = (size_t)v->surface_count + (size_t)count;
    surface_list list = {PL_NEW_ARRAY(const char *, lists), PL_NEW_ARRAY(int64_t, lists + 1),
                         PL_NEW_ARRAY(int64_t, faces), 0};
    if (!list.name || !list.start || !list.face) {
        status = pl_fail_memory(err, "mesh: surfaces");
    } else {
        // old ones that are not replaced, then the new ones
        for (int32_t s = 0; s < v->surface_count; ++s) {
            bool replaced = false;
            for (int32_t i = 0; i < count && !replaced; ++i) {
                replaced = strcmp(name[i], v->surface_name[s]) == 0;
            }
            if (!replaced) {
                surface_list_add(&list, v->surface_name[s], v->surface_face + v->surface_start[s],
                                 v->surface_start[s + 1] - v->surface_start[s]);
            }
        }

        for (int32_t s = 0; s < count; ++s) {
            surface_list_add(&list, name[s], face ? face + start[s] : NULL, start[s + 1] - start[s]);
        }
        pl_mesh_def def = copy_def(v);
        def.surface_count = list.count;
        def.surface_name = list.name;
        def.surface_start = list.start;
        status = copy_build(mesh, &def, list.face, out, err);
    }

    pl_free(list.name);
    pl_free(list.start);
    pl_free(list.face);

    return status;
}
