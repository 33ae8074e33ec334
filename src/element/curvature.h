// Between the two files of layers: the change of curvature of a face, and the kinks at its edges.
#ifndef PL_CURVATURE_H
#define PL_CURVATURE_H

#include "element/layer.h"

// At a Gauss point of an edge: t along the edge, m into the face and into its neighbour.
typedef struct pl_kink {
    double t[3], m[2][3];
    double phi;           // change of the angle since rest
    double g[2][3], c[2]; // of both sides, after pl_curvature_pull
} pl_kink;

typedef struct pl_curvature {
    double K[3];                  // b - B + R, covariant (11, 22, 12)
    double a[2][3], second[3][3]; // tangents and second derivatives at the centre
    double n[3], length;          // normal, |a1 x a2|
    pl_kink kink[3][2];
} pl_curvature;

void pl_curvature_eval(const pl_face_table *table, const pl_layer_face *face, const double *x,
                       pl_curvature *out);

// g += sum_k U_k dK_k/dx, kinks included, and `penalty` times the derivative of their penalties.
void pl_curvature_pull(const pl_face_table *table, const pl_layer_face *face, pl_curvature *curvature,
                       const double U[3], double penalty, double *g);

// H (stride x stride) += d2/dx2 of sum_k M_k b_k, without kinks.
void pl_curvature_curve(const pl_face_table *table, const pl_curvature *curvature, const double M[3],
                        int stride, double *H);

// out += scale dphi/dx and H += scale d2phi/dx2 of one kink, after pl_curvature_pull.
void pl_kink_pull(const pl_face_table *table, const pl_layer_face *face, int edge, int g, const pl_kink *kink,
                  double scale, double *out);
void pl_kink_curve(const pl_face_table *table, const pl_layer_face *face, int edge, int g,
                   const pl_kink *kink, double scale, int stride, double *H);

#endif
