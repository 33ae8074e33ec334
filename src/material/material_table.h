// The table of material laws: one row per law, which the reader of robot files, the checks, the hash, the
// kernels, fits, help and documents ask. A new law is a row here, its functions in a file of its own, and a
// line in the list of kernels (material_law.h) if no other law has its stress.
#ifndef PL_MATERIAL_TABLE_H
#define PL_MATERIAL_TABLE_H

#include <stddef.h>
#include "material/material_law.h"

typedef struct pl_material_row {
    const char *name;
    unsigned takes;       // constants, one bit each
    pl_law_kernel kernel; // of stress and tangent
    bool directions;      // takes directions of fibres
    unsigned fit;         // constants that a tensile fit finds by linear least squares, one bit each
    // Refuses constants that leave the undeformed material without stiffness, and names the constant.
    pl_status (*check)(const pl_material *material, const char *name, pl_error *err);
    double (*shear)(const pl_material *material); // MPa, at small strains
    // The constants of the deviatoric part as the kernel wants them.
    void (*constants)(const pl_material *material, pl_law *law);
    // Engineering stresses of the incompressible law: uniaxial (along its fibres), and in a sheet.
    double (*uniaxial)(const pl_material *material, double stretch);
    double (*sheet)(const pl_material *material, double l1, double l2);
} pl_material_row;

const pl_material_row *pl_material_row_of(pl_material_model model); // NULL: not a law

// One row per constant.
typedef struct pl_constant_row {
    const char *name;
    size_t offset; // in pl_material
    pl_dimension dimension;
    double shear; // d(shear modulus)/d(constant), of the laws that take it and are not linear or stvk
} pl_constant_row;

const pl_constant_row *pl_constant_row_of(pl_material_constant constant); // NULL: not a constant

// ---- what laws share (material_laws.c)
#define PL_TAKES(constant) (1u << (constant))
#define PL_TAKES_BULK (PL_TAKES(PL_POISSON) | PL_TAKES(PL_BULK) | PL_TAKES(PL_DENSITY))
pl_status pl_material_check_positive(const pl_material *material, pl_material_constant constant,
                                     const char *name, const char *hint, pl_error *err);

// ---- fibres (material_hgo.c)
pl_status pl_hgo_check(const pl_material *material, const char *name, pl_error *err);
void pl_hgo_constants(const pl_material *material, pl_law *law);

// The law whose stress is the derivative with respect to k1, k2 or kappa.
void pl_hgo_derivative(pl_law *law, const pl_material *material, pl_material_constant constant);
double pl_hgo_uniaxial(const pl_material *material, double stretch);
double pl_hgo_sheet(const pl_material *material, double l1, double l2);

#endif
