// Task files: objects, the gripper, and stages that bring a robot from one to the next, read with the same
// tables and the same line numbers as robot files.
#include <stdio.h>
#include "base/vec.h"
#include "document/document_reader.h"
#include "analysis/analysis_task.h"
#include "pliant/text.h"

static const char *const task_verbs[] = {"move", "reach", "grasp", "place"};

// What is read before it is handed over.
typedef struct task_reader {
    doc_robot_file f; // arena and findings
    pl_task_file out;
    doc_array object, item;
} task_reader;

// name: {center, radius} of every object.
static void task_objects(task_reader *r, const doc_node *node)
{
    static const doc_key keys[] = {
        {"center", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_task_object, center), DOC_REQUIRED},
        {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_task_object, radius),
         DOC_REQUIRED | DOC_POSITIVE},
    };
    if (!doc_expect(&r->f, node, DOC_MAP, "objects")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_task_object object = {.name = n->key, .line = n->key_line};
        char what[100];
        snprintf(what, sizeof what, "object '%.60s'", n->key);
        doc_read_map(&r->f, n, what, keys, PL_COUNT(keys), &object);
        pl_task_object *slot = doc_append(&r->f, &r->object, sizeof *slot);
        if (slot) {
            *slot = object;
        }
    }
}

// Names are resolved by the job, which knows the robot.
static void task_gripper_commands(task_reader *r, const doc_node *node)
{
    if (!doc_expect(&r->f, node, DOC_LIST, "gripper: commands")) {
        return;
    }

    const char **name = doc_arena_take(&r->f.arena, ((size_t)node->count + 1) * sizeof *name);
    for (const doc_node *n = node->child; name && n; n = n->next) {
        if (doc_expect(&r->f, n, DOC_SCALAR, "gripper: commands")) {
            name[r->out.command_count++] = n->text;
        }
    }

    if (node->count == 0) {
        doc_defect(&r->f, node->line,
                   "gripper: commands: expected the commands that bend the end segment, found none");
    }

    r->out.command = name;
}

// Two points of the undeformed body.
static void task_line(task_reader *r, const doc_node *node)
{
    if (!doc_expect(&r->f, node, DOC_LIST, "gripper: line")) {
        return;
    }

    if (node->count != 2) {
        doc_defect(&r->f, node->line, "gripper: line: expected two points [[x, y, z], [x, y, z]], found %d",
                   node->count);
        return;
    }

    doc_read_vector(&r->f, node->child, "gripper: line", PL_DIM_LENGTH, r->out.line_from);
    doc_read_vector(&r->f, node->child->next, "gripper: line", PL_DIM_LENGTH, r->out.line_to);
}

// Keys by table, then what they need of each other.
static void task_gripper(task_reader *r, const doc_node *node)
{
    static const doc_key keys[] = {
        {"marker", DOC_TEXT, 0, offsetof(pl_task_file, gripper_marker), DOC_REQUIRED},
        {"normal", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_task_file, normal), DOC_REQUIRED},
        {"clearance", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_task_file, clearance),
         DOC_REQUIRED | DOC_NOT_NEGATIVE},
        {"weight", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_task_file, weight), DOC_POSITIVE},
        {"segment", DOC_TEXT, 0, offsetof(pl_task_file, segment), 0},
        {"about", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_task_file, curl_axis), 0},
        {"curl", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_task_file, curl), 0},
        {"line", DOC_OTHER, 0, 0, 0},
        {"commands", DOC_OTHER, 0, 0, DOC_REQUIRED},
    };
    doc_robot_file *f = &r->f;

    r->out.has_gripper = true;
    r->out.gripper_line = node->line;
    const bool good = doc_read_map(f, node, "gripper", keys, PL_COUNT(keys), &r->out);
    const doc_node *line = doc_child(node, "line"), *commands = doc_child(node, "commands");
    if (good && !(pl_norm3(r->out.normal) > 1e-12)) {
        doc_defect(f, doc_child(node, "normal")->line, "gripper: the normal has no direction");
    }
    if (good && fabs(r->out.curl) != 1) {
        doc_defect(f, doc_child(node, "curl")->line, "gripper: curl is %g, expected 1 or -1", r->out.curl);
    }
    if (good && (line != NULL) == (r->out.segment != NULL)) {
        doc_defect(f, node->line,
                   "gripper: expected exactly one of segment (a surface or region), line (two points)");
    }

    if (line) {
        task_line(r, line);
    }
    if (commands) {
        task_gripper_commands(r, commands);
    }
}

// Index of the object named, or -1 after a defect with the nearest name.
static int task_find_object(task_reader *r, const doc_node *node)
{
    const pl_task_object *object = r->object.item;
    const char **known = doc_arena_take(&r->f.arena, ((size_t)r->object.count + 1) * sizeof *known);

    if (!doc_expect(&r->f, node, DOC_SCALAR, "stage: object")) {
        return -1;
    }

    for (int i = 0; i < r->object.count; ++i) {
        if (strcmp(object[i].name, node->text) == 0) {
            return i;
        }
        if (known) {
            known[i] = object[i].name;
        }
    }

    doc_defect(&r->f, node->line, "stage: there is no object '%s'%s", node->text,
               known ? doc_did_you_mean(&r->f, node->text, known, r->object.count) : "");

    return -1;
}

// "xy": the coordinates that count.
static void task_axes(task_reader *r, const doc_node *node, bool axes[3])
{
    const char *text = node->kind == DOC_SCALAR ? node->text : "";
    bool good = text[0] != '\0';

    for (const char *c = text; *c; ++c) {
        good = good && *c >= 'x' && *c <= 'z';
        if (*c >= 'x' && *c <= 'z') {
            axes[*c - 'x'] = true;
        }
    }

    if (!good) {
        doc_defect(&r->f, node->line, "stage: axes: expected letters of x, y, z such as xy");
    }
}

// What each kind of stage needs and what it must not have.
static void task_judge(task_reader *r, const doc_node *node, const pl_task_item *item)
{
    static const struct {
        const char *key;
        bool needs[4], may[4]; // move, reach, grasp, place
    } rule[] = {
        {"object", {false, true, true, true}, {false, true, true, true}},
        {"to", {false, false, false, true}, {true, false, false, true}},
        {"marker", {false, false, false, false}, {true, false, false, false}},
        {"direction", {false, false, false, false}, {true, false, false, false}},
        {"axis", {false, false, false, false}, {true, false, false, false}},
        {"axes", {false, false, false, false}, {true, false, false, false}},
    };

    for (int i = 0; i < PL_COUNT(rule); ++i) {
        const doc_node *n = doc_child(node, rule[i].key);
        if (!n && rule[i].needs[item->what]) {
            doc_defect(&r->f, node->line, "stage: '%s' needs '%s'", task_verbs[item->what], rule[i].key);
        }
        if (n && !rule[i].may[item->what]) {
            doc_defect(&r->f, n->key_line, "stage: '%s' has no '%s'", task_verbs[item->what], rule[i].key);
        }
    }

    if (item->what == PL_TASK_MOVE && !item->has_to && !item->has_direction) {
        doc_defect(&r->f, node->line, "stage: 'move' needs 'to' or 'direction'");
    }

    if (item->has_direction &&
        !(item->has_axis && pl_norm3(item->axis) > 1e-12 && pl_norm3(item->direction) > 1e-12)) {
        doc_defect(&r->f, node->line,
                   "stage: 'direction' needs 'axis', the axis of the marker in the undeformed configuration");
    }

    if (item->what != PL_TASK_MOVE && !r->out.has_gripper) {
        doc_defect(&r->f, node->line, "stage: '%s' needs a 'gripper' block in the file",
                   task_verbs[item->what]);
    }
}

static void task_stage(task_reader *r, const doc_node *node)
{
    static const doc_key keys[] = {
        {"do", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"name", DOC_TEXT, 0, offsetof(pl_task_item, name), 0},
        {"object", DOC_OTHER, 0, 0, 0},
        {"marker", DOC_TEXT, 0, offsetof(pl_task_item, marker), 0},
        {"to", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_task_item, to), 0},
        {"direction", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_task_item, direction), 0},
        {"axis", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_task_item, axis), 0},
        {"axes", DOC_OTHER, 0, 0, 0},
        {"steps", DOC_WHOLE, 0, offsetof(pl_task_item, steps), DOC_POSITIVE},
    };
    pl_task_item item = {.object = -1, .steps = 1, .line = node->line};

    if (!doc_read_map(&r->f, node, "stage", keys, PL_COUNT(keys), &item)) {
        return;
    }

    // what to do decides which keys are allowed
    const int what =
        doc_read_choice(&r->f, doc_child(node, "do"), "stage: do", task_verbs, PL_COUNT(task_verbs));
    if (what < 0) {
        return;
    }
    item.what = (pl_task_do)what;
    item.name = item.name ? item.name : task_verbs[what];
    item.has_to = doc_child(node, "to") != NULL;
    item.has_direction = doc_child(node, "direction") != NULL;
    item.has_axis = doc_child(node, "axis") != NULL;
    const doc_node *object = doc_child(node, "object"), *axes = doc_child(node, "axes");
    if (item.steps > 100000) {
        doc_defect(&r->f, node->line, "stage: %d steps, the limit is 100000", item.steps);
    }
    if (object) {
        item.object = task_find_object(r, object);
    }
    if (axes) {
        task_axes(r, axes, item.axes);
    }
    task_judge(r, node, &item);
    pl_task_item *slot = doc_append(&r->f, &r->item, sizeof *slot);
    if (slot) {
        *slot = item;
    }
}

// Objects and gripper first: stages refer to them.
static void task_root(task_reader *r, const doc_node *root)
{
    static const doc_key keys[] = {
        {"task", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"name", DOC_TEXT, 0, offsetof(pl_task_file, name), 0},
        {"marker", DOC_TEXT, 0, offsetof(pl_task_file, marker), 0},
        {"gripper", DOC_OTHER, 0, 0, 0},
        {"objects", DOC_OTHER, 0, 0, 0},
        {"stages", DOC_OTHER, 0, 0, DOC_REQUIRED},
    };
    const doc_node *version = root->kind == DOC_MAP ? doc_child(root, "task") : NULL;

    if (!version) {
        doc_defect(&r->f, root->line, "'task: 1' (the format version) is missing: is this a task file?");
        return;
    }
    if (version->kind != DOC_SCALAR || strcmp(version->text, "1") != 0) {
        doc_defect(&r->f, version->line,
                   "the format version of the task is '%s'; this program reads version 1",
                   version->kind == DOC_SCALAR ? version->text : doc_kind_name(version));
        return;
    }

    doc_read_map(&r->f, root, "task file", keys, PL_COUNT(keys), &r->out);
    const doc_node *gripper = doc_child(root, "gripper"), *objects = doc_child(root, "objects");
    const doc_node *stages = doc_child(root, "stages");
    if (objects) {
        task_objects(r, objects);
    }
    if (gripper) {
        task_gripper(r, gripper);
    }

    if (stages && doc_expect(&r->f, stages, DOC_LIST, "stages")) {
        for (const doc_node *n = stages->child; n; n = n->next) {
            task_stage(r, n);
        }
        if (stages->count == 0) {
            doc_defect(&r->f, stages->line, "stages is empty, at least one is needed");
        }
    }
}

// Everything that was read lives as long as the file: the arena moves into `memory`.
static pl_status task_keep(task_reader *r, pl_task_file *out, pl_error *err)
{
    doc_arena *kept = PL_NEW(doc_arena);
    const size_t objects = (size_t)r->object.count * sizeof(pl_task_object);
    const size_t items = (size_t)r->item.count * sizeof(pl_task_item);
    pl_task_object *object = doc_arena_take(&r->f.arena, objects + 1);
    pl_task_item *item = doc_arena_take(&r->f.arena, items + 1);

    if (!kept || !object || !item) {
        pl_free(kept);
        return pl_fail_memory(err, "the task");
    }

    if (objects > 0) {
        memcpy(object, r->object.item, objects);
    }
    memcpy(item, r->item.item, items);
    *kept = r->f.arena;
    r->f.arena = (doc_arena){0};
    *out = r->out;
    out->object = object;
    out->object_count = r->object.count;
    out->item = item;
    out->item_count = r->item.count;
    out->memory = kept;

    return PL_OK;
}

// Defects go to `findings` with their lines; the file is returned only without any.
static pl_status task_read(const char *path, pl_task_file *out, pl_findings *findings, pl_error *err)
{
    char *text = NULL;
    size_t length = 0;
    pl_status status = pl_file_read(path, &text, &length, err);
    if (status != PL_OK) {
        return status;
    }

    task_reader r = {.f = {.path = path, .folder = ""}, .out = {.weight = 20, .curl = 1}};
    r.f.findings = pl_findings_create();
    const doc_node *root = r.f.findings ? doc_yaml_parse(&r.f, text, length) : NULL;
    r.f.no_memory = r.f.no_memory || !r.f.findings;
    if (root) {
        task_root(&r, root);
    } else if (!r.f.no_memory && pl_findings_defect_count(r.f.findings) == 0) {
        doc_defect(&r.f, 1, "the file is empty, expected 'task: 1' and stages");
    }

    r.f.no_memory = r.f.no_memory || r.f.arena.failed;
    status = doc_robot_file_report(&r.f, PL_OK, findings, err);
    if (status == PL_OK) {
        status = task_keep(&r, out, err);
    }
    pl_free(r.object.item);
    pl_free(r.item.item);
    doc_robot_file_clear(&r.f);
    pl_file_free(text);

    return status;
}

pl_status pl_task_read(const char *path, pl_task_file **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    pl_task_file *file = PL_NEW(pl_task_file);
    if (!file) {
        return pl_fail_memory(err, "the task file");
    }

    const pl_status status = task_read(path, file, findings, err);
    if (status != PL_OK) {
        pl_task_file_destroy(file);
        return status;
    }

    *out = file;

    return PL_OK;
}

void pl_task_file_destroy(pl_task_file *file)
{
    if (file && file->memory) {
        doc_arena_clear(file->memory);
        pl_free(file->memory);
    }

    pl_free(file);
}

const char *pl_task_file_name(const pl_task_file *file)
{
    return file->name;
}

int pl_task_file_stage_count(const pl_task_file *file)
{
    return file->item_count;
}

const char *pl_task_file_stage_name(const pl_task_file *file, int stage)
{
    return file->item[stage].name;
}
