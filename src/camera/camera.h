// For this folder: small dense least squares.
#ifndef PL_CAMERA_ROOM_H
#define PL_CAMERA_ROOM_H

#include "pliant/camera.h"

// Normal equations of a least squares problem: H = sum J^T J, g = sum J^T r, sum = sum r^2.
typedef struct camera_normal {
    int n;
    double *H, *g, sum, largest;
    int rows;
} camera_normal;
bool camera_normal_create(int n, camera_normal *out);
void camera_normal_clear(camera_normal *normal);
void camera_normal_reset(camera_normal *normal);
// Two rows (a pixel) with `count` nonzero columns at `column`, J 2 x count row-major.
void camera_normal_add(camera_normal *normal, const double r[2], const int *column, const double *J,
                       int count);
// (H + damping diag H) step = -g; false when singular.
bool camera_normal_solve(const camera_normal *normal, double damping, double *step);
// Diagonal of H^-1.
bool camera_normal_variance(const camera_normal *normal, double *variance);

// A homography (row-major, H22 = 1) from 2 coordinates per point on a plane to pixels.
bool camera_homography(int count, const double *plane, const double *pixel, double H[9]);

#endif
