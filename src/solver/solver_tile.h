// Dense work in tiles that stay in registers, for numbers of type front_real: products A S B^T and
// triangular solves. A general BLAS does the same, but small fronts pay for its calls, and one that does not
// know a new processor falls back to the instructions of an old one.
//
// A tile has TILE_ROWS rows (two vectors) and TILE_COLUMNS columns; strips of A and B are packed side by
// side so that the loop over k reads both in order:
//   a[p TILE_ROWS + i] = A(i, p),   b[p TILE_COLUMNS + j] = -s_p B(j, p),   T(i, j) += sum_p a b.
// Sums run over p in ascending order whatever the number of threads.
#ifndef PL_SOLVER_TILE_H
#define PL_SOLVER_TILE_H

#include "solver/solver_front.h"

#if defined(__AVX512F__) // 32 registers of 64 bytes: 24 hold the tile
#define TILE_BYTES 64
#define TILE_COLUMNS 12
#define TILE_SOLVE 8    // columns of a triangular solve at a time
#elif defined(__AVX2__) // 16 of 32 bytes: 12 hold the tile
#define TILE_BYTES 32
#define TILE_COLUMNS 6
#define TILE_SOLVE 4
#else
#define TILE_BYTES 16
#define TILE_COLUMNS 4
#define TILE_SOLVE 4
#endif
#define TILE_LANES ((int)(TILE_BYTES / sizeof(front_real)))
#define TILE_ROWS (2 * TILE_LANES)
#define TILE_INLINE static inline __attribute__((always_inline))

typedef front_real tile_vector __attribute__((vector_size(TILE_BYTES), may_alias));
typedef front_real tile_loose
    __attribute__((vector_size(TILE_BYTES), aligned(__alignof__(front_real)), may_alias));

// sixteen bytes, for what is left of a column when its last vectors have been taken
typedef front_real tile_short __attribute__((vector_size(16), aligned(__alignof__(front_real)), may_alias));
#define TILE_SHORT ((int)(16 / sizeof(front_real)))

// Fill-in far from the diagonal may fall below the smallest normal float, where an operation takes a hundred
// times as long: between these calls such numbers are zeros. Each thread has a mode of its own.
static unsigned tile_flush_begin(void)
{
#if defined(FRONT_SINGLE) && defined(__x86_64__)
    const unsigned mode = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(mode | 0x8040); // results and operands
    return mode;
#else
    return 0;
#endif
}

static void tile_flush_end(unsigned mode)
{
#if defined(FRONT_SINGLE) && defined(__x86_64__)
    __builtin_ia32_ldmxcsr(mode);
#else
    (void)mode;
#endif
}

static int tile_least(int a, int b)
{
    return a < b ? a : b;
}

// T += a b for a tile of which rows x columns count; `add` false: T = a b.
static void tile_product(int k, const front_real *restrict a, const front_real *restrict b,
                         front_real *restrict T, int64_t ldt, int rows, int columns, bool add)
{
    tile_vector sum[TILE_COLUMNS][2] = {0};
    for (int p = 0; p < k; ++p) {
        const tile_vector a0 = *(const tile_vector *)a, a1 = *(const tile_vector *)(a + TILE_LANES);
#pragma GCC unroll 12
        for (int j = 0; j < TILE_COLUMNS; ++j) {
            sum[j][0] += a0 * b[j];
            sum[j][1] += a1 * b[j];
        }
        a += TILE_ROWS;
        b += TILE_COLUMNS;
    }
    if (rows == TILE_ROWS && columns == TILE_COLUMNS) {
#pragma GCC unroll 12
        for (int j = 0; j < TILE_COLUMNS; ++j) {
            tile_loose *t = (tile_loose *)(T + j * ldt), *u = (tile_loose *)(T + j * ldt + TILE_LANES);
            if (add) {
                sum[j][0] += *t;
                sum[j][1] += *u;
            }
            *t = sum[j][0];
            *u = sum[j][1];
        }
        return;
    }
    _Alignas(TILE_BYTES) front_real whole[TILE_COLUMNS * TILE_ROWS];
#pragma GCC unroll 12
    for (int j = 0; j < TILE_COLUMNS; ++j) {
        *(tile_vector *)(whole + j * TILE_ROWS) = sum[j][0];
        *(tile_vector *)(whole + j * TILE_ROWS + TILE_LANES) = sum[j][1];
    }
    for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < rows; ++i) {
            T[j * ldt + i] = whole[j * TILE_ROWS + i] + (add ? T[j * ldt + i] : 0);
        }
    }
}

// Strips of A, TILE_ROWS rows each; rows that are missing in the last one are zeros. Column by column: a
// column lies together, and the next one may be pages away.
static void tile_pack_rows(const front_real *A, int64_t lda, int m, int k, front_real *restrict out)
{
    const int whole = m / TILE_ROWS * TILE_ROWS;
    for (int p = 0; p < k; ++p, A += lda) {
        front_real *to = out + (int64_t)p * TILE_ROWS;
        for (int i = 0; i < whole; i += TILE_ROWS) {
            *(tile_vector *)(to + (int64_t)i * k) = *(const tile_loose *)(A + i);
            *(tile_vector *)(to + (int64_t)i * k + TILE_LANES) = *(const tile_loose *)(A + i + TILE_LANES);
        }
        for (int i = whole; whole < m && i < whole + TILE_ROWS; ++i) {
            to[(int64_t)whole * k + i - whole] = i < m ? A[i] : 0;
        }
    }
}

// Strips of -B S, TILE_COLUMNS rows of B each; `sign` NULL: S = I.
static void tile_pack_columns(const front_real *B, int64_t ldb, int n, int k, const double *sign,
                              front_real *restrict out)
{
    const int whole = n / TILE_COLUMNS * TILE_COLUMNS;
    for (int p = 0; p < k; ++p, B += ldb) {
        const front_real s = sign && sign[p] < 0 ? 1 : -1;
        front_real *to = out + (int64_t)p * TILE_COLUMNS;
        for (int j = 0; j < whole; j += TILE_COLUMNS) {
#pragma GCC unroll 12
            for (int c = 0; c < TILE_COLUMNS; ++c) {
                to[(int64_t)j * k + c] = s * B[j + c];
            }
        }
        for (int j = whole; whole < n && j < whole + TILE_COLUMNS; ++j) {
            to[(int64_t)whole * k + j - whole] = j < n ? s * B[j] : 0;
        }
    }
}

// What a product reads and writes: T = [T] - A S B^T with A m x k and B n x k.
typedef struct tile_task {
    front_real *T;
    int64_t ldt;
    int m, n;
    const front_real *A, *B;
    int64_t lda, ldb;
    int k;
    const double *sign; // of the columns of A and B; NULL: all positive
    bool add;           // otherwise T is overwritten
    bool lower;         // only the lower triangle of T is wanted; entries above it are left undefined
} tile_task;

// `pack`: FRONT_PACK numbers.
static void tile_update(const tile_task *t, front_real *pack)
{
    front_real *a = (front_real *)(((uintptr_t)pack + FRONT_ALIGN - 1) & ~(uintptr_t)(FRONT_ALIGN - 1));
    front_real *b = a + FRONT_DEPTH * FRONT_CHUNK;
    const int wide = FRONT_CHUNK / TILE_COLUMNS * TILE_COLUMNS;

    for (int p = 0; p < t->k; p += FRONT_DEPTH) {
        const int depth = tile_least(t->k - p, FRONT_DEPTH);
        const bool add = t->add || p > 0;
        for (int j = 0; j < t->n; j += wide) {
            const int columns = tile_least(t->n - j, wide);
            tile_pack_columns(t->B + p * t->ldb + j, t->ldb, columns, depth, t->sign ? t->sign + p : NULL, b);
            for (int i = t->lower ? j / TILE_ROWS * TILE_ROWS : 0; i < t->m; i += FRONT_CHUNK) {
                const int rows = tile_least(t->m - i, FRONT_CHUNK);
                tile_pack_rows(t->A + p * t->lda + i, t->lda, rows, depth, a);
                for (int c = 0; c < columns; c += TILE_COLUMNS) {
                    // tiles that end above the diagonal are left out
                    const int above = t->lower && j + c > i ? (j + c - i) / TILE_ROWS * TILE_ROWS : 0;
                    for (int r = above; r < rows; r += TILE_ROWS) {
                        tile_product(depth, a + r * depth, b + c * depth, t->T + (j + c) * t->ldt + i + r,
                                     t->ldt, tile_least(rows - r, TILE_ROWS),
                                     tile_least(columns - c, TILE_COLUMNS), add);
                    }
                }
            }
        }
    }
}

// Columns J .. J + width of the strip W (column c at W + c TILE_ROWS), those before them solved:
//   y_j = (a_j - sum_{c < j} y_c L_jc) / L_jj.
TILE_INLINE void tile_solve_block(front_real *W, const front_real *L, int64_t lda, const front_real *inverse,
                                  int J, int width)
{
    tile_vector y[TILE_SOLVE][2];
#pragma GCC unroll 8
    for (int j = 0; j < width; ++j) {
        y[j][0] = *(const tile_vector *)(W + (J + j) * TILE_ROWS);
        y[j][1] = *(const tile_vector *)(W + (J + j) * TILE_ROWS + TILE_LANES);
    }
    for (int c = 0; c < J; ++c) {
        const front_real *l = L + c * lda + J;
        const tile_vector w0 = *(const tile_vector *)(W + c * TILE_ROWS),
                          w1 = *(const tile_vector *)(W + c * TILE_ROWS + TILE_LANES);
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
            y[j][0] -= w0 * l[j];
            y[j][1] -= w1 * l[j];
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < width; ++j) {
#pragma GCC unroll 8
        for (int c = 0; c < j; ++c) {
            const front_real l = L[(J + c) * lda + J + j];
            y[j][0] -= y[c][0] * l;
            y[j][1] -= y[c][1] * l;
        }
        y[j][0] *= inverse[J + j];
        y[j][1] *= inverse[J + j];
        *(tile_vector *)(W + (J + j) * TILE_ROWS) = y[j][0];
        *(tile_vector *)(W + (J + j) * TILE_ROWS + TILE_LANES) = y[j][1];
    }
}

// X = A L^-T S for m rows, in place; L has n columns, at most FRONT_BLOCK.
static void tile_solve_rows(front_real *A, int m, const front_real *L, int64_t lda, int n, const double *sign)
{
    front_real inverse[FRONT_BLOCK];
    _Alignas(TILE_BYTES) front_real W[FRONT_BLOCK * TILE_ROWS];
    for (int j = 0; j < n; ++j) {
        inverse[j] = 1 / L[j * (lda + 1)];
    }

    for (int i = 0; i < m; i += TILE_ROWS) {
        const int rows = tile_least(m - i, TILE_ROWS);
        tile_pack_rows(A + i, lda, rows, n, W);
        int J = 0;
        for (; J + TILE_SOLVE <= n; J += TILE_SOLVE) {
            tile_solve_block(W, L, lda, inverse, J, TILE_SOLVE);
        }
        for (; J + 2 <= n; J += 2) {
            tile_solve_block(W, L, lda, inverse, J, 2);
        }
        for (; J < n; ++J) {
            tile_solve_block(W, L, lda, inverse, J, 1);
        }
        for (int j = 0; j < n; ++j) {
            const front_real *w = W + j * TILE_ROWS, s = sign[j] < 0 ? -1 : 1;
            front_real *to = A + j * lda + i;
            if (rows == TILE_ROWS) {
                *(tile_loose *)to = s * *(const tile_vector *)w;
                *(tile_loose *)(to + TILE_LANES) = s * *(const tile_vector *)(w + TILE_LANES);
            } else {
                for (int r = 0; r < rows; ++r) {
                    to[r] = s * w[r];
                }
            }
        }
    }
}

#endif
