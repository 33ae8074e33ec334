// Loaded before the program (LD_PRELOAD): the allocation number FAIL_AT that the program itself or jansson
// asks for fails, once. With FAIL_COUNT the number of allocations is written to that file at the end.
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static struct {
    uintptr_t from, to;
} code[8];
static int code_count, object_count;
static atomic_long count;
static long fail_at = -1;

static int note_object(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    (void)user;
    const int wanted = object_count++ == 0 || strstr(info->dlpi_name, "jansson");
    for (int j = 0; wanted && j < info->dlpi_phnum && code_count < 8; ++j) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[j];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            code[code_count].from = info->dlpi_addr + p->p_vaddr;
            code[code_count].to = code[code_count].from + p->p_memsz;
            ++code_count;
        }
    }

    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(note_object, NULL);
    fail_at = getenv("FAIL_AT") ? atol(getenv("FAIL_AT")) : -1;
}

__attribute__((destructor)) static void end(void)
{
    FILE *file = getenv("FAIL_COUNT") ? fopen(getenv("FAIL_COUNT"), "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", (long)count);
        fclose(file);
    }
}

static int fails(const void *caller)
{
    for (int i = 0; i < code_count; ++i) {
        if ((uintptr_t)caller >= code[i].from && (uintptr_t)caller < code[i].to) {
            return atomic_fetch_add(&count, 1) == fail_at;
        }
    }
    return 0;
}

void *malloc(size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t number, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *block, size_t bytes)
{
    return bytes && fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, bytes);
}
