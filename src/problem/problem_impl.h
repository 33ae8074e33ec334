// Inside the problem room: what its files share.
#ifndef PL_PROBLEM_IMPL_H
#define PL_PROBLEM_IMPL_H

#include "problem/problem.h"
#include "problem/problem_terms.h"

// ---- problem_unknowns.c
pl_status problem_number(pl_problem *p, pl_error *err);
void problem_unknowns_clear(pl_unknowns *unknowns);
void problem_rigid_centres(pl_problem *p, const double *x);

// ---- problem_pattern.c: pairs of groups of unknowns, by their first unknowns, row <= column
typedef struct pattern_entry {
    int32_t row, column;
    int64_t code; // what its owner wants to remember: 2 * code + swapped; -1
} pattern_entry;

struct pl_pattern {
    pattern_entry *entry;
    int64_t count, capacity;
    bool failed; // out of memory
};
void pattern_add(pl_pattern *pattern, int32_t a, int32_t b, int64_t code);
void pattern_reserve(pl_pattern *pattern, int64_t count); // room for so many, not less than it has
pl_status pattern_sort(pl_pattern *pattern, int32_t n, pl_error *err); // by column, then row, stable
void pattern_clear(pl_pattern *pattern);

// Axes of the unknowns in the group that starts at each unknown; pressures have one part, rigid bodies six.
typedef struct pattern_group {
    uint8_t count, part[3];
    bool pressure;
    int32_t number; // of a pressure
} pattern_group;

pattern_group *pattern_groups(const pl_problem *p); // per unknown; NULL: no memory

// ---- problem_eval.c: lays out a pattern that has changed
pl_status problem_refresh(pl_problem *p, pl_error *err);
double problem_evaluate_at(pl_problem *p, pl_contact_mode contacts, const double *x, double *g);

// ---- problem_turn.c

// ---- problem_outputs.c
// full += weight d(output k)/dx, rho[row] += weight d(output k)/d(multiplier)
void problem_pull_back(pl_problem *p, const pl_state *state, int k, double weight, double *full, double *rho);

// ---- problem_sensitivity.c
// -dG/dq into b (unknowns) and dt/dq into target (per row), at a state that is evaluated.
pl_status sensitivity_side(pl_problem *p, const pl_state *state, const pl_parameter *q, double *b,
                           double *target, pl_error *err);

// Each term that has something to say about `function`.
#define PROBLEM_EACH(p, t, function)                                                                         \
    for (const pl_problem_term *t = (p)->term; t < (p)->term + (p)->term_count; ++t)                         \
        if (t->kind->function)
#define PROBLEM_STEPS(p, t, function)                                                                        \
    for (const pl_problem_term *t = (p)->term; t < (p)->term + (p)->term_count; ++t)                         \
        if (t->kind->steps && t->kind->steps->function)

// The own numbers of a term of that kind; NULL: the robot has none.
void *problem_term_of(const pl_problem *p, const pl_term *kind);

// ---- term_elements.c: dE/dx of the body at a state, sharing nothing with evaluations
void problem_elements_reference(pl_problem *p, const pl_state *state, double *full);

// ---- problem_turn.c
pl_status problem_turn_create(pl_problem *p, pl_error *err);

// ---- problem_single.c
bool problem_single_serves(pl_problem *p); // the factor just made in single precision
void problem_single_look(
    pl_problem *p); // the next factor in single precision is checked, whatever came before
void problem_solve_columns(pl_problem *p, double *b, int count); // b <- P^-1 b, P as it was made, unturned

// The same for one step of an iteration, whose errors the next one corrects: in 16 bits where that pays.
void problem_precondition(pl_problem *p, double *b);

// ---- problem_modes.c
void problem_modes_add(pl_problem *p, const double *b, double *d); // to d = S b: the modes made positive

double problem_dot(const double *a, const double *b, int32_t n);

#endif
