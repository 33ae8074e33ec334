// Inside the robot room: what the files share while a robot is being built.
#ifndef PL_ROBOT_BUILD_H
#define PL_ROBOT_BUILD_H

#include "base/vec.h"
#include "mesh/mesh.h"
#include "robot/robot.h"

// Chamber elements that are taken out of the mesh but remembered (robot_fill.c): corners of tets as vertices
// of the world mesh, or -1 - k for the k-th vertex inside.
// Owned by the build until robot_fill_give.
typedef struct robot_fill {
    int32_t *tet; // 4 per tet
    int32_t count;
    double *position; // mm, of vertices inside
    int32_t vertex_count;
} robot_fill;

// What the steps of a build share. Nothing here outlives the build except `robot`.
typedef struct robot_build {
    const pl_robot_def *def; // borrowed
    pl_robot *robot;
    pl_findings *findings;
    int defects_before; // in `findings`, from other calls
    double size;        // diagonal of the world mesh's bounding box, mm
    bool *hollow;       // per actuator: its region of chamber elements was taken out and is a surface now
    robot_fill *fill;   // per actuator
    bool *mark;         // per vertex, scratch, all false between uses
    pl_error *err;
} robot_build;

#define ROBOT_FIND(b, severity, line, ...)                                                                   \
    pl_findings_add((b)->findings, severity, (b)->def->file, line, __VA_ARGS__)
#define ROBOT_DEFECT(b, line, ...) ROBOT_FIND(b, PL_DEFECT, line, __VA_ARGS__)

// Every step reports defects as findings and fails only when out of memory or when a room to the left fails.
pl_status robot_world_mesh(robot_build *b, const pl_mesh *const *mesh); // robot_world.c

// Whether a support of a body is a plane of symmetry along which the body was cut, in the frame of the body
// (robot_mirror.c). `face`: what it holds, where it names a surface.
bool robot_mirror(const robot_build *b, int body, const pl_mesh *mesh, const pl_fixed_def *def,
                  const int64_t *face, int64_t count, pl_mirror *out);
pl_status robot_regions(robot_build *b);  // robot_create.c
pl_status robot_supports(robot_build *b); // robot_support.c

// Closes the rims of a chamber and measures its volume (robot_rim.c).
pl_status robot_caps(robot_build *b, pl_actuator *a, int line);
pl_status robot_rigids(robot_build *b);
pl_status robot_check_held(robot_build *b);  // robot_held.c
pl_status robot_actuators(robot_build *b);   // robot_actuator.c
pl_status robot_rest_shapes(robot_build *b); // robot_growth.c
pl_status robot_growth(robot_build *b, int actuator);
pl_status robot_commands(robot_build *b);                                  // robot_command.c
void robot_check_hardware(const pl_robot_def *def, pl_findings *findings); // robot_hardware.c
pl_status robot_markers(robot_build *b);                                   // robot_marker.c
pl_status robot_sensors(robot_build *b);
pl_status robot_springs(robot_build *b);
pl_status robot_contact(robot_build *b); // robot_contact.c

// ---- robot_obstacle.c: the table of obstacle shapes
typedef struct robot_extent {
    double volume, centre[3]; // mm^3, mm
    double size;              // mm: half the smallest extent
    double second[9];         // mm^2: mean of (X - centre) (X - centre)^T over the volume
} robot_extent;

typedef struct robot_obstacle_row {
    const char *name;                      // in robot files
    const char *direction;                 // what `direction` is called; NULL: not used
    bool has_radius, has_length, has_size; // which of them are used, and must then be above 0 (length: or 0)
    // Fills frame and sizes of the shape, whose centre, radius and `hollow` are set.
    pl_status (*place)(robot_build *b, const pl_obstacle_def *def, pl_shape *shape);
    void (*measure)(const pl_obstacle_def *def,
                    robot_extent *out); // NULL: has no volume, so it is never free
} robot_obstacle_row;

const robot_obstacle_row *robot_obstacle_kind(pl_obstacle_kind kind);

// Free bodies (robot_free.c): the mesh with a frame for each; the region of a frame by obstacle (-1: none);
// the material of that region; what the frame says about the obstacle.
int robot_free_count(const robot_build *b);
pl_status robot_free_frames(robot_build *b, const pl_mesh *mesh, pl_mesh **out);
int32_t robot_free_region(const robot_build *b, int obstacle);
pl_status robot_free_materials(robot_build *b);
pl_status robot_free_rigids(robot_build *b);
void robot_free_obstacle(const robot_build *b, int i, pl_obstacle *o);
#define ROBOT_PRELOAD 0.25 // of the edge, or of an obstacle's half width: overlap at rest that contact pushes out
void robot_contact_clear(pl_robot_contact *contact);

// Reports bodies that stand in one another as drawn.
void robot_check_bodies(robot_build *b, const pl_robot_contact *c);
uint64_t robot_contact_hash(const pl_robot_contact *contact, uint64_t hash);
pl_status robot_layers(robot_build *b); // robot_layer.c
pl_status robot_fibres(robot_build *b); // robot_fibre.c

// The triangles of a layer or of a fibre's ground: of a surface, or between two regions. None after a
// finding.
pl_status robot_layer_faces(robot_build *b, const char *what, const char *surface,
                            const char *const between[2], int line, int64_t **face, int64_t *count);

// Warnings about a layer or fibre that can be built (robot_thin.c): of its modulus (MPa) against that of the
// body below the faces, of its thickness against the wall.
void robot_thin_modulus(robot_build *b, const char *what, int line, double young, const int64_t *face,
                        int64_t count);
pl_status robot_thin_walls(robot_build *b, const pl_layer_def *def, const pl_layer *layer);
double robot_thin_young(const pl_material *material);
void robot_fibre_clear(pl_fibre *fibre);
pl_status robot_loads(robot_build *b);
uint64_t robot_hash(const pl_robot *robot); // robot_hash.c

// Index of a surface or region of the world mesh; -1 after a finding that names the nearest.
int32_t robot_find_surface(robot_build *b, const char *name, const char *what, int line);
int32_t robot_find_region(robot_build *b, const char *name, const char *what, int line);

// Vertices marked in b->mark as an ascending list; the marks are cleared.
pl_status robot_take_marks(robot_build *b, int32_t **node, int32_t *count);
void robot_mark_faces(robot_build *b, const int64_t *face, int64_t count);
void robot_mark_region(robot_build *b, int32_t region);
pl_status robot_copy_faces(robot_build *b, int32_t surface, int64_t **face, int64_t *count);

// Faces of elements outside the set that look at elements inside it; freed with pl_free.
pl_status robot_interface(const pl_mesh *mesh, const bool *inside, int64_t **face, int64_t *count,
                          pl_error *err);

// Guides of a cable or a string and the length along them.
pl_status robot_guides(robot_build *b, const char *what, const char *name, const pl_guide_def *guide,
                       int count, double radius, pl_point **out, double *length);

// The name of the region that could be the air of a chamber: its region, or one called like its surface.
static inline const char *robot_air_name(const pl_actuator_def *a)
{
    return a->region ? a->region : a->surface;
}

// Remembers the tets of `mesh` marked in `air` for an actuator; `gone` marks all elements taken out, `offset`
// is the number of the body's first vertex in the world, `body` its pose. Prisms are not remembered.
pl_status robot_fill_take(robot_build *b, int actuator, const pl_mesh *mesh, const bool *air,
                          const bool *gone, int32_t offset, const pl_body_def *body);

// Hands it to the actuator, with the numbers of pl_actuator.
void robot_fill_give(robot_build *b, int actuator);

// Rest area and elements of a film whose faces are known.
pl_status robot_film(robot_build *b, const pl_actuator_def *def, pl_actuator *a);

// ---- kinds of actuators (robot_kind.c): each places itself on the mesh and computes its rest measure
pl_status robot_kind_build(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a);
pl_status robot_cable(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a);
pl_status robot_chamber(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a);
pl_status robot_film_build(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a);
pl_status robot_magnet(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a);

// The triangles on one side of a region of prisms (robot_growth.c).
pl_status robot_film_faces(robot_build *b, int32_t region, int64_t **face, int64_t *count);
pl_status robot_memory(robot_build *b);
bool robot_has_defects(const robot_build *b); // found so far

// Positive weights over nodes, tilted so that their mean is `at` where positive weights can do that; see
// robot_point.c.
void robot_point_tilt(const double *position, const int32_t *node, int32_t count, const double at[3],
                      double scale, double *weight);

// Lumped share of an element's volume that belongs to its local node: positive, sums to 1.
double robot_lump(pl_element_kind kind, int node);

// The non-negative weights around a point: the kernel's over `radius`, or those of the element it lies in.
pl_status robot_point_patch(const pl_mesh *mesh, const double at[3], double radius, pl_point *out,
                            pl_error *err);

#endif
