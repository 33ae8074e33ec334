// Actuators that act through what they measure, h(x): the length of a cable, the volume of a chamber, the
// area of a film. Those that grow are a term of their own (term_growth.c).
//
// The energy of a functional h is Phi(h), or h is constrained; sign * effort = dPhi/dh with sign +1 for
// cables and -1 for chambers and films.
#include "problem/term_capstan.h"
#include "problem/term_drive.h"

typedef enum drive_mode {
    MODE_EFFORT,     // Phi = sign * effort * h
    MODE_CONSTRAINT, // h = target, the effort is the multiplier
    MODE_GAS,        // Phi = -nRT ln(h + V_line) + p_amb h
    MODE_VOLTAGE     // Phi = -eps (U / t)^2 c / 2, c = int J N . C^-1 N dV the charge functional
} drive_mode;

typedef struct drive {
    const pl_actuator *a;
    int actuator;            // its number
    pl_functional h, charge; // charge: of films driven by a voltage
    pl_slots slots, charge_slots;
    int row;
    double sign;
    drive_mode mode; // on the present path
    drive_path path;
    double effort;    // of potentials: at the x evaluated last
    double charged;   // c(x) there
    capstan *capstan; // friction of a cable in its guides; NULL: none
} drive;

typedef struct actuators_term {
    drive *drive;
    int count;
} actuators_term;

static void actuators_destroy(void *object)
{
    actuators_term *t = object;
    for (int i = 0; t->drive && i < t->count; ++i) {
        pl_functional_clear(&t->drive[i].h);
        pl_functional_clear(&t->drive[i].charge);
        pl_slots_clear(&t->drive[i].slots);
        pl_slots_clear(&t->drive[i].charge_slots);
        capstan_destroy(t->drive[i].capstan);
    }

    pl_free(t->drive);
    pl_free(t);
}

static void actuators_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        pl_pattern_functional(out, p, &t->drive[i].h);
        pl_pattern_functional(out, p, &t->drive[i].charge);
    }
}

static pl_status actuators_bind(void *self, pl_problem *p, pl_error *err)
{
    actuators_term *t = self;
    pl_status status = PL_OK;

    for (int i = 0; status == PL_OK && i < t->count; ++i) {
        drive *d = &t->drive[i];
        status = pl_slots_bind(p, &d->h, &d->slots, err);
        if (status == PL_OK && d->charge.piece_count > 0) {
            status = pl_slots_bind(p, &d->charge, &d->charge_slots, err);
        }
        if (status == PL_OK && d->capstan) {
            status = capstan_bind(p, d->capstan, err);
        }
    }

    return status;
}

// ---- load path
static drive_mode drive_mode_of(const pl_actuator *a)
{
    switch (pl_actuator_law(a)) {
    case PL_LAW_EFFORT:
        return MODE_EFFORT;
    case PL_LAW_GAS:
        return MODE_GAS;
    case PL_LAW_VOLTAGE:
        return MODE_VOLTAGE;
    default:
        return MODE_CONSTRAINT;
    }
}

// The volume pushed at which a line closed now holds its present pressure: p = amb (V0 + VL + q) / (V + VL) -
// amb.
static double gas_pushed(const pl_actuator *a, double volume, double pressure)
{
    return (pressure + a->ambient) * (volume + a->line_volume) / a->ambient - a->rest - a->line_volume;
}

// Mode and both ends of the path of one drive; `now` is its measure at the state.
static void drive_begin(drive *d, const pl_state *state, const double *command, double now)
{
    const pl_actuator *a = d->a;
    drive_path *path = &d->path;
    const drive_ends ends = drive_path_begin(path, a, state, command);
    const double effort = state->multiplier[d->actuator];
    const bool slack = pl_actuator_kind_get(a->kind)->pulls_only && state->active[d->actuator] == 0;

    if (path->idle && a->idle_hold) {
        d->mode = MODE_CONSTRAINT;
        path->from = slack ? a->rest : now;
        path->to = a->rest;
        return;
    }

    if (path->idle && drive_mode_of(a) == MODE_VOLTAGE) {
        d->mode = MODE_VOLTAGE; // let go: the voltage it had fades
        path->from = isnan(ends.old) ? 0 : pl_actuator_goal(a, ends.old);
        path->to = 0;
        return;
    }

    if (path->idle) {
        d->mode = MODE_EFFORT; // let go: the effort it had fades
        path->from = effort;
        path->to = 0;
        return;
    }

    d->mode = drive_mode_of(a);
    path->to = pl_actuator_goal(a, ends.value);
    if (path->one_sided && !isnan(ends.old)) {
        path->from = pl_actuator_goal(a, ends.old);
    } else if (d->mode == MODE_CONSTRAINT) {
        // a slack cable starts from where its target was, everything else from its measure
        path->from = slack && !isnan(ends.old) ? pl_actuator_goal(a, ends.old) : now;
    } else if (d->mode == MODE_EFFORT) {
        path->from = effort;
    } else if (!isnan(ends.old)) {
        path->from = pl_actuator_goal(a, ends.old);
    } else {
        path->from = d->mode == MODE_GAS ? gas_pushed(a, now, effort) : 0;
    }
}

static void actuators_begin(void *self, pl_problem *p, const pl_step *step)
{
    const pl_state *state = step->from;
    const double *command = step->command;
    actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        drive *d = &t->drive[i];
        pl_row *row = &p->row[d->row];
        const double now = pl_functional_value(&d->h, state->x);
        drive_begin(d, state, command, now);
        d->effort = state->multiplier[d->actuator];
        if (d->capstan) {
            capstan_begin(d->capstan, state, d->effort);
        }
        row->wanted = d->mode != MODE_EFFORT && d->mode != MODE_VOLTAGE;
        row->constraint = d->mode == MODE_CONSTRAINT;
        row->curvature = 0;
        row->multiplier = row->constraint ? d->sign * d->effort : 0;
        row->was_active = state->active[d->actuator] != 0;
        // a taut cable that is being shortened takes hold at once; another one when it is stretched
        const bool taut = d->path.from <= now * (1 + 1e-9) && d->path.to < now * (1 - 1e-12);
        row->active = row->constraint && (!row->inequality || row->was_active || taut);
    }
}

static void actuators_set(void *self, pl_problem *p, double at)
{
    actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        drive *d = &t->drive[i];
        drive_path_set(&d->path, d->a, at);
        p->row[d->row].target = d->path.value;
    }
}

static pl_status actuators_check(const void *self, const pl_problem *p, const double *command, pl_error *err)
{
    (void)p;
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const pl_actuator *a = t->drive[i].a;
        const double value = a->command >= 0 ? pl_actuator_value(a, command[a->command]) : NAN;
        if (isnan(value)) {
            continue;
        }
        const pl_status status = pl_actuator_check(a, value, err);
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

static bool actuators_one_sided(const void *self, const pl_problem *p, const pl_state *state)
{
    (void)p;
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        if (drive_path_one_sided(&t->drive[i].path, t->drive[i].a, state)) {
            return true;
        }
    }

    return false;
}

// ---- at positions x
// n R T of the gas in chamber and line: what filled them at ambient pressure, and what was pushed in
static double gas_amount(const pl_actuator *a, double pushed)
{
    return a->ambient * (a->rest + a->line_volume + pushed);
}

// eps (U / t)^2, MPa: what a voltage does per charge functional; and its derivative by U.
static double film_field(const pl_actuator *a, double U)
{
    return PL_VACUUM_PERMITTIVITY * a->permittivity * U * U / (a->thickness * a->thickness);
}

static double film_field_slope(const pl_actuator *a, double U)
{
    return 2 * PL_VACUUM_PERMITTIVITY * a->permittivity * U / (a->thickness * a->thickness);
}

static double drive_effort(const drive *d, const pl_problem *p)
{
    return d->mode == MODE_CONSTRAINT ? d->sign * p->row[d->row].multiplier : d->effort;
}

// The tension with which friction is computed: the one given, or that of the last update.
static double drive_pull(const drive *d)
{
    return d->mode == MODE_EFFORT ? d->path.value : d->capstan->pull;
}

// Measure, effort and curvature at x; returns Phi. The force of a prescribed effort is known beforehand: it
// is added to `full`, where that is given, in the same pass.
static double drive_evaluate(drive *d, pl_row *row, const double *x, double *full)
{
    const pl_actuator *a = d->a;
    const double value = d->path.value;
    double *with = d->mode == MODE_EFFORT && value != 0 ? full : NULL;
    const double h = pl_functional_evaluate(&d->h, x, d->sign * value, with);

    row->measure = h;
    row->curvature = 0;
    switch (d->mode) {
    case MODE_EFFORT:
        d->effort = value;
        return d->sign * value * h;
    case MODE_GAS: {
        const double V = h + a->line_volume, nRT = gas_amount(a, value);
        d->effort = nRT / V - a->ambient; // -dPhi/dV
        row->curvature = nRT / (V * V);
        return V > 0 ? -nRT * log(V / (a->rest + a->line_volume)) + a->ambient * h : INFINITY;
    }
    case MODE_VOLTAGE: {
        // the effort whose work e dA / A is that of the Maxwell stress in a film stretched uniformly
        const double k = film_field(a, value);
        d->charged = pl_functional_value(&d->charge, x);
        d->effort = k * d->charged / h;
        return k > 0 ? -0.5 * k * d->charged : 0;
    }
    default:
        return 0;
    }
}

// dh/dx in full into `gradient`, and gathered into the row
static void drive_row(const drive *d, pl_problem *p, const double *x, double *gradient)
{
    memset(gradient, 0, pl_problem_full_bytes(p));
    pl_functional_gradient(&d->h, x, 1, gradient);
    pl_problem_gather(p, gradient, x, p->row[d->row].a);
}

// Potentials act through the gradient, constraints and curved potentials also need their row.
static void drive_gradient(const drive *d, pl_problem *p, const double *x, double *full)
{
    const pl_row *row = &p->row[d->row];
    const bool acts = d->mode != MODE_CONSTRAINT && d->effort != 0;

    if (d->mode == MODE_VOLTAGE) {
        if (acts) {
            pl_functional_gradient(&d->charge, x, -0.5 * film_field(d->a, d->path.value), full);
        }
        return;
    }

    if (!row->constraint && row->curvature == 0) {
        if (acts && d->mode != MODE_EFFORT) {
            pl_functional_gradient(&d->h, x, d->sign * d->effort, full);
        }
        return;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *gradient = pl_problem_take_full(p);
    drive_row(d, p, x, gradient);
    for (int64_t k = 0; acts && k < 3 * (int64_t)p->mesh.vertex_count; ++k) {
        full[k] += d->sign * d->effort * gradient[k];
    }
    pl_arena_end(&p->scratch, mark);
}

static void actuators_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                               double *full)
{
    const double *x = here->x;
    actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        drive *d = &t->drive[i];
        *energy += drive_evaluate(d, &p->row[d->row], x, full);
        *energy += d->capstan ? capstan_evaluate(d->capstan, x, drive_pull(d), full) : 0;
    }

    for (int i = 0; full && i < t->count; ++i) {
        drive_gradient(&t->drive[i], p, x, full);
    }
}

static void actuators_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    const actuators_term *t = self;
    for (int i = 0; !positive && i < t->count; ++i) {
        // second derivatives of functionals have no sign; the rank-one part of curved potentials is a row
        const drive *d = &t->drive[i];
        const double effort = drive_effort(d, p);
        if (d->mode == MODE_VOLTAGE) {
            if (effort != 0) {
                pl_problem_add_functional(p, &d->charge, &d->charge_slots, x,
                                          -0.5 * film_field(d->a, d->path.value));
            }
        } else if (effort != 0 && (d->mode != MODE_CONSTRAINT || p->row[d->row].active)) {
            pl_problem_add_functional(p, &d->h, &d->slots, x, d->sign * effort);
        }
        if (d->capstan) {
            capstan_tangent(d->capstan, p, x, drive_pull(d));
        }
    }
}

static uint64_t actuators_fingerprint(const void *self, const pl_problem *p, uint64_t hash)
{
    (void)p;
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const drive *d = &t->drive[i];
        const double number[2] = {d->mode, drive_effort(d, p) + 0.0};
        hash = pl_hash_bytes(hash, number, sizeof number);
        hash = d->capstan ? pl_hash_bytes(hash, d->capstan->tension,
                                          (size_t)d->capstan->pieces * sizeof *d->capstan->tension)
                          : hash;
    }

    return hash;
}

// ---- friction in guides: forces that follow the shape when advanced
static bool actuators_lag(const void *self, pl_problem *p, const double *x, const double *dx, double *full)
{
    const actuators_term *t = self;
    bool any = false;

    for (int i = 0; i < t->count; ++i) {
        const drive *d = &t->drive[i];
        any = any || d->capstan;
        if (d->capstan && full) {
            capstan_lag(d->capstan, p, x, dx, drive_effort(d, p), full);
        }
    }

    return any;
}

static void actuators_accept(void *self, pl_problem *p, const double *x, pl_accept how)
{
    (void)how;
    actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        if (t->drive[i].capstan) {
            capstan_advance(t->drive[i].capstan, x, drive_effort(&t->drive[i], p));
        }
    }
}

static int64_t actuators_save(const void *self, double *out)
{
    const actuators_term *t = self;
    int64_t count = 0;
    for (int i = 0; i < t->count; ++i) {
        const capstan *c = t->drive[i].capstan;
        count += c ? capstan_save(c, out ? out + count : NULL) : 0;
    }
    return count;
}

static void actuators_revert(void *self, pl_problem *p, const double *saved)
{
    (void)p;
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        capstan *c = t->drive[i].capstan;
        if (c) {
            capstan_revert(c, saved);
            saved += capstan_save(c, NULL);
        }
    }
}

// ---- states
static void actuators_store(const void *self, const pl_problem *p, const double *command, double at,
                            pl_state *state)
{
    (void)command;
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const drive *d = &t->drive[i];
        if (at < 1 && !d->path.idle) {
            state->command[d->a->command] = drive_path_command(&d->path, d->a);
        }
        state->multiplier[d->actuator] = drive_effort(d, p);
        state->active[d->actuator] = d->mode != MODE_CONSTRAINT || p->row[d->row].active;
        if (d->capstan) {
            capstan_store(d->capstan, state);
        }
    }
}

static void actuators_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    (void)p;
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const drive *d = &t->drive[i];
        const double effort = state->multiplier[d->actuator];
        if (d->capstan) {
            capstan_forces(d->capstan, state, full);
        } else if (d->mode == MODE_VOLTAGE) {
            // e = k c / A
            const double c = pl_functional_value(&d->charge, state->x);
            pl_functional_gradient(&d->charge, state->x,
                                   -0.5 * effort * pl_functional_value(&d->h, state->x) / c, full);
        } else {
            pl_functional_gradient(&d->h, state->x, d->sign * effort, full);
        }
    }
}

// ---- derivatives
// By the actuator's own value: d(target) of constraints, d(dPhi/dh) of potentials.
static void drive_value_derivative(const drive *d, const pl_problem *p, double *target, double *force)
{
    const pl_actuator *a = d->a;
    *target = *force = 0;
    switch (d->mode) {
    case MODE_CONSTRAINT:
        *target = pl_actuator_goal_slope(a, d->path.input);
        break;
    case MODE_EFFORT:
        *force = d->sign;
        break;
    case MODE_GAS:
        *force = -a->ambient / (p->row[d->row].measure + a->line_volume);
        break;
    case MODE_VOLTAGE:
        break; // acts through the charge: drive_field_derivative
    }
}

// Is q an effort added to that of this actuator?
static bool drive_pulls(const drive *d, const pl_parameter *q)
{
    return q && q->kind == PL_PARAMETER_EFFORT && d->actuator == q->index;
}

// How eps (U / t)^2 changes with q, of voltages.
static double drive_field_derivative(const drive *d, const pl_parameter *q)
{
    const bool own = d->mode == MODE_VOLTAGE && q && q->kind == PL_PARAMETER_COMMAND &&
                     d->a->command == q->index && !d->path.idle;
    return own ? film_field_slope(d->a, d->path.value) * drive_path_slope(&d->path, q) : 0;
}

// How target and dPhi/dh change with q. An actuator by itself is moved by its measure while a constraint
// holds it, otherwise by a further effort.
static bool drive_derivative(const drive *d, const pl_problem *p, const pl_parameter *q, double *target,
                             double *force)
{
    *target = *force = 0;
    if (q && q->kind == PL_PARAMETER_COMMAND && d->a->command == q->index && !d->path.idle) {
        drive_value_derivative(d, p, target, force);
        *target *= drive_path_slope(&d->path, q);
        *force *= drive_path_slope(&d->path, q);
        return true;
    }

    if (drive_pulls(d, q)) {
        *force = d->sign;
        return true;
    }

    if (q && q->kind == PL_PARAMETER_ACTUATOR && d->actuator == q->index) {
        const bool held = p->row[d->row].constraint && p->row[d->row].active;
        *target = held ? 1 : 0;
        *force = held ? 0 : d->sign;
        return true;
    }

    return false;
}

static pl_status actuators_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                      double *full, double *target, pl_error *err)
{
    (void)err;
    const actuators_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const drive *d = &t->drive[i];
        double goal, force;
        if (!drive_derivative(d, p, q, &goal, &force)) {
            continue;
        }
        if (force != 0 && d->capstan) {
            capstan_rate(d->capstan, state->x, drive_effort(d, p), -force, full);
        } else if (force != 0) {
            pl_functional_gradient(&d->h, state->x, -force, full);
        }
        // the tensions of its pieces follow the one that the length determines: not in the derivative
        p->friction_acts = p->friction_acts || (d->capstan && d->mode == MODE_CONSTRAINT);
        const double field = drive_field_derivative(d, q);
        if (field != 0) {
            pl_functional_gradient(&d->charge, state->x, 0.5 * field, full);
        }
        target[d->row] += goal;
    }

    return PL_OK;
}

// Two outputs per actuator: measure, effort; then the tensions of the pieces of cables with friction.
static int actuators_output_count(const void *self)
{
    const actuators_term *t = self;
    int count = 2 * t->count;
    for (int i = 0; i < t->count; ++i) {
        count += t->drive[i].capstan ? t->drive[i].capstan->pieces : 0;
    }
    return count;
}

// The cable and the piece of an output beyond measures and efforts; NULL: it is none.
static const capstan *actuators_piece(const actuators_term *t, int k, int *piece)
{
    *piece = k - 2 * t->count;
    for (int i = 0; *piece >= 0 && i < t->count; ++i) {
        const capstan *c = t->drive[i].capstan;
        if (c && *piece < c->pieces) {
            return c;
        }
        *piece -= c ? c->pieces : 0;
    }

    return NULL;
}

static pl_output actuators_output(const void *self, int k)
{
    const actuators_term *t = self;
    int piece;
    const capstan *c = actuators_piece(t, k, &piece);

    if (c) {
        return (pl_output){
            .kind = PL_OUTPUT_READING,
            .actuator = -1,
            .info = {.group = "cables", .name = c->a->name, .quantity = c->quantity[piece], .unit = "N"}};
    }

    return (pl_output){.kind = k % 2 == 0 ? PL_OUTPUT_MEASURE : PL_OUTPUT_EFFORT,
                       .actuator = t->drive[k / 2].actuator};
}

static double actuators_value(void *self, pl_problem *p, const pl_state *state, int k)
{
    (void)p;
    int piece;
    const capstan *c = actuators_piece(self, k, &piece);
    if (c) {
        return state->history[PL_STATE_TENSION].value[c->first + piece];
    }

    const drive *d = &((const actuators_term *)self)->drive[k / 2];
    const double measure = pl_functional_value(&d->h, state->x);

    return k % 2 == 0 ? measure : drive_reported(d->a, state->multiplier[d->actuator], measure);
}

// Of the tension of a piece: by that of the drive, and by the angles.
static double piece_change(actuators_term *t, pl_problem *p, const pl_state *state, const capstan *c,
                           int piece, const double *dx, const double *mu, const pl_parameter *q)
{
    const drive *d = t->drive;
    while (d->capstan != c) {
        ++d;
    }

    double target, force;
    drive_derivative(d, p, q, &target, &force);
    const bool held = p->row[d->row].constraint && p->row[d->row].active;
    const double pull = d->sign * (held ? (mu ? mu[d->row] : 0) : force);

    return capstan_change(c, p, state->x, piece, drive_effort(d, p), dx, pull);
}

static double actuators_change(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                               const double *mu, const pl_parameter *q)
{
    int piece;
    const capstan *c = actuators_piece(self, k, &piece);

    if (c) {
        return piece_change(self, p, state, c, piece, dx, mu, q);
    }

    const drive *d = &((const actuators_term *)self)->drive[k / 2];
    const pl_row *row = &p->row[d->row];
    const double measure = dx ? drive_measure_change(p, &d->h, state->x, dx) : 0;
    if (k % 2 == 0) {
        return measure;
    }

    double target, force;
    drive_derivative(d, p, q, &target, &force);
    const bool held = row->constraint && row->active;
    if (d->mode == MODE_VOLTAGE) {
        // e = k c / A
        const double now = film_field(d->a, d->path.value), field = drive_field_derivative(d, q);
        const double charged = dx ? drive_measure_change(p, &d->charge, state->x, dx) : 0;
        const double effort =
            (field * d->charged + now * charged - d->effort * measure) / p->row[d->row].measure +
            d->sign * force;
        return drive_reported_change(d->a, d->effort, p->row[d->row].measure, effort, measure);
    }

    const double effort = d->sign * (held ? (mu ? mu[d->row] : 0) : force + row->curvature * measure) +
                          (held && drive_pulls(d, q) ? 1 : 0);

    return drive_reported_change(d->a, drive_effort(d, p), p->row[d->row].measure, effort, measure);
}

static void actuators_pull_back(void *self, pl_problem *p, const pl_state *state, int k, double weight,
                                double *full, double *rho)
{
    int piece;
    if (actuators_piece(self, k, &piece)) {
        return; // systems with forces that lag are differentiated forwards
    }

    const drive *d = &((const actuators_term *)self)->drive[k / 2];
    const pl_actuator *a = d->a;
    const pl_row *row = &p->row[d->row];
    if (k % 2 == 0) {
        pl_functional_gradient(&d->h, state->x, weight, full);
        return;
    }

    if (d->mode == MODE_VOLTAGE) {
        // e A / (A0 t) = k c / (A0 t)
        pl_functional_gradient(&d->charge, state->x,
                               weight * film_field(a, d->path.value) / (a->rest * a->thickness), full);
        return;
    }

    const double w = drive_reported(a, weight, p->row[d->row].measure) * d->sign;
    const double own = drive_reports_stress(a) ? weight * drive_effort(d, p) / (a->rest * a->thickness) : 0;
    pl_functional_gradient(&d->h, state->x, w * row->curvature + own, full);
    if (row->constraint) {
        rho[d->row] += w;
    }
}

static const pl_term_steps actuators_steps = {.check = actuators_check,
                                              .begin = actuators_begin,
                                              .set = actuators_set,
                                              .one_sided = actuators_one_sided,
                                              .accept = actuators_accept,
                                              .save = actuators_save,
                                              .revert = actuators_revert,
                                              .store = actuators_store};

static const pl_term_outputs actuators_outputs = {.count = actuators_output_count,
                                                  .about = actuators_output,
                                                  .value = actuators_value,
                                                  .change = actuators_change,
                                                  .pull_back = actuators_pull_back};

static const pl_term actuators_kind = {.name = "actuators",
                                       .destroy = actuators_destroy,
                                       .pattern = actuators_pattern,
                                       .bind = actuators_bind,
                                       .evaluate = actuators_evaluate,
                                       .tangent = actuators_tangent,
                                       .lag = actuators_lag,
                                       .fingerprint = actuators_fingerprint,
                                       .forces = actuators_forces,
                                       .derivative = actuators_derivative,
                                       .steps = &actuators_steps,
                                       .outputs = &actuators_outputs};

pl_status term_actuators_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    const pl_robot *robot = p->robot;
    actuators_term *t = PL_NEW(actuators_term);

    if (!t) {
        return pl_fail_memory(err, "problem: actuators");
    }
    *out = (pl_problem_term){&actuators_kind, t};
    t->drive = PL_NEW_ARRAY(drive, robot->actuator_count);
    pl_status status = t->drive ? PL_OK : pl_fail_memory(err, "problem: actuators");
    for (int i = 0; status == PL_OK && i < robot->actuator_count; ++i) {
        const pl_actuator *a = &robot->actuator[i];
        if (a->growth) {
            continue;
        }
        drive *d = &t->drive[t->count++];
        *d = (drive){.a = a, .actuator = i, .sign = pl_actuator_kind_get(a->kind)->sign};
        status = pl_problem_new_row(p, &d->row, err);
        if (status == PL_OK) {
            p->row[d->row].h = &d->h;
            p->row[d->row].inequality = pl_actuator_kind_get(a->kind)->pulls_only;
            p->row[d->row].unit = a->rest;
            status = drive_functional(p, a, &d->h);
        }
        if (status == PL_OK) {
            status = capstan_create(robot, i, &d->capstan);
        }
        if (status == PL_OK && drive_mode_of(a) == MODE_VOLTAGE) {
            status = pl_film_functional(robot->mesh, a, PL_FILM_CHARGE, &d->charge);
        }
        if (status == PL_NO_MEMORY) {
            status = pl_fail_memory(err, "problem: actuators");
        }
    }

    return status;
}
