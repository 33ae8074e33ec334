// A planar arm of sections of constant curvature in closed form, as a pl_model: what solvers are tested on.
// Section k has length 1/count of `length` and bends by command k (rad). Marker 0 is the tip with its frame,
// marker 1 the end of the last section but one; sensor 0 is the distance of the tip from the base. The effort
// of a command is stiffness * (angle + angle^3), as if each section were a spring that hardens. Body points
// lie along the arm.
#ifndef PL_ARM_MODEL_H
#define PL_ARM_MODEL_H

#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "pliant/motion.h"

#define ARM_SECTIONS 4
#define ARM_POINTS 8 // per section

typedef struct arm {
    int count;
    double length, stiffness;
    double command[ARM_SECTIONS];
    double point[3 * ARM_POINTS * ARM_SECTIONS], marker[6], rotation[18], sensor[1];
    double effort[ARM_SECTIONS], measure[ARM_SECTIONS], energy;
    double rest[3 * ARM_POINTS * ARM_SECTIONS], marker_rest[6];
    double d_point[3 * ARM_POINTS * ARM_SECTIONS * ARM_SECTIONS], d_marker[6 * ARM_SECTIONS];
    double d_rotation[6 * ARM_SECTIONS], d_sensor[ARM_SECTIONS], d_effort[ARM_SECTIONS * ARM_SECTIONS];
    double d_energy[ARM_SECTIONS];
    pl_command_info info[ARM_SECTIONS];
    pl_actuator_info actuator[ARM_SECTIONS];
    double refuse_beyond;     // fk fails when |angle| is larger
    int warm_cost, cold_cost; // factorisations that fk reports, from another shape and from rest
} arm;

// sin(t)/t and (1 - cos t)/t with their derivatives
static inline void arm_local(double t, double *u, double *v, double *du, double *dv)
{
    if (fabs(t) < 1e-3) {
        *u = 1 - t * t / 6 + t * t * t * t / 120;
        *v = t / 2 - t * t * t / 24 + t * t * t * t * t / 720;
        *du = -t / 3 + t * t * t / 30;
        *dv = 0.5 - t * t / 8 + t * t * t * t / 144;
        return;
    }

    *u = sin(t) / t;
    *v = (1 - cos(t)) / t;
    *du = (cos(t) - *u) / t;
    *dv = (sin(t) - *v) / t;
}

// Pose at fraction s of section k, from the pose at its start: x, y, angle and their derivatives by all
// commands.
static inline void arm_pose(const arm *a, int k, double s, const double *from, double *to)
{
    const int n = a->count;
    const double t = s * a->command[k], l = s * a->length / n, phi = from[2];
    double u, v, du, dv;

    arm_local(t, &u, &v, &du, &dv);
    to[0] = from[0] + l * (cos(phi) * u - sin(phi) * v);
    to[1] = from[1] + l * (sin(phi) * u + cos(phi) * v);
    to[2] = phi + t;
    for (int j = 0; j < n; ++j) {
        const double *d = from + 3 + 3 * j;
        double *e = to + 3 + 3 * j;
        e[0] = d[0] + l * d[2] * (-sin(phi) * u - cos(phi) * v);
        e[1] = d[1] + l * d[2] * (cos(phi) * u - sin(phi) * v);
        e[2] = d[2];
        if (j == k) {
            e[0] += l * s * (cos(phi) * du - sin(phi) * dv);
            e[1] += l * s * (sin(phi) * du + cos(phi) * dv);
            e[2] += s;
        }
    }
}

static inline void arm_compute(arm *a)
{
    const int n = a->count;
    double pose[3 + 3 * ARM_SECTIONS] = {0}, next[3 + 3 * ARM_SECTIONS];

    a->energy = 0;
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < ARM_POINTS; ++i) {
            const int p = k * ARM_POINTS + i;
            arm_pose(a, k, (i + 1.0) / ARM_POINTS, pose, next);
            a->point[3 * p] = next[0];
            a->point[3 * p + 1] = next[1];
            a->point[3 * p + 2] = 0;
            for (int j = 0; j < n; ++j) {
                a->d_point[(3 * p) * n + j] = next[3 + 3 * j];
                a->d_point[(3 * p + 1) * n + j] = next[4 + 3 * j];
                a->d_point[(3 * p + 2) * n + j] = 0;
            }
        }
        memcpy(pose, next, sizeof pose);
        if (k + 2 >= n) {
            const int m = k + 1 == n ? 0 : 1;
            const double c = cos(pose[2]), s = sin(pose[2]);
            const double R[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
            memcpy(a->rotation + 9 * m, R, sizeof R);
            for (int i = 0; i < 3; ++i) {
                a->marker[3 * m + i] = i < 2 ? pose[i] : 0;
                for (int j = 0; j < n; ++j) {
                    a->d_marker[(3 * m + i) * n + j] = i < 2 ? pose[3 + 3 * j + i] : 0;
                    a->d_rotation[(3 * m + i) * n + j] = i == 2 ? pose[5 + 3 * j] : 0;
                }
            }
        }
        const double t = a->command[k];
        a->effort[k] = a->stiffness * (t + t * t * t);
        a->measure[k] = t;
        a->energy += a->stiffness * (0.5 * t * t + 0.25 * t * t * t * t);
        a->d_energy[k] = a->effort[k];
        for (int j = 0; j < n; ++j) {
            a->d_effort[k * n + j] = j == k ? a->stiffness * (1 + 3 * t * t) : 0;
        }
    }

    a->sensor[0] = hypot(a->marker[0], a->marker[1]);
    for (int j = 0; j < n; ++j) {
        a->d_sensor[j] = (a->marker[0] * a->d_marker[j] + a->marker[1] * a->d_marker[n + j]) / a->sensor[0];
    }
}

static inline void arm_destroy(void *self)
{
    (void)self;
}

static inline void arm_info(void *self, pl_model_info *out)
{
    static const char *const marker[] = {"tip", "wrist"}, *const sensor[] = {"reach"};
    static const pl_sensor_kind kind[] = {PL_SENSOR_LENGTH};
    arm *a = self;

    *out = (pl_model_info){.name = "arm",
                           .kind = "constant_curvature",
                           .hash = 1,
                           .command_count = a->count,
                           .actuator_count = a->count,
                           .marker_count = a->count > 1 ? 2 : 1,
                           .sensor_count = 1,
                           .command = a->info,
                           .actuator = a->actuator,
                           .marker_name = marker,
                           .sensor_name = sensor,
                           .sensor_kind = kind,
                           .point_count = a->count * ARM_POINTS,
                           .rest = a->rest,
                           .marker_at = a->marker_rest,
                           .size = a->length};
}

static inline pl_status arm_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    (void)err;
    arm *a = self;
    report->outcome = PL_SOLVED;
    report->load_reached = 1;
    bool rest = true;
    for (int k = 0; k < a->count; ++k) {
        rest = rest && a->command[k] == 0;
    }
    report->factorizations = rest ? a->cold_cost : a->warm_cost;
    for (int k = 0; k < a->count; ++k) {
        if (fabs(command[k]) > a->refuse_beyond) {
            report->outcome = PL_STEP_LIMIT;
            return PL_OK;
        }
    }

    for (int k = 0; k < a->count; ++k) {
        a->command[k] = isnan(command[k]) ? 0 : command[k];
    }
    arm_compute(a);

    return PL_OK;
}

static inline void arm_answer(void *self, pl_model_answer *out)
{
    arm *a = self;
    *out = (pl_model_answer){.command = a->command,
                             .marker = a->marker,
                             .rotation = a->rotation,
                             .sensor = a->sensor,
                             .effort = a->effort,
                             .measure = a->measure,
                             .point = a->point,
                             .energy = a->energy};
}

static inline pl_status arm_derivative(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                                       pl_jacobian_report *report, pl_error *err)
{
    (void)tolerance;
    (void)err;
    (void)report;
    arm *a = self;
    *out = (pl_model_derivative){.marker = parts & PL_PART_MARKER ? a->d_marker : NULL,
                                 .rotation = parts & PL_PART_ROTATION ? a->d_rotation : NULL,
                                 .sensor = parts & PL_PART_SENSOR ? a->d_sensor : NULL,
                                 .effort = parts & PL_PART_EFFORT ? a->d_effort : NULL,
                                 .point = parts & PL_PART_POINT ? a->d_point : NULL,
                                 .energy = parts & PL_PART_ENERGY ? a->d_energy : NULL};

    return PL_OK;
}

static inline size_t arm_pack(void *self, double *block, size_t room)
{
    const arm *a = self;
    if (room >= ARM_SECTIONS) {
        memcpy(block, a->command, sizeof a->command);
    }
    return ARM_SECTIONS;
}

static inline pl_status arm_unpack(void *self, const double *block, size_t count, pl_error *err)
{
    arm *a = self;
    (void)count;
    (void)err;
    memcpy(a->command, block, sizeof a->command);
    arm_compute(a);
    return PL_OK;
}

static inline void arm_reset(void *self)
{
    arm *a = self;
    memset(a->command, 0, sizeof a->command);
    arm_compute(a);
}

// `a` must outlive the model. Every section bends between low and high.
static inline pl_model *arm_create(arm *a, int count, double low, double high)
{
    static const pl_model_type type = {.destroy = arm_destroy,
                                       .info = arm_info,
                                       .fk = arm_fk,
                                       .answer = arm_answer,
                                       .derivative = arm_derivative,
                                       .pack = arm_pack,
                                       .unpack = arm_unpack,
                                       .reset = arm_reset};
    static const char *const name[ARM_SECTIONS] = {"a", "b", "c", "d"};

    memset(a, 0, sizeof *a);
    a->count = count;
    a->length = 100;
    a->stiffness = 2;
    a->refuse_beyond = INFINITY;
    for (int k = 0; k < count; ++k) {
        a->info[k] = (pl_command_info){
            .name = name[k], .drive = PL_DRIVE_PRESSURE, .range = {low, high}, .has_range = true};
        a->actuator[k] = (pl_actuator_info){.name = name[k], .kind = PL_CHAMBER, .command = k, .factor = 1};
    }

    arm_compute(a);
    memcpy(a->rest, a->point, sizeof a->rest);
    memcpy(a->marker_rest, a->marker, sizeof a->marker_rest);
    pl_model *model = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_create(&type, a, &model, &err));

    return model;
}

static inline void arm_go(pl_model *model, const double *command)
{
    pl_solve_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_fk(model, command, &report, &err));
    assert_int_equal(report.outcome, PL_SOLVED);
}

#endif
