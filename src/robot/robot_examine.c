// What looks wrong with a robot although it can be built: its mesh, chambers, markers and cables.
#include <stdio.h>
#include "robot/robot_impl.h"
#include "robot/robot_kind.h"

#define EXAMINE_SAMPLES 40 // points looked at between two guides of a cable

// Openings, which may be meant, and volumes that are not positive.
static void examine_chambers(const pl_robot *robot, pl_findings *findings)
{
    for (int i = 0; i < robot->actuator_count; ++i) {
        const pl_actuator *a = &robot->actuator[i];
        if (!pl_actuator_traits_get(a->kind)->encloses) {
            continue;
        }
        if (a->rim_count > 0) {
            pl_findings_add(findings, PL_NOTE, NULL, 0,
                            "chamber '%s' is open at %d rim%s, capped flat; its volume is %.4g mL", a->name,
                            a->rim_count, a->rim_count == 1 ? "" : "s", a->rest / 1000);
            pl_findings_advise(findings, "correct for an air inlet; otherwise check the surface with `pliant "
                                         "mesh --out cavity.stl --surface ...`");
        }

        if (!(a->rest > 0)) {
            pl_findings_add(findings, PL_DEFECT, NULL, 0,
                            "chamber '%s' encloses %.3g mm^3, expected a positive volume", a->name, a->rest);
            pl_findings_advise(
                findings, "its faces must point into the cavity: use `seen_from` with a point inside it");
        }
    }
}

// Whether loading has reported it already: a finding that contains `words`, or that names 'name' and contains
// them.
static bool examine_said(const pl_findings *findings, const char *words)
{
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        if (strstr(pl_findings_at(findings, i)->text, words)) {
            return true;
        }
    }

    return false;
}

// The same, of one thing by its name.
static bool examine_reported(const pl_findings *findings, const char *name, const char *words)
{
    char quoted[200];
    snprintf(quoted, sizeof quoted, "'%s'", name);
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const char *text = pl_findings_at(findings, i)->text;
        if (strstr(text, quoted) && strstr(text, words)) {
            return true;
        }
    }

    return false;
}

// Markers off the body by more than round-off; by more than five edges it is probably a mistake.
static void examine_markers(const pl_robot *robot, double edge, pl_findings *findings)
{
    if (robot->marker_count == 0) {
        pl_findings_add(findings, PL_NOTE, NULL, 0, "no marker: `fk` will report no position");
        pl_findings_advise(findings, "add `markers: {tip: {surface: tip}}` or a point `{at: [x, y, z]}`");
    }

    for (int i = 0; i < robot->marker_count; ++i) {
        double place[3], distance = 0;
        pl_robot_marker_rest(robot, i, place, &distance);
        const char *name = robot->marker[i].name;

        if (distance > 1e-3 * edge && !examine_reported(findings, name, "outside the body")) {
            pl_findings_add(findings, distance > 5 * edge ? PL_WARNING : PL_NOTE, NULL, 0,
                            "marker '%s' is %.3g mm outside the body at (%.4g, %.4g, %.4g)", name, distance,
                            pl_tidy(place[0]), pl_tidy(place[1]), pl_tidy(place[2]));
            pl_findings_advise(findings,
                               "it moves with the nearest face; to place it on the body, change its `at`");
            pl_findings_place(findings, place, NULL, 0);
        }
    }
}

// ---- cables
// How far outside of the body the straight line from a to b runs: the largest distance, where, and the length
// outside (mm).
static void examine_segment(const pl_mesh *mesh, const double a[3], const double b[3], double *distance,
                            double place[3], double *outside)
{
    // the ends are guides, which are examined by themselves
    int out = 0;
    for (int k = 1; k < EXAMINE_SAMPLES; ++k) {
        double p[3];
        for (int i = 0; i < 3; ++i) {
            p[i] = a[i] + (b[i] - a[i]) * k / EXAMINE_SAMPLES;
        }
        pl_embedding e;
        if (pl_mesh_embed(mesh, p, &e, NULL) != PL_OK) {
            return;
        }
        out += e.distance > 0;
        if (e.distance > *distance) {
            *distance = e.distance;
            memcpy(place, p, sizeof p);
        }
    }

    *outside = pl_distance3(a, b) * out / EXAMINE_SAMPLES;
}

// `reach`: how far from the point the material lies that the guide acts on. A guide on the axis of a hole is
// as far from the body as the hole is wide, and held by the wall around it.
static void examine_guide(const pl_robot *robot, const char *name, int k, const double point[3], double reach,
                          double edge, pl_findings *findings)
{
    pl_embedding e;
    if (pl_mesh_embed(robot->mesh, point, &e, NULL) == PL_OK && e.distance > reach + 0.01 * edge) {
        pl_findings_add(findings, PL_WARNING, NULL, 0,
                        "cable '%s': guide point %d at (%.4g, %.4g, %.4g) is %.3g mm outside the body", name,
                        k + 1, point[0], point[1], point[2], e.distance);
        pl_findings_advise(findings, "move the point into the body, or fix it in space if it is a pulley");
        pl_findings_place(findings, point, NULL, 0);
    }
}

// The piece between guides k and k + 1.
static void examine_piece(const pl_robot *robot, const char *name, int k, const double a[3],
                          const double b[3], double reach, double edge, pl_findings *findings)
{
    double distance = 0, place[3] = {0}, outside = 0;
    examine_segment(robot->mesh, a, b, &distance, place, &outside);
    if (distance > 1.25 * reach + 0.01 * edge) { // the hole is a polygon of nodes
        pl_findings_add(findings, PL_NOTE, NULL, 0,
                        "cable '%s' leaves the body between guide points %d and %d over %.3g mm, by up to "
                        "%.3g mm, near (%.4g, %.4g, %.4g)",
                        name, k + 1, k + 2, outside, distance, pl_tidy(place[0]), pl_tidy(place[1]),
                        pl_tidy(place[2]));
        pl_findings_advise(findings,
                           "correct where a tendon spans a notch; otherwise add guide points between them");
        pl_findings_place(findings, place, NULL, 0);
    }
}

// Where a guide point sits on the mesh as it is.
static void examine_guide_place(const pl_robot *robot, const pl_point *guide, double at[3])
{
    const double *x = pl_mesh_get(robot->mesh).position;
    memcpy(at, guide->rest, 3 * sizeof *at);
    for (int32_t j = 0; j < guide->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            at[i] = (j ? at[i] : 0) + guide->weight[j] * x[3 * (size_t)guide->node[j] + (size_t)i];
        }
    }
}

// The radius of the hole a guide sits in, to the nearest node it acts on; 0 for a guide in the material.
static double examine_guide_reach(const pl_robot *robot, const pl_point *guide, const double at[3])
{
    const double *x = pl_mesh_get(robot->mesh).position;
    pl_embedding e;

    if (guide->count == 0 || pl_mesh_embed(robot->mesh, at, &e, NULL) != PL_OK || e.distance == 0) {
        return 0;
    }

    double reach = INFINITY;
    for (int32_t j = 0; j < guide->count; ++j) {
        reach = fmin(reach, pl_distance3(x + 3 * (size_t)guide->node[j], at));
    }

    return reach;
}

// All guides first, so that the findings are in order; then the pieces between them.
static void examine_cable(const pl_robot *robot, const pl_actuator *cable, double edge, pl_findings *findings)
{
    double point[3], before[3] = {0}, reach = 0;
    for (int k = 0; k < cable->guide_count; ++k) {
        examine_guide_place(robot, &cable->guide[k], point);
        examine_guide(robot, cable->name, k, point, examine_guide_reach(robot, &cable->guide[k], point), edge,
                      findings);
    }

    for (int k = 0; k < cable->guide_count; ++k) {
        examine_guide_place(robot, &cable->guide[k], point);
        const double before_reach = reach;
        reach = examine_guide_reach(robot, &cable->guide[k], point);
        if (k > 0) {
            examine_piece(robot, cable->name, k - 1, before, point, fmax(reach, before_reach), edge,
                          findings);
        }

        memcpy(before, point, sizeof before);
    }
}

// Bodies that pass through themselves or each other before anything moves: contact would tear them apart.
static pl_status examine_crossings(const pl_robot *robot, pl_findings *findings, pl_error *err)
{
    pl_crossings found;
    const pl_status status = pl_mesh_crossings(robot->mesh, NULL, &found, err);

    if (status == PL_OK && found.count > 0) {
        pl_findings_add(
            findings, PL_WARNING, NULL, 0,
            "the undeformed surface passes through itself: %d pairs of triangles intersect, the first at "
            "(%.4g, %.4g, %.4g) mm",
            (int)found.count, found.at[0], found.at[1], found.at[2]);
        pl_findings_advise(findings, "move the bodies or parts apart");
        pl_findings_place(findings, found.at, NULL, 0);
    }

    return status;
}

// Adds to `findings`; fails without memory only.
pl_status pl_robot_examine(const pl_robot *robot, pl_findings *findings, pl_error *err)
{
    pl_status status = PL_OK;

    // loading reports shapes, too
    if (!examine_said(findings, "(quality below") && !examine_said(findings, "are inverted at")) {
        status = pl_mesh_examine_shapes(robot->mesh, PL_DEFECT, findings, err);
    }
    if (status == PL_OK) {
        status = pl_mesh_examine_parts(robot->mesh, robot->region_body, findings, err);
    }
    if (status == PL_OK) {
        status = pl_mesh_examine_walls(robot->mesh, findings, err);
    }
    if (status == PL_OK) {
        status = examine_crossings(robot, findings, err);
    }
    if (status != PL_OK) {
        return status;
    }

    // parts of the robot, distances in terms of the mean edge
    const double edge = pl_mesh_measure_quality(robot->mesh).mean_edge;
    examine_chambers(robot, findings);
    examine_markers(robot, edge, findings);

    for (int i = 0; i < robot->actuator_count; ++i) {
        if (pl_actuator_kind_get(robot->actuator[i].kind)->place == PL_PLACE_POINTS) {
            examine_cable(robot, &robot->actuator[i], edge, findings);
        }
    }

    return PL_OK;
}
