// Springs between two markers, or from a marker to a point in space: E = k/2 (l - l0)^2 with the length l of
// the straight line between their ends; a spring that cannot push has no energy where l < l0.
//
// The rest length comes with the dead loads: l0(load) = L + load (l0 - L), L the distance in the undeformed
// configuration, so that a prestressed spring leaves the undeformed body at rest where there is no load.
#include "problem/problem_impl.h"

typedef struct spring {
    const pl_spring *s;
    pl_functional h; // its length: one piece
    pl_slots slots;
} spring;

typedef struct springs_term {
    spring *spring;
    int count;
} springs_term;

static void springs_destroy(void *object)
{
    springs_term *t = object;
    for (int i = 0; t->spring && i < t->count; ++i) {
        pl_functional_clear(&t->spring[i].h);
        pl_slots_clear(&t->spring[i].slots);
    }

    pl_free(t->spring);
    pl_free(t);
}

static void springs_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    const springs_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        pl_pattern_functional(out, p, &t->spring[i].h);
    }
}

static pl_status springs_bind(void *self, pl_problem *p, pl_error *err)
{
    springs_term *t = self;
    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < t->count; ++i) {
        status = pl_slots_bind(p, &t->spring[i].h, &t->spring[i].slots, err);
    }
    return status;
}

// dE/dl and d2E/dl2 at the length l; returns E.
static double spring_law(const pl_spring *s, double load, double l, double *tension, double *rate)
{
    const double l0 = s->distance + load * (s->rest - s->distance), stretch = l - l0;
    const bool slack = s->tension_only && stretch < -PL_TAUT * l0;
    *tension = slack ? 0 : s->stiffness * stretch;
    *rate = slack ? 0 : s->stiffness;
    return slack ? 0 : 0.5 * s->stiffness * stretch * stretch;
}

static void springs_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                             double *full)
{
    const double *x = here->x;
    const springs_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        double tension, rate;
        const pl_functional *h = &t->spring[i].h;
        *energy += spring_law(t->spring[i].s, p->load, pl_functional_value(h, x), &tension, &rate);
        if (full) {
            pl_functional_gradient(h, x, tension, full);
        }
    }
}

// d2E/dx2 = T d2l/dx2 + k dl/dx dl/dx^T, with dl/dx_j = c_j u, u the unit vector of the line. The second
// derivative of a length is positive semidefinite: only a spring that pushes takes something away.
static void spring_tangent(const spring *s, pl_problem *p, const double *x, bool positive)
{
    const pl_functional *h = &s->h;
    const double *c = h->data + h->piece[0].data_start;
    const int32_t *node = h->node + h->piece[0].node_start, count = h->piece[0].node_count;
    double tension, rate, u[3], *H = p->tangent.dense;
    const double l = pl_functional_value(h, x);

    spring_law(s->s, p->load, l, &tension, &rate);
    pl_functional_hessian(h, 0, x, positive ? fmax(tension, 0) : tension, H);
    memcpy(u, h->piece[0].constant, sizeof u);
    for (int32_t j = 0; j < count; ++j) {
        for (int i = 0; i < 3; ++i) {
            u[i] += c[j] * x[3 * (int64_t)node[j] + i];
        }
    }

    for (int64_t r = 0; r < 3 * count; ++r) {
        for (int64_t q = 0; q < 3 * count; ++q) {
            H[r * 3 * count + q] += rate * (c[r / 3] * u[r % 3] / l) * (c[q / 3] * u[q % 3] / l);
        }
    }

    pl_problem_add_piece(p, h, &s->slots, 0, x);
}

static void springs_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    const springs_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        spring_tangent(&t->spring[i], p, x, positive);
    }
}

static bool springs_one_sided(const void *self, const pl_problem *p, const pl_state *state)
{
    (void)p;
    const springs_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const pl_spring *s = t->spring[i].s;
        double tension, rate;
        spring_law(s, state->load, pl_functional_value(&t->spring[i].h, state->x), &tension, &rate);
        if (s->tension_only && rate > 0 && tension <= PL_TAUT * rate * s->distance) {
            return true;
        }
    }

    return false;
}

static void springs_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    (void)p;
    const springs_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        double tension, rate;
        const pl_functional *h = &t->spring[i].h;
        spring_law(t->spring[i].s, state->load, pl_functional_value(h, state->x), &tension, &rate);
        pl_functional_gradient(h, state->x, tension, full);
    }
}

// ---- readings: tension and length of each spring
static int springs_output_count(const void *self)
{
    return 2 * ((const springs_term *)self)->count;
}

static pl_output springs_output(const void *self, int k)
{
    const springs_term *t = self;
    return (pl_output){.kind = PL_OUTPUT_READING,
                       .actuator = -1,
                       .info = {.group = "springs",
                                .name = t->spring[k / 2].s->name,
                                .quantity = k % 2 == 0 ? "tension" : "length",
                                .unit = k % 2 == 0 ? "N" : "mm"}};
}

static double springs_value(void *self, pl_problem *p, const pl_state *state, int k)
{
    (void)p;
    const spring *s = &((const springs_term *)self)->spring[k / 2];
    const double l = pl_functional_value(&s->h, state->x);
    double tension, rate;
    spring_law(s->s, state->load, l, &tension, &rate);
    return k % 2 == 0 ? tension : l;
}

// d(reading)/dl
static double spring_by_length(const spring *s, const pl_state *state, int k)
{
    double tension, rate;
    spring_law(s->s, state->load, pl_functional_value(&s->h, state->x), &tension, &rate);
    return k % 2 == 0 ? rate : 1;
}

static double springs_change(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                             const double *mu, const pl_parameter *q)
{
    (void)mu;
    (void)q;
    const spring *s = &((const springs_term *)self)->spring[k / 2];
    if (!dx) {
        return 0;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *gradient = pl_problem_take_full(p), sum = 0;
    memset(gradient, 0, pl_problem_full_bytes(p));
    pl_functional_gradient(&s->h, state->x, spring_by_length(s, state, k), gradient);
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        sum += gradient[i] * dx[i];
    }
    pl_arena_end(&p->scratch, mark);

    return sum;
}

static void springs_pull_back(void *self, pl_problem *p, const pl_state *state, int k, double weight,
                              double *full, double *rho)
{
    (void)p;
    (void)rho;
    const spring *s = &((const springs_term *)self)->spring[k / 2];
    pl_functional_gradient(&s->h, state->x, weight * spring_by_length(s, state, k), full);
}

static const pl_term_steps springs_steps = {.one_sided = springs_one_sided};

static const pl_term_outputs springs_outputs = {.count = springs_output_count,
                                                .about = springs_output,
                                                .value = springs_value,
                                                .change = springs_change,
                                                .pull_back = springs_pull_back};

static const pl_term springs_kind = {.name = "springs",
                                     .destroy = springs_destroy,
                                     .pattern = springs_pattern,
                                     .bind = springs_bind,
                                     .evaluate = springs_evaluate,
                                     .tangent = springs_tangent,
                                     .forces = springs_forces,
                                     .steps = &springs_steps,
                                     .outputs = &springs_outputs};

pl_status term_springs_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    const pl_robot *robot = p->robot;
    if (robot->spring_count == 0) {
        return PL_OK;
    }

    springs_term *t = PL_NEW(springs_term);
    if (!t) {
        return pl_fail_memory(err, "problem: springs");
    }
    *out = (pl_problem_term){&springs_kind, t};
    t->spring = PL_NEW_ARRAY(spring, robot->spring_count);
    pl_status status = t->spring ? PL_OK : PL_NO_MEMORY;
    for (int i = 0; status == PL_OK && i < robot->spring_count; ++i) {
        spring *s = &t->spring[t->count++];
        s->s = &robot->spring[i];
        const pl_point space = {.rest = {s->s->point[0], s->s->point[1], s->s->point[2]}};
        const pl_point *a = &robot->marker[s->s->from].point,
                       *b = s->s->to >= 0 ? &robot->marker[s->s->to].point : &space;
        status = pl_functional_add_segment(&s->h, a->count, a->node, a->weight, a->rest, b->count, b->node,
                                           b->weight, b->rest);
    }

    return status == PL_OK ? PL_OK : pl_fail_memory(err, "problem: springs");
}
