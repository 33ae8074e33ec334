// Contact against closed forms and against CalculiX (`ccx`) on the same mesh and with the same law: a soft
// ball pressed on a rigid plane (Hertz), a bar lifted by a rigid roller, a block on a slope (Coulomb).
#include "ccx_folder.h"
#include "contact_rig.h"
#include "meshfile/meshfile.h"

// ---- a job for ccx: neo-Hookean body, one rigid surface of hexahedra whose nodes are all driven along z
typedef struct job {
    const pl_mesh *mesh;
    double c10, bulk; // MPa
    const pl_fixed_def *fixed;
    int fixed_count;
    bool (*touches)(const double x[3]); // corners of the faces that may touch
    const double *corner;               // 3 per node of the rigid part: layers of 2 x 2, quads between them
    int layers;
    double move;      // of it, along z
    double increment; // of the path
} job;

static void job_boundary(FILE *file, const job *j)
{
    const pl_mesh_view v = pl_mesh_get(j->mesh);
    for (int k = 0; k < j->fixed_count; ++k) {
        const int32_t s = pl_mesh_find_surface(j->mesh, j->fixed[k].surface);
        for (int64_t f = v.surface_start[s]; f < v.surface_start[s + 1]; ++f) {
            int32_t node[PL_FACE_NODES_MAX];
            const int n = pl_mesh_face_nodes(j->mesh, v.surface_face[f], node);
            for (int a = 0; a < n; ++a) {
                for (int i = 0; i < 3; ++i) {
                    if (j->fixed[k].axis[i]) {
                        fprintf(file, "%d, %d, %d, 0\n", (int)node[a] + 1, i + 1, i + 1);
                    }
                }
            }
        }
    }
}

// Sides of tetrahedra all corners of which may touch.
static void job_slave(FILE *file, const job *j)
{
    static const int side_without[4] = {3, 4, 2, 1};
    const pl_mesh_view v = pl_mesh_get(j->mesh);
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(j->mesh, &face);

    fprintf(file, "*SURFACE, NAME=SLAVE\n");
    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        bool all = true;
        pl_mesh_face_nodes(j->mesh, face[f], node);
        for (int a = 0; a < 3; ++a) {
            all = all && j->touches(v.position + 3 * (size_t)node[a]);
        }
        const int64_t e = face[f] / 8;
        for (int a = 0; all && a < 4; ++a) {
            const int32_t n = v.node[v.node_start[e] + a];
            if (n != node[0] && n != node[1] && n != node[2]) {
                fprintf(file, "%d, S%d\n", (int)e + 1, side_without[a]);
            }
        }
    }
}

static bool job_write(const job *j)
{
    pl_error err = {0};
    const int nodes = pl_mesh_get(j->mesh).vertex_count, elements = pl_mesh_get(j->mesh).element_count;
    FILE *file = pl_mesh_write_inp(j->mesh, in_folder("mesh.inp"), &err) == PL_OK
                     ? fopen(in_folder("job.inp"), "w")
                     : NULL;

    if (!file) {
        return false;
    }
    fprintf(file, "*INCLUDE, INPUT=mesh.inp\n*NODE, NSET=RIGID\n");
    for (int k = 0; k < 4 * j->layers; ++k) {
        const double *c = j->corner + 3 * k;
        fprintf(file, "%d, %.12g, %.12g, %.12g\n", nodes + 1 + k, c[0], c[1], c[2]);
    }

    fprintf(file, "*ELEMENT, TYPE=C3D8, ELSET=PLATE\n");
    for (int e = 0; e + 1 < j->layers; ++e) {
        fprintf(file, "%d", elements + 1 + e);
        for (int a = 0; a < 8; ++a) {
            fprintf(file, ", %d", nodes + 1 + 4 * e + a);
        }
        fprintf(file, "\n");
    }

    fprintf(file, "*MATERIAL, NAME=SOFT\n*HYPERELASTIC, NEO HOOKE\n%.12g, %.12g\n", j->c10, 2 / j->bulk);
    fprintf(file, "*SOLID SECTION, ELSET=body, MATERIAL=SOFT\n*MATERIAL, NAME=HARD\n*ELASTIC\n1000, 0.3\n"
                  "*SOLID SECTION, ELSET=PLATE, MATERIAL=HARD\n");
    job_slave(file, j);
    fprintf(file, "*SURFACE, NAME=MASTER\n");
    for (int e = 0; e + 1 < j->layers; ++e) {
        fprintf(file, "%d, S3\n", elements + 1 + e);
    }
    fprintf(file,
            "*SURFACE INTERACTION, NAME=HARDLY\n*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR\n%g\n"
            "*CONTACT PAIR, INTERACTION=HARDLY, TYPE=SURFACE TO SURFACE\nSLAVE, MASTER\n",
            4000 * j->c10);
    fprintf(file, "*BOUNDARY\n");
    job_boundary(file, j);
    fprintf(file,
            "RIGID, 1, 2, 0\n*STEP, NLGEOM, INC=2000\n*STATIC\n%g, 1., 1e-6, %g\n"
            "*CONTROLS, PARAMETERS=FIELD\n1e-5, 1e-4, , , 1e-5, 1e-5\n"
            "*BOUNDARY\nRIGID, 3, 3, %.12g\n",
            j->increment, j->increment, j->move);
    fprintf(file, "*NODE PRINT, NSET=RIGID, TOTALS=ONLY, FREQUENCY=9999\nRF\n"
                  "*NODE PRINT, NSET=Nall, FREQUENCY=9999\nU\n*END STEP\n");

    return fclose(file) == 0;
}

// The increments are short because ccx keeps the normals of a contact through each of them: with ten, the
// force on the roller points 4.7 degrees away from the normal of its own shape. Force on the rigid part along
// z and the displacements of the mesh's vertices, at the end.
static bool job_run(const job *j, double *force, double *u)
{
    char command[300], line[300];
    double time = 0, x[3];
    int node;
    bool totals = false;

    unlink(in_folder("job.dat"));
    if (!job_write(j)) {
        return false;
    }
    snprintf(command, sizeof command, "cd %s && OMP_NUM_THREADS=1 ccx job > job.log 2>&1", folder);
    FILE *file = system(command) == 0 ? fopen(in_folder("job.dat"), "r") : NULL;
    while (file && fgets(line, sizeof line, file)) {
        const char *word = strstr(line, "time");
        if (word) {
            time = atof(word + 4);
            totals = strstr(line, "force") != NULL;
        } else if (totals && sscanf(line, "%lf %lf %lf", &x[0], &x[1], &x[2]) == 3) {
            *force = x[2];
        } else if (!totals && sscanf(line, "%d %lf %lf %lf", &node, &x[0], &x[1], &x[2]) == 4 && node >= 1 &&
                   node <= pl_mesh_get(j->mesh).vertex_count) {
            memcpy(u + 3 * (size_t)(node - 1), x, sizeof x);
        }
    }

    if (file) {
        fclose(file);
    }
    if (fabs(time - 1) > 1e-9) {
        printf("ccx did not come to an end\n");
        return false;
    }

    return true;
}

// ---- an eighth of a ball
// A new mesh with every vertex put elsewhere; destroys the old one.
static pl_mesh *ball_moved(pl_mesh *mesh, void (*move)(double x[3], double by), double by)
{
    pl_error err = {0};
    pl_mesh *out = NULL;
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);

    memcpy(x, v.position, 3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        move(x + 3 * (size_t)i, by);
    }
    if (pl_mesh_moved(mesh, x, &out, &err) != PL_OK) {
        printf("%s\n", err.text);
    }
    free(x);
    pl_mesh_destroy(mesh);

    return out;
}

// The unit cube, finer towards its corner (0, 0, 1).
static void ball_grade(double x[3], double grading)
{
    x[0] = pow(x[0], grading);
    x[1] = pow(x[1], grading);
    x[2] = 1 - pow(1 - x[2], grading);
}

// The unit cube onto x, y, z >= 0 of a ball: R x |x|max / |x|.
static void ball_round(double x[3], double radius)
{
    const double most = fmax(x[0], fmax(x[1], x[2])), length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int k = 0; k < 3; ++k) {
        x[k] *= length > 0 ? radius * most / length : 0;
    }
}

// Corners are graded before mid nodes are put between them, so that these stay in the middle.
static pl_mesh *ball_mesh(int n, double radius, double grading)
{
    const double size[3] = {1, 1, 1};
    pl_error err = {0};
    pl_mesh *cube = NULL, *raised = NULL;

    if (box_mesh(n, n, n, size, NULL, NULL, &cube, &err) == PL_OK) {
        cube = ball_moved(cube, ball_grade, grading);
    }
    if (cube) {
        pl_mesh_raise(cube, &raised, &err);
    }
    pl_mesh_destroy(cube);

    return raised ? ball_moved(raised, ball_round, radius) : NULL;
}

typedef struct ball_case {
    double radius;
    pl_mesh *mesh;
    pl_surface_def surface[3];
    pl_fixed_def fixed[3];
    pl_obstacle_def plane;
    pl_robot_def def;
    pl_body_def body;
    pl_material_def material;
    pl_region_def region;
} ball_case;

static void ball_fill(ball_case *b, int n, double grading, pl_material material)
{
    b->mesh = ball_mesh(n, b->radius, grading);
    b->material = (pl_material_def){.name = "silicone", .material = material};
    b->def = contact_def(&b->body, &b->material, &b->region);
    static const char *const name[3] = {"x0", "y0", "z0"};
    for (int i = 0; i < 3; ++i) {
        b->surface[i] = contact_plane(name[i], i, 0);
        b->fixed[i] = (pl_fixed_def){.name = name[i], .surface = name[i], .body = -1};
        b->fixed[i].axis[i] = true;
    }

    b->plane = (pl_obstacle_def){.name = "plane",
                                 .kind = PL_OBSTACLE_PLANE,
                                 .point = {0, 0, b->radius},
                                 .direction = {0, 0, -1},
                                 .moves = true,
                                 .move = {0, 0, -1}};
    b->def.surface = b->surface;
    b->def.surface_count = 3;
    b->def.fixed = b->fixed;
    b->def.fixed_count = 3;
    b->def.contact = (pl_contact_def){.given = true, .obstacle = &b->plane, .obstacle_count = 1};
}

// Hertz: F = 4/3 E / (1 - v^2) R^(1/2) d^(3/2) for a half-space below the contact. A ball that is held at its
// equatorial plane is stiffer by an amount in proportion to a / R, the contact's radius over the ball's: the
// last row, a / R = 0.15, is allowed 5 %. ccx finds the same excess on the same mesh (below).
static void hertz(validate_table *t, int n, double grading, double poisson, const double *approach, int count)
{
    const double R = 10, E = 0.3, v = poisson;
    ball_case b = {.radius = R};

    ball_fill(&b, n, grading, (pl_material){.model = PL_LINEAR, .young = E, .poisson = v});
    contact_rig r;
    if (!b.mesh || !contact_build(&b.def, NULL, b.mesh, &r)) {
        validate_verdict(t, false);
        return;
    }

    for (int k = 0; k < count; ++k) {
        const double d = approach[k];
        pl_solve_report report;
        pl_error err = {0};
        pl_statics_solve(r.statics, r.state, &d, &report, &err);
        const double F = -4 * contact_reading(&r, "plane", "force_z");
        const double hertz_force = 4.0 / 3 * E / (1 - v * v) * sqrt(R) * pow(d, 1.5);
        char name[96];
        snprintf(name, sizeof name, "ball, poisson %.2f, approach %.2f, a/R %.2f: N", v, d, sqrt(d / R));
        validate_row(t, name, hertz_force, F, d > 0.2 ? 0.05 : 0.03);
        snprintf(name, sizeof name, "  contact radius mm (Hertz)");
        validate_row(t, name, cbrt(0.75 * F * R * (1 - v * v) / E),
                     sqrt(4 * contact_reading(&r, "plane", "area") / PI), 0.1);
        pl_reaction reaction[3];
        pl_statics_reactions(r.statics, r.state, reaction);
        validate_absolute(t, "  force of the plane + reactions, N", 0,
                          reaction[2].force[2] + contact_reading(&r, "plane", "force_z"), 1e-8);
        printf("  %s, %d updates, penetration", pl_outcome_name(report.outcome), report.contact_updates);
        for (int i = 0; i <= report.contact_updates && i < PL_CONTACT_HISTORY; ++i) {
            printf(" %.1e", report.contact_penetration[i]);
        }
        printf(" of the edge, %d factorizations\n", report.factorizations);
    }

    contact_clear(&r);
    pl_mesh_destroy(b.mesh);
}

static bool ball_touches(const double x[3])
{
    return x[2] > 5 && fabs(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 10) < 1e-6;
}

// The same mesh, law and element as ccx.
static void ball_ccx(validate_table *t)
{
    const double c10 = 0.05, bulk = 1, d = 0.5;
    pl_statics_options options = pl_statics_options_default();

    options.displacement = true;
    ball_case b = {.radius = 10};
    ball_fill(&b, 6, 1.6, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = c10, .bulk = bulk});
    contact_rig r;
    if (!b.mesh || !contact_build(&b.def, &options, b.mesh, &r)) {
        validate_verdict(t, false);
        return;
    }

    // a plate above the ball: its lower face is the side S3 of one hexahedron
    static const double plate[] = {-2, -2, 10, -2, -2, 11, -2, 8, 11, -2, 8, 10,
                                   8,  -2, 10, 8,  -2, 11, 8,  8, 11, 8,  8, 10};
    double low[24];
    for (int k = 0; k < 8; ++k) { // corners 1, 2 of each layer are those of S3
        static const int from[8] = {0, 3, 2, 1, 4, 7, 6, 5};
        memcpy(low + 3 * k, plate + 3 * from[k], 3 * sizeof *low);
    }

    const pl_mesh *mesh = pl_robot_mesh(r.robot);
    double *u = calloc(3 * (size_t)pl_mesh_get(mesh).vertex_count, sizeof *u), force = 0;
    const job j = {.mesh = mesh,
                   .c10 = c10,
                   .bulk = bulk,
                   .fixed = b.fixed,
                   .fixed_count = 3,
                   .touches = ball_touches,
                   .corner = low,
                   .layers = 2,
                   .move = -d,
                   .increment = 0.2};
    pl_solve_report report;
    pl_error err = {0};
    pl_statics_solve(r.statics, r.state, &d, &report, &err);
    if (job_run(&j, &force, u) && report.outcome == PL_SOLVED) {
        validate_row(t, "ball, neo-Hooke, approach 0.5: ccx, N", fabs(4 * force),
                     -4 * contact_reading(&r, "plane", "force_z"), 0.02);
    } else {
        validate_verdict(t, false);
    }

    free(u);
    contact_clear(&r);
    pl_mesh_destroy(b.mesh);
}

// ---- a bar lifted by a roller
#define ROLLER_LAYERS 121

static bool bar_touches(const double x[3])
{
    return fabs(x[2]) < 1e-9;
}

static void roller(validate_table *t)
{
    static const double size[3] = {60, 8, 6};
    const double c10 = 0.1, bulk = 2, radius = 8, at = 40, lift = 18;
    pl_statics_options options = pl_statics_options_default();

    options.displacement = true;
    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;
    box_mesh(24, 2, 2, size, NULL, NULL, &linear, &err);
    pl_mesh_raise(linear, &mesh, &err);
    pl_material_def material = {.name = "rubber",
                                .material = {.model = PL_NEO_HOOKEAN, .c10 = c10, .bulk = bulk}};
    pl_body_def body;
    pl_region_def region;
    pl_robot_def def = contact_def(&body, &material, &region);
    const pl_surface_def surface[2] = {contact_plane("base", 0, 0), contact_plane("tip", 0, 60)};
    const pl_fixed_def fixed = {.name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
    const pl_obstacle_def cylinder = {.name = "roller",
                                      .kind = PL_OBSTACLE_CYLINDER,
                                      .point = {at, 4, -radius},
                                      .direction = {0, 1, 0},
                                      .radius = radius,
                                      .moves = true,
                                      .move = {0, 0, 1}};
    def.surface = surface;
    def.surface_count = 2;
    def.fixed = &fixed;
    def.fixed_count = 1;
    def.contact = (pl_contact_def){.given = true, .obstacle = &cylinder, .obstacle_count = 1};
    contact_rig r;
    if (!contact_build(&def, &options, mesh, &r)) {
        validate_verdict(t, false);
        return;
    }

    // facets of 1.25 degrees over 150 degrees, the outer side first
    double corner[12 * ROLLER_LAYERS];
    for (int k = 0; k < ROLLER_LAYERS; ++k) {
        const double angle = PI * (15 + 150.0 * k / (ROLLER_LAYERS - 1)) / 180;
        static const double side[4] = {-4, 12, 12, -4}, inner[4] = {0, 0, 1, 1};
        for (int a = 0; a < 4; ++a) {
            double *c = corner + 12 * k + 3 * a;
            c[0] = at + (radius - inner[a]) * cos(angle);
            c[1] = side[a];
            c[2] = -radius + (radius - inner[a]) * sin(angle);
        }
    }

    const pl_mesh *same = pl_robot_mesh(r.robot);
    const int32_t vertices = pl_mesh_get(same).vertex_count;
    double *u = calloc(3 * (size_t)vertices, sizeof *u), force = 0, worst = 0, travel = 0;
    const job j = {.mesh = same,
                   .c10 = c10,
                   .bulk = bulk,
                   .fixed = &fixed,
                   .fixed_count = 1,
                   .touches = bar_touches,
                   .corner = corner,
                   .layers = ROLLER_LAYERS,
                   .move = lift,
                   .increment = 0.02};
    pl_solve_report report;
    pl_statics_solve(r.statics, r.state, &lift, &report, &err);
    printf("  bar on a roller: %s, %d factorizations\n", pl_outcome_name(report.outcome),
           report.factorizations);
    if (job_run(&j, &force, u) && report.outcome == PL_SOLVED) {
        pl_reaction reaction;
        pl_statics_reactions(r.statics, r.state, &reaction);
        for (int32_t i = 0; i < 3 * vertices; ++i) {
            const double ours = pl_state_positions(r.state)[i] - pl_mesh_get(same).position[i];
            worst = fmax(worst, fabs(ours - u[i]));
            travel = fmax(travel, fabs(u[i]));
        }
        validate_row(t, "bar lifted 18 mm by a roller: ccx, N", fabs(force),
                     contact_reading(&r, "roller", "force_z"), 0.02);
        validate_absolute(t, "  farthest vertex from ccx over the displacement", 0, worst / travel, 0.02);
        validate_absolute(t, "  force of the roller + reaction, N", 0,
                          reaction.force[2] + contact_reading(&r, "roller", "force_z"), 1e-8);
    } else {
        validate_verdict(t, false);
    }

    free(u);
    contact_clear(&r);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(mesh);
}

// ---- a block on a slope
// A block on a rough plane under gravity that leans by `angle`; a band of a very soft material holds it in
// place should it slip. Returns the path of the block along the slope, mm.
static double slope_travel(double angle, double mu, double *ratio, pl_outcome *outcome)
{
    static const double size[3] = {30, 10, 6};
    int32_t region_of[6 * 2 * 2];

    for (int c = 0; c < 24; ++c) {
        region_of[c] = c % 6 < 4; // the band, then the block
    }

    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;
    box_mesh(6, 2, 2, size, NULL, region_of, &linear, &err);
    pl_mesh_raise(linear, &mesh, &err);
    pl_material_def material[2] = {
        {.name = "rubber",
         .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45, .density = 1.1e-9}},
        {.name = "band", .material = {.model = PL_NEO_HOOKEAN, .c10 = 1e-4, .poisson = 0.3}}};
    pl_body_def body;
    pl_region_def region;
    pl_robot_def def = contact_def(&body, material, &region);
    const pl_region_def regions[2] = {{.region = "body", .material = "rubber"},
                                      {.region = "second", .material = "band"}};
    def.material = material;
    def.material_count = 2;
    def.region = regions;
    def.region_count = 2;
    const pl_surface_def surface[2] = {contact_plane("base", 0, 0), contact_plane("front", 0, 30)};
    const pl_fixed_def fixed = {.name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
    const pl_marker_def marker = {.name = "front", .surface = "front"};
    const pl_obstacle_def slope = {
        .name = "slope", .kind = PL_OBSTACLE_PLANE, .direction = {0, 0, 1}, .friction = mu};
    def.surface = surface;
    def.surface_count = 2;
    def.fixed = &fixed;
    def.fixed_count = 1;
    def.marker = &marker;
    def.marker_count = 1;
    def.gravity[0] = 9810 * sin(angle);
    def.gravity[2] = -9810 * cos(angle);
    def.contact = (pl_contact_def){.given = true, .obstacle = &slope, .obstacle_count = 1};
    contact_rig r;
    double travel = NAN;
    if (contact_build(&def, NULL, mesh, &r)) {
        pl_solve_report report;
        pl_statics_solve(r.statics, r.state, NULL, &report, &err);
        *outcome = report.outcome;
        *ratio = -contact_reading(&r, "slope", "force_x") / contact_reading(&r, "slope", "force_z");
        travel = pl_statics_marker(r.statics, r.state, 0).displacement[0];
        printf("  slope of %.2f degrees: %s, %.2g mm, %s\n", angle * 180 / PI,
               pl_outcome_name(report.outcome), travel, report.message);
    }

    contact_clear(&r);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(mesh);

    return travel;
}

static void slopes(validate_table *t)
{
    const double mu = 0.5, limit = atan(mu);
    double ratio = 0;
    pl_outcome outcome = PL_SOLVED;
    const double below = slope_travel(limit - 0.5 * PI / 180, mu, &ratio, &outcome);

    validate_row(t, "block, half a degree below: friction / normal", tan(limit - 0.5 * PI / 180), ratio,
                 0.01);
    validate_absolute(t, "  its travel, mm", 0, below, 0.01);
    const double above = slope_travel(limit + 0.5 * PI / 180, mu, &ratio, &outcome);
    validate_row(t, "block, half a degree above: friction / normal", mu, ratio, 0.01);
    validate_absolute(t, "  its travel over that below, inverse", 0, below / above, 0.1);
}

int main(void)
{
    validate_table t = {0};
    validate_head("contact: closed forms and ccx");
    if (!mkdtemp(folder)) {
        return 1;
    }

    static const double approach[] = {0.05, 0.1, 0.225};
    hertz(&t, 10, 1.9, 0.45, approach, 3);
    hertz(&t, 10, 1.9, 0.49, approach, 3);
    slopes(&t);
    if (system("command -v ccx > /dev/null") == 0) {
        ball_ccx(&t);
        roller(&t);
    } else {
        printf("ccx is not installed\n");
    }

    clean_folder();

    return validate_end(&t);
}
