// Inside io: numbers as expressions of named parameters: "length - 4", "2*pi*radius", "max(wall, 2 mm)".
//
// A value is a number in internal units (mm, t, s, K, V, rad) with the exponents of its dimension, or a plain
// number, which takes the dimension that is expected of it (a plain 4 in place of a length is 4 mm).
#ifndef PL_IO_EXPRESSION_H
#define PL_IO_EXPRESSION_H

#include "io/io_robot.h"

enum { IO_EXPONENTS = 6 }; // length, mass, time, temperature, voltage, angle
typedef struct io_value {
    double number;
    int exponent[IO_EXPONENTS];
    bool plain; // without a unit
} io_value;

// A parameter that expressions may use.
typedef struct io_name {
    const char *name;
    io_value value;
    int line;
} io_name;

// ---- io_units.c
// Length of the number at the start of `s` (sign, digits, point, exponent), 0: none; and its value.
size_t io_number_length(const char *s);
bool io_number_read(const char *s, size_t length, double *value);
// A number with or without a unit, nothing else: its number as written, and how many characters that has.
bool io_quantity_split(const char *text, double *value, size_t *digits);
pl_status io_quantity_value(const char *text, io_value *out, pl_error *err);
bool io_unit_find(const char *name, size_t length, io_value *out); // one of it
// The value as a number of that dimension; `text` is what it was written as. `rate`: per second.
pl_status io_value_as(const io_value *value, const char *text, pl_dimension dimension, bool rate, double *out,
                      pl_error *err);
// "a length", "a number", ... of a value that is not plain, and whether a plain number may stand in its
// place.
const char *io_value_kind(const io_value *value);
bool io_value_takes_plain(const io_value *value);

// ---- io_expression.c
// Whether the text is meant as an expression: it names a parameter, or joins values by operators.
bool io_is_expression(const io_name *name, int count, const char *text);
pl_status io_evaluate(const io_name *name, int count, const char *text, io_value *out, pl_error *err);
// Why a parameter cannot have this name; NULL: it can.
const char *io_name_refused(const char *name);

#endif
