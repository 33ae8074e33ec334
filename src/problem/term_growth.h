// The term of growth, between its two files.
#ifndef PL_TERM_GROWTH_H
#define PL_TERM_GROWTH_H

#include "problem/term_drive.h"

// An actuator whose command changes the stress-free shape of its elements.
typedef struct growing {
    const pl_actuator *a;
    int actuator;    // its number
    pl_functional h; // what it measures
    drive_path path; // goals are ratios
    // elements drawn to their own grown shape (term_grown.c); without any, the region's elements grow
    bool drawn;
    pl_functional grown;
    pl_slots slots;
    double whole, target; // sum of all shares: in the undeformed configuration, and asked for
    double target_kept;   // before `recall`
    int row;              // of joint ratios; -1
} growing;

typedef struct growth_term {
    growing *drive;
    int count;
    bool failed;            // the shapes asked for cannot be had: no energy
    pl_growth *growth;      // per region: asked for
    pl_growth *growth_kept; // before `recall`
} growth_term;

// ---- term_grown.c
bool grown_is_drawn(const pl_problem *p, const pl_actuator *a);
pl_status grown_create(pl_problem *p, growing *g, pl_error *err);
double grown_least(const growing *g); // ratio below which nothing is left to shorten
void grown_ask(growing *g, double ratio);

// Energy of these elements at x; INFINITY when no ratios meet the target. Forces are added to `full` (may be
// NULL), with row and curvature of joint ratios.
double grown_energy(pl_problem *p, growing *g, const double *x, double *full);

// Effort after an evaluation at x; its derivative with respect to the ratio at fixed x (may be NULL); scale
// times that with respect to x is added to `full` (may be NULL).
double grown_effort(const pl_problem *p, const growing *g, const double *x, double *by_ratio, double scale,
                    double *full);
double grown_rate(const pl_problem *p, const growing *g, const double *x); // dE/d(ratio) at fixed x

// full += scale dG/d(ratio)
void grown_force(const pl_problem *p, const growing *g, const double *x, double scale, double *full);

#endif
