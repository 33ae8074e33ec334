// Messages as they go over the wire: packing and its inverse bookkeeping of memory.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "server_pack.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "arrays are sent as they lie in memory: a big-endian machine must swap them here"
#endif

#define PACK_HEAD 16
#define PACK_ENTRY 16

static size_t pack_padded(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static size_t pack_width(server_type type)
{
    return type == SERVER_U8 ? 1 : type == SERVER_U16 ? 2 : 4;
}

static server_message *pack_message(size_t bytes, bool text)
{
    server_message *m = calloc(1, sizeof *m);
    unsigned char *block = m ? malloc(SERVER_FRONT + bytes + 1) : NULL;

    if (!block) {
        free(m);
        return NULL;
    }

    *m = (server_message){.references = 1, .text = text, .bytes = bytes, .payload = block + SERVER_FRONT};
    return m;
}

void server_message_free(server_message *message)
{
    if (message) {
        free(message->payload - SERVER_FRONT);
        free(message);
    }
}

server_message *server_pack_text(const char *text)
{
    const size_t bytes = strlen(text);
    server_message *m = pack_message(bytes, true);
    if (m) {
        memcpy(m->payload, text, bytes + 1);
    }
    return m;
}

server_message *server_pack(server_kind kind, const char *json, const server_array *array, int array_count)
{
    const size_t words = strlen(json), json_bytes = pack_padded(words);
    size_t bytes = PACK_HEAD + (size_t)array_count * PACK_ENTRY + json_bytes;

    for (int i = 0; i < array_count; ++i) {
        if (strlen(array[i].name) > 8 || array[i].count > UINT32_MAX / 8) {
            return NULL;
        }
        bytes += pack_padded(array[i].count * pack_width(array[i].type));
    }

    if (json_bytes > UINT32_MAX / 2) {
        return NULL;
    }

    server_message *m = pack_message(bytes, false);
    if (!m) {
        return NULL;
    }

    // everything that is padding is zero, behind the JSON a space
    unsigned char *to = m->payload;
    memset(to, 0, bytes);
    const uint32_t head[3] = {(uint32_t)kind, (uint32_t)json_bytes, (uint32_t)array_count};
    memcpy(to, "PLV1", 4);
    memcpy(to + 4, head, sizeof head);
    to += PACK_HEAD;
    for (int i = 0; i < array_count; ++i, to += PACK_ENTRY) {
        const uint32_t entry[2] = {(uint32_t)array[i].type, (uint32_t)array[i].count};
        memcpy(to, array[i].name, strlen(array[i].name));
        memcpy(to + 8, entry, sizeof entry);
    }

    memset(to, ' ', json_bytes);
    memcpy(to, json, words);
    to += json_bytes;
    for (int i = 0; i < array_count; ++i) {
        const size_t size = array[i].count * pack_width(array[i].type);
        if (size > 0) {
            memcpy(to, array[i].value, size);
        }
        to += pack_padded(size);
    }

    return m;
}

void server_quantize(const double *value, size_t count, double *low, double *high, uint16_t *out)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; ++i) {
        if (isfinite(value[i])) {
            *low = fmin(*low, value[i]);
            *high = fmax(*high, value[i]);
        }
    }

    if (!(*low <= *high)) {
        *low = *high = 0;
    }

    const double scale = *high > *low ? 65535 / (*high - *low) : 0;
    for (size_t i = 0; i < count; ++i) {
        out[i] = isfinite(value[i]) ? (uint16_t)lrint((value[i] - *low) * scale) : 0;
    }
}
