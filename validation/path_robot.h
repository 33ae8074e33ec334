// The designs as robots of a given element size, for the programs that try inverse kinematics on them.
#ifndef PL_PATH_ROBOT_H
#define PL_PATH_ROBOT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pliant/result.h"
#include "document/document.h"
#include "model/model.h"
#include "pliant/motion.h"
#include "pliant/meshing.h"
#include "statics/statics.h"

typedef struct path_robot {
    pl_robot *robot;
    pl_model *model;
    pl_model_info info;
    int elements;
} path_robot;

static inline void path_robot_clear(path_robot *r)
{
    pl_model_destroy(r->model);
    pl_robot_destroy(r->robot);
    *r = (path_robot){0};
}

static inline bool path_robot_load(const char *text, path_robot *out)
{
    *out = (path_robot){0};
    pl_error err = {0};
    const pl_load_options load = {.mesher = pl_meshing_mesher(), .no_cache = true};
    const pl_statics_options options = pl_statics_options_default();
    pl_status status = pl_robot_load_text(text, strlen(text), "design.yaml", &load, &out->robot, NULL, &err);
    if (status == PL_OK) {
        status = pl_model_from_robot(out->robot, &options, &out->model, &err);
    }

    if (status != PL_OK) {
        printf("%s\n", err.text);
        path_robot_clear(out);
        return false;
    }

    out->info = pl_model_get_info(out->model);
    out->elements = pl_mesh_get(pl_robot_mesh(out->robot)).element_count;

    return true;
}

// The file `pliant new KIND` writes, with another element size (0: its own).
static inline bool path_robot_create(const char *kind, double size, path_robot *out)
{
    *out = (path_robot){0};
    const pl_design *design = pl_design_find(kind);
    const char *yaml = design ? design->robot_yaml : "", *at = strstr(yaml, "\n  size: ");
    if (!at) {
        printf("no design `%s` with a size\n", kind);
        return false;
    }

    const size_t room = strlen(yaml) + 40;
    char *text = malloc(room);
    if (!text) {
        return false;
    }

    if (size > 0) {
        snprintf(text, room, "%.*s\n  size: %g%s", (int)(at - yaml), yaml, size, strchr(at + 1, '\n'));
    } else {
        snprintf(text, room, "%s", yaml);
    }

    const bool done = path_robot_load(text, out);
    free(text);

    return done;
}

#endif
