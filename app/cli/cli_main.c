// The program `pliant`: finds the verb, hands over, and makes sure that what was printed has arrived.
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "cli.h"

const cli_verb *const cli_verbs[] = {
    // clang-format off: one line per verb, so that additions do not collide
    &cli_verb_new,       &cli_verb_info,      &cli_verb_doctor,     &cli_verb_mesh,   &cli_verb_materials,
    &cli_verb_calibrate, &cli_verb_track,     &cli_verb_fk,         &cli_verb_sweep,  &cli_verb_jacobian,
    &cli_verb_compare,   &cli_verb_simulate,  &cli_verb_modes,      &cli_verb_reduce, &cli_verb_ik,
    &cli_verb_follow,    &cli_verb_workspace, &cli_verb_task,       &cli_verb_study,  &cli_verb_estimate,
    &cli_verb_run,       &cli_verb_plant,     &cli_verb_control,    &cli_verb_sample, &cli_verb_learn,
    &cli_verb_adapt,     &cli_verb_serve,     &cli_verb_completion, &cli_verb_shapes, NULL,
    // clang-format on
};

// NULL: no verb of that name.
static const cli_verb *main_find(const char *name)
{
    for (int i = 0; cli_verbs[i]; ++i) {
        if (strcmp(cli_verbs[i]->name, name) == 0) {
            return cli_verbs[i];
        }
    }

    return NULL;
}

static void main_usage(FILE *to)
{
    fputs("Pliant computes the kinematics of soft robots: shapes, forces and their exact derivatives.\n\n"
          "usage: pliant VERB [arguments] [options]\n\n",
          to);
    for (int i = 0; cli_verbs[i]; ++i) {
        fprintf(to, "  %-12s%s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    }
    fputs(
        "  help        this page; `pliant help VERB` or `pliant VERB --help` for one verb;\n"
        "              `pliant help OUTCOME` (limit_point, inverted ...) says what to try;\n"
        "              `pliant help --man [VERB]` prints manual pages, `pliant help --json -` the tables\n\n"
        "A first try:\n"
        "  pliant new bending_finger finger\n"
        "  pliant fk finger --set air=30kPa --out finger.png\n\n"
        "Exit status: 0 success, 1 not solved or defects found, 2 wrong input, 3 system failure.\n",
        to);
}

// An unknown word with the nearest known one; `topics`: pages of `help` count, too.
static int main_unknown(const char *name, bool topics)
{
    if (name[0] == '-' && !topics) {
        fprintf(stderr,
                "pliant: error: expected a verb, found the option '%s'\n    `pliant help` lists the verbs\n",
                name);
        return CLI_EXIT_USAGE;
    }

    const char *known[96];
    int count = 0;

    for (; cli_verbs[count]; ++count) {
        known[count] = cli_verbs[count]->name;
    }
    known[count++] = "help";
    for (int i = 0; topics && cli_topics[i].name; ++i) {
        known[count++] = cli_topics[i].name;
    }

    const char *near = cli_nearest(name, known, count);
    fprintf(stderr, "pliant: error: there is no verb%s '%s'", topics ? " or outcome" : "", name);
    if (near) {
        fprintf(stderr, "; did you mean '%s'?", near);
    }
    fputs(topics ? "\n    pages are" : "\n    verbs are", stderr);
    for (int i = 0; i < count; ++i) {
        fprintf(stderr, "%s %s", i ? "," : "", known[i]);
    }
    fputc('\n', stderr);

    return CLI_EXIT_USAGE;
}

// `pliant help --man [VERB]`
static int main_help_man(const char *name)
{
    const cli_verb *verb = name ? main_find(name) : NULL;
    if (name && !verb) {
        return main_unknown(name, false);
    }
    cli_help_man(verb);
    return CLI_DONE;
}

// `pliant help`: all verbs, one of them, an outcome, or the tables behind them.
static int main_help(int argc, char **argv)
{
    if (argc < 3) {
        main_usage(stdout);
        return CLI_DONE;
    }

    if (strcmp(argv[2], "--man") == 0) {
        return main_help_man(argc > 3 ? argv[3] : NULL);
    }

    if (strcmp(argv[2], "--json") == 0) {
        json_t *tables = cli_help_json();
        char *text = json_dumps(tables, JSON_INDENT(2));
        json_decref(tables);
        puts(text ? text : "{}");
        free(text);
        return text ? CLI_DONE : CLI_EXIT_SYSTEM;
    }

    const cli_verb *verb = main_find(argv[2]);
    const cli_topic *topic = verb ? NULL : cli_topic_find(argv[2]);
    if (verb) {
        cli_help(verb);
    } else if (topic) {
        fputs(topic->text, stdout);
    }

    return verb || topic ? CLI_DONE : main_unknown(argv[2], true);
}

// Where --json leads, also on a command line that cannot be understood: NULL, nowhere.
static const char *main_json_path(int argc, char **argv)
{
    const char *path = NULL;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strncmp(argv[i], "--json=", 7) == 0) {
            path = argv[i] + 7;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            path = argv[++i];
        }
    }

    return path;
}

// Help wins over everything else on the line, so that it works on a line that is not finished.
static int main_run(const cli_verb *verb, int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            cli_help(verb);
            return CLI_DONE;
        }
    }

    // parse and run
    cli_args args = {0};
    int status = CLI_EXIT_USAGE;
    cli_interrupt_words(verb->name,
                        verb->stopping ? verb->stopping : "stopping, keeping the last equilibrium");
    const bool parsed = cli_parse(verb, argc - 2, argv + 2, &args);
    if (parsed) {
        status = verb->run(&args);
        cli_stages_report(verb->name);
    }

    // a result that lacks memory somewhere must not look complete
    cli_progress_done();
    if (cli_memory_missed() && verb != &cli_verb_serve) {
        if (status == CLI_DONE) {
            fprintf(stderr, "pliant %s: error: out of memory: the result is not complete\n", verb->name);
        }
        status = CLI_EXIT_SYSTEM;
    }

    // a file that is an input of the robot must not be replaced by the record of an error
    const char *json = main_json_path(argc, argv);
    const bool safe =
        json && (strcmp(json, "-") == 0 || !cli_exists(json) || strcmp(cli_extension(json), ".json") == 0);
    cli_json_error(safe ? json : NULL, verb->name, status);
    cli_args_clear(&args);
    cli_input_clear();

    return status;
}

// OpenBLAS starts threads of its own while the program is loaded, each of which takes 128 MB of address space
// and asks for it for ever where a limit forbids it; then the program cannot even end. With a limit the
// program is started once more, without them: it has no use for them.
static void main_meet_limits(char **argv)
{
    struct rlimit space, data;
    if (getenv("OPENBLAS_NUM_THREADS") || getrlimit(RLIMIT_AS, &space) != 0 ||
        getrlimit(RLIMIT_DATA, &data) != 0 ||
        (space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY)) {
        return;
    }

    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0) {
        execv("/proc/self/exe", argv); // comes back only where it fails: go on as we are
    }
}

int main(int argc, char **argv)
{
    // before anything that may take long
    cli_interrupt_install();
    main_meet_limits(argv);
    cli_memory_install();
    int status = CLI_DONE;
    if (argc < 2) {
        main_usage(stderr);
        return CLI_EXIT_USAGE;
    }

    if (strcmp(argv[1], "--version") == 0) {
        printf("pliant %s\n", pl_version());
    } else if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        status = main_help(argc, argv);
    } else {
        const cli_verb *verb = main_find(argv[1]);
        status = verb ? main_run(verb, argc, argv) : main_unknown(argv[1], false);
    }

    // a full disk or a closed pipe must not look like success
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("pliant: error: standard output cannot be written\n", stderr);
        return CLI_EXIT_SYSTEM;
    }

    return status;
}
