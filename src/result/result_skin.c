// The boundary of a body as triangles in parts.
#include "result/result_skin.h"
#include "result/result_blocks.h"
#include "robot/robot_kind.h"

#define SKIN_SMOOTH 0.8 // cosine of the angle below which neighbouring triangles share a vertex

static bool skin_allocate(result_skin *s, const int64_t *face, int64_t faces, int part_count)
{
    int64_t triangles = 0;
    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*split)[3];
        triangles += pl_face_triangles(pl_mesh_face_nodes(s->body, face[f], node), &split);
    }

    s->triangle = PL_NEW_ARRAY(int32_t, 3 * triangles);
    s->region = PL_NEW_ARRAY(int32_t, triangles);
    s->vertex = PL_NEW_ARRAY(int32_t, 3 * triangles);
    s->part = PL_NEW_ARRAY(result_skin_part, part_count);

    return s->triangle && s->region && s->vertex && s->part;
}

// The triangles of the faces that belong to one part, with the vertices of the body as corners.
static void skin_take(result_skin *s, const char *name, const int64_t *face, int64_t faces,
                      const uint8_t *owner, int who)
{
    result_skin_part *part = &s->part[s->part_count];
    const pl_mesh_view v = pl_mesh_get(s->body);

    *part = (result_skin_part){.name = name, .triangle_start = s->triangle_count};
    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*split)[3];
        if (owner[f] != who) {
            continue;
        }
        const int parts = pl_face_triangles(pl_mesh_face_nodes(s->body, face[f], node), &split);

        for (int t = 0; t < parts; ++t) {
            for (int a = 0; a < 3; ++a) {
                s->triangle[3 * (int64_t)s->triangle_count + a] = node[split[t][a]];
            }
            s->region[s->triangle_count++] = v.region[face[f] / 8];
        }
    }

    part->triangle_end = s->triangle_count;
    s->part_count += part->triangle_end > part->triangle_start;
}

// The normal of a triangle in the undeformed shape.
static void skin_normal(const result_skin *s, const double *x, int32_t t, double n[3])
{
    const int32_t *c = s->triangle + 3 * (int64_t)t;
    double u[3], w[3];

    for (int i = 0; i < 3; ++i) {
        u[i] = x[3 * (int64_t)c[1] + i] - x[3 * (int64_t)c[0] + i];
        w[i] = x[3 * (int64_t)c[2] + i] - x[3 * (int64_t)c[0] + i];
    }

    n[0] = u[1] * w[2] - u[2] * w[1];
    n[1] = u[2] * w[0] - u[0] * w[2];
    n[2] = u[0] * w[1] - u[1] * w[0];
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; length > 0 && i < 3; ++i) {
        n[i] /= length;
    }
}

// Gives the corners numbers of their own. Around a vertex, triangles of about the same orientation (and
// belong to one part and region) share one; `next` chains those of a vertex of the body.
static bool skin_number(result_skin *s, bool split)
{
    const pl_mesh_view v = pl_mesh_get(s->body);
    int32_t *first = PL_NEW_ARRAY(int32_t, v.vertex_count),
            *next = PL_NEW_ARRAY(int32_t, 3 * (int64_t)s->triangle_count),
            *mark = PL_NEW_ARRAY(int32_t, 3 * (int64_t)s->triangle_count);
    double *normal = PL_NEW_ARRAY(double, 3 * 3 * (int64_t)s->triangle_count);
    const bool good = first && next && mark && normal;

    for (int p = 0; good && p < s->part_count; ++p) {
        result_skin_part *part = &s->part[p];
        part->vertex_start = split ? s->vertex_count : 0;

        for (int32_t t = part->triangle_start; t < part->triangle_end; ++t) {
            double n[3];
            skin_normal(s, v.position, t, n);
            const int32_t key = split ? p * v.region_count + s->region[t] : 0;
            int32_t fresh[3];

            // the number that a neighbour of the same orientation gave to this vertex, or a new one
            for (int a = 0; a < 3; ++a) {
                const int32_t body = s->triangle[3 * (int64_t)t + a];
                int32_t k = first[body]; // numbers from 1 on
                while (k > 0 && split) {
                    const double *m = normal + 3 * (int64_t)(k - 1);
                    if (mark[k - 1] == key && n[0] * m[0] + n[1] * m[1] + n[2] * m[2] > SKIN_SMOOTH) {
                        break;
                    }
                    k = next[k - 1];
                }

                if (k == 0) {
                    k = s->vertex_count + 1;
                    s->vertex[s->vertex_count] = body;
                    mark[s->vertex_count] = key;
                    memcpy(normal + 3 * (int64_t)s->vertex_count++, n, sizeof n);
                    next[k - 1] = first[body];
                    first[body] = k;
                }

                fresh[a] = k - 1;
            }

            memcpy(s->triangle + 3 * (int64_t)t, fresh, sizeof fresh);
        }

        part->vertex_end = s->vertex_count;
    }

    // parts that are not split share all numbers
    for (int p = 0; good && !split && p < s->part_count; ++p) {
        s->part[p].vertex_end = s->vertex_count;
    }
    pl_free(first);
    pl_free(next);
    pl_free(mark);
    pl_free(normal);

    return good;
}

// Which chamber a face of the boundary belongs to, from 1 on; 0: none.
static bool skin_owners(const result_skin *s, pl_model *model, const int64_t *face, int64_t faces,
                        uint8_t *owner)
{
    const pl_model_info info = pl_model_get_info(model);
    const pl_robot *robot = pl_model_robot(model);
    const int64_t sides = 8 * (int64_t)pl_mesh_get(s->body).element_count;
    uint8_t *of = PL_NEW_ARRAY(uint8_t, sides);

    for (int a = 0; of && robot && a < info.actuator_count && a < 255; ++a) {
        const int64_t *wall = NULL;
        const int64_t count = pl_actuator_traits_get(info.actuator[a].kind)->encloses
                                  ? pl_robot_actuator_faces(robot, a, &wall)
                                  : 0;
        for (int64_t f = 0; f < count; ++f) {
            of[wall[f]] = (uint8_t)(a + 1);
        }
    }

    for (int64_t f = 0; of && f < faces; ++f) {
        owner[f] = of[face[f]];
    }

    const bool good = of != NULL;
    pl_free(of);

    return good;
}

pl_status result_skin_build(result_skin *s, pl_model *model, const pl_mesh *body, bool split, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(body, &face);

    *s = (result_skin){.body = body};
    uint8_t *owner = PL_NEW_ARRAY(uint8_t, faces);
    bool good = owner && skin_allocate(s, face, faces, 1 + info.actuator_count);
    good = good && skin_owners(s, model, face, faces, owner);
    for (int a = 0; good && a <= info.actuator_count && a < 256; ++a) {
        skin_take(s, a == 0 ? "body" : info.actuator[a - 1].name, face, faces, owner, a);
    }
    good = good && skin_number(s, split);
    pl_free(owner);
    if (!good) {
        result_skin_clear(s);
        return pl_fail_memory(err, "surface");
    }

    return PL_OK;
}

void result_skin_clear(result_skin *s)
{
    pl_free(s->vertex);
    pl_free(s->triangle);
    pl_free(s->region);
    pl_free(s->part);
    *s = (result_skin){0};
}

pl_status result_skin_check(pl_model *model, pl_field color, const char *path, pl_error *err)
{
    if (color == PL_FIELD_COUNT) {
        return PL_OK;
    }
    if (color > PL_FIELD_COUNT || pl_field_on_elements(color) || pl_field_components(color) == 6) {
        return pl_fail(err, PL_BAD_INPUT, "%s: surfaces are not coloured by %s", path, pl_field_name(color));
    }
    if (!(pl_model_get_info(model).fields & (1u << color))) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the model does not have the field %s", path,
                       pl_field_name(color));
    }

    return PL_OK;
}

pl_status result_skin_values(pl_model *model, const pl_mesh *body, pl_field color, double **out,
                             pl_error *err)
{
    *out = NULL;
    if (color == PL_FIELD_COUNT) {
        return PL_OK;
    }

    const pl_status status = result_field_take(model, body, color, out, err);
    const int parts = pl_field_components(color);
    for (int32_t v = 0; status == PL_OK && parts == 3 && v < pl_mesh_get(body).vertex_count; ++v) {
        const double *f = *out + 3 * (int64_t)v;
        (*out)[v] = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    }

    return status;
}
