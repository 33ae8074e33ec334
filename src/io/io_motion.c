// A motion while it is recorded, and its tables.
#include <stdio.h>
#include "pliant/report.h"
#include "io/io_motion.h"

void pl_motion_init(pl_motion *motion, const pl_model *model, int marker)
{
    *motion = (pl_motion){.info = pl_model_get_info(model), .marker = marker};
}

void pl_motion_clear(pl_motion *motion)
{
    void *const blocks[] = {motion->time,    motion->target,         motion->position, motion->distance,
                            motion->command, motion->effort,         motion->measure,  motion->reached,
                            motion->outcome, motion->factorizations, motion->solves};
    for (int i = 0; i < PL_COUNT(blocks); ++i) {
        pl_free(blocks[i]);
    }
    *motion = (pl_motion){0};
}

static bool motion_resize(void *block, int64_t count, int64_t width, size_t size)
{
    void **slot = block;
    void *larger = pl_resize_array(*slot, (size_t)(count * (width > 0 ? width : 1)), size);
    if (larger) {
        *slot = larger;
    }
    return larger != NULL;
}

static bool motion_grow(pl_motion *m)
{
    if (m->count < m->capacity) {
        return true;
    }
    const int64_t n = m->capacity ? 2 * (int64_t)m->capacity : 64;
    const int commands = m->info.command_count, actuators = m->info.actuator_count;
    const size_t real = sizeof(double);
    if (n > INT32_MAX || !motion_resize(&m->time, n, 1, real) || !motion_resize(&m->target, n, 3, real) ||
        !motion_resize(&m->position, n, 3, real) || !motion_resize(&m->distance, n, 1, real) ||
        !motion_resize(&m->command, n, commands, real) || !motion_resize(&m->effort, n, actuators, real) ||
        !motion_resize(&m->measure, n, actuators, real) || !motion_resize(&m->reached, n, 1, sizeof(bool)) ||
        !motion_resize(&m->outcome, n, 1, sizeof *m->outcome) ||
        !motion_resize(&m->factorizations, n, 1, sizeof(int64_t)) ||
        !motion_resize(&m->solves, n, 1, sizeof(int64_t))) {
        return false;
    }
    m->capacity = (int)n;
    return true;
}

pl_status pl_motion_add(pl_motion *motion, double time, const double *target, const pl_model_answer *answer,
                        const pl_ik_report *ik, pl_error *err)
{
    if (!motion_grow(motion)) {
        return pl_fail_memory(err, "the motion");
    }
    // poses that nobody sought have no distance to anything
    static const pl_ik_report shown = {.outcome = PL_IK_REACHED, .distance = NAN};
    ik = ik ? ik : &shown;
    const int64_t k = motion->count++;
    const int commands = motion->info.command_count, actuators = motion->info.actuator_count;
    motion->time[k] = time;
    for (int i = 0; i < 3; ++i) {
        motion->target[3 * k + i] = target ? target[i] : NAN;
        motion->position[3 * k + i] = motion->marker >= 0 ? answer->marker[3 * motion->marker + i] : NAN;
    }
    motion->distance[k] = ik->distance;
    memcpy(motion->command + k * commands, answer->command, (size_t)commands * sizeof(double));
    memcpy(motion->effort + k * actuators, answer->effort, (size_t)actuators * sizeof(double));
    memcpy(motion->measure + k * actuators, answer->measure, (size_t)actuators * sizeof(double));
    motion->reached[k] = ik->outcome == PL_IK_REACHED;
    motion->outcome[k] = ik->outcome;
    motion->factorizations[k] = ik->costs.factorizations;
    motion->solves[k] = ik->costs.solves;
    return PL_OK;
}

void pl_motion_schedule(pl_motion *motion, const double *rate, double least)
{
    const int commands = motion->info.command_count;
    for (int k = 0; k < motion->count; ++k) {
        double wait = k > 0 ? least : 0;
        for (int c = 0; k > 0 && c < commands; ++c) {
            const double now = motion->command[(int64_t)k * commands + c];
            const double before = motion->command[(int64_t)(k - 1) * commands + c];
            const double needs = rate[c] > 0 ? fabs(now - before) / rate[c] : 0;
            wait = isfinite(needs) ? fmax(wait, needs) : wait; // idle commands need no time
        }
        motion->time[k] = k > 0 ? motion->time[k - 1] + wait : 0;
    }
}

// ---- tables
void io_text_number(pl_text *text, const char *before, double value)
{
    if (isfinite(value)) {
        pl_text_add(text, "%s%.10g", before, value + 0.0);
    } else {
        pl_text_add(text, "%s", before);
    }
}

pl_status io_text_write(pl_text *text, const char *path, pl_error *err)
{
    const pl_status status =
        text->failed ? pl_fail_memory(err, path) : pl_file_write(path, text->data, text->length, err);
    pl_text_clear(text);
    return status;
}

// A name inside a table: separators and line ends would tear it apart.
static void motion_name(pl_text *text, const char *name)
{
    for (; *name; ++name) {
        const char c = strchr(",;\"\t\r\n", *name) ? '_' : *name;
        pl_text_add(text, "%c", c);
    }
}

double io_effort_scale(pl_actuator_kind kind)
{
    return kind == PL_CABLE ? 1 : 1e-3;
}

const char *io_effort_unit(pl_actuator_kind kind)
{
    return kind == PL_CABLE ? "N" : "kPa";
}

static void motion_csv_head(const pl_motion *m, pl_text *text)
{
    static const char *const measure[] = {"length [mm]", "volume [mm^3]", "area [mm^2]"};
    pl_text_add(text, "waypoint,time [s],target.x [mm],target.y [mm],target.z [mm],x [mm],y [mm],z [mm],"
                      "error [mm],reached,outcome");
    for (int c = 0; c < m->info.command_count; ++c) {
        pl_text_add(text, ",");
        motion_name(text, m->info.command[c].name);
        pl_text_add(text, " [%s]", pl_drive_unit(m->info.command[c].drive));
    }
    for (int a = 0; a < m->info.actuator_count; ++a) {
        pl_text_add(text, ",");
        motion_name(text, m->info.actuator[a].name);
        pl_text_add(text, ".effort [%s],", io_effort_unit(m->info.actuator[a].kind));
        motion_name(text, m->info.actuator[a].name);
        pl_text_add(text, ".%s", measure[m->info.actuator[a].kind]);
    }
    pl_text_add(text, ",factorizations,solves\n");
}

pl_status pl_motion_write_csv(const pl_motion *motion, const char *path, pl_error *err)
{
    const pl_motion *m = motion;
    pl_text text = {0};
    motion_csv_head(m, &text);
    for (int64_t k = 0; k < m->count; ++k) {
        pl_text_add(&text, "%d", (int)k);
        io_text_number(&text, ",", m->time[k]);
        for (int i = 0; i < 3; ++i) {
            io_text_number(&text, ",", m->target[3 * k + i]);
        }
        for (int i = 0; i < 3; ++i) {
            io_text_number(&text, ",", m->position[3 * k + i]);
        }
        io_text_number(&text, ",", m->distance[k]);
        pl_text_add(&text, ",%d,%s", m->reached[k], pl_ik_outcome_name(m->outcome[k]));
        for (int c = 0; c < m->info.command_count; ++c) {
            io_text_number(&text, ",",
                           m->command[k * m->info.command_count + c] /
                               pl_drive_scale(m->info.command[c].drive));
        }
        for (int a = 0; a < m->info.actuator_count; ++a) {
            const int64_t at = k * m->info.actuator_count + a;
            io_text_number(&text, ",", m->effort[at] / io_effort_scale(m->info.actuator[a].kind));
            io_text_number(&text, ",", m->measure[at]);
        }
        pl_text_add(&text, ",%lld,%lld\n", (long long)m->factorizations[k], (long long)m->solves[k]);
    }
    return io_text_write(&text, path, err);
}

pl_status pl_motion_write_pressures(const pl_motion *motion, const char *path, pl_error *err)
{
    pl_text text = {0};
    int chambers = 0;
    pl_text_add(&text, "time [s]");
    for (int a = 0; a < motion->info.actuator_count; ++a) {
        if (motion->info.actuator[a].kind == PL_CHAMBER) {
            pl_text_add(&text, ",");
            motion_name(&text, motion->info.actuator[a].name);
            pl_text_add(&text, " [kPa]");
            ++chambers;
        }
    }
    if (chambers == 0) {
        pl_text_clear(&text);
        return pl_fail(err, PL_BAD_INPUT, "%s: the robot has no chamber, so there are no pressures to write",
                       path);
    }
    pl_text_add(&text, "\n");
    for (int64_t k = 0; k < motion->count; ++k) {
        pl_text_add(&text, "%.6f", motion->time[k]);
        for (int a = 0; a < motion->info.actuator_count; ++a) {
            if (motion->info.actuator[a].kind == PL_CHAMBER) {
                const double kpa = 1e3 * motion->effort[k * motion->info.actuator_count + a];
                pl_text_add(&text, ",%.6f",
                            isfinite(kpa) ? kpa : 0.0); // a chamber without a command is vented
            }
        }
        pl_text_add(&text, "\n");
    }
    return io_text_write(&text, path, err);
}
