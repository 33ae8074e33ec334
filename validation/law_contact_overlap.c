// Law: a shape that is called solved overlaps no obstacle. Random balls, cylinders and boxes of 0.1 to 10
// edges are pressed into a bar, at two mesh sizes; each answer is checked by distances and curved faces of
// this file's own, sampled densely.
//   law_contact_overlap [poses]
#include "contact_rig.h"

#define LAW_SAMPLES 40   // along each edge of a face
#define LAW_ALLOWED 0.05 // of the mean edge of a face, or of the obstacle's half width
#define LAW_EDGE 1.138   // mean edge of a face over that of a cell: (2 + sqrt 2) / 3

static double law_between(uint64_t *seed, double a, double b)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return a + (b - a) * (double)(*seed >> 11) / 9007199254740992.0;
}

// Depth of p in the obstacle; balls, endless cylinders along y and boxes along the axes.
static double law_depth(const pl_obstacle_def *o, double lift, const double p[3])
{
    const double d[3] = {p[0] - o->point[0], p[1] - o->point[1], p[2] - o->point[2] - lift};
    if (o->kind == PL_OBSTACLE_SPHERE) {
        return o->radius - sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    if (o->kind == PL_OBSTACLE_CYLINDER) {
        return o->radius - hypot(d[0], d[2]);
    }

    double least = INFINITY;
    for (int i = 0; i < 3; ++i) {
        least = fmin(least, 0.5 * o->size[i] - fabs(d[i]));
    }

    return least;
}

// The node in the middle of two corners of an element, by its place at rest.
static int32_t law_middle(const pl_mesh_view *m, const int32_t *node, int32_t a, int32_t b)
{
    int32_t best = node[4];
    double least = INFINITY;

    for (int k = 4; k < 10; ++k) {
        double off = 0;
        for (int i = 0; i < 3; ++i) {
            off +=
                fabs(m->position[3 * node[k] + i] - 0.5 * (m->position[3 * a + i] + m->position[3 * b + i]));
        }
        best = off < least ? node[k] : best;
        least = fmin(least, off);
    }

    return best;
}

// The deepest point of all faces of all elements (inner ones cannot be deeper than the boundary is, but for
// an obstacle that is inside as a whole, which they find).
static double law_deepest(const pl_mesh_view *m, const double *x, const pl_obstacle_def *o, double lift)
{
    static const int corner[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
    double deepest = 0;

    for (int32_t e = 0; e < m->element_count; ++e) {
        const int32_t *node = m->node + m->node_start[e];
        for (int f = 0; f < 4; ++f) {
            int32_t v[6];
            for (int c = 0; c < 3; ++c) {
                v[c] = node[corner[f][c]];
                v[3 + c] = law_middle(m, node, v[c], node[corner[f][(c + 1) % 3]]);
            }
            double near = -INFINITY;
            for (int c = 0; c < 6; ++c) {
                near = fmax(near, law_depth(o, lift, x + 3 * (size_t)v[c]));
            }
            for (int i = 0; near > -12 && i <= LAW_SAMPLES; ++i) {
                for (int j = 0; i + j <= LAW_SAMPLES; ++j) {
                    const double a = (double)i / LAW_SAMPLES, b = (double)j / LAW_SAMPLES, c = 1 - a - b;
                    const double N[6] = {c * (2 * c - 1), a * (2 * a - 1), b * (2 * b - 1),
                                         4 * c * a,       4 * a * b,       4 * b * c};
                    double p[3] = {0};
                    for (int k = 0; k < 18; ++k) {
                        p[k % 3] += N[k / 3] * x[3 * (size_t)v[k / 3] + (size_t)(k % 3)];
                    }
                    deepest = fmax(deepest, law_depth(o, lift, p));
                }
            }
        }
    }

    return deepest;
}

int main(int argc, char **argv)
{
    const int poses = argc > 1 ? atoi(argv[1]) : 300;
    static const double size[3] = {40, 8, 8};
    int solved = 0, pressed = 0, wrong = 0;
    double worst = 0;

    for (int k = 0; k < poses; ++k) {
        pl_error err = {0};
        pl_mesh *linear = NULL, *mesh = NULL;
        const int fine = 1 + k % 2;
        const double edge = 8.0 / fine;
        box_mesh(5 * fine, fine, fine, size, NULL, NULL, &linear, &err);
        if (pl_mesh_raise(linear, &mesh, &err) != PL_OK) {
            fprintf(stderr, "law_contact_overlap: %s\n", err.text);
            return EXIT_FAILURE;
        }
        pl_material_def material = {.name = "rubber",
                                    .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45}};
        pl_body_def body;
        pl_region_def region;
        pl_robot_def def = contact_def(&body, &material, &region);
        const pl_surface_def surface = contact_plane("base", 0, 0);
        const pl_fixed_def fixed = {
            .name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
        def.surface = &surface;
        def.surface_count = 1;
        def.fixed = &fixed;
        def.fixed_count = 1;
        uint64_t seed = 20261118u + 7919u * (uint64_t)k;
        const double radius = edge * pow(10, law_between(&seed, -1, 1)),
                     travel = law_between(&seed, 0.1, 0.8) * edge;
        pl_obstacle_def o = {.name = "thing", .radius = radius, .moves = true, .move = {0, 0, 1}};
        o.kind = k / 2 % 3 == 0   ? PL_OBSTACLE_SPHERE
                 : k / 2 % 3 == 1 ? PL_OBSTACLE_CYLINDER
                                  : PL_OBSTACLE_BOX;
        o.size[0] = o.size[1] = o.size[2] = 2 * radius;
        o.direction[1] = 1;
        o.point[0] = law_between(&seed, 20, 38);
        o.point[1] = law_between(&seed, 2, 6);
        o.point[2] = -radius - 1e-3;
        def.contact = (pl_contact_def){.given = true, .obstacle = &o, .obstacle_count = 1};
        pl_statics_options options = pl_statics_options_default();
        options.time_limit = 5;
        contact_rig r;
        if (contact_build(&def, &options, mesh, &r)) {
            pl_solve_report report;
            const pl_status status = pl_statics_solve(r.statics, r.state, &travel, &report, &err);
            if (status == PL_OK && report.outcome == PL_SOLVED) {
                const pl_mesh_view m = pl_mesh_get(mesh);
                const double depth =
                    law_deepest(&m, pl_state_positions(r.state), &o, travel) / fmin(LAW_EDGE * edge, radius);
                ++solved;
                pressed += contact_reading(&r, "thing", "normal_force") > 0;
                wrong += depth > 1.02 * LAW_ALLOWED;
                worst = fmax(worst, depth);
                if (depth > 1.02 * LAW_ALLOWED) {
                    printf("pose %d: half width %.3g edges, travel %.2g edges: %.3g deep\n", k, radius / edge,
                           travel / edge, depth);
                }
            }
            contact_clear(&r);
        }
        pl_mesh_destroy(linear);
        pl_mesh_destroy(mesh);
    }

    printf(
        "law: no obstacle overlaps a solved shape | cases %d (%d solved, %d in contact) | worst %.3g of the "
        "edge or half width | allowed %g | %s\n",
        poses, solved, pressed, worst, LAW_ALLOWED, wrong ? "FAIL" : "ok");

    return wrong > 0;
}
