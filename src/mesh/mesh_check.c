// What can be checked in a mesh description before anything is built from it: counts, indices, names,
// numbers.
#include <stdlib.h>
#include "mesh/mesh_impl.h"

#define MESH_ELEMENTS_MAX 80000000 // so that tables of faces stay within 32-bit indices

// Arrays that must be present and their lengths; the other checks rely on them.
static pl_status check_arrays(const pl_mesh_def *def, pl_error *err)
{
    if (def->vertex_count < 1 || !def->position) {
        return pl_fail(err, PL_BAD_INPUT,
                       "mesh: vertex_count is %d, expected at least 1 vertex with its position",
                       (int)def->vertex_count);
    }

    if (def->element_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: there are no elements (element_count is %d)",
                       (int)def->element_count);
    }

    if (def->element_count > MESH_ELEMENTS_MAX) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: element_count is %d, the limit is %d",
                       (int)def->element_count, MESH_ELEMENTS_MAX);
    }

    if (!def->kind || !def->node_start || !def->node || !def->region) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: kind, node_start, node and region must all be given");
    }
    if (def->region_count < 1 || !def->region_name) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: region_count is %d, expected at least 1 with its name",
                       (int)def->region_count);
    }

    if (def->surface_count < 0 || (def->surface_count > 0 && (!def->surface_name || !def->surface_start))) {
        return pl_fail(err, PL_BAD_INPUT,
                       "mesh: surface_count is %d, expected 0 or names and starts for each",
                       (int)def->surface_count);
    }

    return PL_OK;
}

static int check_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Names must be non-empty and unique; sorting finds equal ones in n log n.
static pl_status check_names(const char *what, int32_t count, const char *const *name, pl_error *err)
{
    for (int32_t i = 0; i < count; ++i) {
        if (!name[i] || !name[i][0]) {
            return pl_fail(err, PL_BAD_INPUT, "mesh: %s %d has no name, expected a non-empty one", what,
                           (int)i);
        }
    }

    // equal names are neighbours after sorting
    const char **sorted = PL_NEW_ARRAY(const char *, count);
    if (!sorted) {
        return pl_fail_memory(err, "mesh: names");
    }

    pl_status status = PL_OK;
    memcpy(sorted, name, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, check_compare_names);

    for (int32_t i = 1; i < count && status == PL_OK; ++i) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            status = pl_fail(err, PL_BAD_INPUT, "mesh: two %ss are named '%s', names must differ", what,
                             sorted[i]);
        }
    }

    pl_free(sorted);

    return status;
}

// Coordinates beyond 1e12 mm would overflow the products of the volume formulas.
static pl_status check_positions(const pl_mesh_def *def, pl_error *err)
{
    for (int32_t v = 0; v < def->vertex_count; ++v) {
        const double *x = def->position + 3 * (size_t)v;
        for (int i = 0; i < 3; ++i) {
            if (!isfinite(x[i]) || fabs(x[i]) > 1e12) {
                return pl_fail(err, PL_BAD_INPUT,
                               "mesh: vertex %d: coordinate %c is %g, expected a finite number (mm)", (int)v,
                               "xyz"[i], x[i]);
            }
        }
    }

    return PL_OK;
}

static pl_status check_element(const pl_mesh_def *def, int32_t e, pl_error *err)
{
    // the kind fixes the number of nodes
    const int kind = def->kind[e];
    if (kind >= PL_ELEMENT_KIND_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: element %d: kind is %d, expected 0 .. %d", (int)e, kind,
                       PL_ELEMENT_KIND_COUNT - 1);
    }

    const int count = pl_element_node_count((pl_element_kind)kind);
    if (def->node_start[e + 1] - def->node_start[e] != count) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: element %d (%s) has %lld nodes in node_start, expected %d",
                       (int)e, pl_element_kind_name(kind),
                       (long long)(def->node_start[e + 1] - def->node_start[e]), count);
    }

    // nodes: in range and all different
    const int32_t *node = def->node + def->node_start[e];
    for (int a = 0; a < count; ++a) {
        if (node[a] < 0 || node[a] >= def->vertex_count) {
            return pl_fail(err, PL_BAD_INPUT, "mesh: element %d (%s): node %d is vertex %d, expected 0 .. %d",
                           (int)e, pl_element_kind_name(kind), a, (int)node[a], (int)def->vertex_count - 1);
        }

        for (int b = 0; b < a; ++b) {
            if (node[a] == node[b]) {
                return pl_fail(err, PL_BAD_INPUT, "mesh: element %d (%s) contains vertex %d twice", (int)e,
                               pl_element_kind_name(kind), (int)node[a]);
            }
        }
    }

    if (def->region[e] < 0 || def->region[e] >= def->region_count) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: element %d: region is %d, expected 0 .. %d", (int)e,
                       (int)def->region[e], (int)def->region_count - 1);
    }

    return PL_OK;
}

// Surfaces as ranges of faces, and (with_corners) as 4 vertex numbers per face.
static pl_status check_surfaces(const pl_mesh_def *def, bool with_corners, pl_error *err)
{
    if (def->surface_count == 0) {
        return PL_OK;
    }
    if (def->surface_start[0] != 0) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: surface_start[0] is %lld, expected 0",
                       (long long)def->surface_start[0]);
    }

    for (int32_t s = 0; s < def->surface_count; ++s) {
        const int64_t begin = def->surface_start[s], end = def->surface_start[s + 1];
        if (end < begin) {
            return pl_fail(err, PL_BAD_INPUT, "mesh: surface '%s' ends at face %lld before it starts at %lld",
                           def->surface_name[s], (long long)end, (long long)begin);
        }

        // triangles have -1 as their fourth corner
        if (with_corners && end > begin && !def->surface_corner) {
            return pl_fail(err, PL_BAD_INPUT, "mesh: surface '%s' has faces but surface_corner is not given",
                           def->surface_name[s]);
        }

        for (int64_t f = begin; with_corners && f < end; ++f) {
            for (int a = 0; a < 4; ++a) {
                const int32_t v = def->surface_corner[4 * f + a];

                if (v >= def->vertex_count || v < (a == 3 ? -1 : 0)) {
                    return pl_fail(err, PL_BAD_INPUT,
                                   "mesh: surface '%s', face %lld: corner %d is vertex %d, expected 0 .. %d",
                                   def->surface_name[s], (long long)(f - begin), a, (int)v,
                                   (int)def->vertex_count - 1);
                }
            }
        }
    }

    return PL_OK;
}

// Checks in the order in which they depend on each other; the first failure is reported.
pl_status pl_mesh_def_check(const pl_mesh_def *def, bool with_corners, pl_error *err)
{
    pl_status status = check_arrays(def, err);
    if (status == PL_OK) {
        status = check_names("region", def->region_count, def->region_name, err);
    }
    if (status == PL_OK && def->surface_count > 0) {
        status = check_names("surface", def->surface_count, def->surface_name, err);
    }
    if (status == PL_OK) {
        status = check_positions(def, err);
    }
    if (status == PL_OK && def->node_start[0] != 0) {
        status = pl_fail(err, PL_BAD_INPUT, "mesh: node_start[0] is %lld, expected 0",
                         (long long)def->node_start[0]);
    }

    for (int32_t e = 0; e < def->element_count && status == PL_OK; ++e) {
        status = check_element(def, e, err);
    }

    return status == PL_OK ? check_surfaces(def, with_corners, err) : status;
}
