// Suggestions that depend on what the robot can do: a pose that moves a marker as far as it goes, and curves
// that lie inside its workspace. Both come from the derivative of the marker in the middle of the ranges; a
// curve is tried before it is offered.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "server_worker.h"

#define SUGGEST_CORNERS 12 // commands whose combinations are all tried; of more, one after the other
#define SUGGEST_SHARE 0.6  // of the linear reach: the robot is not linear
#define SUGGEST_ROUNDS 5   // circles tried, each half as wide as the one before
#define SUGGEST_CURVE 6    // poses on the path of a marker that moves along one curve only

typedef struct suggestion {
    int commands, columns;
    double low[SERVER_COMMANDS], high[SERVER_COMMANDS], rest[SERVER_COMMANDS], middle[SERVER_COMMANDS];
    double place[3];               // of the marker in the middle
    double J[3 * SERVER_COMMANDS]; // 3 rows
} suggestion;

// The derivative at `at`, as an aside.
static bool suggest_derivative(server_model *m, int marker, const double *at, suggestion *s)
{
    pl_solve_report report;
    pl_model_derivative d;
    pl_jacobian_report jacobian;

    if (pl_model_fk(m->model, at, &report, NULL) != PL_OK || report.outcome != PL_SOLVED ||
        pl_model_differentiate(m->model, PL_PART_MARKER, 0, &d, &jacobian, NULL) != PL_OK) {
        return false;
    }

    memcpy(s->place, pl_model_get_answer(m->model).marker + 3 * marker, sizeof s->place);
    memcpy(s->J, d.marker + 3 * (size_t)marker * (size_t)s->commands, 3 * (size_t)s->commands * sizeof *s->J);

    return true;
}

// How far the marker goes, squared, when the commands in `chosen` go to their far ends.
static double suggest_travel(const suggestion *s, const bool *chosen)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        double d = 0;
        for (int c = 0; c < s->commands; ++c) {
            const double up = s->high[c] - s->rest[c], down = s->low[c] - s->rest[c];
            d += chosen[c] ? s->J[i * s->commands + c] * (fabs(up) >= fabs(down) ? up : down) : 0;
        }
        sum += d * d;
    }

    return sum;
}

// The commands to drive fully: those that together move the marker farthest. Antagonists are left out.
static void suggest_full(const suggestion *s, bool *chosen)
{
    double best = -1;
    bool attempt[SERVER_COMMANDS] = {false};

    memset(chosen, 0, SERVER_COMMANDS * sizeof *chosen);
    for (unsigned set = 1; s->commands <= SUGGEST_CORNERS && set < 1u << s->commands; ++set) {
        for (int c = 0; c < s->commands; ++c) {
            attempt[c] = set >> c & 1;
        }
        const double travel = suggest_travel(s, attempt);
        // of equals the one with fewer commands
        if (travel > best * (1 + 1e-6) + 1e-12) {
            best = travel;
            memcpy(chosen, attempt, sizeof attempt);
        }
    }

    for (bool grown = s->commands > SUGGEST_CORNERS; grown;) {
        grown = false;
        for (int c = 0; c < s->commands; ++c) {
            memcpy(attempt, chosen, sizeof attempt);
            attempt[c] = !attempt[c];
            if (suggest_travel(s, attempt) > best * (1 + 1e-6) + 1e-12) {
                best = suggest_travel(s, attempt);
                memcpy(chosen, attempt, sizeof attempt);
                grown = true;
            }
        }
    }
}

// Two directions in which the marker moves most, by powers of R R^T with R the columns of J over half ranges;
// `reach` gets how far (mm). The number of directions in which it moves at all.
static int suggest_plane(const suggestion *s, double axis[2][3], double reach[2])
{
    double A[9] = {0};
    int count = 0;

    for (int c = 0; c < s->commands; ++c) {
        const double half = 0.5 * (s->high[c] - s->low[c]);
        for (int i = 0; i < 9; ++i) {
            A[i] += half * half * s->J[i / 3 * s->commands + c] * s->J[i % 3 * s->commands + c];
        }
    }

    for (int k = 0; k < 2; ++k) {
        double v[3] = {0.61 + k, 0.53, 0.59 - k}, size = 0;
        for (int n = 0; n < 200; ++n) {
            double w[3];
            for (int i = 0; i < 3; ++i) {
                w[i] = A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2];
            }
            size = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
            for (int i = 0; i < 3 && size > 0; ++i) {
                v[i] = w[i] / size;
            }
        }
        memcpy(axis[k], v, sizeof v);
        reach[k] = sqrt(size);
        count += reach[k] > 1e-6 && (k == 0 || reach[k] > 0.02 * reach[0]);
        for (int i = 0; i < 9; ++i) {
            A[i] -= size * v[i / 3] * v[i % 3];
        }
    }

    return count;
}

// Whether inverse kinematics brings the marker to the point.
static bool suggest_reaches(server_worker *w, server_model *m, int marker, const double *target)
{
    static const bool hold[SERVER_COMMANDS];
    const pl_progress progress = m->coarse ? lead_search_progress(w) : worker_search_progress(w);
    pl_ik *ik = NULL;
    pl_ik_report report = {0};
    return server_model_ik(m, marker, hold, &progress, &ik, NULL) == PL_OK &&
           pl_ik_set_target(ik, 0, target, NULL) == PL_OK && pl_ik_solve(ik, NULL, &report, NULL) == PL_OK &&
           report.outcome == PL_IK_REACHED;
}

// The radius of a circle about the middle of which four points are reached, at most `radius`; 0 when none was
// found. The point that failed is the first one of the next round.
static double suggest_circle(server_worker *w, server_model *m, int marker, const suggestion *s,
                             double axis[2][3], double radius)
{
    static const int side[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    int first = 0;

    for (int round = 0; round < SUGGEST_ROUNDS && !worker_overtaken(w); ++round, radius *= 0.5) {
        int good = 0;
        for (; good < 4; ++good) {
            const int k = (first + good) % 4;
            double target[3];
            for (int i = 0; i < 3; ++i) {
                target[i] = s->place[i] + radius * (side[k][0] * axis[0][i] + side[k][1] * axis[1][i]);
            }
            if (!suggest_reaches(w, m, marker, target)) {
                first = k;
                break;
            }
        }
        if (good == 4) {
            return radius;
        }
    }

    return 0;
}

// Where the marker is on its path through the middle half of the ranges, in a model that follows: a marker
// that moves along one curve only can follow nothing else.
static json_t *suggest_path(server_worker *w, server_model *m, int marker, const suggestion *s,
                            const double u[3])
{
    json_t *path = json_array();
    for (int k = 0; k < SUGGEST_CURVE && !worker_overtaken(w); ++k) {
        const double share = 2.0 * k / (SUGGEST_CURVE - 1) - 1;
        double command[SERVER_COMMANDS];
        for (int c = 0; c < s->commands; ++c) {
            const double slope =
                s->J[c] * u[0] + s->J[s->commands + c] * u[1] + s->J[2 * s->commands + c] * u[2];
            command[c] = s->middle[c] + share * 0.25 * (s->high[c] - s->low[c]) * ((slope > 0) - (slope < 0));
        }
        pl_solve_report report;
        if (pl_model_fk(m->model, command, &report, NULL) != PL_OK || report.outcome != PL_SOLVED) {
            continue;
        }
        const double *at = pl_model_get_answer(m->model).marker + 3 * marker;
        for (int i = 0; i < 3; ++i) {
            json_array_append_new(path, server_number(at[i]));
        }
    }

    return path;
}

static void suggest_send(server_worker *w, const server_job *job, json_t *root)
{
    worker_free_slot(w);
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    server_write_reply(w->queue, job->viewer, text ? server_pack_text(text) : NULL);
    free(text);
    json_decref(root);
}

static json_t *suggest_commands(const server_model *m, const suggestion *s)
{
    bool chosen[SERVER_COMMANDS];
    json_t *list = json_array();

    suggest_full(s, chosen);
    for (int c = 0; c < s->commands; ++c) {
        const double up = s->high[c] - s->rest[c], down = s->low[c] - s->rest[c];
        const double far = fabs(up) >= fabs(down) ? s->high[c] : s->low[c];
        json_array_append_new(list, chosen[c] ? server_number(far / server_command_view_of(m, c).scale)
                                              : json_null());
    }

    return list;
}

void worker_suggest(server_worker *w, const server_job *job)
{
    // a curve on the path or in the plane of the coarse mesh would lie beside that of the fine one
    server_model *m = w->has_coarse && !job->count ? &w->coarse : &w->fine;
    suggestion s = {.commands = m->info.command_count};
    json_t *root = json_object(), *middle = json_array();

    if (job->marker >= m->info.marker_count || s.commands == 0) {
        json_decref(root);
        json_decref(middle);
        server_refuse(w->queue, job->viewer, "this needs a marker and a command");
        return;
    }

    for (int c = 0; c < s.commands; ++c) {
        const server_command_view view = server_command_view_of(m, c);
        s.low[c] = view.low * view.scale;
        s.high[c] = view.high * view.scale;
        s.rest[c] = view.rest * view.scale;
        s.middle[c] =
            0.5 *
            (s.rest[c] + (fabs(s.high[c] - s.rest[c]) >= fabs(s.low[c] - s.rest[c]) ? s.high[c] : s.low[c]));
        json_array_append_new(middle, server_number(s.middle[c] / view.scale));
    }

    worker_let_go(w, m);
    double axis[2][3] = {{0}}, reach[2] = {0};
    int directions = 0;
    const bool kept = pl_model_keep(m->model, PL_SLOT_CALLER, NULL) == PL_OK;
    w->quiet = true;
    const bool known =
        suggest_derivative(m, job->marker, s.middle, &s) || suggest_derivative(m, job->marker, s.rest, &s);
    w->quiet = false;
    if (known) {
        directions = suggest_plane(&s, axis, reach);
        reach[0] *= SUGGEST_SHARE;
        reach[1] *= SUGGEST_SHARE;
    }

    if (known && job->count && directions == 2) {
        reach[0] = reach[1] = suggest_circle(w, m, job->marker, &s, axis, reach[1]);
    } else if (known && job->count && directions == 1) {
        json_object_set_new(root, "path", suggest_path(w, m, job->marker, &s, axis[0]));
    }

    if (kept) {
        if (pl_model_recall(m->model, PL_SLOT_CALLER, NULL) != PL_OK) {
            pl_model_reset(m->model);
        }
    }

    if (known) {
        json_object_set_new(root, "directions", json_integer(directions));
        json_object_set_new(root, "u", server_numbers(axis[0], 3));
        json_object_set_new(root, "v", server_numbers(axis[1], 3));
        json_object_set_new(root, "reach", server_numbers(reach, 2));
        json_object_set_new(root, "place", server_numbers(s.place, 3));
        json_object_set_new(root, "full", suggest_commands(m, &s));
    }

    json_object_set_new(root, "type", json_string("suggestion"));
    json_object_set_new(root, "known", json_boolean(known));
    json_object_set_new(root, "marker", json_integer(job->marker));
    json_object_set_new(root, "middle", middle);
    suggest_send(w, job, root);
}
