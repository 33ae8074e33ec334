// Inside text: numbers as expressions of named parameters: "length - 4", "2*pi*radius", "max(wall, 2 mm)".
//
// A value is a number in internal units (mm, t, s, K, V, rad) with the exponents of its dimension, or a plain
// number, which takes the dimension that is expected of it (a plain 4 in place of a length is 4 mm).
#ifndef PL_TEXT_EXPRESSION_H
#define PL_TEXT_EXPRESSION_H

#include "base/base.h"
#include "pliant/text.h"

enum { TEXT_EXPONENTS = 6 }; // length, mass, time, temperature, voltage, angle

typedef struct text_value {
    double number;                // in internal units
    int exponent[TEXT_EXPONENTS]; // in the order above
    bool plain;                   // without a unit
} text_value;

// A parameter that expressions may use.
typedef struct text_name {
    const char *name;
    text_value value;
    int line; // where it was defined
} text_name;

// ---- text_units.c
// Length of the number at the start of `s` (sign, digits, point, exponent), 0: none; and its value.
size_t text_number_length(const char *s);
bool text_number_read(const char *s, size_t length, double *value);

// A number with or without a unit, nothing else: its number as written, and how many characters that has.
bool text_quantity_split(const char *text, double *value, size_t *digits);
pl_status text_quantity_value(const char *text, text_value *out, pl_error *err);
bool text_unit_find(const char *name, size_t length, text_value *out); // one of it

// The value as a number of that dimension; `text` is what it was written as. `rate`: per second.
pl_status text_value_as(const text_value *value, const char *text, pl_dimension dimension, bool rate,
                        double *out, pl_error *err);

// "a length", "a number", ... of a value that is not plain, and whether a plain number may stand in its
// place.
const char *text_value_kind(const text_value *value);
bool text_value_takes_plain(const text_value *value);

// Names of dimensions and their units, for messages.
const char *text_dimension_name(pl_dimension dimension);
const char *text_dimension_units(pl_dimension dimension);

// ---- text_expression.c
// Whether the text is meant as an expression: it names a parameter, or joins values by operators.
bool text_is_expression(const text_name *name, int count, const char *text);
pl_status text_evaluate(const text_name *name, int count, const char *text, text_value *out, pl_error *err);

// The length of the next word (a name, a unit, a function) at or behind *text, which is moved to it; 0: none.
size_t text_word_next(const char **text);

// Why a parameter cannot have this name; NULL: it can.
const char *text_name_refused(const char *name);

#endif
