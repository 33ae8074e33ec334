// Who may enter, which files are seen, and that the queue keeps the newest message only.
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "server_net.h"

// On loopback only pages of this very server may open a WebSocket, whatever name they came by.
static void test_origins(void **state)
{
    (void)state;
    const server_options here = {.host = "127.0.0.1"};
    assert_true(net_may_enter(&here, "127.0.0.1:8765", "http://127.0.0.1:8765", ""));
    assert_true(net_may_enter(&here, "localhost:8765", "http://localhost:8765", ""));
    assert_true(net_may_enter(&here, "[::1]:8765", "http://[::1]:8765", ""));
    assert_true(net_may_enter(&here, "127.0.0.1:8765", "", "")); // a program
    assert_false(net_may_enter(&here, "127.0.0.1:8765", "http://evil.example", ""));
    assert_false(net_may_enter(&here, "127.0.0.1:8765", "http://127.0.0.1:9999", ""));
    assert_false(net_may_enter(&here, "127.0.0.1:8765", "null", ""));
    assert_false(net_may_enter(&here, "127.0.0.1:8765", "file://", ""));

    // a foreign name that resolves to this machine
    assert_false(net_may_enter(&here, "evil.example:8765", "http://evil.example:8765", ""));
    assert_false(net_may_enter(&here, "127.0.0.1.evil.example", "", ""));
    assert_false(net_may_enter(&here, "", "", ""));
}

static void test_tokens(void **state)
{
    (void)state;
    const server_options open = {.host = "0.0.0.0", .token = "blue-heron-27"};
    assert_true(net_may_enter(&open, "lab:8765", "http://lab:8765", "blue-heron-27"));
    assert_true(net_may_enter(&open, "lab", "https://lab", "blue-heron-27"));
    assert_false(net_may_enter(&open, "lab:8765", "http://lab:8765", ""));
    assert_false(net_may_enter(&open, "lab:8765", "http://lab:8765", "blue-heron-2"));
    assert_false(net_may_enter(&open, "lab:8765", "http://lab:8765", "blue-heron-277"));
    assert_false(net_may_enter(&open, "127.0.0.1:8765", "http://127.0.0.1:8765", "guess"));
    assert_false(net_may_enter(&open, "lab:8765", "http://other:8765", "blue-heron-27"));
}

static void file_is(const char *address, const char *expected)
{
    const server_options o = {.page = "/page", .three = "/lib/three"};
    const char *type;
    char *path = net_file_of(&o, address, &type);

    if (expected) {
        assert_non_null(path);
        assert_string_equal(path, expected);
        assert_non_null(type);
    } else {
        assert_null(path);
    }

    free(path);
}

// Plain names below the two folders, of known types; nothing else.
static void test_files(void **state)
{
    (void)state;
    file_is("/", "/page/index.html");
    file_is("/app.js", "/page/app.js");
    file_is("/gallery/beam.png", "/page/gallery/beam.png");
    file_is("/three/build/three.module.js", "/lib/three/build/three.module.js");
    static const char *const wrong[] = {"/../etc/passwd.html",
                                        "/a/../../b.js",
                                        "//etc/x.js",
                                        "/.git/config.js",
                                        "/package.json",
                                        "/app.js%00.html",
                                        "/a\\b.js",
                                        "/three/../x.js",
                                        "/node_modules/a.js",
                                        "/three//x.js",
                                        "/app.js\n.html",
                                        "",
                                        "/noextension",
                                        "/x.JS"};
    for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); ++i) {
        file_is(wrong[i], NULL);
    }
}

static int woken;
static void wake(void *user)
{
    (void)user;
    ++woken;
}

static void test_queue(void **state)
{
    (void)state;
    server_queue queue;
    assert_true(server_queue_init(&queue));
    queue.wake = wake;
    for (int i = 0; i < 100; ++i) {
        server_publish(&queue, SERVER_SHAPE, server_pack_text(i < 99 ? "old" : "new"));
    }
    assert_int_equal(queue.version[SERVER_SHAPE], 100);
    assert_memory_equal(queue.channel[SERVER_SHAPE]->payload, "new", 3);
    assert_int_equal(woken, 100);

    // a second job has to wait for the first
    server_job job = {.kind = SERVER_JOB_CLOUD, .count = 5};
    assert_true(server_request_job(&queue, &job));
    job = (server_job){.kind = SERVER_JOB_FOLLOW};
    assert_false(server_request_job(&queue, &job));

    // files, which anybody may ask for, have a place of their own and do not take that of the work
    job = (server_job){.kind = SERVER_JOB_EXPORT};
    assert_true(server_request_job(&queue, &job));
    job = (server_job){.kind = SERVER_JOB_EXPORT};
    assert_false(server_request_job(&queue, &job));

    // of poses the newest counts
    server_request_pose(&queue, &(server_pose){.serial = 1});
    server_request_pose(&queue, &(server_pose){.serial = 2});
    PL_CHECK_NEAR(queue.pose.serial, 2, 0);
    server_refuse(&queue, 7, "no: \"%s\"", "quoted");
    assert_non_null(queue.reply);
    assert_non_null(strstr((char *)queue.reply->message->payload, "\\\"quoted\\\""));
    server_queue_clear(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
