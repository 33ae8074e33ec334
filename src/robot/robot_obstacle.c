// The shapes of rigid obstacles, one row each: its name in robot files, what of its definition must be given,
// how it is placed as a shape of the contact room, and its volume where it may be a free body. Its keys in a
// robot file are a row of document_contact.c, its signed distance a function of contact_shape.c.
#include "base/rotation.h"
#include "robot/robot_impl.h"

// Rows: two directions across, then `along`.
static void obstacle_frame(const double along[3], double frame[9])
{
    double *z = frame + 6, *x = frame, *y = frame + 3;
    const double length = pl_norm3(along);

    for (int i = 0; i < 3; ++i) {
        z[i] = along[i] / length;
    }

    // cross with the unit vector that is least parallel to z, so that the product is far from 0
    const int least =
        fabs(z[0]) < fabs(z[1]) ? (fabs(z[0]) < fabs(z[2]) ? 0 : 2) : (fabs(z[1]) < fabs(z[2]) ? 1 : 2);
    const double e[3] = {least == 0, least == 1, least == 2};
    pl_cross3(e, z, x);
    const double across = pl_norm3(x);
    for (int i = 0; i < 3; ++i) {
        x[i] /= across;
    }
    pl_cross3(z, x, y);
}

// The surface, turned and moved, checked to be closed and turned outwards.
static pl_status place_surface(robot_build *b, const pl_obstacle_def *def, pl_shape *shape)
{
    const pl_trisurf *from = def->surface;
    pl_trisurf *to = &shape->surface;

    if (!from || from->triangle_count == 0) {
        ROBOT_DEFECT(b, def->line, "obstacle '%s' has no surface", def->name);
        return PL_OK;
    }

    *to = (pl_trisurf){.vertex_count = from->vertex_count,
                       .triangle_count = from->triangle_count,
                       .position = PL_NEW_ARRAY(double, 3 * (int64_t)from->vertex_count),
                       .corner = PL_NEW_ARRAY(int32_t, 3 * (int64_t)from->triangle_count)};
    if (!to->position || !to->corner) {
        return robot_memory(b);
    }

    // to its place
    double R[9];
    pl_rotation_exp(def->rotate, R);
    for (int32_t v = 0; v < from->vertex_count; ++v) {
        pl_mulv3(R, from->position + 3 * (size_t)v, to->position + 3 * (size_t)v);
        for (int i = 0; i < 3; ++i) {
            to->position[3 * (size_t)v + (size_t)i] += def->point[i];
        }
    }

    memcpy(to->corner, from->corner, 3 * (size_t)from->triangle_count * sizeof *to->corner);

    // what follows needs a closed surface; its defects have been reported
    const int before = pl_findings_defect_count(b->findings);
    const pl_status status = pl_trisurf_check(to, def->name, b->findings, b->err);
    if (status != PL_OK || pl_findings_defect_count(b->findings) > before) {
        return status;
    }

    // a negative volume: the triangles face inwards, so two corners of each are exchanged
    if (pl_trisurf_volume(to) < 0) {
        for (int32_t t = 0; t < to->triangle_count; ++t) {
            const int32_t keep = to->corner[3 * (size_t)t + 1];
            to->corner[3 * (size_t)t + 1] = to->corner[3 * (size_t)t + 2];
            to->corner[3 * (size_t)t + 2] = keep;
        }
    }

    return pl_shape_prepare(shape, b->err);
}

// The frame of planes and cylinders has their direction as third axis; a cylinder of length 0 has no end.
static pl_status place_along(robot_build *b, const pl_obstacle_def *def, pl_shape *shape)
{
    (void)b;
    obstacle_frame(def->direction, shape->frame);
    shape->half[2] = def->length > 0 ? 0.5 * def->length : INFINITY;
    return PL_OK;
}

static pl_status place_sphere(robot_build *b, const pl_obstacle_def *def, pl_shape *shape)
{
    (void)b, (void)def, (void)shape; // centre and radius are all there is
    return PL_OK;
}

// Rows of `frame` are the directions of the box, hence the transpose.
static pl_status place_box(robot_build *b, const pl_obstacle_def *def, pl_shape *shape)
{
    (void)b;
    double R[9];
    pl_rotation_exp(def->rotate, R);
    for (int i = 0; i < 9; ++i) {
        shape->frame[i] = R[3 * (i % 3) + i / 3];
    }
    for (int i = 0; i < 3; ++i) {
        shape->half[i] = 0.5 * def->size[i];
    }

    return PL_OK;
}

// Second moments of a body with the moments `along` in the directions of the columns of R.
static void second_moments(const double R[9], const double along[3], double out[9])
{
    for (int i = 0; i < 9; ++i) {
        const int r = 3 * (i / 3), c = 3 * (i % 3);
        out[i] = R[r] * along[0] * R[c] + R[r + 1] * along[1] * R[c + 1] + R[r + 2] * along[2] * R[c + 2];
    }
}

// Volume, centre of mass and second moments of a closed surface, as drawn in its file: sums over the
// tetrahedra of its triangles and a corner of its box, V = sum r0 x r1 . r2 / 6 and
// int r r^T dV = V / 20 (sum r_a r_a^T + (sum r_a) (sum r_a)^T). The corner keeps the terms small.
static void obstacle_surface_extent(const pl_trisurf *s, robot_extent *out)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, c[3] = {0};
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        for (int i = 0; i < 3; ++i) {
            low[i] = fmin(low[i], s->position[3 * (size_t)v + (size_t)i]);
            high[i] = fmax(high[i], s->position[3 * (size_t)v + (size_t)i]);
        }
    }

    for (int32_t t = 0; t < s->triangle_count; ++t) {
        double r[3][3], n[3];
        for (int a = 0; a < 3; ++a) {
            pl_sub3(s->position + 3 * (size_t)s->corner[3 * (size_t)t + (size_t)a], low, r[a]);
        }
        pl_cross3(r[0], r[1], n);
        const double volume = pl_dot3(n, r[2]) / 6;
        out->volume += volume;
        double sum[3];
        for (int i = 0; i < 3; ++i) {
            sum[i] = r[0][i] + r[1][i] + r[2][i];
            c[i] += 0.25 * volume * sum[i];
        }
        for (int i = 0; i < 9; ++i) {
            const int a = i / 3, b = i % 3;
            out->second[i] +=
                volume / 20 * (r[0][a] * r[0][b] + r[1][a] * r[1][b] + r[2][a] * r[2][b] + sum[a] * sum[b]);
        }
    }
    for (int i = 0; i < 9 && out->volume != 0; ++i) {
        out->second[i] = (out->second[i] - c[i / 3] * c[i % 3] / out->volume) / out->volume;
    }

    // a surface without volume is a defect that is reported elsewhere; its centre is that of the box
    out->size = INFINITY;
    for (int i = 0; i < 3; ++i) {
        out->centre[i] = out->volume != 0 ? low[i] + c[i] / out->volume : 0.5 * (low[i] + high[i]);
        out->size = fmin(out->size, 0.5 * (high[i] - low[i]));
    }

    out->volume = fabs(out->volume);
}

static void measure_sphere(const pl_obstacle_def *def, robot_extent *out)
{
    out->volume = 4.0 / 3 * PL_PI * def->radius * def->radius * def->radius;
    out->size = def->radius;
    for (int i = 0; i < 3; ++i) {
        out->second[4 * i] = def->radius * def->radius / 5;
    }
}

static void measure_cylinder(const pl_obstacle_def *def, robot_extent *out)
{
    out->volume = PL_PI * def->radius * def->radius * def->length;
    out->size = fmin(def->radius, 0.5 * def->length);

    // r^2 / 4 across its axis, L^2 / 12 along it; rows of the frame are the directions
    double frame[9], R[9];
    const double across = def->radius * def->radius / 4,
                 along[3] = {across, across, def->length * def->length / 12};
    obstacle_frame(def->direction, frame);
    for (int i = 0; i < 9; ++i) {
        R[i] = frame[3 * (i % 3) + i / 3];
    }
    second_moments(R, along, out->second);
}

static void measure_box(const pl_obstacle_def *def, robot_extent *out)
{
    out->volume = def->size[0] * def->size[1] * def->size[2];
    out->size = 0.5 * fmin(def->size[0], fmin(def->size[1], def->size[2]));

    double R[9], along[3];
    pl_rotation_exp(def->rotate, R);
    for (int i = 0; i < 3; ++i) {
        along[i] = def->size[i] * def->size[i] / 12;
    }
    second_moments(R, along, out->second);
}

static void measure_surface(const pl_obstacle_def *def, robot_extent *out)
{
    if (!def->surface || def->surface->triangle_count == 0) {
        return; // reported where it is placed
    }

    double R[9], RS[9], c[3];
    obstacle_surface_extent(def->surface, out);

    // from the coordinates of the file to those of the robot: R S R^T
    pl_rotation_exp(def->rotate, R);
    for (int i = 0; i < 9; ++i) {
        const double *r = R + 3 * (i / 3), *s = out->second + i % 3;
        RS[i] = r[0] * s[0] + r[1] * s[3] + r[2] * s[6];
    }
    for (int i = 0; i < 9; ++i) {
        const double *r = R + 3 * (i % 3), *s = RS + 3 * (i / 3);
        out->second[i] = r[0] * s[0] + r[1] * s[1] + r[2] * s[2];
    }
    pl_mulv3(R, out->centre, c);
    for (int i = 0; i < 3; ++i) {
        out->centre[i] = c[i] + def->point[i];
    }
}

static const robot_obstacle_row obstacle_rows[] = {
    [PL_OBSTACLE_PLANE] = {.name = "plane", .direction = "normal", .place = place_along},
    [PL_OBSTACLE_SPHERE] = {.name = "sphere",
                            .has_radius = true,
                            .place = place_sphere,
                            .measure = measure_sphere},
    [PL_OBSTACLE_CYLINDER] = {.name = "cylinder",
                              .direction = "axis",
                              .has_radius = true,
                              .has_length = true,
                              .place = place_along,
                              .measure = measure_cylinder},
    [PL_OBSTACLE_BOX] = {.name = "box", .has_size = true, .place = place_box, .measure = measure_box},
    [PL_OBSTACLE_SURFACE] = {.name = "surface", .place = place_surface, .measure = measure_surface},
};

const robot_obstacle_row *robot_obstacle_kind(pl_obstacle_kind kind)
{
    const bool known = (int)kind >= 0 && (int)kind < PL_COUNT(obstacle_rows);
    return &obstacle_rows[known ? (int)kind : (int)PL_OBSTACLE_PLANE];
}
