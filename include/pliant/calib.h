// Parameters from measurements.
#ifndef PLIANT_CALIB_H
#define PLIANT_CALIB_H

#include "pliant/material.h"

#ifdef __cplusplus
extern "C" {
#endif

// A tensile test: engineering strain (1 = 100 %) against engineering stress (MPa), ascending in strain.
typedef struct pl_tensile {
    char title[80], source[160];
    double *strain, *stress;
    int count;
} pl_tensile;
PL_API void pl_tensile_clear(pl_tensile *test);
// Reads the CSV layout of the Soft Robotics Materials Database (`;` separated, a header block, then columns)
// or a plain CSV of strain and stress. `text` is the whole file; `name` is used in messages.
PL_API pl_status pl_tensile_parse(const char *text, size_t length, const char *name, pl_tensile *out,
                                  pl_error *err);

typedef struct pl_tensile_fit {
    pl_material material;
    double error; // root mean square of the stress error over the largest stress in the range
    double strain_low, strain_high;
    bool stable; // stress grows with stretch: in tension over the range and in compression to 0.5; in pure
                 // shear and equal biaxial stretch up to the same I1
} pl_tensile_fit;
// Least squares of the incompressible uniaxial law over strains up to `strain_high` (0: the whole test), for
// linear and the rubber laws. Where free constants give an unstable law, constants >= 0 are fitted instead.
// The material comes with poisson 0.49 and no density.
PL_API pl_status pl_tensile_fit_model(const pl_tensile *test, pl_material_model model, double strain_high,
                                      pl_tensile_fit *out, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
