// Law: designs are parametric. Every design, with its parameters drawn at random within a factor of 1.6 of
// their defaults (counts within 2), is built and solved at a quarter of the range of its commands, or refused
// with a message that names one of its parameters. Parameters are set as the command, the page and Python set
// them. Coarse linear meshes.
//   law_designs [SETS [SEED [KIND]]]      SETS: 5, with RUN_FULL 30
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pliant/meshing.h"
#include "pliant/pliant.h"

#define SPREAD 1.6
#define QUARTER 0.25

static uint64_t seed = 1;
static double draw(void) // in [0, 1)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) * 0x1p-53;
}

typedef enum result { SOLVED, REFUSED, FAILED } result;

// A value of a parameter, within its limits.
static double value_of(const pl_design_parameter *p)
{
    double v = p->value * pow(SPREAD, 2 * draw() - 1);
    if (p->whole) {
        v = p->value + floor(5 * draw()) - 2;
    }
    return fmin(fmax(v, p->low), p->high);
}

// Whether a refusal is one of the design, and names a parameter as a word.
static bool names_parameter(const pl_design *d, const char *text)
{
    char begin[100];
    snprintf(begin, sizeof begin, "design %s: ", d->kind);
    const char *from = strstr(text, begin);
    for (int i = 0; from && i < d->parameter_count; ++i) {
        const char *name = d->parameter[i].name, *at = from + strlen(begin) - 1;
        while ((at = strstr(at + 1, name))) {
            const char after = at[strlen(name)];
            if (!isalpha((unsigned char)at[-1]) && at[-1] != '_' && !isalnum((unsigned char)after) &&
                after != '_') {
                return true;
            }
        }
    }

    return false;
}

static void set_parameters(const pl_design *d, pl_robot_document *document, char *shown, size_t size,
                           double *ratio)
{
    shown[0] = 0;
    *ratio = 0;
    for (int i = 0; i < d->parameter_count; ++i) {
        const pl_design_parameter *p = &d->parameter[i];
        const double v = value_of(p);
        char key[100], number[40];
        pl_error err = {0};
        snprintf(key, sizeof key, "design.%s", p->name);
        snprintf(number, sizeof number, "%.6g", v);
        if (pl_robot_document_set(document, key, number, &err) != PL_OK) {
            printf("%s: %s\n", d->kind, err.text);
        }
        snprintf(shown + strlen(shown), size - strlen(shown), " %s=%s", p->name, number);
        *ratio = p->value > 0 && !p->whole ? fmax(*ratio, v / p->value) : *ratio;
    }
}

// Forward kinematics at a quarter of each command's range.
static result solve(pl_model *model, char *why, size_t size)
{
    const pl_model_info info = pl_model_get_info(model);
    double command[64];
    pl_solve_report report = {0};
    pl_error err = {0};

    for (int i = 0; i < info.command_count && i < 64; ++i) {
        const pl_command_info *c = &info.command[i];
        const double rest = fmin(fmax(c->rest, c->span[0]), c->span[1]);
        command[i] = rest + QUARTER * (c->span[1] - rest);
    }

    const pl_status status = pl_model_fk(model, command, &report, &err);
    if (status == PL_OK && report.outcome == PL_SOLVED) {
        return SOLVED;
    }
    snprintf(why, size, "%s", status == PL_OK ? report.message : err.text);

    return FAILED;
}

// Builds on a coarse mesh, halved while it does not follow the shape, and solves.
static result build(const pl_design *d, const pl_robot_document *document, double size, char *why,
                    size_t room)
{
    pl_model *model = NULL;
    pl_status status = PL_BAD_INPUT;
    pl_error err = {0};

    for (int i = 0; i < 4 && status != PL_OK; ++i, size /= 2) {
        const pl_model_load_options options = {
            .load = {.mesher = pl_meshing_mesher(), .no_cache = true, .order = 1, .size = size}};
        err = (pl_error){0};
        status = pl_model_from_document(document, &options, &model, NULL, &err);
        if (status != PL_OK && !strstr(err.text, "the mesh differs from the part")) {
            break;
        }
    }

    result r = status == PL_OK ? solve(model, why, room) : names_parameter(d, err.text) ? REFUSED : FAILED;
    if (status != PL_OK) {
        snprintf(why, room, "%s", err.text);
    }
    pl_model_destroy(model);

    return r;
}

static result one(const pl_design *d, char *shown, size_t shown_size, char *why, size_t size)
{
    pl_robot_document *document = NULL;
    pl_error err = {0};
    double ratio, edge = 0;

    if (pl_robot_document_parse(d->robot_yaml, strlen(d->robot_yaml), "design.yaml", &document, &err) !=
        PL_OK) {
        snprintf(why, size, "%s", err.text);
        return FAILED;
    }

    set_parameters(d, document, shown, shown_size, &ratio);
    const bool bodies = pl_robot_document_value(document, "bodies.0.mesh.size");
    (void)!pl_robot_document_evaluate(document, bodies ? "bodies.0.mesh.size" : "mesh.size", PL_DIM_LENGTH, &edge,
                               &err);
    const result r = build(d, document, 2 * edge * fmax(ratio, 1), why, size);
    pl_robot_document_destroy(document);

    return r;
}

int main(int argc, char **argv)
{
    const int sets = argc > 1 ? atoi(argv[1]) : getenv("RUN_FULL") ? 30 : 5;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int total[3] = {0};

    for (int i = 0; i < pl_design_count(); ++i) {
        const pl_design *d = pl_design_at(i);
        int count[3] = {0};
        if (argc > 3 && strcmp(argv[3], d->kind) != 0) {
            continue;
        }
        seed = first + 1000003 * (uint64_t)i;
        for (int k = 0; k < sets; ++k) {
            char shown[1000], why[1200] = "";
            const result r = one(d, shown, sizeof shown, why, sizeof why);
            ++count[r];
            ++total[r];
            if (r == FAILED) {
                printf("  FAIL %s%s: %s\n", d->kind, shown, why);
            } else if (r == REFUSED && argc > 3) {
                printf("  refused %s%s: %s\n", d->kind, shown, why);
            }
        }
        printf("%-16s solved %d, refused with a parameter's name %d, failed %d\n", d->kind, count[SOLVED],
               count[REFUSED], count[FAILED]);
        fflush(stdout);
    }

    const int cases = total[SOLVED] + total[REFUSED] + total[FAILED];
    printf("law: designs follow their parameters | cases %d | worst %d failed, %d refused by name | allowed "
           "0 failed | %s\n",
           cases, total[FAILED], total[REFUSED], total[FAILED] ? "FAIL" : "ok");

    return total[FAILED] != 0;
}
