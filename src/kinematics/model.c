// pl_model: what every model answers, passed on to the kind that stands behind it, with the costs counted.
#include "kinematics/kinematics_impl.h"

pl_status pl_model_create(const pl_model_type *type, void *self, pl_model **out, pl_error *err)
{
    *out = NULL;
    pl_model *m = pl_alloc(sizeof *m);
    if (!m) {
        type->destroy(self);
        return pl_fail(err, PL_NO_MEMORY, "model: no memory");
    }
    *m = (pl_model){.type = type, .self = self};
    type->info(self, &m->info);
    *out = m;
    return PL_OK;
}

void pl_model_destroy(pl_model *model)
{
    if (model) {
        model->type->destroy(model->self);
        if (model->release) {
            model->release(model->owned);
        }
        pl_free(model);
    }
}

void *pl_model_self(const pl_model *model, const pl_model_type *type)
{
    return model && model->type == type ? model->self : NULL;
}

void pl_model_own(pl_model *model, void *owned, void (*release)(void *owned))
{
    model->owned = owned;
    model->release = release;
}

pl_model_info pl_model_get_info(const pl_model *model)
{
    return model->info;
}

pl_actuator_info pl_model_actuator(const pl_model *model, int i)
{
    const bool there = i >= 0 && i < model->info.actuator_count;
    if (there && model->type->actuator) {
        return model->type->actuator(model->self, i);
    }
    return (pl_actuator_info){.name = there ? model->info.actuator_name[i] : "",
                              .kind = there ? model->info.actuator_kind[i] : PL_CABLE,
                              .command = -1};
}

static int model_find(const char *const *name, int count, const char *wanted)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(name[i], wanted) == 0) {
            return i;
        }
    }
    return -1;
}

int pl_model_find_command(const pl_model *model, const char *name)
{
    for (int i = 0; i < model->info.command_count; ++i) {
        if (strcmp(model->info.command[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int pl_model_find_marker(const pl_model *model, const char *name)
{
    return model_find(model->info.marker_name, model->info.marker_count, name);
}

int pl_model_find_sensor(const pl_model *model, const char *name)
{
    return model_find(model->info.sensor_name, model->info.sensor_count, name);
}

int pl_model_find_actuator(const pl_model *model, const char *name)
{
    return model_find(model->info.actuator_name, model->info.actuator_count, name);
}

pl_status pl_model_fk(pl_model *model, const double *command, pl_statics_report *report, pl_error *err)
{
    *report = (pl_statics_report){0};
    const pl_status status = model->type->fk(model->self, command, report, err);
    ++model->costs.fk_calls;
    model->costs.iterations += report->iterations;
    model->costs.factorizations += report->factorizations;
    model->costs.solves += report->solves;
    return status;
}

pl_model_answer pl_model_get_answer(const pl_model *model)
{
    pl_model_answer answer = {0};
    model->type->answer(model->self, &answer);
    return answer;
}

pl_status pl_model_differentiate(pl_model *model, unsigned parts, double tolerance, pl_model_derivative *out,
                                 pl_jacobian_report *report, pl_error *err)
{
    *out = (pl_model_derivative){0};
    *report = (pl_jacobian_report){0};
    const pl_status status = model->type->derivative(model->self, parts, tolerance, out, report, err);
    ++model->costs.derivative_calls;
    model->costs.factorizations += report->factorizations;
    model->costs.solves += report->solves;
    return status;
}

pl_status pl_model_keep(pl_model *model, int slot)
{
    PL_ASSERT(slot >= 0 && slot < PL_MODEL_SLOTS);
    return model->type->keep(model->self, slot);
}

pl_status pl_model_recall(pl_model *model, int slot)
{
    PL_ASSERT(slot >= 0 && slot < PL_MODEL_SLOTS);
    return model->type->recall(model->self, slot);
}

void pl_model_reset(pl_model *model)
{
    model->type->reset(model->self);
}

pl_model_costs pl_model_get_costs(const pl_model *model)
{
    return model->costs;
}
