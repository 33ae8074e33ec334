// Numbers of a VTU DataArray: ASCII, base64 or appended bytes, plain or compressed with zlib, in either byte
// order. Every size a file claims is held against the bytes that are there before memory is taken.
#include <zlib.h>
#include "meshfile/meshfile_vtu.h"

// in the order of pl_vtu_type
static const struct {
    const char *name;
    int bytes;
} vtu_types[PL_VTU_TYPE_COUNT] = {{"Int8", 1},    {"UInt8", 1},   {"Int16", 2}, {"UInt16", 2},
                                  {"Int32", 4},   {"UInt32", 4},  {"Int64", 8}, {"UInt64", 8},
                                  {"Float32", 4}, {"Float64", 8}, {"String", 1}};

const char *pl_vtu_type_name(pl_vtu_type type)
{
    return vtu_types[type].name;
}

// Names file, line and array.
static pl_status vtu_fail(const pl_vtu_coding *coding, const pl_vtu_array *array, pl_error *err,
                          const char *what)
{
    return pl_fail(err, PL_BAD_INPUT, "%s:%d: the array %s %s", coding->path, array->line, array->name, what);
}

// ---- bytes out of raw or base64 text

// Bytes of an array, from text in base64 or as they are.
typedef struct vtu_stream {
    const unsigned char *at, *end;
    bool base64;
    unsigned char spare[3]; // decoded, not yet taken
    int spare_count;
} vtu_stream;

// Value of a base64 digit, -1 for others.
static int vtu_digit(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }

    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Decodes the next group of four characters into `spare`. A padded group gives fewer bytes; VTK starts a new
// group after a header, so padding may stand in the middle.
static bool vtu_stream_group(vtu_stream *s)
{
    unsigned bits = 0;
    int digits = 0, padding = 0;

    while (digits + padding < 4) {
        if (s->at == s->end) {
            return false;
        }
        const unsigned char c = *s->at++;
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            continue;
        }
        if (c == '=' && digits >= 2) {
            ++padding;
            bits <<= 6;
            continue;
        }

        const int digit = vtu_digit(c);
        if (digit < 0 || padding) {
            return false;
        }
        bits = bits << 6 | (unsigned)digit;
        ++digits;
    }

    s->spare_count = 3 - padding;
    s->spare[0] = (unsigned char)(bits >> 16);
    s->spare[1] = (unsigned char)(bits >> 8);
    s->spare[2] = (unsigned char)bits;

    return true;
}

// The next bytes; false at the end, or at a character that is not base64.
static bool vtu_stream_take(vtu_stream *s, void *to, size_t bytes)
{
    unsigned char *out = to;
    if (!s->base64) {
        if ((size_t)(s->end - s->at) < bytes) {
            return false;
        }
        memcpy(out, s->at, bytes);
        s->at += bytes;
        return true;
    }

    while (bytes > 0) {
        if (s->spare_count == 0 && !vtu_stream_group(s)) {
            return false;
        }
        const int n = (size_t)s->spare_count < bytes ? s->spare_count : (int)bytes;
        memcpy(out, s->spare, (size_t)n);
        memmove(s->spare, s->spare + n, (size_t)(s->spare_count - n));
        s->spare_count -= n;
        out += n;
        bytes -= (size_t)n;
    }

    return true;
}

// No more than so many bytes can follow.
static uint64_t vtu_stream_left(const vtu_stream *s)
{
    const uint64_t left = (uint64_t)(s->end - s->at);
    return s->base64 ? left / 4 * 3 + (uint64_t)s->spare_count : left;
}

// Reverses the bytes of each number.
static void vtu_swap(void *data, int64_t count, int bytes)
{
    unsigned char *p = data;
    for (int64_t i = 0; i < count; ++i, p += bytes) {
        for (int a = 0; a < bytes / 2; ++a) {
            const unsigned char t = p[a];
            p[a] = p[bytes - 1 - a];
            p[bytes - 1 - a] = t;
        }
    }
}

// A number of the head: 4 or 8 bytes in the file's order.
static bool vtu_stream_word(const pl_vtu_coding *coding, vtu_stream *s, uint64_t *word)
{
    unsigned char bytes[8] = {0};
    if (!vtu_stream_take(s, bytes, (size_t)coding->header_bytes)) {
        return false;
    }
    if (coding->swap) {
        vtu_swap(bytes, 1, coding->header_bytes);
    }
    *word = 0;
    for (int i = coding->header_bytes - 1; i >= 0; --i) {
        *word = *word << 8 | bytes[i];
    }

    return true;
}

// Where the bytes of an array begin: in its own text, or in the appended data.
static pl_status vtu_stream_open(const pl_vtu_coding *coding, const pl_vtu_array *array, vtu_stream *s,
                                 pl_error *err)
{
    if (array->format == PL_VTU_IN_BINARY) {
        const unsigned char *text = (const unsigned char *)(array->text.data ? array->text.data : "");
        *s = (vtu_stream){.at = text, .end = text + array->text.length, .base64 = true};
        return PL_OK;
    }

    if (!coding->appended) {
        return vtu_fail(coding, array, err, "is declared as appended, but the file has no AppendedData");
    }

    if (array->offset < 0 || (uint64_t)array->offset > coding->appended_bytes) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s:%d: the array %s has offset %lld, but the appended data ends at %zu", coding->path,
                       array->line, array->name, (long long)array->offset, coding->appended_bytes);
    }

    const unsigned char *data = (const unsigned char *)coding->appended;
    *s = (vtu_stream){
        .at = data + array->offset, .end = data + coding->appended_bytes, .base64 = coding->appended_base64};

    return PL_OK;
}

// ---- blocks of bytes

// A size that does not follow from the counts of the piece.
static pl_status vtu_size_fail(const pl_vtu_coding *coding, const pl_vtu_array *array, uint64_t got,
                               int64_t want, pl_error *err)
{
    return pl_fail(err, PL_BAD_INPUT, "%s:%d: the array %s has %llu bytes, expected %lld", coding->path,
                   array->line, array->name, (unsigned long long)got, (long long)want);
}

// most that may be gained by compression, and what is read in any case
#define VTU_GAIN 100
#define VTU_FREE_BYTES (UINT64_C(64) << 20)

// Inflates the blocks one after the other; `size` are their compressed sizes.
static pl_status vtu_inflate(const pl_vtu_coding *coding, const pl_vtu_array *array, vtu_stream *s,
                             const uint64_t *size, uint64_t count, uint64_t block, unsigned char *out,
                             uint64_t total, pl_error *err)
{
    pl_status status = PL_OK;
    uint64_t done = 0;

    // the last block may be shorter
    for (uint64_t b = 0; status == PL_OK && b < count; ++b) {
        const uint64_t left = total - done, want = left < block ? left : block;
        unsigned char *packed = pl_alloc_array(size[b], 1);
        uLongf got = (uLongf)want;
        if (!packed) {
            status = pl_fail_memory(err, coding->path);
        } else if (!vtu_stream_take(s, packed, size[b])) {
            status = vtu_fail(coding, array, err, "ends too early");
        } else if (uncompress(out + done, &got, packed, (uLong)size[b]) != Z_OK || got != want) {
            status = vtu_fail(coding, array, err, "has compressed data that zlib cannot read");
        }
        pl_free(packed);
        done += want;
    }

    return status;
}

// The head of compressed data: number of blocks, their size, size of the last one (0: full), compressed
// sizes. zlib gains at most a factor of 1032.
static pl_status vtu_read_compressed(const pl_vtu_coding *coding, const pl_vtu_array *array, vtu_stream *s,
                                     int64_t expected, unsigned char **out, uint64_t *bytes, pl_error *err)
{
    uint64_t count, block, last;
    if (!vtu_stream_word(coding, s, &count) ||
        (count > 0 && (!vtu_stream_word(coding, s, &block) || !vtu_stream_word(coding, s, &last)))) {
        return vtu_fail(coding, array, err, "ends too early");
    }

    if (count == 0) {
        block = last = 0;
    }

    // 1 TB: keeps the products below from overflowing in any honest file
    const uint64_t most = UINT64_C(1) << 40;
    if (count > vtu_stream_left(s) / (uint64_t)coding->header_bytes || block > most || last > block) {
        return vtu_fail(coding, array, err, "has an invalid header of compressed blocks");
    }

    const uint64_t total = count == 0 ? 0 : last ? (count - 1) * block + last : count * block;
    if (expected >= 0 && total != (uint64_t)expected) {
        return vtu_size_fail(coding, array, total, expected, err);
    }

    // what describes a mesh becomes smaller by a factor of ten, only a file made to harm gains hundreds
    if (total > VTU_FREE_BYTES && total / VTU_GAIN > vtu_stream_left(s)) {
        return vtu_fail(coding, array, err, "unpacks to more than a hundred times its size; it is not read");
    }
    if (total / 1032 > vtu_stream_left(s)) {
        return vtu_fail(coding, array, err, "ends too early");
    }

    // sizes of the blocks, then their contents
    uint64_t *size = PL_NEW_ARRAY(uint64_t, count);
    unsigned char *data = pl_alloc_array(total + 1, 1);
    pl_status status = size && data ? PL_OK : pl_fail_memory(err, coding->path);

    for (uint64_t b = 0; status == PL_OK && b < count; ++b) {
        if (!vtu_stream_word(coding, s, &size[b]) || size[b] > vtu_stream_left(s)) {
            status = vtu_fail(coding, array, err, "ends too early");
        }
    }

    if (status == PL_OK) {
        status = vtu_inflate(coding, array, s, size, count, block, data, total, err);
    }
    pl_free(size);
    if (status != PL_OK) {
        pl_free(data);
        return status;
    }

    *out = data;
    *bytes = total;

    return PL_OK;
}

// All bytes of an array that is not ASCII; `expected` negative: as many as its head says. One zero follows
// them.
static pl_status vtu_read_bytes(const pl_vtu_coding *coding, const pl_vtu_array *array, int64_t expected,
                                unsigned char **out, uint64_t *bytes, pl_error *err)
{
    vtu_stream s;
    pl_status status = vtu_stream_open(coding, array, &s, err);

    if (status != PL_OK) {
        return status;
    }
    if (coding->compressed) {
        return vtu_read_compressed(coding, array, &s, expected, out, bytes, err);
    }

    // uncompressed: one count of bytes
    uint64_t total;
    if (!vtu_stream_word(coding, &s, &total)) {
        return vtu_fail(coding, array, err, "ends too early");
    }
    if (expected >= 0 && total != (uint64_t)expected) {
        return vtu_size_fail(coding, array, total, expected, err);
    }
    if (total > vtu_stream_left(&s)) {
        return vtu_fail(coding, array, err, "ends too early");
    }

    unsigned char *data = pl_alloc_array(total + 1, 1);
    if (!data) {
        return pl_fail_memory(err, coding->path);
    }
    if (!vtu_stream_take(&s, data, total)) {
        pl_free(data);
        return vtu_fail(coding, array, err, "has characters that are not base64, or ends too early");
    }

    *out = data;
    *bytes = total;

    return PL_OK;
}

// ---- numbers

static bool vtu_is_real(pl_vtu_type type)
{
    return type == PL_VTU_FLOAT32 || type == PL_VTU_FLOAT64;
}

// The number at index i of a block of machine numbers; exactly one of the two results is meant.
static void vtu_number(pl_vtu_type type, const unsigned char *data, int64_t i, double *real, int64_t *whole)
{
#define VTU_CASE(code, ctype)                                                                                \
    case code: {                                                                                             \
        ctype v;                                                                                             \
        memcpy(&v, data + (size_t)i * sizeof v, sizeof v);                                                   \
        if (real) {                                                                                          \
            *real = (double)v;                                                                               \
        } else {                                                                                             \
            *whole = (int64_t)v;                                                                             \
        }                                                                                                    \
        break;                                                                                               \
    }

    switch (type) {
        VTU_CASE(PL_VTU_INT8, int8_t)
        VTU_CASE(PL_VTU_UINT8, uint8_t)
        VTU_CASE(PL_VTU_INT16, int16_t)
        VTU_CASE(PL_VTU_UINT16, uint16_t)
        VTU_CASE(PL_VTU_INT32, int32_t)
        VTU_CASE(PL_VTU_UINT32, uint32_t)
        VTU_CASE(PL_VTU_INT64, int64_t)
        VTU_CASE(PL_VTU_UINT64, uint64_t)
        VTU_CASE(PL_VTU_FLOAT32, float)
        VTU_CASE(PL_VTU_FLOAT64, double)
    default:
        PL_ASSERT(!"a string is not a number");
    }
#undef VTU_CASE
}

static const char *vtu_skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        ++p;
    }
    return p;
}

// Exactly `count` numbers, separated by blanks.
static pl_status vtu_read_ascii(const pl_vtu_coding *coding, const pl_vtu_array *array, int64_t count,
                                double *real, int64_t *whole, pl_error *err)
{
    const char *p = array->text.data ? array->text.data : "", *end = p + array->text.length;
    for (int64_t i = 0; i < count; ++i) {
        p = vtu_skip_space(p, end);
        const bool good = real ? pl_scan_real(&p, end, real + i) : pl_scan_whole(&p, end, whole + i);

        if (!good || (p < end && vtu_skip_space(p, end) == p)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s:%d: the array %s: number %lld of %lld is missing or not a %s number",
                           coding->path, array->line, array->name, (long long)i + 1, (long long)count,
                           real ? "real" : "whole");
        }
    }

    if (vtu_skip_space(p, end) != end) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: the array %s has more than the expected %lld numbers",
                       coding->path, array->line, array->name, (long long)count);
    }

    return PL_OK;
}

// Numbers of any type as double or int64. Sizes are checked against the data before memory is taken.
static pl_status vtu_decode(const pl_vtu_coding *coding, const pl_vtu_array *array, int64_t count, bool reals,
                            void **out, pl_error *err)
{
    *out = NULL;
    if (array->type == PL_VTU_STRING || (!reals && vtu_is_real(array->type))) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: the array %s has type %s, expected numbers of type %s",
                       coding->path, array->line, array->name, vtu_types[array->type].name,
                       reals ? "Float64" : "Int64");
    }

    unsigned char *data = NULL;
    uint64_t bytes;

    // bytes, unless it is text
    if (array->format == PL_VTU_IN_ASCII) {
        if (count > (int64_t)array->text.length) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: the array %s ends before its %lld numbers",
                           coding->path, array->line, array->name, (long long)count);
        }
    } else if (count > INT64_MAX / 8) {
        return vtu_fail(coding, array, err, "is too long");
    } else {
        const pl_status status =
            vtu_read_bytes(coding, array, count * vtu_types[array->type].bytes, &data, &bytes, err);
        if (status != PL_OK) {
            return status;
        }
    }

    // numbers
    void *numbers = pl_alloc_array((size_t)count, 8);
    pl_status status = numbers ? PL_OK : pl_fail_memory(err, coding->path);
    double *real = reals ? numbers : NULL;
    int64_t *whole = reals ? NULL : numbers;
    if (status == PL_OK && !data) {
        status = vtu_read_ascii(coding, array, count, real, whole, err);
    } else if (status == PL_OK) {
        if (coding->swap) {
            vtu_swap(data, count, vtu_types[array->type].bytes);
        }
        for (int64_t i = 0; i < count; ++i) {
            vtu_number(array->type, data, i, reals ? real + i : NULL, reals ? NULL : whole + i);
        }
    }

    pl_free(data);
    if (status != PL_OK) {
        pl_free(numbers);
        return status;
    }

    *out = numbers;

    return PL_OK;
}

pl_status pl_vtu_decode_reals(const pl_vtu_coding *coding, const pl_vtu_array *array, int64_t count,
                              double **out, pl_error *err)
{
    void *numbers;
    const pl_status status = vtu_decode(coding, array, count, true, &numbers, err);
    *out = numbers;
    return status;
}

pl_status pl_vtu_decode_wholes(const pl_vtu_coding *coding, const pl_vtu_array *array, int64_t count,
                               int64_t **out, pl_error *err)
{
    void *numbers;
    const pl_status status = vtu_decode(coding, array, count, false, &numbers, err);
    *out = numbers;
    return status;
}

// ---- names

// ASCII strings are written as their character codes.
static pl_status vtu_read_codes(const pl_vtu_coding *coding, const pl_vtu_array *array, unsigned char **out,
                                uint64_t *bytes, pl_error *err)
{
    const char *p = array->text.data ? array->text.data : "", *end = p + array->text.length;
    unsigned char *data = pl_alloc_array(array->text.length + 1, 1);

    if (!data) {
        return pl_fail_memory(err, coding->path);
    }

    uint64_t n = 0;
    for (p = vtu_skip_space(p, end); p < end; p = vtu_skip_space(p, end)) {
        int64_t code;
        if (!pl_scan_whole(&p, end, &code) || code < -128 || code > 255) {
            pl_free(data);
            return vtu_fail(coding, array, err, "must contain character codes from 0 to 255");
        }

        data[n++] = (unsigned char)code;
    }

    *out = data;
    *bytes = n;

    return PL_OK;
}

// Names may not repeat: they become regions or surfaces.
pl_status pl_vtu_decode_names(const pl_vtu_coding *coding, const pl_vtu_array *array, pl_names *names,
                              pl_error *err)
{
    if (array->type != PL_VTU_STRING && array->type != PL_VTU_UINT8) {
        return vtu_fail(coding, array, err, "must be of type String or UInt8");
    }

    unsigned char *data = NULL;
    uint64_t bytes = 0;
    pl_status status = array->format == PL_VTU_IN_ASCII
                           ? vtu_read_codes(coding, array, &data, &bytes, err)
                           : vtu_read_bytes(coding, array, -1, &data, &bytes, err);
    for (uint64_t i = 0; status == PL_OK && i < bytes;) {
        // a zero follows the last byte, so every name ends
        const char *name = (const char *)data + i;
        const size_t length = strlen(name);
        if (length == 0 || length > 200 || names->count >= 10000) {
            status =
                vtu_fail(coding, array, err, "has an empty or unterminated name, or more than 10000 names");
        } else if (pl_names_find(names, name) >= 0) {
            status = pl_fail(err, PL_BAD_INPUT, "%s:%d: the array %s has the name %s twice", coding->path,
                             array->line, array->name, name);
        } else if (pl_names_add(names, name) < 0) {
            status = pl_fail_memory(err, coding->path);
        }
        i += length + 1;
    }

    pl_free(data);

    return status;
}
