// The library in one page: open a robot file as a model, ask for its shape at one command, and how its
// markers move with it. Full bodies, by the method the file names, and reduced models answer alike.
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

// Every marker, and its derivative with respect to command `c`. The library computes in mm, N and MPa; a
// drive knows the unit people use (kPa, mL) and the factor between them.
static int print_markers(pl_model *model, int c)
{
    const pl_model_info info = pl_model_get_info(model);
    const pl_model_answer answer = pl_model_get_answer(model);
    pl_error err;
    pl_model_derivative derivative;
    pl_jacobian_report report;

    if (pl_model_differentiate(model, PL_PART_MARKER, 0, &derivative, &report, &err) != PL_OK) {
        return fail(&err);
    }

    const pl_drive drive = info.command[c].drive;
    const double unit = pl_drive_scale(drive);
    for (int i = 0; i < info.marker_count; ++i) {
        const double *x = answer.marker + 3 * i;
        double d[3]; // rows are coordinates, columns are commands
        for (int k = 0; k < 3; ++k) {
            d[k] = unit * derivative.marker[(3 * i + k) * info.command_count + c];
        }
        printf("%s is at %.3f %.3f %.3f mm and moves %.4f %.4f %.4f mm per %s\n", info.marker_name[i], x[0],
               x[1], x[2], d[0], d[1], d[2], pl_drive_unit(drive));
    }

    return 0;
}

static int run(pl_model *model, const char *name, const char *value)
{
    const pl_model_info info = pl_model_get_info(model);
    const int c = pl_model_find_command(model, name);

    if (c < 0) {
        fprintf(stderr, "fk: the robot has no command '%s'\n", name);
        return 2;
    }

    // commands that are not set are NAN: their actuators are idle
    double *command = malloc((size_t)info.command_count * sizeof *command);
    if (!command) {
        return 3;
    }
    for (int i = 0; i < info.command_count; ++i) {
        command[i] = NAN;
    }

    pl_error err = {0};
    pl_solve_report report;
    int status = 1;
    if (pl_quantity_parse(value, pl_drive_dimension(info.command[c].drive), &command[c], &err) != PL_OK ||
        pl_model_fk(model, command, &report, &err) != PL_OK) {
        status = fail(&err);
    } else {
        printf("%s: %s\n", pl_outcome_name(report.outcome), report.message);
        // unless solved, the model is at the equilibrium at the fraction report.load_reached of the load
        status = report.outcome == PL_SOLVED ? print_markers(model, c) : 1;
    }

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
    const pl_model_load_options options = {.load = {.mesher = pl_meshing_mesher()}};
    pl_error err = {0};
    pl_model *model = NULL;
    if (pl_model_load(argv[1], &options, &model, NULL, &err) != PL_OK) {
        return fail(&err);
    }

    const int status = run(model, argv[2], argv[3]);
    pl_model_destroy(model);

    return status;
}
