// Workspaces: commands spread over their ranges, in an order of small steps (each solve starts from the shape
// before), and a run through them.
#include "kinematics/kinematics_impl.h"

#define WALK_LIMIT                                                                                           \
    20000 // points up to which the walk goes to the nearest one left (its cost is their square)

// The range each command is sampled over.
static pl_status workspace_range(const pl_model_info *info, const pl_workspace_def *def, int i,
                                 double range[2], pl_error *err)
{
    const pl_command_info *c = &info->command[i];
    const double given[2] = {def->low ? def->low[i] : NAN, def->high ? def->high[i] : NAN};

    for (int side = 0; side < 2; ++side) {
        if (isnan(given[side]) && !c->has_range) {
            return pl_fail(err, PL_BAD_INPUT,
                           "workspace: command `%s` has no range; give it one in the robot, or bounds here",
                           c->name);
        }

        range[side] = isnan(given[side]) ? c->range[side] : given[side];
    }

    if (!(range[0] <= range[1]) || !isfinite(range[0]) || !isfinite(range[1])) {
        return pl_fail(err, PL_BAD_INPUT, "workspace: the range of command `%s` is %g to %g", c->name,
                       range[0], range[1]);
    }

    return PL_OK;
}

// Values per command where they are not given: the most whose grid has no more than `count` points.
static int grid_side(const pl_workspace_def *def, int commands)
{
    int steps = 2;
    while (pow(steps + 1, commands) <= def->count) {
        ++steps;
    }
    return steps;
}

// Point k of a grid, back and forth: each digit runs up and down in turn, so neighbours differ in one
// command.
static void grid_point(const int *given, int side, int commands, int64_t k, double *z)
{
    for (int i = 0; i < commands; ++i) {
        const int steps = given ? given[i] : side;
        int64_t digit = k % steps;
        k /= steps;
        digit = k % 2 ? steps - 1 - digit : digit;
        z[i] = steps > 1 ? (double)digit / (steps - 1) : 0.5;
    }
}

// The i-th prime from 2 on, for the bases of the Halton sequence.
static int prime(int i)
{
    int found = -1, p = 1;
    while (found < i) {
        bool divides = true;

        while (divides) {
            ++p;
            divides = false;
            for (int d = 2; d * d <= p && !divides; ++d) {
                divides = p % d == 0;
            }
        }

        ++found;
    }

    return p;
}

// The k-th number of the van der Corput sequence in a base: the digits of k mirrored at the point.
static double radical_inverse(int base, int64_t k)
{
    double value = 0, part = 1.0 / base;
    for (; k > 0; k /= base, part /= base) {
        value += part * (double)(k % base);
    }
    return value;
}

// Squared distance in parts of the ranges.
static double point_gap(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum;
}

static void point_swap(double *a, double *b, int n)
{
    for (int i = 0; i < n; ++i) {
        const double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

// Reorders points in place: from the one nearest to 0 always to the nearest one left. Beyond WALK_LIMIT the
// search looks at that many points ahead only.
static void workspace_walk(double *z, int count, int n)
{
    for (int i = 0; i < count; ++i) {
        int best = i;
        double least = INFINITY;

        for (int j = i; j < count && j < i + WALK_LIMIT; ++j) {
            double gap = 0;
            if (i > 0) {
                gap = point_gap(z + (int64_t)(i - 1) * n, z + (int64_t)j * n, n);
            } else {
                for (int k = 0; k < n; ++k) {
                    gap += z[(int64_t)j * n + k] * z[(int64_t)j * n + k];
                }
            }

            if (gap < least) {
                least = gap;
                best = j;
            }
        }

        point_swap(z + (int64_t)i * n, z + (int64_t)best * n, n);
    }
}

// How many points at the ends of the ranges a plan of `count` begins with.
static int64_t ends_count(int64_t count, int commands)
{
    const int64_t corners = commands < 20 ? (int64_t)1 << commands : INT64_MAX,
                  alone = 2 + 2 * (int64_t)commands;
    return count < 2 ? 0 : 2 * corners <= count || commands == 1 ? corners : 2 * alone <= count ? alone : 2;
}

// Point k of them. All corners: the digits of k. Otherwise all low, all high, then one at an end and the
// others in the middle.
static void ends_point(int64_t ends, int commands, int64_t k, double *z)
{
    const bool corners = commands < 20 && ends == (int64_t)1 << commands;
    for (int i = 0; i < commands; ++i) {
        const bool alone = (k - 2) / 2 == i;
        z[i] = corners ? (double)((k >> i) & 1) : k < 2 ? (double)k : alone ? (double)(k % 2) : 0.5;
    }
}

// Number of samples of the plan, 1 to 10 million.
static pl_status workspace_count(const pl_workspace_def *def, int commands, int64_t *count, pl_error *err)
{
    *count = def->count;
    if (def->order == PL_WORKSPACE_GRID) {
        *count = 1;
        const int side = grid_side(def, commands);

        for (int i = 0; i < commands; ++i) {
            const int steps = def->steps ? def->steps[i] : side;
            if (steps < 1) {
                return pl_fail(err, PL_BAD_INPUT, "workspace: %d steps for command %d, at least 1 is needed",
                               steps, i);
            }

            *count = *count <= INT32_MAX ? *count * steps : *count;
        }
    }

    if (*count < 1 || *count > 10000000) {
        return pl_fail(err, PL_BAD_INPUT, "workspace: %lld samples, must be 1 to 10000000",
                       (long long)*count);
    }

    return PL_OK;
}

// The same definition gives the same plan on every machine.
pl_status pl_workspace_plan_init(const pl_model *model, const pl_workspace_def *def, pl_workspace_plan *plan,
                                 pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    const int n = info.command_count;
    int64_t count;

    *plan = (pl_workspace_plan){.command_count = n};
    if (n < 1) {
        return pl_fail(err, PL_BAD_INPUT, "workspace: the robot has no commands");
    }
    if (def->order != PL_WORKSPACE_GRID && def->order != PL_WORKSPACE_HALTON) {
        return pl_fail(err, PL_BAD_INPUT, "workspace: order %d does not exist", (int)def->order);
    }

    pl_status status = workspace_count(def, n, &count, err);
    for (int i = 0; status == PL_OK && i < n; ++i) {
        double range[2];
        status = workspace_range(&info, def, i, range, err);
    }

    if (status != PL_OK) {
        return status;
    }
    plan->command = PL_NEW_ARRAY(double, count *n);
    if (!plan->command) {
        return pl_fail_memory(err, "workspace");
    }

    // points in parts of the ranges
    plan->count = (int)count;
    const int side = grid_side(def, n);
    const int64_t ends = def->ends && def->order == PL_WORKSPACE_HALTON ? ends_count(count, n) : 0;

    for (int64_t k = 0; k < count; ++k) {
        double *z = plan->command + k * n;
        for (int i = 0; def->order == PL_WORKSPACE_HALTON && k >= ends && i < n; ++i) {
            z[i] = radical_inverse(prime(i), k - ends + 1);
        }
        if (k < ends) {
            ends_point(ends, n, k, z);
        }
        if (def->order == PL_WORKSPACE_GRID) {
            grid_point(def->steps, side, n, k, z);
        }
    }

    // order of small steps; a grid has it by construction
    if (def->order == PL_WORKSPACE_HALTON) {
        workspace_walk(plan->command, plan->count, n);
    }

    // to commands
    for (int i = 0; i < n; ++i) {
        double range[2];
        workspace_range(&info, def, i, range, NULL);
        for (int64_t k = 0; k < count; ++k) {
            double *z = plan->command + k * n + i;
            *z = fmin(fmax(range[0] + (range[1] - range[0]) * *z, range[0]), range[1]);
        }
    }

    return PL_OK;
}

void pl_workspace_plan_clear(pl_workspace_plan *plan)
{
    pl_free(plan->command);
    *plan = (pl_workspace_plan){0};
}

// ---- a run
// What starts from the sample before (warm) and from rest (cold) have cost, averaged with the latest first.
// Counted in solves, not in seconds, so that a run can be repeated.
#define COST_FACTOR 20.0 // solves that a factorisation costs
#define COST_LATEST 0.3  // weight of the latest
#define COST_DEARER 1.2  // a warm start is given up where it costs that much more
#define COST_AGAIN 8     // cold starts after which a warm one is tried again
#define COST_FIRST 3     // warm starts before the first cold one, and
#define COST_NEXT 40     // between further ones

typedef struct start_cost {
    double warm, cold; // 0: not known
    int since;         // starts of the same kind in a row
    bool last_cold;
} start_cost;

// Averages the cost of a start of one kind.
static void cost_note(start_cost *c, bool cold, const pl_solve_report *report)
{
    const double cost = COST_FACTOR * report->factorizations + report->solves;
    double *mean = cold ? &c->cold : &c->warm;
    *mean = *mean > 0 ? (1 - COST_LATEST) * *mean + COST_LATEST * cost : cost;
    c->since = cold == c->last_cold ? c->since + 1 : 1;
    c->last_cold = cold;
}

// Whether the next start should be from rest. `*trial`: a cold start to measure what it costs.
static bool cost_prefers_cold(const start_cost *c, bool *trial)
{
    const bool dearer = c->cold > 0 && c->warm > COST_DEARER * c->cold;
    *trial = !dearer && !c->last_cold && c->since >= (c->cold > 0 ? COST_NEXT : COST_FIRST);
    return dearer && !(c->last_cold && c->since >= COST_AGAIN);
}

// Solves one sample: warm, or cold; once more from rest where a warm start failed.
// *cold: the start from rest was a choice, not a repetition.
static pl_status workspace_solve(pl_model *model, const double *command, bool begun, start_cost *cost,
                                 bool *cold, pl_solve_report *report, pl_error *err)
{
    bool trial = false;
    *cold = begun && cost_prefers_cold(cost, &trial);
    if (*cold || trial) {
        pl_model_reset(model);
    }

    pl_status status = pl_model_fk(model, command, report, err);
    const bool failed = status == PL_FAILED ||
                        (status == PL_OK && report->outcome != PL_SOLVED && report->outcome != PL_STOPPED);
    if (begun && status == PL_OK && report->outcome == PL_SOLVED) {
        cost_note(cost, *cold || trial, report);
    }

    // a failed start is repeated from rest and does not count for the averages
    if (failed) {
        pl_model_reset(model);
        status = pl_model_fk(model, command, report, err);
    }

    return status;
}

// Samples from `first` on; record returns false to stop. A sample without an equilibrium is recorded, and
// the next one starts from rest.
pl_status pl_workspace_run(pl_model *model, const pl_workspace_plan *plan, int first,
                           bool (*record)(void *user, const pl_sample *sample), void *user, pl_error *err)
{
    if (first < 0 || first > plan->count) {
        return pl_fail(err, PL_BAD_INPUT, "workspace: sample %d, the plan has %d", first, plan->count);
    }

    start_cost cost = {0};
    bool begun = false; // the model stands at a sample
    for (int i = first; i < plan->count; ++i) {
        const double *command = plan->command + (int64_t)i * plan->command_count;
        pl_solve_report report;
        bool cold;
        const pl_status status = workspace_solve(model, command, begun, &cost, &cold, &report, err);
        if (status == PL_FAILED) {
            report.outcome = PL_STEP_LIMIT; // said so in err; a sample that does not count
        } else if (status != PL_OK) {
            return status;
        }
        if (report.outcome == PL_STOPPED) {
            return pl_fail(err, PL_INTERRUPTED, "workspace: interrupted at sample %d", i);
        }

        // failed samples are recorded too: what cannot be reached is a result
        const pl_sample sample = {.index = i,
                                  .command = command,
                                  .answer = pl_model_get_answer(model),
                                  .fk = &report,
                                  .cold = cold};
        const bool go_on = record(user, &sample);

        // a failed shape is no start for the next sample
        begun = report.outcome == PL_SOLVED;
        if (!begun) {
            pl_model_reset(model);
        }
        if (!go_on) {
            return PL_OK;
        }
    }

    return PL_OK;
}
