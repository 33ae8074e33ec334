// From actuators to motors: how fast each may move, and which axis moves it.
#include "robot/robot_impl.h"

#define HARDWARE_AXES "XYZABCUVWE" // letters a G1 move knows

#define HARDWARE_DEFECT(def, findings, line, ...)                                                            \
    pl_findings_add(findings, PL_DEFECT, (def)->file, line, __VA_ARGS__)

// Axis, scale and range of one motor.
static void hardware_check_axis(const pl_robot_def *def, int index, pl_findings *findings)
{
    const pl_actuator_def *a = &def->actuator[index];
    const pl_hardware *h = &a->hardware;

    if (!strchr(HARDWARE_AXES, h->axis)) {
        HARDWARE_DEFECT(def, findings, h->line, "hardware: '%s': the axis is '%c', expected one of %s",
                        a->name, h->axis, HARDWARE_AXES);
    }

    // one motor moves one actuator
    for (int other = 0; other < index; ++other) {
        if (def->actuator[other].hardware.axis == h->axis) {
            HARDWARE_DEFECT(def, findings, h->line, "hardware: '%s' and '%s' share the axis %c", a->name,
                            def->actuator[other].name, h->axis);
        }
    }

    if (!(h->per_unit > 0) || !isfinite(h->per_unit)) {
        HARDWARE_DEFECT(def, findings, h->line,
                        "hardware: '%s': per_unit is %g, must be the mm or mL per unit of the axis", a->name,
                        h->per_unit);
    }

    if (!isfinite(h->offset) || !(h->feed >= 0) || !isfinite(h->feed)) {
        HARDWARE_DEFECT(def, findings, h->line, "hardware: '%s': offset %g and feed %g are impossible",
                        a->name, h->offset, h->feed);
    }

    // the machine stands at the offset when the robot is at rest
    if (h->has_range && !(h->range[0] <= h->offset && h->offset <= h->range[1])) {
        HARDWARE_DEFECT(def, findings, h->line,
                        "hardware: '%s': the offset %g is outside the range of the axis, %g to %g", a->name,
                        h->offset, h->range[0], h->range[1]);
    }

    if (!pl_drive_has_motor(a->drive)) {
        HARDWARE_DEFECT(def, findings, h->line,
                        "hardware: '%s': an axis winds a cable or pushes a syringe; the drive %s has no axis",
                        a->name, pl_drive_name(a->drive));
        if (a->drive == PL_DRIVE_PRESSURE) {
            pl_findings_advise(findings, "remove it: `follow --export pressures` writes a table for valves; "
                                         "or drive the chamber by syringe or volume");
        }
    }
}

// Rates and axes, in the def alone; places and kinds are checked elsewhere.
void robot_check_hardware(const pl_robot_def *def, pl_findings *findings)
{
    for (int i = 0; i < def->actuator_count; ++i) {
        const pl_actuator_def *a = &def->actuator[i];
        if (!a->name || !a->name[0] || (unsigned)a->drive >= PL_DRIVE_COUNT) {
            continue; // reported with the actuators
        }
        if (!(a->rate >= 0) || !isfinite(a->rate)) {
            HARDWARE_DEFECT(def, findings, a->line, "actuator '%s': the rate is %g, must be positive",
                            a->name, a->rate);
        }

        if (a->hardware.axis) {
            hardware_check_axis(def, i, findings);
        }
    }

    for (int i = 0; i < def->command_count; ++i) {
        const pl_command_def *c = &def->command[i];
        if (!(c->rate >= 0) || !isfinite(c->rate)) {
            HARDWARE_DEFECT(def, findings, c->line, "command '%s': the rate is %g, must be positive",
                            c->name ? c->name : "", c->rate);
        }
    }
}
