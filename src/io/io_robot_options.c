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
}

pl_statics_options pl_robot_file_options(const char *path, pl_error *err)
{
    pl_statics_options options = pl_statics_options_default();
    if (err) {
        *err = (pl_error){.status = PL_OK};
    }
    char *text = NULL;
    size_t length = 0;
    if (!path) {
        pl_fail(err, PL_BAD_INPUT, "robot file: no path given");
        return options;
    }
    if (pl_file_read(path, &text, &length, err) != PL_OK) {
        return options;
    }
    io_robot_file f;
    io_robot_file_read(&f, text, length, path);
    if (io_robot_file_report(&f, PL_OK, NULL, err) == PL_OK) {
        options_over(&f.solver, &options);
    }
    io_robot_file_clear(&f);
    pl_file_free(text);
    return options;
}
