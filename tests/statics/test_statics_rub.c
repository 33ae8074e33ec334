// Friction between bodies: a block that is dragged over another with another mesh is held below mu N and
// slips at it; the forces on both balance with those of the supports, moments too; on a stiff slab it is
// dragged as on a plane.
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.3};
#define MU 0.3

static double reading(rig *r, const char *name, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.name, name) == 0 && strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }

    fail_msg("no reading %s", quantity);
    return 0;
}

// A slab of 6 x 4 x 1 mm (c10: `stiff` times that of the block), clamped below, and a block of 2.6 x 2.6 x 1
// mm on it. With a plane: the slab's upper face in its place.
typedef struct pair_plan {
    plan p;
    pl_mesh *lower, *upper;
    pl_obstacle_def obstacle;
} pair_plan;

static void pair_fill(pair_plan *w, double stiff, double mu)
{
    plan *p = &w->p;
    w->lower = tet_box(4, 3, 1, 6, 4, 1, 2, NULL);
    w->upper = tet_box(2, 2, 1, 2.6, 2.6, 1, 2, NULL);
    plan_init(p, w->lower, rubber);
    p->material[1] = p->material[0];
    p->material[1].name = "stiff";
    p->material[1].material.c10 *= stiff;
    p->def.material_count = 2;
    p->mesh[1] = w->upper;
    p->body[0].name = "lower";
    p->body[1] = (pl_body_def){
        .name = "upper", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {0.7, 0.6, 1.005}};
    p->def.body_count = 2;
    p->region[0] = (pl_region_def){.region = "lower.body", .material = "stiff"};
    p->region[1] = (pl_region_def){.region = "upper.body", .material = "rubber"};
    p->def.region_count = 2;
    p->surface[0] =
        (pl_surface_def){.name = "lower.base", .pick = {.kind = PL_PICK_PLANE, .normal = {0, 0, 1}}};
    p->surface[1] =
        (pl_surface_def){.name = "upper.top",
                         .body = 1,
                         .pick = {.kind = PL_PICK_PLANE, .normal = {0, 0, 1}, .point = {0, 0, 1}}};
    p->def.surface_count = 2;
    plan_hold(p, "lower.base", "xyz");
    p->def.contact = (pl_contact_def){.given = true, .friction = mu};
}

static void pair_clear(pair_plan *w, rig *r)
{
    rig_clear(r);
    pl_mesh_destroy(w->lower);
    pl_mesh_destroy(w->upper);
}

// The top is carried down and along.
static void test_drag(void **state)
{
    (void)state;
    static const double along[] = {0.02, 0.6}, mu[] = {2, MU};
    for (int k = 0; k < 2; ++k) {
        static pair_plan w;
        const pl_statics_options options = pl_statics_options_default();
        const double none = 0;
        pl_reaction reaction[2];
        pl_error err = {0};
        pair_fill(&w, k ? 1 : 1000, mu[k]);
        double *move = plan_hold(&w.p, "upper.top", "xyz")->move;
        move[0] = along[k];
        move[1] = 0.5 * along[k];
        move[2] = -0.1;
        rig r = plan_build(&w.p, &options);
        const pl_solve_report report = rig_solve(&r, &none);
        PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, reaction));
        const char *const name = "lower/upper";
        const double normal = reading(&r, name, "normal_force"),
                     force[3] = {reading(&r, name, "force_x"), reading(&r, name, "force_y"),
                                 reading(&r, name, "force_z")},
                     moment[3] = {reading(&r, name, "moment_x"), reading(&r, name, "moment_y"),
                                  reading(&r, name, "moment_z")},
                     drag = hypot(force[0], force[1]);
        printf("dragged by %.2f mm: normal %.5f N, tangential %.5f N (%.4f), %d factorisations\n", along[k],
               normal, drag, drag / normal, report.factorizations);
        PL_CHECK_BELOW(drag, (k ? 1 + 1e-3 : 0.9) * mu[k] * normal);
        if (k == 1) {
            PL_CHECK_NEAR(drag / normal, MU, 0.01 * MU);
            PL_CHECK_NEAR(force[1] / force[0], 0.5, 0.02);
        }
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(reaction[0].force[i], -force[i], 1e-7);
            PL_CHECK_NEAR(reaction[1].force[i], force[i], 1e-7);
            PL_CHECK_NEAR(reaction[0].moment[i], -moment[i], 1e-5);
        }
        printf("  moments %.6f %.6f %.6f, of the support %.6f %.6f %.6f N mm\n", moment[0], moment[1],
               moment[2], reaction[0].moment[0], reaction[0].moment[1], reaction[0].moment[2]);
        pair_clear(&w, &r);
    }
}

// On a slab a thousand times as stiff, and on a plane.
static void test_plane(void **state)
{
    (void)state;
    double force[2][2];
    for (int k = 0; k < 2; ++k) {
        static pair_plan w;
        const pl_statics_options options = pl_statics_options_default();
        const double none = 0;
        pair_fill(&w, 1000, MU);
        double *move = plan_hold(&w.p, "upper.top", "xyz")->move;
        move[0] = 0.6;
        move[2] = -0.1;
        if (k == 1) {
            w.obstacle = (pl_obstacle_def){.name = "plane",
                                           .kind = PL_OBSTACLE_PLANE,
                                           .point = {0, 0, 1},
                                           .direction = {0, 0, 1},
                                           .friction = MU};
            w.p.def.contact.obstacle = &w.obstacle;
            w.p.def.contact.obstacle_count = 1;
            // without the slab
            w.p.mesh[0] = w.upper;
            w.p.body[0] = w.p.body[1];
            w.p.region[0] = w.p.region[1];
            w.p.surface[0] = w.p.surface[1];
            w.p.surface[0].body = 0;
            w.p.fixed[0] = w.p.fixed[1];
            w.p.region[0].region = "body";
            w.p.surface[0].name = w.p.fixed[0].name = w.p.fixed[0].surface = "top";
            w.p.def.body_count = w.p.def.region_count = w.p.def.surface_count = w.p.def.fixed_count = 1;
        }
        rig r = plan_build(&w.p, &options);
        rig_solve(&r, &none);
        pl_reaction reaction[2];
        pl_error err = {0};
        PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, reaction));
        const double *const top = reaction[k == 0].force;
        force[k][0] = fabs(top[2]);
        force[k][1] = hypot(top[0], top[1]);
        printf("%s: normal %.5f N, tangential %.5f N\n", k ? "plane" : "stiff slab", force[k][0],
               force[k][1]);
        pair_clear(&w, &r);
    }
    // faces of bodies are kept apart by 0.002 of the edge, a part of 0.03 of this approach
    PL_CHECK_NEAR(force[0][0] / force[1][0], 1, 0.05);
    PL_CHECK_NEAR(force[0][1] / force[0][0], force[1][1] / force[1][0], 0.002 * MU);
    PL_CHECK_NEAR(force[0][1] / force[0][0], MU, 0.005 * MU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drag), cmocka_unit_test(test_plane)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
