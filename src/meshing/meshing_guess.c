// A first robot file for someone's own surface: cavity, base, tip and mesh size are guessed from the shape,
// and the text says how.
#include <stdio.h>
#include <stdlib.h>
#include "mesh/mesh.h"
#include "meshing/meshing_cells.h"

#define GUESS_RAYS 42       // directions a point looks into
#define GUESS_ENCLOSED 0.85 // part of them that must end on a wall for a point to lie in a cavity
#define GUESS_GRID 5000     // points tried
#define GUESS_PROBES 4000   // triangles whose wall is measured

// ---- rays on a surface
typedef struct caster {
    const pl_trisurf *surface;
    pl_bvh tree;
    const double *origin, *direction;
    double start;
    int32_t hit;
} caster;

static const double *guess_corner(const pl_trisurf *s, int32_t t, int k)
{
    return s->position + 3 * (int64_t)s->corner[3 * (int64_t)t + k];
}

static pl_status caster_init(caster *c, const pl_trisurf *surface, pl_error *err)
{
    *c = (caster){.surface = surface};
    double *box = PL_NEW_ARRAY(double, 6 * (int64_t)surface->triangle_count);
    for (int32_t t = 0; box && t < surface->triangle_count; ++t) {
        for (int i = 0; i < 3; ++i) {
            const double a = guess_corner(surface, t, 0)[i], b = guess_corner(surface, t, 1)[i],
                         d = guess_corner(surface, t, 2)[i];
            box[6 * (int64_t)t + i] = fmin(a, fmin(b, d));
            box[6 * (int64_t)t + 3 + i] = fmax(a, fmax(b, d));
        }
    }
    const bool room = box && pl_bvh_init(&c->tree, surface->triangle_count, box);
    pl_free(box);
    return room ? PL_OK : pl_fail_memory(err, "the tree of a surface");
}

static double caster_visit(void *user, int32_t item, double limit)
{
    caster *c = user;
    const pl_trisurf *s = c->surface;
    const double t = pl_triangle_ray(c->origin, c->direction, guess_corner(s, item, 0),
                                     guess_corner(s, item, 1), guess_corner(s, item, 2));
    if (t > c->start && t < limit) {
        c->hit = item;
        return t;
    }
    return limit;
}

// The first triangle met behind `start`, and how far it is; -1 when there is none.
static int32_t caster_cast(caster *c, const double origin[3], const double direction[3], double start,
                           double *t)
{
    c->origin = origin;
    c->direction = direction;
    c->start = start;
    c->hit = -1;
    pl_bvh_ray(&c->tree, origin, direction, 1e30, caster_visit, c);
    if (c->hit >= 0) {
        const pl_trisurf *s = c->surface;
        *t = pl_triangle_ray(origin, direction, guess_corner(s, c->hit, 0), guess_corner(s, c->hit, 1),
                             guess_corner(s, c->hit, 2));
    }
    return c->hit;
}

// Normal times twice the area.
static void guess_normal(const pl_trisurf *s, int32_t t, double n[3])
{
    double u[3], v[3];
    pl_sub3(guess_corner(s, t, 1), guess_corner(s, t, 0), u);
    pl_sub3(guess_corner(s, t, 2), guess_corner(s, t, 0), v);
    pl_cross3(u, v, n);
}

// ---- what is guessed
typedef struct guess {
    const pl_trisurf *surface;
    double low[3], high[3], length;
    double axis[3];             // the longest one, from base to tip
    double base[3], tip[3];     // points on the end faces
    double base_area, tip_area; // mm^2; 0: no flat end there
    int void_count;             // closed cavities
    double void_volume;         // mm^3, of the largest
    bool open_cavity;
    double eye[3];
    double enclosed; // part of the directions in which the eye sees a wall
    double wall;     // mm, typical thin wall; 0: none found
    double size;     // mm
} guess;

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
    pl_eigen3(C, value, V);
    int main_axis = 0;
    for (int i = 0; i < 3; ++i) {
        g->axis[i] = V[3 * i + 2];
        main_axis = fabs(g->axis[i]) > fabs(g->axis[main_axis]) ? i : main_axis;
    }
    const bool straight = fabs(g->axis[main_axis]) > cos(12 * PL_PI / 180);
    const double sign = g->axis[main_axis] > 0 ? 1 : -1;
    for (int i = 0; i < 3; ++i) {
        g->axis[i] = straight ? (i == main_axis ? 1 : 0) : sign * g->axis[i];
    }
}

// Area and a point of the flat face at one end (side -1 low, +1 high) of the axis.
static double guess_end(const guess *g, int side, double point[3])
{
    const pl_trisurf *s = g->surface;
    double extreme = -INFINITY, area = 0;
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        const double at = side * pl_dot3(s->position + 3 * (int64_t)v, g->axis);
        if (at > extreme) {
            extreme = at;
            memcpy(point, s->position + 3 * (int64_t)v, 3 * sizeof(double));
        }
    }
    double centre[3] = {0};
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        double n[3], lowest = INFINITY;
        for (int k = 0; k < 3; ++k) {
            lowest = fmin(lowest, side * pl_dot3(guess_corner(s, t, k), g->axis));
        }
        guess_normal(s, t, n);
        const double twice = pl_norm3(n);
        if (lowest > extreme - 1e-4 * g->length && side * pl_dot3(n, g->axis) > 0.99 * twice) {
            area += twice / 2;
            for (int i = 0; i < 3; ++i) {
                centre[i] += twice / 6 *
                             (guess_corner(s, t, 0)[i] + guess_corner(s, t, 1)[i] + guess_corner(s, t, 2)[i]);
            }
        }
    }
    for (int i = 0; i < 3 && area > 0; ++i) {
        point[i] = centre[i] / area;
    }
    return area;
}

// The base is the larger flat end; of two alike, the lower one.
static void guess_ends(guess *g)
{
    g->base_area = guess_end(g, -1, g->base);
    g->tip_area = guess_end(g, 1, g->tip);
    if (g->tip_area > 1.05 * g->base_area) {
        const guess old = *g;
        memcpy(g->base, old.tip, sizeof g->base);
        memcpy(g->tip, old.base, sizeof g->tip);
        g->base_area = old.tip_area;
        g->tip_area = old.base_area;
        for (int i = 0; i < 3; ++i) {
            g->axis[i] = -old.axis[i];
        }
    }
}

// The k-th of n directions spread evenly over the sphere (Fibonacci).
static void guess_direction(int k, int n, double d[3])
{
    const double z = 1 - (2 * k + 1.0) / n, r = sqrt(1 - z * z), angle = k * PL_PI * (3 - sqrt(5));
    d[0] = r * cos(angle);
    d[1] = r * sin(angle);
    d[2] = z;
}

// How enclosed a point is: the part of directions that end on a wall seen from outside of the material; 0
// when the point lies in the material.
// *clearance is the distance to the nearest of them.
static double guess_enclosed(caster *c, const double p[3], double *clearance)
{
    int walls = 0, inside = 0;
    *clearance = INFINITY;
    for (int k = 0; k < GUESS_RAYS; ++k) {
        double d[3], n[3], t;
        guess_direction(k, GUESS_RAYS, d);
        const int32_t hit = caster_cast(c, p, d, 0, &t);
        if (hit >= 0) {
            guess_normal(c->surface, hit, n);
            *(pl_dot3(n, d) < 0 ? &walls : &inside) += 1;
            *clearance = fmin(*clearance, t);
        }
    }
    return inside > walls ? 0 : (double)walls / GUESS_RAYS;
}

// A cavity that opens to the outside through an inlet: of the enclosed points outside of the material, the
// one farthest from the walls.
static void guess_eye(guess *g, caster *c)
{
    double volume = 1, best = 0;
    for (int i = 0; i < 3; ++i) {
        volume *= fmax(g->high[i] - g->low[i], 1e-6 * g->length);
    }
    const double step = cbrt(volume / GUESS_GRID);
    int count[3];
    for (int i = 0; i < 3; ++i) {
        count[i] = 1 + (int)fmin((g->high[i] - g->low[i]) / step, 200);
    }
    for (int64_t k = 0; k < (int64_t)count[0] * count[1] * count[2]; ++k) {
        const int64_t at[3] = {k % count[0], k / count[0] % count[1], k / count[0] / count[1]};
        double p[3];
        for (int i = 0; i < 3; ++i) {
            p[i] = g->low[i] + (g->high[i] - g->low[i]) * ((double)at[i] + 0.5) / count[i];
        }
        double clearance;
        const double enclosed = guess_enclosed(c, p, &clearance);
        if (enclosed >= GUESS_ENCLOSED && clearance > best) {
            best = clearance;
            g->open_cavity = true;
            g->enclosed = enclosed;
            memcpy(g->eye, p, sizeof p);
        }
    }
}

typedef struct probe {
    double wall, area;
} probe;

static int guess_compare_probe(const void *a, const void *b)
{
    const probe *p = a, *q = b;
    return (p->wall > q->wall) - (p->wall < q->wall);
}

// The wall thickness that a tenth of the surface stays below, from rays inwards.
static pl_status guess_walls(guess *g, caster *c, pl_error *err)
{
    const pl_trisurf *s = g->surface;
    const int32_t stride = 1 + s->triangle_count / GUESS_PROBES;
    probe *list = PL_NEW_ARRAY(probe, s->triangle_count);
    if (!list) {
        return pl_fail_memory(err, "the walls of a surface");
    }
    int32_t count = 0;
    double total = 0;
    for (int32_t t = 0; t < s->triangle_count; t += stride) {
        double n[3], m[3], o[3], d[3], far;
        guess_normal(s, t, n);
        const double twice = pl_norm3(n);
        for (int i = 0; i < 3; ++i) {
            o[i] = 0.41 * guess_corner(s, t, 0)[i] + 0.27 * guess_corner(s, t, 1)[i] +
                   0.32 * guess_corner(s, t, 2)[i];
            d[i] = -n[i] / twice;
        }
        const int32_t hit = twice > 0 ? caster_cast(c, o, d, 1e-7 * g->length, &far) : -1;
        total += twice;
        if (hit >= 0) {
            guess_normal(s, hit, m);
            if (pl_dot3(m, d) > 0.5 * pl_norm3(m)) {
                list[count++] = (probe){far, twice};
            }
        }
    }
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
    g->size = g->wall > 0 ? fmin(1.3 * g->wall, g->length / 10) : g->length / 10;
    g->size = fmax(g->size, g->length / 40);
    return PL_OK;
}

static pl_status guess_voids(guess *g, pl_error *err)
{
    const pl_meshing_part part = {.surface = *g->surface, .region = "body"};
    cells c;
    const pl_status status = cells_init(&part, 1, &c, err);
    for (int32_t i = 0; status == PL_OK && i < c.cell_count; ++i) {
        g->void_count += c.cell[i].hollow;
        g->void_volume = c.cell[i].hollow ? fmax(g->void_volume, c.cell[i].volume) : g->void_volume;
    }
    if (status == PL_OK) {
        cells_clear(&c);
    }
    return status;
}

// ---- the text
// Coordinates to a millionth of the length, and no negative zero.
static void guess_round(const guess *g, double x[3])
{
    const double grain = 1e-6 * pow(10, floor(log10(g->length)));
    for (int i = 0; i < 3; ++i) {
        x[i] = round(x[i] / grain) * grain + 0.0;
    }
}

static const char *guess_unit(double unit)
{
    return unit == 10 ? "cm" : unit == 1000 ? "m" : unit == 1 ? "mm" : NULL;
}

static void guess_write_mesh(pl_text *text, const guess *g, double unit, bool unit_known,
                             const char *reference)
{
    pl_text_add(text, "mesh:\n  parts:\n    - {surface: \"%s\", region: body}\n", reference);
    char word[32];
    if (guess_unit(unit)) {
        snprintf(word, sizeof word, "%s", guess_unit(unit));
    } else {
        snprintf(word, sizeof word, "%.9g mm", unit);
    }
    pl_text_add(text, "  unit: %-14s # %sthe part is then %.4g x %.4g x %.4g mm\n", word,
                unit_known ? "" : "assumed: the file does not say; ", g->high[0] - g->low[0],
                g->high[1] - g->low[1], g->high[2] - g->low[2]);
    if (g->length < 1 || g->length > 2000) {
        pl_text_add(text, "  #                      which is an odd size for a robot: check the unit\n");
    }
    if (g->wall > 0) {
        pl_text_add(text, "  size: %-14.3g # guessed from walls of about %.3g mm\n", g->size, g->wall);
    } else {
        pl_text_add(text, "  size: %-14.3g # guessed: a tenth of the length\n", g->size);
    }
    pl_text_add(text,
                "  order: 2              # quadratic tetrahedra bend; linear ones are far too stiff\n\n");
}

static void guess_write_surfaces(pl_text *text, const guess *g)
{
    const double *b = g->base, *t = g->tip, *n = g->axis, m[3] = {0 - n[0], 0 - n[1], 0 - n[2]};
    pl_text_add(
        text, "# Surfaces, by their place. The longest axis was found along [%.3g, %.3g, %.3g].\nsurfaces:\n",
        n[0], n[1], n[2]);
    if (g->base_area > 0) {
        pl_text_add(text,
                    "  # guessed: the flat end of %.4g mm^2\n"
                    "  base: {plane: {point: [%.6g, %.6g, %.6g], normal: [%.6g, %.6g, %.6g]}}\n",
                    g->base_area, b[0], b[1], b[2], m[0], m[1], m[2]);
    } else {
        // no flat end: everything within a twentieth of the length
        double low[3], high[3];
        for (int i = 0; i < 3; ++i) {
            const double reach = fabs(n[i]) > 0.5 ? 0.05 * g->length : g->length;
            low[i] = b[i] - reach;
            high[i] = b[i] + reach;
        }
        pl_text_add(text,
                    "  # guessed: no flat end was found, so this is a slice at the end; check it\n"
                    "  base: {box: [[%.6g, %.6g, %.6g], [%.6g, %.6g, %.6g]]}\n",
                    low[0], low[1], low[2], high[0], high[1], high[2]);
    }
    if (g->tip_area > 0) {
        pl_text_add(text,
                    "  # guessed: the opposite flat end, of %.4g mm^2\n"
                    "  tip: {plane: {point: [%.6g, %.6g, %.6g], normal: [%.6g, %.6g, %.6g]}}\n",
                    g->tip_area, t[0], t[1], t[2], n[0], n[1], n[2]);
    }
    if (g->void_count > 0) {
        pl_text_add(text, "  # found: %d closed void%s inside the skin; the mesher names %s\n", g->void_count,
                    g->void_count > 1 ? "s" : "",
                    g->void_count > 1 ? "them cavity, cavity2..." : "it cavity");
        pl_text_add(text, "  # (the largest holds %.4g mm^3)\n", g->void_volume);
    } else if (g->open_cavity) {
        pl_text_add(text,
                    "  # guessed: a cavity open to the outside; from this point %.0f %% of all directions "
                    "end on a wall\n"
                    "  cavity: {seen_from: [%.6g, %.6g, %.6g]}\n",
                    100 * g->enclosed, g->eye[0], g->eye[1], g->eye[2]);
    } else {
        pl_text_add(text, "  # no cavity was found. If there is one, name a point in it:\n"
                          "  # cavity: {seen_from: [x, y, z]}\n");
    }
}

static void guess_write_actuators(pl_text *text, const guess *g)
{
    if (g->void_count > 0 || g->open_cavity) {
        pl_text_add(text, "\n# Air under gauge pressure. Start low: the range depends on walls and "
                          "material.\nactuators:\n");
        for (int i = 0; i < (g->void_count > 0 ? g->void_count : 1); ++i) {
            char number[16] = "";
            if (i > 0) {
                snprintf(number, sizeof number, "%d", i + 1);
            }
            pl_text_add(text,
                        "  - {name: air%s, kind: chamber, surface: cavity%s, drive: pressure, range: [0 kPa, "
                        "20 kPa]}\n",
                        number, number);
        }
    } else {
        pl_text_add(text, "\n# No actuator yet. A tendon, for example, runs straight from guide to guide:\n"
                          "# actuators:\n"
                          "#   - {name: tendon, kind: cable, through: [[0, 0, 0], [50, 0, 0]], radius: 1,\n"
                          "#      drive: shortening, range: [0, 10]}\n");
    }
    pl_text_add(text, "\n# Points whose motion is reported.\nmarkers:\n");
    if (g->tip_area > 0) {
        pl_text_add(text, "  tip: {surface: tip}\n");
    } else {
        pl_text_add(text, "  tip: {at: [%.6g, %.6g, %.6g]}   # guessed: the point farthest from the base\n",
                    g->tip[0], g->tip[1], g->tip[2]);
    }
}

static void guess_write(pl_text *text, const guess *g, double unit, bool unit_known, const char *reference)
{
    const char *slash = strrchr(reference, '/');
    char name[64];
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : reference);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) {
        *dot = 0;
    }
    pl_text_add(text,
                "# A first guess from %s. Lines marked \"guessed\" are worth a look; `pliant doctor` checks "
                "the rest.\n"
                "# Lengths are mm, forces N, stresses MPa; any number may carry a unit.\n"
                "pliant: 1\nname: \"%s\"\n\n",
                reference, name);
    guess_write_mesh(text, g, unit, unit_known, reference);
    guess_write_surfaces(text, g);
    pl_text_add(text, "\n# guessed: a soft silicone. `pliant materials` lists measured ones.\n"
                      "materials:\n  silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49}\n"
                      "regions: {body: silicone}\n\nfixed:\n  - {surface: base}\n");
    guess_write_actuators(text, g);
}

// ---- all together
static pl_status guess_shape(guess *g, pl_error *err)
{
    guess_bounds(g);
    guess_axis(g);
    guess_ends(g);
    caster c;
    pl_status status = caster_init(&c, g->surface, err);
    if (status == PL_OK) {
        status = guess_voids(g, err);
    }
    if (status == PL_OK && g->void_count == 0) {
        guess_eye(g, &c);
    }
    if (status == PL_OK) {
        status = guess_walls(g, &c, err);
    }
    pl_bvh_clear(&c.tree);
    guess_round(g, g->base);
    guess_round(g, g->tip);
    guess_round(g, g->eye);
    return status;
}

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

pl_status pl_meshing_guess(const char *path, double unit, const char *reference, char **robot_yaml,
                           pl_findings *findings, pl_error *err)
{
    *robot_yaml = NULL;
    const bool unit_known = unit > 0;
    const double scale = unit_known ? unit : 1;
    pl_trisurf surface;
    pl_status status = pl_meshing_read_surface(path, scale, &surface, err);
    if (status == PL_OK) {
        status = guess_check(&surface, path, findings, err);
    }
    if (status == PL_OK) {
        status = cells_orient(&surface, err);
    }
    guess g = {.surface = &surface};
    if (status == PL_OK) {
        status = guess_shape(&g, err);
    }
    if (status == PL_OK) {
        if (g.length < 1 || g.length > 2000) {
            pl_findings_add(findings, PL_WARNING, NULL, 0, "%s is %.4g mm long: an odd size for a robot",
                            path, g.length);
            pl_findings_advise(findings, "check the unit of the file");
        }
        const char *slash = strrchr(path, '/');
        pl_text text = {0};
        guess_write(&text, &g, scale, unit_known, reference ? reference : slash ? slash + 1 : path);
        *robot_yaml = text.failed ? NULL : text.data;
        if (text.failed) {
            pl_text_clear(&text);
            status = pl_fail_memory(err, "a robot file");
        }
    }
    pl_trisurf_clear(&surface);
    return status;
}

void pl_meshing_free_text(char *text)
{
    pl_free(text);
}
