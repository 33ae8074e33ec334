// CalculiX (`ccx`) on the same mesh: a block stretched, the pressure-driven bending finger at 80 degrees with
// the plain element and Poisson 0.45; then the default formulation at 0.49, both against a finer mesh.
#include "ccx_folder.h"
#include "meshfile/meshfile.h"

// ---- writing the job
typedef struct job_material {
    const char *region, *text; // lines behind *MATERIAL
} job_material;

typedef struct job {
    const pl_mesh *mesh;
    job_material material[2];
    int material_count;
    const char *fixed;    // surface held in all directions
    const char *loaded;   // surface under pressure
    double pressure;      // MPa
    const char *slide[3]; // surfaces held along x, y, z
    const char *moved;    // surface moved along x by
    double move;
} job;

// Nodes of a surface's faces, each once, in order; returns their number.
static int32_t surface_nodes(const pl_mesh *mesh, const char *surface, int32_t *node)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int32_t s = pl_mesh_find_surface(mesh, surface);
    bool *used = calloc((size_t)v.vertex_count, sizeof *used);
    int32_t count = 0;

    for (int64_t f = s < 0 ? 0 : v.surface_start[s]; used && s >= 0 && f < v.surface_start[s + 1]; ++f) {
        int32_t face[PL_FACE_NODES_MAX];
        const int n = pl_mesh_face_nodes(mesh, v.surface_face[f], face);
        for (int a = 0; a < n; ++a) {
            used[face[a]] = true;
        }
    }

    for (int32_t i = 0; used && i < v.vertex_count; ++i) {
        if (used[i]) {
            node[count++] = i;
        }
    }

    free(used);

    return count;
}

static void job_boundary(FILE *file, const pl_mesh *mesh, const char *surface, int first, int last,
                         double value)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    int32_t *node = malloc((size_t)v.vertex_count * sizeof *node);
    const int32_t count = node && surface ? surface_nodes(mesh, surface, node) : 0;

    for (int32_t i = 0; i < count; ++i) {
        fprintf(file, "%d, %d, %d, %.12g\n", (int)node[i] + 1, first, last, value);
    }
    free(node);
}

static bool job_write(const job *j)
{
    pl_error err = {0};
    if (pl_mesh_write_inp(j->mesh, in_folder("mesh.inp"), &err) != PL_OK) {
        printf("%s\n", err.text);
        return false;
    }

    FILE *file = fopen(in_folder("job.inp"), "w");
    if (!file) {
        return false;
    }
    fprintf(file, "*INCLUDE, INPUT=mesh.inp\n");
    for (int i = 0; i < j->material_count; ++i) {
        fprintf(file, "*MATERIAL, NAME=M%d\n%s*SOLID SECTION, ELSET=%s, MATERIAL=M%d\n", i,
                j->material[i].text, j->material[i].region, i);
    }

    fprintf(file, "*BOUNDARY\n");
    job_boundary(file, j->mesh, j->fixed, 1, 3, 0);
    for (int a = 0; a < 3; ++a) {
        job_boundary(file, j->mesh, j->slide[a], a + 1, a + 1, 0);
    }
    fprintf(file, "*STEP, NLGEOM, INC=2000\n*STATIC\n0.1, 1., 1e-5, 0.2\n");

    // largest residual and correction, far below the defaults of 0.5 and 1 %
    fprintf(file, "*CONTROLS, PARAMETERS=FIELD\n1e-6, 1e-5, , , 1e-6, 1e-6\n");
    if (j->moved) {
        fprintf(file, "*BOUNDARY\n");
        job_boundary(file, j->mesh, j->moved, 1, 1, j->move);
    }

    if (j->loaded) {
        fprintf(file, "*DSLOAD\n%s, P, %.12g\n", j->loaded, j->pressure);
    }
    fprintf(file, "*NODE PRINT, NSET=Nall, FREQUENCY=9999\nU\n*END STEP\n");

    return fclose(file) == 0;
}

// Displacements of the last increment printed, 3 per vertex; its time must be 1.
static bool job_read(const pl_mesh *mesh, double *u)
{
    FILE *file = fopen(in_folder("job.dat"), "r");
    char line[300];
    double time = 0;

    if (!file) {
        return false;
    }

    while (fgets(line, sizeof line, file)) {
        const char *word = strstr(line, "time");
        int node;
        double x[3];
        if (word) {
            time = atof(word + 4);
        } else if (sscanf(line, "%d %lf %lf %lf", &node, &x[0], &x[1], &x[2]) == 4 && node >= 1 &&
                   node <= pl_mesh_get(mesh).vertex_count) {
            memcpy(u + 3 * (size_t)(node - 1), x, sizeof x);
        }
    }

    fclose(file);

    return fabs(time - 1) < 1e-9;
}

static bool job_run(const job *j, double *u)
{
    char command[300];
    unlink(in_folder("job.dat"));
    if (!job_write(j)) {
        return false;
    }
    snprintf(command, sizeof command, "cd %s && OMP_NUM_THREADS=1 ccx job > job.log 2>&1", folder);
    if (system(command) != 0 || !job_read(j->mesh, u)) {
        printf("ccx did not come to an end");
        return false;
    }

    return true;
}

// Mean displacement of a surface's nodes.
static void mean_tip(const pl_mesh *mesh, const char *surface, const double *u, double mean[3])
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    int32_t *node = malloc((size_t)v.vertex_count * sizeof *node);
    const int32_t count = node ? surface_nodes(mesh, surface, node) : 0;

    mean[0] = mean[1] = mean[2] = 0;
    for (int32_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            mean[k] += u[3 * (int64_t)node[i] + k] / count;
        }
    }

    free(node);
}

static double *displacements(const validate_robot *v)
{
    const pl_mesh_view m = pl_mesh_get(pl_robot_mesh(v->robot));
    double *u = malloc(3 * (size_t)m.vertex_count * sizeof *u);
    for (int32_t i = 0; u && i < 3 * m.vertex_count; ++i) {
        u[i] = pl_state_positions(v->state)[i] - m.position[i];
    }
    return u;
}

// ---- which law is which: a block stretched by half, its sides free
static void block_rows(validate_table *t, const char *law, const char *pliant_law, const char *ccx_law)
{
    pl_statics_options options = pl_statics_options_default();
    options.displacement = true;
    validate_robot v;
    if (!validate_open(
            &v, &options,
            "pliant: 1\nname: block\nmesh: {design: {kind: beam, length: 10, width: 10, height: 10}, size: "
            "10}\n"
            "surfaces: {left: {plane: {point: [0, -5, 0], normal: [0, 1, 0]}}}\n"
            "materials: {m: %s}\nregions: {body: m}\n"
            "fixed: [{surface: base, axes: [x]}, {surface: tip, axes: [x], move: [4, 0, 0]}, "
            "{surface: left, axes: [y]}, {surface: bottom, axes: [z]}]\nmarkers: {top: {surface: top}}\n",
            pliant_law)) {
        validate_verdict(t, false);
        return;
    }

    const pl_mesh *mesh = pl_robot_mesh(v.robot);
    double *u = calloc(3 * (size_t)pl_mesh_get(mesh).vertex_count, sizeof *u), tip[3];
    const job j = {.mesh = mesh,
                   .material = {{"body", ccx_law}},
                   .material_count = 1,
                   .slide = {"base", "left", "bottom"},
                   .moved = "tip",
                   .move = 4};
    if (validate_solve(t, &v, NULL)) {
        if (u && job_run(&j, u)) {
            char name[60];
            mean_tip(mesh, "top", u, tip);
            snprintf(name, sizeof name, "block stretched 1.4, %s: height mm", law);
            validate_row(t, name, 10 + tip[2], 10 + validate_tip(&v, 0, 2), 1e-5);
        } else {
            validate_verdict(t, false);
        }
    }

    free(u);
    validate_close(&v);
}

// ---- the bending finger
static bool finger_open(validate_robot *v, double size, bool displacement, const char *skin,
                        const char *layer)
{
    pl_statics_options options = pl_statics_options_default();
    options.displacement = displacement;
    return validate_open(v, &options,
                         "pliant: 1\nname: finger\nmesh: {design: {kind: bending_finger}, size: %g}\n"
                         "materials:\n  skin: %s\n  layer: %s\nregions: {skin: skin, layer: layer}\n"
                         "fixed: [{surface: base}]\n"
                         "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}]\n"
                         "markers: {tip: {surface: tip}}\n",
                         size, skin, layer);
}

static double finger_angle(const validate_robot *v)
{
    const pl_marker_result tip = pl_statics_marker(v->statics, v->state, 0);
    return 180 / 3.14159265358979 * atan2(-tip.rotation[6], tip.rotation[0]);
}

// The pressure that bends the finger to `angle` degrees, by the secant method on the path up; 0 when lost.
static double finger_bend(validate_table *t, validate_robot *v, double angle)
{
    double p[2] = {0, 0.008}, a[2] = {0, 0};
    for (int i = 0; i < 12; ++i) {
        if (!validate_solve(t, v, &p[1])) {
            return 0;
        }
        a[1] = fabs(finger_angle(v));
        if (fabs(a[1] - angle) < 0.05) {
            return p[1];
        }
        const double slope = (a[1] - a[0]) / (p[1] - p[0]), step = (angle - a[1]) / slope;
        p[0] = p[1];
        a[0] = a[1];
        p[1] += fmin(step, 0.012);
    }

    return p[1];
}

// Same mesh, same law: node by node at the tip.
static void finger_rows(validate_table *t, const char *law, double angle, const char *skin, const char *layer,
                        const job_material *material)
{
    validate_robot v;
    if (!finger_open(&v, 8, true, skin, layer)) {
        validate_verdict(t, false);
        return;
    }

    const pl_mesh *mesh = pl_robot_mesh(v.robot);
    const double pressure = finger_bend(t, &v, angle);
    double *u = calloc(3 * (size_t)pl_mesh_get(mesh).vertex_count, sizeof *u), *ours = displacements(&v);
    const job j = {.mesh = mesh,
                   .material = {material[0], material[1]},
                   .material_count = 2,
                   .fixed = "base",
                   .loaded = "cavity",
                   .pressure = pressure};
    if (pressure > 0) {
        printf("  %s: %d tet10, %.2f kPa, bent by %.1f degrees\n", law, (int)validate_elements(&v),
               1e3 * pressure, fabs(finger_angle(&v)));
        double a[3], b[3];
        char name[60];
        if (u && ours && job_run(&j, u)) {
            mean_tip(mesh, "tip", u, a);
            mean_tip(mesh, "tip", ours, b);
            snprintf(name, sizeof name, "finger, %s: tip x mm", law);
            validate_row(t, name, a[0], b[0], 0.005);
            snprintf(name, sizeof name, "finger, %s: tip z mm", law);
            validate_row(t, name, a[2], b[2], 0.005);
            snprintf(name, sizeof name, "finger, %s: miss over displacement of the tip", law);
            validate_absolute(t, name, 0, hypot(a[0] - b[0], a[2] - b[2]) / hypot(a[0], a[2]), 0.005);
        } else {
            validate_verdict(t, false);
        }
    }

    free(u);
    free(ours);
    validate_close(&v);
}

#define SKIN_49 "{model: neo_hookean, c10: 0.12, poisson: 0.49}"
#define LAYER "{model: stvk, young: 30, poisson: 0.4}"

static bool finger_tip(validate_table *t, double size, bool displacement, double pressure, double tip[3],
                       int32_t *elements)
{
    validate_robot v;
    if (!finger_open(&v, size, displacement, SKIN_49, LAYER)) {
        return validate_verdict(t, false);
    }

    const bool good = validate_solve(t, &v, &pressure);
    double *u = displacements(&v);
    mean_tip(pl_robot_mesh(v.robot), "tip", u, tip);
    *elements = validate_elements(&v);
    free(u);
    validate_close(&v);

    return good;
}

// Poisson 0.49, coarse mesh: the default formulation and ccx against the default formulation on a finer mesh.
static void locking_rows(validate_table *t, double pressure)
{
    double fine[3], ours[3], plain[3];
    int32_t n_fine, n;

    if (!finger_tip(t, 2.2, false, pressure, fine, &n_fine) || !finger_tip(t, 4, false, pressure, ours, &n) ||
        !finger_tip(t, 4, true, pressure, plain, &n)) {
        return;
    }

    printf("  poisson 0.49, %.0f kPa: %d tet10 against %d\n", 1e3 * pressure, (int)n, (int)n_fine);
    const double travel = hypot(fine[0], fine[2]);
    validate_row(t, "default formulation: displacement of the tip mm", travel, hypot(ours[0], ours[2]), 0.03);
    validate_robot v;
    if (finger_open(&v, 4, true, SKIN_49, LAYER)) {
        const pl_mesh *mesh = pl_robot_mesh(v.robot);
        double *u = calloc(3 * (size_t)pl_mesh_get(mesh).vertex_count, sizeof *u), tip[3];
        char skin[80];
        // D1 = 2 / K, K = 2 mu (1 + nu) / (3 (1 - 2 nu)), mu = 2 C10
        snprintf(skin, sizeof skin, "*HYPERELASTIC, NEO HOOKE\n0.12, %.15g\n",
                 2 / (0.48 * 1.49 / (3 * 0.02)));
        const job j = {.mesh = mesh,
                       .material = {{"skin", skin}, {"layer", "*ELASTIC\n30., 0.4\n"}},
                       .material_count = 2,
                       .fixed = "base",
                       .loaded = "cavity",
                       .pressure = pressure};
        if (u && job_run(&j, u)) {
            mean_tip(mesh, "tip", u, tip);
            validate_row(t, "plain element: ccx against ours mm", hypot(tip[0], tip[2]),
                         hypot(plain[0], plain[2]), 0.005);
            printf("  plain element (C3D10) is off the fine mesh by %.2f %%, the default formulation by %.2f "
                   "%%\n",
                   100 * (hypot(tip[0], tip[2]) / travel - 1), 100 * (hypot(ours[0], ours[2]) / travel - 1));
        } else {
            validate_verdict(t, false);
        }
        free(u);
    }

    validate_close(&v);
}

int main(void)
{
    validate_table t = {0, 0};
    if (system("command -v ccx > /dev/null 2>&1") != 0) {
        printf("CalculiX (ccx, package calculix-ccx) is not installed: skipped\nPASS: 0 of 0 rows\n");
        return 0;
    }

    if (!mkdtemp(folder)) {
        printf("FAIL: no temporary folder\n");
        return 1;
    }

    char neo[80];
    snprintf(neo, sizeof neo, "*HYPERELASTIC, NEO HOOKE\n0.12, %.15g\n", 2 / (0.48 * 1.45 / (3 * 0.1)));
    validate_head("CalculiX on the same mesh; expected: ccx");
    block_rows(&t, "stvk", "{model: stvk, young: 0.7, poisson: 0.45}", "*ELASTIC\n0.7, 0.45\n");
    block_rows(&t, "neo_hookean", "{model: neo_hookean, c10: 0.12, poisson: 0.45}", neo);

    // stvk goes soft in compression: this finger collapses at 75 degrees
    finger_rows(&t, "stvk", 70, "{model: stvk, young: 0.7, poisson: 0.45}",
                "{model: stvk, young: 30, poisson: 0.4}",
                (job_material[]){{"skin", "*ELASTIC\n0.7, 0.45\n"}, {"layer", "*ELASTIC\n30., 0.4\n"}});
    finger_rows(&t, "neo_hookean", 80, "{model: neo_hookean, c10: 0.12, poisson: 0.45}", LAYER,
                (job_material[]){{"skin", neo}, {"layer", "*ELASTIC\n30., 0.4\n"}});
    locking_rows(&t, 0.03);
    clean_folder();

    return validate_end(&t);
}
