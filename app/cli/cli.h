// What the verbs of `pliant` share: the table-driven options, talking to people and machines, loading a
// robot, solving it, and writing shapes. A verb sees include/pliant and this header, nothing else of the
// project.
#ifndef PL_CLI_H
#define PL_CLI_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include "pliant/pliant.h"
#include "pliant/meshing.h"

// ---- exit status of the program
enum {
    CLI_DONE = 0,
    CLI_EXIT_UNSOLVED = 1, // not converged, target not reached, defects found, interrupted
    CLI_EXIT_USAGE = 2,    // wrong input
    CLI_EXIT_SYSTEM = 3    // memory, disk
};

// ---- options. A verb's table ends with a zeroed entry; --help is understood by all. Values that are numbers
// are checked when the command line is read, before anything is meshed or solved.
typedef enum cli_value_kind { CLI_VALUE_TEXT, CLI_VALUE_NUMBER, CLI_VALUE_WHOLE } cli_value_kind;

#define CLI_NUMBER(dimension, low, high) CLI_VALUE_NUMBER, dimension, low, high
#define CLI_WHOLE(low, high) CLI_VALUE_WHOLE, PL_DIM_NUMBER, low, high

typedef struct cli_option {
    const char *name;  // without the dashes
    char short_name;   // short form, or 0
    const char *value; // what stands for its value in the help; NULL: a flag
    const char *help;
    const char *choices; // words for completion, or NULL: "file" when the value reads FILE
    cli_value_kind kind; // of the value; a number may also be one of the choices
    pl_dimension dimension;
    double low, high; // internal units
} cli_option;

#define CLI_JSON                                                                                             \
    {                                                                                                        \
        "json", 0, "FILE", "write machine-readable output (JSON) to FILE; - for standard output", NULL       \
    }
#define CLI_FORCE                                                                                            \
    {                                                                                                        \
        "force", 0, NULL, "allow results to replace input files of the robot", NULL                          \
    }
#define CLI_MESHING                                                                                          \
    {"size",   0,                                                                                            \
     "LENGTH", "target edge length, instead of that in the robot file",                                      \
     NULL,     CLI_NUMBER(PL_DIM_LENGTH, 1e-4, 1e6)},                                                        \
        {"order", 0,                                                                                         \
         "1|2",   "linear (1: fast, far too stiff in bending) or quadratic (2) elements",                    \
         "1 2",   CLI_WHOLE(1, 2)},                                                                          \
    {                                                                                                        \
        "no-cache", 0, NULL, "generate the mesh again, without the cache", NULL                              \
    }
#define CLI_WORKING                                                                                          \
    {"threads",         0, "N", "threads to use (default: all cores); results do not depend on it", NULL,    \
     CLI_WHOLE(1, 1024)},                                                                                    \
        {"time-limit", 0, "TIME", "of the whole run, loading included; what is there by then is kept",       \
         NULL},                                                                                              \
    {                                                                                                        \
        "verbose", 'v', NULL, "print what the solver does (-vv: more)", NULL                                 \
    }
#define CLI_FALLBACK                                                                                         \
    {                                                                                                        \
        "fallback", 0, NULL, "learned models: solve the full model outside of the samples", NULL             \
    }
#define CLI_CHECK                                                                                            \
    {"check", 0, NULL,                                                                                       \
     "learned models: report the error by Newton steps of the full model from the learned shape;\n"          \
     "by a solve where no shape was learned",                                                                \
     NULL},                                                                                                  \
    {                                                                                                        \
        "check-full", 0, NULL, "learned models: solve the full model too and report the true error", NULL    \
    }
#define CLI_PICTURE                                                                                          \
    {"view", 0, "VIEW", "for pictures: iso, front, back, left, right, top, bottom, or x,y,z",                \
     "iso front back left right top bottom"},                                                                \
        {"cut", 0, "AXIS", "for pictures: cut through the middle, normal to x, y or z", "x y z"},            \
    {                                                                                                        \
        "edges", 0, NULL, "for pictures: draw the element edges", NULL                                       \
    }

typedef struct cli_args cli_args;

// A verb: its table says all that help, completion and manual pages need.
typedef struct cli_verb {
    const char *name;
    const char *summary;  // one line
    const char *usage;    // what follows the name
    const char *about;    // a paragraph for --help
    const char *examples; // lines, indented by two
    const cli_option *option;
    int least, most; // plain arguments
    int (*run)(cli_args *args);
    const char *stopping; // what Ctrl-C is answered with; NULL: "stopping, keeping the last equilibrium"
} cli_verb;

// An option as given on the command line.
typedef struct cli_given {
    const cli_option *option;
    const char *value; // NULL: a flag
} cli_given;

struct cli_args {
    const cli_verb *verb;
    const char **plain; // arguments that are no options
    int plain_count;
    cli_given *given;
    int given_count;
    bool silent; // standard output belongs to the machine
};
extern bool cli_quiet; // -q: no text for people, no notes, no progress bar

extern const cli_verb *const cli_verbs[]; // ends with NULL
extern const cli_option cli_common[];     // understood by every verb; ends with a zeroed entry
int cli_calibrate_ratio(const cli_args *args);
int cli_calibrate_poses(const cli_args *args);
int cli_calibrate_cameras(const cli_args *args);
int cli_calibrate_syringe(const cli_args *args, const char *path);
int cli_calibrate_relaxation(const cli_args *args, const char *path);
int cli_calibrate_cycles(const cli_args *args, const char *path);
int cli_calibrate_release(const cli_args *args);
extern const cli_verb cli_verb_new, cli_verb_info, cli_verb_doctor, cli_verb_mesh, cli_verb_materials,
    cli_verb_calibrate, cli_verb_fk, cli_verb_sweep, cli_verb_jacobian, cli_verb_completion, cli_verb_serve;
extern const cli_verb cli_verb_ik, cli_verb_follow, cli_verb_workspace, cli_verb_task;

extern const cli_verb cli_verb_reduce, cli_verb_compare, cli_verb_study;
extern const cli_verb cli_verb_estimate, cli_verb_plant, cli_verb_run, cli_verb_control;
extern const cli_verb cli_verb_sample, cli_verb_learn, cli_verb_adapt;
extern const cli_verb cli_verb_simulate, cli_verb_modes, cli_verb_shapes, cli_verb_track;

// Sorts argv (after the verb's name) into `args`. Returns false after saying what is wrong.
bool cli_parse(const cli_verb *verb, int argc, char **argv, cli_args *args);
void cli_args_clear(cli_args *args);

// `pliant help` and everything made from the tables: text, a manual page (man 1, roff), JSON.
void cli_help(const cli_verb *verb);
void cli_help_man(const cli_verb *verb); // NULL: the page of the program
json_t *cli_help_json(void);             // every verb, its options and examples

// Pages that explain the outcomes of solves: `pliant help limit_point`.
typedef struct cli_topic {
    const char *name, *text;
} cli_topic;

extern const cli_topic cli_topics[];               // ends with a zeroed entry; made from docs/outcomes
const cli_topic *cli_topic_find(const char *name); // blanks and hyphens count as underscores; NULL: none
void cli_outcome_advice(const char *outcome);      // names the page of an outcome, on standard error
bool cli_flag(const cli_args *args, const char *name);
int cli_flag_count(const cli_args *args, const char *name);
const char *cli_value(const cli_args *args, const char *name); // the last one given, or NULL
const char *cli_next(const cli_args *args, const char *name,
                     int *cursor); // all of them in turn; *cursor from 0

// The value of an option whose row says CLI_NUMBER or CLI_WHOLE; `*out` stays when the option is absent or
// one of its words. False after complaining: cli_parse did so before, where the verb was started by it.
bool cli_number(const cli_args *args, const char *name, double *out);
bool cli_whole(const cli_args *args, const char *name, int *out);

// A time limit: more than nothing, at most 1e9 s.
bool cli_limit(const cli_args *args, const char *name, double *out);

// The word nearest to `word`, or NULL when none is near.
const char *cli_nearest(const char *word, const char *const *known, int count);

// ---- talking. Errors and findings go to standard error; cli_say is silent when the machine owns standard
// output.
void cli_error(const cli_args *args, const char *format, ...) PL_PRINTF(2, 3);
void cli_advice(const char *format, ...) PL_PRINTF(1, 2);
void cli_say(const cli_args *args, const char *format, ...) PL_PRINTF(2, 3);
void cli_finding(const pl_finding *finding);
void cli_findings(const pl_findings *findings);
void cli_findings_numbered(const pl_findings *findings); // numbered where there are several

// Prints what `err` says and returns the exit status: 3 where a file cannot be opened or written, 2 where its
// contents are wrong.
int cli_fail(const cli_args *args, const pl_error *err);
int cli_fail_file(const cli_args *args, const char *path, const pl_error *err); // names the file too
int cli_no_memory(const cli_args *args);

// Memory that was asked for in vain, by any verb or by the library: the program then ends with status 3.
void cli_memory_install(void);
void cli_memory_note(void);
bool cli_memory_missed(void);
static inline void *cli_noted(void *block)
{
    if (!block) {
        cli_memory_note();
    }
    return block;
}
#define malloc(bytes) cli_noted(malloc(bytes))
#define calloc(count, size) cli_noted(calloc(count, size))
#define realloc(block, bytes) cli_noted(realloc(block, bytes))

// Replaces what would steer a terminal (escape sequences in names) by question marks.
void cli_text_tame(char *text);

// For numbers printed with so many digits behind the point: nothing reads -0.000.
double cli_tidy(double value, int digits);

// A table of cells, aligned when printed; columns of numbers are set flush right.
typedef struct cli_table {
    char **row; // tab-separated cells
    int count, capacity;
} cli_table;

void cli_row(cli_table *table, const char *format, ...) PL_PRINTF(2, 3); // the first row is the heading
void cli_table_print(const cli_args *args, cli_table *table);            // and clears it

// ---- JSON: numbers that are not finite become null; memory running out shows when writing
json_t *cli_json_number(double value);
json_t *cli_json_numbers(const double *value, int count);
json_t *cli_json_findings(const pl_findings *findings); // of warnings and defects: their sentences
json_t *cli_json_quality(const pl_mesh_quality *quality);
json_t *cli_json_head(uint64_t hash,
                      const pl_findings *findings); // format, pliant, robot (0: null), warnings

// Writes to the place --json names (if given) and releases `root`.
int cli_json_write(const cli_args *args, json_t *root);

// Keeps what was reported on standard error, for the record of an error; `file` may be NULL.
void cli_json_note(const char *severity, const char *file, int line, const char *text);
void cli_json_note_advice(const char *text); // of the note before

// At the end of the program: an error that left no record is written to `path` as {"failure": ...}; nothing
// where `path` is NULL, `status` is 0 or a record was written.
void cli_json_error(const char *path, const char *verb, int status);

// ---- files
const char *cli_extension(const char *path); // with the dot, "" when there is none
bool cli_exists(const char *path);

// `folder/name`, on the heap.
char *cli_join(const char *folder, const char *name);

// The folder part of a path, on the heap.
char *cli_folder(const char *path);

// The last --out with this extension, or NULL.
const char *cli_out(const cli_args *args, const char *extension);

// Closes a file in memory (open_memstream of `text` and `bytes`), writes it to `path` as a whole and says so.
int cli_file_finish(const cli_args *args, const char *path, FILE *memory, char **text, const size_t *bytes);

// Judges every --out, --json and --save-state before the work: known extension, a folder that can be written,
// and no file the run reads (robot, what its text names, `input`) unless --force. Returns an exit status.
int cli_check_outputs(const cli_args *args, const char *const *extensions, const char *robot_path,
                      const char *input);

// ---- progress and interruption
void cli_interrupt_install(void);

// What Ctrl-C is answered with, at once: "pliant fk: stopping, keeping the last equilibrium".
void cli_interrupt_words(const char *verb, const char *words);
void cli_time_limit(double seconds); // of the whole run, from its start

// Ctrl-C, or the time limit: the verb ends, keeping what it has.
bool cli_interrupted(void);
const char *cli_stop_reason(void); // "interrupted", "the time limit of 5 s was reached"

// Draws the bar, asks to stop. The fraction of cli_progress_search (of what consists of many solves) counts
// more than that of the solves.
extern const pl_progress cli_progress, cli_progress_search;

// Part `index` (from 0) of `count` begins: fractions from now on are of this part. The text names it.
void cli_progress_part(int index, int count, const char *format, ...) PL_PRINTF(3, 4);
void cli_progress_prefix(const char *text); // put before what the library says; NULL: nothing
void cli_progress_silence(void);            // no bar: the process this one works for draws its own
void cli_progress_done(void);               // wipes the bar

// A stage of the run begins, for the line that says what took how long; NULL: none. `expendable`: ending the
// program here loses nothing, so it may be ended where the work cannot be asked to stop.
void cli_stage(const char *what, bool expendable);
void cli_stage_talk(void); // says the times also where standard error is no terminal
void cli_stages_report(const char *verb);

// ---- a robot, loaded
// Owns everything; close it also after a failure.
typedef struct cli_robot {
    char *path;
    pl_robot_document *document;
    pl_robot *robot;
    pl_findings *findings;
} cli_robot;

// mm per unit that --unit names (1 when absent). False after complaining.
bool cli_unit(const cli_args *args, double *unit);

// Reads --threads, -v. Returns an exit status.
int cli_setup(const cli_args *args);
char *cli_robot_path(const char *given); // a folder stands for the robot.yaml in it; on the heap

// Standard input as read for the robot `-`. A process that starts another with the same robot makes a copy
// (NULL: the robot has a file) and hands it over in the child, which keeps that descriptor open.
enum { CLI_INPUT_FD = 3 };
FILE *cli_input_copy(const char *robot);
void cli_input_hand(FILE *copy); // in the child, before exec
bool cli_input_handed(void);     // this process got one
void cli_input_clear(void);

// Reads the robot file, once; prints why it cannot be read. Returns an exit status.
int cli_document_open(const cli_args *args, const char *given, char **path, pl_robot_document **document,
                      pl_findings **findings);

// Reads --size, --order, --no-cache; prints findings. A document that has been opened before is used. `fill`:
// the cavities of designs are meshed too. Returns an exit status.
int cli_robot_open(const cli_args *args, const char *given, bool fill, cli_robot *r);

// The exit status for a robot that could not be loaded, after saying why where the findings do not.
int cli_robot_refused(const cli_args *args, pl_status status, const pl_findings *findings, pl_error *err);

// The same as cli_robot_open, but leaves the findings to the caller.
pl_status cli_robot_build(const cli_args *args, bool fill, cli_robot *r, pl_error *err);
void cli_robot_close(cli_robot *r);

// ---- a model: what every verb asks, whatever kind of robot and method stands behind it
typedef struct cli_model {
    char *path;
    pl_robot_document *document;
    pl_findings *findings;
    pl_model *model;
    pl_model_info info;
    double *command; // what was asked for; NAN: idle
    pl_solve_report report;
    const char *state_path; // where the state is kept at the end, or NULL
    bool vacuum_reported;   // a chamber below vacuum is reported once
} cli_model;

// Opens the robot by --method (exact, local_global, fang2020) where the verb has it, else by what its file
// says; goes on from --state. A document that has been opened before is used. Returns an exit status.
int cli_model_open(const cli_args *args, const char *given, cli_model *m);
void cli_model_close(cli_model *m);

// With --check: the true error of a learned model where it stands. Returns an exit status.
int cli_learned_check(const cli_args *args, cli_model *m);
int cli_learn_history(const cli_args *args); // pliant learn --history

// Solves for m->command. CLI_DONE also when not converged (see the report); otherwise the exit status.
int cli_model_solve(const cli_args *args, cli_model *m);

// Warns once of a chamber below vacuum at the solution.
void cli_model_warn(cli_model *m);
int cli_model_save_state(const cli_args *args, const cli_model *m);

// Estimates the error of the mesh at the solution, for the record.
void cli_model_estimate(cli_model *m);

// "not converged: ..." and CLI_EXIT_UNSOLVED unless the last solve did.
int cli_model_outcome(const cli_args *args, const cli_model *m);
int cli_compliance(const cli_args *args, cli_model *m); // `jacobian --compliance`, at a solution

// The index of a name, or -1 after complaining about --option.
int cli_model_marker(const cli_args *args, const cli_model *m, const char *option, const char *name);
int cli_model_sensor(const cli_args *args, const cli_model *m, const char *option, const char *name);
int cli_model_actuator(const cli_args *args, const cli_model *m, const char *option, const char *name);
int cli_model_command(const cli_args *args, const cli_model *m, const char *option, const char *name);

// ---- commands on the command line
typedef struct cli_commands {
    const pl_command_info *info;
    int count;
} cli_commands;

cli_commands cli_model_commands(const cli_model *m);

// Splits NAME=VALUE and finds the command; -1 after complaining about --option. *value is what follows.
int cli_command_split(const cli_args *args, cli_commands commands, const char *option, const char *text,
                      const char **value);

// Checks the range. Returns an exit status.
int cli_command_check(const cli_args *args, const pl_command_info *command, double value);

// Whether --set names commands of the robot, as its file says them. Returns an exit status.
int cli_commands_check(const cli_args *args, const pl_robot_document *document);

// Reads every --set NAME=VALUE into `command` (NAN: idle), checks ranges. Returns an exit status.
int cli_commands_read(const cli_args *args, cli_commands commands, double *command);

// "air = 30 kPa, tendon = 4 mm"
void cli_commands_text(cli_commands commands, const double *command, char *buffer, size_t size);

// ---- the record of a result, as people, machines and spreadsheets read it
void cli_record_print(const cli_args *args, cli_model *m);
json_t *cli_record_json(cli_model *m); // the record of `fk`

// The columns of a table of results, and one row of it, comma-separated; freed with pl_file_free.
char *cli_record_csv_head(cli_model *m);
char *cli_record_csv_row(cli_model *m);

// Extensions of shapes as help lists them; their writers are in SHAPE_FORMATS (cli_shape.c).
#define CLI_SHAPE_FORMATS ".vtu .vtm .pvd .xdmf .glb .usda .obj .ply .stl .csv .png .svg"

// ---- shapes and pictures
extern const char *const cli_shape_extensions[];
int cli_check_mesh_outputs(const cli_args *args); // every --out of a mesh; an exit status

// Any volume mesh file, with its elements as they are (linear or quadratic).
pl_status cli_mesh_read(const char *path, double unit, pl_mesh **mesh, pl_findings *findings, pl_error *err);
pl_status cli_mesh_write(const cli_args *args, const pl_mesh *mesh, const char *path, pl_error *err);

// Judges --surface, --view, --cut and --color before the work begins.
int cli_shape_check(const cli_args *args, cli_model *m);

// Where the model stands, by extension: .vtu .pvd .stl .csv .png .svg
pl_status cli_shape_write(const cli_args *args, cli_model *m, const char *path, pl_error *err);

// The field that --color names, for surfaces; PL_FIELD_COUNT: by region.
pl_field cli_shape_color(const cli_args *args, const cli_model *m, const char *path);

// View, cut, edges and legend of pictures, from the options.
pl_status cli_shape_look(const cli_args *args, cli_model *m, pl_picture *picture, pl_error *err);

// Series of shapes for every --out that cli_series_is. Zeroed at first.
#define CLI_SERIES 8
#define CLI_SERIES_EXTENSIONS ".pvd", ".xdmf", ".glb", ".usda", ".gif", ".webm", ".mp4"

// One writer per --out of a series.
typedef struct cli_series {
    pl_series *series[CLI_SERIES];
    int count;
    bool begun; // the first shape has been added
} cli_series;

// Adds the current state of the model; nothing without such an --out. Returns an exit status.
int cli_series_frame(const cli_args *args, cli_series *series, cli_model *m);

// Ends the series of all these --out; `time` has an entry per shape, NULL: 0, 1, 2 ... Returns an exit
// status.
int cli_series_finish(const cli_args *args, cli_series *series, const double *time);
bool cli_series_is(const char *path); // by its extension; and frame_%04d.png
void cli_series_clear(cli_series *series);

// The mode of the first critical load of the last solve, on the shape there: written to `path` (NULL: not),
// and to `record` (NULL: not) as "critical". Nothing where there is none. Returns an exit status.
int cli_critical(const cli_args *args, cli_model *m, const char *path, json_t *record);
bool cli_critical_is(const char *path); // mode.png, out/mode.vtu ...

// Writes every --out, and says so. Returns an exit status.
int cli_shape_outputs(const cli_args *args, cli_model *m);

// Fills the mesh, place and ghost of a picture; *place is the caller's to free.
pl_status cli_shape_body(cli_model *m, double **place, pl_picture *picture, pl_error *err);

#endif
