// The record of a result as people, machines and spreadsheets read it: the tables, the JSON and the CSV of
// `fk`, for every kind of robot. Its text comes from the library.
#include <math.h>
#include <string.h>
#include "cli.h"

// Where the model stands; NULL when memory ran out.
static const pl_record *record_of(cli_model *m)
{
    const pl_record *record = NULL;
    pl_error err = {0};
    return pl_model_record(m->model, NULL, &record, &err) == PL_OK ? record : NULL;
}

// ---- for people
// Prints text whose tables have cells separated by tabs: these are aligned, other lines are printed as they
// are.
static void record_print_text(const cli_args *args, char *text)
{
    cli_table table = {0};
    char *line = text;

    for (char *end = strchr(line, '\n'); end; line = end + 1, end = strchr(line, '\n')) {
        *end = 0;
        if (strchr(line, '\t')) {
            cli_row(&table, "%s", line);
        } else {
            cli_table_print(args, &table);
            cli_say(args, "%s\n", line);
        }
    }

    cli_table_print(args, &table);
}

// One line that says where the robot stands, then the text of its record.
void cli_record_print(const cli_args *args, cli_model *m)
{
    const pl_record *r = record_of(m);
    char *text = r ? pl_record_text(r) : NULL;
    char commands[400];

    if (!text) {
        cli_no_memory(args);
        return;
    }

    const bool full = strcmp(m->info.kind, "full") == 0;
    cli_commands_text(cli_model_commands(m), pl_model_get_answer(m->model).command, commands,
                      sizeof commands);
    cli_say(args, "%s%s%s%s at %s: %s\n", m->info.name, full ? "" : " (", full ? "" : m->info.kind,
            full ? "" : ")", commands, pl_outcome_name(pl_model_get_report(m->model).outcome));
    record_print_text(args, text);
    pl_file_free(text);
}

// ---- for machines and spreadsheets
json_t *cli_record_json(cli_model *m)
{
    const pl_record *r = record_of(m);
    char *text = r ? pl_record_json(r, m->findings) : NULL;
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    pl_file_free(text);
    return root;
}

char *cli_record_csv_head(cli_model *m)
{
    const pl_record *r = record_of(m);
    return r ? pl_record_csv_head(r) : NULL;
}

char *cli_record_csv_row(cli_model *m)
{
    const pl_record *r = record_of(m);
    return r ? pl_record_csv_row(r) : NULL;
}
