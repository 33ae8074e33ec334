// Studies as tables and plots.
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "pliant/result.h"

#define STUDY_NAME 200 // bytes

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
            const double number = pl_real_read(text, &end);
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
        pl_real_read(text, &unit);
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
