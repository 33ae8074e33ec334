// Numbers with units, and files read and written whole. Every file is written under a temporary name next to
// the target and then renamed.
#ifndef PLIANT_TEXT_H
#define PLIANT_TEXT_H

#include "pliant/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- numbers with units
// Reads "30 kPa", "2.5bar", "1070 kg/m^3", "12 cm", "5 mL", "90 deg" into internal units (mm, N, MPa, t, s,
// K, V, rad). A plain number is in mm, N, MPa, rad, s, V; PRESSURE (a pressure command), DENSITY and
// ACCELERATION need a unit (STRESS does not: a modulus without a unit is in MPa). The error message says what
// was found and which units are allowed.
PL_API_CHECKED pl_status pl_quantity_parse(const char *text, pl_dimension dimension, double *value,
                                           pl_error *err);

// The same per second: "5 mm/s", "20 kPa/s", "0.5 /s"; a plain number is per second.
PL_API_CHECKED pl_status pl_rate_parse(const char *text, pl_dimension dimension, double *value,
                                       pl_error *err);

// ---- files
// Writes text or bytes to a temporary file next to `path`, then renames it.
PL_API_CHECKED pl_status pl_file_write(const char *path, const void *data, size_t bytes, pl_error *err);
PL_API_CHECKED pl_status pl_file_read(const char *path, char **data, size_t *bytes,
                                      pl_error *err); // free with pl_file_free
PL_API void pl_file_free(char *data);

#ifdef __cplusplus
}
#endif
#endif
