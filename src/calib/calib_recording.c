// Tables of numbers with named columns, for measurements over time. The first line that is no comment names
// the columns (`t [s]`, `tip.x [mm]`); lines that begin with # are comments.
#include <stdlib.h>
#include "base/base.h"
#include "pliant/calib.h"

#define SERIES_LINE 8192

void pl_recording_clear(pl_recording *s)
{
    pl_free(s->value);
    *s = (pl_recording){0};
}

static bool series_blank(const char *line)
{
    const char *at = line + strspn(line, " \t\r");
    return !*at || *at == '#';
}

// "tip.x [mm]" -> name "tip.x", unit "mm"; "t_s" as it is.
static void series_name(const char *part, pl_recording_column *out)
{
    size_t length = strcspn(part, "[(");
    const char *open = part + length;

    while (length > 0 && (part[length - 1] == ' ' || part[length - 1] == '\t')) {
        --length;
    }
    length = length < sizeof out->name ? length : sizeof out->name - 1;
    memcpy(out->name, part, length);
    out->name[length] = 0;
    out->unit[0] = 0;

    if (*open) {
        const size_t unit = strcspn(open + 1, "])");
        const size_t most = unit < sizeof out->unit ? unit : sizeof out->unit - 1;
        memcpy(out->unit, open + 1, most);
        out->unit[most] = 0;
    }
}

// The next part of a line that is divided by commas, semicolons or tabs; NULL: none.
static char *series_part(char **at)
{
    char *part = *at;
    if (!part) {
        return NULL;
    }

    char *end = part + strcspn(part, ",;\t");
    *at = *end ? end + 1 : NULL;
    *end = 0;
    part += strspn(part, " ");
    for (char *last = part + strlen(part); last > part && (last[-1] == ' ' || last[-1] == '\r');) {
        *--last = 0;
    }

    return part;
}

static pl_status series_row(char *line, const char *name, int number, pl_recording *s, double *out,
                            pl_error *err)
{
    char *at = line;
    for (int c = 0; c < s->column_count; ++c) {
        const char *part = series_part(&at);
        char *end = NULL;
        out[c] = part ? pl_real_read(part, &end) : NAN;
        if (!part || (*part && *end)) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d (%s) is not a number", name, number, c + 1,
                           s->column[c].name);
        }

        out[c] = *part ? out[c] : NAN;
    }

    return PL_OK;
}

// The first row that is not blank names the columns; every further one has a number or nothing per column.
pl_status pl_recording_parse(const char *text, size_t length, const char *name, pl_recording *out,
                             pl_error *err)
{
    *out = (pl_recording){0};

    // no more rows than lines
    int lines = 1;
    for (size_t i = 0; i < length; ++i) {
        lines += text[i] == '\n';
    }

    pl_status status = PL_OK;
    int number = 0;
    for (const char *at = text, *end = text + length; status == PL_OK && at < end; ++number) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t bytes = (size_t)((stop ? stop : end) - at);
        char line[SERIES_LINE];
        if (bytes >= sizeof line) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: the line is too long", name, number + 1);
            break;
        }

        memcpy(line, at, bytes);
        line[bytes] = 0;
        at += bytes + 1;
        if (series_blank(line)) {
            continue;
        }

        // the heading: names and units
        if (out->column_count == 0) {
            char *rest = line;
            for (char *part; (part = series_part(&rest)) && out->column_count < PL_RECORDING_COLUMNS;) {
                series_name(part, &out->column[out->column_count++]);
            }
            out->value = PL_NEW_ARRAY(double, (int64_t)out->column_count *lines);
            status = out->value ? PL_OK : pl_fail_memory(err, "measurements");
            continue;
        }

        status = series_row(line, name, number + 1, out, out->value + (int64_t)out->column_count * out->count,
                            err);
        out->count += status == PL_OK;
    }

    if (status == PL_OK && out->count < 2) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: fewer than two rows of measurements", name);
    }
    if (status != PL_OK) {
        pl_recording_clear(out);
    }

    return status;
}

int pl_recording_find(const pl_recording *s, const char *const *name, int count)
{
    for (int k = 0; k < count; ++k) {
        for (int c = 0; c < s->column_count; ++c) {
            if (strcmp(s->column[c].name, name[k]) == 0) {
                return c;
            }
        }
    }

    return -1;
}

double pl_recording_at(const pl_recording *s, int row, int column)
{
    return s->value[(int64_t)row * s->column_count + column];
}
