// SQLite, which keeps samples, through pointers.
#ifndef PL_TEXT_SQLITE_H
#define PL_TEXT_SQLITE_H

#include <sqlite3.h>
#include "base/base.h"

// Opens the library at its first use; every entry point that calls it asks for it first.
pl_status text_sqlite_open(pl_error *err);

#define SQLITE_CALLS(X)                                                                                      \
    X(sqlite3_bind_blob)                                                                                     \
    X(sqlite3_bind_double)                                                                                   \
    X(sqlite3_bind_int)                                                                                      \
    X(sqlite3_bind_int64)                                                                                    \
    X(sqlite3_bind_null)                                                                                     \
    X(sqlite3_bind_parameter_count)                                                                          \
    X(sqlite3_bind_text)                                                                                     \
    X(sqlite3_busy_timeout)                                                                                  \
    X(sqlite3_changes)                                                                                       \
    X(sqlite3_clear_bindings)                                                                                \
    X(sqlite3_close)                                                                                         \
    X(sqlite3_column_blob)                                                                                   \
    X(sqlite3_column_bytes)                                                                                  \
    X(sqlite3_column_count)                                                                                  \
    X(sqlite3_column_double)                                                                                 \
    X(sqlite3_column_int)                                                                                    \
    X(sqlite3_column_int64)                                                                                  \
    X(sqlite3_column_name)                                                                                   \
    X(sqlite3_column_text)                                                                                   \
    X(sqlite3_column_type)                                                                                   \
    X(sqlite3_db_config)                                                                                     \
    X(sqlite3_errcode)                                                                                       \
    X(sqlite3_errmsg)                                                                                        \
    X(sqlite3_errstr)                                                                                        \
    X(sqlite3_exec)                                                                                          \
    X(sqlite3_finalize)                                                                                      \
    X(sqlite3_open)                                                                                          \
    X(sqlite3_open_v2)                                                                                       \
    X(sqlite3_prepare_v2)                                                                                    \
    X(sqlite3_reset)                                                                                         \
    X(sqlite3_step)

// One pointer per function, NULL until text_sqlite_open has found them all.
typedef struct sqlite_calls {
#define X(name) __typeof__(name) *name##_;
    SQLITE_CALLS(X)
#undef X
} sqlite_calls;

extern sqlite_calls text_sqlite;

#define sqlite3_bind_blob (*text_sqlite.sqlite3_bind_blob_)
#define sqlite3_bind_double (*text_sqlite.sqlite3_bind_double_)
#define sqlite3_bind_int (*text_sqlite.sqlite3_bind_int_)
#define sqlite3_bind_int64 (*text_sqlite.sqlite3_bind_int64_)
#define sqlite3_bind_null (*text_sqlite.sqlite3_bind_null_)
#define sqlite3_bind_parameter_count (*text_sqlite.sqlite3_bind_parameter_count_)
#define sqlite3_bind_text (*text_sqlite.sqlite3_bind_text_)
#define sqlite3_busy_timeout (*text_sqlite.sqlite3_busy_timeout_)
#define sqlite3_changes (*text_sqlite.sqlite3_changes_)
#define sqlite3_clear_bindings (*text_sqlite.sqlite3_clear_bindings_)
#define sqlite3_close (*text_sqlite.sqlite3_close_)
#define sqlite3_column_blob (*text_sqlite.sqlite3_column_blob_)
#define sqlite3_column_bytes (*text_sqlite.sqlite3_column_bytes_)
#define sqlite3_column_count (*text_sqlite.sqlite3_column_count_)
#define sqlite3_column_double (*text_sqlite.sqlite3_column_double_)
#define sqlite3_column_int (*text_sqlite.sqlite3_column_int_)
#define sqlite3_column_int64 (*text_sqlite.sqlite3_column_int64_)
#define sqlite3_column_name (*text_sqlite.sqlite3_column_name_)
#define sqlite3_column_text (*text_sqlite.sqlite3_column_text_)
#define sqlite3_column_type (*text_sqlite.sqlite3_column_type_)
#define sqlite3_db_config (*text_sqlite.sqlite3_db_config_)
#define sqlite3_errcode (*text_sqlite.sqlite3_errcode_)
#define sqlite3_errmsg (*text_sqlite.sqlite3_errmsg_)
#define sqlite3_errstr (*text_sqlite.sqlite3_errstr_)
#define sqlite3_exec (*text_sqlite.sqlite3_exec_)
#define sqlite3_finalize (*text_sqlite.sqlite3_finalize_)
#define sqlite3_open (*text_sqlite.sqlite3_open_)
#define sqlite3_open_v2 (*text_sqlite.sqlite3_open_v2_)
#define sqlite3_prepare_v2 (*text_sqlite.sqlite3_prepare_v2_)
#define sqlite3_reset (*text_sqlite.sqlite3_reset_)
#define sqlite3_step (*text_sqlite.sqlite3_step_)

#endif
