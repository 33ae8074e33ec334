// Inside document: a robot document, its tree and how a robot file is read from it.
#ifndef PL_DOCUMENT_TREE_H
#define PL_DOCUMENT_TREE_H

#include "document/document_reader.h"

// A parsed file. The tree lives in the arena of `source`.
struct pl_robot_document {
    doc_robot_file source; // path, folder, arena of the tree, and the findings of the parser
    char *text;            // as it was read
    size_t length;
    doc_node *root; // NULL: the text has no tree, and the findings say why
    pl_robot_kind kind;
};

// Whether the document has a tree to look into; `err` says why not.
pl_status doc_tree(const pl_robot_document *document, pl_error *err);

// The entry at `key`; NULL: none.
doc_node *doc_find(const pl_robot_document *document, const char *key);

// The fingerprint of a robot file; 0 if it cannot be read.
pl_status doc_fingerprint_file(const char *path, uint64_t *out, pl_error *err);

// Reads everything that needs no mesh from a document; defects are in f->findings. Always leaves `f` ready
// for doc_robot_file_clear. The document must outlive `f`.
void doc_robot_file_read(doc_robot_file *f, const pl_robot_document *document);

// Options of statics from a `solver:` block.
void doc_solver_options(const doc_solver *solver, pl_statics_options *options);

// Builds the robot of a file without a defect; reports as pl_robot_from_document.
pl_status doc_robot_file_build(doc_robot_file *f, const pl_load_options *options, pl_robot **out,
                               pl_findings *findings, pl_error *err);

#endif
