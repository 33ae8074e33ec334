// Blocks of eight cells side by side and the table of kernels that work on them; all the kernels see.
#ifndef PL_GEOMETRIC_BLOCK_H
#define PL_GEOMETRIC_BLOCK_H

#include <stdint.h>
#include "pliant/material.h"

#define GEO_LANES 8
#define GEO_GRAIN 8 // blocks handed to a thread together, some 5 us
#define GEO_NODES 6
#define GEO_POINTS 6

// Below this volume ratio the target turns from the blend to the rest shape, which it is from J = 0 on: a
// flat or inverted cell has no shape of its own to be scaled back to its volume.
#define GEO_FLAT_J 0.1

typedef enum geo_target {
    GEO_BLEND,     // T = R Rot + (1 - R) J^(-1/3) F
    GEO_CURVE,     // T = R Rot + (1 - R) V(F), V(F) nearest of determinant 1, R by the curve
    GEO_MU_LAMBDA, // D = (mu (F - Rot) + lambda / 2 (tr(Rot^T F) - 3) Rot) / w
    GEO_SCALE,     // T = cbrt(ratio) Rot: chamber tets
    GEO_FILM       // T = Rot G, G = sqrt(ratio) in the film's plane, 1 / ratio across
} geo_target;

// What draws a group of cells: D = F - T, energy w |D|^2 (mu_lambda: its own), force 2 w D.
typedef struct geo_law {
    geo_target target;
    double w, R, mu, lambda;
    double inverse_reach; // curve: entries per sqrt(I1bar - 3)
    const double *curve;
} geo_law;

// Every array has the lane as its last index; unused lanes repeat the first cell with weight 0.
typedef struct geo_block {
    int node_count, point_count, lane_count;
    int law;
    int32_t cell[GEO_LANES]; // element of the corner mesh; -1: filled chamber
    int32_t node[GEO_NODES][GEO_LANES];
    double *gradient; // [point][node][3][lane]; vertex metric: of the best affine map
    double *weight;   // [point][lane]: rest volume
    double *arm;      // vertex metric: centred rest positions [node][3][lane]; else NULL
    double *normal;   // films: [point][3][lane]
    int64_t force_start;
    int64_t growth_start; // growth points: [point][lane]; -1 for body cells
} geo_block;

typedef struct geo_kernels {
    const char *name;
    // Energy and smallest J per lane; forces [node][3][lane] when given. `ratio` per growth point.
    void (*local)(const geo_block *block, const geo_law *law, const double *x, const double *ratio,
                  double *energy, double *min_J, double *force);
    // Per growth point: det F (films: ratio of areas) and tr(Rot^T F) / 3, the stretch that fits best.
    void (*measure)(const geo_block *block, const geo_law *law, const double *x, double *measure,
                    double *stretch);
    // Films, per growth point at its ratio r: e(r) = min over Rot of |F - Rot G(r)|^2 - |F|^2 times the
    // point's volume, and its first two derivatives by r.
    void (*film)(const geo_block *block, const double *x, const double *ratio, double *value, double *slope,
                 double *bend);
    // Rotations of n matrices (n a multiple of 8; entry-major blocks of eight): for benches and tests.
    void (*rotations)(const double *F, double *R, int64_t blocks);
} geo_kernels;

const geo_kernels *geo_kernels_choose(void);

// The rotation nearest to F for any F, by eigenvectors: where the closed form is ill-conditioned.
void geo_rotation_slow(const double F[9], double R[9]);

// The matrix with determinant 1 nearest to F, det F > 0.
void geo_nearest_volume(const double F[9], double V[9]);

#endif
