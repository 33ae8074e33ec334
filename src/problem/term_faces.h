// What terms on faces share (layers, fibres): lists of vertices as pieces of the tangent.
#ifndef PL_TERM_FACES_H
#define PL_TERM_FACES_H

#include "element/layer.h"
#include "problem/problem_impl.h"

// One piece per face, in the order of the list; only the vertices of the functional are used.
typedef struct faces_pieces {
    pl_functional h;
    pl_slots slots;
} faces_pieces;

static inline pl_status faces_pieces_create(faces_pieces *out, int64_t count, int64_t nodes)
{
    out->h.piece = PL_NEW_ARRAY(pl_piece, count);
    out->h.node = PL_NEW_ARRAY(int32_t, nodes);
    out->h.piece_capacity = (int)count;
    out->h.node_capacity = (int32_t)nodes;
    return out->h.piece && out->h.node ? PL_OK : PL_NO_MEMORY;
}

static inline void faces_pieces_add(faces_pieces *out, const int32_t *node, int count)
{
    out->h.piece[out->h.piece_count++] = (pl_piece){.node_count = count, .node_start = out->h.node_count};
    memcpy(out->h.node + out->h.node_count, node, (size_t)count * sizeof *node);
    out->h.node_count += count;
}

static inline void faces_pieces_clear(faces_pieces *pieces)
{
    pl_functional_clear(&pieces->h);
    pl_slots_clear(&pieces->slots);
}

static inline void faces_gather(const double *x, const int32_t *node, int count, double *out)
{
    for (int a = 0; a < count; ++a) {
        memcpy(out + 3 * a, x + 3 * (int64_t)node[a], 3 * sizeof *x);
    }
}

// Tables of faces with 3 and with 6 nodes.
typedef struct faces_tables {
    pl_face_table linear, quadratic;
} faces_tables;

static inline void faces_tables_init(faces_tables *t)
{
    pl_face_table_init(&t->linear, 3);
    pl_face_table_init(&t->quadratic, 6);
}

#endif
