// Surfaces as binary STL: an 80 byte head, a count, then normal, three corners and two spare bytes per
// triangle, in little-endian floats. Curved faces become four triangles (six-node) or six (eight-node),
// quadrilaterals two.
#include "meshfile/meshfile.h"
#include "meshfile/meshfile_build.h"

// Little endian, whatever the machine.
static void stl_put_float(unsigned char *to, double value)
{
    const float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    for (int i = 0; i < 4; ++i) {
        to[i] = (unsigned char)(bits >> (8 * i));
    }
}

// Record of 50 bytes; the normal of a triangle without area is 0.
static void stl_put_triangle(pl_text *text, const double *a, const double *b, const double *c)
{
    unsigned char record[50] = {0};
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 w[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    const double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);

    for (int i = 0; i < 3; ++i) {
        stl_put_float(record + 4 * i, length > 0 ? n[i] / length : 0);
        stl_put_float(record + 12 + 4 * i, a[i]);
        stl_put_float(record + 24 + 4 * i, b[i]);
        stl_put_float(record + 36 + 4 * i, c[i]);
    }

    pl_text_add_bytes(text, record, sizeof record);
}

pl_status pl_mesh_write_stl(const pl_mesh *mesh, const char *surface, const double *position,
                            const char *path, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const double *x = position ? position : v.position;

    // a surface, or all of the boundary
    const int64_t *face;
    int64_t count;

    if (surface) {
        const int32_t s = pl_mesh_find_surface(mesh, surface);
        if (s < 0) {
            const char *near = pl_nearest_word(surface, v.surface_name, v.surface_count);
            return pl_fail(err, PL_BAD_INPUT, "stl: the mesh has no surface \"%s\"%s%s%s", surface,
                           near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        }

        face = v.surface_face + v.surface_start[s];
        count = v.surface_start[s + 1] - v.surface_start[s];
    } else {
        count = pl_mesh_boundary(mesh, &face);
    }

    // the head is filled with the count at the end
    pl_text text = {0};
    unsigned char head[84] = "pliant surface, mm";
    pl_text_add_bytes(&text, head, sizeof head);
    uint32_t triangles = 0;

    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*triangle)[3];
        const int parts = pl_face_triangles(pl_mesh_face_nodes(mesh, face[f], node), &triangle);
        for (int t = 0; t < parts; ++t, ++triangles) {
            stl_put_triangle(&text, x + 3 * (int64_t)node[triangle[t][0]],
                             x + 3 * (int64_t)node[triangle[t][1]], x + 3 * (int64_t)node[triangle[t][2]]);
        }
    }

    for (int i = 0; i < 4 && text.length >= sizeof head; ++i) {
        text.data[80 + i] = (char)(triangles >> (8 * i));
    }

    const pl_status status =
        text.failed ? pl_fail_memory(err, path) : pl_file_write(path, text.data, text.length, err);
    pl_text_clear(&text);

    return status;
}
