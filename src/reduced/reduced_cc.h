// Inside reduced: arcs of constant curvature, shared by their geometry and by their equilibrium under forces.
#ifndef PL_REDUCED_CC_H
#define PL_REDUCED_CC_H

#include "reduced/reduced_impl.h"

typedef struct cc_piece {
    int section;             // index
    double h, share, weight; // mm; of the elongation; of the turn
} cc_piece;

typedef struct cc_data {
    cc_piece *piece;            // station_count - 1
    int unknowns, sub;          // 3 per section; drawn arcs per piece
    double *K;                  // unknowns: diagonal of the stiffness
    double *row;                // unknowns per actuator, then per sensor: d measure / dq
    double *map;                // (unknowns + actuators) x (actuators + 1): q and effort from values and 1
    double *work, *side;        // scratch: matrix of cc_map and twists; its right sides
    bool *idle;                 // the pattern the map was made for
    bool mapped, has_stiffness; // the map exists; every section has EA and EI
    // under forces: the map's derivative at the present state, scratch of Newton's method
    double *slope;                  // as map; its last column is not used
    double *hessian, *pull;         // unknowns^2, unknowns: second and first derivatives of the forces' work
    double *spin;                   // 3 per unknown
    double *tangent, *step, *state; // (unknowns + actuators)^2; unknowns + actuators; unknowns + actuators
    double *eigen;                  // unknowns + actuators
    double *load;                   // share of the forces of the robot file that acts, in m->own
} cc_data;

double cc_sign(const pl_reduced_model *m, int a);                    // +1: a cable, -1: a chamber
bool cc_is_held(const pl_reduced_model *m, const cc_data *c, int a); // holds a length or volume

// The matrix [K - H R^T; R 0] of the equations for unknowns and efforts; H NULL: 0.
void cc_matrix(const pl_reduced_model *m, const cc_data *c, const double *H, double *S);

// Unknowns and efforts by the values and 1: (unknowns + actuators) x (actuators + 1).
bool cc_map(const pl_reduced_model *m, const cc_data *c, const double *H, double *map);
void cc_ready(pl_reduced_model *m, cc_data *c); // the map for the actuators that are idle now

// Adds a piece's part to the twist (6 x unknowns) of a point `r` it carries.
void cc_piece_twist(const pl_reduced_model *m, const cc_data *c, int i, double part, const double at[3],
                    const double r[3], double *twist);

// Frames of all stations from the unknowns; false: an arc has no length left.
bool cc_place(pl_reduced_model *m, const cc_data *c);

// Derivatives of an arc's end by (length, T1, T2): dp in its start frame, w its spatial rotation there.
void cc_arc_derivative(double length, double T1, double T2, double dp[3][3], double w[3][3]);

// ---- forces (reduced_cc_load.c)
bool cc_load_memory(pl_reduced_model *m, cc_data *c);

// From unknowns at the wanted values without forces to the equilibrium with them. The unknowns are left in
// m->own, the efforts in m->answer.effort.
void cc_load_solve(pl_reduced_model *m, cc_data *c, pl_solve_report *report);

// The map's derivative at the present state, in c->slope; false: singular.
bool cc_is_loaded(const pl_reduced_model *m, const cc_data *c);
bool cc_load_slope(pl_reduced_model *m, cc_data *c);
void cc_respond(pl_reduced_model *m, const reduced_load *load, reduced_response *out,
                pl_jacobian_report *report);

#endif
