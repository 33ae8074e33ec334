// The record of a result as people read it: sentences, and tables from what is asked for most to what is
// asked for least.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "model/model_record.h"
#include "pliant/result.h"

// A value that would be printed as -0.00 becomes 0.
static double text_tidy(double value, int digits)
{
    return fabs(value) < 0.5 * pow(10, -digits) ? 0 : value;
}

// "1 solve", "2 solves".
static void text_count(pl_text *t, int count, const char *what, const char *after)
{
    pl_text_add(t, "%d %s%s%s", count, what, count == 1 ? "" : "s", after);
}

// Only a full body has strains.
static bool text_full(const pl_record *r)
{
    return strcmp(r->kind, "full") == 0;
}

// A number, or - where there is none.
static void text_number(char *text, size_t size, const char *format, double value)
{
    if (isfinite(value)) {
        snprintf(text, size, format, value);
    } else {
        snprintf(text, size, "-");
    }
}

// An error of the model is shown only where it is a surrogate of another one.
static void text_markers(pl_text *t, const pl_record *r)
{
    const bool surrogate = r->model_error.source > PL_ERROR_UNMEASURED;
    for (int i = 0; i < r->marker_count; ++i) {
        const pl_record_marker *m = &r->marker[i];
        const double *p = m->position, *d = m->displacement;
        char turned[32], bend[32], error[32];
        text_number(error, sizeof error, "%.2g", m->model_error);
        text_number(turned, sizeof turned, "%.2f", m->turned);
        text_number(bend, sizeof bend, "%+.2f", text_tidy(m->bend, 2));
        if (i == 0) {
            pl_text_add(t, "\nmarker\tx\ty\tz mm\tdx\tdy\tdz mm\tmoved mm\tturned deg\tbend deg%s\n",
                        surrogate ? "\tmodel error mm" : "");
        }

        pl_text_add(t, "%s\t%.3f\t%.3f\t%.3f\t%+.3f\t%+.3f\t%+.3f\t%.3f\t%s\t%s%s%s\n", m->name,
                    text_tidy(p[0], 3), text_tidy(p[1], 3), text_tidy(p[2], 3), text_tidy(d[0], 3),
                    text_tidy(d[1], 3), text_tidy(d[2], 3), sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]),
                    turned, bend, surrogate ? "\t" : "", surrogate ? error : "");
    }
}

// What the ratios asked for came to: of growth always, of constraints where the method need not meet them.
static void text_ratios(pl_text *t, const pl_record *r)
{
    const bool exact = strcmp(r->method, "local_global") != 0;
    for (int i = 0; i < r->actuator_count; ++i) {
        const pl_record_actuator *a = &r->actuator[i];
        if (isnan(a->asked) || (exact && !a->growth)) {
            continue;
        }
        pl_text_add(t, "  %s: prescribed %.4f of rest, reached %.4f%s", a->name, a->asked, a->reached,
                    a->growth ? " by growth" : " as a constraint");
        pl_text_add(t, a->growth && isfinite(a->local_low) ? " (local ratios %.3f to %.3f)\n" : "\n",
                    a->local_low, a->local_high);
    }
}

static void text_actuators(pl_text *t, const pl_record *r)
{
    for (int i = 0; i < r->actuator_count; ++i) {
        const pl_record_actuator *a = &r->actuator[i];
        char effort[32];
        text_number(effort, sizeof effort, "%.4g", a->effort);
        if (i == 0) {
            pl_text_add(t, "\nactuator\tkind\tdrive\tnow\t\tof rest\teffort\n");
        }
        pl_text_add(t, "%s\t%s\t%s%s\t%.2f\t%s\t%.4f\t%s\t%s%s\n", a->name, a->kind, a->drive,
                    a->idle ? " (idle)" : "", a->measure, a->measure_unit, a->ratio, effort, a->effort_unit,
                    a->slack ? ", slack" : "");
    }

    text_ratios(t, r);
}

static void text_sensors(pl_text *t, const pl_record *r)
{
    for (int i = 0; i < r->sensor_count; ++i) {
        if (i == 0) {
            pl_text_add(t, "\nsensor\treads\n");
        }
        pl_text_add(t, "%s\t%.4f\t%s\n", r->sensor[i].name, r->sensor[i].value, r->sensor[i].unit);
    }
}

// Readings of one group and name stand side by side in the record: one row each, below the quantities of the
// first.
static void text_readings(pl_text *t, const pl_record *r)
{
    for (int i = 0; i < r->reading_count;) {
        const pl_record_reading *first = &r->reading[i];
        pl_text_add(t, "\n%s", first->group);
        for (int k = i; k < r->reading_count && strcmp(r->reading[k].name, first->name) == 0; ++k) {
            pl_text_add(t, "\t%s %s", r->reading[k].quantity, r->reading[k].unit);
        }
        pl_text_add(t, "\n");

        while (i < r->reading_count && strcmp(r->reading[i].group, first->group) == 0) {
            const char *name = r->reading[i].name;
            pl_text_add(t, "%s", name);
            for (; i < r->reading_count && strcmp(r->reading[i].name, name) == 0; ++i) {
                pl_text_add(t, "\t%.6g", r->reading[i].value);
            }
            pl_text_add(t, "\n");
        }
    }
}

// Forces and moments at supports, about the origin.
static void text_reactions(pl_text *t, const pl_record *r)
{
    for (int i = 0; i < r->reaction_count; ++i) {
        if (i == 0) {
            pl_text_add(t, "\nsupport\tforce x\ty\tz N\tmoment x\ty\tz N mm\n");
        }
        const double *f = r->reaction[i].force, *m = r->reaction[i].moment;
        pl_text_add(t, "%s\t%.4f\t%.4f\t%.4f\t%.3f\t%.3f\t%.3f\n", r->reaction[i].name, text_tidy(f[0], 4),
                    text_tidy(f[1], 4), text_tidy(f[2], 4), text_tidy(m[0], 3), text_tidy(m[1], 3),
                    text_tidy(m[2], 3));
    }
}

// How it was solved and how accurately.
static void text_solve(pl_text *t, const pl_record *r)
{
    const pl_solve_report *p = &r->report;
    if (text_full(r)) {
        // of an undeformed body it is round-off, of either sign
        const bool undeformed = fabs(p->max_stretch - 1) < 1e-9 && fabs(p->energy) < 1e-9;
        pl_text_add(t, "\n  smallest J %.4f, largest stretch %.4f, elastic energy %.4g mJ\n", p->min_J,
                    p->max_stretch, undeformed ? 0 : p->energy);
    } else if (isfinite(p->energy)) {
        pl_text_add(t, "\n  elastic energy %.4g mJ\n", p->energy);
    }

    pl_text_add(t, "  %d elements, %d vertices; ", r->element_count, r->vertex_count);
    text_count(t, p->increments, "load increment", ", ");
    text_count(t, p->iterations, "iteration", ", ");
    text_count(t, p->factorizations, "factorization", ", ");
    text_count(t, p->solves, "solve", ", ");
    pl_text_add(t, "%.2f s\n", p->seconds);
    if (isfinite(p->residual)) {
        pl_text_add(t, "  largest residual force %.2g N, next step %.2g mm\n", p->residual, p->step);
    }

    if (isfinite(r->mesh_error.relative)) {
        pl_text_add(t, "  mesh error about %.2g %% of the motion (estimated%s)\n",
                    100 * r->mesh_error.relative,
                    r->mesh_error.factor > 3 ? ", in contact to an order of magnitude" : "");
    }

    if (p->negative_count > 0) {
        pl_text_add(t, "  unstable: the tangent has %d negative eigenvalue%s\n", p->negative_count,
                    p->negative_count == 1 ? "" : "s");
    }
}

// A sentence on a line of its own.
static void text_sentence(pl_text *t, bool there, const char *sentence)
{
    if (there) {
        pl_text_add(t, "  %s\n", sentence);
    }
}

char *pl_record_text(const pl_record *r)
{
    char s[400];
    pl_text text = {0}, *t = &text;

    // what to know before the numbers are used
    text_sentence(t, r->report.message[0], r->report.message);
    text_sentence(t, pl_record_crossing_text(r, s, sizeof s), s);
    text_sentence(t, pl_record_guard_text(r, s, sizeof s), s);
    text_sentence(t, pl_record_contact_text(r, s, sizeof s), s);
    text_sentence(t, pl_record_mesh_error_text(r, s, sizeof s), s);
    text_sentence(t, pl_record_model_error_text(r, s, sizeof s), s);

    // the numbers
    text_markers(t, r);
    text_actuators(t, r);
    text_sensors(t, r);
    text_readings(t, r);
    text_reactions(t, r);
    text_solve(t, r);

    if (text.failed) {
        pl_text_clear(&text);
    }
    return text.data;
}
