// What a robot is examined for: markers and cables off the body.
#include "robot/robot_fixture.h"
#include "robot/robot_def.h"

static pl_error err;
static const pl_body_def body[] = {{.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
static const pl_material_def rubber[] = {
    {.name = "rubber", .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49}}};
static const pl_fixed_def base[] = {{.name = "base", .surface = "base", .axis = {true, true, true}}};

static pl_findings *examine(const pl_robot_def *def)
{
    pl_mesh *mesh = fix_mesh(false, 1);
    pl_robot *robot = NULL;
    pl_findings *findings = pl_findings_create();

    PL_CHECK_OK(pl_robot_create(def, (const pl_mesh *const *)&mesh, &robot, NULL, &err));
    PL_CHECK_OK(pl_robot_examine(robot, findings, &err));
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        print_message("%s\n", pl_findings_at(findings, i)->text);
    }
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);

    return findings;
}

static int count_saying(const pl_findings *findings, const char *words, pl_severity severity)
{
    int count = 0;
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        count += strstr(f->text, words) && f->severity == severity;
    }
    return count;
}

static void test_markers(void **state)
{
    (void)state;
    pl_robot_def def = {.name = "test",
                        .body = body,
                        .body_count = 1,
                        .material = rubber,
                        .material_count = 1,
                        .fixed = base,
                        .fixed_count = 1};
    pl_findings *findings = examine(&def);
    assert_int_equal(count_saying(findings, "no marker", PL_NOTE), 1);
    pl_findings_destroy(findings);

    const pl_marker_def marker[] = {{.name = "tip", .at = {40, 15, 15}},
                                    {.name = "near", .at = {43, 15, 15}}};
    def.marker = marker;
    def.marker_count = 2;
    findings = examine(&def);
    assert_int_equal(count_saying(findings, "marker 'near' is 3 mm outside the body", PL_NOTE), 1);
    assert_int_equal(count_saying(findings, "marker 'tip'", PL_NOTE), 0);
    pl_findings_destroy(findings);
}

// A cable through the cavity (x 10..30): it leaves the body there, for 20 of its 30 mm.
static void test_cables(void **state)
{
    (void)state;
    const pl_guide_def guide[] = {{.point = {5, 15, 15}}, {.point = {35, 15, 15}}};
    const pl_actuator_def cable[] = {{.name = "tendon",
                                      .kind = PL_CABLE,
                                      .drive = PL_DRIVE_TENSION,
                                      .guide = guide,
                                      .guide_count = 2,
                                      .radius = 1}};
    const pl_robot_def def = {.name = "test",
                              .body = body,
                              .body_count = 1,
                              .material = rubber,
                              .material_count = 1,
                              .fixed = base,
                              .fixed_count = 1,
                              .actuator = cable,
                              .actuator_count = 1};
    pl_findings *findings = examine(&def);
    assert_int_equal(count_saying(findings, "leaves the body between guide points 1 and 2", PL_NOTE), 1);
    assert_int_equal(count_saying(findings, "by up to 5 mm", PL_NOTE), 1);
    assert_int_equal(count_saying(findings, "outside the body", PL_WARNING), 0);
    pl_findings_destroy(findings);
}

// Bodies are apart; a body in two parts is not one.
static void test_bodies_are_apart(void **state)
{
    (void)state;
    const pl_body_def two[] = {
        {.name = "left", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
        {.name = "right", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {90}}};
    const pl_fixed_def held[] = {{.name = "l", .surface = "left.base", .axis = {true, true, true}},
                                 {.name = "r", .surface = "right.base", .axis = {true, true, true}}};
    pl_robot_def def = {.name = "test",
                        .body = two,
                        .body_count = 2,
                        .material = rubber,
                        .material_count = 1,
                        .fixed = held,
                        .fixed_count = 2};
    pl_mesh *mesh = fix_mesh(false, 1);
    const pl_mesh *const meshes[] = {mesh, mesh};
    pl_robot *robot = NULL;
    pl_findings *findings = pl_findings_create();
    PL_CHECK_OK(pl_robot_create(&def, meshes, &robot, NULL, &err));
    PL_CHECK_OK(pl_robot_examine(robot, findings, &err));
    assert_int_equal(count_saying(findings, "shares no vertex", PL_WARNING), 0);

    // both in the mesh of one body
    const pl_body_def one[] = {{.name = "both", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    const pl_fixed_def hold[] = {{.name = "l", .surface = "left.base", .axis = {true, true, true}},
                                 {.name = "r", .surface = "right.base", .axis = {true, true, true}}};
    def.body = one;
    def.body_count = 1;
    def.fixed = hold;
    pl_robot *joined = NULL;
    const pl_mesh *const both[] = {pl_robot_mesh(robot)};
    PL_CHECK_OK(pl_robot_create(&def, both, &joined, NULL, &err));
    PL_CHECK_OK(pl_robot_examine(joined, findings, &err));
    assert_int_equal(count_saying(findings, "part 2 of 2", PL_WARNING), 1);
    pl_robot_destroy(joined);
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);
    pl_findings_destroy(findings);
}

// A flat element is reported when the robot is made, and once.
static void test_flat_elements(void **state)
{
    (void)state;
    const pl_robot_def def = {.name = "test",
                              .body = body,
                              .body_count = 1,
                              .material = rubber,
                              .material_count = 1,
                              .fixed = base,
                              .fixed_count = 1};
    pl_mesh *mesh = fix_mesh(false, 1);
    double *x = (double *)pl_mesh_get(mesh).position; // not yet in use by a robot
    int64_t v = -1;
    for (int32_t i = 0; i < pl_mesh_get(mesh).vertex_count && v < 0; ++i) {
        v = x[3 * i] > 35 ? i : -1;
    }
    assert_true(v >= 0);
    x[3 * v] -= 0.9999 * (x[3 * v] - 30);
    pl_robot *robot = NULL;
    pl_findings *findings = pl_findings_create();
    PL_CHECK_OK(pl_robot_create(&def, (const pl_mesh *const *)&mesh, &robot, findings, &err));
    assert_int_equal(count_saying(findings, "flat (quality below 0.1)", PL_WARNING), 1);
    PL_CHECK_OK(pl_robot_examine(robot, findings, &err));
    assert_int_equal(count_saying(findings, "flat (quality below 0.1)", PL_WARNING), 1);
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);
    pl_findings_destroy(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_markers), cmocka_unit_test(test_cables),
                                       cmocka_unit_test(test_bodies_are_apart),
                                       cmocka_unit_test(test_flat_elements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
