// Opens cairo.
#include "base/load.h"
#include "text/text_cairo.h"

cairo_calls text_cairo;

pl_status text_cairo_open(pl_error *err)
{
    // the names as they stand in the library: the header replaces them by pointers
    static const pl_library_call call[] = {
#define X(name) {#name, offsetof(cairo_calls, name##_)},
        CAIRO_CALLS(X)
#undef X
    };
    static pl_library library = {PL_CAIRO_LIBRARY, "pictures need cairo", call,
                                 PL_COUNT(call),   &text_cairo,           false};
    return pl_library_open(&library, err);
}
