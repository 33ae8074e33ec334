// Law: a shape held for a long time is the relaxed shape. Random robots of the second family
// (metamorphic_more.h: growth, gas, magnets, moving clamps, tissue, springs, fibres) whose materials have
// viscous branches, on two mesh sizes: held for a thousand relaxation times they are where the relaxed solve
// puts them; held for no time they are in balance with the stresses of the branches, and where they are does
// not depend on what was solved before.
//   law_creep [ROBOTS [SEED]]
#include "metamorphic_more.h"
#include "pliant/result.h"

#define COMMANDS (META_ACTUATORS + 2)
#define SAME 1e-4    // mm: several times what a solve leaves
#define ALLOWED 1e-3 // of the largest displacement: twice the error allowed in a step

static int cases, failed, refused;
static double worst, worst_history;
static uint64_t worst_seed;

// Branches of the same kind in all materials; random strengths and times.
static void draw_branches(meta_robot *m, pl_random *r)
{
    for (int i = 0; i < m->def.material_count; ++i) {
        pl_material *material = &m->material[i].material;
        material->prony_count = 1 + meta_pick(r, 2);
        for (int k = 0; k < material->prony_count; ++k) {
            material->prony_g[k] = meta_uniform(r, 0.05, 0.4);
            material->prony_tau[k] = exp(meta_uniform(r, log(0.01), log(1)));
        }
    }
}

static bool has_friction(const meta_robot *m)
{
    for (int i = 0; i < m->def.actuator_count; ++i) {
        if (m->actuator[i].friction > 0) {
            return true;
        }
    }
    return false;
}

static bool in_balance(pl_statics *statics, const pl_state *state)
{
    double residual, largest;
    bool inverted;
    pl_error err = {0};
    return pl_statics_check(statics, state, &residual, &largest, &inverted, &err) == PL_OK && !inverted &&
           residual <= 1e-5 * largest;
}

static double distance(const pl_state *a, const pl_state *b, int32_t vertices)
{
    double apart = 0;
    for (int32_t i = 0; i < 3 * vertices; ++i) {
        apart = fmax(apart, fabs(pl_state_positions(a)[i] - pl_state_positions(b)[i]));
    }
    return apart;
}

static void try_one(uint64_t seed)
{
    meta_robot m;
    pl_random random;
    pl_robot *robot = NULL;
    pl_statics *statics = NULL;
    pl_state *relaxed = NULL, *held = NULL, *fresh = NULL;
    pl_error err = {0};
    pl_solve_report report;
    pl_creep_report creep;
    double command[COMMANDS];

    meta_draw_more(seed, seed % 2, &m);
    pl_random_seed(&random, seed + 77);
    draw_branches(&m, &random);
    meta_mesh_make(&m);
    const pl_statics_options options = pl_statics_options_default();
    if (!has_friction(&m) && meta_build(&m, &robot, &err) == PL_OK &&
        pl_statics_create(robot, &options, &statics, &err) == PL_OK &&
        pl_state_create(robot, &relaxed, &err) == PL_OK && pl_state_create(robot, &held, &err) == PL_OK &&
        pl_state_create(robot, &fresh, &err) == PL_OK) {
        meta_commands(&m, robot, command);
        const bool first = pl_statics_hold(statics, fresh, command, 0, &creep, &report, &err) == PL_OK &&
                           report.outcome == PL_SOLVED;
        bool good = pl_statics_solve(statics, relaxed, command, &report, &err) == PL_OK &&
                    report.outcome == PL_SOLVED;
        const double *rest = pl_mesh_get(pl_robot_mesh(robot)).position;
        double moved = 0;
        for (int k = 0; good && k < 2; ++k) {
            pl_state_reset(held, robot);
            const pl_status status =
                pl_statics_hold(statics, held, command, k ? 1000 : 0, &creep, &report, &err);
            if (status != PL_OK || report.outcome != PL_SOLVED) {
                printf("  not held: %s %s; seed %llu (%s)\n",
                       status == PL_OK ? pl_outcome_name(report.outcome) : err.text,
                       status == PL_OK ? report.message : "", (unsigned long long)seed, m.words);
                refused++;
                good = false;
            } else if (!in_balance(statics, held)) {
                printf("  NOT IN BALANCE after %d s; seed %llu (%s)\n", k ? 1000 : 0,
                       (unsigned long long)seed, m.words);
                failed++;
            }
            const double apart = k == 0 && good && first ? distance(held, fresh, m.vertices) : 0;
            worst_history = fmax(worst_history, apart);
            if (apart > SAME) {
                printf("  %.2e mm apart after another solve; seed %llu (%s)\n", apart,
                       (unsigned long long)seed, m.words);
                failed++;
            }
        }
        if (good) {
            for (int32_t i = 0; i < 3 * m.vertices; ++i) {
                moved = fmax(moved, fabs(pl_state_positions(relaxed)[i] - rest[i]));
            }
            const double error = distance(relaxed, held, m.vertices) / fmax(moved, 1e-3 * m.size[0]);
            cases++;
            failed += !(error <= ALLOWED);
            if (!(error <= worst)) {
                worst = error;
                worst_seed = seed;
            }
            if (!(error <= ALLOWED)) {
                printf("  %.2e of %.3g mm; seed %llu (%s)\n", error, moved, (unsigned long long)seed,
                       m.words);
            }
        }
    } else if (err.text[0]) {
        printf("  not built: %s; seed %llu\n", err.text, (unsigned long long)seed);
    }

    pl_state_destroy(fresh);
    pl_state_destroy(held);
    pl_state_destroy(relaxed);
    pl_statics_destroy(statics);
    pl_robot_destroy(robot);
    meta_mesh_clear(&m.mesh);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 20;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 301;

    pl_threads_set(1);
    for (int i = 0; i < count; ++i) {
        try_one(seed + (uint64_t)i);
    }
    const bool good = cases >= (count < 20 ? 1 : 10) && !failed && !refused;
    printf("law: a shape held long is the relaxed one | cases %d | worst %.1e of the displacement (seed "
           "%llu), %d not "
           "held; %.1e mm by what was solved before | allowed %.0e | %s\n",
           cases, worst, (unsigned long long)worst_seed, refused, worst_history, ALLOWED,
           good ? "ok" : "FAIL");

    return good ? 0 : 1;
}
