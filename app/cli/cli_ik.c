// pliant ik: commands that bring markers, shapes, curvatures or sensors where they shall be.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli_goal.h"

static const cli_option options[] = {
    {"marker", 0, "NAME", "the marker of the goals that follow (default: the only one, or tip)", NULL},
    {"target", 0, "X,Y,Z", "target position of the marker, mm or with units", NULL},
    {"axes", 0, "xyz", "coordinates of the target or orientation to use, such as xy", "x y z xy xz yz"},
    {"distance", 0, "LENGTH", "distance of the marker from the target", NULL},
    {"direction", 0, "X,Y,Z", "target direction of an axis of the marker", NULL},
    {"axis", 0, "X,Y,Z", "that axis, undeformed; or the axis of a curvature, which gives it a sign", NULL},
    {"orientation", 0, "X,Y,Z",
     "rotation of the marker from the undeformed configuration: axis times angle, rad or deg", NULL},
    {"shape", 0, "FILE", "a shape of the whole body: .vtu of this mesh, .stl or .obj surface, .csv of points",
     NULL},
    {"of", 0, "NAME", "for --shape: only this surface or region of the body", NULL},
    {"unit", 0, "UNIT", "for --shape: unit of an .stl or .obj (default mm)", "mm cm m in"},
    {"curvature", 0, "NUMBER", "curvature of the circle fitted to points of the body, 1/mm", NULL},
    {"along", 0, "NAME", "for --curvature: a surface, a region, or an undeformed line X,Y,Z:X,Y,Z", NULL},
    {"sensor", 0, "NAME=VALUE", "target value of a sensor", NULL},
    {"weight", 0, "NUMBER", "of the goal before it (default 1 per mm and per rad)", NULL},
    {"tolerance", 0, "NUMBER",
     "of the goal before it, mm or rad (default 0.005 mm, 0.001 rad; curvatures, volumes, pressures, "
     "tensions: 0.1 "
     "% of the goal); of reduced, learned and adapted models it includes their own error",
     NULL},
    CLI_LIMITS,
    {"beyond-range", 0, NULL, "allow --set outside the range in the robot file", NULL},
    {"out", 0, "FILE", "write the shape: " CLI_SHAPE_FORMATS "; may be repeated", NULL},
    CLI_JSON,
    {"color", 0, "FIELD", "for pictures: displacement, von_mises, stretch, contact_pressure or region",
     "displacement von_mises stretch region"},
    CLI_PICTURE,
    {"surface", 0, "NAME", "for .stl: this surface only", NULL},
    {"save-state", 0, "FILE", "save the state here", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FALLBACK,
    CLI_CHECK,
    CLI_FORCE,
    {0},
};

// What the verb holds; ik_run releases all of it.
typedef struct ik_verb {
    cli_model m;
    cli_goals g;
    pl_ik *ik;
    pl_ik_report report; // of the search; the report of the last forward solve is m.report
} ik_verb;

// The search. On return the model is at the commands found and v->m has them and their solver report.
static int ik_solve(const cli_args *args, ik_verb *v)
{
    pl_error err = {0};

    if (v->g.count == 0 || !pl_objective_is_goal(v->g.objective[0].kind)) {
        cli_error(args, "no goal is given: expected --target, --direction, --orientation, --shape, "
                        "--curvature or --sensor");
        return CLI_EXIT_USAGE;
    }

    // samples already give good starts: few are enough
    if (v->g.samples.count > 0) {
        v->g.options.start_limit = 4;
    }
    if (pl_ik_create(v->m.model, v->g.objective, v->g.count, &v->g.options, &v->ik, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    pl_ik_set_samples(v->ik, v->g.samples.count > 0 ? &v->g.samples : NULL);
    cli_stage("inverse kinematics", false);
    const pl_status solved =
        v->g.surface_goal < 0 ? pl_ik_solve(v->ik, NULL, &v->report, &err)
                              : pl_ik_fit_surface(v->ik, v->g.surface_goal, &v->g.surface, &v->report, &err);
    cli_stage(NULL, false);
    if (solved != PL_OK) {
        return cli_fail(args, &err);
    }

    // what the solver says of the shape it ended at: the search itself keeps no solver report
    if (v->report.outcome != PL_IK_FORWARD && v->report.outcome != PL_IK_STOPPED) {
        const pl_model_answer answer = pl_model_get_answer(v->m.model);
        memcpy(v->m.command, answer.command, (size_t)v->m.info.command_count * sizeof *v->m.command);
        if (pl_model_fk(v->m.model, v->m.command, &v->m.report, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
    }

    return CLI_DONE;
}

// Unit of a goal's deviation as printed, and the factor from it to the library's unit.
static const char *ik_unit(const cli_model *m, const pl_objective *o, double *scale)
{
    *scale = 1;
    switch (o->kind) {
    case PL_OBJECTIVE_DIRECTION:
    case PL_OBJECTIVE_ORIENTATION:
        return "rad";
    case PL_OBJECTIVE_CURVATURE:
        return "1/mm";
    case PL_OBJECTIVE_SENSOR:
        *scale = pl_sensor_scale(m->info.sensor_kind[o->index]);
        return pl_sensor_unit(m->info.sensor_kind[o->index]);
    case PL_OBJECTIVE_EFFORT:
        *scale = pl_effort_scale(m->info.actuator[o->index].kind);
        return pl_effort_unit(m->info.actuator[o->index].kind);
    default:
        return "mm";
    }
}

// What a goal concerns: the name of the marker or sensor, otherwise the body.
static const char *ik_about(const cli_model *m, const pl_objective *o)
{
    switch (o->kind) {
    case PL_OBJECTIVE_SENSOR:
        return m->info.sensor_name[o->index];
    case PL_OBJECTIVE_POSITION:
    case PL_OBJECTIVE_DIRECTION:
    case PL_OBJECTIVE_ORIENTATION:
    case PL_OBJECTIVE_DISTANCE:
        return m->info.marker_name[o->index];
    default:
        return "body";
    }
}

// The result for people: commands and markers, how far each goal is off, the cost, the active bounds.
static void ik_print(const cli_args *args, ik_verb *v)
{
    const pl_ik_report *r = &v->report;
    cli_record_print(args, &v->m);

    cli_table table = {0};

    // only goals have a deviation; bounds and regularizations are objectives, too
    cli_row(&table, "goal\tof\toff by");
    for (int i = 0; i < v->g.count; ++i) {
        const pl_objective *o = &v->g.objective[i];

        if (pl_objective_is_goal(o->kind)) {
            double scale;
            const char *unit = ik_unit(&v->m, o, &scale);
            cli_row(&table, "%s\t%s\t%.3g\t%s", pl_objective_kind_name(o->kind), ik_about(&v->m, o),
                    pl_ik_deviation(v->ik, i) / scale, unit);
        }
    }

    cli_say(args, "\n");
    cli_table_print(args, &table);

    char text[600], certificate[80] = "";

    // the projected gradient certifies a minimum; models without derivatives have none (NaN)
    cli_active_text(&v->m, r, text, sizeof text);
    if (isfinite(r->gradient)) {
        snprintf(certificate, sizeof certificate, ", projected gradient %.1e", r->gradient);
    }
    cli_say(args,
            "\n  %s in %d steps from %d start%s: %d forward solves, %d factorizations, %d solves, %.2f s%s\n",
            pl_ik_outcome_name(r->outcome), r->iterations, r->starts, r->starts == 1 ? "" : "s",
            (int)r->costs.fk_calls, (int)r->costs.factorizations, (int)r->costs.solves, r->seconds,
            certificate);
    if (text[0] && r->outcome != PL_IK_STOPPED) {
        cli_say(args, "  at %s\n", text);
    }
}

// What presses on the body at the answer: ", in contact with wall, floor".
static void ik_contacts(const cli_model *m, char *text, size_t size)
{
    const pl_model_answer answer = pl_model_get_answer(m->model);
    text[0] = 0;
    for (int i = 0; i < m->info.reading_count; ++i) {
        const pl_reading_info *reading = &m->info.reading[i];
        if (strcmp(reading->quantity, "normal_force") == 0 && answer.reading[i] > 0) {
            const size_t at = strlen(text);
            snprintf(text + at, size - at, "%s%s", at ? ", " : ", in contact with ", reading->name);
        }
    }
}

// The sentence for a target that was not reached: the nearest point, how far it is, and what holds it.
static void ik_complain(const cli_args *args, const ik_verb *v)
{
    const pl_ik_report *r = &v->report;
    char bounds[600], where[200] = "", contacts[300];

    // a search that was stopped says nothing about what is reachable
    if (r->outcome == PL_IK_STOPPED) {
        cli_error(args, "not reached: %s after %d steps; the last equilibrium is kept", cli_stop_reason(),
                  r->iterations);
        return;
    }

    if (r->outcome == PL_IK_UNCERTAIN) {
        cli_error(args, "%s", r->message);
        cli_advice("%sa better model (more samples, more measurements) or --check shows more",
                   isfinite(r->error) ? "a larger --tolerance accepts it, " : "");
        return;
    }

    cli_active_text(&v->m, r, bounds, sizeof bounds);
    ik_contacts(&v->m, contacts, sizeof contacts);

    // a nearest point has a meaning only for a goal of position
    const pl_objective *o = &v->g.objective[0];
    if (o->kind == PL_OBJECTIVE_POSITION || o->kind == PL_OBJECTIVE_DISTANCE) {
        const double *p = pl_model_get_answer(v->m.model).marker + 3 * o->index;
        snprintf(where, sizeof where, "; the nearest reachable point found is %.3f,%.3f,%.3f",
                 cli_tidy(p[0], 3), cli_tidy(p[1], 3), cli_tidy(p[2], 3));
    }

    // lengths are reported together, goals of another unit by the first
    double scale = 1, off = r->distance;
    const char *unit = ik_unit(&v->m, o, &scale);
    if (strcmp(unit, "mm") != 0) {
        off = pl_ik_deviation(v->ik, 0) / scale;
    }
    cli_error(args, "not reached (%s): %.4g %s off%s%s%s%s", pl_ik_outcome_name(r->outcome), off, unit, where,
              bounds[0] ? ", held by " : "", bounds, contacts);
    if (r->message[0] && r->outcome != PL_IK_NEAREST) {
        cli_advice("%s", r->message);
    }
    cli_outcome_advice(pl_ik_outcome_name(r->outcome));
}

// Files and JSON of the result; also for a target that was not reached, whose nearest point is wanted then.
static int ik_write(const cli_args *args, ik_verb *v)
{
    int status = cli_shape_outputs(args, &v->m);
    status = status ? status : cli_model_save_state(args, &v->m);
    if (status || !cli_value(args, "json")) {
        return status;
    }

    json_t *root = cli_record_json(&v->m), *goals = json_array();
    cli_ik_json(root, &v->m, &v->report);
    for (int i = 0; i < v->g.count; ++i) {
        const pl_objective *o = &v->g.objective[i];

        if (pl_objective_is_goal(o->kind)) {
            double scale;
            const char *unit = ik_unit(&v->m, o, &scale);
            json_t *one = json_object();
            json_object_set_new(one, "kind", json_string(pl_objective_kind_name(o->kind)));
            json_object_set_new(one, "of", json_string(ik_about(&v->m, o)));
            json_object_set_new(one, "off_by", cli_json_number(pl_ik_deviation(v->ik, i) / scale));
            json_object_set_new(one, "unit", json_string(unit));
            json_array_append_new(goals, one);
        }
    }

    json_object_set_new(root, "goals", goals);

    return cli_json_write(args, root);
}

// The verb from its options to its exit status. Outputs are checked before the robot is loaded: a wrong file
// name shall not be found after minutes of meshing.
static int ik_work(const cli_args *args, ik_verb *v)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, cli_shape_extensions, NULL, cli_value(args, "shape"));
    status = status ? status : cli_model_open(args, args->plain[0], &v->m);
    status = status ? status : cli_check_outputs(args, NULL, v->m.path, cli_value(args, "start"));
    status = status ? status : cli_shape_check(args, &v->m);
    status = status ? status : cli_goals_init(args, &v->m, &v->g);
    status = status ? status : cli_goals_read(args, &v->m, &v->g);
    status = status ? status : cli_goals_limits(args, &v->m, &v->g);
    status = status ? status : cli_goals_start(args, &v->m);
    status = status ? status : ik_solve(args, v);
    if (status) {
        return status;
    }

    // print first: the checks and files below may fail and the result shall be seen
    ik_print(args, v);
    status = cli_learned_check(args, &v->m);
    status = status ? status : ik_write(args, v);
    if (!status && v->report.outcome != PL_IK_REACHED) {
        ik_complain(args, v);
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

static int ik_run(cli_args *args)
{
    ik_verb v = {0};
    const int status = ik_work(args, &v);
    pl_ik_destroy(v.ik);
    cli_goals_clear(&v.g);
    cli_model_close(&v.m);
    return status;
}

const cli_verb cli_verb_ik = {
    .name = "ik",
    .summary = "inverse kinematics: commands that bring a marker, or the whole shape, to a target",
    .usage = "ROBOT --target X,Y,Z [options]",
    .about = "Finds commands within their ranges (and efforts within bounds, if given) that meet all\n"
             "goals. --marker selects the marker of the goals that follow it. For a target out of reach\n"
             "the result is the nearest reachable point found, with exit status 1, the distance and the\n"
             "active bounds.",
    .examples = "  pliant ik finger --target 80,0,-20\n"
                "  pliant ik trunk --marker tip --target 10,5,95 --direction 0,0.3,1 --axis 0,0,1 --json -\n"
                "  pliant ik trunk --target 10,5,95 --max-pressure 30kPa --least effort --out trunk.png\n"
                "  pliant ik finger --shape wanted.stl --of skin --out got.vtu\n"
                "  pliant ik finger --curvature 0.02 --along 10,0,0:90,0,0\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = ik_run,
};
