// Status texts, failing with a sentence, assertion.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"

#define VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
#define VERSION_OF(major, minor, patch) VERSION_TEXT(major, minor, patch)
_Static_assert(sizeof PL_VERSION == sizeof VERSION_OF(PL_VERSION_MAJOR, PL_VERSION_MINOR, PL_VERSION_PATCH),
               "PL_VERSION and its parts differ");

const char *pl_version(void)
{
    return PL_VERSION;
}

int pl_version_number(void)
{
    return PL_VERSION_NUMBER;
}

// From the one list of codes and texts.
const char *pl_status_text(pl_status status)
{
    static const char *const text[] = {
#define X(code, sentence) [code] = sentence,
        PL_STATUS_LIST(X)
#undef X
    };
    return (int)status >= 0 && (int)status < PL_COUNT(text) ? text[status] : "unknown status";
}

pl_status pl_fail(pl_error *err, pl_status status, const char *format, ...)
{
    if (err) {
        err->status = status;
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }

    return status;
}

pl_status pl_fail_memory(pl_error *err, const char *what)
{
    return pl_fail(err, PL_NO_MEMORY, "%s: out of memory", what);
}

// Only in test builds (PL_CHECKED).
void pl_assert_fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: contract broken: %s\n", file, line, what);
    abort();
}
