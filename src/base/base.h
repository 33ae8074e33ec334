// Inside the library: memory, failing with a sentence, log, timer, random numbers, small text and hashing.
#ifndef PL_BASE_IMPL_H
#define PL_BASE_IMPL_H

#include <math.h>
#include <string.h>
#include "pliant/base.h"

// ---- contract checks: ours, never the user's; on in test builds
void pl_assert_fail(const char *what, const char *file, int line);
#ifdef PL_CHECKED
#define PL_ASSERT(c) ((c) ? (void)0 : pl_assert_fail(#c, __FILE__, __LINE__))
#else
#define PL_ASSERT(c) ((void)0)
#endif

#define PL_COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define PL_PI 3.14159265358979323846

// ---- memory. All results are zeroed where said; NULL when out of memory; sizes are checked for overflow.
void *pl_alloc(size_t bytes);                    // zeroed
void *pl_alloc_array(size_t count, size_t size); // zeroed; count 0 gives a valid block
void *pl_resize_array(void *block, size_t count,
                      size_t size); // new part is not zeroed; old block stays on failure
void pl_free(void *block);          // NULL is fine
char *pl_strdup(const char *text);
#define PL_NEW(type) ((type *)pl_alloc(sizeof(type)))
#define PL_NEW_ARRAY(type, count) ((type *)pl_alloc_array((size_t)(count), sizeof(type)))

// Makes room for `need` entries in a growing array; false when out of memory (the array stays valid).
bool pl_grow(void **block, int32_t *capacity, int64_t need, size_t size);

// ---- scratch memory inside a workspace. The size is summed with pl_arena_bytes when the workspace is made;
// between begin and end pieces are taken (not zeroed, aligned to 64 bytes), and `end` gives back all that was
// taken since its `begin`. Under AddressSanitizer what is not taken is poisoned, with a red zone after each
// piece. To take more than there is is a mistake of ours: an assertion.
typedef struct pl_arena {
    void *block;
    char *first;       // aligned
    size_t size, used; // bytes
    size_t most;       // used at one time so far
} pl_arena;

size_t pl_arena_bytes(size_t count, size_t size);  // what a piece takes; SIZE_MAX when too large
bool pl_arena_init(pl_arena *arena, size_t bytes); // false: out of memory
void pl_arena_clear(pl_arena *arena);              // a zeroed arena is fine
size_t pl_arena_begin(const pl_arena *arena);      // the mark for `end`
void *pl_arena_take(pl_arena *arena, size_t count, size_t size);
void pl_arena_end(pl_arena *arena, size_t mark);
#define PL_TAKE(arena, type, count) ((type *)pl_arena_take(arena, (size_t)(count), sizeof(type)))

// ---- failing with a sentence: fills err (if given) and returns the status
pl_status pl_fail(pl_error *err, pl_status status, const char *format, ...) PL_PRINTF(3, 4);
pl_status pl_fail_memory(pl_error *err, const char *what);

// ---- log
bool pl_log_wants(int level);
void pl_log(int level, const char *format, ...) PL_PRINTF(2, 3);

// ---- progress: true means go on; a NULL progress always goes on
bool pl_progress_step(const pl_progress *progress, double fraction, const char *what);

// The same for kernels that cannot know what they are part of, a factorisation above all: asks the progress
// and the clock, 100 times a second at most, on the thread that the computation belongs to. Once the answer
// is no it stays no.
typedef struct pl_watch {
    pl_progress progress;
    double fraction;  // of the whole, as far as known; negative: not
    const char *what; // the computation, or NULL
    double deadline;  // on the clock of pl_seconds; 0: none
    double asked;     // when last
    bool stopped;     // the progress said so
    bool late;        // the clock did
} pl_watch;

// `part`: how far the kernel is, or negative; `what`: what it does.
bool pl_watch_go_on(pl_watch *watch, double part, const char *what);

// A coordinate for a message: what is below the digits shown reads 0, not -1e-17.
static inline double pl_tidy(double value)
{
    return fabs(value) < 5e-7 ? 0 : value;
}

// ---- seconds of wall clock, of CPU time of the process
double pl_seconds(void);
double pl_cpu_seconds(void);

// ---- deterministic random numbers (xoshiro256**)
typedef struct pl_random {
    uint64_t s[4]; // state; never all 0
} pl_random;

void pl_random_seed(pl_random *random, uint64_t seed);
uint64_t pl_random_next(pl_random *random);
double pl_random_uniform(pl_random *random, double low, double high);

// ---- content hash (FNV-1a, 64 bit), chainable
uint64_t pl_hash_bytes(uint64_t hash, const void *data, size_t bytes);
#define PL_HASH_SEED UINT64_C(14695981039346656037)

// ---- a store for orders of elimination, which cost as much as a factorisation to find: of a graph with
// `count` nodes whose hash is `key`. `find` may answer anything, the caller checks that it is an order.
typedef struct pl_order_store {
    char *folder; // owned by the robot; NULL: no store
    bool (*find)(const char *folder, uint64_t key, int32_t count, int32_t *order);
    void (*keep)(const char *folder, uint64_t key, int32_t count, const int32_t *order);
} pl_order_store;

// ---- names of markers, commands, sensors, ...: letters (all beyond ASCII count), digits, '_', '-' and '.',
// so that they can be columns of tables and words of a command line
#define PL_NAME_RULE "use letters, digits, '_', '-' and '.'"
bool pl_name_is_valid(const char *name);

// The name for a message: what cannot be printed on one line is replaced by '?'.
const char *pl_name_shown(const char *name, char *buffer, size_t size);

// ---- numbers in texts have a point, whatever the locale of the program: strtod and snprintf of the C locale
double pl_real_read(const char *text, char **end);
int pl_format(char *buffer, size_t size, const char *format, ...) PL_PRINTF(3, 4);

// ---- growing text, for messages and writers. A failed append sets `failed` and leaves the text valid.
typedef struct pl_text {
    char *data;              // NUL-terminated; NULL while empty
    size_t length, capacity; // without and with the final NUL
    bool failed;
} pl_text;

void pl_text_add(pl_text *text, const char *format, ...) PL_PRINTF(2, 3);
void pl_text_add_bytes(pl_text *text, const void *data, size_t bytes);

// A cell of a CSV table (RFC 4180): in quotes, and quotes doubled, where it contains a comma, a quote or a
// line end.
void pl_text_add_cell(pl_text *text, const char *format, ...) PL_PRINTF(2, 3);
void pl_text_clear(pl_text *text);

// ---- a monotone curve through points, for tables of measured values. x increases strictly; y may rise or
// fall.
typedef struct pl_monotone {
    int count; // at least 2
    const double *x, *y, *slope;
} pl_monotone;

void pl_monotone_slopes(int count, const double *x, const double *y, double *slope);
double pl_monotone_value(const pl_monotone *curve, double x, double *derivative); // derivative may be NULL
double pl_monotone_inverse(const pl_monotone *curve, double y); // some x of it where the curve is flat

#endif
