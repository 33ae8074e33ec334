// Fibres bonded to faces: U = sum over faces EA/2 (l - 1)^2 L, l the mean stretch of the face along the
// fibre, from the same interpolated strain as layers (element/layer.h), l^2 = 1 + 2 mean(f^a f^b E_ab), L the
// length on the face. Stretched by p before it was bonded, a fibre has the rest length L / p and the stretch
// p l: EA/2 (p l - 1)^2 L / p; p comes with the dead loads, from 1. An inextensible fibre has a stiffness far
// above the body's (robot_fibre.c); the strain left is reported.
#include <float.h>
#include <stdlib.h>
#include "problem/term_faces.h"

#define FIBRE_NOISE 100.0 // rounding error of a nodal force over eps |x| EA length / edge^2 (as LAYER_NOISE)
#define FIBRE_ALIKE 0.9   // cosine: crossings of one face whose directions differ by less count as one

// The steps of one fibre on one face.
typedef struct fibre_unit {
    int fibre, nodes;
    int32_t node[6];
    int64_t first, count; // steps
    double rest[PL_LAYER_STRAINS];
} fibre_unit;

// What crosses a face in one direction, all windings together: the strain is linear on the face, so its mean
// along a crossing is that at the middle, and lengths are exact. Windings that each hold their own strain
// would lock a face: six conditions of two dense families on its six unknowns. Rings are one family, and each
// of them holds its own strain: three conditions at most, and the wall cannot widen between their mean.
typedef struct fibre_bit {
    double row[PL_LAYER_STRAINS]; // mean strain along the fibre = row . (d - rest)
    double length;                // mm, all windings
    double direction[3];          // of the first
} fibre_bit;

typedef struct fibres_term {
    const pl_robot *robot;
    faces_tables tables;
    fibre_unit *unit;
    int64_t unit_count;
    fibre_bit *bit;
    int64_t bit_count;
    faces_pieces pieces;
} fibres_term;

static void fibres_destroy(void *object)
{
    fibres_term *t = object;
    faces_pieces_clear(&t->pieces);
    pl_free(t->unit);
    pl_free(t->bit);
    pl_free(t);
}

static void fibres_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    pl_pattern_functional(out, p, &((const fibres_term *)self)->pieces.h);
}

static pl_status fibres_bind(void *self, pl_problem *p, pl_error *err)
{
    fibres_term *t = self;
    return pl_slots_bind(p, &t->pieces.h, &t->pieces.slots, err);
}

static const pl_face_table *fibres_table(const fibres_term *t, const fibre_unit *u)
{
    return u->nodes == 6 ? &t->tables.quadratic : &t->tables.linear;
}

// Strain parameters of a unit at x, relative to rest; `here` gets the positions.
static void unit_strains(const fibres_term *t, const fibre_unit *u, const double *x, double *here,
                         double d[PL_LAYER_STRAINS])
{
    const pl_face_table *table = fibres_table(t, u);
    faces_gather(x, u->node, u->nodes, here);
    pl_face_strains(table, here, d);
    for (int k = 0; k < table->strains; ++k) {
        d[k] -= u->rest[k];
    }
}

// Stretch along a bit; 0 where it cannot be.
static double bit_stretch(const fibre_bit *b, int strains, const double *d)
{
    double e = 0;
    for (int k = 0; k < strains; ++k) {
        e += b->row[k] * d[k];
    }
    return 1 + 2 * e > 0 ? sqrt(1 + 2 * e) : 0;
}

static double fibre_prestretch(const pl_fibre *f, double load)
{
    return 1 + load * (f->prestretch - 1);
}

// `stretch` from its own rest.
static bool fibre_acts(const pl_fibre *f, double stretch)
{
    return !f->tension_only || stretch >= 1 - PL_TAUT;
}

// Energy of a unit per unit of stiffness; U = dE/dd, and UU (may be NULL) the second derivatives.
static double unit_potential(const fibres_term *t, const fibre_unit *u, double load, const double *d,
                             double *U, double *UU)
{
    const pl_fibre *f = &t->robot->fibre[u->fibre];
    const double pre = fibre_prestretch(f, load);
    const int n = fibres_table(t, u)->strains;
    double energy = 0;

    memset(U, 0, PL_LAYER_STRAINS * sizeof *U);
    if (UU) {
        memset(UU, 0, PL_LAYER_STRAINS * PL_LAYER_STRAINS * sizeof *UU);
    }

    for (int64_t k = u->first; k < u->first + u->count; ++k) {
        const fibre_bit *b = &t->bit[k];
        const double l = bit_stretch(b, n, d);
        if (l == 0) {
            return INFINITY;
        }
        if (!fibre_acts(f, pre * l)) {
            continue;
        }
        energy += 0.5 * b->length / pre * (pre * l - 1) * (pre * l - 1);
        const double slope = b->length * (pre * l - 1) / l, rate = b->length / (l * l * l);
        for (int i = 0; i < n; ++i) {
            U[i] += slope * b->row[i];
            for (int j = 0; UU && j < n; ++j) {
                UU[PL_LAYER_STRAINS * i + j] += rate * b->row[i] * b->row[j];
            }
        }
    }

    return energy;
}

static void unit_add(const fibre_unit *u, const double *g, double scale, double *full)
{
    for (int i = 0; i < 3 * u->nodes; ++i) {
        full[3 * (int64_t)u->node[i / 3] + i % 3] += scale * g[i];
    }
}

// With `only` >= 0 one fibre, per unit of stiffness.
static double fibres_energy(const fibres_term *t, double load, const double *x, int only, double scale,
                            double *full)
{
    double energy = 0;
    for (int64_t k = 0; k < t->unit_count; ++k) {
        const fibre_unit *u = &t->unit[k];
        if (only >= 0 && u->fibre != only) {
            continue;
        }
        double here[18], d[PL_LAYER_STRAINS], U[PL_LAYER_STRAINS], g[18] = {0};
        unit_strains(t, u, x, here, d);
        const double stiffness = only >= 0 ? 1 : t->robot->fibre[u->fibre].stiffness;
        energy += stiffness * unit_potential(t, u, load, d, U, NULL);
        if (full && isfinite(energy)) {
            pl_face_strains_pull(fibres_table(t, u), here, U, g);
            unit_add(u, g, scale * stiffness, full);
        }
    }

    return energy;
}

static void fibres_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                            double *full)
{
    const double *x = here->x;
    *energy += fibres_energy(self, p->load, x, -1, 1, full);
}

static void fibres_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    (void)p;
    fibres_energy(self, state->load, state->x, -1, 1, full);
}

// dE/dd that the linear step of `step` leads to.
static void unit_ahead(const fibres_term *t, const fibre_unit *u, double load, const pl_ahead *step,
                       double *ahead)
{
    const pl_face_table *table = fibres_table(t, u);
    const double stiffness = t->robot->fibre[u->fibre].stiffness;
    const int n = table->strains, m = 3 * u->nodes;
    double here[18], dx[18], d[PL_LAYER_STRAINS], J[PL_LAYER_STRAINS * 18];
    double UU[PL_LAYER_STRAINS * PL_LAYER_STRAINS];

    unit_strains(t, u, step->x, here, d);
    faces_gather(step->dx, u->node, u->nodes, dx);
    unit_potential(t, u, load, d, ahead, UU);
    pl_face_strains_rows(table, here, m, J);
    for (int c = 0; c < n; ++c) {
        double change = 0;
        for (int i = 0; i < m; ++i) {
            change += J[c * m + i] * dx[i];
        }
        for (int r = 0; r < n; ++r) {
            ahead[r] += UU[PL_LAYER_STRAINS * r + c] * change;
        }
    }

    for (int r = 0; r < n; ++r) {
        ahead[r] *= stiffness;
    }
}

static void fibres_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    const fibres_term *t = self;
    for (int64_t k = 0; k < t->unit_count; ++k) {
        const fibre_unit *u = &t->unit[k];
        const pl_face_table *table = fibres_table(t, u);
        const double stiffness = t->robot->fibre[u->fibre].stiffness;
        const int n = table->strains, m = 3 * u->nodes;
        double at[18], d[PL_LAYER_STRAINS], U[PL_LAYER_STRAINS], UU[PL_LAYER_STRAINS * PL_LAYER_STRAINS];
        double J[PL_LAYER_STRAINS * 18], *H = p->tangent.dense;
        unit_strains(t, u, x, at, d);
        unit_potential(t, u, p->load, d, U, UU);
        pl_face_strains_rows(table, at, m, J);
        memset(H, 0, (size_t)m * m * sizeof *H);
        for (int r = 0; r < n; ++r) {
            double T[18] = {0};
            U[r] *= stiffness;
            for (int c = 0; c < n; ++c) {
                for (int j = 0; j < m; ++j) {
                    T[j] += stiffness * UU[PL_LAYER_STRAINS * r + c] * J[c * m + j];
                }
            }
            for (int i = 0; i < m; ++i) {
                for (int j = 0; j < m; ++j) {
                    H[i * m + j] += J[r * m + i] * T[j];
                }
            }
        }
        if (here->predicted) {
            unit_ahead(t, u, p->load, here->predicted, U);
        }
        pl_face_strains_curve(table, U, positive, m, H);
        pl_problem_add_piece(p, &t->pieces.h, &t->pieces.slots, (int)k, x);
    }
}

// full -= d2U/dx dp: of EA L (p l - 1) / l along the rows.
static void fibres_by_prestretch(const fibres_term *t, const pl_state *state, int fibre, double *full)
{
    const pl_fibre *f = &t->robot->fibre[fibre];
    for (int64_t k = 0; k < t->unit_count; ++k) {
        const fibre_unit *u = &t->unit[k];
        double here[18], d[PL_LAYER_STRAINS], U[PL_LAYER_STRAINS] = {0}, g[18] = {0};
        if (u->fibre != fibre) {
            continue;
        }
        unit_strains(t, u, state->x, here, d);
        const int n = fibres_table(t, u)->strains;
        for (int64_t b = u->first; b < u->first + u->count; ++b) {
            const double l = bit_stretch(&t->bit[b], n, d);
            for (int i = 0; fibre_acts(f, fibre_prestretch(f, state->load) * l) && i < n; ++i) {
                U[i] += t->bit[b].length * t->bit[b].row[i];
            }
        }
        pl_face_strains_pull(fibres_table(t, u), here, U, g);
        unit_add(u, g, -state->load * f->stiffness, full);
    }
}

static pl_status fibres_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                   double *full, double *target, pl_error *err)
{
    (void)p;
    (void)target;
    (void)err;
    if (q->kind == PL_PARAMETER_FIBRE && q->part == 1) {
        fibres_by_prestretch(self, state, q->index, full);
    } else if (q->kind == PL_PARAMETER_FIBRE) {
        fibres_energy(self, state->load, state->x, q->index, -1, full);
    }

    return PL_OK;
}

static bool fibres_one_sided(const void *self, const pl_problem *p, const pl_state *state)
{
    (void)p;
    const fibres_term *t = self;
    for (int64_t k = 0; k < t->unit_count; ++k) {
        const fibre_unit *u = &t->unit[k];
        double here[18], d[PL_LAYER_STRAINS];
        const pl_fibre *f = &t->robot->fibre[u->fibre];
        if (!f->tension_only) {
            continue;
        }
        const double pre = fibre_prestretch(f, state->load);
        unit_strains(t, u, state->x, here, d);
        for (int64_t b = u->first; b < u->first + u->count; ++b) {
            if (fabs(pre * bit_stretch(&t->bit[b], fibres_table(t, u)->strains, d) - 1) <= PL_TAUT) {
                return true;
            }
        }
    }

    return false;
}

// ---- readings: largest tension and strain along a fibre, and its length
enum { FIBRE_TENSION, FIBRE_STRAIN, FIBRE_LENGTH, FIBRE_READINGS };

static int fibres_output_count(const void *self)
{
    return FIBRE_READINGS * ((const fibres_term *)self)->robot->fibre_count;
}

static pl_output fibres_output(const void *self, int k)
{
    static const char *const quantity[] = {"tension", "strain", "length"}, *const unit[] = {"N", "1", "mm"};
    const fibres_term *t = self;
    return (pl_output){.kind = PL_OUTPUT_READING,
                       .actuator = -1,
                       .info = {.group = "fibres",
                                .name = t->robot->fibre[k / FIBRE_READINGS].name,
                                .quantity = quantity[k % FIBRE_READINGS],
                                .unit = unit[k % FIBRE_READINGS]}};
}

// The value, and with `full` its gradient; `most` gets the largest stretch from rest.
static double fibres_reading(const fibres_term *t, const pl_state *state, int k, double weight, double *full,
                             double *most)
{
    const int fibre = k / FIBRE_READINGS, what = k % FIBRE_READINGS;
    const pl_fibre *f = &t->robot->fibre[fibre];
    const double *x = state->x, pre = fibre_prestretch(f, state->load);
    double length = 0, largest = 0, here[18], d[PL_LAYER_STRAINS], U[PL_LAYER_STRAINS], g[18];
    int64_t unit = -1, bit = -1;

    for (int64_t i = 0; i < t->unit_count; ++i) {
        const fibre_unit *u = &t->unit[i];
        if (u->fibre != fibre) {
            continue;
        }
        const int n = fibres_table(t, u)->strains;
        unit_strains(t, u, x, here, d);
        memset(U, 0, sizeof U);
        for (int64_t b = u->first; b < u->first + u->count; ++b) {
            const double l = bit_stretch(&t->bit[b], n, d);
            length += l * t->bit[b].length;
            for (int s = 0; s < n; ++s) {
                U[s] += t->bit[b].length / l * t->bit[b].row[s];
            }
            if (l > largest) {
                largest = l;
                unit = i;
                bit = b;
            }
        }
        if (full && what == FIBRE_LENGTH) {
            memset(g, 0, sizeof g);
            pl_face_strains_pull(fibres_table(t, u), here, U, g);
            unit_add(u, g, weight, full);
        }
    }

    const bool acts = fibre_acts(f, pre * largest);
    if (full && what != FIBRE_LENGTH && unit >= 0 && (acts || what == FIBRE_STRAIN)) {
        const fibre_unit *u = &t->unit[unit];
        unit_strains(t, u, x, here, d);
        memset(g, 0, sizeof g);
        pl_face_strains_pull(fibres_table(t, u), here, t->bit[bit].row, g);
        unit_add(u, g, weight * (what == FIBRE_TENSION ? f->stiffness : 1) * pre / largest, full);
    }

    if (most) {
        *most = acts ? pre * largest : 1;
    }

    return what == FIBRE_LENGTH   ? length
           : what == FIBRE_STRAIN ? pre * largest - 1
           : acts                 ? f->stiffness * (pre * largest - 1)
                                  : 0;
}

static double fibres_value(void *self, pl_problem *p, const pl_state *state, int k)
{
    (void)p;
    return fibres_reading(self, state, k, 0, NULL, NULL);
}

static double fibres_change(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                            const double *mu, const pl_parameter *q)
{
    (void)mu;
    double sum = 0;
    const int fibre = k / FIBRE_READINGS, what = k % FIBRE_READINGS;
    if (q && q->kind == PL_PARAMETER_FIBRE && q->index == fibre && what != FIBRE_LENGTH) {
        const pl_fibre *f = &((const fibres_term *)self)->robot->fibre[fibre];
        double most; // a slack fibre: 1
        const double value = fibres_reading(self, state, k, 0, NULL, &most),
                     slope = state->load / fibre_prestretch(f, state->load);
        if (q->part == 0) {
            sum = what == FIBRE_TENSION ? most - 1 : 0;
        } else if (what == FIBRE_STRAIN) {
            sum = slope * (value + 1);
        } else {
            sum = value != 0 ? f->stiffness * slope * most : 0;
        }
    }

    if (dx) {
        const size_t mark = pl_arena_begin(&p->scratch);
        double *gradient = pl_problem_take_full(p);
        memset(gradient, 0, pl_problem_full_bytes(p));
        fibres_reading(self, state, k, 1, gradient, NULL);
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            sum += gradient[i] * dx[i];
        }
        pl_arena_end(&p->scratch, mark);
    }

    return sum;
}

static void fibres_pull_back(void *self, pl_problem *p, const pl_state *state, int k, double weight,
                             double *full, double *rho)
{
    (void)p;
    (void)rho;
    fibres_reading(self, state, k, weight, full, NULL);
}

// ---- creation
// The strain along a step as a row over d: f = f^a A_a, e = f^a f^b E_ab.
static void bit_init(const pl_face_table *table, const double *X, const pl_fibre_step *s, fibre_bit *out)
{
    double a[2][3], M[3 * PL_LAYER_STRAINS];
    pl_face_tangents(table, X, s->xi, a);
    pl_face_field(table, s->xi, M);
    const double g11 = pl_dot3(a[0], a[0]), g12 = pl_dot3(a[0], a[1]), g22 = pl_dot3(a[1], a[1]),
                 det = g11 * g22 - g12 * g12;
    const double c1 = pl_dot3(a[0], s->direction), c2 = pl_dot3(a[1], s->direction);
    const double f1 = (g22 * c1 - g12 * c2) / det, f2 = (g11 * c2 - g12 * c1) / det;
    for (int k = 0; k < table->strains; ++k) {
        out->row[k] =
            f1 * f1 * M[k] + f2 * f2 * M[PL_LAYER_STRAINS + k] + 2 * f1 * f2 * M[2 * PL_LAYER_STRAINS + k];
    }

    out->length = s->length;
    memcpy(out->direction, s->direction, sizeof out->direction);
}

// Adds a step to the unit under construction: to a bit of its direction, or as a new one.
static void unit_append(fibres_term *t, fibre_unit *u, const fibre_bit *step)
{
    for (int64_t k = u->first; k < u->first + u->count && !t->robot->fibre[u->fibre].parallel; ++k) {
        fibre_bit *b = &t->bit[k];
        if (fabs(pl_dot3(b->direction, step->direction)) < FIBRE_ALIKE) {
            continue;
        }
        const double length = b->length + step->length;
        for (int i = 0; i < PL_LAYER_STRAINS; ++i) {
            b->row[i] = (b->length * b->row[i] + step->length * step->row[i]) / length;
        }
        b->length = length;
        return;
    }

    t->bit[t->bit_count++] = *step;
    u->count++;
}

typedef struct fibre_order {
    int64_t face;
    int step;
} fibre_order;

static int order_compare(const void *a, const void *b)
{
    const fibre_order *x = a, *y = b;
    return x->face != y->face ? (x->face > y->face) - (x->face < y->face) : x->step - y->step;
}

static pl_status fibres_fill(fibres_term *t, pl_problem *p, int fibre, pl_error *err)
{
    const pl_fibre *f = &t->robot->fibre[fibre];
    fibre_order *order = PL_NEW_ARRAY(fibre_order, f->step_count);

    if (!order) {
        return pl_fail_memory(err, "problem: fibres");
    }
    for (int k = 0; k < f->step_count; ++k) {
        order[k] = (fibre_order){f->step[k].face, k};
    }
    qsort(order, (size_t)f->step_count, sizeof *order, order_compare);
    for (int k = 0; k < f->step_count; ++k) {
        double X[18];
        if (k == 0 || order[k].face != order[k - 1].face) {
            fibre_unit *u = &t->unit[t->unit_count++];
            *u = (fibre_unit){.fibre = fibre, .first = t->bit_count};
            int32_t node[PL_FACE_NODES_MAX];
            u->nodes = pl_mesh_face_nodes(t->robot->mesh, order[k].face, node);
            memcpy(u->node, node, (size_t)u->nodes * sizeof *node);
            faces_gather(p->mesh.position, u->node, u->nodes, X);
            pl_face_strains(fibres_table(t, u), X, u->rest);
            faces_pieces_add(&t->pieces, u->node, u->nodes);
        }
        fibre_unit *u = &t->unit[t->unit_count - 1];
        faces_gather(p->mesh.position, u->node, u->nodes, X);
        fibre_bit step = {0};
        bit_init(fibres_table(t, u), X, &f->step[order[k].step], &step);
        unit_append(t, u, &step);
        double area = pl_mesh_faces_area(t->robot->mesh, &order[k].face, 1), length = 0;
        for (int64_t b = u->first; b < u->first + u->count; ++b) {
            length += t->bit[b].length;
        }
        p->noise =
            fmax(p->noise, FIBRE_NOISE * DBL_EPSILON * p->reach * f->stiffness * length / (2.31 * area));
    }

    pl_free(order);

    return PL_OK;
}

static const pl_term_steps fibres_steps = {.one_sided = fibres_one_sided};

static const pl_term_outputs fibres_outputs = {.count = fibres_output_count,
                                               .about = fibres_output,
                                               .value = fibres_value,
                                               .change = fibres_change,
                                               .pull_back = fibres_pull_back};

static const pl_term fibres_kind = {.name = "fibres",
                                    .elastic = true,
                                    .stiff = true,
                                    .destroy = fibres_destroy,
                                    .pattern = fibres_pattern,
                                    .bind = fibres_bind,
                                    .evaluate = fibres_evaluate,
                                    .tangent = fibres_tangent,
                                    .forces = fibres_forces,
                                    .derivative = fibres_derivative,
                                    .steps = &fibres_steps,
                                    .outputs = &fibres_outputs};

pl_status term_fibres_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    const pl_robot *robot = p->robot;
    if (robot->fibre_count == 0) {
        return PL_OK;
    }

    fibres_term *t = PL_NEW(fibres_term);
    if (!t) {
        return pl_fail_memory(err, "problem: fibres");
    }
    *out = (pl_problem_term){&fibres_kind, t};
    t->robot = robot;
    faces_tables_init(&t->tables);
    int64_t steps = 0;
    for (int i = 0; i < robot->fibre_count; ++i) {
        steps += robot->fibre[i].step_count;
    }
    t->unit = PL_NEW_ARRAY(fibre_unit, steps);
    t->bit = PL_NEW_ARRAY(fibre_bit, steps);
    if (!t->unit || !t->bit || faces_pieces_create(&t->pieces, steps, 6 * steps) != PL_OK) {
        return pl_fail_memory(err, "problem: fibres");
    }

    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < robot->fibre_count; ++i) {
        status = fibres_fill(t, p, i, err);
    }

    return status;
}
