// State files: raw, or small changes of one that belongs to the robot, so that the checks behind the header
// are reached.
#include "fuzz.h"
#include "box_mesh.h"
#include "document/document.h"
#include "pliant/result.h"
#include "meshfile/meshfile.h"

static const char *const block =
    "pliant: 1\nname: block\nmesh: {file: box.vtu}\nmaterials:\n"
    "  rubber: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.45}\nregions: {body: rubber}\n"
    "surfaces:\n  base: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}\nfixed:\n  - {surface: base}\n";
static pl_robot *robot;
static pl_state *state;
static fuzz_template valid;

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const double size[3] = {20, 10, 10};
    if (box_mesh(2, 1, 1, size, NULL, NULL, &mesh, &err) != PL_OK) {
        abort();
    }

    const pl_load_options load = {.no_cache = true};
    if (pl_mesh_write_vtu(mesh, fuzz_path("box.vtu"), PL_VTU_ASCII, &err) != PL_OK ||
        pl_robot_load_text(block, strlen(block), fuzz_path("robot.yaml"), &load, &robot, NULL, &err) !=
            PL_OK ||
        pl_state_create(robot, &state, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }

    pl_mesh_destroy(mesh);
    if (pl_state_save(state, robot, fuzz_path("valid.state"), &err) != PL_OK) {
        abort();
    }
    valid = fuzz_read(fuzz_path("valid.state"));

    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_error err = {0};
    (void)pl_state_load(state, robot, fuzz_change(&valid, "fuzz.state", data, size), &err);
    return 0;
}
