// Bodies that overlap as they are drawn: contact between bodies keeps them apart, it does not take them out
// of each other. A little overlap is a preload, which contact pushes out; a body that stands in another one
// is a defect.
#include "contact/contact.h"
#include "mesh/mesh.h"
#include "robot/robot_impl.h"

// What the search through both kinds of points shares.
typedef struct overlap {
    const pl_robot_contact *c;
    pl_mesh_view v;
    double least; // mm: less is round-off
    double depth, limit, place[3];
    int body[2]; // whose point it is, and in whose material it lies; -1: no overlap found
} overlap;

// Distance (mm) of a point from the faces of a body, with the mean edge of the nearest face. Faces are split
// into triangles between their corners.
static double overlap_depth(const overlap *o, int body, const double p[3], double *edge)
{
    const pl_contact_surface *s = o->c->surface;
    double best = INFINITY;

    for (int32_t f = 0; f < s->face_count; ++f) {
        const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)f;
        const int corners = s->size[f] == 3 || s->size[f] == 6 ? 3 : 4;
        for (int k = 2; s->group[f] == body && k < corners; ++k) {
            const double *x = o->v.position;
            double weight[3];
            const double d2 = pl_triangle_nearest(p, x + 3 * (size_t)node[0], x + 3 * (size_t)node[k - 1],
                                                  x + 3 * (size_t)node[k], weight);
            if (d2 < best) {
                best = d2;
                *edge = s->edge[f];
            }
        }
    }

    return sqrt(best);
}

// Keeps the deepest place, in units of what is accepted there. Few points are inside of another body: only
// for these the distance is computed.
static void overlap_look(overlap *o, const pl_mesh *mesh, const double p[3], int body)
{
    pl_embedding in;
    if (pl_mesh_embed(mesh, p, &in, NULL) != PL_OK || in.distance > 0) {
        return;
    }
    const int other = o->c->region_body[o->v.region[in.element]];
    if (other == body || other < 0) {
        return;
    }

    double edge = 0;
    const double depth = overlap_depth(o, other, p, &edge), limit = ROBOT_PRELOAD * edge;
    if (depth > o->least && isfinite(depth) && (o->body[0] < 0 || depth * o->limit > o->depth * limit)) {
        o->depth = depth;
        o->limit = limit;
        o->body[0] = body;
        o->body[1] = other;
        memcpy(o->place, p, sizeof o->place);
    }
}

void robot_check_bodies(robot_build *b, const pl_robot_contact *c)
{
    const pl_mesh *mesh = b->robot->mesh;
    overlap o = {.c = c, .v = pl_mesh_get(mesh), .least = 1e-6 * b->size, .body = {-1, -1}};

    // until one is too deep
    for (int32_t p = 0; p < c->surface->point_count && !(o.depth > o.limit); ++p) {
        double at[3];
        pl_contact_point_at(c->surface, p, o.v.position, at);
        overlap_look(&o, mesh, at, c->surface->group[c->surface->home[p]]);
    }

    // where surfaces coincide only centres of elements are inside
    for (int32_t e = 0; e < o.v.element_count && !(o.depth > o.limit); ++e) {
        const int body = c->region_body[o.v.region[e]];
        const int corners = pl_element_corner_count((pl_element_kind)o.v.kind[e]);
        const int32_t *node = o.v.node + o.v.node_start[e];
        double at[3] = {0};
        for (int k = 0; k < corners; ++k) {
            for (int i = 0; i < 3; ++i) {
                at[i] += o.v.position[3 * (size_t)node[k] + (size_t)i] / corners;
            }
        }
        if (body >= 0) {
            overlap_look(&o, mesh, at, body);
        }
    }

    if (o.body[0] < 0) {
        return;
    }
    const bool inside = o.depth > o.limit;
    ROBOT_FIND(b, inside ? PL_DEFECT : PL_WARNING, b->def->body[o.body[0]].line,
               "bodies '%s' and '%s' overlap by %.3g mm at (%.4g, %.4g, %.4g)%s", c->body_name[o.body[0]],
               c->body_name[o.body[1]], o.depth, pl_tidy(o.place[0]), pl_tidy(o.place[1]),
               pl_tidy(o.place[2]), inside ? ": one stands in the other" : "");
    pl_findings_advise(b->findings,
                       "move one of them (`pose`): contact keeps bodies apart, but does not take "
                       "them out of each other");
}
