// The equations of a rod: elastic energy sum over elements of 1/2 (V - h e_z) K (V - h e_z) + 1/2 theta K
// theta, cables + T L, chambers - p V, loads; gradient and tangent by the motion of the nodes (r moves, R
// turns by a spatial spin). The energy of actuators depends on strains alone:
//   L = sum w |V/h + (theta/h) x d + d'|,    V = area sum w (V_z/h + ((theta/h) x d)_z).
#include "reduced/reduced_rod_solver.h"
#include "robot/robot_kind.h"

// ---- building
// Stiffness and lumped loads of the elements.
static void build_elements(pl_reduced_model *m, rod_data *r)
{
    for (int e = 0; e < r->elements; ++e) {
        const double a = m->station_s[e], b = m->station_s[e + 1], h = b - a;
        const reduced_section *s = &m->section[reduced_section_at(m, 0.5 * (a + b))];
        rod_element *el = &r->element[e];
        el->h = h;
        // shear flexibility 1/GA and h^2/12EI, what a moment that changes along the element adds: together
        // the Timoshenko element's 12 EI / (h^3 (1 + phi))
        el->K[0] = 1 / (h / s->GA[0] + h * h * h / (12 * s->EI[1]));
        el->K[1] = 1 / (h / s->GA[1] + h * h * h / (12 * s->EI[0]));
        el->K[2] = s->EA / h;
        el->K[3] = s->EI[0] / h;
        el->K[4] = s->EI[1] / h;
        el->K[5] = s->GJ / h;
        // consistent nodal loads of w: w h/2 at both nodes, moments +- t x w h^2/12
        for (int k = 0; k < 3; ++k) {
            r->lump[6 * e + k] += 0.5 * h * s->load[k];
            r->lump[6 * e + 6 + k] += 0.5 * h * s->load[k];
            r->lump[6 * e + 3 + k] += h * h / 12 * s->load[k];
            r->lump[6 * e + 9 + k] -= h * h / 12 * s->load[k];
        }
    }
}

// Quadrature points of a path: one per element where the integrand is constant, else three (Gauss).
static bool build_functional(pl_reduced_model *m, const rod_data *r, const reduced_path *path,
                             rod_functional *f)
{
    static const double gauss[3] = {-0.77459666924148337704, 0, 0.77459666924148337704};
    static const double weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    const int order = reduced_path_is_straight(path) ? 1 : 3;
    const double eps = 1e-9 * m->length;

    // elements that the span covers; stations lie at its ends
    f->first = 0;
    while (f->first < r->elements && m->station_s[f->first + 1] <= path->span[0] + eps) {
        ++f->first;
    }
    f->last = f->first;
    while (f->last < r->elements && m->station_s[f->last] < path->span[1] - eps) {
        ++f->last;
    }

    const int count = f->last - f->first;
    f->start = REDUCED_TAKE(m, int, count + 1);
    f->point = REDUCED_TAKE(m, rod_point, 3 * count);
    if (!f->start || !f->point) {
        return false;
    }

    // points with their weight (mm), offset and slope
    int n = 0;
    for (int e = f->first; e < f->last; ++e) {
        const double a = m->station_s[e], h = m->station_s[e + 1] - a;

        for (int k = 0; k < order; ++k) {
            rod_point *p = &f->point[n++];
            p->w = order == 1 ? h : h * weight[k];
            reduced_path_at(path, a + 0.5 * h * (1 + (order == 1 ? 0 : gauss[k])), p->d, p->slope);
        }

        f->start[e - f->first + 1] = n;
    }

    return true;
}

// Actuators first, then length sensors; false when out of memory.
static bool build_functionals(pl_reduced_model *m, rod_data *r)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        reduced_actuator *act = &m->actuator[a];
        rod_functional *f = &r->functional[r->functional_count++];
        *f = (rod_functional){.volume = pl_actuator_encloses(act->kind),
                              .area = act->area,
                              .push = act->effectiveness[0],
                              .bend = act->effectiveness[1],
                              .sign = (int)pl_actuator_kind_get(act->kind)->sign};
        if (!build_functional(m, r, &act->path, f)) {
            return false;
        }
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        r->sensor_functional[i] = -1;
        if (pl_sensor_is_line(m->sensor[i].kind)) {
            r->sensor_functional[i] = r->functional_count;
            rod_functional *f = &r->functional[r->functional_count++];
            *f = (rod_functional){.sign = 1};
            if (!build_functional(m, r, &m->sensor[i].path, f)) {
                return false;
            }
        }
    }

    // rest measures: V = h e_z, theta = 0
    for (int i = 0; i < r->functional_count; ++i) {
        rod_functional *f = &r->functional[i];
        for (int n = 0; n < f->start[f->last - f->first]; ++n) {
            const double *d = f->point[n].slope;
            f->rest += f->point[n].w * (f->volume ? f->area : sqrt(1 + d[0] * d[0] + d[1] * d[1]));
        }

        if (i < m->actuator_count) {
            m->actuator[i].rest = f->rest;
        }
    }

    return true;
}

// All memory of the solver, then elements and functionals.
pl_status rod_build(pl_reduced_model *m, rod_data *r, pl_error *err)
{
    const size_t E = (size_t)(m->station_count - 1), A = (size_t)m->actuator_count;
    const size_t F = A + (size_t)m->sensor_count, n = 6 * E;

    r->elements = (int)E;
    r->element = REDUCED_TAKE(m, rod_element, E);
    r->functional = REDUCED_TAKE(m, rod_functional, F);
    r->sensor_functional = REDUCED_TAKE(m, int, m->sensor_count);
    r->lump = REDUCED_TAKE(m, double, n + 6);
    r->drive = REDUCED_TAKE(m, rod_drive, A);
    r->g = REDUCED_TAKE(m, rod_measure, E);
    r->Rm = REDUCED_TAKE(m, double, 9 * E);
    r->band = (rod_band){.n = (int)E,
                         .D = REDUCED_TAKE(m, double, 36 * E),
                         .U = REDUCED_TAKE(m, double, 36 * E),
                         .L = REDUCED_TAKE(m, double, 36 * E),
                         .X = REDUCED_TAKE(m, double, 36 * E),
                         .pivot = REDUCED_TAKE(m, int, 6 * E)};
    r->residual = REDUCED_TAKE(m, double, n);
    r->step = REDUCED_TAKE(m, double, n);
    r->trial_step = REDUCED_TAKE(m, double, n);
    r->row = REDUCED_TAKE(m, double, n *F);
    r->column = REDUCED_TAKE(m, double, n *(A + 1));
    r->small = REDUCED_TAKE(m, double, A *A + 1);
    r->side = REDUCED_TAKE(m, double, A *A + 1);
    r->kept = REDUCED_TAKE(m, rod_state, E);
    r->safe = REDUCED_TAKE(m, rod_state, E);
    const bool ok = r->element && r->functional && r->sensor_functional && r->lump && r->drive && r->g &&
                    r->Rm && r->band.D && r->band.U && r->band.L && r->band.X && r->band.pivot &&
                    r->residual && r->step && r->trial_step && r->row && r->column && r->small && r->side &&
                    r->kept && r->safe;
    if (!ok) {
        return pl_fail_memory(err, "the rod");
    }
    build_elements(m, r);

    return build_functionals(m, r) ? PL_OK : pl_fail_memory(err, "the rod's actuators");
}

// ---- geometry
// R_m = R_1 exp(theta/2), R_2 = R_m exp(theta/2), r_2 = r_1 + R_m c
void rod_place(pl_reduced_model *m, rod_data *r)
{
    m->frame[0] = m->base;
    for (int e = 0; e < r->elements; ++e) {
        const rod_state *x = &r->x[e];
        const double half[3] = {0.5 * x->theta[0], 0.5 * x->theta[1], 0.5 * x->theta[2]};
        double Q[9], *Rm = r->Rm + 9 * e;

        // Q = exp(theta/2) = cos I + S1 [half]x + C1 half half^T
        const reduced_trig t = reduced_trig_of(pl_dot3(half, half));
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                Q[3 * i + j] = t.C1 * half[i] * half[j];
            }
        }

        const double cosine = 1 - t.C1 * pl_dot3(half, half);
        Q[0] += cosine, Q[4] += cosine, Q[8] += cosine;
        Q[1] -= t.S1 * half[2], Q[3] += t.S1 * half[2];
        Q[2] += t.S1 * half[1], Q[6] -= t.S1 * half[1];
        Q[5] -= t.S1 * half[0], Q[7] += t.S1 * half[0];

        pl_mul33(m->frame[e].R, Q, Rm);
        pl_mul33(Rm, Q, m->frame[e + 1].R);
        pl_mulv3(Rm, x->c, m->frame[e + 1].r);
        reduced_axpy3(1, m->frame[e].r, m->frame[e + 1].r);
        rod_measure_of(x, &r->g[e]);
    }

    m->prepared = false;
    m->placed = true;
}

// Nodal motions are turned into the elements' midway frames; x NULL: only the size is wanted.
double rod_apply(rod_data *r, const double *step, double factor, rod_state *x)
{
    static const double fixed[6] = {0};
    double size = 0;

    for (int e = 0; e < r->elements; ++e) {
        // the base is clamped
        const double *a = e > 0 ? step + 6 * (e - 1) : fixed, *b = step + 6 * e, *Rm = r->Rm + 9 * e;
        double move[3], d[3], s1[3], s2[3], dc[3], dt[3];
        pl_sub3(b, a, move);
        pl_mulTv3(Rm, move, d);
        pl_mulTv3(Rm, a + 3, s1);
        pl_mulTv3(Rm, b + 3, s2);
        rod_change(&r->x[e], &r->g[e], d, s1, s2, dc, dt);
        size = fmax(size, fmax(pl_norm3(dt), pl_norm3(dc) / r->element[e].h));
        for (int k = 0; x && k < 3; ++k) {
            x[e].c[k] = r->x[e].c[k] + factor * dc[k];
            x[e].theta[k] = r->x[e].theta[k] + factor * dt[k];
        }
    }

    return size;
}

// ---- stress of an element: elastic, and of the actuators that pass through it
// T dL/d(V, theta): unit tangent y = (V/h + theta/h x d + d') / |...|, n += T w y / h, m += d x n.
static void stress_cable(const rod_functional *f, int e, double h, double force, const double V[3],
                         const double theta[3], bool tangent, rod_stress *s)
{
    for (int i = f->start[e - f->first]; i < f->start[e - f->first + 1]; ++i) {
        const rod_point *p = &f->point[i];
        double y[3], dy[3];
        pl_cross3(theta, p->d, y);
        for (int k = 0; k < 3; ++k) {
            y[k] = (V[k] + y[k]) / h + p->slope[k];
        }
        const double length = pl_norm3(y), inverse = length > 0 ? 1 / length : 0, w = force * p->w / h;
        for (int k = 0; k < 3; ++k) {
            y[k] *= inverse;
        }
        pl_cross3(p->d, y, dy);
        reduced_axpy3(w, y, s->n);
        reduced_axpy3(w, dy, s->m);
        if (!tangent) {
            continue;
        }
        // (I - y y^T) / length between V + theta x d of both sides: with d^, rows by V and by theta
        const double q = w * inverse / h, *d = p->d;
        const double skew[9] = {0, -d[2], d[1], d[2], 0, -d[0], -d[1], d[0], 0};
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) {
                const double P = (a == b) - y[a] * y[b];
                double dP = 0;
                // (d^ P)_ab = d^_ab - (d x y)_a y_b
                dP = skew[3 * a + b] - dy[a] * y[b];
                s->Cvv[3 * a + b] += q * P;
                s->Ctv[3 * a + b] += q * dP;
                s->Cvt[3 * b + a] += q * dP;
                // -d^ P d^ = -d^ d^ - (d x y)(d x y)^T
                const double dd = (a == b) * pl_dot3(d, d) - d[a] * d[b];
                s->Ctt[3 * a + b] += q * (dd - dy[a] * dy[b]);
            }
        }
    }
}

// p dVolume/d(V, theta): push along z, moments p A (d_y, -d_x).
static void stress_chamber(const rod_functional *f, int e, double h, double pressure, rod_stress *s)
{
    for (int i = f->start[e - f->first]; i < f->start[e - f->first + 1]; ++i) {
        const rod_point *p = &f->point[i];
        const double w = pressure * f->area * p->w / h;
        s->n[2] += w * f->push;
        s->m[0] += w * f->bend * p->d[1];
        s->m[1] -= w * f->bend * p->d[0];
    }
}

// n = K_V (V - h e_z), m = K_theta theta.
static void stress_elastic(const rod_element *el, const rod_state *x, const double V[3], rod_stress *s)
{
    for (int k = 0; k < 3; ++k) {
        s->n[k] = el->K[k] * (V[k] - (k == 2 ? el->h : 0));
        s->m[k] = el->K[3 + k] * x->theta[k];
    }
}

// A chamber's pressure works with its volume, hence the minus.
static void stress_of(const pl_reduced_model *m, const rod_data *r, int e, bool tangent, rod_stress *s)
{
    const rod_element *el = &r->element[e];
    if (tangent) {
        memset(s, 0, sizeof *s);
        for (int k = 0; k < 3; ++k) {
            s->Cvv[4 * k] = el->K[k];
            s->Ctt[4 * k] = el->K[3 + k];
        }
    }

    stress_elastic(el, &r->x[e], r->g[e].V, s);
    for (int a = 0; a < m->actuator_count; ++a) {
        const rod_functional *f = &r->functional[a];
        const double force = r->drive[a].force;
        // no force, or the path does not pass through this element
        if (force == 0 || e < f->first || e >= f->last) {
            continue;
        }
        if (f->volume) {
            stress_chamber(f, e, el->h, -force, s);
        } else {
            stress_cable(f, e, el->h, force, r->g[e].V, r->x[e].theta, tangent, s);
        }
    }
}

// ---- assembly
static void add_node(double *v, const double a[3], double sign)
{
    v[0] += sign * a[0];
    v[1] += sign * a[1];
    v[2] += sign * a[2];
}

// Nodal forces of an element, turned into the world, added to a vector of nodes 1..
static void add_element(const rod_data *r, int e, const rod_nodal *f, double *v)
{
    const double *Rm = r->Rm + 9 * e;
    double F[3], M1[3], M2[3];

    pl_mulv3(Rm, f->force, F);
    pl_mulv3(Rm, f->moment[0], M1);
    pl_mulv3(Rm, f->moment[1], M2);
    add_node(v + 6 * e, F, 1);
    add_node(v + 6 * e + 3, M2, 1);
    if (e > 0) {
        add_node(v + 6 * e - 6, F, -1);
        add_node(v + 6 * e - 3, M1, 1);
    }
}

// K += sign B at a 3 x 3 corner of a 6 x 6 block
static void add_block(double *K, int row, int column, const double B[9], double sign)
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            K[6 * (row + i) + column + j] += sign * B[3 * i + j];
        }
    }
}

// T in the world, R_m T R_m^T, then into the blocks of both nodes; the clamped base has none.
static void add_tangent(rod_data *r, int e, double T[3][3][9])
{
    const double *Rm = r->Rm + 9 * e;
    const double RT[9] = {Rm[0], Rm[3], Rm[6], Rm[1], Rm[4], Rm[7], Rm[2], Rm[5], Rm[8]};

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double half[9];
            pl_mul33(Rm, T[i][j], half);
            pl_mul33(half, RT, T[i][j]);
        }
    }

    // node 2 of the element
    double *D2 = r->band.D + 36 * e;
    add_block(D2, 0, 0, T[0][0], 1);
    add_block(D2, 0, 3, T[0][2], 1);
    add_block(D2, 3, 0, T[2][0], 1);
    add_block(D2, 3, 3, T[2][2], 1);

    // node 1 and the coupling
    if (e > 0) {
        double *D1 = D2 - 36, *U = r->band.U + 36 * (e - 1), *L = r->band.L + 36 * (e - 1);
        add_block(D1, 0, 0, T[0][0], 1);
        add_block(D1, 0, 3, T[0][1], -1);
        add_block(D1, 3, 0, T[1][0], -1);
        add_block(D1, 3, 3, T[1][1], 1);
        add_block(U, 0, 0, T[0][0], -1);
        add_block(U, 0, 3, T[0][2], -1);
        add_block(U, 3, 0, T[1][0], 1);
        add_block(U, 3, 3, T[1][2], 1);
        add_block(L, 0, 0, T[0][0], -1);
        add_block(L, 0, 3, T[0][1], 1);
        add_block(L, 3, 0, T[2][0], -1);
        add_block(L, 3, 3, T[2][1], 1);
    }
}

// A dead force F whose point stands off by a = R o: moment a x F; its derivative by the spin is
// (w x a) x F = a (F . w) - (a . F) w.
static void add_lever(double *g, double *D, const double a[3], const double F[3])
{
    double M[3];
    pl_cross3(a, F, M);
    add_node(g + 3, M, -1);

    if (D) {
        const double aF = pl_dot3(a, F);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                D[6 * (3 + i) + 3 + j] -= a[i] * F[j];
            }
            D[6 * (3 + i) + 3 + i] += aF;
        }
    }
}

// A load that turns with the node: g = -R f, derivative by the spin (R f)^.
static void add_follower(double *g, double *D, int row, const double R[9], const double f[3], double load)
{
    double F[3];
    pl_mulv3(R, f, F);
    for (int i = 0; i < 3; ++i) {
        F[i] *= load;
    }
    add_node(g + row, F, -1);
    if (D) {
        const double S[9] = {0, -F[2], F[1], F[2], 0, -F[0], -F[1], F[0], 0};
        add_block(D, row, 3, S, 1);
    }
}

static void add_loads(pl_reduced_model *m, rod_data *r, bool tangent)
{
    // loads along the line, at their share
    const double load = *r->load;
    for (int i = 1; i <= r->elements; ++i) {
        double *g = r->residual + 6 * (i - 1), *D = tangent ? r->band.D + 36 * (i - 1) : NULL;
        const double *l = r->lump + 6 * i, *R = m->frame[i].R, axis[3] = {R[2], R[5], R[8]};
        const double c[3] = {load * l[3], load * l[4], load * l[5]};
        add_node(g, l, -load);
        add_lever(g, D, axis, c);
    }

    // forces and moments of the file
    for (int i = 0; i < m->force_count; ++i) {
        const reduced_force *f = &m->force[i];
        if (f->station == 0) {
            continue; // the clamp bears it
        }
        double *g = r->residual + 6 * (f->station - 1), a[3], M[3];
        double *D = tangent ? r->band.D + 36 * (f->station - 1) : NULL;
        const double *R = m->frame[f->station].R;

        if (f->follower) {
            pl_cross3(f->offset, f->force, M);
            reduced_axpy3(1, f->moment, M);
            add_follower(g, D, 0, R, f->force, load);
            add_follower(g, D, 3, R, M, load);
            continue;
        }

        const double F[3] = {load * f->force[0], load * f->force[1], load * f->force[2]};
        pl_mulv3(R, f->offset, a);
        add_node(g, F, -1);
        add_node(g + 3, f->moment, -load);
        add_lever(g, D, a, F);
    }
}

// The forces set at the markers: dead forces at their points.
static void add_marker_forces(pl_reduced_model *m, rod_data *r, bool tangent)
{
    for (int i = 0; i < m->marker_count; ++i) {
        const int at = m->marker[i].station;
        const double *F = m->acting + 3 * i;
        if (at == 0 || (F[0] == 0 && F[1] == 0 && F[2] == 0)) {
            continue; // nothing, or the clamp bears it
        }
        double *g = r->residual + 6 * (at - 1), a[3];
        pl_mulv3(m->frame[at].R, m->marker[i].offset, a);
        add_node(g, F, -1);
        add_lever(g, tangent ? r->band.D + 36 * (at - 1) : NULL, a, F);
    }
}

// Residual g = dE/d(nodes) - loads; tangent: dg/d(nodes) in the band. Elements first, then loads.
void rod_assemble(pl_reduced_model *m, rod_data *r, bool tangent)
{
    const size_t n = (size_t)r->elements;
    memset(r->residual, 0, 6 * n * sizeof(double));
    if (tangent) {
        memset(r->band.D, 0, 36 * n * sizeof(double));
        memset(r->band.U, 0, 36 * n * sizeof(double));
        memset(r->band.L, 0, 36 * n * sizeof(double));
    }

    r->largest = 0;
    for (int e = 0; e < r->elements; ++e) {
        rod_stress s;
        rod_nodal f;
        stress_of(m, r, e, tangent, &s);
        rod_forces(&r->x[e], &r->g[e], s.n, s.m, &f);
        add_element(r, e, &f, r->residual);
        r->largest = fmax(r->largest, pl_norm3(f.force));

        if (tangent) {
            double T[3][3][9];
            rod_tangent(&r->x[e], &r->g[e], &s, T);
            add_tangent(r, e, T);
        }
    }

    add_loads(m, r, tangent);
    add_marker_forces(m, r, tangent);
}

// ---- functionals
// mm or mm^3.
double rod_measure_functional(const rod_data *r, const rod_functional *f)
{
    // a volume is its rest value plus the change; a length is summed from 0
    double sum = f->volume ? f->rest : 0;
    for (int e = f->first; e < f->last; ++e) {
        const double h = r->element[e].h, *V = r->g[e].V, *theta = r->x[e].theta;

        for (int i = f->start[e - f->first]; i < f->start[e - f->first + 1]; ++i) {
            const rod_point *p = &f->point[i];
            double y[3];
            pl_cross3(theta, p->d, y);
            if (f->volume) {
                sum += f->area * p->w * (f->push * (V[2] / h - 1) + f->bend * y[2] / h);
                continue;
            }

            for (int k = 0; k < 3; ++k) {
                y[k] = (V[k] + y[k]) / h + p->slope[k];
            }
            sum += p->w * pl_norm3(y);
        }
    }

    return sum;
}

// The gradient has the form of nodal forces for a unit force along the functional.
void rod_functional_row(const rod_data *r, const rod_functional *f, double *row)
{
    memset(row, 0, 6 * (size_t)r->elements * sizeof *row);
    for (int e = f->first; e < f->last; ++e) {
        rod_stress s;
        rod_nodal nodal;
        memset(s.n, 0, sizeof s.n);
        memset(s.m, 0, sizeof s.m);
        if (f->volume) {
            stress_chamber(f, e, r->element[e].h, 1, &s);
        } else {
            stress_cable(f, e, r->element[e].h, 1, r->g[e].V, r->x[e].theta, false, &s);
        }
        rod_forces(&r->x[e], &r->g[e], s.n, s.m, &nodal);
        add_element(r, e, &nodal, row);
    }
}

// N mm; `row` gets the gradient by the nodes' motion.
double rod_elastic(const rod_data *r, double *row)
{
    double energy = 0;
    if (row) {
        memset(row, 0, 6 * (size_t)r->elements * sizeof *row);
    }

    for (int e = 0; e < r->elements; ++e) {
        rod_stress s;
        stress_elastic(&r->element[e], &r->x[e], r->g[e].V, &s);
        const double stretch[3] = {r->g[e].V[0], r->g[e].V[1], r->g[e].V[2] - r->element[e].h};
        energy += 0.5 * (pl_dot3(s.n, stretch) + pl_dot3(s.m, r->x[e].theta));

        if (row) {
            rod_nodal nodal;
            rod_forces(&r->x[e], &r->g[e], s.n, s.m, &nodal);
            add_element(r, e, &nodal, row);
        }
    }

    return energy;
}
