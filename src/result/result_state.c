// State files: magic, version, byte order, the robot's hash, a count, that many doubles, and a hash of all
// before it. States of a robot and of a model are the same file: the methods of one robot can exchange them.
#include "base/base.h"
#include "pliant/result.h"

typedef struct state_head {
    char magic[8];
    uint32_t version, order;
    uint64_t robot, count;
} state_head;

#define STATE_MAGIC "PLSTATE\n"
#define STATE_FILE_VERSION 1u
#define STATE_ORDER 0x01020304u

static pl_status state_write(uint64_t robot, const double *block, size_t count, const char *path,
                             pl_error *err)
{
    const size_t bytes = sizeof(state_head) + count * sizeof(double) + sizeof(uint64_t);
    char *data = pl_alloc(bytes);

    if (!data) {
        return pl_fail_memory(err, path);
    }

    state_head head = {.version = STATE_FILE_VERSION, .order = STATE_ORDER, .robot = robot, .count = count};
    memcpy(head.magic, STATE_MAGIC, sizeof head.magic);
    memcpy(data, &head, sizeof head);
    memcpy(data + sizeof head, block, count * sizeof(double));
    const uint64_t hash = pl_hash_bytes(PL_HASH_SEED, data, bytes - sizeof hash);
    memcpy(data + bytes - sizeof hash, &hash, sizeof hash);
    const pl_status status = pl_file_write(path, data, bytes, err);
    pl_free(data);

    return status;
}

static pl_status state_check(const char *data, size_t bytes, uint64_t robot, size_t *count, const char *path,
                             pl_error *err)
{
    state_head head;
    if (bytes < sizeof head || memcmp(data, STATE_MAGIC, sizeof head.magic) != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: not a state file of Pliant", path);
    }
    memcpy(&head, data, sizeof head);
    if (head.order != STATE_ORDER) {
        return pl_fail(err, PL_BAD_INPUT, "%s: was written on a machine with a different byte order", path);
    }
    if (head.version != STATE_FILE_VERSION) {
        return pl_fail(err, PL_BAD_INPUT, "%s: has version %u, this program reads version %u", path,
                       head.version, STATE_FILE_VERSION);
    }

    if (head.robot != robot) {
        return pl_fail(err, PL_BAD_INPUT, "%s: belongs to another robot (or the robot has changed)", path);
    }

    uint64_t hash;
    const size_t room = bytes < sizeof head + sizeof hash ? 0 : bytes - sizeof head - sizeof hash;
    if (room % sizeof(double) != 0 || head.count != room / sizeof(double)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is truncated or too long: %zu bytes for %llu numbers", path,
                       bytes, (unsigned long long)head.count);
    }

    memcpy(&hash, data + bytes - sizeof hash, sizeof hash);
    if (hash != pl_hash_bytes(PL_HASH_SEED, data, bytes - sizeof hash)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is damaged: its checksum is wrong", path);
    }
    *count = head.count;

    return PL_OK;
}

// The numbers of a state file, freed with pl_free.
static pl_status state_read(uint64_t robot, const char *path, double **block, size_t *count, pl_error *err)
{
    char *data = NULL;
    size_t bytes = 0;

    *block = NULL;
    pl_status status = pl_file_read(path, &data, &bytes, err);
    if (status == PL_OK) {
        status = state_check(data, bytes, robot, count, path, err);
    }
    if (status == PL_OK && !(*block = PL_NEW_ARRAY(double, *count))) {
        status = pl_fail_memory(err, path);
    }
    if (status == PL_OK) {
        memcpy(*block, data + sizeof(state_head), *count * sizeof(double));
    }
    pl_file_free(data);

    return status;
}

// ---- states of a robot
pl_status pl_state_save(const pl_state *state, const pl_robot *robot, const char *path, pl_error *err)
{
    const size_t count = pl_state_pack(state, NULL, 0);
    double *block = PL_NEW_ARRAY(double, count);

    if (!block) {
        return pl_fail_memory(err, path);
    }
    pl_state_pack(state, block, count);
    const pl_status status = state_write(pl_robot_hash(robot), block, count, path, err);
    pl_free(block);

    return status;
}

pl_status pl_state_load(pl_state *state, const pl_robot *robot, const char *path, pl_error *err)
{
    double *block = NULL;
    size_t count = 0;
    pl_status status = state_read(pl_robot_hash(robot), path, &block, &count, err);

    if (status == PL_OK) {
        status = pl_state_unpack(state, block, count, err);
    }
    pl_free(block);

    return status;
}

// ---- states of a model
pl_status pl_model_state_save(const pl_model *model, const char *path, pl_error *err)
{
    const size_t count = pl_model_state_size(model);
    double *block = PL_NEW_ARRAY(double, count);

    if (!block) {
        return pl_fail_memory(err, path);
    }
    pl_model_pack(model, block);
    const pl_status status = state_write(pl_model_get_info(model).robot_hash, block, count, path, err);
    pl_free(block);

    return status;
}

pl_status pl_model_state_load(pl_model *model, const char *path, pl_error *err)
{
    double *block = NULL;
    size_t count = 0;
    pl_status status = state_read(pl_model_get_info(model).robot_hash, path, &block, &count, err);

    if (status == PL_OK) {
        status = pl_model_unpack(model, block, count, err);
    }
    pl_free(block);

    return status;
}
