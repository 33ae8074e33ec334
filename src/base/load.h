// Libraries that are opened at their first use: a program that draws no picture, keeps no table and chooses
// no other linear solver is not linked with what these need, and runs where they are not installed.
#ifndef PL_BASE_LOAD_H
#define PL_BASE_LOAD_H

#include <stddef.h>
#include "base/base.h"

// A function of the library and the place of its pointer in the table of calls.
typedef struct pl_library_call {
    const char *name;
    size_t place;
} pl_library_call;

typedef struct pl_library {
    const char *name;    // of the file, with its version: libcairo.so.2
    const char *purpose; // "pictures need cairo": begins the sentence when it is not there
    const pl_library_call *call;
    int call_count;
    void *table; // pointers to functions
    bool opened;
} pl_library;

// Opens the library and fills its table, once; threads may call it at the same time. PL_FAILED where it is
// not installed or lacks a function.
pl_status pl_library_open(pl_library *library, pl_error *err);

#endif
