// From a def and its meshes to a robot: the entry point of the room. Steps are listed in robot_steps in the
// order in which they depend on each other.
#include "robot/robot_impl.h"

pl_status robot_memory(robot_build *b)
{
    return pl_fail_memory(b->err, "the robot");
}

bool robot_has_defects(const robot_build *b)
{
    return pl_findings_defect_count(b->findings) > b->defects_before;
}

// Index of a name among `known`, or -1 with a defect that suggests the nearest one and lists the others.
static int32_t robot_find(robot_build *b, const char *name, const char *what, const char *thing, int line,
                          const char *const *known, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        if (strcmp(known[i], name) == 0) {
            return i;
        }
    }

    // not found: what could be meant
    const char *nearest = pl_nearest_word(name, known, count);
    pl_text all = {0};
    for (int32_t i = 0; i < count && i < 30; ++i) {
        pl_text_add(&all, "%s%s", i ? ", " : "", known[i]);
    }

    if (nearest) {
        ROBOT_DEFECT(b, line, "%s: there is no %s '%s' (did you mean '%s'?)", what, thing, name, nearest);
    } else {
        ROBOT_DEFECT(b, line, "%s: there is no %s '%s'", what, thing, name);
    }

    pl_findings_advise(b->findings, "the mesh has the %ss: %s", thing, all.data ? all.data : "none");
    pl_text_clear(&all);

    return -1;
}

int32_t robot_find_surface(robot_build *b, const char *name, const char *what, int line)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    if (pl_mesh_find_surface(b->robot->mesh, name) < 0) {
        // a surface whose pick found nothing has been reported already
        for (int s = 0; s < b->def->surface_count; ++s) {
            if (strcmp(b->def->surface[s].name, name) == 0) {
                return -1;
            }
        }
    }

    return robot_find(b, name, what, "surface", line, v.surface_name, v.surface_count);
}

int32_t robot_find_region(robot_build *b, const char *name, const char *what, int line)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    return robot_find(b, name, what, "region", line, v.region_name, v.region_count);
}

// Vertices marked so far as a list that the caller owns; clears the marks for the next user.
pl_status robot_take_marks(robot_build *b, int32_t **node, int32_t *count)
{
    const int32_t n = pl_mesh_get(b->robot->mesh).vertex_count;
    *count = 0;
    for (int32_t v = 0; v < n; ++v) {
        *count += b->mark[v];
    }
    *node = PL_NEW_ARRAY(int32_t, *count);
    if (!*node) {
        return robot_memory(b);
    }

    // the marks are cleared as they are read
    int32_t k = 0;
    for (int32_t v = 0; v < n; ++v) {
        if (b->mark[v]) {
            (*node)[k++] = v;
            b->mark[v] = false;
        }
    }

    return PL_OK;
}

void robot_mark_faces(robot_build *b, const int64_t *face, int64_t count)
{
    for (int64_t k = 0; k < count; ++k) {
        int32_t node[PL_FACE_NODES_MAX];
        const int n = pl_mesh_face_nodes(b->robot->mesh, face[k], node);
        for (int a = 0; a < n; ++a) {
            b->mark[node[a]] = true;
        }
    }
}

// Marks all vertices of a region's elements.
void robot_mark_region(robot_build *b, int32_t region)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    for (int32_t e = 0; e < v.element_count; ++e) {
        for (int64_t a = v.node_start[e]; v.region[e] == region && a < v.node_start[e + 1]; ++a) {
            b->mark[v.node[a]] = true;
        }
    }
}

pl_status robot_copy_faces(robot_build *b, int32_t surface, int64_t **face, int64_t *count)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    *count = v.surface_start[surface + 1] - v.surface_start[surface];
    *face = PL_NEW_ARRAY(int64_t, *count);
    if (!*face) {
        return robot_memory(b);
    }
    memcpy(*face, v.surface_face + v.surface_start[surface], (size_t)*count * sizeof **face);

    return PL_OK;
}

// Index, or -1.
static int robot_find_material(robot_build *b, const char *name)
{
    for (int m = 0; m < b->robot->material_count; ++m) {
        if (strcmp(b->robot->material_name[m], name) == 0) {
            return m;
        }
    }

    return -1;
}

// Copies of the def's materials, with capacity for those that free bodies and grown actuators add.
static pl_status robot_materials(robot_build *b)
{
    pl_robot *robot = b->robot;
    const int given = b->def->material_count;

    // growing cables and films bring a material of their own
    int n = given + robot_free_count(b);

    for (int a = 0; a < b->def->actuator_count; ++a) {
        n += b->def->actuator[a].growth && b->def->actuator[a].modulus > 0;
    }
    robot->material = PL_NEW_ARRAY(pl_material, n);
    robot->material_name = PL_NEW_ARRAY(char *, n);
    if (!robot->material || !robot->material_name) {
        return robot_memory(b);
    }
    robot->material_count = given;

    for (int m = 0; m < given; ++m) {
        robot->material[m] = b->def->material[m].material;
        robot->material_name[m] = pl_strdup(b->def->material[m].name);
        if (!robot->material_name[m]) {
            return robot_memory(b);
        }
    }

    return PL_OK;
}

// Was this region air that has been taken out of the mesh?
static bool robot_region_is_hollow(const robot_build *b, const char *name)
{
    for (int a = 0; a < b->def->actuator_count; ++a) {
        if (b->hollow[a] && strcmp(robot_air_name(&b->def->actuator[a]), name) == 0) {
            return true;
        }
    }

    return false;
}

// Which material each region is made of; regions without one are defects.
pl_status robot_regions(robot_build *b)
{
    const pl_status status = robot_materials(b);
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);

    b->robot->region_material = PL_NEW_ARRAY(int32_t, v.region_count);
    if (status != PL_OK || !b->robot->region_material) {
        return robot_memory(b);
    }

    // one material and no `regions`: everything is made of it
    const bool alone = b->def->region_count == 0 && b->def->material_count == 1;
    for (int32_t r = 0; r < v.region_count; ++r) {
        b->robot->region_material[r] = alone ? 0 : -1;
    }

    // by name; the air of a chamber has no material
    for (int i = 0; i < b->def->region_count; ++i) {
        const pl_region_def *def = &b->def->region[i];
        if (robot_region_is_hollow(b, def->region)) {
            continue;
        }
        const int32_t r = robot_find_region(b, def->region, "regions", def->line);
        if (r >= 0) {
            b->robot->region_material[r] = robot_find_material(b, def->material);
        }
    }

    // free bodies, and rest shapes of grown regions
    pl_status more = robot_free_materials(b);
    more = more == PL_OK ? robot_rest_shapes(b) : more;
    if (more != PL_OK) {
        return more;
    }

    // a misspelt region has been named already and would be reported twice
    const bool misspelt = robot_has_defects(b);
    for (int32_t r = 0; r < v.region_count; ++r) {
        if (b->robot->region_material[r] < 0 && !misspelt) {
            ROBOT_DEFECT(b, b->def->region_count ? b->def->region[0].line : b->def->body[0].line,
                         "region '%s' of the mesh has no material", v.region_name[r]);
            pl_findings_advise(b->findings, "add it to regions: {%s: ...}", v.region_name[r]);
        }
    }

    return PL_OK;
}

// Bodies by the first part of the names of their regions, `body.region`; one body: all but the frames.
static pl_status robot_region_bodies(robot_build *b)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    const int bodies = b->def->body_count, frames = robot_free_count(b);
    int32_t *of = b->robot->region_body = PL_NEW_ARRAY(int32_t, v.region_count);

    if (!of) {
        return robot_memory(b);
    }

    // frames of free bodies come last and are bodies of their own
    for (int32_t r = 0; r < v.region_count; ++r) {
        of[r] = r >= v.region_count - frames ? bodies + r : 0;
        for (int i = 0; bodies > 1 && i < bodies && of[r] < bodies; ++i) {
            const size_t length = strlen(b->def->body[i].name);
            if (strncmp(v.region_name[r], b->def->body[i].name, length) == 0 &&
                v.region_name[r][length] == '.') {
                of[r] = i;
            }
        }
    }

    return PL_OK;
}

// The mesh of all bodies, then everything that refers to it.
static pl_status robot_steps(robot_build *b, const pl_mesh *const *mesh)
{
    // supports before actuators (is every body held?), contact before commands (obstacles have some)
    static pl_status (*const step[])(robot_build *) = {
        robot_regions, robot_supports, robot_rigids,  robot_check_held, robot_actuators,
        robot_contact, robot_commands, robot_markers, robot_sensors,    robot_loads,
        robot_springs, robot_layers,   robot_fibres,
    };

    // all bodies in one mesh
    pl_status status = robot_world_mesh(b, mesh);
    if (status == PL_OK) {
        status = robot_region_bodies(b);
    }
    if (status == PL_OK) {
        status = pl_mesh_examine_shapes(b->robot->mesh, PL_WARNING, b->findings, b->err);
    }
    if (status != PL_OK) {
        return status;
    }

    // the size that tolerances refer to, and marks that the steps share
    double low[3], high[3];
    pl_mesh_bounds(b->robot->mesh, low, high);
    b->size = pl_distance3(low, high);
    b->mark = PL_NEW_ARRAY(bool, pl_mesh_get(b->robot->mesh).vertex_count);
    if (!b->mark) {
        return robot_memory(b);
    }
    for (int i = 0; i < PL_COUNT(step) && status == PL_OK; ++i) {
        status = step[i](b);
    }

    return status;
}

// Turns the first defect since finding `from` into an error, for callers that pass no findings.
static pl_status robot_first_defect(const pl_robot_def *def, const pl_findings *findings, int from,
                                    pl_error *err)
{
    const char *file = def->file ? def->file : "robot";
    for (int i = from; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        if (f->severity == PL_DEFECT) {
            return f->line > 0 ? pl_fail(err, PL_BAD_INPUT, "%s:%d: %s", file, f->line, f->text)
                               : pl_fail(err, PL_BAD_INPUT, "%s: %s", file, f->text);
        }
    }

    return PL_OK;
}

// Builds without the checks of the def, which must have passed. `findings` receives
// warnings, too; *out is NULL on failure.
pl_status pl_robot_build(const pl_robot_def *def, const pl_mesh *const *mesh, pl_robot **out,
                         pl_findings *findings, pl_error *err)
{
    *out = NULL;
    const int before = pl_findings_count(findings);
    robot_build b = {.def = def, .robot = PL_NEW(pl_robot), .findings = findings, .err = err};
    b.defects_before = pl_findings_defect_count(findings);
    b.hollow = PL_NEW_ARRAY(bool, def->actuator_count);
    b.fill = PL_NEW_ARRAY(robot_fill, def->actuator_count);
    if (b.robot) {
        b.robot->name = pl_strdup(def->name ? def->name : "robot");
        memcpy(b.robot->gravity, def->gravity, sizeof def->gravity);
    }

    // all steps, of which each reports all it finds
    pl_status status =
        b.robot && b.hollow && b.fill && b.robot->name ? robot_steps(&b, mesh) : robot_memory(&b);
    if (status == PL_OK) {
        status = robot_first_defect(def, findings, before, err);
    }

    // what only the build needs
    for (int a = 0; b.fill && a < def->actuator_count; ++a) {
        pl_free(b.fill[a].tet);
        pl_free(b.fill[a].position);
    }

    pl_free(b.fill);
    pl_free(b.hollow);
    pl_free(b.mark);
    if (status != PL_OK) {
        pl_robot_destroy(b.robot);
        return status;
    }

    b.robot->hash = robot_hash(b.robot);
    *out = b.robot;

    return PL_OK;
}

pl_status pl_robot_create(const pl_robot_def *def, const pl_mesh *const *mesh, pl_robot **out,
                          pl_findings *findings, pl_error *err)
{
    if (!out || !def || !mesh) {
        return pl_fail(err, PL_BAD_INPUT, "robot: def, meshes and the result pointer must not be NULL");
    }
    *out = NULL;
    pl_findings *own = findings ? NULL : pl_findings_create();
    pl_findings *list = findings ? findings : own;
    if (!list) {
        return pl_fail_memory(err, "the robot's findings");
    }

    // the def by itself: names, numbers, references
    const int before = pl_findings_count(list);
    pl_status status = pl_robot_def_check(def, list);
    if (status != PL_OK) {
        status = pl_fail_memory(err, "the robot's checks");
    } else {
        status = robot_first_defect(def, list, before, err);
    }

    // the meshes
    for (int i = 0; status == PL_OK && i < def->body_count; ++i) {
        if (!mesh[i]) {
            status = pl_fail(err, PL_BAD_INPUT, "robot: body %d has no mesh", i);
        }
    }

    if (status == PL_OK) {
        status = pl_robot_build(def, mesh, out, list, err);
    }
    pl_findings_destroy(own);

    return status;
}
