// What goes into a study and what comes out of it: axes as text, tables, plots.
#include <stdio.h>
#include <stdlib.h>
#include "io/io_motion.h"

#define STUDY_NAME 200 // bytes

// ---- axes
pl_status pl_study_axis_parse(const char *text, pl_study_axis *axis, pl_error *err)
{
    *axis = (pl_study_axis){0};
    const size_t n = strcspn(text, "=");
    if (!text[n] || n == 0 || !text[n + 1] || n >= STUDY_NAME) {
        return pl_fail(err, PL_BAD_INPUT, "'%.100s': expected NAME=FROM:TO:COUNT or NAME=A,B,C", text);
    }
    const char *values = text + n + 1;
    char *end = NULL, *second = NULL;
    const double from = strtod(values, &end);
    const char *colon = strchr(values, ':'), *other = colon ? strchr(colon + 1, ':') : NULL;
    const bool range = colon && other && end != values;
    if (colon && !other && end != values) {
        return pl_fail(err, PL_BAD_INPUT, "'%.100s': expected NAME=FROM:TO:COUNT; the count is missing",
                       text);
    }
    long count = 1;
    double to = from;
    if (range) {
        to = strtod(colon + 1, &second);
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
    // the unit may stand behind either end
    const char *unit = second ? second : "", *unit_from = end ? end : "";
    int unit_length = second ? (int)(other - second) : 0;
    if (range && unit_length == 0) {
        unit = unit_from;
        unit_length = (int)(colon - end);
    }
    for (const char *at = values; axis->count < count;) {
        char value[STUDY_NAME];
        const size_t length = strcspn(at, ",");
        if (range) {
            const double s = (double)axis->count / (double)(count - 1);
            snprintf(value, sizeof value, "%.10g%.*s", from + s * (to - from), unit_length, unit);
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

// ---- writing
pl_status pl_study_write_csv(const pl_study *s, const char *path, pl_error *err)
{
    pl_text t = {0};
    for (int i = 0; i < s->axis_count; ++i) {
        pl_text_add_cell(&t, "%s", s->axis[i]);
        pl_text_add(&t, ",");
    }
    pl_text_add(&t, "outcome");
    for (int i = 0; i < s->quantity_count; ++i) {
        pl_text_add(&t, ",");
        pl_text_add_cell(&t, "%s", s->quantity[i]);
    }
    pl_text_add(&t, "\n");
    for (int p = 0; p < s->count; ++p) {
        for (int i = 0; i < s->axis_count; ++i) {
            pl_text_add_cell(&t, "%s", s->setting[(size_t)p * (size_t)s->axis_count + (size_t)i]);
            pl_text_add(&t, ",");
        }
        pl_text_add_cell(&t, "%s", s->outcome[p] ? s->outcome[p] : "not reached");
        for (int i = 0; i < s->quantity_count; ++i) {
            const double value = s->value[(size_t)p * (size_t)s->quantity_count + (size_t)i];
            pl_text_add(&t, isfinite(value) ? ",%.10g" : ",", value);
        }
        pl_text_add(&t, "\n");
    }
    const pl_status status =
        t.failed ? pl_fail_memory(err, path) : pl_file_write(path, t.data, t.length, err);
    pl_text_clear(&t);
    return status;
}

int pl_study_find(const pl_study *s, const char *quantity)
{
    const size_t n = strlen(quantity);
    for (int i = 0; i < s->quantity_count; ++i) {
        if (strcmp(s->quantity[i], quantity) == 0 ||
            (strncmp(s->quantity[i], quantity, n) == 0 && strncmp(s->quantity[i] + n, " [", 2) == 0)) {
            return i;
        }
    }
    return -1;
}

#define STUDY_CURVES 12

// How often the values of the last axis repeat with the same first axes.
static int study_last(const pl_study *s)
{
    int last = 1;
    while (last < s->count) {
        bool same = true;
        for (int i = 0; i + 1 < s->axis_count; ++i) {
            same = same &&
                   strcmp(s->setting[(size_t)last * (size_t)s->axis_count + (size_t)i], s->setting[i]) == 0;
        }
        if (!same) {
            break;
        }
        ++last;
    }
    return last;
}

pl_status pl_study_plot(const pl_study *s, int quantity, const char *path, pl_error *err)
{
    if (quantity < 0 || quantity >= s->quantity_count) {
        return pl_fail(err, PL_BAD_INPUT, "study: there is no such quantity");
    }
    const int last = study_last(s), groups = s->count / last;
    const int curves = groups < STUDY_CURVES ? groups : STUDY_CURVES;
    double *x = PL_NEW_ARRAY(double, s->count), *y = PL_NEW_ARRAY(double, s->count);
    pl_curve curve[STUDY_CURVES];
    char name[STUDY_CURVES][STUDY_NAME];
    pl_status status = x && y ? PL_OK : pl_fail_memory(err, "the plot");
    for (int g = 0; status == PL_OK && g < curves; ++g) {
        int n = 0;
        for (int k = 0; k < last; ++k) {
            const int p = g * last + k;
            const char *text = s->setting[(size_t)p * (size_t)s->axis_count + (size_t)s->axis_count - 1];
            const double value = s->value[(size_t)p * (size_t)s->quantity_count + (size_t)quantity];
            char *end = NULL;
            const double number = strtod(text, &end);
            if (isfinite(value)) {
                x[g * last + n] = end == text ? k : number; // words stand at 0, 1, 2
                y[g * last + n++] = value;
            }
        }
        size_t at = 0;
        name[g][0] = 0;
        for (int i = 0; i + 1 < s->axis_count && at < sizeof name[g]; ++i) {
            at += (size_t)snprintf(name[g] + at, sizeof name[g] - at, "%s%s %s", i ? ", " : "", s->axis[i],
                                   s->setting[(size_t)(g * last) * (size_t)s->axis_count + (size_t)i]);
        }
        curve[g] = (pl_curve){.name = name[g], .x = x + g * last, .y = y + g * last, .count = n};
    }
    if (status == PL_OK) {
        char label[STUDY_NAME];
        const char *text = s->setting[s->axis_count - 1];
        char *unit = NULL;
        strtod(text, &unit);
        snprintf(label, sizeof label, unit != text && *unit ? "%s [%s]" : "%s", s->axis[s->axis_count - 1],
                 unit + (*unit == ' '));
        const pl_plot plot = {
            .x_label = label, .y_label = s->quantity[quantity], .curve = curve, .curve_count = curves};
        status = pl_plot_write(&plot, path, err);
    }
    pl_free(x);
    pl_free(y);
    return status;
}
