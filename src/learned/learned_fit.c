// Networks from samples: one network per part (positions, rotations, sensors, ...), so that inverse
// kinematics evaluates the markers only. Errors are those on held-out samples.
#include "learned/learned.h"

#define FIT_SHAPES 400            // samples from which the modes are taken
#define FIT_MODE_SHARE (1 - 1e-8) // of the variance

pl_learned_options pl_learned_options_default(void)
{
    pl_learned_options o = {
        .network = {.layer_count = 2, .width = {24, 24}, .activation = PL_TANSIG, .skip = true, .seed = 1},
        .train = pl_train_options_default(),
        .parts = 1u << PL_LEARN_POSITION | 1u << PL_LEARN_ROTATION | 1u << PL_LEARN_SENSOR |
                 1u << PL_LEARN_ACTUATOR | 1u << PL_LEARN_ENERGY | 1u << PL_LEARN_SHAPE,
        .mode_count = 24};
    return o;
}

// Outputs of one part for training: values, derivatives, scale groups.
typedef struct fit_table {
    int outputs;
    double *y, *jacobian;
    int *group;
    const double *x; // inputs; NULL: the commands
    int inputs;
} fit_table;

static void table_clear(fit_table *t)
{
    pl_free(t->y);
    pl_free(t->jacobian);
    pl_free(t->group);
}

// Memory for a table; `common`: one scale for all outputs. False when out of memory.
static bool table_room(fit_table *t, const pl_dataset *d, int outputs, bool slopes, bool common)
{
    const int64_t n = d->count, C = d->about.info.command_count;
    *t = (fit_table){.outputs = outputs, .inputs = (int)C};
    t->y = PL_NEW_ARRAY(double, n *outputs);
    t->jacobian = slopes ? PL_NEW_ARRAY(double, n *outputs *C) : NULL;
    t->group = PL_NEW_ARRAY(int, outputs);
    for (int k = 0; t->group && k < outputs; ++k) {
        t->group[k] = common ? 0 : k;
    }

    return t->y && t->group && (t->jacobian || !slopes);
}

// ---- the tables
// Positions of all markers, mm, with their derivatives.
static bool table_position(fit_table *t, const pl_dataset *d)
{
    const int64_t O = 3 * (int64_t)d->about.info.marker_count, C = d->about.info.command_count;
    if (!table_room(t, d, (int)O, d->d_marker != NULL, true)) {
        return false;
    }
    memcpy(t->y, d->marker, (size_t)(d->count * O) * sizeof *t->y);
    if (t->jacobian) {
        memcpy(t->jacobian, d->d_marker, (size_t)(d->count * O * C) * sizeof *t->jacobian);
    }

    return true;
}

// Columns 0 and 1 of each rotation; dR = [w] R for a spatial rotation w.
static bool table_rotation(fit_table *t, const pl_dataset *d, const uint8_t *framed)
{
    const int64_t M = d->about.info.marker_count, C = d->about.info.command_count;
    if (!table_room(t, d, (int)(6 * M), d->d_rotation != NULL, true)) {
        return false;
    }

    for (int64_t s = 0; s < d->count; ++s) {
        for (int64_t m = 0; m < M; ++m) {
            const double *R = d->rotation + (s * M + m) * 9;
            double *y = t->y + (s * M + m) * 6;
            for (int k = 0; k < 6; ++k) {
                y[k] = framed[m] ? R[3 * (k % 3) + k / 3] : k % 4 == 0;
            }
            for (int64_t c = 0; t->jacobian && framed[m] && c < C; ++c) {
                const double *w = d->d_rotation + (s * M + m) * 3 * C + c;

                for (int j = 0; j < 2; ++j) {
                    double *to = t->jacobian + ((s * M + m) * 6 + 3 * j) * C + c;
                    const double *v = y + 3 * j;
                    to[0] = w[C] * v[2] - w[2 * C] * v[1];
                    to[C] = w[2 * C] * v[0] - w[0] * v[2];
                    to[2 * C] = w[0] * v[1] - w[C] * v[0];
                }
            }
        }
    }

    return true;
}

// Outputs that are taken as they are, each with its own scale.
static bool table_plain(fit_table *t, const pl_dataset *d, const double *y, const double *slope, int outputs)
{
    const int64_t C = d->about.info.command_count;
    if (!table_room(t, d, outputs, slope != NULL, false)) {
        return false;
    }
    memcpy(t->y, y, (size_t)d->count * (size_t)outputs * sizeof *y);
    if (slope) {
        memcpy(t->jacobian, slope, (size_t)(d->count * outputs * C) * sizeof *slope);
    }

    return true;
}

// Measures, then efforts; what was not known in every sample is 0 and marked.
static bool table_actuator(fit_table *t, const pl_dataset *d, uint8_t *known)
{
    const int64_t A = d->about.info.actuator_count, C = d->about.info.command_count;
    if (!table_room(t, d, (int)(2 * A), d->d_effort != NULL, false)) {
        return false;
    }

    // known: finite in every sample, with its derivatives
    for (int64_t k = 0; k < 2 * A; ++k) {
        const double *from = k < A ? d->measure : d->effort, *slope = k < A ? d->d_measure : d->d_effort;
        const int64_t a = k % A;
        bool good = true;

        for (int64_t s = 0; s < d->count; ++s) {
            good = good && isfinite(from[s * A + a]);
            for (int64_t c = 0; t->jacobian && c < C; ++c) {
                good = good && isfinite(slope[(s * A + a) * C + c]);
            }
        }

        known[a] |= good ? (k < A ? 1 : 2) : 0;
        for (int64_t s = 0; good && s < d->count; ++s) {
            t->y[s * 2 * A + k] = from[s * A + a];
            for (int64_t c = 0; t->jacobian && c < C; ++c) {
                t->jacobian[(s * 2 * A + k) * C + c] = slope[(s * A + a) * C + c];
            }
        }
    }

    return true;
}

// Modes of the displacement, and the coefficients of every sample.
static pl_status fit_modes(pl_learned *l, const pl_dataset *d, const pl_learned_options *o, fit_table *t,
                           double *left, pl_error *err)
{
    const int64_t size = 3 * (int64_t)d->point_count;
    const int n = d->count < FIT_SHAPES ? d->count : FIT_SHAPES;
    double *u = PL_NEW_ARRAY(double, n *size);

    l->point_count = d->point_count;
    l->point_rest = PL_NEW_ARRAY(double, size);
    l->point_mean = PL_NEW_ARRAY(double, size);
    l->mode = PL_NEW_ARRAY(double, (int64_t)o->mode_count *size);
    pl_status status = u && l->point_rest && l->point_mean && l->mode ? PL_OK : PL_NO_MEMORY;

    // displacements of samples spread over the data set
    if (status == PL_OK) {
        memcpy(l->point_rest, d->point_rest, (size_t)size * sizeof *u);
        for (int64_t s = 0; s < n; ++s) {
            const float *p = d->point + (s * d->count / n) * size;
            for (int64_t i = 0; i < size; ++i) {
                u[s * size + i] = p[i] - d->point_rest[i];
            }
        }

        status = pl_principal_modes(u, n, size, o->mode_count, FIT_MODE_SHARE, l->point_mean, l->mode,
                                    &l->mode_count, left, err);
        *left *= sqrt(3); // per vertex
    }

    pl_free(u);
    if (status == PL_OK && !table_room(t, d, l->mode_count, false, true)) {
        status = PL_NO_MEMORY;
    }

    // coefficients: the modes are orthonormal
    for (int64_t s = 0; status == PL_OK && s < d->count; ++s) {
        const float *p = d->point + s * size;
        for (int k = 0; k < l->mode_count; ++k) {
            const double *mode = l->mode + k * size;
            double sum = 0;
            for (int64_t i = 0; i < size; ++i) {
                sum += mode[i] * (p[i] - d->point_rest[i] - l->point_mean[i]);
            }
            t->y[s * l->mode_count + k] = sum;
        }
    }

    return status == PL_NO_MEMORY ? pl_fail_memory(err, "the modes") : status;
}

// The derivatives of the marker positions as outputs of their own.
static bool table_slopes(fit_table *t, const pl_dataset *d)
{
    const int64_t O = 3 * (int64_t)d->about.info.marker_count * d->about.info.command_count;
    if (!table_room(t, d, (int)O, false, true)) {
        return false;
    }
    memcpy(t->y, d->d_marker, (size_t)(d->count * O) * sizeof *t->y);
    return true;
}

// From the first marker's position to the commands, scaled alike by their spans.
static bool table_inverse(fit_table *t, const pl_dataset *d, double **x)
{
    const int64_t M = 3 * (int64_t)d->about.info.marker_count, C = d->about.info.command_count;
    *x = PL_NEW_ARRAY(double, 3 * (int64_t)d->count);
    if (!table_room(t, d, (int)C, false, false) || !*x) {
        return false;
    }
    memcpy(t->y, d->command, (size_t)(d->count * C) * sizeof *t->y);
    for (int64_t s = 0; s < d->count; ++s) {
        memcpy(*x + 3 * s, d->marker + s * M, 3 * sizeof **x);
    }
    t->x = *x;
    t->inputs = 3;

    return true;
}

// ---- errors on the samples held out, in the unit of the part
static double residual_distance(const double *y, const double *t, int count)
{
    double sum = 0;
    for (int k = 0; k < count; ++k) {
        sum += (y[k] - t[k]) * (y[k] - t[k]);
    }
    return sqrt(sum);
}

// |dR| / sqrt 2 is the angle of a small rotation; the third column follows from the first two.
static double residual_angle(const double *y, const double *t)
{
    return sqrt(0.75) * residual_distance(y, t, 6);
}

// Of modes, which are orthonormal, the RMS distance of the vertices.
static double residual_shape(const double *y, const double *t, int outputs, const pl_learned *l)
{
    return residual_distance(y, t, outputs) / sqrt(l->point_count);
}

// One number per sample in the unit of the part: the worst marker, or the whole shape.
static double part_error(pl_learned_part part, const double *y, const double *t, int outputs,
                         const pl_learned *l)
{
    double worst = 0;
    switch (part) {
    case PL_LEARN_POSITION:
        for (int m = 0; m < outputs / 3; ++m) {
            worst = fmax(worst, residual_distance(y + 3 * m, t + 3 * m, 3));
        }
        return worst;
    case PL_LEARN_ROTATION:
        for (int m = 0; m < outputs / 6; ++m) {
            worst = fmax(worst, residual_angle(y + 6 * m, t + 6 * m));
        }
        return worst;
    case PL_LEARN_SHAPE:
        return residual_shape(y, t, outputs, l);
    default:
        for (int k = 0; k < outputs; ++k) {
            worst = fmax(worst, fabs(y[k] - t[k]));
        }
        return worst;
    }
}

// The columns of the errors that belong to a part.
static void part_residuals(pl_learned_part part, const double *y, const double *t, int outputs,
                           const pl_learned *l, double *residual)
{
    switch (part) {
    case PL_LEARN_POSITION:
        for (int m = 0; m < outputs / 3; ++m) {
            residual[m] = residual_distance(y + 3 * m, t + 3 * m, 3);
        }
        break;
    case PL_LEARN_ROTATION:
        residual += pl_learned_column(l, LEARNED_ERROR_ROTATION);
        for (int m = 0; m < outputs / 6; ++m) {
            residual[m] = l->framed[m] ? residual_angle(y + 6 * m, t + 6 * m) : NAN;
        }
        break;
    case PL_LEARN_SENSOR:
        residual += pl_learned_column(l, LEARNED_ERROR_SENSOR);
        for (int k = 0; k < outputs; ++k) {
            residual[k] = fabs(y[k] - t[k]);
        }
        break;
    case PL_LEARN_SHAPE:
        residual[pl_learned_column(l, LEARNED_ERROR_SHAPE)] = residual_shape(y, t, outputs, l);
        break;
    default:
        break;
    }
}

// Commands that switch from one actuator to another at 0 bend everything there.
static uint64_t fit_kinks(const pl_model_info *info)
{
    uint64_t kinks = 0;
    for (int a = 0; a < info->actuator_count; ++a) {
        const int c = info->actuator[a].command;
        const bool both = c >= 0 && c < 64 && info->command[c].range[0] < 0 && info->command[c].range[1] > 0;
        kinks |= both && info->actuator[a].one_sided ? UINT64_C(1) << c : 0;
    }

    return kinks;
}

// Trains the network of a part and measures its error; `held` gets which samples were held out (the
// same for all parts, by the seed).
static pl_status fit_part(pl_learned *l, const pl_dataset *d, const pl_learned_options *o,
                          pl_learned_part part, const fit_table *t, bool *held, pl_learned_fit_report *report,
                          pl_error *err)
{
    pl_network_def def = o->network;
    def.input_count = t->inputs;
    def.output_count = t->outputs;
    def.seed = o->network.seed + 101 * (uint64_t)part;
    def.kinks = part == PL_LEARN_INVERSE ? 0 : fit_kinks(&d->about.info);
    pl_status status = pl_network_create(&def, &l->network[part], err);
    if (status != PL_OK) {
        return status;
    }

    pl_network *n = l->network[part];
    const pl_learn_data data = {.count = d->count,
                                .x = t->x ? t->x : d->command,
                                .y = t->y,
                                .jacobian = t->jacobian,
                                .group = t->group};
    if (o->begin) {
        o->begin(o->train.user, part);
    }
    status = pl_network_train(n, &data, &o->train, held, &report->train, err);
    double *y = status == PL_OK ? PL_NEW_ARRAY(double, t->outputs) : NULL;
    if (status != PL_OK || !y) {
        return status != PL_OK ? status : pl_fail_memory(err, "the learned model");
    }

    // errors on the held-out samples, for the report and for the bounds
    double square = 0;
    int count = 0;
    for (int64_t s = 0; s < d->count; ++s) {
        if (held[s] || report->train.held_count == 0) {
            pl_network_evaluate(n, data.x + s * t->inputs, y, NULL);
            const double e = part_error(part, y, t->y + s * t->outputs, t->outputs, l);
            square += e * e;
            report->largest = fmax(report->largest, e);
            ++count;
            if (held[s]) {
                part_residuals(part, y, t->y + s * t->outputs, t->outputs, l,
                               l->residual + s * pl_learned_columns(l));
            }
        }
    }

    pl_free(y);
    report->fitted = true;
    report->output_count = t->outputs;
    report->weight_count = pl_network_weight_count(n);
    report->rms = count ? sqrt(square / count) : NAN;
    l->error_rms[part] = report->rms;
    l->error_largest[part] = report->largest;

    return PL_OK;
}

// ---- the region: box, spacing of neighbours
static int spacing_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fit_sort(double *x, int n)
{
    // shell sort: base has no sort, and the list is short
    for (int gap = n / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < n; ++i) {
            const double v = x[i];
            int j = i;
            for (; j >= gap && spacing_compare(&x[j - gap], &v) > 0; j -= gap) {
                x[j] = x[j - gap];
            }
            x[j] = v;
        }
    }
}

pl_status pl_learned_region(pl_learned *l, const pl_dataset *d, pl_error *err)
{
    pl_free(l->sample);
    pl_free(l->residual);
    pl_free(l->low);
    pl_free(l->high);
    l->width = 0;
    const int64_t C = d->about.info.command_count, n = d->count, M = 3 * (int64_t)d->about.info.marker_count,
                  Q = pl_learned_columns(l);
    l->sample_count = d->count;
    l->missing = d->planned > d->count + d->failed ? d->planned - d->count - d->failed : 0;
    l->sample = PL_NEW_ARRAY(double, n *C);
    l->residual = PL_NEW_ARRAY(double, n *Q);
    l->low = PL_NEW_ARRAY(double, C);
    l->high = PL_NEW_ARRAY(double, C);
    double *gap = PL_NEW_ARRAY(double, n);
    if (!l->sample || !l->residual || !l->low || !l->high || !gap) {
        pl_free(gap);
        return pl_fail_memory(err, "the learned model");
    }

    // box of the commands
    memcpy(l->sample, d->command, (size_t)(n * C) * sizeof *l->sample);
    for (int64_t c = 0; c < C; ++c) {
        l->low[c] = INFINITY;
        l->high[c] = -INFINITY;
        for (int64_t s = 0; s < n; ++s) {
            l->low[c] = fmin(l->low[c], d->command[s * C + c]);
            l->high[c] = fmax(l->high[c], d->command[s * C + c]);
        }
    }

    // distances to the nearest neighbour of at most 300 samples
    const int64_t stride = n / 300 + 1;
    int count = 0;
    for (int64_t i = 0; i < n * Q; ++i) {
        l->residual[i] = NAN;
    }

    for (int64_t s = 0; s < n; s += stride) {
        double least = INFINITY;
        for (int64_t t = 0; t < n; ++t) {
            double sum = 0;
            for (int64_t c = 0; c < C; ++c) {
                const double w = l->high[c] > l->low[c] ? l->high[c] - l->low[c] : 1;
                sum += pow((d->command[s * C + c] - d->command[t * C + c]) / w, 2);
            }

            least = t != s && sum < least ? sum : least;
        }

        gap[count++] = sqrt(least);
    }

    fit_sort(gap, count);

    // 95 % of the samples have a neighbour at least this near
    l->spacing = fmax(gap[(int)(0.95 * (count - 1))], 1e-9);

    // width: largest extent of the first marker's positions
    for (int i = 0; i < 3 && M > 0; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t s = 0; s < n; ++s) {
            low = fmin(low, d->marker[s * M + i]);
            high = fmax(high, d->marker[s * M + i]);
        }

        l->width = fmax(l->width, high - low);
    }

    pl_free(gap);

    return PL_OK;
}

// What of the data set every part needs.
static pl_status fit_start(pl_learned *l, const pl_dataset *d, pl_error *err)
{
    const pl_model_info *i = &d->about.info;
    pl_status status = pl_about_copy(i, &l->about, err);

    l->known = PL_NEW_ARRAY(uint8_t, i->actuator_count);
    l->framed = PL_NEW_ARRAY(uint8_t, i->marker_count);
    l->robot_file = d->robot_file ? pl_strdup(d->robot_file) : NULL;
    l->mesh_size = d->mesh_size;
    l->mesh_order = d->mesh_order;
    l->robot_print = d->robot_print;
    if (status == PL_OK && (!l->known || !l->framed || (d->robot_file && !l->robot_file))) {
        status = pl_fail_memory(err, "the learned model");
    }

    // markers with a frame in every sample
    for (int64_t m = 0; status == PL_OK && m < i->marker_count; ++m) {
        l->framed[m] = 1;
        for (int64_t s = 0; s < d->count; ++s) {
            l->framed[m] = l->framed[m] && isfinite(d->rotation[(s * i->marker_count + m) * 9]);
        }
    }

    return status == PL_OK ? pl_learned_region(l, d, err) : status;
}

// Enough samples, commands and markers, and markers that move.
static pl_status fit_check(const pl_dataset *d, const pl_learned_options *o, pl_error *err)
{
    const pl_model_info *i = &d->about.info;
    if (d->count < 10) {
        return pl_fail(err, PL_BAD_INPUT, "learn: %d solved samples, at least 10 are needed", d->count);
    }
    if (i->command_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "learn: the samples have no commands");
    }
    if (i->marker_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "learn: the samples have no markers");
    }
    if (o->mode_count < 1 || o->mode_count > 200) {
        return pl_fail(err, PL_BAD_INPUT, "learn: %d modes, must lie between 1 and 200", o->mode_count);
    }

    const pl_learn_data data = {.count = d->count, .y = d->marker};
    if (pl_learn_constant_outputs(&data, 3 * i->marker_count) == 3 * i->marker_count) {
        return pl_fail(err, PL_BAD_INPUT, "learn: the markers do not move in the samples: nothing to learn");
    }

    return PL_OK;
}

// On failure nothing is returned; an interruption keeps the parts trained so far.
pl_status pl_learned_fit(const pl_dataset *d, const pl_learned_options *o, pl_learned **out,
                         pl_learned_report *report, pl_error *err)
{
    *out = NULL;
    *report = (pl_learned_report){0};
    pl_status status = fit_check(d, o, err);
    if (status != PL_OK) {
        return status;
    }

    const pl_model_info *i = &d->about.info;
    pl_learned *l = PL_NEW(pl_learned);
    bool *held = PL_NEW_ARRAY(bool, d->count);
    status = l && held ? fit_start(l, d, err) : pl_fail_memory(err, "the learned model");

    for (int p = 0; status == PL_OK && p < PL_LEARN_PART_COUNT && !report->stopped; ++p) {
        if (!(o->parts >> p & 1)) {
            continue;
        }

        // the table of the part; parts without data are left out
        fit_table t = {0};
        double *x = NULL;
        bool room = true, wanted = true;

        switch (p) {
        case PL_LEARN_POSITION:
            room = table_position(&t, d);
            break;
        case PL_LEARN_ROTATION:
            wanted = false;
            for (int m = 0; m < i->marker_count; ++m) {
                wanted = wanted || l->framed[m];
            }
            room = !wanted || table_rotation(&t, d, l->framed);
            break;
        case PL_LEARN_SENSOR:
            wanted = i->sensor_count > 0;
            room = !wanted || table_plain(&t, d, d->sensor, d->d_sensor, i->sensor_count);
            break;
        case PL_LEARN_ACTUATOR:
            wanted = i->actuator_count > 0;
            room = !wanted || table_actuator(&t, d, l->known);
            break;
        case PL_LEARN_ENERGY:
            for (int s = 0; s < d->count; ++s) {
                wanted = wanted && isfinite(d->energy[s]);
            }
            room = !wanted || table_plain(&t, d, d->energy, d->d_energy, 1);
            break;
        case PL_LEARN_SHAPE:
            wanted = d->point_count > 0;
            status = wanted ? fit_modes(l, d, o, &t, &report->mode_error, err) : PL_OK;
            report->mode_count = l->mode_count;
            break;
        case PL_LEARN_JACOBIAN:
            wanted = d->d_marker != NULL;
            room = !wanted || table_slopes(&t, d);
            break;
        default:
            room = table_inverse(&t, d, &x);
            break;
        }

        // train
        status = status == PL_OK && !room ? pl_fail_memory(err, "the samples") : status;
        if (status == PL_OK && wanted) {
            status = fit_part(l, d, o, p, &t, held, &report->part[p], err);
            report->stopped = report->part[p].train.outcome == PL_TRAIN_STOPPED;
        }

        table_clear(&t);
        pl_free(x);
    }

    report->width = l ? l->width : 0;
    status = status == PL_OK ? pl_learned_finish(l, err) : status;
    pl_free(held);
    if (status != PL_OK) {
        pl_learned_destroy(l);
        return status;
    }

    *out = l;

    return PL_OK;
}

// ---- where to sample next: where two small networks with different seeds
// differ most, far from other samples
// Proposes `count` commands for further samples.
pl_status pl_learned_propose(const pl_dataset *d, int count, uint64_t seed, double *command, pl_error *err)
{
    enum { CANDIDATES = 2000 };
    const int64_t C = d->about.info.command_count, M = 3 * (int64_t)d->about.info.marker_count;
    pl_learned *l[2] = {NULL, NULL};
    pl_status status = PL_OK;

    // two networks fitted to the same samples
    for (int k = 0; k < 2 && status == PL_OK; ++k) {
        pl_learned_options o = pl_learned_options_default();
        pl_learned_report report;
        o.parts = 1u << PL_LEARN_POSITION;
        o.network.width[0] = o.network.width[1] = 12;
        o.network.seed = seed + (uint64_t)k;
        o.train.seed = seed + 7 + (uint64_t)k;
        o.train.epoch_limit = 30;
        status = pl_learned_fit(d, &o, &l[k], &report, err);
    }

    double *z = PL_NEW_ARRAY(double, CANDIDATES *(C + 1) + 2 * M), *score = z ? z + CANDIDATES * C : NULL;
    if (status == PL_OK && !z) {
        status = pl_fail_memory(err, "the samples");
    }

    // their difference at random candidates
    if (status == PL_OK) {
        double *a = score + CANDIDATES, *b = a + M;
        pl_random random;
        pl_random_seed(&random, seed);

        for (int64_t k = 0; k < CANDIDATES; ++k) {
            double square = 0;
            for (int64_t c = 0; c < C; ++c) {
                z[k * C + c] = pl_random_uniform(&random, l[0]->low[c], l[0]->high[c]);
            }
            pl_network_evaluate(l[0]->network[PL_LEARN_POSITION], z + k * C, a, NULL);
            pl_network_evaluate(l[1]->network[PL_LEARN_POSITION], z + k * C, b, NULL);
            for (int64_t i = 0; i < M; ++i) {
                square += (a[i] - b[i]) * (a[i] - b[i]);
            }
            score[k] = sqrt(square);
        }

        // largest product of difference and distance from all samples and earlier proposals
        for (int p = 0; p < count; ++p) {
            int64_t best = 0;
            double most = -1;

            for (int64_t k = 0; k < CANDIDATES; ++k) {
                double least = INFINITY;
                for (int64_t s = 0; s < d->count + p; ++s) {
                    const double *other = s < d->count ? d->command + s * C : command + (s - d->count) * C;
                    double sum = 0;
                    for (int64_t c = 0; c < C; ++c) {
                        const double w = fmax(l[0]->high[c] - l[0]->low[c], 1e-300);
                        sum += pow((z[k * C + c] - other[c]) / w, 2);
                    }

                    least = fmin(least, sum);
                }

                const double value = score[k] * sqrt(least);
                if (value > most) {
                    most = value;
                    best = k;
                }
            }

            memcpy(command + p * C, z + best * C, (size_t)C * sizeof *command);
        }
    }

    pl_free(z);
    pl_learned_destroy(l[0]);
    pl_learned_destroy(l[1]);

    return status;
}
