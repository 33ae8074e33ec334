// Entries of a robot document: found by their keys, replaced in the tree. The text is not changed; it is
// written again with the edited entries in their places (document_text.c).
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "document/document_tree.h"
#include "text/text_expression.h"

// ---- finding
// The entry of a block or list that `key` begins with, the longest if names contain dots; `length` is how
// much of the key it takes. Items of lists are found by their name or by their number from 0.
static doc_node *edit_entry(const doc_node *node, const char *key, size_t key_length, size_t *length)
{
    doc_node *found = NULL;
    char *end = NULL;
    const long number = node->kind == DOC_LIST && isdigit((unsigned char)key[0]) ? strtol(key, &end, 10) : -1;
    long at = 0;

    *length = 0;
    for (doc_node *n = node->child; n; n = n->next, ++at) {
        const doc_node *name = node->kind == DOC_LIST && n->kind == DOC_MAP ? doc_child(n, "name") : NULL;
        const char *known = node->kind == DOC_MAP              ? n->key
                            : name && name->kind == DOC_SCALAR ? name->text
                                                               : NULL;
        const size_t size = known ? strlen(known) : 0;
        if (known && size <= key_length && size > *length && strncmp(known, key, size) == 0 &&
            (size == key_length || key[size] == '.')) {
            found = n;
            *length = size;
        }

        const size_t digits = end ? (size_t)(end - key) : 0;
        if (!found && at == number && digits <= key_length && (digits == key_length || key[digits] == '.')) {
            found = n;
            *length = digits;
        }
    }

    return found;
}

// "design.wall" stands for "mesh.design.wall" (of the first body with a design), "reach" for
// "parameters.reach": the node where the search for `key` begins, and in `skip` how much of the key that
// takes.
static doc_node *edit_begin(const pl_robot_document *d, const char *key, size_t length, size_t *skip)
{
    doc_node *root = d->root;
    const doc_node *mesh = doc_child(root, "mesh"), *parameters = doc_child(root, "parameters");
    const doc_node *bodies = doc_child(root, "bodies");
    size_t used;

    for (const doc_node *n = bodies && bodies->kind == DOC_LIST ? bodies->child : NULL; n && !mesh;
         n = n->next) {
        mesh = doc_child(doc_child(n, "mesh"), "design") ? doc_child(n, "mesh") : NULL;
    }

    *skip = 0;
    if (edit_entry(root, key, length, &used)) {
        return root;
    }

    if (mesh && length > 7 && strncmp(key, "design.", 7) == 0) {
        // a number of the design that is given by a parameter of the file is that parameter
        const doc_node *design = doc_child(mesh, "design");
        const doc_node *number = design ? edit_entry(design, key + 7, length - 7, &used) : NULL;
        doc_node *reference =
            number && number->kind == DOC_SCALAR && parameters ? doc_child(parameters, number->text) : NULL;
        *skip = reference ? length : 0;
        return reference ? reference : (doc_node *)mesh;
    }

    if (parameters && edit_entry(parameters, key, length, &used) && used == length) {
        return (doc_node *)parameters;
    }

    return root;
}

doc_node *doc_find(const pl_robot_document *document, const char *key)
{
    size_t length = strlen(key), used;
    if (!document->root || document->root->kind != DOC_MAP) {
        return NULL;
    }

    doc_node *node = edit_begin(document, key, length, &used);
    for (key += used, length -= used; node && length > 0;) {
        node = edit_entry(node, key, length, &used);
        used += used < length && key[used] == '.';
        key += used;
        length -= used;
    }

    return node;
}

// ---- values
const char *pl_robot_document_value(const pl_robot_document *document, const char *key)
{
    const doc_node *node = doc_find(document, key);
    return node && node->kind == DOC_SCALAR ? node->text : NULL;
}

// The scalar at `key`; NULL after a report.
static doc_node *edit_scalar(const pl_robot_document *d, const char *key, pl_error *err)
{
    if (doc_tree(d, err) != PL_OK) {
        return NULL;
    }

    doc_node *node = doc_find(d, key);
    if (!node) {
        pl_fail(err, PL_BAD_INPUT, "%s: there is no number '%s'", d->source.path, key);
    } else if (node->kind != DOC_SCALAR) {
        pl_fail(err, PL_BAD_INPUT, "%s:%d: '%s' is %s, expected a number", d->source.path, node->line, key,
                doc_kind_name(node));
        node = NULL;
    }

    return node;
}

// The number at `key` as it is written, and the place of its unit; NULL after a report.
static doc_node *edit_number(const pl_robot_document *d, const char *key, double *value, size_t *digits,
                             pl_error *err)
{
    doc_node *node = edit_scalar(d, key, err);
    if (!node || text_quantity_split(node->text, value, digits)) {
        return node;
    }
    pl_fail(err, PL_BAD_INPUT, "%s:%d: '%s' is '%.60s', expected a number%s", d->source.path, node->line, key,
            node->text,
            text_is_expression(NULL, 0, node->text) ? "; change the parameters of the expression" : "");
    return NULL;
}

pl_status pl_robot_document_number(const pl_robot_document *document, const char *key, double *value,
                                   char unit[16], pl_error *err)
{
    size_t digits = 0;
    pl_error own = {0};
    const doc_node *node = edit_number(document, key, value, &digits, &own);

    if (!node) {
        return pl_fail(err, PL_BAD_INPUT, "%s", own.text);
    }

    const char *rest = node->text + digits;
    snprintf(unit, 16, "%.15s", rest + strspn(rest, " "));

    return PL_OK;
}

// The value of an expression in internal units.
pl_status pl_robot_document_evaluate(const pl_robot_document *document, const char *key,
                                     pl_dimension dimension, double *value, pl_error *err)
{
    pl_error own = {0};
    const doc_node *node = edit_scalar(document, key, &own);

    if (!node) {
        return pl_fail(err, PL_BAD_INPUT, "%s", own.text);
    }

    // the names an expression may use are those at the top of the file
    doc_robot_file f = {.path = document->source.path, .folder = "", .findings = pl_findings_create()};
    pl_status status = PL_OK;
    if (!f.findings) {
        status = pl_fail_memory(err, "the robot file");
    } else {
        doc_read_names(&f, document->root);
        doc_read_quantity(&f, node, key, dimension, value);
        status = doc_robot_file_report(&f, PL_OK, NULL, err);
    }

    doc_robot_file_clear(&f);

    return status;
}

// ---- edits
// Names the nearest entry of the block where the search ended.
static pl_status edit_unknown(const char *key, const doc_node *node, const char *rest, size_t length,
                              pl_error *err)
{
    const char *known[64];
    char word[100];
    int count = 0;

    for (const doc_node *n = node->child; n && count < 64; n = n->next) {
        const doc_node *name = node->kind == DOC_LIST && n->kind == DOC_MAP ? doc_child(n, "name") : NULL;
        if (node->kind == DOC_MAP || (name && name->kind == DOC_SCALAR)) {
            known[count++] = node->kind == DOC_MAP ? n->key : name->text;
        }
    }

    snprintf(word, sizeof word, "%.*s", (int)(length < 99 ? length : 99), rest);
    const char *near = pl_nearest_word(word, known, count);

    return pl_fail(err, PL_BAD_INPUT, "%s: the robot file has no '%s' there%s%s%s", key, word,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// The entries of a value stand on the line of the entry they replace: messages name the lines of the file.
static void edit_place(doc_node *node, int line)
{
    node->line = node->key_line = line;
    for (doc_node *n = node->child; n; n = n->next) {
        edit_place(n, line);
    }
}

// A new entry at the end of a block.
static doc_node *edit_add(pl_robot_document *d, doc_node *map, const char *key, size_t length)
{
    doc_node *node = doc_arena_take(&d->source.arena, sizeof *node);
    const char *name = node ? doc_arena_text(&d->source.arena, key, length) : NULL;

    if (!name) {
        return NULL;
    }

    doc_node **slot = &map->child;
    *node = (doc_node){.kind = DOC_NULL, .key = name, .added = true, .edited = true};
    node->line = node->key_line = map->child ? map->child->key_line : map->line;
    map->edited = map->edited || !map->child; // {} is written again as a whole
    while (*slot) {
        slot = &(*slot)->next;
    }
    *slot = node;
    ++map->count;

    return node;
}

// Adds the items of `value` to a list.
static void edit_append(doc_node *list, const doc_node *value)
{
    doc_node **slot = &list->child;
    list->edited = list->edited || !list->child;
    while (*slot) {
        slot = &(*slot)->next;
    }
    *slot = value->child;
    for (doc_node *n = value->child; n; n = n->next) {
        n->added = n->edited = true;
    }
    list->count += value->count;
}

// Replaces an entry; key, style and place remain.
static void edit_replace(doc_node *node, const doc_node *value)
{
    node->quoted = (node->quoted && node->kind == DOC_SCALAR) || value->quoted;
    node->kind = value->kind;
    node->text = value->text;
    node->child = value->child;
    node->count = value->count;
    node->edited = true;
}

// A word in place of a material is the name of one in the library: {use: word}.
static doc_node *edit_material(pl_robot_document *d, const char *key, doc_node *value)
{
    const size_t dot = strcspn(key, ".");
    if (value->kind != DOC_SCALAR || strncmp(key, "materials.", 10) != 0 || strchr(key + dot + 1, '.')) {
        return value;
    }

    doc_node *map = doc_arena_take(&d->source.arena, sizeof *map);
    if (map) {
        *map = (doc_node){.kind = DOC_MAP, .child = value, .count = 1};
        value->key = "use";
    }

    return map;
}

// The YAML of a value, in the arena of the document.
static doc_node *edit_value(pl_robot_document *d, const char *key, const char *value, pl_error *err)
{
    doc_robot_file f = {.path = key, .folder = "", .findings = pl_findings_create()};
    f.arena = d->source.arena;
    doc_node *node = f.findings ? doc_yaml_parse(&f, value, strlen(value)) : NULL;
    const bool good = node && pl_findings_defect_count(f.findings) == 0;
    const bool memory = f.no_memory || !f.findings;
    d->source.arena = f.arena;
    pl_findings_destroy(f.findings);
    node = good ? edit_material(d, key, node) : NULL;
    if (memory || (good && !node)) {
        pl_fail_memory(err, "the robot file");
        return NULL;
    }

    if (!good) {
        pl_fail(err, PL_BAD_INPUT, "%s: '%s' is not a value", key, value);
    }

    return node;
}

// The entry to replace, made if its block has none of that name; NULL after a report. At the top of the file
// new blocks are made only on request (`more`), because there a mistyped name is more likely.
static doc_node *edit_target(pl_robot_document *d, const char *key, size_t length, bool more, pl_error *err)
{
    size_t used;
    const char *rest = key;
    doc_node *at = edit_begin(d, key, length, &used);

    if (used == length && length > 0) {
        return at;
    }

    for (;;) {
        // step by step along the key; only the last part may be new
        doc_node *next = edit_entry(at, rest, length, &used);
        const bool last = next ? used == length : !memchr(rest, '.', length);
        if (!next && (!last || at->kind != DOC_MAP || (at == d->root && !more) || length == 0)) {
            edit_unknown(key, at, rest, next ? used : strcspn(rest, "."), err);
            return NULL;
        }

        if (!next) {
            next = edit_add(d, at, rest, length);
            if (!next) {
                pl_fail_memory(err, "the robot file");
            }
            return next;
        }

        if (last) {
            return next;
        }
        at = next;
        rest += used + 1;
        length -= used + 1;
    }
}

// A trailing + adds to a list or makes a block. The text of the file is unchanged until it is written.
pl_status pl_robot_document_set(pl_robot_document *document, const char *key, const char *value,
                                pl_error *err)
{
    pl_error own = {0};
    if (doc_tree(document, &own) != PL_OK) {
        return pl_fail(err, own.status, "%s", own.text);
    }

    size_t length = strlen(key);
    const bool more = length > 0 && key[length - 1] == '+';
    length -= more;
    doc_node *given = edit_value(document, key, value, &own);
    doc_node *node = given ? edit_target(document, key, length, more, &own) : NULL;
    if (!node) {
        return pl_fail(err, own.status, "%s", own.text);
    }
    edit_place(given, node->line);
    if (more && given->kind == DOC_LIST && node->kind == DOC_LIST) {
        edit_append(node, given);
    } else {
        edit_replace(node, given);
    }

    return PL_OK;
}

pl_status pl_robot_document_set_number(pl_robot_document *document, const char *key, double value,
                                       pl_error *err)
{
    size_t digits = 0;
    double old;
    pl_error own = {0};
    doc_node *node = edit_number(document, key, &old, &digits, &own);

    if (!node || !isfinite(value)) {
        return node ? pl_fail(err, PL_BAD_INPUT, "%s: %g is not a number", key, value)
                    : pl_fail(err, own.status, "%s", own.text);
    }

    // the shortest text that is read as the same number
    char number[40];
    for (int precision = 6; precision <= 17; ++precision) {
        pl_format(number, sizeof number, "%.*g", precision, value);
        if (pl_real_read(number, NULL) == value) {
            break;
        }
    }

    const char *text = doc_arena_format(&document->source.arena, "%s%s", number, node->text + digits);
    if (!text) {
        return pl_fail_memory(err, "the robot file");
    }
    node->text = text;
    node->edited = true;

    return PL_OK;
}
