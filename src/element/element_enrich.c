// Elements with functions of the next order added (enrich.h): their numbers, reference tables, and the loops
// over blocks.
#include "base/isa.h"
#include "element/enrich.h"

extern const pl_enrich_kernels pl_enrich_kernels_generic;
#ifdef PL_KERNELS_X86
extern const pl_enrich_kernels pl_enrich_kernels_avx2, pl_enrich_kernels_avx512;
#endif

static const pl_enrich_kernels *enrich_choose(void)
{
#ifdef PL_KERNELS_X86
    switch (pl_isa_best()) {
    case PL_ISA_AVX512:
        return &pl_enrich_kernels_avx512;
    case PL_ISA_AVX2:
        return &pl_enrich_kernels_avx2;
    case PL_ISA_GENERIC:
        break;
    }
#endif
    return &pl_enrich_kernels_generic;
}

// ---- functions on the reference element
static bool enrich_is_tet(pl_element_kind kind)
{
    return pl_element_is_tet(kind);
}

static bool enrich_is_linear(pl_element_kind kind)
{
    return !pl_element_is_quadratic(kind);
}

static int enrich_added(pl_element_kind kind)
{
    return pl_element_edge_count(kind) + (enrich_is_linear(kind) ? 0 : pl_element_face_count(kind));
}

// A value and its derivatives by xi; products follow the product rule.
typedef struct enrich_value {
    double v, d[3];
} enrich_value;

static enrich_value enrich_times(enrich_value a, enrich_value b)
{
    enrich_value c = {.v = a.v * b.v};
    for (int i = 0; i < 3; ++i) {
        c.d[i] = a.d[i] * b.v + a.v * b.d[i];
    }
    return c;
}

static enrich_value enrich_minus(enrich_value a, enrich_value b)
{
    return (enrich_value){a.v - b.v, {a.d[0] - b.d[0], a.d[1] - b.d[1], a.d[2] - b.d[2]}};
}

// What a function is made of: barycentric coordinates of the corners, and (1 -+ z) / 2 of a prism's ends (1
// on tets).
typedef struct enrich_factors {
    bool tet, linear;
    enrich_value L[4], end[2], across; // across: 1 - z^2
    enrich_value z;
} enrich_factors;

static enrich_factors enrich_factors_at(pl_element_kind kind, const double xi[3])
{
    enrich_factors f = {.tet = enrich_is_tet(kind), .linear = enrich_is_linear(kind)};
    const int axes = f.tet ? 3 : 2;

    f.L[0].v = 1;
    for (int i = 0; i < axes; ++i) {
        f.L[0].v -= xi[i];
        f.L[0].d[i] = -1;
        f.L[i + 1].v = xi[i];
        f.L[i + 1].d[i] = 1;
    }

    f.end[0].v = f.end[1].v = f.across.v = 1;
    if (!f.tet) {
        const double z = xi[2];
        f.end[0] = (enrich_value){0.5 * (1 - z), {0, 0, -0.5}};
        f.end[1] = (enrich_value){0.5 * (1 + z), {0, 0, 0.5}};
        f.across = (enrich_value){1 - z * z, {0, 0, -2 * z}};
        f.z = (enrich_value){z, {0, 0, 1}};
    }

    return f;
}

static enrich_value enrich_edge(const enrich_factors *f, int a, int b)
{
    if (!f->tet && b == a + 3) {
        const enrich_value bubble = enrich_times(f->L[a], f->across);
        return f->linear ? bubble : enrich_times(bubble, f->z);
    }

    const enrich_value *A = &f->L[f->tet ? a : a % 3], *B = &f->L[f->tet ? b : b % 3];
    const enrich_value bubble = enrich_times(enrich_times(*A, *B), f->end[f->tet ? 0 : a / 3]);
    return f->linear ? bubble : enrich_times(bubble, enrich_minus(*A, *B));
}

static enrich_value enrich_face(const enrich_factors *f, const int *node, int corners)
{
    if (corners == 4) { // corners a, b, b + 3, a + 3
        return enrich_times(enrich_times(f->L[node[0] % 3], f->L[node[1] % 3]), f->across);
    }

    enrich_value product = f->end[f->tet ? 0 : node[0] / 3];
    for (int i = 0; i < 3; ++i) {
        product = enrich_times(product, f->L[f->tet ? node[i] : node[i] % 3]);
    }

    return product;
}

static int enrich_eval(pl_element_kind kind, const double xi[3], enrich_value *out)
{
    const enrich_factors f = enrich_factors_at(kind, xi);
    int count = 0, node[PL_FACE_NODES_MAX];

    for (int e = 0; e < pl_element_edge_count(kind); ++e) {
        pl_element_edge_nodes(kind, e, node);
        out[count++] = enrich_edge(&f, node[0], node[1]);
    }

    for (int s = 0; !f.linear && s < pl_element_face_count(kind); ++s) {
        const int n = pl_element_face_nodes(kind, s, node);
        out[count++] = enrich_face(&f, node, n / 2);
    }

    return count;
}

int pl_enrich_values(pl_element_kind kind, const double xi[3], double *value)
{
    enrich_value f[PL_ADDED_MAX];
    const int count = enrich_eval(kind, xi, f);
    for (int i = 0; i < count; ++i) {
        value[i] = f[i].v;
    }
    return count;
}

// ---- quadrature of degree 5
// Tets: 14 points (Walkington); three orbits.
static int enrich_points_tet(double (*xi)[3], double *weight)
{
    static const double a[2] = {0.31088591926330060980, 0.092735250310891226402},
                        w[3] = {0.018781320953002641800, 0.012248840519393658257, 0.0070910034628469110730},
                        c = 0.045503704125649649492;
    int n = 0;

    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 4; ++i, ++n) {
            for (int j = 0; j < 3; ++j) {
                xi[n][j] = i == j + 1 ? 1 - 3 * a[k] : a[k];
            }
            weight[n] = w[k];
        }
    }

    for (int i = 0; i < 4; ++i) {
        for (int k = i + 1; k < 4; ++k, ++n) {
            for (int j = 0; j < 3; ++j) {
                xi[n][j] = j + 1 == i || j + 1 == k ? 0.5 - c : c;
            }
            weight[n] = w[2];
        }
    }

    return n;
}

// Prisms: 7 points in the triangle (Radon) times 3 along z.
static int enrich_points_prism(double (*xi)[3], double *weight)
{
    const double root = sqrt(15.0), a[2] = {(6 - root) / 21, (6 + root) / 21},
                 w[2] = {(155 - root) / 2400, (155 + root) / 2400}, g = sqrt(0.6);
    const double z[3] = {-g, 0, g}, wz[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    int n = 0;

    for (int k = 0; k < 3; ++k) {
        for (int t = 0; t < 7; ++t, ++n) {
            const int orbit = t / 3, corner = t % 3;
            for (int j = 0; j < 2; ++j) {
                xi[n][j] = t == 6 ? 1.0 / 3 : corner == j + 1 ? 1 - 2 * a[orbit] : a[orbit];
            }
            xi[n][2] = z[k];
            weight[n] = wz[k] * (t == 6 ? 9.0 / 80 : w[orbit]);
        }
    }

    return n;
}

static void enrich_rule_init(pl_enrich_rule *rule, pl_element_kind kind)
{
    double xi[PL_ENRICH_POINTS_MAX][3];
    const bool tet = enrich_is_tet(kind);

    rule->nodes = pl_element_node_count(kind);
    rule->corners = pl_element_corner_count(kind);
    rule->added = enrich_added(kind);
    rule->points = tet ? enrich_points_tet(xi, rule->weight) : enrich_points_prism(xi, rule->weight);

    for (int q = 0; q < rule->points; ++q) {
        enrich_value f[PL_ADDED_MAX];
        double dN[3 * PL_ELEMENT_NODES_MAX];
        pl_shape_eval(tet ? PL_TET4 : PL_PRISM6, xi[q], rule->corner[q], NULL);
        pl_shape_eval(kind, xi[q], NULL, dN);
        memcpy(rule->gradient[q], dN, 3 * (size_t)rule->nodes * sizeof *dN);
        enrich_eval(kind, xi[q], f);
        for (int a = 0; a < rule->added; ++a) {
            rule->value[q][a] = f[a].v;
            memcpy(rule->gradient[q][rule->nodes + a], f[a].d, sizeof f[a].d);
        }
    }
}

// ---- numbers
typedef struct enrich_numbering {
    pl_table edge, face; // face: by its three smallest corners
    const pl_mesh_view *mesh;
    pl_enrich_held held;
    void *user;
} enrich_numbering;

// Numbers the functions of one element: edges first, faces behind all edges (negative until those are
// counted).
static void enrich_number(enrich_numbering *t, pl_enrichment *r, int32_t e)
{
    const pl_element_kind kind = t->mesh->kind[e];
    const int32_t *vertex = t->mesh->node + t->mesh->node_start[e];
    int32_t *function = r->function + (int64_t)PL_ADDED_MAX * e;
    int count = 0, node[PL_FACE_NODES_MAX];

    for (int k = 0; k < pl_element_edge_count(kind); ++k) {
        pl_element_edge_nodes(kind, k, node);
        const int32_t a = vertex[node[0]], b = vertex[node[1]], key[2] = {a < b ? a : b, a < b ? b : a};
        function[count++] = 2 * pl_table_add(&t->edge, key) + (!enrich_is_linear(kind) && a > b);
    }

    for (int s = 0; !enrich_is_linear(kind) && s < pl_element_face_count(kind); ++s) {
        const int corners = pl_element_face_nodes(kind, s, node) / 2;
        int32_t key[4];
        for (int i = 0; i < corners; ++i) {
            key[i] = vertex[node[i]];
        }
        pl_sort_small(key, corners);
        function[count++] = -2 - pl_table_add(&t->face, key);
    }
}

static void enrich_hold(const enrich_numbering *t, pl_enrichment *r, int32_t e)
{
    const pl_element_kind kind = t->mesh->kind[e];
    const int32_t *vertex = t->mesh->node + t->mesh->node_start[e];
    int32_t *function = r->function + (int64_t)PL_ADDED_MAX * e, entity[PL_FACE_NODES_MAX];
    const int edges = pl_element_edge_count(kind);

    for (int k = 0; k < enrich_added(kind); ++k) {
        int node[PL_FACE_NODES_MAX], count = 0;
        if (k < edges) {
            pl_element_edge_nodes(kind, k, node);
            count = node[2] >= 0 ? 3 : 2;
        } else {
            count = pl_element_face_nodes(kind, k - edges, node);
            function[k] = 2 * (t->edge.count - 2 - function[k]);
        }

        for (int i = 0; i < count; ++i) {
            entity[i] = vertex[node[i]];
        }
        r->held[function[k] / 2] = t->held(t->user, entity, count);
    }
}

static pl_status enrich_numbers(pl_enrichment *r, const pl_mesh_view *mesh, pl_enrich_held held, void *user)
{
    enrich_numbering t = {.mesh = mesh, .held = held, .user = user};
    const int64_t elements = mesh->element_count;
    bool *active = PL_NEW_ARRAY(bool, elements);

    r->function = PL_NEW_ARRAY(int32_t, PL_ADDED_MAX * elements);
    bool good = active && r->function && pl_table_init(&t.edge, 2, 9 * elements) &&
                pl_table_init(&t.face, 3, 5 * elements);
    for (int b = 0; good && b < r->elements->block_count; ++b) {
        const pl_block *block = &r->elements->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            active[block->element[l]] = true;
            enrich_number(&t, r, block->element[l]);
        }
    }

    r->count = good ? t.edge.count + t.face.count : 0;
    r->held = good ? PL_NEW_ARRAY(uint8_t, r->count) : NULL;
    for (int32_t e = 0; r->held && e < elements; ++e) {
        if (active[e]) {
            enrich_hold(&t, r, e);
        } else {
            for (int k = 0; k < PL_ADDED_MAX; ++k) {
                r->function[(int64_t)PL_ADDED_MAX * e + k] = -1;
            }
        }
    }

    pl_table_clear(&t.edge);
    pl_table_clear(&t.face);
    pl_free(active);

    return r->held ? PL_OK : PL_NO_MEMORY;
}

void pl_enrichment_destroy(pl_enrichment *r)
{
    if (r) {
        pl_free(r->function);
        pl_free(r->held);
        pl_free(r->start);
        pl_free(r->tangent);
        pl_free(r);
    }
}

pl_status pl_enrichment_create(const pl_elements *elements, const pl_mesh_view *mesh, pl_enrich_held held,
                               void *user, pl_enrichment **out, pl_error *err)
{
    pl_enrichment *r = *out = PL_NEW(pl_enrichment);
    if (!r) {
        return pl_fail_memory(err, "mesh error");
    }
    r->elements = elements;
    for (int k = 0; k < PL_ELEMENT_KIND_COUNT; ++k) {
        enrich_rule_init(&r->rule[k], (pl_element_kind)k);
    }

    // numbers first: their tables are gone when the tangents are taken
    r->start = PL_NEW_ARRAY(int64_t, elements->block_count);
    const pl_status numbered = r->start ? enrich_numbers(r, mesh, held, user) : PL_NO_MEMORY;
    int64_t size = 0;
    for (int b = 0; r->start && b < elements->block_count; ++b) {
        r->start[b] = size;
        size += (int64_t)r->rule[elements->block[b].kind].points * PL_ENRICH_TANGENT * PL_LANES;
    }

    r->tangent = numbered == PL_OK ? pl_resize_array(NULL, (size_t)size, sizeof *r->tangent) : NULL;
    if (!r->tangent) {
        pl_enrichment_destroy(r);
        *out = NULL;
        return pl_fail_memory(err, "mesh error");
    }

    return PL_OK;
}

// ---- loops over blocks
static double enrich_sign(int32_t code)
{
    return code & 1 ? -1 : 1;
}

static void enrich_scatter(const pl_enrichment *r, const pl_block *block, const pl_enrich_forces *f,
                           double *nodal, double *added, double *moment)
{
    const pl_enrich_rule *rule = &r->rule[block->kind];
    for (int a = 0; nodal && a < rule->nodes; ++a) {
        for (int i = 0; i < 3; ++i) {
            for (int l = 0; l < block->lane_count; ++l) {
                nodal[3 * (int64_t)block->node[a][l] + i] += f->force[(3 * a + i) * PL_LANES + l];
            }
        }
    }

    for (int a = 0; added && a < rule->added; ++a) {
        for (int l = 0; l < block->lane_count; ++l) {
            const int32_t code = r->function[(int64_t)PL_ADDED_MAX * block->element[l] + a];
            for (int i = 0; i < 3; ++i) {
                added[3 * (int64_t)(code / 2) + i] +=
                    enrich_sign(code) * f->force[(3 * (rule->nodes + a) + i) * PL_LANES + l];
            }
        }
    }

    for (int c = 0; moment && r->elements->law[block->law].mixed && c < rule->corners; ++c) {
        for (int l = 0; l < block->lane_count; ++l) {
            moment[block->pressure[c][l]] += f->moment[c * PL_LANES + l];
        }
    }
}

static void enrich_clear(const pl_enrichment *r, double *nodal, double *added, double *moment)
{
    if (nodal) {
        memset(nodal, 0, 3 * (size_t)r->elements->vertex_count * sizeof *nodal);
    }
    if (added) {
        memset(added, 0, 3 * (size_t)r->count * sizeof *added);
    }
    if (moment) {
        memset(moment, 0, (size_t)r->elements->pressure_count * sizeof *moment);
    }
}

void pl_enrichment_linearize(pl_enrichment *r, const pl_mesh_view *mesh, const double *x,
                             const double *pressure, const double body[3], double *nodal, double *added,
                             double *moment)
{
    const pl_elements *E = r->elements;
    const pl_enrich_kernels *kernels = enrich_choose();
    pl_enrich_forces f;

    enrich_clear(r, nodal, added, moment);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const double density = E->density[block->law],
                     load[3] = {density * body[0], density * body[1], density * body[2]};
        kernels->linearize(block, &r->rule[block->kind], &E->law[block->law], &E->growth[block->law],
                           mesh->position, x, pressure, load, r->tangent + r->start[b], &f);
        enrich_scatter(r, block, &f, nodal, added, moment);
    }
}

static void enrich_gather(const pl_enrichment *r, const pl_block *block, const double *u, const double *c,
                          double *out)
{
    const pl_enrich_rule *rule = &r->rule[block->kind];
    for (int a = 0; u && a < rule->nodes; ++a) {
        for (int i = 0; i < 3; ++i) {
            for (int l = 0; l < PL_LANES; ++l) {
                out[(3 * a + i) * PL_LANES + l] = u[3 * (int64_t)block->node[a][l] + i];
            }
        }
    }

    for (int a = 0; c && a < rule->added; ++a) {
        for (int l = 0; l < PL_LANES; ++l) {
            const int32_t code = r->function[(int64_t)PL_ADDED_MAX * block->element[l] + a];
            for (int i = 0; i < 3; ++i) {
                out[(3 * (rule->nodes + a) + i) * PL_LANES + l] =
                    enrich_sign(code) * c[3 * (int64_t)(code / 2) + i];
            }
        }
    }
}

void pl_enrichment_apply(const pl_enrichment *r, const double *u, const double *c, const double *pressure,
                         double *nodal, double *added, double *moment)
{
    const pl_elements *E = r->elements;
    const pl_enrich_kernels *kernels = enrich_choose();
    const pl_enrich_part in = {u != NULL, c != NULL}, to = {nodal != NULL, added != NULL};
    double local[PL_SHAPES_MAX * 3 * PL_LANES], p[PL_CORNERS_MAX * PL_LANES];
    pl_enrich_forces f;

    enrich_clear(r, nodal, added, moment);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const bool presses = pressure && E->law[block->law].mixed;
        enrich_gather(r, block, u, c, local);

        for (int k = 0; presses && k < block->corner_count; ++k) {
            for (int l = 0; l < PL_LANES; ++l) {
                p[k * PL_LANES + l] = pressure[block->pressure[k][l]];
            }
        }

        kernels->apply(&r->rule[block->kind], r->tangent + r->start[b], in, local, presses ? p : NULL, to,
                       &f);
        enrich_scatter(r, block, &f, nodal, added, moment);
    }
}

void pl_enrichment_diagonal(const pl_enrichment *r, double *out)
{
    const pl_elements *E = r->elements;
    const pl_enrich_kernels *kernels = enrich_choose();
    double local[PL_ADDED_MAX * 9 * PL_LANES];

    memset(out, 0, 9 * (size_t)r->count * sizeof *out);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const pl_enrich_rule *rule = &r->rule[block->kind];
        kernels->diagonal(rule, r->tangent + r->start[b], local);

        for (int a = 0; a < rule->added; ++a) {
            for (int l = 0; l < block->lane_count; ++l) {
                const int32_t code = r->function[(int64_t)PL_ADDED_MAX * block->element[l] + a];
                for (int i = 0; i < 9; ++i) {
                    out[9 * (int64_t)(code / 2) + i] += local[(9 * a + i) * PL_LANES + l];
                }
            }
        }
    }
}
