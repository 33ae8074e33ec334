// pliant fk: the shape, efforts and reactions at given commands.
#include <string.h>
#include "cli.h"
#include "cli_reduced.h"

static const cli_option options[] = {
    {"set", 0, "NAME=VALUE", "a command and its value, with a unit (air=20kPa); may be repeated", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range the robot file gives", NULL},
    {"out", 0, "FILE", "write the shape: .vtu .pvd .stl .csv .png .svg; may be repeated", NULL},
    CLI_JSON,
    {"color", 0, "FIELD", "for pictures: displacement, von_mises, stretch or region",
     "displacement von_mises stretch region"},
    CLI_PICTURE,
    {"surface", 0, "NAME", "for .stl: this surface only", NULL},
    {"state", 0, "FILE", "go on from this state if the file exists, and leave the new one there", NULL},
    {"save-state", 0, "FILE", "leave the new state here instead", NULL},
    {"method", 0, "NAME", "exact, local_global or fang2020 (default: what the robot file says)",
     "exact local_global fang2020"},
    {"displacement", 0, NULL, "plain displacement elements, as other codes have", NULL},
    {"time-limit", 0, "TIME", "stop after so many seconds and keep what was reached", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

static int fk_write(const cli_args *args, cli_run *run)
{
    int cursor = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        if (cli_shape_write(args, run, path, &err) != PL_OK) {
            return cli_fail_writing(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }
    return cli_json_write(args, cli_value(args, "json") ? cli_result_json(run) : NULL);
}

static int fk_work(const cli_args *args, cli_run *run)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, cli_shape_extensions, NULL, cli_value(args, "state"));
    status = status ? status : cli_run_open(args, args->plain[0], run);
    status = status ? status : cli_check_outputs(args, NULL, run->r.path, NULL);
    status = status ? status : cli_shape_check(args, pl_robot_mesh(run->r.robot));
    status = status ? status : cli_commands_read(args, run->r.robot, run->command);
    status = status ? status : cli_run_solve(args, run);
    status = status ? status : cli_run_save_state(args, run);
    if (status) {
        return status;
    }
    cli_result_print(args, run);
    status = fk_write(args, run);
    if (status == CLI_DONE && run->report.outcome != PL_SOLVED) {
        cli_error(args, "not converged: %s",
                  run->report.message[0] ? run->report.message : pl_outcome_name(run->report.outcome));
        return CLI_BADLY;
    }
    return status;
}

static int fk_run(cli_args *args)
{
    if (cli_is_reduced(args->plain[0])) {
        return cli_reduced_fk(args);
    }
    cli_run run = {0};
    const int status = fk_work(args, &run);
    cli_run_close(&run);
    return status;
}

const cli_verb cli_verb_fk = {
    .name = "fk",
    .summary = "forward kinematics: the shape, forces and pressures at given commands",
    .usage = "ROBOT --set NAME=VALUE ... [options]",
    .about =
        "Finds the equilibrium of the robot (a robot file, or the folder that holds robot.yaml) at the\n"
        "commands set. Commands that are not set leave their actuators idle (slack, vented). Exits with\n"
        "status 1 when no equilibrium was reached; what was reached is printed and written all the same.",
    .examples =
        "  pliant fk finger --set air=30kPa\n"
        "  pliant fk finger --set air=30kPa --out finger.vtu --out finger.png --color von_mises\n"
        "  pliant fk finger --set air=30kPa --json - | jq .markers.tip.position\n"
        "  pliant fk finger --set air=40kPa --state finger.state     # goes on from there next time\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = fk_run,
};
