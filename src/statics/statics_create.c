// Building and freeing a pl_statics: all memory is taken here.
#include "statics/statics_impl.h"

pl_statics_options pl_statics_options_default(void)
{
    return (pl_statics_options){
        .force_tolerance = 1e-6,
        .length_tolerance = 1e-5,
        .iteration_limit = 2000,
        .increment_limit = 200,
        .linear_solver = PL_SOLVER_AUTO,
        .warp = true,
        .extrapolate = true,
        .distribution = PL_RATIOS_UNIFORM,
    };
}

const char *pl_outcome_name(pl_outcome outcome)
{
    static const char *const name[] = {
#define X(code, text) [code] = text,
        PL_OUTCOME_LIST(X)
#undef X
    };
    return (int)outcome >= 0 && (int)outcome < PL_COUNT(name) ? name[outcome] : "unknown";
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
        return pl_fail(err, PL_BAD_INPUT,
                       "statics: distribution must be uniform or joint (least_norm derives from no energy)");
    }
    if (!(o->time_limit >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "statics: time_limit is %g s, must be >= 0", o->time_limit);
    }
    return PL_OK;
}

static pl_status create_elements(pl_statics *s, pl_error *err)
{
    const pl_robot *robot = s->robot;
    const int32_t regions = s->mesh.region_count;
    const pl_material **material = PL_NEW_ARRAY(const pl_material *, regions);
    bool *skip = PL_NEW_ARRAY(bool, regions);
    pl_status status = material && skip ? PL_OK : pl_fail_memory(err, "statics");
    for (int32_t r = 0; status == PL_OK && r < regions; ++r) {
        material[r] = &robot->material[robot->region_material[r]];
        double mu, kappa;
        pl_material_moduli(material[r], &mu, &kappa);
        s->stiffness = fmax(s->stiffness, mu);
        for (int k = 0; k < robot->rigid_count; ++k) {
            skip[r] = skip[r] || strcmp(robot->rigid[k].name, s->mesh.region_name[r]) == 0;
        }
        s->modulus = skip[r] ? s->modulus : fmax(s->modulus, mu + kappa);
    }
    if (status == PL_OK) {
        status = pl_elements_create(robot->mesh, material, skip, s->options.displacement, &s->elements, err);
    }
    pl_free(material);
    pl_free(skip);
    return status;
}

static pl_status create_work(pl_statics *s, pl_error *err)
{
    double **full[] = {&s->g_full,  &s->x_work,  &s->x_trial,  &s->x_best,
                       &s->x_start, &s->g_trial, &s->x_old[0], &s->x_old[1]};
    double **unknown[] = {&s->g, &s->r, &s->d, &s->y, &s->work, &s->g_new};
    bool ok = true;
    for (int i = 0; i < PL_COUNT(full); ++i) {
        *full[i] = PL_NEW_ARRAY(double, 3 * (int64_t)s->mesh.vertex_count);
        ok = ok && *full[i];
    }
    for (int i = 0; i < PL_COUNT(unknown); ++i) {
        *unknown[i] = PL_NEW_ARRAY(double, s->n);
        ok = ok && *unknown[i];
    }
    for (int i = 0; i < STATICS_MEMORY; ++i) {
        s->memory_s[i] = PL_NEW_ARRAY(double, s->n);
        s->memory_y[i] = PL_NEW_ARRAY(double, s->n);
        ok = ok && s->memory_s[i] && s->memory_y[i];
    }
    for (int i = 0; i < 2; ++i) {
        s->command_old[i] = PL_NEW_ARRAY(double, s->robot->command_count);
        ok = ok && s->command_old[i];
    }
    return ok ? PL_OK : pl_fail_memory(err, "statics: work space");
}

pl_status pl_statics_create(const pl_robot *robot, const pl_statics_options *options, pl_statics **out,
                            pl_error *err)
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
    s->mesh = pl_mesh_get(robot->mesh);
    double low[3], high[3];
    pl_mesh_bounds(robot->mesh, low, high);
    s->size = pl_distance3(low, high);
    pl_status (*const stage[])(pl_statics *, pl_error *) = {
        create_elements,       statics_growth_create, statics_number,
        statics_drives_create, statics_grown_create,  statics_pattern,
        create_work,           statics_linear_create, statics_warp_create,
    };
    for (int i = 0; status == PL_OK && i < PL_COUNT(stage); ++i) {
        status = stage[i](s, err);
    }
    if (status != PL_OK) {
        pl_statics_destroy(s);
        return status;
    }
    *out = s;
    return PL_OK;
}

void pl_statics_destroy(pl_statics *s)
{
    if (!s) {
        return;
    }
    statics_pattern_destroy(s);
    statics_drives_destroy(s);
    pl_elements_destroy(s->elements);
    pl_factor_destroy(s->factor);
    pl_factor_destroy(s->laplace);
    pl_sparse_clear(&s->L);
    pl_sparse_clear(&s->warp_edge);
    for (int i = 0; i < STATICS_MEMORY; ++i) {
        pl_free(s->memory_s[i]);
        pl_free(s->memory_y[i]);
    }
    void *owned[] = {s->growth,
                     s->dof,
                     s->rigid_of,
                     s->rigid,
                     s->pressure_dof,
                     s->turns,
                     s->support_of,
                     s->x_factor,
                     s->rotation,
                     s->border_row,
                     s->border_plain,
                     s->border_solution,
                     s->warp_dof,
                     s->warp_rhs,
                     s->g_full,
                     s->x_trial,
                     s->x_best,
                     s->x_start,
                     s->g_trial,
                     s->x_old[0],
                     s->x_old[1],
                     s->command_old[0],
                     s->command_old[1],
                     s->g,
                     s->r,
                     s->d,
                     s->y,
                     s->work,
                     s->g_new,
                     s->x_work,
                     s->border_pressure,
                     s->pressure_step,
                     s->pressure_ahead};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
    pl_free(s);
}

pl_statics_sizes pl_statics_get_sizes(const pl_statics *s)
{
    static const char *const name[] = {[PL_FACTOR_CHOLESKY] = "cholmod",
                                       [PL_FACTOR_INDEFINITE] = "mumps",
                                       [PL_FACTOR_MULTIFRONTAL] = "multifrontal"};
    return (pl_statics_sizes){
        .vertices = s->mesh.vertex_count,
        .elements = s->mesh.element_count,
        .unknowns = s->n,
        .pressure_unknowns = s->elements->pressure_count,
        .matrix_entries = s->K.start[s->n],
        .factor_bytes = pl_factor_bytes(s->factor),
        .linear_solver = name[s->factor_kind],
        .instruction_set = pl_kernels_choose()->name,
    };
}
