// The log of a run, row by row. A .csv is kept in memory and written whole at the end. A .sqlite is committed
// at least once a second, ahead of its journal (WAL), so that a run that is killed keeps its rows.
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include "text/text_sqlite.h"
#include "text/text_file.h"
#include "result/result_motion.h"

#define LOG_COMMIT 1.0 // s between two commits
#define LOG_TRIES 25   // to leave the journal while somebody reads
#define LOG_WAIT 200   // ms that a reader waits for the writer

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
    const pl_status library = text_sqlite_open(err);
    if (library != PL_OK) {
        return library;
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
    if (log->db) {
        sqlite3_finalize(log->put);
        sqlite3_close(log->db);
    }

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
            pl_text_add_cell(&log->csv, "%s", column[i]);
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
        result_text_number(&log->csv, i ? "," : "", value[i]);
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
        // somebody may be reading; the rows are in the file, or its journal, in any case
        for (int i = 0; status == PL_OK && i < LOG_TRIES; ++i) {
            if (sqlite3_exec(log->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) == SQLITE_OK) {
                break;
            }
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        }
    } else {
        status = result_text_write(&log->csv, log->path, err);
    }

    log_destroy(log);
    return status;
}

// ---- reading
static void log_read_names(sqlite3_stmt *get, int columns, pl_text *csv)
{
    for (int i = 0; i < columns; ++i) {
        const char *name = sqlite3_column_name(get, i);
        pl_text_add(csv, i ? "," : "");
        pl_text_add_cell(csv, "%s", name);
    }

    pl_text_add(csv, "\n");
}

static int log_total(sqlite3 *db, int64_t *total)
{
    sqlite3_stmt *get = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT max(rowid) FROM ticks", -1, &get, NULL);

    if (code == SQLITE_OK && (code = sqlite3_step(get)) == SQLITE_ROW) {
        *total = sqlite3_column_int64(get, 0);
        code = SQLITE_OK;
    }

    sqlite3_finalize(get);
    return code;
}

// Rows of a log that may be growing: from a row on, at most so many, as CSV.
pl_status pl_run_log_read(const char *path, int64_t from, int64_t limit, char **csv, int64_t *rows,
                          int64_t *total, pl_error *err)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *get = NULL;
    pl_text text = {0};

    *csv = NULL;
    *rows = *total = 0;
    pl_status ready = text_database_regular(path, err);
    if (ready == PL_OK) {
        ready = text_sqlite_open(err);
    }
    if (ready != PL_OK) {
        return ready;
    }

    // the program that writes the log may hold it for a moment
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(db, LOG_WAIT);
        code = sqlite3_prepare_v2(db, "SELECT *, rowid FROM ticks WHERE rowid > ? ORDER BY rowid LIMIT ?", -1,
                                  &get, NULL);
    }

    if (code == SQLITE_OK) {
        sqlite3_bind_int64(get, 1, from);
        sqlite3_bind_int64(get, 2, limit);
        const int columns = sqlite3_column_count(get) - 1;
        int64_t last = from; // rows of a damaged file may stand in another order
        log_read_names(get, columns, &text);

        while ((code = sqlite3_step(get)) == SQLITE_ROW) {
            if (sqlite3_column_int64(get, columns) <= last) {
                code = SQLITE_CORRUPT;
                break;
            }
            last = sqlite3_column_int64(get, columns);
            for (int i = 0; i < columns; ++i) {
                const bool empty = sqlite3_column_type(get, i) == SQLITE_NULL;
                result_text_number(&text, i ? "," : "", empty ? NAN : sqlite3_column_double(get, i));
            }

            pl_text_add(&text, "\n");
            ++*rows;
        }

        code = code == SQLITE_DONE ? log_total(db, total) : code;
        code = code == SQLITE_OK && *rows > 0 && *total < last ? SQLITE_CORRUPT : code;
    }

    // rows are given only if all were read
    pl_status status = PL_OK;
    if (text.failed || code == SQLITE_NOMEM) {
        status = pl_fail_memory(err, path);
    } else if (code != SQLITE_OK) {
        status = pl_fail(err, PL_BAD_FILE, "%s: the log cannot be read: %s", path,
                         db && code != SQLITE_CORRUPT ? sqlite3_errmsg(db) : sqlite3_errstr(code));
    }

    sqlite3_finalize(get);
    sqlite3_close(db);
    if (status == PL_OK) {
        *csv = text.data;
    } else {
        pl_text_clear(&text);
        *rows = *total = 0;
    }

    return status;
}
