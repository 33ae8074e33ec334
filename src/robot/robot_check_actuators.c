// The checks of a def about actuators and the commands that drive them.
#include "robot/robot_check.h"
#include "robot/robot_kind.h"

// Where the values of a drive can lie at all.
static void check_range(check *c, const pl_actuator_def *a)
{
    if (!robot_check_finite(a->range, 2) || a->range[0] > a->range[1]) {
        CHECK_DEFECT(c, a->line, "actuator '%s': the range is reversed, from %g to %g", a->name, a->range[0],
                     a->range[1]);
        return;
    }

    if (!pl_drive_is_possible(a->drive, a->range[0])) {
        CHECK_DEFECT(c, a->line, "actuator '%s': a range of %s cannot start %s 0 (it starts at %g)", a->name,
                     pl_drive_name(a->drive), pl_drive_is_possible(a->drive, 0) ? "below" : "at or below",
                     a->range[0]);
    }

    if (!pl_drive_is_plausible(a->drive, a->range)) {
        const double scale = pl_drive_scale(a->drive);
        CHECK_WARN(c, a->line, "actuator '%s': a %s from %g to %g %s is implausible for a soft body", a->name,
                   pl_drive_name(a->drive), a->range[0] / scale, a->range[1] / scale,
                   pl_drive_unit(a->drive));
    }
}

// At least two finite points, not all fixed in space.
void robot_check_guides(check *c, const char *what, const char *name, const pl_guide_def *guide, int count,
                        double radius, int line)
{
    if (!guide || count < 2) {
        CHECK_DEFECT(c, line, "%s '%s': %d points given, at least 2 are needed", what, name,
                     guide ? count : 0);
        return;
    }

    if (!(radius >= 0) || !isfinite(radius)) {
        CHECK_DEFECT(c, line, "%s '%s': the radius is %g mm", what, name, radius);
    }

    int space = 0;
    for (int g = 0; g < count; ++g) {
        space += guide[g].space;
        if (!robot_check_finite(guide[g].point, 3)) {
            CHECK_DEFECT(c, guide[g].line, "%s '%s': point %d is not finite", what, name, g + 1);
        }
        if (!(guide[g].radius >= 0) || !isfinite(guide[g].radius)) {
            CHECK_DEFECT(c, guide[g].line, "%s '%s': the radius of point %d is %g mm", what, name, g + 1,
                         guide[g].radius);
        }
    }

    if (space == count) {
        CHECK_DEFECT(c, line, "%s '%s': all its points are fixed in space, so its length never changes", what,
                     name);
    }
}

// A table turns what drives the actuator into the ratio its measure takes.
static void check_table(check *c, const pl_actuator_def *a)
{
    if (pl_drive_is_geometric(a->drive)) {
        CHECK_DEFECT(c, a->line,
                     "actuator '%s': a table converts tension, pressure, syringe or voltage to a ratio; the "
                     "drive %s is already geometric",
                     a->name, pl_drive_name(a->drive));
        return;
    }

    if (a->table_count < 2 || !a->table) {
        CHECK_DEFECT(c, a->line, "actuator '%s': its table has %d points, at least 2 are needed", a->name,
                     a->table_count);
        return;
    }

    // points: finite, rising values, monotone ratios
    const double *t = a->table, scale = pl_drive_scale(a->drive);
    const double rise = t[2 * a->table_count - 1] - t[1];
    for (int i = 0; i < a->table_count; ++i) {
        const double *p = t + 2 * i;

        if (!isfinite(p[0]) || !isfinite(p[1]) || !(p[1] > 0)) {
            CHECK_DEFECT(c, a->line,
                         "actuator '%s': table point %d is (%g, %g), expected a number and a ratio > 0",
                         a->name, i + 1, p[0] / scale, p[1]);
            return;
        }

        if (i > 0 && !(p[0] > p[-2])) {
            CHECK_DEFECT(c, a->line, "actuator '%s': table point %d at %g %s must come after %g", a->name,
                         i + 1, p[0] / scale, pl_drive_unit(a->drive), p[-2] / scale);
            return;
        }

        if (i > 0 && (p[1] - p[-1]) * rise < 0) {
            CHECK_DEFECT(c, a->line,
                         "actuator '%s': the table is not monotone, %g follows %g at point %d (`pliant "
                         "calibrate` makes measured tables monotone)",
                         a->name, p[1], p[-1], i + 1);
            return;
        }
    }

    // the range must lie within the table: beyond it nothing was measured
    const double *first = t, *last = t + 2 * (a->table_count - 1);
    if (a->has_range && (a->range[0] < first[0] || a->range[1] > last[0])) {
        CHECK_DEFECT(c, a->line, "actuator '%s': the range of %g to %g %s exceeds its table, %g to %g",
                     a->name, a->range[0] / scale, a->range[1] / scale, pl_drive_unit(a->drive),
                     first[0] / scale, last[0] / scale);
    }
}

// Growth needs a ratio (directly or by a table) and, for cables, a modulus.
static void check_growth(check *c, const pl_actuator_def *a)
{
    if (a->table_count != 0 || a->table) {
        check_table(c, a);
    }

    if (!a->growth) {
        if (a->modulus != 0) {
            CHECK_DEFECT(c, a->line, "actuator '%s': 'modulus' needs actuation: growth", a->name);
        }
        return;
    }

    const bool ratio = pl_drive_dimension(a->drive) == PL_DIM_NUMBER;
    const pl_growth_form form = pl_actuator_traits_get(a->kind)->growth;
    if (form == PL_GROWTH_LINE && !(a->modulus > 0)) {
        CHECK_DEFECT(c, a->line,
                     "actuator '%s': expected 'modulus' (of the growing triangles between cable and body)",
                     a->name);
    }

    if (!ratio && a->table_count == 0) {
        CHECK_DEFECT(c, a->line,
                     "actuator '%s': growth is driven by a ratio (volume_ratio, area_ratio, length_ratio) or "
                     "through a "
                     "table, not by %s alone",
                     a->name, pl_drive_name(a->drive));
    }

    if (form == PL_GROWTH_AREA && !a->region) {
        CHECK_DEFECT(c, a->line,
                     "actuator '%s': growth of a film needs a region of prisms, expected 'region'", a->name);
    }

    if (!(a->modulus >= 0) || !isfinite(a->modulus)) {
        CHECK_DEFECT(c, a->line, "actuator '%s': the modulus is %g MPa, must be > 0", a->name, a->modulus);
    }
}

// Friction of a cable in its guides: the law is that of a constraint or a given tension.
static void check_friction(check *c, const pl_actuator_def *a)
{
    if (!(a->friction >= 0) || !isfinite(a->friction)) {
        CHECK_DEFECT(c, a->line, "cable '%s': the friction is %g", a->name, a->friction);
    } else if (a->friction > 0 && a->growth) {
        CHECK_DEFECT(c, a->line, "cable '%s': friction needs actuation: constraint, not growth", a->name);
    }
}

// Region, remanent flux density (V s/mm^2: 1 T is 1e-6) and direction of the field.
static void check_magnet(check *c, const pl_actuator_def *a)
{
    if (!a->region || a->surface) {
        CHECK_DEFECT(c, a->line, "actuator '%s': expected 'region', the hard-magnetic part of the body",
                     a->name);
    }

    if (!(pl_norm3(a->remanence) > 0) || !isfinite(pl_norm3(a->remanence))) {
        CHECK_DEFECT(
            c, a->line,
            "actuator '%s': expected 'remanence', the remanent flux density of the region, e.g. [120 mT, "
            "0 mT, 0 mT]",
            a->name);
    } else if (pl_norm3(a->remanence) > 3e-6) {
        CHECK_WARN(c, a->line, "actuator '%s': a remanence of %g T is implausible (neodymium: about 1.3)",
                   a->name, 1e6 * pl_norm3(a->remanence));
    }

    if (!(pl_norm3(a->direction) > 0) || !isfinite(pl_norm3(a->direction))) {
        CHECK_DEFECT(c, a->line, "actuator '%s': expected 'direction', that of the field, e.g. [0, 0, 1]",
                     a->name);
    }

    if (a->growth || a->table_count > 0 || a->idle_hold) {
        CHECK_DEFECT(c, a->line, "actuator '%s': a magnet has no growth, no table and no idle: hold",
                     a->name);
    }
}

// Kind by kind: drive, place, range, and what the drive needs.
void robot_check_actuators(check *c)
{
    for (int i = 0; i < c->def->actuator_count; ++i) {
        const pl_actuator_def *a = &c->def->actuator[i];
        if (!a->name || !a->name[0]) {
            continue; // reported with the names
        }
        if ((unsigned)a->drive >= PL_DRIVE_COUNT || pl_drive_kind(a->drive) != a->kind) {
            CHECK_DEFECT(c, a->line, "actuator '%s': the drive %s is not available for a %s", a->name,
                         pl_drive_name(a->drive), pl_actuator_kind_name(a->kind));
            continue;
        }

        // where it acts
        const pl_actuator_place place = pl_actuator_kind_get(a->kind)->place;
        if (place == PL_PLACE_POINTS) {
            robot_check_guides(c, "cable", a->name, a->guide, a->guide_count, a->radius, a->line);
            check_friction(c, a);
        } else if (place == PL_PLACE_REGION) {
            check_magnet(c, a);
        } else if ((a->surface != NULL) + (a->region != NULL) != 1) {
            CHECK_DEFECT(c, a->line, "actuator '%s': expected exactly one of surface, region", a->name);
        }
        if (a->has_range) {
            check_range(c, a);
        }
        check_growth(c, a);

        // what the drive needs
        if (a->drive == PL_DRIVE_VOLTAGE && a->table_count == 0 &&
            (!(a->thickness > 0) || !(a->permittivity > 0))) {
            CHECK_DEFECT(c, a->line,
                         "actuator '%s': a film driven by voltage needs 'thickness' and 'permittivity'",
                         a->name);
        }

        if (a->drive == PL_DRIVE_SYRINGE && (!(a->ambient > 0) || !(a->line_volume >= 0))) {
            CHECK_DEFECT(c, a->line,
                         "actuator '%s': ambient pressure %g MPa and line volume %g mm^3 are impossible",
                         a->name, a->ambient, a->line_volume);
        }

        if (a->drive == PL_DRIVE_SYRINGE && a->ambient > 1) {
            CHECK_WARN(c, a->line, "actuator '%s': an ambient pressure of %g kPa is implausible", a->name,
                       1e3 * a->ambient);
        }
    }
}

// A one-sided command leaves an actuator at 0 while it points in the other direction: 0 must mean rest.
static void check_one_sided(check *c, const pl_command_def *command, const pl_actuator_def *a)
{
    if (!pl_drive_rests_at_zero(a->drive)) {
        CHECK_DEFECT(c, command->line,
                     "command '%s' is one_sided: it sets '%s' to 0, which is not the rest value of the drive "
                     "%s (expected shortening, tension, pressure, syringe or voltage)",
                     command->name, a->name, pl_drive_name(a->drive));
        return;
    }

    if (a->has_range && a->range[0] > 0) {
        CHECK_DEFECT(c, command->line,
                     "command '%s' is one_sided: it sets '%s' to 0, but its range starts at %g",
                     command->name, a->name, a->range[0] / pl_drive_scale(a->drive));
    }
}

// Every actuator has at most one command; factors are not 0.
void robot_check_commands(check *c)
{
    const pl_robot_def *d = c->def;
    for (int i = 0; i < d->command_count; ++i) {
        const pl_command_def *command = &d->command[i];
        const char *name = command->name ? command->name : "";
        if (command->drive_count == 0) {
            CHECK_DEFECT(c, command->line, "command '%s' drives nothing", name);
        }
        if (command->has_range &&
            (!robot_check_finite(command->range, 2) || command->range[0] > command->range[1])) {
            CHECK_DEFECT(c, command->line, "command '%s': the range is reversed", name);
        }

        for (int k = 0; k < command->drive_count; ++k) {
            const pl_command_drive *drive = &command->drive[k];
            const int a = robot_check_reference(c, d->actuator, sizeof *d->actuator, d->actuator_count,
                                                drive->actuator, "commands", "actuator", command->line);
            if (!isfinite(drive->factor) || drive->factor == 0) {
                CHECK_DEFECT(c, command->line,
                             "command '%s': the factor of '%s' is %g, must be a number other than 0", name,
                             drive->actuator, drive->factor);
            }

            if (a >= 0 && command->one_sided) {
                check_one_sided(c, command, &d->actuator[a]);
            }
            if (a >= 0 && c->driver[a] > 0) {
                CHECK_DEFECT(c, command->line, "actuator '%s' is driven by two commands, '%s' and '%s'",
                             drive->actuator, d->command[c->driver[a] - 1].name, name);
            }

            if (a >= 0) {
                c->driver[a] = i + 1;
            }
        }
    }

    // a command that takes the name of an actuator nobody drives leaves it idle for ever
    for (int a = 0; a < d->actuator_count; ++a) {
        const char *name = d->actuator[a].name;
        const int i = name && !c->driver[a]
                          ? robot_check_find(d->command, sizeof *d->command, d->command_count, name)
                          : -1;
        if (i >= 0) {
            CHECK_DEFECT(c, d->command[i].line,
                         "command '%s' has the name of an actuator that it does not drive", name);
        }
    }
}
