// Bounding-volume trees: built by halving at the median of the widest direction (n log n), queried by box,
// ray, nearest point and pairs.
#include "mesh/mesh_impl.h"

#define BVH_LEAF 4    // items: below this number testing the items is as fast as testing boxes
#define BVH_STACK 128 // halving keeps the depth below 32

// not fmin and fmax, which are calls
static inline double bvh_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double bvh_max(double a, double b)
{
    return a > b ? a : b;
}

void pl_bvh_clear(pl_bvh *bvh)
{
    pl_free(bvh->item);
    pl_free(bvh->box);
    pl_free(bvh->child);
    pl_free(bvh->first);
    pl_free(bvh->size);
    *bvh = (pl_bvh){0};
}

// Bounding box of the listed items: low[3], high[3].
static void bvh_bound(const double *box, const int32_t *item, int32_t count, double out[6])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = INFINITY;
        out[3 + i] = -INFINITY;
    }

    for (int32_t k = 0; k < count; ++k) {
        const double *b = box + 6 * (size_t)item[k];
        for (int i = 0; i < 3; ++i) {
            out[i] = bvh_min(out[i], b[i]);
            out[3 + i] = bvh_max(out[3 + i], b[3 + i]);
        }
    }
}

// Twice the centre of an item's box along an axis: only compared, so the factor does not matter.
static double bvh_centre(const double *box, int32_t item, int axis)
{
    return box[6 * (size_t)item + axis] + box[6 * (size_t)item + 3 + axis];
}

// Orders item[0..count) so that those before `middle` have smaller centres (ties by number, for one answer
// only).
static void bvh_select(const double *box, int32_t *item, int32_t count, int32_t middle, int axis)
{
    int32_t low = 0, high = count - 1;
    while (low < high) {
        // quickselect: partition around the middle item, then continue in the part that holds `middle`
        const int32_t pivot_item = item[low + (high - low) / 2];
        const double pivot = bvh_centre(box, pivot_item, axis);
        int32_t i = low, j = high;

        while (i <= j) {
            double c = bvh_centre(box, item[i], axis);
            while (c < pivot || (c == pivot && item[i] < pivot_item)) {
                c = bvh_centre(box, item[++i], axis);
            }
            c = bvh_centre(box, item[j], axis);
            while (c > pivot || (c == pivot && item[j] > pivot_item)) {
                c = bvh_centre(box, item[--j], axis);
            }
            if (i <= j) {
                const int32_t swap = item[i];
                item[i++] = item[j];
                item[j--] = swap;
            }
        }

        // narrow the range to the side of the boundary that is being looked for
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

// The axis along which the centres of the boxes spread most: splitting across it separates the items best.
static int bvh_widest(const double *box, const int32_t *item, int32_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i) {
            const double c = bvh_centre(box, item[k], i);
            low[i] = bvh_min(low[i], c);
            high[i] = bvh_max(high[i], c);
        }
    }

    int axis = 0;
    for (int i = 1; i < 3; ++i) {
        axis = high[i] - low[i] > high[axis] - low[axis] ? i : axis;
    }

    return axis;
}

// Splits nodes at the median until at most BVH_LEAF items are left in each; items are permuted so that every
// node owns a contiguous range.
static void bvh_build(pl_bvh *bvh, const double *box)
{
    // nodes are appended in pairs, so the list of nodes is its own queue
    bvh->node_count = 1;
    bvh->first[0] = 0;
    bvh->size[0] = bvh->item_count;

    for (int32_t n = 0; n < bvh->node_count; ++n) {
        int32_t *item = bvh->item + bvh->first[n];
        const int32_t count = bvh->size[n];
        bvh_bound(box, item, count, bvh->box + 6 * (size_t)n);
        bvh->child[n] = -1;

        // small nodes stay leaves
        if (count <= BVH_LEAF) {
            continue;
        }

        // the two halves become neighbouring nodes, so that one index stores both children
        const int32_t half = count / 2, left = bvh->node_count;
        bvh_select(box, item, count, half, bvh_widest(box, item, count));
        bvh->child[n] = left;
        bvh->first[left] = bvh->first[n];
        bvh->size[left] = half;
        bvh->first[left + 1] = bvh->first[n] + half;
        bvh->size[left + 1] = count - half;
        bvh->node_count += 2;
    }
}

// Children follow their parents, so the boxes are made from the last node to the first.
void pl_bvh_refit(pl_bvh *bvh, const double *box)
{
    for (int32_t n = bvh->node_count - 1; n >= 0; --n) {
        double *out = bvh->box + 6 * (size_t)n;
        if (bvh->child[n] < 0) {
            bvh_bound(box, bvh->item + bvh->first[n], bvh->size[n], out);
            continue;
        }

        // an inner node contains exactly its two children
        const double *a = bvh->box + 6 * (size_t)bvh->child[n], *b = a + 6;
        for (int i = 0; i < 3; ++i) {
            out[i] = bvh_min(a[i], b[i]);
            out[3 + i] = bvh_max(a[3 + i], b[3 + i]);
        }
    }
}

bool pl_bvh_init(pl_bvh *bvh, int32_t count, const double *box)
{
    *bvh = (pl_bvh){.item_count = count};

    // leaves hold at least (BVH_LEAF + 1) / 2 items, so there are at most count / 2 of them
    const size_t nodes = (size_t)count + 2;
    bvh->item = PL_NEW_ARRAY(int32_t, count);
    bvh->box = PL_NEW_ARRAY(double, 6 * nodes);
    bvh->child = PL_NEW_ARRAY(int32_t, nodes);
    bvh->first = PL_NEW_ARRAY(int32_t, nodes);
    bvh->size = PL_NEW_ARRAY(int32_t, nodes);
    if (!bvh->item || !bvh->box || !bvh->child || !bvh->first || !bvh->size) {
        pl_bvh_clear(bvh);
        return false;
    }

    // the tree permutes this list; the items themselves are not moved
    for (int32_t i = 0; i < count; ++i) {
        bvh->item[i] = i;
    }
    bvh_build(bvh, box);

    return true;
}

// ---- queries

// Closed boxes: touching counts as meeting.
static bool bvh_boxes_meet(const double *a, const double *b)
{
    return a[0] <= b[3] && b[0] <= a[3] && a[1] <= b[4] && b[1] <= a[4] && a[2] <= b[5] && b[2] <= a[5];
}

void pl_bvh_query(const pl_bvh *bvh, const double low[3], const double high[3], pl_bvh_visit visit,
                  void *user)
{
    const double box[6] = {low[0], low[1], low[2], high[0], high[1], high[2]};
    int32_t stack[BVH_STACK], depth = 0;

    stack[depth++] = 0;
    while (depth > 0) {
        const int32_t n = stack[--depth];
        if (!bvh_boxes_meet(box, bvh->box + 6 * (size_t)n)) {
            continue;
        }
        // the right child is pushed first, so that items are visited in leaf order
        if (bvh->child[n] >= 0) {
            stack[depth++] = bvh->child[n] + 1;
            stack[depth++] = bvh->child[n];
            continue;
        }

        for (int32_t i = 0; i < bvh->size[n]; ++i) {
            if (!visit(user, bvh->item[bvh->first[n] + i])) {
                return;
            }
        }
    }
}

// Where the ray enters the box, or infinity. Comparisons are written so that a not-a-number (0 * inf, a ray
// in the plane of a side) leaves the bounds as they are.
static double bvh_ray_enter(const double *box, const double o[3], const double inverse[3], double limit)
{
    double enter = 0, leave = limit;
    for (int i = 0; i < 3; ++i) {
        const double a = (box[i] - o[i]) * inverse[i], b = (box[3 + i] - o[i]) * inverse[i];
        const double low = b < a ? b : a, high = b < a ? a : b;
        enter = low > enter ? low : enter;
        leave = high < leave ? high : leave;
    }

    // a margin for the rounding of the slab distances
    return enter <= leave + 1e-12 * (leave + enter) ? enter : INFINITY;
}

void pl_bvh_ray(const pl_bvh *bvh, const double origin[3], const double direction[3], double limit,
                pl_bvh_ray_visit visit, void *user)
{
    double inverse[3];

    // a direction without a component along an axis never leaves the slab: 1/0 is meant
    for (int i = 0; i < 3; ++i) {
        inverse[i] = direction[i] == 0 ? INFINITY : 1 / direction[i];
    }

    int32_t stack[BVH_STACK], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const int32_t n = stack[--depth];
        if (isinf(bvh_ray_enter(bvh->box + 6 * (size_t)n, origin, inverse, limit))) {
            continue;
        }
        if (bvh->child[n] >= 0) {
            // the nearer child first
            const int32_t left = bvh->child[n];
            const double a = bvh_ray_enter(bvh->box + 6 * (size_t)left, origin, inverse, limit);
            const double b = bvh_ray_enter(bvh->box + 6 * ((size_t)left + 1), origin, inverse, limit);
            stack[depth++] = a <= b ? left + 1 : left;
            stack[depth++] = a <= b ? left : left + 1;
            continue;
        }

        for (int32_t i = 0; i < bvh->size[n]; ++i) {
            limit = visit(user, bvh->item[bvh->first[n] + i], limit);
            if (limit < 0) {
                return;
            }
        }
    }
}

// Squared distance of a point from a box, 0 inside: a lower bound of that to the items in it.
static double bvh_box_distance2(const double *box, const double p[3])
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        const double d = bvh_max(bvh_max(box[i] - p[i], p[i] - box[3 + i]), 0);
        sum += d * d;
    }

    return sum;
}

void pl_bvh_nearest(const pl_bvh *bvh, const double point[3], double best, pl_bvh_near_visit visit,
                    void *user)
{
    int32_t stack[BVH_STACK], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const int32_t n = stack[--depth];
        // nodes that are farther than the best item cannot improve it
        if (bvh->item_count == 0 || bvh_box_distance2(bvh->box + 6 * (size_t)n, point) > best) {
            continue;
        }
        if (bvh->child[n] >= 0) {
            // the nearer child first: it shortens `best` before the other one is tested
            const int32_t left = bvh->child[n];
            const double a = bvh_box_distance2(bvh->box + 6 * (size_t)left, point);
            const double b = bvh_box_distance2(bvh->box + 6 * ((size_t)left + 1), point);
            stack[depth++] = a <= b ? left + 1 : left;
            stack[depth++] = a <= b ? left : left + 1;
            continue;
        }

        for (int32_t i = 0; i < bvh->size[n]; ++i) {
            best = visit(user, bvh->item[bvh->first[n] + i], best);
        }
    }
}

// Pairs inside and between two leaves; false to stop.
static bool bvh_leaf_pairs(const pl_bvh *a, int32_t m, const pl_bvh *b, int32_t n, pl_bvh_pair_visit visit,
                           void *user)
{
    // within one leaf each pair once; between trees in the order (a, b), in one tree by rising number
    for (int32_t i = 0; i < a->size[m]; ++i) {
        for (int32_t j = a == b && m == n ? i + 1 : 0; j < b->size[n]; ++j) {
            int32_t p = a->item[a->first[m] + i], q = b->item[b->first[n] + j];

            if (a == b && p > q) {
                const int32_t swap = p;
                p = q;
                q = swap;
            }

            if (!visit(user, p, q)) {
                return false;
            }
        }
    }

    return true;
}

void pl_bvh_pairs(const pl_bvh *a, const pl_bvh *b, pl_bvh_pair_visit visit, void *user)
{
    // each step opens one node of the pair, so the stack holds at most three pairs per level of both trees
    int32_t stack[6 * BVH_STACK][2], depth = 0;
    if (a->item_count == 0 || b->item_count == 0) {
        return;
    }
    stack[depth][0] = 0;
    stack[depth++][1] = 0;

    while (depth > 0) {
        const int32_t m = stack[--depth][0], n = stack[depth][1];
        const int32_t cm = a->child[m], cn = b->child[n];
        if (!bvh_boxes_meet(a->box + 6 * (size_t)m, b->box + 6 * (size_t)n)) {
            continue;
        }
        // both are leaves: test their items
        if (cm < 0 && cn < 0) {
            if (!bvh_leaf_pairs(a, m, b, n, visit, user)) {
                return;
            }
        } else if (a == b && m == n) {
            // a node against itself: its children with themselves and with each other
            const int32_t pair[3][2] = {{cm, cm}, {cm + 1, cm + 1}, {cm, cm + 1}};
            memcpy(stack + depth, pair, sizeof pair);
            depth += 3;
        } else if (cn < 0 || (cm >= 0 && a->size[m] >= b->size[n])) {
            // otherwise open the larger node, so that both shrink together
            const int32_t pair[2][2] = {{cm, n}, {cm + 1, n}};
            memcpy(stack + depth, pair, sizeof pair);
            depth += 2;
        } else {
            const int32_t pair[2][2] = {{m, cn}, {m, cn + 1}};
            memcpy(stack + depth, pair, sizeof pair);
            depth += 2;
        }
    }
}
