// pliant run: closes the loop between a controller and a robot, simulated in a process of its own or behind a
// socket. The loop itself is the library's (pl_loop).
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cli_run.h"

#define RUN_HELD_LIMIT 10 // ticks one after the other without a usable reading: the loop ends

static const cli_option options[] = {
    {"goal", 0, "[TIME:]X,Y,Z", "where the marker should be, mm, from this time on; may be repeated", NULL},
    {"marker", 0, "NAME", "marker of the goals (default: the first)", NULL},
    {"controller", 0, "KIND", "open, pi, track or impedance (default: as in the robot file, else pi)",
     "open pi track impedance"},
    {"control-marker", 0, NULL, "control the estimated position of the marker instead of the sensors", NULL},
    {"no-estimator", 0, NULL,
     "take the Jacobian at the commands sent, not at the shape that fits the sensors", NULL},
    {"plant", 0, "FILE|ADDRESS",
     "robot file simulated in a process of its own (default: the robot), or 127.0.0.1:PORT", NULL},
    {"marlin", 0, "DEVICE[@BAUD]",
     "send the commands to a Marlin machine on this serial line; its axes stand at rest", NULL},
    {"steps", 0, "N", "number of ticks (default 200)", NULL, CLI_WHOLE(1, 10000000)},
    {"period", 0, "TIME", "between ticks (default: as in the robot file, else 0.1 s)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 1e-6, 1e4)},
    {"real-time", 0, NULL, "keep the period by the clock", NULL},
    {"timeout", 0, "TIME",
     "stop when the plant does not answer for this long (default: 5 periods, at least 0.1 s; 30 s for a "
     "simulated clock)",
     NULL, CLI_NUMBER(PL_DIM_TIME, 1e-3, 1e5)},
    {"tolerance", 0, "LENGTH", "a goal is reached within this distance (default 1 % of the robot's size)",
     NULL, CLI_NUMBER(PL_DIM_LENGTH, 1e-9, 1e9)},
    {"on-stop", 0, "STATE",
     "state of the commands when the run has ended, also by errors and signals: hold (default), rest (at "
     "their rates), vent (no pressure or tension, at once)",
     "hold rest vent"},
    {"max-effort", 0, "NAME=VALUE", "bound the tension or pressure of one actuator", NULL},
    {"max-pressure", 0, "VALUE", "bound the pressure of every chamber", NULL},
    {"max-tension", 0, "VALUE", "bound the tension of every cable", NULL},
    {"out", 0, "FILE", "write the log as .csv or .sqlite, the error over time as .png or .svg", NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".csv", ".sqlite", ".db", ".png", ".svg", NULL};

double run_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- options
// [TIME:]X,Y,Z in rising order of time.
static int run_goals(const cli_args *args, run *r)
{
    int cursor = 0;
    for (const char *text; (text = cli_next(args, "goal", &cursor));) {
        if (r->goal_count == RUN_GOALS) {
            cli_error(args, "--goal: more than %d goals", RUN_GOALS);
            return CLI_EXIT_USAGE;
        }

        goal *g = &r->goal[r->goal_count++];
        *g = (goal){.first = -1, .settled = -1, .first_error = NAN, .final_error = NAN, .miss = NAN};

        // without a time the goal holds from the start
        const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : text;
        char time[60] = "0 s";
        pl_error err;
        int used = 0;
        if (colon) {
            snprintf(time, sizeof time, "%.*s", (int)(colon - text < 50 ? colon - text : 50), text);
        }
        if (pl_quantity_parse(time, PL_DIM_TIME, &g->from, &err) != PL_OK || !(g->from >= 0) ||
            sscanf(rest, "%lf,%lf,%lf%n", &g->target[0], &g->target[1], &g->target[2], &used) != 3 ||
            rest[used]) {
            cli_error(args, "--goal %s: expected X,Y,Z in mm, or TIME:X,Y,Z, for example 20s:90,0,-30", text);
            return CLI_EXIT_USAGE;
        }

        // a goal that begins before the one above it would never be reached
        if (r->goal_count > 1 && !(g->from > g[-1].from)) {
            cli_error(args, "--goal %s: goals must be given in the order of their times", text);
            return CLI_EXIT_USAGE;
        }
    }

    if (r->goal_count == 0) {
        cli_error(args, "--goal X,Y,Z is missing");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Options over what the robot file says about control.
static int run_options(const cli_args *args, run *r)
{
    r->steps = 200;
    r->tolerance = 0.01 * r->m.info.size;
    r->period = r->setup.controller.period;
    r->real_time = cli_flag(args, "real-time");
    if (!cli_whole(args, "steps", &r->steps) || !cli_number(args, "period", &r->period) ||
        !cli_number(args, "timeout", &r->timeout) || !cli_number(args, "tolerance", &r->tolerance)) {
        return CLI_EXIT_USAGE;
    }

    // what happens at the end
    static const char *const states[] = {"hold", "rest", "vent"};
    const char *state = cli_value(args, "on-stop");
    int found = 0;
    while (state && found < 3 && strcmp(states[found], state) != 0) {
        ++found;
    }
    if (found == 3) {
        cli_error(args, "--on-stop %s: expected hold, rest or vent", state);
        return CLI_EXIT_USAGE;
    }

    r->on_stop = (run_on_stop)found;
    const int bounds = cli_goals_efforts(args, &r->m, &r->limits);
    if (bounds) {
        return bounds;
    }

    // controller
    const char *kind = cli_value(args, "controller");
    if (kind) {
        r->setup.controller.kind = pl_control_kind_find(kind);
        if (r->setup.controller.kind >= PL_CONTROL_KIND_COUNT) {
            cli_error(args, "--controller %s: expected open, pi, track or impedance", kind);
            return CLI_EXIT_USAGE;
        }
    }

    if (cli_value(args, "marlin") && !cli_value(args, "plant") &&
        r->setup.controller.kind != PL_CONTROL_OPEN) {
        cli_error(args, "--marlin: the machine has no sensors: give --plant ADDRESS of what reads them, or "
                        "--controller open");
        return CLI_EXIT_USAGE;
    }

    r->setup.controller.period = r->period;

    // the marker of the goals
    const char *name = cli_value(args, "marker");
    r->marker = name                   ? cli_model_marker(args, &r->m, "marker", name)
                : r->setup.marker >= 0 ? r->setup.marker
                                       : 0;
    if (r->marker < 0 || r->m.info.marker_count == 0) {
        if (r->m.info.marker_count == 0) {
            cli_error(args, "the robot has no marker that could have a goal");
        }
        return CLI_EXIT_USAGE;
    }

    return run_goals(args, r);
}

// The loop of the library: estimator unless there is nothing to estimate from.
static int run_loop_create(const cli_args *args, run *r)
{
    const bool control_marker = cli_flag(args, "control-marker") || r->setup.marker >= 0 ||
                                r->setup.controller.kind == PL_CONTROL_IMPEDANCE;
    if (r->m.info.sensor_count == 0 && !control_marker) {
        cli_error(args, "the robot has no sensors to control");
        cli_advice("add `sensors:` to its file, or --control-marker to control the position that the model "
                   "predicts");
        return CLI_EXIT_USAGE;
    }

    const bool machine_alone = cli_value(args, "marlin") && !cli_value(args, "plant");
    const pl_loop_setup asked = {.marker = r->marker,
                                 .control_marker = control_marker,
                                 .estimate = !cli_flag(args, "no-estimator") && !machine_alone,
                                 .bound = r->limits.options.effort,
                                 .bound_count = r->limits.options.effort_count};
    pl_error err = {0};

    return pl_loop_from_setup(r->m.model, &r->setup, &asked, &r->loop, &err) == PL_OK
               ? CLI_DONE
               : cli_fail_file(args, r->m.path, &err);
}

// Of the goal's marker from where it should be.
static double run_distance(const run *r, const double *marker, const double aim[3])
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        const double d = marker[3 * r->marker + i] - aim[i];
        sum += d * d;
    }

    return sqrt(sum);
}

// How far the marker may be from where it is estimated (95 %): two standard deviations of the estimate and
// the error of a surrogate. A measured marker needs neither, unless it is simulated by the same surrogate.
static double run_uncertainty(const cli_args *args, const run *r, const pl_loop_report *p, double measured)
{
    const double *s = p->marker_sigma ? p->marker_sigma + 3 * r->marker : NULL;
    const double spread = s && isnan(measured) ? 2 * sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) : 0;
    const pl_model_answer answer = pl_model_get_answer(r->m.model);
    const char *plant = cli_value(args, "plant");
    const bool own = !plant || strcmp(plant, args->plain[0]) == 0;
    const bool counts = pl_answer_has_error(&answer) && (own || isnan(measured));

    return spread + (counts ? answer.error.marker[r->marker] : 0);
}

// Ticks from one reading of the slowest sensor to the next.
static int run_gap(const run *r)
{
    double gap = 1;
    for (int i = 0; i < r->m.info.sensor_count; ++i) {
        const double rate = r->setup.sensor_rate[i];
        gap = rate > 0 ? fmax(gap, ceil(1 / (rate * r->period) - 1e-9)) : gap;
    }

    return (int)fmin(gap, 1e9);
}

// Held and lost readings, sensors that are not used, and how far an output goes beyond its set point.
static void run_count(run *r, int tick, goal *g, const pl_loop_report *p)
{
    const int outputs = pl_loop_output_count(r->loop);
    double largest = 0, beyond = 0;

    r->held_now = p->control.held ? r->held_now + 1 : 0;

    // between two readings of slow sensors the command stays, which is no fault
    if (p->control.held && !(p->missing == r->m.info.sensor_count && r->held_now < run_gap(r)) &&
        r->held++ == 0) {
        r->held_why = p->control.why;
        r->held_at = tick * r->period;
    }

    r->saturated += p->control.saturated > 0;
    r->bounded += p->bounded;
    r->lost += p->missing > 0;
    r->contradicted += p->contradicted;

    // readings that are not used: said once per sensor, at once
    for (int i = 0; i < r->m.info.sensor_count; ++i) {
        if (p->rejected[i] && r->rejected[i]++ == 0) {
            r->rejected_at[i] = tick * r->period;
            fprintf(stderr, "pliant run: at %g s the reading of sensor '%s' is %s; it is not used\n",
                    tick * r->period, r->m.info.sensor_name[i],
                    p->frozen == i ? "frozen" : "contradicted by the others");
        }
    }

    // errors and overshoot, from readings only
    if (!p->measured) {
        return;
    }
    g->first_error = isnan(g->first_error) ? p->error : g->first_error;

    for (int i = 0; i < outputs; ++i) {
        const double e = p->set_point[i] - p->output[i];
        if (tick == g->first || !isfinite(r->first[i])) { // also after ticks without a reading
            r->first[i] = e;
        }

        largest = fmax(largest, fabs(r->first[i]));
        beyond = fmax(beyond, r->first[i] > 0 ? -e : e);
    }

    g->overshoot = largest > 0 ? fmax(g->overshoot, beyond / largest) : g->overshoot;
}

// What ends a run before its last tick.
static void run_watch(run *r, const pl_loop_report *p)
{
    if (r->held_now >= RUN_HELD_LIMIT + run_gap(r) - 1) {
        fprintf(stderr, "pliant run: %d ticks could not be computed: %s\n", r->held_now, p->control.why);
        r->stop = "the readings are lost";
    } else if (cli_interrupted()) {
        r->stop = "interrupted";
    }
}

// One tick: wait, exchange, compute, log.
static int run_ticks(const cli_args *args, run *r)
{
    int current = -1;
    const double start = run_now();

    for (int tick = 0; tick < r->steps && !r->stop; ++tick) {
        const double t = tick * r->period;
        cli_progress.step(cli_progress.user, (double)tick / r->steps, "running");
        // goals that begin now
        while (current + 1 < r->goal_count && r->goal[current + 1].from <= t + 1e-12) {
            pl_error err = {0};
            goal *g = &r->goal[++current];
            if (pl_loop_goal(r->loop, g->target, &g->distance, &err) != PL_OK) {
                return cli_fail(args, &err);
            }
            g->first = tick;
        }

        // wait for the clock
        const double due = start + t;
        if (r->real_time && run_now() < due) {
            const double left = due - run_now();
            const struct timespec nap = {(time_t)left, (long)(1e9 * (left - floor(left)))};
            nanosleep(&nap, NULL);
        }

        const double began_tick = run_now();
        r->jitter = r->real_time ? fmax(r->jitter, fabs(began_tick - due)) : 0;
        r->stop = run_exchange(r, t);
        if (r->stop || current < 0) {
            continue;
        }

        // compute
        const double began = run_now();
        pl_loop_report report;
        pl_error err = {0};
        if (pl_loop_tick(r->loop, r->sensor, &report, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        const double ended = run_now(), busy = ended - began;
        r->missed += (r->real_time ? ended - began_tick : busy) > r->period;

        // record
        run_count(r, tick, &r->goal[current], &report);
        r->time[tick] = t;
        r->error[tick] = report.measured ? report.error : NAN;
        r->distance[tick] = run_distance(r, r->true_marker, report.aim);
        r->estimated_miss[tick] = run_distance(r, report.marker, report.aim);
        r->uncertainty[tick] = run_uncertainty(args, r, &report, r->distance[tick]);
        r->busy[tick] = busy;
        r->done = tick + 1;
        const int status = run_log_row(args, r, t, &report, busy);
        if (status) {
            return status;
        }
        run_watch(r, &report);
    }

    return CLI_DONE;
}

// ---- what is reported
// Rising.
static int run_compare(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

// A goal is reached when the model can reach it and the marker, as estimated and as measured where it is,
// stays within the tolerance over the last tenth of the goal's ticks. The error of a surrogate counts where
// nothing else measures the marker. Without any sensor (an open loop) the model alone is asked.
static void run_judge_goal(run *r, goal *g, int end)
{
    const int last = end - (end - g->first + 9) / 10;
    int measured = 0;
    double error = 0;

    g->miss = 0;
    g->uncertainty = 0;

    // settled: from then on below 5 % to the end
    for (int i = g->first; i < end; ++i) {
        if (!(r->error[i] <= 0.05 * g->first_error)) {
            g->settled = -1;
        } else if (g->settled < 0) {
            g->settled = i - g->first;
        }
    }

    // the last tenth of the ticks
    for (int i = last; i < end; ++i) {
        measured += !isnan(r->error[i]);
        error += isnan(r->error[i]) ? 0 : r->error[i];
        g->miss += fmax(r->estimated_miss[i], r->distance[i]) / (end - last); // a NAN is left out by fmax
        const double e = r->uncertainty[i];
        g->uncertainty = isnan(g->uncertainty) || isnan(e) ? NAN : fmax(g->uncertainty, e);
    }

    g->measured = measured > 0;
    g->final_error = measured > 0 ? error / measured : NAN;
    const bool blind = r->m.info.sensor_count == 0 || r->w.in < 0;
    const bool met = g->distance <= r->tolerance && g->miss <= r->tolerance && (g->measured || blind);
    g->reached = met && g->miss + g->uncertainty <= r->tolerance;
    g->uncertain = met && !g->reached;
}

// Goals that never began are not reached.
static void run_judge(run *r)
{
    for (int k = 0; k < r->goal_count; ++k) {
        goal *g = &r->goal[k];
        const int end = k + 1 < r->goal_count && r->goal[k + 1].first >= 0 ? r->goal[k + 1].first : r->done;
        if (g->first >= 0 && g->first < end) {
            run_judge_goal(r, g, end);
        }
        r->unreached += !g->reached;
    }
}

// Sorts `busy`, which is not needed in order afterwards.
static void run_print(const cli_args *args, run *r)
{
    double sum = 0;
    for (int i = 0; i < r->done; ++i) {
        sum += r->busy[i];
    }

    const double mean = r->done ? sum / r->done : 0;
    qsort(r->busy, (size_t)r->done, sizeof *r->busy, run_compare);
    const char *name = r->m.info.marker_name[r->marker];
    cli_say(args, "%s: %d ticks of %g s, controller %s\n\n", r->m.info.name, r->done, r->period,
            pl_control_kind_name(r->setup.controller.kind));
    cli_table table = {0};
    cli_row(
        &table,
        "from s\tgoal mm\tmodel misses by mm\tfirst error\tfinal error\tovershoot\tsettled ticks\t%s misses "
        "by mm\treached",
        name);
    for (int k = 0; k < r->goal_count; ++k) {
        const goal *g = &r->goal[k];
        const int end = k + 1 < r->goal_count && r->goal[k + 1].first >= 0 ? r->goal[k + 1].first : r->done;
        char settled[30] = "no";
        if (g->settled >= 0) {
            snprintf(settled, sizeof settled, "%d", g->settled);
        }
        if (g->first >= 0 && end > g->first) {
            cli_row(&table, "%g\t%.1f, %.1f, %.1f\t%.3g\t%.3g\t%.3g\t%.1f %%\t%s\t%.3g\t%s", g->from,
                    g->target[0], g->target[1], g->target[2], g->distance, g->first_error, g->final_error,
                    100 * g->overshoot, settled, g->miss,
                    g->uncertain  ? "uncertain"
                    : !g->reached ? "no"
                    : g->measured ? "yes"
                                  : "by the model");
        }
    }

    // what went wrong
    cli_table_print(args, &table);
    cli_say(args,
            "\n  errors are the largest of the outputs; %d ticks held, %d at a limit, %d without a reading\n",
            r->held, r->saturated, r->lost);
    if (r->held > 0) {
        cli_say(args, "  the first tick held was at %g s: %s\n", r->held_at, r->held_why);
    }

    for (int i = 0; i < r->m.info.sensor_count; ++i) {
        if (r->rejected[i] > 0) {
            cli_say(args, "  sensor %s: %d readings not used, the first at %g s\n", r->m.info.sensor_name[i],
                    r->rejected[i], r->rejected_at[i]);
        }
    }

    if (r->contradicted > 0) {
        cli_say(args, "  in %d ticks most readings contradict the model: a load, or a part of it is wrong\n",
                r->contradicted);
    }

    if (r->unsolved > 0) {
        cli_say(args, "  in %d ticks the simulated robot had no equilibrium; its readings were not used\n",
                r->unsolved);
    }

    for (int k = 0; k < r->goal_count; ++k) {
        const goal *g = &r->goal[k];
        if (g->uncertain && isnan(g->uncertainty)) {
            cli_say(args, "  the goal from %g s is reached by the model, whose error is not known there\n",
                    g->from);
        } else if (g->uncertain) {
            cli_say(args,
                    "  the goal from %g s is reached by the estimate, which is itself %.2g mm uncertain (95 "
                    "%%)\n",
                    g->from, g->uncertainty);
        }
    }

    if (r->stale > 0) {
        cli_say(args, "  %d replies were old or repeated; their readings were not used\n", r->stale);
    }
    if (r->bounded > 0) {
        cli_say(args, "  %d ticks were limited by a tension or pressure\n", r->bounded);
    }
    if (r->machine.resent > 0) {
        cli_say(args, "  the machine asked for %d lines again\n", r->machine.resent);
    }

    // computing times
    cli_say(args,
            "  computing a tick: mean %.2f ms, 99 %% below %.2f, worst %.2f; %d of %d longer than the period",
            1e3 * mean, r->done ? 1e3 * r->busy[(int)(0.99 * (r->done - 1))] : 0,
            r->done ? 1e3 * r->busy[r->done - 1] : 0, r->missed, r->done);
    cli_say(args, r->real_time ? "; jitter up to %.2f ms\n" : "\n", 1e3 * r->jitter);
    if (r->stop) {
        cli_say(args, "  stopped at tick %d: %s\n", r->done, r->stop);
    }
}

// Goals with what came of each, then what happened to readings and messages.
static json_t *run_json(const run *r)
{
    json_t *root = cli_json_head(r->m.info.robot_hash, r->m.findings), *goals = json_array();
    for (int k = 0; k < r->goal_count; ++k) {
        const goal *g = &r->goal[k];
        json_t *one = json_object();
        json_object_set_new(one, "from", cli_json_number(g->from));
        json_object_set_new(one, "target", cli_json_numbers(g->target, 3));
        json_object_set_new(one, "model_distance", cli_json_number(g->distance));
        json_object_set_new(one, "first_error", cli_json_number(g->first_error));
        json_object_set_new(one, "final_error", cli_json_number(g->final_error));
        json_object_set_new(one, "overshoot", cli_json_number(g->overshoot));
        json_object_set_new(one, "miss", cli_json_number(g->miss));
        json_object_set_new(one, "measured", json_boolean(g->measured));
        json_object_set_new(one, "uncertainty", cli_json_number(g->uncertainty));
        json_object_set_new(one, "reached", json_boolean(g->reached));
        json_object_set_new(one, "uncertain", json_boolean(g->uncertain));
        json_object_set_new(one, "settled", g->settled >= 0 ? json_integer(g->settled) : json_null());
        json_array_append_new(goals, one);
    }

    // counts over the whole run
    json_object_set_new(root, "goals", goals);
    json_object_set_new(root, "ticks", json_integer(r->done));
    json_object_set_new(root, "held", json_integer(r->held));
    json_object_set_new(root, "held_why", r->held_why ? json_string(r->held_why) : json_null());
    json_object_set_new(root, "saturated", json_integer(r->saturated));
    json_object_set_new(root, "without_reading", json_integer(r->lost));
    json_t *rejected = json_object();
    for (int i = 0; i < r->m.info.sensor_count; ++i) {
        json_object_set_new(rejected, r->m.info.sensor_name[i], json_integer(r->rejected[i]));
    }
    json_object_set_new(root, "rejected", rejected);
    json_object_set_new(root, "contradicted", json_integer(r->contradicted));
    json_object_set_new(root, "stale", json_integer(r->stale));
    json_object_set_new(root, "unsolved", json_integer(r->unsolved));
    json_object_set_new(root, "bounded", json_integer(r->bounded));
    json_object_set_new(root, "resent", json_integer(r->machine.resent));
    json_object_set_new(root, "jitter_ms", cli_json_number(1e3 * r->jitter));
    json_object_set_new(root, "missed", json_integer(r->missed));
    json_object_set_new(root, "stopped", r->stop ? json_string(r->stop) : json_null());

    return root;
}

// Opened from what fails fastest to what takes longest; the plant is connected last.
static int run_work(const cli_args *args, run *r)
{
    pl_error err = {0};
    int status = cli_setup(args);

    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    status = status ? status : cli_model_open(args, args->plain[0], &r->m);
    status = status ? status : cli_check_outputs(args, NULL, r->m.path, NULL);
    if (!status && pl_control_from_document(r->m.document, r->m.model, &r->setup, NULL, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    status = status ? status : run_options(args, r);
    status = status ? status : run_loop_create(args, r);
    if (status) {
        return status;
    }

    // memory for all ticks: nothing is allocated in the loop
    const size_t n = (size_t)r->steps;
    double **const list[] = {&r->time, &r->error,          &r->distance,
                             &r->busy, &r->estimated_miss, &r->uncertainty};
    bool whole = true;
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        *list[i] = calloc(n + 1, sizeof(double));
        whole = whole && *list[i];
    }

    r->sensor = calloc((size_t)r->m.info.sensor_count + 1, sizeof *r->sensor);
    r->true_marker = calloc(3 * (size_t)r->m.info.marker_count + 1, sizeof *r->true_marker);
    r->first = calloc((size_t)pl_loop_output_count(r->loop), sizeof *r->first);
    r->rejected = calloc((size_t)r->m.info.sensor_count + 1, sizeof *r->rejected);
    r->rejected_at = calloc((size_t)r->m.info.sensor_count + 1, sizeof *r->rejected_at);
    r->sent = calloc((size_t)r->m.info.command_count + 1, sizeof *r->sent);
    if (!whole || !r->sensor || !r->true_marker || !r->first || !r->rejected || !r->rejected_at || !r->sent) {
        return cli_no_memory(args);
    }
    memcpy(r->sent, pl_loop_command(r->loop), (size_t)r->m.info.command_count * sizeof *r->sent);

    // run, then report
    status = run_log_open(args, r);
    status = status ? status : run_connect(args, r);
    status = status ? status : run_ticks(args, r);
    cli_progress_done();
    if (status) {
        return status;
    }
    run_judge(r);
    run_print(args, r);
    status = run_log_write(args, r);
    status = status ? status : cli_json_write(args, cli_value(args, "json") ? run_json(r) : NULL);
    if (!status && r->unreached > 0) {
        cli_error(args, "%d of %d goal%s not reached", r->unreached, r->goal_count,
                  r->goal_count == 1 ? "" : "s");
    }

    return status ? status : r->stop || r->unreached > 0 ? CLI_EXIT_UNSOLVED : CLI_DONE;
}

// Leaves the commands in the state of --on-stop, however the run ended.
static int run_run(cli_args *args)
{
    run r = {.w = {.in = -1, .out = -1}, .machine = {.fd = -1}, .heard = -INFINITY};
    const int status = run_work(args, &r);

    run_disconnect(args, &r);
    for (int i = 0; i < r.log_count; ++i) {
        pl_error err = {0};
        if (pl_run_log_close(r.log[i], &err) != PL_OK) { // what a failed run has logged is kept
            cli_error(args, "%s", err.text);
        }
    }

    void *const block[] = {r.row,   r.sensor,         r.true_marker, r.first,    r.time,
                           r.error, r.distance,       r.busy,        r.rejected, r.rejected_at,
                           r.sent,  r.estimated_miss, r.uncertainty};
    for (size_t i = 0; i < sizeof block / sizeof block[0]; ++i) {
        free(block[i]);
    }
    pl_loop_destroy(r.loop);
    pl_control_clear(&r.setup);
    cli_model_close(&r.m);

    return status;
}

const cli_verb cli_verb_run = {
    .name = "run",
    .summary = "closed loop: a controller, an estimator and a simulated or real robot",
    .usage = "ROBOT --goal X,Y,Z [options]",
    .about =
        "Computes set points for each goal by inverse kinematics, then at every tick fits the shape to the\n"
        "sensors, takes the exact Jacobian there and moves the commands by the controller, within their\n"
        "ranges and rates. The robot is simulated in a process of its own from --plant (another robot\n"
        "file: another material, a payload), or is anything that speaks the protocol on a socket; its "
        "greeting\n"
        "(units, names, ranges, period) must agree with the robot file. Readings that are frozen or that "
        "the\n"
        "others contradict are reported and not used. When none can be used, the last command is held, and\n"
        "the run ends after 10 such ticks. Every exit leaves the state of --on-stop; the exit status is 0 "
        "only\n"
        "if every goal was reached within --tolerance. With --marlin the commands also go to a machine on a "
        "serial line, move by move.",
    .examples =
        "  pliant new planar_arm arm\n"
        "  pliant run arm --marker tip --goal 195,20,12 --goal 10s:198,-10,12 --steps 300 --out log.csv\n"
        "  pliant run arm --marker tip --goal 195,20,12 --plant softer.yaml --controller open\n"
        "  pliant run finger --goal 100,0,-20 --controller open --marlin /dev/ttyUSB0@115200 --real-time\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = run_run,
    .stopping = "stopping",
};
