// Reduced robots as files: what is written reads back as the same model, both kinds of robot open through one
// function, and no cut-off or mangled file crashes the reader.
#include <stdlib.h>
#include <unistd.h>
#include "base/base.h"
#include "check.h"
#include "pliant/io.h"

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
    const double way[] = {0, 4, 0, 50, 3, 1, 100, 0, 4};
    const pl_line_actuator_def act[3] = {
        {.name = "t1",
         .kind = PL_CABLE,
         .drive = PL_DRIVE_SHORTENING,
         .has_range = true,
         .range = {0, 20},
         .path = {.span = {0, 60}, .radius = {5, 3}, .angle = 1, .turns = 0.25}},
        {.name = "t2",
         .kind = PL_CABLE,
         .drive = PL_DRIVE_TENSION,
         .path = {.span = {0, 100}, .way = way, .way_count = 3}},
        {.name = "c1",
         .kind = PL_CHAMBER,
         .drive = PL_DRIVE_PRESSURE,
         .area = 12,
         .effectiveness = {0.9, 1.1},
         .has_range = true,
         .range = {0, 0.1},
         .path = {.span = {0, 100}, .radius = {4, 4}, .angle = 2}}};
    const pl_line_marker_def tip = {.name = "tip", .at = 100, .offset = {1, 2, 3}};
    const pl_reduced_def def = {.name = "arm",
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
    assert_true(pl_robot_file_is_reduced(path));
    PL_CHECK_OK(pl_reduced_create(&def, &one, NULL, &err));
    PL_CHECK_OK(pl_model_load(path, NULL, NULL, &two, NULL, &err));
    const double command[3] = {4, 0.5, 0.05};
    pl_statics_report report;
    PL_CHECK_OK(pl_model_fk(one, command, &report, &err));
    PL_CHECK_OK(pl_model_fk(two, command, &report, &err));
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(pl_model_get_answer(two).marker[i], pl_model_get_answer(one).marker[i], 1e-6);
    }
    PL_CHECK_NEAR(pl_model_get_info(two).command[0].range[1], 20, 1e-12);
    pl_model_destroy(one);
    pl_model_destroy(two);
    remove(path);
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
        cmocka_unit_test(test_mangled_files_are_refused),
        cmocka_unit_test(test_defects_name_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
