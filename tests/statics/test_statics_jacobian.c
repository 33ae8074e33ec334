// Sensitivities are exact: the Jacobian equals central differences of states solved again, for commands of
// every drive, loads and material constants; the adjoint equals the forward one.
#include "statics_robot.h"

#define ROWS_MAX 64

// Everything a Jacobian can say about a state, as one column: some positions, then markers, rotations,
// sensors, efforts, measures.
typedef struct column {
    int count;
    double value[ROWS_MAX];
} column;

static const int probe_count = 9;

static int32_t probe_vertex(const rig *r, int i)
{
    const int32_t n = pl_state_vertex_count(r->state);
    return (int32_t)((n - 1 - 7 * (int64_t)i) % n);
}

// The rotation vector between two nearby rotations, spatial: R1 R0^T = exp [w].
static void rotation_between(const double *R0, const double *R1, double w[3])
{
    double D[9] = {0};
    for (int i = 0; i < 9; ++i) {
        for (int k = 0; k < 3; ++k) {
            D[i] += R1[3 * (i / 3) + k] * R0[3 * (i % 3) + k];
        }
    }

    const double s[3] = {(D[7] - D[5]) / 2, (D[2] - D[6]) / 2, (D[3] - D[1]) / 2};
    const double sine = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    for (int i = 0; i < 3; ++i) {
        w[i] = sine > 0 ? s[i] * asin(sine) / sine : 0;
    }
}

// Central difference (plus - minus) / 2h of everything.
static column difference(rig *a, rig *b, double h)
{
    column c = {0};
    for (int i = 0; i < probe_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            const int32_t at = 3 * probe_vertex(a, i) + k;
            c.value[c.count++] = (rig_x(a)[at] - rig_x(b)[at]) / (2 * h);
        }
    }

    for (int m = 0; m < pl_robot_marker_count(a->robot); ++m) {
        const pl_marker_result plus = pl_statics_marker(a->statics, a->state, m);
        const pl_marker_result minus = pl_statics_marker(b->statics, b->state, m);
        double w[3];
        rotation_between(minus.rotation, plus.rotation, w);
        for (int k = 0; k < 3; ++k) {
            c.value[c.count] = (plus.position[k] - minus.position[k]) / (2 * h);
            c.value[c.count + 3] = plus.has_rotation ? w[k] / (2 * h) : 0;
            ++c.count;
        }
        c.count += 3;
    }

    for (int i = 0; i < pl_robot_sensor_count(a->robot); ++i) {
        c.value[c.count++] =
            (pl_statics_sensor(a->statics, a->state, i) - pl_statics_sensor(b->statics, b->state, i)) /
            (2 * h);
    }

    for (int i = 0; i < pl_robot_actuator_count(a->robot); ++i) {
        const pl_actuator_result plus = pl_statics_actuator(a->statics, a->state, i);
        const pl_actuator_result minus = pl_statics_actuator(b->statics, b->state, i);
        c.value[c.count++] = (plus.effort - minus.effort) / (2 * h);
        c.value[c.count++] = (plus.measure - minus.measure) / (2 * h);
    }

    return c;
}

// The same from pl_statics_jacobian for one parameter.
static column exact(rig *r, pl_parameter parameter)
{
    pl_error err = {0};
    pl_jacobian_report report;
    const int32_t n = pl_state_vertex_count(r->state);
    double marker[12], rotation[12], sensor[4], effort[6], measure[6];
    double *position = malloc(3 * (size_t)n * sizeof *position);
    const pl_jacobian out = {.position = position,
                             .marker = marker,
                             .rotation = rotation,
                             .sensor = sensor,
                             .effort = effort,
                             .measure = measure};

    PL_CHECK_OK(pl_statics_jacobian(r->statics, r->state, &parameter, 1, &out, &report, &err));
    PL_CHECK_BELOW(report.residual, 1e-8);
    column c = {0};
    for (int i = 0; i < probe_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            c.value[c.count++] = position[3 * probe_vertex(r, i) + k];
        }
    }

    for (int m = 0; m < pl_robot_marker_count(r->robot); ++m) {
        memcpy(c.value + c.count, marker + 3 * m, 3 * sizeof *marker);
        memcpy(c.value + c.count + 3, rotation + 3 * m, 3 * sizeof *rotation);
        c.count += 6;
    }

    for (int i = 0; i < pl_robot_sensor_count(r->robot); ++i) {
        c.value[c.count++] = sensor[i];
    }
    for (int i = 0; i < pl_robot_actuator_count(r->robot); ++i) {
        c.value[c.count++] = effort[i];
        c.value[c.count++] = measure[i];
    }

    // the adjoint of a mixed objective is the same number
    double *weight = malloc(3 * (size_t)n * sizeof *weight), by_effort[6] = {0.3, -0.7, 0.2, 0.5, 1, 1};
    double forward = 0, gradient, scale = 0;
    for (int32_t i = 0; i < 3 * n; ++i) {
        weight[i] = sin(1.0 + i);
        forward += weight[i] * position[i];
        scale += fabs(weight[i] * position[i]);
    }

    for (int i = 0; i < pl_robot_actuator_count(r->robot); ++i) {
        forward += by_effort[i] * effort[i];
        scale += fabs(by_effort[i] * effort[i]);
    }

    PL_CHECK_OK(
        pl_statics_adjoint(r->statics, r->state, weight, by_effort, &parameter, 1, &gradient, &report, &err));
    PL_CHECK_BELOW(report.residual, 1e-8);
    PL_CHECK_NEAR(gradient, forward, 1e-10 * scale);
    free(weight);
    free(position);

    return c;
}

// Largest difference over the largest entry, rows of one kind together; h is the step of the differences b.
static double column_error(const rig *r, const column *a, const column *b, double h)
{
    assert_int_equal(a->count, b->count);
    double worst = 0;
    const int markers = pl_robot_marker_count(r->robot), first = 3 * probe_count;
    const int sensors = first + 6 * markers;
    for (int at = 0, next; at < a->count; at = next) {
        next = at == 0 ? first : at < sensors ? at + 3 : at + 1;
        double error = 0, size = 0;
        for (int i = at; i < next; ++i) {
            error = fmax(error, fabs(a->value[i] - b->value[i]));
            size = fmax(size, fabs(b->value[i]));
        }
        // rows that do not depend on the parameter: nothing but rounding, and constraints met to 1e-11 of
        // measures of some 100 mm^3
        const bool still = size <= 1e-10 / h;
        // values of up to some 100 are rounded to 1e-13, which a difference quotient divides by its step
        error = fmax(0, error - 1e-13 / h);
        if (!still && error / size > 1e-6) {
            print_error("rows %d to %d: %.10g against %.10g\n", at, next - 1, a->value[at], b->value[at]);
        }
        worst = fmax(worst, still ? 0 : error / size);
    }

    return worst;
}

static pl_statics_options exact_options(void)
{
    pl_statics_options options = tight_options();
    options.force_tolerance = 1e-12;
    options.length_tolerance = 1e-12;
    return options;
}

// By a command: one robot, three states.
static void check_command(const char *what, rig *r, const double *command, int index, double h)
{
    double moved[4];
    const int count = pl_robot_command_count(r->robot);
    rig plus = *r, minus = *r;
    pl_error err = {0};

    rig_solve(r, command);
    PL_CHECK_OK(pl_state_create(r->robot, &plus.state, &err));
    PL_CHECK_OK(pl_state_create(r->robot, &minus.state, &err));
    memcpy(moved, command, (size_t)count * sizeof *moved);
    for (int side = 0; side < 2; ++side) {
        rig *other = side ? &minus : &plus;
        PL_CHECK_OK(pl_state_copy(other->state, r->state));
        moved[index] = command[index] + (side ? -h : h);
        rig_solve(other, moved);
    }

    const column want = difference(&plus, &minus, h);
    const column got = exact(r, (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = index});
    const double error = column_error(r, &got, &want, h);
    print_message("by %s: off by %.1e\n", what, error);
    PL_CHECK_BELOW(error, 1e-6);
    pl_state_destroy(plus.state);
    pl_state_destroy(minus.state);
}

// ---- a bar of 24 x 8 x 8 mm with a cavity, a film on top, cables along its sides, a force and a weight

typedef struct bar_choice {
    pl_drive chamber, cable, film;
    pl_material material;
    bool rigid_head;
    bool loads; // a moment, and a pressure in the cavity
} bar_choice;

static const pl_material neo = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47, .density = 1.07e-9};

static void bar_plan(plan *p, const pl_mesh *mesh, const bar_choice *choice)
{
    static const pl_guide_def left[] = {{.point = {0, 0, 6}}, {.point = {12, 0, 6}}, {.point = {24, 0, 6}}};
    static const pl_guide_def right[] = {{.point = {-6, 8, 6}, .space = true}, {.point = {24, 8, 6}}};
    static const pl_guide_def string[] = {{.point = {0, 4, 0}}, {.point = {12, 4, 0}}, {.point = {24, 4, 0}}};

    plan_init(p, mesh, choice->material);
    p->region[p->def.region_count++] = (pl_region_def){.region = "second", .material = "rubber"};
    if (choice->rigid_head) {
        p->rigid[p->def.rigid_count++] = (pl_rigid_def){.region = "second"};
    }
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 24);
    plan_plane(p, "top", 2, 8);
    plan_cavity(p, "cavity", 10, 4, 4);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    p->marker[p->def.marker_count++] = (pl_marker_def){.name = "side", .at = {14, 9, 5}, .radius = 3};
    plan_chamber(p, "air", "cavity", choice->chamber);
    p->actuator[0].line_volume = 200;
    p->actuator[0].ambient = 0.1;
    plan_cable(p, "left", left, 3, choice->cable)->radius = 2;
    plan_cable(p, "right", right, 2, choice->cable)->radius = 2;
    plan_film(p, "film", "top", choice->film);
    p->sensor[0] = (pl_sensor_def){
        .name = "string", .kind = PL_SENSOR_LENGTH, .guide = string, .guide_count = 3, .radius = 2};
    p->sensor[1] = (pl_sensor_def){.name = "volume", .kind = PL_SENSOR_VOLUME, .actuator = "air"};
    p->sensor[2] = (pl_sensor_def){.name = "pressure", .kind = PL_SENSOR_PRESSURE, .actuator = "air"};
    p->def.sensor_count = 3;
    p->def.gravity[2] = -9810;
    p->force[0] = (pl_force_def){.marker = "tip", .force = {0.01, 0.015, -0.02}};
    p->force[1] = (pl_force_def){.marker = "side", .force = {0, 0, 0.01}, .moment = {0.05, 0.1, 0.15}};
    p->def.force_count = choice->loads ? 2 : 1;
    p->pressure[0] = (pl_surface_pressure_def){.surface = "cavity", .pressure = 0.01};
    p->def.pressure_count = choice->loads;
}

static pl_mesh *bar_mesh(void)
{
    pl_error err = {0};
    pl_mesh *linear = NULL, *raised = NULL;
    bool hole[6 * 3 * 3] = {false};
    int32_t region[6 * 3 * 3];
    const double size[3] = {24, 8, 8};

    for (int c = 0; c < 54; ++c) {
        const int i = c % 6, j = c / 6 % 3, k = c / 18;
        hole[c] = i >= 1 && i <= 3 && j == 1 && k == 1;
        region[c] = i == 5;
    }

    PL_CHECK_OK(box_mesh(6, 3, 3, size, hole, region, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &raised, &err));
    pl_mesh_destroy(linear);

    return raised;
}

static rig bar_rig(const bar_choice *choice)
{
    static plan p;
    pl_mesh *mesh = bar_mesh();
    const pl_statics_options options = exact_options();

    bar_plan(&p, mesh, choice);
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);

    return r;
}

enum { AIR, LEFT, RIGHT, FILM };

static void test_commands(void **state)
{
    (void)state;

    // geometry, effort, gas and voltage; the right cable idle or slack
    const struct {
        bar_choice choice;
        double command[4], h[4];
    } cases[] = {
        {{PL_DRIVE_PRESSURE, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE, neo, false, false},
         {0.012, 1.5, NAN, 4000},
         {1e-5, 1e-3, 0, 2}},
        {{PL_DRIVE_VOLUME_RATIO, PL_DRIVE_LENGTH_RATIO, PL_DRIVE_AREA_RATIO, neo, false, false},
         {1.15, 0.95, 0.97, NAN},
         {1e-4, 1e-4, 1e-4, 0}},
        {{PL_DRIVE_SYRINGE, PL_DRIVE_TENSION, PL_DRIVE_AREA_RATIO, neo, true, false},
         {60, 0.1, 0.05, 1.02},
         {0.05, 1e-4, 1e-4, 1e-5}},
        {{PL_DRIVE_VOLUME, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE, neo, true, true},
         {100, 1.2, -8, 3000},
         {0.01, 1e-3, 1e-3, 2}},
    };
    for (int i = 0; i < 4; ++i) {
        rig r = bar_rig(&cases[i].choice);
        for (int c = 0; c < 4; ++c) {
            if (!isnan(cases[i].command[c])) {
                const pl_drive drive = pl_robot_command(r.robot, c).drive;
                check_command(pl_drive_name(drive), &r, cases[i].command, c, cases[i].h[c]);
            }
        }
        rig_clear(&r);
    }
}

// By loads and material constants: the robot itself changes.
static void check_parameter(const char *what, const bar_choice *choice, const double *command,
                            pl_parameter parameter, double h)
{
    static plan p;
    pl_mesh *mesh = bar_mesh();
    const pl_statics_options options = exact_options();
    rig r[3];

    for (int side = 0; side < 3; ++side) {
        const double shift = side == 0 ? 0 : side == 1 ? h : -h;
        bar_plan(&p, mesh, choice);
        switch (parameter.kind) {
        case PL_PARAMETER_FORCE:
            p.force[parameter.index].force[parameter.part] += shift;
            break;
        case PL_PARAMETER_MOMENT:
            for (int i = 0; i < 3; ++i) {
                p.force[parameter.index].moment[i] *= 1 + shift;
            }
            break;
        case PL_PARAMETER_GRAVITY:
            p.def.gravity[parameter.part] += shift;
            break;
        case PL_PARAMETER_PRESSURE:
            p.pressure[parameter.index].pressure += shift;
            break;
        default:
            *pl_material_at(&p.material[parameter.index].material, (pl_material_constant)parameter.part) +=
                shift;
            break;
        }
        r[side] = plan_build(&p, &options);
        rig_solve(&r[side], command);
    }

    pl_mesh_destroy(mesh);
    const column want = difference(&r[1], &r[2], h), got = exact(&r[0], parameter);
    const double error = column_error(&r[0], &got, &want, h);
    print_message("by %s: off by %.1e\n", what, error);
    PL_CHECK_BELOW(error, 1e-6);
    for (int side = 0; side < 3; ++side) {
        rig_clear(&r[side]);
    }
}

static void test_loads(void **state)
{
    (void)state;
    const bar_choice choice = {
        PL_DRIVE_VOLUME_RATIO, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE, neo, false, true};
    const double command[4] = {1.05, 1, -8, 3000};
    check_parameter("force x", &choice, command, (pl_parameter){PL_PARAMETER_FORCE, 0, 0}, 1e-4);
    check_parameter("force z", &choice, command, (pl_parameter){PL_PARAMETER_FORCE, 1, 2}, 1e-4);
    check_parameter("moment", &choice, command, (pl_parameter){PL_PARAMETER_MOMENT, 1, 0}, 1e-3);
    check_parameter("gravity y", &choice, command, (pl_parameter){PL_PARAMETER_GRAVITY, 0, 1}, 20);
    const bar_choice open = {PL_DRIVE_PRESSURE, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE, neo, true, true};
    const double vented[4] = {NAN, 1, NAN, NAN};
    check_parameter("pressure", &open, vented, (pl_parameter){PL_PARAMETER_PRESSURE, 0, 0}, 1e-5);
    check_parameter("gravity z", &open, vented, (pl_parameter){PL_PARAMETER_GRAVITY, 0, 2}, 20);
}

static void test_materials(void **state)
{
    (void)state;
    const struct {
        pl_material material;
        pl_material_constant constant;
        double h;
    } cases[] = {
        {{.model = PL_LINEAR, .young = 0.6, .poisson = 0.45, .density = 1e-9}, PL_YOUNG, 1e-4},
        {{.model = PL_LINEAR, .young = 0.6, .poisson = 0.45, .density = 1e-9}, PL_POISSON, 1e-5},
        {{.model = PL_STVK, .young = 0.6, .poisson = 0.4}, PL_YOUNG, 1e-4},
        {{.model = PL_STVK, .young = 0.6, .poisson = 0.4, .formulation = PL_DISPLACEMENT}, PL_POISSON, 1e-5},
        {{.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47, .density = 1e-9}, PL_C10, 1e-5},
        {{.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47, .density = 1e-9}, PL_POISSON, 1e-5},
        {{.model = PL_NEO_HOOKEAN, .c10 = 0.1, .bulk = 2, .density = 1e-9}, PL_C10, 1e-5},
        {{.model = PL_NEO_HOOKEAN, .c10 = 0.1, .bulk = 2, .density = 1e-9}, PL_BULK, 5e-4},
        {{.model = PL_NEO_HOOKEAN, .c10 = 0.1, .bulk = 2, .density = 1e-9}, PL_DENSITY, 1e-11},
        {{.model = PL_MOONEY_RIVLIN, .c10 = 0.08, .c01 = 0.02, .poisson = 0.48}, PL_C01, 1e-5},
        {{.model = PL_YEOH, .c10 = 0.1, .c20 = 0.02, .c30 = 0.002, .poisson = 0.48}, PL_C20, 1e-5},
        {{.model = PL_YEOH, .c10 = 0.1, .c20 = 0.02, .c30 = 0.002, .poisson = 0.48}, PL_C30, 1e-3},
        {{.model = PL_HGO,
          .c10 = 0.1,
          .k1 = 0.2,
          .k2 = 1,
          .kappa = 0.1,
          .fibre = {{1, 0.5, 0}},
          .fibre_count = 1,
          .poisson = 0.48},
         PL_C10,
         1e-5},
        {{.model = PL_HGO,
          .c10 = 0.1,
          .k1 = 0.2,
          .k2 = 1,
          .kappa = 0.1,
          .fibre = {{1, 0.5, 0}},
          .fibre_count = 1,
          .poisson = 0.48},
         PL_K1,
         1e-5},
        {{.model = PL_HGO,
          .c10 = 0.1,
          .k1 = 0.2,
          .k2 = 1,
          .kappa = 0.1,
          .fibre = {{1, 0.5, 0}},
          .fibre_count = 1,
          .poisson = 0.48},
         PL_K2,
         5e-2},
        {{.model = PL_HGO,
          .c10 = 0.1,
          .k1 = 0.2,
          .k2 = 1,
          .kappa = 0.1,
          .fibre = {{1, 0.5, 0}},
          .fibre_count = 1,
          .poisson = 0.48},
         PL_KAPPA,
         1e-5},
        {{.model = PL_GENT, .mu = 0.2, .jm = 20, .poisson = 0.48}, PL_MU, 1e-5},
        {{.model = PL_GENT, .mu = 0.2, .jm = 20, .poisson = 0.48}, PL_JM, 1e-2},
        {{.model = PL_OGDEN, .ogden_mu = {0.15, 0.03}, .ogden_alpha = {1.6, 4}, .poisson = 0.48},
         PL_MU1,
         1e-5},
        {{.model = PL_OGDEN, .ogden_mu = {0.15, 0.03}, .ogden_alpha = {1.6, 4}, .poisson = 0.48},
         PL_ALPHA1,
         1e-4},
        {{.model = PL_OGDEN, .ogden_mu = {0.15, 0.03}, .ogden_alpha = {1.6, 4}, .poisson = 0.48},
         PL_ALPHA2,
         1e-4},
    };
    const double command[4] = {1.2, 2, NAN, NAN};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); ++i) {
        const bar_choice choice = {PL_DRIVE_VOLUME_RATIO, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE,
                                   cases[i].material,     i % 2 == 1,          false};
        char what[60];
        snprintf(what, sizeof what, "%s of %s", pl_material_constant_name(cases[i].constant),
                 pl_material_model_name(cases[i].material.model));
        check_parameter(what, &choice, command,
                        (pl_parameter){PL_PARAMETER_MATERIAL, 0, (int)cases[i].constant}, cases[i].h);
    }
}

// A bulk modulus that follows from poisson is the same modulus as the one given.
static void test_bulk_from_poisson(void **state)
{
    (void)state;
    bar_choice choice = {PL_DRIVE_PRESSURE, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE, neo, false, false};
    const double command[4] = {0.01, 1, NAN, NAN};
    column by_bulk[2];
    for (int i = 0; i < 2; ++i) {
        double mu;
        if (i == 1) {
            pl_material_moduli(&neo, &mu, &choice.material.bulk);
        }
        rig r = bar_rig(&choice);
        rig_solve(&r, command);
        by_bulk[i] = exact(&r, (pl_parameter){PL_PARAMETER_MATERIAL, 0, PL_BULK});
        rig_clear(&r);
    }

    for (int i = 0; i < by_bulk[0].count; ++i) {
        PL_CHECK_NEAR(by_bulk[0].value[i], by_bulk[1].value[i], 1e-7 * fabs(by_bulk[1].value[0]));
    }
}

// The factor kept from an earlier call must not be used for another set of drives at the same shape.
static void test_same_shape_other_drives(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = bar_mesh();
    const pl_statics_options options = exact_options();
    bar_choice choice = {PL_DRIVE_VOLUME_RATIO, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE, neo, false, false};
    choice.material.density = 0;
    bar_plan(&p, mesh, &choice);
    p.def.force_count = 0;
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);
    pl_error err = {0};
    pl_jacobian_report report;
    double measure[4];
    const pl_jacobian out = {.measure = measure};
    const pl_parameter parameter = {PL_PARAMETER_COMMAND, AIR, 0};
    const double idle[4] = {NAN, NAN, NAN, NAN}, rest[4] = {1, NAN, NAN, NAN};
    rig_solve(&r, idle);
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
    PL_CHECK_NEAR(measure[AIR], 0, 0);
    rig_solve(&r, rest);
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
    PL_CHECK_NEAR(measure[AIR], pl_robot_actuator(r.robot, AIR).rest, 1e-9 * measure[AIR]);
    rig_clear(&r);
}

// A cable at its rest length without tension: the derivative is the one of pulling, and says so.
static void test_one_sided(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = bar_mesh();
    const pl_statics_options options = exact_options();
    bar_choice choice = {PL_DRIVE_PRESSURE, PL_DRIVE_SHORTENING, PL_DRIVE_VOLTAGE, neo, false, false};
    choice.material.density = 0;
    bar_plan(&p, mesh, &choice);
    p.def.force_count = 0;
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);
    pl_error err = {0};
    pl_jacobian_report report;
    double measure[4], effort[4], marker[6];
    const double command[4] = {NAN, 0, NAN, NAN}, pulled[4] = {NAN, 1e-4, NAN, NAN};
    const pl_jacobian out = {.measure = measure, .effort = effort, .marker = marker};
    const pl_parameter parameter = {PL_PARAMETER_COMMAND, LEFT, 0};
    rig_solve(&r, command);
    assert_true(pl_statics_actuator(r.statics, r.state, LEFT).slack);
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
    assert_true(report.one_sided);
    PL_CHECK_NEAR(measure[LEFT], -1, 1e-9);
    rig_solve(&r, pulled);
    const pl_actuator_result left = pl_statics_actuator(r.statics, r.state, LEFT);
    const pl_marker_result tip = pl_statics_marker(r.statics, r.state, 0);
    PL_CHECK_NEAR(left.effort / 1e-4 / effort[LEFT], 1, 1e-3);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(tip.displacement[i] / 1e-4, marker[i], 1e-3);
    }

    // a slack cable with room to spare does not answer at all
    const double loose[4] = {NAN, -1, NAN, NAN};
    rig_solve(&r, loose);
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
    assert_false(report.one_sided);
    PL_CHECK_NEAR(measure[LEFT], 0, 0);
    rig_clear(&r);
}

// Parameters that do not exist are refused by name.
static void test_wrong_parameters(void **state)
{
    (void)state;
    const bar_choice choice = {PL_DRIVE_PRESSURE, PL_DRIVE_TENSION, PL_DRIVE_VOLTAGE, neo, false, false};
    rig r = bar_rig(&choice);
    const double command[4] = {0.01, NAN, NAN, NAN};
    rig_solve(&r, command);
    const struct {
        pl_parameter parameter;
        const char *words;
    } cases[] = {
        {{PL_PARAMETER_COMMAND, 4, 0}, "index 4"},        {{PL_PARAMETER_COMMAND, -1, 0}, "index -1"},
        {{PL_PARAMETER_FORCE, 0, 3}, "axis 3"},           {{PL_PARAMETER_PRESSURE, 0, 0}, "index 0"},
        {{PL_PARAMETER_MATERIAL, 0, PL_YOUNG}, "rubber"}, {{PL_PARAMETER_MATERIAL, 0, 99}, "rubber"},
        {{(pl_parameter_kind)17, 0, 0}, "kind 17"},
    };
    double marker[6];
    const pl_jacobian out = {.marker = marker};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); ++i) {
        pl_error err = {0};
        pl_jacobian_report report;
        assert_int_equal(pl_statics_jacobian(r.statics, r.state, &cases[i].parameter, 1, &out, &report, &err),
                         PL_BAD_INPUT);
        assert_non_null(strstr(err.text, cases[i].words));
    }

    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_bulk_from_poisson),
        cmocka_unit_test(test_same_shape_other_drives),
        cmocka_unit_test(test_one_sided),
        cmocka_unit_test(test_wrong_parameters),
    };
    pl_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
