// The world mesh: all bodies in one frame, regions of chamber elements without a material taken out, surfaces
// picked. Faces are numbers 8 e + s: side s of element e. picked.
#include <stdio.h>
#include "robot/robot_impl.h"
#include "robot/robot_kind.h"

// One body, placed in the world.
typedef struct world_body {
    const pl_mesh *mesh; // as given, or `own` without its chamber elements
    pl_mesh *own;
    int32_t *kept;          // per element of the given mesh: its number in `own`, -1 when taken out
    int32_t element_offset; // of its first element in the world
} world_body;

// A surface waiting to be added: faces of the world mesh.
typedef struct world_surface {
    char *name;
    int64_t *face;
    int64_t count;
} world_surface;

// The walls of a chamber whose elements were taken out: faces of the given mesh of its body.
typedef struct world_wall {
    int body; // index
    int64_t *face;
    int64_t count;
} world_wall;

// What the steps share while the mesh is built.
typedef struct world {
    robot_build *b;
    world_body *body; // per body
    world_wall *wall; // per actuator
    world_surface *surface;
    int32_t surface_count, surface_room;
} world;

// The name of a region or surface in the world: with several bodies `body.name`. Owned by the caller.
static char *world_name(const robot_build *b, int body, const char *name)
{
    if (b->def->body_count == 1) {
        return pl_strdup(name);
    }

    pl_text text = {0};
    pl_text_add(&text, "%s.%s", b->def->body[body].name, name);
    if (text.failed) {
        pl_text_clear(&text);
    }

    return text.data;
}

// Whether `full` is the world's name of the body's `local`.
static bool world_name_is(const robot_build *b, int body, const char *local, const char *full)
{
    if (b->def->body_count == 1) {
        return strcmp(local, full) == 0;
    }
    const char *prefix = b->def->body[body].name;
    const size_t length = strlen(prefix);
    return strncmp(full, prefix, length) == 0 && full[length] == '.' && strcmp(full + length + 1, local) == 0;
}

// Accepts a half-built world.
static void world_clear(world *w)
{
    for (int i = 0; w->body && i < w->b->def->body_count; ++i) {
        pl_mesh_destroy(w->body[i].own);
        pl_free(w->body[i].kept);
    }

    for (int a = 0; w->wall && a < w->b->def->actuator_count; ++a) {
        pl_free(w->wall[a].face);
    }
    for (int32_t i = 0; i < w->surface_count; ++i) {
        pl_free(w->surface[i].name);
        pl_free(w->surface[i].face);
    }

    pl_free(w->surface);
    pl_free(w->wall);
    pl_free(w->body);
}

// Takes `name` and `face` over; a surface of that name is replaced.
static pl_status world_add_surface(world *w, char *name, int64_t *face, int64_t count)
{
    int32_t at = 0;
    while (name && at < w->surface_count && strcmp(w->surface[at].name, name) != 0) {
        ++at;
    }

    // name and face may be NULL after failed allocations of the caller
    if (!name || !face ||
        (at == w->surface_count &&
         !pl_grow((void **)&w->surface, &w->surface_room, at + 1, sizeof *w->surface))) {
        pl_free(name);
        pl_free(face);
        return robot_memory(w->b);
    }

    if (at < w->surface_count) {
        pl_free(w->surface[at].name);
        pl_free(w->surface[at].face);
    } else {
        ++w->surface_count;
    }

    w->surface[at] = (world_surface){name, face, count};

    return PL_OK;
}

pl_status robot_interface(const pl_mesh *mesh, const bool *inside, int64_t **face, int64_t *count,
                          pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    int64_t sides = 0;

    for (int32_t e = 0; e < v.element_count; ++e) {
        sides += inside[e] ? pl_element_face_count((pl_element_kind)v.kind[e]) : 0;
    }
    *face = PL_NEW_ARRAY(int64_t, sides);
    *count = 0;

    // faces by their sorted corners; -1 stands for the fourth corner of a triangle
    pl_table table;
    if (!*face || !pl_table_init(&table, 4, sides)) {
        pl_free(*face);
        *face = NULL;
        return pl_fail_memory(err, "the faces of a chamber");
    }

    // pass 0 stores the faces inside, pass 1 looks up those outside
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t e = 0; e < v.element_count; ++e) {
            const int n = inside[e] == (pass == 0) ? pl_element_face_count((pl_element_kind)v.kind[e]) : 0;

            for (int s = 0; s < n; ++s) {
                int32_t node[PL_FACE_NODES_MAX], key[4] = {-1, -1, -1, -1};
                const int nodes = pl_mesh_face_nodes(mesh, (int64_t)e * 8 + s, node);
                const int corners = nodes == 3 || nodes == 6 ? 3 : 4;
                memcpy(key + 4 - corners, node, (size_t)corners * sizeof *node);
                pl_sort_small(key, 4);
                if (pass == 0) {
                    pl_table_add(&table, key);
                } else if (pl_table_find(&table, key) >= 0) {
                    (*face)[(*count)++] = (int64_t)e * 8 + s;
                }
            }
        }
    }

    pl_table_clear(&table);

    return PL_OK;
}

// A region of chamber elements that was given no material is air: taken out, its walls seen from outside kept
// as a surface.
static bool world_is_hollow(const robot_build *b, int body, const char *region, int actuator)
{
    const pl_actuator_def *a = &b->def->actuator[actuator];
    const char *air = robot_air_name(a);

    if (!pl_actuator_traits_get(a->kind)->encloses || a->growth || !air ||
        !world_name_is(b, body, region, air)) {
        return false;
    }

    for (int r = 0; r < b->def->region_count; ++r) {
        if (strcmp(b->def->region[r].region, air) == 0) {
            return false;
        }
    }

    return true;
}

// The mesh without the marked elements and without their regions' names; kept[e] is the new number.
static pl_status world_without(robot_build *b, const pl_mesh *mesh, const bool *gone, world_body *out)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    uint8_t *kind = PL_NEW_ARRAY(uint8_t, v.element_count);
    int64_t *start = PL_NEW_ARRAY(int64_t, (int64_t)v.element_count + 1);
    int32_t *node = PL_NEW_ARRAY(int32_t, v.node_start[v.element_count]);
    int32_t *region = PL_NEW_ARRAY(int32_t, v.element_count);
    const char **name = PL_NEW_ARRAY(const char *, v.region_count);
    int32_t *number = PL_NEW_ARRAY(int32_t, v.region_count);

    out->kept = PL_NEW_ARRAY(int32_t, v.element_count);
    pl_status status = PL_OK;
    if (!kind || !start || !node || !region || !name || !number || !out->kept) {
        status = robot_memory(b);
    } else {
        // regions are numbered in the order in which remaining elements name them
        pl_mesh_def def = {.vertex_count = v.vertex_count, .position = v.position};
        for (int32_t r = 0; r < v.region_count; ++r) {
            number[r] = -1;
        }
        for (int32_t e = 0; e < v.element_count; ++e) {
            out->kept[e] = gone[e] ? -1 : def.element_count;
            if (gone[e]) {
                continue;
            }
            const int32_t r = v.region[e], k = def.element_count++;
            if (number[r] < 0) {
                number[r] = def.region_count;
                name[def.region_count++] = v.region_name[r];
            }

            kind[k] = v.kind[e];
            region[k] = number[r];
            start[k + 1] = start[k];
            for (int64_t a = v.node_start[e]; a < v.node_start[e + 1]; ++a) {
                node[start[k + 1]++] = v.node[a];
            }
        }

        // the mesh copies what it is given
        def.kind = kind;
        def.node_start = start;
        def.node = node;
        def.region = region;
        def.region_name = name;
        status = pl_mesh_create(&def, &out->own, NULL, b->err);
        out->mesh = out->own;
    }

    pl_free(kind);
    pl_free(start);
    pl_free(node);
    pl_free(region);
    pl_free(name);
    pl_free(number);

    return status;
}

// Remembers the air of each chamber of body i; `one` is scratch.
static pl_status world_fill(world *w, int i, const pl_mesh *mesh, const bool *gone, bool *one)
{
    robot_build *b = w->b;

    // number of the body's first vertex in the world
    const pl_mesh_view v = pl_mesh_get(mesh);
    int32_t offset = 0;

    for (int k = 0; k < i; ++k) {
        offset += pl_mesh_get(w->body[k].mesh).vertex_count;
    }

    pl_status status = PL_OK;
    for (int a = 0; status == PL_OK && a < b->def->actuator_count; ++a) {
        for (int32_t r = 0; status == PL_OK && r < v.region_count; ++r) {
            if (!world_is_hollow(b, i, v.region_name[r], a)) {
                continue;
            }
            for (int32_t e = 0; e < v.element_count; ++e) {
                one[e] = v.region[e] == r;
            }
            status = robot_fill_take(b, a, mesh, one, gone, offset, &b->def->body[i]);
        }
    }

    return status;
}

// Takes out the air of body i, and keeps the walls of each chamber as a surface in
// the numbering of the given mesh.
static pl_status world_hollow(world *w, int i, const pl_mesh *mesh)
{
    robot_build *b = w->b;
    const pl_mesh_view v = pl_mesh_get(mesh);
    bool *gone = PL_NEW_ARRAY(bool, v.element_count), *one = PL_NEW_ARRAY(bool, v.element_count);
    pl_status status = gone && one ? PL_OK : robot_memory(b);

    // all elements of chambers that are air
    bool any = false;

    for (int a = 0; status == PL_OK && a < b->def->actuator_count; ++a) {
        for (int32_t r = 0; status == PL_OK && r < v.region_count; ++r) {
            if (!world_is_hollow(b, i, v.region_name[r], a)) {
                continue;
            }
            for (int32_t e = 0; e < v.element_count; ++e) {
                one[e] = v.region[e] == r;
                gone[e] = gone[e] || one[e];
            }

            any = true;
            w->wall[a].body = i;
            status = robot_interface(mesh, one, &w->wall[a].face, &w->wall[a].count, b->err);
        }
    }

    // something must be left
    int32_t left = 0;
    for (int32_t e = 0; status == PL_OK && e < v.element_count; ++e) {
        left += !gone[e];
    }

    if (status == PL_OK && any && left == 0) {
        ROBOT_DEFECT(b, b->def->body[i].line, "body '%s' consists of chamber elements only",
                     b->def->body[i].name);
    } else if (status == PL_OK && any) {
        status = world_without(b, mesh, gone, &w->body[i]);
    }

    if (status == PL_OK && any && left > 0) {
        status = world_fill(w, i, mesh, gone, one);
    }
    pl_free(gone);
    pl_free(one);

    return status;
}

// Faces of a body's given mesh in the numbering of the world; -1 for elements taken out.
static int64_t world_face(const world_body *body, int64_t face)
{
    const int64_t e = face / 8, kept = body->kept ? body->kept[e] : e;
    return kept < 0 ? -1 : (kept + body->element_offset) * 8 + face % 8;
}

// Renumbers a list in place; faces of elements taken out are dropped.
static void world_renumber(const world_body *body, int64_t *face, int64_t *count)
{
    int64_t n = 0;
    for (int64_t k = 0; k < *count; ++k) {
        const int64_t f = world_face(body, face[k]);
        if (f >= 0) {
            face[n++] = f;
        }
    }

    *count = n;
}

// The surfaces the mesh of a body came with.
static pl_status world_own_surfaces(world *w, int i, const pl_mesh *mesh)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    for (int32_t s = 0; s < v.surface_count; ++s) {
        int64_t count = v.surface_start[s + 1] - v.surface_start[s];
        int64_t *face = PL_NEW_ARRAY(int64_t, count);
        if (face) {
            memcpy(face, v.surface_face + v.surface_start[s], (size_t)count * sizeof *face);
            world_renumber(&w->body[i], face, &count);
        }

        const pl_status status = world_add_surface(w, world_name(w->b, i, v.surface_name[s]), face, count);
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// The faces of body i in the surface that a support names: one that was picked by a box or a plane, or that
// the mesh came with. In the numbers of the body's mesh.
static pl_status world_support_faces(world *w, int i, const char *name, int64_t **face, int64_t *count)
{
    const world_body *body = &w->body[i];
    const int32_t elements = pl_mesh_get(body->mesh).element_count;

    *face = NULL;
    *count = 0;

    // picked: `seen_from` depends on the planes of symmetry, so it cannot define one
    for (int s = 0; s < w->b->def->surface_count; ++s) {
        const pl_surface_def *def = &w->b->def->surface[s];
        if (strcmp(def->name, name) == 0) {
            const bool other = def->body != i || def->pick.kind == PL_PICK_SEEN_FROM;
            return other ? PL_OK : pl_mesh_pick(body->mesh, &def->pick, face, count, NULL);
        }
    }

    // as the mesh came with it
    for (int32_t s = 0; s < w->surface_count; ++s) {
        const world_surface *surface = &w->surface[s];
        if (strcmp(surface->name, name) != 0) {
            continue;
        }
        *face = PL_NEW_ARRAY(int64_t, surface->count);

        for (int64_t k = 0; *face && k < surface->count; ++k) {
            const int64_t f = surface->face[k] - 8 * (int64_t)body->element_offset;
            if (f >= 0 && f < 8 * (int64_t)elements) {
                (*face)[(*count)++] = f;
            }
        }

        return *face ? PL_OK : PL_NO_MEMORY;
    }

    return PL_OK;
}

// The planes of symmetry of body i, in its own frame; `mirror` has one entry per support.
static pl_status world_mirrors(world *w, int i, pl_mirror *mirror, int *count)
{
    const pl_robot_def *def = w->b->def;
    *count = 0;
    for (int k = 0; k < def->fixed_count; ++k) {
        const pl_fixed_def *fixed = &def->fixed[k];
        int64_t *face = NULL, faces = 0;
        const bool here = fixed->surface || (fixed->has_box && (fixed->body == i || def->body_count == 1));
        if (fixed->surface && world_support_faces(w, i, fixed->surface, &face, &faces) == PL_NO_MEMORY) {
            return robot_memory(w->b);
        }
        *count += here && robot_mirror(w->b, i, w->body[i].mesh, fixed, face, faces, &mirror[*count]);
        pl_mesh_free_faces(face);
    }

    return PL_OK;
}

// One surface that the def picks on a body, in the body's own frame.
static pl_status world_pick(world *w, const pl_surface_def *def, pl_mirror *mirror)
{
    robot_build *b = w->b;
    const world_body *body = &w->body[def->body];
    int64_t *picked = NULL, count = 0;
    pl_pick pick = def->pick;
    pl_error err;
    pl_status status = PL_OK;

    // what is seen from a point depends on where the body continues behind its planes of symmetry
    if (pick.kind == PL_PICK_SEEN_FROM) {
        status = world_mirrors(w, def->body, mirror, &pick.mirror_count);
        pick.mirror = mirror;
    }

    if (status == PL_OK) {
        status = pl_mesh_pick(body->mesh, &pick, &picked, &count, &err);
    }
    if (status == PL_NO_MEMORY) {
        return robot_memory(b);
    }

    // nothing picked is a mistake; the extent of the body shows which
    if (status != PL_OK || count == 0) {
        double low[3], high[3];
        pl_mesh_bounds(body->mesh, low, high);
        ROBOT_DEFECT(b, def->line, "surface '%s' selects no face%s%s", def->name, status != PL_OK ? ": " : "",
                     status != PL_OK ? err.text : "");
        pl_findings_advise(b->findings, "the body extends from (%g, %g, %g) to (%g, %g, %g) mm", low[0],
                           low[1], low[2], high[0], high[1], high[2]);
        pl_mesh_free_faces(picked);
        return PL_OK;
    }

    // world numbering
    int64_t *face = PL_NEW_ARRAY(int64_t, count);
    for (int64_t k = 0; face && k < count; ++k) {
        face[k] = picked[k] + 8 * (int64_t)body->element_offset;
    }
    pl_mesh_free_faces(picked);

    return world_add_surface(w, pl_strdup(def->name), face, count);
}

// All surfaces of the def, in its order.
static pl_status world_picks(world *w)
{
    pl_mirror *mirror = PL_NEW_ARRAY(pl_mirror, w->b->def->fixed_count);
    pl_status status = mirror ? PL_OK : robot_memory(w->b);

    for (int s = 0; status == PL_OK && s < w->b->def->surface_count; ++s) {
        status = world_pick(w, &w->b->def->surface[s], mirror);
    }
    pl_free(mirror);
    return status;
}

static bool world_is_identity(const pl_body_def *body)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    return memcmp(body->rotation, I, sizeof I) == 0 && body->translation[0] == 0 &&
           body->translation[1] == 0 && body->translation[2] == 0;
}

// Appends one body, placed by x = R X + t, to the arrays of the world. These have room for all bodies.
static pl_status world_append(world *w, int i, pl_mesh_def *def, double *position, uint8_t *kind,
                              int64_t *start, int32_t *node, int32_t *region, char **region_name)
{
    const pl_body_def *body = &w->b->def->body[i];
    const pl_mesh_view v = pl_mesh_get(w->body[i].mesh);

    // vertices
    for (int32_t j = 0; j < v.vertex_count; ++j) {
        double *x = position + 3 * ((size_t)def->vertex_count + (size_t)j);
        pl_mulv3(body->rotation, v.position + 3 * (size_t)j, x);
        for (int c = 0; c < 3; ++c) {
            x[c] += body->translation[c];
        }
    }

    // elements, their regions and nodes numbered after those of the bodies before
    for (int32_t e = 0; e < v.element_count; ++e) {
        const int32_t k = def->element_count + e;
        kind[k] = v.kind[e];
        region[k] = def->region_count + v.region[e];
        start[k + 1] = start[k];
        for (int64_t a = v.node_start[e]; a < v.node_start[e + 1]; ++a) {
            node[start[k + 1]++] = def->vertex_count + v.node[a];
        }
    }

    for (int32_t r = 0; r < v.region_count; ++r) {
        char *name = world_name(w->b, i, v.region_name[r]);
        if (!name) {
            return robot_memory(w->b);
        }
        region_name[def->region_count++] = name;
    }

    w->body[i].element_offset = def->element_count;
    def->vertex_count += v.vertex_count;
    def->element_count += v.element_count;

    return PL_OK;
}

// All bodies in one mesh, without surfaces.
static pl_status world_merge(world *w, pl_mesh **out)
{
    robot_build *b = w->b;

    // sizes first
    int64_t vertices = 0, elements = 0, nodes = 0, regions = 0;

    for (int i = 0; i < b->def->body_count; ++i) {
        const pl_mesh_view v = pl_mesh_get(w->body[i].mesh);
        vertices += v.vertex_count;
        elements += v.element_count;
        nodes += v.node_start[v.element_count];
        regions += v.region_count;
    }

    if (vertices > INT32_MAX || elements > INT32_MAX) {
        return pl_fail(b->err, PL_BAD_INPUT, "the bodies have %lld vertices together, more than the limit",
                       (long long)vertices);
    }

    // one block per array, filled body by body
    double *position = PL_NEW_ARRAY(double, 3 * vertices);
    uint8_t *kind = PL_NEW_ARRAY(uint8_t, elements);
    int64_t *start = PL_NEW_ARRAY(int64_t, elements + 1);
    int32_t *node = PL_NEW_ARRAY(int32_t, nodes), *region = PL_NEW_ARRAY(int32_t, elements);
    char **name = PL_NEW_ARRAY(char *, regions);
    pl_mesh_def def = {0};
    pl_status status = position && kind && start && node && region && name ? PL_OK : robot_memory(b);
    for (int i = 0; status == PL_OK && i < b->def->body_count; ++i) {
        status = world_append(w, i, &def, position, kind, start, node, region, name);
    }

    if (status == PL_OK) {
        def.position = position;
        def.kind = kind;
        def.node_start = start;
        def.node = node;
        def.region = region;
        def.region_name = (const char *const *)name;
        status = pl_mesh_create(&def, out, NULL, b->err);
    }

    for (int32_t r = 0; name && r < def.region_count; ++r) {
        pl_free(name[r]);
    }
    pl_free(position);
    pl_free(kind);
    pl_free(start);
    pl_free(node);
    pl_free(region);
    pl_free(name);

    return status;
}

// Hands all collected surfaces to the mesh.
static pl_status world_finish(world *w, const pl_mesh *base, pl_mesh **out)
{
    int64_t total = 0;
    for (int32_t s = 0; s < w->surface_count; ++s) {
        total += w->surface[s].count;
    }

    const char **name = PL_NEW_ARRAY(const char *, w->surface_count);
    int64_t *start = PL_NEW_ARRAY(int64_t, (int64_t)w->surface_count + 1),
            *face = PL_NEW_ARRAY(int64_t, total);
    pl_status status = name && start && face ? PL_OK : robot_memory(w->b);
    if (status == PL_OK) {
        for (int32_t s = 0; s < w->surface_count; ++s) {
            name[s] = w->surface[s].name;
            memcpy(face + start[s], w->surface[s].face, (size_t)w->surface[s].count * sizeof *face);
            start[s + 1] = start[s] + w->surface[s].count;
        }

        status = pl_mesh_with_surfaces(base, w->surface_count, name, start, face, out, w->b->err);
    }

    pl_free(name);
    pl_free(start);
    pl_free(face);

    return status;
}

// Walls of chambers get the name of their region.
static pl_status world_walls(world *w)
{
    for (int a = 0; a < w->b->def->actuator_count; ++a) {
        world_wall *wall = &w->wall[a];
        if (!wall->face) {
            continue;
        }
        world_renumber(&w->body[wall->body], wall->face, &wall->count);
        w->b->hollow[a] = true;
        const pl_status status =
            world_add_surface(w, pl_strdup(robot_air_name(&w->b->def->actuator[a])), wall->face, wall->count);
        wall->face = NULL; // handed over
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// Later surfaces replace earlier ones of the same name: those of the meshes, walls of chambers, picks.
static pl_status world_surfaces(world *w, const pl_mesh *const *mesh)
{
    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < w->b->def->body_count; ++i) {
        status = world_own_surfaces(w, i, mesh[i]);
    }
    if (status == PL_OK) {
        status = world_walls(w);
    }

    return status == PL_OK ? world_picks(w) : status;
}

// The mesh is owned by the robot.
pl_status robot_world_mesh(robot_build *b, const pl_mesh *const *mesh)
{
    world w = {.b = b,
               .body = PL_NEW_ARRAY(world_body, b->def->body_count),
               .wall = PL_NEW_ARRAY(world_wall, b->def->actuator_count)};
    pl_status status = w.body && w.wall ? PL_OK : robot_memory(b);

    // air out first: everything after it counts the elements that remain
    for (int i = 0; status == PL_OK && i < b->def->body_count; ++i) {
        w.body[i].mesh = mesh[i];
        status = world_hollow(&w, i, mesh[i]);
    }

    // one body in its place needs no copy
    pl_mesh *merged = NULL;
    const bool plain = b->def->body_count == 1 && world_is_identity(&b->def->body[0]);
    if (status == PL_OK && !plain) {
        status = world_merge(&w, &merged);
    }

    // frames of free bodies come last, so that numbers of elements stay
    if (status == PL_OK && robot_free_count(b) > 0) {
        pl_mesh *framed = NULL;
        status = robot_free_frames(b, merged ? merged : w.body[0].mesh, &framed);
        pl_mesh_destroy(merged);
        merged = framed;
    }

    // surfaces refer to the final numbers
    if (status == PL_OK) {
        status = world_surfaces(&w, mesh);
    }
    if (status == PL_OK) {
        status = world_finish(&w, merged ? merged : w.body[0].mesh, &b->robot->mesh);
    }
    pl_mesh_destroy(merged);
    world_clear(&w);

    return status;
}
