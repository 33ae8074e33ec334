// From simulation to the real robot: a correction of the marker positions fitted to measurements, either a
// network from predicted to measured positions (layer) or a Gaussian process of their difference over
// commands and extra inputs (process). The error is measured by cross-validation.
#include <stdio.h>
#include "learned/learned.h"

#define ADAPT_PARTS 5 // of the cross-validation

static const char *const adapt_names[PL_ADAPT_KIND_COUNT] = {"layer", "process"};
const char *pl_adapt_kind_name(pl_adapt_kind kind)
{
    return kind >= 0 && kind < PL_ADAPT_KIND_COUNT ? adapt_names[kind] : "";
}

pl_adapt_kind pl_adapt_kind_find(const char *name)
{
    pl_adapt_kind k = 0;
    while (k < PL_ADAPT_KIND_COUNT && strcmp(name, adapt_names[k]) != 0) {
        ++k;
    }
    return k;
}

pl_adapt_options pl_adapt_options_default(void)
{
    return (pl_adapt_options){.kind = PL_ADAPT_PROCESS, .held_share = 0.3, .neurons = 0.25, .seed = 1};
}

bool pl_learned_is_adapted(const pl_learned *learned)
{
    return learned->adaptation != NULL;
}

int pl_learned_extra_count(const pl_learned *learned)
{
    return learned->adaptation ? learned->adaptation->extra_count : 0;
}

pl_status pl_learned_set_extra(pl_learned *learned, const double *extra, pl_error *err)
{
    for (int i = 0; i < pl_learned_extra_count(learned); ++i) {
        if (!isfinite(extra[i])) {
            return pl_fail(err, PL_BAD_INPUT, "adapt: the value of '%s' is not finite",
                           learned->adaptation->extra_name[i]);
        }

        learned->adaptation->extra[i] = extra[i];
    }

    return PL_OK;
}

// Measurements beside predictions, one row each.
typedef struct adapt_data {
    int count, markers, extras, C; // rows; measured markers; extra inputs; commands
    int *marker;                   // indices of the measured markers
    double *x;                     // commands and extra inputs
    double *predicted;             // 3 markers
    double *real;
} adapt_data;

static void data_clear(adapt_data *d)
{
    pl_free(d->marker);
    pl_free(d->x);
    pl_free(d->predicted);
    pl_free(d->real);
}

// A marker with numbers in one or two of its coordinates only; `err` then names those that are missing.
static bool data_half_measured(const pl_measured *m, const pl_model_info *info, int marker, pl_error *err)
{
    char found[700] = "", missing[700] = "";
    for (int i = 0; i < 3; ++i) {
        int64_t s = 0;
        while (s < m->count && !isfinite(m->marker[(s * m->marker_count + marker) * 3 + i])) {
            ++s;
        }
        char *list = s < m->count ? found : missing;
        const size_t n = strlen(list);
        snprintf(list + n, sizeof found - n, "%s'%.150s.%c'", n ? " and " : "", info->marker_name[marker],
                 "xyz"[i]);
    }

    if (found[0]) {
        pl_fail(err, PL_BAD_INPUT, "adapt: marker '%.150s' has %s, but %s is missing; all three are needed",
                info->marker_name[marker], found, missing);
    }

    return found[0] != 0;
}

// Every marker is measured in all rows or in none, and the commands must differ between rows.
static pl_status data_init(adapt_data *d, pl_learned *l, const pl_measured *m, pl_error *err)
{
    const pl_model_info *info = &l->about.info;
    const int C = info->command_count, M = info->marker_count;

    *d = (adapt_data){.count = m->count, .extras = m->extra_count, .C = C};
    if (m->command_count != C || m->marker_count != M) {
        return pl_fail(err, PL_BAD_INPUT,
                       "adapt: the measurements have %d commands and %d markers, the model %d and %d",
                       m->command_count, m->marker_count, C, M);
    }

    if (m->count < 5) {
        return pl_fail(err, PL_BAD_INPUT, "adapt: %d measurements, at least 5 are needed", m->count);
    }
    d->marker = PL_NEW_ARRAY(int, M);
    double *all = PL_NEW_ARRAY(double, 3 * M);
    d->x = PL_NEW_ARRAY(double, (int64_t)m->count *(C + m->extra_count));
    d->predicted = PL_NEW_ARRAY(double, 3 * (int64_t)m->count * M);
    d->real = PL_NEW_ARRAY(double, 3 * (int64_t)m->count * M);
    if (!d->marker || !all || !d->x || !d->predicted || !d->real) {
        pl_free(all);
        return pl_fail_memory(err, "the measurements");
    }

    // which markers were measured
    for (int k = 0; k < M; ++k) {
        int measured = 0;
        for (int64_t s = 0; s < m->count; ++s) {
            const double *p = m->marker + (s * M + k) * 3;
            measured += isfinite(p[0] + p[1] + p[2]);
        }

        if (measured == m->count) {
            d->marker[d->markers++] = k;
        } else if (measured == 0 && data_half_measured(m, info, k, err)) {
            pl_free(all);
            return PL_BAD_INPUT;
        } else if (measured > 0) {
            pl_free(all);
            return pl_fail(err, PL_BAD_INPUT, "adapt: marker '%s' was measured in %d of %d rows only",
                           info->marker_name[k], measured, m->count);
        }
    }

    if (d->markers == 0) {
        pl_free(all);
        return pl_fail(err, PL_BAD_INPUT,
                       "adapt: no marker was measured: expected columns such as '%s.x', '%s.y', '%s.z'",
                       M ? info->marker_name[0] : "tip", M ? info->marker_name[0] : "tip",
                       M ? info->marker_name[0] : "tip");
    }

    // inputs, predictions and measured positions
    for (int64_t s = 0; s < m->count; ++s) {
        double *x = d->x + s * (C + m->extra_count);
        for (int c = 0; c < C; ++c) {
            const double v = m->command[s * C + c];
            x[c] = isnan(v) ? info->command[c].rest : v;
        }

        for (int e = 0; e < m->extra_count; ++e) {
            x[C + e] = m->extra[s * m->extra_count + e];
        }
        pl_learned_markers(l, x, all, NULL);

        for (int k = 0; k < d->markers; ++k) {
            memcpy(d->predicted + (s * d->markers + k) * 3, all + 3 * d->marker[k], 3 * sizeof *all);
            memcpy(d->real + (s * d->markers + k) * 3, m->marker + (s * M + d->marker[k]) * 3,
                   3 * sizeof *all);
        }
    }

    pl_free(all);

    // one pose measured repeatedly tells nothing about the others
    for (int64_t i = C + m->extra_count; i < (int64_t)m->count * (C + m->extra_count); ++i) {
        if (d->x[i] != d->x[i % (C + m->extra_count)]) {
            return PL_OK;
        }
    }

    return pl_fail(
        err, PL_BAD_INPUT,
        "adapt: all %d measurements have the same commands; measure poses that differ, spread over "
        "the ranges",
        m->count);
}

// Fits to the picked rows.
static pl_status adapt_fit(pl_adaptation *a, const adapt_data *d, const int *pick, int count,
                           const pl_adapt_options *o, pl_error *err)
{
    const int n = 3 * d->markers, in = d->C + d->extras;
    double *x = PL_NEW_ARRAY(double, (int64_t)count *(a->kind == PL_ADAPT_LAYER ? n : in));
    double *y = PL_NEW_ARRAY(double, (int64_t)count *n);
    int *group = PL_NEW_ARRAY(int, n);
    pl_status status = x && y && group ? PL_OK : pl_fail_memory(err, "the adaptation");

    // layer: position to position; process: inputs to difference
    for (int64_t s = 0; status == PL_OK && s < count; ++s) {
        const int64_t k = pick[s];
        if (a->kind == PL_ADAPT_LAYER) {
            memcpy(x + s * n, d->predicted + k * n, (size_t)n * sizeof *x);
            memcpy(y + s * n, d->real + k * n, (size_t)n * sizeof *y);
            continue;
        }

        memcpy(x + s * in, d->x + k * in, (size_t)in * sizeof *x);
        for (int i = 0; i < n; ++i) {
            y[s * n + i] = d->real[k * n + i] - d->predicted[k * n + i];
        }
    }

    // measured positions are never exact: noise of at least a thousandth
    if (status == PL_OK && a->kind == PL_ADAPT_PROCESS) {
        pl_gp_destroy(a->gp);
        a->gp = NULL;
        pl_gp_options options = pl_gp_options_default();
        options.least_noise = 1e-3;
        status = pl_gp_fit(x, y, count, in, n, &options, &a->gp, err);
    }

    if (status == PL_OK && a->kind == PL_ADAPT_LAYER) {
        pl_network_destroy(a->network);
        a->network = NULL;
        // as published: a share of the number of samples
        int width = (int)(o->neurons * count + 0.5);
        width = width < 1 ? 1 : width > 500 ? 500 : width;
        const pl_network_def def = {.input_count = n,
                                    .output_count = n,
                                    .layer_count = 1,
                                    .width = {width},
                                    .activation = PL_TANSIG,
                                    .seed = o->seed};
        pl_train_options train = pl_train_options_default();
        train.trainer = PL_LEVENBERG; // as published
        train.epoch_limit = 100;
        train.jacobian_weight = 0;
        train.held_share = 0.3;
        train.patience = 15;
        train.seed = o->seed;
        train.progress = o->progress;
        pl_train_report report;
        const pl_learn_data data = {.count = count, .x = x, .y = y, .group = group};
        status = pl_network_create(&def, &a->network, err);
        if (status == PL_OK) {
            status = pl_network_train(a->network, &data, &train, NULL, &report, err);
        }
    }

    pl_free(x);
    pl_free(y);
    pl_free(group);

    return status;
}

// The corrected positions of row s.
static void adapt_apply(pl_adaptation *a, const adapt_data *d, int64_t s, double *out)
{
    const int n = 3 * d->markers;
    if (a->kind == PL_ADAPT_LAYER) {
        pl_network_evaluate(a->network, d->predicted + s * n, out, NULL);
        return;
    }

    pl_gp_evaluate(a->gp, d->x + s * (d->C + d->extras), out, NULL, NULL);
    for (int i = 0; i < n; ++i) {
        out[i] += d->predicted[s * n + i];
    }
}

// Distance of two points, mm.
static double adapt_gap(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

// Memory; extra inputs in use start at their mean. NULL when out of memory.
static pl_adaptation *adapt_room(const adapt_data *d, const pl_measured *m, pl_adapt_kind kind)
{
    pl_adaptation *a = PL_NEW(pl_adaptation);
    if (!a) {
        return NULL;
    }
    *a = (pl_adaptation){.kind = kind, .marker_count = d->markers, .sample_count = d->count};
    a->extra_count = kind == PL_ADAPT_PROCESS ? d->extras : 0;
    a->marker = PL_NEW_ARRAY(int, d->markers);
    a->extra = PL_NEW_ARRAY(double, a->extra_count);
    a->extra_name = pl_alloc_array((size_t)a->extra_count, sizeof *a->extra_name);
    a->sample = PL_NEW_ARRAY(double, (int64_t)d->count *(d->C + a->extra_count));
    a->residual = PL_NEW_ARRAY(double, (int64_t)d->count * d->markers);
    if (!a->marker || !a->extra || !a->extra_name || !a->sample || !a->residual) {
        pl_adaptation_destroy(a);
        return NULL;
    }

    memcpy(a->marker, d->marker, (size_t)d->markers * sizeof *a->marker);
    for (int64_t s = 0; s < d->count; ++s) {
        memcpy(a->sample + s * (d->C + a->extra_count), d->x + s * (d->C + d->extras),
               (size_t)(d->C + a->extra_count) * sizeof *a->sample);
    }

    for (int e = 0; e < a->extra_count; ++e) {
        memcpy(a->extra_name[e], m->extra_name[e], sizeof a->extra_name[e]);
        for (int64_t s = 0; s < m->count; ++s) {
            a->extra[e] += m->extra[s * m->extra_count + e] / m->count;
        }
    }

    return a;
}

// Shuffled rows.
static void adapt_shuffle(int *order, int count, uint64_t seed)
{
    pl_random random;
    pl_random_seed(&random, seed);
    for (int i = 0; i < count; ++i) {
        order[i] = i;
    }

    for (int i = count - 1; i > 0; --i) {
        const int j = (int)(pl_random_next(&random) % (uint64_t)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

// Distance of the markers of row s from the measured ones.
static void adapt_distances(pl_adaptation *a, const adapt_data *d, int64_t s, double *out, double *distance)
{
    adapt_apply(a, d, s, out);
    for (int k = 0; k < d->markers; ++k) {
        distance[k] = adapt_gap(d->real + (s * d->markers + k) * 3, out + 3 * k);
    }
}

// The error without a correction.
static void adapt_before(const adapt_data *d, pl_adapt_report *report)
{
    double before = 0;
    for (int64_t s = 0; s < (int64_t)d->count * d->markers; ++s) {
        const double gap = adapt_gap(d->real + 3 * s, d->predicted + 3 * s);
        before += gap * gap / (d->count * d->markers);
        report->before_largest = fmax(report->before_largest, gap);
    }

    report->before_rms = sqrt(before);
}

// The error on the rows held out, of a model fitted to the others. `out`: 4 numbers per marker.
static pl_status adapt_hold(pl_adaptation *a, const adapt_data *d, const int *order,
                            const pl_adapt_options *o, double *out, pl_adapt_report *report, pl_error *err)
{
    const int held = report->held_count;
    if (held == 0) {
        return PL_OK;
    }

    const pl_status status = adapt_fit(a, d, order + held, d->count - held, o, err);
    double square = 0, *distance = out + 3 * d->markers;
    report->held_largest = 0;

    for (int i = 0; status == PL_OK && i < held; ++i) {
        adapt_distances(a, d, order[i], out, distance);
        for (int k = 0; k < d->markers; ++k) {
            square += distance[k] * distance[k] / (held * d->markers);
            report->held_largest = fmax(report->held_largest, distance[k]);
        }
    }

    report->held_rms = sqrt(square);

    return status;
}

// Cross-validation: every row predicted by a correction fitted to the other parts of the rows; of a process
// the distance over its standard deviation there.
static pl_status adapt_residuals(pl_adaptation *a, const adapt_data *d, const int *order,
                                 const pl_adapt_options *o, double *out, pl_error *err)
{
    const int parts = d->count < ADAPT_PARTS ? d->count : ADAPT_PARTS;
    int *others = PL_NEW_ARRAY(int, d->count);
    double *deviation = PL_NEW_ARRAY(double, 4 * d->markers), *spread = deviation + 3 * d->markers;
    pl_status status = others && deviation ? PL_OK : pl_fail_memory(err, "the adaptation");

    // parts: fit to the others, predict this one
    for (int p = 0; status == PL_OK && p < parts; ++p) {
        int count = 0;
        for (int i = 0; i < d->count; ++i) {
            if (i % parts != p) {
                others[count++] = order[i];
            }
        }

        status = adapt_fit(a, d, others, count, o, err);
        for (int i = p; status == PL_OK && i < d->count; i += parts) {
            const int64_t s = order[i];
            double *residual = a->residual + s * d->markers;
            adapt_distances(a, d, s, out, residual);
            pl_adaptation_spread(a, d->x + s * (d->C + d->extras), deviation, spread);
            for (int k = 0; k < d->markers; ++k) {
                residual[k] /= spread[k];
            }
        }
    }

    pl_free(others);
    pl_free(deviation);

    return status;
}

// RMS over the three coordinates of the noise that the process found, mm.
static double adapt_noise(const pl_gp *gp, int markers)
{
    const pl_gp_view v = pl_gp_get_view(gp);
    double sum = 0;
    for (int i = 0; i < v.output_count; ++i) {
        sum += v.noise * v.variance[i] / markers;
    }
    return sqrt(sum);
}

// Held-out error, cross-validated residuals, then the fit to all rows.
static pl_status adapt_work(pl_adaptation *a, const adapt_data *d, const pl_adapt_options *o,
                            pl_adapt_report *report, pl_error *err)
{
    int *order = PL_NEW_ARRAY(int, d->count);
    double *out = PL_NEW_ARRAY(double, 4 * d->markers);
    pl_status status = order && out ? PL_OK : pl_fail_memory(err, "the adaptation");

    if (status == PL_OK) {
        adapt_shuffle(order, d->count, o->seed);
        *report = (pl_adapt_report){.count = d->count,
                                    .held_count = (int)(o->held_share * d->count + 0.5),
                                    .marker_count = d->markers,
                                    .noise = NAN,
                                    .held_rms = NAN,
                                    .held_largest = NAN};
        adapt_before(d, report);
        status = adapt_hold(a, d, order, o, out, report, err);
    }

    status = status == PL_OK ? adapt_residuals(a, d, order, o, out, err) : status;
    status = status == PL_OK ? adapt_fit(a, d, order, d->count, o, err) : status;
    status = status == PL_OK ? pl_adaptation_finish(a, d->C, err) : status;
    if (status == PL_OK && a->gp) {
        report->noise = adapt_noise(a->gp, d->markers);
    }
    a->error_rms = report->held_rms;
    a->error_largest = report->held_largest;
    pl_free(order);
    pl_free(out);

    return status;
}

// An earlier correction is replaced; on failure it stays.
pl_status pl_learned_adapt(pl_learned *l, const pl_measured *m, const pl_adapt_options *o,
                           pl_adapt_report *report, pl_error *err)
{
    *report = (pl_adapt_report){.noise = NAN, .held_rms = NAN, .held_largest = NAN};
    if (o->kind < 0 || o->kind >= PL_ADAPT_KIND_COUNT || !(o->held_share >= 0 && o->held_share <= 0.9) ||
        !(o->neurons > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "adapt: kind, held_share or neurons is out of range");
    }

    if (l->history) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "adapt: the model was learned from measured histories; learn it again with the new rows");
    }

    // predictions without an earlier correction
    pl_adaptation *earlier = l->adaptation;
    l->adaptation = NULL;
    adapt_data d;
    pl_status status = data_init(&d, l, m, err);
    pl_adaptation *a = status == PL_OK ? adapt_room(&d, m, o->kind) : NULL;
    if (status == PL_OK) {
        status = a ? adapt_work(a, &d, o, report, err) : pl_fail_memory(err, "the adaptation");
    }
    if (status == PL_OK) {
        l->adaptation = a;
        status = pl_learned_finish(l, err);
    }

    if (status == PL_OK) {
        pl_adaptation_destroy(earlier);
    } else {
        pl_adaptation_destroy(a);
        l->adaptation = earlier;
    }

    data_clear(&d);

    return status;
}

// Commands with the largest uncertainty of the process, given that those before them are measured.
pl_status pl_learned_next_poses(pl_learned *l, int count, double *command, pl_error *err)
{
    enum { CANDIDATES = 400 };
    const pl_adaptation *a = l->adaptation;
    const int64_t C = l->about.info.command_count;
    if (!a || !a->gp) {
        return pl_fail(err, PL_BAD_INPUT,
                       "adapt: the next poses are proposed by an adaptation of the kind process");
    }

    if (count < 1 || count > 100) {
        return pl_fail(err, PL_BAD_INPUT, "adapt: %d poses, must be 1 to 100", count);
    }

    const int64_t in = C + a->extra_count;
    double *x = PL_NEW_ARRAY(double, CANDIDATES *in);
    int pick[100];
    if (!x) {
        return pl_fail_memory(err, "the candidates");
    }

    // candidates spread over the sampled box, with the extra inputs in use
    pl_random random;
    pl_random_seed(&random, 1);
    for (int64_t k = 0; k < CANDIDATES; ++k) {
        for (int64_t c = 0; c < C; ++c) {
            x[k * in + c] = pl_random_uniform(&random, l->low[c], l->high[c]);
        }
        memcpy(x + k * in + C, a->extra, (size_t)a->extra_count * sizeof *x);
    }

    const pl_status status = pl_gp_propose(a->gp, x, CANDIDATES, count, pick, err);
    for (int p = 0; status == PL_OK && p < count; ++p) {
        memcpy(command + p * C, x + (int64_t)pick[p] * in, (size_t)C * sizeof *command);
    }
    pl_free(x);

    return status;
}
