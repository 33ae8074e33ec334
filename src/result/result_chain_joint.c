// Sections of a body that move about as rigid bodies, and the values of the joints between them with their
// derivatives.
#include "result/result_chain_fit.h"
#include "base/rotation.h"
#include "base/vec.h"

// ---- sections

int result_chain_nearest(const chain_fit *f, const double *X)
{
    double d[3];
    pl_sub3(X, f->chain->base, d);
    const int i = (int)floor(pl_dot3(d, f->chain->frame + 6) / f->chain->pitch + 0.5);
    return i < 0 ? 0 : i > f->chain->link_count ? f->chain->link_count : i;
}

bool result_chain_sections(chain_fit *f)
{
    const int n = f->chain->link_count + 1;
    f->section = PL_NEW_ARRAY(chain_section, n);
    int32_t *all = PL_NEW_ARRAY(int32_t, f->view.vertex_count);
    bool good = f->section && all;
    for (int32_t v = 0; good && v < f->view.vertex_count; ++v) {
        all[v] = result_chain_nearest(f, f->view.position + 3 * (int64_t)v);
        ++f->section[all[v]].count;
    }

    for (int i = 0; good && i < n; ++i) {
        f->section[i].vertex = PL_NEW_ARRAY(int32_t, f->section[i].count);
        good = f->section[i].vertex != NULL;
        f->section[i].count = 0;
        for (int k = 0; k < 3; ++k) {
            f->section[i].point[k] = f->chain->base[k] + i * f->chain->pitch * f->chain->frame[6 + k];
        }
    }

    for (int32_t v = 0; good && v < f->view.vertex_count; ++v) {
        chain_section *s = &f->section[all[v]];
        s->vertex[s->count++] = v;
    }

    pl_free(all);

    return good;
}

// Frame of a section: the rotation that takes its rest shape nearest to its shape now.
void result_chain_section_fit(chain_section *s, const double *X, const double *x)
{
    double A[9] = {0}, arm[3];
    for (int32_t k = 0; k < s->count; ++k) {
        for (int i = 0; i < 3; ++i) {
            s->rest[i] += X[3 * (int64_t)s->vertex[k] + i] / s->count;
            s->now[i] += x[3 * (int64_t)s->vertex[k] + i] / s->count;
        }
    }

    for (int32_t k = 0; k < s->count; ++k) {
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                A[3 * i + j] += (x[3 * (int64_t)s->vertex[k] + i] - s->now[i]) *
                                (X[3 * (int64_t)s->vertex[k] + j] - s->rest[j]);
            }
        }
    }

    pl_nearest_rotation3(A, s->R);
    pl_sub3(s->point, s->rest, arm);
    pl_mulv3(s->R, arm, s->place);
    for (int i = 0; i < 3; ++i) {
        s->place[i] += s->now[i];
    }
}

// Spin w and velocity of the place for a field of velocities dx (3 per vertex, `stride` apart): from
// sum r x x = 0, r = R (X - mean):  [sum (r . x) I - r x^T] w = sum r x dx.
bool result_chain_section_rate(const chain_section *s, const double *X, const double *x, const double *dx,
                               int stride, double w[3], double v[3])
{
    double M[9] = {0}, b[3] = {0}, mean[3] = {0}, inverse[9], arm[3], turn[3];
    for (int32_t k = 0; k < s->count; ++k) {
        const int64_t at = 3 * (int64_t)s->vertex[k];
        double d[3], r[3], y[3], c[3];
        const double u[3] = {dx[at * stride], dx[(at + 1) * stride], dx[(at + 2) * stride]};
        pl_sub3(X + at, s->rest, d);
        pl_mulv3(s->R, d, r);
        pl_sub3(x + at, s->now, y);
        pl_cross3(r, u, c);

        for (int i = 0; i < 3; ++i) {
            mean[i] += u[i] / s->count;
            b[i] += c[i];
            M[4 * i] += pl_dot3(r, y);
            for (int j = 0; j < 3; ++j) {
                M[3 * i + j] -= r[i] * y[j];
            }
        }
    }

    const double det = pl_det3(M);
    if (!(fabs(det) > 0)) {
        return false;
    }
    pl_cofactor3(M, inverse); // the inverse is its transpose over the determinant
    for (int i = 0; i < 3; ++i) {
        w[i] = (inverse[i] * b[0] + inverse[3 + i] * b[1] + inverse[6 + i] * b[2]) / det;
    }
    pl_sub3(s->place, s->now, arm);
    pl_cross3(w, arm, turn);
    for (int i = 0; i < 3; ++i) {
        v[i] = mean[i] + turn[i];
    }

    return true;
}

// ---- joints
// Axes of a link whose section has turned by R: columns of R B, here as rows.
void result_chain_axes(const chain *c, const double R[9], double axes[9])
{
    for (int a = 0; a < 3; ++a) {
        pl_mulv3(R, c->frame + 3 * a, axes + 3 * a);
    }
}

// Q = Rx(a) Ry(b) Rz(c)
static void chain_angles(const double before[9], const double after[9], double angle[3])
{
    double Q[9];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            Q[3 * i + j] = pl_dot3(before + 3 * i, after + 3 * j);
        }
    }

    angle[0] = atan2(-Q[5], Q[8]);
    angle[1] = asin(fmin(fmax(Q[2], -1), 1));
    angle[2] = atan2(-Q[1], Q[0]);
}

// The axes of the hinges in the world: x of the link before, then turned by a, then by b.
void result_chain_hinges(const double before[9], const double angle[3], double axis[3][3])
{
    const double ca = cos(angle[0]), sa = sin(angle[0]), cb = cos(angle[1]), sb = sin(angle[1]);
    for (int i = 0; i < 3; ++i) {
        const double x = before[i], y = before[3 + i], z = before[6 + i];
        axis[0][i] = x;
        axis[1][i] = ca * y + sa * z;
        axis[2][i] = sb * x - cb * sa * y + cb * ca * z;
    }
}

void result_chain_joint_fit(const chain_fit *f, int i)
{
    const chain_section *s = &f->section[i], *t = &f->section[i + 1];
    chain_joint *joint = &f->chain->joint[i];
    const double half = 0.5 * f->chain->pitch;
    double before[9], after[9], gap[3];

    result_chain_axes(f->chain, s->R, before);
    result_chain_axes(f->chain, t->R, after);
    chain_angles(before, after, joint->value + CHAIN_BEND_X);
    for (int k = 0; k < 3; ++k) {
        gap[k] = t->place[k] - s->place[k] - half * after[6 + k];
    }
    joint->value[CHAIN_STRETCH] = pl_dot3(before + 6, gap) - half;
    memcpy(joint->axis[CHAIN_STRETCH], before + 6, sizeof joint->axis[0]);
    result_chain_hinges(before, joint->value + CHAIN_BEND_X, joint->axis + CHAIN_BEND_X);
    for (int k = 0; k < 3; ++k) {
        joint->centre[k] = s->place[k] + (half + joint->value[CHAIN_STRETCH]) * before[6 + k];
    }
}

// Derivatives of the joint's values, from the spins and velocities of the two sections.
bool result_chain_joint_rate(const chain_fit *f, int i, double w[2][3], double v[2][3],
                             double rate[CHAIN_DOFS])
{
    const chain_section *s = &f->section[i], *t = &f->section[i + 1];
    const chain_joint *joint = &f->chain->joint[i];
    const double half = 0.5 * f->chain->pitch, *z = joint->axis[CHAIN_STRETCH];
    double after[9], turn[3], dz[3], relative[3], A[9];

    result_chain_axes(f->chain, t->R, after);
    pl_cross3(w[1], after + 6, turn);
    pl_cross3(w[0], z, dz);
    rate[CHAIN_STRETCH] = 0;
    for (int k = 0; k < 3; ++k) {
        rate[CHAIN_STRETCH] += dz[k] * (t->place[k] - s->place[k] - half * after[6 + k]) +
                               z[k] * (v[1][k] - v[0][k] - half * turn[k]);
    }

    // spin of one link against the other = sum of the hinges' rates along their axes
    pl_sub3(w[1], w[0], relative);
    for (int k = 0; k < 3; ++k) {
        for (int a = 0; a < 3; ++a) {
            A[3 * k + a] = joint->axis[CHAIN_BEND_X + a][k];
        }
    }

    double C[9];
    const double det = pl_det3(A);
    pl_cofactor3(A, C);
    for (int a = 0; a < 3; ++a) {
        rate[CHAIN_BEND_X + a] = (C[a] * relative[0] + C[3 + a] * relative[1] + C[6 + a] * relative[2]) / det;
    }

    return fabs(det) > 1e-3; // bent by a right angle about y: the first and the last hinge are parallel
}

// Moment of a force at `point` in each direction of a joint.
void result_chain_moment(const chain_joint *joint, const double point[3], const double force[3],
                         double M[CHAIN_DOFS])
{
    double arm[3], moment[3];
    pl_sub3(point, joint->centre, arm);
    pl_cross3(arm, force, moment);
    M[CHAIN_STRETCH] = pl_dot3(joint->axis[CHAIN_STRETCH], force);
    for (int a = CHAIN_BEND_X; a < CHAIN_DOFS; ++a) {
        M[a] = pl_dot3(joint->axis[a], moment);
    }
}
