// Walls that are too thin for bending: fewer than two elements from one side to the other. From the middle of
// every boundary face a ray goes into the wall; the face it meets is the other side if it looks back. The
// wall is one element thick where some element has corners on both sides.
#include <stdlib.h>
#include "mesh/mesh_impl.h"

#define WALL_FACING 0.5 // cosine from which the far side counts as the other side of a wall, not of a wedge

// The middle of a boundary face on its straight triangles, and the direction into the wall.
// The centre triangle of a curved face is the last of its parts.
static void walls_inward(const pl_mesh *mesh, int64_t face, double middle[3], double inward[3])
{
    double x[3 * PL_FACE_NODES_MAX], u[3], v[3];
    const int8_t(*split)[3];
    const int parts = pl_face_triangles(pl_mesh_gather_face(mesh, face, x), &split);
    const double *a = x + 3 * split[parts - 1][0], *b = x + 3 * split[parts - 1][1],
                 *c = x + 3 * split[parts - 1][2];
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_cross3(v, u, inward);
    const double length = pl_norm3(inward);
    for (int i = 0; i < 3; ++i) {
        middle[i] = (a[i] + b[i] + c[i]) / 3;
        inward[i] /= length > 0 ? length : 1;
    }
}

// Elements around each vertex: start[v] .. start[v+1] in element.
typedef struct wall_fans {
    int64_t *start;
    int32_t *element;
} wall_fans;

static void walls_fans_clear(wall_fans *fans)
{
    pl_free(fans->start);
    pl_free(fans->element);
}

// Counting sort of the elements by their vertices; false when out of memory.
static bool walls_fans_init(const pl_mesh_view *v, wall_fans *fans)
{
    fans->start = PL_NEW_ARRAY(int64_t, (size_t)v->vertex_count + 2);
    fans->element = PL_NEW_ARRAY(int32_t, v->node_start[v->element_count]);
    if (!fans->start || !fans->element) {
        return false;
    }

    // counted one place ahead, so that filling moves every start to where it belongs
    for (int64_t i = 0; i < v->node_start[v->element_count]; ++i) {
        fans->start[v->node[i] + 2]++;
    }
    for (int32_t i = 0; i < v->vertex_count; ++i) {
        fans->start[i + 2] += fans->start[i + 1];
    }

    for (int32_t e = 0; e < v->element_count; ++e) {
        for (int64_t i = v->node_start[e]; i < v->node_start[e + 1]; ++i) {
            fans->element[fans->start[v->node[i] + 1]++] = e;
        }
    }

    return true;
}

// Vertices of a face; returns how many of them are corners.
static int walls_corners(const pl_mesh *mesh, int64_t face, int32_t node[PL_FACE_NODES_MAX])
{
    const int count = pl_mesh_face_nodes(mesh, face, node);
    return count == 3 || count == 6 ? 3 : 4;
}

static bool walls_has(const int32_t *node, int count, int32_t v)
{
    bool has = false;
    for (int i = 0; i < count; ++i) {
        has = has || node[i] == v;
    }
    return has;
}

// Whether some element has corners on both faces.
static bool walls_joined(const pl_mesh *mesh, const wall_fans *fans, int64_t face, int64_t opposite)
{
    const pl_mesh_view *v = &mesh->view;
    int32_t near[PL_FACE_NODES_MAX], far[PL_FACE_NODES_MAX];
    const int near_count = walls_corners(mesh, face, near), far_count = walls_corners(mesh, opposite, far);

    for (int a = 0; a < near_count; ++a) {
        for (int64_t i = fans->start[near[a]]; i < fans->start[near[a] + 1]; ++i) {
            const int32_t e = fans->element[i];
            const int corners = pl_element_corner_count((pl_element_kind)v->kind[e]);

            for (int b = 0; b < corners; ++b) {
                if (walls_has(far, far_count, v->node[v->node_start[e] + b])) {
                    return true;
                }
            }
        }
    }

    return false;
}

static int walls_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Fills `found` with the elements of thin walls, repeated and in face order; returns their number.
static int32_t walls_search(const pl_mesh *mesh, const wall_fans *fans, int32_t *found, double *thinnest)
{
    // the ray starts on its own face: hits within rounding of it are skipped
    const double skip = 1e-9 * pl_mesh_size(mesh);
    int32_t n = 0;

    *thinnest = INFINITY;
    for (int64_t f = 0; f < mesh->boundary_count; ++f) {
        double middle[3], inward[3], far_middle[3], far_inward[3];
        pl_hit hit;
        walls_inward(mesh, mesh->boundary[f], middle, inward);
        if (!pl_mesh_cast(mesh, middle, inward, skip, &hit)) {
            continue;
        }

        // the other side must face this one, or the ray left through a side wall
        walls_inward(mesh, hit.face, far_middle, far_inward);
        if (pl_dot3(inward, far_inward) > -WALL_FACING) {
            continue;
        }
        *thinnest = fmin(*thinnest, hit.t);
        if (walls_joined(mesh, fans, mesh->boundary[f], hit.face)) {
            found[n++] = (int32_t)(mesh->boundary[f] / 8);
        }
    }

    return n;
}

// The list is sorted, without repetitions, and owned by the caller; NULL when there are none.
pl_status pl_mesh_thin_walls(const pl_mesh *mesh, int32_t **element, int32_t *count, double *thinnest_mm,
                             pl_error *err)
{
    *element = NULL;
    *count = 0;
    wall_fans fans = {0};
    int32_t *found = PL_NEW_ARRAY(int32_t, mesh->boundary_count), kept = 0;

    if (!found || !walls_fans_init(&mesh->view, &fans) || pl_mesh_prepare_trees(mesh, err) != PL_OK) {
        pl_free(found);
        walls_fans_clear(&fans);
        return pl_fail_memory(err, "mesh: thin walls");
    }

    double thinnest;
    const int32_t n = walls_search(mesh, &fans, found, &thinnest);
    walls_fans_clear(&fans);

    // an element with several boundary faces is found several times
    qsort(found, (size_t)n, sizeof *found, walls_compare);
    for (int32_t i = 0; i < n; ++i) {
        if (kept == 0 || found[kept - 1] != found[i]) {
            found[kept++] = found[i];
        }
    }

    if (kept == 0) {
        pl_free(found);
        found = NULL;
    }

    *element = found;
    *count = kept;
    if (thinnest_mm) {
        *thinnest_mm = thinnest;
    }

    return PL_OK;
}
