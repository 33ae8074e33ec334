// Inside `pliant new --from`: what is found out about a part, and the robot file written from it.
#ifndef PL_MESHING_GUESS_H
#define PL_MESHING_GUESS_H

#include "base/vec.h"
#include "mesh/mesh.h"
#include "meshing/meshing_impl.h"

#define GUESS_ENCLOSED 0.85 // part of the directions that must end on a wall for a point to lie in a cavity
#define GUESS_GUIDES 4      // of an example of a tendon

// A hollow of the part.
typedef struct guess_cavity {
    double eye[3];   // a point in it
    double volume;   // mm^3; NAN: not known
    int rims;        // openings, where a volume mesh tells
    bool open;       // to the outside
    double enclosed; // part of the directions in which the eye sees a wall
} guess_cavity;

// All that was found out about a part. Borrows source and surface.
typedef struct guess {
    const pl_guess_source *source;
    const pl_trisurf *surface; // the part's, or the boundary of its mesh; outward
    pl_trisurf_tree tree;
    double low[3], high[3], length;       // mm
    double axis[3];                       // the longest one, from base to tip
    double base[3], tip[3];               // points on the end faces
    double base_area, tip_area;           // mm^2; 0: no flat end there
    double base_normal[3], tip_normal[3]; // outward, of flat ends
    double base_box[6], tip_box[6];       // around a flat end whose plane holds other faces too; else zeros
    double base_off, tip_off;             // mm, how far its corners lie off the plane
    bool across;                          // the ends do not face along the longest axis: found by their shape
    int void_count;                       // closed cavities of a surface, which the mesher names
    guess_cavity cavity[PL_GUESS_CAVITIES];
    int cavity_count;
    // holes for tendons, from base to tip; behind them holes across the part, for screws or pins
    pl_channel channel[PL_GUESS_CAVITIES];
    int channel_count, crossing_count;
    double example[GUESS_GUIDES][3], example_radius; // guides of a tendon that this part could have, mm
    int example_count; // 0: it has actuators, or the line from base to tip leaves it
    double wall;       // mm, typical thin wall; 0: none found
    double size;       // mm
} guess;

// Corner k of triangle t.
static inline const double *guess_corner(const pl_trisurf *s, int32_t t, int k)
{
    return s->position + 3 * (int64_t)s->corner[3 * (int64_t)t + k];
}

// Normal times twice the area.
static inline void guess_normal(const pl_trisurf *s, int32_t t, double n[3])
{
    double u[3], v[3];
    pl_sub3(guess_corner(s, t, 1), guess_corner(s, t, 0), u);
    pl_sub3(guess_corner(s, t, 2), guess_corner(s, t, 0), v);
    pl_cross3(u, v, n);
}

// Base and tip (meshing_guess_ends.c); the tree and the axis are there.
pl_status guess_ends(guess *g, pl_error *err);

// How enclosed a point is: the part of directions that end on a wall seen from outside of the material; 0
// when the point lies in the material. *clearance is the distance to the nearest of them.
double guess_enclosed(const guess *g, const double p[3], double *clearance);

// Tendons (meshing_guess_tendon.c): holes for them, each turned to run from the base; whether a point lies in
// one; an example for a part that has neither holes nor cavities.
pl_status guess_channels(guess *g, pl_error *err);
bool guess_in_channel(const guess *g, const double x[3]);
void guess_example(guess *g);

// The commented robot file (meshing_guess_text.c).
pl_status guess_write(const guess *g, char **robot_yaml, pl_error *err);

// Whether the name of any region says a material.
bool guess_names_materials(const guess *g);

bool guess_is_cad(const char *path); // a STEP file, by its name

#endif
