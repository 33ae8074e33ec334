// Commands over time and the response of the hardware, as a table of cubic pieces computed in advance.
#include "base/base.h"
#include "base/vec.h"
#include "dynamics/dynamics.h"

#define SCHEDULE_PI 3.14159265358979323846
#define SCHEDULE_PER_TIME 50   // pieces of a response per time of filling or venting
#define SCHEDULE_PER_CYCLE 200 // and per period of a sine
#define SCHEDULE_NODES 4000000 // most
#define LINE_PER_TIME 50       // pieces of the response of an air line per 1 / speed
#define LINE_PARTS 16          // of a piece, each a step of Runge and Kutta's method
#define LINE_LAMINAR 1e-3      // of the pressure upstream: below that difference flow is proportional to it

// from + (to - from) (t - begin) / duration, then `to`; or a sine.
typedef struct schedule_piece {
    double begin, duration, from, to;
    double amplitude, frequency;
} schedule_piece;

// Between two nodes the response is the cubic with these slopes at the ends.
typedef struct schedule_node {
    double time, value;
    double slope, slope_end; // at this node, and at the end of its interval
    bool corner;
} schedule_node;

typedef struct schedule_command {
    double first, rest;
    double rate, fill, vent;
    pl_air_line line; // conductance 0: none
    schedule_piece *piece;
    int piece_count, piece_room;
    schedule_node *node; // NULL: follows at once
    int node_count, node_room;
} schedule_command;

typedef struct schedule_push {
    int marker;
    double force[3], from, to;
} schedule_push;

#define SCHEDULE_PUSHES 64

typedef struct schedule_base {
    int axis;
    double amplitude, omega, from, to;
} schedule_base;

#define SCHEDULE_BASES 16

struct pl_schedule {
    schedule_push push[SCHEDULE_PUSHES];
    int push_count, marker_count;
    schedule_base base[SCHEDULE_BASES];
    int base_count;
    schedule_command *command;
    int count;
    double begin, load_ramp;
};

pl_status pl_schedule_create(const pl_command_info *command, int count, double begin, const double *first,
                             pl_schedule **out, pl_error *err)
{
    *out = NULL;
    pl_schedule *s = PL_NEW(pl_schedule);
    if (s) {
        s->command = PL_NEW_ARRAY(schedule_command, count);
    }
    if (!s || !s->command) {
        pl_free(s);
        return pl_fail_memory(err, "schedule");
    }

    s->count = count;
    s->begin = begin;
    for (int c = 0; c < count; ++c) {
        s->command[c].first = first[c];
        s->command[c].rest = command[c].rest;
        s->command[c].rate = command[c].rate;
        s->command[c].fill = command[c].fill;
        s->command[c].vent = command[c].vent;
    }

    *out = s;

    return PL_OK;
}

void pl_schedule_destroy(pl_schedule *s)
{
    for (int c = 0; s && c < s->count; ++c) {
        pl_free(s->command[c].piece);
        pl_free(s->command[c].node);
    }
    if (s) {
        pl_free(s->command);
        pl_free(s);
    }
}

// ---- what is asked
static double piece_value(const schedule_piece *p, double t)
{
    if (p->frequency > 0) {
        return p->to + p->amplitude * sin(2 * SCHEDULE_PI * p->frequency * (t - p->begin));
    }
    if (isnan(p->to) || isnan(p->from) || !(p->duration > 0)) {
        return p->duration > 0 && t < p->begin + p->duration ? p->from : p->to;
    }

    const double part = (t - p->begin) / p->duration;
    return part >= 1 ? p->to : p->from + part * (p->to - p->from);
}

// The last piece that has begun at t; -1: none.
static int piece_at(const schedule_command *c, double t)
{
    int low = -1, high = c->piece_count - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (c->piece[middle].begin <= t + 1e-12) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }

    return low;
}

static double command_asked(const schedule_command *c, double t)
{
    const int k = piece_at(c, t);
    return k < 0 ? c->first : piece_value(&c->piece[k], t);
}

double pl_schedule_asked(const pl_schedule *s, int command, double t)
{
    return command_asked(&s->command[command], t);
}

// The first corner of what is asked after t.
static double command_corner(const schedule_command *c, double t)
{
    const double later = t + 1e-9;
    double corner = INFINITY;
    const int k = piece_at(c, later);

    if (k + 1 < c->piece_count) {
        corner = c->piece[k + 1].begin;
    }
    if (k >= 0 && c->piece[k].duration > 0 && c->piece[k].begin + c->piece[k].duration > later) {
        corner = fmin(corner, c->piece[k].begin + c->piece[k].duration);
    }

    // no step passes over more than a quarter of a period
    if (k >= 0 && c->piece[k].frequency > 0) {
        const double quarters = 4 * c->piece[k].frequency;
        corner =
            fmin(corner, c->piece[k].begin + (floor((later - c->piece[k].begin) * quarters) + 1) / quarters);
    }

    return corner;
}

static pl_status schedule_add(pl_schedule *s, int command, schedule_piece piece, pl_error *err)
{
    schedule_command *c = &s->command[command];
    if (isinf(piece.to) || !isfinite(piece.begin) || !(piece.duration >= 0) || isinf(piece.duration)) {
        return pl_fail(err, PL_BAD_INPUT, "schedule: times and values must be finite");
    }
    if (c->piece_count > 0 && piece.begin < c->piece[c->piece_count - 1].begin) {
        return pl_fail(err, PL_BAD_INPUT, "schedule: %g s comes after %g s: times must not go back",
                       piece.begin, c->piece[c->piece_count - 1].begin);
    }

    if (c->piece_count == c->piece_room) {
        const int room = 2 * c->piece_room + 16;
        schedule_piece *larger = PL_NEW_ARRAY(schedule_piece, room);
        if (!larger) {
            return pl_fail_memory(err, "schedule");
        }
        if (c->piece_count > 0) {
            memcpy(larger, c->piece, (size_t)c->piece_count * sizeof *larger);
        }
        pl_free(c->piece);
        c->piece = larger;
        c->piece_room = room;
    }

    c->piece[c->piece_count++] = piece;
    pl_free(c->node);
    c->node = NULL;

    return PL_OK;
}

pl_status pl_schedule_ramp(pl_schedule *s, int command, double t, double duration, double to, pl_error *err)
{
    const schedule_command *c = &s->command[command];
    double from = command_asked(c, t);
    from = isnan(from) ? c->rest : from; // an idle drive starts from rest
    return schedule_add(s, command,
                        (schedule_piece){.begin = t, .duration = duration, .from = from, .to = to}, err);
}

pl_status pl_schedule_sine(pl_schedule *s, int command, double t, double mean, double amplitude,
                           double frequency, pl_error *err)
{
    if (!(frequency > 0) || isinf(frequency) || !isfinite(amplitude)) {
        return pl_fail(err, PL_BAD_INPUT, "schedule: a sine needs a positive frequency, found %g Hz",
                       frequency);
    }
    return schedule_add(
        s, command, (schedule_piece){.begin = t, .to = mean, .amplitude = amplitude, .frequency = frequency},
        err);
}

pl_status pl_schedule_table(pl_schedule *s, int command, const double *time, const double *value, int stride,
                            int rows, pl_error *err)
{
    pl_status status = PL_OK;
    for (int r = 0; status == PL_OK && r < rows; ++r) {
        const double here = value[(int64_t)r * stride];
        if (r > 0 && time[r] < time[r - 1]) {
            return pl_fail(err, PL_BAD_INPUT, "table: row %d: %g s comes after %g s, times must not go back",
                           r + 1, time[r], time[r - 1]);
        }
        const bool last = r + 1 == rows;
        schedule_piece piece = {.begin = time[r],
                                .duration = last ? 0 : time[r + 1] - time[r],
                                .from = here,
                                .to = last ? here : value[(int64_t)(r + 1) * stride]};
        if (r == 0) {
            s->command[command].first = here; // held before the first row
        }
        if (last || piece.duration > 0) {
            status = schedule_add(s, command, piece, err);
        }
    }

    return status;
}

void pl_schedule_load_ramp(pl_schedule *s, double duration)
{
    s->load_ramp = duration;
}

pl_status pl_schedule_follow(pl_schedule *s, int command, double rate, double fill, double vent,
                             pl_error *err)
{
    if (!(rate >= 0) || !(fill >= 0) || !(vent >= 0) || isinf(fill) || isinf(vent)) {
        return pl_fail(err, PL_BAD_INPUT, "schedule: rates and times must not be negative");
    }
    s->command[command].rate = rate;
    s->command[command].fill = fill;
    s->command[command].vent = vent;
    return PL_OK;
}

pl_status pl_schedule_line(pl_schedule *s, int command, const pl_air_line *line, pl_error *err)
{
    if (!(line->conductance > 0) || isinf(line->conductance) || !(line->volume > 0) || isinf(line->volume) ||
        !(line->ambient > 0) || isinf(line->ambient) || !(line->critical >= 0) || !(line->critical < 1)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "schedule: an air line needs a positive conductance, volume and ambient pressure and a "
            "critical ratio from 0 to 1");
    }
    s->command[command].line = *line;
    return PL_OK;
}

pl_status pl_schedule_push(pl_schedule *s, int marker, int marker_count, const double force[3], double t0,
                           double t1, pl_error *err)
{
    if (marker < 0 || marker >= marker_count || !isfinite(t0) || !(t1 > t0) || !isfinite(pl_norm3(force))) {
        return pl_fail(err, PL_BAD_INPUT,
                       "schedule: a push needs a marker, a finite force and an end after its beginning");
    }

    if (s->push_count == SCHEDULE_PUSHES) {
        return pl_fail(err, PL_BAD_INPUT, "schedule: more than %d pushes", SCHEDULE_PUSHES);
    }
    s->marker_count = marker_count;
    s->push[s->push_count++] =
        (schedule_push){.marker = marker, .force = {force[0], force[1], force[2]}, .from = t0, .to = t1};
    return PL_OK;
}

pl_status pl_schedule_base(pl_schedule *s, int axis, double amplitude, double frequency, double t0, double t1,
                           pl_error *err)
{
    if (axis < 0 || axis > 2 || !isfinite(amplitude) || !(frequency > 0) || isinf(frequency) ||
        !isfinite(t0) || !(t1 > t0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "schedule: a motion of the supports needs an axis, a finite amplitude, a positive "
                       "frequency and an end after its beginning");
    }
    if (s->base_count == SCHEDULE_BASES) {
        return pl_fail(err, PL_BAD_INPUT, "schedule: more than %d motions of the supports", SCHEDULE_BASES);
    }
    s->base[s->base_count++] = (schedule_base){axis, amplitude, 2 * PL_PI * frequency, t0, t1};
    return PL_OK;
}

// ---- the response
static pl_status node_add(schedule_command *c, schedule_node node, pl_error *err)
{
    if (c->node_count == c->node_room) {
        const int room = 2 * c->node_room + 256;
        schedule_node *larger = room <= SCHEDULE_NODES ? PL_NEW_ARRAY(schedule_node, room) : NULL;
        if (!larger) {
            return room > SCHEDULE_NODES
                       ? pl_fail(err, PL_BAD_INPUT, "schedule: the response takes more than %d pieces",
                                 SCHEDULE_NODES)
                       : pl_fail_memory(err, "schedule");
        }
        if (c->node_count > 0) {
            memcpy(larger, c->node, (size_t)c->node_count * sizeof *larger);
        }
        pl_free(c->node);
        c->node = larger;
        c->node_room = room;
    }

    c->node[c->node_count++] = node;
    return PL_OK;
}

// One piece of the response from (t, y), at most `longest`: with a lag the exact answer to a linear command,
//   y = a - b tau + (y0 - a0 + b tau) exp(-dt / tau),   a = a0 + b dt,
// unless the rate limits it; without a lag the largest rate until the command is met. Returns its length.
static double response_piece(const schedule_command *c, double t, double longest, double y,
                             schedule_node *node, double *next)
{
    const int k = piece_at(c, t); // it ends before the next one begins
    const double a0 = command_asked(c, t), a1 = k < 0 ? c->first : piece_value(&c->piece[k], t + longest);
    const double tau = a0 >= y ? c->fill : c->vent, rate = c->rate > 0 ? c->rate : INFINITY,
                 up = a0 >= y ? 1 : -1;
    double b = (a1 - a0) / longest, dt = longest;

    *node = (schedule_node){.time = t, .value = y};
    if (!(tau > 0) && isinf(rate)) { // at once in this direction
        *node = (schedule_node){.time = t, .value = a0, .slope = b, .slope_end = b};
        *next = a1;
        return dt;
    }

    // what rounding leaves between them is no distance to be covered
    const double apart = 1e-12 * (fabs(a0) + fabs(y)) + 1e-9 * rate * longest;
    const double wanted = tau > 0 ? (a0 - y) / tau : fabs(a0 - y) > apart ? up * INFINITY : b;
    if (fabs(wanted) > rate) {
        // at the largest rate; without a lag until the command is met: y + up rate dt = a0 + b dt
        const double closing = up * rate - b;
        if (!(tau > 0) && closing * up > 0) {
            dt = fmin(longest, fabs(a0 - y) / fabs(closing));
            node->corner = dt < longest;
        }
        node->slope = node->slope_end = up * rate;
        *next = y + up * rate * dt;
        return fmax(dt, 1e-9 * longest);
    }

    if (!(tau > 0)) {
        node->value = a0;
        node->slope = node->slope_end = b;
        *next = a1;
        return dt;
    }

    const double decay = exp(-dt / tau);
    *next = a1 - b * tau + (y - a0 + b * tau) * decay;
    node->slope = (a0 - y) / tau;
    node->slope_end = (a1 - *next) / tau;

    return dt;
}

// ---- air lines
static double line_speed(const pl_air_line *line)
{
    return line->ambient * line->conductance / line->volume;
}

// dP/dt of the volume at gauge pressure y, what is asked being a.
static double line_flow(const pl_air_line *line, double a, double y)
{
    const double up = fmax(0, line->ambient + fmax(a, y)), down = fmax(0, line->ambient + fmin(a, y)),
                 b = line->critical, sign = a > y ? 1 : -1;
    const double ratio = up > 0 ? down / up : 1;
    double f = 1;
    if (ratio > 1 - LINE_LAMINAR) {
        const double last = fmax(0, (1 - LINE_LAMINAR - b) / (1 - b)); // 0: choked until there
        f = sqrt(1 - last * last) * (1 - ratio) / LINE_LAMINAR;
    } else if (ratio > b) {
        const double over = (ratio - b) / (1 - b);
        f = sqrt(1 - over * over);
    }

    return sign * line_speed(line) * up * f;
}

// One piece of the response, at most `longest`; its length.
static double response_line(const schedule_command *c, double t, double longest, double y,
                            schedule_node *node, double *next)
{
    const pl_air_line *line = &c->line;
    const int k = piece_at(c, t);
    const double a0 = command_asked(c, t), a1 = k < 0 ? c->first : piece_value(&c->piece[k], t + longest),
                 h = longest / LINE_PARTS;

    *node = (schedule_node){.time = t, .value = y, .slope = line_flow(line, a0, y)};
    for (int i = 0; i < LINE_PARTS; ++i) {
        const double a = a0 + (a1 - a0) * i / LINE_PARTS, b = a0 + (a1 - a0) * (i + 0.5) / LINE_PARTS,
                     e = a0 + (a1 - a0) * (i + 1) / LINE_PARTS;
        const double k1 = line_flow(line, a, y), k2 = line_flow(line, b, y + 0.5 * h * k1),
                     k3 = line_flow(line, b, y + 0.5 * h * k2), k4 = line_flow(line, e, y + h * k3);
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    *next = y;
    node->slope_end = line_flow(line, a1, y);

    return longest;
}

static double response_longest(const schedule_command *c, double t, double until)
{
    double longest = fmin(command_corner(c, t), until) - t;
    const double tau = fmin(c->fill > 0 ? c->fill : INFINITY, c->vent > 0 ? c->vent : INFINITY);

    longest = fmin(longest, tau / SCHEDULE_PER_TIME);
    if (c->line.conductance > 0) {
        longest = fmin(longest, 1 / (LINE_PER_TIME * line_speed(&c->line)));
    }
    const int k = piece_at(c, t);
    if (k >= 0 && c->piece[k].frequency > 0) {
        longest = fmin(longest, 1 / (SCHEDULE_PER_CYCLE * c->piece[k].frequency));
    }

    return longest;
}

static pl_status response_prepare(schedule_command *c, double begin, double until, pl_error *err)
{
    pl_free(c->node);
    c->node = NULL;
    c->node_count = c->node_room = 0;
    const bool follows = c->rate > 0 || c->fill > 0 || c->vent > 0 || c->line.conductance > 0;
    if (!follows || c->piece_count == 0 || isnan(c->first)) {
        return PL_OK;
    }

    double t = begin, y = c->first;
    bool turns = true; // the next node is a corner
    pl_status status = PL_OK;
    while (status == PL_OK && t < until - 1e-12) {
        schedule_node node;
        double next;
        if (isnan(command_asked(c, t))) {
            break; // let go: from here on at once
        }
        const double longest = response_longest(c, t, until);
        const double dt = c->line.conductance > 0 ? response_line(c, t, longest, y, &node, &next)
                                                  : response_piece(c, t, longest, y, &node, &next);
        // pieces end at the corners of what is asked, without a rest of rounding
        const double corner = command_corner(c, t);
        const bool met = node.corner; // without a lag: what is asked is met, a corner of the response
        node.corner = turns;
        status = node_add(c, node, err);
        t = fabs(t + dt - corner) < 1e-9 ? corner : t + dt;
        turns = met || t == corner;
        y = next;
    }

    return status == PL_OK ? node_add(c, (schedule_node){.time = t, .value = y, .corner = true}, err)
                           : status;
}

pl_status pl_schedule_prepare(pl_schedule *s, double until, pl_error *err)
{
    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < s->count; ++c) {
        status = response_prepare(&s->command[c], s->begin, until, err);
    }
    return status;
}

static int node_at(const schedule_command *c, double t)
{
    int low = 0, high = c->node_count - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (c->node[middle].time <= t + 1e-12) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }

    return low;
}

double pl_schedule_value(const pl_schedule *s, int command, double t)
{
    const schedule_command *c = &s->command[command];
    const double asked = command_asked(c, t);

    if (!c->node || isnan(asked) || t < c->node[0].time) {
        return asked;
    }

    const int k = node_at(c, t);
    const schedule_node *a = &c->node[k], *b = a + 1;
    if (k + 1 == c->node_count) {
        return a->value;
    }

    const double h = b->time - a->time, w = fmin(1, (t - a->time) / h);

    return (1 + 2 * w) * (1 - w) * (1 - w) * a->value + w * (1 - w) * (1 - w) * h * a->slope +
           w * w * (3 - 2 * w) * b->value + w * w * (w - 1) * h * a->slope_end;
}

// ---- as a signal
static void schedule_command_at(void *user, double t, double *command)
{
    const pl_schedule *s = user;
    for (int c = 0; c < s->count; ++c) {
        command[c] = pl_schedule_value(s, c, t);
    }
}

static double schedule_corner(void *user, double t)
{
    const pl_schedule *s = user;
    double corner = INFINITY;

    for (int i = 0; i < s->count; ++i) {
        const schedule_command *c = &s->command[i];
        if (!c->node) {
            corner = fmin(corner, command_corner(c, t));
            continue;
        }
        int k = node_at(c, t + 1e-9) + 1;
        while (k < c->node_count && !c->node[k].corner) {
            ++k;
        }
        corner = fmin(corner, k < c->node_count ? c->node[k].time : INFINITY);
    }

    for (int k = 0; k < s->push_count; ++k) {
        corner = s->push[k].from > t + 1e-9 ? fmin(corner, s->push[k].from) : corner;
        corner = s->push[k].to > t + 1e-9 ? fmin(corner, s->push[k].to) : corner;
    }

    for (int k = 0; k < s->base_count; ++k) {
        corner = s->base[k].from > t + 1e-9 ? fmin(corner, s->base[k].from) : corner;
        corner = s->base[k].to > t + 1e-9 ? fmin(corner, s->base[k].to) : corner;
    }

    const double full = s->begin + s->load_ramp;

    return s->load_ramp > 0 && full > t + 1e-9 ? fmin(corner, full) : corner;
}

static void schedule_force(void *user, double t, double *force)
{
    const pl_schedule *s = user;
    memset(force, 0, 3 * (size_t)s->marker_count * sizeof *force);
    for (int k = 0; k < s->push_count; ++k) {
        const schedule_push *p = &s->push[k];
        for (int i = 0; i < 3 && t >= p->from - 1e-12 && t < p->to - 1e-12; ++i) {
            force[3 * p->marker + i] += p->force[i];
        }
    }
}

static void schedule_base_at(void *user, double t, double acceleration[3])
{
    const pl_schedule *s = user;
    acceleration[0] = acceleration[1] = acceleration[2] = 0;
    for (int k = 0; k < s->base_count; ++k) {
        const schedule_base *b = &s->base[k];
        if (t >= b->from - 1e-12 && t < b->to - 1e-12) {
            acceleration[b->axis] += b->amplitude * b->omega * b->omega * cos(b->omega * (t - b->from));
        }
    }
}

static double schedule_load(void *user, double t)
{
    const pl_schedule *s = user;
    return s->load_ramp > 0 ? fmin(1, (t - s->begin) / s->load_ramp) : 1;
}

pl_signal pl_schedule_signal(pl_schedule *s)
{
    return (pl_signal){.force = s->push_count > 0 ? schedule_force : NULL,
                       .base = s->base_count > 0 ? schedule_base_at : NULL,
                       .command = schedule_command_at,
                       .corner = schedule_corner,
                       .load = schedule_load,
                       .user = s};
}
