// What a drive is and what its values mean: one table, which every method, file and page asks. A command c
// gives an actuator the value v = factor c (one-sided: max(0, factor c)); a drive by measure asks with it for
//   m(v) = start m0 + slope m0^in_rest v,
// m0 being the measure of the undeformed actuator (length of a cable, volume of a chamber, area of a film).
#include "robot/robot_impl.h"

// One drive.
typedef struct drive_row {
    const char *name, *unit;
    pl_actuator_kind kind;  // the actuators it belongs to
    pl_dimension dimension; // for units in files
    double scale;           // internal value of one unit
    pl_drive_law law;       // without table, growth or liquid
    double start, slope;    // of the measure asked for; of an effort the measure says nothing
    bool in_rest;           // v counts rest measures
    bool motor;             // a motor that winds cable or pushes a syringe can follow it
    // where a value can lie at all: above 0 (a measure), from 0 on, or anywhere; and where it is plausible
    enum { DRIVE_ABOVE_0, DRIVE_FROM_0, DRIVE_ANY } least;
    double plausible[2];
    double span[2];    // what to offer when the robot names no range,
    bool span_in_rest; // in rest measures
} drive_row;

// clang-format off
#define ANY {-INFINITY, INFINITY}
static const drive_row drive_table[PL_DRIVE_COUNT] = {
    [PL_DRIVE_LENGTH_RATIO] = {"length_ratio", "1", PL_CABLE, PL_DIM_NUMBER, 1, PL_LAW_MEASURE,
        .start = 0, .slope = 1, .in_rest = true, .motor = true, DRIVE_ABOVE_0, ANY, {0.7, 1}, false},
    [PL_DRIVE_LENGTH] = {"length", "mm", PL_CABLE, PL_DIM_LENGTH, 1, PL_LAW_MEASURE,
        .start = 0, .slope = 1, .in_rest = false, .motor = true, DRIVE_ABOVE_0, ANY, {0.7, 1}, true},
    [PL_DRIVE_SHORTENING] = {"shortening", "mm", PL_CABLE, PL_DIM_LENGTH, 1, PL_LAW_MEASURE,
        .start = 1, .slope = -1, .in_rest = false, .motor = true, DRIVE_FROM_0, ANY, {0, 0.3}, true},
    [PL_DRIVE_TENSION] = {"tension", "N", PL_CABLE, PL_DIM_FORCE, 1, PL_LAW_EFFORT,
        .start = 0, .slope = 0, .in_rest = false, .motor = true, DRIVE_FROM_0, ANY, {0, 10}, false},
    [PL_DRIVE_VOLUME_RATIO] = {"volume_ratio", "1", PL_CHAMBER, PL_DIM_NUMBER, 1, PL_LAW_MEASURE,
        .start = 0, .slope = 1, .in_rest = true, .motor = true, DRIVE_ABOVE_0, ANY, {0.7, 2}, false},
    [PL_DRIVE_VOLUME] = {"volume", "mL", PL_CHAMBER, PL_DIM_VOLUME, 1000, PL_LAW_MEASURE,
        .start = 0, .slope = 1, .in_rest = false, .motor = true, DRIVE_ABOVE_0, ANY, {0.7, 2}, true},
    [PL_DRIVE_PRESSURE] = {"pressure", "kPa", PL_CHAMBER, PL_DIM_PRESSURE, 1e-3, PL_LAW_EFFORT,
        .start = 0, .slope = 0, .in_rest = false, .motor = false, DRIVE_ANY, {-0.11, 1}, {0, 0.03}, false},
    [PL_DRIVE_SYRINGE] = {"syringe", "mL", PL_CHAMBER, PL_DIM_VOLUME, 1000, PL_LAW_GAS,
        .start = 1, .slope = 1, .in_rest = false, .motor = true, DRIVE_ANY, ANY, {0, 1}, true},
    [PL_DRIVE_AREA_RATIO] = {"area_ratio", "1", PL_FILM, PL_DIM_NUMBER, 1, PL_LAW_MEASURE,
        .start = 0, .slope = 1, .in_rest = true, .motor = false, DRIVE_ABOVE_0, ANY, {1, 1.3}, false},
    [PL_DRIVE_VOLTAGE] = {"voltage", "V", PL_FILM, PL_DIM_VOLTAGE, 1, PL_LAW_VOLTAGE,
        .start = 0, .slope = 0, .in_rest = false, .motor = false, DRIVE_FROM_0, {-INFINITY, 1e5},
        {0, 3000}, false},
    [PL_DRIVE_FIELD] = {"field", "mT", PL_MAGNET, PL_DIM_FLUX_DENSITY, 1e-9, PL_LAW_EFFORT,
        .start = 0, .slope = 0, .in_rest = false, .motor = false, DRIVE_ANY, {-5e-6, 5e-6},
        {-2e-8, 2e-8}, false},
};

// clang-format on

// A drive that does not exist answers as a number would.
static const drive_row *drive_of(pl_drive drive)
{
    static const drive_row none = {
        .name = "unknown", .unit = "1", .kind = PL_CABLE, .scale = 1, .law = PL_LAW_EFFORT};
    return (unsigned)drive < PL_DRIVE_COUNT ? &drive_table[drive] : &none;
}

const char *pl_drive_name(pl_drive drive)
{
    return drive_of(drive)->name;
}

pl_actuator_kind pl_drive_kind(pl_drive drive)
{
    return drive_of(drive)->kind;
}

bool pl_drive_is_geometric(pl_drive drive)
{
    return drive_of(drive)->law == PL_LAW_MEASURE;
}

const char *pl_drive_unit(pl_drive drive)
{
    return drive_of(drive)->unit;
}

double pl_drive_scale(pl_drive drive)
{
    return drive_of(drive)->scale;
}

pl_dimension pl_drive_dimension(pl_drive drive)
{
    return drive_of(drive)->dimension;
}

// ---- values

double pl_drive_slope(pl_drive drive, double rest)
{
    const drive_row *d = drive_of(drive);
    return d->in_rest ? d->slope * rest : d->slope;
}

double pl_drive_target(pl_drive drive, double rest, double value)
{
    const drive_row *d = drive_of(drive);
    return d->slope == 0 ? NAN : d->start * rest + pl_drive_slope(drive, rest) * value;
}

double pl_drive_value(pl_drive drive, double rest, double measure)
{
    const drive_row *d = drive_of(drive);
    return d->slope == 0 ? NAN : (measure - d->start * rest) / pl_drive_slope(drive, rest);
}

double pl_drive_rest(pl_drive drive, double rest)
{
    const drive_row *d = drive_of(drive);
    return d->slope == 0 || d->start == 1 ? 0 : d->in_rest ? 1 : rest;
}

void pl_drive_span(pl_drive drive, double rest, double span[2])
{
    const drive_row *d = drive_of(drive);
    for (int i = 0; i < 2; ++i) {
        span[i] = d->span_in_rest ? d->span[i] * rest : d->span[i];
    }
}

bool pl_drive_rests_at_zero(pl_drive drive)
{
    return pl_drive_rest(drive, 1) == 0;
}

bool pl_drive_has_motor(pl_drive drive)
{
    return drive_of(drive)->motor;
}

bool pl_drive_is_possible(pl_drive drive, double value)
{
    const drive_row *d = drive_of(drive);
    return d->least == DRIVE_ABOVE_0 ? value > 0 : d->least == DRIVE_FROM_0 ? value >= 0 : true;
}

bool pl_drive_is_plausible(pl_drive drive, const double range[2])
{
    const drive_row *d = drive_of(drive);
    return range[0] >= d->plausible[0] && range[1] <= d->plausible[1];
}

// ---- commands

double pl_command_apply(double factor, bool one_sided, double command)
{
    const double value = factor * command;
    return one_sided && value < 0 ? 0 : value;
}

// d value / d command. At 0 a one-sided command counts as pulling only in the direction in which it can act.
double pl_command_slope(double factor, bool one_sided, double command)
{
    const double value = factor * command;
    return one_sided && (value < 0 || (value == 0 && factor < 0)) ? 0 : factor;
}

// ---- motors: mm of cable pulled in are m0 - m, mm^3 of syringe pushed m - m0

// How far a motor has moved, mm or mm^3; NAN without a motor. Idle cables only pay out what the body takes.
double pl_actuator_travel(const pl_actuator_info *actuator, double value, double measure)
{
    const drive_row *d = drive_of(actuator->drive);
    const double rest = actuator->rest, sign = -pl_actuator_kind_get(d->kind)->sign;

    if (isnan(value)) {
        return pl_actuator_kind_get(d->kind)->pulls_only && !actuator->idle_hold ? fmin(0, rest - measure)
                                                                                 : 0;
    }

    if (!d->motor) {
        return NAN;
    }

    // by effort the measure follows; by measure the value itself gives it
    return d->slope == 0 ? rest - measure
                         : sign * ((d->start - 1) * rest + pl_drive_slope(actuator->drive, rest) * value);
}

double pl_actuator_travel_rate(const pl_actuator_info *actuator, double rate)
{
    return rate * fabs(pl_drive_slope(actuator->drive, actuator->rest));
}

// ---- actuators of a robot: the drive, and what a table, growth or a liquid make of it

pl_drive_law pl_actuator_law(const pl_actuator *a)
{
    const pl_drive_law law = drive_of(a->drive)->law;
    const bool measure = a->table.count > 0 || (law == PL_LAW_GAS && a->liquid);
    return a->growth ? PL_LAW_GROWTH : measure ? PL_LAW_MEASURE : law;
}

// The measure asked for on a mesh where the undeformed actuator measures `rest`.
double pl_actuator_target(const pl_actuator *a, double rest, double value)
{
    if (a->table.count > 0) {
        return rest * pl_monotone_value(&a->table, value, NULL);
    }
    // mm and mm^3 count on the robot's mesh; on another one it is the ratio that stays
    const double own = pl_drive_rest(a->drive, a->rest), there = pl_drive_rest(a->drive, rest);
    return pl_drive_target(a->drive, rest, own == there ? value : value * there / own);
}

// What the goal of a measure counts in: growth in ratios, a constraint in mm, mm^2 or mm^3.
static double goal_rest(const pl_actuator *a)
{
    return a->growth ? 1 : a->rest;
}

// Whether the command prescribes a measure rather than an effort.
static bool goal_is_measure(const pl_actuator *a)
{
    const pl_drive_law law = pl_actuator_law(a);
    return law == PL_LAW_MEASURE || law == PL_LAW_GROWTH;
}

// What the solver is given for a value: a measure in mm, mm^2, mm^3, a growth ratio, or the effort itself.
double pl_actuator_goal(const pl_actuator *a, double value)
{
    return !goal_is_measure(a)  ? value
           : a->table.count > 0 ? goal_rest(a) * pl_monotone_value(&a->table, value, NULL)
                                : pl_drive_target(a->drive, goal_rest(a), value);
}

// d goal / d value.
double pl_actuator_goal_slope(const pl_actuator *a, double value)
{
    double slope = 1;
    if (a->table.count > 0) {
        pl_monotone_value(&a->table, value, &slope);
        return goal_rest(a) * slope;
    }

    return goal_is_measure(a) ? pl_drive_slope(a->drive, goal_rest(a)) : 1;
}

// The value that leads to a goal.
double pl_actuator_goal_inverse(const pl_actuator *a, double goal)
{
    return a->table.count > 0   ? pl_monotone_inverse(&a->table, goal / goal_rest(a))
           : goal_is_measure(a) ? pl_drive_value(a->drive, goal_rest(a), goal)
                                : goal;
}

bool pl_actuator_goal_rises(const pl_actuator *a)
{
    return a->table.count > 0 ? a->table.y[a->table.count - 1] >= a->table.y[0]
                              : pl_actuator_goal_slope(a, 0) > 0;
}

// Measure over rest measure that commands ask of actuator i; NAN if it is driven by effort or idle.
double pl_robot_actuator_asked(const pl_robot *robot, int i, const double *command)
{
    const pl_actuator *a = i >= 0 && i < robot->actuator_count ? &robot->actuator[i] : NULL;
    if (!a || a->command < 0 || !goal_is_measure(a)) {
        return NAN;
    }
    return pl_actuator_goal(a, pl_actuator_value(a, command[a->command])) / goal_rest(a);
}
