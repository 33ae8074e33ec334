// Inside document: the YAML tree with lines, the table-driven reader of blocks, and the robot file being
// read.
#ifndef PL_DOCUMENT_READER_H
#define PL_DOCUMENT_READER_H

#include "document/document.h"
#include "base/base.h"
#include "geometric/geometric.h"
#include "pliant/document.h"
#include "pliant/meshfile.h"
#include "pliant/text.h"
#include "robot/robot.h"
#include "statics/statics.h"
#include "text/text_expression.h"

// ---- memory that lives as long as the file being read
// Blocks linked in a list, freed together.
typedef struct doc_arena {
    struct doc_arena_block *block;
    bool failed;
} doc_arena;

void *doc_arena_take(doc_arena *arena, size_t bytes); // zeroed; NULL when out of memory
const char *doc_arena_text(doc_arena *arena, const char *text, size_t length);
const char *doc_arena_format(doc_arena *arena, const char *format, ...) PL_PRINTF(2, 3);
void doc_arena_clear(doc_arena *arena);

// ---- the tree of a YAML file
typedef enum doc_node_kind { DOC_NULL, DOC_SCALAR, DOC_LIST, DOC_MAP } doc_node_kind;

typedef struct doc_node {
    doc_node_kind kind;
    int line, column;
    const char *text; // scalars
    const char *key;  // when it is an entry of a map
    int key_line;
    struct doc_node *child, *next; // in the order of the file
    int count;                     // children
    // where it stands in the text, in bytes: the key, then the value from `start` to before `end`
    size_t key_start, start, end;
    bool flow;   // a list in [] or a block in {}
    bool quoted; // a scalar in quotes
    bool key_quoted;
    bool edited; // replaced or added: `start` and `end` are those of the value it replaces
    bool added;  // has no place in the text
} doc_node;

// bounds for what a text may ask for, long before memory runs out
#define DOC_YAML_BYTES_MAX ((size_t)16 << 20)
#define DOC_YAML_DEPTH_MAX 32
#define DOC_YAML_ITEMS_MAX 10000 // of a list
#define DOC_YAML_KEYS_MAX 1000   // of a block

struct doc_robot_file;

// Parses the text into a tree in the file's arena. Defects (syntax, duplicate keys, anchors, too deep) are
// reported to the file; NULL when there is no tree.
doc_node *doc_yaml_parse(struct doc_robot_file *f, const char *text, size_t length);

// The entry of a map, or NULL.
doc_node *doc_child(const doc_node *map, const char *key);
const char *doc_kind_name(const doc_node *node); // "a list", "a number or word" ...

// ---- what has been read
// A list that grows; items are freed with it.
typedef struct doc_array {
    void *item;
    int32_t count, capacity;
} doc_array;

// Keys of `solver:`; those that were not given leave the defaults of the library.
typedef struct doc_solver {
    bool has_force_tolerance, has_length_tolerance, has_iteration_limit, has_increment_limit, has_time_limit;
    bool has_linear_solver, has_displacement, has_warp;
    double force_tolerance, length_tolerance, time_limit;
    int iteration_limit, increment_limit;
    pl_linear_solver linear_solver;
    bool displacement, warp, joint;
    pl_method method;
    pl_geometric_options geometric; // of local_global: preset and keys over the defaults
} doc_solver;

// The triangle surface of an obstacle, beside its def.
typedef struct doc_obstacle_file {
    const char *path;
    double unit; // mm
    pl_trisurf surface;
} doc_obstacle_file;

// A robot file being read: everything that was found so far. Owns its lists, the arena and the findings.
typedef struct doc_robot_file {
    doc_arena arena;
    const char *path;   // names the file in messages
    const char *folder; // of the robot file, "" or ending in '/'
    bool has_path;      // the robot comes from a file: meshes are cached beside it
    pl_findings *findings;
    doc_array body, surface, material, region, fixed, rigid, actuator, command, marker, sensor, force,
        pressure, spring, obstacle, obstacle_file, layer, fibre;
    doc_array broken; // lines of items that had a defect of their own
    doc_array name;  // parameters that expressions may use (text_expression.h): of the file, then of a design
    int outer_names; // those of the file
    const doc_node *parameters; // the block `parameters`, or NULL
    const doc_node *design;     // the block `design` of the body being read, or NULL
    pl_robot_def def;
    doc_solver solver;
    struct doc_control *control; // blocks controller, estimator, plant, in the arena (document_control.h)
    struct doc_model *model; // a reduced robot's, in the arena (document_model.h); NULL: the robot has a mesh
    bool no_memory;
    bool large; // a learned model: many numbers
} doc_robot_file;

// Where a block stands: at the top of a file with one body, or inside one of several.
typedef struct doc_scope {
    int body;                           // index; -1 at the top of a file with several bodies
    const char *prefix;                 // NULL, or the body's name
    double rotation[9], translation[3]; // pose of the body; mm
} doc_scope;

// ---- reporting
#define DOC_FINDINGS_MAX 200 // more are not listed
void doc_defect(doc_robot_file *f, int line, const char *format, ...) PL_PRINTF(3, 4);
void doc_warning(doc_robot_file *f, int line, const char *format, ...) PL_PRINTF(3, 4);
void doc_advise(doc_robot_file *f, const char *format, ...) PL_PRINTF(2, 3);

// "", or " (did you mean 'x'?)" in the arena.
const char *doc_did_you_mean(doc_robot_file *f, const char *word, const char *const *known, int count);
void doc_mark_broken(doc_robot_file *f, int line);

// Appends a zeroed item of `size` bytes; NULL when out of memory.
void *doc_append(doc_robot_file *f, doc_array *array, size_t size);

// ---- tables: one row per key a block knows
typedef enum doc_type {
    DOC_NAME, // a name defined here: letters, digits, _ - .
    DOC_TEXT, // any word, a reference or a path
    DOC_BOOL,
    DOC_WHOLE,    // int
    DOC_QUANTITY, // double of a dimension
    DOC_VECTOR,   // three of them
    DOC_OTHER,    // known, read by code
    DOC_RESERVED  // refused until it works
} doc_type;

enum { DOC_REQUIRED = 1, DOC_POSITIVE = 2, DOC_NOT_NEGATIVE = 4 };

// One row of a table.
typedef struct doc_key {
    const char *name;
    doc_type type;
    pl_dimension dimension; // of quantities and vectors
    size_t offset;          // in the struct that is filled
    int flags;              // DOC_REQUIRED, ...
} doc_key;

// Reads the known keys of `node` into `out`; unknown ones are reported with the nearest known. False after
// any defect.
bool doc_read_map(doc_robot_file *f, const doc_node *node, const char *what, const doc_key *key,
                  int key_count, void *out);
bool doc_read_quantity(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                       double *value);
bool doc_read_vector(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                     double value[3]);
bool doc_read_range(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                    double range[2]);
bool doc_read_box(doc_robot_file *f, const doc_node *node, const char *what, double low[3], double high[3]);

// The position of a word in a list of choices; -1 after reporting what was found and which words fit.
int doc_read_choice(doc_robot_file *f, const doc_node *node, const char *what, const char *const *choice,
                    int count);

// A rotation {axis, angle, about} as a vector (axis times angle) and a point.
bool doc_read_rotation(doc_robot_file *f, const doc_node *node, const char *what, double rotate[3],
                       double about[3]);

// A name in double quotes, as YAML reads it back; control characters as \xNN. document_yaml.c
void doc_write_quoted(pl_text *t, const char *name);
bool doc_expect(doc_robot_file *f, const doc_node *node, doc_node_kind kind, const char *what);

// ---- blocks, one reader each
void doc_read_body(doc_robot_file *f, const doc_node *mesh, const char *name, int line,
                   const doc_scope *scope);
void doc_read_surfaces(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
void doc_read_materials(doc_robot_file *f, const doc_node *node);
void doc_read_regions(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
void doc_read_fixed(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
void doc_read_rigid(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
void doc_read_actuators(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
void doc_read_commands(doc_robot_file *f, const doc_node *node);
void doc_read_markers(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
void doc_read_sensors(doc_robot_file *f, const doc_node *node, const doc_scope *scope);

// Noise, resolution and rate of a sensor whose name and kind are known.
bool doc_read_sensor_quality(doc_robot_file *f, const doc_node *node, pl_sensor_def *def);
void doc_read_loads(doc_robot_file *f, const doc_node *node);
void doc_read_springs(doc_robot_file *f, const doc_node *node);
void doc_read_contact(doc_robot_file *f, const doc_node *node); // document_contact.c

// Reads the files of obstacles; what goes wrong becomes a finding.
pl_status doc_load_obstacles(doc_robot_file *f, const pl_load_options *options);
bool doc_read_unit(doc_robot_file *f, const doc_node *node, const char *what,
                   double *unit);                                                      // mm, cm ... in mm
void doc_read_layers(doc_robot_file *f, const doc_node *node, const doc_scope *scope); // document_layers.c
void doc_read_fibres(doc_robot_file *f, const doc_node *node, const doc_scope *scope);
void doc_read_solver(doc_robot_file *f, const doc_node *node);
void doc_read_geometric(doc_robot_file *f, const doc_node *node); // document_geometric.c
void doc_read_hardware(doc_robot_file *f, const doc_node *node);
void doc_read_control(doc_robot_file *f, const doc_node *root); // document_control_blocks.c

// A limit per second of a value of that dimension.
bool doc_read_rate(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                   double *rate);

// Names and points of a scope.
const char *doc_scoped(doc_robot_file *f, const doc_scope *scope, const char *name);
void doc_place_point(const doc_scope *scope, double point[3]);
void doc_place_vector(const doc_scope *scope, double vector[3]);

// ---- parameters (document_parameters.c)
// The block `parameters` and the parameters of the body at the top of a file.
void doc_read_names(doc_robot_file *f, const doc_node *root);

// Those of the design in a `mesh:` block, instead of those of another body; NULL: none.
void doc_read_design_names(doc_robot_file *f, const doc_node *mesh);

// The block with its repetitions written out (document_repeat.c); NULL after a report, or for NULL.
const doc_node *doc_expand(doc_robot_file *f, const doc_node *node);

// The number at a node: a quantity, or an expression. False after a report.
bool doc_read_number(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                     bool rate, double *value);

// ---- the whole file: doc_robot_file_read is in document_tree.h
void doc_robot_file_clear(doc_robot_file *f);

// Copies the file's findings, sorted by line, to `findings`; the status and `err` follow the first defect.
pl_status doc_robot_file_report(const doc_robot_file *f, pl_status otherwise, pl_findings *findings,
                                pl_error *err);

// Takes over a finding made elsewhere; without a file of its own it gets the robot file and `line`.
void doc_adopt_finding(doc_robot_file *f, const pl_finding *finding, int line);

// The robot's linear systems take their orders from the cache too.
void doc_cache_orders(const doc_robot_file *f, const pl_load_options *options, pl_robot *robot);

// The mesh of a source from the cache beside the robot file, or built and put there.
pl_status doc_cache_build(doc_robot_file *f, const pl_mesh_source *source, const pl_load_options *options,
                          pl_mesh **out, pl_findings *findings, pl_error *err);

#endif
