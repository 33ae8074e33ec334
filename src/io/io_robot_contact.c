// The block `contact`: contact of a body with itself, friction, and rigid obstacles.
#include "base/vec.h"
#include "io/io_robot.h"

typedef struct obstacle_form {
    const char *key;
    pl_obstacle_kind kind;
} obstacle_form;
static const obstacle_form obstacle_forms[] = {{"plane", PL_OBSTACLE_PLANE},
                                               {"sphere", PL_OBSTACLE_SPHERE},
                                               {"cylinder", PL_OBSTACLE_CYLINDER},
                                               {"box", PL_OBSTACLE_BOX},
                                               {"surface", PL_OBSTACLE_SURFACE}};

static bool obstacle_turn(io_robot_file *f, const io_node *node, const char *what, double rotate[3])
{
    double about[3];
    const io_node *turn = io_child(node, "rotate");
    return !turn || io_read_rotation(f, turn, what, rotate, about);
}

// The keys of the shape itself.
static bool obstacle_shape(io_robot_file *f, const io_node *node, pl_obstacle_def *def)
{
    static const io_key plane[] = {
        {"point", IO_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), IO_REQUIRED},
        {"normal", IO_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, direction), IO_REQUIRED},
    };
    static const io_key sphere[] = {
        {"centre", IO_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), IO_REQUIRED},
        {"radius", IO_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, radius), IO_REQUIRED | IO_POSITIVE},
        {"hollow", IO_BOOL, 0, offsetof(pl_obstacle_def, hollow), 0},
    };
    static const io_key cylinder[] = {
        {"centre", IO_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), IO_REQUIRED},
        {"axis", IO_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, direction), IO_REQUIRED},
        {"radius", IO_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, radius), IO_REQUIRED | IO_POSITIVE},
        {"length", IO_QUANTITY, PL_DIM_LENGTH, offsetof(pl_obstacle_def, length), IO_POSITIVE},
        {"hollow", IO_BOOL, 0, offsetof(pl_obstacle_def, hollow), 0},
    };
    static const io_key box[] = {
        {"centre", IO_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, point), IO_REQUIRED},
        {"size", IO_VECTOR, PL_DIM_LENGTH, offsetof(pl_obstacle_def, size), IO_REQUIRED},
        {"rotate", IO_OTHER, 0, 0, 0},
    };
    switch (def->kind) {
    case PL_OBSTACLE_PLANE:
        return io_read_map(f, node, "plane", plane, PL_COUNT(plane), def);
    case PL_OBSTACLE_SPHERE:
        return io_read_map(f, node, "sphere", sphere, PL_COUNT(sphere), def);
    case PL_OBSTACLE_CYLINDER:
        return io_read_map(f, node, "cylinder", cylinder, PL_COUNT(cylinder), def);
    default:
        return io_read_map(f, node, "box", box, PL_COUNT(box), def) &&
               obstacle_turn(f, node, "box: rotate", def->rotate);
    }
}

static bool obstacle_file(io_robot_file *f, const io_node *node, const io_node *path, pl_obstacle_def *def,
                          io_obstacle_file *file)
{
    const io_node *unit = io_child(node, "unit"), *at = io_child(node, "at");
    if (!io_expect(f, path, IO_SCALAR, "obstacle: surface (a file)")) {
        return false;
    }
    if (!unit) {
        io_defect(f, path->line,
                  "obstacle: 'unit' is missing: STL and OBJ files do not say whether they are in mm or m");
        io_advise(f, "write unit: mm");
        return false;
    }
    file->path =
        path->text[0] == '/' ? path->text : io_arena_format(&f->arena, "%s%s", f->folder, path->text);
    return io_read_unit(f, unit, "obstacle: unit", &file->unit) &&
           (!at || io_read_vector(f, at, "obstacle: at", PL_DIM_LENGTH, def->point)) &&
           obstacle_turn(f, node, "obstacle: rotate", def->rotate);
}

static bool obstacle_read(io_robot_file *f, const io_node *node, pl_obstacle_def *def, io_obstacle_file *file)
{
    static const io_key keys[] = {
        {"name", IO_NAME, 0, offsetof(pl_obstacle_def, name), IO_REQUIRED},
        {"plane", IO_OTHER, 0, 0, 0},
        {"sphere", IO_OTHER, 0, 0, 0},
        {"cylinder", IO_OTHER, 0, 0, 0},
        {"box", IO_OTHER, 0, 0, 0},
        {"surface", IO_OTHER, 0, 0, 0},
        {"unit", IO_OTHER, 0, 0, 0},
        {"at", IO_OTHER, 0, 0, 0},
        {"rotate", IO_OTHER, 0, 0, 0},
        {"move", IO_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, move), 0},
        {"range", IO_OTHER, 0, 0, 0},
        {"friction", IO_QUANTITY, PL_DIM_NUMBER, offsetof(pl_obstacle_def, friction), IO_NOT_NEGATIVE},
        {"free", IO_BOOL, 0, offsetof(pl_obstacle_def, free), 0},
        {"mass", IO_QUANTITY, PL_DIM_MASS, offsetof(pl_obstacle_def, mass), IO_POSITIVE},
        {"density", IO_QUANTITY, PL_DIM_DENSITY, offsetof(pl_obstacle_def, density), IO_POSITIVE},
        {"pull", IO_VECTOR, PL_DIM_NUMBER, offsetof(pl_obstacle_def, pull), 0},
    };
    if (!io_read_map(f, node, "obstacle", keys, PL_COUNT(keys), def)) {
        return false;
    }
    const io_node *shape = NULL, *range = io_child(node, "range");
    for (int i = 0; i < PL_COUNT(obstacle_forms); ++i) {
        const io_node *n = io_child(node, obstacle_forms[i].key);
        if (n && shape) {
            io_defect(f, n->line, "obstacle '%s' has two shapes, '%s' and '%s', expected one", def->name,
                      shape->key, n->key);
            return false;
        }
        if (n) {
            shape = n;
            def->kind = obstacle_forms[i].kind;
        }
    }
    if (!shape) {
        io_defect(f, node->line,
                  "obstacle '%s' has no shape, expected one of plane, sphere, cylinder, box, surface",
                  def->name);
        return false;
    }
    for (int i = 0; def->kind != PL_OBSTACLE_SURFACE && i < 3; ++i) {
        static const char *const only[] = {"unit", "at", "rotate"};
        const io_node *n = io_child(node, only[i]);
        if (n) {
            io_defect(f, n->line,
                      "obstacle '%s': '%s' belongs to surfaces; the %s has its place inside its braces",
                      def->name, only[i], shape->key);
            return false;
        }
    }
    def->moves = io_child(node, "move") != NULL;
    def->pulled = io_child(node, "pull") != NULL;
    def->has_range = range != NULL;
    if (range && !def->moves && !def->pulled) {
        io_defect(f, range->line,
                  "obstacle '%s' has a range but no `move`, the displacement per mm of its command%s",
                  def->name, def->free ? ", and no `pull`, the force per N" : "");
        return false;
    }
    if (range &&
        !io_read_range(f, range, "obstacle: range", def->pulled ? PL_DIM_FORCE : PL_DIM_LENGTH, def->range)) {
        return false;
    }
    return def->kind == PL_OBSTACLE_SURFACE ? obstacle_file(f, node, shape, def, file)
                                            : obstacle_shape(f, shape, def);
}

void io_read_contact(io_robot_file *f, const io_node *node)
{
    static const io_key keys[] = {
        {"self", IO_BOOL, 0, offsetof(pl_contact_def, self), 0},
        {"friction", IO_QUANTITY, PL_DIM_NUMBER, offsetof(pl_contact_def, friction), IO_NOT_NEGATIVE},
        {"obstacles", IO_OTHER, 0, 0, 0},
    };
    pl_contact_def *contact = &f->def.contact;
    contact->given = true;
    contact->line = node->line;
    const io_node *obstacles = io_child(node, "obstacles");
    if (!io_read_map(f, node, "contact", keys, PL_COUNT(keys), contact) ||
        (obstacles && !io_expect(f, obstacles, IO_LIST, "contact: obstacles"))) {
        return;
    }
    for (const io_node *n = obstacles ? obstacles->child : NULL; n; n = n->next) {
        pl_obstacle_def def = {.line = n->line, .friction = -1};
        io_obstacle_file file = {0};
        if (!obstacle_read(f, n, &def, &file)) {
            io_mark_broken(f, n->line);
        }
        def.name = def.name ? def.name : "";
        pl_obstacle_def *slot = io_append(f, &f->obstacle, sizeof *slot);
        io_obstacle_file *beside = io_append(f, &f->obstacle_file, sizeof *beside);
        if (slot && beside) {
            *slot = def;
            *beside = file;
        }
    }
}

pl_status io_load_obstacles(io_robot_file *f, const pl_load_options *options)
{
    pl_obstacle_def *def = f->obstacle.item;
    io_obstacle_file *file = f->obstacle_file.item;
    for (int i = 0; i < f->obstacle.count; ++i) {
        if (def[i].kind != PL_OBSTACLE_SURFACE) {
            continue;
        }
        pl_error err = {0};
        if (!options->mesher || !options->mesher->surface) {
            io_defect(f, def[i].line,
                      "obstacle '%s': this program was built without a reader of STL and OBJ files",
                      def[i].name);
            return PL_BAD_INPUT;
        }
        const pl_status status = options->mesher->surface(options->mesher->user, file[i].path, file[i].unit,
                                                          &file[i].surface, &err);
        if (status != PL_OK) {
            io_defect(f, def[i].line, "obstacle '%s': %s", def[i].name, err.text);
            return status;
        }
        def[i].surface = &file[i].surface;
    }
    return PL_OK;
}
