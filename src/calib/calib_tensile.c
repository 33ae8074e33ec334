// Reading a tensile test. Two layouts: that of the Soft Robotics Materials Database (lines of
// `parameter;value;...`, then a line that names the columns, then numbers) and a plain CSV (an optional line
// that names the columns, then numbers). Every refusal names the line and says what was expected there.
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "pliant/calib.h"

// More strain than any elastomer bears: the column is in percent and does not say so.
#define STRAIN_LIMIT 30.0
#define STRESS_LIMIT 1e6 // MPa
#define COLUMN_LIMIT 64

// A crosshead trembles: strain may fall back by this much and is then sorted; more is an unloading branch.
#define TREMBLE 0.002

typedef struct span {
    const char *at;
    size_t length;
} span;

// Which columns hold the test, and the factors to a plain ratio and to MPa.
typedef struct columns {
    int count, strain, stress;
    bool strain_true, stress_true;
    double strain_unit, stress_unit;
} columns;

typedef struct sample {
    double strain, stress;
} sample;

typedef struct reader {
    const char *name, *at, *end;
    int line;
    char separator;
    span parts[COLUMN_LIMIT];
    int part_count;
    columns columns;
    sample *samples;
    int32_t sample_count, sample_capacity;
    double reached; // the largest strain so far
    pl_error *err;
} reader;

void pl_tensile_clear(pl_tensile *test)
{
    if (test) {
        pl_free(test->strain);
        pl_free(test->stress);
        *test = (pl_tensile){0};
    }
}

// ---- text

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static span span_trim(span s)
{
    while (s.length > 0 && is_blank(s.at[0])) {
        ++s.at;
        --s.length;
    }

    while (s.length > 0 && is_blank(s.at[s.length - 1])) {
        --s.length;
    }
    return s;
}

static bool span_is(span s, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i < length && i < s.length; ++i) {
        if (lower(s.at[i]) != word[i]) {
            return false;
        }
    }

    return s.length == length;
}

// Copies printable ASCII, so that messages, titles and JSON stay clean whatever the file holds.
static void span_copy(span s, char *out, size_t size)
{
    size_t n = s.length < size - 1 ? s.length : size - 1;
    for (size_t i = 0; i < n; ++i) {
        out[i] = s.at[i] >= 0x20 && s.at[i] < 0x7f ? s.at[i] : '?';
    }
    out[n] = '\0';
}

// A decimal number, whole and finite; `comma` accepts 0,5 for 0.5. Independent of the locale, within one unit
// in the last place: 18 digits are kept and scaled by an exact power of ten where there is one.
static bool span_number(span s, bool comma, double *out)
{
    const char *p = s.at, *end = s.at + s.length;
    const bool negative = p < end && *p == '-';

    if (p < end && (*p == '-' || *p == '+')) {
        ++p;
    }

    // 18 digits as a whole number; what is beyond only moves the decimal point
    uint64_t digits = 0;
    int scale = 0, seen = 0;
    bool fraction = false;

    for (; p < end && (is_digit(*p) || (!fraction && (*p == '.' || (comma && *p == ',')))); ++p) {
        if (!is_digit(*p)) {
            fraction = true;
            continue;
        }

        ++seen;
        if (digits < UINT64_C(100000000000000000)) {
            digits = 10 * digits + (uint64_t)(*p - '0');
            scale -= fraction;
        } else {
            scale += !fraction;
        }
        if (seen > 400) {
            return false;
        }
    }

    if (seen == 0) {
        return false;
    }

    // an exponent
    if (p < end && (*p == 'e' || *p == 'E')) {
        ++p;
        const bool down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) {
            ++p;
        }
        int exponent = 0, exponent_digits = 0;
        for (; p < end && is_digit(*p) && exponent_digits < 4; ++p, ++exponent_digits) {
            exponent = 10 * exponent + (*p - '0');
        }
        if (exponent_digits == 0) {
            return false;
        }
        scale += down ? -exponent : exponent;
    }

    // nothing may follow
    if (p != end) {
        return false;
    }

    const double value = scale < 0 ? (double)digits / pow(10, -scale) : (double)digits * pow(10, scale);
    *out = negative ? -value : value;

    return isfinite(value);
}

// ---- lines and their parts

static bool reader_line(reader *r, span *line)
{
    if (r->at >= r->end) {
        return false;
    }

    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *end = stop ? stop : r->end;
    *line = span_trim((span){r->at, (size_t)(end - r->at)});
    r->at = stop ? stop + 1 : r->end;
    ++r->line;

    return true;
}

// Cuts the line at the separator; empty parts at the end are dropped. False when there are too many.
static bool reader_cut(reader *r, span line)
{
    r->part_count = 0;
    const char *at = line.at, *end = line.at + line.length;
    for (;;) {
        const char *stop = at < end ? memchr(at, r->separator, (size_t)(end - at)) : NULL;
        if (r->part_count == COLUMN_LIMIT) {
            pl_fail(r->err, PL_BAD_INPUT, "%s:%d: more than %d columns", r->name, r->line, COLUMN_LIMIT);
            return false;
        }

        r->parts[r->part_count++] = span_trim((span){at, (size_t)((stop ? stop : end) - at)});
        if (!stop) {
            break;
        }
        at = stop + 1;
    }

    while (r->part_count > 0 && r->parts[r->part_count - 1].length == 0) {
        --r->part_count;
    }

    return true;
}

// The next line with something on it, cut; comment lines (#) are skipped. *done at the end of the text.
static bool reader_next(reader *r, bool *done)
{
    span line;
    *done = false;
    while (reader_line(r, &line)) {
        if (line.length == 0 || line.at[0] == '#') {
            continue;
        }
        if (r->separator == 0) {
            r->separator = memchr(line.at, ';', line.length)    ? ';'
                           : memchr(line.at, '\t', line.length) ? '\t'
                                                                : ',';
        }

        if (!reader_cut(r, line)) {
            return false;
        }
        if (r->part_count > 0) {
            return true;
        }
    }

    *done = true;
    return true;
}

// ---- names of columns

// Splits "Engineering Stress (MPa)" into its words and its unit; brackets may be round or square.
static void header_split(span head, span *words, span *unit)
{
    *words = head;
    *unit = (span){head.at, 0};
    if (head.length < 2) {
        return;
    }

    const char last = head.at[head.length - 1], open = last == ')' ? '(' : last == ']' ? '[' : 0;
    for (size_t i = head.length - 1; open && i-- > 0;) {
        if (head.at[i] == open) {
            *words = span_trim((span){head.at, i});
            *unit = span_trim((span){head.at + i + 1, head.length - i - 2});
            return;
        }
    }
}

static bool header_unit(span unit, bool stress, double *factor)
{
    static const struct {
        const char *text;
        bool stress;
        double factor;
    } units[] = {{"", true, 1},       {"mpa", true, 1},   {"n/mm^2", true, 1}, {"n/mm2", true, 1},
                 {"kpa", true, 1e-3}, {"pa", true, 1e-6}, {"", false, 1},      {"-", false, 1},
                 {"mm/mm", false, 1}, {"1", false, 1},    {"%", false, 0.01},  {"m/m", false, 1}};
    for (int i = 0; i < PL_COUNT(units); ++i) {
        if (units[i].stress == stress && span_is(unit, units[i].text)) {
            *factor = units[i].factor;
            return true;
        }
    }

    return false;
}

// Whether the words name strain or stress, and whether the true one.
static bool header_names(span words, bool *stress, bool *is_true)
{
    static const struct {
        const char *text;
        bool stress, is_true;
    } names[] = {{"strain", false, false},         {"engineering strain", false, false},
                 {"nominal strain", false, false}, {"true strain", false, true},
                 {"stress", true, false},          {"engineering stress", true, false},
                 {"nominal stress", true, false},  {"true stress", true, true}};
    for (int i = 0; i < PL_COUNT(names); ++i) {
        if (span_is(words, names[i].text)) {
            *stress = names[i].stress;
            *is_true = names[i].is_true;
            return true;
        }
    }

    return false;
}

// Takes one named column. An engineering column wins over a true one; two of the same kind are refused.
static bool header_take(reader *r, int i)
{
    columns *c = &r->columns;
    span words, unit;
    bool stress, is_true;

    header_split(r->parts[i], &words, &unit);
    if (!header_names(words, &stress, &is_true)) {
        return true;
    }

    int *column = stress ? &c->stress : &c->strain;
    bool *column_true = stress ? &c->stress_true : &c->strain_true;
    if (*column >= 0 && is_true != *column_true && is_true) {
        return true;
    }

    if (*column >= 0 && is_true == *column_true) {
        pl_fail(r->err, PL_BAD_INPUT, "%s:%d: columns %d and %d both contain %s%s, expected one", r->name,
                r->line, *column + 1, i + 1, is_true ? "true " : "", stress ? "stress" : "strain");
        return false;
    }

    if (!header_unit(unit, stress, stress ? &c->stress_unit : &c->strain_unit)) {
        char text[40];
        span_copy(unit, text, sizeof text);
        pl_fail(r->err, PL_BAD_INPUT, "%s:%d: column %d has the unit '%s', expected %s", r->name, r->line,
                i + 1, text, stress ? "MPa, N/mm^2, kPa or Pa" : "none, mm/mm or %");
        return false;
    }

    *column = i;
    *column_true = is_true;

    return true;
}

static bool header_read(reader *r)
{
    r->columns = (columns){.count = r->part_count, .strain = -1, .stress = -1};
    for (int i = 0; i < r->part_count; ++i) {
        if (!header_take(r, i)) {
            return false;
        }
    }

    if (r->columns.strain < 0 || r->columns.stress < 0) {
        pl_fail(r->err, PL_BAD_INPUT,
                "%s:%d: no column is named %s; expected names such as 'Engineering Strain' and 'Engineering "
                "Stress (MPa)'",
                r->name, r->line, r->columns.strain < 0 ? "strain" : "stress");
        return false;
    }

    return true;
}

// ---- numbers

static bool row_number(reader *r, int column, double *out)
{
    const span part = column < r->part_count ? r->parts[column] : (span){"", 0};
    if (span_number(part, r->separator != ',', out)) {
        return true;
    }

    char text[40];
    span_copy(part, text, sizeof text);
    pl_fail(r->err, PL_BAD_INPUT, "%s:%d: column %d contains '%s', expected a number", r->name, r->line,
            column + 1, text);

    return false;
}

// True measures become engineering ones:  strain = exp(true) - 1,  stress = true / (1 + strain) at constant
// volume.
static bool row_read(reader *r)
{
    const columns *c = &r->columns;
    if (r->part_count > c->count) {
        pl_fail(r->err, PL_BAD_INPUT, "%s:%d: %d columns, expected %d%s", r->name, r->line, r->part_count,
                c->count, r->separator == ',' ? " (with ',' between columns, decimals need a '.')" : "");
        return false;
    }

    // to a ratio and MPa
    sample s;
    if (!row_number(r, c->strain, &s.strain) || !row_number(r, c->stress, &s.stress)) {
        return false;
    }
    s.strain *= c->strain_unit;
    s.stress *= c->stress_unit;
    if (c->strain_true) {
        s.strain = exp(s.strain) - 1;
    }

    // a strain in percent read as a ratio gives impossible stretches
    if (!(s.strain > -1 && s.strain <= STRAIN_LIMIT)) {
        pl_fail(r->err, PL_BAD_INPUT,
                "%s:%d: strain is %g, expected a ratio above -1 and at most %g (1 means 100 %%; a column in "
                "percent "
                "is named 'Strain (%%)')",
                r->name, r->line, s.strain, STRAIN_LIMIT);
        return false;
    }

    if (c->stress_true) {
        s.stress /= 1 + s.strain;
    }

    if (!(fabs(s.stress) <= STRESS_LIMIT)) {
        pl_fail(r->err, PL_BAD_INPUT, "%s:%d: stress is %g MPa, expected at most %g", r->name, r->line,
                s.stress, STRESS_LIMIT);
        return false;
    }

    // the unloading branch of a rubber is softer: it must not be fitted with the loading one
    if (r->sample_count > 0 && s.strain < r->reached - TREMBLE) {
        pl_fail(r->err, PL_BAD_INPUT,
                "%s:%d: strain decreases from %g to %g; expected ascending strain: keep the loading part of "
                "the test",
                r->name, r->line, r->reached, s.strain);
        return false;
    }

    if (!pl_grow((void **)&r->samples, &r->sample_capacity, (int64_t)r->sample_count + 1,
                 sizeof *r->samples)) {
        pl_fail_memory(r->err, "the rows of a tensile test");
        return false;
    }

    r->reached = r->sample_count > 0 ? fmax(r->reached, s.strain) : s.strain;
    r->samples[r->sample_count++] = s;

    return true;
}

static bool rows_read(reader *r)
{
    bool done;
    while (reader_next(r, &done)) {
        if (done) {
            return true;
        }
        if (!row_read(r)) {
            return false;
        }
    }

    return false;
}

// ---- the two layouts

// `PARAMETER;INFO;URL`, then one parameter a line up to the line that names the columns.
static bool database_read(reader *r, pl_tensile *out)
{
    char supplier[60] = "", standard[40] = "", lab[60] = "";
    for (bool done;;) {
        if (!reader_next(r, &done)) {
            return false;
        }
        if (done) {
            pl_fail(r->err, PL_BAD_INPUT,
                    "%s:%d: the text ends before the line with the names of the columns", r->name, r->line);
            return false;
        }

        span words, unit;
        bool stress, is_true, header = false;
        for (int i = 0; i < r->part_count; ++i) {
            header_split(r->parts[i], &words, &unit);
            header = header || header_names(words, &stress, &is_true);
        }

        if (header) {
            break;
        }
        const span value = r->part_count > 1 ? r->parts[1] : (span){"", 0};
        if (span_is(r->parts[0], "material")) {
            span_copy(value, out->title, sizeof out->title);
        } else if (span_is(r->parts[0], "material supplier")) {
            span_copy(value, supplier, sizeof supplier);
        } else if (span_is(r->parts[0], "standard")) {
            span_copy(value, standard, sizeof standard);
        } else if (span_is(r->parts[0], "lab")) {
            span_copy(value, lab, sizeof lab);
        }
    }

    snprintf(out->source, sizeof out->source, "%s%s%s%s%s", supplier, *supplier && *standard ? ", " : "",
             standard, (*supplier || *standard) && *lab ? ", " : "", lab);
    return header_read(r) && rows_read(r);
}

// The line just cut is the first: names of columns, or already numbers (then strain and stress in MPa).
static bool plain_read(reader *r)
{
    double number;
    if (!span_number(r->parts[0], r->separator != ',', &number)) {
        return header_read(r) && rows_read(r);
    }

    if (r->part_count != 2) {
        pl_fail(r->err, PL_BAD_INPUT,
                "%s:%d: %d columns without names; expected strain and stress, or a first line with the names "
                "of the columns",
                r->name, r->line, r->part_count);
        return false;
    }

    r->columns = (columns){.count = 2, .strain = 0, .stress = 1, .strain_unit = 1, .stress_unit = 1};
    return row_read(r) && rows_read(r);
}

static int sample_order(const void *a, const void *b)
{
    const sample *s = a, *t = b;
    if (s->strain != t->strain) {
        return s->strain < t->strain ? -1 : 1;
    }
    return (s->stress > t->stress) - (s->stress < t->stress);
}

// Sorts what was read and hands it over as two arrays.
static bool reader_finish(reader *r, pl_tensile *out)
{
    if (r->sample_count < 3) {
        pl_fail(r->err, PL_BAD_INPUT, "%s:%d: %d rows of numbers, expected at least 3", r->name, r->line,
                (int)r->sample_count);
        return false;
    }

    qsort(r->samples, (size_t)r->sample_count, sizeof *r->samples, sample_order);
    out->strain = PL_NEW_ARRAY(double, r->sample_count);
    out->stress = PL_NEW_ARRAY(double, r->sample_count);
    if (!out->strain || !out->stress) {
        pl_fail_memory(r->err, "a tensile test");
        return false;
    }

    for (int i = 0; i < r->sample_count; ++i) {
        out->strain[i] = r->samples[i].strain;
        out->stress[i] = r->samples[i].stress;
    }

    out->count = r->sample_count;

    return true;
}

pl_status pl_tensile_parse(const char *text, size_t length, const char *name, pl_tensile *out, pl_error *err)
{
    *out = (pl_tensile){0};
    pl_error local = {0};
    reader r = {
        .name = name ? name : "tensile test", .at = text, .end = text + length, .err = err ? err : &local};
    r.err->status = PL_OK;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        r.at += 3;
    }

    bool done, good = reader_next(&r, &done);
    if (good && done) {
        pl_fail(r.err, PL_BAD_INPUT, "%s: the file has no data", r.name);
        good = false;
    }

    if (good) {
        good = span_is(r.parts[0], "parameter") ? database_read(&r, out) : plain_read(&r);
    }
    good = good && reader_finish(&r, out);
    pl_free(r.samples);
    if (!good) {
        pl_tensile_clear(out);
        return r.err->status;
    }

    if (out->title[0] == '\0') {
        snprintf(out->title, sizeof out->title, "%s", r.name);
    }

    return PL_OK;
}
