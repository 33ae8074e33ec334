// The volume a chamber takes under pressure, from a closed line of chamber, tube and syringe (Fang et al.
// 2020, equations 18 and 19): with the gas at ambient pressure p0 before,
//   p0 (V0 + Vs + Vt) = p (V + Vs - dV + Vt)   gives   alpha = V / V0 = (p0 V0 + p dV - (p - p0)(Vs + Vt)) /
//   (p V0).
// Rows up to the highest pressure are loading, the rest unloading; each branch is made monotone by pooling
// adjacent violators, which is its least-squares monotone fit.
#include <stdlib.h>
#include "base/base.h"
#include "calib/calib.h"
#include "pliant/calib.h"
#include <math.h>

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

void pl_syringe_clear(pl_syringe *test)
{
    pl_free(test->pressure);
    pl_free(test->pushed);
    *test = (pl_syringe){0};
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
    } else if (anchor && x[0] > ambient * (1 - 1e-6)) {
        y[0] = 1;
        weight[0] = SYRINGE_CERTAIN;
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

    // a volume that falls while the pressure rises becomes a constant
    if (anchor && out->count > 1 && out->error > out->ratio[out->count - 1] - out->ratio[0]) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "syringe: the readings are off a curve that rises with pressure by %.3g (rms), and the curve "
            "rises by %.3g: at %g kPa the chamber would have %.3g of its volume; check the volumes of "
            "chamber, tube and "
            "syringe, and whether the pressure is absolute",
            out->error, out->ratio[out->count - 1] - out->ratio[0], 1e3 * point[count - 1].p,
            point[count - 1].alpha);
    }

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
