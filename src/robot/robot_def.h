// The definition of a robot, which the document room fills from a robot file, and what the rooms to the right
// of robot ask about drives, commands and states. Programs build robots from documents (pliant/document.h).
#ifndef PL_ROBOT_DEF_H
#define PL_ROBOT_DEF_H

#include "pliant/robot.h"
#include "mesh/mesh.h"
#include "robot/robot_hardware.h"

// Every item has its line in the robot file (0 if it was created by a program). Lengths in mm, forces N,
// pressures MPa, volumes mm^3, angles rad. In a robot with several bodies, names have the form `body.name`
// and points are in the world frame (io transforms them).

typedef struct pl_body_def {
    const char *name; // "body" for the short form
    pl_mesh_source source;
    double rotation[9], translation[3]; // pose of the body in the world
    int line;
} pl_body_def;

typedef struct pl_surface_def {
    const char *name;
    int body; // index
    pl_pick pick;
    int line;
} pl_surface_def;

typedef struct pl_material_def {
    const char *name;
    pl_material material;
    int line;
} pl_material_def;

typedef struct pl_region_def {
    const char *region, *material;
    // Area and volume of the stress-free shape relative to the mesh; 0: the mesh is stress-free. Area: prisms
    // only, in the plane of their triangles, at constant volume (below 1 for a film bonded while stretched).
    double rest_area, rest_volume;
    int line;
} pl_region_def;

// A support on exactly one of surface, region and box.
typedef struct pl_fixed_def {
    const char *name; // used for reactions: name of the surface or region, or "fixed1"...
    const char *surface, *region;
    bool has_box;
    double low[3], high[3];
    int body;         // for boxes: index, -1 for all bodies
    bool axis[3];     // fixed world axes; all three by default
    double move[3];   // moving clamp: displacement at full load
    double rotate[3]; // moving clamp: rotation vector (axis times angle) at full load, before `move`
    double about[3];  // a point on the axis of rotation
    int line;
} pl_fixed_def;

typedef struct pl_rigid_def {
    const char *region;
    int line;
} pl_rigid_def;

typedef struct pl_guide_def {
    double point[3];
    bool space;    // fixed in space instead of embedded in the body
    double radius; // mm, of this guide (a washer at the end); 0: as its cable or string says
    int line;
} pl_guide_def;

typedef struct pl_actuator_def {
    const char *name;
    pl_actuator_kind kind;
    pl_drive drive;
    double range[2];
    bool has_range;
    bool idle_hold;            // without a command: false: slack or vented; true: keeps its rest measure
    const char *surface;       // chamber, film; or
    const char *region;        // a region of chamber elements: its outer surface is the cavity; magnet
    const pl_guide_def *guide; // cable
    int guide_count;
    double radius;       // cable guides: force distributed over this radius, mm
    bool default_radius; // no radius is given: one that suits the body and its mesh is taken, and noted
    double friction;     // cable: coefficient at its guides; the drive is at the first one; 0: none
    // syringe
    double line_volume; // mm^3 of dead volume
    bool liquid;        // incompressible; otherwise an ideal gas
    double ambient;     // MPa, absolute
    // voltage
    double thickness;    // mm
    double permittivity; // relative
    // magnet: the region has the remanent flux density `remanence` (V s/mm^2) in the undeformed
    // configuration, and stands in a uniform field along `direction`
    double remanence[3], direction[3];
    double rate; // largest change of the drive value per second; 0: no limit
    // for simulated robots: time before a command takes effect, s, and changes too small to be followed
    double delay, dead_zone;
    // for motions in time: times in which the value of the drive rises and falls to a new command (1 - 1/e of
    // the change), s; 0: at once
    double fill, vent;
    pl_hardware hardware;
    // growth: the stress-free shape of the elements of the region (or of the region with the name of the
    // surface) changes instead of a constraint. `modulus` (MPa): a linear material without transverse
    // contraction; 0: the elements have their own material. Cables: triangles between cable and body, 1 mm
    // thick
    bool growth;
    double modulus;
    // pairs (value of the drive, ratio): length, volume or area over its rest value at a tension, pressure,
    // pushed volume or voltage; monotone, interpolated by a monotone cubic
    const double *table;
    int table_count;
    int line;
} pl_actuator_def;

typedef struct pl_command_drive {
    const char *actuator;
    double factor; // actuator value = factor * command
} pl_command_drive;

typedef struct pl_command_def {
    const char *name;
    const pl_command_drive *drive;
    int drive_count;
    bool one_sided; // actuator value = max(0, factor * command): for antagonists, neither goes below 0
    double range[2];
    bool has_range;
    double rate; // largest change per second; 0: what its actuators allow
    int line;
} pl_command_def;

typedef struct pl_marker_def {
    const char *name;
    const char *surface; // centroid and frame of a surface; or
    double at[3];        // a point; outside the body it is attached to the nearest element
    double radius;       // averaging radius, mm; 0: interpolation in the element
    int line;
} pl_marker_def;

typedef struct pl_sensor_def {
    const char *name;
    pl_sensor_kind kind;
    const pl_guide_def *guide; // length
    int guide_count;
    double radius;
    const char *actuator; // volume, pressure: of this chamber
    // for estimation and simulated robots: standard deviation and smallest step in the unit of the sensor,
    // readings per second; 0: not given
    double noise, resolution, rate;
    int line;
} pl_sensor_def;

typedef struct pl_force_def {
    const char *marker;
    double force[3], moment[3]; // N, N mm; both fixed in space
    int line;
} pl_force_def;

typedef struct pl_surface_pressure_def {
    const char *surface;
    double pressure; // MPa, acts against the surface normal and follows the deformation
    int line;
} pl_surface_pressure_def;

// A spring pulls along the straight line between its ends with stiffness * (length - rest length).
typedef struct pl_spring_def {
    const char *name;
    const char *from;  // marker
    const char *to;    // marker; NULL: `point`
    double point[3];   // fixed in space
    double stiffness;  // N/mm
    double rest;       // mm: rest length, where has_rest
    bool has_rest;     // otherwise the distance in the undeformed configuration
    bool tension_only; // slack where it is shorter than its rest length
    int line;
} pl_spring_def;

// A rigid obstacle: plane (everything on the side away from its normal), sphere, cylinder, box, or the inside
// of a closed triangle surface.
typedef enum pl_obstacle_kind {
    PL_OBSTACLE_PLANE,
    PL_OBSTACLE_SPHERE,
    PL_OBSTACLE_CYLINDER,
    PL_OBSTACLE_BOX,
    PL_OBSTACLE_SURFACE
} pl_obstacle_kind;

typedef struct pl_obstacle_def {
    const char *name;
    pl_obstacle_kind kind;
    double point[3];           // on the plane; centre of the others; translation of a surface
    double direction[3];       // normal of the plane, axis of the cylinder
    double radius, length;     // sphere, cylinder; length 0: without end
    double size[3];            // box: edges
    double rotate[3];          // box and surface: rotation vector about `point` (surface: about the origin)
    bool hollow;               // sphere, cylinder: the body is inside
    const pl_trisurf *surface; // copied
    bool moves;                // by a command with the obstacle's name: displacement = value * move
    double move[3];
    double range[2];
    bool has_range;
    double friction; // Coulomb's coefficient; negative: that of the robot
    // A free rigid body: held by contact and friction alone, under its weight. Of a closed shape that no
    // command moves; exactly one of `mass` (t) and `density` (t/mm^3).
    bool free;
    double mass, density;
    bool pulled;    // by a command with the obstacle's name: a force at its centre, value * pull
    double pull[3]; // N per N
    int line;
} pl_obstacle_def;

// Contact of the body with itself, of bodies with each other, and with obstacles.
typedef struct pl_contact_def {
    bool given;
    bool self;
    double friction; // with obstacles
    const pl_obstacle_def *obstacle;
    int obstacle_count;
    int line;
} pl_contact_def;

// A thin layer (paper, fabric, film) bonded to faces of the body, with membrane and bending stiffness,
// without elements of its own. Exactly one of `surface` and `between`.
typedef enum pl_layer_side { PL_SIDE_OUTSIDE, PL_SIDE_INSIDE, PL_SIDE_MIDDLE } pl_layer_side;

typedef struct pl_layer_def {
    const char *name;
    const char *surface;
    const char *between[2]; // two regions: the layer lies between them
    const char *material;   // any law, in plane stress
    double thickness;       // mm
    bool membrane;          // no bending stiffness
    // Where it lies: outside of the body on its face, inside (the body is drawn with it), or with its middle
    // in the face.
    pl_layer_side side;
    // Strain at which compression folds it into wrinkles, which are not drawn: beyond it the compressive
    // stress stays as it is. 0: that of a stiff film on the body below; negative: it never wrinkles.
    double wrinkle;
    // It was stretched by this, in all its directions, before it was bonded: its lengths at rest are the
    // drawn ones divided by it. 0: 1.
    double prestretch;
    int line;
} pl_layer_def;

// A fibre bonded to faces of the body along its whole length: a helix or rings about an axis, where rays from
// the axis meet the surface, or a line through points, projected onto the surface.
typedef enum pl_fibre_kind { PL_FIBRE_HELIX, PL_FIBRE_RINGS, PL_FIBRE_LINE } pl_fibre_kind;

typedef enum pl_fibre_hand { PL_HAND_RIGHT, PL_HAND_LEFT, PL_HAND_BOTH } pl_fibre_hand;

typedef struct pl_fibre_def {
    const char *name;
    pl_fibre_kind kind;
    const char *surface; // exactly one of surface and between, as for layers
    const char *between[2];
    double axis[3], about[3]; // helix and rings: direction of the axis, a point on it
    double pitch;             // helix: mm per turn; rings: distance. 0: from `angle`
    double angle;             // helix: rad between fibre and axis; 0: from `pitch`
    pl_fibre_hand hand;       // helix; both: two fibres that cross
    int starts;               // helix: parallel fibres, evenly spaced; 0: one
    double range[2];          // along the axis from `about`, mm
    bool has_range;           // otherwise as far as the surface reaches
    const double *point;      // line: 3 per point
    int point_count;
    double stiffness;  // N: force over strain (Young's modulus times area); 0: inextensible
    double young;      // MPa, what the stiffness was made from, to be checked; 0: not known
    bool tension_only; // slack where it is compressed
    double prestretch; // its length at rest is the drawn one divided by it; 0: 1
    int line;
} pl_fibre_def;

typedef struct pl_robot_def {
    const char *file; // for messages; NULL if created by a program
    const char *name;
    const pl_body_def *body;
    int body_count;
    const pl_surface_def *surface;
    int surface_count;
    const pl_material_def *material;
    int material_count;
    const pl_region_def *region;
    int region_count;
    const pl_fixed_def *fixed;
    int fixed_count;
    const pl_rigid_def *rigid;
    int rigid_count;
    const pl_actuator_def *actuator;
    int actuator_count;
    const pl_command_def *command; // none: one per actuator, with its name
    int command_count;
    const pl_marker_def *marker;
    int marker_count;
    const pl_sensor_def *sensor;
    int sensor_count;
    double gravity[3]; // mm/s^2
    const pl_force_def *force;
    int force_count;
    const pl_surface_pressure_def *pressure;
    int pressure_count;
    const pl_spring_def *spring;
    int spring_count;
    pl_contact_def contact;
    const pl_layer_def *layer;
    int layer_count;
    const pl_fibre_def *fibre;
    int fibre_count;
} pl_robot_def;

// Checks `def` against the meshes of its bodies (in their own frames, one per body, not kept) and builds the
// robot. Every defect becomes a finding with its line. If there is a PL_DEFECT, the robot is refused with
// PL_BAD_INPUT and `err` repeats the first one. `def` is not referenced afterwards.
pl_status pl_robot_create(const pl_robot_def *def, const pl_mesh *const *mesh, pl_robot **out,
                          pl_findings *findings, pl_error *err);
int pl_robot_find_command(const pl_robot *robot, const char *name); // -1 if there is none
bool pl_robot_has_contact(const pl_robot *robot);                   // with itself, other bodies or obstacles
bool pl_robot_has_self_contact(const pl_robot *robot);

// Where the commands (NULL: at rest) have moved an obstacle, mm.
void pl_robot_obstacle_offset(const pl_robot *robot, int i, const double *command, double offset[3]);

// Signed distance of a point (negative inside) from an obstacle moved by the commands.
double pl_robot_obstacle_distance(const pl_robot *robot, int i, const double *command, const double point[3]);
bool pl_drive_is_geometric(pl_drive drive); // prescribes a measure: a constraint

// The measure m that a value prescribes, its derivative with respect to the value, and the value that
// prescribes m, given the rest measure m0. For a syringe: with an incompressible fluid. NAN (derivative: 0)
// for efforts.
double pl_drive_target(pl_drive drive, double rest, double value);
double pl_drive_slope(pl_drive drive, double rest);
double pl_drive_value(pl_drive drive, double rest, double measure);
double pl_drive_rest(pl_drive drive, double rest); // the value at which the actuator is at rest

// A typical range of values, used if the robot gives none.
void pl_drive_span(pl_drive drive, double rest, double span[2]);

// The actuator value v, and dv/dc; for a one-sided command at 0, the derivative for an increasing command.
double pl_command_apply(double factor, bool one_sided, double command);
double pl_command_slope(double factor, bool one_sided, double command);

// The ratio m / m0 that the commands prescribe for actuator i, through its table if it has one; NAN: idle, or
// an effort.
double pl_robot_actuator_asked(const pl_robot *robot, int i, const double *command);

// Travel of the motor of an actuator at `value` (NAN: idle) and measure `measure`: mm of cable pulled in, or
// mm^3 pushed out of a syringe; NAN if no motor can follow the drive. An idle cable is paid out as far as the
// body pulls it. The second function gives the travel per second at a rate of the value; 0 if the rate does
// not determine travel (N/s).
double pl_actuator_travel(const pl_actuator_info *actuator, double value, double measure);
double pl_actuator_travel_rate(const pl_actuator_info *actuator, double rate);
pl_status pl_state_copy(pl_state *to, const pl_state *from); // same robot
const double *pl_state_forces(const pl_state *state);        // 3 per marker, N: set at run time

// States of a motion in time (pliant/dynamics.h) have a time (s), velocities and viscous branches besides;
// others are at rest at time 0. Static solves ignore them.
bool pl_state_has_motion(const pl_state *state);
double pl_state_time(const pl_state *state);

pl_actuator_kind pl_drive_kind(pl_drive drive);

#endif
