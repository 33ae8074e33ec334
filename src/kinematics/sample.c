// Chains of samples for data sets: each chain begins at the undeformed configuration, so that its results
// depend on nothing else. A sample that fails is tried once more from there.
#include <stdlib.h>
#include "kinematics/kinematics_impl.h"

// Back to the undeformed configuration, without anything a solver may remember.
static pl_status sample_begin(pl_model *model, const pl_sample_options *o, pl_error *err)
{
    pl_model_reset(model);
    return o->fresh ? pl_model_unpack(model, o->fresh, pl_model_state_size(model), err) : PL_OK;
}

// A forward solve, repeated from the undeformed configuration where it fails; failures are outcomes.
static pl_status sample_solve(pl_model *model, const double *command, const pl_sample_options *o,
                              pl_solve_report *report, pl_error *err)
{
    pl_status status = pl_model_fk(model, command, report, err);
    if (status == PL_FAILED ||
        (status == PL_OK && report->outcome != PL_SOLVED && report->outcome != PL_STOPPED)) {
        status = sample_begin(model, o, err);
        status = status == PL_OK ? pl_model_fk(model, command, report, err) : status;
    }

    if (status == PL_FAILED) {
        report->outcome = PL_STEP_LIMIT;
        return PL_OK;
    }

    return status;
}

// `stored`: an earlier run has it. It is differentiated nevertheless: the factor computed for that is used by
// the next solve, and the samples after it are to be the same to the last bit.
static pl_status sample_measure(pl_model *model, const pl_sample_options *o, double *shape,
                                int32_t shape_count, const double *command, int index, bool stored,
                                const pl_solve_report *report, bool *go, pl_error *err)
{
    pl_sample sample = {
        .index = index, .command = command, .answer = pl_model_get_answer(model), .fk = report};
    pl_model_derivative derivative;
    pl_solve_report own = *report;

    // all outputs that a network can learn, by one factor
    if (report->outcome == PL_SOLVED && o->jacobians) {
        pl_jacobian_report how;
        const pl_status status = pl_model_differentiate(model,
                                                        PL_PART_MARKER | PL_PART_ROTATION | PL_PART_SENSOR |
                                                            PL_PART_EFFORT | PL_PART_MEASURE | PL_PART_ENERGY,
                                                        0, &derivative, &how, err);
        if (status == PL_INTERRUPTED || status == PL_NO_MEMORY) {
            return status;
        }
        if (status == PL_OK) {
            sample.derivative = &derivative;
        } else {
            own.outcome = PL_NOT_CONVERGED; // a sample without its derivative does not count
            sample.fk = &own;
        }
    }

    // only the side effect on the model was wanted
    if (stored) {
        return PL_OK;
    }

    if (report->outcome == PL_SOLVED && shape) {
        pl_model_shape(model, shape);
        sample.shape = shape;
        sample.shape_count = shape_count;
    }

    *go = o->record(o->user, &sample);

    return PL_OK;
}

// ---- how much a sample may cost
static int sample_ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// Iterations that the next sample may take: `limit_each`, or PL_SAMPLE_LIMIT times the median of those solved
// so far. `spent`: iterations of these, `count` of them; `usual`: the limit of the solver.
static int sample_limit(const pl_sample_options *o, int *spent, int count, int usual)
{
    if (o->limit_each != 0) {
        return o->limit_each > 0 && o->limit_each < usual ? o->limit_each : usual;
    }
    if (count == 0) {
        return usual;
    }
    qsort(spent, (size_t)count, sizeof *spent, sample_ascending);
    const int limit = PL_SAMPLE_LIMIT * spent[count / 2];
    return limit > usual ? usual : limit < PL_SAMPLE_LIMIT_LEAST ? PL_SAMPLE_LIMIT_LEAST : limit;
}

// Samples from .. to - 1 in order. Those done already are solved again without being
// recorded, up to the last one missing.
pl_status pl_sample_chain(pl_model *model, const double *command, int from, int to,
                          const pl_sample_options *o, pl_error *err)
{
    const int C = pl_model_get_info(model).command_count;

    // nothing to do after the last missing sample
    int last = from - 1;

    for (int i = from; i < to; ++i) {
        last = !o->done || !o->done[i] ? i : last;
    }

    // memory for a shape
    double *shape = NULL;
    int32_t shape_count = 0;
    if (o->shapes && last >= from) {
        const pl_mesh *mesh = NULL;
        const pl_status status = pl_model_body(model, &mesh, err);
        if (status != PL_OK) {
            return status;
        }
        shape_count = mesh ? pl_mesh_get(mesh).vertex_count : 0;
        shape = shape_count ? PL_NEW_ARRAY(double, 3 * (int64_t)shape_count) : NULL;
        if (shape_count && !shape) {
            return pl_fail_memory(err, "the samples");
        }
    }

    int *spent = PL_NEW_ARRAY(int, to - from), solved = 0;
    pl_status status = spent ? sample_begin(model, o, err) : pl_fail_memory(err, "the samples");
    const int usual = pl_model_limit(model, 1);
    bool go = true;

    // a sample that fails leaves no start for the next one: back to the undeformed configuration
    for (int i = from; i <= last && go && status == PL_OK; ++i) {
        pl_solve_report report;
        pl_model_limit(model, sample_limit(o, spent, solved, usual));
        status = sample_solve(model, command + (int64_t)i * C, o, &report, err);
        if (status == PL_OK && report.outcome == PL_STOPPED) {
            status = pl_fail(err, PL_INTERRUPTED, "sample: interrupted at sample %d", i);
        }
        if (status == PL_OK) {
            status = sample_measure(model, o, shape, shape_count, command + (int64_t)i * C, i,
                                    o->done && o->done[i], &report, &go, err);
        }

        if (status == PL_OK && report.outcome == PL_SOLVED) {
            spent[solved++] = report.iterations;
        } else if (status == PL_OK) {
            status = sample_begin(model, o, err);
        }
    }

    pl_model_limit(model, usual);
    pl_free(spent);
    pl_free(shape);

    return status;
}
