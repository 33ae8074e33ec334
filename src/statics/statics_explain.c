// What to say when a load path ends before the full load, and where the body got stuck.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "statics/statics_impl.h"

void statics_say(pl_solve_report *report, pl_outcome outcome, const char *format, ...)
{
    va_list args;
    report->outcome = outcome;
    va_start(args, format);
    vsnprintf(report->message, sizeof report->message, format, args);
    va_end(args);
}

void statics_add(pl_solve_report *report, const char *clause)
{
    const size_t length = strlen(report->message);
    snprintf(report->message + length, sizeof report->message - length, "; %s", clause);
}

// ---- where a solve got stuck
static void place_of(const pl_statics *s, int32_t element, const double *at, pl_solve_report *report)
{
    const pl_mesh_view *m = &s->problem->mesh;
    report->has_place = true;
    report->place_element = element;
    memcpy(report->place, at, sizeof report->place);
    snprintf(report->place_region, sizeof report->place_region, "%s", m->region_name[m->region[element]]);
}

// The element with the smallest bound of J at x.
static void place_of_inversion(pl_statics *s, const double *x, pl_solve_report *report)
{
    const pl_mesh_view *m = &s->problem->mesh;
    int32_t worst = -1;
    double centre[3] = {0};

    pl_elements_bound(s->problem->elements, x, NULL, &worst);
    if (worst < 0 || worst >= m->element_count) {
        return;
    }

    const int64_t from = m->node_start[worst], to = m->node_start[worst + 1];
    for (int64_t k = from; k < to; ++k) {
        for (int i = 0; i < 3; ++i) {
            centre[i] += m->position[3 * (int64_t)m->node[k] + i] / (double)(to - from);
        }
    }

    place_of(s, worst, centre, report);
}

// The vertex where a vector of unknowns is largest, with an element it belongs to.
static void place_of_largest(pl_statics *s, const double *value, pl_solve_report *report)
{
    const pl_mesh_view *m = &s->problem->mesh;
    double largest = 0;
    int32_t vertex = -1;

    for (int32_t v = 0; v < m->vertex_count; ++v) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
            const int32_t dof = s->problem->unknowns.dof[3 * (int64_t)v + i];
            sum += dof >= 0 ? value[dof] * value[dof] : 0;
        }
        if (sum > largest) {
            largest = sum;
            vertex = v;
        }
    }

    for (int64_t k = 0; vertex >= 0 && k < m->node_start[m->element_count]; ++k) {
        if (m->node[k] == vertex) {
            int32_t element = 0;
            while (m->node_start[element + 1] <= k) {
                ++element;
            }
            place_of(s, element, m->position + 3 * (int64_t)vertex, report);
            return;
        }
    }
}

// Writes the place into the message, after the load it names.
static void explain_say_place(pl_solve_report *report)
{
    static const char load[] = "% of the load";
    const char *after = strstr(report->message, load);

    if (report->has_place && after) {
        char rest[sizeof report->message];
        const size_t at = (size_t)(after - report->message) + sizeof load - 1;
        snprintf(rest, sizeof rest, "%s", report->message + at);
        snprintf(report->message + at, sizeof report->message - at, " at %.4g, %.4g, %.4g mm in region %s%s",
                 pl_tidy(report->place[0]), pl_tidy(report->place[1]), pl_tidy(report->place[2]),
                 report->place_region, rest);
    }
}

// Finds the place for an outcome: inverted elements at the last trial, the largest residual force otherwise.
static void explain_place(pl_statics *s, pl_solve_report *report)
{
    if (report->outcome == PL_INVERTED) {
        place_of_inversion(s, s->newton.work.x_best, report);
    } else if (report->outcome == PL_ITERATION_LIMIT || report->outcome == PL_STEP_LIMIT) {
        if (isfinite(pl_problem_evaluate(s->problem, s->newton.work.x_best, s->newton.work.g_new))) {
            pl_problem_residual(s->problem, s->newton.work.g_new, s->newton.work.y);
            place_of_largest(s, s->newton.work.y, report);
        } else {
            place_of_inversion(s, s->newton.work.x_best, report);
        }
    }
    explain_say_place(report);
}

// Why contacts at the last load do not come to rest.
void statics_explain_touch(pl_statics *s, pl_solve_report *report)
{
    if (s->newton.watch.stopped) {
        statics_say(report, PL_STOPPED, "interrupted while contacts were updated");
    } else if (s->problem->loose && s->problem->loose_alone) {
        statics_say(report, PL_INFEASIBLE, "the free body '%s' is not held: nothing touches it",
                    s->problem->loose);
    } else if (s->problem->loose) {
        statics_say(
            report, PL_UNCERTAIN,
            "no equilibrium was found in which the free body '%s' is held: it slips, rolls or falls, or "
            "the contacts did not converge (it moved by %.3g mm in the last update)",
            s->problem->loose, s->problem->loose_travel);
    } else {
        statics_say(report, PL_ITERATION_LIMIT,
                    "the contacts do not converge: gaps and pressures are not complementary");
    }
}

bool statics_examine_contact(pl_statics *s, const double *x, pl_solve_report *report)
{
    const pl_contact_fault fault = pl_problem_examine(s->problem, x);
    report->coarse_contact = fault.coarse;
    report->coarse_edge = fault.coarse_edge;
    report->coarse_width = fault.coarse_width;
    if (fault.obstacle) {
        report->outcome = PL_PENETRATING;
        pl_contact_fault_text(&fault, report->message, sizeof report->message);
    } else if (fault.caught && report->outcome == PL_SOLVED) {
        statics_say(
            report, PL_UNCERTAIN,
            "the free body '%s' may slip: %.2g N of the %.2g N that it bears are carried by normals of "
            "single points which the faces below do not have; a finer mesh there tells",
            fault.caught, fault.caught_force, fault.load);
    }

    return fault.obstacle != NULL;
}

void statics_explain(pl_statics *s, const load_path *path, pl_solve_report *report)
{
    const double percent = 100 * path->at;
    double penetration = 0;

    s->problem->slips = NULL;
    if (s->robot->contact.free_count > 0) {
        pl_problem_set(s->problem, path->at);
        pl_problem_complementarity_error(s->problem, s->x, &penetration);
    }

    if (s->newton.watch.stopped) {
        statics_say(report, PL_STOPPED, "interrupted at %.1f %% of the load", percent);
    } else if (s->newton.watch.late) {
        statics_say(report, PL_ITERATION_LIMIT, "the time limit of %g s was reached at %.1f %% of the load",
                    s->options.time_limit, percent);
    } else if (s->newton.iterations >= s->options.iteration_limit) {
        statics_say(report, PL_ITERATION_LIMIT,
                    "the iteration limit of %d was reached at %.1f %% of the load", s->newton.iterations,
                    percent);
    } else if (s->increments >= s->options.increment_limit) {
        statics_say(report, PL_STEP_LIMIT,
                    "the limit of %d load increments was reached at %.1f %% of the load", s->increments,
                    percent);
    } else if (s->problem->slips) {
        statics_say(
            report, PL_UNCERTAIN,
            "no equilibrium was found beyond %.1f %% of the load: the friction of the free body '%s' is "
            "nearly used up there, and it may slip",
            percent, s->problem->slips);
    } else if (path->last == STEP_INFEASIBLE) {
        statics_say(
            report, PL_INFEASIBLE,
            "no equilibrium found beyond %.1f %% of the load: a prescribed length or volume was not met",
            percent);
    } else if (path->last == STEP_INVERTED) {
        statics_say(
            report, PL_INVERTED,
            "no equilibrium found beyond %.1f %% of the load: elements are inverted in every trial shape "
            "(the mesh may be too coarse there, or the load more than the material can carry)",
            percent);
    } else {
        statics_say(report, path->last == STEP_LIMIT ? PL_ITERATION_LIMIT : PL_STEP_LIMIT,
                    "no equilibrium found beyond %.1f %% of the load, even with the smallest increment",
                    percent);
    }

    if (s->increments > 0) {
        explain_place(s, report);
    }
}

void statics_explain_critical(pl_statics *s, const statics_critical *c, pl_solve_report *report)
{
    if (!c->found) {
        return;
    }
    report->has_place = false;
    if (c->bifurcation) {
        statics_say(report, PL_STEP_LIMIT,
                    "the body buckles at %.2f %% of the load, and no stable shape was found beyond",
                    100 * c->load);
    } else {
        statics_say(
            report, PL_LIMIT_POINT,
            "equilibrium ends at %.2f %% of the load (a limit point: the body would snap or balloon); "
            "drive it by volume or length to pass it",
            100 * c->load);
    }

    place_of_largest(s, s->stability.mode, report);
    explain_say_place(report);
}
