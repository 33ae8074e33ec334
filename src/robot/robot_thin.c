// What looks wrong with a layer or a fibre that can be built: its modulus, and the wall it lies on.
#include "mesh/mesh.h"
#include "material/material.h"
#include "robot/robot_impl.h"

#define THIN_MODULUS_MAX 1e6 // MPa, 1 TPa: graphene, diamond
#define THIN_FACING 0.5      // cosine from which the far side counts as the other side of the wall

// Young's modulus at small strain.
double robot_thin_young(const pl_material *m)
{
    double mu, kappa;
    pl_material_moduli(m, &mu, &kappa);
    const double lambda = pl_material_is_rubber(m->model) ? kappa - 2 * mu / 3 : kappa;
    return mu * (3 * lambda + 2 * mu) / (lambda + mu);
}

// Young's modulus of the softest deformable region below the faces; infinite if there is none.
static double thin_body(const pl_robot *robot, const int64_t *face, int64_t count)
{
    const pl_mesh_view v = pl_mesh_get(robot->mesh);
    double softest = INFINITY;

    for (int64_t k = 0; k < count; ++k) {
        const int32_t region = v.region[face[k] / 8];
        bool rigid = robot->region_material[region] < 0;
        for (int r = 0; r < robot->rigid_count; ++r) {
            rigid = rigid || strcmp(robot->rigid[r].name, v.region_name[region]) == 0;
        }
        if (!rigid) {
            softest = fmin(softest, robot_thin_young(&robot->material[robot->region_material[region]]));
        }
    }

    return softest;
}

// A unit forgotten or confused is the usual cause of both warnings.
void robot_thin_modulus(robot_build *b, const char *what, int line, double young, const int64_t *face,
                        int64_t count)
{
    const double body = thin_body(b->robot, face, count);
    if (young > THIN_MODULUS_MAX) {
        ROBOT_FIND(b, PL_WARNING, line,
                   "%s has a modulus of %.4g GPa, expected at most 1000 GPa (paper: 2 GPa)", what,
                   young / 1000);
        pl_findings_advise(b->findings, "check the unit: a number without one counts in MPa");
    } else if (young < body && isfinite(body)) {
        ROBOT_FIND(b, PL_WARNING, line,
                   "%s has a modulus of %.4g MPa, softer than the body under it; expected above %.4g MPa",
                   what, young, body);
        pl_findings_advise(b->findings, "check the unit: a number without one counts in MPa");
    }
}

// Middle of a face on its straight triangles (of a curved face the middle one,
// nodes 3 to 5) and the unit normal.
static void thin_middle(const pl_mesh *mesh, int64_t face, double middle[3], double normal[3])
{
    double x[3 * PL_FACE_NODES_MAX], u[3], v[3];
    const double *c = x + (pl_mesh_gather_face(mesh, face, x) == 6 ? 9 : 0);

    pl_sub3(c + 3, c, u);
    pl_sub3(c + 6, c, v);
    pl_cross3(u, v, normal);
    const double length = pl_norm3(normal);
    for (int i = 0; i < 3; ++i) {
        middle[i] = (c[i] + c[3 + i] + c[6 + i]) / 3;
        normal[i] /= length > 0 ? length : 1;
    }
}

// The wall from a point along a direction, mm; infinite where its other side is not opposite.
static double thin_wall(const pl_mesh *mesh, const double at[3], const double direction[3], double skip)
{
    pl_hit hit;
    double middle[3], normal[3];

    if (!pl_mesh_cast(mesh, at, direction, skip, &hit) || hit.from_void) {
        return INFINITY;
    }
    thin_middle(mesh, hit.face, middle, normal);
    return pl_dot3(direction, normal) > THIN_FACING ? hit.t : INFINITY;
}

// Compares the thickness with the wall under the middle of every face; layers between regions have two walls.
pl_status robot_thin_walls(robot_build *b, const pl_layer_def *def, const pl_layer *l)
{
    const pl_mesh *mesh = b->robot->mesh;
    double thinnest = INFINITY, place[3] = {0}, low[3], high[3];

    pl_mesh_bounds(mesh, low, high);

    // rays begin on the face: what they meet nearer than this is the face itself
    const double skip = 1e-9 * pl_distance3(low, high);
    int64_t found = 0;
    const pl_status status = pl_mesh_prepare_trees(mesh, b->err);

    for (int64_t k = 0; status == PL_OK && k < l->face_count; ++k) {
        double at[3], out[3];
        thin_middle(mesh, l->face[k], at, out);
        const double in[3] = {-out[0], -out[1], -out[2]};
        double wall = thin_wall(mesh, at, in, skip);
        wall = def->between[0] ? fmin(wall, thin_wall(mesh, at, out, skip)) : wall;
        found += wall < l->thickness;
        if (wall < thinnest) {
            thinnest = wall;
            memcpy(place, at, sizeof place);
        }
    }

    // one finding for the layer, at the thinnest place
    if (found > 0) {
        ROBOT_FIND(
            b, PL_WARNING, def->line,
            "layer '%s' is %.4g mm thick, thicker than the wall under %lld of its %lld faces (%.3g mm at "
            "(%.4g, %.4g, %.4g)); expected a layer thinner than the wall",
            def->name, l->thickness, (long long)found, (long long)l->face_count, thinnest, pl_tidy(place[0]),
            pl_tidy(place[1]), pl_tidy(place[2]));
        pl_findings_advise(b->findings,
                           "check the unit of its thickness, or draw it as a region of the mesh");
        pl_findings_place(b->findings, place, NULL, 0);
    }

    return status;
}
