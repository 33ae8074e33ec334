// Where the next solution will be, from those before: a polynomial in the command along a line of commands,
// or the change that a combination of the last changes of command explains.
#include "statics/statics_impl.h"

// c - c0 per command; commands that are idle in both do not count. False when one is idle in one only.
static bool predict_difference(int count, const double *c, const double *c0, double *out)
{
    for (int k = 0; k < count; ++k) {
        if (isnan(c[k]) != isnan(c0[k])) {
            return false;
        }
        out[k] = isnan(c[k]) ? 0 : c[k] - c0[k];
    }
    return true;
}

static double predict_dot(int count, const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < count; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

// Remembered states on the line from the newest (t = 0) to the new command (t = 1), apart from each other:
// which ones, newest first, and their places t; how many. One that stands where the line ends is the
// prediction itself: a hand that goes back finds the shape it came from. With contacts the shape depends on
// the path, and only states behind the newest one are looked at.
static int predict_line(const pl_statics *s, const double *difference, const double *wanted, int *which,
                        double *t)
{
    const int commands = s->robot->command_count;
    const double square = predict_dot(commands, wanted, wanted);
    const bool touches = pl_problem_touches(s->problem);
    int count = 1;

    which[0] = 0;
    t[0] = 0;
    for (int i = 1; i < s->history.count; ++i) {
        const double *d = difference + (int64_t)i * commands;
        const double along = predict_dot(commands, d, wanted), size = predict_dot(commands, d, d),
                     at = along / square;
        if (size <= STATICS_LINE_APART * STATICS_LINE_APART * square) {
            continue; // where the newest one stands
        }
        if (!(along * along > STATICS_ALONG * STATICS_ALONG * size * square &&
              fabs(at) < STATICS_LINE_REACH) ||
            (touches && at > 0)) {
            break;
        }
        bool apart = true;
        for (int j = 0; j < count; ++j) {
            apart = apart && fabs(at - t[j]) > STATICS_LINE_APART;
        }
        if (apart) {
            which[count] = i;
            t[count++] = at;
        }
    }

    return count;
}

// Weights at t = 1 of the polynomial through the first `count` places.
static void predict_lagrange(int count, const double *t, double *weight)
{
    for (int i = 0; i < count; ++i) {
        weight[i] = 1;
        for (int j = 0; j < count; ++j) {
            weight[i] *= j == i ? 1 : (1 - t[j]) / (t[i] - t[j]);
        }
    }
}

// `which` NULL: the first ones
static void predict_combine(pl_statics *s, int count, const int *which, const double *weight, double *out)
{
    for (int64_t i = 0; i < 3 * (int64_t)s->problem->mesh.vertex_count; ++i) {
        double sum = 0;
        for (int k = 0; k < count; ++k) {
            sum += weight[k] * s->history.x[which ? which[k] : k][i];
        }
        out[i] = sum;
    }
}

// Raises the order while each correction is well below the one before. Returns the order, 0: none.
static int predict_polynomial(pl_statics *s, int count, const int *which, const double *t, double *out)
{
    const int64_t n = 3 * (int64_t)s->problem->mesh.vertex_count;
    double kept[STATICS_HISTORY] = {1}, before = INFINITY;
    int order = 0;

    for (int k = 1; k < count; ++k) {
        double weight[STATICS_HISTORY] = {0}, largest = 0;
        predict_lagrange(k + 1, t, weight);
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (int j = 0; j <= k; ++j) {
                sum += (weight[j] - kept[j]) * s->history.x[which[j]][i];
            }
            largest = fmax(largest, fabs(sum));
        }
        if (!(largest < STATICS_ORDER_GAIN * before)) {
            break;
        }
        before = largest;
        order = k;
        memcpy(kept, weight, sizeof kept);
    }

    predict_combine(s, order + 1, which, kept, out);

    return order;
}

// The combination of the last changes that comes nearest to the wanted one: min |wanted - sum a_i d_i|^2 with
// a little damping. Returns whether it comes near.
static bool predict_affine(pl_statics *s, const double *difference, const double *wanted, double *out)
{
    const int commands = s->robot->command_count, m = s->history.count - 1;
    double S[STATICS_HISTORY * STATICS_HISTORY], a[STATICS_HISTORY], weight[STATICS_HISTORY] = {1}, sum = 0;

    if (m < 1) {
        return false;
    }

    for (int i = 0; i < m; ++i) {
        const double *d = difference + (int64_t)(i + 1) * commands;
        a[i] = predict_dot(commands, d, wanted);
        for (int j = 0; j < m; ++j) {
            S[i * m + j] = predict_dot(commands, d, difference + (int64_t)(j + 1) * commands);
        }
    }

    double trace = 0;
    for (int i = 0; i < m; ++i) {
        trace += S[i * m + i];
    }
    for (int i = 0; i < m; ++i) {
        S[i * m + i] += 1e-4 * trace;
    }
    if (!(trace > 0) || !pl_dense_solve(m, S, a, 1)) {
        return false;
    }

    double misfit = 0;
    for (int k = 0; k < commands; ++k) {
        double rest = wanted[k];
        for (int i = 0; i < m; ++i) {
            rest -= a[i] * difference[(int64_t)(i + 1) * commands + k];
        }
        misfit += rest * rest;
    }

    for (int i = 0; i < m; ++i) {
        weight[i + 1] = a[i];
        weight[0] -= a[i];
        sum += fabs(a[i]);
    }

    if (misfit > STATICS_ORDER_GAIN * STATICS_ORDER_GAIN * predict_dot(commands, wanted, wanted) ||
        sum > STATICS_AFFINE_REACH) {
        return false;
    }

    predict_combine(s, m + 1, NULL, weight, out);

    return true;
}

bool statics_predict(pl_statics *s, const double *command, double *out)
{
    const int commands = s->robot->command_count;
    double *difference = s->history.difference, *wanted = difference + (int64_t)STATICS_HISTORY * commands;
    int which[STATICS_HISTORY];
    double t[STATICS_HISTORY];

    if (s->history.count < 2 || !predict_difference(commands, command, s->history.command[0], wanted) ||
        !(predict_dot(commands, wanted, wanted) > 0)) {
        return false;
    }

    for (int i = 0; i < s->history.count; ++i) {
        if (!predict_difference(commands, s->history.command[i], s->history.command[0],
                                difference + (int64_t)i * commands)) {
            s->history.count = i; // drives have changed since
            break;
        }
    }

    const int line = predict_line(s, difference, wanted, which, t);

    // a rotation is extrapolated better as one as long as there are only two states
    if (line == 2 && t[1] < 0 && t[1] > -STATICS_LINE_REACH && pl_newton_can_corotate(&s->newton)) {
        pl_newton_extrapolate(&s->newton, s->history.x[0], s->history.x[which[1]], -1 / t[1], out);
        return true;
    }

    if (line > 1) {
        const int order = predict_polynomial(s, line, which, t, out);
        pl_log(1, "  predicted by a polynomial of order %d", order);
        return order > 0;
    }

    return predict_affine(s, difference, wanted, out);
}

void statics_remember(pl_statics *s, const pl_state *state)
{
    const size_t commands = (size_t)state->command_count * sizeof(double);
    if (s->history.count > 0 && memcmp(s->history.command[0], state->command, commands) == 0) {
        memcpy(s->history.x[0], state->x, pl_problem_full_bytes(s->problem)); // a better answer
        return;
    }

    // in place of an older one at the same commands, or of the oldest
    int last = 1;
    while (last < STATICS_HISTORY - 1 &&
           (last >= s->history.count || memcmp(s->history.command[last], state->command, commands) != 0)) {
        last++;
    }

    const bool replaces =
        last < s->history.count && memcmp(s->history.command[last], state->command, commands) == 0;
    double *x = s->history.x[last], *command = s->history.command[last];
    memmove(s->history.x + 1, s->history.x, (size_t)last * sizeof *s->history.x);
    memmove(s->history.command + 1, s->history.command, (size_t)last * sizeof *s->history.command);
    s->history.x[0] = x;
    s->history.command[0] = command;
    memcpy(x, state->x, pl_problem_full_bytes(s->problem));
    memcpy(command, state->command, commands);
    s->history.count += !replaces && s->history.count < STATICS_HISTORY;
}
