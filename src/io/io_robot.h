// Inside io: the YAML tree with lines, the table-driven reader of blocks, and the robot file being read.
#ifndef PL_IO_ROBOT_H
#define PL_IO_ROBOT_H

#include "base/base.h"
#include "pliant/io.h"
#include "robot/robot.h"

// ---- memory that lives as long as the file being read
typedef struct io_arena {
    struct io_arena_block *block;
    bool failed;
} io_arena;
void *io_arena_take(io_arena *arena, size_t bytes); // zeroed; NULL when out of memory
const char *io_arena_text(io_arena *arena, const char *text, size_t length);
const char *io_arena_format(io_arena *arena, const char *format, ...) PL_PRINTF(2, 3);
void io_arena_clear(io_arena *arena);

// ---- the tree of a YAML file
typedef enum io_node_kind { IO_NULL, IO_SCALAR, IO_LIST, IO_MAP } io_node_kind;
typedef struct io_node {
    io_node_kind kind;
    int line, column;
    const char *text; // scalars
    const char *key;  // when it is an entry of a map
    int key_line;
    struct io_node *child, *next; // in the order of the file
    int count;                    // children
    // where it stands in the text, in bytes: the key, then the value from `start` to before `end`
    size_t key_start, start, end;
    bool flow;   // a list in [] or a block in {}
    bool quoted; // a scalar in quotes
    bool key_quoted;
    bool edited; // replaced or added: `start` and `end` are those of the value it replaces
    bool added;  // has no place in the text
} io_node;

#define IO_YAML_BYTES_MAX ((size_t)16 << 20)
#define IO_YAML_DEPTH_MAX 32
#define IO_YAML_ITEMS_MAX 10000 // of a list
#define IO_YAML_KEYS_MAX 1000   // of a block

struct io_robot_file;
// Parses the text into a tree in the file's arena. Defects (syntax, duplicate keys, anchors, too deep) are
// reported to the file; NULL when there is no tree.
io_node *io_yaml_parse(struct io_robot_file *f, const char *text, size_t length);
// The entry of a map, or NULL.
io_node *io_child(const io_node *map, const char *key);
const char *io_kind_name(const io_node *node); // "a list", "a number or word" ...

// ---- what has been read
typedef struct io_array {
    void *item;
    int32_t count, capacity;
} io_array;

typedef struct io_solver {
    bool has_force_tolerance, has_length_tolerance, has_iteration_limit, has_increment_limit, has_time_limit;
    bool has_linear_solver, has_displacement, has_warp;
    double force_tolerance, length_tolerance, time_limit;
    int iteration_limit, increment_limit;
    pl_linear_solver linear_solver;
    bool displacement, warp, joint;
    pl_method method;
    pl_geometric_options geometric; // of local_global: preset and keys over the defaults
} io_solver;

// The triangle surface of an obstacle, beside its def.
typedef struct io_obstacle_file {
    const char *path;
    double unit;
    pl_trisurf surface;
} io_obstacle_file;

typedef struct io_robot_file {
    io_arena arena;
    const char *path;   // names the file in messages
    const char *folder; // of the robot file, "" or ending in '/'
    bool has_path;      // the robot comes from a file: meshes are cached beside it
    pl_findings *findings;
    io_array body, surface, material, region, fixed, rigid, actuator, command, marker, sensor, force,
        pressure, spring, obstacle, obstacle_file, layer, fibre;
    io_array broken; // lines of items that had a defect of their own
    io_array name;   // parameters that expressions may use (io_expression.h): of the file, then of a design
    int outer_names; // those of the file
    const io_node *parameters; // the block `parameters`, or NULL
    pl_robot_def def;
    io_solver solver;
    struct io_control *control; // blocks controller, estimator, plant, in the arena (io_control.h)
    struct io_model *model; // a reduced robot's, in the arena (io_robot_model.h); NULL: the robot has a mesh
    bool no_memory;
    bool large; // a learned model: many numbers
} io_robot_file;

// Where a block stands: at the top of a file with one body, or inside one of several.
typedef struct io_scope {
    int body;           // index; -1 at the top of a file with several bodies
    const char *prefix; // NULL, or the body's name
    double rotation[9], translation[3];
} io_scope;

// ---- reporting
#define IO_FINDINGS_MAX 200
void io_defect(io_robot_file *f, int line, const char *format, ...) PL_PRINTF(3, 4);
void io_warning(io_robot_file *f, int line, const char *format, ...) PL_PRINTF(3, 4);
void io_advise(io_robot_file *f, const char *format, ...) PL_PRINTF(2, 3);
// "", or " (did you mean 'x'?)" in the arena.
const char *io_did_you_mean(io_robot_file *f, const char *word, const char *const *known, int count);
void io_mark_broken(io_robot_file *f, int line);
// Appends a zeroed item of `size` bytes; NULL when out of memory.
void *io_append(io_robot_file *f, io_array *array, size_t size);

// ---- tables: one row per key a block knows
typedef enum io_type {
    IO_NAME, // a name defined here: letters, digits, _ - .
    IO_TEXT, // any word, a reference or a path
    IO_BOOL,
    IO_WHOLE,    // int
    IO_QUANTITY, // double of a dimension
    IO_VECTOR,   // three of them
    IO_OTHER,    // known, read by code
    IO_RESERVED  // refused until it works
} io_type;
enum { IO_REQUIRED = 1, IO_POSITIVE = 2, IO_NOT_NEGATIVE = 4 };
typedef struct io_key {
    const char *name;
    io_type type;
    pl_dimension dimension;
    size_t offset;
    int flags;
} io_key;
// Reads the known keys of `node` into `out`; unknown ones are reported with the nearest known. False after
// any defect.
bool io_read_map(io_robot_file *f, const io_node *node, const char *what, const io_key *key, int key_count,
                 void *out);
bool io_read_quantity(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                      double *value);
bool io_read_vector(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                    double value[3]);
bool io_read_range(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                   double range[2]);
bool io_read_box(io_robot_file *f, const io_node *node, const char *what, double low[3], double high[3]);
// The position of a word in a list of choices; -1 after reporting what was found and which words fit.
int io_read_choice(io_robot_file *f, const io_node *node, const char *what, const char *const *choice,
                   int count);
// A rotation {axis, angle, about} as a vector (axis times angle) and a point.
bool io_read_rotation(io_robot_file *f, const io_node *node, const char *what, double rotate[3],
                      double about[3]);
bool io_expect(io_robot_file *f, const io_node *node, io_node_kind kind, const char *what);

// ---- blocks, one reader each
void io_read_body(io_robot_file *f, const io_node *mesh, const char *name, int line, const io_scope *scope);
void io_read_surfaces(io_robot_file *f, const io_node *node, const io_scope *scope);
void io_read_materials(io_robot_file *f, const io_node *node);
void io_read_regions(io_robot_file *f, const io_node *node, const io_scope *scope);
void io_read_fixed(io_robot_file *f, const io_node *node, const io_scope *scope);
void io_read_rigid(io_robot_file *f, const io_node *node, const io_scope *scope);
void io_read_actuators(io_robot_file *f, const io_node *node, const io_scope *scope);
void io_read_commands(io_robot_file *f, const io_node *node);
void io_read_markers(io_robot_file *f, const io_node *node, const io_scope *scope);
void io_read_sensors(io_robot_file *f, const io_node *node, const io_scope *scope);
// Noise, resolution and rate of a sensor whose name and kind are known.
bool io_read_sensor_quality(io_robot_file *f, const io_node *node, pl_sensor_def *def);
void io_read_loads(io_robot_file *f, const io_node *node);
void io_read_springs(io_robot_file *f, const io_node *node);
void io_read_contact(io_robot_file *f, const io_node *node); // io_robot_contact.c
// Reads the files of obstacles; what goes wrong becomes a finding.
pl_status io_load_obstacles(io_robot_file *f, const pl_load_options *options);
bool io_read_unit(io_robot_file *f, const io_node *node, const char *what, double *unit); // mm, cm ... in mm
void io_read_layers(io_robot_file *f, const io_node *node, const io_scope *scope);        // io_robot_layers.c
void io_read_fibres(io_robot_file *f, const io_node *node, const io_scope *scope);
void io_read_solver(io_robot_file *f, const io_node *node);
void io_read_geometric(io_robot_file *f, const io_node *node); // io_robot_geometric.c
void io_read_hardware(io_robot_file *f, const io_node *node);
void io_read_control(io_robot_file *f, const io_node *root); // io_robot_control.c
// A limit per second of a value of that dimension.
bool io_read_rate(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                  double *rate);

// Names and points of a scope.
const char *io_scoped(io_robot_file *f, const io_scope *scope, const char *name);
void io_place_point(const io_scope *scope, double point[3]);
void io_place_vector(const io_scope *scope, double vector[3]);

// ---- parameters (io_robot_names.c)
// The block `parameters` and the parameters of the body at the top of a file.
void io_read_names(io_robot_file *f, const io_node *root);
// Those of the design in a `mesh:` block, instead of those of another body; NULL: none.
void io_read_design_names(io_robot_file *f, const io_node *mesh);
// The block with its repetitions written out (io_robot_repeat.c); NULL after a report, or for NULL.
const io_node *io_expand(io_robot_file *f, const io_node *node);
// The number at a node: a quantity, or an expression. False after a report.
bool io_read_number(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                    bool rate, double *value);

// ---- the whole file: io_robot_file_read is in io_document.h
void io_robot_file_clear(io_robot_file *f);
// Copies the file's findings, sorted by line, to `findings`; the status and `err` follow the first defect.
pl_status io_robot_file_report(const io_robot_file *f, pl_status otherwise, pl_findings *findings,
                               pl_error *err);

// Takes over a finding made elsewhere; without a file of its own it gets the robot file and `line`.
void io_adopt_finding(io_robot_file *f, const pl_finding *finding, int line);
// The robot's linear systems take their orders from the cache too.
void io_cache_orders(const io_robot_file *f, const pl_load_options *options, pl_robot *robot);
// The mesh of a source from the cache beside the robot file, or built and put there.
pl_status io_cache_build(io_robot_file *f, const pl_mesh_source *source, const pl_load_options *options,
                         pl_mesh **out, pl_findings *findings, pl_error *err);

// ---- units
const char *io_dimension_name(pl_dimension dimension);
const char *io_dimension_units(pl_dimension dimension);

#endif
