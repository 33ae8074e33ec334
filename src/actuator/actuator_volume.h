// Volumes of faces, several at once: the constants of a kind of face, and the kernel that is compiled for
// every instruction set.
#ifndef PL_ACTUATOR_VOLUME_H
#define PL_ACTUATOR_VOLUME_H

#include "actuator/actuator_impl.h"

#define TRIPLES_MAX 56
#define PAIRS_MAX 28
#define VOLUME_NODES 8 // most of a face
#define VOLUME_LANES 8 // faces at once

typedef struct volume_table {
    int count; // triples with tau not 0
    int triple[TRIPLES_MAX][3];
    double tau[TRIPLES_MAX];
    // the gradient: dV/dx_a = sum over pairs b < c of weight_bc,a x_b x x_c
    int pair_count;
    int pair[PAIRS_MAX][2];
    double weight[PAIRS_MAX][VOLUME_NODES];
} volume_table;

typedef struct volume_kernel {
    const char *isa;
    // V of the first `lanes` faces with these nodes; where g is given, adds scale dV/dx to it.
    double (*faces)(const volume_table *table, int nodes, const int32_t *const node[VOLUME_LANES], int lanes,
                    const double *x, double scale, double *g);
} volume_kernel;

#endif
