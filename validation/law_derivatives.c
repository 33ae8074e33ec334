// Every derivative that the library gives against central differences, on random robots of both families
// (metamorphic_robot.h, metamorphic_more.h), on two mesh sizes: with respect to commands, forces, moments,
// gravity, pressures, every constant of every material, thickness and prestretch of layers, stiffness and
// prestretch of fibres, forces at markers and at a gripped point. What is compared are positions of the
// vertices, markers and their rotations, measures, efforts, readings. Gradients by the adjoint must be the
// same as those by columns. Where a derivative is one-sided, approximate (friction) or refused, the
// library says so, and it is counted, not compared.
//   law_derivatives [ROBOTS [SEED]]     robots per family
//   law_derivatives show SEED           one robot of each
#include "metamorphic_change.h"
#include "metamorphic_more.h"
#include "pliant/result.h"
#include "robot/robot.h"

#define COMMANDS (META_ACTUATORS + 2)
#define PARAMETERS 64
#define OUTPUTS 128
#define ALLOWED 1e-4
#define ALLOWED_ADJOINT 1e-7

typedef struct rig {
    meta_robot def;
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
    pl_solve_report report;
    double command[COMMANDS];
    pl_error err;
} rig;

// What a parameter changes: a number of the definition, a command or a force set at run time.
typedef struct entry {
    pl_parameter parameter;
    double *value; // in rig.def or rig.command; NULL: a force at a marker or at the gripped point
    double scale;  // of which the step is a part
    char name[48];
} entry;

typedef struct tally {
    int cases, failed, one_sided, approximate, refused, unsolved;
    double worst, worst_adjoint;
    uint64_t seed, seed_adjoint;
    char what[80];
    int adjoints, failed_adjoints;
} tally;

static tally total;
static bool verbose;

// ---- a robot, solved nearly to rounding
static pl_statics_options tight(void)
{
    pl_statics_options options = pl_statics_options_default();
    options.force_tolerance = 1e-10;
    options.length_tolerance = 1e-9;
    options.contact_tolerance = 1e-9;
    return options;
}

static void rig_clear(rig *r)
{
    pl_state_destroy(r->state);
    pl_statics_destroy(r->statics);
    pl_robot_destroy(r->robot);
    r->state = NULL;
    r->statics = NULL;
    r->robot = NULL;
}

static bool rig_build(rig *r)
{
    const pl_statics_options options = tight();
    return meta_build(&r->def, &r->robot, &r->err) == PL_OK &&
           pl_statics_create(r->robot, &options, &r->statics, &r->err) == PL_OK &&
           pl_state_create(r->robot, &r->state, &r->err) == PL_OK;
}

static bool rig_solve(rig *r)
{
    return pl_statics_solve(r->statics, r->state, r->command, &r->report, &r->err) == PL_OK &&
           r->report.outcome == PL_SOLVED;
}

// ---- outputs
typedef struct outputs {
    double *x;
    int vertices, markers, actuators, readings;
    double marker[6], rotation[2][9], measure[META_ACTUATORS], effort[META_ACTUATORS], reading[OUTPUTS];
} outputs;

static void outputs_at(rig *r, outputs *o)
{
    o->vertices = r->def.vertices;
    o->markers = r->def.def.marker_count;
    o->actuators = r->def.def.actuator_count;
    o->readings = pl_statics_reading_count(r->statics);
    o->readings = o->readings < OUTPUTS ? o->readings : OUTPUTS;
    o->x = meta_duplicate(pl_state_positions(r->state), 3 * (size_t)o->vertices * sizeof(double));
    for (int m = 0; m < o->markers; ++m) {
        const pl_marker_result marker = pl_statics_marker(r->statics, r->state, m);
        memcpy(o->marker + 3 * m, marker.position, 3 * sizeof(double));
        memcpy(o->rotation[m], marker.rotation, 9 * sizeof(double));
    }
    for (int a = 0; a < o->actuators; ++a) {
        const pl_actuator_result result = pl_statics_actuator(r->statics, r->state, a);
        o->measure[a] = result.measure;
        o->effort[a] = result.effort;
    }
    for (int i = 0; i < o->readings; ++i) {
        o->reading[i] = pl_statics_reading(r->statics, r->state, i);
    }
}

// ---- the parameters of a robot
static void entry_add(entry *list, int *count, pl_parameter q, double *value, double scale, const char *name)
{
    if (*count < PARAMETERS) {
        entry *k = &list[(*count)++];
        *k = (entry){.parameter = q, .value = value, .scale = scale};
        snprintf(k->name, sizeof k->name, "%s", name);
    }
}

static int entries_of(rig *r, entry *list)
{
    pl_robot_def *def = &r->def.def;
    const double *L = r->def.size, force = 0.02 * r->def.mu * L[1] * L[2];
    int count = 0;
    char name[48];

    for (int c = 0; c < pl_robot_command_count(r->robot); ++c) {
        const pl_command_info info = pl_robot_command(r->robot, c);
        if (!isnan(r->command[c])) {
            snprintf(name, sizeof name, "command %s", pl_drive_name(info.drive));
            entry_add(list, &count, (pl_parameter){PL_PARAMETER_COMMAND, c, 0}, &r->command[c],
                      fmax(fabs(r->command[c] - info.rest), 1e-3 * fabs(info.rest)), name);
        }
    }
    for (int f = 0; f < def->force_count; ++f) {
        for (int i = 0; i < 3; ++i) {
            entry_add(list, &count, (pl_parameter){PL_PARAMETER_FORCE, f, i}, &r->def.force[f].force[i],
                      force, "force");
        }
    }
    for (int i = 0; i < 3 && pl_norm3(def->gravity) > 0; ++i) {
        entry_add(list, &count, (pl_parameter){PL_PARAMETER_GRAVITY, 0, i}, &def->gravity[i], 9810,
                  "gravity");
    }
    for (int p = 0; p < def->pressure_count; ++p) {
        entry_add(list, &count, (pl_parameter){PL_PARAMETER_PRESSURE, p, 0}, &r->def.pressure[p].pressure,
                  0.02 * r->def.mu, "open pressure");
    }
    for (int m = 0; m < def->material_count; ++m) {
        for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
            pl_material *material = &r->def.material[m].material;
            double *value = pl_material_at(material, (pl_material_constant)c);
            const bool has = pl_material_has(material->model, (pl_material_constant)c) ||
                             (c == PL_DENSITY && pl_norm3(def->gravity) > 0);
            // constants that are not set (bulk beside poisson, further Ogden terms) cannot be varied
            if (has && *value != 0) {
                snprintf(name, sizeof name, "%s of %s", pl_material_constant_name((pl_material_constant)c),
                         pl_material_model_name(material->model));
                entry_add(list, &count, (pl_parameter){PL_PARAMETER_MATERIAL, m, c}, value,
                          c == PL_POISSON ? 0.5 - *value : fabs(*value), name);
            }
        }
    }
    for (int l = 0; l < def->layer_count; ++l) {
        entry_add(list, &count, (pl_parameter){PL_PARAMETER_LAYER, l, 0}, &r->def.layer[l].thickness,
                  r->def.layer[l].thickness, "thickness of a layer");
        r->def.layer[l].prestretch = r->def.layer[l].prestretch > 0 ? r->def.layer[l].prestretch : 1;
        entry_add(list, &count, (pl_parameter){PL_PARAMETER_LAYER, l, 1}, &r->def.layer[l].prestretch, 0.01,
                  "prestretch of a layer");
    }
    for (int f = 0; f < def->fibre_count; ++f) {
        entry_add(list, &count, (pl_parameter){PL_PARAMETER_FIBRE, f, 0}, &r->def.fibre[f].stiffness,
                  r->def.fibre[f].stiffness, "stiffness of a fibre");
        r->def.fibre[f].prestretch = r->def.fibre[f].prestretch > 0 ? r->def.fibre[f].prestretch : 1;
        entry_add(list, &count, (pl_parameter){PL_PARAMETER_FIBRE, f, 1}, &r->def.fibre[f].prestretch, 0.01,
                  "prestretch of a fibre");
    }
    for (int k = 0; k < 3 * def->marker_count; ++k) {
        entry_add(list, &count, (pl_parameter){PL_PARAMETER_MARKER_FORCE, k / 3, k % 3}, NULL, force,
                  "force at a marker");
    }

    return count;
}

// The same robot with one parameter changed, solved from the shape of `r`.
static bool solve_changed(const rig *r, const entry *k, double step, outputs *out)
{
    rig b = {.def = r->def};
    const ptrdiff_t at = k->value ? (char *)k->value - (char *)r : 0;

    memcpy(b.command, r->command, sizeof b.command);
    if (k->value) {
        *(double *)(void *)((char *)&b + at) += step;
    }
    bool good = rig_build(&b);
    if (good) {
        double force[6] = {0};
        memcpy(b.state->x, r->state->x, 3 * (size_t)r->state->vertex_count * sizeof(double));
        memcpy(b.state->command, b.command, (size_t)b.state->command_count * sizeof(double));
        memcpy(b.state->multiplier, r->state->multiplier,
               (size_t)r->def.def.actuator_count * sizeof *b.state->multiplier);
        memcpy(b.state->active, r->state->active,
               (size_t)r->def.def.actuator_count * sizeof *b.state->active);
        b.state->load = 1;
        if (!k->value) {
            force[3 * k->parameter.index + k->parameter.part] = step;
            pl_statics_set_forces(b.statics, force);
        }
        good = rig_solve(&b);
    }
    if (good) {
        outputs_at(&b, out);
    } else if (verbose) {
        printf("    %s: %s %s\n", k->name, b.err.text, b.report.message);
    }
    rig_clear(&b);

    return good;
}

// Largest difference over the largest of exact and quotient, at least `least`.
static double rows_error(const double *exact, int columns, int j, const double *low, const double *high,
                         int rows, double step, double least)
{
    double worst = 0, largest = least;
    for (int i = 0; i < rows; ++i) {
        const double q = (high[i] - low[i]) / (2 * step), e = exact[(ptrdiff_t)i * columns + j];
        worst = fmax(worst, fabs(q - e));
        largest = fmax(largest, fmax(fabs(q), fabs(e)));
    }
    return worst / largest;
}

static double rotation_error(const double *exact, int columns, int j, const outputs *low, const outputs *high,
                             int m, double step, double least)
{
    double turn[9], w[3];
    for (int i = 0; i < 9; ++i) {
        const double *a = high->rotation[m] + 3 * (i / 3), *b = low->rotation[m] + 3 * (i % 3);
        turn[i] = pl_dot3(a, b); // R+ R-^T
    }
    pl_rotation_log(turn, w);
    return rows_error(exact + (ptrdiff_t)3 * m * columns, columns, j, (double[3]){0}, w, 3, step, least);
}

typedef struct columns {
    double *position, marker[6 * PARAMETERS], rotation[6 * PARAMETERS], measure[META_ACTUATORS * PARAMETERS],
        effort[META_ACTUATORS * PARAMETERS], reading[OUTPUTS * PARAMETERS];
} columns;

static double error_of(const rig *r, const columns *c, int count, int j, const outputs *low,
                       const outputs *high, double step, double scale, char *what, size_t room)
{
    // changes below 1e-5 of the size (of mu, of the rest measure) by the whole of the parameter count as none
    const double length = 1e-5 * r->def.size[0] / scale, angle = 1e-5 / scale;
    double worst = rows_error(c->position, count, j, low->x, high->x, 3 * low->vertices, step, length);
    const char *which = "positions";
    const double marker =
        rows_error(c->marker, count, j, low->marker, high->marker, 3 * low->markers, step, length);
    if (!(marker <= worst)) {
        worst = marker;
        which = "markers";
    }
    for (int m = 0; m < low->markers; ++m) {
        const double turn = rotation_error(c->rotation, count, j, low, high, m, step, angle);
        if (!(turn <= worst)) {
            worst = turn;
            which = "rotations";
        }
    }
    for (int a = 0; a < low->actuators; ++a) {
        const pl_actuator_kind kind = r->def.actuator[a].kind;
        const double unit = kind == PL_CABLE    ? r->def.mu * r->def.size[1] * r->def.size[2]
                            : kind == PL_MAGNET ? 1e-8
                                                : r->def.mu;
        const double measure = rows_error(c->measure + (ptrdiff_t)a * count, count, j, &low->measure[a],
                                          &high->measure[a], 1, step, 1e-4 * fabs(low->measure[a]) / scale);
        const double effort = rows_error(c->effort + (ptrdiff_t)a * count, count, j, &low->effort[a],
                                         &high->effort[a], 1, step, 1e-3 * unit / scale);
        if (!(measure <= worst)) {
            worst = measure;
            which = "measure";
        }
        if (!(effort <= worst)) {
            worst = effort;
            which = "effort";
        }
    }
    for (int i = 0; i < low->readings; ++i) {
        // a largest value that two mirrored places of a symmetric body share has no derivative
        if (r->def.symmetric && strcmp(pl_statics_reading_info(r->statics, i).group, "layers") == 0) {
            continue;
        }
        // a thousandth of what its unit amounts to on this robot
        const char *unit = pl_statics_reading_info(r->statics, i).unit;
        const double force = r->def.mu * r->def.size[1] * r->def.size[2];
        const double whole = strcmp(unit, "N") == 0      ? 0.1 * force
                             : strcmp(unit, "N mm") == 0 ? 0.1 * force * r->def.size[0]
                             : strcmp(unit, "mm") == 0   ? 0.1 * r->def.size[0]
                                                         : 0.1;
        const double least = 1e-3 * whole / scale;
        const double reading = rows_error(c->reading + (ptrdiff_t)i * count, count, j, &low->reading[i],
                                          &high->reading[i], 1, step, least);
        if (!(reading <= worst)) {
            worst = reading;
            which = pl_statics_reading_info(r->statics, i).quantity;
        }
    }
    snprintf(what, room, "%s", which);
    return worst;
}

// Quotients over half the step, of which `low` and `high` become the ends, without the part that grows with
// its square: (4 q(h / 2) - q(h)) / 3. Rotations are left as they are.
static void extrapolate(const double *low, const double *high, const double *wide_low,
                        const double *wide_high, double *out, int count)
{
    for (int i = 0; i < count; ++i) {
        out[i] = low[i] + (4 * (high[i] - low[i]) - 0.5 * (wide_high[i] - wide_low[i])) / 3;
    }
}

static double error_extrapolated(const rig *r, const columns *c, int count, int j, const entry *k,
                                 const outputs *wide, double step, char *what, size_t room)
{
    outputs at[2] = {{.x = NULL}, {.x = NULL}};
    double error = INFINITY;
    if (solve_changed(r, k, -0.5 * step, &at[0]) && solve_changed(r, k, 0.5 * step, &at[1])) {
        outputs *l = &at[0], *h = &at[1];
        extrapolate(l->x, h->x, wide[0].x, wide[1].x, h->x, 3 * l->vertices);
        extrapolate(l->marker, h->marker, wide[0].marker, wide[1].marker, h->marker, 3 * l->markers);
        extrapolate(l->measure, h->measure, wide[0].measure, wide[1].measure, h->measure, l->actuators);
        extrapolate(l->effort, h->effort, wide[0].effort, wide[1].effort, h->effort, l->actuators);
        extrapolate(l->reading, h->reading, wide[0].reading, wide[1].reading, h->reading, l->readings);
        error = error_of(r, c, count, j, l, h, 0.5 * step, k->scale, what, room);
    }
    free(at[0].x);
    free(at[1].x);

    return error;
}

static void check_entry(const rig *r, const columns *c, int count, int j, const entry *k)
{
    // the quotient whose error is the smallest counts: short steps have the rounding of the solves, long ones
    // the curvature and what switches in between (fibres that become slack, wrinkles); the curvature's part
    // is taken out of the first
    double best = INFINITY, ratio[4] = {1e-3, 1e-2, 1e-4, 1e-5};
    char what[80] = "";
    for (int s = 0; s < 4 && !(best <= 0.5 * ALLOWED); ++s) {
        const double step = ratio[s] * k->scale * (k->parameter.kind == PL_PARAMETER_MATERIAL ? 0.3 : 1);
        outputs at[2] = {{.x = NULL}, {.x = NULL}};
        if (solve_changed(r, k, -step, &at[0]) && solve_changed(r, k, step, &at[1])) {
            char here[80];
            double error = error_of(r, c, count, j, &at[0], &at[1], step, k->scale, here, sizeof here);
            if (s == 0 && error > 0.5 * ALLOWED) {
                error = fmin(error, error_extrapolated(r, c, count, j, k, at, step, here, sizeof here));
            }
            if (error < best || isnan(error)) {
                best = error;
                snprintf(what, sizeof what, "%s", here);
            }
        }
        free(at[0].x);
        free(at[1].x);
    }

    if (isinf(best)) {
        total.unsolved++;
        return;
    }
    total.cases++;
    if (!(best <= total.worst)) {
        total.worst = best;
        total.seed = r->def.seed;
        snprintf(total.what, sizeof total.what, "%.30s by %.40s", what, k->name);
    }
    total.failed += !(best <= ALLOWED);
    if (verbose || !(best <= ALLOWED)) {
        printf("  %s of %s by %s: %.2e, allowed %.0e; seed %llu (%s)\n",
               best <= ALLOWED ? "derivative" : "WRONG derivative", what, k->name, best, ALLOWED,
               (unsigned long long)r->def.seed, r->def.words);
    }
}

// The gradient of a random function of positions and efforts, by the adjoint and by columns.
static void check_adjoint(rig *r, const columns *c, int count, const pl_parameter *parameter)
{
    const int32_t n = 3 * r->state->vertex_count;
    double *by = malloc((size_t)n * sizeof *by), effort[META_ACTUATORS] = {0}, gradient[PARAMETERS];
    pl_jacobian_report report;
    pl_random random;

    pl_random_seed(&random, r->def.seed);
    for (int32_t i = 0; i < n; ++i) {
        by[i] = meta_uniform(&random, -1, 1);
    }
    for (int a = 0; a < r->def.def.actuator_count; ++a) {
        effort[a] = meta_uniform(&random, -1, 1) * r->def.size[0] / r->def.mu;
    }
    if (pl_statics_adjoint(r->statics, r->state, by, effort, parameter, count, gradient, &report, &r->err) ==
        PL_OK) {
        for (int j = 0; j < count; ++j) {
            double sum = 0, scale = 0;
            for (int32_t i = 0; i < n; ++i) {
                sum += by[i] * c->position[(ptrdiff_t)i * count + j];
                scale += fabs(by[i] * c->position[(ptrdiff_t)i * count + j]);
            }
            for (int a = 0; a < r->def.def.actuator_count; ++a) {
                sum += effort[a] * c->effort[a * count + j];
                scale += fabs(effort[a] * c->effort[a * count + j]);
            }
            const double error = scale > 0 ? fabs(gradient[j] - sum) / scale : fabs(gradient[j]);
            total.adjoints++;
            total.failed_adjoints += !(error <= ALLOWED_ADJOINT);
            if (!(error <= total.worst_adjoint)) {
                total.worst_adjoint = error;
                total.seed_adjoint = r->def.seed;
            }
            if (!(error <= ALLOWED_ADJOINT)) {
                printf("  WRONG adjoint by parameter kind %d part %d: %.2e; seed %llu (%s)\n",
                       (int)parameter[j].kind, parameter[j].part, error, (unsigned long long)r->def.seed,
                       r->def.words);
            }
        }
    } else {
        printf("  no adjoint: %s; seed %llu (%s)\n", r->err.text, (unsigned long long)r->def.seed,
               r->def.words);
        total.refused++;
    }
    free(by);
}

static bool try_one(uint64_t seed, bool more)
{
    rig *r = calloc(1, sizeof *r);
    columns *c = calloc(1, sizeof *c);
    entry *list = calloc(PARAMETERS, sizeof *list);
    pl_parameter parameter[PARAMETERS];
    pl_jacobian_report report;

    (more ? meta_draw_more : meta_draw)(seed, seed % 2, &r->def);
    meta_mesh_make(&r->def);
    if (!more) {
        r->def.marker[r->def.def.marker_count++] = (pl_marker_def){
            .name = "middle", .at = {0.45 * r->def.size[0], 0.45 * r->def.size[1], 0.05 * r->def.size[2]}};
    }
    bool good = rig_build(r);
    if (good) {
        meta_commands(&r->def, r->robot, r->command);
        good = rig_solve(r);
    }
    if (good) {
        const int count = entries_of(r, list);
        c->position = malloc(3 * (size_t)r->state->vertex_count * (size_t)count * sizeof(double));
        const pl_jacobian out = {.position = c->position,
                                 .marker = c->marker,
                                 .rotation = c->rotation,
                                 .measure = c->measure,
                                 .effort = c->effort,
                                 .reading = c->reading};
        for (int j = 0; j < count; ++j) {
            parameter[j] = list[j].parameter;
        }
        if (pl_statics_jacobian(r->statics, r->state, parameter, count, &out, &report, &r->err) != PL_OK) {
            printf("  no derivative: %s; seed %llu (%s)\n", r->err.text, (unsigned long long)seed,
                   r->def.words);
            total.refused++;
        } else if (report.one_sided || report.friction) {
            total.one_sided += report.one_sided;
            total.approximate += report.friction;
        } else {
            for (int j = 0; j < count; ++j) {
                check_entry(r, c, count, j, &list[j]);
            }
            check_adjoint(r, c, count, parameter);
        }
        free(c->position);
    } else if (verbose) {
        printf("  not solved: %s %s; seed %llu (%s)\n", r->err.text, r->report.message,
               (unsigned long long)seed, r->def.words);
    }

    rig_clear(r);
    meta_mesh_clear(&r->def.mesh);
    free(list);
    free(c);
    free(r);

    return good;
}

int main(int argc, char **argv)
{
    verbose = argc > 2 && strcmp(argv[1], "show") == 0;
    const int count = verbose ? 1 : argc > 1 ? atoi(argv[1]) : 24;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 7001;
    int solved = 0;

    pl_threads_set(1);
    for (int i = 0; i < 2 * count; ++i) {
        solved += try_one(seed + (uint64_t)(i / 2), i % 2);
    }

    printf("%d robots, %d solved; %d derivatives one-sided, %d approximate (friction), %d refused; %d "
           "differences not solved\n",
           2 * count, solved, total.one_sided, total.approximate, total.refused, total.unsolved);
    const bool enough = verbose || total.cases >= 10, good = enough && !total.failed && !total.refused,
               adjoint = enough && !total.failed_adjoints;
    printf("law: derivatives | cases %d | worst %.1e of the largest (seed %llu, %s) | allowed %.0e | %s\n",
           total.cases, total.worst, (unsigned long long)total.seed, total.what, ALLOWED,
           good ? "ok" : "FAIL");
    printf("law: gradients by the adjoint | cases %d | worst %.1e of the sum of the terms (seed %llu) | "
           "allowed %.0e | %s\n",
           total.adjoints, total.worst_adjoint, (unsigned long long)total.seed_adjoint, ALLOWED_ADJOINT,
           adjoint ? "ok" : "FAIL");

    return good && adjoint ? 0 : 1;
}
