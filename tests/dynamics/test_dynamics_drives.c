// Motions with loads, drives, masses and rigid parts: where they come to rest, what work was done, and that
// steps, threads and interruptions leave no trace.
#include <stdlib.h>
#include "dynamics_robot.h"
#include "robot/robot.h"

// ---- commands
typedef struct ramp {
    double from, to, time; // reached after `time`
} ramp;

static void ramp_command(void *user, double t, double *command)
{
    const ramp *r = user;
    command[0] = t >= r->time ? r->to : r->from + (r->to - r->from) * t / r->time;
}

static double ramp_corner(void *user, double t)
{
    const ramp *r = user;
    return t < r->time * (1 - 1e-12) ? r->time : INFINITY;
}

static pl_signal ramp_signal(ramp *r)
{
    return (pl_signal){.command = ramp_command, .corner = ramp_corner, .user = r};
}

// ---- step independence
typedef struct extrema {
    moving *m;
    double value[8], time[8];
    double last[3], last_time[3];
    int count, seen;
} extrema;

static double tip_height(moving *m)
{
    const pl_state *s = m->rig.state;
    return pl_statics_marker(m->rig.statics, s, 0).displacement[2];
}

// Extrema of the tip over samples of 1 ms, by a parabola.
static bool extrema_each(void *user)
{
    extrema *e = user;
    pl_error err = {0};
    const double now = pl_dynamics_time(e->m->dynamics);

    for (;;) {
        const double t = 1e-3 * (e->seen + 1);
        if (t > now || e->count == 8) {
            return e->count < 8;
        }
        PL_CHECK_OK(pl_dynamics_sample(e->m->dynamics, t, e->m->rig.state, NULL, &err));
        const double z = tip_height(e->m);
        e->last[0] = e->last[1];
        e->last[1] = e->last[2];
        e->last[2] = z;
        e->seen++;
        const double a = e->last[1] - e->last[0], b = e->last[2] - e->last[1];
        if (e->seen > 3 && a * b < 0) {
            e->value[e->count] = e->last[1] - (a + b) * (a + b) / (8 * (b - a));
            e->time[e->count++] = t - 1e-3 - 0.5e-3 * (a + b) / (b - a);
        }
    }
}

// A beam is let go under gravity: the first five extrema do not depend on the largest step or the first one.
static void test_step_independence(void **state)
{
    (void)state;
    static const double largest[4] = {0.016, 0.08, 0.05, 0.32};
    extrema found[4];
    for (int k = 0; k < 4; ++k) {
        static plan p;
        pl_mesh *mesh = tet_box(6, 2, 2, 100, 30, 30, 2, NULL);
        plan_beam(&p, mesh, beam_rubber());
        p.def.gravity[2] = -9810;
        pl_dynamics_options options = pl_dynamics_options_default();
        options.largest_step = largest[k];
        moving m = moving_build(&p, &options);
        pl_mesh_destroy(mesh);
        pl_error err = {0};
        pl_motion_report report;
        found[k] = (extrema){.m = &m};
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.5, extrema_each, &found[k], &report, &err));
        print_message(
            "largest step %3.0f ms: %3d steps, %d rejected, %d factorisations, %.1f solves a step; extrema "
            "%.3f %.3f %.3f %.3f %.3f mm; imbalance %.2f %% of the work\n",
            1e3 * largest[k], report.steps, report.rejected, report.factorizations,
            (double)report.solves / report.steps, found[k].value[0], found[k].value[1], found[k].value[2],
            found[k].value[3], found[k].value[4], 100 * report.energy.imbalance / report.energy.loads);
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        assert_true(found[k].count >= 5);
        for (int i = 0; i < 5; ++i) {
            PL_CHECK_NEAR(found[k].value[i], found[0].value[i], 5e-3 * fabs(found[0].value[0]));
            PL_CHECK_NEAR(found[k].time[i], found[0].time[i], 5e-3 * found[0].time[4]);
        }
        moving_clear(&m);
    }
}

// ---- drives: after a ramp with much damping the body stands where statics puts it, and the work adds up
static void drive_case(plan *p, double rest, double command, const char *name)
{
    pl_dynamics_options options = pl_dynamics_options_default();
    options.mass_damping = 20;
    moving m = moving_build(p, &options);
    pl_error err = {0};
    ramp r = {.from = rest, .to = command, .time = 0.1};
    const pl_signal signal = ramp_signal(&r);
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, &signal, &err));
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 1.5, NULL, NULL, &report, &err));
    PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
    double *x = shape_copy(&m.rig);
    const double effort = pl_statics_actuator(m.rig.statics, m.rig.state, 0).effort;
    pl_state_reset(m.rig.state, m.rig.robot);
    rig_solve(&m.rig, &command);
    const double apart = shape_distance(&m.rig, x, rig_x(&m.rig)),
                 moved = shape_distance(&m.rig, rig_rest(&m.rig), rig_x(&m.rig));
    const double effort_static = pl_statics_actuator(m.rig.statics, m.rig.state, 0).effort;
    const pl_motion_energy e = report.energy;
    print_message(
        "%-10s %3d steps, %2d rejected, %2d factorisations, %.1f solves a step; %.1e of %.2f mm off, "
        "effort %.6g / %.6g; work %.5g, damped %.5g, elastic %.5g, imbalance %.2e mJ\n",
        name, report.steps, report.rejected, report.factorizations, (double)report.solves / report.steps,
        apart, moved, effort, effort_static, e.actuators, e.damped, e.elastic, e.imbalance);
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    PL_CHECK_BELOW(apart, 1e-3 * moved);
    PL_CHECK_NEAR(effort, effort_static, 2e-3 * fabs(effort_static));
    PL_CHECK_BELOW(fabs(e.imbalance), 2e-3 * e.actuators);
    free(x);
    moving_clear(&m);
}

static void test_drives(void **state)
{
    (void)state;
    static const pl_guide_def guide[] = {
        {.point = {0, 15, 27}}, {.point = {50, 15, 27}}, {.point = {100, 15, 27}}};
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 100, 30, 30, 2, NULL);
    plan_beam(&p, mesh, beam_rubber());
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING)->radius = 8;
    drive_case(&p, 0, 8, "shortening");
    plan_beam(&p, mesh, beam_rubber());
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_TENSION)->radius = 8;
    drive_case(&p, 0, 1, "tension");
    pl_mesh_destroy(mesh);

    bool hole[5 * 3 * 3] = {0};
    for (int i = 1; i < 4; ++i) {
        hole[i + 5 * (1 + 3 * 1)] = true;
    }
    mesh = tet_box(5, 3, 3, 100, 30, 30, 2, hole);
    static const struct {
        pl_drive drive;
        double from, to;
        const char *name;
    } chamber[3] = {{PL_DRIVE_PRESSURE, 0, 0.03, "pressure"},
                    {PL_DRIVE_VOLUME_RATIO, 1, 1.3, "volume"},
                    {PL_DRIVE_SYRINGE, 0, 3000, "syringe"}};
    for (int k = 0; k < 3; ++k) {
        plan_beam(&p, mesh, beam_rubber());
        plan_cavity(&p, "air", 50, 15, 15);
        pl_actuator_def *a = plan_chamber(&p, "air", "air", chamber[k].drive);
        a->line_volume = 2000;
        a->ambient = 0.101325;
        drive_case(&p, chamber[k].from, chamber[k].to, chamber[k].name);
    }

    pl_mesh_destroy(mesh);
}

// ---- masses
// A mass at the tip of a beam that weighs next to nothing: f = sqrt(k / m) / (2 pi), k from statics.
static void test_tip_mass(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 100, 30, 30, 2, NULL);
    pl_material light = beam_rubber();
    light.density = 1e-16;
    plan_beam(&p, mesh, light);
    pl_error err = {0};
    moving m = {.rig = plan_build(&p, NULL)};
    m.n = 3 * pl_state_vertex_count(m.rig.state);
    pl_dynamics_options options = pl_dynamics_options_default();
    const double mass = 52e-6;
    options.marker_mass = &mass;
    PL_CHECK_OK(pl_dynamics_create(m.rig.robot, &options, &m.dynamics, &err));
    const double force[3] = {0, 0, -1e-5};
    pl_statics_set_forces(m.rig.statics, force);
    rig_solve(&m.rig, NULL);
    const double k = force[2] / tip_height(&m);
    pl_state_reset(m.rig.state, m.rig.robot);
    pl_mode mode[2];
    int found;
    PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 2, mode, NULL, &found, &err));

    // y and z bend differently on this mesh: the stiffness along z belongs to one of the two
    const double f = sqrt(k / mass) / (2 * 3.14159265358979);
    print_message("52 g at the tip: %.5f and %.5f Hz, sqrt(k / m) %.5f Hz\n", mode[0].frequency,
                  mode[1].frequency, f);
    PL_CHECK_BELOW(fmin(fabs(mode[0].frequency - f), fabs(mode[1].frequency - f)), 5e-3 * f);
    moving_clear(&m);
}

// Half of the beam rigid, against the same half of a material ten thousand times stiffer: frequencies, and a
// release under gravity.
static void test_rigid_half(void **state)
{
    (void)state;
    int32_t region[6 * 2 * 2];
    for (int i = 0; i < 24; ++i) {
        region[i] = i % 6 >= 3;
    }

    const double size[3] = {100, 30, 30};
    pl_error err = {0};
    pl_mesh *linear, *mesh;
    PL_CHECK_OK(box_mesh(6, 2, 2, size, NULL, region, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
    pl_mesh_destroy(linear);
    double frequency[2][3], tip[2];
    for (int k = 0; k < 2; ++k) {
        static plan p;
        plan_beam(&p, mesh, beam_rubber());
        p.material[1] = p.material[0];
        p.material[1].name = "stiff";
        p.material[1].material.c10 *= 1e4;
        p.def.material_count = 2;
        p.region[1] = (pl_region_def){.region = "second", .material = "stiff"};
        p.def.region_count = 2;
        p.def.gravity[2] = -9810;
        if (k == 0) {
            p.rigid[0] = (pl_rigid_def){.region = "second"};
            p.def.rigid_count = 1;
        }
        const pl_dynamics_options options = moving_options(0.002);
        moving m = moving_build(&p, &options);
        pl_mode mode[3];
        pl_motion_report report;
        int found;
        PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 3, mode, NULL, &found, &err));
        for (int i = 0; i < 3; ++i) {
            frequency[k][i] = mode[i].frequency;
        }
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.1, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        tip[k] = tip_height(&m);
        print_message(
            "%s: %.4f %.4f %.4f Hz, tip after 0.1 s %.4f mm, %d factorisations, %.1f solves a step\n",
            k == 0 ? "rigid" : "stiff", frequency[k][0], frequency[k][1], frequency[k][2], tip[k],
            report.factorizations, (double)report.solves / report.steps);
        moving_clear(&m);
    }

    pl_mesh_destroy(mesh);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(frequency[0][i], frequency[1][i], 1e-3 * frequency[1][i]);
    }
    PL_CHECK_NEAR(tip[0], tip[1], 2e-3 * fabs(tip[1]));
}

// A force that acts at once does the work F . u along the displacement of its marker from the first step on,
// and the energy balances to the tolerance after every step.
static bool balance_each(void *user)
{
    moving *m = user;
    const pl_motion_energy e = pl_dynamics_energy(m->dynamics);
    assert_true(e.imbalance <= 1e-3 * (fabs(e.loads) + e.kinetic));
    return true;
}

static void test_work_of_jump(void **state)
{
    (void)state;
    static const int cells[3] = {6, 2, 2};
    pl_dynamics_options options = pl_dynamics_options_default();
    moving m = moving_beam(cells, beam_rubber(), &options);
    const double force[3] = {0, 0, -0.05}, before = tip_height(&m);
    pl_error err = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    pl_dynamics_set_forces(m.dynamics, force);
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.05, balance_each, &m, &report, &err));
    PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
    const double work = force[2] * (tip_height(&m) - before);
    print_message("work of the force %.6g mJ, F u %.6g mJ\n", report.energy.loads, work);
    PL_CHECK_NEAR(report.energy.loads, work, 1e-9 * fabs(work));
    moving_clear(&m);
}

// A length or a volume that jumps is met at the end of the time of the first step, and the motion is that of
// the ramp over this time: it does not depend on the steps that the error asks for.
static void constant_command(void *user, double t, double *command)
{
    (void)t;
    command[0] = *(const double *)user;
}

static void jump_case(plan *p, double before, double to, const char *name)
{
    double *x[3], moved = 0;
    pl_error err = {0};
    for (int k = 0; k < 3; ++k) { // at once; with smaller errors; a ramp
        pl_dynamics_options options = pl_dynamics_options_default();
        options.first_step = 0.005;
        options.tolerance = k == 1 ? 1e-4 : 1e-3;
        moving m = moving_build(p, &options);
        ramp r = {.from = before, .to = to, .time = 0.005};
        const pl_signal jump = {.command = constant_command, .user = &r.to}, follow = ramp_signal(&r);
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, k == 2 ? &follow : &jump, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.02, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        print_message("%s %d: %s, %d steps, work %.5g mJ, imbalance %.2e mJ\n", name, k, report.message,
                      report.steps, report.energy.actuators, report.energy.imbalance);
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        // oscillations that the tolerance does not resolve are damped
        PL_CHECK_BELOW(fabs(report.energy.imbalance), (k == 1 ? 0.02 : 0.1) * report.energy.actuators);
        x[k] = shape_copy(&m.rig);
        moved = shape_distance(&m.rig, rig_rest(&m.rig), x[k]);
        if (k == 2) {
            print_message("%.2e and %.2e of %.3g mm apart\n", shape_distance(&m.rig, x[0], x[2]),
                          shape_distance(&m.rig, x[1], x[2]), moved);
            PL_CHECK_BELOW(shape_distance(&m.rig, x[0], x[2]), 1e-6 * moved);
            PL_CHECK_BELOW(shape_distance(&m.rig, x[1], x[2]), 3e-2 * moved);
        }
        moving_clear(&m);
    }
    for (int k = 0; k < 3; ++k) {
        free(x[k]);
    }
}

static void test_jump_of_length(void **state)
{
    (void)state;
    static const pl_guide_def guide[] = {
        {.point = {0, 15, 27}}, {.point = {50, 15, 27}}, {.point = {100, 15, 27}}};
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 100, 30, 30, 2, NULL);
    plan_beam(&p, mesh, beam_rubber());
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING)->radius = 8;
    jump_case(&p, 0, 4, "length");
    pl_mesh_destroy(mesh);

    bool hole[5 * 3 * 3] = {0};
    for (int i = 1; i < 4; ++i) {
        hole[i + 5 * (1 + 3 * 1)] = true;
    }
    mesh = tet_box(5, 3, 3, 100, 30, 30, 2, hole);
    plan_beam(&p, mesh, beam_rubber());
    plan_cavity(&p, "air", 50, 15, 15);
    plan_chamber(&p, "air", "air", PL_DRIVE_VOLUME_RATIO);
    jump_case(&p, 1, 1.1, "volume");
    pl_mesh_destroy(mesh);
}

// A cable that keeps its length at rest without a command goes back to it as with a command that says so.
static void test_idle_of_length(void **state)
{
    (void)state;
    static const pl_guide_def guide[] = {
        {.point = {0, 15, 27}}, {.point = {50, 15, 27}}, {.point = {100, 15, 27}}};
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 100, 30, 30, 2, NULL);
    plan_beam(&p, mesh, beam_rubber());
    pl_actuator_def *a = plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING);
    a->radius = 8;
    a->idle_hold = true;
    double to[2] = {0, NAN}, *x[2], moved = 0;
    pl_error err = {0};
    for (int k = 0; k < 2; ++k) {
        const double pulled = 4;
        pl_dynamics_options options = pl_dynamics_options_default();
        options.first_step = 0.005;
        moving m = moving_build(&p, &options);
        pl_motion_report report;
        rig_solve(&m.rig, &pulled);
        double *start = shape_copy(&m.rig);
        const pl_signal jump = {.command = constant_command, .user = &to[k]};
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, &jump, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.02, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        x[k] = shape_copy(&m.rig);
        moved = shape_distance(&m.rig, start, x[k]);
        print_message("%s: %d steps, moved %.4f mm\n", k == 0 ? "commanded" : "idle", report.steps, moved);
        if (k == 1) {
            PL_CHECK_BELOW(shape_distance(&m.rig, x[0], x[1]), 1e-3 * moved);
        }
        free(start);
        moving_clear(&m);
    }
    free(x[0]);
    free(x[1]);
    pl_mesh_destroy(mesh);
}

// Where a force jumps beside it, a length that is drawn evenly goes on evenly: only what jumps itself is
// spread over time. Steps that end at a jump end a little before it.
typedef struct pushed {
    ramp r;
    double at; // s
    moving *m;
    int later;
    double worst;
} pushed;

static void pushed_command(void *user, double t, double *command)
{
    ramp_command(&((pushed *)user)->r, t, command);
}

static void pushed_force(void *user, double t, double *force)
{
    force[0] = force[1] = 0;
    force[2] = t >= ((pushed *)user)->at ? -0.02 : 0;
}

static double pushed_corner(void *user, double t)
{
    pushed *p = user;
    return t < p->at * (1 - 1e-12) ? p->at : ramp_corner(&p->r, t);
}

static bool pushed_each(void *user)
{
    pushed *p = user;
    pl_error err = {0};
    double given;
    PL_CHECK_OK(pl_dynamics_store(p->m->dynamics, p->m->rig.state, &err));
    ramp_command(&p->r, pl_dynamics_time(p->m->dynamics), &given);
    p->worst = fmax(p->worst, fabs(pl_state_commands(p->m->rig.state)[0] - given));
    p->later += pl_dynamics_time(p->m->dynamics) > p->at;
    return true;
}

static void test_ramp_beside_jump(void **state)
{
    (void)state;
    static const pl_guide_def guide[] = {
        {.point = {0, 15, 27}}, {.point = {50, 15, 27}}, {.point = {100, 15, 27}}};
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 100, 30, 30, 2, NULL);
    plan_beam(&p, mesh, beam_rubber());
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING)->radius = 8;
    pl_dynamics_options options = pl_dynamics_options_default();
    options.first_step = 0.005;
    moving m = moving_build(&p, &options);
    pushed push = {.r = {.from = 0, .to = 8, .time = 0.1}, .at = 0.05, .m = &m};
    const pl_signal signal = {
        .command = pushed_command, .force = pushed_force, .corner = pushed_corner, .user = &push};
    pl_error err = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, &signal, &err));
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.06, pushed_each, &push, &report, &err));
    print_message("%d steps, %d after the force: length at most %.2e mm from the one asked for\n",
                  report.steps, push.later, push.worst);
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    assert_true(push.later >= 3);
    PL_CHECK_BELOW(push.worst, 1e-5 * push.r.to);
    moving_clear(&m);
    pl_mesh_destroy(mesh);
}

// A push on a body that nothing holds gives it the momentum F t, and the balance of energy holds at both
// jumps.
static void test_impulse(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(4, 2, 2, 100, 30, 30, 2, NULL);
    plan_init(&p, mesh, beam_rubber());
    plan_plane(&p, "tip", 0, 100);
    plan_marker(&p, "tip", "tip");
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    pl_error err = {0};
    pl_dynamics_options options = pl_dynamics_options_default();
    pl_robot *robot = plan_robot(&p);
    robot->support_count = 0; // a robot file must hold its body: the support lets go here
    pl_dynamics *d = NULL;
    pl_state *start = NULL;
    pl_schedule *schedule = NULL;
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_create(robot, &options, &d, &err));
    PL_CHECK_OK(pl_state_create(robot, &start, &err));
    PL_CHECK_OK(pl_schedule_create(NULL, 0, 0, NULL, &schedule, &err));
    const double force[3] = {0.1, -0.2, 0.3};
    PL_CHECK_OK(pl_schedule_push(schedule, 0, 1, force, 0.01, 0.0143, &err));
    const pl_signal signal = pl_schedule_signal(schedule);
    PL_CHECK_OK(pl_dynamics_start(d, start, &signal, &err));
    PL_CHECK_OK(pl_dynamics_advance(d, 0.05, NULL, NULL, &report, &err));
    double linear[3], angular[3];
    pl_dynamics_momentum(d, linear, angular);
    print_message("momentum %.6e %.6e %.6e t mm/s, F t %.6e %.6e %.6e; work %.4g, imbalance %.1e mJ\n",
                  linear[0], linear[1], linear[2], 0.0043 * force[0], 0.0043 * force[1], 0.0043 * force[2],
                  report.energy.loads, report.energy.imbalance);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(linear[i], 0.0043 * force[i], 1e-4 * 0.0043 * 0.3);
    }
    assert_true(report.energy.imbalance <= 1e-3 * report.energy.loads);
    pl_schedule_destroy(schedule);
    pl_state_destroy(start);
    pl_dynamics_destroy(d);
    robot->support_count = 1; // so that it is freed
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);
}

// ---- no trace
// A run in two parts, the state stored between them, and a run on three threads: the same bits.
static void test_resumed(void **state)
{
    (void)state;
    double *end[3];
    int n = 0;
    for (int k = 0; k < 3; ++k) {
        static plan p;
        pl_mesh *mesh = tet_box(8, 3, 3, 100, 30, 30, 2, NULL);
        plan_beam(&p, mesh, beam_rubber());
        p.def.gravity[2] = -9810;
        pl_threads_set(k == 2 ? 3 : 1);
        const pl_dynamics_options options = moving_options(0.01);
        moving m = moving_build(&p, &options);
        pl_error err = {0};
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.05, NULL, NULL, &report, &err));
        if (k == 1) {
            // through a block, as a file has it
            PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
            const size_t count = pl_state_pack(m.rig.state, NULL, 0);
            double *block = malloc(count * sizeof *block);
            pl_state_pack(m.rig.state, block, count);
            pl_state_reset(m.rig.state, m.rig.robot);
            assert_false(pl_state_has_motion(m.rig.state));
            PL_CHECK_OK(pl_state_unpack(m.rig.state, block, count, &err));
            assert_true(pl_state_has_motion(m.rig.state));
            PL_CHECK_NEAR(pl_state_time(m.rig.state), 0.05, 1e-12);
            PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
            free(block);
        }
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.1, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        end[k] = shape_copy(&m.rig);
        n = m.n;
        moving_clear(&m);
        pl_mesh_destroy(mesh);
    }

    pl_threads_set(0);
    double resumed = 0;
    for (int i = 0; i < n; ++i) {
        resumed = fmax(resumed, fabs(end[1][i] - end[0][i]));
        assert_true(end[2][i] == end[0][i]);
    }

    print_message("resumed: %.1e mm off (stages to 1e-7 mm)\n", resumed);
    PL_CHECK_BELOW(resumed, 1e-5);
    for (int k = 0; k < 3; ++k) {
        free(end[k]);
    }
}

// What is refused, and in which words.
static void test_refused(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(2, 1, 1, 100, 30, 30, 2, NULL);
    pl_material weightless = beam_rubber();
    weightless.density = 0;
    plan_beam(&p, mesh, weightless);
    pl_robot *robot = plan_robot(&p);
    pl_dynamics *d = NULL;
    pl_error err = {0};
    pl_dynamics_options options = pl_dynamics_options_default();
    assert_int_equal(pl_dynamics_create(robot, &options, &d, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "rubber"));
    assert_non_null(strstr(err.text, "density"));
    assert_null(d);
    options.tolerance = 0;
    assert_int_equal(pl_dynamics_create(robot, &options, &d, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "tolerance"));
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_step_independence),
                                       cmocka_unit_test(test_drives),
                                       cmocka_unit_test(test_impulse),
                                       cmocka_unit_test(test_work_of_jump),
                                       cmocka_unit_test(test_idle_of_length),
                                       cmocka_unit_test(test_ramp_beside_jump),
                                       cmocka_unit_test(test_jump_of_length),
                                       cmocka_unit_test(test_tip_mass),
                                       cmocka_unit_test(test_rigid_half),
                                       cmocka_unit_test(test_resumed),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
