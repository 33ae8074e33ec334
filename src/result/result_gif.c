// Animated GIF: colours by median cut over all frames, LZW codes, and of every frame only the rectangle that
// differs from the one before.
#include "result/result_gif.h"
#include "result/result_surface.h"

#define GIF_COLOURS 256
#define GIF_BITS 6 // per channel, of the histogram: white and light greys stay distinct
#define GIF_LEVELS (1 << GIF_BITS)
#define GIF_BINS (1 << (3 * GIF_BITS)) // of the histogram
#define GIF_CODES 4096                 // codes have at most 12 bits
#define GIF_HASH 16384

bool result_gif_add(result_gif *g, const unsigned char *bgrx, int stride, int delay)
{
    if (g->count == g->capacity) {
        const int capacity = 2 * g->capacity + 16;
        uint32_t **pixel = pl_resize_array(g->pixel, (size_t)capacity, sizeof *pixel);
        g->pixel = pixel ? pixel : g->pixel;
        int *times = pl_resize_array(g->delay, (size_t)capacity, sizeof *times);
        g->delay = times ? times : g->delay;
        if (!pixel || !times) {
            return false;
        }
        g->capacity = capacity;
    }

    uint32_t *out = PL_NEW_ARRAY(uint32_t, (int64_t)g->width * g->height);
    if (!out) {
        return false;
    }
    g->pixel[g->count] = out;
    g->delay[g->count++] = delay;

    // rounded, so that white stays white
    for (int y = 0; y < g->height; ++y) {
        const unsigned char *row = bgrx + (int64_t)y * stride;
        for (int x = 0; x < g->width; ++x, row += 4) {
            uint32_t bin = 0;
            for (int c = 2; c >= 0; --c) {
                bin = bin << GIF_BITS | (uint32_t)((row[c] * (GIF_LEVELS - 1) + 127) / 255);
            }
            *out++ = bin;
        }
    }

    return true;
}

void result_gif_clear(result_gif *g)
{
    for (int i = 0; i < g->count; ++i) {
        pl_free(g->pixel[i]);
    }
    pl_free(g->pixel);
    pl_free(g->delay);
    *g = (result_gif){0};
}

// ---- colours

// A box of the colour space: the bins first .. end of a list that is sorted inside it as it is cut.
typedef struct gif_box {
    int first, end;
    int64_t pixels;
    int widest; // channel with the largest spread: 0 red, 1 green, 2 blue
    int spread;
} gif_box;

static int gif_channel(int bin, int channel)
{
    return bin >> (GIF_BITS * (2 - channel)) & (GIF_LEVELS - 1);
}

static void gif_measure(gif_box *box, const int32_t *bin, const int64_t *histogram)
{
    int low[3] = {GIF_LEVELS, GIF_LEVELS, GIF_LEVELS}, high[3] = {0, 0, 0};
    box->pixels = 0;
    for (int i = box->first; i < box->end; ++i) {
        box->pixels += histogram[bin[i]];

        for (int c = 0; c < 3; ++c) {
            const int v = gif_channel(bin[i], c);
            low[c] = v < low[c] ? v : low[c];
            high[c] = v > high[c] ? v : high[c];
        }
    }

    box->spread = 0;
    for (int c = 0; c < 3; ++c) {
        if (high[c] - low[c] > box->spread) {
            box->spread = high[c] - low[c];
            box->widest = c;
        }
    }
}

// Cuts a box at the median of its widest channel: the bins below come first (a counting sort).
static void gif_cut(gif_box *box, gif_box *rest, int32_t *bin, int32_t *scratch, const int64_t *histogram)
{
    int64_t weight[GIF_LEVELS + 1] = {0}, below = 0;
    int start[GIF_LEVELS + 1] = {0};

    for (int i = box->first; i < box->end; ++i) {
        const int v = gif_channel(bin[i], box->widest);
        weight[v] += histogram[bin[i]];
        ++start[v + 1];
    }

    for (int v = 0; v < GIF_LEVELS; ++v) {
        start[v + 1] += start[v];
    }

    int cut = 0;
    while (cut < GIF_LEVELS - 1 && (start[cut + 1] == 0 || 2 * (below + weight[cut]) <= box->pixels)) {
        below += weight[cut++];
    }

    // the median itself goes with what is above, unless nothing is below: both sides keep a bin
    const int total = box->end - box->first, at = start[cut] > 0 ? start[cut] : start[cut + 1];
    for (int i = box->first; i < box->end; ++i) {
        scratch[start[gif_channel(bin[i], box->widest)]++] = bin[i];
    }
    memcpy(bin + box->first, scratch, (size_t)total * sizeof *bin);
    *rest = (gif_box){.first = box->first + at, .end = box->end};
    box->end = box->first + at;
}

// The table of colours (3 bytes each) and for every bin of the histogram its number.
static bool gif_colours(const result_gif *g, uint8_t *table, uint8_t *number)
{
    gif_box box[GIF_COLOURS];
    int boxes = 1, bins = 0;
    int64_t *histogram = PL_NEW_ARRAY(int64_t, GIF_BINS);
    int32_t *bin = PL_NEW_ARRAY(int32_t, GIF_BINS), *scratch = PL_NEW_ARRAY(int32_t, GIF_BINS);
    const bool good = histogram && bin && scratch;

    for (int f = 0; good && f < g->count; ++f) {
        for (int64_t i = 0; i < (int64_t)g->width * g->height; ++i) {
            ++histogram[g->pixel[f][i]];
        }
    }

    for (int i = 0; good && i < GIF_BINS; ++i) {
        if (histogram[i] > 0) {
            bin[bins++] = i;
        }
    }

    box[0] = (gif_box){.end = bins};
    if (good) {
        gif_measure(&box[0], bin, histogram);
    }

    // the box with the largest spread, times the root of its pixels: large areas count, but not alone
    while (good && boxes < GIF_COLOURS) {
        int best = -1;
        double most = 0;

        for (int i = 0; i < boxes; ++i) {
            const double merit = box[i].spread * sqrt((double)box[i].pixels);
            if (box[i].spread > 0 && merit > most) {
                most = merit;
                best = i;
            }
        }

        if (best < 0) {
            break;
        }
        gif_cut(&box[best], &box[boxes], bin, scratch, histogram);
        gif_measure(&box[best], bin, histogram);
        gif_measure(&box[boxes++], bin, histogram);
    }

    for (int k = 0; good && k < boxes; ++k) {
        double sum[3] = {0, 0, 0};
        for (int i = box[k].first; i < box[k].end; ++i) {
            number[bin[i]] = (uint8_t)k;
            for (int c = 0; c < 3; ++c) {
                sum[c] += (double)histogram[bin[i]] * gif_channel(bin[i], c);
            }
        }

        for (int c = 0; c < 3 && box[k].pixels > 0; ++c) {
            table[3 * k + c] = (uint8_t)(sum[c] / (double)box[k].pixels * 255 / (GIF_LEVELS - 1) + 0.5);
        }
    }

    pl_free(histogram);
    pl_free(bin);
    pl_free(scratch);

    return good;
}

// ---- LZW

typedef struct gif_stream {
    pl_text *out;
    uint8_t block[255];
    int length;
    uint32_t bits;
    int bit_count;
} gif_stream;

static void gif_flush(gif_stream *s)
{
    if (s->length > 0) {
        result_put_le(s->out, (uint64_t)s->length, 1);
        pl_text_add_bytes(s->out, s->block, (size_t)s->length);
        s->length = 0;
    }
}

static void gif_put(gif_stream *s, int code, int width)
{
    s->bits |= (uint32_t)code << s->bit_count;
    s->bit_count += width;
    while (s->bit_count >= 8) {
        s->block[s->length++] = (uint8_t)s->bits;
        s->bits >>= 8;
        s->bit_count -= 8;
        if (s->length == 255) {
            gif_flush(s);
        }
    }
}

// Strings of the table by (code of all but the last pixel, last pixel), in an open hash.
typedef struct gif_table {
    int32_t key[GIF_HASH]; // -1: empty
    int16_t code[GIF_HASH];
    int next, width;
} gif_table;

static void gif_reset(gif_table *t)
{
    memset(t->key, 0xff, sizeof t->key);
    t->next = GIF_COLOURS + 2;
    t->width = 9;
}

static void gif_compress(gif_table *t, const uint8_t *pixel, int64_t count, pl_text *out)
{
    gif_stream s = {.out = out};
    result_put_le(out, 8, 1);
    gif_reset(t);
    gif_put(&s, GIF_COLOURS, t->width); // clear
    int code = pixel[0];

    for (int64_t i = 1; i < count; ++i) {
        const int32_t key = (int32_t)(code << 8 | pixel[i]);
        uint32_t h = (uint32_t)key * 2654435761u >> 18;
        while (t->key[h] >= 0 && t->key[h] != key) {
            h = (h + 1) % GIF_HASH;
        }
        if (t->key[h] == key) {
            code = t->code[h];
            continue;
        }

        gif_put(&s, code, t->width);
        if (t->next == GIF_CODES) {
            gif_put(&s, GIF_COLOURS, t->width);
            gif_reset(t);
        } else {
            t->width += t->next == 1 << t->width;
            t->key[h] = key;
            t->code[h] = (int16_t)t->next++;
        }

        code = pixel[i];
    }

    gif_put(&s, code, t->width);
    t->width += t->next == 1 << t->width && t->width < 12;
    gif_put(&s, GIF_COLOURS + 1, t->width); // end
    gif_put(&s, 0, 7);                      // fills the last byte
    gif_flush(&s);
    result_put_le(out, 0, 1);
}

// ---- the file

// The rectangle in which two frames differ: left, top, right, bottom (exclusive). One pixel where none does.
static void gif_changed(const result_gif *g, int frame, int box[4])
{
    if (frame == 0) {
        box[0] = box[1] = 0;
        box[2] = g->width;
        box[3] = g->height;
        return;
    }

    box[0] = g->width;
    box[1] = g->height;
    box[2] = box[3] = 0;
    const uint32_t *a = g->pixel[frame - 1], *b = g->pixel[frame];

    for (int y = 0; y < g->height; ++y) {
        for (int x = 0; x < g->width; ++x, ++a, ++b) {
            if (*a != *b) {
                box[0] = x < box[0] ? x : box[0];
                box[1] = y < box[1] ? y : box[1];
                box[2] = x + 1 > box[2] ? x + 1 : box[2];
                box[3] = y + 1;
            }
        }
    }

    if (box[3] == 0) {
        box[0] = box[1] = 0;
        box[2] = box[3] = 1;
    }
}

static void gif_frame(const result_gif *g, int frame, const uint8_t *number, uint8_t *scratch,
                      gif_table *table, pl_text *out)
{
    int box[4];
    gif_changed(g, frame, box);
    const int width = box[2] - box[0], height = box[3] - box[1];

    for (int y = 0; y < height; ++y) {
        const uint32_t *row = g->pixel[frame] + (int64_t)(box[1] + y) * g->width + box[0];
        for (int x = 0; x < width; ++x) {
            scratch[(int64_t)y * width + x] = number[row[x]];
        }
    }

    // graphic control: leave in place; its time
    pl_text_add_bytes(out, "\x21\xf9\x04\x04", 4);
    result_put_le(out, (uint64_t)g->delay[frame], 2);
    result_put_le(out, 0, 2);

    // image descriptor
    pl_text_add_bytes(out, "\x2c", 1);
    result_put_le(out, (uint64_t)box[0], 2);
    result_put_le(out, (uint64_t)box[1], 2);
    result_put_le(out, (uint64_t)width, 2);
    result_put_le(out, (uint64_t)height, 2);
    result_put_le(out, 0, 1);
    gif_compress(table, scratch, (int64_t)width * height, out);
}

void result_gif_write(const result_gif *g, pl_text *out)
{
    uint8_t table[3 * GIF_COLOURS] = {0};
    uint8_t *number = PL_NEW_ARRAY(uint8_t, GIF_BINS),
            *scratch = PL_NEW_ARRAY(uint8_t, (int64_t)g->width * g->height);
    gif_table *codes = PL_NEW(gif_table);

    if (!number || !scratch || !codes || !gif_colours(g, table, number)) {
        out->failed = true;
    } else {
        pl_text_add_bytes(out, "GIF89a", 6);
        result_put_le(out, (uint64_t)g->width, 2);
        result_put_le(out, (uint64_t)g->height, 2);
        pl_text_add_bytes(out, "\xf7\x00\x00", 3); // a table of 256 colours
        pl_text_add_bytes(out, table, sizeof table);
        pl_text_add_bytes(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00", 19); // for ever
        for (int f = 0; f < g->count; ++f) {
            gif_frame(g, f, number, scratch, codes, out);
        }
        pl_text_add_bytes(out, "\x3b", 1);
    }

    pl_free(number);
    pl_free(scratch);
    pl_free(codes);
}
