// pliant fk: the shape, efforts and reactions at given commands.
#include "cli_arc.h"
#include "cli_motion.h"

static const cli_option options[] = {
    {"set", 0, "NAME=VALUE", "a command and its value, with a unit (air=20kPa); may be repeated", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    {"out", 0, "FILE",
     "write the shape: " CLI_SHAPE_FORMATS "; may be repeated; "
     "mode.png: "
     "the\n"
     "mode of the first buckling or limit load; for other programs .inp (CalculiX, Abaqus), .py (SOFA), "
     ".urdf,\n"
     ".sdf, .mjcf (a chain of rigid links with springs)",
     NULL},
    CLI_JSON,
    {"color", 0, "FIELD", "for pictures: displacement, von_mises, stretch, contact_pressure or region",
     "displacement von_mises stretch region"},
    CLI_PICTURE,
    {"surface", 0, "NAME", "for .stl: this surface only", NULL},
    {"links", 0, "N", "for .urdf, .sdf, .mjcf: links of the chain (default 8)", NULL, CLI_WHOLE(1, 200)},
    {"marker", 0, "NAME", "for .urdf, .sdf, .mjcf: where the chain ends (default: the first marker)", NULL},
    {"state", 0, "FILE", "start from this state if the file exists, and save the new state there", NULL},
    {"save-state", 0, "FILE", "save the new state here instead", NULL},
    {"method", 0, "NAME", "exact, local_global or fang2020 (default: as in the robot file)",
     "exact local_global fang2020"},
    {"stop-at-limit", 0, NULL, "end at a limit point instead of landing at the equilibrium beyond the snap",
     NULL},
    {"follow-arc", 0, "FILE",
     "write load against displacement through limit points, by arc length from the undeformed configuration: "
     ".csv, or a "
     "plot .png .svg",
     NULL},
    {"after-snap", 0, NULL,
     "beyond a limit point: follow the motion until it comes to rest, and solve there (needs densities)",
     NULL},
    {"after", 0, "TIME",
     "the shape that long after the commands were applied at once, for materials with viscous branches "
     "(prony);\nwithout it: the relaxed shape",
     NULL, CLI_NUMBER(PL_DIM_TIME, 0, 1e12)},
    {"no-mesh-error", 0, NULL, "do not estimate the error caused by the mesh", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FALLBACK,
    CLI_CHECK,
    CLI_FORCE,
    {0},
};

// The shape held for a time instead of the relaxed one.
static int fk_hold(const cli_args *args, cli_model *m, double seconds)
{
    pl_error err = {0};
    pl_creep_report creep;

    cli_stage("creep", false);
    const pl_status status = pl_model_hold(m->model, m->command, seconds, &creep, &m->report, &err);
    cli_stage(NULL, false);
    if (status != PL_OK && status != PL_INTERRUPTED) {
        err.status = status;
        return cli_fail(args, &err);
    }

    if (m->report.outcome == PL_SOLVED) {
        cli_say(args, "held for %.4g s: %d steps of creep\n", seconds, creep.steps);
    }

    return CLI_DONE;
}

// --after gives the shape at a time; everything else the relaxed one.
static int fk_solve(const cli_args *args, cli_model *m)
{
    double seconds = -1;
    if (!cli_number(args, "after", &seconds)) {
        return CLI_EXIT_USAGE;
    }
    if (seconds < 0) {
        return cli_model_solve(args, m);
    }

    if (m->state_path || cli_flag(args, "after-snap")) {
        cli_error(args,
                  "--after cannot be combined with --state, --save-state or --after-snap: a state has no "
                  "viscous stresses (simulate saves them)");
        return CLI_EXIT_USAGE;
    }

    return fk_hold(args, m, seconds);
}

// Options and names first, then the solve, the state, the record, the files.
static int fk_work(const cli_args *args, cli_model *m)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, cli_shape_extensions, NULL, cli_value(args, "state"));
    status = status ? status : cli_model_open(args, args->plain[0], m);
    status = status ? status : cli_check_outputs(args, NULL, m->path, NULL);
    status = status ? status : cli_shape_check(args, m);
    status = status ? status : cli_commands_read(args, cli_model_commands(m), m->command);
    status = status ? status : cli_arc(args, m);
    status = status ? status : fk_solve(args, m);

    // beyond a limit point statics ends; a damped motion lands somewhere
    if (!status && cli_flag(args, "after-snap") && m->report.outcome == PL_LIMIT_POINT &&
        !m->report.no_state) {
        status = cli_motion_land(args, m);
    }

    status = status ? status : cli_model_save_state(args, m);
    if (status) {
        return status;
    }
    if (!cli_flag(args, "no-mesh-error")) {
        cli_model_estimate(m);
    }
    cli_record_print(args, m);
    status = cli_learned_check(args, m);
    status = status ? status : cli_shape_outputs(args, m);
    json_t *record = !status && cli_value(args, "json") ? cli_record_json(m) : NULL;
    status = status || !record ? status : cli_critical(args, m, NULL, record);
    status = status ? status : cli_json_write(args, record);

    return status ? status : cli_model_outcome(args, m);
}

static int fk_run(cli_args *args)
{
    cli_model m = {0};
    const int status = fk_work(args, &m);
    cli_model_close(&m);
    return status;
}

const cli_verb cli_verb_fk = {
    .name = "fk",
    .summary = "forward kinematics: shape, forces and pressures at given commands",
    .usage = "ROBOT --set NAME=VALUE ... [options]",
    .about = "Finds the equilibrium of the robot (a robot file, or a folder with robot.yaml) at the given\n"
             "commands. Commands that are not set leave their actuators idle (slack, vented). The exit\n"
             "status is 1 if no equilibrium was found; the last equilibrium on the load path is then\n"
             "printed and written.",
    .examples =
        "  pliant fk finger --set air=30kPa\n"
        "  pliant fk finger --set air=30kPa --out finger.vtu --out finger.png --color von_mises\n"
        "  pliant fk finger --set air=30kPa --json - | jq .markers.tip.position\n"
        "  pliant fk finger --set air=40kPa --state finger.state     # continues from there next time\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = fk_run,
};
