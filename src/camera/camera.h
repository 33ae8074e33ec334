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

// The pixel of a point; false where it is not before the camera. Derivatives, each may be NULL, row-major: 2
// x PL_CAMERA_CONSTANTS; 2 x 6 with respect to a rotation vector applied after R and to t; 2 x 3.
bool pl_camera_project(const pl_camera *camera, const pl_camera_pose *pose, const double point[3],
                       double pixel[2], double *by_camera, double *by_pose, double *by_point);

// The direction (a, b, 1) that a pixel looks along, by Newton's method on the distortion; false: none found.
bool pl_camera_ray(const pl_camera *camera, const double pixel[2], double ray[2]);
void pl_camera_pose_move(pl_camera_pose *pose, const double step[6]); // as by_pose counts it

pl_status pl_image_create(int width, int height, bool color, pl_image *out, pl_error *err);

#endif
