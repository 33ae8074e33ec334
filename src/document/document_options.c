// Options of solvers from a robot file: its `solver:` block over the defaults.
#include "document/document_tree.h"

// Keys that were given win over the defaults.
void doc_solver_options(const doc_solver *s, pl_statics_options *o)
{
    o->force_tolerance = s->has_force_tolerance ? s->force_tolerance : o->force_tolerance;
    o->length_tolerance = s->has_length_tolerance ? s->length_tolerance : o->length_tolerance;
    o->iteration_limit = s->has_iteration_limit ? s->iteration_limit : o->iteration_limit;
    o->increment_limit = s->has_increment_limit ? s->increment_limit : o->increment_limit;
    o->time_limit = s->has_time_limit ? s->time_limit : o->time_limit;
    o->linear_solver = s->has_linear_solver ? s->linear_solver : o->linear_solver;
    o->displacement = s->has_displacement ? s->displacement : o->displacement;
    o->warp = s->has_warp ? s->warp : o->warp;
    o->distribution = s->joint ? PL_RATIOS_JOINT : o->distribution;
}

// Reads the whole file, because defects elsewhere make the options doubtful, too.
pl_status pl_robot_document_options(const pl_robot_document *document, pl_statics_options *statics,
                                    pl_method *method, pl_geometric_options *geometric, pl_error *err)
{
    *statics = pl_statics_options_default();
    *geometric = pl_geometric_options_default();
    *method = PL_METHOD_EXACT;
    doc_robot_file f;
    doc_robot_file_read(&f, document);
    const pl_status status = doc_robot_file_report(&f, PL_OK, NULL, err);
    if (status == PL_OK) {
        doc_solver_options(&f.solver, statics);
        *method = f.solver.method;
        *geometric = *method == PL_METHOD_EXACT ? *geometric : f.solver.geometric;
    }

    doc_robot_file_clear(&f);

    return status;
}

bool pl_method_exists(const char *name)
{
    pl_geometric_options preset;
    return strcmp(name, "exact") == 0 || strcmp(name, "local_global") == 0 ||
           pl_geometric_preset(name, &preset, NULL) == PL_OK;
}
