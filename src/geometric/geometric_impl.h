// The inside of pl_geometric, for this folder. One iteration:
//
// - geometric_local: targets of all cells, f = dE/dx (or what stands for it), energy
// - geometric_growth: local ratios of the actuation elements, before the targets
// - geometric_drives: measures, forces and rows of actuators, dead loads
// - geometric_matrix: d = -L^-1 f with the rows of constraints kept: the global step
// - geometric_accelerate: from plain steps to better ones
// - geometric_contact: springs that draw vertices out of what they have entered
//
// Work vertices are the corner vertices of the robot's mesh, then the inner vertices of filled chambers.
#ifndef PL_GEOMETRIC_IMPL_H
#define PL_GEOMETRIC_IMPL_H

#include "actuator/actuator.h"
#include "base/base.h"
#include "base/vec.h"
#include "geometric/geometric_block.h"
#include "material/material.h"
#include "mesh/mesh.h"
#include "geometric/geometric.h"
#include "robot/robot.h"
#include "solver/solver.h"

#define GEO_SMALLEST_RATIO 0.05 // no element is asked to shrink below, when not by the least energy
#define GEO_ROWS 32             // most constraints
#define GEO_RIGIDS 8            // most rigid regions that are loose
#define GEO_WINDOW 20           // largest memory of an acceleration

typedef enum geo_mode {
    GEO_IDLE,       // does nothing
    GEO_FORCE,      // tension or pressure
    GEO_GAS,        // a closed line of gas: pressure falls as the volume grows
    GEO_VOLTAGE,    // a charged film
    GEO_CONSTRAINT, // its measure is kept by a row
    GEO_GROWTH      // by its actuation elements
} geo_mode;

// A triangle between two guides of a cable and the body: corners are weighted sums of work vertices.
typedef struct geo_triangle {
    int actuator;
    int32_t count[3];
    const int32_t *node[3];
    const double *weight[3];
    double fixed[3][3]; // where a corner without vertices stands
    double gradient[3][2];
    double out[3][2], M[3]; // forces are 2 w A (F - T) out_a, the energy w A (F - T) M : (F - T); M xx xy yy
    double area, length, weight_factor; // mm^2, mm at rest; MPa mm
    double ratio;                       // target along the cable; NAN: idle
    int32_t apex;
    double one;
} geo_triangle;

typedef struct geo_drive {
    pl_functional h;
    pl_functional charge; // films driven by a voltage: int J N . C^-1 N dV
    double sign;          // +1 cables, -1 chambers and films: dE/dx + sign effort dh/dx = 0
    double rest;          // h at rest, on the corner mesh
    geo_mode mode;
    double target; // measure asked for; NAN: none
    double value;  // gas: n R T; voltage: eps (U / thickness)^2
    double effort, measure;
    bool active;     // constraints: holds (a cable may be slack)
    double gap;      // target - measure of this step, shortened on the path; 0 for gas
    double yielding; // of a row: 0 for constraints, for gas 1 / (d2 energy / dh2)
    double *row, *z; // dh/dx and L^-1 of it, 3 per work vertex; constraints and gas only
    double *row_old;
    pl_point *guide;                    // cables: on work vertices
    bool has_elements;                  // can grow
    int64_t first_point, point_count;   // its growth points, of chamber and film blocks
    int first_triangle, triangle_count; // of a cable
    double whole;                       // rest measure of its elements, before any were remeshed
    double asked;                       // ratio asked for instead of the command; NAN
    double local_low, local_high;
} geo_drive;

// A load that depends on the shape: energy -factor h(x).
typedef struct geo_load {
    pl_functional h; // angle of a moment, volume before a pressure
    double factor;   // N mm, MPa
    bool open;       // a pressure whose force has no potential
} geo_load;

// A rigid region that is not clamped.
typedef struct geo_rigid {
    int32_t count, *node;         // work vertices
    double *arm;                  // 3 per vertex, from the centre at rest
    double centre[3], inverse[9]; // at rest; of sum |r|^2 I - r r^T
    double R[9];                  // at the shape last set
} geo_rigid;

typedef struct geo_system {
    pl_sparse L;
    pl_factor *factor;
    int32_t *unknown; // per work vertex, -1: held
    int32_t n;
} geo_system;

// A mid node of the robot's mesh rides on an edge of a corner element.
typedef struct geo_mid {
    int32_t vertex, a, b, element; // work vertices a, b
    double offset[3];              // from the middle at rest
} geo_mid;

// From the corner vertices to the robot's mesh and back.
typedef struct geo_map {
    int32_t *vertex_of; // corner vertex -> vertex of the robot's mesh
    int32_t *corner_of; // vertex of the robot's mesh -> corner vertex, -1 for mid nodes
    geo_mid *mid;
    int32_t mid_count;
} geo_map;

// All elements in blocks, with what geo_local leaves behind: forces, energies and smallest J of the last
// shape.
typedef struct geo_cells {
    geo_block *block;
    int block_count;
    geo_law *law; // per region, then per actuator
    pl_shape_curve *curve;
    double *storage; // of the blocks
    int64_t force_size;
    double *force;                       // per block, node and lane
    int64_t *gather_start, *gather_code; // per work vertex: which of them add up there
    double *energy, *min_J;              // per block
    double mean_weight;                  // MPa, of the body
} geo_cells;

// Actuation elements. Per growth point: target ratio (geo_growth), det F or area ratio and tr(R^T F) / 3
// (geo_local), rest measure.
typedef struct geo_growths {
    int64_t point_count;
    double *ratio, *measure, *stretch, *share;
    struct {
        double *value, *slope, *bend, *step, *ratio; // films whose ratios are minimised, per growth point
        double *soft;                                // rest measure over weight
    } joint;
    geo_triangle *triangle;
    int triangle_count;
} geo_growths;

// Rigid regions that are not clamped; field and schur once the matrix is factored.
typedef struct geo_rigids {
    geo_rigid *body;
    int count;
    int32_t *of;   // per work vertex, -1
    double *field; // per system and field of a region, one per work vertex
    double schur[3][16 * GEO_RIGIDS * GEO_RIGIDS];
} geo_rigids;

// The matrix of the global step: axes with the same held vertices share a system.
typedef struct geo_matrix {
    geo_system system[3];
    int of[3]; // per axis
    int count;
    double *right; // 3 n, right sides of the solve in progress
} geo_matrix;

// 3 per work vertex, of the iteration in progress and of the one before it (_old): forces, residuals with the
// rows' multipliers, steps, the plain step, positions.
typedef struct geo_work {
    double *f, *r, *d, *plain, *f_old, *r_old, *x_old, *d_old;
} geo_work;

// What an acceleration remembers: differences of x, of plain steps and of forces from step to step.
typedef struct geo_memory {
    double *dx[GEO_WINDOW], *dd[GEO_WINDOW], *dr[GEO_WINDOW];
    double rho[GEO_WINDOW];
    int count, next;
} geo_memory;

// The solve in progress, for its report.
typedef struct geo_progress {
    double energy, min_J;
    int iterations, accelerated, rejected, solves;
    double local_seconds, global_seconds, acceleration_seconds, prepare_seconds;
    int32_t inverted, inverted_chamber;
    int remeshes;         // of chambers
    int32_t chamber_tets; // of the newest mesh; 0: as created
    double remesh_seconds;
    int springs, rounds, inside; // contact: springs now, updates of their places, vertices inside
    double depth;                // mm, of the deepest
} geo_progress;

// The inside of a chamber remeshed: its tets have a rest shape of their own.
typedef struct geo_inside {
    int32_t *tet; // 4 each: corners, from corner_count on the inner vertices
    int32_t tet_count;
    double *rest;     // 12 per tet, mm
    double *position; // of the inner vertices
    int32_t vertex_count;
    double whole; // mm^3, rest volume of the tets it had first
} geo_inside;

typedef struct geo_contact geo_contact;
typedef struct geo_tangent geo_tangent;

struct pl_geometric {
    const pl_robot *robot;
    pl_geometric_options options;
    pl_mesh *corner;
    pl_mesh_view mesh; // of `corner`
    double size;
    geo_map map;
    int32_t corner_count, vertex_count; // work vertices
    double *X;                          // rest, 3 per work vertex
    double *x;                          // the current iterate
    int32_t *support_of;                // 3 per work vertex, -1: free
    geo_inside *inside;                 // per actuator; NULL: as the robot has them
    bool stale; // the insides do not belong to the last shape: the next solve starts from rest
    geo_cells cells;
    geo_growths growth;
    geo_drive *drive;
    int drive_count;
    double *dead; // 3 per work vertex
    geo_load *load;
    int load_count;
    bool potential; // everything derives from an energy
    geo_rigids rigids;
    geo_matrix matrix;
    geo_work work;
    geo_memory memory;
    geo_contact *contact; // NULL: none
    geo_progress now;
};

// ---- geometric_create.c
// As pl_geometric_create, with insides of chambers (NULL: the robot's), which the solver owns from then on;
// without `build` they are only freed.
pl_status geo_create(const pl_robot *robot, const pl_geometric_options *options, geo_inside *inside,
                     bool build, pl_geometric **out, pl_error *err);

// The vertices inside the chamber of an actuator: their number and rest positions.
int32_t geo_inside_vertices(const pl_geometric *g, int actuator, const double **position);

// ---- geometric_remesh.c
bool geo_remesh_wanted(const pl_geometric *g);
pl_status geo_remesh_solve(pl_geometric *g, pl_state *state, const double *command, pl_solve_report *report,
                           pl_error *err);
void geo_insides_clear(pl_geometric *g);

// ---- geometric_cells.c
pl_status geo_cells_create(pl_geometric *g, pl_error *err);

// MPa, of actuation elements: half of their modulus, as in the exact core, where they are given one and the
// body weighs what its materials say; otherwise so many mean weights of the body.
double geo_actuation_weight(const pl_geometric *g, int actuator);

// ---- geometric_cable.c
pl_status geo_guides_create(pl_geometric *g, pl_error *err);             // guides on work vertices
pl_status geo_cables_create(pl_geometric *g, pl_error *err);             // triangles
double geo_triangles_force(pl_geometric *g, const double *x, double *f); // adds; returns the energy
double geo_triangle_length(const geo_triangle *t, const double *x);
void geo_triangle_map(const geo_triangle *t, const double *x, double F[6]); // 3 x 2
void geo_point_at(const pl_point *point, const double *x, double out[3]);

// A point of the robot's mesh on work vertices, weights on mid nodes going half and half to the ends of their
// edges; `work` is zero for every corner, before and after.
pl_status geo_point_convert(const pl_geometric *g, const pl_point *from, double *work, pl_point *to,
                            pl_error *err);

// ---- geometric_loads.c
pl_status geo_loads_create(pl_geometric *g, pl_error *err);
void geo_loads_destroy(pl_geometric *g);
bool geo_loads_derive(const pl_geometric *g); // from a potential
double geo_loads_force(pl_geometric *g, const double *x,
                       double *f); // adds to f, if given; returns the energy

// ---- geometric_rigid.c
pl_status geo_rigid_create(pl_geometric *g, pl_error *err); // clamps those that touch a clamp
pl_status geo_rigid_fields(pl_geometric *g, pl_error *err); // once the matrix is factored
void geo_rigid_destroy(pl_geometric *g);
void geo_rigid_solve(const pl_geometric *g, const double *b, double *y); // adds the rigid part to y = L^-1 b
void geo_rigid_set(pl_geometric *g, double *x);                          // onto rigid motions
void geo_rigid_project(const pl_geometric *g, double *f);                // forces to their sums and moments

// ---- geometric_film.c
// The area ratio a free film of `material` takes at a voltage; NAN beyond the highest it can bear, `highest`.
double geo_film_ratio(const pl_material *material, double thickness, double permittivity, double voltage,
                      double *highest);

// ---- geometric_drives.c
pl_status geo_drives_create(pl_geometric *g, pl_error *err);
void geo_drives_destroy(pl_geometric *g);
pl_status geo_drives_begin(pl_geometric *g, const double *command, pl_error *err);
double geo_drives_force(pl_geometric *g, const double *x, double *f); // as geo_loads_force

// ---- geometric_growth.c
void geo_growth(pl_geometric *g, const double *x);
void geo_growth_reset(pl_geometric *g); // ratios back to 1, where joint ones start
double geo_cable_rigid(const pl_geometric *g, const geo_drive *drive); // mm at rest that no triangle shrinks

// ---- geometric_joint.c: ratios that leave the least energy, sum u r = goal
void geo_joint_chamber(pl_geometric *g, const geo_drive *drive, double goal);
void geo_joint_film(pl_geometric *g, const geo_drive *drive, const double *x, double goal);
void geo_joint_cable(pl_geometric *g, const geo_drive *drive, const double *x, double goal);

// ---- geometric_local.c
double geo_local(pl_geometric *g, const double *x, double *f); // energy; f may be NULL
void geo_count_inverted(pl_geometric *g, const double *x);

// ---- geometric_matrix.c
pl_status geo_matrix_create(pl_geometric *g, pl_error *err);
void geo_matrix_destroy(pl_geometric *g);
void geo_solve(pl_geometric *g, const double *b, double *y); // y = L^-1 b, 0 where held, rigid where rigid
void geo_matrix_apply(const pl_geometric *g, const double *x, double *y); // y = L x, one per work vertex
double geo_matrix_diagonal(const pl_geometric *g, int32_t v);             // of L, without springs
pl_status geo_matrix_refresh(pl_geometric *g, pl_error *err); // factored again with the springs there are

// The same with the rows that yield in the matrix, L + sum a a^T / yielding, as geo_global left them.
void geo_precondition(pl_geometric *g, const double *b, double *y);

// d = -L^-1 (f + sum mu a) with a . d = gap: the global step; leaves efforts in the drives and r = f + sum mu
// a.
void geo_global(pl_geometric *g, const double *f, double *d, double *r);

// Adds multiples of the rows' solutions to d until a . d = gap.
void geo_restore(pl_geometric *g, double *d);

// ---- geometric_accelerate.c
void geo_memory_reset(pl_geometric *g);
void geo_memory_push(pl_geometric *g, const double *s, const double *d, const double *r);
void geo_anderson(pl_geometric *g, const double *x, const double *d, double *out);

// `plain` is the plain step when no constraint changes multipliers from step to step, else NULL.
void geo_lbfgs(pl_geometric *g, const double *r, const double *plain, double *d);

// ---- geometric_contact.c
pl_status geo_contact_create(pl_geometric *g, pl_error *err);
void geo_contact_destroy(pl_geometric *g);

// No springs, and obstacles that go from one command (NULL: at rest) to another; returns in how many steps.
int geo_contact_begin(pl_geometric *g, const double *before, const double *command);
void geo_contact_place(pl_geometric *g, double at);             // obstacles, at a part of their path
double geo_contact_stiffness(const pl_geometric *g, int32_t v); // what springs add to the diagonal
pl_status geo_contact_refresh(pl_geometric *g, pl_error *err);  // the matrix with the springs there are
double geo_contact_force(const pl_geometric *g, const double *x, double *f); // adds; returns the energy
int geo_contact_add(pl_geometric *g, const double *x); // springs on vertices that are inside

// Places and releases; true when the pulls stand and nothing is inside. *changed: other springs than before.
bool geo_contact_update(pl_geometric *g, const double *x, bool *changed);

// ---- geometric_strain.c
double geo_largest_stretch(const pl_geometric *g);

// ---- geometric_solve.c
// One solve with the elements there are.
pl_status geo_solve_stage(pl_geometric *g, pl_state *state, const double *command, pl_solve_report *report,
                          pl_error *err);
void geo_clamp(const pl_geometric *g, double load,
               double *x); // held vertices where `load` of the path puts them
double geo_largest(const pl_geometric *g, const double *v);
double geo_dot(const pl_geometric *g, const double *a, const double *b);
void geo_element_gradient(const pl_geometric *g, const double *x, int32_t e,
                          double F[9]); // of a corner element at its middle, linear in x

// Stands at a state: forces, rows, efforts and cables that hold at its shape and commands.
pl_status geo_linearize(pl_geometric *g, const pl_state *state, pl_error *err);

// ---- geometric_tangent.c
bool geo_differentiable(const pl_geometric *g);
void geo_cell_tangent(const geo_law *law, const double F[9], double A[81]); // dD_i / dF_j, row-major

// K = df/dx at x (borrowed) with the efforts of geo_linearize, and f = K v, 0 where held.
pl_status geo_tangent_create(pl_geometric *g, const double *x, geo_tangent **out, pl_error *err);
void geo_tangent_destroy(geo_tangent *tangent);
void geo_tangent_apply(const pl_geometric *g, const geo_tangent *tangent, const double *v, double *f);

#endif
