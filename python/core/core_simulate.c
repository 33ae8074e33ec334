// Motions of a Model in time.
#include <pliant/simulation.h>
#include <stdio.h>
#include "core.h"

// Rows of numbers that grow.
typedef struct simulate_rows {
    double *value;
    Py_ssize_t count, room, width;
} simulate_rows;

typedef struct simulate_run {
    core_model *m;
    pl_model_info info;
    simulate_rows row, shape;
    bool shapes, no_memory;
} simulate_run;

static double *rows_next(simulate_rows *r)
{
    if (r->count == r->room) {
        const Py_ssize_t room = 2 * r->room + 64;
        double *larger = realloc(r->value, (size_t)(room * r->width + 1) * sizeof *larger);
        if (!larger) {
            return NULL;
        }
        r->value = larger;
        r->room = room;
    }

    return r->value + r->width * r->count++;
}

static double *simulate_put(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
    return to + count;
}

// time, commands, markers, velocities, efforts, sensors, energies
static bool simulate_row(void *user, const pl_motion_row *row)
{
    simulate_run *s = user;
    const pl_model_info *i = &s->info;
    double *to = rows_next(&s->row);

    if (!to) {
        s->no_memory = true;
        return false;
    }

    to = simulate_put(to, &row->time, 1);
    to = simulate_put(to, row->answer->command, i->command_count);
    to = simulate_put(to, row->answer->marker, 3 * i->marker_count);
    to = simulate_put(to, row->velocity, 3 * i->marker_count);
    to = simulate_put(to, row->answer->effort, i->actuator_count);
    to = simulate_put(to, row->answer->sensor, i->sensor_count);
    const pl_motion_energy *e = &row->energy;
    const double energy[7] = {e->kinetic,   e->elastic, e->viscous,  e->damped,
                              e->actuators, e->loads,   e->imbalance};
    simulate_put(to, energy, 7);

    if (s->shapes) {
        double *shape = rows_next(&s->shape);
        if (!shape) {
            s->no_memory = true;
            return false;
        }

        pl_model_shape(s->m->model, shape);
    }

    return true;
}

// What the commands are asked to be: (command, "ramp", t, duration, to), (command, "sine", t, mean,
// amplitude, frequency), (command, "table", times, values), (command, "follow", rate, fill, vent).
static bool simulate_asked(pl_schedule *schedule, PyObject *list, int count)
{
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    if (n < 0) {
        PyErr_SetString(PyExc_TypeError, "simulate: expected a list of what is asked");
        return false;
    }

    for (Py_ssize_t k = 0; k < n; ++k) {
        PyObject *item = PyList_GetItem(list, k), *a = NULL, *b = NULL, *c = NULL, *d = NULL;
        int command;
        const char *kind;
        pl_error err = {0};
        pl_status status = PL_OK;
        if (!CORE_ITEM(item, "isO|OOO", &command, &kind, &a, &b, &c, &d)) {
            return false;
        }
        if (command < 0 || command >= count) {
            PyErr_SetString(PyExc_IndexError, "simulate: no such command");
            return false;
        }

        if (strcmp(kind, "table") == 0) {
            core_numbers time = {0}, value = {0};
            if (!b || !core_numbers_get(a, 'd', -1, "times", &time)) {
                return false;
            }
            if (!core_numbers_get(b, 'd', time.count, "values", &value)) {
                core_numbers_release(&time);
                return false;
            }

            status = pl_schedule_table(schedule, command, time.data, value.data, 1, (int)time.count, &err);
            core_numbers_release(&time);
            core_numbers_release(&value);
        } else {
            PyObject *given[4] = {a, b, c, d};
            double v[4] = {0};
            for (int i = 0; i < 4 && given[i]; ++i) {
                v[i] = PyFloat_AsDouble(given[i]);
            }
            if (PyErr_Occurred()) {
                return false;
            }
            status =
                strcmp(kind, "sine") == 0 ? pl_schedule_sine(schedule, command, v[0], v[1], v[2], v[3], &err)
                : strcmp(kind, "follow") == 0 ? pl_schedule_follow(schedule, command, v[0], v[1], v[2], &err)
                                              : pl_schedule_ramp(schedule, command, v[0], v[1], v[2], &err);
        }

        if (status != PL_OK) {
            core_raise(status, &err, NULL);
            return false;
        }
    }

    return true;
}

static PyObject *simulate_result(simulate_run *s, pl_simulation *simulation, const pl_motion_report *r)
{
    const size_t size = pl_state_pack(pl_simulation_state(simulation), NULL, 0);
    void *block;
    PyObject *state = core_array_new('d', (Py_ssize_t)size, 0, &block);

    if (!state) {
        return NULL;
    }
    pl_state_pack(pl_simulation_state(simulation), block, size);

    return Py_BuildValue(
        "{s:s,s:s,s:d,s:i,s:i,s:i,s:i,s:d,s:d,s:N,s:N,s:N}", "outcome", pl_motion_outcome_name(r->outcome),
        "message", r->message, "time", r->time, "steps", r->steps, "rejected", r->rejected, "factorizations",
        r->factorizations, "solves", r->solves, "smallest_step", r->smallest_step, "seconds", r->seconds,
        "rows", core_array_copy(s->row.value, s->row.count, s->row.width), "shapes",
        core_array_copy(s->shape.value, s->shapes ? s->shape.count : 0, s->shapes ? s->shape.width : 1),
        "state", state);
}

typedef struct simulate_given {
    const char *start;
    PyObject *block, *asked;
    double until, every, load_ramp;
    core_numbers force;
} simulate_given;

static PyObject *simulate_work(simulate_run *s, const simulate_given *g, const pl_dynamics_options *options)
{
    core_model *m = s->m;
    pl_error err = {0};
    pl_simulation *simulation = NULL;
    pl_schedule *schedule = NULL;
    pl_motion_report report = {0};
    core_numbers block = {0};
    PyObject *out = NULL;
    pl_status status;

    CORE_RUN(m, status = pl_simulation_create(m->model, options, &simulation, &err));
    if (status == PL_OK && strcmp(g->start, "state") == 0) {
        if (!core_numbers_get(g->block, 'd', -1, "state", &block)) {
            pl_simulation_destroy(simulation);
            return NULL;
        }

        status = pl_simulation_from_state(simulation, block.data, (size_t)block.count, &err);
        core_numbers_release(&block);
    } else if (status == PL_OK && strcmp(g->start, "undeformed") == 0) {
        pl_simulation_from_rest(simulation);
    } else if (status == PL_OK) {
        status = pl_simulation_from_model(simulation, &err);
    }

    if (status == PL_OK) {
        status = pl_schedule_create(s->info.command, s->info.command_count, pl_simulation_begin(simulation),
                                    pl_state_commands(pl_simulation_state(simulation)), &schedule, &err);
    }

    bool good = status == PL_OK && simulate_asked(schedule, g->asked, s->info.command_count);
    if (good) {
        pl_schedule_load_ramp(schedule, g->load_ramp);
        CORE_RUN(m, status = pl_simulation_run(simulation, schedule, g->force.data, g->until, g->every,
                                               simulate_row, s, &report, &err));
        good = status == PL_OK;
    }

    if (s->no_memory) {
        PyErr_NoMemory();
    } else if (good) {
        out = simulate_result(s, simulation, &report);
    } else if (!PyErr_Occurred() && !core_pending(m)) {
        core_raise(status, &err, NULL);
    }

    pl_schedule_destroy(schedule);
    pl_simulation_destroy(simulation);

    return out;
}

// simulate(start, block, asked, until, every, tolerance, step, first_step, damping, masses, hang, forces,
// load_ramp, shapes, callback)
PyObject *core_model_simulate(PyObject *self, PyObject *args)
{
    simulate_run s = {.m = (core_model *)self};
    simulate_given g = {0};
    PyObject *masses, *forces, *callback, *out = NULL;
    pl_dynamics_options options = pl_dynamics_options_default();
    int hang, shapes;

    if (!PyArg_ParseTuple(args, "sOOddddddOpOdpO:simulate", &g.start, &g.block, &g.asked, &g.until, &g.every,
                          &options.tolerance, &options.step, &options.first_step, &options.mass_damping,
                          &masses, &hang, &forces, &g.load_ramp, &shapes, &callback)) {
        return NULL;
    }

    s.info = pl_model_get_info(s.m->model);
    s.shapes = shapes;
    options.masses_hang = hang;
    options.progress = s.m->progress;
    if (options.first_step > 0) {
        const double halvings = round(log2(options.largest_step / options.first_step));
        options.largest_step = ldexp(options.first_step, (int)fmax(0, halvings));
    }

    const pl_model_info *i = &s.info;
    s.row.width =
        1 + i->command_count + 6 * (Py_ssize_t)i->marker_count + i->actuator_count + i->sensor_count + 7;
    const pl_mesh *body = NULL;
    pl_error err = {0};
    const bool drawn = pl_model_body(s.m->model, &body, &err) == PL_OK && body;
    s.shapes = s.shapes && drawn;
    s.shape.width = drawn ? 3 * (Py_ssize_t)pl_mesh_get(body).vertex_count : 1;
    core_numbers mass = {0};
    if (core_numbers_get(masses, 'd', i->marker_count, "masses", &mass) &&
        core_numbers_get(forces, 'd', 3 * (Py_ssize_t)i->marker_count, "forces", &g.force) &&
        core_enter(s.m, callback)) {
        options.marker_mass = mass.data;
        out = simulate_work(&s, &g, &options);
        core_leave(s.m);
    }

    core_numbers_release(&mass);
    core_numbers_release(&g.force);
    free(s.row.value);
    free(s.shape.value);

    return out;
}

PyObject *core_model_gravity(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_robot *robot = pl_model_robot(((core_model *)self)->model);
    double g[3] = {0};
    if (robot) {
        pl_robot_gravity(robot, g);
    }

    return Py_BuildValue("(ddd)", g[0], g[1], g[2]);
}
