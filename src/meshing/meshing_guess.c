// What is found out about a part of the user's own, from its surface: the longest axis, the flat ends on it,
// cavities (closed ones by nesting, open ones as places from which nearly every ray meets a wall), the
// thickness of the walls. A surface file is taken as it is, a volume mesh by its boundary.
#include <stdlib.h>
#include <strings.h>
#include "meshing/meshing_cells.h"
#include "meshing/meshing_guess.h"

#define GUESS_EYES 800      // triangles in front of which a point is tried
#define GUESS_RAYS 96       // directions a point looks into
#define GUESS_FREE 6        // directions that end nowhere, from which on they are compared:
#define GUESS_INLET 0.6     // length of their mean for one opening (1: all alike, 0: opposite ones)
#define GUESS_OPENING 0.03  // an inlet covers at most this part of a cavity; slots between bellows open wider
#define GUESS_PLACES 6      // points in a chamber beside the largest one, at least,
#define GUESS_ROOM 0.3      // and how wide the widest of them is, compared with the largest chamber's
#define GUESS_INCHES 12.0   // mm: parts below it, in a file without a unit, are probably in inches
#define GUESS_PROBES 4000   // triangles whose wall is measured
#define GUESS_ELEMENTS 8000 // a part that has fewer gets a smaller size,
#define GUESS_FINER 0.75    // but not less than this times the first one

// ---- axis
// Bounding box and largest dimension, mm.
static void guess_bounds(guess *g)
{
    for (int i = 0; i < 3; ++i) {
        g->low[i] = INFINITY;
        g->high[i] = -INFINITY;
    }

    for (int64_t k = 0; k < 3 * (int64_t)g->surface->vertex_count; ++k) {
        g->low[k % 3] = fmin(g->low[k % 3], g->surface->position[k]);
        g->high[k % 3] = fmax(g->high[k % 3], g->surface->position[k]);
    }

    for (int i = 0; i < 3; ++i) {
        g->length = fmax(g->length, g->high[i] - g->low[i]);
    }
}

// The longest axis: the first principal direction of the surface (area-weighted), along a coordinate axis
// when it is within 12 degrees of one.
static void guess_axis(guess *g)
{
    const pl_trisurf *s = g->surface;

    // pass 0: mean of the surface, pass 1: covariance about it
    double sum = 0, mean[3] = {0}, C[9] = {0}, value[3], V[9];

    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t t = 0; t < s->triangle_count; ++t) {
            double n[3], d[3];
            guess_normal(s, t, n);
            const double area = pl_norm3(n);
            for (int i = 0; i < 3; ++i) {
                d[i] = (guess_corner(s, t, 0)[i] + guess_corner(s, t, 1)[i] + guess_corner(s, t, 2)[i]) / 3 -
                       mean[i];
            }

            for (int i = 0; i < 9 && pass; ++i) {
                C[i] += area * d[i / 3] * d[i % 3];
            }
            for (int i = 0; i < 3 && !pass; ++i) {
                g->axis[i] += area * d[i];
            }
            sum += pass ? 0 : area;
        }

        for (int i = 0; i < 3 && !pass; ++i) {
            mean[i] = g->axis[i] / sum;
        }
    }

    // the direction of the largest eigenvalue
    pl_eigen3(C, value, V);
    int main_axis = 0;
    for (int i = 0; i < 3; ++i) {
        g->axis[i] = V[3 * i + 2];
        main_axis = fabs(g->axis[i]) > fabs(g->axis[main_axis]) ? i : main_axis;
    }

    // 12 degrees: parts are drawn along axes, and a slight taper turns the principal direction
    const bool straight = fabs(g->axis[main_axis]) > cos(12 * PL_PI / 180);
    const double sign = g->axis[main_axis] > 0 ? 1 : -1;
    for (int i = 0; i < 3; ++i) {
        g->axis[i] = straight ? (i == main_axis ? 1 : 0) : sign * g->axis[i];
    }
}

// ---- cavities
// The k-th of n directions spread evenly over the sphere (Fibonacci).
static void guess_direction(int k, int n, double d[3])
{
    const double z = 1 - (2 * k + 1.0) / n, r = sqrt(1 - z * z), angle = k * PL_PI * (3 - sqrt(5));
    d[0] = r * cos(angle);
    d[1] = r * sin(angle);
    d[2] = z;
}

double guess_enclosed(const guess *g, const double p[3], double *clearance)
{
    int walls = 0, inside = 0, free = 0;
    double sum[3] = {0};

    *clearance = INFINITY;

    // hits from the front are walls, hits from behind mean that the point lies in the material
    for (int k = 0; k < GUESS_RAYS; ++k) {
        double d[3], n[3], t;
        guess_direction(k, GUESS_RAYS, d);
        const int32_t hit = pl_trisurf_tree_cast(&g->tree, p, d, 0, &t);

        if (hit >= 0) {
            guess_normal(g->surface, hit, n);
            *(pl_dot3(n, d) < 0 ? &walls : &inside) += 1;
            *clearance = fmin(*clearance, t);
        } else {
            ++free;
            for (int i = 0; i < 3; ++i) {
                sum[i] += d[i];
            }
        }
    }

    // an inlet lies in one direction; a slot or notch is open to several sides
    const bool slot = free >= GUESS_FREE && pl_norm3(sum) < GUESS_INLET * free;

    return inside > walls || slot ? 0 : (double)walls / GUESS_RAYS;
}

// A point that looks around.
typedef struct guess_eye {
    double point[3], enclosed;
    double clearance; // mm, to the nearest wall seen
} guess_eye;

// Widest first.
static int guess_by_clearance(const void *a, const void *b)
{
    const guess_eye *p = a, *q = b;
    return (p->clearance < q->clearance) - (p->clearance > q->clearance);
}

// Rising.
static int guess_by_face(const void *a, const void *b)
{
    const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    return (i > j) - (i < j);
}

// Points midway between a triangle and the wall in front of it that are enclosed, roomiest first.
static int guess_eyes(const guess *g, guess_eye *eye)
{
    const pl_trisurf *s = g->surface;

    // at most GUESS_EYES triangles, evenly over the list
    const int32_t stride = s->triangle_count / GUESS_EYES + 1;
    int count = 0;

    for (int32_t t = 0; t < s->triangle_count; t += stride) {
        double n[3], middle[3], far;
        guess_normal(s, t, n);
        const double length = pl_norm3(n);
        for (int i = 0; i < 3; ++i) {
            n[i] /= length > 0 ? length : 1;
            middle[i] = (guess_corner(s, t, 0)[i] + guess_corner(s, t, 1)[i] + guess_corner(s, t, 2)[i]) / 3;
        }

        // nothing in front of it: outside
        if (!(length > 0) || pl_trisurf_tree_cast(&g->tree, middle, n, 1e-6 * g->length, &far) < 0) {
            continue;
        }
        guess_eye *e = &eye[count];
        for (int i = 0; i < 3; ++i) {
            e->point[i] = middle[i] + 0.5 * far * n[i];
        }
        e->enclosed = guess_enclosed(g, e->point, &e->clearance);
        count += e->enclosed >= GUESS_ENCLOSED;
    }

    qsort(eye, (size_t)count, sizeof *eye, guess_by_clearance);

    return count;
}

// The size of the opening of a set of faces over their area: the area vectors of a closed surface cancel, so
// what is left is the cap.
static double guess_opening(const pl_mesh *mesh, const int64_t *face, int64_t count)
{
    double sum[3] = {0}, total = 0;
    for (int64_t k = 0; k < count; ++k) {
        double x[3 * PL_FACE_NODES_MAX];
        const int8_t(*triangle)[3];
        const int parts = pl_face_triangles(pl_mesh_gather_face(mesh, face[k], x), &triangle);

        for (int t = 0; t < parts; ++t) {
            double u[3], v[3], n[3];
            pl_sub3(x + 3 * triangle[t][1], x + 3 * triangle[t][0], u);
            pl_sub3(x + 3 * triangle[t][2], x + 3 * triangle[t][0], v);
            pl_cross3(u, v, n);
            total += pl_norm3(n);
            for (int i = 0; i < 3; ++i) {
                sum[i] += n[i];
            }
        }
    }

    return total > 0 ? pl_norm3(sum) / total : 1;
}

// Stores a cavity.
static void guess_keep(guess *g, const guess_eye *eye, double volume, int rims, bool open)
{
    guess_cavity *c = &g->cavity[g->cavity_count++];
    *c = (guess_cavity){.volume = volume, .rims = rims, .open = open, .enclosed = eye->enclosed};
    memcpy(c->eye, eye->point, sizeof c->eye);
}

// A volume mesh tells which faces are seen from an eye. Kept when none of them belongs to a cavity found
// before, they enclose a volume and open little.
static void guess_try_eye(guess *g, const guess_eye *eye, bool *taken)
{
    // the pick works on the mesh itself, as `seen_from` in the robot file will
    const pl_mesh *mesh = g->source->mesh;
    const pl_pick pick = {.kind = PL_PICK_SEEN_FROM, .point = {eye->point[0], eye->point[1], eye->point[2]}};
    const int64_t *boundary = NULL;
    const size_t all = (size_t)pl_mesh_boundary(mesh, &boundary);
    int64_t *face = NULL, count = 0;
    pl_error ignored = {0};

    if (pl_mesh_pick(mesh, &pick, &face, &count, &ignored) != PL_OK) {
        return;
    }

    // new if none of its faces has been looked at
    bool fresh = count > 0;
    for (int64_t k = 0; k < count && fresh; ++k) {
        const int64_t *at = bsearch(&face[k], boundary, all, sizeof *at, guess_by_face);
        fresh = !at || !taken[at - boundary];
    }

    for (int64_t k = 0; k < count; ++k) {
        const int64_t *at = bsearch(&face[k], boundary, all, sizeof *at, guess_by_face);
        if (at) {
            taken[at - boundary] = true; // whether it is a cavity or not: judged once
        }
    }

    // encloses a volume, with openings no larger than an inlet
    const double volume = fresh ? pl_mesh_faces_enclosed(mesh, face, count) : 0;
    if (volume > 0 && guess_opening(mesh, face, count) < GUESS_OPENING) {
        int rims = 0;
        pl_mesh_faces_closed(mesh, face, count, &rims);
        guess_keep(g, eye, volume, rims, rims > 0);
    }

    pl_mesh_free_faces(face);
}

// Whether nothing lies between two points.
static bool guess_sees(const guess *g, const double a[3], const double b[3])
{
    double d[3], t;
    pl_sub3(b, a, d);
    const double length = pl_norm3(d);
    for (int i = 0; i < 3; ++i) {
        d[i] /= length > 0 ? length : 1;
    }

    return pl_trisurf_tree_cast(&g->tree, a, d, 0, &t) < 0 || t > length;
}

// Adds the directions in which a place sees the outside to `sum`; returns their number.
static int guess_escapes(const guess *g, const double p[3], double sum[3])
{
    int count = 0;
    for (int k = 0; k < GUESS_RAYS; ++k) {
        double d[3], t;
        guess_direction(k, GUESS_RAYS, d);

        if (pl_trisurf_tree_cast(&g->tree, p, d, 0, &t) < 0) {
            ++count;
            for (int i = 0; i < 3; ++i) {
                sum[i] += d[i];
            }
        }
    }

    return count;
}

// Whether places look out on opposite sides: a channel through the body, which holds no air. An inlet lies on
// one side.
static bool guess_through(const guess *g, const guess_eye *eye, const int *place, int count)
{
    double sum[3] = {0};
    int escapes = 0;
    for (int k = 0; k < count; ++k) {
        escapes += guess_escapes(g, eye[place[k]].point, sum);
    }
    return escapes >= GUESS_FREE && pl_norm3(sum) < GUESS_INLET * escapes;
}

// The chambers of a surface alone: places that see each other, directly or through others, are one chamber
// (also those in the ducts between its pockets). The roomiest place of each stands for it.
static pl_status guess_chambers(guess *g, const guess_eye *eye, int count, pl_error *err)
{
    bool *seen = PL_NEW_ARRAY(bool, count + 1);
    int *queue = PL_NEW_ARRAY(int, count + 1);

    for (int first = 0; seen && queue && first < count && g->cavity_count < PL_GUESS_CAVITIES; ++first) {
        if (seen[first]) {
            continue;
        }
        // all places that can be reached from here by lines of sight
        int length = 0;
        queue[length++] = first;
        seen[first] = true;

        for (int at = 0; at < length; ++at) {
            for (int k = 0; k < count; ++k) {
                if (!seen[k] && guess_sees(g, eye[queue[at]].point, eye[k].point)) {
                    seen[k] = true;
                    queue[length++] = k;
                }
            }
        }

        // a crevice is no chamber: it has few places, all narrow
        if (guess_through(g, eye, queue, length)) {
            continue;
        }
        if (g->cavity_count == 0 ||
            (length >= GUESS_PLACES && eye[first].clearance >= GUESS_ROOM * eye[0].clearance)) {
            guess_keep(g, &eye[first], NAN, 0, true);
        }
    }

    const bool room = seen && queue;
    pl_free(seen);
    pl_free(queue);

    return room ? PL_OK : pl_fail_memory(err, "the chambers of a part");
}

// Open cavities, from places that are enclosed.
static pl_status guess_cavities(guess *g, pl_error *err)
{
    guess_eye *eye = PL_NEW_ARRAY(guess_eye, GUESS_EYES + 1);
    const int64_t *boundary = NULL;
    bool *taken = PL_NEW_ARRAY(bool, g->source->mesh ? pl_mesh_boundary(g->source->mesh, &boundary) : 1);
    const bool room = eye && taken;
    const int count = room ? guess_eyes(g, eye) : 0;

    // tendons run in channels, air does not
    int roomy = 0;

    for (int k = 0; k < count; ++k) {
        if (!guess_in_channel(g, eye[k].point)) {
            eye[roomy++] = eye[k];
        }
    }

    // a mesh knows the faces of each cavity, a surface only lines of sight
    pl_status status = PL_OK;
    if (roomy > 0 && !g->source->mesh) {
        status = guess_chambers(g, eye, roomy, err);
    }
    for (int k = 0; g->source->mesh && k < roomy && g->cavity_count < PL_GUESS_CAVITIES; ++k) {
        guess_try_eye(g, &eye[k], taken);
    }
    pl_free(eye);
    pl_free(taken);

    return room ? status : pl_fail_memory(err, "the cavities of a part");
}

// Closed cavities: hollow cells inside the surface.
static pl_status guess_voids(guess *g, pl_error *err)
{
    const pl_meshing_part part = {.surface = *g->surface, .region = "body"};
    cells c;
    const pl_status status = cells_init(&part, 1, &c, err);

    for (int32_t i = 0; status == PL_OK && i < c.cell_count; ++i) {
        if (c.cell[i].hollow && g->cavity_count < PL_GUESS_CAVITIES) {
            const guess_eye eye = {.enclosed = 1};
            guess_keep(g, &eye, c.cell[i].volume, 0, false);
        }

        g->void_count += c.cell[i].hollow;
    }

    if (status == PL_OK) {
        cells_clear(&c);
    }

    return status;
}

// ---- walls
// A ray through a wall.
typedef struct probe {
    double wall, area; // mm; mm^2
} probe;

// Thinnest first.
static int guess_compare_probe(const void *a, const void *b)
{
    const probe *p = a, *q = b;
    return (p->wall > q->wall) - (p->wall < q->wall);
}

// The wall thickness that a tenth of the surface stays below, from rays inwards.
static pl_status guess_walls(guess *g, pl_error *err)
{
    const pl_trisurf *s = g->surface;
    const int32_t stride = 1 + s->triangle_count / GUESS_PROBES;
    probe *list = PL_NEW_ARRAY(probe, s->triangle_count);

    if (!list) {
        return pl_fail_memory(err, "the walls of a surface");
    }

    int32_t count = 0;
    double total = 0;

    // off the centroid, so that the ray does not run into an edge of a symmetric part
    for (int32_t t = 0; t < s->triangle_count; t += stride) {
        double n[3], m[3], o[3], d[3], far;
        guess_normal(s, t, n);
        const double twice = pl_norm3(n);

        for (int i = 0; i < 3; ++i) {
            o[i] = 0.41 * guess_corner(s, t, 0)[i] + 0.27 * guess_corner(s, t, 1)[i] +
                   0.32 * guess_corner(s, t, 2)[i];
            d[i] = -n[i] / twice;
        }

        const int32_t hit = twice > 0 ? pl_trisurf_tree_cast(&g->tree, o, d, 1e-7 * g->length, &far) : -1;
        total += twice;
        if (hit >= 0) {
            guess_normal(s, hit, m);
            if (pl_dot3(m, d) > 0.5 * pl_norm3(m)) {
                list[count++] = (probe){far, twice};
            }
        }
    }

    // the thickness below which a tenth of the area lies: fewer could be chamfers
    qsort(list, (size_t)count, sizeof *list, guess_compare_probe);
    double below = 0;
    for (int32_t i = 0; i < count; ++i) {
        below += list[i].area;
        if (below > 0.1 * total) {
            g->wall = list[i].wall;
            break;
        }
    }

    pl_free(list);

    // 1.3 walls per element, but between a fortieth and a tenth of the length. The wall of a cavity bends at
    // its edges within t / sqrt(12 (1 - nu^2) e), which is its thickness t at a strain e of a tenth
    const double walls = g->cavity_count > 0 || g->void_count > 0 ? 1 : 1.3;
    g->size = g->wall > 0 ? fmin(walls * g->wall, g->length / 10) : g->length / 10;
    g->size = fmax(g->size, g->length / 40);

    // small parts without narrow holes can afford more: regular tetrahedra of edge s have the volume s^3
    // / 8.5
    const double expected = 8.5 * fabs(pl_trisurf_volume(s)) / (g->size * g->size * g->size);
    g->size *= g->channel_count > 0 ? 1 : fmax(GUESS_FINER, fmin(1, cbrt(expected / GUESS_ELEMENTS)));

    return PL_OK;
}

// ---- all together
// Coordinates to a millionth of the length, and no negative zero.
static void guess_round(const guess *g, double x[3])
{
    const double grain = 1e-6 * pow(10, floor(log10(g->length)));
    for (int i = 0; i < 3; ++i) {
        x[i] = round(x[i] / grain) * grain + 0.0;
    }
}

// All that can be found out, in the order in which it depends on each other.
// Coordinates are rounded for the file.
static pl_status guess_shape(guess *g, pl_error *err)
{
    guess_bounds(g);
    guess_axis(g);
    pl_status status = pl_trisurf_tree_init(&g->tree, g->surface, err);
    if (status == PL_OK) {
        status = guess_ends(g, err);
    }
    if (status == PL_OK && !g->source->mesh) {
        status = guess_voids(g, err);
    }
    if (status == PL_OK) {
        status = guess_channels(g, err);
    }
    if (status == PL_OK && g->void_count == 0) {
        status = guess_cavities(g, err);
    }
    if (status == PL_OK) {
        status = guess_walls(g, err);
    }
    guess_example(g);

    // rounded: digits beyond those of the file are noise
    pl_trisurf_tree_clear(&g->tree);
    guess_round(g, g->base);
    guess_round(g, g->tip);
    for (int k = 0; k < g->cavity_count; ++k) {
        guess_round(g, g->cavity[k].eye);
    }
    for (int k = 0; k < (g->channel_count + g->crossing_count) * PL_CHANNEL_POINTS; ++k) {
        guess_round(g, g->channel[k / PL_CHANNEL_POINTS].point[k % PL_CHANNEL_POINTS]);
    }
    for (int k = 0; k < g->example_count; ++k) {
        guess_round(g, g->example[k]);
    }

    return status;
}

// The boundary of a mesh as flat triangles.
static pl_status guess_boundary(const pl_mesh *mesh, pl_trisurf *out, pl_error *err)
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);

    *out = (pl_trisurf){.vertex_count = view.vertex_count,
                        .position = PL_NEW_ARRAY(double, 3 * (int64_t)view.vertex_count),
                        .corner = PL_NEW_ARRAY(int32_t, 3 * PL_FACE_TRIANGLES_MAX * count)};
    if (!out->position || !out->corner) {
        return pl_fail_memory(err, "the boundary of a mesh");
    }
    memcpy(out->position, view.position, 3 * (size_t)view.vertex_count * sizeof *out->position);

    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*triangle)[3];
        const int parts = pl_face_triangles(pl_mesh_face_nodes(mesh, face[f], node), &triangle);
        for (int k = 0; k < 3 * parts; ++k) {
            out->corner[3 * (int64_t)out->triangle_count + k] = node[triangle[k / 3][k % 3]];
        }
        out->triangle_count += parts;
    }

    return PL_OK;
}

bool guess_is_cad(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".step") == 0 || strcasecmp(dot, ".stp") == 0);
}

// Refuses a surface with defects; they go to `findings`.
static pl_status guess_check(const pl_trisurf *surface, const char *path, pl_findings *findings,
                             pl_error *err)
{
    pl_findings *found = pl_findings_create();
    pl_status status = found ? pl_trisurf_check(surface, path, found, err) : pl_fail_memory(err, "findings");

    if (status == PL_OK) {
        status = meshing_refuse(found, findings, err);
    }
    pl_findings_destroy(found);
    return status;
}

// The surface in mm, outward; the caller clears it.
static pl_status guess_read(const pl_guess_source *source, pl_trisurf *surface, pl_findings *findings,
                            pl_error *err)
{
    if (source->mesh) {
        return guess_boundary(source->mesh, surface, err);
    }

    pl_status status =
        pl_meshing_read_surface(source->path, source->unit > 0 ? source->unit : 1, surface, err);
    if (status == PL_OK) {
        status = guess_check(surface, source->path, findings, err);
    }

    return status == PL_OK ? cells_orient(surface, err) : status;
}

// The numbers that `pliant new` prints.
static void guess_summary(const guess *g, pl_guess *out)
{
    *out = (pl_guess){.base_area = g->base_area,
                      .cavity_count = g->cavity_count,
                      .channel_count = g->channel_count,
                      .crossing_count = g->crossing_count};
    memcpy(out->low, g->low, sizeof out->low);
    memcpy(out->high, g->high, sizeof out->high);
    memcpy(out->axis, g->axis, sizeof out->axis);
    memcpy(out->base, g->base, sizeof out->base);
    out->across = g->across;
    for (int k = 0; k < g->cavity_count; ++k) {
        out->volume[k] = g->cavity[k].volume;
        out->open[k] = g->cavity[k].open;
    }
}

// *robot_yaml is owned by the caller (pl_meshing_free_text).
pl_status pl_meshing_guess(const pl_guess_source *source, char **robot_yaml, pl_guess *summary,
                           pl_findings *findings, pl_error *err)
{
    *robot_yaml = NULL;
    pl_trisurf surface = {0};
    pl_status status = guess_read(source, &surface, findings, err);
    guess g = {.source = source, .surface = &surface};
    if (status == PL_OK) {
        status = guess_shape(&g, err);
    }

    // sizes that suggest another unit
    if (status == PL_OK && (g.length < 1 || g.length > 2000)) {
        pl_findings_add(findings, PL_WARNING, NULL, 0, "%s is %.4g mm long: an unusual size for a robot",
                        source->path, g.length);
        pl_findings_advise(findings, "check the unit of the file");
    }

    const bool asked = source->unit > 0 || (source->mesh && !guess_is_cad(source->path));
    if (status == PL_OK && !asked && g.length >= 1 && g.length < GUESS_INCHES) {
        pl_findings_add(findings, PL_WARNING, NULL, 0,
                        "%s is %.4g mm long if its numbers are mm; in inches it is %.4g mm, in cm %.4g mm",
                        source->path, g.length, 25.4 * g.length, 10 * g.length);
        pl_findings_advise(
            findings, source->mesh
                          ? "the file says mm; if it was drawn in inches or cm, say --unit in or --unit cm"
                          : "STL and OBJ files have no unit: say --unit in, --unit cm or --unit mm");
    }

    const int regions = source->mesh ? pl_mesh_get(source->mesh).region_count : 1;
    if (status == PL_OK && regions > 1 && !guess_names_materials(&g)) {
        pl_findings_add(findings, PL_WARNING, NULL, 0,
                        "%s has %d parts, and no name says what they are made of: all are the soft material",
                        source->path, regions);
        pl_findings_advise(
            findings, "`pliant info` gives the centre and size of each; set the stiff ones under regions:");
    }

    if (status == PL_OK) {
        status = guess_write(&g, robot_yaml, err);
    }
    if (status == PL_OK && summary) {
        guess_summary(&g, summary);
    }
    pl_trisurf_clear(&surface);

    return status;
}

void pl_meshing_free_text(char *text)
{
    pl_free(text);
}
