// Which method solves: --method, or the robot file's `solver:` block.
#include <string.h>
#include "cli.h"

// Verbs that can be asked for another method than the exact one.
static bool method_verb(const cli_args *args)
{
    return args->verb == &cli_verb_fk || args->verb == &cli_verb_sweep;
}

int cli_method_read(const cli_args *args, const cli_robot *r, bool *exact, pl_geometric_options *options)
{
    const char *method = cli_value(args, "method");
    pl_error err = {0};
    *exact = pl_robot_file_method(r->path, options, &err) == PL_METHOD_EXACT;
    if (err.status != PL_OK) {
        return cli_fail(args, &err);
    }
    if (method && strcmp(method, "exact") == 0) {
        *exact = true;
        return CLI_DONE;
    }
    if (!method_verb(args)) {
        if (method) {
            cli_error(args, "--method %s: expected exact", method);
            return CLI_WRONG;
        }
        if (!*exact) {
            pl_findings_add(r->findings, PL_WARNING, r->path, 0,
                            "solver: the file asks for local_global, which has no derivatives: the exact "
                            "method answers here");
            cli_say(args, "note: the file asks for local_global, which has no derivatives: the exact method "
                          "answers here\n");
        }
        *exact = true;
        return CLI_DONE;
    }
    if (method && strcmp(method, "local_global") == 0) {
        *exact = false; // with the file's own options, when it has any
    } else if (method && pl_geometric_preset(method, options, &err) == PL_OK) {
        *exact = false;
    } else if (method) {
        cli_error(args, "--method %s: expected exact, local_global or fang2020", method);
        return CLI_WRONG;
    }
    return CLI_DONE;
}

bool cli_method_fills(const cli_args *args, const char *path)
{
    if (args->verb == &cli_verb_compare) {
        return true;
    }
    const char *method = cli_value(args, "method");
    if (!method_verb(args) || (method && strcmp(method, "exact") == 0)) {
        return false;
    }
    // only growth needs the air: other meshes stay those of the exact method
    pl_geometric_options options;
    pl_error err;
    const bool file = pl_robot_file_method(path, &options, &err) == PL_METHOD_LOCAL_GLOBAL;
    return (method && strcmp(method, "fang2020") == 0) ||
           ((method || file) && options.actuation != PL_ACTUATE_CONSTRAINT);
}
