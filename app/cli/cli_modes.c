// pliant modes: frequencies and shapes of free vibrations about an equilibrium.
#include <math.h>
#include <string.h>
#include "cli_motion.h"

#define MODES_COUNT 6        // frequencies without --count
#define MODES_FRAMES 24      // of one period in a series
#define MODES_AMPLITUDE 0.08 // of the size of the robot: largest displacement drawn

static const cli_option options[] = {
    {"set", 0, "NAME=VALUE", "a command and its value, with a unit (air=20kPa); may be repeated", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    {"count", 0, "N", "number of frequencies, 1 to 32 (default 6)", NULL, CLI_WHOLE(1, 32)},
    {"mode", 0, "K", "the mode written to --out (default 1)", NULL, CLI_WHOLE(1, 32)},
    CLI_MASS,
    {"out", 0, "FILE",
     "write one period of a mode: .pvd .xdmf .glb .usda, a film .gif .webm .mp4; may be repeated", NULL},
    CLI_JSON,
    CLI_PICTURE,
    {"color", 0, "FIELD", "colours of a .glb, .usda or film: displacement, von_mises, stretch or region",
     "displacement von_mises stretch region"},
    {"state", 0, "FILE", "start from this state if the file exists", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

// What is computed and written.
typedef struct modes {
    cli_motion s;
    int count, found, shown; // wanted, found; number of the mode that is written
    pl_mode mode[32];
    double *shape; // 3 per vertex and mode
    cli_series series;
} modes;

// Equilibrium, then a solver of motions about it, then the modes.
static int modes_solve(const cli_args *args, modes *d)
{
    cli_motion *s = &d->s;
    int status = cli_model_solve(args, &s->m);

    status = status ? status : cli_model_outcome(args, &s->m);
    status = status ? status : cli_motion_from_model(args, s);
    pl_dynamics_options options_of = pl_dynamics_options_default();
    status = status ? status : cli_motion_create(args, s, &options_of);
    if (status) {
        return status;
    }

    pl_error err = {0};
    d->shape = calloc(3 * (size_t)pl_state_vertex_count(s->state) * (size_t)d->count, sizeof *d->shape);
    if (!d->shape) {
        return cli_no_memory(args);
    }
    cli_stage("modes", false);
    const pl_status solved =
        pl_dynamics_modes(s->dynamics, s->state, d->count, d->mode, d->shape, &d->found, &err);
    cli_stage(NULL, false);
    err.status = solved;

    return solved == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// A negative frequency stands for an imaginary one.
static void modes_print(const cli_args *args, modes *d)
{
    char text[400];
    cli_commands_text(cli_model_commands(&d->s.m), d->s.m.command, text, sizeof text);
    cli_say(args, "free vibrations about the equilibrium at %s\n", text[0] ? text : "no commands");
    cli_table table = {0};
    bool decays = false;
    for (int k = 0; k < d->found; ++k) {
        decays = decays || !(d->mode[k].damping == 0);
    }
    cli_row(&table, "mode\tfrequency [Hz]\tperiod [ms]\tmodal mass [g]%s",
            decays ? "\trings at [Hz]\tdamping ratio" : "");
    for (int k = 0; k < d->found; ++k) {
        const pl_mode *m = &d->mode[k];
        char rings[60] = "";
        if (decays) {
            snprintf(rings, sizeof rings, isnan(m->ringing) ? "\t-\t-" : "\t%.5g\t%.4g", m->ringing,
                     m->damping);
        }
        cli_row(&table, "%d\t%.5g\t%.5g\t%.4g%s", k + 1, m->frequency, 1e3 / fabs(m->frequency),
                1e6 * m->mass, rings);
    }

    cli_table_print(args, &table);
    if (d->found > 0 && d->mode[0].frequency < 0) {
        cli_say(args, "negative: the equilibrium is unstable along the mode\n");
    }
}

// One period of a mode about the equilibrium.
static int modes_series(const cli_args *args, modes *d)
{
    cli_motion *s = &d->s;
    if (!cli_value(args, "out")) {
        return CLI_DONE;
    }
    if (d->shown > d->found) {
        cli_error(args, "--mode is %d, found %d modes", d->shown, d->found);
        return CLI_EXIT_USAGE;
    }

    const int64_t n = 3 * (int64_t)pl_state_vertex_count(s->state);
    const double *shape = d->shape + (d->shown - 1) * n;
    const double amplitude = MODES_AMPLITUDE * s->m.info.size, f = fabs(d->mode[d->shown - 1].frequency);
    double *x = malloc((size_t)n * sizeof *x), time[MODES_FRAMES + 1];
    if (!x) {
        return cli_no_memory(args);
    }

    // shapes are drawn about the equilibrium
    memcpy(x, pl_state_positions(s->state), (size_t)n * sizeof *x);
    int status = CLI_DONE;
    for (int k = 0; !status && k <= MODES_FRAMES; ++k) {
        const double swing = amplitude * sin(2 * 3.14159265358979323846 * k / MODES_FRAMES);
        for (int64_t i = 0; i < n; ++i) {
            s->moved[i] = x[i] + swing * shape[i];
        }
        pl_state_set_positions(s->state, s->moved);
        time[k] = k / (MODES_FRAMES * f);
        status = cli_motion_to_model(args, s);
        status = status ? status : cli_series_frame(args, &d->series, &s->m);
    }

    free(x);
    status = status ? status : cli_series_finish(args, &d->series, time);
    if (!status) {
        cli_say(args, "wrote one period of mode %d (%.4g Hz), largest displacement %.3g mm\n", d->shown, f,
                amplitude);
    }

    return status;
}

static json_t *modes_json(modes *d)
{
    json_t *root = cli_json_head(d->s.m.info.robot_hash, d->s.m.findings), *list = json_array();
    for (int k = 0; k < d->found; ++k) {
        json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:o}", "frequency_hz",
                                              cli_json_number(d->mode[k].frequency), "modal_mass_g",
                                              cli_json_number(1e6 * d->mode[k].mass), "ringing_hz",
                                              cli_json_number(d->mode[k].ringing), "damping",
                                              cli_json_number(d->mode[k].damping)));
    }

    json_object_set_new(root, "modes", list);
    return root;
}

// Options, robot, commands, modes, outputs.
static int modes_work(const cli_args *args, modes *d)
{
    d->count = MODES_COUNT;
    d->shown = 1;
    static const char *const extensions[] = {CLI_SERIES_EXTENSIONS, NULL};
    int status = cli_setup(args);
    status = status || (cli_whole(args, "count", &d->count) && cli_whole(args, "mode", &d->shown))
                 ? status
                 : CLI_EXIT_USAGE;
    if (!status && d->shown > d->count) {
        d->count = d->shown;
    }
    status = status ? status : cli_check_outputs(args, extensions, NULL, cli_value(args, "state"));
    status = status ? status : cli_model_open(args, args->plain[0], &d->s.m);
    status = status ? status : cli_check_outputs(args, NULL, d->s.m.path, NULL);
    status = status ? status : cli_motion_prepare(args, &d->s);
    status = status ? status : cli_commands_read(args, cli_model_commands(&d->s.m), d->s.m.command);
    status = status ? status : modes_solve(args, d);
    if (status) {
        return status;
    }
    modes_print(args, d);
    status = modes_series(args, d);

    return status ? status : cli_json_write(args, cli_value(args, "json") ? modes_json(d) : NULL);
}

static int modes_run(cli_args *args)
{
    modes d = {0};
    const int status = modes_work(args, &d);
    cli_series_clear(&d.series);
    free(d.shape);
    cli_motion_clear(&d.s);
    return status;
}

const cli_verb cli_verb_modes = {
    .name = "modes",
    .summary = "frequencies and shapes of free vibrations about an equilibrium",
    .usage = "ROBOT --set NAME=VALUE ... [options]",
    .about = "Solves for the equilibrium at the given commands and computes the lowest frequencies of small\n"
             "vibrations about it, with the commands held and the long-term stiffness of the materials;\n"
             "with viscous branches (prony) also the frequency at which each rings and its damping ratio.\n"
             "Every material needs a density.",
    .examples = "  pliant modes finger --set air=30kPa\n"
                "  pliant modes finger --count 10 --json -\n"
                "  pliant modes finger --mode 2 --out second.glb\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = modes_run,
};
