// All that changes: positions, commands, efforts, motion, and what parts of the model remember. For files a
// state is one block of doubles:
//   version, size of the block, robot hash (high and low 32 bits), vertex, command, actuator and marker
//   counts, load, time, number of velocities (0: at rest) and of histories, x (3 per vertex), command,
//   multiplier, active, force (3 per marker), velocity, per history that is not empty its kind, its size and
//   its numbers.
#include "robot/robot_impl.h"

#define STATE_HEADER 12 // numbers before the arrays

// Histories by name; those of every state have a size that the robot gives, the others come with a motion.
static const struct {
    const char *name;
    int64_t (*count)(const pl_robot *robot);
} STATE_HISTORY[PL_STATE_COUNT] = {
    [PL_STATE_CONTACT] = {"contact", pl_robot_contact_numbers},
    [PL_STATE_TENSION] = {"tension", pl_robot_tension_count},
    [PL_STATE_VISCOUS] = {"viscous", NULL},
    [PL_STATE_ACCELERATION] = {"acceleration", NULL},
    [PL_STATE_SOFTENING] = {"softening", NULL},
};

const char *pl_state_part_name(pl_state_part kind)
{
    return STATE_HISTORY[kind].name;
}

pl_status pl_state_create(const pl_robot *robot, pl_state **out, pl_error *err)
{
    if (!robot || !out) {
        return pl_fail(err, PL_BAD_INPUT, "state: robot and the result pointer must not be NULL");
    }
    *out = NULL;
    pl_state *s = PL_NEW(pl_state);
    if (!s) {
        return pl_fail_memory(err, "the state");
    }

    // sizes first, then memory
    s->robot_hash = robot->hash;
    s->vertex_count = pl_mesh_get(robot->mesh).vertex_count;
    s->command_count = robot->command_count;
    s->actuator_count = robot->actuator_count;
    s->marker_count = robot->marker_count;
    s->x = PL_NEW_ARRAY(double, 3 * (int64_t)s->vertex_count);
    s->command = PL_NEW_ARRAY(double, s->command_count);
    s->multiplier = PL_NEW_ARRAY(double, s->actuator_count);
    s->active = PL_NEW_ARRAY(double, s->actuator_count);

    // one force more: where a hand pulls at the body
    s->force = PL_NEW_ARRAY(double, 3 * ((int64_t)s->marker_count + 1));
    bool complete = s->x && s->command && s->multiplier && s->active && s->force;
    for (int k = 0; k < PL_STATE_COUNT; ++k) {
        const int64_t count = STATE_HISTORY[k].count ? STATE_HISTORY[k].count(robot) : 0;
        complete = complete && pl_state_set_part(s, (pl_state_part)k, NULL, count) == PL_OK;
    }
    if (!complete) {
        pl_state_destroy(s);
        return pl_fail_memory(err, "the state");
    }

    pl_state_reset(s, robot);
    *out = s;

    return PL_OK;
}

void pl_state_destroy(pl_state *state)
{
    if (!state) {
        return;
    }
    pl_free(state->x);
    pl_free(state->command);
    pl_free(state->multiplier);
    pl_free(state->active);
    pl_free(state->force);
    pl_free(state->velocity);
    for (int k = 0; k < PL_STATE_COUNT; ++k) {
        pl_free(state->history[k].value);
    }
    pl_free(state);
}

// Of the same robot, with the same sizes.
static bool state_alike(const pl_state *a, const pl_state *b)
{
    return a->robot_hash == b->robot_hash && a->vertex_count == b->vertex_count &&
           a->command_count == b->command_count && a->actuator_count == b->actuator_count &&
           a->marker_count == b->marker_count;
}

// ---- motion and histories
// `*own` gets `count` numbers: those of `from`, or 0.
static pl_status state_fill(double **own, int64_t *own_count, const double *from, int64_t count)
{
    if (count != *own_count) {
        double *fresh = count > 0 ? PL_NEW_ARRAY(double, count) : NULL;
        if (count > 0 && !fresh) {
            return PL_NO_MEMORY;
        }
        pl_free(*own);
        *own = fresh;
        *own_count = count;
    }

    if (count > 0 && from) {
        memcpy(*own, from, (size_t)count * sizeof *from);
    } else if (count > 0) {
        memset(*own, 0, (size_t)count * sizeof **own);
    }

    return PL_OK;
}

pl_status pl_state_set_part(pl_state *state, pl_state_part kind, const double *value, int64_t count)
{
    pl_state_block *h = &state->history[kind];
    return state_fill(&h->value, &h->count, value, count);
}

pl_status pl_state_set_motion(pl_state *state, double time, const double *velocity)
{
    int64_t count = state->velocity ? 3 * (int64_t)state->vertex_count : 0;
    state->time = time;
    return state_fill(&state->velocity, &count, velocity, 3 * (int64_t)state->vertex_count);
}

void pl_state_rest(pl_state *state)
{
    pl_free(state->velocity);
    state->velocity = NULL;
    state->time = 0;
    for (int k = 0; k < PL_STATE_COUNT; ++k) {
        if (!STATE_HISTORY[k].count) {
            pl_state_set_part(state, (pl_state_part)k, NULL, 0);
        }
    }
}

bool pl_state_has_motion(const pl_state *state)
{
    return state->velocity;
}

// s, 0 at rest.
double pl_state_time(const pl_state *state)
{
    return state->time;
}

pl_status pl_state_copy(pl_state *to, const pl_state *from)
{
    if (!to || !from || !state_alike(to, from)) {
        return PL_BAD_INPUT;
    }
    if (to == from) {
        return PL_OK;
    }
    memcpy(to->x, from->x, 3 * (size_t)from->vertex_count * sizeof *to->x);
    memcpy(to->command, from->command, (size_t)from->command_count * sizeof *to->command);
    memcpy(to->multiplier, from->multiplier, (size_t)from->actuator_count * sizeof *to->multiplier);
    memcpy(to->active, from->active, (size_t)from->actuator_count * sizeof *to->active);
    memcpy(to->force, from->force, 3 * ((size_t)from->marker_count + 1) * sizeof *to->force);
    to->load = from->load;

    pl_status status = PL_OK;
    if (from->velocity) {
        status = pl_state_set_motion(to, from->time, from->velocity);
    } else {
        pl_state_rest(to);
    }
    for (int k = 0; status == PL_OK && k < PL_STATE_COUNT; ++k) {
        const pl_state_block *h = &from->history[k];
        status = pl_state_set_part(to, (pl_state_part)k, h->value, h->count);
    }

    return status;
}

// Undeformed, all commands idle, no forces. Does nothing for a state of another robot.
void pl_state_reset(pl_state *state, const pl_robot *robot)
{
    const pl_mesh_view v = pl_mesh_get(robot->mesh);
    if (state->robot_hash != robot->hash || state->vertex_count != v.vertex_count) {
        return;
    }
    memcpy(state->x, v.position, 3 * (size_t)v.vertex_count * sizeof *state->x);
    for (int i = 0; i < state->command_count; ++i) {
        state->command[i] = NAN;
    }
    memset(state->multiplier, 0, (size_t)state->actuator_count * sizeof *state->multiplier);
    memset(state->active, 0, (size_t)state->actuator_count * sizeof *state->active);
    memset(state->force, 0, 3 * ((size_t)state->marker_count + 1) * sizeof *state->force);
    state->load = 0;
    pl_state_rest(state);
    for (int k = 0; k < PL_STATE_COUNT; ++k) {
        pl_state_set_part(state, (pl_state_part)k, NULL, state->history[k].count);
    }
}

const double *pl_state_positions(const pl_state *state)
{
    return state->x;
}

const double *pl_state_commands(const pl_state *state)
{
    return state->command;
}

void pl_state_set_positions(pl_state *state, const double *x)
{
    memcpy(state->x, x, 3 * (size_t)state->vertex_count * sizeof *x);
}

const double *pl_state_forces(const pl_state *state)
{
    return state->force;
}

int32_t pl_state_vertex_count(const pl_state *state)
{
    return state->vertex_count;
}

// ---- one block of numbers
// The arrays that a state always has, and its velocity, in their order.
#define STATE_ARRAYS 6
typedef struct state_array {
    double *value;
    size_t count;
} state_array;

static void state_arrays(const pl_state *s, state_array out[STATE_ARRAYS])
{
    const size_t full = 3 * (size_t)s->vertex_count;
    const state_array arrays[STATE_ARRAYS] = {{s->x, full},
                                              {s->command, (size_t)s->command_count},
                                              {s->multiplier, (size_t)s->actuator_count},
                                              {s->active, (size_t)s->actuator_count},
                                              {s->force, 3 * (size_t)s->marker_count},
                                              {s->velocity, s->velocity ? full : 0}};
    memcpy(out, arrays, sizeof arrays);
}

// Writes when `block` has room for it; returns the size in any case.
size_t pl_state_pack(const pl_state *state, double *block, size_t size)
{
    state_array array[STATE_ARRAYS];
    size_t need = STATE_HEADER;
    int histories = 0;

    state_arrays(state, array);
    for (int i = 0; i < STATE_ARRAYS; ++i) {
        need += array[i].count;
    }
    for (int k = 0; k < PL_STATE_COUNT; ++k) {
        const int64_t count = state->history[k].count;
        need += count > 0 ? 2 + (size_t)count : 0;
        histories += count > 0;
    }
    if (!block || size < need) {
        return need;
    }

    const double header[STATE_HEADER] = {PL_STATE_VERSION,
                                         (double)need,
                                         (double)(state->robot_hash >> 32),
                                         (double)(state->robot_hash & UINT32_MAX),
                                         state->vertex_count,
                                         state->command_count,
                                         state->actuator_count,
                                         state->marker_count,
                                         state->load,
                                         state->time,
                                         (double)array[STATE_ARRAYS - 1].count,
                                         histories};
    memcpy(block, header, sizeof header);
    double *p = block + STATE_HEADER;
    for (int i = 0; i < STATE_ARRAYS; ++i) {
        if (array[i].count > 0) {
            memcpy(p, array[i].value, array[i].count * sizeof *p);
        }
        p += array[i].count;
    }

    for (int k = 0; k < PL_STATE_COUNT; ++k) {
        const pl_state_block *h = &state->history[k];
        if (h->count > 0) {
            *p++ = k;
            *p++ = (double)h->count;
            memcpy(p, h->value, (size_t)h->count * sizeof *p);
            p += h->count;
        }
    }

    return need;
}

// Checks in the order in which a mistake is most clearly named: size, version, robot, counts, load.
static pl_status state_check_header(const pl_state *s, const double *block, size_t size, pl_error *err)
{
    if (size < STATE_HEADER) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, a state has at least %d", size,
                       STATE_HEADER);
    }
    if (block[0] != PL_STATE_VERSION) {
        return pl_fail(err, PL_BAD_INPUT, "state: version %g, this program reads version %d", block[0],
                       PL_STATE_VERSION);
    }
    if (block[2] != (double)(s->robot_hash >> 32) || block[3] != (double)(s->robot_hash & UINT32_MAX)) {
        return pl_fail(err, PL_BAD_INPUT, "state: it belongs to another robot (or the robot has changed)");
    }

    if (block[4] != s->vertex_count || block[5] != s->command_count || block[6] != s->actuator_count ||
        block[7] != s->marker_count) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "state: %g vertices, %g commands, %g actuators, %g markers; the robot has %d, %d, %d, %d",
            block[4], block[5], block[6], block[7], (int)s->vertex_count, s->command_count, s->actuator_count,
            s->marker_count);
    }

    if (!(block[1] >= STATE_HEADER && block[1] <= (double)size)) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, expected %g", size, block[1]);
    }
    if (!(block[8] >= 0 && block[8] <= 1)) {
        return pl_fail(err, PL_BAD_INPUT, "state: load is %g, must lie between 0 and 1", block[8]);
    }
    if (!isfinite(block[9])) {
        return pl_fail(err, PL_BAD_INPUT, "state: its time is not finite");
    }
    if (block[10] != 0 && block[10] != 3.0 * s->vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "state: %g velocities of %d vertices", block[10],
                       (int)s->vertex_count);
    }

    return PL_OK;
}

// Where the numbers of each history stand in a block; NULL: it has none. Those that the robot has must be
// there with their sizes.
static pl_status state_find_histories(const pl_state *s, const double *block, const double *p,
                                      const double *found[PL_STATE_COUNT], pl_error *err)
{
    const double *const end = block + (size_t)block[1];
    const int last = PL_STATE_COUNT;

    memset(found, 0, PL_STATE_COUNT * sizeof *found);
    for (double i = 0; i < block[11]; ++i) {
        const double kind = p && end - p >= 2 ? p[0] : -1;
        const int k = kind >= 0 && kind < last ? (int)kind : last;
        if (k == last || k != kind || found[k] || !(p[1] >= 1 && p[1] <= (double)(end - p - 2))) {
            return pl_fail(err, PL_BAD_INPUT, "state: number %zu should begin a history",
                           (size_t)((p ? p : end) - block));
        }
        found[k] = p;
        p += 2 + (size_t)p[1];
    }
    if (p != end) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, expected %zu", (size_t)block[1],
                       (size_t)(p - block));
    }

    for (int k = 0; k < last; ++k) {
        const int64_t has = found[k] ? (int64_t)found[k][1] : 0;
        if (STATE_HISTORY[k].count && has != s->history[k].count) {
            return pl_fail(err, PL_BAD_INPUT, "state: %lld numbers of %s, the robot has %lld", (long long)has,
                           STATE_HISTORY[k].name, (long long)s->history[k].count);
        }
    }

    return PL_OK;
}

// Numbers behind the state belong to the caller.
pl_status pl_state_unpack(pl_state *state, const double *block, size_t size, pl_error *err)
{
    if (!state || !block) {
        return pl_fail(err, PL_BAD_INPUT, "state: state and block must not be NULL");
    }
    pl_status status = state_check_header(state, block, size, err);
    if (status != PL_OK) {
        return status;
    }

    // an idle command is NAN, everything else is a number
    state_array array[STATE_ARRAYS];
    state_arrays(state, array);
    array[STATE_ARRAYS - 1].count = (size_t)block[10];
    size_t fixed = STATE_HEADER;
    for (int i = 0; i < STATE_ARRAYS; ++i) {
        fixed += array[i].count;
    }
    if (fixed > (size_t)block[1]) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, expected %zu", (size_t)block[1], fixed);
    }
    const double *const x = block + STATE_HEADER, *const command = x + array[0].count;
    for (const double *p = x; p < block + (size_t)block[1]; ++p) {
        const bool idle = p >= command && p < command + state->command_count && isnan(*p);
        if (!isfinite(*p) && !idle) {
            return pl_fail(err, PL_BAD_INPUT, "state: number %zu is not finite", (size_t)(p - block));
        }
    }

    const double *found[PL_STATE_COUNT];
    status = state_find_histories(state, block, block + fixed, found, err);
    if (status != PL_OK) {
        return status;
    }

    // all is valid: memory first, then the numbers
    if (block[10] > 0) {
        status = pl_state_set_motion(state, block[9], block + fixed - array[STATE_ARRAYS - 1].count);
    } else {
        pl_state_rest(state);
    }
    for (int k = 0; status == PL_OK && k < PL_STATE_COUNT; ++k) {
        status = pl_state_set_part(state, (pl_state_part)k, found[k] ? found[k] + 2 : NULL,
                                   found[k] ? (int64_t)found[k][1] : 0);
    }
    if (status != PL_OK) {
        return pl_fail_memory(err, "the state");
    }
    const double *p = x;
    for (int i = 0; i + 1 < STATE_ARRAYS; ++i) {
        if (array[i].count > 0) {
            memcpy(array[i].value, p, array[i].count * sizeof *p);
        }
        p += array[i].count;
    }
    memset(state->force + 3 * (size_t)state->marker_count, 0, 3 * sizeof *state->force); // no hand pulls
    state->load = block[8];

    return PL_OK;
}
