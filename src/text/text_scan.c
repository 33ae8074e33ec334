// Numbers at a place of a text, for all text formats.
#include "text/text_scan.h"
#include "base/base.h"
#include <stdlib.h>
#include <string.h>

// Decimal digits with a sign; false for numbers that do not fit.
bool pl_scan_whole(const char **at, const char *end, int64_t *value)
{
    const char *p = *at;
    const bool negative = p < end && *p == '-';

    p += p < end && (*p == '-' || *p == '+');
    if (p == end || *p < '0' || *p > '9') {
        return false;
    }

    int64_t v = 0;
    for (; p < end && *p >= '0' && *p <= '9'; ++p) {
        if (v > (INT64_MAX - 9) / 10) {
            return false;
        }
        v = 10 * v + (*p - '0');
    }

    *value = negative ? -v : v;
    *at = p;

    return true;
}

// A number of at most 60 characters is copied so that strtod cannot run past `end`.
bool pl_scan_real(const char **at, const char *end, double *value)
{
    char text[64];
    size_t n = 0;
    const char *p = *at;

    while (n < sizeof text - 1 && p + n < end && strchr("+-.0123456789eEdDnNaAiIfFtTyY", p[n]) && p[n]) {
        // Fortran writes 1.0D-3
        text[n] = p[n] == 'd' || p[n] == 'D' ? 'e' : p[n];
        ++n;
    }

    text[n] = '\0';
    char *stop;
    const double v = pl_real_read(text, &stop);
    if (stop == text) {
        return false;
    }
    *value = v;
    *at = p + (stop - text);

    return true;
}
