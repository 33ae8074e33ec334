// The content hash of a robot: everything that decides its behaviour, in a fixed order. Structs are hashed
// field by field, padding bytes never. Parts that a robot does not use leave the hash as it is, so that new
// kinds do not change the hashes of older robots. field by field, padding bytes never.
#include "robot/robot_impl.h"

static uint64_t hash_real(uint64_t h, const double *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const double value = x[i] == 0 ? 0 : x[i]; // -0 and 0 are one number
        h = pl_hash_bytes(h, &value, sizeof value);
    }

    return h;
}

static uint64_t hash_whole(uint64_t h, int64_t value)
{
    return pl_hash_bytes(h, &value, sizeof value);
}

// With its end, so that "ab", "c" and "a", "bc" differ.
static uint64_t hash_text(uint64_t h, const char *text)
{
    return pl_hash_bytes(h, text, strlen(text) + 1);
}

static uint64_t hash_nodes(uint64_t h, const int32_t *node, int64_t count)
{
    return pl_hash_bytes(hash_whole(h, count), node, (size_t)count * sizeof *node);
}

static uint64_t hash_faces(uint64_t h, const int64_t *face, int64_t count)
{
    return pl_hash_bytes(hash_whole(h, count), face, (size_t)count * sizeof *face);
}

static uint64_t hash_point(uint64_t h, const pl_point *p)
{
    h = hash_nodes(h, p->node, p->count);
    h = hash_real(h, p->weight, (size_t)p->count);
    return hash_real(h, p->rest, 3);
}

static uint64_t hash_mesh(uint64_t h, const pl_mesh *mesh)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    h = hash_real(hash_whole(h, v.vertex_count), v.position, 3 * (size_t)v.vertex_count);
    h = pl_hash_bytes(hash_whole(h, v.element_count), v.kind, (size_t)v.element_count);
    h = hash_nodes(h, v.node, v.node_start[v.element_count]);
    h = hash_nodes(h, v.region, v.element_count);
    for (int32_t r = 0; r < v.region_count; ++r) {
        h = hash_text(h, v.region_name[r]);
    }

    return h;
}

static uint64_t hash_material(uint64_t h, const pl_material *m)
{
    const double constants[] = {m->young, m->poisson, m->c10, m->c01, m->c20, m->c30, m->bulk, m->density};
    h = hash_whole(hash_whole(h, m->model), m->formulation);
    h = hash_real(h, constants, PL_COUNT(constants));

    // constants of few laws, where the law takes them
    static const pl_material_constant further[] = {PL_MU,     PL_JM,     PL_MU1, PL_MU2, PL_MU3,  PL_ALPHA1,
                                                   PL_ALPHA2, PL_ALPHA3, PL_K1,  PL_K2,  PL_KAPPA};
    pl_material copy = *m;

    for (int i = 0; i < PL_COUNT(further); ++i) {
        if (pl_material_has(m->model, further[i])) {
            h = hash_real(h, pl_material_at(&copy, further[i]), 1);
        }
    }

    h = hash_real(h, &m->fibre[0][0], 3 * (size_t)m->fibre_count);
    if (m->prony_count > 0) {
        h = hash_real(hash_real(h, m->prony_g, m->prony_count), m->prony_tau, m->prony_count);
    }
    if (m->mullins_r > 0) {
        const double softening[] = {m->mullins_r, m->mullins_m, m->mullins_beta};
        h = hash_real(h, softening, PL_COUNT(softening));
    }

    return h;
}

static uint64_t hash_actuator(uint64_t h, const pl_actuator *a)
{
    const double numbers[] = {a->range[0],  a->range[1],     a->line_volume, a->ambient,
                              a->thickness, a->permittivity, a->rest,        a->factor};
    const int64_t flags[] = {a->kind,    a->drive,       a->has_range, a->idle_hold, a->liquid,
                             a->command, a->guide_count, a->rim_count, a->one_sided};

    h = hash_real(hash_text(h, a->name), numbers, PL_COUNT(numbers));
    h = pl_hash_bytes(h, flags, sizeof flags);
    h = hash_faces(h, a->face, a->face_count);

    if (a->growth || a->table.count > 0) {
        h = hash_whole(hash_whole(h, a->growth), a->region);
        h = hash_real(h, a->table_block, 2 * (size_t)a->table.count);
        h = hash_real(h, &a->modulus, 1);
    }

    if (a->friction > 0) {
        h = hash_real(h, &a->friction, 1);
    }
    if (a->magnet >= 0) {
        h = hash_real(hash_real(hash_whole(h, a->magnet), a->remanence, 3), a->direction, 3);
    }
    if (a->fill_count > 0) {
        h = hash_nodes(h, a->fill_tet, 4 * (int64_t)a->fill_count);
        h = hash_real(h, a->fill_position, (size_t)a->fill_vertex_count * 3);
    }

    h = hash_nodes(h, a->rim_node, a->rim_count > 0 ? a->rim_start[a->rim_count] : 0);
    for (int g = 0; g < a->guide_count; ++g) {
        h = hash_point(h, &a->guide[g]);
    }

    return h;
}

static uint64_t hash_supports(uint64_t h, const pl_robot *robot)
{
    for (int i = 0; i < robot->support_count; ++i) {
        const pl_support *s = &robot->support[i];
        h = hash_nodes(h, s->node, s->node_count);
        for (int k = 0; k < 3; ++k) {
            h = hash_whole(h, s->axis[k]);
        }
        h = hash_real(h, s->move, 3);
        h = hash_real(h, s->rotate, 3);
        h = hash_real(h, s->about, 3);
    }

    for (int i = 0; i < robot->rigid_count; ++i) {
        h = hash_nodes(h, robot->rigid[i].node, robot->rigid[i].node_count);
    }
    return h;
}

// Markers, sensors, loads, springs, layers, fibres and contact.
static uint64_t hash_readings(uint64_t h, const pl_robot *robot)
{
    for (int i = 0; i < robot->marker_count; ++i) {
        const pl_marker *m = &robot->marker[i];
        h = hash_point(hash_text(h, m->name), &m->point);
        h = hash_point(h, &m->patch);
        h = hash_real(h, m->offset, 3);
    }

    for (int i = 0; i < robot->sensor_count; ++i) {
        const pl_sensor *s = &robot->sensor[i];
        h = hash_whole(hash_whole(hash_text(h, s->name), s->kind), s->actuator);
        for (int g = 0; g < s->guide_count; ++g) {
            h = hash_point(h, &s->guide[g]);
        }
    }

    for (int i = 0; i < robot->force_count; ++i) {
        h = hash_whole(h, robot->force[i].marker);
        h = hash_real(h, robot->force[i].force, 3);
        h = hash_real(h, robot->force[i].moment, 3);
    }

    for (int i = 0; i < robot->pressure_count; ++i) {
        h = hash_faces(h, robot->pressure[i].face, robot->pressure[i].face_count);
        h = hash_real(h, &robot->pressure[i].pressure, 1);
    }

    for (int i = 0; i < robot->spring_count; ++i) {
        const pl_spring *s = &robot->spring[i];
        const double number[] = {s->point[0], s->point[1], s->point[2], s->stiffness, s->rest};
        h = hash_whole(hash_whole(hash_whole(hash_text(h, s->name), s->from), s->to), s->tension_only);
        h = hash_real(h, number, PL_COUNT(number));
    }

    for (int i = 0; i < robot->layer_count; ++i) {
        const pl_layer *l = &robot->layer[i];
        const double number[] = {l->thickness, l->offset, l->wrinkle, l->prestretch};
        h = hash_faces(hash_whole(hash_whole(hash_text(h, l->name), l->material), l->bending), l->face,
                       l->face_count);
        h = hash_real(h, number, PL_COUNT(number));
    }

    for (int i = 0; i < robot->fibre_count; ++i) {
        const pl_fibre *f = &robot->fibre[i];
        h = hash_real(hash_whole(hash_text(h, f->name), f->tension_only), &f->stiffness, 1);
        h = hash_real(h, &f->prestretch, 1);

        for (int k = 0; k < f->step_count; ++k) {
            const pl_fibre_step *s = &f->step[k];
            const double number[] = {s->xi[0],        s->xi[1],        s->direction[0],
                                     s->direction[1], s->direction[2], s->length};
            h = hash_real(hash_faces(h, &s->face, 1), number, PL_COUNT(number));
        }
    }

    return robot_contact_hash(&robot->contact, h);
}

// Order and content are fixed: stored results are found by it.
uint64_t robot_hash(const pl_robot *robot)
{
    uint64_t h = hash_mesh(PL_HASH_SEED, robot->mesh);
    for (int i = 0; i < robot->material_count; ++i) {
        h = hash_material(h, &robot->material[i]);
    }
    h = hash_nodes(h, robot->region_material, pl_mesh_get(robot->mesh).region_count);
    for (int32_t r = 0; r < 2 * pl_mesh_get(robot->mesh).region_count; ++r) {
        h = robot->region_rest[r] != 1 ? hash_real(hash_whole(h, r), &robot->region_rest[r], 1) : h;
    }
    h = hash_real(h, robot->gravity, 3);
    h = hash_supports(h, robot);
    for (int i = 0; i < robot->actuator_count; ++i) {
        h = hash_actuator(h, &robot->actuator[i]);
    }
    for (int i = 0; i < robot->command_count; ++i) {
        h = hash_text(h, robot->command[i].name);
        h = hash_real(h, robot->command[i].range, 2);
    }

    return hash_readings(h, robot);
}
