// The derivative K = df/dx of the forces of the local step, at a shape: per point of every cell the tensor
// dD/dF with D = F - T, and per piece of every functional its second derivative. All in closed form:
//
// - rotation: R^T F = S gives dR = R [w]x with (tr(S) I - S) w = axial(R^T dF - dF^T R)
// - mu_lambda: dD = (mu (dF - dR) + lambda/2 ((R : dF) R + (tr S - 3) dR)) / w
// - blend: T = s R + o F, s and o functions of J alone, dJ = cof F : dF
// - curve: T = s R + (1 - s) V; s by I1bar; V - F = -theta cof V with det V = 1 differentiated:
//     dV + theta dcof(V)[dV] + dtheta cof V = dF,   cof V : dV = 0
//
// What is not here, the shape of targets in the vertex metric, ratios of growth, springs of contact and
// loose rigid regions, has no derivative of this kind: see geo_differentiable.
#include "geometric/geometric_impl.h"

#define TENSOR 81 // 9 x 9, row-major: dD_i / dF_j

// K of one functional: second derivatives of its pieces, one dense block each.
typedef struct tangent_part {
    const pl_functional *h;
    double *block; // of all pieces, one after another
    double press;  // open pressure: factor of its force instead
    double rank;   // gas: factor of (dh/dx) (dh/dx)^T
    const double *row;
} tangent_part;

struct geo_tangent {
    double *cell; // TENSOR per block, point and lane
    int64_t *cell_start;
    tangent_part *part;
    int part_count;
    double *at; // open pressures: a place beside the shape
    const double *x;
};

bool geo_differentiable(const pl_geometric *g)
{
    bool growth = g->growth.point_count > 0 || g->growth.triangle_count > 0;
    for (int i = 0; i < g->drive_count; ++i) {
        growth = growth || g->drive[i].has_elements;
    }
    return g->options.metric == PL_METRIC_GRADIENT && g->options.stop == PL_STOP_RESIDUAL && !growth &&
           !g->contact && g->rigids.count == 0 && !g->options.remesh;
}

static double dot9(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < 9; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Columns dR/dF_j into dR[9 j ..].
static void rotation_derivative(const double R[9], const double S[9], double dR[TENSOR])
{
    double K[9], C[9];
    const double trace = S[0] + S[4] + S[8];

    for (int i = 0; i < 9; ++i) {
        K[i] = (i % 4 == 0 ? trace : 0) - 0.5 * (S[i] + S[3 * (i % 3) + i / 3]);
    }
    pl_cofactor3(K, C);
    double det = pl_det3(K);
    det = fabs(det) > 1e-30 ? det : copysign(1e-30, det);

    for (int j = 0; j < 9; ++j) {
        // W = R^T E_j has the row R_a of R (a = j / 3) in column b = j % 3
        const double *Ra = R + 3 * (j / 3);
        double W[9] = {0}, w[3];
        for (int i = 0; i < 3; ++i) {
            W[3 * i + j % 3] = Ra[i];
        }
        const double b[3] = {W[7] - W[5], W[2] - W[6], W[3] - W[1]};
        for (int i = 0; i < 3; ++i) {
            w[i] = pl_dot3(C + 3 * i, b) / det; // K is symmetric
        }
        const double spin[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
        pl_mul33(R, spin, dR + 9 * j);
    }
}

// cof is quadratic: dcof(V)[B] = cof(V + B) - cof V - cof B
static void cofactor_derivative(const double V[9], const double B[9], double out[9])
{
    double sum[9], whole[9], one[9], other[9];
    for (int i = 0; i < 9; ++i) {
        sum[i] = V[i] + B[i];
    }
    pl_cofactor3(sum, whole);
    pl_cofactor3(V, one);
    pl_cofactor3(B, other);
    for (int i = 0; i < 9; ++i) {
        out[i] = whole[i] - one[i] - other[i];
    }
}

// Columns dV/dF_j of the nearest matrix with determinant 1; false where it is not unique.
static bool volume_derivative(const double F[9], const double V[9], double dV[TENSOR])
{
    double C[9], A[100] = {0}, right[90] = {0}, difference[9];
    pl_cofactor3(V, C);
    for (int i = 0; i < 9; ++i) {
        difference[i] = F[i] - V[i];
    }

    const double theta = dot9(difference, C) / dot9(C, C);
    for (int j = 0; j < 9; ++j) {
        double unit[9] = {0}, change[9];
        unit[j] = 1;
        cofactor_derivative(V, unit, change);
        for (int i = 0; i < 9; ++i) {
            A[10 * i + j] = (i == j) + theta * change[i];
        }
        A[10 * j + 9] = A[90 + j] = C[j];
        right[9 * j + j] = 1;
    }

    if (!pl_dense_solve(10, A, right, 9)) {
        return false;
    }

    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 9; ++j) {
            dV[9 * j + i] = right[9 * i + j];
        }
    }

    return true;
}

// R_omega of the curve and its derivative with respect to I1bar.
static double curve_slope(const geo_law *law, double I1bar, double *slope)
{
    const double root = sqrt(fmax(I1bar - 3, 0)), s = root * law->inverse_reach;
    const int last = PL_SHAPE_POINTS - 1, i = s < last ? (int)s : last - 1;
    const double rise = law->curve[i + 1] - law->curve[i];
    *slope = s < last && root > 1e-9 ? rise * law->inverse_reach / (2 * root) : 0;
    return law->curve[i] + (s < last ? s - i : 1) * rise;
}

// dT/dF_j of the blended targets into columns of dT.
static void blend_derivative(const geo_law *law, const double F[9], const double R[9], const double *dR,
                             double dT[TENSOR])
{
    double C[9], V[9], dV[TENSOR];
    pl_cofactor3(F, C);
    const double J = pl_det3(F), j = fmax(J, GEO_FLAT_J), keep = fmax(fmin(J, GEO_FLAT_J), 0) / GEO_FLAT_J;
    const double d_keep = J > 0 && J < GEO_FLAT_J ? 1 / GEO_FLAT_J : 0, d_j = J > GEO_FLAT_J ? 1 : 0;
    const double root = cbrt(j), I1bar = dot9(F, F) / (root * root);
    double slope = 0;
    const bool curve = law->target == GEO_CURVE;
    const double at = curve ? curve_slope(law, I1bar, &slope) : law->R;
    const double share = 1 - (1 - at) * keep;

    if (curve) {
        geo_nearest_volume(F, V);
        if (!volume_derivative(F, V, dV)) {
            memset(dV, 0, sizeof dV);
        }
    }

    for (int k = 0; k < 9; ++k) {
        const double dJ = C[k], dI = 2 * F[k] / (root * root) - 2.0 / 3 * I1bar / j * d_j * dJ;
        const double d_share = slope * keep * dI - (1 - at) * d_keep * dJ;
        const double own = curve ? 1 - share : (1 - share) / root;
        const double d_own = curve ? -d_share : -d_share / root - own / (3 * j) * d_j * dJ;
        for (int i = 0; i < 9; ++i) {
            dT[9 * k + i] = d_share * R[i] + share * dR[9 * k + i] + d_own * (curve ? V[i] : F[i]) +
                            own * (curve ? dV[9 * k + i] : (i == k));
        }
    }
}

// A_ij = dD_i / dF_j at F.
void geo_cell_tangent(const geo_law *law, const double F[9], double A[TENSOR])
{
    double R[9], S[9], dR[TENSOR], dT[TENSOR];
    geo_rotation_slow(F, R);
    for (int i = 0; i < 9; ++i) {
        S[i] = R[i / 3] * F[i % 3] + R[3 + i / 3] * F[3 + i % 3] + R[6 + i / 3] * F[6 + i % 3];
    }
    rotation_derivative(R, S, dR);

    if (law->target == GEO_MU_LAMBDA) {
        const double dilatation = S[0] + S[4] + S[8] - 3;
        for (int i = 0; i < 9; ++i) {
            for (int j = 0; j < 9; ++j) {
                A[9 * i + j] = (law->mu * ((i == j) - dR[9 * j + i]) +
                                0.5 * law->lambda * (R[j] * R[i] + dilatation * dR[9 * j + i])) /
                               law->w;
            }
        }

        return;
    }

    blend_derivative(law, F, R, dR, dT);
    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 9; ++j) {
            A[9 * i + j] = (i == j) - dT[9 * j + i];
        }
    }
}

// ---- cells
// sum_a v_a (x) grad N_a at a point of one lane
static void cell_gradient(const geo_block *block, int q, int l, const double *v, double F[9])
{
    const double *g = block->gradient + (int64_t)q * block->node_count * 3 * GEO_LANES + l;
    memset(F, 0, 9 * sizeof *F);
    for (int a = 0; a < block->node_count; ++a, g += 3 * GEO_LANES) {
        const double *p = v + 3 * (int64_t)block->node[a][l];

        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                F[3 * i + j] += p[i] * g[j * GEO_LANES];
            }
        }
    }
}

static void cell_apply(const geo_block *block, const geo_law *law, const double *tensor, int q, int l,
                       const double *v, double *f)
{
    double dF[9], dP[9];
    cell_gradient(block, q, l, v, dF);
    const double scale = 2 * law->w * block->weight[q * GEO_LANES + l];
    for (int i = 0; i < 9; ++i) {
        dP[i] = scale * dot9(tensor + 9 * i, dF);
    }

    const double *g = block->gradient + (int64_t)q * block->node_count * 3 * GEO_LANES + l;
    for (int a = 0; a < block->node_count; ++a, g += 3 * GEO_LANES) {
        double *to = f + 3 * (int64_t)block->node[a][l];
        for (int i = 0; i < 3; ++i) {
            to[i] += dP[3 * i] * g[0] + dP[3 * i + 1] * g[GEO_LANES] + dP[3 * i + 2] * g[2 * GEO_LANES];
        }
    }
}

// ---- functionals
static bool part_add(geo_tangent *t, const pl_functional *h, const double *x, double scale)
{
    tangent_part *part = &t->part[t->part_count++];
    *part = (tangent_part){.h = h};
    int64_t size = 0;
    for (int k = 0; k < h->piece_count; ++k) {
        size += 9 * (int64_t)h->piece[k].node_count * h->piece[k].node_count;
    }
    part->block = PL_NEW_ARRAY(double, size);
    double *H = part->block;
    for (int k = 0; H && k < h->piece_count; ++k) {
        pl_functional_hessian(h, k, x, scale, H);
        H += 9 * (int64_t)h->piece[k].node_count * h->piece[k].node_count;
    }

    return part->block;
}

static void part_apply(const tangent_part *part, const double *v, double *f)
{
    const double *H = part->block;
    for (int k = 0; k < part->h->piece_count; ++k) {
        const pl_piece *piece = &part->h->piece[k];
        const int32_t *node = part->h->node + piece->node_start;
        const int n = 3 * piece->node_count;

        for (int i = 0; i < n; ++i, H += n) {
            double sum = 0;
            for (int j = 0; j < n; ++j) {
                sum += H[j] * v[3 * (int64_t)node[j / 3] + j % 3];
            }
            f[3 * (int64_t)node[i / 3] + i % 3] += sum;
        }
    }
}

// The force of an open pressure is quadratic in x, so its central difference is its derivative.
static void part_press(const pl_geometric *g, const geo_tangent *t, const tangent_part *part, const double *v,
                       double *f)
{
    const int64_t n = 3 * (int64_t)g->vertex_count;
    const double largest = geo_largest(g, v), h = largest > 0 ? g->size / largest : 0;

    for (int side = -1; side <= 1 && h > 0; side += 2) {
        for (int64_t i = 0; i < n; ++i) {
            t->at[i] = t->x[i] + side * h * v[i];
        }
        pl_functional_press(part->h, t->at, side * part->press / (2 * h), f);
    }
}

// Second derivatives of all that acts with its present effort.
static bool tangent_parts(pl_geometric *g, geo_tangent *t, const double *x)
{
    bool enough = true;
    for (int i = 0; i < g->drive_count; ++i) {
        const geo_drive *d = &g->drive[i];
        const bool acts =
            d->mode == GEO_FORCE || d->mode == GEO_GAS || (d->mode == GEO_CONSTRAINT && d->active);
        if (acts && enough) {
            enough = part_add(t, &d->h, x, d->sign * d->effort);
            t->part[t->part_count - 1].row = d->mode == GEO_GAS ? d->row : NULL;
            t->part[t->part_count - 1].rank = d->mode == GEO_GAS ? 1 / d->yielding : 0;
        } else if (d->mode == GEO_VOLTAGE && enough) {
            enough = part_add(t, &d->charge, x, -0.5 * d->value);
        }
    }

    for (int k = 0; k < g->load_count; ++k) {
        const geo_load *load = &g->load[k];
        if (load->open) {
            t->part[t->part_count++] = (tangent_part){.h = &load->h, .press = load->factor};
        } else if (enough) {
            enough = part_add(t, &load->h, x, -load->factor);
        }
    }

    return enough;
}

pl_status geo_tangent_create(pl_geometric *g, const double *x, geo_tangent **out, pl_error *err)
{
    geo_tangent *t = *out = PL_NEW(geo_tangent);
    int64_t points = 0;

    for (int b = 0; b < g->cells.block_count; ++b) {
        points += (int64_t)g->cells.block[b].point_count * GEO_LANES;
    }

    if (t) {
        t->x = x;
        t->cell = PL_NEW_ARRAY(double, points *TENSOR);
        t->cell_start = PL_NEW_ARRAY(int64_t, g->cells.block_count + 1);
        t->part = PL_NEW_ARRAY(tangent_part, g->drive_count + g->load_count + 1);
        t->at = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
    }

    if (!t || !t->cell || !t->cell_start || !t->part || !t->at || !tangent_parts(g, t, x)) {
        return pl_fail_memory(err, "local_global: derivatives");
    }

    double *tensor = t->cell;
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];
        t->cell_start[b] = tensor - t->cell;

        for (int q = 0; q < block->point_count; ++q) {
            for (int l = 0; l < block->lane_count; ++l) {
                double F[9];
                cell_gradient(block, q, l, x, F);
                geo_cell_tangent(&g->cells.law[block->law], F, tensor + (int64_t)l * TENSOR);
            }

            tensor += (int64_t)GEO_LANES * TENSOR;
        }
    }

    return PL_OK;
}

void geo_tangent_destroy(geo_tangent *t)
{
    if (!t) {
        return;
    }
    for (int k = 0; t->part && k < t->part_count; ++k) {
        pl_free(t->part[k].block);
    }
    pl_free(t->cell);
    pl_free(t->cell_start);
    pl_free(t->part);
    pl_free(t->at);
    pl_free(t);
}

void geo_tangent_apply(const pl_geometric *g, const geo_tangent *t, const double *v, double *f)
{
    const int64_t n = 3 * (int64_t)g->vertex_count;
    memset(f, 0, (size_t)n * sizeof *f);
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];
        const double *tensor = t->cell + t->cell_start[b];

        for (int q = 0; q < block->point_count; ++q, tensor += (int64_t)GEO_LANES * TENSOR) {
            for (int l = 0; l < block->lane_count; ++l) {
                cell_apply(block, &g->cells.law[block->law], tensor + (int64_t)l * TENSOR, q, l, v, f);
            }
        }
    }

    for (int k = 0; k < t->part_count; ++k) {
        const tangent_part *part = &t->part[k];
        if (part->press != 0) {
            part_press(g, t, part, v, f);
        } else {
            part_apply(part, v, f);
        }
        const double along = part->row ? part->rank * geo_dot(g, part->row, v) : 0;
        for (int64_t i = 0; part->row && i < n; ++i) {
            f[i] += along * part->row[i];
        }
    }

    for (int64_t i = 0; i < n; ++i) {
        f[i] = g->support_of[i] < 0 ? f[i] : 0;
    }
}
