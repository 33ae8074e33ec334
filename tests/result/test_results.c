// Results in files: shapes with fields, states. Series and surfaces: tests/cli/test_files.sh.
#include "mesh_samples.h"
#include "robot/robot_fixture.h"
#include "robot/robot.h"

// A shape file holds the body in its new place, the arrays of all cells, and still reads as a mesh.
static void test_shape_file(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = sample_mesh(false), *back;
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof(double));
    double *quality = malloc((size_t)v.element_count * sizeof(double));
    for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
        x[i] = 2 * v.position[i];
    }
    for (int32_t e = 0; e < v.element_count; ++e) {
        quality[e] = pl_mesh_element_quality(mesh, e);
    }

    const pl_data_array array[] = {{"displacement_mm", v.position, 3, false},
                                   {"quality & more", quality, 1, true}};
    const char *path = sample_path("shape.vtu");
    PL_CHECK_OK(pl_shape_write_vtu(mesh, x, array, 2, path, &err));
    PL_CHECK_OK(pl_mesh_load(path, 1, NULL, &back, NULL, &err));
    PL_CHECK_NEAR(pl_mesh_region_volume(back, -1), 8 * pl_mesh_region_volume(mesh, -1), 1e-10);
    assert_string_equal(pl_mesh_get(back).region_name[1], "spikes");
    assert_int_equal(pl_mesh_get(back).surface_count, 0);
    pl_mesh_destroy(back);

    char *text;
    size_t length;
    PL_CHECK_OK(pl_file_read(path, &text, &length, &err));
    assert_non_null(strstr(text, "Name=\"displacement_mm\""));
    assert_non_null(strstr(text, "Name=\"quality &amp; more\""));
    pl_file_free(text);

    // wrong requests
    const pl_data_array none = {"none", NULL, 1, false};
    assert_int_equal(pl_shape_write_vtu(mesh, x, &none, 1, path, &err), PL_BAD_INPUT);
    free(x);
    free(quality);
    pl_mesh_destroy(mesh);
}

// ---- states

static pl_robot *make_robot(double young)
{
    pl_error err = {0};
    pl_mesh *mesh = fix_mesh(false, 1);
    const pl_body_def body = {.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const pl_material_def material = {.name = "soft",
                                      .material = {.model = PL_LINEAR, .young = young, .poisson = 0.4}};
    const pl_region_def region[] = {{.region = "skin", .material = "soft"},
                                    {.region = "layer", .material = "soft"},
                                    {.region = "plug", .material = "soft"}};
    const pl_fixed_def fixed = {.name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
    const pl_robot_def def = {.name = "block",
                              .body = &body,
                              .body_count = 1,
                              .material = &material,
                              .material_count = 1,
                              .region = region,
                              .region_count = 3,
                              .fixed = &fixed,
                              .fixed_count = 1};
    pl_robot *robot;
    const pl_mesh *meshes[1] = {mesh};

    PL_CHECK_OK(pl_robot_create(&def, meshes, &robot, NULL, &err));
    pl_mesh_destroy(mesh);

    return robot;
}

static void expect_refused(pl_state *s, const pl_robot *robot, const char *name, const char *words)
{
    pl_error err = {0};
    assert_int_equal(pl_state_load(s, robot, sample_path(name), &err), PL_BAD_INPUT);
    if (!strstr(err.text, words)) {
        print_error("wanted \"%s\" in \"%s\"\n", words, err.text);
        fail();
    }
}

// A state comes back bit by bit; a file of another robot, a short one, a damaged one and a foreign one are
// refused and leave the state as it was.
static void test_state_file(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_robot *robot = make_robot(1), *other = make_robot(2);
    pl_state *s, *t, *foreign;
    PL_CHECK_OK(pl_state_create(robot, &s, &err));
    PL_CHECK_OK(pl_state_create(robot, &t, &err));
    PL_CHECK_OK(pl_state_create(other, &foreign, &err));
    for (int32_t i = 0; i < 3 * s->vertex_count; ++i) {
        s->x[i] += 0.01 * i;
    }
    s->load = 0.75;
    PL_CHECK_OK(pl_state_save(s, robot, sample_path("a.state"), &err));
    PL_CHECK_OK(pl_state_load(t, robot, sample_path("a.state"), &err));
    assert_memory_equal(s->x, t->x, 3 * (size_t)s->vertex_count * sizeof(double));
    PL_CHECK_NEAR(t->load, 0.75, 0);

    char *data;
    size_t length;
    PL_CHECK_OK(pl_file_read(sample_path("a.state"), &data, &length, &err));
    expect_refused(foreign, other, "a.state", "another robot");
    sample_write("short.state", data, length - 9);
    expect_refused(t, robot, "short.state", "truncated");
    data[length / 2] ^= 1;
    sample_write("damaged.state", data, length);
    expect_refused(t, robot, "damaged.state", "checksum");
    data[8] = 77;
    sample_write("version.state", data, length);
    expect_refused(t, robot, "version.state", "version 77");
    sample_write_text("text.state", "a text, not a state file");
    expect_refused(t, robot, "text.state", "not a state file");
    assert_memory_equal(s->x, t->x, 3 * (size_t)s->vertex_count * sizeof(double));
    pl_file_free(data);
    pl_state_destroy(s);
    pl_state_destroy(t);
    pl_state_destroy(foreign);
    pl_robot_destroy(robot);
    pl_robot_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_file),
        cmocka_unit_test(test_state_file),
    };
    return cmocka_run_group_tests(tests, sample_begin, sample_end);
}
