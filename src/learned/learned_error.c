// The error of a learned model's answers: bounds from samples held out, or from measurements that were
// predicted from the others.
#include "learned/learned.h"

#define ERROR_POINTS 1000 // held-out samples that are used, at most

int pl_learned_column(const pl_learned *l, int part)
{
    const pl_model_info *i = &l->about.info;
    const int first[] = {[LEARNED_ERROR_MARKER] = 0,
                         [LEARNED_ERROR_ROTATION] = i->marker_count,
                         [LEARNED_ERROR_SENSOR] = 2 * i->marker_count,
                         [LEARNED_ERROR_SHAPE] = 2 * i->marker_count + i->sensor_count};
    return first[part];
}

int pl_learned_columns(const pl_learned *l)
{
    return pl_learned_column(l, LEARNED_ERROR_SHAPE) + 1;
}

// The map of the errors at the samples held out, evenly thinned where they are many.
static pl_status error_map(pl_learned *l, pl_error *err)
{
    const int64_t C = l->about.info.command_count, Q = pl_learned_columns(l);
    int held = 0, count = 0;

    // held-out samples; the others have no error that could be trusted
    for (int64_t s = 0; s < l->sample_count; ++s) {
        held += !isnan(l->residual[s * Q]);
    }
    pl_error_map_destroy(l->errors);
    l->errors = NULL;
    if (held == 0) {
        return PL_OK;
    }

    const int stride = (held + ERROR_POINTS - 1) / ERROR_POINTS, points = (held + stride - 1) / stride;
    double *x = PL_NEW_ARRAY(double, points *(C + Q)), *residual = x + points * C;
    if (!x) {
        return pl_fail_memory(err, "the learned model");
    }

    for (int64_t s = 0, k = 0; s < l->sample_count; ++s) {
        if (isnan(l->residual[s * Q]) || k++ % stride != 0) {
            continue;
        }
        memcpy(x + count * C, l->sample + s * C, (size_t)C * sizeof *x);
        memcpy(residual + count * Q, l->residual + s * Q, (size_t)Q * sizeof *x);
        ++count;
    }

    const pl_error_samples samples = {
        .count = count, .input_count = (int)C, .column_count = (int)Q, .x = x, .residual = residual};
    const pl_status status = pl_error_map_create(&samples, &l->errors, err);
    pl_free(x);

    return status;
}

// The bounds of a correction from its residuals.
pl_status pl_adaptation_finish(pl_adaptation *a, int command_count, pl_error *err)
{
    pl_error_map_destroy(a->errors);
    a->errors = NULL;
    const pl_error_samples samples = {.count = a->sample_count,
                                      .input_count = command_count + a->extra_count,
                                      .column_count = a->marker_count,
                                      .x = a->sample,
                                      .residual = a->residual};
    return pl_error_map_create(&samples, &a->errors, err);
}

// Called again whenever the correction changes: sizes depend on its inputs.
pl_status pl_learned_finish(pl_learned *l, pl_error *err)
{
    const pl_model_info *i = &l->about.info;

    // values, derivatives and matrices of positions and their correction, each once
    const int64_t C = i->command_count, M = 3 * (int64_t)i->marker_count + 6;
    const int64_t extra = l->adaptation ? l->adaptation->extra_count : 0;

    pl_free(l->scratch);
    pl_free(l->bound);
    l->scratch = PL_NEW_ARRAY(double, 4 * M * (C + extra + 2) + 2 * M * M + 64 + 2 * (C + extra));
    l->bound = PL_NEW_ARRAY(double, pl_learned_columns(l));
    if (!l->scratch || !l->bound) {
        return pl_fail_memory(err, "the learned model");
    }

    return error_map(l, err);
}

pl_error_source pl_learned_error_source(const pl_learned *l)
{
    return l->adaptation || l->history ? PL_ERROR_MEASUREMENTS : PL_ERROR_SAMPLES;
}

double pl_learned_confidence(const pl_learned *l)
{
    const pl_error_map *map = l->adaptation ? l->adaptation->errors : l->errors;
    return map ? pl_error_map_confidence(map) : NAN;
}

// Where samples are farther apart than usual the error of a smooth function grows at least with the square of
// their distance.
static double error_growth(const pl_learned_estimate *at)
{
    return fmax(1, at->distance * at->distance);
}

void pl_adaptation_spread(const pl_adaptation *a, const double *x, double *deviation, double *spread)
{
    if (!a->gp) {
        for (int k = 0; k < a->marker_count; ++k) {
            spread[k] = 1;
        }
        return;
    }

    const pl_gp_view v = pl_gp_get_view(a->gp);
    pl_gp_evaluate(a->gp, x, NULL, NULL, deviation);
    for (int k = 0; k < a->marker_count; ++k) {
        double sum = 0;
        for (int i = 3 * k; i < 3 * k + 3; ++i) {
            sum += deviation[i] * deviation[i] + v.noise * v.variance[i];
        }
        spread[k] = sqrt(sum);
    }
}

// Whether the commands lie within those measured; beyond them only a process knows its uncertainty.
static bool bounds_measured(const pl_adaptation *a, const double *command, int C)
{
    for (int c = 0; c < C; ++c) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t s = 0; s < a->sample_count; ++s) {
            low = fmin(low, a->sample[s * (C + a->extra_count) + c]);
            high = fmax(high, a->sample[s * (C + a->extra_count) + c]);
        }

        const double slack = 1e-9 * (high - low);
        if (!(command[c] >= low - slack && command[c] <= high + slack)) {
            return false;
        }
    }

    return true;
}

// Of an adapted model only the measured markers have a reference.
// ratio: bound over the standard deviation (process) or mm (layer)
static void bounds_adapted(pl_learned *l, const double *command, double *bound)
{
    const pl_adaptation *a = l->adaptation;
    const int C = l->about.info.command_count, in = C + a->extra_count;
    double *x = l->scratch, *deviation = x + in, *spread = deviation + 3 * a->marker_count,
           *ratio = spread + a->marker_count;

    if (!a->gp && !bounds_measured(a, command, C)) {
        return;
    }
    memcpy(x, command, (size_t)C * sizeof *x);
    memcpy(x + C, a->extra, (size_t)a->extra_count * sizeof *x);
    pl_adaptation_spread(a, x, deviation, spread);
    pl_error_map_evaluate(a->errors, x, ratio);
    for (int k = 0; k < a->marker_count; ++k) {
        bound[a->marker[k]] = ratio[k] * spread[k];
    }
}

// NAN outside of the sampled box, and where the file of the robot has changed.
void pl_learned_bounds(pl_learned *l, const double *command, const pl_learned_estimate *at, double *bound)
{
    const int Q = pl_learned_columns(l);
    for (int k = 0; k < Q; ++k) {
        bound[k] = NAN;
    }
    if (l->distrust || at->outside > 0) {
        return;
    }

    if (l->adaptation) {
        bounds_adapted(l, command, bound);
    } else if (l->errors) {
        pl_error_map_evaluate(l->errors, command, bound);
        for (int k = 0; k < Q; ++k) {
            bound[k] *= error_growth(at);
        }
    }
}

// Where commands lie among the samples, and the bounds there, which are left in l->bound.
pl_learned_estimate pl_learned_judge(pl_learned *l, const double *command)
{
    const int64_t C = l->about.info.command_count;
    pl_learned_estimate e = {.error = NAN};

    // how far outside of the sampled box, in parts of it
    for (int c = 0; c < C; ++c) {
        const double w = l->high[c] > l->low[c] ? l->high[c] - l->low[c] : fmax(fabs(l->high[c]), 1e-9);
        const double out = fmax(l->low[c] - command[c], command[c] - l->high[c]) / w;
        if (out > 1e-9 && out > e.outside) {
            e.outside = out;
            e.command = c;
        }
    }

    // distance of the nearest sample over the usual spacing
    double nearest = INFINITY;
    for (int64_t s = 0; s < l->sample_count; ++s) {
        double sum = 0;

        for (int64_t c = 0; c < C; ++c) {
            const double w = l->high[c] > l->low[c] ? l->high[c] - l->low[c] : 1;
            const double gap = (command[c] - l->sample[s * C + c]) / w;
            sum += gap * gap;
        }

        nearest = fmin(nearest, sum);
    }

    e.distance = sqrt(nearest) / l->spacing;
    pl_learned_bounds(l, command, &e, l->bound);
    for (int k = 0; k < l->about.info.marker_count; ++k) {
        e.error = k == 0 || !(l->bound[k] <= e.error) ? l->bound[k] : e.error;
        if (isnan(e.error)) {
            break;
        }
    }

    return e;
}
