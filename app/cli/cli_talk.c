// Talking to people: errors, findings and aligned tables. The record of --json gets the same messages.
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

// ---- memory. Whatever asks for memory in vain leaves a mark, so that no verb that went on without it can
// end as if all were well.
static atomic_bool talk_memory_failed;

// For JSON; malloc is the macro of cli.h, which leaves the mark.
static void *talk_malloc(size_t bytes)
{
    return malloc(bytes);
}

// For the library, likewise; size 0 releases.
static void *talk_realloc(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }

    return realloc(block, bytes);
}

// To be called first, before any JSON or library call takes memory.
void cli_memory_install(void)
{
    json_set_alloc_funcs(talk_malloc, free);
    pl_memory_set(talk_realloc, NULL);
}

void cli_memory_note(void)
{
    atomic_store(&talk_memory_failed, true);
}

bool cli_memory_missed(void)
{
    return atomic_load(&talk_memory_failed);
}

bool cli_quiet; // -q

// ---- words. Names come from files and may hold anything: what would steer a terminal is shown as a question
// mark.
// Returns `small`, or a longer text on the heap.
static char *talk_format(char *small, size_t size, const char *format, va_list list)
{
    char *text = small;
    va_list again;

    va_copy(again, list);
    const int length = vsnprintf(small, size, format, list);
    if (length >= (int)size) {
        text = malloc((size_t)length + 1);
        if (text) {
            vsnprintf(text, (size_t)length + 1, format, again);
        } else {
            text = small; // cut
        }
    }

    va_end(again);
    cli_text_tame(text);

    return text;
}

// Prints a text of any length.
static void talk_print(FILE *to, const char *format, va_list list)
{
    char small[1024], *text = talk_format(small, sizeof small, format, list);
    fputs(text, to);
    if (text != small) {
        free(text);
    }
}

// Replaces control characters in place, also those of two bytes; line ends and tabs stay.
void cli_text_tame(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; ++c) {
        const bool control = (*c < ' ' && *c != '\n' && *c != '\t') || *c == 127;
        const bool c1 = *c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f; // U+0080 to U+009F in UTF-8
        if (control) {
            *c = '?';
        } else if (c1) {
            c[0] = c[1] = '?';
        }
    }
}

static void talk_line(FILE *to, const char *format, ...) PL_PRINTF(2, 3);
static void talk_line(FILE *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    talk_print(to, format, list);
    va_end(list);
}

// An error that ends the verb, with the verb's name. The progress line is ended first, so that it is not
// written over.
void cli_error(const cli_args *args, const char *format, ...)
{
    cli_progress_done();
    va_list list;
    va_start(list, format);
    char small[1024], *text = talk_format(small, sizeof small, format, list);
    va_end(list);
    fprintf(stderr, "pliant %s: error: %s\n", args->verb->name, text);
    cli_json_note("error", NULL, 0, text);
    if (text != small) {
        free(text);
    }
}

// What to do about the error or finding before it.
void cli_advice(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char small[1024], *text = talk_format(small, sizeof small, format, list);
    va_end(list);
    fprintf(stderr, "    %s\n", text);
    cli_json_note_advice(text);
    if (text != small) {
        free(text);
    }
}

// A part of the result on standard output; silent with -q and where JSON goes to standard output.
void cli_say(const cli_args *args, const char *format, ...)
{
    // what is missing could be the word that matters: after memory ran out only the error is said
    if (args->silent || cli_quiet || cli_memory_missed()) {
        return;
    }
    cli_progress_done();
    va_list list;
    va_start(list, format);
    talk_print(stdout, format, list);
    va_end(list);
}

// One finding in the form of compilers, FILE:LINE: severity: text, which editors understand.
void cli_finding(const pl_finding *f)
{
    static const char *const word[] = {"note", "warning", "error"};
    cli_json_note(word[f->severity], f->file, f->line, f->text);
    cli_json_note_advice(f->advice);

    if (cli_quiet && f->severity == PL_NOTE) {
        return;
    }
    if (f->file) {
        talk_line(stderr, "%s:", f->file);
    }
    if (f->file && f->line > 0) {
        fprintf(stderr, "%d:", f->line);
    }
    talk_line(stderr, "%s%s: %s\n", f->file ? " " : "", word[f->severity], f->text);
    if (f->advice && f->advice[0]) {
        talk_line(stderr, "    %s\n", f->advice);
    }
}

// ---- findings that say the same of several places
// The next character of a text that counts: numbers do not, quoted names only if `names`.
static const char *talk_next(const char *c, bool names)
{
    for (;;) {
        if (!names && (*c == '\'' || *c == '`')) {
            const char *end = strchr(c + 1, *c);
            if (!end) {
                return c;
            }
            c = end + 1;
        } else if ((*c >= '0' && *c <= '9') || *c == '.' || *c == '-' || *c == '+') {
            ++c;
        } else {
            return c;
        }
    }
}

// Whether two findings say the same of different places: a mesh with 500 slivers shall not fill the screen.
static bool talk_alike(const pl_finding *a, const pl_finding *b)
{
    // of errors every name matters
    const bool names = a->severity == PL_DEFECT;
    const bool same_file = a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0);

    if (a->severity != b->severity || !same_file) {
        return false;
    }

    const char *p = a->text, *q = b->text;
    for (;; ++p, ++q) {
        p = talk_next(p, names);
        q = talk_next(q, names);
        if (*p != *q) {
            return false;
        }
        if (!*p) {
            return true;
        }
    }
}

// One line for the first of those that are alike, and one that counts the others.
static void talk_group(const pl_findings *findings, int i)
{
    const pl_finding *first = pl_findings_at(findings, i);
    char lines[200] = "";
    int more = 0, named = 0;

    for (int k = i + 1; k < pl_findings_count(findings); ++k) {
        const pl_finding *f = pl_findings_at(findings, k);
        if (!talk_alike(first, f)) {
            continue;
        }
        ++more;
        const size_t at = strlen(lines);
        if (f->line > 0 && at + 16 < sizeof lines) {
            snprintf(lines + at, sizeof lines - at, "%s%d", at ? ", " : "", f->line);
            ++named;
        }
    }

    cli_finding(first);
    if (more > 0) {
        if (cli_quiet && first->severity == PL_NOTE) {
            return;
        }
        fprintf(stderr, "    %d more like this%s%s\n", more,
                named == 0   ? ""
                : named == 1 ? ", in line "
                             : ", in lines ",
                lines);
    }
}

// All findings, those alike as one.
static void talk_findings(const pl_findings *findings, bool numbered)
{
    cli_progress_done();
    int number = 0;

    // each group is printed where its first one stands
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        bool reported = false;
        for (int k = 0; k < i && !reported; ++k) {
            reported = talk_alike(pl_findings_at(findings, k), pl_findings_at(findings, i));
        }
        if (!reported && numbered && !(cli_quiet && pl_findings_at(findings, i)->severity == PL_NOTE)) {
            fprintf(stderr, "%d. ", ++number);
        }
        if (!reported) {
            talk_group(findings, i);
        }
    }
}

void cli_findings(const pl_findings *findings)
{
    talk_findings(findings, false);
}

void cli_findings_numbered(const pl_findings *findings)
{
    talk_findings(findings, pl_findings_count(findings) > 1);
}

// The exit status of a failed call. A file that cannot be opened, read or written is a failure of the system;
// what a file contains is input.
int cli_fail(const cli_args *args, const pl_error *err)
{
    switch (err->status) {
    case PL_OK:
        return CLI_DONE;
    case PL_INTERRUPTED:
        cli_error(args, "%s", cli_stop_reason());
        return CLI_EXIT_UNSOLVED;
    case PL_NO_MEMORY:
        cli_memory_note();
        cli_error(args, "%s", err->text[0] ? err->text : "out of memory");
        return CLI_EXIT_SYSTEM;
    case PL_FAILED:
        cli_error(args, "%s", err->text[0] ? err->text : "an internal step failed");
        return CLI_EXIT_UNSOLVED;
    case PL_BAD_FILE:
        cli_error(args, "%s", err->text);
        return CLI_EXIT_SYSTEM;
    default:
        cli_error(args, "%s", err->text);
        return CLI_EXIT_USAGE;
    }
}

// A message about what a file holds, from a room that does not know the file.
int cli_fail_file(const cli_args *args, const char *path, const pl_error *err)
{
    pl_error named = *err;
    if (strncmp(err->text, path, strlen(path)) != 0 && err->status == PL_BAD_INPUT) {
        snprintf(named.text, sizeof named.text, "%.200s: %.780s", path, err->text);
    }
    return cli_fail(args, &named);
}

// Says that memory is out and returns the exit status of it.
int cli_no_memory(const cli_args *args)
{
    cli_memory_note();
    cli_error(args, "out of memory");
    return CLI_EXIT_SYSTEM;
}

// ---- tables
// A value that would be printed as -0.00 becomes 0.
double cli_tidy(double value, int digits)
{
    return fabs(value) < 0.5 * pow(10, -digits) ? 0 : value;
}

// Adds a row; cells are separated by tabs. A row for which there is no memory is left out.
void cli_row(cli_table *table, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);

    if (table->count == table->capacity) {
        const int capacity = table->capacity ? 2 * table->capacity : 16;
        char **row = realloc(table->row, (size_t)capacity * sizeof *row);
        if (!row) {
            return;
        }
        table->row = row;
        table->capacity = capacity;
    }

    char *copy = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (copy) {
        va_start(list, format);
        vsnprintf(copy, (size_t)length + 1, format, list);
        va_end(list);
        table->row[table->count++] = copy;
    }
}

// The c-th cell of a row and its length; NULL when the row is shorter.
static const char *talk_cell(const char *row, int c, int *length)
{
    for (; c > 0; --c) {
        row = strchr(row, '\t');
        if (!row) {
            return NULL;
        }
        ++row;
    }

    *length = (int)strcspn(row, "\t");
    return row;
}

// Whether a cell looks like a number; an empty one does not say otherwise.
static bool talk_is_number(const char *cell, int length)
{
    return length == 0 || isdigit((unsigned char)cell[0]) || cell[0] == '-' || cell[0] == '+';
}

static int talk_columns(const cli_table *table)
{
    int most = 0;
    for (int r = 0; r < table->count; ++r) {
        int columns = 1;
        for (const char *c = table->row[r]; *c; ++c) {
            columns += *c == '\t';
        }
        most = columns > most ? columns : most;
    }

    return most;
}

// Width of column c, and whether it is one of numbers: the first never is, and the head does not decide.
static int talk_width(const cli_table *table, int c, bool *number)
{
    int width = 0;
    *number = c > 0;
    for (int r = 0; r < table->count; ++r) {
        int length = 0;
        const char *cell = talk_cell(table->row[r], c, &length);
        if (cell) {
            width = length > width ? length : width;
            *number = *number && (r == 0 || talk_is_number(cell, length));
        }
    }

    return width;
}

// Prints the table, aligned, and releases it. Columns of numbers are set to the right, others to the left.
void cli_table_print(const cli_args *args, cli_table *table)
{
    const int columns = talk_columns(table);
    int *width = calloc((size_t)columns + 1, sizeof *width), whole = 2;
    bool *number = calloc((size_t)columns + 1, sizeof *number);

    for (int c = 0; width && number && c < columns; ++c) {
        width[c] = talk_width(table, c, &number[c]);
        whole += width[c] + 2;
    }

    char *line = malloc((size_t)whole);
    for (int r = 0; r < table->count; ++r) {
        int at = 0, length = 0;

        for (int c = 0; line && width && number && c < columns; ++c) {
            const char *cell = talk_cell(table->row[r], c, &length);
            if (!cell) {
                break;
            }
            const int pad = width[c] - length;
            at += snprintf(line + at, (size_t)(whole - at), "  %*s%.*s%*s", number[c] ? pad : 0, "", length,
                           cell, number[c] ? 0 : pad, "");
        }

        // no blanks at the end of a line
        while (at > 0 && line[at - 1] == ' ') {
            line[--at] = 0;
        }
        cli_say(args, "%s\n", at > 0 ? line : "");
        free(table->row[r]);
    }

    free(line);
    free(width);
    free(number);
    free(table->row);
    *table = (cli_table){0};
}
