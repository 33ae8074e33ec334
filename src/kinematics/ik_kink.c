// Commands with a kink. The markers of a robot depend on a command in pieces: a cable does nothing until it
// is taut, and a one-sided command drives one actuator when positive and another when negative. On each piece
// there is an exact derivative, and the place of the kink is known: the present length of the slack cable, or
// 0.
//
// The step of the solver therefore uses, for each variable, the coordinate in which the shape is smooth:
//   taut cable, and any other command: the command itself;
//   slack cable: its tension p >= 0. Shapes with a cable slack are the shapes with p = 0, wherever its
//   command stands, so the shapes to choose from are
//     T_j + dT_j.p >= 0 for taut cables;  L_j + dL_j.p between the lengths its command allows for slack ones;
//   one-sided command at 0: the command, with one column for each side.
// The derivatives with respect to p come from one factorisation, with the row of a slack cable as a right
// side instead of a constraint. The command that belongs to p > 0 is the predicted length of the cable.
#include "kinematics/kinematics_impl.h"
#include "robot/robot_def.h"

#define KINK_SIDES 4    // all combinations are tried up to this many commands at their kink
#define KINK_AT 1e-12   // of the span: a one-sided command is at its kink
#define KINK_APART 1e-8 // of the row's size: distance between rows that meet in a point
#define KINK_SLACK                                                                                           \
    0.02 // of the span: a cable that is to stay slack is paid out this far beyond what it needs

// The cable that variable j alone drives by its length; -1: none.
static int kink_cable(const pl_ik *ik, int j)
{
    int found = -1, count = 0;
    for (int i = 0; i < ik->info.actuator_count; ++i) {
        const pl_actuator_info *a = &ik->info.actuator[i];

        if (a->command == ik->variable[j]) {
            ++count;
            found = pl_actuator_kind_get(a->kind)->pulls_only && !a->growth && !a->one_sided &&
                            a->table_count == 0 && pl_drive_is_geometric(a->drive) && a->factor != 0
                        ? i
                        : -1;
        }
    }

    return count == 1 ? found : -1;
}

// Whether variable j drives an actuator in one direction only and its range contains 0.
static bool kink_one_sided(const pl_ik *ik, int j)
{
    bool any = false;
    for (int i = 0; i < ik->info.actuator_count; ++i) {
        any = any || (ik->info.actuator[i].command == ik->variable[j] && ik->info.actuator[i].one_sided);
    }
    return any && ik->range.low[j] < 0 && ik->range.high[j] > 0;
}

// Finds the variables with kinks. Only the full body has derivatives with respect to efforts.
pl_status ik_kinks_create(pl_ik *ik, pl_error *err)
{
    ik_kinks *k = &ik->kink;
    const bool exact = pl_model_robot(ik->model) && !ik->info.approximate_derivative;

    k->cable = PL_NEW_ARRAY(int, ik->n);
    k->side = PL_NEW_ARRAY(int, ik->n);
    k->one_sided = PL_NEW_ARRAY(bool, ik->n);
    k->tension = PL_NEW_ARRAY(bool, ik->n);
    k->length_rate = PL_NEW_ARRAY(double, ik->n);
    k->length = PL_NEW_ARRAY(double, ik->n);
    if (!k->cable || !k->side || !k->one_sided || !k->tension || !k->length_rate || !k->length) {
        return pl_fail_memory(err, "ik: kinks");
    }

    // travel: change of the cable's length over the whole range of the command, mm
    for (int j = 0; j < ik->n; ++j) {
        k->cable[j] = exact ? kink_cable(ik, j) : -1;
        k->one_sided[j] = exact && kink_one_sided(ik, j);
        k->possible = k->possible || k->cable[j] >= 0 || k->one_sided[j];
        if (k->cable[j] >= 0) {
            const pl_actuator_info *a = &ik->info.actuator[k->cable[j]];
            k->length_rate[j] = pl_drive_slope(a->drive, a->rest) * a->factor * ik->range.span[j];
        }
    }

    return PL_OK;
}

// After the outputs are known.
// Memory for derivatives with up to two columns per variable.
pl_status ik_kinks_room(pl_ik *ik, pl_error *err)
{
    ik_kinks *k = &ik->kink;
    if (!k->possible || ik->outputs.energy >= 0) {
        k->possible = false; // the elastic energy has no derivative with respect to an effort here
        return PL_OK;
    }

    const pl_model_info *info = &ik->info;
    const int64_t columns = 2 * (int64_t)ik->n,
                  points = ik->outputs.parts & PL_PART_POINT ? info->point_count : 0;
    k->parameter = PL_NEW_ARRAY(pl_parameter, columns);
    k->marker = PL_NEW_ARRAY(double, 3 * info->marker_count * columns);
    k->rotation = PL_NEW_ARRAY(double, 3 * info->marker_count * columns);
    k->sensor = PL_NEW_ARRAY(double, info->sensor_count *columns);
    k->effort = PL_NEW_ARRAY(double, info->actuator_count *columns);
    k->measure = PL_NEW_ARRAY(double, info->actuator_count *columns);
    k->point = points > 0 ? PL_NEW_ARRAY(double, 3 * points * columns) : NULL;
    k->dL = PL_NEW_ARRAY(double, ik->n * ik->n);
    k->up = PL_NEW_ARRAY(double, ik->outputs.count * ik->n);
    k->down = PL_NEW_ARRAY(double, ik->outputs.count * ik->n);
    const bool ok = k->parameter && k->marker && k->rotation && k->sensor && k->effort && k->measure &&
                    (points == 0 || k->point) && k->dL && k->up && k->down;

    return ok ? PL_OK : pl_fail_memory(err, "ik: kinks");
}

void ik_kinks_clear(pl_ik *ik)
{
    ik_kinks *k = &ik->kink;
    void *const block[] = {k->cable,     k->side,   k->one_sided, k->tension, k->length_rate, k->length,
                           k->parameter, k->marker, k->rotation,  k->sensor,  k->effort,      k->measure,
                           k->point,     k->dL,     k->up,        k->down};

    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    *k = (ik_kinks){0};
}

// Whether variable j drives a slack cable at the state of the model.
static bool kink_slack(const pl_ik *ik, const pl_model_answer *a, int j)
{
    return ik->kink.cable[j] >= 0 && !(a->effort[ik->kink.cable[j]] > 0);
}

// Whether a one-sided command is at 0.
static bool kink_at_zero(const pl_ik *ik, int j)
{
    const double c = ik->range.low[j] + ik->range.span[j] * ik->here.z[j];
    return ik->kink.one_sided[j] && fabs(c) <= KINK_AT * ik->range.span[j];
}

bool ik_kinks_present(const pl_ik *ik)
{
    const pl_model_answer a = pl_model_get_answer(ik->model);
    bool any = false;
    for (int j = 0; ik->kink.on && j < ik->n; ++j) {
        any = any || kink_slack(ik, &a, j) || kink_at_zero(ik, j);
    }
    return any;
}

// As kink_slack, where kinks are taken into account.
bool ik_kinks_slack(const pl_ik *ik, int j)
{
    const pl_model_answer a = pl_model_get_answer(ik->model);
    return ik->kink.on && kink_slack(ik, &a, j);
}

bool ik_kinks_at_zero(const pl_ik *ik)
{
    bool any = false;
    for (int j = 0; ik->kink.on && j < ik->n; ++j) {
        any = any || kink_at_zero(ik, j);
    }
    return any;
}

// Identifies the coordinates in use: curvature from differences of J is valid only while they stay the same.
uint64_t ik_kinks_signature(const pl_ik *ik)
{
    uint64_t hash = 0;
    for (int j = 0; ik->kink.on && ik->kink.active && j < ik->n; ++j) {
        hash = hash * 31 + (uint64_t)(ik->kink.tension[j] ? 7 : ik->kink.side[j] + 2);
    }
    return hash;
}

// ---- derivatives

// Column `from` of all outputs, times `scale`, into column j of `J` (outputs x variables).
static void kink_column(const pl_ik *ik, int columns, int from, int j, double scale, double *J)
{
    const ik_kinks *k = &ik->kink;
    const ik_outputs *o = &ik->outputs;
    const pl_model_info *info = &ik->info;
#define TAKE(row, array, index) J[(int64_t)(row)*ik->n + j] = scale * (array)[(int64_t)(index)*columns + from]
    for (int m = 0; m < info->marker_count; ++m) {
        for (int i = 0; i < 3; ++i) {
            if (o->marker[m] >= 0) {
                TAKE(o->marker[m] + i, k->marker, 3 * m + i);
            }
            if (o->rotation[m] >= 0) {
                TAKE(o->rotation[m] + i, k->rotation, 3 * m + i);
            }
        }
    }

    for (int m = 0; m < info->sensor_count; ++m) {
        if (o->sensor[m] >= 0) {
            TAKE(o->sensor[m], k->sensor, m);
        }
    }

    for (int m = 0; m < info->actuator_count; ++m) {
        if (o->effort[m] >= 0) {
            TAKE(o->effort[m], k->effort, m);
        }
    }

    for (int32_t v = 0; k->point && v < info->point_count; ++v) {
        for (int i = 0; o->point[v] >= 0 && i < 3; ++i) {
            TAKE(o->point[v] + i, k->point, 3 * v + i);
        }
    }
#undef TAKE
}

// The parameters of the derivatives: tension for slack cables, command otherwise, and a second column for the
// other side of one-sided commands at 0. Returns their number.
static int kink_parameters(pl_ik *ik)
{
    ik_kinks *k = &ik->kink;
    const pl_model_answer a = pl_model_get_answer(ik->model);
    int count = ik->n;

    k->active = false;
    for (int j = 0; j < ik->n; ++j) {
        k->tension[j] = kink_slack(ik, &a, j);
        k->side[j] = kink_at_zero(ik, j) ? 1 : 0;
        k->length[j] = k->cable[j] >= 0 ? a.measure[k->cable[j]] : NAN;
        k->active = k->active || k->tension[j] || k->side[j] != 0;
        k->parameter[j] =
            k->tension[j] ? (pl_parameter){.kind = PL_PARAMETER_EFFORT, .index = k->cable[j]}
                          : (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = ik->variable[j], .part = 1};
    }

    for (int j = 0; j < ik->n; ++j) {
        if (k->side[j] != 0) {
            k->parameter[count++] =
                (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = ik->variable[j], .part = -1};
        }
    }

    return count;
}

// Jy, the columns of both sides, and dL, all from one factorisation.
pl_status ik_kinks_differentiate(pl_ik *ik, pl_error *err)
{
    ik_kinks *k = &ik->kink;
    const int columns = kink_parameters(ik), n = ik->n;
    const pl_jacobian out = {.position = k->point,
                             .marker = k->marker,
                             .rotation = ik->outputs.parts & PL_PART_ROTATION ? k->rotation : NULL,
                             .sensor = ik->outputs.parts & PL_PART_SENSOR ? k->sensor : NULL,
                             .effort = k->effort,
                             .measure = k->measure};
    pl_jacobian_report report;
    const pl_status status = pl_model_sensitivity(ik->model, k->parameter, columns, &out, &report, err);

    if (status != PL_OK) {
        return status;
    }

    int down = n;

    // columns per part of the span
    for (int j = 0; j < n; ++j) {
        double scale = ik->range.span[j];
        if (k->tension[j]) {
            // one unit of p shortens the cable by what the whole range of its command would
            const double rate = k->measure[(int64_t)k->cable[j] * columns + j];
            scale = rate < 0 ? -fabs(k->length_rate[j]) / rate : 0;
        }

        kink_column(ik, columns, j, j, scale, ik->slope.Jy);
        if (k->side[j] != 0) {
            kink_column(ik, columns, j, j, scale, k->up);
            kink_column(ik, columns, down++, j, scale, k->down);
        }

        for (int i = 0; i < n; ++i) {
            k->dL[i * n + j] = k->cable[i] >= 0 ? scale * k->measure[(int64_t)k->cable[i] * columns + j] : 0;
        }
    }

    ik->slope.known = ik->slope.fresh = true;

    return PL_OK;
}

// ---- the two sides of one-sided commands

// Number of commands whose side is still to be chosen; 0 with more than KINK_SIDES,
// where each is chosen by itself.
int ik_kinks_side_count(const pl_ik *ik)
{
    int count = 0;
    for (int j = 0; ik->kink.on && ik->kink.active && ik->slope.fresh && j < ik->n; ++j) {
        count += ik->kink.side[j] != 0;
    }
    return count <= KINK_SIDES ? count : 0;
}

// Column j of the Jacobian of the chosen side.
static void kink_set_side(pl_ik *ik, int j, int side)
{
    const double *from = side > 0 ? ik->kink.up : ik->kink.down;
    for (int i = 0; i < ik->outputs.count; ++i) {
        ik->slope.Jy[(int64_t)i * ik->n + j] = from[(int64_t)i * ik->n + j];
    }
    ik->kink.side[j] = side;
}

// Sides of all commands at their kink from the bits of a number.
void ik_kinks_set_sides(pl_ik *ik, unsigned bits)
{
    for (int j = 0, b = 0; j < ik->n; ++j) {
        if (ik->kink.side[j] != 0) {
            kink_set_side(ik, j, bits >> b++ & 1 ? -1 : 1);
        }
    }
}

// Each command at its kink takes the side on which the objective falls faster.
void ik_kinks_choose_sides(pl_ik *ik)
{
    if (!ik->kink.on || !ik->kink.active || !ik->slope.fresh) {
        return;
    }
    for (int j = 0; j < ik->n; ++j) {
        // slopes of the objective towards both sides
        double slope[2] = {0, 0};
        for (int s = 0; ik->kink.side[j] != 0 && s < 2; ++s) {
            kink_set_side(ik, j, s ? -1 : 1);
            ik_jacobian(ik, &ik->here, ik->local.J, ik->local.E);
            for (int i = 0; i < ik->goal.rows; ++i) {
                slope[s] += ik->local.J[(int64_t)i * ik->n + j] * ik->here.r[i];
            }
        }

        if (ik->kink.side[j] != 0) {
            kink_set_side(ik, j, slope[1] > -slope[0] ? -1 : 1);
        }
    }
}

// ---- the step

// Bounds of the step in the coordinates in use: a tension only grows, a one-sided command stays on its side.
void ik_kinks_box(const pl_ik *ik, double radius, double *low, double *high)
{
    for (int j = 0; j < ik->n; ++j) {
        const bool chart = ik->kink.on && ik->kink.active;
        low[j] = fmin(fmax(ik->range.now_low[j] - ik->here.z[j], -radius), 0);
        high[j] = fmax(fmin(ik->range.now_high[j] - ik->here.z[j], radius), 0);
        if (chart && ik->kink.tension[j]) {
            low[j] = 0;
            high[j] = radius;
        } else if (chart && ik->kink.side[j] != 0) {
            low[j] = ik->kink.side[j] > 0 ? 0 : low[j];
            high[j] = ik->kink.side[j] > 0 ? high[j] : 0;
        }
    }
}

// Length of the cable (mm) that the command at z asks for.
static double kink_length(const pl_ik *ik, int j, double z)
{
    const pl_actuator_info *a = &ik->info.actuator[ik->kink.cable[j]];
    return pl_drive_target(a->drive, a->rest, a->factor * (ik->range.low[j] + ik->range.span[j] * z));
}

// Adds a . p <= b, scaled by the largest entry of the row; returns 1, or 0 for an empty row.
static int kink_row(const pl_ik *ik, const double *row, double sign, double room, int index, double *a,
                    double *b)
{
    double largest = 0;
    for (int j = 0; j < ik->n; ++j) {
        largest = fmax(largest, fabs(row[j]));
    }
    if (!(largest > 0)) {
        return 0;
    }
    for (int j = 0; j < ik->n; ++j) {
        a[j] = sign * row[j] / largest;
    }

    // at rest many rows meet in one point, where an active set method goes in circles: they are moved apart
    *b = fmax(room / largest, 0) + KINK_APART * (1 + fmod(0.618034 * (1 + index), 1));

    return 1;
}

// Linearised conditions under which the coordinates stay valid; at most two rows per variable.
int ik_kinks_rows(pl_ik *ik, double *a, double *b)
{
    const ik_kinks *k = &ik->kink;
    const int n = ik->n;
    int count = 0;

    for (int j = 0; k->on && j < n; ++j) {
        if (k->cable[j] < 0) {
            continue;
        }

        // taut: the tension must not become negative
        if (!k->active || !k->tension[j]) {
            const int row = ik->outputs.effort[k->cable[j]];
            count += kink_row(ik, ik->slope.Jy + (int64_t)row * n, -1, ik->here.y[row], count, a + count * n,
                              b + count);
            continue;
        }

        // slack: the length must stay within what the command can ask for
        const double one = kink_length(ik, j, ik->range.now_low[j]),
                     other = kink_length(ik, j, ik->range.now_high[j]);
        const double longest = fmax(one, other), shortest = fmin(one, other);
        count += kink_row(ik, k->dL + j * n, 1, longest - k->length[j], count, a + count * n, b + count);
        if (k->length[j] > shortest) {
            count +=
                kink_row(ik, k->dL + j * n, -1, k->length[j] - shortest, count, a + count * n, b + count);
        } else {
            memset(a + count * n, 0, (size_t)n * sizeof *a); // slack even at the end of its command
            a[count * n + j] = 1;
            b[count++] = 0;
        }
    }

    return count;
}

// Commands that belong to the step p.
void ik_kinks_apply(const pl_ik *ik, const double *p, double *z)
{
    const ik_kinks *k = &ik->kink;
    for (int j = 0; j < ik->n; ++j) {
        double to = ik->here.z[j] + p[j];

        if (k->on && k->active && k->tension[j]) {
            // predicted length of the cable after the step
            double length = k->length[j];
            for (int i = 0; i < ik->n; ++i) {
                length += k->dL[j * ik->n + i] * p[i];
            }

            // a command whose tension grows goes to the kink; a slack one that becomes short is paid out
            const double now = kink_length(ik, j, ik->here.z[j]),
                         kink = ik->here.z[j] + (length - now) / k->length_rate[j];
            const double out = kink + copysign(KINK_SLACK, k->length_rate[j]);
            const bool rate = ik->range.by_rate_low[j] || ik->range.by_rate_high[j];
            const bool wanted = p[j] > 1e-12 || (rate && ik->local.g[j] < 0);
            to = wanted ? kink : now < length ? out : ik->here.z[j];
        }

        z[j] = fmin(fmax(to, ik->range.now_low[j]), ik->range.now_high[j]);
    }
}
