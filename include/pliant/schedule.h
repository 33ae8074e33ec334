// Commands over time: what every command is asked to be (held, ramps, sines, tables), and how the hardware
// follows: a largest rate (motors, syringe pumps) and times in which a pressure fills and vents.
//
//   y' = (asked - y) / tau, tau = fill where the value rises and vent where it falls, |y'| <= rate
//
// Values are in internal units (mm, N, MPa, mm^3, V), times in s. NAN: idle.
#ifndef PLIANT_SCHEDULE_H
#define PLIANT_SCHEDULE_H

#include "pliant/dynamics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pl_schedule pl_schedule;

// `command` describes `count` commands; their rates and times of filling and venting are those of the
// response. The schedule begins at `begin` with the values `first` (copied), which are held until something
// else is asked.
PL_API_CHECKED pl_status pl_schedule_create(const pl_command_info *command, int count, double begin,
                                            const double *first, pl_schedule **out, pl_error *err);
PL_API void pl_schedule_destroy(pl_schedule *schedule);

// From time t on, in the order of time for each command: a linear ramp to `to` (duration 0: a jump); a sine
// about `mean`; rows of a table (`stride` numbers from row to row), linear between them, two rows with one
// time being a jump. Refused: times that go back, values that are not finite and not NAN.
PL_API_CHECKED pl_status pl_schedule_ramp(pl_schedule *schedule, int command, double t, double duration,
                                          double to, pl_error *err);
PL_API_CHECKED pl_status pl_schedule_sine(pl_schedule *schedule, int command, double t, double mean,
                                          double amplitude, double frequency, pl_error *err);
PL_API_CHECKED pl_status pl_schedule_table(pl_schedule *schedule, int command, const double *time,
                                           const double *value, int stride, int rows, pl_error *err);

// A force (N) at a marker from t0 to t1 (INFINITY: on); a short one is an impulse, F (t1 - t0). Forces of one
// marker add up. With any of these they are all the forces at markers there are.
PL_API_CHECKED pl_status pl_schedule_push(pl_schedule *schedule, int marker, int marker_count,
                                          const double force[3], double t0, double t1, pl_error *err);

// The supports move along an axis (0: x) from rest, u = amplitude (1 - cos 2 pi frequency (t - t0)), between
// t0 and t1 (INFINITY: on and on). After half a period they stand still again, 2 amplitude away. Motions add
// up.
PL_API_CHECKED pl_status pl_schedule_base(pl_schedule *schedule, int axis, double amplitude, double frequency,
                                          double t0, double t1, pl_error *err);

// The loads of the robot act from 0 to 1 over this time from the start on.
PL_API void pl_schedule_load_ramp(pl_schedule *schedule, double duration);

// Without a limit of rates and times: 0.
PL_API_CHECKED pl_status pl_schedule_follow(pl_schedule *schedule, int command, double rate, double fill,
                                            double vent, pl_error *err);

// An air line instead of rate and times: a regulator that holds what is asked, a tube and a volume, both at
// ambient temperature. With the absolute pressures P1 > P2 upstream and downstream (ISO 6358)
//   dP/dt = +- speed P1 f(P2 / P1),  f = 1 below the critical ratio b (choked), otherwise
//   f = sqrt(1 - ((P2 / P1 - b) / (1 - b))^2),   speed = ambient C / V
// with the sonic conductance C (mm^3/(s MPa)) of the tube and the volume V (mm^3), which is taken as
// constant. Within 1e-3 of equal pressures the flow is proportional to their difference.
typedef struct pl_air_line {
    double conductance; // mm^3/(s MPa); 1 L/(s bar) is 1e7
    double critical;    // b, 0 to 1; tubes and valves 0.2 to 0.5
    double volume;      // mm^3
    double ambient;     // MPa, absolute
} pl_air_line;
PL_API_CHECKED pl_status pl_schedule_line(pl_schedule *schedule, int command, const pl_air_line *line,
                                          pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
