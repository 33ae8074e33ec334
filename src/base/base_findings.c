// A list of findings, each a sentence with its place; texts are owned by the list.
#include <stdarg.h>
#include <stdio.h>
#include "base/base.h"

struct pl_findings {
    pl_finding *item; // owned, with their texts
    int32_t count, capacity;
    int defect_count;
};

pl_findings *pl_findings_create(void)
{
    return PL_NEW(pl_findings);
}

void pl_findings_destroy(pl_findings *findings)
{
    if (!findings) {
        return;
    }

    for (int i = 0; i < findings->count; ++i) {
        pl_finding *f = &findings->item[i];
        pl_free((void *)f->file);
        pl_free((void *)f->text);
        pl_free((void *)f->advice);
        pl_free((void *)f->elements);
    }

    pl_free(findings->item);
    pl_free(findings);
}

int pl_findings_count(const pl_findings *findings)
{
    return findings ? findings->count : 0;
}

int pl_findings_defect_count(const pl_findings *findings)
{
    return findings ? findings->defect_count : 0;
}

const pl_finding *pl_findings_at(const pl_findings *findings, int i)
{
    return findings && i >= 0 && i < findings->count ? &findings->item[i] : NULL;
}

// On the heap; NULL when out of memory. Longer sentences are cut at 2000 characters.
static char *findings_sentence(const char *format, va_list args)
{
    char text[2000];
    vsnprintf(text, sizeof text, format, args);
    return pl_strdup(text);
}

// Returns the index, or -1 without a list or memory: a finding that is lost must not stop the check itself.
int pl_findings_add(pl_findings *findings, pl_severity severity, const char *file, int line,
                    const char *format, ...)
{
    if (!findings || !pl_grow((void **)&findings->item, &findings->capacity, findings->count + 1,
                              sizeof *findings->item)) {
        return -1;
    }

    va_list args;
    va_start(args, format);
    char *text = findings_sentence(format, args);
    va_end(args);
    char *advice = pl_strdup("");
    char *name = file ? pl_strdup(file) : NULL;

    if (!text || !advice || (file && !name)) {
        pl_free(text);
        pl_free(advice);
        pl_free(name);
        return -1;
    }

    findings->item[findings->count] =
        (pl_finding){.severity = severity, .file = name, .line = line, .text = text, .advice = advice};
    findings->defect_count += severity == PL_DEFECT;

    return findings->count++;
}

// Replaces the advice of the last finding.
void pl_findings_advise(pl_findings *findings, const char *format, ...)
{
    if (!findings || findings->count == 0) {
        return;
    }

    va_list args;
    va_start(args, format);
    char *advice = findings_sentence(format, args);
    va_end(args);

    if (advice) {
        pl_finding *f = &findings->item[findings->count - 1];
        pl_free((void *)f->advice);
        f->advice = advice;
    }
}

// Place (mm) and elements of the last finding; without memory for the elements they are left out.
void pl_findings_place(pl_findings *findings, const double place[3], const int32_t *elements,
                       int32_t element_count)
{
    if (!findings || findings->count == 0) {
        return;
    }

    pl_finding *f = &findings->item[findings->count - 1];
    if (place) {
        f->has_place = true;
        memcpy(f->place, place, sizeof f->place);
    }

    int32_t *copy = element_count > 0 ? PL_NEW_ARRAY(int32_t, element_count) : NULL;
    if (copy) {
        memcpy(copy, elements, (size_t)element_count * sizeof *copy);
        pl_free((void *)f->elements);
        f->elements = copy;
        f->element_count = element_count;
    }
}
