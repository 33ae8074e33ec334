// Cameras: projection with distortion, images, chessboards and coloured dots in them, calibration of one or
// more cameras, and points in space from pixels. Pixels count from the centre of the upper left one, u to the
// right, v down. Lengths are mm.
#ifndef PLIANT_CAMERA_H
#define PLIANT_CAMERA_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A pinhole with distortion (Brown): with a = x / z, b = y / z, r2 = a^2 + b^2, d = 1 + k1 r2 + k2 r2^2 + k3
// r2^3
//   u = fx (a d + 2 p1 a b + p2 (r2 + 2 a^2)) + cx,   v = fy (b d + p1 (r2 + 2 b^2) + 2 p2 a b) + cy.
typedef struct pl_camera {
    double fx, fy, cx, cy; // pixels
    double k1, k2, p1, p2, k3;
    int width, height; // pixels
} pl_camera;
#define PL_CAMERA_CONSTANTS 9 // fx fy cx cy k1 k2 p1 p2 k3
PL_API const char *pl_camera_constant_name(int constant);

// From the world, or a board, into a camera: x = R X + t; R row-major.
typedef struct pl_camera_pose {
    double R[9], t[3];
} pl_camera_pose;

// ---- images
typedef struct pl_image {
    int width, height;
    float *gray;  // 0 black to 1 white, row by row
    float *color; // 3 per pixel: red, green, blue; NULL: none
} pl_image;

PL_API void pl_image_clear(pl_image *image);

// A chessboard: `columns` x `rows` inner corners, `square` mm apart. Corner (i, j) is at (i, j, 0) squares.
typedef struct pl_board {
    int columns, rows;
    double square;
} pl_board;

// Corners of a chessboard to a fraction of a pixel: 2 per corner, row by row of the board. The numbering is
// that of a board seen from its front whose first square, between corners (0, 0) and (1, 1), is dark; where
// columns and rows are not both even or both odd it is the only one, in all cameras. PL_FAILED where no
// complete board is seen.
PL_API_CHECKED pl_status pl_board_find(const pl_image *image, const pl_board *board, double *pixel,
                                       pl_error *err);

// Dots: connected pixels near a colour (red, green, blue, 0 to 1; `reach`: distance in colour), centred by
// how near they are. At least `least` pixels each, largest first; returns their number, writes at most
// `room`.
typedef struct pl_dot {
    double pixel[2];
    double area; // pixels
} pl_dot;

PL_API int pl_dots_find(const pl_image *image, const double color[3], double reach, int least, pl_dot *out,
                        int room);

// ---- calibration
typedef struct pl_board_view {
    int camera, board;   // which camera, which placement of the board
    const double *pixel; // 2 per corner
} pl_board_view;

typedef struct pl_camera_fit {
    int iterations;
    bool converged;
    double rms;      // pixels per coordinate: root mean square of the residuals
    double largest;  // pixels, of a corner
    double distance; // mm, from camera 0 to camera 1; NAN: one camera
    double distance_interval;
} pl_camera_fit;

// Constants of all cameras, their places relative to camera 0 (rig[0] is the identity) and the placements of
// the board, by least squares of the pixels (Levenberg and Marquardt). Starts from homographies. `interval`
// (may be NULL): half widths of the 95 % intervals of the constants, PL_CAMERA_CONSTANTS per camera. Every
// camera needs three views of boards at an angle, and a view in common with camera 0.
PL_API_CHECKED pl_status pl_cameras_calibrate(const pl_board *board, const pl_board_view *view,
                                              int view_count, int board_count, int camera_count,
                                              pl_camera *camera, pl_camera_pose *rig,
                                              pl_camera_pose *placement, double *interval, pl_camera_fit *fit,
                                              pl_error *err);

// A point from its pixels in two or more cameras (NAN: not seen): least squares of the pixels. `rms` in
// pixels, `deviation`: standard deviations of the coordinates for pixels that are off by one. False: seen by
// fewer than two, or behind one of them.
PL_API bool pl_camera_triangulate(const pl_camera *camera, const pl_camera_pose *rig, int count,
                                  const double *pixel, double point[3], double *rms, double deviation[3]);

#ifdef __cplusplus
}
#endif
#endif
