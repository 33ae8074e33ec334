// A second copy of a factor in single precision, in 16 bits: half the memory that a solve reads, which is
// what a solve costs. For factors that precondition many solves.
//
// A panel is cut into blocks of PACKED_COLUMNS columns. A block holds the lower triangle of its diagonal in
// floats (the reciprocals of the pivots on the diagonal), and below it tiles of PACKED_ROWS rows, each with
// the scale of its largest entry:
//   L_ic = scale q_ic,   |q_ic| <= 32767,   columns one after another, rows beyond the last are zeros.
// Sums have the order of the tiles, whatever the number of threads. Included by solver_substitute.h.
#ifndef PL_SOLVER_PACKED_H
#define PL_SOLVER_PACKED_H

#include "solver/solver_tile.h"

#define PACKED_PARTS (PACKED_ROWS / TILE_LANES) // vectors of a column of a tile
#define PACKED_MOST 32767.0f

typedef int16_t packed_vector __attribute__((vector_size(TILE_LANES * 2), may_alias));
typedef int32_t packed_whole __attribute__((vector_size(TILE_BYTES), may_alias));

// One block of columns: where its parts lie.
typedef struct packed_block {
    float *triangle; // width x width
    float *scale;    // per tile
    int16_t *tile;
    int width, tiles;
} packed_block;

// The block of columns that begins at `column`; `at` is moved behind it.
TILE_INLINE packed_block packed_block_at(char **at, int64_t f, int k, int column)
{
    packed_block b = {.width = tile_least(k - column, PACKED_COLUMNS)};
    b.tiles = ((int)f - column - b.width + PACKED_ROWS - 1) / PACKED_ROWS;
    b.triangle = (float *)*at;
    b.scale = b.triangle + b.width * b.width;
    b.tile = (int16_t *)(*at + packed_head_size(b.width, b.tiles));
    *at += packed_block_size(b.width, b.tiles);

    return b;
}

// Rows `from` .. of a block of columns, PACKED_ROWS each, zeros beyond the last one.
TILE_INLINE void packed_gather(const float *L, int64_t f, int count, int width, float *tile)
{
    for (int c = 0; c < width; ++c, tile += PACKED_ROWS) {
        if (count == PACKED_ROWS) {
            memcpy(tile, L + c * f, PACKED_ROWS * sizeof *tile);
        } else {
            memset(tile, 0, PACKED_ROWS * sizeof *tile);
            memcpy(tile, L + c * f, (size_t)count * sizeof *tile);
        }
    }
}

TILE_INLINE float packed_largest(const float *tile, int width)
{
    float lane[PACKED_ROWS] = {0}, largest = 0;
    for (int c = 0; c < width; ++c) {
#pragma omp simd
        for (int i = 0; i < PACKED_ROWS; ++i) {
            const float size = __builtin_fabsf(tile[c * PACKED_ROWS + i]);
            lane[i] = size > lane[i] ? size : lane[i];
        }
    }

    for (int i = 0; i < PACKED_ROWS; ++i) {
        largest = lane[i] > largest ? lane[i] : largest;
    }

    return largest;
}

// To the nearest integer: added to 1.5 2^23 it stands in the last bits of the sum.
TILE_INLINE void packed_round(const float *tile, float inverse, int width, int16_t *to)
{
    for (int i = 0; i < width * PACKED_ROWS; i += TILE_LANES) {
        const tile_vector sum = *(const tile_loose *)(tile + i) * inverse + 12582912.0f;
        *(packed_vector *)(to + i) = __builtin_convertvector((packed_whole)sum, packed_vector);
    }
}

// The block of columns that begins at L, the diagonal.
static void packed_write(const packed_block *b, const float *L, int64_t f, int rows)
{
    for (int c = 0; c < b->width; ++c) {
        for (int i = c; i < b->width; ++i) {
            b->triangle[c * b->width + i] = i == c ? 1 / L[c * f + c] : L[c * f + i];
        }
    }
    for (int t = 0; t < b->tiles; ++t) {
        float tile[PACKED_COLUMNS * PACKED_ROWS];
        const int from = b->width + t * PACKED_ROWS;
        packed_gather(L + from, f, tile_least(rows - from, PACKED_ROWS), b->width, tile);
        const float largest = packed_largest(tile, b->width);
        b->scale[t] = largest / PACKED_MOST;
        packed_round(tile, largest > 0 ? PACKED_MOST / largest : 0, b->width,
                     b->tile + (int64_t)t * PACKED_ROWS * b->width);
    }
}

static void packed_fronts(void *context, int64_t from, int64_t to)
{
    const multifrontal *m = context;
    const front_tree *t = &m->tree;
    const unsigned mode = tile_flush_begin();

    for (int64_t s = from; s < to; ++s) {
        const int k = front_pivots(t, (int32_t)s);
        const int64_t f = k + front_rows_below(t, (int32_t)s);
        const float *L = (const float *)m->factor + t->panel[s];
        char *at = m->packed + m->packed_start[s];
        for (int c = 0; c < k; c += PACKED_COLUMNS) {
            const packed_block b = packed_block_at(&at, f, k, c);
            packed_write(&b, L + c * (f + 1), f, (int)f - c);
        }
    }

    tile_flush_end(mode);
}

static void front_pack(multifrontal *m)
{
    pl_loop(m->tree.count, 16, packed_fronts, m);
}

TILE_INLINE tile_vector packed_numbers(const int16_t *q)
{
    return __builtin_convertvector(*(const packed_vector *)q, tile_vector);
}

// y_i -= sum_c L_ic y_c for the rows i below the columns c of a block, which are solved first.
TILE_INLINE void packed_down(const packed_block *b, float *y, int width)
{
    float v[PACKED_COLUMNS];
#pragma GCC unroll 8
    for (int c = 0; c < width; ++c) {
        float sum = y[c];
#pragma GCC unroll 8
        for (int d = 0; d < c; ++d) {
            sum -= b->triangle[d * width + c] * v[d];
        }
        y[c] = v[c] = sum * b->triangle[c * width + c];
    }
    y += width;
    const int16_t *q = b->tile;
    for (int t = 0; t < b->tiles; ++t, q += PACKED_ROWS * width, y += PACKED_ROWS) {
#pragma GCC unroll 4
        for (int part = 0; part < PACKED_PARTS; ++part) {
            tile_vector sum = {0};
#pragma GCC unroll 8
            for (int c = 0; c < width; ++c) {
                sum += packed_numbers(q + c * PACKED_ROWS + part * TILE_LANES) * v[c];
            }
            *(tile_loose *)(y + part * TILE_LANES) -= b->scale[t] * sum;
        }
    }
}

// The transposed: y_c = (y_c - sum_i L_ic y_i) / L_cc over the rows below, last column first.
TILE_INLINE void packed_up(const packed_block *b, float *y, int width)
{
    tile_vector sum[PACKED_COLUMNS] = {0};
    const float *below = y + width;
    const int16_t *q = b->tile;
    for (int t = 0; t < b->tiles; ++t, q += PACKED_ROWS * width, below += PACKED_ROWS) {
#pragma GCC unroll 4
        for (int part = 0; part < PACKED_PARTS; ++part) {
            const tile_vector scaled = b->scale[t] * *(const tile_loose *)(below + part * TILE_LANES);
#pragma GCC unroll 8
            for (int c = 0; c < width; ++c) {
                sum[c] += packed_numbers(q + c * PACKED_ROWS + part * TILE_LANES) * scaled;
            }
        }
    }
#pragma GCC unroll 8
    for (int c = width - 1; c >= 0; --c) {
        float value = y[c];
        for (int lane = 0; lane < TILE_LANES; ++lane) {
            value -= sum[c][lane];
        }
#pragma GCC unroll 8
        for (int d = c + 1; d < width; ++d) {
            value -= b->triangle[c * width + d] * y[d];
        }
        y[c] = value * b->triangle[c * width + c];
    }
}

// Blocks are PACKED_COLUMNS wide but the last one: each width has a loop of its own.
#define PACKED_EACH_WIDTH(run)                                                                               \
    switch (b.width) {                                                                                       \
    case 1:                                                                                                  \
        run(&b, y + c, 1);                                                                                   \
        break;                                                                                               \
    case 2:                                                                                                  \
        run(&b, y + c, 2);                                                                                   \
        break;                                                                                               \
    case 3:                                                                                                  \
        run(&b, y + c, 3);                                                                                   \
        break;                                                                                               \
    case 4:                                                                                                  \
        run(&b, y + c, 4);                                                                                   \
        break;                                                                                               \
    case 5:                                                                                                  \
        run(&b, y + c, 5);                                                                                   \
        break;                                                                                               \
    case 6:                                                                                                  \
        run(&b, y + c, 6);                                                                                   \
        break;                                                                                               \
    case 7:                                                                                                  \
        run(&b, y + c, 7);                                                                                   \
        break;                                                                                               \
    default:                                                                                                 \
        run(&b, y + c, PACKED_COLUMNS);                                                                      \
        break;                                                                                               \
    }

// [y1; y2] <- [L11^-1 y1; y2 - L21 L11^-1 y1]; y has PACKED_ROWS zeros behind its f rows
static void packed_panel_down(const multifrontal *m, int32_t s, int64_t f, int k, float *y)
{
    char *at = m->packed + m->packed_start[s];
    for (int c = 0; c < k; c += PACKED_COLUMNS) {
        const packed_block b = packed_block_at(&at, f, k, c);
        PACKED_EACH_WIDTH(packed_down)
    }
}

// y1 <- L11^-T (y1 - L21^T y2)
static void packed_panel_up(const multifrontal *m, int32_t s, int64_t f, int k, float *y)
{
    char *at = m->packed + m->packed_start[s + 1];
    for (int c = (k - 1) / PACKED_COLUMNS * PACKED_COLUMNS; c >= 0; c -= PACKED_COLUMNS) {
        const int width = tile_least(k - c, PACKED_COLUMNS),
                  tiles = ((int)f - c - width + PACKED_ROWS - 1) / PACKED_ROWS;
        at -= packed_block_size(width, tiles);
        char *here = at;
        const packed_block b = packed_block_at(&here, f, k, c);
        PACKED_EACH_WIDTH(packed_up)
    }
}
#undef PACKED_EACH_WIDTH

#endif
