// The record of a result as people, machines and spreadsheets read it: the tables, the JSON and the CSV of
// `fk`, for every kind of robot.
#include <math.h>
#include <string.h>
#include "cli.h"

// Where the model stands; NULL when memory ran out.
static const pl_record *record_of(cli_model *m)
{
    const pl_record *record = NULL;
    pl_error err = {0};
    return pl_model_record(m->model, NULL, &record, &err) == PL_OK ? record : NULL;
}

// Only a full body has strains.
static bool record_full(const pl_record *r)
{
    return strcmp(r->kind, "full") == 0;
}

// A number, or - where there is none.
static void record_number(char *text, size_t size, const char *format, double value)
{
    if (isfinite(value)) {
        snprintf(text, size, format, value);
    } else {
        snprintf(text, size, "-");
    }
}

// ---- for people
// An error of the model is shown only where it is a surrogate of another one.
static void record_print_markers(const cli_args *args, const pl_record *r)
{
    const bool surrogate = r->model_error.source > PL_ERROR_UNMEASURED;
    cli_table table = {0};

    for (int i = 0; i < r->marker_count; ++i) {
        const pl_record_marker *m = &r->marker[i];
        const double *p = m->position, *d = m->displacement;
        char turned[32], bend[32], error[32];
        record_number(error, sizeof error, "%.2g", m->model_error);
        record_number(turned, sizeof turned, "%.2f", m->turned);
        record_number(bend, sizeof bend, "%+.2f", m->bend);
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "marker\tx\ty\tz mm\tdx\tdy\tdz mm\tmoved mm\tturned deg\tbend deg%s",
                    surrogate ? "\tmodel error mm" : "");
        }
        cli_row(&table, "%s\t%.3f\t%.3f\t%.3f\t%+.3f\t%+.3f\t%+.3f\t%.3f\t%s\t%s%s%s", m->name,
                cli_tidy(p[0], 3), cli_tidy(p[1], 3), cli_tidy(p[2], 3), cli_tidy(d[0], 3), cli_tidy(d[1], 3),
                cli_tidy(d[2], 3), sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), turned, bend,
                surrogate ? "\t" : "", surrogate ? error : "");
    }

    cli_table_print(args, &table);
}

// What the ratios asked for came to: of growth always, of constraints where the method need not meet them.
static void record_print_ratios(const cli_args *args, const pl_record *r)
{
    const bool exact = strcmp(r->method, "local_global") != 0;
    for (int i = 0; i < r->actuator_count; ++i) {
        const pl_record_actuator *a = &r->actuator[i];
        if (isnan(a->asked) || (exact && !a->growth)) {
            continue;
        }
        cli_say(args, "  %s: prescribed %.4f of rest, reached %.4f%s", a->name, a->asked, a->reached,
                a->growth ? " by growth" : " as a constraint");
        cli_say(args, a->growth && isfinite(a->local_low) ? " (local ratios %.3f to %.3f)\n" : "\n",
                a->local_low, a->local_high);
    }
}

static void record_print_actuators(const cli_args *args, const pl_record *r)
{
    cli_table table = {0};
    for (int i = 0; i < r->actuator_count; ++i) {
        const pl_record_actuator *a = &r->actuator[i];
        char effort[32];
        record_number(effort, sizeof effort, "%.4g", a->effort);
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "actuator\tkind\tdrive\tnow\t\tof rest\teffort");
        }
        cli_row(&table, "%s\t%s\t%s%s\t%.2f\t%s\t%.4f\t%s\t%s%s", a->name, a->kind, a->drive,
                a->idle ? " (idle)" : "", a->measure, a->measure_unit, a->ratio, effort, a->effort_unit,
                a->slack ? ", slack" : "");
    }

    cli_table_print(args, &table);
    record_print_ratios(args, r);
}

static void record_print_sensors(const cli_args *args, const pl_record *r)
{
    cli_table table = {0};
    for (int i = 0; i < r->sensor_count; ++i) {
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "sensor\treads");
        }
        cli_row(&table, "%s\t%.4f\t%s", r->sensor[i].name, r->sensor[i].value, r->sensor[i].unit);
    }

    cli_table_print(args, &table);
}

// Readings of one group and name stand side by side in the record: one row each.
static void record_print_readings(const cli_args *args, const pl_record *r)
{
    for (int i = 0; i < r->reading_count;) {
        const char *group = r->reading[i].group;
        cli_table table = {0};
        char head[300] = "";
        snprintf(head, sizeof head, "%s", group);
        for (int k = i; k < r->reading_count && strcmp(r->reading[k].name, r->reading[i].name) == 0; ++k) {
            snprintf(head + strlen(head), sizeof head - strlen(head), "\t%s %s", r->reading[k].quantity,
                     r->reading[k].unit);
        }
        cli_say(args, "\n");
        cli_row(&table, "%s", head);
        while (i < r->reading_count && strcmp(r->reading[i].group, group) == 0) {
            const char *name = r->reading[i].name;
            char row[300];
            snprintf(row, sizeof row, "%s", name);
            for (; i < r->reading_count && strcmp(r->reading[i].name, name) == 0; ++i) {
                snprintf(row + strlen(row), sizeof row - strlen(row), "\t%.6g", r->reading[i].value);
            }
            cli_row(&table, "%s", row);
        }
        cli_table_print(args, &table);
    }
}

// Forces and moments at supports, about the origin.
static void record_print_reactions(const cli_args *args, const pl_record *r)
{
    cli_table table = {0};
    for (int i = 0; i < r->reaction_count; ++i) {
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "support\tforce x\ty\tz N\tmoment x\ty\tz N mm");
        }
        const double *f = r->reaction[i].force, *m = r->reaction[i].moment;
        cli_row(&table, "%s\t%.4f\t%.4f\t%.4f\t%.3f\t%.3f\t%.3f", r->reaction[i].name, cli_tidy(f[0], 4),
                cli_tidy(f[1], 4), cli_tidy(f[2], 4), cli_tidy(m[0], 3), cli_tidy(m[1], 3),
                cli_tidy(m[2], 3));
    }

    cli_table_print(args, &table);
}

// How it was solved and how accurately.
static void record_print_solve(const cli_args *args, const pl_record *r)
{
    const pl_solve_report *p = &r->report;
    if (record_full(r)) {
        cli_say(args, "\n  smallest J %.4f, largest stretch %.4f, elastic energy %.4g mJ\n", p->min_J,
                p->max_stretch, p->energy);
    } else if (isfinite(p->energy)) {
        cli_say(args, "\n  elastic energy %.4g mJ\n", p->energy);
    }

    cli_say(args,
            "  %d elements, %d vertices; %d load increments, %d iterations, %d factorizations, %d solves, "
            "%.2f s\n",
            r->element_count, r->vertex_count, p->increments, p->iterations, p->factorizations, p->solves,
            p->seconds);
    if (isfinite(p->residual)) {
        cli_say(args, "  largest residual force %.2g N, next step %.2g mm\n", p->residual, p->step);
    }

    if (isfinite(r->mesh_error.relative)) {
        cli_say(args, "  mesh error about %.2g %% of the motion (estimated%s)\n",
                100 * r->mesh_error.relative,
                r->mesh_error.factor > 3 ? ", in contact to an order of magnitude" : "");
    }

    if (p->negative_count > 0) {
        cli_say(args, "  unstable: the tangent has %d negative eigenvalue%s\n", p->negative_count,
                p->negative_count == 1 ? "" : "s");
    }
}

// Warnings first, then tables from what is asked for most to what is asked for least.
void cli_record_print(const cli_args *args, cli_model *m)
{
    const pl_record *r = record_of(m);
    char text[400];

    if (!r) {
        cli_no_memory(args);
        return;
    }

    cli_commands_text(cli_model_commands(m), pl_model_get_answer(m->model).command, text, sizeof text);
    cli_say(args, "%s%s%s%s at %s: %s\n", r->robot, record_full(r) ? "" : " (", record_full(r) ? "" : r->kind,
            record_full(r) ? "" : ")", text, pl_outcome_name(r->report.outcome));
    if (r->report.message[0]) {
        cli_say(args, "  %s\n", r->report.message);
    }
    if (pl_record_crossing_text(r, text, sizeof text)) {
        cli_say(args, "  %s\n", text);
    }
    if (pl_record_guard_text(r, text, sizeof text)) {
        cli_say(args, "  %s\n", text);
    }
    if (pl_record_contact_text(r, text, sizeof text)) {
        cli_say(args, "  %s\n", text);
    }
    if (pl_record_mesh_error_text(r, text, sizeof text)) {
        cli_say(args, "  %s\n", text);
    }
    if (pl_record_model_error_text(r, text, sizeof text)) {
        cli_say(args, "  %s\n", text);
    }
    record_print_markers(args, r);
    record_print_actuators(args, r);
    record_print_sensors(args, r);
    record_print_readings(args, r);
    record_print_reactions(args, r);
    record_print_solve(args, r);
}

// ---- for machines and spreadsheets
json_t *cli_record_json(cli_model *m)
{
    const pl_record *r = record_of(m);
    char *text = r ? pl_record_json(r, m->findings) : NULL;
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    pl_file_free(text);
    return root;
}

char *cli_record_csv_head(cli_model *m)
{
    const pl_record *r = record_of(m);
    return r ? pl_record_csv_head(r) : NULL;
}

char *cli_record_csv_row(cli_model *m)
{
    const pl_record *r = record_of(m);
    return r ? pl_record_csv_row(r) : NULL;
}
