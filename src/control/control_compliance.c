// Compliance: the derivatives of the model under the constraints that hold at its solution, and from them
// those with all efforts free.
//
// With the held measures m_h (h: constraints that are active) as inputs, the model answers X =
// d(outputs)/d(m_h, rest) and E = d(effort_h)/d(m_h, rest). With the efforts of h as inputs instead:
//   d(outputs)/d(effort_h) = X_h E_hh^-1,  d(outputs)/d(j) = X_j - X_h E_hh^-1 E_hj for every other input j.
#include "control/control_impl.h"
#include "solver/solver.h"

// Inputs: one per actuator, then three force components per marker.
int pl_compliance_columns(const pl_model *model)
{
    const pl_model_info info = pl_model_get_info(model);
    return info.actuator_count + 3 * info.marker_count;
}

// Outputs: measures, marker positions, sensors.
int pl_compliance_rows(const pl_model *model)
{
    return pl_compliance_columns(model) + pl_model_get_info(model).sensor_count;
}

typedef struct compliance_work {
    pl_parameter *parameter;
    double *measure, *marker, *sensor, *effort; // rows of the derivative, all with n columns
    double *X;                                  // all outputs, rows x n
    double *held, *shift;                       // E_hh, and E_hh^-1 E_h
    int *h;                                     // held actuators
    int held_count;
} compliance_work;

static void compliance_clear(compliance_work *w)
{
    void *const block[] = {w->parameter, w->measure, w->marker, w->sensor, w->effort,
                           w->X,         w->held,    w->shift,  w->h};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
}

// False when out of memory.
static bool compliance_room(compliance_work *w, const pl_model_info *info, int rows, int n)
{
    w->parameter = PL_NEW_ARRAY(pl_parameter, n);
    w->measure = PL_NEW_ARRAY(double, info->actuator_count *n);
    w->effort = PL_NEW_ARRAY(double, info->actuator_count *n);
    w->marker = PL_NEW_ARRAY(double, 3 * info->marker_count * n);
    w->sensor = PL_NEW_ARRAY(double, info->sensor_count *n);
    w->X = PL_NEW_ARRAY(double, rows *n);
    w->held = PL_NEW_ARRAY(double, info->actuator_count * info->actuator_count);
    w->shift = PL_NEW_ARRAY(double, info->actuator_count *n);
    w->h = PL_NEW_ARRAY(int, info->actuator_count);

    return w->parameter && w->measure && w->effort && w->marker && w->sensor && w->X && w->held && w->shift &&
           w->h;
}

// An actuator is held when its own parameter moves its measure one to one and its effort is not the parameter
// itself.
static void compliance_find_held(compliance_work *w, int actuators, int n)
{
    for (int a = 0; a < actuators; ++a) {
        if (fabs(w->measure[a * n + a] - 1) < 1e-6 && w->effort[a * n + a] != 1) {
            w->h[w->held_count++] = a;
        }
    }
}

// W from X: inputs of held actuators become their efforts. False: E_hh is singular.
static bool compliance_release(compliance_work *w, int rows, int n, double *W)
{
    const int k = w->held_count;

    // right sides E_h; those of the held actuators are -1, so that the solution is -E_hh^-1 in their columns
    for (int a = 0; a < k; ++a) {
        for (int b = 0; b < k; ++b) {
            w->held[a * k + b] = w->effort[w->h[a] * n + w->h[b]];
        }
        for (int j = 0; j < n; ++j) {
            w->shift[a * n + j] = w->effort[w->h[a] * n + j];
        }
        // the column of a held actuator becomes that of its effort: E_hh^-1 itself
        for (int b = 0; b < k; ++b) {
            w->shift[a * n + w->h[b]] = a == b ? -1 : 0;
        }
    }

    if (k > 0 && !pl_dense_solve(k, w->held, w->shift, n)) {
        return false;
    }

    // W = X - X_h (E_hh^-1 E_h), where the columns of h start from 0
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < n; ++j) {
            W[i * n + j] = w->X[i * n + j];
        }
        for (int b = 0; b < k; ++b) {
            W[i * n + w->h[b]] = 0;
        }
        for (int a = 0; a < k; ++a) {
            for (int j = 0; j < n; ++j) {
                W[i * n + j] -= w->X[i * n + w->h[a]] * w->shift[a * n + j];
            }
        }
    }

    return true;
}

pl_status pl_compliance(pl_model *model, double *W, pl_jacobian_report *report, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    const int n = pl_compliance_columns(model), rows = pl_compliance_rows(model), A = info.actuator_count;
    compliance_work w = {0};

    if (!compliance_room(&w, &info, rows, n)) {
        compliance_clear(&w);
        return pl_fail_memory(err, "the compliance");
    }

    // inputs as parameters of the model
    for (int j = 0; j < n; ++j) {
        w.parameter[j] = j < A ? (pl_parameter){PL_PARAMETER_ACTUATOR, j, 0}
                               : (pl_parameter){PL_PARAMETER_MARKER_FORCE, (j - A) / 3, (j - A) % 3};
    }

    const pl_jacobian out = {
        .measure = w.measure, .effort = w.effort, .marker = w.marker, .sensor = w.sensor};
    pl_status status = pl_model_sensitivity(model, w.parameter, n, &out, report, err);

    // outputs in the order of the rows, then released
    if (status == PL_OK) {
        compliance_find_held(&w, A, n);
        for (int a = 0; a < A; ++a) {
            // tension does work on the shortening, the negative change of the length
            const double sign = -pl_actuator_kind_get(info.actuator[a].kind)->sign;
            for (int j = 0; j < n; ++j) {
                w.X[a * n + j] = sign * w.measure[a * n + j];
            }
        }

        memcpy(w.X + A * n, w.marker, 3 * (size_t)info.marker_count * (size_t)n * sizeof *w.X);
        memcpy(w.X + (A + 3 * info.marker_count) * n, w.sensor,
               (size_t)info.sensor_count * (size_t)n * sizeof *w.X);
        if (!compliance_release(&w, rows, n, W)) {
            status = pl_fail(err, PL_FAILED,
                             "the compliance cannot be computed: the held lengths and volumes "
                             "do not determine their efforts");
        }
    }

    compliance_clear(&w);

    return status;
}
