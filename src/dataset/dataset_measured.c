// Tables of measurements of a real robot: commands by name, marker positions, further inputs.
#include <ctype.h>
#include <stdio.h>
#include "text/text_table.h"
#include "pliant/dataset.h"

// Column of a name, without regard to case; the table holds names in lower case, cut to 31 characters.
static int measured_find(const text_table *t, const char *name)
{
    char lower[sizeof t->name[0]];
    size_t i = 0;
    for (; name[i] && i < sizeof lower - 1; ++i) {
        lower[i] = (char)tolower((unsigned char)name[i]);
    }
    lower[i] = '\0';
    return text_table_find(t, lower);
}

// Columns of commands, markers and further inputs into m; `used` marks the columns that were recognised.
// Fails with file, line and column where a unit or a coordinate is missing.
static pl_status measured_columns(const text_table *t, const pl_model_info *info, const char *const *extra,
                                  int extra_count, bool need_markers, pl_measured *m, bool *used,
                                  pl_error *err)
{
    pl_status status = PL_OK;
    int commands = 0, markers = 0;
    bool have[3] = {false};
    const int C = info->command_count, M = info->marker_count;

    // commands: a column that is absent leaves NAN (idle)
    for (int c = 0; status == PL_OK && c < C; ++c) {
        const int column = measured_find(t, info->command[c].name);
        for (int64_t r = 0; r < t->row_count; ++r) {
            m->command[r * C + c] = NAN;
        }
        if (column >= 0) {
            const pl_dimension dimension = pl_drive_dimension(info->command[c].drive);
            // kPa and MPa differ by 1000: a pressure must name its unit
            if (dimension == PL_DIM_PRESSURE && !t->unit[column][0]) {
                return pl_fail(
                    err, PL_BAD_INPUT, "%s:%d: column %d '%s' is a pressure without a unit: write '%s [kPa]'",
                    t->path, t->heading_line, column + 1, info->command[c].name, info->command[c].name);
            }

            status = text_table_column(t, column, dimension, TEXT_TABLE_WHOLE, m->command + c, C, err);
            used[column] = true;
            ++commands;
        }
    }

    // markers: all three coordinates or none
    for (int k = 0; status == PL_OK && k < 3 * M; ++k) {
        char name[200];
        snprintf(name, sizeof name, "%.180s.%c", info->marker_name[k / 3], "xyz"[k % 3]);
        const int column = measured_find(t, name);
        for (int64_t r = 0; r < t->row_count; ++r) {
            m->marker[r * 3 * M + k] = NAN;
        }
        have[k % 3] = column >= 0;

        if (k % 3 == 2 && have[0] + have[1] + have[2] != 0 && !(have[0] && have[1] && have[2])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s:%d: has no column '%s.%c [mm]': the three coordinates of a marker must occur "
                           "together",
                           t->path, t->heading_line, info->marker_name[k / 3],
                           !have[0]   ? 'x'
                           : !have[1] ? 'y'
                                      : 'z');
        }

        if (column >= 0) {
            status = text_table_column(t, column, PL_DIM_LENGTH, TEXT_TABLE_WHOLE, m->marker + k, 3 * M, err);
            used[column] = true;
            ++markers;

            for (int r = 0; status == PL_OK && r < t->row_count; ++r) {
                if (fabs(m->marker[(int64_t)r * 3 * M + k]) > 1e7) { // 10 km: a slip of units or digits
                    return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d %s: %g mm is implausible", t->path,
                                   t->line[r], column + 1, name, m->marker[(int64_t)r * 3 * M + k]);
                }
            }
        }
    }

    // further inputs, in the units of the file except time
    for (int e = 0; status == PL_OK && e < extra_count; ++e) {
        const int column = measured_find(t, extra[e]);
        if (column < 0) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: has no column '%s'", t->path, t->heading_line,
                           extra[e]);
        }

        snprintf(m->extra_name[e], sizeof m->extra_name[e], "%s", extra[e]);
        status =
            strcmp(extra[e], "t") == 0
                ? text_table_column(t, column, PL_DIM_TIME, TEXT_TABLE_WHOLE, m->extra + e, extra_count, err)
                : text_table_numbers(t, column, 1, TEXT_TABLE_WHOLE, m->extra + e, extra_count, err);
        used[column] = true;
    }

    // what a table of measurements cannot do without
    if (status == PL_OK && commands == 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: has no column of a command; expected for example '%s [%s]'",
                       t->path, t->heading_line, C ? info->command[0].name : "command",
                       C ? pl_drive_unit(info->command[0].drive) : "mm");
    }

    if (status == PL_OK && need_markers && markers == 0) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "%s:%d: has no column of a marker; expected for example '%s.x [mm]', '%s.y [mm]', '%s.z [mm]'",
            t->path, t->heading_line, M ? info->marker_name[0] : "tip", M ? info->marker_name[0] : "tip",
            M ? info->marker_name[0] : "tip");
    }

    return status;
}

// `fresh` (may be NULL) receives which rows begin a run; markers may then be absent.
static pl_status measured_read(const char *path, const pl_model_info *info, const char *const *extra,
                               int extra_count, pl_measured *out, char **fresh, pl_error *err)
{
    *out = (pl_measured){
        .command_count = info->command_count, .marker_count = info->marker_count, .extra_count = extra_count};
    text_table t;
    pl_status status = text_table_read(path, &t, err);
    if (status != PL_OK) {
        return status;
    }

    // without names the order of the columns would be a guess
    if (!t.heading) {
        text_table_clear(&t);
        return pl_fail(err, PL_BAD_INPUT, "%s:1: expected a first row with the names of the columns", path);
    }

    // memory for all rows, then the columns
    bool used[TEXT_TABLE_COLUMNS] = {0};
    const int64_t n = t.row_count;
    out->count = t.row_count;
    out->command = PL_NEW_ARRAY(double, n * info->command_count + 1);
    out->marker = PL_NEW_ARRAY(double, 3 * n * info->marker_count + 1);
    out->extra = PL_NEW_ARRAY(double, n *extra_count + 1);
    out->extra_name = pl_alloc_array((size_t)extra_count + 1, sizeof *out->extra_name);
    out->line = PL_NEW_ARRAY(int, n + 1);
    if (!out->command || !out->marker || !out->extra || !out->extra_name || !out->line) {
        status = pl_fail_memory(err, path);
    } else {
        memcpy(out->line, t.line, (size_t)n * sizeof *out->line);
        status = measured_columns(&t, info, extra, extra_count, !fresh, out, used, err);
    }

    if (status == PL_OK && t.run_column >= 0) {
        used[t.run_column] = true;
    }

    // a run begins where the name in the run column changes
    if (status == PL_OK && fresh) {
        *fresh = pl_alloc_array((size_t)n + 1, 1);
        status = *fresh ? PL_OK : pl_fail_memory(err, path);
        for (int64_t r = 0; status == PL_OK && r < n; ++r) {
            (*fresh)[r] = r == 0 || (t.run && strcmp(t.run[r], t.run[r - 1]) != 0);
        }
    }

    // a name close to a known one is a misspelling and refused; any other column is a remark
    for (int c = 0; status == PL_OK && c < t.column_count; ++c) {
        if (!used[c] && t.name[c][0]) {
            const char *known[256];
            char room[128][44];
            int count = 0, names = 0;
            for (int i = 0; i < info->command_count && count < 128; ++i) {
                known[count++] = info->command[i].name;
            }
            for (int k = 0; k < 3 * info->marker_count && names < 128 && count < 256; ++k, ++names) {
                snprintf(room[names], sizeof room[0], "%.40s.%c", info->marker_name[k / 3], "xyz"[k % 3]);
                known[count++] = room[names];
            }

            const char *near = pl_nearest_word(t.name[c], known, count);
            if (near) {
                status = pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d '%s' is unknown; did you mean '%s'?",
                                 path, t.heading_line, c + 1, t.name[c], near);
            }
        }
    }

    text_table_clear(&t);
    if (status != PL_OK) {
        pl_measured_clear(out);
    }

    return status;
}

pl_status pl_measured_read(const char *path, const pl_model_info *info, const char *const *extra,
                           int extra_count, pl_measured *out, pl_error *err)
{
    return measured_read(path, info, extra, extra_count, out, NULL, err);
}

// As pl_measured_read without markers; *fresh is owned by the caller (pl_file_free) and NULL on failure.
pl_status pl_commands_read(const char *path, const pl_model_info *info, pl_measured *out, char **fresh,
                           pl_error *err)
{
    *fresh = NULL;
    const pl_status status = measured_read(path, info, NULL, 0, out, fresh, err);
    if (status != PL_OK) {
        pl_free(*fresh);
        *fresh = NULL;
    }

    return status;
}

// Rows with a time t in seconds that does not decrease.
pl_status pl_timed_commands_read(const char *path, const pl_model_info *info, pl_measured *out, pl_error *err)
{
    static const char *const time[] = {"t"};
    char *fresh = NULL;
    pl_status status = measured_read(path, info, time, 1, out, &fresh, err);

    pl_free(fresh);
    for (int r = 1; status == PL_OK && r < out->count; ++r) {
        if (!(out->extra[r] >= out->extra[r - 1])) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: time %g s comes after %g s; times must not decrease",
                             path, out->line[r], out->extra[r], out->extra[r - 1]);
            pl_measured_clear(out);
        }
    }

    return status;
}
