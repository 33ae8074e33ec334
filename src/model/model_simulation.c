// Motions of a model in time, row by row. The integrator chooses its own steps; rows are evaluated inside the
// last step, at equal intervals, with the model at the interpolated state.
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "dynamics/dynamics.h"
#include "pliant/simulation.h"
#include "robot/robot_def.h"

// Commands of the frame in progress: linear between its ends.
typedef struct simulation_live {
    double begin, end;
    double *from, *to, *force; // per command, per command, 3 per marker
    pl_model_answer answer;
} simulation_live;

// One motion; the state is where it has arrived.
struct pl_simulation {
    pl_model *model;
    const pl_robot *robot;
    pl_dynamics *dynamics;
    pl_state *state, *row_state; // of the motion; of the row being evaluated
    size_t size;                 // numbers of the model's state
    double *block;               // of the model's state
    double *velocity;            // mm/s, 3 per vertex
    double *moved;               // mm, 3 per vertex
    double *speed;               // mm/s, 3 per marker
    double *reading;             // of the row; those of contacts belong to the end of its step
    bool touches;                // there are some of contacts
    int64_t full;                // 3 per vertex
    // of the run in progress
    bool (*row)(void *user, const pl_motion_row *row);
    void *user;
    double begin, next, until, every; // s: start, next row, end, interval
    int rows;
    pl_motion_energy before, now; // at the ends of the last step
    double before_time;           // s, start of the last step
    bool stopped;
    simulation_live live;
    pl_status status; // of a row that failed
    pl_error err;
};

static bool simulation_of_contact(const pl_reading_info *info)
{
    return strcmp(info->group, "contacts") == 0;
}

// Only the full body with the exact method has masses. The model must outlive the
// simulation; its state follows the rows.
pl_status pl_simulation_create(pl_model *model, const pl_dynamics_options *options, pl_simulation **out,
                               pl_error *err)
{
    *out = NULL;
    const pl_robot *robot = pl_model_robot(model);
    const pl_model_info info = pl_model_get_info(model);

    if (!robot || strcmp(info.method, "exact") != 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "motions in time need a full body with the exact method, this robot is '%s'",
                       info.method);
    }

    pl_simulation *s = PL_NEW(pl_simulation);
    if (!s) {
        return pl_fail_memory(err, "simulation");
    }
    s->model = model;
    s->robot = robot;
    for (int i = 0; i < info.reading_count; ++i) {
        s->touches = s->touches || simulation_of_contact(&info.reading[i]);
    }

    // states and arrays, then the integrator
    pl_status status = pl_state_create(robot, &s->state, err);
    status = status == PL_OK ? pl_state_create(robot, &s->row_state, err) : status;
    if (status == PL_OK) {
        s->full = 3 * (int64_t)pl_state_vertex_count(s->state);
        s->size = pl_model_state_size(model);
        s->block = PL_NEW_ARRAY(double, s->size + 1);
        s->velocity = PL_NEW_ARRAY(double, s->full);
        s->moved = PL_NEW_ARRAY(double, s->full);
        s->speed = PL_NEW_ARRAY(double, 3 * info.marker_count + 1);
        s->reading = PL_NEW_ARRAY(double, info.reading_count + 1);
        s->live.from = PL_NEW_ARRAY(double, 2 * info.command_count + 1);
        s->live.force = PL_NEW_ARRAY(double, 3 * info.marker_count + 1);
        const bool ok =
            s->block && s->velocity && s->moved && s->speed && s->reading && s->live.from && s->live.force;
        status =
            ok ? pl_dynamics_create(robot, options, &s->dynamics, err) : pl_fail_memory(err, "simulation");
    }

    if (status != PL_OK) {
        pl_simulation_destroy(s);
        return status;
    }

    *out = s;

    return PL_OK;
}

void pl_simulation_destroy(pl_simulation *s)
{
    if (!s) {
        return;
    }
    pl_dynamics_destroy(s->dynamics);
    pl_state_destroy(s->state);
    pl_state_destroy(s->row_state);
    pl_free(s->block);
    pl_free(s->velocity);
    pl_free(s->moved);
    pl_free(s->speed);
    pl_free(s->reading);
    pl_free(s->live.from);
    pl_free(s->live.force);
    pl_free(s);
}

// ---- where it begins
pl_status pl_simulation_from_model(pl_simulation *s, pl_error *err)
{
    pl_model_pack(s->model, s->block);
    return pl_state_unpack(s->state, s->block, s->size, err);
}

void pl_simulation_from_rest(pl_simulation *s)
{
    pl_state_reset(s->state, s->robot);
}

pl_status pl_simulation_from_state(pl_simulation *s, const double *block, size_t count, pl_error *err)
{
    return pl_state_unpack(s->state, block, count, err);
}

pl_state *pl_simulation_state(pl_simulation *s)
{
    return s->state;
}

double pl_simulation_begin(const pl_simulation *s)
{
    return pl_state_time(s->state);
}

// ---- rows
// The model at the state of the row.
static pl_status simulation_to_model(pl_simulation *s, pl_error *err)
{
    pl_state_pack(s->row_state, s->block, s->size);
    return pl_model_unpack(s->model, s->block, s->size, err);
}

// Positions of the markers are those of the model at the state; velocities by a difference along the velocity
// of the body, over a small part of its size.
static pl_status simulation_answer(pl_simulation *s, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(s->model);
    const int M = 3 * info.marker_count;
    const double *x = pl_state_positions(s->row_state);
    double largest = 0;

    for (int64_t i = 0; i < s->full; ++i) {
        largest = fmax(largest, fabs(s->velocity[i]));
    }

    const double ahead = largest > 0 ? 1e-5 * info.size / largest : 0;

    // the state a moment later, with x stored in the array of the velocity
    for (int64_t i = 0; i < s->full; ++i) {
        s->moved[i] = x[i] + ahead * s->velocity[i];
        s->velocity[i] = x[i]; // kept
    }

    pl_state_set_positions(s->row_state, s->moved);
    pl_status status = simulation_to_model(s, err);
    for (int k = 0; status == PL_OK && k < M; ++k) {
        s->speed[k] = pl_model_get_answer(s->model).marker[k];
    }

    // and at the row itself, where the model stays
    pl_state_set_positions(s->row_state, s->velocity);
    status = status == PL_OK ? simulation_to_model(s, err) : status;
    for (int k = 0; status == PL_OK && k < M; ++k) {
        s->speed[k] = ahead > 0 ? (s->speed[k] - pl_model_get_answer(s->model).marker[k]) / ahead : 0;
    }

    return status;
}

// Energies at t, interpolated linearly within the last step.
static pl_motion_energy simulation_energy(const pl_simulation *s, double t)
{
    const double h = pl_dynamics_time(s->dynamics) - s->before_time, w = h > 0 ? (t - s->before_time) / h : 1;
    const pl_motion_energy *a = &s->before, *b = &s->now;
    return (pl_motion_energy){.kinetic = a->kinetic + w * (b->kinetic - a->kinetic),
                              .elastic = a->elastic + w * (b->elastic - a->elastic),
                              .viscous = a->viscous + w * (b->viscous - a->viscous),
                              .damped = a->damped + w * (b->damped - a->damped),
                              .actuators = a->actuators + w * (b->actuators - a->actuators),
                              .loads = a->loads + w * (b->loads - a->loads),
                              .imbalance = a->imbalance + w * (b->imbalance - a->imbalance)};
}

// What contacts exert belongs to the shape at the end of a step: what friction remembers does, too.
static pl_status simulation_contacts(pl_simulation *s, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(s->model);
    pl_status status =
        pl_dynamics_sample(s->dynamics, pl_dynamics_time(s->dynamics), s->row_state, s->velocity, err);
    status = status == PL_OK ? simulation_to_model(s, err) : status;
    if (status == PL_OK) {
        memcpy(s->reading, pl_model_get_answer(s->model).reading,
               (size_t)info.reading_count * sizeof *s->reading);
    }
    return status;
}

// Evaluates a row and passes it on; a failure ends the motion through s->status.
static void simulation_row(pl_simulation *s, double t)
{
    s->status = s->touches ? simulation_contacts(s, &s->err) : PL_OK;
    if (s->status == PL_OK) {
        s->status = pl_dynamics_sample(s->dynamics, t, s->row_state, s->velocity, &s->err);
    }
    s->status = s->status == PL_OK ? simulation_answer(s, &s->err) : s->status;
    if (s->status != PL_OK) {
        return;
    }

    const pl_model_info info = pl_model_get_info(s->model);
    pl_model_answer answer = pl_model_get_answer(s->model);
    for (int i = 0; s->touches && i < info.reading_count; ++i) {
        s->reading[i] = simulation_of_contact(&info.reading[i]) ? s->reading[i] : answer.reading[i];
    }
    answer.reading = s->touches ? s->reading : answer.reading;
    const pl_motion_row row = {
        .time = t, .answer = &answer, .velocity = s->speed, .energy = simulation_energy(s, t)};
    s->stopped = !s->row(s->user, &row);
    s->rows++;

    // the last row is the end, also where it is no multiple of the time between rows
    const double next = s->begin + s->rows * s->every;
    s->next = next <= s->until * (1 + 1e-9) || t >= s->until * (1 - 1e-9) ? next : s->until;
}

// All rows within the last step; false stops the integrator. The factors allow for rounding of the row times.
static bool simulation_each(void *user)
{
    pl_simulation *s = user;
    const double now = pl_dynamics_time(s->dynamics);

    s->before = s->now;
    s->now = pl_dynamics_energy(s->dynamics);
    while (s->status == PL_OK && !s->stopped && s->next <= now * (1 + 1e-12) &&
           s->next <= s->until * (1 + 1e-9)) {
        simulation_row(s, fmin(s->next, now));
    }

    s->before_time = now;

    return s->status == PL_OK && !s->stopped;
}

// `row` returns false to stop. The state is stored at the end, so that a further run continues from there.
pl_status pl_simulation_run(pl_simulation *s, pl_schedule *schedule, const double *force, double until,
                            double every, bool (*row)(void *user, const pl_motion_row *row), void *user,
                            pl_motion_report *report, pl_error *err)
{
    // a new run
    s->row = row;
    s->user = user;
    s->begin = pl_state_time(s->state);
    s->until = until;
    s->every = every;
    s->rows = 0;
    s->stopped = false;
    s->status = PL_OK;
    s->err = (pl_error){0};
    if (!(until > s->begin) || !(every > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "the motion is to end at %g s, the state is at %g s already", until,
                       s->begin);
    }

    pl_status status = pl_schedule_prepare(schedule, until, err);
    const pl_signal signal = pl_schedule_signal(schedule);
    status = status == PL_OK ? pl_dynamics_start(s->dynamics, s->state, &signal, err) : status;
    if (status != PL_OK) {
        return status;
    }

    // the first row is the start, before forces act
    s->before = s->now = pl_dynamics_energy(s->dynamics);
    s->before_time = s->begin;
    simulation_row(s, s->begin);
    if (force) {
        pl_dynamics_set_forces(s->dynamics, force);
    }

    // advance; an error of a row is reported rather than the interruption it caused
    if (s->status == PL_OK) {
        status = pl_dynamics_advance(s->dynamics, until, simulation_each, s, report, err);
    }

    if (s->status != PL_OK) {
        if (err) {
            *err = s->err;
        }
        return s->status;
    }

    return status == PL_OK ? pl_dynamics_store(s->dynamics, s->state, err) : status;
}

// ---- live
static void live_command(void *user, double t, double *command)
{
    const pl_simulation *s = user;
    const simulation_live *l = &s->live;
    const int count = pl_model_get_info(s->model).command_count;
    const double part = l->end > l->begin ? fmin(1, fmax(0, (t - l->begin) / (l->end - l->begin))) : 1;

    for (int c = 0; c < count; ++c) {
        command[c] = isnan(l->from[c]) ? l->to[c] : l->from[c] + part * (l->to[c] - l->from[c]);
    }
}

static double live_corner(void *user, double t)
{
    const simulation_live *l = &((const pl_simulation *)user)->live;
    return l->end > t + 1e-9 * (l->end - l->begin) ? l->end : INFINITY;
}

static void live_force(void *user, double t, double *force)
{
    (void)t;
    const pl_simulation *s = user;
    memcpy(force, s->live.force, 3 * (size_t)pl_model_get_info(s->model).marker_count * sizeof *force);
}

pl_status pl_simulation_start(pl_simulation *s, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(s->model);
    simulation_live *l = &s->live;

    l->to = l->from + info.command_count;
    l->begin = l->end = pl_state_time(s->state);
    memcpy(l->from, pl_state_commands(s->state), (size_t)info.command_count * sizeof *l->from);
    memcpy(l->to, l->from, (size_t)info.command_count * sizeof *l->to);
    memcpy(l->force, pl_state_forces(s->state), 3 * (size_t)info.marker_count * sizeof *l->force);
    const pl_signal signal = {.command = live_command, .corner = live_corner, .force = live_force, .user = s};

    return pl_dynamics_start(s->dynamics, s->state, &signal, err);
}

// Where the hardware is after `duration`, from y: a first-order lag, and no faster than its rate.
static double live_follow(const pl_command_info *c, double y, double asked, double duration)
{
    const double tau = asked > y ? c->fill : c->vent;
    double to = tau > 0 ? asked + (y - asked) * exp(-duration / tau) : asked;
    const double most = c->rate > 0 ? c->rate * duration : INFINITY;
    to = fmin(y + most, fmax(y - most, to));
    return to;
}

pl_status pl_simulation_advance(pl_simulation *s, const double *command, const double *force, double duration,
                                pl_motion_row *row, pl_motion_report *report, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(s->model);
    simulation_live *l = &s->live;

    if (!l->to || !(duration > 0) || isinf(duration)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "a live motion is started before it is advanced by a positive time");
    }

    l->begin = pl_dynamics_time(s->dynamics);
    l->end = l->begin + duration;
    for (int c = 0; c < info.command_count; ++c) {
        const bool idle = isnan(command[c]) || isnan(l->to[c]);
        const double rest = isnan(l->to[c]) ? info.command[c].rest : l->to[c];
        l->from[c] = isnan(command[c]) ? NAN : rest;
        l->to[c] = isnan(command[c]) ? NAN : live_follow(&info.command[c], rest, command[c], duration);
        l->from[c] = idle && !isnan(command[c]) ? info.command[c].rest : l->from[c];
    }

    memset(l->force, 0, 3 * (size_t)info.marker_count * sizeof *l->force);
    if (force) {
        memcpy(l->force, force, 3 * (size_t)info.marker_count * sizeof *l->force);
    }

    pl_status status = pl_dynamics_advance(s->dynamics, l->end, NULL, NULL, report, err);
    const double now = pl_dynamics_time(s->dynamics);
    status = status == PL_OK ? pl_dynamics_store(s->dynamics, s->state, err) : status;
    status = status == PL_OK ? pl_dynamics_sample(s->dynamics, now, s->row_state, s->velocity, err) : status;
    status = status == PL_OK ? simulation_answer(s, err) : status;
    if (status == PL_OK && row) {
        l->answer = pl_model_get_answer(s->model);
        *row = (pl_motion_row){.time = now,
                               .answer = &l->answer,
                               .velocity = s->speed,
                               .energy = pl_dynamics_energy(s->dynamics)};
    }

    return status;
}

pl_status pl_simulation_grip(pl_simulation *s, const double at[3], double radius, pl_error *err)
{
    const pl_status status = pl_dynamics_grip(s->dynamics, at, radius, err);
    return status == PL_OK ? pl_model_grip(s->model, at, radius, err) : status;
}

void pl_simulation_pull(pl_simulation *s, const double force[3])
{
    pl_dynamics_pull(s->dynamics, force);
}
