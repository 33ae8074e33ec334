// Small robots for the tests of statics: a plan collects what to build, a rig is the robot with its solver
// and a state.
#ifndef PL_STATICS_ROBOT_H
#define PL_STATICS_ROBOT_H

#include <stdlib.h>
#include <string.h>
#include "box_mesh.h"
#include "check.h"
#include "statics/statics.h"
#include "robot/robot_def.h"

#define PLAN_FIXED 400

typedef struct plan {
    pl_robot_def def;
    const pl_mesh *mesh[2];
    pl_body_def body[2];
    pl_surface_def surface[12];
    pl_material_def material[3];
    pl_region_def region[4];
    pl_fixed_def fixed[PLAN_FIXED];
    pl_rigid_def rigid[2];
    pl_actuator_def actuator[6];
    pl_command_def command[4];
    pl_marker_def marker[4];
    pl_sensor_def sensor[4];
    pl_force_def force[4];
    pl_surface_pressure_def pressure[2];
    pl_spring_def spring[4];
    pl_layer_def layer[4];
    pl_fibre_def fibre[4];
} plan;

typedef struct rig {
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
} rig;

// One body of one material in the region `body`. The mesh must live until plan_build.
static inline void plan_init(plan *p, const pl_mesh *mesh, pl_material material)
{
    memset(p, 0, sizeof *p);
    p->def.name = "test";
    p->mesh[0] = mesh;
    p->body[0] = (pl_body_def){.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    p->def.body_count = 1;
    p->material[0] = (pl_material_def){.name = "rubber", .material = material};
    p->def.material_count = 1;
    p->region[0] = (pl_region_def){.region = "body", .material = "rubber"};
    p->def.region_count = 1;
}

static inline void plan_plane(plan *p, const char *name, int axis, double at)
{
    pl_surface_def *s = &p->surface[p->def.surface_count++];
    *s = (pl_surface_def){.name = name, .pick = {.kind = PL_PICK_PLANE}};
    s->pick.point[axis] = at;
    s->pick.normal[axis] = 1;
}

static inline void plan_cavity(plan *p, const char *name, double x, double y, double z)
{
    p->surface[p->def.surface_count++] =
        (pl_surface_def){.name = name, .pick = {.kind = PL_PICK_SEEN_FROM, .point = {x, y, z}}};
}

// A support on a surface; `axes` names the axes it holds.
static inline pl_fixed_def *plan_hold(plan *p, const char *surface, const char *axes)
{
    pl_fixed_def *f = &p->fixed[p->def.fixed_count++];
    *f = (pl_fixed_def){.name = surface, .surface = surface, .body = -1};
    for (int i = 0; i < 3; ++i) {
        f->axis[i] = strchr(axes, "xyz"[i]) != NULL;
    }
    return f;
}

static inline pl_actuator_def *plan_chamber(plan *p, const char *name, const char *surface, pl_drive drive)
{
    pl_actuator_def *a = &p->actuator[p->def.actuator_count++];
    *a = (pl_actuator_def){.name = name, .kind = PL_CHAMBER, .drive = drive, .surface = surface};
    return a;
}

static inline pl_actuator_def *plan_film(plan *p, const char *name, const char *surface, pl_drive drive)
{
    pl_actuator_def *a = &p->actuator[p->def.actuator_count++];
    *a = (pl_actuator_def){
        .name = name, .kind = PL_FILM, .drive = drive, .surface = surface, .thickness = 1, .permittivity = 3};
    return a;
}

// `guide` must live until plan_build.
static inline pl_actuator_def *plan_cable(plan *p, const char *name, const pl_guide_def *guide, int count,
                                          pl_drive drive)
{
    pl_actuator_def *a = &p->actuator[p->def.actuator_count++];
    *a = (pl_actuator_def){
        .name = name, .kind = PL_CABLE, .drive = drive, .guide = guide, .guide_count = count};
    return a;
}

static inline void plan_marker(plan *p, const char *name, const char *surface)
{
    p->marker[p->def.marker_count++] = (pl_marker_def){.name = name, .surface = surface};
}

// Options for answers to round-off rather than to a user's tolerance.
static inline pl_statics_options tight_options(void)
{
    pl_statics_options options = pl_statics_options_default();
    options.force_tolerance = 1e-10;
    options.length_tolerance = 1e-9;
    return options;
}

static inline pl_robot *plan_robot(plan *p)
{
    pl_error err = {0};
    pl_robot *robot = NULL;
    pl_findings *findings = pl_findings_create();

    p->def.body = p->body;
    p->def.surface = p->surface;
    p->def.material = p->material;
    p->def.region = p->region;
    p->def.fixed = p->fixed;
    p->def.rigid = p->rigid;
    p->def.actuator = p->actuator;
    p->def.command = p->command;
    p->def.marker = p->marker;
    p->def.sensor = p->sensor;
    p->def.force = p->force;
    p->def.pressure = p->pressure;
    p->def.spring = p->spring;
    p->def.layer = p->layer;
    p->def.fibre = p->fibre;
    PL_CHECK_OK(pl_robot_create(&p->def, p->mesh, &robot, findings, &err));
    pl_findings_destroy(findings);

    return robot;
}

// PLIANT_TEST_LOG=1 (or 2, for more) in the environment prints what the solver does.
static inline void rig_log(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    print_message("%s\n", text);
}

static inline rig plan_build(plan *p, const pl_statics_options *options)
{
    const pl_statics_options usual = tight_options();
    pl_error err = {0};
    rig r = {.robot = plan_robot(p)};

    if (getenv("PLIANT_TEST_LOG")) {
        pl_log_set(rig_log, NULL, atoi(getenv("PLIANT_TEST_LOG")));
    }
    PL_CHECK_OK(pl_statics_create(r.robot, options ? options : &usual, &r.statics, &err));
    PL_CHECK_OK(pl_state_create(r.robot, &r.state, &err));

    return r;
}

static inline void rig_clear(rig *r)
{
    pl_statics_destroy(r->statics);
    pl_state_destroy(r->state);
    pl_robot_destroy(r->robot);
}

static inline pl_solve_report rig_try(rig *r, const double *command)
{
    pl_error err = {0};
    pl_solve_report report;
    PL_CHECK_OK(pl_statics_solve(r->statics, r->state, command, &report, &err));
    return report;
}

// Solves and insists on success and on an independent residual.
static inline pl_solve_report rig_solve(rig *r, const double *command)
{
    const pl_solve_report report = rig_try(r, command);
    if (report.outcome != PL_SOLVED) {
        print_error("%s: %s\n", pl_outcome_name(report.outcome), report.message);
    }
    assert_int_equal(report.outcome, PL_SOLVED);
    PL_CHECK_NEAR(report.load_reached, 1, 0);
    PL_CHECK_BELOW(report.constraint_error, 1e-9);
    pl_error err = {0};
    double residual, largest;
    bool inverted;
    PL_CHECK_OK(pl_statics_check(r->statics, r->state, &residual, &largest, &inverted, &err));
    assert_false(inverted);
    PL_CHECK_BELOW(residual, 1e-6 * largest + 1e-12);

    return report;
}

static inline const double *rig_x(const rig *r)
{
    return pl_state_positions(r->state);
}

static inline const double *rig_rest(const rig *r)
{
    return pl_mesh_get(pl_robot_mesh(r->robot)).position;
}

// Largest distance between two shapes, mm.
static inline double shape_distance(const rig *r, const double *a, const double *b)
{
    double largest = 0;
    for (int32_t i = 0; i < 3 * pl_state_vertex_count(r->state); ++i) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

static inline double *shape_copy(const rig *r)
{
    const size_t bytes = 3 * (size_t)pl_state_vertex_count(r->state) * sizeof(double);
    double *x = malloc(bytes);
    memcpy(x, rig_x(r), bytes);
    return x;
}

// A box of tets, quadratic for order 2.
static inline pl_mesh *tet_box(int nx, int ny, int nz, double lx, double ly, double lz, int order,
                               const bool *hole)
{
    pl_error err = {0};
    pl_mesh *linear = NULL, *raised = NULL;
    const double size[3] = {lx, ly, lz};

    PL_CHECK_OK(box_mesh(nx, ny, nz, size, hole, NULL, &linear, &err));
    if (order == 1) {
        return linear;
    }
    PL_CHECK_OK(pl_mesh_raise(linear, &raised, &err));
    pl_mesh_destroy(linear);

    return raised;
}

// A linear mesh of one region with its vertices at `position`, raised to quadratic elements. The mesh and the
// positions (from malloc) are released.
static inline pl_mesh *shaped_mesh(pl_mesh *linear, double *position)
{
    pl_error err = {0};
    pl_mesh *moved = NULL, *raised = NULL;
    const pl_mesh_view v = pl_mesh_get(linear);
    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = position,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = v.region_count,
                             .region_name = v.region_name};

    PL_CHECK_OK(pl_mesh_create(&def, &moved, NULL, &err));
    PL_CHECK_OK(pl_mesh_raise(moved, &raised, &err));
    pl_mesh_destroy(linear);
    pl_mesh_destroy(moved);
    free(position);

    return raised;
}

// A shallow arch along x, `span` long, its middle 8 mm higher than its ends, 8 mm wide and 3 mm thick; `nx`,
// `ny`, `nz` cells.
static inline pl_mesh *arch_mesh(int nx, int ny, int nz, double span)
{
    pl_mesh *box = tet_box(nx, ny, nz, span, 8, 3, 1, NULL);
    const pl_mesh_view v = pl_mesh_get(box);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);

    memcpy(x, v.position, 3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        x[3 * i + 2] += 8 * sin(3.14159265358979323846 * x[3 * i] / span);
    }

    return shaped_mesh(box, x);
}

// A box of prisms standing on xy triangles, two per cell.
static inline pl_mesh *prism_box(int nx, int ny, int nz, double lx, double ly, double lz, int order)
{
    static const char *const name[1] = {"body"};
    const int cells = nx * ny * nz, vertices = (nx + 1) * (ny + 1) * (nz + 1);
    double *x = malloc((size_t)vertices * 3 * sizeof *x);
    uint8_t *kind = malloc((size_t)cells * 2);
    int64_t *start = malloc(((size_t)cells * 2 + 1) * sizeof *start);
    int32_t *node = malloc((size_t)cells * 12 * sizeof *node);
    int32_t *region = calloc((size_t)cells * 2, sizeof *region);

    for (int v = 0; v < vertices; ++v) {
        x[3 * v] = lx * (v % (nx + 1)) / nx;
        x[3 * v + 1] = ly * (v / (nx + 1) % (ny + 1)) / ny;
        x[3 * v + 2] = lz * (v / ((nx + 1) * (ny + 1))) / nz;
    }

    for (int c = 0; c < cells; ++c) {
        static const int corner[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
        const int i = c % nx, j = c / nx % ny, k = c / (nx * ny);
        for (int t = 0; t < 2; ++t) {
            for (int a = 0; a < 6; ++a) {
                const int *at = corner[t][a % 3];
                node[12 * c + 6 * t + a] = box_vertex(nx, ny, i + at[0], j + at[1], k + a / 3);
            }
        }
    }

    for (int e = 0; e <= 2 * cells; ++e) {
        start[e] = 6 * (int64_t)e;
    }
    memset(kind, PL_PRISM6, (size_t)cells * 2);
    const pl_mesh_def def = {.vertex_count = vertices,
                             .position = x,
                             .element_count = 2 * cells,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 1,
                             .region_name = name};
    pl_error err = {0};
    pl_mesh *linear = NULL, *raised = NULL;
    PL_CHECK_OK(pl_mesh_create(&def, &linear, NULL, &err));
    free(x);
    free(kind);
    free(start);
    free(node);
    free(region);
    if (order == 1) {
        return linear;
    }
    PL_CHECK_OK(pl_mesh_raise(linear, &raised, &err));
    pl_mesh_destroy(linear);

    return raised;
}

// Meshes of one box in every kind of element.
static inline pl_mesh *kind_box(pl_element_kind kind, int nx, int ny, int nz, double lx, double ly, double lz)
{
    const int order = kind == PL_TET10 || kind == PL_PRISM15 ? 2 : 1;
    return kind == PL_TET4 || kind == PL_TET10 ? tet_box(nx, ny, nz, lx, ly, lz, order, NULL)
                                               : prism_box(nx, ny, nz, lx, ly, lz, order);
}

#endif
