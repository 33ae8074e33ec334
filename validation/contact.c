// Random poses of a cable-driven finger against random obstacles, each answer judged independently for
// penetration, crossing surfaces and balance of forces.
//   contact [poses [first]]      with `first` the log of the solver is printed
#include "contact_rig.h"

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

static void poses(validate_table *t, int first, int count)
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
    long factors = 0;
    int solved = 0, touching = 0, wrong = 0, refused = 0;
    double deepest = 0, balance = 0, relative = 0;
    for (int k = first; k < first + count; ++k) {
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
        if (!contact_build(&def, NULL, mesh, &r)) {
            ++refused;
            continue;
        }
        pl_solve_report report;
        pl_statics_solve(r.statics, r.state, &command, &report, &err);
        factors += report.factorizations;
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
        relative = fmax(relative, normal > 0 ? off / normal : 0);
        if (!(depth < 1e-3 * 4) || crossings.count > 0 || !(off < 1e-8) || !(report.min_J > 0)) {
            ++wrong;
            printf("  pose %d, %s: depth %.2e mm, %d crossings, balance %.1e N, residual %.1e N, relative "
                   "%.1e\n",
                   k, pl_robot_obstacle_kind(r.robot, 0), depth, (int)crossings.count, off, report.residual,
                   report.residual_relative);
        }
        contact_clear(&r);
    }

    printf(
        "%d poses: %d solved, %d of them in contact, %d refused, %d wrong; deepest vertex %.1e of the edge, "
        "balance %.1e N, %.1e of the normal forces; %ld factorizations\n",
        count, solved, touching, refused, wrong, deepest, balance, relative, factors);
    validate_absolute(t, "random poses: answers that are wrong", 0, wrong, 0);
    validate_absolute(t, "random poses: share not solved", 0, 1 - (double)solved / count, 0.1);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(mesh);
}

static void poses_log(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    printf("%s\n", text);
}

int main(int argc, char **argv)
{
    validate_table t = {0};
    if (argc > 2) {
        pl_log_set(poses_log, NULL, 2);
    }
    validate_head("contact: random poses");
    poses(&t, argc > 2 ? atoi(argv[2]) : 0, argc > 1 ? atoi(argv[1]) : 300);
    return validate_end(&t);
}
