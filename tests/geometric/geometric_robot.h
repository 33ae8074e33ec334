// Small robots for the tests of the local/global method, on top of the rigs of statics.
#ifndef PL_GEOMETRIC_ROBOT_H
#define PL_GEOMETRIC_ROBOT_H

#include "geometric/geometric.h"
#include "statics_robot.h"

// Tolerances to round-off rather than to a user's.
static inline pl_geometric_options geo_tight(void)
{
    pl_geometric_options o = pl_geometric_options_default();
    o.length_tolerance = 1e-10;
    o.iteration_limit = 20000;
    return o;
}

static inline pl_geometric *geo_make(const pl_robot *robot, const pl_geometric_options *options)
{
    pl_error err = {0};
    pl_geometric *g = NULL;
    PL_CHECK_OK(pl_geometric_create(robot, options, &g, &err));
    return g;
}

// Solves and insists on success.
static inline pl_solve_report geo_run(pl_geometric *g, pl_state *state, const double *command)
{
    pl_error err = {0};
    pl_solve_report report;

    PL_CHECK_OK(pl_geometric_solve(g, state, command, &report, &err));
    if (report.outcome != PL_SOLVED) {
        print_error("%s: %s\n", pl_outcome_name(report.outcome), report.message);
    }
    assert_int_equal(report.outcome, PL_SOLVED);

    return report;
}

static inline double state_distance(const pl_state *a, const pl_state *b)
{
    double largest = 0;
    for (int32_t i = 0; i < 3 * pl_state_vertex_count(a); ++i) {
        largest = fmax(largest, fabs(pl_state_positions(a)[i] - pl_state_positions(b)[i]));
    }
    return largest;
}

// Solves with the exact core and, in the (mu, lambda) form, with local/global; compares shape and effort.
// `first`: the first acceleration tried (0 none, 1 Anderson, 2 L-BFGS).
static inline void geo_check_exact(rig *r, const double *command, const char *what, int first)
{
    pl_error err = {0};
    rig_solve(r, command);
    for (int k = first; k < 3; ++k) {
        pl_geometric_options o = geo_tight();
        o.form = PL_FORM_MU_LAMBDA;
        o.acceleration = (pl_acceleration)k;
        pl_state *other = NULL;
        PL_CHECK_OK(pl_state_create(r->robot, &other, &err));
        pl_geometric *g = geo_make(r->robot, &o);
        const pl_solve_report report = geo_run(g, other, command);
        double low[3], high[3], size = 0;
        pl_mesh_bounds(pl_robot_mesh(r->robot), low, high);
        for (int i = 0; i < 3; ++i) {
            size = fmax(size, high[i] - low[i]);
        }
        const double apart = state_distance(r->state, other);
        print_message("%s, acceleration %d: %d iterations, %.1e of the size apart\n", what, k,
                      report.iterations, apart / size);
        PL_CHECK_BELOW(apart, 1e-6 * size);
        for (int a = 0; a < pl_robot_actuator_count(r->robot); ++a) {
            const pl_actuator_result exact = pl_statics_actuator(r->statics, r->state, a);
            const pl_geometric_actuator_result got = pl_geometric_actuator(g, a);
            PL_CHECK_NEAR(got.effort / exact.effort, 1, 1e-5);
            PL_CHECK_NEAR(got.ratio, exact.ratio, 1e-6);
        }
        pl_geometric_destroy(g);
        pl_state_destroy(other);
    }

    rig_clear(r);
}

// The mesh with its inner vertices moved by up to `far` mm, so that no two elements are alike.
static inline pl_mesh *geo_shaken(pl_mesh *mesh, double far)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    double low[3], high[3], *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);

    pl_mesh_bounds(mesh, low, high);
    for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
        const bool inner = v.position[i] > low[i % 3] && v.position[i] < high[i % 3];
        x[i] = v.position[i] + (inner ? far * sin(7.3 * i) : 0);
    }

    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = x,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = v.region_count,
                             .region_name = v.region_name};
    pl_error err = {0};
    pl_mesh *out = NULL;
    PL_CHECK_OK(pl_mesh_create(&def, &out, NULL, &err));
    free(x);
    pl_mesh_destroy(mesh);

    return out;
}

// A hollow box clamped at x = 0: 5 x 3 x 3 cells of 4 mm, the middle three along x hollow; with `fill` those
// cells are meshed as chamber elements. Inner vertices are moved by up to `shake`.
static inline rig geo_hollow_shaken(pl_material material, pl_drive drive, int order, bool fill, double shake)
{
    static plan p;
    bool hole[45] = {false};
    int32_t region[45] = {0};

    for (int i = 1; i < 4; ++i) {
        hole[i + 5 * (1 + 3 * 1)] = true;
        region[i + 5 * (1 + 3 * 1)] = 1;
    }

    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;
    const double size[3] = {20, 12, 12};
    PL_CHECK_OK(box_mesh(5, 3, 3, size, fill ? NULL : hole, fill ? region : NULL, &linear, &err));
    linear = shake > 0 ? geo_shaken(linear, shake) : linear;
    if (order == 2) {
        PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
        pl_mesh_destroy(linear);
    } else {
        mesh = linear;
    }

    plan_init(&p, mesh, material);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 20);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    pl_actuator_def *air = plan_chamber(&p, "air", fill ? NULL : "cavity", drive);
    if (fill) {
        air->region = "second";
    } else {
        plan_cavity(&p, "cavity", 10, 6, 6);
    }

    pl_statics_options options = tight_options();
    options.displacement = true;
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);

    return r;
}

static inline rig geo_hollow(pl_material material, pl_drive drive, int order, bool fill)
{
    return geo_hollow_shaken(material, drive, order, fill, 0);
}

// A bar along x on rollers, its end driven by `pull` mm or by a force on the tip marker: uniaxial stress.
static inline rig geo_bar(pl_mesh *mesh, const double size[3], pl_material material, double pull,
                          double force)
{
    static plan p;
    plan_init(&p, mesh, material);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "side", 1, 0);
    plan_plane(&p, "floor", 2, 0);
    plan_plane(&p, "tip", 0, size[0]);
    plan_hold(&p, "base", "x");
    plan_hold(&p, "side", "y");
    plan_hold(&p, "floor", "z");
    plan_marker(&p, "tip", "tip");
    if (pull != 0) {
        plan_hold(&p, "tip", "x")->move[0] = pull;
    }
    if (force != 0) {
        p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {force, 0, 0}};
    }

    pl_statics_options options = tight_options();
    options.displacement = true;
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);

    return r;
}

#endif
