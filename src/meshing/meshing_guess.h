// Inside `pliant new --from`: what is found out about a part, and the robot file written from it.
#ifndef PL_MESHING_GUESS_H
#define PL_MESHING_GUESS_H

#include "mesh/mesh.h"
#include "meshing/meshing_impl.h"

typedef struct guess_cavity {
    double eye[3];   // a point in it
    double volume;   // mm^3; NAN: not known
    int rims;        // openings, where a volume mesh tells
    bool open;       // to the outside
    double enclosed; // part of the directions in which the eye sees a wall
} guess_cavity;

typedef struct guess {
    const pl_guess_source *source;
    const pl_trisurf *surface; // the part's, or the boundary of its mesh; outward
    pl_trisurf_tree tree;
    double low[3], high[3], length;
    double axis[3];             // the longest one, from base to tip
    double base[3], tip[3];     // points on the end faces
    double base_area, tip_area; // mm^2; 0: no flat end there
    int void_count;             // closed cavities of a surface, which the mesher names
    guess_cavity cavity[PL_GUESS_CAVITIES];
    int cavity_count;
    pl_channel channel[PL_GUESS_CAVITIES]; // holes for tendons, from base to tip
    int channel_count;
    double wall; // mm, typical thin wall; 0: none found
    double size; // mm
} guess;

// The commented robot file (meshing_guess_text.c).
pl_status guess_write(const guess *g, char **robot_yaml, pl_error *err);

#endif
