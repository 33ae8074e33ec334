// Repeated entries: `repeat: {index: i, to: N, each: ...}` as an item of a list, or as an entry of a block,
// stands for the items or entries of `each`, N times, with $i (or $(i + 1), any expression with a whole
// value) replaced by 1 to N in their names and values.
#include <ctype.h>
#include <stdio.h>
#include "io/io_expression.h"

#define REPEAT_MAX 1000    // copies
#define REPEAT_NODES 50000 // of a block after its repetitions

typedef struct repeat_work {
    io_robot_file *f;
    int indices; // of the repetitions around
    int nodes;
    bool failed;
} repeat_work;

static bool repeat_in(const io_node *node)
{
    for (const io_node *n = node->child; n; n = n->next) {
        if ((n->key && strcmp(n->key, "repeat") == 0) || repeat_in(n)) {
            return true;
        }
    }
    return false;
}

// The length of what follows a $: a name, or an expression in parentheses; 0: neither.
static size_t repeat_reference(const char *s)
{
    size_t n = 0;
    if (s[0] == '(') {
        int depth = 0;
        do {
            depth += s[n] == '(' ? 1 : s[n] == ')' ? -1 : 0;
            ++n;
        } while (depth > 0 && s[n]);
        return depth == 0 ? n : 0;
    }
    while (isalnum((unsigned char)s[n]) || s[n] == '_') {
        ++n;
    }
    return isdigit((unsigned char)s[0]) ? 0 : n;
}

// The text with every $i replaced; the text itself where there is nothing to replace.
static const char *repeat_text(repeat_work *w, const char *text, int line)
{
    io_robot_file *f = w->f;
    if (!text || w->indices == 0 || !strchr(text, '$')) {
        return text;
    }
    pl_text out = {0};
    for (const char *s = text; *s;) {
        const size_t length = *s == '$' ? repeat_reference(s + 1) : 0;
        if (length == 0) {
            pl_text_add_bytes(&out, s++, 1);
            continue;
        }
        const char *inner = io_arena_text(&f->arena, s + 1, length);
        io_value value;
        pl_error err = {0};
        if (!inner) {
            break;
        }
        if (io_evaluate(f->name.item, f->name.count, inner, &value, &err) != PL_OK) {
            io_defect(f, line, "%s", err.text);
            w->failed = true;
            break;
        }
        if (value.number != floor(value.number) || fabs(value.number) > 1e9) {
            io_defect(f, line, "'$%s' is %g, expected a whole number", inner, value.number);
            w->failed = true;
            break;
        }
        pl_text_add(&out, "%.0f", value.number);
        s += 1 + length;
    }
    const char *copy = out.data ? io_arena_text(&f->arena, out.data, out.length) : NULL;
    f->no_memory = f->no_memory || out.failed || !copy;
    pl_text_clear(&out);
    return copy ? copy : text;
}

static void repeat_children(repeat_work *w, const io_node *from, io_node *to, io_node ***slot);

static io_node *repeat_copy(repeat_work *w, const io_node *node)
{
    io_node *copy = io_arena_take(&w->f->arena, sizeof *copy);
    if (!copy) {
        w->f->no_memory = w->failed = true;
        return NULL;
    }
    *copy = *node;
    copy->next = copy->child = NULL;
    copy->count = 0;
    copy->key = repeat_text(w, node->key, node->key_line);
    copy->text = repeat_text(w, node->text, node->line);
    if (++w->nodes > REPEAT_NODES && !w->failed) {
        io_defect(w->f, node->line, "repeat: more than %d entries", REPEAT_NODES);
        w->failed = true;
    }
    io_node **slot = &copy->child;
    repeat_children(w, node, copy, &slot);
    return copy;
}

// The copies that a repetition stands for, added to `to`.
static void repeat_expand(repeat_work *w, const io_node *node, io_node *to, io_node ***slot)
{
    io_robot_file *f = w->f;
    struct {
        const char *index;
        int to;
    } r = {"i", 0};
    static const io_key keys[] = {
        {"index", IO_NAME, 0, 0, 0},
        {"to", IO_WHOLE, PL_DIM_NUMBER, sizeof(const char *), IO_REQUIRED | IO_NOT_NEGATIVE},
        {"each", IO_OTHER, 0, 0, IO_REQUIRED},
    };
    // the limit may depend on the indices around
    io_node head = *node;
    io_node entry[8];
    int count = 0;
    for (const io_node *n = node->child; node->kind == IO_MAP && n && count < PL_COUNT(entry); n = n->next) {
        entry[count] = *n;
        entry[count].text = repeat_text(w, n->text, n->line);
        entry[count].next = NULL;
        if (count > 0) {
            entry[count - 1].next = &entry[count];
        }
        ++count;
    }
    head.child = count ? entry : NULL;
    const io_node *each = io_child(&head, "each");
    if (w->failed || !io_read_map(f, &head, "repeat", keys, PL_COUNT(keys), &r) ||
        !io_expect(f, each, to->kind, "repeat: each")) {
        w->failed = true;
        return;
    }
    const char *wrong = io_name_refused(r.index);
    if (wrong || r.to > REPEAT_MAX) {
        io_defect(f, node->line, wrong ? "repeat: index '%s': %s" : "repeat: '%s' to %s: at most 1000",
                  r.index, wrong ? wrong : io_child(&head, "to")->text);
        w->failed = true;
        return;
    }
    for (int i = 1; i <= r.to && !w->failed; ++i) {
        io_name *name = io_append(f, &f->name, sizeof *name);
        if (!name) {
            w->failed = true;
            return;
        }
        *name = (io_name){r.index, {.number = i, .plain = true}, node->line};
        ++w->indices;
        repeat_children(w, each, to, slot);
        --w->indices;
        --f->name.count;
    }
}

static void repeat_children(repeat_work *w, const io_node *from, io_node *to, io_node ***slot)
{
    for (const io_node *n = from->child; n && !w->failed; n = n->next) {
        const bool item = from->kind == IO_LIST && n->kind == IO_MAP && n->count == 1 &&
                          strcmp(n->child->key, "repeat") == 0;
        const bool entry = from->kind == IO_MAP && strcmp(n->key, "repeat") == 0;
        if (item || entry) {
            repeat_expand(w, item ? n->child : n, to, slot);
            continue;
        }
        io_node *copy = repeat_copy(w, n);
        if (copy) {
            **slot = copy;
            *slot = &copy->next;
            ++to->count;
        }
    }
}

const io_node *io_expand(io_robot_file *f, const io_node *node)
{
    if (!node || !repeat_in(node)) {
        return node;
    }
    repeat_work w = {.f = f};
    const io_node *copy = repeat_copy(&w, node);
    return w.failed ? NULL : copy;
}
