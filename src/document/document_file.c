// A robot file from top to bottom: format version, one body or several, then everything in it; findings
// sorted by line.
#include <stdio.h>
#include <stdlib.h>
#include "base/vec.h"
#include "document/document_tree.h"
#include "document/document_model.h"

// Top-level keys: whether a body may have them too, and which kind of robot they are for.
typedef struct file_key {
    doc_key key;
    bool in_body;
    enum { FILE_BOTH, FILE_MESH, FILE_MODEL } robot; // with a mesh or a reduced model; one of the two
} file_key;

static const file_key file_keys[] = {
    {{"pliant", DOC_OTHER, 0, 0, DOC_REQUIRED}, false, FILE_BOTH},
    {{"name", DOC_OTHER, 0, 0, 0}, true, FILE_BOTH},
    {{"parameters", DOC_OTHER, 0, 0, 0}, false, FILE_BOTH},
    {{"mesh", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"model", DOC_OTHER, 0, 0, 0}, false, FILE_MODEL},
    {{"errors", DOC_OTHER, 0, 0, 0}, false, FILE_MODEL},
    {{"surfaces", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"materials", DOC_OTHER, 0, 0, 0}, false, FILE_MESH},
    {{"regions", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"fixed", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"rigid", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"actuators", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"commands", DOC_OTHER, 0, 0, 0}, false, FILE_BOTH},
    {{"markers", DOC_OTHER, 0, 0, 0}, true, FILE_BOTH},
    {{"sensors", DOC_OTHER, 0, 0, 0}, true, FILE_BOTH},
    {{"loads", DOC_OTHER, 0, 0, 0}, false, FILE_BOTH},
    {{"springs", DOC_OTHER, 0, 0, 0}, false, FILE_MESH},
    {{"layers", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"fibres", DOC_OTHER, 0, 0, 0}, true, FILE_MESH},
    {{"solver", DOC_OTHER, 0, 0, 0}, false, FILE_MESH},
    {{"bodies", DOC_OTHER, 0, 0, 0}, false, FILE_MESH},
    {{"contact", DOC_OTHER, 0, 0, 0}, false, FILE_MESH},
    {{"hardware", DOC_OTHER, 0, 0, 0}, false, FILE_BOTH},
    {{"estimator", DOC_OTHER, 0, 0, 0}, false, FILE_BOTH},
    {{"controller", DOC_OTHER, 0, 0, 0}, false, FILE_BOTH},
    {{"plant", DOC_OTHER, 0, 0, 0}, false, FILE_BOTH},
    {{"joints", DOC_RESERVED, 0, 0, 0}, false, FILE_BOTH},
    {{"frames", DOC_RESERVED, 0, 0, 0}, false, FILE_BOTH},
};

// What belongs to a mesh has no meaning beside a reduced model, and the reverse.
static void file_check_keys(doc_robot_file *f, const doc_node *root)
{
    const bool model = doc_child(root, "model") != NULL;
    for (int i = 0; i < PL_COUNT(file_keys); ++i) {
        const doc_node *n = doc_child(root, file_keys[i].key.name);
        if (n && file_keys[i].robot == (model ? FILE_MESH : FILE_MODEL)) {
            doc_defect(f, n->key_line, "'%s' is only for %s", n->key,
                       model ? "a robot with a mesh, but this one has a model"
                             : "a reduced model, but this robot has a mesh");
        }
    }
}

static const double file_identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// The blocks a body or the top of a file can hold.
static void file_scope(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    static const struct {
        const char *key;
        void (*read)(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
    } block[] = {
        {"surfaces", doc_read_surfaces}, {"regions", doc_read_regions},     {"fixed", doc_read_fixed},
        {"rigid", doc_read_rigid},       {"actuators", doc_read_actuators}, {"markers", doc_read_markers},
        {"sensors", doc_read_sensors},   {"layers", doc_read_layers},       {"fibres", doc_read_fibres},
    };

    for (int i = 0; i < PL_COUNT(block); ++i) {
        const doc_node *n = doc_expand(f, doc_child(node, block[i].key));
        if (n) {
            block[i].read(f, n, scope);
        }
    }
}

// pose: {rotate: {axis, angle, about}, move}: x_world = R (x - about) + about + move
static bool file_pose(doc_robot_file *f, const doc_node *node, doc_scope *scope)
{
    static const doc_key keys[] = {
        {"rotate", DOC_OTHER, 0, 0, 0},
        {"move", DOC_VECTOR, PL_DIM_LENGTH, 0, 0},
    };
    double move[3] = {0}, rotate[3] = {0}, about[3] = {0}, turned[3];

    if (!doc_read_map(f, node, "pose", keys, PL_COUNT(keys), move)) {
        return false;
    }

    const doc_node *n = doc_child(node, "rotate");
    if (n && !doc_read_rotation(f, n, "pose: rotate", rotate, about)) {
        return false;
    }

    // x_world = R x + t with t = about + move - R about
    pl_rotation_exp(rotate, scope->rotation);
    pl_mulv3(scope->rotation, about, turned);
    for (int i = 0; i < 3; ++i) {
        scope->translation[i] = about[i] + move[i] - turned[i];
    }

    return true;
}

// A name that can be the first part of `body.region`; NULL after a defect.
static const char *file_body_name(doc_robot_file *f, const doc_node *node)
{
    const doc_node *name = doc_child(node, "name");
    if (!name || name->kind != DOC_SCALAR || name->text[0] == '\0') {
        doc_defect(f, name ? name->line : node->line, "bodies: every body needs a name");
        return NULL;
    }

    if (strpbrk(name->text, ". \t=,:")) {
        doc_defect(f, name->line,
                   "bodies: '%s' is not a valid name for a body: use letters, digits, '_' and '-'",
                   name->text);
        return NULL;
    }

    const pl_body_def *body = f->body.item;
    for (int i = 0; i < f->body.count; ++i) {
        if (strcmp(body[i].name, name->text) == 0) {
            doc_defect(f, name->line, "bodies: the name '%s' is given twice, first on line %d", name->text,
                       body[i].line);
            return NULL;
        }
    }

    return name->text;
}

// Every body has its own names, pose and scope.
static void file_bodies(doc_robot_file *f, const doc_node *root, const doc_node *node)
{
    static const char *const alone[] = {"mesh", "surfaces"};
    for (int i = 0; i < PL_COUNT(alone); ++i) {
        const doc_node *n = doc_child(root, alone[i]);
        if (n) {
            doc_defect(f, n->key_line, "'%s' must be inside a body if 'bodies' is given", n->key);
        }
    }

    if (!doc_expect(f, node, DOC_LIST, "bodies")) {
        return;
    }
    if (node->count == 0) {
        doc_defect(f, node->line, "bodies is empty, at least one body is needed");
        return;
    }

    // keys that a body may have
    doc_key keys[PL_COUNT(file_keys) + 1];
    int count = 0;
    for (int i = 0; i < PL_COUNT(file_keys); ++i) {
        if (file_keys[i].in_body) {
            keys[count++] = file_keys[i].key;
        }
    }

    keys[count++] = (doc_key){"pose", DOC_OTHER, 0, 0, 0};

    // parameters of a design are names inside its body only
    for (const doc_node *n = node->child; n; n = n->next) {
        doc_scope scope = {.body = f->body.count};
        doc_read_design_names(f, doc_child(n, "mesh"));
        memcpy(scope.rotation, file_identity, sizeof file_identity);
        if (!doc_read_map(f, n, "body", keys, count, NULL) && n->kind != DOC_MAP) {
            continue;
        }
        const char *name = file_body_name(f, n);
        const char *shown = name ? name : "?";
        scope.prefix = node->count > 1 ? shown : NULL;
        const doc_node *pose = doc_child(n, "pose");
        if (pose) {
            file_pose(f, pose, &scope);
        }
        doc_read_body(f, doc_child(n, "mesh"), shown, n->line, &scope);
        file_scope(f, n, &scope);
    }

    // outside of the bodies the parameters of a design have no meaning, except that of the only body
    doc_read_design_names(f, node->count == 1 ? doc_child(node->child, "mesh") : NULL);
}

// Read before everything else: other versions would give misleading defects.
static bool file_version(doc_robot_file *f, const doc_node *root)
{
    const doc_node *n = doc_child(root, "pliant");
    if (!n) {
        doc_defect(f, root->line, "'pliant: 1' (the format version) is missing: is this a robot file?");
        return false;
    }

    if (n->kind != DOC_SCALAR || strcmp(n->text, "1") != 0) {
        doc_defect(f, n->line, "the format version is '%s'; this program reads version 1",
                   n->kind == DOC_SCALAR ? n->text : doc_kind_name(n));
        return false;
    }

    return true;
}

// The order matters: names before numbers, materials before regions, bodies before what refers to them.
static void file_root(doc_robot_file *f, const doc_node *root)
{
    if (!doc_expect(f, root, DOC_MAP, "robot file") || !file_version(f, root)) {
        return;
    }

    doc_key keys[PL_COUNT(file_keys)];
    for (int i = 0; i < PL_COUNT(file_keys); ++i) {
        keys[i] = file_keys[i].key;
    }
    doc_read_map(f, root, "robot file", keys, PL_COUNT(keys), NULL);
    file_check_keys(f, root);
    const doc_node *name = doc_child(root, "name"), *bodies = doc_child(root, "bodies");
    f->def.name = "robot";
    if (name && doc_expect(f, name, DOC_SCALAR, "name")) {
        f->def.name = name->text;
    }

    // names of parameters, then what uses them
    doc_read_names(f, root);
    doc_read_control(f, root);
    const doc_node *model = doc_child(root, "model");
    if (model) {
        doc_read_model(f, root, model);
        return;
    }

    // materials and bodies
    const doc_node *materials = doc_expand(f, doc_child(root, "materials"));
    if (materials) {
        doc_read_materials(f, materials);
    }

    doc_scope scope = {.body = bodies ? -1 : 0};
    memcpy(scope.rotation, file_identity, sizeof file_identity);
    if (bodies) {
        file_bodies(f, root, bodies);
    } else {
        doc_read_body(f, doc_child(root, "mesh"), "body", root->line, &scope);
    }

    if (!bodies || !doc_child(root, "surfaces")) {
        file_scope(f, root, &scope);
    }

    // these refer to what the bodies hold
    const doc_node *commands = doc_expand(f, doc_child(root, "commands")),
                   *loads = doc_expand(f, doc_child(root, "loads")),
                   *springs = doc_expand(f, doc_child(root, "springs"));
    const doc_node *solver = doc_child(root, "solver"),
                   *hardware = doc_expand(f, doc_child(root, "hardware"));
    if (commands) {
        doc_read_commands(f, commands);
    }
    if (loads) {
        doc_read_loads(f, loads);
    }
    if (springs) {
        doc_read_springs(f, springs);
    }

    const doc_node *contact = doc_expand(f, doc_child(root, "contact"));
    if (contact) {
        doc_read_contact(f, contact);
    }
    if (solver) {
        doc_read_solver(f, solver);
    }
    if (hardware) {
        doc_read_hardware(f, hardware);
    }
}

// The def borrows the arrays of the file.
static void file_fill_def(doc_robot_file *f)
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

// Whether an item of that line could not be read.
static bool file_is_broken(const doc_robot_file *f, int line)
{
    const int *broken = f->broken.item;
    for (int i = 0; i < f->broken.count; ++i) {
        if (broken[i] == line) {
            return true;
        }
    }

    return false;
}

// Checks between items; items that could not be read are not checked a second time, which
// would only repeat what is known.
static void file_check_def(doc_robot_file *f)
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
            doc_defect(f, item->line, "%s", item->text);
        } else {
            doc_warning(f, item->line, "%s", item->text);
        }
        if (item->advice[0]) {
            doc_advise(f, "%s", item->advice);
        }
    }

    pl_findings_destroy(more);
}

// Always leaves a file that can be reported and cleared.
void doc_robot_file_read(doc_robot_file *f, const pl_robot_document *document)
{
    const doc_robot_file *source = &document->source;
    *f = (doc_robot_file){.path = source->path,
                          .folder = source->folder,
                          .has_path = source->has_path,
                          .findings = pl_findings_create()};
    if (!f->findings) {
        f->no_memory = true;
        return;
    }

    // what the parser found comes first
    for (int i = 0; i < pl_findings_count(source->findings); ++i) {
        doc_adopt_finding(f, pl_findings_at(source->findings, i), 0);
    }
    if (!document->root && pl_findings_defect_count(f->findings) == 0) {
        doc_defect(f, 1, "the file is empty, expected 'pliant: 1' and a robot");
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

// Frees everything but the document's tree.
void doc_robot_file_clear(doc_robot_file *f)
{
    doc_array *const arrays[] = {&f->body,   &f->surface,  &f->material, &f->region,   &f->fixed,
                                 &f->rigid,  &f->actuator, &f->command,  &f->marker,   &f->sensor,
                                 &f->force,  &f->pressure, &f->spring,   &f->obstacle, &f->obstacle_file,
                                 &f->broken, &f->layer,    &f->fibre,    &f->name};
    for (int i = 0; i < f->obstacle_file.count; ++i) {
        pl_trisurf_clear(&((doc_obstacle_file *)f->obstacle_file.item)[i].surface);
    }
    for (int i = 0; i < PL_COUNT(arrays); ++i) {
        pl_free(arrays[i]->item);
    }
    doc_model_clear(f->model);
    pl_findings_destroy(f->findings);
    doc_arena_clear(&f->arena);
}

// For sorting findings.
typedef struct file_order {
    int line, index;
} file_order;

// By line; findings of one line stay in their order.
static int file_compare(const void *a, const void *b)
{
    const file_order *p = a, *q = b;
    return p->line != q->line ? (p->line > q->line) - (p->line < q->line)
                              : (p->index > q->index) - (p->index < q->index);
}

// Text, advice and place.
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

// Findings without a file are about this one.
void doc_adopt_finding(doc_robot_file *f, const pl_finding *finding, int line)
{
    pl_finding own = *finding;
    if (!own.file) {
        own.file = f->path;
        own.line = own.line > 0 ? own.line : line;
    }

    file_copy_finding(f->findings, &own);
}

// Findings in the order of lines; the first defect becomes the error.
// `otherwise`: the status if there is none.
pl_status doc_robot_file_report(const doc_robot_file *f, pl_status otherwise, pl_findings *findings,
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
