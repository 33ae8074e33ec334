// Progressive remeshing of chambers that grow (Fang et al. 2022, Algorithm 1). A chamber that is to reach
// many times its volume grows in stages. Where a stage leaves a chamber tet larger than `remesh_volume` times
// its rest volume, or stretched beyond `remesh_stretch`, and wherever it ends short of its volume, the space
// inside the deformed wall is remeshed. The new tets stand on the wall's own triangles, and the shape they
// are found in is their rest shape; the body keeps its elements and its rest shape. Stages end when the
// volume asked for is there:
//   ask = min(wanted, remesh_volume reached), then ask <- ask wanted / reached.
// Every solve starts from rest, so answers do not depend on what was solved before.
#include <stdio.h>
#include "geometric/geometric_impl.h"
#include "robot/robot_kind.h"

#define REMESH_STAGES 60    // most meshes of one solve
#define REMESH_VOLUME 1e-3  // how near to the volume asked for a solve ends
#define REMESH_OVERSHOOT 20 // how much more may be asked for than wanted

void geo_insides_clear(pl_geometric *g)
{
    for (int i = 0; g->inside && i < g->robot->actuator_count; ++i) {
        pl_free(g->inside[i].tet);
        pl_free(g->inside[i].rest);
        pl_free(g->inside[i].position);
    }

    pl_free(g->inside);
    g->inside = NULL;
}

// Chambers with tets of their own, which are not elements of the robot's mesh.
static bool remesh_is_filled(const pl_geometric *g, int i)
{
    const pl_actuator *a = &g->robot->actuator[i];
    return pl_actuator_encloses(a->kind) && a->fill_count > 0 && g->drive[i].has_elements;
}

bool geo_remesh_wanted(const pl_geometric *g)
{
    const pl_mesher *mesher = g->options.mesher;
    bool filled = false;
    for (int i = 0; g->options.remesh && mesher && mesher->fill && i < g->drive_count; ++i) {
        filled = filled || remesh_is_filled(g, i);
    }
    return filled;
}

// ---- which tets have had enough
// F of a chamber tet from its rest shape.
static void remesh_gradient(const geo_block *block, int lane, const double *x, double F[9])
{
    memset(F, 0, 9 * sizeof *F);
    for (int a = 0; a < block->node_count; ++a) {
        const double *p = x + 3 * (size_t)block->node[a][lane];
        for (int i = 0; i < 9; ++i) {
            F[i] += p[i / 3] * block->gradient[(3 * a + i % 3) * GEO_LANES + lane];
        }
    }
}

static bool remesh_is_due(const pl_geometric *g)
{
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];
        for (int l = 0; g->cells.law[block->law].target == GEO_SCALE && l < block->lane_count; ++l) {
            double F[9], C[9], value[3];
            remesh_gradient(block, l, g->x, F);
            for (int i = 0; i < 9; ++i) {
                C[i] = F[i / 3] * F[i % 3] + F[3 + i / 3] * F[3 + i % 3] + F[6 + i / 3] * F[6 + i % 3];
            }
            pl_eigen3(C, value, NULL);
            if (pl_det3(F) > g->options.remesh_volume ||
                sqrt(fmax(0, value[2])) > g->options.remesh_stretch) {
                return true;
            }
        }
    }

    return false;
}

// ---- the deformed body with its chambers as the only surfaces
static pl_status remesh_body(const pl_geometric *g, pl_mesh **out, pl_error *err)
{
    const pl_mesh_view *v = &g->mesh;
    int64_t faces = 0;

    for (int i = 0; i < g->drive_count; ++i) {
        faces += remesh_is_filled(g, i) ? g->robot->actuator[i].face_count : 0;
    }

    int32_t *corner = PL_NEW_ARRAY(int32_t, 4 * faces);
    int64_t *start = PL_NEW_ARRAY(int64_t, (int64_t)g->drive_count + 1);
    const char **name = PL_NEW_ARRAY(const char *, g->drive_count);
    int32_t surfaces = 0;
    int64_t n = 0;
    pl_status status = corner && start && name ? PL_OK : pl_fail_memory(err, "remeshing");

    // walls of chambers that are filled, as surfaces with the names of their actuators
    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        const pl_actuator *a = &g->robot->actuator[i];
        if (!remesh_is_filled(g, i)) {
            continue;
        }
        for (int64_t k = 0; k < a->face_count; ++k, ++n) {
            int32_t node[PL_FACE_NODES_MAX];
            const int nodes = pl_mesh_face_nodes(g->corner, a->face[k], node);
            for (int c = 0; c < 4; ++c) {
                corner[4 * n + c] = c < nodes ? node[c] : -1;
            }
        }

        name[surfaces++] = a->name;
        start[surfaces] = n;
    }

    const pl_mesh_def def = {.vertex_count = v->vertex_count,
                             .position = g->x,
                             .element_count = v->element_count,
                             .kind = v->kind,
                             .node_start = v->node_start,
                             .node = v->node,
                             .region = v->region,
                             .region_count = v->region_count,
                             .region_name = v->region_name,
                             .surface_count = surfaces,
                             .surface_name = name,
                             .surface_start = start,
                             .surface_corner = corner};
    if (status == PL_OK) {
        status = pl_mesh_create(&def, out, NULL, err);
    }
    pl_free(corner);
    pl_free(start);
    pl_free(name);

    return status;
}

// The tets of one chamber, with the shape they are in as their rest shape.
static pl_status remesh_take(const pl_geometric *g, const pl_mesh_view *v, int32_t region, geo_inside *in,
                             pl_error *err)
{
    int32_t *number = PL_NEW_ARRAY(int32_t, v->vertex_count);
    for (int32_t e = g->mesh.element_count; e < v->element_count; ++e) {
        in->tet_count += v->region[e] == region;
    }
    in->tet = PL_NEW_ARRAY(int32_t, 4 * (int64_t)in->tet_count);
    in->rest = PL_NEW_ARRAY(double, 12 * (int64_t)in->tet_count);
    in->position = PL_NEW_ARRAY(double, 3 * ((int64_t)v->vertex_count - g->corner_count));
    if (!number || !in->tet || !in->rest || !in->position) {
        pl_free(number);
        return pl_fail_memory(err, "remeshing");
    }

    int32_t t = 0;
    for (int32_t e = g->mesh.element_count; e < v->element_count; ++e) {
        for (int k = 0; v->region[e] == region && k < 4; ++k) {
            const int32_t p = v->node[v->node_start[e] + k];
            const double *x = v->position + 3 * (size_t)p;
            if (p >= g->corner_count && number[p] == 0) {
                memcpy(in->position + 3 * (size_t)in->vertex_count, x, 3 * sizeof *x);
                number[p] = ++in->vertex_count;
            }

            in->tet[4 * (size_t)t + (size_t)k] = p < g->corner_count ? p : g->corner_count + number[p] - 1;
            memcpy(in->rest + 12 * (size_t)t + 3 * (size_t)k, x, 3 * sizeof *x);
        }

        t += v->region[e] == region;
    }

    pl_free(number);

    return PL_OK;
}

// A solver with the chambers of `g` remeshed in its present shape.
static pl_status remesh_next(const pl_geometric *g, pl_geometric **out, pl_error *err)
{
    *out = NULL;
    pl_mesh *mesh = NULL;
    pl_geometric *next = NULL;
    pl_status status = remesh_body(g, &mesh, err);
    if (status == PL_OK) {
        status = g->options.mesher->fill(g->options.mesher->user, &mesh, 0, &g->options.progress, NULL, err);
    }

    geo_inside *inside = status == PL_OK ? PL_NEW_ARRAY(geo_inside, g->drive_count) : NULL;
    if (status == PL_OK && !inside) {
        status = pl_fail_memory(err, "remeshing");
    }

    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        if (remesh_is_filled(g, i)) {
            const pl_mesh_view v = pl_mesh_get(mesh);
            const int32_t region = pl_mesh_find_region(mesh, g->robot->actuator[i].name);
            inside[i].whole = g->drive[i].whole;
            status = region >= 0 ? remesh_take(g, &v, region, &inside[i], err)
                                 : pl_fail(err, PL_FAILED, "remeshing: chamber '%s' was not filled",
                                           g->robot->actuator[i].name);
        }
    }

    pl_mesh_destroy(mesh);
    if (inside) {
        // the new solver owns the insides, whatever becomes of it
        const pl_status made = geo_create(g->robot, &g->options, inside, status == PL_OK, &next, err);
        status = status == PL_OK ? made : status;
    }

    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        next->drive[i].asked = g->drive[i].asked;
    }
    *out = next;

    return status;
}

// ---- stages
typedef struct remesh_work {
    pl_geometric *g;   // as created
    pl_geometric *now; // with the newest insides; g at first
    double *wanted;    // ratio to the rest volume, per actuator; NAN: does not grow
    double *own;       // what was asked for by pl_geometric_ask
    int meshes, iterations, solves;
    double seconds; // of meshing
} remesh_work;

static double remesh_reached(const remesh_work *w, int i)
{
    return w->now->drive[i].measure / w->now->drive[i].rest;
}

// What to ask for next; false when all volumes are there.
static bool remesh_ask(const remesh_work *w, bool first)
{
    bool more = false;
    for (int i = 0; i < w->g->drive_count; ++i) {
        geo_drive *d = &w->now->drive[i];
        const double wanted = w->wanted[i], limit = w->g->options.remesh_volume;
        if (isnan(wanted)) {
            continue;
        }
        const double reached = first ? 1 : remesh_reached(w, i);
        if (first || d->asked < wanted * (1 - 1e-9)) {
            more = true;
            d->asked = fmin(wanted, limit * reached);
        } else if (fabs(reached / wanted - 1) > REMESH_VOLUME) {
            more = true;
            d->asked = fmin(d->asked * wanted / reached, REMESH_OVERSHOOT * wanted);
        }
    }

    return more;
}

static void remesh_end(remesh_work *w)
{
    pl_geometric *g = w->g;
    g->now.chamber_tets = 0;
    if (w->now != g) {
        // results are asked of g; its own insides are those of the first stage
        for (int i = 0; i < g->drive_count; ++i) {
            const geo_drive *from = &w->now->drive[i];
            geo_drive *to = &g->drive[i];
            to->mode = from->mode;
            to->effort = from->effort;
            to->measure = from->measure;
            to->active = from->active;
            to->local_low = from->local_low;
            to->local_high = from->local_high;
        }

        g->now = w->now->now;
        g->now.chamber_tets = 0;
        for (int i = 0; i < g->drive_count; ++i) {
            g->now.chamber_tets += w->now->inside[i].tet_count;
        }
        pl_geometric_destroy(w->now);
    }

    g->stale = true;
    for (int i = 0; i < g->drive_count; ++i) {
        g->drive[i].asked = w->own[i];
        g->drive[i].target = isnan(w->wanted[i]) ? g->drive[i].target : w->wanted[i] * g->drive[i].rest;
    }

    g->now.iterations = w->iterations;
    g->now.solves = w->solves;
    g->now.remeshes = w->meshes;
    g->now.remesh_seconds = w->seconds;
    pl_free(w->wanted);
    pl_free(w->own);
}

// The largest part by which a chamber's volume misses what is wanted.
static double remesh_missing(const remesh_work *w)
{
    double worst = 0;
    for (int i = 0; i < w->g->drive_count; ++i) {
        worst = isnan(w->wanted[i]) ? worst : fmax(worst, fabs(remesh_reached(w, i) / w->wanted[i] - 1));
    }
    return worst;
}

static pl_status remesh_stages(remesh_work *w, pl_state *state, const double *command,
                               pl_solve_report *report, pl_error *err)
{
    const double started = pl_seconds();
    const double limit = w->g->options.time_limit;
    pl_status status = PL_OK;

    remesh_ask(w, true);
    for (int stage = 0; status == PL_OK && stage < REMESH_STAGES; ++stage) {
        status = geo_solve_stage(w->now, state, command, report, err);
        w->iterations += w->now->now.iterations;
        w->solves += w->now->now.solves;
        if (status != PL_OK || report->outcome != PL_SOLVED ||
            (limit > 0 && pl_seconds() - started > limit) || !remesh_ask(w, false)) {
            break;
        }

        // a chamber that only has to grow a little goes on with the tets it has
        if (stage > 0 && remesh_missing(w) < 0.1 && !remesh_is_due(w->now)) {
            continue;
        }
        const double begun = pl_seconds();
        pl_geometric *next = NULL;
        pl_error why = {0};
        status = remesh_next(w->now, &next, &why);
        w->seconds += pl_seconds() - begun;
        if (status == PL_BAD_INPUT || status == PL_FAILED) {
            // the wall crosses itself, or Gmsh gave up: the last shape stands
            report->outcome = PL_NOT_CONVERGED;
            snprintf(report->message, sizeof report->message, "the chamber could not be remeshed: %.150s",
                     why.text);
            status = PL_OK;
            break;
        }

        if (status != PL_OK) {
            status = pl_fail(err, status, "%s", why.text);
            break;
        }

        ++w->meshes;
        if (w->now != w->g) {
            pl_geometric_destroy(w->now);
        }
        w->now = next;
    }

    if (status == PL_OK) {
        report->iterations = w->iterations;
        report->solves = w->solves;
        report->seconds = pl_seconds() - started;

        if (report->outcome == PL_SOLVED && remesh_missing(w) > REMESH_VOLUME) {
            report->outcome = PL_NOT_CONVERGED;
            snprintf(report->message, sizeof report->message,
                     "the volume asked for is missed by %.2g %% after %d meshes of the chamber",
                     100 * remesh_missing(w), w->meshes);
        } else if (report->outcome == PL_SOLVED) {
            const size_t n = strlen(report->message);
            snprintf(report->message + n, sizeof report->message - n,
                     "; the chamber was remeshed %d times, in %.2g s", w->meshes, w->seconds);
        }
    }

    return status;
}

pl_status geo_remesh_solve(pl_geometric *g, pl_state *state, const double *command, pl_solve_report *report,
                           pl_error *err)
{
    remesh_work w = {.g = g, .now = g};
    w.wanted = PL_NEW_ARRAY(double, g->drive_count);
    w.own = PL_NEW_ARRAY(double, g->drive_count);

    if (!w.wanted || !w.own) {
        pl_free(w.wanted);
        pl_free(w.own);
        return pl_fail_memory(err, "remeshing");
    }

    pl_status status = geo_drives_begin(g, command, err);
    for (int i = 0; i < g->drive_count; ++i) {
        w.own[i] = g->drive[i].asked;
        w.wanted[i] = status == PL_OK && g->drive[i].mode == GEO_GROWTH && remesh_is_filled(g, i)
                          ? g->drive[i].target / g->drive[i].rest
                          : NAN;
    }

    if (status == PL_OK) {
        g->stale = true; // from rest
        status = remesh_stages(&w, state, command, report, err);
    }

    remesh_end(&w);

    return status;
}
