// Creating meshes: measures of a box, raising and lowering, orientation repair, surfaces.
#include "check.h"
#include "box_mesh.h"
#include "mesh/mesh.h"

static pl_error err;

static void test_box_measures(void **state)
{
    (void)state;
    const double size[3] = {3, 2, 1};
    pl_mesh *mesh = NULL, *raised = NULL, *back = NULL;
    PL_CHECK_OK(box_mesh(3, 4, 2, size, NULL, NULL, &mesh, &err));
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, -1), 6, 1e-12);
    const int64_t *face;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    assert_int_equal(count, 2 * 2 * (12 + 6 + 8));
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 2 * (6 + 3 + 2), 1e-12);
    PL_CHECK_NEAR(pl_mesh_faces_enclosed(mesh, face, count), -6, 1e-12);
    int rims = -1;
    assert_true(pl_mesh_faces_closed(mesh, face, count, &rims));
    assert_int_equal(rims, 0);

    // Euler: V - E + F - C = 1 for a ball, so the new mid nodes count the edges
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    const pl_mesh_view a = pl_mesh_get(mesh), b = pl_mesh_get(raised);
    const int64_t faces = (4 * (int64_t)a.element_count + count) / 2;
    assert_int_equal(b.vertex_count - a.vertex_count, a.vertex_count + faces - a.element_count - 1);
    PL_CHECK_NEAR(pl_mesh_region_volume(raised, -1), 6, 1e-12);
    const int64_t raised_count = pl_mesh_boundary(raised, &face);
    assert_int_equal(raised_count, count);
    PL_CHECK_NEAR(pl_mesh_faces_area(raised, face, count), 22, 1e-12);
    PL_CHECK_NEAR(pl_mesh_faces_enclosed(raised, face, count), -6, 1e-12);

    int32_t *vertex_of = NULL;
    PL_CHECK_OK(pl_mesh_corners(raised, &back, &vertex_of, &err));
    const pl_mesh_view c = pl_mesh_get(back);
    assert_int_equal(c.vertex_count, a.vertex_count);
    assert_memory_equal(c.position, a.position, 3 * sizeof(double) * (size_t)a.vertex_count);
    assert_memory_equal(c.node, a.node, 4 * sizeof(int32_t) * (size_t)a.element_count);
    for (int32_t v = 0; v < a.vertex_count; ++v) {
        assert_int_equal(vertex_of[v], v);
    }
    pl_mesh_free_indices(vertex_of);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(back);
}

// A mesh of mirrored elements is turned round and measures the same, whatever the kind; mid nodes move along.
static void test_orientation(void **state)
{
    (void)state;
    static const int8_t mirror[PL_ELEMENT_KIND_COUNT][15] = {
        {0, 1, 3, 2},
        {0, 1, 3, 2, 4, 8, 7, 6, 5, 9},
        {0, 2, 1, 3, 5, 4},
        {0, 2, 1, 3, 5, 4, 8, 7, 6, 11, 10, 9, 12, 14, 13}};
    static const char *const name[] = {"body"};
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        const int n = pl_element_node_count((pl_element_kind)kind);
        double x[3 * PL_ELEMENT_NODES_MAX], volume[2];
        for (int a = 0; a < n; ++a) {
            pl_shape_node((pl_element_kind)kind, a, x + 3 * a);
            x[3 * a] += 0.05 * x[3 * a] * x[3 * a]; // curved
        }
        for (int turned = 0; turned < 2; ++turned) {
            int32_t node[PL_ELEMENT_NODES_MAX];
            for (int a = 0; a < n; ++a) {
                node[a] = turned ? mirror[kind][a] : a;
            }
            const uint8_t kinds[] = {(uint8_t)kind};
            const int64_t start[] = {0, n};
            const int32_t region[] = {0};
            const pl_mesh_def def = {.vertex_count = n,
                                     .position = x,
                                     .element_count = 1,
                                     .kind = kinds,
                                     .node_start = start,
                                     .node = node,
                                     .region = region,
                                     .region_count = 1,
                                     .region_name = name};
            pl_mesh *mesh = NULL;
            pl_mesh_report report;
            PL_CHECK_OK(pl_mesh_create(&def, &mesh, &report, &err));
            assert_int_equal(report.flipped_elements, turned);
            volume[turned] = pl_mesh_region_volume(mesh, 0);
            const int64_t *face;
            const int64_t count = pl_mesh_boundary(mesh, &face);
            // every face looks outwards: the divergence theorem holds on the curved faces
            PL_CHECK_NEAR(-pl_mesh_faces_enclosed(mesh, face, count), volume[turned], 1e-14);
            pl_mesh_destroy(mesh);
        }
        PL_CHECK_NEAR(volume[0], volume[1], 1e-15);
        assert_true(volume[0] > 0);
    }
}

// The unit cube mapped onto an octant of the unit ball by x max(x) / |x|: on each tet of the box mesh the map
// is smooth, so volume and area approach pi / 6 and pi / 2 with the fourth power of the element size.
static void octant_errors(int n, double *volume_error, double *area_error)
{
    const double size[3] = {1, 1, 1}, pi = acos(-1);
    pl_mesh *box = NULL, *raised = NULL, *octant = NULL;

    PL_CHECK_OK(box_mesh(n, n, n, size, NULL, NULL, &box, &err));
    PL_CHECK_OK(pl_mesh_raise(box, &raised, &err));
    const pl_mesh_view v = pl_mesh_get(raised);
    double *x = malloc(3 * sizeof *x * (size_t)v.vertex_count);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * i, length = pl_norm3(p), most = fmax(p[0], fmax(p[1], p[2]));
        for (int k = 0; k < 3; ++k) {
            x[3 * i + k] = length > 0 ? p[k] * most / length : 0;
        }
    }

    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = x,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = 1,
                             .region_name = v.region_name};
    PL_CHECK_OK(pl_mesh_create(&def, &octant, NULL, &err));
    *volume_error = fabs(pl_mesh_region_volume(octant, -1) - pi / 6);
    const int64_t *face;
    const int64_t count = pl_mesh_boundary(octant, &face);

    // the three plane faces are quarters of the unit disc
    *area_error = fabs(pl_mesh_faces_area(octant, face, count) - pi / 2 - 3 * pi / 4);
    PL_CHECK_NEAR(-pl_mesh_faces_enclosed(octant, face, count), pl_mesh_region_volume(octant, -1), 1e-13);
    free(x);
    pl_mesh_destroy(box);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(octant);
}

static void test_sphere_octant(void **state)
{
    (void)state;
    double volume[2], area[2];
    octant_errors(3, &volume[0], &area[0]);
    octant_errors(6, &volume[1], &area[1]);
    print_message("octant: volume off by %.2g, then %.2g; area by %.2g, then %.2g\n", volume[0], volume[1],
                  area[0], area[1]);
    PL_CHECK_BELOW(volume[1], volume[0] / 10);
    PL_CHECK_BELOW(area[1], area[0] / 10);
    PL_CHECK_BELOW(volume[1], 1e-4);
    PL_CHECK_BELOW(area[1], 1e-3);
}

// The cone from the origin over the patch L0 c + L1 a + L2 b + 4 L1 L2 (m - (a + b) / 2), by fine triangles.
static double patch_volume(const double *c, const double *a, const double *m, const double *b)
{
    enum { n = 200 };
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < 2 * (n - i) - 1; ++j) {
            // triangle j of strip i; odd ones are upside down
            const int k = j / 2, up = j % 2 == 0;
            const int at[3][2] = {{i + !up, k}, {i + 1, k + !up}, {i, k + 1}};
            double p[3][3], normal[3];
            for (int v = 0; v < 3; ++v) {
                const double s = (double)at[v][0] / n, t = (double)at[v][1] / n;
                for (int d = 0; d < 3; ++d) {
                    p[v][d] =
                        (1 - s - t) * c[d] + s * a[d] + t * b[d] + 4 * s * t * (m[d] - 0.5 * (a[d] + b[d]));
                }
            }
            pl_cross3(p[0], p[1], normal);
            sum += pl_dot3(normal, p[2]) / 6;
        }
    }

    return sum;
}

// An open surface with a curved rim: the face of one tet10 on the unit sphere, capped by a fan over the rim's
// arcs.
static void test_curved_cap(void **state)
{
    (void)state;
    static const char *const name[] = {"octant"};
    const double h = sqrt(0.5);
    const double x[10][3] = {{0, 0, 0}, {1, 0, 0},   {0, 1, 0},   {0, 0, 1}, {0.5, 0, 0},
                             {h, h, 0}, {0, 0.5, 0}, {0, 0, 0.5}, {h, 0, h}, {0, h, h}};
    const uint8_t kind[] = {PL_TET10};
    const int64_t start[] = {0, 10};
    const int32_t node[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, region[] = {0};
    const pl_mesh_def def = {.vertex_count = 10,
                             .position = x[0],
                             .element_count = 1,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 1,
                             .region_name = name};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));
    const double volume = pl_mesh_region_volume(mesh, -1);
    const int64_t sphere = 2; // corners 1 2 3
    const int64_t all[] = {0, 1, 2, 3};
    PL_CHECK_NEAR(-pl_mesh_faces_enclosed(mesh, all, 4), volume, 1e-15);

    // the other faces are planes through the origin, so the sphere's face alone spans the whole volume from
    // there; as an open surface it is capped on its curved rim, which takes the cones under the cap away
    int rims;
    assert_false(pl_mesh_faces_closed(mesh, &sphere, 1, &rims));
    assert_int_equal(rims, 1);
    double fan = 0;
    const int loop[6] = {1, 5, 2, 9, 3, 8};
    double c[3] = {0};
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 3; ++k) {
            c[k] += x[loop[i]][k] / 6;
        }
    }

    for (int i = 0; i < 6; i += 2) {
        fan += patch_volume(c, x[loop[i]], x[loop[i + 1]], x[loop[(i + 2) % 6]]);
    }
    PL_CHECK_NEAR(-pl_mesh_faces_enclosed(mesh, &sphere, 1), volume - fan, 1e-5);
    pl_mesh_destroy(mesh);
}

// Surfaces given as faces come back as they are, are replaced by name, and survive raising and lowering.
static void test_with_surfaces(void **state)
{
    (void)state;
    const double size[3] = {2, 1, 1};
    const int32_t region[2] = {1, 0};
    pl_mesh *mesh = NULL, *named = NULL, *again = NULL, *raised = NULL, *back = NULL;
    PL_CHECK_OK(box_mesh(2, 1, 1, size, NULL, region, &mesh, &err));
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, 0), 1, 1e-15);
    const pl_pick low = {.kind = PL_PICK_PLANE, .normal = {1, 0, 0}};
    const pl_pick high = {.kind = PL_PICK_PLANE, .normal = {0, 0, 1}, .point = {0, 0, 1}};
    int64_t *a, *b, count_a, count_b;
    PL_CHECK_OK(pl_mesh_pick(mesh, &low, &a, &count_a, &err));
    PL_CHECK_OK(pl_mesh_pick(mesh, &high, &b, &count_b, &err));
    const char *const first[] = {"base"}, *const second[] = {"top", "base"};
    const int64_t start[] = {0, count_a}, starts[] = {0, count_b, 2 * count_b};
    PL_CHECK_OK(pl_mesh_with_surfaces(mesh, 1, first, start, a, &named, &err));
    int64_t both[16];
    memcpy(both, b, (size_t)count_b * sizeof *b);
    memcpy(both + count_b, b, (size_t)count_b * sizeof *b);
    PL_CHECK_OK(pl_mesh_with_surfaces(named, 2, second, starts, both, &again, &err));
    assert_int_equal(pl_mesh_get(again).surface_count, 2);
    PL_CHECK_OK(pl_mesh_raise(again, &raised, &err));
    PL_CHECK_OK(pl_mesh_corners(raised, &back, NULL, &err));
    const pl_mesh *const all[] = {again, raised, back};
    for (int i = 0; i < 3; ++i) {
        const pl_mesh_view v = pl_mesh_get(all[i]);
        const int32_t s = pl_mesh_find_surface(all[i], "base");
        assert_int_equal(v.surface_start[s + 1] - v.surface_start[s], count_b);
        PL_CHECK_NEAR(pl_mesh_faces_area(all[i], v.surface_face + v.surface_start[s], count_b), 2, 1e-14);
    }

    // wrong faces and names
    pl_mesh *bad = NULL;
    const int64_t wrong[] = {12 * 8}, one[] = {0, 1}, back_start[] = {1, 0};
    assert_int_equal(pl_mesh_with_surfaces(mesh, 1, first, one, wrong, &bad, &err), PL_BAD_INPUT);
    assert_int_equal(pl_mesh_with_surfaces(mesh, 1, (const char *[]){""}, one, a, &bad, &err), PL_BAD_INPUT);
    assert_int_equal(pl_mesh_with_surfaces(mesh, 1, first, back_start, a, &bad, &err), PL_BAD_INPUT);
    assert_int_equal(pl_mesh_with_surfaces(mesh, -1, NULL, NULL, NULL, &bad, &err), PL_BAD_INPUT);
    assert_null(bad);
    pl_mesh_free_faces(a);
    pl_mesh_free_faces(b);
    pl_mesh *const meshes[] = {mesh, named, again, raised, back};
    for (int i = 0; i < 5; ++i) {
        pl_mesh_destroy(meshes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_measures), cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_sphere_octant), cmocka_unit_test(test_curved_cap),
        cmocka_unit_test(test_with_surfaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
