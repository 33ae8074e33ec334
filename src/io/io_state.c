// State files: magic, version, byte order, the robot's hash, a count, that many doubles, and a hash of all
// before it.
#include "base/base.h"
#include "pliant/io.h"

typedef struct state_head {
    char magic[8];
    uint32_t version, order;
    uint64_t robot, count;
} state_head;

#define STATE_MAGIC "PLSTATE\n"
#define STATE_FILE_VERSION 1u
#define STATE_ORDER 0x01020304u

pl_status pl_state_save(const pl_state *state, const pl_robot *robot, const char *path, pl_error *err)
{
    const size_t count = pl_state_pack(state, NULL, 0);
    const size_t bytes = sizeof(state_head) + count * sizeof(double) + sizeof(uint64_t);
    char *data = pl_alloc(bytes);
    double *block = PL_NEW_ARRAY(double, count);
    pl_status status;
    if (!data || !block) {
        status = pl_fail_memory(err, path);
    } else {
        state_head head = {.version = STATE_FILE_VERSION, .order = STATE_ORDER};
        memcpy(head.magic, STATE_MAGIC, sizeof head.magic);
        head.robot = pl_robot_hash(robot);
        head.count = count;
        pl_state_pack(state, block, count);
        memcpy(data, &head, sizeof head);
        memcpy(data + sizeof head, block, count * sizeof(double));
        const uint64_t hash = pl_hash_bytes(PL_HASH_SEED, data, bytes - sizeof hash);
        memcpy(data + bytes - sizeof hash, &hash, sizeof hash);
        status = pl_file_write(path, data, bytes, err);
    }
    pl_free(data);
    pl_free(block);
    return status;
}

static pl_status state_check(const char *data, size_t bytes, const pl_robot *robot, size_t expected,
                             const char *path, pl_error *err)
{
    state_head head;
    if (bytes < sizeof head || memcmp(data, STATE_MAGIC, sizeof head.magic) != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is not a state file of pliant", path);
    }
    memcpy(&head, data, sizeof head);
    if (head.order != STATE_ORDER) {
        return pl_fail(err, PL_BAD_INPUT, "%s: was written on a machine with a different byte order", path);
    }
    if (head.version != STATE_FILE_VERSION) {
        return pl_fail(err, PL_BAD_INPUT, "%s: has version %u, this program reads version %u", path,
                       head.version, STATE_FILE_VERSION);
    }
    if (head.robot != pl_robot_hash(robot)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: belongs to another robot (or the robot has changed)", path);
    }
    uint64_t hash;
    if (head.count != expected || bytes != sizeof head + expected * sizeof(double) + sizeof hash) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is truncated or too long: %zu bytes, expected %zu", path,
                       bytes, sizeof head + expected * sizeof(double) + sizeof hash);
    }
    memcpy(&hash, data + bytes - sizeof hash, sizeof hash);
    if (hash != pl_hash_bytes(PL_HASH_SEED, data, bytes - sizeof hash)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is damaged: its checksum is wrong", path);
    }
    return PL_OK;
}

pl_status pl_state_load(pl_state *state, const pl_robot *robot, const char *path, pl_error *err)
{
    char *data;
    size_t bytes;
    pl_status status = pl_file_read(path, &data, &bytes, err);
    if (status != PL_OK) {
        return status;
    }
    const size_t count = pl_state_pack(state, NULL, 0);
    double *block = NULL;
    status = state_check(data, bytes, robot, count, path, err);
    if (status == PL_OK && !(block = PL_NEW_ARRAY(double, count))) {
        status = pl_fail_memory(err, path);
    }
    if (status == PL_OK) {
        memcpy(block, data + sizeof(state_head), count * sizeof(double));
        status = pl_state_unpack(state, block, count, err);
    }
    pl_free(block);
    pl_file_free(data);
    return status;
}
