// Stored workspaces: an SQLite file with one row per sample, each committed before the next is computed.
// Numbers are JSON arrays of shortest exact decimals in internal units, so the file can be read with any
// SQLite tool.
//   about(key, value)                      format, robot, model, commands, markers, actuators
//   sampling(id, settings)                 how samples were chosen
//   sample(sampling, number, solved, command, marker, effort)
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "text/text_sqlite.h"
#include "text/text_file.h"
#include "result/result_motion.h"

#define STORE_APPLICATION 0x506c6e74 // "Plnt"
#define STORE_FORMAT "1"
#define STORE_PATIENCE 5000 // ms that another process may take

struct pl_store {
    sqlite3 *db;
    sqlite3_stmt *put;
    char *path;
    pl_model_info info;
    int64_t sampling; // 0: opened for reading
    int next;
};

static pl_status store_fail(const pl_store *s, const char *what, pl_error *err)
{
    const int code = sqlite3_errcode(s->db);
    if (code == SQLITE_NOMEM) {
        return pl_fail_memory(err, s->path);
    }
    if (code == SQLITE_BUSY) {
        return pl_fail(err, PL_BAD_FILE, "%s: %s: another process has been writing to it for %d s", s->path,
                       what, STORE_PATIENCE / 1000);
    }

    // what is in the file is wrong, or the disk is
    const bool content = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    return pl_fail(err, content ? PL_BAD_INPUT : PL_BAD_FILE, "%s: %s: %s", s->path, what,
                   sqlite3_errmsg(s->db));
}

static pl_status store_run(pl_store *s, const char *sql, const char *what, pl_error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? PL_OK : store_fail(s, what, err);
}

// ---- arrays of numbers as text
// 17 digits keep every double; what is not finite becomes null.
static void store_numbers(pl_text *text, const double *value, int count)
{
    pl_text_add(text, "[");
    for (int i = 0; i < count; ++i) {
        pl_text_add(text, isfinite(value[i]) ? "%s%.17g" : "%snull", i ? "," : "", value[i]);
    }
    pl_text_add(text, "]");
}

static bool store_scan(const char *text, double *value, int count)
{
    if (!text || *text++ != '[') {
        return false;
    }

    for (int i = 0; i < count; ++i) {
        char *end = NULL;
        text += i > 0 && *text == ',';

        if (strncmp(text, "null", 4) == 0) {
            value[i] = NAN;
            text += 4;
            continue;
        }

        value[i] = pl_real_read(text, &end);
        if (end == text) {
            return false;
        }
        text = end;
    }

    return text[0] == ']' && text[1] == '\0';
}

// ---- what the file is about
typedef struct store_fact {
    const char *key;
    pl_text value;
} store_fact;

enum { STORE_FACTS = 6 };

static void store_names(pl_text *text, const char *const *name, int count)
{
    for (int i = 0; i < count; ++i) {
        pl_text_add(text, "%s%s", i ? "," : "", name[i]);
    }
    pl_text_add(text, "%s", "");
}

static void store_facts(const pl_store *s, store_fact fact[STORE_FACTS])
{
    static const char *const keys[STORE_FACTS] = {"format",   "robot",   "model",
                                                  "commands", "markers", "actuators"};
    for (int i = 0; i < STORE_FACTS; ++i) {
        fact[i] = (store_fact){.key = keys[i]};
    }
    pl_text_add(&fact[0].value, STORE_FORMAT);
    pl_text_add(&fact[1].value, "%016" PRIx64, s->info.hash);
    pl_text_add(&fact[2].value, "%s", s->info.kind);
    for (int i = 0; i < s->info.command_count; ++i) {
        pl_text_add(&fact[3].value, "%s%s", i ? "," : "", s->info.command[i].name);
    }
    store_names(&fact[4].value, s->info.marker_name, s->info.marker_count);
    for (int i = 0; i < s->info.actuator_count; ++i) {
        pl_text_add(&fact[5].value, "%s%s", i ? "," : "", s->info.actuator[i].name);
    }
    pl_text_add(&fact[5].value, "%s", "");
}

// Writes a fact into a new file, or compares it with the one there.
static pl_status store_fact_meet(pl_store *s, const store_fact *fact, bool fresh, pl_error *err)
{
    sqlite3_stmt *q = NULL;
    const char *sql = fresh ? "INSERT INTO about VALUES(?1, ?2)" : "SELECT value FROM about WHERE key = ?1";
    const char *mine = fact->value.data ? fact->value.data : "";
    pl_status status = PL_OK;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK ||
        sqlite3_bind_text(q, 1, fact->key, -1, SQLITE_STATIC) != SQLITE_OK ||
        (fresh && sqlite3_bind_text(q, 2, mine, -1, SQLITE_STATIC) != SQLITE_OK)) {
        status = store_fail(s, "cannot be asked", err);
    } else {
        const int step = sqlite3_step(q);
        const char *there = step == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
        if (step != SQLITE_ROW && step != SQLITE_DONE) {
            status = store_fail(s, fresh ? "cannot be written" : "cannot be read", err);
        } else if (!fresh && strcmp(fact->key, "format") == 0 && (!there || strcmp(there, mine) != 0)) {
            status = pl_fail(err, PL_BAD_INPUT, "%s: a store of format '%.40s', expected '%s'", s->path,
                             there ? there : "", mine);
        } else if (!fresh && (!there || strcmp(there, mine) != 0)) {
            const bool changed = strcmp(fact->key, "robot") == 0;
            status = changed
                         ? pl_fail(err, PL_BAD_INPUT,
                                   "%s: its samples are of another robot: the robot file or its mesh has "
                                   "changed since (a range, a material, the size of elements), or it "
                                   "belongs to another one; use another file, or delete this one to sample "
                                   "again",
                                   s->path)
                         : pl_fail(err, PL_BAD_INPUT,
                                   "%s: its samples are of another robot: its %s '%.150s', here '%.150s'; "
                                   "use another file",
                                   s->path, fact->key, there ? there : "", mine);
        }
    }

    sqlite3_finalize(q);

    return status;
}

static pl_status store_whole(pl_store *s, const char *sql, const char *text, int64_t *value, bool *found,
                             pl_error *err)
{
    sqlite3_stmt *q = NULL;
    pl_status status = PL_OK;

    *found = false;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK ||
        (text && sqlite3_bind_text(q, 1, text, -1, SQLITE_STATIC) != SQLITE_OK) ||
        (!text && sqlite3_bind_parameter_count(q) > 0 &&
         sqlite3_bind_int64(q, 1, s->sampling) != SQLITE_OK)) {
        status = store_fail(s, "cannot be asked", err);
    } else {
        const int step = sqlite3_step(q);
        if (step == SQLITE_ROW) {
            *value = sqlite3_column_int64(q, 0);
            *found = sqlite3_column_type(q, 0) != SQLITE_NULL;
        } else if (step != SQLITE_DONE) {
            status = store_fail(s, "cannot be read", err);
        }
    }

    sqlite3_finalize(q);

    return status;
}

static const char store_schema[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE sampling(id INTEGER PRIMARY KEY, settings TEXT UNIQUE NOT NULL);"
    "CREATE TABLE sample(sampling INTEGER NOT NULL, number INTEGER NOT NULL, solved INTEGER NOT NULL,"
    " command TEXT NOT NULL, marker TEXT NOT NULL, effort TEXT NOT NULL, PRIMARY KEY(sampling, number));";

// The tables must be tables: a view or a virtual table of the same name computes its rows, perhaps for ever.
static pl_status store_tables(pl_store *s, pl_error *err)
{
    int64_t tables = 0, others = 0;
    bool found;
    pl_status status = store_whole(s,
                                   "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN"
                                   " ('about', 'sampling', 'sample') AND sql LIKE 'CREATE TABLE %'",
                                   NULL, &tables, &found, err);

    if (status == PL_OK) {
        status = store_whole(s, "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')",
                             NULL, &others, &found, err);
    }

    if (status == PL_OK && (tables != 3 || others != 0)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "%s: is not a stored workspace: expected the tables about, sampling and sample, and no "
            "views or triggers",
            s->path);
    }

    return status;
}

// Makes the tables of a new file or judges those of an old one.
static pl_status store_meet(pl_store *s, bool writing, pl_error *err)
{
    int64_t application = 0, tables = 0;
    bool found;
    pl_status status = store_whole(s, "PRAGMA application_id", NULL, &application, &found, err);

    if (status == PL_OK) {
        status = store_whole(s, "SELECT count(*) FROM sqlite_master", NULL, &tables, &found, err);
    }

    const bool fresh = tables == 0;
    if (status == PL_OK && (fresh ? !writing : application != STORE_APPLICATION)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is not a stored workspace", s->path);
    }
    if (status == PL_OK && !fresh) {
        status = store_tables(s, err);
    }

    if (status == PL_OK && fresh) {
        char pragma[64];
        snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", STORE_APPLICATION);
        status = store_run(s, pragma, "cannot be written", err);
        status = status == PL_OK ? store_run(s, store_schema, "cannot be written", err) : status;
    }

    store_fact fact[STORE_FACTS];
    store_facts(s, fact);
    for (int i = 0; i < STORE_FACTS; ++i) {
        if (status == PL_OK) {
            status = fact[i].value.failed ? pl_fail_memory(err, s->path)
                                          : store_fact_meet(s, &fact[i], fresh, err);
        }

        pl_text_clear(&fact[i].value);
    }

    return status;
}

static pl_status store_sampling(pl_store *s, const char *settings, pl_error *err)
{
    sqlite3_stmt *q = NULL;
    pl_status status = PL_OK;
    bool found;
    int64_t first = 0;

    if (sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO sampling(settings) VALUES(?1)", -1, &q, NULL) !=
            SQLITE_OK ||
        sqlite3_bind_text(q, 1, settings, -1, SQLITE_STATIC) != SQLITE_OK || sqlite3_step(q) != SQLITE_DONE) {
        status = store_fail(s, "cannot be written", err);
    }

    sqlite3_finalize(q);
    if (status == PL_OK) {
        status = store_whole(s, "SELECT id FROM sampling WHERE settings = ?1", settings, &s->sampling, &found,
                             err);
    }

    if (status == PL_OK) {
        // the first that is missing: after a kill the next one, in a damaged file a hole
        status = store_whole(s,
                             "SELECT min(n) FROM (SELECT 0 AS n UNION ALL SELECT number + 1 FROM sample"
                             " WHERE sampling = ?1 AND number BETWEEN 0 AND 2147483645) WHERE NOT EXISTS"
                             " (SELECT 1 FROM sample WHERE sampling = ?1 AND number = n)",
                             NULL, &first, &found, err);
        s->next = found ? (int)first : 0;
    }

    if (status == PL_OK &&
        sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO sample VALUES(?1, ?2, ?3, ?4, ?5, ?6)", -1, &s->put,
                           NULL) != SQLITE_OK) {
        status = store_fail(s, "cannot be asked", err);
    }

    return status;
}

// All of the opening in one transaction, so that a kill leaves an empty file or a whole one.
static pl_status store_begin(pl_store *s, const char *settings, pl_error *err)
{
    sqlite3_busy_timeout(s->db, STORE_PATIENCE);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    pl_status status = store_run(s, settings ? "BEGIN IMMEDIATE" : "BEGIN", "cannot be opened", err);
    if (status == PL_OK) {
        status = store_meet(s, settings != NULL, err);
        if (status == PL_OK && settings) {
            status = store_sampling(s, settings, err);
        }
        if (status == PL_OK) {
            status = store_run(s, "COMMIT", "cannot be written", err);
        } else {
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        }
    }

    return status;
}

pl_status pl_store_open(const char *path, const pl_model *model, const char *settings, pl_store **out,
                        pl_error *err)
{
    *out = NULL;
    const pl_status library = text_sqlite_open(err);
    if (library != PL_OK) {
        return library;
    }

    pl_store *s = PL_NEW(pl_store);
    if (!s || !(s->path = pl_strdup(path))) {
        pl_free(s);
        return pl_fail_memory(err, "the stored workspace");
    }

    s->info = pl_model_get_info(model);
    const pl_status regular = text_database_regular(path, err);
    if (regular != PL_OK) {
        pl_store_close(s);
        return regular;
    }

    const int flags = settings ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;

    // ":memory:" and "file:..." are names like any other
    char *name = pl_alloc(strlen(path) + 3);
    if (!name) {
        pl_store_close(s);
        return pl_fail_memory(err, path);
    }

    sprintf(name, "%s%s", path[0] == ':' || strncmp(path, "file:", 5) == 0 ? "./" : "", path);
    const int opened = sqlite3_open_v2(name, &s->db, flags, NULL);
    pl_free(name);
    pl_status status;
    if (opened != SQLITE_OK) {
        status = s->db ? store_fail(s, "cannot be opened", err) : pl_fail_memory(err, path);
    } else {
        status = store_begin(s, settings, err);
    }

    if (status != PL_OK) {
        pl_store_close(s);
        return status;
    }

    *out = s;

    return PL_OK;
}

void pl_store_close(pl_store *store)
{
    if (store) {
        sqlite3_finalize(store->put);
        sqlite3_close(store->db);
        pl_free(store->path);
        pl_free(store);
    }
}

int pl_store_next(const pl_store *store)
{
    return store->next;
}

pl_status pl_store_put(pl_store *store, const pl_sample *sample, pl_error *err)
{
    if (!store->put) {
        return pl_fail(err, PL_BAD_INPUT, "%s: was opened for reading only", store->path);
    }

    pl_text text[3] = {{0}};
    store_numbers(&text[0], sample->command, store->info.command_count);
    store_numbers(&text[1], sample->answer.marker, 3 * store->info.marker_count);
    store_numbers(&text[2], sample->answer.effort, store->info.actuator_count);
    pl_status status = PL_OK;
    if (text[0].failed || text[1].failed || text[2].failed) {
        status = pl_fail_memory(err, store->path);
    } else {
        sqlite3_bind_int64(store->put, 1, store->sampling);
        sqlite3_bind_int(store->put, 2, sample->index);
        sqlite3_bind_int(store->put, 3, sample->fk->outcome == PL_SOLVED);
        for (int i = 0; i < 3; ++i) {
            sqlite3_bind_text(store->put, 4 + i, text[i].data, -1, SQLITE_STATIC);
        }
        if (sqlite3_step(store->put) != SQLITE_DONE) {
            status = store_fail(store, "cannot be written", err);
        } else {
            store->next = sample->index + 1;
        }
        sqlite3_reset(store->put);
        sqlite3_clear_bindings(store->put);
    }

    for (int i = 0; i < 3; ++i) {
        pl_text_clear(&text[i]);
    }

    return status;
}

static pl_status store_read_row(const pl_store *s, sqlite3_stmt *q, pl_store_samples *out, int64_t k,
                                pl_error *err)
{
    double *const to[3] = {out->command + k * s->info.command_count,
                           out->marker + k * 3 * s->info.marker_count,
                           out->effort + k * s->info.actuator_count};
    const int count[3] = {s->info.command_count, 3 * s->info.marker_count, s->info.actuator_count};

    for (int i = 0; i < 3; ++i) {
        bool good = store_scan((const char *)sqlite3_column_text(q, i), to[i], count[i]);
        for (int j = 0; good && i < 2 && j < count[i]; ++j) {
            good = isfinite(to[i][j]); // only efforts may be unknown
        }
        if (!good) {
            return pl_fail(err, PL_BAD_INPUT, "%s: sample %lld is damaged", s->path, (long long)k);
        }
    }

    return PL_OK;
}

pl_status pl_store_read(pl_store *store, pl_store_samples *out, pl_error *err)
{
    *out = (pl_store_samples){0};
    int64_t count = 0;
    bool found;
    pl_status status =
        store_whole(store, "SELECT count(*) FROM sample WHERE solved AND (?1 = 0 OR sampling = ?1)", NULL,
                    &count, &found, err);
    if (status != PL_OK) {
        return status;
    }
    out->command = PL_NEW_ARRAY(double, count * store->info.command_count + 1);
    out->marker = PL_NEW_ARRAY(double, count * 3 * store->info.marker_count + 1);
    out->effort = PL_NEW_ARRAY(double, count * store->info.actuator_count + 1);
    sqlite3_stmt *q = NULL;
    if (!out->command || !out->marker || !out->effort) {
        status = pl_fail_memory(err, store->path);
    } else if (sqlite3_prepare_v2(
                   store->db,
                   "SELECT command, marker, effort FROM sample WHERE solved AND (?1 = 0 OR sampling = "
                   "?1) ORDER BY sampling, number",
                   -1, &q, NULL) != SQLITE_OK ||
               sqlite3_bind_int64(q, 1, store->sampling) != SQLITE_OK) {
        status = store_fail(store, "cannot be asked", err);
    }

    while (status == PL_OK && out->count < count) {
        const int step = sqlite3_step(q);
        if (step == SQLITE_DONE) {
            break;
        }
        status = step == SQLITE_ROW ? store_read_row(store, q, out, out->count, err)
                                    : store_fail(store, "cannot be read", err);
        out->count += status == PL_OK;
    }

    sqlite3_finalize(q);
    if (status != PL_OK) {
        pl_store_samples_clear(out);
    }

    return status;
}

void pl_store_samples_clear(pl_store_samples *samples)
{
    pl_free(samples->command);
    pl_free(samples->marker);
    pl_free(samples->effort);
    pl_free(samples->model_error);
    *samples = (pl_store_samples){0};
}
