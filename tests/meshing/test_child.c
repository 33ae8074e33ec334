// The mesher's own process: whatever happens in it ends in a sentence, never in the end of this program.
#include <errno.h>
#include <gmshc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "meshing/meshing_child.h"
#include "meshing/meshing.h"
#include "meshing/meshing_impl.h"
#include "meshing_tools.h"

// ---- ways to end poorly, before (user[0] < 0) or while meshing, on attempts below user[0]
typedef struct trouble {
    int attempts; // that go wrong
    const char *stage;
    void (*happens)(void);
} trouble;

static void happens_abort(void)
{
    fputs("mesher.cpp:12: assertion 'ring closed' failed\n", stderr);
    abort();
}

static void happens_segv(void)
{
    raise(SIGSEGV);
}

static void happens_loop(void)
{
    for (volatile double x = 0;; x += 1) {
    }
}

static void happens_memory(void)
{
    for (size_t taken = 0; taken < (size_t)1 << 40; taken += 1 << 26) {
        char *block = malloc(1 << 26);
        if (!block) {
            fputs("terminate called after throwing an instance of 'std::bad_alloc'\n", stderr);
            abort();
        }
        for (size_t i = 0; i < 1 << 26; i += 4096) {
            block[i] = 1;
        }
    }
}

static void happens_exit(void)
{
    _exit(0);
}

static pl_status trouble_work(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                              pl_error *err)
{
    const trouble *t = user;
    meshing_allow(1);
    pl_status status = meshing_stage(progress, 0.5, t->stage, err);
    if (status == PL_OK && meshing_attempt() < t->attempts) {
        t->happens();
    }

    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = "beam", .size = 20, .order = 1};
    const int32_t element[] = {3, 1, 4};
    pl_findings_add(findings, PL_WARNING, "file", 7, "a warning");
    pl_findings_advise(findings, "some advice");
    pl_findings_place(findings, (const double[3]){1, 2, 3}, element, 3);

    return status == PL_OK ? pl_meshing_mesher()->build(NULL, &source, progress, out, findings, err) : status;
}

static pl_status trouble_run(const trouble *t, const pl_progress *progress, pl_mesh **mesh,
                             pl_findings *findings, pl_error *err)
{
    trouble copy = *t;
    const child_job job = {"part", trouble_work, &copy, meshing_parts_setting};
    *err = (pl_error){0};
    return meshing_isolate(&job, progress, mesh, findings, err);
}

static void test_child_fails(void **state)
{
    (void)state;
    const struct {
        trouble t;
        pl_status status;
        const char *word[2];
    } failure[] = {
        {{9, "meshing the edges", happens_abort}, PL_FAILED, {"ring closed", "meshing the edges"}},
        {{9, "reading STEP", happens_segv},
         PL_FAILED,
         {"memory error while reading STEP", "export it again"}},
        {{9, "reading STEP", happens_loop}, PL_FAILED, {"did not finish", "reading STEP"}},
        {{9, "meshing the volume", happens_exit}, PL_FAILED, {"without a result", "meshing the volume"}},
    };
    for (size_t i = 0; i < sizeof failure / sizeof failure[0]; ++i) {
        pl_error err;
        pl_mesh *mesh = NULL;
        assert_int_equal(trouble_run(&failure[i].t, NULL, &mesh, NULL, &err), failure[i].status);
        print_message("%s\n", err.text);
        assert_null(mesh);
        assert_non_null(strstr(err.text, failure[i].word[0]));
        assert_non_null(strstr(err.text, failure[i].word[1]));
    }
}

// Memory is limited in the child, not by the machine's end: the limit is lowered first, so that the test is
// small.
static void test_child_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    struct rlimit before, limit;
    getrlimit(RLIMIT_DATA, &before);
    limit = before;
    limit.rlim_cur = limit.rlim_max = (rlim_t)512 << 20;
    const pid_t pid = fork(); // the hard limit cannot be raised again
    if (pid == 0) {
        setrlimit(RLIMIT_DATA, &limit);
        const trouble t = {9, "meshing the volume", happens_memory};
        pl_error err;
        pl_mesh *mesh = NULL;
        const pl_status status = trouble_run(&t, NULL, &mesh, NULL, &err);
        _exit(status == PL_NO_MEMORY && strstr(err.text, "out of memory") ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

// The second or third setting works: a mesh, and a note that says why.
static void test_child_tries_again(void **state)
{
    (void)state;
    for (int attempts = 0; attempts < 4; ++attempts) {
        const trouble t = {attempts, "meshing the surfaces", happens_abort};
        pl_findings *findings = pl_findings_create();
        pl_error err;
        pl_mesh *mesh = NULL;
        PL_CHECK_OK(trouble_run(&t, NULL, &mesh, findings, &err));
        assert_non_null(mesh);
        PL_CHECK_NEAR(pl_mesh_region_volume(mesh, -1), pl_design_volume("beam", NULL, 0, "body"), 1e-6);
        // findings come through whole
        const pl_finding *f = pl_findings_at(findings, 0);
        assert_int_equal(f->severity, PL_WARNING);
        assert_string_equal(f->text, "a warning");
        assert_string_equal(f->advice, "some advice");
        assert_string_equal(f->file, "file");
        assert_int_equal(f->element_count, 3);
        assert_int_equal(f->elements[2], 4);
        const pl_finding *last = pl_findings_at(findings, pl_findings_count(findings) - 1);
        assert_true((strstr(last->text, "other settings") != NULL) == (attempts > 0));
        pl_findings_destroy(findings);
        pl_mesh_destroy(mesh);
    }
}

// ---- a mesher that answers: with a failure of its own, with a mesh it doubts, or that the input is wrong
typedef struct answer {
    int failures;   // attempts that end with Gmsh's words
    double badness; // of attempt 0's mesh; later ones are half as bad each
    bool blame_input;
} answer;

static pl_status answer_work(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                             pl_error *err)
{
    const answer *a = user;
    if (meshing_attempt() < a->failures) {
        meshing_doubt(a->blame_input ? 0 : INFINITY);
        return pl_fail(err, PL_BAD_INPUT, "part: Could not recover boundary mesh: error %d", 2);
    }

    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = "beam", .size = 20, .order = 1};
    const pl_status status = pl_meshing_mesher()->build(NULL, &source, progress, out, findings, err);
    meshing_doubt(a->badness / (1 << meshing_attempt()));

    return status;
}

static pl_status answer_run(answer a, pl_mesh **mesh, pl_findings *findings, pl_error *err)
{
    const child_job job = {"part", answer_work, &a, meshing_parts_setting};
    *err = (pl_error){0};
    return meshing_isolate(&job, NULL, mesh, findings, err);
}

static void test_child_answers_a_failure(void **state)
{
    (void)state;
    pl_error err;
    pl_mesh *mesh = NULL;

    // the second and the third setting do it, and a note says which
    for (int failures = 1; failures < 3; ++failures) {
        pl_findings *findings = pl_findings_create();
        PL_CHECK_OK(answer_run((answer){.failures = failures}, &mesh, findings, &err));
        const pl_finding *note = pl_findings_at(findings, pl_findings_count(findings) - 1);
        print_message("%s\n", note->text);
        assert_non_null(strstr(note->text, "Could not recover boundary mesh: error 2"));
        assert_non_null(strstr(note->text, meshing_parts_setting(failures)));
        pl_findings_destroy(findings);
        pl_mesh_destroy(mesh);
    }

    // none does: why, and what was tried
    assert_int_equal(answer_run((answer){.failures = 99}, &mesh, NULL, &err), PL_BAD_INPUT);
    print_message("%s\n", err.text);
    assert_null(mesh);
    assert_non_null(strstr(err.text, "error 2"));
    for (int k = 1; k < MESHING_ATTEMPTS; ++k) {
        assert_non_null(strstr(err.text, meshing_parts_setting(k)));
    }

    // wrong input is not tried again
    assert_int_equal(answer_run((answer){.failures = 1, .blame_input = true}, &mesh, NULL, &err),
                     PL_BAD_INPUT);
    assert_null(strstr(err.text, "other settings"));
}

// Meshes that are not like the part: the first good one is taken, or the best of all.
static void test_child_doubts_its_mesh(void **state)
{
    (void)state;
    const double badness[] = {0.9, 3, 1000};
    const int taken[] = {0, 2, 2};
    for (int i = 0; i < 3; ++i) {
        pl_error err;
        pl_mesh *mesh = NULL;
        pl_findings *findings = pl_findings_create();
        PL_CHECK_OK(answer_run((answer){.badness = badness[i]}, &mesh, findings, &err));
        assert_non_null(mesh);
        const int count = pl_findings_count(findings);
        const char *last = count > 0 ? pl_findings_at(findings, count - 1)->text : "";
        assert_true((strstr(last, "not like the part") != NULL) == (taken[i] > 0));
        assert_true(taken[i] == 0 || strstr(last, meshing_parts_setting(taken[i])));
        pl_findings_destroy(findings);
        pl_mesh_destroy(mesh);
    }
}

static bool stop_after(void *user, double fraction, const char *what)
{
    (void)fraction;
    (void)what;
    int *left = user;
    return --*left > 0;
}

static double test_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A stage that never asks is ended soon after the caller says stop.
static void test_child_interrupted(void **state)
{
    (void)state;
    int left = 3;
    const pl_progress progress = {stop_after, &left};
    const trouble t = {9, "meshing the volume", happens_loop};
    pl_error err;
    pl_mesh *mesh = NULL;
    const double begin = test_seconds();
    assert_int_equal(trouble_run(&t, &progress, &mesh, NULL, &err), PL_INTERRUPTED);
    print_message("%s, after %.2f s\n", err.text, test_seconds() - begin);
}

// ---- damaged STEP files
static size_t child_step_file(const char *path, char *bytes, size_t room)
{
    int ierr, object[2] = {3, 1}, tool[2] = {3, 2}, *out, **map;
    size_t out_n, *map_n, map_nn;
    pl_error err = {0};

    PL_CHECK_OK(meshing_gmsh_load(&err));
    gmshInitialize(0, NULL, 0, &ierr);
    gmshOptionSetNumber("General.Terminal", 0, &ierr);
    gmshModelOccAddBox(0, 0, 0, 20, 10, 10, 1, &ierr);
    gmshModelOccAddCylinder(5, 5, -1, 0, 0, 12, 3, 2, 2 * 3.14159265358979, &ierr);
    gmshModelOccCut(object, 2, tool, 2, &out, &out_n, &map, &map_n, &map_nn, -1, 1, 1, &ierr);
    gmshModelOccSynchronize(&ierr);
    gmshWrite(path, &ierr);
    gmshFinalize(&ierr);
    for (size_t i = 0; i < map_nn; ++i) {
        gmshFree(map[i]);
    }
    gmshFree(map);
    gmshFree(map_n);
    gmshFree(out);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);

    return size;
}

// One byte changed or lost: a mesh or a sentence. The counts are printed; that we get to print them is the
// test.
static void test_child_damaged_step(void **state)
{
    (void)state;
    static char whole[1 << 17], bytes[1 << 17];
    const size_t size = child_step_file(tools_path("whole.step"), whole, sizeof whole);
    const unsigned seed = 20261;
    int outcome[PL_FAILED + 1] = {0};
    srand(seed);
    for (int round = 0; round < 80; ++round) {
        const size_t at = 900 + (size_t)rand() % (size - 900);
        memcpy(bytes, whole, size);
        size_t left = size;
        if (round % 2) {
            memmove(bytes + at, bytes + at + 1, size - at - 1);
            --left;
        } else {
            bytes[at] ^= (char)(1 << rand() % 7);
        }
        tools_write(tools_path("damaged.step"), bytes, left);
        const pl_mesh_source source = {
            .kind = PL_SOURCE_STEP, .path = tools_path("damaged.step"), .size = 6, .order = 1};
        pl_error err = {0};
        pl_mesh *mesh = NULL;
        const pl_status status = tools_build(&source, &mesh, NULL, &err);
        assert_true((status == PL_OK) == (mesh != NULL) && (status == PL_OK) == (err.text[0] == 0));
        if (status == PL_FAILED && outcome[status] < 3) {
            print_message("%s\n", err.text);
        }
        ++outcome[status];
        pl_mesh_destroy(mesh);
    }

    print_message("seed %u: %d meshed, %d refused, %d ended the mesher\n", seed, outcome[PL_OK],
                  outcome[PL_BAD_INPUT], outcome[PL_FAILED]);
    assert_true(outcome[PL_OK] > 0);
}

// ---- writing: a disk that takes no more, and a link in its place
static void test_child_full_disk(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = "beam", .size = 10, .order = 2};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    const char *path = tools_path("full.msh");
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 20000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const pl_status status = pl_meshing_write_msh(mesh, path, true, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, PL_BAD_FILE);
    print_message("%s\n", err.text);
    int files = 0;
    DIR *folder = opendir(tools_folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        files += strncmp(entry->d_name, "full.msh", 8) == 0;
    }
    closedir(folder);
    assert_int_equal(files, 0);

    // a link at the target is replaced, not followed
    char other[256];
    snprintf(other, sizeof other, "%s", tools_path("other"));
    tools_write(other, "mine", 4);
    assert_int_equal(symlink(other, tools_path("full.msh")), 0);
    PL_CHECK_OK(pl_meshing_write_msh(mesh, tools_path("full.msh"), true, &err));
    struct stat info;
    assert_int_equal(stat(other, &info), 0);
    assert_int_equal(info.st_size, 4);
    assert_int_equal(lstat(tools_path("full.msh"), &info), 0);
    assert_true(S_ISREG(info.st_mode));
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_fails),           cmocka_unit_test(test_child_memory),
        cmocka_unit_test(test_child_tries_again),     cmocka_unit_test(test_child_answers_a_failure),
        cmocka_unit_test(test_child_doubts_its_mesh), cmocka_unit_test(test_child_interrupted),
        cmocka_unit_test(test_child_damaged_step),    cmocka_unit_test(test_child_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
