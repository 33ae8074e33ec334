// A second family of random robots (metamorphic_robot.h has the first): regions that grow, films that grow,
// magnets, gas in a cavity, tendons with friction, moving clamps, materials with fibres, springs, fibres on
// faces, rigid ends, prestressed regions. Everything follows from one seed.
#ifndef PL_METAMORPHIC_MORE_H
#define PL_METAMORPHIC_MORE_H

#include "metamorphic_robot.h"

typedef enum more_kind {
    MORE_CORE,
    MORE_SKIN,
    MORE_MAGNET,
    MORE_GAS,
    MORE_TENDON,
    MORE_CLAMP,
    MORE_KINDS
} more_kind;

// A material whose fibres are its own mirror image at y = 0 where the robot is.
static inline pl_material more_tissue(const meta_robot *m, pl_random *r)
{
    pl_material t = {.model = PL_HGO,
                     .c10 = 0.5 * m->mu,
                     .k1 = meta_uniform(r, 0.1, 1) * m->mu,
                     .k2 = meta_uniform(r, 0.2, 2),
                     .kappa = meta_chance(r, 0.5) ? 0 : meta_uniform(r, 0, 0.3),
                     .poisson = meta_uniform(r, 0.4, 0.49),
                     .density = 1.1e-9,
                     .fibre_count = 1 + meta_pick(r, 2)};
    const double y = meta_uniform(r, 0.2, 1), z = meta_uniform(r, -0.5, 0.5);

    for (int i = 0; i < t.fibre_count; ++i) {
        const double side = t.fibre_count == 1 && m->symmetric ? 0 : i ? -y : y;
        memcpy(t.fibre[i], (double[3]){1, side, z}, sizeof t.fibre[i]);
    }

    return t;
}

// Its region grows between two and thirty percent in volume, or shrinks; a film in area.
static inline void more_growth(meta_robot *m, pl_random *r, bool skin)
{
    const double ratio =
        meta_chance(r, 0.7) ? meta_uniform(r, 1.02, skin ? 1.1 : 1.3) : meta_uniform(r, 0.9, 0.98);
    pl_actuator_def *a = meta_actuator(m, skin ? "skin" : "core", skin ? PL_FILM : PL_CHAMBER,
                                       skin ? PL_DRIVE_AREA_RATIO : PL_DRIVE_VOLUME_RATIO, ratio);
    a->region = "second";
    a->growth = true;
    if (!skin && meta_chance(r, 0.4)) { // elements of the actuator, not of the robot
        a->modulus = meta_uniform(r, 1, 10) * m->mu;
        m->def.region_count = 1;
    }
    meta_say(m, "growth");
}

// The end of the body is hard-magnetic; the field bends it by a moment of 0.03 to 0.2 of mu times the
// section.
static inline void more_magnet(meta_robot *m, pl_random *r)
{
    const double mu0 = 1.25663706212e-12, remanence = meta_uniform(r, 0.03, 0.2) * 1e-6;
    const double stress = meta_uniform(r, 0.03, 0.2) * m->mu;
    pl_actuator_def *a = meta_actuator(m, "coil", PL_MAGNET, PL_DRIVE_FIELD,
                                       (meta_chance(r, 0.5) ? 1 : -1) * stress * mu0 / remanence);

    a->region = "second";
    a->remanence[0] = remanence * meta_uniform(r, 0.5, 1);
    a->remanence[2] = remanence * meta_uniform(r, -0.8, 0.8);
    a->direction[0] = meta_uniform(r, -1, 1);
    a->direction[1] = m->symmetric ? 0 : meta_uniform(r, -0.5, 0.5);
    a->direction[2] = 1;
}

static inline void more_gas(meta_robot *m, pl_random *r)
{
    double volume = 1;
    for (int a = 0; a < 3; ++a) {
        volume *= m->size[a] * (m->cells[a] - 2) / m->cells[a];
    }

    pl_actuator_def *a =
        meta_actuator(m, "gas", PL_CHAMBER, PL_DRIVE_SYRINGE, volume * meta_uniform(r, -0.15, 0.4));
    a->surface = meta_surface_name[META_CAVITY];
    a->line_volume = meta_uniform(r, 0, 0.5) * volume;
    a->ambient = 0.101325;
    a->idle_hold = meta_chance(r, 0.3);
}

// Cables whose guides do not lie on a line, so that friction acts from the first pull.
static inline void more_tendon(meta_robot *m, pl_random *r)
{
    const double *L = m->size, bow = meta_uniform(r, -0.15, 0.15) * L[2],
                 friction = meta_uniform(r, 0.05, 0.4);
    const int from = m->def.actuator_count;

    if (m->symmetric) {
        pl_random same = *r;
        meta_cable(m, r, "left", 0.3 * L[1], 0.3 * L[2]);
        meta_cable(m, &same, "right", -0.3 * L[1], 0.3 * L[2]);
        m->actuator[from].radius = m->actuator[from + 1].radius = 0;
    } else {
        meta_cable(m, r, "flexor", meta_uniform(r, -0.3, 0.3) * L[1], 0.3 * L[2]);
    }

    for (int i = from; i < m->def.actuator_count; ++i) {
        m->actuator[i].friction = friction;
        for (int g = 1; g + 1 < m->actuator[i].guide_count; ++g) {
            m->guide[i][g].point[2] += bow;
        }
    }
    meta_say(m, "tendon friction");
}

// The tip is taken along: at most 8 % of the length and 0.3 rad.
static inline void more_clamp(meta_robot *m, pl_random *r)
{
    const double *L = m->size, s = 0.08 * L[0];
    pl_fixed_def *f = &m->fixed[m->def.fixed_count++];
    *f = (pl_fixed_def){.name = "tip", .surface = "tip", .body = -1, .axis = {true, true, true}};

    for (int i = 0; i < 3; ++i) {
        const double move = meta_uniform(r, i ? -s : -0.2 * s, s), turn = meta_uniform(r, -0.3, 0.3);
        f->move[i] = i == 1 && m->symmetric ? 0 : move;
        f->rotate[i] = i != 1 && m->symmetric ? 0 : turn;
    }
    memcpy(f->about, (double[3]){L[0], 0, 0.5 * L[2]}, sizeof f->about);
    meta_say(m, "clamp");
}

static inline void more_springs(meta_robot *m, pl_random *r)
{
    const double *L = m->size, stiffness = meta_uniform(r, 0.02, 0.2) * m->mu * L[1];
    m->spring[m->def.spring_count++] = (pl_spring_def){.name = "stay",
                                                       .from = "middle",
                                                       .point = {0.6 * L[0], 0.7 * L[1], 2 * L[2]},
                                                       .stiffness = stiffness,
                                                       .rest = meta_uniform(r, 0.5, 1.3) * L[2],
                                                       .has_rest = meta_chance(r, 0.6),
                                                       .tension_only = meta_chance(r, 0.4)};
    if (meta_chance(r, 0.5)) {
        m->spring[m->def.spring_count++] = (pl_spring_def){.name = "tie",
                                                           .from = "middle",
                                                           .to = "tip",
                                                           .stiffness = stiffness,
                                                           .rest = 0.3 * L[0],
                                                           .has_rest = true,
                                                           .tension_only = meta_chance(r, 0.4)};
    }
    meta_say(m, "springs");
}

static inline void more_fibre(meta_robot *m, pl_random *r)
{
    const double *L = m->size;
    const double at[6] = {0.1 * L[0], meta_uniform(r, -0.3, 0.3) * L[1], 0,
                          0.9 * L[0], meta_uniform(r, -0.3, 0.3) * L[1], 0};
    memcpy(m->fibre_point, at, sizeof at);
    m->fibre[m->def.fibre_count++] =
        (pl_fibre_def){.name = "thread",
                       .kind = PL_FIBRE_LINE,
                       .surface = "bottom",
                       .point_count = 2,
                       .stiffness = meta_uniform(r, 0.5, 5) * m->mu * L[1] * L[2],
                       .tension_only = meta_chance(r, 0.3),
                       .prestretch = meta_chance(r, 0.3) ? 1.02 : 0};
    meta_say(m, "fibre");
}

static inline void more_loads(meta_robot *m, pl_random *r, more_kind kind)
{
    const double *L = m->size, f = 0.02 * m->mu * L[1] * L[2];
    const bool moved = m->def.fixed_count > 1;
    if (meta_chance(r, 0.4)) {
        m->def.gravity[meta_pick(r, 2) * 2] = meta_chance(r, 0.5) ? 9810 : -9810;
        meta_say(m, "gravity");
    }

    if (!moved && meta_chance(r, 0.4)) {
        pl_force_def *force = &m->force[m->def.force_count++];
        *force = (pl_force_def){.marker = "tip"};
        for (int i = 0; i < 3; ++i) {
            const double push = meta_uniform(r, -f, f), turn = meta_uniform(r, -f, f) * 0.2 * L[0];
            force->force[i] = i == 1 && m->symmetric ? 0 : push;
            force->moment[i] = m->symmetric ? 0 : turn;
        }
        meta_say(m, "force");
    }

    if (!m->symmetric && meta_chance(r, 0.5)) {
        more_springs(m, r);
    }
    if (!m->symmetric && meta_chance(r, 0.25)) {
        more_fibre(m, r);
    }
    if (m->stiff_end && !m->symmetric && kind != MORE_MAGNET && !moved && meta_chance(r, 0.4)) {
        m->rigid[m->def.rigid_count++] = (pl_rigid_def){.region = "second"};
        meta_say(m, "rigid end");
    } else if (m->stiff_end && meta_chance(r, 0.3)) {
        m->region[1].rest_volume = meta_uniform(r, 0.95, 1.05);
        meta_say(m, "prestressed");
    }
}

// The robot of a seed, without its mesh; `fine` is the number of cells added per axis.
static inline void meta_draw_more(uint64_t seed, int fine, meta_robot *m)
{
    pl_random random, *r = &random;
    pl_random_seed(r, seed);
    *m = (meta_robot){.seed = seed};
    const more_kind kind = (more_kind)meta_pick(r, MORE_KINDS);
    const double scale = exp(meta_uniform(r, log(0.5), log(2)));
    const bool inner = kind == MORE_CORE || kind == MORE_GAS;
    m->symmetric = meta_chance(r, 0.3);
    m->core = kind == MORE_CORE;
    m->cavity = kind == MORE_GAS;
    m->film = kind == MORE_SKIN;
    m->stiff_end = kind == MORE_MAGNET || (!m->core && !m->film && meta_chance(r, 0.35));
    m->second_order = meta_chance(r, 0.85);
    m->jitter = 0.12;
    m->film_thickness = 0.4 * scale;

    // sizes
    m->cells[0] = 4 + meta_pick(r, 2) + fine;
    m->cells[1] = (inner ? 3 : 2) + fine;
    m->cells[2] = (inner ? 3 : 2) + fine;
    m->cells[1] += m->symmetric && m->cells[1] % 2;
    m->size[1] = scale * meta_uniform(r, 8, 16);
    m->size[2] = scale * meta_uniform(r, 8, 16);
    m->size[0] = m->size[1] * meta_uniform(r, 1.8, 4);
    m->mu = exp(meta_uniform(r, log(0.05), log(0.5)));

    // materials, supports, markers
    m->body = (pl_body_def){.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    m->def = (pl_robot_def){
        .name = "random", .body_count = 1, .material_count = 2, .fixed_count = 1, .marker_count = 2};
    const bool tissue = meta_chance(r, 0.35);
    m->material[0] =
        (pl_material_def){.name = "soft", .material = tissue ? more_tissue(m, r) : meta_material(r, m->mu)};
    m->material[1] =
        (pl_material_def){.name = "other", .material = meta_material(r, m->stiff_end ? 4 * m->mu : m->mu)};
    m->region[0] = (pl_region_def){.region = "body", .material = "soft"};
    m->region[1] = (pl_region_def){.region = "second", .material = "other"};
    m->def.region_count = m->film || m->stiff_end || m->core ? 2 : 1;
    m->fixed[0] = (pl_fixed_def){.name = "base", .surface = "base", .body = -1, .axis = {true, true, true}};
    m->marker[0] = (pl_marker_def){.name = "tip", .surface = "tip"};
    m->marker[1] =
        (pl_marker_def){.name = "middle", .at = {0.45 * m->size[0], 0.45 * m->size[1], 0.95 * m->size[2]}};
    snprintf(m->words, sizeof m->words, "%s%s%s%s", m->second_order ? "tet10" : "tet4",
             m->symmetric ? " symmetric" : "", tissue ? " tissue" : "", m->stiff_end ? " two regions" : "");

    // what moves it
    if (kind == MORE_CORE || kind == MORE_SKIN) {
        more_growth(m, r, kind == MORE_SKIN);
    } else if (kind == MORE_MAGNET) {
        more_magnet(m, r);
    } else if (kind == MORE_GAS) {
        more_gas(m, r);
    } else if (kind == MORE_TENDON) {
        more_tendon(m, r);
    }
    if (kind == MORE_CLAMP || meta_chance(r, 0.25)) {
        more_clamp(m, r);
    }
    more_loads(m, r, kind);
}

#endif
