// A mesh under construction: growing arrays that every reader fills, then one call that checks it and makes
// it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "meshfile/meshfile_build.h"
#include "mesh/mesh.h"

int32_t pl_names_find(const pl_names *names, const char *name)
{
    for (int32_t i = 0; i < names->count; ++i) {
        if (strcmp(names->name[i], name) == 0) {
            return i;
        }
    }

    return -1;
}

int32_t pl_names_add(pl_names *names, const char *name)
{
    const int32_t known = pl_names_find(names, name);
    if (known >= 0) {
        return known;
    }

    char *copy = pl_strdup(name);
    if (!copy ||
        !pl_grow((void **)&names->name, &names->capacity, (int64_t)names->count + 1, sizeof(char *))) {
        pl_free(copy);
        return -1;
    }

    names->name[names->count] = copy;

    return names->count++;
}

int32_t pl_names_add_numbered(pl_names *names, const char *stem, long long number)
{
    char text[80];
    snprintf(text, sizeof text, "%s%lld", stem, number);
    return pl_names_add(names, text);
}

void pl_names_clear(pl_names *names)
{
    for (int32_t i = 0; i < names->count; ++i) {
        pl_free(names->name[i]);
    }
    pl_free(names->name);
    *names = (pl_names){0};
}

void pl_build_vertex(pl_build *build, const double x[3])
{
    const int64_t need = 3 * ((int64_t)build->vertex_count + 1);
    if (build->failed || !pl_grow((void **)&build->position, &build->position_room, need, sizeof(double))) {
        build->failed = true;
        return;
    }

    memcpy(build->position + need - 3, x, 3 * sizeof(double));
    build->vertex_count++;
}

void pl_build_element(pl_build *build, pl_element_kind kind, const int32_t *node, int32_t region)
{
    const int count = pl_element_node_count(kind);
    const int64_t e = build->element_count;

    if (build->failed || !pl_grow((void **)&build->kind, &build->kind_room, e + 1, 1) ||
        !pl_grow((void **)&build->region, &build->region_room, e + 1, sizeof(int32_t)) ||
        !pl_grow((void **)&build->node, &build->node_room, (int64_t)build->node_count + count,
                 sizeof(int32_t))) {
        build->failed = true;
        return;
    }

    build->kind[e] = (uint8_t)kind;
    build->region[e] = region;
    memcpy(build->node + build->node_count, node, (size_t)count * sizeof(int32_t));
    build->node_count += count;
    build->element_count++;
}

void pl_build_face(pl_build *build, int32_t surface, const int32_t *corner, int corner_count)
{
    const int64_t need = 5 * ((int64_t)build->face_count + 1);
    if (build->failed || !pl_grow((void **)&build->face, &build->face_room, need, sizeof(int32_t))) {
        build->failed = true;
        return;
    }

    int32_t *face = build->face + need - 5;
    face[0] = surface;
    memcpy(face + 1, corner, 3 * sizeof(int32_t));
    face[4] = corner_count == 4 ? corner[3] : -1;
    build->face_count++;
}

void pl_build_clear(pl_build *build)
{
    pl_free(build->position);
    pl_free(build->kind);
    pl_free(build->region);
    pl_free(build->node);
    pl_free(build->face);
    pl_names_clear(&build->regions);
    pl_names_clear(&build->surfaces);
    *build = (pl_build){0};
}

// Faces sorted by surface, in the order they came: a counting sort. `start` is used as the cursor of each
// surface and then shifted back by one.
static void build_sort_faces(const pl_build *build, int64_t *start, int32_t *corner)
{
    const int32_t count = build->surfaces.count;
    for (int32_t f = 0; f < build->face_count; ++f) {
        start[build->face[5 * (int64_t)f] + 1]++;
    }
    for (int32_t s = 0; s < count; ++s) {
        start[s + 1] += start[s];
    }
    for (int32_t f = 0; f < build->face_count; ++f) {
        const int32_t *face = build->face + 5 * (int64_t)f;
        memcpy(corner + 4 * start[face[0]]++, face + 1, 4 * sizeof(int32_t));
    }

    for (int32_t s = count; s > 0; --s) {
        start[s] = start[s - 1];
    }
    start[0] = 0;
}

// Sums the sizes, fills the def and hands it to pl_mesh_create.
static pl_status build_create(pl_build *build, const char *path, pl_mesh **out, pl_findings *findings,
                              pl_error *err)
{
    const int32_t element_count = build->element_count, surface_count = build->surfaces.count;
    int64_t *node_start = PL_NEW_ARRAY(int64_t, element_count + 1);
    int64_t *surface_start = PL_NEW_ARRAY(int64_t, surface_count + 1);
    int32_t *corner = PL_NEW_ARRAY(int32_t, 4 * (int64_t)build->face_count);
    pl_status status;

    if (!node_start || !surface_start || !corner) {
        status = pl_fail_memory(err, path);
    } else {
        // where each element begins, and faces by surface
        for (int32_t e = 0; e < element_count; ++e) {
            node_start[e + 1] = node_start[e] + pl_element_node_count((pl_element_kind)build->kind[e]);
        }
        build_sort_faces(build, surface_start, corner);
        const pl_mesh_def def = {
            .vertex_count = build->vertex_count,
            .position = build->position,
            .element_count = element_count,
            .kind = build->kind,
            .node_start = node_start,
            .node = build->node,
            .region = build->region,
            .region_count = build->regions.count,
            .region_name = (const char *const *)build->regions.name,
            .surface_count = surface_count,
            .surface_name = (const char *const *)build->surfaces.name,
            .surface_start = surface_start,
            .surface_corner = corner,
        };

        // the mesh copies what it is given
        pl_mesh_report report = {0};
        pl_error why = {0};
        status = pl_mesh_create(&def, out, &report, &why);
        if (status == PL_OK) {
            pl_mesh_report_findings(&report, path, findings);
        } else {
            pl_fail(err, status, "%s: %.900s", path, why.text);
        }
    }

    pl_free(node_start);
    pl_free(surface_start);
    pl_free(corner);

    return status;
}

pl_status pl_build_finish(pl_build *build, const char *path, double unit, pl_mesh **out,
                          pl_findings *findings, pl_error *err)
{
    pl_status status;
    if (build->failed) {
        status = pl_fail_memory(err, path);
    } else if (!(unit >= 0) || !isfinite(unit)) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: the unit is %g mm, must be positive", path, unit);
    } else if (build->element_count == 0) {
        status =
            pl_fail(err, PL_BAD_INPUT, "%s: has no tetrahedra and no prisms; a volume mesh is needed", path);
    } else {
        for (int64_t i = 0; unit > 0 && unit != 1 && i < 3 * (int64_t)build->vertex_count; ++i) {
            build->position[i] *= unit;
        }
        status = build_create(build, path, out, findings, err);
    }

    pl_build_clear(build);
    return status;
}

// ---- a surface from a set of nodes

// Rising.
static int build_compare_int(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// A candidate face: corners sorted, for matching, and as they stand.
typedef struct build_side {
    int32_t key[4], corner[4];
    int count;
} build_side;

// Equal keys become neighbours; the order itself does not matter.
static int build_compare_side(const void *a, const void *b)
{
    return memcmp(((const build_side *)a)->key, ((const build_side *)b)->key, sizeof((build_side *)0)->key);
}

// Sides of all elements whose corners are marked; with `side` NULL only counts them.
static int64_t build_marked_sides(const pl_build *build, const uint8_t *marked, build_side *side)
{
    int64_t found = 0;
    const int32_t *node = build->node;

    for (int32_t e = 0; e < build->element_count; ++e) {
        const pl_element_kind kind = (pl_element_kind)build->kind[e];
        for (int f = 0; f < pl_element_face_count(kind); ++f) {
            int local[PL_FACE_NODES_MAX];
            const int count = pl_element_face_nodes(kind, f, local);
            // -1 stands for the fourth corner of a triangle
            build_side s = {.key = {-1, -1, -1, -1}, .count = count == 3 || count == 6 ? 3 : 4};
            bool all = true;
            for (int a = 0; a < s.count; ++a) {
                s.key[a] = s.corner[a] = node[local[a]];
                all = all && marked[s.corner[a]];
            }

            if (all && side) {
                qsort(s.key, (size_t)s.count, sizeof(int32_t), build_compare_int);
                side[found] = s;
            }

            found += all;
        }

        node += pl_element_node_count(kind);
    }

    return found;
}

// Sides are counted first, then stored: one block of the right size.
pl_status pl_build_faces_of_nodes(pl_build *build, int32_t surface, const uint8_t *marked, pl_error *err)
{
    if (build->failed) {
        return pl_fail_memory(err, "surface of a node set");
    }

    const int64_t count = build_marked_sides(build, marked, NULL);
    build_side *side = PL_NEW_ARRAY(build_side, count);
    if (!side) {
        return pl_fail_memory(err, "surface of a node set");
    }
    build_marked_sides(build, marked, side);
    qsort(side, (size_t)count, sizeof *side, build_compare_side);

    // what stands there once lies on the boundary
    for (int64_t i = 0; i < count;) {
        int64_t next = i + 1;
        while (next < count && build_compare_side(side + i, side + next) == 0) {
            ++next;
        }
        if (next == i + 1) {
            pl_build_face(build, surface, side[i].corner, side[i].count);
        }
        i = next;
    }

    pl_free(side);

    return build->failed ? pl_fail_memory(err, "surface of a node set") : PL_OK;
}
