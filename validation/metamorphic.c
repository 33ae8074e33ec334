// Metamorphic checks: a random robot (metamorphic_robot.h) and what must not change its answer. It is
// rotated, mirrored, scaled in units, renumbered, halved where it is symmetric (metamorphic_change.h), solved
// through an intermediate command, and command by command in the opposite order. The shapes, mapped back,
// must be equal to the tolerance of the solver, or each must be shown to be an equilibrium of the same robot
// (another branch).
// Every fourth robot has a finer mesh.
//   metamorphic [more] [COUNT [SEED]]   default 160 robots from seed 1; more: of the second family
//                                       (metamorphic_more.h: growth, gas, magnets, clamps, tendons...)
//   metamorphic [more] show SEED        one robot
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "metamorphic_change.h"
#include "metamorphic_more.h"
#include "pliant/result.h"
#include "robot/robot.h"

#define WORKERS 2
#define SECONDS_EACH 120 // CPU seconds; a robot that takes longer counts as a failure
#define COMMANDS (META_ACTUATORS + 2)

// Two answers, each within the length tolerance (mm) of an equilibrium by the estimate of its last step, and
// with contacts to the contact tolerance (of an edge). The estimate is that of a Newton step, exact to first
// order; three times their sum is allowed.
#define SAFETY 3

typedef enum change { ROTATED, MIRRORED, SCALED, RENUMBERED, HALVED, VIA_HALF, ONE_BY_ONE, CHANGES } change;
static const char *const change_name[CHANGES] = {"rotated", "mirrored", "scaled",    "renumbered",
                                                 "halved",  "via half", "one by one"};

typedef enum verdict {
    EQUAL,
    BRANCH,  // both are equilibria of the same robot
    HISTORY, // both are equilibria under friction, which depend on the increments that led to them
    NEITHER, // neither is claimed to be solved
    SKIPPED, // does not apply: no symmetry, or friction, whose answer depends on the path
    ONE_REFUSED,
    DIFFERENT, // both are called solved, one of them is not an equilibrium of the robot
    NOT_BUILT,
    VERDICTS
} verdict;
static const char *const verdict_name[VERDICTS] = {"equal",   "branch",      "friction",  "neither",
                                                   "skipped", "one refused", "DIFFERENT", "NOT BUILT"};

typedef struct row {
    verdict verdict;
    double distance, allowed; // mm of the robot as drawn
    double effort;            // relative
    char words[220];
} row;

typedef struct note {
    uint64_t seed;
    double seconds;
    pl_outcome outcome;
    char robot[200], message[160];
    row row[CHANGES];
} note;

typedef struct answer {
    meta_robot def;
    meta_map map; // from the robot as drawn to this one
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
    pl_solve_report report;
    double command[COMMANDS];
    pl_error err;
} answer;

static bool second_family;

static const meta_map identity = {.Q = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .s = 1, .f = 1};

// The shape depends on the increments that led to it.
static bool has_history(const meta_robot *m)
{
    bool history = m->def.contact.friction > 0;
    for (int i = 0; i < m->def.actuator_count; ++i) {
        history = history || m->actuator[i].friction > 0;
    }
    return history;
}

static void answer_clear(answer *a)
{
    pl_state_destroy(a->state);
    pl_statics_destroy(a->statics);
    pl_robot_destroy(a->robot);
    meta_mesh_clear(&a->def.mesh);
}

static bool answer_build(answer *a)
{
    const pl_statics_options options = pl_statics_options_default();
    if (meta_build(&a->def, &a->robot, &a->err) != PL_OK ||
        pl_statics_create(a->robot, &options, &a->statics, &a->err) != PL_OK ||
        pl_state_create(a->robot, &a->state, &a->err) != PL_OK) {
        return false;
    }

    meta_commands(&a->def, a->robot, a->command);
    return true;
}

static bool answer_solve(answer *a, const double *command)
{
    if (pl_statics_solve(a->statics, a->state, command, &a->report, &a->err) != PL_OK) {
        a->report.outcome = PL_STOPPED;
        snprintf(a->report.message, sizeof a->report.message, "%.200s", a->err.text);
    }
    return a->report.outcome == PL_SOLVED;
}

// ---- comparison of shapes
// Vertex of `b` at the place of each vertex of `a`; -1: none (the other half).
static int32_t *match(const answer *a, const answer *b)
{
    const double *x = pl_mesh_get(pl_robot_mesh(a->robot)).position;
    const double *y = pl_mesh_get(pl_robot_mesh(b->robot)).position;
    const double close = 1e-6 * a->def.size[1];
    int32_t *of = malloc((size_t)a->def.vertices * sizeof *of);
    double *mapped = malloc(3 * (size_t)b->def.vertices * sizeof *mapped);

    for (int32_t w = 0; w < b->def.vertices; ++w) {
        meta_unapply(&b->map, y + 3 * (size_t)w, mapped + 3 * (size_t)w);
    }

    for (int32_t v = 0; v < a->def.vertices; ++v) {
        of[v] = -1;
        for (int32_t w = 0; w < b->def.vertices && of[v] < 0; ++w) {
            of[v] = pl_distance3(x + 3 * (size_t)v, mapped + 3 * (size_t)w) < close ? w : -1;
        }
    }

    free(mapped);

    return of;
}

// The largest distance (mm, as drawn) between the shapes, and between the centres of free bodies.
static double distance(const answer *a, const answer *b, const int32_t *of)
{
    const double *x = pl_state_positions(a->state), *y = pl_state_positions(b->state);
    double largest = 0, at[3];

    for (int32_t v = 0; v < a->def.vertices; ++v) {
        if (of[v] >= 0) {
            meta_unapply(&b->map, y + 3 * (size_t)of[v], at);
            largest = fmax(largest, pl_distance3(x + 3 * (size_t)v, at));
        }
    }

    for (int i = 0; i < a->def.def.contact.obstacle_count; ++i) {
        double R[9], t[3], ca[3], cb[3];
        pl_robot_obstacle_pose(a->robot, i, a->command, x, R, t);
        pl_mulv3(R, a->def.obstacle[i].point, ca);
        ca[0] += t[0], ca[1] += t[1], ca[2] += t[2];
        pl_robot_obstacle_pose(b->robot, i, b->command, y, R, t);
        pl_mulv3(R, b->def.obstacle[i].point, cb);
        cb[0] += t[0], cb[1] += t[1], cb[2] += t[2];
        meta_unapply(&b->map, cb, at);
        largest = fmax(largest, pl_distance3(ca, at));
    }

    return largest;
}

// The largest difference of efforts over the larger of the effort and a hundredth of the shear modulus
// (cables: times the section).
static double effort_difference(const answer *a, const answer *b)
{
    double largest = 0;
    for (int i = 0; i < a->def.def.actuator_count; ++i) {
        for (int j = 0; j < b->def.def.actuator_count; ++j) {
            if (strcmp(a->def.actuator[i].name, b->def.actuator[j].name) != 0) {
                continue;
            }
            const pl_actuator_kind kind = a->def.actuator[i].kind;
            const double ea = pl_statics_actuator(a->statics, a->state, i).effort;
            const double eb =
                pl_statics_actuator(b->statics, b->state, j).effort / meta_effort_scale(kind, &b->map);
            const double least = kind == PL_MAGNET  ? 1e-12 // 1 uT
                                 : kind == PL_CABLE ? 0.01 * a->def.mu * a->def.size[1] * a->def.size[2]
                                                    : 0.01 * a->def.mu;
            largest = fmax(largest, fabs(ea - eb) / fmax(fabs(ea), least));
        }
    }

    return largest;
}

static double tolerance(const answer *a, const answer *b)
{
    const pl_statics_options options = pl_statics_options_default();
    const double edge = a->def.size[0] / a->def.cells[0];
    return SAFETY * (options.length_tolerance * (1 + 1 / b->map.s) +
                     (pl_robot_has_contact(a->robot) ? 2 * options.contact_tolerance * edge : 0));
}

// ---- another branch: the shape of `b` is put into `a`, which must stay there when solved again
static void put_shape(const answer *from, const int32_t *of, answer *to)
{
    const double *y = pl_state_positions(from->state);
    pl_state *s = to->state;

    for (int32_t v = 0; v < to->def.vertices; ++v) {
        if (of[v] >= 0) {
            meta_unapply(&from->map, y + 3 * (size_t)of[v], s->x + 3 * (size_t)v);
        }
    }

    memcpy(s->command, to->command, (size_t)s->command_count * sizeof *s->command);
    s->load = 1;
    for (int i = 0; i < to->def.def.actuator_count; ++i) {
        for (int j = 0; j < from->def.def.actuator_count; ++j) {
            if (strcmp(to->def.actuator[i].name, from->def.actuator[j].name) == 0) {
                s->multiplier[i] =
                    from->state->multiplier[j] / meta_effort_scale(to->def.actuator[i].kind, &from->map);
                s->active[i] = from->state->active[j];
            }
        }
    }
}

// The half, mirrored onto the other side.
static void mirror_shape(const answer *half, answer *to)
{
    const double *rest = pl_mesh_get(pl_robot_mesh(to->robot)).position;
    const double *other = pl_mesh_get(pl_robot_mesh(half->robot)).position,
                 *y = pl_state_positions(half->state);

    for (int32_t v = 0; v < to->def.vertices; ++v) {
        const double at[3] = {rest[3 * v], fabs(rest[3 * v + 1]), rest[3 * v + 2]};
        for (int32_t w = 0; w < half->def.vertices; ++w) {
            if (pl_distance3(other + 3 * (size_t)w, at) < 1e-6 * to->def.size[1]) {
                memcpy(to->state->x + 3 * (size_t)v, y + 3 * (size_t)w, 3 * sizeof *y);
                to->state->x[3 * v + 1] *= rest[3 * v + 1] < 0 ? -1 : 1;
            }
        }
    }
}

static bool in_balance(answer *a)
{
    double residual = 0, largest = 0;
    bool inverted = false;
    return pl_statics_check(a->statics, a->state, &residual, &largest, &inverted, &a->err) == PL_OK &&
           residual <= 1e-5 * largest && !inverted;
}

static bool stays(const answer *a, const answer *b, const int32_t *of, double allowed, row *r)
{
    answer again = {.map = identity};
    meta_copy(&a->def, &again.def);
    bool same = answer_build(&again);
    if (same) {
        int32_t *self = match(&again, a);
        put_shape(b, of, &again);
        if (b->def.half) {
            // a body that has buckled sideways: the half stays on the path of symmetric equilibria
            mirror_shape(b, &again);
            if (in_balance(&again)) {
                snprintf(r->words, sizeof r->words, "the mirrored half is in balance");
                free(self);
                answer_clear(&again);
                return true;
            }
        }
        same = answer_solve(&again, again.command);
        const double moved = distance(&again, b, of), home = distance(&again, a, self);
        snprintf(r->words, sizeof r->words,
                 "solved again from there: %s, %.2e mm from it, %.2e mm from the first",
                 pl_outcome_name(again.report.outcome), moved, home);
        same = same && moved <= allowed && home > allowed;
        free(self);
    }

    answer_clear(&again);

    return same;
}

// Solved again from where it is, with the history of its friction, a state stays there; so does its residual.
static bool rests(const answer *a, double allowed)
{
    pl_error err = {0};
    pl_state *state = NULL;
    pl_solve_report report;
    double residual = 0, largest = 0, moved = 0;
    bool inverted = false;
    bool good = pl_state_create(a->robot, &state, &err) == PL_OK && pl_state_copy(state, a->state) == PL_OK &&
                pl_statics_check(a->statics, state, &residual, &largest, &inverted, &err) == PL_OK &&
                residual <= 1e-5 * largest && !inverted &&
                pl_statics_solve(a->statics, state, a->command, &report, &err) == PL_OK &&
                report.outcome == PL_SOLVED;

    for (int32_t i = 0; good && i < 3 * a->def.vertices; ++i) {
        moved = fmax(moved, fabs(pl_state_positions(state)[i] - pl_state_positions(a->state)[i]));
    }
    pl_state_destroy(state);

    return good && moved / a->map.s <= allowed;
}

static void compare(const answer *a, const answer *b, row *r)
{
    const bool one = a->report.outcome == PL_SOLVED, two = b->report.outcome == PL_SOLVED;
    if (!one || !two) {
        r->verdict = one || two ? ONE_REFUSED : NEITHER;
        snprintf(r->words, sizeof r->words, "%.30s, %.180s", pl_outcome_name(b->report.outcome),
                 b->report.message);
        return;
    }

    int32_t *of = match(a, b);
    r->distance = distance(a, b, of);
    r->effort = effort_difference(a, b);
    r->allowed = tolerance(a, b);
    if (r->distance <= r->allowed) {
        r->verdict = EQUAL;
    } else if (has_history(&a->def)) {
        r->verdict = rests(a, r->allowed) && rests(b, r->allowed) ? HISTORY : DIFFERENT;
    } else {
        r->verdict = stays(a, b, of, r->allowed, r) ? BRANCH : DIFFERENT;
    }

    free(of);
}

// ---- the changes
static meta_map random_map(change what, pl_random *r)
{
    meta_map map = identity;
    if (what == SCALED) {
        map.s = exp(meta_uniform(r, log(0.1), log(10)));
        map.f = exp(meta_uniform(r, log(0.01), log(100)));
        return map;
    }

    const double w[3] = {meta_uniform(r, -2, 2), meta_uniform(r, -2, 2), meta_uniform(r, -2, 2)};
    pl_rotation_exp(w, map.Q);
    for (int i = 0; i < 3; ++i) {
        map.t[i] = meta_uniform(r, -50, 50);
        map.Q[3 * i] *= what == MIRRORED ? -1 : 1;
    }

    return map;
}

static void through_changed(const answer *a, change what, row *r)
{
    pl_random random;
    pl_random_seed(&random, a->def.seed + 1000003u * (uint64_t)(what + 1));
    answer b = {.map = identity};
    if (what == HALVED) {
        b.def = a->def;
        meta_halve(&b.def);
    } else {
        meta_copy(&a->def, &b.def);
    }

    if (what == RENUMBERED) {
        meta_renumber(&b.def, &random);
    } else if (what != HALVED) {
        b.map = random_map(what, &random);
        meta_transform(&b.def, &b.map);
    }

    if (answer_build(&b)) {
        answer_solve(&b, b.command);
        compare(a, &b, r);
    } else {
        r->verdict = NOT_BUILT;
        snprintf(r->words, sizeof r->words, "%.200s", b.err.text);
    }

    answer_clear(&b);
}

// The same robot along other paths. A stop on the path that cannot be solved shows nothing about the end.
static void through_path(const answer *a, change what, row *r)
{
    answer b = {.map = identity};
    meta_copy(&a->def, &b.def);
    bool good = answer_build(&b);
    const int count = good ? pl_robot_command_count(b.robot) : 0;
    double stop[COMMANDS];
    for (int c = 0; c < count; ++c) {
        const pl_command_info info = pl_robot_command(b.robot, c);
        stop[c] = what == VIA_HALF ? info.rest + 0.5 * (b.command[c] - info.rest) : NAN;
    }

    for (int c = count - 1; good && c >= 0; --c) {
        stop[c] = what == ONE_BY_ONE ? b.command[c] : stop[c];
        good = what == VIA_HALF ? c > 0 || answer_solve(&b, stop) : answer_solve(&b, stop);
    }

    if (good) {
        answer_solve(&b, b.command);
        compare(a, &b, r);
    } else {
        r->verdict = SKIPPED;
    }

    answer_clear(&b);
}

static void try_one(uint64_t seed, note *n)
{
    const double started = pl_seconds();
    answer a = {.map = identity};

    *n = (note){.seed = seed};
    (second_family ? meta_draw_more : meta_draw)(seed, seed % 4 == 3, &a.def);
    meta_mesh_make(&a.def);
    snprintf(n->robot, sizeof n->robot, "%s", a.def.words);
    if (!answer_build(&a)) {
        snprintf(n->row[0].words, sizeof n->row[0].words, "%.200s", a.err.text);
        for (int c = 0; c < CHANGES; ++c) {
            n->row[c].verdict = c ? SKIPPED : NOT_BUILT;
        }
        answer_clear(&a);
        return;
    }

    answer_solve(&a, a.command);
    n->outcome = a.report.outcome;
    snprintf(n->message, sizeof n->message, "%.150s", a.report.message);
    for (int c = 0; c < CHANGES; ++c) {
        if (c < VIA_HALF ? c == HALVED && !a.def.symmetric : has_history(&a.def)) {
            n->row[c].verdict = SKIPPED;
        } else if (c < VIA_HALF) {
            through_changed(&a, (change)c, &n->row[c]);
        } else {
            through_path(&a, (change)c, &n->row[c]);
        }
    }

    n->seconds = pl_seconds() - started;
    answer_clear(&a);
}

// ---- many
typedef struct tally {
    int robots, solved, crashed, count[CHANGES][VERDICTS];
    double seconds, worst, worst_distance, worst_effort;
    uint64_t worst_seed;
    int worst_change;
} tally;

static void tally_add(tally *t, const note *n, bool all)
{
    t->robots++;
    t->solved += n->outcome == PL_SOLVED && n->row[0].verdict != NOT_BUILT;
    t->seconds += n->seconds;
    if (n->outcome != PL_SOLVED) {
        printf("  seed %llu (%s) not solved: %s, %s\n", (unsigned long long)n->seed, n->robot,
               pl_outcome_name(n->outcome), n->message);
    }

    for (int c = 0; c < CHANGES; ++c) {
        const row *r = &n->row[c];
        t->count[c][r->verdict]++;
        if (r->verdict == EQUAL) {
            t->worst_effort = fmax(t->worst_effort, r->effort);
        }
        if (r->verdict == EQUAL && r->distance > t->worst * r->allowed) {
            t->worst = r->distance / r->allowed;
            t->worst_distance = r->distance;
            t->worst_seed = n->seed;
            t->worst_change = c;
        }
        if (all || r->verdict >= ONE_REFUSED || r->verdict == BRANCH || r->verdict == HISTORY) {
            printf(
                "  seed %llu (%s) %s: %s; %.2e mm apart, allowed %.1e, efforts %.1e; the first: %s %s; %s\n",
                (unsigned long long)n->seed, n->robot, change_name[c], verdict_name[r->verdict], r->distance,
                r->allowed, r->effort, pl_outcome_name(n->outcome), n->outcome == PL_SOLVED ? "" : n->message,
                r->words);
        }
    }

    fflush(stdout);
}

// Each robot in a process of its own, two at a time, so that a crash or an endless solve costs one robot.
static bool run_all(int count, uint64_t seed, tally *t)
{
    pid_t child[WORKERS] = {0};
    uint64_t of[WORKERS] = {0};
    int ends[2], running = 0, next = 0;

    if (pipe(ends) != 0) {
        return false;
    }

    while (next < count || running) {
        for (int w = 0; w < WORKERS && next < count; ++w) {
            if (!child[w]) {
                of[w] = seed + (uint64_t)next++;
                running++;
                fflush(stdout);
                child[w] = fork();
                if (child[w] == 0) {
                    note n;
                    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS_EACH, SECONDS_EACH});
                    pl_threads_set(1);
                    try_one(of[w], &n);
                    _exit(write(ends[1], &n, sizeof n) == sizeof n ? 0 : 1);
                }
            }
        }
        int status = 0;
        const pid_t ended = wait(&status);
        for (int w = 0; w < WORKERS; ++w) {
            note n;
            if (child[w] != ended) {
                continue;
            }
            child[w] = 0;
            running--;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && read(ends[0], &n, sizeof n) == sizeof n) {
                tally_add(t, &n, false);
            } else {
                printf("  seed %llu CRASHED or took longer than %d CPU s\n", (unsigned long long)of[w],
                       SECONDS_EACH);
                t->crashed++;
            }
        }
    }

    return true;
}

static int report(const tally *t)
{
    int bad = t->crashed, branches = 0, history = 0, compared = 0, one = 0;
    printf("%-14s", "change");
    for (int v = 0; v < VERDICTS; ++v) {
        printf("%12s", verdict_name[v]);
    }
    printf("\n");
    for (int c = 0; c < CHANGES; ++c) {
        printf("%-14s", change_name[c]);
        for (int v = 0; v < VERDICTS; ++v) {
            printf("%12d", t->count[c][v]);
        }
        printf("\n");
        bad += t->count[c][DIFFERENT] + t->count[c][NOT_BUILT];
        one += t->count[c][ONE_REFUSED];
        branches += t->count[c][BRANCH];
        history += t->count[c][HISTORY];
        compared += t->count[c][EQUAL] + t->count[c][BRANCH] + t->count[c][HISTORY] + t->count[c][DIFFERENT] +
                    t->count[c][ONE_REFUSED];
    }

    printf("%d robots, %d solved as drawn, %d crashed, %.1f s each; %d comparisons, %d of them other "
           "branches, %d other histories of friction, %d refused in one form only\n",
           t->robots, t->solved, t->crashed, t->robots ? t->seconds / t->robots : 0, compared, branches,
           history, one);
    printf("worst of the equal ones: %.1e mm, %.2f of what is allowed (seed %llu, %s); efforts %.1e\n",
           t->worst_distance, t->worst, (unsigned long long)t->worst_seed, change_name[t->worst_change],
           t->worst_effort);
    const bool good = bad == 0 && one == 0 && t->solved > 0;
    printf("law: invariance%s | cases %d | worst %d different, %d refused in one form | allowed 0 | %s\n",
           second_family ? " (growth, gas, magnets, clamps, tendons, tissue)" : "", compared, bad, one,
           good ? "ok" : "FAIL");

    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    tally t = {.robots = 0};
    second_family = argc > 1 && strcmp(argv[1], "more") == 0;
    argc -= second_family;
    argv += second_family;
    if (argc > 2 && strcmp(argv[1], "show") == 0) {
        note n;
        try_one(strtoull(argv[2], NULL, 10), &n);
        tally_add(&t, &n, true);
        return report(&t);
    }

    const int count = argc > 1 ? atoi(argv[1]) : 160;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    printf("%d random robots, seeds %llu to %llu, each changed in up to %d ways; all that are not equal:\n",
           count, (unsigned long long)seed, (unsigned long long)(seed + (uint64_t)count - 1), CHANGES);
    if (!run_all(count, seed, &t)) {
        printf("FAIL: no pipe\n");
        return 1;
    }

    return report(&t);
}
