// Task files.
#include "fuzz.h"
#include "pliant/result.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_error err = {0};
    pl_task_file *file = NULL;
    pl_findings *findings = pl_findings_create();

    if (pl_task_read(fuzz_write("task.yaml", data, size), &file, findings, &err) == PL_OK) {
        pl_task_file_destroy(file);
    }
    pl_findings_destroy(findings);

    return 0;
}
