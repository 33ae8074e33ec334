// What `ik`, `follow` and `task` share: goals and limits from the command line.
#ifndef PL_CLI_GOAL_H
#define PL_CLI_GOAL_H

#include "cli.h"

#define CLI_GOALS 32

// Goals of a search and what they refer to; owns its arrays.
typedef struct cli_goals {
    pl_objective objective[CLI_GOALS];
    int count;
    int marker; // the one last named; -1 when the model has none
    // what the objectives refer to, per objective
    int32_t *point[CLI_GOALS];
    double *place[CLI_GOALS];
    pl_shape_target table[CLI_GOALS];
    // a surface to come near to, without knowing which point goes where
    pl_trisurf surface;
    int surface_goal; // its objective; -1: none
    // limits
    pl_ik_options options;
    bool *hold;   // per command: stays
    double *rate; // per command: largest change per second
    pl_effort_bound bound[CLI_GOALS];
    pl_store_samples stored;
    pl_samples samples;
} cli_goals;

#define CLI_LIMITS                                                                                           \
    {"set", 0, "NAME=VALUE", "a command to start from, with a unit (air=20kPa); may be repeated", NULL},     \
        {"hold", 0, "NAME", "keep this command at its value of --set (or idle); may be repeated", NULL},     \
        {"max-effort", 0, "NAME=VALUE", "bound the tension or pressure of one actuator", NULL},              \
        {"max-pressure", 0, "VALUE", "bound the pressure of every chamber", NULL},                           \
        {"max-tension", 0, "VALUE", "bound the tension of every cable", NULL},                               \
        {"least", 0, "WHAT",                                                                                 \
         "among several solutions choose that of least effort, energy or motion; WHAT=WEIGHT",               \
         "effort energy motion"},                                                                            \
        {"search", 0, "NAME", "newton (default), gradient (Fang et al. 2020), descent",                      \
         "newton gradient descent"},                                                                         \
        {"iterations", 0, "N", "iteration limit per target", NULL, CLI_WHOLE(1, 1000000)},                   \
        {"limit-each", 0, "TIME", "time limit of each target", NULL},                                        \
        {"start", 0, "FILE", "start from this state (written by --save-state)", NULL},                       \
    {                                                                                                        \
        "workspace", 0, "FILE", "also start from a stored workspace (pliant workspace --store)", NULL        \
    }

// Reads x,y,z with units. False after complaining.
bool cli_triple(const cli_args *args, const char *option, const char *text, pl_dimension dimension,
                double out[3]);

// The rotation matrix (row-major) of a rotation vector.
void cli_rotation(const double w[3], double R[9]);
int cli_goals_init(const cli_args *args, const cli_model *m, cli_goals *g);
void cli_goals_clear(cli_goals *g);

// The marker of --marker, or the only one, or `tip`; stays -1 for a model without markers.
int cli_goals_marker(const cli_args *args, const cli_model *m, cli_goals *g);

// Goals in the order of the command line: --marker, --target, --direction ... (see `ik`).
int cli_goals_read(const cli_args *args, const cli_model *m, cli_goals *g);

// --hold, --max-*, --least, --method, limits, --workspace.
int cli_goals_limits(const cli_args *args, const cli_model *m, cli_goals *g);

// --max-effort, --max-pressure, --max-tension only.
int cli_goals_efforts(const cli_args *args, const cli_model *m, cli_goals *g);

// Appends an objective; NULL after complaining that there are too many.
pl_objective *cli_goals_add(const cli_args *args, cli_goals *g, pl_objective_kind kind);

// Body points of a surface or region by name, or nearest to a line "x,y,z:x,y,z" at rest. Returns an exit
// status.
int cli_body_points(const cli_args *args, const cli_model *m, const char *option, const char *text,
                    int32_t **point, int32_t *count);

// --start FILE, then --set: brings the model there. Returns an exit status.
int cli_goals_start(const cli_args *args, cli_model *m);

// "the upper end of flexor's range (10 mm), the pressure of air (40 kPa)"
void cli_active_text(const cli_model *m, const pl_ik_report *report, char *buffer, size_t size);

// The model's own error at waypoint k, as a further cell of the row; nothing for models that have none.
void cli_motion_error(const pl_motion *m, int k, char *row, size_t size);

// Appends the cells of the commands at waypoint k to a row of a table (k < 0: their headings).
void cli_motion_cells(const pl_motion *m, int k, char *row, size_t size);
json_t *cli_active_json(const pl_ik_report *report);
void cli_ik_json(json_t *root, const cli_model *m, const pl_ik_report *report);

#endif
