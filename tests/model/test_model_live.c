// Live motions: frames with commands as they come are the motion of the same commands given as a table, the
// hardware limits their rates, and a hand that pulls and lets go leaves the body swinging.
#include <stdlib.h>
#include "pliant/simulation.h"
#include "model/model.h"
#include "statics_robot.h"

#define FRAME 0.01
#define FRAMES 20

static pl_robot *cable_beam(void)
{
    static plan p;
    static const pl_guide_def guide[2] = {{.point = {0, 5, 9}}, {.point = {60, 5, 9}}};
    pl_mesh *mesh = tet_box(6, 1, 1, 60, 10, 10, 2, NULL);

    plan_init(&p, mesh,
              (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45, .density = 1.07e-9});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 60);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    pl_actuator_def *cable = plan_cable(&p, "cable", guide, 2, PL_DRIVE_TENSION);
    cable->rate = 40; // N/s
    pl_robot *robot = plan_robot(&p);
    pl_mesh_destroy(mesh);

    return robot;
}

// 0 to 0.4 N and back, corners at the ends of frames.
static double asked(int frame)
{
    return frame <= 8 ? 0.05 * frame : fmax(0, 0.4 - 0.1 * (frame - 8));
}

typedef struct rows {
    double z[FRAMES + 1];
    int count;
} rows;

static bool rows_take(void *user, const pl_motion_row *row)
{
    rows *r = user;
    r->z[r->count++] = row->answer->marker[2];
    return r->count <= FRAMES;
}

static void test_frames_are_the_table(void **state)
{
    (void)state;
    pl_robot *robot = cable_beam();
    pl_model *model = NULL;
    pl_simulation *live = NULL, *whole = NULL;
    pl_schedule *schedule = NULL;
    pl_error err = {0};
    const pl_statics_options statics = pl_statics_options_default();
    pl_dynamics_options options = pl_dynamics_options_default();
    options.largest_step = FRAME;
    PL_CHECK_OK(pl_model_from_robot(robot, &statics, &model, &err));
    PL_CHECK_OK(pl_simulation_create(model, &options, &live, &err));
    PL_CHECK_OK(pl_simulation_create(model, &options, &whole, &err));
    const pl_model_info info = pl_model_get_info(model);

    // the equilibrium at tension 0
    const double zero = 0;
    pl_solve_report solved;
    PL_CHECK_OK(pl_model_fk(model, &zero, &solved, &err));
    PL_CHECK_OK(pl_simulation_from_model(live, &err));
    PL_CHECK_OK(pl_simulation_from_model(whole, &err));

    // as a table
    rows table = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_schedule_create(info.command, 1, 0, &zero, &schedule, &err));
    for (int k = 1; k <= FRAMES; ++k) {
        PL_CHECK_OK(pl_schedule_ramp(schedule, 0, (k - 1) * FRAME, FRAME, asked(k), &err));
    }
    PL_CHECK_OK(
        pl_simulation_run(whole, schedule, NULL, FRAMES * FRAME, FRAME, rows_take, &table, &report, &err));

    // frame by frame
    double worst = 0, most = 0;
    PL_CHECK_OK(pl_simulation_start(live, &err));
    for (int k = 1; k <= FRAMES; ++k) {
        const double command = asked(k);
        pl_motion_row row;
        PL_CHECK_OK(pl_simulation_advance(live, &command, NULL, FRAME, &row, &report, &err));
        PL_CHECK_NEAR(row.time, k * FRAME, 1e-9);
        worst = fmax(worst, fabs(row.answer->marker[2] - table.z[k]));
        most = fmax(most, fabs(table.z[k] - table.z[0]));
    }

    print_message("%d frames: %.1e mm apart of %.2f mm; %d steps, %d factorisations\n", FRAMES, worst, most,
                  report.steps, report.factorizations);
    PL_CHECK_BELOW(worst, 2e-3 * most);

    // no faster than the rate: 40 N/s are 0.4 N in a frame
    const double jump = 2;
    pl_motion_row row;
    PL_CHECK_OK(pl_simulation_advance(live, &jump, NULL, FRAME, &row, &report, &err));
    PL_CHECK_NEAR(row.answer->command[0], 0.4, 1e-9);

    pl_schedule_destroy(schedule);
    pl_simulation_destroy(live);
    pl_simulation_destroy(whole);
    pl_model_destroy(model);
    pl_robot_destroy(robot);
}

static void test_hand(void **state)
{
    (void)state;
    pl_robot *robot = cable_beam();
    pl_model *model = NULL;
    pl_simulation *live = NULL;
    pl_error err = {0};
    const pl_statics_options statics = pl_statics_options_default();
    pl_dynamics_options options = pl_dynamics_options_default();
    options.largest_step = FRAME;
    PL_CHECK_OK(pl_model_from_robot(robot, &statics, &model, &err));
    PL_CHECK_OK(pl_simulation_create(model, &options, &live, &err));
    PL_CHECK_OK(pl_simulation_from_model(live, &err));
    PL_CHECK_OK(pl_simulation_start(live, &err));
    const double at[3] = {60, 5, 5}, pull[3] = {0, 0, 0.05}, idle = NAN;
    pl_motion_row row;
    pl_motion_report report;
    PL_CHECK_OK(pl_simulation_grip(live, at, 3, &err));
    pl_simulation_pull(live, pull);
    for (int k = 0; k < 5; ++k) {
        PL_CHECK_OK(pl_simulation_advance(live, &idle, NULL, FRAME, &row, &report, &err));
    }

    const double up = row.answer->marker[2];
    const double work = row.energy.loads;
    pl_simulation_pull(live, NULL);
    double low = up;
    for (int k = 0; k < 20; ++k) {
        PL_CHECK_OK(pl_simulation_advance(live, &idle, NULL, FRAME, &row, &report, &err));
        low = fmin(low, row.answer->marker[2]);
    }

    print_message("pulled to %.3f mm, swings to %.3f mm; work of the hand %.4f mJ, imbalance %.1e\n", up - 5,
                  low - 5, work, row.energy.imbalance);
    assert_true(up > 5.5 && low < 4.7);
    assert_true(work > 0);
    PL_CHECK_BELOW(row.energy.imbalance, 0.01 * work);
    pl_simulation_destroy(live);
    pl_model_destroy(model);
    pl_robot_destroy(robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames_are_the_table),
                                       cmocka_unit_test(test_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
