// A model on the command line: opened from a robot file of any kind, by the method asked for; solved; its
// state kept in files.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

// ---- opening
// Options about a mesh say nothing to a reduced model: refused, not ignored.
static int model_mesh_options(const cli_args *args)
{
    static const char *const mesh_only[] = {"displacement", "size", "order", "surface", "cut"};
    for (size_t i = 0; i < sizeof mesh_only / sizeof mesh_only[0]; ++i) {
        if (cli_value(args, mesh_only[i]) || cli_flag(args, mesh_only[i])) {
            cli_error(args, "--%s is only for a robot with a mesh; this one is a reduced model",
                      mesh_only[i]);
            return CLI_EXIT_USAGE;
        }
    }

    if (cli_value(args, "method")) {
        cli_error(args, "--method is only for a robot with a mesh; this one is a reduced model");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Options of the library from those of the command line.
static int model_options(const cli_args *args, pl_model_load_options *options)
{
    *options = (pl_model_load_options){.load = {.mesher = pl_meshing_mesher(), .progress = &cli_progress},
                                       .method = cli_value(args, "method"),
                                       .displacement = cli_flag(args, "displacement"),
                                       .progress = cli_progress};
    options->load.no_cache = cli_flag(args, "no-cache");
    options->fallback = cli_flag(args, "fallback");
    options->stop_at_limit = cli_flag(args, "stop-at-limit") || cli_flag(args, "after-snap");
    const char *method = options->method;
    if (method && !pl_method_exists(method)) {
        cli_error(args, "--method %s: expected exact, local_global or fang2020", method);
        return CLI_EXIT_USAGE;
    }

    // of ik and related verbs the limit is one of the search
    const bool search =
        args->verb == &cli_verb_ik || args->verb == &cli_verb_follow || args->verb == &cli_verb_task;
    const bool good = cli_number(args, "size", &options->load.size) &&
                      cli_whole(args, "order", &options->load.order) &&
                      (search || cli_limit(args, "limit-each", &options->time_limit));

    return good ? CLI_DONE : CLI_EXIT_USAGE;
}

// A file that does not exist yet is no error: the first of a series of calls has none.
static int model_read_state(const cli_args *args, cli_model *m)
{
    const char *from = cli_value(args, "state"), *to = cli_value(args, "save-state");
    m->state_path = to ? to : from;
    if (from && !cli_exists(from)) {
        pl_findings_add(m->findings, PL_NOTE, from, 0,
                        "the state does not exist yet, starting from the undeformed configuration");
        cli_finding(pl_findings_at(m->findings, pl_findings_count(m->findings) - 1));
        return CLI_DONE;
    }

    pl_error err = {0};
    return !from || pl_model_state_load(m->model, from, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// Opened in the order in which mistakes are cheapest to find: file, options, names, and only then the mesh.
int cli_model_open(const cli_args *args, const char *given, cli_model *m)
{
    pl_model_load_options options;
    int status = cli_document_open(args, given, &m->path, &m->document, &m->findings);

    // options that would be ignored are refused
    if (!status && pl_robot_document_kind(m->document) != PL_ROBOT_FULL) {
        status = model_mesh_options(args);
    }
    status = status ? status : model_options(args, &options);
    status = status ? status : cli_commands_check(args, m->document);
    if (status) {
        return status;
    }

    // mesh and model
    pl_error err = {0};
    cli_stage("loading", true);
    const pl_status loaded = pl_model_from_document(m->document, &options, &m->model, m->findings, &err);
    cli_stage(NULL, false);
    cli_findings(m->findings);
    if (loaded != PL_OK) {
        return cli_robot_refused(args, loaded, m->findings, &err);
    }

    // all commands idle
    m->info = pl_model_get_info(m->model);
    m->command = calloc((size_t)m->info.command_count + 1, sizeof *m->command);
    if (!m->command) {
        return cli_no_memory(args);
    }
    for (int i = 0; i < m->info.command_count; ++i) {
        m->command[i] = NAN;
    }

    return model_read_state(args, m);
}

void cli_model_close(cli_model *m)
{
    pl_model_destroy(m->model);
    pl_robot_document_destroy(m->document);
    free(m->command);
    pl_findings_destroy(m->findings);
    free(m->path);
    *m = (cli_model){0};
}

// ---- solving
#define ATMOSPHERE 0.101325 // MPa

// What fills a chamber can pull at its walls down to vacuum, no further: a liquid boils, a gas is gone.
void cli_model_warn(cli_model *m)
{
    if (m->report.outcome != PL_SOLVED || m->vacuum_reported) {
        return;
    }

    const pl_model_answer answer = pl_model_get_answer(m->model);
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const double p = answer.effort[i];
        const char *effort = pl_actuator_kind_get(m->info.actuator[i].kind)->effort;
        if (strcmp(effort, "pressure") != 0 || !(p < -ATMOSPHERE)) {
            continue;
        }
        pl_findings_add(
            m->findings, PL_WARNING, m->path, 0,
            "chamber '%s' is %.4g kPa below ambient; at sea level a vacuum is reached at %.4g kPa",
            m->info.actuator[i].name, -1e3 * p, 1e3 * ATMOSPHERE);
        cli_finding(pl_findings_at(m->findings, pl_findings_count(m->findings) - 1));
        m->vacuum_reported = true;
    }
}

int cli_model_solve(const cli_args *args, cli_model *m)
{
    pl_error err = {0};
    cli_stage("solving", false);
    const pl_status status = pl_model_fk(m->model, m->command, &m->report, &err);
    cli_stage(NULL, false);
    if (status == PL_OK) {
        cli_model_warn(m);
    }
    if (status == PL_OK || status == PL_INTERRUPTED) {
        return CLI_DONE;
    }
    err.status = status;

    return cli_fail(args, &err);
}

// An estimate that cannot be made is no reason to fail: the result stands, its mesh error is not known.
void cli_model_estimate(cli_model *m)
{
    pl_mesh_error estimate;
    pl_error ignored = {0};

    if (m->report.outcome == PL_SOLVED && !cli_interrupted()) {
        cli_stage("mesh error", false);
        const pl_status status = pl_model_mesh_error(m->model, &estimate, &ignored);
        cli_stage(NULL, false);
        (void)status; // without an estimate the record says so
    }
}

// 0 only for a solved state; otherwise says why, and what to try.
int cli_model_outcome(const cli_args *args, const cli_model *m)
{
    if (m->report.outcome == PL_SOLVED) {
        return CLI_DONE;
    }

    const bool late = cli_interrupted() && strcmp(cli_stop_reason(), "interrupted") != 0;
    cli_error(args, "not converged: %s%s%s", late ? cli_stop_reason() : "", late ? "; " : "",
              m->report.message[0] ? m->report.message : pl_outcome_name(m->report.outcome));
    cli_outcome_advice(pl_outcome_name(m->report.outcome));
    return CLI_EXIT_UNSOLVED;
}

int cli_model_save_state(const cli_args *args, const cli_model *m)
{
    pl_error err = {0};
    // a solve that found no equilibrium leaves the state as it was given, and so its file
    if (!m->state_path || m->report.no_state || pl_model_state_save(m->model, m->state_path, &err) == PL_OK) {
        return CLI_DONE;
    }
    return cli_fail(args, &err);
}

// ---- names
// Complains that the model has no `what` of that name; says which there are.
static void model_unknown(const cli_args *args, const char *option, const char *what, const char *name,
                          const char *const *known, int count)
{
    char list[600] = "";
    for (int i = 0; i < count; ++i) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", known[i]);
    }

    const char *near = cli_nearest(name, known, count);
    if (count == 0) {
        cli_error(args, "--%s %s: the robot has no %ss", option, name, what);
        return;
    }
    cli_error(args, "--%s: the robot has no %s '%s'%s%s%s", option, what, name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    cli_advice("it has %s", list);
}

int cli_model_marker(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_marker(m->model, name);
    if (found < 0) {
        model_unknown(args, option, "marker", name, m->info.marker_name, m->info.marker_count);
    }
    return found;
}

int cli_model_sensor(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_sensor(m->model, name);
    if (found < 0) {
        model_unknown(args, option, "sensor", name, m->info.sensor_name, m->info.sensor_count);
    }
    return found;
}

int cli_model_actuator(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_actuator(m->model, name);
    const char *known[64];
    int count = 0;

    while (found < 0 && count < m->info.actuator_count && count < 64) {
        known[count] = m->info.actuator[count].name;
        ++count;
    }

    if (found < 0) {
        model_unknown(args, option, "actuator", name, known, count);
    }

    return found;
}

int cli_model_command(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_command(m->model, name);
    const char *known[64];
    int count = 0;

    while (found < 0 && count < m->info.command_count && count < 64) {
        known[count] = m->info.command[count].name;
        ++count;
    }

    if (found < 0) {
        model_unknown(args, option, "command", name, known, count);
    }

    return found;
}

cli_commands cli_model_commands(const cli_model *m)
{
    return (cli_commands){m->info.command, m->info.command_count};
}
