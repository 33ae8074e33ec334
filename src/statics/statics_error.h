// The work of an estimate of the mesh error (statics_error.c), and what loads, actuators and markers do on
// the added functions (statics_error_loads.c).
#ifndef PL_STATICS_ERROR_H
#define PL_STATICS_ERROR_H

#include "element/enrich.h"
#include "statics/statics_impl.h"

// What acts on a vertex besides the elements: nothing, something that presses on it, or something that holds
// the faces around it together (layers, fibres, films, friction).
enum { ERROR_FREE, ERROR_PRESSED, ERROR_BONDED };

typedef struct error_work {
    pl_statics *s;
    const pl_state *state;
    pl_enrichment *added;
    bool touched;    // something presses on the body
    uint8_t *bonded; // per vertex: error_bond
    int32_t *faces;  // per marker: the surface of the mesh that it is the mean of; -1: none
    double *area;    // per surface of the mesh, undeformed
    double *goal;    // 3 per marker: the estimate so far, and its last change
    // forces and motions: 3 per vertex; per unknown; pressures or integrals of the dilatation
    double *full, *step, *side, *unknown, *pressure;
    // conjugate gradients, 3 per added function
    double *residual, *direction, *product, *image;
    double *normal; // 3 per added function: the direction it does not move in; 0: none
    double *block;  // 9 per added function: inverse of its diagonal block
    double *row;    // per border of the factor, 3 per added function: dh/dw of the row
    double *target; // per border: what h lacks of its target when it is taken over the body
    double *unit;   // per pressure number
} error_work;

// Adds what loads and actuators do on the added functions to `force` (3 per function, derivatives of the
// energy) and what they do differently on the vertices, spread as given and not as the mesh allows, to
// `full`; fills `row` and `target`.
void error_loads(error_work *w, double *full, double *force);

// Which markers are means of surfaces of the mesh.
void error_match(error_work *w);

// goal += scale times the motion of the markers for a motion (full) of the vertices and c of the added
// functions.
void error_goal(const error_work *w, const double *full, const double *c, double scale, double *goal);

// Nodal functions N (may be NULL) and the normal, not of unit length, at a point of a face of n nodes.
void error_normal(int n, const int32_t *node, const double *x, const double xi[2], double *N,
                  double normal[3]);

#endif
