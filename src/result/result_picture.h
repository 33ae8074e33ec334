// Inside result: pictures of meshes. A camera, a z-buffer that is finer than the picture, and the boundary of
// a mesh made into shaded triangles and lines.
#ifndef PL_RESULT_PICTURE_H
#define PL_RESULT_PICTURE_H

#include "result/result_draw.h"

// ---- the z-buffer (result_picture_raster.c)
typedef struct pl_raster {
    int width, height; // subpixels
    int fine;          // subpixels per pixel, in each direction
    float *depth;      // toward the eye, mm; -INFINITY where there is nothing
    uint8_t *rgb;
} pl_raster;

// A point on the screen: x to the right, y down (subpixels), z toward the eye (mm).
typedef struct pl_spot {
    double x, y, z;
    double normal[3]; // in camera axes: right, up, toward the eye
    double value;     // coloured by value when the triangle has no colour of its own
    double beyond;    // signed distance behind the cutting plane: what is positive is not drawn
} pl_spot;

bool pl_raster_begin(pl_raster *raster, int width, int height, int fine);
void pl_raster_end(pl_raster *raster);

// `rgb` NULL: by value, which runs from 0 to 1.
void pl_raster_triangle(pl_raster *raster, const pl_spot *a, const pl_spot *b, const pl_spot *c,
                        const double *rgb);

// A round-ended stroke of `width` subpixels, lifted toward the eye by `lift` mm; `alpha` mixes it with what
// is there.
void pl_raster_stroke(pl_raster *raster, const pl_spot *a, const pl_spot *b, double width, double lift,
                      const double rgb[3], double alpha, bool keep_depth);

// Darkens what lies in hollows (`reach` mm) and along depth jumps, then averages to pixels over `background`.
// `scale` is subpixels per mm. `out` is BGRX, 4 bytes per pixel.
void pl_raster_resolve(const pl_raster *raster, double scale, double reach, const pl_raster *ghost,
                       unsigned char *out, int stride);

// ---- the camera
typedef struct pl_camera {
    double axis[9];   // rows: right, up, toward the eye
    double centre[3]; // of what is seen, in camera axes
    double scale;     // subpixels per mm
    double x, y;      // subpixels, where the centre appears
    bool clip;
    double clip_point[3], clip_normal[3];
} pl_camera;

void pl_camera_look(pl_camera *camera, const double view[3]);
pl_spot pl_camera_spot(const pl_camera *camera, const double x[3]);

// ---- the boundary of a mesh (result_picture_scene.c)
typedef struct pl_scene_face {
    int32_t node[PL_FACE_NODES_MAX];
    int count;
    int32_t region;
    double normal[PL_FACE_NODES_MAX][3]; // at its nodes, smooth where the surface is
} pl_scene_face;

typedef struct pl_scene_edge {
    int32_t node[2], mid; // mid -1 when straight
    bool sharp;           // a crease, a rim or a border between regions
} pl_scene_edge;

typedef struct pl_scene {
    const pl_mesh *mesh;
    const double *x;
    pl_scene_face *face;
    pl_scene_edge *edge;
    int64_t face_count, edge_count;
} pl_scene;

pl_status pl_scene_create(pl_scene *scene, const pl_mesh *mesh, const double *position, pl_error *err);
void pl_scene_clear(pl_scene *scene);

typedef struct pl_scene_style {
    const double *value; // per vertex, 0 to 1 after low and high; NULL: regions in colour
    double low, high;
    const double *colour; // one colour for all, or NULL
    double line_width;    // subpixels
    double line_alpha;
    bool wireframe;
    bool caps; // fill the cut
} pl_scene_style;

void pl_scene_draw(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                   pl_raster *raster);

// Polygons where elements meet the cutting plane (result_picture_clip.c).
void pl_scene_draw_caps(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                        pl_raster *raster);

#endif
