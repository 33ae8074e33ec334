// Arrays of numbers as text in quotes, and single numbers, of files that a program writes.
#include <stdio.h>
#include <stdlib.h>
#include "document/document_learned.h"

void doc_numbers_write(pl_text *text, const double *value, int64_t count, bool brief)
{
    pl_text_add(text, "\"");
    for (int64_t i = 0; i < count; ++i) {
        // line breaks inside quotes are blanks in YAML
        pl_text_add(text,
                    isnan(value[i]) ? "%snan"
                    : brief         ? "%s%.9g"
                                    : "%s%.17g",
                    i == 0  ? ""
                    : i % 8 ? " "
                            : "\n    ",
                    value[i]);
    }

    pl_text_add(text, "\"");
}

bool doc_numbers_read(doc_robot_file *f, const doc_node *map, const char *key, double *out, int64_t count,
                      bool gaps)
{
    const doc_node *n = doc_child(map, key);
    if (!n || n->kind != DOC_SCALAR) {
        doc_defect(f, n ? n->line : map->line, "%s: expected %lld numbers in quotes", key, (long long)count);
        return false;
    }

    const char *at = n->text;
    for (int64_t i = 0; i < count; ++i) {
        char *end = NULL;
        out[i] = pl_real_read(at, &end);
        if (end == at) {
            doc_defect(f, n->line, "%s: %lld numbers, expected %lld", key, (long long)i, (long long)count);
            return false;
        }

        if (!(isfinite(out[i]) || (gaps && isnan(out[i])))) {
            doc_defect(f, n->line, "%s: number %lld is not finite", key, (long long)i + 1);
            return false;
        }

        at = end;
    }

    while (*at == ' ' || *at == '\n') {
        ++at;
    }
    if (*at) {
        doc_defect(f, n->line, "%s: more than %lld numbers", key, (long long)count);
        return false;
    }

    return true;
}

// One number, NAN included.
bool doc_real_read(doc_robot_file *f, const doc_node *map, const char *key, double *out)
{
    return doc_numbers_read(f, map, key, out, 1, true);
}

bool doc_whole_read(doc_robot_file *f, const doc_node *map, const char *key, int low, int high, int *out)
{
    double value;
    if (!doc_real_read(f, map, key, &value)) {
        return false;
    }
    if (!(value >= low && value <= high) || value != floor(value)) {
        doc_defect(f, map->line, "%s: %g, expected a whole number from %d to %d", key, value, low, high);
        return false;
    }

    *out = (int)value;
    return true;
}
