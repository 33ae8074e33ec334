// The ground: status texts, findings, growing text, the nearest word, random numbers, hashes, memory.
#include <stdlib.h>
#include "check.h"
#include "base/base.h"

static pl_error err;

static void test_status(void **state)
{
    (void)state;
    assert_string_equal(pl_status_text(PL_OK), "done");
    assert_string_equal(pl_status_text(PL_NO_MEMORY), "out of memory");
    assert_string_equal(pl_status_text((pl_status)99), "unknown status");
    assert_string_equal(pl_status_text((pl_status)-1), "unknown status");
    assert_int_equal(pl_fail(&err, PL_BAD_INPUT, "size is %d", 7), PL_BAD_INPUT);
    assert_string_equal(err.text, "size is 7");
    assert_int_equal(err.status, PL_BAD_INPUT);
    assert_int_equal(pl_fail(NULL, PL_FAILED, "nobody listens"), PL_FAILED);

    // a sentence longer than its place is cut, not overrun
    char longer[3000];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    pl_fail(&err, PL_FAILED, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void test_findings(void **state)
{
    (void)state;
    pl_findings *list = pl_findings_create();
    char file[] = "robot.yaml";
    const int32_t elements[] = {3, 1, 4};
    const double place[3] = {1, 2, 3};
    assert_int_equal(pl_findings_add(list, PL_DEFECT, file, 12, "size is %g", 0.5), 0);
    pl_findings_advise(list, "make it %s", "larger");
    pl_findings_place(list, place, elements, 3);
    file[0] = '?'; // the list has its own copy
    for (int i = 1; i < 200; ++i) {
        assert_int_equal(pl_findings_add(list, i % 2 ? PL_NOTE : PL_WARNING, NULL, 0, "note %d", i), i);
    }
    assert_int_equal(pl_findings_count(list), 200);
    assert_int_equal(pl_findings_defect_count(list), 1);
    const pl_finding *f = pl_findings_at(list, 0);
    assert_string_equal(f->file, "robot.yaml");
    assert_string_equal(f->text, "size is 0.5");
    assert_string_equal(f->advice, "make it larger");
    assert_int_equal(f->line, 12);
    assert_true(f->has_place);
    assert_memory_equal(f->place, place, sizeof place);
    assert_int_equal(f->element_count, 3);
    assert_memory_equal(f->elements, elements, sizeof elements);
    assert_string_equal(pl_findings_at(list, 199)->text, "note 199");
    assert_string_equal(pl_findings_at(list, 199)->advice, "");
    assert_null(pl_findings_at(list, 200));
    assert_null(pl_findings_at(list, -1));
    pl_findings_destroy(list);

    // no list: nothing happens
    assert_int_equal(pl_findings_add(NULL, PL_DEFECT, NULL, 0, "lost"), -1);
    pl_findings_advise(NULL, "lost");
    pl_findings_place(NULL, place, NULL, 0);
    assert_int_equal(pl_findings_count(NULL), 0);
    pl_findings_destroy(NULL);
}

static void test_text(void **state)
{
    (void)state;
    pl_text text = {0};
    size_t length = 0;
    for (int i = 0; i < 500; ++i) {
        pl_text_add(&text, "%d,", i);
        length += i < 10 ? 2 : i < 100 ? 3 : 4;
    }

    pl_text_add_bytes(&text, "\0end", 4);
    assert_false(text.failed);
    assert_int_equal(text.length, length + 4);
    assert_memory_equal(text.data, "0,1,2,3,", 8);
    assert_memory_equal(text.data + length - 4, "499,\0end", 9); // with the final NUL
    pl_text_clear(&text);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
}

// Whatever a cell contains, a reader of CSV (RFC 4180) gets it back and finds as many cells as were written.
static void test_cells(void **state)
{
    (void)state;
    static const char *const cell[] = {"plain [mm]", "a,b", "say \"x\"", "two\nlines",
                                       "\r",         "",    ",\",\n\"\""};
    pl_text row = {0};
    for (int i = 0; i < PL_COUNT(cell); ++i) {
        pl_text_add(&row, i ? "," : "");
        pl_text_add_cell(&row, "%s", cell[i]);
    }
    const char *c = row.data;
    for (int i = 0; i < PL_COUNT(cell); ++i) {
        char found[40] = "";
        size_t n = 0;
        const bool quoted = *c == '"';
        for (c += quoted; *c && (quoted ? c[0] != '"' || c[1] == '"' : *c != ','); ++c) {
            c += quoted && *c == '"';
            found[n++] = *c;
        }
        c += quoted;
        assert_string_equal(found, cell[i]);
        assert_int_equal(*c, i + 1 < PL_COUNT(cell) ? ',' : 0);
        ++c;
    }
    pl_text_clear(&row);
    assert_true(pl_name_is_valid("flexor-1.x_\xc3\xa4"));
    assert_false(pl_name_is_valid(""));
    assert_false(pl_name_is_valid("a b"));
}

static void test_nearest_word(void **state)
{
    (void)state;
    static const char *const known[] = {"pressure", "volume", "length_ratio", "tension", "set", "air"};
    static const struct {
        const char *word, *nearest;
    } table[] = {{"presure", "pressure"},
                 {"Volume", "volume"},
                 {"lenght_ratio", "length_ratio"},
                 {"tension", "tension"},
                 {"ari", "air"}, // two letters exchanged are one error
                 {"sat", "set"},
                 {"wrt", NULL}, // two of three letters are another word
                 {"zzz", NULL},
                 {"voltage_of_the_film", NULL},
                 {"", NULL}};
    for (int i = 0; i < PL_COUNT(table); ++i) {
        const char *got = pl_nearest_word(table[i].word, known, PL_COUNT(known));
        if (table[i].nearest) {
            assert_non_null(got);
            assert_string_equal(got, table[i].nearest);
        } else {
            assert_null(got);
        }
    }

    char longer[400];
    memset(longer, 'p', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    pl_nearest_word(longer, (const char *const[]){longer, "p"}, 2);
    assert_null(pl_nearest_word("word", NULL, 0));
}

// The same seed gives the same numbers, another seed others; uniform numbers have mean 1/2 and variance 1/12.
static void test_random(void **state)
{
    (void)state;
    pl_random a, b, c;
    pl_random_seed(&a, 42);
    pl_random_seed(&b, 42);
    pl_random_seed(&c, 43);
    const int n = 100000;
    double mean = 0, square = 0;
    int same = 0;
    for (int i = 0; i < n; ++i) {
        const uint64_t x = pl_random_next(&a);
        assert_true(x == pl_random_next(&b));
        same += x == pl_random_next(&c);
        const double u = pl_random_uniform(&a, 2, 3) - 2;
        pl_random_next(&b);
        assert_true(u >= 0 && u < 1);
        mean += u / n;
        square += u * u / n;
    }

    assert_int_equal(same, 0);
    PL_CHECK_NEAR(mean, 0.5, 5 * sqrt(1.0 / 12 / n));
    PL_CHECK_NEAR(square - mean * mean, 1.0 / 12, 1e-3);
}

// Known values of FNV-1a, and chaining: hashing in pieces is hashing in one.
static void test_hash(void **state)
{
    (void)state;
    assert_true(pl_hash_bytes(PL_HASH_SEED, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(pl_hash_bytes(PL_HASH_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(pl_hash_bytes(PL_HASH_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    const uint64_t piece = pl_hash_bytes(pl_hash_bytes(PL_HASH_SEED, "foo", 3), "bar", 3);
    assert_true(piece == UINT64_C(0x85944171f73967e8));
}

static void test_memory(void **state)
{
    (void)state;
    double *zero = PL_NEW_ARRAY(double, 1000);
    for (int i = 0; i < 1000; ++i) {
        assert_true(zero[i] == 0);
    }
    pl_free(zero);
    void *empty = pl_alloc_array(0, 8);
    assert_non_null(empty);
    pl_free(empty);
    pl_free(NULL);

    // sizes that overflow are refused
    assert_null(pl_alloc_array(SIZE_MAX / 4, 8));
    assert_null(pl_resize_array(NULL, SIZE_MAX, 2));
}

// A growing array keeps its content and takes few steps; what cannot be had leaves it as it was.
static void test_growth(void **state)
{
    (void)state;
    int32_t *value = NULL, capacity = 0;
    int steps = 0;
    for (int32_t i = 0; i < 100000; ++i) {
        const int32_t before = capacity;
        assert_true(pl_grow((void **)&value, &capacity, (int64_t)i + 1, sizeof *value));
        steps += capacity != before;
        value[i] = i;
    }

    for (int32_t i = 0; i < 100000; ++i) {
        assert_int_equal(value[i], i);
    }
    PL_CHECK_BELOW(steps, 40);
    const int32_t before = capacity;
    assert_false(pl_grow((void **)&value, &capacity, (int64_t)INT32_MAX + 1, sizeof *value));
    assert_int_equal(capacity, before);
    assert_int_equal(value[99999], 99999);
    pl_free(value);
}

static int allocations_left;

static void *failing_hook(void *user, void *block, size_t bytes)
{
    int *live = user;
    if (bytes == 0) {
        --*live;
        free(block);
        return NULL;
    }

    if (allocations_left-- <= 0) {
        return NULL;
    }
    *live += block == NULL;
    return realloc(block, bytes);
}

// Findings and texts survive a lack of memory at any place and leak nothing.
static void test_no_memory(void **state)
{
    (void)state;
    int live = 0;
    pl_memory_set(failing_hook, &live);
    for (int n = 0; n < 12; ++n) {
        allocations_left = n;
        const int32_t elements[] = {1};
        pl_findings *list = pl_findings_create();
        pl_findings_add(list, PL_DEFECT, "file", 1, "one");
        pl_findings_advise(list, "advice");
        pl_findings_place(list, NULL, elements, 1);
        assert_in_range(pl_findings_count(list), 0, 1);
        pl_text text = {0};
        pl_text_add(&text, "hello");
        assert_true(text.failed || strcmp(text.data, "hello") == 0);
        pl_text_clear(&text);
        pl_findings_destroy(list);
        assert_int_equal(live, 0);
    }

    pl_memory_set(NULL, NULL);
}

static int log_lines;

static void log_hook(void *user, int level, const char *text)
{
    assert_string_equal(text, "level 1 is heard");
    assert_int_equal(level, 1);
    log_lines += *(int *)user;
}

static bool stop_at_half(void *user, double fraction, const char *what)
{
    (void)user;
    assert_non_null(what);
    return fraction < 0.5;
}

static void test_hooks(void **state)
{
    (void)state;
    int one = 1;
    pl_log(0, "nobody listens");
    pl_log_set(log_hook, &one, 1);
    pl_log(1, "level %d is heard", 1);
    pl_log(2, "level 2 is not");
    pl_log_set(NULL, NULL, 0);
    assert_int_equal(log_lines, 1);
    const pl_progress progress = {stop_at_half, NULL};
    assert_true(pl_progress_step(NULL, 0.9, "work"));
    assert_true(pl_progress_step(&progress, 0.4, "work"));
    assert_false(pl_progress_step(&progress, 0.6, "work"));
    const double wall = pl_seconds(), cpu = pl_cpu_seconds();
    assert_true(pl_seconds() >= wall && pl_cpu_seconds() >= cpu && cpu >= 0);
    pl_threads_set(3);
    assert_int_equal(pl_threads_get(), 3);
    pl_threads_set(0);
    assert_true(pl_threads_get() >= 1);
}

// Pieces are aligned, do not overlap, and come back in reverse order; a second round gets the same memory.
static void test_arena(void **state)
{
    (void)state;
    pl_arena arena;
    assert_true(pl_arena_init(&arena, 2 * pl_arena_bytes(7, sizeof(double)) + pl_arena_bytes(3, 1)));
    const size_t outer = pl_arena_begin(&arena);
    double *a = PL_TAKE(&arena, double, 7);
    const size_t inner = pl_arena_begin(&arena);
    char *b = PL_TAKE(&arena, char, 3);
    double *c = PL_TAKE(&arena, double, 7);
    assert_int_equal((uintptr_t)a % 64 + (uintptr_t)b % 64 + (uintptr_t)c % 64, 0);
    assert_true((char *)(a + 7) <= b && b + 3 <= (char *)c);
    a[6] = c[0] = c[6] = b[2] = 1;
    pl_arena_end(&arena, inner);
    assert_ptr_equal(PL_TAKE(&arena, char, 3), b);
    PL_CHECK_NEAR(a[6], 1, 0);
    pl_arena_end(&arena, outer);
    assert_int_equal(arena.used, 0);
    assert_int_equal(arena.most, arena.size);
    pl_arena_clear(&arena);
    pl_arena_clear(&arena); // a zeroed one is fine
    assert_false(pl_arena_init(&arena, SIZE_MAX));
    assert_true(pl_arena_bytes(SIZE_MAX / 4, 8) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),  cmocka_unit_test(test_status),    cmocka_unit_test(test_findings),
        cmocka_unit_test(test_text),   cmocka_unit_test(test_cells),     cmocka_unit_test(test_nearest_word),
        cmocka_unit_test(test_random), cmocka_unit_test(test_hash),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_hooks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
