// Cavities get elements: every closed space that a named surface bounds is meshed by tetrahedra that stand on
// the surface's own faces, as a region of the surface's name. The triangles go to Gmsh as they are; what
// comes back is joined to the mesh at their vertices, and on a quadratic mesh at their mid nodes.
#include "mesh/mesh.h"
#include "meshing/meshing_child.h"
#include "meshing/meshing_cells.h"

// A connected piece of a surface.
typedef struct fill_piece {
    int32_t surface;
    int64_t start, count; // of its faces in the list
    double volume;        // enclosed; negative: an island in a cavity
} fill_piece;

// What the steps share; owns face, corner, piece and air.
typedef struct fill {
    const pl_mesh *mesh;
    pl_mesh_view v;
    int64_t *face; // of all cavities, piece by piece
    int64_t face_count;
    int32_t *corner; // 3 per face of `face`
    double edge;     // mm, mean
    fill_piece *piece;
    int32_t piece_count, piece_capacity;
    pl_mesh *air; // linear tets
} fill;

static void fill_clear(fill *f)
{
    pl_mesh_destroy(f->air);
    pl_free(f->face);
    pl_free(f->corner);
    pl_free(f->piece);
}

// ---- which
// The faces of one surface, grouped by connected pieces, behind those found so far.
static bool fill_add(fill *f, int32_t surface, const int64_t *face, int64_t count)
{
    int32_t *parent = PL_NEW_ARRAY(int32_t, count);
    bool room = parent && meshing_join_faces(f->mesh, face, count, parent);

    // one piece per root
    for (int32_t root = 0; room && root < count; ++root) {
        if (parent[root] != root) {
            continue;
        }
        room = pl_grow((void **)&f->piece, &f->piece_capacity, f->piece_count + 1, sizeof *f->piece);
        if (!room) {
            break;
        }
        fill_piece *p = &f->piece[f->piece_count++];
        *p = (fill_piece){.surface = surface, .start = f->face_count};

        for (int32_t k = root; k < count; ++k) {
            int32_t up = k;
            while (parent[up] != up) {
                up = parent[up];
            }
            if (up == root) {
                f->face[f->face_count++] = face[k];
            }
        }

        p->count = f->face_count - p->start;
        p->volume = pl_mesh_faces_enclosed(f->mesh, f->face + p->start, p->count);
    }

    pl_free(parent);
    return room;
}

// Whether a face belongs to a cavity found already: two names for one wall fill it once.
static bool fill_knows(const fill *f, int64_t face)
{
    for (int64_t k = 0; k < f->face_count; ++k) {
        if (f->face[k] == face) {
            return true;
        }
    }

    return false;
}

// Surfaces that close a space, each space once.
static pl_status fill_find(fill *f, pl_error *err)
{
    const pl_mesh_view *v = &f->v;
    const int64_t most = v->surface_count > 0 ? v->surface_start[v->surface_count] : 0;

    f->face = PL_NEW_ARRAY(int64_t, most);
    f->corner = PL_NEW_ARRAY(int32_t, 3 * most);
    bool room = f->face && f->corner;

    for (int32_t s = 0; room && s < v->surface_count; ++s) {
        const int64_t *face = v->surface_face + v->surface_start[s],
                      count = v->surface_start[s + 1] - v->surface_start[s];
        int rims = 0;
        if (count > 0 && !fill_knows(f, face[0]) && pl_mesh_faces_closed(f->mesh, face, count, &rims) &&
            pl_mesh_faces_enclosed(f->mesh, face, count) > 0) {
            room = fill_add(f, s, face, count);
        }
    }

    // corners for Gmsh, mean edge for the size
    for (int64_t k = 0; room && k < f->face_count; ++k) {
        int32_t node[PL_FACE_NODES_MAX];
        if (pl_mesh_face_nodes(f->mesh, f->face[k], node) % 4 == 0) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "mesh: fill needs a cavity with triangular faces, but this one has quadrilaterals");
        }

        memcpy(f->corner + 3 * k, node, 3 * sizeof *node);
        for (int i = 0; i < 3; ++i) {
            f->edge += pl_distance3(v->position + 3 * (int64_t)node[i],
                                    v->position + 3 * (int64_t)node[(i + 1) % 3]) /
                       (3.0 * (double)f->face_count);
        }
    }

    return room ? PL_OK : pl_fail_memory(err, "the cavities of a mesh");
}

// ---- to Gmsh
// The vertices of the walls, tagged by their number plus one, so that they are found again.
static bool fill_nodes(fill *f, gmsh_session *g)
{
    size_t *tag = PL_NEW_ARRAY(size_t, f->v.vertex_count), count = 0;
    double *x = PL_NEW_ARRAY(double, 3 * (int64_t)f->v.vertex_count);
    bool *used = PL_NEW_ARRAY(bool, f->v.vertex_count);
    const bool room = tag && x && used;

    for (int64_t k = 0; room && k < 3 * f->face_count; ++k) {
        used[f->corner[k]] = true;
    }

    for (int32_t v = 0; room && v < f->v.vertex_count; ++v) {
        if (used[v]) {
            memcpy(x + 3 * count, f->v.position + 3 * (int64_t)v, 3 * sizeof *x);
            tag[count++] = (size_t)v + 1;
        }
    }

    if (room) {
        GMSH(g, gmshModelMeshAddNodes(2, 1, tag, count, x, 3 * count, NULL, 0, &g->ierr));
    }
    pl_free(tag);
    pl_free(x);
    pl_free(used);

    return room;
}

// One Gmsh surface per piece, numbered from 1.
static bool fill_surfaces(fill *f, gmsh_session *g)
{
    for (int32_t p = 0; p < f->piece_count; ++p) {
        GMSH(g, gmshModelAddDiscreteEntity(2, p + 1, NULL, 0, &g->ierr));
    }

    size_t *node = PL_NEW_ARRAY(size_t, 3 * f->face_count), *tag = PL_NEW_ARRAY(size_t, f->face_count);
    const bool room = node && tag && fill_nodes(f, g);
    for (int64_t k = 0; room && k < 3 * f->face_count; ++k) {
        node[k] = (size_t)f->corner[k] + 1;
        tag[k / 3] = (size_t)(k / 3) + 1;
    }

    for (int32_t p = 0; room && p < f->piece_count; ++p) {
        const size_t at = (size_t)f->piece[p].start, n = (size_t)f->piece[p].count;
        GMSH(g, gmshModelMeshAddElementsByType(p + 1, 2, tag + at, n, node + 3 * at, 3 * n, &g->ierr));
    }

    pl_free(node);
    pl_free(tag);

    return room;
}

// Whether an island lies in a cavity: the cavity winds around one of its vertices.
static bool fill_holds(const fill *f, const fill_piece *cavity, const fill_piece *island)
{
    const double *p = f->v.position + 3 * (int64_t)f->corner[3 * island->start];
    return island->volume < 0 && island->surface == cavity->surface &&
           fabs(cells_winding(f->v.position, f->corner + 3 * cavity->start, (int32_t)cavity->count, p)) > 0.5;
}

// One volume per cavity, islands as holes, named by their surfaces.
static pl_status fill_volumes(fill *f, gmsh_session *g, pl_error *err)
{
    int *volume = PL_NEW_ARRAY(int, f->piece_count), *loop = PL_NEW_ARRAY(int, f->piece_count);
    const char **name = PL_NEW_ARRAY(const char *, f->piece_count);
    pl_status status = volume && loop && name ? PL_OK : pl_fail_memory(err, "the cavities of a mesh");
    int32_t volumes = 0;

    for (int32_t p = 0; status == PL_OK && p < f->piece_count; ++p) {
        size_t loops = 0;
        for (int32_t q = 0; f->piece[p].volume > 0 && q < f->piece_count; ++q) {
            // the wall first, holes after it
            const int32_t k = q == 0 ? p : q <= p ? q - 1 : q;
            if (k == p || fill_holds(f, &f->piece[p], &f->piece[k])) {
                int tag = k + 1;
                GMSH(g, loop[loops++] = gmshModelGeoAddSurfaceLoop(&tag, 1, -1, &g->ierr));
            }
        }

        if (loops > 0) {
            GMSH(g, volume[volumes] = gmshModelGeoAddVolume(loop, loops, -1, &g->ierr));
            name[volumes++] = f->v.surface_name[f->piece[p].surface];
        }
    }

    GMSH(g, gmshModelGeoSynchronize(&g->ierr));
    if (status == PL_OK) {
        status = meshing_group(g, 3, volume, name, volumes, err);
    }
    pl_free(volume);
    pl_free(loop);
    pl_free(name);

    return status;
}

// Meshes the air; elements no smaller than those of the walls, which stay as they are.
static pl_status fill_mesh(fill *f, double size, const pl_progress *progress, pl_findings *findings,
                           pl_error *err)
{
    gmsh_session g;
    pl_status status = meshing_begin(&g, err);

    if (status != PL_OK) {
        return status;
    }
    status = fill_surfaces(f, &g) ? fill_volumes(f, &g, err) : pl_fail_memory(err, "the cavities of a mesh");
    if (status == PL_OK && g.failed) {
        status = meshing_fail(&g, "the cavities of the mesh", err);
    }

    if (status == PL_OK) {
        const volume_options options = {.source = "the cavities of the mesh",
                                        .size = fmax(size, f->edge),
                                        .order = 1,
                                        .keep_surface = true};
        status = meshing_volume(&g, &options, progress, &f->air, findings, err);
    }

    meshing_end(&g);

    return status;
}

// ---- joined
// Arrays of the new mesh.
typedef struct joined {
    double *position;
    int32_t vertex_count;
    int32_t *vertex; // of the air's vertices
    uint8_t *kind;
    int64_t *start;
    int32_t *node, *region;
    const char **region_name;
    int32_t region_count;
    int64_t *surface_start;
    int32_t *surface_corner;
    pl_table edges; // of the old mesh and the air: their mid nodes in `mid`
    int32_t *mid;
} joined;

static void joined_clear(joined *j)
{
    void *block[] = {j->position, j->vertex,        j->kind,           j->start, j->node,
                     j->region,   j->surface_start, j->surface_corner, j->mid};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(j->region_name);
    pl_table_clear(&j->edges);
}

// Vertices of the air that stand on the walls are the mesh's own: they have the same coordinates, bit by bit.
// False when memory runs out; *met counts those on the walls.
static bool joined_vertices(const fill *f, const pl_mesh_view *air, joined *j, int32_t *met)
{
    pl_table walls;
    if (!pl_table_init(&walls, 6, 3 * f->face_count)) {
        return false;
    }

    // the walls' vertices by their bits
    int32_t *of = PL_NEW_ARRAY(int32_t, 3 * f->face_count), key[6];
    for (int64_t k = 0; of && k < 3 * f->face_count; ++k) {
        memcpy(key, f->v.position + 3 * (int64_t)f->corner[k], sizeof key);
        const int32_t at = pl_table_add(&walls, key);
        of[at] = f->corner[k];
    }

    *met = 0;

    // vertices of the air: on a wall, or new ones
    for (int32_t a = 0; of && a < air->vertex_count; ++a) {
        memcpy(key, air->position + 3 * (int64_t)a, sizeof key);
        const int32_t at = pl_table_find(&walls, key);
        *met += at >= 0;
        j->vertex[a] = at >= 0 ? of[at] : j->vertex_count++;
        memcpy(j->position + 3 * (int64_t)j->vertex[a], air->position + 3 * (int64_t)a, 3 * sizeof(double));
    }

    // every vertex of the walls must come back, or Gmsh has changed them
    *met = *met == walls.count ? *met : -1;
    const bool room = of != NULL;
    pl_free(of);
    pl_table_clear(&walls);

    return room;
}

// The mid node of an edge: the old mesh's where it has one, otherwise a new one in the middle.
static int32_t joined_mid(joined *j, int32_t a, int32_t b)
{
    int32_t key[2] = {a, b};
    pl_sort_small(key, 2);
    const int32_t before = j->edges.count, e = pl_table_add(&j->edges, key);

    if (e == before) {
        for (int i = 0; i < 3; ++i) {
            j->position[3 * (int64_t)j->vertex_count + i] =
                0.5 * (j->position[3 * (int64_t)a + i] + j->position[3 * (int64_t)b + i]);
        }

        j->mid[e] = j->vertex_count++;
    }

    return j->mid[e];
}

// The old elements as they are.
static void joined_old(const fill *f, joined *j)
{
    const pl_mesh_view *v = &f->v;
    memcpy(j->kind, v->kind, (size_t)v->element_count * sizeof *v->kind);
    memcpy(j->start, v->node_start, ((size_t)v->element_count + 1) * sizeof *v->node_start);
    memcpy(j->node, v->node, (size_t)v->node_start[v->element_count] * sizeof *v->node);
    memcpy(j->region, v->region, (size_t)v->element_count * sizeof *v->region);
    for (int32_t r = 0; r < v->region_count; ++r) {
        j->region_name[j->region_count++] = v->region_name[r];
    }

    // mid nodes of curved walls are reused, so that the air follows them
    for (int32_t e = 0; e < v->element_count; ++e) {
        const int32_t *node = v->node + v->node_start[e];
        for (int k = 0; k < pl_element_edge_count((pl_element_kind)v->kind[e]); ++k) {
            int edge[3];
            pl_element_edge_nodes((pl_element_kind)v->kind[e], k, edge);

            if (edge[2] >= 0) {
                int32_t key[2] = {node[edge[0]], node[edge[1]]};
                pl_sort_small(key, 2);
                j->mid[pl_table_add(&j->edges, key)] = node[edge[2]];
            }
        }
    }
}

// The tets of the air; their edges on the walls take the walls' mid nodes.
static void joined_new(const fill *f, const pl_mesh_view *air, bool quadratic, joined *j)
{
    for (int32_t e = 0; e < air->element_count; ++e) {
        const int32_t at = f->v.element_count + e;
        const char *name = air->region_name[air->region[e]];

        // the region of the cavity's name
        int32_t r = 0;
        while (r < j->region_count && strcmp(j->region_name[r], name) != 0) {
            ++r;
        }
        if (r == j->region_count) {
            j->region_name[j->region_count++] = name;
        }
        j->region[at] = r;
        j->kind[at] = quadratic ? PL_TET10 : PL_TET4;
        j->start[at + 1] = j->start[at] + (quadratic ? 10 : 4);
        int32_t *node = j->node + j->start[at];
        for (int k = 0; k < 4; ++k) {
            node[k] = j->vertex[air->node[air->node_start[e] + k]];
        }
        for (int k = 0; quadratic && k < pl_element_edge_count(PL_TET10); ++k) {
            int edge[3];
            pl_element_edge_nodes(PL_TET10, k, edge);
            node[edge[2]] = joined_mid(j, node[edge[0]], node[edge[1]]);
        }
    }
}

// Surfaces are given by corners, because numbers of faces change with the elements.
static void joined_surfaces(const fill *f, joined *j)
{
    const pl_mesh_view *v = &f->v;
    for (int32_t s = 0; s < v->surface_count; ++s) {
        j->surface_start[s + 1] = v->surface_start[s + 1];

        for (int64_t k = v->surface_start[s]; k < v->surface_start[s + 1]; ++k) {
            int32_t node[PL_FACE_NODES_MAX];
            const int nodes = pl_mesh_face_nodes(f->mesh, v->surface_face[k], node);
            for (int i = 0; i < 4; ++i) {
                j->surface_corner[4 * k + i] = i < 3 || nodes % 4 == 0 ? node[i] : -1;
            }
        }
    }
}

// Sizes first. Edges: at most 15 of an old element (a prism has 9, with 15 nodes), 6 of a tet of the air.
static bool joined_init(const fill *f, const pl_mesh_view *air, bool quadratic, joined *j)
{
    const pl_mesh_view *v = &f->v;
    const int64_t elements = (int64_t)v->element_count + air->element_count;
    const int64_t edges = quadratic ? 15 * (int64_t)v->element_count + 6 * (int64_t)air->element_count : 1;
    const int64_t faces = v->surface_count > 0 ? v->surface_start[v->surface_count] : 0;

    j->vertex_count = v->vertex_count;
    j->position = PL_NEW_ARRAY(double, 3 * ((int64_t)v->vertex_count + air->vertex_count +
                                            (quadratic ? 6 * (int64_t)air->element_count : 0)));
    j->vertex = PL_NEW_ARRAY(int32_t, air->vertex_count);
    j->kind = PL_NEW_ARRAY(uint8_t, elements);
    j->start = PL_NEW_ARRAY(int64_t, elements + 1);
    j->node = PL_NEW_ARRAY(int32_t, v->node_start[v->element_count] + 10 * (int64_t)air->element_count);
    j->region = PL_NEW_ARRAY(int32_t, elements);
    j->region_name = PL_NEW_ARRAY(const char *, v->region_count + air->region_count);
    j->surface_start = PL_NEW_ARRAY(int64_t, (int64_t)v->surface_count + 1);
    j->surface_corner = PL_NEW_ARRAY(int32_t, 4 * faces);
    j->mid = PL_NEW_ARRAY(int32_t, edges);

    return j->position && j->vertex && j->kind && j->start && j->node && j->region && j->region_name &&
           j->surface_start && j->surface_corner && j->mid && pl_table_init(&j->edges, 2, edges);
}

// One mesh of old elements and air. Fails where Gmsh has added vertices on a wall: the two would not fit.
static pl_status fill_join(const fill *f, pl_mesh **out, pl_error *err)
{
    const pl_mesh_view *v = &f->v, air = pl_mesh_get(f->air);
    const bool quadratic = pl_element_is_quadratic(v->kind[0]);
    joined j = {0};
    int32_t met = 0;
    bool room = joined_init(f, &air, quadratic, &j);

    if (room) {
        memcpy(j.position, v->position, 3 * (size_t)v->vertex_count * sizeof *v->position);
        room = joined_vertices(f, &air, &j, &met);
    }

    // the boundary of the air is the walls, face by face
    const int64_t *boundary = NULL;
    pl_status status = room ? PL_OK : pl_fail_memory(err, "the cavities of a mesh");
    if (room && (met < 0 || pl_mesh_boundary(f->air, &boundary) != f->face_count)) {
        status = pl_fail(err, PL_FAILED,
                         "mesh: fill: the mesher added vertices on the wall of a cavity; another "
                         "size may help");
    }

    if (status == PL_OK) {
        joined_old(f, &j);
        joined_new(f, &air, quadratic, &j);
        joined_surfaces(f, &j);
        const pl_mesh_def def = {.vertex_count = j.vertex_count,
                                 .position = j.position,
                                 .element_count = v->element_count + air.element_count,
                                 .kind = j.kind,
                                 .node_start = j.start,
                                 .node = j.node,
                                 .region = j.region,
                                 .region_count = j.region_count,
                                 .region_name = j.region_name,
                                 .surface_count = v->surface_count,
                                 .surface_name = v->surface_name,
                                 .surface_start = j.surface_start,
                                 .surface_corner = j.surface_corner};
        status = pl_mesh_create(&def, out, NULL, err);
    }

    joined_clear(&j);

    return status;
}

// Arguments of fill_work.
typedef struct fill_job {
    pl_mesh *mesh;
    double size;
} fill_job;

// In the mesher's process; *out stays NULL where there is nothing to fill.
static pl_status fill_work(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                           pl_error *err)
{
    const fill_job *job = user;
    fill f = {.mesh = job->mesh, .v = pl_mesh_get(job->mesh)};
    pl_status status = fill_find(&f, err);

    if (status == PL_OK && f.piece_count == 0) {
        pl_findings_add(findings, PL_WARNING, NULL, 0,
                        "mesh: fill found no named closed cavity, so none was meshed");
        pl_findings_advise(findings, "name the wall of the cavity in the mesh itself; an open one cannot be "
                                     "filled");
    } else if (status == PL_OK) {
        status = fill_mesh(&f, job->size, progress, findings, err);
        status = status == PL_OK ? fill_join(&f, out, err) : status;
    }

    fill_clear(&f);

    return status;
}

// Replaces *mesh; how well it fits the part stays known.
pl_status pl_meshing_fill(pl_mesh **mesh, double size, const pl_progress *progress, pl_findings *findings,
                          pl_error *err)
{
    fill_job work = {*mesh, size};
    const child_job job = {"the cavities of the mesh", fill_work, &work, NULL};
    pl_mesh *whole = NULL;
    const pl_status status = meshing_isolate(&job, progress, &whole, findings, err);

    if (status == PL_OK && whole) {
        const pl_mesh_fit fit = pl_mesh_get_fit(*mesh);
        pl_mesh_set_fit(whole, &fit);
        pl_mesh_destroy(*mesh);
        *mesh = whole;
    }

    return status;
}
