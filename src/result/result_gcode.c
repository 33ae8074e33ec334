// A motion as G-code for Marlin. Each actuator with an axis in the robot file becomes one word of a G1 move;
// all axes of a move start and end together. Marlin's F is the speed along the combined distance D of the
// axes X, Y, Z (of U, V, W when none of these moves, then of A, B, C, then of E alone), so a move that shall
// take T minutes gets
//   F = D / T,   T = max(time of the waypoint, |travel| / rate, |axis| / feed) over its axes.
// Positions are rounded first and F is cut, not rounded, so the words as written keep every limit.
#include <stdio.h>
#include "result/result_motion.h"
#include "model/model.h"
#include "robot/robot_def.h"
#include "robot/robot_kind.h"

#define GCODE_AXES 10
#define GCODE_GRAIN 1e-5 // units of an axis, as written
#define GCODE_PAUSE 1.0  // s for a move that nothing limits

typedef struct gcode_axis {
    int actuator;
    pl_actuator_info info;
    double rate; // of the travel per second, mm or mm^3; 0: none
    double at;   // where it stands, rounded
} gcode_axis;

typedef struct pl_gcode {
    const pl_motion *motion; // NULL: the moves come one by one
    const pl_model *model;
    gcode_axis axis[GCODE_AXES];
    int count;
    pl_text text;
} gcode;

// What one move leads to.
typedef struct gcode_pose {
    const double *command, *measure, *effort; // per command, per actuator
    double seconds;                           // the least time it may take
    int number;                               // for messages
} gcode_pose;

// Comments end with the line: nothing of a name may end it earlier.
static void gcode_comment(pl_text *text, const char *name)
{
    for (; *name; ++name) {
        pl_text_add(text, "%c", (unsigned char)*name < 0x20 || *name == 0x7f ? ' ' : *name);
    }
}

// How fast the motor may move: the limit of the command through its factor, in mm or mm^3 per second.
static double gcode_rate(const pl_model_info *info, const pl_actuator_info *a)
{
    double rate = a->rate;
    if (a->command >= 0 && info->command[a->command].rate > 0) {
        rate = info->command[a->command].rate * fabs(a->factor);
    }
    return pl_actuator_travel_rate(a, rate);
}

static int gcode_collect(gcode *g)
{
    const pl_model_info model = pl_model_get_info(g->model);
    for (int a = 0; a < model.actuator_count && g->count < GCODE_AXES; ++a) {
        const pl_actuator_info info = pl_model_actuator(g->model, a);
        if (info.axis) {
            g->axis[g->count++] = (gcode_axis){
                .actuator = a, .info = info, .rate = gcode_rate(&model, &info), .at = info.hardware->offset};
        }
    }

    return g->count;
}

static const char gcode_setup[] = "G21 ; millimetres\nG90 ; absolute positions\n";
static const char gcode_setup_extruder[] =
    "G21 ; millimetres\nG90 ; absolute positions\nM82 ; absolute positions of E too\nM302 P1 ; let E move "
    "cold\n";

static bool gcode_has_extruder(const gcode *g)
{
    bool extruder = false;
    for (int i = 0; i < g->count; ++i) {
        extruder = extruder || g->axis[i].info.axis == 'E';
    }
    return extruder;
}

static void gcode_head(gcode *g)
{
    pl_text_add(&g->text, "; ");
    gcode_comment(&g->text, g->motion->info.name);
    pl_text_add(&g->text, ": %d waypoints, written by pliant %s\n", g->motion->count, pl_version());

    for (int i = 0; i < g->count; ++i) {
        const pl_hardware *h = g->axis[i].info.hardware;
        const bool cable = pl_actuator_traits_get(g->axis[i].info.kind)->travel == PL_DIM_LENGTH;
        pl_text_add(&g->text, "; %c moves ", h->axis);
        gcode_comment(&g->text, g->axis[i].info.name);
        pl_text_add(&g->text, ": one unit is %g %s%s, at rest %c%.5f\n",
                    cable ? h->per_unit : h->per_unit / 1000, cable ? "mm of cable" : "mL of syringe",
                    h->reverse ? " (reversed)" : "", h->axis, h->offset);
    }

    for (int a = 0; a < g->motion->info.actuator_count; ++a) {
        const pl_actuator_info info = pl_model_actuator(g->model, a);
        if (!info.axis) {
            pl_text_add(&g->text, "; no axis moves ");
            gcode_comment(&g->text, info.name);
            pl_text_add(&g->text, "\n");
        }
    }

    pl_text_add(&g->text,
                "; This file does not home the machine: home it and bring every axis to its rest position");
    for (int i = 0; i < g->count; ++i) {
        pl_text_add(&g->text, " %c%.5f", g->axis[i].info.axis, g->axis[i].info.hardware->offset);
    }
    pl_text_add(&g->text, "\n%s", pl_gcode_setup(g));
}

// The distance that F counts along, of the moves `d` of the axes.
static double gcode_distance(const gcode *g, const double *d)
{
    static const char *const groups[] = {"XYZ", "UVW", "ABC", "E"};
    for (int k = 0; k < PL_COUNT(groups); ++k) {
        double sum = 0;
        for (int i = 0; i < g->count; ++i) {
            sum += strchr(groups[k], g->axis[i].info.axis) ? d[i] * d[i] : 0;
        }
        if (sum > 0) {
            return sqrt(sum);
        }
    }

    return 0;
}

static bool gcode_clips(const gcode_axis *x)
{
    return pl_actuator_traits_get(x->info.kind)->encloses && x->info.hardware->below_zero == PL_BELOW_CLIP;
}

// Chambers that the machine may not pull below zero: refused before anything is written, or said in the head.
static pl_status gcode_check(gcode *g, const char *path, bool *row, pl_findings *changed, pl_error *err)
{
    for (int i = 0; i < g->count; ++i) {
        const gcode_axis *x = &g->axis[i];
        const pl_below_zero below = x->info.hardware->below_zero;
        double lowest;
        if (!pl_actuator_traits_get(x->info.kind)->encloses || below == PL_BELOW_UNSAID ||
            below == PL_BELOW_PULL || result_rows_below(g->motion, x->actuator, row, &lowest) == 0) {
            continue;
        }

        if (below == PL_BELOW_REFUSE) {
            return result_rows_refuse(path, x->info.name, row, g->motion->count, lowest, err);
        }
        result_rows_changed(changed, path, x->info.name, "the axis stops at its rest position", row,
                            g->motion->count, lowest);
        pl_text_add(&g->text, "; changed: the syringe of ");
        gcode_comment(&g->text, x->info.name);
        pl_text_add(&g->text, " stops at its rest position instead of pulling, waypoints ");
        result_rows_text(row, g->motion->count, &g->text);
        pl_text_add(&g->text, "\n");
    }

    return PL_OK;
}

// Where axis i shall stand, on the grain of the file.
static pl_status gcode_place(const gcode_axis *x, const gcode_pose *pose, double *at, const char *path,
                             pl_error *err)
{
    const pl_hardware *h = x->info.hardware;
    const double command = x->info.command >= 0 ? pose->command[x->info.command] : NAN;
    const double value = pl_command_apply(x->info.factor, x->info.one_sided, command);
    double travel = pl_actuator_travel(&x->info, value, pose->measure[x->actuator]);

    if (travel < 0 && gcode_clips(x) && pose->effort[x->actuator] < -RESULT_PRESSURE_NOISE) {
        travel = 0;
    }

    const double place = h->offset + (h->reverse ? -travel : travel) / h->per_unit;
    if (!(fabs(place) < 1e9)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: waypoint %d: no position for axis %c (%s): %g", path,
                       pose->number, h->axis, x->info.name, place);
    }

    *at = GCODE_GRAIN * round(place / GCODE_GRAIN);
    if (h->has_range && !(*at >= h->range[0] - GCODE_GRAIN && *at <= h->range[1] + GCODE_GRAIN)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s: waypoint %d: axis %c (%s) would be at %.5f, outside its range of %g to %g", path,
                       pose->number, h->axis, x->info.name, *at, h->range[0], h->range[1]);
    }

    return PL_OK;
}

static pl_status gcode_move(gcode *g, const gcode_pose *pose, const char *path, pl_error *err)
{
    double d[GCODE_AXES], at[GCODE_AXES], seconds = pose->seconds;
    for (int i = 0; i < g->count; ++i) {
        const gcode_axis *x = &g->axis[i];
        const pl_status status = gcode_place(x, pose, &at[i], path, err);
        if (status != PL_OK) {
            return status;
        }
        d[i] = at[i] - x->at;
        const double distance = fabs(d[i]) * x->info.hardware->per_unit, feed = x->info.hardware->feed;
        seconds = x->rate > 0 ? fmax(seconds, distance / x->rate) : seconds;
        seconds = feed > 0 ? fmax(seconds, 60 * fabs(d[i]) / feed) : seconds;
    }

    seconds = seconds > 0 ? seconds : GCODE_PAUSE;
    const double distance = gcode_distance(g, d);
    const double feed = 1e-6 * floor(1e6 * 60 * distance / seconds * (1 - 1e-12));
    if (!(feed > 0)) {
        pl_text_add(&g->text, "G4 P%.0f ; waypoint %d: wait\n", ceil(1000 * seconds), pose->number);
        return PL_OK;
    }

    pl_text_add(&g->text, "G1");
    for (int i = 0; i < g->count; ++i) {
        pl_text_add(&g->text, " %c%.5f", g->axis[i].info.axis, at[i] + 0.0);
        g->axis[i].at = at[i];
    }

    pl_text_add(&g->text, " F%.6f\n", feed);

    return PL_OK;
}

pl_status pl_motion_write_gcode(const pl_motion *motion, const pl_model *model, const char *path,
                                pl_findings *changed, pl_error *err)
{
    gcode g = {.motion = motion, .model = model};
    if (gcode_collect(&g) == 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s: no actuator has an axis: the robot file needs a 'hardware' block", path);
    }

    const pl_model_info info = pl_model_get_info(model);
    if (info.command_count != motion->info.command_count ||
        info.actuator_count != motion->info.actuator_count) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the motion belongs to another robot", path);
    }

    gcode_head(&g);
    bool *row = pl_alloc((size_t)motion->count + 1);
    pl_status status = row ? gcode_check(&g, path, row, changed, err) : pl_fail_memory(err, path);
    pl_free(row);

    for (int64_t k = 0; k < motion->count && status == PL_OK; ++k) {
        const gcode_pose pose = {.command = motion->command + k * info.command_count,
                                 .measure = motion->measure + k * info.actuator_count,
                                 .effort = motion->effort + k * info.actuator_count,
                                 .seconds = k > 0 ? motion->time[k] - motion->time[k - 1] : 0,
                                 .number = (int)k};
        status = gcode_move(&g, &pose, path, err);
    }

    if (status != PL_OK) {
        pl_text_clear(&g.text);
        return status;
    }

    pl_text_add(&g.text, "M400 ; wait for the last move\n; end: the axes keep their positions\n");

    return result_text_write(&g.text, path, err);
}

// ---- move by move
pl_status pl_gcode_create(const pl_model *model, pl_gcode **out, pl_error *err)
{
    *out = NULL;
    pl_gcode *g = PL_NEW(pl_gcode);
    if (!g) {
        return pl_fail_memory(err, "the moves of the machine");
    }
    g->model = model;
    if (gcode_collect(g) == 0) {
        pl_free(g);
        return pl_fail(err, PL_BAD_INPUT, "no actuator has an axis: the robot file needs a 'hardware' block");
    }

    *out = g;

    return PL_OK;
}

void pl_gcode_destroy(pl_gcode *g)
{
    if (g) {
        pl_text_clear(&g->text);
        pl_free(g);
    }
}

const char *pl_gcode_setup(const pl_gcode *g)
{
    return gcode_has_extruder(g) ? gcode_setup_extruder : gcode_setup;
}

pl_status pl_gcode_move(pl_gcode *g, const double *command, const pl_model_answer *answer, double seconds,
                        const char **line, pl_error *err)
{
    const gcode_pose pose = {
        .command = command, .measure = answer->measure, .effort = answer->effort, .seconds = seconds};
    for (int i = 0; i < g->count; ++i) {
        const gcode_axis *x = &g->axis[i];
        if (pl_actuator_traits_get(x->info.kind)->encloses &&
            x->info.hardware->below_zero == PL_BELOW_REFUSE &&
            pose.effort[x->actuator] < -RESULT_PRESSURE_NOISE) {
            return pl_fail(err, PL_BAD_INPUT,
                           "axis %c: %s would be at %.3g kPa, and its hardware refuses to pull", x->info.axis,
                           x->info.name, 1e3 * pose.effort[x->actuator]);
        }
    }

    g->text.length = 0; // its memory stays
    const pl_status status = gcode_move(g, &pose, "machine", err);
    if (status == PL_OK && g->text.failed) {
        return pl_fail_memory(err, "the moves of the machine");
    }
    *line = g->text.data;

    return status;
}
