// What a solver remembers beyond a pl_state, as one block of doubles: the vertices inside filled chambers (3
// each), then per actuator mode, target, measure, effort, active, and the range of its local ratios.
#include "geometric/geometric.h"
#include "geometric/geometric_impl.h"

#define MEMORY_PER_DRIVE 7

static size_t memory_inside(const pl_geometric *g)
{
    return 3 * (size_t)(g->vertex_count - g->corner_count);
}

size_t pl_geometric_pack(const pl_geometric *g, double *block, size_t room)
{
    const size_t inside = memory_inside(g), need = inside + MEMORY_PER_DRIVE * (size_t)g->drive_count;
    if (!block || room < need) {
        return need;
    }
    memcpy(block, g->x + 3 * (size_t)g->corner_count, inside * sizeof *block);
    double *at = block + inside;

    for (int i = 0; i < g->drive_count; ++i, at += MEMORY_PER_DRIVE) {
        const geo_drive *d = &g->drive[i];
        const double number[MEMORY_PER_DRIVE] = {d->mode,   d->target,    d->measure,   d->effort,
                                                 d->active, d->local_low, d->local_high};
        memcpy(at, number, sizeof number);
    }

    return need;
}

static void memory_rest(pl_geometric *g)
{
    const size_t first = 3 * (size_t)g->corner_count;
    memcpy(g->x + first, g->X + first, memory_inside(g) * sizeof *g->x);
    for (int i = 0; i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        d->mode = GEO_IDLE;
        d->target = NAN;
        d->measure = d->rest;
        d->effort = 0;
        d->active = false;
        d->local_low = d->local_high = NAN;
    }
}

void pl_geometric_unpack(pl_geometric *g, const double *block)
{
    if (!block) {
        memory_rest(g);
        return;
    }

    const size_t inside = memory_inside(g);
    memcpy(g->x + 3 * (size_t)g->corner_count, block, inside * sizeof *block);
    const double *at = block + inside;

    for (int i = 0; i < g->drive_count; ++i, at += MEMORY_PER_DRIVE) {
        geo_drive *d = &g->drive[i];
        const int mode = at[0] >= GEO_IDLE && at[0] <= GEO_GROWTH ? (int)at[0] : GEO_IDLE;
        d->mode = (geo_mode)mode;
        d->target = at[1];
        d->measure = at[2];
        d->effort = at[3];
        d->active = at[4] != 0;
        d->local_low = at[5];
        d->local_high = at[6];
    }
}
