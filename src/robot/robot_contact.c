// Contact: obstacles, bodies that may touch, and the points of the surface where contact is judged.
#include <stdio.h>
#include "base/rotation.h"
#include "robot/robot_impl.h"

#define CONTACT_FEATURES 0.5 // of the edge: distance between features
#define CONTACT_PLANE 1e-6   // of a unit normal: across it in a plane of symmetry, whose vertices are rounded

void robot_contact_clear(pl_robot_contact *c)
{
    for (int i = 0; c->obstacle && i < c->obstacle_count; ++i) {
        pl_free(c->obstacle[i].name);
        pl_shape_clear(&c->obstacle[i].shape);
    }

    for (int i = 0; c->body_name && i < c->body_count; ++i) {
        pl_free(c->body_name[i]);
    }
    pl_free(c->obstacle);
    pl_free(c->body_name);
    pl_free(c->region_body);
    pl_free(c->feature);
    pl_free(c->feature_first);
    pl_free(c->held);
    pl_contact_surface_destroy(c->surface);
    *c = (pl_robot_contact){0};
}

static pl_status contact_obstacle(robot_build *b, const pl_obstacle_def *def, pl_obstacle *o)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    *o = (pl_obstacle){
        .name = pl_strdup(def->name),
        .shape = {.kind = (pl_shape_kind)def->kind, .radius = def->radius, .hollow = def->hollow},
        .moves = def->moves,
        .has_range = def->has_range,
        .command = -1,
        .friction = def->friction >= 0 ? def->friction : b->def->contact.friction};
    robot_free_obstacle(b, (int)(def - b->def->contact.obstacle), o);
    if (!o->name) {
        return robot_memory(b);
    }

    // motion, place
    memcpy(o->move, def->move, sizeof o->move);
    memcpy(o->range, def->range, sizeof o->range);
    memcpy(o->shape.centre, def->point, sizeof o->shape.centre);
    memcpy(o->shape.frame, identity, sizeof identity);

    return robot_obstacle_kind(def->kind)->place(b, def, &o->shape);
}

// Bodies by the first part of the names of their regions, `body.region`; one body: all.
static pl_status contact_bodies(robot_build *b, pl_robot_contact *c)
{
    // frames of free bodies are regions of the mesh, too, but no surfaces to touch
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    c->region_body = PL_NEW_ARRAY(int32_t, v.region_count);
    c->body_name = PL_NEW_ARRAY(char *, b->def->body_count);
    if (!c->region_body || !c->body_name) {
        return robot_memory(b);
    }

    for (int i = 0; i < b->def->body_count; ++i) {
        c->body_name[c->body_count++] = pl_strdup(b->def->body[i].name ? b->def->body[i].name : "body");
        if (!c->body_name[i]) {
            return robot_memory(b);
        }
    }

    // frames of free bodies
    for (int i = 0; i < b->def->contact.obstacle_count; ++i) {
        if (robot_free_region(b, i) >= 0) {
            c->region_body[robot_free_region(b, i)] = -1; // the frame is no surface
            ++c->free_count;
        }
    }

    // regions of several bodies carry the body's name
    for (int32_t r = 0; c->body_count > 1 && r < v.region_count - c->free_count; ++r) {
        for (int i = 0; i < c->body_count; ++i) {
            const size_t length = strlen(c->body_name[i]);
            if (strncmp(v.region_name[r], c->body_name[i], length) == 0 && v.region_name[r][length] == '.') {
                c->region_body[r] = i;
            }
        }
    }

    return PL_OK;
}

// The deepest point of the undeformed body in an obstacle, or of the obstacle in the body.
static pl_overlap contact_overlap_at_rest(const pl_robot_contact *c, const pl_shape *shape, const double *x)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0};

    // points of the body in the obstacle are not enough: a large face may contain a small obstacle
    pl_overlap deepest = pl_contact_overlap(c->surface, x, shape, identity, origin, PL_CONTACT_OVERLAP);

    for (int32_t p = 0; p < c->surface->point_count; ++p) {
        double at[3], n[3];
        pl_contact_point_at(c->surface, p, x, at);
        const double depth = -pl_shape_gap(shape, at, 0, n, NULL);
        if (depth > deepest.depth) {
            deepest = (pl_overlap){.depth = depth, .face = c->surface->home[p]};
            memcpy(deepest.place, at, sizeof at);
        }
    }

    return deepest;
}

// Obstacles that overlap the undeformed body: a little of it is a preload, which contact pushes out.
static void contact_check_overlap(robot_build *b, const pl_robot_contact *c)
{
    const double *x = pl_mesh_get(b->robot->mesh).position;
    for (int i = 0; i < c->obstacle_count; ++i) {
        const pl_shape *shape = &c->obstacle[i].shape;
        const pl_overlap found = contact_overlap_at_rest(c, shape, x);
        // round-off of coordinates is no overlap
        if (found.face < 0 || found.depth <= 1e-6 * b->size) {
            continue;
        }
        const double preload = pl_contact_overlap_limit(c->surface, found.face, shape, ROBOT_PRELOAD);
        ROBOT_FIND(b, found.depth > preload ? PL_DEFECT : PL_WARNING, b->def->contact.obstacle[i].line,
                   "obstacle '%s' and the undeformed body overlap by %.3g mm at (%.4g, %.4g, %.4g)%s",
                   c->obstacle[i].name, found.depth, found.place[0], found.place[1], found.place[2],
                   found.depth > preload ? ": it stands inside" : "");
        pl_findings_advise(b->findings, "move the obstacle, or give it a command to approach with");
    }
}

// A ball (centre, radius) around the undeformed surface and half its size beyond. Its centre is the mean over
// the area: it moves with the body, whatever the frame.
static void contact_ball(const pl_contact_surface *s, const double *x, double ball[4])
{
    double at[3], whole = 0;
    memset(ball, 0, 4 * sizeof *ball);
    for (int32_t p = 0; p < s->point_count; ++p) {
        pl_contact_point_at(s, p, x, at);
        for (int i = 0; i < 3; ++i) {
            ball[i] += s->area[p] * at[i];
        }
        whole += s->area[p];
    }

    for (int i = 0; i < 3; ++i) {
        ball[i] /= whole;
    }
    for (int32_t p = 0; p < s->point_count; ++p) {
        pl_contact_point_at(s, p, x, at);
        ball[3] = fmax(ball[3], 2 * pl_distance3(ball, at));
    }
}

// Faces that supports hold along their normal: clamped ones meet nothing, and those in a plane of symmetry
// are no surface of the body. The mean edge of the faces that no support holds as a whole.
static pl_status contact_held(robot_build *b, pl_robot_contact *c)
{
    const pl_contact_surface *s = c->surface;
    const double *x = pl_mesh_get(b->robot->mesh).position;
    uint8_t *axes = PL_NEW_ARRAY(uint8_t, s->vertex_count); // bit i: along axis i
    double sum[2] = {0};
    int32_t count[2] = {0};

    c->held = PL_NEW_ARRAY(bool, s->face_count);
    if (!axes || !c->held) {
        pl_free(axes);
        return robot_memory(b);
    }

    for (int i = 0; i < b->robot->support_count; ++i) {
        const pl_support *support = &b->robot->support[i];
        const uint8_t own = (uint8_t)(support->axis[0] | support->axis[1] << 1 | support->axis[2] << 2);
        for (int32_t k = 0; k < support->node_count; ++k) {
            axes[support->node[k]] |= own;
        }
    }

    for (int32_t f = 0; f < s->face_count; ++f) {
        const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)f;
        uint8_t common = 7;
        bool whole = true;
        double n[3];

        for (int k = 0; k < s->size[f]; ++k) {
            whole = whole && axes[node[k]] != 0;
            common &= axes[node[k]];
        }
        sum[whole] += s->edge[f];
        count[whole]++;

        pl_contact_normal(s, f, -1, x, n);
        c->held[f] = common != 0;
        for (int i = 0; i < 3; ++i) {
            c->held[f] = c->held[f] && (common >> i & 1 || fabs(n[i]) < CONTACT_PLANE);
        }
    }

    pl_free(axes);
    c->edge = count[0] > 0 ? sum[0] / count[0] : sum[1] / count[1];

    return PL_OK;
}

// Features of obstacles, half an edge of the body's faces apart or less.
static pl_status contact_features(robot_build *b, pl_robot_contact *c)
{
    double ball[4];
    contact_ball(c->surface, pl_mesh_get(b->robot->mesh).position, ball);
    const pl_status status = contact_held(b, c);
    if (status != PL_OK) {
        return status;
    }
    const double edge = c->edge;

    // counted first, then stored
    c->feature_first = PL_NEW_ARRAY(int32_t, c->obstacle_count + 1);
    for (int pass = 0; c->feature_first && pass < 2; ++pass) {
        for (int o = 0; o < c->obstacle_count; ++o) {
            pl_feature *out = pass == 1 ? c->feature + c->feature_first[o] : NULL;
            const int count = pl_shape_features(&c->obstacle[o].shape, CONTACT_FEATURES * edge,
                                                c->obstacle[o].free ? INFINITY : edge, ball, out);
            c->feature_first[o + 1] = c->feature_first[o] + count;
        }

        c->feature = pass == 0 ? PL_NEW_ARRAY(pl_feature, c->feature_first[c->obstacle_count]) : c->feature;
        if (!c->feature) {
            break;
        }
    }

    return c->feature_first && c->feature ? PL_OK : robot_memory(b);
}

// Obstacles, bodies, surface points and features. Nothing to do without `contact` or after
// defects: places would be wrong.
pl_status robot_contact(robot_build *b)
{
    const pl_contact_def *def = &b->def->contact;
    pl_robot_contact *c = &b->robot->contact;

    if (!def->given || robot_has_defects(b)) {
        return PL_OK;
    }
    c->given = true;
    c->self = def->self;
    c->obstacle = PL_NEW_ARRAY(pl_obstacle, def->obstacle_count);
    pl_status status = c->obstacle ? contact_bodies(b, c) : robot_memory(b);
    for (int i = 0; status == PL_OK && i < def->obstacle_count; ++i) {
        status = contact_obstacle(b, &def->obstacle[i], &c->obstacle[c->obstacle_count++]);
        c->friction = c->friction || c->obstacle[i].friction > 0;
    }

    // bodies touch each other, or themselves where asked for
    c->pairs = c->self || c->body_count > 1;
    c->pair_friction = c->pairs ? def->friction : 0;
    c->friction = c->friction || c->pair_friction > 0;
    if (status != PL_OK || robot_has_defects(b) || (!c->pairs && c->obstacle_count == 0)) {
        return status;
    }

    // where contact is evaluated, and whether it holds at rest
    status = pl_contact_surface_create(b->robot->mesh, c->region_body, &c->surface, b->err);
    if (status == PL_OK) {
        status = contact_features(b, c);
    }
    if (status == PL_OK) {
        contact_check_overlap(b, c);
    }
    if (status == PL_OK && c->body_count > 1) {
        robot_check_bodies(b, c);
    }

    return status;
}

// Writes the overlap of obstacle i, posed by R and t, to `fault` if it is accepted no more and deeper
// than what `fault` already holds.
void pl_robot_obstacle_overlap(const pl_robot *robot, int i, const double R[9], const double t[3],
                               const double *x, pl_contact_fault *fault)
{
    const pl_contact_surface *s = robot->contact.surface;
    const pl_obstacle *o = &robot->contact.obstacle[i];
    const pl_overlap found = pl_contact_overlap(s, x, &o->shape, R, t, PL_CONTACT_OVERLAP);

    if (found.face < 0 || (fault->obstacle && found.depth <= fault->depth)) {
        return;
    }

    const double accepted = pl_contact_overlap_limit(s, found.face, &o->shape, PL_CONTACT_OVERLAP);
    if (found.depth > accepted) {
        fault->obstacle = o->name;
        fault->depth = found.depth;
        fault->accepted = accepted;
        fault->edge = s->edge[found.face];
        memcpy(fault->place, found.place, sizeof fault->place);
    }
}

void pl_contact_fault_text(const pl_contact_fault *fault, char *text, size_t size)
{
    snprintf(text, size,
             "the obstacle '%s' overlaps the body by %.3g mm at %.4g, %.4g, %.4g mm (accepted: %.2g mm); "
             "elements of %.2g mm do not resolve this contact",
             fault->obstacle, fault->depth, pl_tidy(fault->place[0]), pl_tidy(fault->place[1]),
             pl_tidy(fault->place[2]), fault->accepted, fault->edge);
}

// Numbers of contact in a state: per surface point a multiplier and, with friction, its anchor and force for
// every obstacle; per slot of a feature the same for the face it acts on.
int64_t pl_robot_contact_numbers(const pl_robot *robot)
{
    const pl_robot_contact *c = &robot->contact;
    const int64_t points = c->surface ? c->surface->point_count : 0;
    const int64_t slots = c->feature_first ? PL_FEATURE_FACES * c->feature_first[c->obstacle_count] : 0;
    const int64_t rough = points * (c->obstacle_count + (c->pair_friction > 0)) + slots;
    return points * (c->obstacle_count + c->pairs) + 8 * slots + (c->friction ? 7 * rough : 0) +
           (c->pair_friction > 0 ? 2 * points : 0) + (c->free_count > 0) * 5 * c->obstacle_count;
}

// All that changes answers: shapes, motions, friction.
uint64_t robot_contact_hash(const pl_robot_contact *c, uint64_t h)
{
    for (int i = 0; i < c->obstacle_count; ++i) {
        const pl_obstacle *o = &c->obstacle[i];
        const double number[] = {o->shape.kind, o->shape.radius, o->shape.hollow, o->moves, o->friction};
        h = pl_hash_bytes(h, o->name, strlen(o->name));
        h = pl_hash_bytes(h, number, sizeof number);
        h = pl_hash_bytes(h, o->shape.centre, sizeof o->shape.centre);
        h = pl_hash_bytes(h, o->shape.frame, sizeof o->shape.frame);
        h = pl_hash_bytes(h, o->shape.half, sizeof o->shape.half);
        h = pl_hash_bytes(h, o->move, sizeof o->move);
        if (o->free) {
            const double body[] = {o->mass, o->pulled, o->pull[0], o->pull[1], o->pull[2]};
            h = pl_hash_bytes(h, body, sizeof body);
        }

        h = pl_hash_bytes(h, o->shape.surface.position,
                          3 * (size_t)o->shape.surface.vertex_count * sizeof(double));
        h = pl_hash_bytes(h, o->shape.surface.corner,
                          3 * (size_t)o->shape.surface.triangle_count * sizeof(int32_t));
    }

    if (c->pair_friction > 0) {
        h = pl_hash_bytes(h, &c->pair_friction, sizeof c->pair_friction);
    }

    const int flags[2] = {c->self, c->pairs};
    return c->given ? pl_hash_bytes(h, flags, sizeof flags) : h;
}

// ---- looking at it
bool pl_robot_has_contact(const pl_robot *robot)
{
    return robot->contact.surface != NULL;
}

bool pl_robot_has_self_contact(const pl_robot *robot)
{
    return robot->contact.surface != NULL && robot->contact.pairs;
}

int pl_robot_obstacle_count(const pl_robot *robot)
{
    return robot->contact.obstacle_count;
}

static const pl_obstacle *contact_get(const pl_robot *robot, int i)
{
    return i >= 0 && i < robot->contact.obstacle_count ? &robot->contact.obstacle[i] : NULL;
}

const char *pl_robot_obstacle_name(const pl_robot *robot, int i)
{
    const pl_obstacle *o = contact_get(robot, i);
    return o ? o->name : NULL;
}

const char *pl_robot_obstacle_kind(const pl_robot *robot, int i)
{
    const pl_obstacle *o = contact_get(robot, i);
    return o ? robot_obstacle_kind((pl_obstacle_kind)o->shape.kind)->name : NULL;
}

double pl_robot_obstacle_friction(const pl_robot *robot, int i)
{
    const pl_obstacle *o = contact_get(robot, i);
    return o ? o->friction : 0;
}

// mm: how far the command has moved obstacle i; 0 for an idle command.
void pl_robot_obstacle_offset(const pl_robot *robot, int i, const double *command, double offset[3])
{
    const pl_obstacle *o = contact_get(robot, i);
    const double value =
        o && o->command >= 0 && command && !isnan(command[o->command]) ? command[o->command] : 0;
    for (int k = 0; k < 3; ++k) {
        offset[k] = o ? value * o->move[k] : 0;
    }
}

bool pl_robot_obstacle_is_free(const pl_robot *robot, int i)
{
    const pl_obstacle *o = contact_get(robot, i);
    return o && o->free;
}

// Pose relative to rest, y = R x + t. Free bodies have theirs from their frame's vertices: t = c - R c0.
void pl_robot_obstacle_pose(const pl_robot *robot, int i, const double *command, const double *x,
                            double rotation[9], double translation[3])
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const pl_obstacle *o = contact_get(robot, i);

    memcpy(rotation, identity, sizeof identity);
    if (!o || !o->free) {
        pl_robot_obstacle_offset(robot, i, command, translation);
        return;
    }

    memset(translation, 0, 3 * sizeof *translation);
    if (x) {
        double turned[3];
        pl_pose pose;
        pl_frame_pose(o, pl_mesh_get(robot->mesh).position, x, &pose);
        memcpy(rotation, pose.R, sizeof pose.R);
        pl_mulv3(pose.R, pose.rest, turned);
        pl_sub3(pose.centre, turned, translation);
    }
}

int pl_robot_obstacle_triangles(const pl_robot *robot, int i, const double near[3], double size, double *out)
{
    const pl_obstacle *o = contact_get(robot, i);
    return o ? pl_shape_triangles(&o->shape, near, size, out) : 0;
}

// mm, negative inside; at the obstacle's place for these commands.
double pl_robot_obstacle_distance(const pl_robot *robot, int i, const double *command, const double point[3])
{
    const pl_obstacle *o = contact_get(robot, i);
    double offset[3], at[3], n[3];
    pl_robot_obstacle_offset(robot, i, command, offset);
    pl_sub3(point, offset, at);
    return o ? pl_shape_gap(&o->shape, at, INFINITY, n, NULL) : INFINITY;
}
