// What the numeric factorisation needs to run without searching or asking for memory: rows of children in
// their parents, the place of every matrix entry, branches for the threads, and the place of every update
// matrix.
#include "solver/solver_front.h"

// A branch is a largest subtree with at most this share of the work; it must not depend on the number of
// threads.
#define BRANCH_SHARE (1.0 / 40)

static void plan_relative(front_tree *t)
{
    for (int32_t s = 0; s < t->count; ++s) {
        const int32_t p = t->parent[s];
        if (p < 0) {
            continue;
        }
        const int32_t first = t->first[p], end = t->first[p + 1], k = end - first;
        const int32_t *rows = t->row + t->row_start[p];
        int32_t place = 0;

        for (int64_t r = t->row_start[s]; r < t->row_start[s + 1]; ++r) {
            if (t->row[r] < end) {
                t->relative[r] = t->row[r] - first;
                continue;
            }
            while (rows[place] < t->row[r]) {
                ++place;
            }
            t->relative[r] = k + place;
        }

        for (int64_t r = t->row_start[s + 1] - 1; r >= t->row_start[s]; --r) {
            const bool joined = r + 1 < t->row_start[s + 1] && t->relative[r + 1] == t->relative[r] + 1;
            t->run[r] = joined ? t->run[r + 1] + 1 : 1;
        }
    }
}

// flops of one front: the pivot block k^3/3, the panel m k^2, the update m^2 k
static double plan_flops(const front_tree *t, int32_t s)
{
    const double k = front_pivots(t, s), m = front_rows_below(t, s);
    return k * k * k / 3 + m * k * k + m * m * k;
}

static pl_status plan_panels(front_tree *t, pl_error *err)
{
    for (int32_t s = 0; s < t->count; ++s) {
        const int64_t k = front_pivots(t, s), f = k + front_rows_below(t, s);
        if (f * k > UINT32_MAX) {
            return pl_fail(err, PL_BAD_INPUT, "solver: a front of %lld rows and %lld pivots is too large",
                           (long long)f, (long long)k);
        }

        t->panel[s + 1] = t->panel[s] + f * k;
        t->front_limit = f > t->front_limit ? (int32_t)f : t->front_limit;
        t->flops += plan_flops(t, s);
    }

    return PL_OK;
}

// Entry (i, j) lies in the panel of the front that eliminates the earlier of the two, in that one's column.
static void plan_entry_ends(const int32_t *rank, int32_t i, int32_t j, int32_t *column, int32_t *row)
{
    *column = rank[i] < rank[j] ? rank[i] : rank[j];
    *row = rank[i] < rank[j] ? rank[j] : rank[i];
}

static void plan_entries(const pl_sparse *matrix, front_tree *t, const int32_t *rank, const int32_t *front,
                         int32_t *place)
{
    // sort by front; entry_to holds the column of each entry until its front is reached
    for (int32_t j = 0; j < t->n; ++j) {
        for (int64_t p = matrix->start[j]; p < matrix->start[j + 1]; ++p) {
            int32_t column, row;
            plan_entry_ends(rank, matrix->row[p], j, &column, &row);
            const int64_t e = t->entry_start[front[column]]++;
            t->entry_from[e] = (int32_t)p;
            t->entry_to[e] = (uint32_t)j;
        }
    }

    for (int32_t s = t->count; s > 0; --s) {
        t->entry_start[s] = t->entry_start[s - 1];
    }
    t->entry_start[0] = 0;

    for (int32_t s = 0; s < t->count; ++s) {
        const int32_t k = front_pivots(t, s), m = front_rows_below(t, s);
        const int32_t *rows = t->row + t->row_start[s];
        for (int32_t i = 0; i < k; ++i) {
            place[t->first[s] + i] = i;
        }
        for (int32_t i = 0; i < m; ++i) {
            place[rows[i]] = k + i;
        }
        for (int64_t e = t->entry_start[s]; e < t->entry_start[s + 1]; ++e) {
            int32_t column, row;
            plan_entry_ends(rank, matrix->row[t->entry_from[e]], (int32_t)t->entry_to[e], &column, &row);
            t->entry_to[e] = (uint32_t)((int64_t)(column - t->first[s]) * (k + m) + place[row]);
        }
    }
}

static pl_status plan_scatter(const pl_sparse *matrix, front_tree *t, pl_error *err)
{
    const int64_t entries = matrix->start[matrix->n];
    if (entries > INT32_MAX) {
        return pl_fail(err, PL_BAD_INPUT, "solver: %lld entries, the limit is %d", (long long)entries,
                       INT32_MAX);
    }

    const size_t n = (size_t)t->n;
    int32_t *block = PL_NEW_ARRAY(int32_t, 3 * n);
    t->entry_from = PL_NEW_ARRAY(int32_t, entries);
    t->entry_to = PL_NEW_ARRAY(uint32_t, entries);
    const bool done = block && t->entry_from && t->entry_to;

    if (done) {
        int32_t *rank = block, *front = block + n, *place = block + 2 * n;
        for (int32_t p = 0; p < t->n; ++p) {
            rank[t->order[p]] = p;
        }
        for (int32_t s = 0; s < t->count; ++s) {
            for (int32_t p = t->first[s]; p < t->first[s + 1]; ++p) {
                front[p] = s;
            }
        }

        for (int32_t j = 0; j < t->n; ++j) {
            for (int64_t p = matrix->start[j]; p < matrix->start[j + 1]; ++p) {
                int32_t column, row;
                plan_entry_ends(rank, matrix->row[p], j, &column, &row);
                ++t->entry_start[front[column] + 1];
            }
        }

        for (int32_t s = 0; s < t->count; ++s) {
            t->entry_start[s + 1] += t->entry_start[s];
        }
        plan_entries(matrix, t, rank, front, place);
    }

    pl_free(block);

    return done ? PL_OK : pl_fail_memory(err, "solver: places of entries");
}

// Subtree work grows towards the roots, so the branch roots are the fronts at most at the limit whose parent
// is above.
static void plan_branches(front_tree *t, double *work)
{
    for (int32_t s = 0; s < t->count; ++s) {
        work[s] += plan_flops(t, s);
        t->low[s] = t->child_start[s] < t->child_start[s + 1] ? t->low[t->child[t->child_start[s]]] : s;
        if (t->parent[s] >= 0) {
            work[t->parent[s]] += work[s];
        }
    }

    const double limit = BRANCH_SHARE * t->flops;
    for (int32_t s = 0; s < t->count; ++s) {
        if (work[s] > limit && t->child_start[s] < t->child_start[s + 1]) {
            t->low[s] = s + 1;
        } else if (t->parent[s] >= 0 && work[t->parent[s]] <= limit) {
            t->low[s] = -1;
        }
    }
}

static int64_t plan_update_size(const front_tree *t, int32_t s)
{
    return front_update_size(front_rows_below(t, s));
}

// Inside a branch fronts of even and odd depth have a stack each: when a front is reached its children lie on
// top of the other stack, so its own matrix can be pushed and theirs popped without moving anything.
static void plan_stack(front_tree *t, int32_t *depth)
{
    for (int32_t s = t->count - 1; s >= 0; --s) {
        depth[s] = t->low[s] >= 0 ? 0 : depth[t->parent[s]] + 1;
    }

    int64_t peak[2] = {0, 0}, top[2] = {0, 0};
    for (int32_t s = 0; s < t->count; ++s) {
        const int side = depth[s] & 1;
        if (t->low[s] >= 0) {
            top[0] = top[1] = 0;
            continue;
        }

        for (int32_t c = t->child_start[s]; c < t->child_start[s + 1]; ++c) {
            top[!side] -= plan_update_size(t, t->child[c]);
        }
        t->update[s] = top[side];
        top[side] += plan_update_size(t, s);
        peak[side] = top[side] > peak[side] ? top[side] : peak[side];
    }

    for (int32_t s = 0; s < t->count; ++s) {
        if (t->low[s] < 0 && depth[s] % 2 == 1) {
            t->update[s] += peak[0];
        }
    }

    t->stack_size = peak[0] + peak[1];
}

// Above the branches any order of work is possible. A front's subtree needs two blocks: X, which holds its
// update matrix in the end, and Y. Its children's X lie in its Y; its children's Y, free once they are done,
// lie in its X:
//   x = max(size of U, sum of the children's y),   y = sum of the children's x.
static void plan_arena(front_tree *t, int64_t *x, int64_t *y)
{
    for (int32_t s = 0; s < t->count; ++s) {
        if (t->low[s] < 0) {
            continue;
        }
        int64_t below = 0;
        for (int32_t c = t->child_start[s]; t->low[s] > s && c < t->child_start[s + 1]; ++c) {
            below += y[t->child[c]];
            y[s] += x[t->child[c]];
        }

        x[s] = below > plan_update_size(t, s) ? below : plan_update_size(t, s);
    }

    // from sizes to places, parents first: y becomes the place of Y
    for (int32_t s = t->count - 1; s >= 0; --s) {
        if (t->low[s] < 0) {
            continue;
        }
        if (t->parent[s] < 0) {
            t->update[s] = t->arena_size;
            t->arena_size += x[s] + y[s];
            y[s] = t->update[s] + x[s];
        }

        int64_t in_y = y[s], in_x = t->update[s];
        for (int32_t c = t->child_start[s]; t->low[s] > s && c < t->child_start[s + 1]; ++c) {
            const int32_t child = t->child[c];
            const int64_t size = y[child];
            t->update[child] = in_y;
            in_y += x[child];
            y[child] = in_x;
            in_x += size;
        }
    }
}

pl_status front_tree_plan(const pl_sparse *matrix, front_tree *t, pl_error *err)
{
    plan_relative(t);
    pl_status status = plan_panels(t, err);
    if (status == PL_OK) {
        status = plan_scatter(matrix, t, err);
    }
    if (status != PL_OK) {
        return status;
    }

    const size_t count = (size_t)t->count;
    double *work = PL_NEW_ARRAY(double, count);
    int32_t *depth = PL_NEW_ARRAY(int32_t, count);
    int64_t *sizes = PL_NEW_ARRAY(int64_t, 2 * count);
    const bool done = work && depth && sizes;

    if (done) {
        plan_branches(t, work);
        plan_stack(t, depth);
        plan_arena(t, sizes, sizes + count);
    }

    pl_free(work);
    pl_free(depth);
    pl_free(sizes);

    return done ? PL_OK : pl_fail_memory(err, "solver: plan of the factorisation");
}
