// Symbolic analysis on the graph of groups: elimination tree, column counts, supernodes, their structure.
// Groups are a third or less of the unknowns and their edges a ninth, so this is far cheaper than on
// unknowns.
#include <stdlib.h>
#include "solver/solver_front.h"

// Merging rule, tuned on bench_factor: a child joins its parent when the share of explicit zeros in the
// merged panel stays below what its width allows.
#define MERGE_ALWAYS 12 // columns up to which any merge pays
#define MERGE_SMALL 36  // ... up to which a share of 0.5 pays
#define MERGE_MEDIUM 96 // ... 0.12; beyond, 0.03

// Groups that have unknowns, numbered in eliminated order.
typedef struct symbolic {
    const solver_groups *groups;
    int32_t count;
    int32_t *group;   // group[q]: the group eliminated q-th
    int32_t *rank;    // inverse; -1 for an empty group
    int32_t *parent;  // elimination tree
    int32_t *into;    // the column this one was merged into; itself when it heads a supernode
    int64_t *columns; // unknowns of the supernode, held by its head
    int64_t *rows;    // front size of the supernode
    int64_t *zeros;   // explicit zeros in its panel
    int32_t *mark;
    int32_t *scratch;
} symbolic;

static void symbolic_clear(symbolic *y)
{
    pl_free(y->group);
    pl_free(y->rank);
    pl_free(y->parent);
    pl_free(y->into);
    pl_free(y->columns);
    pl_free(y->rows);
    pl_free(y->zeros);
    pl_free(y->mark);
    pl_free(y->scratch);
}

static bool symbolic_init(symbolic *y, const solver_groups *groups, const int32_t *group_order)
{
    const int32_t count = groups->count;
    *y = (symbolic){.groups = groups};
    y->group = PL_NEW_ARRAY(int32_t, count);
    y->rank = PL_NEW_ARRAY(int32_t, count);
    y->parent = PL_NEW_ARRAY(int32_t, count);
    y->into = PL_NEW_ARRAY(int32_t, count);
    y->columns = PL_NEW_ARRAY(int64_t, count);
    y->rows = PL_NEW_ARRAY(int64_t, count);
    y->zeros = PL_NEW_ARRAY(int64_t, count);
    y->mark = PL_NEW_ARRAY(int32_t, count);
    y->scratch = PL_NEW_ARRAY(int32_t, count);
    if (!y->group || !y->rank || !y->parent || !y->into || !y->columns || !y->rows || !y->zeros || !y->mark ||
        !y->scratch) {
        return false;
    }

    for (int32_t q = 0; q < count; ++q) {
        const int32_t g = group_order[q];
        y->rank[g] = groups->size[g] > 0 ? y->count : -1;
        if (groups->size[g] > 0) {
            y->group[y->count++] = g;
        }
    }

    return true;
}

// Liu's algorithm: column i < j with an entry in row j gets j as the parent of its topmost ancestor so far.
// `mark` is the compressed path to that ancestor.
static void symbolic_elimination_tree(symbolic *y)
{
    const solver_groups *g = y->groups;
    for (int32_t j = 0; j < y->count; ++j) {
        y->parent[j] = y->mark[j] = -1;

        for (int64_t p = g->start[y->group[j]]; p < g->start[y->group[j] + 1]; ++p) {
            int32_t i = y->rank[g->neighbour[p]];
            while (i >= 0 && i < j) {
                const int32_t next = y->mark[i];
                y->mark[i] = j;
                if (next < 0) {
                    y->parent[i] = j;
                }
                i = next;
            }
        }
    }
}

// Row j of L is the part of the tree between j and its neighbours: each column met there has one more block
// of rows.
static void symbolic_counts(symbolic *y)
{
    const solver_groups *g = y->groups;
    for (int32_t j = 0; j < y->count; ++j) {
        const int32_t size = g->size[y->group[j]];
        y->columns[j] = y->rows[j] = size;
        y->into[j] = j;
        y->mark[j] = j;

        for (int64_t p = g->start[y->group[j]]; p < g->start[y->group[j] + 1]; ++p) {
            int32_t i = y->rank[g->neighbour[p]];
            while (i >= 0 && i < j && y->mark[i] != j) {
                y->rows[i] += size;
                y->mark[i] = j;
                i = y->parent[i];
            }
        }
    }
}

// entries of a trapezoid of `columns` columns, the first with `rows` entries
static int64_t symbolic_entries(int64_t columns, int64_t rows)
{
    return columns * rows - columns * (columns - 1) / 2;
}

static bool symbolic_merge_pays(int64_t columns, int64_t zeros, int64_t entries)
{
    const double share = (double)zeros / (double)entries;
    if (columns <= MERGE_ALWAYS) {
        return true;
    }
    if (columns <= MERGE_SMALL) {
        return share < 0.5;
    }

    return share < (columns <= MERGE_MEDIUM ? 0.12 : 0.03);
}

static int32_t symbolic_head(symbolic *y, int32_t j)
{
    int32_t head = j;
    while (y->into[head] != head) {
        head = y->into[head];
    }

    while (y->into[j] != head) {
        const int32_t next = y->into[j];
        y->into[j] = head;
        j = next;
    }

    return head;
}

// Children come before parents, so one sweep lets a supernode grow from the leaves up. The first sweep merges
// where no zero appears, the second where they pay.
static void symbolic_merge(symbolic *y, bool relaxed)
{
    for (int32_t j = 0; j < y->count; ++j) {
        if (y->into[j] != j || y->parent[j] < 0) {
            continue;
        }
        const int32_t p = symbolic_head(y, y->parent[j]);
        const int64_t columns = y->columns[j] + y->columns[p], rows = y->columns[j] + y->rows[p];
        const int64_t entries = symbolic_entries(columns, rows);
        const int64_t added = entries - symbolic_entries(y->columns[j], y->rows[j]) -
                              symbolic_entries(y->columns[p], y->rows[p]);
        const int64_t zeros = added + y->zeros[j] + y->zeros[p];

        if (relaxed ? symbolic_merge_pays(columns, zeros, entries) : added == 0) {
            y->into[j] = p;
            y->columns[p] = columns;
            y->rows[p] = rows;
            y->zeros[p] = zeros;
        }
    }
}

// Tree and supernodes as they were kept. Each supernode must be a chain that ends in its head; whether the
// tree belongs to the graph is seen where structures are built.
static bool symbolic_recall(symbolic *y)
{
    const int32_t *parent = y->groups->fronts, *head = parent + y->groups->count;
    for (int32_t j = 0; j < y->count; ++j) {
        const bool grows = parent[j] == -1 || (parent[j] > j && parent[j] < y->count);
        if (!grows || head[j] < j || head[j] >= y->count || head[head[j]] != head[j] ||
            (head[j] != j && (parent[j] < 0 || head[parent[j]] != head[j]))) {
            return false;
        }

        y->parent[j] = parent[j];
        y->into[j] = head[j];
    }

    return true;
}

static void symbolic_keep(symbolic *y)
{
    int32_t *parent = y->groups->fronts, *head = parent + y->groups->count;
    for (int32_t j = 0; j < y->groups->count; ++j) {
        parent[j] = j < y->count ? y->parent[j] : -1;
        head[j] = j < y->count ? symbolic_head(y, j) : -1;
    }
}

void front_tree_clear(front_tree *t)
{
    pl_free(t->order);
    pl_free(t->first);
    pl_free(t->parent);
    pl_free(t->child_start);
    pl_free(t->child);
    pl_free(t->row_start);
    pl_free(t->row);
    pl_free(t->relative);
    pl_free(t->run);
    pl_free(t->panel);
    pl_free(t->entry_start);
    pl_free(t->entry_from);
    pl_free(t->entry_to);
    pl_free(t->low);
    pl_free(t->update);
    *t = (front_tree){0};
}

static bool tree_allocate(front_tree *t)
{
    const size_t count = (size_t)t->count;
    t->order = PL_NEW_ARRAY(int32_t, t->n);
    t->first = PL_NEW_ARRAY(int32_t, count + 1);
    t->parent = PL_NEW_ARRAY(int32_t, count);
    t->child_start = PL_NEW_ARRAY(int32_t, count + 1);
    t->child = PL_NEW_ARRAY(int32_t, count);
    t->row_start = PL_NEW_ARRAY(int64_t, count + 1);
    t->panel = PL_NEW_ARRAY(int64_t, count + 1);
    t->entry_start = PL_NEW_ARRAY(int64_t, count + 1);
    t->low = PL_NEW_ARRAY(int32_t, count);
    t->update = PL_NEW_ARRAY(int64_t, count);

    return t->order && t->first && t->parent && t->child_start && t->child && t->row_start && t->panel &&
           t->entry_start && t->low && t->update;
}

// Postorder of the supernodes. A stack without recursion: `sibling` and `eldest` thread the children; a node
// is numbered when its last child is done. On return mark[head] is the number of its front, and t->parent is
// set.
static bool tree_postorder(symbolic *y, front_tree *t)
{
    int32_t *eldest = PL_NEW_ARRAY(int32_t, y->count), *sibling = PL_NEW_ARRAY(int32_t, y->count);
    if (!eldest || !sibling) {
        pl_free(eldest);
        pl_free(sibling);
        return false;
    }

    memset(eldest, 0xff, (size_t)y->count * sizeof *eldest);
    int32_t roots = -1;
    for (int32_t j = y->count - 1; j >= 0; --j) {
        if (y->into[j] != j) {
            continue;
        }
        int32_t *list = y->parent[j] < 0 ? &roots : &eldest[symbolic_head(y, y->parent[j])];
        sibling[j] = *list;
        *list = j;
    }

    int32_t next = 0, depth = 0, *stack = y->scratch;
    for (int32_t root = roots; root >= 0; root = sibling[root]) {
        stack[depth++] = root;

        while (depth > 0) {
            const int32_t j = stack[depth - 1], child = eldest[j];
            if (child >= 0) {
                eldest[j] = sibling[child];
                stack[depth++] = child;
            } else {
                --depth;
                y->mark[j] = next++;
            }
        }
    }

    for (int32_t j = 0; j < y->count; ++j) {
        if (y->into[j] == j) {
            t->parent[y->mark[j]] = y->parent[j] < 0 ? -1 : y->mark[symbolic_head(y, y->parent[j])];
        }
    }

    pl_free(eldest);
    pl_free(sibling);

    return true;
}

// Children by parent, and columns by front: new_rank[q] becomes the place of group q in the final order of
// groups.
static void tree_number(symbolic *y, front_tree *t, int32_t *group_first, int32_t *new_rank)
{
    for (int32_t s = 0; s < t->count; ++s) {
        if (t->parent[s] >= 0) {
            ++t->child_start[t->parent[s] + 1];
        }
    }

    for (int32_t s = 0; s < t->count; ++s) {
        t->child_start[s + 1] += t->child_start[s];
    }

    int32_t *fill = y->scratch;
    memcpy(fill, t->child_start, (size_t)t->count * sizeof *fill);
    for (int32_t s = 0; s < t->count; ++s) {
        if (t->parent[s] >= 0) {
            t->child[fill[t->parent[s]]++] = s;
        }
    }

    for (int32_t q = 0; q < y->count; ++q) {
        const int32_t s = y->mark[symbolic_head(y, q)];
        ++group_first[s + 1];
        t->first[s + 1] += y->groups->size[y->group[q]];
    }

    for (int32_t s = 0; s < t->count; ++s) {
        group_first[s + 1] += group_first[s];
        t->first[s + 1] += t->first[s];
    }

    memcpy(fill, group_first, (size_t)t->count * sizeof *fill);
    for (int32_t q = 0; q < y->count; ++q) {
        new_rank[q] = fill[y->mark[symbolic_head(y, q)]]++;
    }
}

// The structure of each front in groups: own edges and the children's structures, own columns taken away.
typedef struct structure {
    int64_t *start;
    int32_t *list;
    int64_t capacity;
} structure;

static int structure_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool structure_reserve(structure *u, int64_t need)
{
    if (need <= u->capacity) {
        return true;
    }

    const int64_t wanted = need + need / 2 + 1024;
    int32_t *larger = pl_resize_array(u->list, (size_t)wanted, sizeof *larger);
    if (larger) {
        u->list = larger;
        u->capacity = wanted;
    }

    return larger != NULL;
}

static void structure_add(structure *u, int64_t *end, int32_t q, int32_t last, int32_t *mark, int32_t stamp)
{
    if (q >= last && mark[q] != stamp) {
        mark[q] = stamp;
        u->list[(*end)++] = q;
    }
}

static bool structure_build(const symbolic *y, const front_tree *t, const int32_t *group_first,
                            const int32_t *new_rank, const int32_t *new_group, structure *u, int32_t *mark)
{
    const solver_groups *g = y->groups;
    memset(mark, 0xff, (size_t)y->count * sizeof *mark);
    for (int32_t s = 0; s < t->count; ++s) {
        int64_t end = u->start[s];
        const int32_t last = group_first[s + 1];
        if (!structure_reserve(u, end + y->count - last + 1)) {
            return false;
        }
        for (int32_t q = group_first[s]; q < last; ++q) {
            for (int64_t p = g->start[new_group[q]]; p < g->start[new_group[q] + 1]; ++p) {
                const int32_t other = y->rank[g->neighbour[p]];
                if (other >= 0) {
                    structure_add(u, &end, new_rank[other], last, mark, s);
                }
            }
        }

        for (int32_t c = t->child_start[s]; c < t->child_start[s + 1]; ++c) {
            const int64_t from = u->start[t->child[c]], to = u->start[t->child[c] + 1];
            if (from < to && u->list[from] < group_first[s]) {
                return false; // a tree of another graph
            }
            for (int64_t p = from; p < to; ++p) {
                structure_add(u, &end, u->list[p], last, mark, s);
            }
        }

        if (t->parent[s] < 0 && end > u->start[s]) {
            return false; // likewise: a root has no rows below
        }
        qsort(u->list + u->start[s], (size_t)(end - u->start[s]), sizeof *u->list, structure_compare);
        u->start[s + 1] = end;
    }

    return true;
}

// From groups to unknowns: the order, and the rows of every front.
static bool structure_expand(const symbolic *y, front_tree *t, const int32_t *new_group, const structure *u,
                             int32_t *group_place)
{
    const solver_groups *g = y->groups;
    int32_t place = 0;

    for (int32_t q = 0; q < y->count; ++q) {
        group_place[q] = place;
        for (int32_t m = g->member_start[new_group[q]]; m < g->member_start[new_group[q] + 1]; ++m) {
            t->order[place++] = g->member[m];
        }
    }

    for (int32_t s = 0; s < t->count; ++s) {
        int64_t rows = 0;
        for (int64_t p = u->start[s]; p < u->start[s + 1]; ++p) {
            rows += g->size[new_group[u->list[p]]];
        }
        t->row_start[s + 1] = t->row_start[s] + rows;
    }

    t->row = PL_NEW_ARRAY(int32_t, t->row_start[t->count]);
    t->relative = PL_NEW_ARRAY(int32_t, t->row_start[t->count]);
    t->run = PL_NEW_ARRAY(int32_t, t->row_start[t->count]);
    if (!t->row || !t->relative || !t->run) {
        return false;
    }

    int64_t r = 0;
    for (int64_t p = 0; p < u->start[t->count]; ++p) {
        const int32_t q = u->list[p];
        for (int32_t i = 0; i < g->size[new_group[q]]; ++i) {
            t->row[r++] = group_place[q] + i;
        }
    }

    return true;
}

static bool tree_structure(symbolic *y, front_tree *t)
{
    const size_t groups = (size_t)y->count;
    int32_t *block = PL_NEW_ARRAY(int32_t, 4 * groups + (size_t)t->count + 1);
    structure u = {.start = PL_NEW_ARRAY(int64_t, (size_t)t->count + 1)};
    bool done = block && u.start;

    if (done) {
        int32_t *new_rank = block, *new_group = block + groups, *mark = block + 2 * groups,
                *place = block + 3 * groups, *group_first = block + 4 * groups;
        tree_number(y, t, group_first, new_rank);
        for (int32_t q = 0; q < y->count; ++q) {
            new_group[new_rank[q]] = y->group[q];
        }
        done = structure_build(y, t, group_first, new_rank, new_group, &u, mark) &&
               structure_expand(y, t, new_group, &u, place);
    }

    pl_free(block);
    pl_free(u.start);
    pl_free(u.list);

    return done;
}

// False: out of memory, or what was kept does not fit.
static bool tree_analyse(const pl_sparse *matrix, const solver_groups *groups, const int32_t *group_order,
                         bool recall, front_tree *out)
{
    *out = (front_tree){.n = matrix->n};
    symbolic y;
    bool done = symbolic_init(&y, groups, group_order);
    if (done && recall) {
        done = symbolic_recall(&y);
    } else if (done) {
        symbolic_elimination_tree(&y);
        symbolic_counts(&y);
        symbolic_merge(&y, false);
        symbolic_merge(&y, true);
        if (groups->fronts) {
            symbolic_keep(&y);
        }
    }

    if (done) {
        for (int32_t j = 0; j < y.count; ++j) {
            out->count += y.into[j] == j;
        }
        done = tree_allocate(out) && tree_postorder(&y, out) && tree_structure(&y, out);
    }

    symbolic_clear(&y);

    return done;
}

pl_status front_tree_create(const pl_sparse *matrix, const solver_groups *groups, const int32_t *group_order,
                            front_tree *out, pl_error *err)
{
    const bool recall = groups->fronts && groups->fronts_known;
    bool done = tree_analyse(matrix, groups, group_order, recall, out);

    if (!done && recall) {
        front_tree_clear(out);
        done = tree_analyse(matrix, groups, group_order, false, out);
    }

    return done ? front_tree_plan(matrix, out, err) : pl_fail_memory(err, "solver: symbolic analysis");
}
