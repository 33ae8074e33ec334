// Tables of measurements over time, without a robot: relaxation, cyclic and release tests, syringe tests.
#include <ctype.h>
#include "text/text_table.h"
#include "dataset/dataset.h"

#define RECORDING_LEAST_ROWS 2
#define SYRINGE_LEAST_ROWS 3
#define SYRINGE_MILLILITRE 1e3 // mm^3: of a volume without a unit

struct pl_recording {
    text_table table;
};

// ---- any columns
pl_status pl_recording_parse(const char *text, size_t length, const char *path, pl_recording **out,
                             pl_error *err)
{
    *out = NULL;
    pl_recording *r = PL_NEW(pl_recording);
    if (!r) {
        return pl_fail_memory(err, path);
    }

    pl_status status = text_table_parse(text, length, path, &r->table, err);
    if (status == PL_OK && !r->table.heading) {
        status = pl_fail(err, PL_BAD_INPUT, "%s:1: expected a first row with the names of the columns", path);
    } else if (status == PL_OK && r->table.row_count < RECORDING_LEAST_ROWS) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: fewer than two rows of measurements", path);
    }

    if (status != PL_OK) {
        pl_recording_destroy(r);
        return status;
    }
    *out = r;

    return PL_OK;
}

pl_status pl_recording_read(const char *path, pl_recording **out, pl_error *err)
{
    char *text = NULL;
    size_t length = 0;

    *out = NULL;
    pl_status status = pl_file_read(path, &text, &length, err);
    if (status == PL_OK) {
        status = pl_recording_parse(text, length, path, out, err);
    }
    pl_file_free(text);

    return status;
}

void pl_recording_destroy(pl_recording *r)
{
    if (r) {
        text_table_clear(&r->table);
        pl_free(r);
    }
}

int pl_recording_count(const pl_recording *r)
{
    return r->table.row_count;
}

// The table has names in lower case.
int pl_recording_find(const pl_recording *r, const char *const *name, int count)
{
    for (int k = 0; k < count; ++k) {
        char lower[sizeof r->table.name[0]] = "";
        const size_t length = strlen(name[k]);
        for (size_t i = 0; i < length && length < sizeof lower; ++i) {
            lower[i] = (char)tolower((unsigned char)name[k][i]);
        }

        const int column = lower[0] ? text_table_find(&r->table, lower) : -1;
        if (column >= 0) {
            return column;
        }
    }

    return -1;
}

const char *pl_recording_unit(const pl_recording *r, int column)
{
    return r->table.unit[column];
}

pl_status pl_recording_column(const pl_recording *r, int column, pl_dimension dimension, double *out,
                              int stride, pl_error *err)
{
    return text_table_column(&r->table, column, dimension, TEXT_TABLE_WHOLE, out, stride, err);
}

// ---- pressure and pushed volume
// The two columns of the table in MPa and mm^3.
static pl_status syringe_columns(const pl_recording *r, const char *path, pl_syringe *out, pl_error *err)
{
    static const char *const pressure[] = {"P", "pressure"}, *const pushed[] = {"dV", "pushed", "volume"};
    const int p = pl_recording_find(r, pressure, PL_COUNT(pressure)),
              v = pl_recording_find(r, pushed, PL_COUNT(pushed));

    if (p < 0 || v < 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: expected columns named P [kPa] and dV [mL]", path,
                       r->table.heading_line);
    }

    // kPa and MPa differ by 1000: a pressure must name its unit
    if (!r->table.unit[p][0]) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d is a pressure without a unit: write 'P [kPa]'",
                       path, r->table.heading_line, p + 1);
    }

    pl_status status = pl_recording_column(r, p, PL_DIM_PRESSURE, out->pressure, 1, err);
    if (status == PL_OK) {
        status = pl_recording_column(r, v, PL_DIM_VOLUME, out->pushed, 1, err);
    }
    for (int k = 0; !r->table.unit[v][0] && k < out->count; ++k) {
        out->pushed[k] *= SYRINGE_MILLILITRE;
    }

    return status;
}

pl_status pl_syringe_parse(const char *text, size_t length, const char *path, pl_syringe *out, pl_error *err)
{
    *out = (pl_syringe){0};
    pl_recording *r = NULL;
    pl_status status = pl_recording_parse(text, length, path, &r, err);
    if (status != PL_OK) {
        return status;
    }

    out->count = pl_recording_count(r);
    out->pressure = PL_NEW_ARRAY(double, out->count);
    out->pushed = PL_NEW_ARRAY(double, out->count);
    if (!out->pressure || !out->pushed) {
        status = pl_fail_memory(err, "the syringe measurement");
    } else if (out->count < SYRINGE_LEAST_ROWS) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: %d measurements, at least %d are needed", path, out->count,
                         SYRINGE_LEAST_ROWS);
    } else {
        status = syringe_columns(r, path, out, err);
    }

    pl_recording_destroy(r);
    if (status != PL_OK) {
        pl_syringe_clear(out);
    }

    return status;
}
