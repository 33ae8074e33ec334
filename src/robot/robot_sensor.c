// The table of sensor kinds: one row per kind, which the reader of robot files, tables of readings, the
// record of a result and control ask. The value of a sensor is computed by statics_result.c and, for reduced
// models, reduced_model.c.
#include "robot/robot_kind.h"

static const pl_sensor_traits sensor_table[] = {
    // a string potentiometer, a flow meter, a pressure gauge
    [PL_SENSOR_LENGTH] = {"length", "mm", 1, PL_DIM_LENGTH, 0.1, 0.005, false},
    [PL_SENSOR_VOLUME] = {"volume", "mm^3", 1, PL_DIM_VOLUME, 10, 0, true},
    [PL_SENSOR_PRESSURE] = {"pressure", "kPa", 1e-3, PL_DIM_PRESSURE, 1e-4, 0, true},
};
_Static_assert(sizeof sensor_table / sizeof sensor_table[0] == PL_SENSOR_KIND_COUNT,
               "one row per sensor kind");

const pl_sensor_traits *pl_sensor_traits_get(pl_sensor_kind kind)
{
    const bool known = (unsigned)kind < PL_SENSOR_KIND_COUNT;
    return &sensor_table[known ? kind : PL_SENSOR_PRESSURE];
}
