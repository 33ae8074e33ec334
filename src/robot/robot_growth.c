// Stress-free shapes that differ from the drawn ones: of regions (pre-stretch, shrinkage) and of actuators
// that grow; the material of chamber elements that have only a modulus; tables of drives; the faces of films
// of prisms.
#include "robot/robot_impl.h"
#include "robot/robot_kind.h"

// The material of an actuator's elements, appended to the robot's: W = mu |F - R|^2, mu = modulus / 2.
static int32_t growth_material(robot_build *b, const pl_actuator_def *a)
{
    pl_robot *robot = b->robot;
    const int m = robot->material_count++;
    pl_text name = {0};

    pl_text_add(&name, "%s (growth)", a->name);
    robot->material[m] =
        (pl_material){.model = PL_LINEAR, .young = a->modulus, .formulation = PL_DISPLACEMENT};
    robot->material_name[m] = name.data ? pl_strdup(name.data) : NULL;
    pl_text_clear(&name);

    return robot->material_name[m] ? m : -1;
}

// Whether an actuator is a region that grows; a cable grows triangles of its own.
static bool growth_has_region(const pl_actuator_def *def)
{
    return def->growth && pl_actuator_traits_get(def->kind)->growth != PL_GROWTH_LINE;
}

// The material of a growing region: its own or from the modulus, never both.
static pl_status growth_region(robot_build *b, const pl_actuator_def *a)
{
    const char *name = robot_air_name(a);
    const int32_t r = robot_find_region(b, name, "growth", a->line);

    if (r < 0) {
        if (pl_actuator_traits_get(a->kind)->growth == PL_GROWTH_VOLUME) {
            pl_findings_advise(b->findings, "mesh: {fill: true} meshes the chambers");
        }
        return PL_OK;
    }

    int32_t *material = &b->robot->region_material[r];
    if (*material >= 0 && a->modulus > 0) {
        ROBOT_DEFECT(b, a->line,
                     "actuator '%s': region '%s' already has a material, so 'modulus' is not allowed",
                     a->name, name);
    } else if (*material < 0 && !(a->modulus > 0)) {
        ROBOT_DEFECT(
            b, a->line,
            "actuator '%s': expected 'modulus' (of the growing elements), or a material for region '%s'",
            a->name, name);
    } else if (*material < 0) {
        *material = growth_material(b, a);
        return *material < 0 ? robot_memory(b) : PL_OK;
    }

    return PL_OK;
}

// Whether all elements of a region are prisms; reports otherwise.
static bool growth_is_shell(robot_build *b, int32_t region, const char *what, int line)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    for (int32_t e = 0; e < v.element_count; ++e) {
        if (v.region[e] == region && pl_element_is_tet(v.kind[e])) {
            ROBOT_DEFECT(b, line, "%s: region '%s' has tetrahedra, but an area ratio needs prisms", what,
                         v.region_name[region]);
            return false;
        }
    }

    return true;
}

pl_status robot_rest_shapes(robot_build *b)
{
    pl_robot *robot = b->robot;
    const pl_mesh_view v = pl_mesh_get(robot->mesh);

    robot->region_rest = PL_NEW_ARRAY(double, 2 * (int64_t)v.region_count);
    if (!robot->region_rest) {
        return robot_memory(b);
    }

    // factors of volume and area: 1, as drawn
    for (int32_t k = 0; k < 2 * v.region_count; ++k) {
        robot->region_rest[k] = 1;
    }

    // regions whose stress-free shape differs from the drawn one
    for (int i = 0; i < b->def->region_count; ++i) {
        const pl_region_def *def = &b->def->region[i];
        const int32_t r = pl_mesh_find_region(robot->mesh, def->region);
        if (r < 0) {
            continue; // reported, or air
        }
        if (def->rest_volume > 0) {
            robot->region_rest[2 * r] = def->rest_volume;
        }
        if (def->rest_area > 0 && growth_is_shell(b, r, "rest_area", def->line)) {
            robot->region_rest[2 * r + 1] = def->rest_area;
        }
    }

    // actuators that grow a region
    pl_status status = PL_OK;
    for (int a = 0; status == PL_OK && a < b->def->actuator_count; ++a) {
        if (growth_has_region(&b->def->actuator[a])) {
            status = growth_region(b, &b->def->actuator[a]);
        }
    }

    return status;
}

// The table of a drive with slopes that keep it monotone; its ends are the range where none is given.
static pl_status growth_table(robot_build *b, const pl_actuator_def *def, pl_actuator *a)
{
    const int n = def->table_count;
    a->table_block = PL_NEW_ARRAY(double, 3 * (int64_t)n);
    if (!a->table_block) {
        return robot_memory(b);
    }

    double *x = a->table_block, *y = x + n, *slope = y + n;
    for (int i = 0; i < n; ++i) {
        x[i] = def->table[2 * i];
        y[i] = def->table[2 * i + 1];
    }

    pl_monotone_slopes(n, x, y, slope);
    a->table = (pl_monotone){.count = n, .x = x, .y = y, .slope = slope};
    if (!a->has_range) {
        a->has_range = true;
        a->range[0] = x[0];
        a->range[1] = x[n - 1];
    }

    return PL_OK;
}

// The region an actuator grows and the table of its drive. A region grows by one actuator.
pl_status robot_growth(robot_build *b, int actuator)
{
    const pl_actuator_def *def = &b->def->actuator[actuator];
    pl_actuator *a = &b->robot->actuator[actuator];

    if (growth_has_region(def)) {
        a->region = pl_mesh_find_region(b->robot->mesh, robot_air_name(def));
        if (a->region >= 0 && pl_actuator_traits_get(def->kind)->growth == PL_GROWTH_AREA) {
            growth_is_shell(b, a->region, "growth", def->line);
            // thickness mm = volume / area
            a->thickness = a->thickness > 0 || !(a->rest > 0)
                               ? a->thickness
                               : pl_mesh_region_volume(b->robot->mesh, a->region) / a->rest;
        }

        for (int k = 0; k < actuator; ++k) {
            if (b->robot->actuator[k].growth && b->robot->actuator[k].region == a->region && a->region >= 0) {
                ROBOT_DEFECT(b, def->line, "actuators '%s' and '%s' both grow the same region",
                             b->robot->actuator[k].name, a->name);
            }
        }
    }

    return def->table_count > 0 ? growth_table(b, def, a) : PL_OK;
}

// The corners of a prism's lower (0) or upper (1) triangle, sorted.
static void film_key(const pl_mesh_view *v, int32_t e, int side, int32_t key[3])
{
    for (int i = 0; i < 3; ++i) {
        key[i] = v->node[v->node_start[e] + 3 * side + i];
    }
    pl_sort_small(key, 3);
}

// Upper triangles that no other prism of the region stands on: one side of the film. The caller owns `*face`.
pl_status robot_film_faces(robot_build *b, int32_t region, int64_t **face, int64_t *count)
{
    const pl_mesh_view v = pl_mesh_get(b->robot->mesh);
    pl_table lower = {0};

    *face = PL_NEW_ARRAY(int64_t, v.element_count);
    *count = 0;
    if (!*face || !pl_table_init(&lower, 3, (int64_t)v.element_count + 1)) {
        return robot_memory(b);
    }

    int32_t key[3];

    // all lower triangles, then the upper ones that are not among them
    for (int32_t e = 0; e < v.element_count; ++e) {
        if (v.region[e] == region && !pl_element_is_tet(v.kind[e])) {
            film_key(&v, e, 0, key);
            pl_table_add(&lower, key);
        }
    }

    for (int32_t e = 0; e < v.element_count; ++e) {
        if (v.region[e] == region && !pl_element_is_tet(v.kind[e])) {
            film_key(&v, e, 1, key);
            if (pl_table_find(&lower, key) < 0) {
                (*face)[(*count)++] = 8 * (int64_t)e + 1; // face 1 is the upper triangle
            }
        }
    }

    pl_table_clear(&lower);

    return PL_OK;
}
