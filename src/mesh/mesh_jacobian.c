// The determinant of the map from the reference element, bounded from below over the whole element.
//
// A polynomial in Bernstein form lies in the convex hull of its coefficients, so the smallest coefficient
// bounds it from below. For a tet10 the Jacobian A is linear in the barycentric coordinates and the
// coefficients of det A are its polar form: c_ijk = mean over the permutations of det(column 0 of A_i, column
// 1 of A_j, column 2 of A_k). For prisms dx/dxi and dx/deta have degree 1 in the triangle and 2 in zeta,
// dx/dzeta degree 2 and 1, so the determinant has degree 4 and 5: 15 x 6 coefficients, found by multiplying
// homogeneous polynomials.
#include "mesh/mesh_impl.h"

#define JACOBIAN_DEPTH 3     // halvings used to sharpen a bound that is not positive
#define JACOBIAN_ROUND 1e-14 // relative margin for round-off in the coefficients

// A = dx/dxi: A_ij = sum over nodes of x_ai dN_a/dxi_j.
static void jacobian_matrix(pl_element_kind kind, const double *x, const double xi[3], double A[9])
{
    double dN[3 * PL_ELEMENT_NODES_MAX];
    const int n = pl_shape_eval(kind, xi, NULL, dN);

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double sum = 0;
            for (int a = 0; a < n; ++a) {
                sum += x[3 * a + i] * dN[3 * a + j];
            }
            A[3 * i + j] = sum;
        }
    }
}

double pl_jacobian_at(pl_element_kind kind, const double *x, const double xi[3])
{
    double A[9];
    jacobian_matrix(kind, x, xi, A);
    return pl_det3(A);
}

// ---- tets

// det of the columns 0, 1, 2 taken from three matrices
static double tet_mixed_det(const double A[9], const double B[9], const double C[9])
{
    const double M[9] = {A[0], B[1], C[2], A[3], B[4], C[5], A[6], B[7], C[8]};
    return pl_det3(M);
}

// The 20 Bernstein coefficients for Jacobians A at the four corners, the four corner values first.
static void tet_coefficients(const double A[4][9], double c[20])
{
    // c_iii: values at the corners
    int n = 0;
    for (int i = 0; i < 4; ++i) {
        c[n++] = pl_det3(A[i]);
    }

    // c_iij: det is multilinear in its columns, so the mean runs over the three places of A_j
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            if (i != j) {
                c[n++] = (tet_mixed_det(A[i], A[i], A[j]) + tet_mixed_det(A[i], A[j], A[i]) +
                          tet_mixed_det(A[j], A[i], A[i])) /
                         3;
            }
        }
    }

    // c_ijk of three different corners: mean over all six permutations
    for (int skip = 0; skip < 4; ++skip) {
        const int i = skip == 0, j = skip <= 1 ? 2 : 1, k = skip <= 2 ? 3 : 2;
        c[n++] = (tet_mixed_det(A[i], A[j], A[k]) + tet_mixed_det(A[j], A[k], A[i]) +
                  tet_mixed_det(A[k], A[i], A[j]) + tet_mixed_det(A[i], A[k], A[j]) +
                  tet_mixed_det(A[k], A[j], A[i]) + tet_mixed_det(A[j], A[i], A[k])) /
                 6;
    }
}

// The smallest coefficient, less a margin for round-off.
static double coefficients_low(const double *c, int count)
{
    double low = c[0], largest = 0;
    for (int i = 0; i < count; ++i) {
        low = c[i] < low ? c[i] : low;
        largest = fabs(c[i]) > largest ? fabs(c[i]) : largest;
    }

    return low - JACOBIAN_ROUND * largest;
}

// A is linear over the tet, so its restriction to a sub-tet is given by its values at the sub-tet's corners.
static double tet_bound(const double A[4][9], int depth)
{
    double c[20];
    tet_coefficients(A, c);

    // decided: proven positive, negative at a corner (where the bound is the value), or no depth left
    const double low = coefficients_low(c, 20), corner = coefficients_low(c, 4);
    if (low > 0 || corner <= 0 || depth == 0) {
        return low;
    }

    // corners 0-3, then mid points of the edges 01 12 02 03 13 23; four corner tets and a split octahedron
    static const int8_t end[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
    static const int8_t part[8][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3},
                                      {4, 5, 6, 7}, {4, 5, 7, 8}, {5, 6, 7, 9}, {5, 7, 8, 9}};

    // matrices at the mid points, then the worst of the eight sub-tets
    double B[10][9];
    memcpy(B, A, 4 * sizeof *B);
    for (int m = 0; m < 6; ++m) {
        for (int i = 0; i < 9; ++i) {
            B[4 + m][i] = 0.5 * (A[end[m][0]][i] + A[end[m][1]][i]);
        }
    }

    double best = INFINITY;
    for (int p = 0; p < 8; ++p) {
        double sub[4][9];
        for (int a = 0; a < 4; ++a) {
            memcpy(sub[a], B[part[p][a]], sizeof sub[a]);
        }
        const double bound = tet_bound((const double(*)[9])sub, depth - 1);
        best = bound < best ? bound : best;
    }

    return best;
}

// A tet10's Jacobian at its corners, which determine it everywhere.
static void tet_corner_matrices(const double *x, double A[4][9])
{
    for (int a = 0; a < 4; ++a) {
        double xi[3];
        pl_shape_node(PL_TET10, a, xi);
        jacobian_matrix(PL_TET10, x, xi, A[a]);
    }
}

// ---- prisms: homogeneous polynomials of degree m in L0, L1, L2 and n in s = (1-z)/2, t = (1+z)/2

// degrees of the determinant in the triangle and along zeta, and its number of coefficients: 15 x 6
#define PRISM_TRI 4
#define PRISM_LINE 5
#define PRISM_COEFFICIENTS 90

// place of L1^j L2^k among the monomials of degree m (L0 has the rest)
static int poly_tri_index(int j, int k)
{
    const int d = j + k;
    return d * (d + 1) / 2 + k;
}

// r += sign * a * b for polynomials of degrees (ma, na) and (mb, nb); r has degree (ma + mb, na + nb).
static void poly_mul_add(const double *a, int ma, int na, const double *b, int mb, int nb, double sign,
                         double *r)
{
    const int nr = na + nb;
    for (int ja = 0; ja <= ma; ++ja) {
        for (int ka = 0; ja + ka <= ma; ++ka) {
            const double *pa = a + poly_tri_index(ja, ka) * (na + 1);

            for (int jb = 0; jb <= mb; ++jb) {
                for (int kb = 0; jb + kb <= mb; ++kb) {
                    const double *pb = b + poly_tri_index(jb, kb) * (nb + 1);
                    double *pr = r + poly_tri_index(ja + jb, ka + kb) * (nr + 1);

                    for (int i = 0; i <= na; ++i) {
                        for (int j = 0; j <= nb; ++j) {
                            pr[i + j] += sign * pa[i] * pb[j];
                        }
                    }
                }
            }
        }
    }
}

// A part of the reference prism: a triangle and an interval of zeta.
typedef struct prism_part { // mapped linearly
    double corner[3][2], low, high;
} prism_part;

// Reference coordinates of the point with barycentric coordinates L and height t in [0, 1] of a part.
static void prism_point(const prism_part *part, const double L[3], double t, double xi[3])
{
    for (int i = 0; i < 2; ++i) {
        xi[i] = L[0] * part->corner[0][i] + L[1] * part->corner[1][i] + L[2] * part->corner[2][i];
    }
    xi[2] = (1 - t) * part->low + t * part->high;
}

// dx/dxi and dx/deta as polynomials of degree (1, 2): u[column][component], 3 x 3 coefficients each.
static void prism_tangents(pl_element_kind kind, const double *x, const prism_part *part, double u[2][3][9])
{
    for (int a = 0; a < 3; ++a) {
        // values at three heights above corner a: a polynomial of degree 2 in t is known from them
        double A[3][9];
        for (int k = 0; k < 3; ++k) {
            const double L[3] = {a == 0, a == 1, a == 2};
            double xi[3];
            prism_point(part, L, 0.5 * k, xi);
            jacobian_matrix(kind, x, xi, A[k]);
        }

        for (int column = 0; column < 2; ++column) {
            for (int i = 0; i < 3; ++i) {
                const double f0 = A[0][3 * i + column], fm = A[1][3 * i + column], f1 = A[2][3 * i + column];
                double *p = u[column][i] + 3 * a;
                p[0] = f0;
                p[1] = 4 * fm - f0 - f1; // f(1/2) = (p0 + p1 + p2) / 4
                p[2] = f1;
            }
        }
    }
}

// dx/dzeta as polynomials of degree (2, 1): 6 x 2 coefficients per component.
static void prism_fibre(pl_element_kind kind, const double *x, const prism_part *part, double w[3][12])
{
    // monomials of degree 2 in the order of poly_tri_index: L0^2, L0 L1, L0 L2, L1^2, L1 L2, L2^2
    static const double at[6][3] = {{1, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, 1, 0}, {0, .5, .5}, {0, 0, 1}};
    static const int8_t end[6][2] = {{0, 0}, {0, 3}, {0, 5}, {3, 3}, {3, 5}, {5, 5}};

    for (int t = 0; t < 2; ++t) {
        // values at the corners and mid points of the triangle, below (t = 0) and above (t = 1)
        double value[6][3];
        for (int m = 0; m < 6; ++m) {
            double xi[3], A[9];
            prism_point(part, at[m], t, xi);
            jacobian_matrix(kind, x, xi, A);
            for (int i = 0; i < 3; ++i) {
                value[m][i] = A[3 * i + 2];
            }
        }

        // monomials: at the middle of an edge f = (p_a + p_ab + p_b) / 4
        for (int m = 0; m < 6; ++m) {
            const int a = end[m][0], b = end[m][1];
            for (int i = 0; i < 3; ++i) {
                w[i][2 * m + t] = a == b ? value[m][i] : 4 * value[m][i] - value[a][i] - value[b][i];
            }
        }
    }
}

// The Bernstein coefficients of det = (dx/dxi x dx/deta) . dx/dzeta: homogeneous coefficients over
// multinomials.
static void prism_coefficients(pl_element_kind kind, const double *x, const prism_part *part, double *c)
{
    static const double line[PRISM_LINE + 1] = {1, 5, 10, 10, 5, 1}, factorial[5] = {1, 1, 2, 6, 24};
    double u[2][3][9], w[3][12];

    // factors of the determinant on this part
    prism_tangents(kind, x, part, u);
    prism_fibre(kind, x, part, w);
    memset(c, 0, PRISM_COEFFICIENTS * sizeof *c);

    // component i of the cross product times component i of dx/dzeta
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        double cross[30] = {0};
        poly_mul_add(u[0][j], 1, 2, u[1][k], 1, 2, 1, cross);
        poly_mul_add(u[0][k], 1, 2, u[1][j], 1, 2, -1, cross);
        poly_mul_add(cross, 2, 4, w[i], 2, 1, 1, c);
    }

    // to Bernstein form: divide by 4! / (i! j! k!) and by the binomials of degree 5
    for (int j = 0; j <= PRISM_TRI; ++j) {
        for (int k = 0; j + k <= PRISM_TRI; ++k) {
            const double tri = 24 / (factorial[PRISM_TRI - j - k] * factorial[j] * factorial[k]);
            for (int n = 0; n <= PRISM_LINE; ++n) {
                c[poly_tri_index(j, k) * (PRISM_LINE + 1) + n] /= tri * line[n];
            }
        }
    }
}

// At its corners a Bernstein polynomial equals its coefficients.
static double prism_corner_low(const double *c)
{
    const int tri[3] = {poly_tri_index(0, 0), poly_tri_index(PRISM_TRI, 0), poly_tri_index(0, PRISM_TRI)};
    double low = INFINITY;

    for (int a = 0; a < 3; ++a) {
        const double *row = c + tri[a] * (PRISM_LINE + 1);
        low = fmin(low, fmin(row[0], row[PRISM_LINE]));
    }

    return low;
}

// As tet_bound: the coefficients of this part, or the worst of its eight parts where that does not decide.
static double prism_bound(pl_element_kind kind, const double *x, const prism_part *part, int depth)
{
    double c[PRISM_COEFFICIENTS];
    prism_coefficients(kind, x, part, c);
    const double low = coefficients_low(c, PRISM_COEFFICIENTS);

    // decided, or no depth left
    if (low > 0 || prism_corner_low(c) <= 0 || depth == 0) {
        return low;
    }

    static const int8_t part_of[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};

    // corners and mid points of the triangle, and the middle of the height
    double at[6][2], best = INFINITY;
    for (int a = 0; a < 3; ++a) {
        for (int i = 0; i < 2; ++i) {
            at[a][i] = part->corner[a][i];
            at[3 + a][i] = 0.5 * (part->corner[a][i] + part->corner[(a + 1) % 3][i]);
        }
    }

    const double middle = 0.5 * (part->low + part->high);
    for (int p = 0; p < 8; ++p) {
        prism_part sub = {.low = p < 4 ? part->low : middle, .high = p < 4 ? middle : part->high};
        for (int a = 0; a < 3; ++a) {
            memcpy(sub.corner[a], at[part_of[p % 4][a]], sizeof sub.corner[a]);
        }
        best = fmin(best, prism_bound(kind, x, &sub, depth - 1));
    }

    return best;
}

static const prism_part prism_whole = {{{0, 0}, {1, 0}, {0, 1}}, -1, 1};

// ---- entry points

// The determinant is constant on a linear tet, so its value is the bound.
double pl_jacobian_bound(pl_element_kind kind, const double *x)
{
    static const double centre[3] = {0.25, 0.25, 0.25};
    if (kind == PL_TET4) {
        return pl_jacobian_at(kind, x, centre);
    }

    if (kind == PL_TET10) {
        double A[4][9];
        tet_corner_matrices(x, A);
        return tet_bound((const double(*)[9])A, JACOBIAN_DEPTH);
    }

    return prism_bound(kind, x, &prism_whole, JACOBIAN_DEPTH);
}

// The integral of a Bernstein polynomial is the mean of its coefficients times the measure of its domain.
double pl_element_volume(pl_element_kind kind, const double *x)
{
    double c[PRISM_COEFFICIENTS], sum = 0;
    if (kind == PL_TET4) {
        static const double centre[3] = {0.25, 0.25, 0.25};
        return pl_jacobian_at(kind, x, centre) / 6;
    }

    // domain: 1/6 for the reference tet, 1 for the prism (1/2 by length 2)
    const int count = kind == PL_TET10 ? 20 : PRISM_COEFFICIENTS;
    if (kind == PL_TET10) {
        double A[4][9];
        tet_corner_matrices(x, A);
        tet_coefficients((const double(*)[9])A, c);
    } else {
        prism_coefficients(kind, x, &prism_whole, c);
    }

    for (int i = 0; i < count; ++i) {
        sum += c[i];
    }

    return kind == PL_TET10 ? sum / 20 / 6 : sum / PRISM_COEFFICIENTS;
}

double pl_prism_area(const double x[18])
{
    double area = 0;
    for (int side = 0; side < 2; ++side) {
        const double *p = x + 9 * side;
        double e[3], f[3], n[3];
        pl_sub3(p + 3, p, e);
        pl_sub3(p + 6, p, f);
        pl_cross3(e, f, n);
        area += 0.25 * pl_norm3(n);
    }

    return area;
}
