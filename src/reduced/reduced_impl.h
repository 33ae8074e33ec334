// Inside reduced: what all kinds share. A model has stations, frames along the centre line that markers ride
// on; a kind solves for the stations' frames and tells how they turn and move with every actuator's value.
#ifndef PL_REDUCED_IMPL_H
#define PL_REDUCED_IMPL_H

#include "base/base.h"
#include "base/vec.h"
#include "model/model.h"
#include "learn/learn.h"
#include "reduced/reduced.h"

#define REDUCED_ACTUATORS_MAX 32 // so that one command per actuator fits on the stack
#define REDUCED_STATIONS_MAX 4000

// A cross-section: its centre in mm and its axes, in the world.
typedef struct reduced_frame {
    double r[3], R[9]; // columns of R: the axes of the cross-section
} reduced_frame;

typedef struct reduced_path {
    double span[2], radius[2], angle, turns; // mm along the line; mm, at both ends; rad; turns of a helix
    double *waypoint;                        // s, x, y
    int waypoint_count;
} reduced_path;

typedef struct reduced_section {
    char *name;
    double start, length, diameter[2], EA, EI[2], GJ, GA[2], mass; // mm, N, N mm^2, t/mm
    double load[3]; // N/mm, world: gravity and distributed loads
    int pieces;     // elements, arcs or gaps
    double *share;  // vertebrae, one per gap
} reduced_section;

// Units as in pl_line_actuator_def.
typedef struct reduced_actuator {
    char *name;
    pl_actuator_kind kind;
    pl_drive drive;
    double range[2];
    bool has_range, idle_hold;
    reduced_path path;
    double area, effectiveness[2]; // mm^2; factors of push and bend
    double rest;                   // mm or mm^3
    int command;
    double factor;  // value = factor * command
    bool one_sided; // value = max(0, factor * command)
    double rate;    // internal units per second, at most; 0: no limit
    pl_hardware hardware;
} reduced_actuator;

typedef struct reduced_marker {
    int station;      // index
    double offset[3]; // mm, in the station's frame
} reduced_marker;

typedef struct reduced_sensor {
    pl_sensor_kind kind;
    reduced_path path;
    int actuator; // -1 for lengths
} reduced_sensor;

typedef struct reduced_force {
    int station;
    double offset[3], force[3], moment[3]; // mm; N, world (followers: in the station's frame); N mm
    bool follower;
} reduced_force;

typedef struct reduced pl_reduced_model;

// A unit load: a force of 1 N along a world axis at a marker; or (marker -1) 1 unit more of the measure of an
// actuator that holds it, of the effort (N, MPa) of any other.
typedef struct reduced_load {
    int marker, axis, actuator;
} reduced_load;

// What a unit load changes while everything else that is commanded is constant.
typedef struct reduced_response {
    double *twist;            // 6 per station: r, spatial rotation
    double *effort, *measure; // per actuator
    double *sensor;           // per sensor by length; the others follow from their actuators
} reduced_response;

// One kind of model.
typedef struct reduced_ops {
    pl_status (*create)(pl_reduced_model *m, pl_error *err);
    // From m->value (actuators, NAN: idle) to stations, efforts, measures, sensors, energy. When it cannot,
    // m->value is changed to what it stands at.
    void (*solve)(pl_reduced_model *m, pl_solve_report *report);
    // Fills point and point_R from the stations.
    void (*shape)(pl_reduced_model *m);
    // Fills `by`: derivatives by every actuator's value. d_point only when asked for.
    void (*differentiate)(pl_reduced_model *m, bool points, pl_jacobian_report *report);
    void (*reset)(pl_reduced_model *m);
    // Derivatives with respect to a load at the present state. NULL: the model bears no loads.
    void (*respond)(pl_reduced_model *m, const reduced_load *load, reduced_response *out,
                    pl_jacobian_report *report);
} reduced_ops;

// Derivatives by actuator values; rows of actuator_count.
typedef struct reduced_by {
    double *twist;                     // 6 rows per station: r, spatial rotation
    double *effort, *measure, *sensor; // one row each
    double *energy;                    // one row
    double *point;                     // 3 rows per point
} reduced_by;

// What pl_model_info borrows, and the states of the actuators.
typedef struct reduced_info {
    pl_command_info *command;
    pl_actuator_info *actuator;
    pl_actuator_state *state; // per actuator
    const char **actuator_name, **marker_name, **sensor_name;
    pl_sensor_kind *sensor_kind;
    double *rest, *marker_rest;
} reduced_info;

// What pl_model_answer borrows.
typedef struct reduced_answer {
    double *marker, *rotation, *sensor, *effort, *measure, *energy;
    double *point, *point_R; // derived from the rest by model_answer
} reduced_answer;

// Derivatives with respect to the commands; rows of command_count.
typedef struct reduced_derivative {
    double *marker, *rotation, *sensor, *effort, *measure, *point, *energy;
} reduced_derivative;

struct reduced {
    const reduced_ops *ops;
    struct reduced_block *block; // all memory
    char *name;
    pl_reduced_kind kind;
    bool as_published;
    uint64_t hash;
    reduced_frame base;
    double length;
    reduced_section *section;
    reduced_actuator *actuator;
    reduced_marker *marker;
    reduced_sensor *sensor;
    reduced_force *force;
    int section_count, actuator_count, command_count, marker_count, sensor_count, force_count;
    reduced_info info;
    // stations and points along the centre line
    int station_count, point_count;
    double *station_s, *point_s; // mm from the base
    bool *station_used;          // a marker rides on it
    // all that changes is in one block, so that keeping it is one copy
    double *now;
    size_t now_count;
    reduced_frame *frame;    // per station
    double *command, *value; // as given; per actuator, NAN: idle
    double *acting;          // 3 per marker, N: the forces set that act in the present state
    reduced_answer answer;
    double *own; // the kind's part
    size_t own_count;
    pl_mesh *tube; // made when first asked for
    bool placed;   // the kind's scratch belongs to the present state
    bool prepared; // and holds the factor at it
    reduced_by by;
    reduced_derivative d;
    double *wanted_force; // 3 per marker, N: what the next solves lead to
    double *force_from;   // and what acted where the present solve began
    const char *rigid;    // why it bears no forces; NULL: it does
    reduced_response response;
    void *kind_data;
    // errors measured against the full robot; map NULL: they were not
    pl_error_map *errors;
    int error_marker;
    const char *distrust;
    double *error_at, *marker_error, *rotation_error; // commands without NAN; per marker
};

extern const pl_model_type reduced_type;
void reduced_destroy(void *self);
extern const reduced_ops reduced_rod_ops, reduced_beam_ops, reduced_cc_ops, reduced_vertebrae_ops;

// Zeroed memory that lives as long as the model; NULL when there is none.
void *reduced_take(pl_reduced_model *m, size_t count, size_t size);
#define REDUCED_TAKE(m, type, count) ((type *)reduced_take(m, (size_t)(count), sizeof(type)))

char *reduced_text(pl_reduced_model *m, const char *text); // a copy of the same kind

// ---- commands (reduced_command.c)
bool reduced_create_commands(pl_reduced_model *m, const pl_reduced_def *d);

// What the commands (NAN: idle) make of an actuator's value, and its derivative by its command.
double reduced_actuator_value(const reduced_actuator *a, const double *command);
double reduced_actuator_slope(const reduced_actuator *a, const double *command);

// ---- building (reduced_create.c)
// Stations at 0, at the ends of sections, where markers, paths and forces need them, with pieces between no
// longer than a section's length over its pieces.
pl_status reduced_stations(pl_reduced_model *m, const double *wanted, int wanted_count, pl_error *err);

// Stations for all markers, actuators and sensors by length.
pl_status reduced_line(pl_reduced_model *m, pl_error *err);
int reduced_section_at(const pl_reduced_model *m, double s); // of a piece that has s inside
double reduced_diameter(const pl_reduced_model *m, double s);

// ---- forces at markers, derivatives with respect to loads (reduced_load.c)
bool reduced_create_loads(pl_reduced_model *m);
pl_status reduced_set_forces(void *self, const double *force, pl_error *err);
pl_status reduced_sensitivity(void *self, const pl_parameter *parameter, int count, const pl_jacobian *out,
                              pl_jacobian_report *report, pl_error *err);
bool reduced_is_loaded(const pl_reduced_model *m); // a force that was set acts

// ---- the error of the answers (reduced_error.c)
pl_status reduced_errors_create(pl_reduced_model *m, const pl_reduced_def *d, pl_error *err);
void reduced_errors_answer(pl_reduced_model *m, pl_answer_error *out);

// ---- the tube that is drawn, and actuators' paths in the current shape (reduced_tube.c)
pl_status reduced_tube_create(const pl_reduced_model *m, pl_mesh **out, pl_error *err);
void reduced_tube_place(const pl_reduced_model *m, double *position);
int reduced_path_points(const pl_reduced_model *m, int actuator, double *point, int room);

// ---- paths: offset and its derivative by s; false outside the span
bool reduced_path_at(const reduced_path *path, double s, double d[3], double slope[3]);
bool reduced_path_is_straight(const reduced_path *path);

// ---- functions of s = x^2 that stay exact at 0:
//   S1 = sin x / x, C1 = (1 - cos x)/x^2, S2 = (x - sin x)/x^3, C2 = (x^2/2 - 1 + cos x)/x^4
typedef struct reduced_trig {
    double S1, C1, S2, C2;
} reduced_trig;

reduced_trig reduced_trig_of(double s);
void reduced_trig_next(double s, double *S3, double *C3); // (x^3/6 - x + sin x)/x^5 and so on

// ds/dx-free derivatives: dS1/ds = (S2 - C1)/2, dC1/ds = C2 - S2/2

static inline void reduced_axpy3(double a, const double x[3], double y[3])
{
    y[0] += a * x[0];
    y[1] += a * x[1];
    y[2] += a * x[2];
}

// Spatial rotation vector of the end of exp(theta): w = J_l(theta) dtheta.
static inline void reduced_spin(const reduced_trig *t, const double theta[3], const double d[3], double w[3])
{
    double a[3], b[3];
    pl_cross3(theta, d, a);
    pl_cross3(theta, a, b);
    for (int i = 0; i < 3; ++i) {
        w[i] = d[i] + t->C1 * a[i] + t->S2 * b[i];
    }
}

#endif
