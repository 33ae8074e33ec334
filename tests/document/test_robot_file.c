// Robot files: good ones become the robot they describe; several defects are reported in one go; ten
// thousand mutated ones only ever get a status.
#include <sys/stat.h>
#include <unistd.h>
#include "document/robot_text.h"
#include "pliant/motion.h"
#include "meshfile/meshfile.h"

static const char everything[] =
    "pliant: 1\n"
    "name: all-keys\n"
    "mesh:\n"
    "  design: {kind: block, scale: 1}\n"
    "  unit: mm\n"
    "  size: 5 mm\n"
    "  order: 2\n"
    "surfaces:\n"
    "  hole: {seen_from: [15, 15, 15]}\n"
    "  end: {plane: {point: [40, 0, 0], normal: [2, 0, 0]}}\n"
    "  side: {box: [[-1, -1, -1], [41, 1 mm, 31]]}\n"
    "materials:\n"
    "  soft: {model: neo_hookean, c10: 0.1, poisson: 0.49, density: 1070 kg/m^3}\n"
    "  fabric: {model: linear, young: 30 MPa, poisson: 0.4, formulation: displacement}\n"
    "  measured: {use: dragon_skin_20, density: 1 g/cm^3}\n"
    "regions: {skin: soft, layer: fabric, plug: measured}\n"
    "fixed:\n"
    "  - {surface: base, name: wall}\n"
    "  - surface: end\n"
    "    axes: [x, y, z]\n"
    "    move: [0, 1, 0]\n"
    "    rotate: {axis: [0, 0, 2], angle: 90 deg, about: [40, 15, 15]}\n"
    "actuators:\n"
    "  - {name: brake, kind: cable, drive: tension, range: [0, 60 mN], radius: 8,\n"
    "     through: [[5, 15, 25], [35, 15, 25]]}\n"
    "  - {name: pump, kind: chamber, surface: hole, drive: syringe, fluid: gas,\n"
    "     line_volume: 2 mL, ambient: 1 bar, range: [0, 3 mL], idle: hold}\n"
    "  - {name: tendon, kind: cable, drive: shortening, range: [0, 1 cm], radius: 8, rate: 6 mm/s,\n"
    "     through: [{at: [5, 15, 25], radius: 0.9 cm}, [35, 15, 25], {at: [90, 15, 25], space: true}]}\n"
    "  - {name: film, kind: film, surface: top, drive: voltage, thickness: 50 um,\n"
    "     permittivity: 3, range: [0, 5 kV]}\n"
    "commands:\n"
    "  bend: {drives: {tendon: 2}, range: [0, 4], rate: 5 mm/s}\n"
    "hardware:\n"
    "  tendon: {axis: Y, per_unit: 0.5 mm, reverse: true, offset: 3, feed: 1200, range: [-50, 50]}\n"
    "  pump: {axis: E, per_unit: 0.25 mL, below_zero: pull}\n"
    "markers:\n"
    "  tip: {surface: tip}\n"
    "  dot: {at: [20, 15, 3 cm], radius: 8}\n"
    "sensors:\n"
    "  - {name: string1, kind: length, through: [[0, 5, 0], [40, 5, 0]]}\n"
    "  - {name: v, kind: volume, actuator: pump}\n"
    "  - {name: p, kind: pressure, actuator: pump}\n"
    "loads:\n"
    "  gravity: [0, 0, -9.81 m/s^2]\n"
    "  forces: [{marker: tip, force: [0, 0, -500 mN], moment: [0, 0, 1 N m]}]\n"
    "  pressures: [{surface: side, pressure: 1 kPa}]\n"
    "solver: {method: exact, length_tolerance: 1 um, iteration_limit: 50, warp: false,\n"
    "  linear_solver: cholmod, formulation: displacement, time_limit: 2 min}\n";

// Everything that can be found without a mesh.
static pl_status check_text(const char *text, size_t length, const char *path, pl_findings *findings,
                            pl_error *err)
{
    pl_robot_document *document = NULL;
    pl_status status = pl_robot_document_parse(text, length, path, &document, err);
    status = status == PL_OK ? pl_robot_document_check(document, findings, err) : status;
    pl_robot_document_destroy(document);
    return status;
}

static void test_everything(void **state)
{
    (void)state;
    pl_error err;
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = NULL;
    const pl_status status = load(everything, &robot, findings, &err);
    if (status != PL_OK) {
        fix_print_findings(findings);
    }
    PL_CHECK_OK(status);
    assert_string_equal(pl_robot_name(robot), "all-keys");
    PL_CHECK_NEAR(pl_robot_actuator(robot, 1).rest, 2000, 1e-8);
    PL_CHECK_NEAR(pl_robot_actuator(robot, 0).range[1], 0.06, 1e-15);
    PL_CHECK_NEAR(pl_robot_actuator(robot, 2).rest, 85, 1e-8);

    // the command's own limit is 5, its actuator's 6 over the factor 2
    PL_CHECK_NEAR(pl_robot_command(robot, pl_robot_find_command(robot, "bend")).rate, 3, 1e-12);
    PL_CHECK_NEAR(pl_robot_command(robot, pl_robot_find_command(robot, "brake")).rate, 0, 0);
    assert_true(pl_robot_actuator(robot, 1).hardware->below_zero == PL_BELOW_PULL);
    const pl_hardware motor = *pl_robot_actuator(robot, 2).hardware,
                      pump = *pl_robot_actuator(robot, 1).hardware;
    assert_true(motor.axis == 'Y' && motor.reverse && motor.has_range && pump.axis == 'E' && !pump.reverse);
    PL_CHECK_NEAR(motor.per_unit, 0.5, 0);
    PL_CHECK_NEAR(motor.offset, 3, 0);
    PL_CHECK_NEAR(motor.feed, 1200, 0);
    PL_CHECK_NEAR(pump.per_unit, 250, 1e-12);

    // what the motor winds: the shortening itself; an idle cable is let out, never wound
    const pl_actuator_info wound = pl_robot_actuator(robot, 2), pushed = pl_robot_actuator(robot, 1);
    PL_CHECK_NEAR(pl_actuator_travel(&wound, 4, 81), 4, 0);
    PL_CHECK_NEAR(pl_actuator_travel(&wound, NAN, 87), -2, 1e-8);
    PL_CHECK_NEAR(pl_actuator_travel(&wound, NAN, 80), 0, 0);
    PL_CHECK_NEAR(pl_actuator_travel(&pushed, 1500, 0), 1500, 0);
    PL_CHECK_NEAR(robot->actuator[1].line_volume, 2000, 1e-12);
    PL_CHECK_NEAR(robot->actuator[1].ambient, 0.1, 1e-15);
    assert_true(robot->actuator[1].idle_hold);
    PL_CHECK_NEAR(robot->actuator[3].thickness, 0.05, 1e-15);
    PL_CHECK_NEAR(pl_robot_actuator(robot, 3).rest, 1200, 1e-8);
    assert_string_equal(pl_robot_command(robot, 0).name, "bend");
    assert_int_equal(pl_robot_command_count(robot), 4);
    PL_CHECK_NEAR(robot->actuator[2].factor, 2, 0);
    PL_CHECK_NEAR(robot->gravity[2], -9810, 1e-9);
    PL_CHECK_NEAR(robot->force[0].force[2], -0.5, 1e-15);
    PL_CHECK_NEAR(robot->force[0].moment[2], 1000, 1e-9);
    PL_CHECK_NEAR(robot->pressure[0].pressure, 1e-3, 1e-18);
    PL_CHECK_NEAR(robot->support[1].rotate[2], 1.57079632679489662, 1e-15);
    PL_CHECK_NEAR(robot->support[1].about[0], 40, 0);
    assert_string_equal(pl_robot_fixed_name(robot, 0), "wall");
    assert_string_equal(pl_robot_fixed_name(robot, 1), "end");
    assert_string_equal(pl_robot_region_material(robot, pl_mesh_find_region(robot->mesh, "layer")), "fabric");
    assert_int_equal(pl_robot_material(robot, 1).formulation, PL_DISPLACEMENT);
    PL_CHECK_NEAR(pl_robot_material(robot, 0).density, 1.07e-9, 1e-22);
    PL_CHECK_NEAR(pl_robot_material(robot, 2).density, 1e-9, 1e-22);
    assert_int_equal(pl_robot_sensor_count(robot), 3);
    assert_int_equal(pl_mesh_get(robot->mesh).kind[0], PL_TET10);

    // the same text gives the same robot
    pl_robot *again = NULL;
    PL_CHECK_OK(load(everything, &again, NULL, &err));
    assert_true(pl_robot_hash(robot) == pl_robot_hash(again));
    pl_robot_destroy(again);
    pl_robot_destroy(robot);
    pl_findings_destroy(findings);
}

static const char two_bodies[] =
    "pliant: 1\n"
    "bodies:\n"
    "  - name: left\n"
    "    mesh: {design: {kind: block}, order: 1}\n"
    "    fixed: [{surface: base}]\n"
    "    markers: {tip: {at: [40, 15, 15]}}\n"
    "  - name: right\n"
    "    pose: {rotate: {axis: [0, 0, 1], angle: 180 deg}, move: [150, 30, 0]}\n"
    "    mesh: {design: {kind: block}, order: 1}\n"
    "    surfaces: {far: {plane: {point: [40, 0, 0], normal: [1, 0, 0]}}}\n"
    "    regions: {skin: rubber, layer: rubber, plug: rubber}\n"
    "    fixed: [{box: [[-1, -1, -1], [1, 31, 31]]}]\n"
    "    actuators: [{name: air, kind: chamber, surface: cavity, drive: volume_ratio}]\n"
    "    markers: {tip: {at: [40, 15, 15]}, end: {surface: far}}\n"
    "    sensors: [{name: v, kind: volume, actuator: air}]\n"
    "materials: {rubber: {model: yeoh, c10: 0.1, c20: 0.01, c30: 0.001}}\n"
    "regions: {left.skin: rubber, left.layer: rubber, left.plug: rubber}\n"
    "loads: {forces: [{marker: right.tip, force: [1, 0, 0]}]}\n";

// Two fingers that face each other: points of the second are turned and moved with it.
static void test_two_bodies(void **state)
{
    (void)state;
    pl_error err;
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = NULL;
    const pl_status status = load(two_bodies, &robot, findings, &err);
    if (status != PL_OK) {
        fix_print_findings(findings);
    }
    PL_CHECK_OK(status);
    static const double want[3][3] = {{40, 15, 15}, {110, 15, 15}, {110, 15, 15}};
    for (int i = 0; i < 3; ++i) {
        double position[3], distance;
        pl_robot_marker_rest(robot, i, position, &distance);
        for (int k = 0; k < 3; ++k) {
            PL_CHECK_NEAR(position[k], want[i][k], 1e-9);
        }
        PL_CHECK_NEAR(distance, 0, 1e-9);
    }

    assert_string_equal(pl_robot_actuator(robot, 0).name, "right.air");
    assert_string_equal(pl_robot_sensor_name(robot, 0), "right.v");
    PL_CHECK_NEAR(pl_robot_actuator(robot, 0).rest, 2000, 1e-8);
    assert_int_equal(robot->support[0].node_count, 16);
    assert_int_equal(robot->support[1].node_count, 16);
    assert_int_equal(pl_mesh_get(robot->mesh).kind[0], PL_TET4);
    pl_robot_destroy(robot);
    pl_findings_destroy(findings);
}

// Springs to space and between markers, with units; the rest length defaults to the distance.
static void test_springs(void **state)
{
    (void)state;
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = NULL;
    pl_error err = {0};
    PL_CHECK_OK(
        load(GOOD_HEAD FIXED
             "markers: {tip: {at: [10, 10, 10]}, mid: {at: [5, 10, 10]}}\nsprings:\n"
             "- {name: s1, from: tip, to: [3 cm, 10, 10], stiffness: 200 N/m}\n"
             "- {name: s2, from: tip, to: mid, stiffness: 2, rest_length: 4 mm, mode: tension_only}\n",
             &robot, findings, &err));
    assert_int_equal(robot->spring_count, 2);
    const pl_spring *a = &robot->spring[0], *b = &robot->spring[1];
    PL_CHECK_NEAR(a->stiffness, 0.2, 1e-15);
    PL_CHECK_NEAR(a->distance, 20, 1e-9);
    PL_CHECK_NEAR(a->rest, a->distance, 0);
    assert_int_equal(a->to, -1);
    assert_false(a->tension_only);
    assert_int_equal(b->from, 0);
    assert_int_equal(b->to, 1);
    PL_CHECK_NEAR(b->distance, 5, 1e-9);
    PL_CHECK_NEAR(b->rest, 4, 0);
    assert_true(b->tension_only);
    pl_robot_destroy(robot);
    pl_findings_destroy(findings);
}

// Values that can hardly be meant are accepted with a warning.
static void test_warnings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *words;
    } rows[] = {
        {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n"
         "  m: {model: linear, young: 1, poisson: 0.4, density: 1070 t/mm^3}\n" FIXED,
         4, "implausible"},
        {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: linear, young: 1e8, poisson: "
         "0.4}\n" FIXED,
         4, "shear modulus"},
        {"pliant: 1\nmesh: {design: {kind: block}}\nmaterials:\n  m: {model: neo_hookean, c10: 0.12 "
         "GPa}\n" FIXED,
         4, "a shear modulus of 240 MPa is implausible"},
        {GOOD_HEAD FIXED AIR ", range: [0, 5 MPa]}\n", 6, "implausible for a soft body"},
        {GOOD_HEAD FIXED "loads: {gravity: [0, 0, -9.81 m/s^2]}\n", 3, "no material has a density"},
        {GOOD_HEAD FIXED "markers: {far: {at: [500, 0, 0]}}\n", 5, "460 mm outside the body"},
        {"pliant: 1\nmesh: {design: {kind: block}, size: 500}\nmaterials: {m: {model: neo_hookean, c10: "
         "0.1}}\n" FIXED,
         2, "larger than the body"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        pl_findings *findings = pl_findings_create();
        pl_robot *robot = NULL;
        pl_error err = {0};
        PL_CHECK_OK(load(rows[i].text, &robot, findings, &err));
        if (!fix_has_finding(findings, PL_WARNING, rows[i].line, rows[i].words)) {
            print_error("row %zu, wanted line %d '%s', got:\n", i, rows[i].line, rows[i].words);
            fix_print_findings(findings);
            fail();
        }
        pl_robot_destroy(robot);
        pl_findings_destroy(findings);
    }
}

// Several defects come together, sorted by line.
static void test_several(void **state)
{
    (void)state;
    static const char text[] = "pliant: 1\n"
                               "mesh: {design: {kind: block}, ordr: 2}\n"
                               "materials:\n"
                               "  soft: {model: neo_hookean, c10: 5 mm}\n"
                               "  hard: {model: linear, young: 1, poisson: 0.7}\n"
                               "regions: {skin: sofd}\n"
                               "fixed: [{surface: base, axis: [x]}]\n"
                               "markers:\n"
                               "  tip: {at: [1, 2]}\n"
                               "loads: {forces: [{marker: tpi, force: [0, 0, 1]}]}\n";
    static const int lines[] = {2, 4, 5, 6, 7, 9, 10};
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    assert_int_equal(check_text(text, strlen(text), "r.yaml", findings, &err), PL_BAD_INPUT);
    if (pl_findings_defect_count(findings) != 7) {
        fix_print_findings(findings);
    }
    assert_int_equal(pl_findings_defect_count(findings), 7);
    for (int i = 0; i < 7; ++i) {
        assert_int_equal(pl_findings_at(findings, i)->line, lines[i]);
        assert_string_equal(pl_findings_at(findings, i)->file, "r.yaml");
    }

    assert_true(strncmp(err.text, "r.yaml:2: ", 10) == 0);
    pl_findings_destroy(findings);
}

// A surface that finds nothing is reported once, where it is picked, and not again by those who use it.
static void test_failed_pick(void **state)
{
    (void)state;
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = NULL;
    pl_error err = {0};
    const char *text = GOOD_HEAD
        "surfaces: {s: {seen_from: [5, 5, 5]}}\nfixed: [{surface: s}]\nmarkers: {m: {surface: s}}\n";
    assert_int_equal(load(text, &robot, findings, &err), PL_BAD_INPUT);
    assert_int_equal(pl_findings_defect_count(findings), 1);
    assert_true(fix_has_finding(findings, PL_DEFECT, 4, "inside the material"));
    pl_findings_destroy(findings);
}

// Ten thousand files with bytes changed, cut, doubled or swapped by words of the format: only statuses come
// back.
static void test_mutations(void **state)
{
    (void)state;
    static const char *const seed[] = {everything, two_bodies};
    static const char *const word[] = {"[",          "]",       "{",   "}",  ": ",         "- ",
                                       "\n",         "kPa",     "nan", "&",  "*a",         "1e999",
                                       "actuators:", "surface", "\t",  "\"", "!!binary x", "null"};
    pl_random random;
    pl_random_seed(&random, 20240607);
    char text[8192];
    int accepted = 0;
    for (int n = 0; n < 10000; ++n) {
        size_t length = strlen(seed[n % 2]);
        memcpy(text, seed[n % 2], length);
        const int edits = 1 + (int)(pl_random_next(&random) % 4);
        for (int k = 0; k < edits && length > 64; ++k) {
            const size_t at = pl_random_next(&random) % length, run = 1 + pl_random_next(&random) % 20;
            const char *w = word[pl_random_next(&random) % (sizeof word / sizeof word[0])];
            switch (pl_random_next(&random) % 4) {
            case 0: // one byte becomes another, mostly a digit or character
                text[at] = pl_random_next(&random) % 4 == 0
                               ? (char)pl_random_next(&random)
                               : "0123456789abcxyz-. ,"[pl_random_next(&random) % 20];
                break;
            case 1: // a piece goes away
                memmove(text + at, text + (at + run < length ? at + run : length),
                        length - (at + run < length ? at + run : length));
                length -= at + run < length ? run : length - at;
                break;
            case 2: // a word comes in
                memmove(text + at + strlen(w), text + at, length - at);
                memcpy(text + at, w, strlen(w));
                length += strlen(w);
                break;
            default: // a piece is repeated
                memmove(text + at + run, text + at, length - at);
                length += run;
                break;
            }
        }
        pl_findings *findings = pl_findings_create();
        pl_error err = {0};
        const pl_status status = check_text(text, length, "m.yaml", findings, &err);
        assert_true(status == PL_OK || status == PL_BAD_INPUT);
        assert_int_equal(status == PL_OK, pl_findings_defect_count(findings) == 0);
        accepted += status == PL_OK;
        pl_findings_destroy(findings);
    }
    print_message("of 10000 mutated files %d were still right\n", accepted);
    assert_true(accepted > 100 && accepted < 9000);
}

static void *failing_realloc(void *user, void *block, size_t bytes)
{
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return (*(int *)user)-- > 0 ? realloc(block, bytes) : NULL;
}

// Reading with the n-th allocation refused, for every n: out of memory is a status.
static void test_no_memory(void **state)
{
    (void)state;
    int left = 0, failures = 0;
    pl_memory_set(failing_realloc, &left);
    for (int n = 0; n < 2000; ++n) {
        left = n;
        pl_error err = {0};
        const pl_status status = check_text(everything, strlen(everything), "m.yaml", NULL, &err);
        assert_true(status == PL_OK || status == PL_NO_MEMORY);
        if (status == PL_OK) {
            break;
        }
        ++failures;
    }

    pl_memory_set(NULL, NULL);
    assert_true(failures > 10 && failures < 1999);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// An order that was kept is found again, under its key and for its count only; a damaged or cut file is no
// order, and the next one kept takes its place.
static void check_orders(const pl_robot *robot, bool first)
{
    const pl_order_store *o = &robot->orders;
    int32_t order[5] = {3, 1, 4, 0, 2}, found[5] = {0};
    char path[300];

    snprintf(path, sizeof path, "%s/%016x.order", o->folder, 77);
    assert_true(o->find(o->folder, 77, 5, found) == !first);
    o->keep(o->folder, 77, 5, order);
    assert_true(o->find(o->folder, 77, 5, found));
    assert_memory_equal(found, order, sizeof order);
    assert_false(o->find(o->folder, 77, 4, found));
    assert_false(o->find(o->folder, 78, 5, found));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    for (off_t at = 0; at < info.st_size; ++at) {
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        fseek(file, at, SEEK_SET);
        const int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 4, file);
        fclose(file);
        assert_false(o->find(o->folder, 77, 5, found));
        o->keep(o->folder, 77, 5, order);
        assert_true(o->find(o->folder, 77, 5, found));
    }

    assert_int_equal(truncate(path, info.st_size / 2), 0);
    assert_false(o->find(o->folder, 77, 5, found));
    o->keep(o->folder, 77, 5, order);
}

// The mesh is built once, then read from the cache; a broken cache entry is ignored and written again.
static void test_cache(void **state)
{
    (void)state;
    char folder[] = "/tmp/pliant_test_XXXXXX", path[200], command[300];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/robot.yaml", folder);
    write_text(path, GOOD_HEAD FIXED);
    int built = 0;
    const pl_mesher counting = {.build = fix_build, .user = &built};
    pl_load_options counted = {.mesher = &counting};
    uint64_t hash[3];
    pl_error err;
    for (int i = 0; i < 3; ++i) {
        pl_robot *robot = NULL;
        if (i == 2) {
            snprintf(command, sizeof command, "for f in %s/.pliant/*.mesh; do echo broken > $f; done",
                     folder);
            assert_int_equal(system(command), 0);
        }
        PL_CHECK_OK(pl_robot_load(path, &counted, &robot, NULL, &err));
        hash[i] = pl_robot_hash(robot);
        check_orders(robot, i == 0);
        pl_robot_destroy(robot);
        assert_int_equal(built, i < 2 ? 1 : 2);
    }

    assert_true(hash[0] == hash[1] && hash[1] == hash[2]);

    // another order is another mesh; no_cache always builds; a missing file is a bad file
    pl_robot *robot = NULL;
    counted.order = 2;
    PL_CHECK_OK(pl_robot_load(path, &counted, &robot, NULL, &err));
    assert_int_equal(pl_mesh_get(pl_robot_mesh(robot)).kind[0], PL_TET10);
    pl_robot_destroy(robot);
    assert_int_equal(built, 3);
    counted.no_cache = true;
    PL_CHECK_OK(pl_robot_load(path, &counted, &robot, NULL, &err));
    assert_null(robot->orders.folder);
    pl_robot_destroy(robot);
    assert_int_equal(built, 4);
    assert_int_equal(pl_robot_load("/tmp/pliant_no_such_file.yaml", &counted, &robot, NULL, &err),
                     PL_BAD_FILE);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

// A mesh file beside the robot file: found by its relative path, raised or lowered to the order asked for.
static void test_mesh_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/pliant_test_XXXXXX", path[200], mesh_path[200], command[300];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/robot.yaml", folder);
    snprintf(mesh_path, sizeof mesh_path, "%s/block.vtu", folder);
    write_text(path, "pliant: 1\nmesh: {file: block.vtu, unit: cm}\nmaterials: {m: {model: neo_hookean, c10: "
                     "0.1}}\n" FIXED);
    pl_error err;
    pl_mesh *mesh = fix_mesh(false, 0.1);
    PL_CHECK_OK(pl_mesh_write_vtu(mesh, mesh_path, PL_VTU_ASCII, &err));
    pl_mesh_destroy(mesh);
    for (int order = 0; order <= 2; ++order) {
        const pl_load_options without = {.order = order};
        pl_robot *robot = NULL;
        PL_CHECK_OK(pl_robot_load(path, &without, &robot, NULL, &err));
        assert_int_equal(pl_mesh_get(pl_robot_mesh(robot)).kind[0], order == 1 ? PL_TET4 : PL_TET10);
        PL_CHECK_NEAR(pl_mesh_region_volume(pl_robot_mesh(robot), -1), 34000, 1e-6);
        pl_robot_destroy(robot);
    }

    assert_int_equal(unlink(mesh_path), 0);
    pl_robot *robot = NULL;
    pl_findings *findings = pl_findings_create();
    assert_int_equal(pl_robot_load(path, NULL, &robot, findings, &err), PL_BAD_FILE);
    assert_true(fix_has_finding(findings, PL_DEFECT, 2, "block.vtu"));
    pl_findings_destroy(findings);

    // a design without a mesher
    assert_int_equal(pl_robot_load_text(two_bodies, strlen(two_bodies), path, NULL, &robot, NULL, &err),
                     PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "built without it"));
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything), cmocka_unit_test(test_two_bodies),
        cmocka_unit_test(test_springs),    cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_several),    cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_cache),
        cmocka_unit_test(test_mesh_file),  cmocka_unit_test(test_failed_pick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
