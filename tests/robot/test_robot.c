// A robot built from a def: measures against closed forms, weights that reproduce linear fields, supports,
// bodies with poses, chambers given by elements, states.
#include "robot/robot_fixture.h"
#include "robot/robot.h"

#define IDENTITY                                                                                             \
    {                                                                                                        \
        1, 0, 0, 0, 1, 0, 0, 0, 1                                                                            \
    }
static const pl_body_def one_body[] = {{.name = "body", .rotation = IDENTITY}};
static const pl_material_def rubber[] = {
    {.name = "rubber",
     .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49, .density = 1.07e-9}}};
static const pl_fixed_def base[] = {
    {.name = "base", .surface = "base", .axis = {true, true, true}, .line = 3}};
static const pl_guide_def guides[] = {
    {.point = {2, 15, 25}}, {.point = {20, 15, 25}}, {.point = {35, 15, 22}}};

static pl_robot_def def_start(void)
{
    return (pl_robot_def){.name = "test",
                          .body = one_body,
                          .body_count = 1,
                          .material = rubber,
                          .material_count = 1,
                          .fixed = base,
                          .fixed_count = 1};
}

// order 2 when `raise`
static pl_robot *build(const pl_robot_def *def, bool filled, bool raise, pl_findings *findings)
{
    pl_error err;
    pl_mesh *mesh[2] = {0};

    for (int i = 0; i < def->body_count; ++i) {
        mesh[i] = fix_mesh(filled, 1);
        if (raise) {
            pl_mesh *raised = NULL;
            PL_CHECK_OK(pl_mesh_raise(mesh[i], &raised, &err));
            pl_mesh_destroy(mesh[i]);
            mesh[i] = raised;
        }
    }

    pl_robot *robot = NULL;
    const pl_status status = pl_robot_create(def, (const pl_mesh *const *)mesh, &robot, findings, &err);
    assert_int_equal(status == PL_OK, robot != NULL);
    for (int i = 0; i < def->body_count; ++i) {
        pl_mesh_destroy(mesh[i]);
    }

    return robot;
}

// V0 of the cavity is 20 x 10 x 10, A0 of the top 40 x 30, L0 the sum of the straight pieces.
static void test_rest_measures(void **state)
{
    (void)state;
    for (int raise = 0; raise < 2; ++raise) {
        const pl_actuator_def actuators[] = {
            {.name = "air", .kind = PL_CHAMBER, .drive = PL_DRIVE_PRESSURE, .surface = "cavity"},
            {.name = "film", .kind = PL_FILM, .drive = PL_DRIVE_AREA_RATIO, .surface = "top"},
            {.name = "cable",
             .kind = PL_CABLE,
             .drive = PL_DRIVE_SHORTENING,
             .guide = guides,
             .guide_count = 3},
        };
        pl_robot_def def = def_start();
        def.actuator = actuators;
        def.actuator_count = 3;
        pl_robot *robot = build(&def, false, raise, NULL);
        assert_non_null(robot);
        PL_CHECK_NEAR(pl_robot_actuator(robot, 0).rest, 2000, 1e-9);
        PL_CHECK_NEAR(pl_robot_actuator(robot, 1).rest, 1200, 1e-9);
        PL_CHECK_NEAR(pl_robot_actuator(robot, 2).rest, 18 + sqrt(15 * 15 + 9), 1e-10);
        assert_int_equal(pl_robot_actuator(robot, 0).rim_count, 0);
        assert_int_equal(pl_robot_command_count(robot), 3);
        assert_int_equal(pl_robot_find_command(robot, "film"), 1);
        pl_robot_destroy(robot);
    }
}

static double linear_field(const double x[3])
{
    return 2.5 + 0.3 * x[0] - 1.7 * x[1] + 0.9 * x[2];
}

// Weights sum to 1 and reproduce linear fields, spread or not, on linear and quadratic meshes.
static void test_point_weights(void **state)
{
    (void)state;
    pl_error err;
    static const double at[][3] = {{20, 15, 25}, {3, 3, 3}, {38, 28, 15}, {20, 25, 15}, {0, 15, 15}};
    static const double radius[] = {0, 4, 9, 14};
    int spread = 0;
    for (int raise = 0; raise < 2; ++raise) {
        pl_mesh *mesh = fix_mesh(false, 1), *raised = NULL;
        PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
        const pl_mesh *m = raise ? raised : mesh;
        const double *X = pl_mesh_get(m).position;
        for (int i = 0; i < 20; ++i) {
            pl_point p;
            double distance = -1, sum = 0, field = 0;
            PL_CHECK_OK(pl_point_create(m, at[i % 5], radius[i / 5], &p, &distance, &err));
            for (int32_t j = 0; j < p.count; ++j) {
                sum += p.weight[j];
                field += p.weight[j] * linear_field(X + 3 * p.node[j]);
            }
            PL_CHECK_NEAR(distance, 0, 1e-9);
            PL_CHECK_NEAR(sum, 1, 1e-12);
            PL_CHECK_NEAR(field, linear_field(at[i % 5]), 1e-10);
            PL_CHECK_NEAR(p.rest[0], at[i % 5][0], 1e-10);
            spread += p.count > 10;
            pl_point_clear(&p);
        }
        pl_mesh_destroy(mesh);
        pl_mesh_destroy(raised);
    }

    assert_true(spread >= 8);
}

// A spread point does not reach across the cavity: vertices of the far wall, inside the ball but not
// connected within it, stay out.
static void test_point_stays_connected(void **state)
{
    (void)state;
    pl_error err;
    pl_mesh *mesh = fix_mesh(false, 1), *raised = NULL;
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));

    // two separate pieces: the mesh and a copy 1 mm beside it
    const pl_body_def bodies[] = {{.name = "a", .rotation = IDENTITY},
                                  {.name = "b", .rotation = IDENTITY, .translation = {0, 31, 0}}};
    const pl_fixed_def fixed[] = {{.name = "a", .surface = "a.base", .axis = {1, 1, 1}},
                                  {.name = "b", .surface = "b.base", .axis = {1, 1, 1}}};
    pl_robot_def def = def_start();
    def.body = bodies;
    def.body_count = 2;
    def.fixed = fixed;
    def.fixed_count = 2;
    pl_robot *robot = build(&def, false, true, NULL);
    assert_non_null(robot);
    const double at[3] = {20, 27, 25};
    pl_point p;
    PL_CHECK_OK(pl_point_create(pl_robot_mesh(robot), at, 9, &p, NULL, &err));
    assert_true(p.count > 10);
    for (int32_t j = 0; j < p.count; ++j) {
        PL_CHECK_BELOW(pl_mesh_get(pl_robot_mesh(robot)).position[3 * p.node[j] + 1], 30.0);
    }
    pl_point_clear(&p);
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(raised);
}

// Markers: the centroid of a surface, a point inside, a point that stands off.
static void test_markers(void **state)
{
    (void)state;
    static const pl_marker_def markers[] = {{.name = "tip", .surface = "tip"},
                                            {.name = "inside", .at = {5, 5, 5}},
                                            {.name = "dot", .at = {23, 14, 34}},
                                            {.name = "soft", .at = {35, 15, 25}, .radius = 12}};
    for (int raise = 0; raise < 2; ++raise) {
        pl_robot_def def = def_start();
        def.marker = markers;
        def.marker_count = 4;
        pl_robot *robot = build(&def, false, raise, NULL);
        assert_non_null(robot);
        static const double want[4][4] = {{40, 15, 15, 0}, {5, 5, 5, 0}, {23, 14, 34, 4}, {35, 15, 25, 0}};
        const double *X = pl_mesh_get(robot->mesh).position;
        for (int i = 0; i < 4; ++i) {
            double position[3], distance;
            pl_robot_marker_rest(robot, i, position, &distance);
            for (int k = 0; k < 3; ++k) {
                PL_CHECK_NEAR(position[k], want[i][k], 1e-9);
            }
            PL_CHECK_NEAR(distance, want[i][3], 1e-9);
            assert_true(robot->marker[i].frame);
            const pl_point *patch = &robot->marker[i].patch;
            double sum = 0, centre[3] = {0};
            for (int32_t j = 0; j < patch->count; ++j) {
                assert_true(patch->weight[j] >= 0);
                sum += patch->weight[j];
                for (int k = 0; k < 3; ++k) {
                    centre[k] += patch->weight[j] * X[3 * patch->node[j] + k];
                }
            }
            PL_CHECK_NEAR(sum, 1, 1e-12);
            // patch and point agree, except for the marker on an edge of a tet
            for (int k = 0; k < 3 && i != 1; ++k) {
                PL_CHECK_NEAR(centre[k] + robot->marker[i].offset[k], want[i][k], 1e-8);
            }
        }
        PL_CHECK_NEAR(robot->marker[2].offset[2], 4, 1e-9);
        pl_robot_destroy(robot);
    }
}

// A chamber given by elements without a material: they are taken out, and the robot is the one with the hole.
static void test_chamber_by_region(void **state)
{
    (void)state;
    const pl_actuator_def by_region[] = {
        {.name = "air", .kind = PL_CHAMBER, .drive = PL_DRIVE_VOLUME_RATIO, .region = "air"}};
    pl_robot_def def = def_start();
    def.actuator = by_region;
    def.actuator_count = 1;
    static const pl_region_def regions[] = {{.region = "skin", .material = "rubber"},
                                            {.region = "layer", .material = "rubber"},
                                            {.region = "plug", .material = "rubber"},
                                            {.region = "air", .material = "rubber"}};
    def.region = regions;
    def.region_count = 3;
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = build(&def, true, true, findings);
    if (!robot) {
        fix_print_findings(findings);
    }
    assert_non_null(robot);
    PL_CHECK_NEAR(pl_robot_actuator(robot, 0).rest, 2000, 1e-9);
    PL_CHECK_NEAR(pl_mesh_region_volume(pl_robot_mesh(robot), -1), 36000 - 2000, 1e-8);
    assert_int_equal(pl_mesh_find_region(pl_robot_mesh(robot), "air"), -1);
    pl_robot_destroy(robot);

    // with a material the elements stay, and a warning says what that does
    def.region_count = 4;
    robot = build(&def, true, true, findings);
    assert_non_null(robot);
    PL_CHECK_NEAR(pl_robot_actuator(robot, 0).rest, 2000, 1e-9);
    PL_CHECK_NEAR(pl_mesh_region_volume(pl_robot_mesh(robot), -1), 36000, 1e-8);
    assert_true(fix_has_finding(findings, PL_WARNING, -1, "stiffen"));
    pl_robot_destroy(robot);
    pl_findings_destroy(findings);
}

// An open cavity: without one wall of the hole there is one rim, capped, and the volume stays.
static void test_rims(void **state)
{
    (void)state;
    pl_error err;
    for (int raise = 0; raise < 2; ++raise) {
        pl_mesh *mesh = fix_mesh(false, 1), *raised = NULL, *open = NULL;
        PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
        const pl_mesh *m = raise ? raised : mesh;
        const pl_mesh_view v = pl_mesh_get(m);
        const int32_t s = pl_mesh_find_surface(m, "cavity");
        int64_t face[64], start[2] = {0};
        for (int64_t k = v.surface_start[s]; k < v.surface_start[s + 1]; ++k) {
            int32_t node[PL_FACE_NODES_MAX];
            pl_mesh_face_nodes(m, v.surface_face[k], node);
            double x = 0;
            for (int a = 0; a < 3; ++a) {
                x += v.position[3 * node[a]] / 3;
            }
            if (x < 29.9) {
                face[start[1]++] = v.surface_face[k];
            }
        }
        const char *name = "open";
        PL_CHECK_OK(pl_mesh_with_surfaces(m, 1, &name, start, face, &open, &err));
        const pl_actuator_def actuator = {
            .name = "air", .kind = PL_CHAMBER, .drive = PL_DRIVE_PRESSURE, .surface = "open", .line = 9};
        pl_robot_def def = def_start();
        def.actuator = &actuator;
        def.actuator_count = 1;
        pl_findings *findings = pl_findings_create();
        pl_robot *robot = NULL;
        PL_CHECK_OK(pl_robot_create(&def, (const pl_mesh *const[]){open}, &robot, findings, &err));
        const pl_actuator *a = &robot->actuator[0];
        PL_CHECK_NEAR(a->rest, 2000, 1e-9);
        assert_int_equal(a->rim_count, 1);
        assert_int_equal(a->rim_quadratic, raise);
        assert_int_equal(a->rim_start[1], raise ? 8 : 4);
        assert_true(fix_has_finding(findings, PL_NOTE, 9, "0 x 10 x 10 mm (4 edges)"));
        // the cap's normal (centre, node, next) points like the faces' normals, into the cavity: along -x
        const double *X = pl_mesh_get(robot->mesh).position;
        const int per = raise ? 2 : 1;
        double area = 0;
        for (int k = 0; k < 4; ++k) {
            const double *p = X + 3 * a->rim_node[per * k], *q = X + 3 * a->rim_node[per * ((k + 1) % 4)];
            area += 0.5 * ((p[1] - 15) * (q[2] - 15) - (p[2] - 15) * (q[1] - 15));
            if (raise) {
                PL_CHECK_NEAR(X[3 * a->rim_node[2 * k + 1] + 1], (p[1] + q[1]) / 2, 1e-12);
                PL_CHECK_NEAR(X[3 * a->rim_node[2 * k + 1] + 2], (p[2] + q[2]) / 2, 1e-12);
            }
        }
        PL_CHECK_NEAR(area, -100, 1e-9);
        pl_findings_destroy(findings);
        pl_robot_destroy(robot);
        pl_mesh_destroy(mesh);
        pl_mesh_destroy(raised);
        pl_mesh_destroy(open);
    }
}

// Two bodies, the second turned by 90 degrees about z and moved: volumes add, picks follow the body.
static void test_two_bodies(void **state)
{
    (void)state;
    const pl_body_def bodies[] = {
        {.name = "left", .rotation = IDENTITY},
        {.name = "right", .rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}, .translation = {200, 5, 0}}};
    const pl_surface_def surface = {
        .name = "right.end",
        .body = 1,
        .pick = {.kind = PL_PICK_PLANE, .point = {40, 0, 0}, .normal = {1, 0, 0}}};
    const pl_fixed_def fixed[] = {{.name = "l", .surface = "left.base", .axis = {1, 1, 1}},
                                  {.name = "r",
                                   .has_box = true,
                                   .body = 1,
                                   .low = {-1, -1, -1},
                                   .high = {1, 31, 31},
                                   .axis = {1, 1, 1}}};
    const pl_marker_def marker = {.name = "right.tip", .surface = "right.end"};
    pl_robot_def def = def_start();
    def.body = bodies;
    def.body_count = 2;
    def.surface = &surface;
    def.surface_count = 1;
    def.fixed = fixed;
    def.fixed_count = 2;
    def.marker = &marker;
    def.marker_count = 1;
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = build(&def, false, true, findings);
    if (!robot) {
        fix_print_findings(findings);
    }
    assert_non_null(robot);
    PL_CHECK_NEAR(pl_mesh_region_volume(robot->mesh, -1), 2 * 34000, 1e-7);
    assert_true(pl_mesh_find_region(robot->mesh, "right.layer") >= 0);
    assert_true(pl_mesh_find_surface(robot->mesh, "left.cavity") >= 0);
    assert_int_equal(robot->support[0].node_count, robot->support[1].node_count);
    double position[3];
    pl_robot_marker_rest(robot, 0, position, NULL);
    PL_CHECK_NEAR(position[0], 200 - 15, 1e-9);
    PL_CHECK_NEAR(position[1], 5 + 40, 1e-9);
    PL_CHECK_NEAR(position[2], 15, 1e-9);
    pl_robot_destroy(robot);
    pl_findings_destroy(findings);
}

// What cannot be a robot is refused with the reason.
static void test_refused(void **state)
{
    (void)state;
    pl_findings *findings = pl_findings_create();
    pl_robot_def def = def_start();
    def.fixed_count = 0;
    assert_null(build(&def, false, false, findings));
    assert_true(fix_has_finding(findings, PL_DEFECT, -1, "the body has no support"));

    const pl_fixed_def slider = {.name = "s", .surface = "base", .axis = {false, false, true}};
    def.fixed = &slider;
    def.fixed_count = 1;
    assert_null(build(&def, false, false, findings));
    assert_true(fix_has_finding(findings, PL_DEFECT, -1, "leave 4 rigid-body motions free"));

    // a held clamp and a driven one on shared vertices
    const pl_fixed_def torn[] = {
        {.name = "base", .surface = "base", .axis = {1, 1, 1}, .line = 4},
        {.name = "top", .surface = "top", .axis = {1, 1, 1}, .move = {0, 0, 2}, .line = 5}};
    def.fixed = torn;
    def.fixed_count = 2;
    assert_null(build(&def, false, false, findings));
    assert_true(fix_has_finding(findings, PL_DEFECT, 5, "moves a vertex by 2 mm along z"));

    // a chamber on the outside
    const pl_actuator_def outside = {
        .name = "air", .kind = PL_CHAMBER, .drive = PL_DRIVE_PRESSURE, .surface = "top", .line = 8};
    def = def_start();
    def.actuator = &outside;
    def.actuator_count = 1;
    assert_null(build(&def, false, false, findings));
    assert_true(fix_has_finding(findings, PL_DEFECT, 8, "expected a cavity"));

    // a guide off the body
    const pl_guide_def off[] = {{.point = {5, 15, 25}}, {.point = {20, 15, 40}, .line = 7}};
    const pl_actuator_def cable = {
        .name = "c", .kind = PL_CABLE, .drive = PL_DRIVE_TENSION, .guide = off, .guide_count = 2};
    def.actuator = &cable;
    assert_null(build(&def, false, true, findings));
    assert_true(fix_has_finding(findings, PL_DEFECT, 7, "is 10 mm outside the body"));
    assert_true(fix_has_finding(findings, PL_DEFECT, 7, "(20, 15, 30)"));
    pl_findings_destroy(findings);

    // a guide with a radius of its own acts on more of the body; a bad one is refused by its number
    pl_guide_def washer[] = {{.point = {5, 15, 25}}, {.point = {35, 15, 25}, .radius = 9, .line = 9}};
    const pl_actuator_def tied = {.name = "c",
                                  .kind = PL_CABLE,
                                  .drive = PL_DRIVE_TENSION,
                                  .guide = washer,
                                  .guide_count = 2,
                                  .radius = 2};
    def.actuator = &tied;
    pl_robot *wide = build(&def, false, true, NULL);
    assert_non_null(wide);
    const pl_point *guide = wide->actuator[0].guide;
    assert_true(guide[1].count > guide[0].count);
    pl_robot_destroy(wide);
    findings = pl_findings_create();
    washer[1].radius = -1;
    assert_null(build(&def, false, true, findings));
    assert_true(fix_has_finding(findings, PL_DEFECT, 9, "the radius of point 2 is -1 mm"));
    washer[1].radius = 1e6;
    assert_null(build(&def, false, true, findings));
    assert_true(fix_has_finding(findings, PL_DEFECT, 9, "larger than the body"));
    pl_findings_destroy(findings);

    // a zeroed def, a missing mesh
    pl_error err;
    pl_robot *robot;
    const pl_robot_def zero = {0};
    const pl_mesh *none[1] = {NULL};
    assert_int_equal(pl_robot_create(&zero, none, &robot, NULL, &err), PL_BAD_INPUT);
    def = def_start();
    assert_int_equal(pl_robot_create(&def, none, &robot, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "no mesh"));
}

// One command for two antagonists; the third actuator keeps its own.
static void test_commands(void **state)
{
    (void)state;
    const pl_actuator_def actuators[] = {
        {.name = "up",
         .kind = PL_CABLE,
         .drive = PL_DRIVE_SHORTENING,
         .guide = guides,
         .guide_count = 3,
         .range = {0, 9},
         .has_range = true},
        {.name = "down",
         .kind = PL_CABLE,
         .drive = PL_DRIVE_SHORTENING,
         .guide = guides,
         .guide_count = 2,
         .range = {0, 4},
         .has_range = true},
        {.name = "air", .kind = PL_CHAMBER, .drive = PL_DRIVE_PRESSURE, .surface = "cavity"}};
    const pl_command_drive drives[] = {{"up", 1}, {"down", -1}};
    const pl_command_def command = {.name = "bend", .drive = drives, .drive_count = 2};
    pl_robot_def def = def_start();
    def.actuator = actuators;
    def.actuator_count = 3;
    def.command = &command;
    def.command_count = 1;
    pl_robot *robot = build(&def, false, false, NULL);
    assert_non_null(robot);
    assert_int_equal(pl_robot_command_count(robot), 2);
    const pl_command_info bend = pl_robot_command(robot, 0);
    assert_int_equal(bend.actuator_count, 2);
    PL_CHECK_NEAR(bend.range[0], -4, 0);
    PL_CHECK_NEAR(bend.range[1], 9, 0);
    PL_CHECK_NEAR(pl_robot_actuator(robot, 1).factor, -1, 0);
    assert_string_equal(pl_robot_command(robot, 1).name, "air");
    pl_robot_destroy(robot);
}

// A state packed and unpacked is the same; another robot's, a cut or a poisoned block is refused.
static void test_state(void **state)
{
    (void)state;
    pl_error err;
    const pl_actuator_def actuator = {
        .name = "air", .kind = PL_CHAMBER, .drive = PL_DRIVE_PRESSURE, .surface = "cavity"};
    pl_robot_def def = def_start();
    def.actuator = &actuator;
    def.actuator_count = 1;
    pl_robot *robot = build(&def, false, false, NULL), *same = build(&def, false, false, NULL);
    def.gravity[2] = -9810;
    pl_robot *other = build(&def, false, false, NULL);
    assert_true(robot->hash == same->hash);
    assert_true(robot->hash != other->hash);
    pl_state *a, *b, *c;
    PL_CHECK_OK(pl_state_create(robot, &a, &err));
    PL_CHECK_OK(pl_state_create(robot, &b, &err));
    PL_CHECK_OK(pl_state_create(other, &c, &err));
    assert_memory_equal(pl_state_positions(a), pl_mesh_get(robot->mesh).position, 8);
    a->x[5] += 0.25;
    a->multiplier[0] = 0.03;
    a->active[0] = 1;
    a->load = 0.5;

    // a motion with a history that only motions have
    double velocity[300] = {0};
    assert_true(3 * a->vertex_count <= 300);
    velocity[4] = -7;
    PL_CHECK_OK(pl_state_set_motion(a, 0.125, velocity));
    PL_CHECK_OK(pl_state_set_part(a, PL_STATE_VISCOUS, (const double[]){1, 2, 3}, 3));
    const size_t size = pl_state_pack(a, NULL, 0);
    double *block = calloc(size, sizeof *block);
    assert_int_equal(pl_state_pack(a, block, size), size);
    PL_CHECK_OK(pl_state_unpack(b, block, size, &err));
    assert_memory_equal(a->x, b->x, 3 * (size_t)a->vertex_count * sizeof(double));
    assert_true(isnan(b->command[0]));
    PL_CHECK_NEAR(b->multiplier[0], 0.03, 0);
    PL_CHECK_NEAR(b->load, 0.5, 0);
    assert_true(pl_state_has_motion(b));
    PL_CHECK_NEAR(pl_state_time(b), 0.125, 0);
    assert_memory_equal(b->velocity, velocity, 3 * (size_t)a->vertex_count * sizeof(double));
    assert_int_equal(b->history[PL_STATE_VISCOUS].count, 3);
    PL_CHECK_NEAR(b->history[PL_STATE_VISCOUS].value[2], 3, 0);

    // a copy has them as well; a history cut short, one named twice and one too many are refused
    pl_state_rest(b);
    assert_false(pl_state_has_motion(b) || b->history[PL_STATE_VISCOUS].count);
    PL_CHECK_OK(pl_state_copy(b, a));
    assert_int_equal(b->history[PL_STATE_VISCOUS].count, 3);
    const double wrong[] = {2, 4, PL_STATE_COUNT, -1, 0.5};
    for (int i = 0; i < 5; ++i) {
        double *at = block + size - (i < 2 ? 4 : 5), kept = *at; // its size, its kind
        *at = wrong[i];
        assert_int_equal(pl_state_unpack(b, block, size, &err), PL_BAD_INPUT);
        *at = kept;
    }
    PL_CHECK_OK(pl_state_unpack(b, block, size, &err));
    assert_int_equal(pl_state_unpack(c, block, size, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "another robot"));
    assert_int_equal(pl_state_unpack(b, block, size - 1, &err), PL_BAD_INPUT);
    assert_int_equal(pl_state_copy(c, a), PL_BAD_INPUT);
    block[13] = NAN; // a position
    assert_int_equal(pl_state_unpack(b, block, size, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "not finite"));
    block[0] = 7;
    assert_int_equal(pl_state_unpack(b, block, size, &err), PL_BAD_INPUT);
    pl_state_reset(a, robot);
    PL_CHECK_NEAR(a->load, 0, 0);
    free(block);
    pl_state_destroy(a);
    pl_state_destroy(b);
    pl_state_destroy(c);
    pl_robot_destroy(robot);
    pl_robot_destroy(same);
    pl_robot_destroy(other);
}

// Every allocation may fail: the answer is PL_NO_MEMORY (or another status), never a crash.
static int allocations_left;
static void *failing_realloc(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return allocations_left-- > 0 ? realloc(block, bytes) : NULL;
}

static void test_no_memory(void **state)
{
    (void)state;
    pl_error err;
    const pl_actuator_def actuators[] = {
        {.name = "air", .kind = PL_CHAMBER, .drive = PL_DRIVE_PRESSURE, .region = "air"},
        {.name = "c",
         .kind = PL_CABLE,
         .drive = PL_DRIVE_TENSION,
         .guide = guides,
         .guide_count = 3,
         .radius = 9}};
    const pl_marker_def marker = {.name = "tip", .surface = "tip"};
    static const pl_region_def regions[] = {{.region = "skin", .material = "rubber"},
                                            {.region = "layer", .material = "rubber"},
                                            {.region = "plug", .material = "rubber"}};
    pl_robot_def def = def_start();
    def.actuator = actuators;
    def.actuator_count = 2;
    def.marker = &marker;
    def.marker_count = 1;
    def.region = regions;
    def.region_count = 3;
    pl_mesh *mesh = fix_mesh(true, 1);
    int failures = 0;
    pl_memory_set(failing_realloc, NULL);
    for (int n = 0;; ++n) {
        allocations_left = n;
        pl_robot *robot = NULL;
        const pl_status status = pl_robot_create(&def, (const pl_mesh *const[]){mesh}, &robot, NULL, &err);
        if (status == PL_OK) {
            pl_robot_destroy(robot);
            break;
        }
        assert_null(robot);
        ++failures;
    }

    pl_memory_set(NULL, NULL);
    pl_mesh_destroy(mesh);
    assert_true(failures > 30);
}

// Commands go where all their actuators may, antagonists where either may, one-sided ones as far up and down
// as those of either sign; the slowest actuator sets the rate.
static void test_reach(void **state)
{
    (void)state;
    const double wide[2] = {-1, 10}, near[2] = {0, 4}, pull[2] = {0, 6};
    double range[2] = {7, 7};
    pl_command_reach r = pl_reach_begin(0);
    pl_reach_add(&r, wide, true, 1, 3);
    pl_reach_add(&r, near, true, 2, 4);
    assert_true(pl_reach_range(&r, false, range));
    PL_CHECK_NEAR(range[0], 0, 0);
    PL_CHECK_NEAR(range[1], 2, 0);
    PL_CHECK_NEAR(r.rate, 2, 0); // 4 / 2
    r = pl_reach_begin(1.5);
    pl_reach_add(&r, near, true, 1, 0);
    pl_reach_add(&r, pull, true, -2, 8);
    assert_true(pl_reach_range(&r, false, range));
    PL_CHECK_NEAR(range[0], -3, 0);
    PL_CHECK_NEAR(range[1], 4, 0);
    PL_CHECK_NEAR(r.rate, 1.5, 0);
    pl_reach_add(&r, near, true, -1, 0); // reaches -4 where the other one reaches -3
    assert_true(pl_reach_range(&r, true, range));
    PL_CHECK_NEAR(range[0], -3, 0);
    PL_CHECK_NEAR(range[1], 4, 0);
    pl_reach_add(&r, near, false, 1, 0);
    assert_false(pl_reach_range(&r, true, range));
    PL_CHECK_NEAR(pl_command_apply(-2, true, 3), 0, 0);
    PL_CHECK_NEAR(pl_command_apply(-2, true, -3), 6, 0);
    PL_CHECK_NEAR(pl_command_slope(-2, true, 0), 0, 0);
    PL_CHECK_NEAR(pl_command_slope(2, true, 0), 2, 0);
    PL_CHECK_NEAR(pl_command_slope(2, true, -1), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_measures),
        cmocka_unit_test(test_point_weights),
        cmocka_unit_test(test_point_stays_connected),
        cmocka_unit_test(test_markers),
        cmocka_unit_test(test_chamber_by_region),
        cmocka_unit_test(test_rims),
        cmocka_unit_test(test_two_bodies),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
