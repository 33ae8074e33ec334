// Meshes made here are kept beside the robot file, in `.pliant/<hash>.mesh`, under a hash of what they were
// made from: the source, the bytes of its files, the program's version. The file carries that hash and a
// checksum (see mesh_pack.c), so that a damaged file, or one of another mesh under this name, is not used
// but made again. A cache that cannot be read or written is no cache. Beside it, in `.pliant/<hash>.order`,
// the order in which the unknowns of such a mesh are eliminated, under a hash of their graph.
#include <stdio.h>
#include <sys/stat.h>
#include "base/base.h"
#include "text/text_file.h"
#include "document/document_reader.h"
#include "mesh/mesh.h"
#include "robot/robot.h"

#define CACHE_REVISION "/4" // raised when the mesher makes other meshes from the same source

// NULL and "" have the same hash.
static uint64_t cache_text(uint64_t h, const char *text)
{
    return text ? pl_hash_bytes(h, text, strlen(text) + 1) : pl_hash_bytes(h, "", 1);
}

// False when a file cannot be read: the mesher will say why.
static bool cache_file(uint64_t *h, const char *path)
{
    char *data = NULL;
    size_t bytes = 0;

    if (pl_file_read(path, &data, &bytes, NULL) != PL_OK) {
        return false;
    }
    *h = pl_hash_bytes(*h, &bytes, sizeof bytes);
    *h = pl_hash_bytes(*h, data, bytes);
    pl_file_free(data);

    return true;
}

// Everything that changes the mesh; positions in the file and `accept` do not.
static bool cache_hash(const pl_mesh_source *s, uint64_t *out)
{
    uint64_t h = cache_text(PL_HASH_SEED, PL_VERSION CACHE_REVISION);
    const int64_t whole[] = {s->kind, s->part_count, s->parameter_count, s->order + 16 * s->fill};
    const double real[] = {s->unit, s->size};

    h = pl_hash_bytes(h, whole, sizeof whole);
    h = pl_hash_bytes(h, real, sizeof real);
    h = cache_text(h, s->design);
    for (int i = 0; i < s->parameter_count; ++i) {
        h = cache_text(h, s->parameter[i].name);
        h = pl_hash_bytes(h, &s->parameter[i].value, sizeof s->parameter[i].value);
    }

    for (int i = 0; i < s->sheet_count; ++i) {
        const pl_source_sheet *sheet = &s->sheet[i];
        const double height[] = {sheet->from, sheet->to};
        h = cache_text(h, sheet->region);
        h = pl_hash_bytes(h, height, sizeof height);
        h = pl_hash_bytes(h, sheet->xy, 2 * (size_t)sheet->corner_count * sizeof *sheet->xy);
    }

    for (int i = 0; i < s->part_count; ++i) {
        h = cache_text(h, s->part[i].region);
        h = pl_hash_bytes(h, s->part[i].cavity ? "1" : "0", 1);
        if (!cache_file(&h, s->part[i].path)) {
            return false;
        }
    }

    *out = h;

    return s->kind != PL_SOURCE_STEP || cache_file(out, s->path);
}

// A damaged file is a warning, a missing one nothing.
static bool cache_read(doc_robot_file *f, int line, const char *path, uint64_t key, pl_mesh **out)
{
    char *data = NULL;
    size_t bytes = 0;

    if (pl_file_read(path, &data, &bytes, NULL) != PL_OK) {
        return false;
    }

    const bool good = pl_mesh_unpack(data, bytes, key, out, NULL) == PL_OK;
    if (!good) {
        doc_warning(f, line,
                    "mesh: the stored mesh %s is damaged or belongs to another part; it is made again", path);
    }

    pl_file_free(data);

    return good;
}

// Only files are replaced: what else has this name was not put there by us.
static void cache_put(const char *path, const pl_text *bytes)
{
    if (text_regular(path, NULL) == PL_OK) {
        pl_error lost; // a cache that cannot be written is slower, not wrong
        if (pl_file_write(path, bytes->data, bytes->length, &lost) != PL_OK) {
            pl_log(1, "cache: %s", lost.text);
        }
    }
}

// The folder is made when the first mesh is kept.
static void cache_write(const char *folder, const char *path, uint64_t key, const pl_mesh *mesh)
{
    pl_text bytes = {0};
    if (pl_mesh_pack(mesh, key, &bytes)) {
        mkdir(folder, 0777);
        cache_put(path, &bytes);
    }

    pl_text_clear(&bytes);
}

// From the cache, or made and kept. Robots from text without a path have no folder and no cache.
pl_status doc_cache_build(doc_robot_file *f, const pl_mesh_source *source, const pl_load_options *options,
                          pl_mesh **out, pl_findings *findings, pl_error *err)
{
    uint64_t hash = 0;
    const char *path = NULL, *folder = doc_arena_format(&f->arena, "%s.pliant", f->folder);

    if (!options->no_cache && f->has_path && folder && cache_hash(source, &hash)) {
        path = doc_arena_format(&f->arena, "%s/%016llx.mesh", folder, (unsigned long long)hash);
    }
    if (path && cache_read(f, source->line, path, hash, out)) {
        return PL_OK;
    }

    const pl_mesher *mesher = options->mesher;
    const pl_status status = mesher->build(mesher->user, source, options->progress, out, findings, err);
    if (status == PL_OK && path) {
        cache_write(folder, path, hash, *out);
    }

    return status;
}

// ---- orders of elimination: a word, the key, how many, the order, a checksum
// Precedes the order.
typedef struct order_head {
    char word[8];
    uint64_t key, count;
} order_head;

static const char order_word[8] = "PLORDER";

// Name of the file, in `text`; NULL without memory.
static char *order_path(const char *folder, uint64_t key, pl_text *text)
{
    pl_text_add(text, "%s/%016llx.order", folder, (unsigned long long)key);
    return text->failed ? NULL : text->data;
}

// True when the stored order is complete and belongs to this graph.
static bool order_find(const char *folder, uint64_t key, int32_t count, int32_t *order)
{
    pl_text path = {0};
    char *data = NULL;
    size_t bytes = 0;
    const size_t body = (size_t)count * sizeof *order;
    bool good = order_path(folder, key, &path) && pl_file_read(path.data, &data, &bytes, NULL) == PL_OK &&
                bytes == sizeof(order_head) + body + sizeof(uint64_t);

    if (good) {
        order_head head;
        uint64_t sum;
        memcpy(&head, data, sizeof head);
        memcpy(&sum, data + sizeof head + body, sizeof sum);
        good = memcmp(head.word, order_word, sizeof order_word) == 0 && head.key == key &&
               head.count == (uint64_t)count && sum == pl_hash_bytes(PL_HASH_SEED, data, sizeof head + body);
        if (good) {
            memcpy(order, data + sizeof head, body);
        }
    }

    if (data) {
        pl_file_free(data);
    }
    pl_text_clear(&path);

    return good;
}

// Written beside and renamed. The folder is there if a mesh was kept; it is not made for an order alone.
static void order_keep(const char *folder, uint64_t key, int32_t count, const int32_t *order)
{
    pl_text path = {0}, bytes = {0};
    order_head head = {.key = key, .count = (uint64_t)count};

    memcpy(head.word, order_word, sizeof head.word);
    pl_text_add_bytes(&bytes, &head, sizeof head);
    pl_text_add_bytes(&bytes, order, (size_t)count * sizeof *order);
    if (!bytes.failed) {
        const uint64_t sum = pl_hash_bytes(PL_HASH_SEED, bytes.data, bytes.length);
        pl_text_add_bytes(&bytes, &sum, sizeof sum);
    }

    if (order_path(folder, key, &path) && !bytes.failed) {
        cache_put(path.data, &bytes);
    }
    pl_text_clear(&path);
    pl_text_clear(&bytes);
}

// Gives the robot a store of orders, which owns the name of the folder.
void doc_cache_orders(const doc_robot_file *f, const pl_load_options *options, pl_robot *robot)
{
    pl_text folder = {0};
    if (options->no_cache || !f->has_path) {
        return;
    }
    pl_text_add(&folder, "%s.pliant", f->folder);
    if (folder.failed) {
        pl_text_clear(&folder);
        return;
    }

    pl_robot_set_orders(robot, (pl_order_store){folder.data, order_find, order_keep});
}
