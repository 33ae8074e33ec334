// Every design, at its defaults and changed: no inverted element, the closed-form volumes, the names it
// promises.
#include "meshing_tools.h"
#include "meshing/meshing.h"

typedef struct design_case {
    const char *kind;
    const char *regions[7], *cavities[4], *surfaces[6];
    pl_source_parameter changed[4];
    int changed_count;
    double size;
} design_case;

static const design_case cases[] = {
    {"bending_finger", {"skin", "layer"}, {"cavity"}, {"base", "tip", "bottom"}, {{0}}, 0, 5},
    {"bending_finger",
     {"skin", "layer"},
     {"cavity"},
     {"base", "tip", "bottom"},
     {{"modules", 3, 0}, {"length", 60, 0}, {"slot", 4, 0}},
     3,
     5},
    {"bending_finger",
     {"skin", "layer"},
     {"cavity"},
     {"base", "tip"},
     {{"modules", 1, 0}, {"length", 20, 0}},
     2,
     5},
    {"cable_finger", {"body"}, {NULL}, {"base", "tip", "back"}, {{0}}, 0, 8},
    {"cable_finger", {"body"}, {NULL}, {"base", "tip", "back"}, {{"knuckles", 5, 0}}, 1, 8},
    {"three_chamber", {"body"}, {"chamber1", "chamber2", "chamber3"}, {"base", "tip"}, {{0}}, 0, 8},
    {"three_chamber",
     {"body"},
     {"chamber1", "chamber3"},
     {"base", "tip"},
     {{"cap", 20, 0}, {"height", 80, 0}},
     2,
     8},
    {"segment", {"body"}, {"chamber1", "chamber2", "chamber3"}, {"base", "tip"}, {{0}}, 0, 4.5},
    {"segment", {"body", "base_cap", "tip_cap"}, {"chamber2"}, {"base", "tip"}, {{"caps", 1, 0}}, 1, 6},
    {"specimen", {"soft", "stiff"}, {NULL}, {"base", "tip", "interface"}, {{0}}, 0, 6},
    {"specimen", {"soft", "stiff"}, {NULL}, {"base", "tip", "interface"}, {{"soft_length", 7.5, 0}}, 1, 0},
    {"beam", {"body"}, {NULL}, {"base", "tip", "top", "bottom"}, {{0}}, 0, 0},
    {"beam", {"body"}, {NULL}, {"base", "tip", "top", "bottom"}, {{"height", 2, 0}, {"length", 20, 0}}, 2, 0},
    {"sphere_shell", {"shell"}, {"cavity"}, {"outer", "sx", "sy", "sz"}, {{0}}, 0, 5},
    {"sphere_shell", {"shell"}, {NULL}, {"cavity", "outer", "sx", "sy", "sz"}, {{"octant", 1, 0}}, 1, 3},
    {"planar_arm",
     {"body", "spine", "base_plate", "plate1", "plate2", "plate3"},
     {"left1", "right2", "left3"},
     {"base", "tip", "end1", "end2"},
     {{"cells", 1, 0}, {"section2", 45, 0}},
     2,
     20},
    {"knuckle_finger", {"body"}, {NULL}, {"base", "tip", "back"}, {{0}}, 0, 9},
    {"knuckle_finger", {"body"}, {NULL}, {"base", "tip"}, {{"knuckles", 2, 0}, {"notch_depth", 12, 0}}, 2, 9},
    {"gripper_finger", {"near", "far"}, {NULL}, {"base", "tip", "back"}, {{0}}, 0, 9},
    {"gripper_finger",
     {"near", "far"},
     {NULL},
     {"base", "tip"},
     {{"split", 10, 0}, {"knuckles", 3, 0}},
     2,
     9},
    {"tentacle", {"body"}, {NULL}, {"base", "tip"}, {{0}}, 0, 14},
    {"fiber_bender", {"wall", "floor"}, {"cavity"}, {"base", "tip", "bottom", "outside"}, {{0}}, 0, 8},
    {"tentacle", {"body"}, {NULL}, {"base", "tip"}, {{"length", 90, 0}, {"tip_diameter", 6, 0}}, 2, 12},
    {"parallel", {"body"}, {NULL}, {"base", "tip"}, {{0}}, 0, 18},
    {"parallel", {"body"}, {NULL}, {"base", "tip"}, {{"knee", 40, 0}, {"platform", 60, 0}}, 2, 18},
    {"bellows_trunk",
     {"body"},
     {"chamber1", "chamber2", "chamber3"},
     {"base", "tip"},
     {{"folds", 1, 0}},
     1,
     14},
    {"bellows_trunk", {"body"}, {"chamber2"}, {"base", "tip"}, {{"folds", 2, 0}, {"wall", 4, 0}}, 2, 16},
    {"cbha",
     {"body"},
     {"bellows1", "bellows2", "bellows6"},
     {"base", "tip"},
     {{"folds", 1, 0}, {"gap", 20, 0}, {"wall", 6, 0}},
     3,
     40},
    {"twister",
     {"body"},
     {"cavity"},
     {"base", "tip", "outside"},
     {{"length", 60, 0}, {"turns", 0.5, 0}},
     2,
     10},
    {"membrane", {"sheet"}, {NULL}, {"rim", "top", "bottom"}, {{"side", 60, 0}}, 1, 0},
    {"pillows",
     {"plate"},
     {"chamber1"},
     {"base", "top"},
     {{"side", 120, 0}, {"across", 1, 0}, {"wall", 20, 0}},
     3,
     30},
    {"dea_crawler", {"rim", "film", "frame"}, {NULL}, {NULL}, {{0}}, 0, 6},
    {"dea_crawler", {"rim", "film", "frame"}, {NULL}, {NULL}, {{"foot", 12, 0}, {"film", 0.2, 0}}, 2, 0},
    {"tube", {"tube"}, {"cavity"}, {"outer", "sx", "sy", "bottom", "top"}, {{0}}, 0, 4},
    {"tube", {"tube"}, {NULL}, {"cavity", "outer", "sx", "sy"}, {{"quarter", 1, 0}, {"wall", 2, 0}}, 2, 3},
};

static pl_mesh_source case_source(const design_case *c)
{
    return (pl_mesh_source){.kind = PL_SOURCE_DESIGN,
                            .design = c->kind,
                            .parameter = c->changed,
                            .parameter_count = c->changed_count,
                            .size = c->size,
                            .order = 2};
}

static void check_volume(const design_case *c, const char *name, double got)
{
    const double want = pl_design_volume(c->kind, c->changed, c->changed_count, name);
    print_message("%s %s: %.3f mm^3, closed form %.3f\n", c->kind, name, got, want);
    assert_true(want > 0);
    PL_CHECK_NEAR(got, want, 0.01 * want);
}

static void check_case(const design_case *c)
{
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    pl_findings *findings = pl_findings_create();
    const pl_mesh_source source = case_source(c);

    PL_CHECK_OK(tools_build(&source, &mesh, findings, &err));
    assert_int_equal(pl_findings_defect_count(findings), 0);
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    const pl_mesh_view view = pl_mesh_get(mesh);
    print_message("%s: %d elements, worst quality %.3f, %d slivers\n", c->kind, view.element_count, q.worst,
                  q.sliver_count);
    assert_int_equal(q.inverted_count, 0);
    int regions = 0;
    for (int i = 0; i < 7 && c->regions[i]; ++i, ++regions) {
        const int32_t r = pl_mesh_find_region(mesh, c->regions[i]);
        assert_true(r >= 0);
        check_volume(c, c->regions[i], pl_mesh_region_volume(mesh, r));
    }

    assert_int_equal(view.region_count, regions);
    for (int i = 0; i < 4 && c->cavities[i]; ++i) {
        check_volume(c, c->cavities[i], tools_enclosed(mesh, c->cavities[i]));
    }
    for (int i = 0; i < 6 && c->surfaces[i]; ++i) {
        assert_true(tools_area(mesh, c->surfaces[i]) > 0);
    }
    pl_findings_destroy(findings);
    pl_mesh_destroy(mesh);
}

static void test_designs_have_their_volumes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        check_case(&cases[i]);
    }
}

// The same source gives the same mesh, to the bit.
static void test_designs_repeat(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh[2] = {NULL, NULL};
    const pl_mesh_source source = case_source(&cases[1]);
    for (int i = 0; i < 2; ++i) {
        PL_CHECK_OK(tools_build(&source, &mesh[i], NULL, &err));
    }

    const pl_mesh_view a = pl_mesh_get(mesh[0]), b = pl_mesh_get(mesh[1]);
    assert_int_equal(a.vertex_count, b.vertex_count);
    assert_int_equal(a.element_count, b.element_count);
    assert_memory_equal(a.position, b.position, 3 * (size_t)a.vertex_count * sizeof(double));
    assert_memory_equal(a.node, b.node, (size_t)a.node_start[a.element_count] * sizeof(int32_t));
    pl_mesh_destroy(mesh[0]);
    pl_mesh_destroy(mesh[1]);
}

// Wrong parameters are refused, and the sentence names them.
static void test_designs_refuse_nonsense(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        pl_source_parameter p;
        const char *word;
    } wrong[] = {
        {"bending_finger", {"lenght", 100, 4}, "length"},
        {"bending_finger", {"length", -3, 4}, "length"},
        {"bending_finger", {"length", NAN, 4}, "length"},
        {"bending_finger", {"modules", 2.5, 4}, "modules"},
        {"bending_finger", {"modules", 40, 4}, "modules"},
        {"bending_finger", {"channel_width", 18, 4}, "channel_width"},
        {"bending_finger", {"side_wall", 10, 4}, "side_wall"},
        {"bending_finger", {"height", 6, 4}, "height"},
        {"cable_finger", {"notch_depth", 24.5, 4}, "notch_depth"},
        {"cable_finger", {"notch_width", 60, 4}, "notch_width"},
        {"three_chamber", {"chamber_diameter", 24, 4}, "chamber_diameter"},
        {"three_chamber", {"cap", 68, 4}, "cap"},
        {"segment", {"chamber_offset", 3, 4}, "chamber_offset"},
        {"sphere_shell", {"octant", 2, 4}, "octant"},
        {"tube", {"wall", 0, 4}, "wall"},
        {"dea_crawler", {"foot", 34, 4}, "foot"},
        {"dea_crawler", {"rail", 19, 4}, "rail"},
        {"knuckle_finger", {"notch_flat", 20, 4}, "notch_flat"},
        {"gripper_finger", {"split", 60, 4}, "split"},
        {"tentacle", {"tip_diameter", 40, 4}, "tip_diameter"},
        {"parallel", {"knee", 120, 4}, "knee"},
        {"bellows_trunk", {"cell_radius", 13, 4}, "cell_radius"},
        {"bellows_trunk", {"folds", 12, 4}, "folds"},
        {"cbha", {"folds", 9, 4}, "folds"},
        {"cbha", {"neck", 0.2, 4}, "neck"},
        {"planar_arm", {"cells", 12, 4}, "cells"},
        {"planar_arm", {"fold", 11, 4}, "fold"},
        {"bending_fingr", {"wall", 2, 4}, "bending_finger"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        pl_error err = {0};
        pl_mesh *mesh = NULL;
        const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN,
                                       .design = wrong[i].kind,
                                       .parameter = &wrong[i].p,
                                       .parameter_count = 1,
                                       .order = 2,
                                       .file = "robot.yaml",
                                       .line = 3};
        assert_int_equal(tools_build(&source, &mesh, NULL, &err), PL_BAD_INPUT);
        assert_null(mesh);
        assert_int_equal(err.status, PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].word) || !strstr(err.text, "robot.yaml:")) {
            print_error("case %zu: \"%s\" does not name %s\n", i, err.text, wrong[i].word);
            fail();
        }
    }
}

// Every parameter stands in the robot file with its default, and defaults lie inside their limits.
static void test_designs_yaml_spells_defaults(void **state)
{
    (void)state;
    for (int i = 0; i < pl_design_count(); ++i) {
        const pl_design *d = pl_design_at(i);
        assert_ptr_equal(pl_design_find(d->kind), d);
        for (int k = 0; k < d->parameter_count; ++k) {
            const pl_design_parameter *p = &d->parameter[k];
            char line[128];
            // files from before `caps` name no materials for them: only new ones have them
            const bool newer = strcmp(d->kind, "segment") == 0 && strcmp(p->name, "caps") == 0;
            snprintf(line, sizeof line, "    %s: %g", p->name, newer ? 1 : p->value);
            const char *found = strstr(d->robot_yaml, line);
            if (!found) { // given by a parameter of the file
                char reference[128];
                snprintf(reference, sizeof reference, "    %s: %s ", p->name, p->name);
                snprintf(line, sizeof line, "\nparameters: {%s: %g}", p->name, p->value);
                found = strstr(d->robot_yaml, reference) ? strstr(d->robot_yaml, line) : NULL;
            }
            if (!found || !strchr(" \n", found[strlen(line)])) {
                print_error("%s: robot file lacks \"%s\"\n", d->kind, line);
                fail();
            }
            assert_true(p->value >= p->low && p->value <= p->high);
        }
    }

    assert_null(pl_design_at(pl_design_count()));
    assert_null(pl_design_find("nothing"));
    PL_CHECK_BELOW(pl_design_volume("beam", NULL, 0, "nothing"), -1);
}

// The chamber of a twister goes around the axis in proportion to z, at its distance from it.
static void test_designs_twister_turns(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const pl_source_parameter changed[] = {{"length", 60, 0}, {"turns", 0.75, 0}};
    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN,
                                   .design = "twister",
                                   .parameter = changed,
                                   .parameter_count = 2,
                                   .size = 10,
                                   .order = 1};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int32_t cavity = pl_mesh_find_surface(mesh, "cavity");
    int seen = 0;
    for (int64_t f = v.surface_start[cavity]; f < v.surface_start[cavity + 1]; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(mesh, v.surface_face[f], node);
        for (int k = 0; k < count; ++k) {
            const double *x = v.position + 3 * (int64_t)node[k];
            const double angle = 2 * acos(-1.0) * 0.75 * x[2] / 60;
            const double away = hypot(x[0] - 3 * cos(angle), x[1] - 3 * sin(angle));
            PL_CHECK_BELOW(away, 2.7 + 1e-6);
            if (x[2] > 6.1 && x[2] < 53.9) { // not on the flat ends
                PL_CHECK_NEAR(away, 2.7, 1e-6);
                ++seen;
            }
        }
    }

    assert_true(seen > 100);
    pl_mesh_destroy(mesh);
}

static bool stop_at_half(void *user, double fraction, const char *what)
{
    (void)what;
    *(double *)user = fraction;
    return fraction < 0.5;
}

// A stop asked for between stages ends the work, and the next call works again.
static void test_designs_stop(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    double reached = 0;
    const pl_progress progress = {stop_at_half, &reached};
    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = "beam", .order = 1};
    assert_int_equal(pl_meshing_mesher()->build(NULL, &source, &progress, &mesh, NULL, &err), PL_INTERRUPTED);
    assert_null(mesh);
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_designs_have_their_volumes),
        cmocka_unit_test(test_designs_repeat),
        cmocka_unit_test(test_designs_refuse_nonsense),
        cmocka_unit_test(test_designs_yaml_spells_defaults),
        cmocka_unit_test(test_designs_twister_turns),
        cmocka_unit_test(test_designs_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
