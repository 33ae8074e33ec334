// Linear functionals: h = c . x of one vertex, summed over pieces. Their second derivatives are 0.
#include "actuator/actuator_impl.h"

pl_status pl_functional_add_linear(pl_functional *h, int32_t node, const double coefficient[3])
{
    pl_piece *piece = pl_functional_new_piece(h, PL_PIECE_LINEAR, 1, 3);
    if (!piece) {
        return PL_NO_MEMORY;
    }
    h->node[piece->node_start] = node;
    memcpy(h->data + piece->data_start, coefficient, 3 * sizeof *coefficient);
    return PL_OK;
}

double pl_linear_value(const pl_functional *h, const pl_piece *piece, const double *x)
{
    const double *c = h->data + piece->data_start, *v = piece_vertex(h, piece, 0, x);
    return c[0] * v[0] + c[1] * v[1] + c[2] * v[2];
}

void pl_linear_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                        double *g)
{
    const double *c = h->data + piece->data_start;
    double *to = piece_slot(h, piece, 0, g);
    (void)x;
    for (int i = 0; i < 3; ++i) {
        to[i] += scale * c[i];
    }
}

void pl_linear_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                       double *H)
{
    (void)h;
    (void)piece;
    (void)x;
    (void)scale;
    (void)H;
}
