// Inside the meshing room: the Gmsh session, drawings made of named solids, and the path from Gmsh's model to
// a pl_mesh.
#ifndef PL_MESHING_IMPL_H
#define PL_MESHING_IMPL_H

#include "base/base.h"
#include "mesh/mesh.h"
#include "meshing/meshing_gmsh_calls.h"
#include "pliant/meshing.h"

// ---- the session, one at a time in the mesher's process (see meshing_child.h): nothing here may run outside
// of meshing_isolate. `failed` is sticky: after the first failed call the following ones are skipped, and
// meshing_fail says why.
typedef struct gmsh_session {
    int ierr; // of the last call
    bool failed;
} gmsh_session;

pl_status meshing_gmsh_load(pl_error *err); // by meshing_begin
pl_status meshing_begin(gmsh_session *g, pl_error *err);
void meshing_end(gmsh_session *g);

// Turns Gmsh's last error into a sentence that starts with `what`.
pl_status meshing_fail(gmsh_session *g, const char *what, pl_error *err);

// Progress between stages: false (with PL_INTERRUPTED in err) when the caller asks to stop.
pl_status meshing_stage(const pl_progress *progress, double fraction, const char *what, pl_error *err);

// One physical group per name, over the entities (tag[i]) of that name; a NULL name leaves its entity out.
pl_status meshing_group(gmsh_session *g, int dim, const int *tag, const char *const *name_of, int32_t count,
                        pl_error *err);

static inline bool gmsh_well(gmsh_session *g)
{
    g->failed = g->failed || g->ierr != 0;
    return !g->failed;
}

// Calls Gmsh unless an earlier call failed; true when all went well so far. The call ends with &g->ierr.
#define GMSH(g, call) ((g)->failed ? gmsh_well(g) : ((g)->ierr = 0, (call), gmsh_well(g)))

// ---- from the current Gmsh model to a mesh: regions from 3D physical groups, surfaces from 2D ones
typedef struct extract_options {
    double scale;       // mm per unit of the model
    const char *source; // starts the sentences: a file name, "design beam"
    const char *body;   // name of elements in no group
    bool collapse;      // collapse short edges of flat elements
    bool relax;         // draw mid-edge nodes back towards their chords where a curved element is poorly bent
} extract_options;

pl_status meshing_extract(gmsh_session *g, const extract_options *options, pl_mesh **out,
                          pl_mesh_report *report, pl_error *err);

// Draws mid-edge nodes back towards their chords where quadratic tets are poorly bent.
void meshing_relax(int32_t element_count, const uint8_t *kind, const int64_t *node_start, const int32_t *node,
                   double *position);


// ---- a drawing: solids that may overlap, named, and planes that name faces. Later solids win over earlier
// ones; cavities win over everything and stay hollow; knives only cut.
#define DRAWING_SOLIDS_MAX 320
#define DRAWING_PLANES_MAX 8
typedef enum solid_role { SOLID_REGION, SOLID_CAVITY, SOLID_KNIFE } solid_role;

typedef struct drawing {
    gmsh_session *g;
    struct {
        int tag;
        solid_role role;
        const char *name; // region, or surface of a cavity
    } solid[DRAWING_SOLIDS_MAX];
    int solid_count;
    struct {
        const char *name;
        int axis;
        double at;  // mm
        bool inner; // faces between two solids, not on the outside
    } plane[DRAWING_PLANES_MAX];
    int plane_count;
    const char *outer; // name of the outside faces on no plane; NULL: nameless
    bool fill;         // cavities are meshed, as regions of their name
    double thinnest;   // mm, the thinnest wall
    double walls;      // largest edge in a wall, in wall thicknesses; 0: two
    double length;     // mm, the largest dimension
    int round;         // most elements around a full turn; 0: as meshing_volume.c chooses
} drawing;

int drawing_box(drawing *d, double x, double y, double z, double dx, double dy, double dz);
int drawing_cylinder(drawing *d, double x, double y, double z, double height, double radius); // along z
int drawing_cone(drawing *d, double x, double length, double radius, double end_radius);      // along x

// A hexagonal prism along z; `radius` to its corners, the first of which lies at the angle `phase`.
int drawing_hexagon(drawing *d, double x, double y, double z, double height, double radius, double phase);
void drawing_turn(drawing *d, int tag, double angle); // about z

// A closed polygon in the xz plane at y, swept along y by `width`. `xz` holds 2 numbers per corner.
int drawing_sweep(drawing *d, const double *xz, int corner_count, double y, double width);
void drawing_cut(drawing *d, int *solid, int *tool, int tool_count); // *solid becomes the rest
void drawing_add(drawing *d, int tag, solid_role role, const char *name);
void drawing_plane(drawing *d, const char *name, int axis, double at);

// Splits, names, meshes and extracts.
pl_status drawing_mesh(drawing *d, const char *source, double size, int order, const pl_progress *progress,
                       pl_mesh **out, pl_findings *findings, pl_error *err);

// ---- how large elements may be where, on a grid (see meshing_size.c)
typedef struct size_field {
    double low[3], spacing; // mm
    int count[3];
    double *value; // mm
} size_field;

// At most `size`, and at most `factor` times the thickness of a wall, seen on a coarse mesh of the same
// shape. *thinnest is the thickness that 2 % of the boundary stay below (infinite for a body without walls).
pl_status size_field_init(const pl_mesh *mesh, double size, double factor, size_field *f, double *thinnest,
                          pl_error *err);

// The same by hand: the whole size everywhere, lowered at points (to `finest` at least), then graded.
pl_status size_field_begin(size_field *f, const double low[3], const double high[3], double size,
                           double finest, pl_error *err);
void size_field_lower(size_field *f, const double x[3], double s);
void size_field_end(size_field *f);
double size_field_at(const size_field *f, const double x[3]);
void size_field_clear(size_field *f);

// Meshes the current model (regions and surfaces are physical groups already) and extracts it. With follow,
// mid-edge nodes lie on the curved boundary when order is 2 and every element stays positive; otherwise edges
// are straight.
typedef struct volume_options {
    const char *source;
    double size;             // mm, the largest edge wanted
    double walls;            // largest edge in a wall, in wall thicknesses; 0: walls are not looked for
    const size_field *field; // sizes known already; walls are then not looked for
    int order;
    bool keep_surface; // the surface mesh is there already and stays
    bool follow;
    int round;       // most elements around a full turn; 0: chosen
    double expected; // elements; meshing_volume counts them
} volume_options;

// What is changed from attempt to attempt (see meshing_child.h), and the same in words, for triangles and
// CAD.
typedef enum parts_surface { PARTS_OURS, PARTS_SPLIT, PARTS_GMSH } parts_surface;

typedef struct meshing_setting {
    parts_surface surface; // who makes the surface of parts
    int method;            // the method of meshing_volume.c to begin with
    int algorithm;         // of volumes: 1 Delaunay, 10 HXT
    double size;           // times the size asked for
} meshing_setting;

meshing_setting meshing_setting_now(void);
const char *meshing_parts_setting(int attempt);
const char *meshing_cad_setting(int attempt);

// 1 is the limit in volume (5 %) or mean quality (0.3).
double meshing_badness(const pl_mesh *mesh);

pl_status meshing_volume(gmsh_session *g, const volume_options *options, const pl_progress *progress,
                         pl_mesh **out, pl_findings *findings, pl_error *err);

// Names closed voids cavity, cavity2... (see meshing_voids.c); replaces *mesh when there are any.
pl_status meshing_name_voids(pl_mesh **mesh, pl_error *err);

// Joins faces that share an edge: parent[f] leads to a root, the first face of its piece. False without
// memory.
bool meshing_join_faces(const pl_mesh *mesh, const int64_t *face, int64_t count, int32_t *parent);

// ---- files
typedef struct file_bytes {
    char *data; // one NUL behind the end; freed with pl_free
    size_t size;
} file_bytes;

pl_status meshing_load(const char *path, file_bytes *bytes, pl_error *err);
const char *meshing_extension(const char *path); // "" when there is none

// Whether counts and contents fit (see meshing_msh_check.c).
pl_status meshing_check_msh(const char *path, const file_bytes *bytes, bool binary, bool version4,
                            pl_error *err);
pl_status meshing_check_unv(const char *path, const file_bytes *bytes, pl_error *err);
pl_status meshing_read_vtk(const char *path, double unit, pl_mesh **out, pl_mesh_report *report,
                           pl_error *err);

// Writes MSH 2.2 or 4.1, beside and renamed.
pl_status meshing_write(const pl_mesh *mesh, const char *path, double version, bool binary, pl_error *err);

// Copies findings; when there are defects, fails with the first one's text.
pl_status meshing_refuse(const pl_findings *found, pl_findings *findings, pl_error *err);

// ---- sheets: shells of prisms from planar outlines (see meshing_sheets.c)
#define SHEETS_MAX 32
#define SHEET_CORNERS_MAX 64

// One layer of a shell.
typedef struct sheet {
    const char *region; // NULL: what it covers stays empty
    double from, to;    // mm, heights
    double xy[2 * SHEET_CORNERS_MAX];
    int corner_count;
} sheet;

pl_status meshing_sheets(gmsh_session *g, const sheet *list, int count, double size, int order, pl_mesh **out,
                         pl_error *err);

// ---- one parametric design
typedef struct design {
    pl_design open;
    // NULL when the values fit each other, else what is wrong, naming the parameter
    const char *(*check)(const double *p);
    void (*draw)(drawing *d, const double *p);           // or
    int (*sheets)(const double *p, sheet *out);          // at most SHEETS_MAX
    void (*place)(const double *p, double x[3]);         // NULL, or where a point of the drawing comes to lie
    double (*volume)(const double *p, const char *name); // negative: no such name
} design;

extern const design design_bending_finger, design_cable_finger, design_three_chamber, design_segment,
    design_specimen, design_beam, design_sphere_shell, design_tube, design_planar_arm, design_dea_crawler,
    design_knuckle_finger, design_gripper_finger, design_tentacle, design_parallel, design_bellows_trunk,
    design_fiber_bender, design_cbha, design_twister, design_membrane, design_pillows;

pl_status meshing_check_design(const pl_mesh_source *source, pl_error *err); // kind and parameters
pl_status meshing_from_design(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                              pl_findings *findings, pl_error *err);

// A shell of prisms; sizes are judged, and without one a twelfth of the longest side is taken.
pl_status meshing_shell(gmsh_session *g, const sheet *list, int count, const pl_mesh_source *source,
                        const char *name, pl_mesh **out, pl_error *err);
pl_status meshing_from_sheets(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                              pl_error *err);
pl_status meshing_from_part_files(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                                  pl_findings *findings, pl_error *err);
pl_status meshing_from_step(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                            pl_findings *findings, pl_error *err);

#endif
