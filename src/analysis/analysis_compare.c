// Comparisons of methods with the options of a robot file.
#include "document/document.h"
#include "kinematics/kinematics.h"
#include "pliant/analysis.h"

pl_status pl_compare_methods(const pl_robot_document *document, const pl_robot *robot,
                             const pl_compare_def *def, pl_comparison *out, pl_error *err)
{
    pl_statics_options statics;
    pl_geometric_options geometric;
    pl_method ignored; // all methods of the def are compared, whichever the document prefers
    *out = (pl_comparison){0};

    const pl_status status = pl_robot_document_options(document, &statics, &ignored, &geometric, err);
    statics.progress = geometric.progress = def->progress;

    return status == PL_OK ? pl_compare_solve(robot, def, &statics, &geometric, out, err) : status;
}
