// A robot: everything that is constant. A pl_robot_def describes it (io fills one from a robot file);
// checking it against its meshes gives the immutable pl_robot. A pl_state holds everything that changes.
#ifndef PLIANT_ROBOT_H
#define PLIANT_ROBOT_H

#include "pliant/material.h"
#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

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

typedef enum pl_actuator_kind {
    PL_CABLE,
    PL_CHAMBER,
    PL_FILM,
    PL_MAGNET,
    PL_ACTUATOR_KIND_COUNT
} pl_actuator_kind;
typedef enum pl_drive {
    PL_DRIVE_LENGTH_RATIO, // cable: L / L0
    PL_DRIVE_LENGTH,       // cable: L, mm
    PL_DRIVE_SHORTENING,   // cable: L0 - L, mm
    PL_DRIVE_TENSION,      // cable, N
    PL_DRIVE_VOLUME_RATIO, // chamber: V / V0
    PL_DRIVE_VOLUME,       // chamber: V, mm^3
    PL_DRIVE_PRESSURE,     // chamber: gauge, MPa
    PL_DRIVE_SYRINGE,      // chamber: volume pushed into a closed line, mm^3
    PL_DRIVE_AREA_RATIO,   // film: A / A0
    PL_DRIVE_VOLTAGE,      // film, V
    PL_DRIVE_FIELD,        // magnet: flux density of the field, V s/mm^2 (1e6 T)
    PL_DRIVE_COUNT
} pl_drive;

typedef struct pl_guide_def {
    double point[3];
    bool space;    // fixed in space instead of embedded in the body
    double radius; // mm, of this guide (a washer at the end); 0: as its cable or string says
    int line;
} pl_guide_def;

// What the machine does with a gauge pressure below 0 in a chamber. Unsaid: a table of pressures is refused
// (a valve that vents to the room cannot pull), a syringe moved by an axis pulls.
typedef enum pl_below_zero {
    PL_BELOW_UNSAID,
    PL_BELOW_REFUSE,
    PL_BELOW_CLIP, // written as 0: vented; a syringe stops at its rest position
    PL_BELOW_PULL  // the machine can pull: kept
} pl_below_zero;

// The machine axis (G-code) that moves an actuator. At travel t (mm of cable pulled in, or mm^3 pushed out of
// a syringe) the axis position is offset + t / per_unit, or offset - t / per_unit if reversed.
typedef struct pl_hardware {
    char axis;       // A to Z; 0: the actuator has no axis
    double per_unit; // mm or mm^3 per unit of the axis
    bool reverse;
    double offset;   // axis units, position when the actuator is at rest
    double feed;     // largest speed, axis units per minute; 0: no limit
    double range[2]; // axis units
    bool has_range;
    pl_below_zero below_zero; // chambers; needs no axis
    int line;
} pl_hardware;

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

typedef enum pl_sensor_kind { PL_SENSOR_LENGTH, PL_SENSOR_VOLUME, PL_SENSOR_PRESSURE } pl_sensor_kind;
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

typedef struct pl_robot pl_robot;

// Checks `def` against the meshes of its bodies (in their own frames, one per body, not kept) and builds the
// robot. Every defect becomes a finding with its line. If there is a PL_DEFECT, the robot is refused with
// PL_BAD_INPUT and `err` repeats the first one. `def` is not referenced afterwards.
PL_API_CHECKED pl_status pl_robot_create(const pl_robot_def *def, const pl_mesh *const *mesh, pl_robot **out,
                                         pl_findings *findings, pl_error *err);
PL_API void pl_robot_destroy(pl_robot *robot);

// Reports suspicious properties of a valid robot, as findings with positions and elements: what
// pl_mesh_examine finds, chambers that are open or inverted, markers and cables outside the body. Findings
// that are already in `findings` (from loading) are not repeated.
PL_API_CHECKED pl_status pl_robot_examine(const pl_robot *robot, pl_findings *findings, pl_error *err);

// Contents.
PL_API const char *pl_robot_name(const pl_robot *robot);
PL_API uint64_t pl_robot_hash(const pl_robot *robot);       // of everything that determines its behaviour
PL_API const pl_mesh *pl_robot_mesh(const pl_robot *robot); // all bodies, in the world frame
PL_API const char *pl_robot_region_material(const pl_robot *robot, int region); // name of the material

typedef struct pl_command_info {
    const char *name;
    double range[2]; // internal units
    bool has_range;
    pl_drive drive; // of its first actuator; determines the unit
    int actuator_count;
    double rate;       // largest change, internal units per second; 0: no limit
    double fill, vent; // s: times in which the drives follow upwards and downwards, the longest; 0: at once
    double rest;       // the value at which its first actuator is at rest
    double span[2];    // the range, or if there is none, a typical one for its drives, including factors
} pl_command_info;
typedef struct pl_actuator_info {
    const char *name;
    pl_actuator_kind kind;
    pl_drive drive;
    double range[2];
    bool has_range, idle_hold;
    double rest; // rest measure: mm, mm^3 or mm^2
    int command; // the command that drives it; -1 if none
    double factor;
    bool one_sided; // its value is max(0, factor * command) instead of factor * command
    bool growth;    // acts by the stress-free shape of its elements
    int table_count;
    int rim_count; // chambers: openings that were capped
    double rate;   // largest change, internal units per second; 0: no limit
    pl_hardware hardware;
} pl_actuator_info;

PL_API int pl_robot_command_count(const pl_robot *robot);
PL_API pl_command_info pl_robot_command(const pl_robot *robot, int i);
PL_API int pl_robot_find_command(const pl_robot *robot, const char *name); // -1 if there is none
PL_API int pl_robot_actuator_count(const pl_robot *robot);
PL_API pl_actuator_info pl_robot_actuator(const pl_robot *robot, int i);
// Faces of the mesh that a chamber or film acts on; the array belongs to the robot. 0 for cables.
PL_API int64_t pl_robot_actuator_faces(const pl_robot *robot, int i, const int64_t **face);
PL_API int pl_robot_marker_count(const pl_robot *robot);
PL_API const char *pl_robot_marker_name(const pl_robot *robot, int i);
PL_API void pl_robot_marker_rest(const pl_robot *robot, int i, double position[3],
                                 double *distance); // off the body
PL_API int pl_robot_sensor_count(const pl_robot *robot);
PL_API const char *pl_robot_sensor_name(const pl_robot *robot, int i);
PL_API pl_sensor_kind pl_robot_sensor_kind(const pl_robot *robot, int i);
// The polyline of a length sensor for vertices at `position` (3 each); returns its number of points (0 for
// other sensors), writes at most `room`.
PL_API int pl_robot_sensor_line(const pl_robot *robot, int i, const double *position, double *point,
                                int room);
typedef struct pl_spring_info {
    const char *name;
    int from, to;           // markers; to -1: `point`
    double point[3];        // fixed in space
    double stiffness, rest; // N/mm, mm
    bool tension_only;
} pl_spring_info;
PL_API int pl_robot_spring_count(const pl_robot *robot);
PL_API pl_spring_info pl_robot_spring(const pl_robot *robot, int i);
PL_API int pl_robot_fixed_count(const pl_robot *robot);
PL_API const char *pl_robot_fixed_name(const pl_robot *robot, int i);
// Vertices that a support holds and the axes it holds them in; the array belongs to the robot.
PL_API int32_t pl_robot_fixed_vertices(const pl_robot *robot, int i, const int32_t **vertex, bool axis[3]);
PL_API void pl_robot_gravity(const pl_robot *robot, double gravity[3]); // mm/s^2
PL_API int pl_robot_force_count(const pl_robot *robot);
// The marker at which force i acts, -1 if there is none; N, N mm.
PL_API int pl_robot_force(const pl_robot *robot, int i, double force[3], double moment[3]);
// Loads by pressure: the faces they act on (the array belongs to the robot), MPa.
PL_API int pl_robot_pressure_count(const pl_robot *robot);
PL_API int64_t pl_robot_pressure_faces(const pl_robot *robot, int i, const int64_t **face, double *pressure);
PL_API int pl_robot_material_count(const pl_robot *robot);
PL_API const char *pl_robot_material_name(const pl_robot *robot, int i);
PL_API pl_material pl_robot_material(const pl_robot *robot, int i);
PL_API bool pl_robot_has_contact(const pl_robot *robot); // with itself, other bodies or obstacles
PL_API bool pl_robot_has_self_contact(const pl_robot *robot);
PL_API int pl_robot_obstacle_count(const pl_robot *robot);
PL_API const char *pl_robot_obstacle_name(const pl_robot *robot, int i);
PL_API const char *pl_robot_obstacle_kind(const pl_robot *robot, int i); // "plane", "sphere" ...
PL_API double pl_robot_obstacle_friction(const pl_robot *robot, int i);
// Where the commands (NULL: at rest) have moved an obstacle, mm.
PL_API void pl_robot_obstacle_offset(const pl_robot *robot, int i, const double *command, double offset[3]);
// Where it stands in a shape x (3 per vertex; NULL: at rest): a place p of the obstacle at rest is at
// rotation p + translation (row-major). Free bodies move with the shape, others with the commands.
PL_API bool pl_robot_obstacle_is_free(const pl_robot *robot, int i);
PL_API double pl_robot_obstacle_mass(const pl_robot *robot, int i); // t; 0 where it is not free
PL_API void pl_robot_obstacle_pose(const pl_robot *robot, int i, const double *command, const double *x,
                                   double rotation[9], double translation[3]);
// Triangles that show an obstacle at rest, 9 numbers each; `out` NULL: only their number. Of what has no end
// the part of `size` around `near` is shown.
PL_API int pl_robot_obstacle_triangles(const pl_robot *robot, int i, const double near[3], double size,
                                       double *out);
// Signed distance of a point (negative inside) from an obstacle moved by the commands.
PL_API double pl_robot_obstacle_distance(const pl_robot *robot, int i, const double *command,
                                         const double point[3]);
typedef struct pl_layer_info {
    const char *name;
    const int64_t *face; // of the mesh; belongs to the robot
    int64_t face_count;
    double thickness, offset, area; // mm, mm from the face outwards to its middle, mm^2
    int material;
    bool bending;
    double wrinkle; // strain at which compression folds it; 0: never
    double prestretch;
} pl_layer_info;
typedef struct pl_fibre_info {
    const char *name;
    double length;    // mm, all its pieces together
    double stiffness; // N
    bool inextensible, tension_only;
    int piece_count; // connected pieces, each a polyline
    double prestretch;
} pl_fibre_info;
PL_API int pl_robot_layer_count(const pl_robot *robot);
PL_API pl_layer_info pl_robot_layer(const pl_robot *robot, int i);
PL_API int pl_robot_fibre_count(const pl_robot *robot);
PL_API pl_fibre_info pl_robot_fibre(const pl_robot *robot, int i);
// The polyline of a piece of a fibre for vertices at `position` (3 each); returns its number of points,
// writes at most `room`.
PL_API int pl_robot_fibre_line(const pl_robot *robot, int i, int piece, const double *position, double *point,
                               int room);

// ---- what a command means. A command c gives each actuator that it drives the value v = factor c; a
// one-sided command gives max(0, factor c), for antagonists. The drive determines what v prescribes: a
// measure m (the length of a cable, the volume of a chamber, the area of a film; m0 when undeformed), or an
// effort. NAN means idle everywhere. Values are in internal units (mm, mm^3, N, MPa, V).
// What a kind of actuator measures (length, volume, area, magnetic moment along the field), the effort that
// goes with it, and their units on the terminal.
typedef enum pl_actuator_place { PL_PLACE_POINTS, PL_PLACE_FACES, PL_PLACE_REGION } pl_actuator_place;
typedef struct pl_actuator_kind_info {
    const char *name;
    const char *measure, *measure_unit;
    double measure_scale;                          // internal value of one unit
    const char *effort, *effort_key, *effort_unit; // for people, in records
    double effort_scale;
    pl_dimension effort_dimension;
    pl_drive effort_drive;   // that prescribes an effort
    double sign;             // +1: its effort shortens its measure, -1: it enlarges it
    bool pulls_only;         // it is slack rather than push
    pl_actuator_place place; // what the robot file gives: `through`; `surface` or `region`; `region`
} pl_actuator_kind_info;
PL_API const pl_actuator_kind_info *pl_actuator_kind_get(pl_actuator_kind kind);
PL_API const char *pl_actuator_kind_name(pl_actuator_kind kind);
PL_API const char *pl_drive_name(pl_drive drive);
PL_API pl_actuator_kind pl_drive_kind(pl_drive drive);
PL_API bool pl_drive_is_geometric(pl_drive drive); // prescribes a measure: a constraint
PL_API const char *pl_drive_unit(pl_drive drive);  // "1", "mm", "N", "kPa", "mL", "V", "mT": on the terminal
PL_API double pl_drive_scale(pl_drive drive);      // internal value of one such unit (kPa: 1e-3, mL: 1000)
PL_API pl_dimension pl_drive_dimension(pl_drive drive);
// The measure m that a value prescribes, its derivative with respect to the value, and the value that
// prescribes m, given the rest measure m0. For a syringe: with an incompressible fluid. NAN (derivative: 0)
// for efforts.
PL_API double pl_drive_target(pl_drive drive, double rest, double value);
PL_API double pl_drive_slope(pl_drive drive, double rest);
PL_API double pl_drive_value(pl_drive drive, double rest, double measure);
PL_API double pl_drive_rest(pl_drive drive, double rest); // the value at which the actuator is at rest
// A typical range of values, used if the robot gives none.
PL_API void pl_drive_span(pl_drive drive, double rest, double span[2]);

// The actuator value v, and dv/dc; for a one-sided command at 0, the derivative for an increasing command.
PL_API double pl_command_apply(double factor, bool one_sided, double command);
PL_API double pl_command_slope(double factor, bool one_sided, double command);
// The ratio m / m0 that the commands prescribe for actuator i, through its table if it has one; NAN: idle, or
// an effort.
PL_API double pl_robot_actuator_asked(const pl_robot *robot, int i, const double *command);

// Travel of the motor of an actuator at `value` (NAN: idle) and measure `measure`: mm of cable pulled in, or
// mm^3 pushed out of a syringe; NAN if no motor can follow the drive. An idle cable is paid out as far as the
// body pulls it. The second function gives the travel per second at a rate of the value; 0 if the rate does
// not determine travel (N/s).
PL_API double pl_actuator_travel(const pl_actuator_info *actuator, double value, double measure);
PL_API double pl_actuator_travel_rate(const pl_actuator_info *actuator, double rate);

// ---- state: everything that changes
typedef struct pl_state pl_state;
PL_API_CHECKED pl_status pl_state_create(const pl_robot *robot, pl_state **out, pl_error *err); // at rest
PL_API void pl_state_destroy(pl_state *state);
PL_API_CHECKED pl_status pl_state_copy(pl_state *to, const pl_state *from); // same robot
PL_API void pl_state_reset(pl_state *state, const pl_robot *robot);
PL_API const double *pl_state_positions(const pl_state *state); // 3 per vertex, mm
PL_API int32_t pl_state_vertex_count(const pl_state *state);
PL_API const double *pl_state_commands(const pl_state *state);        // internal units; NAN: idle
PL_API void pl_state_set_positions(pl_state *state, const double *x); // 3 per vertex, mm; for drawing
PL_API const double *pl_state_forces(const pl_state *state);          // 3 per marker, N: set at run time
// States of a motion in time (pliant/dynamics.h) have a time (s), velocities and viscous branches besides;
// others are at rest at time 0. Static solves ignore them.
PL_API bool pl_state_has_motion(const pl_state *state);
PL_API double pl_state_time(const pl_state *state);
// For files: everything as one block of doubles, with the hash of the robot. `size` in doubles.
PL_API size_t pl_state_pack(const pl_state *state, double *block, size_t size);
PL_API_CHECKED pl_status pl_state_unpack(pl_state *state, const double *block, size_t size, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
