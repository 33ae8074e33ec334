// From closed surfaces to a volume mesh. The parts are checked first, because Gmsh names no triangle when it
// fails; then the cells between them are found and named, and their walls are handed to Gmsh: remeshed to the
// size asked for (by Gmsh or by ourselves), or as they are when they are good already.
#include <stdio.h>
#include "mesh/mesh.h"
#include "meshing/meshing_cells.h"
#include "meshing/meshing_child.h"
#include "meshing/meshing_part.h"

// ---- checks
pl_status meshing_refuse(const pl_findings *found, pl_findings *findings, pl_error *err)
{
    const pl_finding *first = NULL;
    for (int i = 0; i < pl_findings_count(found); ++i) {
        const pl_finding *f = pl_findings_at(found, i);

        if (pl_findings_add(findings, f->severity, f->file, f->line, "%s", f->text) >= 0) {
            pl_findings_advise(findings, "%s", f->advice);
            if (f->has_place) {
                pl_findings_place(findings, f->place, f->elements, f->element_count);
            }
        }

        first = f->severity == PL_DEFECT && !first ? f : first;
    }

    const int defects = pl_findings_defect_count(found);
    if (!first) {
        return PL_OK;
    }

    char more[64] = "";
    if (defects > 1) {
        snprintf(more, sizeof more, " (and %d more defects)", defects - 1);
    }

    return pl_fail(err, PL_BAD_INPUT, "%s%s", first->text, more);
}

// Each part closed and free of self-intersections, no two parts crossing. All
// defects are reported, then it fails.
static pl_status parts_check(const pl_meshing_part *part, int count, pl_findings *findings, pl_error *err)
{
    pl_findings *found = pl_findings_create();
    pl_status status = found ? PL_OK : pl_fail_memory(err, "findings");

    for (int p = 0; status == PL_OK && p < count; ++p) {
        status = pl_trisurf_check(&part[p].surface, part[p].region, found, err);
    }

    for (int p = 0; status == PL_OK && p < count; ++p) {
        for (int q = 0; status == PL_OK && q < p; ++q) {
            status = pl_trisurf_check_crossing(&part[q].surface, part[q].region, &part[p].surface,
                                               part[p].region, found, err);
        }
    }

    if (status == PL_OK) {
        status = meshing_refuse(found, findings, err);
    }
    pl_findings_destroy(found);

    return status;
}

// Parts are changed later (welded, oriented), so they are copied.
static pl_status parts_copy(const pl_meshing_part *part, int count, pl_meshing_part *copy, pl_error *err)
{
    for (int p = 0; p < count; ++p) {
        const pl_trisurf *from = &part[p].surface;
        if (!part[p].region || !part[p].region[0]) {
            return pl_fail(err, PL_BAD_INPUT, "parts: part %d has no region name", p + 1);
        }
        if (from->triangle_count < 4 || from->vertex_count < 4) {
            return pl_fail(err, PL_BAD_INPUT, "%s: has %d triangles, expected a closed surface",
                           part[p].region, from->triangle_count);
        }

        pl_trisurf *to = &copy[p].surface;
        copy[p].region = part[p].region;
        copy[p].cavity = part[p].cavity;
        to->position = PL_NEW_ARRAY(double, 3 * (int64_t)from->vertex_count);
        to->corner = PL_NEW_ARRAY(int32_t, 3 * (int64_t)from->triangle_count);
        if (!to->position || !to->corner) {
            return pl_fail_memory(err, "the parts");
        }
        to->vertex_count = from->vertex_count;
        to->triangle_count = from->triangle_count;
        memcpy(to->position, from->position, 3 * (size_t)from->vertex_count * sizeof(double));
        memcpy(to->corner, from->corner, 3 * (size_t)from->triangle_count * sizeof(int32_t));
        const pl_status status = pl_trisurf_weld(to, 0, err);
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// ---- walls: triangles with material on at least one side
typedef struct walls {
    gmsh_session *g;
    const cells *c;
    pl_table shape;    // sorted corners -> wall
    int32_t *triangle; // of each wall
    // Gmsh surfaces: tag, and a triangle that stands for it
    int *tag;
    int32_t *stands;
    int32_t count;
} walls;

static bool walls_filled(const cells *c, int32_t cell_index)
{
    return cell_index >= 0 && !c->cell[cell_index].hollow;
}

// Lists the walls. False without memory.
static bool walls_init(walls *w, gmsh_session *g, const cells *c)
{
    *w = (walls){.g = g, .c = c};
    w->triangle = PL_NEW_ARRAY(int32_t, c->triangle_count);
    bool room = w->triangle && pl_table_init(&w->shape, 3, c->triangle_count);

    for (int32_t t = 0; room && t < c->triangle_count; ++t) {
        if (walls_filled(c, c->side_cell[2 * t]) || walls_filled(c, c->side_cell[2 * t + 1])) {
            int32_t key[3];
            memcpy(key, c->corner + 3 * (int64_t)t, sizeof key);
            pl_sort_small(key, 3);
            const int32_t index = pl_table_add(&w->shape, key);
            room = index >= 0;
            w->triangle[room ? index : 0] = t;
        }
    }

    return room;
}

static void walls_clear(walls *w)
{
    pl_table_clear(&w->shape);
    pl_free(w->triangle);
    pl_free(w->tag);
    pl_free(w->stands);
}

// Whether two triangles separate the same two shells.
static bool walls_same(const cells *c, int32_t s, int32_t t)
{
    const int32_t a = c->side_shell[2 * s], b = c->side_shell[2 * s + 1], p = c->side_shell[2 * t],
                  q = c->side_shell[2 * t + 1];
    return (a == p && b == q) || (a == q && b == p);
}

// Adds the chosen walls to `entity` (all walls when `like` is negative, else those that separate the
// same shells as triangle `like`).
static bool walls_add(walls *w, int entity, int32_t like)
{
    const cells *c = w->c;
    size_t *node = PL_NEW_ARRAY(size_t, 3 * (int64_t)w->shape.count), count = 0;
    size_t *tag = PL_NEW_ARRAY(size_t, w->shape.count);
    const bool room = node && tag;

    for (int32_t k = 0; room && k < w->shape.count; ++k) {
        const int32_t t = w->triangle[k];
        if (like < 0 || walls_same(c, like, t)) {
            for (int i = 0; i < 3; ++i) {
                node[3 * count + (size_t)i] = (size_t)c->corner[3 * (int64_t)t + i] + 1;
            }
            tag[count++] = (size_t)k + 1;
        }
    }

    if (room) {
        GMSH(w->g, gmshModelMeshAddElementsByType(entity, 2, tag, count, node, 3 * count, &w->g->ierr));
    }
    pl_free(node);
    pl_free(tag);

    return room;
}

// Vertices of walls only: Gmsh keeps unused ones in the mesh.
static bool walls_add_nodes(walls *w)
{
    const cells *c = w->c;
    size_t *tag = PL_NEW_ARRAY(size_t, c->vertex_count), count = 0;
    double *x = PL_NEW_ARRAY(double, 3 * (int64_t)c->vertex_count);
    bool *used = PL_NEW_ARRAY(bool, c->vertex_count);
    const bool room = tag && x && used;

    for (int64_t k = 0; room && k < 3 * (int64_t)w->shape.count; ++k) {
        used[w->shape.key[k]] = true;
    }

    for (int32_t v = 0; room && v < c->vertex_count; ++v) {
        if (used[v]) {
            memcpy(x + 3 * count, c->position + 3 * (int64_t)v, 3 * sizeof *x);
            tag[count++] = (size_t)v + 1;
        }
    }

    if (room) {
        GMSH(w->g, gmshModelMeshAddNodes(2, 1, tag, count, x, 3 * count, NULL, 0, &w->g->ierr));
    }
    pl_free(tag);
    pl_free(x);
    pl_free(used);

    return room;
}

// One Gmsh surface per pair of shells, with the triangles as they are.
static bool walls_keep(walls *w)
{
    w->tag = PL_NEW_ARRAY(int, w->shape.count);
    w->stands = PL_NEW_ARRAY(int32_t, w->shape.count);
    bool room = w->tag && w->stands;

    // a surface for each new pair of shells
    for (int32_t k = 0; room && k < w->shape.count; ++k) {
        int32_t i = 0;
        while (i < w->count && !walls_same(w->c, w->stands[i], w->triangle[k])) {
            ++i;
        }
        if (i == w->count) {
            w->stands[i] = w->triangle[k];
            w->tag[i] = i + 1;
            ++w->count;
            GMSH(w->g, gmshModelAddDiscreteEntity(2, i + 1, NULL, 0, &w->g->ierr));
        }
    }

    room = room && walls_add_nodes(w);
    for (int32_t i = 0; room && i < w->count; ++i) {
        room = walls_add(w, w->tag[i], w->stands[i]);
    }

    return room;
}

// The triangle a Gmsh surface stands for; -1 when it mixes walls between different shells.
static int32_t walls_stand_in(walls *w, int surface)
{
    size_t *tag = NULL, *node = NULL, tag_n = 0, node_n = 0;
    GMSH(w->g, gmshModelMeshGetElementsByType(2, &tag, &tag_n, &node, &node_n, surface, 0, 1, &w->g->ierr));
    int32_t first = -1;
    bool mixed = tag_n == 0;

    for (size_t i = 0; i < tag_n && !mixed && node_n == 3 * tag_n; ++i) {
        int32_t key[3] = {(int32_t)node[3 * i] - 1, (int32_t)node[3 * i + 1] - 1,
                          (int32_t)node[3 * i + 2] - 1};
        pl_sort_small(key, 3);
        const int32_t k = pl_table_find(&w->shape, key);
        mixed = k < 0 || (first >= 0 && !walls_same(w->c, first, w->triangle[k]));
        first = k >= 0 ? w->triangle[k] : first;
    }

    gmshFree(tag);
    gmshFree(node);

    return mixed ? -1 : first;
}

// Splits the walls at sharp edges into surfaces that Gmsh can mesh again. False in *fits when it cannot.
static bool walls_remesh(walls *w, bool *fits)
{
    *fits = false;
    GMSH(w->g, gmshModelAddDiscreteEntity(2, 1, NULL, 0, &w->g->ierr));
    if (!walls_add_nodes(w) || !walls_add(w, 1, -1)) {
        return false;
    }
    GMSH(w->g, gmshModelMeshClassifySurfaces(PART_ANGLE, 1, 1, PL_PI, 1, &w->g->ierr));
    int *surface = NULL;
    size_t surface_n = 0;
    GMSH(w->g, gmshModelGetEntities(&surface, &surface_n, 2, &w->g->ierr));
    w->tag = PL_NEW_ARRAY(int, surface_n);
    w->stands = PL_NEW_ARRAY(int32_t, surface_n);
    const bool room = w->tag && w->stands;
    bool whole = room && !w->g->failed;

    // each surface must lie between one pair of shells, or volumes would leak
    for (size_t i = 0; whole && i + 1 < surface_n; i += 2) {
        w->tag[w->count] = surface[i + 1];
        w->stands[w->count] = walls_stand_in(w, surface[i + 1]);
        whole = w->stands[w->count++] >= 0;
    }

    gmshFree(surface);
    GMSH(w->g, gmshModelMeshCreateGeometry(NULL, 0, &w->g->ierr));
    *fits = whole && !w->g->failed;

    return room;
}

// One volume per filled cell, its shells as surface loops; names for volumes and for the walls of hollows.
static pl_status walls_volumes(walls *w, pl_error *err)
{
    const cells *c = w->c;
    const int32_t most = w->count > c->cell_count ? w->count : c->cell_count;
    int *list = PL_NEW_ARRAY(int, most), *loop = PL_NEW_ARRAY(int, c->shell_count),
        *volume = PL_NEW_ARRAY(int, most);
    const char **name = pl_alloc_array((size_t)most, sizeof *name);
    pl_status status =
        list && loop && volume && name ? PL_OK : pl_fail_memory(err, "the volumes of the parts");
    int32_t volumes = 0;

    // volumes of cells with material
    for (int32_t i = 0; status == PL_OK && i < c->cell_count; ++i) {
        size_t loops = 0;
        for (int32_t shell = 0; !c->cell[i].hollow && shell < c->shell_count; ++shell) {
            size_t n = 0;

            for (int32_t k = 0; k < w->count; ++k) {
                const int32_t s = 2 * w->stands[k];
                const bool front = c->side_shell[s] == shell && c->side_cell[s] == i;
                if (front || (c->side_shell[s + 1] == shell && c->side_cell[s + 1] == i)) {
                    list[n++] = w->tag[k];
                }
            }

            // the outer shell first, holes after it
            if (n > 0) {
                const size_t at = shell == c->cell[i].component ? 0 : loops;
                loop[loops] = loop[0];
                GMSH(w->g, loop[at] = gmshModelGeoAddSurfaceLoop(list, n, -1, &w->g->ierr));
                ++loops;
            }
        }

        if (loops > 0) {
            GMSH(w->g, volume[volumes] = gmshModelGeoAddVolume(loop, loops, -1, &w->g->ierr));
            name[volumes++] = c->cell[i].name;
        }
    }

    // names of volumes, then of the walls of hollows
    GMSH(w->g, gmshModelGeoSynchronize(&w->g->ierr));
    if (status == PL_OK) {
        status = meshing_group(w->g, 3, volume, name, volumes, err);
    }

    for (int32_t k = 0; status == PL_OK && k < w->count; ++k) {
        const int32_t front = c->side_cell[2 * w->stands[k]], back = c->side_cell[2 * w->stands[k] + 1];
        const int32_t hollow = front >= 0 && c->cell[front].hollow ? front : back;
        name[k] = hollow >= 0 && c->cell[hollow].hollow ? c->cell[hollow].name : NULL;
    }

    if (status == PL_OK) {
        status = meshing_group(w->g, 2, w->tag, name, w->count, err);
    }
    pl_free(list);
    pl_free(loop);
    pl_free(volume);
    pl_free(name);

    return status;
}

// ---- quality of the triangles as given
// Whether triangles can stay as they are: hardly one is thin, and their edges fit the sizes wanted. Quality
// is 4 sqrt(3) A / (a^2 + b^2 + c^2): 1 for the regular triangle.
static bool parts_good(const cells *c, const size_field *f)
{
    int32_t thin = 0;
    double ratio = 0;

    for (int32_t t = 0; t < c->triangle_count; ++t) {
        const double *x[3];
        double u[3], v[3], n[3], squares = 0;
        for (int k = 0; k < 3; ++k) {
            x[k] = c->position + 3 * (int64_t)c->corner[3 * (int64_t)t + k];
        }
        for (int k = 0; k < 3; ++k) {
            const double edge = pl_distance3(x[k], x[(k + 1) % 3]);
            squares += edge * edge;
            ratio += edge / size_field_at(f, x[k]);
        }

        pl_sub3(x[1], x[0], u);
        pl_sub3(x[2], x[0], v);
        pl_cross3(u, v, n);
        thin += 2 * sqrt(3) * pl_norm3(n) < 0.3 * squares;
    }

    ratio /= 3.0 * c->triangle_count;
    return thin * 100 < c->triangle_count && ratio > 0.6 && ratio < 1.4;
}

// A Gmsh session for one attempt.
static pl_status parts_mesh(const cells *c, bool keep, volume_options options, const pl_progress *progress,
                            pl_mesh **out, pl_findings *findings, pl_error *err)
{
    gmsh_session g;
    pl_status status = meshing_begin(&g, err);

    if (status != PL_OK) {
        return status;
    }

    walls w;
    bool fits = true;
    if (!walls_init(&w, &g, c) || !(keep ? walls_keep(&w) : walls_remesh(&w, &fits))) {
        status = pl_fail_memory(err, "the walls of the parts");
    }

    if (status == PL_OK && g.failed) {
        status = meshing_fail(&g, options.source, err);
    } else if (status == PL_OK && !fits) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: the surfaces cannot be remeshed", options.source);
    }

    if (status == PL_OK) {
        status = walls_volumes(&w, err);
    }
    if (status == PL_OK) {
        options.keep_surface = keep;
        status = meshing_volume(&g, &options, progress, out, findings, err);
    }

    walls_clear(&w);
    meshing_end(&g);

    return status;
}

// A mesh on the surface as it is, or on a new one, drawn onto the part and compared with it.
static pl_status parts_make(const cells *c, const part_shape *part, bool as_given, volume_options options,
                            size_field *field, const pl_progress *progress, pl_mesh **out,
                            pl_findings *findings, pl_error *err)
{
    const parts_surface surface = meshing_setting_now().surface;
    cells own = {0};
    pl_status status = PL_OK;

    // new surfaces: even triangles, or, where these cross, the given ones only split
    if (!as_given && surface != PARTS_GMSH) {
        status = meshing_stage(progress, 0.2, "meshing the surfaces again", err);
        int32_t crossing = 0;
        if (status == PL_OK && surface == PARTS_OURS) {
            status = part_remesh_apart(part, c, field, &own, &crossing, err);
        }
        if (status == PL_OK && (surface == PARTS_SPLIT || crossing > 0)) {
            cells_clear(&own);
            status = part_remesh(part, c, field, true, &own, err);
        }
    }

    if (status == PL_OK) {
        status = parts_mesh(own.cell ? &own : c, as_given || surface != PARTS_GMSH, options, progress, out,
                            findings, err);
    }

    cells_clear(&own);
    if (status == PL_OK && options.order == 2) {
        status = part_follow(part, out, err);
    }
    if (status == PL_OK) {
        status = part_measure(part, *out, err);
    }
    if (status != PL_OK) {
        pl_mesh_destroy(*out);
        *out = NULL;
    }

    return status;
}

// How bad a mesh is; 1 is also the limit in distance (half a wall or size).
static double parts_badness(const pl_mesh *mesh, double size)
{
    const pl_mesh_fit fit = pl_mesh_get_fit(mesh);
    const double near = 0.5 * (fit.wall > 0 ? fmin(fit.wall, size) : size);
    return fmax(meshing_badness(mesh), fit.distance / near);
}

// The triangles as given where they are good and of the size wanted; otherwise new ones.
static pl_status parts_fill(const cells *c, double size, int order, const pl_progress *progress,
                            pl_mesh **out, pl_findings *findings, pl_error *err)
{
    part_shape part;
    pl_status status = part_init(&part, c, err);

    if (status != PL_OK) {
        return status;
    }

    size_field field = {0};
    volume_options options = {.source = "parts",
                              .size = (size > 0 ? size : part.length / 10) * meshing_setting_now().size,
                              .order = order,
                              .field = &field};
    status = part_size_field(&part, options.size, size > 0 ? 2 : 1.3, &field, err);
    if (status == PL_OK) {
        const bool as_given = meshing_attempt() == 0 && parts_good(c, &field);
        status = parts_make(c, &part, as_given, options, &field, progress, out, findings, err);
    }

    if (status == PL_OK) {
        meshing_doubt(parts_badness(*out, options.size));
    }
    size_field_clear(&field);
    part_clear(&part);

    return status;
}

static bool parts_any_filled(const cells *c)
{
    for (int32_t i = 0; i < c->cell_count; ++i) {
        if (!c->cell[i].hollow) {
            return true;
        }
    }

    return false;
}

// Arguments of parts_work.
typedef struct parts_job {
    const pl_meshing_part *part;
    int part_count;
    double size; // mm; 0: chosen
    int order;
} parts_job;

// In the mesher's process: checks, orientation, cells, mesh.
static pl_status parts_work(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                            pl_error *err)
{
    const parts_job *job = user;
    const pl_meshing_part *part = job->part;
    const int part_count = job->part_count, order = job->order;
    const double size = job->size;

    if (part_count < 1 || !(size >= 0) || isinf(size) || (order != 1 && order != 2)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "parts: %d parts, size %g mm, order %d; expected at least one part, a size "
                       "of 0 or more, order 1 or 2",
                       part_count, size, order);
    }

    // a copy that may be changed
    pl_meshing_part *copy = PL_NEW_ARRAY(pl_meshing_part, part_count);
    pl_status status = copy ? parts_copy(part, part_count, copy, err) : pl_fail_memory(err, "the parts");

    // checks before everything else: their messages name triangles
    if (status == PL_OK) {
        status = meshing_stage(progress, 0.02, "checking the surfaces", err);
    }
    if (status == PL_OK) {
        status = parts_check(copy, part_count, findings, err);
    }
    for (int p = 0; status == PL_OK && p < part_count; ++p) {
        status = cells_orient(&copy[p].surface, err);
    }

    // what lies between the surfaces
    cells c = {0};
    if (status == PL_OK) {
        status = cells_init(copy, part_count, &c, err);
    }
    if (status == PL_OK && !parts_any_filled(&c)) {
        status =
            pl_fail(err, PL_BAD_INPUT, "parts: every part is a cavity; expected at least one solid part");
    }

    if (status == PL_OK) {
        status = parts_fill(&c, size, order, progress, out, findings, err);
    }
    cells_clear(&c);
    for (int p = 0; copy && p < part_count; ++p) {
        pl_trisurf_clear(&copy[p].surface);
    }
    pl_free(copy);

    return status;
}

pl_status pl_meshing_from_parts(const pl_meshing_part *part, int part_count, double size, int order,
                                const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                                pl_error *err)
{
    parts_job work = {part, part_count, size, order};
    const child_job job = {"parts", parts_work, &work, meshing_parts_setting};
    return meshing_isolate(&job, progress, out, findings, err);
}

// Parts from STL or OBJ files; errors name the line of the robot file.
pl_status meshing_from_part_files(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                                  pl_findings *findings, pl_error *err)
{
    pl_meshing_part *part = PL_NEW_ARRAY(pl_meshing_part, source->part_count);
    pl_status status = part ? PL_OK : pl_fail_memory(err, "the parts");

    for (int p = 0; status == PL_OK && p < source->part_count; ++p) {
        pl_error why = {0};
        part[p].region = source->part[p].region;
        part[p].cavity = source->part[p].cavity;
        status = pl_meshing_read_surface(source->part[p].path, source->unit, &part[p].surface, &why);
        if (status != PL_OK && source->file) {
            pl_fail(err, status, "%s:%d: %s", source->file, source->part[p].line, why.text);
        } else if (status != PL_OK) {
            pl_fail(err, status, "%s", why.text);
        }
    }

    if (status == PL_OK) {
        status = pl_meshing_from_parts(part, source->part_count, source->size, source->order, progress, out,
                                       findings, err);
    }

    for (int p = 0; part && p < source->part_count; ++p) {
        pl_trisurf_clear(&part[p].surface);
    }
    pl_free(part);

    return status;
}
