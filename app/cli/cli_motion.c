// A model and the same robot as a solver of motions, for `simulate` and `modes`.
#include "cli_motion.h"
#include <math.h>
#include <string.h>

static int motion_masses(const cli_args *args, cli_motion *s)
{
    int cursor = 0;
    double gravity[3];
    pl_robot_gravity(s->robot, gravity);
    for (const char *text; (text = cli_next(args, "mass", &cursor));) {
        char name[64];
        const char *value = strchr(text, '=');
        pl_error err = {0};
        if (!value || value == text || (size_t)(value - text) >= sizeof name) {
            cli_error(args, "--mass %s: expected MARKER=MASS, such as tip=52g", text);
            return CLI_WRONG;
        }
        snprintf(name, sizeof name, "%.*s", (int)(value - text), text);
        const int k = cli_model_marker(args, &s->m, "mass", name);
        if (k < 0) {
            return CLI_WRONG;
        }
        if (pl_quantity_parse(value + 1, PL_DIM_MASS, &s->mass[k], &err) != PL_OK) {
            cli_error(args, "--mass %s: %s", text, err.text);
            return CLI_WRONG;
        }
        if (!(s->mass[k] > 0)) {
            cli_error(args, "--mass %s: a mass must be positive", text);
            return CLI_WRONG;
        }
        for (int i = 0; i < 3; ++i) {
            s->force[3 * k + i] = s->mass[k] * gravity[i];
        }
    }
    pl_error err = {0};
    return pl_model_set_forces(s->m.model, s->force, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

int cli_motion_prepare(const cli_args *args, cli_motion *s)
{
    s->robot = pl_model_robot(s->m.model);
    if (!s->robot || strcmp(s->m.info.method, "exact") != 0) {
        cli_error(args, "%s: motions in time need a full body with the exact method, this robot is '%s'",
                  s->m.path, s->m.info.method);
        return CLI_WRONG;
    }
    pl_error err = {0};
    if (pl_state_create(s->robot, &s->state, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    const size_t n = 3 * (size_t)pl_state_vertex_count(s->state), markers = (size_t)s->m.info.marker_count;
    s->block = calloc(pl_model_state_size(s->m.model) + 1, sizeof *s->block);
    s->mass = calloc(markers + 1, sizeof *s->mass);
    s->force = calloc(3 * markers + 1, sizeof *s->force);
    s->velocity = calloc(n, sizeof *s->velocity);
    s->moved = calloc(n, sizeof *s->moved);
    if (!s->block || !s->mass || !s->force || !s->velocity || !s->moved) {
        return cli_no_memory(args);
    }
    return motion_masses(args, s);
}

int cli_motion_create(const cli_args *args, cli_motion *s, pl_dynamics_options *options)
{
    pl_error err = {0};
    options->marker_mass = s->mass;
    options->displacement = cli_flag(args, "displacement");
    options->progress = cli_progress;
    cli_stage("preparing the motion", false);
    const pl_status status = pl_dynamics_create(s->robot, options, &s->dynamics, &err);
    cli_stage(NULL, false);
    err.status = status;
    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

int cli_motion_from_model(const cli_args *args, cli_motion *s)
{
    pl_error err = {0};
    pl_model_pack(s->m.model, s->block);
    return pl_state_unpack(s->state, s->block, pl_model_state_size(s->m.model), &err) == PL_OK
               ? CLI_DONE
               : cli_fail(args, &err);
}

int cli_motion_to_model(const cli_args *args, cli_motion *s)
{
    pl_error err = {0};
    const size_t size = pl_model_state_size(s->m.model);
    pl_state_pack(s->state, s->block, size);
    return pl_model_unpack(s->m.model, s->block, size, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

void cli_motion_clear(cli_motion *s)
{
    pl_dynamics_destroy(s->dynamics);
    pl_state_destroy(s->state);
    cli_model_close(&s->m);
    free(s->block);
    free(s->mass);
    free(s->force);
    free(s->velocity);
    free(s->moved);
    *s = (cli_motion){0};
}
