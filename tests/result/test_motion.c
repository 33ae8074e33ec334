// Motions and the files about them: G-code read back gives the commands and keeps every limit; tables keep
// units; stored workspaces lose nothing and refuse strangers; wrong paths, targets and tasks are refused with
// line and words.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "robot/robot_fixture.h"
#include "analysis/analysis_task.h"
#include "base/base.h"
#include "document/document.h"
#include "model/model.h"
#include "pliant/dataset.h"
#include "pliant/result.h"
#include "statics/statics.h"

static char folder[] = "/tmp/pliant_motion_XXXXXX";

static const char *file_name(const char *name)
{
    static char path[4][200];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static const char *write_text(const char *name, const char *text)
{
    pl_error err;
    const char *path = file_name(name);
    PL_CHECK_OK(pl_file_write(path, text, strlen(text), &err));
    return path;
}

static const char robot_text[] =
    "pliant: 1\nname: \"line\\nbreak <b>\"\nmesh: {design: {kind: block}}\n"
    "materials: {m: {model: linear, young: 1, poisson: 0.4}}\n"
    "regions: {skin: m, layer: m, plug: m}\nfixed: [{surface: base}]\n"
    "actuators:\n"
    "  - {name: tendon, kind: cable, drive: shortening, range: [0, 10], rate: 4 mm/s, radius: 8,\n"
    "     through: [[5, 15, 25], [35, 15, 25]]}\n"
    "  - {name: pump, kind: chamber, surface: cavity, drive: syringe, range: [0, 3 mL], rate: 0.5 mL/s}\n"
    "markers: {tip: {surface: tip}}\n"
    "hardware:\n"
    "  tendon: {axis: X, per_unit: 0.5 mm, reverse: true, offset: 3, feed: 300, range: [-30, 3]}\n"
    "  pump: {axis: E, per_unit: 0.25 mL}\n";

static const pl_mesher mesher = {.build = fix_build};

static pl_robot *load_robot(const char *text)
{
    pl_error err;
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = NULL;
    const pl_load_options options = {.mesher = &mesher};
    const pl_status status = pl_robot_load_text(text, strlen(text), NULL, &options, &robot, findings, &err);

    if (status != PL_OK) {
        fix_print_findings(findings);
    }
    PL_CHECK_OK(status);
    pl_findings_destroy(findings);

    return robot;
}

static pl_model *make_model(const pl_robot *robot)
{
    pl_error err;
    pl_model *model = NULL;
    const pl_statics_options options = pl_statics_options_default();
    PL_CHECK_OK(pl_model_from_robot(robot, &options, &model, &err));
    return model;
}

// A motion with given commands (mm, mm^3), without solving anything.
static void fill_motion(pl_motion *motion, const pl_model *model, int count, double (*command)(int k, int c))
{
    pl_error err;
    pl_motion_init(motion, model, 0);
    const pl_model_info info = pl_model_get_info(model);
    for (int k = 0; k < count; ++k) {
        double value[2], marker[3] = {k, 2 * k, -k}, effort[2] = {0.5 * k, 1e-3 * k}, measure[2] = {30, 2000};
        for (int c = 0; c < info.command_count; ++c) {
            value[c] = command(k, c);
        }
        const double target[3] = {k + 0.001, 2 * k, -k};
        const pl_model_answer answer = {
            .command = value, .marker = marker, .effort = effort, .measure = measure};
        const pl_ik_report ik = {.outcome = k == 3 ? PL_IK_NEAREST : PL_IK_REACHED, .distance = 0.001};
        PL_CHECK_OK(pl_motion_add(motion, k, target, &answer, &ik, &err));
    }
}

static double wavy(int k, int c)
{
    return c == 0 ? 5 + 5 * sin(0.7 * k) : 1500 * (1 - cos(0.4 * k));
}

// One G1 line: the words X, E and F.
static bool read_move(const char *line, double *x, double *e, double *f)
{
    return sscanf(line, "G1 X%lf E%lf F%lf", x, e, f) == 3;
}

static void test_gcode_round_trip(void **state)
{
    (void)state;
    pl_error err;
    pl_robot *robot = load_robot(robot_text);
    pl_model *model = make_model(robot);
    pl_motion motion;
    enum { N = 40 };
    fill_motion(&motion, model, N, wavy);
    const double rate[2] = {4, 500};
    pl_motion_schedule(&motion, rate, 0.25);
    const char *path = file_name("a.gcode");
    PL_CHECK_OK(pl_motion_write_gcode(&motion, model, path, NULL, &err));

    char *text = NULL;
    size_t bytes = 0;
    PL_CHECK_OK(pl_file_read(path, &text, &bytes, &err));
    assert_true(strstr(text, "G21") && strstr(text, "G90") && strstr(text, "does not home"));
    double x = 3, e = 0, seconds = 0;
    int k = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        // nothing of the robot's name may become a command
        assert_true(line[0] == ';' || line[0] == 'G' || line[0] == 'M');
        double nx, ne, f;
        if (!read_move(line, &nx, &ne, &f)) {
            continue;
        }
        PL_CHECK_NEAR((3 - nx) * 0.5, wavy(k, 0), 0.5e-5);
        PL_CHECK_NEAR(ne * 250, wavy(k, 1), 250e-5);
        // F counts along X when X moves; all axes take the same time
        const double distance = fabs(nx - x) > 0 ? fabs(nx - x) : fabs(ne - e), minutes = distance / f;
        PL_CHECK_BELOW(fabs(nx - x) / minutes, 300 * (1 + 1e-9));              // feed of X
        PL_CHECK_BELOW(fabs(nx - x) * 0.5 / (60 * minutes), 4 * (1 + 1e-9));   // mm/s of cable
        PL_CHECK_BELOW(fabs(ne - e) * 250 / (60 * minutes), 500 * (1 + 1e-9)); // mm^3/s
        if (k > 0) {
            PL_CHECK_BELOW(motion.time[k] - motion.time[k - 1], 60 * minutes * (1 + 1e-6));
        }
        seconds += 60 * minutes;
        x = nx, e = ne;
        ++k;
    }

    assert_int_equal(k, N);
    PL_CHECK_BELOW(seconds, 1.3 * (motion.time[N - 1] + 5)); // not slower than the limits ask for
    pl_file_free(text);
    pl_motion_clear(&motion);
    pl_model_destroy(model);
    pl_robot_destroy(robot);
}

static double far_away(int k, int c)
{
    return c == 0 ? 6.0 * k : 0;
}

static void test_gcode_refused(void **state)
{
    (void)state;
    pl_error err;
    pl_robot *robot = load_robot(robot_text);
    pl_model *model = make_model(robot);
    pl_motion motion;
    fill_motion(&motion, model, 4, far_away);
    assert_int_equal(pl_motion_write_gcode(&motion, model, file_name("b.gcode"), NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "waypoint 3: axis X (tendon) would be at -33"));
    assert_int_not_equal(access(file_name("b.gcode"), F_OK), 0);

    // without axes there is nothing to write
    char plain[sizeof robot_text];
    memcpy(plain, robot_text, sizeof plain);
    *strstr(plain, "hardware:") = '\0';
    pl_robot *bare = load_robot(plain);
    pl_model *bare_model = make_model(bare);
    assert_int_equal(pl_motion_write_gcode(&motion, bare_model, file_name("b.gcode"), NULL, &err),
                     PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "'hardware' block"));
    pl_model_destroy(bare_model);
    pl_robot_destroy(bare);
    pl_motion_clear(&motion);
    pl_model_destroy(model);
    pl_robot_destroy(robot);
}

// The robot with a word about pressures below zero, and a motion that pulls in the rows 1, 2, 3 and 6.
static pl_model *pulling(const char *word, pl_robot **robot, pl_motion *motion)
{
    char text[2000];
    snprintf(text, sizeof text, "%s", robot_text);
    if (word) {
        snprintf(strstr(text, "per_unit: 0.25 mL}"), 100, "per_unit: 0.25 mL, below_zero: %s}\n", word);
    }
    *robot = load_robot(text);
    pl_model *model = make_model(*robot);
    fill_motion(motion, model, 8, far_away);
    for (int k = 0; k < 8; ++k) {
        const bool low = (k >= 1 && k <= 3) || k == 6;
        motion->command[2 * k] = 1;
        motion->command[2 * k + 1] = low ? -500 : 250;
        motion->effort[2 * k + 1] = low ? -2e-3 * k : 1e-3;
    }

    motion->effort[2 * 7 + 1] = -2e-7; // what a solve leaves of zero

    return model;
}

// A pressure below zero leaves the program only when the machine was said to pull.
static void test_below_zero(void **state)
{
    (void)state;
    static const char *const words[] = {NULL, "refuse", "clip", "pull"};
    static const struct {
        bool table, code;
        int changed;
    } expected[] = {{false, true, 0}, {false, false, 0}, {true, true, 1}, {true, true, 0}};
    for (int i = 0; i < 4; ++i) {
        pl_error err = {0};
        pl_robot *robot;
        pl_motion motion;
        pl_model *model = pulling(words[i], &robot, &motion);
        pl_findings *changed = pl_findings_create();
        char *text = NULL;
        size_t bytes = 0;
        remove(file_name("z.csv"));
        remove(file_name("z.gcode"));
        const pl_status table = pl_motion_write_pressures(&motion, file_name("z.csv"), changed, &err);
        assert_int_equal(table == PL_OK, expected[i].table);
        assert_int_equal(access(file_name("z.csv"), F_OK) == 0, expected[i].table);
        assert_int_equal(pl_findings_count(changed), expected[i].changed);
        if (!expected[i].table) {
            assert_non_null(strstr(err.text, "rows 1-3, 6 (down to -12 kPa)"));
            assert_non_null(strstr(err.text, "'pump'"));
        } else {
            PL_CHECK_OK(pl_file_read(file_name("z.csv"), &text, &bytes, &err));
            assert_non_null(strstr(text, i == 2 ? "\n6.000000,0.000000\n" : "\n6.000000,-12.000000\n"));
            assert_non_null(strstr(text, "\n7.000000,0.000000\n"));
            assert_non_null(strstr(text, "\n4.000000,1.000000\n"));
            pl_file_free(text);
        }
        if (expected[i].changed) {
            assert_non_null(strstr(pl_findings_at(changed, 0)->text, "rows 1-3, 6 of 'pump'"));
        }
        const pl_status code = pl_motion_write_gcode(&motion, model, file_name("z.gcode"), changed, &err);
        assert_int_equal(code == PL_OK, expected[i].code);
        assert_int_equal(access(file_name("z.gcode"), F_OK) == 0, expected[i].code);
        assert_int_equal(pl_findings_count(changed), 2 * expected[i].changed);
        if (code == PL_OK) {
            PL_CHECK_OK(pl_file_read(file_name("z.gcode"), &text, &bytes, &err));
            assert_int_equal(strstr(text, " E-2.00000 ") == NULL, i == 2);
            assert_int_equal(strstr(text, "instead of pulling, waypoints 1-3, 6\n") != NULL, i == 2);
            pl_file_free(text);
        }
        pl_findings_destroy(changed);
        pl_motion_clear(&motion);
        pl_model_destroy(model);
        pl_robot_destroy(robot);
    }
}

static void test_tables(void **state)
{
    (void)state;
    pl_error err;
    pl_robot *robot = load_robot(robot_text);
    pl_model *model = make_model(robot);
    pl_motion motion;
    fill_motion(&motion, model, 5, wavy);
    PL_CHECK_OK(pl_motion_write_pressures(&motion, file_name("p.csv"), NULL, &err));
    PL_CHECK_OK(pl_motion_write_csv(&motion, file_name("m.csv"), &err));
    PL_CHECK_OK(pl_motion_write_html(&motion, &(pl_report_def){.title = "<script>alert('x')</script>"},
                                     file_name("m.html"), &err));
    char *text = NULL;
    size_t bytes = 0;
    PL_CHECK_OK(pl_file_read(file_name("p.csv"), &text, &bytes, &err));
    assert_non_null(strstr(text, "time [s],pump [kPa]\n0.000000,0.000000\n1.000000,1.000000\n"));
    pl_file_free(text);
    PL_CHECK_OK(pl_file_read(file_name("m.csv"), &text, &bytes, &err));
    assert_non_null(strstr(text, "tendon [mm],pump [mL],tendon.effort [N]"));
    assert_non_null(strstr(text, ",0,nearest,"));
    pl_file_free(text);

    // text is escaped, and nothing is fetched
    PL_CHECK_OK(pl_file_read(file_name("m.html"), &text, &bytes, &err));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    assert_non_null(strstr(text, "&lt;script&gt;"));
    assert_non_null(strstr(text, "4 of 5"));
    pl_file_free(text);

    // a written motion can be followed again
    pl_path_file again;
    PL_CHECK_OK(pl_path_read(file_name("m.csv"), &again, &err));
    assert_int_equal(again.count, 5);
    PL_CHECK_NEAR(again.point[3 * 2 + 1], 4, 1e-12);
    pl_path_clear(&again);
    pl_motion_clear(&motion);
    pl_model_destroy(model);
    pl_robot_destroy(robot);
}

static void test_paths(void **state)
{
    (void)state;
    pl_error err;
    pl_path_file p;
    PL_CHECK_OK(pl_path_read(write_text("a.csv", "# a path\n1, 2, 3\n4,5,6 # end\n"), &p, &err));
    assert_true(p.count == 2 && !p.direction && !p.time);
    PL_CHECK_NEAR(p.point[5], 6, 0);
    pl_path_clear(&p);
    PL_CHECK_OK(pl_path_read(write_text("a.csv", "T [ms];Z [cm];x [mm];y (in);rx [deg];ry;rz\n"
                                                 "0;1;2;1;180;0;0\n500;2;3;1;90;0;0\n"),
                             &p, &err));
    PL_CHECK_NEAR(p.point[0], 2, 0);
    PL_CHECK_NEAR(p.point[1], 25.4, 1e-12);
    PL_CHECK_NEAR(p.point[2], 10, 1e-12);
    PL_CHECK_NEAR(p.time[1], 0.5, 1e-15);
    PL_CHECK_NEAR(p.rotation[0], PL_PI, 1e-12);
    pl_path_clear(&p);
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "has no rows"},
        {"x,y\n1,2\n", "must occur together, found 2"},
        {"a,b,c\n1,2,3\n", "expected columns x, y, z"},
        {"1,2\n", "expected columns x, y, z"},
        {"x,y,z\n1,2,3\n1,2\n", "a.csv:3: 2 columns found, expected 3"},
        {"x,y,z\n1,2,3\n1,oops,3\n", "a.csv:3: column 2 y: expected a number"},
        {"x,y,z\n1,2,nan\n", "expected a number"},
        {"x [kPa],y,z\n1,2,3\n", "is a pressure, expected a length"},
        {"x,y,z,t\n1,2,3,1\n1,2,3,1\n", "a.csv:3: the time 1 must come after 1"},
        {"x,y,z,nx,ny,nz\n1,2,3,0,0,0\n", "no direction"},
        {"x;y;z\n1,5;2;3\n", "expected a number"},
        {"x,y,x,z\n1,2,3,4\n", "a.csv:1: columns 1 and 3 are both called 'x'"},
        {"x,y,z\n1,2,3\n1,2,1e300\n", "a.csv:3: 1e+300 mm is implausible"},
        {"x [m],y,z\n1e308,2,3\n", "a.csv:2: column 1 x: 1e+308 is too large"},
        {"x,y,z,rx,ry,rz\n1,2,3,0,0,1e9\n", "a.csv:2: 1e+09 rad is implausible"},
    };
    for (int i = 0; i < PL_COUNT(wrong); ++i) {
        assert_int_equal(pl_path_read(write_text("a.csv", wrong[i].text), &p, &err), PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].words)) {
            print_error("'%s' does not say '%s'\n", err.text, wrong[i].words);
            fail();
        }
    }

    assert_int_equal(pl_path_read(file_name("none.csv"), &p, &err), PL_BAD_FILE);
}

// In every cell of a table and for every separator, what is no decimal number is refused with line and
// column.
static void test_table_cells(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "0x2D", "4 5", "1e", "1.2.3", "--3", "5mm", "l0", "inf", "1_000"};
    int refused = 0, cases = 0;
    for (int separator = 0; separator < 3; ++separator) {
        for (int cell = 0; cell < 12; ++cell) {
            for (int w = 0; w <= PL_COUNT(wrong); ++w) {
                const char mark = ",;\t"[separator], *comma = mark == ',' ? "\"45,5\"" : "45,5";
                const char *text = w < PL_COUNT(wrong) ? wrong[w] : comma;
                char table[400] = "", place[40];
                snprintf(table, sizeof table, "x [mm]%cy%cz\n", mark, mark);
                for (int k = 0; k < 12; ++k) {
                    char number[20];
                    snprintf(number, sizeof number, "%d.5", k);
                    snprintf(table + strlen(table), sizeof table - strlen(table), "%s%c",
                             k == cell ? text : number, k % 3 == 2 ? '\n' : mark);
                }
                pl_path_file p;
                pl_error err = {0};
                const pl_status status = pl_path_read(write_text("cells.csv", table), &p, &err);
                snprintf(place, sizeof place, "cells.csv:%d: column %d %c:", cell / 3 + 2, cell % 3 + 1,
                         "xyz"[cell % 3]);
                ++cases;
                refused += status == PL_BAD_INPUT && strstr(err.text, place) != NULL;
                if (status == PL_OK) {
                    pl_path_clear(&p);
                    print_error("accepted:\n%s", table);
                }
            }
        }
    }

    print_message("%d of %d wrong cells refused with line and column\n", refused, cases);
    assert_int_equal(refused, cases);
}

static void test_targets(void **state)
{
    (void)state;
    pl_error err;
    pl_shape_target t;
    const double rest[9] = {0, 0, 0, 10, 0, 0, 20, 0, 0};
    PL_CHECK_OK(pl_shape_target_read(write_text("t.csv", "x0,y0,z0,x,y,z\n19.9,0,0,1,2,3\n0.1,0,0,4,5,6\n"),
                                     rest, 3, 1, &t, &err));
    assert_true(t.count == 2 && t.point[0] == 2 && t.point[1] == 0);
    PL_CHECK_NEAR(t.place[5], 6, 0);
    pl_shape_target_clear(&t);
    PL_CHECK_OK(pl_shape_target_read(write_text("t.csv", "point,x,y,z\n1,1,2,3\n"), rest, 3, 1, &t, &err));
    assert_int_equal(t.point[0], 1);
    pl_shape_target_clear(&t);
    static const char *const wrong[] = {"point,x,y,z\n3,1,2,3\n",
                                        "point,x,y,z\n1,1,2,3\n1,1,2,3\n",
                                        "x,y,z\n1,2,3\n",
                                        "x0,y0,z0,x,y,z\n5,0,0,1,2,3\n",
                                        "point,x,y\n1,2,3\n",
                                        "point,x,y,z\n1,2,3,1e300\n",
                                        "point,x,y,z\n0,1,2,3\n1,1,2,3\n2,1,2,3\n0,1,2,3\n"};
    for (int i = 0; i < PL_COUNT(wrong); ++i) {
        assert_int_equal(pl_shape_target_read(write_text("t.csv", wrong[i]), rest, 3, 1, &t, &err),
                         PL_BAD_INPUT);
    }
}

// A sample that is missing is made again, whatever comes behind it; numbers that are none are no seeds.
static void test_store_holes(const pl_model *model)
{
    pl_error err;
    pl_store *store = NULL;
    const char *path = file_name("holes.sqlite");
    const pl_solve_report good = {.outcome = PL_SOLVED};

    PL_CHECK_OK(pl_store_open(path, model, "grid 2", &store, &err));
    for (int k = 0; k < 6; k += k == 1 ? 2 : 1) { // all but 2
        const double command[2] = {k, k}, marker[3] = {k, 0, 0}, effort[2] = {0, 0};
        const pl_sample s = {
            .index = k, .command = command, .answer = {.marker = marker, .effort = effort}, .fk = &good};
        PL_CHECK_OK(pl_store_put(store, &s, &err));
    }

    pl_store_close(store);
    PL_CHECK_OK(pl_store_open(path, model, "grid 2", &store, &err));
    assert_int_equal(pl_store_next(store), 2);
    const double command[2] = {2, 2}, nowhere[3] = {NAN, 0, 0}, effort[2] = {0, 0};
    const pl_sample s = {
        .index = 2, .command = command, .answer = {.marker = nowhere, .effort = effort}, .fk = &good};
    PL_CHECK_OK(pl_store_put(store, &s, &err));
    pl_store_samples samples;
    assert_int_equal(pl_store_read(store, &samples, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "sample 2 is damaged"));
    pl_store_close(store);
}

static void test_store(void **state)
{
    (void)state;
    pl_error err;
    pl_robot *robot = load_robot(robot_text);
    pl_model *model = make_model(robot);
    const char *path = file_name("w.sqlite");
    pl_store *store = NULL;
    assert_int_equal(pl_store_open(path, model, NULL, &store, &err), PL_BAD_FILE); // nothing there to read
    PL_CHECK_OK(pl_store_open(path, model, "grid 3", &store, &err));
    const pl_solve_report good = {.outcome = PL_SOLVED}, bad = {.outcome = PL_ITERATION_LIMIT};
    for (int k = 0; k < 4; ++k) {
        const double command[2] = {0.1 * k, 1.0 / 3 * k}, marker[3] = {k, PL_PI, -k}, effort[2] = {k, NAN};
        const pl_sample s = {.index = k,
                             .command = command,
                             .answer = {.marker = marker, .effort = effort},
                             .fk = k == 2 ? &bad : &good};
        PL_CHECK_OK(pl_store_put(store, &s, &err));
    }

    pl_store_close(store);

    // the same sampling goes on; another begins at 0; all solved samples are seeds, bit by bit
    PL_CHECK_OK(pl_store_open(path, model, "grid 3", &store, &err));
    assert_int_equal(pl_store_next(store), 4);
    pl_store_close(store);
    PL_CHECK_OK(pl_store_open(path, model, "halton 7", &store, &err));
    assert_int_equal(pl_store_next(store), 0);
    pl_store_close(store);
    PL_CHECK_OK(pl_store_open(path, model, NULL, &store, &err));
    pl_store_samples samples;
    PL_CHECK_OK(pl_store_read(store, &samples, &err));
    assert_int_equal(samples.count, 3);
    PL_CHECK_NEAR(samples.command[5], 1.0 / 3 * 3, 0);
    PL_CHECK_NEAR(samples.command[4], 0.1 * 3, 0);
    PL_CHECK_NEAR(samples.marker[1], PL_PI, 0);
    assert_true(isnan(samples.effort[1]));
    PL_CHECK_OK(pl_samples_write_csv(&samples, model, file_name("w.csv"), &err));
    PL_CHECK_OK(pl_samples_write_vtu(&samples, model, 0, file_name("w.vtu"), &err));
    assert_int_equal(pl_samples_write_vtu(&samples, model, 5, file_name("w.vtu"), &err), PL_BAD_INPUT);
    pl_store_samples_clear(&samples);
    pl_store_close(store);
    test_store_holes(model);

    // another robot, another file
    char *other_text = strdup(robot_text);
    memcpy(strstr(other_text, "young: 1"), "young: 2", 8);
    pl_robot *other = load_robot(other_text);
    pl_model *other_model = make_model(other);
    assert_int_equal(pl_store_open(path, other_model, "grid 3", &store, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "its samples are of another robot"));
    assert_int_not_equal(pl_store_open(write_text("x.sqlite", "this is no database, only words in a file\n"),
                                       model, "grid 3", &store, &err),
                         PL_OK);
    free(other_text);
    pl_model_destroy(other_model);
    pl_robot_destroy(other);
    pl_model_destroy(model);
    pl_robot_destroy(robot);
}

#define TASK_HEAD                                                                                            \
    "task: 1\ngripper: {marker: root, normal: [0, 1, 0], clearance: 5, segment: end, commands: [bend3]}\n"   \
    "objects:\n  cup: {center: [60, 2 cm, 0], radius: 12}\n"

static void test_tasks(void **state)
{
    (void)state;
    pl_error err;
    pl_task_file *t;
    PL_CHECK_OK(
        pl_task_read(write_text("t.yaml", TASK_HEAD "stages:\n"
                                                    "- {do: move, marker: tip, to: [1, 2, 3], axes: xy}\n"
                                                    "- {do: reach, object: cup, name: near}\n"
                                                    "- {do: grasp, object: cup}\n"
                                                    "- {do: place, object: cup, to: [9, 8, 7], steps: 4}\n"),
                     &t, NULL, &err));
    assert_true(t->item_count == 4 && t->object_count == 1 && t->has_gripper && t->command_count == 1);
    PL_CHECK_NEAR(t->object[0].center[1], 20, 1e-12);
    assert_true(t->item[0].axes[0] && t->item[0].axes[1] && !t->item[0].axes[2]);
    assert_true(t->item[1].what == PL_TASK_REACH && t->item[1].object == 0 && t->item[3].steps == 4);
    assert_string_equal(t->item[1].name, "near");
    assert_string_equal(t->item[2].name, "grasp");
    pl_task_file_destroy(t);
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "the file is empty"},
        {"pliant: 1\n", "is this a task file?"},
        {"task: 1\n", "'stages' is missing"},
        {"task: 1\nstages: []\n", "stages is empty"},
        {TASK_HEAD "stages:\n- {do: dance}\n", "t.yaml:6: stage: do: 'dance' is unknown"},
        {TASK_HEAD "stages:\n- {do: reach, object: cap}\n", "did you mean 'cup'"},
        {TASK_HEAD "stages:\n- {do: reach}\n", "'reach' needs 'object'"},
        {TASK_HEAD "stages:\n- {do: place, object: cup}\n", "'place' needs 'to'"},
        {TASK_HEAD "stages:\n- {do: grasp, object: cup, to: [1, 2, 3]}\n", "'grasp' has no 'to'"},
        {TASK_HEAD "stages:\n- {do: move}\n", "'move' needs 'to' or 'direction'"},
        {TASK_HEAD "stages:\n- {do: move, direction: [1, 0, 0]}\n", "needs 'axis'"},
        {TASK_HEAD "stages:\n- {do: move, to: [1, 2, 3], axes: xw}\n", "letters of x, y, z"},
        {TASK_HEAD "stages:\n- {do: move, to: [1, 2, 3], steps: 0}\n", "greater than 0"},
        {"task: 1\nobjects: {a: {center: [1, 2, 3], radius: 1}}\nstages:\n- {do: reach, object: a}\n",
         "needs a 'gripper'"},
        {"task: 1\nobjects: {a: {center: [1, 2, 3], radius: -1}}\nstages:\n- {do: move, to: [1, 2, 3]}\n",
         "greater than 0"},
        {"task: 1\ngripper: {marker: m, normal: [0, 0, 0], clearance: 1, segment: s, commands: [c]}\nstages: "
         "[{do: "
         "move, to: [1, 2, 3]}]\n",
         "no direction"},
        {"task: 1\ngripper: {marker: m, normal: [0, 0, 1], clearance: 1, commands: [c]}\nstages: [{do: move, "
         "to: [1, "
         "2, 3]}]\n",
         "exactly one of segment"},
    };
    for (int i = 0; i < PL_COUNT(wrong); ++i) {
        assert_int_equal(pl_task_read(write_text("t.yaml", wrong[i].text), &t, NULL, &err), PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].words)) {
            print_error("'%s' does not say '%s'\n", err.text, wrong[i].words);
            fail();
        }
    }
}

// ---- files as a hurried hand leaves them
#define MUTATED 1500 // of each kind

// One to three changes: a word or number replaced by an odd one, taken out, doubled or swapped for its
// neighbour, a line doubled, the rest cut off, a byte put in.
static void mutate(pl_random *random, const char *from, char *to, size_t room)
{
    static const char *const odd[] = {"0",      "-0",   "-1",   "1e308", "1e-308", "nan",
                                      ".inf",   "\"\"", "[]",   "{}",    "null",   "[1,2,3]",
                                      "{a: 1}", "é",    "true", "5 kPa", "9e99",   "x [mm]",
                                      "x,x",    "2 cm", "'",    "\t",    "\r\n",   "\xef\xbb\xbf"};
    snprintf(to, room, "%s", from);
    for (int change = (int)pl_random_uniform(random, 1, 4); change > 0; --change) {
        char copy[2000];
        const size_t length = strlen(to);
        size_t begin = length > 0 ? (size_t)pl_random_uniform(random, 0, (double)length - 0.001) : 0;
        while (begin > 0 && !strchr(" ,:{}[]\n;", to[begin - 1])) {
            --begin;
        }
        const size_t end = begin + strcspn(to + begin, " ,:{}[]\n;");
        const int how = (int)pl_random_uniform(random, 0, 7.999);
        const char *put = odd[(size_t)pl_random_uniform(random, 0, PL_COUNT(odd) - 0.001)];
        const int word = (int)(end - begin);
        snprintf(copy, sizeof copy, "%s", to);
        if (how < 4) {
            snprintf(to, room, "%.*s%s%s", (int)begin, copy, put, copy + end);
        } else if (how == 4) {
            snprintf(to, room, "%.*s%s", (int)begin, copy, copy + end);
        } else if (how == 5) {
            snprintf(to, room, "%.*s%.*s%s", (int)end, copy, word, copy + begin, copy + end);
        } else if (how == 6) {
            const size_t line = strcspn(copy + begin, "\n");
            snprintf(to, room, "%.*s\n%.*s%s", (int)begin, copy, (int)line, copy + begin, copy + begin);
        } else {
            to[begin] = '\0';
        }
    }
}

// The sentence names the file; of YAML, and of a table with rows, with a line.
static void expect_sentence(const pl_error *err, const char *name, bool line, const char *text)
{
    const char *at = strstr(err->text, name);
    const bool good = at && (!line || (at[strlen(name)] == ':' && at[strlen(name) + 1] >= '1'));
    if (!good) {
        print_error("'%s' does not say where it is wrong:\n%s\n", err->text, text);
        fail();
    }
}

static void test_mutated_files(void **state)
{
    (void)state;
    static const char task[] =
        TASK_HEAD "stages:\n- {do: move, marker: tip, to: [1, 2, 3], axes: xy}\n"
                  "- {do: reach, object: cup, name: near}\n- {do: grasp, object: cup}\n"
                  "- {do: place, object: cup, to: [9, 8, 7], steps: 4}\n";
    static const char path[] =
        "# a path\nt [s];x [mm];y [cm];z;nx;ny;nz;rx [deg];ry;rz\n0;1;2;3;0;0;1;0;0;0\n"
        "0.5;2;3;4;0;1;1;10;0;0\n1;3;4;5;0;1;0;20;0;0\n";
    static const char target[] = "x0,y0,z0,x,y,z\n0,0,0,1,2,3\n10,0,0,4,5,6\n";
    const double rest[9] = {0, 0, 0, 10, 0, 0, 20, 0, 0};
    pl_random random;
    pl_random_seed(&random, 4);
    int right = 0;
    for (int i = 0; i < 3 * MUTATED; ++i) {
        char text[2000];
        pl_error err = {0};
        pl_status status;
        mutate(&random, i % 3 == 0 ? task : i % 3 == 1 ? path : target, text, sizeof text);
        if (i % 3 == 0) {
            pl_task_file *file;
            status = pl_task_read(write_text("m.yaml", text), &file, NULL, &err);
            pl_task_file_destroy(file);
        } else if (i % 3 == 1) {
            pl_path_file file;
            status = pl_path_read(write_text("m.csv", text), &file, &err);
            pl_path_clear(&file);
        } else {
            pl_shape_target file;
            status = pl_shape_target_read(write_text("m.csv", text), rest, 3, 1, &file, &err);
            pl_shape_target_clear(&file);
        }
        right += status == PL_OK;
        assert_true(status == PL_OK || status == PL_BAD_INPUT);
        if (status != PL_OK) {
            expect_sentence(&err, i % 3 == 0 ? "m.yaml" : "m.csv", i % 3 == 0, text);
        }
    }

    print_message("of %d mutated files %d were still right\n", 3 * MUTATED, right);
    assert_true(right > MUTATED / 20 && right < 2 * MUTATED); // neither all noise nor no change
}

static int clean(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

// The log of a run is read row by row, also before it is closed.
static void test_run_log(void **state)
{
    (void)state;
    static const char *const column[] = {"t [s]", "a, b [mm]"};
    const char *path = file_name("run.sqlite");
    pl_run_log *log = NULL;
    pl_error err = {0};
    char *csv = NULL;
    int64_t rows = -1, total = -1;
    assert_int_equal(pl_run_log_read(path, 0, 10, &csv, &rows, &total, &err), PL_BAD_FILE);
    assert_true(!csv && rows == 0 && total == 0);
    PL_CHECK_OK(pl_run_log_open(path, column, 2, &log, &err));
    PL_CHECK_OK(pl_run_log_read(path, 0, 10, &csv, &rows, &total, &err));
    assert_string_equal(csv, "t [s],\"a, b [mm]\"\n");
    assert_true(rows == 0 && total == 0);
    pl_file_free(csv);
    for (int k = 0; k < 4; ++k) {
        PL_CHECK_OK(pl_run_log_add(log, (double[]){0.5 * k, k == 2 ? NAN : 10 + k}, &err));
    }
    PL_CHECK_OK(pl_run_log_close(log, &err));
    PL_CHECK_OK(pl_run_log_read(path, 1, 2, &csv, &rows, &total, &err));
    assert_string_equal(csv, "t [s],\"a, b [mm]\"\n0.5,11\n1,\n");
    assert_true(rows == 2 && total == 4);
    pl_file_free(csv);
    PL_CHECK_OK(pl_run_log_read(path, 4, 2, &csv, &rows, &total, &err));
    assert_true(rows == 0 && total == 4);
    pl_file_free(csv);
    const char *other = write_text("no.sqlite", "not a database");
    assert_int_equal(pl_run_log_read(other, 0, 2, &csv, &rows, &total, &err), PL_BAD_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gcode_round_trip),
        cmocka_unit_test(test_gcode_refused),
        cmocka_unit_test(test_below_zero),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_table_cells),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_mutated_files),
        cmocka_unit_test(test_run_log),
    };
    if (!mkdtemp(folder)) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, clean);
}
