// A robot made of a mesh and a definition, for the validation of contact.
#ifndef PL_CONTACT_RIG_H
#define PL_CONTACT_RIG_H

#include "../tests/box_mesh.h"
#include "mesh/mesh.h"
#include "statics/statics.h"
#include "validate.h"
#include "robot/robot_def.h"

#define PI 3.14159265358979323846

typedef struct contact_rig {
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
} contact_rig;

static inline double contact_reading(contact_rig *r, const char *name, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.name, name) == 0 && strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }
    return NAN;
}

static inline void contact_clear(contact_rig *r)
{
    pl_statics_destroy(r->statics);
    pl_state_destroy(r->state);
    pl_robot_destroy(r->robot);
    *r = (contact_rig){0};
}

static inline bool contact_build(const pl_robot_def *def, const pl_statics_options *options,
                                 const pl_mesh *mesh, contact_rig *r)
{
    pl_error err = {0};
    const pl_mesh *const meshes[] = {mesh};
    const pl_statics_options standard = pl_statics_options_default();
    pl_findings *findings = pl_findings_create();

    *r = (contact_rig){0};
    const bool good =
        pl_robot_create(def, meshes, &r->robot, findings, &err) == PL_OK &&
        pl_statics_create(r->robot, options ? options : &standard, &r->statics, &err) == PL_OK &&
        pl_state_create(r->robot, &r->state, &err) == PL_OK;
    if (!good) {
        printf("%s\n", err.text);
    }
    pl_findings_destroy(findings);

    return good;
}

static inline pl_surface_def contact_plane(const char *name, int axis, double at)
{
    pl_surface_def s = {.name = name, .pick = {.kind = PL_PICK_PLANE}};
    s.pick.point[axis] = at;
    s.pick.normal[axis] = 1;
    return s;
}

static inline pl_robot_def contact_def(pl_body_def *body, pl_material_def *material, pl_region_def *region)
{
    *body = (pl_body_def){.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    *region = (pl_region_def){.region = "body", .material = material->name};
    return (pl_robot_def){.name = "contact",
                          .body = body,
                          .body_count = 1,
                          .material = material,
                          .material_count = 1,
                          .region = region,
                          .region_count = 1};
}

#endif
