// The hot loops over blocks of eight elements; compiled once per instruction set (PL_ISA names it).
#include "base/isa.h"
#define PL_KERNEL_TABLE PL_CAT(pl_kernels_table_, PL_ISA)

#if defined(__AVX512F__)
#define PL_VW 8
#elif defined(__AVX__)
#define PL_VW 4
#else
#define PL_VW 2
#endif

#include "element/element.h"

extern const pl_kernels PL_KERNEL_TABLE;

// Positions of PL_VW elements, from lane h on.
static inline void kernel_gather(const pl_block *block, int h, const double *x, vd X[][3])
{
    for (int a = 0; a < block->node_count; ++a) {
        for (int l = 0; l < PL_VW; ++l) {
            const double *p = x + 3 * (int64_t)block->node[a][h + l];
            X[a][0][l] = p[0];
            X[a][1][l] = p[1];
            X[a][2][l] = p[2];
        }
    }
}

// F_iJ = sum_a x_ai dN_a/dX_J
static inline void kernel_gradient(const pl_block *block, int h, int q, vd X[][3], vd F[9])
{
    const double *g = block->gradient + (int64_t)q * block->node_count * 3 * PL_LANES + h;
    for (int i = 0; i < 9; ++i) {
        F[i] = v_set(0);
    }

    for (int a = 0; a < block->node_count; ++a, g += 3 * PL_LANES) {
        const vd d0 = v_load(g), d1 = v_load(g + PL_LANES), d2 = v_load(g + 2 * PL_LANES);
        for (int i = 0; i < 3; ++i) {
            F[3 * i] += X[a][i] * d0;
            F[3 * i + 1] += X[a][i] * d1;
            F[3 * i + 2] += X[a][i] * d2;
        }
    }
}

// p = sum_c N_c p_c at point q
static inline vd kernel_pressure(const pl_block *block, int h, int q, const double *pressure)
{
    vd p = v_set(0);
    for (int c = 0; c < block->corner_count; ++c) {
        vd pc;
        for (int l = 0; l < PL_VW; ++l) {
            pc[l] = pressure[block->pressure[c][h + l]];
        }
        p += block->corner_weight[q * block->corner_count + c] * pc;
    }

    return p;
}

// Overstress of the viscous branches at point q.
static inline void kernel_overstress(const pl_block *block, int h, int q, vd H[6])
{
    for (int k = 0; k < 6; ++k) {
        H[k] = v_load(block->overstress + (6 * q + k) * PL_LANES + h);
    }
}

// Derivatives of a law by its constants do not soften.
static inline bool kernel_softens(const pl_block *block, const pl_law *law)
{
    return block->largest && law->mullins_r > 0;
}

// Largest deviatoric energy so far at point q.
static inline vd kernel_largest(const pl_block *block, int h, int q)
{
    return v_load(block->largest + q * PL_LANES + h);
}

// out[point]: deviatoric energy density of the law, without softening.
static void kernel_spent(const pl_block *block, const pl_law *law, const double *x, double *out)
{
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        vd X[PL_ELEMENT_NODES_MAX][3];
        kernel_gather(block, h, x, X);
        for (int q = 0; q < block->point_count; ++q) {
            vd F[9], P[9], D[9], d;
            kernel_gradient(block, h, q, X, F);
            v_store(out + q * PL_LANES + h, law_deviatoric(law, F, P, &d, D));
        }
    }
}

// out[point][12]: S_d and a C of the law given, see law_deviator.
static void kernel_deviator(const pl_block *block, const pl_law *law, const double *x, double *out)
{
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        vd X[PL_ELEMENT_NODES_MAX][3];
        kernel_gather(block, h, x, X);

        for (int q = 0; q < block->point_count; ++q) {
            vd F[9], S[6], aC[6];
            kernel_gradient(block, h, q, X, F);
            const vd largest = block->largest ? kernel_largest(block, h, q) : v_set(0);
            law_deviator(law, F, block->largest ? &largest : NULL, S, aC);
            for (int k = 0; k < 6; ++k) {
                v_store(out + (12 * q + k) * PL_LANES + h, S[k]);
                v_store(out + (12 * q + 6 + k) * PL_LANES + h, aC[k]);
            }
        }
    }
}

// out[c] = int N_c d dV
static void kernel_dilatation(const pl_block *block, const pl_law *law, const double *x, double *out)
{
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        vd X[PL_ELEMENT_NODES_MAX][3], sum[PL_CORNERS_MAX];
        kernel_gather(block, h, x, X);
        for (int c = 0; c < block->corner_count; ++c) {
            sum[c] = v_set(0);
        }
        for (int q = 0; q < block->point_count; ++q) {
            vd F[9], D[9];
            kernel_gradient(block, h, q, X, F);
            const vd wd = v_load(block->weight + q * PL_LANES + h) * law_dilatation(law, F, D);
            for (int c = 0; c < block->corner_count; ++c) {
                sum[c] += block->corner_weight[q * block->corner_count + c] * wd;
            }
        }

        for (int c = 0; c < block->corner_count; ++c) {
            v_store(out + c * PL_LANES + h, sum[c]);
        }
    }
}

// f_a = sum_q w P dN_a; energy and smallest J per lane
static void kernel_force(const pl_block *block, const pl_law *law, const double *x, const double *pressure,
                         double *energy, double *min_J, double *force)
{
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        vd X[PL_ELEMENT_NODES_MAX][3], f[PL_ELEMENT_NODES_MAX][3], total = v_set(0), smallest = v_set(1e300);
        kernel_gather(block, h, x, X);

        for (int a = 0; a < block->node_count; ++a) {
            f[a][0] = f[a][1] = f[a][2] = v_set(0);
        }
        for (int q = 0; q < block->point_count; ++q) {
            // J = F . cof F of the first row
            vd F[9], C[9], P[9], W;
            kernel_gradient(block, h, q, X, F);
            v_cofactor(F, C);
            const vd J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
            smallest = v_min(J, smallest);

            // stress of the law, softened as the point is, and what its viscous branches add
            const vd p = law->mixed ? kernel_pressure(block, h, q, pressure) : v_set(0);
            if (kernel_softens(block, law)) {
                law_stress_softened(law, F, p, kernel_largest(block, h, q), &W, P);
            } else {
                law_stress(law, F, p, &W, P);
            }
            if (block->overstress) {
                vd H[6];
                kernel_overstress(block, h, q, H);
                law_add_overstress(law, F, H, &W, P);
            }

            // energy of all, forces only where they are asked for
            const vd w = v_load(block->weight + q * PL_LANES + h);
            total += w * W;
            if (!force) {
                continue;
            }
            for (int i = 0; i < 9; ++i) {
                P[i] *= w;
            }
            const double *g = block->gradient + (int64_t)q * block->node_count * 3 * PL_LANES + h;

            for (int a = 0; a < block->node_count; ++a, g += 3 * PL_LANES) {
                const vd d0 = v_load(g), d1 = v_load(g + PL_LANES), d2 = v_load(g + 2 * PL_LANES);
                for (int i = 0; i < 3; ++i) {
                    f[a][i] += P[3 * i] * d0 + P[3 * i + 1] * d1 + P[3 * i + 2] * d2;
                }
            }
        }

        v_store(energy + h, total);
        v_store(min_J + h, smallest);
        for (int a = 0; force && a < block->node_count; ++a) {
            for (int i = 0; i < 3; ++i) {
                v_store(force + (3 * a + i) * PL_LANES + h, f[a][i]);
            }
        }
    }
}

static inline bool v_all_below(vd a, vd b)
{
    bool below = true;
    for (int l = 0; l < PL_VW; ++l) {
        below = below && a[l] <= b[l];
    }
    return below;
}

// t = tan of the angle that makes the entry (p, q) zero: o / (d + sign(d) sqrt(d^2 + o^2)), d = s_qq - s_pp,
// o = 2 s_pq
static inline vd kernel_jacobi_tangent(vd d, vd o)
{
    const vd root = v_sqrt(d * d + o * o);
    vd denominator;

    for (int l = 0; l < PL_VW; ++l) {
        const double sum = d[l] >= 0 ? d[l] + root[l] : d[l] - root[l];
        denominator[l] = sum != 0 ? sum : 1;
    }

    return o / denominator;
}

// Columns p and q of M: (a, b) <- (c a - s b, s a + c b).
static inline void kernel_jacobi_turn(vd M[81], int p, int q, vd c, vd s)
{
    for (int k = 0; k < 9; ++k) {
        const vd a = M[9 * k + p], b = M[9 * k + q];
        M[9 * k + p] = c * a - s * b;
        M[9 * k + q] = s * a + c * b;
    }
}

// Replaces the symmetric 9 x 9 matrices by (1 - blend) A + blend A+, A+ the positive part, by cyclic Jacobi
// rotations of all elements side by side.
static void kernel_blend(vd A[81], double blend)
{
    vd S[81], V[81];
    for (int i = 0; i < 81; ++i) {
        S[i] = A[i];
        V[i] = v_set(i % 10 == 0);
    }

    for (int sweep = 0; sweep < 12; ++sweep) {
        vd off = v_set(0), diagonal = v_set(0);
        for (int p = 0; p < 9; ++p) {
            diagonal += S[10 * p] * S[10 * p];
            for (int q = p + 1; q < 9; ++q) {
                off += S[9 * p + q] * S[9 * p + q];
            }
        }

        if (v_all_below(off, 1e-20 * diagonal)) {
            break;
        }

        // S <- G^T S G and V <- V G for each rotation G that makes entry (p, q) vanish
        for (int p = 0; p < 8; ++p) {
            for (int q = p + 1; q < 9; ++q) {
                const vd t = kernel_jacobi_tangent(S[10 * q] - S[10 * p], 2 * S[9 * p + q]);
                const vd c = 1 / v_sqrt(t * t + 1), s = t * c;
                kernel_jacobi_turn(S, p, q, c, s);

                for (int k = 0; k < 9; ++k) {
                    const vd a = S[9 * p + k], b = S[9 * q + k];
                    S[9 * p + k] = c * a - s * b;
                    S[9 * q + k] = s * a + c * b;
                }

                kernel_jacobi_turn(V, p, q, c, s);
            }
        }
    }

    // A += blend sum over the negative eigenvalues of |s_e| v_e v_e^T
    for (int e = 0; e < 9; ++e) {
        const vd lift = -blend * v_min(S[10 * e], v_set(0));
        if (v_all_below(lift, v_set(0))) {
            continue;
        }
        for (int i = 0; i < 9; ++i) {
            const vd scaled = lift * V[9 * i + e];
            for (int j = 0; j < 9; ++j) {
                A[9 * i + j] += scaled * V[9 * j + e];
            }
        }
    }
}

// S = F^-1 P
static inline void kernel_second_stress(const vd F[9], const vd P[9], vd S[9])
{
    vd C[9];
    v_cofactor(F, C);
    const vd inverse = 1 / (F[0] * C[0] + F[1] * C[1] + F[2] * C[2]);

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            S[3 * i + j] = inverse * (C[i] * P[j] + C[3 + i] * P[3 + j] + C[6 + i] * P[6 + j]);
        }
    }
}

// A += delta_ik (S~ - S)_JL: the stresses a linear step predicted in place of those of F (pl_ahead);
// S~ = S0 + F0^-1 (dP - dF S0), dP = A0 : dF + dp D0.
static void kernel_ahead(const pl_block *block, const pl_law *law, int h, int q, const pl_ahead *ahead,
                         vd X0[][3], vd dX[][3], const vd F[9], vd p, vd A[81])
{
    vd F0[9], dF[9], A0[81], D0[9], P0[9], S0[9], dP[9], P[9], S[9], dS[9], W;
    const vd p0 = law->mixed ? kernel_pressure(block, h, q, ahead->pressure) : v_set(0),
             dp = law->mixed ? kernel_pressure(block, h, q, ahead->pressure_step) : v_set(0);

    kernel_gradient(block, h, q, X0, F0);
    kernel_gradient(block, h, q, dX, dF);
    law_tangent(law, F0, p0, A0, D0);
    law_stress(law, F0, p0, &W, P0);
    kernel_second_stress(F0, P0, S0);

    for (int r = 0; r < 9; ++r) {
        dP[r] = law->mixed ? dp * D0[r] : v_set(0);
        for (int c = 0; c < 9; ++c) {
            dP[r] += A0[9 * r + c] * dF[c];
        }
    }

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            dP[3 * i + j] -= dF[3 * i] * S0[j] + dF[3 * i + 1] * S0[3 + j] + dF[3 * i + 2] * S0[6 + j];
        }
    }

    kernel_second_stress(F0, dP, dS);
    law_stress(law, F, p, &W, P);
    kernel_second_stress(F, P, S);

    for (int j = 0; j < 3; ++j) {
        for (int l = 0; l < 3; ++l) {
            const int a = 3 * j + l, b = 3 * l + j;
            const vd change = 0.5 * (S0[a] + dS[a] - S[a] + S0[b] + dS[b] - S[b]);
            for (int i = 0; i < 3; ++i) {
                A[9 * (3 * i + j) + 3 * i + l] += change;
            }
        }
    }
}

// K_ab = sum_q w dN_a . A . dN_b for a <= b, and B_c,a = sum_q w N_c dd/dF dN_a
static void kernel_tangent(const pl_block *block, const pl_law *law, const double *x, const double *pressure,
                           double blend, const pl_ahead *ahead, double *out)
{
    const int n = block->node_count, pairs = n * (n + 1) / 2;
    const bool softens = kernel_softens(block, law);
    double *coupling = out + (int64_t)pairs * 9 * PL_LANES;

    memset(out, 0,
           sizeof *out * PL_LANES * (size_t)(pairs * 9 + (law->mixed ? block->corner_count * n * 3 : 0)));
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        vd X[PL_ELEMENT_NODES_MAX][3], X0[PL_ELEMENT_NODES_MAX][3], dX[PL_ELEMENT_NODES_MAX][3];
        kernel_gather(block, h, x, X);
        if (ahead) {
            kernel_gather(block, h, ahead->x, X0);
            kernel_gather(block, h, ahead->dx, dX);
        }

        for (int q = 0; q < block->point_count; ++q) {
            // A = dP/dF and D = dd/dF at the point; the predicted stress has the tangent of its own
            vd F[9], A[81], D[9];
            const vd p = law->mixed ? kernel_pressure(block, h, q, pressure) : v_set(0);
            kernel_gradient(block, h, q, X, F);
            if (softens) {
                law_tangent_softened(law, F, p, kernel_largest(block, h, q), A, D);
            } else {
                law_tangent(law, F, p, A, D);
            }
            if (ahead && !softens) {
                kernel_ahead(block, law, h, q, ahead, X0, dX, F, p, A);
            }
            if (block->overstress) {
                vd H[6];
                kernel_overstress(block, h, q, H);
                law_add_overstress_tangent(law, F, H, A);
            }

            // towards the positive part where the caller asks for a convex model
            if (blend > 0) {
                kernel_blend(A, blend);
            }
            const vd w = v_load(block->weight + q * PL_LANES + h);
            for (int i = 0; i < 81; ++i) {
                A[i] *= w;
            }
            const double *g = block->gradient + (int64_t)q * n * 3 * PL_LANES + h;

            // T = A dN_b, then dN_a . T for the pairs a <= b: the others are their transposes
            for (int b = 0; b < n; ++b) {
                const vd e0 = v_load(g + 3 * b * PL_LANES), e1 = v_load(g + (3 * b + 1) * PL_LANES),
                         e2 = v_load(g + (3 * b + 2) * PL_LANES);
                vd T[27];

                for (int r = 0; r < 9; ++r) {
                    for (int k = 0; k < 3; ++k) {
                        T[3 * r + k] =
                            A[9 * r + 3 * k] * e0 + A[9 * r + 3 * k + 1] * e1 + A[9 * r + 3 * k + 2] * e2;
                    }
                }

                for (int a = 0; a <= b; ++a) {
                    const vd d0 = v_load(g + 3 * a * PL_LANES), d1 = v_load(g + (3 * a + 1) * PL_LANES),
                             d2 = v_load(g + (3 * a + 2) * PL_LANES);
                    double *K = out + (int64_t)pl_pair_index(n, a, b) * 9 * PL_LANES + h;

                    for (int i = 0; i < 3; ++i) {
                        for (int k = 0; k < 3; ++k) {
                            double *entry = K + (3 * i + k) * PL_LANES;
                            v_store(entry, v_load(entry) + d0 * T[9 * i + k] + d1 * T[9 * i + 3 + k] +
                                               d2 * T[9 * i + 6 + k]);
                        }
                    }
                }
            }

            // the coupling of displacements with the pressures at the corners
            for (int a = 0; law->mixed && a < n; ++a) {
                const vd d0 = v_load(g + 3 * a * PL_LANES), d1 = v_load(g + (3 * a + 1) * PL_LANES),
                         d2 = v_load(g + (3 * a + 2) * PL_LANES);
                for (int i = 0; i < 3; ++i) {
                    const vd s = w * (D[3 * i] * d0 + D[3 * i + 1] * d1 + D[3 * i + 2] * d2);
                    for (int c = 0; c < block->corner_count; ++c) {
                        double *entry = coupling + ((int64_t)(c * n + a) * 3 + i) * PL_LANES + h;
                        v_store(entry, v_load(entry) + block->corner_weight[q * block->corner_count + c] * s);
                    }
                }
            }
        }
    }
}

// A quadratic tet's map has a gradient that is linear in the barycentric coordinates, M = sum_c l_c M_c, so
// its determinant is a cubic whose Bernstein coefficients are
//   b_ccc = det M_c,  b_ccd = cof(M_c):M_d / 3,  b_cde = cof(M_c, M_d):M_e / 6,
// cof(A, B) = cof(A + B) - cof A - cof B. Their minimum bounds the determinant from below.
static void kernel_bound_tet10(const pl_block *block, const double *x, double *out)
{
    // gradient of the map at the corners: rows are d/dxi_j; mid nodes of edges 01 12 02 03 13 23
    static const int edge[4][4] = {{-1, 4, 6, 7}, {4, -1, 5, 8}, {6, 5, -1, 9}, {7, 8, 9, -1}};
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        vd X[PL_ELEMENT_NODES_MAX][3], M[4][9], C[4][9];
        kernel_gather(block, h, x, X);

        for (int c = 0; c < 4; ++c) {
            // dx/dl_d at corner c: 4 x_cd for d != c, 3 x_c for d = c and -x_d of the other corners
            vd dl[4][3];
            for (int d = 0; d < 4; ++d) {
                for (int i = 0; i < 3; ++i) {
                    dl[d][i] = d == c ? 3 * X[c][i] : 4 * X[edge[c][d]][i] - X[d][i];
                }
            }

            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    M[c][3 * i + j] = dl[j + 1][i] - dl[0][i];
                }
            }

            v_cofactor(M[c], C[c]);
        }

        vd smallest = v_set(1e300);
        for (int c = 0; c < 4; ++c) {
            const vd own = v_dot9(C[c], M[c]) * (1.0 / 3);
            smallest = v_min(own, smallest);

            for (int d = 0; d < 4; ++d) {
                if (d != c) {
                    const vd mixed = v_dot9(C[c], M[d]) * (1.0 / 3);
                    smallest = v_min(mixed, smallest);
                }
            }
        }

        for (int e = 0; e < 4; ++e) {
            const int c = (e + 1) % 4, d = (e + 2) % 4, f = (e + 3) % 4;
            vd S[9], CS[9];
            for (int i = 0; i < 9; ++i) {
                S[i] = M[c][i] + M[d][i];
            }
            v_cofactor(S, CS);
            for (int i = 0; i < 9; ++i) {
                CS[i] -= C[c][i] + C[d][i];
            }
            const vd mixed = v_dot9(CS, M[f]) * (1.0 / 6);
            smallest = v_min(mixed, smallest);
        }

        v_store(out + h, smallest);
    }
}

// det of a linear tet's map
static void kernel_bound_tet4(const pl_block *block, const double *x, double *out)
{
    for (int h = 0; h < PL_LANES; h += PL_VW) {
        vd X[PL_ELEMENT_NODES_MAX][3], M[9], C[9];
        kernel_gather(block, h, x, X);

        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                M[3 * i + j] = X[j + 1][i] - X[0][i];
            }
        }

        v_cofactor(M, C);
        v_store(out + h, M[0] * C[0] + M[1] * C[1] + M[2] * C[2]);
    }
}

// Lower bounds of det(dx/dxi) by a closed formula; prisms are left to the slower general bound (0 asks for
// it).
static void kernel_bound(const pl_block *block, const double *x, double *out)
{
    if (block->kind == PL_TET10) {
        kernel_bound_tet10(block, x, out);
    } else if (block->kind == PL_TET4) {
        kernel_bound_tet4(block, x, out);
    } else {
        memset(out, 0, PL_LANES * sizeof *out);
    }
}

const pl_kernels PL_KERNEL_TABLE = {PL_TEXT(PL_ISA), kernel_dilatation, kernel_force, kernel_tangent,
                                    kernel_bound,    kernel_deviator,   kernel_spent};
