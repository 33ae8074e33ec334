// The tangent of everything at x: elements, second derivatives of functionals, pressures, rigid bodies.
#include "statics/statics_impl.h"

// Adds up the element results of one pair of groups and writes its block.
static void assemble_pair(pl_statics *s, const node_pair *pair)
{
    if (pair->rows > 3 || pair->columns > 3) {
        return; // rigid bodies are added one by one
    }
    double B[9] = {0};
    for (int64_t i = pair->first; i < pair->first + pair->count; ++i) {
        const double *entry = s->tangent + (s->pair_code[i] >> 1);
        if (pair->pressure) {
            for (int k = 0; k < 3; ++k) {
                B[k] += entry[k * PL_LANES];
            }
        } else if (s->pair_code[i] & 1) {
            for (int k = 0; k < 9; ++k) {
                B[3 * (k % 3) + k / 3] += entry[k * PL_LANES];
            }
        } else {
            for (int k = 0; k < 9; ++k) {
                B[k] += entry[k * PL_LANES];
            }
        }
    }
    for (int j = 0; j < pair->columns && j < 3; ++j) {
        const int rows = pair->diagonal ? j + 1 : pair->rows;
        for (int r = 0; r < rows; ++r) {
            // a pressure couples to three axes; which of the two is the pressure, its part is 0
            const int at = pair->pressure ? pair->row_part[r] + pair->column_part[j]
                                          : 3 * pair->row_part[r] + pair->column_part[j];
            s->K.value[pair->base[j] + r] = B[at];
        }
    }
}

// The unknowns a vertex moves with, and dx/du (3 x count): its own axes, or its rigid body's six.
static int vertex_unknowns(const pl_statics *s, int32_t v, const double *x, int32_t unknown[6], double J[18])
{
    int count = 0;
    memset(J, 0, 18 * sizeof *J);
    if (s->rigid_of[v] < 0) {
        for (int i = 0; i < 3; ++i) {
            if (s->dof[3 * v + i] >= 0) {
                unknown[count] = s->dof[3 * v + i];
                J[6 * i + count++] = 1;
            }
        }
        return count;
    }
    const rigid_body *body = &s->rigid[s->rigid_of[v]];
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

// K += Ja^T B Jb for the block of vertices a and b, upper triangle only; called for (a, b) and (b, a).
static void assemble_block(pl_statics *s, int32_t va, int32_t vb, const double *B, int stride,
                           const double *x)
{
    int32_t ua[6], ub[6];
    double Ja[18], Jb[18];
    const int na = vertex_unknowns(s, va, x, ua, Ja), nb = vertex_unknowns(s, vb, x, ub, Jb);
    for (int p = 0; p < na; ++p) {
        for (int q = 0; q < nb; ++q) {
            if (ua[p] > ub[q]) {
                continue;
            }
            double sum = 0;
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    sum += Ja[6 * i + p] * B[i * stride + j] * Jb[6 * j + q];
                }
            }
            s->K.value[pl_sparse_slot(&s->K, ua[p], ub[q])] += sum;
        }
    }
}

static void assemble_rigid_element(pl_statics *s, const pl_block *block, int lane, const double *x)
{
    const int n = block->node_count;
    const double *pair = s->tangent + block->tangent_start + lane,
                 *coupling = pair + (int64_t)n * (n + 1) / 2 * 9 * PL_LANES;
    for (int a = 0; a < n; ++a) {
        const int32_t va = block->node[a][lane];
        for (int b = a; b < n; ++b) {
            const int32_t vb = block->node[b][lane];
            if (s->rigid_of[va] < 0 && s->rigid_of[vb] < 0) {
                continue;
            }
            double B[9], T[9];
            for (int k = 0; k < 9; ++k) {
                B[k] = pair[((int64_t)pl_pair_index(n, a, b) * 9 + k) * PL_LANES];
                T[3 * (k % 3) + k / 3] = B[k];
            }
            assemble_block(s, va, vb, B, 3, x);
            if (a != b) {
                assemble_block(s, vb, va, T, 3, x);
            }
        }
        for (int c = 0; s->rigid_of[va] >= 0 && s->elements->law[block->law].mixed && c < block->corner_count;
             ++c) {
            int32_t unknown[6], p = s->pressure_dof[block->pressure[c][lane]];
            double J[18];
            const int count = vertex_unknowns(s, va, x, unknown, J);
            for (int k = 0; k < count; ++k) {
                double sum = 0;
                for (int i = 0; i < 3; ++i) {
                    sum += J[6 * i + k] * coupling[((int64_t)(c * n + a) * 3 + i) * PL_LANES];
                }
                const bool upper = unknown[k] <= p;
                s->K.value[pl_sparse_slot(&s->K, upper ? unknown[k] : p, upper ? p : unknown[k])] += sum;
            }
        }
    }
}

// The rotation is curved: x(w) = c + exp(w) d gives f . d2x/dw2 = sym(f d^T) - (f . d) I with f the nodal
// gradient.
static void assemble_rigid_curvature(pl_statics *s, const double *x)
{
    const int64_t n = 3 * (int64_t)s->mesh.vertex_count;
    memcpy(s->g_trial, s->g_full, (size_t)n * sizeof *s->g_trial);
    for (int i = 0; i < s->drive_count; ++i) {
        const drive *d = &s->drive[i];
        if (d->mode == MODE_CONSTRAINT && d->active) {
            pl_functional_gradient(&d->h, x, d->sign * d->effort, s->g_trial);
        }
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        const rigid_body *body = &s->rigid[b];
        double H[9] = {0};
        for (int32_t k = 0; k < body->node_count; ++k) {
            const int64_t v = 3 * (int64_t)body->node[k];
            double d[3];
            pl_sub3(x + v, body->centre, d);
            const double *f = s->g_trial + v, fd = pl_dot3(f, d);
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    H[3 * i + j] += 0.5 * (f[i] * d[j] + f[j] * d[i]) - (i == j ? fd : 0);
                }
            }
        }
        for (int i = 0; i < 3; ++i) {
            for (int j = i; j < 3; ++j) {
                s->K.value[pl_sparse_slot(&s->K, body->unknown + 3 + i, body->unknown + 3 + j)] +=
                    H[3 * i + j];
            }
        }
    }
}

static void assemble_functional(pl_statics *s, const term_slots *slots, const double *x, double scale)
{
    const pl_functional *h = slots->h;
    for (int t = 0; t < h->term_count; ++t) {
        const int m = 3 * h->term[t].node_count;
        const int32_t *node = h->node + h->term[t].node_start;
        pl_functional_hessian(h, t, x, scale, s->term_matrix);
        if (slots->start[t] < 0) {
            for (int32_t j = 0; j < h->term[t].node_count; ++j) {
                for (int32_t k = 0; k < h->term[t].node_count; ++k) {
                    assemble_block(s, node[j], node[k], s->term_matrix + (int64_t)(3 * j) * m + 3 * k, m, x);
                }
            }
            continue;
        }
        // an entry on the diagonal of K may come from two different rows of the term (a vertex named twice)
        const int64_t *slot = slots->slot + slots->start[t];
        for (int r = 0; r < m; ++r) {
            for (int c = r; c < m; ++c, ++slot) {
                if (*slot >= 0) {
                    const bool twice =
                        r != c && s->dof[3 * node[r / 3] + r % 3] == s->dof[3 * node[c / 3] + c % 3];
                    s->K.value[*slot] += (twice ? 2 : 1) * s->term_matrix[(int64_t)r * m + c];
                }
            }
        }
    }
}

void statics_assemble(pl_statics *s, const double *x, double blend)
{
    pl_elements_tangent(s->elements, x, blend, s->tangent);
    if (s->rigid_count > 0) {
        memset(s->K.value, 0, (size_t)s->K.start[s->n] * sizeof *s->K.value);
    }
#pragma omp parallel for schedule(static) num_threads(pl_threads_get())
    for (int64_t k = 0; k < s->pair_count; ++k) {
        assemble_pair(s, &s->pair[k]);
    }
    const pl_sparse *M = &s->elements->mass;
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        for (int64_t i = M->start[p]; i < M->start[p + 1]; ++i) {
            s->K.value[s->mass_slot[i]] = -M->value[i] / s->elements->pressure_kappa[p];
        }
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        rigid_body *body = &s->rigid[b];
        memset(body->centre, 0, sizeof body->centre);
        for (int32_t j = 0; j < body->node_count; ++j) {
            for (int i = 0; i < 3; ++i) {
                body->centre[i] += x[3 * (int64_t)body->node[j] + i] / body->node_count;
            }
        }
    }
    for (int64_t k = 0; k < s->rigid_code_count; ++k) {
        assemble_rigid_element(s, &s->elements->block[s->rigid_code[k] / PL_LANES],
                               (int)(s->rigid_code[k] % PL_LANES), x);
    }
    for (int i = 0; i < s->drive_count; ++i) {
        s->drive[i].grown.positive = blend >= 1;
        assemble_functional(s, &s->slots[s->drive_count + s->load_term_count + i], x, 1);
    }
    if (blend >= 1) {
        return; // second derivatives of other functionals have no sign
    }
    for (int i = 0; i < s->drive_count; ++i) {
        const drive *d = &s->drive[i];
        if (d->effort != 0 && (d->mode != MODE_CONSTRAINT || d->active)) {
            assemble_functional(s, &s->slots[i], x, d->sign * d->effort);
        }
    }
    for (int i = 0; i < s->load_term_count; ++i) {
        assemble_functional(s, &s->slots[s->drive_count + i], x, -s->load * s->load_term[i].factor);
    }
    if (s->rigid_count > 0) {
        assemble_rigid_curvature(s, x);
    }
}
