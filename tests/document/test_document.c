// Robot documents: parsed once, edited in every style of YAML, written again byte by byte; expressions.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "document/document_tree.h"
#include "text/text_expression.h"
#include "pliant/result.h"

static pl_robot_document *parse(const char *text)
{
    pl_robot_document *d = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_robot_document_parse(text, strlen(text), "r.yaml", &d, &err));
    return d;
}

static char *text_of(const pl_robot_document *d)
{
    char *text = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_robot_document_text(d, &text, NULL, &err));
    return text;
}

static void check_text_of(const pl_robot_document *d, const char *expected)
{
    char *text = text_of(d);
    assert_string_equal(text, expected);
    pl_file_free(text);
}

// The same robot in three styles; an edit changes one value and nothing else.
static void test_styles(void **state)
{
    (void)state;
    static const char *const before[] = {
        "# a robot\npliant: 1\nmaterials:\n  skin:\n    c10: 0.1 MPa   # soft\n    density: 1070 kg/m^3\n"
        "actuators:\n  - name: t1\n    radius: 4      # mm\n  - {name: t2, radius: 5}\n",
        "pliant: 1\nmaterials: {skin: {c10: 0.1 MPa, density: 1070 kg/m^3}}\n"
        "actuators: [{name: t1, radius: 4}, {radius: 5, name: t2}]\n",
        "{\"pliant\": 1, \"materials\": {\"skin\": {\"c10\": \"0.1 MPa\", \"density\": \"1070 kg/m^3\"}},\n"
        " \"actuators\": [{\"name\": \"t1\", \"radius\": 4}, {\"name\": \"t2\", \"radius\": 5}]}\n",
    };
    static const char *const after[] = {
        "# a robot\npliant: 1\nmaterials:\n  skin:\n    c10: 0.25 MPa  # soft\n    density: 1070 kg/m^3\n"
        "actuators:\n  - name: t1\n    radius: 4.125  # mm\n  - {name: t2, radius: 6}\n",
        "pliant: 1\nmaterials: {skin: {c10: 0.25 MPa, density: 1070 kg/m^3}}\n"
        "actuators: [{name: t1, radius: 4.125}, {radius: 6, name: t2}]\n",
        "{\"pliant\": 1, \"materials\": {\"skin\": {\"c10\": \"0.25 MPa\", \"density\": \"1070 kg/m^3\"}},\n"
        " \"actuators\": [{\"name\": \"t1\", \"radius\": 4.125}, {\"name\": \"t2\", \"radius\": 6}]}\n",
    };
    for (int i = 0; i < 3; ++i) {
        pl_robot_document *d = parse(before[i]), *copy = NULL;
        pl_error err = {0};
        double value = 0;
        char unit[16];
        PL_CHECK_OK(pl_robot_document_number(d, "materials.skin.c10", &value, unit, &err));
        PL_CHECK_NEAR(value, 0.1, 0);
        assert_string_equal(unit, "MPa");
        PL_CHECK_OK(pl_robot_document_copy(d, &copy, &err));
        PL_CHECK_OK(pl_robot_document_set_number(d, "materials.skin.c10", 0.25, &err));
        PL_CHECK_OK(pl_robot_document_set_number(d, "actuators.t1.radius", 4.125, &err));
        PL_CHECK_OK(pl_robot_document_set(d, "actuators.1.radius", "6", &err));
        check_text_of(d, after[i]);
        check_text_of(copy, before[i]);
        assert_int_equal(pl_robot_document_set_number(d, "materials.skim.c10", 1, &err), PL_BAD_INPUT);
        assert_int_equal(pl_robot_document_set_number(d, "actuators.t1.name", 1, &err), PL_BAD_INPUT);
        pl_robot_document_destroy(copy);
        pl_robot_document_destroy(d);
    }
}

// New entries and items, in both styles; materials by name; values in place of nothing.
static void test_additions(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_robot_document *d = parse("pliant: 1\nmesh:\n  design:\n    kind: tube  # a pipe\n  order: 1\n"
                                 "materials: {a: {c10: 1}}\nmarkers: {}\nspare:\n"
                                 "springs:\n  - {name: s, stiffness: 1}  # first\nloads: {x: [1, 2]}\n");
    PL_CHECK_OK(pl_robot_document_set(d, "design.wall", "3 mm", &err));
    PL_CHECK_OK(pl_robot_document_set(d, "materials.a", "dragon_skin_30", &err));
    PL_CHECK_OK(pl_robot_document_set(d, "markers.tip", "{at: [1, 2, 3]}", &err));
    PL_CHECK_OK(pl_robot_document_set(d, "spare", "7", &err));
    PL_CHECK_OK(pl_robot_document_set(d, "springs+", "[{name: q, from: \"a b\"}, {name: r}]", &err));
    PL_CHECK_OK(pl_robot_document_set(d, "loads.x+", "[3, 4]", &err));
    PL_CHECK_OK(pl_robot_document_set(d, "layers+", "[{name: l}]", &err));
    check_text_of(d, "pliant: 1\nmesh:\n  design:\n    kind: tube  # a pipe\n    wall: 3 mm\n  order: 1\n"
                     "materials: {a: {use: dragon_skin_30}}\nmarkers: {tip: {at: [1, 2, 3]}}\nspare: 7\n"
                     "springs:\n  - {name: s, stiffness: 1}  # first\n  - {name: q, from: \"a b\"}\n"
                     "  - {name: r}\nloads: {x: [1, 2, 3, 4]}\nlayers: [{name: l}]\n");
    assert_string_equal(pl_robot_document_value(d, "springs.r.name"), "r");
    assert_int_equal(pl_robot_document_set(d, "desing.wall", "3", &err), PL_BAD_INPUT);
    assert_int_equal(pl_robot_document_set(d, "springs.none.stiffness", "3", &err), PL_BAD_INPUT);
    assert_int_equal(pl_robot_document_set(d, "design.wall", "[1, 2", &err), PL_BAD_INPUT);
    pl_robot_document_destroy(d);
}

// Every number of every example, replaced alone: the text read again has that value, and all others as
// before.
static int check_leaves(pl_robot_document *whole, const doc_node *node, char *key, size_t used)
{
    int count = 0, index = 0;
    for (const doc_node *n = node->child; n; n = n->next, ++index) {
        char part[64];
        double value;
        size_t digits;
        snprintf(part, sizeof part, "%s%.50s", used ? "." : "", n->key ? n->key : "");
        if (!n->key) {
            snprintf(part, sizeof part, "%s%d", used ? "." : "", index);
        }
        snprintf(key + used, 400 - used, "%s", part);
        if (n->kind == DOC_SCALAR && text_quantity_split(n->text, &value, &digits)) {
            pl_robot_document *edited = NULL, *again = NULL;
            pl_error err = {0};
            double got = 0, number = value * 1.5 + 0.12345;
            char unit[16];
            PL_CHECK_OK(pl_robot_document_copy(whole, &edited, &err));
            PL_CHECK_OK(pl_robot_document_set_number(edited, key, number, &err));
            char *text = text_of(edited), *old = text_of(whole);
            again = parse(text);
            PL_CHECK_OK(pl_robot_document_number(again, key, &got, unit, &err));
            assert_true(got == number);
            // back to the old value: the old tree
            assert_true(pl_robot_document_fingerprint(again) == pl_robot_document_fingerprint(edited));
            PL_CHECK_OK(pl_robot_document_set_number(again, key, value, &err));
            PL_CHECK_OK(pl_robot_document_number(again, key, &got, unit, &err));
            assert_true(got == value);
            pl_file_free(text);
            pl_file_free(old);
            pl_robot_document_destroy(edited);
            pl_robot_document_destroy(again);
            ++count;
        }
        count += check_leaves(whole, n, key, strlen(key));
        key[used] = 0;
    }

    return count;
}

static void test_examples(void **state)
{
    (void)state;
    DIR *folder = opendir(PL_SOURCE_DIR "/examples");
    assert_non_null(folder);
    int files = 0, numbers = 0;
    for (const struct dirent *e; (e = readdir(folder));) {
        char path[600], key[400] = "";
        pl_robot_document *d = NULL;
        char *bytes = NULL;
        size_t length = 0;
        snprintf(path, sizeof path, PL_SOURCE_DIR "/examples/%s/robot.yaml", e->d_name);
        if (e->d_name[0] == '.' || pl_file_read(path, &bytes, &length, NULL) != PL_OK) {
            continue;
        }
        pl_error err = {0};
        PL_CHECK_OK(pl_robot_document_parse(bytes, length, path, &d, &err));
        check_text_of(d, bytes);
        numbers += check_leaves(d, d->root, key, 0);
        pl_robot_document_destroy(d);
        pl_file_free(bytes);
        ++files;
    }

    closedir(folder);
    print_message("%d files, %d numbers replaced one by one\n", files, numbers);
    assert_true(files > 3 && numbers > 100);
}

// UTF-8 in front of a value, a mark at the beginning, other line ends.
static void test_places(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_robot_document *d =
        parse("\xef\xbb\xbfname: \"\xc3\xa4\xe2\x82\xac\" # \xc2\xb5\r\nwall: 3 \xc2\xb5m # \xc2\xb5\r\n");
    PL_CHECK_OK(pl_robot_document_set_number(d, "wall", 40, &err));
    check_text_of(
        d, "\xef\xbb\xbfname: \"\xc3\xa4\xe2\x82\xac\" # \xc2\xb5\r\nwall: 40 \xc2\xb5m # \xc2\xb5\r\n");
    pl_robot_document_destroy(d);
}

// ---- how often a file is opened and parsed
static int opened, parsed;
static void count_log(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    opened += strstr(text, ": opened") != NULL;
    parsed += strstr(text, ": parsed") != NULL;
}

static void test_parsed_once(void **state)
{
    (void)state;
    static const char rod[] = "pliant: 1\nmodel: {kind: rod, length: 100, radius: 5}\n"
                              "materials: {m: {model: neo_hookean, c10: 0.1}}\n";
    char path[] = "/tmp/pliant_document_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, rod, strlen(rod)), (int)strlen(rod));
    close(file);
    pl_model *model = NULL;
    pl_error err = {0};
    pl_log_set(count_log, NULL, 2);
    (void)!pl_model_load(path, NULL, &model, NULL, &err);
    pl_log_set(NULL, NULL, 0);
    pl_model_destroy(model);
    unlink(path);
    print_message("a load opened the file %d times and parsed it %d times\n", opened, parsed);
    assert_int_equal(opened, 1);
    assert_int_equal(parsed, 1);
}

// ---- expressions
static const text_name names[] = {
    {"length", {.number = 120, .plain = true}, 1},
    {"wall", {.number = 2, .exponent = {1}}, 2}, // mm
    {"p0", {.number = 0.02, .exponent = {-1, 1, -2}}, 3},
    {"turn", {.number = 30 * 3.14159265358979323846 / 180, .exponent = {[5] = 1}}, 4},
};

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pl_dimension dimension;
        double value;
    } good[] = {
        {"length - 4", PL_DIM_LENGTH, 116},
        {"length-4", PL_DIM_LENGTH, 116},
        {"-length/2 + wall", PL_DIM_LENGTH, -58},
        {"2*wall", PL_DIM_LENGTH, 4},
        {"length - 2 cm", PL_DIM_LENGTH, 100},
        {"(length + 1 m) / 2", PL_DIM_LENGTH, 560},
        {"wall^2", PL_DIM_AREA, 4},
        {"-wall^2", PL_DIM_AREA, -4},
        {"pi * wall^2 / 4 * length", PL_DIM_AREA, 3.14159265358979323846 * 120},
        {"length * 10 * 3", PL_DIM_VOLUME, 3600},
        {"max(wall, 3)", PL_DIM_LENGTH, 3},
        {"min(wall, 3 cm)", PL_DIM_LENGTH, 2},
        {"sqrt(wall * 8 mm)", PL_DIM_LENGTH, 4},
        {"10 * sin(turn)", PL_DIM_LENGTH, 5},
        {"10 * sin(90 deg)", PL_DIM_LENGTH, 10},
        {"round(length / 7)", PL_DIM_NUMBER, 17},
        {"20 kPa + p0", PL_DIM_PRESSURE, 0.04},
        {"p0 * wall / (1 mm)", PL_DIM_STRESS, 0.04},
        {"50 % * wall", PL_DIM_LENGTH, 1},
        {"wall / 4 mm", PL_DIM_NUMBER, 0.5},
        {"1070 kg/m^3 * 2", PL_DIM_DENSITY, 2.14e-9},
        {"3 N mm / wall", PL_DIM_FORCE, 1.5},
        {"1e2 + 2.5e-1", PL_DIM_LENGTH, 100.25},
        {"2^3^2", PL_DIM_NUMBER, 512},
        {"7 - 2 - 1", PL_DIM_NUMBER, 4},
        {"12 / 2 / 3", PL_DIM_NUMBER, 2},
    };
    for (int i = 0; i < PL_COUNT(good); ++i) {
        text_value v;
        pl_error err = {0};
        double number = 0;
        assert_true(text_is_expression(names, PL_COUNT(names), good[i].text));
        pl_status status = text_evaluate(names, PL_COUNT(names), good[i].text, &v, &err);
        status = status == PL_OK ? text_value_as(&v, good[i].text, good[i].dimension, false, &number, &err)
                                 : status;
        if (status != PL_OK) {
            print_error("%s: %s\n", good[i].text, err.text);
        }
        assert_int_equal(status, PL_OK);
        PL_CHECK_NEAR(number, good[i].value, 1e-12 * (1 + fabs(good[i].value)));
    }
}

// What is refused, and the words of the refusal.
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        pl_dimension dimension;
    } bad[] = {
        {"lenght - 4", "no parameter 'lenght' (did you mean 'length'?)", PL_DIM_LENGTH},
        {"length -", "ends where", PL_DIM_LENGTH},
        {"(length", "')' is missing", PL_DIM_LENGTH},
        {"length 4", "expected an operator", PL_DIM_LENGTH},
        {"wall + p0", "cannot be combined: a length and a pressure", PL_DIM_LENGTH},
        {"p0 + 3", "needs a unit beside a pressure", PL_DIM_PRESSURE},
        {"length / 0", "no finite value", PL_DIM_LENGTH},
        {"sqrt(-wall*wall)", "no finite value", PL_DIM_LENGTH},
        {"sqrt(wall)", "no dimension", PL_DIM_LENGTH},
        {"sin(wall)", "expected an angle", PL_DIM_LENGTH},
        {"max(1)", "two values", PL_DIM_LENGTH},
        {"wall * wall", "is an area, expected a length", PL_DIM_LENGTH},
        {"length * 2", "could be Pa, kPa or MPa", PL_DIM_PRESSURE},
        {"wall / 4 mm + 1", "expected a length", PL_DIM_LENGTH},
        {"2 * (3 + ", "ends where", PL_DIM_LENGTH},
        {"length.x + 1", "expected an operator", PL_DIM_LENGTH},
        {"1e400 + length", "too large", PL_DIM_LENGTH},
        {"((((((((((((((((((((((((1))))))))))))))))))))))))", "nested too deeply", PL_DIM_LENGTH},
    };
    for (int i = 0; i < PL_COUNT(bad); ++i) {
        text_value v;
        pl_error err = {0};
        double number;
        pl_status status = text_evaluate(names, PL_COUNT(names), bad[i].text, &v, &err);
        status =
            status == PL_OK ? text_value_as(&v, bad[i].text, bad[i].dimension, false, &number, &err) : status;
        if (status == PL_OK || !strstr(err.text, bad[i].words)) {
            print_error("%s: %s\n", bad[i].text, status == PL_OK ? "accepted" : err.text);
        }
        assert_int_equal(status, PL_BAD_INPUT);
        assert_non_null(strstr(err.text, bad[i].words));
    }

    // texts that are not meant as expressions keep the messages of numbers
    static const char *const other[] = {"abc",   "20 kpa", "1,5",    "nan",       "1070 kg/m3",
                                        "120/n", "-5",     "20 kPa", "9.81 m/s^2"};
    for (int i = 0; i < PL_COUNT(other); ++i) {
        assert_false(text_is_expression(names, PL_COUNT(names), other[i]));
    }
}

// Parameters of a file and of its design, in the blocks that use them.
static void test_parameters(void **state)
{
    (void)state;
    static const char text[] =
        "pliant: 1\nparameters: {reach: 12 cm, inset: reach/30, push: 4 N}\n"
        "mesh: {design: {kind: cable_finger, length: reach, width: 20}}\n"
        "materials: {m: {model: neo_hookean, c10: 0.1}}\n"
        "markers: {tip: {at: [length - inset, 0, width/2]}, mid: {at: [length/2, 0, 0]}}\n"
        "loads: {forces: [{marker: tip, force: [0, 0, -push/2]}]}\n";
    pl_robot_document *d = parse(text);
    doc_robot_file f;
    doc_robot_file_read(&f, d);
    assert_int_equal(pl_findings_defect_count(f.findings), 0);
    PL_CHECK_NEAR(f.def.marker[0].at[0], 116, 1e-12);
    PL_CHECK_NEAR(f.def.marker[0].at[2], 10, 1e-12);
    PL_CHECK_NEAR(f.def.marker[1].at[0], 60, 1e-12);
    PL_CHECK_NEAR(f.def.force[0].force[2], -2, 1e-12);
    PL_CHECK_NEAR(f.def.body[0].source.parameter[0].value, 120, 1e-12);
    doc_robot_file_clear(&f);

    // an edit of a parameter moves what follows it; the document says which numbers are free
    pl_error err = {0};
    double value;
    char unit[16];
    PL_CHECK_OK(pl_robot_document_set_number(d, "reach", 9, &err));
    PL_CHECK_OK(pl_robot_document_evaluate(d, "markers.tip.at.0", PL_DIM_LENGTH, &value, &err));
    PL_CHECK_NEAR(value, 87, 1e-12);
    assert_int_equal(pl_robot_document_number(d, "markers.tip.at.0", &value, unit, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "r.yaml:5: 'markers.tip.at.0' is 'length - inset', expected a number"));
    pl_robot_document_destroy(d);
}

// Entries repeated in lists and blocks, one inside the other.
static void test_repeat(void **state)
{
    (void)state;
    static const char text[] =
        "pliant: 1\nparameters: {step: length/3}\nmesh: {design: {kind: beam, length: 90, sides: 2}}\n"
        "materials: {m: {model: neo_hookean, c10: 0.1}}\n"
        "markers:\n  first: {at: [0, 0, 0]}\n"
        "  repeat: {index: j, to: sides, each: {repeat: {index: i, to: 2 + $j,\n"
        "    each: {\"p$(i + 10*j)\": {at: [$i*step, $j, 0]}}}}}\n"
        "actuators:\n  - repeat: {index: k, to: 0, each: [{name: no$k}]}\n"
        "  - {name: t, kind: cable, drive: shortening, through: [[0, 0, 0], {repeat: {to: 3, each: [[$i, 0, "
        "0]]}}]}\n";
    pl_robot_document *d = parse(text);
    doc_robot_file f;
    doc_robot_file_read(&f, d);
    assert_int_equal(pl_findings_defect_count(f.findings), 0);
    assert_int_equal(f.def.marker_count, 1 + 3 + 4);
    assert_string_equal(f.def.marker[3].name, "p13");
    PL_CHECK_NEAR(f.def.marker[3].at[0], 90, 0);
    assert_string_equal(f.def.marker[7].name, "p24");
    PL_CHECK_NEAR(f.def.marker[7].at[1], 2, 0);
    assert_int_equal(f.def.actuator_count, 1);
    assert_int_equal(f.def.actuator[0].guide_count, 4);
    doc_robot_file_clear(&f);
    pl_robot_document_destroy(d);
}

static void test_wrong_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        int line;
    } bad[] = {
        {"pliant: 1\nparameters:\n  mm: 3\n", "'mm' cannot be the name of a parameter: it is a unit", 3},
        {"pliant: 1\nparameters:\n  a: c + 1\n  b: 2\n", "no parameter 'c'", 3},
        {"pliant: 1\nparameters:\n  a: [1]\n", "expected a number or an expression, found a list", 3},
        {"pliant: 1\nparameters: {length: 3}\nmesh:\n  design: {kind: beam, length: 5}\n",
         "length is 5, but the parameter of that name on line 2 is 3", 4},
        {"pliant: 1\nmesh: {design: {kind: beam, length: 5}}\nmarkers:\n  tip:\n    at: [lenth, 0, 0]\n",
         "expected a number, found 'lenth'", 5},
        {"pliant: 1\nmesh: {design: {kind: beam, length: 5}}\nmarkers:\n  tip:\n    at: [lenth + 1, 0, 0]\n",
         "no parameter 'lenth' (did you mean 'length'?); parameters are length", 5},
        {"pliant: 1\nmesh: {design: {kind: beam}}\nfixed:\n  - repeat: {to: 2.5, each: [{surface: a}]}\n",
         "repeat: to: expected a whole number, found 2.5", 4},
        {"pliant: 1\nmesh: {design: {kind: beam}}\nfixed:\n  - repeat: {to: 5000, each: [{surface: a}]}\n",
         "at most 1000", 4},
        {"pliant: 1\nmesh: {design: {kind: beam}}\nfixed:\n  - repeat: {to: 5, each: {surface: a}}\n",
         "repeat: each: expected a list, found a block of keys", 4},
        {"pliant: 1\nmesh: {design: {kind: beam}}\nfixed:\n  - repeat: {index: q, to: 2, each: [{surface: "
         "a$i}]}\n",
         "there is no parameter 'i'", 4},
    };
    for (int i = 0; i < PL_COUNT(bad); ++i) {
        pl_robot_document *d = parse(bad[i].text);
        pl_findings *findings = pl_findings_create();
        bool found = false;
        (void)!pl_robot_document_check(d, findings, NULL);
        for (int k = 0; k < pl_findings_count(findings); ++k) {
            const pl_finding *item = pl_findings_at(findings, k);
            found = found || (item->line == bad[i].line && strstr(item->text, bad[i].words));
        }
        for (int k = 0; !found && k < pl_findings_count(findings); ++k) {
            print_error("%d: %s\n", pl_findings_at(findings, k)->line, pl_findings_at(findings, k)->text);
        }
        assert_true(found);
        pl_findings_destroy(findings);
        pl_robot_document_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_styles),           cmocka_unit_test(test_additions),
        cmocka_unit_test(test_examples),         cmocka_unit_test(test_places),
        cmocka_unit_test(test_parsed_once),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_wrong_parameters), cmocka_unit_test(test_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
