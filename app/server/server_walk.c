// After the hand: from where the body stands to the commands requested for, in steps that each take about one
// factorisation and a few solves. Every step ends in an equilibrium, which is published at its own commands
// and from which the next one starts towards the newest request: intermediate shapes are seen and is never
// lost, however fast requests replace each other.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "server_worker.h"

// Lengths of steps, in rad of walk_change. While a hand drags each step is a shape that is seen: as short as
// moves with an old factor are, longer where the hand is far ahead. Without the derivative at its beginning a
// long step may need three times as many factorisations, and where the hand rests nothing but the end of the
// path is waited for.
#define WALK_FIRST 0.03 // while a hand drags; then between the next two, by the factorisations of the last
#define WALK_SHORT 0.01
#define WALK_LEAST 0.15  // up to which an old factor serves, so that a derivative is not taken for it
#define WALK_MOST 1.2    // also when the hand rests
#define WALK_AHEAD 8     // steps that a hand may be ahead of before they become longer
#define WALK_NEARLY 1.25 // of a step: what leaves less than the rest of this is taken as a whole
#define WALK_HOME 0.5    // of the distance: so much nearer the shape without commands must be to start there

// ---- commands in the units of the page; idle ones at the value at which an idle actuator stands
static double walk_value(const server_model *m, const double *command, int i)
{
    const server_command_view view = server_command_view_of(m, i);
    return isnan(command[i]) ? view.rest : command[i] / view.scale;
}

// The change of the commands up to `command`; false when there is none.
static bool walk_step(const server_model *m, const double *command, double *step)
{
    const double *here = pl_model_get_answer(m->model).command;
    bool any = false;

    for (int i = 0; i < m->info.command_count; ++i) {
        step[i] = walk_value(m, command, i) - walk_value(m, here, i);
        any = any || step[i] != 0;
    }

    return any;
}

// The commands (internal units) at a share of the path to `command`; a command that is idle at both ends
// stays so.
static void walk_between(const server_model *m, const double *command, double share, double *out)
{
    const double *here = pl_model_get_answer(m->model).command;
    for (int i = 0; i < m->info.command_count; ++i) {
        const double a = walk_value(m, here, i), b = walk_value(m, command, i);
        const bool idle = isnan(here[i]) && isnan(command[i]);
        out[i] = share >= 1 || idle ? command[i] : (a + share * (b - a)) * server_command_view_of(m, i).scale;
    }
}

// ---- how far a step is
// The displacement gradient G of a linear tetrahedron whose edges from its first corner are e_k and whose
// corners move by d_k against the first one: G e_k = d_k. Its size |G| / sqrt 2, which is the angle for a
// rotation and about the strain for a stretch.
static double walk_gradient(const double e[9], const double d[9])
{
    const double c[9] = {e[4] * e[8] - e[5] * e[7], e[5] * e[6] - e[3] * e[8], e[3] * e[7] - e[4] * e[6],
                         e[7] * e[2] - e[8] * e[1], e[8] * e[0] - e[6] * e[2], e[6] * e[1] - e[7] * e[0],
                         e[1] * e[5] - e[2] * e[4], e[2] * e[3] - e[0] * e[5], e[0] * e[4] - e[1] * e[3]};
    const double volume = e[0] * c[0] + e[1] * c[1] + e[2] * c[2];
    double sum = 0;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double g = (d[i] * c[j] + d[3 + i] * c[3 + j] + d[6 + i] * c[6 + j]) / volume;
            sum += g * g;
        }
    }

    return sqrt(0.5 * sum);
}

// How much the body changes with a step of the commands, to first order: the largest gradient over the
// elements, by their corners. NAN when the derivative by a command that moves is not known.
static double walk_change(server_model *m, const double *step)
{
    const pl_mesh_view view = pl_mesh_get(m->body);
    const size_t n = 3 * (size_t)view.vertex_count;
    const double *x = server_model_positions(m);
    double *dx = m->weight;
    double largest = 0;

    memset(dx, 0, n * sizeof *dx);
    for (int j = 0; j < m->info.command_count; ++j) {
        if (step[j] == 0) {
            continue;
        }
        if (!m->column || !m->known[j]) {
            return NAN;
        }
        const float *column = m->column + (size_t)j * n;
        for (size_t i = 0; i < n; ++i) {
            dx[i] += step[j] * (double)column[i];
        }
    }

    for (int32_t k = 0; k < view.element_count; ++k) {
        const int32_t *node = view.node + view.node_start[k];
        const size_t o = 3 * (size_t)node[0];
        double e[9], d[9];
        for (size_t a = 0; a < 3; ++a) {
            const size_t p = 3 * (size_t)node[a + 1];
            for (size_t i = 0; i < 3; ++i) {
                e[3 * a + i] = x[p + i] - x[o + i];
                d[3 * a + i] = dx[p + i] - dx[o + i];
            }
        }
        largest = fmax(largest, walk_gradient(e, d));
    }

    return largest;
}

// ---- choosing
// Distance of two sets of commands, in parts of their ranges; the second may be NULL: all idle.
static double walk_distance(const server_model *m, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < m->info.command_count; ++i) {
        const server_command_view view = server_command_view_of(m, i);
        const double d = walk_value(m, a, i) - (b ? walk_value(m, b, i) : view.rest);
        sum += d * d / fmax((view.high - view.low) * (view.high - view.low), 1e-300);
    }

    return sqrt(sum);
}

// Starts from the shape without commands where that is much nearer than the one at hand. With obstacles the
// shape may depend on the path, and the path of the hand is kept.
static void walk_choose_start(server_model *m, const double *command)
{
    const pl_robot *robot = pl_model_robot(m->model);
    const double *here = pl_model_get_answer(m->model).command;

    if (m->home && robot && pl_robot_obstacle_count(robot) == 0 && !m->pull.gripped &&
        walk_distance(m, command, NULL) < WALK_HOME * walk_distance(m, command, here)) {
        server_model_go_home(m);
        m->shape = 0;
        m->at_home = true;
    }
}

// The share of the path that the next step takes where the whole is a change of so many rad.
static double walk_part(const server_worker *w, const server_model *m, double change)
{
    // a hand that drags will be elsewhere after the step; one that rests is reached in equal ones
    if (!worker_drags(w)) {
        return change > WALK_MOST ? 1 / ceil(change / WALK_MOST) : 1;
    }

    const double most = fmin(WALK_MOST, fmax(m->stride, change / WALK_AHEAD));
    return change > WALK_NEARLY * most ? most / change : 1;
}

// The share of the path to `command` that the next step takes, and its `length`, rad; 1 and NAN where the
// model cannot say how far it is, and after a step that failed: the solver has its own step control.
static double walk_share(server_worker *w, server_model *m, const double *command, double *length)
{
    double step[SERVER_COMMANDS];
    *length = NAN;
    if (w->in_load || m->last_failed || m->pull.gripped || m->info.element_count < WORKER_LARGE ||
        !walk_step(m, command, step)) {
        return 1;
    }

    double change = walk_change(m, step);
    if (isnan(change)) {
        worker_tangent(w, m, true);
        change = walk_change(m, step);
    }
    if (isnan(change)) {
        return 1;
    }

    double share = walk_part(w, m, change);
    if (share * change > WALK_LEAST && (m->shape == 0 || m->column_shape != m->shape)) {
        worker_tangent(w, m, false);
        change = walk_change(m, step);
        share = walk_part(w, m, change);
    }

    *length = share * change;

    return share;
}

// A step that took no factorisation may be longer, one that took some shorter: so most take none.
static void walk_learn(server_model *m, double length)
{
    if (length > 0.7 * m->stride) {
        m->stride *= m->report.factorizations > 0 ? 0.7 : 1.15;
        m->stride = fmin(WALK_MOST, fmax(WALK_SHORT, m->stride));
    }
}

// ---- walking
bool worker_approaches(server_worker *w)
{
    const server_model *m = &w->fine;
    double request[SERVER_COMMANDS];

    pthread_mutex_lock(&w->queue->lock);
    const server_pose *pose = &w->queue->pose;
    const bool known = w->walking && w->queue->has_pose && pose->kind == SERVER_POSE_COMMANDS &&
                       pose->robot == w->robot && pose->command_count == m->info.command_count;
    for (int i = 0; known && i < m->info.command_count; ++i) {
        request[i] = pose->command[i] * server_command_view_of(m, i).scale;
    }
    pthread_mutex_unlock(&w->queue->lock);

    return known && walk_distance(m, request, w->aim) < walk_distance(m, request, w->from);
}

// A solve that was stopped stands at an equilibrium of its own commands, which is shown if it is one.
static void walk_show_stopped(server_worker *w, server_model *m)
{
    if (m->report.outcome == PL_STOPPED && m->report.load_reached > 0 && m->report.min_J > 0 &&
        m->report.negative_count == 0 && m->report.residual_relative <= POSE_LOOSE * PL_FORCE_TOLERANCE &&
        m->report.step <= POSE_LOOSE * PL_LENGTH_TOLERANCE) {
        m->report.outcome = PL_SOLVED;
        m->report.load_reached = 1;
        w->intermediate = true;
        worker_publish_brief(w, m, json_object());
    }
}

void worker_walk(server_worker *w, server_model *m, const double *command, bool preview)
{
    const size_t bytes = (size_t)m->info.command_count * sizeof *w->from;
    const worker_yield soon = preview ? WORKER_AT_ONCE : WORKER_NEVER,
                       late = preview ? WORKER_AT_ONCE : WORKER_WHEN_RESTED;

    m->stride = m->stride > 0 ? m->stride : WALK_FIRST;
    walk_choose_start(m, command);
    for (bool there = false; !there;) {
        double length;
        w->yield = soon;
        const double share = walk_share(w, m, command, &length);
        there = share >= 1;
        memcpy(w->from, pl_model_get_answer(m->model).command, bytes);
        walk_between(m, command, share, w->aim);
        w->walking = true;
        w->yield = isnan(length) ? late : soon; // to finish a short step costs less than to begin it again
        const bool ended = worker_forward(w, m, w->aim, !w->in_load);
        w->walking = false;
        if (!ended) {
            walk_show_stopped(w, m);
            break;
        }
        m->last_failed = m->report.outcome != PL_SOLVED;
        if (!there && m->last_failed) {
            continue;
        }
        ++m->moves;
        w->intermediate = !there;
        walk_learn(m, length);
        worker_publish_brief(w, m, json_object());
        if (!there && worker_overtaken(w)) {
            break;
        }
    }

    w->intermediate = false;
}
