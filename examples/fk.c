// The library in one page: load a robot, ask for its shape at one command, and how its markers move by it.
//   ./fk finger/robot.yaml air 20kPa
#include <math.h>
#include <pliant/meshing.h>
#include <pliant/pliant.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const pl_error *err)
{
    fprintf(stderr, "fk: %s\n", err->text);
    return err->status == PL_BAD_INPUT || err->status == PL_BAD_FILE ? 2 : 3;
}

// Every marker, and its exact derivative by command `c`. The library speaks mm, N and MPa; the drive knows
// what a terminal speaks (kPa, mL) and the factor between them.
static int print_markers(pl_statics *statics, const pl_robot *robot, const pl_state *state, int c)
{
    const int count = pl_robot_marker_count(robot);
    double *slope = calloc((size_t)(3 * count) + 1, sizeof *slope);
    if (!slope) {
        return 3;
    }
    pl_error err;
    pl_jacobian_report report;
    const pl_parameter by = {.kind = PL_PARAMETER_COMMAND, .index = c};
    const pl_jacobian jacobian = {.marker = slope};
    int status = 0;
    if (pl_statics_jacobian(statics, state, &by, 1, &jacobian, &report, &err) != PL_OK) {
        status = fail(&err);
    }
    const pl_drive drive = pl_robot_command(robot, c).drive;
    const double unit = pl_drive_scale(drive);
    for (int i = 0; status == 0 && i < count; ++i) {
        const pl_marker_result m = pl_statics_marker(statics, state, i);
        const double *x = m.position, *d = slope + 3 * i;
        printf("%s is at %.3f %.3f %.3f mm and moves %.4f %.4f %.4f mm per %s\n",
               pl_robot_marker_name(robot, i), x[0], x[1], x[2], d[0] * unit, d[1] * unit, d[2] * unit,
               pl_drive_unit(drive));
    }
    free(slope);
    return status;
}

static int solve(pl_statics *statics, const pl_robot *robot, pl_state *state, const double *command, int c)
{
    pl_error err;
    pl_statics_report report;
    if (pl_statics_solve(statics, state, command, &report, &err) != PL_OK) {
        return fail(&err);
    }
    printf("%s: %s\n", pl_outcome_name(report.outcome), report.message);
    // unless solved, `state` holds the equilibrium at report.load_reached of the way
    return report.outcome == PL_SOLVED ? print_markers(statics, robot, state, c) : 1;
}

static int run(const pl_robot *robot, const char *name, const char *value)
{
    const int c = pl_robot_find_command(robot, name);
    if (c < 0) {
        fprintf(stderr, "fk: the robot has no command '%s'\n", name);
        return 2;
    }
    // commands that are not set are NAN: their actuators are idle
    double *command = calloc((size_t)pl_robot_command_count(robot), sizeof *command);
    if (!command) {
        return 3;
    }
    for (int i = 0; i < pl_robot_command_count(robot); ++i) {
        command[i] = NAN;
    }
    pl_error err = {0};
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    const pl_statics_options options = pl_statics_options_default();
    const pl_dimension dimension = pl_drive_dimension(pl_robot_command(robot, c).drive);
    int status;
    if (pl_quantity_parse(value, dimension, &command[c], &err) != PL_OK ||
        pl_statics_create(robot, &options, &statics, &err) != PL_OK ||
        pl_state_create(robot, &state, &err) != PL_OK) {
        status = fail(&err);
    } else {
        status = solve(statics, robot, state, command, c);
    }
    pl_state_destroy(state);
    pl_statics_destroy(statics);
    free(command);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: fk ROBOT.yaml COMMAND VALUE\n");
        return 2;
    }
    // without a mesher (pliant::pliant alone) robots whose mesh is a .vtu, .node or .inp file still load
    const pl_load_options options = {.mesher = pl_meshing_mesher()};
    pl_error err = {0};
    pl_robot *robot = NULL;
    if (pl_robot_load(argv[1], &options, &robot, NULL, &err) != PL_OK) {
        return fail(&err);
    }
    const int status = run(robot, argv[2], argv[3]);
    pl_robot_destroy(robot);
    return status;
}
