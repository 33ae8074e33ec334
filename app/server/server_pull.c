// A hand that pulls at a point of the body: a spring of stiffness k between the hand and the point y it
// grips,
//   f = k (hand - y),
// with k a few times the stiffness of the body there, so that the body follows the hand and a stiff direction
// asks for no more than the hand's distance allows. The solver knows dead forces only: f is found by Newton's
// method with the compliance C = dy/df at the last equilibrium,
//   (I / k + C) (f' - f) = hand - y - f / k,
// one solve after the other, each of them an equilibrium that is shown.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_worker.h"

#define PULL_RADIUS 0.03 // of the robot's size: the grip is spread over it
#define PULL_SOFT 0.2    // 1 / k over the largest compliance of the body
#define PULL_ROUNDS 8    // for one hand that rests
#define PULL_DONE 0.01   // of the force: the spring's law holds so well
#define PULL_STEP 0.2 // of the robot's size: the farthest that one round may move the point, to first order

// ---- 3 x 3
static bool pull_solve3(const double A[9], const double b[3], double x[3])
{
    const double det = A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
                       A[2] * (A[3] * A[7] - A[4] * A[6]);
    for (int k = 0; k < 3; ++k) {
        double M[9];
        memcpy(M, A, sizeof M);
        for (int i = 0; i < 3; ++i) {
            M[3 * i + k] = b[i];
        }
        x[k] = (M[0] * (M[4] * M[8] - M[5] * M[7]) - M[1] * (M[3] * M[8] - M[5] * M[6]) +
                M[2] * (M[3] * M[7] - M[4] * M[6])) /
               det;
    }

    return isfinite(x[0] + x[1] + x[2]);
}

static double pull_length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

// The largest compliance in any direction, by powers of C.
static double pull_softest(const double C[9])
{
    double v[3] = {0.6, 0.5, 0.62}, largest = 0;
    for (int n = 0; n < 40; ++n) {
        double w[3];
        for (int i = 0; i < 3; ++i) {
            w[i] = C[3 * i] * v[0] + C[3 * i + 1] * v[1] + C[3 * i + 2] * v[2];
        }
        largest = pull_length(w);
        for (int i = 0; i < 3 && largest > 0; ++i) {
            v[i] = w[i] / largest;
        }
    }

    return largest;
}

// ---- letting go
void server_model_let_go(server_model *m)
{
    if (!m->pull.gripped) {
        return;
    }

    double command[SERVER_COMMANDS];
    const pl_model_answer answer = pl_model_get_answer(m->model);
    memcpy(command, answer.command, (size_t)m->info.command_count * sizeof *command);
    server_tried(pl_model_pull(m->model, NULL, NULL));
    m->shape = 0;
    if (pl_model_fk(m->model, command, &m->report, NULL) != PL_OK || m->report.outcome != PL_SOLVED) {
        pl_model_reset(m->model); // where the path cannot be reversed it starts from the shape as drawn
    }
    server_pull_end(m);
}

void worker_let_go(server_worker *w, server_model *m)
{
    w->yield = m->pull.gripped ? WORKER_NEVER : w->yield;
    server_model_let_go(m);
}

void server_pull_end(server_model *m)
{
    server_tried(pl_model_grip(m->model, NULL, 0, NULL));
    free(m->pull.response);
    m->pull = (server_pull){0};
}

// ---- pulling
// dx/df of the body, dy/df of the point and those of markers, efforts and measures: 3 columns each.
static pl_status pull_differentiate(server_model *m, pl_error *err)
{
    server_pull *p = &m->pull;
    const size_t n = 3 * (size_t)m->info.point_count, k = 3 * (size_t)m->info.marker_count,
                 a = (size_t)m->info.actuator_count;
    const pl_parameter q[3] = {
        {PL_PARAMETER_GRIP, 0, 0}, {PL_PARAMETER_GRIP, 0, 1}, {PL_PARAMETER_GRIP, 0, 2}};
    pl_jacobian_report report;

    p->response = p->response ? p->response : malloc(3 * (n + k + 2 * a) * sizeof *p->response);
    if (!p->response) {
        return server_fail(err, PL_NO_MEMORY, "no memory for the derivative of the shape");
    }

    const pl_jacobian out = {.position = p->response,
                             .marker = p->response + 3 * n,
                             .effort = p->response + 3 * (n + k),
                             .measure = p->response + 3 * (n + k + a)};
    const pl_status status = pl_model_sensitivity(m->model, q, 3, &out, &report, err);
    p->known = status == PL_OK;

    // the point is a weighted mean of vertices: its compliance by the same weights, from two places of it
    memset(p->C, 0, sizeof p->C);
    for (int j = 0; p->known && j < 3; ++j) {
        double c[3];
        pl_model_grip_mean(m->model, p->response + j, 3, c);
        for (int i = 0; i < 3; ++i) {
            p->C[3 * i + j] = c[i];
        }
    }

    return status;
}

static bool pull_fk(server_worker *w, server_model *m, const double *command, const double *force)
{
    const double start = server_now();
    pl_error err = {0};

    m->shape = 0;
    w->fraction = 0;
    server_tried(pl_model_pull(m->model, force, NULL));
    const pl_status status = pl_model_fk(m->model, command, &m->report, &err);
    if (status == PL_INTERRUPTED || (status == PL_OK && m->report.outcome == PL_STOPPED)) {
        return false;
    }
    m->seconds = server_now() - start;
    if (status != PL_OK) {
        m->report = (pl_solve_report){.outcome = PL_ITERATION_LIMIT, .residual = NAN};
        snprintf(m->report.message, sizeof m->report.message, "%.239s", err.text);
    }

    pl_model_grip_place(m->model, m->pull.place);

    return true;
}

// Takes hold of the point; the body stands at the commands, without a force.
static bool pull_begin(server_worker *w, server_model *m, const server_pose *pose, const double *command)
{
    pl_error err = {0};
    if (m->pull.gripped && memcmp(m->pull.at, pose->grip, sizeof m->pull.at) == 0) {
        return true;
    }
    worker_let_go(w, m);
    m->pull = (server_pull){.gripped = true};
    memcpy(m->pull.at, pose->grip, sizeof m->pull.at);
    pl_status status = pl_model_grip(m->model, pose->grip, PULL_RADIUS * m->info.size, &err);
    if (status == PL_OK && !pull_fk(w, m, command, NULL)) {
        return false;
    }
    if (status == PL_OK && m->report.outcome == PL_SOLVED) {
        memcpy(m->pull.from, m->pull.place, sizeof m->pull.from);
        status = pull_differentiate(m, &err);
    }

    if (status != PL_OK || !m->pull.known) {
        server_pull_end(m);
        server_refuse(w->queue, pose->viewer, "%s",
                      status != PL_OK ? err.text
                                      : "the body is not in equilibrium here: it cannot be pulled");
        return false;
    }

    // one spring for the coarse and the fine body
    if (w->spring_grip[0] != pose->grip[0] || w->spring_grip[1] != pose->grip[1] ||
        w->spring_grip[2] != pose->grip[2] || !(w->spring > 0)) {
        memcpy(w->spring_grip, pose->grip, sizeof w->spring_grip);
        char two[40]; // digits
        snprintf(two, sizeof two, "%.1e", 1 / (PULL_SOFT * pull_softest(m->pull.C)));
        w->spring = strtod(two, NULL);
    }

    return true;
}

static double pull_gap(const server_worker *w, const server_pull *p, const double hand[3], double r[3])
{
    for (int i = 0; i < 3; ++i) {
        r[i] = hand[i] - p->place[i] - p->force[i] / w->spring;
    }
    return pull_length(r) * w->spring;
}

static json_t *pull_json(const server_worker *w, const server_pull *p, const double hand[3])
{
    double moved[3];
    for (int i = 0; i < 3; ++i) {
        moved[i] = p->place[i] - p->from[i];
    }

    json_t *root = json_object();
    json_object_set_new(root, "at", server_numbers(p->at, 3));
    json_object_set_new(root, "hand", server_numbers(hand, 3));
    json_object_set_new(root, "force", server_numbers(p->force, 3));
    json_object_set_new(root, "newton", server_number(pull_length(p->force)));
    json_object_set_new(root, "place", server_numbers(p->place, 3));
    json_object_set_new(root, "from", server_numbers(p->from, 3));
    json_object_set_new(root, "deflection", server_number(pull_length(moved)));
    json_object_set_new(root, "stiffness", server_number(w->spring));

    return root;
}

// The derivative by the force, from which the page predicts shapes between two solves.
static void pull_publish_tangent(server_worker *w, server_model *m)
{
    const server_pull *p = &m->pull;
    const size_t n = 3 * (size_t)m->info.point_count, k = 3 * (size_t)m->info.marker_count,
                 a = (size_t)m->info.actuator_count;
    float *value = malloc(3 * n * sizeof *value + 1);
    json_t *list = json_array();
    server_array array[3];
    static const char *const name[3] = {"df0", "df1", "df2"};

    for (int j = 0; value && j < 3; ++j) {
        for (size_t i = 0; i < n; ++i) {
            value[(size_t)j * n + i] = (float)p->response[3 * i + (size_t)j];
        }
        array[j] = (server_array){name[j], SERVER_F32, value + (size_t)j * n, n};
        json_t *one = json_object(), *markers = json_array(), *efforts = json_array(), *ratios = json_array();
        for (size_t i = 0; i < k; ++i) {
            json_array_append_new(markers, server_number(p->response[3 * (n + i) + (size_t)j]));
        }
        for (size_t i = 0; i < a; ++i) {
            const pl_actuator_info *info = &m->info.actuator[i];
            json_array_append_new(efforts, server_number(p->response[3 * (n + k + i) + (size_t)j] /
                                                         pl_effort_scale(info->kind)));
            json_array_append_new(ratios,
                                  server_number(p->response[3 * (n + k + a + i) + (size_t)j] / info->rest));
        }
        json_object_set_new(one, "force", json_integer(j));
        json_object_set_new(one, "markers", markers);
        json_object_set_new(one, "efforts", efforts);
        json_object_set_new(one, "ratios", ratios);
        json_array_append_new(list, one);
    }

    json_t *head =
        json_pack("{s:I,s:I,s:I,s:o,s:o}", "robot", (json_int_t)w->robot, "mesh", (json_int_t)m->mesh,
                  "shape", (json_int_t)m->shape, "compliance", server_numbers(p->C, 9), "pulls", list);
    char *json = head && value ? json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    server_message *message = json ? server_pack(SERVER_KIND_TANGENT, json, array, 3) : NULL;
    if (message) {
        server_publish(w->queue, SERVER_TANGENT, message);
    }
    free(json);
    json_decref(head);
    free(value);
}

bool worker_grip(server_worker *w, server_model *m, const server_pose *pose, const double *command)
{
    return pull_begin(w, m, pose, command);
}

double worker_live_spring(const server_worker *w)
{
    return PULL_SOFT * w->spring;
}

double worker_grip_radius(const server_model *m)
{
    return PULL_RADIUS * m->info.size;
}

// Follows the hand on one mesh; false when a newer request stopped it or it was refused.
static bool pull_follow(server_worker *w, server_model *m, const server_pose *pose, const double *command)
{
    if (!pull_begin(w, m, pose, command)) {
        return false;
    }

    server_pull *p = &m->pull;
    for (int round = 0; round < PULL_ROUNDS; ++round) {
        double r[3], A[9], step[3], d[3], force[3];
        const double gap = pull_gap(w, p, pose->hand, r);
        if (round > 0 && (gap <= PULL_DONE * (pull_length(p->force) + gap) || worker_overtaken(w))) {
            break;
        }
        for (int i = 0; i < 9; ++i) {
            A[i] = p->C[i] + (i % 4 == 0 ? 1 / w->spring : 0);
        }
        if (!pull_solve3(A, r, step)) {
            break;
        }
        for (int i = 0; i < 3; ++i) {
            d[i] = p->C[3 * i] * step[0] + p->C[3 * i + 1] * step[1] + p->C[3 * i + 2] * step[2];
        }
        const double share = fmin(1, PULL_STEP * m->info.size / (pull_length(d) + 1e-12));
        for (int i = 0; i < 3; ++i) {
            force[i] = p->force[i] + share * step[i];
        }
        if (!pull_fk(w, m, command, force)) {
            return false;
        }
        // the force reached so far is that of the state: a solve that ends early stands at a part of it
        const double reached = m->report.outcome == PL_SOLVED ? 1 : fmax(0, fmin(1, m->report.load_reached));
        for (int i = 0; i < 3; ++i) {
            p->force[i] += reached * (force[i] - p->force[i]);
        }
        worker_publish_shape(w, m, json_pack("{s:o}", "pull", pull_json(w, p, pose->hand)));
        if (m->report.outcome != PL_SOLVED || pull_differentiate(m, NULL) != PL_OK) {
            break;
        }
        pull_publish_tangent(w, m);
    }

    return true;
}

void worker_pull(server_worker *w, const server_pose *pose, const double *command, bool preview)
{
    if (preview) {
        w->yield = WORKER_NEVER;
        if (!pull_follow(w, &w->coarse, pose, command)) {
            return;
        }
    }

    w->yield = preview ? WORKER_AT_ONCE : WORKER_WHEN_RESTED;
    if (!preview || !worker_overtaken(w)) {
        pull_follow(w, &w->fine, pose, command);
    }
}
