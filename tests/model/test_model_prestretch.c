// Layers and fibres that were stretched before they were bonded, against composite beams: on one side they
// curl a strip, up to 300 degrees, on both they shorten it. The bending angle keeps its sign and is not
// wrapped.
#include "base/base.h"
#include "model/model.h"
#include "model/model_record.h"
#include "pliant/model.h"
#include "statics_robot.h"

static const double L = 60, B = 2, H = 1, THICK = 0.1, BODY = 1, SHEET = 10, DEGREE = PL_PI / 180;
static const double idle = NAN;

// A strip along x, clamped at x = 0, that keeps its width.
static void strip_plan(plan *p, const pl_mesh *mesh)
{
    plan_init(p, mesh, (pl_material){.model = PL_LINEAR, .young = BODY, .poisson = 0});
    p->material[p->def.material_count++] =
        (pl_material_def){.name = "film", .material = {.model = PL_LINEAR, .young = SHEET, .poisson = 0}};
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, L);
    plan_plane(p, "bottom", 2, 0);
    plan_plane(p, "top", 2, H);
    plan_plane(p, "front", 1, 0);
    plan_plane(p, "back", 1, B);
    plan_hold(p, "base", "xyz");
    plan_hold(p, "front", "y");
    plan_hold(p, "back", "y");
    plan_marker(p, "tip", "tip");
}

static pl_layer_def *strip_layer(plan *p, const char *surface, double prestretch)
{
    pl_layer_def *l = &p->layer[p->def.layer_count++];
    *l = (pl_layer_def){.name = surface,
                        .surface = surface,
                        .material = "film",
                        .thickness = THICK,
                        .wrinkle = -1,
                        .prestretch = prestretch};
    return l;
}

// Strain at z = 0 and curvature of a strip with one film at z, per width: the film pulls with
// h/p E (p l - 1) = h E ((p - 1)/p + e), e = e0 + k z: at rest it is narrower by p, too.
static void strip_beam(double p, double z, bool bending, double *e0, double *k)
{
    const double film = SHEET * THICK, pull = film * (p - 1) / p;
    const double A = BODY * H + film, S = BODY * H * H / 2 + film * z,
                 I = BODY * H * H * H / 3 + film * (z * z + (bending ? THICK * THICK * p * p / 12 : 0)),
                 det = A * I - S * S;
    *e0 = -pull * (I - S * z) / det;
    *k = -pull * (A * z - S) / det;
}

static const pl_record_marker *strip_solve(plan *p, pl_robot **robot, pl_model **model, int *factorizations)
{
    const pl_statics_options options = tight_options();
    pl_error err = {0};
    pl_solve_report report;
    const pl_record *record;

    *robot = plan_robot(p);
    PL_CHECK_OK(pl_model_from_robot(*robot, &options, model, &err));
    PL_CHECK_OK(pl_model_fk(*model, &idle, &report, &err));
    if (report.outcome != PL_SOLVED) {
        print_error("%s: %s\n", pl_outcome_name(report.outcome), report.message);
    }
    assert_int_equal(report.outcome, PL_SOLVED);
    PL_CHECK_OK(pl_model_record(*model, NULL, &record, &err));
    *factorizations = report.factorizations;

    return &record->marker[0];
}

// One film: a circle. Below it bends the strip down, about +y; above it up.
static void test_curls(void **state)
{
    (void)state;
    static const struct {
        double degrees;
        const char *surface;
        bool membrane;
        pl_layer_side side;
    } c[] = {{5, "bottom", true, PL_SIDE_MIDDLE},   {5, "bottom", false, PL_SIDE_OUTSIDE},
             {-5, "top", false, PL_SIDE_INSIDE},    {90, "bottom", true, PL_SIDE_MIDDLE},
             {200, "bottom", true, PL_SIDE_MIDDLE}, {300, "bottom", true, PL_SIDE_MIDDLE},
             {-200, "top", false, PL_SIDE_OUTSIDE}, {-300, "top", true, PL_SIDE_MIDDLE}};
    pl_mesh *mesh = tet_box(30, 1, 1, L, B, H, 2, NULL);
    for (int i = 0; i < PL_COUNT(c); ++i) {
        const bool top = c[i].degrees < 0;
        const double out = c[i].side == PL_SIDE_OUTSIDE  ? THICK / 2
                           : c[i].side == PL_SIDE_INSIDE ? -THICK / 2
                                                         : 0,
                     z = top ? H + out : -out;
        double p = 1.01, e0, k;
        for (int round = 0; round < 60; ++round) { // the prestretch for that angle; down is k > 0
            strip_beam(p, z, !c[i].membrane, &e0, &k);
            p = 1 + (p - 1) * c[i].degrees * DEGREE / (k * L);
        }
        static plan s;
        pl_robot *robot;
        pl_model *model;
        int factorizations;
        strip_plan(&s, mesh);
        pl_layer_def *l = strip_layer(&s, c[i].surface, p);
        l->membrane = c[i].membrane;
        l->side = c[i].side;
        const pl_record_marker *tip = strip_solve(&s, &robot, &model, &factorizations);
        const double a = k * L, middle = 1 + e0 + k * H / 2, x = middle / k * sin(a),
                     y = H / 2 - middle / k * (1 - cos(a));
        print_message("%s, stretched by %.4f: bend %+.3f degrees (turned %.2f), circle %+.0f; tip (%.3f, "
                      "%.3f), circle (%.3f, %.3f); %d factorisations\n",
                      c[i].surface, p, tip->bend, tip->turned, c[i].degrees, tip->position[0],
                      tip->position[2], x, y, factorizations);
        PL_CHECK_NEAR(tip->bend / c[i].degrees, 1, 0.005);
        PL_CHECK_NEAR(tip->bend_axis[1], 1, 1e-4);
        PL_CHECK_NEAR(tip->position[0], x, 0.01 * L);
        PL_CHECK_NEAR(tip->position[2], y, 0.01 * L);
        pl_model_destroy(model);
        pl_robot_destroy(robot);
    }

    pl_mesh_destroy(mesh);
}

// Threads on both sides: E A e + 2 E A' ((p - 1) + p e) = 0; films are narrower by p at rest, too. A film
// that was compressed (p < 1) makes the strip longer.
static void test_shortens(void **state)
{
    (void)state;
    static const double line[2][6] = {{0, 1, 0, 60, 1, 0}, {0, 1, 1, 60, 1, 1}};
    const double EA = 3, prestretch[] = {1.05, 1.5, 0.97};
    pl_mesh *mesh = tet_box(30, 2, 1, L, B, H, 2, NULL);
    for (int i = 0; i < 6; ++i) {
        const double p = prestretch[i % 3], stiff = i < 3 ? SHEET * THICK * B / p : EA;
        static plan s;
        pl_robot *robot;
        pl_model *model;
        int factorizations;
        strip_plan(&s, mesh);
        for (int k = 0; k < 2; ++k) {
            if (i < 3) {
                strip_layer(&s, k ? "top" : "bottom", p)->membrane = true;
            } else {
                s.fibre[s.def.fibre_count++] = (pl_fibre_def){.name = k ? "upper" : "lower",
                                                              .kind = PL_FIBRE_LINE,
                                                              .surface = k ? "top" : "bottom",
                                                              .point = line[k],
                                                              .point_count = 2,
                                                              .stiffness = EA,
                                                              .prestretch = p};
            }
        }
        for (int k = 0; k < 2; ++k) { // away from the ends, where threads enter the section
            s.marker[s.def.marker_count++] =
                (pl_marker_def){.name = k ? "b" : "a", .at = {20 + 20 * k, 1, 0.5}};
        }
        strip_solve(&s, &robot, &model, &factorizations);
        const pl_record *record;
        pl_error err = {0};
        PL_CHECK_OK(pl_model_record(model, NULL, &record, &err));
        const double e = (record->marker[2].displacement[0] - record->marker[1].displacement[0]) / 20,
                     want = -2 * stiff * (p - 1) / (BODY * B * H + 2 * stiff * p);
        print_message("two %s stretched by %.2f: strain %+.6f, closed form %+.6f; %d factorisations\n",
                      i < 3 ? "films" : "threads", p, e, want, factorizations);
        PL_CHECK_NEAR(e / want, 1, i < 3 ? 1e-3 : 0.02);
        pl_model_destroy(model);
        pl_robot_destroy(robot);
    }

    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_curls), cmocka_unit_test(test_shortens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
