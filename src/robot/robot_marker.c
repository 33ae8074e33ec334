// Markers, sensors, forces and pressures, resolved to vertices and faces.
#include "robot/robot_impl.h"
#include "robot/robot_kind.h"

static bool marker_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

// Weights of a surface's centroid: w_j = int N_j dA / A over its (possibly curved) faces. On straight
// quadratic triangles the corners' integrals vanish and the mid nodes carry all.
static pl_status marker_surface_weights(robot_build *b, int32_t surface, pl_point *out)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    double *share = PL_NEW_ARRAY(double, v.vertex_count);

    if (!share) {
        return robot_memory(b);
    }

    // integrals of N_j over the faces
    double area = 0;
    for (int64_t k = v.surface_start[surface]; k < v.surface_start[surface + 1]; ++k) {
        int32_t node[PL_FACE_NODES_MAX];
        double x[3 * PL_FACE_NODES_MAX], xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
        int points = 0;
        const int n = pl_mesh_face_nodes(b->robot->mesh, v.surface_face[k], node);
        pl_mesh_gather_face(b->robot->mesh, v.surface_face[k], x);
        pl_face_quadrature(n, &points, xi, weight);

        for (int q = 0; q < points; ++q) {
            double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX], t[3] = {0}, s[3] = {0}, normal[3];
            pl_face_shape_eval(n, xi[q], N, dN);

            for (int a = 0; a < n; ++a) {
                for (int i = 0; i < 3; ++i) {
                    t[i] += dN[2 * a] * x[3 * a + i];
                    s[i] += dN[2 * a + 1] * x[3 * a + i];
                }
            }

            pl_cross3(t, s, normal);
            const double dA = weight[q] * pl_norm3(normal);
            area += dA;
            for (int a = 0; a < n; ++a) {
                share[node[a]] += N[a] * dA;
            }
        }
    }

    // nodes that take part: round-off of vanishing integrals does not
    for (int32_t j = 0; j < v.vertex_count; ++j) {
        share[j] /= area;
        b->mark[j] = fabs(share[j]) > 1e-14;
    }

    pl_status status = robot_take_marks(b, &out->node, &out->count);
    out->weight = status == PL_OK ? PL_NEW_ARRAY(double, out->count) : NULL;
    status = status == PL_OK && !out->weight ? robot_memory(b) : status;

    // weights sum to exactly 1, so that the marker moves with the body
    double sum = 0;
    for (int32_t j = 0; status == PL_OK && j < out->count; ++j) {
        out->weight[j] = share[out->node[j]];
        sum += out->weight[j];
    }

    for (int32_t j = 0; status == PL_OK && j < out->count; ++j) {
        out->weight[j] /= sum;
        for (int i = 0; i < 3; ++i) {
            out->rest[i] += out->weight[j] * v.position[3 * (size_t)out->node[j] + i];
        }
    }

    pl_free(share);

    return status;
}

// The patch of a surface marker has the point's weights; curved faces may give a corner a slightly negative
// one, which is set to zero.
static pl_status marker_surface_patch(robot_build *b, const pl_point *point, pl_point *patch)
{
    const double *X = pl_mesh_get(b->robot->mesh).position;
    patch->node = PL_NEW_ARRAY(int32_t, point->count);
    patch->weight = PL_NEW_ARRAY(double, point->count);
    if (!patch->node || !patch->weight) {
        return robot_memory(b);
    }

    double sum = 0;
    for (int32_t j = 0; j < point->count; ++j) {
        if (point->weight[j] > 0) {
            patch->node[patch->count] = point->node[j];
            patch->weight[patch->count++] = point->weight[j];
            sum += point->weight[j];
        }
    }

    for (int32_t j = 0; j < patch->count; ++j) {
        patch->weight[j] /= sum;
        for (int i = 0; i < 3; ++i) {
            patch->rest[i] += patch->weight[j] * X[3 * (size_t)patch->node[j] + i];
        }
    }

    return PL_OK;
}

// A frame needs vertices that span at least a plane: the second eigenvalue of their weighted covariance.
static bool marker_spans(const pl_mesh *mesh, const pl_point *patch)
{
    const double *X = pl_mesh_get(mesh).position;
    double C[9] = {0}, value[3];

    for (int32_t j = 0; j < patch->count; ++j) {
        double d[3];
        pl_sub3(X + 3 * (size_t)patch->node[j], patch->rest, d);
        for (int i = 0; i < 9; ++i) {
            C[i] += patch->weight[j] * d[i / 3] * d[i % 3];
        }
    }

    pl_eigen3(C, value, NULL);
    return value[1] > 1e-6 * value[2] && value[2] > 0;
}

// A point, or with a radius a mean over the material around it.
static pl_status marker_at(robot_build *b, const pl_marker_def *def, pl_marker *m)
{
    if (def->radius > b->size) {
        ROBOT_DEFECT(b, def->line, "marker '%s': a radius of %g mm is larger than the body (%.4g mm)",
                     def->name, def->radius, b->size);
        return PL_OK;
    }

    // a point off the body rides on the nearest point of it
    pl_status status = pl_point_create(b->robot->mesh, def->at, 0, &m->point, &m->distance, b->err);
    if (status != PL_OK) {
        return status;
    }

    const double nearest[3] = {m->point.rest[0], m->point.rest[1], m->point.rest[2]};
    if (m->distance <= 1e-9 * b->size) {
        m->distance = 0;
    }

    // the mean over a radius, and the patch that gives the marker's frame
    if (def->radius > 0) {
        pl_point_clear(&m->point);
        status = pl_point_create(b->robot->mesh, nearest, def->radius, &m->point, NULL, b->err);
    }

    if (status == PL_OK) {
        status = robot_point_patch(b->robot->mesh, nearest, def->radius, &m->patch, b->err);
    }

    // round-off of a point on the body is no offset
    if (status == PL_OK) {
        pl_sub3(def->at, m->point.rest, m->offset);
        for (int i = 0; m->distance == 0 && i < 3; ++i) {
            m->offset[i] = fabs(m->offset[i]) < 1e-6 * b->size ? 0 : m->offset[i];
        }
    }

    if (status == PL_OK && m->distance > 0.5 * b->size) {
        ROBOT_FIND(b, PL_WARNING, def->line, "marker '%s' is %.4g mm outside the body, whose size is %.4g mm",
                   def->name, m->distance, b->size);
        pl_findings_place(b->findings, def->at, NULL, 0);
    }

    return status;
}

// Each marker's weights, and whether it has a frame.
pl_status robot_markers(robot_build *b)
{
    b->robot->marker = PL_NEW_ARRAY(pl_marker, b->def->marker_count);
    pl_status status = b->robot->marker ? PL_OK : robot_memory(b);
    for (int i = 0; status == PL_OK && i < b->def->marker_count; ++i) {
        const pl_marker_def *def = &b->def->marker[i];
        pl_marker *m = &b->robot->marker[b->robot->marker_count++];
        m->name = pl_strdup(def->name);
        if (!m->name) {
            return robot_memory(b);
        }
        if (def->surface) {
            const int32_t surface = robot_find_surface(b, def->surface, "marker", def->line);
            if (surface < 0) {
                continue;
            }
            const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
            if (v.surface_start[surface + 1] == v.surface_start[surface]) {
                ROBOT_DEFECT(b, def->line, "marker '%s': surface '%s' has no face", def->name, def->surface);
                continue;
            }

            status = marker_surface_weights(b, surface, &m->point);
            status = status == PL_OK ? marker_surface_patch(b, &m->point, &m->patch) : status;
        } else {
            status = marker_at(b, def, m);
        }
        m->frame = status == PL_OK && marker_spans(b->robot->mesh, &m->patch);
    }

    return status;
}

// A length by its guides, everything else by its actuator.
pl_status robot_sensors(robot_build *b)
{
    b->robot->sensor = PL_NEW_ARRAY(pl_sensor, b->def->sensor_count);
    pl_status status = b->robot->sensor ? PL_OK : robot_memory(b);
    for (int i = 0; status == PL_OK && i < b->def->sensor_count; ++i) {
        const pl_sensor_def *def = &b->def->sensor[i];
        pl_sensor *s = &b->robot->sensor[b->robot->sensor_count++];
        *s = (pl_sensor){.name = pl_strdup(def->name), .kind = def->kind, .actuator = -1};
        if (!s->name) {
            return robot_memory(b);
        }
        if (pl_sensor_is_line(def->kind)) {
            double length;
            s->guide_count = def->guide_count;
            status = robot_guides(b, "sensor", def->name, def->guide, def->guide_count, def->radius,
                                  &s->guide, &length);
            continue;
        }

        for (int a = 0; a < b->robot->actuator_count; ++a) {
            s->actuator = marker_same(b->robot->actuator[a].name, def->actuator) ? a : s->actuator;
        }
    }

    return status;
}

// Forces at markers and pressures on surfaces; what cannot act is a defect.
pl_status robot_loads(robot_build *b)
{
    pl_robot *robot = b->robot;
    robot->force = PL_NEW_ARRAY(pl_force, b->def->force_count);
    robot->pressure = PL_NEW_ARRAY(pl_surface_pressure, b->def->pressure_count);
    pl_status status = robot->force && robot->pressure ? PL_OK : robot_memory(b);

    for (int i = 0; status == PL_OK && i < b->def->force_count; ++i) {
        const pl_force_def *def = &b->def->force[i];
        pl_force *f = &robot->force[robot->force_count++];
        for (int m = 0; m < robot->marker_count; ++m) {
            f->marker = marker_same(robot->marker[m].name, def->marker) ? m : f->marker;
        }
        // 0.5 mm: below that the missing moment does not matter
        memcpy(f->force, def->force, sizeof f->force);
        memcpy(f->moment, def->moment, sizeof f->moment);
        if (robot->marker_count > 0 && pl_norm3(def->force) > 0 && robot->marker[f->marker].distance > 0.5) {
            pl_findings_add(b->findings, PL_WARNING, b->def->file, def->line,
                            "loads: marker '%s' is %.3g mm outside the body; the force acts at the nearest "
                            "point of the body, without the moment of that lever arm",
                            def->marker, robot->marker[f->marker].distance);
            pl_findings_advise(b->findings, "move the marker onto the body, or add the moment of the force");
        }

        if (pl_norm3(def->moment) > 0 && robot->marker_count > 0 && !robot->marker[f->marker].frame) {
            ROBOT_DEFECT(b, def->line,
                         "loads: a moment cannot act on marker '%s': its vertices lie on one line",
                         def->marker);
            pl_findings_advise(b->findings, "give the marker a radius, or a surface");
        }
    }

    // pressures
    for (int i = 0; status == PL_OK && i < b->def->pressure_count; ++i) {
        const pl_surface_pressure_def *def = &b->def->pressure[i];
        pl_surface_pressure *p = &robot->pressure[robot->pressure_count++];
        p->pressure = def->pressure;
        const int32_t surface = robot_find_surface(b, def->surface, "loads: pressure", def->line);
        if (surface >= 0) {
            status = robot_copy_faces(b, surface, &p->face, &p->face_count);
        }
    }

    return status;
}
