// Inside io: what the writers of surfaces share.
#ifndef PL_IO_SURFACE_H
#define PL_IO_SURFACE_H

#include "io/io_skin.h"

void io_put_le(pl_text *text, uint64_t value, int bytes); // little-endian
void io_put_float(pl_text *text, double value);
// Widens [low, high] by the values at the vertices of the skin; one number per vertex of the body.
void io_value_range(const double *value, const io_skin *skin, double *low, double *high);
double io_value_place(double value, double low, double high); // 0 .. 1, for pl_colour_map

#endif
