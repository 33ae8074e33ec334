// From the current Gmsh model to a pl_mesh: volume elements with the names of their physical groups, and the
// named surfaces. Gmsh numbers mid-edge nodes in its own order; pl_element_get knows it.
#include <stdio.h>
#include <stdlib.h>
#include "mesh/mesh.h"
#include "meshing/meshing_impl.h"

// Surface elements: only the corners matter.
static const struct {
    int type, count, corners;
} face_type[] = {{2, 3, 3}, {9, 6, 3}, {3, 4, 4}, {16, 8, 4}, {10, 9, 4}};

// ---- the mesh under construction: growing arrays, freed by extraction_clear
typedef struct extraction {
    gmsh_session *g;
    const extract_options *options;
    // nodes: tag -> index
    size_t *node_tag;
    double *position; // mm, 3 per node
    size_t node_count;
    int32_t *index_of; // dense map, when tags are dense
    size_t tag_limit;
    size_t (*pair)[2]; // else sorted (tag, index)
    // elements
    uint8_t *kind;
    int64_t *node_start;
    int32_t *node, *region;
    int32_t element_count, element_capacity, start_capacity, region_capacity, node_capacity;
    int64_t node_total;
    // names
    char **region_name, **surface_name;
    int32_t region_count, surface_count, region_name_capacity, surface_name_capacity;
    int64_t *surface_start;
    int32_t *corner;
    int32_t surface_start_capacity, corner_capacity;
    int64_t face_count;
} extraction;

static void extraction_clear(extraction *x)
{
    for (int32_t i = 0; i < x->region_count; ++i) {
        pl_free(x->region_name[i]);
    }
    for (int32_t i = 0; i < x->surface_count; ++i) {
        pl_free(x->surface_name[i]);
    }

    void *block[] = {x->index_of,    x->pair,          x->kind,   x->node_start,   x->node,    x->region,
                     x->region_name, x->surface_start, x->corner, x->surface_name, x->position};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    gmshFree(x->node_tag);
}

// ---- nodes
// By tag.
static int extract_compare_pair(const void *a, const void *b)
{
    const size_t p = *(const size_t *)a, q = *(const size_t *)b;
    return (p > q) - (p < q);
}

// Positions in mm, and a map from Gmsh's tags.
static pl_status extract_nodes(extraction *x, pl_error *err)
{
    double *coord = NULL, *parameter = NULL;
    size_t coord_n = 0, parameter_n = 0;

    if (!GMSH(x->g, gmshModelMeshGetNodes(&x->node_tag, &x->node_count, &coord, &coord_n, &parameter,
                                          &parameter_n, -1, -1, 0, 0, &x->g->ierr))) {
        return meshing_fail(x->g, x->options->source, err);
    }

    gmshFree(parameter);
    if (x->node_count == 0 || x->node_count > INT32_MAX || coord_n != 3 * x->node_count) {
        gmshFree(coord);
        return pl_fail(err, PL_BAD_INPUT, "%s: has %zu vertices, expected between 4 and 2 billion",
                       x->options->source, x->node_count);
    }

    x->position = PL_NEW_ARRAY(double, coord_n);
    for (size_t i = 0; x->position && i < coord_n; ++i) {
        x->position[i] = coord[i] * x->options->scale;
    }
    gmshFree(coord);

    // a table by tag when tags are dense, else a sorted list
    size_t highest = 0;
    for (size_t i = 0; i < x->node_count; ++i) {
        highest = x->node_tag[i] > highest ? x->node_tag[i] : highest;
    }

    if (highest < 8 * x->node_count + 1024) {
        x->tag_limit = highest + 1;
        x->index_of = PL_NEW_ARRAY(int32_t, x->tag_limit);
        for (size_t i = 0; x->index_of && i < x->node_count; ++i) {
            x->index_of[x->node_tag[i]] = (int32_t)i + 1; // 0: no such tag
        }
    } else {
        x->pair = pl_alloc_array(x->node_count, sizeof *x->pair);
        for (size_t i = 0; x->pair && i < x->node_count; ++i) {
            x->pair[i][0] = x->node_tag[i];
            x->pair[i][1] = i;
        }

        if (x->pair) {
            qsort(x->pair, x->node_count, sizeof *x->pair, extract_compare_pair);
        }
    }

    return x->position && (x->index_of || x->pair) ? PL_OK : pl_fail_memory(err, "the vertices of a mesh");
}

// The index of a node, or -1 when the file names a node it does not hold.
static int32_t extract_node(const extraction *x, size_t tag)
{
    if (x->index_of) {
        return tag < x->tag_limit ? x->index_of[tag] - 1 : -1;
    }
    const size_t key[2] = {tag, 0};
    const size_t(*hit)[2] = bsearch(key, x->pair, x->node_count, sizeof *x->pair, extract_compare_pair);
    return hit ? (int32_t)(*hit)[1] : -1;
}

// ---- elements of one entity
// As Gmsh returns them, by type; freed with gmshFree.
typedef struct entity_elements {
    int *type;
    size_t type_n;
    size_t **tag, *tag_n, tag_nn;
    size_t **node, *node_n, node_nn;
} entity_elements;

static void extract_free_elements(entity_elements *e)
{
    for (size_t i = 0; i < e->tag_nn; ++i) {
        gmshFree(e->tag[i]);
    }
    for (size_t i = 0; i < e->node_nn; ++i) {
        gmshFree(e->node[i]);
    }

    void *block[] = {e->type, e->tag, e->tag_n, e->node, e->node_n};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        gmshFree(block[i]);
    }
}

// The elements of one entity; free them also after a failure.
static pl_status extract_get(extraction *x, int dim, int tag, entity_elements *e, pl_error *err)
{
    *e = (entity_elements){0};
    if (!GMSH(x->g, gmshModelMeshGetElements(&e->type, &e->type_n, &e->tag, &e->tag_n, &e->tag_nn, &e->node,
                                             &e->node_n, &e->node_nn, dim, tag, &x->g->ierr))) {
        return meshing_fail(x->g, x->options->source, err);
    }

    return PL_OK;
}

// Appends one element in our node order.
static pl_status extract_element(extraction *x, int kind, size_t element, const size_t *node, int32_t region,
                                 pl_error *err)
{
    const int32_t e = x->element_count;
    const int count = pl_element_get(kind)->nodes;

    if (x->node_total + count > INT32_MAX || !pl_grow((void **)&x->kind, &x->element_capacity, e + 1, 1) ||
        !pl_grow((void **)&x->node_start, &x->start_capacity, e + 2, sizeof *x->node_start) ||
        !pl_grow((void **)&x->region, &x->region_capacity, e + 1, sizeof *x->region) ||
        !pl_grow((void **)&x->node, &x->node_capacity, x->node_total + count, sizeof *x->node)) {
        return pl_fail_memory(err, "the elements of a mesh");
    }

    for (int a = 0; a < count; ++a) {
        const size_t tag = node[pl_element_get(kind)->gmsh_node[a]];
        const int32_t v = extract_node(x, tag);
        if (v < 0) {
            return pl_fail(err, PL_BAD_INPUT, "%s: element %zu refers to vertex %zu, which does not exist",
                           x->options->source, element, tag);
        }

        x->node[x->node_total + a] = v;
    }

    x->kind[e] = (uint8_t)kind;
    x->region[e] = region;
    x->node_start[e] = x->node_total;
    x->node_total += count;
    x->node_start[e + 1] = x->node_total;
    x->element_count = e + 1;

    return PL_OK;
}

// All elements of a volume; other types than tets and prisms are refused.
static pl_status extract_volume(extraction *x, int tag, int32_t region, pl_error *err)
{
    entity_elements list;
    pl_status status = extract_get(x, 3, tag, &list, err);

    for (size_t t = 0; status == PL_OK && t < list.type_n; ++t) {
        const int kind = pl_element_find_gmsh(list.type[t]);
        if (kind < 0) {
            status = pl_fail(
                err, PL_BAD_INPUT,
                "%s: has %zu volume elements of Gmsh type %d (element %zu first); expected tetrahedra "
                "of 4 or 10 nodes and prisms of 6 or 15",
                x->options->source, list.tag_n[t], list.type[t], list.tag_n[t] ? list.tag[t][0] : 0);
        }

        for (size_t i = 0; status == PL_OK && i < list.tag_n[t]; ++i) {
            status = extract_element(x, kind, list.tag[t][i],
                                     list.node[t] + i * (size_t)pl_element_get(kind)->nodes, region, err);
        }
    }

    extract_free_elements(&list);
    return status;
}

// All faces of a surface by their corners; unknown types are skipped.
static pl_status extract_faces(extraction *x, int tag, pl_error *err)
{
    entity_elements list;
    pl_status status = extract_get(x, 2, tag, &list, err);

    for (size_t t = 0; status == PL_OK && t < list.type_n; ++t) {
        int type = 0;
        while (type < PL_COUNT(face_type) && face_type[type].type != list.type[t]) {
            ++type;
        }
        if (type == PL_COUNT(face_type)) {
            continue;
        }
        for (size_t i = 0; i < list.tag_n[t]; ++i) {
            if (!pl_grow((void **)&x->corner, &x->corner_capacity, 4 * (x->face_count + 1),
                         sizeof *x->corner)) {
                status = pl_fail_memory(err, "the surfaces of a mesh");
                break;
            }

            int32_t *corner = x->corner + 4 * x->face_count++;
            corner[3] = -1;
            for (int a = 0; a < face_type[type].corners; ++a) {
                const size_t node = list.node[t][i * (size_t)face_type[type].count + (size_t)a];
                corner[a] = extract_node(x, node);

                if (corner[a] < 0) {
                    status =
                        pl_fail(err, PL_BAD_INPUT, "%s: face %zu refers to vertex %zu, which does not exist",
                                x->options->source, list.tag[t][i], node);
                }
            }
        }
    }

    extract_free_elements(&list);
    return status;
}

// ---- names
// Index of a name in a list, which is appended when new.
static pl_status extract_name(char ***list, int32_t *count, int32_t *capacity, const char *name,
                              int32_t *index, pl_error *err)
{
    for (int32_t i = 0; i < *count; ++i) {
        if (strcmp((*list)[i], name) == 0) {
            *index = i;
            return PL_OK;
        }
    }

    if (!pl_grow((void **)list, capacity, *count + 1, sizeof **list) ||
        !((*list)[*count] = pl_strdup(name))) {
        return pl_fail_memory(err, "the names of a mesh");
    }

    *index = (*count)++;
    return PL_OK;
}

// The name of a physical group; a nameless one is called by its number.
static void extract_group_name(extraction *x, int dim, int tag, char *name, size_t size)
{
    char *text = NULL;
    GMSH(x->g, gmshModelGetPhysicalName(dim, tag, &text, &x->g->ierr));
    if (text && text[0]) {
        snprintf(name, size, "%s", text);
    } else {
        snprintf(name, size, "%s%d", dim == 3 ? "region" : "surface", tag);
    }

    gmshFree(text);
}

// Region of every volume entity: the first physical group that holds it, else the body's name.
static pl_status extract_regions(extraction *x, pl_error *err)
{
    int *entity = NULL, *group = NULL;
    size_t entity_n = 0, group_n = 0;

    GMSH(x->g, gmshModelGetEntities(&entity, &entity_n, 3, &x->g->ierr));
    GMSH(x->g, gmshModelGetPhysicalGroups(&group, &group_n, 3, &x->g->ierr));
    int32_t *region = PL_NEW_ARRAY(int32_t, entity_n);
    pl_status status = region ? PL_OK : pl_fail_memory(err, "the regions of a mesh");

    // groups first: an entity may belong to several, the first wins
    for (size_t i = 0; status == PL_OK && i < entity_n / 2; ++i) {
        region[i] = -1;
    }

    for (size_t k = 0; status == PL_OK && k + 1 < group_n; k += 2) {
        char name[256];
        extract_group_name(x, 3, group[k + 1], name, sizeof name);
        int32_t r = 0;
        status = extract_name(&x->region_name, &x->region_count, &x->region_name_capacity, name, &r, err);
        int *member = NULL;
        size_t member_n = 0;
        GMSH(x->g, gmshModelGetEntitiesForPhysicalGroup(3, group[k + 1], &member, &member_n, &x->g->ierr));

        for (size_t m = 0; status == PL_OK && m < member_n; ++m) {
            for (size_t i = 0; i < entity_n / 2; ++i) {
                region[i] = entity[2 * i + 1] == member[m] && region[i] < 0 ? r : region[i];
            }
        }

        gmshFree(member);
    }

    // elements entity by entity; the body's name is used only if some element needs it
    for (size_t i = 0; status == PL_OK && !x->g->failed && i < entity_n / 2; ++i) {
        const int32_t before = x->element_count;
        status = extract_volume(x, entity[2 * i + 1], region[i], err);
        if (status == PL_OK && region[i] < 0 && x->element_count > before) {
            int32_t r = 0;
            status = extract_name(&x->region_name, &x->region_count, &x->region_name_capacity,
                                  x->options->body, &r, err);
            for (int32_t e = before; status == PL_OK && e < x->element_count; ++e) {
                x->region[e] = r;
            }
        }
    }

    pl_free(region);
    gmshFree(entity);
    gmshFree(group);

    return status == PL_OK && x->g->failed ? meshing_fail(x->g, x->options->source, err) : status;
}

// One surface per physical group of dimension 2.
static pl_status extract_surfaces(extraction *x, pl_error *err)
{
    int *group = NULL;
    size_t group_n = 0;

    GMSH(x->g, gmshModelGetPhysicalGroups(&group, &group_n, 2, &x->g->ierr));
    pl_status status = PL_OK;
    if (!pl_grow((void **)&x->surface_start, &x->surface_start_capacity, (int64_t)group_n / 2 + 1,
                 sizeof *x->surface_start)) {
        status = pl_fail_memory(err, "the surfaces of a mesh");
    }

    for (size_t k = 0; status == PL_OK && k + 1 < group_n; k += 2) {
        char name[256];
        extract_group_name(x, 2, group[k + 1], name, sizeof name);
        int32_t s = 0;
        const int32_t before = x->surface_count;
        status = extract_name(&x->surface_name, &x->surface_count, &x->surface_name_capacity, name, &s, err);
        if (status == PL_OK && s < before) {
            status =
                pl_fail(err, PL_BAD_INPUT, "%s: two surface groups are called %s", x->options->source, name);
        }

        if (status == PL_OK) {
            x->surface_start[s] = x->face_count;
        }
        int *member = NULL;
        size_t member_n = 0;
        GMSH(x->g, gmshModelGetEntitiesForPhysicalGroup(2, group[k + 1], &member, &member_n, &x->g->ierr));
        for (size_t m = 0; status == PL_OK && m < member_n; ++m) {
            status = extract_faces(x, member[m], err);
        }
        gmshFree(member);
    }

    if (status == PL_OK) {
        x->surface_start[x->surface_count] = x->face_count;
    }
    gmshFree(group);

    return status == PL_OK && x->g->failed ? meshing_fail(x->g, x->options->source, err) : status;
}

#define RELAX_BOUND 0.3 // smallest Jacobian over that of the corner tet which a curved element may have

// A wall followed closely by a coarse quadratic tet leaves it nearly folded at one end, and a robot that
// deforms then folds it for good. Such an element gives up half of its edges' bulge, again and again until it
// is sound; the wall is followed a little less there.
void meshing_relax(int32_t element_count, const uint8_t *kind, const int64_t *node_start,
                   const int32_t *nodes, double *position)
{
    for (int pass = 0; pass < 10; ++pass) {
        int32_t bent = 0;
        for (int32_t e = 0; e < element_count; ++e) {
            const int32_t *node = nodes + node_start[e];
            double X[3 * PL_ELEMENT_NODES_MAX];
            if (kind[e] != PL_TET10) {
                continue;
            }
            for (int a = 0; a < 10; ++a) {
                memcpy(X + 3 * a, position + 3 * (int64_t)node[a], 3 * sizeof *X);
            }
            const double corners = 6 * pl_element_volume(PL_TET4, X);
            if (corners <= 0 || pl_jacobian_bound(PL_TET10, X) >= RELAX_BOUND * corners) {
                continue;
            }
            ++bent;

            for (int k = 0; k < pl_element_edge_count(PL_TET10); ++k) {
                int edge[3];
                pl_element_edge_nodes(PL_TET10, k, edge);

                for (int i = 0; i < 3; ++i) {
                    const double chord = 0.5 * (X[3 * edge[0] + i] + X[3 * edge[1] + i]);
                    double *mid = &position[3 * (int64_t)node[edge[2]] + i];
                    // after eight halvings only the straight element is left
                    *mid = pass < 8 ? 0.5 * (*mid + chord) : chord;
                }
            }
        }

        if (bent == 0) {
            return;
        }
    }
}

// Nodes, elements, surfaces; then repairs, then the mesh.
static pl_status extract_all(extraction *x, pl_mesh **out, pl_mesh_report *report, pl_error *err)
{
    int collapsed = 0;
    double longest = 0;
    pl_status status = extract_nodes(x, err);

    if (status == PL_OK) {
        status = extract_regions(x, err);
    }
    if (status == PL_OK && x->element_count == 0) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: has no volume elements (tetrahedron or prism)",
                         x->options->source);
    }

    if (status == PL_OK) {
        status = extract_surfaces(x, err);
    }
    if (status != PL_OK) {
        return status;
    }

    // short edges of flat elements
    if (x->options->collapse) {
        pl_tets tets = {.element_count = x->element_count,
                        .kind = x->kind,
                        .node_start = x->node_start,
                        .node = x->node,
                        .region = x->region,
                        .surface_count = x->surface_count,
                        .surface_start = x->surface_start,
                        .surface_corner = x->corner};
        status = pl_tets_collapse(&tets, (int32_t)x->node_count, x->position, &collapsed, &longest, err);
        if (status != PL_OK) {
            return status;
        }
        x->element_count = tets.element_count;
    }

    if (x->options->relax) {
        meshing_relax(x->element_count, x->kind, x->node_start, x->node, x->position);
    }

    // the mesh copies what it is given
    const pl_mesh_def def = {
        .vertex_count = (int32_t)x->node_count,
        .position = x->position,
        .element_count = x->element_count,
        .kind = x->kind,
        .node_start = x->node_start,
        .node = x->node,
        .region = x->region,
        .region_count = x->region_count,
        .region_name = (const char *const *)x->region_name,
        .surface_count = x->surface_count,
        .surface_name = (const char *const *)x->surface_name,
        .surface_start = x->surface_start,
        .surface_corner = x->corner,
    };
    status = pl_mesh_create(&def, out, report, err);

    if (report) {
        report->collapsed_edges = collapsed;
        report->unused_vertices = collapsed > 0 ? 0 : report->unused_vertices; // those of the edges
        report->longest_collapsed = longest;
    }

    return status;
}

pl_status meshing_extract(gmsh_session *g, const extract_options *options, pl_mesh **out,
                          pl_mesh_report *report, pl_error *err)
{
    *out = NULL;
    extraction x = {.g = g, .options = options};
    const pl_status status = extract_all(&x, out, report, err);
    extraction_clear(&x);
    return status;
}
