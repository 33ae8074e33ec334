// Obstacles smaller than the mesh: balls, lying and standing pins and wedges, of 0.1 to 1 edges of the
// coarsest mesh, are pressed into a bar; forces and tip displacements on meshes of 8 and 4 mm beside those on
// one of 2 mm.
//   contact_small [kind]
#include "contact_rig.h"

static const char *const small_name[] = {"ball", "pin, lying", "pin, standing", "wedge"};

typedef struct small_result {
    pl_outcome outcome;
    double force, tip, depth, coarse;
    int factorizations;
} small_result;

static pl_obstacle_def small_obstacle(int kind, double radius)
{
    pl_obstacle_def o = {.name = "thing", .radius = radius, .moves = true, .move = {0, 0, 1}};
    o.kind = kind == 0 ? PL_OBSTACLE_SPHERE : kind < 3 ? PL_OBSTACLE_CYLINDER : PL_OBSTACLE_BOX;
    o.direction[kind == 1 ? 1 : 2] = 1;
    o.length = kind == 2 ? 20 : 0;
    o.point[0] = 27.3;
    o.point[1] = 3.4;
    o.point[2] = -1e-3 - (kind == 2 ? 10 : kind == 3 ? sqrt(2) * 8 * radius : radius);
    // an edge along y, eight times as high as wide: the radius is that of a pin as wide as what is in the
    // body
    o.size[0] = o.size[2] = 16 * radius;
    o.size[1] = 30;
    o.rotate[1] = kind == 3 ? PI / 4 : 0;
    return o;
}

static small_result small_solve(int kind, double radius, double travel, int fine)
{
    static const double size[3] = {40, 8, 8};
    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;
    box_mesh(5 * fine, fine, fine, size, NULL, NULL, &linear, &err);
    pl_mesh_raise(linear, &mesh, &err);
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
    const pl_obstacle_def o = small_obstacle(kind, radius);
    def.contact = (pl_contact_def){.given = true, .obstacle = &o, .obstacle_count = 1};
    contact_rig r;
    small_result out = {.outcome = PL_STOPPED};
    if (contact_build(&def, NULL, mesh, &r)) {
        pl_statics_report report;
        pl_statics_solve(r.statics, r.state, &travel, &report, &err);
        out = (small_result){.outcome = report.outcome,
                             .force = contact_reading(&r, "thing", "force_z"),
                             .tip = pl_statics_marker(r.statics, r.state, 0).position[2] - 4,
                             .depth = contact_reading(&r, "thing", "penetration"),
                             .coarse = report.coarse_contact ? 1 : 0,
                             .factorizations = report.factorizations};
        contact_clear(&r);
    }
    pl_mesh_destroy(linear);
    pl_mesh_destroy(mesh);
    return out;
}

int main(int argc, char **argv)
{
    static const double part[] = {0.1, 0.3, 1};
    const int chosen = argc > 1 ? atoi(argv[1]) : -1;
    double worst = 0;
    for (int kind = 0; kind < 4; ++kind) {
        for (int k = 0; k < 3 && (chosen < 0 || kind == chosen); ++k) {
            const double radius = 8 * part[k], travel = 6;
            const small_result reference = small_solve(kind, radius, travel, 4);
            printf("%-13s radius %.1f mm, %g mm high; 2 mm: %s, %.5f N, tip %.4f mm, %d factorisations\n",
                   small_name[kind], radius, travel, pl_outcome_name(reference.outcome), reference.force,
                   reference.tip, reference.factorizations);
            for (int fine = 1; fine <= 2; ++fine) {
                const small_result r = small_solve(kind, radius, travel, fine);
                const double off = r.force / reference.force - 1;
                printf("   %d mm: %s, %.5f N (%+.1f %%), tip %.4f mm, overlap %.2g mm, %d factorisations%s\n",
                       8 / fine, pl_outcome_name(r.outcome), r.force, 100 * off, r.tip, r.depth,
                       r.factorizations, r.coarse > 0 ? ", warns" : "");
                if (r.outcome == PL_SOLVED && r.coarse == 0 && reference.outcome == PL_SOLVED) {
                    worst = fmax(worst, fabs(off));
                }
                fflush(stdout);
            }
        }
    }
    printf("worst force without a warning: %.1f %% from the fine mesh\n", 100 * worst);
    return 0;
}
