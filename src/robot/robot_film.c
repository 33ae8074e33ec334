// Films between compliant electrodes: the elements between the electrodes, and the integrals over them.
//
// A film given by a region is its prisms. One given by a surface and a thickness is what lies below the
// surface to that depth: elements, where those whose nodes are no deeper fill the film (a body one film
// thick, or a layer meshed as such). Otherwise the film is thinner than the elements: a coating on its faces.
#include "element/element.h"
#include "robot/robot_impl.h"

#define FILM_DEPTH 1e-3  // of the thickness: how much deeper a node may lie
#define FILM_FILLED 0.05 // of area times thickness: how much the volume of a film's elements may differ

// The surface of a film as flat triangles, with a tree for nearest points.
typedef struct film_surface {
    pl_trisurf flat;
    pl_trisurf_tree tree;
} film_surface;

static void film_surface_clear(film_surface *s)
{
    pl_trisurf_tree_clear(&s->tree);
    pl_free(s->flat.corner);
}

// The faces of film `a`; clear it also after a failure.
static pl_status film_surface_init(const pl_mesh *mesh, const pl_actuator *a, film_surface *s)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_error err;

    *s = (film_surface){.flat = {.vertex_count = v.vertex_count, .position = (double *)v.position}};
    s->flat.corner = PL_NEW_ARRAY(int32_t, 3 * PL_FACE_TRIANGLES_MAX * a->face_count);
    if (!s->flat.corner) {
        return PL_NO_MEMORY;
    }

    for (int64_t f = 0; f < a->face_count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*triangle)[3];
        const int n = pl_mesh_face_nodes(mesh, a->face[f], node), count = pl_face_triangles(n, &triangle);

        for (int t = 0; t < count; ++t, ++s->flat.triangle_count) {
            for (int i = 0; i < 3; ++i) {
                s->flat.corner[3 * (int64_t)s->flat.triangle_count + i] = node[triangle[t][i]];
            }
        }
    }

    return pl_trisurf_tree_init(&s->tree, &s->flat, &err);
}

// One quadrature point of an element: its place, weight, and the derivatives of the shape functions.
typedef struct film_place {
    double X[3], weight, gradient[3 * PL_ELEMENT_NODES_MAX], normal[3]; // normal: of a prism's triangles
} film_place;

// With M = dX/dxi and C its cofactor matrix: weight = w det M, dN/dX_j = (dN/dxi . C_j) / det
// M. Returns the number of points.
static int film_places(const pl_mesh_view *v, int32_t e, film_place *out)
{
    double xi[PL_POINTS_MAX][3], weight[PL_POINTS_MAX];
    const pl_element_kind kind = (pl_element_kind)v->kind[e];
    const int32_t *node = v->node + v->node_start[e];
    const int n = (int)(v->node_start[e + 1] - v->node_start[e]), count = pl_element_rule(kind, xi, weight);

    for (int q = 0; q < count; ++q) {
        film_place *p = &out[q];
        double N[PL_ELEMENT_NODES_MAX], dN[3 * PL_ELEMENT_NODES_MAX], M[9] = {0}, C[9];
        *p = (film_place){0};
        pl_shape_eval(kind, xi[q], N, dN);

        for (int a = 0; a < n; ++a) {
            const double *X = v->position + 3 * (int64_t)node[a];
            for (int i = 0; i < 3; ++i) {
                p->X[i] += N[a] * X[i];
                for (int j = 0; j < 3; ++j) {
                    M[3 * i + j] += X[i] * dN[3 * a + j];
                }
            }
        }

        // columns 0 and 1 of M are the tangents of a prism's triangles
        pl_cofactor3(M, C);
        const double det = pl_dot3(M, C), t1[3] = {M[0], M[3], M[6]}, t2[3] = {M[1], M[4], M[7]};
        p->weight = weight[q] * det;
        pl_cross3(t1, t2, p->normal);

        for (int a = 0; a < n; ++a) {
            for (int j = 0; j < 3; ++j) {
                p->gradient[3 * a + j] = pl_dot3(dN + 3 * a, C + 3 * j) / det;
            }
        }
    }

    return count;
}

// mm^3
static double film_element_volume(const pl_mesh_view *v, int32_t e)
{
    film_place place[PL_POINTS_MAX];
    double sum = 0;
    for (int q = 0, count = film_places(v, e, place); q < count; ++q) {
        sum += place[q].weight;
    }
    return sum;
}

// Replaces derivatives along x, y, z by those along two axes normal to `direction` and along itself.
static void film_axes(const double direction[3], int nodes, double *gradient)
{
    double axis[3][3];
    const double length = pl_norm3(direction);
    int least = 0;

    for (int i = 0; i < 3; ++i) {
        axis[2][i] = direction[i] / length;
        least = fabs(direction[i]) < fabs(direction[least]) ? i : least;
    }

    // a second axis that is not parallel
    const double other[3] = {least == 0, least == 1, least == 2};
    pl_cross3(axis[2], other, axis[0]);
    const double width = pl_norm3(axis[0]);
    for (int i = 0; i < 3; ++i) {
        axis[0][i] /= width;
    }
    pl_cross3(axis[2], axis[0], axis[1]);

    for (int a = 0; a < nodes; ++a) {
        double *g = gradient + 3 * a;
        const double along[3] = {pl_dot3(g, axis[0]), pl_dot3(g, axis[1]), pl_dot3(g, axis[2])};
        memcpy(g, along, sizeof along);
    }
}

// Adds element e to h. The normal of the film is that of the prism or points to
// the nearest place of `surface`.
static pl_status film_add_element(const pl_mesh_view *v, int32_t e, const film_surface *surface,
                                  pl_film_kind kind, double scale, pl_functional *h)
{
    film_place place[PL_POINTS_MAX];
    double weight[PL_POINTS_MAX], gradient[3 * PL_POINTS_MAX * PL_ELEMENT_NODES_MAX];
    const int n = (int)(v->node_start[e + 1] - v->node_start[e]), count = film_places(v, e, place);

    for (int q = 0; q < count; ++q) {
        film_place *p = &place[q];
        if (surface) {
            double near[3];
            pl_trisurf_tree_nearest(&surface->tree, p->X, near);
            pl_sub3(near, p->X, p->normal);
        }

        film_axes(p->normal, n, p->gradient);
        weight[q] = scale * p->weight;
        memcpy(gradient + (int64_t)3 * n * q, p->gradient, 3 * (size_t)n * sizeof *gradient);
    }

    return pl_functional_add_film(h, kind, n, v->node + v->node_start[e], count, weight, gradient);
}

// A face of a coating. With T1, T2 its tangents, e1 along T1 and e2 normal to it in the face:
// dN/de1 = N_xi / |T1|, dN/de2 = (N_eta - (T2 . e1) dN/de1) / |T2 - (T2 . e1) e1|.
static pl_status film_add_face(const pl_mesh *mesh, int64_t face, double thickness, pl_functional *h)
{
    const double *X = pl_mesh_get(mesh).position;
    int32_t node[PL_FACE_NODES_MAX];
    double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX],
        gradient[3 * PL_FACE_POINTS_MAX * PL_FACE_NODES_MAX];
    int count;
    const int n = pl_mesh_face_nodes(mesh, face, node);

    pl_face_quadrature(n, &count, xi, weight);
    for (int q = 0; q < count; ++q) {
        double dN[2 * PL_FACE_NODES_MAX], T1[3] = {0}, T2[3] = {0}, cross[3];
        pl_face_shape_eval(n, xi[q], NULL, dN);

        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 3; ++i) {
                T1[i] += dN[2 * a] * X[3 * (int64_t)node[a] + i];
                T2[i] += dN[2 * a + 1] * X[3 * (int64_t)node[a] + i];
            }
        }

        pl_cross3(T1, T2, cross);
        const double length = pl_norm3(T1), slant = pl_dot3(T1, T2) / length,
                     width = pl_norm3(cross) / length;
        weight[q] *= length * width * thickness;

        for (int a = 0; a < n; ++a) {
            double *g = gradient + 3 * (n * q + a);
            g[0] = dN[2 * a] / length;
            g[1] = (dN[2 * a + 1] - slant * g[0]) / width;
            g[2] = 0;
        }
    }

    return pl_functional_add_film(h, PL_FILM_CHARGE_FACE, n, node, count, weight, gradient);
}

// The area of a film (PL_FILM_AREA) or its charge per voltage; a film without
// elements is a coating on its faces.
pl_status pl_film_functional(const pl_mesh *mesh, const pl_actuator *a, pl_film_kind kind, pl_functional *h)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_status status = PL_OK;

    // a coating: faces only
    if (a->film_count == 0 && kind == PL_FILM_AREA) {
        return pl_functional_add_area_faces(h, mesh, a->face, a->face_count);
    }
    for (int64_t f = 0; a->film_count == 0 && status == PL_OK && f < a->face_count; ++f) {
        status = film_add_face(mesh, a->face[f], a->thickness, h);
    }
    if (a->film_count == 0) {
        return status;
    }

    // the area of a film is that of its faces, averaged through its thickness
    double volume = 0;
    for (int32_t k = 0; k < a->film_count; ++k) {
        volume += film_element_volume(&v, a->film[k]);
    }

    film_surface surface = {0};
    status = a->film_below ? film_surface_init(mesh, a, &surface) : PL_OK;
    for (int32_t k = 0; status == PL_OK && k < a->film_count; ++k) {
        status = film_add_element(&v, a->film[k], a->film_below ? &surface : NULL, kind,
                                  kind == PL_FILM_AREA ? a->rest / volume : 1, h);
    }

    film_surface_clear(&surface);

    return status;
}

// ---- which elements
// Those of a surface's film; keeps them only where they fill it. Both faces of a film as its surface would
// load it twice.
static pl_status film_below(robot_build *b, const pl_actuator_def *def, pl_actuator *a)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    film_surface surface;
    bool *deep = PL_NEW_ARRAY(bool, v.vertex_count);
    pl_status status = film_surface_init(b->robot->mesh, a, &surface);
    double volume = 0, area[3] = {0}, near[3];

    if (status == PL_OK && deep) {
        // nodes deeper than the film
        for (int32_t i = 0; i < v.vertex_count; ++i) {
            deep[i] = pl_trisurf_tree_nearest(&surface.tree, v.position + 3 * (int64_t)i, near) >
                      (1 + FILM_DEPTH) * a->thickness;
        }

        // elements all of whose nodes belong to it
        for (int32_t e = 0; e < v.element_count; ++e) {
            bool inside = true;
            for (int64_t k = v.node_start[e]; k < v.node_start[e + 1]; ++k) {
                inside = inside && !deep[v.node[k]];
            }
            if (inside) {
                a->film[a->film_count++] = e;
                volume += film_element_volume(&v, e);
            }
        }

        // the vector area, near 0 where two faces look in opposite directions
        for (int32_t t = 0; t < surface.flat.triangle_count; ++t) {
            const int32_t *c = surface.flat.corner + 3 * (int64_t)t;
            double p[3], q[3], n[3];
            pl_sub3(v.position + 3 * (int64_t)c[1], v.position + 3 * (int64_t)c[0], p);
            pl_sub3(v.position + 3 * (int64_t)c[2], v.position + 3 * (int64_t)c[0], q);
            pl_cross3(p, q, n);
            for (int i = 0; i < 3; ++i) {
                area[i] += n[i] / 2;
            }
        }
    }

    film_surface_clear(&surface);
    const bool memory = status == PL_OK && deep;
    pl_free(deep);
    if (!memory) {
        return robot_memory(b);
    }

    // half the volume below a surface that faces both ways: both faces were given
    const double whole = a->rest * a->thickness;
    if (fabs(2 * volume - whole) <= FILM_FILLED * whole && pl_norm3(area) <= FILM_FILLED * a->rest) {
        ROBOT_DEFECT(b, def->line,
                     "film '%s': its surface is both faces of a layer %g mm thick, which would load it twice",
                     def->name, a->thickness);
        pl_findings_advise(b->findings, "give one of its two faces as the surface");
    }

    a->film_below = fabs(volume - whole) <= FILM_FILLED * whole;
    a->film_count = a->film_below ? a->film_count : 0;

    return PL_OK;
}

// An area that is prescribed on one face only bends what lies below it.
static void film_warn_face(robot_build *b, const pl_actuator_def *def, const pl_actuator *a)
{
    ROBOT_FIND(
        b, PL_WARNING, def->line,
        "film '%s': its area is prescribed on the surface only: it acts as a coating, which bends what "
        "lies below",
        def->name);
    if (a->thickness > 0) {
        pl_findings_advise(
            b->findings,
            "the elements below the surface do not fill a film of %g mm: give the thickness of "
            "the body there, or mesh the film as a layer of its own",
            a->thickness);
    } else {
        pl_findings_advise(b->findings, "for a film that is stretched through its whole thickness, give "
                                        "that, e.g. thickness: 1");
    }
}

// Needs the faces of the film. An area that grows is material, not a film between electrodes.
pl_status robot_film(robot_build *b, const pl_actuator_def *def, pl_actuator *a)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    a->rest = pl_mesh_faces_area(b->robot->mesh, a->face, a->face_count);
    a->film = PL_NEW_ARRAY(int32_t, v.element_count);
    if (!a->film) {
        return robot_memory(b);
    }

    // by a surface and a thickness
    if (!def->region) {
        const pl_status status = a->thickness > 0 && !def->growth ? film_below(b, def, a) : PL_OK;
        if (status == PL_OK && def->drive == PL_DRIVE_AREA_RATIO && !def->growth && a->film_count == 0) {
            film_warn_face(b, def, a);
        }
        return status;
    }

    // by a region: its prisms, whose thickness should agree with the one given
    const int32_t region = pl_mesh_find_region(b->robot->mesh, def->region);
    double volume = 0;
    for (int32_t e = 0; e < v.element_count; ++e) {
        if (v.region[e] == region && !pl_element_is_tet(v.kind[e])) {
            a->film[a->film_count++] = e;
            volume += film_element_volume(&v, e);
        }
    }

    if (a->thickness > 0 && fabs(volume / (a->rest * a->thickness) - 1) > FILM_FILLED) {
        ROBOT_FIND(
            b, PL_WARNING, def->line,
            "film '%s': its thickness is %g mm, but its elements are %.4g mm thick: the field is that of "
            "the thickness given, in elements of another",
            def->name, a->thickness, volume / a->rest);
    }

    return PL_OK;
}
