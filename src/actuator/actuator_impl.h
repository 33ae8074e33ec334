// The kinds of pieces, for this folder: value, gradient (adds scale dh/dx to g), second derivative (adds to
// H).
#ifndef PL_ACTUATOR_IMPL_H
#define PL_ACTUATOR_IMPL_H

#include "actuator/actuator.h"

#define PL_PIECE_FUNCTIONS(kind)                                                                             \
    double pl_##kind##_value(const pl_functional *h, const pl_piece *piece, const double *x);                \
    void pl_##kind##_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale,  \
                              double *g);                                                                    \
    void pl_##kind##_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale,   \
                             double *H);

PL_PIECE_FUNCTIONS(rim)
PL_PIECE_FUNCTIONS(area)
PL_PIECE_FUNCTIONS(segment)
PL_PIECE_FUNCTIONS(angle)
PL_PIECE_FUNCTIONS(grown)
PL_PIECE_FUNCTIONS(film)
PL_PIECE_FUNCTIONS(linear)

// Faces of a cavity come in runs of one kind: how many of them begin with piece t; the volume of `count` of
// them, and scale times its gradient added to g where that is given.
int pl_volume_run(const pl_functional *h, int t);
double pl_volume_faces(const pl_functional *h, int t, int count, const double *x, double scale, double *g);
void pl_volume_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                       double *H);

// A new piece with room for its vertices and data; NULL when out of memory.
pl_piece *pl_functional_new_piece(pl_functional *h, pl_piece_kind kind, int32_t nodes, int32_t data);

// Position of the j-th vertex of a piece, and below its place in a gradient.
static inline const double *piece_vertex(const pl_functional *h, const pl_piece *piece, int j,
                                         const double *x)
{
    return x + 3 * (int64_t)h->node[piece->node_start + j];
}

static inline double *piece_slot(const pl_functional *h, const pl_piece *piece, int j, double *g)
{
    return g + 3 * (int64_t)h->node[piece->node_start + j];
}

// H_ab += s [c]x, the matrix with [c]x v = c x v
static inline void hessian_add_cross(double *H, int m, int a, int b, const double c[3], double s)
{
    const int w = 3 * m;
    double *B = H + (int64_t)(3 * a) * w + 3 * b;

    B[1] -= s * c[2];
    B[2] += s * c[1];
    B[w] += s * c[2];
    B[w + 2] -= s * c[0];
    B[2 * w] -= s * c[1];
    B[2 * w + 1] += s * c[0];
}

#endif
