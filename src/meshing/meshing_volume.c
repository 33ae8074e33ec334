// The last stages, common to all sources: sizes, surface mesh, volume mesh, order, extraction. What does not
// succeed with one algorithm is meshed with the next.
#include <stdlib.h>
#include "mesh/mesh.h"
#include "meshing/meshing_child.h"
#include "meshing/meshing_impl.h"

// CPU time a stage may take before it counts as endless: Gmsh makes about 20000 tetrahedra per second, and
// walls may ask for more of them than the size does.
#define VOLUME_SECONDS 30
#define VOLUME_SECONDS_EACH 2e-3 // s per element

// ---- settings. Volumes are Gmsh's Delaunay (its HXT leaves fewer slivers, but its meshes change from call
// to call); Debian's Gmsh has no frontal algorithm for volumes.
// by attempt; what each changes is in meshing_parts_setting
static const meshing_setting volume_setting[MESHING_ATTEMPTS] = {
    {PARTS_OURS, 0, 1, 1},  {PARTS_OURS, 2, 10, 1}, {PARTS_OURS, 0, 1, 0.75},
    {PARTS_SPLIT, 2, 1, 1}, {PARTS_GMSH, 4, 1, 1},  {PARTS_OURS, 2, 1, 1.4},
};

meshing_setting meshing_setting_now(void)
{
    return volume_setting[meshing_attempt()];
}

const char *meshing_parts_setting(int attempt)
{
    static const char *const words[MESHING_ATTEMPTS] = {
        "the first settings",        "the HXT algorithm",
        "0.75 times the size",       "the triangles as they are given, split only",
        "Gmsh's own surface mesher", "1.4 times the size"};
    return words[attempt];
}

const char *meshing_cad_setting(int attempt)
{
    static const char *const words[MESHING_ATTEMPTS] = {
        "the first settings",  "Delaunay surfaces and the HXT algorithm",
        "0.75 times the size", "Delaunay surfaces",
        "MeshAdapt surfaces",  "1.4 times the size"};
    return words[attempt];
}

double meshing_badness(const pl_mesh *mesh)
{
    const pl_mesh_fit fit = pl_mesh_get_fit(mesh);
    const double quality = pl_mesh_measure_quality(mesh).mean,
                 volume = fit.part_volume > 0 ? fabs(fit.mesh_volume / fit.part_volume - 1) : 0;
    return fmax(volume / 0.05, 0.3 / fmax(quality, 1e-3));
}

// Quadratic with mid-edge nodes on the curved boundary; *out stays NULL when some element would turn inside
// out.
static pl_status volume_curved(gmsh_session *g, const extract_options *extract, pl_mesh **out,
                               pl_mesh_report *report, pl_error *err)
{
    GMSH(g, gmshModelMeshSetOrder(2, &g->ierr));
    if (g->failed) {
        return meshing_fail(g, extract->source, err);
    }

    pl_status status = meshing_extract(g, extract, out, report, err);
    if (status == PL_BAD_INPUT) {
        // inverted elements: let Gmsh move the mid nodes inside
        GMSH(g, gmshModelMeshOptimize("HighOrder", 0, 1, NULL, 0, &g->ierr));
        status =
            g->failed ? meshing_fail(g, extract->source, err) : meshing_extract(g, extract, out, report, err);
    }

    return status;
}

// Edges stay straight; order 2 gets mid nodes in their middles.
static pl_status volume_straight(gmsh_session *g, const extract_options *extract, int order, pl_mesh **out,
                                 pl_mesh_report *report, pl_error *err)
{
    pl_mesh *linear = NULL;
    pl_status status = meshing_extract(g, extract, &linear, report, err);

    if (status == PL_OK && order == 2) {
        status = pl_mesh_raise(linear, out, err);
        pl_mesh_destroy(linear);
    } else {
        *out = linear;
    }

    return status;
}

// Curved if wanted and possible, else straight, with a note.
static pl_status volume_extract(gmsh_session *g, const volume_options *options, pl_mesh **out,
                                pl_findings *findings, pl_error *err)
{
    const extract_options extract = {.scale = 1, .source = options->source, .body = "body", .collapse = true};
    pl_mesh_report report = {0};
    pl_status status = PL_OK;

    if (options->order == 2 && options->follow) {
        pl_error curved;
        extract_options relaxed = extract;
        relaxed.relax = true;
        status = volume_curved(g, &relaxed, out, &report, &curved);
        if (status == PL_OK || status == PL_NO_MEMORY || g->failed) {
            if (status != PL_OK) {
                return pl_fail(err, status, "%s", curved.text);
            }
            pl_mesh_report_findings(&report, options->source, findings);
            return PL_OK;
        }

        // some element would be inverted: back to order 1
        pl_findings_add(findings, PL_NOTE, NULL, 0,
                        "%s: edges are straight, because some quadratic elements would be inverted on the "
                        "curved boundary",
                        options->source);
        pl_findings_advise(findings, "a smaller mesh size lets the elements follow the boundary");
        GMSH(g, gmshModelMeshSetOrder(1, &g->ierr));
    }

    status = volume_straight(g, &extract, options->order, out, &report, err);
    if (status == PL_OK) {
        pl_mesh_report_findings(&report, options->source, findings);
    }

    return status;
}

// Meshes from dimension `first` up to 3, with progress from `from` to `to`.
static pl_status volume_generate(gmsh_session *g, const volume_options *options, double from, double to,
                                 const pl_progress *progress, pl_error *err)
{
    static const char *const what[4] = {"", "meshing the edges", "meshing the surfaces",
                                        "meshing the volume"};
    for (int dim = options->keep_surface ? 3 : 1; dim <= 3; ++dim) {
        meshing_allow(VOLUME_SECONDS + VOLUME_SECONDS_EACH * options->expected);
        const pl_status status = meshing_stage(progress, from + (to - from) * (dim - 1) / 3, what[dim], err);
        if (status != PL_OK) {
            return status;
        }
        if (!GMSH(g, gmshModelMeshGenerate(dim, &g->ierr))) {
            return meshing_fail(g, options->source, err);
        }
    }

    return PL_OK;
}

// Callback of Gmsh: `data` is the size field.
static double volume_size(int dim, int tag, double x, double y, double z, void *data)
{
    (void)dim;
    (void)tag;
    const double point[3] = {x, y, z};
    return size_field_at(data, point);
}

// Methods of meshing, used in this order until no sliver is left; each gives the same mesh every time.
static const struct {
    double threshold; // Mesh.OptimizeThreshold
    int algorithm;    // of surfaces: 6 frontal, 5 Delaunay, 1 MeshAdapt
} volume_method[] = {{0.4, 6}, {0.6, 6}, {0.4, 5}, {0.6, 5}, {0.4, 1}};

// A first mesh at full size shows where walls are thin.
static pl_status volume_find_walls(gmsh_session *g, const volume_options *options, size_field *field,
                                   const pl_progress *progress, pl_error *err)
{
    GMSH(g, gmshOptionSetNumber("Mesh.Algorithm", volume_method[meshing_setting_now().method].algorithm,
                                &g->ierr));
    pl_status status = volume_generate(g, options, 0.1, 0.3, progress, err);
    if (status == PL_BAD_INPUT) {
        meshing_doubt(INFINITY);
    }

    // probe the coarse mesh
    pl_mesh *coarse = NULL;
    if (status == PL_OK) {
        const extract_options extract = {.scale = 1, .source = options->source, .body = "body"};
        status = meshing_extract(g, &extract, &coarse, NULL, err);
    }

    if (status == PL_OK) {
        double thinnest;
        status = size_field_init(coarse, options->size, options->walls, field, &thinnest, err);
    }

    pl_mesh_destroy(coarse);
    if (status == PL_OK && !GMSH(g, gmshModelMeshSetSizeCallback(volume_size, field, &g->ierr))) {
        status = meshing_fail(g, options->source, err);
    }

    return status;
}

// One mesh by one method.
static pl_status volume_try(gmsh_session *g, const volume_options *options, int method,
                            const pl_progress *progress, pl_mesh **out, pl_findings *findings, pl_error *err)
{
    // back to linear elements: a method before it may have raised the order
    *out = NULL;
    GMSH(g, gmshModelMeshSetOrder(1, &g->ierr));
    GMSH(g, gmshOptionSetNumber("Mesh.OptimizeThreshold", volume_method[method].threshold, &g->ierr));
    GMSH(g, gmshOptionSetNumber("Mesh.Algorithm", volume_method[method].algorithm, &g->ierr));
    GMSH(g, gmshOptionSetNumber("Mesh.Algorithm3D", meshing_setting_now().algorithm, &g->ierr));
    pl_status status =
        volume_generate(g, options, method > meshing_setting_now().method ? 0.85 : 0.3, 0.9, progress, err);
    if (status == PL_OK) {
        status = volume_extract(g, options, out, findings, err);
    }

    return status;
}

// What one method brought; owns mesh and notes.
typedef struct attempt {
    pl_mesh *mesh;
    pl_findings *notes;
    pl_status status;
    pl_error why;
    pl_mesh_quality quality;
} attempt;

static void attempt_clear(attempt *a)
{
    pl_mesh_destroy(a->mesh);
    pl_findings_destroy(a->notes);
    *a = (attempt){0};
}

// By the worst element: one sliver spoils the solve of the whole mesh.
static bool attempt_beats(const attempt *a, const attempt *best)
{
    return a->mesh && (!best->mesh || a->quality.worst > best->quality.worst);
}

// Keeps the mesh whose worst element is best, or the first reason why there is none.
static pl_status volume_best(gmsh_session *g, const volume_options *options, const pl_progress *progress,
                             pl_mesh **out, pl_findings *findings, pl_error *err)
{
    attempt best = {.status = PL_FAILED};
    bool stop = false;
    const int first = meshing_setting_now().method;

    // a surface that stays knows no algorithm of surfaces
    const int methods = first > 3 ? PL_COUNT(volume_method) : options->keep_surface && first < 2 ? 2 : 4;

    for (int method = first; method < methods && !stop; ++method) {
        attempt a = {.notes = findings ? pl_findings_create() : NULL};
        a.status = volume_try(g, options, method, progress, &a.mesh, a.notes, &a.why);
        // the next method starts afresh
        g->failed = false;
        a.quality = a.mesh ? pl_mesh_measure_quality(a.mesh) : a.quality;
        stop =
            a.status == PL_INTERRUPTED || a.status == PL_NO_MEMORY || (a.mesh && a.quality.sliver_count == 0);
        if (attempt_beats(&a, &best) || (!best.mesh && (method == first || stop))) {
            attempt_clear(&best);
            best = a;
        } else {
            attempt_clear(&a);
        }
    }

    // no mesh at all is infinitely bad, so that other settings follow
    meshing_doubt(0);
    if (!best.mesh) {
        pl_fail(err, best.status, "%s", best.why.text);
        meshing_doubt(INFINITY);
    }

    // notes of the mesh that is used
    for (int i = 0; best.notes && i < pl_findings_count(best.notes); ++i) {
        const pl_finding *f = pl_findings_at(best.notes, i);
        pl_findings_add(findings, f->severity, f->file, f->line, "%s", f->text);
        pl_findings_advise(findings, "%s", f->advice);
    }

    *out = best.mesh;
    best.mesh = NULL;
    const pl_status status = *out ? PL_OK : best.status;
    attempt_clear(&best);

    return status;
}

// More tetrahedra than any machine solves; Gmsh would mesh on for days, deaf to an interruption.
#define VOLUME_ELEMENTS_MAX 5e7

// The volume of the model's solids; a model without CAD counts as a tenth of the box around it.
static double volume_of_model(gmsh_session *g)
{
    int *solid = NULL, ierr = 0;
    size_t n = 0;
    double volume = 0;

    gmshModelOccGetEntities(&solid, &n, 3, &ierr);

    // CAD knows the volumes of its solids
    for (size_t i = 0; !ierr && i + 1 < n; i += 2) {
        double mass = 0;
        gmshModelOccGetMass(3, solid[i + 1], &mass, &ierr);
        volume += mass;
    }

    gmshFree(solid);
    if (ierr || !(volume > 0)) {
        double low[3] = {0}, high[3] = {0};
        GMSH(g, gmshModelGetBoundingBox(-1, -1, &low[0], &low[1], &low[2], &high[0], &high[1], &high[2],
                                        &g->ierr));
        volume = 0.1 * (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
    }

    return volume;
}

// Regular tetrahedra of edge s fill a volume V with 6 sqrt(2) V / s^3 of them.
static pl_status volume_check_size(gmsh_session *g, volume_options *options, pl_error *err)
{
    const double volume = volume_of_model(g), s = options->size;
    if (g->failed) {
        return meshing_fail(g, options->source, err);
    }

    const double count = 6 * sqrt(2) * volume / (s * s * s);
    if (count > VOLUME_ELEMENTS_MAX && !options->keep_surface) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s: a size of %g mm gives about %.2g elements; the limit is %.2g; "
                       "%.2g mm is the smallest size",
                       options->source, s, count, VOLUME_ELEMENTS_MAX,
                       cbrt(6 * sqrt(2) * volume / VOLUME_ELEMENTS_MAX));
    }

    options->expected = count;

    return PL_OK;
}

// ---- round walls
#define VOLUME_ROUND 14         // elements around a full turn: a quadratic element follows 25 degrees well
#define VOLUME_ROUND_LEAST 6    // and 60 degrees acceptably, where holes are many and thin
#define VOLUME_TRIANGLES 6000.0 // triangles round walls may cost before they get fewer around

// Triangles of the model's surfaces when round ones get n edges of length 2 pi R / n around; areas come from
// the CAD kernel, R from the largest curvature in the middle of each surface.
static double volume_triangles(gmsh_session *g, double size, int n, double *flat)
{
    int *face = NULL, ierr = 0;
    size_t face_n = 0;
    double sum = 0;

    *flat = 0;
    gmshModelOccGetEntities(&face, &face_n, 2, &ierr);
    for (size_t i = 0; !ierr && i + 1 < face_n; i += 2) {
        double area = 0, *low = NULL, *high = NULL, *curvature = NULL, s = size;
        size_t low_n = 0, high_n = 0, curvature_n = 0;
        gmshModelOccGetMass(2, face[i + 1], &area, &ierr);
        gmshModelGetParametrizationBounds(2, face[i + 1], &low, &low_n, &high, &high_n, &ierr);

        if (!ierr && low_n == 2 && high_n == 2) {
            double uv[2] = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])};
            gmshModelGetCurvature(2, face[i + 1], uv, 2, &curvature, &curvature_n, &ierr);
            s = !ierr && curvature_n == 1 && curvature[0] > 0 ? fmin(s, 2 * PL_PI / (curvature[0] * n)) : s;
        }

        // equilateral triangles of edge s have the area sqrt(3)/4 s^2
        sum += area / (0.433 * s * s);
        *flat += area / (0.433 * size * size);
        gmshFree(low);
        gmshFree(high);
        gmshFree(curvature);
    }

    gmshFree(face);
    (void)g;

    return ierr ? 0 : sum;
}

// Elements around a full turn. Tendon holes a hundred times longer than wide would cost more triangles than
// the rest of the body, so they get fewer, down to six.
static int volume_round(gmsh_session *g, double size)
{
    // from the finest on: the first that costs little enough
    int n = VOLUME_ROUND;
    for (double flat; n > VOLUME_ROUND_LEAST; --n) {
        const double count = volume_triangles(g, size, n, &flat);
        if (count <= VOLUME_TRIANGLES + 4 * flat) {
            break;
        }
    }

    return n;
}

// Compares a mesh of CAD with its solids. Vertices lie on them, so volume and area tell the difference;
// distances are not measured.
static void volume_compare(const pl_mesh *mesh, pl_mesh_fit *fit)
{
    int *solid = NULL, *face = NULL, ierr = 0;
    size_t solid_n = 0, face_n = 0;
    const int64_t *boundary = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &boundary);

    *fit = (pl_mesh_fit){.mesh_volume = pl_mesh_region_volume(mesh, -1),
                         .mesh_area = pl_mesh_faces_area(mesh, boundary, count),
                         .distance = -1,
                         .samples = count};
    gmshModelGetEntities(&solid, &solid_n, 3, &ierr);
    if (!ierr) {
        gmshModelGetBoundary(solid, solid_n, &face, &face_n, 1, 0, 0, &ierr);
    }

    // volumes and areas of the CAD kernel
    for (size_t i = 0; !ierr && i + 1 < solid_n; i += 2) {
        double volume = 0;
        gmshModelOccGetMass(3, solid[i + 1], &volume, &ierr);
        fit->part_volume += volume;
    }

    for (size_t i = 0; !ierr && i + 1 < face_n; i += 2) {
        double area = 0;
        gmshModelOccGetMass(2, abs(face[i + 1]), &area, &ierr);
        fit->part_area += area;
    }

    // not CAD: nothing to compare with
    if (ierr) {
        *fit = (pl_mesh_fit){0};
    }
    gmshFree(solid);
    gmshFree(face);
}

pl_status meshing_volume(gmsh_session *g, const volume_options *wanted, const pl_progress *progress,
                         pl_mesh **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    volume_options changed = *wanted;
    changed.size *= wanted->field ? 1 : meshing_setting_now().size; // parts have changed it already
    const volume_options *options = &changed;
    size_field field = {0};
    pl_status status = volume_check_size(g, &changed, err);
    if (status != PL_OK) {
        return status;
    }

    // sizes: the largest edge, round walls, thin walls
    GMSH(g, gmshOptionSetNumber("Mesh.MeshSizeMax", options->size, &g->ierr));
    if (options->follow) {
        const int chosen = volume_round(g, options->size);
        const int round = options->round > 0 && options->round < chosen ? options->round : chosen;
        pl_log(1, "%s: %d elements around a full turn", options->source, round);
        GMSH(g, gmshOptionSetNumber("Mesh.MeshSizeFromCurvature", round, &g->ierr));
    }

    if (options->field) {
        GMSH(g, gmshModelMeshSetSizeCallback(volume_size, (void *)options->field, &g->ierr));
    } else if (options->walls > 0 && !options->keep_surface) {
        status = volume_find_walls(g, options, &field, progress, err);
    }

    // mesh, then compare with the CAD
    if (status == PL_OK) {
        status = volume_best(g, options, progress, out, findings, err);
    }

    if (status == PL_OK && options->follow) {
        pl_mesh_fit fit;
        volume_compare(*out, &fit);
        pl_mesh_set_fit(*out, &fit);
        meshing_doubt(meshing_badness(*out));
    }

    // the callback refers to the field, which is freed here
    if (field.value || options->field) {
        GMSH(g, gmshModelMeshRemoveSizeCallback(&g->ierr));
    }
    size_field_clear(&field);

    return status;
}
