// Friction of a cable in its guides: tensions fall by e^(-mu phi) along a cable that is pulled, rise where it
// is released far enough, and stay as they were in between; a cable of given length has the shape that its
// tension gives; derivatives by the tension are those of differences.
#include "statics_robot.h"

#define CELLS 8
#define FRICTION 0.3

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.12, .poisson = 0.4};
static const double length = 80, edge = 10;

// A beam of 80 x 10 x 10 mm, clamped at x = 0, with a cable along its upper edge through the corners of
// cells.
static rig beam_rig(plan *p, pl_mesh *mesh, pl_drive drive, double friction)
{
    static pl_guide_def guide[CELLS + 1];
    for (int k = 0; k <= CELLS; ++k) {
        guide[k] = (pl_guide_def){.point = {length * k / CELLS, edge, edge}};
    }
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, length);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    p->actuator[0] = (pl_actuator_def){.name = "cable",
                                       .kind = PL_CABLE,
                                       .drive = drive,
                                       .guide = guide,
                                       .guide_count = CELLS + 1,
                                       .friction = friction};
    p->def.actuator_count = 1;

    return plan_build(p, NULL);
}

static int32_t vertex_at(const rig *r, double x)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(r->robot));
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double at[3] = {x, edge, edge};
        if (fabs(v.position[3 * i] - at[0]) + fabs(v.position[3 * i + 1] - at[1]) +
                fabs(v.position[3 * i + 2] - at[2]) <
            1e-9) {
            return i;
        }
    }

    fail_msg("no vertex at %g", x);
    return -1;
}

// The angle by which the cable turns at guide k, from the shape.
static double angle(const rig *r, int k)
{
    double d[2][3], lengths[2], cosine = 0;
    for (int side = 0; side < 2; ++side) {
        const double *a = pl_state_positions(r->state) + 3 * vertex_at(r, length * (k + side - 1) / CELLS),
                     *b = pl_state_positions(r->state) + 3 * vertex_at(r, length * (k + side) / CELLS);
        for (int i = 0; i < 3; ++i) {
            d[side][i] = b[i] - a[i];
        }
        lengths[side] = sqrt(d[side][0] * d[side][0] + d[side][1] * d[side][1] + d[side][2] * d[side][2]);
    }

    for (int i = 0; i < 3; ++i) {
        cosine += d[0][i] * d[1][i] / (lengths[0] * lengths[1]);
    }

    return acos(fmin(1, cosine));
}

static double tension(rig *r, int piece)
{
    char quantity[24];
    snprintf(quantity, sizeof quantity, "tension_%d", piece + 1);
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.group, "cables") == 0 && strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }

    fail_msg("no tension of piece %d", piece);
    return 0;
}

static void tip(rig *r, double out[3])
{
    memcpy(out, pl_statics_marker(r->statics, r->state, 0).position, 3 * sizeof *out);
}

static double apart(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void test_capstan(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(CELLS, 1, 1, length, edge, edge, 2, NULL);
    rig r = beam_rig(&p, mesh, PL_DRIVE_TENSION, FRICTION), without = beam_rig(&p, mesh, PL_DRIVE_TENSION, 0);
    double pulled[3], released[3], smooth[3], kept[CELLS], worst = 0, turn = 0;

    // pulled: e^(-mu phi) from piece to piece
    const double half = 0.6, full = 1.2, less = 1.15;
    rig_solve(&r, &half);
    tip(&r, pulled);
    rig_solve(&without, &half);
    tip(&without, smooth);
    for (int k = 1; k < CELLS; ++k) {
        worst = fmax(worst, fabs(tension(&r, k) / tension(&r, k - 1) * exp(FRICTION * angle(&r, k)) - 1));
        turn += angle(&r, k);
    }

    printf("pulled: last tension %.4f of the first, e^(-mu phi) %.4f, worst ratio off by %.1e\n",
           tension(&r, CELLS - 1) / half, exp(-FRICTION * turn), worst);
    PL_CHECK_BELOW(worst, 1e-5);
    assert_true(apart(pulled, smooth) > 0.1);

    // a little released: the far pieces stick (their bound moves a little with the angles)
    rig_solve(&r, &full);
    for (int k = 0; k < CELLS; ++k) {
        kept[k] = tension(&r, k);
    }
    rig_solve(&r, &less);
    PL_CHECK_NEAR(tension(&r, CELLS - 1), kept[CELLS - 1], 1e-3);
    PL_CHECK_NEAR(tension(&r, 0), less, 1e-12);

    // released to where it was: e^(mu phi), and another shape
    rig_solve(&r, &half);
    tip(&r, released);
    worst = 0;
    for (int k = 1; k < CELLS; ++k) {
        worst = fmax(worst, fabs(tension(&r, k) / tension(&r, k - 1) * exp(-FRICTION * angle(&r, k)) - 1));
    }
    printf(
        "released: last tension %.4f of the first, worst ratio off by %.1e; tip %.2f mm from where it was\n",
        tension(&r, CELLS - 1) / half, worst, apart(pulled, released));
    PL_CHECK_BELOW(worst, 1e-5);
    assert_true(apart(pulled, released) > 0.2);
    rig_clear(&r);
    rig_clear(&without);
    pl_mesh_destroy(mesh);
}

static void test_length(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(CELLS, 1, 1, length, edge, edge, 2, NULL);
    rig by_length = beam_rig(&p, mesh, PL_DRIVE_SHORTENING, FRICTION),
        by_tension = beam_rig(&p, mesh, PL_DRIVE_TENSION, FRICTION);
    double one[3], two[3];
    const double shortening = 3;
    rig_solve(&by_length, &shortening);
    const double pull = pl_statics_actuator(by_length.statics, by_length.state, 0).effort;
    rig_solve(&by_tension, &pull);
    tip(&by_length, one);
    tip(&by_tension, two);
    printf("shortened by 3 mm: %.4f N; with this tension the tip is %.1e mm apart\n", pull, apart(one, two));
    PL_CHECK_BELOW(apart(one, two), 1e-4);
    rig_clear(&by_length);
    rig_clear(&by_tension);
    pl_mesh_destroy(mesh);
}

static void test_derivatives(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(CELLS, 1, 1, length, edge, edge, 2, NULL);
    double side[2][3], marker[3], d_reading[CELLS], end[2];
    const double pull = 0.8, h = 1e-3;
    for (int k = 0; k < 2; ++k) {
        rig r = beam_rig(&p, mesh, PL_DRIVE_TENSION, FRICTION);
        const double command = pull + (k ? h : -h);
        rig_solve(&r, &command);
        tip(&r, side[k]);
        end[k] = tension(&r, CELLS - 1);
        rig_clear(&r);
    }

    rig r = beam_rig(&p, mesh, PL_DRIVE_TENSION, FRICTION);
    const pl_parameter q = {PL_PARAMETER_COMMAND, 0, 0};
    const pl_jacobian out = {.marker = marker, .reading = d_reading};
    pl_jacobian_report report;
    pl_error err = {0};
    rig_solve(&r, &pull);
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &q, 1, &out, &report, &err));
    for (int i = 0; i < 3; ++i) {
        const double slope = (side[1][i] - side[0][i]) / (2 * h);
        printf("d(tip)/d(tension) %d: %.6f, differences %.6f\n", i, marker[i], slope);
        PL_CHECK_NEAR(marker[i], slope, 1e-3);
    }

    printf("d(last tension)/d(tension): %.6f, differences %.6f\n", d_reading[CELLS - 1],
           (end[1] - end[0]) / (2 * h));
    PL_CHECK_NEAR(d_reading[CELLS - 1], (end[1] - end[0]) / (2 * h), 1e-5);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_capstan), cmocka_unit_test(test_length),
                                       cmocka_unit_test(test_derivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
