// A measured trunk with strong hysteresis (PLIANT_DATA/trunk): networks that see only the present inputs,
// that see the last three, and one with memory (LSTM). Whole runs are left out of the training and predicted;
// the error is that of the tip disc. Skipped where the data is absent.
#include "base/base.h"
#include "learn/learn.h"
#include "validate.h"

enum { U = 6, Y = 9, ROWS = 4000, RUNS = 40, PIECE = 30, BURN = 5 };
static double u[ROWS * U], y[ROWS * Y];
static char run_name[RUNS][32];
static int start[RUNS + 1], runs, rows;

static bool trunk_read(void)
{
    const char *folder = getenv("PLIANT_DATA");
    char path[600], line[1000];

    snprintf(path, sizeof path, "%s/trunk/trunk_static.csv", folder ? folder : "../shared/data");
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file)) {
        printf("SKIP: %s is absent\n", path);
        return false;
    }

    while (rows < ROWS && fgets(line, sizeof line, file)) {
        char *at = strchr(line, ',');
        if (!at) {
            continue;
        }
        *at++ = '\0';
        if (runs == 0 || strcmp(run_name[runs - 1], line) != 0) {
            start[runs] = rows;
            snprintf(run_name[runs++], sizeof run_name[0], "%.31s", line);
        }
        for (int k = 0; k < U + Y; ++k) {
            *(k < U ? u + U * rows + k : y + Y * rows + k - U) = strtod(at, &at);
            at += *at == ',';
        }
        ++rows;
    }

    start[runs] = rows;
    fclose(file);

    return true;
}

// Inputs of `past` steps side by side; before the first step of a run its first input.
static void inputs(int run, int t, int past, double *x)
{
    for (int k = 0; k < past; ++k) {
        const int from = start[run] + (t - k > 0 ? t - k : 0);
        memcpy(x + U * k, u + U * from, U * sizeof *x);
    }
}

static double tip(const double *p, int row)
{
    double sum = 0;
    for (int i = 6; i < 9; ++i) {
        sum += pow(p[i] - y[Y * row + i], 2);
    }
    return sum;
}

static double memoryless(int left_out, int past)
{
    double *x = calloc((size_t)rows * (size_t)(U * past), sizeof *x),
           *t = calloc((size_t)rows * Y, sizeof *t);
    int count = 0, tested = 0;

    for (int r = 0; r < runs; ++r) {
        for (int k = 0;
             r != left_out && run_name[r][0] == run_name[left_out][0] && k < start[r + 1] - start[r]; ++k) {
            inputs(r, k, past, x + (size_t)count * (size_t)(U * past));
            memcpy(t + Y * count++, y + Y * (start[r] + k), Y * sizeof *t);
        }
    }

    pl_error err = {0};
    pl_network *n = NULL;
    const int group[Y] = {0};
    const pl_network_def def = {
        .input_count = U * past, .output_count = Y, .layer_count = 1, .width = {12}, .skip = true, .seed = 3};
    const pl_learn_data data = {.count = count, .x = x, .y = t, .group = group};
    pl_train_options o = pl_train_options_default();
    pl_train_report report;
    o.decay = 1e-3;
    o.epoch_limit = 40;
    double sum = 0, p[Y];
    if (pl_network_create(&def, &n, &err) != PL_OK ||
        pl_network_train(n, &data, &o, NULL, &report, &err) != PL_OK) {
        printf("%s\n", err.text);
        exit(1);
    }

    for (int k = BURN; k < start[left_out + 1] - start[left_out]; ++k, ++tested) {
        inputs(left_out, k, past, x);
        pl_network_evaluate(n, x, p, NULL);
        sum += tip(p, start[left_out] + k);
    }

    pl_network_destroy(n);
    free(x);
    free(t);

    return sqrt(sum / tested);
}

static double remembering(int left_out)
{
    static double x[ROWS * U], t[ROWS * Y];
    int piece[ROWS / PIECE + RUNS], count = 0, pieces = 0, tested = 0;

    for (int r = 0; r < runs; ++r) {
        if (r == left_out || run_name[r][0] != run_name[left_out][0]) {
            continue;
        }
        for (int k = start[r]; k < start[r + 1]; ++k) {
            if ((k - start[r]) % PIECE == 0) {
                piece[pieces++] = count;
            }
            memcpy(x + U * count, u + U * k, U * sizeof *x);
            memcpy(t + Y * count++, y + Y * k, Y * sizeof *t);
        }
    }

    piece[pieces] = count;
    pl_error err = {0};
    pl_lstm *m = NULL;
    const pl_lstm_def def = {.input_count = U, .output_count = Y, .cell_count = 12, .seed = 5};
    const pl_history data = {.sequence_count = pieces, .start = piece, .x = x, .y = t, .burn = BURN};
    pl_train_options o = pl_train_options_default();
    pl_train_report report;
    o.epoch_limit = 120;
    o.rate = 0.01;
    o.decay = 1e-4;
    o.patience = 30;
    double sum = 0, p[Y];
    if (pl_lstm_create(&def, &m, &err) != PL_OK ||
        pl_lstm_train(m, &data, &o, NULL, &report, &err) != PL_OK) {
        printf("%s\n", err.text);
        exit(1);
    }

    pl_lstm_reset(m);
    for (int k = 0; k < start[left_out + 1] - start[left_out]; ++k) {
        pl_lstm_step(m, u + U * (start[left_out] + k), p, NULL);
        if (k >= BURN) {
            sum += tip(p, start[left_out] + k);
            ++tested;
        }
    }

    pl_lstm_destroy(m);

    return sqrt(sum / tested);
}

int main(void)
{
    if (!trunk_read()) {
        return 0;
    }
    printf("measured trunk: %d poses in %d runs; rms error of the tip disc in mm, the run left out of the "
           "training\n",
           rows, runs);
    printf("%-10s %10s %12s %12s %12s\n", "run", "spread", "memoryless", "last three", "lstm");
    double total[3] = {0}, spread_all = 0;
    int count = 0;
    for (int r = 0; r < runs; r += 2) {
        double mean[3] = {0}, spread = 0;
        const int n = start[r + 1] - start[r];
        for (int k = start[r]; k < start[r + 1]; ++k) {
            for (int i = 0; i < 3; ++i) {
                mean[i] += y[Y * k + 6 + i] / n;
            }
        }
        for (int k = start[r]; k < start[r + 1]; ++k) {
            for (int i = 0; i < 3; ++i) {
                spread += pow(y[Y * k + 6 + i] - mean[i], 2) / n;
            }
        }
        const double e[3] = {memoryless(r, 1), memoryless(r, 3), remembering(r)};
        printf("%-10s %10.1f %12.1f %12.1f %12.1f\n", run_name[r], sqrt(spread), e[0], e[1], e[2]);
        fflush(stdout);
        spread_all += sqrt(spread);
        for (int i = 0; i < 3; ++i) {
            total[i] += e[i];
        }
        ++count;
    }

    printf("%-10s %10.1f %12.1f %12.1f %12.1f\n", "mean", spread_all / count, total[0] / count,
           total[1] / count, total[2] / count);
    validate_table t = {0};
    validate_head("memory");
    printf("%-46s %14s %14.3g", "lstm over memoryless, mean error", "below 1", total[2] / total[0]);
    validate_verdict(&t, total[2] < total[0]);

    return validate_end(&t);
}
