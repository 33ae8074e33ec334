// The language of expressions: numbers with units, names, + - * / ^, parentheses and a few functions.
//
//   sum     = product { (+|-) product }
//   product = factor { (*|/) factor }
//   factor  = [+|-] factor | power
//   power   = atom [ ^ factor ]
//   atom    = number { unit } | unit { unit } | name | pi | function ( sum { , sum } ) | ( sum )
//
// Values can only be added if their dimensions agree; a plain number agrees with lengths, forces, angles and
// others that need no unit in a robot file. Nothing is stored and nothing is called but the functions below.
#include "text/text_expression.h"
#include <ctype.h>
#include <stdio.h>

#define EXPRESSION_DEPTH 40    // nested parentheses and signs: bounds the stack
#define EXPRESSION_LENGTH 1000 // characters

// An expression being evaluated: recursive descent, one function per rule of the grammar.
typedef struct expression {
    const text_name *name;
    int count;
    const char *text, *at; // whole; rest
    int depth;
    pl_error *err;
    bool failed; // by the first failure, after which every rule returns at once
} expression;

// ---- functions
typedef enum function_rule {
    FUNCTION_ANGLE, // of an angle or a plain number (rad); gives a plain number
    FUNCTION_PLAIN, // of a plain number
    FUNCTION_SAME,  // keeps the dimension, which all arguments share
    FUNCTION_ROOT
} function_rule;

// A function that expressions may call.
typedef struct function {
    const char *name;
    function_rule rule;
    int arguments;
} function;

enum { F_SIN, F_COS, F_TAN, F_ASIN, F_ACOS, F_ATAN, F_ABS, F_FLOOR, F_CEIL, F_ROUND, F_MIN, F_MAX, F_SQRT };

static const function functions[] = {
    [F_SIN] = {"sin", FUNCTION_ANGLE, 1},   [F_COS] = {"cos", FUNCTION_ANGLE, 1},
    [F_TAN] = {"tan", FUNCTION_ANGLE, 1},   [F_ASIN] = {"asin", FUNCTION_PLAIN, 1},
    [F_ACOS] = {"acos", FUNCTION_PLAIN, 1}, [F_ATAN] = {"atan", FUNCTION_PLAIN, 1},
    [F_ABS] = {"abs", FUNCTION_SAME, 1},    [F_FLOOR] = {"floor", FUNCTION_PLAIN, 1},
    [F_CEIL] = {"ceil", FUNCTION_PLAIN, 1}, [F_ROUND] = {"round", FUNCTION_PLAIN, 1},
    [F_MIN] = {"min", FUNCTION_SAME, 2},    [F_MAX] = {"max", FUNCTION_SAME, 2},
    [F_SQRT] = {"sqrt", FUNCTION_ROOT, 1},
};

// Its value for numbers in internal units; `b` is used by min and max only.
static double function_number(int f, double a, double b)
{
    switch (f) {
    case F_SIN:
        return sin(a);
    case F_COS:
        return cos(a);
    case F_TAN:
        return tan(a);
    case F_ASIN:
        return asin(a);
    case F_ACOS:
        return acos(a);
    case F_ATAN:
        return atan(a);
    case F_ABS:
        return fabs(a);
    case F_FLOOR:
        return floor(a);
    case F_CEIL:
        return ceil(a);
    case F_ROUND:
        return round(a);
    case F_MIN:
        return fmin(a, b);
    case F_MAX:
        return fmax(a, b);
    default:
        return sqrt(a);
    }
}

// Index, or -1. Names are not terminated: they point into the expression.
static int function_find(const char *name, size_t length)
{
    for (int i = 0; i < PL_COUNT(functions); ++i) {
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0) {
            return i;
        }
    }

    return -1;
}

// ---- words
// Letters of other scripts count as letters, so that a mistyped name is reported whole.
static bool word_begins(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while (word_begins(s[n]) || (n > 0 && isdigit((unsigned char)s[n]))) {
        ++n;
    }
    return n;
}

// Digits, point and exponent; a sign is an operator.
static size_t number_length(const char *s)
{
    return isdigit((unsigned char)s[0]) || s[0] == '.' ? text_number_length(s) : 0;
}

size_t text_word_next(const char **text)
{
    const char *s = *text;
    while (*s && !word_begins(*s)) {
        const size_t digits = number_length(s);
        s += digits > 0 ? digits : 1;
    }
    *text = s;
    return word_length(s);
}

// From the last to the first: the index of a `repeat` hides a parameter of the same name.
static const text_name *name_find(const text_name *name, int count, const char *word, size_t length)
{
    for (int i = count - 1; i >= 0; --i) {
        if (strlen(name[i].name) == length && memcmp(name[i].name, word, length) == 0) {
            return &name[i];
        }
    }

    return NULL;
}

// Parameters must not hide units or pi: `3 m` would change its meaning.
const char *text_name_refused(const char *name)
{
    const size_t length = strlen(name);
    text_value unit;

    if (length == 0 || word_length(name) != length) {
        return "use letters, digits and '_'";
    }
    if (strcmp(name, "pi") == 0) {
        return "it is a constant of expressions";
    }

    return text_unit_find(name, length, &unit) ? "it is a unit" : NULL;
}

// A number with a unit is none; nor is free text that only looks like words.
bool text_is_expression(const text_name *name, int count, const char *text)
{
    int numbers = 0;
    bool joined = false;
    char before = 0; // the last character in front of a word that is no blank

    for (const char *s = text; *s;) {
        const size_t digits = number_length(s), letters = word_length(s);
        text_value unit;
        // digits after ^ belong to a unit: mm^2
        if (digits > 0) {
            numbers += before != '^';
            s += digits;
            before = '0';
            // a word makes it an expression if it is known, or stands where only a value can stand
        } else if (letters > 0) {
            const bool named = name_find(name, count, s, letters) != NULL;
            const bool known =
                named || function_find(s, letters) >= 0 || (letters == 2 && memcmp(s, "pi", 2) == 0);
            const char *next = s + letters + strspn(s + letters, " ");
            const bool operator_follows = *next && strchr("+-*/^(", *next);
            joined = joined || known ||
                     (!text_unit_find(s, letters, &unit) &&
                      (before == '+' || before == '-' || before == '*' || (before == 0 && operator_follows)));
            s += letters;
            before = 'a';
            // parentheses, or a power of a number
        } else {
            joined = joined || *s == '(' || (*s == '^' && before == '0');
            before = isspace((unsigned char)*s) ? before : *s;
            ++s;
        }
    }

    // one that breaks off is still one: 120 +
    joined = joined || (numbers > 0 && before && strchr("+-*/", before));

    return joined || (numbers > 1 && !strchr(text, ',')); // 1,5 is a number with a comma
}

// ---- evaluation
static text_value expression_sum(expression *e);

// Keeps the first failure: later ones follow from it.
static text_value expression_fail(expression *e, const char *why, const char *what)
{
    if (!e->failed) {
        pl_fail(e->err, PL_BAD_INPUT, "'%.80s': %s%s", e->text, why, what);
    }
    e->failed = true;
    return (text_value){.plain = true};
}

// The next character that is no blank, without taking it.
static char expression_next(expression *e)
{
    while (isspace((unsigned char)*e->at)) {
        ++e->at;
    }
    return *e->at;
}

// a b or a / b; exponents add or subtract. The result is plain if no dimension is involved and one of the two
// was plain: 2 mm / 1 mm has no unit but is not plain.
static text_value expression_product(text_value a, text_value b, int sign)
{
    text_value out = {.number = sign > 0 ? a.number * b.number : a.number / b.number};
    bool any = false;

    for (int i = 0; i < TEXT_EXPONENTS; ++i) {
        out.exponent[i] = a.exponent[i] + sign * b.exponent[i];
        any = any || a.exponent[i] || b.exponent[i];
    }

    out.plain = !any && (a.plain || b.plain);
    return out;
}

// Brings two values to one dimension; false after a report.
static bool expression_agree(expression *e, text_value *a, text_value *b)
{
    if (memcmp(a->exponent, b->exponent, sizeof a->exponent) == 0) {
        a->plain = b->plain = a->plain && b->plain;
        return true;
    }

    // a plain number takes the dimension of the other, unless it needs a unit; zero never does
    text_value *plain = a->plain ? a : b;
    const text_value *other = a->plain ? b : a;
    if (!plain->plain) {
        char both[120];
        snprintf(both, sizeof both, "%s and %s", text_value_kind(a), text_value_kind(b));
        expression_fail(e, "cannot be combined: ", both);
        return false;
    }

    if (plain->number != 0 && !text_value_takes_plain(other)) {
        expression_fail(e, "a plain number needs a unit beside ", text_value_kind(other));
        return false;
    }

    memcpy(plain->exponent, other->exponent, sizeof plain->exponent);
    plain->plain = false;

    return true;
}

// The power of a value: whole for one with a dimension.
static text_value expression_power(expression *e, text_value base, text_value power)
{
    text_value out = {.number = pow(base.number, power.number), .plain = base.plain};
    for (int i = 0; i < TEXT_EXPONENTS; ++i) {
        // exponents must stay whole: the root of an area is a length, that of a length is nothing
        if (power.exponent[i] != 0) {
            return expression_fail(e, "a power must be a plain number, found ", text_value_kind(&power));
        }
        const double exponent = base.exponent[i] * power.number;
        if (exponent != round(exponent) || fabs(exponent) > 20) {
            return expression_fail(e, "this power has no dimension: of ", text_value_kind(&base));
        }
        out.exponent[i] = (int)exponent;
    }

    return out;
}

// The square root as a power, which checks the dimension.
static text_value expression_root(expression *e, text_value a)
{
    return expression_power(e, a, (text_value){.number = 0.5, .plain = true});
}

// f ( sum { , sum } ); the caller has found the parenthesis.
static text_value expression_call(expression *e, int f)
{
    const function *known = &functions[f];
    text_value argument[2] = {{0}};
    int count = 0;

    do {
        ++e->at; // ( or ,
        const text_value v = expression_sum(e);
        if (count < 2) {
            argument[count] = v;
        }
        ++count;
    } while (!e->failed && expression_next(e) == ',');

    if (e->failed) {
        return argument[0];
    }
    if (*e->at != ')') {
        return expression_fail(e, "')' is missing behind ", known->name);
    }
    ++e->at;

    if (count != known->arguments) {
        return expression_fail(e,
                               known->arguments == 1 ? "one value is expected in the parentheses of "
                                                     : "two values are expected in the parentheses of ",
                               known->name);
    }

    // dimensions by the rule of the function
    text_value *a = &argument[0], *b = &argument[1];
    static const text_value radian = {.exponent = {[5] = 1}};
    const bool pure = memcmp(a->exponent, (int[TEXT_EXPONENTS]){0}, sizeof a->exponent) == 0;
    const bool angle = memcmp(a->exponent, radian.exponent, sizeof a->exponent) == 0;

    if ((known->rule == FUNCTION_PLAIN && !pure) || (known->rule == FUNCTION_ANGLE && !pure && !angle)) {
        return expression_fail(e,
                               known->rule == FUNCTION_PLAIN ? "expected a plain number, found "
                                                             : "expected an angle, found ",
                               text_value_kind(a));
    }

    if (count == 2 && !expression_agree(e, a, b)) {
        return *a;
    }

    text_value out = known->rule == FUNCTION_ROOT ? expression_root(e, *a) : *a;
    out.number = function_number(f, a->number, b->number);
    if (known->rule == FUNCTION_ANGLE || known->rule == FUNCTION_PLAIN) {
        out = (text_value){.number = out.number, .plain = true};
    }

    return out;
}

// Units behind a number or another unit, each with its power.
static text_value expression_units(expression *e, text_value v)
{
    for (;;) {
        text_value unit;
        const char c = expression_next(e);
        const size_t length = c == '%' ? 1 : word_length(e->at);
        if (length == 0 || !text_unit_find(e->at, length, &unit)) {
            return v;
        }
        e->at += length;

        if (*e->at == '^') {
            const bool minus = e->at[1] == '-';
            e->at += 1 + minus;
            if (!isdigit((unsigned char)*e->at)) {
                return expression_fail(e, "a whole number is expected behind ^", "");
            }
            const double power = *e->at++ - '0';
            unit = expression_power(e, unit, (text_value){.number = minus ? -power : power, .plain = true});
        }

        v.plain = false;
        v = expression_product(v, unit, 1);
    }
}

// A function, a name, pi or a unit, in this order.
static text_value expression_word(expression *e)
{
    const size_t length = word_length(e->at);
    const char *word = e->at;
    const text_name *known = name_find(e->name, e->count, word, length);
    text_value unit;

    // a function is a name with a parenthesis: `floor` alone may be a parameter
    const int f = word[length + strspn(word + length, " ")] == '(' ? function_find(word, length) : -1;

    if (f >= 0) {
        e->at += length;
        expression_next(e);
        return expression_call(e, f);
    }

    if (known) {
        e->at += length;
        return known->value;
    }

    if (length == 2 && memcmp(word, "pi", 2) == 0) {
        e->at += length;
        return (text_value){.number = PL_PI, .plain = true};
    }

    if (text_unit_find(word, length, &unit)) {
        return expression_units(e, (text_value){.number = 1});
    }

    // neither a name nor a unit: which names there are
    char own[80], text[700];
    const char *list[64];
    int count = 0;
    for (; count < e->count && count < 64; ++count) {
        list[count] = e->name[count].name;
    }
    snprintf(own, sizeof own, "%.*s", (int)(length < 79 ? length : 79), word);
    const char *near = pl_nearest_word(own, list, count);
    size_t used = (size_t)snprintf(text, sizeof text, "'%s'%s%s%s%s", own, near ? " (did you mean '" : "",
                                   near ? near : "", near ? "'?)" : "",
                                   count == 0 ? "; the file has no parameters" : "; parameters are ");
    for (int i = 0; i < count && used < sizeof text; ++i) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", list[i]);
    }

    return expression_fail(e, "there is no parameter ", text);
}

// number { unit }, ( sum ) or a word.
static text_value expression_atom(expression *e)
{
    const char c = expression_next(e);
    const size_t digits = number_length(e->at);

    if (digits > 0) {
        // a name behind a number is not taken for a unit: `2 length` fails
        text_value v = {.plain = true}, unit;
        if (!text_number_read(e->at, digits, &v.number)) {
            return expression_fail(e, "a number is too large or too long", "");
        }
        e->at += digits;
        const char next = expression_next(e);
        const size_t letters = next == '%' ? 1 : word_length(e->at);
        return letters > 0 && text_unit_find(e->at, letters, &unit) ? expression_units(e, v) : v;
    }

    if (c == '(') {
        ++e->at;
        const text_value v = expression_sum(e);
        if (!e->failed && expression_next(e) != ')') {
            return expression_fail(e, "')' is missing", "");
        }
        e->at += !e->failed;
        return v;
    }

    if (word_length(e->at) > 0) {
        return expression_word(e);
    }

    return expression_fail(
        e, c ? "expected a number or a name, found " : "ends where a number or a name is expected", e->at);
}

// factor = [+|-] factor | atom [ ^ factor ]: the power binds tighter than the sign, -2^2 = -4.
static text_value expression_factor(expression *e)
{
    if (++e->depth > EXPRESSION_DEPTH) {
        return expression_fail(e, "is nested too deeply", "");
    }

    const char c = expression_next(e);
    text_value v;
    if (c == '-' || c == '+') {
        ++e->at;
        v = expression_factor(e);
        v.number = c == '-' ? -v.number : v.number;
    } else {
        v = expression_atom(e);

        if (!e->failed && expression_next(e) == '^') {
            ++e->at;
            const text_value power = expression_factor(e);
            v = e->failed ? v : expression_power(e, v, power);
        }
    }

    --e->depth;

    return v;
}

// product = factor { (*|/) factor }
static text_value expression_term(expression *e)
{
    text_value v = expression_factor(e);
    for (char c; !e->failed && ((c = expression_next(e)) == '*' || c == '/');) {
        ++e->at;
        const text_value next = expression_factor(e);
        v = expression_product(v, next, c == '*' ? 1 : -1);
    }

    return v;
}

// sum = product { (+|-) product }
static text_value expression_sum(expression *e)
{
    if (++e->depth > EXPRESSION_DEPTH) {
        return expression_fail(e, "is nested too deeply", "");
    }

    text_value v = expression_term(e);
    for (char c; !e->failed && ((c = expression_next(e)) == '+' || c == '-');) {
        ++e->at;
        text_value next = expression_term(e);
        if (!e->failed && expression_agree(e, &v, &next)) {
            v.number += c == '+' ? next.number : -next.number;
        }
    }

    --e->depth;
    return v;
}

// The whole text must be used and the value finite.
pl_status text_evaluate(const text_name *name, int count, const char *text, text_value *out, pl_error *err)
{
    expression e = {.name = name, .count = count, .text = text, .at = text, .err = err};
    *out = (text_value){.plain = true};
    if (strlen(text) > EXPRESSION_LENGTH) {
        return pl_fail(err, PL_BAD_INPUT, "'%.60s...' is longer than %d characters", text, EXPRESSION_LENGTH);
    }

    const text_value v = expression_sum(&e);
    if (!e.failed && expression_next(&e)) {
        expression_fail(&e, "expected an operator, found ", e.at);
    }
    if (!e.failed && !isfinite(v.number)) {
        expression_fail(&e, "has no finite value (a division by zero, or a root of a negative number?)", "");
    }
    if (e.failed) {
        return PL_BAD_INPUT;
    }
    *out = v;

    return PL_OK;
}
