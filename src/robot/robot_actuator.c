// Actuators, resolved: the faces and rims of chambers, the faces of films, the guide points of cables, and
// the rest measure of each.
#include <stdlib.h>
#include "robot/robot_impl.h"
#include "robot/robot_kind.h"

// Guide points of a cable or length sensor, and its length at rest in mm. Points off the body are defects
// with the nearest point as advice.
pl_status robot_guides(robot_build *b, const char *what, const char *name, const pl_guide_def *guide,
                       int count, double radius, pl_point **out, double *length)
{
    pl_point *point = PL_NEW_ARRAY(pl_point, count);
    *out = point;
    if (!point) {
        return robot_memory(b);
    }
    *length = 0;

    // each guide: its radius, then its weights
    for (int g = 0; g < count; ++g) {
        const int line = guide[g].line;
        const double reach = guide[g].radius > 0 ? guide[g].radius : radius;
        double distance = 0;

        if (reach > b->size) {
            ROBOT_DEFECT(b, line, "%s '%s': a radius of %g mm is larger than the body (%.4g mm)", what, name,
                         reach, b->size);
            return PL_OK;
        }

        if (guide[g].space) {
            memcpy(point[g].rest, guide[g].point, sizeof point[g].rest);
        } else {
            const pl_status status =
                pl_point_create(b->robot->mesh, guide[g].point, reach, &point[g], &distance, b->err);
            if (status != PL_OK) {
                return status;
            }
        }

        // a guide may stand off the body by its radius
        if (distance > reach + 1e-3 * b->size) {
            const double *p = guide[g].point;
            pl_embedding near;
            ROBOT_DEFECT(b, line, "%s '%s': guide %d at (%g, %g, %g) is %.3g mm outside the body", what, name,
                         g + 1, p[0], p[1], p[2], distance);
            if (pl_mesh_embed(b->robot->mesh, p, &near, NULL) == PL_OK) {
                const double *X = pl_mesh_get(b->robot->mesh).position;
                double q[3] = {0};

                for (int j = 0; j < near.node_count; ++j) {
                    for (int i = 0; i < 3; ++i) {
                        q[i] += near.weight[j] * X[3 * (size_t)near.node[j] + i];
                    }
                }
                for (int i = 0; i < 3; ++i) {
                    q[i] = fabs(q[i]) < 1e-9 * b->size ? 0 : q[i]; // round-off
                }

                pl_findings_advise(
                    b->findings,
                    "the nearest point of the body is (%.6g, %.6g, %.6g); for a point fixed in space "
                    "write {at: [...], space: true}",
                    q[0], q[1], q[2]);
            }

            pl_findings_place(b->findings, p, NULL, 0);
        }

        // consecutive guides must differ, or a segment has no direction
        const double step = g > 0 ? pl_distance3(point[g].rest, point[g - 1].rest) : 1;
        if (g > 0 && !(step > 1e-9 * b->size)) {
            ROBOT_DEFECT(b, line, "%s '%s': guides %d and %d are at the same place", what, name, g, g + 1);
        }
        *length += g > 0 ? step : 0;
    }

    return PL_OK;
}

// Rims as loops that run against the faces' edges, so that (centre, node, next node) is turned like the
// faces.
static pl_status actuator_rims(robot_build *b, pl_actuator *a, int line)
{
    pl_rims rims = {0};
    pl_error err;
    const pl_status status = pl_mesh_rims(b->robot->mesh, a->face, a->face_count, &rims, &err);

    if (status == PL_NO_MEMORY) {
        return robot_memory(b);
    }
    if (status != PL_OK) {
        ROBOT_DEFECT(b, line, "chamber '%s': its surface cannot be closed: %s", a->name, err.text);
        return PL_OK;
    }

    // quadratic only if every edge has a mid node: loops are of one kind
    const int32_t edges = rims.count > 0 ? rims.start[rims.count] : 0;
    a->rim_quadratic = edges > 0;
    for (int32_t k = 0; k < edges; ++k) {
        a->rim_quadratic = a->rim_quadratic && rims.mid[k] >= 0;
    }

    const int per = a->rim_quadratic ? 2 : 1;
    a->rim_start = PL_NEW_ARRAY(int32_t, (int64_t)rims.count + 1);
    a->rim_node = PL_NEW_ARRAY(int32_t, (int64_t)edges * per);
    if (!a->rim_start || !a->rim_node) {
        pl_rims_clear(&rims);
        return robot_memory(b);
    }

    a->rim_count = rims.count;

    // loops reversed
    for (int32_t r = 0; r < rims.count; ++r) {
        const int32_t first = rims.start[r], n = rims.start[r + 1] - first;
        int32_t *node = a->rim_node + (size_t)per * (size_t)first;

        for (int32_t k = 0; k < n; ++k) {
            // corner 0, then back along the edge from the last corner to it, and so on
            const int32_t here = k == 0 ? 0 : n - k, edge = n - 1 - k;
            node[per * k] = rims.corner[first + here];
            if (a->rim_quadratic) {
                node[2 * k + 1] = rims.mid[first + edge];
            }
        }

        a->rim_start[r + 1] = a->rim_start[r] + per * n;
    }

    pl_rims_clear(&rims);

    return PL_OK;
}

// Faces of a chamber given by a region that stays in the mesh: its walls as seen from the elements around it.
static pl_status actuator_region_faces(robot_build *b, const pl_actuator_def *def, pl_actuator *a)
{
    const char *name = robot_air_name(def);

    // a growing chamber without its region has been reported with the materials
    const int32_t region = def->growth ? pl_mesh_find_region(b->robot->mesh, name)
                                       : robot_find_region(b, name, "chamber", def->line);
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    bool *inside = PL_NEW_ARRAY(bool, v.element_count);

    if (region < 0 || !inside) {
        pl_free(inside);
        return inside ? PL_OK : robot_memory(b);
    }

    for (int32_t e = 0; e < v.element_count; ++e) {
        inside[e] = v.region[e] == region;
    }

    const pl_status status = robot_interface(b->robot->mesh, inside, &a->face, &a->face_count, b->err);
    pl_free(inside);
    if (status == PL_OK && !def->growth) {
        ROBOT_FIND(
            b, PL_WARNING, def->line,
            "chamber '%s': region '%s' has a material, so its elements are kept and stiffen the chamber",
            def->name, name);
        pl_findings_advise(b->findings, "take '%s' out of regions: to make it a cavity", name);
    }

    return status;
}

// Faces of a chamber or film: of a surface, of a region that is taken out of the
// mesh, or around one that stays.
static pl_status actuator_faces(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a)
{
    const char *what = pl_actuator_kind_name(def->kind);
    if (def->region && !pl_actuator_traits_get(def->kind)->encloses) {
        const int32_t region = robot_find_region(b, def->region, what, def->line);
        return region < 0 ? PL_OK : robot_film_faces(b, region, &a->face, &a->face_count);
    }

    if (def->growth || (def->region && !b->hollow[index])) {
        return actuator_region_faces(b, def, a);
    }

    const char *name = def->region ? def->region : def->surface;
    const int32_t surface = robot_find_surface(b, name, what, def->line);

    return surface < 0 ? PL_OK : robot_copy_faces(b, surface, &a->face, &a->face_count);
}

// Closes the openings and measures the volume at rest, which must be positive: a surface seen from the wrong
// side encloses less than nothing.
static pl_status actuator_chamber(robot_build *b, const pl_actuator_def *def, pl_actuator *a)
{
    const int defects = pl_findings_defect_count(b->findings);
    pl_status status = actuator_rims(b, a, def->line);

    if (status == PL_OK) {
        status = robot_caps(b, a, def->line);
    }
    if (status != PL_OK || pl_findings_defect_count(b->findings) > defects) {
        return status;
    }

    if (!(a->rest > 1e-9 * b->size * b->size * b->size)) {
        ROBOT_DEFECT(b, def->line,
                     "chamber '%s': '%s' encloses %.6g mm^3, expected a cavity with a positive volume",
                     def->name, def->region ? def->region : def->surface,
                     fabs(a->rest) < 1e-9 * pow(b->size, 3) ? 0 : a->rest);
        pl_findings_advise(b->findings,
                           "the surface must be the walls around the cavity, e.g. {seen_from: [x, y, z]} "
                           "with a point inside the cavity");
    }

    return PL_OK;
}

// Where a file gives none: 2 % of the body, so that a finer mesh changes nothing, but not less than half an
// edge, below which a guide would act on one element.
static double actuator_guide_radius(const robot_build *b)
{
    const pl_mesh_view mesh = pl_mesh_get(b->robot->mesh);
    const double volume = pl_mesh_region_volume(b->robot->mesh, -1) / mesh.element_count;
    return fmax(0.02 * b->size, 0.5 * cbrt(6 * sqrt(2) * volume)); // the edge of a regular tetrahedron
}

// Guides and rest length; without a radius the force must be spread over something
// that does not depend on the mesh.
pl_status robot_cable(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a)
{
    (void)index;
    a->guide_count = def->guide_count;
    double radius = def->radius;

    if (def->default_radius && !def->growth) {
        radius = actuator_guide_radius(b);
        ROBOT_FIND(b, PL_NOTE, def->line,
                   "cable '%s' has no radius: its guides spread their force over %.3g mm", def->name, radius);
        pl_findings_advise(b->findings, "give it the radius of the guide, e.g. radius: 1; with radius: 0 the "
                                        "force acts on one element, and the result depends on the mesh");
    } else if (def->radius == 0) {
        ROBOT_FIND(b, PL_NOTE, def->line,
                   "cable '%s' has no radius: point forces become singular as the mesh is refined",
                   def->name);
        pl_findings_advise(b->findings, "give it the radius of the guide, e.g. radius: 1");
    }

    return robot_guides(b, "cable", def->name, def->guide, def->guide_count, radius, &a->guide, &a->rest);
}

// Chambers and films act on faces; *good: there are some.
static pl_status actuator_on_faces(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a,
                                   bool *good)
{
    const pl_status status = actuator_faces(b, def, index, a);
    *good = status == PL_OK && a->face_count > 0;
    if (status == PL_OK && a->face && a->face_count == 0) {
        ROBOT_DEFECT(b, def->line, "actuator '%s': its surface has no face", def->name);
    }
    if (*good) {
        robot_fill_give(b, index);
    }

    return status;
}

pl_status robot_chamber(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a)
{
    bool good;
    const pl_status status = actuator_on_faces(b, def, index, a, &good);
    return good ? actuator_chamber(b, def, a) : status;
}

pl_status robot_film_build(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a)
{
    bool good;
    const pl_status status = actuator_on_faces(b, def, index, a, &good);
    return good ? robot_film(b, def, a) : status;
}

// Copies the def, then the kind resolves the rest on the mesh.
static pl_status actuator_read(robot_build *b, int index)
{
    const pl_actuator_def *def = &b->def->actuator[index];
    pl_actuator *a = &b->robot->actuator[index];

    *a = (pl_actuator){.name = pl_strdup(def->name),
                       .kind = def->kind,
                       .drive = def->drive,
                       .range = {def->range[0], def->range[1]},
                       .has_range = def->has_range,
                       .idle_hold = def->idle_hold,
                       .friction = def->friction,
                       .line_volume = def->line_volume,
                       .ambient = def->ambient,
                       .thickness = def->thickness,
                       .permittivity = def->permittivity,
                       .liquid = def->liquid,
                       .command = -1,
                       .factor = 1,
                       .growth = def->growth,
                       .modulus = def->modulus,
                       .region = -1,
                       .magnet = -1,
                       .rate = def->rate,
                       .fill = def->fill,
                       .vent = def->vent,
                       .hardware = def->hardware};
    return a->name ? robot_kind_build(b, def, index, a) : robot_memory(b);
}

typedef struct owned_face {
    int64_t face;
    int actuator;
} owned_face;

static int actuator_by_face(const void *a, const void *b)
{
    const owned_face *x = a, *y = b;
    return x->face != y->face ? (x->face > y->face) - (x->face < y->face) : x->actuator - y->actuator;
}

// A cavity has one pressure: of two chambers with the same walls the pressures would add up, and two volumes
// contradict each other.
static pl_status actuator_share(robot_build *b)
{
    const pl_robot *robot = b->robot;
    int64_t total = 0, count = 0;
    for (int i = 0; i < robot->actuator_count; ++i) {
        total += robot->actuator[i].face_count;
    }
    owned_face *owned = PL_NEW_ARRAY(owned_face, total);
    if (!owned) {
        return robot_memory(b);
    }

    for (int i = 0; i < robot->actuator_count; ++i) {
        const pl_actuator *a = &robot->actuator[i];
        for (int64_t k = 0; pl_actuator_traits_get(a->kind)->encloses && !a->growth && k < a->face_count;
             ++k) {
            owned[count++] = (owned_face){a->face[k], i};
        }
    }
    qsort(owned, (size_t)count, sizeof *owned, actuator_by_face);

    // one finding for each chamber whose walls belong to one before it
    for (int i = 0; i < robot->actuator_count; ++i) {
        int64_t k = 1;
        while (k < count && !(owned[k].actuator == i && owned[k].face == owned[k - 1].face)) {
            k++;
        }
        if (k < count) {
            ROBOT_DEFECT(b, b->def->actuator[i].line, "chambers '%s' and '%s' have the same walls",
                         robot->actuator[owned[k - 1].actuator].name, robot->actuator[i].name);
            pl_findings_advise(b->findings, "a cavity has one pressure and one volume: make it one chamber");
        }
    }
    pl_free(owned);

    return PL_OK;
}

// All actuators; what cannot be resolved is a finding, not a failure, so that
// all defects are reported at once.
pl_status robot_actuators(robot_build *b)
{
    b->robot->actuator = PL_NEW_ARRAY(pl_actuator, b->def->actuator_count);
    if (!b->robot->actuator) {
        return robot_memory(b);
    }

    for (int i = 0; i < b->def->actuator_count; ++i) {
        b->robot->actuator_count = i + 1;
        pl_status status = actuator_read(b, i);
        if (status == PL_OK) {
            status = robot_growth(b, i);
        }
        if (status != PL_OK) {
            return status;
        }
    }

    return actuator_share(b);
}
