// Help made from the tables of the verbs: text, manual pages (roff), JSON; and the pages of the outcomes.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

// ---- text
// Options in two columns; the help of one that is too long for the first column begins on the next line.
static void help_options(const cli_option *table)
{
    for (const cli_option *o = table; o->name; ++o) {
        char left[64];
        const char brief[] = {'-', o->short_name, ',', ' ', 0};
        snprintf(left, sizeof left, "%s--%s%s%s", o->short_name ? brief : "", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-26s%s%s\n", left, strlen(left) > 25 ? "\n                            " : "", o->help);
    }
}

void cli_help(const cli_verb *verb)
{
    printf("pliant %s: %s\n\nusage: pliant %s %s\n\n%s\n\noptions:\n", verb->name, verb->summary, verb->name,
           verb->usage, verb->about);
    help_options(verb->option);
    help_options(cli_common);
    printf("\nexamples:\n%s", verb->examples);
}

// ---- manual pages
// Text in roff: what begins a line with . or ' would be a request, a bare - would become a hyphen, and
// \ begins an escape. `fill`: line breaks within the text are blanks.
static void man_text(const char *text, bool fill)
{
    bool line_begins = true;
    for (const char *c = text; *c; ++c) {
        if (line_begins && (*c == '.' || *c == '\'')) {
            fputs("\\&", stdout);
        }
        line_begins = *c == '\n';
        if (*c == '\\') {
            fputs("\\e", stdout);
        } else if (*c == '-') {
            fputs("\\-", stdout);
        } else if (*c == '\n' && fill) {
            putchar(c[1] == '\n' || !c[1] ? '\n' : ' ');
            line_begins = false;
        } else {
            putchar(*c);
        }
    }
}

// One paragraph of roff.
static void man_line(const char *text)
{
    man_text(text, true);
    putchar('\n');
}

// The title and the NAME section, from which `apropos` and `whatis` take their line.
static void man_head(const char *name, const char *summary)
{
    char capitals[64];
    size_t n = 0;

    for (; name[n] && n + 1 < sizeof capitals; ++n) {
        capitals[n] = (char)toupper((unsigned char)name[n]);
    }
    capitals[n] = 0;
    printf(".TH \"%s\" 1 \"\" \"pliant %s\" \"User Commands\"\n.SH NAME\n", capitals, pl_version());
    man_text(name, true);
    fputs(" \\- ", stdout);
    man_line(summary);
}

// Options as a list of tagged paragraphs: names bold, values in italics.
static void man_options(const cli_option *table)
{
    for (const cli_option *o = table; o->name; ++o) {
        fputs(".TP\n", stdout);
        if (o->short_name) {
            printf("\\fB\\-%c\\fR, ", o->short_name);
        }
        fputs("\\fB\\-\\-", stdout);
        man_text(o->name, true);
        fputs("\\fR", stdout);

        if (o->value) {
            fputs(" \\fI", stdout);
            man_text(o->value, true);
            fputs("\\fR", stdout);
        }

        putchar('\n');
        man_line(o->help);
    }
}

static const char man_status[] =
    ".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\nnot solved, target not reached, defects found, or "
    "interrupted\n.TP\n.B 2\nwrong input\n.TP\n.B 3\nsystem failure: memory, a file that cannot be opened or "
    "written\n";

// The page of the program: its verbs, the options of all, the outcomes, the exit status.
static void man_program(void)
{
    man_head("pliant", "kinematics of soft robots");
    fputs(
        ".SH SYNOPSIS\n.B pliant\n.I VERB\n[\\fIarguments\\fR] [\\fIoptions\\fR]\n.SH DESCRIPTION\n"
        "Computes the shape of a soft robot at given pressures and tendon lengths, its forces, the exact\n"
        "derivatives of both, and the commands that bring a marker to a target. A robot is a commented\n"
        "YAML file; its numbers may have units and be expressions of parameters. \\fB\\-\\fR in place of a\n"
        "robot file reads standard input.\n.SH VERBS\n",
        stdout);
    for (int i = 0; cli_verbs[i]; ++i) {
        printf(".TP\n.BR pliant\\-%s (1)\n", cli_verbs[i]->name);
        man_line(cli_verbs[i]->summary);
    }

    fputs(".SH OPTIONS OF EVERY VERB\n", stdout);
    man_options(cli_common);
    fputs(".SH OUTCOMES\n\\fBpliant help\\fR \\fIOUTCOME\\fR says what an outcome means and what to try:\n",
          stdout);
    for (int i = 0; cli_topics[i].name; ++i) {
        printf("%s%s", i ? ", " : "", cli_topics[i].name);
    }
    fputs(
        ".\n.SH EXAMPLES\n.nf\npliant new bending_finger f\npliant fk f \\-\\-set air=20kPa \\-\\-out f.png\n"
        "pliant ik f \\-\\-target 90,0,\\-30\n.fi\n",
        stdout);
    fputs(man_status, stdout);
}

// The manual page of a verb; of the whole program for NULL.
void cli_help_man(const cli_verb *verb)
{
    if (!verb) {
        man_program();
        return;
    }

    char name[64];
    snprintf(name, sizeof name, "pliant-%s", verb->name);
    man_head(name, verb->summary);
    printf(".SH SYNOPSIS\n.B pliant %s\n", verb->name);
    man_line(verb->usage);
    fputs(".SH DESCRIPTION\n", stdout);
    man_line(verb->about);
    fputs(".SH OPTIONS\n", stdout);
    man_options(verb->option);
    man_options(cli_common);
    fputs(".SH EXAMPLES\n.nf\n", stdout);
    man_text(verb->examples, false);
    fputs(".fi\n", stdout);
    fputs(man_status, stdout);
    fputs(".SH SEE ALSO\n.BR pliant (1)\n", stdout);
}

// ---- JSON
// Options as JSON, for programs that show them. The caller owns the array.
static json_t *help_options_json(const cli_option *table)
{
    json_t *list = json_array();
    for (const cli_option *o = table; o->name; ++o) {
        const char brief[] = {o->short_name, 0};
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(o->name));
        json_object_set_new(one, "short", o->short_name ? json_string(brief) : json_null());
        json_object_set_new(one, "value", o->value ? json_string(o->value) : json_null());
        json_object_set_new(one, "help", json_string(o->help));
        json_object_set_new(one, "choices", o->choices ? json_string(o->choices) : json_null());
        if (o->kind != CLI_VALUE_TEXT) {
            json_object_set_new(one, "low", cli_json_number(o->low));
            json_object_set_new(one, "high", cli_json_number(o->high));
        }
        json_array_append_new(list, one);
    }

    return list;
}

// All verbs, the common options and the names of the outcomes. The caller owns the object.
json_t *cli_help_json(void)
{
    json_t *root = cli_json_head(0, NULL), *verbs = json_array(), *outcomes = json_array();
    for (int i = 0; cli_verbs[i]; ++i) {
        const cli_verb *v = cli_verbs[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(v->name));
        json_object_set_new(one, "summary", json_string(v->summary));
        json_object_set_new(one, "usage", json_string(v->usage));
        json_object_set_new(one, "about", json_string(v->about));
        json_object_set_new(one, "examples", json_string(v->examples));
        json_object_set_new(one, "options", help_options_json(v->option));
        json_array_append_new(verbs, one);
    }

    for (int i = 0; cli_topics[i].name; ++i) {
        json_array_append_new(outcomes, json_string(cli_topics[i].name));
    }
    json_object_set_new(root, "verbs", verbs);
    json_object_set_new(root, "common", help_options_json(cli_common));
    json_object_set_new(root, "outcomes", outcomes);

    return root;
}

// ---- outcomes
// The page of an outcome; its name may be written with blanks or hyphens instead of underscores, as messages
// print it. NULL for an unknown one.
const cli_topic *cli_topic_find(const char *name)
{
    for (const cli_topic *t = cli_topics; t->name; ++t) {
        const char *p = t->name, *q = name;
        while (*p && (*p == *q || (*p == '_' && (*q == ' ' || *q == '-')))) {
            ++p;
            ++q;
        }

        if (!*p && !*q) {
            return t;
        }
    }

    return NULL;
}

// Refers to the page of an outcome, if there is one.
void cli_outcome_advice(const char *outcome)
{
    const cli_topic *topic = cli_topic_find(outcome);
    if (topic) {
        cli_advice("`pliant help %s`: what it means, causes, what to try", topic->name);
    }
}
