// Inside reduced: a rod with its actuators as a system of equations, shared by its assembly and its solver.
#ifndef PL_REDUCED_ROD_SOLVER_H
#define PL_REDUCED_ROD_SOLVER_H

#include "reduced/reduced_rod.h"

// A quadrature point of a path in an element.
typedef struct rod_point {
    double w, d[3], slope[3]; // mm; offset; its derivative by s
} rod_point;

// A scalar of the shape along a path: the length of a cable or a sensor, the volume of a chamber.
typedef struct rod_functional {
    bool volume;
    double area, push, bend; // volume: area, and how much of it stretching and bending count
    double rest;             // mm or mm^3
    double sign;             // +1: its force works against its growth (tension); -1: with it (pressure)
    int first, last;         // elements touched: first <= e < last
    int *start;              // points of element e: start[e - first] .. start[e - first + 1]
    rod_point *point;
} rod_functional;

// How an actuator enters at present: by a force (fixed), or by a measure whose force is unknown.
typedef struct rod_drive {
    bool geometric, active; // active: the measure is enforced (a slack cable's is not)
    double force, target;
    double from, to; // along the load path of a solve
} rod_drive;

typedef struct rod_element {
    double h, K[6]; // mm; stiffness over h of V (x, y, z) and theta (x, y, z)
} rod_element;

typedef struct rod_data {
    int elements;
    rod_element *element;
    rod_functional *functional; // actuators, then length sensors
    int functional_count;
    int *sensor_functional; // per sensor, -1
    double *lump;           // 6 per node: force, and the vector c of the moment t x c (loads at full)
    // the state being solved, in pl_reduced_model.own
    rod_state *x;
    double *load; // share of the loads of the robot now acting
    rod_drive *drive;
    // scratch
    rod_measure *g;
    double *Rm; // 9 per element: the frame midway
    rod_band band;
    double *residual, *step, *trial_step; // 6 per node but the first
    double *row, *column;                 // per functional: its gradient, and K^-1 of it
    double *small, *side;                 // constraint equations: matrix, right side
    rod_state *kept, *safe;               // to go back to: before a step, before a load increment
    bool warm; // the band holds the factor of a solution near by, row and column belong to it
    int iterations, factorizations, solves;
    double largest; // N, largest nodal force met in the last assembly
} rod_data;

pl_status rod_build(pl_reduced_model *m, rod_data *r, pl_error *err);

// Frames of all nodes from the elements' states, and what depends on these alone.
void rod_place(pl_reduced_model *m, rod_data *r);

// Gradient of the total energy (and of non-conservative loads) at nodes 1..; with tangent: the band as well.
void rod_assemble(pl_reduced_model *m, rod_data *r, bool tangent);
double rod_measure_functional(const rod_data *r, const rod_functional *f);

// Gradient of a functional by the nodes' motion.
void rod_functional_row(const rod_data *r, const rod_functional *f, double *row);

// Elastic energy and, if given, its gradient.
double rod_elastic(const rod_data *r, double *row);

// A nodal step applied to the elements' states; returns its size: rad, and chord change over length.
double rod_apply(rod_data *r, const double *step, double factor, rod_state *x);

#endif
