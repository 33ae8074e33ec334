// Reading blocks of a robot file by tables: findings with lines, names, numbers with units, vectors, choices.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/vec.h"
#include "io/io_expression.h"
#include "io/io_robot.h"

static void read_report(io_robot_file *f, pl_severity severity, int line, const char *format, va_list args)
{
    if (!f->findings) {
        return; // a value is only tried
    }
    const int count = pl_findings_count(f->findings);
    if (count > IO_FINDINGS_MAX || (count == IO_FINDINGS_MAX && severity != PL_DEFECT)) {
        return;
    }
    char text[1600];
    vsnprintf(text, sizeof text, format, args);
    int index;
    if (count == IO_FINDINGS_MAX) {
        index = pl_findings_add(f->findings, PL_DEFECT, f->path, line, "more findings are not listed");
    } else {
        index = pl_findings_add(f->findings, severity, f->path, line, "%s", text);
    }
    f->no_memory = f->no_memory || index < 0;
}

void io_defect(io_robot_file *f, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    read_report(f, PL_DEFECT, line, format, args);
    va_end(args);
}

void io_warning(io_robot_file *f, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    read_report(f, PL_WARNING, line, format, args);
    va_end(args);
}

void io_advise(io_robot_file *f, const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (pl_findings_count(f->findings) <= IO_FINDINGS_MAX) {
        pl_findings_advise(f->findings, "%s", text);
    }
}

const char *io_did_you_mean(io_robot_file *f, const char *word, const char *const *known, int count)
{
    const char *nearest = pl_nearest_word(word, known, count);
    const char *text = nearest ? io_arena_format(&f->arena, " (did you mean '%s'?)", nearest) : "";
    return text ? text : "";
}

void io_mark_broken(io_robot_file *f, int line)
{
    int *slot = io_append(f, &f->broken, sizeof *slot);
    if (slot) {
        *slot = line;
    }
}

void *io_append(io_robot_file *f, io_array *array, size_t size)
{
    if (!pl_grow(&array->item, &array->capacity, array->count + 1, size)) {
        f->no_memory = true;
        return NULL;
    }
    void *slot = (char *)array->item + (size_t)array->count++ * size;
    memset(slot, 0, size);
    return slot;
}

bool io_expect(io_robot_file *f, const io_node *node, io_node_kind kind, const char *what)
{
    if (node->kind == kind) {
        return true;
    }
    const io_node wanted = {.kind = kind};
    io_defect(f, node->line, "%s: expected %s, found %s", what, io_kind_name(&wanted), io_kind_name(node));
    return false;
}

bool io_read_quantity(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                      double *value)
{
    if (node->kind != IO_SCALAR) {
        io_defect(f, node->line, "%s: expected %s (%s), found %s", what, io_dimension_name(dimension),
                  io_dimension_units(dimension), io_kind_name(node));
        return false;
    }
    return io_read_number(f, node, what, dimension, false, value);
}

bool io_read_vector(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                    double value[3])
{
    if (node->kind != IO_LIST || node->count != 3) {
        if (node->kind == IO_LIST) {
            io_defect(f, node->line, "%s: expected three numbers [x, y, z], found %d", what, node->count);
        } else {
            io_defect(f, node->line, "%s: expected three numbers [x, y, z], found %s", what,
                      io_kind_name(node));
        }
        return false;
    }
    bool good = true;
    int i = 0;
    for (const io_node *n = node->child; n; n = n->next) {
        good = io_read_quantity(f, n, what, dimension, &value[i++]) && good;
    }
    return good;
}

bool io_read_range(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                   double range[2])
{
    if (node->kind != IO_LIST || node->count != 2) {
        io_defect(f, node->line, "%s: expected a range [from, to], found %s", what,
                  node->kind == IO_LIST ? "a list of another length" : io_kind_name(node));
        return false;
    }
    if (!io_read_quantity(f, node->child, what, dimension, &range[0]) ||
        !io_read_quantity(f, node->child->next, what, dimension, &range[1])) {
        return false;
    }
    if (range[0] > range[1]) {
        io_defect(f, node->line, "%s: the range is reversed, from %s to %s", what, node->child->text,
                  node->child->next->text);
        io_advise(f, "write [%s, %s]", node->child->next->text, node->child->text);
        return false;
    }
    return true;
}

bool io_read_box(io_robot_file *f, const io_node *node, const char *what, double low[3], double high[3])
{
    if (node->kind != IO_LIST || node->count != 2) {
        io_defect(f, node->line,
                  "%s: expected a box [[x, y, z], [x, y, z]] (low corner, high corner), found %s", what,
                  node->kind == IO_LIST ? "a list of another length" : io_kind_name(node));
        return false;
    }
    const bool good = io_read_vector(f, node->child, what, PL_DIM_LENGTH, low);
    if (!io_read_vector(f, node->child->next, what, PL_DIM_LENGTH, high) || !good) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        if (low[i] > high[i]) {
            io_defect(f, node->line, "%s: the box is reversed along %c, from %g to %g", what, "xyz"[i],
                      low[i], high[i]);
            return false;
        }
    }
    return true;
}

int io_read_choice(io_robot_file *f, const io_node *node, const char *what, const char *const *choice,
                   int count)
{
    if (!io_expect(f, node, IO_SCALAR, what)) {
        return -1;
    }
    char all[400] = "";
    size_t used = 0;
    for (int i = 0; i < count; ++i) {
        if (strcmp(node->text, choice[i]) == 0) {
            return i;
        }
        if (used < sizeof all) {
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", choice[i]);
        }
    }
    io_defect(f, node->line, "%s: '%s' is unknown%s; expected one of %s", what, node->text,
              io_did_you_mean(f, node->text, choice, count), all);
    return -1;
}

bool io_read_rotation(io_robot_file *f, const io_node *node, const char *what, double rotate[3],
                      double about[3])
{
    struct {
        double axis[3], angle, about[3];
    } r = {0};
    static const io_key keys[] = {
        {"axis", IO_VECTOR, PL_DIM_NUMBER, 0, IO_REQUIRED},
        {"angle", IO_QUANTITY, PL_DIM_ANGLE, 3 * sizeof(double), IO_REQUIRED},
        {"about", IO_VECTOR, PL_DIM_LENGTH, 4 * sizeof(double), 0},
    };
    if (!io_read_map(f, node, what, keys, PL_COUNT(keys), &r)) {
        return false;
    }
    const double length = pl_norm3(r.axis);
    if (!(length > 1e-12) || !isfinite(length)) {
        io_defect(f, node->line, "%s: the axis [%g, %g, %g] has no direction", what, r.axis[0], r.axis[1],
                  r.axis[2]);
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        rotate[i] = r.axis[i] / length * r.angle;
        about[i] = r.about[i];
    }
    return true;
}

static bool read_bool(io_robot_file *f, const io_node *node, const char *what, bool *value)
{
    if (node->kind == IO_SCALAR && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
        *value = node->text[0] == 't';
        return true;
    }
    io_defect(f, node->line, "%s: expected true or false, found %s%s%s", what,
              node->kind == IO_SCALAR ? "'" : "", node->kind == IO_SCALAR ? node->text : io_kind_name(node),
              node->kind == IO_SCALAR ? "'" : "");
    return false;
}

static bool read_whole(io_robot_file *f, const io_node *node, const char *what, int *value)
{
    double number;
    if (!io_read_quantity(f, node, what, PL_DIM_NUMBER, &number)) {
        return false;
    }
    if (number != floor(number) || fabs(number) > 1e9) {
        io_defect(f, node->line, "%s: expected a whole number, found %s", what, node->text);
        return false;
    }
    *value = (int)number;
    return true;
}

static bool read_word(io_robot_file *f, const io_node *node, const char *what, bool is_name,
                      const char **value)
{
    if (node->kind != IO_SCALAR || node->text[0] == '\0') {
        io_defect(f, node->line, "%s: expected a %s, found %s", what, is_name ? "name" : "word",
                  io_kind_name(node));
        return false;
    }
    if (strlen(node->text) > 1000) {
        io_defect(f, node->line, "%s: longer than 1000 letters", what);
        return false;
    }
    if (is_name && !pl_name_is_valid(node->text)) {
        char shown[80];
        io_defect(f, node->line, "%s: '%s' is not a valid name: %s", what,
                  pl_name_shown(node->text, shown, sizeof shown), PL_NAME_RULE);
        return false;
    }
    *value = node->text;
    return true;
}

static bool read_sign(io_robot_file *f, const io_node *node, const char *what, int flags, double value)
{
    const bool small = (flags & IO_POSITIVE) && !(value > 0);
    if (!small && !((flags & IO_NOT_NEGATIVE) && !(value >= 0))) {
        return true;
    }
    char result[40] = "";
    if (io_is_expression(NULL, 0, node->text) ||
        !isdigit((unsigned char)node->text[strspn(node->text, "+-. ")])) {
        snprintf(result, sizeof result, " (%g)", value);
    }
    io_defect(f, node->line, small ? "%s: %s%s must be greater than 0" : "%s: %s%s must not be negative",
              what, node->text, result);
    return false;
}

// One key by its table row.
static bool read_value(io_robot_file *f, const io_node *node, const char *what, const io_key *key, void *out)
{
    void *slot = out ? (char *)out + key->offset : NULL; // keys that are only checked have no place
    switch (key->type) {
    case IO_NAME:
    case IO_TEXT:
        return read_word(f, node, what, key->type == IO_NAME, slot);
    case IO_BOOL:
        return read_bool(f, node, what, slot);
    case IO_WHOLE:
        return read_whole(f, node, what, slot) && read_sign(f, node, what, key->flags, *(int *)slot);
    case IO_QUANTITY:
        return io_read_quantity(f, node, what, key->dimension, slot) &&
               read_sign(f, node, what, key->flags, *(double *)slot);
    case IO_VECTOR:
        return io_read_vector(f, node, what, key->dimension, slot);
    case IO_RESERVED:
        io_defect(f, node->key_line, "%s: this key is reserved for a later version", what);
        return false;
    default:
        return true;
    }
}

static void read_unknown(io_robot_file *f, const io_node *node, const char *what, const io_key *key,
                         int key_count)
{
    const char *known[32];
    int count = 0;
    char all[600] = "";
    size_t used = 0;
    for (int i = 0; i < key_count && count < PL_COUNT(known); ++i) {
        if (key[i].type != IO_RESERVED) {
            known[count++] = key[i].name;
            if (used < sizeof all) {
                used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", count > 1 ? ", " : "",
                                         key[i].name);
            }
        }
    }
    const char *nearest = io_did_you_mean(f, node->key, known, count);
    io_defect(f, node->key_line, "%s: unknown key '%s'%s", what, node->key, nearest);
    io_advise(f, "known here: %s", all);
}

bool io_read_map(io_robot_file *f, const io_node *node, const char *what, const io_key *key, int key_count,
                 void *out)
{
    if (!io_expect(f, node, IO_MAP, what)) {
        return false;
    }
    bool good = true;
    uint64_t seen = 0;
    for (const io_node *n = node->child; n; n = n->next) {
        int k = 0;
        while (k < key_count && strcmp(key[k].name, n->key) != 0) {
            ++k;
        }
        if (k == key_count) {
            read_unknown(f, n, what, key, key_count);
            good = false;
            continue;
        }
        seen |= UINT64_C(1) << k;
        char place[200];
        snprintf(place, sizeof place, "%s: %s", what, n->key);
        good = read_value(f, n, place, &key[k], out) && good;
    }
    for (int k = 0; k < key_count; ++k) {
        if ((key[k].flags & IO_REQUIRED) && !(seen >> k & 1)) {
            io_defect(f, node->line, "%s: '%s' is missing", what, key[k].name);
            good = false;
        }
    }
    return good;
}

const char *io_scoped(io_robot_file *f, const io_scope *scope, const char *name)
{
    if (!scope->prefix || !name) {
        return name;
    }
    const char *full = io_arena_format(&f->arena, "%s.%s", scope->prefix, name);
    f->no_memory = f->no_memory || !full;
    return full ? full : name;
}

void io_place_vector(const io_scope *scope, double vector[3])
{
    pl_mulv3(scope->rotation, vector, vector);
}

void io_place_point(const io_scope *scope, double point[3])
{
    pl_mulv3(scope->rotation, point, point);
    for (int i = 0; i < 3; ++i) {
        point[i] += scope->translation[i];
    }
}
