// Building and freeing a pl_geometric: options, the corner mesh, work vertices, supports; all memory is taken
// here.
#include "base/threads.h"
#include "geometric/geometric_impl.h"
#include "robot/robot_kind.h"

pl_geometric_options pl_geometric_options_default(void)
{
    return (pl_geometric_options){
        .metric = PL_METRIC_GRADIENT,
        .form = PL_FORM_BLENDED,
        .acceleration = PL_ACCELERATE_LBFGS,
        .window = 10, // 8 to 12 differ little on the bellows finger (bench_local_global counts)
        .stop = PL_STOP_RESIDUAL,
        .length_tolerance = 1e-6,
        .tip_tolerance = 0.0316,
        .iteration_limit = 5000,
        .actuation_weight = 5,
        .body_weight = 1,
        .actuation = PL_ACTUATE_AUTO,
        .distribution = PL_RATIOS_LEAST_NORM,
        .strain_high = 1,
        .contact_spring = 1,
        .contact_offset = 0.02,
        .remesh_volume = 4,
        .remesh_stretch = 4,
    };
}

pl_status pl_geometric_preset(const char *name, pl_geometric_options *options, pl_error *err)
{
    if (strcmp(name, "fang2020") != 0) {
        return pl_fail(err, PL_BAD_INPUT, "local_global: there is no preset '%s', expected fang2020", name);
    }

    const pl_progress progress = options->progress;
    *options = pl_geometric_options_default();
    options->progress = progress;
    options->metric = PL_METRIC_VERTEX;
    options->acceleration = PL_ACCELERATE_NONE;
    options->stop = PL_STOP_TIP_MOTION;
    options->unit_weights = true;
    options->actuation = PL_ACTUATE_GROWTH;

    return PL_OK;
}

// Numbers first, then what excludes each other.
static pl_status options_check(const pl_geometric_options *o, pl_error *err)
{
    const struct {
        const char *name;
        double value;
    } positive[] = {{"length_tolerance", o->length_tolerance}, {"tip_tolerance", o->tip_tolerance},
                    {"actuation_weight", o->actuation_weight}, {"body_weight", o->body_weight},
                    {"strain_high", o->strain_high},           {"contact_spring", o->contact_spring},
                    {"contact_offset", o->contact_offset}};
    for (int i = 0; i < PL_COUNT(positive); ++i) {
        if (!(positive[i].value > 0 && isfinite(positive[i].value))) {
            return pl_fail(err, PL_BAD_INPUT, "local_global: %s is %g, must be above 0", positive[i].name,
                           positive[i].value);
        }
    }

    if (!(o->remesh_volume > 1 && o->remesh_stretch > 1)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "local_global: remesh_volume is %g and remesh_stretch %g, both must be above 1",
                       o->remesh_volume, o->remesh_stretch);
    }

    if (o->window < 1 || o->window > GEO_WINDOW) {
        return pl_fail(err, PL_BAD_INPUT, "local_global: window is %d, must be 1 .. %d", o->window,
                       GEO_WINDOW);
    }

    if (o->iteration_limit < 1) {
        return pl_fail(err, PL_BAD_INPUT, "local_global: iteration_limit is %d, must be >= 1",
                       o->iteration_limit);
    }

    if (!(o->time_limit >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "local_global: time_limit is %g s, must be >= 0", o->time_limit);
    }

    if (o->even_weights && o->metric != PL_METRIC_VERTEX) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "local_global: weights without element volumes are possible only in the vertex metric");
    }

    if (o->form == PL_FORM_MU_LAMBDA && (o->metric == PL_METRIC_VERTEX || o->unit_weights)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "local_global: form mu_lambda needs deformation gradients and the moduli of the materials; %s",
            o->metric == PL_METRIC_VERTEX ? "use metric: gradient" : "unit weights have no moduli");
    }

    return PL_OK;
}

// The corner mesh, which corner a vertex of the robot's mesh is, and the edge a mid node rides on.
static pl_status create_corners(pl_geometric *g, pl_error *err)
{
    const pl_status status = pl_mesh_corners(g->robot->mesh, &g->corner, &g->map.vertex_of, err);
    if (status != PL_OK) {
        return status;
    }

    const pl_mesh_view full = pl_mesh_get(g->robot->mesh);
    g->mesh = pl_mesh_get(g->corner);
    g->corner_count = g->mesh.vertex_count;
    g->map.corner_of = PL_NEW_ARRAY(int32_t, full.vertex_count);
    g->map.mid = PL_NEW_ARRAY(geo_mid, full.vertex_count - g->corner_count);
    if (!g->map.corner_of || !g->map.mid) {
        return pl_fail_memory(err, "local_global: corners");
    }

    // corner_of: the corner with that number; below 0: -1 - the mid node
    for (int32_t v = 0; v < full.vertex_count; ++v) {
        g->map.corner_of[v] = INT32_MIN;
    }
    for (int32_t c = 0; c < g->corner_count; ++c) {
        g->map.corner_of[g->map.vertex_of[c]] = c;
    }

    // every mid node once, at the first edge it is met on
    for (int32_t e = 0; e < full.element_count; ++e) {
        const pl_element_kind kind = (pl_element_kind)full.kind[e];
        for (int k = 0; k < pl_element_edge_count(kind); ++k) {
            int edge[3];
            pl_element_edge_nodes(kind, k, edge);
            const int32_t *node = full.node + full.node_start[e];
            if (edge[2] < 0 || g->map.corner_of[node[edge[2]]] != INT32_MIN) {
                continue;
            }
            geo_mid *m = &g->map.mid[g->map.mid_count];
            *m = (geo_mid){
                node[edge[2]], g->map.corner_of[node[edge[0]]], g->map.corner_of[node[edge[1]]], e, {0}};
            const double *x = full.position, size = 1e-12 * g->size;

            // mid nodes of curved edges keep their distance from the middle
            for (int i = 0; i < 3; ++i) {
                const double middle = 0.5 * (x[3 * (size_t)node[edge[0]] + (size_t)i] +
                                             x[3 * (size_t)node[edge[1]] + (size_t)i]);
                const double off = x[3 * (size_t)m->vertex + (size_t)i] - middle;
                m->offset[i] = fabs(off) > size ? off : 0;
            }

            g->map.corner_of[m->vertex] = -1 - g->map.mid_count++;
        }
    }

    return PL_OK;
}

int32_t geo_inside_vertices(const pl_geometric *g, int actuator, const double **position)
{
    const pl_actuator *a = &g->robot->actuator[actuator];
    const geo_inside *in = g->inside ? &g->inside[actuator] : NULL;

    if (g->options.actuation == PL_ACTUATE_CONSTRAINT) {
        return 0;
    }
    *position = in && in->tet ? in->position : a->fill_position;
    return in && in->tet ? in->vertex_count : a->fill_vertex_count;
}

// Work vertices: corners, then the inner vertices of chambers that are filled and grow.
static pl_status create_vertices(pl_geometric *g, pl_error *err)
{
    int64_t count = g->corner_count;
    for (int a = 0; a < g->robot->actuator_count; ++a) {
        const double *position = NULL;
        count += geo_inside_vertices(g, a, &position);
    }

    g->vertex_count = (int32_t)count;
    g->X = PL_NEW_ARRAY(double, 3 * count);
    g->x = PL_NEW_ARRAY(double, 3 * count);
    g->support_of = PL_NEW_ARRAY(int32_t, 3 * count);
    if (!g->X || !g->x || !g->support_of) {
        return pl_fail_memory(err, "local_global: vertices");
    }
    memcpy(g->X, g->mesh.position, 3 * (size_t)g->corner_count * sizeof *g->X);
    double *next = g->X + 3 * (size_t)g->corner_count;

    for (int a = 0; a < g->robot->actuator_count && count > g->corner_count; ++a) {
        const double *position = NULL;
        const int32_t inner = geo_inside_vertices(g, a, &position);
        if (inner > 0) {
            memcpy(next, position, 3 * (size_t)inner * sizeof *next);
            next += 3 * (size_t)inner;
        }
    }

    memcpy(g->x, g->X, 3 * (size_t)count * sizeof *g->x);
    for (int64_t i = 0; i < 3 * count; ++i) {
        g->support_of[i] = -1;
    }

    for (int k = 0; k < g->robot->support_count; ++k) {
        const pl_support *support = &g->robot->support[k];
        for (int32_t j = 0; j < support->node_count; ++j) {
            const int32_t c = g->map.corner_of[support->node[j]];

            for (int i = 0; c >= 0 && i < 3; ++i) {
                if (support->axis[i]) {
                    g->support_of[3 * (size_t)c + (size_t)i] = k;
                }
            }
        }
    }

    return geo_rigid_create(g, err);
}

static pl_status create_work(pl_geometric *g, pl_error *err)
{
    double **full[] = {&g->work.f,     &g->work.r,     &g->work.d,     &g->work.plain,
                       &g->work.f_old, &g->work.r_old, &g->work.x_old, &g->work.d_old};
    const int64_t n3 = 3 * (int64_t)g->vertex_count;
    bool ok = true;

    for (int i = 0; i < PL_COUNT(full); ++i) {
        *full[i] = PL_NEW_ARRAY(double, n3);
        ok = ok && *full[i];
    }

    for (int i = 0; g->options.acceleration != PL_ACCELERATE_NONE && i < g->options.window; ++i) {
        g->memory.dx[i] = PL_NEW_ARRAY(double, n3);
        g->memory.dd[i] = PL_NEW_ARRAY(double, n3);
        g->memory.dr[i] = PL_NEW_ARRAY(double, n3);
        ok = ok && g->memory.dx[i] && g->memory.dd[i] && g->memory.dr[i];
    }

    return ok ? PL_OK : pl_fail_memory(err, "local_global: work space");
}

// What this method cannot do.
static pl_status create_check(const pl_robot *robot, const pl_geometric_options *options, pl_error *err)
{
    pl_status status = options_check(options, err);
    if (status == PL_OK && robot->layer_count + robot->fibre_count > 0) {
        status = pl_fail(err, PL_BAD_INPUT, "local_global: layers and fibres ('%s') need method: exact",
                         robot->layer_count > 0 ? robot->layer[0].name : robot->fibre[0].name);
    }

    if (status == PL_OK && robot->spring_count > 0) {
        status = pl_fail(err, PL_BAD_INPUT, "local_global: springs ('%s') need method: exact",
                         robot->spring[0].name);
    }

    for (int o = 0; status == PL_OK && o < robot->contact.obstacle_count; ++o) {
        if (robot->contact.obstacle[o].free) {
            status = pl_fail(err, PL_BAD_INPUT, "local_global: the free body '%s' needs method: exact",
                             robot->contact.obstacle[o].name);
        }
    }

    return status;
}

pl_status pl_geometric_create(const pl_robot *robot, const pl_geometric_options *options, pl_geometric **out,
                              pl_error *err)
{
    *out = NULL;
    const pl_status status = create_check(robot, options, err);
    return status == PL_OK ? geo_create(robot, options, NULL, true, out, err) : status;
}

pl_status geo_create(const pl_robot *robot, const pl_geometric_options *options, geo_inside *inside,
                     bool build, pl_geometric **out, pl_error *err)
{
    const double started = pl_seconds();
    *out = NULL;
    pl_geometric *g = PL_NEW(pl_geometric);

    if (!g) {
        pl_geometric lost = {.robot = robot, .inside = inside};
        geo_insides_clear(&lost);
        return pl_fail_memory(err, "local_global");
    }

    pl_status status = PL_OK;
    pl_threads_hold();
    g->robot = robot;
    g->options = *options;
    g->inside = inside;
    if (!build) {
        pl_geometric_destroy(g);
        return PL_OK;
    }

    double low[3], high[3];
    pl_mesh_bounds(robot->mesh, low, high);
    g->size = pl_distance3(low, high);
    pl_status (*const stage[])(pl_geometric *, pl_error *) = {
        create_corners,    create_vertices,  geo_drives_create, geo_cells_create,   geo_cables_create,
        geo_matrix_create, geo_rigid_fields, create_work,       geo_contact_create,
    };
    for (int i = 0; status == PL_OK && i < PL_COUNT(stage); ++i) {
        status = stage[i](g, err);
    }
    if (status != PL_OK) {
        pl_geometric_destroy(g);
        return status;
    }

    g->now.prepare_seconds = pl_seconds() - started;
    *out = g;

    return PL_OK;
}

void pl_geometric_destroy(pl_geometric *g)
{
    if (!g) {
        return;
    }
    geo_insides_clear(g);
    geo_contact_destroy(g);
    geo_matrix_destroy(g);
    geo_rigid_destroy(g);
    geo_drives_destroy(g);
    geo_loads_destroy(g);
    pl_mesh_destroy(g->corner);
    pl_mesh_free_indices(g->map.vertex_of);

    for (int i = 0; i < GEO_WINDOW; ++i) {
        pl_free(g->memory.dx[i]);
        pl_free(g->memory.dd[i]);
        pl_free(g->memory.dr[i]);
    }

    void *owned[] = {g->map.corner_of,
                     g->map.mid,
                     g->X,
                     g->x,
                     g->support_of,
                     g->cells.block,
                     g->cells.law,
                     g->cells.curve,
                     g->cells.storage,
                     g->cells.force,
                     g->cells.gather_start,
                     g->cells.gather_code,
                     g->cells.min_J,
                     g->cells.energy,
                     g->growth.ratio,
                     g->growth.measure,
                     g->growth.stretch,
                     g->growth.share,
                     g->growth.joint.value,
                     g->growth.joint.slope,
                     g->growth.joint.bend,
                     g->growth.joint.step,
                     g->growth.joint.ratio,
                     g->growth.joint.soft,
                     g->growth.triangle,
                     g->work.f,
                     g->work.r,
                     g->work.d,
                     g->work.plain,
                     g->work.f_old,
                     g->work.r_old,
                     g->work.x_old,
                     g->work.d_old};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
    pl_free(g);
    pl_threads_release();
}

// ---- what was reached
pl_geometric_actuator_result pl_geometric_actuator(const pl_geometric *g, int i)
{
    const geo_drive *d = &g->drive[i];
    const pl_actuator *a = &g->robot->actuator[i];
    const bool growth = d->mode == GEO_GROWTH;

    // films: from -dE/dA to a stress over the present thickness
    const double unit = pl_actuator_growth_form(a->kind) == PL_GROWTH_AREA && a->thickness > 0
                            ? d->measure / (d->rest * a->thickness)
                            : 1;
    return (pl_geometric_actuator_result){.asked = d->target / d->rest,
                                          .ratio = d->measure / d->rest,
                                          .measure = d->measure,
                                          .effort = growth ? NAN : unit * d->effort,
                                          .growth = growth,
                                          .local_low = growth ? d->local_low : NAN,
                                          .local_high = growth ? d->local_high : NAN};
}

void pl_geometric_ask(pl_geometric *g, int actuator, double ratio)
{
    g->drive[actuator].asked = ratio;
}

pl_geometric_info pl_geometric_get_info(const pl_geometric *g)
{
    pl_geometric_info info = {.vertices = g->vertex_count,
                              .cable_triangles = g->growth.triangle_count,
                              .factors = g->matrix.count,
                              .prepare = g->now.prepare_seconds,
                              .iterations = g->now.iterations,
                              .accelerated = g->now.accelerated,
                              .rejected = g->now.rejected,
                              .local_seconds = g->now.local_seconds,
                              .global_seconds = g->now.global_seconds,
                              .acceleration_seconds = g->now.acceleration_seconds,
                              .inverted = g->now.inverted,
                              .inverted_chamber = g->now.inverted_chamber,
                              .springs = g->now.springs,
                              .contact_rounds = g->now.rounds,
                              .inside = g->now.inside,
                              .depth = g->now.depth,
                              .remeshes = g->now.remeshes,
                              .remesh_seconds = g->now.remesh_seconds,
                              .remeshed_elements = g->now.chamber_tets,
                              .instruction_set = geo_kernels_choose()->name};
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_target target = g->cells.law[g->cells.block[b].law].target;
        info.elements += g->cells.block[b].lane_count;
        info.chamber_elements += target == GEO_SCALE ? g->cells.block[b].lane_count : 0;
        info.film_elements += target == GEO_FILM ? g->cells.block[b].lane_count : 0;
    }

    for (int k = 0; k < g->matrix.count; ++k) {
        info.matrix_entries +=
            g->matrix.system[k].n > 0 ? g->matrix.system[k].L.start[g->matrix.system[k].n] : 0;
        info.factor_bytes += g->matrix.system[k].factor ? pl_factor_bytes(g->matrix.system[k].factor) : 0;
    }

    return info;
}
