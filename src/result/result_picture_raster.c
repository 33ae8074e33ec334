// A z-buffer finer than the picture: triangles with interpolated normals, strokes with depth, soft shadows in
// hollows, outlines at jumps of depth. Deterministic: no random numbers.
#include "base/vec.h"
#include "result/result_picture.h"

bool pl_raster_begin(pl_raster *raster, int width, int height, int fine)
{
    *raster = (pl_raster){.width = width * fine, .height = height * fine, .fine = fine};
    const int64_t count = (int64_t)raster->width * raster->height;
    raster->depth = PL_NEW_ARRAY(float, count);
    raster->rgb = PL_NEW_ARRAY(uint8_t, 3 * count);
    if (!raster->depth || !raster->rgb) {
        pl_raster_end(raster);
        return false;
    }

    for (int64_t i = 0; i < count; ++i) {
        raster->depth[i] = -INFINITY;
    }

    return true;
}

void pl_raster_end(pl_raster *raster)
{
    pl_free(raster->depth);
    pl_free(raster->rgb);
    *raster = (pl_raster){0};
}

static uint8_t raster_byte(double v)
{
    return v <= 0 ? 0 : v >= 1 ? 255 : (uint8_t)(255 * v + 0.5);
}

// A key light over the left shoulder, a weak one from the right, sky above and floor below; a touch of gloss.
static void raster_shade(const double normal[3], const double base[3], uint8_t *out)
{
    static const double key[3] = {-0.40, 0.58, 0.71}, fill[3] = {0.77, 0.10, 0.63},
                        half[3] = {-0.216, 0.314, 0.924};
    double n[3] = {normal[0], normal[1], normal[2]};
    const double length = pl_norm3(n), sign = n[2] < 0 ? -1 : 1;

    for (int i = 0; i < 3; ++i) {
        n[i] = length > 0 ? sign * n[i] / length : i == 2;
    }

    const double k = fmax(0, pl_dot3(n, key)), f = fmax(0, pl_dot3(n, fill)), h = fmax(0, pl_dot3(n, half));
    const double light = 0.64 + 0.06 * n[1] + 0.37 * k + 0.17 * f, h2 = h * h, h4 = h2 * h2, h8 = h4 * h4;
    const double gloss = 0.10 * h8 * h8 * h8;
    for (int i = 0; i < 3; ++i) {
        out[i] = raster_byte(base[i] * light + gloss);
    }
}

static int raster_clamp(double v, int limit)
{
    return v <= 0 ? 0 : v >= limit ? limit : (int)v;
}

// Barycentric walk over the bounding box; the weights of a, b, c at a subpixel's centre are w0, w1, w2.
void pl_raster_triangle(pl_raster *raster, const pl_spot *a, const pl_spot *b, const pl_spot *c,
                        const double *rgb)
{
    const double area = (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
    if (!(fabs(area) > 1e-12)) {
        return;
    }

    const double inverse = 1 / area;
    const int x0 = raster_clamp(fmin(a->x, fmin(b->x, c->x)) - 0.5, raster->width);
    const int x1 = raster_clamp(fmax(a->x, fmax(b->x, c->x)) + 0.5, raster->width);
    const int y0 = raster_clamp(fmin(a->y, fmin(b->y, c->y)) - 0.5, raster->height);
    const int y1 = raster_clamp(fmax(a->y, fmax(b->y, c->y)) + 0.5, raster->height);

    for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) {
            const double px = x + 0.5, py = y + 0.5;
            const double w0 = ((b->x - px) * (c->y - py) - (b->y - py) * (c->x - px)) * inverse;
            const double w1 = ((c->x - px) * (a->y - py) - (c->y - py) * (a->x - px)) * inverse;
            const double w2 = 1 - w0 - w1, slack = -1e-9;
            if (w0 < slack || w1 < slack || w2 < slack) {
                continue;
            }
            const int64_t i = (int64_t)y * raster->width + x;
            const float z = (float)(w0 * a->z + w1 * b->z + w2 * c->z);
            if (z <= raster->depth[i] || w0 * a->beyond + w1 * b->beyond + w2 * c->beyond > 0) {
                continue;
            }
            double n[3], base[3];
            for (int k = 0; k < 3; ++k) {
                n[k] = w0 * a->normal[k] + w1 * b->normal[k] + w2 * c->normal[k];
                base[k] = rgb ? rgb[k] : 0;
            }

            if (!rgb) {
                pl_colour_map(w0 * a->value + w1 * b->value + w2 * c->value, base);
            }
            raster->depth[i] = z;
            raster_shade(n, base, raster->rgb + 3 * i);
        }
    }
}

void pl_raster_stroke(pl_raster *raster, const pl_spot *a, const pl_spot *b, double width, double lift,
                      const double rgb[3], double alpha, bool keep_depth)
{
    const double r = 0.5 * width, dx = b->x - a->x, dy = b->y - a->y, length2 = dx * dx + dy * dy;
    const int x0 = raster_clamp(fmin(a->x, b->x) - r, raster->width);
    const int x1 = raster_clamp(fmax(a->x, b->x) + r + 1, raster->width);
    const int y0 = raster_clamp(fmin(a->y, b->y) - r, raster->height);
    const int y1 = raster_clamp(fmax(a->y, b->y) + r + 1, raster->height);

    for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) {
            const double px = x + 0.5 - a->x, py = y + 0.5 - a->y;
            double t = length2 > 0 ? (px * dx + py * dy) / length2 : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            const double ex = px - t * dx, ey = py - t * dy;
            const int64_t i = (int64_t)y * raster->width + x;
            const float z = (float)(a->z + t * (b->z - a->z) + lift);
            if (ex * ex + ey * ey > r * r || z < raster->depth[i] ||
                a->beyond + t * (b->beyond - a->beyond) > 0) {
                continue;
            }

            // a stroke with depth of its own is a round wire
            const double across = (ex * ex + ey * ey) / (r * r),
                         shine = keep_depth ? 1 : 1.15 - 0.55 * across;
            for (int k = 0; k < 3; ++k) {
                uint8_t *to = raster->rgb + 3 * i + k;
                *to = raster_byte((1 - alpha) * *to / 255.0 + alpha * rgb[k] * shine);
            }

            if (!keep_depth) {
                raster->depth[i] = z;
            }
        }
    }
}

// ---- from subpixels to the picture

static float raster_depth(const pl_raster *r, int x, int y)
{
    x = x < 0 ? 0 : x >= r->width ? r->width - 1 : x;
    y = y < 0 ? 0 : y >= r->height ? r->height - 1 : y;
    return r->depth[(int64_t)y * r->width + x];
}

static double raster_near(double z, double centre, double reach)
{
    const double d = z - centre;
    return d > reach ? reach : d < -reach ? -reach : d;
}

// How deep a point sits in a hollow: pairs of opposite neighbours higher than it on average. Planes cancel,
// however they are tilted. Several radii on a spiral.
static double raster_hollow(const pl_raster *r, int x, int y, double scale, double reach)
{
    static const double turn[8][2] = {{1, 0}, {0.924, 0.383},  {0.707, 0.707},  {0.383, 0.924},
                                      {0, 1}, {-0.383, 0.924}, {-0.707, 0.707}, {-0.924, 0.383}};
    const double z = raster_depth(r, x, y);
    double sum = 0;

    for (int ring = 1; ring <= 4; ++ring) {
        const double radius = reach * ring / 4;
        for (int k = 0; k < 8; ++k) {
            const int dx = (int)lround(radius * scale * turn[k][0]),
                      dy = (int)lround(radius * scale * turn[k][1]);
            const double one = raster_near(raster_depth(r, x + dx, y + dy), z, 1.5 * radius);
            const double two = raster_near(raster_depth(r, x - dx, y - dy), z, 1.5 * radius);
            sum += fmax(0, 0.5 * (one + two)) / radius;
        }
    }

    return sum / 32;
}

// A dark line where the depth falls away: the subpixel is well in front of a neighbour.
static bool raster_outline(const pl_raster *r, int x, int y, double jump)
{
    const int step = r->fine > 1 ? r->fine - 1 : 1;
    const float z = raster_depth(r, x, y) - (float)jump;
    return raster_depth(r, x + step, y) < z || raster_depth(r, x - step, y) < z ||
           raster_depth(r, x, y + step) < z || raster_depth(r, x, y - step) < z;
}

// The ghost shows beside the body: a veil, and its lines.
static void raster_veil(const pl_raster *ghost, int x, int y, double jump, double colour[3])
{
    const int64_t i = (int64_t)y * ghost->width + x;
    if (!(ghost->depth[i] > -INFINITY)) {
        return;
    }

    const double line = raster_outline(ghost, x, y, jump) ? 0.55 : 0.30;
    for (int k = 0; k < 3; ++k) {
        colour[k] = (1 - line) * colour[k] + line * ghost->rgb[3 * i + k] / 255.0 * (line > 0.5 ? 0.6 : 1);
    }
}

void pl_raster_resolve(const pl_raster *raster, double scale, double reach, const pl_raster *ghost,
                       unsigned char *out, int stride)
{
    const int fine = raster->fine, width = raster->width / fine, height = raster->height / fine;
    const double jump = 0.25 * reach;

    for (int py = 0; py < height; ++py) {
        const double v = (double)py / height;
        const double back[3] = {1 - 0.050 * v, 1 - 0.040 * v, 1 - 0.028 * v};

        for (int px = 0; px < width; ++px) {
            double sum[3] = {0}, hollow = -1;
            for (int s = 0; s < fine * fine; ++s) {
                const int x = px * fine + s % fine, y = py * fine + s / fine;
                const int64_t i = (int64_t)y * raster->width + x;
                double colour[3] = {back[0], back[1], back[2]};

                if (raster->depth[i] > -INFINITY) {
                    if (hollow < 0) {
                        hollow = raster_hollow(raster, x, y, scale, reach);
                    }
                    const double dark =
                        fmax(0.35, 1 - 0.65 * hollow) * (raster_outline(raster, x, y, jump) ? 0.45 : 1);
                    for (int k = 0; k < 3; ++k) {
                        colour[k] = raster->rgb[3 * i + k] / 255.0 * dark;
                    }
                } else if (ghost) {
                    raster_veil(ghost, x, y, jump, colour);
                }
                for (int k = 0; k < 3; ++k) {
                    sum[k] += colour[k];
                }
            }

            for (int k = 0; k < 3; ++k) {
                out[(int64_t)py * stride + 4 * px + 2 - k] = raster_byte(sum[k] / (fine * fine));
            }
        }
    }
}
