// Models with memory: a recurrent network fitted to measured sequences, beside networks without memory fitted
// to the same rows. Runs held out take no part in the training, not even in the decision when to end it.
#include <stdio.h>
#include "learned/learned.h"

#define HISTORY_LAST 3     // commands side by side in the network that sees the last ones
#define HISTORY_NEURONS 12 // of the networks without memory

// Pieces of 30 steps, of which 5 do not count: the memory has to fill first.
pl_history_options pl_history_options_default(void)
{
    pl_history_options o = {.cell_count = 16, .piece = 30, .burn = 5, .held_share = 0.3};
    o.train = pl_train_options_default();
    o.train.trainer = PL_ADAM;
    o.train.epoch_limit = 150;
    o.train.patience = 40;
    o.train.rate = 0.01;
    o.train.decay = 1e-3;
    o.train.held_share = 0.2;

    return o;
}

const pl_lstm *pl_learned_history(const pl_learned *learned)
{
    return learned->history;
}

// The sequences and the split.
typedef struct history {
    const pl_sequences *q;
    const pl_history_options *o;
    int64_t C, M; // commands, 3 markers
    bool *held;   // per row
} history;

// ---- which rows are held out
// Runs named by the user, else every so many; with fewer than three runs the end of each (by_time).
static pl_status history_split(history *h, pl_history_report *report, pl_error *err)
{
    const pl_sequences *q = h->q;
    const pl_history_options *o = h->o;

    report->run_count = q->count;
    report->by_time = !o->held && q->count < 3;

    // names must exist
    for (int k = 0; k < o->held_count && o->held; ++k) {
        int found = 0;
        for (int r = 0; r < q->count; ++r) {
            found += strcmp(q->name[r], o->held[k]) == 0;
        }
        if (!found) {
            return pl_fail(err, PL_BAD_INPUT, "learn: there is no run '%s' to hold out", o->held[k]);
        }
    }

    for (int r = 0; r < q->count; ++r) {
        const int n = q->start[r + 1] - q->start[r];
        // every so many of them, spread over the time of measuring
        bool out = !o->held && floor((r + 1) * o->held_share + 1e-9) > floor(r * o->held_share + 1e-9);
        for (int k = 0; k < o->held_count && o->held; ++k) {
            out = out || strcmp(q->name[r], o->held[k]) == 0;
        }
        const int from = report->by_time ? n - (int)(o->held_share * n + 0.5) : out ? 0 : n;

        for (int t = 0; t < n; ++t) {
            h->held[q->start[r] + t] = t >= from;
            report->held_count += t >= from && t >= o->burn;
            report->train_count += t < from;
        }

        report->held_run_count += from < n;
    }

    if (report->held_count < 1) {
        return pl_fail(err, PL_BAD_INPUT,
                       "learn: no rows are held out, so that the error would not be known");
    }

    if (report->train_count < 10) {
        return pl_fail(err, PL_BAD_INPUT, "learn: %d rows to train on, at least 10 are needed",
                       report->train_count);
    }

    return PL_OK;
}

// ---- without memory: the commands of the last `past` steps of the run side by side
// The first steps of a run repeat its first command.
static void history_inputs(const history *h, int run, int row, int past, double *x)
{
    const int64_t C = h->C;
    for (int k = 0; k < past; ++k) {
        const int first = h->q->start[run], from = row - k > first ? row - k : first;
        memcpy(x + k * C, h->q->data.command + from * C, (size_t)C * sizeof *x);
    }
}

// Adds a held-out row to the errors of one kind of model; `residual` (may be NULL) gets the distances in mm.
static void history_score(const history *h, int run, int row, const double *predicted, pl_history_kind kind,
                          double *residual, pl_history_report *report)
{
    if (!h->held[row] || row - h->q->start[run] < h->o->burn) {
        return;
    }

    double most = 0;
    for (int64_t m = 0; m < h->M / 3; ++m) {
        double sum = 0;
        for (int64_t i = 3 * m; i < 3 * m + 3; ++i) {
            const double d = predicted[i] - h->q->data.marker[row * h->M + i];
            sum += d * d;
        }

        report->rms[kind][m] += sum;
        most = fmax(most, sqrt(sum));
        if (residual) {
            residual[m] = sqrt(sum);
        }
    }

    report->largest[kind] = fmax(report->largest[kind], most);
}

// A network of the last `past` commands, for comparison; *out (may be NULL) owns it.
static pl_status history_plain(const history *h, int past, pl_history_kind kind, pl_network **out,
                               pl_history_report *report, pl_error *err)
{
    const pl_sequences *q = h->q;
    const int64_t in = h->C * past;
    double *x = PL_NEW_ARRAY(double, report->train_count *in + in + h->M),
           *y = PL_NEW_ARRAY(double, report->train_count * h->M);
    int *group = PL_NEW_ARRAY(int, h->M);
    pl_network *n = NULL;
    pl_status status = x && y && group ? PL_OK : pl_fail_memory(err, "the network");
    int count = 0;

    // rows of training
    for (int r = 0; status == PL_OK && r < q->count; ++r) {
        for (int t = q->start[r]; t < q->start[r + 1]; ++t) {
            if (!h->held[t]) {
                history_inputs(h, r, t, past, x + count * in);
                memcpy(y + count++ * h->M, q->data.marker + t * h->M, (size_t)h->M * sizeof *y);
            }
        }
    }

    const pl_network_def def = {.input_count = (int)in,
                                .output_count = (int)h->M,
                                .layer_count = 1,
                                .width = {HISTORY_NEURONS},
                                .skip = true,
                                .seed = h->o->train.seed};
    const pl_learn_data data = {.count = count, .x = x, .y = y, .group = group};
    pl_train_options o = pl_train_options_default();
    pl_train_report trained;
    o.decay = 1e-3; // few rows and much scatter
    o.epoch_limit = 40;
    o.seed = h->o->train.seed;
    o.progress = h->o->train.progress;
    status = status == PL_OK ? pl_network_create(&def, &n, err) : status;
    status = status == PL_OK ? pl_network_train(n, &data, &o, NULL, &trained, err) : status;
    report->stopped = report->stopped || (status == PL_OK && trained.outcome == PL_TRAIN_STOPPED);

    // errors on the held-out rows
    for (int r = 0; status == PL_OK && r < q->count; ++r) {
        for (int t = q->start[r]; t < q->start[r + 1]; ++t) {
            double *at = x + report->train_count * in;
            history_inputs(h, r, t, past, at);
            pl_network_evaluate(n, at, at + in, NULL);
            history_score(h, r, t, at + in, kind, NULL, report);
        }
    }

    pl_free(x);
    pl_free(y);
    pl_free(group);
    if (status == PL_OK && out) {
        *out = n;
    } else {
        pl_network_destroy(n);
    }

    return status;
}

// ---- with memory
// Runs are cut into pieces: sequences of equal length train faster, and their order can be shuffled.
static pl_status history_train(const history *h, pl_lstm *lstm, pl_history_report *report, pl_error *err)
{
    const pl_sequences *q = h->q;
    const pl_history_options *o = h->o;
    double *x = PL_NEW_ARRAY(double, report->train_count * h->C),
           *y = PL_NEW_ARRAY(double, report->train_count * h->M);
    int *start = PL_NEW_ARRAY(int, report->train_count + 1);

    if (!x || !y || !start) {
        pl_free(x);
        pl_free(y);
        pl_free(start);
        return pl_fail_memory(err, "the recurrent network");
    }

    // rows that are held out end a piece
    int count = 0, pieces = 0;
    for (int r = 0; r < q->count; ++r) {
        for (int t = q->start[r], length = 0; t < q->start[r + 1]; ++t) {
            if (h->held[t]) {
                continue; // whole, or the end of the run: no piece spans it
            }
            if (length++ % o->piece == 0) {
                start[pieces++] = count;
            }
            memcpy(x + count * h->C, q->data.command + t * h->C, (size_t)h->C * sizeof *x);
            memcpy(y + count++ * h->M, q->data.marker + t * h->M, (size_t)h->M * sizeof *y);
        }
    }

    start[pieces] = count;
    report->piece_count = pieces;
    const pl_history data = {.sequence_count = pieces, .start = start, .x = x, .y = y, .burn = o->burn};
    pl_status status =
        pieces < 4 ? pl_fail(err, PL_BAD_INPUT,
                             "learn: %d pieces of %d steps to train on, at least 4 are needed (%d rows)",
                             pieces, o->piece, count)
                   : pl_lstm_train(lstm, &data, &o->train, NULL, &report->train, err);
    report->stopped = report->stopped || (status == PL_OK && report->train.outcome == PL_TRAIN_STOPPED);
    pl_free(x);
    pl_free(y);
    pl_free(start);

    return status;
}

// Sizes and shares; every failure says what was found.
static pl_status history_check(const pl_sequences *q, const pl_history_options *o, pl_error *err)
{
    const pl_model_info *i = &q->data.about.info;
    if (i->command_count < 1 || i->marker_count < 1 || i->marker_count > PL_HISTORY_MARKERS) {
        return pl_fail(err, PL_BAD_INPUT,
                       "learn: %d commands and %d markers, expected at least 1, at most %d", i->command_count,
                       i->marker_count, PL_HISTORY_MARKERS);
    }

    if (o->piece < 2 || o->burn < 0 || o->burn >= o->piece) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "learn: pieces of %d steps of which %d do not count; a piece needs at least 2 and more "
            "than those",
            o->piece, o->burn);
    }

    if (!(o->held_share > 0 && o->held_share <= 0.9)) {
        return pl_fail(err, PL_BAD_INPUT, "learn: held_share is %g, must lie above 0 and at most at 0.9",
                       o->held_share);
    }

    const pl_learn_data data = {.count = q->data.count, .y = q->data.marker};
    if (pl_learn_constant_outputs(&data, 3 * i->marker_count) == 3 * i->marker_count) {
        return pl_fail(err, PL_BAD_INPUT, "learn: the markers do not move in the rows: nothing to learn");
    }

    return PL_OK;
}

// Standard deviation of the held-out positions, and sums of squares to root mean squares.
static void history_spread(const history *h, pl_history_report *report)
{
    for (int64_t i = 0; i < h->M; ++i) {
        double sum = 0, square = 0;
        int n = 0;

        for (int r = 0; r < h->q->count; ++r) {
            for (int t = h->q->start[r] + h->o->burn; t < h->q->start[r + 1]; ++t) {
                const double v = h->q->data.marker[t * h->M + i];
                sum += h->held[t] ? v : 0;
                square += h->held[t] ? v * v : 0;
                n += h->held[t];
            }
        }

        report->spread[i / 3] += fmax(square / n - sum * sum / n / n, 0);
    }

    for (int64_t m = 0; m < h->M / 3; ++m) {
        report->spread[m] = sqrt(report->spread[m]);
        for (int k = 0; k < PL_HISTORY_KIND_COUNT; ++k) {
            report->all[k] += report->rms[k][m];
            report->rms[k][m] = sqrt(report->rms[k][m] / report->held_count);
        }
    }

    for (int k = 0; k < PL_HISTORY_KIND_COUNT; ++k) {
        report->all[k] = sqrt(report->all[k] / report->held_count / (double)(h->M / 3));
    }
}

// What the model knows of itself, and the recurrent network run over all runs: errors at the rows held out.
static pl_status history_finish(const history *h, pl_learned *l, pl_history_report *report, pl_error *err)
{
    const pl_sequences *q = h->q;
    const pl_model_info *i = &q->data.about.info;
    pl_status status = pl_about_copy(i, &l->about, err);

    l->known = PL_NEW_ARRAY(uint8_t, i->actuator_count);
    l->framed = PL_NEW_ARRAY(uint8_t, i->marker_count);
    l->past = PL_NEW_ARRAY(double, 2 * h->o->cell_count);
    l->history_burn = h->o->burn;
    double *p = PL_NEW_ARRAY(double, h->M);
    if (status == PL_OK && (!l->known || !l->framed || !l->past || !p)) {
        status = pl_fail_memory(err, "the learned model");
    }
    status = status == PL_OK ? pl_learned_region(l, &q->data, err) : status;

    // every run from an empty memory, as it will be used
    for (int r = 0; status == PL_OK && r < q->count; ++r) {
        pl_lstm_reset(l->history);
        for (int t = q->start[r]; t < q->start[r + 1]; ++t) {
            pl_lstm_step(l->history, q->data.command + t * h->C, p, NULL);
            history_score(h, r, t, p, PL_HISTORY_MEMORY, l->residual + t * (int64_t)pl_learned_columns(l),
                          report);
        }
    }

    pl_free(p);
    if (status == PL_OK) {
        history_spread(h, report);
        l->error_rms[PL_LEARN_POSITION] = report->all[PL_HISTORY_MEMORY];
        l->error_largest[PL_LEARN_POSITION] = report->largest[PL_HISTORY_MEMORY];
        l->compared_rms = report->all[PL_HISTORY_PRESENT];
        report->width = l->width;
        report->weight_count = pl_lstm_weight_count(l->history);
        status = pl_learned_finish(l, err);
    }

    return status;
}

// Splits, trains networks without memory for comparison, then the recurrent one.
pl_status pl_learned_fit_history(const pl_sequences *q, const pl_history_options *o, pl_learned **out,
                                 pl_history_report *report, pl_error *err)
{
    *out = NULL;
    *report = (pl_history_report){0};
    pl_status status = history_check(q, o, err);
    if (status != PL_OK) {
        return status;
    }

    const pl_model_info *i = &q->data.about.info;
    history h = {.q = q, .o = o, .C = i->command_count, .M = 3 * (int64_t)i->marker_count};
    h.held = PL_NEW_ARRAY(bool, q->data.count);
    pl_learned *l = PL_NEW(pl_learned);
    const pl_lstm_def def = {.input_count = i->command_count,
                             .output_count = (int)h.M,
                             .cell_count = o->cell_count,
                             .seed = o->train.seed};

    // rows held out are chosen first: neither network sees them
    status = h.held && l ? history_split(&h, report, err) : pl_fail_memory(err, "the learned model");
    status = status == PL_OK ? pl_lstm_create(&def, &l->history, err) : status;
    if (status == PL_OK) {
        status = history_plain(&h, 1, PL_HISTORY_PRESENT, &l->network[PL_LEARN_POSITION], report, err);
    }
    status = status == PL_OK ? history_plain(&h, HISTORY_LAST, PL_HISTORY_THREE, NULL, report, err) : status;
    status = status == PL_OK ? history_train(&h, l->history, report, err) : status;
    status = status == PL_OK ? history_finish(&h, l, report, err) : status;
    pl_free(h.held);
    if (status != PL_OK) {
        pl_learned_destroy(l);
        return status;
    }

    *out = l;

    return PL_OK;
}
