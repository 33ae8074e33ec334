// The local step over blocks of eight cells; compiled once per instruction set (PL_ISA names it).
#include "base/isa.h"
#define GEO_KERNEL_TABLE PL_CAT(geo_kernels_table_, PL_ISA)

#if defined(__AVX512F__)
#define PL_VW 8
#elif defined(__AVX__)
#define PL_VW 4
#else
#define PL_VW 2
#endif

#include "geometric/geometric_block.h"
#include "material/material.h"
#include "material/material_kernel.h"

extern const geo_kernels GEO_KERNEL_TABLE;

// The rotation nearest to F, never a reflection. It maximises tr(R^T F); the maximum L = s1 + s2 + s3 (signed
// singular values) is the largest root of
//   p(L) = (L^2 - a)^2 - 4 q - 8 d L,   a = |F|^2,  q = |cof F|^2,  d = det F,
// found by Newton's method from above, and R = dL/dF:
//   R = ((L^2 + a) F - 2 F F^T F + 2 L cof F) / (L (L^2 - a) - 2 d).
// The denominator is 2 (s1 + s2) (s2 + s3) (s3 + s1); lanes where it nearly vanishes take the slow branch.
static inline vd v_rotation(const vd F[9], vd R[9])
{
    vd C[9], B[9], G[9], FC[9];
    const vd size2 = v_dot9(F, F) * (1.0 / 3) + 1e-300, size = v_sqrt(size2), inverse = 1 / size;

    for (int i = 0; i < 9; ++i) {
        G[i] = F[i] * inverse; // |G|^2 = 3
    }
    v_cofactor(G, C);
    const vd d = G[0] * C[0] + G[1] * C[1] + G[2] * C[2], q = v_dot9(C, C);
    vd L = v_set(3);

    for (int iteration = 0; iteration < 24; ++iteration) {
        const vd e = L * L - 3, slope = 4 * (L * e - 2 * d);
        vd step = (e * e - 4 * q - 8 * d * L) / (slope + 1e-30);
        double largest = 0;
        for (int l = 0; l < PL_VW; ++l) {
            const double size_of = step[l] < 0 ? -step[l] : step[l];
            largest = size_of > largest ? size_of : largest;
        }

        L -= step;
        if (!(largest > 1e-15)) {
            break;
        }
    }

    v_right_cauchy(G, B);
    v_mul(G, B, FC);
    const vd scale = 1 / (L * (L * L - 3) - 2 * d + 1e-30), k = L * L + 3;
    vd error = v_set(-3);
    for (int i = 0; i < 9; ++i) {
        R[i] = scale * (k * G[i] - 2 * FC[i] + 2 * L * C[i]);
        error += R[i] * R[i];
    }

    // |R|^2 = 3 for a rotation
    bool good = true;
    for (int l = 0; l < PL_VW; ++l) {
        good = good && error[l] < 1e-9 && error[l] > -1e-9;
    }

    if (!good) {
        for (int l = 0; l < PL_VW; ++l) {
            if (error[l] < 1e-9 && error[l] > -1e-9) {
                continue;
            }
            double one[9], turned[9], trace = 0;
            for (int i = 0; i < 9; ++i) {
                one[i] = G[i][l];
            }
            geo_rotation_slow(one, turned);
            for (int i = 0; i < 9; ++i) {
                R[i][l] = turned[i];
                trace += turned[i] * one[i];
            }

            L[l] = trace;
        }
    }

    return L * size;
}

static inline vd v_max_scalar(vd a, double least)
{
    for (int l = 0; l < PL_VW; ++l) {
        a[l] = a[l] > least ? a[l] : least;
    }
    return a;
}

static inline void kernel_gather(const geo_block *block, int h, const double *x, vd X[][3])
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

// sum_a x_a (x) g_a
static inline void kernel_outer(const double *g, int node_count, vd X[][3], vd F[9])
{
    for (int i = 0; i < 9; ++i) {
        F[i] = v_set(0);
    }
    for (int a = 0; a < node_count; ++a, g += 3 * GEO_LANES) {
        const vd d0 = v_load(g), d1 = v_load(g + GEO_LANES), d2 = v_load(g + 2 * GEO_LANES);

        for (int i = 0; i < 3; ++i) {
            F[3 * i] += X[a][i] * d0;
            F[3 * i + 1] += X[a][i] * d1;
            F[3 * i + 2] += X[a][i] * d2;
        }
    }
}

static inline const double *kernel_gradient(const geo_block *block, int q, int h)
{
    return block->gradient + (int64_t)q * block->node_count * 3 * GEO_LANES + h;
}

// G = a I + (b - a) n n^T
static inline void film_growth(const geo_block *block, int q, int h, vd a, vd b, vd G[9])
{
    const double *n = block->normal + (int64_t)q * 3 * GEO_LANES + h;
    const vd n3[3] = {v_load(n), v_load(n + GEO_LANES), v_load(n + 2 * GEO_LANES)};

    for (int i = 0; i < 9; ++i) {
        G[i] = (b - a) * n3[i / 3] * n3[i % 3];
    }
    G[0] += a;
    G[4] += a;
    G[8] += a;
}

// n . A n
static inline vd film_along(const geo_block *block, int q, int h, const vd A[9])
{
    const double *n = block->normal + (int64_t)q * 3 * GEO_LANES + h;
    const vd n3[3] = {v_load(n), v_load(n + GEO_LANES), v_load(n + 2 * GEO_LANES)};
    vd sum = v_set(0);

    for (int i = 0; i < 9; ++i) {
        sum += n3[i / 3] * A[i] * n3[i % 3];
    }

    return sum;
}

static inline void v_transpose_mul(const vd A[9], const vd B[9], vd R[9])
{
    for (int i = 0; i < 9; ++i) {
        R[i] = A[i / 3] * B[i % 3] + A[3 + i / 3] * B[3 + i % 3] + A[6 + i / 3] * B[6 + i % 3];
    }
}

// How differences of maps are weighed, |D|^2 = tr(D V D^T), and M = F V whose rotation is wanted: V = I, or
// in the vertex metric sum_a V_a (x) V_a over the centred rest positions.
static inline void kernel_covariance(const geo_block *block, int h, vd X[][3], const vd F[9], vd V[9],
                                     vd M[9])
{
    if (!block->arm) {
        for (int i = 0; i < 9; ++i) {
            V[i] = v_set(i % 4 == 0);
            M[i] = F[i];
        }

        return;
    }

    kernel_outer(block->arm + h, block->node_count, X, M);
    for (int i = 0; i < 9; ++i) {
        V[i] = v_set(0);
        for (int a = 0; a < block->node_count; ++a) {
            const double *arm = block->arm + 3 * a * GEO_LANES + h;
            V[i] += v_load(arm + i / 3 * GEO_LANES) * v_load(arm + i % 3 * GEO_LANES);
        }
    }
}

// R_omega of the curve at I1bar.
static inline vd curve_at(const geo_law *law, vd I1bar)
{
    vd R;
    const vd s = v_sqrt(v_max_scalar(I1bar - 3, 0)) * law->inverse_reach;

    for (int l = 0; l < PL_VW; ++l) {
        const int last = PL_SHAPE_POINTS - 1;
        const int i = s[l] < last ? (int)s[l] : last - 1;
        const double t = s[l] < last ? s[l] - i : 1;
        R[l] = law->curve[i] + t * (law->curve[i + 1] - law->curve[i]);
    }

    return R;
}

// T, and how much of the shape itself is in it (the rest is the turned rest shape): T = turned + own F.
typedef struct target_parts {
    vd T[9], own, energy;
} target_parts;

// The target of a body cell; `M` is what Rot is the rotation of (F, or the covariance in the vertex metric).
static inline void target_body(const geo_law *law, const vd F[9], const vd M[9], vd J, target_parts *out)
{
    vd R[9];
    vd L = v_rotation(M, R);

    if (law->target == GEO_MU_LAMBDA) {
        // T = F - D
        const vd dilatation = L - 3, scale = v_set(1 / law->w);
        vd square = v_set(0);
        for (int i = 0; i < 9; ++i) {
            const vd e = F[i] - R[i];
            square += e * e;
            out->T[i] = F[i] - scale * (law->mu * e + 0.5 * law->lambda * dilatation * R[i]);
        }

        out->own = v_set(0);
        out->energy = law->mu * square + 0.5 * law->lambda * dilatation * dilatation;
        return;
    }

    const vd j = v_max_scalar(J, GEO_FLAT_J),
             keep = v_max_scalar(v_min(J, v_set(GEO_FLAT_J)), 0) / GEO_FLAT_J;
    vd share = v_set(law->R), own;
    if (law->target == GEO_BLEND) {
        share = 1 - (1 - share) * keep;
        own = (1 - share) / v_cbrt(j);
    } else {
        const vd root = v_cbrt(j);
        vd V[9], square = v_set(0);
        share = 1 - (1 - curve_at(law, v_dot9(F, F) / (root * root))) * keep;

        for (int l = 0; l < PL_VW; ++l) {
            double from[9], to[9];
            for (int i = 0; i < 9; ++i) {
                from[i] = F[i][l];
            }
            geo_nearest_volume(from, to);
            for (int i = 0; i < 9; ++i) {
                V[i][l] = to[i];
            }
        }

        own = 1 - share;
        for (int i = 0; i < 9; ++i) {
            out->T[i] = share * R[i] + own * V[i];
            const vd e = F[i] - out->T[i];
            square += e * e;
        }

        out->own = own;
        out->energy = law->w * square;
        return;
    }

    vd square = v_set(0);
    for (int i = 0; i < 9; ++i) {
        out->T[i] = share * R[i] + own * F[i];
        const vd e = F[i] - out->T[i];
        square += e * e;
    }

    out->own = own;
    out->energy = law->w * square;
}

// The target of an actuation cell at a ratio; idle cells (ratio NAN) are left alone.
static inline void target_growth(const geo_block *block, const geo_law *law, int q, int h, const vd F[9],
                                 const vd M[9], vd ratio, target_parts *out)
{
    vd R[9], G[9], A[9], square = v_set(0);
    bool idle = false;

    for (int l = 0; l < PL_VW; ++l) {
        idle = idle || !(ratio[l] > 0);
    }
    out->own = v_set(0);

    if (idle) {
        for (int i = 0; i < 9; ++i) {
            out->T[i] = F[i];
        }
        out->own = v_set(1);
        out->energy = v_set(0);
        return;
    }

    if (law->target == GEO_SCALE) {
        v_rotation(M, R);
        const vd g = v_cbrt(ratio);
        for (int i = 0; i < 9; ++i) {
            out->T[i] = g * R[i];
        }
    } else {
        film_growth(block, q, h, v_sqrt(ratio), 1 / ratio, G);
        v_mul(M, G, A);
        v_rotation(A, R);
        v_mul(R, G, out->T);
    }

    for (int i = 0; i < 9; ++i) {
        const vd e = F[i] - out->T[i];
        square += e * e;
    }

    out->energy = law->w * square;
}

// Vertex metric: forces 2 w Vol d_a and energy w Vol sum |d_a|^2 with d_a = (F - T) V_a + (1 - own) h_a,
// where h_a is what the best affine map leaves of vertex a (nothing, for a tet).
static inline vd vertex_forces(const geo_block *block, const geo_law *law, int h, vd X[][3], const vd F[9],
                               const target_parts *target, vd weight, double *force)
{
    vd centre[3] = {v_set(0), v_set(0), v_set(0)}, energy = v_set(0);
    for (int a = 0; a < block->node_count; ++a) {
        for (int i = 0; i < 3; ++i) {
            centre[i] += X[a][i] * (1.0 / block->node_count);
        }
    }

    for (int a = 0; a < block->node_count; ++a) {
        const double *arm = block->arm + 3 * a * GEO_LANES + h;
        const vd V[3] = {v_load(arm), v_load(arm + GEO_LANES), v_load(arm + 2 * GEO_LANES)};

        for (int i = 0; i < 3; ++i) {
            const vd affine = F[3 * i] * V[0] + F[3 * i + 1] * V[1] + F[3 * i + 2] * V[2];
            const vd goal =
                target->T[3 * i] * V[0] + target->T[3 * i + 1] * V[1] + target->T[3 * i + 2] * V[2];
            const vd rest = X[a][i] - centre[i] - affine;
            const vd d = affine - goal + (1 - target->own) * rest;
            energy += law->w * weight * d * d;
            if (force) {
                v_store(force + (3 * a + i) * GEO_LANES + h, 2 * law->w * weight * d);
            }
        }
    }

    return energy;
}

// Local step of a block: per point of integration the deformation gradient F, its target T(F), and the
// distance w |F - T|^2, whose gradient at fixed T is the force. PL_VW elements at a time.
static void kernel_local(const geo_block *block, const geo_law *law, const double *x, const double *ratio,
                         double *energy, double *min_J, double *force)
{
    for (int h = 0; h < GEO_LANES; h += PL_VW) {
        vd X[GEO_NODES][3], sum = v_set(0), smallest = v_set(INFINITY), f[GEO_NODES][3];
        kernel_gather(block, h, x, X);
        for (int a = 0; a < block->node_count; ++a) {
            f[a][0] = f[a][1] = f[a][2] = v_set(0);
        }
        for (int q = 0; q < block->point_count; ++q) {
            vd F[9], M[9], C[9];
            const double *g = kernel_gradient(block, q, h);
            kernel_outer(g, block->node_count, X, F);
            v_cofactor(F, C);

            // det F by its first row
            const vd J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
            smallest = v_min(smallest, J);

            // the vertex metric compares vertices with a centre instead of gradients
            if (block->arm) {
                kernel_outer(block->arm + h, block->node_count, X, M);
            } else {
                memcpy(M, F, sizeof M);
            }

            // elements of an actuator aim at a changed rest shape, others at their own
            target_parts target;
            if (block->growth_start >= 0) {
                const vd r = v_load(ratio + block->growth_start + q * GEO_LANES + h);
                target_growth(block, law, q, h, F, M, r, &target);
            } else {
                target_body(law, F, M, J, &target);
            }
            const vd weight = v_load(block->weight + q * GEO_LANES + h);
            if (block->arm) {
                sum += vertex_forces(block, law, h, X, F, &target, weight, force);
                continue;
            }

            sum += weight * target.energy;

            // dE/dx_a = 2 w (F - T) grad N_a
            const vd scale = 2 * law->w * weight;
            for (int a = 0; force && a < block->node_count; ++a, g += 3 * GEO_LANES) {
                const vd d0 = v_load(g), d1 = v_load(g + GEO_LANES), d2 = v_load(g + 2 * GEO_LANES);

                for (int i = 0; i < 3; ++i) {
                    f[a][i] += scale * ((F[3 * i] - target.T[3 * i]) * d0 +
                                        (F[3 * i + 1] - target.T[3 * i + 1]) * d1 +
                                        (F[3 * i + 2] - target.T[3 * i + 2]) * d2);
                }
            }
        }

        for (int a = 0; force && !block->arm && a < block->node_count; ++a) {
            for (int i = 0; i < 3; ++i) {
                v_store(force + (3 * a + i) * GEO_LANES + h, f[a][i]);
            }
        }

        v_store(energy + h, sum);
        v_store(min_J + h, smallest);
    }
}

static void kernel_measure(const geo_block *block, const geo_law *law, const double *x, double *measure,
                           double *stretch)
{
    for (int h = 0; h < GEO_LANES; h += PL_VW) {
        vd X[GEO_NODES][3];
        kernel_gather(block, h, x, X);

        for (int q = 0; q < block->point_count; ++q) {
            vd F[9], C[9], R[9];
            kernel_outer(kernel_gradient(block, q, h), block->node_count, X, F);
            v_cofactor(F, C);
            vd value = F[0] * C[0] + F[1] * C[1] + F[2] * C[2];

            if (law->target == GEO_FILM) {
                const double *n = block->normal + (int64_t)q * 3 * GEO_LANES + h;
                const vd n0 = v_load(n), n1 = v_load(n + GEO_LANES), n2 = v_load(n + 2 * GEO_LANES);
                vd square = v_set(0);
                for (int i = 0; i < 3; ++i) {
                    const vd c = C[3 * i] * n0 + C[3 * i + 1] * n1 + C[3 * i + 2] * n2;
                    square += c * c;
                }

                value = v_sqrt(square);
            }

            v_store(measure + q * GEO_LANES + h, value);
            vd V[9], M[9];
            kernel_covariance(block, h, X, F, V, M);
            v_store(stretch + q * GEO_LANES + h, v_rotation(M, R) / (V[0] + V[4] + V[8]));
        }
    }
}

// b . K^-1 b with K = tr(S) I - S for symmetric S: how the rotation's own turning adds to the second
// derivative of tr(R^T A), S = R^T A, b the axial vector of R^T dA - (R^T dA)^T.
static inline vd rotation_bend(const vd S[9], const vd b[3])
{
    const vd trace = S[0] + S[4] + S[8];
    vd K[9], C[9];

    for (int i = 0; i < 9; ++i) {
        K[i] = (i % 4 == 0 ? trace : v_set(0)) - 0.5 * (S[i] + S[3 * (i % 3) + i / 3]);
    }
    v_cofactor(K, C);
    const vd det = K[0] * C[0] + K[1] * C[1] + K[2] * C[2];
    vd sum = v_set(0);
    for (int i = 0; i < 9; ++i) {
        sum += b[i / 3] * C[i] * b[i % 3];
    }

    return sum / v_max_scalar(det, 1e-30);
}

// e(r) = tr(G V G) - 2 L(M G), G = a I + (b - a) n n^T with a = sqrt(r), b = 1 / r (gradient metric: V = I, M
// = F). With T = Rot^T M, split into its part along n and the rest, L = a T_p + b T_n; the primes are
// derivatives by r.
static void kernel_film(const geo_block *block, const double *x, const double *ratio, double *value,
                        double *slope, double *bend)
{
    for (int h = 0; h < GEO_LANES; h += PL_VW) {
        vd X[GEO_NODES][3];
        kernel_gather(block, h, x, X);

        for (int q = 0; q < block->point_count; ++q) {
            vd F[9], V[9], M[9], G[9], A[9], R[9], T[9], S[9], B[9];
            kernel_outer(kernel_gradient(block, q, h), block->node_count, X, F);
            kernel_covariance(block, h, X, F, V, M);
            const int at = q * GEO_LANES + h;
            const vd r = v_load(ratio + at), a = v_sqrt(r), b = 1 / r;
            film_growth(block, q, h, a, b, G);
            v_mul(M, G, A);
            v_rotation(A, R);
            v_transpose_mul(R, M, T);
            v_mul(T, G, S);
            const vd a1 = 0.5 / a, b1 = -b * b, a2 = -0.5 * a1 * b, b2 = -2 * b1 * b;
            film_growth(block, q, h, a1, b1, G);
            v_mul(T, G, B);
            const vd turn[3] = {B[7] - B[5], B[2] - B[6], B[3] - B[1]};
            const vd Vn = film_along(block, q, h, V), Vp = V[0] + V[4] + V[8] - Vn;
            const vd Tn = film_along(block, q, h, T), Tp = T[0] + T[4] + T[8] - Tn;
            const vd weight = v_load(block->weight + at);
            v_store(value + at, weight * (r * Vp + b * b * Vn - 2 * (a * Tp + b * Tn)));
            v_store(slope + at, weight * (Vp - 2 * b * b * b * Vn - 2 * (a1 * Tp + b1 * Tn)));
            v_store(bend + at,
                    weight * (6 * b * b * b * b * Vn - 2 * (a2 * Tp + b2 * Tn + rotation_bend(S, turn))));
        }
    }
}

static void kernel_rotations(const double *F, double *R, int64_t blocks)
{
    for (int64_t b = 0; b < blocks; ++b, F += 9 * GEO_LANES, R += 9 * GEO_LANES) {
        for (int h = 0; h < GEO_LANES; h += PL_VW) {
            vd A[9], Q[9];
            for (int i = 0; i < 9; ++i) {
                A[i] = v_load(F + i * GEO_LANES + h);
            }
            v_rotation(A, Q);
            for (int i = 0; i < 9; ++i) {
                v_store(R + i * GEO_LANES + h, Q[i]);
            }
        }
    }
}

const geo_kernels GEO_KERNEL_TABLE = {PL_TEXT(PL_ISA), kernel_local, kernel_measure, kernel_film,
                                      kernel_rotations};
