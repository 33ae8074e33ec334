// Measurements: tensile tests with the fit that follows, syringe tests, recordings in time.
#include "fuzz.h"
#include "pliant/calib.h"
#include "dataset/dataset.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_error err = {0};
    pl_tensile tensile = {0};

    if (pl_tensile_parse((const char *)data, size, "test", &tensile, &err) == PL_OK) {
        pl_tensile_fit fit;
        (void)pl_tensile_fit_model(&tensile, PL_NEO_HOOKEAN, 0, &fit, &err);
        pl_tensile_clear(&tensile);
    }

    pl_syringe syringe = {0};
    if (pl_syringe_parse((const char *)data, size, "test", &syringe, &err) == PL_OK) {
        pl_syringe_clear(&syringe);
    }

    pl_recording *recording = NULL;
    if (pl_recording_parse((const char *)data, size, "test", &recording, &err) == PL_OK) {
        pl_recording_destroy(recording);
    }

    return 0;
}
