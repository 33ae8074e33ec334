// The block `contact`: contact of a body with itself, friction, and rigid obstacles.
#include "base/vec.h"
#include "document/document_reader.h"

// A shape and the key that names it.
typedef struct obstacle_form {
    const char *key;
    pl_obstacle_kind kind;
} obstacle_form;
static const obstacle_form obstacle_forms[] = {{"plane", PL_OBSTACLE_PLANE},
                                               {"sphere", PL_OBSTACLE_SPHERE},
                                               {"cylinder", PL_OBSTACLE_CYLINDER},
                                               {"box", PL_OBSTACLE_BOX},
                                               {"surface", PL_OBSTACLE_SURFACE}};

// The rotation vector (rad); the point it turns about does not matter for a shape with a centre.
static bool obstacle_turn(doc_robot_file *f, const doc_node *node, const char *what, double rotate[3])
{
    double about[3];
    const doc_node *turn = doc_child(node, "rotate");
    return !turn || doc_read_rotation(f, turn, what, rotate, about);
}

// The keys of the shape itself.
static bool obstacle_shape(doc_robot_file *f, const doc_node *node, pl_obstacle_def *def)
{
    static const doc_key plane[] = {
        {"point", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
        {"normal", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, direction), DOC_REQUIRED},
    };
    static const doc_key sphere[] = {
        {"centre", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
        {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, radius),
         DOC_REQUIRED | DOC_POSITIVE},
        {"hollow", DOC_BOOL, 0, offsetof(pl_obstacle_def, hollow), 0},
    };
    static const doc_key cylinder[] = {
        {"centre", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
        {"axis", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, direction), DOC_REQUIRED},
        {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, radius),
         DOC_REQUIRED | DOC_POSITIVE},
        {"length", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, length), DOC_POSITIVE},
        {"hollow", DOC_BOOL, 0, offsetof(pl_obstacle_def, hollow), 0},
    };
    static const doc_key box[] = {
        {"centre", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
        {"size", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, size), DOC_REQUIRED},
        {"rotate", DOC_OTHER, 0, 0, 0},
    };
    switch (def->kind) {
    case PL_OBSTACLE_PLANE:
        return doc_read_map(f, node, "plane", plane, PL_COUNT(plane), def);
    case PL_OBSTACLE_SPHERE:
        return doc_read_map(f, node, "sphere", sphere, PL_COUNT(sphere), def);
    case PL_OBSTACLE_CYLINDER:
        return doc_read_map(f, node, "cylinder", cylinder, PL_COUNT(cylinder), def);
    default:
        return doc_read_map(f, node, "box", box, PL_COUNT(box), def) &&
               obstacle_turn(f, node, "box: rotate", def->rotate);
    }
}

// A surface file: the path relative to the robot file, the unit, which such files lack, and the place.
static bool obstacle_file(doc_robot_file *f, const doc_node *node, const doc_node *path, pl_obstacle_def *def,
                          doc_obstacle_file *file)
{
    const doc_node *unit = doc_child(node, "unit"), *at = doc_child(node, "at");
    if (!doc_expect(f, path, DOC_SCALAR, "obstacle: surface (a file)")) {
        return false;
    }
    if (!unit) {
        doc_defect(f, path->line,
                   "obstacle: 'unit' is missing: STL and OBJ files do not say whether they are in mm or m");
        doc_advise(f, "write unit: mm");
        return false;
    }
    file->path =
        path->text[0] == '/' ? path->text : doc_arena_format(&f->arena, "%s%s", f->folder, path->text);
    return doc_read_unit(f, unit, "obstacle: unit", &file->unit) &&
           (!at || doc_read_vector(f, at, "obstacle: at", PL_DIM_LENGTH, def->point)) &&
           obstacle_turn(f, node, "obstacle: rotate", def->rotate);
}

// One shape and its motion. False after a defect.
static bool obstacle_read(doc_robot_file *f, const doc_node *node, pl_obstacle_def *def,
                          doc_obstacle_file *file)
{
    static const doc_key keys[] = {
        {"name", DOC_NAME, 0, offsetof(pl_obstacle_def, name), DOC_REQUIRED},
        {"plane", DOC_OTHER, 0, 0, 0},
        {"sphere", DOC_OTHER, 0, 0, 0},
        {"cylinder", DOC_OTHER, 0, 0, 0},
        {"box", DOC_OTHER, 0, 0, 0},
        {"surface", DOC_OTHER, 0, 0, 0},
        {"unit", DOC_OTHER, 0, 0, 0},
        {"at", DOC_OTHER, 0, 0, 0},
        {"rotate", DOC_OTHER, 0, 0, 0},
        {"move", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, move), 0},
        {"range", DOC_OTHER, 0, 0, 0},
        {"friction", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_obstacle_def, friction), DOC_NOT_NEGATIVE},
        {"free", DOC_BOOL, 0, offsetof(pl_obstacle_def, free), 0},
        {"mass", DOC_QUANTITY, PL_DIM_MASS, offsetof(pl_obstacle_def, mass), DOC_POSITIVE},
        {"density", DOC_QUANTITY, PL_DIM_DENSITY, offsetof(pl_obstacle_def, density), DOC_POSITIVE},
        {"pull", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, pull), 0},
    };
    if (!doc_read_map(f, node, "obstacle", keys, PL_COUNT(keys), def)) {
        return false;
    }

    // exactly one shape
    const doc_node *shape = NULL, *range = doc_child(node, "range");
    for (int i = 0; i < PL_COUNT(obstacle_forms); ++i) {
        const doc_node *n = doc_child(node, obstacle_forms[i].key);
        if (n && shape) {
            doc_defect(f, n->line, "obstacle '%s' has two shapes, '%s' and '%s', expected one", def->name,
                       shape->key, n->key);
            return false;
        }
        if (n) {
            shape = n;
            def->kind = obstacle_forms[i].kind;
        }
    }
    if (!shape) {
        doc_defect(f, node->line,
                   "obstacle '%s' has no shape, expected one of plane, sphere, cylinder, box, surface",
                   def->name);
        return false;
    }

    // keys of surfaces would be ignored silently elsewhere
    for (int i = 0; def->kind != PL_OBSTACLE_SURFACE && i < 3; ++i) {
        static const char *const only[] = {"unit", "at", "rotate"};
        const doc_node *n = doc_child(node, only[i]);
        if (n) {
            doc_defect(f, n->line,
                       "obstacle '%s': '%s' belongs to surfaces; the %s has its place inside its braces",
                       def->name, only[i], shape->key);
            return false;
        }
    }

    // motion by a command, and its range in mm, or in N for a pull
    def->moves = doc_child(node, "move") != NULL;
    def->pulled = doc_child(node, "pull") != NULL;
    def->has_range = range != NULL;
    if (range && !def->moves && !def->pulled) {
        doc_defect(f, range->line,
                   "obstacle '%s' has a range but no `move`, the displacement per mm of its command%s",
                   def->name, def->free ? ", and no `pull`, the force per N" : "");
        return false;
    }
    if (range && !doc_read_range(f, range, "obstacle: range", def->pulled ? PL_DIM_FORCE : PL_DIM_LENGTH,
                                 def->range)) {
        return false;
    }
    return def->kind == PL_OBSTACLE_SURFACE ? obstacle_file(f, node, shape, def, file)
                                            : obstacle_shape(f, shape, def);
}

// Files of surfaces are only noted here: they are read when the robot is built.
void doc_read_contact(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"self", DOC_BOOL, 0, offsetof(pl_contact_def, self), 0},
        {"friction", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_contact_def, friction), DOC_NOT_NEGATIVE},
        {"obstacles", DOC_OTHER, 0, 0, 0},
    };
    pl_contact_def *contact = &f->def.contact;
    contact->given = true;
    contact->line = node->line;
    const doc_node *obstacles = doc_child(node, "obstacles");
    if (!doc_read_map(f, node, "contact", keys, PL_COUNT(keys), contact) ||
        (obstacles && !doc_expect(f, obstacles, DOC_LIST, "contact: obstacles"))) {
        return;
    }
    // obstacles and their files are parallel lists
    for (const doc_node *n = obstacles ? obstacles->child : NULL; n; n = n->next) {
        pl_obstacle_def def = {.line = n->line, .friction = -1};
        doc_obstacle_file file = {0};
        if (!obstacle_read(f, n, &def, &file)) {
            doc_mark_broken(f, n->line);
        }
        def.name = def.name ? def.name : "";
        pl_obstacle_def *slot = doc_append(f, &f->obstacle, sizeof *slot);
        doc_obstacle_file *beside = doc_append(f, &f->obstacle_file, sizeof *beside);
        if (slot && beside) {
            *slot = def;
            *beside = file;
        }
    }
}

// Reads the surface files; the file owns the surfaces, the def borrows them.
pl_status doc_load_obstacles(doc_robot_file *f, const pl_load_options *options)
{
    pl_obstacle_def *def = f->obstacle.item;
    doc_obstacle_file *file = f->obstacle_file.item;
    for (int i = 0; i < f->obstacle.count; ++i) {
        if (def[i].kind != PL_OBSTACLE_SURFACE) {
            continue;
        }
        pl_error err = {0};
        if (!options->mesher || !options->mesher->surface) {
            doc_defect(f, def[i].line,
                       "obstacle '%s': this program was built without a reader of STL and OBJ files",
                       def[i].name);
            return PL_BAD_INPUT;
        }
        const pl_status status = options->mesher->surface(options->mesher->user, file[i].path, file[i].unit,
                                                          &file[i].surface, &err);
        if (status != PL_OK) {
            doc_defect(f, def[i].line, "obstacle '%s': %s", def[i].name, err.text);
            return status;
        }
        def[i].surface = &file[i].surface;
    }
    return PL_OK;
}
