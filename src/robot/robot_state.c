// All that changes: positions, commands, efforts. For files a state is one block of doubles:
//   version, robot hash (high and low 32 bits), vertex, command, actuator and marker counts, load,
//   x (3 per vertex), command, multiplier, active, force (3 per marker), and with contact (version 3) what
//   contact keeps. States of a motion have a version higher by 2, and a count and the numbers of the motion
//   at the end; a reader without motions leaves them out.
#include "robot/robot_impl.h"

#define STATE_HEADER 8 // numbers before the arrays

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
    s->contact_count = pl_robot_tendon_first(robot, robot->actuator_count);
    s->contact = PL_NEW_ARRAY(double, s->contact_count);
    if (!s->x || !s->command || !s->multiplier || !s->active || !s->force || !s->contact) {
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
    pl_free(state->contact);
    pl_free(state->motion);
    pl_free(state);
}

// Of the same robot, with the same sizes.
static bool state_alike(const pl_state *a, const pl_state *b)
{
    return a->robot_hash == b->robot_hash && a->vertex_count == b->vertex_count &&
           a->command_count == b->command_count && a->actuator_count == b->actuator_count &&
           a->marker_count == b->marker_count && a->contact_count == b->contact_count;
}

// Copies `motion` or, if NULL, only makes room; count 0 removes it.
pl_status pl_state_set_motion(pl_state *state, const double *motion, int64_t count)
{
    if (count != state->motion_count) {
        double *room = count > 0 ? PL_NEW_ARRAY(double, count) : NULL;
        if (count > 0 && !room) {
            return PL_NO_MEMORY;
        }
        pl_free(state->motion);
        state->motion = room;
        state->motion_count = count;
    }

    if (count > 0 && motion) {
        memcpy(state->motion, motion, (size_t)count * sizeof *motion);
    }
    return PL_OK;
}

bool pl_state_has_motion(const pl_state *state)
{
    return state->motion_count > 0;
}

// s, 0 without a motion: the first number of a motion is its time.
double pl_state_time(const pl_state *state)
{
    return state->motion_count > 0 ? state->motion[0] : 0;
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
    memcpy(to->contact, from->contact, (size_t)from->contact_count * sizeof *to->contact);
    to->load = from->load;

    return pl_state_set_motion(to, from->motion, from->motion_count);
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
    memset(state->contact, 0, (size_t)state->contact_count * sizeof *state->contact);
    state->load = 0;
    pl_state_set_motion(state, NULL, 0);
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

// Without the numbers of a motion.
static size_t state_size(const pl_state *s)
{
    return STATE_HEADER + 3 * (size_t)s->vertex_count + (size_t)s->command_count +
           2 * (size_t)s->actuator_count + 3 * (size_t)s->marker_count + (size_t)s->contact_count;
}

static int state_version(const pl_state *s)
{
    const int version = s->contact_count > 0 ? PL_STATE_VERSION_CONTACT : PL_STATE_VERSION;
    return version + (s->motion_count > 0 ? PL_STATE_VERSION_MOTION : 0);
}

// Writes when `block` has room for it; returns the size in any case.
size_t pl_state_pack(const pl_state *state, double *block, size_t size)
{
    const size_t need = state_size(state) + (state->motion_count > 0 ? 1 + (size_t)state->motion_count : 0);
    if (!block || size < need) {
        return need;
    }

    const double header[STATE_HEADER] = {state_version(state),
                                         (double)(state->robot_hash >> 32),
                                         (double)(state->robot_hash & UINT32_MAX),
                                         state->vertex_count,
                                         state->command_count,
                                         state->actuator_count,
                                         state->marker_count,
                                         state->load};

    // the arrays in the order of the file
    memcpy(block, header, sizeof header);
    double *p = block + STATE_HEADER;
    memcpy(p, state->x, 3 * (size_t)state->vertex_count * sizeof *p);
    p += 3 * (size_t)state->vertex_count;
    memcpy(p, state->command, (size_t)state->command_count * sizeof *p);
    p += state->command_count;
    memcpy(p, state->multiplier, (size_t)state->actuator_count * sizeof *p);
    p += state->actuator_count;
    memcpy(p, state->active, (size_t)state->actuator_count * sizeof *p);
    p += state->actuator_count;
    memcpy(p, state->force, 3 * (size_t)state->marker_count * sizeof *p);
    p += 3 * (size_t)state->marker_count;
    memcpy(p, state->contact, (size_t)state->contact_count * sizeof *p);
    p += state->contact_count;
    if (state->motion_count > 0) {
        *p++ = (double)state->motion_count;
        memcpy(p, state->motion, (size_t)state->motion_count * sizeof *p);
    }

    return need;
}

// Checks in the order in which a mistake is most clearly named: size, version, contact, robot, counts, load.
static pl_status state_check_header(const pl_state *s, const double *block, size_t size, pl_error *err)
{
    if (size < STATE_HEADER) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, a state has at least %d", size,
                       STATE_HEADER);
    }

    const bool moves = block[0] > PL_STATE_VERSION_CONTACT;
    const double version = block[0] - (moves ? PL_STATE_VERSION_MOTION : 0);
    if (version != PL_STATE_VERSION && version != PL_STATE_VERSION_CONTACT) {
        return pl_fail(err, PL_BAD_INPUT,
                       "state: version %g, this program reads version %d (with contact: %d; of a motion: %d "
                       "more)",
                       block[0], PL_STATE_VERSION, PL_STATE_VERSION_CONTACT, PL_STATE_VERSION_MOTION);
    }

    if ((version == PL_STATE_VERSION_CONTACT) != (s->contact_count > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "state: version %g (%s contact), the robot is %s contact", block[0],
                       version == PL_STATE_VERSION ? "without" : "with",
                       s->contact_count ? "with" : "without");
    }

    if (block[1] != (double)(s->robot_hash >> 32) || block[2] != (double)(s->robot_hash & UINT32_MAX)) {
        return pl_fail(err, PL_BAD_INPUT, "state: it belongs to another robot (or the robot has changed)");
    }

    if (block[3] != s->vertex_count || block[4] != s->command_count || block[5] != s->actuator_count ||
        block[6] != s->marker_count) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "state: %g vertices, %g commands, %g actuators, %g markers; the robot has %d, %d, %d, %d",
            block[3], block[4], block[5], block[6], (int)s->vertex_count, s->command_count, s->actuator_count,
            s->marker_count);
    }

    // a motion adds its count and numbers
    const size_t own = state_size(s);
    const size_t motion = moves && size > own ? size - own - 1 : 0;
    if (size < own || (size > own && (!moves || block[own] != (double)motion))) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, expected %zu", size, own);
    }
    if (!(block[7] >= 0 && block[7] <= 1)) {
        return pl_fail(err, PL_BAD_INPUT, "state: load is %g, must lie between 0 and 1", block[7]);
    }

    return PL_OK;
}

pl_status pl_state_unpack(pl_state *state, const double *block, size_t size, pl_error *err)
{
    if (!state || !block) {
        return pl_fail(err, PL_BAD_INPUT, "state: state and block must not be NULL");
    }

    const pl_status status = state_check_header(state, block, size, err);
    if (status != PL_OK) {
        return status;
    }

    // where each array begins
    const double *x = block + STATE_HEADER, *command = x + 3 * (size_t)state->vertex_count;
    const double *multiplier = command + state->command_count, *active = multiplier + state->actuator_count;
    const double *force = active + state->actuator_count;

    // an idle command is NAN, everything else is a number
    for (const double *p = x; p < block + size; ++p) {
        const bool idle = p >= command && p < multiplier && isnan(*p);
        if (!isfinite(*p) && !idle) {
            return pl_fail(err, PL_BAD_INPUT, "state: number %zu is not finite", (size_t)(p - block));
        }
    }

    // all is valid: copy
    memcpy(state->x, x, 3 * (size_t)state->vertex_count * sizeof *x);
    memcpy(state->command, command, (size_t)state->command_count * sizeof *x);
    memcpy(state->multiplier, multiplier, (size_t)state->actuator_count * sizeof *x);
    memcpy(state->active, active, (size_t)state->actuator_count * sizeof *x);
    memcpy(state->force, force, 3 * (size_t)state->marker_count * sizeof *x);
    memset(state->force + 3 * (size_t)state->marker_count, 0, 3 * sizeof *x); // no hand pulls
    memcpy(state->contact, force + 3 * (size_t)state->marker_count, (size_t)state->contact_count * sizeof *x);
    state->load = block[7];
    const size_t own = state_size(state);
    const pl_status moved = size > own
                                ? pl_state_set_motion(state, block + own + 1, (int64_t)(size - own - 1))
                                : pl_state_set_motion(state, NULL, 0);

    return moved == PL_OK ? PL_OK : pl_fail_memory(err, "the state");
}
