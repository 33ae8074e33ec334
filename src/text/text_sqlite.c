// Opens SQLite.
#include "base/load.h"
#include "text/text_sqlite.h"

sqlite_calls text_sqlite;

pl_status text_sqlite_open(pl_error *err)
{
    // the names as they stand in the library: the header replaces them by pointers
    static const pl_library_call call[] = {
#define X(name) {#name, offsetof(sqlite_calls, name##_)},
        SQLITE_CALLS(X)
#undef X
    };
    static pl_library library = {
        PL_SQLITE_LIBRARY, "tables of samples need SQLite", call, PL_COUNT(call), &text_sqlite, false};
    return pl_library_open(&library, err);
}
