// Thin layers bonded to faces (element/layer.h): membrane and bending energy without elements of their own.
//
// A face knows its neighbours within the layer, so its piece of the tangent has up to 15 vertices. Along an
// edge that ends the layer at a support, the slope is held as it would be with a layer drawn as a solid: the
// support holds the vertices along the direction out of the face.
#include <float.h>
#include "base/threads.h"
#include "problem/term_faces.h"

// Rounding error of a nodal force over eps |x| E h, for faces of any size: 36 of |grad N| sum |grad N| area,
// six faces at a vertex, with the margin of the elements (problem_create.c).
#define LAYER_NOISE 60.0
#define LAYER_HELD 0.98 // square of the part of an edge's outward direction that its support must hold

typedef struct layer_turn {
    int32_t face;
    int edge, support;
    double outward[2][3]; // at rest
} layer_turn;

typedef struct layers_term {
    const pl_robot *robot;
    faces_tables tables;
    pl_layer_law *law; // per layer
    int64_t *start;    // per layer, and the end: its faces
    int layer_count;
    pl_layer_face *face;
    int *layer;    // per face
    int *held;     // per face: the support that holds its slope, or -1
    int64_t count; // faces
    faces_pieces pieces;
    double *energy, *force; // per face; forces 3 PL_LAYER_NODES each
    layer_turn *turn;       // held edges of clamps that turn
    int64_t turn_count;
    double turned; // load at which they and the prestretches stand
} layers_term;

static void layers_destroy(void *object)
{
    layers_term *t = object;
    faces_pieces_clear(&t->pieces);
    pl_free(t->law);
    pl_free(t->start);
    pl_free(t->face);
    pl_free(t->layer);
    pl_free(t->held);
    pl_free(t->energy);
    pl_free(t->force);
    pl_free(t->turn);
    pl_free(t);
}

static const pl_face_table *layers_table(const layers_term *t, const pl_problem *p, int64_t face)
{
    const pl_layer *l = &p->robot->layer[t->layer[face]];
    const int kind = p->mesh.kind[l->face[face - t->start[t->layer[face]]] / 8];
    return !pl_element_is_quadratic(kind) ? &t->tables.linear : &t->tables.quadratic;
}

static void layers_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    pl_pattern_functional(out, p, &((const layers_term *)self)->pieces.h);
}

static pl_status layers_bind(void *self, pl_problem *p, pl_error *err)
{
    layers_term *t = self;
    return pl_slots_bind(p, &t->pieces.h, &t->pieces.slots, err);
}

// Held slopes follow their clamps; prestretches come with the dead loads, so that the undeformed body is at
// rest where there is no load.
static void layers_follow(layers_term *t, const pl_problem *p, double load)
{
    if (t->turned == load) {
        return;
    }
    t->turned = load;
    for (int i = 0; i < t->layer_count; ++i) {
        const double more = load * (p->robot->layer[i].prestretch - 1);
        t->law[i].prestrain = more * (1 + 0.5 * more);
    }

    for (int64_t k = 0; k < t->turn_count; ++k) {
        const layer_turn *turn = &t->turn[k];
        double w[3], R[9];
        for (int i = 0; i < 3; ++i) {
            w[i] = load * p->robot->support[turn->support].rotate[i];
        }
        pl_rotation_exp(w, R);
        for (int g = 0; g < 2; ++g) {
            pl_mulv3(R, turn->outward[g], t->face[turn->face].edge[turn->edge].outward[g]);
        }
    }
}

// ---- energy, gradient, tangent
typedef struct layers_loop {
    layers_term *t;
    const pl_problem *p;
    const double *x;
    bool gradient;
} layers_loop;

// Strains that the step in progress predicts for a face.
static void layers_ahead(const layers_term *t, const pl_problem *p, const pl_ahead *step, int64_t k,
                         double ahead[PL_LAYER_AHEAD])
{
    const pl_layer_face *f = &t->face[k];
    double x[3 * PL_LAYER_NODES], dx[3 * PL_LAYER_NODES];
    faces_gather(step->x, f->node, f->node_count, x);
    faces_gather(step->dx, f->node, f->node_count, dx);
    pl_layer_ahead(layers_table(t, p, k), &t->law[t->layer[k]], f, x, dx, ahead);
}

static void layers_faces(void *context, int64_t from, int64_t to)
{
    const layers_loop *w = context;
    layers_term *t = w->t;

    for (int64_t k = from; k < to; ++k) {
        const pl_layer_face *f = &t->face[k];
        double x[3 * PL_LAYER_NODES], *g = t->force + 3 * PL_LAYER_NODES * k;
        faces_gather(w->x, f->node, f->node_count, x);
        memset(g, 0, 3 * PL_LAYER_NODES * sizeof *g);
        const pl_face_table *table = layers_table(t, w->p, k);
        const pl_layer_law *law = &t->law[t->layer[k]];
        t->energy[k] = pl_layer_energy(table, law, f, x, w->gradient ? g : NULL);
    }
}

static void layers_sum(layers_term *t, pl_problem *p, double load, const double *x, double *energy,
                       double *full)
{
    layers_loop w = {.t = t, .p = p, .x = x, .gradient = full != NULL};
    layers_follow(t, p, load);
    pl_loop(t->count, 32, layers_faces, &w);
    for (int64_t k = 0; k < t->count; ++k) {
        const pl_layer_face *f = &t->face[k];
        const double *g = t->force + 3 * PL_LAYER_NODES * k;
        *energy += t->energy[k];
        for (int a = 0; full && a < f->node_count; ++a) {
            for (int i = 0; i < 3; ++i) {
                full[3 * (int64_t)f->node[a] + i] += g[3 * a + i];
            }
        }
    }
}

static void layers_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                            double *full)
{
    const double *x = here->x;
    layers_sum(self, p, p->load, x, energy, full);
}

static void layers_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    layers_term *t = self;
    const pl_ahead *step = here->predicted;

    layers_follow(t, p, p->load);
    for (int64_t k = 0; k < t->count; ++k) {
        const pl_layer_face *f = &t->face[k];
        const pl_face_table *table = layers_table(t, p, k);
        const pl_layer_law *law = &t->law[t->layer[k]];
        double at[3 * PL_LAYER_NODES], ahead[PL_LAYER_AHEAD];
        if (step) {
            layers_ahead(t, p, step, k, ahead);
        }
        faces_gather(x, f->node, f->node_count, at);
        pl_layer_tangent(table, law, f, at, positive, step ? ahead : NULL, p->tangent.dense);
        pl_problem_add_piece(p, &t->pieces.h, &t->pieces.slots, (int)k, x);
    }
}

static void layers_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    double energy = 0;
    layers_sum(self, p, state->load, state->x, &energy, full);
}

// ---- derivatives
// d(prestrain)/d(prestretch)
static double layers_prestrain_slope(const layers_term *t, int layer, double load)
{
    return load * (1 + load * (t->robot->layer[layer].prestretch - 1));
}

static pl_status layers_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                   double *full, double *target, pl_error *err)
{
    (void)target;
    (void)err;
    layers_term *t = self;
    layers_follow(t, p, state->load);
    for (int64_t k = 0; k < t->count; ++k) {
        const int layer = t->layer[k], material = p->robot->layer[layer].material;
        const bool own = q->kind == PL_PARAMETER_LAYER && q->index == layer;
        const bool constant =
            q->kind == PL_PARAMETER_MATERIAL && q->index == material && q->part != PL_DENSITY;
        if (!own && !constant) {
            continue;
        }
        const pl_layer_face *f = &t->face[k];
        double x[3 * PL_LAYER_NODES], g[3 * PL_LAYER_NODES] = {0};
        faces_gather(state->x, f->node, f->node_count, x);
        if (own && q->part == 1) {
            pl_layer_by_prestrain(layers_table(t, p, k), &t->law[layer], f, x, g);
            for (int i = 0; i < 3 * f->node_count; ++i) {
                g[i] *= layers_prestrain_slope(t, layer, state->load);
            }
        } else if (own) {
            pl_layer_by_thickness(layers_table(t, p, k), &t->law[layer], f, x, g);
        } else {
            pl_layer_by_constant(layers_table(t, p, k), &t->law[layer], f, &p->robot->material[material],
                                 (pl_material_constant)q->part, x, g);
        }
        for (int i = 0; i < 3 * f->node_count; ++i) {
            full[3 * (int64_t)f->node[i / 3] + i % 3] -= g[i];
        }
    }

    return PL_OK;
}

// ---- readings: largest principal strain and tension of each layer, in the middle of its faces
typedef struct layer_peak {
    int64_t face;
    double value, weight[3]; // d(value)/d(e11, e22, 2 e12)
    double axis[3];          // c^2, s^2, c s of its direction
} layer_peak;

// Larger eigenvalue of (a11, a22, a12).
static double layer_principal(double a11, double a22, double a12, double axis[3])
{
    const double half = 0.5 * (a11 + a22), apart = 0.5 * (a11 - a22), r = hypot(apart, a12);
    const double c2 = r > 0 ? apart / r : 1, s2 = r > 0 ? a12 / r : 0;
    axis[0] = 0.5 * (1 + c2);
    axis[1] = 0.5 * (1 - c2);
    axis[2] = 0.5 * s2;
    return half + r;
}

static layer_peak layers_peak(const layers_term *t, const pl_problem *p, const double *x, int layer,
                              bool tension)
{
    layer_peak peak = {.face = -1, .value = -INFINITY};
    const pl_layer_law *law = &t->law[layer];

    for (int64_t k = t->start[layer]; k < t->start[layer + 1]; ++k) {
        const pl_layer_face *f = &t->face[k];
        double at[3 * PL_LAYER_NODES], e[3], T[3], axis[3];
        faces_gather(x, f->node, f->node_count, at);
        pl_layer_state(layers_table(t, p, k), law, f, at, e, T, NULL);
        const double value =
            tension ? layer_principal(T[0], T[1], T[2], axis) : layer_principal(e[0], e[1], 0.5 * e[2], axis);
        if (value > peak.value) {
            peak.face = k;
            peak.value = value;
            memcpy(peak.axis, axis, sizeof axis);
            memcpy(peak.weight, axis, sizeof axis);
            if (tension) {
                double W, S[3], C[9] = {0};
                pl_sheet_stress(&law->sheet, e, &W, S, C);
                for (int i = 0; i < 3; ++i) {
                    peak.weight[i] =
                        law->thickness * (axis[0] * C[i] + axis[1] * C[3 + i] + 2 * axis[2] * C[6 + i]);
                }
            }
        }
    }

    return peak;
}

static int layers_output_count(const void *self)
{
    return 2 * ((const layers_term *)self)->layer_count;
}

static const char *const layer_quantity[2] = {"strain", "tension"}, *const layer_unit[2] = {"1", "N/mm"};

static double layers_value(void *self, pl_problem *p, const pl_state *state, int k)
{
    layers_follow(self, p, state->load);
    const layer_peak peak = layers_peak(self, p, state->x, k / 2, k % 2 == 1);
    return peak.face < 0 ? 0 : peak.value;
}

static void layers_pull(const layers_term *t, const pl_problem *p, const pl_state *state, int k,
                        double weight, double *full)
{
    const layer_peak peak = layers_peak(t, p, state->x, k / 2, k % 2 == 1);
    if (peak.face < 0) {
        return;
    }

    const pl_layer_face *f = &t->face[peak.face];
    double x[3 * PL_LAYER_NODES], g[3 * PL_LAYER_NODES] = {0};
    faces_gather(state->x, f->node, f->node_count, x);
    pl_layer_strain_pull(layers_table(t, p, peak.face), &t->law[k / 2], f, x, peak.weight, g);
    for (int i = 0; i < 3 * f->node_count; ++i) {
        full[3 * (int64_t)f->node[i / 3] + i % 3] += weight * g[i];
    }
}

// The direct effect of a parameter: of the thickness through the offset and the tension h S, of the
// prestretch through the strain, of a constant of the material through the tension.
static double layers_direct(const layers_term *t, const pl_problem *p, const pl_state *state, int k,
                            const pl_parameter *q)
{
    const int layer = k / 2;
    const bool tension = k % 2 == 1;
    const layer_peak peak = layers_peak(t, p, state->x, layer, tension);

    if (peak.face < 0) {
        return 0;
    }

    const pl_layer_law *law = &t->law[layer];
    const pl_layer_face *f = &t->face[peak.face];
    double x[3 * PL_LAYER_NODES], e[3], T[3], K[3], sum = 0;
    faces_gather(state->x, f->node, f->node_count, x);
    pl_layer_state(layers_table(t, p, peak.face), law, f, x, e, T, K);
    if (q->kind == PL_PARAMETER_LAYER && q->index == layer && q->part == 1) {
        double by[3];
        pl_layer_strain_by_prestrain(law, e, by);
        for (int i = 0; i < 3; ++i) {
            sum += peak.weight[i] * by[i];
        }
        return layers_prestrain_slope(t, layer, state->load) * sum;
    }

    if (q->kind == PL_PARAMETER_LAYER && q->index == layer) {
        for (int i = 0; i < 3; ++i) {
            sum -= peak.weight[i] * law->offset / law->thickness * K[i];
        }
        return tension ? sum + peak.value / law->thickness : sum;
    }

    const int material = p->robot->layer[layer].material;
    if (tension && q->kind == PL_PARAMETER_MATERIAL && q->index == material && q->part != PL_DENSITY) {
        double dS[3], moduli[9];
        pl_sheet_derivative(&law->sheet, &p->robot->material[material], (pl_material_constant)q->part, e, dS,
                            moduli);
        return law->thickness * (peak.axis[0] * dS[0] + peak.axis[1] * dS[1] + 2 * peak.axis[2] * dS[2]);
    }

    return 0;
}

static double layers_change(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                            const double *mu, const pl_parameter *q)
{
    (void)mu;
    layers_follow(self, p, state->load);
    double sum = q ? layers_direct(self, p, state, k, q) : 0;
    if (dx) {
        const size_t mark = pl_arena_begin(&p->scratch);
        double *gradient = pl_problem_take_full(p);
        memset(gradient, 0, pl_problem_full_bytes(p));
        layers_pull(self, p, state, k, 1, gradient);
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            sum += gradient[i] * dx[i];
        }
        pl_arena_end(&p->scratch, mark);
    }

    return sum;
}

static void layers_pull_back(void *self, pl_problem *p, const pl_state *state, int k, double weight,
                             double *full, double *rho)
{
    (void)rho;
    layers_follow(self, p, state->load);
    layers_pull(self, p, state, k, weight, full);
}

// ---- creation
typedef struct layer_edge_at {
    int64_t face[2];
    int edge[2], count;
} layer_edge_at;

// The neighbours of a face's edges within its layer, as nodes of the face.
static void layers_join(pl_layer_face *f, int edge, const pl_layer_face *other, int other_edge, int nodes)
{
    pl_layer_edge *e = &f->edge[edge];
    *e = (pl_layer_edge){.kind = PL_LAYER_JOINED,
                         .other_edge = other_edge,
                         .reversed = f->node[edge] != other->node[other_edge]};
    for (int a = 0; a < nodes; ++a) {
        int at = 0;
        while (at < f->node_count && f->node[at] != other->node[a]) {
            ++at;
        }
        f->node[at] = other->node[a];
        f->node_count += at == f->node_count;
        e->other_node[a] = at;
    }
}

// Does a support hold the edge's vertices along the direction out of the face? The support, or -1.
static int layers_held(const pl_problem *p, const pl_face_table *table, const pl_layer_face *f, int edge,
                       const double *X)
{
    const int at[3] = {edge, (edge + 1) % 3, 3 + edge}, count = table->nodes == 6 ? 3 : 2;
    bool axis[3] = {true, true, true};

    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i) {
            axis[i] = axis[i] && p->unknowns.support_of[3 * (int64_t)f->node[at[k]] + i] >= 0;
        }
    }

    double t[3] = {0}, in[3] = {0}, held = 0, all = 0;
    for (int a = 0; a < table->nodes; ++a) {
        for (int i = 0; i < 3; ++i) {
            t[i] += table->edge[edge][0][0][a] * X[3 * a + i];
            in[i] += table->edge[edge][0][1][a] * X[3 * a + i];
        }
    }

    const double c = pl_dot3(in, t) / pl_dot3(t, t);
    for (int i = 0; i < 3; ++i) {
        const double out = in[i] - c * t[i];
        held += axis[i] ? out * out : 0;
        all += out * out;
    }

    if (!(held >= LAYER_HELD * all)) {
        return -1;
    }

    for (int i = 0; i < 3; ++i) {
        if (axis[i]) {
            return p->unknowns.support_of[3 * (int64_t)f->node[edge] + i];
        }
    }

    return -1;
}

static pl_status layers_connect(layers_term *t, const pl_problem *p, int layer, pl_error *err)
{
    const int64_t first = t->start[layer], last = t->start[layer + 1];
    pl_table edges;
    layer_edge_at *at = PL_NEW_ARRAY(layer_edge_at, 3 * (last - first));

    if (!at || !pl_table_init(&edges, 2, 3 * (last - first))) {
        pl_free(at);
        return pl_fail_memory(err, "problem: layers");
    }

    for (int64_t k = first; k < last; ++k) {
        for (int e = 0; e < 3; ++e) {
            int32_t key[2] = {t->face[k].node[e], t->face[k].node[(e + 1) % 3]};
            pl_sort_small(key, 2);
            layer_edge_at *slot = &at[pl_table_add(&edges, key)];
            if (slot->count < 2) {
                slot->face[slot->count] = k;
                slot->edge[slot->count] = e;
            }
            slot->count++;
        }
    }

    for (int32_t s = 0; s < edges.count; ++s) {
        // where three faces meet none is the continuation of another
        for (int side = 0; at[s].count == 2 && side < 2; ++side) {
            const int64_t k = at[s].face[side];
            layers_join(&t->face[k], at[s].edge[side], &t->face[at[s].face[1 - side]], at[s].edge[1 - side],
                        layers_table(t, p, k)->nodes);
        }
    }

    pl_table_clear(&edges);
    pl_free(at);

    return PL_OK;
}

static void layers_rest(layers_term *t, const pl_problem *p, int64_t k, const double *area)
{
    const pl_face_table *table = layers_table(t, p, k);
    pl_layer_face *f = &t->face[k];
    double X[3 * PL_LAYER_NODES], across[3] = {0};

    faces_gather(p->mesh.position, f->node, f->node_count, X);
    int support[3];
    for (int e = 0; e < 3; ++e) {
        support[e] = f->edge[e].kind == PL_LAYER_FREE ? layers_held(p, table, f, e, X) : -1;
        f->edge[e].kind = support[e] >= 0 ? PL_LAYER_HELD : f->edge[e].kind;
        across[e] = area[k]; // faces of a mesh are alike in size
    }

    t->held[k] = -1;
    for (int e = 0; e < 3; ++e) {
        t->held[k] = t->held[k] < 0 ? support[e] : t->held[k];
    }
    pl_layer_face_init(table, f, X, across);
    for (int e = 0; e < 3; ++e) {
        if (support[e] >= 0 && pl_norm3(p->robot->support[support[e]].rotate) > 0) {
            layer_turn *turn = &t->turn[t->turn_count++];
            *turn = (layer_turn){.face = (int32_t)k, .edge = e, .support = support[e]};
            memcpy(turn->outward, f->edge[e].outward, sizeof turn->outward);
        }
    }
}

static pl_status layers_fill(layers_term *t, pl_problem *p, pl_error *err)
{
    const pl_robot *robot = p->robot;
    int64_t next = 0;

    for (int i = 0; i < t->layer_count; ++i) {
        const pl_layer *l = &robot->layer[i];
        t->start[i] = next;
        t->law[i] = (pl_layer_law){.thickness = l->thickness, .offset = l->offset, .bending = l->bending};
        pl_sheet_init(&t->law[i].sheet, &robot->material[l->material]);
        t->law[i].sheet.wrinkle = l->wrinkle;
        for (int64_t k = 0; k < l->face_count; ++k, ++next) {
            t->layer[next] = i;
            t->face[next].node_count = pl_mesh_face_nodes(robot->mesh, l->face[k], t->face[next].node);
        }
        t->start[i + 1] = next;
        p->noise =
            fmax(p->noise, LAYER_NOISE * DBL_EPSILON * p->reach * t->law[i].sheet.moduli[0] * l->thickness);
        const pl_status status = l->bending ? layers_connect(t, p, i, err) : PL_OK;
        if (status != PL_OK) {
            return status;
        }
    }

    int64_t nodes = 0;
    for (int64_t k = 0; k < t->count; ++k) {
        t->energy[k] =
            pl_mesh_faces_area(robot->mesh, &robot->layer[t->layer[k]].face[k - t->start[t->layer[k]]], 1);
        nodes += t->face[k].node_count;
    }

    if (faces_pieces_create(&t->pieces, t->count, nodes) != PL_OK) {
        return pl_fail_memory(err, "problem: layers");
    }
    for (int64_t k = 0; k < t->count; ++k) {
        layers_rest(t, p, k, t->energy);
        faces_pieces_add(&t->pieces, t->face[k].node, t->face[k].node_count);
    }

    return PL_OK;
}

static pl_output layers_output(const void *self, int k)
{
    const layers_term *t = self;
    return (pl_output){.kind = PL_OUTPUT_READING,
                       .actuator = -1,
                       .info = {.group = "layers",
                                .name = t->robot->layer[k / 2].name,
                                .quantity = layer_quantity[k % 2],
                                .unit = layer_unit[k % 2]}};
}

static const pl_term_outputs layers_outputs = {.count = layers_output_count,
                                               .about = layers_output,
                                               .value = layers_value,
                                               .change = layers_change,
                                               .pull_back = layers_pull_back};

static const pl_term layers_kind = {.name = "layers",
                                    .elastic = true,
                                    .stiff = true,
                                    .destroy = layers_destroy,
                                    .pattern = layers_pattern,
                                    .bind = layers_bind,
                                    .evaluate = layers_evaluate,
                                    .tangent = layers_tangent,
                                    .forces = layers_forces,
                                    .derivative = layers_derivative,
                                    .outputs = &layers_outputs};

// The forces of a face have no moment unless its slope is held against a direction in space: what is missing
// then is the couple of the support.
void pl_problem_couples(pl_problem *p, const pl_state *state, double *couple)
{
    layers_term *t = problem_term_of(p, &layers_kind);
    if (!t) {
        return;
    }
    layers_follow(t, p, state->load);
    for (int64_t k = 0; k < t->count; ++k) {
        const pl_layer_face *f = &t->face[k];
        double x[3 * PL_LAYER_NODES], g[3 * PL_LAYER_NODES] = {0};
        if (t->held[k] < 0) {
            continue;
        }
        faces_gather(state->x, f->node, f->node_count, x);
        pl_layer_energy(layers_table(t, p, k), &t->law[t->layer[k]], f, x, g);
        for (int a = 0; a < f->node_count; ++a) {
            double m[3];
            pl_cross3(x + 3 * a, g + 3 * a, m);
            for (int i = 0; i < 3; ++i) {
                couple[3 * t->held[k] + i] -= m[i];
            }
        }
    }
}

pl_status term_layers_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    const pl_robot *robot = p->robot;
    if (robot->layer_count == 0) {
        return PL_OK;
    }

    layers_term *t = PL_NEW(layers_term);
    if (!t) {
        return pl_fail_memory(err, "problem: layers");
    }
    *out = (pl_problem_term){&layers_kind, t};
    faces_tables_init(&t->tables);
    t->robot = robot;
    t->layer_count = robot->layer_count;
    for (int i = 0; i < robot->layer_count; ++i) {
        t->count += robot->layer[i].face_count;
    }
    t->law = PL_NEW_ARRAY(pl_layer_law, t->layer_count);
    t->start = PL_NEW_ARRAY(int64_t, t->layer_count + 1);
    t->face = PL_NEW_ARRAY(pl_layer_face, t->count);
    t->layer = PL_NEW_ARRAY(int, t->count);
    t->held = PL_NEW_ARRAY(int, t->count);
    t->energy = PL_NEW_ARRAY(double, t->count);
    t->force = PL_NEW_ARRAY(double, 3 * PL_LAYER_NODES * t->count);
    t->turn = PL_NEW_ARRAY(layer_turn, 3 * t->count);
    if (!t->law || !t->start || !t->face || !t->layer || !t->held || !t->energy || !t->force || !t->turn) {
        return pl_fail_memory(err, "problem: layers");
    }

    return layers_fill(t, p, err);
}
