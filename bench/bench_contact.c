// Finding contacts: a bar with narrow slots, bent until they close (some 80k linear tetrahedra, as in paper
// 004, whose detection takes 70 ms). Milliseconds of the first search (tree and query), of one after the body
// has moved (refit and query), and of one in the list of candidates, beside testing every point against every
// face; samples of the answers are compared with that.
//
//   bench_contact [cells]      cells along the bar (default 108: 83k tetrahedra)
#include "../tests/box_mesh.h"
#include "bench.h"
#include "contact/contact.h"

#define SLOT_EVERY 6
#define REACH 0.06

// y: across; cells of the upper half are left out in every sixth layer.
static pl_mesh *slotted(int nx, int across)
{
    const double size[3] = {nx, across, across};
    bool *hole = calloc((size_t)(nx * across * across), sizeof *hole);
    pl_mesh *mesh = NULL;
    pl_error err = {0};

    for (int c = 0; hole && c < nx * across * across; ++c) {
        hole[c] = c % nx % SLOT_EVERY == SLOT_EVERY - 1 && c / (nx * across) >= across / 4;
    }
    box_mesh(nx, across, across, size, hole, NULL, &mesh, &err);
    free(hole);

    return mesh;
}

// Rigid pieces between the slots, each turned by `angle` against the one before about the neutral line at a
// quarter of the height: the slots close at their upper rims.
static void bend(const double *rest, int32_t count, double angle, double height, double *x)
{
    for (int32_t v = 0; v < count; ++v) {
        const double *r = rest + 3 * (size_t)v, z = r[2] - 0.25 * height;
        const int piece = (int)(r[0] / SLOT_EVERY + 1e-9);
        double at[2] = {0, 0};
        for (int k = 0; k < piece; ++k) {
            at[0] += (SLOT_EVERY - 1) * cos(k * angle) + cos((k + 0.5) * angle);
            at[1] += (SLOT_EVERY - 1) * sin(k * angle) + sin((k + 0.5) * angle);
        }
        const double along = r[0] - SLOT_EVERY * piece, turn = piece * angle;
        x[3 * (size_t)v] = at[0] + along * cos(turn) - z * sin(turn);
        x[3 * (size_t)v + 1] = r[1];
        x[3 * (size_t)v + 2] = at[1] + along * sin(turn) + z * cos(turn);
    }
}

static bool share(const pl_contact_surface *s, int32_t a, int32_t b)
{
    for (int i = 0; i < s->size[a]; ++i) {
        for (int j = 0; j < s->size[b]; ++j) {
            if (s->node[PL_FACE_NODES_MAX * (size_t)a + (size_t)i] ==
                s->node[PL_FACE_NODES_MAX * (size_t)b + (size_t)j]) {
                return true;
            }
        }
    }
    return false;
}

// The smallest positive or negative gap of a centre of a face to any other face that looks at it; every face
// tested.
static double brute(const pl_contact_surface *s, int32_t point, const double *normal, const double *x)
{
    double best = INFINITY;
    const int32_t home = s->home[point];

    for (int32_t f = 0; f < s->face_count; ++f) {
        pl_contact_pair pair = {.point = point, .face = f};
        if (f != home && pl_dot3(normal + 3 * (size_t)home, normal + 3 * (size_t)f) < -0.2 &&
            !share(s, home, f) && pl_contact_pair_gap(s, &pair, x) && pair.inner &&
            fabs(pair.gap) < fabs(best)) {
            best = pair.gap;
        }
    }

    return best;
}

static void face_normals(const pl_contact_surface *s, const double *x, double *normal)
{
    for (int32_t f = 0; f < s->face_count; ++f) {
        const int32_t *n = s->node + PL_FACE_NODES_MAX * (size_t)f;
        double a[3], b[3], *out = normal + 3 * (size_t)f;
        pl_sub3(x + 3 * (size_t)n[1], x + 3 * (size_t)n[0], a);
        pl_sub3(x + 3 * (size_t)n[2], x + 3 * (size_t)n[0], b);
        pl_cross3(a, b, out);
        const double length = pl_norm3(out);
        for (int i = 0; i < 3; ++i) {
            out[i] /= length;
        }
    }
}

int main(int argc, char **argv)
{
    const int nx = argc > 1 ? atoi(argv[1]) : 108, across = 12;
    bench_title("contact");
    pl_error err = {0};
    pl_mesh *mesh = slotted(nx, across);
    pl_contact_surface *s = NULL;
    pl_contact_finder *finder = NULL;
    if (!mesh || pl_contact_surface_create(mesh, NULL, &s, &err) != PL_OK ||
        pl_contact_finder_create(s, pl_mesh_get(mesh).position, true, &finder, &err) != PL_OK) {
        printf("%s\n", err.text);
        return 1;
    }

    const pl_mesh_view v = pl_mesh_get(mesh);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x),
           *normal = malloc(3 * (size_t)s->face_count * sizeof *x);
    const pl_contact_pair *pair;
    int32_t count = 0;

    // the slots of 1 mm close at their rims, 9 mm above the neutral line
    const double closing = 1.0 / 9;
    double ms[3] = {0};
    for (int k = 0; k < 3; ++k) {
        bend(v.position, v.vertex_count, closing * (k == 0 ? 0.9 : k == 1 ? 0.985 : 0.9851), across, x);
        const bench_clock start = bench_now();
        pl_contact_find(finder, x, REACH, &pair, &count);
        ms[k] = 1e3 * bench_since(start).cpu;
    }

    const pl_contact_counts n = pl_contact_finder_counts(finder);
    printf("%d tetrahedra, %d faces, %d points; %d pairs nearer than %g of the edge\n", (int)v.element_count,
           (int)s->face_count, (int)s->point_count, (int)count, REACH);

    // every face for some points, scaled to all of them
    face_normals(s, x, normal);
    int tested = 0, wrong = 0, in_list = 0;
    const bench_clock start = bench_now();
    for (int32_t p = 0; p < s->point_count; p += 97) {
        if (s->vertex[p] >= 0) {
            continue;
        }
        const double gap = brute(s, p, normal, x);
        double found = INFINITY;
        for (int32_t i = 0; i < count; ++i) {
            found = pair[i].point == p ? pair[i].gap : found;
        }
        const bool near = gap > 0 && gap < REACH * s->spacing[p];
        in_list += near;
        wrong += near ? !(fabs(found - gap) < 1e-9) : false;
        ++tested;
    }

    const double every = 1e3 * bench_since(start).cpu / tested * s->point_count;
    printf("| search | CPU ms | times |\n| --- | --- | --- |\n| every point against every face | %.0f | 1 |\n"
           "| first (tree and query) | %.1f | %.0f |\n| after a motion (refit and query) | %.1f | %.0f |\n"
           "| list of candidates | %.1f | %.0f |\n| paper 004, its machine | 70 | |\n",
           every, ms[0], every / ms[0], ms[1], every / ms[1], ms[2], every / ms[2]);
    printf("searches: %lld through the tree, %lld in the list; %d points compared with every face, %d of "
           "them near, %d "
           "wrong\n",
           (long long)(n.refits + n.rebuilds), (long long)n.listed, tested, in_list, wrong);
    free(x);
    free(normal);
    pl_contact_finder_destroy(finder);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);

    return wrong > 0;
}
