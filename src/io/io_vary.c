// Variants of a robot file: some of its values replaced, the rest as it stands. The tree of the file is
// changed and written again as YAML, each entry on the line it came from, so that messages about a variant
// name the lines of the file.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "io/io_robot.h"
#include "pliant/report.h"

// ---- writing a tree
static void vary_scalar(pl_text *t, const char *text)
{
    pl_text_add(t, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; ++c) {
        if (*c < 0x20 || *c == 0x7f) {
            pl_text_add(t, "\\x%02x", *c);
        } else {
            pl_text_add(t, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        }
    }
    pl_text_add(t, "\"");
}

static void vary_write(pl_text *t, int *line, const io_node *node)
{
    const bool map = node->kind == IO_MAP;
    switch (node->kind) {
    case IO_NULL:
        pl_text_add(t, "~");
        return;
    case IO_SCALAR:
        vary_scalar(t, node->text);
        return;
    default:
        pl_text_add(t, map ? "{" : "[");
        for (const io_node *n = node->child; n; n = n->next) {
            for (const int at = map ? n->key_line : n->line; *line < at; ++*line) {
                pl_text_add(t, "\n");
            }
            if (map) {
                vary_scalar(t, n->key);
                pl_text_add(t, ": ");
            }
            vary_write(t, line, n);
            pl_text_add(t, n->next ? ", " : "");
        }
        pl_text_add(t, map ? "}" : "]");
    }
}

// ---- finding a place
static io_node *vary_entry(io_node *node, const char *word, size_t length)
{
    char *end = NULL;
    const long index = isdigit((unsigned char)word[0]) ? strtol(word, &end, 10) : -1;
    int i = 0;
    for (io_node *n = node->child; n; n = n->next, ++i) {
        const io_node *name = node->kind == IO_LIST && n->kind == IO_MAP ? io_child(n, "name") : NULL;
        const char *known = node->kind == IO_MAP              ? n->key
                            : name && name->kind == IO_SCALAR ? name->text
                                                              : NULL;
        if ((known && strlen(known) == length && strncmp(known, word, length) == 0) ||
            (node->kind == IO_LIST && end == word + length && index == i)) {
            return n;
        }
    }
    return NULL;
}

static pl_status vary_unknown(const char *path, const io_node *node, const char *word, size_t length,
                              pl_error *err)
{
    const char *known[64];
    char own[100];
    int count = 0;
    for (const io_node *n = node->kind == IO_MAP ? node->child : NULL; n && count < 64; n = n->next) {
        known[count++] = n->key;
    }
    snprintf(own, sizeof own, "%.*s", (int)length, word);
    const char *near = pl_nearest_word(own, known, count);
    return pl_fail(err, PL_BAD_INPUT, "%s: the robot file has no '%s' there%s%s%s", path, own,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// Puts `value` where `path` leads; its last word may be new to a map.
static pl_status vary_put(io_robot_file *f, io_node *root, const char *path, const io_node *value,
                          pl_error *err)
{
    io_node *at = root;
    const char *word = path;
    for (;;) {
        const size_t whole = strcspn(word, ".");
        const bool last = !word[whole], more = last && whole > 0 && word[whole - 1] == '+';
        const size_t length = whole - more;
        io_node *next = vary_entry(at, word, length);
        if (!next && (!last || at->kind != IO_MAP || (at == root && !more) || length == 0)) {
            return vary_unknown(path, at, word, length, err);
        }
        if (!next) {
            next = io_arena_take(&f->arena, sizeof *next);
            if (!next) {
                return pl_fail_memory(err, "the robot file");
            }
            next->key = io_arena_text(&f->arena, word, length);
            next->line = next->key_line = at->child ? at->child->key_line : at->line;
            next->next = at->child;
            at->child = next;
            ++at->count;
        }
        if (more && value->kind == IO_LIST && next->kind == IO_LIST && next->child) {
            io_node *end = next->child;
            while (end->next) {
                end = end->next;
            }
            end->next = value->child;
            next->count += value->count;
            return PL_OK;
        }
        if (last) {
            // a word in place of a material is the name of one in the library
            const bool material = strncmp(path, "materials.", 10) == 0 && !strchr(path + 10, '.');
            io_node *use =
                material && value->kind == IO_SCALAR ? io_arena_take(&f->arena, sizeof *use) : NULL;
            if (use) {
                *use = *value;
                use->key = "use";
                use->line = use->key_line = next->line;
            }
            next->kind = use ? IO_MAP : value->kind;
            next->text = use ? NULL : value->text;
            next->child = use ? use : value->child;
            next->count = use ? 1 : value->count;
            return PL_OK;
        }
        at = next;
        word += whole + 1;
    }
}

static pl_status vary_one(io_robot_file *f, io_node *root, const pl_variation *v, pl_error *err)
{
    const io_node *value = io_yaml_parse(f, v->value, strlen(v->value));
    if (!value || pl_findings_defect_count(f->findings) > 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: '%s' is not a value", v->path, v->value);
    }
    // parameters of a design are the most common thing to vary: they need not be called mesh.design
    const bool design = strncmp(v->path, "design.", 7) == 0 && !io_child(root, "design");
    const char *path = design ? io_arena_format(&f->arena, "mesh.%s", v->path) : v->path;
    return path ? vary_put(f, root, path, value, err) : pl_fail_memory(err, "the robot file");
}

pl_status pl_robot_text_vary(const char *text, size_t length, const pl_variation *variation, int count,
                             char **out, size_t *out_length, pl_error *err)
{
    *out = NULL;
    *out_length = 0;
    io_robot_file f = {.path = "", .folder = "", .findings = pl_findings_create()};
    io_node *root = f.findings ? (io_node *)io_yaml_parse(&f, text, length) : NULL;
    pl_status status = PL_OK;
    if (!f.findings || f.no_memory) {
        status = pl_fail_memory(err, "the robot file");
    } else if (!root || root->kind != IO_MAP || pl_findings_defect_count(f.findings) > 0) {
        status =
            pl_fail(err, PL_BAD_INPUT, "the robot file cannot be read: %s",
                    pl_findings_count(f.findings) ? pl_findings_at(f.findings, 0)->text : "it is no map");
    }
    for (int i = 0; status == PL_OK && i < count; ++i) {
        status = vary_one(&f, root, &variation[i], err);
    }
    pl_text t = {0};
    if (status == PL_OK) {
        int line = 1;
        vary_write(&t, &line, root);
        pl_text_add(&t, "\n");
        status = t.failed ? pl_fail_memory(err, "the robot file") : PL_OK;
    }
    io_robot_file_clear(&f);
    if (status != PL_OK) {
        pl_text_clear(&t);
        return status;
    }
    *out = t.data;
    *out_length = t.length;
    return PL_OK;
}
