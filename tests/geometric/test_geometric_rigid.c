// Laws of rigid regions that are not clamped: they keep their shape to the last digits, and the body around
// them takes the exact core's shape; loads on them count by their sum and moment.
#include "base/vec.h"
#include "geometric_robot.h"

static const pl_material soft = {.model = PL_LINEAR, .young = 1.3, .poisson = 0.3, .density = 1.1e-9};

// A beam clamped at x = 0, its region `second` rigid.
static void beam_plan(plan *p, const pl_mesh *mesh)
{
    plan_init(p, mesh, soft);
    p->region[1] = (pl_region_def){.region = "second", .material = "rubber"};
    p->def.region_count = 2;
    p->rigid[p->def.rigid_count++] = (pl_rigid_def){.region = "second"};
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 30);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
}

// 12 x 2 x 2 cells; those from `from` to `to` along it are the second region.
static pl_mesh *beam_mesh(int from, int to)
{
    int32_t region[48] = {0};
    for (int c = 0; c < 48; ++c) {
        region[c] = c % 12 >= from && c % 12 < to;
    }

    pl_error err = {0};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(12, 2, 2, (const double[3]){30, 4, 4}, NULL, region, &mesh, &err));

    return mesh;
}

static rig plain_rig(plan *p)
{
    pl_statics_options options = tight_options();
    options.displacement = true;
    return plan_build(p, &options);
}

// Distances between the vertices of the rigid region against those at rest.
static double rigid_error(const rig *r, const double *x, double from, double to)
{
    const double *X = rig_rest(r);
    double worst = 0;

    for (int32_t i = 0; i < pl_state_vertex_count(r->state); ++i) {
        for (int32_t j = 0; j < i; ++j) {
            if (X[3 * i] >= from && X[3 * i] <= to && X[3 * j] >= from && X[3 * j] <= to) {
                const double d = pl_distance3(x + 3 * i, x + 3 * j) - pl_distance3(X + 3 * i, X + 3 * j);
                worst = fmax(worst, fabs(d));
            }
        }
    }

    return worst;
}

// Rigid to rounding in every iterate, whatever form and acceleration.
static void check_rigid(plan *p, double from, double to, const double *command)
{
    for (int k = 0; k < 6; ++k) {
        rig r = plain_rig(p);
        pl_geometric_options o = geo_tight();
        o.acceleration = (pl_acceleration)(k % 3);
        o.form = k < 3 ? PL_FORM_MU_LAMBDA : PL_FORM_BLENDED;
        o.iteration_limit = 40;
        pl_geometric *g = geo_make(r.robot, &o);
        pl_error err = {0};
        pl_solve_report report;
        PL_CHECK_OK(pl_geometric_solve(g, r.state, command, &report, &err));
        PL_CHECK_BELOW(rigid_error(&r, rig_x(&r), from, to), 1e-12);
        pl_geometric_destroy(g);
        rig_clear(&r);
    }
}

// A rigid block at the tip under weight, a force and a moment.
static void test_rigid_tip(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = beam_mesh(9, 12);
    beam_plan(&p, mesh);
    p.def.gravity[2] = -9810;
    p.force[p.def.force_count++] =
        (pl_force_def){.marker = "tip", .force = {0, 0.002, 0.003}, .moment = {0.2, 0.3, 0}};
    check_rigid(&p, 22.5, 30, NULL);
    rig r = plain_rig(&p);
    geo_check_exact(&r, NULL, "rigid tip", 0);
    pl_mesh_destroy(mesh);
}

// A rigid piece in the middle, pulled through by a cable that is guided in it.
static void test_rigid_middle(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = beam_mesh(5, 7);
    const pl_guide_def guide[3] = {
        {.point = {0.5, 2, 3.5}}, {.point = {15, 2, 3.5}}, {.point = {29.5, 2, 3.5}}};
    beam_plan(&p, mesh);
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING);
    check_rigid(&p, 12.5, 17.5, &(double){2});
    rig r = plain_rig(&p);
    geo_check_exact(&r, &(double){2}, "rigid middle", 1);
    pl_mesh_destroy(mesh);
}

// Held in single axes by its sides: one matrix per set of held vertices, the region couples the axes.
static void test_rigid_on_rollers(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = beam_mesh(8, 12);
    plan_init(&p, mesh, soft);
    p.region[1] = (pl_region_def){.region = "second", .material = "rubber"};
    p.def.region_count = 2;
    p.rigid[p.def.rigid_count++] = (pl_rigid_def){.region = "second"};
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 30);
    plan_hold(&p, "base", "xz");
    p.fixed[p.def.fixed_count++] = (pl_fixed_def){.name = "edge",
                                                  .has_box = true,
                                                  .low = {-1, -1, -1},
                                                  .high = {1, 0.5, 5},
                                                  .body = -1,
                                                  .axis = {false, true, false}};
    plan_marker(&p, "tip", "tip");
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {0, 0, 0.01}};
    rig r = plain_rig(&p);
    geo_check_exact(&r, NULL, "rigid tip on rollers", 1);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_tip),
        cmocka_unit_test(test_rigid_middle),
        cmocka_unit_test(test_rigid_on_rollers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
