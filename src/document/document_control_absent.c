// In place of the readers of `controller`, `estimator` and `plant` in a build without control
// (-DPLIANT_CONTROL=OFF): the blocks are left alone.
#include "document/document_control.h"

void doc_read_control(doc_robot_file *f, const doc_node *root)
{
    (void)f;
    (void)root;
}
