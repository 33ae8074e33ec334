// Tables of readings: commands sent, sensors and markers measured, one row per moment.
#include <ctype.h>
#include <stdio.h>
#include "pliant/dataset.h"
#include "robot/robot_kind.h"
#include "text/text_table.h"

void pl_readings_clear(pl_readings *r)
{
    void *const block[] = {r->time, r->command, r->sensor, r->marker, r->has_sensor, r->has_marker, r->line};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    *r = (pl_readings){0};
}

// The table keeps names in lower case, cut to its room.
static bool readings_is(const text_table *t, int column, const char *name)
{
    const char *have = t->name[column];
    size_t i = 0;

    for (; name[i] && i + 1 < sizeof t->name[0]; ++i) {
        if (have[i] != (char)tolower((unsigned char)name[i])) {
            return false;
        }
    }

    return have[i] == '\0';
}

// One column into every `stride`-th number of `out`.
static pl_status readings_column(const text_table *t, int column, pl_dimension dimension,
                                 text_table_cells cells, double *out, int stride, pl_error *err)
{
    if (dimension == PL_DIM_PRESSURE && !t->unit[column][0]) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s:%d: column %d '%s' is a pressure without a unit: write '%s [kPa]'", t->path,
                       t->heading_line, column + 1, t->name[column], t->name[column]);
    }

    return text_table_column(t, column, dimension, cells, out, stride, err);
}

// What a column is, by its name: time, command, sensor or marker coordinate. Sensors and markers may
// have gaps (NAN), commands not.
static pl_status readings_match(const text_table *t, int column, const pl_model_info *info, pl_readings *out,
                                bool *known, pl_error *err)
{
    *known = true;
    for (int j = 0; j < info->command_count; ++j) {
        if (readings_is(t, column, info->command[j].name)) {
            return readings_column(t, column, pl_drive_dimension(info->command[j].drive), TEXT_TABLE_WHOLE,
                                   out->command + j, info->command_count, err);
        }
    }

    for (int i = 0; i < info->sensor_count; ++i) {
        if (readings_is(t, column, info->sensor_name[i])) {
            out->has_sensor[i] = true;
            return readings_column(t, column, pl_sensor_traits_get(info->sensor_kind[i])->dimension,
                                   TEXT_TABLE_GAPS, out->sensor + i, info->sensor_count, err);
        }
    }

    for (int k = 0; k < 3 * info->marker_count; ++k) {
        char name[200];
        snprintf(name, sizeof name, "%.180s.%c", info->marker_name[k / 3], "xyz"[k % 3]);

        if (readings_is(t, column, name)) {
            out->has_marker[k / 3] = true;
            return readings_column(t, column, PL_DIM_LENGTH, TEXT_TABLE_GAPS, out->marker + k,
                                   3 * info->marker_count, err);
        }
    }

    // last: a command or sensor may be called so
    if (readings_is(t, column, "t") || readings_is(t, column, "time")) {
        return readings_column(t, column, PL_DIM_TIME, TEXT_TABLE_WHOLE, out->time, 1, err);
    }

    *known = false;

    return PL_OK;
}

// The message for a column that is nothing of the robot's, with the nearest name if one is near.
static pl_status readings_unknown(const text_table *t, int column, const pl_model_info *info, pl_error *err)
{
    const char *word[128];
    int count = 0;

    for (int j = 0; j < info->command_count && count < 60; ++j) {
        word[count++] = info->command[j].name;
    }
    for (int i = 0; i < info->sensor_count && count < 120; ++i) {
        word[count++] = info->sensor_name[i];
    }

    const char *near = pl_nearest_word(t->name[column], word, count);

    return pl_fail(
        err, PL_BAD_INPUT,
        "%s: column %d '%s' is no command, sensor or marker of the robot%s%s%s; expected for example "
        "'%s', or 'MARKER.x'",
        t->path, column + 1, t->name[column], near ? " (did you mean '" : "", near ? near : "",
        near ? "'?)" : "", count ? word[count - 1] : "time");
}

// False when out of memory.
static bool readings_room(pl_readings *out, const text_table *t, const pl_model_info *info)
{
    const int64_t n = t->row_count;
    out->count = t->row_count;
    out->time = PL_NEW_ARRAY(double, n);
    out->command = PL_NEW_ARRAY(double, n * info->command_count);
    out->sensor = PL_NEW_ARRAY(double, n * info->sensor_count);
    out->marker = PL_NEW_ARRAY(double, 3 * n * info->marker_count);
    out->has_sensor = PL_NEW_ARRAY(bool, info->sensor_count);
    out->has_marker = PL_NEW_ARRAY(bool, info->marker_count);
    out->line = PL_NEW_ARRAY(int, n);

    return out->time && out->command && out->sensor && out->marker && out->has_sensor && out->has_marker &&
           out->line;
}

// Columns may be absent: what is not measured is NAN. A column of another name is refused, so that a
// misspelt sensor is not ignored.
pl_status pl_readings_read(const char *path, const pl_model *model, pl_readings *out, pl_error *err)
{
    *out = (pl_readings){0};
    const pl_model_info info = pl_model_get_info(model);
    text_table t;
    pl_status status = text_table_read(path, &t, err);
    if (status != PL_OK) {
        return status;
    }

    if (!t.heading) {
        status = pl_fail(err, PL_BAD_INPUT, "%s:1: expected a first row with the names of the columns", path);
    } else if (!readings_room(out, &t, &info)) {
        status = pl_fail_memory(err, path);
    }

    // NAN: not measured
    for (int64_t i = 0; status == PL_OK && i < t.row_count; ++i) {
        out->time[i] = NAN;
        out->line[i] = t.line[i];
        for (int j = 0; j < info.command_count; ++j) {
            out->command[i * info.command_count + j] = NAN;
        }
        for (int j = 0; j < info.sensor_count; ++j) {
            out->sensor[i * info.sensor_count + j] = NAN;
        }
        for (int j = 0; j < 3 * info.marker_count; ++j) {
            out->marker[i * 3 * info.marker_count + j] = NAN;
        }
    }

    // columns in any order
    for (int c = 0; status == PL_OK && c < t.column_count; ++c) {
        bool known;
        status = readings_match(&t, c, &info, out, &known, err);
        if (status == PL_OK && !known) {
            status = readings_unknown(&t, c, &info, err);
        }
    }

    text_table_clear(&t);
    if (status != PL_OK) {
        pl_readings_clear(out);
    }

    return status;
}
