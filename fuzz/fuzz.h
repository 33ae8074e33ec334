// What the fuzz targets share: a folder of their own in memory, the input as a file in it, and inputs that
// are small changes of a valid file. A target returns 0 whatever it was given; the sanitizers judge.
#ifndef PL_FUZZ_H
#define PL_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argument_count, char ***argument);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char fuzz_folder[64];

static inline void fuzz_leave(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", fuzz_folder);
    if (fuzz_folder[0] && system(command) != 0) {
        fprintf(stderr, "fuzz: %s is left behind\n", fuzz_folder);
    }
}

// Makes the folder; call first.
static inline void fuzz_enter(void)
{
    strcpy(fuzz_folder,
           access("/dev/shm", W_OK) == 0 ? "/dev/shm/pliant-fuzz-XXXXXX" : "/tmp/pliant-fuzz-XXXXXX");
    if (!mkdtemp(fuzz_folder)) {
        abort();
    }
    atexit(fuzz_leave);
}

// The path of a file in the folder; valid until the next call but one.
static inline const char *fuzz_path(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", fuzz_folder, name);
    return path[turn];
}

static inline const char *fuzz_write(const char *name, const void *data, size_t size)
{
    const char *path = fuzz_path(name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
        abort();
    }
    return path;
}

// A copy with a NUL behind it, to be freed: for readers that take text and length must not rely on it, so
// this is for those that take a string.
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

// A valid file, read once, from which inputs are made.
typedef struct fuzz_template {
    uint8_t *data;
    size_t size;
} fuzz_template;

static inline fuzz_template fuzz_read(const char *path)
{
    fuzz_template t = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        abort();
    }
    t.size = (size_t)ftell(f);
    rewind(f);
    t.data = malloc(t.size ? t.size : 1);
    if (!t.data || fread(t.data, 1, t.size, f) != t.size) {
        abort();
    }
    fclose(f);
    return t;
}

// Writes the input as a file. Its first byte says how: even, the rest is the file; odd, the rest is a list of
// changes to the template, each an offset of two bytes (in units that cover the whole file) and a value, the
// last one or two bytes a new length.
static inline const char *fuzz_change(const fuzz_template *t, const char *name, const uint8_t *data,
                                      size_t size)
{
    if (size == 0 || data[0] % 2 == 0) {
        return fuzz_write(name, size ? data + 1 : data, size ? size - 1 : 0);
    }
    uint8_t *copy = malloc(t->size ? t->size : 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, t->data, t->size);
    size_t length = t->size, i = 1;
    for (; i + 3 <= size && t->size; i += 3) {
        const size_t at = ((size_t)data[i] << 8 | data[i + 1]) + 65536 * (size_t)(data[0] / 2);
        copy[at % t->size] = data[i + 2];
    }
    if (i < size && t->size) {
        length = t->size * data[i] / 255;
    }
    const char *path = fuzz_write(name, copy, length);
    free(copy);
    return path;
}

#endif
