// Tables with the columns of a robot: commands, commands in time, measured positions, readings of sensors,
// sequences.
#include "fuzz.h"
#include "pliant/dataset.h"
#include "pliant/document.h"
#include "pliant/learned.h"
#include "pliant/text.h"

static const char *const trunk =
    "pliant: 1\nname: trunk\nmodel:\n  kind: constant_curvature\n"
    "  sections:\n    - {name: lower, length: 103, diameter: [100, 90]}\n"
    "  tendons:\n    - {name: l1, section: lower, angle: 0 deg, drive: length, range: [85, 135]}\n"
    "    - {name: l2, section: lower, angle: 120 deg, drive: length, range: [85, 135]}\n"
    "markers:\n  tip: {at: 103}\n";
static pl_model *model;

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    pl_error err = {0};
    if (pl_model_load_text(trunk, strlen(trunk), "trunk.yaml", NULL, &model, NULL, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const extra[] = {"temperature"};
    pl_error err = {0};
    const char *path = fuzz_write("table.csv", data, size);
    const pl_model_info info = pl_model_get_info(model);
    pl_measured measured = {0};
    char *fresh = NULL;

    for (int k = 0; k < 2; ++k) {
        if (pl_measured_read(path, &info, extra, k, &measured, &err) == PL_OK) {
            pl_measured_clear(&measured);
        }
    }
    if (pl_commands_read(path, &info, &measured, &fresh, &err) == PL_OK) {
        pl_measured_clear(&measured);
        pl_file_free(fresh);
    }
    if (pl_timed_commands_read(path, &info, &measured, &err) == PL_OK) {
        pl_measured_clear(&measured);
    }

    pl_readings readings = {0};
    if (pl_readings_read(path, model, &readings, &err) == PL_OK) {
        pl_readings_clear(&readings);
    }

    pl_sequences *sequences = NULL;
    if (pl_sequences_read(path, &sequences, &err) == PL_OK) {
        pl_sequences_destroy(sequences);
    }

    return 0;
}
