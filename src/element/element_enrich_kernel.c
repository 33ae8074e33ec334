// The hot loops of elements with added functions (enrich.h), over blocks of eight; compiled once per
// instruction set.
#include "base/isa.h"
#define ENRICH_TABLE PL_CAT(pl_enrich_kernels_, PL_ISA)

#if defined(__AVX512F__)
#define PL_VW 8
#elif defined(__AVX__)
#define PL_VW 4
#else
#define PL_VW 2
#endif

#include "element/enrich.h"

extern const pl_enrich_kernels ENRICH_TABLE;

// Tangents are kept in single precision: they are read in every product, and an estimate needs no more.
typedef float enrich_single __attribute__((vector_size(PL_VW * 4)));

static inline vd enrich_load(const float *p)
{
    enrich_single v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, vd);
}

static inline void enrich_store(float *p, vd a)
{
    const enrich_single v = __builtin_convertvector(a, enrich_single);
    memcpy(p, &v, sizeof v);
}

// M_ij = sum_a X_ai dN_a/dxi_j over the nodes of the lanes from h on.
static inline void enrich_map(const pl_block *block, int h, const pl_enrich_rule *rule, int q,
                              const double *x, vd M[9])
{
    for (int i = 0; i < 9; ++i) {
        M[i] = v_set(0);
    }
    for (int a = 0; a < rule->nodes; ++a) {
        double X[3][PL_VW];

        for (int l = 0; l < PL_VW; ++l) {
            const double *p = x + 3 * (int64_t)block->node[a][h + l];
            for (int i = 0; i < 3; ++i) {
                X[i][l] = p[i];
            }
        }

        for (int i = 0; i < 9; ++i) {
            M[i] += v_load(X[i / 3]) * rule->gradient[q][a][i % 3];
        }
    }
}

// G = dxi/dX F_g^-1 and w = weight det(dX/dxi) det F_g, with F_g as in element.h.
static inline vd enrich_inverse(const pl_block *block, int h, const pl_enrich_rule *rule, int q,
                                const pl_growth *growth, const double *rest, vd G[9])
{
    vd M[9], C[9];
    enrich_map(block, h, rule, q, rest, M);
    v_cofactor(M, C);
    const vd det = M[0] * C[0] + M[1] * C[1] + M[2] * C[2];
    for (int i = 0; i < 9; ++i) {
        G[i] = C[3 * (i % 3) + i / 3] / det;
    }

    if (growth->volume != 1 || growth->area != 1) {
        const double s = 1 / __builtin_cbrt(growth->volume), a = s / __builtin_sqrt(growth->area),
                     b = s * growth->area;
        const vd n[3] = {C[2], C[5], C[8]}; // of zeta = const
        const vd square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        vd inverse[9], product[9];
        for (int i = 0; i < 9; ++i) {
            inverse[i] = (b - a) * n[i / 3] * n[i % 3] / square + (i % 4 == 0 ? a : 0);
        }
        v_mul(G, inverse, product);
        memcpy(G, product, sizeof product);
    }

    return det * rule->weight[q] * growth->volume;
}

// B_ia = sum_J A_iJ G_aJ
static inline void enrich_pull_back(const vd A[9], const vd G[9], vd B[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int a = 0; a < 3; ++a) {
            B[3 * i + a] = A[3 * i] * G[3 * a] + A[3 * i + 1] * G[3 * a + 1] + A[3 * i + 2] * G[3 * a + 2];
        }
    }
}

// w A and w D in the coordinates of the reference element: rows of A first, then columns.
static inline void enrich_keep(const vd A[81], const vd D[9], const vd G[9], vd w, float *t)
{
    vd half[81], back[9][9], row[9];
    int at = 0;

    for (int k = 0; k < 9; ++k) {
        enrich_pull_back(A + 9 * k, G, half + 9 * k);
    }

    for (int k = 0; k < 9; ++k) {
        for (int i = 0; i < 9; ++i) {
            row[i] = half[9 * i + k];
        }
        enrich_pull_back(row, G, back[k]);
    }

    for (int i = 0; i < 9; ++i) {
        for (int k = i; k < 9; ++k) {
            enrich_store(t + PL_LANES * at++, w * back[k][i]);
        }
    }

    enrich_pull_back(D, G, row);
    for (int i = 0; i < 9; ++i) {
        enrich_store(t + PL_LANES * at++, w * row[i]);
    }
}

static void enrich_linearize(const pl_block *block, const pl_enrich_rule *rule, const pl_law *law,
                             const pl_growth *growth, const double *rest, const double *x,
                             const double *pressure, const double load[3], float *tangent,
                             pl_enrich_forces *out)
{
    memset(out, 0, sizeof *out);
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        // lanes without an element have no weight
        vd used;
        for (int l = 0; l < PL_VW; ++l) {
            used[l] = h + l < block->lane_count ? 1 : 0;
        }
        for (int q = 0; q < rule->points; ++q) {
            // F = M G: the map from the reference element, behind the inverse of the undeformed one
            vd G[9], M[9], F[9], P[9], A[81], D[9], S[9], W, p = v_set(0);
            const vd w = used * enrich_inverse(block, h, rule, q, growth, rest, G);
            enrich_map(block, h, rule, q, x, M);
            v_mul(M, G, F);

            for (int c = 0; law->mixed && c < rule->corners; ++c) {
                for (int l = 0; l < PL_VW; ++l) {
                    p[l] += rule->corner[q][c] * pressure[block->pressure[c][h + l]];
                }
            }

            // the tangent is kept, pulled back, for the products that follow
            law_stress(law, F, p, &W, P);
            law_tangent(law, F, p, A, D);
            const vd d = law_dilatation(law, F, D);
            enrich_keep(A, D, G, w, tangent + (int64_t)q * PL_ENRICH_TANGENT * PL_LANES + h);
            enrich_pull_back(P, G, S);

            // forces on nodes and added functions, the dead load on the added ones
            for (int a = 0; a < rule->nodes + rule->added; ++a) {
                const double *g = rule->gradient[q][a];
                const double value = a < rule->nodes ? 0 : rule->value[q][a - rule->nodes];

                for (int i = 0; i < 3; ++i) {
                    double *f = out->force + (3 * a + i) * PL_LANES + h;
                    v_store(f, v_load(f) + w * (S[3 * i] * g[0] + S[3 * i + 1] * g[1] + S[3 * i + 2] * g[2] -
                                                value * load[i]));
                }
            }

            for (int c = 0; c < rule->corners; ++c) {
                double *m = out->moment + c * PL_LANES + h;
                v_store(m, v_load(m) + w * d * rule->corner[q][c]);
            }
        }
    }
}

static inline void enrich_range(const pl_enrich_rule *rule, pl_enrich_part part, int *first, int *end)
{
    *first = part.nodal ? 0 : rule->nodes;
    *end = part.added ? rule->nodes + rule->added : rule->nodes;
}

static void enrich_apply(const pl_enrich_rule *rule, const float *tangent, pl_enrich_part in, const double *u,
                         const double *pressure, pl_enrich_part to, pl_enrich_forces *out)
{
    int first, end, first_out, end_out;
    enrich_range(rule, in, &first, &end);
    enrich_range(rule, to, &first_out, &end_out);
    memset(out, 0, sizeof *out);

    for (int h = 0; h < PL_LANES; h += PL_VW) {
        for (int q = 0; q < rule->points; ++q) {
            const float *t = tangent + (int64_t)q * PL_ENRICH_TANGENT * PL_LANES + h;
            vd H[9], S[9], D[9], p = v_set(0), d = v_set(0);
            for (int i = 0; i < 9; ++i) {
                H[i] = S[i] = v_set(0);
                D[i] = enrich_load(t + PL_LANES * (45 + i));
            }

            // H: gradient of the increment
            for (int a = first; a < end; ++a) {
                const double *g = rule->gradient[q][a];
                for (int i = 0; i < 3; ++i) {
                    const vd v = v_load(u + (3 * a + i) * PL_LANES + h);
                    H[3 * i] += v * g[0];
                    H[3 * i + 1] += v * g[1];
                    H[3 * i + 2] += v * g[2];
                }
            }

            // S = A H from the upper triangle of A, and d = D . H
            for (int i = 0, at = 0; i < 9; ++i) {
                S[i] += enrich_load(t + PL_LANES * at++) * H[i];
                for (int k = i + 1; k < 9; ++k) {
                    const vd A = enrich_load(t + PL_LANES * at++);
                    S[i] += A * H[k];
                    S[k] += A * H[i];
                }

                d += D[i] * H[i];
            }

            // S += p D
            for (int c = 0; pressure && c < rule->corners; ++c) {
                p += v_load(pressure + c * PL_LANES + h) * rule->corner[q][c];
            }
            for (int i = 0; i < 9; ++i) {
                S[i] += p * D[i];
            }

            // out: S . g of each function, and d at the corners
            for (int a = first_out; a < end_out; ++a) {
                const double *g = rule->gradient[q][a];
                for (int i = 0; i < 3; ++i) {
                    double *f = out->force + (3 * a + i) * PL_LANES + h;
                    v_store(f, v_load(f) + S[3 * i] * g[0] + S[3 * i + 1] * g[1] + S[3 * i + 2] * g[2]);
                }
            }

            for (int c = 0; c < rule->corners; ++c) {
                double *m = out->moment + c * PL_LANES + h;
                v_store(m, v_load(m) + d * rule->corner[q][c]);
            }
        }
    }
}

// Blocks [function][9][lane], K_ik = sum_q g_a A_iakb g_b.
static void enrich_diagonal(const pl_enrich_rule *rule, const float *tangent, double *block)
{
    memset(block, 0, (size_t)(9 * rule->added * PL_LANES) * sizeof *block);
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        for (int q = 0; q < rule->points; ++q) {
            const float *t = tangent + (int64_t)q * PL_ENRICH_TANGENT * PL_LANES + h;

            for (int f = 0; f < rule->added; ++f) {
                const double *g = rule->gradient[q][rule->nodes + f];
                for (int i = 0, at = 0; i < 9; ++i) {
                    for (int k = i; k < 9; ++k) {
                        const vd A = enrich_load(t + PL_LANES * at++) * (g[i % 3] * g[k % 3]);
                        double *b = block + (9 * f + 3 * (i / 3) + k / 3) * PL_LANES + h,
                               *c = block + (9 * f + 3 * (k / 3) + i / 3) * PL_LANES + h;
                        v_store(b, v_load(b) + A);
                        if (i != k) {
                            v_store(c, v_load(c) + A);
                        }
                    }
                }
            }
        }
    }
}

const pl_enrich_kernels ENRICH_TABLE = {enrich_linearize, enrich_apply, enrich_diagonal};
