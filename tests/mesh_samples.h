// Meshes the io tests share: a slab of prisms with a tet standing on each, in two regions, with surfaces that
// overlap.
#ifndef PL_TEST_MESH_SAMPLES_H
#define PL_TEST_MESH_SAMPLES_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "mesh/mesh.h"
#include "pliant/result.h"

#define SAMPLE_N 3

// A folder of its own for every test program; `sample_path` gives names in it.
static char sample_folder[] = "/tmp/pliant_io_XXXXXX";

static int sample_begin(void **state)
{
    (void)state;
    return mkdtemp(sample_folder) ? 0 : -1;
}

static int sample_end(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", sample_folder);
    return getenv("PLIANT_KEEP") ? 0 : system(command);
}

static inline const char *sample_path(const char *name)
{
    static char path[4][200];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", sample_folder, name);
    return path[turn];
}

static inline void sample_write(const char *name, const void *data, size_t bytes)
{
    pl_error err = {0};
    PL_CHECK_OK(pl_file_write(sample_path(name), data, bytes, &err));
}

static inline void sample_write_text(const char *name, const char *text)
{
    sample_write(name, text, strlen(text));
}

typedef struct sample_def {
    double position[3 * 200];
    uint8_t kind[200];
    int64_t node_start[201];
    int32_t node[1000], region[200];
    int32_t vertex_count, element_count;
    int32_t corner[4 * 200];
    int64_t surface_start[4];
} sample_def;

static inline void sample_vertex(sample_def *d, double x, double y, double z)
{
    double *p = d->position + 3 * d->vertex_count++;
    p[0] = x;
    p[1] = y;
    p[2] = z;
}

static inline void sample_element(sample_def *d, pl_element_kind kind, const int32_t *node, int32_t region)
{
    const int count = pl_element_node_count(kind);
    const int64_t at = d->node_start[d->element_count];
    memcpy(d->node + at, node, (size_t)count * sizeof *node);
    d->kind[d->element_count] = (uint8_t)kind;
    d->region[d->element_count++] = region;
    d->node_start[d->element_count] = at + count;
}

// Prisms fill [0,3]^2 x [0,1]; with `tets_only` each is cut into three tets.
static inline pl_mesh *sample_mesh(bool tets_only)
{
    static const char *const region[] = {"slab", "spikes"};
    static const char *const surface[] = {"base", "some of base", "left"};
    static sample_def d;

    d = (sample_def){0};
    const int n = SAMPLE_N, layer = (n + 1) * (n + 1);
    for (int k = 0; k < 2; ++k) {
        for (int j = 0; j <= n; ++j) {
            for (int i = 0; i <= n; ++i) {
                sample_vertex(&d, i + 0.1 * sin(j + k), j + 1.0 / 3, k + 0.1 * cos(2 * i));
            }
        }
    }

    int32_t faces[3][4 * 100];
    int64_t count[3] = {0};
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            const int32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 2, e = a + n + 1;
            const int32_t half[2][3] = {{a, b, c}, {a, c, e}};
            for (int h = 0; h < 2; ++h) {
                const int32_t *t = half[h];
                const int32_t prism[6] = {t[0], t[1], t[2], t[0] + layer, t[1] + layer, t[2] + layer};
                const int32_t base[4] = {t[0], t[1], t[2], -1};
                double top[3] = {0};
                // corners in ascending order give cuts that fit between neighbours
                const int32_t cut[3][4] = {{prism[0], prism[1], prism[2], prism[5]},
                                           {prism[0], prism[1], prism[5], prism[4]},
                                           {prism[0], prism[4], prism[5], prism[3]}};
                for (int q = 0; tets_only && q < 3; ++q) {
                    sample_element(&d, PL_TET4, cut[q], 0);
                }
                if (!tets_only) {
                    sample_element(&d, PL_PRISM6, prism, 0);
                }
                for (int q = 0; q < 3; ++q) {
                    for (int x = 0; x < 3; ++x) {
                        top[x] += d.position[3 * prism[3 + q] + x] / 3;
                    }
                }
                const int32_t spike[4] = {prism[3], prism[4], prism[5], d.vertex_count};
                sample_vertex(&d, top[0], top[1], top[2] + 0.8);
                sample_element(&d, PL_TET4, spike, 1);
                memcpy(faces[0] + 4 * count[0]++, base, sizeof base);
                if (i == 0) {
                    memcpy(faces[1] + 4 * count[1]++, base, sizeof base);
                }
                if (i == 0 && h == 1 && !tets_only) {
                    const int32_t left[4] = {a, e, e + layer, a + layer};
                    memcpy(faces[2] + 4 * count[2]++, left, sizeof left);
                }
                if (i == 0 && h == 1 && tets_only) {
                    const int32_t left[4] = {a, a + layer, e + layer, -1};
                    memcpy(faces[2] + 4 * count[2]++, left, sizeof left);
                }
            }
        }
    }

    for (int s = 0; s < 3; ++s) {
        memcpy(d.corner + 4 * d.surface_start[s], faces[s], (size_t)(4 * count[s]) * sizeof(int32_t));
        d.surface_start[s + 1] = d.surface_start[s] + count[s];
    }

    const pl_mesh_def def = {.vertex_count = d.vertex_count,
                             .position = d.position,
                             .element_count = d.element_count,
                             .kind = d.kind,
                             .node_start = d.node_start,
                             .node = d.node,
                             .region = d.region,
                             .region_count = 2,
                             .region_name = region,
                             .surface_count = 3,
                             .surface_name = surface,
                             .surface_start = d.surface_start,
                             .surface_corner = d.corner};
    pl_mesh *mesh;
    pl_mesh_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_mesh_create(&def, &mesh, &report, &err));
    assert_int_equal(report.unmatched_faces, 0);

    return mesh;
}

// The same raised to quadratic.
static inline pl_mesh *sample_mesh_quadratic(bool tets_only)
{
    pl_error err = {0};
    pl_mesh *linear = sample_mesh(tets_only), *mesh;
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
    pl_mesh_destroy(linear);
    return mesh;
}

static inline int sample_compare_face(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Same vertices (within `tolerance` mm), elements, region and surface names and members.
static inline void sample_check_same(const pl_mesh *a, const pl_mesh *b, double tolerance)
{
    const pl_mesh_view u = pl_mesh_get(a), v = pl_mesh_get(b);
    assert_int_equal(u.vertex_count, v.vertex_count);
    assert_int_equal(u.element_count, v.element_count);
    assert_int_equal(u.region_count, v.region_count);
    assert_int_equal(u.surface_count, v.surface_count);
    for (int32_t i = 0; i < 3 * u.vertex_count; ++i) {
        PL_CHECK_NEAR(v.position[i], u.position[i], tolerance);
    }
    assert_memory_equal(u.kind, v.kind, (size_t)u.element_count);
    assert_memory_equal(u.node, v.node, (size_t)u.node_start[u.element_count] * sizeof(int32_t));
    for (int32_t e = 0; e < u.element_count; ++e) {
        assert_string_equal(u.region_name[u.region[e]], v.region_name[v.region[e]]);
    }

    for (int32_t s = 0; s < u.surface_count; ++s) {
        const int32_t t = pl_mesh_find_surface(b, u.surface_name[s]);
        assert_true(t >= 0);
        const int64_t count = u.surface_start[s + 1] - u.surface_start[s];
        assert_int_equal(count, v.surface_start[t + 1] - v.surface_start[t]);
        int64_t one[200], two[200];
        memcpy(one, u.surface_face + u.surface_start[s], (size_t)count * sizeof *one);
        memcpy(two, v.surface_face + v.surface_start[t], (size_t)count * sizeof *two);
        qsort(one, (size_t)count, sizeof *one, sample_compare_face);
        qsort(two, (size_t)count, sizeof *two, sample_compare_face);
        assert_memory_equal(one, two, (size_t)count * sizeof *one);
    }
}

#endif
