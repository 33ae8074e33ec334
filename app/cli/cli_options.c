// The option parser shared by all verbs: one table per verb gives parsing, checking, help and completion.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

const char *cli_nearest(const char *word, const char *const *known, int count)
{
    const char *best = pl_nearest_word(word, known, count);

    // a word begun but not ended: `conv` for `converged`
    for (int i = 0; !best && i < count; ++i) {
        if (strlen(word) >= 2 && strncmp(word, known[i], strlen(word)) == 0) {
            best = known[i];
        }
    }

    return best;
}

// Understood by every verb, in addition to its own table.
const cli_option cli_common[] = {
    {"quiet", 'q', NULL, "print warnings and errors only: no text, no notes, no progress bar", NULL},
    {"help", 'h', NULL, "print this help", NULL},
    {0},
};

// In one table.
static const cli_option *options_in(const cli_option *table, const char *name, size_t length)
{
    for (const cli_option *o = table; o->name; ++o) {
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
            return o;
        }
    }

    return NULL;
}

// The verb's own table wins over the common one.
static const cli_option *options_find(const cli_verb *verb, const char *name, size_t length)
{
    const cli_option *own = options_in(verb->option, name, length);
    return own ? own : options_in(cli_common, name, length);
}

static const cli_option *options_find_short(const cli_verb *verb, char name)
{
    const cli_option *const table[] = {verb->option, cli_common};
    for (int k = 0; k < 2; ++k) {
        for (const cli_option *o = table[k]; o->name; ++o) {
            if (o->short_name == name) {
                return o;
            }
        }
    }

    return NULL;
}

// Suggests the nearest option of the verb. Returns false.
static bool options_unknown(const cli_args *args, const char *text)
{
    const char *known[40];
    int count = 0;

    for (const cli_option *o = args->verb->option; o->name && count < 38; ++o) {
        known[count++] = o->name;
    }
    known[count++] = "quiet";
    known[count++] = "help";
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    const char *bare = name + strspn(name, "-");
    const char *near = *bare ? cli_nearest(bare, known, count) : NULL;
    if (near) {
        cli_error(args, "there is no option '%s'; did you mean '--%s'?", name, near);
    } else {
        cli_error(args, "there is no option '%s'", name);
    }

    cli_advice("`pliant %s --help` lists the options", args->verb->name);

    return false;
}

// There is memory for all: cli_parse counts the letters.
static void options_add(cli_args *args, const cli_option *option, const char *value)
{
    args->given[args->given_count++] = (cli_given){option, value};
}

// -v, -vv: letters that are flags may be joined
static bool options_shorts(cli_args *args, const char *text)
{
    for (const char *c = text + 1; *c; ++c) {
        const cli_option *o = options_find_short(args->verb, *c);
        if (!o || o->value) {
            return options_unknown(args, text);
        }
        options_add(args, o, NULL);
    }

    return true;
}

// Options that give a value to a name (NAME=...) may be repeated, but not for one name: which of the two
// values counts would depend on the verb.
static bool options_once(const cli_args *args, const cli_option *option, const char *value)
{
    const size_t length = strcspn(value, "=");
    bool once = true;

    for (int i = 0; strncmp(option->value, "NAME=", 5) == 0 && once && i < args->given_count; ++i) {
        const cli_given *g = &args->given[i];
        once =
            g->option != option || strcspn(g->value, "=") != length || strncmp(g->value, value, length) != 0;
    }
    if (!once) {
        cli_error(args, "--%s %s: '%.*s' is set twice", option->name, value, (int)length, value);
    }

    return once;
}

// Whether a text is one of the words of an option.
static bool options_has_word(const cli_option *option, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = option->choices; at && *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strcspn(at, " ") == length && strncmp(at, text, length) == 0) {
            return true;
        }
    }

    return false;
}

// The number that a value of the option is, by the row of the option; *out stays for a word that is no
// number, as in `--iteration-limit none`. False after saying what was expected.
static bool options_read(const cli_args *args, const cli_option *option, const char *text, double *out)
{
    pl_error err = {0};
    char *end = NULL;
    double value = 0;

    if (option->kind == CLI_VALUE_TEXT) {
        return true;
    }

    // numbers first: --order has the words 1 and 2 for completion
    errno = 0;
    const bool whole = option->kind == CLI_VALUE_WHOLE;
    if (whole) {
        value = (double)strtol(text, &end, 10);
    }
    const bool number = whole ? end != text && !*end && !errno
                              : pl_quantity_parse(text, option->dimension, &value, &err) == PL_OK;
    if (!number && options_has_word(option, text)) {
        return true;
    }

    if (whole && !(number && value >= option->low && value <= option->high)) {
        cli_error(args, "--%s is '%s', expected a whole number between %.0f and %.0f", option->name, text,
                  option->low, option->high);
        return false;
    }
    if (!number) {
        cli_error(args, "--%s: %s", option->name, err.text);
        return false;
    }
    if (!(value >= option->low && value <= option->high)) {
        cli_error(args, "--%s %s: expected a value between %g and %g", option->name, text, option->low,
                  option->high);
        return false;
    }
    *out = value;

    return true;
}

// --name, --name=value or --name value; `next` is the word that follows, *used tells that it was taken
static bool options_long(cli_args *args, const char *text, const char *next, bool *used)
{
    const char *name = text + 2;
    const size_t length = strcspn(name, "=");
    const cli_option *o = options_find(args->verb, name, length);

    if (!o) {
        return options_unknown(args, text);
    }

    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (!o->value && value) {
        cli_error(args, "--%s takes no value, found '%s'", o->name, value);
        return false;
    }

    if (o->value && !value) {
        if (!next) {
            cli_error(args, "--%s needs a value: --%s %s", o->name, o->name, o->value);
            return false;
        }

        // another option is hardly meant as the value; --name=--value says so when it is
        if (strncmp(next, "--", 2) == 0 && options_find(args->verb, next + 2, strcspn(next + 2, "="))) {
            cli_error(args, "--%s needs a value, found the option %s: --%s %s", o->name, next, o->name,
                      o->value);
            return false;
        }

        value = next;
        *used = true;
    }

    if (o->value && !*value) {
        cli_error(args, "--%s is empty, expected %s", o->name, o->value);
        return false;
    }

    if (o->value && !options_once(args, o, value)) {
        return false;
    }
    options_add(args, o, value);

    return true;
}

// Arguments that are no options.
static bool options_count(const cli_args *args)
{
    if (args->plain_count >= args->verb->least && args->plain_count <= args->verb->most) {
        return true;
    }

    if (args->plain_count > args->verb->most) {
        cli_error(args, "unexpected argument '%s'", args->plain[args->verb->most]);
    } else {
        cli_error(args, "an argument is missing");
    }

    cli_advice("usage: pliant %s %s", args->verb->name, args->verb->usage);
    return false;
}

// False after a message. Words after -- are no options; - alone is a file.
bool cli_parse(const cli_verb *verb, int argc, char **argv, cli_args *args)
{
    *args = (cli_args){.verb = verb};

    // a joined word of letters holds more flags than words
    size_t room = 1;
    for (int i = 0; i < argc; ++i) {
        room += strlen(argv[i]) + 1;
    }
    args->plain = calloc((size_t)argc + 1, sizeof *args->plain);
    args->given = calloc(room, sizeof *args->given);
    if (!args->plain || !args->given) {
        cli_no_memory(args);
        return false;
    }

    // word by word
    bool plain_only = false;
    for (int i = 0; i < argc; ++i) {
        const char *text = argv[i];
        bool used = false, fine = true;
        if (plain_only || text[0] != '-' || !text[1]) {
            args->plain[args->plain_count++] = text;
        } else if (strcmp(text, "--") == 0) {
            plain_only = true;
        } else if (text[1] == '-') {
            fine = options_long(args, text, i + 1 < argc ? argv[i + 1] : NULL, &used);
        } else {
            fine = options_shorts(args, text);
        }
        if (!fine) {
            return false;
        }
        i += used;
    }

    // what all verbs need at once
    const char *json = cli_value(args, "json");
    args->silent = json && strcmp(json, "-") == 0;
    cli_quiet = cli_flag(args, "quiet");

    // numbers, as their rows say
    for (int i = 0; i < args->given_count; ++i) {
        const cli_given *g = &args->given[i];
        double number;
        if (g->value && !options_read(args, g->option, g->value, &number)) {
            return false;
        }
    }

    return options_count(args);
}

void cli_args_clear(cli_args *args)
{
    free(args->plain);
    free(args->given);
    *args = (cli_args){0};
}

// The next value of an option that may be repeated.
const char *cli_next(const cli_args *args, const char *name, int *cursor)
{
    while (*cursor < args->given_count) {
        const cli_given *g = &args->given[(*cursor)++];
        if (strcmp(g->option->name, name) == 0) {
            return g->value ? g->value : "";
        }
    }

    return NULL;
}

// The last one wins.
const char *cli_value(const cli_args *args, const char *name)
{
    const char *value = NULL;
    int cursor = 0;
    for (const char *v; (v = cli_next(args, name, &cursor));) {
        value = v;
    }
    return value;
}

int cli_flag_count(const cli_args *args, const char *name)
{
    int cursor = 0, count = 0;
    while (cli_next(args, name, &cursor)) {
        ++count;
    }
    return count;
}

bool cli_flag(const cli_args *args, const char *name)
{
    return cli_flag_count(args, name) > 0;
}

bool cli_number(const cli_args *args, const char *name, double *out)
{
    const char *text = cli_value(args, name);
    double value = *out;
    const bool good = !text || options_read(args, options_find(args->verb, name, strlen(name)), text, &value);

    *out = good ? value : *out;
    return good;
}

// A time limit in s, above 0.
bool cli_limit(const cli_args *args, const char *name, double *out)
{
    const cli_option row = {
        .name = name, .kind = CLI_VALUE_NUMBER, .dimension = PL_DIM_TIME, .low = -INFINITY, .high = 1e9};
    const char *text = cli_value(args, name);
    double limit = 1;

    if (text && !options_read(args, &row, text, &limit)) {
        return false;
    }

    if (!(limit > 0)) {
        cli_error(args, "--%s %s: there would be no time to compute", name, cli_value(args, name));
        cli_advice("for no limit leave it out");
        return false;
    }

    *out = cli_value(args, name) ? limit : *out;
    return true;
}

bool cli_whole(const cli_args *args, const char *name, int *out)
{
    double value = *out;
    const bool good = cli_number(args, name, &value);

    *out = (int)value;
    return good;
}
