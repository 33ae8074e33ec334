// Paths and target shapes from tables, and the nearest points of a triangle surface.
#include <stdio.h>
#include "base/vec.h"
#include "text/text_table.h"
#include "mesh/mesh.h"
#include "pliant/dataset.h"

// Three columns by name into `out`, which stays NULL where they are not there; some without the others are
// refused.
static pl_status path_triple(const text_table *t, const char *const name[3], pl_dimension dimension,
                             double **out, pl_error *err)
{
    int column[3], there = 0;
    for (int i = 0; i < 3; ++i) {
        column[i] = text_table_find(t, name[i]);
        there += column[i] >= 0;
    }

    *out = NULL;
    if (there == 0) {
        return PL_OK;
    }
    if (there < 3) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the columns %s, %s, %s must occur together, found %d of them",
                       t->path, name[0], name[1], name[2], there);
    }

    *out = PL_NEW_ARRAY(double, 3 * (int64_t)t->row_count);
    pl_status status = *out ? PL_OK : pl_fail_memory(err, t->path);
    for (int i = 0; i < 3 && status == PL_OK; ++i) {
        status = text_table_column(t, column[i], dimension, TEXT_TABLE_WHOLE, *out + i, 3, err);
    }

    return status;
}

static const char *const path_xyz[3] = {"x", "y", "z"};

// x, y, z by name, or the first three columns of a file without a heading.
static pl_status path_points(const text_table *t, double **out, pl_error *err)
{
    pl_status status = path_triple(t, path_xyz, PL_DIM_LENGTH, out, err);
    if (status != PL_OK || *out) {
        return status;
    }

    // without a heading the order x, y, z is expected; with one the names must be there
    if (t->heading || t->column_count < 3) {
        return pl_fail(err, PL_BAD_INPUT, "%s: expected columns x, y, z, found %d column%s%s%s", t->path,
                       t->column_count, t->column_count == 1 ? "" : "s", t->heading ? ", the first is " : "",
                       t->heading ? t->name[0] : "");
    }

    *out = PL_NEW_ARRAY(double, 3 * (int64_t)t->row_count);
    status = *out ? PL_OK : pl_fail_memory(err, t->path);
    for (int i = 0; i < 3 && status == PL_OK; ++i) {
        status = text_table_column(t, i, PL_DIM_LENGTH, TEXT_TABLE_WHOLE, *out + i, 3, err);
    }

    return status;
}

// Numbers beyond any robot are a slip of units or digits.
static pl_status path_sizes(const text_table *t, const double *value, double largest, const char *unit,
                            pl_error *err)
{
    for (int i = 0; i < 3 * t->row_count; ++i) {
        if (!(fabs(value[i]) <= largest)) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: %g %s is implausible, expected at most %g", t->path,
                           t->line[i / 3], value[i], unit, largest);
        }
    }

    return PL_OK;
}

// Column t or time, in seconds and strictly increasing; NULL where there is none.
static pl_status path_time(const text_table *t, double **out, pl_error *err)
{
    int column = text_table_find(t, "t");
    column = column >= 0 ? column : text_table_find(t, "time");
    if (column < 0) {
        return PL_OK;
    }
    *out = PL_NEW_ARRAY(double, t->row_count);
    pl_status status = *out ? text_table_column(t, column, PL_DIM_TIME, TEXT_TABLE_WHOLE, *out, 1, err)
                            : pl_fail_memory(err, t->path);
    for (int r = 1; r < t->row_count && status == PL_OK; ++r) {
        if (!((*out)[r] > (*out)[r - 1])) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: the time %g must come after %g", t->path, t->line[r],
                             (*out)[r], (*out)[r - 1]);
        }
    }

    return status;
}

pl_status pl_path_read(const char *path, pl_path_file *out, pl_error *err)
{
    static const char *const normal[3] = {"nx", "ny", "nz"}, *const rotation[3] = {"rx", "ry", "rz"};
    *out = (pl_path_file){0};
    text_table t;
    pl_status status = text_table_read(path, &t, err);
    if (status != PL_OK) {
        return status;
    }

    // points, then optional directions, rotations and times
    out->count = t.row_count;
    status = path_points(&t, &out->point, err);
    if (status == PL_OK) {
        status = path_triple(&t, normal, PL_DIM_NUMBER, &out->direction, err);
    }
    if (status == PL_OK) {
        status = path_triple(&t, rotation, PL_DIM_ANGLE, &out->rotation, err);
    }
    if (status == PL_OK) {
        status = path_time(&t, &out->time, err);
    }

    // limits that catch a file in the wrong unit
    if (status == PL_OK) {
        status = path_sizes(&t, out->point, 1e9, "mm", err);
    }
    if (status == PL_OK && out->rotation) {
        status = path_sizes(&t, out->rotation, 1e3, "rad", err);
    }

    // a direction needs a length, not a unit length
    for (int r = 0; status == PL_OK && out->direction && r < t.row_count; ++r) {
        if (!(pl_norm3(out->direction + 3 * r) > 1e-12)) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: nx, ny, nz have no direction", path, t.line[r]);
        }
    }

    text_table_clear(&t);
    if (status != PL_OK) {
        pl_path_clear(out);
    }

    return status;
}

void pl_path_clear(pl_path_file *file)
{
    pl_free(file->point);
    pl_free(file->direction);
    pl_free(file->rotation);
    pl_free(file->time);
    *file = (pl_path_file){0};
}

// ---- target shapes: rows of a body point and the position it should have
// Body points by their numbers.
static pl_status target_by_index(const text_table *t, int column, int32_t point_count, pl_shape_target *out,
                                 pl_error *err)
{
    double *value = PL_NEW_ARRAY(double, t->row_count);
    pl_status status = value ? text_table_column(t, column, PL_DIM_NUMBER, TEXT_TABLE_WHOLE, value, 1, err)
                             : pl_fail_memory(err, t->path);

    for (int r = 0; status == PL_OK && r < t->row_count; ++r) {
        const double index = value[r];
        if (!(index >= 0 && index < point_count) || index != floor(index)) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: point %g is not a body point, expected 0 to %d",
                             t->path, t->line[r], index, (int)point_count - 1);
        } else {
            out->point[r] = (int32_t)index;
        }
    }

    pl_free(value);
    return status;
}

// The body point nearest to a place in the undeformed configuration; -1 without points.
static int32_t target_nearest(const double *rest, int32_t count, const double at[3])
{
    int32_t near = -1;
    double best = INFINITY;

    for (int32_t i = 0; i < count; ++i) {
        double d[3];
        pl_sub3(rest + 3 * (int64_t)i, at, d);
        if (pl_dot3(d, d) < best) {
            best = pl_dot3(d, d);
            near = i;
        }
    }

    return near;
}

// Body points by their undeformed positions, within `reach` mm.
static pl_status target_by_place(const text_table *t, const double *at, const double *rest,
                                 int32_t point_count, double reach, pl_shape_target *out, pl_error *err)
{
    for (int r = 0; r < t->row_count; ++r) {
        const int32_t near = target_nearest(rest, point_count, at + 3 * r);
        double d[3];
        pl_sub3(rest + 3 * (near < 0 ? 0 : near), at + 3 * r, d);

        if (near < 0 || !(pl_norm3(d) <= reach)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s:%d: no body point within %g mm of (%g, %g, %g) in the undeformed "
                           "configuration; the nearest is %g mm away",
                           t->path, t->line[r], reach, at[3 * r], at[3 * r + 1], at[3 * r + 2], pl_norm3(d));
        }

        out->point[r] = near;
    }

    return PL_OK;
}

// A body point cannot have two targets.
static pl_status target_twice(const text_table *t, int32_t point_count, const pl_shape_target *out,
                              pl_error *err)
{
    int *seen = PL_NEW_ARRAY(int, point_count);
    if (!seen) {
        return pl_fail_memory(err, t->path);
    }

    pl_status status = PL_OK;
    for (int r = 0; r < t->row_count && status == PL_OK; ++r) {
        int *slot = &seen[out->point[r]];
        if (*slot) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: refers to the same body point as line %d", t->path,
                             t->line[r], *slot);
        }

        *slot = t->line[r];
    }

    pl_free(seen);

    return status;
}

// Positions x, y, z, and which body points they belong to: by `point`, or by x0, y0, z0.
static pl_status target_fill(const text_table *t, const double *rest, int32_t point_count, double reach,
                             pl_shape_target *out, pl_error *err)
{
    static const char *const start[3] = {"x0", "y0", "z0"};
    const int column = text_table_find(t, "point");

    // targets
    double *at = NULL;
    pl_status status = path_triple(t, path_xyz, PL_DIM_LENGTH, &out->place, err);

    if (status == PL_OK && !out->place) {
        status =
            pl_fail(err, PL_BAD_INPUT, "%s: the columns x, y, z (target positions) are missing", t->path);
    }

    if (status == PL_OK) {
        status = path_sizes(t, out->place, 1e9, "mm", err);
    }
    if (status == PL_OK && t->row_count > point_count) {
        status = pl_fail(err, PL_BAD_INPUT, "%s:%d: more rows than the body has points (%d)", t->path,
                         t->line[point_count], (int)point_count);
    }

    // how the points are named
    if (status == PL_OK && column < 0) {
        status = path_triple(t, start, PL_DIM_LENGTH, &at, err);
        if (status == PL_OK && !at) {
            status = pl_fail(err, PL_BAD_INPUT,
                             "%s: the body points are not given: expected a column 'point' or x0, y0, z0 "
                             "(undeformed positions)",
                             t->path);
        }
    }

    if (status == PL_OK) {
        out->count = t->row_count;
        out->point = PL_NEW_ARRAY(int32_t, t->row_count);
        status = !out->point   ? pl_fail_memory(err, t->path)
                 : column >= 0 ? target_by_index(t, column, point_count, out, err)
                               : target_by_place(t, at, rest, point_count, reach, out, err);
    }

    if (status == PL_OK) {
        status = target_twice(t, point_count, out, err);
    }
    pl_free(at);

    return status;
}

pl_status pl_shape_target_read(const char *path, const double *rest, int32_t point_count, double reach,
                               pl_shape_target *out, pl_error *err)
{
    *out = (pl_shape_target){0};
    text_table t;
    pl_status status = text_table_read(path, &t, err);
    if (status != PL_OK) {
        return status;
    }
    status = target_fill(&t, rest, point_count, reach, out, err);
    text_table_clear(&t);
    if (status != PL_OK) {
        pl_shape_target_clear(out);
    }

    return status;
}

void pl_shape_target_clear(pl_shape_target *target)
{
    pl_free(target->point);
    pl_free(target->place);
    *target = (pl_shape_target){0};
}
