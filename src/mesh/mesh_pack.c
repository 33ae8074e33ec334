// A mesh as a block of bytes, for a process of one's own machine: from the mesher's process to ours, and for
// the cache of meshes. The block starts with a word, a version and its length, and ends with a checksum, so
// that a cut or altered block is never taken for a mesh; what passes is checked again as any mesh is.
#include "mesh/mesh_impl.h"

#define PACK_WORD "PLMESH2" // changes with every change of the layout

typedef struct pack_head {
    char word[8];
    uint64_t key;   // what the mesh belongs to, as the writer says
    uint64_t bytes; // of the whole block
    int32_t vertex_count, element_count, region_count, surface_count; // of the mesh
    int64_t node_count, face_count, name_bytes;                       // lengths of the arrays that follow
    pl_mesh_fit fit;
} pack_head;

// Bytes of the names one after the other, each with its final zero.
static size_t pack_name_bytes(int32_t count, const char *const *name)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < count; ++i) {
        bytes += strlen(name[i]) + 1;
    }
    return bytes;
}

bool pl_mesh_pack(const pl_mesh *mesh, uint64_t key, pl_text *out)
{
    const pl_mesh_view *v = &mesh->view;

    // through memset, so that the padding is the same bytes every time
    pack_head head;

    memset(&head, 0, sizeof head);
    memcpy(head.word, PACK_WORD, sizeof head.word);
    head.key = key;
    head.vertex_count = v->vertex_count;
    head.element_count = v->element_count;
    head.region_count = v->region_count;
    head.surface_count = v->surface_count;
    head.node_count = v->node_start[v->element_count];
    head.face_count = v->surface_start[v->surface_count];
    head.name_bytes = (int64_t)(pack_name_bytes(v->region_count, v->region_name) +
                                pack_name_bytes(v->surface_count, v->surface_name));
    memcpy(&head.fit, &mesh->fit, sizeof head.fit);

    // the arrays in the order of their alignment: eight bytes, four, one
    const size_t elements = (size_t)v->element_count;
    const struct {
        const void *data;
        size_t bytes;
    } block[] = {
        {v->position, 3 * (size_t)v->vertex_count * sizeof *v->position},
        {v->node_start, (elements + 1) * sizeof *v->node_start},
        {v->surface_start, ((size_t)v->surface_count + 1) * sizeof *v->surface_start},
        {v->surface_face, (size_t)head.face_count * sizeof *v->surface_face},
        {v->node, (size_t)head.node_count * sizeof *v->node},
        {v->region, elements * sizeof *v->region},
        {v->kind, elements * sizeof *v->kind},
    };

    // the length stands in the head, so it is summed before anything is written
    head.bytes = sizeof head + (uint64_t)head.name_bytes + sizeof(uint64_t);
    for (int i = 0; i < PL_COUNT(block); ++i) {
        head.bytes += block[i].bytes;
    }

    const size_t start = out->length;
    pl_text_add_bytes(out, &head, sizeof head);
    for (int i = 0; i < PL_COUNT(block); ++i) {
        if (block[i].bytes > 0) {
            pl_text_add_bytes(out, block[i].data, block[i].bytes);
        }
    }

    for (int32_t r = 0; r < v->region_count; ++r) {
        pl_text_add_bytes(out, v->region_name[r], strlen(v->region_name[r]) + 1);
    }
    for (int32_t s = 0; s < v->surface_count; ++s) {
        pl_text_add_bytes(out, v->surface_name[s], strlen(v->surface_name[s]) + 1);
    }

    // the checksum covers everything from this block's start, not what `out` held already
    if (!out->failed) {
        const uint64_t sum = pl_hash_bytes(PL_HASH_SEED, out->data + start, out->length - start);
        pl_text_add_bytes(out, &sum, sizeof sum);
    }

    return !out->failed;
}

// ---- reading: the arrays are copied out, because the block need not be aligned
typedef struct unpack_work {
    const char *at, *end; // what has not been read yet
    void *block[10];      // arrays to free: 8 of numbers and text, 2 of names
    int block_count;
    bool failed; // too short, or no memory
} unpack_work;

// The next `count` entries, copied; NULL when the block is too short or memory is lacking.
static void *unpack_array(unpack_work *w, int64_t count, size_t size)
{
    const size_t left = (size_t)(w->end - w->at);
    if (w->failed || count < 0 || (uint64_t)count > left / size) {
        w->failed = true;
        return NULL;
    }

    void *array = pl_alloc_array((size_t)count, size);
    w->failed = !array;
    if (array) {
        memcpy(array, w->at, (size_t)count * size);
        w->at += (size_t)count * size;
        w->block[w->block_count++] = array;
    }

    return array;
}

// `count` names from *cursor on, which moves behind them.
static const char *const *unpack_names(unpack_work *w, const char **cursor, const char *end, int32_t count)
{
    const char **name = pl_alloc_array((size_t)count + 1, sizeof *name);
    w->failed = w->failed || !name;
    for (int32_t i = 0; !w->failed && i < count; ++i) {
        const char *stop = memchr(*cursor, 0, (size_t)(end - *cursor));
        w->failed = !stop;
        name[i] = *cursor;
        *cursor = stop ? stop + 1 : *cursor;
    }

    w->block[w->block_count++] = name;
    return name;
}

static pl_status unpack_build(unpack_work *w, const pack_head *head, pl_mesh **out, pl_error *err)
{
    pl_mesh_def def = {.vertex_count = head->vertex_count,
                       .element_count = head->element_count,
                       .region_count = head->region_count,
                       .surface_count = head->surface_count};

    // same order as in pl_mesh_pack
    const int64_t elements = head->element_count;

    def.position = unpack_array(w, 3 * (int64_t)head->vertex_count, sizeof(double));
    def.node_start = unpack_array(w, elements + 1, sizeof(int64_t));
    def.surface_start = unpack_array(w, (int64_t)head->surface_count + 1, sizeof(int64_t));
    const int64_t *face = unpack_array(w, head->face_count, sizeof(int64_t));
    def.node = unpack_array(w, head->node_count, sizeof(int32_t));
    def.region = unpack_array(w, elements, sizeof(int32_t));
    def.kind = unpack_array(w, elements, 1);
    const char *name = unpack_array(w, head->name_bytes, 1);

    // counts of the head against the arrays, before the arrays are used as indices
    if (w->failed || head->region_count < 0 || head->surface_count < 0 ||
        head->region_count + (int64_t)head->surface_count > head->name_bytes ||
        def.node_start[elements] != head->node_count ||
        def.surface_start[head->surface_count] != head->face_count) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: the packed arrays do not fit their counts");
    }

    // names point into the copied text; the mesh copies them
    const char *name_end = name + head->name_bytes;
    def.region_name = unpack_names(w, &name, name_end, head->region_count);
    def.surface_name = unpack_names(w, &name, name_end, head->surface_count);

    return w->failed ? pl_fail(err, PL_BAD_INPUT, "mesh: the packed names are cut off")
                     : pl_mesh_build(&def, face, out, NULL, err);
}

pl_status pl_mesh_unpack(const void *data, size_t bytes, uint64_t key, pl_mesh **out, pl_error *err)
{
    *out = NULL;

    // length, word, key and checksum first: nothing of a damaged block is interpreted
    pack_head head;
    uint64_t sum;
    if (bytes < sizeof head + sizeof sum) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: %zu packed bytes, expected more", bytes);
    }
    memcpy(&head, data, sizeof head);
    memcpy(&sum, (const char *)data + bytes - sizeof sum, sizeof sum);
    if (memcmp(head.word, PACK_WORD, sizeof head.word) != 0 || head.bytes != bytes || head.key != key ||
        sum != pl_hash_bytes(PL_HASH_SEED, data, bytes - sizeof sum)) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: the packed bytes are damaged or belong to another mesh");
    }

    // arrays are only needed until the mesh has its own
    unpack_work w = {.at = (const char *)data + sizeof head, .end = (const char *)data + bytes - sizeof sum};
    const pl_status status = unpack_build(&w, &head, out, err);
    for (int i = 0; i < w.block_count; ++i) {
        pl_free(w.block[i]);
    }
    if (status == PL_OK) {
        (*out)->fit = head.fit;
    }

    return status;
}
