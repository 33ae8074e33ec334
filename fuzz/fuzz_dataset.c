// Data sets and logs of runs in SQLite: raw, or small changes of valid ones.
#include <stdbool.h>
#include "fuzz.h"
#include "pliant/dataset.h"
#include "pliant/document.h"
#include "pliant/result.h"

static const char *const arm = "pliant: 1\nname: arm\nmodel:\n  kind: constant_curvature\n"
                               "  sections:\n    - {name: lower, length: 103, diameter: [100, 90]}\n"
                               "  tendons:\n    - {name: l1, angle: 0 deg, drive: length, range: [85, 135]}\n"
                               "markers:\n  tip: {at: 103}\n";
static const pl_dataset_def def = {.settings = "levels 3", .robot_file = "arm.yaml", .jacobians = true};
static pl_model *model;
static fuzz_template samples, ticks;

static void put_samples(const char *path)
{
    pl_error err = {0};
    pl_dataset_file *file = NULL;
    const double command[3] = {90, 100, 110};
    if (pl_dataset_create(path, model, &def, &file, &err) != PL_OK ||
        pl_dataset_plan(file, 0, command, 3, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }

    for (int i = 0; i < 3; ++i) {
        pl_solve_report report;
        pl_model_derivative by;
        pl_jacobian_report jacobian;
        if (pl_model_fk(model, command + i, &report, &err) != PL_OK ||
            pl_model_differentiate(model, PL_PART_MARKER | PL_PART_ROTATION | PL_PART_MEASURE, 0, &by,
                                   &jacobian, &err) != PL_OK) {
            abort();
        }
        const pl_sample sample = {.index = i,
                                  .command = command + i,
                                  .answer = pl_model_get_answer(model),
                                  .fk = &report,
                                  .derivative = &by};
        if (pl_dataset_put(file, &sample, &err) != PL_OK) {
            fprintf(stderr, "%s\n", err.text);
            abort();
        }
    }
    pl_dataset_close(file);
}

static void put_ticks(const char *path)
{
    static const char *const column[] = {"t [s]", "l1 [mm]", "tip.x [mm]"};
    const double row[3] = {0.1, 90, -3};
    pl_error err = {0};
    pl_run_log *log = NULL;
    if (pl_run_log_open(path, column, 3, &log, &err) != PL_OK || pl_run_log_add(log, row, &err) != PL_OK ||
        pl_run_log_add(log, row, &err) != PL_OK || pl_run_log_close(log, &err) != PL_OK) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    pl_error err = {0};
    const char *path = fuzz_write("arm.yaml", arm, strlen(arm));
    if (pl_model_load_text(arm, strlen(arm), path, NULL, &model, NULL, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }

    put_samples(fuzz_path("samples.sqlite"));
    put_ticks(fuzz_path("ticks.sqlite"));
    samples = fuzz_read(fuzz_path("samples.sqlite"));
    ticks = fuzz_read(fuzz_path("ticks.sqlite"));

    return 0;
}

// What a damaged file left beside it must not serve the next one.
static void forget(const char *name)
{
    static const char *const beside[] = {"", "-journal", "-wal", "-shm"};
    for (int i = 0; i < 4; ++i) {
        char whole[60];
        snprintf(whole, sizeof whole, "%s%s", name, beside[i]);
        unlink(fuzz_path(whole));
    }
}

// As `learn` reads it, as `sample` goes on with it, and as a part of another.
static void try_samples(const char *path)
{
    pl_error err = {0};
    pl_dataset *data = NULL;
    if (pl_dataset_read(path, &data, &err) == PL_OK) {
        pl_dataset_destroy(data);
    }

    const char *const shard[] = {path};
    int copied;
    (void)!pl_dataset_merge(fuzz_path("joined.sqlite"), shard, 1, &copied, &err);
    forget("joined.sqlite");

    pl_dataset_file *file = NULL;
    double *command = NULL;
    char *done = NULL;
    int count;
    if (pl_dataset_create(path, model, &def, &file, &err) == PL_OK) {
        if (pl_dataset_read_plan(file, &command, &done, &count, &err) == PL_OK) {
            pl_file_free((char *)command);
            pl_file_free(done);
        }
        pl_dataset_close(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // the last byte chooses the file that is changed
    const bool log = size > 0 && data[size - 1] % 2;
    forget("fuzz.sqlite");
    const char *path = fuzz_change(log ? &ticks : &samples, "fuzz.sqlite", data, size);
    char keep[128];
    snprintf(keep, sizeof keep, "%s", path);
    if (!log) {
        try_samples(keep);
        return 0;
    }

    pl_error err = {0};
    char *csv = NULL;
    int64_t rows, total;
    if (pl_run_log_read(keep, 0, 100, &csv, &rows, &total, &err) == PL_OK) {
        if (rows < 0 || rows > 100 || total < rows || !memchr(csv, '\n', strlen(csv) + 1)) {
            abort();
        }
        pl_file_free(csv);
    }

    return 0;
}
