// Building functionals, and dispatch over their terms.
#include "actuator/actuator_impl.h"

void pl_functional_clear(pl_functional *h)
{
    pl_free(h->term);
    pl_free(h->node);
    pl_free(h->data);
    *h = (pl_functional){0};
}

pl_term *pl_functional_new_term(pl_functional *h, pl_term_kind kind, int32_t nodes, int32_t data)
{
    int32_t capacity = h->term_capacity;
    if (!pl_grow((void **)&h->term, &capacity, h->term_count + 1, sizeof *h->term)) {
        return NULL;
    }
    h->term_capacity = capacity;
    if (!pl_grow((void **)&h->node, &h->node_capacity, (int64_t)h->node_count + nodes, sizeof *h->node) ||
        !pl_grow((void **)&h->data, &h->data_capacity, (int64_t)h->data_count + data, sizeof *h->data)) {
        return NULL;
    }
    pl_term *term = &h->term[h->term_count++];
    *term = (pl_term){
        .kind = kind, .node_count = nodes, .node_start = h->node_count, .data_start = h->data_count};
    h->node_count += nodes;
    h->data_count += data;
    return term;
}

static pl_status functional_add_faces(pl_functional *h, pl_term_kind kind, const pl_mesh *mesh,
                                      const int64_t *face, int64_t count)
{
    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int n = pl_mesh_face_nodes(mesh, face[f], node);
        pl_term *term = pl_functional_new_term(h, kind, n, 0);
        if (!term) {
            return PL_NO_MEMORY;
        }
        memcpy(h->node + term->node_start, node, (size_t)n * sizeof *node);
    }
    return PL_OK;
}

pl_status pl_functional_add_volume_faces(pl_functional *h, const pl_mesh *mesh, const int64_t *face,
                                         int64_t count)
{
    return functional_add_faces(h, PL_TERM_VOLUME, mesh, face, count);
}

pl_status pl_functional_add_area_faces(pl_functional *h, const pl_mesh *mesh, const int64_t *face,
                                       int64_t count)
{
    return functional_add_faces(h, PL_TERM_AREA, mesh, face, count);
}

pl_status pl_functional_add_rim(pl_functional *h, const int32_t *node, int32_t count, bool quadratic,
                                const double *apex)
{
    pl_term *term = pl_functional_new_term(h, PL_TERM_RIM, count, 0);
    if (!term) {
        return PL_NO_MEMORY;
    }
    memcpy(h->node + term->node_start, node, (size_t)count * sizeof *node);
    term->quadratic = quadratic;
    term->fixed_apex = apex != NULL;
    if (apex) {
        memcpy(term->constant, apex, sizeof term->constant);
    }
    return PL_OK;
}

// b - a = sum_j c_j x_j + constant; vertices of both points are kept side by side (a shared one appears
// twice)
pl_status pl_functional_add_segment(pl_functional *h, int32_t count_a, const int32_t *node_a,
                                    const double *weight_a, const double rest_a[3], int32_t count_b,
                                    const int32_t *node_b, const double *weight_b, const double rest_b[3])
{
    pl_term *term = pl_functional_new_term(h, PL_TERM_SEGMENT, count_a + count_b, count_a + count_b);
    if (!term) {
        return PL_NO_MEMORY;
    }
    for (int32_t j = 0; j < count_a; ++j) {
        h->node[term->node_start + j] = node_a[j];
        h->data[term->data_start + j] = -weight_a[j];
    }
    for (int32_t j = 0; j < count_b; ++j) {
        h->node[term->node_start + count_a + j] = node_b[j];
        h->data[term->data_start + count_a + j] = weight_b[j];
    }
    for (int i = 0; i < 3; ++i) {
        term->constant[i] = (count_b == 0 ? rest_b[i] : 0) - (count_a == 0 ? rest_a[i] : 0);
    }
    return PL_OK;
}

pl_status pl_functional_add_angle(pl_functional *h, int32_t count, const int32_t *node, const double *weight,
                                  const double *rest, const double axis[3])
{
    pl_term *term = pl_functional_new_term(h, PL_TERM_ANGLE, count, 6 * count);
    if (!term) {
        return PL_NO_MEMORY;
    }
    double total = 0, mean[3] = {0};
    for (int32_t j = 0; j < count; ++j) {
        total += weight[j];
        for (int i = 0; i < 3; ++i) {
            mean[i] += weight[j] * rest[3 * (int64_t)node[j] + i];
        }
    }
    memcpy(h->node + term->node_start, node, (size_t)count * sizeof *node);
    // d_j may be the position itself: sum w_j r_j = 0, so the mean drops out
    for (int32_t j = 0; j < count; ++j) {
        double r[3], *a = h->data + term->data_start + 6 * j, *b = a + 3;
        for (int i = 0; i < 3; ++i) {
            r[i] = rest[3 * (int64_t)node[j] + i] - mean[i] / total;
        }
        const double along = pl_dot3(r, axis);
        pl_cross3(axis, r, a); // axis . (r x d) = d . (axis x r)
        for (int i = 0; i < 3; ++i) {
            a[i] *= weight[j];
            b[i] = weight[j] * (r[i] - along * axis[i]);
        }
    }
    return PL_OK;
}

double pl_functional_value(const pl_functional *h, const double *x)
{
    double sum = 0;
    for (int t = 0; t < h->term_count; ++t) {
        switch (h->term[t].kind) {
        case PL_TERM_VOLUME:
            sum += pl_volume_value(h, &h->term[t], x);
            break;
        case PL_TERM_RIM:
            sum += pl_rim_value(h, &h->term[t], x);
            break;
        case PL_TERM_AREA:
            sum += pl_area_value(h, &h->term[t], x);
            break;
        case PL_TERM_SEGMENT:
            sum += pl_segment_value(h, &h->term[t], x);
            break;
        case PL_TERM_ANGLE:
            sum += pl_angle_value(h, &h->term[t], x);
            break;
        case PL_TERM_GROWN:
            sum += pl_grown_value(h, &h->term[t], x);
            break;
        }
    }
    return sum;
}

void pl_functional_gradient(const pl_functional *h, const double *x, double scale, double *g)
{
    for (int t = 0; t < h->term_count; ++t) {
        switch (h->term[t].kind) {
        case PL_TERM_VOLUME:
            pl_volume_gradient(h, &h->term[t], x, scale, g);
            break;
        case PL_TERM_RIM:
            pl_rim_gradient(h, &h->term[t], x, scale, g);
            break;
        case PL_TERM_AREA:
            pl_area_gradient(h, &h->term[t], x, scale, g);
            break;
        case PL_TERM_SEGMENT:
            pl_segment_gradient(h, &h->term[t], x, scale, g);
            break;
        case PL_TERM_ANGLE:
            pl_angle_gradient(h, &h->term[t], x, scale, g);
            break;
        case PL_TERM_GROWN:
            pl_grown_gradient(h, &h->term[t], x, scale, g);
            break;
        }
    }
}

void pl_functional_hessian(const pl_functional *h, int t, const double *x, double scale, double *H)
{
    const size_t m = 3 * (size_t)h->term[t].node_count;
    memset(H, 0, m * m * sizeof *H);
    switch (h->term[t].kind) {
    case PL_TERM_VOLUME:
        pl_volume_hessian(h, &h->term[t], x, scale, H);
        break;
    case PL_TERM_RIM:
        pl_rim_hessian(h, &h->term[t], x, scale, H);
        break;
    case PL_TERM_AREA:
        pl_area_hessian(h, &h->term[t], x, scale, H);
        break;
    case PL_TERM_SEGMENT:
        pl_segment_hessian(h, &h->term[t], x, scale, H);
        break;
    case PL_TERM_ANGLE:
        pl_angle_hessian(h, &h->term[t], x, scale, H);
        break;
    case PL_TERM_GROWN:
        pl_grown_hessian(h, &h->term[t], x, scale, H);
        break;
    }
}
