// Hashed tuples of indices, and joining of points by a hash grid: the two searches a mesh needs, both linear.
#include "mesh/mesh_impl.h"

// Multiply and mix, index by index; the last shift brings the high bits down to the mask.
static uint32_t table_hash(const int32_t *key, int width)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < width; ++i) {
        h = (h ^ (uint32_t)key[i]) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }

    return (uint32_t)(h ^ (h >> 29));
}

bool pl_table_init(pl_table *table, int width, int64_t limit)
{
    *table = (pl_table){.width = width};
    if (limit < 0 || limit > INT32_MAX / 4) {
        return false;
    }

    // at least twice as many slots as keys keep the probe sequences short
    uint32_t slots = 16;
    while (slots < 2 * (uint64_t)limit) {
        slots *= 2;
    }
    table->limit = (int32_t)limit;
    table->mask = slots - 1;
    table->slot = PL_NEW_ARRAY(int32_t, slots);
    table->key = PL_NEW_ARRAY(int32_t, limit * width);
    if (!table->slot || !table->key) {
        pl_table_clear(table);
        return false;
    }

    memset(table->slot, -1, slots * sizeof *table->slot);

    return true;
}

void pl_table_clear(pl_table *table)
{
    pl_free(table->slot);
    pl_free(table->key);
    *table = (pl_table){0};
}

// The slot of the key, or the empty one where it would go.
static uint32_t table_slot(const pl_table *table, const int32_t *key)
{
    const size_t bytes = (size_t)table->width * sizeof *key;
    uint32_t at = table_hash(key, table->width) & table->mask;

    while (table->slot[at] >= 0 &&
           memcmp(table->key + (size_t)table->slot[at] * (size_t)table->width, key, bytes) != 0) {
        at = (at + 1) & table->mask;
    }

    return at;
}

// The caller has promised not to exceed `limit`, so the table never grows.
int32_t pl_table_add(pl_table *table, const int32_t *key)
{
    const uint32_t at = table_slot(table, key);
    if (table->slot[at] < 0) {
        PL_ASSERT(table->count < table->limit);
        memcpy(table->key + (size_t)table->count * (size_t)table->width, key,
               (size_t)table->width * sizeof *key);
        table->slot[at] = table->count++;
    }

    return table->slot[at];
}

// Index of a key, or -1.
int32_t pl_table_find(const pl_table *table, const int32_t *key)
{
    return table->slot[table_slot(table, key)];
}

// Insertion sort, for the few indices of a face or an element.
void pl_sort_small(int32_t *value, int count)
{
    for (int i = 1; i < count; ++i) {
        const int32_t v = value[i];
        int j = i;
        for (; j > 0 && value[j - 1] > v; --j) {
            value[j] = value[j - 1];
        }
        value[j] = v;
    }
}

void pl_face_key(int corner_count, const int32_t *corner, int32_t key[4])
{
    key[3] = -1;
    for (int i = 0; i < corner_count; ++i) {
        key[i] = corner[i];
    }
    pl_sort_small(key, 4);
}

// ---- joining points

// Cells are four tolerances wide, so a point's neighbourhood meets few of them; the cell of a point is hashed
// into a list of representatives.
typedef struct weld_grid {
    const double *x;
    double tolerance, inverse_cell; // mm; 1 / mm
    double origin[3];               // low corner of the bounding box, so that cell numbers stay small
    uint32_t mask;
    int32_t *head, *next; // head per list, next per point
} weld_grid;

// Different cells may share a list: distances decide, so this costs time only.
static uint32_t weld_hash(const weld_grid *grid, const int64_t cell[3])
{
    return (uint32_t)(pl_hash_bytes(PL_HASH_SEED, cell, 3 * sizeof *cell) >> 16) & grid->mask;
}

// The lowest representative within the tolerance of p in one list, or `best`.
static int32_t weld_search(const weld_grid *grid, uint32_t list, const double p[3], int32_t best)
{
    for (int32_t i = grid->head[list]; i >= 0; i = grid->next[i]) {
        if ((best < 0 || i < best) && pl_distance3(p, grid->x + 3 * (size_t)i) <= grid->tolerance) {
            best = i;
        }
    }

    return best;
}

// The representative of point v; v itself becomes one if there is none near.
static int32_t weld_representative(weld_grid *grid, int32_t v)
{
    const double *p = grid->x + 3 * (size_t)v;
    int64_t low[3], high[3], own[3], cell[3];

    // cells that the ball around the point meets: at most two per direction
    for (int i = 0; i < 3; ++i) {
        const double at = p[i] - grid->origin[i];
        low[i] = (int64_t)floor((at - grid->tolerance) * grid->inverse_cell);
        high[i] = (int64_t)floor((at + grid->tolerance) * grid->inverse_cell);
        own[i] = (int64_t)floor(at * grid->inverse_cell);
    }

    int32_t best = -1;
    for (cell[0] = low[0]; cell[0] <= high[0]; ++cell[0]) {
        for (cell[1] = low[1]; cell[1] <= high[1]; ++cell[1]) {
            for (cell[2] = low[2]; cell[2] <= high[2]; ++cell[2]) {
                best = weld_search(grid, weld_hash(grid, cell), p, best);
            }
        }
    }

    // only representatives are listed, so clusters do not grow into chains
    if (best < 0) {
        const uint32_t list = weld_hash(grid, own);
        grid->next[v] = grid->head[list];
        grid->head[list] = v;
        best = v;
    }

    return best;
}

int32_t pl_points_weld(int32_t n, const double *x, double tolerance, int32_t *representative)
{
    // bounding box
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * (int64_t)n; ++i) {
        low[i % 3] = fmin(low[i % 3], x[i]);
        high[i % 3] = fmax(high[i % 3], x[i]);
    }

    const double size = n > 0 ? pl_distance3(low, high) : 0;

    // below rounding two points cannot be distinguished from equal ones anyway
    tolerance = fmax(tolerance, 1e-14 * size);
    weld_grid grid = {.x = x, .tolerance = tolerance, .inverse_cell = tolerance > 0 ? 0.25 / tolerance : 0};
    memcpy(grid.origin, low, sizeof low);

    // about one list per point
    uint32_t lists = 16;
    while (lists < (uint32_t)n) {
        lists *= 2;
    }
    grid.mask = lists - 1;
    grid.head = PL_NEW_ARRAY(int32_t, lists);
    grid.next = PL_NEW_ARRAY(int32_t, n);
    int32_t joined = -1;

    // in rising order: the lowest-numbered point represents
    if (grid.head && grid.next) {
        memset(grid.head, -1, lists * sizeof *grid.head);
        joined = 0;
        for (int32_t v = 0; v < n; ++v) {
            representative[v] = weld_representative(&grid, v);
            joined += representative[v] != v;
        }
    }

    pl_free(grid.head);
    pl_free(grid.next);

    return joined;
}
