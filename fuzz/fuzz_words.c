// What is written as one word on a command line, in a cell or in a robot file: numbers with units, rates,
// axes of studies.
#include "fuzz.h"
#include "pliant/analysis.h"
#include "pliant/text.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    return 0;
}

// The first byte chooses the dimension.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }

    pl_error err = {0};
    char *text = fuzz_text(data + 1, size - 1);
    const pl_dimension dimension = (pl_dimension)(data[0] % PL_DIM_COUNT);
    double value = 0;
    (void)pl_quantity_parse(text, dimension, &value, &err);
    (void)pl_rate_parse(text, dimension, &value, &err);

    pl_study_axis axis = {0};
    if (pl_study_axis_parse(text, &axis, &err) == PL_OK) {
        pl_study_axis_clear(&axis);
    }
    free(text);

    return 0;
}
