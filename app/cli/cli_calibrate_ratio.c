// pliant calibrate ratio: the shape parameters of two materials from an elongation test of a bar made of
// both.
#include <math.h>
#include <string.h>
#include "cli.h"
#include "pliant/calib.h"
#include "pliant/meshing.h"

// The test as asked for: four measured lengths, or R_m alone on a bar of 80 mm pulled by 4 mm.
static int ratio_read(const cli_args *args, pl_ratio_test *t)
{
    double elasticity = 0;
    *t = (pl_ratio_test){.length = 80, .pull = 4, .r_omega = 1, .progress = cli_progress};
    if (!cli_number(args, "length", &t->length) || !cli_number(args, "interface", &t->interface) ||
        !cli_number(args, "pull", &t->pull) || !cli_number(args, "moved", &t->moved) ||
        !cli_number(args, "elasticity", &elasticity) || !cli_number(args, "r-omega", &t->r_omega)) {
        return CLI_EXIT_USAGE;
    }

    static const char *const methods[] = {"exact", "local_global", "fang2020"};
    const char *method = cli_value(args, "method");
    for (int k = 0; method && k < 3; ++k) {
        if (strcmp(method, methods[k]) == 0) {
            t->method = (pl_ratio_method)k;
            method = NULL;
        }
    }

    if (method) {
        cli_error(args, "--method %s: expected exact, local_global or fang2020", method);
        return CLI_EXIT_USAGE;
    }

    if ((elasticity > 0) == (t->moved > 0)) {
        cli_error(args, "expected either --moved (displacement of the interface) or --elasticity (R_m)");
        cli_advice("the test: pliant calibrate ratio --length 80 --interface 40 --pull 4 --moved 0.84");
        return CLI_EXIT_USAGE;
    }

    t->interface = t->interface > 0 ? t->interface : t->length / 2;
    if (elasticity > 0) {
        // equation 16 solved for the other
        t->moved = t->interface * t->pull / (elasticity * (t->length - t->interface) + t->interface);
    }

    return CLI_DONE;
}

// The bar of the test, as wide and high as 0.15 of its length; 13 elements along it by default.
static int ratio_mesh(const cli_args *args, const pl_ratio_test *t, pl_mesh **mesh)
{
    double size = t->length / 13;
    const double width = 0.15 * t->length;

    if (!cli_number(args, "size", &size)) {
        return CLI_EXIT_USAGE;
    }

    const pl_design_value value[] = {{"soft_length", t->interface},
                                     {"stiff_length", t->length - t->interface},
                                     {"width", width},
                                     {"height", width}};
    pl_error err = {0};
    if (pl_meshing_from_design("specimen", value, 4, size, 2, &cli_progress, mesh, NULL, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    return CLI_DONE;
}

// The result for people, and the lines for a robot file.
static void ratio_print(const cli_args *args, const pl_ratio_test *t, const pl_ratio_fit *f)
{
    cli_say(args, "elongation test: bar of %g mm, interface at %g mm, elongated by %g mm\n", t->length,
            t->interface, t->pull);
    cli_say(args, "  R_m = %.4f (E of A over E of B, from the strains)\n\n", f->elasticity);

    cli_table table = {0};
    cli_row(&table, "material\tR_omega\tE / weight\tPoisson");
    for (int k = 0; k < 2; ++k) {
        cli_row(&table, "%c\t%.5f\t%.5f\t%.4f", 'A' + k, f->r_omega[k], f->young[k], f->poisson[k]);
    }
    cli_table_print(args, &table);

    cli_say(args, "\n  R_omega of A over B: %.4f; of E: %.4f\n", f->ratio, f->young[0] / f->young[1]);
    cli_say(args,
            "  interface displacement %.5f mm, measured %.5f: error %.2e of the bar length, %d solves\n",
            f->moved, t->moved, fabs(f->moved - t->moved) / t->length, f->solves);
    cli_say(
        args,
        "  twist test: rotating the tip by %.0f deg rotates the interface by %.3f deg (thin bars: %.3f)\n",
        f->twist * 180 / 3.14159265358979323846, f->twisted * 180 / 3.14159265358979323846,
        f->twisted_thin * 180 / 3.14159265358979323846);

    // only the ratio of weights matters where no forces are compared
    cli_say(args, "\nin a robot file (any weight, the same for both):\n");
    for (int k = 0; k < 2; ++k) {
        cli_say(args, "  %c: {model: shape, weight: 1 MPa, r_omega: %.6g}\n", 'a' + k, f->r_omega[k]);
    }
}

// The result for programs. The caller owns it.
static json_t *ratio_json(const pl_ratio_test *t, const pl_ratio_fit *f)
{
    json_t *root = cli_json_head(0, NULL);
    json_object_set_new(root, "elasticity", cli_json_number(f->elasticity));
    json_object_set_new(root, "r_omega", cli_json_numbers(f->r_omega, 2));
    json_object_set_new(root, "ratio", cli_json_number(f->ratio));
    json_object_set_new(root, "young", cli_json_numbers(f->young, 2));
    json_object_set_new(root, "poisson", cli_json_numbers(f->poisson, 2));
    json_object_set_new(root, "moved", cli_json_number(f->moved));
    json_object_set_new(root, "error_of_bar", cli_json_number(fabs(f->moved - t->moved) / t->length));
    json_object_set_new(root, "twist", cli_json_number(f->twist));
    json_object_set_new(root, "twisted", cli_json_number(f->twisted));
    json_object_set_new(root, "solves", json_integer(f->solves));

    return root;
}

// Reads the test, meshes the bar, fits both parameters.
int cli_calibrate_ratio(const cli_args *args)
{
    pl_ratio_test test;
    pl_ratio_fit fit;
    pl_mesh *mesh = NULL;
    int status = ratio_read(args, &test);

    status = status ? status : ratio_mesh(args, &test, &mesh);
    if (status) {
        return status;
    }

    pl_error err = {0};
    cli_stage("fitting", true);
    if (pl_ratio_calibrate(mesh, &test, &fit, &err) != PL_OK) {
        pl_mesh_destroy(mesh);
        return cli_fail(args, &err);
    }

    cli_stage(NULL, true);
    cli_progress_done();
    pl_mesh_destroy(mesh);
    ratio_print(args, &test, &fit);

    return cli_json_write(args, cli_value(args, "json") ? ratio_json(&test, &fit) : NULL);
}
