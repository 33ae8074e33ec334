// The leader: while a hand drags, shapes of the coarse mesh are ahead of the fine one. Each shape is an
// equilibrium at the commands it names and answers the request for them; no older one follows a newer one;
// the last request is answered on the fine mesh, by the same shape as on another path. No second is asserted.
#include <jansson.h>
#include <math.h>
#include "check.h"
#include "ws_client.h"

#define PATIENCE 120 // s for anything to come
#define EVENT 16     // ms between two requests
#define HIGH 10.0    // mm of the flexor
#define REQUESTS 150
#define SAME 0.01 // mm: two paths to one equilibrium

static ws_server server;
static int viewer;
static double asked[1000]; // mm, by serial
static int serial;

typedef struct seen {
    double serial, towards, pull, tip[3];
    bool converged, coarse, searching;
    char reached[24];
} seen;

static void request(double pull)
{
    char text[200];
    asked[++serial] = pull;
    snprintf(text, sizeof text, "{\"type\":\"set\",\"robot\":1,\"serial\":%d,\"commands\":[%.9g,1,1]}",
             serial, pull);
    assert_true(ws_say(viewer, text));
}

// What a shape message says; false for other messages.
static bool read_shape(const unsigned char *message, size_t bytes, seen *out)
{
    uint32_t kind, json, arrays;
    if (bytes < 16 || memcmp(message, "PLV1", 4) != 0) {
        return false;
    }

    memcpy(&kind, message + 4, 4);
    memcpy(&json, message + 8, 4);
    memcpy(&arrays, message + 12, 4);
    json_t *head =
        kind == 2 ? json_loadb((const char *)message + 16 + 16 * (size_t)arrays, json, 0, NULL) : NULL;
    if (!head) {
        return false;
    }

    const json_t *record = json_object_get(head, "record"), *towards = json_object_get(head, "towards"),
                 *flexor = json_object_get(json_object_get(record, "commands"), "flexor"),
                 *tip =
                     json_object_get(json_object_get(json_object_get(record, "markers"), "tip"), "position"),
                 *ik = json_object_get(head, "ik");
    const char *outcome = json_string_value(json_object_get(ik, "outcome"));
    *out = (seen){.serial = json_number_value(json_object_get(head, "serial")),
                  .towards = towards ? json_number_value(towards) : NAN,
                  .pull = json_number_value(json_object_get(flexor, "value")),
                  .converged = json_is_true(json_object_get(record, "converged")),
                  .coarse = strcmp(json_string_value(json_object_get(head, "level")), "coarse") == 0};
    out->searching = json_is_true(json_object_get(ik, "searching"));
    snprintf(out->reached, sizeof out->reached, "%s", outcome ? outcome : "");
    for (size_t i = 0; i < 3; ++i) {
        out->tip[i] = json_number_value(json_array_get(tip, i));
    }
    json_decref(head);

    return true;
}

// Hears for `ms`, or until a shape comes.
static bool hear(double ms, seen *out)
{
    struct pollfd wait = {.fd = viewer, .events = POLLIN};
    for (double end = ws_now() + 1e-3 * ms, left; (left = end - ws_now()) > 0;) {
        if (poll(&wait, 1, (int)(1000 * left) + 1) <= 0) {
            continue;
        }
        unsigned char *message;
        size_t bytes;
        const int opcode = ws_hear(viewer, &message, &bytes, PATIENCE);
        assert_true(opcode >= 0);
        if (opcode == 9) {
            ws_frame(viewer, 0x8a, message, bytes);
        }
        const bool shape = opcode == 2 && read_shape(message, bytes, out);
        free(message);
        if (shape) {
            return true;
        }
    }

    return false;
}

// Waits for the fine shape that answers the last request.
static seen finish(void)
{
    seen s = {0};
    do {
        assert_true(hear(1000 * PATIENCE, &s));
        assert_true(s.converged);
    } while (s.coarse || s.serial < serial || s.searching);
    assert_true(isnan(s.towards));

    return s;
}

static void expect_same(const seen *a, const seen *b)
{
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(a->tip[i], b->tip[i], SAME);
    }
}

static void test_coarse_leads(void **state)
{
    (void)state;
    int coarse = 0, fine = 0;
    double last = 0;

    request(0.1 * HIGH);
    finish();
    for (int k = 0; k < REQUESTS; ++k) {
        request((0.1 + 0.9 * k / (REQUESTS - 1)) * HIGH);
        seen s;
        for (double end = ws_now() + 1e-3 * EVENT, left; (left = end - ws_now()) > 0;) {
            if (!hear(1000 * left, &s)) {
                continue;
            }
            assert_true(s.converged);
            assert_true(s.serial >= last);
            last = s.serial;
            if (isnan(s.towards)) {
                PL_CHECK_NEAR(s.pull, asked[(int)s.serial], 1e-6);
            }
            *(s.coarse ? &coarse : &fine) += 1;
        }
    }

    const seen there = finish();
    print_message("%d requests: %d shapes of the coarse mesh, %d of the fine one, then the last\n", REQUESTS,
                  coarse, fine);
    assert_true(coarse > 0);
    PL_CHECK_NEAR(there.pull, HIGH, 1e-6);

    request(0.5 * HIGH);
    finish();
    request(HIGH);
    const seen again = finish();
    expect_same(&again, &there);
}

// A marker that is dragged: the last target is reached on the fine mesh.
static void test_target(void **state)
{
    (void)state;
    request(0.6 * HIGH);
    const seen middle = finish();
    request(0.4 * HIGH);
    const seen start = finish();
    for (int k = 1; k <= 20; ++k) {
        char text[300];
        double at[3];
        seen s;
        for (int i = 0; i < 3; ++i) {
            at[i] = start.tip[i] + 0.05 * k * (middle.tip[i] - start.tip[i]);
        }
        snprintf(text, sizeof text,
                 "{\"type\":\"target\",\"robot\":1,\"serial\":%d,\"marker\":0,\"target\":[%.9g,%.9g,%.9g]}",
                 ++serial, at[0], at[1], at[2]);
        assert_true(ws_say(viewer, text));
        if (hear(EVENT, &s)) {
            assert_true(s.converged);
        }
    }

    const seen s = finish();
    print_message("%s at %.4f %.4f %.4f, asked %.4f %.4f %.4f\n", s.reached, s.tip[0], s.tip[1], s.tip[2],
                  middle.tip[0], middle.tip[1], middle.tip[2]);
    assert_string_equal(s.reached, "reached");
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(s.tip[i], middle.tip[i], 0.1);
    }
}

// A page that was loaded again counts its requests from the start: the newest is the one that came last, not
// the one with the largest number.
static void test_serials_of_another_page(void **state)
{
    (void)state;
    for (int k = 0; k < 10; ++k) { // until the coarse mesh leads
        request((0.2 + 0.05 * k) * HIGH);
    }
    finish();

    serial = 0;
    request(0.3 * HIGH);
    request(0.9 * HIGH);
    seen s = {0};
    const double end = ws_now() + PATIENCE;
    while ((s.coarse || s.serial != serial || !isnan(s.towards)) && ws_now() < end) {
        assert_true(hear(1000 * PATIENCE, &s));
    }
    PL_CHECK_NEAR(s.serial, serial, 0);
    PL_CHECK_NEAR(s.pull, 0.9 * HIGH, 1e-6);
    assert_true(s.converged && !s.coarse);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/pliant-lead-XXXXXX", command[1000], robot[100];
    if (argc < 2 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: %s PLIANT\n", argv[0]);
        return 2;
    }

    snprintf(robot, sizeof robot, "%s/robot", folder);
    setenv("PLIANT_WEB", folder, 1); // a page that stands in for the real one, which needs npm
    snprintf(command, sizeof command,
             "cd %s && mkdir -p three/build && touch index.html three/build/three.module.js && "
             "'%.300s' new cable_finger %s >/dev/null",
             folder, argv[1], robot);
    const char *const arguments[] = {robot, "--size", "4.2", NULL};
    int failed = 1;
    if (system(command) == 0 && ws_start(&server, argv[1], arguments)) {
        size_t bytes;
        viewer = ws_connect(server.port, NULL, "pliant");
        unsigned char *ready = ws_await(viewer, "\"state\":\"ready\"", &bytes, PATIENCE);
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_coarse_leads), cmocka_unit_test(test_target),
                                           cmocka_unit_test(test_serials_of_another_page)};
        failed = !ready || cmocka_run_group_tests(tests, NULL, NULL);
        free(ready);
        close(viewer);
        ws_stop(&server, SIGTERM);
    } else {
        fprintf(stderr, "the server did not start\n");
    }

    snprintf(command, sizeof command, "rm -rf %s", folder);

    return system(command) == 0 && !failed ? 0 : 1;
}
