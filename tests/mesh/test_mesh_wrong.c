// Every wrong description is answered with a sentence that names what is wrong; running out of memory at any
// place is answered too and leaks nothing.
#include "check.h"
#include "box_mesh.h"
#include "base/base.h"
#include "mesh/mesh.h"

static pl_error err;

// Two tets and a prism on arrays that a case may spoil.
typedef struct arrays {
    double x[13][3];
    uint8_t kind[3];
    int64_t start[4];
    int32_t node[14];
    int32_t region[3];
    const char *region_name[2];
    const char *surface_name[2];
    int64_t surface_start[3];
    int32_t corner[8];
    pl_mesh_def def;
} arrays;

static void arrays_fill(arrays *a)
{
    *a = (arrays){
        .x = {{0, 0, 0},
              {1, 0, 0},
              {0, 1, 0},
              {0, 0, 1},
              {1, 1, 1}, // two tets share the face 1 2 3
              {5, 0, 0},
              {6, 0, 0},
              {5, 1, 0},
              {5, 0, 1},
              {6, 0, 1},
              {5, 1, 1},
              {9, 9, 9},
              {8, 8, 8}},
        .kind = {PL_TET4, PL_TET4, PL_PRISM6},
        .start = {0, 4, 8, 14},
        .node = {0, 1, 2, 3, 4, 1, 3, 2, 5, 6, 7, 8, 9, 10},
        .region = {0, 1, 0},
        .region_name = {"skin", "layer"},
        .surface_name = {"base", "tip"},
        .surface_start = {0, 1, 2},
        .corner = {1, 2, 3, -1, 5, 6, 9, 8},
    };
    a->def = (pl_mesh_def){.vertex_count = 13,
                           .position = a->x[0],
                           .element_count = 3,
                           .kind = a->kind,
                           .node_start = a->start,
                           .node = a->node,
                           .region = a->region,
                           .region_count = 2,
                           .region_name = a->region_name,
                           .surface_count = 2,
                           .surface_name = a->surface_name,
                           .surface_start = a->surface_start,
                           .surface_corner = a->corner};
}

static void test_right_one(void **state)
{
    (void)state;
    arrays a;
    arrays_fill(&a);
    pl_mesh *mesh = NULL;
    pl_mesh_report report;
    PL_CHECK_OK(pl_mesh_create(&a.def, &mesh, &report, &err));
    assert_int_equal(report.flipped_elements, 0);
    assert_int_equal(report.unused_vertices, 2);
    assert_int_equal(report.unmatched_faces, 0);
    const pl_mesh_view v = pl_mesh_get(mesh);
    assert_int_equal(v.vertex_count, 11);

    // the face between the regions belongs to the lower one, the quadrilateral to the prism
    assert_int_equal(v.surface_face[0], 0 * 8 + 2);
    assert_int_equal(v.surface_face[1], 2 * 8 + 2);
    assert_int_equal(pl_mesh_find_region(mesh, "layer"), 1);
    assert_int_equal(pl_mesh_find_surface(mesh, "tip"), 1);
    assert_int_equal(pl_mesh_find_surface(mesh, "skin"), -1);
    pl_mesh_destroy(mesh);
}

static void no_vertex(arrays *a)
{
    a->def.vertex_count = 0;
}
static void no_position(arrays *a)
{
    a->def.position = NULL;
}
static void no_element(arrays *a)
{
    a->def.element_count = 0;
}
static void negative_elements(arrays *a)
{
    a->def.element_count = -3;
}
static void too_many_elements(arrays *a)
{
    a->def.element_count = INT32_MAX;
}
static void no_kind(arrays *a)
{
    a->def.kind = NULL;
}
static void no_regions(arrays *a)
{
    a->def.region_count = 0;
}
static void no_surface_names(arrays *a)
{
    a->def.surface_name = NULL;
}
static void unknown_kind(arrays *a)
{
    a->kind[1] = 9;
}
static void wrong_node_count(arrays *a)
{
    a->kind[1] = PL_TET10;
}
static void start_not_zero(arrays *a)
{
    a->start[0] = 1;
}
static void node_negative(arrays *a)
{
    a->node[2] = -1;
}
static void node_too_large(arrays *a)
{
    a->node[13] = 13;
}
static void node_twice(arrays *a)
{
    a->node[3] = a->node[0];
}
static void region_too_large(arrays *a)
{
    a->region[2] = 2;
}
static void region_unnamed(arrays *a)
{
    a->region_name[1] = "";
}
static void region_null_name(arrays *a)
{
    a->region_name[0] = NULL;
}
static void region_named_twice(arrays *a)
{
    a->region_name[1] = "skin";
}
static void surface_named_twice(arrays *a)
{
    a->surface_name[1] = "base";
}
static void surface_unnamed(arrays *a)
{
    a->surface_name[0] = "";
}
static void not_finite(arrays *a)
{
    a->x[4][1] = NAN;
}
static void infinite(arrays *a)
{
    a->x[11][2] = -INFINITY;
}
static void flat_tet(arrays *a)
{
    a->x[0][0] = a->x[0][1] = a->x[0][2] = 1.0 / 3;
}
static void flat_prism(arrays *a)
{
    a->x[8][2] = a->x[9][2] = a->x[10][2] = 0;
}
static void twisted_prism(arrays *a)
{
    a->x[8][2] = -0.9;
}
static void repeated_element(arrays *a)
{
    memcpy(a->node + 4, (int32_t[]){3, 2, 1, 0}, 4 * sizeof(int32_t));
}
static void surface_start_wrong(arrays *a)
{
    a->surface_start[0] = 1;
}
static void surface_backwards(arrays *a)
{
    a->surface_start[1] = 2;
    a->surface_start[2] = 1;
}
static void surface_corner_wrong(arrays *a)
{
    a->corner[5] = 77;
}
static void surface_corner_missing(arrays *a)
{
    a->corner[2] = -1;
}
static void surface_no_corners(arrays *a)
{
    a->def.surface_corner = NULL;
}

static void test_wrong_ones(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(arrays *);
        const char *words;
    } table[] = {{no_vertex, "vertex_count is 0"},
                 {no_position, "position"},
                 {no_element, "there are no elements"},
                 {negative_elements, "element_count is -3"},
                 {too_many_elements, "the limit is"},
                 {no_kind, "kind, node_start, node and region"},
                 {no_regions, "region_count is 0"},
                 {no_surface_names, "surface_count is 2"},
                 {unknown_kind, "element 1: kind is 9, expected 0 .. 3"},
                 {wrong_node_count, "element 1 (tet10) has 4 nodes in node_start, expected 10"},
                 {start_not_zero, "node_start[0] is 1"},
                 {node_negative, "element 0 (tet4): node 2 is vertex -1, expected 0 .. 12"},
                 {node_too_large, "element 2 (prism6): node 5 is vertex 13"},
                 {node_twice, "element 0 (tet4) contains vertex 0 twice"},
                 {region_too_large, "element 2: region is 2, expected 0 .. 1"},
                 {region_unnamed, "region 1 has no name"},
                 {region_null_name, "region 0 has no name"},
                 {region_named_twice, "two regions are named 'skin'"},
                 {surface_named_twice, "two surfaces are named 'base'"},
                 {surface_unnamed, "surface 0 has no name"},
                 {not_finite, "vertex 4: coordinate y is nan"},
                 {infinite, "vertex 11: coordinate z is -inf"},
                 {flat_tet, "element 0 (tet4) has zero volume"},
                 {flat_prism, "element 2 (prism6) has zero volume"},
                 {twisted_prism, "element 2"},
                 {repeated_element, "element 1 repeats element 0"},
                 {surface_start_wrong, "surface_start[0] is 1"},
                 {surface_backwards, "surface 'tip' ends"},
                 {surface_corner_wrong, "surface 'tip', face 0: corner 1 is vertex 77"},
                 {surface_corner_missing, "surface 'base', face 0: corner 2 is vertex -1"},
                 {surface_no_corners, "surface_corner is not given"}};
    for (int i = 0; i < PL_COUNT(table); ++i) {
        arrays a;
        arrays_fill(&a);
        table[i].spoil(&a);
        pl_mesh *mesh = (pl_mesh *)&a;
        err.text[0] = '\0';
        const pl_status status = pl_mesh_create(&a.def, &mesh, NULL, &err);
        if (status != PL_BAD_INPUT || mesh != NULL || !strstr(err.text, table[i].words)) {
            fail_msg("case %d: status %d, '%s' does not say '%s'", i, status, err.text, table[i].words);
        }
    }

    pl_mesh *mesh = NULL;
    assert_int_equal(pl_mesh_create(NULL, &mesh, NULL, &err), PL_BAD_INPUT);
    assert_int_equal(pl_mesh_create(NULL, NULL, NULL, NULL), PL_BAD_INPUT);
    pl_mesh_destroy(NULL);
}

// Three tets on one face, and two quadratic tets that disagree about a mid node.
static void test_wrong_neighbours(void **state)
{
    (void)state;
    static const char *const name[] = {"body"};
    const double x[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.3, 0.3, -1}, {0.2, 0.2, 2}};
    const uint8_t kind[3] = {PL_TET4, PL_TET4, PL_TET4};
    const int64_t start[4] = {0, 4, 8, 12};
    const int32_t node[12] = {0, 1, 2, 3, 0, 1, 2, 4, 0, 1, 2, 5}, region[3] = {0, 0, 0};
    pl_mesh_def def = {.vertex_count = 6,
                       .position = x[0],
                       .element_count = 3,
                       .kind = kind,
                       .node_start = start,
                       .node = node,
                       .region = region,
                       .region_count = 1,
                       .region_name = name};
    pl_mesh *mesh = NULL, *raised = NULL;
    assert_int_equal(pl_mesh_create(&def, &mesh, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "elements 0, 1 and 2 share one face"));

    def.element_count = 2;
    pl_mesh_report report;
    PL_CHECK_OK(pl_mesh_create(&def, &mesh, &report, &err));
    assert_int_equal(report.flipped_elements, 1);
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    const pl_mesh_view v = pl_mesh_get(raised);
    double copy[20][3];
    int32_t nodes[20];
    memcpy(copy, v.position, 3 * sizeof(double) * (size_t)v.vertex_count);
    memcpy(nodes, v.node, sizeof nodes);
    memcpy(copy[v.vertex_count], copy[nodes[14]], sizeof copy[0]);
    nodes[14] = v.vertex_count;
    def = (pl_mesh_def){.vertex_count = v.vertex_count + 1,
                        .position = copy[0],
                        .element_count = 2,
                        .kind = v.kind,
                        .node_start = v.node_start,
                        .node = nodes,
                        .region = region,
                        .region_count = 1,
                        .region_name = name};
    pl_mesh *bad = NULL;
    assert_int_equal(pl_mesh_create(&def, &bad, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "another element has"));
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(raised);
}

// ---- memory that runs out

static struct {
    int left; // allocations until failure; negative: never
    int live;
} memory;

static void *memory_hook(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        memory.live--;
        free(block);
        return NULL;
    }

    if (memory.left == 0) {
        return NULL;
    }
    memory.left -= memory.left > 0;
    memory.live += block == NULL;

    return realloc(block, bytes);
}

static pl_status memory_all(void)
{
    const double size[3] = {4, 4, 4};
    bool hole[64] = {false};

    hole[21] = true;
    pl_mesh *mesh = NULL, *raised = NULL, *back = NULL, *named = NULL;
    int32_t *vertex_of = NULL, *thin = NULL, thin_count;
    int64_t *face = NULL, count = 0;
    const char *const name[] = {"cavity"};
    pl_embedding at;
    pl_status status = box_mesh(4, 4, 4, size, hole, NULL, &mesh, &err);
    status = status ? status : pl_mesh_raise(mesh, &raised, &err);
    status = status ? status : pl_mesh_corners(raised, &back, &vertex_of, &err);
    const pl_pick pick = {.kind = PL_PICK_SEEN_FROM, .point = {1.5, 1.6, 1.4}};
    status = status ? status : pl_mesh_embed(raised, (double[3]){0.5, 0.5, 0.5}, &at, &err);
    status = status ? status : pl_mesh_pick(raised, &pick, &face, &count, &err);
    const int64_t start[] = {0, count};
    status = status ? status : pl_mesh_with_surfaces(raised, 1, name, start, face, &named, &err);
    status = status ? status : pl_mesh_thin_walls(mesh, &thin, &thin_count, NULL, &err);
    pl_mesh_free_indices(vertex_of);
    pl_mesh_free_indices(thin);
    pl_mesh_free_faces(face);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(back);
    pl_mesh_destroy(named);

    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    pl_memory_set(memory_hook, NULL);
    pl_status status = PL_NO_MEMORY;
    int n = 0;
    for (; status == PL_NO_MEMORY && n < 2000; ++n) {
        memory.left = n;
        memory.live = 0;
        status = memory_all();
        assert_int_equal(memory.live, 0);
    }

    pl_memory_set(NULL, NULL);
    PL_CHECK_OK(status);
    assert_in_range(n, 100, 1999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_one), cmocka_unit_test(test_wrong_ones),
                                       cmocka_unit_test(test_wrong_neighbours),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
