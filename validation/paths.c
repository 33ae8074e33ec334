// The paths of the papers, followed waypoint by waypoint: largest error at the tip, largest change of a
// command between waypoints, bounds kept. The forward solves behind every waypoint are checked by an
// independent residual.
//
//   paths [DESIGN [STRIDE]]       all of them, or those on one design; every STRIDE-th waypoint
#include "path_robot.h"

typedef struct row {
    const char *design;
    double element; // mm
    pl_path_kind kind;
    int count;
    double size[3];
    double x[3], y[3]; // axes of the path
    bool axes[3];      // coordinates that count; none: all
    double command[3]; // where the path's centre is the tip, internal units
    double high[3];    // upper bounds; 0: the design's
} row;

static const row table[] = {
    // the finger's tendons steer two coordinates; the third follows
    {"cable_finger", 9, PL_PATH_ELL, 55, {12, 16}, {0, 1, 0}, {0, 0, 1}, {false, true, true}, {8, 4, 4}, {0}},
    {"cable_finger",
     9,
     PL_PATH_FLAME,
     85,
     {12, 18},
     {0, 1, 0},
     {0, 0, 1},
     {false, true, true},
     {8, 4, 4},
     {0}},
    {"three_chamber", 14, PL_PATH_FLOWER, 120, {10, 10}, {1, 0, 0}, {0, 1, 0}, {false}, {2, 2, 2}, {3, 3, 3}},
    {"three_chamber", 14, PL_PATH_BOX, 240, {5, 5, 2}, {1, 0, 0}, {0, 1, 0}, {false}, {2, 2, 2}, {3, 3, 3}},
};

typedef struct check {
    const path_robot *r;
    const double *low, *high;
    double worst, residual;
    int outside, unsound;
} check;

// Bounds to the last bit, and the balance of forces from scratch.
static bool check_waypoint(void *user, const pl_waypoint *w)
{
    check *c = user;
    for (int i = 0; i < c->r->info.command_count; ++i) {
        c->outside += !(w->command[i] >= c->low[i] && w->command[i] <= c->high[i]);
    }

    pl_model_check found;
    pl_error err = {0};
    const bool looked = pl_model_verify(c->r->model, &found, &err) == PL_OK;
    c->unsound += !looked || found.inverted || !(found.residual <= 1e-5 * found.largest_force);
    c->worst = fmax(c->worst, w->ik->distance);

    return true;
}

static bool path_at(path_robot *r, const row *w, int stride, double *point, int *count)
{
    pl_error err = {0};
    pl_solve_report fk;
    pl_path_def def = pl_path_default(w->kind);

    if (pl_model_fk(r->model, w->command, &fk, &err) != PL_OK || fk.outcome != PL_SOLVED) {
        printf("%s: no start: %s %s\n", w->design, err.text, fk.message);
        return false;
    }

    memcpy(def.centre, pl_model_get_answer(r->model).marker, sizeof def.centre);
    memcpy(def.size, w->size, sizeof def.size);
    memcpy(def.x, w->x, sizeof def.x);
    memcpy(def.y, w->y, sizeof def.y);
    def.count = w->count;
    if (pl_path_points(&def, point, &err) != PL_OK) {
        printf("%s\n", err.text);
        return false;
    }

    *count = 0;
    for (int i = 0; i < w->count; i += stride) {
        memmove(point + 3 * (*count)++, point + 3 * i, 3 * sizeof *point);
    }

    return true;
}

static bool follow(const row *w, int stride)
{
    path_robot r;
    static double point[3 * 240];
    int count;

    if (!path_robot_create(w->design, w->element, &r)) {
        return false;
    }
    if (r.info.command_count != 3 || !path_at(&r, w, stride, point, &count)) {
        path_robot_clear(&r);
        return false;
    }

    double low[3], high[3];
    for (int i = 0; i < 3; ++i) {
        low[i] = r.info.command[i].range[0];
        high[i] = w->high[i] > 0 ? w->high[i] : r.info.command[i].range[1];
    }

    check c = {.r = &r, .low = low, .high = high};
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    memcpy(o.axes, w->axes, sizeof o.axes);
    pl_ik_options options = pl_ik_options_default();
    options.low = low;
    options.high = high;
    pl_follow_options follow_options = pl_follow_options_default();
    follow_options.record = check_waypoint;
    follow_options.user = &c;
    pl_follow_report report;
    pl_error err = {0};
    pl_ik *ik = NULL;
    const bool done = pl_ik_create(r.model, &o, 1, &options, &ik, &err) == PL_OK &&
                      pl_follow(ik, point, count, &follow_options, &report, &err) == PL_OK;
    bool good = false;
    if (done) {
        const double each = count;
        good = report.reached == count && c.worst < 0.01 && c.outside == 0 && c.unsound == 0;
        printf("%-14s %6d %-8s %5d %8d %10.5f %10.4f %-9s %8d %8d %7.2f %7.2f %7.1f%s\n", w->design,
               r.elements, pl_path_name(w->kind), count, report.reached, c.worst, report.largest_step,
               report.largest_step_command >= 0 ? r.info.command[report.largest_step_command].name : "",
               c.outside, c.unsound, (double)report.costs.fk_calls / each,
               (double)report.costs.factorizations / each, (double)report.costs.solves / each,
               good ? "" : "   <-- FAIL");
    } else {
        printf("%s: %s\n", w->design, err.text);
    }

    fflush(stdout);
    pl_ik_destroy(ik);
    path_robot_clear(&r);

    return good;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    const int stride = argc > 2 ? atoi(argv[2]) : 1;

    if (stride < 1) {
        printf("paths [DESIGN [STRIDE]]\n");
        return 2;
    }

    bool good = true;
    printf("paths of the papers: waypoints, those reached, largest error, largest change of a command "
           "between waypoints\n"
           "(in parts of its range), commands outside their bounds, waypoints out of balance, cost of a "
           "waypoint\n");
    printf("%-14s %6s %-8s %5s %8s %10s %10s %-9s %8s %8s %7s %7s %7s\n", "design", "tet10", "path", "count",
           "reached", "error mm", "step", "of", "outside", "unsound", "forward", "factor", "solves");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        if (!only || strcmp(only, table[i].design) == 0) {
            good = follow(&table[i], stride) && good;
        }
    }

    printf("%s\n", good ? "PASS" : "FAIL");

    return good ? 0 : 1;
}
