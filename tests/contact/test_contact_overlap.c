// Overlap of obstacles and a body, whatever the ratio of their sizes: the depth of random balls, cylinders
// and boxes, of 0.05 to 10 edges, in the top of a block is the one known from their lowest point; obstacles
// inside the material as a whole are found, those outside and in a cavity are not.
#include "base/rotation.h"
#include "box_mesh.h"
#include "check.h"
#include "contact/contact.h"

#include <string.h>

#define EDGE 2.0
#define CELLS 4
#define TOP (CELLS * EDGE)

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3];

static double between(unsigned *seed, double a, double b)
{
    *seed = *seed * 1664525u + 1013904223u;
    return a + (b - a) * (*seed >> 8) / (double)(1 << 24);
}

static pl_contact_surface *block(pl_mesh **mesh, const bool *hole)
{
    static const double size[3] = {TOP, TOP, TOP};
    pl_mesh *linear = NULL;
    pl_contact_surface *surface = NULL;
    pl_error err = {0};

    PL_CHECK_OK(box_mesh(CELLS, CELLS, CELLS, size, hole, NULL, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, mesh, &err));
    PL_CHECK_OK(pl_contact_surface_create(*mesh, NULL, &surface, &err));
    pl_mesh_destroy(linear);

    return surface;
}

// Sets a shape so that its lowest point is at (x, y, z).
static pl_shape shape_at(pl_shape_kind kind, double size, unsigned *seed, const double lowest[3])
{
    pl_shape s = {.kind = kind, .radius = size, .half = {size, size, size}};
    double down = size;

    memcpy(s.frame, identity, sizeof identity);
    if (kind == PL_SHAPE_CYLINDER) { // lying
        const double along[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
        memcpy(s.frame, along, sizeof along);
        s.half[2] = between(seed, 2 * size, 6 * size);
    } else if (kind == PL_SHAPE_BOX) { // on a corner
        const double turn[3] = {between(seed, 0.3, 1.2), between(seed, 0.3, 1.2), between(seed, -1, 1)};
        pl_rotation_exp(turn, s.frame);
        down = size * (fabs(s.frame[2]) + fabs(s.frame[5]) + fabs(s.frame[8]));
    }

    memcpy(s.centre, lowest, sizeof s.centre);
    s.centre[2] += down;

    // the corner below is not below the centre
    for (int i = 0; kind == PL_SHAPE_BOX && i < 9; ++i) {
        s.centre[i % 3] += i % 3 < 2 ? size * (s.frame[3 * (i / 3) + 2] > 0 ? 1 : -1) * s.frame[i] : 0;
    }

    return s;
}

static void test_depths(void **state)
{
    (void)state;
    static const pl_shape_kind kind[] = {PL_SHAPE_SPHERE, PL_SHAPE_CYLINDER, PL_SHAPE_BOX};
    pl_mesh *mesh = NULL;
    pl_contact_surface *s = block(&mesh, NULL);
    const double *x = pl_mesh_get(mesh).position;
    unsigned seed = 7;
    double worst = 0, most = 0;
    for (int k = 0; k < 120; ++k) {
        const pl_shape_kind what = kind[k % 3];
        const double size = EDGE * pow(10, between(&seed, -1.3, what == PL_SHAPE_CYLINDER ? 0 : 1));
        const double depth = between(&seed, 0.1, 0.9) * fmin(size, EDGE);
        const double lowest[3] = {between(&seed, 3, 5), between(&seed, 3, 5), TOP - depth};
        const double above[3] = {lowest[0], lowest[1], TOP + 1e-6};
        const pl_shape in = shape_at(what, size, &seed, lowest), out = shape_at(what, size, &seed, above);
        const double found = pl_contact_overlap(s, x, &in, identity, origin, 0.02).depth;
        worst = fmax(worst, fabs(found / depth - 1));
        most = fmax(most, pl_contact_overlap(s, x, &out, identity, origin, 0.02).depth);
    }

    printf("depths of 120 obstacles of 0.05 to 10 edges: within %.2e; found above the block: %.1e mm\n",
           worst, most);
    PL_CHECK_NEAR(worst, 0, 0.03);
    PL_CHECK_NEAR(most, 0, 1e-9);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
}

// A wedge whose edge runs along a face, with its ends outside of the block: no corner of it is inside.
static void test_wedge(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    pl_contact_surface *s = block(&mesh, NULL);
    const double *x = pl_mesh_get(mesh).position, turn[3] = {0, PL_PI / 4, 0}, half = 3;
    pl_shape wedge = {.kind = PL_SHAPE_BOX, .half = {half, 20, half}, .centre = {4.7, 4, 0}};
    pl_rotation_exp(turn, wedge.frame);
    for (double depth = 0.2; depth < 1.1; depth += 0.4) {
        wedge.centre[2] = TOP - depth + sqrt(2) * half;
        const pl_overlap found = pl_contact_overlap(s, x, &wedge, identity, origin, 0.02);
        printf("wedge %.1f mm deep: %.4f mm, expected %.4f\n", depth, found.depth, depth * sqrt(0.5));
        PL_CHECK_NEAR(found.depth, depth * sqrt(0.5), 0.03 * depth);
        PL_CHECK_NEAR(found.place[0], 4.7, 0.05 * depth + 0.02);
    }

    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
}

static void test_inside(void **state)
{
    (void)state;
    bool hole[CELLS * CELLS * CELLS] = {false};
    for (int c = 0; c < CELLS * CELLS * CELLS; ++c) {
        const int i = c % CELLS, j = c / CELLS % CELLS, k = c / (CELLS * CELLS);
        hole[c] = (i == 1 || i == 2) && (j == 1 || j == 2) && (k == 1 || k == 2);
    }

    pl_mesh *whole = NULL, *hollow = NULL;
    pl_contact_surface *s = block(&whole, NULL), *cavity = block(&hollow, hole);
    const pl_shape ball = {.kind = PL_SHAPE_SPHERE,
                           .centre = {4, 4.1, 3.9},
                           .frame = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                           .radius = 0.5};
    const pl_overlap inside =
        pl_contact_overlap(s, pl_mesh_get(whole).position, &ball, identity, origin, 0.02);
    const pl_overlap kept =
        pl_contact_overlap(cavity, pl_mesh_get(hollow).position, &ball, identity, origin, 0.02);
    printf("ball in the material: %.3f mm; in a cavity: %.1e mm\n", inside.depth, kept.depth);
    PL_CHECK_NEAR(inside.depth, 3.9 + 0.5, 1e-9);
    PL_CHECK_NEAR(kept.depth, 0, 0);
    pl_contact_surface_destroy(s);
    pl_contact_surface_destroy(cavity);
    pl_mesh_destroy(whole);
    pl_mesh_destroy(hollow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_depths), cmocka_unit_test(test_wedge),
                                       cmocka_unit_test(test_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
