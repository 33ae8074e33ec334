// The mode of the first critical load of a solve: in the record, and drawn on the shape there.
#include <string.h>
#include "cli.h"

#define CRITICAL_DRAWN 0.1 // of the robot's size: largest displacement drawn

// By the name of the file: mode.png, mode.vtu ...
bool cli_critical_is(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    return strncmp(name, "mode.", 5) == 0;
}

// Motion of a marker in the mode: the difference of its places in two shapes of the model.
static json_t *critical_markers(const cli_model *m, const double *from, const double *to)
{
    json_t *markers = json_object();
    for (int i = 0; i < m->info.marker_count; ++i) {
        double motion[3];
        for (int k = 0; k < 3; ++k) {
            motion[k] = (to[3 * i + k] - from[3 * i + k]) / (CRITICAL_DRAWN * m->info.size);
        }
        json_object_set_new(markers, m->info.marker_name[i], cli_json_numbers(motion, 3));
    }

    return markers;
}

// The model at the critical equilibrium moved by `share` of the mode that is drawn; `block` is what it stood
// at.
static pl_status critical_stand(cli_model *m, const pl_critical_mode *mode, pl_state *state,
                                const double *block, double share, double *scratch, pl_error *err)
{
    const size_t size = pl_model_state_size(m->model);
    const int64_t n = 3 * (int64_t)pl_state_vertex_count(state);
    pl_status status = pl_state_unpack(state, block, size, err);

    for (int64_t i = 0; i < n; ++i) {
        scratch[i] = mode->position[i] + share * CRITICAL_DRAWN * m->info.size * mode->motion[i];
    }

    if (status == PL_OK) {
        pl_state_set_positions(state, scratch);
        pl_state_pack(state, scratch, size);
        status = pl_model_unpack(m->model, scratch, size, err);
    }

    return status;
}

// The model is moved to the critical equilibrium, then by the mode, and back; nothing of the solve is lost.
int cli_critical(const cli_args *args, cli_model *m, const char *path, json_t *record)
{
    pl_critical_mode mode;
    pl_error err = {0};
    const pl_robot *robot = pl_model_robot(m->model);

    if (!robot || !pl_model_critical(m->model, &mode)) {
        if (path) {
            cli_say(args, "  %s is not written: no critical load was found on this path\n", path);
        }
        return CLI_DONE;
    }

    const size_t size = pl_model_state_size(m->model), markers = 3 * (size_t)m->info.marker_count + 1;
    pl_state *state = NULL;

    // one block: where it stood, scratch, markers before and after
    double *block = calloc(2 * (size + 1) + 2 * markers, sizeof *block);
    if (!block || pl_state_create(robot, &state, &err) != PL_OK) {
        free(block);
        return cli_no_memory(args);
    }

    double *scratch = block + size + 1, *from = scratch + size + 1, *to = from + markers;
    pl_model_pack(m->model, block);
    pl_status status = critical_stand(m, &mode, state, block, 0, scratch, &err);
    memcpy(from, pl_model_get_answer(m->model).marker, (markers - 1) * sizeof *from);
    status = status == PL_OK ? critical_stand(m, &mode, state, block, 1, scratch, &err) : status;
    memcpy(to, pl_model_get_answer(m->model).marker, (markers - 1) * sizeof *to);
    if (status == PL_OK && path) {
        status = cli_shape_write(args, m, path, &err);
    }
    if (status == PL_OK && path) {
        cli_say(args, "  wrote %s: the mode at %.4g %% of the load, where the body %s\n", path,
                100 * mode.load, mode.limit ? "snaps" : "buckles");
    }

    if (record) {
        json_object_set_new(record, "critical",
                            json_pack("{s:o,s:s,s:o}", "load", cli_json_number(mode.load), "kind",
                                      mode.limit ? "limit" : "bifurcation", "markers",
                                      critical_markers(m, from, to)));
    }

    // back
    const pl_status back = pl_model_unpack(m->model, block, size, &err);
    pl_state_destroy(state);
    free(block);

    return status == PL_OK && back == PL_OK ? CLI_DONE : cli_fail(args, &err);
}
