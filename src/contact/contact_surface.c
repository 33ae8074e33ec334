// The points of a surface where contact is judged: vertices and centres of faces. Weights of the reference
// face, times the local area of the undeformed surface:
//   6 nodes   corners 1/40, mid nodes 1/15, centre 9/40   (of 1/2; degree 3)
//   3 nodes   corners 1/24, centre 3/8                    (of 1/2; degree 2)
//   4 nodes   corners 1/3, centre 8/3                     (of 4; degree 3)
//   8 nodes   corners 1/9, mid nodes 4/9, centre 16/9     (of 4; degree 3: Simpson's rule)
// They integrate shape functions exactly on flat faces: under uniform pressure the corners of a quadratic
// triangle carry no force, 1/40 + 9/40 * (-1/9) = 0.
#include "contact/contact_impl.h"

void contact_reference(int size, int k, double xi[2])
{
    static const double tri[7][2] = {{0, 0}, {1, 0}, {0, 1}, {0.5, 0}, {0.5, 0.5}, {0, 0.5}};
    static const double quad[8][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {0, -1}, {1, 0}, {0, 1}, {-1, 0}};
    const bool triangle = size == 3 || size == 6;
    const double centre = triangle ? 1.0 / 3 : 0;
    xi[0] = k == size ? centre : triangle ? tri[k][0] : quad[k][0];
    xi[1] = k == size ? centre : triangle ? tri[k][1] : quad[k][1];
}

double contact_reference_weight(int size, int k)
{
    switch (size) {
    case 3:
        return k == 3 ? 3.0 / 8 : 1.0 / 24;
    case 6:
        return k == 6 ? 9.0 / 40 : k < 3 ? 1.0 / 40 : 1.0 / 15;
    case 4:
        return k == 4 ? 8.0 / 3 : 1.0 / 3;
    default:
        return k == 8 ? 16.0 / 9 : k < 4 ? 1.0 / 9 : 4.0 / 9;
    }
}

void contact_face_at(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2],
                     double y[3], double a[6])
{
    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX];
    const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)face;
    const int size = pl_face_shape_eval(s->size[face], xi, N, dN);

    memset(y, 0, 3 * sizeof *y);
    memset(a, 0, 6 * sizeof *a);
    for (int k = 0; k < size; ++k) {
        const double *v = x + 3 * (size_t)node[k];
        for (int i = 0; i < 3; ++i) {
            y[i] += N[k] * v[i];
            a[i] += dN[2 * k] * v[i];
            a[3 + i] += dN[2 * k + 1] * v[i];
        }
    }
}

double pl_contact_face_area(const pl_contact_surface *s, int32_t face, const double *x, double share[9])
{
    const int size = s->size[face];
    double sum = 0;

    for (int k = 0; k <= size; ++k) {
        double xi[2], y[3], a[6], n[3];
        contact_reference(size, k, xi);
        contact_face_at(s, face, x, xi, y, a);
        pl_cross3(a, a + 3, n);
        share[k] = contact_reference_weight(size, k) * pl_norm3(n);
        sum += share[k];
    }

    return sum;
}

int pl_contact_point_nodes(const pl_contact_surface *s, int32_t point, const int32_t **node, double *weight)
{
    if (s->vertex[point] >= 0) {
        *node = s->vertex + point;
        weight[0] = 1;
        return 1;
    }

    const int32_t face = s->home[point];
    *node = s->node + PL_FACE_NODES_MAX * (size_t)face;
    return pl_face_shape_eval(s->size[face], s->xi + 2 * (size_t)point, weight, NULL);
}

void pl_contact_point_at(const pl_contact_surface *s, int32_t point, const double *x, double out[3])
{
    const int32_t *node;
    double weight[PL_FACE_NODES_MAX];
    const int count = pl_contact_point_nodes(s, point, &node, weight);

    memset(out, 0, 3 * sizeof *out);
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i) {
            out[i] += weight[k] * x[3 * (size_t)node[k] + (size_t)i];
        }
    }
}

void pl_contact_normal(const pl_contact_surface *s, int32_t face, int32_t vertex, const double *x,
                       double n[3])
{
    double xi[2], y[3], a[6];
    int at = 0;

    while (at < s->size[face] && s->node[PL_FACE_NODES_MAX * (size_t)face + (size_t)at] != vertex) {
        ++at;
    }
    contact_reference(s->size[face], at, xi);
    contact_face_at(s, face, x, xi, y, a);
    pl_cross3(a, a + 3, n);
    const double length = pl_norm3(n);
    for (int i = 0; i < 3; ++i) {
        n[i] = length > 0 ? n[i] / length : 0;
    }
}

static double surface_edge(const pl_contact_surface *s, int32_t face, const double *x)
{
    const int corners = s->size[face] == 3 || s->size[face] == 6 ? 3 : 4;
    const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)face;
    double sum = 0;

    for (int c = 0; c < corners; ++c) {
        sum += pl_distance3(x + 3 * (size_t)node[c], x + 3 * (size_t)node[(c + 1) % corners]);
    }

    return sum / corners;
}

static void surface_faces(pl_contact_surface *s, const pl_mesh *mesh, const int32_t *region_group)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t *face;

    pl_mesh_boundary(mesh, &face);
    const int32_t all = s->face_count;
    s->face_count = 0;
    for (int32_t i = 0; i < all; ++i) {
        const int32_t group = region_group ? region_group[v.region[face[i] / 8]] : 0, f = s->face_count;
        if (group < 0) {
            continue;
        }
        ++s->face_count;
        s->face[f] = face[i];
        s->size[f] = (int8_t)pl_mesh_face_nodes(mesh, face[i], s->node + PL_FACE_NODES_MAX * (size_t)f);
        s->group[f] = group;
        s->edge[f] = surface_edge(s, f, v.position);
        for (int k = 0; k < s->size[f]; ++k) {
            s->around_start[s->node[PL_FACE_NODES_MAX * (size_t)f + (size_t)k] + 1]++;
        }
    }

    for (int32_t i = 0; i < v.vertex_count; ++i) {
        s->around_start[i + 1] += s->around_start[i];
        s->point_of[i] = -1;
    }
}

// The node of a face at reference coordinates xi; -1: none.
static int surface_node_at(int size, const double xi[2])
{
    for (int k = 0; k < size; ++k) {
        double at[2];
        contact_reference(size, k, at);
        if (fabs(at[0] - xi[0]) + fabs(at[1] - xi[1]) < 1e-12) {
            return k;
        }
    }
    return -1;
}

static double surface_metric(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2])
{
    double y[3], a[6], n[3];
    contact_face_at(s, face, x, xi, y, a);
    pl_cross3(a, a + 3, n);
    return pl_norm3(n);
}

double pl_contact_point_area(const pl_contact_surface *s, int32_t point, int32_t face, const double *x)
{
    double xi[2];
    int at = 0;

    if (s->vertex[point] < 0) {
        return s->share[point] * surface_metric(s, face, x, s->xi + 2 * (size_t)point);
    }
    while (s->node[PL_FACE_NODES_MAX * (size_t)face + (size_t)at] != s->vertex[point]) {
        ++at;
    }
    contact_reference(s->size[face], at, xi);

    return contact_reference_weight(s->size[face], at) * surface_metric(s, face, x, xi);
}

// A point at xi of face f with a weight in its reference face: that of a vertex where there is one.
static void surface_add(pl_contact_surface *s, int32_t f, const double *x, const double xi[2], double weight)
{
    const int at = surface_node_at(s->size[f], xi);
    const int32_t v = at >= 0 ? s->node[PL_FACE_NODES_MAX * (size_t)f + (size_t)at] : -1;
    int32_t p = v >= 0 ? s->point_of[v] : -1;

    if (p < 0) {
        p = s->point_count++;
        s->vertex[p] = v;
        s->home[p] = f;
        s->spacing[p] = s->edge[f];
        memcpy(s->xi + 2 * (size_t)p, xi, 2 * sizeof *xi);
        s->share[p] = weight;
        if (v >= 0) {
            s->point_of[v] = p;
        }
    }

    s->area[p] += weight * surface_metric(s, f, x, xi);
    s->spacing[p] = fmin(s->spacing[p], s->edge[f]);
}

// Points in the order of faces: each vertex at the first face that has it, then the others.
static void surface_points(pl_contact_surface *s, const double *x)
{
    for (int32_t f = 0; f < s->face_count; ++f) {
        for (int k = 0; k <= s->size[f]; ++k) {
            double xi[2];
            contact_reference(s->size[f], k, xi);
            surface_add(s, f, x, xi, contact_reference_weight(s->size[f], k));
        }
    }

    // the lists of faces around vertices, filled from the back
    for (int32_t f = s->face_count - 1; f >= 0; --f) {
        for (int k = 0; k < s->size[f]; ++k) {
            const int32_t v = s->node[PL_FACE_NODES_MAX * (size_t)f + (size_t)k];
            s->around[--s->around_start[v + 1]] = f;
        }
    }

    // filling moved each start to the one before it
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        s->around_start[v] = s->around_start[v + 1];
    }
}

static bool surface_point_arrays(pl_contact_surface *s, size_t points)
{
    s->vertex = PL_NEW_ARRAY(int32_t, points);
    s->home = PL_NEW_ARRAY(int32_t, points);
    s->area = PL_NEW_ARRAY(double, points);
    s->spacing = PL_NEW_ARRAY(double, points);
    s->xi = PL_NEW_ARRAY(double, 2 * points);
    s->share = PL_NEW_ARRAY(double, points);

    return s->vertex && s->home && s->area && s->spacing && s->xi && s->share;
}

pl_status pl_contact_surface_create(const pl_mesh *mesh, const int32_t *region_group,
                                    pl_contact_surface **out, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t *face;

    *out = NULL;
    pl_contact_surface *s = PL_NEW(pl_contact_surface);
    if (!s) {
        return pl_fail_memory(err, "contact: the surface");
    }
    s->face_count = (int32_t)pl_mesh_boundary(mesh, &face);
    s->vertex_count = v.vertex_count;
    const size_t faces = (size_t)s->face_count, vertices = (size_t)v.vertex_count;
    s->face = PL_NEW_ARRAY(int64_t, faces);
    s->size = PL_NEW_ARRAY(int8_t, faces);
    s->node = PL_NEW_ARRAY(int32_t, PL_FACE_NODES_MAX * faces);
    s->group = PL_NEW_ARRAY(int32_t, faces);
    s->edge = PL_NEW_ARRAY(double, faces);
    s->around = PL_NEW_ARRAY(int32_t, PL_FACE_NODES_MAX * faces);
    s->around_start = PL_NEW_ARRAY(int32_t, vertices + 2);
    s->point_of = PL_NEW_ARRAY(int32_t, vertices);
    bool good =
        s->face && s->size && s->node && s->group && s->edge && s->around && s->around_start && s->point_of;
    if (good) {
        surface_faces(s, mesh, region_group);
        good = surface_point_arrays(s, faces + vertices);
    }

    if (!good) {
        pl_contact_surface_destroy(s);
        return pl_fail_memory(err, "contact: the surface");
    }

    const int32_t total = s->around_start[v.vertex_count];
    surface_points(s, v.position);
    s->around_start[v.vertex_count] = total;
    *out = s;

    return PL_OK;
}

void pl_contact_surface_destroy(pl_contact_surface *s)
{
    if (s) {
        void *const block[] = {s->face,         s->size,     s->node, s->group,   s->edge,
                               s->vertex,       s->home,     s->area, s->spacing, s->around,
                               s->around_start, s->point_of, s->xi,   s->share};
        for (int i = 0; i < PL_COUNT(block); ++i) {
            pl_free(block[i]);
        }
        pl_free(s);
    }
}
