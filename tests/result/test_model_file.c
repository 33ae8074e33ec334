// Reduced robots as files: what is written reads back as the same model, both kinds of robot open through one
// function, and no cut-off or mangled file crashes the reader.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/base.h"
#include "check.h"
#include "document/document.h"
#include "model/model.h"
#include "pliant/result.h"
#include "robot/robot_def.h"
#include "reduced/reduced.h"

static void test_designs_read(void **state)
{
    (void)state;
    for (int i = 0; i < pl_reduced_design_count(); ++i) {
        const char *yaml = pl_reduced_design_at(i)->robot_yaml;
        pl_error err = {0};
        pl_model *model = NULL;
        PL_CHECK_OK(pl_reduced_load_text(yaml, strlen(yaml), NULL, &model, NULL, &err));
        assert_true(pl_model_is_reduced(model));
        pl_model_destroy(model);
    }
}

static void test_written_reads_back(void **state)
{
    (void)state;
    const pl_section_def section[2] = {{.name = "a",
                                        .length = 60,
                                        .diameter = {14, 12},
                                        .EA = 90,
                                        .EI = {500, 450},
                                        .GJ = 300,
                                        .GA = {27, 26},
                                        .mass = 2e-7,
                                        .pieces = 6},
                                       {.name = "b",
                                        .length = 40,
                                        .diameter = {12, 10},
                                        .EA = 70,
                                        .EI = {300, 300},
                                        .GJ = 200,
                                        .GA = {20, 20},
                                        .pieces = 5}};
    const double waypoint[] = {0, 4, 0, 50, 3, 1, 100, 0, 4};
    const pl_line_actuator_def act[3] = {
        {.name = "t1",
         .kind = PL_CABLE,
         .drive = PL_DRIVE_SHORTENING,
         .has_range = true,
         .range = {0, 20},
         .rate = 7,
         .hardware = {.axis = 'E', .per_unit = 0.25, .reverse = true, .offset = 3, .feed = 90},
         .path = {.span = {0, 60}, .radius = {5, 3}, .angle = 1, .turns = 0.25}},
        {.name = "t2",
         .kind = PL_CABLE,
         .drive = PL_DRIVE_TENSION,
         .path = {.span = {0, 100}, .waypoint = waypoint, .waypoint_count = 3}},
        {.name = "c1",
         .kind = PL_CHAMBER,
         .drive = PL_DRIVE_PRESSURE,
         .area = 12,
         .effectiveness = {0.9, 1.1},
         .has_range = true,
         .range = {0, 0.1},
         .path = {.span = {0, 100}, .radius = {4, 4}, .angle = 2}}};
    const pl_line_marker_def tip = {.name = "tip-1.x", .at = 100, .offset = {1, 2, 3}};
    const pl_command_drive drive = {"c1", 0.5};
    const pl_command_def push = {.name = "push",
                                 .drive = &drive,
                                 .drive_count = 1,
                                 .one_sided = true,
                                 .has_range = true,
                                 .range = {-0.1, 0.2},
                                 .rate = 0.05};
    const pl_reduced_def def = {.name = "arm #1",
                                .command = &push,
                                .command_count = 1,
                                .kind = PL_ROD,
                                .base = {1, 2, 3},
                                .section = section,
                                .frame = {0, 0, 1, 1, 0, 0, 0, 1, 0},
                                .section_count = 2,
                                .actuator = act,
                                .actuator_count = 3,
                                .marker = &tip,
                                .marker_count = 1,
                                .gravity = {0, 0, -9810}};
    char path[] = "/tmp/pliant_model_XXXXXX";
    pl_error err = {0};
    pl_model *one = NULL, *two = NULL;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    PL_CHECK_OK(pl_reduced_write(&def, "# written by a test\n", path, &err));
    pl_robot_document *document = NULL;
    PL_CHECK_OK(pl_robot_document_read(path, &document, NULL, &err));
    assert_int_equal(pl_robot_document_kind(document), PL_ROBOT_REDUCED);
    pl_robot_document_destroy(document);
    PL_CHECK_OK(pl_reduced_create(&def, &one, NULL, &err));
    PL_CHECK_OK(pl_model_load(path, NULL, &two, NULL, &err));
    const double command[3] = {0.1, 4, 0.5}; // push, t1, t2
    pl_solve_report report;
    PL_CHECK_OK(pl_model_fk(one, command, &report, &err));
    PL_CHECK_OK(pl_model_fk(two, command, &report, &err));
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(pl_model_get_answer(two).marker[i], pl_model_get_answer(one).marker[i], 1e-6);
    }

    const pl_model_info info = pl_model_get_info(two);
    assert_string_equal(info.name, "arm #1");
    assert_string_equal(info.marker_name[0], "tip-1.x");
    PL_CHECK_NEAR(info.command[0].range[1], 0.2, 1e-12);
    PL_CHECK_NEAR(info.command[0].rate, 0.05, 1e-12);
    PL_CHECK_NEAR(info.command[1].range[1], 20, 1e-12);
    PL_CHECK_NEAR(info.command[1].rate, 7, 1e-12);
    const pl_actuator_info t1 = pl_model_actuator(two, 0), c1 = pl_model_actuator(two, 2);
    assert_true(t1.hardware->axis == 'E' && t1.hardware->reverse && c1.one_sided && c1.command == 0);
    PL_CHECK_NEAR(t1.hardware->per_unit, 0.25, 1e-12);
    PL_CHECK_NEAR(t1.hardware->offset, 3, 1e-12);
    PL_CHECK_NEAR(t1.hardware->feed, 90, 1e-12);
    pl_model_destroy(one);
    pl_model_destroy(two);
    remove(path);
}

#define ARM_TEXT(commands)                                                                                   \
    "{pliant: 1, name: \"a: 'b' #1\", \"model\": {kind: rod, sections: [{length: 100, diameter: 12,\n"       \
    "  young: 1 MPa, elements: 8}], tendons: [\n"                                                            \
    "  {name: left, radius: 5, angle: 0 deg, drive: shortening, range: [0, 20], rate: 4 mm/s},\n"            \
    "  {name: right, radius: 5, angle: 180 deg, drive: shortening, range: [0, 10], rate: 6 mm/s},\n"         \
    "  {name: top, radius: 5, angle: 90 deg, drive: shortening, range: [0, 9], rate: 3 mm/s}]},\n"           \
    " markers: {tip: {at: 100}},\n" commands " hardware: {top: {axis: X, per_unit: 0.5 mm, offset: 2}}}\n"

static pl_model *arm_read(const char *yaml)
{
    pl_error err = {0};
    pl_model *model = NULL;
    PL_CHECK_OK(pl_reduced_load_text(yaml, strlen(yaml), NULL, &model, NULL, &err));
    return model;
}

static void arm_tip(pl_model *model, const double *command, double tip[3])
{
    pl_error err = {0};
    pl_solve_report report;
    PL_CHECK_OK(pl_model_fk(model, command, &report, &err));
    assert_int_equal(report.outcome, PL_SOLVED);
    memcpy(tip, pl_model_get_answer(model).marker, 3 * sizeof *tip);
}

// The same rules as for robots with a mesh: who is driven by nobody keeps a command, antagonists take turns,
// the slowest actuator limits a command.
static void test_commands_as_of_every_robot(void **state)
{
    (void)state;
    pl_model *one = arm_read(ARM_TEXT("")),
             *two = arm_read(ARM_TEXT("commands: {lean: {drives: {left: 1, right: -2}, "
                                      "one_sided: true}},\n"));
    const pl_model_info info = pl_model_get_info(two);
    assert_int_equal(info.command_count, 2);
    assert_string_equal(info.command[0].name, "lean");
    assert_string_equal(info.command[1].name, "top");
    PL_CHECK_NEAR(info.command[0].range[0], -5, 1e-12); // right goes to 10 = -2 * -5
    PL_CHECK_NEAR(info.command[0].range[1], 20, 1e-12);
    PL_CHECK_NEAR(info.command[0].rate, 3, 1e-12); // right moves twice as fast as lean
    PL_CHECK_NEAR(info.command[1].rate, 3, 1e-12);
    for (int side = 0; side < 2; ++side) {
        const double lean[2] = {side ? -2.5 : 4, 1}, each[3] = {side ? 0 : 4, side ? 5 : 0, 1};
        double a[3], b[3], c[3];
        arm_tip(one, each, a);
        arm_tip(two, lean, b);
        const double h = 1e-4, more[2] = {lean[0] + h, 1}, less[2] = {lean[0] - h, 1};
        pl_error err = {0};
        pl_model_derivative d;
        pl_jacobian_report report = {0};
        PL_CHECK_OK(pl_model_differentiate(two, PL_PART_MARKER, 0, &d, &report, &err));
        assert_false(report.one_sided);
        double by[3] = {d.marker[0], d.marker[2], d.marker[4]};
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(b[i], a[i], 1e-9);
        }
        arm_tip(two, more, a);
        arm_tip(two, less, c);
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(by[i], (a[i] - c[i]) / (2 * h), 1e-5);
        }
    }

    pl_model_destroy(one);
    pl_model_destroy(two);
}

static void test_axes_reach_the_machine(void **state)
{
    (void)state;
    pl_model *model = arm_read(ARM_TEXT(""));
    pl_error err = {0};
    pl_motion motion;
    pl_motion_init(&motion, model, 0);
    for (int k = 0; k < 4; ++k) {
        const double command[3] = {0, 0, 2.0 * k};
        double tip[3];
        arm_tip(model, command, tip);
        const pl_model_answer answer = pl_model_get_answer(model);
        PL_CHECK_OK(pl_motion_add(&motion, 0.01 * k, tip, &answer, NULL, &err));
    }

    char path[] = "/tmp/pliant_gcode_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    PL_CHECK_OK(pl_motion_write_gcode(&motion, model, path, NULL, &err));
    char *text = NULL;
    size_t bytes = 0;
    PL_CHECK_OK(pl_file_read(path, &text, &bytes, &err));

    // 2 mm of cable are 4 units of the axis, at 3 mm/s of cable 6 units per second
    assert_non_null(strstr(text, "G1 X6.00000 F359.999"));
    assert_non_null(strstr(text, "G1 X14.00000 F359.999"));
    assert_non_null(strstr(text, "no axis moves left"));
    pl_file_free(text);
    remove(path);
    pl_motion_clear(&motion);
    pl_model_destroy(model);
}

static void test_wrong_commands_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *commands, *words;
    } wrong[] = {
        {"commands: {a: {drives: {left: 1}}, b: {drives: {left: 2}}},\n", "driven by two commands"},
        {"commands: {a: {drives: {left: 0}}},\n", "must be a number other than 0"},
        {"commands: {a: {drives: {lift: 1}}},\n", "there is no actuator 'lift'"},
        {"commands: {top: {drives: {left: 1}}},\n", "an actuator that it does not drive"},
        {"commands: {a: {drives: {left: 1}, rate: 3 kPa/s}},\n", "per second"},
    };
    for (int i = 0; i < PL_COUNT(wrong); ++i) {
        char yaml[1500];
        pl_error err = {0};
        pl_model *model = NULL;
        snprintf(yaml, sizeof yaml, ARM_TEXT("%s"), wrong[i].commands);
        assert_int_equal(pl_reduced_load_text(yaml, strlen(yaml), "arm.yaml", &model, NULL, &err),
                         PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].words) || !strstr(err.text, "arm.yaml:7:")) {
            print_error("'%s' does not say '%s' with its line\n", err.text, wrong[i].words);
            fail();
        }
    }
}

// Every prefix, and every file with one byte changed, is answered with sentences.
static void test_mangled_files_are_refused(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 11);
    for (int d = 0; d < pl_reduced_design_count(); ++d) {
        const char *yaml = pl_reduced_design_at(d)->robot_yaml;
        const size_t length = strlen(yaml);
        char *text = malloc(length + 1);
        for (int i = 0; i < 400; ++i) {
            pl_error err = {0};
            pl_model *model = NULL;
            memcpy(text, yaml, length + 1);
            const size_t cut = i < 200 ? length * (size_t)i / 200 : length;
            if (i >= 200) {
                static const char odd[] = "{}[]:,-#9.x\n \"'";
                text[(size_t)pl_random_uniform(&random, 0, (double)length)] =
                    odd[(size_t)pl_random_uniform(&random, 0, sizeof odd - 1.001)];
            }
            const pl_status status = pl_reduced_load_text(text, cut, NULL, &model, NULL, &err);
            assert_true(status == PL_OK ? model != NULL : model == NULL && err.text[0] != 0);
            pl_model_destroy(model);
        }
        free(text);
    }
}

static void test_defects_name_their_line(void **state)
{
    (void)state;
    static const char yaml[] = "pliant: 1\nmodel:\n  kind: rod\n  sections:\n"
                               "    - {name: a, length: 50, diameter: 5, young: 1 MPa}\n"
                               "  chambers:\n    - {name: c, radius: 2, area: 3, to: 80}\n"
                               "markers: {tip: {at: 90}}\nloads: {gravity: [0, 0, 9.81]}\n";
    static const struct {
        int line;
        const char *words;
    } want[] = {{9, "9.81"}};
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    pl_model *model = NULL;
    assert_int_equal(pl_reduced_load_text(yaml, strlen(yaml), "arm.yaml", &model, findings, &err),
                     PL_BAD_INPUT);
    bool found = false;
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        found = found || (f->line == want[0].line && strstr(f->text, want[0].words));
    }

    assert_true(found);
    pl_findings_destroy(findings);

    // without the load that has no unit, the chamber that leaves the body and the marker beyond it are seen
    findings = pl_findings_create();
    const size_t shorter = (size_t)(strstr(yaml, "loads:") - yaml);
    assert_int_equal(pl_reduced_load_text(yaml, shorter, "arm.yaml", &model, findings, &err), PL_BAD_INPUT);
    assert_int_equal(pl_findings_defect_count(findings), 2);
    assert_int_equal(pl_findings_at(findings, 0)->line, 7);
    assert_int_equal(pl_findings_at(findings, 1)->line, 8);
    pl_findings_destroy(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_designs_read),
        cmocka_unit_test(test_written_reads_back),
        cmocka_unit_test(test_commands_as_of_every_robot),
        cmocka_unit_test(test_axes_reach_the_machine),
        cmocka_unit_test(test_wrong_commands_are_refused),
        cmocka_unit_test(test_mangled_files_are_refused),
        cmocka_unit_test(test_defects_name_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
