// What goes into a study and what comes out of it: axes as text, and memory.
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "pliant/analysis.h"

#define STUDY_NAME 200 // bytes

// ---- axes
// FROM:TO:COUNT is a range of equal steps with a unit behind either number,
// A,B,C a list. Owned by the caller.
pl_status pl_study_axis_parse(const char *text, pl_study_axis *axis, pl_error *err)
{
    *axis = (pl_study_axis){0};
    const size_t n = strcspn(text, "=");
    if (!text[n] || n == 0 || !text[n + 1] || n >= STUDY_NAME) {
        return pl_fail(err, PL_BAD_INPUT, "'%.100s': expected NAME=FROM:TO:COUNT or NAME=A,B,C", text);
    }

    // which of the two it is
    const char *values = text + n + 1;
    char *end = NULL, *second = NULL;
    const double from = pl_real_read(values, &end);
    const char *colon = strchr(values, ':'), *other = colon ? strchr(colon + 1, ':') : NULL;
    const bool range = colon && other && end != values;
    if (other && !range && other[1] && !other[1 + strspn(other + 1, "0123456789")]) {
        return pl_fail(err, PL_BAD_INPUT, "'%.100s': expected NAME=FROM:TO:COUNT with two numbers", text);
    }
    if (colon && !other && end != values) {
        return pl_fail(err, PL_BAD_INPUT, "'%.100s': expected NAME=FROM:TO:COUNT; the count is missing",
                       text);
    }

    // number of values
    long count = 1;
    double to = from;
    if (range) {
        to = pl_real_read(colon + 1, &second);
        char *rest = NULL;
        count = strtol(other + 1, &rest, 10);
        if (second == colon + 1 || *rest || count < 2 || count > PL_STUDY_POINTS || !isfinite(from) ||
            !isfinite(to)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "'%.100s': expected NAME=FROM:TO:COUNT with two numbers and at least 2 points",
                           text);
        }
    } else {
        for (const char *c = values; *c; ++c) {
            count += *c == ',';
        }
    }

    axis->name = pl_alloc(n + 1);
    axis->value = PL_NEW_ARRAY(char *, count);
    if (!axis->name || !axis->value) {
        pl_study_axis_clear(axis);
        return pl_fail_memory(err, "the study");
    }

    memcpy(axis->name, text, n);

    // the unit may stand behind either number
    const char *unit = second ? second : "", *unit_from = end ? end : "";
    int unit_length = second ? (int)(other - second) : 0;
    const int from_length = range ? (int)(colon - end) : 0;
    if (range && unit_length == 0) {
        unit = unit_from;
        unit_length = from_length;
    } else if (from_length > 0 &&
               (from_length != unit_length || strncmp(unit, unit_from, (size_t)unit_length))) {
        pl_study_axis_clear(axis);
        return pl_fail(err, PL_BAD_INPUT, "'%.100s': the two ends have different units", text);
    }

    // values as text, so that a file gets them as the user would write them
    for (const char *at = values; axis->count < count;) {
        char value[STUDY_NAME];
        const size_t length = strcspn(at, ",");
        if (range) {
            const double s = (double)axis->count / (double)(count - 1);
            pl_format(value, sizeof value, "%.10g%.*s", from + s * (to - from), unit_length, unit);
        } else {
            snprintf(value, sizeof value, "%.*s", (int)length, at);
            at += length + (at[length] == ',');
        }

        if (!value[0]) {
            pl_study_axis_clear(axis);
            return pl_fail(err, PL_BAD_INPUT, "'%.100s': a value is empty", text);
        }

        if (!(axis->value[axis->count++] = pl_strdup(value))) {
            pl_study_axis_clear(axis);
            return pl_fail_memory(err, "the study");
        }
    }

    return PL_OK;
}

void pl_study_axis_clear(pl_study_axis *axis)
{
    for (int i = 0; i < axis->count; ++i) {
        pl_free(axis->value[i]);
    }
    pl_free(axis->value);
    pl_free(axis->name);
    *axis = (pl_study_axis){0};
}

// Frees a list of texts.
static void study_free(char **list, int64_t count)
{
    for (int64_t i = 0; list && i < count; ++i) {
        pl_free(list[i]);
    }
    pl_free(list);
}

void pl_study_clear(pl_study *study)
{
    study_free(study->setting, (int64_t)study->count * study->axis_count);
    study_free(study->axis, study->axis_count);
    study_free(study->quantity, study->quantity_count);
    study_free(study->outcome, study->count);
    pl_free(study->value);
    *study = (pl_study){0};
}
