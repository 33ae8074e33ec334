// Shells from planar outlines: sheets (a polygon in the xy plane, a region, from one height to another) are
// drawn together, split against each other and triangulated in the plane; every triangle becomes a column of
// prisms, one per layer of height, each of the last sheet that covers it.
#include "meshing/meshing_impl.h"

#define SHEETS_LEVELS_MAX (2 * SHEETS_MAX)

// What the triangulation is: vertices in the plane and triangles, counter-clockwise.
typedef struct plane_mesh {
    double *xy; // mm
    int32_t vertex_count;
    int32_t *triangle;
    int32_t triangle_count;
} plane_mesh;

static void plane_clear(plane_mesh *m)
{
    pl_free(m->xy);
    pl_free(m->triangle);
}

// Tag of the plane face, 0 after a failure.
static int sheet_surface(gmsh_session *g, const sheet *s)
{
    int point[SHEET_CORNERS_MAX], line[SHEET_CORNERS_MAX], wire = 0, face = 0;
    for (int i = 0; i < s->corner_count; ++i) {
        GMSH(g, point[i] = gmshModelOccAddPoint(s->xy[2 * i], s->xy[2 * i + 1], 0, 0, -1, &g->ierr));
    }
    for (int i = 0; i < s->corner_count; ++i) {
        GMSH(g, line[i] = gmshModelOccAddLine(point[i], point[(i + 1) % s->corner_count], -1, &g->ierr));
    }
    GMSH(g, wire = gmshModelOccAddCurveLoop(line, (size_t)s->corner_count, -1, &g->ierr));
    GMSH(g, face = gmshModelOccAddPlaneSurface(&wire, 1, -1, &g->ierr));

    return face;
}

// Draws all sheets, splits them against each other so that triangles follow every
// outline, and meshes the plane.
static void sheets_draw(gmsh_session *g, const sheet *list, int count, double size)
{
    int face[2 * SHEETS_MAX];
    for (int i = 0; i < count; ++i) {
        face[2 * i] = 2;
        face[2 * i + 1] = sheet_surface(g, &list[i]);
    }

    int *out = NULL, **map = NULL;
    size_t out_n = 0, *map_n = NULL, map_nn = 0;
    if (count > 1) {
        GMSH(g, gmshModelOccFragment(face, 2, face + 2, 2 * (size_t)(count - 1), &out, &out_n, &map, &map_n,
                                     &map_nn, -1, 1, 1, &g->ierr));
    }

    gmshFree(out);
    for (size_t i = 0; i < map_nn; ++i) {
        gmshFree(map[i]);
    }
    gmshFree(map);
    gmshFree(map_n);
    GMSH(g, gmshModelOccSynchronize(&g->ierr));
    GMSH(g, gmshOptionSetNumber("Mesh.MeshSizeMax", size, &g->ierr));
    GMSH(g, gmshOptionSetNumber("Mesh.MeshSizeMin", 0.5 * size, &g->ierr));
    GMSH(g, gmshModelMeshGenerate(2, &g->ierr));
}

// Numbers Gmsh's node tags densely and takes the triangles.
static pl_status plane_take(gmsh_session *g, plane_mesh *m, pl_error *err)
{
    size_t *tag = NULL, *corner = NULL, *triangle = NULL, tag_n = 0, coord_n = 0, par_n = 0, corner_n = 0,
           triangle_n = 0, largest = 0;
    double *coord = NULL, *par = NULL;

    GMSH(g, gmshModelMeshGetNodes(&tag, &tag_n, &coord, &coord_n, &par, &par_n, -1, -1, 0, 0, &g->ierr));
    GMSH(g,
         gmshModelMeshGetElementsByType(2, &triangle, &triangle_n, &corner, &corner_n, -1, 0, 1, &g->ierr));
    pl_status status = g->failed ? meshing_fail(g, "outline", err) : PL_OK;

    // dense numbers
    for (size_t i = 0; i < tag_n; ++i) {
        largest = tag[i] > largest ? tag[i] : largest;
    }

    int32_t *number = PL_NEW_ARRAY(int32_t, (int64_t)largest + 1);
    m->xy = PL_NEW_ARRAY(double, 2 * (int64_t)tag_n);
    m->triangle = PL_NEW_ARRAY(int32_t, (int64_t)corner_n);
    if (status == PL_OK && (!number || !m->xy || !m->triangle)) {
        status = pl_fail_memory(err, "the triangles of an outline");
    }

    for (size_t i = 0; status == PL_OK && i < tag_n; ++i) {
        number[tag[i]] = m->vertex_count;
        m->xy[2 * (size_t)m->vertex_count] = coord[3 * i];
        m->xy[2 * (size_t)m->vertex_count++ + 1] = coord[3 * i + 1];
    }

    // counter-clockwise, so that prisms are positive
    for (size_t i = 0; status == PL_OK && i + 2 < corner_n; i += 3) {
        int32_t *t = m->triangle + 3 * (size_t)m->triangle_count++;
        for (int k = 0; k < 3; ++k) {
            t[k] = number[corner[i + (size_t)k]];
        }
        const double *a = m->xy + 2 * (size_t)t[0], *b = m->xy + 2 * (size_t)t[1],
                     *c = m->xy + 2 * (size_t)t[2];
        if ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) < 0) {
            const int32_t swap = t[1];
            t[1] = t[2];
            t[2] = swap;
        }
    }

    pl_free(number);
    gmshFree(tag);
    gmshFree(coord);
    gmshFree(par);
    gmshFree(triangle);
    gmshFree(corner);

    return status;
}

// Even-odd rule; triangles lie wholly inside or outside, so their centroids decide.
static bool sheet_covers(const sheet *s, const double p[2])
{
    bool inside = false;
    for (int i = 0, k = s->corner_count - 1; i < s->corner_count; k = i++) {
        const double *a = s->xy + 2 * i, *b = s->xy + 2 * k;
        if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1])) {
            inside = !inside;
        }
    }

    return inside;
}

// The heights at which sheets begin and end, ascending, once each.
static int sheets_levels(const sheet *list, int count, double level[SHEETS_LEVELS_MAX])
{
    int n = 0;
    for (int i = 0; i < 2 * count; ++i) {
        const double z = i % 2 ? list[i / 2].to : list[i / 2].from;
        int at = 0;
        while (at < n && level[at] < z) {
            ++at;
        }
        if (at < n && level[at] == z) {
            continue;
        }
        memmove(level + at + 1, level + at, (size_t)(n - at) * sizeof *level);
        level[at] = z;
        ++n;
    }

    return n;
}

// Fills a mesh def's arrays; vertices are numbered as they are met.
typedef struct stack {
    const plane_mesh *plane;
    const sheet *list;
    int count, levels;
    double level[SHEETS_LEVELS_MAX];
    int32_t *number; // per plane vertex and level; -1: not used
    double *position;
    int32_t *node, *region;
    uint8_t *kind;
    int64_t *start;
    int32_t vertex_count, element_count, region_count;
    const char *region_name[SHEETS_MAX];
} stack;

// Number of plane vertex v at a level, given when first used: places that no sheet covers get none.
static int32_t stack_vertex(stack *s, int32_t v, int level)
{
    int32_t *number = &s->number[(size_t)level * (size_t)s->plane->vertex_count + (size_t)v];
    if (*number < 0) {
        double *x = s->position + 3 * (size_t)s->vertex_count;
        x[0] = s->plane->xy[2 * (size_t)v];
        x[1] = s->plane->xy[2 * (size_t)v + 1];
        x[2] = s->level[level];
        *number = s->vertex_count++;
    }

    return *number;
}

// Number of a region, by name.
static int32_t stack_region(stack *s, const char *name)
{
    int32_t r = 0;
    while (r < s->region_count && strcmp(s->region_name[r], name) != 0) {
        ++r;
    }
    if (r == s->region_count) {
        s->region_name[s->region_count++] = name;
    }

    return r;
}

// The prisms over one triangle: in each layer that of the last sheet that covers it, if it has a region.
static void stack_column(stack *s, const int32_t *triangle)
{
    const double *a = s->plane->xy + 2 * (size_t)triangle[0], *b = s->plane->xy + 2 * (size_t)triangle[1],
                 *c = s->plane->xy + 2 * (size_t)triangle[2];
    const double middle[2] = {(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3};

    for (int k = 0; k + 1 < s->levels; ++k) {
        const sheet *owner = NULL;
        for (int i = 0; i < s->count; ++i) {
            const sheet *one = &s->list[i];
            if (one->from <= s->level[k] && one->to >= s->level[k + 1] && sheet_covers(one, middle)) {
                owner = one;
            }
        }

        if (!owner || !owner->region) {
            continue;
        }
        int32_t *node = s->node + 6 * (size_t)s->element_count;
        for (int i = 0; i < 6; ++i) {
            node[i] = stack_vertex(s, triangle[i % 3], k + i / 3);
        }
        s->region[s->element_count] = stack_region(s, owner->region);
        s->kind[s->element_count++] = PL_PRISM6;
        s->start[s->element_count] = 6 * (int64_t)s->element_count;
    }
}

// Memory for all layers of all columns, then column by column. The caller frees the arrays of `s`.
static pl_status stack_build(stack *s, int order, pl_mesh **out, pl_error *err)
{
    const int64_t columns = s->plane->triangle_count, layers = s->levels - 1,
                  points = (int64_t)s->plane->vertex_count * s->levels;
    s->number = PL_NEW_ARRAY(int32_t, points);
    s->position = PL_NEW_ARRAY(double, 3 * points);
    s->node = PL_NEW_ARRAY(int32_t, 6 * columns * layers);
    s->region = PL_NEW_ARRAY(int32_t, columns * layers);
    s->kind = PL_NEW_ARRAY(uint8_t, columns * layers);
    s->start = PL_NEW_ARRAY(int64_t, columns * layers + 1);
    if (!s->number || !s->position || !s->node || !s->region || !s->kind || !s->start) {
        return pl_fail_memory(err, "the prisms of an outline");
    }
    for (int64_t i = 0; i < points; ++i) {
        s->number[i] = -1;
    }
    for (int32_t t = 0; t < s->plane->triangle_count; ++t) {
        stack_column(s, s->plane->triangle + 3 * (size_t)t);
    }

    // the mesh copies what it is given; order 2 has straight mid nodes
    const pl_mesh_def def = {.vertex_count = s->vertex_count,
                             .position = s->position,
                             .element_count = s->element_count,
                             .kind = s->kind,
                             .node_start = s->start,
                             .node = s->node,
                             .region = s->region,
                             .region_count = s->region_count,
                             .region_name = s->region_name};
    pl_mesh *linear = NULL;
    pl_status status = pl_mesh_create(&def, &linear, NULL, err);
    if (status == PL_OK && order == 2) {
        status = pl_mesh_raise(linear, out, err);
        pl_mesh_destroy(linear);
    } else if (status == PL_OK) {
        *out = linear;
    }

    return status;
}

// *out is NULL on failure.
pl_status meshing_sheets(gmsh_session *g, const sheet *list, int count, double size, int order, pl_mesh **out,
                         pl_error *err)
{
    *out = NULL;
    plane_mesh plane = {0};
    sheets_draw(g, list, count, size);
    pl_status status = plane_take(g, &plane, err);
    stack s = {.plane = &plane, .list = list, .count = count};
    s.levels = sheets_levels(list, count, s.level);
    if (status == PL_OK) {
        status = stack_build(&s, order, out, err);
    }
    pl_free(s.number);
    pl_free(s.position);
    pl_free(s.node);
    pl_free(s.region);
    pl_free(s.kind);
    pl_free(s.start);
    plane_clear(&plane);

    return status;
}

pl_status meshing_shell(gmsh_session *g, const sheet *list, int count, const pl_mesh_source *source,
                        const char *name, pl_mesh **out, pl_error *err)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < 2 * list[k].corner_count; ++i) {
            low[i % 2] = fmin(low[i % 2], list[k].xy[i]);
            high[i % 2] = fmax(high[i % 2], list[k].xy[i]);
        }
    }

    const double longest = fmax(high[0] - low[0], high[1] - low[1]);

    // 2.3 triangles of edge h per area h^2: 4 / sqrt 3
    const double size = source->size > 0 ? source->size : longest / 12;
    const double triangles = 2.3 * (high[0] - low[0]) * (high[1] - low[1]) / (size * size);
    if (triangles > 5e6) {
        return pl_fail(err, PL_BAD_INPUT, "%s: a size of %g mm gives about %.2g triangles; the limit is 5e6",
                       name, size, triangles);
    }

    return meshing_sheets(g, list, count, size, source->order, out, err);
}

// Whether the sheets of a robot file can be drawn.
static pl_status sheets_check(const pl_mesh_source *source, pl_error *err)
{
    const char *file = source->file ? source->file : "mesh";
    if (source->sheet_count < 1 || source->sheet_count > SHEETS_MAX) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: %d sheets, expected 1 to %d", file, source->line,
                       source->sheet_count, SHEETS_MAX);
    }

    bool any = false;
    for (int i = 0; i < source->sheet_count; ++i) {
        const pl_source_sheet *s = &source->sheet[i];
        if (s->corner_count < 3 || s->corner_count > SHEET_CORNERS_MAX || !s->xy) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: sheet %d has %d corners, expected 3 to %d", file,
                           s->line, i + 1, s->corner_count, SHEET_CORNERS_MAX);
        }

        bool finite = isfinite(s->from) && isfinite(s->to) && s->to > s->from;
        for (int k = 0; k < 2 * s->corner_count; ++k) {
            finite = finite && fabs(s->xy[k]) < 1e6;
        }
        if (!finite) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s:%d: sheet %d: corners and heights must be finite, with 'from' below 'to'",
                           file, s->line, i + 1);
        }

        any = any || s->region;
    }

    return any ? PL_OK : pl_fail(err, PL_BAD_INPUT, "%s:%d: no sheet has a region", file, source->line);
}

// The mesh of a robot file's `sheets`.
pl_status meshing_from_sheets(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                              pl_error *err)
{
    pl_status status = sheets_check(source, err);
    if (status == PL_OK) {
        status = meshing_stage(progress, 0, "drawing", err);
    }

    gmsh_session g;
    if (status == PL_OK) {
        status = meshing_begin(&g, err);
    }
    if (status != PL_OK) {
        return status;
    }

    sheet list[SHEETS_MAX];
    for (int i = 0; i < source->sheet_count; ++i) {
        const pl_source_sheet *s = &source->sheet[i];
        list[i] = (sheet){.region = s->region, .from = s->from, .to = s->to, .corner_count = s->corner_count};
        memcpy(list[i].xy, s->xy, 2 * (size_t)s->corner_count * sizeof *s->xy);
    }

    status = meshing_shell(&g, list, source->sheet_count, source, "sheets", out, err);
    meshing_end(&g);

    return status;
}
