// Is the estimate of the mesh error true on designs? Robots on meshes from far too coarse to fine; the finest
// is taken for the truth. Above the limit of the warning the estimate must be right to a factor of four,
// below it the true error must stay below twice the limit. law_mesh_error has the stricter law, on drawn
// bodies.
#include <time.h>
#include <unistd.h>
#include "model/model_record.h"
#include "validate.h"

#define SIZES 6
#define SILICONE                                                                                             \
    "materials:\n  silicone: {model: neo_hookean, c10: 0.12, poisson: 0.49, density: 1000 kg/m^3}\n"         \
    "  fabric: {model: linear, young: 30, poisson: 0.4}\n"
#define FINGER                                                                                               \
    SILICONE "regions: {skin: silicone, layer: fabric}\nfixed: [{surface: base}]\n"                          \
             "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}]\n"                   \
             "markers: {tip: {surface: tip}}\n"
#define CABLE                                                                                                \
    SILICONE "regions: {body: silicone}\nfixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"         \
             "actuators:\n  - {name: flexor, kind: cable, radius: 2, drive: tension, through: "

typedef struct subject {
    const char *name, *mesh, *rest;
    double size[SIZES]; // coarse to fine, 0 ends
    double command;
} subject;

static const subject subjects[] = {
    {"bending finger", "{kind: bending_finger}", FINGER, {1000, 100, 50, 30, 12, 3}, 0.02},
    {"thin finger",
     "{kind: bending_finger, wall: 1, side_wall: 1, top_wall: 1.2, modules: 6, length: 70}",
     FINGER,
     {1000, 50, 30, 8},
     0.004},
    {"cable finger",
     "{kind: cable_finger}",
     CABLE
     "[[0, 0, 4], [20, 0, 4], [40, 0, 4], [50, 0, 4], [70, 0, 4], [80, 0, 4], [100, 0, 4], [116, 0, 4]]}\n",
     {1000, 30, 20, 12, 8, 5},
     1},
    {"beam under its weight",
     "{kind: beam, height: 8, width: 10}",
     CABLE "[[0, 0, 2], [50, 0, 2], [99, 0, 2]]}\nloads: {gravity: [0, 0, -9.81 m/s^2]}\n",
     {1000, 50, 10, 5, 3},
     0},
};

typedef struct answer {
    double travel, solve, estimate; // mm, CPU s
    int32_t elements;
    pl_mesh_error error;
} answer;

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static bool solve_size(const subject *s, double size, answer *out)
{
    char path[] = "/tmp/pliant_error_XXXXXX";
    const int file = mkstemp(path);

    if (file < 0) {
        return false;
    }
    dprintf(file, "pliant: 1\nname: study\nmesh:\n  design: %s\n  size: %g\n  accept: true\n%s", s->mesh,
            size, s->rest);
    close(file);
    pl_model *model = NULL;
    pl_error err = {0};
    const pl_model_load_options options = {.load = {.mesher = pl_meshing_mesher(), .no_cache = true}};
    pl_solve_report report;
    const pl_record *record;
    bool good = pl_model_load(path, &options, &model, NULL, &err) == PL_OK;
    clock_t start = clock();
    good = good && pl_model_fk(model, &s->command, &report, &err) == PL_OK && report.outcome == PL_SOLVED &&
           pl_model_record(model, NULL, &record, &err) == PL_OK;
    out->solve = seconds_since(start);
    if (good) {
        const double *d = record->marker[0].displacement;
        out->travel = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        out->elements = record->element_count;
        start = clock();
        good = pl_model_mesh_error(model, &out->error, &err) == PL_OK;
        out->estimate = seconds_since(start);
    }

    if (!good) {
        printf("%s, size %g: %s\n", s->name, size, err.text);
    }
    pl_model_destroy(model);
    unlink(path);

    return good;
}

static void study(validate_table *t, const subject *s)
{
    answer a[SIZES] = {{0}};
    int count = 0;

    for (; count < SIZES && s->size[count] > 0; ++count) {
        if (!solve_size(s, s->size[count], &a[count])) {
            validate_verdict(t, false);
            return;
        }
    }

    for (int i = 0; i + 1 < count; ++i) {
        const double truth = 1 - a[i].travel / a[count - 1].travel, e = a[i].error.relative;
        printf("%-22s %6.0f %7d %8.2f %% %8.2f %% %8.2f %8.3f", s->name, s->size[i], (int)a[i].elements,
               100 * truth, 100 * e, a[i].solve, a[i].estimate);
        validate_verdict(t, e > PL_MESH_ERROR_LIMIT ? fabs(truth) < 4 * e
                                                    : fabs(truth) < 2 * PL_MESH_ERROR_LIMIT);
    }
}

int main(int argc, char **argv)
{
    validate_table t = {0, 0};
    printf("%-22s %6s %7s %10s %10s %8s %8s\n", "robot", "size", "elements", "true", "estimate", "solve s",
           "est. s");
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; ++k) {
        if (argc < 2 || strstr(subjects[k].name, argv[1])) {
            study(&t, &subjects[k]);
        }
    }

    return validate_end(&t);
}
