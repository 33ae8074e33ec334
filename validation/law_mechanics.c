// Laws of mechanics at the equilibria of random robots (metamorphic_robot.h), on two mesh sizes:
//   balance      reactions, weights, forces, springs, pressures on open surfaces and contacts sum to zero, as
//   do
//                their moments
//   jacobian     exact derivatives of markers, measures and efforts equal central differences of solves
//   work         the energy stored between two commands is the work of the actuators: dE = sum effort
//   d(measure) reciprocity  the compliance of two markers and of the actuators is symmetric duality driven by
//   the volume or length that a pressure or tension leads to, the shape is the same law_mechanics [ROBOTS
//   [SEED]]
#include "mesh/mesh.h"
#include "metamorphic_change.h"
#include "pliant/result.h"

#define COMMANDS (META_ACTUATORS + 2)
#define MARKERS 2

typedef struct rig {
    meta_robot def;
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
    pl_solve_report report;
    double command[COMMANDS];
    int commands;
    pl_error err;
} rig;

typedef struct law {
    const char *name, *what;
    double allowed, worst;
    int cases, failed;
    uint64_t seed;
} law;

enum { BALANCE, JACOBIAN, WORK, RECIPROCITY, DUALITY, LAWS };
static law laws[LAWS] = {{.name = "balance", .what = "of the forces that act", .allowed = 1e-6},
                         {.name = "jacobian", .what = "of the largest derivative", .allowed = 1e-4},
                         {.name = "work", .what = "of the work done", .allowed = 1e-4},
                         {.name = "reciprocity", .what = "of the largest compliance", .allowed = 1e-7},
                         {.name = "duality", .what = "of the displacement", .allowed = 1e-4}};

static int refused; // derivatives that were not given, each with its reason

static void law_case(int which, uint64_t seed, const char *robot, double error)
{
    law *l = &laws[which];
    const bool good = error <= l->allowed;

    l->cases++;
    l->failed += !good;
    if (!(error <= l->worst)) {
        l->worst = error;
        l->seed = seed;
    }

    if (!good) {
        printf("  %s: %.3e %s, allowed %.0e; seed %llu (%s)\n", l->name, error, l->what, l->allowed,
               (unsigned long long)seed, robot);
    }
}

// ---- a robot, solved nearly to rounding
static pl_statics_options tight(void)
{
    pl_statics_options options = pl_statics_options_default();
    options.force_tolerance = 1e-9;
    options.length_tolerance = 1e-8;
    options.contact_tolerance = 1e-9;
    return options;
}

static void rig_clear(rig *r)
{
    pl_state_destroy(r->state);
    pl_statics_destroy(r->statics);
    pl_robot_destroy(r->robot);
    meta_mesh_clear(&r->def.mesh);
}

static bool rig_build(rig *r)
{
    const pl_statics_options options = tight();
    if (meta_build(&r->def, &r->robot, &r->err) != PL_OK ||
        pl_statics_create(r->robot, &options, &r->statics, &r->err) != PL_OK ||
        pl_state_create(r->robot, &r->state, &r->err) != PL_OK) {
        return false;
    }

    r->commands = pl_robot_command_count(r->robot);
    meta_commands(&r->def, r->robot, r->command);
    return true;
}

static bool rig_solve(rig *r, pl_state *state, const double *command)
{
    return pl_statics_solve(r->statics, state, command, &r->report, &r->err) == PL_OK &&
           r->report.outcome == PL_SOLVED;
}

// A second marker inside the body, for cross compliances.
static void rig_draw(rig *r, uint64_t seed)
{
    meta_draw(seed, seed % 2, &r->def);
    meta_mesh_make(&r->def);
    r->def.marker[r->def.def.marker_count++] = (pl_marker_def){
        .name = "middle", .at = {0.45 * r->def.size[0], 0.45 * r->def.size[1], 0.05 * r->def.size[2]}};
}

// ---- balance
typedef struct sum {
    double force[3], moment[3], scale;
    double potential; // of forces fixed in space: -F . x, mJ
} sum;

static void sum_add(sum *s, const double at[3], const double force[3])
{
    double m[3];
    pl_cross3(at, force, m);
    for (int i = 0; i < 3; ++i) {
        s->force[i] += force[i];
        s->moment[i] += m[i];
    }

    s->scale += pl_norm3(force);
    s->potential -= pl_dot3(force, at);
}

// Follower pressure: force -p n per deformed area, at the points of a quadrature that is exact for it.
static void sum_pressure(sum *s, const rig *r, int k)
{
    const int64_t *face;
    double p;
    const int64_t count = pl_robot_pressure_faces(r->robot, k, &face, &p);
    const double *x = pl_state_positions(r->state);

    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int n = pl_mesh_face_nodes(pl_robot_mesh(r->robot), face[f], node);
        int points;
        double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
        pl_face_quadrature(n, &points, xi, weight);
        for (int q = 0; q < points; ++q) {
            double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX], at[3] = {0}, a[3] = {0}, b[3] = {0},
                                                                    normal[3];
            pl_face_shape_eval(n, xi[q], N, dN);
            for (int v = 0; v < n; ++v) {
                for (int i = 0; i < 3; ++i) {
                    const double y = x[3 * (size_t)node[v] + (size_t)i];
                    at[i] += N[v] * y;
                    a[i] += dN[2 * v] * y;
                    b[i] += dN[2 * v + 1] * y;
                }
            }
            pl_cross3(a, b, normal);
            const double force[3] = {-p * weight[q] * normal[0], -p * weight[q] * normal[1],
                                     -p * weight[q] * normal[2]};
            sum_add(s, at, force);
        }
    }
}

// Means of the shape functions over a straight element, by a quadrature that is exact for them.
static void shape_means(pl_element_kind kind, double mean[PL_ELEMENT_NODES_MAX])
{
    static const double corner[3][2] = {{1.0 / 6, 1.0 / 6}, {2.0 / 3, 1.0 / 6}, {1.0 / 6, 2.0 / 3}};
    const bool tet = kind == PL_TET4 || kind == PL_TET10;
    const double a = 0.1381966011250105, b = 0.5854101966249685, z = 0.5773502691896258;
    const int n = pl_element_node_count(kind), points = tet ? 4 : 6;

    memset(mean, 0, (size_t)n * sizeof *mean);
    for (int q = 0; q < points; ++q) {
        double N[PL_ELEMENT_NODES_MAX], xi[3] = {a, a, a};
        if (!tet) {
            memcpy(xi, corner[q % 3], sizeof corner[0]);
            xi[2] = q < 3 ? -z : z;
        } else if (q < 3) {
            xi[q] = b;
        }
        pl_shape_eval(kind, xi, N, NULL);
        for (int v = 0; v < n; ++v) {
            mean[v] += N[v] / points;
        }
    }
}

// Weight of every element at its centre of mass.
static void sum_weight(sum *s, const rig *r, const pl_state *state)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(r->robot));
    const double *x = pl_state_positions(state), *g = r->def.def.gravity;

    for (int32_t e = 0; e < v.element_count; ++e) {
        if (v.region[e] >= r->def.def.region_count) {
            continue; // the frame of a free body
        }
        const pl_element_kind kind = (pl_element_kind)v.kind[e];
        double rest[3 * PL_ELEMENT_NODES_MAX], mean[PL_ELEMENT_NODES_MAX], at[3] = {0};
        const int32_t *node = v.node + v.node_start[e];
        const int n = pl_mesh_gather(pl_robot_mesh(r->robot), e, rest);
        shape_means(kind, mean);
        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 3; ++i) {
                at[i] += mean[a] * x[3 * (size_t)node[a] + (size_t)i];
            }
        }
        const double w = r->def.material[v.region[e]].material.density * pl_element_volume(kind, rest);
        sum_add(s, at, (double[3]){w * g[0], w * g[1], w * g[2]});
    }
}

static double reading(const rig *r, const char *group, const char *name, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.group, group) == 0 && strcmp(info.name, name) == 0 &&
            strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }
    return 0;
}

static void sum_vectors(sum *s, const double force[3], const double moment[3])
{
    for (int i = 0; i < 3; ++i) {
        s->force[i] += force[i];
        s->moment[i] += moment[i];
    }
    s->scale += pl_norm3(force);
}

static void check_balance(rig *r)
{
    sum s = {.scale = 0};
    pl_reaction reaction[2];
    const pl_robot_def *def = &r->def.def;

    if (pl_statics_reactions(r->statics, r->state, reaction) != PL_OK) {
        law_case(BALANCE, r->def.seed, r->def.words, NAN);
        return;
    }

    sum_vectors(&s, reaction[0].force, reaction[0].moment);
    sum_weight(&s, r, r->state);
    const pl_marker_result tip = pl_statics_marker(r->statics, r->state, 0);
    for (int i = 0; i < def->force_count; ++i) {
        sum_add(&s, tip.position, r->def.force[i].force);
    }
    for (int i = 0; i < def->pressure_count; ++i) {
        sum_pressure(&s, r, i);
    }

    for (int i = 0; i < def->spring_count; ++i) {
        double along[3];
        pl_sub3(r->def.spring[i].point, tip.position, along);
        const double t = reading(r, "springs", "spring", "tension") / pl_norm3(along);
        sum_add(&s, tip.position, (double[3]){t * along[0], t * along[1], t * along[2]});
    }

    for (int i = 0; i < def->contact.obstacle_count; ++i) {
        const char *name = r->def.obstacle[i].name;
        const double force[3] = {reading(r, "contacts", name, "force_x"),
                                 reading(r, "contacts", name, "force_y"),
                                 reading(r, "contacts", name, "force_z")};
        const double moment[3] = {reading(r, "contacts", name, "moment_x"),
                                  reading(r, "contacts", name, "moment_y"),
                                  reading(r, "contacts", name, "moment_z")};
        sum_vectors(&s, force, moment);
    }

    // internal: what the actuators exert on the body and on themselves
    for (int i = 0; i < def->actuator_count; ++i) {
        const pl_actuator_result a = pl_statics_actuator(r->statics, r->state, i);
        s.scale += r->def.actuator[i].kind == PL_CABLE     ? fabs(a.effort)
                   : r->def.actuator[i].kind == PL_CHAMBER ? fabs(a.effort) * pow(a.measure, 2.0 / 3)
                                                           : 0;
    }

    const double least = 1e-6 * r->def.mu * r->def.size[1] * r->def.size[2], scale = fmax(s.scale, least);
    law_case(BALANCE, r->def.seed, r->def.words,
             fmax(pl_norm3(s.force) / scale, pl_norm3(s.moment) / (scale * r->def.size[0])));
}

// ---- derivatives
typedef struct outputs {
    double marker[3 * MARKERS], measure[META_ACTUATORS], effort[META_ACTUATORS];
} outputs;

static void outputs_at(rig *r, const pl_state *state, outputs *o)
{
    for (int m = 0; m < MARKERS; ++m) {
        memcpy(o->marker + 3 * m, pl_statics_marker(r->statics, state, m).position, 3 * sizeof(double));
    }
    for (int a = 0; a < r->def.def.actuator_count; ++a) {
        const pl_actuator_result result = pl_statics_actuator(r->statics, state, a);
        o->measure[a] = result.measure;
        o->effort[a] = result.effort;
    }
}

// E of the body, its loads and springs; the actuators are what does the work.
static double stored(rig *r, const pl_state *state)
{
    const pl_robot_def *def = &r->def.def;
    const pl_marker_result tip = pl_statics_marker(r->statics, state, 0);
    sum dead = {.scale = 0};

    sum_weight(&dead, r, state);
    for (int i = 0; i < def->force_count; ++i) {
        sum_add(&dead, tip.position, r->def.force[i].force);
    }

    double energy = pl_statics_elastic(r->statics, state, NULL) + dead.potential;
    for (int i = 0; i < def->spring_count; ++i) {
        const pl_spring_def *s = &r->def.spring[i];
        const double stretch = pl_distance3(s->point, tip.position) - s->rest;
        energy += s->tension_only && stretch < 0 ? 0 : 0.5 * s->stiffness * stretch * stretch;
    }

    return energy;
}

// Work of the actuators between two states, by the efforts in the middle: -T dL of cables, p dV of chambers.
static double work_done(const rig *r, const outputs *from, const outputs *middle, const outputs *to)
{
    double work = 0;
    for (int a = 0; a < r->def.def.actuator_count; ++a) {
        const double sign = r->def.actuator[a].kind == PL_CABLE ? -1 : 1;
        // Simpson's rule: exact to the third order
        const double first =
            0.5 * (from->effort[a] + middle->effort[a]) * (middle->measure[a] - from->measure[a]);
        const double second =
            0.5 * (middle->effort[a] + to->effort[a]) * (to->measure[a] - middle->measure[a]);
        const double whole = 0.5 * (from->effort[a] + to->effort[a]) * (to->measure[a] - from->measure[a]);
        work += sign * (4 * (first + second) - whole) / 3;
    }

    return work;
}

// Largest difference between exact and difference quotient, over the largest of the quotients of its kind.
static double quotient_error(const double *exact, int columns, int c, const double *low, const double *high,
                             int rows, double step, double least)
{
    double worst = 0, largest = least;
    for (int i = 0; i < rows; ++i) {
        const double q = (high[i] - low[i]) / (2 * step);
        worst = fmax(worst, fabs(q - exact[i * columns + c]));
        largest = fmax(largest, fabs(q));
    }

    return worst / largest;
}

// One command varied around the state: jacobian and work.
static void check_derivative(rig *r, int c, const outputs *here, const double *marker, const double *measure,
                             const double *effort)
{
    const pl_command_info info = pl_robot_command(r->robot, c);
    const double away = fabs(r->command[c] - info.rest), step = 1e-3 * fmax(away, 1e-3 * fabs(info.rest));
    const int actuators = r->def.def.actuator_count;
    outputs at[2];
    double energy[2];
    bool good = step > 0;

    for (int side = 0; good && side < 2; ++side) {
        double command[COMMANDS];
        pl_state *state = NULL;
        memcpy(command, r->command, sizeof command);
        command[c] += side ? step : -step;
        good = pl_state_create(r->robot, &state, &r->err) == PL_OK &&
               pl_state_copy(state, r->state) == PL_OK && rig_solve(r, state, command);
        if (good) {
            outputs_at(r, state, &at[side]);
            energy[side] = stored(r, state);
        }
        pl_state_destroy(state);
    }

    if (!good) {
        return;
    }

    const double unit = r->def.size[0] / fmax(away, step); // derivatives below 1e-6 of this are zero
    double error =
        quotient_error(marker, r->commands, c, at[0].marker, at[1].marker, 3 * MARKERS, step, 1e-6 * unit);
    for (int a = 0; a < actuators; ++a) {
        const double m = fabs(here->measure[a]),
                     e = r->def.mu *
                         (r->def.actuator[a].kind == PL_CABLE ? r->def.size[1] * r->def.size[2] : 1);
        error = fmax(error, quotient_error(measure + a * r->commands, r->commands, c, &at[0].measure[a],
                                           &at[1].measure[a], 1, step, 1e-2 * m / fmax(away, step)));
        if (r->def.actuator[a].kind != PL_FILM) {
            error = fmax(error, quotient_error(effort + a * r->commands, r->commands, c, &at[0].effort[a],
                                               &at[1].effort[a], 1, step, 1e-2 * e / fmax(away, step)));
        }
    }

    law_case(JACOBIAN, r->def.seed, r->def.words, error);
    if (r->def.film || r->def.def.pressure_count || r->def.def.contact.given) {
        return; // the work of a film's charge, of open pressures and of moving obstacles is not in the record
    }

    const double work = work_done(r, &at[0], here, &at[1]), gain = energy[1] - energy[0];
    const double scale = fmax(fmax(fabs(work), fabs(gain)),
                              1e-7 * r->def.mu * r->def.size[0] * r->def.size[1] * r->def.size[2]);
    law_case(WORK, r->def.seed, r->def.words, fabs(work - gain) / scale);
}

static void check_derivatives(rig *r)
{
    pl_parameter parameter[COMMANDS];
    double marker[3 * MARKERS * COMMANDS], measure[META_ACTUATORS * COMMANDS],
        effort[META_ACTUATORS * COMMANDS];
    const pl_jacobian out = {.marker = marker, .measure = measure, .effort = effort};
    pl_jacobian_report report;
    outputs here;

    for (int c = 0; c < r->commands; ++c) {
        parameter[c] = (pl_parameter){PL_PARAMETER_COMMAND, c, 0};
    }

    if (pl_statics_jacobian(r->statics, r->state, parameter, r->commands, &out, &report, &r->err) != PL_OK) {
        printf("  no derivative: %s; seed %llu\n", r->err.text, (unsigned long long)r->def.seed);
        refused++;
        return;
    }

    if (report.one_sided) {
        return;
    }
    outputs_at(r, r->state, &here);
    for (int c = 0; c < r->commands; ++c) {
        if (!isnan(r->command[c])) {
            check_derivative(r, c, &here, marker, measure, effort);
        }
    }
}

// ---- reciprocity: forces at the markers against their motion, efforts against measures, each against the
// other
static void check_reciprocity(rig *r)
{
    enum { FORCES = 3 * MARKERS };
    pl_parameter parameter[FORCES];
    double C[FORCES * FORCES], worst = 0, largest = 0;
    const pl_jacobian out = {.marker = C};
    pl_jacobian_report report;
    for (int k = 0; k < FORCES; ++k) {
        parameter[k] = (pl_parameter){PL_PARAMETER_MARKER_FORCE, k / 3, k % 3};
    }
    if (pl_statics_jacobian(r->statics, r->state, parameter, FORCES, &out, &report, &r->err) != PL_OK) {
        law_case(RECIPROCITY, r->def.seed, r->err.text, NAN);
        return;
    }

    for (int i = 0; i < FORCES; ++i) {
        for (int j = 0; j < FORCES; ++j) {
            worst = fmax(worst, fabs(C[FORCES * i + j] - C[FORCES * j + i]));
            largest = fmax(largest, fabs(C[FORCES * i + j]));
        }
    }

    law_case(RECIPROCITY, r->def.seed, r->def.words, worst / largest);
}

// ---- duality
static pl_drive dual_drive(pl_drive drive)
{
    switch (drive) {
    case PL_DRIVE_PRESSURE:
    case PL_DRIVE_SYRINGE:
        return PL_DRIVE_VOLUME;
    case PL_DRIVE_VOLUME:
    case PL_DRIVE_VOLUME_RATIO:
        return PL_DRIVE_PRESSURE;
    case PL_DRIVE_TENSION:
        return PL_DRIVE_LENGTH;
    case PL_DRIVE_LENGTH:
    case PL_DRIVE_LENGTH_RATIO:
    case PL_DRIVE_SHORTENING:
        return PL_DRIVE_TENSION;
    default:
        return drive;
    }
}

// Every chamber and cable by its other drive, at what was read. Beyond a maximum of pressure only the volume
// determines the state, so a dual solve that is refused shows nothing.
static void check_duality(rig *r)
{
    rig dual = {.def = r->def};
    bool any = false;

    meta_copy(&r->def, &dual.def);
    for (int a = 0; a < r->def.def.actuator_count; ++a) {
        const pl_actuator_result result = pl_statics_actuator(r->statics, r->state, a);
        const pl_drive drive = dual_drive(r->def.actuator[a].drive);
        if (!isnan(r->def.command[a]) && drive != r->def.actuator[a].drive && !result.slack) {
            dual.def.actuator[a].drive = drive;
            dual.def.command[a] =
                drive == PL_DRIVE_PRESSURE || drive == PL_DRIVE_TENSION ? result.effort : result.measure;
            any = true;
        }
    }

    if (any && rig_build(&dual) && rig_solve(&dual, dual.state, dual.command)) {
        const double *rest = pl_mesh_get(pl_robot_mesh(r->robot)).position;
        double apart = 0, moved = 0;
        for (int32_t i = 0; i < 3 * r->def.vertices; ++i) {
            apart = fmax(apart, fabs(pl_state_positions(r->state)[i] - pl_state_positions(dual.state)[i]));
            moved = fmax(moved, fabs(pl_state_positions(r->state)[i] - rest[i]));
        }
        law_case(DUALITY, r->def.seed, r->def.words, apart / fmax(moved, 1e-3 * r->def.size[0]));
    }

    rig_clear(&dual);
}

// ---- all
static bool try_one(uint64_t seed)
{
    rig r = {.commands = 0};
    rig_draw(&r, seed);
    const bool good = rig_build(&r) && rig_solve(&r, r.state, r.command);
    if (good) {
        check_balance(&r);
        if (r.def.def.contact.friction == 0) {
            check_derivatives(&r);
            if (!r.def.def.pressure_count) {
                check_reciprocity(&r);
            }
            check_duality(&r);
        }
    }

    rig_clear(&r);

    return good;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 60;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 5001;
    int solved = 0, failed = 0;

    for (int i = 0; i < count; ++i) {
        solved += try_one(seed + (uint64_t)i);
    }
    printf("%d robots, %d solved, %d without derivatives\n", count, solved, refused);
    for (int k = 0; k < LAWS; ++k) {
        const law *l = &laws[k];
        const bool good = !l->failed && l->cases >= (count < 60 ? 1 : 10);
        failed += !good;
        printf("law: %s | cases %d | worst %.1e %s (seed %llu) | allowed %.0e | %s\n", l->name, l->cases,
               l->worst, l->what, (unsigned long long)l->seed, l->allowed, good ? "ok" : "FAIL");
    }

    return failed ? 1 : 0;
}
