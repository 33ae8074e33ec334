// A model and the same robot as a solver of motions, for `simulate` and `modes`.
#include "cli_motion.h"
#include <math.h>
#include <string.h>

// Weights that hang at markers: mass (t) for the motion, force m g (N) for the equilibrium.
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
            return CLI_EXIT_USAGE;
        }

        snprintf(name, sizeof name, "%.*s", (int)(value - text), text);
        const int k = cli_model_marker(args, &s->m, "mass", name);
        if (k < 0) {
            return CLI_EXIT_USAGE;
        }
        if (pl_quantity_parse(value + 1, PL_DIM_MASS, &s->mass[k], &err) != PL_OK) {
            cli_error(args, "--mass %s: %s", text, err.text);
            return CLI_EXIT_USAGE;
        }

        if (!(s->mass[k] > 0)) {
            cli_error(args, "--mass %s: a mass must be positive", text);
            return CLI_EXIT_USAGE;
        }

        // N
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
        return CLI_EXIT_USAGE;
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
    options->masses_hang = cli_flag(args, "hang");
    options->displacement = cli_flag(args, "displacement");
    options->progress = cli_progress;
    cli_stage("preparing the motion", false);
    const pl_status status = pl_dynamics_create(s->robot, options, &s->dynamics, &err);
    cli_stage(NULL, false);
    err.status = status;

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The shape of the model becomes the state of the motion.
int cli_motion_from_model(const cli_args *args, cli_motion *s)
{
    pl_error err = {0};
    pl_model_pack(s->m.model, s->block);
    return pl_state_unpack(s->state, s->block, pl_model_state_size(s->m.model), &err) == PL_OK
               ? CLI_DONE
               : cli_fail(args, &err);
}

// And back, so that results are written as those of every other verb.
int cli_motion_to_model(const cli_args *args, cli_motion *s)
{
    pl_error err = {0};
    const size_t size = pl_model_state_size(s->m.model);
    pl_state_pack(s->state, s->block, size);
    return pl_model_unpack(s->m.model, s->block, size, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// Accepts a half-prepared motion.
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

// ---- landing
#define LAND_DAMPING 0.2 // of the critical damping of the slowest vibration of the undeformed body
#define LAND_PERIODS 300 // of that vibration, at most
#define LAND_REST 1e-6   // of the largest kinetic energy: at rest
#define LAND_PI 3.14159265358979323846

// Commands from those of the last equilibrium to those asked for, within one period.
typedef struct land_ramp {
    const double *from, *to;
    const pl_command_info *info;
    double time; // s, until the commands are reached
    int count;
} land_ramp;

// From the rest value where a command was idle.
static void land_command(void *user, double t, double *command)
{
    const land_ramp *r = user;
    for (int c = 0; c < r->count; ++c) {
        const double a = isnan(r->from[c]) ? r->info[c].rest : r->from[c];
        command[c] = t >= r->time || isnan(r->to[c]) ? r->to[c] : a + t / r->time * (r->to[c] - a);
    }
}

// The end of the ramp: the integrator ends a step there.
static double land_corner(void *user, double t)
{
    const land_ramp *r = user;
    return t < r->time * (1 - 1e-9) ? r->time : INFINITY;
}

// The slowest vibration of the undeformed body sets the damping and the time scale.
static int land_create(const cli_args *args, cli_motion *s, double *period, double *damping)
{
    pl_dynamics_options options = pl_dynamics_options_default();
    int status = cli_motion_create(args, s, &options);
    pl_error err = {0};
    pl_mode mode = {0};
    int found = 0;

    if (status) {
        return status;
    }
    pl_state_reset(s->state, s->robot);
    if (pl_dynamics_modes(s->dynamics, s->state, 1, &mode, NULL, &found, &err) != PL_OK || found == 0) {
        return cli_fail(args, &err);
    }
    *period = 1 / fabs(mode.frequency);

    // critical damping is 2 omega: mass_damping = 2 zeta omega
    *damping = options.mass_damping = 2 * LAND_DAMPING * 2 * LAND_PI * fabs(mode.frequency);
    pl_dynamics_destroy(s->dynamics);
    s->dynamics = NULL;

    return cli_motion_create(args, s, &options);
}

// The motion until it comes to rest; *rest false: it did not.
static int land_move(const cli_args *args, cli_motion *s, const pl_signal *signal, double period,
                     double *time, bool *rest)
{
    pl_error err = {0};
    pl_motion_report report = {0};
    double fastest = 0;

    *rest = false;

    // period by period until the kinetic energy has died away; not before three
    // periods, in which it may pass zero
    pl_status status = pl_dynamics_start(s->dynamics, s->state, signal, &err);
    for (int k = 1; status == PL_OK && k <= LAND_PERIODS && !*rest && !cli_interrupted(); ++k) {
        status = pl_dynamics_advance(s->dynamics, k * period, NULL, NULL, &report, &err);
        fastest = fmax(fastest, report.energy.kinetic);
        *rest = k > 3 && report.energy.kinetic <= LAND_REST * fastest;
        if (report.outcome != PL_MOTION_DONE) {
            break;
        }
    }

    *time = report.time;
    err.status = status;

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The motion from the last equilibrium to rest; its shape goes back to the model.
static int land_work(const cli_args *args, cli_motion *s, double *time, double *damping, bool *rest)
{
    double period = 0;
    int status = cli_motion_prepare(args, s);

    status = status ? status : land_create(args, s, &period, damping);
    status = status ? status : cli_motion_from_model(args, s);
    if (status) {
        return status;
    }

    const int C = s->m.info.command_count;
    double *from = malloc(((size_t)C + 1) * sizeof *from);
    if (!from) {
        return cli_no_memory(args);
    }
    memcpy(from, pl_state_commands(s->state), (size_t)C * sizeof *from);
    land_ramp ramp = {
        .from = from, .to = s->m.command, .info = s->m.info.command, .time = period, .count = C};
    const pl_signal signal = {.command = land_command, .corner = land_corner, .user = &ramp};
    status = land_move(args, s, &signal, period, time, rest);
    free(from);
    pl_error err = {0};
    if (!status &&
        pl_dynamics_sample(s->dynamics, pl_dynamics_time(s->dynamics), s->state, NULL, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }

    return status ? status : cli_motion_to_model(args, s);
}

// What lies beyond a limit point: the body snaps, which statics cannot follow but a motion can. The shape
// at rest starts the final solve.
int cli_motion_land(const cli_args *args, cli_model *m)
{
    // where it was before the snap, for the message
    const double reached = m->report.load_reached,
                 snapped = m->report.limit_load > 0 ? m->report.limit_load : reached;
    const pl_model_answer before = pl_model_get_answer(m->model);
    double place[3] = {0}, time = 0, damping = 0;

    if (m->info.marker_count > 0) {
        memcpy(place, before.marker, sizeof place);
    }

    char commands[300];
    cli_commands_text(cli_model_commands(m), before.command, commands, sizeof commands);
    bool rest = false;

    // the motion borrows the model
    cli_motion s = {.m = *m};
    int status = land_work(args, &s, &time, &damping, &rest);
    s.m = (cli_model){0}; // the caller's
    cli_motion_clear(&s);
    if (status) {
        return status;
    }

    if (!rest) {
        cli_error(args, "beyond %.4g %% of the load path the body does not come to rest within %.3g s",
                  100 * reached, time);
        return CLI_EXIT_UNSOLVED;
    }

    // exact equilibrium from the shape at rest
    status = cli_model_solve(args, m);
    if (!status && m->report.outcome == PL_SOLVED) {
        cli_say(args, "snapped at %.4g %% of the load path; the last shape before, at %s", 100 * snapped,
                commands[0] ? commands : "no commands");
        if (m->info.marker_count > 0) {
            cli_say(args, ", has %s at %.4g %.4g %.4g mm", m->info.marker_name[0], place[0], place[1],
                    place[2]);
        }

        cli_say(args, "; at rest after %.3g s (damping %.3g /s added); the shape after the snap:\n", time,
                damping);
    }

    return status;
}
