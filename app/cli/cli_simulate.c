// pliant simulate: the motion in time, as a table, shapes or a film. Rows are written while
// the motion goes on; an interrupted run keeps them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli_simulate.h"

static const cli_option options[] = {
    {"until", 0, "TIME", "end of the motion (2s); required", NULL, CLI_NUMBER(PL_DIM_TIME, 1e-9, 1e6)},
    {"start", 0, "HOW", "equilibrium (default), undeformed, or a state file", "equilibrium undeformed"},
    {"before", 0, "NAME=VALUE",
     "commands of the equilibrium at the start (default: at rest if in --set, otherwise idle); may be "
     "repeated",
     NULL},
    {"set", 0, "NAME=VALUE", "commands that the motion leads to, with units (air=30kPa); may be repeated",
     NULL},
    {"ramp", 0, "TIME", "time in which commands go to --set (default: at once)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 0, 1e6)},
    {"load-ramp", 0, "TIME",
     "with --start undeformed: time in which weight and other loads come on (a hand lets go)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 0, 1e6)},
    {"sine", 0, "NAME=MEAN,AMPLITUDE,FREQUENCY",
     "a command that goes up and down from the start on (air=20kPa,5kPa,2Hz); may be repeated", NULL},
    {"fill", 0, "NAME=TIME", "time in which a command is followed upwards (default: that of the robot file)",
     NULL},
    {"vent", 0, "NAME=TIME", "the same downwards; both may be repeated", NULL},
    {"line", 0, "NAME=CONDUCTANCE,VOLUME[,RATIO]",
     "a pressure that a regulator holds through a tube into a volume, choked at first: sonic conductance\n"
     "[L/(s bar)], volume of chamber and tube, critical ratio (air=0.05,20mL,0.3); may be repeated",
     NULL},
    {"push", 0, "MARKER=FX,FY,FZ@FROM,TO",
     "a force [N] at a marker between two times (tip=0,0,-2@50ms,80ms); short ones are impulses; may be "
     "repeated",
     NULL},
    {"shake", 0, "AXIS=AMPLITUDE,FREQUENCY",
     "all supports go to and fro from rest (z=2mm,5Hz); shapes are those in their frame; may be repeated",
     NULL},
    {"carry", 0, "AXIS=DISTANCE@FROM,TO",
     "all supports are moved between two times, without a jump of velocity (x=80mm@0s,0.5s); may be repeated",
     NULL},
    {"drag", 0, "SURFACE=DENSITY",
     "a fluid slows the surface down, -D |v| v / 2 per area: its density times the drag coefficient "
     "(skin=1000kg/m^3); may be repeated",
     NULL},
    {"table", 0, "FILE.csv",
     "commands over time: a column t, and columns by name (air [kPa]); linear between rows", NULL},
    {"every", 0, "TIME", "time between rows and shapes (default: until / 200)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 1e-6, 1e6)},
    {"tolerance", 0, "X", "error over the largest displacement so far (default 1e-3)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1e-8, 0.1)},
    {"step", 0, "auto|TIME", "a fixed step instead of one from the tolerance", "auto",
     CLI_NUMBER(PL_DIM_TIME, 1e-8, 10)},
    {"first-step", 0, "TIME", "length of the first step (default 5ms; it is halved where it is too long)",
     NULL, CLI_NUMBER(PL_DIM_TIME, 1e-6, 0.1)},
    {"damping", 0, "RATE", "mass-proportional damping, 1/s (default 0)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 1e6)},
    {"stiffness-damping", 0, "TIME",
     "stiffness-proportional damping, for comparison with other programs (silicone does not behave so)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 0, 1e3)},
    CLI_MASS,
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    {"out", 0, "FILE",
     "write .csv, the shapes as .pvd, .xdmf, .glb or .usda, a film\n"
     "(.gif .webm .mp4), or pictures (frame_%04d.png); without a .csv\n"
     "the table is printed",
     NULL},
    CLI_JSON,
    {"color", 0, "FIELD", "colours of a .glb, .usda or film: displacement, von_mises, stretch or region",
     "displacement von_mises stretch region"},
    CLI_PICTURE,
    {"save-state", 0, "FILE", "save the last state, with velocities: --start FILE goes on from there", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

// What --out may end in.
static const char *const extensions[] = {".csv", CLI_SERIES_EXTENSIONS, NULL};

// What the commands are asked to be from the start on.
static int simulate_schedule(const cli_args *args, simulate *d)
{
    const pl_model_info *i = &d->s.m.info;
    const int C = i->command_count;
    const double *first = pl_state_commands(pl_simulation_state(d->simulation));
    pl_error err = {0};

    // idle commands (NaN) stay idle unless --set names them
    memcpy(d->last, first, (size_t)C * sizeof *first);
    int status = cli_simulate_read_set(args, d, "set", d->last);
    if (status) {
        return status;
    }

    pl_status done = pl_schedule_create(i->command, C, d->begin, first, &d->schedule, &err);
    for (int c = 0; done == PL_OK && c < C; ++c) {
        if (d->has_table) {
            done = pl_schedule_table(d->schedule, c, d->table.extra, d->table.command + c, C, d->table.count,
                                     &err);
        } else if (d->last[c] != first[c] && !(isnan(d->last[c]) && isnan(first[c]))) {
            done = pl_schedule_ramp(d->schedule, c, d->begin, d->ramp, d->last[c], &err);
        }

        // what is asked for is followed at the rate and with the times of filling and venting of the line
        const double fill = isnan(d->line[c]) ? i->command[c].fill : d->line[c],
                     vent = isnan(d->line[C + c]) ? i->command[c].vent : d->line[C + c];
        if (done == PL_OK) {
            done = pl_schedule_follow(d->schedule, c, i->command[c].rate, fill, vent, &err);
        }
    }

    if (done != PL_OK) {
        return cli_fail(args, &err);
    }

    pl_schedule_load_ramp(d->schedule, d->load_ramp);
    status = cli_simulate_read_sines(args, d, true);

    status = status ? status : cli_simulate_read_air(args, d);
    status = status ? status : cli_simulate_read_base(args, d);

    return status ? status : cli_simulate_read_pushes(args, d);
}

// ---- where the motion begins
// Where the motion begins, and with it the schedule. Options are read before anything is solved.
static int simulate_start(const cli_args *args, simulate *d)
{
    cli_motion *s = &d->s;
    pl_error err = {0};
    const char *start = cli_value(args, "start");
    const int C = s->m.info.command_count;

    d->first = calloc((size_t)C + 1, sizeof *d->first);
    d->last = calloc((size_t)C + 1, sizeof *d->last);
    d->line = calloc(2 * (size_t)C + 1, sizeof *d->line);
    if (!d->first || !d->last || !d->line) {
        return cli_no_memory(args);
    }

    for (int c = 0; c < C; ++c) {
        d->first[c] = d->last[c] = d->line[c] = d->line[C + c] = NAN;
    }

    int status = cli_simulate_read_table(args, d);
    status = status ? status : cli_simulate_read_lines(args, d);
    status = status ? status : cli_simulate_read_set(args, d, "set", d->last);
    status = status ? status : cli_simulate_read_set(args, d, "before", d->first);
    status = status ? status : cli_simulate_read_sines(args, d, false);
    if (status) {
        return status;
    }

    // the two options that have a meaning for one start only
    if (d->load_ramp > 0 && (!start || strcmp(start, "undeformed") != 0)) {
        cli_error(args, "--load-ramp is for --start undeformed");
        return CLI_EXIT_USAGE;
    }

    const bool equilibrium = !start || strcmp(start, "equilibrium") == 0;
    if (!equilibrium && cli_value(args, "before")) {
        cli_error(args, "--before is for --start equilibrium");
        return CLI_EXIT_USAGE;
    }

    if (equilibrium) {
        for (int c = 0; d->has_table && !cli_value(args, "before") && c < C; ++c) {
            d->first[c] = d->table.command[c]; // of the first row
        }
        // a command that is going to be used is at rest, not idle: a cable is taut, not let go
        for (int c = 0; c < C; ++c) {
            const bool used = !isnan(d->last[c]) && isnan(d->first[c]);
            d->first[c] = used ? s->m.info.command[c].rest : d->first[c];
        }

        memcpy(s->m.command, d->first, (size_t)C * sizeof *d->first);
        status = cli_model_solve(args, &s->m);
        status = status ? status : cli_model_outcome(args, &s->m);
        if (!status && pl_simulation_from_model(d->simulation, &err) != PL_OK) {
            return cli_fail(args, &err);
        }

        // a saved state brings its time, its velocities and its commands with it
    } else if (strcmp(start, "undeformed") != 0) {
        status = pl_state_load(pl_simulation_state(d->simulation), s->robot, start, &err) == PL_OK
                     ? CLI_DONE
                     : cli_fail(args, &err);
    }

    // the motion goes on from the time of the state
    d->begin = pl_simulation_begin(d->simulation);
    if (!status && d->until <= d->begin) {
        cli_error(args, "--until is %g s, the state is at %g s already", d->until, d->begin);
        return CLI_EXIT_USAGE;
    }

    return status ? status : simulate_schedule(args, d);
}

// ---- rows
// Names of the columns in the order of simulate_values; each with a unit.
static void simulate_head(simulate *d, FILE *out)
{
    const pl_model_info *i = &d->s.m.info;
    fputs("t [s]", out);
    for (int c = 0; c < i->command_count; ++c) {
        fprintf(out, ",%s [%s]", i->command[c].name, pl_drive_unit(i->command[c].drive));
    }

    for (int k = 0; k < 6 * i->marker_count; ++k) {
        const bool speed = k % 6 >= 3;
        fprintf(out, ",%s.%s%c [%s]", i->marker_name[k / 6], speed ? "v" : "", "xyz"[k % 3],
                speed ? "mm/s" : "mm");
    }

    for (int a = 0; a < i->actuator_count; ++a) {
        fprintf(out, ",%s.effort [%s]", i->actuator[a].name, pl_effort_unit(i->actuator[a].kind));
    }
    for (int k = 0; k < i->sensor_count; ++k) {
        fprintf(out, ",%s [%s]", i->sensor_name[k], pl_sensor_unit(i->sensor_kind[k]));
    }
    for (int k = 0; k < i->reading_count; ++k) {
        fprintf(out, ",%s.%s [%s]", i->reading[k].name, i->reading[k].quantity, i->reading[k].unit);
    }
    fputs(",kinetic [mJ],elastic [mJ],viscous [mJ],damped [mJ],actuators [mJ],loads [mJ],imbalance [mJ]\n",
          out);
}

// One cell of a row; one that is not finite stays empty (null in JSON).
static void simulate_cell(FILE *out, json_t *row, double value)
{
    if (isfinite(value)) {
        fprintf(out, "%s%.9g", ftell(out) > 0 ? "," : "", value);
    } else {
        fputs(",", out);
    }
    if (row) {
        json_array_append_new(row, cli_json_number(value));
    }
}

// Remembers the time of a row, for the files of shapes.
static int simulate_note_time(simulate *d, double t)
{
    if (d->count == d->capacity) {
        d->capacity = 2 * d->capacity + 256;
        double *larger = realloc(d->time, (size_t)d->capacity * sizeof *larger);
        if (!larger) {
            return cli_no_memory(d->args);
        }
        d->time = larger;
    }

    d->time[d->count++] = t;
    return CLI_DONE;
}

// The cells of one row in the order of simulate_head; into the JSON rows, too, if asked for.
static int simulate_cells(simulate *d, const pl_motion_row *r, FILE *out)
{
    const pl_model_info *i = &d->s.m.info;
    const pl_model_answer *answer = r->answer;
    json_t *row = d->rows ? json_array() : NULL;

    simulate_cell(out, row, r->time);
    for (int c = 0; c < i->command_count; ++c) {
        simulate_cell(out, row, answer->command[c] / pl_drive_scale(i->command[c].drive));
    }

    // positions and velocities, marker by marker
    for (int k = 0; k < 6 * i->marker_count; ++k) {
        const int at = 3 * (k / 6) + k % 3;
        simulate_cell(out, row, k % 6 < 3 ? answer->marker[at] : r->velocity[at]);
    }

    for (int a = 0; a < i->actuator_count; ++a) {
        simulate_cell(out, row, answer->effort[a] / pl_effort_scale(i->actuator[a].kind));
    }
    for (int k = 0; k < i->sensor_count; ++k) {
        simulate_cell(out, row, answer->sensor[k] / pl_sensor_scale(i->sensor_kind[k]));
    }

    // contacts, free bodies, springs: whatever the terms of the robot report
    for (int k = 0; k < i->reading_count; ++k) {
        simulate_cell(out, row, answer->reading[k]);
    }

    const pl_motion_energy *e = &r->energy;
    const double energy[7] = {e->kinetic,   e->elastic, e->viscous,  e->damped,
                              e->actuators, e->loads,   e->imbalance};
    for (int k = 0; k < 7; ++k) {
        simulate_cell(out, row, energy[k]);
    }
    if (row) {
        json_array_append_new(d->rows, row);
    }

    return CLI_DONE;
}

// Called by the library at every row: writes it, and prints it where there is no other output. False: stop.
static bool simulate_row(void *user, const pl_motion_row *r)
{
    simulate *d = user;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    d->status = out ? simulate_cells(d, r, out) : cli_no_memory(d->args);
    if (out) {
        fputs("\n", out);
        fclose(out);
        fputs(text, d->csv);
        if (!cli_out(d->args, ".csv") && !cli_value(d->args, "json")) {
            cli_say(d->args, "%s", text);
        }
    }

    free(text);

    d->status = d->status ? d->status : simulate_note_time(d, r->time);
    d->status = d->status ? d->status : cli_series_frame(d->args, &d->series, &d->s.m);

    return !d->status && !cli_interrupted();
}

// ---- the run
// Integrates the motion.
static int simulate_go(const cli_args *args, simulate *d)
{
    pl_error err = {0};
    cli_stage("motion", false);
    const pl_status status =
        pl_simulation_run(d->simulation, d->schedule, cli_value(args, "mass") ? d->s.force : NULL, d->until,
                          d->every, simulate_row, d, &d->report, &err);
    cli_stage(NULL, false);
    if (d->status) {
        return d->status;
    }
    err.status = status;

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The result for programs. The names of the columns are those of the .csv head, cut at its commas. The caller
// owns it.
static json_t *simulate_json(simulate *d)
{
    const pl_motion_report *r = &d->report;
    char *text = NULL;
    size_t bytes = 0;
    FILE *head = open_memstream(&text, &bytes);
    json_t *root = cli_json_head(d->s.m.info.robot_hash, d->s.m.findings), *names = json_array();

    if (head) {
        simulate_head(d, head);
        fclose(head);
    }

    for (char *name = text ? strtok(text, ",\n") : NULL; name; name = strtok(NULL, ",\n")) {
        json_array_append_new(names, json_string(name));
    }
    free(text);

    json_object_set_new(root, "outcome", json_string(pl_motion_outcome_name(r->outcome)));
    json_object_set_new(root, "message", json_string(r->message));
    json_object_set_new(root, "time_s", cli_json_number(r->time));
    json_object_set_new(root, "steps", json_integer(r->steps));
    json_object_set_new(root, "rejected", json_integer(r->rejected));
    json_object_set_new(root, "factorizations", json_integer(r->factorizations));
    json_object_set_new(root, "solves", json_integer(r->solves));
    json_object_set_new(root, "smallest_step_s", cli_json_number(r->smallest_step));
    json_object_set_new(root, "seconds", cli_json_number(r->seconds));
    json_object_set_new(root, "columns", names);
    json_object_set_new(root, "rows", d->rows);
    d->rows = NULL; // root owns them now

    return root;
}

// Writes what is written at the end: the table, the shapes, the last state, the record.
static int simulate_finish(const cli_args *args, simulate *d)
{
    const char *csv = cli_out(args, ".csv"), *state = cli_value(args, "save-state");
    pl_error err = {0};

    if (fflush(d->csv) != 0 || ferror(d->csv)) {
        return cli_no_memory(args);
    }
    if (csv && pl_file_write(csv, d->csv_text, d->csv_bytes, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    int status = cli_series_finish(args, &d->series, d->time);
    if (!status && state) {
        if (pl_state_save(pl_simulation_state(d->simulation), d->s.robot, state, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
    }

    return status ? status : cli_json_write(args, cli_value(args, "json") ? simulate_json(d) : NULL);
}

// What is said at the end, and the exit status. The energies show at a glance whether the motion is to be
// trusted: the imbalance is the error of the balance.
static int simulate_outcome(const cli_args *args, simulate *d)
{
    const pl_motion_report *r = &d->report;
    const pl_motion_energy *e = &r->energy;

    if (cli_out(args, ".csv") || cli_value(args, "json")) {
        cli_say(args,
                "%.4g s in %d steps (%.3g ms at least), %d rejected; %d factorisations, %d solves, %.3g s; "
                "%d rows\n",
                r->time - d->begin, r->steps, 1e3 * r->smallest_step, r->rejected, r->factorizations,
                r->solves, r->seconds, d->count);
        cli_say(args,
                "energy [mJ]: kinetic %.4g, elastic %.4g, viscous %.4g, damped %.4g; work of actuators %.4g, "
                "of loads "
                "%.4g; imbalance %.2g\n",
                e->kinetic, e->elastic, e->viscous, e->damped, e->actuators, e->loads, e->imbalance);
    }

    if (r->outcome == PL_MOTION_STALLED) {
        cli_error(args, "%s; %d rows are kept", r->message, d->count);
        return CLI_EXIT_UNSOLVED;
    }

    if (cli_interrupted()) {
        cli_error(args, "%s at %.4g of %.4g s, %d rows are kept", cli_stop_reason(), r->time, d->until,
                  d->count);
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    return CLI_DONE;
}

// Opens the table and writes its head; prints it where rows are printed.
static int simulate_prepare(const cli_args *args, simulate *d)
{
    d->csv = open_memstream(&d->csv_text, &d->csv_bytes);
    d->rows = cli_value(args, "json") ? json_array() : NULL;
    if (!d->csv) {
        return cli_no_memory(args);
    }
    simulate_head(d, d->csv);
    fflush(d->csv);
    if (!cli_out(args, ".csv") && !cli_value(args, "json")) {
        cli_say(args, "%s", d->csv_text);
    }

    return CLI_DONE;
}

// Makes the integrator: mass matrix and everything else that does not change during the motion.
static int simulate_create(const cli_args *args, simulate *d)
{
    pl_error err = {0};
    d->options.marker_mass = d->s.mass;
    d->options.masses_hang = cli_flag(args, "hang");
    d->options.displacement = cli_flag(args, "displacement");
    d->options.progress = cli_progress;
    const int wrong = cli_simulate_read_drag(args, d);
    if (wrong) {
        return wrong;
    }
    cli_stage("preparing the motion", false);
    const pl_status status = pl_simulation_create(d->s.m.model, &d->options, &d->simulation, &err);
    cli_stage(NULL, false);
    err.status = status;

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The verb from its options to its exit status.
static int simulate_work(const cli_args *args, simulate *d)
{
    int status = cli_setup(args);
    status = status ? status : cli_simulate_numbers(args, d);
    status = status ? status : cli_check_outputs(args, extensions, NULL, cli_value(args, "table"));
    status = status ? status : cli_model_open(args, args->plain[0], &d->s.m);
    status = status ? status : cli_check_outputs(args, NULL, d->s.m.path, NULL);
    status = status ? status : cli_motion_prepare(args, &d->s);
    status = status ? status : simulate_create(args, d);
    status = status ? status : simulate_start(args, d);
    status = status ? status : simulate_prepare(args, d);
    status = status ? status : simulate_go(args, d);
    status = status ? status : simulate_finish(args, d);

    return status ? status : simulate_outcome(args, d);
}

static int simulate_run(cli_args *args)
{
    simulate d = {.args = args};
    const int status = simulate_work(args, &d);

    if (d.csv) {
        fclose(d.csv);
    }
    free(d.csv_text);
    json_decref(d.rows);
    cli_series_clear(&d.series);
    pl_measured_clear(&d.table);
    pl_schedule_destroy(d.schedule);
    pl_simulation_destroy(d.simulation);
    free(d.first);
    free(d.last);
    free(d.line);
    free(d.drag);
    free(d.time);
    cli_motion_clear(&d.s);

    return status;
}

const cli_verb cli_verb_simulate = {
    .name = "simulate",
    .summary = "the motion in time: swings, creep and fast drives",
    .usage = "ROBOT --until TIME [--start HOW] [--set NAME=VALUE ...] [options]",
    .about =
        "Integrates the motion of the full body with inertia and viscosity (prony of the materials) from\n"
        "an equilibrium, the undeformed body or a saved state. Commands go to --set at once or in a\n"
        "ramp, follow a sine or a table; rates and times of filling and venting of the robot file hold. "
        "Steps follow from the tolerance. Every material needs a density;\n"
        "contact acts, free rigid bodies fall and turn. Efforts are those of the motion; the energy balance "
        "is "
        "in\n"
        "every row. An interrupted run keeps its rows.",
    .examples =
        "  pliant simulate finger --until 2s --set air=30kPa --ramp 50ms --every 10ms --out motion.csv\n"
        "  pliant simulate beam --until 3s --start undeformed --out fall.pvd   # let go at once\n"
        "  pliant simulate finger --until 1s --before air=30kPa --set air=0kPa --out vent.webm\n"
        "  pliant simulate finger --until 5s --table commands.csv --json -\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = simulate_run,
    .stopping = "stopping, keeping the rows computed",
};
