// Images (PNG by cairo, JPEG by libjpeg) and files of calibrated cameras (JSON).
#include <jansson.h>
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>
#include "text/text_cairo.h"
#include "base/base.h"
#include "camera/camera.h"
#include "pliant/dataset.h"

// ---- images
static void image_set(pl_image *image, int64_t at, double red, double green, double blue)
{
    image->gray[at] = (float)(0.299 * red + 0.587 * green + 0.114 * blue);
    if (image->color) {
        image->color[3 * at] = (float)red;
        image->color[3 * at + 1] = (float)green;
        image->color[3 * at + 2] = (float)blue;
    }
}

static pl_status image_png(const char *path, pl_image *out, pl_error *err)
{
    const pl_status library = text_cairo_open(err);
    if (library != PL_OK) {
        return library;
    }

    cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
    const cairo_status_t read = cairo_surface_status(surface);

    if (read != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(surface);
        return pl_fail(err, PL_BAD_FILE, "%s: %s", path, cairo_status_to_string(read));
    }

    const int width = cairo_image_surface_get_width(surface),
              height = cairo_image_surface_get_height(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    const cairo_format_t format = cairo_image_surface_get_format(surface);
    const unsigned char *data = cairo_image_surface_get_data(surface);
    pl_status status = format == CAIRO_FORMAT_ARGB32 || format == CAIRO_FORMAT_RGB24
                           ? pl_image_create(width, height, true, out, err)
                           : pl_fail(err, PL_BAD_FILE, "%s: 16-bit and bitmap PNG are not read", path);
    for (int y = 0; status == PL_OK && y < height; ++y) {
        const uint32_t *row = (const uint32_t *)(const void *)(data + (int64_t)y * stride);
        for (int x = 0; x < width; ++x) {
            image_set(out, (int64_t)y * width + x, (row[x] >> 16 & 255) / 255.0, (row[x] >> 8 & 255) / 255.0,
                      (row[x] & 255) / 255.0);
        }
    }

    cairo_surface_destroy(surface);

    return status;
}

typedef struct jpeg_trap {
    struct jpeg_error_mgr base; // first: libjpeg hands it back
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
} jpeg_trap;

static void jpeg_failed(j_common_ptr info)
{
    jpeg_trap *trap = (jpeg_trap *)(void *)info->err;
    info->err->format_message(info, trap->text);
    longjmp(trap->back, 1);
}

static void jpeg_silent(j_common_ptr info)
{
    (void)info;
}

static pl_status image_jpeg(FILE *file, const char *path, pl_image *out, pl_error *err)
{
    struct jpeg_decompress_struct jpeg = {0};
    jpeg_trap trap;

    jpeg.err = jpeg_std_error(&trap.base);
    trap.base.error_exit = jpeg_failed;
    trap.base.output_message = jpeg_silent;
    if (setjmp(trap.back)) {
        jpeg_destroy_decompress(&jpeg);
        return pl_fail(err, PL_BAD_FILE, "%s: %s", path, trap.text);
    }

    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    const pl_status status = pl_image_create((int)jpeg.output_width, (int)jpeg.output_height, true, out, err);
    if (status == PL_OK) {
        JSAMPARRAY row = jpeg.mem->alloc_sarray((j_common_ptr)&jpeg, JPOOL_IMAGE, jpeg.output_width * 3, 1);
        while (jpeg.output_scanline < jpeg.output_height) {
            const int64_t y = jpeg.output_scanline;
            jpeg_read_scanlines(&jpeg, row, 1);
            for (int x = 0; x < out->width; ++x) {
                const JSAMPLE *p = row[0] + 3 * x;
                image_set(out, y * out->width + x, p[0] / 255.0, p[1] / 255.0, p[2] / 255.0);
            }
        }
        jpeg_finish_decompress(&jpeg);
    }

    jpeg_destroy_decompress(&jpeg);

    return status;
}

pl_status pl_image_read(const char *path, pl_image *out, pl_error *err)
{
    *out = (pl_image){0};
    unsigned char head[8] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        return pl_fail(err, PL_BAD_FILE, "%s: cannot be opened", path);
    }

    const size_t got = fread(head, 1, sizeof head, file);
    rewind(file);
    pl_status status;
    if (got > 3 && head[0] == 0xff && head[1] == 0xd8) {
        status = image_jpeg(file, path, out, err);
    } else if (got == 8 && memcmp(head, "\x89PNG", 4) == 0) {
        status = image_png(path, out, err);
    } else {
        status = pl_fail(err, PL_BAD_FILE, "%s: neither PNG nor JPEG", path);
    }

    fclose(file);
    if (status != PL_OK) {
        pl_image_clear(out);
    }

    return status;
}

// ---- cameras
static double *camera_constant(pl_camera *c, int k)
{
    double *const constant[PL_CAMERA_CONSTANTS] = {&c->fx, &c->fy, &c->cx, &c->cy, &c->k1,
                                                   &c->k2, &c->p1, &c->p2, &c->k3};
    return constant[k];
}

pl_status pl_cameras_write(const char *path, const pl_camera *camera, const pl_camera_pose *rig,
                           const double *interval, int count, pl_error *err)
{
    json_t *root = json_object(), *list = json_array();
    json_object_set_new(root, "pliant_cameras", json_integer(1));
    for (int i = 0; i < count; ++i) {
        pl_camera c = camera[i];
        json_t *one = json_object(), *constants = json_object(), *width = json_object(), *R = json_array(),
               *t = json_array();
        json_object_set_new(one, "width", json_integer(c.width));
        json_object_set_new(one, "height", json_integer(c.height));
        for (int k = 0; k < PL_CAMERA_CONSTANTS; ++k) {
            const double half = interval ? interval[PL_CAMERA_CONSTANTS * i + k] : NAN;
            json_object_set_new(constants, pl_camera_constant_name(k), json_real(*camera_constant(&c, k)));
            if (isfinite(half)) {
                json_object_set_new(width, pl_camera_constant_name(k), json_real(half));
            }
        }
        for (int k = 0; k < 9; ++k) {
            json_array_append_new(R, json_real(rig[i].R[k]));
        }
        for (int k = 0; k < 3; ++k) {
            json_array_append_new(t, json_real(rig[i].t[k]));
        }
        json_object_set_new(one, "constants", constants);
        json_object_set_new(one, "interval_95", width);
        json_object_set_new(one, "rotation", R);
        json_object_set_new(one, "translation_mm", t);
        json_array_append_new(list, one);
    }

    json_object_set_new(root, "cameras", list);
    const int written = json_dump_file(root, path, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(root);

    return written == 0 ? PL_OK : pl_fail(err, PL_BAD_FILE, "%s: cannot be written", path);
}

static bool camera_number(const json_t *from, double *to)
{
    *to = json_number_value(from);
    return json_is_number(from) && isfinite(*to);
}

// R R^T = 1 and det R = 1, to the digits that a file may have been shortened to.
static bool camera_rotation(const double R[9])
{
    double worst = 0;
    for (int i = 0; i < 3; ++i) {
        const double *a = R + 3 * i, *b = R + 3 * ((i + 1) % 3), *c = R + 3 * ((i + 2) % 3);
        worst = fmax(worst, fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1));
        worst = fmax(worst, fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
        // a = b x c, which its mirror image is not
        worst = fmax(worst, fabs(b[1] * c[2] - b[2] * c[1] - a[0]));
    }
    return worst < 1e-4;
}

static bool camera_pixels(const json_t *from, int *to)
{
    const json_int_t value = json_integer_value(from);
    *to = value > 0 && value <= 1 << 20 ? (int)value : 0;
    return *to > 0;
}

pl_status pl_cameras_read(const char *path, pl_camera *camera, pl_camera_pose *rig, int room, int *count,
                          pl_error *err)
{
    json_error_t wrong;
    json_t *root = json_load_file(path, 0, &wrong);

    if (!root) {
        return pl_fail(err, PL_BAD_FILE, "%s: %s", path, wrong.text);
    }

    const json_t *list = json_object_get(root, "cameras");
    *count = (int)json_array_size(list);
    bool good = *count > 0 && *count <= room;
    for (int i = 0; good && i < *count; ++i) {
        const json_t *one = json_array_get(list, (size_t)i), *constants = json_object_get(one, "constants");
        camera[i] = (pl_camera){0};
        good = camera_pixels(json_object_get(one, "width"), &camera[i].width) &&
               camera_pixels(json_object_get(one, "height"), &camera[i].height);
        for (int k = 0; good && k < PL_CAMERA_CONSTANTS; ++k) {
            good = camera_number(json_object_get(constants, pl_camera_constant_name(k)),
                                 camera_constant(&camera[i], k));
        }
        for (int k = 0; good && k < 9; ++k) {
            good = camera_number(json_array_get(json_object_get(one, "rotation"), (size_t)k), &rig[i].R[k]);
        }
        for (int k = 0; good && k < 3; ++k) {
            good = camera_number(json_array_get(json_object_get(one, "translation_mm"), (size_t)k),
                                 &rig[i].t[k]);
        }
        good = good && camera[i].fx > 0 && camera[i].fy > 0 && camera_rotation(rig[i].R);
    }

    json_decref(root);

    return good ? PL_OK
                : pl_fail(err, PL_BAD_INPUT,
                          "%s: not a file of 1 to %d cameras as `calibrate cameras` writes it", path, room);
}
