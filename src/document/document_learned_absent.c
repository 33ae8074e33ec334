// In place of the reader of learned models in a build without learning (-DPLIANT_LEARNING=OFF).
#include "document/document_learned.h"

pl_status doc_learned_read(const pl_robot_document *document, pl_learned **out, pl_findings *findings,
                           pl_error *err)
{
    (void)findings;
    *out = NULL;
    return pl_fail(err, PL_BAD_INPUT, "%s: is a learned model, and this build has no learning",
                   document->source.path);
}
