// The full body by the method of the geometric papers: local_global, with the options of a preset or of one's
// own. Statics only evaluates here: markers, sensors, energy and fields of the shape that the method found.
// Derivatives are differences of forward solves, made by pl_model.
#include "geometric/geometric.h"
#include "model/model_body.h"

typedef struct geometric_model {
    model_body body; // first: see model_body.h
    pl_geometric *geometric;
} geometric_model;

// Solves end within 1e-6 mm of the fixed point (length_tolerance), so a step of a five-hundredth of the span
// leaves about six digits to differences, and its square is what they lose to curvature.
#define GEOMETRIC_DIFFERENCE_STEP 2e-3

static void geometric_destroy(void *self)
{
    geometric_model *m = self;
    model_body_clear(&m->body);
    pl_geometric_destroy(m->geometric);
    pl_free(m);
}

static pl_status geometric_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    geometric_model *m = self;
    return pl_geometric_solve(m->geometric, m->body.state, command, report, err);
}

// What the actuators reached is the method's own word: on the corner mesh, efforts only where it knows them.
static void geometric_answer(void *self, pl_model_answer *out)
{
    geometric_model *m = self;
    model_body_answer(&m->body, out);
    for (int i = 0; i < m->body.info.actuator_count; ++i) {
        const pl_geometric_actuator_result a = pl_geometric_actuator(m->geometric, i);
        pl_actuator_state *s = &m->body.state_of[i];
        m->body.effort[i] = a.effort;
        s->asked = a.asked;
        s->reached = a.ratio;
        s->growth = a.growth;
        s->local_low = a.local_low;
        s->local_high = a.local_high;
        s->slack = s->slack && !a.growth;
    }
}

// ---- the state: that of the robot, then what the solver remembers beyond it
static size_t geometric_pack(void *self, double *block, size_t room)
{
    geometric_model *m = self;
    const size_t own = pl_state_pack(m->body.state, NULL, 0);
    const size_t need = own + pl_geometric_pack(m->geometric, NULL, 0);
    if (block && room >= need) {
        pl_state_pack(m->body.state, block, own);
        pl_geometric_pack(m->geometric, block + own, need - own);
    }
    return need;
}

// A state of the exact method ends before the second part: the chambers' insides then start undeformed.
static pl_status geometric_unpack(void *self, const double *block, size_t count, pl_error *err)
{
    geometric_model *m = self;
    const size_t own = pl_state_pack(m->body.state, NULL, 0);
    const size_t need = own + pl_geometric_pack(m->geometric, NULL, 0);
    const bool whole = count == need;
    const pl_status status = pl_state_unpack(m->body.state, block, whole ? own : count, err);
    if (status == PL_OK) {
        pl_geometric_unpack(m->geometric, whole ? block + own : NULL);
    }
    return status;
}

static void geometric_reset(void *self)
{
    geometric_model *m = self;
    pl_state_reset(m->body.state, m->body.robot);
    pl_geometric_unpack(m->geometric, NULL);
}

static const pl_model_type geometric_type = {.info = model_body_info,
                                             .fk = geometric_fk,
                                             .answer = geometric_answer,
                                             .destroy = geometric_destroy,
                                             .pack = geometric_pack,
                                             .unpack = geometric_unpack,
                                             .reset = geometric_reset,
                                             .body = model_body_mesh,
                                             .shape = model_body_shape,
                                             .line = model_body_line,
                                             .field = model_body_field};

// Everything that decides the answers, as numbers.
static uint64_t geometric_hash(uint64_t hash, const pl_geometric_options *o)
{
    const double number[] = {o->metric,
                             o->form,
                             o->stop,
                             o->length_tolerance,
                             o->stop == PL_STOP_TIP_MOTION ? o->tip_tolerance : 0,
                             o->actuation_weight,
                             o->body_weight,
                             o->unit_weights,
                             o->even_weights,
                             o->actuation,
                             o->distribution,
                             o->strain_high,
                             o->contact_spring,
                             o->contact_offset,
                             o->remesh,
                             o->remesh ? o->remesh_volume : 0,
                             o->remesh ? o->remesh_stretch : 0};
    return pl_hash_bytes(pl_hash_bytes(hash, "local_global", sizeof "local_global"), number, sizeof number);
}

pl_status pl_model_from_robot_geometric(const pl_robot *robot, const pl_geometric_options *options,
                                        pl_model **out, pl_error *err)
{
    *out = NULL;
    geometric_model *m = PL_NEW(geometric_model);
    if (!m) {
        return pl_fail_memory(err, "the model");
    }
    const pl_statics_options evaluation = pl_statics_options_default();
    pl_status status = model_body_init(&m->body, robot, &evaluation, err);
    if (status == PL_OK) {
        status = pl_geometric_create(robot, options, &m->geometric, err);
    }
    if (status != PL_OK) {
        geometric_destroy(m);
        return status;
    }
    pl_model_info *info = &m->body.info;
    info->method = "local_global";
    info->hash = geometric_hash(info->hash, options);
    info->difference_step = GEOMETRIC_DIFFERENCE_STEP;
    info->support_count = 0; // the forces of this method are not those of the exact law,
    info->reading_count = 0; // nor those of its springs forces of contact
    info->fields &= ~(1u << PL_FIELD_PRESSURE | 1u << PL_FIELD_GAP);
    pl_geometric_unpack(m->geometric, NULL);
    return pl_model_create(&geometric_type, m, out, err);
}

pl_geometric *pl_model_geometric(const pl_model *model)
{
    const geometric_model *m = pl_model_self(model, &geometric_type);
    return m ? m->geometric : NULL;
}
