// The table of sensor kinds: one row per kind, which the reader of robot files, tables of readings, the
// record of a result, control and the models ask. A kind that reads a line or an actuator is a row; another
// one has its value and derivative in statics_result.c and statics_sensitivity.c, and reduced_model.c.
#include "robot/robot_kind.h"

static const pl_sensor_traits sensor_table[] = {
    // a string potentiometer, a flow meter, a pressure gauge, a load cell
    [PL_SENSOR_LENGTH] = {"length", "mm", 1, PL_DIM_LENGTH, 0.1, 0.005, PL_READS_LINE, PL_CABLE,
                          "along points"},
    [PL_SENSOR_VOLUME] = {"volume", "mm^3", 1, PL_DIM_VOLUME, 10, 0, PL_READS_MEASURE, PL_CHAMBER,
                          "in a chamber"},
    [PL_SENSOR_PRESSURE] = {"pressure", "kPa", 1e-3, PL_DIM_PRESSURE, 1e-4, 0, PL_READS_EFFORT, PL_CHAMBER,
                            "in a chamber"},
    [PL_SENSOR_TENSION] = {"tension", "N", 1, PL_DIM_FORCE, 0.05, 0, PL_READS_EFFORT, PL_CABLE, "at a cable"},
};
_Static_assert(sizeof sensor_table / sizeof sensor_table[0] == PL_SENSOR_KIND_COUNT,
               "one row per sensor kind");

const pl_sensor_traits *pl_sensor_traits_get(pl_sensor_kind kind)
{
    const bool known = (unsigned)kind < PL_SENSOR_KIND_COUNT;
    return &sensor_table[known ? kind : PL_SENSOR_PRESSURE];
}
