// A solved state as people, machines and spreadsheets read it: the tables, the JSON record and the CSV row of
// `fk`.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

const char *cli_effort_unit(pl_actuator_kind kind)
{
    return kind == PL_CABLE ? "N" : "kPa";
}

double cli_effort_scale(pl_actuator_kind kind)
{
    return kind == PL_CABLE ? 1 : 1e-3;
}

const char *cli_sensor_unit(pl_sensor_kind kind)
{
    return kind == PL_SENSOR_LENGTH ? "mm" : kind == PL_SENSOR_VOLUME ? "mm^3" : "kPa";
}

double cli_sensor_scale(pl_sensor_kind kind)
{
    return kind == PL_SENSOR_PRESSURE ? 1e-3 : 1;
}

static const char *result_measure_name(pl_actuator_kind kind)
{
    return kind == PL_CABLE ? "length" : kind == PL_CHAMBER ? "volume" : "area";
}

static const char *result_measure_unit(pl_actuator_kind kind)
{
    return kind == PL_CABLE ? "mm" : kind == PL_CHAMBER ? "mm^3" : "mm^2";
}

static double result_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The angle of a rotation matrix in degrees: tr R = 1 + 2 cos(angle), and the skew part gives the sine, which
// is the more exact of the two for small angles.
static double result_angle(const double R[9])
{
    const double s[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    return atan2(result_length(s), R[0] + R[4] + R[8] - 1) * 180 / 3.14159265358979323846;
}

// ---- for people
static void result_print_markers(const cli_args *args, cli_run *run)
{
    const int count = pl_robot_marker_count(run->r.robot);
    cli_table table = {0};
    cli_row(&table, "marker\tx\ty\tz mm\tdx\tdy\tdz mm\tmoved mm\tturned deg");
    for (int i = 0; i < count; ++i) {
        const pl_marker_result m = pl_statics_marker(run->statics, run->state, i);
        char turned[32] = "-";
        if (m.has_rotation) {
            snprintf(turned, sizeof turned, "%.2f", result_angle(m.rotation));
        }
        cli_row(&table, "%s\t%.3f\t%.3f\t%.3f\t%+.3f\t%+.3f\t%+.3f\t%.3f\t%s",
                pl_robot_marker_name(run->r.robot, i), cli_tidy(m.position[0], 3), cli_tidy(m.position[1], 3),
                cli_tidy(m.position[2], 3), cli_tidy(m.displacement[0], 3), cli_tidy(m.displacement[1], 3),
                cli_tidy(m.displacement[2], 3), result_length(m.displacement), turned);
    }
    if (count > 0) {
        cli_say(args, "\n");
        cli_table_print(args, &table);
    } else {
        cli_table_print(&(cli_args){.silent = true}, &table);
    }
}

// Growth pulls without an effort that would be known.
static bool result_grows(const cli_run *run, int actuator)
{
    return run->geometric && pl_geometric_actuator(run->geometric, actuator).growth;
}

// What the exact method was asked for and got, of actuators that grow by a ratio.
static void result_print_growth(const cli_args *args, cli_run *run)
{
    for (int i = 0; !run->geometric && i < pl_robot_actuator_count(run->r.robot); ++i) {
        const pl_actuator_info info = pl_robot_actuator(run->r.robot, i);
        if (info.growth && info.table_count == 0 && info.command >= 0 && !isnan(run->command[info.command])) {
            cli_say(args, "  %s: asked for %.4f of rest, reached %.4f by growth\n", info.name,
                    info.factor * run->command[info.command],
                    pl_statics_actuator(run->statics, run->state, i).ratio);
        }
    }
}

static void result_print_actuators(const cli_args *args, cli_run *run)
{
    const int count = pl_robot_actuator_count(run->r.robot);
    cli_table table = {0};
    cli_row(&table, "actuator\tkind\tdrive\tnow\t\tof rest\teffort");
    for (int i = 0; i < count; ++i) {
        const pl_actuator_info info = pl_robot_actuator(run->r.robot, i);
        const pl_actuator_result a = pl_statics_actuator(run->statics, run->state, i);
        const bool idle = info.command < 0 || isnan(run->command[info.command]);
        cli_row(&table, "%s\t%s\t%s%s\t%.2f\t%s\t%.4f\t%.4g\t%s%s", info.name,
                pl_actuator_kind_name(info.kind), pl_drive_name(info.drive), idle ? " (idle)" : "", a.measure,
                result_measure_unit(info.kind), a.ratio, a.effort / cli_effort_scale(info.kind),
                cli_effort_unit(info.kind), a.slack && !result_grows(run, i) ? ", slack" : "");
    }
    if (count > 0) {
        cli_say(args, "\n");
    }
    cli_table_print(count > 0 ? args : &(cli_args){.silent = true}, &table);
    result_print_growth(args, run);
    for (int i = 0; run->geometric && i < count; ++i) {
        const pl_geometric_actuator_result a = pl_geometric_actuator(run->geometric, i);
        if (!isnan(a.asked)) {
            cli_say(args, "  %s: asked for %.4f of rest, reached %.4f",
                    pl_robot_actuator(run->r.robot, i).name, a.asked, a.ratio);
            cli_say(args, a.growth ? " by growth (local ratios %.3f to %.3f)\n" : " as a constraint\n",
                    a.local_low, a.local_high);
        }
    }
}

static void result_print_sensors(const cli_args *args, cli_run *run)
{
    const int count = pl_robot_sensor_count(run->r.robot);
    cli_table table = {0};
    for (int i = 0; i < count; ++i) {
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "sensor\treads");
        }
        const pl_sensor_kind kind = pl_robot_sensor_kind(run->r.robot, i);
        cli_row(&table, "%s\t%.4f\t%s", pl_robot_sensor_name(run->r.robot, i),
                pl_statics_sensor(run->statics, run->state, i) / cli_sensor_scale(kind),
                cli_sensor_unit(kind));
    }
    cli_table_print(args, &table);
}

static pl_reaction *result_reactions(cli_run *run)
{
    // the forces of another method are not those of the exact law
    pl_reaction *reaction =
        run->geometric ? NULL : calloc((size_t)pl_robot_fixed_count(run->r.robot) + 1, sizeof *reaction);
    if (reaction && pl_statics_reactions(run->statics, run->state, reaction) != PL_OK) {
        free(reaction);
        return NULL;
    }
    return reaction;
}

static void result_print_reactions(const cli_args *args, cli_run *run)
{
    pl_reaction *reaction = result_reactions(run);
    const int count = reaction ? pl_robot_fixed_count(run->r.robot) : 0;
    cli_table table = {0};
    for (int i = 0; i < count; ++i) {
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "support\tforce x\ty\tz N\tmoment x\ty\tz N mm");
        }
        const double *f = reaction[i].force, *m = reaction[i].moment;
        cli_row(&table, "%s\t%.4f\t%.4f\t%.4f\t%.3f\t%.3f\t%.3f", pl_robot_fixed_name(run->r.robot, i),
                cli_tidy(f[0], 4), cli_tidy(f[1], 4), cli_tidy(f[2], 4), cli_tidy(m[0], 3), cli_tidy(m[1], 3),
                cli_tidy(m[2], 3));
    }
    cli_table_print(args, &table);
    free(reaction);
}

void cli_result_print(const cli_args *args, cli_run *run)
{
    const pl_statics_report *p = &run->report;
    char text[400];
    cli_commands_text(run->r.robot, run->command, text, sizeof text);
    cli_say(args, "%s at %s: %s\n", pl_robot_name(run->r.robot), text, pl_outcome_name(p->outcome));
    if (p->message[0]) {
        cli_say(args, "  %s\n", p->message);
    }
    result_print_markers(args, run);
    result_print_actuators(args, run);
    result_print_sensors(args, run);
    result_print_reactions(args, run);
    const pl_statics_sizes sizes = pl_statics_get_sizes(run->statics);
    cli_say(args, "\n  smallest J %.4f, largest stretch %.4f, elastic energy %.4g mJ\n", p->min_J,
            p->max_stretch, p->energy);
    cli_say(args,
            "  %d elements, %d vertices; %d load increments, %d iterations, %d factorizations, %d solves, "
            "%.2f s\n",
            sizes.elements, sizes.vertices, p->increments, p->iterations, p->factorizations, p->solves,
            p->seconds);
    cli_say(args, "  out of balance by %.2g N at most, next step %.2g mm\n", p->residual, p->step);
    if (p->negative_count > 0) {
        cli_say(args, "  unstable: the tangent has %d negative eigenvalue%s\n", p->negative_count,
                p->negative_count == 1 ? "" : "s");
    }
}

// ---- for machines
static json_t *result_json_commands(const cli_run *run)
{
    json_t *all = json_object();
    for (int i = 0; i < pl_robot_command_count(run->r.robot); ++i) {
        const pl_command_info info = pl_robot_command(run->r.robot, i);
        json_t *one = json_object();
        json_object_set_new(one, "value", cli_json_number(run->command[i] / pl_drive_scale(info.drive)));
        json_object_set_new(one, "unit", json_string(pl_drive_unit(info.drive)));
        json_object_set_new(all, info.name, one);
    }
    return all;
}

static json_t *result_json_actuators(cli_run *run)
{
    json_t *all = json_object();
    for (int i = 0; i < pl_robot_actuator_count(run->r.robot); ++i) {
        const pl_actuator_info info = pl_robot_actuator(run->r.robot, i);
        const pl_actuator_result a = pl_statics_actuator(run->statics, run->state, i);
        static const char *const effort[] = {"tension", "pressure_kpa", "maxwell_stress_kpa"};
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(pl_actuator_kind_name(info.kind)));
        json_object_set_new(one, "drive", json_string(pl_drive_name(info.drive)));
        json_object_set_new(one, result_measure_name(info.kind), cli_json_number(a.measure));
        json_object_set_new(one, "ratio", cli_json_number(a.ratio));
        json_object_set_new(one, effort[info.kind], cli_json_number(a.effort / cli_effort_scale(info.kind)));
        if (info.kind == PL_CABLE) {
            json_object_set_new(one, "slack", json_boolean(a.slack && !result_grows(run, i)));
        }
        if (run->geometric) {
            const pl_geometric_actuator_result got = pl_geometric_actuator(run->geometric, i);
            json_object_set_new(one, "asked", cli_json_number(got.asked));
            json_object_set_new(one, "reached", cli_json_number(got.ratio));
            json_object_set_new(one, "growth", json_boolean(got.growth));
            json_object_set_new(one, effort[info.kind],
                                cli_json_number(got.effort / cli_effort_scale(info.kind)));
        }
        json_object_set_new(all, info.name, one);
    }
    return all;
}

static json_t *result_json_markers(cli_run *run)
{
    json_t *all = json_object();
    for (int i = 0; i < pl_robot_marker_count(run->r.robot); ++i) {
        const pl_marker_result m = pl_statics_marker(run->statics, run->state, i);
        json_t *one = json_object();
        json_object_set_new(one, "position", cli_json_numbers(m.position, 3));
        json_object_set_new(one, "displacement", cli_json_numbers(m.displacement, 3));
        json_object_set_new(one, "rotation", m.has_rotation ? cli_json_numbers(m.rotation, 9) : json_null());
        json_object_set_new(all, pl_robot_marker_name(run->r.robot, i), one);
    }
    return all;
}

static void result_json_sensors(cli_run *run, json_t *root)
{
    json_t *all = json_object(), *units = json_object();
    for (int i = 0; i < pl_robot_sensor_count(run->r.robot); ++i) {
        const pl_sensor_kind kind = pl_robot_sensor_kind(run->r.robot, i);
        const char *name = pl_robot_sensor_name(run->r.robot, i);
        const double value = pl_statics_sensor(run->statics, run->state, i) / cli_sensor_scale(kind);
        json_object_set_new(all, name, cli_json_number(value));
        json_object_set_new(units, name, json_string(cli_sensor_unit(kind)));
    }
    json_object_set_new(root, "sensors", all);
    json_object_set_new(root, "sensor_units", units);
}

static json_t *result_json_reactions(cli_run *run)
{
    json_t *all = json_object();
    pl_reaction *reaction = result_reactions(run);
    for (int i = 0; reaction && i < pl_robot_fixed_count(run->r.robot); ++i) {
        json_t *one = json_object();
        json_object_set_new(one, "force", cli_json_numbers(reaction[i].force, 3));
        json_object_set_new(one, "moment", cli_json_numbers(reaction[i].moment, 3));
        json_object_set_new(all, pl_robot_fixed_name(run->r.robot, i), one);
    }
    free(reaction);
    return all;
}

json_t *cli_result_json(cli_run *run)
{
    const pl_statics_report *p = &run->report;
    const pl_statics_sizes sizes = pl_statics_get_sizes(run->statics);
    json_t *root = cli_json_head(run->r.robot, run->r.findings);
    json_object_set_new(root, "method", json_string(run->geometric ? "local_global" : "exact"));
    json_object_set_new(root, "converged", json_boolean(p->outcome == PL_SOLVED));
    json_object_set_new(root, "outcome", json_string(pl_outcome_name(p->outcome)));
    json_object_set_new(root, "message", json_string(p->message));
    json_object_set_new(root, "iterations", json_integer(p->iterations));
    json_object_set_new(root, "increments", json_integer(p->increments));
    json_object_set_new(root, "factorizations", json_integer(p->factorizations));
    json_object_set_new(root, "solves", json_integer(p->solves));
    json_object_set_new(root, "residual", cli_json_number(p->residual));
    json_object_set_new(root, "step", cli_json_number(p->step));
    json_object_set_new(root, "seconds", cli_json_number(p->seconds));
    json_object_set_new(root, "energy", cli_json_number(p->energy));
    json_object_set_new(root, "load_reached", cli_json_number(p->load_reached));
    json_object_set_new(root, "vertices", json_integer(sizes.vertices));
    json_object_set_new(root, "elements", json_integer(sizes.elements));
    json_object_set_new(root, "commands", result_json_commands(run));
    json_object_set_new(root, "actuators", result_json_actuators(run));
    json_object_set_new(root, "markers", result_json_markers(run));
    result_json_sensors(run, root);
    json_object_set_new(root, "reactions", result_json_reactions(run));
    json_object_set_new(root, "contacts", json_object());
    json_object_set_new(root, "min_J", cli_json_number(p->min_J));
    json_object_set_new(root, "max_stretch", cli_json_number(p->max_stretch));
    json_object_set_new(root, "negative_count",
                        p->negative_count < 0 ? json_null() : json_integer(p->negative_count));
    return root;
}

// ---- for spreadsheets
// Ends a text that grew in memory; NULL when memory ran out.
static char *csv_end(FILE *t, char **text)
{
    fputc('\n', t);
    const bool failed = ferror(t);
    if (fclose(t) != 0 || failed) {
        free(*text);
        return NULL;
    }
    return *text;
}

char *cli_result_csv_head(const cli_run *run)
{
    const pl_robot *robot = run->r.robot;
    char *text = NULL;
    size_t size = 0;
    FILE *t = open_memstream(&text, &size);
    if (!t) {
        return NULL;
    }
    for (int i = 0; i < pl_robot_command_count(robot); ++i) {
        const pl_command_info info = pl_robot_command(robot, i);
        fprintf(t, "%s [%s],", info.name, pl_drive_unit(info.drive));
    }
    fprintf(t, "converged,outcome");
    for (int i = 0; i < pl_robot_marker_count(robot); ++i) {
        const char *name = pl_robot_marker_name(robot, i);
        fprintf(t, ",%s.x [mm],%s.y [mm],%s.z [mm],%s.turned [deg]", name, name, name, name);
    }
    for (int i = 0; i < pl_robot_actuator_count(robot); ++i) {
        const pl_actuator_info info = pl_robot_actuator(robot, i);
        fprintf(t, ",%s.%s [%s],%s.effort [%s]", info.name, result_measure_name(info.kind),
                result_measure_unit(info.kind), info.name, cli_effort_unit(info.kind));
    }
    for (int i = 0; i < pl_robot_sensor_count(robot); ++i) {
        fprintf(t, ",%s [%s]", pl_robot_sensor_name(robot, i),
                cli_sensor_unit(pl_robot_sensor_kind(robot, i)));
    }
    fprintf(t, ",min_J [1],max_stretch [1],energy [mJ],residual [N],seconds [s]");
    return csv_end(t, &text);
}

static void csv_number(FILE *t, const char *before, double value)
{
    if (isfinite(value)) {
        fprintf(t, "%s%.10g", before, value);
    } else {
        fprintf(t, "%s", before);
    }
}

char *cli_result_csv_row(cli_run *run)
{
    const pl_robot *robot = run->r.robot;
    const pl_statics_report *p = &run->report;
    char *text = NULL;
    size_t size = 0;
    FILE *t = open_memstream(&text, &size);
    if (!t) {
        return NULL;
    }
    for (int i = 0; i < pl_robot_command_count(robot); ++i) {
        csv_number(t, "", run->command[i] / pl_drive_scale(pl_robot_command(robot, i).drive));
        fprintf(t, ",");
    }
    fprintf(t, "%d,%s", p->outcome == PL_SOLVED, pl_outcome_name(p->outcome));
    for (int i = 0; i < pl_robot_marker_count(robot); ++i) {
        const pl_marker_result m = pl_statics_marker(run->statics, run->state, i);
        for (int k = 0; k < 3; ++k) {
            csv_number(t, ",", m.position[k]);
        }
        csv_number(t, ",", m.has_rotation ? result_angle(m.rotation) : NAN);
    }
    for (int i = 0; i < pl_robot_actuator_count(robot); ++i) {
        const pl_actuator_result a = pl_statics_actuator(run->statics, run->state, i);
        csv_number(t, ",", a.measure);
        csv_number(t, ",", a.effort / cli_effort_scale(pl_robot_actuator(robot, i).kind));
    }
    for (int i = 0; i < pl_robot_sensor_count(robot); ++i) {
        const double value = pl_statics_sensor(run->statics, run->state, i);
        csv_number(t, ",", value / cli_sensor_scale(pl_robot_sensor_kind(robot, i)));
    }
    const double rest[] = {p->min_J, p->max_stretch, p->energy, p->residual, p->seconds};
    for (int i = 0; i < 5; ++i) {
        csv_number(t, ",", rest[i]);
    }
    return csv_end(t, &text);
}
