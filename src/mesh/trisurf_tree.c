// Nearest points and rays on a triangle surface, through a bounding-volume tree over its triangles.
#include "mesh/mesh_impl.h"

static const double *tree_corner(const pl_trisurf *s, int32_t t, int k)
{
    return s->position + 3 * (int64_t)s->corner[3 * (int64_t)t + k];
}

pl_status pl_trisurf_tree_init(pl_trisurf_tree *tree, const pl_trisurf *surface, pl_error *err)
{
    *tree = (pl_trisurf_tree){.surface = surface};
    double *box = PL_NEW_ARRAY(double, 6 * (int64_t)surface->triangle_count);
    for (int32_t t = 0; box && t < surface->triangle_count; ++t) {
        for (int i = 0; i < 3; ++i) {
            const double a = tree_corner(surface, t, 0)[i], b = tree_corner(surface, t, 1)[i],
                         c = tree_corner(surface, t, 2)[i];
            box[6 * (int64_t)t + i] = fmin(a, fmin(b, c));
            box[6 * (int64_t)t + 3 + i] = fmax(a, fmax(b, c));
        }
    }

    const bool room = box && pl_bvh_init(&tree->bvh, surface->triangle_count, box);
    pl_free(box);

    return room ? PL_OK : pl_fail_memory(err, "the tree of a surface");
}

void pl_trisurf_tree_clear(pl_trisurf_tree *tree)
{
    pl_bvh_clear(&tree->bvh);
}

// ---- nearest point
typedef struct near_search {
    const pl_trisurf *surface;
    const double *point;
    const int32_t *label;
    int32_t wanted; // label looked for; without labels all triangles count
    double best[3]; // nearest point so far, mm
} near_search;

// Smaller squared distance replaces the best.
static double near_visit(void *user, int32_t item, double best)
{
    near_search *s = user;
    const double *a = tree_corner(s->surface, item, 0), *b = tree_corner(s->surface, item, 1),
                 *c = tree_corner(s->surface, item, 2);

    if (s->label && s->label[item] != s->wanted) {
        return best;
    }

    double weight[3];
    const double squared = pl_triangle_nearest(s->point, a, b, c, weight);
    if (!(squared < best)) {
        return best;
    }
    for (int i = 0; i < 3; ++i) {
        s->best[i] = weight[0] * a[i] + weight[1] * b[i] + weight[2] * c[i];
    }

    return squared;
}

double pl_trisurf_tree_nearest(const pl_trisurf_tree *tree, const double point[3], double nearest[3])
{
    near_search search = {.surface = tree->surface, .point = point};
    pl_bvh_nearest(&tree->bvh, point, INFINITY, near_visit, &search);
    memcpy(nearest, search.best, sizeof search.best);
    return pl_distance3(nearest, point);
}

double pl_trisurf_tree_nearest_of(const pl_trisurf_tree *tree, const int32_t *label, int32_t wanted,
                                  const double point[3], double nearest[3])
{
    near_search search = {
        .surface = tree->surface, .point = point, .label = label, .wanted = wanted, .best = {INFINITY}};
    pl_bvh_nearest(&tree->bvh, point, INFINITY, near_visit, &search);
    memcpy(nearest, search.best, sizeof search.best);
    return pl_distance3(nearest, point);
}

// Nearest points of `count` points, 3 numbers each, and the root mean square of the distances in mm.
pl_status pl_trisurf_nearest(const pl_trisurf *surface, const double *point, int32_t count, double *nearest,
                             double *rms, pl_error *err)
{
    if (surface->triangle_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "the surface has no triangle");
    }

    pl_trisurf_tree tree;
    const pl_status status = pl_trisurf_tree_init(&tree, surface, err);
    double sum = 0;
    for (int32_t p = 0; status == PL_OK && p < count; ++p) {
        const double d = pl_trisurf_tree_nearest(&tree, point + 3 * (int64_t)p, nearest + 3 * (int64_t)p);
        sum += d * d;
    }

    if (rms) {
        *rms = sqrt(sum / (count > 0 ? count : 1));
    }
    pl_trisurf_tree_clear(&tree);

    return status;
}

// ---- rays
typedef struct ray_search {
    const pl_trisurf *surface;
    const double *origin, *direction;
    double start, t;
    int32_t hit; // triangle met first; -1: none
} ray_search;

// A nearer hit shortens the ray.
static double ray_visit(void *user, int32_t item, double limit)
{
    ray_search *s = user;
    const double t = pl_triangle_ray(s->origin, s->direction, tree_corner(s->surface, item, 0),
                                     tree_corner(s->surface, item, 1), tree_corner(s->surface, item, 2));

    if (!(t > s->start && t < limit)) {
        return limit;
    }
    s->hit = item;
    s->t = t;

    return t;
}

int32_t pl_trisurf_tree_cast(const pl_trisurf_tree *tree, const double origin[3], const double direction[3],
                             double start, double *t)
{
    ray_search search = {tree->surface, origin, direction, start, 0, -1};
    pl_bvh_ray(&tree->bvh, origin, direction, 1e30, ray_visit, &search);
    *t = search.t;
    return search.hit;
}
