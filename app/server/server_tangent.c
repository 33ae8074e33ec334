// The derivative of the shape with respect to the commands, from which the page predicts the shapes between
// two solves while a hand drags: x(c) is about x(c0) + dx/dc (c - c0).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_worker.h"

#define TANGENT_SLOW 0.015 // s: a model whose solves were always faster needs no prediction

// One column of a row-major derivative, in the units of the page: `scale` is the command's.
static json_t *tangent_column(const double *d, int rows, int columns, int j, double scale)
{
    json_t *list = json_array();
    for (int i = 0; i < rows; ++i) {
        json_array_append_new(list, server_number(scale * d[(size_t)i * (size_t)columns + (size_t)j]));
    }
    return list;
}

// The header's part of command j, in the units of the robot message.
static json_t *tangent_head(const server_model *m, const pl_model_derivative *d, int j, double scale)
{
    const int columns = m->info.command_count;
    json_t *one = json_object(), *efforts = json_array(), *ratios = json_array();

    for (int a = 0; a < m->info.actuator_count; ++a) {
        const pl_actuator_info *info = &m->info.actuator[a];
        const double unit = pl_effort_scale(info->kind);
        json_array_append_new(efforts, server_number(scale / unit * d->effort[a * columns + j]));
        json_array_append_new(ratios, server_number(scale * d->measure[a * columns + j] / info->rest));
    }

    json_object_set_new(one, "command", json_integer(j));
    json_object_set_new(one, "markers",
                        tangent_column(d->marker, 3 * m->info.marker_count, columns, j, scale));
    json_object_set_new(one, "efforts", efforts);
    json_object_set_new(one, "ratios", ratios);

    return one;
}

server_message *server_model_tangent(server_model *m, const pl_model_derivative *d, uint32_t robot)
{
    const size_t rows = 3 * (size_t)m->info.point_count, columns = (size_t)m->info.command_count;
    const pl_model_answer answer = pl_model_get_answer(m->model);
    char name[SERVER_COMMANDS][16];
    server_array array[SERVER_COMMANDS];
    int count = 0;

    m->column = m->column ? m->column : malloc(rows * columns * sizeof *m->column + 1);
    m->column_shape = m->shape;
    json_t *list = json_array(), *commands = json_array();
    for (int j = 0; j < (int)columns; ++j) {
        json_array_append_new(commands,
                              server_number(answer.command[j] / server_command_view_of(m, j).scale));
    }

    for (int j = 0; m->column && j < (int)columns; ++j) {
        if (isnan(answer.command[j])) {
            continue; // idle: it moves nothing
        }
        const double scale = server_command_view_of(m, j).scale;
        float *column = m->column + (size_t)j * rows;
        m->known[j] = true;
        for (size_t i = 0; i < rows; ++i) {
            column[i] = (float)(scale * d->point[i * columns + (size_t)j]);
        }
        snprintf(name[count], sizeof name[count], "dx%d", j);
        array[count] = (server_array){name[count], SERVER_F32, column, rows};
        json_array_append_new(list, tangent_head(m, d, j, scale));
        ++count;
    }

    json_t *head = json_pack("{s:I,s:I,s:o,s:o}", "robot", (json_int_t)robot, "mesh", (json_int_t)m->mesh,
                             "commands", commands, "columns", list);
    char *json = head && m->column ? json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    server_message *message = json && count > 0 ? server_pack(SERVER_KIND_TANGENT, json, array, count) : NULL;
    free(json);
    json_decref(head);

    return message;
}

static void tangent_publish(server_worker *w, server_model *m)
{
    const unsigned parts = PL_PART_POINT | PL_PART_MARKER | PL_PART_EFFORT | PL_PART_MEASURE;
    pl_model_derivative d;
    pl_jacobian_report report;

    if (pl_model_differentiate(m->model, parts, 0, &d, &report, NULL) == PL_OK) {
        m->moves = 0;
        server_message *message = server_model_tangent(m, &d, w->robot);
        if (message) {
            server_publish(w->queue, SERVER_TANGENT, message);
        }
    }
}

// Idle commands get the value at which an idle actuator stands; true when there were some.
static bool tangent_waken(const server_model *m, double *command)
{
    const pl_model_answer answer = pl_model_get_answer(m->model);
    bool any = false;

    for (int i = 0; i < m->info.command_count; ++i) {
        const server_command_view view = server_command_view_of(m, i);
        any = any || isnan(answer.command[i]);
        command[i] = isnan(answer.command[i]) ? view.rest * view.scale : answer.command[i];
    }

    return any;
}

void worker_tangent(server_worker *w, server_model *m, bool all)
{
    double command[SERVER_COMMANDS];

    // a tube around a centre line has points of its own
    const bool same_points = m->info.point_count == pl_mesh_get(m->body).vertex_count;
    // a page that has a derivative predicts with it: it is renewed after moves that were short enough to be
    // fast, too
    const bool fast = m->seconds < TANGENT_SLOW && !m->column;

    if (!same_points || m->info.command_count == 0 || fast || (m->shape == 0 && !m->at_home) ||
        m->report.outcome != PL_SOLVED || m->pull.gripped) {
        return;
    }

    // differences cost solves of their own: only while nothing waits
    if (!all && m->info.approximate_derivative) {
        return;
    }
    if (!all || !tangent_waken(m, command)) {
        tangent_publish(w, m);
        return;
    }

    // an aside: the model comes back to where it stands
    pl_solve_report report;
    w->quiet = true;
    if (pl_model_keep(m->model, PL_SLOT_CALLER, NULL) == PL_OK) {
        if (pl_model_fk(m->model, command, &report, NULL) == PL_OK && report.outcome == PL_SOLVED) {
            tangent_publish(w, m);
        }
        if (pl_model_recall(m->model, PL_SLOT_CALLER, NULL) != PL_OK) {
            pl_model_reset(m->model);
        }
    }

    w->quiet = false;
}
