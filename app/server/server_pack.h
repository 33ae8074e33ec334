// Messages as they go over the wire. A binary message is a table of named arrays behind a JSON header; all
// numbers are little-endian:
//
//   0   4 bytes  "PLV1"
//   4   u32      kind of message
//   8   u32      bytes of the JSON text, a multiple of 4 (padded with spaces)
//   12  u32      number of arrays
//   16  16 bytes per array: name (8 bytes, zero-padded), u32 type, u32 number of values
//   ..  the JSON text, then the arrays in order, each padded with zeros to a multiple of 4
#ifndef PL_SERVER_PACK_H
#define PL_SERVER_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVER_FRONT 32 // bytes in front of a payload that belong to whoever sends it

typedef struct server_message {
    int references;
    bool text;
    size_t bytes;
    unsigned char *payload;
} server_message;

typedef enum server_kind {
    SERVER_KIND_MESH = 1,
    SERVER_KIND_SHAPE = 2,
    SERVER_KIND_CLOUD = 3,
    SERVER_KIND_FILE = 4,
    SERVER_KIND_TANGENT = 5
} server_kind;

typedef enum server_type { SERVER_F32 = 1, SERVER_U32 = 2, SERVER_U16 = 3, SERVER_U8 = 4 } server_type;

typedef struct server_array {
    const char *name; // at most 8 characters
    server_type type;
    const void *value;
    size_t count;
} server_array;

// NULL when out of memory, or when a name or a count does not fit.
server_message *server_pack(server_kind kind, const char *json, const server_array *array, int array_count);
server_message *server_pack_text(const char *text);
void server_message_free(server_message *message); // whatever its references

// Spreads values over 0 .. 65535 between the least and the largest finite one (kept in low and high); what is
// not finite becomes 0.
void server_quantize(const double *value, size_t count, double *low, double *high, uint16_t *out);

#endif
