// The body of a reduced model as a solid tube: wedges around the centre line, whose vertices ride on its
// frames. Shapes, pictures and files then need to know meshes only.
#include "reduced/reduced_impl.h"

#define TUBE_SECTORS 24 // around the circle

// Vertex 0 of a ring is the centre, then TUBE_SECTORS points on the circle, in the frame at s.
static void tube_ring(const pl_reduced_model *m, double s, const double r[3], const double R[9], double *out)
{
    const double radius = 0.5 * reduced_diameter(m, s);
    memcpy(out, r, 3 * sizeof *out);
    for (int k = 0; k < TUBE_SECTORS; ++k) {
        const double a = 2 * PL_PI * k / TUBE_SECTORS;
        const double local[3] = {radius * cos(a), radius * sin(a), 0};
        double *p = out + 3 * (k + 1);
        pl_mulv3(R, local, p);
        reduced_axpy3(1, r, p);
    }
}

// The wedge between two rings in sector k: centre and two points of each.
static void tube_element(int ring, int k, int32_t *node)
{
    const int a = ring * (TUBE_SECTORS + 1), b = a + TUBE_SECTORS + 1;
    const int one = 1 + k, two = 1 + (k + 1) % TUBE_SECTORS;
    const int32_t n[6] = {a, a + one, a + two, b, b + one, b + two};
    memcpy(node, n, sizeof n);
}

// Arrays of the mesh while it is built.
typedef struct tube_arrays {
    double *position;
    uint8_t *kind;
    int64_t *start;
    int32_t *node, *region, *corner;
} tube_arrays;

// Rings in the undeformed configuration, wedges between them, end surfaces.
static void tube_fill(const pl_reduced_model *m, tube_arrays *t)
{
    const int rings = m->point_count;
    for (int i = 0; i < rings; ++i) {
        tube_ring(m, m->point_s[i], m->info.rest + 3 * i, m->base.R,
                  t->position + 3 * i * (TUBE_SECTORS + 1));
    }

    for (int i = 0; i + 1 < rings; ++i) {
        for (int k = 0; k < TUBE_SECTORS; ++k) {
            const int e = i * TUBE_SECTORS + k;
            t->kind[e] = PL_PRISM6;
            t->start[e + 1] = 6 * (e + 1);
            t->region[e] = reduced_section_at(m, 0.5 * (m->point_s[i] + m->point_s[i + 1]));
            tube_element(i, k, t->node + 6 * e);
        }
    }

    // surfaces base and tip: the fans of triangles at both ends
    for (int k = 0; k < TUBE_SECTORS; ++k) {
        int32_t low[6], high[6];
        tube_element(0, k, low);
        tube_element(rings - 2, k, high);
        for (int j = 0; j < 3; ++j) {
            t->corner[4 * k + j] = low[j];
            t->corner[4 * (TUBE_SECTORS + k) + j] = high[3 + j];
        }

        t->corner[4 * k + 3] = t->corner[4 * (TUBE_SECTORS + k) + 3] = -1;
    }
}

// The mesh of the undeformed tube; regions are the sections. Owned by the caller.
pl_status reduced_tube_create(const pl_reduced_model *m, pl_mesh **out, pl_error *err)
{
    *out = NULL;
    const int rings = m->point_count, elements = (rings - 1) * TUBE_SECTORS;
    const int vertices = rings * (TUBE_SECTORS + 1);
    static const char *const surface[] = {"base", "tip"};
    static const int64_t surface_start[] = {0, TUBE_SECTORS, 2 * TUBE_SECTORS};
    tube_arrays t = {PL_NEW_ARRAY(double, 3 * vertices),  PL_NEW_ARRAY(uint8_t, elements),
                     PL_NEW_ARRAY(int64_t, elements + 1), PL_NEW_ARRAY(int32_t, 6 * elements),
                     PL_NEW_ARRAY(int32_t, elements),     PL_NEW_ARRAY(int32_t, 8 * TUBE_SECTORS)};
    const char **name = PL_NEW_ARRAY(const char *, m->section_count);
    pl_status status = PL_NO_MEMORY;

    if (t.position && t.kind && t.start && t.node && t.region && t.corner && name) {
        tube_fill(m, &t);
        for (int i = 0; i < m->section_count; ++i) {
            name[i] = m->section[i].name;
        }
        const pl_mesh_def def = {.vertex_count = vertices,
                                 .position = t.position,
                                 .element_count = elements,
                                 .kind = t.kind,
                                 .node_start = t.start,
                                 .node = t.node,
                                 .region = t.region,
                                 .region_count = m->section_count,
                                 .region_name = name,
                                 .surface_count = 2,
                                 .surface_name = surface,
                                 .surface_start = surface_start,
                                 .surface_corner = t.corner};
        status = pl_mesh_create(&def, out, NULL, err);
    } else {
        status = pl_fail_memory(err, "the tube");
    }

    pl_free(t.position);
    pl_free(t.kind);
    pl_free(t.start);
    pl_free(t.node);
    pl_free(t.region);
    pl_free(t.corner);
    pl_free(name);

    return status;
}

// The tube's vertices in the present shape, in the order of its mesh.
void reduced_tube_place(const pl_reduced_model *m, double *position)
{
    for (int i = 0; i < m->point_count; ++i) {
        tube_ring(m, m->point_s[i], m->answer.point + 3 * i, m->answer.point_R + 9 * i,
                  position + 3 * i * (TUBE_SECTORS + 1));
    }
}

// Points of an actuator's path in the present shape; returns their number, of which at most `room` are
// written.
int reduced_path_points(const pl_reduced_model *m, int actuator, double *point, int room)
{
    int count = 0;
    for (int i = 0; i < m->point_count; ++i) {
        double d[3], slope[3];
        if (!reduced_path_at(&m->actuator[actuator].path, m->point_s[i], d, slope)) {
            continue;
        }
        if (count < room) {
            pl_mulv3(m->answer.point_R + 9 * i, d, point + 3 * count);
            reduced_axpy3(1, m->answer.point + 3 * i, point + 3 * count);
        }

        ++count;
    }

    return count;
}
