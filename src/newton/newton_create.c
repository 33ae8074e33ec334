// Memory of Newton's method: taken once, before the first solve.
#include "newton/newton_impl.h"

// All vectors it owns, by length: 3 per vertex, unknowns, pressures.
typedef struct newton_vectors {
    double **full[7], **unknown[5 + 2 * NEWTON_PAIRS], **pressure[4];
} newton_vectors;

static newton_vectors newton_list(pl_newton_solver *N)
{
    newton_work *w = &N->work;
    newton_vectors list = {
        .full = {&w->x_start, &w->x_best, &w->x_trial, &w->x_before, &w->dx, &w->x_predicted,
                 &w->x_reference},
        .unknown = {&w->g, &w->r, &w->d, &w->y, &w->g_new},
        .pressure = {&w->pressure_ahead, &w->pressure_step, &w->pressure_before, &w->pressure_start},
    };

    for (int i = 0; i < NEWTON_PAIRS; ++i) {
        list.unknown[5 + i] = &N->memory.s[i];
        list.unknown[5 + NEWTON_PAIRS + i] = &N->memory.y[i];
    }

    return list;
}

static bool newton_take_vectors(double **const *vector, int count, int64_t length)
{
    bool taken = true;
    for (int i = 0; i < count; ++i) {
        *vector[i] = PL_NEW_ARRAY(double, length);
        taken = taken && *vector[i];
    }
    return taken;
}

static void newton_free_vectors(double **const *vector, int count)
{
    for (int i = 0; i < count; ++i) {
        pl_free(*vector[i]);
        *vector[i] = NULL;
    }
}

pl_status pl_newton_init(pl_newton_solver *N, pl_problem *problem, bool corotate, pl_error *err)
{
    *N = (pl_newton_solver){.problem = problem, .corotate = corotate};
    const newton_vectors list = newton_list(N);
    const bool full = newton_take_vectors(list.full, PL_COUNT(list.full),
                                          3 * (int64_t)problem->mesh.vertex_count),
               unknown = newton_take_vectors(list.unknown, PL_COUNT(list.unknown), problem->unknowns.n),
               pressure = newton_take_vectors(list.pressure, PL_COUNT(list.pressure),
                                              problem->elements->pressure_count);
    return full && unknown && pressure ? newton_corotate_create(N, err)
                                       : pl_fail_memory(err, "newton: work space");
}

void pl_newton_clear(pl_newton_solver *N)
{
    const newton_vectors list = newton_list(N);
    newton_corotate_destroy(N);
    newton_free_vectors(list.full, PL_COUNT(list.full));
    newton_free_vectors(list.unknown, PL_COUNT(list.unknown));
    newton_free_vectors(list.pressure, PL_COUNT(list.pressure));
}
