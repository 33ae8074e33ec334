// Load stepping: from the state's commands to the new ones in as few increments as the shape allows, and what
// to say when the way ends before.
#include <stdarg.h>
#include <stdio.h>
#include "statics/statics_impl.h"

#define TURN_FIRST 0.5    // rad: rotation in the first increment; grows and shrinks with success
#define STRAIN_LIMIT 0.25 // largest strain in one increment
#define SMALLEST_INCREMENT 2e-4

typedef struct way {
    double at;     // how far along, 0 to 1
    double length; // of the next increment
    double turn;   // rad allowed in an increment
    double tangent,
        tangent_first; // size of dx/d(load) now and at the start: grows without bound at a limit point
    bool inverted, infeasible, unstable, failed;
    double min_J;
} way;

static size_t solve_bytes(const pl_statics *s)
{
    return 3 * (size_t)s->mesh.vertex_count * sizeof(double);
}

static descent solve_tolerance(const pl_statics *s, bool last)
{
    const double size = s->size;
    const int limit = last ? 200 : 40, left = s->options.iteration_limit - s->iterations;
    return (descent){
        .force_tolerance = last ? s->options.force_tolerance : fmax(s->options.force_tolerance, 3e-3),
        .length_tolerance =
            last ? s->options.length_tolerance : fmax(s->options.length_tolerance, 1e-4 * size),
        .limit = s->finishing || left > limit ? limit : left,
    };
}

// Sets loads to `at` and moves driven clamps there.
static void solve_set(pl_statics *s, double at, double *x)
{
    statics_drives_set(s, at);
    statics_extend(s, s->load, x);
}

static double solve_clamp_turn(const pl_statics *s)
{
    double turn = 0;
    for (int k = 0; k < s->robot->support_count; ++k) {
        turn = fmax(turn, pl_norm3(s->robot->support[k].rotate));
    }
    return turn * fabs(s->load_to - s->load_from);
}

// Chooses the length of the next increment from the tangent step towards the full load.
static void solve_choose(pl_statics *s, way *w, const double *x)
{
    double gap[STATICS_BORDERS], here[STATICS_BORDERS], mu[STATICS_BORDERS], strain = 0;
    const double rest = 1 - w->at;
    // the change of loads and targets alone: what is left of the residual here is not the way's business
    statics_evaluate(s, x, s->g);
    statics_gaps(s, here);
    statics_drives_set(s, 1);
    statics_evaluate(s, x, s->g_new);
    statics_gaps(s, gap);
    for (int32_t i = 0; i < s->n; ++i) {
        s->y[i] = s->g[i] - s->g_new[i];
    }
    for (int k = 0; k < s->border_count; ++k) {
        gap[k] -= here[k];
    }
    statics_solve_bordered(s, s->y, gap, s->d, mu);
    const double turn = statics_step_rotation(s, x, s->d, &strain) + solve_clamp_turn(s) * rest;
    w->tangent = statics_largest(s, s->d, false) / rest;
    w->tangent_first = w->tangent_first > 0 ? w->tangent_first : w->tangent;
    double length = rest;
    if (turn > w->turn) {
        length = rest * w->turn / turn;
    }
    if (strain > STRAIN_LIMIT && length > rest * STRAIN_LIMIT / strain) {
        length = rest * STRAIN_LIMIT / strain;
    }
    length = length > 0.8 * rest ? rest : length;
    // an increment that just failed is not asked for again
    w->length = w->length > 0 && w->length < length ? w->length : length;
    pl_log(1, "  at %.4f: tangent turns %.2f rad, strains %.2f to the end; increment %.4f", w->at, turn,
           strain, w->length);
}

// One increment from x (kept in x_start) to at + length. True when an admissible equilibrium was found.
static bool solve_increment(pl_statics *s, way *w, double *x, descent *D, descent_end *end, pl_error *err)
{
    const double to = w->at + w->length >= 1 - 1e-12 ? 1 : w->at + w->length;
    *D = solve_tolerance(s, to >= 1);
    D->predict = true;
    solve_set(s, to, x);
    *end = statics_descend(s, x, D, err);
    s->increments++;
    if (*end != DESCENT_DONE) {
        w->inverted = D->inverted;
        w->infeasible = D->infeasible;
        return false;
    }
    w->min_J = pl_elements_bound(s->elements, x, NULL, NULL);
    if (!(w->min_J > 0)) {
        w->inverted = true;
        pl_log(1, "  increment rejected: lower bound of J is %.3g", w->min_J);
        return false;
    }
    return true;
}

// Has every constraint and gas its row in the factor at hand? One made for other drives would leave them out.
static bool solve_has_rows(const pl_statics *s)
{
    for (int i = 0; i < s->drive_count; ++i) {
        bool found = s->drive[i].mode == MODE_EFFORT;
        for (int k = 0; k < s->border_count; ++k) {
            found = found || s->border[k] == i;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

// A small change with a factor at hand: straight at the full load with the old factor turned, no new
// factorisation.
static bool solve_warm(pl_statics *s, const pl_state *state, const double *command, double *x, descent *D,
                       descent_end *end, pl_error *err)
{
    if (!s->has_factor || s->blend > 0 || !solve_has_rows(s)) {
        return false;
    }
    double strain = 0;
    solve_set(s, 1, x);
    // two solved states on a line of commands point to the next
    if (s->options.extrapolate && s->laplace && s->old_count == 2 &&
        memcmp(s->x_old[0], state->x, solve_bytes(s)) == 0) {
        double along = 0, old = 0, now = 0;
        for (int c = 0; c < s->robot->command_count; ++c) {
            const double a = s->command_old[0][c] - s->command_old[1][c],
                         b = command[c] - s->command_old[0][c];
            along += isnan(a * b) ? 0 : a * b;
            old += isnan(a) ? 0 : a * a;
            now += isnan(b) ? 0 : b * b;
        }
        if (along > 0.95 * sqrt(old * now) && now < 4 * old && old > 0) {
            const double ratio = along / old;
            statics_extrapolate(s, s->x_old[0], s->x_old[1], ratio, s->x_best);
            statics_clamp(s, s->load, s->x_best);
            if (!isinf(statics_evaluate(s, s->x_best, NULL))) {
                memcpy(x, s->x_best, solve_bytes(s));
            }
        }
    }
    statics_turn(s, x);
    double gap[STATICS_BORDERS], mu[STATICS_BORDERS];
    if (isinf(statics_evaluate(s, x, s->g))) {
        return false;
    }
    statics_residual(s, s->g, s->r);
    statics_gaps(s, gap);
    for (int32_t i = 0; i < s->n; ++i) {
        s->y[i] = -s->r[i];
    }
    statics_solve_bordered(s, s->y, gap, s->d, mu);
    const double turn = statics_step_rotation(s, x, s->d, &strain);
    pl_log(1, "  warm: turns %.3f rad, strains %.3f", turn, strain);
    if (turn > 0.15 || strain > 0.1) {
        return false;
    }
    *D = solve_tolerance(s, true);
    *end = statics_descend(s, x, D, err);
    s->increments++;
    return *end == DESCENT_DONE && pl_elements_bound(s->elements, x, NULL, NULL) > 0;
}

static void say(pl_statics_report *report, pl_outcome outcome, const char *format, ...) PL_PRINTF(3, 4);
static void say(pl_statics_report *report, pl_outcome outcome, const char *format, ...)
{
    va_list args;
    report->outcome = outcome;
    va_start(args, format);
    vsnprintf(report->message, sizeof report->message, format, args);
    va_end(args);
}

static void solve_explain(pl_statics *s, const way *w, descent_end end, pl_statics_report *report)
{
    const double percent = 100 * w->at;
    if (s->stopped) {
        say(report, PL_STOPPED,
            "interrupted at %.1f %% of the way; the state holds the last equilibrium found", percent);
    } else if (s->options.time_limit > 0 && pl_seconds() - s->started > s->options.time_limit) {
        say(report, PL_ITERATION_LIMIT, "the time limit of %g s was reached at %.1f %% of the way",
            s->options.time_limit, percent);
    } else if (s->iterations >= s->options.iteration_limit) {
        say(report, PL_ITERATION_LIMIT, "%d iterations were not enough: %.1f %% of the way is done",
            s->iterations, percent);
    } else if (s->increments >= s->options.increment_limit) {
        say(report, PL_STEP_LIMIT, "%d load increments were not enough: %.1f %% of the way is done",
            s->increments, percent);
    } else if (w->unstable || w->tangent > 10 * w->tangent_first) {
        say(report, PL_LIMIT_POINT,
            "the body becomes unstable at %.1f %% of the way (a limit point: it would snap or balloon); "
            "drive it by volume or "
            "length to go through",
            percent);
    } else if (w->infeasible) {
        say(report, PL_INFEASIBLE, "a target length or volume cannot be met beyond %.1f %% of the way",
            percent);
    } else if (w->inverted) {
        say(report, PL_INVERTED,
            "elements turn inside out beyond %.1f %% of the way: the mesh is too coarse there, or the load "
            "is beyond what the material can carry",
            percent);
    } else {
        say(report, end == DESCENT_LIMIT ? PL_ITERATION_LIMIT : PL_STEP_LIMIT,
            "no equilibrium was found beyond %.1f %% of the way, however small the step", percent);
    }
}

// Largest principal stretch over all quadrature points.
static double solve_max_stretch(pl_statics *s, const double *x)
{
    double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest) num_threads(pl_threads_get())
    for (int b = 0; b < s->elements->block_count; ++b) {
        const pl_block *block = &s->elements->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                double F[9], C[9], value[3];
                pl_block_gradient(block, l, q, x, F);
                for (int i = 0; i < 9; ++i) {
                    C[i] = F[i / 3] * F[i % 3] + F[3 + i / 3] * F[3 + i % 3] + F[6 + i / 3] * F[6 + i % 3];
                }
                pl_eigen3(C, value, NULL);
                largest = fmax(largest, value[2]);
            }
        }
    }
    return sqrt(largest);
}

static void solve_store(pl_statics *s, pl_state *state, const double *command, double at, const double *x)
{
    memcpy(state->x, x, solve_bytes(s));
    for (int c = 0; c < state->command_count; ++c) {
        if (at >= 1) {
            state->command[c] = command[c];
            continue;
        }
        // what the actuators of this command are at
        for (int i = 0; i < s->drive_count; ++i) {
            if (s->robot->actuator[i].command == c && !s->drive[i].idle) {
                state->command[c] = drive_command_value(s, i);
            }
        }
    }
    for (int i = 0; i < s->drive_count; ++i) {
        state->multiplier[i] = s->drive[i].effort;
        state->active[i] = s->drive[i].mode != MODE_CONSTRAINT || s->drive[i].active;
    }
    state->load = s->load;
}

static void solve_remember(pl_statics *s, const pl_state *state)
{
    double *keep = s->x_old[1], *keep_command = s->command_old[1];
    s->x_old[1] = s->x_old[0];
    s->command_old[1] = s->command_old[0];
    s->x_old[0] = keep;
    s->command_old[0] = keep_command;
    memcpy(keep, state->x, solve_bytes(s));
    memcpy(keep_command, state->command, (size_t)state->command_count * sizeof *keep_command);
    s->old_count = s->old_count < 2 ? s->old_count + 1 : 2;
}

// Angles of moments are counted on from the shape x, over full turns.
static void solve_follow_angles(pl_statics *s, const double *x)
{
    for (int i = 0; i < s->load_term_count; ++i) {
        s->load_term[i].h.near = pl_functional_value(&s->load_term[i].h, x);
    }
}

// Increments until the end of the way, or until they become too short.
static descent_end solve_walk(pl_statics *s, way *w, double *x, descent *D, pl_error *err)
{
    descent_end end = DESCENT_STUCK;
    while (w->at < 1) {
        memcpy(s->x_start, x, solve_bytes(s));
        if (s->iterations >= s->options.iteration_limit || s->increments >= s->options.increment_limit ||
            !statics_go_on(s)) {
            break;
        }
        statics_drives_set(s, w->at);
        // the factor of the last increment, turned, points well enough; after a failure a new one is made
        if (!s->has_factor || s->blend > 0 || w->failed || !solve_has_rows(s)) {
            if (statics_refactor(s, x, 0, false, NULL, err) != PL_OK) {
                break;
            }
            w->unstable = s->blend > 0;
        } else {
            statics_turn(s, x);
        }
        solve_choose(s, w, x);
        if (solve_increment(s, w, x, D, &end, err)) {
            w->at = w->at + w->length >= 1 - 1e-12 ? 1 : w->at + w->length;
            w->turn = fmin(0.7, w->turn * 1.1);
            w->length = w->length * 3;
            w->inverted = w->infeasible = w->failed = false;
            solve_follow_angles(s, x);
            statics_follow(s, x);
            pl_progress_step(&s->options.progress, w->at, "solving");
            continue;
        }
        memcpy(x, s->x_start, solve_bytes(s));
        w->failed = true;
        // close to a limit point ever shorter increments only sharpen the number
        const bool at_limit = (w->unstable || w->tangent > 10 * w->tangent_first) && w->length < 0.01;
        if (end == DESCENT_STOPPED || at_limit || w->length * 0.4 < SMALLEST_INCREMENT) {
            break;
        }
        w->length *= 0.4;
        w->turn = fmax(0.05, w->turn * 0.6);
        pl_log(1, "  increment failed (%s), trying %.4f",
               w->inverted     ? "inverted"
               : w->infeasible ? "infeasible"
                               : "no descent",
               w->length);
    }
    return end;
}

// Pressures on open surfaces: equilibrium after equilibrium, each with the rims' forces of the one before,
// until they agree.
#define SETTLE_LIMIT 60
static descent_end solve_settle(pl_statics *s, double *x, descent *D, pl_error *err)
{
    for (int round = 0; round < SETTLE_LIMIT; ++round) {
        statics_follow(s, x);
        statics_evaluate(s, x, s->g);
        D->residual = statics_residual(s, s->g, s->r);
        D->relative = D->residual / statics_force_scale(s);
        pl_log(1, "  open surfaces: round %d, residual %.2e", round, D->relative);
        if (D->relative <= s->options.force_tolerance) {
            return DESCENT_DONE;
        }
        *D = solve_tolerance(s, true);
        const descent_end end = statics_descend(s, x, D, err);
        if (end != DESCENT_DONE) {
            return end;
        }
    }
    return DESCENT_LIMIT;
}

// What the report says about the state x at the loads set.
static void solve_measure(pl_statics *s, const double *x, const descent *D, pl_statics_report *report)
{
    report->iterations = s->iterations;
    report->factorizations = s->factorizations;
    report->solves = s->solves;
    report->increments = s->increments;
    report->residual = D->residual;
    report->residual_relative = D->relative;
    report->step = D->step;
    // the sign comes from the proven bound, the value from the quadrature points (a curved rest shape has no
    // unit J)
    const double bound = pl_elements_bound(s->elements, x, NULL, NULL);
    report->energy = statics_elastic(s, x, NULL, &report->min_J);
    report->min_J = bound > 0 ? report->min_J : bound;
    report->max_stretch = solve_max_stretch(s, x);
    report->constraint_error = 0;
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        d->measure = pl_functional_value(&d->h, x);
        if (d->mode == MODE_CONSTRAINT && d->active) {
            report->constraint_error =
                fmax(report->constraint_error, fabs(d->measure - d->value) / s->robot->actuator[i].rest);
        }
    }
    solve_follow_angles(s, x);
    report->seconds = pl_seconds() - s->started;
}

pl_status pl_statics_solve(pl_statics *s, pl_state *state, const double *command, pl_statics_report *report,
                           pl_error *err)
{
    if (state->robot_hash != s->robot->hash || state->vertex_count != s->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }
    const pl_status possible = statics_drives_check(s, command, err);
    if (possible != PL_OK) {
        return possible;
    }
    *report = (pl_statics_report){.negative_count = -1};
    s->started = pl_seconds();
    s->iterations = s->factorizations = s->solves = s->increments = 0;
    s->stopped = false;
    pl_error local = {0};
    descent D = {0};
    descent_end end = DESCENT_STUCK;
    way w = {.turn = TURN_FIRST};
    double *x = s->x_work;
    memcpy(x, state->x, solve_bytes(s));
    solve_follow_angles(s, x);
    statics_follow(s, x);
    statics_drives_begin(s, state, command);
    if (solve_warm(s, state, command, x, &D, &end, &local)) {
        w.at = 1;
    } else {
        memcpy(x, state->x, solve_bytes(s));
        statics_drives_begin(s, state, command);
        end = solve_walk(s, &w, x, &D, &local);
    }
    if (local.status == PL_NO_MEMORY) {
        return pl_fail(err, PL_NO_MEMORY, "%s", local.text);
    }
    if (w.at >= 1 && s->has_open && solve_settle(s, x, &D, &local) != DESCENT_DONE) {
        say(report, s->stopped ? PL_STOPPED : PL_ITERATION_LIMIT,
            "the pressure on an open surface does not settle: its rim moves too easily under it");
    } else if (w.at >= 1) {
        say(report, PL_SOLVED, "equilibrium found");
    } else {
        solve_explain(s, &w, end, report);
        // leave a true equilibrium at the load that was reached, whatever ended the way
        s->finishing = true;
        statics_drives_set(s, w.at);
        D = solve_tolerance(s, true);
        memcpy(s->x_start, x, solve_bytes(s));
        if (statics_descend(s, x, &D, &local) != DESCENT_DONE ||
            !(pl_elements_bound(s->elements, x, NULL, NULL) > 0)) {
            memcpy(x, s->x_start, solve_bytes(s)); // the loosely converged state of the last increment
            statics_evaluate(s, x, s->g);
            D.residual = statics_residual(s, s->g, s->r);
            D.relative = D.residual / statics_force_scale(s);
        }
        s->finishing = false;
    }
    report->load_reached = w.at;
    solve_measure(s, x, &D, report);
    if (report->outcome == PL_SOLVED && !(report->constraint_error < 1e-8)) {
        say(report, PL_INFEASIBLE, "a target length or volume is missed by %.1e of its rest measure",
            report->constraint_error);
    }
    if (s->has_factor && s->blend == 0) {
        report->negative_count = statics_unstable(s);
    }
    solve_store(s, state, command, w.at, x);
    if (w.at >= 1) {
        solve_remember(s, state);
    }
    return PL_OK;
}
