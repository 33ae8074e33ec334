// An allocator that counts what is taken and given back, and fails at one call; for pl_memory_set.
#ifndef PL_TESTS_METER_H
#define PL_TESTS_METER_H

#include <stddef.h>
#include <stdlib.h>

typedef struct meter {
    long calls, live, fail_at; // fail_at: the call that returns NULL; 0: none
} meter;

static inline void *meter_hook(void *user, void *block, size_t bytes)
{
    meter *m = user;
    if (bytes == 0) {
        m->live -= block != NULL;
        free(block);
        return NULL;
    }

    m->calls++;
    if (m->calls == m->fail_at) {
        return NULL;
    }

    void *out = realloc(block, bytes);
    m->live += out && !block;

    return out;
}

#endif
