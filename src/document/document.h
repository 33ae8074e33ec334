// For the rooms right of document and for tests: checks and fingerprints of documents, options of the solvers
// as the `solver:` block gives them, robots without a model around them.
#ifndef PL_DOCUMENT_ROOM_H
#define PL_DOCUMENT_ROOM_H

#include "geometric/geometric.h"
#include "pliant/document.h"
#include "statics/statics.h"

// Reports every defect that can be found without a mesh; for editors and fuzzing.
pl_status pl_robot_document_check(const pl_robot_document *document, pl_findings *findings, pl_error *err);

// A fingerprint (not 0) of what determines the results: the entries without comments, hardware and control
// blocks, and the contents of the files they name.
uint64_t pl_robot_document_fingerprint(const pl_robot_document *document);

// The method of solution and its options: the `solver:` block applied to the defaults.
typedef enum pl_method { PL_METHOD_EXACT, PL_METHOD_LOCAL_GLOBAL } pl_method;
pl_status pl_robot_document_options(const pl_robot_document *document, pl_statics_options *statics,
                                    pl_method *method, pl_geometric_options *geometric, pl_error *err);

pl_status pl_robot_load(const char *path, const pl_load_options *options, pl_robot **out,
                        pl_findings *findings, pl_error *err);
pl_status pl_robot_load_text(const char *text, size_t length, const char *path,
                             const pl_load_options *options, pl_robot **out, pl_findings *findings,
                             pl_error *err);

// ---- reduced models (robot files of any kind: document.h)
// A reduced robot from text in memory; `path` is used in messages.
pl_status pl_reduced_load_text(const char *text, size_t length, const char *path, pl_model **out,
                               pl_findings *findings, pl_error *err);

#endif
