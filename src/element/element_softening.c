// The largest deviatoric energy that every point of a body has seen, which softens it (Mullins effect; Ogden
// and Roxburgh 1999). Within a step the energies are those where its stage began: the softened law is then an
// elastic one with a potential, which continues on the first loading where the stage leads beyond it
// (material_kernel.h). Viscous branches follow the softened stress.
#include "base/threads.h"
#include "element/element.h"
#include "material/material.h"

#define SOFTENING_GRAIN 8 // blocks, some 10 us

struct pl_softening {
    pl_elements *E;
    pl_law *law;           // per law of the elements: without viscous branches
    pl_material *material; // per law
    int64_t *start;        // per block; -1: does not soften
    int64_t size;
    double *now, *accepted; // MPa: [point][lane] per block
};

// ---- creation
static pl_status softening_allocate(pl_softening *s, pl_error *err)
{
    const pl_elements *E = s->E;
    s->law = PL_NEW_ARRAY(pl_law, E->law_count);
    s->material = PL_NEW_ARRAY(pl_material, E->law_count);
    s->start = PL_NEW_ARRAY(int64_t, E->block_count);
    if (!s->law || !s->material || !s->start) {
        return pl_fail_memory(err, "elements: softening");
    }

    for (int b = 0; b < E->block_count; ++b) {
        const bool softens = E->law[E->block[b].law].mullins_r > 0;
        s->start[b] = softens ? s->size : -1;
        s->size += softens ? (int64_t)E->block[b].point_count * PL_LANES : 0;
    }

    s->now = PL_NEW_ARRAY(double, s->size);
    s->accepted = PL_NEW_ARRAY(double, s->size);
    return s->now && s->accepted ? PL_OK : pl_fail_memory(err, "elements: softening");
}

pl_status pl_softening_create(pl_elements *E, const pl_material *const *material, pl_softening **out,
                              pl_error *err)
{
    *out = NULL;
    bool any = false;
    for (int r = 0; r < E->law_count; ++r) {
        any = any || (material[r] && material[r]->mullins_r > 0);
    }
    if (!any) {
        return PL_OK;
    }

    pl_softening *s = PL_NEW(pl_softening);
    if (!s) {
        return pl_fail_memory(err, "elements: softening");
    }
    s->E = E;
    const pl_status status = softening_allocate(s, err);
    if (status != PL_OK) {
        pl_softening_destroy(s);
        return status;
    }

    for (int r = 0; r < E->law_count; ++r) {
        s->law[r] = E->law[r];
        s->material[r] = material[r] ? *material[r] : (pl_material){0};
    }
    for (int b = 0; b < E->block_count; ++b) {
        E->block[b].largest = s->start[b] >= 0 ? s->now + s->start[b] : NULL;
    }
    *out = s;

    return PL_OK;
}

void pl_softening_destroy(pl_softening *s)
{
    if (!s) {
        return;
    }
    for (int b = 0; s->now && b < s->E->block_count; ++b) {
        s->E->block[b].largest = NULL;
    }
    pl_free(s->law);
    pl_free(s->material);
    pl_free(s->start);
    pl_free(s->now);
    pl_free(s->accepted);
    pl_free(s);
}

// ---- energies
typedef struct softening_loop {
    pl_softening *s;
    const double *x;
} softening_loop;

// W_m <- max(W_m, W)
static void softening_largest(void *context, int64_t from, int64_t to)
{
    const softening_loop *w = context;
    const pl_softening *s = w->s;
    const pl_kernels *kernels = pl_kernels_choose();
    double spent[PL_POINTS_MAX * PL_LANES];

    for (int64_t b = from; b < to; ++b) {
        if (s->start[b] < 0) {
            continue;
        }
        const pl_block *block = &s->E->block[b];
        double *largest = s->now + s->start[b];
        kernels->spent(block, &s->law[block->law], w->x, spent);
        for (int k = 0; k < block->point_count * PL_LANES; ++k) {
            largest[k] = fmax(largest[k], spent[k]);
        }
    }
}

void pl_softening_advance(pl_softening *s, const double *x)
{
    if (s) {
        softening_loop w = {.s = s, .x = x};
        pl_loop(s->E->block_count, SOFTENING_GRAIN, softening_largest, &w);
    }
}

void pl_softening_start(pl_softening *s, const double *x)
{
    if (s) {
        memset(s->now, 0, (size_t)s->size * sizeof *s->now);
        pl_softening_advance(s, x);
        pl_softening_accept(s);
    }
}

void pl_softening_accept(pl_softening *s)
{
    if (s) {
        memcpy(s->accepted, s->now, (size_t)s->size * sizeof *s->now);
    }
}

void pl_softening_revert(pl_softening *s)
{
    if (s) {
        memcpy(s->now, s->accepted, (size_t)s->size * sizeof *s->now);
    }
}

double pl_softening_heat(const pl_softening *s)
{
    double heat = 0;
    for (int b = 0; s && b < s->E->block_count; ++b) {
        const pl_block *block = &s->E->block[b];
        for (int k = 0; s->start[b] >= 0 && k < block->point_count * PL_LANES; ++k) {
            const double weight = k % PL_LANES < block->lane_count ? block->weight[k] : 0;
            heat += weight * pl_material_softening_heat(&s->material[block->law], s->now[s->start[b] + k]);
        }
    }

    return heat;
}

// ---- states
int64_t pl_softening_count(const pl_softening *s)
{
    return s ? s->size : 0;
}

void pl_softening_write(const pl_softening *s, double *out)
{
    if (s) {
        memcpy(out, s->accepted, (size_t)s->size * sizeof *out);
    }
}

void pl_softening_read(pl_softening *s, const double *in)
{
    if (s) {
        memcpy(s->now, in, (size_t)s->size * sizeof *in);
        pl_softening_accept(s);
    }
}
