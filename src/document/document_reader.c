// Reading blocks of a robot file by tables: findings with lines, names, numbers with units, vectors, choices.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/vec.h"
#include "text/text_expression.h"
#include "document/document_reader.h"

// At most DOC_FINDINGS_MAX and one line that says so: a damaged file would give thousands.
static void read_report(doc_robot_file *f, pl_severity severity, int line, const char *format, va_list args)
{
    if (!f->findings) {
        return; // a value is only tried
    }

    const int count = pl_findings_count(f->findings);
    if (count > DOC_FINDINGS_MAX || (count == DOC_FINDINGS_MAX && severity != PL_DEFECT)) {
        return;
    }

    char text[1600];
    vsnprintf(text, sizeof text, format, args);
    int index;
    if (count == DOC_FINDINGS_MAX) {
        index = pl_findings_add(f->findings, PL_DEFECT, f->path, line, "more findings are not listed");
    } else {
        index = pl_findings_add(f->findings, severity, f->path, line, "%s", text);
    }

    f->no_memory = f->no_memory || index < 0;
}

void doc_defect(doc_robot_file *f, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    read_report(f, PL_DEFECT, line, format, args);
    va_end(args);
}

void doc_warning(doc_robot_file *f, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    read_report(f, PL_WARNING, line, format, args);
    va_end(args);
}

void doc_advise(doc_robot_file *f, const char *format, ...)
{
    char text[1000];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (pl_findings_count(f->findings) <= DOC_FINDINGS_MAX) {
        pl_findings_advise(f->findings, "%s", text);
    }
}

const char *doc_did_you_mean(doc_robot_file *f, const char *word, const char *const *known, int count)
{
    const char *nearest = pl_nearest_word(word, known, count);
    const char *text = nearest ? doc_arena_format(&f->arena, " (did you mean '%s'?)", nearest) : "";
    return text ? text : "";
}

void doc_mark_broken(doc_robot_file *f, int line)
{
    int *slot = doc_append(f, &f->broken, sizeof *slot);
    if (slot) {
        *slot = line;
    }
}

void *doc_append(doc_robot_file *f, doc_array *array, size_t size)
{
    if (!pl_grow(&array->item, &array->capacity, array->count + 1, size)) {
        f->no_memory = true;
        return NULL;
    }

    void *slot = (char *)array->item + (size_t)array->count++ * size;
    memset(slot, 0, size);
    return slot;
}

bool doc_expect(doc_robot_file *f, const doc_node *node, doc_node_kind kind, const char *what)
{
    if (node->kind == kind) {
        return true;
    }
    const doc_node wanted = {.kind = kind};
    doc_defect(f, node->line, "%s: expected %s, found %s", what, doc_kind_name(&wanted), doc_kind_name(node));
    return false;
}

bool doc_read_quantity(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                       double *value)
{
    if (node->kind != DOC_SCALAR) {
        doc_defect(f, node->line, "%s: expected %s (%s), found %s", what, text_dimension_name(dimension),
                   text_dimension_units(dimension), doc_kind_name(node));
        return false;
    }

    return doc_read_number(f, node, what, dimension, false, value);
}

// All three are read, so that all defects are reported.
bool doc_read_vector(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                     double value[3])
{
    if (node->kind != DOC_LIST || node->count != 3) {
        if (node->kind == DOC_LIST) {
            doc_defect(f, node->line, "%s: expected three numbers [x, y, z], found %d", what, node->count);
        } else {
            doc_defect(f, node->line, "%s: expected three numbers [x, y, z], found %s", what,
                       doc_kind_name(node));
        }

        return false;
    }

    bool good = true;
    int i = 0;
    for (const doc_node *n = node->child; n; n = n->next) {
        good = doc_read_quantity(f, n, what, dimension, &value[i++]) && good;
    }

    return good;
}

bool doc_read_range(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                    double range[2])
{
    if (node->kind != DOC_LIST || node->count != 2) {
        doc_defect(f, node->line, "%s: expected a range [from, to], found %s", what,
                   node->kind == DOC_LIST ? "a list of another length" : doc_kind_name(node));
        return false;
    }

    if (!doc_read_quantity(f, node->child, what, dimension, &range[0]) ||
        !doc_read_quantity(f, node->child->next, what, dimension, &range[1])) {
        return false;
    }

    if (range[0] > range[1]) {
        doc_defect(f, node->line, "%s: the range is reversed, from %s to %s", what, node->child->text,
                   node->child->next->text);
        doc_advise(f, "write [%s, %s]", node->child->next->text, node->child->text);
        return false;
    }

    return true;
}

bool doc_read_box(doc_robot_file *f, const doc_node *node, const char *what, double low[3], double high[3])
{
    if (node->kind != DOC_LIST || node->count != 2) {
        doc_defect(f, node->line,
                   "%s: expected a box [[x, y, z], [x, y, z]] (low corner, high corner), found %s", what,
                   node->kind == DOC_LIST ? "a list of another length" : doc_kind_name(node));
        return false;
    }

    const bool good = doc_read_vector(f, node->child, what, PL_DIM_LENGTH, low);
    if (!doc_read_vector(f, node->child->next, what, PL_DIM_LENGTH, high) || !good) {
        return false;
    }

    for (int i = 0; i < 3; ++i) {
        if (low[i] > high[i]) {
            doc_defect(f, node->line, "%s: the box is reversed along %c, from %g to %g", what, "xyz"[i],
                       low[i], high[i]);
            return false;
        }
    }

    return true;
}

int doc_read_choice(doc_robot_file *f, const doc_node *node, const char *what, const char *const *choice,
                    int count)
{
    if (!doc_expect(f, node, DOC_SCALAR, what)) {
        return -1;
    }

    // the list of choices for the message
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

    doc_defect(f, node->line, "%s: '%s' is unknown%s; expected one of %s", what, node->text,
               doc_did_you_mean(f, node->text, choice, count), all);

    return -1;
}

// rotate = axis / |axis| angle, rad; about in mm.
bool doc_read_rotation(doc_robot_file *f, const doc_node *node, const char *what, double rotate[3],
                       double about[3])
{
    struct {
        double axis[3], angle, about[3];
    } r = {0};
    static const doc_key keys[] = {
        {"axis", DOC_VECTOR, PL_DIM_NUMBER, 0, DOC_REQUIRED},
        {"angle", DOC_QUANTITY, PL_DIM_ANGLE, 3 * sizeof(double), DOC_REQUIRED},
        {"about", DOC_VECTOR, PL_DIM_LENGTH, 4 * sizeof(double), 0},
    };
    if (!doc_read_map(f, node, what, keys, PL_COUNT(keys), &r)) {
        return false;
    }

    const double length = pl_norm3(r.axis);
    if (!(length > 1e-12) || !isfinite(length)) {
        doc_defect(f, node->line, "%s: the axis [%g, %g, %g] has no direction", what, r.axis[0], r.axis[1],
                   r.axis[2]);
        return false;
    }

    for (int i = 0; i < 3; ++i) {
        rotate[i] = r.axis[i] / length * r.angle;
        about[i] = r.about[i];
    }

    return true;
}

static bool read_bool(doc_robot_file *f, const doc_node *node, const char *what, bool *value)
{
    if (node->kind == DOC_SCALAR && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
        *value = node->text[0] == 't';
        return true;
    }

    doc_defect(
        f, node->line, "%s: expected true or false, found %s%s%s", what, node->kind == DOC_SCALAR ? "'" : "",
        node->kind == DOC_SCALAR ? node->text : doc_kind_name(node), node->kind == DOC_SCALAR ? "'" : "");
    return false;
}

// Names are defined here and obey the rule of names; other words refer to something.
static bool read_word(doc_robot_file *f, const doc_node *node, const char *what, bool is_name,
                      const char **value)
{
    if (node->kind != DOC_SCALAR || node->text[0] == '\0') {
        doc_defect(f, node->line, "%s: expected a %s, found %s", what, is_name ? "name" : "word",
                   doc_kind_name(node));
        return false;
    }

    if (strlen(node->text) > 1000) {
        doc_defect(f, node->line, "%s: longer than 1000 letters", what);
        return false;
    }

    if (is_name && !pl_name_is_valid(node->text)) {
        char shown[80];
        doc_defect(f, node->line, "%s: '%s' is not a valid name: %s", what,
                   pl_name_shown(node->text, shown, sizeof shown), PL_NAME_RULE);
        return false;
    }

    *value = node->text;
    return true;
}

// Bounds of the table row; an expression is shown with its value.
static bool read_sign(doc_robot_file *f, const doc_node *node, const char *what, int flags, double value)
{
    const bool small = (flags & DOC_POSITIVE) && !(value > 0);
    if (!small && !((flags & DOC_NOT_NEGATIVE) && !(value >= 0))) {
        return true;
    }

    char result[40] = "";
    if (text_is_expression(NULL, 0, node->text) ||
        !isdigit((unsigned char)node->text[strspn(node->text, "+-. ")])) {
        snprintf(result, sizeof result, " (%g)", value);
    }

    doc_defect(f, node->line, small ? "%s: %s%s must be greater than 0" : "%s: %s%s must not be negative",
               what, node->text, result);

    return false;
}

// Expressions may give whole numbers, too. A value out of bounds leaves the default, so that later checks do
// not report it again.
static bool read_whole(doc_robot_file *f, const doc_node *node, const char *what, int flags, int *value)
{
    double number;
    if (!doc_read_quantity(f, node, what, PL_DIM_NUMBER, &number)) {
        return false;
    }
    if (number != floor(number) || fabs(number) > 1e9) {
        doc_defect(f, node->line, "%s: expected a whole number, found %s", what, node->text);
        return false;
    }
    if (!read_sign(f, node, what, flags, number)) {
        return false;
    }

    *value = (int)number;
    return true;
}

// A quantity within the bounds of its row; otherwise the default stays.
static bool read_signed(doc_robot_file *f, const doc_node *node, const char *what, const doc_key *key,
                        double *value)
{
    double number;
    if (!doc_read_quantity(f, node, what, key->dimension, &number) ||
        !read_sign(f, node, what, key->flags, number)) {
        return false;
    }

    *value = number;
    return true;
}

// One key by its table row.
static bool read_value(doc_robot_file *f, const doc_node *node, const char *what, const doc_key *key,
                       void *out)
{
    void *slot = out ? (char *)out + key->offset : NULL; // keys that are only checked have no place
    switch (key->type) {
    case DOC_NAME:
    case DOC_TEXT:
        return read_word(f, node, what, key->type == DOC_NAME, slot);
    case DOC_BOOL:
        return read_bool(f, node, what, slot);
    case DOC_WHOLE:
        return read_whole(f, node, what, key->flags, slot);
    case DOC_QUANTITY:
        return read_signed(f, node, what, key, slot);
    case DOC_VECTOR:
        return doc_read_vector(f, node, what, key->dimension, slot);
    case DOC_RESERVED:
        doc_defect(f, node->key_line, "%s: this key is reserved for a later version", what);
        return false;
    default:
        return true;
    }
}

// Lists what the block knows, with the nearest one.
static void read_unknown(doc_robot_file *f, const doc_node *node, const char *what, const doc_key *key,
                         int key_count)
{
    const char *known[32];
    int count = 0;
    char all[600] = "";
    size_t used = 0;

    for (int i = 0; i < key_count && count < PL_COUNT(known); ++i) {
        if (key[i].type != DOC_RESERVED) {
            known[count++] = key[i].name;
            if (used < sizeof all) {
                used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", count > 1 ? ", " : "",
                                         key[i].name);
            }
        }
    }

    const char *nearest = doc_did_you_mean(f, node->key, known, count);
    doc_defect(f, node->key_line, "%s: unknown key '%s'%s", what, node->key, nearest);
    doc_advise(f, "known here: %s", all);
}

bool doc_read_map(doc_robot_file *f, const doc_node *node, const char *what, const doc_key *key,
                  int key_count, void *out)
{
    if (!doc_expect(f, node, DOC_MAP, what)) {
        return false;
    }

    bool good = true;

    // one bit per row: tables have at most 64
    uint64_t seen = 0;
    for (const doc_node *n = node->child; n; n = n->next) {
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

    // what is missing
    for (int k = 0; k < key_count; ++k) {
        if ((key[k].flags & DOC_REQUIRED) && !(seen >> k & 1)) {
            doc_defect(f, node->line, "%s: '%s' is missing", what, key[k].name);
            good = false;
        }
    }

    return good;
}

const char *doc_scoped(doc_robot_file *f, const doc_scope *scope, const char *name)
{
    if (!scope->prefix || !name) {
        return name;
    }
    const char *full = doc_arena_format(&f->arena, "%s.%s", scope->prefix, name);
    f->no_memory = f->no_memory || !full;
    return full ? full : name;
}

// Directions turn with the body.
void doc_place_vector(const doc_scope *scope, double vector[3])
{
    pl_mulv3(scope->rotation, vector, vector);
}

// x_world = R x + t
void doc_place_point(const doc_scope *scope, double point[3])
{
    pl_mulv3(scope->rotation, point, point);
    for (int i = 0; i < 3; ++i) {
        point[i] += scope->translation[i];
    }
}
