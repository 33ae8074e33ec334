// How fast penetration falls with the updates of the multipliers: five contacts, each solved down to a
// tolerance far below the usual one, with the deepest penetration before and after each update.
//   contact_updates [tolerance [level of the log]]
#include <time.h>
#include "contact_rig.h"

#define UPDATES_LEAST 10.0 // times: what each update must gain
#define UPDATES_FLOOR 1e-8 // of the edge: below it round-off counts

typedef struct updates_case {
    const char *name;
    pl_solve_report report;
    double cpu;
} updates_case;

static void updates_row(validate_table *t, const updates_case *c, double tolerance)
{
    double least = INFINITY;
    printf("%s: %s, %d factorizations, %d solves, %.1f CPU s\n  penetration", c->name,
           pl_outcome_name(c->report.outcome), c->report.factorizations, c->report.solves, c->cpu);
    for (int i = 0; i <= c->report.contact_updates && i < PL_CONTACT_HISTORY; ++i) {
        const double now = c->report.contact_penetration[i],
                     before = i ? c->report.contact_penetration[i - 1] : 0;
        printf(" %.1e", now);
        if (i > 0 && before > UPDATES_FLOOR) {
            printf(" (%.0f x)", before / fmax(now, UPDATES_FLOOR));
            // an update that ends below the tolerance has done its work
            least = now > tolerance || before / tolerance > UPDATES_LEAST
                        ? fmin(least, before / fmax(now, UPDATES_FLOOR))
                        : least;
        }
    }

    printf("\n");
    char name[96];
    snprintf(name, sizeof name, "%s: least gain of an update", c->name);
    printf("%-46s %14s %14.3g %10s %10s", name, "10", least, "", "");
    validate_verdict(t, c->report.outcome == PL_SOLVED && !(least < UPDATES_LEAST));
}

static double updates_cpu(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

// ---- a block against an obstacle
static void updates_block(validate_table *t, const char *name, pl_obstacle_def obstacle, double command,
                          double tolerance)
{
    static const double size[3] = {12, 12, 6};
    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;

    box_mesh(8, 8, 4, size, NULL, NULL, &linear, &err);
    pl_mesh_raise(linear, &mesh, &err);
    pl_material_def material = {.name = "rubber",
                                .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47}};
    pl_body_def body;
    pl_region_def region;
    pl_robot_def def = contact_def(&body, &material, &region);
    const pl_surface_def surface = contact_plane("base", 2, 0);
    const pl_fixed_def fixed = {.name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
    def.surface = &surface;
    def.surface_count = 1;
    def.fixed = &fixed;
    def.fixed_count = 1;
    obstacle.moves = true;
    obstacle.move[2] = -1;
    def.contact = (pl_contact_def){.given = true, .obstacle = &obstacle, .obstacle_count = 1};
    pl_statics_options options = pl_statics_options_default();
    options.contact_tolerance = tolerance;
    updates_case c = {.name = name};
    contact_rig r;
    if (contact_build(&def, &options, mesh, &r)) {
        const double from = updates_cpu();
        pl_statics_solve(r.statics, r.state, &command, &c.report, &err);
        c.cpu = updates_cpu() - from;
    }

    updates_row(t, &c, tolerance);
    contact_clear(&r);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(mesh);
}

// ---- robots from text
static void updates_robot(validate_table *t, const char *name, const char *text, double command,
                          double tolerance)
{
    pl_error err = {0};
    const pl_load_options load = {.mesher = pl_meshing_mesher()};
    pl_findings *findings = pl_findings_create();
    pl_robot *robot = NULL;
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    pl_statics_options options = pl_statics_options_default();

    options.contact_tolerance = tolerance;
    updates_case c = {.name = name, .report = {.outcome = PL_NOT_CONVERGED}};
    if (pl_robot_load_text(text, strlen(text), "robot.yaml", &load, &robot, findings, &err) == PL_OK &&
        pl_statics_create(robot, &options, &statics, &err) == PL_OK &&
        pl_state_create(robot, &state, &err) == PL_OK) {
        const double from = updates_cpu();
        pl_statics_solve(statics, state, &command, &c.report, &err);
        c.cpu = updates_cpu() - from;
        pl_crossings crossings;
        pl_mesh_crossings(pl_robot_mesh(robot), pl_state_positions(state), &crossings, &err);
        printf("%s\n  crossings %d, smallest J %.2f\n", c.report.message, (int)crossings.count,
               c.report.min_J);
    } else {
        printf("%s\n", err.text);
    }

    updates_row(t, &c, tolerance);
    pl_findings_destroy(findings);
    pl_statics_destroy(statics);
    pl_state_destroy(state);
    pl_robot_destroy(robot);
}

// Two balls of rubber, the upper one (an eighth of a ball) pressed on a block by its flat side.
static void updates_bodies(validate_table *t, double tolerance)
{
    static const double size[3] = {8, 8, 5}, unit[3] = {1, 1, 1};
    pl_error err = {0};
    pl_mesh *linear = NULL, *lower = NULL, *cube = NULL, *upper = NULL, *round = NULL;

    box_mesh(5, 5, 3, size, NULL, NULL, &linear, &err);
    pl_mesh_raise(linear, &lower, &err);
    box_mesh(4, 4, 4, unit, NULL, NULL, &cube, &err);
    pl_mesh_raise(cube, &round, &err);

    // the unit cube onto an eighth of a ball of radius 7 around (0, 0, 0), seen from above: z <= 0
    const pl_mesh_view v = pl_mesh_get(round);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * (size_t)i;
        const double most = fmax(p[0], fmax(p[1], p[2])),
                     length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int k = 0; k < 3; ++k) {
            x[3 * (size_t)i + (size_t)k] = length > 0 ? 7 * p[k] * most / length : 0;
        }
    }

    pl_mesh_moved(round, x, &upper, &err);
    free(x);
    pl_material_def material = {.name = "rubber",
                                .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47}};

    // half a turn about x brings the pole down: z >= 0 becomes z <= 0, y >= 0 becomes y <= 0
    pl_body_def body[2] = {
        {.name = "lower", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
        {.name = "upper", .rotation = {1, 0, 0, 0, -1, 0, 0, 0, -1}, .translation = {0.3, 7.9, 12.05}}};
    const pl_region_def region[2] = {{.region = "lower.body", .material = "rubber"},
                                     {.region = "upper.body", .material = "rubber"}};
    const pl_surface_def surface[2] = {
        {.name = "lower.base", .pick = {.kind = PL_PICK_PLANE, .normal = {0, 0, 1}}},
        {.name = "upper.top", .body = 1, .pick = {.kind = PL_PICK_PLANE, .normal = {0, 0, 1}}}};
    const pl_fixed_def fixed[2] = {
        {.name = "lower.base", .surface = "lower.base", .body = -1, .axis = {true, true, true}},
        {.name = "upper.top",
         .surface = "upper.top",
         .body = -1,
         .axis = {true, true, true},
         .move = {0, 0, -0.8}}};
    const pl_robot_def def = {.name = "bodies",
                              .body = body,
                              .body_count = 2,
                              .material = &material,
                              .material_count = 1,
                              .region = region,
                              .region_count = 2,
                              .surface = surface,
                              .surface_count = 2,
                              .fixed = fixed,
                              .fixed_count = 2,
                              .contact = {.given = true}};
    const pl_mesh *const meshes[] = {lower, upper};
    pl_findings *findings = pl_findings_create();
    pl_statics_options options = pl_statics_options_default();
    options.contact_tolerance = tolerance;
    contact_rig r = {0};
    updates_case c = {.name = "two bodies, ball on block", .report = {.outcome = PL_NOT_CONVERGED}};
    if (pl_robot_create(&def, meshes, &r.robot, findings, &err) == PL_OK &&
        pl_statics_create(r.robot, &options, &r.statics, &err) == PL_OK &&
        pl_state_create(r.robot, &r.state, &err) == PL_OK) {
        const double from = updates_cpu(), none = 0;
        pl_statics_solve(r.statics, r.state, &none, &c.report, &err);
        c.cpu = updates_cpu() - from;
        printf("force %.5f N\n", contact_reading(&r, "lower/upper", "force_z"));
    } else {
        printf("%s\n", err.text);
    }

    updates_row(t, &c, tolerance);
    pl_findings_destroy(findings);
    contact_clear(&r);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(lower);
    pl_mesh_destroy(cube);
    pl_mesh_destroy(round);
    pl_mesh_destroy(upper);
}

static const char updates_finger[] =
    "pliant: 1\n"
    "name: slots\n"
    "mesh:\n"
    "  design: {kind: bending_finger, length: 60, width: 16, height: 16, modules: 5, slot: 1, wall: 2,\n"
    "    side_wall: 2.5, top_wall: 2.5, channel_height: 3, channel_width: 5, layer: 2}\n"
    "  size: 4.5\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49}\n"
    "  fabric: {model: linear, young: 30 MPa, poisson: 0.4}\n"
    "regions: {skin: silicone, layer: fabric}\n"
    "fixed: [{surface: base}]\n"
    "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 60 kPa]}]\n"
    "markers: {tip: {surface: tip}}\n"
    "contact: {self: true}\n";

static void updates_log(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    printf("%s\n", text);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        pl_log_set(updates_log, NULL, atoi(argv[2]));
    }

    validate_table t = {0};
    const double tolerance = argc > 1 ? atof(argv[1]) : 1e-6;
    printf("contact: penetration (of the edge) before and after each update, down to %.1e\n", tolerance);
    updates_block(&t, "flat plate",
                  (pl_obstacle_def){.name = "plate",
                                    .kind = PL_OBSTACLE_BOX,
                                    .point = {6, 6, 7},
                                    .size = {6, 6, 2},
                                    .direction = {0, 0, 1}},
                  0.6, tolerance);
    updates_block(
        &t, "plane",
        (pl_obstacle_def){
            .name = "plane", .kind = PL_OBSTACLE_PLANE, .point = {0, 0, 6}, .direction = {0, 0, -1}},
        0.6, tolerance);
    updates_block(
        &t, "ball",
        (pl_obstacle_def){.name = "ball", .kind = PL_OBSTACLE_SPHERE, .point = {6.2, 5.9, 11}, .radius = 5},
        1.0, tolerance);
    updates_block(&t, "cylinder",
                  (pl_obstacle_def){.name = "roller",
                                    .kind = PL_OBSTACLE_CYLINDER,
                                    .point = {6.1, 6, 10},
                                    .direction = {0.2, 1, 0},
                                    .radius = 4},
                  1.0, tolerance);
    updates_robot(&t, "finger with slots of 1 mm, 50 kPa", updates_finger, 0.05, tolerance);
    updates_bodies(&t, tolerance);

    return validate_end(&t);
}
