// The cavity around a point. A closed cavity is a connected piece of the boundary by itself. A cavity with an
// inlet is one piece with the outer skin; there the faces are distinguished by how much of the sky above each
// is blocked by the body: nearly all inside a cavity, half at the mouth of an inlet, little on the skin. The
// share is smoothed along the surface but not over sharp edges, so that the rim lies on one, and the
// cavity is what the faces seen from the point reach through faces that are mostly enclosed. Inlet walls
// count to the cavity up to the mouth. The shares are the slow part (64 rays per face) and do not depend on
// the point: they are computed once per mesh and kept with it.
//
// A body cut along planes of symmetry is looked at as the whole (mesh_mirror.c): faces in the planes are left
// out, so that a closed cavity is a connected piece again, and rays are reflected.
#include "base/threads.h"
#include "mesh/mesh_impl.h"

#define CAVITY_EYE_RAYS 512  // from the point, over the whole sphere
#define CAVITY_FACE_RAYS 128 // half of them look away from the face
#define CAVITY_ENCLOSED 0.45 // share of blocked sky from which a face counts as inside
#define CAVITY_FLARED 0.2    // the same for a smooth patch that ends at sharp edges
#define CAVITY_SHARP 0.8     // cosine between the normals of two faces that meet in a sharp edge
#define CAVITY_MOUTH 0.5     // the same at the end of a flared mouth that has folds
#define CAVITY_SMOOTHINGS 4  // passes of averaging
#define CAVITY_VOTES 10      // passes of the majority vote at most

// Everything about one pick. Arrays are per boundary face and belong to this struct, except `sky`.
typedef struct cavity_work {
    const pl_mesh *mesh;
    const double *eye; // the point given by the user, mm
    pl_mirrors mirrors;
    int64_t count;      // boundary faces
    int32_t *neighbour; // 4 per face
    int32_t *piece;     // connected piece of each face
    int32_t piece_count;
    int32_t *seen;        // rays from the eye that meet the face
    uint8_t *inside;      // after the vote: whether the face is enclosed
    int32_t *queue;       // of cavity_flood and cavity_extend
    const double *sky;    // unit normal, area and smoothed share of blocked sky of each face
    pl_mesh_sky *own_sky; // where the mesh keeps that of other planes
} cavity_work;

static void cavity_clear(cavity_work *w)
{
    void *const block[] = {w->neighbour, w->piece, w->seen, w->inside, w->queue, w->own_sky};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
}

// False when out of memory; what was allocated is freed by cavity_clear.
static bool cavity_init(cavity_work *w)
{
    const size_t n = (size_t)w->count;
    w->neighbour = pl_boundary_neighbours(w->mesh);
    w->piece = PL_NEW_ARRAY(int32_t, n);
    w->seen = PL_NEW_ARRAY(int32_t, n);
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

// piece of a face that lies in a plane of symmetry
#define CAVITY_CUT (-5)

// Faces in planes of symmetry belong to no piece.
static void cavity_cut(cavity_work *w)
{
    const double tolerance = pl_mirror_tolerance(w->mesh);

    // label the faces in the planes
    for (int64_t f = 0; f < w->count && w->mirrors.count > 0; ++f) {
        double x[3 * PL_FACE_NODES_MAX];
        pl_mesh_gather_face(w->mesh, w->mesh->boundary[f], x);
        if (pl_mirrors_contain(&w->mirrors, x, pl_boundary_corner_count(w->mesh, f), tolerance)) {
            w->piece[f] = CAVITY_CUT;
        }
    }

    // cut them off from their neighbours, so that no flood passes through a plane
    for (int64_t k = 0; k < 4 * w->count; ++k) {
        int32_t *g = &w->neighbour[k];
        *g = *g >= 0 && (w->piece[*g] == CAVITY_CUT || w->piece[k / 4] == CAVITY_CUT) ? -1 : *g;
    }
}

// Connected pieces of the boundary, numbered from 0.
static void cavity_pieces(cavity_work *w)
{
    memset(w->piece, -1, (size_t)w->count * sizeof *w->piece);
    cavity_cut(w);
    for (int64_t f = 0; f < w->count; ++f) {
        if (w->piece[f] == -1) {
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
        // only faces seen from the void side count: a ray that starts in the void meets those first
        if (pl_mirrors_cast(w->mesh, &w->mirrors, w->eye, d, &hit) && hit.from_void) {
            w->seen[hit.index]++;
            met++;
        }
    }

    return met;
}

// The faces labelled `which`, gathered into *face.
static pl_status cavity_gather(const cavity_work *w, const int32_t *label, int32_t which, int64_t **face,
                               int64_t *count, pl_error *err)
{
    // the number is not known yet: space for all faces
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

    // how many faces of each piece are seen
    for (int64_t f = 0; f < w->count; ++f) {
        if (w->piece[f] >= 0) {
            views[w->piece[f]] += w->seen[f] > 0;
        }
    }

    // the first seen piece that encloses void, by its signed volume
    *skin = 0;
    pl_status status = PL_OK;
    for (int32_t p = 0; p < w->piece_count && !*face && status == PL_OK; ++p) {
        *skin = views[p] > views[*skin] ? p : *skin;
        if (views[p] == 0) {
            continue;
        }
        status = cavity_gather(w, w->piece, p, face, count, err);
        if (status == PL_OK && !(pl_mirrors_enclosed(w->mesh, &w->mirrors, *face, *count) > 0)) {
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
// The centre triangle of a curved face is the last of its parts (see pl_face_triangles).
static void cavity_middle(const cavity_work *w, int64_t f, double normal[3], double middle[3])
{
    double x[3 * PL_FACE_NODES_MAX], u[3], v[3];
    const int8_t(*split)[3];
    const int parts = pl_face_triangles(pl_mesh_gather_face(w->mesh, w->mesh->boundary[f], x), &split);
    const double *a = x + 3 * split[parts - 1][0], *b = x + 3 * split[parts - 1][1],
                 *c = x + 3 * split[parts - 1][2];

    // normal of that triangle; its length is twice the area
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_cross3(u, v, normal);
    const double length = pl_norm3(normal);

    // lift the point off the face, by 1e-4 of its size, so that rays do not start on the face itself
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

    // grazing directions (cosine below 0.02) are left out: they see the face's own curvature
    for (int i = 0; i < CAVITY_FACE_RAYS; ++i) {
        double d[3];
        cavity_direction(i, CAVITY_FACE_RAYS, d);
        const double cosine = pl_dot3(d, face);
        if (cosine > 0.02) {
            all += cosine;
            blocked += pl_mirrors_block(w->mesh, &w->mirrors, middle, d) ? cosine : 0;
        }
    }

    face[SKY_SHARE] = all > 0 ? blocked / all : 0;
    face[SKY_AREA] = pl_mesh_faces_area(w->mesh, w->mesh->boundary + f, 1);
}

// Whether the edge between faces f and g is blunter than `sharp`, the cosine between their normals.
static bool cavity_edge_below(const double *sky, int64_t f, int32_t g, double sharp)
{
    return g >= 0 && pl_dot3(sky + 5 * f, sky + 5 * (int64_t)g) > sharp;
}

static bool cavity_smooth_edge(const double *sky, int64_t f, int32_t g)
{
    return cavity_edge_below(sky, f, g, CAVITY_SHARP);
}

// Averages the shares along the surface, not over sharp edges. `next` is scratch.
static void cavity_smooth(const cavity_work *w, double *sky, double *next)
{
    // Jacobi passes: share_f <- (2 A_f share_f + sum A_g share_g) / (2 A_f + sum A_g) over smooth neighbours
    // g
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

        hollow[p] = pl_mirrors_enclosed(w->mesh, &w->mirrors, face, count) > 0;
        pl_free(face);
    }

    return hollow;
}

typedef struct cavity_loop {
    const cavity_work *work;
    const bool *hollow; // per piece
    double *sky;
} cavity_loop;

// The body of the parallel loop: shares of faces from .. to - 1. Closed cavities are known and skipped.
static void cavity_share_loop(void *context, int64_t from, int64_t to)
{
    const cavity_loop *l = context;
    for (int64_t f = from; f < to; ++f) {
        const int32_t piece = l->work->piece[f];
        if (piece >= 0 && !l->hollow[piece]) {
            cavity_share(l->work, f, l->sky + 5 * f);
        }
    }
}

// The shares of all faces that are not in a closed cavity; the mesh keeps them.
static pl_status cavity_sky(cavity_work *w, pl_error *err)
{
    // shares computed for the same planes are kept with the mesh
    const uint64_t key =
        pl_hash_bytes(PL_HASH_SEED, w->mirrors.mirror, (size_t)w->mirrors.count * sizeof *w->mirrors.mirror);
    pl_mesh_sky *kept = w->mesh->sky;

    if (kept && kept->key == key) {
        w->sky = kept->face;
        return PL_OK;
    }

    // otherwise compute them: rays in parallel, then the smoothing
    bool *hollow = cavity_hollow(w, err);
    pl_mesh_sky *sky = pl_alloc(sizeof *sky + 5 * (size_t)w->count * sizeof *sky->face), *none = NULL;
    double *next = PL_NEW_ARRAY(double, w->count);
    const bool room = hollow && sky && next;

    if (room) {
        memset(sky->face, 0, 5 * (size_t)w->count * sizeof *sky->face);
        sky->key = key;
        cavity_loop loop = {w, hollow, sky->face};
        pl_loop(w->count, 64, cavity_share_loop, &loop);
        cavity_smooth(w, sky->face, next);
        // the mesh keeps the first
        if (!atomic_compare_exchange_strong(&((pl_mesh *)w->mesh)->sky, &none, sky)) {
            w->own_sky = sky;
        }
        w->sky = sky->face;
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
    // first opinion: the threshold on the share alone
    for (int64_t f = 0; f < w->count; ++f) {
        w->inside[f] = w->piece[f] == skin && w->sky[5 * f + SKY_SHARE] >= CAVITY_ENCLOSED;
    }

    // then majority votes until nobody changes; the limit guards against two faces that change in turn
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

// labels of the skin's faces while it is divided; they share the array of the pieces
#define CAVITY_YES (-2)
#define CAVITY_NO (-3)
#define CAVITY_UNREACHED (-4)
#define CAVITY_TRIED (-6)

// Faces inside that can be reached from seen ones get CAVITY_YES; returns how many there are.
static int64_t cavity_reach(cavity_work *w, int32_t skin)
{
    // split the skin into enclosed faces, still to be reached, and open ones
    int32_t *label = w->piece;
    for (int64_t f = 0; f < w->count; ++f) {
        if (label[f] == skin) {
            label[f] = w->inside[f] ? CAVITY_UNREACHED : CAVITY_NO;
        }
    }

    // flood the enclosed part from every face that the eye sees
    int64_t reached = 0;
    for (int64_t f = 0; f < w->count; ++f) {
        if (w->seen[f] && label[f] == CAVITY_UNREACHED) {
            reached += cavity_flood(w, (int32_t)f, label, CAVITY_UNREACHED, CAVITY_YES);
        }
    }

    // enclosed faces that cannot be reached belong to another cavity
    for (int64_t f = 0; f < w->count; ++f) {
        label[f] = label[f] == CAVITY_UNREACHED ? CAVITY_NO : label[f];
    }

    return reached;
}

// The wall of a cavity ends at a sharp edge: a smooth patch beside it that stays partly enclosed up to its
// sharp edges (a flared mouth) belongs to it. One that runs out into the open does not.
static void cavity_extend(cavity_work *w, double sharp)
{
    int32_t *label = w->piece;
    for (int64_t start = 0; start < w->count; ++start) {
        // start at an open face that continues the cavity without a sharp edge
        bool beside = false;
        for (int a = 0; a < 4 && label[start] == CAVITY_NO; ++a) {
            const int32_t g = w->neighbour[4 * start + a];
            beside = beside || (cavity_edge_below(w->sky, start, g, sharp) && label[g] == CAVITY_YES);
        }

        if (!beside) {
            continue;
        }

        // collect its smooth patch; the patch counts only if all of it stays partly enclosed
        int32_t head = 0, tail = 0;
        bool enclosed = true;
        label[start] = CAVITY_TRIED;
        w->queue[tail++] = (int32_t)start;

        while (head < tail) {
            const int32_t f = w->queue[head++];
            enclosed = enclosed && w->sky[5 * (int64_t)f + SKY_SHARE] >= CAVITY_FLARED;

            for (int a = 0; a < 4; ++a) {
                const int32_t g = w->neighbour[4 * (size_t)f + (size_t)a];
                if (cavity_edge_below(w->sky, f, g, sharp) && label[g] == CAVITY_NO) {
                    label[g] = CAVITY_TRIED;
                    w->queue[tail++] = g;
                }
            }
        }

        // a rejected patch keeps the label TRIED, so that it is not collected again from another face
        for (int32_t i = 0; i < tail && enclosed; ++i) {
            label[w->queue[i]] = CAVITY_YES;
        }
    }

    for (int64_t f = 0; f < w->count; ++f) {
        label[f] = label[f] == CAVITY_TRIED ? CAVITY_NO : label[f];
    }
}

// What is left of the skin is one large piece; smaller ones are spots inside the cavity and are filled.
static void cavity_fill_spots(cavity_work *w)
{
    int32_t *label = w->piece, spot = w->piece_count, largest = -1;
    double most = 0;

    // number the connected pieces of the open faces and remember the largest
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

    // all others are surrounded by the cavity
    for (int64_t f = 0; f < w->count; ++f) {
        if (label[f] >= w->piece_count && label[f] != largest) {
            label[f] = CAVITY_YES;
        }
    }
}

// ---- is it the whole cavity?

#define CAVITY_LOOKS 8 // points of an opening from which its outside is looked at

// The share of the sky outside of an opening that the body blocks: `count` corners of a rim around (or partly
// around) it, in the order of the faces.
static double cavity_outside(const cavity_work *w, const double *corner, int32_t count, bool closed)
{
    // centre of the opening, and its vector area: sum of (p_j - c) x (p_j+1 - c), which points outwards
    double c[3] = {0}, n[3] = {0}, blocked = 0, all = 0;
    for (int32_t j = 0; j < 3 * count; ++j) {
        c[j % 3] += corner[j] / count;
    }

    for (int32_t j = 0; j + !closed < count; ++j) {
        double p[3], q[3], m[3];
        pl_sub3(corner + 3 * j, c, p);
        pl_sub3(corner + 3 * ((j + 1) % count), c, q);
        pl_cross3(p, q, m);
        for (int i = 0; i < 3; ++i) {
            n[i] += m[i];
        }
    }

    // look out of the opening from its centre and from points halfway to its rim
    const double length = pl_norm3(n);
    for (int k = 0; k <= CAVITY_LOOKS && length > 0; ++k) {
        const double *p = corner + 3 * (k * (int64_t)count / (CAVITY_LOOKS + 1));
        double from[3];
        for (int i = 0; i < 3; ++i) {
            from[i] = (k == 0 ? c[i] : 0.5 * (c[i] + p[i])) + 1e-3 * n[i] / sqrt(length);
        }
        for (int s = 0; s < CAVITY_FACE_RAYS; ++s) {
            double d[3];
            cavity_direction(s, CAVITY_FACE_RAYS, d);
            const double cosine = pl_dot3(d, n) / length;
            if (cosine > 0.02) {
                all += cosine;
                blocked += pl_mirrors_block(w->mesh, &w->mirrors, from, d) ? cosine : 0;
            }
        }
    }

    return all > 0 ? blocked / all : 0;
}

// The opening of one rim that is most enclosed from outside: stretches of it in planes of symmetry are none.
static double cavity_rim_outside(const cavity_work *w, const pl_rims *rims, int32_t r, double *corner,
                                 double worst[3])
{
    const double *X = w->mesh->view.position, tolerance = pl_mirror_tolerance(w->mesh);
    const int32_t first = rims->start[r], n = rims->start[r + 1] - first;

    // an edge of the rim in a plane of symmetry, where the walk can start
    int32_t length = 0, cut = -1;
    double most = 0;

    for (int32_t k = 0; k < n && cut < 0; ++k) {
        const int32_t a = rims->corner[first + k], b = rims->corner[first + (k + 1) % n];
        double x[6];
        memcpy(x, X + 3 * (size_t)a, 3 * sizeof *x);
        memcpy(x + 3, X + 3 * (size_t)b, 3 * sizeof *x);
        cut = pl_mirrors_contain(&w->mirrors, x, 2, tolerance) ? k : -1;
    }

    // from the edge after one in a plane entirely round to it
    for (int32_t k = 0; k <= n; ++k) {
        const int32_t at = (cut + 1 + k) % n;
        memcpy(corner + 3 * (size_t)length++, X + 3 * (size_t)rims->corner[first + at], 3 * sizeof *corner);
        const bool ends =
            k == n || (cut >= 0 && length > 1 &&
                       pl_mirrors_contain(&w->mirrors, corner + 3 * (size_t)(length - 2), 2, tolerance));
        if (!ends) {
            continue;
        }
        // the last corner belongs to the edge in the plane, or is the first again
        const double share = length > 3 ? cavity_outside(w, corner, length - 1, cut < 0) : 0;
        if (share > most) {
            most = share;
            memcpy(worst, corner, 3 * sizeof *worst);
        }

        memmove(corner, corner + 3 * (size_t)(length - 1), 3 * sizeof *corner);
        length = 1;
    }

    return most;
}

// The faces found must be most of what the eye sees, and their openings must open to the outside: beyond an
// opening that is itself enclosed, the cavity goes on.
static pl_status cavity_check(const cavity_work *w, const int64_t *face, int64_t count, int met,
                              pl_error *err)
{
    // most of the faces seen must belong to the cavity
    const double *eye = w->eye;
    int found = 0;

    for (int64_t f = 0; f < w->count; ++f) {
        found += w->piece[f] == CAVITY_YES ? w->seen[f] : 0;
    }

    if (2 * found <= met) {
        return pl_fail(err, PL_BAD_INPUT,
                       "no cavity was found around the point (%g, %g, %g): only %d %% of the faces seen "
                       "from it are enclosed, the others are open to the outside; place the point deeper in "
                       "the cavity, or name the planes along which the part was cut as supports",
                       eye[0], eye[1], eye[2], met > 0 ? 100 * found / met : 0);
    }

    // no opening may be enclosed from outside
    pl_rims rims;
    pl_status status = pl_mesh_rims(w->mesh, face, count, &rims, err);
    if (status != PL_OK) {
        return status;
    }

    double *corner = PL_NEW_ARRAY(double, 3 * ((int64_t)(rims.count > 0 ? rims.start[rims.count] : 0) + 2));
    status = corner ? PL_OK : pl_fail_memory(err, "mesh: picking a cavity");
    for (int32_t r = 0; r < rims.count && status == PL_OK; ++r) {
        double at[3] = {0};
        const double share = cavity_rim_outside(w, &rims, r, corner, at);

        if (share > 0.5) {
            status = pl_fail(err, PL_BAD_INPUT,
                             "only a part of the cavity around (%g, %g, %g) was found: it goes on beyond "
                             "the rim through (%.4g, %.4g, %.4g), where the body blocks %.0f %% of the view",
                             eye[0], eye[1], eye[2], at[0], at[1], at[2], 100 * share);
        }
    }

    pl_free(corner);
    pl_rims_clear(&rims);

    return status;
}

// The cavity with openings around the eye, from the skin's faces. *face stays NULL on failure.
static pl_status cavity_open(cavity_work *w, int32_t skin, int met, int64_t **face, int64_t *count,
                             pl_error *err)
{
    // outside of the body at most half of the directions meet it (a convex surface covers half of them)
    const double *eye = w->eye;
    if (2 * met <= CAVITY_EYE_RAYS) {
        return pl_fail(err, PL_BAD_INPUT,
                       "the point (%g, %g, %g) is not inside a cavity: the mesh covers only %d %% of "
                       "the directions around it, expected more than half",
                       eye[0], eye[1], eye[2], 100 * met / CAVITY_EYE_RAYS);
    }

    // enclosed faces of the skin, those that can be reached, and the clean-up along the rim
    pl_status status = cavity_sky(w, err);
    if (status != PL_OK) {
        return status;
    }
    cavity_vote(w, skin);

    // extended twice: first to the nearest sharp edges, then over the folds of a flared mouth
    const int64_t reached = cavity_reach(w, skin);
    if (reached > 0) {
        cavity_extend(w, CAVITY_SHARP);
        cavity_extend(w, CAVITY_MOUTH);
        cavity_fill_spots(w);
    }

    // collect the faces and check that they are one whole cavity
    status = cavity_gather(w, w->piece, CAVITY_YES, face, count, err);
    if (status == PL_OK) {
        status = cavity_check(w, *face, *count, met, err);
    }

    if (status != PL_OK) {
        pl_free(*face);
        *face = NULL;
        *count = 0;
    }

    return status;
}

pl_status pl_mesh_pick_cavity(const pl_mesh *mesh, const pl_pick *pick, int64_t **face, int64_t *face_count,
                              pl_error *err)
{
    // the point must not be in the material
    const double *eye = pick->point;
    pl_embedding at;
    pl_status status = pl_mesh_embed(mesh, eye, &at, err);

    if (status != PL_OK) {
        return status;
    }

    if (at.distance == 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "the point (%g, %g, %g) lies inside the material (element %d), expected a point "
                       "inside a cavity",
                       eye[0], eye[1], eye[2], (int)at.element);
    }

    // a closed cavity needs no shares; only a cavity with openings does
    cavity_work w = {.mesh = mesh,
                     .eye = eye,
                     .mirrors = {pick->mirror, pick->mirror_count},
                     .count = mesh->boundary_count};
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
