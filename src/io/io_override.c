// Numbers of a robot file found by their path and replaced in the text.
#include <stdio.h>
#include <stdlib.h>
#include "io/io_robot.h"

static const io_node *override_entry(const io_node *node, const char *key)
{
    if (node->kind == IO_MAP) {
        return io_child(node, key);
    }
    char *end = NULL;
    const long number = strtol(key, &end, 10);
    long at = 0;
    for (const io_node *n = node->kind == IO_LIST ? node->child : NULL; n; n = n->next, ++at) {
        const io_node *name = n->kind == IO_MAP ? io_child(n, "name") : NULL;
        if ((name && name->kind == IO_SCALAR && strcmp(name->text, key) == 0) ||
            (end != key && !*end && at == number)) {
            return n;
        }
    }
    return NULL;
}

static const io_node *override_find(const io_node *root, const char *key)
{
    const io_node *node = root;
    while (node && *key) {
        char part[128];
        size_t length = strcspn(key, ".");
        snprintf(part, sizeof part, "%.*s", (int)(length < 120 ? length : 120), key);
        node = override_entry(node, part);
        key += length + (key[length] == '.');
    }
    return node;
}

// Where the number stands in the text, and what follows it up to the end of the scalar: its unit.
typedef struct override_place {
    size_t at, length; // of the number
    double value;
    char unit[16];
} override_place;

static pl_status override_locate(const io_node *root, const char *text, size_t length, const char *path,
                                 const char *key, override_place *out, pl_error *err)
{
    const io_node *node = root ? override_find(root, key) : NULL;
    if (!node || node->kind != IO_SCALAR) {
        return pl_fail(err, PL_BAD_INPUT, "%s: there is no number '%s'", path, key);
    }
    // the beginning of its line, then the scalar itself
    size_t at = 0;
    for (int line = 1; line < node->line && at < length; ++at) {
        line += text[at] == '\n';
    }
    const size_t key_length = node->key ? strlen(node->key) : 0;
    const char *found = NULL;
    for (const char *c = text + at; !found && c < text + length && *c != '\n'; ++c) {
        const char *before = c;
        while (before > text + at && (before[-1] == ' ' || before[-1] == '"' || before[-1] == '\'')) {
            --before;
        }
        const bool after_key = !node->key || (before >= text + at + key_length + 1 && before[-1] == ':' &&
                                              strncmp(before - 1 - key_length, node->key, key_length) == 0);
        found = after_key && strncmp(c, node->text, strlen(node->text)) == 0 ? c : NULL;
    }
    char *end = NULL;
    out->value = strtod(node->text, &end);
    if (!found || end == node->text || !isfinite(out->value)) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: '%s' is '%.60s', expected a number", path, node->line, key,
                       node->text);
    }
    out->at = (size_t)(found - text);
    out->length = (size_t)(end - node->text);
    while (*end == ' ') {
        ++end;
    }
    snprintf(out->unit, sizeof out->unit, "%.15s", end);
    return PL_OK;
}

static const io_node *override_parse(io_robot_file *f, const char *text, size_t length, const char *path)
{
    *f = (io_robot_file){.path = path, .folder = "", .findings = pl_findings_create()};
    const io_node *root = f->findings ? io_yaml_parse(f, text, length) : NULL;
    return root && root->kind == IO_MAP ? root : NULL;
}

pl_status pl_robot_text_number(const char *text, size_t length, const char *path, const char *key,
                               double *value, char unit[16], pl_error *err)
{
    io_robot_file f;
    override_place place = {0};
    const io_node *root = override_parse(&f, text, length, path);
    const pl_status status = override_locate(root, text, length, path, key, &place, err);
    if (status == PL_OK) {
        *value = place.value;
        memcpy(unit, place.unit, 16);
    }
    io_robot_file_clear(&f);
    return status;
}

pl_status pl_robot_text_set(const char *text, size_t length, const char *path, const char *const *key,
                            const double *value, int count, char **out, pl_error *err)
{
    *out = NULL;
    pl_text now = {0};
    pl_text_add_bytes(&now, text, length);
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < count && !now.failed; ++k) {
        io_robot_file f;
        override_place place = {0};
        const io_node *root = override_parse(&f, now.data, now.length, path);
        status = override_locate(root, now.data, now.length, path, key[k], &place, err);
        io_robot_file_clear(&f);
        pl_text next = {0};
        if (status == PL_OK) {
            pl_text_add_bytes(&next, now.data, place.at);
            pl_text_add(&next, "%.17g", value[k]);
            pl_text_add_bytes(&next, now.data + place.at + place.length,
                              now.length - place.at - place.length);
            pl_text_clear(&now);
            now = next;
        }
    }
    if (status == PL_OK && now.failed) {
        status = pl_fail_memory(err, path);
    }
    if (status != PL_OK) {
        pl_text_clear(&now);
        return status;
    }
    *out = now.data;
    return PL_OK;
}
