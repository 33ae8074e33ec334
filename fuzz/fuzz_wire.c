// JSON lines between a controller and a plant. The first byte says who hears the rest: even, `run` hears a
// plant (its greeting, the agreement about the end, replies to commands); odd, `plant` hears a controller.
#include "cli_wire.c"
#include "cli_plant.c"
#include "cli_run_link.c"
#include "fuzz_cli.h"
#include "pliant/document.h"

// In place of the command's: messages go nowhere.
void cli_error(const cli_args *args, const char *format, ...)
{
    (void)args, (void)format;
}

static const char *const arm =
    "pliant: 1\nname: arm\nmodel:\n  kind: constant_curvature\n"
    "  sections:\n    - {name: lower, length: 103, diameter: [100, 90]}\n"
    "  tendons:\n    - {name: l1, section: lower, angle: 0 deg, drive: length, range: [85, 135], rate: 20}\n"
    "    - {name: l2, section: lower, angle: 120 deg, drive: length, range: [85, 135]}\n"
    "markers:\n  tip: {at: 103}\nsensors:\n  - {name: s1, kind: length, radius: 30, angle: 45 deg}\n"
    "  - {name: s2, kind: length, radius: 30, angle: 200 deg}\n";
static cli_model model;
static pl_control_setup setup;
static pl_loop *loop;

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    signal(SIGPIPE, SIG_IGN);
    pl_error err = {0};
    const char *path = fuzz_write("arm.yaml", arm, strlen(arm));
    pl_robot_document *document = NULL;
    const pl_loop_setup asked = {.marker = 0, .estimate = true};
    if (pl_model_load_text(arm, strlen(arm), path, NULL, &model.model, NULL, &err) != PL_OK ||
        pl_robot_document_parse(arm, strlen(arm), path, &document, &err) != PL_OK ||
        pl_control_from_document(document, model.model, &setup, NULL, &err) != PL_OK ||
        pl_loop_from_setup(model.model, &setup, &asked, &loop, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    model.info = pl_model_get_info(model.model);
    pl_robot_document_destroy(document);
    return 0;
}

static void controller_hears(const uint8_t *data, size_t size)
{
    double sent[2], sensor[2], marker[3];
    const cli_args args = {0};
    int other, fd = fuzz_line(data, size, &other);
    run r = {.m = model,
             .w = {.in = fd, .out = fd, .patience = 0.01},
             .loop = loop,
             .machine = {.fd = -1},
             .heard = -INFINITY,
             .period = 0.1,
             .timeout = 0.01,
             .sent = sent,
             .sensor = sensor,
             .true_marker = marker};
    memcpy(sent, pl_loop_command(loop), sizeof sent);

    // until the lines end, or one of them ends the run
    if (run_greet(&args, &r) == CLI_DONE) {
        while (!run_exchange(&r, 0)) {
        }
    }

    wire_close(&r.w);
    close(other);
}

static void plant_hears(const uint8_t *data, size_t size)
{
    const cli_args args = {0};
    pl_plant *plant = NULL;
    pl_error err = {0};
    if (pl_plant_from_setup(model.model, &setup, 0.1, 1, false, &plant, &err) != PL_OK) {
        abort();
    }
    int other, fd = fuzz_line(data, size, &other);
    wire w = {.in = fd, .out = fd, .patience = 0.01};
    (void)plant_talk(&args, &model, plant, &w, 0.1);
    wire_close(&w);
    close(other);
    pl_plant_destroy(plant);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0) {
        (data[0] % 2 ? plant_hears : controller_hears)(data + 1, size - 1);
    }
    return 0;
}
