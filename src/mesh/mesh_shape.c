// Element kinds: node counts, faces and edges, shape functions with derivatives, quadrature on faces.
#include "mesh/mesh_impl.h"

// ---- tables of the kinds

// Lumped masses: diagonal scaling of the mass matrix of a straight element (Hinton, Rock, Zienkiewicz), int
// N_a^2 over their sum. Orders of mid nodes:
//   tet10    Gmsh: 01 12 02 03 23 13                    ours: 01 12 02 03 13 23
//   prism15  Gmsh: 01 02 03 12 14 25 34 35 45           ours: 01 12 20 34 45 53 03 14 25
static const pl_element_traits shape_table[PL_ELEMENT_KIND_COUNT] = {
    [PL_TET4] = {.name = "tet4",
                 .nodes = 4,
                 .corners = 4,
                 .faces = 4,
                 .edges = 6,
                 .tet = true,
                 .lowered = PL_TET4,
                 .raised = PL_TET10,
                 .lumped = {0.25},
                 .vtk = 10,
                 .abaqus = "C3D4",
                 .xdmf = "Tetrahedron",
                 .xdmf_number = 6,
                 .gmsh = 4,
                 .gmsh_node = {0, 1, 2, 3}},
    [PL_TET10] = {.name = "tet10",
                  .nodes = 10,
                  .corners = 4,
                  .faces = 4,
                  .edges = 6,
                  .tet = true,
                  .quadratic = true,
                  .lowered = PL_TET4,
                  .raised = PL_TET10,
                  .lumped = {1.0 / 36, 4.0 / 27, 4.0 / 27},
                  .vtk = 24,
                  .abaqus = "C3D10",
                  .xdmf = "Tetrahedron_10",
                  .xdmf_number = 38,
                  .gmsh = 11,
                  .gmsh_node = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8}},
    [PL_PRISM6] = {.name = "prism6",
                   .nodes = 6,
                   .corners = 6,
                   .faces = 5,
                   .edges = 9,
                   .lowered = PL_PRISM6,
                   .raised = PL_PRISM15,
                   .lumped = {1.0 / 6},
                   .vtk = 13,
                   .abaqus = "C3D6",
                   .xdmf = "Wedge",
                   .xdmf_number = 8,
                   .gmsh = 6,
                   .gmsh_node = {0, 1, 2, 3, 4, 5}},
    [PL_PRISM15] = {.name = "prism15",
                    .nodes = 15,
                    .corners = 6,
                    .faces = 5,
                    .edges = 9,
                    .quadratic = true,
                    .lowered = PL_PRISM6,
                    .raised = PL_PRISM15,
                    .lumped = {1.0 / 34, 4.0 / 51, 2.0 / 17},
                    .vtk = 26,
                    .abaqus = "C3D15",
                    .xdmf = "Wedge_15",
                    .xdmf_number = 40,
                    .gmsh = 18,
                    .gmsh_node = {0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11}},
};

// edges: two corners and the mid node. Faces: corners in an order whose normal points outwards, then mid
// nodes.
static const int8_t tet_edge[6][3] = {{0, 1, 4}, {1, 2, 5}, {0, 2, 6}, {0, 3, 7}, {1, 3, 8}, {2, 3, 9}};
static const int8_t prism_edge[9][3] = {{0, 1, 6},  {1, 2, 7},  {2, 0, 8},  {3, 4, 9}, {4, 5, 10},
                                        {5, 3, 11}, {0, 3, 12}, {1, 4, 13}, {2, 5, 14}};
static const int8_t tet_face[4][6] = {
    {0, 2, 1, 6, 5, 4}, {0, 1, 3, 4, 8, 7}, {1, 2, 3, 5, 9, 8}, {0, 3, 2, 7, 9, 6}};
static const int8_t prism_face[5][8] = {{0, 2, 1, 8, 7, 6, -1, -1},
                                        {3, 4, 5, 9, 10, 11, -1, -1},
                                        {0, 1, 4, 3, 6, 13, 9, 12},
                                        {1, 2, 5, 4, 7, 14, 10, 13},
                                        {2, 0, 3, 5, 8, 12, 11, 14}};

static bool shape_is_kind(int kind)
{
    return kind >= 0 && kind < PL_ELEMENT_KIND_COUNT;
}

const pl_element_traits *pl_element_get(int kind)
{
    return shape_table + kind;
}

int pl_element_find_vtk(int64_t type)
{
    int k = 0;
    while (k < PL_ELEMENT_KIND_COUNT && shape_table[k].vtk != type) {
        ++k;
    }
    return k < PL_ELEMENT_KIND_COUNT ? k : -1;
}

int pl_element_find_gmsh(int type)
{
    int k = 0;
    while (k < PL_ELEMENT_KIND_COUNT && shape_table[k].gmsh != type) {
        ++k;
    }
    return k < PL_ELEMENT_KIND_COUNT ? k : -1;
}

int pl_element_find_nodes(int nodes)
{
    int k = 0;
    while (k < PL_ELEMENT_KIND_COUNT && shape_table[k].nodes != nodes) {
        ++k;
    }
    return k < PL_ELEMENT_KIND_COUNT ? k : -1;
}

const char *pl_element_kind_name(int kind)
{
    return shape_is_kind(kind) ? shape_table[kind].name : "unknown kind";
}

int pl_element_node_count(pl_element_kind kind)
{
    return shape_is_kind((int)kind) ? shape_table[kind].nodes : 0;
}

int pl_element_corner_count(pl_element_kind kind)
{
    return shape_is_kind((int)kind) ? shape_table[kind].corners : 0;
}

int pl_element_face_count(pl_element_kind kind)
{
    return shape_is_kind((int)kind) ? shape_table[kind].faces : 0;
}

int pl_element_edge_count(pl_element_kind kind)
{
    return shape_is_kind((int)kind) ? shape_table[kind].edges : 0;
}

// Nodes of a face by local numbers; returns their count, 0 for a face that does not exist.
int pl_element_face_nodes(pl_element_kind kind, int face, int node[PL_FACE_NODES_MAX])
{
    if (!shape_is_kind((int)kind) || face < 0 || face >= shape_table[kind].faces) {
        return 0;
    }

    const bool quadratic = pl_element_is_quadratic(kind);
    const int8_t *row = pl_element_is_tet(kind) ? tet_face[face] : prism_face[face];
    const int corners = pl_element_is_tet(kind) || face < 2 ? 3 : 4;
    const int count = quadratic ? 2 * corners : corners;
    for (int i = 0; i < count; ++i) {
        node[i] = row[i];
    }

    return count;
}

void pl_element_edge_nodes(pl_element_kind kind, int edge, int node[3])
{
    const int8_t *row = pl_element_is_tet(kind) ? tet_edge[edge] : prism_edge[edge];
    node[0] = row[0];
    node[1] = row[1];
    node[2] = pl_element_is_quadratic(kind) ? row[2] : -1;
}

// ---- shape functions. L are barycentric coordinates, dL their constant derivatives.

static const double tet_dL[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const double tri_dL[3][2] = {{-1, -1}, {1, 0}, {0, 1}};

// tet4: N_a = L_a. tet10: N_a = L_a (2 L_a - 1) at corners, N_ab = 4 L_a L_b at mid nodes.
static void shape_tet(bool quadratic, const double xi[3], double *N, double *dN)
{
    const double L[4] = {1 - xi[0] - xi[1] - xi[2], xi[0], xi[1], xi[2]};

    // corners, then mid nodes of the edges
    for (int a = 0; a < 4; ++a) {
        N[a] = quadratic ? L[a] * (2 * L[a] - 1) : L[a];
        for (int i = 0; i < 3; ++i) {
            dN[3 * a + i] = quadratic ? (4 * L[a] - 1) * tet_dL[a][i] : tet_dL[a][i];
        }
    }

    for (int m = 0; quadratic && m < 6; ++m) {
        const int a = tet_edge[m][0], b = tet_edge[m][1];
        N[4 + m] = 4 * L[a] * L[b];
        for (int i = 0; i < 3; ++i) {
            dN[3 * (4 + m) + i] = 4 * (L[a] * tet_dL[b][i] + L[b] * tet_dL[a][i]);
        }
    }
}

// prism6: N = L_a (1 -+ z) / 2.
// prism15: corners L_a ((2 L_a - 1)(1 -+ z) - (1 - z^2)) / 2, mid nodes of the triangles 2 L_a L_b (1 -+ z),
// of the vertical edges L_a (1 - z^2).
static void shape_prism(bool quadratic, const double xi[3], double *N, double *dN)
{
    const double L[3] = {1 - xi[0] - xi[1], xi[0], xi[1]}, z = xi[2];

    // corners below (s = -1) and above (s = 1)
    for (int a = 0; a < 6; ++a) {
        const double l = L[a % 3], s = a < 3 ? -1 : 1, h = 1 + s * z, q = 1 - z * z;
        double dl, dz; // dN/dL and dN/dz
        if (quadratic) {
            N[a] = 0.5 * l * ((2 * l - 1) * h - q);
            dl = 0.5 * ((4 * l - 1) * h - q);
            dz = 0.5 * l * ((2 * l - 1) * s + 2 * z);
        } else {
            N[a] = 0.5 * l * h;
            dl = 0.5 * h;
            dz = 0.5 * l * s;
        }

        dN[3 * a] = dl * tri_dL[a % 3][0];
        dN[3 * a + 1] = dl * tri_dL[a % 3][1];
        dN[3 * a + 2] = dz;
    }

    // mid nodes of the triangles
    for (int m = 0; quadratic && m < 6; ++m) {
        const int a = m % 3, b = (m + 1) % 3;
        const double s = m < 3 ? -1 : 1, h = 1 + s * z;
        double *d = dN + 3 * (6 + m);
        N[6 + m] = 2 * L[a] * L[b] * h;
        d[0] = 2 * h * (L[a] * tri_dL[b][0] + L[b] * tri_dL[a][0]);
        d[1] = 2 * h * (L[a] * tri_dL[b][1] + L[b] * tri_dL[a][1]);
        d[2] = 2 * L[a] * L[b] * s;
    }

    // mid nodes of the vertical edges
    for (int a = 0; quadratic && a < 3; ++a) {
        double *d = dN + 3 * (12 + a);
        N[12 + a] = L[a] * (1 - z * z);
        d[0] = tri_dL[a][0] * (1 - z * z);
        d[1] = tri_dL[a][1] * (1 - z * z);
        d[2] = -2 * z * L[a];
    }
}

int pl_shape_eval(pl_element_kind kind, const double xi[3], double *N, double *dN)
{
    double N_here[PL_ELEMENT_NODES_MAX], dN_here[3 * PL_ELEMENT_NODES_MAX];
    N = N ? N : N_here;
    dN = dN ? dN : dN_here;
    if (pl_element_is_tet(kind)) {
        shape_tet(pl_element_is_quadratic(kind), xi, N, dN);
    } else {
        shape_prism(pl_element_is_quadratic(kind), xi, N, dN);
    }

    return pl_element_node_count(kind);
}

// tri3: N_a = L_a. tri6: N_a = L_a (2 L_a - 1), N_ab = 4 L_a L_b.
static void shape_tri(bool quadratic, const double xi[2], double *N, double *dN)
{
    const double L[3] = {1 - xi[0] - xi[1], xi[0], xi[1]};
    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3;
        N[a] = quadratic ? L[a] * (2 * L[a] - 1) : L[a];
        for (int i = 0; i < 2; ++i) {
            dN[2 * a + i] = quadratic ? (4 * L[a] - 1) * tri_dL[a][i] : tri_dL[a][i];
        }
        if (quadratic) {
            N[3 + a] = 4 * L[a] * L[b];
            for (int i = 0; i < 2; ++i) {
                dN[2 * (3 + a) + i] = 4 * (L[a] * tri_dL[b][i] + L[b] * tri_dL[a][i]);
            }
        }
    }
}

// corners, then mid nodes of the reference quadrilateral
static const int8_t quad_at[8][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {0, -1}, {1, 0}, {0, 1}, {-1, 0}};

// quad4: N = (1 + s x)(1 + t y) / 4. quad8 (serendipity): corners times (s x + t y - 1); mid nodes
// (1 - x^2)(1 + t y) / 2 and (1 + s x)(1 - y^2) / 2.
static void shape_quad(bool quadratic, const double xi[2], double *N, double *dN)
{
    const double x = xi[0], y = xi[1];

    // corners
    for (int a = 0; a < 4; ++a) {
        const double s = quad_at[a][0], t = quad_at[a][1], u = 1 + s * x, v = 1 + t * y;
        const double w = quadratic ? s * x + t * y - 1 : 1;
        N[a] = 0.25 * u * v * w;
        dN[2 * a] = 0.25 * s * v * (quadratic ? w + u : 1);
        dN[2 * a + 1] = 0.25 * t * u * (quadratic ? w + v : 1);
    }

    // mid nodes: horizontal sides have s = 0, vertical ones t = 0
    for (int a = 4; quadratic && a < 8; ++a) {
        const double s = quad_at[a][0], t = quad_at[a][1];
        if (quad_at[a][0] == 0) {
            N[a] = 0.5 * (1 - x * x) * (1 + t * y);
            dN[2 * a] = -x * (1 + t * y);
            dN[2 * a + 1] = 0.5 * (1 - x * x) * t;
        } else {
            N[a] = 0.5 * (1 + s * x) * (1 - y * y);
            dN[2 * a] = 0.5 * s * (1 - y * y);
            dN[2 * a + 1] = -y * (1 + s * x);
        }
    }
}

int pl_face_shape_eval(int face_node_count, const double xi[2], double *N, double *dN)
{
    double N_here[PL_FACE_NODES_MAX], dN_here[2 * PL_FACE_NODES_MAX];
    N = N ? N : N_here;
    dN = dN ? dN : dN_here;
    if (face_node_count == 3 || face_node_count == 6) {
        shape_tri(face_node_count == 6, xi, N, dN);
    } else {
        shape_quad(face_node_count == 8, xi, N, dN);
    }

    return face_node_count;
}

// ---- places in the reference elements

static void shape_corner(pl_element_kind kind, int a, double xi[3])
{
    if (pl_element_is_tet(kind)) {
        for (int i = 0; i < 3; ++i) {
            xi[i] = a == i + 1 ? 1 : 0;
        }
    } else {
        xi[0] = a % 3 == 1 ? 1 : 0;
        xi[1] = a % 3 == 2 ? 1 : 0;
        xi[2] = a < 3 ? -1 : 1;
    }
}

// Mid nodes lie in the middle of their edge in reference coordinates.
void pl_shape_node(pl_element_kind kind, int node, double xi[3])
{
    const int corners = pl_element_corner_count(kind);
    if (node < corners) {
        shape_corner(kind, node, xi);
        return;
    }

    const int8_t *edge = pl_element_is_tet(kind) ? tet_edge[node - corners] : prism_edge[node - corners];
    double a[3], b[3];
    shape_corner(kind, edge[0], a);
    shape_corner(kind, edge[1], b);
    for (int i = 0; i < 3; ++i) {
        xi[i] = 0.5 * (a[i] + b[i]);
    }
}

void pl_face_shape_node(int face_node_count, int node, double xi[2])
{
    static const double tri_at[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0.5, 0}, {0.5, 0.5}, {0, 0.5}};
    const bool tri = face_node_count == 3 || face_node_count == 6;
    xi[0] = tri ? tri_at[node][0] : quad_at[node][0];
    xi[1] = tri ? tri_at[node][1] : quad_at[node][1];
}

// Faces of the reference elements are flat, so the linear (bilinear) map of their corners is exact.
void pl_shape_from_face(pl_element_kind kind, int face, const double face_xi[2], double xi[3])
{
    int node[PL_FACE_NODES_MAX];
    const int count = pl_element_face_nodes(kind, face, node);
    const int corners = count == 3 || count == 6 ? 3 : 4;
    double N[PL_FACE_NODES_MAX];

    pl_face_shape_eval(corners, face_xi, N, NULL);
    xi[0] = xi[1] = xi[2] = 0;
    for (int a = 0; a < corners; ++a) {
        double at[3];
        shape_corner(kind, node[a], at);
        for (int i = 0; i < 3; ++i) {
            xi[i] += N[a] * at[i];
        }
    }
}

// Flat triangles that together stand for a face: curved ones are split at their mid nodes. The table is
// static.
int pl_face_triangles(int face_node_count, const int8_t (**triangle)[3])
{
    static const int8_t tri3[1][3] = {{0, 1, 2}};
    static const int8_t tri6[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};
    static const int8_t quad4[2][3] = {{0, 1, 2}, {0, 2, 3}};
    static const int8_t quad8[6][3] = {{0, 4, 7}, {4, 1, 5}, {5, 2, 6}, {6, 3, 7}, {4, 5, 6}, {4, 6, 7}};

    switch (face_node_count) {
    case 3:
        *triangle = tri3;
        return 1;
    case 6:
        *triangle = tri6;
        return 4;
    case 4:
        *triangle = quad4;
        return 2;
    default:
        *triangle = quad8;
        return 6;
    }
}

// Linear tets that together stand for an element. A tet10 is cut into four corner tets and the octahedron
// between them, split along its diagonal 4-9. A prism by its corners.
int pl_element_tets(pl_element_kind kind, const int8_t (**tet)[4])
{
    static const int8_t tet4[1][4] = {{0, 1, 2, 3}};
    static const int8_t tet10[8][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3},
                                       {4, 9, 5, 6}, {4, 9, 6, 7}, {4, 9, 7, 8}, {4, 9, 8, 5}};
    static const int8_t prism[3][4] = {{0, 1, 2, 5}, {0, 1, 5, 4}, {0, 4, 5, 3}};
    *tet = kind == PL_TET4 ? tet4 : kind == PL_TET10 ? tet10 : prism;
    return kind == PL_TET4 ? 1 : kind == PL_TET10 ? 8 : 3;
}

// ---- quadrature on faces

// Seven points, degree 5 (Radon 1948); weights of the reference triangle of area 1/2.
static int quadrature_tri(double (*xi)[2], double *weight)
{
    const double r = sqrt(15.0);
    const double a = (6 - r) / 21, b = (6 + r) / 21;
    const double wa = (155 - r) / 2400, wb = (155 + r) / 2400;
    const double at[7][3] = {
        {1.0 / 3, 1.0 / 3, 9.0 / 80}, {a, a, wa},        {1 - 2 * a, a, wa}, {a, 1 - 2 * a, wa}, {b, b, wb},
        {1 - 2 * b, b, wb},           {b, 1 - 2 * b, wb}};

    for (int i = 0; i < 7; ++i) {
        xi[i][0] = at[i][0];
        xi[i][1] = at[i][1];
        weight[i] = at[i][2];
    }

    return 7;
}

// Gauss 3 x 3: exact to degree 5 in each direction, what x . (dx/dxi x dx/deta) of a quad8 needs.
static int quadrature_quad(double (*xi)[2], double *weight)
{
    const double at[3] = {-sqrt(0.6), 0, sqrt(0.6)}, w[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    for (int i = 0; i < 9; ++i) {
        xi[i][0] = at[i % 3];
        xi[i][1] = at[i / 3];
        weight[i] = w[i % 3] * w[i / 3];
    }

    return 9;
}

// A flat triangle has a constant normal, so three points of degree 2 are enough.
void pl_face_quadrature(int face_node_count, int *count, double (*xi)[2], double *weight)
{
    if (face_node_count == 3) {
        static const double at[3][2] = {{1.0 / 6, 1.0 / 6}, {2.0 / 3, 1.0 / 6}, {1.0 / 6, 2.0 / 3}};
        for (int i = 0; i < 3; ++i) {
            xi[i][0] = at[i][0];
            xi[i][1] = at[i][1];
            weight[i] = 1.0 / 6;
        }

        *count = 3;
    } else {
        *count = face_node_count == 6 ? quadrature_tri(xi, weight) : quadrature_quad(xi, weight);
    }
}
