// The sparsity pattern of the tangent: every pair of groups of unknowns (a vertex's displacements, a
// pressure, a rigid body) that share an element or a term of a functional, and the list of element results
// that add up in each.
#include "statics/statics_impl.h"

typedef struct pattern_entry {
    int32_t row, column; // first unknowns of the groups, row <= column
    int64_t code;        // contribution, or -1 for pattern only
} pattern_entry;

typedef struct pattern {
    pattern_entry *entry;
    int64_t count, capacity;
    bool failed;
} pattern;

static void pattern_add(pattern *p, int32_t a, int32_t b, int64_t code)
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

// First unknown of a vertex's displacements, of its rigid body, or -1.
static int32_t group_of_vertex(const pl_statics *s, int32_t v)
{
    if (s->rigid_of[v] >= 0) {
        return s->rigid[s->rigid_of[v]].unknown;
    }
    for (int i = 0; i < 3; ++i) {
        if (s->dof[3 * v + i] >= 0) {
            return s->dof[3 * v + i];
        }
    }
    return -1;
}

static void pattern_element(pl_statics *s, pattern *p, const pl_block *block, int lane)
{
    const int n = block->node_count;
    const int64_t base = block->tangent_start + lane,
                  coupling = base + (int64_t)n * (n + 1) / 2 * 9 * PL_LANES;
    for (int a = 0; a < n; ++a) {
        const int32_t va = block->node[a][lane], ga = group_of_vertex(s, va);
        for (int b = a; b < n; ++b) {
            const int32_t vb = block->node[b][lane];
            const bool rigid = s->rigid_of[va] >= 0 || s->rigid_of[vb] >= 0;
            pattern_add(p, ga, group_of_vertex(s, vb),
                        rigid ? -1 : base + (int64_t)pl_pair_index(n, a, b) * 9 * PL_LANES);
        }
        for (int c = 0; s->elements->law[block->law].mixed && c < block->corner_count; ++c) {
            pattern_add(p, ga, s->pressure_dof[block->pressure[c][lane]],
                        s->rigid_of[va] >= 0 ? -1 : coupling + (int64_t)(c * n + a) * 3 * PL_LANES);
        }
    }
}

static void pattern_functional(pl_statics *s, pattern *p, const pl_functional *h)
{
    for (int t = 0; t < h->term_count; ++t) {
        const int32_t *node = h->node + h->term[t].node_start;
        for (int32_t j = 0; j < h->term[t].node_count; ++j) {
            for (int32_t k = j; k < h->term[t].node_count; ++k) {
                pattern_add(p, group_of_vertex(s, node[j]), group_of_vertex(s, node[k]), -1);
            }
        }
    }
}

// Stable counting sort by one of the two keys.
static pl_status pattern_sort(pattern *p, int32_t n, bool by_column, pl_error *err)
{
    int64_t *start = PL_NEW_ARRAY(int64_t, (int64_t)n + 1);
    pattern_entry *sorted = PL_NEW_ARRAY(pattern_entry, p->count);
    if (!start || !sorted) {
        pl_free(start);
        pl_free(sorted);
        return pl_fail_memory(err, "statics: pattern");
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

// Axes of the unknowns in the group that starts at each unknown; pressures have one part, rigid bodies six.
typedef struct group_info {
    uint8_t count, part[3];
    bool pressure;
} group_info;

static group_info *pattern_groups(const pl_statics *s)
{
    group_info *info = PL_NEW_ARRAY(group_info, s->n);
    if (!info) {
        return NULL;
    }
    for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
        const int32_t first = s->rigid_of[v] >= 0 ? -1 : group_of_vertex(s, v);
        for (int i = 0; first >= 0 && i < 3; ++i) {
            if (s->dof[3 * v + i] >= 0) {
                info[first].part[info[first].count++] = (uint8_t)i;
            }
        }
    }
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        info[s->pressure_dof[p]] = (group_info){.count = 1, .pressure = true};
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        info[s->rigid[b].unknown].count = 6;
    }
    return info;
}

// Writes the columns of K from the sorted pairs and records where each pair's blocks start.
static pl_status pattern_columns(pl_statics *s, const pattern *p, const group_info *info, pl_error *err)
{
    int64_t entries = 0, pairs = 0;
    for (int64_t i = 0; i < p->count; ++i) {
        const pattern_entry *e = &p->entry[i];
        if (i > 0 && e->row == e[-1].row && e->column == e[-1].column) {
            continue;
        }
        const int r = info[e->row].count, c = info[e->column].count;
        entries += e->row == e->column ? c * (c + 1) / 2 : r * c;
        pairs++;
    }
    pl_status status = pl_sparse_create(s->n, entries, &s->K, err);
    if (status != PL_OK) {
        return status;
    }
    s->pair = PL_NEW_ARRAY(node_pair, pairs);
    s->pair_code = PL_NEW_ARRAY(int64_t, p->count);
    if (!s->pair || !s->pair_code) {
        return pl_fail_memory(err, "statics: pattern");
    }
    int64_t slot = 0, codes = 0;
    for (int64_t i = 0; i < p->count;) {
        // all pairs of one column group; every unknown of the group is a column of its own
        const int32_t column = p->entry[i].column;
        int64_t end = i;
        while (end < p->count && p->entry[end].column == column) {
            ++end;
        }
        const int64_t first_pair = s->pair_count;
        for (int j = 0; j < info[column].count; ++j) {
            int64_t k = first_pair;
            s->K.start[column + j] = slot;
            for (int64_t e = i; e < end; ++e) {
                const int32_t row = p->entry[e].row;
                if (e > i && row == p->entry[e - 1].row) {
                    continue;
                }
                if (j < 3) {
                    s->pair[k].base[j] = slot;
                }
                ++k;
                const int rows = row == column ? j + 1 : info[row].count;
                for (int r = 0; r < rows; ++r) {
                    s->K.row[slot++] = row + r;
                }
            }
        }
        for (int64_t e = i; e < end; ++e) {
            const int32_t row = p->entry[e].row;
            if (e == i || row != p->entry[e - 1].row) {
                node_pair *pair = &s->pair[s->pair_count++];
                pair->first = codes;
                pair->rows = info[row].count;
                pair->columns = info[column].count;
                memcpy(pair->row_part, info[row].part, 3);
                memcpy(pair->column_part, info[column].part, 3);
                pair->diagonal = row == column;
                pair->pressure = info[row].pressure || info[column].pressure;
            }
            if (p->entry[e].code >= 0) {
                s->pair_code[codes++] = p->entry[e].code;
                s->pair[s->pair_count - 1].count++;
            }
        }
        i = end;
    }
    s->K.start[s->n] = slot;
    return PL_OK;
}

// Slots of the upper triangle of every term's dense matrix; terms that touch rigid bodies are searched for
// instead.
static pl_status pattern_slots(pl_statics *s, const pl_functional *h, term_slots *out, pl_error *err)
{
    int64_t total = 0;
    for (int t = 0; t < h->term_count; ++t) {
        const int64_t m = 3 * (int64_t)h->term[t].node_count;
        total += m * (m + 1) / 2;
    }
    out->h = h;
    out->start = PL_NEW_ARRAY(int64_t, h->term_count + 1);
    out->slot = PL_NEW_ARRAY(int64_t, total);
    if (!out->start || !out->slot) {
        return pl_fail_memory(err, "statics: slots");
    }
    int64_t next = 0;
    for (int t = 0; t < h->term_count; ++t) {
        const pl_term *term = &h->term[t];
        const int32_t *node = h->node + term->node_start;
        bool rigid = false;
        for (int32_t j = 0; j < term->node_count; ++j) {
            rigid = rigid || s->rigid_of[node[j]] >= 0;
        }
        out->start[t] = rigid ? -1 : next;
        for (int32_t r = 0; !rigid && r < 3 * term->node_count; ++r) {
            for (int32_t c = r; c < 3 * term->node_count; ++c) {
                const int32_t a = s->dof[3 * node[r / 3] + r % 3], b = s->dof[3 * node[c / 3] + c % 3];
                out->slot[next++] = a < 0 || b < 0 ? -1 : pl_sparse_slot(&s->K, a < b ? a : b, a < b ? b : a);
            }
        }
    }
    return PL_OK;
}

static pl_status pattern_terms(pl_statics *s, pl_error *err)
{
    const int loads = s->drive_count + s->load_term_count, count = loads + s->drive_count;
    int32_t largest = 1;
    s->slots = PL_NEW_ARRAY(term_slots, count);
    pl_status status = s->slots ? PL_OK : pl_fail_memory(err, "statics: slots");
    for (int i = 0; status == PL_OK && i < count; ++i) {
        const pl_functional *h = i < s->drive_count ? &s->drive[i].h
                                 : i < loads        ? &s->load_term[i - s->drive_count].h
                                                    : &s->drive[i - loads].grown;
        status = pattern_slots(s, h, &s->slots[i], err);
        for (int t = 0; t < h->term_count; ++t) {
            largest = h->term[t].node_count > largest ? h->term[t].node_count : largest;
        }
    }
    s->term_matrix = PL_NEW_ARRAY(double, 9 * (int64_t)largest * largest);
    return status == PL_OK && !s->term_matrix ? pl_fail_memory(err, "statics: terms") : status;
}

static pl_status pattern_rigid(pl_statics *s, pl_error *err)
{
    for (int pass = 0; pass < 2; ++pass) {
        s->rigid_code_count = 0;
        for (int b = 0; s->rigid_count > 0 && b < s->elements->block_count; ++b) {
            const pl_block *block = &s->elements->block[b];
            for (int l = 0; l < block->lane_count; ++l) {
                bool touches = false;
                for (int a = 0; a < block->node_count; ++a) {
                    touches = touches || s->rigid_of[block->node[a][l]] >= 0;
                }
                if (touches && pass == 1) {
                    s->rigid_code[s->rigid_code_count] = (int64_t)b * PL_LANES + l;
                }
                s->rigid_code_count += touches;
            }
        }
        if (pass == 0) {
            s->rigid_code = PL_NEW_ARRAY(int64_t, s->rigid_code_count);
            if (!s->rigid_code) {
                return pl_fail_memory(err, "statics: rigid bodies");
            }
        }
    }
    return PL_OK;
}

// Where the entries of the pressure mass stand in K.
static pl_status pattern_mass(pl_statics *s, pl_error *err)
{
    const pl_sparse *M = &s->elements->mass;
    const int64_t count = s->elements->pressure_count > 0 ? M->start[M->n] : 0;
    s->mass_slot = PL_NEW_ARRAY(int64_t, count);
    if (!s->mass_slot) {
        return pl_fail_memory(err, "statics: pressures");
    }
    for (int32_t k = 0; k < s->elements->pressure_count; ++k) {
        for (int64_t i = M->start[k]; i < M->start[k + 1]; ++i) {
            const int32_t a = s->pressure_dof[M->row[i]], b = s->pressure_dof[k];
            s->mass_slot[i] = pl_sparse_slot(&s->K, a < b ? a : b, a < b ? b : a);
        }
    }
    return PL_OK;
}

pl_status statics_pattern(pl_statics *s, pl_error *err)
{
    pattern p = {0};
    for (int b = 0; b < s->elements->block_count; ++b) {
        for (int l = 0; l < s->elements->block[b].lane_count; ++l) {
            pattern_element(s, &p, &s->elements->block[b], l);
        }
    }
    for (int i = 0; i < s->drive_count; ++i) {
        pattern_functional(s, &p, &s->drive[i].h);
        pattern_functional(s, &p, &s->drive[i].grown);
    }
    for (int i = 0; i < s->load_term_count; ++i) {
        pattern_functional(s, &p, &s->load_term[i].h);
    }
    const pl_sparse *M = &s->elements->mass;
    for (int32_t k = 0; k < s->elements->pressure_count; ++k) {
        for (int64_t i = M->start[k]; i < M->start[k + 1]; ++i) {
            pattern_add(&p, s->pressure_dof[M->row[i]], s->pressure_dof[k], -1);
        }
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        pattern_add(&p, s->rigid[b].unknown, s->rigid[b].unknown, -1);
    }
    pl_status status = p.failed ? pl_fail_memory(err, "statics: pattern") : PL_OK;
    if (status == PL_OK) {
        status = pattern_sort(&p, s->n, false, err);
    }
    if (status == PL_OK) {
        status = pattern_sort(&p, s->n, true, err);
    }
    group_info *info = status == PL_OK ? pattern_groups(s) : NULL;
    if (status == PL_OK) {
        status = info ? pattern_columns(s, &p, info, err) : pl_fail_memory(err, "statics: pattern");
    }
    pl_free(info);
    pl_free(p.entry);
    if (status == PL_OK) {
        status = pattern_mass(s, err);
    }
    if (status == PL_OK) {
        status = pattern_terms(s, err);
    }
    if (status == PL_OK) {
        status = pattern_rigid(s, err);
    }
    s->tangent = status == PL_OK ? PL_NEW_ARRAY(double, s->elements->tangent_size) : NULL;
    return status == PL_OK && !s->tangent ? pl_fail_memory(err, "statics: tangents") : status;
}

void statics_pattern_destroy(pl_statics *s)
{
    pl_sparse_clear(&s->K);
    for (int i = 0; s->slots && i < 2 * s->drive_count + s->load_term_count; ++i) {
        pl_free(s->slots[i].start);
        pl_free(s->slots[i].slot);
    }
    pl_free(s->slots);
    pl_free(s->pair);
    pl_free(s->pair_code);
    pl_free(s->rigid_code);
    pl_free(s->mass_slot);
    pl_free(s->tangent);
    pl_free(s->term_matrix);
}
