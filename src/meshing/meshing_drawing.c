// Drawings: solids of the OpenCASCADE kernel that may overlap, split against each other so that neighbours
// share their faces, then named: pieces by the solid that made them, faces by the cavity or plane they lie
// on.
#include "meshing/meshing_impl.h"

int drawing_box(drawing *d, double x, double y, double z, double dx, double dy, double dz)
{
    int tag = 0;
    GMSH(d->g, tag = gmshModelOccAddBox(x, y, z, dx, dy, dz, -1, &d->g->ierr));
    return tag;
}

int drawing_cylinder(drawing *d, double x, double y, double z, double height, double radius)
{
    int tag = 0;
    GMSH(d->g, tag = gmshModelOccAddCylinder(x, y, z, 0, 0, height, radius, -1, 2 * PL_PI, &d->g->ierr));
    return tag;
}

// Frees what Gmsh returns about the origin of pieces.
static void drawing_free_map(int **map, size_t *map_n, size_t map_nn)
{
    for (size_t i = 0; i < map_nn; ++i) {
        gmshFree(map[i]);
    }
    gmshFree(map);
    gmshFree(map_n);
}

int drawing_cone(drawing *d, double x, double length, double radius, double end_radius)
{
    int tag = 0;
    GMSH(d->g,
         tag = gmshModelOccAddCone(x, 0, 0, length, 0, 0, radius, end_radius, -1, 2 * PL_PI, &d->g->ierr));
    return tag;
}

int drawing_hexagon(drawing *d, double x, double y, double z, double height, double radius, double phase)
{
    int point[6], line[6], wire = 0, face = 0, solid = 0, *out = NULL;
    size_t out_n = 0;

    // corners, edges, face, extrusion
    for (int i = 0; i < 6; ++i) {
        const double angle = phase + i * PL_PI / 3;
        GMSH(d->g, point[i] = gmshModelOccAddPoint(x + radius * cos(angle), y + radius * sin(angle), z, 0, -1,
                                                   &d->g->ierr));
    }

    for (int i = 0; i < 6; ++i) {
        GMSH(d->g, line[i] = gmshModelOccAddLine(point[i], point[(i + 1) % 6], -1, &d->g->ierr));
    }
    GMSH(d->g, wire = gmshModelOccAddCurveLoop(line, 6, -1, &d->g->ierr));
    GMSH(d->g, face = gmshModelOccAddPlaneSurface(&wire, 1, -1, &d->g->ierr));
    int base[2] = {2, face};
    GMSH(d->g, gmshModelOccExtrude(base, 2, 0, 0, height, &out, &out_n, NULL, 0, NULL, 0, 0, &d->g->ierr));

    // the extrusion returns faces, too
    for (size_t i = 0; i + 1 < out_n; i += 2) {
        solid = out[i] == 3 ? out[i + 1] : solid;
    }
    gmshFree(out);

    return solid;
}

void drawing_turn(drawing *d, int tag, double angle)
{
    int object[2] = {3, tag};
    GMSH(d->g, gmshModelOccRotate(object, 2, 0, 0, 0, 0, 0, 1, angle, &d->g->ierr));
}

int drawing_sweep(drawing *d, const double *xz, int corner_count, double y, double width)
{
    enum { LIMIT = 64 };
    int point[LIMIT], line[LIMIT];
    PL_ASSERT(corner_count <= LIMIT);
    for (int i = 0; i < corner_count; ++i) {
        GMSH(d->g, point[i] = gmshModelOccAddPoint(xz[2 * i], y, xz[2 * i + 1], 0, -1, &d->g->ierr));
    }
    for (int i = 0; i < corner_count; ++i) {
        GMSH(d->g, line[i] = gmshModelOccAddLine(point[i], point[(i + 1) % corner_count], -1, &d->g->ierr));
    }

    int wire = 0, face = 0, solid = 0, *out = NULL;
    size_t out_n = 0;
    GMSH(d->g, wire = gmshModelOccAddCurveLoop(line, (size_t)corner_count, -1, &d->g->ierr));
    GMSH(d->g, face = gmshModelOccAddPlaneSurface(&wire, 1, -1, &d->g->ierr));
    int base[2] = {2, face};
    GMSH(d->g, gmshModelOccExtrude(base, 2, 0, width, 0, &out, &out_n, NULL, 0, NULL, 0, 0, &d->g->ierr));
    for (size_t i = 0; i + 1 < out_n; i += 2) {
        solid = out[i] == 3 ? out[i + 1] : solid;
    }
    gmshFree(out);

    return solid;
}

// *solid must stay in one piece.
void drawing_cut(drawing *d, int *solid, int *tool, int tool_count)
{
    int object[2] = {3, *solid}, tools[2 * DRAWING_SOLIDS_MAX];
    PL_ASSERT(tool_count <= DRAWING_SOLIDS_MAX);
    for (int i = 0; i < tool_count; ++i) {
        tools[2 * i] = 3;
        tools[2 * i + 1] = tool[i];
    }

    int *out = NULL, **map = NULL;
    size_t out_n = 0, *map_n = NULL, map_nn = 0;
    GMSH(d->g, gmshModelOccCut(object, 2, tools, 2 * (size_t)tool_count, &out, &out_n, &map, &map_n, &map_nn,
                               -1, 1, 1, &d->g->ierr));
    if (!d->g->failed) {
        PL_ASSERT(out_n == 2);
        *solid = out[1];
    }

    gmshFree(out);
    drawing_free_map(map, map_n, map_nn);
}

void drawing_add(drawing *d, int tag, solid_role role, const char *name)
{
    PL_ASSERT(d->solid_count < DRAWING_SOLIDS_MAX);
    d->solid[d->solid_count].tag = tag;
    d->solid[d->solid_count].role = role;
    d->solid[d->solid_count++].name = name;
}

void drawing_plane(drawing *d, const char *name, int axis, double at)
{
    PL_ASSERT(d->plane_count < DRAWING_PLANES_MAX);
    d->plane[d->plane_count].name = name;
    d->plane[d->plane_count].axis = axis;
    d->plane[d->plane_count].inner = false;
    d->plane[d->plane_count++].at = at;
}

// ---- pieces after splitting
// A piece of the drawing that belongs to one set of solids.
typedef struct piece {
    int tag;
    int solid;   // the one that names it; -1: cut away
    bool inside; // in some region, whatever hollows it
} piece;

typedef struct pieces {
    piece *list;
    int32_t count, capacity;
} pieces;

// The stronger of two solids for a piece that lies in both: a cavity, else the later region.
static int drawing_stronger(const drawing *d, int a, int b)
{
    if (a < 0 || d->solid[b].role == SOLID_CAVITY) {
        return b;
    }
    return d->solid[a].role == SOLID_CAVITY ? a : b > a ? b : a;
}

// Notes that a piece lies in a solid. False without memory.
static bool pieces_claim(const drawing *d, pieces *p, int tag, int solid)
{
    int32_t i = 0;
    while (i < p->count && p->list[i].tag != tag) {
        ++i;
    }

    if (i == p->count) {
        if (!pl_grow((void **)&p->list, &p->capacity, p->count + 1, sizeof *p->list)) {
            return false;
        }
        p->list[p->count++] = (piece){.tag = tag, .solid = -1};
    }

    p->list[i].inside = p->list[i].inside || d->solid[solid].role == SOLID_REGION;
    if (d->solid[solid].role != SOLID_KNIFE) {
        p->list[i].solid = drawing_stronger(d, p->list[i].solid, solid);
    }

    return true;
}

// Splits all solids against each other. A piece keeps the strongest name among the solids it came from; where
// knives and cavities reach beyond every region, nothing is left.
static pl_status drawing_split(drawing *d, pieces *p, pl_error *err)
{
    int object[2 * DRAWING_SOLIDS_MAX];
    for (int i = 0; i < d->solid_count; ++i) {
        object[2 * i] = 3;
        object[2 * i + 1] = d->solid[i].tag;
    }

    int *out = NULL, **map = NULL;
    size_t out_n = 0, *map_n = NULL, map_nn = 0;
    bool room = true;
    if (d->solid_count == 1) {
        room = pieces_claim(d, p, d->solid[0].tag, 0);
    } else if (GMSH(d->g, gmshModelOccFragment(object, 2, object + 2, 2 * (size_t)d->solid_count - 2, &out,
                                               &out_n, &map, &map_n, &map_nn, -1, 1, 1, &d->g->ierr))) {
        // fragment lists for every solid the pieces it was split into
        for (size_t s = 0; s < map_nn && (int)s < d->solid_count; ++s) {
            for (size_t k = 0; k + 1 < map_n[s]; k += 2) {
                room = room && (map[s][k] != 3 || pieces_claim(d, p, map[s][k + 1], (int)s));
            }
        }
    }

    gmshFree(out);
    drawing_free_map(map, map_n, map_nn);
    GMSH(d->g, gmshModelOccSynchronize(&d->g->ierr));

    return room ? PL_OK : pl_fail_memory(err, "the pieces of a drawing");
}

// ---- naming of faces
// A face of the pieces.
typedef struct face_use {
    int tag;
    int solid_count; // region pieces on it
    int cavity;      // the solid that is the cavity on its other side; -1
} face_use;

typedef struct faces {
    face_use *list;
    int32_t count, capacity;
} faces;

// Notes that a face bounds a cavity, or else one more region.
static bool faces_claim(faces *f, int tag, int cavity)
{
    int32_t i = 0;
    while (i < f->count && f->list[i].tag != tag) {
        ++i;
    }

    if (i == f->count) {
        if (!pl_grow((void **)&f->list, &f->capacity, f->count + 1, sizeof *f->list)) {
            return false;
        }
        f->list[f->count++] = (face_use){.tag = tag, .cavity = -1};
    }

    if (cavity >= 0) {
        f->list[i].cavity = cavity;
    } else {
        ++f->list[i].solid_count;
    }

    return true;
}

// Faces of all named pieces.
static pl_status drawing_collect_faces(drawing *d, const pieces *p, faces *f, pl_error *err)
{
    bool room = true;
    for (int32_t i = 0; i < p->count && room; ++i) {
        const int solid = p->list[i].solid;
        if (solid < 0) {
            continue;
        }
        int volume[2] = {3, p->list[i].tag}, *face = NULL;
        size_t face_n = 0;
        GMSH(d->g, gmshModelGetBoundary(volume, 2, &face, &face_n, 0, 0, 0, &d->g->ierr));
        for (size_t k = 0; k + 1 < face_n && room; k += 2) {
            room = faces_claim(f, face[k + 1], d->solid[solid].role == SOLID_CAVITY ? solid : -1);
        }
        gmshFree(face);
    }

    return room ? PL_OK : pl_fail_memory(err, "the faces of a drawing");
}

// The plane a face lies in, among those the drawing names; -1 for none. By its bounding
// box, which Gmsh enlarges a little.
static int drawing_plane_of(drawing *d, const face_use *face)
{
    double low[3], high[3];
    GMSH(d->g, gmshModelGetBoundingBox(2, face->tag, &low[0], &low[1], &low[2], &high[0], &high[1], &high[2],
                                       &d->g->ierr));
    const double tolerance = 1e-5 * d->length;

    for (int i = 0; i < d->plane_count && !d->g->failed; ++i) {
        const int axis = d->plane[i].axis;
        if (fabs(low[axis] - d->plane[i].at) < tolerance && fabs(high[axis] - d->plane[i].at) < tolerance &&
            (face->solid_count == 2) == d->plane[i].inner) {
            return i;
        }
    }

    return -1;
}

// A cavity's wall has the name of the cavity; other faces that of their plane, or of the outside.
static const char *drawing_face_name(drawing *d, const face_use *face)
{
    if (face->cavity >= 0) {
        return d->solid[face->cavity].name;
    }
    const int plane = drawing_plane_of(d, face);
    return plane >= 0 ? d->plane[plane].name : face->solid_count == 1 ? d->outer : NULL;
}

// Names regions and faces, and takes the hollow pieces away.
static pl_status drawing_name(drawing *d, const pieces *p, const faces *f, pl_error *err)
{
    const int32_t most = p->count > f->count ? p->count : f->count;
    int *tag = PL_NEW_ARRAY(int, most);
    const char **name = pl_alloc_array((size_t)most, sizeof *name);
    pl_status status = tag && name ? PL_OK : pl_fail_memory(err, "the names of a drawing");
    int32_t count = 0;

    // faces
    for (int32_t i = 0; status == PL_OK && i < f->count; ++i) {
        if (f->list[i].solid_count > 0) {
            tag[count] = f->list[i].tag;
            name[count++] = drawing_face_name(d, &f->list[i]);
        }
    }

    if (status == PL_OK) {
        status = meshing_group(d->g, 2, tag, name, count, err);
    }

    // regions; what is neither a region nor filled is removed
    count = 0;
    for (int32_t i = 0; status == PL_OK && i < p->count; ++i) {
        const int solid = p->list[i].solid;
        const bool filled = solid >= 0 && d->fill && p->list[i].inside;
        if (solid >= 0 && (d->solid[solid].role == SOLID_REGION || filled)) {
            tag[count] = p->list[i].tag;
            name[count++] = d->solid[solid].name;
        } else {
            int hollow[2] = {3, p->list[i].tag};
            GMSH(d->g, gmshModelRemoveEntities(hollow, 2, 1, &d->g->ierr));
        }
    }

    if (status == PL_OK) {
        status = meshing_group(d->g, 3, tag, name, count, err);
    }
    pl_free(tag);
    pl_free(name);

    return status;
}

pl_status drawing_mesh(drawing *d, const char *source, double size, int order, const pl_progress *progress,
                       pl_mesh **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    pieces p = {0};
    faces f = {0};
    pl_status status = d->g->failed ? meshing_fail(d->g, source, err) : drawing_split(d, &p, err);
    if (status == PL_OK) {
        status = drawing_collect_faces(d, &p, &f, err);
    }
    if (status == PL_OK) {
        status = drawing_name(d, &p, &f, err);
    }
    if (status == PL_OK && d->g->failed) {
        status = meshing_fail(d->g, source, err);
    }
    pl_free(p.list);
    pl_free(f.list);
    if (status != PL_OK) {
        return status;
    }

    // one tet across the thinnest wall is enough for quadratic elements, ten along the body at least; where
    // the size is given, elements stay below two wall thicknesses, or what the drawing says
    const double wall = 1.3 * d->thinnest, tenth = d->length / 10, walls = d->walls > 0 ? d->walls : 2;
    const volume_options options = {
        .source = source,
        .size = size > 0 ? size : fmin(wall, tenth),
        .walls = size > walls * d->thinnest ? walls : 0,
        .order = order,
        .follow = true,
        .round = d->round,
    };

    return meshing_volume(d->g, &options, progress, out, findings, err);
}
