// A solved body as a chain of rigid links, for simulators of rigid robots. Sections of the body across the
// line from its support to a marker move about as rigid bodies; the best rotation R_i of section i (Kabsch)
// and where it takes the point of the line give frames, and the differences of successive frames the values
// of a joint: a slide and three hinges. The springs come from the derivatives of these values with respect to
// forces at the end, for a chain is statically determinate:
//   compliance = sum_k M_k dq_k / sum_k M_k^2,   M_k the moment (slide: force) of load k in the joint,
// and are scaled by one factor per direction so that the compliance at the marker is that of the body.
#include "result/result_chain_fit.h"
#include "base/rotation.h"
#include "base/vec.h"
#include "model/model.h"

#define CHAIN_DENSITY 1e-9 // t/mm^3, where a material has none: that of water
#define CHAIN_LOADS 6      // forces at the marker and at a point beside it, which twist the chain

// ---- springs and slopes
typedef struct chain_loads {
    pl_parameter parameter[CHAIN_LOADS + 64];
    int count, forces; // the forces come first
    double point[CHAIN_LOADS][3];
    int command[64];
    double *d;     // derivatives of the positions: 3 vertex_count rows, count columns
    double tip[9]; // of the marker, by the force there
} chain_loads;

// A vertex of the last section as far from the line as possible.
static int32_t chain_aside(const chain_fit *f)
{
    const chain_section *s = &f->section[f->chain->link_count];
    int32_t best = s->vertex[0];
    double most = -1;

    for (int32_t k = 0; k < s->count; ++k) {
        const double *X = f->view.position + 3 * (int64_t)s->vertex[k];
        double d[3], across[3];
        pl_sub3(X, s->point, d);
        pl_cross3(d, f->chain->frame + 6, across);
        if (pl_norm3(across) > most) {
            most = pl_norm3(across);
            best = s->vertex[k];
        }
    }

    return best;
}

static pl_status chain_differentiate(const chain_fit *f, chain_loads *l, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(f->model);
    const int32_t aside = chain_aside(f);
    double *marker = NULL, place[3];
    pl_jacobian_report report;

    // a point beside the line, gripped by nothing: a force there twists the chain
    pl_status status = pl_model_grip(f->model, f->view.position + 3 * (int64_t)aside, 0.05 * f->length, err);
    const bool gripped = status == PL_OK && pl_model_grip_place(f->model, place);

    for (int k = 0; k < (gripped ? 6 : 3); ++k) {
        l->parameter[l->count++] = k < 3 ? (pl_parameter){PL_PARAMETER_MARKER_FORCE, f->marker, k}
                                         : (pl_parameter){PL_PARAMETER_GRIP, 0, k - 3};
        memcpy(l->point[k], k < 3 ? pl_model_get_answer(f->model).marker + 3 * (int64_t)f->marker : place,
               sizeof place);
    }

    l->forces = l->count;
    for (int c = 0; c < info.command_count && c < 64; ++c) {
        if (!isnan(f->chain->at[c])) {
            l->command[l->count - l->forces] = c;
            l->parameter[l->count++] = (pl_parameter){PL_PARAMETER_COMMAND, c, 0};
        }
    }

    l->d = PL_NEW_ARRAY(double, 3 * (int64_t)f->view.vertex_count * l->count);
    marker = PL_NEW_ARRAY(double, 3 * (int64_t)info.marker_count * l->count);
    if (!l->d || !marker) {
        status = pl_fail_memory(err, "chain");
    } else {
        const pl_jacobian out = {.position = l->d, .marker = marker};
        status = pl_model_sensitivity(f->model, l->parameter, l->count, &out, &report, err);
    }

    for (int i = 0; status == PL_OK && i < 9; ++i) {
        l->tip[i] = marker[(3 * (int64_t)f->marker + i / 3) * l->count + i % 3];
    }
    pl_free(marker);
    pl_error ignored;
    (void)!pl_model_grip(f->model, NULL, 0, &ignored);

    return status;
}

// Values of all joints by parameter p, into rate[joint].
static bool chain_rates(const chain_fit *f, const chain_loads *l, int p, double (*rate)[CHAIN_DOFS])
{
    double w[2][3] = {{0}}, v[2][3] = {{0}}; // of the section before and of this one
    bool good = true;

    for (int i = 0; good && i < f->chain->link_count; ++i) {
        good = result_chain_section_rate(&f->section[i + 1], f->view.position, f->x, l->d + p, l->count, w[1],
                                         v[1]) &&
               result_chain_joint_rate(f, i, w, v, rate[i]);
        memcpy(w[0], w[1], sizeof w[0]);
        memcpy(v[0], v[1], sizeof v[0]);
    }

    return good;
}

static pl_status chain_springs(const chain_fit *f, const chain_loads *l, pl_error *err)
{
    chain *c = f->chain;
    const int n = c->link_count;

    double(*rate)[CHAIN_DOFS] = pl_alloc_array((size_t)n, sizeof *rate),
    (*work)[CHAIN_DOFS] = pl_alloc_array((size_t)n, sizeof *work);
    double largest[CHAIN_DOFS] = {0};
    bool good = rate && work;

    if (!good) {
        pl_free(rate);
        pl_free(work);
        return pl_fail_memory(err, "chain");
    }

    for (int p = 0; good && p < l->count; ++p) {
        good = chain_rates(f, l, p, rate);
        for (int i = 0; good && i < n; ++i) {
            for (int a = 0; a < CHAIN_DOFS; ++a) {
                if (p >= l->forces) {
                    c->joint[i].slope[a][l->command[p - l->forces]] = rate[i][a];
                    continue;
                }

                const double force[3] = {p % 3 == 0, p % 3 == 1, p % 3 == 2};
                double M[CHAIN_DOFS];
                result_chain_moment(&c->joint[i], l->point[p], force, M);
                c->joint[i].compliance[a] += M[a] * rate[i][a];
                work[i][a] += M[a] * M[a];
                largest[a] = fmax(largest[a], work[i][a]);
            }
        }
    }

    // a direction in which no load acts, or which moves against its load, takes the mean of the others
    for (int a = 0; good && a < CHAIN_DOFS; ++a) {
        double sum = 0;
        int known = 0;

        for (int i = 0; i < n; ++i) {
            chain_joint *j = &c->joint[i];
            j->compliance[a] = work[i][a] > 1e-8 * largest[a] ? j->compliance[a] / work[i][a] : 0;
            sum += fmax(j->compliance[a], 0);
            known += j->compliance[a] > 0;
        }

        for (int i = 0; known > 0 && i < n; ++i) {
            c->joint[i].compliance[a] =
                c->joint[i].compliance[a] > 0 ? c->joint[i].compliance[a] : sum / known;
        }
    }

    pl_free(rate);
    pl_free(work);

    return good ? PL_OK
                : pl_fail(err, PL_BAD_INPUT,
                          "chain: a link of it is bent by a right angle, or its section is flat: take other "
                          "numbers of links");
}

// Displacement of the tip per N at `point`, the share of each direction: sum of J c J^T over the joints.
static void chain_tip_compliance(const chain *c, const double point[3], double part[CHAIN_DOFS][9])
{
    memset(part, 0, CHAIN_DOFS * sizeof *part);
    for (int i = 0; i < c->link_count; ++i) {
        const chain_joint *j = &c->joint[i];
        double J[3][CHAIN_DOFS];
        for (int k = 0; k < 3; ++k) {
            const double force[3] = {k == 0, k == 1, k == 2};
            result_chain_moment(j, point, force, J[k]);
        }

        for (int a = 0; a < CHAIN_DOFS; ++a) {
            for (int k = 0; k < 9; ++k) {
                part[a][k] += J[k / 3][a] * j->compliance[a] * J[k % 3][a];
            }
        }
    }
}

// Cables of prescribed length, shear and warping make a body other than a chain: one factor per direction,
// between 1/CHAIN_FACTOR and CHAIN_FACTOR, brings the compliance at the marker nearest to that of the body,
//   min | sum_a s_a C_a - C |,   by coordinate descent.
#define CHAIN_FACTOR 10.0
static void chain_calibrate(const chain_fit *f, const chain_loads *l)
{
    chain *c = f->chain;
    double part[CHAIN_DOFS][9], factor[CHAIN_DOFS] = {1, 1, 1, 1};

    chain_tip_compliance(c, pl_model_get_answer(f->model).marker + 3 * (int64_t)f->marker, part);
    for (int sweep = 0; sweep < 500; ++sweep) {
        for (int a = 0; a < CHAIN_DOFS; ++a) {
            double up = 0, down = 0;

            for (int k = 0; k < 9; ++k) {
                double rest = l->tip[k];
                for (int b = 0; b < CHAIN_DOFS; ++b) {
                    rest -= b == a ? 0 : factor[b] * part[b][k];
                }
                up += rest * part[a][k];
                down += part[a][k] * part[a][k];
            }

            factor[a] = down > 0 ? fmin(fmax(up / down, 1 / CHAIN_FACTOR), CHAIN_FACTOR) : 1;
        }
    }

    for (int i = 0; i < c->link_count; ++i) {
        for (int a = 0; a < CHAIN_DOFS; ++a) {
            c->joint[i].compliance[a] *= factor[a];
        }
    }
}

// ---- masses
static void chain_masses(chain_fit *f, const pl_robot *robot)
{
    static const int8_t split[3][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}}; // of a prism
    chain *c = f->chain;

    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t e = 0; e < f->view.element_count; ++e) {
            const int32_t *node = f->view.node + f->view.node_start[e];
            const bool tet = pl_element_is_tet(f->view.kind[e]);
            const char *name = pl_robot_region_material(robot, f->view.region[e]);
            double density = 0;

            for (int m = 0; m < pl_robot_material_count(robot); ++m) {
                density = strcmp(pl_robot_material_name(robot, m), name) == 0
                              ? pl_robot_material(robot, m).density
                              : density;
            }

            c->density_assumed = c->density_assumed || !(density > 0);
            density = density > 0 ? density : CHAIN_DENSITY;
            for (int k = 0; k < (tet ? 1 : 3); ++k) {
                double E[9], centre[3] = {0, 0, 0}, d[3], y[3];
                const double *X[4];

                for (int a = 0; a < 4; ++a) {
                    X[a] = f->view.position + 3 * (int64_t)node[split[k][a]];
                    for (int i = 0; i < 3; ++i) {
                        centre[i] += 0.25 * X[a][i];
                    }
                }

                for (int a = 0; a < 3; ++a) {
                    pl_sub3(X[a + 1], X[0], E + 3 * a);
                }
                const double mass = density * fabs(pl_det3(E)) / 6;
                const int i = result_chain_nearest(f, centre);
                chain_link *link = &c->link[i];
                // in the frame of the link, whose origin is half a pitch before its section
                pl_sub3(centre, f->section[i].point, d);
                pl_mulv3(c->frame, d, y);
                y[2] += i > 0 ? 0.5 * c->pitch : 0;

                if (pass == 0) {
                    link->mass += mass;
                    for (int j = 0; j < 3; ++j) {
                        link->centre[j] += mass * y[j];
                    }
                } else {
                    pl_sub3(y, link->centre, y);
                    const double square = pl_dot3(y, y);
                    for (int j = 0; j < 3; ++j) {
                        link->inertia[j] += mass * (square - y[j] * y[j]);
                    }
                    link->inertia[3] -= mass * y[0] * y[1];
                    link->inertia[4] -= mass * y[0] * y[2];
                    link->inertia[5] -= mass * y[1] * y[2];
                }
            }
        }

        for (int i = 0; pass == 0 && i <= c->link_count; ++i) {
            for (int j = 0; j < 3; ++j) {
                c->link[i].centre[j] /= c->link[i].mass > 0 ? c->link[i].mass : 1;
            }
        }
    }
}

static void chain_sizes(chain_fit *f)
{
    chain *c = f->chain;
    for (int i = 0; i <= c->link_count; ++i) {
        const chain_section *s = &f->section[i];
        double square = 0;

        for (int32_t k = 0; k < s->count; ++k) {
            double d[3], across[3];
            pl_sub3(f->view.position + 3 * (int64_t)s->vertex[k], s->rest, d);
            pl_cross3(d, c->frame + 6, across);
            square += pl_dot3(across, across) / s->count;
        }

        c->link[i].radius = sqrt(square);
        c->link[i].extent[1] = i == 0 || i == c->link_count ? 0.5 * c->pitch : c->pitch;
    }
}

// Weights that the full body carries too: the springs are free where these leave them. Moment of everything
// behind a joint.
static void chain_weights(chain_fit *f)
{
    chain *c = f->chain;
    for (int i = 0; i < c->link_count; ++i) {
        memcpy(c->joint[i].reference, c->joint[i].value, sizeof c->joint[i].value);

        for (int k = i + 1; !c->density_assumed && k <= c->link_count; ++k) {
            double axes[9], y[3], M[CHAIN_DOFS], force[3];
            result_chain_axes(c, f->section[k].R, axes);

            for (int j = 0; j < 3; ++j) {
                const double *q = c->link[k].centre;
                y[j] = c->joint[k - 1].centre[j] + q[0] * axes[j] + q[1] * axes[3 + j] + q[2] * axes[6 + j];
                force[j] = c->link[k].mass * c->gravity[j];
            }

            result_chain_moment(&c->joint[i], y, force, M);
            for (int a = 0; a < CHAIN_DOFS; ++a) {
                c->joint[i].reference[a] -= c->joint[i].compliance[a] * M[a];
            }
        }
    }
}

// ---- the chain's own kinematics
void result_chain_pose(const chain *c, const double (*value)[CHAIN_DOFS], double tip[3], double rotation[9],
                       chain_joint *joint)
{
    double axes[9], p[3];
    memcpy(axes, c->frame, sizeof axes);
    memcpy(p, c->base, sizeof p);

    for (int i = 0; i < c->link_count; ++i) {
        const double along = value[i][CHAIN_STRETCH] + (i == 0 ? 0.5 : 1) * c->pitch;
        const double *angle = value[i] + CHAIN_BEND_X;
        double hinge[3][3], next[9];
        for (int k = 0; k < 3; ++k) {
            p[k] += along * axes[6 + k];
        }
        result_chain_hinges(axes, angle, hinge);

        if (joint) {
            memcpy(joint[i].centre, p, sizeof p);
            memcpy(joint[i].axis[CHAIN_STRETCH], axes + 6, sizeof p);
            memcpy(joint[i].axis[CHAIN_BEND_X], hinge, sizeof hinge);
        }

        // the third hinge is z of the next link; x and y turn about it
        const double cc = cos(angle[2]), sc = sin(angle[2]), cb = cos(angle[1]), sb = sin(angle[1]);
        for (int k = 0; k < 3; ++k) {
            // x after the first two hinges: cb x + sb (turned z) with turned z = third hinge's axis at b = 0
            const double turned = -sin(angle[0]) * axes[3 + k] + cos(angle[0]) * axes[6 + k];
            const double x = cb * axes[k] - sb * turned, y = hinge[1][k];
            next[k] = cc * x + sc * y;
            next[3 + k] = -sc * x + cc * y;
            next[6 + k] = hinge[2][k];
        }

        memcpy(axes, next, sizeof axes);
    }

    for (int k = 0; k < 3; ++k) {
        tip[k] = p[k] + 0.5 * c->pitch * axes[6 + k];
    }

    // R = sum of (axis now) (axis at rest)^T
    for (int i = 0; rotation && i < 9; ++i) {
        rotation[i] = 0;
        for (int a = 0; a < 3; ++a) {
            rotation[i] += axes[3 * a + i / 3] * c->frame[3 * a + i % 3];
        }
    }
}

static double chain_turned(const double A[9], const double B[9])
{
    double C[9], w[3];
    pl_rotation_mul_transposed(A, B, C);
    pl_rotation_log(C, w);
    return pl_norm3(w);
}

// Values at other commands, by the slopes.
static void chain_predict(const chain *c, const double *command, double (*value)[CHAIN_DOFS])
{
    for (int i = 0; i < c->link_count; ++i) {
        for (int a = 0; a < CHAIN_DOFS; ++a) {
            value[i][a] = c->joint[i].value[a];

            for (int k = 0; k < c->command_count; ++k) {
                if (!isnan(c->at[k])) {
                    value[i][a] += c->joint[i].slope[a][k] * (command[k] - c->at[k]);
                }
            }
        }
    }
}

static pl_status chain_errors(const chain_fit *f, const chain_loads *l, pl_chain_report *report,
                              pl_error *err)
{
    const chain *c = f->chain;
    const pl_model_answer answer = pl_model_get_answer(f->model);
    const pl_model_info info = pl_model_get_info(f->model);

    double(*value)[CHAIN_DOFS] = pl_alloc_array((size_t)c->link_count, sizeof *value);
    double *half = PL_NEW_ARRAY(double, c->command_count), tip[3], R[9], C[9] = {0}, part[CHAIN_DOFS][9];
    double *block = PL_NEW_ARRAY(double, pl_model_state_size(f->model));
    const double *goal = answer.marker + 3 * (int64_t)f->marker,
                 *turn = answer.rotation + 9 * (int64_t)f->marker;
    if (!value || !half || !block) {
        pl_free(value);
        pl_free(half);
        pl_free(block);
        return pl_fail_memory(err, "chain");
    }

    for (int i = 0; i < c->link_count; ++i) {
        memcpy(value[i], c->joint[i].value, sizeof value[i]);
    }
    result_chain_pose(c, (const double(*)[CHAIN_DOFS])value, tip, R, NULL);
    report->position_error = pl_distance3(tip, goal);
    report->rotation_error = isnan(turn[0]) ? NAN : chain_turned(R, turn);
    report->motion = pl_distance3(goal, info.marker_at + 3 * (int64_t)f->marker);

    chain_tip_compliance(c, goal, part);
    for (int k = 0; k < 9; ++k) {
        for (int a = 0; a < CHAIN_DOFS; ++a) {
            C[k] += part[a][k];
        }
    }

    double off = 0, all = 0;
    for (int k = 0; k < 9; ++k) {
        off += (C[k] - l->tip[k]) * (C[k] - l->tip[k]);
        all += l->tip[k] * l->tip[k];
    }

    report->compliance_error = all > 0 ? sqrt(off / all) : NAN;

    // half of the commands: the slopes against a solve
    report->half_error = NAN;
    pl_status status = PL_OK;
    if (l->count > l->forces) {
        pl_solve_report solve;
        for (int k = 0; k < c->command_count; ++k) {
            half[k] = 0.5 * (c->at[k] + c->command[k].rest);
        }
        chain_predict(c, half, value);
        result_chain_pose(c, (const double(*)[CHAIN_DOFS])value, tip, NULL, NULL);
        pl_model_pack(f->model, block);
        status = pl_model_fk(f->model, half, &solve, err);
        if (status == PL_OK && solve.outcome == PL_SOLVED) {
            report->half_error =
                pl_distance3(tip, pl_model_get_answer(f->model).marker + 3 * (int64_t)f->marker);
        }

        if (status == PL_OK) {
            status = pl_model_unpack(f->model, block, pl_model_state_size(f->model), err);
        }
    }

    pl_free(value);
    pl_free(half);
    pl_free(block);

    return status;
}

// ---- entry point
static void chain_clear(chain *c)
{
    for (int i = 0; c->joint && i < c->link_count; ++i) {
        for (int a = 0; a < CHAIN_DOFS; ++a) {
            pl_free(c->joint[i].slope[a]);
        }
    }

    pl_free(c->joint);
    pl_free(c->link);
    pl_free((double *)c->at);
}

// The line from the middle of what is held to the marker, and the axes of the links at rest.
static pl_status chain_line(chain_fit *f, const pl_robot *robot, const char *path, pl_error *err)
{
    chain *c = f->chain;
    const pl_model_info info = pl_model_get_info(f->model);
    const double *X = info.marker_at + 3 * (int64_t)f->marker;
    int64_t held = 0;

    for (int s = 0; s < pl_robot_fixed_count(robot); ++s) {
        const int32_t *vertex;
        bool axis[3];
        const int32_t count = pl_robot_fixed_vertices(robot, s, &vertex, axis);

        for (int32_t k = 0; k < count && axis[0] && axis[1] && axis[2]; ++k, ++held) {
            for (int i = 0; i < 3; ++i) {
                c->base[i] += f->view.position[3 * (int64_t)vertex[k] + i];
            }
        }
    }

    for (int i = 0; i < 3; ++i) {
        c->base[i] /= held > 0 ? (double)held : 1;
        c->frame[6 + i] = X[i] - c->base[i];
    }

    f->length = pl_norm3(c->frame + 6);
    if (held == 0 || !(f->length > 0.1 * info.size)) {
        return pl_fail(err, PL_BAD_INPUT,
                       held == 0 ? "%s: the robot is held nowhere in all directions, so a chain has no base"
                                 : "%s: marker '%s' is at the support; choose one at the end of the body",
                       path, c->marker);
    }

    c->pitch = f->length / c->link_count;

    // x across the line, as near as possible to the world axis that is most across
    int least = 0;
    for (int i = 0; i < 3; ++i) {
        c->frame[6 + i] /= f->length;
        least = fabs(c->frame[6 + i]) < fabs(c->frame[6 + least]) - 1e-9 ? i : least;
    }

    double x[3] = {least == 0, least == 1, least == 2};
    for (int i = 0; i < 3; ++i) {
        x[i] -= c->frame[6 + least] * c->frame[6 + i];
    }

    const double norm = pl_norm3(x);
    for (int i = 0; i < 3; ++i) {
        c->frame[i] = x[i] / norm;
    }
    pl_cross3(c->frame + 6, c->frame, c->frame + 3);

    return PL_OK;
}

static pl_status chain_build(chain_fit *f, const pl_robot *robot, const char *path, chain_loads *l,
                             pl_error *err)
{
    chain *c = f->chain;
    const int n = c->link_count;
    pl_status status = chain_line(f, robot, path, err);

    if (status == PL_OK && !result_chain_sections(f)) {
        status = pl_fail_memory(err, path);
    }

    for (int i = 0; status == PL_OK && i <= n; ++i) {
        chain_section *s = &f->section[i];
        if (s->count < 4) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s: %d links are too many for the mesh: a section has %d vertices", path, n,
                           (int)s->count);
        }

        result_chain_section_fit(s, f->view.position, f->x);
    }

    if (status != PL_OK) {
        return status;
    }

    // the support stays
    chain_section *base = &f->section[0];
    memcpy(base->R, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof base->R);
    memcpy(base->place, base->point, sizeof base->place);
    for (int i = 0; i < n; ++i) {
        result_chain_joint_fit(f, i);
    }
    status = chain_differentiate(f, l, err);
    if (status == PL_OK) {
        status = chain_springs(f, l, err);
    }

    if (status == PL_OK) {
        chain_calibrate(f, l);
        chain_masses(f, robot);
        chain_sizes(f);
        chain_weights(f);
    }

    return status;
}

static pl_status chain_start(chain_fit *f, const pl_robot *robot, const pl_chain_options *options,
                             const char *path, pl_error *err)
{
    chain *c = f->chain;
    const pl_model_info info = pl_model_get_info(f->model);

    if (!robot || strcmp(info.method, "exact") != 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s: a chain is fitted to a full body with the exact method, this robot is '%s'", path,
                       info.method);
    }

    if (options->link_count < 1 || options->link_count > 200) {
        return pl_fail(err, PL_BAD_INPUT, "%s: link_count is %d, must be 1 to 200", path,
                       options->link_count);
    }

    if (options->marker < 0 || options->marker >= info.marker_count) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s: a chain ends at a marker, and the robot has none of that number", path);
    }

    f->marker = options->marker;
    f->mesh = pl_robot_mesh(robot);
    f->view = pl_mesh_get(f->mesh);
    *c = (chain){.name = info.name,
                 .marker = info.marker_name[f->marker],
                 .link_count = options->link_count,
                 .command_count = info.command_count,
                 .command = info.command};
    pl_robot_gravity(robot, c->gravity);
    double *at = PL_NEW_ARRAY(double, c->command_count);
    c->at = at;
    c->joint = PL_NEW_ARRAY(chain_joint, c->link_count);
    c->link = PL_NEW_ARRAY(chain_link, c->link_count + 1);
    bool good = at && c->joint && c->link;
    for (int k = 0; good && k < c->command_count; ++k) {
        at[k] = pl_model_get_answer(f->model).command[k];
    }

    for (int i = 0; good && i < c->link_count; ++i) {
        for (int a = 0; a < CHAIN_DOFS; ++a) {
            c->joint[i].slope[a] = PL_NEW_ARRAY(double, c->command_count);
            good = good && c->joint[i].slope[a];
        }
    }

    return good ? PL_OK : pl_fail_memory(err, path);
}

pl_chain_options pl_chain_options_default(void)
{
    return (pl_chain_options){.link_count = 8};
}

pl_status pl_model_write_chain(pl_model *model, const pl_chain_options *options, const char *path,
                               pl_chain_report *report, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(model);
    pl_chain_report unused;

    report = report ? report : &unused;
    *report = (pl_chain_report){0};
    chain c = {0};
    chain_loads l = {0};
    chain_fit f = {.model = model, .chain = &c};
    pl_text text = {0};
    double *x = NULL;
    pl_status status = chain_start(&f, robot, options, path, err);
    if (status == PL_OK) {
        x = PL_NEW_ARRAY(double, 3 * (int64_t)f.view.vertex_count);
        status = x ? PL_OK : pl_fail_memory(err, path);
    }

    if (status == PL_OK) {
        pl_model_shape(model, x);
        f.x = x;
        status = chain_build(&f, robot, path, &l, err);
    }

    if (status == PL_OK) {
        report->link_count = c.link_count;
        report->density_assumed = c.density_assumed;
        status = chain_errors(&f, &l, report, err);
    }

    if (status == PL_OK) {
        result_chain_write(&c, report, path, &text);
        status = text.failed ? pl_fail_memory(err, path) : pl_file_write(path, text.data, text.length, err);
    }

    for (int i = 0; f.section && i <= c.link_count; ++i) {
        pl_free(f.section[i].vertex);
    }
    pl_free(f.section);
    pl_free(l.d);
    pl_free(x);
    pl_text_clear(&text);
    chain_clear(&c);

    return status;
}
