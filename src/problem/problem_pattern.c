// The sparsity pattern of the tangent: every pair of groups of unknowns (a vertex's displacements, a
// pressure, a rigid body) that some term couples.
#include "problem/problem_impl.h"

void pattern_add(pl_pattern *p, int32_t a, int32_t b, int64_t code)
{
    if (p->failed || a < 0 || b < 0) {
        return;
    }

    if (p->count == p->capacity) {
        const int64_t wanted = p->capacity + p->capacity / 2 + 1024;
        pattern_entry *larger = pl_resize_array(p->entry, (size_t)wanted, sizeof *larger);
        if (!larger) {
            p->failed = true;
            return;
        }
        p->entry = larger;
        p->capacity = wanted;
    }

    const bool swap = a > b;
    p->entry[p->count++] = (pattern_entry){swap ? b : a, swap ? a : b, code < 0 ? -1 : 2 * code + swap};
}

void pattern_reserve(pl_pattern *pattern, int64_t count)
{
    pattern_entry *entry = pl_resize_array(pattern->entry, (size_t)count, sizeof *entry);
    pattern->failed = pattern->failed || !entry;
    if (entry) {
        pattern->entry = entry;
        pattern->capacity = count;
    }
}

void pattern_clear(pl_pattern *pattern)
{
    pl_free(pattern->entry);
    *pattern = (pl_pattern){0};
}

void pl_pattern_couple(pl_pattern *pattern, int32_t a, int32_t b)
{
    pattern_add(pattern, a, b, -1);
}

void pl_pattern_functional(pl_pattern *pattern, const pl_problem *p, const pl_functional *h)
{
    for (int t = 0; t < h->piece_count; ++t) {
        const int32_t *node = h->node + h->piece[t].node_start;
        for (int32_t j = 0; j < h->piece[t].node_count; ++j) {
            for (int32_t k = j; k < h->piece[t].node_count; ++k) {
                pl_pattern_couple(pattern, pl_problem_group(p, node[j]), pl_problem_group(p, node[k]));
            }
        }
    }
}

int32_t pl_problem_group(const pl_problem *p, int32_t v)
{
    const pl_unknowns *u = &p->unknowns;
    if (u->rigid_of[v] >= 0) {
        return u->rigid[u->rigid_of[v]].unknown;
    }

    for (int i = 0; i < 3; ++i) {
        if (u->dof[3 * v + i] >= 0) {
            return u->dof[3 * v + i];
        }
    }

    return -1;
}

// Stable counting sort by one of the two keys.
static pl_status sort_by(pl_pattern *p, int32_t n, bool by_column, pl_error *err)
{
    int64_t *start = PL_NEW_ARRAY(int64_t, (int64_t)n + 1);
    pattern_entry *sorted = pl_resize_array(NULL, (size_t)p->count, sizeof *sorted);

    if (!start || !sorted) {
        pl_free(start);
        pl_free(sorted);
        return pl_fail_memory(err, "problem: pattern");
    }

    for (int64_t i = 0; i < p->count; ++i) {
        start[(by_column ? p->entry[i].column : p->entry[i].row) + 1]++;
    }
    for (int32_t i = 0; i < n; ++i) {
        start[i + 1] += start[i];
    }
    for (int64_t i = 0; i < p->count; ++i) {
        sorted[start[by_column ? p->entry[i].column : p->entry[i].row]++] = p->entry[i];
    }
    pl_free(start);
    pl_free(p->entry);
    p->entry = sorted;
    p->capacity = p->count;

    return PL_OK;
}

pl_status pattern_sort(pl_pattern *pattern, int32_t n, pl_error *err)
{
    if (pattern->failed) {
        return pl_fail_memory(err, "problem: pattern");
    }
    const pl_status status = sort_by(pattern, n, false, err);
    return status == PL_OK ? sort_by(pattern, n, true, err) : status;
}

// Keeps each pair once.
static void pattern_unique(pl_pattern *p)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < p->count; ++i) {
        const pattern_entry e = p->entry[i];
        if (kept == 0 || e.row != p->entry[kept - 1].row || e.column != p->entry[kept - 1].column) {
            p->entry[kept++] = e;
        }
    }

    p->count = kept;
}

pattern_group *pattern_groups(const pl_problem *p)
{
    const pl_unknowns *u = &p->unknowns;
    pattern_group *info = PL_NEW_ARRAY(pattern_group, u->n);

    if (!info) {
        return NULL;
    }

    for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
        const int32_t first = u->rigid_of[v] >= 0 ? -1 : pl_problem_group(p, v);
        for (int i = 0; first >= 0 && i < 3; ++i) {
            if (u->dof[3 * v + i] >= 0) {
                info[first].part[info[first].count++] = (uint8_t)i;
            }
        }
    }

    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        info[u->pressure_dof[k]] = (pattern_group){.count = 1, .pressure = true, .number = k};
    }
    for (int b = 0; b < u->rigid_count; ++b) {
        info[u->rigid[b].unknown].count = 6;
    }

    return info;
}

// Writes the columns of K from the sorted pairs: every unknown of a column's group is a column of its own.
static pl_status pattern_columns(const pl_pattern *p, const pattern_group *info, int32_t n, pl_sparse *K,
                                 pl_error *err)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < p->count; ++i) {
        const pattern_entry *e = &p->entry[i];
        const int r = info[e->row].count, c = info[e->column].count;
        entries += e->row == e->column ? c * (c + 1) / 2 : r * c;
    }

    const pl_status status = pl_sparse_create(n, entries, K, err);
    if (status != PL_OK) {
        return status;
    }

    int64_t slot = 0;
    for (int64_t i = 0; i < p->count;) {
        const int32_t column = p->entry[i].column;
        int64_t end = i;
        while (end < p->count && p->entry[end].column == column) {
            ++end;
        }
        for (int j = 0; j < info[column].count; ++j) {
            K->start[column + j] = slot;
            for (int64_t e = i; e < end; ++e) {
                const int32_t row = p->entry[e].row;
                const int rows = row == column ? j + 1 : info[row].count;
                for (int r = 0; r < rows; ++r) {
                    K->row[slot++] = row + r;
                }
            }
        }
        i = end;
    }

    K->start[n] = slot;

    return PL_OK;
}

// All pairs of all terms; every group couples with itself.
static pl_status pattern_collect(const pl_problem *p, pl_pattern *pattern, pl_error *err)
{
    PROBLEM_EACH (p, t, pattern) {
        t->kind->pattern(t->self, p, pattern);
    }
    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        pl_pattern_couple(pattern, p->unknowns.rigid[b].unknown, p->unknowns.rigid[b].unknown);
    }

    const pl_status status = pattern_sort(pattern, p->unknowns.n, err);
    if (status == PL_OK) {
        pattern_unique(pattern);
    }

    return status;
}

pl_status pl_problem_layout(pl_problem *p, pl_error *err)
{
    pl_pattern pattern = {0};
    pl_sparse K = {0};
    pl_status status = pattern_collect(p, &pattern, err);
    pattern_group *info = status == PL_OK ? pattern_groups(p) : NULL;

    if (status == PL_OK) {
        status = info ? pattern_columns(&pattern, info, p->unknowns.n, &K, err)
                      : pl_fail_memory(err, "problem: pattern");
    }

    pl_free(info);
    pattern_clear(&pattern);
    if (status != PL_OK) {
        pl_sparse_clear(&K);
        return status;
    }

    pl_sparse_clear(&p->tangent.K);
    p->tangent.K = K;
    PROBLEM_EACH (p, t, bind) {
        status = status == PL_OK ? t->kind->bind(t->self, p, err) : status;
    }

    return status;
}

// ---- second derivatives of functionals
void pl_slots_clear(pl_slots *slots)
{
    pl_free(slots->start);
    pl_free(slots->slot);
    *slots = (pl_slots){0};
}

// Room for the dense matrix of the largest piece.
static bool slots_room(pl_tangent *tangent, const pl_functional *h)
{
    int32_t largest = 1;
    for (int t = 0; t < h->piece_count; ++t) {
        largest = h->piece[t].node_count > largest ? h->piece[t].node_count : largest;
    }
    if (largest <= tangent->largest) {
        return true;
    }
    pl_free(tangent->dense);
    tangent->dense = PL_NEW_ARRAY(double, 9 * (int64_t)largest * largest);
    tangent->largest = tangent->dense ? largest : 0;

    return tangent->dense != NULL;
}

pl_status pl_slots_bind(pl_problem *p, const pl_functional *h, pl_slots *out, pl_error *err)
{
    const pl_unknowns *u = &p->unknowns;
    int64_t total = 0;

    for (int t = 0; t < h->piece_count; ++t) {
        const int64_t m = 3 * (int64_t)h->piece[t].node_count;
        total += m * (m + 1) / 2;
    }

    pl_slots_clear(out);
    out->start = PL_NEW_ARRAY(int64_t, h->piece_count + 1);
    out->slot = PL_NEW_ARRAY(int64_t, total);
    if (!out->start || !out->slot || !slots_room(&p->tangent, h)) {
        return pl_fail_memory(err, "problem: slots");
    }

    int64_t next = 0;
    for (int t = 0; t < h->piece_count; ++t) {
        const pl_piece *piece = &h->piece[t];
        const int32_t *node = h->node + piece->node_start;
        bool rigid = false;
        for (int32_t j = 0; j < piece->node_count; ++j) {
            rigid = rigid || u->rigid_of[node[j]] >= 0;
        }
        out->start[t] = rigid ? -1 : next;
        for (int32_t r = 0; !rigid && r < 3 * piece->node_count; ++r) {
            for (int32_t c = r; c < 3 * piece->node_count; ++c) {
                const int32_t a = u->dof[3 * node[r / 3] + r % 3], b = u->dof[3 * node[c / 3] + c % 3];
                out->slot[next++] =
                    a < 0 || b < 0 ? -1 : pl_sparse_slot(&p->tangent.K, a < b ? a : b, a < b ? b : a);
            }
        }
    }

    return PL_OK;
}
