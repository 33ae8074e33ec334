// Tubular holes through a body are found with axis and radius; bodies without one have none.
#include <math.h>
#include "check.h"
#include "mesh/mesh.h"
#include "pliant/mesh.h"

#define AROUND 24
#define PI 3.14159265358979

// A ring of AROUND vertices in the plane z, around (x, 0).
static void ring(pl_trisurf *s, double x, double r, double z)
{
    for (int i = 0; i < AROUND; ++i) {
        double *p = s->position + 3 * s->vertex_count++;
        p[0] = x + r * cos(2 * PI * i / AROUND);
        p[1] = r * sin(2 * PI * i / AROUND);
        p[2] = z;
    }
}

// Strips from the ring that starts at vertex a to the one at b; `turn` swaps the sides.
static void strips(pl_trisurf *s, int32_t a, int32_t b, bool turn)
{
    for (int i = 0; i < AROUND; ++i) {
        const int j = (i + 1) % AROUND;
        const int32_t tri[2][3] = {{a + i, a + j, b + j}, {a + i, b + j, b + i}};
        for (int t = 0; t < 2; ++t) {
            int32_t *to = s->corner + 3 * s->triangle_count++;
            for (int k = 0; k < 3; ++k) {
                to[k] = tri[t][turn ? 2 - k : k];
            }
        }
    }
}

// A leaning tube: outer radius 6, a hole of radius `hole`, from (0, 0, 0) to (20, 0, 100), in rings.
static void tube(pl_trisurf *s, double hole, int rings)
{
    for (int layer = 0; layer < 2; ++layer) {
        for (int k = 0; k <= rings; ++k) {
            ring(s, 20.0 * k / rings, layer ? hole : 6, 100.0 * k / rings);
        }
    }

    const int32_t inner = (rings + 1) * AROUND;
    for (int k = 0; k < rings; ++k) {
        strips(s, k * AROUND, (k + 1) * AROUND, false);
        strips(s, inner + k * AROUND, inner + (k + 1) * AROUND, true);
    }

    strips(s, inner, 0, false);
    strips(s, rings * AROUND, inner + rings * AROUND, false);
}

static void test_channel_of_a_tube(void **state)
{
    (void)state;
    static double position[3 * 2000];
    static int32_t corner[3 * 4000];
    for (int rings = 1; rings <= 9; rings += 8) {
        pl_trisurf s = {.position = position, .corner = corner};
        tube(&s, 1.5, rings);
        pl_channel channel[4];
        pl_error err = {0};
        assert_true(pl_trisurf_volume(&s) > 0);
        const int count = pl_trisurf_channels(&s, channel, 4, &err);
        assert_int_equal(count, 1);
        const pl_channel *c = &channel[0];
        print_message("%d rings: radius %.3f, length %.2f mm\n", rings, c->radius, c->length);
        PL_CHECK_NEAR(c->radius, 1.5, 0.06);
        PL_CHECK_NEAR(c->length, sqrt(100 * 100 + 20 * 20), 1);
        for (int k = 0; k < c->point_count; ++k) {
            // on the axis x = z / 5
            PL_CHECK_NEAR(c->point[k][0], c->point[k][2] / 5, 0.3);
            PL_CHECK_NEAR(c->point[k][1], 0, 0.3);
        }
        // turned inside out, the outer wall is the hole
        for (int32_t t = 0; t < s.triangle_count; ++t) {
            const int32_t keep = corner[3 * t];
            corner[3 * t] = corner[3 * t + 1];
            corner[3 * t + 1] = keep;
        }
        assert_int_equal(pl_trisurf_channels(&s, channel, 4, &err), 1);
        PL_CHECK_NEAR(channel[0].radius, 6, 0.2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_channel_of_a_tube)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
