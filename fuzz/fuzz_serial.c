// What a machine with Marlin's firmware answers on its serial line, to two lines of G-code.
#include "cli_marlin.c" // first: it asks for more than C17 of the system
#include "fuzz_cli.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int other;
    marlin m = {.fd = fuzz_line(data, size, &other)};
    for (int k = 0; k < 2 && !marlin_send(&m, "G1 X1.5 ; a move\nM400\n", 0.01); ++k) {
        if (m.used > sizeof m.buffer) {
            abort();
        }
    }
    if (!memchr(m.reason, '\0', sizeof m.reason)) {
        abort();
    }
    close(m.fd);
    close(other);

    return 0;
}
