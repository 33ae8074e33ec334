// HDF5 files, after "HDF5 File Format Specification, version 3.0". The oldest of its forms is enough here and
// is read by every version of the library: a superblock of version 0; a root group whose names lie in a local
// heap and whose entries lie in symbol nodes under one node of a version-1 B-tree; object headers of version
// 1. Addresses and lengths have 8 bytes. All numbers of the index are little-endian; the data has the byte
// order of the machine, which its type says.
#include "result/result_hdf5.h"
#include <stdio.h>
#include <stdlib.h>

#define HDF5_UNDEFINED UINT64_MAX
#define HDF5_HEAD 96 // bytes of the superblock
#define HDF5_LEAF 32 // half of the entries of a symbol node
#define HDF5_SETS 1000000

static void hdf5_add(pl_text *t, uint64_t value, int bytes)
{
    unsigned char out[8];
    for (int i = 0; i < bytes; ++i) {
        out[i] = (unsigned char)(value >> (8 * i));
    }
    pl_text_add_bytes(t, out, (size_t)bytes);
}

static void hdf5_pad(pl_text *t, size_t length)
{
    while (!t->failed && t->length < length) {
        hdf5_add(t, 0, length - t->length < 8 ? 1 : 8);
    }
}

pl_status result_hdf5_open(result_hdf5 *file, const char *path, pl_error *err)
{
    static const char head[HDF5_HEAD];
    *file = (result_hdf5){.stream = {.fd = -1}};
    const pl_status status = text_stream_open(&file->stream, path, err);
    return status == PL_OK ? text_stream_put(&file->stream, head, sizeof head, err) : status;
}

static pl_status hdf5_align(result_hdf5 *file, pl_error *err)
{
    static const char zero[8];
    const size_t over = file->stream.length % 8;
    return over ? text_stream_put(&file->stream, zero, 8 - over, err) : PL_OK;
}

static size_t hdf5_bytes(result_hdf5_type type)
{
    return type == RESULT_HDF5_FLOAT64 ? 8 : 4;
}

pl_status result_hdf5_put(result_hdf5 *file, const char *name, result_hdf5_type type, int64_t rows,
                          int64_t columns, const void *data, pl_error *err)
{
    PL_ASSERT(rows > 0 && columns >= 0 && strlen(name) < sizeof file->set->name);
    if (file->count == HDF5_SETS) {
        return pl_fail(err, PL_BAD_INPUT, "%s: more than %d arrays", file->stream.path, HDF5_SETS);
    }
    if (!pl_grow((void **)&file->set, &file->capacity, (int64_t)file->count + 1, sizeof *file->set)) {
        return pl_fail_memory(err, file->stream.path);
    }

    pl_status status = hdf5_align(file, err);
    result_hdf5_set *set = &file->set[file->count];
    *set = (result_hdf5_set){.type = type, .rows = rows, .columns = columns, .address = file->stream.length};
    snprintf(set->name, sizeof set->name, "%s", name);
    if (status == PL_OK) {
        const size_t count = (size_t)rows * (size_t)(columns ? columns : 1);
        status = text_stream_put(&file->stream, data, count * hdf5_bytes(type), err);
    }

    file->count += status == PL_OK;

    return status;
}

// ---- the index
// The head of a message in an object header of version 1; its data follows and is `bytes` long, of 8 each.
static void hdf5_message(pl_text *t, int type, int bytes)
{
    hdf5_add(t, (uint64_t)type, 2);
    hdf5_add(t, (uint64_t)bytes, 2);
    hdf5_add(t, 0, 4);
}

static void hdf5_type(pl_text *t, result_hdf5_type type)
{
    const uint16_t probe = 1;
    const unsigned big = *(const uint8_t *)&probe ? 0 : 1;
    const size_t end = t->length + 24;

    if (type == RESULT_HDF5_INT32) {
        hdf5_add(t, 0x10, 1);       // version 1, whole numbers
        hdf5_add(t, 0x08 | big, 3); // signed
        hdf5_add(t, 4, 4);          // bytes
        hdf5_add(t, 0, 2);          // first bit
        hdf5_add(t, 32, 2);         // bits
    } else {
        const bool full = type == RESULT_HDF5_FLOAT64;
        hdf5_add(t, 0x11, 1); // version 1, reals
        hdf5_add(t, 0x20 | big | (full ? UINT64_C(63) : 31) << 8,
                 3); // the leading 1 implied; place of the sign
        hdf5_add(t, full ? 8 : 4, 4);
        hdf5_add(t, 0, 2);
        hdf5_add(t, full ? 64 : 32, 2);
        hdf5_add(t, full ? 52 : 23, 1); // exponent: first bit, bits
        hdf5_add(t, full ? 11 : 8, 1);
        hdf5_add(t, 0, 1); // mantissa: first bit, bits
        hdf5_add(t, full ? 52 : 23, 1);
        hdf5_add(t, full ? 1023 : 127, 4);
    }

    hdf5_pad(t, end);
}

static void hdf5_set_header(pl_text *t, const result_hdf5_set *set)
{
    const int rank = set->columns ? 2 : 1, space = 8 + 8 * rank;
    hdf5_add(t, 1, 2); // version
    hdf5_add(t, 4, 2); // messages
    hdf5_add(t, 1, 4); // references
    hdf5_add(t, (uint64_t)(4 * 8 + space + 24 + 8 + 24), 4);
    hdf5_add(t, 0, 4);
    hdf5_message(t, 1, space); // dimensions
    hdf5_add(t, 1, 1);
    hdf5_add(t, (uint64_t)rank, 1);
    hdf5_add(t, 0, 6);
    hdf5_add(t, (uint64_t)set->rows, 8);
    if (rank == 2) {
        hdf5_add(t, (uint64_t)set->columns, 8);
    }
    hdf5_message(t, 3, 24);
    hdf5_type(t, set->type);
    hdf5_message(t, 5, 8); // fill value: version 2, allocated late, written if set, the default
    hdf5_add(t, 0x01020202, 8);
    hdf5_message(t, 8, 24); // layout: version 3, contiguous
    hdf5_add(t, 0x0103, 2);
    hdf5_add(t, set->address, 8);
    hdf5_add(t, (uint64_t)set->rows * (uint64_t)(set->columns ? set->columns : 1) * hdf5_bytes(set->type), 8);
    hdf5_add(t, 0, 6);
}

static int hdf5_compare(const void *a, const void *b)
{
    return strcmp(((const result_hdf5_set *)a)->name, ((const result_hdf5_set *)b)->name);
}

// Headers of the arrays, the heap of names, the symbol nodes, the tree, the header of the group. `from` is
// where the text begins in the file. Returns the address of the group's header.
static uint64_t hdf5_index(result_hdf5 *file, pl_text *t, uint64_t from, uint64_t *tree, uint64_t *heap,
                           int branch)
{
    const int per = 2 * HDF5_LEAF;
    for (int32_t i = 0; i < file->count; ++i) {
        file->set[i].header = from + t->length;
        hdf5_set_header(t, &file->set[i]);
    }

    // names: the empty one first
    pl_text names = {0};
    hdf5_add(&names, 0, 8);
    for (int32_t i = 0; i < file->count; ++i) {
        file->set[i].name_at = names.length;
        pl_text_add_bytes(&names, file->set[i].name, strlen(file->set[i].name) + 1);
        hdf5_pad(&names, (names.length + 7) / 8 * 8);
    }

    *heap = from + t->length;
    pl_text_add_bytes(t, "HEAP\0\0\0", 8);
    hdf5_add(t, names.length, 8);
    hdf5_add(t, 1, 8); // no free space
    hdf5_add(t, *heap + 32, 8);
    pl_text_add_bytes(t, names.data ? names.data : "", names.length);
    t->failed = t->failed || names.failed;
    pl_text_clear(&names);

    // symbol nodes, all of one size
    const uint64_t nodes = from + t->length, node_bytes = 8 + 40 * (uint64_t)per;
    const int32_t node_count = (file->count + per - 1) / per;
    for (int32_t n = 0; n < node_count; ++n) {
        const int32_t first = n * per, count = file->count - first < per ? file->count - first : per;
        const size_t end = t->length + node_bytes;
        pl_text_add_bytes(t, "SNOD\1", 6);
        hdf5_add(t, (uint64_t)count, 2);

        for (int32_t i = first; i < first + count; ++i) {
            hdf5_add(t, file->set[i].name_at, 8);
            hdf5_add(t, file->set[i].header, 8);
            for (int k = 0; k < 3; ++k) {
                hdf5_add(t, 0, 8);
            }
        }

        hdf5_pad(t, end);
    }

    // one node over them; a key is the last name of the node before it
    *tree = from + t->length;
    const size_t end = t->length + 24 + 8 * (4 * (size_t)branch + 1);
    pl_text_add_bytes(t, "TREE\0", 6);
    hdf5_add(t, (uint64_t)node_count, 2);
    hdf5_add(t, HDF5_UNDEFINED, 8);
    hdf5_add(t, HDF5_UNDEFINED, 8);
    hdf5_add(t, 0, 8);

    for (int32_t n = 0; n < node_count; ++n) {
        const int32_t last = (n + 1) * per < file->count ? (n + 1) * per : file->count;
        hdf5_add(t, nodes + (uint64_t)n * node_bytes, 8);
        hdf5_add(t, file->set[last - 1].name_at, 8);
    }

    hdf5_pad(t, end);
    const uint64_t group = from + t->length;
    hdf5_add(t, 1, 2);
    hdf5_add(t, 1, 2);
    hdf5_add(t, 1, 4);
    hdf5_add(t, 24, 8);
    hdf5_message(t, 0x11, 16); // symbol table
    hdf5_add(t, *tree, 8);
    hdf5_add(t, *heap, 8);

    return group;
}

pl_status result_hdf5_close(result_hdf5 *file, pl_error *err)
{
    pl_status status = hdf5_align(file, err);
    if (status != PL_OK) {
        return status;
    }

    pl_text index = {0}, head = {0};
    uint64_t tree, heap;
    const int nodes = (file->count + 2 * HDF5_LEAF - 1) / (2 * HDF5_LEAF);
    const int branch = nodes > 32 ? (nodes + 1) / 2 : 16;
    qsort(file->set, (size_t)file->count, sizeof *file->set, hdf5_compare);
    const uint64_t group = hdf5_index(file, &index, file->stream.length, &tree, &heap, branch);

    pl_text_add_bytes(&head, "\x89HDF\r\n\x1a\n", 8);
    hdf5_add(&head, 0, 5);      // versions
    hdf5_add(&head, 0x0808, 3); // bytes of addresses and lengths
    hdf5_add(&head, HDF5_LEAF, 2);
    hdf5_add(&head, (uint64_t)branch, 2);
    hdf5_add(&head, 0, 4);
    hdf5_add(&head, 0, 8); // base address
    hdf5_add(&head, HDF5_UNDEFINED, 8);
    hdf5_add(&head, file->stream.length + index.length, 8);
    hdf5_add(&head, HDF5_UNDEFINED, 8);
    hdf5_add(&head, 0, 8); // the root group: its name, its header, where its index is
    hdf5_add(&head, group, 8);
    hdf5_add(&head, 1, 8);
    hdf5_add(&head, tree, 8);
    hdf5_add(&head, heap, 8);
    if (index.failed || head.failed) {
        status = pl_fail_memory(err, file->stream.path);
    } else {
        status = text_stream_put(&file->stream, index.data, index.length, err);
    }

    if (status == PL_OK) {
        status = text_stream_close(&file->stream, head.data, head.length, err);
    }
    pl_text_clear(&index);
    pl_text_clear(&head);

    return status;
}

void result_hdf5_clear(result_hdf5 *file)
{
    text_stream_clear(&file->stream);
    pl_free(file->set);
    *file = (result_hdf5){.stream = {.fd = -1}};
}
