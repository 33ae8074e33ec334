// Loads that no command changes: weight, forces and moments on markers, pressures on surfaces.
//
// - weight and forces are dead: f -= dead, the energy -dead . (x - X)
// - a moment M about an axis does work on the angle of the marker's patch: -M angle(x)
// - a pressure on a closed surface, or on one whose rim is held, has the potential -p h(x), h the volume
//   before it; on an open surface that can move its rim it has none, and acts by its force alone,
//   f_a = p int N_a n dA
#include "element/element.h"
#include "geometric/geometric_impl.h"

// A weighted point of the robot's mesh on work vertices: mid nodes give half to each end of their edge.
static void load_spread(pl_geometric *g, const pl_point *point, const double force[3])
{
    for (int32_t j = 0; j < point->count; ++j) {
        const int32_t c = g->map.corner_of[point->node[j]];
        const int32_t a = c < 0 ? g->map.mid[-1 - c].a : c, b = c < 0 ? g->map.mid[-1 - c].b : c;

        for (int i = 0; i < 3; ++i) {
            const double f = 0.5 * point->weight[j] * force[i];
            g->dead[3 * (size_t)a + (size_t)i] += f;
            g->dead[3 * (size_t)b + (size_t)i] += f;
        }
    }
}

// Gravity, by the integral of every node's shape function.
static bool load_weight(pl_geometric *g)
{
    const pl_robot *robot = g->robot;
    const pl_mesh_view *v = &g->mesh;
    bool any = false;

    for (int32_t e = 0; e < v->element_count && pl_norm3(robot->gravity) > 0; ++e) {
        const double density = robot->material[robot->region_material[v->region[e]]].density;
        const int n = (int)(v->node_start[e + 1] - v->node_start[e]);
        double share[PL_ELEMENT_NODES_MAX];
        pl_element_shares(v, e, share);
        any = any || density > 0;

        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 3; ++i) {
                g->dead[3 * (size_t)v->node[v->node_start[e] + a] + (size_t)i] +=
                    density * share[a] * robot->gravity[i];
            }
        }
    }

    return any;
}

static pl_status load_moment(pl_geometric *g, const pl_force *force, double *work, pl_error *err)
{
    const double size = pl_norm3(force->moment);
    const double axis[3] = {force->moment[0] / size, force->moment[1] / size, force->moment[2] / size};
    geo_load *load = &g->load[g->load_count++];

    *load = (geo_load){.factor = size};
    pl_point patch = {0};
    pl_status status = geo_point_convert(g, &g->robot->marker[force->marker].patch, work, &patch, err);
    if (status == PL_OK &&
        pl_functional_add_angle(&load->h, patch.count, patch.node, patch.weight, g->X, axis) != PL_OK) {
        status = pl_fail_memory(err, "local_global: loads");
    }

    pl_point_clear(&patch);

    return status;
}

static pl_status load_pressure(pl_geometric *g, const pl_surface_pressure *p, pl_error *err)
{
    geo_load *load = &g->load[g->load_count++];
    *load = (geo_load){.factor = p->pressure};
    pl_rims rims = {0};
    pl_status status = pl_functional_add_volume_faces(&load->h, g->corner, p->face, p->face_count);
    if (status == PL_OK) {
        status = pl_mesh_rims(g->corner, p->face, p->face_count, &rims, err);
    }

    for (int32_t j = 0; status == PL_OK && rims.count > 0 && j < rims.start[rims.count]; ++j) {
        for (int i = 0; i < 3; ++i) {
            load->open = load->open || g->support_of[3 * (size_t)rims.corner[j] + (size_t)i] < 0;
        }
    }

    pl_rims_clear(&rims);

    return status == PL_NO_MEMORY ? pl_fail_memory(err, "local_global: loads") : status;
}

pl_status geo_loads_create(pl_geometric *g, pl_error *err)
{
    const pl_robot *robot = g->robot;
    g->dead = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
    g->load = PL_NEW_ARRAY(geo_load, robot->force_count + robot->pressure_count);
    double *work = PL_NEW_ARRAY(double, g->corner_count);
    pl_status status = g->dead && g->load && work ? PL_OK : pl_fail_memory(err, "local_global: loads");
    const bool any =
        status == PL_OK && (load_weight(g) || robot->force_count > 0 || robot->pressure_count > 0);
    if (any && g->options.metric == PL_METRIC_VERTEX) {
        status = pl_fail(err, PL_BAD_INPUT,
                         "local_global: the vertex metric has no unit of force, so gravity, forces and "
                         "pressures are not defined; use metric: gradient");
    }

    for (int k = 0; status == PL_OK && k < robot->force_count; ++k) {
        load_spread(g, &robot->marker[robot->force[k].marker].point, robot->force[k].force);
        if (pl_norm3(robot->force[k].moment) > 0) {
            status = load_moment(g, &robot->force[k], work, err);
        }
    }

    for (int k = 0; status == PL_OK && k < robot->pressure_count; ++k) {
        status = load_pressure(g, &robot->pressure[k], err);
    }
    pl_free(work);

    return status;
}

void geo_loads_destroy(pl_geometric *g)
{
    for (int k = 0; g->load && k < g->load_count; ++k) {
        pl_functional_clear(&g->load[k].h);
    }
    pl_free(g->load);
    pl_free(g->dead);
}

bool geo_loads_derive(const pl_geometric *g)
{
    for (int k = 0; k < g->load_count; ++k) {
        if (g->load[k].open) {
            return false;
        }
    }

    return true;
}

double geo_loads_force(pl_geometric *g, const double *x, double *f)
{
    double energy = 0;
    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        energy -= g->dead[i] * (x[i] - g->X[i]);
        if (f) {
            f[i] -= g->dead[i];
        }
    }

    for (int k = 0; k < g->load_count; ++k) {
        geo_load *load = &g->load[k];
        const double value = pl_functional_value(&load->h, x);
        load->h.near = value; // of an angle: it goes on where it is
        energy -= load->factor * value;
        if (f && load->open) {
            pl_functional_press(&load->h, x, load->factor, f);
        } else if (f) {
            pl_functional_gradient(&load->h, x, -load->factor, f);
        }
    }

    return energy;
}
