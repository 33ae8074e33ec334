// A hand that drags: requests replace each other every 16 ms, far ahead of what can be solved. What is solved
// on the path is published at its own commands, is an equilibrium there, and answers no request; the last
// request is answered. No second is asserted: the laws hold however fast the machine is.
#include <jansson.h>
#include <math.h>
#include "check.h"
#include "ws_client.h"

#define PATIENCE 120 // s for anything to come
#define EVENT 16     // ms between two requests
#define HIGH 60.0    // kPa: the end of the range
#define SAME 0.01    // mm: two ways to one equilibrium, each solved to 2e-4 mm per step

static ws_server server;
static int viewer = -1; // the connection that has the controls
static int serial;      // of the last request

typedef struct seen {
    double serial, towards; // towards: NAN when it answers a request
    double pressure;        // kPa for which it is solved; 0 when idle
    bool converged;
    double tip[3];   // mm
    bool searching;  // after a target: a better place is still looked for
    double distance; // mm, to it
    double time;     // s, of a motion; NAN: none
} seen;

static void request(int fd, double pressure)
{
    char text[200];
    snprintf(text, sizeof text, "{\"type\":\"set\",\"robot\":1,\"serial\":%d,\"commands\":[%.9g]}", ++serial,
             pressure);
    assert_true(ws_say(fd, text));
}

// What a shape message says; false for other messages and for the second message of a shape.
static bool read_shape(const unsigned char *message, size_t bytes, seen *out)
{
    static json_int_t last;
    uint32_t kind, json, arrays;

    if (bytes < 16 || memcmp(message, "PLV1", 4) != 0) {
        return false;
    }
    memcpy(&kind, message + 4, 4);
    memcpy(&json, message + 8, 4);
    memcpy(&arrays, message + 12, 4);
    json_t *head =
        kind == 2 ? json_loadb((const char *)message + 16 + 16 * (size_t)arrays, json, 0, NULL) : NULL;
    const json_int_t number = json_integer_value(json_object_get(head, "shape"));
    const bool first = head && number != last;
    if (first) {
        const json_t *record = json_object_get(head, "record"), *towards = json_object_get(head, "towards"),
                     *air = json_object_get(json_object_get(record, "commands"), "air"),
                     *tip = json_object_get(json_object_get(json_object_get(record, "markers"), "tip"),
                                            "position");
        last = number;
        out->serial = json_number_value(json_object_get(head, "serial"));
        out->towards = towards ? json_number_value(towards) : NAN;
        out->pressure = json_number_value(json_object_get(air, "value"));
        out->converged = json_is_true(json_object_get(record, "converged"));
        const json_t *ik = json_object_get(head, "ik");
        out->searching = json_is_true(json_object_get(ik, "searching"));
        out->distance = ik ? json_number_value(json_object_get(ik, "distance")) : NAN;
        const json_t *live = json_object_get(head, "live");
        out->time = live ? json_number_value(json_object_get(live, "time")) : NAN;
        assert_int_equal(json_array_size(tip), 3);
        for (size_t i = 0; i < 3; ++i) {
            out->tip[i] = json_number_value(json_array_get(tip, i));
        }
    }

    json_decref(head);

    return first;
}

// Hears until a new shape comes.
static void next_shape(int fd, seen *out)
{
    for (;;) {
        unsigned char *message;
        size_t bytes;
        const int opcode = ws_hear(fd, &message, &bytes, PATIENCE);
        assert_true(opcode >= 0);
        if (opcode == 9) {
            ws_frame(fd, 0x8a, message, bytes);
        }
        const bool shape = opcode == 2 && read_shape(message, bytes, out);
        free(message);
        if (shape) {
            return;
        }
    }
}

// Requests for one pressure and waits for the shape that answers it.
static seen settle(int fd, double pressure)
{
    seen s = {0};
    request(fd, pressure);
    do {
        next_shape(fd, &s);
    } while (s.serial < serial);
    assert_true(s.converged && isnan(s.towards));
    PL_CHECK_NEAR(s.pressure, pressure, 1e-6);

    return s;
}

// Sends requests near the end of the range, one every 16 ms, until one is answered; shapes heard meanwhile.
static int drag(int fd, seen *shape, int room)
{
    int count = 0;
    const int before = serial;
    bool answered = false;

    for (int k = 0; count < room && !answered; ++k) {
        request(fd, (k % 2 ? 0.97 : 1) * HIGH);
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        for (double end = ws_now() + 1e-3 * EVENT, left;
             count < room && !answered && (left = end - ws_now()) > 0;) {
            if (poll(&wait, 1, (int)(1000 * left) + 1) > 0) {
                unsigned char *message;
                size_t bytes;
                const int opcode = ws_hear(fd, &message, &bytes, PATIENCE);
                assert_true(opcode >= 0);
                if (opcode == 9) {
                    ws_frame(fd, 0x8a, message, bytes);
                }
                count += opcode == 2 && read_shape(message, bytes, &shape[count]);
                answered = count > 0 && shape[count - 1].serial > before;
                free(message);
            }
        }
    }

    return count;
}

static int enter(void)
{
    size_t bytes;
    if (viewer < 0) {
        viewer = ws_connect(server.port, NULL, "pliant");
        assert_true(viewer >= 0);
        unsigned char *ready = ws_await(viewer, "\"state\":\"ready\"", &bytes, PATIENCE);
        assert_non_null(ready);
        free(ready);
    }

    return viewer;
}

static void expect_same(const seen *a, const seen *b)
{
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(a->tip[i], b->tip[i], SAME);
    }
}

static void test_solved_on_the_path(void **state)
{
    (void)state;
    seen shape[64];
    const int fd = enter();
    settle(fd, 0.01 * HIGH);
    const int before = serial, count = drag(fd, shape, 64);
    int intermediate = 0;
    for (int i = 0; i < count; ++i) {
        assert_true(shape[i].converged);
        if (isnan(shape[i].towards)) {
            assert_true(shape[i].pressure >= 0.97 * HIGH - 1e-6);
            continue;
        }
        // between where the hand began and where it is; it answers nothing that was asked since. A shape may
        // come again with its details.
        assert_true(i ? shape[i].pressure >= shape[i - 1].pressure : shape[i].pressure > 0.01 * HIGH);
        assert_true(shape[i].pressure < HIGH);
        assert_true(shape[i].serial <= before && shape[i].towards > before);
        ++intermediate;
    }

    print_message("%d requests, %d shapes heard, %d of them on the path\n", serial - before, count,
                  intermediate);
    assert_true(intermediate >= 1);

    // the hand rests: its last request is answered
    seen last = shape[count - 1];
    while (last.serial < serial) {
        next_shape(fd, &last);
    }
    assert_true(last.converged && isnan(last.towards));
    const double asked = (serial - before) % 2 ? HIGH : 0.97 * HIGH;
    PL_CHECK_NEAR(last.pressure, asked, 1e-6);

    // what was shown on the path is the equilibrium at its commands, which another path leads to
    const seen again = settle(fd, shape[intermediate - 1].pressure);
    expect_same(&again, &shape[intermediate - 1]);
}

// A hand that turns back while a step is being solved: the request near rest is answered by the same shape as
// before.
static void test_turns_back(void **state)
{
    (void)state;
    const int fd = enter();
    const seen first = settle(fd, 0.02 * HIGH);
    seen passed = {0};
    request(fd, HIGH);
    next_shape(fd, &passed);
    const seen back = settle(fd, 0.02 * HIGH);
    expect_same(&back, &first);
}

static void request_target(int fd, const double target[3])
{
    char text[300];
    snprintf(text, sizeof text,
             "{\"type\":\"target\",\"robot\":1,\"serial\":%d,\"marker\":0,\"target\":[%.9g,%.9g,%.9g]}",
             ++serial, target[0], target[1], target[2]);
    assert_true(ws_say(fd, text));
}

// A target far out of reach: what is shown are equilibria that do not go away from it, up to an answer after
// which other starts are tried. Commands overtake that, and it leaves nothing behind.
static void test_out_of_reach(void **state)
{
    (void)state;
    const int fd = enter();
    const seen start = settle(fd, 0.9 * HIGH);
    const double far[3] = {start.tip[0], start.tip[1], start.tip[2] - 300};
    double least = INFINITY;
    seen s = {0};
    request_target(fd, far);
    do {
        next_shape(fd, &s);
        print_message("%.6g mm away%s\n", s.distance, s.searching ? ", searching" : "");
        assert_true(s.converged && isfinite(s.distance));
        assert_true(s.distance <= least + SAME);
        least = s.distance;
    } while (s.serial < serial);

    assert_true(s.searching && isnan(s.towards)); // answered, and other starts are tried
    assert_true(least > 200);
    const seen back = settle(fd, 0.9 * HIGH);
    expect_same(&back, &start);
}

// In time: frames follow each other, none of them is called solved, the body moves; commands without `live`
// end the motion and are answered by the same equilibrium as ever.
static void test_motion(void **state)
{
    (void)state;
    const int fd = enter();
    const seen start = settle(fd, 0.1 * HIGH);
    char text[200];
    double time = 0, travel = 0;
    seen s = {0};
    snprintf(text, sizeof text,
             "{\"type\":\"set\",\"robot\":1,\"serial\":%d,\"commands\":[%.9g],\"live\":true}", ++serial,
             0.2 * HIGH);
    assert_true(ws_say(fd, text));
    for (int frame = 0; frame < 4; ++frame) {
        next_shape(fd, &s);
        print_message("t = %.3f s, tip z %.4f mm\n", s.time, s.tip[2]);
        assert_true(s.time > time && !s.converged);
        time = s.time;
        travel = fmax(travel, fabs(s.tip[2] - start.tip[2]));
    }

    assert_true(travel > SAME);
    const seen back = settle(fd, 0.1 * HIGH);
    assert_true(isnan(back.time));
    expect_same(&back, &start);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/pliant-drag-XXXXXX", command[1000], robot[100];
    if (argc < 2 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: %s PLIANT\n", argv[0]);
        return 2;
    }

    snprintf(robot, sizeof robot, "%s/robot", folder);
    setenv("PLIANT_WEB", folder, 1); // a page that stands in for the real one, which needs npm
    snprintf(command, sizeof command,
             "cd %s && mkdir -p three/build && touch index.html three/build/three.module.js && "
             "'%.300s' new bending_finger %s --param modules=2 --param length=26 >/dev/null && "
             "sed -i 's|poisson: 0.49}|poisson: 0.49, density: 1070 kg/m^3}|; s|poisson: 0.4}|poisson: 0.4, "
             "density: 1200 "
             "kg/m^3}|' %s/robot.yaml",
             folder, argv[1], robot, robot);
    const char *const arguments[] = {robot, "--size", "7", NULL};
    int failed = 1;
    if (system(command) == 0 && ws_start(&server, argv[1], arguments)) {
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_motion),
            cmocka_unit_test(test_solved_on_the_path),
            cmocka_unit_test(test_turns_back),
            cmocka_unit_test(test_out_of_reach),
        };
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        close(viewer);
        ws_stop(&server, SIGTERM);
    } else {
        fprintf(stderr, "the server did not start\n");
    }

    snprintf(command, sizeof command, "rm -rf %s", folder);

    return system(command) == 0 && !failed ? 0 : 1;
}
