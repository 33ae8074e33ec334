// Layers: the faces they are bonded to, and where their middle lies.
#include <stdio.h>
#include "robot/robot_impl.h"
#include "material/material.h"

#define LAYER_STIFF 10 // over the body: softer layers do not wrinkle by themselves
#define LAYER_WRINKLE                                                                                        \
    0.5 // of the strain for a thick body: PneuNets of 2 mm walls wrinkle at 0.6 to 0.8 of it

// Faces of elements of the second region that look at elements of the first.
static pl_status layer_interface(robot_build *b, int32_t first, int32_t second, int64_t **face,
                                 int64_t *count)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    bool *inside = PL_NEW_ARRAY(bool, v.element_count);

    if (!inside) {
        return robot_memory(b);
    }
    for (int32_t e = 0; e < v.element_count; ++e) {
        inside[e] = v.region[e] == first;
    }

    int64_t all = 0;
    const pl_status status = robot_interface(b->robot->mesh, inside, face, &all, b->err);
    pl_free(inside);

    for (int64_t k = 0; status == PL_OK && k < all; ++k) {
        if (v.region[(*face)[k] / 8] == second) {
            (*face)[(*count)++] = (*face)[k];
        }
    }

    return status;
}

// Faces of a surface or between two regions; `*count` is 0 after a defect. The caller owns `*face`.
pl_status robot_layer_faces(robot_build *b, const char *what, const char *surface,
                            const char *const between[2], int line, int64_t **face, int64_t *count)
{
    pl_status status = PL_OK;
    *face = NULL;
    *count = 0;

    if (surface) {
        const int32_t s = robot_find_surface(b, surface, what, line);
        if (s < 0) {
            return PL_OK;
        }
        status = robot_copy_faces(b, s, face, count);
        if (status == PL_OK && *count == 0) {
            ROBOT_DEFECT(b, line, "%s: the surface '%s' has no face, expected at least one", what, surface);
        }
    } else {
        const int32_t first = robot_find_region(b, between[0], what, line),
                      second = robot_find_region(b, between[1], what, line);
        if (first < 0 || second < 0) {
            return PL_OK;
        }
        status = layer_interface(b, first, second, face, count);
        if (status == PL_OK && *count == 0) {
            ROBOT_DEFECT(b, line, "%s: the regions '%s' and '%s' do not touch", what, between[0], between[1]);
        }
    }

    // bending of a layer is formulated for triangles
    for (int64_t k = 0; status == PL_OK && k < *count; ++k) {
        int32_t node[PL_FACE_NODES_MAX];
        const int n = pl_mesh_face_nodes(b->robot->mesh, (*face)[k], node);

        if (n != 3 && n != 6) {
            ROBOT_DEFECT(b, line, "%s: layers and fibres need triangles, but a face there has four corners",
                         what);
            *count = 0;
        }
    }

    return status;
}

// A layer that lies on rigid regions only.
static void layer_warn_rigid(robot_build *b, const pl_layer_def *def, const pl_layer *l)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    int64_t stiff = 0;

    for (int64_t k = 0; k < l->face_count; ++k) {
        const char *region = v.region_name[v.region[l->face[k] / 8]];
        for (int r = 0; r < b->robot->rigid_count; ++r) {
            stiff += strcmp(b->robot->rigid[r].name, region) == 0;
        }
    }

    if (l->face_count > 0 && stiff == l->face_count) {
        ROBOT_FIND(b, PL_WARNING, def->line, "layer '%s' lies on a rigid region, where it has no effect",
                   def->name);
    }
}

// E / (1 - nu^2) = 4 mu (lambda + mu) / (lambda + 2 mu) at small strain. Rubber laws give the
// bulk modulus, the others lambda.
static double layer_plane_modulus(const pl_material *m)
{
    double mu, kappa;
    pl_material_moduli(m, &mu, &kappa);
    const bool rubber = pl_material_is_rubber(m->model);
    const double lambda = rubber ? kappa - 2 * mu / 3 : kappa;
    return 4 * mu * (lambda + mu) / (lambda + 2 * mu);
}

// A stiff film on a thick soft body wrinkles at the strain (3 Es / Ef)^(2/3) / 4, with the plane moduli of
// body and film; over a thin wall of it earlier.
static double layer_wrinkle(const pl_robot *robot, const pl_layer_def *def, const pl_layer *l)
{
    const pl_material *own = &robot->material[l->material];
    if (def->wrinkle != 0 || pl_material_is_rubber(own->model)) {
        return fmax(def->wrinkle, 0);
    }

    // the stiffest body below decides
    const pl_mesh_view v = pl_mesh_get(robot->mesh);
    double body = 0;
    for (int64_t k = 0; k < l->face_count; ++k) {
        const int m = robot->region_material[v.region[l->face[k] / 8]];
        body = fmax(body, m >= 0 ? layer_plane_modulus(&robot->material[m]) : 0);
    }

    const double ratio = layer_plane_modulus(own) / body;

    return body > 0 && ratio > LAYER_STIFF ? LAYER_WRINKLE * 0.25 * cbrt(9 / (ratio * ratio)) : 0;
}

// Layers and all that is noteworthy about them.
pl_status robot_layers(robot_build *b)
{
    pl_robot *robot = b->robot;
    robot->layer = PL_NEW_ARRAY(pl_layer, b->def->layer_count);
    if (!robot->layer) {
        return robot_memory(b);
    }

    for (int i = 0; i < b->def->layer_count; ++i) {
        const pl_layer_def *def = &b->def->layer[i];
        pl_layer *l = &robot->layer[robot->layer_count++];
        // distance of the middle of the layer from the faces, in thicknesses
        const double side = def->side == PL_SIDE_OUTSIDE ? 0.5 : def->side == PL_SIDE_INSIDE ? -0.5 : 0;
        *l = (pl_layer){.name = pl_strdup(def->name),
                        .thickness = def->thickness,
                        .offset = def->membrane ? 0 : side * def->thickness,
                        .bending = !def->membrane,
                        .prestretch = def->prestretch > 0 ? def->prestretch : 1};
        if (!l->name) {
            return robot_memory(b);
        }

        // material by name; the checks have found it
        for (int m = 0; m < robot->material_count; ++m) {
            l->material = strcmp(robot->material_name[m], def->material) == 0 ? m : l->material;
        }
        if (pl_material_has_fibres(robot->material[l->material].model)) {
            ROBOT_DEFECT(b, def->line,
                         "layer '%s': the material '%s' has fibres; a layer takes an isotropic law",
                         def->name, def->material);
        }

        // faces and thickness
        char what[100];
        snprintf(what, sizeof what, "layer '%.60s'", def->name);
        pl_status status =
            robot_layer_faces(b, what, def->surface, def->between, def->line, &l->face, &l->face_count);
        status = status == PL_OK ? robot_thin_walls(b, def, l) : status;
        if (status != PL_OK) {
            return status;
        }

        // what looks wrong, and the strain at which it wrinkles
        robot_thin_modulus(b, what, def->line, robot_thin_young(&robot->material[l->material]), l->face,
                           l->face_count);
        layer_warn_rigid(b, def, l);
        l->wrinkle = layer_wrinkle(robot, def, l);
        const pl_mesh_view v = pl_mesh_get(robot->mesh);
        if (l->bending && l->face_count > 0 && v.kind[l->face[0] / 8] == PL_TET4) {
            ROBOT_FIND(b, PL_WARNING, def->line,
                       "layer '%s': on linear elements its bending is inaccurate; use order: 2", def->name);
        }
    }

    return PL_OK;
}

// ---- contents
int pl_robot_layer_count(const pl_robot *robot)
{
    return robot->layer_count;
}

pl_layer_info pl_robot_layer(const pl_robot *robot, int i)
{
    if (i < 0 || i >= robot->layer_count) {
        return (pl_layer_info){0};
    }

    const pl_layer *l = &robot->layer[i];
    return (pl_layer_info){.name = l->name,
                           .face = l->face,
                           .face_count = l->face_count,
                           .thickness = l->thickness,
                           .offset = l->offset,
                           .area = pl_mesh_faces_area(robot->mesh, l->face, l->face_count),
                           .material = l->material,
                           .bending = l->bending,
                           .wrinkle = l->wrinkle,
                           .prestretch = l->prestretch};
}
