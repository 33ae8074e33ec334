// The volume a chamber takes under pressure, from a closed line of chamber, tube and syringe (Fang et al.
// 2020, equations 18 and 19): with the gas at ambient pressure p0 before,
//   p0 (V0 + Vs + Vt) = p (V + Vs - dV + Vt)   gives   alpha = V / V0 = (p0 V0 + p dV - (p - p0)(Vs + Vt)) /
//   (p V0).
// Rows up to the highest pressure are loading, the rest unloading; each branch is made monotone by pooling
// adjacent violators, which is its least-squares monotone fit.
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "calib/calib.h"
#include "pliant/calib.h"
#include <math.h>

#define SYRINGE_COLUMNS 16
#define SYRINGE_LINE 400
#define SYRINGE_CERTAIN 1e15 // weight of what is known, beside 1 per measured row

double pl_syringe_ratio(const pl_syringe_line *line, double pressure, double pushed)
{
    const double p0 = line->ambient, dead = line->syringe + line->tube;
    return (p0 * line->chamber + pressure * pushed - (pressure - p0) * dead) / (pressure * line->chamber);
}

void pl_isotonic(int count, double *y, double *weight, int *block)
{
    // blocks as a stack: mean and weight of those before the current row
    int top = 0;
    for (int i = 0; i < count; ++i) {
        double sum = y[i] * weight[i], total = weight[i];
        int first = i;

        while (top > 0 && y[top - 1] >= sum / total) {
            --top;
            sum += y[top] * weight[top];
            total += weight[top];
            first = block[top];
        }

        y[top] = sum / total;
        weight[top] = total;
        block[top++] = first;
    }

    // back to one value per row
    int end = count;
    for (int b = top - 1; b >= 0; --b) {
        const double value = y[b];
        const int begin = block[b];
        for (int i = end - 1; i >= begin; --i) {
            y[i] = value;
        }
        end = begin;
    }
}

// ---- reading
typedef struct syringe_columns {
    int pressure, pushed;
    double pressure_unit, volume_unit; // to MPa, mm^3
} syringe_columns;

// "pressure [kPa]" and the like: the factor of the unit in brackets, or `otherwise`.
static double syringe_unit(const char *text, const char *const *name, const double *factor, int count,
                           double otherwise)
{
    const char *open = strpbrk(text, "[(");
    for (int i = 0; open && i < count; ++i) {
        const size_t n = strlen(name[i]);
        if (strncmp(open + 1, name[i], n) == 0 && (open[1 + n] == ']' || open[1 + n] == ')')) {
            return factor[i];
        }
    }

    return open ? -1 : otherwise;
}

static int syringe_split(char *line, char *part[SYRINGE_COLUMNS])
{
    int count = 0;
    for (char *at = line; count < SYRINGE_COLUMNS; ++at) {
        while (*at == ' ' || *at == '\t') {
            ++at;
        }
        part[count++] = at;
        at += strcspn(at, ",;");
        if (!*at) {
            break;
        }
        *at = 0;
    }

    return count;
}

// The line that names the columns.
static pl_status syringe_header(char *const *part, int count, const char *name, int line, syringe_columns *c,
                                pl_error *err)
{
    static const char *const pressure[] = {"kPa", "MPa", "Pa", "bar", "mbar"}, *const volume[] = {
                                                                                   "mL",   "ml", "mm^3",
                                                                                   "cm^3", "L",  "uL"};
    static const double pressure_factor[] = {1e-3, 1, 1e-6, 0.1, 1e-4},
                        volume_factor[] = {1e3, 1e3, 1, 1e3, 1e6, 1};

    c->pressure = c->pushed = -1;
    for (int i = 0; i < count; ++i) {
        const bool is_pressure = part[i][0] == 'P' || part[i][0] == 'p';
        const bool is_volume = strncmp(part[i], "dV", 2) == 0 || strncmp(part[i], "volume", 6) == 0 ||
                               strncmp(part[i], "pushed", 6) == 0;
        if (strncmp(part[i], "pushed", 6) != 0 && is_pressure && c->pressure < 0) {
            c->pressure = i;
            c->pressure_unit = syringe_unit(part[i], pressure, pressure_factor, PL_COUNT(pressure), 1e-3);
        } else if (is_volume && c->pushed < 0) {
            c->pushed = i;
            c->volume_unit = syringe_unit(part[i], volume, volume_factor, PL_COUNT(volume), 1e3);
        }
    }

    if (c->pressure < 0 || c->pushed < 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: expected columns named P [kPa] and dV [mL]", name, line);
    }

    if (c->pressure_unit < 0 || c->volume_unit < 0) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "%s:%d: a unit in brackets is unknown, expected kPa, MPa, Pa, bar, mbar and mL, mm^3, cm^3, L, "
            "uL",
            name, line);
    }

    return PL_OK;
}

static pl_status syringe_row(char *const *part, int count, const char *name, int line,
                             const syringe_columns *c, double out[2], pl_error *err)
{
    const int column[2] = {c->pressure, c->pushed};
    for (int k = 0; k < 2; ++k) {
        if (column[k] >= count) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: %d columns, expected at least %d", name, line, count,
                           column[k] + 1);
        }

        char *end;
        out[k] = pl_real_read(part[column[k]], &end) * (k ? c->volume_unit : c->pressure_unit);
        end += strspn(end, " \t\r");
        if (end == part[column[k]] || *end || !isfinite(out[k])) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: '%s' is not a number", name, line, part[column[k]]);
        }
    }

    return PL_OK;
}

void pl_syringe_clear(pl_syringe *test)
{
    pl_free(test->pressure);
    pl_free(test->pushed);
    *test = (pl_syringe){0};
}

static pl_status syringe_append(pl_syringe *out, int32_t *capacity, const double row[2], pl_error *err)
{
    if (out->count == *capacity) {
        int32_t room[2] = {*capacity, *capacity};
        if (!pl_grow((void **)&out->pressure, &room[0], out->count + 1, sizeof *out->pressure) ||
            !pl_grow((void **)&out->pushed, &room[1], out->count + 1, sizeof *out->pushed)) {
            return pl_fail_memory(err, "the syringe measurement");
        }

        *capacity = room[0] < room[1] ? room[0] : room[1];
    }

    out->pressure[out->count] = row[0];
    out->pushed[out->count++] = row[1];
    return PL_OK;
}

// Line by line: comments and blank lines are skipped, a first row of words names the columns.
pl_status pl_syringe_parse(const char *text, size_t length, const char *name, pl_syringe *out, pl_error *err)
{
    *out = (pl_syringe){0};
    syringe_columns c = {0, 1, 1e-3, 1e3};
    int32_t capacity = 0;
    int number = 0;
    bool named = false;
    pl_status status = PL_OK;

    for (size_t at = 0; at < length && status == PL_OK;) {
        char line[SYRINGE_LINE], *part[SYRINGE_COLUMNS];
        size_t n = 0;
        while (at + n < length && text[at + n] != '\n') {
            ++n;
        }
        ++number;

        if (n >= sizeof line) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: the line is longer than %d characters", name, number,
                             SYRINGE_LINE - 1);
            break;
        }

        memcpy(line, text + at, n);
        line[n] = 0;
        line[strcspn(line, "\r")] = 0;
        at += n + 1;
        if (line[strspn(line, " \t")] == 0 || line[0] == '#') {
            continue;
        }

        // a row whose first cell is no number is the heading, once
        const int count = syringe_split(line, part);
        char *end;
        pl_real_read(part[0], &end);

        if (!named && out->count == 0 && end == part[0]) {
            status = syringe_header(part, count, name, number, &c, err);
            named = true;
            continue;
        }

        double row[2];
        status = syringe_row(part, count, name, number, &c, row, err);
        status = status == PL_OK ? syringe_append(out, &capacity, row, err) : status;
    }

    if (status == PL_OK && out->count < 3) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: %d measurements, at least 3 are needed", name, out->count);
    }
    if (status != PL_OK) {
        pl_syringe_clear(out);
    }

    return status;
}

// ---- fitting
typedef struct syringe_point {
    double p, alpha;
} syringe_point;

static int syringe_compare(const void *a, const void *b)
{
    const double x = ((const syringe_point *)a)->p, y = ((const syringe_point *)b)->p;
    return (x > y) - (x < y);
}

// Sorted points of one branch into at most PL_SYRINGE_POINTS averages, pooled, as a table of gauge pressures.
static pl_status syringe_branch(syringe_point *point, int count, double ambient, bool anchor,
                                pl_syringe_branch *out, pl_error *err)
{
    double y[PL_SYRINGE_POINTS], weight[PL_SYRINGE_POINTS], x[PL_SYRINGE_POINTS];
    int block[PL_SYRINGE_POINTS], bins = 0;

    *out = (pl_syringe_branch){.measured = count};
    if (count < 2) {
        return PL_OK;
    }
    qsort(point, (size_t)count, sizeof *point, syringe_compare);
    const int most = PL_SYRINGE_POINTS - 1, wanted = count < most ? count : most;

    for (int b = 0; b < wanted; ++b) {
        // the two ends stand for themselves, so that the table reaches as far as the test
        const int64_t inner = count - 2, parts = wanted - 2;
        const int from = b == 0 ? 0 : b == wanted - 1 ? count - 1 : 1 + (int)(inner * (b - 1) / parts);
        const int to = b == 0 ? 1 : b == wanted - 1 ? count : 1 + (int)(inner * b / parts);
        double p = 0, alpha = 0;
        for (int i = from; i < to; ++i) {
            p += point[i].p / (to - from);
            alpha += point[i].alpha / (to - from);
        }

        if (bins > 0 && p - x[bins - 1] < 1e-9 * ambient) {
            // the same pressure again
            y[bins - 1] =
                (weight[bins - 1] * y[bins - 1] + (to - from) * alpha) / (weight[bins - 1] + to - from);
            weight[bins - 1] += to - from;
            continue;
        }

        x[bins] = p;
        y[bins] = alpha;
        weight[bins++] = to - from;
    }

    // an empty line at ambient pressure has its rest volume, whatever was measured beside it
    if (anchor && x[0] > ambient * (1 + 1e-6)) {
        memmove(x + 1, x, (size_t)bins * sizeof *x);
        memmove(y + 1, y, (size_t)bins * sizeof *y);
        memmove(weight + 1, weight, (size_t)bins * sizeof *weight);
        x[0] = ambient;
        y[0] = 1;
        weight[0] = SYRINGE_CERTAIN;
        ++bins;
    }

    pl_isotonic(bins, y, weight, block);
    for (int i = 0; i < bins; ++i) {
        if (!(y[i] > 0)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "syringe: at %g kPa the chamber would have %g of its volume; check the volumes of "
                           "chamber, tube and syringe, and whether the pressure is absolute",
                           1e3 * x[i], y[i]);
        }

        out->pressure[out->count] = x[i] - ambient;
        out->ratio[out->count++] = y[i];
    }

    double sum = 0;
    double slope[PL_SYRINGE_POINTS];
    pl_monotone_slopes(out->count, out->pressure, out->ratio, slope);
    const pl_monotone curve = {out->count, out->pressure, out->ratio, slope};
    for (int i = 0; i < count && out->count > 1; ++i) {
        const double error = pl_monotone_value(&curve, point[i].p - ambient, NULL) - point[i].alpha;
        sum += error * error;
    }

    out->error = sqrt(sum / count);

    return PL_OK;
}

pl_status pl_syringe_fit(const pl_syringe *test, const pl_syringe_line *line, pl_syringe_result *out,
                         pl_error *err)
{
    *out = (pl_syringe_result){0};
    if (!(line->chamber > 0) || !(line->tube >= 0) || !(line->syringe >= 0) || !(line->ambient > 0)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "syringe: chamber %g, tube %g, syringe %g mm^3 at %g MPa, expected a chamber > 0 and the others "
            ">= 0",
            line->chamber, line->tube, line->syringe, line->ambient);
    }

    syringe_point *point = PL_NEW_ARRAY(syringe_point, test->count);
    if (!point) {
        return pl_fail_memory(err, "syringe");
    }

    int top = 0;
    pl_status status = PL_OK;
    for (int i = 0; i < test->count && status == PL_OK; ++i) {
        const double p = test->pressure[i] + (line->gauge ? line->ambient : 0);

        if (!(p > 0)) {
            status =
                pl_fail(err, PL_BAD_INPUT, "syringe: row %d has an absolute pressure of %g kPa, must be > 0",
                        i + 1, 1e3 * p);
        }

        point[i] = (syringe_point){p, pl_syringe_ratio(line, p, test->pushed[i])};
        top = point[i].p > point[top].p ? i : top;
    }

    if (status == PL_OK) {
        status = syringe_branch(point, top + 1, line->ambient, true, &out->loading, err);
    }

    // sorting the first branch has left the highest pressure at its end, where the second begins
    if (status == PL_OK && test->count - top > 2) {
        status = syringe_branch(point + top, test->count - top, line->ambient, false, &out->unloading, err);
    }
    pl_free(point);

    return status;
}
