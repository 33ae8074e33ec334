// The cut through a mesh: elements as small tets, each of which meets the plane in a triangle or a
// quadrilateral.
#include "base/vec.h"
#include "mesh/mesh.h"
#include "result/result_picture.h"

// Corners of the polygon in which a tet meets the plane, in order around it: 0, 3 or 4.
static int clip_polygon(const pl_spot corner[4], pl_spot out[4])
{
    int above[4], below[4], na = 0, nb = 0;
    for (int a = 0; a < 4; ++a) {
        if (corner[a].beyond > 0) {
            above[na++] = a;
        } else {
            below[nb++] = a;
        }
    }

    int pair[4][2], n = 0;
    if (na == 2) {
        const int order[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
        for (; n < 4; ++n) {
            pair[n][0] = above[order[n][0]];
            pair[n][1] = below[order[n][1]];
        }
    } else if (na == 1 || na == 3) {
        for (; n < 3; ++n) {
            pair[n][0] = na == 1 ? above[0] : above[n];
            pair[n][1] = na == 1 ? below[n] : below[0];
        }
    }

    for (int i = 0; i < n; ++i) {
        const pl_spot *p = corner + pair[i][0], *q = corner + pair[i][1];
        const double t = p->beyond / (p->beyond - q->beyond);
        out[i] = *p;
        out[i].x += t * (q->x - p->x);
        out[i].y += t * (q->y - p->y);
        out[i].z += t * (q->z - p->z);
        out[i].value += t * (q->value - p->value);
        out[i].beyond = 0;
    }

    return n;
}

// The corner of an element as it appears, with its value and the plane's normal.
static pl_spot clip_corner(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                           int32_t node, const double normal[3])
{
    pl_spot spot = pl_camera_spot(camera, scene->x + 3 * (int64_t)node);
    spot.value = style->value ? (style->value[node] - style->low) / (style->high - style->low) : 0;
    memcpy(spot.normal, normal, sizeof spot.normal);
    return spot;
}

// The outline of the cut through the straight tet of an element's corners.
static void clip_outline(const pl_spot corner[4], const pl_scene_style *style, double lift, pl_raster *raster)
{
    static const double ink[3] = {0.13, 0.15, 0.19};
    pl_spot polygon[4];
    const int n = clip_polygon(corner, polygon);

    for (int k = 0; k < n; ++k) {
        pl_raster_stroke(raster, polygon + k, polygon + (k + 1) % n, 0.5 * style->line_width, lift, ink,
                         0.5 * style->line_alpha, true);
    }
}

void pl_scene_draw_caps(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                        pl_raster *raster)
{
    const pl_mesh_view v = pl_mesh_get(scene->mesh);
    const double lift = style->line_width / camera->scale;
    double normal[3];

    pl_mulv3(camera->axis, camera->clip_normal, normal);
    for (int32_t e = 0; e < v.element_count; ++e) {
        const int32_t *node = v.node + v.node_start[e];
        const int8_t(*part)[4];
        const int parts = pl_element_tets((pl_element_kind)v.kind[e], &part);
        double colour[3];
        pl_palette(v.region[e], colour);
        for (int i = 0; i < 3; ++i) {
            colour[i] += 0.2 * (1 - colour[i]); // the inside is lighter than the skin
        }
        for (int p = 0; p < parts; ++p) {
            pl_spot corner[4], polygon[4];
            for (int a = 0; a < 4; ++a) {
                corner[a] = clip_corner(scene, camera, style, node[part[p][a]], normal);
            }
            const int n = clip_polygon(corner, polygon);
            for (int k = 2; k < n; ++k) {
                pl_raster_triangle(raster, polygon, polygon + k - 1, polygon + k,
                                   style->value ? NULL : colour);
            }
        }

        if (style->wireframe && pl_element_is_tet(v.kind[e])) {
            pl_spot corner[4];
            for (int a = 0; a < 4; ++a) {
                corner[a] = clip_corner(scene, camera, style, node[a], normal);
            }
            clip_outline(corner, style, lift, raster);
        }
    }
}
