// How much the robot may deviate from its model before a proportional-integral controller loses stability:
// the largest gain gamma of the deviation that the small-gain condition allows,
// as a linear matrix inequality.
// max g over P = P^T and g:  Z1 = -M(P, g) >= 0,  Z2 = P >= 0, with
//   M = [A^T P A - P + g C^T C, A^T P B; B^T P A, B^T P B - 1],  g = gamma^2.
// In CSDP's dual form: min a . y, Z = sum y_i A_i - C >= 0, with y = (p0, p1, p2, g), a = (0, 0, 0, -1), and
// the constant part of Z1 (a 1 in its corner) as -C.
#include "cli_lmi.h"
#ifdef PLIANT_CSDP
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stdio.h>
#include <declarations.h>

// column.
static void lmi_column(double kp, double ki, int unknown, double out[9])
{
    const double A[4] = {1 - kp, -ki, 1, 1}, C[2] = {kp, ki};
    const double P[4] = {unknown == 0, unknown == 1, unknown == 1, unknown == 2};
    double AtP[4];

    memset(out, 0, 9 * sizeof *out);

    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            AtP[2 * i + j] = A[i] * P[j] + A[2 + i] * P[2 + j];
        }
    }

    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            out[3 * i + j] = -(AtP[2 * i] * A[j] + AtP[2 * i + 1] * A[2 + j] - P[2 * i + j]);
            out[3 * i + j] -= unknown == 3 ? C[i] * C[j] : 0;
        }

        out[3 * i + 2] = out[6 + i] = AtP[2 * i];
    }

    out[8] = -P[0];
}

// Adds a block to a constraint: the nonzero entries of its upper triangle. CSDP frees it.
static void lmi_block(struct constraintmatrix *constraint, int number, int block, int size,
                      const double *entry)
{
    struct sparseblock *b = calloc(1, sizeof *b);
    int count = 0;

    if (!b) {
        return;
    }
    b->entries = calloc((size_t)(size * size) + 1, sizeof *b->entries);
    b->iindices = calloc((size_t)(size * size) + 1, sizeof *b->iindices);
    b->jindices = calloc((size_t)(size * size) + 1, sizeof *b->jindices);

    for (int i = 0; b->entries && b->iindices && b->jindices && i < size; ++i) {
        for (int j = i; j < size; ++j) {
            if (entry[size * i + j] != 0) {
                ++count; // indices and entries from 1
                b->iindices[count] = i + 1;
                b->jindices[count] = j + 1;
                b->entries[count] = entry[size * i + j];
            }
        }
    }

    b->numentries = count;
    b->blocknum = block;
    b->blocksize = size;
    b->constraintnum = number;
    b->next = constraint->blocks;
    constraint->blocks = b;
}

// returns the descriptor for lmi_speak.
static int lmi_hush(void)
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }

    return kept;
}

// Standard output as it was.
static void lmi_speak(int kept)
{
    fflush(stdout);
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
}

// The margin gamma and the P that proves it; NULL, or why there is none.
const char *cli_lmi_margin(double kp, double ki, double *gamma, double P[3])
{
    struct blockmatrix C = {.nblocks = 2, .blocks = calloc(3, sizeof *C.blocks)};
    struct constraintmatrix *constraint = calloc(5, sizeof *constraint);
    double *a = calloc(5, sizeof *a);

    if (!C.blocks || !constraint || !a) {
        return "out of memory";
    }

    // the constant part: block 1 is Z1 (3 x 3), block 2 is Z2 (2 x 2); CSDP counts from 1
    for (int k = 1; k <= 2; ++k) {
        const int size = k == 1 ? 3 : 2;
        C.blocks[k].blockcategory = MATRIX;
        C.blocks[k].blocksize = size;
        C.blocks[k].data.mat = calloc((size_t)(size * size), sizeof(double));
        if (!C.blocks[k].data.mat) {
            return "out of memory";
        }
    }

    C.blocks[1].data.mat[8] = -1;
    a[4] = -1;

    // one constraint matrix per unknown; g does not enter Z2
    for (int i = 0; i < 4; ++i) {
        double M[9];
        const double unit[4] = {i == 0, i == 1, i == 1, i == 2};
        lmi_column(kp, ki, i, M);
        lmi_block(&constraint[i + 1], i + 1, 1, 3, M);
        if (i < 3) {
            lmi_block(&constraint[i + 1], i + 1, 2, 2, unit);
        }
    }

    struct blockmatrix X, Z;
    double *y = NULL, primal, dual;
    const int kept = lmi_hush();
    initsoln(5, 4, C, a, constraint, &X, &y, &Z);
    const int ended = easy_sdp(5, 4, C, a, constraint, 0, &X, &y, &Z, &primal, &dual);
    lmi_speak(kept);

    // 3: less accurate than asked, still a bound to three digits or better
    const char *why = ended == 0 || ended == 3 ? NULL : "CSDP found no solution";
    if (!why) {
        *gamma = sqrt(fmax(y[4], 0));
        memcpy(P, y + 1, 3 * sizeof *P);
    }

    free_prob(5, 4, C, a, constraint, X, y, Z);

    return why;
}
#else
const char *cli_lmi_margin(double kp, double ki, double *gamma, double P[3])
{
    (void)kp;
    (void)ki;
    (void)gamma;
    (void)P;
    return "this program was built without CSDP (package libsdp-dev)";
}
#endif
