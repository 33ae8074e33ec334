// The text of an edited robot document: the bytes as they were read, with the edited entries in their places.
#include <ctype.h>
#include "document/document_tree.h"

// The text written so far, and how much of the source has been copied.
typedef struct text_writer {
    pl_text out;
    const char *source;
    size_t length;
    size_t at; // written so far, of the source
} text_writer;

// ---- values in flow style
// Words, numbers, units and expressions need no quotes.
static bool text_is_plain(const char *text)
{
    if (!(isalnum((unsigned char)text[0]) ||
          ((text[0] == '-' || text[0] == '+') && isdigit((unsigned char)text[1]))) ||
        strcmp(text, "null") == 0) {
        return false;
    }

    for (const char *c = text; *c; ++c) {
        if (!isalnum((unsigned char)*c) && !strchr("_-+.*/^()% ", *c) && (unsigned char)*c < 0x80) {
            return false;
        }
    }

    return text[strlen(text) - 1] != ' ';
}

// In quotes if it was, or if it must be.
static void text_scalar(pl_text *t, const char *text, bool quoted)
{
    if (!quoted && text_is_plain(text)) {
        pl_text_add(t, "%s", text);
        return;
    }

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

// A value on one line, whatever its style was: the style of its new content is not known.
static void document_value_text(pl_text *t, const doc_node *node)
{
    const bool map = node->kind == DOC_MAP;
    if (node->kind == DOC_NULL) {
        pl_text_add(t, "~");
        return;
    }

    if (node->kind == DOC_SCALAR) {
        text_scalar(t, node->text, node->quoted);
        return;
    }

    pl_text_add(t, map ? "{" : "[");
    for (const doc_node *n = node->child; n; n = n->next) {
        if (map) {
            text_scalar(t, n->key, n->key_quoted);
            pl_text_add(t, ": ");
        }

        document_value_text(t, n);
        pl_text_add(t, n->next ? ", " : "");
    }

    pl_text_add(t, map ? "}" : "]");
}

// ---- entries in their places
// Copies the source up to `to`.
static void text_copy(text_writer *w, size_t to)
{
    if (to > w->at) {
        pl_text_add_bytes(&w->out, w->source + w->at, to - w->at);
        w->at = to;
    }
}

// Bytes from the start of its line to `at`.
static size_t text_column(const text_writer *w, size_t at)
{
    size_t begin = at;
    while (begin > 0 && w->source[begin - 1] != '\n') {
        --begin;
    }
    return at - begin;
}

// A comment behind a value of another length keeps its column as far as one blank in front of it allows.
static void text_align(text_writer *w, size_t old, size_t new)
{
    size_t blanks = 0;
    while (w->at + blanks < w->length && w->source[w->at + blanks] == ' ') {
        ++blanks;
    }
    if (blanks == 0 || w->at + blanks >= w->length || w->source[w->at + blanks] != '#') {
        return;
    }
    for (; new < old; ++new) {
        pl_text_add(&w->out, " ");
    }
    for (; new > old &&blanks > 1; --blanks, ++old) {
        ++w->at;
    }
}

// The edited value in place of the bytes it had.
static void text_replaced(text_writer *w, const doc_node *node)
{
    text_copy(w, node->start);
    const size_t begin = w->out.length;
    if (node->start > 0 && w->source[node->start - 1] == ':') {
        pl_text_add(&w->out, " ");
    }
    document_value_text(&w->out, node);
    w->at = node->end > w->at ? node->end : w->at;
    text_align(w, node->end - node->start, w->out.length - begin);
}

// New entries of a list or block behind `last`, which is the last that the text has.
static void text_added(text_writer *w, const doc_node *node, const doc_node *last, const doc_node *first)
{
    const bool map = node->kind == DOC_MAP;
    size_t column = 0;

    if (node->flow) {
        text_copy(w, last->end);
    } else {
        // behind the line of the last entry, below the key or the dash of the first
        size_t end = last->end > w->at ? last->end : w->at, dash = node->child->key_start;
        while (end < w->length && w->source[end] != '\n') {
            ++end;
        }
        text_copy(w, end);
        for (dash -= !map && dash > 0; !map && dash > 0 && w->source[dash] != '-';) {
            --dash;
        }
        column = text_column(w, dash);
    }

    // one line per entry, or separated by commas
    for (const doc_node *n = first; n; n = n->next) {
        if (node->flow) {
            pl_text_add(&w->out, ", ");
        } else {
            pl_text_add(&w->out, "\n%*s%s", (int)column, "", map ? "" : "- ");
        }
        if (map) {
            text_scalar(&w->out, n->key, node->child->key_quoted);
            pl_text_add(&w->out, ": ");
        }

        document_value_text(&w->out, n);
    }
}

// Unedited parts are copied later, as bytes: comments and blanks stay.
static void text_entry(text_writer *w, const doc_node *node)
{
    if (node->edited) {
        text_replaced(w, node);
        return;
    }

    const doc_node *last = NULL;
    for (const doc_node *n = node->child; n; last = n, n = n->next) {
        if (n->added) {
            text_added(w, node, last, n);
            return;
        }

        text_entry(w, n);
    }
}

// *text is owned by the caller (pl_file_free).
pl_status pl_robot_document_text(const pl_robot_document *document, char **text, size_t *length,
                                 pl_error *err)
{
    *text = NULL;
    text_writer w = {.source = document->text, .length = document->length};
    if (document->root && document->root->edited) {
        document_value_text(&w.out, document->root); // the text itself cannot be edited: UTF-16
        pl_text_add(&w.out, "\n");
        w.at = w.length;
    } else if (document->root) {
        text_entry(&w, document->root);
    }

    text_copy(&w, w.length);
    pl_text_add_bytes(&w.out, "", 1);
    if (w.out.failed) {
        pl_text_clear(&w.out);
        return pl_fail_memory(err, "the robot file");
    }

    *text = w.out.data;
    if (length) {
        *length = w.out.length - 1;
    }

    return PL_OK;
}
