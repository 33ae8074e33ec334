// Robot files: the checks that need no mesh, then the whole robot on a small mesh that lies beside the file,
// or the reduced model.
#include "fuzz.h"
#include "box_mesh.h"
#include "document/document.h"
#include "pliant/result.h"
#include "pliant/model.h"
#include "meshfile/meshfile.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const double size[3] = {30, 10, 10};
    if (box_mesh(3, 1, 1, size, NULL, NULL, &mesh, &err) != PL_OK ||
        pl_mesh_write_vtu(mesh, fuzz_path("box.vtu"), PL_VTU_ASCII, &err) != PL_OK) {
        abort();
    }

    pl_mesh_destroy(mesh);

    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_error err = {0};
    pl_findings *findings = pl_findings_create();
    const char *text = (const char *)data, *path = fuzz_path("robot.yaml");
    pl_robot_document *document = NULL;
    pl_status status = pl_robot_document_parse(text, size, path, &document, &err);

    status = status == PL_OK ? pl_robot_document_check(document, findings, &err) : status;
    pl_robot_document_destroy(document);
    pl_findings_destroy(findings);

    pl_model *model = NULL;
    if (pl_reduced_load_text(text, size, path, &model, NULL, &err) == PL_OK) {
        pl_model_destroy(model);
    } else if (status == PL_OK) {
        pl_robot *robot = NULL;
        const pl_load_options options = {.no_cache = true};
        if (pl_robot_load_text(text, size, path, &options, &robot, NULL, &err) == PL_OK) {
            pl_robot_destroy(robot);
        }
    }

    return 0;
}
