// Reading tables of numbers: separators, heading, units, rows; wrong cells are named with line and column.
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include "text/text_scan.h"
#include "text/text_table.h"

// One cell: text without blanks and quotes around it.
typedef struct table_cell {
    const char *at;
    int length;
} table_cell;

static table_cell table_trim(const char *at, const char *end)
{
    while (at < end && (isspace((unsigned char)*at) || *at == '"')) {
        ++at;
    }
    while (end > at && (isspace((unsigned char)end[-1]) || end[-1] == '"')) {
        --end;
    }
    return (table_cell){at, (int)(end - at)};
}

// The cells of a row; at most `room`. With blanks as separator any run of them counts once.
static int table_split(const char *at, const char *end, char separator, table_cell *cell, int room)
{
    int count = 0;
    while (at <= end) {
        const char *stop = at;

        if (separator == ' ') {
            while (at < end && isspace((unsigned char)*at)) {
                ++at;
            }
            if (at == end) {
                break;
            }
            const char *next = at;
            do { // a unit in brackets belongs to the name before it: "u [N]"
                for (stop = next; stop < end && !isspace((unsigned char)*stop);) {
                    ++stop;
                }
                for (next = stop; next < end && isspace((unsigned char)*next);) {
                    ++next;
                }
            } while (next < end && next > stop && (*next == '[' || *next == '('));
        } else {
            for (bool quoted = false; stop < end && (quoted || *stop != separator); ++stop) {
                quoted = quoted != (*stop == '"');
            }
        }

        if (count < room) {
            cell[count] = table_trim(at, stop);
        }
        ++count;
        at = stop + 1;
    }

    return count;
}

typedef enum table_content { TABLE_NUMBER, TABLE_EMPTY, TABLE_NAN, TABLE_TEXT } table_content;

// The content of a cell; *value is NAN unless it is a number.
static table_content table_number(table_cell cell, double *value)
{
    const char *at = cell.at, *end = cell.at + cell.length;
    double number = NAN;

    *value = NAN;
    if (cell.length == 0) {
        return TABLE_EMPTY;
    }
    if (cell.length == 3 && strncasecmp(cell.at, "nan", 3) == 0) {
        return TABLE_NAN;
    }
    if (!pl_scan_real(&at, end, &number) || at != end || !isfinite(number)) {
        return TABLE_TEXT;
    }
    *value = number;

    return TABLE_NUMBER;
}

// The first of comma, semicolon and tab that the row has outside of quotes; otherwise blanks.
static char table_separator(const char *at, const char *end)
{
    static const char choices[] = ",;\t";
    for (int i = 0; i < 3; ++i) {
        bool quoted = false;

        for (const char *p = at; p < end; ++p) {
            quoted = quoted != (*p == '"');
            if (!quoted && *p == choices[i]) {
                return choices[i];
            }
        }
    }

    return ' ';
}

// "tip.x [mm]" gives the name "tip.x" and the unit "mm".
static void table_heading(text_table *t, int column, table_cell cell)
{
    int length = 0;
    while (length < cell.length && cell.at[length] != '[' && cell.at[length] != '(') {
        ++length;
    }

    const table_cell name = table_trim(cell.at, cell.at + length);
    for (int i = 0; i < name.length && i < (int)sizeof t->name[0] - 1; ++i) {
        t->name[column][i] = (char)tolower((unsigned char)name.at[i]);
    }

    if (length < cell.length) {
        const int last = cell.length - 1;
        const bool closed = cell.at[last] == ']' || cell.at[last] == ')';
        const table_cell unit = table_trim(cell.at + length + 1, cell.at + cell.length - closed);
        if (unit.length == 1 && (*unit.at == '-' || *unit.at == '1')) {
            return; // a plain number
        }
        snprintf(t->unit[column], sizeof t->unit[0], "%.*s", unit.length < 15 ? unit.length : 15, unit.at);
    }
}

// Appends a row. Cells that are no numbers are noted per column, because columns that
// are not asked for may hold text.
static pl_status table_row(text_table *t, int line, const table_cell *cell, int count, int32_t *value_room,
                           int32_t *line_room, int32_t *run_room, pl_error *err)
{
    if (count != t->column_count) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: %d column%s found, expected %d as in the rows above",
                       t->path, line, count, count == 1 ? "" : "s", t->column_count);
    }

    const int64_t need = ((int64_t)t->row_count + 1) * count;
    if (t->row_count >= TEXT_TABLE_ROWS) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: more than %d rows", t->path, line, TEXT_TABLE_ROWS);
    }

    if (!pl_grow((void **)&t->value, value_room, need, sizeof(double)) ||
        !pl_grow((void **)&t->line, line_room, (int64_t)t->row_count + 1, sizeof(int)) ||
        (t->run_column >= 0 &&
         !pl_grow((void **)&t->run, run_room, (int64_t)t->row_count + 1, sizeof *t->run))) {
        return pl_fail_memory(err, t->path);
    }

    // the run's name is text
    if (t->run_column >= 0) {
        const table_cell name = cell[t->run_column];
        const int room = (int)sizeof *t->run - 1;
        snprintf(t->run[t->row_count], sizeof *t->run, "%.*s", name.length < room ? name.length : room,
                 name.at);
    }

    // numbers; the first wrong cell of each column
    for (int c = 0; c < count; ++c) {
        text_table_wrong *wrong = &t->wrong[c];
        const table_content content = table_number(cell[c], &t->value[need - count + c]);
        t->nan_line[c] = content == TABLE_NAN && t->nan_line[c] == 0 ? line : t->nan_line[c];
        if (content == TABLE_TEXT && wrong->line == 0) {
            const int room = (int)sizeof wrong->text - 1;
            wrong->line = line;
            snprintf(wrong->text, sizeof wrong->text, "%.*s", cell[c].length < room ? cell[c].length : room,
                     cell[c].at);
        }
    }

    t->line[t->row_count++] = line;

    return PL_OK;
}

// The first row that is not empty fixes separator and columns.
static pl_status table_first(text_table *t, int line, const table_cell *cell, int count, pl_error *err)
{
    if (count > TEXT_TABLE_COLUMNS) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: %d columns, the limit is %d", t->path, line, count,
                       TEXT_TABLE_COLUMNS);
    }

    t->column_count = count;

    // a heading has a cell that is no number
    for (int c = 0; c < count; ++c) {
        double number;
        t->heading = t->heading || table_number(cell[c], &number) != TABLE_NUMBER;
    }

    // two columns of one name would be confused
    for (int c = 0; t->heading && c < count; ++c) {
        table_heading(t, c, cell[c]);
        for (int other = 0; other < c; ++other) {
            const size_t length = strlen(t->name[c]); // longer names were cut off
            if (length > 0 && length < sizeof t->name[c] - 1 && strcmp(t->name[c], t->name[other]) == 0) {
                return pl_fail(err, PL_BAD_INPUT, "%s:%d: columns %d and %d are both called '%s'", t->path,
                               line, other + 1, c + 1, t->name[c]);
            }
        }
    }

    t->heading_line = line;
    t->run_column = text_table_find(t, "run");

    return PL_OK;
}

// Line by line; comments and empty lines count as lines but are no rows.
static pl_status table_parse(text_table *t, const char *text, size_t length, pl_error *err)
{
    const char *at = text, *end = text + length;
    char separator = 0;
    int32_t value_room = 0, line_room = 0, run_room = 0;
    pl_status status = PL_OK;

    at += length >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; // byte order mark
    for (int line = 1; at < end && status == PL_OK; ++line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *comment = memchr(at, '#', (size_t)(stop - at));
        const char *from = at, *to = comment ? comment : stop;
        to -= to > from && to[-1] == '\r';
        at = stop + 1;
        if (table_trim(from, to).length == 0) {
            continue;
        }
        const bool first = separator == 0;
        separator = first ? table_separator(from, to) : separator;
        table_cell cell[TEXT_TABLE_COLUMNS];
        const int count = table_split(from, to, separator, cell, TEXT_TABLE_COLUMNS);
        if (first) {
            status = table_first(t, line, cell, count, err);
        }
        if (status == PL_OK && !(first && t->heading)) {
            status = table_row(t, line, cell, count, &value_room, &line_room, &run_room, err);
        }
    }

    if (status == PL_OK && t->row_count == 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: has no rows of numbers", t->path);
    }

    return status;
}

pl_status text_table_parse(const char *text, size_t length, const char *path, text_table *out, pl_error *err)
{
    *out = (text_table){.path = path, .run_column = -1, .heading_line = 1};
    const pl_status status = table_parse(out, text, length, err);
    if (status != PL_OK) {
        text_table_clear(out);
    }

    return status;
}

pl_status text_table_read(const char *path, text_table *out, pl_error *err)
{
    *out = (text_table){0};
    char *text = NULL;
    size_t length = 0;
    pl_status status = pl_file_read(path, &text, &length, err);
    if (status == PL_OK) {
        status = text_table_parse(text, length, path, out, err);
    }
    pl_file_free(text);

    return status;
}

void text_table_clear(text_table *table)
{
    pl_free(table->value);
    pl_free(table->line);
    pl_free(table->run);
    *table = (text_table){0};
}

int text_table_find(const text_table *table, const char *name)
{
    for (int c = 0; c < table->column_count; ++c) {
        if (table->heading && strcmp(table->name[c], name) == 0) {
            return c;
        }
    }

    return -1;
}

// "45,5" as people write it where the decimal sign is a comma.
static bool table_decimal_comma(const char *text)
{
    const size_t whole = strspn(text, "+-0123456789");
    return text[whole] == ',' && text[whole + 1] &&
           strspn(text + whole + 1, "0123456789") + whole + 1 == strlen(text);
}

pl_status text_table_numbers(const text_table *table, int column, double factor, text_table_cells cells,
                             double *out, int stride, pl_error *err)
{
    const char *name = table->heading ? table->name[column] : "", *before = name[0] ? " " : "";
    const text_table_wrong *wrong = &table->wrong[column];

    if (wrong->line > 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d%s%s: expected a number, found '%s'%s",
                       table->path, wrong->line, column + 1, before, name, wrong->text,
                       table_decimal_comma(wrong->text) ? "; write the decimal sign as a point" : "");
    }

    for (int r = 0; r < table->row_count; ++r) {
        const double value = table->value[(int64_t)r * table->column_count + column];
        if (isnan(value) && cells == TEXT_TABLE_WHOLE) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d%s%s: expected a number, %s", table->path,
                           table->line[r], column + 1, before, name,
                           table->nan_line[column] == table->line[r] ? "found 'nan'" : "the cell is empty");
        }

        out[(int64_t)r * stride] = factor * value;
        if (isinf(factor * value)) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d%s%s: %g is too large", table->path,
                           table->line[r], column + 1, before, name, value);
        }
    }

    return PL_OK;
}

pl_status text_table_column(const text_table *table, int column, pl_dimension dimension,
                            text_table_cells cells, double *out, int stride, pl_error *err)
{
    double factor = 1;
    if (table->unit[column][0]) {
        char one[32];
        pl_error why;
        snprintf(one, sizeof one, "1 %s", table->unit[column]);

        if (pl_quantity_parse(one, dimension, &factor, &why) != PL_OK) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: column %d '%s': %.800s", table->path,
                           table->heading_line, column + 1, table->heading ? table->name[column] : "",
                           why.text);
        }
    }

    return text_table_numbers(table, column, factor, cells, out, stride, err);
}
