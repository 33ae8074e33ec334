// Robots that move, for the tests of dynamics.
#ifndef PL_DYNAMICS_ROBOT_H
#define PL_DYNAMICS_ROBOT_H

#include "dynamics/dynamics.h"
#include "statics_robot.h"

typedef struct moving {
    rig rig;
    pl_dynamics *dynamics;
    int n; // 3 per vertex
} moving;

// The silicone of the measured beam.
static inline pl_material beam_rubber(void)
{
    return (pl_material){
        .model = PL_NEO_HOOKEAN, .c10 = 0.264 / (4 * 1.49), .poisson = 0.49, .density = 1.07e-9};
}

static inline pl_dynamics_options moving_options(double step)
{
    pl_dynamics_options options = pl_dynamics_options_default();
    options.step = step;
    options.solve_tolerance = 1e-7;
    return options;
}

static inline moving moving_build(plan *p, const pl_dynamics_options *options)
{
    pl_error err = {0};
    moving m = {.rig = plan_build(p, NULL)};
    m.n = 3 * pl_state_vertex_count(m.rig.state);
    PL_CHECK_OK(pl_dynamics_create(m.rig.robot, options, &m.dynamics, &err));
    return m;
}

static inline void moving_clear(moving *m)
{
    pl_dynamics_destroy(m->dynamics);
    rig_clear(&m->rig);
}

// A beam of 100 x 30 x 30 mm along x, clamped at x = 0, without weight; marker `tip` at its other end.
static inline void plan_beam(plan *p, const pl_mesh *mesh, pl_material material)
{
    plan_init(p, mesh, material);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 100);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
}

static inline moving moving_beam(const int cells[3], pl_material material, const pl_dynamics_options *options)
{
    static plan p;
    pl_mesh *mesh = tet_box(cells[0], cells[1], cells[2], 100, 30, 30, 2, NULL);
    plan_beam(&p, mesh, material);
    moving m = moving_build(&p, options);
    pl_mesh_destroy(mesh);
    return m;
}

// The vertex nearest to a point of the undeformed body.
static inline int moving_vertex(const moving *m, double x, double y, double z)
{
    int nearest = 0;
    double least = INFINITY;

    for (int v = 0; v < m->n / 3; ++v) {
        const double *X = rig_rest(&m->rig) + 3 * v;
        const double far = hypot(hypot(X[0] - x, X[1] - y), X[2] - z);
        if (far < least) {
            least = far;
            nearest = v;
        }
    }

    return nearest;
}

#endif
