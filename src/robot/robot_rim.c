// Open cavities are closed by flat caps. A rim runs through planes that supports hold (the planes a part was
// cut along, a clamped base) and over openings that move with the body. Each stretch of it gets a cap of its
// own: in a held plane a fan from a point of that plane, over an opening a fan from the mean of the stretch,
// moved into the held planes at its two ends. The caps then meet along the lines in which the planes
// intersect. With o a point that the held planes share, caps in planes through o add nothing to the volume
// seen from o, so that
//
//   V = V(wall, seen from o) + sum over the other stretches of the volume between o and their fans,
//
// where the first term is that of the wall and a fan from o over the whole rim.
#include <stdio.h>
#include "robot/robot_impl.h"

#define RIM_UNCERTAIN 1e-3 // of the chamber's volume: reported
#define RIM_UNKNOWN 2e-2   // of the chamber's volume: refused
#define RIM_WIDE 0.25      // of the chamber's wall: as wide as a cut through the part

// x[axis] = at, held by a support.
typedef struct rim_plane {
    int axis;
    double at;
} rim_plane;

// What the steps of closing a chamber share. Arrays `support_of`, `plane` and `label` belong to it.
typedef struct rim_work {
    robot_build *b;
    pl_actuator *a;
    int line;
    int32_t *support_of; // per axis of each vertex
    rim_plane *plane;    // held planes, at most one per support and axis
    int plane_count;
    int32_t *label;         // per edge of a rim: its plane, -1 where it moves with the body
    double uncertain, area; // of the caps outside of held planes: volume that depends on their shape, area
    int worst;              // rim with the largest part of that volume
    double worst_part;
    int widest; // rim with the largest part of that area
    double widest_part;
} rim_work;

// Which support holds each axis of each vertex at rest, 3 per vertex; -1: none.
static int32_t *rim_supports(const pl_robot *robot)
{
    const int64_t n = 3 * (int64_t)pl_mesh_get(robot->mesh).vertex_count;
    int32_t *of = PL_NEW_ARRAY(int32_t, n);

    for (int64_t i = 0; of && i < n; ++i) {
        of[i] = -1;
    }

    for (int k = 0; of && k < robot->support_count; ++k) {
        const pl_support *s = &robot->support[k];
        for (int32_t j = 0; j < s->node_count; ++j) {
            for (int i = 0; i < 3; ++i) {
                int32_t *slot = &of[3 * (int64_t)s->node[j] + i];
                // supports that move do not hold a plane in place
                *slot = s->axis[i] && s->move[i] == 0 && pl_norm3(s->rotate) == 0 ? k : *slot;
            }
        }
    }

    return of;
}

// mm: round-off of coordinates
static double rim_tolerance(const rim_work *w)
{
    return 1e-6 * w->b->size;
}

// The planes of supports all of whose vertices lie in a plane normal to an axis that they hold.
static void rim_planes(rim_work *w)
{
    const pl_robot *robot = w->b->robot;
    const double *X = pl_mesh_get(robot->mesh).position, tolerance = rim_tolerance(w);

    for (int k = 0; k < robot->support_count; ++k) {
        const pl_support *s = &robot->support[k];
        for (int i = 0; i < 3; ++i) {
            bool flat = s->axis[i] && s->node_count > 0 && s->move[i] == 0 && pl_norm3(s->rotate) == 0;
            const double at = flat ? X[3 * (int64_t)s->node[0] + i] : 0;
            for (int32_t j = 0; flat && j < s->node_count; ++j) {
                flat = fabs(X[3 * (int64_t)s->node[j] + i] - at) <= tolerance;
            }
            // each plane once
            for (int p = 0; flat && p < w->plane_count; ++p) {
                flat = w->plane[p].axis != i || fabs(w->plane[p].at - at) > tolerance;
            }
            if (flat) {
                w->plane[w->plane_count++] = (rim_plane){i, at};
            }
        }
    }
}

// ---- a rim as a closed list of edges
typedef struct rim_loop {
    const int32_t *node;
    int32_t count, edges;
    int per; // vertices per edge
} rim_loop;

// Rim r. Quadratic rims list corner, mid node, corner, ...
static rim_loop rim_get(const rim_work *w, int r)
{
    const pl_actuator *a = w->a;
    rim_loop l = {.node = a->rim_node + a->rim_start[r],
                  .count = a->rim_start[r + 1] - a->rim_start[r],
                  .per = a->rim_quadratic ? 2 : 1};
    l.edges = l.count / l.per;
    return l;
}

static const double *rim_vertex(const rim_work *w, const rim_loop *l, int64_t j)
{
    return pl_mesh_get(w->b->robot->mesh).position + 3 * (int64_t)l->node[j % l->count];
}

// mm, of the chord
static double rim_edge_length(const rim_work *w, const rim_loop *l, int32_t e)
{
    return pl_distance3(rim_vertex(w, l, l->per * e), rim_vertex(w, l, l->per * (e + 1)));
}

// Whether edge e lies in the plane; `held`: and all its vertices are held along the plane's normal.
static bool rim_edge_in(const rim_work *w, const rim_loop *l, int32_t e, rim_plane plane, bool held)
{
    bool in = true;
    for (int j = 0; in && j <= l->per; ++j) {
        const int64_t v = l->node[(l->per * e + j) % l->count];
        in = fabs(rim_vertex(w, l, l->per * e + j)[plane.axis] - plane.at) <= rim_tolerance(w) &&
             (!held || w->support_of[3 * v + plane.axis] >= 0);
    }

    return in;
}

// Gives every edge its plane: first the plane that holds the longest part of the rim, then that which holds
// most of the rest. `origin` becomes a point of the first plane found for each axis. Returns how many edges
// have a plane.
static int32_t rim_label(rim_work *w, const rim_loop *l, double origin[3])
{
    bool given[3] = {false};
    int32_t labelled = 0;

    memset(w->label, -1, (size_t)l->edges * sizeof *w->label);
    memset(origin, 0, 3 * sizeof *origin);

    // the mean of the rim, for axes without a plane
    for (int32_t j = 0; j < l->edges; ++j) {
        for (int i = 0; i < 3; ++i) {
            origin[i] += rim_vertex(w, l, l->per * j)[i] / l->edges;
        }
    }

    // one plane per round; ends when no edge is left in any
    for (;;) {
        int best = -1;
        double most = 0;

        for (int p = 0; p < w->plane_count; ++p) {
            double length = 0;
            for (int32_t e = 0; e < l->edges; ++e) {
                length +=
                    w->label[e] < 0 && rim_edge_in(w, l, e, w->plane[p], true) ? rim_edge_length(w, l, e) : 0;
            }

            if (length > most) {
                most = length;
                best = p;
            }
        }

        if (best < 0) {
            return labelled;
        }
        const rim_plane plane = w->plane[best];
        origin[plane.axis] = given[plane.axis] ? origin[plane.axis] : plane.at;
        given[plane.axis] = true;

        for (int32_t e = 0; e < l->edges; ++e) {
            if (w->label[e] < 0 && rim_edge_in(w, l, e, plane, true)) {
                w->label[e] = best;
                ++labelled;
            }
        }
    }
}

// ---- caps

// A cap over `edges` edges from `edge` on; an open one ends with the last vertex of its last edge. Its nodes
// follow those of the cap before it.
static pl_cap *rim_new_cap(rim_work *w, const rim_loop *l, int32_t edge, int32_t edges)
{
    pl_actuator *a = w->a;
    pl_cap *cap = &a->cap[a->cap_count++];
    const int32_t start = a->cap_count > 1 ? cap[-1].start + cap[-1].count : 0;

    *cap = (pl_cap){.start = start, .open = edges < l->edges};
    cap->count = l->per * edges + (cap->open ? 1 : 0);
    for (int32_t j = 0; j < cap->count; ++j) {
        a->cap_node[start + j] = l->node[((int64_t)l->per * edge + j) % l->count];
    }

    return cap;
}

// Whether o lies in the plane.
static bool rim_contains(const rim_work *w, int32_t plane, const double o[3])
{
    const rim_plane p = w->plane[plane];
    return fabs(o[p.axis] - p.at) <= rim_tolerance(w);
}

// A cap that moves with the body: what of the volume depends on its shape, the volume between it and the
// plane through its apex normal to its mean normal, and its area.
static void rim_measure(rim_work *w, int r, const pl_cap *cap)
{
    const int32_t *node = w->a->cap_node + cap->start;
    const double *X = pl_mesh_get(w->b->robot->mesh).position;
    const int32_t n = cap->count, steps = cap->open ? n - 1 : n;
    double c[3] = {0}, normal[3] = {0}, between = 0, area = 0;

    // apex: the mean, moved into held planes
    for (int32_t j = 0; j < n; ++j) {
        for (int i = 0; i < 3; ++i) {
            c[i] += X[3 * (int64_t)node[j] + i] / n;
        }
    }

    for (int i = 0; i < 3; ++i) {
        c[i] = cap->follows[i] ? c[i] : cap->apex[i];
    }

    // first the mean normal, then the volume between fan and plane along it
    for (int pass = 0; pass < 2; ++pass) {
        const double length = pl_norm3(normal);
        for (int32_t j = 0; j < steps; ++j) {
            double p[3], q[3], m[3];
            pl_sub3(X + 3 * (int64_t)node[j], c, p);
            pl_sub3(X + 3 * (int64_t)node[(j + 1) % n], c, q);
            pl_cross3(p, q, m);
            area += pass == 0 ? 0.5 * pl_norm3(m) : 0;
            for (int i = 0; pass == 0 && i < 3; ++i) {
                normal[i] += m[i];
            }
            if (pass == 1 && length > 0) {
                between += fabs(pl_dot3(m, normal)) / length / 2 *
                           fabs(pl_dot3(p, normal) + pl_dot3(q, normal)) / length / 3;
            }
        }
    }

    // what is uncertain in all, and where most of it comes from
    w->uncertain += between;
    w->area += area;
    if (area > w->widest_part) {
        w->widest_part = area;
        w->widest = r;
    }

    if (between > w->worst_part) {
        w->worst_part = between;
        w->worst = r;
    }
}

// The stretch of `edges` edges from `edge` on, all with the label of the first. False where its cap would not
// end in the planes of its neighbours.
static bool rim_stretch(rim_work *w, int r, const rim_loop *l, int32_t edge, int32_t edges, const double o[3])
{
    const int32_t label = w->label[edge],
                  side[2] = {w->label[(edge + l->edges - 1) % l->edges], w->label[(edge + edges) % l->edges]};
    if (label >= 0 && rim_contains(w, label, o)) {
        return true;
    }

    // an opening must end in held planes through o on both sides
    for (int k = 0; k < 2; ++k) {
        if (side[k] < 0 || !rim_contains(w, side[k], o)) {
            return false;
        }
    }

    pl_cap *cap = rim_new_cap(w, l, edge, edges);
    memcpy(cap->origin, o, sizeof cap->origin);
    memcpy(cap->apex, o, sizeof cap->apex);

    // a plane that o does not lie in: a fan from o moved into it
    if (label >= 0) {
        cap->apex[w->plane[label].axis] = w->plane[label].at;
        return true;
    }

    // an opening follows the body, except along the normals of the planes at its ends
    for (int i = 0; i < 3; ++i) {
        cap->follows[i] = i != w->plane[side[0]].axis && i != w->plane[side[1]].axis;
    }
    rim_measure(w, r, cap);

    return true;
}

// False where the caps of the rim do not meet.
static bool rim_close(rim_work *w, int r)
{
    const rim_loop l = rim_get(w, r);
    double o[3];
    const int32_t labelled = rim_label(w, &l, o);

    // a fan over the whole rim from o, or, where nothing is held, from the mean of the rim
    pl_cap *whole = rim_new_cap(w, &l, 0, l.edges);

    if (labelled == 0) {
        whole->follows[0] = whole->follows[1] = whole->follows[2] = true;
        rim_measure(w, r, whole);
        return true;
    }

    memcpy(whole->apex, o, sizeof whole->apex);

    // stretches of one label, from the first edge whose label differs from that of its predecessor
    int32_t first = 0;
    while (first < l.edges && w->label[first] == w->label[(first + l.edges - 1) % l.edges]) {
        ++first;
    }

    bool good = true;
    for (int32_t e = first, edges = 1; good && first < l.edges && e < first + l.edges; e += edges) {
        edges = 1;
        while (edges < l.edges && w->label[(e + edges) % l.edges] == w->label[e % l.edges]) {
            ++edges;
        }
        good = rim_stretch(w, r, &l, e % l.edges, edges, o);
    }

    return good;
}

// ---- reports

// Bounding box of a rim.
static void rim_bounds(const rim_work *w, const rim_loop *l, double low[3], double high[3])
{
    for (int i = 0; i < 3; ++i) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }

    for (int32_t j = 0; j < l->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            low[i] = fmin(low[i], rim_vertex(w, l, j)[i]);
            high[i] = fmax(high[i], rim_vertex(w, l, j)[i]);
        }
    }
}

// Places the finding in the middle of the rim.
static void rim_place(const rim_work *w, const double low[3], const double high[3])
{
    const double place[3] = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2};
    pl_findings_place(w->b->findings, place, NULL, 0);
}

// A note for every opening, with the held planes it runs in.
static void rim_note(const rim_work *w, int r)
{
    const rim_loop l = rim_get(w, r);
    double low[3], high[3];

    rim_bounds(w, &l, low, high);
    pl_text planes = {0};

    // which planes
    for (int p = 0; p < w->plane_count; ++p) {
        bool used = false;
        for (int32_t e = 0; e < l.edges; ++e) {
            used = used || w->label[e] == p;
        }
        if (used) {
            pl_text_add(&planes, "%s %c = %g", planes.data ? "," : " in the held planes",
                        "xyz"[w->plane[p].axis], pl_tidy(w->plane[p].at));
        }
    }

    ROBOT_FIND(w->b, PL_NOTE, w->line,
               "chamber '%s': an opening of %.3g x %.3g x %.3g mm (%d edges) is capped%s", w->a->name,
               high[0] - low[0], high[1] - low[1], high[2] - low[2], (int)l.edges,
               planes.data ? planes.data : "");
    rim_place(w, low, high);
    pl_text_clear(&planes);
}

// What to write: the outermost planes of the body in which the rim runs and which no support holds.
static void rim_cuts(const rim_work *w, const rim_loop *l, pl_text *text)
{
    double low[3], high[3];
    pl_mesh_bounds(w->b->robot->mesh, low, high);
    for (int k = 0; k < 6; ++k) {
        const int i = k % 3;
        const rim_plane plane = {i, k < 3 ? low[i] : high[i]};
        int32_t in = 0, held = 0;
        for (int32_t e = 0; e < l->edges; ++e) {
            in += rim_edge_in(w, l, e, plane, false);
            held += rim_edge_in(w, l, e, plane, true);
        }

        if (in >= 2 && held == 0) {
            double at[3] = {0}, normal[3] = {0};
            at[i] = pl_tidy(plane.at);
            normal[i] = 1;
            pl_text_add(text,
                        "%s{plane: {point: [%g, %g, %g], normal: [%g, %g, %g]}} with the support "
                        "{surface: ..., axes: [%c]}",
                        text->data ? "; " : "", at[0], at[1], at[2], normal[0], normal[1], normal[2],
                        "xyz"[i]);
        }
    }
}

// Advice for an opening that cannot be capped reliably.
static void rim_advise(rim_work *w, const rim_loop *l)
{
    pl_text text = {0};
    rim_cuts(w, l, &text);
    if (text.data) {
        pl_findings_advise(w->b->findings,
                           "it lies in outer planes of the body that no support holds; if the part was cut "
                           "there, write the surface %s; otherwise close the opening in the part",
                           text.data);
    } else {
        pl_findings_advise(w->b->findings,
                           "select the whole wall of the cavity, so that it ends in flat openings or in held "
                           "planes; or close the opening in the part");
    }

    pl_text_clear(&text);
}

// The unit normal of a rim in an oblique plane that the whole body lies on one side of: a cut whose normal no
// support can hold, because supports hold along x, y and z. False: it is no such plane.
static bool rim_oblique(const rim_work *w, const rim_loop *l, double normal[3])
{
    const pl_mesh_view v = pl_mesh_get(w->b->robot->mesh);
    const double *origin = rim_vertex(w, l, 0);
    double low = 0, high = 0, largest = 0;

    memset(normal, 0, 3 * sizeof *normal);

    // mean normal of the rim
    for (int32_t j = 0; j < l->count; ++j) {
        double a[3], b[3], cross[3];
        pl_sub3(rim_vertex(w, l, j), origin, a);
        pl_sub3(rim_vertex(w, l, (j + 1) % l->count), origin, b);
        pl_cross3(a, b, cross);
        for (int i = 0; i < 3; ++i) {
            normal[i] += cross[i];
        }
    }

    const double length = pl_norm3(normal);
    for (int i = 0; i < 3; ++i) {
        normal[i] /= length > 0 ? length : 1;
        largest = fmax(largest, fabs(normal[i]));
    }

    // how far the body extends on both sides of its plane
    for (int32_t k = 0; k < v.vertex_count; ++k) {
        double d[3];
        pl_sub3(v.position + 3 * (size_t)k, origin, d);
        low = fmin(low, pl_dot3(d, normal));
        high = fmax(high, pl_dot3(d, normal));
    }

    return length > 0 && largest < 1 - 1e-9 && fmin(-low, high) < 1e-6 * w->b->size;
}

// An opening as wide as a cut through the part, in a plane in which the body may move: a plane of symmetry
// whose support is missing?
static void rim_warn_wide(rim_work *w, double wall)
{
    const rim_loop l = rim_get(w, w->widest);
    pl_text text = {0};
    double normal[3];

    rim_cuts(w, &l, &text);
    const bool oblique = !text.data && rim_oblique(w, &l, normal);
    if (text.data || oblique) {
        double low[3], high[3];
        rim_bounds(w, &l, low, high);
        ROBOT_FIND(w->b, PL_WARNING, w->line,
                   "chamber '%s': its openings that move with the body are %.0f %% as large as its wall",
                   w->a->name, 100 * w->area / wall);
        if (oblique) {
            pl_findings_advise(w->b->findings,
                               "it lies in an outer plane of the body with the normal (%.4g, %.4g, %.4g); "
                               "if the part was cut there, turn it in its file until the plane is normal to "
                               "x, y or z: supports hold along these axes only",
                               normal[0], normal[1], normal[2]);
        } else {
            rim_advise(w, &l);
        }
        rim_place(w, low, high);
    }

    pl_text_clear(&text);
}

// A defect at rim r.
static void rim_refuse(rim_work *w, int r, const char *why)
{
    const rim_loop l = rim_get(w, r);
    double low[3], high[3];

    rim_bounds(w, &l, low, high);
    ROBOT_DEFECT(w->b, w->line,
                 "chamber '%s': its opening from (%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g) mm %s", w->a->name,
                 low[0], low[1], low[2], high[0], high[1], high[2], why);
    rim_advise(w, &l);
    rim_place(w, low, high);
}

// Sums up sizes first; false without memory, after which robot_caps frees what there is.
static bool rim_init(rim_work *w)
{
    pl_actuator *a = w->a;
    const int64_t nodes = a->rim_count > 0 ? a->rim_start[a->rim_count] : 0;

    w->support_of = rim_supports(w->b->robot);
    w->plane = PL_NEW_ARRAY(rim_plane, 3 * (int64_t)w->b->robot->support_count);
    w->label = PL_NEW_ARRAY(int32_t, nodes);

    // a cap for each rim and, at most, one for each of its edges
    a->cap = PL_NEW_ARRAY(pl_cap, a->rim_count + nodes);
    a->cap_node = PL_NEW_ARRAY(int32_t, 3 * nodes);

    return w->support_of && w->plane && w->label && a->cap && a->cap_node;
}

// The volume between a cap and a flat one is not known: refused or reported, relative
// to the chamber's volume at rest.
static void rim_check(rim_work *w)
{
    robot_build *b = w->b;
    const double share = w->uncertain / w->a->rest,
                 wall = pl_mesh_faces_area(b->robot->mesh, w->a->face, w->a->face_count);

    if (share > RIM_UNKNOWN) {
        char why[160];
        snprintf(why, sizeof why, "is not flat: the cap over it could be %.3g %% of the chamber's volume off",
                 fmin(100 * share, 100));
        rim_refuse(w, w->worst, why);
    } else if (w->area > wall) {
        rim_refuse(w, w->widest, "is larger than the wall it opens");
    } else if (w->area > RIM_WIDE * wall) {
        rim_warn_wide(w, wall);
    }

    if (share > RIM_UNCERTAIN && share <= RIM_UNKNOWN) {
        ROBOT_FIND(b, PL_WARNING, w->line,
                   "chamber '%s': an opening is not flat, so that its volume is uncertain by %.2g %%",
                   w->a->name, 100 * share);
        pl_findings_advise(b->findings, "close the opening in the part, or let it end in a plane");
    }
}

// Closes all rims of chamber `a`, which owns the caps, and sets its volume at rest.
pl_status robot_caps(robot_build *b, pl_actuator *a, int line)
{
    rim_work w = {.b = b, .a = a, .line = line};
    pl_functional volume = {0};
    const bool room = rim_init(&w);
    bool good = true;

    if (room) {
        rim_planes(&w);
        for (int r = 0; r < a->rim_count; ++r) {
            const bool closed = rim_close(&w, r);
            rim_note(&w, r);
            if (!closed) {
                rim_refuse(&w, r, "runs through planes that cannot be capped one by one");
            }
            good = good && closed;
        }
    }

    pl_status status = room ? pl_chamber_functional(b->robot->mesh, a, &volume) : PL_NO_MEMORY;
    a->rest = status == PL_OK ? pl_functional_value(&volume, pl_mesh_get(b->robot->mesh).position) : 0;
    pl_functional_clear(&volume);

    if (room && status == PL_OK && good && a->rest > 0) {
        rim_check(&w);
    }
    pl_free(w.support_of);
    pl_free(w.plane);
    pl_free(w.label);

    return status == PL_OK ? PL_OK : robot_memory(b);
}

// Adds the volumes of the caps to h. `corner_of`: numbers of the corners in a linear copy of the mesh, where
// mid nodes do not exist; NULL: the mesh itself.
pl_status pl_chamber_caps(const pl_actuator *a, const int32_t *corner_of, pl_functional *h)
{
    const bool quadratic = a->rim_quadratic && !corner_of;
    const int step = a->rim_quadratic && corner_of ? 2 : 1;
    pl_status status = PL_OK;

    for (int k = 0; status == PL_OK && k < a->cap_count; ++k) {
        const pl_cap *cap = &a->cap[k];
        const int32_t count = (cap->count + step - 1) / step;
        int32_t *node = PL_NEW_ARRAY(int32_t, count);
        for (int32_t j = 0; node && j < count; ++j) {
            const int32_t v = a->cap_node[cap->start + j * step];
            node[j] = corner_of ? corner_of[v] : v;
        }

        if (!node) {
            return PL_NO_MEMORY;
        }
        status = cap->open
                     ? pl_functional_add_arc(h, node, count, quadratic, cap->origin, cap->apex, cap->follows)
                     : pl_functional_add_rim(h, node, count, quadratic, cap->follows[0] ? NULL : cap->apex);
        pl_free(node);
    }

    return status;
}

pl_status pl_chamber_functional(const pl_mesh *mesh, const pl_actuator *a, pl_functional *h)
{
    const pl_status status = pl_functional_add_volume_faces(h, mesh, a->face, a->face_count);
    return status == PL_OK ? pl_chamber_caps(a, NULL, h) : status;
}
