// Log, progress, clocks, random numbers, hashing, growing text, the nearest word.
#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/base.h"

// set once at start, before threads are
static struct {
    pl_log_hook hook;
    void *user;
    int level;
} log_target;

void pl_log_set(pl_log_hook hook, void *user, int level)
{
    log_target.hook = hook;
    log_target.user = user;
    log_target.level = level;
}

bool pl_log_wants(int level)
{
    return log_target.hook && level <= log_target.level;
}

void pl_log(int level, const char *format, ...)
{
    if (!pl_log_wants(level)) {
        return;
    }

    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_target.hook(log_target.user, level, text);
}

bool pl_progress_step(const pl_progress *progress, double fraction, const char *what)
{
    return !progress || !progress->step || progress->step(progress->user, fraction, what);
}

#define WATCH_PAUSE 0.01 // s between two questions: what is abandoned ends soon

// Once stopped or late the answer stays no, without asking again.
bool pl_watch_go_on(pl_watch *w, double part, const char *what)
{
    if (!w || w->stopped || w->late) {
        return !w;
    }

    const double now = pl_seconds();
    if (now - w->asked < WATCH_PAUSE) {
        return true;
    }
    w->asked = now;
    w->late = w->deadline > 0 && now > w->deadline;

    // what is shown: the computation, the kernel, how far it is
    char text[80];
    if (part >= 0) {
        snprintf(text, sizeof text, "%s%s%s %.0f %%", w->what ? w->what : "", w->what ? ": " : "", what,
                 100 * (part < 1 ? part : 1));
    } else {
        snprintf(text, sizeof text, "%s%s%s", w->what ? w->what : "", w->what ? ": " : "", what);
    }

    w->stopped = !w->late && !pl_progress_step(&w->progress, w->fraction, text);

    return !w->stopped && !w->late;
}

static double tools_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double pl_seconds(void)
{
    return tools_clock(CLOCK_MONOTONIC);
}

double pl_cpu_seconds(void)
{
    return tools_clock(CLOCK_PROCESS_CPUTIME_ID);
}

// splitmix64 spreads the seed over the state
void pl_random_seed(pl_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; ++i) {
        uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        random->s[i] = z ^ (z >> 31);
    }
}

static uint64_t tools_rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

// xoshiro256**: Blackman and Vigna 2018.
uint64_t pl_random_next(pl_random *random)
{
    uint64_t *s = random->s;
    const uint64_t result = tools_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = tools_rotate(s[3], 45);

    return result;
}

// 53 random bits: every double in [0, 1) of that spacing is equally likely.
double pl_random_uniform(pl_random *random, double low, double high)
{
    return low + (high - low) * ((double)(pl_random_next(random) >> 11) * 0x1p-53);
}

uint64_t pl_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; ++i) {
        hash = (hash ^ p[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

// ---- numbers
// The C locale for this thread; returns the one before, which numbers_end puts back. Of the C locale there is
// one object, so nothing is allocated.
static locale_t numbers_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void numbers_end(locale_t before)
{
    uselocale(before);
}

double pl_real_read(const char *text, char **end)
{
    const locale_t before = numbers_begin();
    const double value = strtod(text, end);
    numbers_end(before);
    return value;
}

int pl_format(char *buffer, size_t size, const char *format, ...)
{
    va_list args;
    const locale_t before = numbers_begin();

    va_start(args, format);
    const int length = vsnprintf(buffer, size, format, args);
    va_end(args);
    numbers_end(before);

    return length;
}

// ---- text
// Room for `extra` characters and the final NUL; grows by half.
static bool text_reserve(pl_text *text, size_t extra)
{
    if (text->failed) {
        return false;
    }

    const size_t need = text->length + extra + 1;
    if (need > text->capacity) {
        const size_t wanted = need + need / 2 + 64;
        char *larger = pl_resize_array(text->data, wanted, 1);
        if (!larger) {
            text->failed = true;
            return false;
        }

        text->data = larger;
        text->capacity = wanted;
    }

    return true;
}

// Measured first, then printed: no text is cut.
static void text_add_list(pl_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const locale_t before = numbers_begin();
    const int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }

    numbers_end(before);
    va_end(again);
}

void pl_text_add(pl_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add_list(text, format, args);
    va_end(args);
}

void pl_text_add_bytes(pl_text *text, const void *data, size_t bytes)
{
    if (text_reserve(text, bytes)) {
        memcpy(text->data + text->length, data, bytes);
        text->length += bytes;
        text->data[text->length] = '\0';
    }
}

void pl_text_add_cell(pl_text *text, const char *format, ...)
{
    pl_text cell = {0};
    va_list args;
    va_start(args, format);
    text_add_list(&cell, format, args);
    va_end(args);

    // quoted only where necessary
    const char *plain = cell.data ? cell.data : "";
    if (!strpbrk(plain, ",\"\r\n")) {
        pl_text_add_bytes(text, plain, cell.length);
    } else {
        pl_text_add(text, "\"");
        for (const char *c = plain; *c; ++c) {
            pl_text_add(text, *c == '"' ? "\"\"" : "%c", *c);
        }
        pl_text_add(text, "\"");
    }

    text->failed = text->failed || cell.failed;
    pl_text_clear(&cell);
}

// Bytes beyond ASCII are letters: names may be in any language.
bool pl_name_is_valid(const char *name)
{
    for (const char *c = name; *c; ++c) {
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c) && (unsigned char)*c < 0x80) {
            return false;
        }
    }

    return name[0] != '\0';
}

const char *pl_name_shown(const char *name, char *buffer, size_t size)
{
    size_t n = 0;
    for (; name[n] && n + 1 < size; ++n) {
        buffer[n] = (unsigned char)name[n] < 0x20 || name[n] == 0x7f ? '?' : name[n];
    }
    buffer[n] = '\0';
    return buffer;
}

void pl_text_clear(pl_text *text)
{
    pl_free(text->data);
    *text = (pl_text){0};
}

// Letters to change, insert, leave out or exchange with their neighbour, from one word to the other; of words
// of at most 63 letters, longer ones are cut.
static int tools_edit_distance(const char *a, const char *b)
{
    // the last three rows of the table d(i, j): the distance of the first i letters of a and j of b
    int rows[3][64], length = (int)strlen(b), i = 0;
    length = length > 63 ? 63 : length;
    for (int j = 0; j <= length; ++j) {
        rows[0][j] = j;
    }

    for (; a[i] && i < 63; ++i) {
        const int *before = rows[(i + 2) % 3], *above = rows[i % 3];
        int *row = rows[(i + 1) % 3];
        row[0] = i + 1;

        for (int j = 0; j < length; ++j) {
            const int change = above[j] + (a[i] != b[j]);
            const int other = (row[j] < above[j + 1] ? row[j] : above[j + 1]) + 1;
            row[j + 1] = change < other ? change : other;

            const bool exchanged = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
            if (exchanged && before[j - 1] + 1 < row[j + 1]) {
                row[j + 1] = before[j - 1] + 1;
            }
        }
    }

    return rows[i % 3][length];
}

// Letters and digits only, small, at most `most` of them.
static void tools_squash(const char *word, char *out, size_t most)
{
    size_t n = 0;
    for (; *word && n < most; ++word) {
        if (isalnum((unsigned char)*word)) {
            out[n++] = (char)tolower((unsigned char)*word);
        }
    }

    out[n] = 0;
}

// How far a word is from the beginning of a name, whatever joins its parts: 'dragnskin' from
// 'dragon_skin_20'.
static int tools_distance_to_start(const char *word, const char *known)
{
    char a[64], b[64];
    tools_squash(word, a, sizeof a - 1);
    const size_t length = strlen(a);
    int best = INT_MAX;

    for (size_t n = length > 0 ? length - 1 : 0; n <= length + 1 && n < sizeof b; ++n) {
        tools_squash(known, b, n);
        const int distance = tools_edit_distance(a, b);
        best = distance < best ? distance : best;
    }

    return best;
}

// NULL where nothing is near: a wrong suggestion is worse than none.
const char *pl_nearest_word(const char *word, const char *const *known, int count)
{
    // few typing errors: a third of the letters and one, of words of three letters one
    const char *nearest = NULL, *begun = NULL;
    const int letters = (int)strlen(word);
    int best = letters == 3 ? 2 : letters / 3 + 2;

    for (int i = 0; i < count; ++i) {
        const int distance = tools_edit_distance(word, known[i]);
        if (distance < best && distance < (int)strlen(known[i])) {
            best = distance;
            nearest = known[i];
        }
    }

    // a part of a name: 'finger' for 'bending_finger'
    for (int i = 0; !nearest && strlen(word) >= 4 && i < count; ++i) {
        nearest = strstr(known[i], word) ? known[i] : NULL;
    }

    // beginning of a long name with few errors
    best = (int)strlen(word) / 4 + 1;
    for (int i = 0; !nearest && strlen(word) >= 5 && i < count; ++i) {
        const int distance = tools_distance_to_start(word, known[i]);
        if (distance < best) {
            best = distance;
            begun = known[i];
        }
    }

    return nearest ? nearest : begun;
}
