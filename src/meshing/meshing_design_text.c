// Parameters in the text of a design's robot file.
#include <stdio.h>
#include "meshing/meshing_impl.h"

// The line `    name: value   # comment` of the design block, or NULL.
static const char *text_find_line(const char *yaml, const char *name)
{
    const char *block = strstr(yaml, "\n  design:\n");
    const size_t n = strlen(name);
    for (const char *line = block ? strchr(block + 1, '\n') : NULL; line; line = strchr(line + 1, '\n')) {
        if (strncmp(line + 1, "    ", 4) != 0) {
            return NULL; // the block ended
        }
        if (strncmp(line + 5, name, n) == 0 && line[5 + n] == ':') {
            return line + 5;
        }
    }
    return NULL;
}

char *pl_design_set(const char *yaml, const char *name, double value)
{
    const char *line = name ? text_find_line(yaml, name) : NULL;
    const char *kind = strstr(yaml, "    kind: ");
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
        pl_text_add(&text, "%.*s\n    %s: %.10g%s", (int)(end - yaml), yaml, name, value, end);
    }
    if (text.failed) {
        pl_text_clear(&text);
        return NULL;
    }
    return text.data;
}
