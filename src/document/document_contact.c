// The block `contact`: contact of a body with itself, friction, and rigid obstacles.
#include <stdio.h>
#include "base/vec.h"
#include "document/document_reader.h"

// The rotation vector (rad); the point it turns about does not matter for a shape with a centre.
static bool obstacle_turn(doc_robot_file *f, const doc_node *node, const char *what, double rotate[3])
{
    double about[3];
    const doc_node *turn = doc_child(node, "rotate");
    return !turn || doc_read_rotation(f, turn, what, rotate, about);
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

// The shapes of obstacles by their keys; a surface has its keys beside it, and is read from a file.
static const doc_key plane_keys[] = {
    {"point", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
    {"normal", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, direction), DOC_REQUIRED},
};
static const doc_key sphere_keys[] = {
    {"centre", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
    {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, radius), DOC_REQUIRED | DOC_POSITIVE},
    {"hollow", DOC_BOOL, 0, offsetof(pl_obstacle_def, hollow), 0},
};
static const doc_key cylinder_keys[] = {
    {"centre", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
    {"axis", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, direction), DOC_REQUIRED},
    {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, radius), DOC_REQUIRED | DOC_POSITIVE},
    {"length", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, length), DOC_POSITIVE},
    {"hollow", DOC_BOOL, 0, offsetof(pl_obstacle_def, hollow), 0},
};
static const doc_key box_keys[] = {
    {"centre", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), DOC_REQUIRED},
    {"size", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, size), DOC_REQUIRED},
    {"rotate", DOC_OTHER, 0, 0, 0},
};

typedef struct obstacle_shape {
    const char *key;
    pl_obstacle_kind kind;
    const doc_key *keys; // inside its braces; NULL: the value is the name of a file
    int key_count;
} obstacle_shape;

static const obstacle_shape obstacle_shapes[] = {
    {"plane", PL_OBSTACLE_PLANE, plane_keys, PL_COUNT(plane_keys)},
    {"sphere", PL_OBSTACLE_SPHERE, sphere_keys, PL_COUNT(sphere_keys)},
    {"cylinder", PL_OBSTACLE_CYLINDER, cylinder_keys, PL_COUNT(cylinder_keys)},
    {"box", PL_OBSTACLE_BOX, box_keys, PL_COUNT(box_keys)},
    {"surface", PL_OBSTACLE_SURFACE, NULL, 0},
};

// The shape that an obstacle has; NULL, with a defect, where it has none or two.
static const obstacle_shape *obstacle_find_shape(doc_robot_file *f, const doc_node *node, const char *name)
{
    const obstacle_shape *found = NULL;
    char known[160] = "";

    for (int i = 0; i < PL_COUNT(obstacle_shapes); ++i) {
        const obstacle_shape *shape = &obstacle_shapes[i];
        const doc_node *n = doc_child(node, shape->key);

        if (n && found) {
            doc_defect(f, n->line, "obstacle '%s' has two shapes, '%s' and '%s', expected one", name,
                       found->key, n->key);
            return NULL;
        }

        found = n ? shape : found;
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", shape->key);
    }

    if (!found) {
        doc_defect(f, node->line, "obstacle '%s' has no shape, expected one of %s", name, known);
    }

    return found;
}

// The keys of an obstacle that all shapes have; `unit`, `at` and `rotate` belong to surfaces.
static const doc_key obstacle_keys[] = {
    {"name", DOC_NAME, 0, offsetof(pl_obstacle_def, name), DOC_REQUIRED},
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

// Keys that only surfaces have: the other shapes have their place inside their braces.
static bool obstacle_check_keys(doc_robot_file *f, const doc_node *node, const obstacle_shape *shape,
                                const char *name)
{
    static const char *const only[] = {"unit", "at", "rotate"};
    for (int i = 0; shape->keys && i < PL_COUNT(only); ++i) {
        const doc_node *n = doc_child(node, only[i]);

        if (n) {
            doc_defect(f, n->line,
                       "obstacle '%s': '%s' belongs to surfaces; the %s has its place inside its braces",
                       name, only[i], shape->key);
            return false;
        }
    }

    return true;
}

// Motion by a command, and its range in mm, or in N for a pull.
static bool obstacle_range(doc_robot_file *f, const doc_node *node, pl_obstacle_def *def)
{
    const doc_node *range = doc_child(node, "range");
    def->moves = doc_child(node, "move") != NULL;
    def->pulled = doc_child(node, "pull") != NULL;
    def->has_range = range != NULL;

    if (range && !def->moves && !def->pulled) {
        doc_defect(f, range->line,
                   "obstacle '%s' has a range but no `move`, the displacement per mm of its command%s",
                   def->name, def->free ? ", and no `pull`, the force per N" : "");
        return false;
    }

    return !range || doc_read_range(f, range, "obstacle: range", def->pulled ? PL_DIM_FORCE : PL_DIM_LENGTH,
                                    def->range);
}

// One shape and its motion. False after a defect.
static bool obstacle_read(doc_robot_file *f, const doc_node *node, pl_obstacle_def *def,
                          doc_obstacle_file *file)
{
    doc_key keys[PL_COUNT(obstacle_keys) + PL_COUNT(obstacle_shapes)];
    memcpy(keys, obstacle_keys, sizeof obstacle_keys);
    for (int i = 0; i < PL_COUNT(obstacle_shapes); ++i) {
        keys[PL_COUNT(obstacle_keys) + i] = (doc_key){obstacle_shapes[i].key, DOC_OTHER, 0, 0, 0};
    }
    if (!doc_read_map(f, node, "obstacle", keys, PL_COUNT(keys), def)) {
        return false;
    }

    const obstacle_shape *shape = obstacle_find_shape(f, node, def->name);
    if (!shape || !obstacle_check_keys(f, node, shape, def->name) || !obstacle_range(f, node, def)) {
        return false;
    }
    def->kind = shape->kind;

    const doc_node *value = doc_child(node, shape->key);
    if (!shape->keys) {
        return obstacle_file(f, node, value, def, file);
    }

    char rotate[40];
    snprintf(rotate, sizeof rotate, "%s: rotate", shape->key);

    return doc_read_map(f, value, shape->key, shape->keys, shape->key_count, def) &&
           obstacle_turn(f, value, rotate, def->rotate);
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
        if (!file[i].path) {
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
