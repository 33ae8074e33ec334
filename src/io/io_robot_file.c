// A robot file from top to bottom: format version, one body or several, then everything in it; findings
// sorted by line.
#include <stdio.h>
#include <stdlib.h>
#include "base/vec.h"
#include "io/io_document.h"
#include "io/io_robot_model.h"

// Top-level keys; the ones a body may have too are marked.
typedef struct file_key {
    io_key key;
    bool in_body;
} file_key;

static const file_key file_keys[] = {
    {{"pliant", IO_OTHER, 0, 0, IO_REQUIRED}, false},
    {{"name", IO_OTHER, 0, 0, 0}, true},
    {{"parameters", IO_OTHER, 0, 0, 0}, false},
    {{"mesh", IO_OTHER, 0, 0, 0}, true},
    {{"model", IO_OTHER, 0, 0, 0}, false},
    {{"errors", IO_OTHER, 0, 0, 0}, false},
    {{"surfaces", IO_OTHER, 0, 0, 0}, true},
    {{"materials", IO_OTHER, 0, 0, 0}, false},
    {{"regions", IO_OTHER, 0, 0, 0}, true},
    {{"fixed", IO_OTHER, 0, 0, 0}, true},
    {{"rigid", IO_OTHER, 0, 0, 0}, true},
    {{"actuators", IO_OTHER, 0, 0, 0}, true},
    {{"commands", IO_OTHER, 0, 0, 0}, false},
    {{"markers", IO_OTHER, 0, 0, 0}, true},
    {{"sensors", IO_OTHER, 0, 0, 0}, true},
    {{"loads", IO_OTHER, 0, 0, 0}, false},
    {{"springs", IO_OTHER, 0, 0, 0}, false},
    {{"layers", IO_OTHER, 0, 0, 0}, true},
    {{"fibres", IO_OTHER, 0, 0, 0}, true},
    {{"solver", IO_OTHER, 0, 0, 0}, false},
    {{"bodies", IO_OTHER, 0, 0, 0}, false},
    {{"contact", IO_OTHER, 0, 0, 0}, false},
    {{"hardware", IO_OTHER, 0, 0, 0}, false},
    {{"estimator", IO_OTHER, 0, 0, 0}, false},
    {{"controller", IO_OTHER, 0, 0, 0}, false},
    {{"plant", IO_OTHER, 0, 0, 0}, false},
    {{"joints", IO_RESERVED, 0, 0, 0}, false},
    {{"frames", IO_RESERVED, 0, 0, 0}, false},
};

static const double file_identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// The blocks a body or the top of a file can hold.
static void file_scope(io_robot_file *f, const io_node *node, const io_scope *scope)
{
    static const struct {
        const char *key;
        void (*read)(io_robot_file *f, const io_node *node, const io_scope *scope);
    } block[] = {
        {"surfaces", io_read_surfaces}, {"regions", io_read_regions},     {"fixed", io_read_fixed},
        {"rigid", io_read_rigid},       {"actuators", io_read_actuators}, {"markers", io_read_markers},
        {"sensors", io_read_sensors},   {"layers", io_read_layers},       {"fibres", io_read_fibres},
    };
    for (int i = 0; i < PL_COUNT(block); ++i) {
        const io_node *n = io_expand(f, io_child(node, block[i].key));
        if (n) {
            block[i].read(f, n, scope);
        }
    }
}

// pose: {rotate: {axis, angle, about}, move}: x_world = R (x - about) + about + move
static bool file_pose(io_robot_file *f, const io_node *node, io_scope *scope)
{
    static const io_key keys[] = {
        {"rotate", IO_OTHER, 0, 0, 0},
        {"move", IO_VECTOR, PL_DIM_LENGTH, 0, 0},
    };
    double move[3] = {0}, rotate[3] = {0}, about[3] = {0}, turned[3];
    if (!io_read_map(f, node, "pose", keys, PL_COUNT(keys), move)) {
        return false;
    }
    const io_node *n = io_child(node, "rotate");
    if (n && !io_read_rotation(f, n, "pose: rotate", rotate, about)) {
        return false;
    }
    pl_rotation_exp(rotate, scope->rotation);
    pl_mulv3(scope->rotation, about, turned);
    for (int i = 0; i < 3; ++i) {
        scope->translation[i] = about[i] + move[i] - turned[i];
    }
    return true;
}

static const char *file_body_name(io_robot_file *f, const io_node *node)
{
    const io_node *name = io_child(node, "name");
    if (!name || name->kind != IO_SCALAR || name->text[0] == '\0') {
        io_defect(f, name ? name->line : node->line, "bodies: every body needs a name");
        return NULL;
    }
    if (strpbrk(name->text, ". \t=,:")) {
        io_defect(f, name->line,
                  "bodies: '%s' is not a valid name for a body: use letters, digits, '_' and '-'",
                  name->text);
        return NULL;
    }
    const pl_body_def *body = f->body.item;
    for (int i = 0; i < f->body.count; ++i) {
        if (strcmp(body[i].name, name->text) == 0) {
            io_defect(f, name->line, "bodies: the name '%s' is given twice, first on line %d", name->text,
                      body[i].line);
            return NULL;
        }
    }
    return name->text;
}

static void file_bodies(io_robot_file *f, const io_node *root, const io_node *node)
{
    static const char *const alone[] = {"mesh", "surfaces"};
    for (int i = 0; i < PL_COUNT(alone); ++i) {
        const io_node *n = io_child(root, alone[i]);
        if (n) {
            io_defect(f, n->key_line, "'%s' must be inside a body if 'bodies' is given", n->key);
        }
    }
    if (!io_expect(f, node, IO_LIST, "bodies")) {
        return;
    }
    if (node->count == 0) {
        io_defect(f, node->line, "bodies is empty, at least one body is needed");
        return;
    }
    io_key keys[PL_COUNT(file_keys) + 1];
    int count = 0;
    for (int i = 0; i < PL_COUNT(file_keys); ++i) {
        if (file_keys[i].in_body) {
            keys[count++] = file_keys[i].key;
        }
    }
    keys[count++] = (io_key){"pose", IO_OTHER, 0, 0, 0};
    for (const io_node *n = node->child; n; n = n->next) {
        io_scope scope = {.body = f->body.count};
        io_read_design_names(f, io_child(n, "mesh"));
        memcpy(scope.rotation, file_identity, sizeof file_identity);
        if (!io_read_map(f, n, "body", keys, count, NULL) && n->kind != IO_MAP) {
            continue;
        }
        const char *name = file_body_name(f, n);
        const char *shown = name ? name : "?";
        scope.prefix = node->count > 1 ? shown : NULL;
        const io_node *pose = io_child(n, "pose");
        if (pose) {
            file_pose(f, pose, &scope);
        }
        io_read_body(f, io_child(n, "mesh"), shown, n->line, &scope);
        file_scope(f, n, &scope);
    }
    // outside of the bodies the parameters of a design have no meaning, except that of the only body
    io_read_design_names(f, node->count == 1 ? io_child(node->child, "mesh") : NULL);
}

static bool file_version(io_robot_file *f, const io_node *root)
{
    const io_node *n = io_child(root, "pliant");
    if (!n) {
        io_defect(f, root->line, "'pliant: 1' (the format version) is missing: is this a robot file?");
        return false;
    }
    if (n->kind != IO_SCALAR || strcmp(n->text, "1") != 0) {
        io_defect(f, n->line, "the format version is '%s'; this program reads version 1",
                  n->kind == IO_SCALAR ? n->text : io_kind_name(n));
        return false;
    }
    return true;
}

static void file_root(io_robot_file *f, const io_node *root)
{
    if (!io_expect(f, root, IO_MAP, "robot file") || !file_version(f, root)) {
        return;
    }
    io_key keys[PL_COUNT(file_keys)];
    for (int i = 0; i < PL_COUNT(file_keys); ++i) {
        keys[i] = file_keys[i].key;
    }
    io_read_map(f, root, "robot file", keys, PL_COUNT(keys), NULL);
    const io_node *name = io_child(root, "name"), *bodies = io_child(root, "bodies");
    f->def.name = "robot";
    if (name && io_expect(f, name, IO_SCALAR, "name")) {
        f->def.name = name->text;
    }
    io_read_names(f, root);
    io_read_control(f, root);
    const io_node *model = io_child(root, "model");
    if (model) {
        io_read_model(f, root, model);
        return;
    }
    const io_node *materials = io_expand(f, io_child(root, "materials"));
    if (materials) {
        io_read_materials(f, materials);
    }
    io_scope scope = {.body = bodies ? -1 : 0};
    memcpy(scope.rotation, file_identity, sizeof file_identity);
    if (bodies) {
        file_bodies(f, root, bodies);
    } else {
        io_read_body(f, io_child(root, "mesh"), "body", root->line, &scope);
    }
    if (!bodies || !io_child(root, "surfaces")) {
        file_scope(f, root, &scope);
    }
    // these refer to what the bodies hold
    const io_node *commands = io_expand(f, io_child(root, "commands")),
                  *loads = io_expand(f, io_child(root, "loads")),
                  *springs = io_expand(f, io_child(root, "springs"));
    const io_node *solver = io_child(root, "solver"), *hardware = io_expand(f, io_child(root, "hardware"));
    if (commands) {
        io_read_commands(f, commands);
    }
    if (loads) {
        io_read_loads(f, loads);
    }
    if (springs) {
        io_read_springs(f, springs);
    }
    const io_node *contact = io_expand(f, io_child(root, "contact"));
    if (contact) {
        io_read_contact(f, contact);
    }
    if (solver) {
        io_read_solver(f, solver);
    }
    if (hardware) {
        io_read_hardware(f, hardware);
    }
}

static void file_fill_def(io_robot_file *f)
{
    pl_robot_def *d = &f->def;
    d->file = f->path;
#define FILL(what) (d->what = f->what.item, d->what##_count = f->what.count)
    FILL(body);
    FILL(surface);
    FILL(material);
    FILL(region);
    FILL(fixed);
    FILL(rigid);
    FILL(actuator);
    FILL(command);
    FILL(marker);
    FILL(sensor);
    FILL(force);
    FILL(pressure);
    FILL(spring);
    d->contact.obstacle = f->obstacle.item;
    d->contact.obstacle_count = f->obstacle.count;
    FILL(layer);
    FILL(fibre);
#undef FILL
}

static bool file_is_broken(const io_robot_file *f, int line)
{
    const int *broken = f->broken.item;
    for (int i = 0; i < f->broken.count; ++i) {
        if (broken[i] == line) {
            return true;
        }
    }
    return false;
}

// Checks between items; items that could not be read are not judged a second time.
static void file_check_def(io_robot_file *f)
{
    pl_findings *more = pl_findings_create();
    if (!more || pl_robot_def_check(&f->def, more) == PL_NO_MEMORY) {
        f->no_memory = true;
    }
    for (int i = 0; i < pl_findings_count(more); ++i) {
        const pl_finding *item = pl_findings_at(more, i);
        if (file_is_broken(f, item->line)) {
            continue;
        }
        if (item->severity == PL_DEFECT) {
            io_defect(f, item->line, "%s", item->text);
        } else {
            io_warning(f, item->line, "%s", item->text);
        }
        if (item->advice[0]) {
            io_advise(f, "%s", item->advice);
        }
    }
    pl_findings_destroy(more);
}

void io_robot_file_read(io_robot_file *f, const pl_robot_document *document)
{
    const io_robot_file *source = &document->source;
    *f = (io_robot_file){.path = source->path,
                         .folder = source->folder,
                         .has_path = source->has_path,
                         .findings = pl_findings_create()};
    if (!f->findings) {
        f->no_memory = true;
        return;
    }

    // what the parser found comes first
    for (int i = 0; i < pl_findings_count(source->findings); ++i) {
        io_adopt_finding(f, pl_findings_at(source->findings, i), 0);
    }
    if (!document->root && pl_findings_defect_count(f->findings) == 0) {
        io_defect(f, 1, "the file is empty, expected 'pliant: 1' and a robot");
    }
    if (document->root) {
        file_root(f, document->root);
        file_fill_def(f);
        if (f->def.body_count > 0) {
            file_check_def(f);
        }
    }
    f->no_memory = f->no_memory || f->arena.failed;
}

void io_robot_file_clear(io_robot_file *f)
{
    io_array *const arrays[] = {&f->body,   &f->surface,  &f->material, &f->region,   &f->fixed,
                                &f->rigid,  &f->actuator, &f->command,  &f->marker,   &f->sensor,
                                &f->force,  &f->pressure, &f->spring,   &f->obstacle, &f->obstacle_file,
                                &f->broken, &f->layer,    &f->fibre,    &f->name};
    for (int i = 0; i < f->obstacle_file.count; ++i) {
        pl_trisurf_clear(&((io_obstacle_file *)f->obstacle_file.item)[i].surface);
    }
    for (int i = 0; i < PL_COUNT(arrays); ++i) {
        pl_free(arrays[i]->item);
    }
    io_model_clear(f->model);
    pl_findings_destroy(f->findings);
    io_arena_clear(&f->arena);
}

typedef struct file_order {
    int line, index;
} file_order;

static int file_compare(const void *a, const void *b)
{
    const file_order *p = a, *q = b;
    return p->line != q->line ? (p->line > q->line) - (p->line < q->line)
                              : (p->index > q->index) - (p->index < q->index);
}

static void file_copy_finding(pl_findings *to, const pl_finding *item)
{
    if (pl_findings_add(to, item->severity, item->file, item->line, "%s", item->text) < 0) {
        return;
    }
    if (item->advice[0]) {
        pl_findings_advise(to, "%s", item->advice);
    }
    pl_findings_place(to, item->has_place ? item->place : NULL, item->elements, item->element_count);
}

void io_adopt_finding(io_robot_file *f, const pl_finding *finding, int line)
{
    pl_finding own = *finding;
    if (!own.file) {
        own.file = f->path;
        own.line = own.line > 0 ? own.line : line;
    }
    file_copy_finding(f->findings, &own);
}

pl_status io_robot_file_report(const io_robot_file *f, pl_status otherwise, pl_findings *findings,
                               pl_error *err)
{
    if (f->no_memory) {
        return pl_fail_memory(err, "the robot file");
    }
    const int count = pl_findings_count(f->findings);
    file_order *order = PL_NEW_ARRAY(file_order, count);
    if (!order) {
        return pl_fail_memory(err, "the robot file's findings");
    }
    for (int i = 0; i < count; ++i) {
        order[i] = (file_order){pl_findings_at(f->findings, i)->line, i};
    }
    qsort(order, (size_t)count, sizeof *order, file_compare);
    const pl_finding *first = NULL;
    for (int i = 0; i < count; ++i) {
        const pl_finding *item = pl_findings_at(f->findings, order[i].index);
        file_copy_finding(findings, item);
        first = first || item->severity != PL_DEFECT ? first : item;
    }
    pl_free(order);
    if (first) {
        const pl_status status = otherwise == PL_OK ? PL_BAD_INPUT : otherwise;
        return first->line > 0
                   ? pl_fail(err, status, "%s:%d: %s", first->file ? first->file : f->path, first->line,
                             first->text)
                   : pl_fail(err, status, "%s: %s", first->file ? first->file : f->path, first->text);
    }
    return otherwise;
}
