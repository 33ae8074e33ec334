// Measured sequences as tables: which columns are commands, which are markers, and where runs begin.
#include <stdio.h>
#include "text/text_table.h"
#include "pliant/dataset.h"
#include "learned/learned.h"

typedef struct sequence_columns {
    int command[TEXT_TABLE_COLUMNS], command_count;
    int marker[TEXT_TABLE_COLUMNS][3], marker_count; // columns of x, y, z
} sequence_columns;

// The axis 0, 1, 2 of a name that ends in .x, .y, .z; -1: another name.
static int sequence_axis(const char *name)
{
    const size_t n = strlen(name);
    return n > 2 && name[n - 2] == '.' && name[n - 1] >= 'x' && name[n - 1] <= 'z' ? name[n - 1] - 'x' : -1;
}

// Distinguishes commands (any name) from markers (NAME.x, .y, .z); time and run are neither.
static pl_status sequence_sort(const text_table *t, sequence_columns *s, pl_error *err)
{
    for (int c = 0; c < t->column_count; ++c) {
        const char *name = t->name[c];
        const int axis = sequence_axis(name);
        if (!name[0]) {
            return pl_fail(err, PL_BAD_INPUT, "%s:1: column %d has no name", t->path, c + 1);
        }
        if (c == t->run_column || strcmp(name, "t") == 0 || strcmp(name, "time") == 0) {
            continue;
        }

        // a command
        if (axis < 0) {
            s->command[s->command_count++] = c;
            continue;
        }

        // y and z are found with their x
        if (axis > 0) {
            char first[sizeof t->name[0]];
            snprintf(first, sizeof first, "%s", name);
            first[strlen(first) - 1] = 'x';
            if (text_table_find(t, first) < 0) {
                return pl_fail(err, PL_BAD_INPUT, "%s:1: column %d '%s': the column '%s' is missing", t->path,
                               c + 1, name, first);
            }

            continue;
        }

        // x of a marker: find the other two
        for (int i = 0; i < 3; ++i) {
            char other[sizeof t->name[0]];
            snprintf(other, sizeof other, "%s", name);
            other[strlen(other) - 1] = (char)('x' + i);
            s->marker[s->marker_count][i] = text_table_find(t, other);
            if (s->marker[s->marker_count][i] < 0) {
                return pl_fail(err, PL_BAD_INPUT, "%s:1: column %d '%s': the column '%s' is missing", t->path,
                               c + 1, name, other);
            }
        }

        ++s->marker_count;
    }

    if (s->command_count == 0 || s->marker_count == 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       s->marker_count
                           ? "%s:1: has no column of a command; expected for example 't1 [N]'"
                           : "%s:1: has no columns of a marker; expected for example 'tip.x [mm]', "
                             "'tip.y [mm]', 'tip.z [mm]'",
                       t->path);
    }

    return PL_OK;
}

// The drive whose unit fits that of a column.
static pl_status sequence_drive(const text_table *t, int column, pl_drive *out, pl_error *err)
{
    static const pl_drive choice[] = {PL_DRIVE_TENSION, PL_DRIVE_PRESSURE, PL_DRIVE_SHORTENING,
                                      PL_DRIVE_SYRINGE, PL_DRIVE_VOLTAGE};
    *out = PL_DRIVE_LENGTH_RATIO; // a plain number
    if (!t->unit[column][0] || strcmp(t->unit[column], "1") == 0) {
        return PL_OK;
    }

    char one[32];
    snprintf(one, sizeof one, "1 %s", t->unit[column]);
    for (int i = 0; i < PL_COUNT(choice); ++i) {
        double value;
        if (pl_quantity_parse(one, pl_drive_dimension(choice[i]), &value, NULL) == PL_OK) {
            *out = choice[i];
            return PL_OK;
        }
    }

    return pl_fail(
        err, PL_BAD_INPUT,
        "%s:1: column %d '%s': the unit '%s' is none of a command; expected N, kPa, mm, mL, V or none",
        t->path, column + 1, t->name[column], t->unit[column]);
}

// Names, units, ranges and a size of the unknown robot, from the table alone.
static pl_status sequence_about(const text_table *t, const sequence_columns *s, pl_sequences *out,
                                pl_error *err)
{
    pl_command_info command[TEXT_TABLE_COLUMNS];
    const char *marker[TEXT_TABLE_COLUMNS];

    char name[TEXT_TABLE_COLUMNS][sizeof t->name[0]];
    double at[3 * TEXT_TABLE_COLUMNS], low[3] = {INFINITY, INFINITY, INFINITY},
                                       high[3] = {-INFINITY, -INFINITY, -INFINITY};
    pl_dataset *d = &out->data;
    const int C = s->command_count, M = s->marker_count;

    // commands: their range is what occurs in the table
    for (int c = 0; c < C; ++c) {
        pl_command_info *k = &command[c];
        *k = (pl_command_info){
            .name = t->name[s->command[c]], .has_range = true, .range = {INFINITY, -INFINITY}};
        pl_status status = sequence_drive(t, s->command[c], &k->drive, err);
        if (status == PL_OK) {
            status = text_table_column(t, s->command[c], pl_drive_dimension(k->drive), TEXT_TABLE_WHOLE,
                                       d->command + c, C, err);
        }

        if (status != PL_OK) {
            return status;
        }
        for (int r = 0; r < t->row_count; ++r) {
            k->range[0] = fmin(k->range[0], d->command[r * C + c]);
            k->range[1] = fmax(k->range[1], d->command[r * C + c]);
        }

        if (!(k->range[1] > k->range[0])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s:1: column %d '%s' has the same value in all rows: leave it out", t->path,
                           s->command[c] + 1, k->name);
        }

        memcpy(k->span, k->range, sizeof k->span);
        k->rest = fmin(fmax(0, k->range[0]), k->range[1]);
    }

    // markers
    for (int k = 0; k < 3 * M; ++k) {
        const pl_status status = text_table_column(t, s->marker[k / 3][k % 3], PL_DIM_LENGTH,
                                                   TEXT_TABLE_WHOLE, d->marker + k, 3 * M, err);
        if (status != PL_OK) {
            return status;
        }
        at[k] = 0;

        for (int r = 0; r < t->row_count; ++r) {
            const double v = d->marker[(int64_t)r * 3 * M + k];
            at[k] += v / t->row_count; // no pose at rest is known: their mean
            if (fabs(v) > 1e7) {       // 10 km: a slip of units or digits
                return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d %s: %g mm is implausible", t->path,
                               t->line[r], s->marker[k / 3][k % 3] + 1, t->name[s->marker[k / 3][k % 3]], v);
            }

            low[k % 3] = fmin(low[k % 3], v);
            high[k % 3] = fmax(high[k % 3], v);
        }

        snprintf(name[k / 3], sizeof name[0], "%s", t->name[s->marker[k / 3][0]]);
        name[k / 3][strlen(name[k / 3]) - 2] = '\0';
        marker[k / 3] = name[k / 3];
    }

    // the hash of the measured positions identifies the data
    const char *file = strrchr(t->path, '/');
    pl_model_info info = {.name = file ? file + 1 : t->path,
                          .kind = "measured",
                          .method = "history",
                          .command_count = C,
                          .command = command,
                          .marker_count = M,
                          .marker_name = marker,
                          .marker_at = at,
                          .size = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2])};
    info.hash = pl_hash_bytes(0, d->marker, 3 * (size_t)M * (size_t)t->row_count * sizeof *d->marker);
    info.robot_hash = info.hash;

    return pl_about_copy(&info, &d->about, err);
}

// Memory, runs, then the columns.
static pl_status sequence_fill(const text_table *t, const sequence_columns *s, pl_sequences *out,
                               pl_error *err)
{
    const int64_t n = t->row_count;
    pl_dataset *d = &out->data;

    d->planned = d->count = t->row_count;
    d->command = PL_NEW_ARRAY(double, n * s->command_count);
    d->marker = PL_NEW_ARRAY(double, 3 * n * s->marker_count);
    out->start = PL_NEW_ARRAY(int, n + 1);
    out->name = pl_alloc_array((size_t)n, sizeof *out->name);
    out->line = PL_NEW_ARRAY(int, n);
    if (!d->command || !d->marker || !out->start || !out->name || !out->line) {
        return pl_fail_memory(err, t->path);
    }
    memcpy(out->line, t->line, (size_t)n * sizeof *out->line);

    // a run ends where its name changes
    for (int r = 0; r < t->row_count; ++r) {
        const char *run = t->run ? t->run[r] : "1";
        if (r == 0 || strcmp(run, out->name[out->count - 1]) != 0) {
            out->start[out->count] = r;
            snprintf(out->name[out->count++], sizeof *out->name, "%s", run);
        }
    }

    out->start[out->count] = t->row_count;

    return sequence_about(t, s, out, err);
}

static pl_status sequences_read(const char *path, pl_sequences *out, pl_error *err)
{
    text_table t;
    sequence_columns columns = {0};
    pl_status status = text_table_read(path, &t, err);
    if (status != PL_OK) {
        return status;
    }
    status = t.heading ? sequence_sort(&t, &columns, err)
                       : pl_fail(err, PL_BAD_INPUT,
                                 "%s:1: expected a first row with the names of the columns", path);
    status = status == PL_OK ? sequence_fill(&t, &columns, out, err) : status;
    text_table_clear(&t);
    if (status != PL_OK) {
        pl_sequences_clear(out);
    }

    return status;
}

pl_status pl_sequences_read(const char *path, pl_sequences **out, pl_error *err)
{
    *out = NULL;
    pl_sequences *sequences = PL_NEW(pl_sequences);
    if (!sequences) {
        return pl_fail_memory(err, path);
    }

    const pl_status status = sequences_read(path, sequences, err);
    if (status != PL_OK) {
        pl_sequences_destroy(sequences);
        return status;
    }

    *out = sequences;

    return PL_OK;
}
