// Inverse kinematics of a learned model at a fixed rate. All memory is allocated in create; a solve evaluates
// the networks a bounded number of times. networks a bounded number of times.
#include "learned/learned.h"

#define REACH_COMMANDS 16 // on the stack

struct pl_reach {
    pl_learned *l;
    pl_reach_options o;
    int C;
    double *marker, *jacobian, *network_slope; // of all markers
    double *target;                            // input of the direct inverse
};

pl_reach_options pl_reach_options_default(void)
{
    return (pl_reach_options){.method = PL_REACH_NEWTON, .least_motion = 0, .shrink = 0.5};
}

// `learned` must outlive the result. Tolerances default to a share of the width of the workspace.
pl_status pl_reach_create(pl_learned *learned, const pl_reach_options *options, pl_reach **out, pl_error *err)
{
    *out = NULL;
    const pl_model_info *i = &learned->about.info;
    if (options->method < 0 || options->method >= PL_REACH_METHOD_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "reach: method %d is unknown", (int)options->method);
    }
    if (options->marker < 0 || options->marker >= i->marker_count) {
        return pl_fail(err, PL_BAD_INPUT, "reach: there is no marker %d, the model has %d", options->marker,
                       i->marker_count);
    }

    if (i->command_count > REACH_COMMANDS) {
        return pl_fail(err, PL_BAD_INPUT, "reach: %d commands, at most %d", i->command_count, REACH_COMMANDS);
    }

    if (!(options->least_motion >= 0) || !(options->shrink > 0 && options->shrink < 1) ||
        !(options->tolerance >= 0)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "reach: least_motion and tolerance must not be negative, shrink must lie between 0 and 1");
    }

    if (options->method == PL_REACH_DIRECT && (!learned->network[PL_LEARN_INVERSE] || options->marker != 0)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "reach: the model has no direct-inverse network of this marker (learn it with --inverse)");
    }

    pl_reach *r = PL_NEW(pl_reach);
    const int64_t M = 3 * (int64_t)i->marker_count, C = i->command_count;
    double *block = PL_NEW_ARRAY(double, M + 2 * M * C + 3);

    if (!r || !block) {
        pl_free(r);
        pl_free(block);
        return pl_fail_memory(err, "the inverse");
    }

    *r = (pl_reach){.l = learned, .o = *options, .C = (int)C, .marker = block};
    r->jacobian = block + M;
    r->network_slope = r->jacobian + M * C;
    r->target = r->network_slope + M * C;

    // without axes all count
    const bool any = options->axes[0] || options->axes[1] || options->axes[2];
    for (int k = 0; k < 3; ++k) {
        r->o.axes[k] = !any || options->axes[k];
    }

    const bool newton = options->method == PL_REACH_NEWTON;
    r->o.tolerance = options->tolerance > 0 ? options->tolerance : (newton ? 1e-4 : 1e-3) * learned->width;
    r->o.evaluation_limit = options->evaluation_limit > 0 ? options->evaluation_limit : newton ? 25 : 20000;
    *out = r;

    return PL_OK;
}

void pl_reach_destroy(pl_reach *reach)
{
    if (reach) {
        pl_free(reach->marker);
        pl_free(reach);
    }
}

// Position (mm) and its derivative by the commands (3 x commands; may be NULL).
void pl_reach_forward(pl_reach *r, const double *command, double position[3], double *jacobian)
{
    pl_learned_markers(r->l, command, r->marker, jacobian ? r->jacobian : NULL);
    memcpy(position, r->marker + 3 * r->o.marker, 3 * sizeof *position);
    if (jacobian) {
        memcpy(jacobian, r->jacobian + 3 * r->o.marker * r->C, 3 * (size_t)r->C * sizeof *jacobian);
    }
}

// Distance on the axes that count; d: p - target.
static double reach_gap(const pl_reach *r, const double *p, const double *target, double d[3])
{
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
        d[k] = r->o.axes[k] ? p[k] - target[k] : 0;
        sum += d[k] * d[k];
    }

    return sqrt(sum);
}

// Sampled range of a command, 1 where it has none.
static double reach_span(const pl_learned *l, int c)
{
    return l->high[c] > l->low[c] ? l->high[c] - l->low[c] : 1;
}

// (H + mu I) s = -g over the free commands by elimination with pivoting on the diagonal (H is positive
// semidefinite); held ones stay.
static void reach_step(int C, const double *H, const double *g, const bool *held, double mu, double *s)
{
    double A[REACH_COMMANDS][REACH_COMMANDS + 1];
    int index[REACH_COMMANDS], n = 0;

    for (int c = 0; c < C; ++c) {
        s[c] = 0;
        if (!held[c]) {
            index[n++] = c;
        }
    }

    // matrix and right side of the free commands
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            A[i][j] = H[index[i] * C + index[j]] + (i == j ? mu : 0);
        }
        A[i][n] = -g[index[i]];
    }

    for (int i = 0; i < n; ++i) {
        const double pivot = A[i][i];
        if (!(pivot > 1e-300)) {
            return;
        }
        for (int k = i + 1; k < n; ++k) {
            const double f = A[k][i] / pivot;
            for (int j = i; j <= n; ++j) {
                A[k][j] -= f * A[i][j];
            }
        }
    }

    // back substitution
    for (int i = n - 1; i >= 0; --i) {
        double v = A[i][n];
        for (int j = i + 1; j < n; ++j) {
            v -= A[i][j] * s[index[j]];
        }
        s[index[i]] = v / A[i][i];
    }
}

// Minimises 1/2 |p(c) - target|^2 + 1/2 w^2 |z - z0|^2 in z = commands over their sampled ranges:
// Gauss-Newton with damping; commands at a bound that pushes outwards are held.
static pl_reach_result reach_newton(pl_reach *r, const double target[3], double *command)
{
    const int C = r->C;
    pl_learned *l = r->l;
    double p[3], d[3], J[3 * REACH_COMMANDS], H[REACH_COMMANDS * REACH_COMMANDS], g[REACH_COMMANDS],
        s[REACH_COMMANDS], trial[REACH_COMMANDS], start[REACH_COMMANDS], w2 = r->o.least_motion;
    bool held[REACH_COMMANDS];
    pl_reach_result result = {.evaluations = 1};

    w2 *= w2;

    // start within the sampled box
    for (int c = 0; c < C; ++c) {
        command[c] = fmin(fmax(isnan(command[c]) ? 0.5 * (l->low[c] + l->high[c]) : command[c], l->low[c]),
                          l->high[c]);
        start[c] = command[c];
    }

    pl_reach_forward(r, command, p, J);
    double gap = reach_gap(r, p, target, d), cost = 0.5 * gap * gap;
    double mu = 1e-6 * l->width * l->width;

    while (result.evaluations < r->o.evaluation_limit && (gap > r->o.tolerance || w2 > 0)) {
        // gradient and Gauss-Newton matrix in parts of the ranges
        memset(g, 0, sizeof g);
        memset(H, 0, sizeof H);
        for (int a = 0; a < C; ++a) {
            for (int k = 0; k < 3; ++k) {
                g[a] += J[k * C + a] * d[k] * reach_span(l, a) * r->o.axes[k];
            }
            for (int b = 0; b < C; ++b) {
                for (int k = 0; k < 3; ++k) {
                    H[a * C + b] +=
                        J[k * C + a] * J[k * C + b] * reach_span(l, a) * reach_span(l, b) * r->o.axes[k];
                }
            }

            g[a] += w2 * (command[a] - start[a]) / reach_span(l, a);
            H[a * C + a] += w2;
            held[a] = (command[a] <= l->low[a] && g[a] > 0) || (command[a] >= l->high[a] && g[a] < 0);
        }

        reach_step(C, H, g, held, mu, s);
        // to the nearest bound at most, in every command
        double size = 0;
        for (int c = 0; c < C; ++c) {
            trial[c] = fmin(fmax(command[c] + s[c] * reach_span(l, c), l->low[c]), l->high[c]);
            size = fmax(size, fabs(trial[c] - command[c]) / reach_span(l, c));
        }

        if (size < 1e-9) {
            break;
        }

        // accept what lowers the cost; damping as in Levenberg-Marquardt
        double q[3], e[3], K[3 * REACH_COMMANDS], motion = 0;
        pl_reach_forward(r, trial, q, K);
        ++result.evaluations;
        const double fresh_gap = reach_gap(r, q, target, e);
        for (int c = 0; c < C; ++c) {
            motion += pow((trial[c] - start[c]) / reach_span(l, c), 2);
        }
        const double fresh = 0.5 * fresh_gap * fresh_gap + 0.5 * w2 * motion;

        if (fresh < cost) {
            const bool settled = cost - fresh < 1e-6 * cost && w2 > 0;
            memcpy(command, trial, (size_t)C * sizeof *trial);
            memcpy(d, e, sizeof d);
            memcpy(J, K, (size_t)(3 * C) * sizeof *J);
            gap = fresh_gap;
            cost = fresh;
            mu *= 0.2;
            if (settled) {
                break;
            }
        } else {
            mu = fmax(8 * mu, 1e-6 * l->width * l->width);
        }
    }

    result.distance = gap;
    result.converged = gap <= r->o.tolerance;

    return result;
}

// As published: c <- c - h dO/dc with dO/dc = -2 (p_i - p) J, J by the Jacobian network; the soft line search
// shrinks h while the objective grows and lets it grow again after a success.
static pl_reach_result reach_published(pl_reach *r, const double target[3], double *command)
{
    const int C = r->C;
    pl_learned *l = r->l;
    pl_network *separate = l->network[PL_LEARN_JACOBIAN];
    double p[3], d[3], J[3 * REACH_COMMANDS], g[REACH_COMMANDS], trial[REACH_COMMANDS];
    pl_reach_result result = {.evaluations = 1};

    for (int c = 0; c < C; ++c) {
        command[c] = fmin(fmax(isnan(command[c]) ? 0.5 * (l->low[c] + l->high[c]) : command[c], l->low[c]),
                          l->high[c]);
    }

    const bool plain = separate && !l->adaptation;
    pl_reach_forward(r, command, p, plain ? NULL : J);
    double gap = reach_gap(r, p, target, d), h = 0.1 / (l->width * l->width);

    while (gap > r->o.tolerance && result.evaluations < r->o.evaluation_limit) {
        if (plain) {
            pl_network_evaluate(separate, command, r->network_slope, NULL);
            memcpy(J, r->network_slope + 3 * r->o.marker * C, (size_t)(3 * C) * sizeof *J);
        }

        // gradient of |p - target|^2
        double size = 0;
        for (int c = 0; c < C; ++c) {
            g[c] = 0;
            for (int k = 0; k < 3; ++k) {
                g[c] += 2 * d[k] * J[k * C + c] * reach_span(l, c);
            }
            size = fmax(size, fabs(g[c]));
        }

        bool better = false;
        if (!(size > 0)) {
            break;
        }

        // soft line search
        while (!better && result.evaluations < r->o.evaluation_limit && h * size > 1e-9) {
            double q[3], e[3];
            for (int c = 0; c < C; ++c) {
                trial[c] = fmin(fmax(command[c] - h * g[c] * reach_span(l, c), l->low[c]), l->high[c]);
            }
            pl_reach_forward(r, trial, q, plain ? NULL : J);
            ++result.evaluations;
            const double fresh = reach_gap(r, q, target, e);
            better = fresh < gap;

            if (better) {
                gap = fresh;
                memcpy(d, e, sizeof d);
                memcpy(command, trial, (size_t)C * sizeof *trial);
                h *= 2;
            } else {
                h *= r->o.shrink;
            }
        }

        if (!better) {
            break;
        }
    }

    result.distance = gap;
    result.converged = gap <= r->o.tolerance;

    return result;
}

// One evaluation of the inverse network, and one of the forward network to measure what it reached.
static pl_reach_result reach_direct(pl_reach *r, const double target[3], double *command)
{
    pl_learned *l = r->l;
    double p[3], d[3];

    pl_network_evaluate(l->network[PL_LEARN_INVERSE], target, command, NULL);
    for (int c = 0; c < r->C; ++c) {
        command[c] = fmin(fmax(command[c], l->low[c]), l->high[c]);
    }
    pl_reach_forward(r, command, p, NULL);
    const double gap = reach_gap(r, p, target, d);

    return (pl_reach_result){.converged = gap <= r->o.tolerance, .distance = gap, .evaluations = 2};
}

// reached: the distance and the error of the model together are within the tolerance.
pl_reach_result pl_reach_solve(pl_reach *reach, const double target[3], double *command)
{
    pl_reach_result result = reach->o.method == PL_REACH_NEWTON      ? reach_newton(reach, target, command)
                             : reach->o.method == PL_REACH_PUBLISHED ? reach_published(reach, target, command)
                                                                     : reach_direct(reach, target, command);
    pl_learned_judge(reach->l, command);
    result.error = reach->l->bound[reach->o.marker];
    result.reached = result.distance + result.error <= reach->o.tolerance;
    return result;
}
