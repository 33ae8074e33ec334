// The blocks `layers` and `fibres`: what is bonded to the faces of the body.
#include <stdio.h>
#include "document/document_reader.h"

// Two regions, as a list.
static bool ground_between(doc_robot_file *f, const doc_node *node, const doc_scope *scope, const char *what,
                           const char *out[2])
{
    const doc_node *list = doc_child(node, "between");
    if (!list) {
        return true;
    }

    if (list->kind != DOC_LIST || list->count != 2 || list->child->kind != DOC_SCALAR ||
        list->child->next->kind != DOC_SCALAR) {
        doc_defect(f, list->line, "%s: between expects two regions, [first, second]", what);
        return false;
    }

    out[0] = doc_scoped(f, scope, list->child->text);
    out[1] = doc_scoped(f, scope, list->child->next->text);

    return true;
}

// true (the default), false, or the strain of compression at which it begins.
static bool layer_wrinkling(doc_robot_file *f, const doc_node *node, pl_layer_def *def)
{
    if (!node || (node->kind == DOC_SCALAR && strcmp(node->text, "true") == 0)) {
        return true;
    }
    if (node->kind == DOC_SCALAR && strcmp(node->text, "false") == 0) {
        def->wrinkle = -1;
        return true;
    }

    if (!doc_read_quantity(f, node, "layer: wrinkling", PL_DIM_NUMBER, &def->wrinkle)) {
        return false;
    }
    if (!(def->wrinkle > 0 && def->wrinkle < 1)) {
        doc_defect(f, node->line, "layer: wrinkling expects true, false or a strain between 0 and 1 (0.003)");
        return false;
    }

    return true;
}

// `bending` is stored as its opposite, so that a zeroed def bends.
static bool layer_read(doc_robot_file *f, const doc_node *node, const doc_scope *scope, pl_layer_def *def)
{
    static const char *const sides[] = {"outside", "inside", "middle"};
    static const doc_key keys[] = {
        {"name", DOC_NAME, 0, offsetof(pl_layer_def, name), DOC_REQUIRED},
        {"surface", DOC_TEXT, 0, offsetof(pl_layer_def, surface), 0},
        {"between", DOC_OTHER, 0, 0, 0},
        {"material", DOC_TEXT, 0, offsetof(pl_layer_def, material), DOC_REQUIRED},
        {"thickness", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_layer_def, thickness),
         DOC_REQUIRED | DOC_POSITIVE},
        {"bending", DOC_BOOL, 0, offsetof(pl_layer_def, membrane), 0}, // turned round below
        {"side", DOC_OTHER, 0, 0, 0},
        {"wrinkling", DOC_OTHER, 0, 0, 0},
        {"prestretch", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_layer_def, prestretch), DOC_POSITIVE},
    };

    def->membrane = true; // bending: true
    bool good = doc_read_map(f, node, "layer", keys, PL_COUNT(keys), def);
    def->membrane = !def->membrane;
    if (node->kind != DOC_MAP) {
        return false;
    }
    def->surface = doc_scoped(f, scope, def->surface);
    good = ground_between(f, node, scope, "layer", def->between) && good;
    const doc_node *side = doc_child(node, "side");
    def->side = def->between[0] ? PL_SIDE_MIDDLE : PL_SIDE_OUTSIDE;

    if (side) {
        const int choice = doc_read_choice(f, side, "layer: side", sides, PL_COUNT(sides));
        good = good && choice >= 0;
        def->side = choice >= 0 ? (pl_layer_side)choice : def->side;
    }

    return layer_wrinkling(f, doc_child(node, "wrinkling"), def) && good;
}

void doc_read_layers(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    if (!doc_expect(f, node, DOC_LIST, "layers")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_layer_def def = {.line = n->line};
        if (!layer_read(f, n, scope, &def)) {
            doc_mark_broken(f, n->line);
        }
        def.name = def.name ? doc_scoped(f, scope, def.name) : "";
        pl_layer_def *slot = doc_append(f, &f->layer, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// Points of a line, placed by the scope.
static bool fibre_points(doc_robot_file *f, const doc_node *node, const doc_scope *scope, pl_fibre_def *def)
{
    if (!doc_expect(f, node, DOC_LIST, "fibre: through")) {
        return false;
    }

    double *point = doc_arena_take(&f->arena, (size_t)node->count * 3 * sizeof *point);
    if (!point) {
        return false;
    }
    def->point = point;

    for (const doc_node *n = node->child; n; n = n->next) {
        if (!doc_read_vector(f, n, "fibre: through", PL_DIM_LENGTH, point + 3 * def->point_count)) {
            return false;
        }
        doc_place_point(scope, point + 3 * def->point_count++);
    }

    return true;
}

// Keys that belong to the other kinds; `kinds` has one bit per pl_fibre_kind.
static bool fibre_other_keys(doc_robot_file *f, const doc_node *node, pl_fibre_kind kind)
{
    static const struct {
        const char *key;
        unsigned kinds;
    } table[] = {{"axis", 3}, {"about", 3},  {"pitch", 3}, {"angle", 1},
                 {"hand", 1}, {"starts", 1}, {"range", 3}, {"through", 4}};
    static const char *const name[] = {"helix", "rings", "line"};
    bool good = true;

    for (int i = 0; i < PL_COUNT(table); ++i) {
        const doc_node *n = doc_child(node, table[i].key);
        if (n && !(table[i].kinds >> kind & 1)) {
            doc_defect(f, n->key_line, "fibre: '%s' does not belong to a %s", table[i].key, name[kind]);
            good = false;
        }
    }

    const char *needed = kind == PL_FIBRE_LINE ? "through" : "axis";
    if (!doc_child(node, needed)) {
        doc_defect(f, node->line, "fibre: '%s' is missing", needed);
        good = false;
    }

    return good;
}

// Keys that only serve to compute others.
typedef struct fibre_read_def {
    pl_fibre_def def;
    double young, diameter; // MPa, mm
} fibre_read_def;

// Stiffness is EA: given, E pi d^2 / 4, or none, which means inextensible.
static bool fibre_read(doc_robot_file *f, const doc_node *node, const doc_scope *scope, pl_fibre_def *def)
{
    static const char *const kinds[] = {"helix", "rings", "line"}, *const hands[] = {"right", "left", "both"},
                             *const modes[] = {"both", "tension_only"};
    static const doc_key keys[] = {
        {"name", DOC_NAME, 0, offsetof(fibre_read_def, def.name), DOC_REQUIRED},
        {"kind", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"surface", DOC_TEXT, 0, offsetof(fibre_read_def, def.surface), 0},
        {"between", DOC_OTHER, 0, 0, 0},
        {"axis", DOC_VECTOR, PL_DIM_NUMBER, offsetof(fibre_read_def, def.axis), 0},
        {"about", DOC_VECTOR, PL_DIM_LENGTH, offsetof(fibre_read_def, def.about), 0},
        {"pitch", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(fibre_read_def, def.pitch), DOC_POSITIVE},
        {"angle", DOC_QUANTITY, PL_DIM_ANGLE, offsetof(fibre_read_def, def.angle), DOC_POSITIVE},
        {"hand", DOC_OTHER, 0, 0, 0},
        {"starts", DOC_WHOLE, 0, offsetof(fibre_read_def, def.starts), DOC_POSITIVE},
        {"range", DOC_OTHER, 0, 0, 0},
        {"through", DOC_OTHER, 0, 0, 0},
        {"stiffness", DOC_QUANTITY, PL_DIM_FORCE, offsetof(fibre_read_def, def.stiffness), DOC_POSITIVE},
        {"young", DOC_QUANTITY, PL_DIM_STRESS, offsetof(fibre_read_def, young), DOC_POSITIVE},
        {"diameter", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(fibre_read_def, diameter), DOC_POSITIVE},
        {"mode", DOC_OTHER, 0, 0, 0},
        {"prestretch", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(fibre_read_def, def.prestretch), DOC_POSITIVE},
    };
    fibre_read_def read = {.def = *def};
    bool good = doc_read_map(f, node, "fibre", keys, PL_COUNT(keys), &read);

    *def = read.def;
    const doc_node *kind = doc_child(node, "kind");
    const int which = kind ? doc_read_choice(f, kind, "fibre: kind", kinds, PL_COUNT(kinds)) : -1;
    if (node->kind != DOC_MAP || which < 0) {
        return false;
    }

    // keys by kind
    def->kind = (pl_fibre_kind)which;
    def->surface = doc_scoped(f, scope, def->surface);
    good = fibre_other_keys(f, node, def->kind) && good;
    good = ground_between(f, node, scope, "fibre", def->between) && good;

    // words, range and points
    const doc_node *hand = doc_child(node, "hand"), *mode = doc_child(node, "mode"),
                   *range = doc_child(node, "range"), *through = doc_child(node, "through");
    const int side = hand ? doc_read_choice(f, hand, "fibre: hand", hands, PL_COUNT(hands)) : 0,
              acts = mode ? doc_read_choice(f, mode, "fibre: mode", modes, PL_COUNT(modes)) : 0;
    def->hand = side >= 0 ? (pl_fibre_hand)side : PL_HAND_RIGHT;
    def->tension_only = acts == 1;
    def->has_range = range != NULL;
    good = (!range || doc_read_range(f, range, "fibre: range", PL_DIM_LENGTH, def->range)) && good;
    good = (!through || fibre_points(f, through, scope, def)) && good;
    doc_place_vector(scope, def->axis);
    doc_place_point(scope, def->about);

    // the stiffness is given in one form
    if ((read.young > 0) != (read.diameter > 0) || (read.young > 0 && def->stiffness > 0)) {
        doc_defect(f, node->line,
                   "fibre: expected 'stiffness', or 'young' with 'diameter', or none of them (inextensible)");
        return false;
    }

    if (read.young > 0) {
        def->young = read.young;
        def->stiffness = read.young * 0.25 * PL_PI * read.diameter * read.diameter;
    }

    return good && side >= 0 && acts >= 0;
}

void doc_read_fibres(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    if (!doc_expect(f, node, DOC_LIST, "fibres")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_fibre_def def = {.line = n->line};
        if (!fibre_read(f, n, scope, &def)) {
            doc_mark_broken(f, n->line);
        }
        def.name = def.name ? doc_scoped(f, scope, def.name) : "";
        pl_fibre_def *slot = doc_append(f, &f->fibre, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}
