// Inside the rooms of files: numbers at a place of a text.
#ifndef PL_TEXT_SCAN_H
#define PL_TEXT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

// Whole numbers and reals from text, for all text formats: true when a number stands at *at, which moves past
// it.
bool pl_scan_whole(const char **at, const char *end, int64_t *value);
bool pl_scan_real(const char **at, const char *end, double *value);

#endif
