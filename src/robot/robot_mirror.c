// Planes of symmetry along which a body was cut, as its supports name them: a support holds the boundary in
// an outermost plane of the body along the normal of that plane, and only along it.
#include "robot/robot_impl.h"

// The heights of what the support holds on the body, along n in the body's frame. False when it is not of
// this kind: only surfaces and boxes are.
static bool mirror_heights(const pl_mesh *mesh, const pl_fixed_def *def, const int64_t *face, int64_t count,
                           const double n[3], double range[2])
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    range[0] = INFINITY;
    range[1] = -INFINITY;

    // faces of a surface, vertices in a box
    for (int64_t k = 0; k < count; ++k) {
        double x[3 * PL_FACE_NODES_MAX];
        const int nodes = pl_mesh_gather_face(mesh, face[k], x);

        for (int a = 0; a < nodes; ++a) {
            const double height = pl_dot3(x + 3 * a, n);
            range[0] = fmin(range[0], height);
            range[1] = fmax(range[1], height);
        }
    }

    for (int32_t j = 0; def->has_box && j < v.vertex_count; ++j) {
        const double *x = v.position + 3 * (size_t)j;
        bool inside = true;
        for (int i = 0; i < 3; ++i) {
            inside = inside && x[i] >= def->low[i] && x[i] <= def->high[i];
        }
        if (inside) {
            const double height = pl_dot3(x, n);
            range[0] = fmin(range[0], height);
            range[1] = fmax(range[1], height);
        }
    }

    return range[0] <= range[1];
}

// Only supports along one axis that do not move can be planes of symmetry; `out` is valid if true.
bool robot_mirror(const robot_build *b, int body, const pl_mesh *mesh, const pl_fixed_def *def,
                  const int64_t *face, int64_t count, pl_mirror *out)
{
    static const double zero[3];
    int axis = -1, held = 0;

    for (int i = 0; i < 3; ++i) {
        held += def->axis[i];
        axis = def->axis[i] ? i : axis;
    }

    if (held != 1 || memcmp(def->move, zero, sizeof zero) != 0 ||
        memcmp(def->rotate, zero, sizeof zero) != 0) {
        return false;
    }

    // the body's own frame: x_body = R^T (x - t)
    const double e[3] = {axis == 0, axis == 1, axis == 2};
    double n[3], range[2], low[3], high[3], all[2] = {INFINITY, -INFINITY};
    pl_mulTv3(b->def->body[body].rotation, e, n);
    const pl_mesh_view v = pl_mesh_get(mesh);

    for (int32_t j = 0; j < v.vertex_count; ++j) {
        const double height = pl_dot3(v.position + 3 * (size_t)j, n);
        all[0] = fmin(all[0], height);
        all[1] = fmax(all[1], height);
    }

    pl_mesh_bounds(mesh, low, high);

    // all that is held must lie in one plane, to round-off of the mesh
    const double tolerance = 1e-6 * pl_distance3(low, high);
    if (!mirror_heights(mesh, def, face, count, n, range) || range[1] - range[0] > tolerance) {
        return false;
    }

    // at one end of the body only: a flat body has no such plane
    const bool top = all[1] - range[1] <= tolerance, bottom = range[0] - all[0] <= tolerance;
    for (int i = 0; i < 3; ++i) {
        out->normal[i] = top ? n[i] : -n[i];
        out->point[i] = n[i] * (top ? all[1] : all[0]);
    }

    return top != bottom;
}
