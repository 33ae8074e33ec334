// pliant completion: prints the completion script for bash, made from the same tables the parser reads.
#include <string.h>
#include "cli.h"

static const cli_option options[] = {{0}};

static void completion_verb(const cli_verb *verb)
{
    printf("    %s)\n        case \"$prev\" in\n", verb->name);
    for (const cli_option *o = verb->option; o->name; ++o) {
        if (o->choices) {
            printf("        --%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n", o->name,
                   o->choices);
        } else if (o->value && strcmp(o->value, "FILE") == 0) {
            printf("        --%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", o->name);
        } else if (o->value) {
            printf("        --%s) return ;;\n", o->name);
        }
    }
    printf("        esac\n        options=\"--help");
    for (const cli_option *o = verb->option; o->name; ++o) {
        printf(" --%s", o->name);
    }
    printf("\"\n        ;;\n");
}

static void completion_plain(void)
{
    printf("    case \"$verb\" in\n    new) words=\"");
    for (int i = 0; i < pl_design_count(); ++i) {
        printf("%s%s", i ? " " : "", pl_design_at(i)->kind);
    }
    printf("\" ;;\n    materials) words=\"");
    for (int i = 0; i < pl_material_library_count(); ++i) {
        printf("%s%s", i ? " " : "", pl_material_library_at(i)->name);
    }
    printf("\" ;;\n    calibrate) words=tensile ;;\n    completion) words=bash ;;\n    esac\n");
}

static int completion_run(cli_args *args)
{
    if (strcmp(args->plain[0], "bash") != 0) {
        cli_error(args, "no completion for '%s', expected bash", args->plain[0]);
        return CLI_EXIT_USAGE;
    }
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
        completion_verb(cli_verbs[i]);
    }
    printf("    esac\n");
    completion_plain();
    printf("    if [[ $cur == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _pliant pliant\n");
    return CLI_DONE;
}

const cli_verb cli_verb_completion = {
    .name = "completion",
    .summary = "print the completion script for bash",
    .usage = "bash",
    .about = "Prints a script for Tab completion of verbs, options, designs and materials.",
    .examples = "  eval \"$(pliant completion bash)\"\n"
                "  pliant completion bash | sudo tee /etc/bash_completion.d/pliant\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = completion_run,
    .stopping = "stopping",
};
