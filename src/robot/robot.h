// The inside of a robot and of a state, for the rooms that may call `robot`: everything resolved to vertices.
#ifndef PL_ROBOT_IMPL_H
#define PL_ROBOT_IMPL_H

#include "actuator/actuator.h"
#include "base/base.h"
#include "contact/contact.h"
#include "robot/robot_def.h"

// A material point as a weighted sum of vertices: y = sum_j weight_j x_j. Weights sum to 1 and reproduce
// linear fields, so a rigid motion of the body moves the point rigidly. A point fixed in space has count 0
// and sits at rest.
typedef struct pl_point {
    int32_t count; // vertices; 0: fixed in space
    int32_t *node;
    double *weight;
    double rest[3];
    double radius; // mm: over which it is to be spread, whatever the mesh allows; 0: not
} pl_point;

// One support: the vertices it holds.
typedef struct pl_support {
    char *name;
    int32_t node_count;
    int32_t *node;
    bool axis[3];                        // held along x, y, z
    double move[3], rotate[3], about[3]; // mm, rad, mm: imposed motion at full load
} pl_support;

// Vertices that move as one rigid body.
typedef struct pl_rigid {
    char *name;
    bool free; // the frame of a free body: held by contact alone
    int32_t node_count;
    int32_t *node;
} pl_rigid;

// A fan that closes an opening of a cavity: over a whole rim, or over a stretch of it (open). Along the axes
// that it follows, its apex is the mean of its vertices, along the others it is fixed. Open: its volume is
// that between the fan and `origin`.
typedef struct pl_cap {
    int32_t start, count; // into cap_node
    bool open, follows[3];
    double origin[3], apex[3];
} pl_cap;

// Units: mm, N, MPa. Arrays that a kind does not use are NULL.
typedef struct pl_actuator {
    char *name;
    pl_actuator_kind kind;
    pl_drive drive;
    double range[2];
    bool has_range, idle_hold;
    // chamber, film: faces of the mesh; and, for chambers, the rims of open cavities as closed loops of
    // vertices (corner, mid, corner, mid ... on quadratic meshes; corners only on linear ones), ordered so
    // that a fan from the loop's centroid closes the surface with the same orientation as the faces
    int64_t *face;
    int64_t face_count;
    int rim_count;
    int32_t *rim_start; // rim_count + 1
    int32_t *rim_node;
    bool rim_quadratic;
    pl_cap *cap; // what closes them, see robot_rim.c
    int cap_count;
    int32_t *cap_node;
    // chamber elements that were taken out of the mesh (its air): corners of tets, 4 each; numbers from the
    // mesh's vertex count on are vertices inside the chamber, at fill_position
    int32_t *fill_tet;
    int32_t fill_count;
    double *fill_position;
    int32_t fill_vertex_count;
    // film: the elements between its electrodes; none where it is thinner than an element, a coating on its
    // faces. below: they lie below its faces, whose normals are those of the film; otherwise they are prisms
    int32_t *film;
    int32_t film_count;
    bool film_below;
    // growth: the region whose stress-free shape it drives; -1. modulus: of elements that have no material of
    // their own; 0
    bool growth;
    int32_t region;
    double modulus;
    // value of the drive to ratio; count 0: none
    pl_monotone table;
    double *table_block; // its x, y, slope
    // cable
    pl_point *guide;
    int guide_count;
    double friction; // at the guides
    // magnet: its region; unit vector of the field
    int32_t magnet;
    double remanence[3], direction[3];
    // syringe, voltage
    double line_volume, ambient, thickness, permittivity;
    bool liquid;
    double rest; // rest measure: L0, V0 or A0
    int command; // -1: idle always
    double factor;
    bool one_sided;    // value = max(0, factor * command)
    double rate;       // 0: no limit
    double fill, vent; // s
    pl_hardware hardware;
} pl_actuator;

// A triangle on the piece of cable from guide `piece` to the next, its third corner a vertex of the body.
typedef struct pl_cable_triangle {
    int piece;
    int32_t apex;
} pl_cable_triangle;

// Those of one cable, into room for guide_count; fails where there is none.
pl_status pl_cable_triangles(const pl_robot *robot, const pl_actuator *cable, pl_cable_triangle *out,
                             int *count, pl_error *err);

// Adds the caps of a chamber to a volume. With corner_of (per vertex) on the mesh of corners that it maps to.
// PL_OK or PL_NO_MEMORY.
pl_status pl_chamber_caps(const pl_actuator *chamber, const int32_t *corner_of, pl_functional *h);

// The volume of a chamber on the robot's mesh, caps included. PL_OK or PL_NO_MEMORY.
pl_status pl_chamber_functional(const pl_mesh *mesh, const pl_actuator *chamber, pl_functional *h);

// Area or charge of a film on the robot's mesh (pl_film_kind; the face kind follows from the film). PL_OK or
// PL_NO_MEMORY.
pl_status pl_film_functional(const pl_mesh *mesh, const pl_actuator *film, pl_film_kind kind,
                             pl_functional *h);

pl_status pl_cable_functional(const pl_mesh *mesh, const pl_actuator *cable, pl_functional *h);
pl_status pl_magnet_functional(const pl_mesh *mesh, const pl_actuator *magnet, pl_functional *h);

// What an actuator of any kind measures. PL_OK or PL_NO_MEMORY.
pl_status pl_actuator_functional(const pl_mesh *mesh, const pl_actuator *actuator, pl_functional *h);

static inline double pl_actuator_value(const pl_actuator *a, double command)
{
    return pl_command_apply(a->factor, a->one_sided, command);
}

// How a value acts. Growth: as the stress-free measure of its elements.
typedef enum pl_drive_law {
    PL_LAW_MEASURE,
    PL_LAW_EFFORT,
    PL_LAW_GAS,
    PL_LAW_VOLTAGE,
    PL_LAW_GROWTH
} pl_drive_law;

pl_drive_law pl_actuator_law(const pl_actuator *a);

// The measure a value asks for, of laws measure and growth, on a mesh where the rest measure is `rest`.
double pl_actuator_target(const pl_actuator *a, double rest, double value);

// The same on the robot's own mesh, in the unit of the law: a measure; of growth, the ratio m / m0; of the
// others, the value itself. Its derivative, its inverse, and whether it rises with the value.
double pl_actuator_goal(const pl_actuator *a, double value);
double pl_actuator_goal_slope(const pl_actuator *a, double value);
double pl_actuator_goal_inverse(const pl_actuator *a, double goal);
bool pl_actuator_goal_rises(const pl_actuator *a);

// For checks of defs: whether 0 means rest, as one-sided commands need; whether a motor can follow the drive;
// where its values can lie at all, and where they are plausible for a soft body.
bool pl_drive_rests_at_zero(pl_drive drive);
bool pl_drive_has_motor(pl_drive drive);
bool pl_drive_is_possible(pl_drive drive, double value);
bool pl_drive_is_plausible(pl_drive drive, const double range[2]);

// Refuses values no body could follow: beyond the table, infinite, negative tension, less gas than none.
pl_status pl_actuator_check(const pl_actuator *a, double value, pl_error *err);

#define PL_VACUUM_PERMITTIVITY 8.8541878128e-12 // N / V^2

// How far and how fast a command may go. Without a range of its own it may go where all its actuators may;
// antagonists, whose ranges meet in one point at most, share the whole of both. A one-sided command goes as
// far up as the actuators with positive factors may, as far down as the others.
typedef struct pl_reach_limits {
    double meet[2], whole[2], low, high;
} pl_reach_limits;

typedef struct pl_command_reach {
    pl_reach_limits range, span; // of the ranges given; with usual ones where none is given
    double rate;                 // the smallest limit of all; 0: none
    bool open;                   // some actuator has no range
} pl_command_reach;

pl_command_reach pl_reach_begin(double own_rate);

// `range` is the actuator's, or, when it has none, a usual one.
void pl_reach_add(pl_command_reach *reach, const double range[2], bool has_range, double factor, double rate);

// False when there is no range to be had; `range` is not touched where an actuator has none.
bool pl_reach_range(const pl_command_reach *reach, bool one_sided, double range[2]);

// The same with usual ranges where none is given; 0 to 1 where even these do not meet.
void pl_reach_span(const pl_command_reach *reach, bool one_sided, double span[2]);

typedef struct pl_command {
    char *name;
    double range[2];
    bool has_range;
    int first_actuator, actuator_count;
    bool force;           // without actuators: pulls a free body, N; otherwise moves an obstacle, mm
    double rate;          // 0: no limit
    double fill, vent;    // s
    double rest, span[2]; // rest value; where studies let it vary
} pl_command;

// A marker: position as a weighted point, orientation from the same vertices (rotation that best maps their
// rest offsets to the current ones, with the same weights); `frame` is false when they do not span a volume
// or a plane.
typedef struct pl_marker {
    char *name;
    pl_point point;
    pl_point patch;   // non-negative weights, for the frame and for spreading forces and moments
    double offset[3]; // rest position minus the weighted point: not 0 when it stands off the body
    double distance;  // mm off the body
    bool frame;
} pl_marker;

typedef struct pl_sensor {
    char *name;
    pl_sensor_kind kind;
    pl_point *guide;
    int guide_count;
    int actuator;
} pl_sensor;

typedef struct pl_force {
    int marker;
    double force[3], moment[3];
} pl_force;

// A constant pressure on faces, MPa.
typedef struct pl_surface_pressure {
    int64_t *face;
    int64_t face_count;
    double pressure;
} pl_surface_pressure;

typedef struct pl_spring {
    char *name;
    int from, to;     // markers; to -1: `point`
    double point[3];  // fixed in space
    double stiffness; // N/mm
    double rest;      // mm: its length without force
    double distance;  // mm: between its ends in the undeformed configuration
    bool tension_only;
} pl_spring;

typedef struct pl_obstacle {
    char *name;
    pl_shape shape; // at rest
    double move[3]; // displacement per unit of its command
    double range[2];
    bool moves, has_range;
    int command; // -1: fixed
    double friction;
    // A free body: its place is that of a rigid tetrahedron inside of it, the frame, whose vertices are
    // unknowns like all others.
    bool free, pulled;
    double pull[3];    // N per unit of its command
    double mass, size; // t; mm: of the shape
    double second[9];  // mm^2: mean of (X - centre) (X - centre)^T over its volume, at rest
    int32_t frame[4];
} pl_obstacle;

// Where an obstacle stands: the place y at rest is at centre + R (y - rest).
typedef struct pl_pose {
    double R[9], centre[3], rest[3];
} pl_pose;

// Of a free body whose frame moved from X to x (3 per vertex).
void pl_frame_pose(const pl_obstacle *o, const double *X, const double *x, pl_pose *out);

// An obstacle that overlaps the body by more than is accepted.
typedef struct pl_contact_fault {
    const char *obstacle; // NULL: none
    double depth;         // mm
    double accepted;      // mm: there
    double place[3];      // mm: the deepest point
    double edge;          // mm: of the body's faces there
    // a free body that is held by normals which the faces below it do not have
    const char *caught;        // NULL: none
    double caught_force, load; // N
    // an obstacle or a footprint too small for the body's faces
    const char *coarse;               // NULL: none
    double coarse_edge, coarse_width; // mm: mean edge of the faces; half width of obstacle or footprint
} pl_contact_fault;

// Looks at obstacle i, which stands at R y + t (y: at rest), and the body at positions x; a deeper overlap
// that `fault` has stays there.
void pl_robot_obstacle_overlap(const pl_robot *robot, int i, const double R[9], const double t[3],
                               const double *x, pl_contact_fault *fault);

// The fault in words.
void pl_contact_fault_text(const pl_contact_fault *fault, char *text, size_t size);

// What the bodies may touch. Points of `surface` have multipliers (pressures, MPa of undeformed area) in the
// state: per obstacle, then one set for contact within and between bodies; with friction, per obstacle and
// point, the tangential traction and the place of the last update (3 numbers each) and the pressure that
// friction takes its limit from; the same for contact within and between bodies, if that has friction; the
// same for each of the PL_FEATURE_FACES faces that a feature of an obstacle may meet; per obstacle that is
// free 1 once it has been let go, 0 while it is held where it was drawn; and for each face of a feature its
// number (from 1 on; 0: none), the place on it (2), its normal (3, in the frame of the obstacle) and its
// weight at the last update; with friction within and between bodies, 2 numbers per point: where slip on its
// face is counted from; with free bodies, 4 per obstacle: direction of the slide that holds it (0: none) and
// the place along it.
typedef struct pl_robot_contact {
    bool given, self;
    pl_contact_surface *surface; // NULL: no contact
    pl_obstacle *obstacle;
    int obstacle_count;
    char **body_name;
    int32_t *region_body; // per region of the mesh
    int body_count;
    bool pairs;    // within or between bodies
    bool friction; // some obstacle, or the pairs, have it
    double pair_friction;
    int free_count;
    pl_feature *feature;    // of all obstacles, those of obstacle o from feature_first[o] on
    int32_t *feature_first; // obstacle_count + 1
    bool *held;  // per face of the surface: supports hold it along its normal, features do not meet it
    double edge; // mm: mean edge of the faces that no support holds
} pl_robot_contact;
#define PL_FEATURE_FACES 6                               // that a feature meets at once, at most
int64_t pl_robot_contact_numbers(const pl_robot *robot); // in the state

// Tensions in the state: one per piece of each cable with friction; where those of an actuator begin.
int64_t pl_robot_tension_first(const pl_robot *robot, int actuator);
int64_t pl_robot_tension_count(const pl_robot *robot);

typedef struct pl_layer {
    char *name;
    int64_t *face; // triangles of the mesh
    int64_t face_count;
    int material;             // index
    double thickness, offset; // offset of its middle from the face, along the face's normal
    bool bending;
    double wrinkle; // strain at which compression folds it; 0: never
    double prestretch;
} pl_layer;

// A short step of a fibre, and a point of its polyline: both lie on faces.
typedef struct pl_fibre_step {
    int64_t face;
    double xi[2];
    double direction[3]; // unit, in the undeformed face
    double length;       // mm
} pl_fibre_step;

typedef struct pl_fibre_point {
    int64_t face;
    double xi[2];
} pl_fibre_point;

typedef struct pl_fibre {
    char *name;
    pl_fibre_step *step;
    int step_count;
    pl_fibre_point *point;
    int point_count;
    int *piece; // first point of each connected piece, piece_count + 1
    int piece_count;
    double length, stiffness, prestretch; // mm, N (EA), 1
    bool inextensible, tension_only;
    bool parallel; // rings: no two of its pieces cross
} pl_fibre;

struct pl_robot {
    char *name;
    uint64_t hash;
    pl_mesh *mesh; // all bodies merged, world frame; region and surface names carry the body's when there are
                   // several
    pl_material *material;
    char **material_name;
    int material_count;
    int32_t *region_material; // per region of the mesh
    int32_t *region_body;     // per region of the mesh; the frames of free bodies come after the bodies
    double *region_rest;      // 2 per region: volume and area of the stress-free shape over the drawn one
    double gravity[3];
    pl_support *support;
    int support_count;
    pl_rigid *rigid;
    int rigid_count;
    pl_actuator *actuator;
    int actuator_count;
    pl_command *command;
    int command_count;
    pl_marker *marker;
    int marker_count;
    pl_sensor *sensor;
    int sensor_count;
    pl_force *force;
    int force_count;
    pl_surface_pressure *pressure;
    int pressure_count;
    pl_spring *spring;
    int spring_count;
    pl_robot_contact contact;
    pl_layer *layer;
    int layer_count;
    pl_fibre *fibre;
    int fibre_count;
    pl_order_store orders; // of its linear systems; set by whoever loaded it
};

// Takes `folder`, from pl_alloc.
void pl_robot_set_orders(pl_robot *robot, pl_order_store store);

#define PL_STATE_VERSION 6

// What a part of the model remembers from one step to the next: one block of numbers each, which files,
// copies and hashes take as they are. The values are those of files: they stay.
typedef enum pl_state_part {
    PL_STATE_CONTACT,      // pressures, places of friction, holds of free bodies: see pl_robot_contact
    PL_STATE_TENSION,      // of cables that rub: pl_robot_tension_first
    PL_STATE_VISCOUS,      // of a motion: branches of viscoelastic materials
    PL_STATE_ACCELERATION, // of a motion: 3 per vertex
    PL_STATE_SOFTENING,    // of a motion: largest energies of materials that soften
    PL_STATE_COUNT
} pl_state_part;

const char *pl_state_part_name(pl_state_part kind);

typedef struct pl_state_block {
    int64_t count; // 0: none
    double *value;
} pl_state_block;

struct pl_state {
    uint64_t robot_hash;
    int32_t vertex_count;
    int command_count, actuator_count, marker_count;
    double *x;          // 3 per vertex
    double *command;    // value at which x is in equilibrium; NAN: idle
    double *multiplier; // per actuator: effort (tension N, gauge pressure MPa)
    double *active;     // per actuator: 1 when a cable is taut or a constraint holds, else 0
    // 3 per marker, N: applied at run time, besides the loads of the robot; then 3 of a hand that pulls
    // (pl_model_grip), which no file keeps
    double *force;
    double load;      // how far dead loads and driven clamps are applied: 0 at rest, 1 full
    double time;      // s; 0 at rest
    double *velocity; // 3 per vertex, mm/s; NULL: at rest
    pl_state_block history[PL_STATE_COUNT];
};

// Copies the numbers (NULL: zeros). PL_OK or PL_NO_MEMORY.
pl_status pl_state_set_part(pl_state *state, pl_state_part kind, const double *value, int64_t count);
pl_status pl_state_set_motion(pl_state *state, double time, const double *velocity);
void pl_state_rest(pl_state *state); // without the motion and the histories that only a motion has

// Weights of a point spread over `radius` (see robot_point.c for the kernel); falls back to the element's own
// interpolation when too few vertices lie inside.
pl_status pl_point_create(const pl_mesh *mesh, const double at[3], double radius, pl_point *out,
                          double *distance, pl_error *err);
void pl_point_clear(pl_point *point);

// The checks of a def that need no mesh (names, materials, ranges, references between its items, implausible
// values), as findings; fails only when out of memory.
pl_status pl_robot_def_check(const pl_robot_def *def, pl_findings *findings);

// Builds from a def that has passed them; otherwise as pl_robot_create. `findings` must be given.
pl_status pl_robot_build(const pl_robot_def *def, const pl_mesh *const *mesh, pl_robot **out,
                         pl_findings *findings, pl_error *err);

#endif
