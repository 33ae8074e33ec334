// Shapes that are images of each other. The undeformed body may be mapped onto itself by a reflection in a
// plane or a half turn about an axis through the middle of its bounding box, along the coordinate axes. Then
// T takes shape a to shape b where b(T X) = T a(X) for all points X: compared at vertices, with b
// interpolated where T X lies.
#include <stdio.h>
#include "statics/statics_shapes.h"

#define IMAGE_SAMPLES 300 // vertices
#define IMAGE_SAME 0.05   // of the distance of the shapes, and 0.01 of the size: meshes need not be symmetric

typedef struct image_map {
    char name[40];
    int axis[3]; // T X has the coordinate axis[i] of X, times sign[i], as its i-th
    double sign[3];
    pl_embedding *at; // per sample: T X; NULL: the body is not mapped onto itself
} image_map;

struct statics_images {
    int32_t count, *vertex; // samples
    double middle[3], size;
    image_map map[IMAGE_MAPS];
};

// The 47 maps of a cube onto itself besides the identity: permutations of the axes with signs, the plain ones
// first.
static void image_maps(statics_images *m)
{
    static const int order[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    static const int flip[8] = {1, 2, 4, 6, 5, 3, 7, 0}; // one axis, two, three, none
    int count = 0;

    for (int o = 0; o < 6; ++o) {
        for (int k = 0; k < 8; ++k) {
            const int signs = flip[o == 0 ? k : 7 - k];
            if (o == 0 && signs == 0) {
                continue;
            }
            image_map *map = &m->map[count++];
            char text[3][3];
            for (int i = 0; i < 3; ++i) {
                map->axis[i] = order[o][i];
                map->sign[i] = signs >> i & 1 ? -1 : 1;
                snprintf(text[i], sizeof text[i], "%s%c", map->sign[i] < 0 ? "-" : "", "xyz"[order[o][i]]);
            }
            const char turn = "xyz"[signs == 6 ? 0 : signs == 5 ? 1 : 2];
            if (o == 0 && k < 3) {
                snprintf(map->name, sizeof map->name, "mirrored in %c", "xyz"[k]);
            } else if (o == 0 && k < 6) {
                snprintf(map->name, sizeof map->name, "turned about %c", turn);
            } else {
                snprintf(map->name, sizeof map->name, "x, y, z -> %s, %s, %s", text[0], text[1], text[2]);
            }
        }
    }
}

static void image_of(const statics_images *m, const image_map *map, const double p[3], double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = m->middle[i] + map->sign[i] * (p[map->axis[i]] - m->middle[map->axis[i]]);
    }
}

void statics_images_destroy(statics_images *m)
{
    if (m) {
        for (int k = 0; k < IMAGE_MAPS; ++k) {
            pl_free(m->map[k].at);
        }
        pl_free(m->vertex);
        pl_free(m);
    }
}

static void image_middle(statics_images *m, const pl_mesh_view *mesh)
{
    for (int i = 0; i < 3; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < mesh->vertex_count; ++v) {
            low = fmin(low, mesh->position[3 * v + i]);
            high = fmax(high, mesh->position[3 * v + i]);
        }
        m->middle[i] = 0.5 * (low + high);
    }
}

statics_images *statics_images_create(const pl_statics *s, pl_error *err)
{
    const pl_mesh_view *mesh = &s->problem->mesh;
    statics_images *m = pl_alloc(sizeof *m);

    if (!m) {
        pl_fail_memory(err, "images of shapes");
        return NULL;
    }

    const int32_t stride = 1 + mesh->vertex_count / IMAGE_SAMPLES;
    *m = (statics_images){.count = (mesh->vertex_count + stride - 1) / stride, .size = s->problem->size};
    m->vertex = PL_NEW_ARRAY(int32_t, m->count);
    bool memory = m->vertex;
    for (int32_t k = 0; k < m->count && memory; ++k) {
        m->vertex[k] = k * stride;
    }
    image_middle(m, mesh);
    image_maps(m);
    for (int k = 0; k < IMAGE_MAPS && memory; ++k) {
        image_map *map = &m->map[k];
        map->at = PL_NEW_ARRAY(pl_embedding, m->count);
        memory = map->at;
        bool onto = memory;
        for (int32_t i = 0; i < m->count && onto; ++i) {
            double to[3];
            image_of(m, map, mesh->position + 3 * (int64_t)m->vertex[i], to);
            onto = pl_mesh_embed(s->robot->mesh, to, &map->at[i], NULL) == PL_OK &&
                   map->at[i].distance < NEWTON_NEAR * m->size;
        }
        if (!onto) {
            pl_free(map->at);
            map->at = NULL;
        }
    }

    if (!memory) {
        statics_images_destroy(m);
        pl_fail_memory(err, "images of shapes");
        return NULL;
    }

    return m;
}

// Largest distance between b(T X) and T a(X)
static double image_distance(const statics_images *m, const image_map *map, const double *a, const double *b)
{
    double largest = 0;
    for (int32_t i = 0; i < m->count; ++i) {
        const pl_embedding *at = &map->at[i];
        double there[3] = {0, 0, 0}, image[3];
        for (int k = 0; k < at->node_count; ++k) {
            for (int c = 0; c < 3; ++c) {
                there[c] += at->weight[k] * b[3 * (int64_t)at->node[k] + c];
            }
        }
        image_of(m, map, a + 3 * (int64_t)m->vertex[i], image);
        largest = fmax(largest, pl_distance3(there, image));
    }

    return largest;
}

const char *statics_images_find(const statics_images *m, const double *a, const double *b, double apart)
{
    const double allowed = fmin(IMAGE_SAME * apart, NEWTON_NEAR * m->size);
    for (int k = 0; k < IMAGE_MAPS; ++k) {
        if (m->map[k].at && image_distance(m, &m->map[k], a, b) < allowed) {
            return m->map[k].name;
        }
    }

    return NULL;
}
