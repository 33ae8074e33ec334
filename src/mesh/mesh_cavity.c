// The cavity around a point. A closed cavity is a connected piece of the boundary by itself. A cavity with an
// inlet is one piece with the outer skin; there the faces are told apart by how much of the sky above each is
// blocked by the body: nearly all inside a cavity, half at the mouth of an inlet, little on the skin. The
// share is smoothed along the surface but not over sharp edges, so that the rim settles on one, and the
// cavity is what the faces seen from the point reach through faces that are mostly enclosed. Inlet walls
// count to the cavity up to the mouth.
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
    double *normal; // 3 per face, unit length
    double *area, *share, *share_new;
    int32_t *queue;
} cavity_work;

static void cavity_clear(cavity_work *w)
{
    void *const block[] = {w->neighbour, w->piece, w->seen,      w->inside, w->normal,
                           w->area,      w->share, w->share_new, w->queue};
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
    w->normal = PL_NEW_ARRAY(double, 3 * n);
    w->area = PL_NEW_ARRAY(double, n);
    w->share = PL_NEW_ARRAY(double, n);
    w->share_new = PL_NEW_ARRAY(double, n);
    w->queue = PL_NEW_ARRAY(int32_t, n);
    return w->neighbour && w->piece && w->seen && w->inside && w->normal && w->area && w->share &&
           w->share_new && w->queue;
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

// The middle of a face (of its middle triangle, if curved) and its unit normal.
static void cavity_middle(const cavity_work *w, int64_t f, double middle[3])
{
    double x[3 * PL_FACE_NODES_MAX], u[3], v[3], *normal = w->normal + 3 * f;
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
        // just above the face, by a part of its size
        middle[i] = (a[i] + b[i] + c[i]) / 3 + 1e-4 * sqrt(length) * normal[i];
    }
}

// The share of the sky above a face, weighted by the cosine, that the body blocks.
static void cavity_share(cavity_work *w, int64_t f)
{
    double middle[3], blocked = 0, all = 0;
    cavity_middle(w, f, middle);
    for (int i = 0; i < CAVITY_FACE_RAYS; ++i) {
        double d[3];
        cavity_direction(i, CAVITY_FACE_RAYS, d);
        const double cosine = pl_dot3(d, w->normal + 3 * f);
        if (cosine > 0.02) {
            all += cosine;
            blocked += pl_mesh_blocks(w->mesh, middle, d, 0) ? cosine : 0;
        }
    }
    w->share[f] = all > 0 ? blocked / all : 0;
    w->area[f] = pl_mesh_faces_area(w->mesh, w->mesh->boundary + f, 1);
}

static bool cavity_smooth_edge(const cavity_work *w, int64_t f, int32_t g)
{
    return g >= 0 && pl_dot3(w->normal + 3 * f, w->normal + 3 * (size_t)g) > CAVITY_SHARP;
}

typedef struct cavity_loop {
    cavity_work *work;
    int32_t skin;
} cavity_loop;

static void cavity_share_loop(void *context, int64_t from, int64_t to)
{
    const cavity_loop *l = context;
    for (int64_t f = from; f < to; ++f) {
        if (l->work->piece[f] == l->skin) {
            cavity_share(l->work, f);
        }
    }
}

static void cavity_shares(cavity_work *w, int32_t skin)
{
    cavity_loop l = {.work = w, .skin = skin};
    pl_loop(w->count, 64, cavity_share_loop, &l);
    for (int pass = 0; pass < CAVITY_SMOOTHINGS; ++pass) {
        for (int64_t f = 0; f < w->count; ++f) {
            double sum = 2 * w->area[f] * w->share[f], weight = 2 * w->area[f];
            for (int a = 0; a < 4; ++a) {
                const int32_t g = w->neighbour[4 * f + a];
                if (cavity_smooth_edge(w, f, g)) {
                    sum += w->area[g] * w->share[g];
                    weight += w->area[g];
                }
            }
            w->share_new[f] = weight > 0 ? sum / weight : 0;
        }
        double *const swap = w->share;
        w->share = w->share_new;
        w->share_new = swap;
    }
}

// A face most of whose smooth neighbours think otherwise joins them: teeth along the rim go.
static void cavity_vote(cavity_work *w, int32_t skin)
{
    for (int64_t f = 0; f < w->count; ++f) {
        w->inside[f] = w->piece[f] == skin && w->share[f] >= CAVITY_ENCLOSED;
    }
    for (int pass = 0, changed = 1; pass < CAVITY_VOTES && changed; ++pass) {
        changed = 0;
        for (int64_t f = 0; f < w->count; ++f) {
            const int corners = pl_boundary_corner_count(w->mesh, f);
            int against = 0;
            for (int a = 0; a < corners; ++a) {
                const int32_t g = w->neighbour[4 * f + a];
                against += cavity_smooth_edge(w, f, g) && w->inside[g] != w->inside[f];
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
            area += w->area[w->queue[i]];
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
    cavity_shares(w, skin);
    cavity_vote(w, skin);
    const int64_t reached = cavity_reach(w, skin);
    if (reached > 0) {
        cavity_fill_spots(w);
    }
    pl_status status = cavity_gather(w, w->piece, CAVITY_YES, face, count, err);
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
