// Total energy and its gradient at positions x, multipliers, residual.
#include <float.h>
#include "statics/statics_impl.h"

double statics_evaluate(pl_statics *s, const double *x, double *g)
{
    double energy = statics_elastic(s, x, g ? s->g_full : NULL, NULL);
    if (isinf(energy) || s->growth_failed) {
        return INFINITY;
    }
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        drive_evaluate(d, &s->robot->actuator[i], x);
        energy += drive_energy(d, &s->robot->actuator[i]);
    }
    const int64_t n = 3 * (int64_t)s->mesh.vertex_count;
    double work = 0;
    for (int64_t i = 0; i < n; ++i) {
        work += s->dead[i] * (x[i] - s->mesh.position[i]);
    }
    energy -= s->load * work;
    for (int i = 0; i < s->load_term_count; ++i) {
        energy -= s->load * s->load_term[i].factor * pl_functional_value(&s->load_term[i].h, x);
    }
    if (!g) {
        return energy;
    }
    for (int64_t i = 0; i < n; ++i) {
        s->g_full[i] -= s->load * s->dead[i];
    }
    for (int i = 0; i < s->load_term_count; ++i) {
        pl_functional_gradient(&s->load_term[i].h, x, -s->load * s->load_term[i].factor, s->g_full);
    }
    // potentials act through the gradient, constraints and curved potentials also need their row
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        if (d->grown.joint) {
            statics_grown_row(s, i, x);
            continue;
        }
        const bool row = d->mode == MODE_CONSTRAINT || d->curvature != 0;
        if (row) {
            memset(s->g_trial, 0, (size_t)n * sizeof *s->g_trial);
            pl_functional_gradient(&d->h, x, 1, s->g_trial);
            statics_gather(s, s->g_trial, x, d->row);
        }
        if (d->mode != MODE_CONSTRAINT && d->effort != 0) {
            if (row) {
                for (int64_t k = 0; k < n; ++k) {
                    s->g_full[k] += d->sign * d->effort * s->g_trial[k];
                }
            } else {
                pl_functional_gradient(&d->h, x, d->sign * d->effort, s->g_full);
            }
        }
    }
    statics_gather(s, s->g_full, x, g);
    return energy;
}

// The multipliers p solve Y^T A^T p = Y^T g in the metric of the factor (a stale basis Y is fine, it only has
// to be the same on both sides); the residual r = g - A^T p is what remains.
double statics_residual(pl_statics *s, const double *g, double *r)
{
    memcpy(r, g, (size_t)s->n * sizeof *r);
    int active[STATICS_BORDERS], m = 0;
    for (int k = 0; k < s->border_count; ++k) {
        const drive *d = &s->drive[s->border[k]];
        if (d->mode == MODE_CONSTRAINT && d->active) {
            active[m++] = k;
        }
    }
    if (m > 0) {
        double S[STATICS_BORDERS * STATICS_BORDERS], p[STATICS_BORDERS];
        for (int a = 0; a < m; ++a) {
            const double *Y = s->border_solution + (int64_t)active[a] * s->n;
            p[a] = 0;
            for (int32_t i = 0; i < s->n; ++i) {
                p[a] += Y[i] * g[i];
            }
            for (int b = 0; b < m; ++b) {
                const double *row = s->drive[s->border[active[b]]].row;
                double sum = 0;
                for (int32_t i = 0; i < s->n; ++i) {
                    sum += Y[i] * row[i];
                }
                S[a * m + b] = sum;
            }
        }
        if (pl_dense_solve(m, S, p, 1)) {
            for (int a = 0; a < m; ++a) {
                drive *d = &s->drive[s->border[active[a]]];
                d->effort = -d->sign * p[a];
                for (int32_t i = 0; i < s->n; ++i) {
                    r[i] -= p[a] * d->row[i];
                }
            }
        }
    }
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        if (d->mode == MODE_CONSTRAINT && !d->active) {
            d->effort = 0;
        }
    }
    return statics_largest(s, r, true);
}

// The largest nodal force of the elements, held vertices included: what the residual is measured against.
double statics_force_scale(pl_statics *s)
{
    // the element room keeps the element forces of the last evaluation; the largest nodal sum of the loads
    // and reactions is the same as that of the elastic forces at equilibrium
    double largest = 0;
    for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
        double f[3] = {0};
        for (int64_t i = s->elements->vertex_start[v]; i < s->elements->vertex_start[v + 1]; ++i) {
            const double *entry = s->elements->force + s->elements->vertex_code[i];
            for (int k = 0; k < 3; ++k) {
                f[k] += entry[k * PL_LANES];
            }
        }
        largest = fmax(largest, pl_dot3(f, f));
    }
    // without any load the scale is the force of a strain of 1e-7 on one element
    const double h = s->size / cbrt((double)s->mesh.element_count);
    const double floor = 1e-7 * s->stiffness * h * h;
    // what rounding alone leaves of a balance: positions of a body of `size` are good to eps size, strains of
    // an element of edge h to eps size / h, its forces to eps size h times the modulus
    const double noise = 8 * DBL_EPSILON * s->modulus * s->size * h;
    return fmax(fmax(sqrt(largest), floor), noise / s->options.force_tolerance);
}

bool statics_go_on(pl_statics *s)
{
    if (s->finishing) {
        return true;
    }
    if (s->options.time_limit > 0 && pl_seconds() - s->started > s->options.time_limit) {
        return false;
    }
    if (!s->stopped && !pl_progress_step(&s->options.progress, -1, "solving")) {
        s->stopped = true;
    }
    return !s->stopped;
}

void statics_gaps(pl_statics *s, double *rho)
{
    for (int k = 0; k < s->border_count; ++k) {
        const drive *d = &s->drive[s->border[k]];
        rho[k] = d->mode == MODE_CONSTRAINT ? d->value - d->measure : 0;
    }
}
