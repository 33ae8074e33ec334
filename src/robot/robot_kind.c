// The table of actuator kinds: one row per kind, which the reader of robot files, the checks, every method,
// the record of a result, files and pages ask. A kind measures a functional h(x); its energy Phi(h) has
// dPhi/dh = sign effort.
#include "robot/robot_kind.h"
#include "robot/robot_impl.h"

typedef struct kind_row {
    pl_actuator_kind_info info;
    pl_actuator_traits traits;
    // Places it on the mesh and computes its rest measure.
    pl_status (*build)(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a);
    pl_status (*functional)(const pl_mesh *mesh, const pl_actuator *a, pl_functional *h);
} kind_row;

static pl_status film_area(const pl_mesh *mesh, const pl_actuator *a, pl_functional *h)
{
    return pl_film_functional(mesh, a, PL_FILM_AREA, h);
}

// clang-format off
static const kind_row kind_table[PL_ACTUATOR_KIND_COUNT] = {
    [PL_CABLE] = {{"cable", "length", "mm", 1, "tension", "tension", "N", 1, PL_DIM_FORCE, PL_DRIVE_TENSION,
        .sign = 1, .pulls_only = true, .place = PL_PLACE_POINTS},
        {"cables", "tension_n", false, PL_DIM_LENGTH, PL_GROWTH_LINE}, robot_cable, pl_cable_functional},
    [PL_CHAMBER] = {{"chamber", "volume", "mm^3", 1, "pressure", "pressure_kpa", "kPa", 1e-3, PL_DIM_PRESSURE,
        PL_DRIVE_PRESSURE, .sign = -1, .pulls_only = false, .place = PL_PLACE_FACES},
        {"cavities", "pressure_kpa", true, PL_DIM_VOLUME, PL_GROWTH_VOLUME}, robot_chamber, pl_chamber_functional},
    [PL_FILM] = {{"film", "area", "mm^2", 1, "Maxwell stress", "maxwell_stress_kpa", "kPa", 1e-3,
        PL_DIM_PRESSURE, PL_DRIVE_VOLTAGE, .sign = -1, .pulls_only = false, .place = PL_PLACE_FACES},
        {"films", "maxwell_stress_kpa", false, PL_DIM_VOLUME, PL_GROWTH_AREA}, robot_film_build, film_area},
    [PL_MAGNET] = {{"magnet", "moment", "mA m^2", 1e6, "field", "field_mt", "mT", 1e-9, PL_DIM_FLUX_DENSITY,
        PL_DRIVE_FIELD, .sign = -1, .pulls_only = false, .place = PL_PLACE_REGION},
        {"magnets", "field_mt", false, PL_DIM_VOLUME, PL_GROWTH_NONE}, robot_magnet, pl_magnet_functional},
};

// clang-format on

const pl_actuator_kind_info *pl_actuator_kind_get(pl_actuator_kind kind)
{
    static const pl_actuator_kind_info none = {.name = "unknown",
                                               .measure = "measure",
                                               .measure_unit = "1",
                                               .measure_scale = 1,
                                               .effort = "effort",
                                               .effort_key = "effort",
                                               .effort_unit = "1",
                                               .effort_scale = 1,
                                               .sign = 1};
    return (unsigned)kind < PL_ACTUATOR_KIND_COUNT ? &kind_table[kind].info : &none;
}

const pl_actuator_traits *pl_actuator_traits_get(pl_actuator_kind kind)
{
    static const pl_actuator_traits none = {
        .group = "actuators", .group_value = "effort", .travel = PL_DIM_VOLUME};
    return (unsigned)kind < PL_ACTUATOR_KIND_COUNT ? &kind_table[kind].traits : &none;
}

const char *pl_actuator_kind_name(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->name;
}

pl_status robot_kind_build(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a)
{
    return kind_table[def->kind].build(b, def, index, a);
}

pl_status pl_actuator_functional(const pl_mesh *mesh, const pl_actuator *a, pl_functional *h)
{
    return kind_table[a->kind].functional(mesh, a, h);
}
