// The record of a result in files: one set of keys for every kind of robot, null where there is nothing; rows
// that fit their head; files opened by the method they name.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "document/document.h"
#include "model/model_record.h"
#include "pliant/result.h"

static const char *const keys[] = {
    "format",      "pliant",         "robot",      "warnings",     "model",          "method",   "converged",
    "outcome",     "message",        "iterations", "increments",   "factorizations", "solves",   "residual",
    "step",        "seconds",        "energy",     "load_reached", "vertices",       "elements", "commands",
    "actuators",   "markers",        "sensors",    "sensor_units", "reactions",      "contacts", "min_J",
    "max_stretch", "negative_count", "mesh_error"};

static json_t *parse(const pl_record *record)
{
    char *text = pl_record_json(record, NULL);
    assert_non_null(text);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    pl_file_free(text);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (!json_object_get(root, keys[i])) {
            print_error("the record has no '%s'\n", keys[i]);
            fail();
        }
    }

    return root;
}

static int columns(const char *line)
{
    int count = 1;
    for (; *line; ++line) {
        count += *line == ',';
    }
    return count;
}

static void test_reduced(void **state)
{
    (void)state;
    const char *yaml = NULL;
    for (int i = 0; i < pl_reduced_design_count(); ++i) {
        if (strcmp(pl_reduced_design_at(i)->kind, "segment_beam") == 0) {
            yaml = pl_reduced_design_at(i)->robot_yaml;
        }
    }

    assert_non_null(yaml);
    pl_model *model = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_reduced_load_text(yaml, strlen(yaml), "segment.yaml", &model, NULL, &err));
    const double command[3] = {0.02, NAN, 0}; // MPa
    pl_solve_report report;
    const pl_record *record;
    PL_CHECK_OK(pl_model_fk(model, command, &report, &err));
    PL_CHECK_OK(pl_model_record(model, &report, &record, &err));
    json_t *root = parse(record);
    assert_string_equal(json_string_value(json_object_get(root, "model")), "beam");
    assert_true(json_is_true(json_object_get(root, "converged")));
    assert_true(json_is_null(json_object_get(root, "min_J")));
    assert_int_equal(json_object_size(json_object_get(root, "reactions")), 0);
    json_t *commands = json_object_get(root, "commands");
    PL_CHECK_NEAR(json_real_value(json_object_get(json_object_get(commands, "chamber1"), "value")), 20,
                  1e-12);
    assert_true(json_is_null(json_object_get(json_object_get(commands, "chamber2"), "value")));
    json_t *tip = json_object_get(json_object_get(json_object_get(root, "markers"), "tip"), "position");
    PL_CHECK_NEAR(json_real_value(json_array_get(tip, 2)), pl_model_get_answer(model).marker[2], 1e-15);
    json_t *chamber = json_object_get(json_object_get(root, "actuators"), "chamber1");
    PL_CHECK_NEAR(json_real_value(json_object_get(chamber, "pressure_kpa")), 20, 1e-9);
    assert_non_null(json_object_get(chamber, "ratio"));
    json_decref(root);
    char *head = pl_record_csv_head(record), *row = pl_record_csv_row(record);
    assert_int_equal(columns(head), columns(row));
    assert_memory_equal(head, "chamber1 [kPa],chamber2 [kPa],", 30);
    assert_memory_equal(row, "20,,0,1,solved,", 15);
    pl_file_free(head);
    pl_file_free(row);
    pl_model_destroy(model);
}

// Readings come by group and name.
static void test_readings(void **state)
{
    (void)state;
    const pl_record_reading reading[] = {{"springs", "s1", "tension", "N", 1.5},
                                         {"springs", "s1", "length", "mm", 20},
                                         {"springs", "s2", "tension", "N", NAN}};
    const pl_record record = {
        .robot = "r", .kind = "full", .method = "exact", .reading = reading, .reading_count = 3};
    json_t *root = parse(&record), *springs = json_object_get(root, "springs");
    PL_CHECK_NEAR(json_real_value(json_object_get(json_object_get(springs, "s1"), "length")), 20, 0);
    assert_true(json_is_null(json_object_get(json_object_get(springs, "s2"), "tension")));
    json_decref(root);
    char *head = pl_record_csv_head(&record);
    assert_non_null(strstr(head, "s1.tension [N],s1.length [mm],s2.tension [N]"));
    pl_file_free(head);
}

// A file that names local_global is answered by it, unless another method is asked for.
static void test_methods(void **state)
{
    (void)state;
    char folder[] = "/tmp/pliant-record-XXXXXX", path[200], mesh[200];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/robot.yaml", folder);
    snprintf(mesh, sizeof mesh, "%s/body.node", folder);

    // two tetrahedra on a common face
    const char *node = "5 3 0 0\n1 0 0 0\n2 10 0 0\n3 0 10 0\n4 0 0 10\n5 10 10 10\n";
    const char *ele = "2 4 0\n1 1 2 3 4\n2 2 3 4 5\n";
    const char *yaml = "pliant: 1\nname: two\nmesh: {file: body.node, unit: mm, order: 1}\n"
                       "materials: {m: {model: linear, young: 1 MPa, poisson: 0.3}}\nregions: {body: m}\n"
                       "surfaces: {base: {plane: {point: [0,0,0], normal: [1,0,0]}}}\n"
                       "fixed: [{surface: base}]\n"
                       "actuators: [{name: t, kind: cable, through: [[0.5,3,3],[5,5,5]], drive: shortening, "
                       "range: [0, 1]}]\nmarkers: {tip: {at: [10,10,10]}}\nsolver: {method: local_global, "
                       "actuation: constraint}\n";
    pl_error err = {0};
    PL_CHECK_OK(pl_file_write(mesh, node, strlen(node), &err));
    snprintf(mesh, sizeof mesh, "%s/body.ele", folder);
    PL_CHECK_OK(pl_file_write(mesh, ele, strlen(ele), &err));
    PL_CHECK_OK(pl_file_write(path, yaml, strlen(yaml), &err));
    static const char *const asked[] = {NULL, "exact"}, *const got[] = {"local_global", "exact"};
    for (int i = 0; i < 2; ++i) {
        pl_model *model = NULL;
        pl_model_load_options options = {.method = asked[i]};
        PL_CHECK_OK(pl_model_load(path, &options, &model, NULL, &err));
        assert_string_equal(pl_model_get_info(model).method, got[i]);
        pl_model_destroy(model);
    }

    pl_model *model = NULL;
    assert_int_equal(pl_model_load(path, &(pl_model_load_options){.method = "guess"}, &model, NULL, &err),
                     PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "guess"));
    assert_int_equal(pl_model_load(path, &(pl_model_load_options){.displacement = true}, &model, NULL, &err),
                     PL_BAD_INPUT);
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduced), cmocka_unit_test(test_readings),
                                       cmocka_unit_test(test_methods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
