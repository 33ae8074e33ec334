// The `mesh:` and `surfaces:` blocks: where a body's mesh comes from and names for parts of its boundary.
#include <stdio.h>
#include <strings.h>
#include "base/vec.h"
#include "document/document_reader.h"
#include "meshfile/meshfile.h"

// Relative to the folder of the robot file.
static const char *mesh_path(doc_robot_file *f, const char *path)
{
    const char *full = path[0] == '/' ? path : doc_arena_format(&f->arena, "%s%s", f->folder, path);
    f->no_memory = f->no_memory || !full;
    return full ? full : path;
}

// Refuses by extension, before a file is opened.
static bool mesh_has_content(doc_robot_file *f, const doc_node *node, const char *what, const char *path,
                             pl_mesh_content content)
{
    char expected[80];
    if (pl_mesh_content_of(path) == content) {
        return true;
    }

    pl_mesh_extensions(content, false, expected, sizeof expected);
    doc_defect(f, node->line, "%s: '%s' has an extension that cannot be read, expected %s", what, path,
               expected);
    return false;
}

// parts: closed surfaces
static bool mesh_parts(doc_robot_file *f, const doc_node *node, pl_mesh_source *source)
{
    static const doc_key keys[] = {
        {"surface", DOC_TEXT, 0, offsetof(pl_source_part, path), DOC_REQUIRED},
        {"region", DOC_NAME, 0, offsetof(pl_source_part, region), DOC_REQUIRED},
        {"cavity", DOC_BOOL, 0, offsetof(pl_source_part, cavity), 0},
    };

    if (!doc_expect(f, node, DOC_LIST, "mesh: parts")) {
        return false;
    }
    if (node->count == 0) {
        doc_defect(f, node->line, "mesh: parts is empty, at least one closed surface is needed");
        return false;
    }

    pl_source_part *part = doc_arena_take(&f->arena, (size_t)node->count * sizeof *part);
    if (!part) {
        f->no_memory = true;
        return false;
    }

    source->part = part;
    bool good = true;

    // all parts are read, so that all defects are reported
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_source_part *p = &part[source->part_count++];
        p->line = n->line;
        if (!doc_read_map(f, n, "mesh: part", keys, PL_COUNT(keys), p)) {
            good = false;
            continue;
        }

        good = mesh_has_content(f, n, "mesh: part", p->path, PL_MESH_SURFACE) && good;
        p->path = mesh_path(f, p->path);

        for (const pl_source_part *q = part; q < p; ++q) {
            if (q->region && strcmp(q->region, p->region) == 0) {
                doc_defect(f, n->line, "mesh: region '%s' is given to two parts, first on line %d", p->region,
                           q->line);
                good = false;
            }
        }
    }

    return good;
}

// design: {kind, parameter: value ...}; the mesher knows which parameters a design has
static bool mesh_design(doc_robot_file *f, const doc_node *node, pl_mesh_source *source)
{
    if (!doc_expect(f, node, DOC_MAP, "mesh: design")) {
        return false;
    }

    pl_source_parameter *parameter = doc_arena_take(&f->arena, ((size_t)node->count + 1) * sizeof *parameter);
    if (!parameter) {
        f->no_memory = true;
        return false;
    }

    source->parameter = parameter;
    bool good = true;

    // its parameters are expressions of those of the file, not of one another
    const int names = f->name.count;
    f->name.count = f->outer_names;
    for (const doc_node *n = node->child; n; n = n->next) {
        if (strcmp(n->key, "kind") == 0) {
            if (!doc_expect(f, n, DOC_SCALAR, "mesh: design: kind")) {
                good = false;
            } else {
                source->design = n->text;
            }
            continue;
        }

        pl_source_parameter *p = &parameter[source->parameter_count];
        *p = (pl_source_parameter){.name = n->key, .line = n->key_line};
        char place[200];
        snprintf(place, sizeof place, "mesh: design: %.100s", n->key);
        if (n->kind != DOC_SCALAR) {
            doc_defect(f, n->line, "%s: expected a number, found %s", place, doc_kind_name(n));
            good = false;
        } else if (!doc_read_number(f, n, place, PL_DIM_LENGTH, false, &p->value)) {
            good = false;
        } else {
            ++source->parameter_count;
        }
    }

    f->name.count = names;
    if (good && !source->design) {
        doc_defect(f, node->line, "mesh: design: 'kind' is missing");
        doc_advise(f, "`pliant new --list` shows the kinds");
        good = false;
    }

    return good;
}

// Twice the area of the triangle a b c; positive when it turns left.
static double outline_turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Whether c, which lies on the line through a and b, lies between them.
static bool outline_between(const double *a, const double *b, const double *c)
{
    return fmin(a[0], b[0]) <= c[0] && c[0] <= fmax(a[0], b[0]) && fmin(a[1], b[1]) <= c[1] &&
           c[1] <= fmax(a[1], b[1]);
}

// Whether two edges cross or touch; a u, v, s, t of 0 means that a corner lies on the other edge's line.
static bool outline_meet(const double *a, const double *b, const double *c, const double *d)
{
    const double u = outline_turn(a, b, c), v = outline_turn(a, b, d);
    const double s = outline_turn(c, d, a), t = outline_turn(c, d, b);
    return ((u > 0) != (v > 0) && (s > 0) != (t > 0) && u != 0 && v != 0 && s != 0 && t != 0) ||
           (u == 0 && outline_between(a, b, c)) || (v == 0 && outline_between(a, b, d)) ||
           (s == 0 && outline_between(c, d, a)) || (t == 0 && outline_between(c, d, b));
}

// An outline goes round once: no edge without length, none that goes back on itself or meets another one.
static bool outline_check(doc_robot_file *f, int line, const double *xy, int n)
{
    for (int i = 0; i < n; ++i) {
        const double *a = xy + 2 * i, *b = xy + 2 * ((i + 1) % n), *c = xy + 2 * ((i + 2) % n);
        const double back = (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]);

        if ((a[0] == b[0] && a[1] == b[1]) || (outline_turn(a, b, c) == 0 && back > 0)) {
            doc_defect(f, line, "mesh: sheet: the outline folds back on itself at corner %d (%g, %g)",
                       (i + 1) % n + 1, b[0], b[1]);
            return false;
        }
    }

    for (int i = 0; i < n; ++i) {
        const double *a = xy + 2 * i, *b = xy + 2 * ((i + 1) % n);
        // neighbours share a corner; so do the first and the last edge
        for (int k = i + 2; k < n - (i == 0); ++k) {
            const double *d = xy + 2 * k, *e = xy + 2 * ((k + 1) % n);
            if (outline_meet(a, b, d, e)) {
                doc_defect(
                    f, line,
                    "mesh: sheet: the outline intersects itself: the edges from (%g, %g) and from (%g, "
                    "%g) cross",
                    a[0], a[1], d[0], d[1]);
                return false;
            }
        }
    }

    return true;
}

// The corners of an outline: [[x, y], ...].
static bool mesh_outline(doc_robot_file *f, const doc_node *node, pl_source_sheet *sheet)
{
    if (!node || !doc_expect(f, node, DOC_LIST, "mesh: sheet: outline")) {
        return false;
    }
    if (node->count < 3) {
        doc_defect(f, node->line, "mesh: sheet: %d corners, an outline has at least 3", node->count);
        return false;
    }

    double *xy = doc_arena_take(&f->arena, 2 * (size_t)node->count * sizeof *xy);
    if (!xy) {
        f->no_memory = true;
        return false;
    }

    sheet->xy = xy;
    for (const doc_node *n = node->child; n; n = n->next, ++sheet->corner_count) {
        double *at = xy + 2 * sheet->corner_count;

        if (n->kind != DOC_LIST || n->count != 2) {
            doc_defect(f, n->line, "mesh: sheet: corner %d: expected [x, y], found %s",
                       sheet->corner_count + 1,
                       n->kind == DOC_LIST ? "a list of another length" : doc_kind_name(n));
            return false;
        }

        if (!doc_read_quantity(f, n->child, "mesh: sheet: outline", PL_DIM_LENGTH, &at[0]) ||
            !doc_read_quantity(f, n->child->next, "mesh: sheet: outline", PL_DIM_LENGTH, &at[1])) {
            return false;
        }
    }

    return outline_check(f, node->line, xy, sheet->corner_count);
}

// sheets: planar outlines between two heights
static bool mesh_sheets(doc_robot_file *f, const doc_node *node, pl_mesh_source *source)
{
    static const doc_key keys[] = {
        {"region", DOC_NAME, 0, offsetof(pl_source_sheet, region), 0},
        {"outline", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"from", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_source_sheet, from), 0},
        {"to", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_source_sheet, to), DOC_REQUIRED},
    };
    if (!doc_expect(f, node, DOC_LIST, "mesh: sheets")) {
        return false;
    }

    pl_source_sheet *sheet = doc_arena_take(&f->arena, ((size_t)node->count + 1) * sizeof *sheet);
    if (!sheet) {
        f->no_memory = true;
        return false;
    }

    source->sheet = sheet;
    bool good = node->count > 0;
    if (!good) {
        doc_defect(f, node->line, "mesh: sheets is empty, at least one outline is needed");
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_source_sheet *s = &sheet[source->sheet_count++];
        s->line = n->line;
        if (!doc_read_map(f, n, "mesh: sheet", keys, PL_COUNT(keys), s) ||
            !mesh_outline(f, doc_child(n, "outline"), s)) {
            good = false;
        } else if (!(s->to > s->from)) {
            doc_defect(f, n->line, "mesh: sheet: from %g to %g mm, expected 'from' below 'to'", s->from,
                       s->to);
            good = false;
        }
    }

    return good;
}

// mm per unit.
bool doc_read_unit(doc_robot_file *f, const doc_node *node, const char *what, double *unit)
{
    static const char *const name[] = {"mm", "cm", "m", "um", "in"};
    static const double value[] = {1, 10, 1000, 1e-3, 25.4};
    const int i = doc_read_choice(f, node, what, name, PL_COUNT(name));

    if (i >= 0) {
        *unit = value[i];
    }

    return i >= 0;
}

// Exactly one of file, parts, step, design, sheets.
static bool mesh_source_kind(doc_robot_file *f, const doc_node *node, pl_mesh_source *source)
{
    static const char *const kinds[] = {"file", "parts", "step", "design", "sheets"};
    const doc_node *found = NULL;

    for (int k = 0; k < PL_COUNT(kinds); ++k) {
        const doc_node *n = doc_child(node, kinds[k]);
        if (n && found) {
            doc_defect(f, n->key_line, "mesh: '%s' and '%s' are both given, expected exactly one source",
                       found->key, n->key);
            return false;
        }

        if (n) {
            found = n;
            source->kind = (pl_source_kind)k;
        }
    }

    if (!found) {
        doc_defect(f, node->line, "mesh: no source given, expected one of file, parts, step, design, sheets");
        return false;
    }

    return true;
}

// By kind of source; surfaces are the usual mistake.
static bool mesh_source_path(doc_robot_file *f, const doc_node *node, pl_mesh_source *source)
{
    const bool is_mesh = source->kind == PL_SOURCE_FILE;

    if (is_mesh && pl_mesh_content_of(source->path) == PL_MESH_SURFACE) {
        doc_defect(f, node->line, "mesh: '%s' is a surface, not a volume mesh", source->path);
        doc_advise(f, "give it under parts: - {surface: %s, region: body}", source->path);
        return false;
    }

    if (!mesh_has_content(f, node, "mesh", source->path, is_mesh ? PL_MESH_VOLUME : PL_MESH_CAD)) {
        return false;
    }

    source->path = mesh_path(f, source->path);

    return true;
}

// The source of a mesh. False after a defect.
static bool mesh_block(doc_robot_file *f, const doc_node *node, pl_mesh_source *source)
{
    static const doc_key keys[] = {
        {"file", DOC_TEXT, 0, offsetof(pl_mesh_source, path), 0},
        {"step", DOC_TEXT, 0, offsetof(pl_mesh_source, path), 0},
        {"parts", DOC_OTHER, 0, 0, 0},
        {"design", DOC_OTHER, 0, 0, 0},
        {"sheets", DOC_OTHER, 0, 0, 0},
        {"unit", DOC_OTHER, 0, 0, 0},
        {"size", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_mesh_source, size), DOC_POSITIVE},
        {"order", DOC_WHOLE, 0, offsetof(pl_mesh_source, order), 0},
        {"fill", DOC_BOOL, 0, offsetof(pl_mesh_source, fill), 0},
        {"accept", DOC_BOOL, 0, offsetof(pl_mesh_source, accept), 0},
    };
    source->order = 2;
    bool good = doc_read_map(f, node, "mesh", keys, PL_COUNT(keys), source);
    if (node->kind != DOC_MAP) {
        return false;
    }

    // order, unit and what does not fit the kind of source
    const doc_node *order = doc_child(node, "order");
    if (good && source->order != 1 && source->order != 2) {
        doc_defect(f, order ? order->line : node->line, "mesh: order is %d, expected 1 or 2", source->order);
        good = false;
    }

    const doc_node *unit = doc_child(node, "unit");
    good = (!unit || doc_read_unit(f, unit, "mesh: unit", &source->unit)) && good;
    if (!mesh_source_kind(f, node, source)) {
        return false;
    }

    const doc_node *size = doc_child(node, "size");
    if (size && source->kind == PL_SOURCE_FILE && !source->fill) {
        doc_warning(f, size->line, "mesh: size is not used: '%s' is a finished mesh and stays as it is",
                    source->path ? source->path : "");
        doc_advise(f, "remove size, or give the part itself (parts, step) to have it meshed");
    }

    const doc_node *fill = doc_child(node, "fill");
    if (fill && source->fill && source->kind == PL_SOURCE_SHEETS) {
        doc_defect(f, fill->line, "mesh: fill meshes closed cavities, but sheets have none");
        good = false;
    }

    // the source itself
    switch (source->kind) {
    case PL_SOURCE_PARTS:
        good = mesh_parts(f, doc_child(node, "parts"), source) && good;

        if (!unit) {
            doc_defect(f, node->line,
                       "mesh: 'unit' is missing: STL and OBJ files do not say whether they are in mm or m");
            doc_advise(f, "write unit: mm");
            good = false;
        }
        break;
    case PL_SOURCE_DESIGN:
        good = mesh_design(f, doc_child(node, "design"), source) && good;
        break;
    case PL_SOURCE_SHEETS:
        good = mesh_sheets(f, doc_child(node, "sheets"), source) && good;
        break;
    default:
        good = source->path && mesh_source_path(f, node, source) && good;
        break;
    }

    return good;
}

// A body with defects is kept, so that references to it are not reported, too.
void doc_read_body(doc_robot_file *f, const doc_node *mesh, const char *name, int line,
                   const doc_scope *scope)
{
    pl_body_def *body = doc_append(f, &f->body, sizeof *body);
    if (!body) {
        return;
    }
    body->name = name;
    body->line = line;
    body->source.file = f->path;
    body->source.line = mesh ? mesh->key_line : line;
    memcpy(body->rotation, scope->rotation, sizeof body->rotation);
    memcpy(body->translation, scope->translation, sizeof body->translation);
    pl_mesh_source source = body->source;
    if (!mesh) {
        doc_defect(f, line, "'mesh' is missing: the robot has no body");
    } else if (!mesh_block(f, mesh, &source)) {
        doc_mark_broken(f, line);
    }

    body->source = source;
}

// The normal is made a unit vector.
static bool surface_plane(doc_robot_file *f, const doc_node *node, pl_pick *pick)
{
    static const doc_key keys[] = {
        {"point", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_pick, point), DOC_REQUIRED},
        {"normal", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_pick, normal), DOC_REQUIRED},
        {"tolerance", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_pick, tolerance), DOC_NOT_NEGATIVE},
    };
    pick->kind = PL_PICK_PLANE;
    if (!doc_read_map(f, node, "surfaces: plane", keys, PL_COUNT(keys), pick)) {
        return false;
    }

    const double length = pl_norm3(pick->normal);
    if (!(length > 1e-12) || !isfinite(length)) {
        doc_defect(f, node->line, "surfaces: plane: the normal has no direction");
        return false;
    }

    for (int i = 0; i < 3; ++i) {
        pick->normal[i] /= length;
    }

    return true;
}

// One pick, in the frame of its body: the mesh is picked before the body is placed.
static bool surface_pick(doc_robot_file *f, const doc_node *node, pl_pick *pick)
{
    static const doc_key keys[] = {
        {"seen_from", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_pick, point), 0},
        {"box", DOC_OTHER, 0, 0, 0},
        {"plane", DOC_OTHER, 0, 0, 0},
    };
    if (!doc_read_map(f, node, "surfaces", keys, PL_COUNT(keys), pick)) {
        return false;
    }
    if (node->count != 1) {
        doc_defect(f, node->line, "surfaces: '%s' needs exactly one of seen_from, box, plane", node->key);
        return false;
    }

    const doc_node *how = node->child;
    if (strcmp(how->key, "box") == 0) {
        pick->kind = PL_PICK_BOX;
        return doc_read_box(f, how, "surfaces: box", pick->low, pick->high);
    }

    if (strcmp(how->key, "plane") == 0) {
        return surface_plane(f, how, pick);
    }
    pick->kind = PL_PICK_SEEN_FROM;

    return true;
}

void doc_read_surfaces(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    if (!doc_expect(f, node, DOC_MAP, "surfaces")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_surface_def *surface = doc_append(f, &f->surface, sizeof *surface);
        if (!surface) {
            return;
        }
        *surface =
            (pl_surface_def){.name = doc_scoped(f, scope, n->key), .body = scope->body, .line = n->key_line};
        pl_pick pick = {0};
        if (!surface_pick(f, n, &pick)) {
            doc_mark_broken(f, n->key_line);
        }
        surface->pick = pick;
    }
}
