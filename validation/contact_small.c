// Law: obstacles smaller than the mesh press as on a fine one, or the answer says that the mesh is too
// coarse. Balls, lying and standing pins and wedges, of 0.1 to 1 edges of the coarsest mesh, lift a bar;
// forces and tip displacements on meshes of 8 and 4 mm beside those on one of 2 mm. Two warnings count: of
// the footprint (the contact is not resolved) and of the mesh error above 5 % (the bar itself is not).
//   contact_small [kind]          as in docs/results/contact.md
//   contact_small -1 CASES SEED   random radii, places and travels
#include "contact_rig.h"

#define SMALL_ALLOWED 0.1

static const char *const small_name[] = {"ball", "pin, lying", "pin, standing", "wedge"};

typedef struct small_result {
    pl_outcome outcome;
    double force, tip, depth;
    bool coarse;
    int factorizations;
} small_result;

typedef struct small_case {
    int kind;
    double radius, travel, at[2];
} small_case;

static pl_obstacle_def small_obstacle(int kind, double radius, const double at[2])
{
    pl_obstacle_def o = {.name = "thing", .radius = radius, .moves = true, .move = {0, 0, 1}};
    o.kind = kind == 0 ? PL_OBSTACLE_SPHERE : kind < 3 ? PL_OBSTACLE_CYLINDER : PL_OBSTACLE_BOX;
    o.direction[kind == 1 ? 1 : 2] = 1;
    o.length = kind == 2 ? 20 : 0;
    o.point[0] = at[0];
    o.point[1] = at[1];
    o.point[2] = -1e-3 - (kind == 2 ? 10 : kind == 3 ? sqrt(2) * 8 * radius : radius);

    // an edge along y, eight times as high as wide: the radius is that of a pin as wide as what is in the
    // body
    o.size[0] = o.size[2] = 16 * radius;
    o.size[1] = 30;
    o.rotate[1] = kind == 3 ? PI / 4 : 0;

    return o;
}

static small_result small_solve(const small_case *c, int fine)
{
    static const double size[3] = {40, 8, 8};
    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;

    box_mesh(5 * fine, fine, fine, size, NULL, NULL, &linear, &err);
    if (pl_mesh_raise(linear, &mesh, &err) != PL_OK) {
        fprintf(stderr, "contact_small: %s\n", err.text);
        exit(EXIT_FAILURE);
    }

    pl_material_def material = {.name = "rubber",
                                .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45}};
    pl_body_def body;
    pl_region_def region;
    pl_robot_def def = contact_def(&body, &material, &region);
    const pl_surface_def surface = contact_plane("base", 0, 0);
    const pl_fixed_def fixed = {.name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
    const pl_marker_def tip = {.name = "tip", .at = {40, 4, 4}};
    def.surface = &surface;
    def.surface_count = 1;
    def.fixed = &fixed;
    def.fixed_count = 1;
    def.marker = &tip;
    def.marker_count = 1;
    const pl_obstacle_def o = small_obstacle(c->kind, c->radius, c->at);
    def.contact = (pl_contact_def){.given = true, .obstacle = &o, .obstacle_count = 1};
    contact_rig r;
    small_result out = {.outcome = PL_STOPPED};
    if (contact_build(&def, NULL, mesh, &r)) {
        pl_solve_report report;
        const pl_status status = pl_statics_solve(r.statics, r.state, &c->travel, &report, &err);
        out = (small_result){.outcome = status == PL_OK ? report.outcome : PL_STOPPED,
                             .force = contact_reading(&r, "thing", "force_z"),
                             .tip = pl_statics_marker(r.statics, r.state, 0).position[2] - 4,
                             .depth = contact_reading(&r, "thing", "penetration"),
                             .coarse = report.coarse_contact != NULL,
                             .factorizations = report.factorizations};
        contact_clear(&r);
    }

    pl_mesh_destroy(linear);
    pl_mesh_destroy(mesh);

    return out;
}

// The largest error of a force without a warning; 0 where the reference was not solved.
static double small_compare(const small_case *c)
{
    const small_result reference = small_solve(c, 4);
    double worst = 0;

    printf("%-13s radius %.2f mm at %.2f, %.2f mm, %.2f mm high; 2 mm: %s, %.5f N, tip %.4f mm, %d "
           "factorisations\n",
           small_name[c->kind], c->radius, c->at[0], c->at[1], c->travel, pl_outcome_name(reference.outcome),
           reference.force, reference.tip, reference.factorizations);
    for (int fine = 1; fine <= 2; ++fine) {
        const small_result r = small_solve(c, fine);
        const double off = r.force / reference.force - 1;
        const bool compared = r.outcome == PL_SOLVED && reference.outcome == PL_SOLVED;
        printf("   %d mm: %s, %.5f N (%+.1f %%), tip %.4f mm, overlap %.2g mm, %d factorisations%s%s\n",
               8 / fine, pl_outcome_name(r.outcome), r.force, 100 * off, r.tip, r.depth, r.factorizations,
               r.coarse ? ", warns" : "",
               compared && fabs(off) > SMALL_ALLOWED && !r.coarse ? "   <-- FAIL" : "");
        worst = compared && !r.coarse ? fmax(worst, fabs(off)) : worst;
        fflush(stdout);
    }

    return worst;
}

static double small_between(uint64_t *seed, double a, double b)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return a + (b - a) * (double)(*seed >> 11) / 9007199254740992.0;
}

int main(int argc, char **argv)
{
    static const double part[] = {0.1, 0.3, 1};
    const int chosen = argc > 1 ? atoi(argv[1]) : -1, random = argc > 2 ? atoi(argv[2]) : 0;
    uint64_t seed = argc > 3 ? (uint64_t)atoi(argv[3]) : 1;
    double worst = 0;
    int cases = 0;

    for (int i = 0; i < (random ? random : 12); ++i) {
        small_case c = {.kind = i / 3, .radius = 8 * part[i % 3], .travel = 6, .at = {27.3, 3.4}};
        if (random) {
            c.kind = i % 4;
            c.radius = 8 * pow(10, small_between(&seed, -1, 0));
            c.travel = small_between(&seed, 2, 6);
            c.at[0] = small_between(&seed, 20, 35);
            c.at[1] = small_between(&seed, 3, 5);
        } else if (chosen >= 0 && c.kind != chosen) {
            continue;
        }
        worst = fmax(worst, small_compare(&c));
        ++cases;
    }

    printf(
        "law: small obstacles press as on a fine mesh | cases %d | worst force without a warning %.1f %% | "
        "allowed %g %% | %s\n",
        cases, 100 * worst, 100 * SMALL_ALLOWED, worst > SMALL_ALLOWED ? "FAIL" : "ok");

    return worst > SMALL_ALLOWED;
}
