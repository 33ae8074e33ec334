// Free rigid bodies in time: they fall as g t^2 / 2, turn with the moments of inertia of their shapes, and
// one that is dropped on a soft block creates no energy and comes to rest at the equilibrium of statics.
#include <stdlib.h>
#include <string.h>
#include "dynamics_robot.h"
#include "robot/robot.h"

#define GRAVITY 9810.0

// A block of 8 x 8 x 4 mm, clamped at z = 0, with a free body above it.
static moving block_moving(plan *p, const pl_obstacle_def *body, double gravity,
                           const pl_dynamics_options *options)
{
    static const pl_material soft = {.model = PL_NEO_HOOKEAN,
                                     .c10 = 0.05,
                                     .poisson = 0.4,
                                     .density = 1.07e-9,
                                     .prony_count = 1,
                                     .prony_g = {0.4},
                                     .prony_tau = {0.01}};
    pl_mesh *mesh = tet_box(2, 2, 1, 8, 8, 4, 2, NULL);
    plan_init(p, mesh, soft);
    plan_plane(p, "base", 2, 0);
    plan_hold(p, "base", "xyz");
    p->def.gravity[2] = -gravity;
    p->def.contact = (pl_contact_def){.given = true, .obstacle = body, .obstacle_count = 1};
    moving m = moving_build(p, options);
    pl_mesh_destroy(mesh);
    return m;
}

static void body_centre(const moving *m, double out[3])
{
    const int32_t *frame = m->rig.robot->contact.obstacle[0].frame;
    for (int i = 0; i < 3; ++i) {
        out[i] = 0;
        for (int a = 0; a < 4; ++a) {
            out[i] += 0.25 * pl_state_positions(m->rig.state)[3 * frame[a] + i];
        }
    }
}

static void test_fall(void **state)
{
    (void)state;
    static plan p;
    const pl_dynamics_options options = pl_dynamics_options_default();
    const pl_obstacle_def body[3] = {{.name = "ball",
                                      .kind = PL_OBSTACLE_SPHERE,
                                      .point = {4, 4, 100},
                                      .radius = 3,
                                      .free = true,
                                      .mass = 2e-6},
                                     {.name = "box",
                                      .kind = PL_OBSTACLE_BOX,
                                      .point = {4, 4, 100},
                                      .size = {3, 2, 1},
                                      .rotate = {0.3, 0.2, 1},
                                      .free = true,
                                      .density = 5e-9},
                                     {.name = "rod",
                                      .kind = PL_OBSTACLE_CYLINDER,
                                      .point = {4, 4, 100},
                                      .direction = {1, 0, 0},
                                      .radius = 1,
                                      .length = 6,
                                      .free = true,
                                      .mass = 1e-6}};
    for (int k = 0; k < 3; ++k) {
        moving m = block_moving(&p, &body[k], GRAVITY, &options);
        pl_error err = {0};
        pl_motion_report report;
        double before[3], after[3];
        body_centre(&m, before);
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.1, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_sample(m.dynamics, 0.1, m.rig.state, NULL, &err));
        body_centre(&m, after);
        const double fallen = before[2] - after[2], exact = 0.5 * GRAVITY * 0.01;
        print_message("%-4s falls %.8f of %.8f mm, aside %.1e mm; %d steps\n", body[k].name, fallen, exact,
                      hypot(after[0] - before[0], after[1] - before[1]), report.steps);
        PL_CHECK_NEAR(fallen, exact, 1e-6 * exact);
        PL_CHECK_NEAR(after[0], before[0], 1e-6);
        PL_CHECK_NEAR(after[1], before[1], 1e-6);
        moving_clear(&m);
    }
}

// Angular momentum of a turning body is that of its shape: about the third axis of a box m (a^2 + b^2) / 12,
// across the axis of a rod m (r^2 / 4 + L^2 / 12), of a ball 2/5 m r^2.
static void test_spin(void **state)
{
    (void)state;
    static plan p;
    const pl_obstacle_def body[3] = {{.name = "ball",
                                      .kind = PL_OBSTACLE_SPHERE,
                                      .point = {4, 4, 100},
                                      .radius = 3,
                                      .free = true,
                                      .mass = 2e-6},
                                     {.name = "box",
                                      .kind = PL_OBSTACLE_BOX,
                                      .point = {4, 4, 100},
                                      .size = {3, 2, 1},
                                      .rotate = {0, 0, 0.4},
                                      .free = true,
                                      .mass = 3e-6},
                                     {.name = "rod",
                                      .kind = PL_OBSTACLE_CYLINDER,
                                      .point = {4, 4, 100},
                                      .direction = {1, 0, 0},
                                      .radius = 1,
                                      .length = 6,
                                      .free = true,
                                      .mass = 1e-6}};
    const double inertia[3] = {0.4 * 2e-6 * 9, 3e-6 * 13 / 12, 1e-6 * (0.25 + 3)}, omega = 10;
    for (int k = 0; k < 3; ++k) {
        const pl_dynamics_options options = moving_options(2e-3);
        moving m = block_moving(&p, &body[k], 0, &options);
        pl_error err = {0};
        pl_motion_report report;
        double c[3], P[3], L[3], *v = calloc((size_t)m.n, sizeof *v);
        body_centre(&m, c);
        const pl_obstacle *o = &m.rig.robot->contact.obstacle[0];
        for (int a = 0; a < 4; ++a) {
            const double *X = rig_rest(&m.rig) + 3 * o->frame[a];
            v[3 * o->frame[a]] = -omega * (X[1] - c[1]);
            v[3 * o->frame[a] + 1] = omega * (X[0] - c[0]);
        }
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, v, &err));
        pl_dynamics_momentum(m.dynamics, P, L);
        const double first = L[2], kinetic = pl_dynamics_energy(m.dynamics).kinetic;
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.5, NULL, NULL, &report, &err));
        pl_dynamics_momentum(m.dynamics, P, L);
        print_message("%-4s angular momentum %.9e of %.9e, after 0.5 s %.6f of it; energy %+.1e\n",
                      body[k].name, first, inertia[k] * omega, L[2] / first,
                      report.energy.imbalance / kinetic);
        PL_CHECK_NEAR(first / (inertia[k] * omega), 1, 1e-10);
        PL_CHECK_NEAR(kinetic / (0.5 * inertia[k] * omega * omega), 1, 1e-10);
        PL_CHECK_NEAR(L[2] / first, 1, 1e-3);
        PL_CHECK_BELOW(report.energy.imbalance, 1e-6 * kinetic);
        PL_CHECK_BELOW(hypot(P[0], P[1]), 1e-9 * first);
        free(v);
        moving_clear(&m);
    }
}

typedef struct watch {
    moving *m;
    double lowest, gained, energy;
} watch;

static bool drop_each(void *user)
{
    watch *w = user;
    double c[3];
    pl_error err = {0};
    PL_CHECK_OK(
        pl_dynamics_sample(w->m->dynamics, pl_dynamics_time(w->m->dynamics), w->m->rig.state, NULL, &err));
    body_centre(w->m, c);
    w->lowest = fmin(w->lowest, c[2]);
    w->gained = fmax(w->gained, pl_dynamics_energy(w->m->dynamics).imbalance);
    return true;
}

// Dropped from 1 mm on the middle of the block, damped so that it comes to rest soon.
static void test_drop(void **state)
{
    (void)state;
    static plan p;
    const double height = 1;
    const pl_obstacle_def ball = {.name = "ball",
                                  .kind = PL_OBSTACLE_SPHERE,
                                  .point = {4, 4, 7 + height},
                                  .radius = 3,
                                  .free = true,
                                  .mass = 1e-6};
    pl_dynamics_options options = pl_dynamics_options_default();
    options.mass_damping = 150;
    options.tolerance = 5e-3;
    options.largest_step = 0.005;
    moving m = block_moving(&p, &ball, GRAVITY, &options);
    pl_error err = {0};
    pl_motion_report report;
    watch w = {.m = &m, .lowest = INFINITY};
    double c[3], s[3];
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.12, drop_each, &w, &report, &err));
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    body_centre(&m, c);

    // where statics finds the ball that is laid down
    const pl_obstacle_def laid = {.name = "ball",
                                  .kind = PL_OBSTACLE_SPHERE,
                                  .point = {4, 4, 7.01},
                                  .radius = 3,
                                  .free = true,
                                  .mass = 1e-6};
    moving at_rest = block_moving(&p, &laid, GRAVITY, &options);
    rig_solve(&at_rest.rig, NULL);
    body_centre(&at_rest, s);
    const double put_in = 1e-6 * GRAVITY * height;
    print_message("from %g mm: rests at %.5f mm (statics %.5f), aside %.1e mm, lowest %.4f; energy gained at "
                  "most %.1e of %.2e mJ; %d steps, %d rejected, %d factorisations\n",
                  height, c[2], s[2], hypot(c[0] - 4, c[1] - 4), w.lowest, w.gained, put_in, report.steps,
                  report.rejected, report.factorizations);
    PL_CHECK_NEAR(c[2], s[2], 2e-3);
    PL_CHECK_BELOW(w.gained, 2e-3 * put_in);
    assert_true(w.lowest > 3); // the block is there
    moving_clear(&at_rest);
    moving_clear(&m);
}

typedef struct rebound {
    moving *m;
    double last, highest;
    bool up;
} rebound;

static bool rebound_each(void *user)
{
    rebound *r = user;
    double c[3];
    pl_error err = {0};
    PL_CHECK_OK(
        pl_dynamics_sample(r->m->dynamics, pl_dynamics_time(r->m->dynamics), r->m->rig.state, NULL, &err));
    body_centre(r->m, c);
    r->up = r->up || c[2] > r->last;
    r->highest = r->up ? fmax(r->highest, c[2]) : c[2];
    r->last = c[2];
    return true;
}

// How high a ball rebounds does not depend on the steps that it falls with, which are longer than the impact.
static void test_rebound(void **state)
{
    (void)state;
    static plan p;
    double height[2];
    for (int k = 0; k < 2; ++k) {
        const pl_obstacle_def ball = {.name = "ball",
                                      .kind = PL_OBSTACLE_SPHERE,
                                      .point = {4, 4, 15},
                                      .radius = 3,
                                      .free = true,
                                      .mass = 1e-6};
        pl_dynamics_options options = pl_dynamics_options_default();
        options.first_step = k ? 0.0005 : 0.02;
        options.largest_step = options.first_step;
        options.tolerance = k ? 1e-3 : 5e-3;
        moving m = block_moving(&p, &ball, GRAVITY, &options);
        rebound r = {.m = &m, .last = INFINITY};
        pl_error err = {0};
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.085, rebound_each, &r, &report, &err));
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        height[k] = r.highest - 7;
        print_message("steps of %4.1f ms at most: rebounds to %.4f of 8 mm; %d steps, %d rejected, %d "
                      "factorisations, imbalance %.1e mJ\n",
                      1e3 * options.largest_step, height[k], report.steps, report.rejected,
                      report.factorizations, report.energy.imbalance);
        moving_clear(&m);
    }
    PL_CHECK_NEAR(height[0], height[1], 0.02 * 8);
}

// A ball on a stiff plate under a slanting weight g_x: it rolls with 5/7 g_x while 2/7 g_x < mu g, and
// otherwise slips with g_x - mu g.
static void test_roll(void **state)
{
    (void)state;
    static plan p;
    for (int k = 0; k < 2; ++k) {
        const double mu = k ? 0.1 : 0.4, along = 9000, end = 0.01,
                     exact = 0.5 * (k ? along - mu * GRAVITY : along / 1.4) * end * end;
        const pl_obstacle_def ball = {.name = "ball",
                                      .kind = PL_OBSTACLE_SPHERE,
                                      .point = {5, 4, 7},
                                      .radius = 3,
                                      .friction = mu,
                                      .free = true,
                                      .mass = 2e-7};
        const pl_material stiff = {.model = PL_NEO_HOOKEAN, .c10 = 1, .poisson = 0.3, .density = 1.07e-9};
        pl_mesh *mesh = tet_box(2, 1, 1, 16, 8, 4, 2, NULL);
        const pl_dynamics_options options = pl_dynamics_options_default();
        plan_init(&p, mesh, stiff);
        plan_plane(&p, "base", 2, 0);
        plan_hold(&p, "base", "xyz");
        p.def.gravity[0] = along;
        p.def.gravity[2] = -GRAVITY;
        p.def.contact = (pl_contact_def){.given = true, .obstacle = &ball, .obstacle_count = 1};
        moving m = moving_build(&p, &options);
        pl_mesh_destroy(mesh);
        pl_error err = {0};
        pl_motion_report report;
        double before[3], after[3];
        body_centre(&m, before);
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, end, NULL, NULL, &report, &err));
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        PL_CHECK_OK(pl_dynamics_sample(m.dynamics, end, m.rig.state, NULL, &err));
        body_centre(&m, after);
        const double moved = after[0] - before[0], lost = k ? mu * 2e-7 * GRAVITY : 0;
        print_message("friction %.1f: moves %.5f mm (%.5f), imbalance %.2e mJ; %d steps, %d rejected, %d "
                      "factorisations\n",
                      mu, moved, exact, report.energy.imbalance, report.steps, report.rejected,
                      report.factorizations);
        PL_CHECK_NEAR(moved / exact, 1, 0.01);
        PL_CHECK_BELOW(report.energy.imbalance, 1e-6);
        if (k) {
            // the path slipped at the foot: that of the centre less r times the turn, 5/2 mu g / r t^2 / 2
            const double slipped = exact - 2.5 * mu * GRAVITY * 0.5 * end * end;
            PL_CHECK_NEAR(-report.energy.imbalance / (lost * slipped), 1, 0.05);
        }
        moving_clear(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fall), cmocka_unit_test(test_spin),
                                       cmocka_unit_test(test_drop), cmocka_unit_test(test_rebound),
                                       cmocka_unit_test(test_roll)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
