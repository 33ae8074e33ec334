// Repeated entries: `repeat: {index: i, to: N, each: ...}` as an item of a list, or as an entry of a block,
// stands for the items or entries of `each`, N times, with $i (or $(i + 1), any expression with a whole
// value) replaced by 1 to N in their names and values.
#include <ctype.h>
#include <stdio.h>
#include "document/document_reader.h"

#define REPEAT_MAX 1000    // copies
#define REPEAT_NODES 50000 // of a block after its repetitions

// What the expansion of one block shares.
typedef struct repeat_work {
    doc_robot_file *f;
    int indices; // of the repetitions around
    int nodes;   // copied so far
    bool failed;
} repeat_work;

// Whether there is anything to expand: most blocks are used as they are.
static bool repeat_in(const doc_node *node)
{
    for (const doc_node *n = node->child; n; n = n->next) {
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
    doc_robot_file *f = w->f;
    if (!text || w->indices == 0 || !strchr(text, '$')) {
        return text;
    }

    // character by character; references are evaluated
    pl_text out = {0};
    for (const char *s = text; *s;) {
        const size_t length = *s == '$' ? repeat_reference(s + 1) : 0;
        if (length == 0) {
            pl_text_add_bytes(&out, s++, 1);
            continue;
        }

        const char *inner = doc_arena_text(&f->arena, s + 1, length);
        text_value value;
        pl_error err = {0};
        if (!inner) {
            break;
        }
        if (text_evaluate(f->name.item, f->name.count, inner, &value, &err) != PL_OK) {
            doc_defect(f, line, "%s", err.text);
            w->failed = true;
            break;
        }

        if (value.number != floor(value.number) || fabs(value.number) > 1e9) {
            doc_defect(f, line, "'$%s' is %g, expected a whole number", inner, value.number);
            w->failed = true;
            break;
        }

        pl_text_add(&out, "%.0f", value.number);
        s += 1 + length;
    }

    // after a defect the text is not used
    const char *copy = w->failed ? text : doc_arena_text(&f->arena, out.data, out.length);
    f->no_memory = f->no_memory || out.failed || !copy;
    pl_text_clear(&out);

    return copy ? copy : text;
}

static void repeat_children(repeat_work *w, const doc_node *from, doc_node *to, doc_node ***slot);

// A copy of the node in the arena, with its children expanded.
static doc_node *repeat_copy(repeat_work *w, const doc_node *node)
{
    doc_node *copy = doc_arena_take(&w->f->arena, sizeof *copy);
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
        doc_defect(w->f, node->line, "repeat: more than %d entries", REPEAT_NODES);
        w->failed = true;
    }

    doc_node **slot = &copy->child;
    repeat_children(w, node, copy, &slot);

    return copy;
}

// The copies that a repetition stands for, added to `to`.
static void repeat_expand(repeat_work *w, const doc_node *node, doc_node *to, doc_node ***slot)
{
    doc_robot_file *f = w->f;
    struct {
        const char *index;
        int to;
    } r = {"i", 0};
    static const doc_key keys[] = {
        {"index", DOC_NAME, 0, 0, 0},
        {"to", DOC_WHOLE, PL_DIM_NUMBER, sizeof(const char *), DOC_REQUIRED | DOC_NOT_NEGATIVE},
        {"each", DOC_OTHER, 0, 0, DOC_REQUIRED},
    };

    // the limit may depend on the indices around
    doc_node head = *node;
    doc_node entry[8];
    int count = 0;
    for (const doc_node *n = node->child; node->kind == DOC_MAP && n && count < PL_COUNT(entry);
         n = n->next) {
        entry[count] = *n;
        entry[count].text = repeat_text(w, n->text, n->line);
        entry[count].next = NULL;
        if (count > 0) {
            entry[count - 1].next = &entry[count];
        }
        ++count;
    }

    head.child = count ? entry : NULL;
    const doc_node *each = doc_child(&head, "each");
    if (w->failed || !doc_read_map(f, &head, "repeat", keys, PL_COUNT(keys), &r) ||
        !doc_expect(f, each, to->kind, "repeat: each")) {
        w->failed = true;
        return;
    }

    // the index must not hide a unit
    const char *wrong = text_name_refused(r.index);
    if (wrong || r.to > REPEAT_MAX) {
        doc_defect(f, node->line, wrong ? "repeat: index '%s': %s" : "repeat: '%s' to %s: at most 1000",
                   r.index, wrong ? wrong : doc_child(&head, "to")->text);
        w->failed = true;
        return;
    }

    // each copy sees the index as a name
    for (int i = 1; i <= r.to && !w->failed; ++i) {
        text_name *name = doc_append(f, &f->name, sizeof *name);
        if (!name) {
            w->failed = true;
            return;
        }

        *name = (text_name){r.index, {.number = i, .plain = true}, node->line};
        ++w->indices;
        repeat_children(w, each, to, slot);
        --w->indices;
        --f->name.count;
    }
}

// Children of `from` as children of `to`; `slot` is where the next one goes.
static void repeat_children(repeat_work *w, const doc_node *from, doc_node *to, doc_node ***slot)
{
    for (const doc_node *n = from->child; n && !w->failed; n = n->next) {
        const bool item = from->kind == DOC_LIST && n->kind == DOC_MAP && n->count == 1 &&
                          strcmp(n->child->key, "repeat") == 0;
        const bool entry = from->kind == DOC_MAP && strcmp(n->key, "repeat") == 0;
        if (item || entry) {
            repeat_expand(w, item ? n->child : n, to, slot);
            continue;
        }

        doc_node *copy = repeat_copy(w, n);
        if (copy) {
            **slot = copy;
            *slot = &copy->next;
            ++to->count;
        }
    }
}

const doc_node *doc_expand(doc_robot_file *f, const doc_node *node)
{
    if (!node || !repeat_in(node)) {
        return node;
    }
    repeat_work w = {.f = f};
    const doc_node *copy = repeat_copy(&w, node);
    return w.failed ? NULL : copy;
}
