// pliant completion: prints the completion script of a shell, made from the tables that the parser reads.
#include <string.h>
#include "cli.h"

static const cli_option options[] = {
    {"json", 0, "FILE", "write errors as JSON to FILE; - for standard output", NULL},
    {0},
};

// Whether the shell should offer files as the value of an option.
static bool completion_is_file(const cli_option *o)
{
    return o->value && strncmp(o->value, "FILE", 4) == 0;
}

// The words that a verb takes as plain arguments, besides files; separated by blanks.
static void completion_words(const char *verb)
{
    const char *blank = "";
    if (strcmp(verb, "new") == 0) {
        for (int i = 0; i < pl_design_count(); ++i, blank = " ") {
            printf("%s%s", blank, pl_design_at(i)->kind);
        }
    } else if (strcmp(verb, "materials") == 0) {
        for (int i = 0; i < pl_material_library_count(); ++i, blank = " ") {
            printf("%s%s", blank, pl_material_library_at(i)->name);
        }
    } else if (strcmp(verb, "calibrate") == 0) {
        fputs("tensile ratio syringe poses", stdout);
    } else if (strcmp(verb, "control") == 0) {
        fputs("check", stdout);
    } else if (strcmp(verb, "completion") == 0) {
        fputs("bash zsh fish", stdout);
    }
}

// What `pliant help` takes.
static void completion_topics(void)
{
    for (int i = 0; cli_verbs[i]; ++i) {
        printf("%s ", cli_verbs[i]->name);
    }
    for (int i = 0; cli_topics[i].name; ++i) {
        printf("%s ", cli_topics[i].name);
    }
}

// ---- bash
// What comes after an option that takes a value.
static void bash_options(const cli_option *table)
{
    for (const cli_option *o = table; o->name; ++o) {
        if (o->choices) {
            printf("        --%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n", o->name,
                   o->choices);
        } else if (completion_is_file(o)) {
            printf("        --%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", o->name);
        } else if (o->value) {
            printf("        --%s) return ;;\n", o->name);
        }
    }
}

// One verb: its options and its words.
static void bash_verb(const cli_verb *verb)
{
    printf("    %s)\n        case \"$prev\" in\n", verb->name);
    bash_options(verb->option);
    printf("        esac\n        options=\"");
    for (const cli_option *o = verb->option; o->name; ++o) {
        printf("--%s ", o->name);
    }
    for (const cli_option *o = cli_common; o->name; ++o) {
        printf("--%s ", o->name);
    }
    printf("\"\n        words=\"");
    completion_words(verb->name);
    printf("\"\n        ;;\n");
}

// A function that looks at the verb and the word before the cursor.
static void completion_bash(void)
{
    printf("# bash completion for pliant %s; written by `pliant completion bash`\n_pliant() {\n",
           pl_version());
    printf("    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
           "    local options= words=\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        COMPREPLY=($(compgen -W \"");
    for (int i = 0; cli_verbs[i]; ++i) {
        printf("%s ", cli_verbs[i]->name);
    }
    printf("help --version\" -- \"$cur\"))\n        return\n    fi\n    case \"$verb\" in\n");
    for (int i = 0; cli_verbs[i]; ++i) {
        bash_verb(cli_verbs[i]);
    }
    printf("    help) COMPREPLY=($(compgen -W \"");
    completion_topics();
    printf("\" -- \"$cur\")); return ;;\n    esac\n"
           "    if [[ $cur == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _pliant pliant\n");
}

// ---- zsh and fish show the help beside each word
// Text within single quotes; of several lines the first. `zsh`: its brackets and colons separate the fields
// of a specification.
static void quoted(const char *text, bool zsh)
{
    for (const char *c = text; *c && *c != '\n'; ++c) {
        if (*c == '\'') {
            fputs(zsh ? "'\\''" : "\\'", stdout);
        } else if (zsh && strchr("[]:", *c)) {
            printf("\\%c", *c);
        } else if (*c == '\\') {
            fputs("\\\\", stdout);
        } else {
            putchar(*c);
        }
    }
}

// Options as specifications of _arguments: '*--name[help]:value:action'.
static void zsh_options(const cli_option *table)
{
    for (const cli_option *o = table; o->name; ++o) {
        printf("        '*--%s[", o->name);
        quoted(o->help, true);
        putchar(']');

        if (o->value) {
            putchar(':');
            quoted(o->value, true);
            putchar(':');
            if (o->choices) {
                printf("(%s)", o->choices);
            } else if (completion_is_file(o)) {
                fputs("_files", stdout);
            }
        }

        printf("' \\\n");
    }
}

// A function for zsh, that works both as a file in $fpath and with eval.
static void completion_zsh(void)
{
    printf(
        "#compdef pliant\n# zsh completion for pliant %s; written by `pliant completion zsh`\n_pliant() {\n"
        "    local -a verbs\n    verbs=(\n",
        pl_version());
    for (int i = 0; cli_verbs[i]; ++i) {
        printf("        '%s:", cli_verbs[i]->name);
        quoted(cli_verbs[i]->summary, true);
        printf("'\n");
    }

    printf("        'help:a page about a verb or an outcome'\n    )\n"
           "    if ((CURRENT == 2)); then\n        _describe verb verbs\n        return\n    fi\n"
           "    local verb=$words[2]\n    shift words\n    ((CURRENT--))\n    case $verb in\n");
    for (int i = 0; cli_verbs[i]; ++i) {
        printf("    %s)\n        _arguments \\\n", cli_verbs[i]->name);
        zsh_options(cli_verbs[i]->option);
        zsh_options(cli_common);
        printf("        '*:argument:{ _alternative \"words:word:(");
        completion_words(cli_verbs[i]->name);
        printf(")\" \"files:file:_files\" }'\n        ;;\n");
    }

    printf("    help) compadd ");
    completion_topics();
    printf(";;\n    esac\n}\nif [ \"$funcstack[1]\" = _pliant ]; then _pliant \"$@\"; else compdef _pliant "
           "pliant; fi\n");
}

// One `complete` line per option.
static void fish_options(const char *verb, const cli_option *table)
{
    for (const cli_option *o = table; o->name; ++o) {
        printf("complete -c pliant -n '__fish_seen_subcommand_from %s' -l %s", verb, o->name);
        if (o->short_name) {
            printf(" -s %c", o->short_name);
        }
        if (o->choices) {
            printf(" -x -a '%s'", o->choices);
        } else if (o->value) {
            fputs(completion_is_file(o) ? " -r -F" : " -x", stdout);
        }
        fputs(" -d '", stdout);
        quoted(o->help, false);
        fputs("'\n", stdout);
    }
}

// Lines for fish, which has conditions instead of a function.
static void completion_fish(void)
{
    printf("# fish completion for pliant %s; written by `pliant completion fish`\n", pl_version());
    for (int i = 0; cli_verbs[i]; ++i) {
        const cli_verb *v = cli_verbs[i];
        printf("complete -c pliant -n __fish_use_subcommand -f -a %s -d '", v->name);
        quoted(v->summary, false);
        printf("'\n");
        fish_options(v->name, v->option);
        fish_options(v->name, cli_common);
        printf("complete -c pliant -n '__fish_seen_subcommand_from %s' -a '", v->name);
        completion_words(v->name);
        printf("'\n");
    }

    printf("complete -c pliant -n __fish_use_subcommand -f -a help -d 'a page about a verb or an outcome'\n"
           "complete -c pliant -n '__fish_seen_subcommand_from help' -f -a '");
    completion_topics();
    printf("'\n");
}

// Prints the script of the shell.
static int completion_run(cli_args *args)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shell[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

    for (int i = 0; i < 3; ++i) {
        if (strcmp(args->plain[0], shell[i].name) == 0) {
            shell[i].print();
            return CLI_DONE;
        }
    }

    cli_error(args, "no completion for '%s', expected bash, zsh or fish", args->plain[0]);
    return CLI_EXIT_USAGE;
}

const cli_verb cli_verb_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell: bash, zsh or fish",
    .usage = "bash|zsh|fish",
    .about = "Prints a script for Tab completion of verbs, options, designs, materials and outcomes.",
    .examples = "  eval \"$(pliant completion bash)\"                                   # in ~/.bashrc\n"
                "  eval \"$(pliant completion zsh)\"                                    # in ~/.zshrc, after "
                "compinit\n"
                "  pliant completion fish > ~/.config/fish/completions/pliant.fish\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = completion_run,
    .stopping = "stopping",
};
