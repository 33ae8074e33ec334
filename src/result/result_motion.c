// A motion while it is recorded, and its tables.
#include <stdio.h>
#include "pliant/result.h"
#include "result/result_motion.h"
#include "robot/robot_hardware.h"
#include "robot/robot_kind.h"

void pl_motion_init(pl_motion *motion, const pl_model *model, int marker)
{
    *motion = (pl_motion){.info = pl_model_get_info(model), .marker = marker};
}

void pl_motion_clear(pl_motion *motion)
{
    void *const blocks[] = {motion->time,      motion->target,         motion->position, motion->distance,
                            motion->command,   motion->effort,         motion->measure,  motion->reached,
                            motion->outcome,   motion->factorizations, motion->solves,   motion->model_error,
                            motion->confidence};
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
        !motion_resize(&m->model_error, n, 1, real) || !motion_resize(&m->confidence, n, 1, real) ||
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
    motion->surrogate = motion->surrogate || pl_answer_has_error(answer);
    motion->model_error[k] =
        motion->marker >= 0 && answer->error.marker ? answer->error.marker[motion->marker] : NAN;
    motion->confidence[k] = answer->error.confidence;
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
void result_text_number(pl_text *text, const char *before, double value)
{
    if (isfinite(value)) {
        pl_text_add(text, "%s%.10g", before, value + 0.0);
    } else {
        pl_text_add(text, "%s", before);
    }
}

pl_status result_text_write(pl_text *text, const char *path, pl_error *err)
{
    const pl_status status =
        text->failed ? pl_fail_memory(err, path) : pl_file_write(path, text->data, text->length, err);
    pl_text_clear(text);
    return status;
}

double result_effort_scale(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->effort_scale;
}

const char *result_effort_unit(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->effort_unit;
}

static void motion_csv_head(const pl_motion *m, pl_text *text)
{
    pl_text_add(text, "waypoint,time [s],target.x [mm],target.y [mm],target.z [mm],x [mm],y [mm],z [mm],"
                      "error [mm],reached,outcome");
    pl_text_add(text, m->surrogate ? ",model_error [mm],model_confidence [1]" : "");
    for (int c = 0; c < m->info.command_count; ++c) {
        pl_text_add(text, ",");
        pl_text_add_cell(text, "%s [%s]", m->info.command[c].name, pl_drive_unit(m->info.command[c].drive));
    }

    for (int a = 0; a < m->info.actuator_count; ++a) {
        const pl_actuator_info *actuator = &m->info.actuator[a];
        pl_text_add(text, ",");
        const pl_actuator_kind_info *kind = pl_actuator_kind_get(actuator->kind);
        pl_text_add_cell(text, "%s.effort [%s]", actuator->name, kind->effort_unit);
        pl_text_add(text, ",");
        pl_text_add_cell(text, "%s.%s [%s]", actuator->name, kind->measure, kind->measure_unit);
    }

    pl_text_add(text, ",factorizations,solves,marker\n");
}

pl_status pl_motion_write_csv(const pl_motion *motion, const char *path, pl_error *err)
{
    const pl_motion *m = motion;
    pl_text text = {0};

    motion_csv_head(m, &text);
    for (int64_t k = 0; k < m->count; ++k) {
        pl_text_add(&text, "%d", (int)k);
        result_text_number(&text, ",", m->time[k]);
        for (int i = 0; i < 3; ++i) {
            result_text_number(&text, ",", m->target[3 * k + i]);
        }
        for (int i = 0; i < 3; ++i) {
            result_text_number(&text, ",", m->position[3 * k + i]);
        }
        result_text_number(&text, ",", m->distance[k]);
        pl_text_add(&text, ",%d,%s", m->reached[k], pl_ik_outcome_name(m->outcome[k]));
        if (m->surrogate) {
            result_text_number(&text, ",", m->model_error[k]);
            result_text_number(&text, ",", m->confidence[k]);
        }

        for (int c = 0; c < m->info.command_count; ++c) {
            result_text_number(&text, ",",
                               m->command[k * m->info.command_count + c] /
                                   pl_drive_scale(m->info.command[c].drive));
        }

        for (int a = 0; a < m->info.actuator_count; ++a) {
            const int64_t at = k * m->info.actuator_count + a;
            const pl_actuator_kind_info *kind = pl_actuator_kind_get(m->info.actuator[a].kind);
            result_text_number(&text, ",", m->effort[at] / kind->effort_scale);
            result_text_number(&text, ",", m->measure[at] / kind->measure_scale);
        }

        pl_text_add(&text, ",%lld,%lld,", (long long)m->factorizations[k], (long long)m->solves[k]);
        pl_text_add_cell(&text, "%s", m->marker >= 0 ? m->info.marker_name[m->marker] : "");
        pl_text_add(&text, "\n");
    }

    return result_text_write(&text, path, err);
}

// ---- pressures below zero
void result_rows_text(const bool *row, int count, pl_text *text)
{
    int shown = 0, left = 0;
    for (int k = 0; k < count; ++k) {
        if (!row[k]) {
            continue;
        }
        int last = k;
        while (last + 1 < count && row[last + 1]) {
            ++last;
        }
        if (++shown > RESULT_ROWS_SHOWN) {
            left += last - k + 1;
        } else if (last > k) {
            pl_text_add(text, "%s%d-%d", shown > 1 ? ", " : "", k, last);
        } else {
            pl_text_add(text, "%s%d", shown > 1 ? ", " : "", k);
        }
        k = last;
    }

    if (left > 0) {
        pl_text_add(text, " and %d more", left);
    }
}

int result_rows_below(const pl_motion *motion, int actuator, bool *row, double *lowest)
{
    int count = 0;
    *lowest = 0;
    for (int64_t k = 0; k < motion->count; ++k) {
        const double pressure = motion->effort[k * motion->info.actuator_count + actuator];
        row[k] = pressure < -RESULT_PRESSURE_NOISE;
        count += row[k];
        *lowest = row[k] && pressure < *lowest ? pressure : *lowest;
    }

    return count;
}

pl_status result_rows_refuse(const char *path, const char *name, const bool *row, int count, double lowest,
                             pl_error *err)
{
    pl_text rows = {0};
    result_rows_text(row, count, &rows);
    const pl_status status =
        rows.failed
            ? pl_fail_memory(err, path)
            : pl_fail(err, PL_BAD_INPUT,
                      "%s: the pressure of chamber '%s' is below 0 in rows %s (down to %.4g kPa): change "
                      "the path or the ranges, or say in the hardware block what the machine does: "
                      "below_zero: clip (written as 0) or pull (kept)",
                      path, name, rows.data, 1e3 * lowest);
    pl_text_clear(&rows);
    return status;
}

void result_rows_changed(pl_findings *changed, const char *path, const char *name, const char *how,
                         const bool *row, int count, double lowest)
{
    pl_text rows = {0};
    result_rows_text(row, count, &rows);
    if (changed && !rows.failed) {
        pl_findings_add(changed, PL_WARNING, path, 0, "rows %s of '%s' were below 0 (down to %.4g kPa): %s",
                        rows.data, name, 1e3 * lowest, how);
    }

    pl_text_clear(&rows);
}

// Judges every chamber before anything is written.
static pl_status pressures_check(const pl_motion *m, const char *path, bool *row, pl_findings *changed,
                                 pl_error *err)
{
    for (int a = 0; a < m->info.actuator_count; ++a) {
        const pl_actuator_info *info = &m->info.actuator[a];
        double lowest;
        if (!pl_actuator_traits_get(info->kind)->encloses ||
            pl_actuator_hardware(info).below_zero == PL_BELOW_PULL ||
            result_rows_below(m, a, row, &lowest) == 0) {
            continue;
        }

        if (pl_actuator_hardware(info).below_zero != PL_BELOW_CLIP) {
            return result_rows_refuse(path, info->name, row, m->count, lowest, err);
        }
        result_rows_changed(changed, path, info->name, "written as 0", row, m->count, lowest);
    }

    return PL_OK;
}

// What the valve of a chamber is set to, kPa: a chamber without a command is vented.
static double pressures_cell(const pl_actuator_info *a, double pressure)
{
    const bool below = pressure < 0 && (pl_actuator_hardware(a).below_zero != PL_BELOW_PULL ||
                                        pressure > -RESULT_PRESSURE_NOISE);
    return isfinite(pressure) && !below ? 1e3 * pressure : 0.0;
}

static int pressures_head(const pl_motion *m, pl_text *text)
{
    int chambers = 0;
    pl_text_add(text, "time [s]");
    for (int a = 0; a < m->info.actuator_count; ++a) {
        if (pl_actuator_traits_get(m->info.actuator[a].kind)->encloses) {
            pl_text_add(text, ",");
            pl_text_add_cell(text, "%s [kPa]", m->info.actuator[a].name);
            ++chambers;
        }
    }

    pl_text_add(text, "\n");
    return chambers;
}

pl_status pl_motion_write_pressures(const pl_motion *motion, const char *path, pl_findings *changed,
                                    pl_error *err)
{
    pl_text text = {0};
    if (pressures_head(motion, &text) == 0) {
        pl_text_clear(&text);
        return pl_fail(err, PL_BAD_INPUT, "%s: the robot has no chamber, so there are no pressures to write",
                       path);
    }

    bool *row = pl_alloc((size_t)motion->count + 1);
    const pl_status status =
        row ? pressures_check(motion, path, row, changed, err) : pl_fail_memory(err, path);
    pl_free(row);
    if (status != PL_OK) {
        pl_text_clear(&text);
        return status;
    }

    for (int64_t k = 0; k < motion->count; ++k) {
        pl_text_add(&text, "%.6f", motion->time[k]);
        for (int a = 0; a < motion->info.actuator_count; ++a) {
            const pl_actuator_info *info = &motion->info.actuator[a];
            if (pl_actuator_traits_get(info->kind)->encloses) {
                pl_text_add(&text, ",%.6f",
                            pressures_cell(info, motion->effort[k * motion->info.actuator_count + a]));
            }
        }

        pl_text_add(&text, "\n");
    }

    return result_text_write(&text, path, err);
}
