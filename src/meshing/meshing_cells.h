// The space between surfaces: triangles of all parts, shared ones once, and the cells they enclose.
#ifndef PL_MESHING_CELLS_H
#define PL_MESHING_CELLS_H

#include "meshing/meshing_impl.h"
#include "meshing/meshing.h"

// A connected volume bounded by triangles.
typedef struct cell {
    int32_t component; // its outer shell
    double volume;     // mm^3, of the outer shell alone
    double inside[3];  // a point in it
    int part;          // that fills it, or hollows it; -1: no part holds it (a void inside a body)
    bool hollow;
    char name[128]; // region, or surface of a void
} cell;

// Triangles of all parts and the cells on both sides of them. Owns its arrays.
typedef struct cells {
    int32_t vertex_count, triangle_count;
    double *position;    // mm, 3 per vertex
    int32_t *corner;     // 3 per triangle
    int32_t *side_shell; // 2 per triangle: the closed shell of sides it belongs to
    int32_t shell_count;
    int32_t *side_cell; // 2 per triangle: cell the normal points into, cell behind; -1 is the outside
    cell *cell;
    int32_t cell_count;
} cells;

// `part` must be closed surfaces that do not cross. Names voids and regions.
pl_status cells_init(const pl_meshing_part *part, int part_count, cells *out, pl_error *err);
void cells_clear(cells *c);

// Turns the shells of one closed surface so that outer ones look out and inner ones into their void, by
// nesting.
pl_status cells_orient(pl_trisurf *surface, pl_error *err);

// Connected shells: shell[t] for each triangle; returns their number, or -1 when out of memory.
int32_t cells_shells(const pl_trisurf *surface, int32_t *shell);

// Times the surface winds around a point: 1 inside, 0 outside, for outward triangles.
double cells_winding(const double *position, const int32_t *corner, int32_t count, const double p[3]);

#endif
