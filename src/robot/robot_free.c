// Free rigid bodies: obstacles that nothing but contact and friction holds. Each has a frame, one rigid
// tetrahedron inside of it whose centroid is its centre of mass and which carries its mass. The vertices of
// the frame are unknowns like those of any rigid region, so the pose of the body is part of every shape.
#include "robot/robot_impl.h"

#define FREE_INSIDE 0.5 // of the smallest half extent: distance of the frame's corners from its centroid

// Volume, centre and size of a free body; 1 where the shape has none, so that a wrong file is reported, not
// divided by.
static robot_extent free_extent(const pl_obstacle_def *def)
{
    robot_extent s = {0};
    memcpy(s.centre, def->point, sizeof s.centre);
    const robot_obstacle_row *kind = robot_obstacle_kind(def->kind);
    if (kind->measure) {
        kind->measure(def, &s);
    }
    s.size = s.size > 0 && isfinite(s.size) ? s.size : 1;
    s.volume = s.volume > 0 ? s.volume : 1;

    return s;
}

// Distance of the corners of the frame from its centroid.
static double free_radius(const robot_extent *s)
{
    return FREE_INSIDE * s->size;
}

// Number of free bodies.
int robot_free_count(const robot_build *b)
{
    int count = 0;
    for (int i = 0; b->def->contact.given && i < b->def->contact.obstacle_count; ++i) {
        count += b->def->contact.obstacle[i].free;
    }
    return count;
}

// Name of the frame's region; owned by the caller, NULL without memory.
static char *free_name(const char *obstacle)
{
    pl_text text = {0};
    pl_text_add(&text, "%s (free)", obstacle);
    if (text.failed) {
        pl_text_clear(&text);
    }
    return text.data;
}

// Appends the frames to the arrays of a mesh.
static pl_status free_append(robot_build *b, pl_mesh_def *def, double *position, uint8_t *kind,
                             int64_t *start, int32_t *node, int32_t *region, char **name)
{
    // corners of a regular tetrahedron in the unit ball, positively oriented
    static const double corner[4][3] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
    for (int i = 0; i < b->def->contact.obstacle_count; ++i) {
        const pl_obstacle_def *o = &b->def->contact.obstacle[i];
        if (!o->free) {
            continue;
        }
        const robot_extent s = free_extent(o);
        const int32_t e = def->element_count++;
        kind[e] = PL_TET4;
        region[e] = def->region_count;
        start[e + 1] = start[e] + 4;

        for (int a = 0; a < 4; ++a) {
            node[start[e] + a] = def->vertex_count;
            for (int c = 0; c < 3; ++c) {
                position[3 * (size_t)def->vertex_count + (size_t)c] =
                    s.centre[c] + free_radius(&s) / sqrt(3.0) * corner[a][c];
            }

            ++def->vertex_count;
        }

        name[def->region_count] = free_name(o->name);
        if (!name[def->region_count++]) {
            return robot_memory(b);
        }
    }

    return PL_OK;
}

// A copy of `mesh` with one tet per free body appended; surfaces are added later,
// because they refer to the final mesh.
pl_status robot_free_frames(robot_build *b, const pl_mesh *mesh, pl_mesh **out)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t more = robot_free_count(b), nodes = v.node_start[v.element_count];
    double *position = PL_NEW_ARRAY(double, 3 * (v.vertex_count + 4 * more));
    uint8_t *kind = PL_NEW_ARRAY(uint8_t, v.element_count + more);
    int64_t *start = PL_NEW_ARRAY(int64_t, v.element_count + more + 1);
    int32_t *node = PL_NEW_ARRAY(int32_t, nodes + 4 * more),
            *region = PL_NEW_ARRAY(int32_t, v.element_count + more);
    char **name = PL_NEW_ARRAY(char *, v.region_count + more);
    pl_status status = position && kind && start && node && region && name ? PL_OK : robot_memory(b);
    pl_mesh_def def = {.vertex_count = v.vertex_count, .element_count = v.element_count};

    // the mesh as it is
    if (status == PL_OK) {
        memcpy(position, v.position, 3 * (size_t)v.vertex_count * sizeof *position);
        memcpy(kind, v.kind, (size_t)v.element_count * sizeof *kind);
        memcpy(start, v.node_start, ((size_t)v.element_count + 1) * sizeof *start);
        memcpy(node, v.node, (size_t)nodes * sizeof *node);
        memcpy(region, v.region, (size_t)v.element_count * sizeof *region);
        for (; status == PL_OK && def.region_count < v.region_count; ++def.region_count) {
            name[def.region_count] = pl_strdup(v.region_name[def.region_count]);
            status = name[def.region_count] ? PL_OK : robot_memory(b);
        }
    }

    if (status == PL_OK) {
        status = free_append(b, &def, position, kind, start, node, region, name);
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

    // names allocated so far
    for (int32_t r = 0; name && r < v.region_count + more; ++r) {
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

// Frames are the last regions of the mesh, in the order of the obstacles.
int32_t robot_free_region(const robot_build *b, int obstacle)
{
    if (!b->def->contact.given || !b->def->contact.obstacle[obstacle].free) {
        return -1;
    }

    int32_t region = pl_mesh_get(b->robot->mesh).region_count - robot_free_count(b);
    for (int i = 0; i < obstacle; ++i) {
        region += b->def->contact.obstacle[i].free;
    }

    return region;
}

// A material per frame, of the density that gives the mass.
pl_status robot_free_materials(robot_build *b)
{
    pl_robot *robot = b->robot;
    for (int i = 0; robot_free_count(b) > 0 && i < b->def->contact.obstacle_count; ++i) {
        const pl_obstacle_def *o = &b->def->contact.obstacle[i];
        const int32_t region = robot_free_region(b, i);
        if (region < 0) {
            continue;
        }
        const double mass = o->mass > 0 ? o->mass : o->density * free_extent(o).volume;
        const int m = robot->material_count++;
        robot->material[m] = (pl_material){.model = PL_LINEAR,
                                           .young = 1,
                                           .formulation = PL_DISPLACEMENT,
                                           .density = mass / pl_mesh_region_volume(robot->mesh, region)};
        robot->material_name[m] = free_name(o->name);
        robot->region_material[region] = m;
        if (!robot->material_name[m]) {
            return robot_memory(b);
        }
    }

    return PL_OK;
}

// The frames as rigid regions.
pl_status robot_free_rigids(robot_build *b)
{
    for (int i = 0; robot_free_count(b) > 0 && i < b->def->contact.obstacle_count; ++i) {
        const int32_t region = robot_free_region(b, i);
        if (region < 0) {
            continue;
        }
        pl_rigid *rigid = &b->robot->rigid[b->robot->rigid_count++];
        rigid->free = true;
        rigid->name = free_name(b->def->contact.obstacle[i].name);
        robot_mark_region(b, region);
        const pl_status status =
            rigid->name ? robot_take_marks(b, &rigid->node, &rigid->node_count) : robot_memory(b);
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// The frame is a regular tetrahedron with corners r d_a around its centroid: sum_a d_a d_a^T = 4/3 I, so the
// rotation is R = 3/4 sum_a x_a X_a^T / r^2 of positions relative to the centroids, where it moved rigidly.
void pl_frame_pose(const pl_obstacle *o, const double *X, const double *x, pl_pose *out)
{
    double square = 0;
    memset(out, 0, sizeof *out);

    // centroids
    for (int a = 0; a < 4; ++a) {
        for (int i = 0; i < 3; ++i) {
            out->centre[i] += 0.25 * x[3 * (size_t)o->frame[a] + (size_t)i];
            out->rest[i] += 0.25 * X[3 * (size_t)o->frame[a] + (size_t)i];
        }
    }

    // 3/4 sum d D^T and r^2 = sum D . D / 4
    for (int a = 0; a < 4; ++a) {
        double d[3], D[3];
        pl_sub3(x + 3 * (size_t)o->frame[a], out->centre, d);
        pl_sub3(X + 3 * (size_t)o->frame[a], out->rest, D);
        square += 0.25 * pl_dot3(D, D);
        for (int i = 0; i < 9; ++i) {
            out->R[i] += 0.75 * d[i / 3] * D[i % 3];
        }
    }

    for (int i = 0; i < 9; ++i) {
        out->R[i] /= square;
    }
}

// Mass (t), frame and pull of a free body; nothing for obstacles that are fixed or moved by a command.
void robot_free_obstacle(const robot_build *b, int i, pl_obstacle *o)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    const pl_obstacle_def *def = &b->def->contact.obstacle[i];
    const int32_t region = robot_free_region(b, i);

    if (region < 0) {
        return;
    }

    const robot_extent s = free_extent(def);
    o->free = true;
    o->pulled = def->pulled;
    memcpy(o->pull, def->pull, sizeof o->pull);
    o->mass = def->mass > 0 ? def->mass : def->density * s.volume;
    o->size = s.size;
    memcpy(o->second, s.second, sizeof o->second);

    // frames are the last elements of the mesh
    for (int32_t e = v.element_count - 1; e >= 0 && v.region[e] >= region; --e) {
        if (v.region[e] == region) {
            memcpy(o->frame, v.node + v.node_start[e], sizeof o->frame);
        }
    }
}
