// Numbers with units. A unit is a product of atoms (kg/m^3, N mm, m/s^2), each a factor into the internal
// system (mm, t, s, K, V, rad, hence N and MPa) and a vector of exponents; a quantity fits when the exponents
// agree.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "text/text_expression.h"

enum { LENGTH, MASS, TIME, TEMPERATURE, VOLTAGE, ANGLE, EXPONENTS };
_Static_assert((int)EXPONENTS == (int)TEXT_EXPONENTS, "the exponents of a value are those of its unit");

// One unit: its name, its size in internal units, its dimension.
typedef struct units_atom {
    const char *name;
    double factor;
    signed char exponent[EXPONENTS];
} units_atom;

#define STRESS_EXPONENTS                                                                                     \
    {                                                                                                        \
        -1, 1, -2, 0, 0, 0                                                                                   \
    }
#define FORCE_EXPONENTS                                                                                      \
    {                                                                                                        \
        1, 1, -2, 0, 0, 0                                                                                    \
    }
static const units_atom units_atoms[] = {
    {"mm", 1, {1}},
    {"cm", 10, {1}},
    {"m", 1e3, {1}},
    {"um", 1e-3, {1}},
    {"\xc2\xb5m", 1e-3, {1}},
    {"in", 25.4, {1}},
    {"t", 1, {0, 1}},
    {"kg", 1e-3, {0, 1}},
    {"g", 1e-6, {0, 1}},
    {"mg", 1e-9, {0, 1}},
    {"s", 1, {0, 0, 1}},
    {"ms", 1e-3, {0, 0, 1}},
    {"min", 60, {0, 0, 1}},
    {"N", 1, FORCE_EXPONENTS},
    {"mN", 1e-3, FORCE_EXPONENTS},
    {"kN", 1e3, FORCE_EXPONENTS},
    {"gf", 9.80665e-3, FORCE_EXPONENTS},
    {"kgf", 9.80665, FORCE_EXPONENTS},
    {"Pa", 1e-6, STRESS_EXPONENTS},
    {"kPa", 1e-3, STRESS_EXPONENTS},
    {"MPa", 1, STRESS_EXPONENTS},
    {"GPa", 1e3, STRESS_EXPONENTS},
    {"bar", 0.1, STRESS_EXPONENTS},
    {"mbar", 1e-4, STRESS_EXPONENTS},
    {"psi", 6.894757293168361e-3, STRESS_EXPONENTS},
    {"L", 1e6, {3}},
    {"mL", 1e3, {3}},
    {"uL", 1, {3}},
    {"l", 1e6, {3}},
    {"ml", 1e3, {3}},
    {"ul", 1, {3}},
    {"V", 1, {0, 0, 0, 0, 1}},
    {"kV", 1e3, {0, 0, 0, 0, 1}},
    {"T", 1e-6, {-2, 0, 1, 0, 1}},
    {"mT", 1e-9, {-2, 0, 1, 0, 1}},
    {"K", 1, {0, 0, 0, 1}},
    {"degC", 1, {0, 0, 0, 1}},
    {"rad", 1, {0, 0, 0, 0, 0, 1}},
    {"deg", PL_PI / 180, {0, 0, 0, 0, 0, 1}},
    {"\xc2\xb0", PL_PI / 180, {0, 0, 0, 0, 0, 1}},
    {"%", 0.01, {0}},
};

// What can be asked for.
typedef struct units_dimension {
    const char *name, *units;
    signed char exponent[EXPONENTS];
    bool needs_unit;
    const char *plain_reason; // what a plain number could have meant
    const char *plain_unit;   // and what to write
} units_dimension;

static const units_dimension units_dimensions[PL_DIM_COUNT] = {
    [PL_DIM_NUMBER] = {"a plain number", "no unit, or %", {0}, false, NULL, NULL},
    [PL_DIM_LENGTH] = {"a length", "mm, cm, m", {1}, false, NULL, NULL},
    [PL_DIM_FORCE] = {"a force", "N, mN, kN", FORCE_EXPONENTS, false, NULL, NULL},
    [PL_DIM_PRESSURE] = {"a pressure", "kPa, bar, MPa, psi", STRESS_EXPONENTS, true, "Pa, kPa or MPa", "kPa"},
    [PL_DIM_STRESS] = {"a pressure", "MPa, kPa, GPa", STRESS_EXPONENTS, false, NULL, NULL},
    [PL_DIM_VOLUME] = {"a volume", "mL, mm^3, L", {3}, false, NULL, NULL},
    [PL_DIM_ANGLE] = {"an angle", "deg, rad", {0, 0, 0, 0, 0, 1}, false, NULL, NULL},
    [PL_DIM_TIME] = {"a time", "s, ms, min", {0, 0, 1}, false, NULL, NULL},
    [PL_DIM_DENSITY] = {"a density", "kg/m^3, g/cm^3, t/mm^3", {-3, 1}, true, "kg/m^3 or t/mm^3", "kg/m^3"},
    [PL_DIM_ACCELERATION] =
        {"an acceleration", "m/s^2, mm/s^2", {1, 0, -2}, true, "m/s^2 or mm/s^2", "m/s^2"},
    [PL_DIM_VOLTAGE] = {"a voltage", "V, kV", {0, 0, 0, 0, 1}, false, NULL, NULL},
    [PL_DIM_MOMENT] = {"a moment", "N mm, N m", {2, 1, -2}, false, NULL, NULL},
    [PL_DIM_TEMPERATURE] = {"a temperature", "K, degC", {0, 0, 0, 1}, false, NULL, NULL},
    [PL_DIM_AREA] = {"an area", "mm^2, cm^2", {2}, false, NULL, NULL},
    [PL_DIM_STIFFNESS] = {"a stiffness", "N/mm, N/m, mN/mm", {0, 1, -2}, false, NULL, NULL},
    [PL_DIM_FLUX_DENSITY] = {"a flux density", "mT, T", {-2, 0, 1, 0, 1}, true, "mT or T", "mT"},
    [PL_DIM_MASS] = {"a mass", "g, kg, t", {0, 1}, true, "g or kg", "g"},
};

// Length of the number at the start of `s`: sign, digits, point, exponent; 0 when there is none. Letters such
// as inf, nan and hexadecimal digits are no numbers here.
size_t text_number_length(const char *s)
{
    size_t i = s[0] == '+' || s[0] == '-';
    size_t digits = 0;

    for (; isdigit((unsigned char)s[i]); ++i) {
        ++digits;
    }

    if (s[i] == '.') {
        for (++i; isdigit((unsigned char)s[i]); ++i) {
            ++digits;
        }
    }

    if (digits == 0) {
        return 0;
    }

    if (s[i] == 'e' || s[i] == 'E') {
        size_t k = i + 1;
        k += s[k] == '+' || s[k] == '-';

        if (isdigit((unsigned char)s[k])) {
            while (isdigit((unsigned char)s[k])) {
                ++k;
            }
            i = k;
        }
    }

    return i;
}

bool text_number_read(const char *s, size_t length, double *value)
{
    char copy[128];
    if (length >= sizeof copy) {
        return false;
    }

    memcpy(copy, s, length);
    copy[length] = '\0';
    *value = pl_real_read(copy, NULL);

    return isfinite(*value);
}

static const units_atom *units_find(const char *name, size_t length)
{
    for (int i = 0; i < PL_COUNT(units_atoms); ++i) {
        if (strlen(units_atoms[i].name) == length && memcmp(units_atoms[i].name, name, length) == 0) {
            return &units_atoms[i];
        }
    }

    return NULL;
}

static pl_status units_unknown(const char *text, const char *name, size_t length, pl_error *err)
{
    char word[32];
    const char *known[PL_COUNT(units_atoms)];

    snprintf(word, sizeof word, "%.*s", (int)(length > 31 ? 31 : length), name);
    for (int i = 0; i < PL_COUNT(units_atoms); ++i) {
        known[i] = units_atoms[i].name;

        // the same word in other letters: mpa, KPA
        bool same = strlen(known[i]) == length && length < 32;
        for (size_t k = 0; same && k < length; ++k) {
            same = tolower((unsigned char)known[i][k]) == tolower((unsigned char)word[k]);
        }
        if (same) {
            return pl_fail(err, PL_BAD_INPUT, "'%s': unknown unit '%s', did you mean '%s'?", text, word,
                           known[i]);
        }
    }

    // a word of one character resembles too many
    const char *nearest = length < 2 ? NULL : pl_nearest_word(word, known, PL_COUNT(known));
    if (nearest) {
        return pl_fail(err, PL_BAD_INPUT, "'%s': unknown unit '%s', did you mean '%s'?", text, word, nearest);
    }

    return pl_fail(err, PL_BAD_INPUT, "'%s': unknown unit '%s'", text, word);
}

// Letters, % and bytes of UTF-8, for the micro and degree signs.
static bool units_is_alphabetic(char c)
{
    return isalpha((unsigned char)c) || c == '%' || (unsigned char)c >= 0x80;
}

// One atom with its power at *cursor, multiplied in (or divided out, when `sign` is -1).
static pl_status units_atom_read(const char *text, const char **cursor, int sign, double *factor,
                                 int exponent[], const units_atom **last, pl_error *err)
{
    const char *s = *cursor;
    size_t length = 0;

    // its name
    while (units_is_alphabetic(s[length])) {
        ++length;
    }
    if (length == 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "'%s': expected a number with a unit, found '%.20s' after the number", text, s);
    }

    const units_atom *atom = units_find(s, length);
    if (!atom) {
        return units_unknown(text, s, length, err);
    }
    *last = atom;
    s += length;

    // its power, one digit with a sign
    int power = 1;
    if (*s == '^') {
        const bool minus = s[1] == '-';
        s += 1 + minus;
        if (!isdigit((unsigned char)*s) || isdigit((unsigned char)s[1])) {
            return pl_fail(err, PL_BAD_INPUT, "'%s': the power after '^' must be one digit", text);
        }
        power = minus ? '0' - *s : *s - '0';
        ++s;
    } else if (isdigit((unsigned char)*s)) {
        return pl_fail(err, PL_BAD_INPUT, "'%s': write powers with '^', as in mm^2", text);
    }

    power *= sign;
    *factor *= pow(atom->factor, power);
    for (int i = 0; i < EXPONENTS; ++i) {
        exponent[i] += power * atom->exponent[i];
    }
    *cursor = s;

    return PL_OK;
}

// Reads number and unit. `has_unit` tells whether any unit stood there.
static pl_status units_read(const char *text, double *value, int exponent[EXPONENTS], bool *has_unit,
                            pl_error *err)
{
    const char *s = text;
    while (isspace((unsigned char)*s)) {
        ++s;
    }

    // the number
    const size_t length = text_number_length(s);
    if (length == 0) {
        return pl_fail(err, PL_BAD_INPUT, "expected a number, found '%.60s'", text);
    }
    if (s[length] == ',') {
        return pl_fail(err, PL_BAD_INPUT, "'%.60s': write decimals with a point, not a comma", text);
    }
    if (!text_number_read(s, length, value)) {
        return pl_fail(err, PL_BAD_INPUT, "'%.60s' is too large or too long for a number", text);
    }
    s += length;

    // the units: after a slash all are divided by, kg/m s is kg/(m s)
    double factor = 1;
    int atoms = 0, sign = 1;
    const units_atom *last = NULL;

    for (;;) {
        const char *gap = s;
        while (isspace((unsigned char)*s) || *s == '*') {
            ++s;
        }
        if (*s == '/') {
            sign = -1;
            for (++s; isspace((unsigned char)*s); ++s) {
            }
        } else if (*s == '\0') {
            if (gap != s && memchr(gap, '*', (size_t)(s - gap))) {
                return pl_fail(err, PL_BAD_INPUT, "'%.60s' ends in '*'", text);
            }
            break;
        }

        const pl_status status = units_atom_read(text, &s, sign, &factor, exponent, &last, err);
        if (status != PL_OK) {
            return status;
        }
        if (++atoms > 8) {
            return pl_fail(err, PL_BAD_INPUT, "'%.60s': the unit is too long", text);
        }
    }

    *has_unit = atoms > 0;
    *value *= factor;

    // a temperature has another zero, a difference of temperatures (in a product) has not
    if (atoms == 1 && strcmp(last->name, "degC") == 0) {
        *value += 273.15;
    }
    if (!isfinite(*value)) {
        return pl_fail(err, PL_BAD_INPUT, "'%.60s' is too large for a number", text);
    }

    return PL_OK;
}

// Equal exponents.
static bool units_fit(const int exponent[EXPONENTS], const signed char wanted[EXPONENTS])
{
    for (int i = 0; i < EXPONENTS; ++i) {
        if (exponent[i] != wanted[i]) {
            return false;
        }
    }

    return true;
}

pl_status text_quantity_value(const char *text, text_value *out, pl_error *err)
{
    bool has_unit = false;
    *out = (text_value){0};
    const pl_status status = units_read(text, &out->number, out->exponent, &has_unit, err);
    out->plain = !has_unit;
    return status;
}

bool text_quantity_split(const char *text, double *value, size_t *digits)
{
    text_value ignored;
    const char *s = text;

    while (isspace((unsigned char)*s)) {
        ++s;
    }

    const size_t length = text_number_length(s);
    *digits = (size_t)(s - text) + length;

    return text_quantity_value(text, &ignored, NULL) == PL_OK && text_number_read(s, length, value);
}

bool text_unit_find(const char *name, size_t length, text_value *out)
{
    const units_atom *atom = units_find(name, length);
    *out = (text_value){0};
    if (!atom || strcmp(atom->name, "degC") == 0) { // has another zero: not a factor
        return false;
    }

    out->number = atom->factor;
    for (int i = 0; i < EXPONENTS; ++i) {
        out->exponent[i] = atom->exponent[i];
    }

    return true;
}

const char *text_value_kind(const text_value *value)
{
    for (int i = 0; i < PL_DIM_COUNT; ++i) {
        if (units_fit(value->exponent, units_dimensions[i].exponent)) {
            return units_dimensions[i].name;
        }
    }

    return "a quantity of another dimension";
}

// Whether all dimensions of these exponents accept numbers without a unit.
bool text_value_takes_plain(const text_value *value)
{
    for (int i = 0; i < PL_DIM_COUNT; ++i) {
        if (units_dimensions[i].needs_unit && units_fit(value->exponent, units_dimensions[i].exponent)) {
            return false;
        }
    }

    return true;
}

pl_status text_value_as(const text_value *value, const char *text, pl_dimension dimension, bool rate,
                        double *out, pl_error *err)
{
    // a rate has one second less
    const units_dimension *wanted = &units_dimensions[dimension];
    const char *per = rate ? " per second" : "";
    int exponent[EXPONENTS];

    memcpy(exponent, value->exponent, sizeof exponent);
    exponent[TIME] += rate;
    *out = value->number;

    if (value->plain) {
        // zero is zero in every unit
        return wanted->needs_unit && value->number != 0
                   ? pl_fail(err, PL_BAD_INPUT, "%s could be %s%s: write %s %s%s", text, wanted->plain_reason,
                             per, text, wanted->plain_unit, rate ? "/s" : "")
                   : PL_OK;
    }

    if (units_fit(exponent, wanted->exponent)) {
        return PL_OK;
    }

    // which dimension it has instead
    for (int i = 0; !rate && i < PL_DIM_COUNT; ++i) {
        if (units_fit(exponent, units_dimensions[i].exponent)) {
            return pl_fail(err, PL_BAD_INPUT, "'%s' is %s, expected %s (%s)", text, units_dimensions[i].name,
                           wanted->name, wanted->units);
        }
    }

    return pl_fail(err, PL_BAD_INPUT, "the unit of '%s' does not fit, expected %s (%s)%s", text, wanted->name,
                   wanted->units, per);
}

// A quantity, or a rate per second. *value changes only on success.
static pl_status units_parse(const char *text, pl_dimension dimension, bool rate, double *value,
                             pl_error *err)
{
    if (!text || !value || (int)dimension < 0 || dimension >= PL_DIM_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "%s: text, the result pointer and a valid dimension are needed",
                       rate ? "rate" : "quantity");
    }

    text_value found;
    double number = 0;
    pl_status status = text_quantity_value(text, &found, err);
    status = status == PL_OK ? text_value_as(&found, text, dimension, rate, &number, err) : status;
    *value = status == PL_OK ? number : *value;

    return status;
}

pl_status pl_quantity_parse(const char *text, pl_dimension dimension, double *value, pl_error *err)
{
    return units_parse(text, dimension, false, value, err);
}

pl_status pl_rate_parse(const char *text, pl_dimension dimension, double *value, pl_error *err)
{
    return units_parse(text, dimension, true, value, err);
}

const char *text_dimension_name(pl_dimension dimension)
{
    return units_dimensions[dimension].name;
}

const char *text_dimension_units(pl_dimension dimension)
{
    return units_dimensions[dimension].units;
}
