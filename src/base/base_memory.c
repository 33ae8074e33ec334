// Memory through one hook, so that tests can count and fail allocations.
#include <stdlib.h>
#include "base/base.h"

// realloc with a size of 0 meaning free, as the hook promises.
static void *memory_default(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }

    return realloc(block, bytes);
}

static pl_realloc_hook memory_hook = memory_default;
static void *memory_user;

void pl_memory_set(pl_realloc_hook hook, void *user)
{
    memory_hook = hook ? hook : memory_default;
    memory_user = user;
}

void *pl_alloc(size_t bytes)
{
    return pl_alloc_array(1, bytes);
}

// calloc where nobody listens; otherwise through the hook, so that tests see every allocation.
void *pl_alloc_array(size_t count, size_t size)
{
    if (memory_hook == memory_default && count > 0 && size > 0) {
        return calloc(count, size); // fresh pages are zero already; checks count * size
    }

    void *block = pl_resize_array(NULL, count, size);
    if (block) {
        memset(block, 0, count * size);
    }

    return block;
}

// A size of 0 gives a block of one byte: NULL always means out of memory.
void *pl_resize_array(void *block, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    const size_t bytes = count * size;
    return memory_hook(memory_user, block, bytes ? bytes : 1);
}

void pl_free(void *block)
{
    if (block) {
        memory_hook(memory_user, block, 0);
    }
}

char *pl_strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = pl_resize_array(NULL, bytes, 1);
    if (copy) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

// Grows by half: amortised constant cost per entry.
bool pl_grow(void **block, int32_t *capacity, int64_t need, size_t size)
{
    if (need <= *capacity) {
        return true;
    }

    int64_t wanted = *capacity ? *capacity : 8;
    while (wanted < need) {
        wanted += wanted / 2 + 8;
    }
    if (wanted > INT32_MAX) {
        return false;
    }

    void *larger = pl_resize_array(*block, (size_t)wanted, size);
    if (!larger) {
        return false;
    }
    *block = larger;
    *capacity = (int32_t)wanted;

    return true;
}
