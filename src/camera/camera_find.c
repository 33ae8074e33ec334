// What is seen in an image: corners of a chessboard, dots of a colour.
//
// A corner of a chessboard is a saddle of the brightness: Ixy^2 - Ixx Iyy is large there. Its place is that
// of the saddle of the quadratic that fits the smoothed image best around it. Corners are joined to a lattice
// from a seed, each step predicted by the last, and the lattice is searched for a complete board.
#include <stdlib.h>
#include "base/base.h"
#include "base/vec.h"
#include "camera/camera.h"

#define SMOOTH 1.5    // pixels: noise and the grid of pixels vanish, squares of 8 pixels remain
#define WINDOW 4      // pixels: half width of the patch the quadratic is fitted to
#define APART 3       // pixels: of two corners at least
#define STRENGTH 0.08 // of the strongest saddle
#define CANDIDATES 4000
#define SEEDS 60
#define LATTICE 64 // cells across
#define NEAR 0.35  // of a square: how far a corner may be from its prediction

pl_status pl_image_create(int width, int height, bool color, pl_image *out, pl_error *err)
{
    *out = (pl_image){.width = width, .height = height};
    if (width < 1 || height < 1 || width > 32768 || height > 32768) {
        return pl_fail(err, PL_BAD_INPUT, "image: %d x %d pixels, expected at least 1 x 1", width, height);
    }

    const int64_t n = (int64_t)width * height;
    out->gray = PL_NEW_ARRAY(float, n);
    out->color = color ? PL_NEW_ARRAY(float, 3 * n) : NULL;
    if (!out->gray || (color && !out->color)) {
        pl_image_clear(out);
        return pl_fail_memory(err, "image");
    }

    return PL_OK;
}

void pl_image_clear(pl_image *image)
{
    pl_free(image->gray);
    pl_free(image->color);
    *image = (pl_image){0};
}

// ---- smoothing
static int clamp_index(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

// One pass along x (stride 1) or y of a Gaussian; `from` and `to` differ.
static void smooth_pass(const float *from, float *to, int width, int height, bool vertical)
{
    enum { REACH = 5 };
    double weight[2 * REACH + 1], sum = 0;
    for (int k = -REACH; k <= REACH; ++k) {
        sum += weight[k + REACH] = exp(-0.5 * k * k / (SMOOTH * SMOOTH));
    }

    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            double value = 0;

            for (int k = -REACH; k <= REACH; ++k) {
                const int at =
                    vertical ? clamp_index(y + k, height) * width + x : y * width + clamp_index(x + k, width);
                value += weight[k + REACH] * from[at];
            }

            to[y * width + x] = (float)(value / sum);
        }
    }
}

// ---- saddles
typedef struct saddle {
    double at[2], strength;
} saddle;

static double saddle_strength(const float *I, int width, int x, int y)
{
    const float *p = I + y * width + x;
    const double xx = p[1] - 2 * p[0] + p[-1], yy = p[width] - 2 * p[0] + p[-width];
    const double xy = 0.25 * (p[width + 1] - p[width - 1] - p[-width + 1] + p[-width - 1]);
    return xy * xy - xx * yy;
}

// Between four pixels.
static double image_between(const float *I, int width, double x, double y)
{
    const int u = (int)x, v = (int)y;
    const float *p = I + v * width + u;
    const double a = x - u, b = y - v;
    return (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[width] + a * p[width + 1]);
}

// The saddle of a x^2 + b x y + c y^2 + d x + e y + f fitted over the window, which is moved until the saddle
// is in its middle: there the image is as symmetric as the fit, and the place is not biased. On a symmetric
// window the six monomials separate but for x^2, y^2 and 1.
static bool saddle_refine(const float *I, int width, int height, double at[2])
{
    const double start[2] = {at[0], at[1]};
    for (int pass = 0; pass < 20; ++pass) {
        const int edge = WINDOW + 1;
        if (!(at[0] > edge && at[1] > edge && at[0] < width - 1 - edge && at[1] < height - 1 - edge)) {
            return false;
        }
        double n = 0, s2 = 0, s4 = 0, s22 = 0, m[6] = {0};

        for (int y = -WINDOW; y <= WINDOW; ++y) {
            for (int x = -WINDOW; x <= WINDOW; ++x) {
                const double v = image_between(I, width, at[0] + x, at[1] + y);
                n += 1;
                s2 += x * x;
                s4 += x * x * x * x;
                s22 += x * x * y * y;
                m[0] += v * x * x;
                m[1] += v * x * y;
                m[2] += v * y * y;
                m[3] += v * x;
                m[4] += v * y;
                m[5] += v;
            }
        }

        // a + c and a - c: sums and differences of the equations of x^2 and y^2
        const double both = (m[0] + m[2] - 2 * s2 * m[5] / n) / (s4 + s22 - 2 * s2 * s2 / n);
        const double apart = (m[0] - m[2]) / (s4 - s22);
        const double a = 0.5 * (both + apart), c = 0.5 * (both - apart), b = m[1] / s22, d = m[3] / s2,
                     e = m[4] / s2;
        const double det = 4 * a * c - b * b;
        if (!(det < 0)) {
            return false;
        }
        const double x = (b * e - 2 * c * d) / det, y = (b * d - 2 * a * e) / det;
        at[0] += fmin(fmax(x, -1), 1);
        at[1] += fmin(fmax(y, -1), 1);
        if (!(hypot(at[0] - start[0], at[1] - start[1]) < 2.5)) {
            return false;
        }
        if (fabs(x) + fabs(y) < 1e-3) {
            return true;
        }
    }

    return false;
}

static int saddle_compare(const void *a, const void *b)
{
    const double x = ((const saddle *)a)->strength, y = ((const saddle *)b)->strength;
    return (x < y) - (x > y);
}

// Strongest first.
static int saddles_find(const float *I, int width, int height, saddle *out)
{
    double strongest = 0;
    int count = 0;

    for (int pass = 0; pass < 2; ++pass) {
        for (int y = WINDOW; y < height - WINDOW; ++y) {
            for (int x = WINDOW; x < width - WINDOW; ++x) {
                const double s = saddle_strength(I, width, x, y);
                if (pass == 0) {
                    strongest = fmax(strongest, s);
                    continue;
                }

                bool peak = s > STRENGTH * strongest && count < CANDIDATES;
                for (int j = -APART; peak && j <= APART; ++j) {
                    for (int i = -APART; peak && i <= APART; ++i) {
                        const int u = x + i, v = y + j;
                        const bool inside = u > 0 && v > 0 && u < width - 1 && v < height - 1;
                        const double other = inside && (i || j) ? saddle_strength(I, width, u, v) : 0;
                        peak = other < s || (other == s && (j > 0 || (j == 0 && i > 0)));
                    }
                }

                saddle one = {.at = {x, y}, .strength = s};
                if (peak && saddle_refine(I, width, height, one.at)) {
                    out[count++] = one;
                }
            }
        }
    }

    qsort(out, (size_t)count, sizeof *out, saddle_compare);
    return count;
}

// ---- the lattice
typedef struct lattice {
    int cell[LATTICE][LATTICE];          // saddle, -1: none
    double step[LATTICE][LATTICE][2][2]; // local axes
    bool taken[CANDIDATES];
} lattice;

static int saddle_nearest(const saddle *s, int count, const bool *taken, const double at[2], double within)
{
    int best = -1;
    for (int k = 0; k < count; ++k) {
        const double far = hypot(s[k].at[0] - at[0], s[k].at[1] - at[1]);
        if (!taken[k] && far < within) {
            within = far;
            best = k;
        }
    }

    return best;
}

// Axes at the seed: its nearest neighbour, and the nearest one across.
static bool lattice_axes(const saddle *s, int count, int seed, double axis[2][2])
{
    double best = INFINITY;
    for (int k = 0; k < count; ++k) {
        const double d[2] = {s[k].at[0] - s[seed].at[0], s[k].at[1] - s[seed].at[1]}, far = hypot(d[0], d[1]);
        if (k != seed && far < best) {
            best = far;
            memcpy(axis[0], d, sizeof d);
        }
    }

    const double length = best;
    best = INFINITY;
    for (int k = 0; k < count; ++k) {
        const double d[2] = {s[k].at[0] - s[seed].at[0], s[k].at[1] - s[seed].at[1]}, far = hypot(d[0], d[1]);
        const double sine = fabs(d[0] * axis[0][1] - d[1] * axis[0][0]) / (far * length);
        if (k != seed && far > 0 && sine > 0.7 && far < best && far < 2.5 * length) {
            best = far;
            memcpy(axis[1], d, sizeof d);
        }
    }

    return isfinite(best);
}

static int lattice_grow(const saddle *s, int count, int seed, lattice *l)
{
    static const int neighbour[4][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 1}, {0, -1, 1}};
    int queue[LATTICE * LATTICE], head = 0, tail = 0;
    const int middle = LATTICE / 2;

    memset(l->cell, -1, sizeof l->cell);
    memset(l->taken, 0, sizeof l->taken);
    if (!lattice_axes(s, count, seed, l->step[middle][middle])) {
        return 0;
    }
    l->cell[middle][middle] = seed;
    l->taken[seed] = true;
    queue[tail++] = middle * LATTICE + middle;

    while (head < tail) {
        const int i = queue[head] / LATTICE, j = queue[head] % LATTICE;
        ++head;

        for (int k = 0; k < 4; ++k) {
            const int u = i + neighbour[k][0], v = j + neighbour[k][1], axis = neighbour[k][2];
            const int sign = neighbour[k][0] + neighbour[k][1];
            if (u < 1 || v < 1 || u >= LATTICE - 1 || v >= LATTICE - 1 || l->cell[u][v] >= 0) {
                continue;
            }
            const double *from = s[l->cell[i][j]].at, *step = l->step[i][j][axis];
            const double at[2] = {from[0] + sign * step[0], from[1] + sign * step[1]};
            const int found = saddle_nearest(s, count, l->taken, at, NEAR * hypot(step[0], step[1]));
            if (found < 0) {
                continue;
            }
            l->cell[u][v] = found;
            l->taken[found] = true;
            memcpy(l->step[u][v], l->step[i][j], sizeof l->step[u][v]);
            for (int c = 0; c < 2; ++c) {
                l->step[u][v][axis][c] = sign * (s[found].at[c] - from[c]);
            }
            queue[tail++] = u * LATTICE + v;
        }
    }

    return tail;
}

// ---- the board in the lattice
static double image_at(const float *I, int width, int height, double x, double y)
{
    const int u = clamp_index((int)lround(x), width), v = clamp_index((int)lround(y), height);
    return I[v * width + u];
}

// Corners of a board that begins at lattice cell (i, j), along axes `first` (0 or 1) and signs; 2 per corner.
static bool board_read(const saddle *s, const lattice *l, const pl_board *board, int i, int j, bool swapped,
                       double *pixel)
{
    for (int r = 0; r < board->rows; ++r) {
        for (int c = 0; c < board->columns; ++c) {
            const int u = i + (swapped ? r : c), v = j + (swapped ? c : r);
            if (u >= LATTICE || v >= LATTICE || l->cell[u][v] < 0) {
                return false;
            }
            memcpy(pixel + 2 * (r * board->columns + c), s[l->cell[u][v]].at, 2 * sizeof *pixel);
        }
    }

    return true;
}

static void corner_swap(double *pixel, int a, int b)
{
    for (int i = 0; i < 2; ++i) {
        const double t = pixel[2 * a + i];
        pixel[2 * a + i] = pixel[2 * b + i];
        pixel[2 * b + i] = t;
    }
}

// Seen from the front, first square dark.
static void board_orient(const float *I, int width, int height, const pl_board *board, double *pixel)
{
    const int n = board->columns, count = n * board->rows;
    const double *p = pixel, *q = pixel + 2 * (n - 1), *r = pixel + 2 * (count - n);
    const double turn = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);

    if (turn < 0) {
        for (int k = 0; k < count; ++k) {
            const int mirror = k / n * n + n - 1 - k % n;
            if (mirror > k) {
                corner_swap(pixel, k, mirror);
            }
        }
    }

    double tone[2];
    for (int k = 0; k < 2; ++k) {
        const double *a = pixel + 2 * k, *b = pixel + 2 * (k + n + 1);
        tone[k] = image_at(I, width, height, 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]));
    }

    for (int k = 0; tone[0] > tone[1] && k < count / 2; ++k) {
        corner_swap(pixel, k, count - 1 - k);
    }
}

// How far the corners are from a plane seen by a pinhole, in pixels.
static double board_error(const pl_board *board, const double *pixel)
{
    const int count = board->columns * board->rows;
    double *plane = PL_NEW_ARRAY(double, 2 * count), H[9], worst = INFINITY;

    for (int k = 0; plane && k < count; ++k) {
        plane[2 * k] = k % board->columns;
        plane[2 * k + 1] = k / board->columns;
    }

    if (plane && camera_homography(count, plane, pixel, H)) {
        worst = 0;
        for (int k = 0; k < count; ++k) {
            const double x = plane[2 * k], y = plane[2 * k + 1], w = H[6] * x + H[7] * y + 1;
            worst = fmax(worst, hypot((H[0] * x + H[1] * y + H[2]) / w - pixel[2 * k],
                                      (H[3] * x + H[4] * y + H[5]) / w - pixel[2 * k + 1]));
        }
    }

    pl_free(plane);

    return worst;
}

// All places of the board in a lattice; the one most like a plane.
static bool lattice_board(const saddle *s, const lattice *l, const pl_board *board, double *work,
                          double *pixel)
{
    double best = INFINITY;
    const size_t size = 2 * (size_t)(board->columns * board->rows) * sizeof *pixel;

    for (int swapped = 0; swapped < 2; ++swapped) {
        for (int i = 0; i < LATTICE; ++i) {
            for (int j = 0; j < LATTICE; ++j) {
                if (l->cell[i][j] < 0 || !board_read(s, l, board, i, j, swapped, work)) {
                    continue;
                }
                const double error = board_error(board, work);
                if (error < best) {
                    best = error;
                    memcpy(pixel, work, size);
                }
            }
        }
    }

    // a board bent by the lens is off by a part of a square, a wrong one by more
    const double square = hypot(pixel[2] - pixel[0], pixel[3] - pixel[1]);
    return best < 0.3 * square;
}

pl_status pl_board_find(const pl_image *image, const pl_board *board, double *pixel, pl_error *err)
{
    const int64_t n = (int64_t)image->width * image->height;
    const int corners = board->columns * board->rows;

    if (board->columns < 3 || board->rows < 3 || board->columns > LATTICE / 2 - 2 ||
        board->rows > LATTICE / 2 - 2) {
        return pl_fail(err, PL_BAD_INPUT,
                       "chessboard: %d x %d inner corners, expected 3 to %d in each direction",
                       board->columns, board->rows, LATTICE / 2 - 2);
    }

    float *across = PL_NEW_ARRAY(float, n), *I = PL_NEW_ARRAY(float, n);
    saddle *s = PL_NEW_ARRAY(saddle, CANDIDATES);
    lattice *l = PL_NEW(lattice);
    double *work = PL_NEW_ARRAY(double, 2 * corners);
    pl_status status = across && I && s && l && work ? PL_OK : pl_fail_memory(err, "chessboard");
    int count = 0;
    if (status == PL_OK && image->width > 2 * WINDOW + 2 && image->height > 2 * WINDOW + 2) {
        smooth_pass(image->gray, across, image->width, image->height, false);
        smooth_pass(across, I, image->width, image->height, true);
        count = saddles_find(I, image->width, image->height, s);
    }

    bool found = false;
    int most = 0;
    for (int seed = 0; status == PL_OK && !found && seed < count && seed < SEEDS; ++seed) {
        const int grown = lattice_grow(s, count, seed, l);
        most = grown > most ? grown : most;
        found = grown >= corners && lattice_board(s, l, board, work, pixel);
    }

    if (found) {
        board_orient(I, image->width, image->height, board, pixel);
    } else if (status == PL_OK) {
        status =
            pl_fail(err, PL_FAILED, "no board of %d x %d inner corners; %d corners seen, %d of them joined",
                    board->columns, board->rows, count, most);
    }

    void *const block[] = {across, I, s, l, work};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    return status;
}

// ---- dots
// 1 at the colour itself, 0 from `reach` on.
static double dot_weight(const pl_image *image, int64_t at, const double color[3], double reach)
{
    double far = 0;
    for (int i = 0; i < 3; ++i) {
        const double d = (image->color ? image->color[3 * at + i] : image->gray[at]) - color[i];
        far += d * d;
    }

    return fmax(0, 1 - sqrt(far) / reach);
}

static int dot_compare(const void *a, const void *b)
{
    const double x = ((const pl_dot *)a)->area, y = ((const pl_dot *)b)->area;
    return (x < y) - (x > y);
}

int pl_dots_find(const pl_image *image, const double color[3], double reach, int least, pl_dot *out, int room)
{
    const int w = image->width, h = image->height;
    const int64_t n = (int64_t)w * h;
    bool *seen = PL_NEW_ARRAY(bool, n);
    int32_t *queue = PL_NEW_ARRAY(int32_t, n);
    pl_dot *all = NULL;
    int32_t capacity = 0;
    int count = 0;

    for (int64_t start = 0; seen && queue && start < n; ++start) {
        if (seen[start] || !(dot_weight(image, start, color, reach) > 0)) {
            continue;
        }
        int64_t head = 0, tail = 0;
        double sum = 0, at[2] = {0};
        queue[tail++] = (int32_t)start;
        seen[start] = true;

        while (head < tail) {
            const int x = queue[head] % w, y = queue[head] / w;
            const double weight = dot_weight(image, queue[head++], color, reach);
            sum += weight;
            at[0] += weight * x;
            at[1] += weight * y;

            for (int k = 0; k < 9; ++k) {
                const int u = x + k % 3 - 1, v = y + k / 3 - 1;
                const int64_t next = (int64_t)v * w + u;
                if (u >= 0 && v >= 0 && u < w && v < h && !seen[next] &&
                    dot_weight(image, next, color, reach) > 0) {
                    seen[next] = true;
                    queue[tail++] = (int32_t)next;
                }
            }
        }

        if (tail >= least && pl_grow((void **)&all, &capacity, count + 1, sizeof *all)) {
            all[count++] = (pl_dot){.pixel = {at[0] / sum, at[1] / sum}, .area = (double)tail};
        }
    }

    if (count > 0) {
        qsort(all, (size_t)count, sizeof *all, dot_compare);
        memcpy(out, all, (size_t)(count < room ? count : room) * sizeof *out);
    }

    pl_free(all);
    pl_free(seen);
    pl_free(queue);

    return count;
}
