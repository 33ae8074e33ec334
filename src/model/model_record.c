// The record of a result: everything a model answers where it stands, with names, in display units.
#include <stdio.h>
#include "model/model_impl.h"
#include "robot/robot.h"
#include "robot/robot_kind.h"

// The record and the arrays that it points to; made once, filled for every result.
struct model_record {
    pl_record record;
    model_bend *bend;
    pl_record_command *command;
    pl_record_actuator *actuator;
    pl_record_marker *marker;
    pl_record_sensor *sensor;
    pl_record_reaction *reaction;
    pl_record_reading *reading;
    pl_reaction *force; // per support
};

// ---- units of the record: N, kPa, mm, mm^3, degrees
const char *pl_effort_unit(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->effort_unit;
}

double pl_effort_scale(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->effort_scale;
}

const char *pl_measure_name(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->measure;
}

const char *pl_measure_unit(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->measure_unit;
}

const char *pl_sensor_kind_name(pl_sensor_kind kind)
{
    return pl_sensor_traits_get(kind)->name;
}

const char *pl_sensor_unit(pl_sensor_kind kind)
{
    return pl_sensor_traits_get(kind)->unit;
}

double pl_sensor_scale(pl_sensor_kind kind)
{
    return pl_sensor_traits_get(kind)->scale;
}

pl_dimension pl_sensor_dimension(pl_sensor_kind kind)
{
    return pl_sensor_traits_get(kind)->dimension;
}

// ---- its parts
// Commands in display units; NAN: idle.
static void record_commands(const pl_model *m, pl_record_command *out)
{
    for (int i = 0; i < m->info.command_count; ++i) {
        const pl_command_info *c = &m->info.command[i];
        out[i] = (pl_record_command){.name = c->name,
                                     .unit = pl_drive_unit(c->drive),
                                     .value = m->answer.command[i] / pl_drive_scale(c->drive)};
    }
}

// Measures and efforts in the units of the kind; names and units come from its table.
static void record_actuators(const pl_model *m, pl_record_actuator *out)
{
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_info *a = &m->info.actuator[i];
        const pl_actuator_kind_info *kind = pl_actuator_kind_get(a->kind);
        const pl_actuator_state *s = &m->answer.actuator[i];
        out[i] = (pl_record_actuator){.name = a->name,
                                      .kind = kind->name,
                                      .drive = pl_drive_name(a->drive),
                                      .idle = a->command < 0 || isnan(m->answer.command[a->command]),
                                      .cable = kind->pulls_only,
                                      .slack = s->slack,
                                      .growth = s->growth,
                                      .measure_name = kind->measure,
                                      .measure_unit = kind->measure_unit,
                                      .measure = m->answer.measure[i] / kind->measure_scale,
                                      .ratio = s->ratio,
                                      .effort_name = kind->effort_key,
                                      .effort_unit = kind->effort_unit,
                                      .effort = m->answer.effort[i] / kind->effort_scale,
                                      .asked = s->asked,
                                      .reached = s->reached,
                                      .local_low = s->local_low,
                                      .local_high = s->local_high};
    }
}

// The angle of a rotation matrix in degrees: tr R = 1 + 2 cos(angle), and the skew part gives the sine, which
// is the more exact of the two for small angles.
static double record_angle(const double R[9])
{
    const double s[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    return atan2(pl_norm3(s), R[0] + R[4] + R[8] - 1) * 180 / PL_PI;
}

// Positions, displacements and rotations from rest; the bending angle may exceed half a turn (model_bend.c).
static void record_markers(const pl_model *m, const model_bend *bend, pl_record_marker *out)
{
    for (int i = 0; i < m->info.marker_count; ++i) {
        const double *R = m->answer.rotation + 9 * i;
        out[i] = (pl_record_marker){.name = m->info.marker_name[i], .has_rotation = !isnan(R[0])};
        memcpy(out[i].position, m->answer.marker + 3 * i, sizeof out[i].position);
        pl_sub3(out[i].position, m->info.marker_at + 3 * i, out[i].displacement);
        memcpy(out[i].rotation, R, sizeof out[i].rotation);
        memcpy(out[i].force, m->answer.force + 3 * i, sizeof out[i].force);
        out[i].turned = out[i].has_rotation ? record_angle(R) : NAN;
        out[i].model_error = m->answer.error.marker[i];
        model_bend_angle(m, bend, i, R, &out[i]);
    }
}

static void record_sensors(const pl_model *m, pl_record_sensor *out)
{
    for (int i = 0; i < m->info.sensor_count; ++i) {
        const pl_sensor_kind kind = m->info.sensor_kind[i];
        out[i] = (pl_record_sensor){.name = m->info.sensor_name[i],
                                    .unit = pl_sensor_unit(kind),
                                    .value = m->answer.sensor[i] / pl_sensor_scale(kind)};
    }
}

// None for models without supports, and for methods whose forces are not those of the material.
static pl_status record_reactions(pl_model *m, model_record *r, pl_error *err)
{
    r->record.reaction_count = 0;
    if (m->info.support_count == 0 || !m->extras->reactions) {
        return PL_OK;
    }

    const pl_status status = pl_model_reactions(m, r->force, err);
    for (int i = 0; status == PL_OK && i < m->info.support_count; ++i) {
        r->reaction[i] = (pl_record_reaction){.name = m->info.support_name[i]};
        memcpy(r->reaction[i].force, r->force[i].force, sizeof r->force[i].force);
        memcpy(r->reaction[i].moment, r->force[i].moment, sizeof r->force[i].moment);
        r->record.reaction_count = i + 1;
    }

    return status;
}

// Quantities of contacts, springs and the like, as the solver lists them.
static void record_readings(const pl_model *m, pl_record_reading *out)
{
    for (int i = 0; i < m->info.reading_count; ++i) {
        const pl_reading_info *r = &m->info.reading[i];
        out[i] = (pl_record_reading){.group = r->group,
                                     .name = r->name,
                                     .quantity = r->quantity,
                                     .unit = r->unit,
                                     .value = m->answer.reading[i]};
    }
}

// Without contact nothing keeps a body from passing through itself; the record says so. Examined once per
// state, not for a brief record.
static pl_status record_crossings(pl_model *m, bool brief, pl_crossings *out, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(m);
    pl_status status = PL_OK;

    if (m->crossings.count < 0 && !brief && robot) {
        status = pl_mesh_crossings(pl_robot_mesh(robot), m->answer.point, &m->crossings, err);
    }
    *out = m->crossings;
    return status;
}

bool pl_record_crossing(const pl_record *record, double at[3])
{
    for (int i = 0; i < 3; ++i) {
        at[i] = record->crossings.at[i];
    }
    return record->crossings.count > 0;
}

// The sentence for a body that penetrates itself; false: it does not, or it was not examined.
bool pl_record_crossing_text(const pl_record *record, char *buffer, size_t size)
{
    const pl_crossings *c = &record->crossings;
    if (c->count <= 0) {
        return false;
    }
    snprintf(
        buffer, size,
        "the body penetrates itself: %d pair%s of surface triangles intersect, the first at (%.4g, %.4g, "
        "%.4g) mm; %s",
        (int)c->count, c->count == 1 ? "" : "s", c->at[0], c->at[1], c->at[2],
        !record->contact       ? "contact is not computed"
        : record->self_contact ? "contact has not kept them apart"
                               : "contact is computed between bodies only (contact: self is false)");
    return true;
}

// The largest of the markers in mm; NAN where one of them is not known.
static pl_record_error record_error(const pl_model *m)
{
    const pl_answer_error *e = &m->answer.error;
    pl_record_error out = {
        .source = e->source, .mm = NAN, .confidence = e->confidence, .unknown = e->unknown};

    for (int i = 0; i < m->info.marker_count; ++i) {
        out.mm = i == 0 || !(e->marker[i] <= out.mm) ? e->marker[i] : out.mm;
        if (isnan(out.mm)) {
            break;
        }
    }

    return out;
}

// The sentence about the error of a reduced or learned model; false: a full body has none.
bool pl_record_model_error_text(const pl_record *record, char *buffer, size_t size)
{
    static const char *const reference[] = {[PL_ERROR_FULL_BODY] = "the full body",
                                            [PL_ERROR_SAMPLES] = "what it was learned from",
                                            [PL_ERROR_MEASUREMENTS] = "the real robot"};
    const pl_record_error *e = &record->model_error;

    if (e->source == PL_ERROR_NONE) {
        return false;
    }

    if (e->source == PL_ERROR_UNMEASURED) {
        snprintf(buffer, size, "%s model: its error was not measured against a full body", record->kind);
    } else if (isfinite(e->mm)) {
        snprintf(buffer, size, "%s model: markers within %.2g mm of %s (%.0f %%, from %s)", record->kind,
                 e->mm, reference[e->source], 100 * e->confidence, pl_error_source_name(e->source));
    } else {
        snprintf(buffer, size, "%s model: its error is not known here: %s", record->kind,
                 e->unknown ? e->unknown : "not all markers were measured");
    }

    return true;
}

// The sentence for elements that were kept from folding; false: there are none.
bool pl_record_guard_text(const pl_record *record, char *buffer, size_t size)
{
    const int n = record->report.guarded;
    if (n <= 0) {
        return false;
    }
    snprintf(
        buffer, size,
        "%d element%s nearly folded and %s kept from it by a guard: the mesh is too coarse there, a smaller "
        "size gives a better answer",
        n, n == 1 ? " has" : "s have", n == 1 ? "is" : "are");
    return true;
}

// The sentence for an obstacle smaller than the faces it touches; false: there is none.
bool pl_record_contact_text(const pl_record *record, char *buffer, size_t size)
{
    const pl_solve_report *r = &record->report;
    if (!r->coarse_contact) {
        return false;
    }
    snprintf(buffer, size,
             "the obstacle '%s' touches with a half width of about %.2g mm on faces with edges of %.2g mm: "
             "the mesh is too coarse there, its force may be off by more than 10 %%",
             r->coarse_contact, r->coarse_width, r->coarse_edge);
    return true;
}

// The sentence for a mesh error above PL_MESH_ERROR_LIMIT; false: it is below, or not known.
bool pl_record_mesh_error_text(const pl_record *record, char *buffer, size_t size)
{
    const pl_mesh_error *e = &record->mesh_error;
    if (!(e->relative > PL_MESH_ERROR_LIMIT)) {
        return false;
    }
    snprintf(
        buffer, size,
        "the mesh is coarse: the motion may be wrong by about %.2g %% (estimated%s); a smaller size gives "
        "a better "
        "answer",
        100 * e->relative, e->factor > 3 ? ", in contact to an order of magnitude" : "");
    return true;
}

// ---- the record
void model_record_destroy(model_record *r)
{
    if (r) {
        model_bend_destroy(r->bend);
        void *const block[] = {r->command,  r->actuator, r->marker, r->sensor,
                               r->reaction, r->reading,  r->force};
        for (int i = 0; i < PL_COUNT(block); ++i) {
            pl_free(block[i]);
        }
        pl_free(r);
    }
}

// Arrays, and what of a record never changes; NULL when out of memory.
static model_record *record_create(const pl_model_info *i)
{
    model_record *r = PL_NEW(model_record);
    if (!r) {
        return NULL;
    }
    r->command = PL_NEW_ARRAY(pl_record_command, i->command_count);
    r->actuator = PL_NEW_ARRAY(pl_record_actuator, i->actuator_count);
    r->marker = PL_NEW_ARRAY(pl_record_marker, i->marker_count);
    r->sensor = PL_NEW_ARRAY(pl_record_sensor, i->sensor_count);
    r->reaction = PL_NEW_ARRAY(pl_record_reaction, i->support_count);
    r->reading = PL_NEW_ARRAY(pl_record_reading, i->reading_count);
    r->force = PL_NEW_ARRAY(pl_reaction, i->support_count);
    if (!r->command || !r->actuator || !r->marker || !r->sensor || !r->reaction || !r->reading || !r->force) {
        model_record_destroy(r);
        return NULL;
    }

    r->record = (pl_record){.robot = i->name,
                            .kind = i->kind,
                            .method = i->method,
                            .hash = i->robot_hash,
                            .vertex_count = i->vertex_count,
                            .element_count = i->element_count,
                            .command_count = i->command_count,
                            .actuator_count = i->actuator_count,
                            .marker_count = i->marker_count,
                            .sensor_count = i->sensor_count,
                            .reading_count = i->reading_count,
                            .command = r->command,
                            .actuator = r->actuator,
                            .marker = r->marker,
                            .sensor = r->sensor,
                            .reaction = r->reaction,
                            .reading = r->reading};

    return r;
}

// Fills the model's record; *out stays valid until the next record or move.
// report NULL: that of the last solve.
static pl_status record_fill(pl_model *model, const pl_solve_report *report, bool brief,
                             const pl_record **out, pl_error *err)
{
    // made at the first call
    *out = NULL;
    if (!model->record && !(model->record = record_create(&model->info))) {
        return pl_fail_memory(err, "the record of a result");
    }

    model_record *r = model->record;
    if (!r->bend && !(r->bend = model_bend_create(model))) {
        return pl_fail_memory(err, "the record of a result");
    }

    // everything that the model answers at its state
    r->record.report = report ? *report : model->report;
    r->record.mesh_error = model->mesh_error;
    r->record.model_error = record_error(model);
    record_commands(model, r->command);
    record_actuators(model, r->actuator);
    record_markers(model, r->bend, r->marker);
    record_sensors(model, r->sensor);
    record_readings(model, r->reading);

    // what costs further computation
    pl_status status = record_reactions(model, r, err);
    if (status == PL_OK) {
        status = record_crossings(model, brief, &r->record.crossings, err);
    }

    const pl_robot *robot = pl_model_robot(model);
    r->record.contact = robot && pl_robot_has_self_contact(robot);
    r->record.self_contact = r->record.contact && robot->contact.self;
    if (status == PL_OK) {
        *out = &r->record;
    }

    return status;
}

pl_status pl_model_record(pl_model *model, const pl_solve_report *report, const pl_record **out,
                          pl_error *err)
{
    return record_fill(model, report, false, out, err);
}

pl_status pl_model_record_brief(pl_model *model, const pl_solve_report *report, const pl_record **out,
                                pl_error *err)
{
    return record_fill(model, report, true, out, err);
}
