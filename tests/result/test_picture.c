// Pictures and plots: something is drawn, in the colours meant, from the side asked for; wrong requests are
// refused.
#include <cairo.h>
#include "mesh_samples.h"
#include "base/base.h"

typedef struct image {
    cairo_surface_t *surface;
    const unsigned char *data;
    int width, height, stride;
} image;

static image image_read(const char *name)
{
    image i = {.surface = cairo_image_surface_create_from_png(sample_path(name))};
    assert_int_equal(cairo_surface_status(i.surface), CAIRO_STATUS_SUCCESS);
    i.data = cairo_image_surface_get_data(i.surface);
    i.width = cairo_image_surface_get_width(i.surface);
    i.height = cairo_image_surface_get_height(i.surface);
    i.stride = cairo_image_surface_get_stride(i.surface);

    return i;
}

static const unsigned char *image_pixel(const image *i, int x, int y)
{
    return i->data + (size_t)y * (size_t)i->stride + 4 * x;
}

// How many pixels have about this hue: the channel ratios of `rgb`, whatever the light.
static int image_count_hue(const image *i, double r, double g, double b)
{
    int count = 0;
    const double want = sqrt(r * r + g * g + b * b);

    for (int y = 0; y < i->height; ++y) {
        for (int x = 0; x < i->width; ++x) {
            const unsigned char *p = image_pixel(i, x, y);
            const double got = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            count += got > 60 && (p[2] * r + p[1] * g + p[0] * b) / (got * want) > 0.9985;
        }
    }

    return count;
}

static int image_difference(const image *a, const image *b)
{
    int count = 0;
    for (int y = 0; y < a->height; ++y) {
        for (int x = 0; x < a->width; ++x) {
            count += memcmp(image_pixel(a, x, y), image_pixel(b, x, y), 3) != 0;
        }
    }

    return count;
}

static image draw(const pl_picture *picture, const char *name)
{
    pl_error err = {0};
    PL_CHECK_OK(pl_picture_write(picture, sample_path(name), &err));
    return image_read(name);
}

// Both regions show in their colours, and only then.
static void test_regions_show(void **state)
{
    (void)state;
    pl_mesh *mesh = sample_mesh_quadratic(false);
    pl_picture p = pl_picture_default();
    p.mesh = mesh;
    p.width = 600;
    p.height = 400;
    image i = draw(&p, "regions.png");
    assert_int_equal(i.width, 600);
    assert_int_equal(i.height, 400);
    const int slab = image_count_hue(&i, 0x4f, 0x9d, 0x9d), spikes = image_count_hue(&i, 0xe8, 0xa5, 0x4b);
    print_message("pixels of the slab %d, of the spikes %d\n", slab, spikes);
    assert_true(slab > 5000);
    assert_true(spikes > 5000);
    cairo_surface_destroy(i.surface);

    // from below the spikes are hidden behind the slab, but for the legend
    PL_CHECK_NEAR(pl_picture_view("bottom", p.view, NULL), PL_OK, 0);
    i = draw(&p, "below.png");
    const int hidden = image_count_hue(&i, 0xe8, 0xa5, 0x4b);
    print_message("pixels of the spikes from below %d\n", hidden);
    assert_true(hidden < 400);
    cairo_surface_destroy(i.surface);
    pl_mesh_destroy(mesh);
}

// Opposite views differ; the same picture twice is the same file.
static void test_views_differ(void **state)
{
    (void)state;
    pl_mesh *mesh = sample_mesh(false);
    pl_picture p = pl_picture_default();
    p.mesh = mesh;
    p.width = 300;
    p.height = 200;
    image one = draw(&p, "one.png"), same = draw(&p, "same.png");
    assert_int_equal(image_difference(&one, &same), 0);
    p.view[0] = -p.view[0];
    image two = draw(&p, "two.png");
    assert_true(image_difference(&one, &two) > 1000);
    cairo_surface_destroy(one.surface);
    cairo_surface_destroy(same.surface);
    cairo_surface_destroy(two.surface);
    pl_mesh_destroy(mesh);
}

// Values colour from the low to the high end of the map; a ghost, wires, a wireframe and a cut each change
// the picture.
static void test_values_and_extras(void **state)
{
    (void)state;
    pl_mesh *mesh = sample_mesh_quadratic(false);
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *height = malloc((size_t)v.vertex_count * sizeof(double));
    double *moved = malloc(3 * (size_t)v.vertex_count * sizeof(double));
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        height[i] = v.position[3 * i + 2];
        memcpy(moved + 3 * i, v.position + 3 * i, 3 * sizeof(double));
        moved[3 * i + 2] += 0.2 * moved[3 * i] * moved[3 * i];
    }

    const double line[6] = {-1, 1, 2.5, 4, 1, 2.5};
    const int32_t start[2] = {0, 2};
    pl_picture p = pl_picture_default();
    p.mesh = mesh;
    p.width = 600;
    p.height = 400;
    p.title = "Height <&>";
    p.vertex_value = height;
    p.value_name = "z (mm)";
    image plain = draw(&p, "values.png");
    assert_true(image_count_hue(&plain, 0.20, 0.12, 0.40) > 500);
    assert_true(image_count_hue(&plain, 0.98, 0.90, 0.20) > 100);
    for (int k = 0; k < 4; ++k) {
        pl_picture q = p;
        q.ghost = k == 0 ? moved : NULL;
        q.line = line;
        q.line_start = start;
        q.line_count = k == 1;
        q.wireframe = k == 2;
        q.clip = k == 3;
        q.clip_point[0] = 1.5;
        q.clip_normal[0] = 1;
        image other = draw(&q, "other.png");
        assert_true(image_difference(&plain, &other) > 300);
        if (k == 1) {
            assert_true(image_count_hue(&other, 0.80, 0.16, 0.20) > 300);
        }
        cairo_surface_destroy(other.surface);
    }

    pl_error err = {0};
    PL_CHECK_OK(pl_picture_write(&p, sample_path("values.svg"), &err));
    cairo_surface_destroy(plain.surface);
    free(height);
    free(moved);
    pl_mesh_destroy(mesh);
}

static void test_wrong_pictures(void **state)
{
    (void)state;
    pl_mesh *mesh = sample_mesh(true);
    pl_error err = {0};
    pl_picture p = pl_picture_default();
    assert_int_equal(pl_picture_write(&p, sample_path("x.png"), &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "mesh"));
    p.mesh = mesh;
    assert_int_equal(pl_picture_write(&p, sample_path("x.jpg"), &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, ".png or .svg"));
    p.width = 20000;
    assert_int_equal(pl_picture_write(&p, sample_path("x.png"), &err), PL_BAD_INPUT);
    p.width = 100;
    p.clip = true;
    assert_int_equal(pl_picture_write(&p, sample_path("x.png"), &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "clip_normal"));
    p.clip = false;
    p.view[0] = NAN;
    assert_int_equal(pl_picture_write(&p, sample_path("x.png"), &err), PL_BAD_INPUT);
    double view[3];
    PL_CHECK_OK(pl_picture_view("1, -2,0.5", view, &err));
    PL_CHECK_NEAR(view[1], -2, 0);
    assert_int_equal(pl_picture_view("sideways", view, &err), PL_BAD_INPUT);
    assert_int_equal(pl_picture_view("0,0,0", view, &err), PL_BAD_INPUT);
    pl_mesh_destroy(mesh);
}

// Two curves and dots; a gap; one point alone; no point at all: all are drawn, as PNG and as SVG.
static void test_plots(void **state)
{
    (void)state;
    pl_error err = {0};
    double x[50], y[50], z[50];
    for (int i = 0; i < 50; ++i) {
        x[i] = 0.1 * i;
        y[i] = 30 * sin(x[i]);
        z[i] = i == 20 ? NAN : 28 * sin(x[i] + 0.1);
    }

    const pl_curve curve[] = {{"computed", x, y, 50, false}, {"measured", x, z, 50, true}};
    pl_plot plot = {
        .title = "A plot", .x_label = "time (s)", .y_label = "bend (deg)", .curve = curve, .curve_count = 2};
    PL_CHECK_OK(pl_plot_write(&plot, sample_path("plot.png"), &err));
    PL_CHECK_OK(pl_plot_write(&plot, sample_path("plot.svg"), &err));
    image i = image_read("plot.png");
    assert_int_equal(i.width, 900);
    assert_true(image_count_hue(&i, 0x4f, 0x9d, 0x9d) > 500);
    assert_true(image_count_hue(&i, 0xe8, 0xa5, 0x4b) > 500);
    cairo_surface_destroy(i.surface);
    const pl_curve single = {NULL, x, y, 1, true};
    plot = (pl_plot){.curve = &single, .curve_count = 1};
    PL_CHECK_OK(pl_plot_write(&plot, sample_path("single.png"), &err));
    plot.curve_count = 0;
    PL_CHECK_OK(pl_plot_write(&plot, sample_path("none.svg"), &err));
    assert_int_equal(pl_plot_write(&plot, sample_path("none.pdf"), &err), PL_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions_show),
        cmocka_unit_test(test_views_differ),
        cmocka_unit_test(test_values_and_extras),
        cmocka_unit_test(test_wrong_pictures),
        cmocka_unit_test(test_plots),
    };
    return cmocka_run_group_tests(tests, sample_begin, sample_end);
}
