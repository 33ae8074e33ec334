// Properties of the actuator kinds that several rooms ask for, instead of asking for a kind: columns of the
// table in robot_kind.c. What users see of a kind is pl_actuator_kind_info.
#ifndef PL_ROBOT_KIND_H
#define PL_ROBOT_KIND_H

#include "pliant/robot.h"

// What grows where `actuation: growth` replaces the functional of an actuator.
typedef enum pl_growth_form {
    PL_GROWTH_NONE,   // cannot be driven by growth
    PL_GROWTH_LINE,   // triangles between the cable and the body, which need a modulus
    PL_GROWTH_VOLUME, // elements of a region, in all directions
    PL_GROWTH_AREA    // prisms of a region, in their plane
} pl_growth_form;

typedef struct pl_actuator_traits {
    const char *group;       // of its parts in result files,
    const char *group_value; // and the name of its effort there, with the unit
    bool encloses;           // its faces enclose the volume that it measures: rims, a gas, gauge pressures
    pl_dimension travel;     // what a motor moves: a length, or a volume of fluid
    pl_growth_form growth;
} pl_actuator_traits;

const pl_actuator_traits *pl_actuator_traits_get(pl_actuator_kind kind);

// What is asked for most.
static inline bool pl_actuator_encloses(pl_actuator_kind kind)
{
    return pl_actuator_traits_get(kind)->encloses;
}

static inline bool pl_actuator_pulls_only(pl_actuator_kind kind)
{
    return pl_actuator_kind_get(kind)->pulls_only;
}

static inline pl_growth_form pl_actuator_growth_form(pl_actuator_kind kind)
{
    return pl_actuator_traits_get(kind)->growth;
}

// ---- sensors (robot_sensor.c)
#define PL_SENSOR_KIND_COUNT (PL_SENSOR_TENSION + 1)

// What a sensor reads: the length of a line of its own, or the measure or effort of an actuator.
typedef enum pl_sensor_reads { PL_READS_LINE, PL_READS_MEASURE, PL_READS_EFFORT } pl_sensor_reads;

typedef struct pl_sensor_traits {
    const char *name, *unit; // in robot files; on the terminal
    double scale;            // internal value of one unit
    pl_dimension dimension;
    double noise; // internal units: standard deviation where the robot file gives none
    double goal;  // internal units: tolerance of a goal of inverse kinematics; 0: a thousandth of its value
    pl_sensor_reads reads;
    pl_actuator_kind of; // of which kind of actuator, unless it is a line
    const char *where;   // "in a chamber"
} pl_sensor_traits;

const pl_sensor_traits *pl_sensor_traits_get(pl_sensor_kind kind);

// Whether it reads a length along points; the others read an actuator.
static inline bool pl_sensor_is_line(pl_sensor_kind kind)
{
    return pl_sensor_traits_get(kind)->reads == PL_READS_LINE;
}

#endif
