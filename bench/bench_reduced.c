// Microseconds per call of the reduced models: forward kinematics with the exact Jacobian, and the inverse of
// a two-section trunk, each over many calls at changing commands; calls to the allocator are counted.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "reduced/reduced.h"

static long allocations;

static void *count_realloc(void *user, void *block, size_t bytes)
{
    (void)user;
    ++allocations;
    if (bytes == 0) {
        free(block);
        return NULL;
    }

    return realloc(block, bytes);
}

static pl_line_actuator_def actuator(const char *name, pl_actuator_kind kind, pl_drive drive, double from,
                                     double to, double radius, double angle)
{
    return (pl_line_actuator_def){.name = name,
                                  .kind = kind,
                                  .drive = drive,
                                  .area = 20,
                                  .effectiveness = {1, 1},
                                  .path = {.span = {from, to}, .radius = {radius, radius}, .angle = angle}};
}

static pl_model *build(const pl_reduced_def *def)
{
    pl_error err = {0};
    pl_model *model = NULL;

    if (pl_reduced_create(def, &model, NULL, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }

    return model;
}

static pl_model *segment(pl_reduced_kind kind, bool as_published, pl_line_actuator_def act[3])
{
    static pl_section_def section;
    static const pl_line_marker_def tip = {.name = "tip", .at = 45};

    section = (pl_section_def){.name = "segment", .length = 45, .diameter = {25, 25}, .pieces = 20};
    const double r = 12.5;
    pl_section_stiffness(&section, 0.3, 0.1, PL_PI * r * r, PL_PI * pow(r, 4) / 4, PL_PI * pow(r, 4) / 4,
                         PL_PI * pow(r, 4) / 2, 0.9);
    const pl_reduced_def def = {.name = "segment",
                                .kind = kind,
                                .as_published = as_published,
                                .section = &section,
                                .section_count = 1,
                                .actuator = act,
                                .actuator_count = 3,
                                .marker = &tip,
                                .marker_count = 1};

    return build(&def);
}

static pl_model *trunk(void)
{
    static const char *const name[] = {"l1", "l2", "l3", "l4", "l5", "l6"};
    pl_section_def section[2] = {{.name = "a", .length = 103, .diameter = {95, 95}, .pieces = 1},
                                 {.name = "b", .length = 103, .diameter = {85, 85}, .pieces = 1}};
    pl_line_actuator_def act[6];

    for (int i = 0; i < 6; ++i) {
        act[i] = actuator(name[i], PL_CABLE, PL_DRIVE_LENGTH, 103 * (i / 3), 103 * (i / 3 + 1),
                          i < 3 ? 47.5 : 42.5, 2 * PL_PI * (i % 3) / 3);
        act[i].has_range = true;
        act[i].range[0] = 85;
        act[i].range[1] = 135;
    }

    const pl_line_marker_def tip = {.name = "tip", .at = 206};
    const pl_reduced_def def = {.name = "trunk",
                                .kind = PL_CONSTANT_CURVATURE,
                                .section = section,
                                .section_count = 2,
                                .actuator = act,
                                .actuator_count = 6,
                                .marker = &tip,
                                .marker_count = 1};

    return build(&def);
}

// Commands wander over their ranges as slow sines, so that every call is a new one and warm.
static void run(const char *name, pl_model *model, double low, double high, long calls, double step)
{
    const pl_model_info info = pl_model_get_info(model);
    double command[8], sum = 0;
    pl_error err = {0};
    pl_solve_report report;
    pl_jacobian_report jacobian;
    pl_model_derivative d;
    long unsolved = 0;

    allocations = 0;
    const double start = pl_cpu_seconds();
    for (long i = 0; i < calls; ++i) {
        for (int c = 0; c < info.command_count; ++c) {
            const double phase = step * (double)i * (1 + 0.1 * c) + c;
            // a triangle wave: no sine to pay for
            const double t = phase - floor(phase);
            command[c] = low + (high - low) * (t < 0.5 ? 2 * t : 2 - 2 * t);
        }
        if (pl_model_fk(model, command, &report, &err) != PL_OK ||
            pl_model_differentiate(model, PL_PART_MARKER, 0, &d, &jacobian, &err) != PL_OK) {
            fprintf(stderr, "%s\n", err.text);
            exit(1);
        }
        unsolved += report.outcome != PL_SOLVED;
        sum += d.marker[0];
    }

    const double micro = 1e6 * (pl_cpu_seconds() - start) / (double)calls;
    printf("%-34s %8ld %10.3f %8ld %8ld   %.3g\n", name, calls, micro, unsolved, allocations, sum);
    pl_model_destroy(model);
}

static void run_reach(long calls)
{
    pl_model *model = trunk();
    pl_error err = {0};
    pl_random random;

    pl_random_seed(&random, 1);
    double command[6], reached, worst = 0;
    long missed = 0;
    double seconds = 0;
    allocations = 0;
    for (long i = 0; i < calls; ++i) {
        pl_solve_report report;
        double target[3];
        for (int c = 0; c < 6; ++c) {
            command[c] = pl_random_uniform(&random, 90, 130);
        }
        pl_model_fk(model, command, &report, &err);
        memcpy(target, pl_model_get_answer(model).marker, sizeof target);
        pl_model_reset(model);
        const double start = pl_cpu_seconds();
        if (pl_reduced_reach(model, 0, target, 1e-6, command, &reached, &err) != PL_OK) {
            fprintf(stderr, "%s\n", err.text);
            exit(1);
        }
        seconds += pl_cpu_seconds() - start;
        missed += reached > 1e-6;
        worst = fmax(worst, reached);
    }

    printf("%-34s %8ld %10.3f %8ld %8ld   worst error %.2g mm\n", "inverse, two-section trunk, cold", calls,
           1e6 * seconds / (double)calls, missed, allocations, worst);
    pl_model_destroy(model);
}

int main(int argc, char **argv)
{
    const long calls = argc > 1 ? atol(argv[1]) : 1000000;
    pl_memory_set(count_realloc, NULL);
    pl_line_actuator_def chamber[3], tendon[3];
    static const char *const name[] = {"a1", "a2", "a3"};
    for (int i = 0; i < 3; ++i) {
        const double angle = PL_PI / 2 + 2 * PL_PI * i / 3;
        chamber[i] = actuator(name[i], PL_CHAMBER, PL_DRIVE_PRESSURE, 0, 45, 7, angle);
        tendon[i] = actuator(name[i], PL_CABLE, PL_DRIVE_SHORTENING, 0, 45, 9, angle);
    }

    printf("%-34s %8s %10s %8s %8s\n", "forward and Jacobian", "calls", "us/call", "unsolved", "mallocs");
    run("beam as published", segment(PL_BEAM, true, chamber), 0, 0.1, calls, 1e-3);
    run("constant curvature, two sections", trunk(), 95, 120, calls, 1e-3);
    run("rod, 20 elements, chambers", segment(PL_ROD, false, chamber), 0, 0.1, calls / 10, 1e-3);
    run("rod, 20 elements, tendon lengths", segment(PL_ROD, false, tendon), 0, 10, calls / 10, 1e-3);
    run_reach(calls / 10);

    return 0;
}
