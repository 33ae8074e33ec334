// Building and freeing a pl_statics: all memory is taken here.
#include "statics/statics_impl.h"

pl_statics_options pl_statics_options_default(void)
{
    return (pl_statics_options){
        .force_tolerance = PL_FORCE_TOLERANCE,
        .contact_tolerance = 3e-4,
        .length_tolerance = PL_LENGTH_TOLERANCE,
        .iteration_limit = 2000,
        .increment_limit = 200,
        .linear_solver = PL_SOLVER_AUTO,
        .warp = true,
        .extrapolate = true,
        .distribution = PL_RATIOS_UNIFORM,
    };
}

static pl_status options_check(const pl_statics_options *o, pl_error *err)
{
    if (!(o->force_tolerance > 0 && o->force_tolerance < 1)) {
        return pl_fail(err, PL_BAD_INPUT, "statics: force_tolerance is %g, must be between 0 and 1",
                       o->force_tolerance);
    }

    if (!(o->length_tolerance > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "statics: length_tolerance is %g mm, must be > 0",
                       o->length_tolerance);
    }

    if (o->iteration_limit < 1 || o->increment_limit < 1) {
        return pl_fail(err, PL_BAD_INPUT,
                       "statics: iteration_limit and increment_limit are %d and %d, must be >= 1",
                       o->iteration_limit, o->increment_limit);
    }

    if (o->distribution != PL_RATIOS_UNIFORM && o->distribution != PL_RATIOS_JOINT) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "statics: distribution must be uniform or joint (least_norm does not derive from an energy)");
    }

    if (!(o->time_limit >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "statics: time_limit is %g s, must be >= 0", o->time_limit);
    }
    if (!(o->contact_tolerance > 0 && o->contact_tolerance < 1)) {
        return pl_fail(err, PL_BAD_INPUT, "statics: contact_tolerance is %g, must be between 0 and 1",
                       o->contact_tolerance);
    }

    return PL_OK;
}

static bool new_array(double **out, int64_t count)
{
    *out = PL_NEW_ARRAY(double, count);
    return *out != NULL;
}

static pl_status create_work(pl_statics *s, pl_error *err)
{
    const int64_t full = 3 * (int64_t)s->problem->mesh.vertex_count;
    bool ok = new_array(&s->x, full);

    ok = new_array(&s->x_stable, full) && ok;
    ok = pl_mark_create(s->problem, &s->begin) == PL_OK && ok;
    ok = new_array(&s->x_begin, full) && new_array(&s->x_end, full) && ok;
    ok = new_array(&s->stability.mode, s->problem->unknowns.n) && ok;
    ok = new_array(&s->mode.x, full) && new_array(&s->mode.motion, full) && ok;
    for (int i = 0; i < STATICS_HISTORY; ++i) {
        ok = new_array(&s->history.x[i], full) &&
             new_array(&s->history.command[i], s->robot->command_count) && ok;
    }

    ok = new_array(&s->history.difference, (STATICS_HISTORY + 1) * (int64_t)s->robot->command_count) && ok;

    return ok ? PL_OK : pl_fail_memory(err, "statics: work space");
}

static pl_status create_go_on(const pl_statics *s, pl_error *err)
{
    return pl_progress_step(&s->options.progress, -1, "preparing the solver")
               ? PL_OK
               : pl_fail(err, PL_INTERRUPTED, "interrupted");
}

pl_status statics_create(const pl_robot *robot, const pl_statics_options *options,
                         const pl_term_create *extra, pl_statics **out, pl_error *err)
{
    *out = NULL;
    pl_status status = options_check(options, err);
    if (status != PL_OK) {
        return status;
    }

    pl_statics *s = PL_NEW(pl_statics);
    if (!s) {
        return pl_fail_memory(err, "statics");
    }
    s->robot = robot;
    s->options = *options;
    s->loose = 1;
    s->path = (statics_path_options){.error = STATICS_PATH_ERROR,
                                     .enough = STATICS_ENOUGH,
                                     .turn = NEWTON_STEP,
                                     .strain = STATICS_STRAIN,
                                     .growth = STATICS_GROWTH,
                                     .least = STATICS_LEAST,
                                     .beyond = STATICS_BEYOND};
    const pl_problem_options problem = {.displacement = options->displacement,
                                        .distribution = options->distribution,
                                        .linear_solver = options->linear_solver,
                                        .contact_tolerance = options->contact_tolerance,
                                        .force_tolerance = options->force_tolerance};
    status = create_go_on(s, err);
    if (status == PL_OK) {
        status = pl_problem_create(robot, &problem, extra, &s->problem, err);
    }
    if (status == PL_OK) {
        s->problem->linear.aside = options->spare_factor;
        status = create_work(s, err);
    }

    if (status == PL_OK) {
        status = create_go_on(s, err);
    }
    if (status == PL_OK) {
        status = pl_newton_init(&s->newton, s->problem, options->warp, err);
    }
    if (status != PL_OK) {
        pl_statics_destroy(s);
        return status;
    }

    *out = s;

    return PL_OK;
}

pl_status pl_statics_create(const pl_robot *robot, const pl_statics_options *options, pl_statics **out,
                            pl_error *err)
{
    return statics_create(robot, options, NULL, out, err);
}

void pl_statics_destroy(pl_statics *s)
{
    if (!s) {
        return;
    }
    statics_aim_clear(s);
    statics_creep_clear(s);
    pl_newton_clear(&s->newton);
    pl_problem_destroy(s->problem);
    for (int i = 0; i < STATICS_HISTORY; ++i) {
        pl_free(s->history.x[i]);
        pl_free(s->history.command[i]);
    }

    void *owned[] = {s->x,       s->x_stable, s->stability.mode, s->history.difference,
                     s->x_begin, s->x_end,    s->mode.x,         s->mode.motion,
                     s->tension};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
    pl_mark_clear(&s->begin);
    pl_free(s);
}

pl_statics_sizes pl_statics_get_sizes(const pl_statics *s)
{
    static const char *const name[] = {[PL_FACTOR_CHOLESKY] = "cholmod",
                                       [PL_FACTOR_INDEFINITE] = "mumps",
                                       [PL_FACTOR_MULTIFRONTAL] = "multifrontal",
                                       [PL_FACTOR_MPI] = "mumps_mpi"};
    const pl_problem *p = s->problem;
    return (pl_statics_sizes){
        .vertices = p->mesh.vertex_count,
        .elements = p->mesh.element_count,
        .unknowns = p->unknowns.n,
        .pressure_unknowns = p->elements->pressure_count,
        .matrix_entries = p->tangent.K.start[p->unknowns.n],
        .factor_bytes = pl_factor_bytes(p->linear.factor),
        .linear_solver = name[p->linear.kind],
        .instruction_set = pl_kernels_choose()->name,
    };
}

int pl_statics_limit(pl_statics *s, int iterations)
{
    const int before = s->options.iteration_limit;
    s->options.iteration_limit = iterations < 1 ? 1 : iterations;
    return before;
}

void pl_statics_forget(pl_statics *s)
{
    if (s->creep.on) {
        pl_viscous_off(s->creep.viscous);
        s->creep.on = false;
    }

    pl_newton_forget(&s->newton);
    s->history.count = 0;
    s->moves = (statics_moves){0};
    s->aim.expected = false;
    pl_problem_forget(s->problem);
}

void pl_statics_set_forces(pl_statics *s, const double *force)
{
    pl_problem_set_forces(s->problem, force);
}

pl_status pl_statics_grip(pl_statics *s, const double at[3], double radius, pl_error *err)
{
    return pl_problem_grip(s->problem, at, radius, err);
}

void pl_statics_pull(pl_statics *s, const double force[3])
{
    pl_problem_pull(s->problem, force);
}

void pl_statics_slide(pl_statics *s, int obstacle, const double direction[3], double place)
{
    pl_problem_slide(s->problem, obstacle, direction, place);
}

double pl_statics_slide_force(pl_statics *s, const pl_state *state, int obstacle)
{
    return pl_problem_slide_force(s->problem, state, obstacle);
}

void pl_statics_hold_of(pl_statics *s, const pl_state *state, int obstacle, double *out)
{
    pl_problem_hold_of(s->problem, state, obstacle, out);
}

bool pl_statics_grip_mean(const pl_statics *s, const double *vector, int stride, double mean[3])
{
    const pl_point *point = &s->problem->forces.grip;
    memset(mean, 0, 3 * sizeof *mean);
    for (int32_t j = 0; j < point->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            mean[i] += point->weight[j] * vector[(size_t)stride * (3 * (size_t)point->node[j] + (size_t)i)];
        }
    }

    return point->count > 0;
}
