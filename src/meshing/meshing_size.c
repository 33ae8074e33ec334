// The size field: how large elements may be where. A coarse mesh of the same shape is probed with rays from
// its boundary inwards; where they meet the opposite wall soon, elements must be small. The result lives on a
// grid,
//   s(x) = min_i (s_i + slope |x - x_i|),   s_i = factor * wall thickness at sample i,
// found by sweeping the grid, and is read by Gmsh through a callback.
#include <stdlib.h>
#include "mesh/mesh.h"
#include "meshing/meshing_impl.h"

#define SIZE_SLOPE 0.5        // growth of the edge length per mm; neighbours stay within a factor of 1.6
#define SIZE_CELLS_MAX 400000 // grid points

// Grid points run fastest along x.
static int64_t size_index(const size_field *f, const int i[3])
{
    return ((int64_t)i[2] * f->count[1] + i[1]) * f->count[0] + i[0];
}

// Trilinear between grid points; outside of the grid as at its border.
double size_field_at(const size_field *f, const double x[3])
{
    int base[3];
    double part[3];

    for (int a = 0; a < 3; ++a) {
        double at = (x[a] - f->low[a]) / f->spacing;
        // just below the last point, so that its upper neighbour exists
        at = at < 0 ? 0 : at > f->count[a] - 1.000001 ? f->count[a] - 1.000001 : at;
        base[a] = (int)at;
        part[a] = at - base[a];
    }

    double sum = 0;
    for (int k = 0; k < 8; ++k) {
        const int i[3] = {base[0] + (k & 1), base[1] + (k >> 1 & 1), base[2] + (k >> 2)};
        sum += (k & 1 ? part[0] : 1 - part[0]) * (k & 2 ? part[1] : 1 - part[1]) *
               (k & 4 ? part[2] : 1 - part[2]) * f->value[size_index(f, i)];
    }

    return sum;
}

void size_field_clear(size_field *f)
{
    pl_free(f->value);
    *f = (size_field){0};
}

// A grid around the box with a border of half a size, fine enough for `finest` unless it
// would exceed SIZE_CELLS_MAX points.
pl_status size_field_begin(size_field *f, const double low[3], const double high[3], double size,
                           double finest, pl_error *err)
{
    double volume = 1;
    *f = (size_field){0};
    for (int a = 0; a < 3; ++a) {
        f->low[a] = low[a] - size / 2;
        volume *= high[a] - f->low[a] + size / 2;
    }

    f->spacing = fmax(fmin(size / 3, finest), cbrt(volume / SIZE_CELLS_MAX));
    int64_t total = 1;
    for (int a = 0; a < 3; ++a) {
        f->count[a] = 2 + (int)((high[a] + size / 2 - f->low[a]) / f->spacing);
        total *= f->count[a];
    }

    f->value = PL_NEW_ARRAY(double, total);
    for (int64_t i = 0; f->value && i < total; ++i) {
        f->value[i] = size;
    }

    return f->value ? PL_OK : pl_fail_memory(err, "the size field");
}

// Lowers the eight grid points around x to s; size_field_end lets it grow with distance.
void size_field_lower(size_field *f, const double x[3], double s)
{
    int base[3];
    for (int a = 0; a < 3; ++a) {
        base[a] = (int)((x[a] - f->low[a]) / f->spacing);
        base[a] = base[a] < 0 ? 0 : base[a] > f->count[a] - 2 ? f->count[a] - 2 : base[a];
    }

    for (int k = 0; k < 8; ++k) {
        const int i[3] = {base[0] + (k & 1), base[1] + (k >> 1 & 1), base[2] + (k >> 2)};
        double *value = &f->value[size_index(f, i)];
        *value = fmin(*value, s);
    }
}

// Limits the slope: forward and backward passes along each axis, twice, because one axis
// changes what the others have seen.
void size_field_end(size_field *f)
{
    const double step = SIZE_SLOPE * f->spacing;
    for (int pass = 0; pass < 2; ++pass) {
        for (int axis = 0; axis < 3; ++axis) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            int i[3];

            for (i[u] = 0; i[u] < f->count[u]; ++i[u]) {
                for (i[v] = 0; i[v] < f->count[v]; ++i[v]) {
                    double last = INFINITY;
                    for (i[axis] = 0; i[axis] < f->count[axis]; ++i[axis]) {
                        double *value = &f->value[size_index(f, i)];
                        last = *value = fmin(*value, last + step);
                    }

                    for (i[axis] = f->count[axis] - 1; i[axis] >= 0; --i[axis]) {
                        double *value = &f->value[size_index(f, i)];
                        last = *value = fmin(*value, last + step);
                    }
                }
            }
        }
    }
}

// Centre and unit normal of a face's corner triangle; false when it has no area.
static bool size_face(const pl_mesh *mesh, int64_t face, double centre[3], double normal[3])
{
    double x[3 * PL_FACE_NODES_MAX], u[3], v[3];
    if (pl_mesh_gather_face(mesh, face, x) < 3) {
        return false;
    }
    pl_sub3(x + 3, x, u);
    pl_sub3(x + 6, x, v);
    pl_cross3(u, v, normal);
    const double length = pl_norm3(normal);
    for (int i = 0; i < 3; ++i) {
        centre[i] = (x[i] + x[3 + i] + x[6 + i]) / 3;
        normal[i] /= length;
    }

    return length > 0;
}

// Wall thickness behind a boundary face: the distance inwards to a face that looks in the opposite direction
// (within 60 degrees); infinite where there is none.
static double size_thickness(const pl_mesh *mesh, int64_t face, double reach, double centre[3])
{
    double normal[3], other[3], other_normal[3];
    if (!size_face(mesh, face, centre, normal)) {
        return INFINITY;
    }

    const double inward[3] = {-normal[0], -normal[1], -normal[2]};
    pl_hit hit;
    if (!pl_mesh_cast(mesh, centre, inward, 1e-6 * reach, &hit) || hit.from_void ||
        !size_face(mesh, hit.face, other, other_normal) || pl_dot3(normal, other_normal) > -0.5) {
        return INFINITY;
    }

    return hit.t;
}

// Rising, for qsort.
static int size_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

pl_status size_field_init(const pl_mesh *mesh, double size, double factor, size_field *f, double *thinnest,
                          pl_error *err)
{
    *f = (size_field){0};
    double low[3], high[3];
    pl_mesh_bounds(mesh, low, high);
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    double *wall = PL_NEW_ARRAY(double, count);
    pl_status status = wall ? pl_mesh_prepare_trees(mesh, err) : pl_fail_memory(err, "the size field");
    if (status == PL_OK) {
        status = size_field_begin(f, low, high, size, size / 3, err);
    }
    if (status != PL_OK) {
        pl_free(wall);
        return status;
    }

    const double reach = pl_distance3(low, high);
    for (int64_t i = 0; i < count; ++i) {
        double centre[3];
        wall[i] = size_thickness(mesh, face[i], reach, centre);
        if (factor * wall[i] < size) {
            // a fifth of the size at least: one thin spot must not make the mesh explode
            size_field_lower(f, centre, fmax(factor * wall[i], size / 5));
        }
    }

    size_field_end(f);

    // one face in fifty may be an odd corner
    qsort(wall, (size_t)count, sizeof *wall, size_compare);
    *thinnest = wall[count / 50];
    pl_free(wall);

    return PL_OK;
}
