// A server that strangers talk to: wrong origins, broken frames, messages too large or without sense, a
// thousand viewers who come and go. It stays up, its memory stays flat, and it ends when asked.
#include "check.h"
#include "ws_client.h"

// kB; a sanitizer keeps freed memory for a while
#if defined(__SANITIZE_ADDRESS__)
#define ROBUST_GROWTH 300000
#else
#define ROBUST_GROWTH 2000
#endif

static ws_server server;

static void expect_alive(void)
{
    size_t bytes;
    const int fd = ws_connect(server.port, NULL, "pliant");

    assert_true(fd >= 0);
    unsigned char *hello = ws_await(fd, "\"type\":\"hello\"", &bytes, 20);
    assert_non_null(hello);
    free(hello);
    close(fd);
}

static void test_origins(void **state)
{
    (void)state;
    char own[60];
    snprintf(own, sizeof own, "http://127.0.0.1:%d", server.port);
    static const char *const wrong[] = {"http://evil.example", "null", "https://127.0.0.1", "file://"};
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(ws_connect(server.port, wrong[i], "pliant"), -1);
    }
    assert_int_equal(ws_connect(server.port, own, NULL), -1);
    assert_int_equal(ws_connect(server.port, own, "other"), -1);
    const int fd = ws_connect(server.port, own, "pliant");
    assert_true(fd >= 0);
    close(fd);
}

// Frames that break the rules end their own connection and nothing else.
static void test_broken_frames(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        unsigned char byte[16];
        size_t bytes;
    } broken[] = {
        {"no mask", {0x81, 0x02, '{', '}'}, 4},
        {"reserved bits", {0xf1, 0x80, 0, 0, 0, 0}, 6},
        {"unknown opcode", {0x83, 0x80, 0, 0, 0, 0}, 6},
        {"an endless length", {0x82, 0xff, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}, 14},
        {"a negative length", {0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}, 14},
        {"a ping in pieces", {0x09, 0x80, 0, 0, 0, 0}, 6},
        {"a long ping", {0x89, 0xfe, 0x01, 0x00, 1, 2, 3, 4}, 8},
        {"a continuation of nothing", {0x80, 0x80, 0, 0, 0, 0}, 6},
        {"half a header", {0x81}, 1},
        {"not UTF-8", {0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe}, 8},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; ++i) {
        const int fd = ws_connect(server.port, NULL, "pliant");
        assert_true(fd >= 0);
        ws_put(fd, broken[i].byte, broken[i].bytes);
        ws_rest(2);
        close(fd);
        expect_alive();
    }

    // noise, instead of frames and instead of HTTP; always the same
    uint32_t random = 12345;
    for (int run = 0; run < 60; ++run) {
        const int fd = run % 2 ? ws_connect(server.port, NULL, "pliant") : ws_socket(server.port);
        unsigned char noise[400];
        for (size_t i = 0; i < sizeof noise; ++i) {
            random = 1664525 * random + 1013904223;
            noise[i] = (unsigned char)(random >> 24);
        }
        assert_true(fd >= 0);
        ws_put(fd, noise, sizeof noise);
        close(fd);
    }

    expect_alive();
}

// Refused messages keep the connection: each is answered with a sentence.
static void test_senseless_messages(void **state)
{
    (void)state;
    static const char *const senseless[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"type\":7}",
        "{\"type\":\"fly\"}",
        "{\"type\":\"set\"}",
        "{\"type\":\"set\",\"robot\":1,\"serial\":1,\"commands\":\"all\"}",
        "{\"type\":\"set\",\"robot\":1,\"serial\":1,\"commands\":[1,2,\"x\"]}",
        "{\"type\":\"set\",\"robot\":1,\"serial\":1,\"commands\":[1e400]}",
        "{\"type\":\"set\",\"robot\":-1,\"serial\":1,\"commands\":[]}",
        "{\"type\":\"read\",\"text\":5,\"name\":\"a\"}",
        "{\"type\":\"read\",\"text\":\"x,y\\n1,2\",\"name\":\"a\"}",
        "{\"type\":\"set\",\"robot\":1,\"serial\":1,\"commands\":[0,0]}",
        "{\"type\":\"set\",\"robot\":1,\"serial\":1,\"commands\":[1e9,0,0]}",
        "{\"type\":\"target\",\"robot\":1,\"serial\":1,\"marker\":99,\"target\":[0,0,0]}",
        "{\"type\":\"target\",\"robot\":1,\"serial\":1,\"marker\":0,\"target\":[0,0]}",
        "{\"type\":\"follow\",\"robot\":1,\"marker\":0,\"points\":[1,2,3]}",
        "{\"type\":\"follow\",\"robot\":1,\"marker\":0,\"points\":[1,2,3,4,5,6,7]}",
        "{\"type\":\"follow\",\"robot\":1,\"marker\":55,\"points\":[1,2,3,4,5,6]}",
        "{\"type\":\"cloud\",\"robot\":1,\"marker\":0,\"count\":1e9}",
        "{\"type\":\"export\",\"robot\":1,\"format\":\"exe\"}",
        "{\"type\":\"export\",\"robot\":1,\"format\":\"gcode\",\"shapes\":[99999]}",
        "{\"type\":\"export\",\"robot\":1,\"format\":\"../../x\"}",
        "{\"type\":\"open\",\"design\":\"../etc\"}",
        "{\"type\":\"give\",\"yes\":true}",
        "{\"type\":\"set\",\"type\":\"set\"}"};
    const int fd = ws_connect(server.port, NULL, "pliant");
    size_t bytes;
    unsigned char *ready = ws_await(fd, "\"state\":\"ready\"", &bytes, 60);
    assert_non_null(ready);
    free(ready);
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; ++i) {
        assert_true(ws_say(fd, senseless[i]));
        unsigned char *answer = ws_await(fd, "\"type\":\"refused\"", &bytes, 20);
        if (!answer) {
            print_error("no refusal of %s\n", senseless[i]);
        }
        assert_non_null(answer);
        free(answer);
    }

    close(fd);
}

// A table of shapes that were set, not sought: it has no distances, and the server is there afterwards.
static void test_table_of_shapes(void **state)
{
    (void)state;
    const int fd = ws_connect(server.port, NULL, "pliant");
    size_t bytes;
    unsigned char *ready = ws_await(fd, "\"state\":\"ready\"", &bytes, 60);
    assert_non_null(ready);
    free(ready);
    assert_true(ws_say(fd, "{\"type\":\"export\",\"robot\":1,\"format\":\"csv\",\"shapes\":[1]}"));
    unsigned char *file = ws_await(fd, "min_J [1]", &bytes, 20);
    assert_non_null(file);
    free(file);
    close(fd);
    expect_alive();
}

// Files that one viewer asks for again and again do not take another's place.
static void test_files_for_everybody(void **state)
{
    (void)state;
    const int greedy = ws_connect(server.port, NULL, "pliant"),
              other = ws_connect(server.port, NULL, "pliant");
    size_t bytes;
    free(ws_await(greedy, "\"state\":\"ready\"", &bytes, 60));
    free(ws_await(other, "\"state\":\"ready\"", &bytes, 60));
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 4; ++i) {
            assert_true(
                ws_say(greedy, "{\"type\":\"export\",\"robot\":1,\"format\":\"vtu\",\"shapes\":[1]}"));
        }
        assert_true(ws_say(other, "{\"type\":\"export\",\"robot\":1,\"format\":\"csv\",\"shapes\":[1]}"));
        unsigned char *file = ws_await(other, "min_J [1]", &bytes, 20);
        assert_non_null(file);
        free(file);
    }

    close(greedy);
    close(other);
    expect_alive();
}

// More than the limit closes the connection with code 1009, in one piece or in many.
static void test_oversized(void **state)
{
    (void)state;
    char *large = malloc(400000);
    assert_non_null(large);
    memset(large, ' ', 400000);
    for (int pieces = 1; pieces <= 8; pieces *= 8) {
        const int fd = ws_connect(server.port, NULL, "pliant");
        for (int i = 0; i < pieces; ++i) {
            const int first = (i == 0 ? 1 : 0) | (i == pieces - 1 ? 0x80 : 0);
            ws_frame(fd, first, large, 400000 / (size_t)pieces);
        }
        unsigned char *payload = NULL;
        size_t bytes = 0;
        int opcode;
        while ((opcode = ws_hear(fd, &payload, &bytes, 20)) >= 0 && opcode != 8) {
            free(payload);
        }
        // the code may be lost when the server's buffer is cut off; the connection must be over in any case
        if (opcode == 8) {
            assert_int_equal(payload[0] << 8 | payload[1], 1009);
        }
        free(payload);
        close(fd);
    }

    free(large);
    expect_alive();
}

static void come_and_go(int times)
{
    for (int i = 0; i < times; ++i) {
        const int fd = ws_connect(server.port, NULL, "pliant");
        assert_true(fd >= 0);
        if (i % 3 == 0) {
            ws_say(fd, "{\"type\":\"ask\"}");
        }
        if (i % 4 == 0) {
            ws_frame(fd, 0x88, "\x03\xe8", 2);
        }
        close(fd);
    }
}

static void test_a_thousand_viewers(void **state)
{
    (void)state;
    come_and_go(200); // buffers of libraries find their size
    const long before = ws_memory(server.pid);
    come_and_go(1000);
    expect_alive();
    const long after = ws_memory(server.pid);
    print_message("resident memory: %ld kB before, %ld kB after 1000 connections\n", before, after);
    PL_CHECK_BELOW((double)(after - before), ROBUST_GROWTH);
}

static void test_ends_when_asked(void **state)
{
    (void)state;
    const int fd = ws_connect(server.port, NULL, "pliant"); // somebody is looking
    assert_true(fd >= 0);
    assert_int_equal(ws_stop(&server, SIGTERM), 0);
    close(fd);
}

// With a token only who knows it enters, through the address the server prints.
static void test_token(void **state)
{
    const char *const arguments[] = {"--demo", "--host", "127.0.0.1", "--token", "blue-heron-27", NULL};
    ws_server other;

    assert_true(ws_start(&other, *state, arguments));
    assert_int_equal(ws_connect(other.port, NULL, "pliant"), -1);
    assert_int_equal(ws_connect_at(other.port, "/?token=blue-heron-28", NULL, "pliant"), -1);
    assert_int_equal(ws_connect_at(other.port, "/?token=", NULL, "pliant"), -1);
    assert_int_equal(ws_connect_at(other.port, "/?token=blue-heron-27", "http://evil.example", "pliant"), -1);
    const int fd = ws_connect_at(other.port, "/?token=blue-heron-27", NULL, "pliant");
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ws_stop(&other, SIGINT), 0);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/pliant-robust-XXXXXX", command[600], robot[100];
    if (argc < 2 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: %s PLIANT\n", argv[0]);
        return 2;
    }

    snprintf(robot, sizeof robot, "%s/robot", folder);
    setenv("XDG_CACHE_HOME", folder, 1); // for the gallery
    setenv("PLIANT_WEB", folder, 1);     // a page that stands in for the real one, which needs npm
    snprintf(command, sizeof command,
             "cd %s && mkdir -p three/build && touch index.html three/build/three.module.js && "
             "'%.300s' new segment %s >/dev/null",
             folder, argv[1], robot);
    const char *const arguments[] = {robot, "--order", "1", "--size", "9", "--threads", "1", NULL};
    int failed = 1;
    if (system(command) == 0 && ws_start(&server, argv[1], arguments)) {
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_origins),
            cmocka_unit_test(test_broken_frames),
            cmocka_unit_test(test_senseless_messages),
            cmocka_unit_test(test_table_of_shapes),
            cmocka_unit_test(test_files_for_everybody),
            cmocka_unit_test(test_oversized),
            cmocka_unit_test(test_a_thousand_viewers),
            cmocka_unit_test(test_ends_when_asked),
            cmocka_unit_test_prestate(test_token, argv[1]),
        };
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    } else {
        fprintf(stderr, "the server did not start\n");
    }

    if (failed && server.pid > 0) {
        kill(server.pid, SIGKILL);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);

    return system(command) == 0 && !failed ? 0 : 1;
}
