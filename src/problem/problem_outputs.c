// Outputs of all terms, numbered through in the order of the list: measures, efforts, readings.
#include "problem/problem_impl.h"

// The term that tells output k, which becomes its number there.
static const pl_problem_term *output_term(const pl_problem *p, int *k)
{
    PROBLEM_EACH (p, t, outputs) {
        const int count = t->kind->outputs->count(t->self);
        if (*k < count) {
            return t;
        }
        *k -= count;
    }
    return NULL;
}

int pl_problem_output_count(const pl_problem *p)
{
    int count = 0;
    PROBLEM_EACH (p, t, outputs) {
        count += t->kind->outputs->count(t->self);
    }
    return count;
}

pl_output pl_problem_output(const pl_problem *p, int k)
{
    const pl_problem_term *t = output_term(p, &k);
    PL_ASSERT(t);
    return t->kind->outputs->about(t->self, k);
}

double pl_problem_value(pl_problem *p, const pl_state *state, int k)
{
    const pl_problem_term *t = output_term(p, &k);
    PL_ASSERT(t);
    pl_problem_recall(p, state);
    const double value = t->kind->outputs->value(t->self, p, state, k);
    pl_problem_resume(p);
    return value;
}

double pl_problem_change(pl_problem *p, const pl_state *state, int k, const double *dx, const double *mu,
                         const pl_parameter *q)
{
    const pl_problem_term *t = output_term(p, &k);
    PL_ASSERT(t);
    return t->kind->outputs->change(t->self, p, state, k, dx, mu, q);
}

void problem_pull_back(pl_problem *p, const pl_state *state, int k, double weight, double *full, double *rho)
{
    const pl_problem_term *t = output_term(p, &k);
    PL_ASSERT(t);
    t->kind->outputs->pull_back(t->self, p, state, k, weight, full, rho);
}

int pl_problem_find_output(const pl_problem *p, pl_output_kind kind, int index)
{
    const int count = pl_problem_output_count(p);
    int readings = 0;

    for (int k = 0; k < count; ++k) {
        const pl_output output = pl_problem_output(p, k);
        const int is = kind == PL_OUTPUT_READING ? readings : output.actuator;
        if (output.kind == kind && is == index) {
            return k;
        }
        readings += output.kind == PL_OUTPUT_READING;
    }

    return -1;
}
