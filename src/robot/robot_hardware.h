// The machine that drives a robot: axes of G-code, and pressures below 0.
#ifndef PL_ROBOT_HARDWARE_H
#define PL_ROBOT_HARDWARE_H

#include <stddef.h>
#include "pliant/robot.h"

// What the machine does with a gauge pressure below 0 in a chamber. Unsaid: a table of pressures is refused
// (a valve that vents to the room cannot pull), a syringe moved by an axis pulls.
typedef enum pl_below_zero {
    PL_BELOW_UNSAID,
    PL_BELOW_REFUSE,
    PL_BELOW_CLIP, // written as 0: vented; a syringe stops at its rest position
    PL_BELOW_PULL  // the machine can pull: kept
} pl_below_zero;

// The machine axis that moves an actuator. At travel t (mm of cable pulled in, or mm^3 pushed out of
// a syringe) the axis position is offset + t / per_unit, or offset - t / per_unit if reversed.
struct pl_hardware {
    char axis;       // A to Z; 0: the actuator has no axis
    double per_unit; // mm or mm^3 per unit of the axis
    bool reverse;
    double offset;   // axis units, position when the actuator is at rest
    double feed;     // largest speed, axis units per minute; 0: no limit
    double range[2]; // axis units
    bool has_range;
    pl_below_zero below_zero; // chambers; needs no axis
    int line;
};

// Of an actuator; without an axis where it has none.
static inline pl_hardware pl_actuator_hardware(const pl_actuator_info *actuator)
{
    return actuator->hardware ? *actuator->hardware : (pl_hardware){0};
}

#endif
