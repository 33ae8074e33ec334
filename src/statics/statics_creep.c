// Shapes held for a given time: the body is brought to the commands at once, with the instantaneous moduli,
// then the viscous branches relax while it stays in equilibrium. TR-BDF2 as in room dynamics, without
// inertia: in each of its stages the branches have a potential (element_viscous.c), so that a stage is a
// solve of statics with changed laws. The length of a step follows from the error of the stresses of the
// branches.
#include "statics/statics_impl.h"

#define CREEP_TOLERANCE 5e-4 // error of a step, of the stress of the body
#define CREEP_SAFETY 0.8
#define CREEP_SMALLEST 1e-6 // of the time since the start: steps below it find the shape gone

void pl_statics_relax(pl_statics *s)
{
    if (s->creep.on) {
        pl_statics_forget(s); // the factors are those of other laws
    }
}

void statics_creep_clear(pl_statics *s)
{
    pl_viscous_destroy(s->creep.viscous);
    pl_state_destroy(s->creep.before);
    s->creep = (statics_creep){0};
}

static pl_status creep_create(pl_statics *s, pl_error *err)
{
    if (s->creep.before) {
        return PL_OK;
    }

    const pl_robot *robot = s->robot;
    for (int i = 0; i < robot->layer_count; ++i) {
        if (robot->material[robot->layer[i].material].prony_count > 0) {
            return pl_fail(err, PL_BAD_INPUT,
                           "layer '%s': its material '%s' has viscous branches (prony), which layers do not "
                           "have yet: use a material without them",
                           robot->layer[i].name, robot->material_name[robot->layer[i].material]);
        }
    }

    const int32_t regions = s->problem->mesh.region_count;
    const pl_material **material = PL_NEW_ARRAY(const pl_material *, regions);
    if (!material) {
        return pl_fail_memory(err, "statics: viscous branches");
    }
    for (int32_t r = 0; r < regions; ++r) {
        material[r] = &robot->material[robot->region_material[r]];
    }

    pl_status status = pl_viscous_create(s->problem->elements, material, &s->creep.viscous, err);
    pl_free(material);

    return status == PL_OK ? pl_state_create(robot, &s->creep.before, err) : status;
}

// The equilibrium with the laws that the elements have now; the work adds up in `report`.
static pl_status creep_solve(pl_statics *s, pl_state *state, const double *command, pl_solve_report *report,
                             pl_error *err)
{
    const pl_solve_report before = *report;
    s->history.count = 0; // shapes before belong to other laws
    s->aim.expected = false;
    const pl_status status = statics_solve(s, state, command, report, err);
    report->iterations += before.iterations;
    report->factorizations += before.factorizations;
    report->solves += before.solves;
    report->increments += before.increments;
    report->seconds += before.seconds;

    return status;
}

static bool creep_solved(pl_status status, const pl_solve_report *report)
{
    return status == PL_OK && report->outcome == PL_SOLVED && !report->no_state;
}

// Both stages of a step of length h from `state`, which is left at its end.
static pl_status creep_step(pl_statics *s, pl_state *state, const double *command, double h,
                            pl_solve_report *report, pl_error *err)
{
    pl_viscous *v = s->creep.viscous;
    pl_status status = PL_OK;

    for (int stage = 0; stage < 2; ++stage) {
        // the stages of TR-BDF2 have the length 1 - 1 / sqrt(2)
        pl_viscous_begin(v, (1 - sqrt(0.5)) * h, stage == 1);
        status = creep_solve(s, state, command, report, err);
        if (!creep_solved(status, report)) {
            return status;
        }
        pl_viscous_end(v, (1 - sqrt(0.5)) * h, stage == 1, state->x);
    }

    return status;
}

static pl_status creep_run(pl_statics *s, pl_state *state, const double *command, double seconds,
                           pl_creep_report *creep, pl_solve_report *report, pl_error *err)
{
    pl_viscous *v = s->creep.viscous;
    double t = 0, h = cbrt(CREEP_TOLERANCE) * pl_viscous_shortest(v);

    while (seconds - t > 1e-12 * seconds) {
        // two equal steps rather than a tiny last one
        const double left = seconds - t, length = h >= left ? left : h > 0.5 * left ? 0.5 * left : h;
        if (pl_state_copy(s->creep.before, state) != PL_OK) {
            return pl_fail_memory(err, "statics: state");
        }
        const pl_status status = creep_step(s, state, command, length, report, err);
        const bool solved = creep_solved(status, report);
        if (status != PL_OK || (!solved && report->outcome == PL_STOPPED)) {
            return status;
        }
        const double error = solved ? pl_viscous_error(v, length) : INFINITY;
        pl_log(1, "  creep: %.3g s at %.3g s, error %.2e", length, t, error);
        const double factor = error > 0 ? CREEP_SAFETY * cbrt(CREEP_TOLERANCE / error) : STATICS_GROWTH;
        h = length * fmin(STATICS_GROWTH, fmax(1 / STATICS_GROWTH, factor));
        if (error > CREEP_TOLERANCE) {
            if (pl_state_copy(state, s->creep.before) != PL_OK) {
                return pl_fail_memory(err, "statics: state");
            }
            creep->rejected++;
            if (h < CREEP_SMALLEST * (t + pl_viscous_shortest(v)) || creep->rejected > STATICS_ROUNDS) {
                statics_say(report, PL_STEP_LIMIT,
                            "no equilibrium was found after %.4g s of creep: the body may snap", t);
                return PL_OK;
            }
            continue;
        }
        pl_viscous_accept(v);
        t += length;
        creep->steps++;
        creep->error = fmax(creep->error, error);
    }

    return PL_OK;
}

pl_status pl_statics_hold(pl_statics *s, pl_state *state, const double *command, double seconds,
                          pl_creep_report *creep, pl_solve_report *report, pl_error *err)
{
    *creep = (pl_creep_report){0};
    *report = (pl_solve_report){.negative_count = -1};
    if (!(seconds >= 0) || isinf(seconds)) {
        return pl_fail(err, PL_BAD_INPUT, "statics: a shape cannot be held for %g s", seconds);
    }
    pl_statics_relax(s);
    pl_status status = creep_create(s, err);
    if (status != PL_OK) {
        return status;
    }

    pl_viscous *v = s->creep.viscous;
    if (!v) {
        return statics_solve(s, state, command, report, err); // nothing depends on time
    }

    // at once: the branches stay as they were, relaxed with what the regions have grown to in the state
    pl_statics_forget(s);
    pl_problem_recall(s->problem, state);
    pl_viscous_relax(v, state->x);
    pl_problem_resume(s->problem);
    pl_viscous_hold(v);
    s->creep.on = true;
    status = creep_solve(s, state, command, report, err);
    if (!creep_solved(status, report)) {
        return status;
    }
    pl_viscous_jump(v, state->x);

    status = creep_run(s, state, command, seconds, creep, report, err);
    pl_viscous_hold(v); // the stresses of this shape

    return status;
}
