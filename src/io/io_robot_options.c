// Options for statics from a robot file: its `solver:` block over the defaults.
#include "io/io_robot.h"

static void options_over(const io_solver *s, pl_statics_options *o)
{
    o->force_tolerance = s->has_force_tolerance ? s->force_tolerance : o->force_tolerance;
    o->length_tolerance = s->has_length_tolerance ? s->length_tolerance : o->length_tolerance;
    o->iteration_limit = s->has_iteration_limit ? s->iteration_limit : o->iteration_limit;
    o->increment_limit = s->has_increment_limit ? s->increment_limit : o->increment_limit;
    o->time_limit = s->has_time_limit ? s->time_limit : o->time_limit;
    o->linear_solver = s->has_linear_solver ? s->linear_solver : o->linear_solver;
    o->displacement = s->has_displacement ? s->displacement : o->displacement;
    o->warp = s->has_warp ? s->warp : o->warp;
    o->distribution = s->joint ? PL_RATIOS_JOINT : o->distribution;
}

pl_status pl_robot_text_options(const char *text, size_t length, const char *path,
                                pl_statics_options *statics, pl_method *method,
                                pl_geometric_options *geometric, pl_error *err)
{
    *statics = pl_statics_options_default();
    *geometric = pl_geometric_options_default();
    *method = PL_METHOD_EXACT;
    io_robot_file f;
    io_robot_file_read(&f, text, length, path);
    const pl_status status = io_robot_file_report(&f, PL_OK, NULL, err);
    if (status == PL_OK) {
        options_over(&f.solver, statics);
        *method = f.solver.method;
        *geometric = *method == PL_METHOD_EXACT ? *geometric : f.solver.geometric;
    }
    io_robot_file_clear(&f);
    return status;
}

// The `solver:` block of a file; false when there is none to be had, and `err` says why.
static bool options_read(const char *path, io_solver *out, pl_error *err)
{
    if (err) {
        *err = (pl_error){.status = PL_OK};
    }
    char *text = NULL;
    size_t length = 0;
    if (!path) {
        pl_fail(err, PL_BAD_INPUT, "robot file: no path given");
        return false;
    }
    if (pl_file_read(path, &text, &length, err) != PL_OK) {
        return false;
    }
    io_robot_file f;
    io_robot_file_read(&f, text, length, path);
    const bool good = io_robot_file_report(&f, PL_OK, NULL, err) == PL_OK;
    *out = f.solver;
    io_robot_file_clear(&f);
    pl_file_free(text);
    return good;
}

pl_statics_options pl_robot_file_options(const char *path, pl_error *err)
{
    pl_statics_options options = pl_statics_options_default();
    io_solver solver;
    if (options_read(path, &solver, err)) {
        options_over(&solver, &options);
    }
    return options;
}

pl_method pl_robot_file_method(const char *path, pl_geometric_options *options, pl_error *err)
{
    *options = pl_geometric_options_default();
    io_solver solver;
    if (!options_read(path, &solver, err) || solver.method == PL_METHOD_EXACT) {
        return PL_METHOD_EXACT;
    }
    *options = solver.geometric;
    return PL_METHOD_LOCAL_GLOBAL;
}
