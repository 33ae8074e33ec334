// A reduced model from the full one. Section stiffness follows from the full body's exact compliance to tip
// forces and moments at rest, chambers and cables from how the tip moves with each of them, first at rest,
// then at a share of its range; what is left over is measured at random commands.
#include <stdio.h>
#include "reduced/reduced_impl.h"
#include "robot/robot.h"
#include "robot/robot_kind.h"

#define FIT_TAUT 1e-4 // of a cable's length: drawn in as little, it is taut

// The result owns what its def points to.
struct pl_reduction {
    pl_reduced_def def;
    pl_section_def section;
    pl_line_marker_def marker;
    pl_line_actuator_def *actuator;
    char *text;    // all names
    double *error; // of the samples: commands, position, rotation
};

// 60 samples measure the error to about 10 %; three quarters of the range keep away from its end, where
// models fail.
pl_reduce_options pl_reduce_options_default(void)
{
    return (pl_reduce_options){.kind = PL_ROD, .sample_count = 60, .seed = 1, .load_share = 0.75};
}

void pl_reduction_destroy(pl_reduction *r)
{
    if (r) {
        pl_free(r->actuator);
        pl_free(r->text);
        pl_free(r->error);
        pl_free(r);
    }
}

const pl_reduced_def *pl_reduction_def(const pl_reduction *reduction)
{
    return &reduction->def;
}

int pl_reduction_actuator_count(const pl_reduction *reduction)
{
    return reduction->def.actuator_count;
}

pl_fitted_actuator pl_reduction_actuator(const pl_reduction *reduction, int i)
{
    const pl_line_actuator_def *a = &reduction->def.actuator[i];
    return (pl_fitted_actuator){.name = a->name,
                                .kind = a->kind,
                                .radius = a->path.radius[0],
                                .angle = a->path.angle,
                                .area = a->area,
                                .effectiveness = a->effectiveness[0]};
}

// Everything about one reduction.
typedef struct fit {
    pl_model *full;
    pl_model_info info;
    const pl_reduce_options *options;
    pl_reduction *r; // being filled
    pl_reduce_report *report;
    int marker;              // tip
    double L, C[36];         // tip compliance in the base frame: (F, M) to (position, rotation)
    double *command, effort; // of the actuator at its share
} fit;

// One equilibrium of the full model, counted; an interruption by the user is a failure.
static pl_status fit_solve(fit *f, const double *command, bool *solved, pl_error *err)
{
    pl_solve_report report;
    ++f->report->solves;

    // rest, each actuator alone in two ways, and the samples
    const double expected = 1 + 2 * f->info.command_count + f->options->sample_count;
    if (!pl_progress_step(&f->options->progress, fmin((f->report->solves - 1) / expected, 1),
                          "solving the full model")) {
        return pl_fail(err, PL_INTERRUPTED, "interrupted");
    }

    const pl_status status = pl_model_fk(f->full, command, &report, err);
    *solved = status == PL_OK && report.outcome == PL_SOLVED;

    return status;
}

// ---- where the body lies
// In the undeformed mesh; false when there is no such surface.
// Area-weighted centre of a surface's corner triangles.
static bool fit_surface_centre(const pl_mesh *mesh, const char *name, double centre[3])
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int32_t s = pl_mesh_find_surface(mesh, name);
    double area = 0;

    memset(centre, 0, 3 * sizeof *centre);
    for (int64_t i = s < 0 ? 0 : v.surface_start[s]; s >= 0 && i < v.surface_start[s + 1]; ++i) {
        int32_t node[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(mesh, v.surface_face[i], node);
        const int corners = count == 4 || count == 8 ? 4 : 3;
        // the face as a fan of triangles from its first corner
        for (int k = 1; k + 1 < corners; ++k) {
            const double *a = v.position + 3 * node[0], *b = v.position + 3 * node[k],
                         *c = v.position + 3 * node[k + 1];
            double u[3], w[3], n[3];
            pl_sub3(b, a, u);
            pl_sub3(c, a, w);
            pl_cross3(u, w, n);
            const double A = 0.5 * pl_norm3(n);
            area += A;
            for (int j = 0; j < 3; ++j) {
                centre[j] += A * (a[j] + b[j] + c[j]) / 3;
            }
        }
    }

    for (int j = 0; j < 3 && area > 0; ++j) {
        centre[j] /= area;
    }

    return area > 0;
}

// Without a surface the body ends opposite the marker: the mean of the points farthest from it.
static void fit_far_end(const fit *f, const double tip[3], double centre[3])
{
    // the largest distance, then the mean of all points within 5 % of it
    double far = 0, count = 0;
    for (int32_t i = 0; i < f->info.point_count; ++i) {
        far = fmax(far, pl_distance3(f->info.rest + 3 * i, tip));
    }
    memset(centre, 0, 3 * sizeof *centre);

    for (int32_t i = 0; i < f->info.point_count; ++i) {
        if (pl_distance3(f->info.rest + 3 * i, tip) > 0.95 * far) {
            reduced_axpy3(1, f->info.rest + 3 * i, centre);
            ++count;
        }
    }

    for (int j = 0; j < 3; ++j) {
        centre[j] /= fmax(count, 1);
    }
}

// Base at the first support that has an area, z towards the marker, x and y across; the diameter is the
// smallest that contains the body.
static pl_status fit_axis(fit *f, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(f->full);
    pl_reduced_def *d = &f->r->def;
    const double *tip = f->info.marker_at + 3 * f->marker;
    bool found = false;

    for (int i = 0; i < pl_robot_fixed_count(robot) && !found; ++i) {
        found = fit_surface_centre(pl_robot_mesh(robot), pl_robot_fixed_name(robot, i), d->base);
    }

    // no support with a surface: the end opposite of the marker
    if (!found) {
        fit_far_end(f, tip, d->base);
    }
    f->L = pl_distance3(tip, d->base);

    if (!(f->L > 1e-3 * f->info.size)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "reduce: marker '%s' lies at the base, so there is no centre line to it",
                       f->info.marker_name[f->marker]);
    }

    // frame: y = z x e with e the axis least aligned with z
    double z[3], x[3] = {0}, y[3];
    for (int j = 0; j < 3; ++j) {
        z[j] = (tip[j] - d->base[j]) / f->L;
    }
    x[fabs(z[0]) < 0.9 ? 0 : 1] = 1;
    pl_cross3(z, x, y);
    const double side = pl_norm3(y);
    for (int j = 0; j < 3; ++j) {
        y[j] /= side;
    }
    pl_cross3(y, z, x);

    // largest distance of a point from the axis
    double radius = 0;
    for (int32_t i = 0; i < f->info.point_count; ++i) {
        double p[3];
        pl_sub3(f->info.rest + 3 * i, d->base, p);
        radius = fmax(radius, hypot(pl_dot3(p, x), pl_dot3(p, y)));
    }

    for (int j = 0; j < 3; ++j) {
        d->frame[3 * j] = x[j];
        d->frame[3 * j + 1] = y[j];
        d->frame[3 * j + 2] = z[j];
    }

    f->report->length = f->L;
    f->report->diameter = 2 * radius;

    return PL_OK;
}

// ---- stiffness
// The robot was loaded with a force of zero and three small moments at the marker, as its last loads.
static pl_status fit_compliance(fit *f, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(f->full);
    const int first = pl_robot_force_count(robot) - 4, M = f->info.marker_count;
    pl_parameter parameter[6];

    for (int k = 0; k < 3; ++k) {
        parameter[k] = (pl_parameter){PL_PARAMETER_FORCE, first, k};
        parameter[3 + k] = (pl_parameter){PL_PARAMETER_MOMENT, first + 1 + k, 0};
    }

    // one factorisation, six right sides
    double *J = PL_NEW_ARRAY(double, 36 * (size_t)M);
    if (!J) {
        return pl_fail_memory(err, "the compliance");
    }

    const pl_jacobian out = {.marker = J, .rotation = J + 18 * M};
    pl_jacobian_report report;
    const pl_status status = pl_model_sensitivity(f->full, parameter, 6, &out, &report, err);

    // columns per N and N mm, rows and columns in the base frame
    const double *Q = f->r->def.frame;
    for (int half = 0; half < 2 && status == PL_OK; ++half) {
        const double *rows = (half ? out.rotation : out.marker) + 18 * f->marker;

        for (int block = 0; block < 2; ++block) {
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    double sum = 0;

                    for (int a = 0; a < 3; ++a) {
                        for (int b = 0; b < 3; ++b) {
                            const double per = block ? PL_PROBE_MOMENT : 1;
                            sum += Q[3 * a + i] * rows[6 * a + 3 * block + b] / per * Q[3 * b + j];
                        }
                    }

                    f->C[6 * (3 * half + i) + 3 * block + j] = sum;
                }
            }
        }
    }

    pl_free(J);

    return status;
}

// theta = L/EI M, delta_z = L/EA F, theta_z = L/GJ M, delta_x = (L^3/3EI + L/GA) F. A marker without a frame
// has no rotation: its deflection gives EI alone.
static pl_status fit_section(fit *f, pl_error *err)
{
    const double L = f->L, *C = f->C;
    pl_section_def *s = &f->r->section;

    // stiffness from the diagonal of the compliance
    const bool frame = isfinite(C[21]) && C[21] > 0 && C[28] > 0 && C[35] > 0;

    *s = (pl_section_def){.name = "body", .length = L};
    s->diameter[0] = s->diameter[1] = f->report->diameter;
    s->EA = L / C[14];
    s->EI[0] = frame ? L / C[21] : L * L * L / (3 * C[7]);
    s->EI[1] = frame ? L / C[28] : L * L * L / (3 * C[0]);
    s->GJ = frame ? L / C[35] : (s->EI[0] + s->EI[1]) / 3;

    // shear: what bending leaves of the deflection
    for (int k = 0; k < 2; ++k) {
        // stiff ends make the line look short: shear is then what a rubber section of this EA has
        const double rest = C[7 * k] - L * L * L / (3 * s->EI[1 - k]), usual = 0.3 * s->EA;
        s->GA[k] = frame && rest > 0.1 * L / usual ? L / rest : usual;
    }

    if (!(s->EA > 0 && s->EI[0] > 0 && s->EI[1] > 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "reduce: the stiffness of the body at its tip is not positive (EA %g, EI %g)", s->EA,
                       s->EI[0]);
    }

    // mass per length of all regions
    const pl_robot *robot = pl_model_robot(f->full);
    const pl_mesh *mesh = pl_robot_mesh(robot);
    for (int32_t i = 0; i < pl_mesh_get(mesh).region_count; ++i) {
        const char *name = pl_robot_region_material(robot, i);

        for (int k = 0; name && k < pl_robot_material_count(robot); ++k) {
            if (strcmp(pl_robot_material_name(robot, k), name) == 0) {
                s->mass += pl_mesh_region_volume(mesh, i) * pl_robot_material(robot, k).density / L;
            }
        }
    }

    return PL_OK;
}

// ---- actuators
// Tip twist per unit of effort, in the base frame: per MPa or per N.
static void fit_column(const fit *f, const pl_model_derivative *d, int a, double twist[6])
{
    const int n = f->info.command_count;
    const double *Q = f->r->def.frame, per = d->effort[a * n + a];

    for (int half = 0; half < 2; ++half) {
        const double *rows = (half ? d->rotation : d->marker) + 3 * f->marker * n;
        for (int i = 0; i < 3; ++i) {
            twist[3 * half + i] = 0;
            for (int k = 0; k < 3; ++k) {
                twist[3 * half + i] += Q[3 * k + i] * rows[k * n + a] / per;
            }
        }
    }
}

// A chamber of pressure p pushes with p A at the distance d: turn M L / EI, stretch F L / EA. A cable pulls.
// From the measured twist follow moment and force, from these radius, angle and effectiveness.
static void fit_actuator(fit *f, const double twist[6], double measure, pl_line_actuator_def *a)
{
    const pl_section_def *s = &f->r->section;
    const bool frame = isfinite(twist[3]);

    // without a frame the deflection of an arc gives the turn: delta = L theta / 2
    const double turn[2] = {frame ? twist[3] : -2 * twist[1] / f->L, frame ? twist[4] : 2 * twist[0] / f->L};
    const double M[2] = {turn[0] * s->EI[0] / f->L, turn[1] * s->EI[1] / f->L}, F = twist[2] * s->EA / f->L;
    const double size = hypot(M[0], M[1]);
    const bool chamber = pl_actuator_encloses(a->kind);

    // M = A (d_y, -d_x) for a chamber, the opposite for a cable
    const double sign = chamber ? 1 : -1;

    // area such that the volume at rest is right; the radius then carries the moment
    a->area = chamber ? measure / f->L : 1;
    a->path = (pl_line_path_def){.span = {0, f->L}, .angle = size > 0 ? atan2(sign * M[0], -sign * M[1]) : 0};
    a->path.radius[0] = a->path.radius[1] = size / a->area;
    a->effectiveness[0] = chamber ? F / a->area : 1;
    a->effectiveness[1] = 1;
}

// Actuator i alone at `value`. Those driven by efforts have none; lengths that are not commanded are free.
static pl_status fit_alone(fit *f, int i, double value, bool *solved, pl_error *err)
{
    for (int k = 0; k < f->info.command_count; ++k) {
        f->command[k] = pl_drive_is_geometric(f->info.command[k].drive) ? NAN : 0;
    }
    f->command[i] = value;
    return fit_solve(f, f->command, solved, err);
}

// The tip's answer to actuator i: at no effort, or where a cable driven by its length is just taut, for the
// body may sag.
static pl_status fit_answer(fit *f, int i, double twist[6], pl_error *err)
{
    const pl_actuator_info a = pl_robot_actuator(pl_model_robot(f->full), i);
    bool solved;

    // from rest, so that the answer does not depend on the actuator before
    pl_model_reset(f->full);
    pl_status status = fit_alone(f, i, pl_drive_is_geometric(a.drive) ? NAN : 0, &solved, err);
    if (status == PL_OK && pl_drive_is_geometric(a.drive)) {
        const double length = (1 - FIT_TAUT) * pl_model_get_answer(f->full).measure[i];
        status = fit_alone(f, i, fmax(pl_drive_value(a.drive, a.rest, length), 0), &solved, err);
    }

    if (status == PL_OK && !solved) {
        return pl_fail(err, PL_FAILED, "reduce: the full model finds no equilibrium with actuator '%s' alone",
                       a.name);
    }

    // the exact derivative there
    pl_model_derivative d;
    pl_jacobian_report report;
    if (status == PL_OK) {
        status = pl_model_differentiate(f->full, PL_PART_MARKER | PL_PART_ROTATION | PL_PART_EFFORT, 0, &d,
                                        &report, err);
    }

    if (status != PL_OK) {
        return status;
    }
    fit_column(f, &d, i, twist);

    return isfinite(twist[0] + twist[1] + twist[2])
               ? PL_OK
               : pl_fail(err, PL_BAD_INPUT, "reduce: actuator '%s' does not move the tip", a.name);
}

// Kind, drive and range are copied, place and strength fitted.
static pl_status fit_actuators(fit *f, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(f->full);
    pl_status status = PL_OK;

    for (int i = 0; status == PL_OK && i < f->info.actuator_count; ++i) {
        pl_line_actuator_def *a = &f->r->actuator[i];
        const pl_actuator_info info = pl_robot_actuator(robot, i);
        *a = (pl_line_actuator_def){.name = a->name,
                                    .kind = info.kind,
                                    .drive = info.drive,
                                    .has_range = info.has_range,
                                    .idle_hold = info.idle_hold,
                                    .rate = f->info.command[i].rate,
                                    .hardware = pl_actuator_hardware(&info)};
        memcpy(a->range, info.range, sizeof a->range);
        double twist[6];
        status = fit_answer(f, i, twist, err);
        if (status == PL_OK) {
            fit_actuator(f, twist, info.rest, a);
        }
    }

    return status;
}

// ---- at a share of the range
// Residual in mm of position and of the marker's axis, and its norm.
static double fit_misfit(const fit *f, pl_model *reduced, const double target[12], double residual[6])
{
    const pl_model_answer a = pl_model_get_answer(reduced);
    double off = 0;

    for (int k = 0; k < 3; ++k) {
        residual[k] = a.marker[k] - target[k];
        // the marker's axis, weighed as a deflection of half the length
        residual[3 + k] = 0;
        for (int j = 0; j < 3; ++j) {
            const double axis = f->r->def.frame[3 * j + 2];
            residual[3 + k] += 0.5 * f->L * (a.rotation[3 * k + j] - target[3 + 3 * k + j]) * axis;
        }

        residual[3 + k] = isfinite(residual[3 + k]) ? residual[3 + k] : 0;
        off += residual[k] * residual[k] + residual[3 + k] * residual[3 + k];
    }

    return sqrt(off);
}

// The residual of the reduced model with push and radius of one actuator scaled, at the effort that the full
// one has: by its length the bend of a line hardly tells the radius (d turn/d radius = 0 at radius^2 =
// EI/EA).
static pl_status fit_try(fit *f, int i, const double x[2], const double target[12], double residual[6],
                         double *misfit, pl_error *err)
{
    // scale the actuator, driven by its effort
    pl_line_actuator_def *a = &f->r->actuator[i];
    const pl_line_actuator_def kept = *a;

    a->effectiveness[0] *= x[0];
    a->path.radius[0] *= x[1];
    a->path.radius[1] *= x[1];
    a->drive = pl_actuator_kind_get(a->kind)->effort_drive;
    a->has_range = false;

    // solve the reduced model with it alone
    pl_model *reduced = NULL;
    pl_solve_report report;
    double command[REDUCED_ACTUATORS_MAX];
    for (int k = 0; k < f->info.command_count; ++k) {
        command[k] = pl_drive_is_geometric(f->info.command[k].drive) ? NAN : 0;
    }
    command[i] = f->effort;
    pl_status status = pl_reduced_create(&f->r->def, &reduced, NULL, err);
    if (status == PL_OK) {
        status = pl_model_fk(reduced, command, &report, err);
    }
    if (status == PL_OK) {
        *misfit = fit_misfit(f, reduced, target, residual);
        *misfit = report.outcome == PL_SOLVED ? *misfit : INFINITY;
    }

    // undo: the def keeps the values without factors
    pl_model_destroy(reduced);
    *a = kept;

    return status;
}

// Gauss-Newton on the two factors, by differences: the reduced model answers in microseconds.
static pl_status fit_refine(fit *f, int i, const double target[12], pl_error *err)
{
    double x[2] = {1, 1}, r[6], misfit;
    pl_line_actuator_def *a = &f->r->actuator[i];
    const int unknowns = pl_actuator_encloses(a->kind) ? 2 : 1;
    pl_status status = fit_try(f, i, x, target, r, &misfit, err);

    for (int iteration = 0; status == PL_OK && isfinite(misfit) && iteration < 15; ++iteration) {
        // Jacobian by forward differences; 1e-4 balances truncation and the solver's tolerance
        double J[2][6], g[2] = {0}, H[3] = {0};
        for (int u = 0; u < 2 && status == PL_OK; ++u) {
            double y[2] = {x[0], x[1]}, moved[6], other = INFINITY;
            y[u] += 1e-4;
            status = fit_try(f, i, y, target, moved, &other, err);
            for (int k = 0; k < 6; ++k) {
                J[u][k] = (moved[k] - r[k]) / 1e-4;
            }
        }

        // normal equations of both factors; a cable has only the radius
        for (int k = 0; k < 6; ++k) {
            g[0] += J[0][k] * r[k];
            g[1] += J[1][k] * r[k];
            H[0] += J[0][k] * J[0][k];
            H[1] += J[0][k] * J[1][k];
            H[2] += J[1][k] * J[1][k];
        }

        const double det = H[0] * H[2] - H[1] * H[1];
        double step[2] = {0, H[2] > 0 ? -g[1] / H[2] : 0};
        if (unknowns == 2 && det > 1e-12 * H[0] * H[2]) {
            step[0] = (-g[0] * H[2] + g[1] * H[1]) / det;
            step[1] = (-g[1] * H[0] + g[0] * H[1]) / det;
        }

        // no factor changes by more than ten in one step; the loop ends without improvement
        double y[2] = {fmin(fmax(x[0] + step[0], 0.1 * x[0]), 10 * x[0]),
                       fmin(fmax(x[1] + step[1], 0.1 * x[1]), 10 * x[1])};
        double next[6], better;
        if (status != PL_OK || (status = fit_try(f, i, y, target, next, &better, err)) != PL_OK ||
            !(better < misfit * (1 - 1e-9))) {
            break;
        }

        memcpy(x, y, sizeof x);
        memcpy(r, next, sizeof r);
        misfit = better;
    }

    // keep the best factors
    a->effectiveness[0] *= x[0];
    a->path.radius[0] *= x[1];
    a->path.radius[1] *= x[1];

    return status == PL_BAD_INPUT ? PL_OK : status;
}

// `share` of the path from rest to the end of the range that does more; a cable does so as it gets shorter.
static double fit_share(const pl_command_info *c, double share)
{
    const bool shorter = pl_actuator_pulls_only(pl_drive_kind(c->drive)) && pl_drive_slope(c->drive, 1) > 0;
    const bool low = shorter || fabs(c->range[0] - c->rest) > fabs(c->range[1] - c->rest);
    return c->has_range ? c->rest + share * (c->range[low ? 0 : 1] - c->rest) : c->rest;
}

// Refines every actuator at its share of the range, alone; where the full model fails, the fit at rest stays.
static pl_status fit_at_share(fit *f, pl_error *err)
{
    for (int i = 0; f->options->load_share > 0 && i < f->info.command_count; ++i) {
        bool solved;
        const double value = fit_share(&f->info.command[i], f->options->load_share);
        pl_model_reset(f->full);
        pl_status status = fit_alone(f, i, value, &solved, err);
        const pl_model_answer a = pl_model_get_answer(f->full);
        f->effort = a.effort[i];
        if (status == PL_OK && solved && a.effort[i] != 0) {
            double target[12];
            memcpy(target, a.marker + 3 * f->marker, 3 * sizeof *target);
            memcpy(target + 3, a.rotation + 9 * f->marker, 9 * sizeof *target);
            status = fit_refine(f, i, target, err);
        }

        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// ---- how far off it is
// The angle between two rotations, A^T B: its trace gives the cosine, its skew part the sine.
static double fit_angle(const double A[9], const double B[9])
{
    double Q[9];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            Q[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
        }
    }

    const double s[3] = {Q[7] - Q[5], Q[2] - Q[6], Q[3] - Q[1]};
    return atan2(pl_norm3(s), Q[0] + Q[4] + Q[8] - 1);
}

// A row of the errors of the model.
static void fit_keep_error(fit *f, double position, double rotation)
{
    pl_reduced_errors *e = &f->r->def.errors;
    const int C = f->info.command_count, limit = f->options->sample_count;
    double *command = f->r->error + (int64_t)e->count * C;

    for (int i = 0; i < C; ++i) {
        command[i] = isnan(f->command[i]) ? f->info.command[i].rest : f->command[i];
    }
    f->r->error[(int64_t)limit * C + e->count] = position;
    f->r->error[(int64_t)limit * (C + 1) + e->count] = rotation;
    ++e->count;
}

// Adds one sample to the sums: position (mm), direction of the marker's axis (rad), motion of the marker.
static void fit_compare(fit *f, const pl_model_answer *full, const pl_model_answer *small)
{
    pl_reduce_report *p = f->report;
    const double *at = full->marker + 3 * f->marker, *R = full->rotation + 9 * f->marker;
    const double off = pl_distance3(at, small->marker),
                 moved = pl_distance3(at, f->info.marker_at + 3 * f->marker);
    double a[3], b[3], n[3];
    const double z[3] = {f->r->def.frame[2], f->r->def.frame[5], f->r->def.frame[8]};

    pl_mulv3(R, z, a);
    pl_mulv3(small->rotation, z, b);
    pl_cross3(a, b, n);
    const double turn = isfinite(R[0]) ? atan2(pl_norm3(n), pl_dot3(a, b)) : 0;
    p->position_rms += off * off;
    p->position_max = fmax(p->position_max, off);
    p->direction_rms += turn * turn;
    p->direction_max = fmax(p->direction_max, turn);
    p->motion += moved * moved;
    ++p->sample_count;
    fit_keep_error(f, off, fit_angle(R, small->rotation));
}

// Random commands within the ranges; samples that either model does not solve are skipped.
static pl_status fit_samples(fit *f, pl_error *err)
{
    pl_model *small = NULL;
    pl_random random;

    pl_random_seed(&random, f->options->seed);
    const int C = f->info.command_count, limit = f->options->sample_count;
    pl_status status = pl_reduced_create(&f->r->def, &small, NULL, err);
    f->r->error = PL_NEW_ARRAY(double, (int64_t)limit *(C + 2));
    if (status == PL_OK && !f->r->error) {
        status = pl_fail_memory(err, "the reduced model");
    }

    for (int s = 0; status == PL_OK && s < limit; ++s) {
        bool solved;
        for (int i = 0; i < f->info.command_count; ++i) {
            const pl_command_info *c = &f->info.command[i];
            f->command[i] = c->has_range ? pl_random_uniform(&random, c->range[0], c->range[1]) : NAN;
        }

        status = fit_solve(f, f->command, &solved, err);
        pl_solve_report report;
        if (status == PL_OK && solved) {
            status = pl_model_fk(small, f->command, &report, err);
            if (status == PL_OK && report.outcome == PL_SOLVED) {
                const pl_model_answer a = pl_model_get_answer(f->full), b = pl_model_get_answer(small);
                fit_compare(f, &a, &b);
            }
        } else if (status == PL_OK) {
            pl_model_reset(f->full);
        }
    }

    // the measured errors become part of the def
    pl_model_destroy(small);
    pl_reduced_errors *e = &f->r->def.errors;
    e->command_count = C;
    e->marker = f->r->marker.name;
    e->command = f->r->error;
    e->position = f->r->error + (int64_t)limit * C;
    e->rotation = e->position + limit;

    // sums to root mean squares
    const double n = fmax(1, f->report->sample_count);
    f->report->position_rms = sqrt(f->report->position_rms / n);
    f->report->direction_rms = sqrt(f->report->direction_rms / n);
    f->report->motion = sqrt(f->report->motion / n);

    return status;
}

// ---- all of it
// What can be reduced: a full robot with one command per cable or chamber, and the probe loads.
static pl_status fit_begin(fit *f, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(f->full);
    if (!robot) {
        return pl_fail(err, PL_BAD_INPUT, "reduce: the model is already reduced");
    }
    if (f->options->kind == PL_VERTEBRAE || (int)f->options->kind < 0 || f->options->kind > PL_VERTEBRAE) {
        return pl_fail(err, PL_BAD_INPUT, "reduce: kind is %s, expected beam, rod or constant_curvature",
                       pl_reduced_kind_name(f->options->kind));
    }

    if (f->info.actuator_count > REDUCED_ACTUATORS_MAX || f->info.actuator_count != f->info.command_count) {
        return pl_fail(err, PL_BAD_INPUT,
                       "reduce: %d commands for %d actuators, expected one for each, at most %d",
                       f->info.command_count, f->info.actuator_count, REDUCED_ACTUATORS_MAX);
    }

    // every actuator must have a counterpart on a line
    for (int i = 0; i < f->info.actuator_count; ++i) {
        const pl_actuator_info a = pl_robot_actuator(robot, i);
        if ((!pl_actuator_pulls_only(a.kind) && !pl_actuator_encloses(a.kind)) ||
            a.drive == PL_DRIVE_SYRINGE || a.command != i || a.factor != 1 || a.one_sided || a.growth) {
            return pl_fail(err, PL_BAD_INPUT,
                           "reduce: actuator '%s' (%s by %s%s) has no reduced equivalent; only cables and "
                           "chambers with their own command have",
                           a.name, pl_actuator_kind_name(a.kind), pl_drive_name(a.drive),
                           a.growth ? ", growing" : "");
        }

        if (a.drive == PL_DRIVE_VOLUME || a.drive == PL_DRIVE_VOLUME_RATIO) {
            return pl_fail(err, PL_BAD_INPUT,
                           "reduce: chamber '%s' is driven by %s, but the chambers of a reduced model do not "
                           "bulge; drive it by pressure",
                           a.name, pl_drive_name(a.drive));
        }
    }

    // four loads: a force and three moments, see fit_compliance
    if (pl_robot_force_count(robot) < 4) {
        return pl_fail(err, PL_BAD_INPUT, "reduce: the robot was loaded without a probe (pl_load_options)");
    }
    f->marker = f->options->marker ? pl_model_find_marker(f->full, f->options->marker) : 0;

    return f->marker >= 0 && f->info.marker_count > 0
               ? PL_OK
               : pl_fail(err, PL_BAD_INPUT, "reduce: there is no marker '%s'",
                         f->options->marker ? f->options->marker : "");
}

// All names in one block of text, which the def points to.
static pl_status fit_names(fit *f, pl_error *err)
{
    pl_reduction *r = f->r;
    const int n = f->info.actuator_count;
    const char *file = f->options->robot_file;
    size_t bytes = strlen(f->info.name) + strlen(f->info.marker_name[f->marker]) + 20;

    bytes += file ? strlen(file) + 1 : 0;
    for (int i = 0; i < n; ++i) {
        bytes += strlen(f->info.actuator[i].name) + 1;
    }
    r->text = PL_NEW_ARRAY(char, bytes);
    r->actuator = PL_NEW_ARRAY(pl_line_actuator_def, n + 1);
    if (!r->text || !r->actuator) {
        return pl_fail_memory(err, "the reduced model");
    }

    // bytes have been counted, so the prints below cannot overflow
    char *at = r->text;
    r->def.name = at;
    at += snprintf(at, bytes, "%s", f->info.name) + 1;
    r->marker = (pl_line_marker_def){.name = at};
    at += sprintf(at, "%s", f->info.marker_name[f->marker]) + 1;
    for (int i = 0; i < n; ++i) {
        r->actuator[i].name = at;
        at += sprintf(at, "%s", f->info.actuator[i].name) + 1;
    }

    if (file) {
        r->def.errors.robot_file = at;
        sprintf(at, "%s", file);
    }

    return PL_OK;
}

// The description that the fitted numbers belong to.
static void fit_def(fit *f)
{
    pl_reduced_def *d = &f->r->def;
    const bool geometric = f->options->kind == PL_CONSTANT_CURVATURE;

    d->kind = f->options->kind;
    d->section = &f->r->section;
    d->section_count = 1;
    d->actuator = f->r->actuator;
    d->actuator_count = f->info.actuator_count;
    f->r->marker.at = f->L;
    d->marker = &f->r->marker;
    d->marker_count = 1;
    f->r->section.pieces = geometric ? 1 : 20;
    memcpy(d->gravity, pl_model_robot(f->full)->gravity, sizeof d->gravity);
    if (geometric || !(f->r->section.mass > 0)) {
        memset(d->gravity, 0, sizeof d->gravity); // it knows no loads
        f->r->section.mass = 0;
    }
}

// The steps in order: each needs the numbers of the one above.
static pl_status fit_work(fit *f, pl_error *err)
{
    pl_status status = fit_begin(f, err);
    status = status == PL_OK ? fit_names(f, err) : status;
    status = status == PL_OK ? fit_axis(f, err) : status;
    if (status != PL_OK) {
        return status;
    }

    // rest: every actuator idle
    bool solved;
    for (int i = 0; i < f->info.command_count; ++i) {
        f->command[i] = NAN;
    }
    status = fit_solve(f, f->command, &solved, err);
    if (status == PL_OK && !solved) {
        return pl_fail(err, PL_FAILED, "reduce: the full model finds no equilibrium at rest");
    }

    // stiffness at rest, then actuators
    status = status == PL_OK ? fit_compliance(f, err) : status;
    status = status == PL_OK ? fit_section(f, err) : status;
    status = status == PL_OK ? fit_actuators(f, err) : status;
    if (status != PL_OK) {
        return status;
    }
    fit_def(f);
    status = fit_at_share(f, err);

    return status == PL_OK ? fit_samples(f, err) : status;
}

pl_status pl_reduce(pl_model *full, const pl_reduce_options *options, pl_reduction **out,
                    pl_reduce_report *report, pl_error *err)
{
    *out = NULL;
    *report = (pl_reduce_report){0};
    fit f = {.full = full, .info = pl_model_get_info(full), .options = options, .report = report};
    f.r = PL_NEW(pl_reduction);
    f.command = PL_NEW_ARRAY(double, f.info.command_count + 1);
    pl_status status = f.r && f.command ? fit_work(&f, err) : pl_fail_memory(err, "the reduced model");
    pl_free(f.command);
    if (status != PL_OK) {
        pl_reduction_destroy(f.r);
        return status;
    }

    const pl_section_def *s = &f.r->section;
    report->EA = s->EA;
    report->GJ = s->GJ;
    memcpy(report->EI, s->EI, sizeof report->EI);
    memcpy(report->GA, s->GA, sizeof report->GA);
    *out = f.r;

    return PL_OK;
}
