// Bodies cut along planes of symmetry, as a ray sees them: it is reflected where it leaves through such a
// plane, and so meets what it would meet in the whole body. Boundary faces in the planes are no surface of
// that body.
#include "mesh/mesh_impl.h"

#define MIRROR_REFLECTIONS 16 // three planes need three; more between parallel ones

// Distance from a plane, in mm, up to which a point counts as lying in it.
double pl_mirror_tolerance(const pl_mesh *mesh)
{
    return 1e-6 * pl_mesh_size(mesh);
}

// Signed distance from the plane, positive on the side that was cut off.
static double mirror_height(const pl_mirror *mirror, const double x[3])
{
    double r[3];
    pl_sub3(x, mirror->point, r);
    return pl_dot3(r, mirror->normal);
}

bool pl_mirrors_contain(const pl_mirrors *mirrors, const double *x, int count, double tolerance)
{
    for (int m = 0; m < mirrors->count; ++m) {
        bool all = true;
        for (int a = 0; a < count && all; ++a) {
            all = fabs(mirror_height(&mirrors->mirror[m], x + 3 * a)) <= tolerance;
        }
        if (all) {
            return true;
        }
    }

    return false;
}

// Where the ray leaves through a plane, just inside, and its image there. False when it leaves through none.
static bool mirror_reflect(const pl_mirrors *mirrors, double nudge, double o[3], double d[3])
{
    // the plane that the ray reaches first; one that it has passed by rounding counts as reached now
    const pl_mirror *first = NULL;
    double t = INFINITY;

    for (int m = 0; m < mirrors->count; ++m) {
        const pl_mirror *mirror = &mirrors->mirror[m];
        const double out = pl_dot3(d, mirror->normal), at = -mirror_height(mirror, o) / out;
        if (out > 1e-12 && at < t) {
            t = fmax(at, 0);
            first = mirror;
        }
    }

    if (!first) {
        return false;
    }

    // reflect the direction, d - 2 (d . n) n, and start just inside the plane
    const double out = pl_dot3(d, first->normal);
    for (int i = 0; i < 3; ++i) {
        o[i] += t * d[i] - nudge * first->normal[i];
        d[i] -= 2 * out * first->normal[i];
    }

    return true;
}

// The first boundary face met in the whole body, found by at most MIRROR_REFLECTIONS reflections.
bool pl_mirrors_cast(const pl_mesh *mesh, const pl_mirrors *mirrors, const double origin[3],
                     const double direction[3], pl_hit *hit)
{
    double o[3], d[3];
    memcpy(o, origin, sizeof o);
    memcpy(d, direction, sizeof d);

    for (int k = 0; k <= MIRROR_REFLECTIONS; ++k) {
        if (pl_mesh_cast(mesh, o, d, 0, hit)) {
            return true;
        }
        if (!mirror_reflect(mirrors, 1e-9 * pl_mesh_size(mesh), o, d)) {
            return false;
        }
    }

    return false;
}

// Without planes the question whether anything is hit is cheaper than which face is first.
bool pl_mirrors_block(const pl_mesh *mesh, const pl_mirrors *mirrors, const double origin[3],
                      const double direction[3])
{
    pl_hit hit;
    return mirrors->count > 0 ? pl_mirrors_cast(mesh, mirrors, origin, direction, &hit)
                              : pl_mesh_blocks(mesh, origin, direction, 0);
}

// V = -int ((x - o) . u) (n . u) dA, to which a face in a plane adds nothing if u lies in the plane, or is
// normal to it and o lies in it. Such an u along one of three orthogonal axes, and o; false: there is none.
static bool mirror_direction(const pl_mirrors *mirrors, double tolerance, double u[3], double o[3])
{
    // axes: the first normal, another one orthogonal to it if there is one, and their cross product
    double axis[3][3];
    memcpy(axis[0], mirrors->mirror[0].normal, sizeof axis[0]);
    for (int m = 1; m < mirrors->count; ++m) {
        if (fabs(pl_dot3(axis[0], mirrors->mirror[m].normal)) < 1e-9) {
            memcpy(axis[1], mirrors->mirror[m].normal, sizeof axis[1]);
            break;
        }

        memset(axis[1], 0, sizeof axis[1]);
    }

    // otherwise any direction in the first plane
    if (mirrors->count == 1 || pl_norm3(axis[1]) == 0) {
        const int small = fabs(axis[0][0]) < 0.6 ? 0 : 1;
        const double e[3] = {small == 0, small == 1, 0};
        pl_cross3(axis[0], e, axis[1]);
        const double length = pl_norm3(axis[1]);
        for (int i = 0; i < 3; ++i) {
            axis[1][i] /= length;
        }
    }

    // the first axis along which faces in all planes contribute nothing
    pl_cross3(axis[0], axis[1], axis[2]);
    for (int k = 0; k < 3; ++k) {
        bool good = true, given = false;
        memcpy(u, axis[k], 3 * sizeof *u);
        memset(o, 0, 3 * sizeof *o);

        for (int m = 0; m < mirrors->count && good; ++m) {
            const pl_mirror *mirror = &mirrors->mirror[m];
            const double along = fabs(pl_dot3(u, mirror->normal));
            if (along > 1e-9 && !given) {
                memcpy(o, mirror->point, 3 * sizeof *o);
                given = true;
            }

            good = along < 1e-9 || (along > 1 - 1e-9 && fabs(mirror_height(mirror, o)) <= tolerance);
        }

        if (good) {
            return true;
        }
    }

    return false;
}

double pl_mirrors_enclosed(const pl_mesh *mesh, const pl_mirrors *mirrors, const int64_t *face, int64_t count)
{
    double u[3], o[3], volume = 0;
    if (mirrors->count == 0) {
        return pl_mesh_faces_enclosed(mesh, face, count);
    }
    if (!mirror_direction(mirrors, pl_mirror_tolerance(mesh), u, o)) {
        return 0;
    }

    for (int64_t f = 0; f < count; ++f) {
        double x[3 * PL_FACE_NODES_MAX];
        const int8_t(*split)[3];
        const int parts = pl_face_triangles(pl_mesh_gather_face(mesh, face[f], x), &split);

        for (int t = 0; t < parts; ++t) {
            // exact on flat triangles: the integrand is linear, so its mean is that of the corners
            double p[3][3], a[3], b[3], n[3];
            for (int k = 0; k < 3; ++k) {
                pl_sub3(x + 3 * split[t][k], o, p[k]);
            }
            pl_sub3(p[1], p[0], a);
            pl_sub3(p[2], p[0], b);
            pl_cross3(a, b, n);
            volume -= pl_dot3(n, u) / 2 * (pl_dot3(p[0], u) + pl_dot3(p[1], u) + pl_dot3(p[2], u)) / 3;
        }
    }

    return volume;
}
