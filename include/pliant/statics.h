// Results of an equilibrium of the full body: reactions, fields, the mode in which it buckles or snaps, and
// its exact derivatives. The solver is behind pl_model (pliant/model.h).
#ifndef PLIANT_STATICS_H
#define PLIANT_STATICS_H

#include "pliant/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

// How the viscous branches of the materials were relaxed (pl_model_hold).
typedef struct pl_creep_report {
    int steps, rejected;
    double error; // largest error of a step: of the stresses, over the stress of the body
} pl_creep_report;

// The mode that lost its stiffness at the first critical load of a solve: how the body begins to buckle or
// snap. The arrays belong to the model, until its next solve.
typedef struct pl_critical_mode {
    double load;            // fraction of the load path
    bool limit;             // a limit point; otherwise a bifurcation
    const double *position; // 3 per vertex, mm: the equilibrium there
    const double *motion;   // 3 per vertex, largest displacement 1
} pl_critical_mode;

// A point of a path of equilibria that is followed by arc length (pl_model_follow_arc).
typedef struct pl_arc_point {
    double load;        // fraction of the path to the commands
    double distance;    // mm along the path: root of the sum of squares over all vertices
    int negative_count; // eigenvalues of the tangent; 0: stable
} pl_arc_point;

// ---- results at a state
typedef struct pl_reaction {
    double force[3];  // N, exerted by the support on the body
    double moment[3]; // N mm, about the origin
} pl_reaction;

// Fields for pictures and files. Vertex fields are volume-weighted averages over the adjacent elements.
typedef enum pl_field {
    PL_FIELD_DISPLACEMENT, // vertex, 3: mm
    PL_FIELD_STRAIN,       // vertex, 6: logarithmic strain xx yy zz xy yz zx
    PL_FIELD_VON_MISES,    // vertex, 1: MPa, of the Cauchy stress
    PL_FIELD_STRETCH,      // vertex, 1: largest principal stretch
    PL_FIELD_J,            // element, 1: mean volume ratio
    PL_FIELD_J_BOUND,      // element, 1: proven lower bound of the volume ratio over the element
    PL_FIELD_PRESSURE,     // vertex, 1: contact pressure, MPa of deformed area; 0 inside the body
    PL_FIELD_GAP,          // vertex, 1: mm to the nearest obstacle or face; no more than is looked for
    PL_FIELD_STRESS,       // vertex, 6: Cauchy stress, MPa, xx yy zz xy yz zx
    PL_FIELD_COUNT
} pl_field;

PL_API const char *pl_field_name(pl_field field);

// The name in files, with the unit ("von_mises_kpa"), and what a value is multiplied by to be in that unit.
PL_API const char *pl_field_label(pl_field field);
PL_API double pl_field_scale(pl_field field);
PL_API int pl_field_components(pl_field field);
PL_API bool pl_field_on_elements(pl_field field);

// ---- exact sensitivities, from the tangent at the solution and the constraint rows
// Derivatives with respect to parameter j = 0 .. count-1; each array may be NULL. Row-major, `count` columns.
typedef struct pl_jacobian {
    double *position; // 3 vertex_count rows
    double *marker;   // 3 marker_count rows, mm per unit of the parameter
    double *rotation; // 3 marker_count rows: spatial rotation vector, rad
    double *sensor;   // sensor_count rows
    double *effort;   // actuator_count rows
    double *measure;  // actuator_count rows
    double *reading;  // reading_count rows. Largest values over a body (strain and tension of layers): of the
                      // place where they are largest now; of one of them where two are
} pl_jacobian;

typedef struct pl_jacobian_report {
    int factorizations, solves;
    double residual;    // relative residual of the linear systems
    bool one_sided;     // a cable has tension 0: the derivative is for further shortening; or a one-sided
                        // command is 0: the derivative is for an increasing command; or a contact is about to
                        // open or to close, or stands in a flat crease between two faces: it stays as it is
    bool friction;      // acts at a contact: the derivative is approximate (sticking points yield a little,
                        // slipping ones keep their limit)
    int negative_count; // as in pl_solve_report
} pl_jacobian_report;

#ifdef __cplusplus
}
#endif
#endif
