// A small block of tets for the tests of robots and robot files, without Gmsh: a box of cubic cells, each cut
// into six tets, with a cavity of two cells.
//
//   cells 4 x 3 x 3 of 10 mm: x from 0 to 40, y and z from 0 to 30
//   cavity at x 10..30, y 10..20, z 10..20: a hole, or the region `air`
//   regions: `layer` (z < 10), `plug` (x > 30, z > 10), `skin` (the rest)
//   surfaces: `base` (x = 0), `tip` (x = 40), `top` (z = 30), `cavity` (walls of the hole)
#ifndef PL_ROBOT_FIXTURE_H
#define PL_ROBOT_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "mesh/mesh.h"
#include "pliant/robot.h"

enum {
    FIX_NX = 4,
    FIX_NY = 3,
    FIX_NZ = 3,
    FIX_VERTICES = 5 * 4 * 4,
    FIX_CELLS = 36,
    FIX_TETS = 6 * FIX_CELLS
};

static inline int32_t fix_vertex(int i, int j, int k)
{
    return (int32_t)(i + (FIX_NX + 1) * (j + (FIX_NY + 1) * k));
}

static inline int fix_region(int i, int j, int k)
{
    const bool hole = (i == 1 || i == 2) && j == 1 && k == 1;
    return hole ? 3 : k == 0 ? 1 : i == 3 ? 2 : 0;
}

// The two triangles of a cell's side, cut along the diagonal that the six tets use: from its lowest to its
// highest vertex. Corner order does not matter, faces are looked up.
static inline void fix_side(int32_t (*corner)[4], int *count, int i, int j, int k, int axis)
{
    const int p = (axis + 1) % 3, q = (axis + 2) % 3;
    int at[4][3];

    for (int c = 0; c < 4; ++c) {
        at[c][0] = i;
        at[c][1] = j;
        at[c][2] = k;
    }

    at[1][p] += 1;
    at[2][p] += 1;
    at[2][q] += 1;
    at[3][q] += 1;
    int32_t v[4];
    for (int c = 0; c < 4; ++c) {
        v[c] = fix_vertex(at[c][0], at[c][1], at[c][2]);
    }

    const int32_t a[4] = {v[0], v[1], v[2], -1}, b[4] = {v[0], v[2], v[3], -1};
    memcpy(corner[(*count)++], a, sizeof a);
    memcpy(corner[(*count)++], b, sizeof b);
}

// `filled`: the cavity is the region `air` instead of a hole.
static inline pl_mesh *fix_mesh(bool filled, double scale)
{
    static const int path[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const char *const regions[] = {"skin", "layer", "plug", "air"};
    static const char *const surfaces[] = {"base", "tip", "top", "cavity"};
    double position[3 * FIX_VERTICES];
    uint8_t kind[FIX_TETS];
    int64_t start[FIX_TETS + 1] = {0}, surface_start[5] = {0};
    int32_t node[4 * FIX_TETS], region[FIX_TETS], corner[200][4];
    int tets = 0, sides = 0;

    for (int k = 0; k <= FIX_NZ; ++k) {
        for (int j = 0; j <= FIX_NY; ++j) {
            for (int i = 0; i <= FIX_NX; ++i) {
                double *x = position + 3 * fix_vertex(i, j, k);
                x[0] = 10 * i * scale;
                x[1] = 10 * j * scale;
                x[2] = 10 * k * scale;
            }
        }
    }

    for (int k = 0; k < FIX_NZ; ++k) {
        for (int j = 0; j < FIX_NY; ++j) {
            for (int i = 0; i < FIX_NX; ++i) {
                if (fix_region(i, j, k) == 3 && !filled) {
                    continue;
                }
                for (int t = 0; t < 6; ++t) {
                    int at[3] = {i, j, k};
                    for (int c = 0; c < 4; ++c) {
                        node[4 * tets + c] = fix_vertex(at[0], at[1], at[2]);
                        at[path[t][c % 3]] += c < 3;
                    }
                    kind[tets] = PL_TET4;
                    region[tets] = fix_region(i, j, k);
                    start[tets + 1] = start[tets] + 4;
                    ++tets;
                }
            }
        }
    }

    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            fix_side(corner, &sides, 0, a, b, 0);
        }
    }

    surface_start[1] = sides;
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            fix_side(corner, &sides, FIX_NX, a, b, 0);
        }
    }

    surface_start[2] = sides;
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 3; ++b) {
            fix_side(corner, &sides, a, b, FIX_NZ, 2);
        }
    }

    surface_start[3] = sides;
    if (!filled) {
        fix_side(corner, &sides, 1, 1, 1, 0);
        fix_side(corner, &sides, 3, 1, 1, 0);
        for (int a = 1; a < 3; ++a) {
            for (int s = 0; s < 2; ++s) {
                fix_side(corner, &sides, a, 1 + s, 1, 1);
                fix_side(corner, &sides, a, 1, 1 + s, 2);
            }
        }
    }

    surface_start[4] = sides;
    const pl_mesh_def def = {.vertex_count = FIX_VERTICES,
                             .position = position,
                             .element_count = tets,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = filled ? 4 : 3,
                             .region_name = regions,
                             .surface_count = filled ? 3 : 4,
                             .surface_name = surfaces,
                             .surface_start = surface_start,
                             .surface_corner = corner[0]};
    pl_mesh *mesh = NULL;
    pl_mesh_report report;
    pl_error err;
    PL_CHECK_OK(pl_mesh_create(&def, &mesh, &report, &err));
    assert_int_equal(report.unmatched_faces, 0);

    return mesh;
}

// A mesher for robot files: `design: {kind: block, filled: 0, scale: 1}`.
static inline pl_status fix_build(void *user, const pl_mesh_source *source, const pl_progress *progress,
                                  pl_mesh **out, pl_findings *findings, pl_error *err)
{
    (void)progress;
    (void)findings;
    if (user) {
        ++*(int *)user; // counts the meshes built
    }

    bool filled = false;
    double scale = 1;
    if (source->kind != PL_SOURCE_DESIGN || strcmp(source->design, "block") != 0) {
        snprintf(err->text, sizeof err->text, "the test mesher knows only the design block");
        err->status = PL_BAD_INPUT;
        return PL_BAD_INPUT;
    }

    for (int i = 0; i < source->parameter_count; ++i) {
        filled = strcmp(source->parameter[i].name, "filled") == 0 ? source->parameter[i].value != 0 : filled;
        scale = strcmp(source->parameter[i].name, "scale") == 0 ? source->parameter[i].value : scale;
    }

    *out = fix_mesh(filled, scale);

    return PL_OK;
}

// A list of findings holds a defect on `line` with `words` in it.
static inline bool fix_has_finding(const pl_findings *findings, pl_severity severity, int line,
                                   const char *words)
{
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        if (f->severity == severity && (line < 0 || f->line == line) &&
            (strstr(f->text, words) || strstr(f->advice, words))) {
            return true;
        }
    }
    return false;
}

static inline void fix_print_findings(const pl_findings *findings)
{
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        print_error("    %d %s:%d: %s | %s\n", (int)f->severity, f->file ? f->file : "-", f->line, f->text,
                    f->advice);
    }
}

#endif
