// Stored workspaces (SQLite): raw, or small changes of one that belongs to the model.
#include "fuzz.h"
#include "document/document.h"
#include "pliant/result.h"
#include "pliant/result.h"

static const char *const trunk =
    "pliant: 1\nname: trunk\nmodel:\n  kind: constant_curvature\n"
    "  sections:\n    - {name: lower, length: 103, diameter: [100, 90]}\n"
    "  tendons:\n    - {name: l1, section: lower, angle: 0 deg, drive: length, range: [85, 135]}\n"
    "markers:\n  tip: {at: 103}\n";
static pl_model *model;
static fuzz_template valid;

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    pl_error err = {0};
    pl_store *store = NULL;
    if (pl_reduced_load_text(trunk, strlen(trunk), "trunk.yaml", &model, NULL, &err) != PL_OK ||
        pl_store_open(fuzz_path("valid.sqlite"), model, "grid 3", &store, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }

    for (int i = 0; i < 3; ++i) {
        const double command[1] = {100 + i};
        pl_solve_report report;
        if (pl_model_fk(model, command, &report, &err) != PL_OK) {
            abort();
        }
        const pl_sample sample = {
            .index = i, .command = command, .answer = pl_model_get_answer(model), .fk = &report};
        if (pl_store_put(store, &sample, &err) != PL_OK) {
            abort();
        }
    }

    pl_store_close(store);
    valid = fuzz_read(fuzz_path("valid.sqlite"));

    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_error err = {0};
    pl_store *store = NULL;

    // what a damaged file left beside it must not serve the next one
    unlink(fuzz_path("fuzz.sqlite-journal"));
    unlink(fuzz_path("fuzz.sqlite-wal"));
    const char *path = fuzz_change(&valid, "fuzz.sqlite", data, size);
    if (pl_store_open(path, model, size % 2 ? "grid 3" : NULL, &store, &err) == PL_OK) {
        pl_store_samples samples = {0};
        (void)pl_store_next(store);
        if (pl_store_read(store, &samples, &err) == PL_OK) {
            pl_store_samples_clear(&samples);
        }
        pl_store_close(store);
    }

    return 0;
}
