// Contact against closed forms: a soft ball between two rigid planes (Hertz);
// and random poses of a cable-driven finger against random obstacles, each answer judged independently
// for penetration, crossing surfaces and balance of forces.
//   contact [poses]
#include "../tests/box_mesh.h"
#include "mesh/mesh.h"
#include "validate.h"

#define PI 3.14159265358979323846

typedef struct contact_rig {
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
} contact_rig;

static double contact_reading(contact_rig *r, const char *name, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.name, name) == 0 && strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }
    return NAN;
}

static void contact_clear(contact_rig *r)
{
    pl_statics_destroy(r->statics);
    pl_state_destroy(r->state);
    pl_robot_destroy(r->robot);
    *r = (contact_rig){0};
}

static bool contact_build(const pl_robot_def *def, const pl_mesh *mesh, contact_rig *r)
{
    pl_error err = {0};
    const pl_mesh *const meshes[] = {mesh};
    const pl_statics_options options = pl_statics_options_default();
    pl_findings *findings = pl_findings_create();
    *r = (contact_rig){0};
    const bool good = pl_robot_create(def, meshes, &r->robot, findings, &err) == PL_OK &&
                      pl_statics_create(r->robot, &options, &r->statics, &err) == PL_OK &&
                      pl_state_create(r->robot, &r->state, &err) == PL_OK;
    if (!good) {
        printf("%s\n", err.text);
    }
    pl_findings_destroy(findings);
    return good;
}

// ---- an eighth of a ball
// The unit cube, finer towards its corner (0, 0, 1), mapped onto x, y, z >= 0 of a ball: y = R x |x|max /
// |x|.
static pl_mesh *ball_mesh(int n, double radius, double grading)
{
    const double size[3] = {1, 1, 1};
    pl_error err = {0};
    pl_mesh *cube = NULL, *raised = NULL, *out = NULL;
    if (box_mesh(n, n, n, size, NULL, NULL, &cube, &err) != PL_OK ||
        pl_mesh_raise(cube, &raised, &err) != PL_OK) {
        return NULL;
    }
    const pl_mesh_view v = pl_mesh_get(raised);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * (size_t)i;
        double q[3] = {pow(p[0], grading), pow(p[1], grading), 1 - pow(1 - p[2], grading)};
        const double most = fmax(q[0], fmax(q[1], q[2])),
                     length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
        for (int k = 0; k < 3; ++k) {
            x[3 * (size_t)i + (size_t)k] = length > 0 ? radius * q[k] * most / length : 0;
        }
    }
    if (pl_mesh_moved(raised, x, &out, &err) != PL_OK) {
        printf("%s\n", err.text);
    }
    free(x);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(cube);
    return out;
}

static pl_surface_def contact_plane(const char *name, int axis, double at)
{
    pl_surface_def s = {.name = name, .pick = {.kind = PL_PICK_PLANE}};
    s.pick.point[axis] = at;
    s.pick.normal[axis] = 1;
    return s;
}

static pl_robot_def contact_def(pl_body_def *body, pl_material_def *material, pl_region_def *region)
{
    *body = (pl_body_def){.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    *region = (pl_region_def){.region = "body", .material = material->name};
    return (pl_robot_def){.name = "contact",
                          .body = body,
                          .body_count = 1,
                          .material = material,
                          .material_count = 1,
                          .region = region,
                          .region_count = 1};
}

// Hertz: F = 4/3 E / (1 - v^2) R^(1/2) d^(3/2), for d small against R; each half of the ball against its
// plane.
static void hertz(validate_table *t)
{
    const double R = 10, E = 0.3, v = 0.49;
    pl_mesh *mesh = ball_mesh(10, R, 1.6);
    pl_material_def material = {.name = "silicone",
                                .material = {.model = PL_LINEAR, .young = E, .poisson = v}};
    pl_body_def body;
    pl_region_def region;
    pl_robot_def def = contact_def(&body, &material, &region);
    const pl_surface_def surface[3] = {contact_plane("x0", 0, 0), contact_plane("y0", 1, 0),
                                       contact_plane("z0", 2, 0)};
    pl_fixed_def fixed[3];
    for (int i = 0; i < 3; ++i) {
        fixed[i] = (pl_fixed_def){.name = surface[i].name, .surface = surface[i].name, .body = -1};
        fixed[i].axis[i] = true;
    }
    const pl_obstacle_def plane = {.name = "plane",
                                   .kind = PL_OBSTACLE_PLANE,
                                   .point = {0, 0, R},
                                   .direction = {0, 0, -1},
                                   .moves = true,
                                   .move = {0, 0, -1}};
    def.surface = surface;
    def.surface_count = 3;
    def.fixed = fixed;
    def.fixed_count = 3;
    def.contact = (pl_contact_def){.given = true, .obstacle = &plane, .obstacle_count = 1};
    contact_rig r;
    if (!mesh || !contact_build(&def, mesh, &r)) {
        t->rows++;
        t->failed++;
        return;
    }
    static const double approach[] = {0.1, 0.25, 0.5};
    for (int k = 0; k < 3; ++k) {
        const double d = approach[k];
        pl_statics_report report;
        pl_error err = {0};
        pl_statics_solve(r.statics, r.state, &d, &report, &err);
        const double F = -4 * contact_reading(&r, "plane", "force_z");
        const double hertz_force = 4.0 / 3 * E / (1 - v * v) * sqrt(R) * pow(d, 1.5);
        char name[96];
        snprintf(name, sizeof name, "ball, approach %.2f mm: force N", d);
        validate_row(t, name, hertz_force, F, d < 0.3 ? 0.03 : 0.05);
        snprintf(name, sizeof name, "  contact radius mm (Hertz)");
        validate_row(t, name, cbrt(0.75 * F * R * (1 - v * v) / E),
                     sqrt(4 * contact_reading(&r, "plane", "area") / PI), 0.15);
        printf("  %s, %d updates, penetration", pl_outcome_name(report.outcome), report.contact_updates);
        for (int i = 0; i <= report.contact_updates && i < PL_CONTACT_HISTORY; ++i) {
            printf(" %.1e", report.contact_penetration[i]);
        }
        printf(" of the edge, %d factorizations\n", report.factorizations);
    }
    contact_clear(&r);
    pl_mesh_destroy(mesh);
}

// ---- random poses
static double pose_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static double pose_between(uint64_t *seed, double a, double b)
{
    return a + (b - a) * pose_random(seed);
}

static void poses(validate_table *t, int count)
{
    static const double size[3] = {40, 8, 8};
    static const pl_guide_def guide[] = {
        {.point = {0, 4, 1}}, {.point = {13, 4, 1}}, {.point = {26, 4, 1}}, {.point = {39, 4, 1}}};
    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;
    box_mesh(10, 2, 2, size, NULL, NULL, &linear, &err);
    pl_mesh_raise(linear, &mesh, &err);
    pl_material_def material = {.name = "rubber",
                                .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47}};
    pl_body_def body;
    pl_region_def region;
    pl_robot_def def = contact_def(&body, &material, &region);
    const pl_surface_def surface = contact_plane("base", 0, 0);
    const pl_fixed_def fixed = {.name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
    const pl_actuator_def cable = {.name = "cable",
                                   .kind = PL_CABLE,
                                   .drive = PL_DRIVE_SHORTENING,
                                   .guide = guide,
                                   .guide_count = 4,
                                   .radius = 3};
    def.surface = &surface;
    def.surface_count = 1;
    def.fixed = &fixed;
    def.fixed_count = 1;
    def.actuator = &cable;
    def.actuator_count = 1;
    int solved = 0, touching = 0, wrong = 0, refused = 0;
    double deepest = 0, balance = 0;
    for (int k = 0; k < count; ++k) {
        uint64_t seed = 20261116u + 7919u * (uint64_t)k;
        pl_obstacle_def o = {.name = "obstacle"};
        o.kind = (pl_obstacle_kind)(4 * pose_random(&seed));
        o.radius = pose_between(&seed, 3, 12);
        const double below = pose_between(&seed, 0.5, 10);
        for (int i = 0; i < 3; ++i) {
            o.size[i] = pose_between(&seed, 4, 20);
            o.rotate[i] = pose_between(&seed, -0.6, 0.6);
        }
        const double reach =
            o.kind == PL_OBSTACLE_BOX
                ? 0.5 * sqrt(o.size[0] * o.size[0] + o.size[1] * o.size[1] + o.size[2] * o.size[2])
            : o.kind == PL_OBSTACLE_PLANE ? 0
                                          : o.radius;
        o.point[0] = pose_between(&seed, 15, 45);
        o.point[1] = pose_between(&seed, 0, 8);
        o.point[2] = -below - reach;
        o.direction[0] = pose_between(&seed, -0.1, 0.1);
        o.direction[1] = o.kind == PL_OBSTACLE_CYLINDER ? 1 : pose_between(&seed, -0.1, 0.1);
        o.direction[2] = o.kind == PL_OBSTACLE_CYLINDER ? 0 : 1;
        const double command = pose_between(&seed, 2, 10);
        def.contact = (pl_contact_def){.given = true, .self = true, .obstacle = &o, .obstacle_count = 1};
        contact_rig r;
        if (!contact_build(&def, mesh, &r)) {
            ++refused;
            continue;
        }
        pl_statics_report report;
        pl_statics_solve(r.statics, r.state, &command, &report, &err);
        if (report.outcome != PL_SOLVED) {
            printf("  pose %d, %s: %s, %s\n", k, pl_robot_obstacle_kind(r.robot, 0),
                   pl_outcome_name(report.outcome), report.message);
            contact_clear(&r);
            continue;
        }
        ++solved;
        // independently of the solver: distances of all vertices, crossing surfaces, reactions
        const double *x = pl_state_positions(r.state);
        double depth = 0, off = 0;
        for (int32_t v = 0; v < pl_state_vertex_count(r.state); ++v) {
            depth = fmax(depth, -pl_robot_obstacle_distance(r.robot, 0, NULL, x + 3 * (size_t)v));
        }
        pl_crossings crossings;
        pl_reaction reaction;
        pl_mesh_crossings(pl_robot_mesh(r.robot), x, &crossings, &err);
        pl_statics_reactions(r.statics, r.state, &reaction);
        static const char *const part[3] = {"force_x", "force_y", "force_z"};
        const double normal = contact_reading(&r, "obstacle", "normal_force");
        for (int i = 0; i < 3; ++i) {
            off = fmax(off, fabs(reaction.force[i] + contact_reading(&r, "obstacle", part[i])));
        }
        // the cable pulls inside the body: without it the base carries what the obstacle does
        touching += normal > 0;
        deepest = fmax(deepest, depth / 4);
        balance = fmax(balance, off);
        if (!(depth < 1e-3 * 4) || crossings.count > 0 || !(off < 1e-5) || !(report.min_J > 0)) {
            ++wrong;
            printf("  pose %d, %s: depth %.2e mm, %d crossings, balance %.1e N\n", k,
                   pl_robot_obstacle_kind(r.robot, 0), depth, (int)crossings.count, off);
        }
        contact_clear(&r);
    }
    printf(
        "%d poses: %d solved, %d of them in contact, %d refused, %d wrong; deepest vertex %.1e of the edge, "
        "balance %.1e N\n",
        count, solved, touching, refused, wrong, deepest, balance);
    validate_absolute(t, "random poses: answers that are wrong", 0, wrong, 0);
    validate_absolute(t, "random poses: share not solved", 0, 1 - (double)solved / count, 0.1);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(mesh);
}

int main(int argc, char **argv)
{
    validate_table t = {0};
    validate_head("contact");
    hertz(&t);
    poses(&t, argc > 1 ? atoi(argv[1]) : 100);
    return validate_end(&t);
}
