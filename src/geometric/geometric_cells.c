// From the corner mesh and the filled chambers to blocks of cells: who is drawn by which law, gradients and
// volumes at rest, which forces add up at a vertex.
#include "geometric/geometric_impl.h"
#include "robot/robot_kind.h"

// One cell on its path into a block.
typedef struct cell {
    int32_t node[GEO_NODES];
    int node_count;
    int32_t element; // of the corner mesh; -1: of a filled chamber
    int law;
    int growth;          // the actuator whose rest shape this is; -1
    double normal[3];    // of a film; 0 0 0: the prism's own at every point
    double volume, area; // of the stress-free shape over the drawn one; 1 for most
    const double *rest;  // 12: a rest shape of its own; NULL: where its vertices rest
} cell;

typedef struct cells {
    cell *list;
    int32_t count, capacity;
} cells;

// ---- laws
// mu and lambda of a law at small strains.
static void law_moduli(const pl_material *m, double *mu, double *lambda)
{
    pl_material_moduli(m, mu, lambda);
    if (pl_material_is_rubber(m->model)) {
        *lambda -= 2 * *mu / 3;
    }
}

// Unit weights, as published: w = 1 for all. Materials of one weight (given by `model: shape`, or a single
// one) keep their R; otherwise the stiffest has R = 1, and the others what E ~ R / (2 + R) gives for their
// moduli, as a calibration against the stiffest would (the Poisson ratio has no place in it).
static void law_unit(const pl_geometric *g, geo_law *law)
{
    double stiffest = 0, lightest = INFINITY, heaviest = 0, young, poisson;
    for (int i = 0; i < g->robot->material_count; ++i) {
        double mu, lambda;
        law_moduli(&g->robot->material[i], &mu, &lambda);
        const double w = mu + 1.5 * lambda;
        pl_shape_to_elastic(w, mu / w, &young, &poisson);
        stiffest = fmax(stiffest, young);
        lightest = fmin(lightest, w);
        heaviest = fmax(heaviest, w);
    }

    if (heaviest > lightest * (1 + 1e-9)) {
        pl_shape_to_elastic(law->w, law->R, &young, &poisson);
        const double e = young / stiffest / 3;
        law->R = 2 * e / (1 - e);
    }

    law->w = 1;
}

// Rigid regions have no cells: they cost no energy.
static bool region_is_rigid(const pl_geometric *g, int32_t region)
{
    for (int b = 0; b < g->robot->rigid_count; ++b) {
        if (strcmp(g->robot->rigid[b].name, g->mesh.region_name[region]) == 0) {
            return true;
        }
    }

    return false;
}

static pl_status law_of_region(pl_geometric *g, int32_t region, geo_law *law, pl_error *err)
{
    const pl_material *m = &g->robot->material[g->robot->region_material[region]];
    const bool rubber = pl_material_is_rubber(m->model);
    double mu, lambda;

    if (pl_material_has_fibres(m->model)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "local_global: the material of region '%s' (%s) depends on a direction, which no shape "
            "parameter can represent; use the method exact",
            g->mesh.region_name[region], pl_material_model_name(m->model));
    }

    law_moduli(m, &mu, &lambda);

    // Poisson ratios below 0 have no shape parameter: lambda >= 0 is what blending can express
    if (lambda < 0 && g->options.form == PL_FORM_BLENDED) {
        return pl_fail(err, PL_BAD_INPUT,
                       "local_global: the material of region '%s' has a negative Poisson's ratio, which no "
                       "shape parameter can represent; use form: mu_lambda",
                       g->mesh.region_name[region]);
    }

    *law = (geo_law){.target = GEO_BLEND, .w = mu + 1.5 * fmax(lambda, 0), .mu = mu, .lambda = lambda};
    law->R = mu / law->w;
    if (g->options.unit_weights) {
        law_unit(g, law);
    } else if (g->options.form == PL_FORM_MU_LAMBDA) {
        law->target = GEO_MU_LAMBDA;
    } else if (rubber) {
        pl_shape_curve *curve = &g->cells.curve[region];
        const pl_status status = pl_shape_curve_fit(m, g->options.strain_high, curve, err);
        if (status != PL_OK) {
            return status;
        }
        law->target = GEO_CURVE;
        law->w = curve->weight;
        law->curve = curve->r_omega;
        law->inverse_reach = (PL_SHAPE_POINTS - 1) / curve->reach;
    }

    const double factor = g->options.body_weight;
    law->w *= factor;
    law->mu *= factor;
    law->lambda *= factor;

    return PL_OK;
}

double geo_actuation_weight(const pl_geometric *g, int actuator)
{
    const double modulus = g->robot->actuator[actuator].modulus;
    const bool own = modulus > 0 && g->options.metric == PL_METRIC_GRADIENT && !g->options.unit_weights;
    return own ? 0.5 * modulus : g->options.actuation_weight * g->cells.mean_weight;
}

// Laws of the regions and of the actuators.
static pl_status cells_laws(pl_geometric *g, pl_error *err)
{
    const int32_t regions = g->mesh.region_count;
    g->cells.law = PL_NEW_ARRAY(geo_law, regions + g->robot->actuator_count);
    g->cells.curve = PL_NEW_ARRAY(pl_shape_curve, regions);
    if (!g->cells.law || !g->cells.curve) {
        return pl_fail_memory(err, "local_global: laws");
    }

    double sum = 0, volume = 0;
    for (int32_t r = 0; r < regions; ++r) {
        if (region_is_rigid(g, r)) {
            continue;
        }
        const pl_status status = law_of_region(g, r, &g->cells.law[r], err);
        if (status != PL_OK) {
            return status;
        }
        const double v = pl_mesh_region_volume(g->corner, r);
        sum += v * g->cells.law[r].w;
        volume += v;
    }

    g->cells.mean_weight = sum / volume / g->options.body_weight;
    for (int a = 0; a < g->robot->actuator_count; ++a) {
        g->cells.law[regions + a] = (geo_law){
            .target =
                pl_actuator_growth_form(g->robot->actuator[a].kind) == PL_GROWTH_AREA ? GEO_FILM : GEO_SCALE,
            .w = geo_actuation_weight(g, a)};
    }

    return PL_OK;
}

// ---- lists of cells
static cell *cells_add(cells *c, int node_count, const int32_t *node, int32_t element, int law, int growth)
{
    if (!pl_grow((void **)&c->list, &c->capacity, (int64_t)c->count + 1, sizeof *c->list)) {
        return NULL;
    }

    cell *one = &c->list[c->count++];
    *one = (cell){.node_count = node_count, .element = element, .law = law, .growth = growth};
    one->volume = one->area = 1;
    memcpy(one->node, node, (size_t)node_count * sizeof *node);

    return one;
}

// The elements of a region that stays in the mesh and grows.
static void cells_own_region(const pl_geometric *g, int actuator, int *owner)
{
    for (int32_t e = 0; e < g->mesh.element_count; ++e) {
        if (g->mesh.region[e] == g->robot->actuator[actuator].region) {
            owner[e] = actuator;
        }
    }
}

// Which element grows with which actuator (-1: none), and the normals of films.
static pl_status cells_owners(pl_geometric *g, int *owner, double *normal, pl_error *err)
{
    for (int32_t e = 0; e < g->mesh.element_count; ++e) {
        owner[e] = -1;
    }

    for (int i = 0; i < g->robot->actuator_count; ++i) {
        const pl_actuator *a = &g->robot->actuator[i];
        if (g->drive[i].has_elements && a->growth && a->region >= 0) {
            cells_own_region(g, i, owner);
            continue;
        }

        if (pl_actuator_growth_form(a->kind) != PL_GROWTH_AREA || !g->drive[i].has_elements) {
            continue;
        }
        for (int64_t k = 0; k < a->face_count; ++k) {
            const int32_t e = (int32_t)(a->face[k] / 8);
            double x[3 * PL_FACE_NODES_MAX], p[3], q[3];

            if (owner[e] >= 0 && owner[e] != i) {
                return pl_fail(err, PL_BAD_INPUT,
                               "local_global: the films '%s' and '%s' share an element, which cannot grow "
                               "for both of them",
                               g->robot->actuator[owner[e]].name, a->name);
            }

            owner[e] = i;
            if (pl_mesh_gather_face(g->corner, a->face[k], x) == 3) {
                continue; // the prism's own normal
            }
            pl_sub3(x + 3, x, p);
            pl_sub3(x + 6, x, q);
            double *n = normal + 3 * (size_t)e;
            pl_cross3(p, q, n);
            const double length = pl_norm3(n);
            for (int j = 0; j < 3; ++j) {
                n[j] /= length;
            }
        }
    }

    return PL_OK;
}

static bool cells_collect(pl_geometric *g, const int *owner, const double *normal, cells *c)
{
    const pl_mesh_view *v = &g->mesh;
    for (int32_t e = 0; e < v->element_count; ++e) {
        if (region_is_rigid(g, v->region[e])) {
            continue;
        }
        const int law = owner[e] >= 0 ? v->region_count + owner[e] : v->region[e];
        cell *one = cells_add(c, (int)(v->node_start[e + 1] - v->node_start[e]), v->node + v->node_start[e],
                              e, law, owner[e]);
        if (!one) {
            return false;
        }
        memcpy(one->normal, normal + 3 * (size_t)e, sizeof one->normal);
        one->volume = g->robot->region_rest[2 * (size_t)v->region[e]];
        one->area = g->robot->region_rest[2 * (size_t)v->region[e] + 1];
    }

    return true;
}

// The tets that fill chambers: vertices of the robot's mesh become corners, inner ones follow the corners.
static bool cells_fill(pl_geometric *g, cells *c)
{
    const int32_t vertices = pl_mesh_get(g->robot->mesh).vertex_count;
    int32_t first = g->corner_count;

    for (int i = 0; i < g->robot->actuator_count; ++i) {
        const pl_actuator *a = &g->robot->actuator[i];
        const geo_inside *in = g->inside ? &g->inside[i] : NULL;
        const bool own = in && in->tet;

        for (int32_t t = 0; own && t < in->tet_count; ++t) {
            int32_t node[4];
            for (int k = 0; k < 4; ++k) {
                const int32_t v = in->tet[4 * (size_t)t + (size_t)k];
                node[k] = v < g->corner_count ? v : first + v - g->corner_count;
            }

            cell *one = cells_add(c, 4, node, -1, g->mesh.region_count + i, i);
            if (!one) {
                return false;
            }
            one->rest = in->rest + 12 * (size_t)t;
        }

        for (int32_t t = 0; !own && g->drive[i].has_elements && t < a->fill_count; ++t) {
            int32_t node[4];
            for (int k = 0; k < 4; ++k) {
                const int32_t v = a->fill_tet[4 * (size_t)t + (size_t)k];
                node[k] = v < vertices ? g->map.corner_of[v] : first + v - vertices;
            }

            if (!cells_add(c, 4, node, -1, g->mesh.region_count + i, i)) {
                return false;
            }
        }

        const double *position = NULL;
        first += geo_inside_vertices(g, i, &position);
    }

    return true;
}

// Tets first, then prisms, grouped by law; order inside a group is kept. `order` gets the sorted cells.
static void cells_sort(const pl_geometric *g, const cells *c, int32_t *order)
{
    int32_t n = 0;
    const int laws = g->mesh.region_count + g->robot->actuator_count;

    for (int kind = 0; kind < 2; ++kind) {
        for (int law = 0; law < laws; ++law) {
            for (int32_t i = 0; i < c->count; ++i) {
                if ((c->list[i].node_count == 6) == (kind == 1) && c->list[i].law == law) {
                    order[n++] = i;
                }
            }
        }
    }
}

// ---- blocks
// Gradients and volumes at the points of the prism: three in the triangle times two Gauss points across.
static const double prism_point[6][3] = {
    {1.0 / 6, 1.0 / 6, -0.57735026918962576}, {2.0 / 3, 1.0 / 6, -0.57735026918962576},
    {1.0 / 6, 2.0 / 3, -0.57735026918962576}, {1.0 / 6, 1.0 / 6, 0.57735026918962576},
    {2.0 / 3, 1.0 / 6, 0.57735026918962576},  {1.0 / 6, 2.0 / 3, 0.57735026918962576}};
static const double tet_point[3] = {0.25, 0.25, 0.25};

// dN/dX = dN/dxi (dX/dxi)^-1 and the volume that belongs to the point.
static double point_gradient(pl_element_kind kind, const double *xi, double weight, const double *X, int n,
                             double grad[3 * GEO_NODES])
{
    double dN[3 * GEO_NODES], M[9] = {0}, C[9];
    pl_shape_eval(kind, xi, NULL, dN);
    for (int a = 0; a < n; ++a) {
        for (int i = 0; i < 9; ++i) {
            M[i] += X[3 * a + i / 3] * dN[3 * a + i % 3];
        }
    }

    pl_cofactor3(M, C);
    const double det = pl_det3(M);
    for (int a = 0; a < n; ++a) {
        for (int j = 0; j < 3; ++j) {
            // (M^-T)_jk = C_jk / det
            grad[3 * a + j] = pl_dot3(C + 3 * j, dN + 3 * a) / det;
        }
    }

    return weight * det;
}

// The normal of the surface zeta = const of a prism, at `xi` (NULL: in the middle).
static void prism_normal(const pl_geometric *g, const cell *c, const double *xi, double n[3])
{
    static const double middle[3] = {1.0 / 3, 1.0 / 3, 0};
    double dN[3 * GEO_NODES], p[3] = {0}, q[3] = {0};

    pl_shape_eval(PL_PRISM6, xi ? xi : middle, NULL, dN);
    for (int a = 0; a < 6; ++a) {
        for (int i = 0; i < 3; ++i) {
            p[i] += g->X[3 * (size_t)c->node[a] + (size_t)i] * dN[3 * a];
            q[i] += g->X[3 * (size_t)c->node[a] + (size_t)i] * dN[3 * a + 1];
        }
    }

    pl_cross3(p, q, n);
    const double length = pl_norm3(n);
    for (int i = 0; i < 3; ++i) {
        n[i] /= length;
    }
}

// The normal of the film a cell belongs to: the prism's, or that of the face the film was drawn on; 0 for
// tets.
static void point_normal(const pl_geometric *g, const cell *c, const double *xi, double n[3])
{
    memcpy(n, c->normal, 3 * sizeof *n);
    if (c->node_count == 6 && pl_norm3(n) == 0) {
        prism_normal(g, c, xi, n);
    }
}

// From the drawn to the stress-free shape at a point, or a gradient back: G = cbrt(volume) times sqrt(area)
// in the plane of a prism and 1 / area across.
static void rest_map(const pl_geometric *g, const cell *c, const double *xi, bool inverse, const double *in,
                     double *out)
{
    double n[3] = {0}, along = cbrt(c->volume) * sqrt(c->area), across = cbrt(c->volume) / c->area;
    if (c->area != 1) {
        prism_normal(g, c, xi, n);
    }
    along = inverse ? 1 / along : along;
    across = inverse ? 1 / across : across;
    const double normal = pl_dot3(in, n);
    for (int i = 0; i < 3; ++i) {
        out[i] = along * in[i] + (across - along) * normal * n[i];
    }
}

// The best affine map of the centred element, F = sum x_a (x) M^-1 V_a with M = sum V_a (x) V_a.
static void affine_gradient(const double *arm, int n, double grad[3 * GEO_NODES])
{
    double M[9] = {0}, C[9];
    for (int a = 0; a < n; ++a) {
        for (int i = 0; i < 9; ++i) {
            M[i] += arm[3 * a + i / 3] * arm[3 * a + i % 3];
        }
    }

    pl_cofactor3(M, C);
    const double det = pl_det3(M);
    for (int a = 0; a < n; ++a) {
        for (int j = 0; j < 3; ++j) {
            grad[3 * a + j] = pl_dot3(C + 3 * j, arm + 3 * a) / det;
        }
    }
}

static void block_store(double *to, int n, int lane, const double *value)
{
    for (int k = 0; k < n; ++k) {
        to[k * GEO_LANES + lane] = value[k];
    }
}

static void block_lane(pl_geometric *g, geo_block *block, int lane, const cell *c, bool used)
{
    const int n = block->node_count;
    double X[3 * GEO_NODES], arm[3 * GEO_NODES], grad[3 * GEO_NODES], centre[3] = {0};

    block->cell[lane] = c->element;
    for (int a = 0; a < n; ++a) {
        block->node[a][lane] = c->node[a];
        memcpy(X + 3 * a, c->rest ? c->rest + 3 * a : g->X + 3 * (size_t)c->node[a], 3 * sizeof *X);
        for (int i = 0; i < 3; ++i) {
            centre[i] += X[3 * a + i] / n;
        }
    }

    const pl_element_kind kind = n == 4 ? PL_TET4 : PL_PRISM6;
    if (block->arm) {
        // rest positions about the centre, stress-free
        for (int a = 0; a < n; ++a) {
            double drawn[3];
            pl_sub3(X + 3 * a, centre, drawn);
            rest_map(g, c, NULL, false, drawn, arm + 3 * a);
        }

        affine_gradient(arm, n, grad);
        block_store(block->gradient, 3 * n, lane, grad);
        block_store(block->arm, 3 * n, lane, arm);
        block->weight[lane] = !used ? 0 : g->options.even_weights ? 1 : pl_element_volume(kind, arm);
    }

    for (int q = 0; q < block->point_count; ++q) {
        if (!block->arm) {
            const double *xi = n == 4 ? tet_point : prism_point[q];
            const double volume = c->volume * point_gradient(kind, xi, 1.0 / 6, X, n, grad);
            for (int a = 0; a < n; ++a) {
                rest_map(g, c, xi, true, grad + 3 * a, grad + 3 * a);
            }
            block_store(block->gradient + (size_t)q * 3 * (size_t)n * GEO_LANES, 3 * n, lane, grad);
            block->weight[q * GEO_LANES + lane] = used ? volume : 0;
        }

        if (block->normal) {
            double normal[3];
            point_normal(g, c, block->arm ? NULL : prism_point[q], normal);
            block_store(block->normal + (size_t)q * 3 * GEO_LANES, 3, lane, normal);
        }
    }
}

static bool cells_alike(const cell *a, const cell *b)
{
    return a->node_count == b->node_count && a->law == b->law;
}

static int block_points(const pl_geometric *g, int node_count)
{
    return node_count == 4 || g->options.metric == PL_METRIC_VERTEX ? 1 : GEO_POINTS;
}

// Storage of a block, in doubles.
static int64_t block_size(const pl_geometric *g, const cell *c)
{
    const int n = c->node_count, points = block_points(g, n);
    const int arm = g->options.metric == PL_METRIC_VERTEX ? 3 * n : 0,
              normal = c->growth >= 0 ? 3 * points : 0;
    return (int64_t)(points * (3 * n + 1) + arm + normal) * GEO_LANES;
}

static int32_t block_end(const cells *c, const int32_t *order, int32_t i)
{
    int32_t end = i;
    while (end < c->count && end < i + GEO_LANES && cells_alike(&c->list[order[i]], &c->list[order[end]])) {
        ++end;
    }
    return end;
}

static void block_fill(pl_geometric *g, geo_block *block, const cells *c, const int32_t *order, int32_t i,
                       int32_t end, double **storage)
{
    const cell *first = &c->list[order[i]];
    const int n = first->node_count, points = block_points(g, n);

    *block = (geo_block){.node_count = n, .point_count = points, .lane_count = end - i, .law = first->law};
    block->gradient = *storage;
    block->weight = block->gradient + (size_t)points * 3 * (size_t)n * GEO_LANES;
    double *next = block->weight + points * GEO_LANES;
    if (g->options.metric == PL_METRIC_VERTEX) {
        block->arm = next;
        next += 3 * n * GEO_LANES;
    }

    if (first->growth >= 0) {
        block->normal = next;
        next += 3 * points * GEO_LANES;
    }

    *storage = next;
    block->force_start = g->cells.force_size;
    g->cells.force_size += 3 * n * GEO_LANES;
    block->growth_start = -1;

    if (first->growth >= 0) {
        geo_drive *d = &g->drive[first->growth];
        block->growth_start = g->growth.point_count;
        d->first_point = d->point_count == 0 ? g->growth.point_count : d->first_point;
        d->point_count += points * GEO_LANES;
        g->growth.point_count += points * GEO_LANES;
    }

    for (int lane = 0; lane < GEO_LANES; ++lane) {
        block_lane(g, block, lane, &c->list[order[i + lane < end ? i + lane : i]], i + lane < end);
    }
}

static pl_status cells_blocks(pl_geometric *g, const cells *c, pl_error *err)
{
    int32_t *order = PL_NEW_ARRAY(int32_t, c->count);
    if (!order) {
        return pl_fail_memory(err, "local_global: blocks");
    }
    cells_sort(g, c, order);
    int64_t size = 0;
    for (int32_t i = 0; i < c->count; i = block_end(c, order, i)) {
        size += block_size(g, &c->list[order[i]]);
        ++g->cells.block_count;
    }

    g->cells.block = PL_NEW_ARRAY(geo_block, g->cells.block_count);
    g->cells.storage = PL_NEW_ARRAY(double, size);
    g->cells.energy = PL_NEW_ARRAY(double, g->cells.block_count);
    g->cells.min_J = PL_NEW_ARRAY(double, g->cells.block_count);
    const bool ok = g->cells.block && g->cells.storage && g->cells.energy && g->cells.min_J;

    if (ok) {
        double *storage = g->cells.storage;
        int b = 0;

        for (int32_t i = 0; i < c->count;) {
            const int32_t end = block_end(c, order, i);
            block_fill(g, &g->cells.block[b++], c, order, i, end, &storage);
            i = end;
        }
    }

    pl_free(order);

    return ok ? PL_OK : pl_fail_memory(err, "local_global: blocks");
}

// The rest measures of a lane's growth points (volume; films: area), shared out by their weights; and their
// softness, 3 u / (weight tr V): 1 in the gradient metric.
static void points_lane(pl_geometric *g, const geo_block *block, int lane)
{
    const bool film = g->cells.law[block->law].target == GEO_FILM;
    double x[3 * PL_ELEMENT_NODES_MAX], sum = 0, trace = block->arm ? 0 : 3;

    for (int a = 0; a < block->node_count; ++a) {
        memcpy(x + 3 * a, g->X + 3 * (size_t)block->node[a][lane], 3 * sizeof *x);
    }

    double whole =
        film ? pl_prism_area(x) : pl_element_volume(block->node_count == 4 ? PL_TET4 : PL_PRISM6, x);
    if (g->inside && block->cell[lane] < 0) { // its rest shape is not where its vertices rest
        for (int i = 0; block->arm && i < 12; ++i) {
            x[i] = block->arm[i * GEO_LANES + lane];
        }
        whole = block->arm ? pl_element_volume(PL_TET4, x) : block->weight[lane];
    }

    for (int q = 0; q < block->point_count; ++q) {
        sum += block->weight[q * GEO_LANES + lane];
    }
    for (int i = 0; block->arm && i < 3 * block->node_count; ++i) {
        const double arm = block->arm[i * GEO_LANES + lane];
        trace += arm * arm;
    }

    for (int q = 0; q < block->point_count; ++q) {
        const double weight = block->weight[q * GEO_LANES + lane];
        const int64_t k = block->growth_start + q * GEO_LANES + lane;
        g->growth.share[k] = whole * weight / sum;
        if (g->growth.joint.soft) {
            g->growth.joint.soft[k] = 3 * g->growth.share[k] / (weight * trace);
        }
    }
}

static pl_status cells_points(pl_geometric *g, pl_error *err)
{
    g->growth.ratio = PL_NEW_ARRAY(double, g->growth.point_count);
    g->growth.measure = PL_NEW_ARRAY(double, g->growth.point_count);
    g->growth.stretch = PL_NEW_ARRAY(double, g->growth.point_count);
    g->growth.share = PL_NEW_ARRAY(double, g->growth.point_count);
    double **joint[] = {&g->growth.joint.value, &g->growth.joint.slope, &g->growth.joint.bend,
                        &g->growth.joint.step,  &g->growth.joint.ratio, &g->growth.joint.soft};
    bool ok = g->growth.ratio && g->growth.measure && g->growth.stretch && g->growth.share;
    for (int i = 0; g->options.distribution == PL_RATIOS_JOINT && i < PL_COUNT(joint); ++i) {
        *joint[i] = PL_NEW_ARRAY(double, g->growth.point_count);
        ok = ok && *joint[i];
    }

    if (!ok) {
        return pl_fail_memory(err, "local_global: growth");
    }

    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];
        for (int l = 0; block->growth_start >= 0 && l < block->lane_count; ++l) {
            points_lane(g, block, l);
        }
    }

    for (int i = 0; i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
            d->whole += g->growth.share[k];
        }
        d->whole = g->inside && g->inside[i].tet ? g->inside[i].whole : d->whole;
    }

    return PL_OK;
}

// Which entries of the force buffer add up at a vertex, in block order: sums do not depend on threads.
static pl_status cells_gather(pl_geometric *g, pl_error *err)
{
    int64_t *start = PL_NEW_ARRAY(int64_t, (int64_t)g->vertex_count + 2), *code = NULL;
    for (int pass = 0; start && pass < 2; ++pass) {
        for (int b = 0; b < g->cells.block_count; ++b) {
            const geo_block *block = &g->cells.block[b];

            for (int a = 0; a < block->node_count; ++a) {
                for (int l = 0; l < block->lane_count; ++l) {
                    const int32_t v = block->node[a][l];
                    if (pass == 0) {
                        start[v + 2]++;
                    } else {
                        code[start[v + 1]++] = block->force_start + 3 * a * GEO_LANES + l;
                    }
                }
            }
        }

        if (pass == 0) {
            for (int32_t v = 0; v < g->vertex_count; ++v) {
                start[v + 2] += start[v + 1];
            }
            code = PL_NEW_ARRAY(int64_t, start[g->vertex_count + 1]);
            if (!code) {
                break;
            }
        }
    }

    g->cells.gather_start = start;
    g->cells.gather_code = code;
    g->cells.force = PL_NEW_ARRAY(double, g->cells.force_size);

    return start && code && g->cells.force ? PL_OK : pl_fail_memory(err, "local_global: forces");
}

pl_status geo_cells_create(pl_geometric *g, pl_error *err)
{
    cells c = {0};
    int *owner = PL_NEW_ARRAY(int, g->mesh.element_count);
    double *normal = PL_NEW_ARRAY(double, 3 * (int64_t)g->mesh.element_count);
    pl_status status = owner && normal ? cells_laws(g, err) : pl_fail_memory(err, "local_global: cells");

    if (status == PL_OK) {
        status = cells_owners(g, owner, normal, err);
    }
    if (status == PL_OK && !(cells_collect(g, owner, normal, &c) && cells_fill(g, &c))) {
        status = pl_fail_memory(err, "local_global: cells");
    }
    if (status == PL_OK) {
        status = cells_blocks(g, &c, err);
    }
    if (status == PL_OK) {
        status = cells_points(g, err);
    }
    if (status == PL_OK) {
        status = cells_gather(g, err);
    }

    // vertices inside chambers that do not grow belong to no cell: they stay where they are
    for (int32_t v = g->corner_count; status == PL_OK && v < g->vertex_count; ++v) {
        for (int i = 0; i < 3 && g->cells.gather_start[v] == g->cells.gather_start[v + 1]; ++i) {
            g->support_of[3 * (size_t)v + (size_t)i] = INT32_MAX;
        }
    }

    pl_free(c.list);
    pl_free(owner);
    pl_free(normal);

    return status;
}
