// Gathers the elements of a mesh into blocks, integrates their reference gradients, numbers the pressures,
// and records which element results add up where.
#include "base/threads.h"
#include "element/element.h"

// Quadrature points of the volume elements, and their number.
typedef struct element_rule {
    int count;
    double xi[PL_POINTS_MAX][3], weight[PL_POINTS_MAX];
} element_rule;

static element_rule rule_tet(int order)
{
    element_rule rule = {.count = 1, .xi = {{0.25, 0.25, 0.25}}, .weight = {1.0 / 6}};
    if (order == 2) {
        const double a = (5 - sqrt(5.0)) / 20, b = 1 - 3 * a;
        rule.count = 4;

        for (int q = 0; q < 4; ++q) {
            for (int i = 0; i < 3; ++i) {
                rule.xi[q][i] = q == i + 1 ? b : a;
            }
            rule.weight[q] = 1.0 / 24;
        }
    }

    return rule;
}

// Three points in the triangle times two or three Gauss points along zeta.
static element_rule rule_prism(int order)
{
    const double g2 = 1 / sqrt(3.0), g3 = sqrt(0.6);
    const double zeta[2][3] = {{-g2, g2, 0}, {-g3, 0, g3}},
                 wz[2][3] = {{1, 1, 0}, {5.0 / 9, 8.0 / 9, 5.0 / 9}};
    const double corner[3][2] = {{1.0 / 6, 1.0 / 6}, {2.0 / 3, 1.0 / 6}, {1.0 / 6, 2.0 / 3}};
    const int layers = order + 1;
    element_rule rule = {.count = 3 * layers};

    for (int z = 0; z < layers; ++z) {
        for (int t = 0; t < 3; ++t) {
            const int q = 3 * z + t;
            rule.xi[q][0] = corner[t][0];
            rule.xi[q][1] = corner[t][1];
            rule.xi[q][2] = zeta[order - 1][z];
            rule.weight[q] = wz[order - 1][z] / 6;
        }
    }

    return rule;
}

static element_rule rule_of(pl_element_kind kind)
{
    const int order = pl_element_is_quadratic(kind) ? 2 : 1;
    return pl_element_is_tet(kind) ? rule_tet(order) : rule_prism(order);
}

int pl_element_rule(pl_element_kind kind, double xi[PL_POINTS_MAX][3], double weight[PL_POINTS_MAX])
{
    const element_rule rule = rule_of(kind);
    memcpy(xi, rule.xi, (size_t)rule.count * sizeof *rule.xi);
    memcpy(weight, rule.weight, (size_t)rule.count * sizeof *rule.weight);
    return rule.count;
}

void pl_block_point(const pl_block *block, int q, double xi[3])
{
    const element_rule rule = rule_of(block->kind);
    memcpy(xi, rule.xi[q], sizeof rule.xi[q]);
}

// N of the corner (linear) element at the rule's points, [point][corner].
static void corner_weights(pl_element_kind kind, double table[PL_POINTS_MAX * PL_CORNERS_MAX])
{
    const element_rule rule = rule_of(kind);
    const bool prism = !pl_element_is_tet(kind);
    const int corners = pl_element_corner_count(kind);
    for (int q = 0; q < rule.count; ++q) {
        pl_shape_eval(prism ? PL_PRISM6 : PL_TET4, rule.xi[q], table + q * corners, NULL);
    }
}

// F_g^-1 = cbrt(volume)^-1 (a I + (b - a) n n^T), a = area^-1/2, b = area, with n the normal of the surface
// zeta = const; returns det F_g = volume.
static double element_growth(const pl_growth *growth, const double M[9], double inverse[9])
{
    const double s = cbrt(growth->volume), a = 1 / sqrt(growth->area), b = growth->area;
    const double t1[3] = {M[0], M[3], M[6]}, t2[3] = {M[1], M[4], M[7]};
    double n[3];

    pl_cross3(t1, t2, n);
    const double square = pl_dot3(n, n);
    for (int i = 0; i < 9; ++i) {
        inverse[i] = ((i % 4 == 0 ? a : 0) + (b - a) * n[i / 3] * n[i % 3] / square) / s;
    }

    return growth->volume;
}

// dN/dX = dN/dxi (dX/dxi)^-1 F_g^-1 and w det(dX/dxi) det F_g at each point
void pl_block_integrate(pl_block *block, int lane, const double *X, bool used, const pl_growth *growth)
{
    const element_rule rule_value = rule_of(block->kind), *rule = &rule_value;
    const bool grown = growth->volume != 1 || growth->area != 1;
    const int n = block->node_count;

    for (int q = 0; q < rule->count; ++q) {
        double dN[3 * PL_ELEMENT_NODES_MAX], M[9] = {0}, C[9];
        pl_shape_eval(block->kind, rule->xi[q], NULL, dN);

        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    M[3 * i + j] += X[3 * a + i] * dN[3 * a + j]; // dX_i / dxi_j
                }
            }
        }

        pl_cofactor3(M, C);
        const double det = pl_dot3(M, C);
        double inverse[9];
        const double ratio = grown ? element_growth(growth, M, inverse) : 1;
        block->weight[q * PL_LANES + lane] = used ? rule->weight[q] * det * ratio : 0;

        for (int a = 0; a < n; ++a) {
            double g[3], turned[3];
            for (int j = 0; j < 3; ++j) {
                // (M^-1)_kj = C_jk / det, dN/dX_j = sum_k dN/dxi_k (M^-1)_kj
                g[j] = pl_dot3(dN + 3 * a, C + 3 * j) / det;
            }

            if (grown) {
                pl_mulv3(inverse, g, turned); // symmetric
                memcpy(g, turned, sizeof g);
            }

            for (int j = 0; j < 3; ++j) {
                block->gradient[((int64_t)(q * n + a) * 3 + j) * PL_LANES + lane] = g[j];
            }
        }
    }
}

// Sizes of everything, then one allocation each.
typedef struct element_plan {
    int32_t *order; // elements sorted by (kind, region)
    int32_t count;
    int64_t storage;
} element_plan;

// Splits kappa into the plain share and the corners' share; a compressible material is plain altogether.
static void law_init(pl_law *law, double *corner_kappa, const pl_material *m, bool displacement)
{
    *law = (pl_law){.model = m->model};
    pl_material_moduli(m, &law->mu, &law->kappa);
    const double share = PL_PLAIN_SHARE * law->mu;
    law->mixed = m->formulation == PL_LOCKING_FREE && !displacement && law->kappa > share;
    *corner_kappa = law->mixed ? law->kappa - share : 0;
    law->kappa -= *corner_kappa;
    pl_law_constants(law, m);
}

// Counting sort by kind, then region; mesh order is kept inside a group, which keeps neighbours together.
static pl_status plan_order(const pl_mesh_view *mesh, const bool *skip, element_plan *plan, pl_error *err)
{
    const int64_t groups = (int64_t)PL_ELEMENT_KIND_COUNT * mesh->region_count;
    int64_t *start = PL_NEW_ARRAY(int64_t, groups + 1);

    plan->order = PL_NEW_ARRAY(int32_t, mesh->element_count);
    if (!start || !plan->order) {
        pl_free(start);
        return pl_fail_memory(err, "elements");
    }

    for (int32_t e = 0; e < mesh->element_count; ++e) {
        if (!skip[mesh->region[e]]) {
            start[(int64_t)mesh->kind[e] * mesh->region_count + mesh->region[e] + 1]++;
        }
    }

    for (int64_t g = 0; g < groups; ++g) {
        start[g + 1] += start[g];
    }
    plan->count = (int32_t)start[groups];

    for (int32_t e = 0; e < mesh->element_count; ++e) {
        if (!skip[mesh->region[e]]) {
            plan->order[start[(int64_t)mesh->kind[e] * mesh->region_count + mesh->region[e]]++] = e;
        }
    }

    pl_free(start);

    return PL_OK;
}

static bool same_group(const pl_mesh_view *mesh, int32_t a, int32_t b)
{
    return mesh->kind[a] == mesh->kind[b] && mesh->region[a] == mesh->region[b];
}

static int plan_blocks(const pl_mesh_view *mesh, element_plan *plan)
{
    int blocks = 0;
    for (int32_t i = 0; i < plan->count; ++blocks) {
        int lanes = 0;
        const int32_t first = plan->order[i];
        while (i < plan->count && lanes < PL_LANES && same_group(mesh, first, plan->order[i])) {
            ++i;
            ++lanes;
        }

        const element_rule rule = rule_of(mesh->kind[first]);
        plan->storage += (int64_t)rule.count * (3 * pl_element_node_count(mesh->kind[first]) + 1) * PL_LANES;
    }

    return blocks;
}

// A pressure number per (corner vertex, law), in the order in which blocks meet them.
static pl_status number_pressures(pl_elements *E, pl_error *err)
{
    int64_t limit = 1;
    for (int b = 0; b < E->block_count; ++b) {
        limit += (int64_t)E->block[b].corner_count * PL_LANES;
    }

    pl_table table = {0};
    if (!pl_table_init(&table, 2, limit)) {
        return pl_fail_memory(err, "elements: pressures");
    }

    for (int b = 0; b < E->block_count; ++b) {
        pl_block *block = &E->block[b];
        for (int c = 0; E->law[block->law].mixed && c < block->corner_count; ++c) {
            for (int l = 0; l < PL_LANES; ++l) {
                const int32_t key[2] = {block->node[c][l], block->law};
                block->pressure[c][l] = pl_table_add(&table, key);
            }
        }
    }

    E->pressure_count = table.count;
    E->moment = PL_NEW_ARRAY(double, table.count);
    E->pressure_kappa = PL_NEW_ARRAY(double, table.count);
    E->pressure_unit = PL_NEW_ARRAY(double, table.count);
    E->pressure_rate = PL_NEW_ARRAY(double, table.count);
    E->pressure_vertex = PL_NEW_ARRAY(int32_t, table.count);
    E->dilatation = PL_NEW_ARRAY(double, table.count);
    E->pressure = PL_NEW_ARRAY(double, table.count);
    const bool ok = E->moment && E->pressure_kappa && E->pressure_vertex && E->dilatation && E->pressure &&
                    E->pressure_rate && E->pressure_unit;
    for (int32_t p = 0; ok && p < table.count; ++p) {
        E->pressure_vertex[p] = table.key[2 * p];
        E->pressure_kappa[p] = E->law_kappa[table.key[2 * p + 1]];
    }

    pl_table_clear(&table);

    return ok ? PL_OK : pl_fail_memory(err, "elements: pressures");
}

// Lists, per target, the buffer entries that add up there, in block order: sums do not depend on threads.
static pl_status gather_lists(pl_elements *E, bool pressures, int64_t **start_out, int64_t **code_out,
                              pl_error *err)
{
    const int64_t targets = pressures ? E->pressure_count : E->vertex_count;
    int64_t *start = PL_NEW_ARRAY(int64_t, targets + 2), *code = NULL;

    for (int pass = 0; start && pass < 2; ++pass) {
        for (int b = 0; b < E->block_count; ++b) {
            const pl_block *block = &E->block[b];
            const int count = pressures ? block->corner_count : block->node_count;

            for (int a = 0; (!pressures || E->law[block->law].mixed) && a < count; ++a) {
                for (int l = 0; l < block->lane_count; ++l) {
                    const int32_t t = pressures ? block->pressure[a][l] : block->node[a][l];
                    if (pass == 0) {
                        start[t + 2]++;
                    } else {
                        code[start[t + 1]++] = pressures ? block->corner_start + a * PL_LANES + l
                                                         : block->force_start + 3 * a * PL_LANES + l;
                    }
                }
            }
        }

        if (pass == 0) {
            for (int64_t t = 0; t < targets; ++t) {
                start[t + 2] += start[t + 1];
            }
            code = PL_NEW_ARRAY(int64_t, start[targets + 1]);
            if (!code) {
                break;
            }
        }
    }

    *start_out = start;
    *code_out = code;

    return start && code ? PL_OK : pl_fail_memory(err, "elements");
}

static void fill_block(pl_elements *E, pl_block *block, const pl_mesh_view *mesh, const int32_t *element,
                       int lanes, double **storage)
{
    block->kind = mesh->kind[element[0]];
    block->law = mesh->region[element[0]];
    block->node_count = pl_element_node_count(block->kind);
    block->corner_count = pl_element_corner_count(block->kind);
    block->lane_count = lanes;
    const element_rule rule = rule_of(block->kind);
    block->point_count = rule.count;
    block->corner_weight = E->corner_table[block->kind];
    block->gradient = *storage;
    block->weight = *storage + (int64_t)rule.count * block->node_count * 3 * PL_LANES;
    *storage = block->weight + rule.count * PL_LANES;

    for (int l = 0; l < PL_LANES; ++l) {
        const int32_t e = element[l < lanes ? l : 0];
        double X[3 * PL_ELEMENT_NODES_MAX];
        block->element[l] = e;

        for (int a = 0; a < block->node_count; ++a) {
            const int32_t v = mesh->node[mesh->node_start[e] + a];
            block->node[a][l] = v;
            memcpy(X + 3 * a, mesh->position + 3 * (int64_t)v, 3 * sizeof *X);
        }

        pl_block_integrate(block, l, X, l < lanes, &(pl_growth){1, 1});
    }

    const int n = block->node_count;
    block->force_start = E->force_size;
    block->tangent_start = E->tangent_size;
    block->corner_start = E->corner_size;
    E->force_size += 3 * n * PL_LANES;
    block->tangent_count = n * (n + 1) / 2 * 9 + (E->law[block->law].mixed ? block->corner_count * n * 3 : 0);
    E->tangent_size += (int64_t)block->tangent_count * PL_LANES;
    E->corner_size += block->corner_count * PL_LANES;
}

void pl_element_shares(const pl_mesh_view *mesh, int32_t e, double *share)
{
    const pl_element_kind kind = mesh->kind[e];
    const element_rule rule = rule_of(kind);
    const int n = pl_element_node_count(kind);

    memset(share, 0, (size_t)n * sizeof *share);
    for (int q = 0; q < rule.count; ++q) {
        double N[PL_ELEMENT_NODES_MAX], dN[3 * PL_ELEMENT_NODES_MAX], M[9] = {0};
        pl_shape_eval(kind, rule.xi[q], N, dN);

        for (int a = 0; a < n; ++a) {
            const double *X = mesh->position + 3 * (int64_t)mesh->node[mesh->node_start[e] + a];
            for (int i = 0; i < 9; ++i) {
                M[i] += X[i / 3] * dN[3 * a + i % 3]; // dX_i / dxi_j
            }
        }

        const double w = rule.weight[q] * pl_det3(M);
        for (int a = 0; a < n; ++a) {
            share[a] += w * N[a];
        }
    }
}

// Row sums of the mass matrix, rigid regions included, and the volume of the elements.
static void fill_masses(pl_elements *E, const pl_mesh_view *mesh)
{
    for (int32_t e = 0; e < mesh->element_count; ++e) {
        double share[PL_ELEMENT_NODES_MAX];
        pl_element_shares(mesh, e, share);
        for (int64_t a = mesh->node_start[e]; a < mesh->node_start[e + 1]; ++a) {
            E->vertex_mass[mesh->node[a]] += E->density[mesh->region[e]] * share[a - mesh->node_start[e]];
        }
    }

    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                E->volume += block->weight[q * PL_LANES + l];
            }
        }
    }
}

static pl_status elements_fill(pl_elements *E, const pl_mesh_view *mesh, const pl_material *const *material,
                               bool displacement, element_plan *plan, pl_error *err)
{
    E->block_count = plan_blocks(mesh, plan);
    E->law_count = mesh->region_count;
    E->block = PL_NEW_ARRAY(pl_block, E->block_count);
    E->law = PL_NEW_ARRAY(pl_law, E->law_count);
    E->density = PL_NEW_ARRAY(double, E->law_count);
    E->law_kappa = PL_NEW_ARRAY(double, E->law_count);
    E->growth = PL_NEW_ARRAY(pl_growth, E->law_count);
    E->storage = PL_NEW_ARRAY(double, plan->storage);
    E->vertex_mass = PL_NEW_ARRAY(double, mesh->vertex_count);
    E->block_energy = PL_NEW_ARRAY(double, E->block_count);
    E->block_min = PL_NEW_ARRAY(double, E->block_count);
    if (!E->block || !E->law || !E->law_kappa || !E->growth || !E->density || !E->storage ||
        !E->vertex_mass || !E->block_energy || !E->block_min) {
        return pl_fail_memory(err, "elements");
    }

    // laws of the regions; a region without material is rigid or empty
    for (int r = 0; r < E->law_count; ++r) {
        E->growth[r] = (pl_growth){1, 1};
        if (material[r]) {
            law_init(&E->law[r], &E->law_kappa[r], material[r], displacement);
            E->density[r] = material[r]->density;
        }
    }

    for (int k = 0; k < PL_ELEMENT_KIND_COUNT; ++k) {
        corner_weights((pl_element_kind)k, E->corner_table[k]);
    }

    // blocks of up to PL_LANES elements of one kind and region, in the order of the plan
    double *storage = E->storage;
    int32_t i = 0;
    for (int b = 0; b < E->block_count; ++b) {
        int lanes = 1;
        while (lanes < PL_LANES && i + lanes < plan->count &&
               same_group(mesh, plan->order[i], plan->order[i + lanes])) {
            ++lanes;
        }

        fill_block(E, &E->block[b], mesh, plan->order + i, lanes, &storage);
        i += lanes;
    }

    // element forces are summed per vertex in a fixed order, so that threads do not change the sum
    pl_status status = number_pressures(E, err);
    E->force = PL_NEW_ARRAY(double, E->force_size);
    E->corner = PL_NEW_ARRAY(double, E->corner_size);
    if (status == PL_OK && (!E->force || !E->corner)) {
        status = pl_fail_memory(err, "elements");
    }
    if (status == PL_OK) {
        status = gather_lists(E, false, &E->vertex_start, &E->vertex_code, err);
    }
    if (status == PL_OK) {
        status = gather_lists(E, true, &E->pressure_start, &E->pressure_code, err);
    }
    if (status == PL_OK) {
        fill_masses(E, mesh);
        status = pl_elements_mass_create(E, err);
    }

    return status;
}

pl_status pl_elements_create(const pl_mesh *mesh, const pl_material *const *material, const bool *skip,
                             bool displacement, pl_elements **out, pl_error *err)
{
    *out = NULL;
    const pl_mesh_view view = pl_mesh_get(mesh);
    pl_elements *E = PL_NEW(pl_elements);
    if (!E) {
        return pl_fail_memory(err, "elements");
    }
    pl_threads_hold();
    E->vertex_count = view.vertex_count;
    E->element_count = view.element_count;
    element_plan plan = {0};
    pl_status status = plan_order(&view, skip, &plan, err);
    if (status == PL_OK) {
        status = elements_fill(E, &view, material, displacement, &plan, err);
    }
    pl_free(plan.order);
    if (status != PL_OK) {
        pl_elements_destroy(E);
        return status;
    }

    *out = E;

    return PL_OK;
}

void pl_elements_destroy(pl_elements *E)
{
    if (!E) {
        return;
    }

    void *owned[] = {E->law_kappa,      E->block,          E->law,           E->density,
                     E->moment,         E->pressure_kappa, E->pressure_unit, E->pressure_vertex,
                     E->force,          E->corner,         E->dilatation,    E->pressure,
                     E->block_energy,   E->block_min,      E->vertex_start,  E->vertex_code,
                     E->pressure_start, E->pressure_code,  E->storage,       E->vertex_mass,
                     E->growth,         E->pressure_rate};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
    pl_sparse_clear(&E->mass);
    pl_factor_destroy(E->mass_factor);
    pl_free(E);
    pl_threads_release();
}
