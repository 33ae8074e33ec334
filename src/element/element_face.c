// The strain of a face: derivatives of its shape functions where they are needed, the parameters d of the
// interpolated strain (layer.h) with first and second derivatives.
#include "element/layer.h"

#define GAUSS 0.28867513459481288225 // half of 1/sqrt(3): distance of the points of an edge from its middle

static const double face_corner[3][2] = {{0, 0}, {1, 0}, {0, 1}};

// Row c of the inverse of a small matrix by elimination with pivoting; n <= 9.
static void face_invert(int n, double *A, double *B)
{
    for (int i = 0; i < n * n; ++i) {
        B[i] = i % (n + 1) == 0;
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) {
            pivot = fabs(A[n * i + k]) > fabs(A[n * pivot + k]) ? i : pivot;
        }
        for (int j = 0; j < n; ++j) {
            const double a = A[n * k + j], b = B[n * k + j];
            A[n * k + j] = A[n * pivot + j];
            A[n * pivot + j] = a;
            B[n * k + j] = B[n * pivot + j];
            B[n * pivot + j] = b;
        }

        const double scale = 1 / A[n * k + k];
        for (int j = 0; j < n; ++j) {
            A[n * k + j] *= scale;
            B[n * k + j] *= scale;
        }

        for (int i = 0; i < n; ++i) {
            const double f = i == k ? 0 : A[n * i + k];
            for (int j = 0; f != 0 && j < n; ++j) {
                A[n * i + j] -= f * A[n * k + j];
                B[n * i + j] -= f * B[n * k + j];
            }
        }
    }
}

// Point of an edge at s in 0 .. 1 from its first to its second corner.
static void face_edge_point(int edge, double s, double xi[2])
{
    const double *a = face_corner[edge], *b = face_corner[(edge + 1) % 3];
    xi[0] = (1 - s) * a[0] + s * b[0];
    xi[1] = (1 - s) * a[1] + s * b[1];
}

// Derivatives by xi, eta as [axis][node].
static void face_derivative(int nodes, const double xi[2], double out[2][6])
{
    double dN[2 * PL_FACE_NODES_MAX];
    pl_face_shape_eval(nodes, xi, NULL, dN);
    for (int a = 0; a < nodes; ++a) {
        out[0][a] = dN[2 * a];
        out[1][a] = dN[2 * a + 1];
    }
}

// The linear field with E = E0 + xi E1 + eta E2: what its parameters d are, inverted.
static void face_field_init(pl_face_table *t)
{
    if (t->nodes == 3) {
        for (int i = 0; i < 3; ++i) {
            t->field[i * PL_LAYER_STRAINS + i] = 1;
        }
        return;
    }

    double A[81] = {0}, B[81];
    for (int k = 0; k < 9; ++k) {
        double xi[2] = {1.0 / 3, 1.0 / 3}, tau[2] = {0, 0};

        if (k < 6) {
            const double *a = face_corner[k / 2], *b = face_corner[(k / 2 + 1) % 3];
            face_edge_point(k / 2, 0.5 + (k % 2 ? GAUSS : -GAUSS), xi);
            tau[0] = b[0] - a[0];
            tau[1] = b[1] - a[1];
        }

        const double part[3] = {1, xi[0], xi[1]};
        const double along[3] = {tau[0] * tau[0], tau[1] * tau[1], 2 * tau[0] * tau[1]};
        for (int p = 0; p < 3; ++p) {
            for (int i = 0; i < 3; ++i) {
                A[9 * k + 3 * p + i] = part[p] * (k < 6 ? along[i] : i == k - 6);
            }
        }
    }

    face_invert(9, A, B);
    memcpy(t->field, B, sizeof B);
}

void pl_face_table_init(pl_face_table *t, int nodes)
{
    *t = (pl_face_table){.nodes = nodes, .strains = nodes == 6 ? 9 : 3, .points = nodes == 6 ? 3 : 1};
    for (int e = 0; e < 3; ++e) {
        const double *a = face_corner[e], *b = face_corner[(e + 1) % 3], *c = face_corner[(e + 2) % 3];

        for (int g = 0; g < 2; ++g) {
            double xi[2], d[2][6];
            face_edge_point(e, 0.5 + (g ? GAUSS : -GAUSS), xi);
            face_derivative(nodes, xi, d);

            for (int n = 0; n < nodes; ++n) {
                t->edge[e][g][0][n] = (b[0] - a[0]) * d[0][n] + (b[1] - a[1]) * d[1][n];
                t->edge[e][g][1][n] =
                    (c[0] - 0.5 * (a[0] + b[0])) * d[0][n] + (c[1] - 0.5 * (a[1] + b[1])) * d[1][n];
            }
        }
    }

    const double centre[2] = {1.0 / 3, 1.0 / 3};
    face_derivative(nodes, centre, t->centre);
    for (int q = 0; q < t->points; ++q) {
        double xi[2];
        face_edge_point(q, 0.5, xi); // a11, a22, a12 are quadratic: the middles of the edges are exact
        face_derivative(nodes, t->points == 1 ? centre : xi, t->inner[q]);
        t->point[q][0] = t->points == 1 ? centre[0] : q == 1 ? 2.0 / 3 : 1.0 / 6;
        t->point[q][1] = t->points == 1 ? centre[1] : q == 2 ? 2.0 / 3 : 1.0 / 6;
        t->share[q] = 0.5 / t->points;
    }

    if (nodes == 6) {
        // second derivatives are constant: from first ones at the corners
        double at[3][2][6];
        for (int k = 0; k < 3; ++k) {
            face_derivative(nodes, face_corner[k], at[k]);
        }
        for (int n = 0; n < nodes; ++n) {
            t->second[0][n] = at[1][0][n] - at[0][0][n];
            t->second[1][n] = at[2][1][n] - at[0][1][n];
            t->second[2][n] = at[2][0][n] - at[0][0][n];
        }
    }

    face_field_init(t);
}

void pl_face_field(const pl_face_table *t, const double xi[2], double M[3 * PL_LAYER_STRAINS])
{
    const double *F = t->field;
    const int n = 3 * PL_LAYER_STRAINS;
    for (int i = 0; i < n; ++i) {
        M[i] = F[i] + (t->nodes == 6 ? xi[0] * F[n + i] + xi[1] * F[2 * n + i] : 0);
    }
}

static void face_combine(int nodes, const double *c, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int a = 0; a < nodes; ++a) {
        for (int i = 0; i < 3; ++i) {
            out[i] += c[a] * x[3 * a + i];
        }
    }
}

void pl_face_tangents(const pl_face_table *t, const double *x, const double xi[2], double a[2][3])
{
    double d[2][6];
    face_derivative(t->nodes, xi, d);
    face_combine(t->nodes, d[0], x, a[0]);
    face_combine(t->nodes, d[1], x, a[1]);
}

void pl_face_strains(const pl_face_table *t, const double *x, double d[PL_LAYER_STRAINS])
{
    const int mean = t->strains - 3;
    for (int k = 0; k < mean; ++k) {
        double y[3];
        face_combine(t->nodes, t->edge[k / 2][k % 2][0], x, y);
        d[k] = 0.5 * pl_dot3(y, y);
    }

    d[mean] = d[mean + 1] = d[mean + 2] = 0;
    for (int q = 0; q < t->points; ++q) {
        double a[2][3];
        face_combine(t->nodes, t->inner[q][0], x, a[0]);
        face_combine(t->nodes, t->inner[q][1], x, a[1]);
        d[mean] += 0.5 * pl_dot3(a[0], a[0]) / t->points;
        d[mean + 1] += 0.5 * pl_dot3(a[1], a[1]) / t->points;
        d[mean + 2] += 0.5 * pl_dot3(a[0], a[1]) / t->points;
    }
}

void pl_face_strains_pull(const pl_face_table *t, const double *x, const double *U, double *g)
{
    const int mean = t->strains - 3;
    for (int k = 0; k < mean; ++k) {
        const double *c = t->edge[k / 2][k % 2][0];
        double y[3];
        face_combine(t->nodes, c, x, y);

        for (int a = 0; a < t->nodes; ++a) {
            for (int i = 0; i < 3; ++i) {
                g[3 * a + i] += U[k] * c[a] * y[i];
            }
        }
    }

    for (int q = 0; q < t->points; ++q) {
        double y[2][3];
        face_combine(t->nodes, t->inner[q][0], x, y[0]);
        face_combine(t->nodes, t->inner[q][1], x, y[1]);

        for (int a = 0; a < t->nodes; ++a) {
            const double c0 = t->inner[q][0][a] / t->points, c1 = t->inner[q][1][a] / t->points;
            for (int i = 0; i < 3; ++i) {
                g[3 * a + i] += U[mean] * c0 * y[0][i] + U[mean + 1] * c1 * y[1][i] +
                                0.5 * U[mean + 2] * (c0 * y[1][i] + c1 * y[0][i]);
            }
        }
    }
}

void pl_face_strains_rows(const pl_face_table *t, const double *x, int stride, double *J)
{
    double unit[PL_LAYER_STRAINS];
    for (int k = 0; k < t->strains; ++k) {
        memset(unit, 0, sizeof unit);
        unit[k] = 1;
        memset(J + (int64_t)k * stride, 0, (size_t)stride * sizeof *J);
        pl_face_strains_pull(t, x, unit, J + (int64_t)k * stride);
    }
}

// Each edge's part is c c^T (x) I, positive where U is; the means' part is that of the tensor (U11, U12/2; .,
// U22), positive where the tensor is.
void pl_face_strains_curve(const pl_face_table *t, const double *U, bool positive, int stride, double *H)
{
    const int mean = t->strains - 3;
    double u11 = U[mean], u22 = U[mean + 1], u12 = 0.5 * U[mean + 2];

    if (positive) {
        const double half = 0.5 * (u11 + u22), apart = 0.5 * (u11 - u22), r = sqrt(apart * apart + u12 * u12);
        const double high = fmax(half + r, 0), low = fmax(half - r, 0);
        const double c = r > 0 ? apart / r : 1, s = r > 0 ? u12 / r : 0;
        u11 = 0.5 * (high + low) + 0.5 * (high - low) * c;
        u22 = 0.5 * (high + low) - 0.5 * (high - low) * c;
        u12 = 0.5 * (high - low) * s;
    }

    for (int a = 0; a < t->nodes; ++a) {
        for (int b = 0; b < t->nodes; ++b) {
            double sum = 0;
            for (int k = 0; k < mean; ++k) {
                const double *c = t->edge[k / 2][k % 2][0];
                sum += (positive ? fmax(U[k], 0) : U[k]) * c[a] * c[b];
            }

            for (int q = 0; q < t->points; ++q) {
                const double *c0 = t->inner[q][0], *c1 = t->inner[q][1];
                sum += (u11 * c0[a] * c0[b] + u22 * c1[a] * c1[b] + u12 * (c0[a] * c1[b] + c1[a] * c0[b])) /
                       t->points;
            }

            for (int i = 0; i < 3; ++i) {
                H[(int64_t)(3 * a + i) * stride + 3 * b + i] += sum;
            }
        }
    }
}

// A_a = G_ia q_i with orthonormal q, so e = G^-T E G^-1.
double pl_face_frame(const double A1[3], const double A2[3], double frame[9], double axis[2][3])
{
    double N[3];
    pl_cross3(A1, A2, N);
    const double area = pl_norm3(N), l = pl_norm3(A1), g12 = pl_dot3(A1, A2) / l, g22 = area / l;
    const double h11 = 1 / l, h22 = 1 / g22, h12 = -g12 / (l * g22); // G^-1, upper triangular
    const double rows[9] = {h11 * h11,     0,         0,             //
                            h12 * h12,     h22 * h22, 2 * h12 * h22, //
                            2 * h11 * h12, 0,         2 * h11 * h22};
    memcpy(frame, rows, sizeof rows);
    for (int i = 0; i < 3; ++i) {
        axis[0][i] = A1[i] / l;
        axis[1][i] = (A2[i] - g12 * axis[0][i]) / g22;
    }

    return area;
}
