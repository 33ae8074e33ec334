// A half ring of rubber pressed on a soft block, both deformable (plane strain): force against approach
// beside GetFEM, whose contact is found along rays and held by multipliers (contact_ring_getfem.py). Skipped
// when GetFEM is not there.
#include "contact_rig.h"

#define RING_OUTER 10.0
#define RING_INNER 8.0
#define RING_GAP 0.02
#define RING_THICK 0.6
#define BLOCK_WIDTH 30.0
#define BLOCK_HEIGHT 8.0
#define RING_C10 0.5
#define RING_BULK 5.0
#define BLOCK_C10 0.1
#define BLOCK_BULK 1.0

static pl_mesh *ring_mesh(int around, int across)
{
    static const double unit[3] = {1, 1, 1};
    pl_error err = {0};
    pl_mesh *linear = NULL, *raised = NULL, *out = NULL;

    box_mesh(around, 1, across, unit, NULL, NULL, &linear, &err);
    pl_mesh_raise(linear, &raised, &err);
    const pl_mesh_view v = pl_mesh_get(raised);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * (size_t)i;
        const double angle = PI * (2 - p[0]), r = RING_INNER + (RING_OUTER - RING_INNER) * p[2];
        x[3 * i] = r * cos(angle);
        x[3 * i + 1] = RING_THICK * p[1];
        x[3 * i + 2] = r * sin(angle);
    }

    pl_mesh_moved(raised, x, &out, &err);
    free(x);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(raised);

    return out;
}

// Force per mm of depth when the ring's ends have come down by d, NAN when it is not solved.
static double ring_force(const pl_mesh *ring, const pl_mesh *block, double d)
{
    const pl_material_def material[2] = {
        {.name = "ring", .material = {.model = PL_NEO_HOOKEAN, .c10 = RING_C10, .bulk = RING_BULK}},
        {.name = "block", .material = {.model = PL_NEO_HOOKEAN, .c10 = BLOCK_C10, .bulk = BLOCK_BULK}}};
    const pl_body_def body[2] = {{.name = "block",
                                  .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                  .translation = {-BLOCK_WIDTH / 2, 0, -BLOCK_HEIGHT}},
                                 {.name = "ring",
                                  .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                  .translation = {0, 0, RING_OUTER + RING_GAP}}};
    const pl_region_def region[2] = {{.region = "block.body", .material = "block"},
                                     {.region = "ring.body", .material = "ring"}};
    pl_surface_def surface[6] = {
        contact_plane("block.base", 2, 0),        contact_plane("block.y0", 1, 0),
        contact_plane("block.y1", 1, RING_THICK), contact_plane("ring.ends", 2, 0),
        contact_plane("ring.y0", 1, 0),           contact_plane("ring.y1", 1, RING_THICK)};
    pl_fixed_def fixed[6] = {{0}};

    for (int k = 0; k < 6; ++k) {
        surface[k].body = k >= 3;
        fixed[k] = (pl_fixed_def){.name = surface[k].name, .surface = surface[k].name, .body = -1};
        fixed[k].axis[1] = k % 3 != 0;
    }

    fixed[0].axis[0] = fixed[0].axis[2] = fixed[3].axis[0] = fixed[3].axis[2] = true;
    fixed[3].move[2] = -d;
    const pl_robot_def def = {.name = "ring",
                              .body = body,
                              .body_count = 2,
                              .material = material,
                              .material_count = 2,
                              .region = region,
                              .region_count = 2,
                              .surface = surface,
                              .surface_count = 6,
                              .fixed = fixed,
                              .fixed_count = 6,
                              .contact = {.given = true}};
    const pl_mesh *const meshes[] = {block, ring};
    pl_statics_options options = pl_statics_options_default();
    options.displacement = true;
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    pl_solve_report report = {.outcome = PL_NOT_CONVERGED};
    contact_rig r = {0};
    double force = NAN;
    if (pl_robot_create(&def, meshes, &r.robot, findings, &err) == PL_OK &&
        pl_statics_create(r.robot, &options, &r.statics, &err) == PL_OK &&
        pl_state_create(r.robot, &r.state, &err) == PL_OK) {
        const double none = 0;
        pl_statics_solve(r.statics, r.state, &none, &report, &err);
        force = report.outcome == PL_SOLVED ? fabs(contact_reading(&r, "block/ring", "force_z")) / RING_THICK
                                            : NAN;
        printf("approach %.2f mm: %s, %d factorizations, penetration", d, pl_outcome_name(report.outcome),
               report.factorizations);
        for (int i = 0; i <= report.contact_updates && i < PL_CONTACT_HISTORY; ++i) {
            printf(" %.1e", report.contact_penetration[i]);
        }
        printf(" of the edge\n");
    } else {
        printf("%s\n", err.text);
    }

    pl_findings_destroy(findings);
    contact_clear(&r);

    return force;
}

int main(void)
{
    static const double approach[] = {0.2, 0.5, 1, 2};
    static const double size[3] = {BLOCK_WIDTH, RING_THICK, BLOCK_HEIGHT};
    validate_table t = {0};
    char command[600], line[200];
    const char *script = getenv("PLIANT_VALIDATION") ? getenv("PLIANT_VALIDATION") : "validation";
    pl_error err = {0};
    pl_mesh *linear = NULL, *block = NULL, *ring = ring_mesh(48, 3);

    box_mesh(48, 1, 12, size, NULL, NULL, &linear, &err);
    pl_mesh_raise(linear, &block, &err);
    snprintf(command, sizeof command,
             "/usr/bin/python3 %s/contact_ring_getfem.py %g %g %g %g %g %g %g %g %g 0.2 0.5 1 2", script,
             RING_OUTER, RING_INNER, RING_GAP, BLOCK_WIDTH, BLOCK_HEIGHT, RING_C10, RING_BULK, BLOCK_C10,
             BLOCK_BULK);
    FILE *pipe = popen(command, "r");
    double theirs[4] = {NAN, NAN, NAN, NAN}, d, force;
    for (int k = 0; pipe && k < 4 && fgets(line, sizeof line, pipe);) {
        if (sscanf(line, "%lf %lf", &d, &force) == 2 && fabs(d - approach[k]) < 1e-9) {
            theirs[k++] = force;
        }
    }

    const int status = pipe ? pclose(pipe) : -1;
    if (status == 77 * 256) {
        printf("skipped: GetFEM is not installed (Debian: python3-getfem)\n");
    } else {
        validate_head("half ring on a block: force per mm of depth, GetFEM");
        for (int k = 0; k < 4; ++k) {
            char name[96];
            const double ours = ring_force(ring, block, approach[k]);
            snprintf(name, sizeof name, "approach %.1f mm: N/mm", approach[k]);
            validate_row(&t, name, theirs[k], ours, 0.02);
        }
    }

    pl_mesh_destroy(linear);
    pl_mesh_destroy(block);
    pl_mesh_destroy(ring);

    return validate_end(&t);
}
