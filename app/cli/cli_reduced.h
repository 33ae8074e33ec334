// The verbs' side of reduced robots: fk, sweep, jacobian, info and doctor ask cli_is_reduced first.
#ifndef PL_CLI_REDUCED_H
#define PL_CLI_REDUCED_H

#include "cli.h"

bool cli_is_reduced(const char *given); // the robot file has a `model:` block
int cli_reduced_fk(cli_args *args);
int cli_reduced_sweep(cli_args *args);
int cli_reduced_jacobian(cli_args *args);
int cli_reduced_info(cli_args *args);
int cli_reduced_compare(cli_args *args); // several robots, or one that is reduced
int cli_reduced_doctor(cli_args *args);

// Opens the model part of `m` (cli_model_open does the rest).
int cli_reduced_open(const cli_args *args, const char *given, cli_model *m);
// What the verbs begin with: settings, options that make no sense here, outputs, the model.
int cli_reduced_begin(const cli_args *args, const char *const *extensions, cli_model *m);
int cli_reduced_solve(const cli_args *args, cli_model *m);
json_t *cli_reduced_json(cli_model *m); // the record of `fk`
// The shape as a tube: .vtu .pvd .stl .png .svg
pl_status cli_reduced_write(const cli_args *args, cli_model *m, const char *path, pl_error *err);

#endif
