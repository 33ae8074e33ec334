// The cavity around a point. A closed cavity is a connected piece of the boundary by itself. A cavity with an
// inlet is one piece with the outer skin; there the faces are told apart by how much of the sky above each is
// blocked by the body: nearly all inside a cavity, half at the mouth of an inlet, little on the skin. The
// share is smoothed along the surface but not over sharp edges, so that the rim settles on one, and the
// cavity is what the faces seen from the point reach through faces that are mostly enclosed. Inlet walls
// count to the cavity up to the mouth. The shares are the slow part (64 rays per face) and do not depend on
// the point: they are computed once per mesh and kept with it.
#include "base/threads.h"
#include "mesh/mesh_impl.h"

#define CAVITY_EYE_RAYS 512
#define CAVITY_FACE_RAYS 128 // half of them look away from the face
#define CAVITY_ENCLOSED 0.45 // share of blocked sky from which a face counts as inside
#define CAVITY_SHARP 0.8     // cosine between the normals of two faces that meet in a sharp edge
#define CAVITY_SMOOTHINGS 4
#define CAVITY_VOTES 10

typedef struct cavity_work {
    const pl_mesh *mesh;
    const double *eye;
    int64_t count;      // boundary faces
    int32_t *neighbour; // 4 per face
    int32_t *piece;     // connected piece of each face
    int32_t piece_count;
    uint8_t *seen; // from the eye
    uint8_t *inside;
    int32_t *queue;
    const double *sky; // the mesh's own: unit normal, area and smoothed share of blocked sky of each face
} cavity_work;

static void cavity_clear(cavity_work *w)
{
    void *const block[] = {w->neighbour, w->piece, w->seen, w->inside, w->queue};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
}

static bool cavity_init(cavity_work *w)
{
    const size_t n = (size_t)w->count;
    w->neighbour = pl_boundary_neighbours(w->mesh);
    w->piece = PL_NEW_ARRAY(int32_t, n);
    w->seen = PL_NEW_ARRAY(uint8_t, n);
    w->inside = PL_NEW_ARRAY(uint8_t, n);
    w->queue = PL_NEW_ARRAY(int32_t, n);
    return w->neighbour && w->piece && w->seen && w->inside && w->queue;
}

// Directions spread evenly over the sphere (Fibonacci lattice), turned off the axes of typical meshes.
static void cavity_direction(int i, int count, double d[3])
{
    const double golden = PL_PI * (3 - sqrt(5.0));
    const double z = 1 - (2 * i + 1.0) / count, r = sqrt(1 - z * z), phi = golden * i + 0.37;
    const double tilt = 0.41;
    d[0] = r * cos(phi);
    d[1] = cos(tilt) * r * sin(phi) - sin(tilt) * z;
    d[2] = sin(tilt) * r * sin(phi) + cos(tilt) * z;
}

// Faces reached from `start` over edges between faces for which label[] equals `from`; they get label `to`.
static int32_t cavity_flood(cavity_work *w, int32_t start, int32_t *label, int32_t from, int32_t to)
{
    int32_t head = 0, tail = 0;
    label[start] = to;
    w->queue[tail++] = start;
    while (head < tail) {
        const int32_t f = w->queue[head++];
        for (int a = 0; a < 4; ++a) {
            const int32_t g = w->neighbour[4 * (size_t)f + (size_t)a];
            if (g >= 0 && label[g] == from) {
                label[g] = to;
                w->queue[tail++] = g;
            }
        }
    }
    return tail;
}

static void cavity_pieces(cavity_work *w)
{
    memset(w->piece, -1, (size_t)w->count * sizeof *w->piece);
    for (int64_t f = 0; f < w->count; ++f) {
        if (w->piece[f] < 0) {
            cavity_flood(w, (int32_t)f, w->piece, -1, w->piece_count++);
        }
    }
}

// Marks the faces seen from the eye; returns how many of the rays met the mesh.
static int cavity_look(cavity_work *w)
{
    int met = 0;
    for (int i = 0; i < CAVITY_EYE_RAYS; ++i) {
        double d[3];
        pl_hit hit;
        cavity_direction(i, CAVITY_EYE_RAYS, d);
        if (pl_mesh_cast(w->mesh, w->eye, d, 0, &hit) && hit.from_void) {
            w->seen[hit.index] = 1;
            met++;
        }
    }
    return met;
}

// The faces labelled `which`, gathered into *face.
static pl_status cavity_gather(const cavity_work *w, const int32_t *label, int32_t which, int64_t **face,
                               int64_t *count, pl_error *err)
{
    int64_t *found = PL_NEW_ARRAY(int64_t, w->count), n = 0;
    if (!found) {
        return pl_fail_memory(err, "mesh: picking a cavity");
    }
    for (int64_t f = 0; f < w->count; ++f) {
        if (label[f] == which) {
            found[n++] = w->mesh->boundary[f];
        }
    }
    *face = found;
    *count = n;
    return PL_OK;
}

// A piece whose normals point into what it encloses is a closed cavity, and only from inside can it be seen.
// *face stays NULL when there is none; *skin is the piece most of whose faces are seen otherwise.
static pl_status cavity_closed(const cavity_work *w, int64_t **face, int64_t *count, int32_t *skin,
                               pl_error *err)
{
    int32_t *views = PL_NEW_ARRAY(int32_t, w->piece_count);
    if (!views) {
        return pl_fail_memory(err, "mesh: picking a cavity");
    }
    for (int64_t f = 0; f < w->count; ++f) {
        views[w->piece[f]] += w->seen[f];
    }
    *skin = 0;
    pl_status status = PL_OK;
    for (int32_t p = 0; p < w->piece_count && !*face && status == PL_OK; ++p) {
        *skin = views[p] > views[*skin] ? p : *skin;
        if (views[p] == 0) {
            continue;
        }
        status = cavity_gather(w, w->piece, p, face, count, err);
        if (status == PL_OK && !(pl_mesh_faces_enclosed(w->mesh, *face, *count) > 0)) {
            pl_free(*face);
            *face = NULL;
        }
    }
    pl_free(views);
    return status;
}

// ---- a cavity with openings

// What is known of a boundary face, 5 numbers: unit normal, area, share of blocked sky.
#define SKY_AREA 3
#define SKY_SHARE 4

// The middle of a face (of its middle triangle, if curved), just above it, and its unit normal.
static void cavity_middle(const cavity_work *w, int64_t f, double normal[3], double middle[3])
{
    double x[3 * PL_FACE_NODES_MAX], u[3], v[3];
    const int8_t(*split)[3];
    const int parts = pl_face_triangles(pl_mesh_gather_face(w->mesh, w->mesh->boundary[f], x), &split);
    const double *a = x + 3 * split[parts - 1][0], *b = x + 3 * split[parts - 1][1],
                 *c = x + 3 * split[parts - 1][2];
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_cross3(u, v, normal);
    const double length = pl_norm3(normal);
    for (int i = 0; i < 3; ++i) {
        normal[i] = length > 0 ? normal[i] / length : 0;
        middle[i] = (a[i] + b[i] + c[i]) / 3 + 1e-4 * sqrt(length) * normal[i];
    }
}

// The share of the sky above a face, weighted by the cosine, that the body blocks.
static void cavity_share(const cavity_work *w, int64_t f, double *face)
{
    double middle[3], blocked = 0, all = 0;
    cavity_middle(w, f, face, middle);
    for (int i = 0; i < CAVITY_FACE_RAYS; ++i) {
        double d[3];
        cavity_direction(i, CAVITY_FACE_RAYS, d);
        const double cosine = pl_dot3(d, face);
        if (cosine > 0.02) {
            all += cosine;
            blocked += pl_mesh_blocks(w->mesh, middle, d, 0) ? cosine : 0;
        }
    }
    face[SKY_SHARE] = all > 0 ? blocked / all : 0;
    face[SKY_AREA] = pl_mesh_faces_area(w->mesh, w->mesh->boundary + f, 1);
}

static bool cavity_smooth_edge(const double *sky, int64_t f, int32_t g)
{
    return g >= 0 && pl_dot3(sky + 5 * f, sky + 5 * (int64_t)g) > CAVITY_SHARP;
}

// Averages the shares along the surface, not over sharp edges. `next` is scratch.
static void cavity_smooth(const cavity_work *w, double *sky, double *next)
{
    for (int pass = 0; pass < CAVITY_SMOOTHINGS; ++pass) {
        for (int64_t f = 0; f < w->count; ++f) {
            const double *face = sky + 5 * f;
            double sum = 2 * face[SKY_AREA] * face[SKY_SHARE], weight = 2 * face[SKY_AREA];
            for (int a = 0; a < 4; ++a) {
                const int32_t g = w->neighbour[4 * f + a];
                if (cavity_smooth_edge(sky, f, g)) {
                    sum += sky[5 * (int64_t)g + SKY_AREA] * sky[5 * (int64_t)g + SKY_SHARE];
                    weight += sky[5 * (int64_t)g + SKY_AREA];
                }
            }
            next[f] = weight > 0 ? sum / weight : 0;
        }
        for (int64_t f = 0; f < w->count; ++f) {
            sky[5 * f + SKY_SHARE] = next[f];
        }
    }
}

// Which pieces enclose space rather than material, by their signed volume: those are cavities as they stand.
static bool *cavity_hollow(const cavity_work *w, pl_error *err)
{
    bool *hollow = PL_NEW_ARRAY(bool, w->piece_count);
    for (int32_t p = 0; hollow && p < w->piece_count; ++p) {
        int64_t *face = NULL, count = 0;
        if (cavity_gather(w, w->piece, p, &face, &count, err) != PL_OK) {
            pl_free(hollow);
            return NULL;
        }
        hollow[p] = pl_mesh_faces_enclosed(w->mesh, face, count) > 0;
        pl_free(face);
    }
    return hollow;
}

typedef struct cavity_loop {
    const cavity_work *work;
    const bool *hollow; // per piece
    double *sky;
} cavity_loop;

static void cavity_share_loop(void *context, int64_t from, int64_t to)
{
    const cavity_loop *l = context;
    for (int64_t f = from; f < to; ++f) {
        if (!l->hollow[l->work->piece[f]]) {
            cavity_share(l->work, f, l->sky + 5 * f);
        }
    }
}

// The shares of all faces that are not in a closed cavity; the mesh keeps them.
static pl_status cavity_sky(cavity_work *w, pl_error *err)
{
    w->sky = w->mesh->sky;
    if (w->sky) {
        return PL_OK;
    }
    bool *hollow = cavity_hollow(w, err);
    double *sky = PL_NEW_ARRAY(double, 5 * w->count), *next = PL_NEW_ARRAY(double, w->count), *none = NULL;
    const bool room = hollow && sky && next;
    if (room) {
        cavity_loop loop = {w, hollow, sky};
        pl_loop(w->count, 64, cavity_share_loop, &loop);
        cavity_smooth(w, sky, next);
        // another thread may have been faster: its numbers are the same
        if (!atomic_compare_exchange_strong(&((pl_mesh *)w->mesh)->sky, &none, sky)) {
            pl_free(sky);
            sky = none;
        }
        w->sky = sky;
    } else {
        pl_free(sky);
    }
    pl_free(hollow);
    pl_free(next);
    return room ? PL_OK : pl_fail_memory(err, "mesh: picking a cavity");
}

// A face most of whose smooth neighbours think otherwise joins them: teeth along the rim go.
static void cavity_vote(cavity_work *w, int32_t skin)
{
    for (int64_t f = 0; f < w->count; ++f) {
        w->inside[f] = w->piece[f] == skin && w->sky[5 * f + SKY_SHARE] >= CAVITY_ENCLOSED;
    }
    for (int pass = 0, changed = 1; pass < CAVITY_VOTES && changed; ++pass) {
        changed = 0;
        for (int64_t f = 0; f < w->count; ++f) {
            const int corners = pl_boundary_corner_count(w->mesh, f);
            int against = 0;
            for (int a = 0; a < corners; ++a) {
                const int32_t g = w->neighbour[4 * f + a];
                against += cavity_smooth_edge(w->sky, f, g) && w->inside[g] != w->inside[f];
            }
            if (2 * against > corners && w->piece[f] == skin) {
                w->inside[f] = !w->inside[f];
                changed++;
            }
        }
    }
}

#define CAVITY_YES (-2)
#define CAVITY_NO (-3)
#define CAVITY_UNREACHED (-4)

// Faces inside that can be reached from seen ones get CAVITY_YES; returns how many there are.
static int64_t cavity_reach(cavity_work *w, int32_t skin)
{
    int32_t *label = w->piece;
    for (int64_t f = 0; f < w->count; ++f) {
        if (label[f] == skin) {
            label[f] = w->inside[f] ? CAVITY_UNREACHED : CAVITY_NO;
        }
    }
    int64_t reached = 0;
    for (int64_t f = 0; f < w->count; ++f) {
        if (w->seen[f] && label[f] == CAVITY_UNREACHED) {
            reached += cavity_flood(w, (int32_t)f, label, CAVITY_UNREACHED, CAVITY_YES);
        }
    }
    for (int64_t f = 0; f < w->count; ++f) {
        label[f] = label[f] == CAVITY_UNREACHED ? CAVITY_NO : label[f];
    }
    return reached;
}

// What is left of the skin is one large piece; smaller ones are spots inside the cavity and are filled.
static void cavity_fill_spots(cavity_work *w)
{
    int32_t *label = w->piece, spot = w->piece_count, largest = -1;
    double most = 0;
    for (int64_t f = 0; f < w->count; ++f) {
        if (label[f] != CAVITY_NO) {
            continue;
        }
        const int32_t faces = cavity_flood(w, (int32_t)f, label, CAVITY_NO, spot);
        double area = 0;
        for (int32_t i = 0; i < faces; ++i) {
            area += w->sky[5 * (int64_t)w->queue[i] + SKY_AREA];
        }
        if (area > most) {
            most = area;
            largest = spot;
        }
        spot++;
    }
    for (int64_t f = 0; f < w->count; ++f) {
        if (label[f] >= w->piece_count && label[f] != largest) {
            label[f] = CAVITY_YES;
        }
    }
}

static pl_status cavity_open(cavity_work *w, int32_t skin, int met, int64_t **face, int64_t *count,
                             pl_error *err)
{
    const double *eye = w->eye;
    if (2 * met <= CAVITY_EYE_RAYS) {
        return pl_fail(err, PL_BAD_INPUT,
                       "pick: the point (%g, %g, %g) is not inside a cavity: the mesh covers only %d %% of "
                       "the directions around it, expected more than half",
                       eye[0], eye[1], eye[2], 100 * met / CAVITY_EYE_RAYS);
    }
    pl_status status = cavity_sky(w, err);
    if (status != PL_OK) {
        return status;
    }
    cavity_vote(w, skin);
    const int64_t reached = cavity_reach(w, skin);
    if (reached > 0) {
        cavity_fill_spots(w);
    }
    status = cavity_gather(w, w->piece, CAVITY_YES, face, count, err);
    if (status == PL_OK && (*count == 0 || !(pl_mesh_faces_enclosed(w->mesh, *face, *count) > 0))) {
        pl_free(*face);
        *face = NULL;
        *count = 0;
        status = pl_fail(
            err, PL_BAD_INPUT,
            "pick: no cavity was found around the point (%g, %g, %g): the faces seen from it are open to "
            "the outside",
            eye[0], eye[1], eye[2]);
    }
    return status;
}

pl_status pl_mesh_pick_cavity(const pl_mesh *mesh, const double eye[3], int64_t **face, int64_t *face_count,
                              pl_error *err)
{
    pl_embedding at;
    pl_status status = pl_mesh_embed(mesh, eye, &at, err);
    if (status != PL_OK) {
        return status;
    }
    if (at.distance == 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "pick: the point (%g, %g, %g) lies inside the material (element %d), expected a point "
                       "inside a cavity",
                       eye[0], eye[1], eye[2], (int)at.element);
    }
    cavity_work w = {.mesh = mesh, .eye = eye, .count = mesh->boundary_count};
    if (!cavity_init(&w)) {
        status = pl_fail_memory(err, "mesh: picking a cavity");
    } else {
        int32_t skin = 0;
        cavity_pieces(&w);
        const int met = cavity_look(&w);
        status = cavity_closed(&w, face, face_count, &skin, err);
        if (status == PL_OK && !*face) {
            status = cavity_open(&w, skin, met, face, face_count, err);
        }
    }
    cavity_clear(&w);
    return status;
}
