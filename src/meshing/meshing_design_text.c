// Parameters in the text of a design's robot file.
#include <stdio.h>
#include "meshing/meshing_impl.h"

// The block `design:` on a line of its own, and how far its parameters are set in; NULL when there is none.
static const char *text_find_block(const char *yaml, size_t *indent)
{
    for (const char *line = yaml; line && *line;) {
        const size_t spaces = strspn(line, " ");
        if (strncmp(line + spaces, "design:\n", 8) == 0) {
            *indent = spaces + 2;
            return line;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NULL;
}

// The line `name: value   # comment` of the first design block, behind its spaces, or NULL.
static const char *text_find_line(const char *yaml, const char *name)
{
    size_t indent = 0;
    const char *block = text_find_block(yaml, &indent);
    const size_t n = strlen(name);
    for (const char *line = block ? strchr(block, '\n') : NULL; line; line = strchr(line + 1, '\n')) {
        if (strspn(line + 1, " ") < indent) {
            return NULL; // the block ended
        }
        if (strncmp(line + 1 + indent, name, n) == 0 && line[1 + indent + n] == ':') {
            return line + 1 + indent;
        }
    }
    return NULL;
}

char *pl_design_set(const char *yaml, const char *name, double value)
{
    size_t indent = 0;
    const char *line = name ? text_find_line(yaml, name) : NULL;
    const char *kind = text_find_line(yaml, "kind");
    text_find_block(yaml, &indent);
    pl_text text = {0};
    if (!name || (!line && !kind)) {
        pl_text_add(&text, "%s", yaml);
    } else if (line) {
        const char *begin = line + strlen(name) + 1, *end = begin + 1 + strcspn(begin + 1, " \n");
        char number[40];
        snprintf(number, sizeof number, " %.10g", value);
        const size_t room = (size_t)(end - begin), used = strlen(number);
        for (size_t k = room; k < used && end[0] == ' ' && end[1] == ' '; ++k) {
            ++end;
        }
        const int pad = used < room && *end == ' ' ? (int)(room - used) : 0;
        pl_text_add(&text, "%.*s%s%*s%s", (int)(begin - yaml), yaml, number, pad, "", end);
    } else {
        const char *end = kind + strcspn(kind, "\n");
        pl_text_add(&text, "%.*s\n%*s%s: %.10g%s", (int)(end - yaml), yaml, (int)indent, "", name, value,
                    end);
    }
    if (text.failed) {
        pl_text_clear(&text);
        return NULL;
    }
    return text.data;
}
