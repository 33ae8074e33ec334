// Inside result: what the writers of surfaces share.
#ifndef PL_RESULT_SURFACE_H
#define PL_RESULT_SURFACE_H

#include "result/result_skin.h"

void result_put_le(pl_text *text, uint64_t value, int bytes); // little-endian
void result_put_float(pl_text *text, double value);

// Widens [low, high] by the values at the vertices of the skin; one number per vertex of the body.
void result_value_range(const double *value, const result_skin *skin, double *low, double *high);
double result_value_place(double value, double low, double high); // 0 .. 1, for pl_colour_map

#endif
