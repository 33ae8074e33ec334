// The list: everything that pulls on the body. A new term is a new file with its constructor, and a line
// here.
#ifndef PL_PROBLEM_TERMS_H
#define PL_PROBLEM_TERMS_H

#define PROBLEM_TERMS(X)                                                                                     \
    X(term_elements_create)  /* the body; sets energy and gradient, so it comes first */                     \
    X(term_growth_create)    /* stress-free shapes, and actuators that change them */                        \
    X(term_loads_create)     /* gravity, forces, moments, pressures on surfaces */                           \
    X(term_forces_create)    /* forces at markers, set at run time */                                        \
    X(term_actuators_create) /* cables, chambers, films: constraints, efforts, gases, voltages */            \
    X(term_springs_create)   /* springs between markers, or to points in space */                            \
    X(term_contact_create)   /* obstacles, self-contact, contact between bodies */                           \
    X(term_layers_create)    /* thin layers bonded to faces: membrane and bending */                         \
    X(term_fibres_create)    /* fibres bonded to faces */                                                    \
    X(term_guard_create)     /* keeps thin curved tets from folding between their quadrature points */

#define X(create) pl_status create(pl_problem *p, pl_problem_term *out, pl_error *err);
PROBLEM_TERMS(X)
#undef X

#endif
