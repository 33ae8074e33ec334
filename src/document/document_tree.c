// Robot documents: reading, kinds, copies, the fingerprint of what determines the results.
#include "document/document_tree.h"
#include <stdio.h>
#include <sys/stat.h>
#include "text/text_file.h"

// A learned model holds many numbers: recognised before it is parsed, by a line that begins with `learned:`.
static bool document_seems_learned(const char *text, size_t length)
{
    // within the first 20 kB: the block comes first
    for (size_t i = 0; i + 8 <= length && i < 20000; ++i) {
        if ((i == 0 || text[i - 1] == '\n') && strncmp(text + i, "learned:", 8) == 0) {
            return true;
        }
    }

    return false;
}

// The kind by the keys at the top; of a text that is no YAML, by a line that begins with `model:`.
static pl_robot_kind document_kind(const pl_robot_document *d)
{
    if (d->root && d->root->kind == DOC_MAP) {
        return doc_child(d->root, "learned") ? PL_ROBOT_LEARNED
               : doc_child(d->root, "model") ? PL_ROBOT_REDUCED
                                             : PL_ROBOT_FULL;
    }

    if (d->source.large) {
        return PL_ROBOT_LEARNED;
    }

    for (size_t i = 0; i + 6 <= d->length; ++i) {
        if ((i == 0 || d->text[i - 1] == '\n') && strncmp(d->text + i, "model:", 6) == 0) {
            return PL_ROBOT_REDUCED;
        }
    }

    return PL_ROBOT_FULL;
}

// A document without text: path, folder, an empty list of findings.
static pl_robot_document *document_new(const char *path)
{
    pl_robot_document *d = PL_NEW(pl_robot_document);
    if (!d) {
        return NULL;
    }

    doc_robot_file *f = &d->source;
    *f = (doc_robot_file){.path = "robot file", .folder = "", .findings = pl_findings_create()};
    bool good = f->findings != NULL;

    if (good && path) {
        const char *slash = strrchr(path, '/');
        f->path = doc_arena_text(&f->arena, path, strlen(path));
        f->folder = slash ? doc_arena_text(&f->arena, path, (size_t)(slash - path) + 1) : "";
        f->has_path = true;
        good = f->path && f->folder;
    }

    if (!good) {
        pl_robot_document_destroy(d);
        return NULL;
    }

    return d;
}

// A copy with a NUL behind it, for the searches.
static bool document_take_text(pl_robot_document *d, const char *text, size_t length)
{
    d->text = pl_alloc(length + 1);
    if (d->text) {
        memcpy(d->text, text, length);
        d->text[length] = 0;
        d->length = length;
    }

    return d->text != NULL;
}

pl_status pl_robot_document_parse(const char *text, size_t length, const char *path, pl_robot_document **out,
                                  pl_error *err)
{
    if (!text || !out) {
        return pl_fail(err, PL_BAD_INPUT, "robot file: text and the result pointer must not be NULL");
    }
    *out = NULL;
    pl_robot_document *d = document_new(path);
    if (!d || !document_take_text(d, text, length)) {
        pl_robot_document_destroy(d);
        return pl_fail_memory(err, "the robot file");
    }

    // one parse; everything else works on the tree
    pl_log(2, "%s: parsed, %zu bytes", d->source.path, length);
    d->source.large = document_seems_learned(text, length);
    d->root = doc_yaml_parse(&d->source, d->text, length);
    if (d->source.no_memory) {
        pl_robot_document_destroy(d);
        return pl_fail_memory(err, "the robot file");
    }

    d->kind = document_kind(d);
    *out = d;

    return PL_OK;
}

// The text of a message about a file, without its name in front.
static const char *document_sentence(const char *text, const char *path)
{
    const size_t n = strlen(path);
    return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

pl_status pl_robot_document_read(const char *path, pl_robot_document **out, pl_findings *findings,
                                 pl_error *err)
{
    if (!path || !out) {
        return pl_fail(err, PL_BAD_INPUT, "robot file: path and the result pointer must not be NULL");
    }
    *out = NULL;
    char *text = NULL;
    size_t length = 0;
    pl_error own = {0};
    pl_log(2, "%s: opened", path);
    pl_status status = pl_file_read(path, &text, &length, &own);
    if (status != PL_OK) {
        pl_findings_add(findings, PL_DEFECT, path, 0, "%s", document_sentence(own.text, path));
        pl_findings_advise(findings, "a robot is a file such as robot.yaml, or the folder it lies in; "
                                     "`pliant new` writes one");
        return pl_fail(err, status, "%s", own.text);
    }

    status = pl_robot_document_parse(text, length, path, out, err);
    pl_file_free(text);

    return status;
}

void pl_robot_document_destroy(pl_robot_document *document)
{
    if (document) {
        doc_robot_file_clear(&document->source);
        pl_free(document->text);
        pl_free(document);
    }
}

// ---- copies
// Deep copy; the arena remembers a failure.
static doc_node *document_copy_node(doc_arena *arena, const doc_node *node)
{
    doc_node *copy = doc_arena_take(arena, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    *copy = *node;
    copy->text = node->text ? doc_arena_text(arena, node->text, strlen(node->text)) : NULL;
    copy->key = node->key ? doc_arena_text(arena, node->key, strlen(node->key)) : NULL;
    copy->next = NULL;
    doc_node **slot = &copy->child;

    for (const doc_node *n = node->child; n; n = n->next) {
        *slot = document_copy_node(arena, n);
        if (!*slot) {
            return NULL;
        }
        slot = &(*slot)->next;
    }

    return copy;
}

pl_status pl_robot_document_copy(const pl_robot_document *document, pl_robot_document **out, pl_error *err)
{
    *out = NULL;
    const doc_robot_file *from = &document->source;
    pl_robot_document *d = document_new(from->has_path ? from->path : NULL);
    if (!d || !document_take_text(d, document->text, document->length)) {
        pl_robot_document_destroy(d);
        return pl_fail_memory(err, "the robot file");
    }

    for (int i = 0; i < pl_findings_count(from->findings); ++i) {
        doc_adopt_finding(&d->source, pl_findings_at(from->findings, i), 0);
    }
    d->source.large = from->large;
    d->kind = document->kind;
    d->root = document->root ? document_copy_node(&d->source.arena, document->root) : NULL;
    if (d->source.arena.failed || d->source.no_memory) {
        pl_robot_document_destroy(d);
        return pl_fail_memory(err, "the robot file");
    }

    *out = d;

    return PL_OK;
}

// ---- queries
pl_robot_kind pl_robot_document_kind(const pl_robot_document *document)
{
    return document->kind;
}

const char *pl_robot_document_path(const pl_robot_document *document)
{
    return document->source.path;
}

pl_status doc_tree(const pl_robot_document *document, pl_error *err)
{
    const pl_findings *found = document->source.findings;
    if (document->root && document->root->kind == DOC_MAP && pl_findings_defect_count(found) == 0) {
        return PL_OK;
    }
    if (pl_findings_count(found) > 0) {
        const pl_finding *first = pl_findings_at(found, 0);
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: %s", document->source.path, first->line, first->text);
    }

    return pl_fail(err, PL_BAD_INPUT, "%s: expected a block of keys, found %s", document->source.path,
                   document->root ? doc_kind_name(document->root) : "nothing");
}

pl_status pl_robot_document_check(const pl_robot_document *document, pl_findings *findings, pl_error *err)
{
    doc_robot_file f;
    doc_robot_file_read(&f, document);
    const pl_status status = doc_robot_file_report(&f, PL_OK, findings, err);
    doc_robot_file_clear(&f);
    return status;
}

// As robot_commands: those given, then every actuator that none of them drives, then obstacles that move.
static void document_commands(const pl_robot_def *d, pl_text *out)
{
    for (int c = 0; c < d->command_count; ++c) {
        pl_text_add(out, "%s ", d->command[c].name);
    }

    for (int a = 0; a < d->actuator_count; ++a) {
        const char *name = d->actuator[a].name;
        bool driven = false;

        for (int c = 0; c < d->command_count; ++c) {
            driven = driven || strcmp(d->command[c].name, name) == 0;
            for (int k = 0; k < d->command[c].drive_count; ++k) {
                driven = driven || strcmp(d->command[c].drive[k].actuator, name) == 0;
            }
        }

        if (!driven) {
            pl_text_add(out, "%s ", name);
        }
    }

    for (int o = 0; o < d->contact.obstacle_count; ++o) {
        const pl_obstacle_def *obstacle = &d->contact.obstacle[o];
        if (obstacle->name && (obstacle->moves || obstacle->pulled)) {
            pl_text_add(out, "%s ", obstacle->name);
        }
    }
}

// Names separated by blanks, owned by the caller; NULL unless the file is a full robot without defects.
char *pl_robot_document_commands(const pl_robot_document *document)
{
    doc_robot_file f;
    pl_text out = {0};

    doc_robot_file_read(&f, document);
    const bool good =
        document->kind == PL_ROBOT_FULL && !f.no_memory && pl_findings_defect_count(f.findings) == 0;
    if (good) {
        pl_text_add(&out, "%s", "");
        document_commands(&f.def, &out);
    }

    doc_robot_file_clear(&f);
    if (!good || out.failed) {
        pl_text_clear(&out);
        return NULL;
    }

    return out.data;
}

// ---- the fingerprint
// Blocks that do not change the results of a solve.
static bool fingerprint_ignores(const char *key)
{
    static const char *const list[] = {"pliant", "name", "hardware", "estimator", "controller", "plant"};
    for (int i = 0; key && i < PL_COUNT(list); ++i) {
        if (strcmp(key, list[i]) == 0) {
            return true;
        }
    }

    return false;
}

// NULL and "" have the same hash.
static uint64_t fingerprint_text(uint64_t h, const char *text)
{
    return text ? pl_hash_bytes(h, text, strlen(text) + 1) : pl_hash_bytes(h, "", 1);
}

// A scalar that names a file (a mesh, a part, a curve) stands for its contents.
static uint64_t fingerprint_named_file(uint64_t h, const doc_robot_file *f, const char *name)
{
    char path[4096], *data = NULL;
    size_t bytes = 0;
    struct stat info;
    const int n = snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : f->folder, name);

    if (n < 0 || n >= (int)sizeof path || stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        pl_file_read(path, &data, &bytes, NULL) != PL_OK) {
        return h;
    }

    h = pl_hash_bytes(h, data, bytes);
    pl_file_free(data);

    return h;
}

// Every entry with its key and kind; "]" separates lists of different depth.
static uint64_t fingerprint_node(uint64_t h, const doc_robot_file *f, const doc_node *node, bool top)
{
    const int kind = node->kind;
    h = pl_hash_bytes(h, &kind, sizeof kind);
    h = fingerprint_text(h, node->key);
    if (node->kind == DOC_SCALAR) {
        h = fingerprint_text(h, node->text);
        return node->text && strchr(node->text, '.') ? fingerprint_named_file(h, f, node->text) : h;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        h = top && fingerprint_ignores(n->key) ? h : fingerprint_node(h, f, n, false);
    }

    return pl_hash_bytes(h, "]", 1);
}

uint64_t pl_robot_document_fingerprint(const pl_robot_document *document)
{
    const uint64_t h = document->root ? fingerprint_node(1, &document->source, document->root, true)
                                      : pl_hash_bytes(2, document->text, document->length);
    // 0 means that there is none
    return h ? h : 1;
}

pl_status doc_fingerprint_file(const char *path, uint64_t *out, pl_error *err)
{
    pl_robot_document *d = NULL;
    const pl_status status = pl_robot_document_read(path, &d, NULL, err);
    *out = status == PL_OK ? pl_robot_document_fingerprint(d) : 0;
    pl_robot_document_destroy(d);
    return status;
}
