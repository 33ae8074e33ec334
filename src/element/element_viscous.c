// Viscous branches of the deviatoric stress (linear viscoelasticity at finite strain, Simo 1987), integrated
// inside TR-BDF2. With S_d the deviatoric second Piola-Kirchhoff stress of the long-term law, divided by a =
// J^(-2/3) (1 for linear and stvk), branch i is
//   alpha_i' = (g_i S_d - alpha_i) / tau_i,   stress a DEV[g_i S_d - alpha_i],
// which relaxes to 0. In a stage of length s, with r = s / tau_i,
//   alpha_i = (alpha^_i + r g_i S_d) / (1 + r),
//   alpha^ = alpha_n + s alpha_n'   (trapezoidal rule),   alpha^ = c1 alpha_g - c0 alpha_n   (BDF2),
// so that the branches have a potential: the deviatoric energy times m = 1 + sum g_i / (1 + r), and a/2 H : C
// with the overstress H = -sum alpha^_i / (1 + r). For linear and stvk, whose law is mu |e|^2 + kappa/2 d^2,
// the deviatoric energy is mu (|e|^2 - d^2 / 3): kappa changes by -2/3 (m - 1) mu.
//
// The work that goes into the branches between two shapes is (q0 + q1) / 2 : (a1 C1 - a0 C0) / 2 with q = sum
// (g_i S_d - alpha_i), because a DEV[q] : dC = q : d(a C).
#include "base/threads.h"
#include "element/element.h"
#include "material/material.h"

#define VISCOUS_GRAIN 8 // blocks, some 10 us
#define GAMMA 0.58578643762690495
#define C1 (1 / (GAMMA * (2 - GAMMA)))
#define C0 (C1 - 1)

typedef struct viscous_law {
    int count;
    double g[PL_PRONY_TERMS], tau[PL_PRONY_TERMS];
    pl_law long_term, deviatoric;
} viscous_law;

// Stresses and strains of all points: [point][12][lane] per block.
typedef struct viscous_set {
    double *alpha; // [branch][point][6][lane] per block
    double *strain;
} viscous_set;

struct pl_viscous {
    pl_elements *E;
    viscous_law *law;                                       // per law of the elements
    int64_t *alpha_start, *strain_start, *overstress_start; // per block; -1: no branches
    int64_t alpha_size, strain_size, overstress_size;
    viscous_set now, middle, next;
    double *overstress;
    double *work; // per block
};

// ---- creation
static void viscous_law_init(viscous_law *v, const pl_law *law, const pl_material *material)
{
    v->long_term = v->deviatoric = *law;
    v->deviatoric.mixed = false;
    v->deviatoric.kappa = pl_material_is_rubber(material->model) ? 0 : -2.0 / 3 * law->mu;

    for (int i = 0; i < material->prony_count; ++i) {
        if (material->prony_g[i] > 0) {
            v->g[v->count] = material->prony_g[i];
            v->tau[v->count++] = material->prony_tau[i];
        }
    }
}

static void viscous_sizes(pl_viscous *v)
{
    const pl_elements *E = v->E;
    for (int b = 0; b < E->block_count; ++b) {
        const int64_t points = (int64_t)E->block[b].point_count * PL_LANES,
                      branches = v->law[E->block[b].law].count;
        v->alpha_start[b] = branches > 0 ? v->alpha_size : -1;
        v->strain_start[b] = branches > 0 ? v->strain_size : -1;
        v->overstress_start[b] = branches > 0 ? v->overstress_size : -1;
        v->alpha_size += 6 * points * branches;
        v->strain_size += branches > 0 ? 12 * points : 0;
        v->overstress_size += branches > 0 ? 6 * points : 0;
    }
}

pl_status pl_viscous_create(pl_elements *E, const pl_material *const *material, pl_viscous **out,
                            pl_error *err)
{
    *out = NULL;
    bool any = false;
    for (int r = 0; r < E->law_count; ++r) {
        for (int i = 0; material[r] && i < material[r]->prony_count; ++i) {
            any = any || material[r]->prony_g[i] > 0;
        }
    }

    if (!any) {
        return PL_OK;
    }

    pl_viscous *v = PL_NEW(pl_viscous);
    if (!v) {
        return pl_fail_memory(err, "elements: viscous branches");
    }
    v->E = E;
    v->law = PL_NEW_ARRAY(viscous_law, E->law_count);
    v->alpha_start = PL_NEW_ARRAY(int64_t, E->block_count);
    v->strain_start = PL_NEW_ARRAY(int64_t, E->block_count);
    v->overstress_start = PL_NEW_ARRAY(int64_t, E->block_count);
    v->work = PL_NEW_ARRAY(double, E->block_count);
    bool ok = v->law && v->alpha_start && v->strain_start && v->overstress_start && v->work;

    for (int r = 0; ok && r < E->law_count; ++r) {
        if (material[r]) {
            viscous_law_init(&v->law[r], &E->law[r], material[r]);
        }
    }

    if (ok) {
        viscous_sizes(v);
        viscous_set *set[] = {&v->now, &v->middle, &v->next};

        for (int i = 0; i < PL_COUNT(set); ++i) {
            set[i]->alpha = PL_NEW_ARRAY(double, v->alpha_size);
            set[i]->strain = PL_NEW_ARRAY(double, v->strain_size);
            ok = ok && set[i]->alpha && set[i]->strain;
        }

        v->overstress = PL_NEW_ARRAY(double, v->overstress_size);
        ok = ok && v->overstress;
    }

    if (!ok) {
        pl_viscous_destroy(v);
        return pl_fail_memory(err, "elements: viscous branches");
    }

    *out = v;

    return PL_OK;
}

void pl_viscous_destroy(pl_viscous *v)
{
    if (!v) {
        return;
    }
    if (v->overstress) { // the last to be made
        pl_viscous_off(v);
    }

    void *owned[] = {v->law,           v->alpha_start, v->strain_start, v->overstress_start,
                     v->work,          v->now.alpha,   v->now.strain,   v->middle.alpha,
                     v->middle.strain, v->next.alpha,  v->next.strain,  v->overstress};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
    pl_free(v);
}

// ---- laws and overstresses of the elements
// The deviatoric part times m.
static void viscous_set_law(const pl_viscous *v, int r, double m)
{
    const pl_law *from = &v->law[r].long_term;
    pl_law *law = &v->E->law[r];

    *law = *from;
    law->factor = m * from->factor;
    law->mu = m * from->mu;
    law->c10 = m * from->c10;
    law->c01 = m * from->c01;
    law->c20 = m * from->c20;
    law->c30 = m * from->c30;
    law->k1 = m * from->k1;
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        law->ogden[k] = m * from->ogden[k];
    }
    if (!pl_material_is_rubber(law->model)) {
        law->kappa = from->kappa - 2.0 / 3 * (m - 1) * from->mu;
    }
}

static void viscous_attach(const pl_viscous *v, bool on)
{
    for (int b = 0; b < v->E->block_count; ++b) {
        const int64_t at = v->overstress_start[b];
        v->E->block[b].overstress = on && at >= 0 ? v->overstress + at : NULL;
    }
}

void pl_viscous_off(pl_viscous *v)
{
    if (!v) {
        return;
    }
    viscous_attach(v, false);

    for (int r = 0; r < v->E->law_count; ++r) {
        if (v->law[r].count > 0) {
            v->E->law[r] = v->law[r].long_term;
        }
    }
}

// ---- branches
typedef struct viscous_loop {
    pl_viscous *v;
    double s;
    bool second;
    const double *x;
    const viscous_set *from; // of `end`: where the stage began
    viscous_set *to;
} viscous_loop;

// S_d and a C at the shape x.
static void viscous_strains(void *context, int64_t from, int64_t to)
{
    const viscous_loop *w = context;
    const pl_viscous *v = w->v;
    const pl_kernels *kernels = pl_kernels_choose();

    for (int64_t b = from; b < to; ++b) {
        if (v->strain_start[b] >= 0) {
            const pl_block *block = &v->E->block[b];
            kernels->deviator(block, &v->law[block->law].deviatoric, w->x,
                              w->to->strain + v->strain_start[b]);
        }
    }
}

// alpha^ of one branch of a block at entry j, of `now` and, for the second stage, `middle`.
static inline double viscous_hat(const viscous_loop *w, int64_t at, double S_d, double g, double tau)
{
    const double now = w->v->now.alpha[at];
    return w->second ? C1 * w->v->middle.alpha[at] - C0 * now : now + w->s * (g * S_d - now) / tau;
}

// H = -sum alpha^ / (1 + r)
static void viscous_overstress(void *context, int64_t from, int64_t to)
{
    const viscous_loop *w = context;
    pl_viscous *v = w->v;

    for (int64_t b = from; b < to; ++b) {
        if (v->alpha_start[b] < 0) {
            continue;
        }
        const viscous_law *law = &v->law[v->E->block[b].law];
        const int points = v->E->block[b].point_count, size = 6 * points * PL_LANES;
        double *H = v->overstress + v->overstress_start[b];
        memset(H, 0, (size_t)size * sizeof *H);

        for (int i = 0; i < law->count; ++i) {
            const double r = w->s / law->tau[i];
            const int64_t start = v->alpha_start[b] + (int64_t)i * size;

            for (int q = 0; q < points; ++q) {
                const double *S_d = v->now.strain + v->strain_start[b] + 12 * q * PL_LANES;
                for (int j = 0; j < 6 * PL_LANES; ++j) {
                    const int at = 6 * q * PL_LANES + j;
                    H[at] -= viscous_hat(w, start + at, S_d[j], law->g[i], law->tau[i]) / (1 + r);
                }
            }
        }
    }
}

void pl_viscous_begin(pl_viscous *v, double s, bool second)
{
    if (!v) {
        return;
    }

    for (int r = 0; r < v->E->law_count; ++r) {
        double m = 1;
        for (int i = 0; i < v->law[r].count; ++i) {
            m += v->law[r].g[i] / (1 + s / v->law[r].tau[i]);
        }
        if (v->law[r].count > 0) {
            viscous_set_law(v, r, m);
        }
    }

    viscous_loop w = {.v = v, .s = s, .second = second};
    pl_loop(v->E->block_count, VISCOUS_GRAIN, viscous_overstress, &w);
    viscous_attach(v, true);
}

// Off-diagonal components count twice in a product of tensors.
static const double viscous_weight[6] = {1, 1, 1, 2, 2, 2};

// alpha at the end of the stage, and the work of the branches of a block.
static void viscous_advance(void *context, int64_t from, int64_t to)
{
    const viscous_loop *w = context;
    pl_viscous *v = w->v;

    for (int64_t b = from; b < to; ++b) {
        v->work[b] = 0;
        if (v->alpha_start[b] < 0) {
            continue;
        }
        const pl_block *block = &v->E->block[b];
        const viscous_law *law = &v->law[block->law];
        const int64_t size = 6 * (int64_t)block->point_count * PL_LANES;

        for (int q = 0; q < block->point_count; ++q) {
            const int64_t strain = v->strain_start[b] + 12 * (int64_t)q * PL_LANES;
            const double *S_n = v->now.strain + strain, *S0 = w->from->strain + strain,
                         *S1 = w->to->strain + strain;
            for (int j = 0; j < 6 * PL_LANES; ++j) {
                double q0 = 0, q1 = 0;

                for (int i = 0; i < law->count; ++i) {
                    const double r = w->s / law->tau[i], g = law->g[i];
                    const int64_t at = v->alpha_start[b] + i * size + 6 * (int64_t)q * PL_LANES + j;
                    const double hat = viscous_hat(w, at, S_n[j], g, law->tau[i]);
                    w->to->alpha[at] = (hat + r * g * S1[j]) / (1 + r);
                    q0 += g * S0[j] - w->from->alpha[at];
                    q1 += g * S1[j] - w->to->alpha[at];
                }

                const int lane = j % PL_LANES, component = j / PL_LANES;
                const double weight = lane < block->lane_count ? block->weight[q * PL_LANES + lane] : 0;
                const double *aC0 = S0 + 6 * PL_LANES, *aC1 = S1 + 6 * PL_LANES;
                v->work[b] += weight * viscous_weight[component] * 0.25 * (q0 + q1) * (aC1[j] - aC0[j]);
            }
        }
    }
}

double pl_viscous_end(pl_viscous *v, double s, bool second, const double *x)
{
    if (!v) {
        return 0;
    }

    viscous_loop w = {.v = v,
                      .s = s,
                      .second = second,
                      .x = x,
                      .from = second ? &v->middle : &v->now,
                      .to = second ? &v->next : &v->middle};
    pl_loop(v->E->block_count, VISCOUS_GRAIN, viscous_strains, &w);
    pl_loop(v->E->block_count, VISCOUS_GRAIN, viscous_advance, &w);
    double sum = 0;
    for (int b = 0; b < v->E->block_count; ++b) {
        sum += v->work[b];
    }

    return sum;
}

// Stress that the branches' equations miss in a step of length h, 2 k h (f_n / gamma - f_g / (gamma (1 -
// gamma)) + f_1 / (1 - gamma)) with f = sum alpha', over the largest stress of the body: root mean squares.
double pl_viscous_error(const pl_viscous *v, double h)
{
    const double k = 2 * h * (-3 * GAMMA * GAMMA + 4 * GAMMA - 2) / (12 * (2 - GAMMA));
    const viscous_set *set[3] = {&v->now, &v->middle, &v->next};
    const double part[3] = {k / GAMMA, -k / (GAMMA * (1 - GAMMA)), k / (1 - GAMMA)};
    double missed = 0, stress = 0;

    for (int b = 0; b < v->E->block_count; ++b) {
        if (v->alpha_start[b] < 0) {
            continue;
        }
        const pl_block *block = &v->E->block[b];
        const viscous_law *law = &v->law[block->law];
        const int64_t size = 6 * (int64_t)block->point_count * PL_LANES;

        for (int64_t j = 0; j < size; ++j) {
            const int64_t q = j / (6 * PL_LANES), lane = j % PL_LANES, component = j / PL_LANES % 6;
            const int64_t strain = v->strain_start[b] + 6 * PL_LANES * q + j;
            double error = 0;

            for (int i = 0; i < law->count; ++i) {
                const int64_t at = v->alpha_start[b] + i * size + j;
                for (int p = 0; p < 3; ++p) {
                    error += part[p] * (law->g[i] * set[p]->strain[strain] - set[p]->alpha[at]) / law->tau[i];
                }
            }

            const double weight =
                lane < block->lane_count ? block->weight[q * PL_LANES + lane] * viscous_weight[component] : 0;
            missed += weight * error * error;
            stress += weight * v->next.strain[strain] * v->next.strain[strain];
        }
    }

    return stress > 0 ? sqrt(missed / stress) : 0;
}

double pl_viscous_shortest(const pl_viscous *v)
{
    double shortest = INFINITY;
    for (int r = 0; r < v->E->law_count; ++r) {
        for (int i = 0; i < v->law[r].count; ++i) {
            shortest = fmin(shortest, v->law[r].tau[i]);
        }
    }

    return shortest;
}

void pl_viscous_accept(pl_viscous *v)
{
    if (v) {
        const viscous_set now = v->now;
        v->now = v->next;
        v->next = now;
    }
}

// r -> 0: m = 1 + sum g, H = -sum alpha.
void pl_viscous_hold(pl_viscous *v)
{
    pl_viscous_begin(v, 0, false);
}

void pl_viscous_jump(pl_viscous *v, const double *x)
{
    viscous_loop w = {.v = v, .x = x, .to = &v->now};
    pl_loop(v->E->block_count, VISCOUS_GRAIN, viscous_strains, &w);
}

void pl_viscous_relax(pl_viscous *v, const double *x)
{
    if (!v) {
        return;
    }

    viscous_loop w = {.v = v, .x = x, .to = &v->now};
    pl_loop(v->E->block_count, VISCOUS_GRAIN, viscous_strains, &w);
    for (int b = 0; b < v->E->block_count; ++b) {
        if (v->alpha_start[b] < 0) {
            continue;
        }
        const viscous_law *law = &v->law[v->E->block[b].law];
        const int points = v->E->block[b].point_count;
        double *alpha = v->now.alpha + v->alpha_start[b];

        for (int i = 0; i < law->count; ++i) {
            for (int q = 0; q < points; ++q, alpha += 6 * PL_LANES) {
                const double *S_d = v->now.strain + v->strain_start[b] + 12 * q * PL_LANES;
                for (int j = 0; j < 6 * PL_LANES; ++j) {
                    alpha[j] = law->g[i] * S_d[j];
                }
            }
        }
    }
}

// ---- small vibrations
#define VIBRATION_STEP 1e-4 // of the size of the body

// By central differences of S_d and a C, in the places of a step that is not in progress.
void pl_viscous_shares(pl_viscous *v, const double *x, const double *u, double *share)
{
    const pl_elements *E = v->E;
    const int64_t n = 3 * (int64_t)E->vertex_count;
    double most = 0;

    memset(share, 0, (size_t)E->law_count * sizeof *share);
    for (int64_t i = 0; i < n; ++i) {
        most = fmax(most, fabs(u[i]));
    }
    const double h = most > 0 ? VIBRATION_STEP * cbrt(E->volume) / most : 0;
    double *y = h > 0 ? PL_NEW_ARRAY(double, n) : NULL;
    if (!y) {
        return;
    }

    for (int side = 0; side < 2; ++side) {
        viscous_loop w = {.v = v, .x = y, .to = side ? &v->next : &v->middle};
        for (int64_t i = 0; i < n; ++i) {
            y[i] = x[i] + (side ? h : -h) * u[i];
        }
        pl_loop(E->block_count, VISCOUS_GRAIN, viscous_strains, &w);
    }
    pl_free(y);

    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int64_t j = 0; v->strain_start[b] >= 0 && j < 6 * (int64_t)block->point_count * PL_LANES; ++j) {
            const int64_t q = j / (6 * PL_LANES), lane = j % PL_LANES, component = j / PL_LANES % 6,
                          at = v->strain_start[b] + 6 * PL_LANES * q + j, C = at + 6 * PL_LANES;
            const double weight = lane < block->lane_count ? block->weight[q * PL_LANES + lane] : 0;
            share[block->law] += 0.5 * weight * viscous_weight[component] / (4 * h * h) *
                                 (v->next.strain[at] - v->middle.strain[at]) *
                                 (v->next.strain[C] - v->middle.strain[C]);
        }
    }
}

// g z / (1 + z) with z = s tau: g (|z|^2 + z) / |1 + z|^2
void pl_viscous_stiffness(const pl_viscous *v, const double *share, const double s[2], double out[2])
{
    out[0] = out[1] = 0;
    for (int r = 0; r < v->E->law_count; ++r) {
        for (int i = 0; i < v->law[r].count; ++i) {
            const double re = s[0] * v->law[r].tau[i], im = s[1] * v->law[r].tau[i],
                         square = re * re + im * im, part = share[r] * v->law[r].g[i] / (1 + 2 * re + square);
            out[0] += part * (square + re);
            out[1] += part * im;
        }
    }
}

// ---- states
int64_t pl_viscous_count(const pl_viscous *v)
{
    return v ? v->alpha_size : 0;
}

void pl_viscous_write(const pl_viscous *v, double *out)
{
    if (v) {
        memcpy(out, v->now.alpha, (size_t)v->alpha_size * sizeof *out);
    }
}

void pl_viscous_read(pl_viscous *v, const double *in, const double *x)
{
    if (v) {
        viscous_loop w = {.v = v, .x = x, .to = &v->now};
        pl_loop(v->E->block_count, VISCOUS_GRAIN, viscous_strains, &w);
        memcpy(v->now.alpha, in, (size_t)v->alpha_size * sizeof *in);
    }
}
