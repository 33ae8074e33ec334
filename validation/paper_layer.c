// A PneuNet with paper or fabric under it, at 0 to 60 kPa: `layers:` on the mesh of the design against a
// layer of solid elements on a finer mesh. The bending angle must agree to 2 %, and CPU time and
// factorisations stay within 1.5 times those of the finger without a layer (all pressures together, each
// solved from rest). The solid layers are walked up from pressure to pressure.
//
//   paper_layer [SIZE of the fine mesh, default 2.6] [LAYERS, default all five]
#include <time.h>
#include <unistd.h>
#include "validate.h"
#include "mesh/mesh.h"
#include "meshfile/meshfile.h"

#define PRESSURES 4
#define ANGLE 0.02
#define COST 1.5
#define TURN 1 // sign of the bending

static const char finger[] = "materials:\n  silicone: {model: neo_hookean, c10: 0.12, poisson: 0.49}\n"
                             "  paper: {model: linear, young: %g, poisson: 0.3}\n"
                             "regions: {skin: silicone, layer: silicone%s}\n"
                             "fixed: [{surface: base}]\nmarkers: {tip: {at: [100, 0, 10], radius: 4}}\n"
                             "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}]\n";

typedef struct subject {
    const char *name;
    double thickness, young; // mm, MPa
} subject;
static const subject subjects[] = {{"paper 0.1 mm, 2 GPa", 0.1, 2000},
                                   {"paper 0.1 mm, 1 GPa", 0.1, 1000},
                                   {"paper 0.3 mm, 2 GPa", 0.3, 2000},
                                   {"paper 0.3 mm, 1 GPa", 0.3, 1000},
                                   {"fabric 0.5 mm, 20 MPa", 0.5, 20}};

typedef struct answer {
    double angle[PRESSURES]; // degrees, unwrapped
    double cpu;              // s
    int factors, iterations;
    int rest; // iterations at rest
    int32_t elements;
    bool good;
} answer;

static double pressure(int k)
{
    return 0.02 * k;
}

// ---- a layer of solid elements below z = 0
typedef struct solid {
    pl_mesh_def def;
    double *x;
    uint8_t *kind;
    int64_t *start, *surface_start;
    int32_t *node, *region, *corner;
    const char **name;
} solid;

static void solid_free(solid *s)
{
    free(s->x);
    free(s->kind);
    free(s->start);
    free(s->surface_start);
    free(s->node);
    free(s->region);
    free(s->corner);
    free(s->name);
}

// Copies of a face's nodes at a depth; -1 in `copy` until made.
static int32_t solid_copy(solid *s, int32_t *copy, int32_t node, double depth)
{
    if (copy[node] < 0) {
        copy[node] = s->def.vertex_count++;
        for (int i = 0; i < 3; ++i) {
            s->x[3 * copy[node] + i] = s->x[3 * node + i] - (i == 2 ? depth : 0);
        }
    }
    return copy[node];
}

// Prisms of 15 nodes on the faces of the surface `bottom`, as a region of their own.
static pl_status solid_write(const pl_mesh *mesh, double thickness, const char *path, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int32_t bottom = pl_mesh_find_surface(mesh, "bottom"),
                  cavity = pl_mesh_find_surface(mesh, "cavity");
    const int64_t faces = v.surface_start[bottom + 1] - v.surface_start[bottom],
                  wall = v.surface_start[cavity + 1] - v.surface_start[cavity],
                  nodes = v.node_start[v.element_count];
    const size_t cells = (size_t)(v.element_count + faces);
    solid s = {.x = malloc(9 * (size_t)v.vertex_count * sizeof(double)),
               .kind = malloc(cells),
               .start = malloc((cells + 1) * sizeof(int64_t)),
               .surface_start = malloc(2 * sizeof(int64_t)),
               .node = malloc((size_t)(nodes + 15 * faces) * sizeof(int32_t)),
               .region = malloc(cells * sizeof(int32_t)),
               .corner = malloc(4 * (size_t)wall * sizeof(int32_t)),
               .name = malloc((size_t)(v.region_count + 1) * sizeof(char *))};
    int32_t *deep = malloc((size_t)v.vertex_count * sizeof *deep),
            *half = malloc((size_t)v.vertex_count * sizeof *half);

    s.def.vertex_count = v.vertex_count;
    memcpy(s.x, v.position, 3 * (size_t)v.vertex_count * sizeof *s.x);
    memcpy(s.kind, v.kind, (size_t)v.element_count);
    memcpy(s.start, v.node_start, ((size_t)v.element_count + 1) * sizeof *s.start);
    memcpy(s.node, v.node, (size_t)nodes * sizeof *s.node);
    memcpy(s.region, v.region, (size_t)v.element_count * sizeof *s.region);
    memcpy(s.name, v.region_name, (size_t)v.region_count * sizeof *s.name);
    s.name[v.region_count] = "paper";
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        deep[i] = half[i] = -1;
    }

    for (int64_t k = 0; k < faces; ++k) {
        int32_t face[PL_FACE_NODES_MAX], *to = s.node + s.start[v.element_count + k];
        pl_mesh_face_nodes(mesh, v.surface_face[v.surface_start[bottom] + k], face);
        for (int i = 0; i < 3; ++i) {
            to[i] = face[i];
            to[3 + i] = solid_copy(&s, deep, face[i], thickness);
            to[6 + i] = face[3 + i];
            to[9 + i] = solid_copy(&s, deep, face[3 + i], thickness);
            to[12 + i] = solid_copy(&s, half, face[i], 0.5 * thickness);
        }
        s.kind[v.element_count + k] = PL_PRISM15;
        s.region[v.element_count + k] = v.region_count;
        s.start[v.element_count + k + 1] = s.start[v.element_count + k] + 15;
    }

    for (int64_t k = 0; k < wall; ++k) {
        int32_t face[PL_FACE_NODES_MAX];
        pl_mesh_face_nodes(mesh, v.surface_face[v.surface_start[cavity] + k], face);
        memcpy(s.corner + 4 * k, face, 3 * sizeof *face);
        s.corner[4 * k + 3] = -1;
    }

    s.surface_start[0] = 0;
    s.surface_start[1] = wall;
    const char *surface = "cavity";
    s.def.position = s.x;
    s.def.element_count = (int32_t)cells;
    s.def.kind = s.kind;
    s.def.node_start = s.start;
    s.def.node = s.node;
    s.def.region = s.region;
    s.def.region_count = v.region_count + 1;
    s.def.region_name = s.name;
    s.def.surface_count = 1;
    s.def.surface_name = &surface;
    s.def.surface_start = s.surface_start;
    s.def.surface_corner = s.corner;
    pl_mesh *out = NULL;
    pl_status status = pl_mesh_create(&s.def, &out, NULL, err);
    status = status == PL_OK ? pl_mesh_write_vtu(out, path, PL_VTU_BASE64, err) : status;
    pl_mesh_destroy(out);
    solid_free(&s);
    free(deep);
    free(half);

    return status;
}

// ---- solving
// Degrees by which the tip has turned down, continued from `before`.
static double tip_angle(const validate_robot *v, double before)
{
    const pl_marker_result m = pl_statics_marker(v->statics, v->state, 0);
    const double angle = atan2(m.rotation[2], m.rotation[0]) * 180 / acos(-1);
    return before + remainder(TURN * angle - before, 360);
}

// At rest there is no force to compare the residual with: what rounding leaves of stresses of 2 GPa.
static bool walk_rest(validate_robot *v)
{
    const double none = 0;
    return pl_statics_solve(v->statics, v->state, &none, &v->report, &v->err) == PL_OK &&
           v->report.outcome == PL_SOLVED && v->report.residual < 1e-7;
}

// From rest to every pressure, or on from the pressure before.
static bool walk(validate_table *t, validate_robot *v, bool from_rest, answer *a)
{
    a->elements = validate_elements(v);
    a->good = true;
    for (int k = 0; k < PRESSURES; ++k) {
        const double p = pressure(k);
        if (from_rest) {
            pl_state_destroy(v->state);
            v->state = NULL;
            a->good = pl_state_create(v->robot, &v->state, &v->err) == PL_OK;
        }
        const clock_t start = clock();
        a->good = a->good && (k == 0 ? walk_rest(v) : validate_solve(t, v, &p));
        a->cpu += (double)(clock() - start) / CLOCKS_PER_SEC;
        if (!a->good) {
            printf("  at %.0f kPa\n", 1e3 * p);
            return false;
        }
        a->factors += v->report.factorizations;
        a->iterations += v->report.iterations;
        a->rest = k == 0 ? v->report.iterations : a->rest;
        a->angle[k] = tip_angle(v, k ? a->angle[k - 1] : 0);
    }

    return true;
}

static answer with_layer(validate_table *t, const subject *s, double size)
{
    answer a = {.good = false};
    validate_robot v;
    char layer[200] = "";

    if (s) {
        snprintf(layer, sizeof layer,
                 "layers: [{name: sheet, surface: bottom, material: paper, thickness: %g}]\n", s->thickness);
    }

    char rest[2000];
    snprintf(rest, sizeof rest, finger, s ? s->young : 1, "");
    if (validate_open(&v, NULL,
                      "pliant: 1\nname: study\nmesh:\n  design: {kind: bending_finger}\n  size: %g\n%s%s",
                      size, rest, layer)) {
        walk(t, &v, true, &a);
        validate_close(&v);
    }

    return a;
}

static answer with_solid(validate_table *t, const subject *s, const pl_mesh *mesh)
{
    answer a = {.good = false};
    validate_robot v;
    char stem[] = "/tmp/pliant_paper_XXXXXX", path[64], rest[2000];
    const int file = mkstemp(stem);

    snprintf(path, sizeof path, "%s.vtu", stem);
    pl_error err = {0};
    if (file < 0 || close(file) != 0 || solid_write(mesh, s->thickness, path, &err) != PL_OK) {
        printf("not written: %s\n", err.text);
        return a;
    }

    snprintf(rest, sizeof rest, finger, s->young, ", paper: paper");
    if (validate_open(&v, NULL,
                      "pliant: 1\nname: study\nmesh: {file: %s}\nsurfaces: {base: {plane: {point: [0, 0, 0], "
                      "normal: [1, 0, 0]}}}\n%s",
                      path, rest)) {
        walk(t, &v, false, &a);
        validate_close(&v);
    }

    unlink(path);
    unlink(stem);

    return a;
}

static void print_answer(const char *name, const answer *a)
{
    printf("  %-34s %6d elements", name, (int)a->elements);
    for (int k = 1; k < PRESSURES; ++k) {
        printf(" %7.2f", a->angle[k]);
    }
    printf("  %3d factors %4d iterations (%d at rest) %6.1f CPU s\n", a->factors, a->iterations, a->rest,
           a->cpu);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const double fine = argc > 1 ? atof(argv[1]) : 2.6;
    const size_t all = sizeof subjects / sizeof *subjects, asked = argc > 2 ? (size_t)atoi(argv[2]) : all;
    const pl_mesher *mesher = pl_meshing_mesher();
    const pl_mesh_source source = {
        .kind = PL_SOURCE_DESIGN, .design = "bending_finger", .size = fine, .order = 2};
    validate_table t = {0};
    pl_mesh *mesh = NULL;
    pl_error err = {0};

    if (mesher->build(mesher->user, &source, NULL, &mesh, NULL, &err) != PL_OK) {
        printf("not meshed: %s\n", err.text);
        return 1;
    }

    printf("bending angle (degrees) at 20, 40, 60 kPa, costs of all of them and rest\n");
    const answer plain = with_layer(&t, NULL, 3.2);
    print_answer("without a layer", &plain);
    double worst = 0;
    for (size_t i = 0; i < all && i < asked; ++i) {
        const subject *s = &subjects[i];
        char name[80];
        const answer thin = with_layer(&t, s, 3.2);
        print_answer(s->name, &thin);
        const answer solid_one = with_solid(&t, s, mesh);
        snprintf(name, sizeof name, "  solid, %.1f mm elements", fine);
        print_answer(name, &solid_one);
        for (int k = 1; thin.good && solid_one.good && k < PRESSURES; ++k) {
            const double error = fabs(thin.angle[k] / solid_one.angle[k] - 1);
            worst = fmax(worst, error);
            snprintf(name, sizeof name, "%s, %.0f kPa: degrees", s->name, 1e3 * pressure(k));
            validate_row(&t, name, solid_one.angle[k], thin.angle[k], ANGLE);
        }
        snprintf(name, sizeof name, "%s: CPU over that without", s->name);
        printf("%-46s %14.2f %14.2f", name, COST, thin.cpu / plain.cpu);
        validate_verdict(&t, thin.cpu <= COST * plain.cpu);
        snprintf(name, sizeof name, "%s: factors over those without", s->name);
        printf("%-46s %14.2f %14.2f", name, COST, (double)thin.factors / plain.factors);
        validate_verdict(&t, thin.factors <= COST * plain.factors);
        printf("%-46s %14d %14d", "iterations at rest", 5,
               thin.rest > solid_one.rest ? thin.rest : solid_one.rest);
        validate_verdict(&t, thin.rest <= 5 && solid_one.rest <= 5);
    }

    printf("worst angle: %.2f %%\n", 100 * worst);
    pl_mesh_destroy(mesh);

    return validate_end(&t);
}
