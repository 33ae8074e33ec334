// Data sets in SQLite: a row per sample, committed before the next is computed. The journal is written ahead
// (WAL), so that several processes can write to one file.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "text/text_sqlite.h"
#include "text/text_file.h"
#include "document/document_learned.h"
#include "pliant/dataset.h"

#define DATASET_APPLICATION 0x506c6453 // "PldS"
#define DATASET_FORMAT "2"             // 1: samples without checksums
#define DATASET_PATIENCE 30000         // ms that other processes may take

struct pl_dataset_file {
    sqlite3 *db;
    // prepared once, used for every sample
    sqlite3_stmt *put, *row, *seal; // a sample; the same read back; its checksum
    char *path;
    pl_about about;
    bool jacobians, shapes;
};

// The error of the last call, as text; a damaged file is bad input, a disk that fails is a bad file.
static pl_status dataset_fail(const pl_dataset_file *s, const char *what, pl_error *err)
{
    const int code = sqlite3_errcode(s->db);
    if (code == SQLITE_NOMEM) {
        return pl_fail_memory(err, s->path);
    }

    const bool content = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    return pl_fail(err, content ? PL_BAD_INPUT : PL_BAD_FILE, "%s: %s: %s", s->path, what,
                   code == SQLITE_BUSY ? "another process does not stop writing to it"
                                       : sqlite3_errmsg(s->db));
}

// Runs statements without results.
static pl_status dataset_run(pl_dataset_file *s, const char *sql, const char *what, pl_error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? PL_OK : dataset_fail(s, what, err);
}

// A text or number of one cell; the text is on the heap.
static pl_status dataset_ask(pl_dataset_file *s, const char *sql, const char *key, char **text,
                             int64_t *number, pl_error *err)
{
    sqlite3_stmt *q = NULL;
    pl_status status = PL_OK;

    if (text) {
        *text = NULL;
    }

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK ||
        (key && sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC) != SQLITE_OK)) {
        status = dataset_fail(s, "cannot be read", err);
    } else {
        const int step = sqlite3_step(q);

        if (step == SQLITE_ROW && text) {
            const char *there = (const char *)sqlite3_column_text(q, 0);
            *text = pl_strdup(there ? there : "");
            status = *text ? PL_OK : pl_fail_memory(err, s->path);
        } else if (step == SQLITE_ROW) {
            *number = sqlite3_column_int64(q, 0);
        } else if (step != SQLITE_DONE) {
            status = dataset_fail(s, "cannot be read", err);
        }
    }

    sqlite3_finalize(q);

    return status;
}

// Stores a fact about the data set, replacing an earlier one.
static pl_status dataset_record(pl_dataset_file *s, const char *key, const char *value, pl_error *err)
{
    sqlite3_stmt *q = NULL;
    pl_status status = PL_OK;

    if (sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO about VALUES(?1, ?2)", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_text(q, 2, value, -1, SQLITE_STATIC) != SQLITE_OK || sqlite3_step(q) != SQLITE_DONE) {
        status = dataset_fail(s, "cannot be written", err);
    }

    sqlite3_finalize(q);
    return status;
}

// plan: what is to be sampled; sample: what has been. Arrays are blobs of doubles, points floats.
static const char dataset_schema[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE plan(number INTEGER PRIMARY KEY, command BLOB NOT NULL);"
    "CREATE TABLE sample(number INTEGER PRIMARY KEY, outcome TEXT NOT NULL, solved INTEGER NOT NULL,"
    " seconds REAL NOT NULL, command BLOB NOT NULL, marker BLOB, rotation BLOB, sensor BLOB, effort BLOB,"
    " measure BLOB, energy REAL, jacobian BLOB, point BLOB, checksum INTEGER NOT NULL);";

// ---- checksums of samples
// Of the columns number, outcome, solved, seconds, command ... point of a row, as they are stored.
#define DATASET_ROW                                                                                          \
    "number, outcome, solved, seconds, command, marker, rotation, sensor, effort, measure, energy,"          \
    " jacobian, point"
#define DATASET_ROW_COUNT 13

// Length and bytes, so that two arrays cannot exchange a border.
static uint64_t sum_bytes(uint64_t h, const void *data, size_t bytes)
{
    const int64_t length = (int64_t)bytes;
    h = pl_hash_bytes(h, &length, sizeof length);
    return bytes > 0 ? pl_hash_bytes(h, data, bytes) : h;
}

// The type of every column counts, too: a NULL is not an empty blob.
static uint64_t sum_row(sqlite3_stmt *q)
{
    uint64_t h = PL_HASH_SEED;
    for (int k = 0; k < DATASET_ROW_COUNT; ++k) {
        const int type = sqlite3_column_type(q, k);
        const int64_t whole = sqlite3_column_int64(q, k);
        const double real = sqlite3_column_double(q, k);
        h = pl_hash_bytes(h, &type, sizeof type);
        if (type == SQLITE_INTEGER) {
            h = sum_bytes(h, &whole, sizeof whole);
        } else if (type == SQLITE_FLOAT) {
            h = sum_bytes(h, &real, sizeof real);
        } else if (type != SQLITE_NULL) {
            const void *data = type == SQLITE_TEXT ? sqlite3_column_text(q, k) : sqlite3_column_blob(q, k);
            h = sum_bytes(h, data, (size_t)sqlite3_column_bytes(q, k));
        }
    }

    return h;
}

// The checksum of the row that was put: read back, so that it covers what the file has.
// Only this order detects what the disk or SQLite changed in between.
static pl_status sum_put(pl_dataset_file *s, int number, pl_error *err)
{
    sqlite3_bind_int(s->row, 1, number);
    const bool there = sqlite3_step(s->row) == SQLITE_ROW;
    const int64_t sum = there ? (int64_t)sum_row(s->row) : 0;
    sqlite3_reset(s->row);
    sqlite3_bind_int64(s->seal, 1, sum);
    sqlite3_bind_int(s->seal, 2, number);
    const bool sealed = there && sqlite3_step(s->seal) == SQLITE_DONE;
    sqlite3_reset(s->seal);

    return sealed ? PL_OK : dataset_fail(s, "cannot be written", err);
}

// *fresh: the file has no tables yet. A reader refuses such a file, and both refuse
// a database of another program.
static pl_status dataset_open(const char *path, bool writing, pl_dataset_file **out, bool *fresh,
                              pl_error *err)
{
    *out = NULL;
    const pl_status library = text_sqlite_open(err);
    if (library != PL_OK) {
        return library;
    }

    pl_dataset_file *s = PL_NEW(pl_dataset_file);
    char *name = pl_alloc(strlen(path) + 3);
    if (!s || !name || !(s->path = pl_strdup(path))) {
        pl_free(s);
        pl_free(name);
        return pl_fail_memory(err, "the data set");
    }

    // SQLite reads a leading ':' or 'file:' as something else than a file name
    sprintf(name, "%s%s", path[0] == ':' || strncmp(path, "file:", 5) == 0 ? "./" : "", path);
    const int flags = writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    pl_status status = text_database_regular(path, err);
    if (status == PL_OK && sqlite3_open_v2(name, &s->db, flags, NULL) != SQLITE_OK) {
        status = s->db ? dataset_fail(s, "cannot be opened", err) : pl_fail_memory(err, path);
    }
    pl_free(name);

    // application_id distinguishes data sets from other databases
    int64_t application = 0, tables = 0;
    if (status == PL_OK) {
        sqlite3_busy_timeout(s->db, DATASET_PATIENCE);
        status = dataset_ask(s, "PRAGMA application_id", NULL, NULL, &application, err);
    }

    if (status == PL_OK) {
        status = dataset_ask(s, "SELECT count(*) FROM sqlite_master", NULL, NULL, &tables, err);
    }
    *fresh = tables == 0;
    if (status == PL_OK && (tables == 0 ? !writing : application != DATASET_APPLICATION)) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: is not a data set of `pliant sample`", path);
    }
    if (status != PL_OK) {
        pl_dataset_close(s);
        return status;
    }

    *out = s;

    return PL_OK;
}

void pl_dataset_close(pl_dataset_file *s)
{
    if (s) {
        sqlite3_finalize(s->put);
        sqlite3_finalize(s->row);
        sqlite3_finalize(s->seal);
        sqlite3_close(s->db);
        pl_about_clear(&s->about);
        pl_free(s->path);
        pl_free(s);
    }
}

// What a file says about itself, for a robot; compared with the file or written into a new one.
static pl_status dataset_meet(pl_dataset_file *s, pl_model *model, const pl_dataset_def *def, bool fresh,
                              pl_error *err)
{
    // facts as text: hash, fingerprint of the file, names and units, mesh
    const pl_model_info info = pl_model_get_info(model);
    pl_text about = {0}, rest = {0};
    char hash[32], print[32];
    uint64_t fingerprint = 0;

    snprintf(hash, sizeof hash, "%016" PRIx64, info.hash);
    if (def->robot_file) {
        doc_fingerprint_file(def->robot_file, &fingerprint, NULL); // 0 where it cannot be read
    }
    snprintf(print, sizeof print, "%016" PRIx64, fingerprint);
    doc_about_write(&about, &info);
    pl_text_add(&about, "  mesh_size: %.17g\n  mesh_order: %d\n", def->mesh_size, def->mesh_order);

    // the undeformed body, only with shapes
    const pl_mesh *mesh = NULL;
    pl_status status = def->shapes && fresh ? pl_model_body(model, &mesh, err) : PL_OK;
    if (status == PL_OK && mesh) {
        const pl_mesh_view v = pl_mesh_get(mesh);
        pl_text_add(&rest, "points: %d\nrest: ", (int)v.vertex_count);
        doc_numbers_write(&rest, v.position, 3 * (int64_t)v.vertex_count, true);
        pl_text_add(&rest, "\n");
    }

    if (status == PL_OK && (about.failed || rest.failed)) {
        status = pl_fail_memory(err, s->path);
    }

    // the first five decide whether samples belong together
    const char *const fact[][2] = {{"format", DATASET_FORMAT},
                                   {"robot", hash},
                                   {"settings", def->settings},
                                   {"jacobians", def->jacobians ? "1" : "0"},
                                   {"shapes", def->shapes ? "1" : "0"},
                                   {"description", about.data},
                                   {"file", def->robot_file ? def->robot_file : ""},
                                   {"print", print},
                                   {"body", rest.data ? rest.data : ""}};
    for (int k = 0; status == PL_OK && k < PL_COUNT(fact); ++k) {
        // a new file is described, an existing one must agree
        if (fresh) {
            status = dataset_record(s, fact[k][0], fact[k][1], err);
        } else if (k < 5) {
            char *there = NULL;
            status = dataset_ask(s, "SELECT value FROM about WHERE key = ?1", fact[k][0], &there, NULL, err);
            if (status == PL_OK && (!there || strcmp(there, fact[k][1]) != 0)) {
                status =
                    pl_fail(err, PL_BAD_INPUT, "%s: belongs to %s: its %s is '%.200s', expected '%.200s'",
                            s->path, k == 1 ? "another robot or another mesh" : "another sampling",
                            fact[k][0], there ? there : "", fact[k][1]);
            }

            pl_free(there);
        }
    }

    pl_text_clear(&about);
    pl_text_clear(&rest);

    return status;
}

pl_status pl_dataset_create(const char *path, pl_model *model, const pl_dataset_def *def,
                            pl_dataset_file **out, pl_error *err)
{
    bool fresh;
    pl_status status = dataset_open(path, true, out, &fresh, err);

    if (status != PL_OK) {
        return status;
    }

    pl_dataset_file *s = *out;
    const pl_model_info info = pl_model_get_info(model);
    s->jacobians = def->jacobians;
    s->shapes = def->shapes;

    // all of it in one transaction, so that a kill leaves an empty file or a whole one
    status = dataset_run(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
                         "cannot be opened", err);
    if (status == PL_OK) {
        int64_t tables = 0; // another process may have been first
        status = dataset_ask(s, "SELECT count(*) FROM sqlite_master", NULL, NULL, &tables, err);
        fresh = tables == 0;
        if (status == PL_OK && fresh) {
            char pragma[64];
            snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", DATASET_APPLICATION);
            status = dataset_run(s, pragma, "cannot be written", err);
            status = status == PL_OK ? dataset_run(s, dataset_schema, "cannot be written", err) : status;
        }

        status = status == PL_OK ? dataset_meet(s, model, def, fresh, err) : status;
        status = status == PL_OK ? dataset_run(s, "COMMIT", "cannot be written", err) : status;
        if (status != PL_OK) {
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        }
    }

    // what later calls need: counts of the robot, and the prepared statements
    if (status == PL_OK) {
        status = pl_about_copy(&info, &s->about, err);
    }

    if (status == PL_OK &&
        (sqlite3_prepare_v2(
             s->db, "INSERT OR REPLACE INTO sample VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,0)", -1,
             &s->put, NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(s->db, "SELECT " DATASET_ROW " FROM sample WHERE number = ?1", -1, &s->row,
                            NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(s->db, "UPDATE sample SET checksum = ?1 WHERE number = ?2", -1, &s->seal, NULL) !=
             SQLITE_OK)) {
        status = dataset_fail(s, "cannot be asked", err);
    }

    if (status != PL_OK) {
        pl_dataset_close(s);
        *out = NULL;
    }

    return status;
}

static pl_status dataset_count(pl_dataset_file *s, const char *table, int64_t *count, pl_error *err)
{
    char sql[60];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    return dataset_ask(s, sql, NULL, NULL, count, err);
}

// Commands from number `from` on; those planned already keep their commands, so that a run can be resumed.
pl_status pl_dataset_plan(pl_dataset_file *s, int from, const double *command, int count, pl_error *err)
{
    sqlite3_stmt *q = NULL;
    const int bytes = s->about.info.command_count * (int)sizeof(double);
    pl_status status = dataset_run(s, "BEGIN IMMEDIATE", "cannot be written", err);

    if (status != PL_OK) {
        return status;
    }
    if (sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO plan VALUES(?1, ?2)", -1, &q, NULL) != SQLITE_OK) {
        status = dataset_fail(s, "cannot be written", err);
    }

    for (int k = 0; status == PL_OK && k < count; ++k) {
        sqlite3_bind_int(q, 1, from + k);
        sqlite3_bind_blob(q, 2, command + (int64_t)k * s->about.info.command_count, bytes, SQLITE_STATIC);
        status = sqlite3_step(q) == SQLITE_DONE ? PL_OK : dataset_fail(s, "cannot be written", err);
        sqlite3_reset(q);
    }

    sqlite3_finalize(q);
    if (status == PL_OK) {
        return dataset_run(s, "COMMIT", "cannot be written", err);
    }
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);

    return status;
}

// Takes the samples back whose checksum does not match: they are solved again.
static pl_status plan_damaged(pl_dataset_file *s, char *done, int count, pl_error *err)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, "SELECT " DATASET_ROW ", checksum FROM sample", -1, &q, NULL) !=
        SQLITE_OK) {
        return dataset_fail(s, "cannot be read", err);
    }

    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW) {
        const int64_t number = sqlite3_column_int64(q, 0);
        if (number >= 0 && number < count &&
            (uint64_t)sqlite3_column_int64(q, DATASET_ROW_COUNT) != sum_row(q)) {
            done[number] = 0;
        }
    }

    const pl_status status = step == SQLITE_DONE ? PL_OK : dataset_fail(s, "cannot be read", err);
    sqlite3_finalize(q);

    return status;
}

// Commands of all planned samples, and which are done; both owned by the caller (pl_file_free).
pl_status pl_dataset_read_plan(pl_dataset_file *s, double **command, char **done, int *count, pl_error *err)
{
    int64_t n = 0, C = s->about.info.command_count;
    *command = NULL;
    *done = NULL;
    *count = 0;
    pl_status status = dataset_count(s, "plan", &n, err);
    if (status != PL_OK) {
        return status;
    }
    *command = PL_NEW_ARRAY(double, n *C + 1);
    *done = PL_NEW_ARRAY(char, n + 1);
    sqlite3_stmt *q = NULL;
    if (!*command || !*done) {
        status = pl_fail_memory(err, s->path);
    } else if (sqlite3_prepare_v2(s->db,
                                  "SELECT p.number, p.command, s.number IS NOT NULL FROM plan p LEFT JOIN"
                                  " sample s ON s.number = p.number ORDER BY p.number",
                                  -1, &q, NULL) != SQLITE_OK) {
        status = dataset_fail(s, "cannot be read", err);
    }

    // numbers must be 0, 1, 2 ... without a gap
    for (int64_t k = 0; status == PL_OK && sqlite3_step(q) == SQLITE_ROW; ++k) {
        if (k >= n || sqlite3_column_int64(q, 0) != k ||
            sqlite3_column_bytes(q, 1) != (int)(C * (int64_t)sizeof(double))) {
            status =
                pl_fail(err, PL_BAD_INPUT, "%s: its plan is damaged at sample %lld", s->path, (long long)k);
            break;
        }

        memcpy(*command + k * C, sqlite3_column_blob(q, 1), (size_t)C * sizeof(double));
        (*done)[k] = (char)sqlite3_column_int(q, 2);
        *count = (int)k + 1;
    }

    // a sample that is damaged counts as not done
    sqlite3_finalize(q);
    status = status == PL_OK ? plan_damaged(s, *done, *count, err) : status;
    if (status != PL_OK) {
        pl_file_free((char *)*command);
        pl_file_free(*done);
        *command = NULL;
        *done = NULL;
    }

    return status;
}

// Insert and checksum in one transaction: a kill leaves the sample whole or not at all.
pl_status pl_dataset_put(pl_dataset_file *s, const pl_sample *sample, pl_error *err)
{
    const pl_model_info *i = &s->about.info;
    const int64_t C = i->command_count, M = i->marker_count;
    const bool solved = sample->fk->outcome == PL_SOLVED;
    sqlite3_stmt *q = s->put;
    double *slope = NULL;
    float *point = NULL;

    // what is known also of a failed sample
    sqlite3_bind_int(q, 1, sample->index);
    sqlite3_bind_text(q, 2, pl_outcome_name(sample->fk->outcome), -1, SQLITE_STATIC);
    sqlite3_bind_int(q, 3, solved);
    sqlite3_bind_double(q, 4, sample->fk->seconds);

    // arrays of a solved one
    const struct {
        const double *value;
        int64_t count;
    } array[] = {{sample->command, C},
                 {sample->answer.marker, 3 * M},
                 {sample->answer.rotation, 9 * M},
                 {sample->answer.sensor, i->sensor_count},
                 {sample->answer.effort, i->actuator_count},
                 {sample->answer.measure, i->actuator_count}};
    for (int k = 0; k < PL_COUNT(array); ++k) {
        if (k == 0 || solved) {
            sqlite3_bind_blob(q, 5 + k, array[k].value, (int)(array[k].count * (int64_t)sizeof(double)),
                              SQLITE_STATIC);
        }
    }

    if (solved && isfinite(sample->answer.energy)) {
        sqlite3_bind_double(q, 11, sample->answer.energy);
    }

    // derivatives in one blob, in the order that read_row expects
    bool room = true;
    if (solved && sample->derivative) {
        const pl_model_derivative *d = sample->derivative;
        const struct {
            const double *value;
            int64_t rows;
        } part[] = {{d->marker, 3 * M},
                    {d->rotation, 3 * M},
                    {d->sensor, i->sensor_count},
                    {d->effort, i->actuator_count},
                    {d->measure, i->actuator_count},
                    {d->energy, 1}};
        slope = PL_NEW_ARRAY(double, pl_dataset_slopes(i));
        room = slope != NULL;
        double *to = slope;

        for (int k = 0; room && k < PL_COUNT(part); ++k) {
            for (int64_t j = 0; j < part[k].rows * C; ++j) {
                to[j] = part[k].value ? part[k].value[j] : NAN;
            }
            to += part[k].rows * C;
        }

        if (room) {
            sqlite3_bind_blob(q, 12, slope, (int)((size_t)pl_dataset_slopes(i) * sizeof *slope),
                              SQLITE_STATIC);
        }
    }

    // shapes in single precision: they are for pictures and modes
    if (solved && sample->shape && room) {
        const int64_t n = 3 * (int64_t)sample->shape_count;
        point = PL_NEW_ARRAY(float, n);
        room = point != NULL;
        for (int64_t k = 0; room && k < n; ++k) {
            point[k] = (float)sample->shape[k];
        }
        if (room) {
            sqlite3_bind_blob(q, 13, point, (int)((size_t)n * sizeof *point), SQLITE_STATIC);
        }
    }

    // one transaction
    pl_status status =
        room ? dataset_run(s, "BEGIN IMMEDIATE", "cannot be written", err) : pl_fail_memory(err, s->path);
    const bool begun = status == PL_OK;
    if (begun && sqlite3_step(q) != SQLITE_DONE) {
        status = dataset_fail(s, "cannot be written", err);
    }
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    status = status == PL_OK ? sum_put(s, sample->index, err) : status;
    status = status == PL_OK ? dataset_run(s, "COMMIT", "cannot be written", err) : status;
    if (begun && status != PL_OK) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    pl_free(slope);
    pl_free(point);

    return status;
}

// ---- shards
// Copies the samples of one shard; *copied counts those that were not there yet.
static pl_status merge_one(pl_dataset_file *s, const char *path, bool fresh, int *copied, pl_error *err)
{
    sqlite3_stmt *q = NULL;
    pl_status status = PL_OK;

    if (sqlite3_prepare_v2(s->db, "ATTACH ?1 AS shard", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC) != SQLITE_OK || sqlite3_step(q) != SQLITE_DONE) {
        status = dataset_fail(s, path, err);
    }

    sqlite3_finalize(q);
    if (status != PL_OK) {
        return status;
    }

    // it must be a data set
    int64_t application = 0, differ = 0;
    status = dataset_ask(s, "PRAGMA shard.application_id", NULL, NULL, &application, err);
    if (status == PL_OK && application != DATASET_APPLICATION) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: is not a data set of `pliant sample`", path);
    }

    // the first shard describes a new file
    if (status == PL_OK && fresh) {
        status = dataset_run(s, dataset_schema, "cannot be written", err);
        status = status == PL_OK
                     ? dataset_run(s, "INSERT INTO about SELECT * FROM shard.about", "cannot be written", err)
                     : status;
    }

    // all others must describe the same robot and sampling
    if (status == PL_OK) {
        status =
            dataset_ask(s,
                        "SELECT count(*) FROM main.about m JOIN shard.about o ON m.key = o.key WHERE"
                        " m.key IN ('format','robot','settings','jacobians','shapes') AND m.value <> o.value",
                        NULL, NULL, &differ, err);
    }

    if (status == PL_OK && differ > 0) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: holds samples of another robot or another sampling than %s",
                         path, s->path);
    }

    if (status == PL_OK) {
        status = dataset_run(s,
                             "INSERT OR IGNORE INTO main.plan SELECT * FROM shard.plan;"
                             "INSERT OR IGNORE INTO main.sample SELECT * FROM shard.sample",
                             "cannot be written", err);
        *copied += status == PL_OK ? sqlite3_changes(s->db) : 0;
    }

    return status;
}

// Shards are opened for reading first, so that a wrong name creates no empty file.
pl_status pl_dataset_merge(const char *path, const char *const *shard, int shard_count, int *copied,
                           pl_error *err)
{
    pl_dataset_file *s = NULL;
    bool fresh;

    *copied = 0;
    for (int k = 0; k < shard_count; ++k) { // ATTACH would create it
        pl_dataset_file *there = NULL;
        bool empty;
        const pl_status readable = dataset_open(shard[k], false, &there, &empty, err);
        pl_dataset_close(there);
        if (readable != PL_OK) {
            return readable;
        }
    }

    pl_status status = dataset_open(path, true, &s, &fresh, err);
    if (status == PL_OK && fresh) {
        char pragma[64];
        snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", DATASET_APPLICATION);
        status = dataset_run(s, pragma, "cannot be written", err);
    }

    for (int k = 0; status == PL_OK && k < shard_count; ++k) {
        status = merge_one(s, shard[k], fresh && k == 0, copied, err);
        if (status == PL_OK) {
            status = dataset_run(s, "DETACH shard", "cannot be written", err);
        }
    }

    pl_dataset_close(s);

    return status;
}

// ---- reading
// Names, counts and mesh of the robot, from the description in the file.
static pl_status read_about(pl_dataset_file *s, pl_dataset *out, pl_error *err)
{
    // facts as text
    char *text = NULL, *body = NULL, *print = NULL;
    pl_status status =
        dataset_ask(s, "SELECT value FROM about WHERE key = ?1", "description", &text, NULL, err);

    if (status == PL_OK) {
        status = dataset_ask(s, "SELECT value FROM about WHERE key = ?1", "print", &print, NULL, err);
        out->robot_print = print ? strtoull(print, NULL, 16) : 0;
    }

    if (status == PL_OK) {
        status =
            dataset_ask(s, "SELECT value FROM about WHERE key = ?1", "file", &out->robot_file, NULL, err);
    }

    if (status == PL_OK) {
        status = dataset_ask(s, "SELECT value FROM about WHERE key = ?1", "body", &body, NULL, err);
    }
    if (out->robot_file && !out->robot_file[0]) {
        pl_free(out->robot_file);
        out->robot_file = NULL;
    }

    // parsed by the reader of robot files, which reports damage
    doc_robot_file f = {.path = s->path, .folder = "", .findings = pl_findings_create(), .large = true};
    bool good = status == PL_OK && f.findings && text;
    if (good) {
        const doc_node *root = doc_yaml_parse(&f, text, strlen(text));
        good = root && root->kind == DOC_MAP && doc_about_read(&f, root, &out->about) &&
               doc_real_read(&f, root, "mesh_size", &out->mesh_size) &&
               doc_whole_read(&f, root, "mesh_order", 0, 2, &out->mesh_order);
    }

    // the undeformed body
    if (good && body && body[0]) {
        const doc_node *root = doc_yaml_parse(&f, body, strlen(body));
        int points = 0;
        good = root && root->kind == DOC_MAP && doc_whole_read(&f, root, "points", 1, 100000000, &points);
        out->point_count = points;
        out->point_rest = good ? PL_NEW_ARRAY(double, 3 * (int64_t)points) : NULL;
        good = good && out->point_rest &&
               doc_numbers_read(&f, root, "rest", out->point_rest, 3 * (int64_t)points, false);
    }

    if (status == PL_OK && !good) {
        status = f.no_memory || !f.findings
                     ? pl_fail_memory(err, s->path)
                     : pl_fail(err, PL_BAD_INPUT, "%s: the description of its robot is damaged", s->path);
    }

    doc_robot_file_clear(&f);
    pl_free(text);
    pl_free(body);
    pl_free(print);

    return status;
}

// A blob of exactly `count` doubles; with gaps NAN is allowed. False: damaged.
static bool read_array(sqlite3_stmt *q, int column, double *to, int64_t count, bool gaps)
{
    if (sqlite3_column_bytes(q, column) != (int)(count * (int64_t)sizeof(double))) {
        return count == 0;
    }
    if (count == 0) {
        return true;
    }
    memcpy(to, sqlite3_column_blob(q, column), (size_t)count * sizeof(double));

    for (int64_t k = 0; !gaps && k < count; ++k) {
        if (!isfinite(to[k])) {
            return false;
        }
    }

    return true;
}

// Columns as in DATASET_ROW.
static bool read_row(sqlite3_stmt *q, pl_dataset *o, int64_t k, bool slopes, double *block)
{
    const pl_model_info *i = &o->about.info;
    const int64_t C = i->command_count, M = i->marker_count, S = i->sensor_count, A = i->actuator_count;

    // arrays without gaps first: commands, markers and sensors of a solved sample are known
    bool good = read_array(q, 4, o->command + k * C, C, false) &&
                read_array(q, 5, o->marker + k * 3 * M, 3 * M, false) &&
                read_array(q, 6, o->rotation + k * 9 * M, 9 * M, true) &&
                read_array(q, 7, o->sensor + k * S, S, false) &&
                read_array(q, 8, o->effort + k * A, A, true) && read_array(q, 9, o->measure + k * A, A, true);

    o->energy[k] = sqlite3_column_type(q, 10) == SQLITE_NULL ? NAN : sqlite3_column_double(q, 10);

    // derivatives
    if (good && slopes) {
        good = read_array(q, 11, block, pl_dataset_slopes(i), true);
        const struct {
            double *to;
            int64_t rows;
        } part[] = {{o->d_marker, 3 * M}, {o->d_rotation, 3 * M}, {o->d_sensor, S},
                    {o->d_effort, A},     {o->d_measure, A},      {o->d_energy, 1}};
        for (int p = 0; good && p < PL_COUNT(part); ++p) {
            memcpy(part[p].to + k * part[p].rows * C, block, (size_t)(part[p].rows * C) * sizeof *block);
            block += part[p].rows * C;
        }
    }

    // shape
    if (good && o->point_count) {
        const int64_t n = 3 * (int64_t)o->point_count;
        good = sqlite3_column_bytes(q, 12) == (int)(n * (int64_t)sizeof(float));
        if (good) {
            memcpy(o->point + k * n, sqlite3_column_blob(q, 12), (size_t)n * sizeof(float));
        }
    }

    return good;
}

// Arrays for n samples, those of derivatives only if all have them; false when out of memory.
static bool read_room(pl_dataset *o, int64_t n, bool slopes)
{
    const pl_model_info *i = &o->about.info;
    const int64_t C = i->command_count, M = i->marker_count, S = i->sensor_count, A = i->actuator_count;

    const struct {
        double **to;
        int64_t per;
        bool wanted;
    } list[] = {{&o->command, C, true},
                {&o->marker, 3 * M, true},
                {&o->rotation, 9 * M, true},
                {&o->sensor, S, true},
                {&o->effort, A, true},
                {&o->measure, A, true},
                {&o->energy, 1, true},
                {&o->d_marker, 3 * M * C, slopes},
                {&o->d_rotation, 3 * M * C, slopes},
                {&o->d_sensor, S * C, slopes},
                {&o->d_effort, A * C, slopes},
                {&o->d_measure, A * C, slopes},
                {&o->d_energy, C, slopes}};
    for (int k = 0; k < PL_COUNT(list); ++k) {
        if (list[k].wanted && !(*list[k].to = PL_NEW_ARRAY(double, n *list[k].per + 1))) {
            return false;
        }
    }

    return !o->point_count || (o->point = PL_NEW_ARRAY(float, n * 3 * (int64_t)o->point_count + 1));
}

// Solved samples in rising order. Damaged ones are left out and counted; files of format 1 have no checksums
// and are refused at the first damage that shows.
static pl_status read_samples(const char *path, pl_dataset *out, pl_error *err)
{
    pl_dataset_file *s = NULL;
    bool fresh;
    pl_status status = dataset_open(path, false, &s, &fresh, err);
    if (status != PL_OK) {
        return status;
    }

    // counts first: they fix the sizes
    int64_t solved = 0, all = 0, planned = 0, without = 0;
    status = read_about(s, out, err);
    status = status == PL_OK
                 ? dataset_ask(s, "SELECT count(*) FROM sample WHERE solved", NULL, NULL, &solved, err)
                 : status;
    status = status == PL_OK ? dataset_count(s, "sample", &all, err) : status;
    status = status == PL_OK ? dataset_count(s, "plan", &planned, err) : status;
    status = status == PL_OK ? dataset_ask(s, "SELECT count(*) FROM sample WHERE solved AND jacobian IS NULL",
                                           NULL, NULL, &without, err)
                             : status;

    // derivatives only if every sample has them
    const bool slopes = solved > 0 && without == 0;
    char *format = NULL;
    status = status == PL_OK
                 ? dataset_ask(s, "SELECT value FROM about WHERE key = ?1", "format", &format, NULL, err)
                 : status;
    out->unchecked = status == PL_OK && format && strcmp(format, "1") == 0;
    pl_free(format);
    sqlite3_stmt *q = NULL;
    double *block = NULL;
    if (status == PL_OK) {
        block = PL_NEW_ARRAY(double, pl_dataset_slopes(&out->about.info));
        status = block && read_room(out, solved, slopes) ? PL_OK : pl_fail_memory(err, path);
    }

    // rows
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT " DATASET_ROW ", %s FROM sample WHERE solved ORDER BY number",
             out->unchecked ? "0" : "checksum");
    if (status == PL_OK && sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK) {
        status = dataset_fail(s, "cannot be read", err);
    }

    int step = SQLITE_DONE;
    while (status == PL_OK && out->count + out->damaged < solved && (step = sqlite3_step(q)) == SQLITE_ROW) {
        const bool whole =
            out->unchecked || (uint64_t)sqlite3_column_int64(q, DATASET_ROW_COUNT) == sum_row(q);
        if (whole && read_row(q, out, out->count, slopes, block)) {
            ++out->count;
        } else if (out->unchecked) {
            status = pl_fail(err, PL_BAD_INPUT, "%s: sample %d is damaged", path, sqlite3_column_int(q, 0));
        } else {
            out->first_damaged = out->damaged++ ? out->first_damaged : sqlite3_column_int(q, 0);
        }
    }

    if (status == PL_OK && step != SQLITE_ROW && step != SQLITE_DONE) {
        status = dataset_fail(s, "cannot be read", err);
    }
    out->failed = (int)(all - solved);
    out->planned = (int)planned;
    sqlite3_finalize(q);
    pl_free(block);
    pl_dataset_close(s);
    if (status != PL_OK) {
        pl_dataset_clear(out);
    }

    return status;
}

pl_status pl_dataset_read(const char *path, pl_dataset **out, pl_error *err)
{
    *out = NULL;
    pl_dataset *data = PL_NEW(pl_dataset);
    if (!data) {
        return pl_fail_memory(err, path);
    }

    const pl_status status = read_samples(path, data, err);
    if (status != PL_OK) {
        pl_dataset_destroy(data);
        return status;
    }

    *out = data;

    return PL_OK;
}
