// Built-in paths, and points equally far apart along a polyline.
#include "kinematics/kinematics_impl.h"

static const char *const path_name[PL_PATH_KIND_COUNT] = {"circle", "eight", "flower", "square",
                                                          "ell",    "flame", "line",   "box"};

const char *pl_path_name(pl_path_kind kind)
{
    return (int)kind >= 0 && kind < PL_PATH_KIND_COUNT ? path_name[kind] : "unknown";
}

pl_path_kind pl_path_find(const char *name)
{
    int k = 0;
    while (k < PL_PATH_KIND_COUNT && strcmp(path_name[k], name) != 0) {
        ++k;
    }
    return (pl_path_kind)k;
}

// 20 mm in the x-y plane, 60 waypoints.
pl_path_def pl_path_default(pl_path_kind kind)
{
    return (pl_path_def){.kind = kind, .size = {20, 20, 20}, .x = {1, 0, 0}, .y = {0, 1, 0}, .count = 60};
}

bool pl_path_is_closed(pl_path_kind kind)
{
    return kind != PL_PATH_ELL && kind != PL_PATH_LINE;
}

// The outline of the flame, the outer tongue up on the left, a smaller one on the right:
// knots of a closed curve of cubic pieces, corners (the two tips and the dip between them) where a knot is
// given twice.
static const double flame[][2] = {{0.00, -0.50},  {0.30, -0.42},  {0.46, -0.18}, {0.44, 0.08},  {0.30, 0.26},
                                  {0.30, 0.26},   {0.24, 0.10},   {0.12, 0.02},  {0.12, 0.02},  {0.14, 0.22},
                                  {0.04, 0.40},   {-0.10, 0.50},  {-0.10, 0.50}, {-0.10, 0.28}, {-0.30, 0.10},
                                  {-0.46, -0.10}, {-0.42, -0.32}, {-0.22, -0.46}};

// Low and high of the spline below in x and y: the largest and smallest of its cubic pieces, between knots.
static const double flame_box[2][2] = {{-0.467846096908265, 0.471111111111111},
                                       {-0.501459152996286, 0.520660178462745}};

// A point of the closed cardinal spline through the flame's knots, moved into the unit square; t in [0, 1).
static void flame_at(double t, double *x, double *y)
{
    const int n = PL_COUNT(flame);
    const double s = t * n;
    const int k = (int)s % n;
    const double f = s - floor(s);
    const double *p[4] = {flame[(k + n - 1) % n], flame[k], flame[(k + 1) % n], flame[(k + 2) % n]};
    double out[2];

    for (int i = 0; i < 2; ++i) {
        // a doubled knot has no direction: straight into the corner and out of it
        const double m0 = p[0][i] == p[1][i] ? p[2][i] - p[1][i] : 0.5 * (p[2][i] - p[0][i]);
        const double m1 = p[3][i] == p[2][i] ? p[2][i] - p[1][i] : 0.5 * (p[3][i] - p[1][i]);
        const double f2 = f * f, f3 = f2 * f;
        out[i] = (2 * f3 - 3 * f2 + 1) * p[1][i] + (f3 - 2 * f2 + f) * m0 + (3 * f2 - 2 * f3) * p[2][i] +
                 (f3 - f2) * m1;
    }

    *x = (out[0] - flame_box[0][0]) / (flame_box[0][1] - flame_box[0][0]) - 0.5;
    *y = (out[1] - flame_box[1][0]) / (flame_box[1][1] - flame_box[1][0]) - 0.5;
}

// Corners of the paths made of straight edges, in parts of the size; returns their number.
static int path_corners(pl_path_kind kind, double corner[10][3])
{
    static const double square[][3] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    static const double ell[][3] = {{-1, 1, 0}, {-1, -1, 0}, {1, -1, 0}};
    static const double line[][3] = {{-1, 0, 0}, {1, 0, 0}};
    static const double box[][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, -1},
                                    {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1},  {-1, -1, 1}};

    const double(*from)[3] = kind == PL_PATH_SQUARE ? square
                             : kind == PL_PATH_ELL  ? ell
                             : kind == PL_PATH_LINE ? line
                                                    : box;
    const int count = kind == PL_PATH_SQUARE ? 4 : kind == PL_PATH_ELL ? 3 : kind == PL_PATH_LINE ? 2 : 10;

    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            corner[i][k] = 0.5 * from[i][k];
        }
    }

    return count;
}

// A point of a curved path, in parts of the size; t in [0, 1).
static void path_curve(pl_path_kind kind, double t, double *x, double *y)
{
    const double a = 2 * PL_PI * t;
    switch (kind) {
    case PL_PATH_EIGHT: // Gerono's: as wide and as high as given
        *x = 0.5 * cos(a);
        *y = 0.5 * sin(2 * a);
        return;
    case PL_PATH_FLOWER: { // five petals: the radius swings between 0.25 and 0.5
        const double r = 0.375 + 0.125 * cos(5 * a);
        *x = r * cos(a);
        *y = r * sin(a);
        return;
    }
    case PL_PATH_FLAME:
        flame_at(t, x, y);
        return;
    default:
        *x = 0.5 * cos(a);
        *y = 0.5 * sin(a);
    }
}

// Every failure names the field.
static pl_status path_check(const pl_path_def *def, pl_error *err)
{
    if ((int)def->kind < 0 || def->kind >= PL_PATH_KIND_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "path: kind %d does not exist", (int)def->kind);
    }
    if (def->count < 2 || def->count > 1000000) {
        return pl_fail(err, PL_BAD_INPUT, "path: count is %d, must be 2 to 1000000", def->count);
    }

    for (int k = 0; k < 3; ++k) {
        if (!isfinite(def->centre[k]) || !isfinite(def->x[k]) || !isfinite(def->y[k])) {
            return pl_fail(err, PL_BAD_INPUT, "path: centre or axes are not finite");
        }
        if (!(def->size[k] >= 0) || !isfinite(def->size[k]) || (k == 0 && def->size[k] == 0)) {
            return pl_fail(err, PL_BAD_INPUT, "path: size[%d] is %g mm, must be > 0", k, def->size[k]);
        }
    }

    double across[3];
    pl_cross3(def->x, def->y, across);
    if (!(pl_norm3(across) > 1e-9 * pl_norm3(def->x) * pl_norm3(def->y))) {
        return pl_fail(err, PL_BAD_INPUT, "path: the axes (%g %g %g) and (%g %g %g) do not define a plane",
                       def->x[0], def->x[1], def->x[2], def->y[0], def->y[1], def->y[2]);
    }

    return PL_OK;
}

// Local coordinates (in parts of the size) into space.
static void path_place(const pl_path_def *def, const double local[3], double out[3])
{
    // orthonormal axes from x and y
    double u[3], v[3], w[3];
    const double length = pl_norm3(def->x), along = pl_dot3(def->x, def->y) / (length * length);

    for (int k = 0; k < 3; ++k) {
        u[k] = def->x[k] / length;
        v[k] = def->y[k] - along * def->x[k];
    }

    const double height = pl_norm3(v);
    for (int k = 0; k < 3; ++k) {
        v[k] /= height;
    }
    pl_cross3(u, v, w);
    const double size[3] = {def->size[0], def->size[1] > 0 ? def->size[1] : def->size[0],
                            def->size[2] > 0 ? def->size[2] : def->size[0]};
    for (int k = 0; k < 3; ++k) {
        out[k] = def->centre[k] + local[0] * size[0] * u[k] + local[1] * size[1] * v[k] +
                 local[2] * size[2] * w[k];
    }
}

// Curved paths are first sampled 64 times more finely, then resampled by length.
pl_status pl_path_points(const pl_path_def *def, double *point, pl_error *err)
{
    pl_status status = path_check(def, err);
    if (status != PL_OK) {
        return status;
    }

    const bool curved = def->kind == PL_PATH_CIRCLE || def->kind == PL_PATH_EIGHT ||
                        def->kind == PL_PATH_FLOWER || def->kind == PL_PATH_FLAME;

    // round paths have one size only
    pl_path_def d = *def;
    if (d.kind == PL_PATH_CIRCLE || d.kind == PL_PATH_FLOWER) {
        d.size[1] = d.size[0];
    }

    double corner[10][3];
    const int knots = curved ? 64 * def->count : path_corners(def->kind, corner);
    double *dense = PL_NEW_ARRAY(double, 3 * (int64_t)knots);
    if (!dense) {
        return pl_fail_memory(err, "path");
    }

    for (int i = 0; i < knots; ++i) {
        double local[3] = {0};
        if (curved) {
            path_curve(def->kind, (double)i / knots, &local[0], &local[1]);
        } else {
            memcpy(local, corner[i], sizeof local);
        }
        path_place(&d, local, dense + 3 * (int64_t)i);
    }

    status = pl_path_resample(dense, knots, pl_path_is_closed(def->kind), def->count, point, err);
    pl_free(dense);

    return status;
}

// `out_count` points equally far apart along a polyline; a closed one does not repeat its first point.
pl_status pl_path_resample(const double *point, int count, bool closed, int out_count, double *out,
                           pl_error *err)
{
    if (count < 1 || out_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "path: %d points to %d, at least one of each is needed", count,
                       out_count);
    }

    // total length
    const int edges = closed ? count : count - 1;
    double total = 0;
    for (int i = 0; i < edges; ++i) {
        total += pl_distance3(point + 3 * (int64_t)i, point + 3 * (int64_t)((i + 1) % count));
    }
    if (!isfinite(total)) {
        return pl_fail(err, PL_BAD_INPUT, "path: a point is not finite");
    }

    // walk along the edges
    const int parts = closed ? out_count : out_count > 1 ? out_count - 1 : 1;
    int edge = 0;
    double before = 0, length = edges > 0 ? pl_distance3(point, point + 3 * (int64_t)(1 % count)) : 0;

    for (int k = 0; k < out_count; ++k) {
        const double s = total * k / parts;
        while (edge + 1 < edges && before + length < s) {
            before += length;
            ++edge;
            length = pl_distance3(point + 3 * (int64_t)edge, point + 3 * (int64_t)((edge + 1) % count));
        }

        const double *a = point + 3 * (int64_t)edge, *b = point + 3 * (int64_t)((edge + 1) % count);
        const double f = length > 0 ? fmin((s - before) / length, 1) : 0;
        for (int i = 0; i < 3; ++i) {
            out[3 * (int64_t)k + i] = (1 - f) * a[i] + f * b[i];
        }
    }

    return PL_OK;
}
