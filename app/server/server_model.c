// A model with the mesh that shows it, and the message made after every solve: the shape as it stands.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_impl.h"

static pl_status model_take_mesh(server_model *m, pl_error *err)
{
    if (m->robot) {
        m->body = pl_robot_mesh(m->robot);
        return PL_OK;
    }
    const pl_status status = pl_reduced_tube(m->model, &m->tube, err);
    m->body = m->tube;
    return status;
}

pl_status server_model_open(server_model *m, pl_robot *robot, pl_model *model, bool coarse, uint32_t mesh,
                            pl_error *err)
{
    *m = (server_model){.robot = robot, .model = model, .coarse = coarse, .mesh = mesh, .ik_marker = -1};
    m->info = pl_model_get_info(model);
    pl_status status = model_take_mesh(m, err);
    if (status == PL_OK && m->info.command_count > SERVER_COMMANDS) {
        status = server_fail(err, PL_BAD_INPUT, "the robot has %d commands, the view can set %d",
                             m->info.command_count, SERVER_COMMANDS);
    }
    if (status == PL_OK) {
        const pl_mesh_view view = pl_mesh_get(m->body);
        const size_t n = (size_t)view.vertex_count, e = (size_t)view.element_count;
        m->place = calloc(3 * n, sizeof *m->place);
        m->field = calloc(n > e ? n : e, sizeof *m->field);
        m->weight = calloc(2 * n, sizeof *m->weight);
        m->position = calloc(3 * n, sizeof *m->position);
        m->value = calloc(3 * n, sizeof *m->value);
        if (!m->place || !m->field || !m->weight || !m->position || !m->value) {
            status = server_fail(err, PL_NO_MEMORY, "no memory for the view of %zu vertices", n);
        }
    }
    if (status != PL_OK) {
        server_model_close(m);
    }
    return status;
}

void server_model_close(server_model *m)
{
    pl_ik_destroy(m->ik);
    pl_state_destroy(m->home);
    pl_model_destroy(m->model);
    pl_mesh_destroy(m->tube);
    pl_robot_destroy(m->robot);
    free(m->place);
    free(m->field);
    free(m->weight);
    free(m->position);
    free(m->value);
    *m = (server_model){0};
}

pl_actuator_info server_model_actuator(const server_model *m, int i)
{
    return m->robot ? pl_robot_actuator(m->robot, i) : pl_reduced_actuator(m->model, i);
}

const double *server_model_positions(server_model *m)
{
    if (m->robot) {
        return pl_model_get_answer(m->model).point;
    }
    if (pl_reduced_tube_place(m->model, m->tube, m->place, NULL) != PL_OK) {
        const pl_mesh_view view = pl_mesh_get(m->body);
        memcpy(m->place, view.position, 3 * (size_t)view.vertex_count * sizeof *m->place);
    }
    return m->place;
}

void server_model_go_home(server_model *m)
{
    pl_state *state = pl_model_state(m->model);
    if (!m->home || !state || pl_state_copy(state, m->home) != PL_OK) {
        pl_model_reset(m->model);
    }
}

void server_model_keep_home(server_model *m)
{
    const pl_state *state = pl_model_state(m->model);
    if (m->home || !m->robot || !state || pl_state_create(m->robot, &m->home, NULL) != PL_OK) {
        return;
    }
    if (pl_state_copy(m->home, state) != PL_OK) {
        pl_state_destroy(m->home);
        m->home = NULL;
    }
}

// ---- inverse kinematics
pl_status server_model_ik(server_model *m, int marker, const bool *hold, const pl_progress *progress,
                          pl_ik **out, pl_error *err)
{
    *out = m->ik;
    if (m->ik && m->ik_marker == marker && memcmp(hold, m->ik_hold, sizeof m->ik_hold) == 0) {
        return PL_OK;
    }
    if (marker < 0 || marker >= m->info.marker_count) {
        return server_fail(err, PL_BAD_INPUT, "the robot has no marker number %d", marker);
    }
    pl_ik_destroy(m->ik);
    *out = m->ik = NULL;
    pl_objective objective = pl_objective_default(PL_OBJECTIVE_POSITION);
    objective.index = marker;
    memcpy(objective.target, m->info.marker_at + 3 * marker, sizeof objective.target);
    // commands without a range get the one their slider has
    double low[SERVER_COMMANDS], high[SERVER_COMMANDS];
    for (int i = 0; i < m->info.command_count; ++i) {
        const server_knob knob = server_knob_of(m, i);
        low[i] = knob.low * knob.scale;
        high[i] = knob.high * knob.scale;
    }
    pl_ik_options options = pl_ik_options_default();
    options.low = low;
    options.high = high;
    options.hold = hold;
    options.progress = *progress;
    const pl_status status = pl_ik_create(m->model, &objective, 1, &options, &m->ik, err);
    *out = m->ik;
    m->ik_marker = marker;
    memcpy(m->ik_hold, hold, sizeof m->ik_hold);
    return status;
}

// ---- the shape message
// J lives on elements: vertices get the mean of the elements around.
static void model_element_to_vertex(server_model *m, const double *element, double *vertex)
{
    const pl_mesh_view view = pl_mesh_get(m->body);
    const size_t n = (size_t)view.vertex_count;
    double *count = m->weight + n;
    memset(m->weight, 0, 2 * n * sizeof *m->weight);
    for (int32_t e = 0; e < view.element_count; ++e) {
        for (int64_t k = view.node_start[e]; k < view.node_start[e + 1]; ++k) {
            m->weight[view.node[k]] += element[e];
            count[view.node[k]] += 1;
        }
    }
    for (size_t v = 0; v < n; ++v) {
        vertex[v] = count[v] > 0 ? m->weight[v] / count[v] : 1;
    }
}

// The three fields of the page, spread over 16 bits: largest strain in %, von Mises stress in kPa, J.
// Reduced models have none: their ranges stay empty and nothing is sent.
static void model_fields(server_model *m, json_t *head)
{
    static const struct {
        const char *name;
        pl_field field;
        double scale, shift;
    } shown[3] = {{"strain", PL_FIELD_STRETCH, 100, -100},
                  {"stress", PL_FIELD_VON_MISES, 1000, 0},
                  {"J", PL_FIELD_J, 1, 0}};
    pl_statics *statics = pl_model_statics(m->model);
    const pl_state *state = pl_model_state(m->model);
    const size_t n = (size_t)pl_mesh_get(m->body).vertex_count;
    json_t *ranges = json_object();
    for (int f = 0; statics && f < 3; ++f) {
        double low = 0, high = 0;
        if (pl_statics_field(statics, state, shown[f].field, m->field, NULL) != PL_OK) {
            memset(m->field, 0, n * sizeof *m->field);
        } else if (pl_field_on_elements(shown[f].field)) {
            model_element_to_vertex(m, m->field, m->weight);
            memcpy(m->field, m->weight, n * sizeof *m->field);
        }
        for (size_t v = 0; v < n; ++v) {
            m->field[v] = m->field[v] * shown[f].scale + shown[f].shift;
        }
        server_quantize(m->field, n, &low, &high, m->value + (size_t)f * n);
        json_object_set_new(ranges, shown[f].name, server_numbers((double[]){low, high}, 2));
    }
    json_object_set_new(head, "ranges", ranges);
}

static json_t *model_actuators(server_model *m, const pl_model_answer *answer)
{
    pl_statics *statics = pl_model_statics(m->model);
    json_t *list = json_array();
    for (int a = 0; a < m->info.actuator_count; ++a) {
        const pl_actuator_info info = server_model_actuator(m, a);
        const bool slack = info.kind == PL_CABLE &&
                           (statics ? pl_statics_actuator(statics, pl_model_state(m->model), a).slack
                                    : pl_reduced_slack(m->model, a));
        json_t *one = json_object();
        json_object_set_new(one, "effort",
                            server_number((info.kind == PL_CABLE ? 1 : 1e3) * answer->effort[a]));
        json_object_set_new(one, "ratio", server_number(answer->measure[a] / info.rest));
        json_object_set_new(one, "measure", server_number(answer->measure[a]));
        json_object_set_new(one, "slack", json_boolean(slack));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *model_markers(const server_model *m, const pl_model_answer *answer)
{
    json_t *list = json_array();
    for (int k = 0; k < m->info.marker_count; ++k) {
        const double *x = answer->marker + 3 * k, *rest = m->info.marker_at + 3 * k;
        const double moved[3] = {x[0] - rest[0], x[1] - rest[1], x[2] - rest[2]};
        json_t *one = json_object();
        json_object_set_new(one, "position", server_numbers(x, 3));
        json_object_set_new(one, "displacement", server_numbers(moved, 3));
        json_object_set_new(one, "rotation",
                            isfinite(answer->rotation[9 * k]) ? server_numbers(answer->rotation + 9 * k, 9)
                                                              : json_null());
        json_array_append_new(list, one);
    }
    return list;
}

json_t *server_model_sensors(const server_model *m, const pl_model_answer *answer)
{
    static const double scale[] = {1, 1e-3, 1e3}; // mm, mL, kPa
    json_t *list = json_array();
    for (int k = 0; k < m->info.sensor_count; ++k) {
        json_array_append_new(list, server_number(scale[m->info.sensor_kind[k]] * answer->sensor[k]));
    }
    return list;
}

static int model_line(server_model *m, int actuator, double *point, int room)
{
    if (m->robot && server_model_actuator(m, actuator).kind != PL_CABLE) {
        return 0;
    }
    return m->robot ? pl_statics_cable_points(pl_model_statics(m->model), pl_model_state(m->model), actuator,
                                              point, room)
                    : pl_reduced_path_points(m->model, actuator, point, room);
}

// Polylines of all cables (of reduced models: of all actuators) behind each other.
static float *model_lines(server_model *m, size_t *count, json_t *list)
{
    size_t total = 0;
    for (int a = 0; a < m->info.actuator_count; ++a) {
        total += (size_t)model_line(m, a, NULL, 0);
    }
    double *point = malloc(3 * total * sizeof *point + 1);
    float *out = malloc(3 * total * sizeof *out + 1);
    *count = 0;
    for (int a = 0; point && out && a < m->info.actuator_count; ++a) {
        const int k = model_line(m, a, point + 3 * *count, (int)(total - *count));
        if (k > 0) {
            json_array_append_new(
                list, json_pack("{s:i,s:I,s:i}", "actuator", a, "start", (json_int_t)*count, "count", k));
            *count += (size_t)k;
        }
    }
    for (size_t i = 0; point && out && i < 3 * *count; ++i) {
        out[i] = (float)point[i];
    }
    free(point);
    return out;
}

static void model_report(const server_model *m, json_t *head)
{
    const pl_statics_report *r = &m->report;
    json_object_set_new(head, "outcome", json_string(pl_outcome_name(r->outcome)));
    json_object_set_new(head, "solved", json_boolean(r->outcome == PL_SOLVED));
    json_object_set_new(head, "message", json_string(r->message));
    json_object_set_new(head, "iterations", json_integer(r->iterations));
    json_object_set_new(head, "factorizations", json_integer(r->factorizations));
    json_object_set_new(head, "solves", json_integer(r->solves));
    json_object_set_new(head, "increments", json_integer(r->increments));
    json_object_set_new(head, "residual", server_number(r->residual));
    json_object_set_new(head, "residual_relative", server_number(r->residual_relative));
    json_object_set_new(head, "load_reached", server_number(r->load_reached));
    json_object_set_new(head, "energy", server_number(r->energy));
    json_object_set_new(head, "min_J", server_number(r->min_J));
    json_object_set_new(head, "max_stretch", server_number(r->max_stretch));
    json_object_set_new(head, "unstable", json_boolean(r->negative_count > 0));
    json_object_set_new(head, "seconds", server_number(m->seconds));
}

server_message *server_model_shape(server_model *m, json_t *extra)
{
    const size_t n = (size_t)pl_mesh_get(m->body).vertex_count;
    const double *x = server_model_positions(m);
    const pl_model_answer answer = pl_model_get_answer(m->model);
    json_t *head = json_object(), *lines = json_array(), *commands = json_array();
    for (int i = 0; i < m->info.command_count; ++i) {
        json_array_append_new(commands, server_number(answer.command[i] / server_knob_of(m, i).scale));
    }
    json_object_set_new(head, "mesh", json_integer(m->mesh));
    json_object_set_new(head, "level", json_string(m->coarse ? "coarse" : "fine"));
    json_object_set_new(head, "commands", commands);
    model_report(m, head);
    json_object_set_new(head, "actuators", model_actuators(m, &answer));
    json_object_set_new(head, "markers", model_markers(m, &answer));
    json_object_set_new(head, "sensors", server_model_sensors(m, &answer));
    model_fields(m, head);
    size_t points = 0;
    float *line = model_lines(m, &points, lines);
    json_object_set_new(head, "cables", lines);
    json_object_update(head, extra);
    json_decref(extra);
    for (size_t i = 0; i < 3 * n; ++i) {
        m->position[i] = (float)x[i];
    }
    char *json = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(head);
    const size_t fields = m->robot ? n : 0;
    const server_array array[] = {{"x", SERVER_F32, m->position, 3 * n},
                                  {"strain", SERVER_U16, m->value, fields},
                                  {"stress", SERVER_U16, m->value + n, fields},
                                  {"J", SERVER_U16, m->value + 2 * n, fields},
                                  {"cable", SERVER_F32, line, 3 * points}};
    server_message *message =
        json && line ? server_pack(SERVER_KIND_SHAPE, json, array, sizeof array / sizeof *array) : NULL;
    free(json);
    free(line);
    return message;
}
