// Limits of inverse kinematics from the command line, where it starts, and what it found.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli_goal.h"

// ---- limits
// --hold: commands that stay where they start.
static int limit_hold(const cli_args *args, const cli_model *m, cli_goals *g)
{
    int cursor = 0;
    for (const char *name; (name = cli_next(args, "hold", &cursor));) {
        const int i = cli_model_command(args, m, "hold", name);
        if (i < 0) {
            return CLI_EXIT_USAGE;
        }
        g->hold[i] = true;
    }

    return CLI_DONE;
}

// Bounds the effort of one actuator from above, in the unit of its kind. Of two bounds the smaller holds.
static int limit_bound(const cli_args *args, const cli_model *m, cli_goals *g, const char *option,
                       int actuator, const char *text)
{
    const pl_actuator_kind kind = m->info.actuator[actuator].kind;
    pl_error err = {0};
    double value = 0;

    if (pl_quantity_parse(text, pl_actuator_kind_get(kind)->effort_dimension, &value, &err) != PL_OK ||
        !(value > 0)) {
        cli_error(args, "--%s %s: %s", option, text, err.text[0] ? err.text : "must be greater than 0");
        return CLI_EXIT_USAGE;
    }

    for (int i = 0; i < g->options.effort_count; ++i) {
        if (g->bound[i].actuator == actuator) {
            g->bound[i].high = fmin(g->bound[i].high, value);
            return CLI_DONE;
        }
    }

    if (g->options.effort_count == CLI_GOALS) {
        cli_error(args, "--%s: at most %d efforts can be bounded", option, CLI_GOALS);
        return CLI_EXIT_USAGE;
    }

    g->bound[g->options.effort_count++] =
        (pl_effort_bound){.actuator = actuator, .low = -INFINITY, .high = value};
    g->options.effort = g->bound;

    return CLI_DONE;
}

// One bound for all actuators of a kind, as --max-pressure and --max-tension give it.
static int limit_of_effort(const cli_args *args, const cli_model *m, cli_goals *g, const char *option,
                           const char *effort)
{
    const char *text = cli_value(args, option);
    int found = 0;

    for (int i = 0; text && i < m->info.actuator_count; ++i) {
        if (strcmp(pl_actuator_kind_get(m->info.actuator[i].kind)->effort, effort) == 0) {
            const int status = limit_bound(args, m, g, option, i, text);
            if (status) {
                return status;
            }
            ++found;
        }
    }

    // a limit that limits nothing is a mistake of the user
    if (text && found == 0) {
        for (int k = 0; k < PL_ACTUATOR_KIND_COUNT; ++k) {
            const pl_actuator_kind_info *kind = pl_actuator_kind_get((pl_actuator_kind)k);
            if (strcmp(kind->effort, effort) == 0) {
                cli_error(args, "--%s: the robot has no %s", option, kind->name);
            }
        }

        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// All bounds of efforts: --max-effort NAME=VALUE, --max-pressure, --max-tension.
int cli_goals_efforts(const cli_args *args, const cli_model *m, cli_goals *g)
{
    int cursor = 0;
    for (const char *text; (text = cli_next(args, "max-effort", &cursor));) {
        char name[200];
        const size_t length = strcspn(text, "=");
        if (!text[length] || length == 0 || length >= sizeof name) {
            cli_error(args, "--max-effort %s: expected NAME=VALUE", text);
            return CLI_EXIT_USAGE;
        }

        snprintf(name, sizeof name, "%.*s", (int)length, text);
        const int actuator = cli_model_actuator(args, m, "max-effort", name);
        const int status = actuator < 0 ? CLI_EXIT_USAGE
                                        : limit_bound(args, m, g, "max-effort", actuator, text + length + 1);
        if (status) {
            return status;
        }
    }

    const int status = limit_of_effort(args, m, g, "max-pressure", "pressure");
    return status ? status : limit_of_effort(args, m, g, "max-tension", "tension");
}

// weight is small beside that of the goals (1 per mm), so that it decides only between equals.
static int limit_least(const cli_args *args, const cli_model *m, cli_goals *g)
{
    int cursor = 0;
    for (const char *text; (text = cli_next(args, "least", &cursor));) {
        const size_t length = strcspn(text, "=");
        double weight = 1e-3;
        pl_error err = {0};
        if (text[length] &&
            (pl_quantity_parse(text + length + 1, PL_DIM_NUMBER, &weight, &err) != PL_OK || !(weight > 0))) {
            cli_error(args, "--least %s: the weight must be a number greater than 0", text);
            return CLI_EXIT_USAGE;
        }

        // an effort counts in the unit people use, whatever the actuator
        if (length == 6 && strncmp(text, "effort", 6) == 0) {
            for (int i = 0; i < m->info.actuator_count; ++i) {
                pl_objective *o = cli_goals_add(args, g, PL_OBJECTIVE_EFFORT);
                if (!o) {
                    return CLI_EXIT_USAGE;
                }
                o->index = i;
                o->weight = weight / pl_effort_scale(m->info.actuator[i].kind); // per N, per kPa
            }
        } else if (length == 6 && strncmp(text, "energy", 6) == 0) {
            pl_objective *o = cli_goals_add(args, g, PL_OBJECTIVE_ENERGY);
            if (!o) {
                return CLI_EXIT_USAGE;
            }
            o->weight = weight;
        } else if (length == 6 && strncmp(text, "motion", 6) == 0) {
            g->options.least_motion = weight;
        } else {
            cli_error(args, "--least %s: expected effort, energy or motion", text);
            return CLI_EXIT_USAGE;
        }
    }

    return CLI_DONE;
}

// --search: the method; gauss_newton is another name for newton.
static int limit_method(const cli_args *args, cli_goals *g)
{
    const char *name = cli_value(args, "search");
    if (!name) {
        return CLI_DONE;
    }
    g->options.method = strcmp(name, "gauss_newton") == 0 ? PL_IK_NEWTON : pl_ik_method_find(name);
    if (g->options.method == PL_IK_METHOD_COUNT) {
        cli_error(args, "--search %s: expected newton, gradient or descent", name);
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// --workspace: stored samples as starts of the search. g->stored owns them, g->samples refers to it.
static int limit_workspace(const cli_args *args, const cli_model *m, cli_goals *g)
{
    const char *path = cli_value(args, "workspace");
    pl_store *store = NULL;
    pl_error err = {0};

    if (!path) {
        return CLI_DONE;
    }

    // without settings every plan is accepted: any solved sample is a good start
    pl_status status = pl_store_open(path, m->model, NULL, &store, &err);
    if (status == PL_OK) {
        status = pl_store_read(store, &g->stored, &err);
    }
    pl_store_close(store);
    if (status != PL_OK) {
        return cli_fail(args, &err);
    }
    g->samples = (pl_samples){g->stored.count, g->stored.command, g->stored.marker};

    return CLI_DONE;
}

// Everything that restricts the search, and the check that it has something to search in.
int cli_goals_limits(const cli_args *args, const cli_model *m, cli_goals *g)
{
    int status = limit_hold(args, m, g);
    status = status ? status : cli_goals_efforts(args, m, g);
    status = status ? status : limit_least(args, m, g);
    status = status ? status : limit_method(args, g);
    status = status ? status : limit_workspace(args, m, g);
    if (!status && (!cli_whole(args, "iterations", &g->options.iteration_limit) ||
                    !cli_limit(args, "limit-each", &g->options.time_limit))) {
        return CLI_EXIT_USAGE;
    }

    for (int i = 0; !status && i < m->info.command_count; ++i) {
        // without a range there is nothing to search in
        const pl_command_info *c = &m->info.command[i];
        if (!c->has_range && !g->hold[i]) {
            cli_error(args, "command %s has no range", c->name);
            cli_advice("give its actuator a range in the robot file, or add --hold %s", c->name);
            return CLI_EXIT_USAGE;
        }
    }

    return status;
}

// ---- where it starts
// Where the search starts: the state of --start, then the commands of --set.
// Only commands that are set cost a
// forward solve; the others keep the value of the state.
int cli_goals_start(const cli_args *args, cli_model *m)
{
    const char *path = cli_value(args, "start");
    pl_error err = {0};

    if (path && pl_model_state_load(m->model, path, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    int status = cli_commands_read(args, cli_model_commands(m), m->command);
    bool any = false;
    const pl_model_answer answer = pl_model_get_answer(m->model);
    for (int i = 0; !status && i < m->info.command_count; ++i) {
        any = any || !isnan(m->command[i]);
        m->command[i] = isnan(m->command[i]) ? answer.command[i] : m->command[i];
    }

    if (status || !any) {
        return status;
    }
    if (pl_model_fk(m->model, m->command, &m->report, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    if (m->report.outcome != PL_SOLVED) {
        cli_error(args, "no equilibrium at the start: %s", m->report.message);
        cli_outcome_advice(pl_outcome_name(m->report.outcome));
        return CLI_EXIT_UNSOLVED;
    }

    return CLI_DONE;
}

// ---- what it found
// The bounds that hold the result, in words: "the upper end of air's range (40 kPa), ...".
void cli_active_text(const cli_model *m, const pl_ik_report *report, char *buffer, size_t size)
{
    buffer[0] = 0;
    for (int i = 0; i < report->active_count; ++i) {
        const pl_ik_active *a = &report->active[i];
        const size_t at = strlen(buffer);
        const char *comma = at ? ", " : "";

        if (a->kind == PL_BOUND_EFFORT) {
            const pl_actuator_kind kind = m->info.actuator[a->index].kind;
            snprintf(buffer + at, size - at, "%sthe largest %s of %s (%g %s)", comma,
                     pl_actuator_kind_get(kind)->effort, a->name, a->value / pl_effort_scale(kind),
                     pl_effort_unit(kind));
        } else {
            const pl_drive drive = m->info.command[a->index].drive;
            const char *unit = pl_drive_unit(drive);
            const bool ratio = strcmp(unit, "1") == 0;
            snprintf(buffer + at, size - at, "%sthe %s end of %s's %s (%g%s%s)", comma,
                     a->upper ? "upper" : "lower", a->name, a->kind == PL_BOUND_RATE ? "rate" : "range",
                     a->value / pl_drive_scale(drive), ratio ? "" : " ", ratio ? "" : unit);
        }
    }
}

#define LIMITS_SHOWN 7 // commands in a table on the terminal

// The error of the model at step k, if it has one.
void cli_motion_error(const pl_motion *m, int k, char *row, size_t size)
{
    const size_t at = strlen(row);
    if (m->surrogate && isfinite(m->model_error[k])) {
        snprintf(row + at, size - at, "\t%.2g", m->model_error[k]);
    } else if (m->surrogate) {
        snprintf(row + at, size - at, "\t-");
    }
}

// Cells with the commands of step k, or for k < 0 their names and units.
void cli_motion_cells(const pl_motion *m, int k, char *row, size_t size)
{
    for (int c = 0; c < m->info.command_count && c < LIMITS_SHOWN; ++c) {
        const size_t at = strlen(row);
        const pl_drive drive = m->info.command[c].drive;
        const double value = k < 0 ? NAN : m->command[(size_t)k * (size_t)m->info.command_count + (size_t)c];
        if (k < 0) {
            const char *unit = strcmp(pl_drive_unit(drive), "1") ? pl_drive_unit(drive) : "";
            snprintf(row + at, size - at, "\t%s%s%s", m->info.command[c].name, unit[0] ? " " : "", unit);
        } else if (isnan(value)) {
            snprintf(row + at, size - at, "\t-");
        } else {
            snprintf(row + at, size - at, "\t%.4g", value / pl_drive_scale(drive));
        }
    }
}

// Names of the active bounds.
json_t *cli_active_json(const pl_ik_report *report)
{
    json_t *all = json_array();
    for (int i = 0; i < report->active_count; ++i) {
        json_array_append_new(all, json_string(report->active[i].name));
    }
    return all;
}

// What shows that a result is a minimum within its bounds: the projected
// gradient, and a multiplier per active
// bound (the gain in the objective per unit that the bound would yield).
static json_t *limit_certificate(const cli_model *m, const pl_ik_report *report)
{
    static const char *const kinds[] = {"range", "rate", "effort"};
    json_t *root = json_object(), *all = json_array();

    for (int i = 0; i < report->active_count; ++i) {
        const pl_ik_active *a = &report->active[i];
        const double scale = a->kind == PL_BOUND_EFFORT ? pl_effort_scale(m->info.actuator[a->index].kind)
                                                        : pl_drive_scale(m->info.command[a->index].drive);

        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(a->name));
        json_object_set_new(one, "kind", json_string(kinds[a->kind]));
        json_object_set_new(one, "side", json_string(a->upper ? "upper" : "lower"));

        // value per unit and multiplier in units: they scale inversely
        json_object_set_new(one, "value", cli_json_number(a->value / scale));
        json_object_set_new(one, "multiplier", cli_json_number(a->multiplier * scale));
        json_array_append_new(all, one);
    }

    json_object_set_new(root, "gradient", cli_json_number(report->gradient));
    json_object_set_new(root, "bounds", all);

    return root;
}

// The part of a record that every inverse solve has.
void cli_ik_json(json_t *root, const cli_model *m, const pl_ik_report *report)
{
    json_object_set_new(root, "reached", json_boolean(report->outcome == PL_IK_REACHED));
    json_object_set_new(root, "error", cli_json_number(report->distance));
    json_object_set_new(root, "active_bounds", cli_active_json(report));
    json_object_set_new(root, "certificate", limit_certificate(m, report));

    json_t *ik = json_object();
    json_object_set_new(ik, "outcome", json_string(pl_ik_outcome_name(report->outcome)));
    json_object_set_new(ik, "message", json_string(report->message));
    json_object_set_new(ik, "error_over_tolerance", cli_json_number(report->error));
    json_object_set_new(ik, "model_error", cli_json_number(report->model_error));
    json_object_set_new(ik, "confidence", cli_json_number(report->confidence));
    json_object_set_new(ik, "objective", cli_json_number(report->objective));
    json_object_set_new(ik, "iterations", json_integer(report->iterations));
    json_object_set_new(ik, "starts", json_integer(report->starts));
    json_object_set_new(ik, "agreed", json_integer(report->agreed));
    json_object_set_new(ik, "factorizations", json_integer(report->costs.factorizations));
    json_object_set_new(ik, "solves", json_integer(report->costs.solves));
    json_object_set_new(ik, "fk_calls", json_integer(report->costs.fk_calls));
    json_object_set_new(ik, "seconds", cli_json_number(report->seconds));
    json_object_set_new(root, "ik", ik);
}
