// Building functionals, and dispatch over their pieces.
#include "actuator/actuator_impl.h"

void pl_functional_clear(pl_functional *h)
{
    pl_free(h->piece);
    pl_free(h->node);
    pl_free(h->data);
    *h = (pl_functional){0};
}

// Growing arrays move: pointers to pieces are valid until the next piece is added.
pl_piece *pl_functional_new_piece(pl_functional *h, pl_piece_kind kind, int32_t nodes, int32_t data)
{
    int32_t capacity = h->piece_capacity;
    if (!pl_grow((void **)&h->piece, &capacity, h->piece_count + 1, sizeof *h->piece)) {
        return NULL;
    }
    h->piece_capacity = capacity;
    if (!pl_grow((void **)&h->node, &h->node_capacity, (int64_t)h->node_count + nodes, sizeof *h->node) ||
        !pl_grow((void **)&h->data, &h->data_capacity, (int64_t)h->data_count + data, sizeof *h->data)) {
        return NULL;
    }

    pl_piece *piece = &h->piece[h->piece_count++];
    *piece = (pl_piece){
        .kind = kind, .node_count = nodes, .node_start = h->node_count, .data_start = h->data_count};
    h->node_count += nodes;
    h->data_count += data;

    return piece;
}

// One piece per face.
static pl_status functional_add_faces(pl_functional *h, pl_piece_kind kind, const pl_mesh *mesh,
                                      const int64_t *face, int64_t count)
{
    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int n = pl_mesh_face_nodes(mesh, face[f], node);
        pl_piece *piece = pl_functional_new_piece(h, kind, n, 0);
        if (!piece) {
            return PL_NO_MEMORY;
        }
        memcpy(h->node + piece->node_start, node, (size_t)n * sizeof *node);
    }

    return PL_OK;
}

pl_status pl_functional_add_volume_faces(pl_functional *h, const pl_mesh *mesh, const int64_t *face,
                                         int64_t count)
{
    return functional_add_faces(h, PL_PIECE_VOLUME, mesh, face, count);
}

pl_status pl_functional_add_area_faces(pl_functional *h, const pl_mesh *mesh, const int64_t *face,
                                       int64_t count)
{
    return functional_add_faces(h, PL_PIECE_AREA, mesh, face, count);
}

// A piece for a loop or chain of vertices.
static pl_piece *functional_add_curve(pl_functional *h, const int32_t *node, int32_t count, bool quadratic)
{
    pl_piece *piece = pl_functional_new_piece(h, PL_PIECE_RIM, count, 0);
    if (piece) {
        memcpy(h->node + piece->node_start, node, (size_t)count * sizeof *node);
        piece->quadratic = quadratic;
    }

    return piece;
}

pl_status pl_functional_add_rim(pl_functional *h, const int32_t *node, int32_t count, bool quadratic,
                                const double *apex)
{
    pl_piece *piece = functional_add_curve(h, node, count, quadratic);
    if (!piece) {
        return PL_NO_MEMORY;
    }
    for (int i = 0; i < 3; ++i) {
        piece->follows[i] = !apex;
        piece->constant[i] = apex ? apex[i] : 0;
    }

    return PL_OK;
}

pl_status pl_functional_add_arc(pl_functional *h, const int32_t *node, int32_t count, bool quadratic,
                                const double origin[3], const double apex[3], const bool follows[3])
{
    pl_piece *piece = functional_add_curve(h, node, count, quadratic);
    if (!piece) {
        return PL_NO_MEMORY;
    }
    piece->open = true;
    memcpy(piece->origin, origin, sizeof piece->origin);
    memcpy(piece->constant, apex, sizeof piece->constant);
    memcpy(piece->follows, follows, sizeof piece->follows);

    return PL_OK;
}

// b - a = sum_j c_j x_j + constant; vertices of both points are kept side by side (a shared one appears
// twice)
pl_status pl_functional_add_segment(pl_functional *h, int32_t count_a, const int32_t *node_a,
                                    const double *weight_a, const double rest_a[3], int32_t count_b,
                                    const int32_t *node_b, const double *weight_b, const double rest_b[3])
{
    pl_piece *piece = pl_functional_new_piece(h, PL_PIECE_SEGMENT, count_a + count_b, count_a + count_b);
    if (!piece) {
        return PL_NO_MEMORY;
    }

    // a with minus, b with plus; points without vertices are constant
    for (int32_t j = 0; j < count_a; ++j) {
        h->node[piece->node_start + j] = node_a[j];
        h->data[piece->data_start + j] = -weight_a[j];
    }

    for (int32_t j = 0; j < count_b; ++j) {
        h->node[piece->node_start + count_a + j] = node_b[j];
        h->data[piece->data_start + count_a + j] = weight_b[j];
    }

    for (int i = 0; i < 3; ++i) {
        piece->constant[i] = (count_b == 0 ? rest_b[i] : 0) - (count_a == 0 ? rest_a[i] : 0);
    }

    return PL_OK;
}

pl_status pl_functional_add_angle(pl_functional *h, int32_t count, const int32_t *node, const double *weight,
                                  const double *rest, const double axis[3])
{
    pl_piece *piece = pl_functional_new_piece(h, PL_PIECE_ANGLE, count, 6 * count);
    if (!piece) {
        return PL_NO_MEMORY;
    }

    // weighted mean
    double total = 0, mean[3] = {0};
    for (int32_t j = 0; j < count; ++j) {
        total += weight[j];
        for (int i = 0; i < 3; ++i) {
            mean[i] += weight[j] * rest[3 * (int64_t)node[j] + i];
        }
    }

    memcpy(h->node + piece->node_start, node, (size_t)count * sizeof *node);

    // d_j may be the position itself: sum w_j r_j = 0, so the mean drops out
    for (int32_t j = 0; j < count; ++j) {
        double r[3], *a = h->data + piece->data_start + 6 * j, *b = a + 3;
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

// ---- the kinds of pieces
// What a kind can do; pieces of volume are evaluated in runs, several faces at once.
typedef struct piece_row {
    double (*value)(const pl_functional *h, const pl_piece *piece, const double *x);
    void (*gradient)(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *g);
    void (*hessian)(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *H);
} piece_row;

#define PIECE(name)                                                                                          \
    {                                                                                                        \
        pl_##name##_value, pl_##name##_gradient, pl_##name##_hessian                                         \
    }
static const piece_row piece_table[PL_PIECE_KIND_COUNT] = {
    [PL_PIECE_VOLUME] = {NULL, NULL, pl_volume_hessian}, // by runs of faces
    [PL_PIECE_RIM] = PIECE(rim),
    [PL_PIECE_AREA] = PIECE(area),
    [PL_PIECE_SEGMENT] = PIECE(segment),
    [PL_PIECE_ANGLE] = PIECE(angle),
    [PL_PIECE_GROWN] = PIECE(grown),
    [PL_PIECE_FILM] = PIECE(film),
    [PL_PIECE_LINEAR] = PIECE(linear),
};

double pl_functional_evaluate(const pl_functional *h, const double *x, double scale, double *g)
{
    double sum = 0;
    for (int t = 0, run = 1; t < h->piece_count; t += run) {
        const pl_piece *piece = &h->piece[t];
        run = 1;

        if (piece->kind == PL_PIECE_VOLUME) {
            run = pl_volume_run(h, t);
            sum += pl_volume_faces(h, t, run, x, scale, g);
            continue;
        }

        sum += piece_table[piece->kind].value(h, piece, x);
        if (g) {
            piece_table[piece->kind].gradient(h, piece, x, scale, g);
        }
    }

    return sum;
}

double pl_functional_value(const pl_functional *h, const double *x)
{
    return pl_functional_evaluate(h, x, 0, NULL);
}

void pl_functional_gradient(const pl_functional *h, const double *x, double scale, double *g)
{
    for (int t = 0, run = 1; t < h->piece_count; t += run) {
        const pl_piece *piece = &h->piece[t];
        run = 1;
        if (piece->kind == PL_PIECE_VOLUME) {
            run = pl_volume_run(h, t);
            pl_volume_faces(h, t, run, x, scale, g);
        } else {
            piece_table[piece->kind].gradient(h, piece, x, scale, g);
        }
    }
}

// Clears H first: it is the matrix of this piece alone.
void pl_functional_hessian(const pl_functional *h, int t, const double *x, double scale, double *H)
{
    const pl_piece *piece = &h->piece[t];
    const size_t m = 3 * (size_t)piece->node_count;
    memset(H, 0, m * m * sizeof *H);
    piece_table[piece->kind].hessian(h, piece, x, scale, H);
}
