// pliant new without arguments, on a terminal: asks what to make, and runs the command line that follows from
// the answers. The command line is shown, so that the next robot needs no questions.
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "cli_guess.h"

#define ASK_WORDS 96 // of the command line
#define ASK_TRIES 5  // of one question

// The command line that follows from the answers.
typedef struct asker {
    char *word[ASK_WORDS]; // the command line after `pliant new`
    int count;
    bool ended; // standard input has ended, or memory has run out
} asker;

static void ask_add(asker *a, const char *format, ...) PL_PRINTF(2, 3);

// After too many words nothing is run.
static void ask_add(asker *a, const char *format, ...)
{
    char text[1200];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    char *copy = a->count < ASK_WORDS ? malloc(strlen(text) + 1) : NULL;
    if (copy) {
        a->word[a->count++] = strcpy(copy, text);
    } else {
        a->ended = true;
    }
}

// One line from the terminal without blanks at its ends. Enter alone takes `otherwise`.
static const char *ask_line(asker *a, char *line, size_t size, const char *question, const char *otherwise)
{
    printf("%s%s%s%s ", question, otherwise[0] ? " [" : "", otherwise, otherwise[0] ? "]:" : ":");
    fflush(stdout);
    if (a->ended || !fgets(line, (int)size, stdin)) {
        a->ended = true;
        putchar('\n');
        return otherwise;
    }

    line[strcspn(line, "\r\n")] = 0;
    char *begin = line;
    while (isspace((unsigned char)*begin)) {
        ++begin;
    }
    for (size_t n = strlen(begin); n > 0 && isspace((unsigned char)begin[n - 1]);) {
        begin[--n] = 0;
    }

    return *begin ? begin : otherwise;
}

// ---- a design
// Full designs, then reduced ones.
static const char *ask_design_name(int i)
{
    const int full = pl_design_count();
    return i < full ? pl_design_at(i)->kind : pl_reduced_design_at(i - full)->kind;
}

// Index of a design, by number or name.
static int ask_design(asker *a)
{
    const int full = pl_design_count(), count = full + pl_reduced_design_count();
    for (int i = 0; i < count; ++i) {
        printf("  %2d  %-16s %s\n", i + 1, ask_design_name(i),
               i < full ? pl_design_at(i)->summary : pl_reduced_design_at(i - full)->summary);
    }

    char line[200];
    for (int tries = 0; tries < ASK_TRIES && !a->ended; ++tries) {
        const char *answer = ask_line(a, line, sizeof line, "which one (number or name)", "1");
        const int number = atoi(answer);

        for (int i = 0; i < count; ++i) {
            if (number == i + 1 || strcmp(answer, ask_design_name(i)) == 0) {
                return i;
            }
        }

        printf("  there is no design '%s': a number from 1 to %d, or a name\n", answer, count);
    }

    a->ended = true;

    return 0;
}

// Only dimensions that were changed become options.
static void ask_parameters(asker *a, const pl_design *d)
{
    char line[200], question[300], otherwise[60];
    if (tolower((unsigned char)ask_line(a, line, sizeof line, "change its dimensions (y/n)", "n")[0]) !=
        'y') {
        return;
    }

    for (int k = 0; k < d->parameter_count && !a->ended; ++k) {
        const pl_design_parameter *p = &d->parameter[k];
        snprintf(question, sizeof question, "  %s, %s (%g to %g)", p->name, p->help, p->low, p->high);
        snprintf(otherwise, sizeof otherwise, "%g%s%s", p->value, p->unit[0] ? " " : "", p->unit);

        for (int tries = 0; tries < ASK_TRIES && !a->ended; ++tries) {
            const char *answer = ask_line(a, line, sizeof line, question, otherwise);
            const pl_dimension dimension = strcmp(p->unit, "mm") == 0 ? PL_DIM_LENGTH : PL_DIM_NUMBER;
            double value = p->value;
            pl_error err = {0};
            if (answer == otherwise) {
                break;
            }
            if (pl_quantity_parse(answer, dimension, &value, &err) == PL_OK && value >= p->low &&
                value <= p->high) {
                ask_add(a, "--param");
                ask_add(a, "%s=%.10g", p->name, value);
                break;
            }

            printf("    expected between %g and %g %s\n", p->low, p->high, p->unit);
        }
    }
}

// ---- your own part
static bool ask_is_surface(const char *path)
{
    return strcasecmp(cli_extension(path), ".stl") == 0 || strcasecmp(cli_extension(path), ".obj") == 0;
}

// A file that exists, its unit where it has none, a material.
static void ask_part(asker *a, char *file, size_t size)
{
    char line[1000];
    const char *path = "";

    for (int tries = 0; tries < ASK_TRIES && !a->ended && !path[0]; ++tries) {
        path = ask_line(a, line, sizeof line, "file (.stl .obj .step .stp .msh .vtu .inp)", "");
        if (path[0] && !cli_exists(path)) {
            printf("  %s: there is no such file here\n", path);
            path = "";
        }
    }

    a->ended = a->ended || !path[0];
    snprintf(file, size, "%s", path);
    ask_add(a, "--from");
    ask_add(a, "%s", path);

    if (ask_is_surface(file) && !a->ended) {
        const char *unit = ask_line(a, line, sizeof line, "the unit of its numbers: mm, cm, m or in", "mm");
        ask_add(a, "--unit");
        ask_add(a, "%s", unit);
    }

    if (!a->ended) {
        puts("  `pliant materials` lists all; soft silicones: ecoflex_00_30, dragon_skin_10_medium, "
             "dragon_skin_20,\n  dragon_skin_30; printed: tpu_95a, ninjaflex, agilus30");
        const char *material = ask_line(a, line, sizeof line, "material", "dragon_skin_20");
        ask_add(a, "--material");
        ask_add(a, "%s", material);
    }
}

// A folder without a robot.
static void ask_folder(asker *a, const char *proposed)
{
    char line[1000];
    for (int tries = 0; tries < ASK_TRIES && !a->ended; ++tries) {
        const char *folder = ask_line(a, line, sizeof line, "folder to write to", proposed);
        char *robot = cli_join(folder, "robot.yaml");
        const bool taken = robot && cli_exists(robot);
        free(robot);
        if (!taken) {
            ask_add(a, "%s", folder);
            return;
        }

        printf("  %s has a robot.yaml already\n", folder);
        proposed = "";
    }

    a->ended = true;
}

// The name of a file without its folder and extension.
static void ask_stem(const char *path, char *stem, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(stem, size, "%.*s", (int)size - 1, slash ? slash + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot) {
        *dot = 0;
    }
}

bool cli_ask_possible(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

// Runs `pliant new` with the words that were collected.
static int ask_run(asker *a, int (*run)(cli_args *))
{
    fputs("\n  pliant new", stdout);
    for (int i = 0; i < a->count; ++i) {
        printf(strpbrk(a->word[i], " '\"$&;|*?") ? " '%s'" : " %s", a->word[i]);
    }
    fputs("\n\n", stdout);
    cli_args args = {0};
    const int status = cli_parse(&cli_verb_new, a->count, a->word, &args) ? run(&args) : CLI_EXIT_USAGE;
    cli_args_clear(&args);
    return status;
}

int cli_ask_new(const cli_args *args, int (*run)(cli_args *))
{
    asker a = {0};
    char line[200], stem[200];

    puts(
        "A robot is a folder with a text file, robot.yaml. Enter takes the answer in brackets, Ctrl-C ends.\n"
        "   1  one of the designs, with your dimensions\n"
        "   2  your own part, from a CAD or mesh file");
    if (ask_line(&a, line, sizeof line, "start from", "1")[0] == '2') {
        char file[1000];
        ask_part(&a, file, sizeof file);
        ask_stem(file, stem, sizeof stem);
    } else {
        const int i = ask_design(&a);
        ask_add(&a, "%s", ask_design_name(i));
        snprintf(stem, sizeof stem, "%s", ask_design_name(i));
        if (i < pl_design_count()) {
            ask_parameters(&a, pl_design_at(i));
        }
    }

    ask_folder(&a, stem);
    int status = CLI_EXIT_USAGE;
    if (a.ended) {
        cli_error(args, "no answer: nothing was written");
    } else {
        status = ask_run(&a, run);
    }

    for (int i = 0; i < a.count; ++i) {
        free(a.word[i]);
    }

    return status;
}
