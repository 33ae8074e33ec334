// The tangent of everything at x: the terms add their parts, rigid bodies the curvature of their rotation.
#include "problem/problem_impl.h"

// The unknowns a vertex moves with, and dx/du (3 x count): its own axes, or its rigid body's six.
int pl_problem_vertex_unknowns(const pl_problem *p, int32_t v, const double *x, int32_t unknown[6],
                               double J[18])
{
    const pl_unknowns *u = &p->unknowns;
    int count = 0;

    memset(J, 0, 18 * sizeof *J);
    if (u->rigid_of[v] < 0) {
        for (int i = 0; i < 3; ++i) {
            if (u->dof[3 * v + i] >= 0) {
                unknown[count] = u->dof[3 * v + i];
                J[6 * i + count++] = 1;
            }
        }
        return count;
    }

    const pl_rigid_motion *body = &u->rigid[u->rigid_of[v]];
    double d[3];
    pl_sub3(x + 3 * (int64_t)v, body->centre, d);
    for (int i = 0; i < 3; ++i) {
        J[6 * i + i] = 1;
        unknown[i] = body->unknown + i;
        unknown[3 + i] = body->unknown + 3 + i;
    }

    // dx = w x d: column of rotation axis k is e_k x d
    J[4] = d[2];
    J[5] = -d[1];
    J[6 + 3] = -d[2];
    J[6 + 5] = d[0];
    J[12 + 3] = d[1];
    J[12 + 4] = -d[0];

    return 6;
}

void pl_problem_add_block(pl_problem *p, int32_t va, int32_t vb, const double *B, int stride, const double *x)
{
    pl_sparse *K = &p->tangent.K;
    int32_t ua[6], ub[6];
    double Ja[18], Jb[18];
    const int na = pl_problem_vertex_unknowns(p, va, x, ua, Ja),
              nb = pl_problem_vertex_unknowns(p, vb, x, ub, Jb);

    for (int a = 0; a < na; ++a) {
        for (int b = 0; b < nb; ++b) {
            if (ua[a] > ub[b]) {
                continue;
            }
            double sum = 0;
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    sum += Ja[6 * i + a] * B[i * stride + j] * Jb[6 * j + b];
                }
            }
            K->value[pl_sparse_slot(K, ua[a], ub[b])] += sum;
        }
    }
}

void pl_problem_add_piece(pl_problem *p, const pl_functional *h, const pl_slots *slots, int piece,
                          const double *x)
{
    const int32_t *dof = p->unknowns.dof, count = h->piece[piece].node_count;
    const int32_t *node = h->node + h->piece[piece].node_start;
    const double *H = p->tangent.dense;
    double *value = p->tangent.K.value;
    const int m = 3 * count;

    if (slots->start[piece] < 0) {
        for (int32_t j = 0; j < count; ++j) {
            for (int32_t k = 0; k < count; ++k) {
                pl_problem_add_block(p, node[j], node[k], H + (int64_t)(3 * j) * m + 3 * k, m, x);
            }
        }
        return;
    }

    // an entry on the diagonal of K may come from two different rows of the piece (a vertex named twice)
    const int64_t *slot = slots->slot + slots->start[piece];
    for (int r = 0; r < m; ++r) {
        for (int c = r; c < m; ++c, ++slot) {
            if (*slot >= 0) {
                const bool twice = r != c && dof[3 * node[r / 3] + r % 3] == dof[3 * node[c / 3] + c % 3];
                value[*slot] += (twice ? 2 : 1) * H[(int64_t)r * m + c];
            }
        }
    }
}

void pl_problem_add_functional(pl_problem *p, const pl_functional *h, const pl_slots *slots, const double *x,
                               double scale)
{
    for (int t = 0; t < h->piece_count; ++t) {
        pl_functional_hessian(h, t, x, scale, p->tangent.dense);
        pl_problem_add_piece(p, h, slots, t, x);
    }
}

// The rotation is curved: x(w) = c + exp(w) d gives f . d2x/dw2 = sym(f d^T) - (f . d) I with f the nodal
// gradient, the forces of constraints included.
static void assemble_rigid_curvature(pl_problem *p, const double *x)
{
    pl_sparse *K = &p->tangent.K;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *full = pl_problem_take_full(p);

    memcpy(full, p->gradient, pl_problem_full_bytes(p));
    for (int i = 0; i < p->row_count; ++i) {
        const pl_row *row = &p->row[i];
        if (row->constraint && row->active) {
            pl_functional_gradient(row->h, x, row->multiplier, full);
        }
    }
    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &p->unknowns.rigid[b];
        double H[9] = {0};
        for (int32_t k = 0; k < body->node_count; ++k) {
            const int64_t v = 3 * (int64_t)body->node[k];
            double d[3];
            pl_sub3(x + v, body->centre, d);
            const double *f = full + v, fd = pl_dot3(f, d);
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    H[3 * i + j] += 0.5 * (f[i] * d[j] + f[j] * d[i]) - (i == j ? fd : 0);
                }
            }
        }
        for (int i = 0; i < 3; ++i) {
            for (int j = i; j < 3; ++j) {
                K->value[pl_sparse_slot(K, body->unknown + 3 + i, body->unknown + 3 + j)] += H[3 * i + j];
            }
        }
    }

    pl_arena_end(&p->scratch, mark);
}

void pl_problem_assemble(pl_problem *p, const pl_linearization *at)
{
    pl_sparse *K = &p->tangent.K;
    memset(K->value, 0, (size_t)K->start[K->n] * sizeof *K->value);
    problem_rigid_centres(p, at->x);
    PROBLEM_EACH (p, t, tangent) {
        t->kind->tangent(t->self, p, at);
    }
    if (at->positive_part < 1 && p->unknowns.rigid_count > 0) {
        assemble_rigid_curvature(p, at->x);
    }
}
