// The log of a run, row by row. A .csv is kept in memory and written whole at the end. A .sqlite is committed
// at least once a second, ahead of its journal (WAL), so that a run that is killed keeps its rows.
#include <errno.h>
#include <sqlite3.h>
#include <time.h>
#include <unistd.h>
#include "io/io_motion.h"

#define LOG_COMMIT 1.0 // s between two commits

struct pl_run_log {
    char *path;
    int columns;
    pl_text csv;
    sqlite3 *db; // NULL: a .csv
    sqlite3_stmt *put;
    double committed; // s
};

static double log_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static pl_status log_fail(const pl_run_log *log, pl_error *err)
{
    if (sqlite3_errcode(log->db) == SQLITE_NOMEM) {
        return pl_fail_memory(err, log->path);
    }
    return pl_fail(err, PL_BAD_FILE, "%s: the log cannot be written: %s", log->path, sqlite3_errmsg(log->db));
}

static pl_status log_run(const pl_run_log *log, const char *sql, pl_error *err)
{
    return sqlite3_exec(log->db, sql, NULL, NULL, NULL) == SQLITE_OK ? PL_OK : log_fail(log, err);
}

// A name between quotation marks, as SQL and CSV want it: those inside are doubled.
static void log_quote(pl_text *text, const char *name)
{
    pl_text_add(text, "\"");
    for (; *name; ++name) {
        pl_text_add(text, *name == '"' ? "\"\"" : "%c", *name);
    }
    pl_text_add(text, "\"");
}

static pl_status log_open_table(pl_run_log *log, const char *const *column, pl_error *err)
{
    if (access(log->path, F_OK) == 0) {
        return pl_fail(err, PL_BAD_FILE, "%s: exists already; choose another name or remove it", log->path);
    }
    if (sqlite3_open(log->path, &log->db) != SQLITE_OK) {
        return log_fail(log, err);
    }
    pl_text make = {0}, put = {0};
    pl_text_add(&make, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE ticks(");
    pl_text_add(&put, "INSERT INTO ticks VALUES(");
    for (int i = 0; i < log->columns; ++i) {
        pl_text_add(&make, i ? ", " : "");
        log_quote(&make, column[i]);
        pl_text_add(&make, " REAL");
        pl_text_add(&put, i ? ",?" : "?");
    }
    pl_text_add(&make, "); BEGIN");
    pl_text_add(&put, ")");
    pl_status status =
        make.failed || put.failed ? pl_fail_memory(err, log->path) : log_run(log, make.data, err);
    if (status == PL_OK && sqlite3_prepare_v2(log->db, put.data, -1, &log->put, NULL) != SQLITE_OK) {
        status = log_fail(log, err);
    }
    pl_text_clear(&make);
    pl_text_clear(&put);
    log->committed = log_now();
    return status;
}

static void log_destroy(pl_run_log *log)
{
    sqlite3_finalize(log->put);
    sqlite3_close(log->db);
    pl_text_clear(&log->csv);
    pl_free(log->path);
    pl_free(log);
}

pl_status pl_run_log_open(const char *path, const char *const *column, int column_count, pl_run_log **out,
                          pl_error *err)
{
    *out = NULL;
    pl_run_log *log = PL_NEW(pl_run_log);
    if (!log || !(log->path = pl_strdup(path))) {
        pl_free(log);
        return pl_fail_memory(err, path);
    }
    log->columns = column_count;
    const char *dot = strrchr(path, '.');
    pl_status status = PL_OK;
    if (dot && (strcmp(dot, ".sqlite") == 0 || strcmp(dot, ".db") == 0)) {
        status = log_open_table(log, column, err);
    } else {
        for (int i = 0; i < column_count; ++i) {
            pl_text_add(&log->csv, i ? "," : "");
            if (strpbrk(column[i], ",\"\n")) {
                log_quote(&log->csv, column[i]);
            } else {
                pl_text_add(&log->csv, "%s", column[i]);
            }
        }
        pl_text_add(&log->csv, "\n");
    }
    if (status != PL_OK) {
        log_destroy(log);
        return status;
    }
    *out = log;
    return PL_OK;
}

static pl_status log_put(pl_run_log *log, const double *value, pl_error *err)
{
    for (int i = 0; i < log->columns; ++i) {
        const int code = isfinite(value[i]) ? sqlite3_bind_double(log->put, i + 1, value[i])
                                            : sqlite3_bind_null(log->put, i + 1);
        if (code != SQLITE_OK) {
            return log_fail(log, err);
        }
    }
    if (sqlite3_step(log->put) != SQLITE_DONE || sqlite3_reset(log->put) != SQLITE_OK) {
        return log_fail(log, err);
    }
    if (log_now() - log->committed < LOG_COMMIT) {
        return PL_OK;
    }
    log->committed = log_now();
    return log_run(log, "COMMIT; BEGIN", err);
}

pl_status pl_run_log_add(pl_run_log *log, const double *value, pl_error *err)
{
    if (log->db) {
        return log_put(log, value, err);
    }
    for (int i = 0; i < log->columns; ++i) {
        io_text_number(&log->csv, i ? "," : "", value[i]);
    }
    pl_text_add(&log->csv, "\n");
    return log->csv.failed ? pl_fail_memory(err, log->path) : PL_OK;
}

pl_status pl_run_log_close(pl_run_log *log, pl_error *err)
{
    if (!log) {
        return PL_OK;
    }
    pl_status status = PL_OK;
    if (log->db) {
        // one file at the end: the journal goes into it
        status = log_run(log, "COMMIT", err);
        sqlite3_finalize(log->put);
        log->put = NULL;
        status = status == PL_OK ? log_run(log, "PRAGMA journal_mode=DELETE", err) : status;
    } else {
        status = io_text_write(&log->csv, log->path, err);
    }
    log_destroy(log);
    return status;
}
