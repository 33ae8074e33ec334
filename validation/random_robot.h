// Random robots: a design with its sizes scaled, materials from the library or of random constants, drives,
// gravity and tip forces, commands within their ranges. Everything follows from one seed.
#ifndef PL_RANDOM_ROBOT_H
#define PL_RANDOM_ROBOT_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "document/document.h"
#include "mesh/mesh.h"
#include "meshing/meshing.h"
#include "pliant/result.h"
#include "pliant/meshing.h"
#include "statics/statics.h"

#define RANDOM_COMMANDS 4

typedef struct random_robot {
    uint64_t seed;
    const char *design;
    char yaml[6000];
    int redrawn;                      // sizes that contradict each other were thrown away this often
    double size[12];                  // the design's parameters
    double mu;                        // MPa, of the (softer) material
    double fraction[RANDOM_COMMANDS]; // of the range; NAN: idle
    pl_robot *robot;
} random_robot;

typedef enum random_verdict { RANDOM_GOOD, RANDOM_NOT_SOLVED, RANDOM_WRONG, RANDOM_REFUSED } random_verdict;

typedef struct random_result {
    random_verdict verdict;
    pl_outcome outcome;
    int32_t elements;
    double seconds, relative;
    pl_solve_report report;
    char words[400];
} random_result;

// ---- drawing
typedef struct random_pen {
    pl_random *random;
    random_robot *robot;
    size_t length;
} random_pen;

static inline void pen_write(random_pen *pen, const char *format, ...) PL_PRINTF(2, 3);
static inline void pen_write(random_pen *pen, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const size_t room = sizeof pen->robot->yaml - pen->length;
    const int n = vsnprintf(pen->robot->yaml + pen->length, room, format, args);
    va_end(args);
    pen->length += n > 0 && (size_t)n < room ? (size_t)n : 0;
}

static inline double pen_log(random_pen *pen, double low, double high)
{
    return exp(pl_random_uniform(pen->random, log(low), log(high)));
}

static inline bool pen_chance(random_pen *pen, double probability)
{
    return pl_random_uniform(pen->random, 0, 1) < probability;
}

static inline int pen_pick(random_pen *pen, int count)
{
    return (int)(pl_random_next(pen->random) % (uint64_t)count);
}

// A soft material: one of the library, or random constants of a random law. Returns its shear modulus.
static inline double pen_material(random_pen *pen, const char *name, double low, double high)
{
    const double mu = pen_log(pen, low, high), poisson = pl_random_uniform(pen->random, 0.45, 0.499);
    const char *density = ", density: 1070 kg/m^3";

    switch (pen_pick(pen, 6)) {
    case 0:
    case 1: {
        const pl_material_entry *entry = pl_material_library_at(pen_pick(pen, pl_material_library_count()));
        double entry_mu, kappa;
        pl_material_moduli(&entry->material, &entry_mu, &kappa);
        pen_write(pen, "  %s: {use: %s}\n", name, entry->name);
        return entry_mu;
    }
    case 2:
        pen_write(pen, "  %s: {model: mooney_rivlin, c10: %.6g, c01: %.6g, poisson: %.4f%s}\n", name,
                  0.4 * mu, 0.1 * mu, poisson, density);
        return mu;
    case 3:
        pen_write(pen, "  %s: {model: yeoh, c10: %.6g, c20: %.6g, poisson: %.4f%s}\n", name, 0.5 * mu,
                  0.03 * mu, poisson, density);
        return mu;
    case 4:
        pen_write(pen, "  %s: {model: linear, young: %.6g, poisson: %.4f%s}\n", name, 2 * mu * (1 + poisson),
                  poisson, density);
        return mu;
    default:
        pen_write(pen, "  %s: {model: neo_hookean, c10: %.6g, poisson: %.4f%s}\n", name, 0.5 * mu, poisson,
                  density);
        return mu;
    }
}

// Shorter bodies with thicker walls than the defaults, again for fewer elements.
static inline double pen_share(const char *kind, const char *parameter)
{
    const bool trunk = strcmp(kind, "three_chamber") == 0 || strcmp(kind, "segment") == 0;
    if (strcmp(kind, "bending_finger") == 0 && strcmp(parameter, "length") == 0) {
        return 0.4;
    }
    return !trunk                                       ? 1
           : strcmp(parameter, "height") == 0           ? 0.6
           : strcmp(parameter, "chamber_diameter") == 0 ? 0.75
                                                        : 1;
}

// The design's sizes, scaled together and one by one around their defaults; counts get smaller, so that about
// a thousand elements suffice.
static inline void pen_design(random_pen *pen, const pl_design *d, double *size)
{
    const double scale = pen_log(pen, 0.5, 2);
    pen_write(pen, "pliant: 1\nname: random\nmesh:\n  design:\n    kind: %s\n", d->kind);
    for (int i = 0; i < d->parameter_count; ++i) {
        const pl_design_parameter *p = &d->parameter[i];
        double value = p->value * scale * pen_log(pen, 0.85, 1.18);
        if (p->whole) {
            value = p->value > 1 ? 1 + pen_pick(pen, 4)
                                 : 0; // whole spheres and tubes: only they enclose a volume
        }
        value = fmin(fmax(value, p->low), p->high);
        value *= pen_share(d->kind, p->name);
        size[i] = value;
        pen_write(pen, "    %s: %.6g\n", p->name, value);
    }
}

// ---- what differs from design to design
static inline void pen_chambers(random_pen *pen, int count, const char *const *surface, double pressure,
                                double ratio, double volume)
{
    pen_write(pen, "actuators:\n");
    for (int i = 0; i < count; ++i) {
        pen_write(pen, "  - {name: air%d, kind: chamber, surface: %s, ", i, surface[i]);
        switch (pen_pick(pen, 3)) {
        case 0:
            pen_write(pen, "drive: pressure, range: [0 kPa, %.6g kPa]}\n", 1000 * pressure);
            break;
        case 1:
            pen_write(pen, "drive: volume_ratio, range: [1, %.6g]}\n", ratio);
            break;
        default:
            pen_write(pen, "drive: syringe, range: [0, %.6g], line_volume: %.6g}\n", ratio * volume - volume,
                      0.05 * volume);
            break;
        }
    }
}

// A cable at height z and side y along the body, with guides at both rims of each notch (of `notch` mm width
// at its height), as the design spaces them.
static inline void pen_cable(random_pen *pen, const char *name, double length, int knuckles, double notch,
                             double y, double z, double radius, double shortening, double tension)
{
    pen_write(pen, "  - {name: %s, kind: cable, radius: %.6g, through: [[0, %.6g, %.6g]", name, radius, y, z);
    for (int k = 1; k <= knuckles; ++k) {
        const double at = length * k / (knuckles + 1), half = 0.5 * notch + 0.02 * length;
        pen_write(pen, ", [%.6g, %.6g, %.6g], [%.6g, %.6g, %.6g]", at - half, y, z, at + half, y, z);
    }

    pen_write(pen, ", [%.6g, %.6g, %.6g]", 0.97 * length, y, z);
    switch (pen_pick(pen, 3)) {
    case 0:
        pen_write(pen, "], drive: tension, range: [0, %.6g]}\n", tension);
        break;
    case 1:
        pen_write(pen, "], drive: length_ratio, range: [%.6g, 1]}\n", 1 - shortening / (0.97 * length));
        break;
    default:
        pen_write(pen, "], drive: shortening, range: [0, %.6g]}\n", shortening);
        break;
    }
}

static inline double pen_volume(const pl_design *d, const double *size, const char *name)
{
    pl_source_parameter p[12];
    for (int i = 0; i < d->parameter_count; ++i) {
        p[i] = (pl_source_parameter){d->parameter[i].name, size[i], 0};
    }
    return pl_design_volume(d->kind, p, d->parameter_count, name);
}

static inline void pen_loads(random_pen *pen, const char *tip, double area, double mu)
{
    const bool weight = pen_chance(pen, 0.3), force = tip && pen_chance(pen, 0.3);
    if (tip) {
        pen_write(pen, "markers:\n  tip: {surface: %s}\n", tip);
    }
    if (weight || force) {
        pen_write(pen, "loads:\n");
    }

    if (weight) {
        static const char *const travel[] = {"[0, 0, -9.81 m/s^2]", "[0, 0, 9.81 m/s^2]", "[0, 9.81 m/s^2, 0]",
                                          "[-9.81 m/s^2, 0, 0]"};
        pen_write(pen, "  gravity: %s\n", travel[pen_pick(pen, 4)]);
    }

    if (force) {
        const double f = 0.01 * mu * area;
        pen_write(pen, "  forces: [{marker: tip, force: [%.6g, %.6g, %.6g]}]\n",
                  pl_random_uniform(pen->random, -f, f), pl_random_uniform(pen->random, -f, f),
                  pl_random_uniform(pen->random, -f, f));
    }
}

static inline void pen_finish_bending(random_pen *pen, const pl_design *d, const double *size)
{
    static const char *const cavity[] = {"cavity"};

    // [length width height modules slot wall side top channel channel layer]
    pen_write(pen, "  size: %.6g\nmaterials:\n", 4 * fmax(size[5], size[6]));
    pen->robot->mu = pen_material(pen, "soft", 0.05, 0.5);
    pen_write(pen, "  stiff: {model: linear, young: %.6g, poisson: 0.4, density: 1100 kg/m^3}\n",
              pen->robot->mu * pen_log(pen, 20, 150));
    pen_write(pen, "regions: {skin: soft, layer: stiff}\nfixed: [{surface: base}]\n");
    pen_chambers(pen, 1, cavity, 0.25 * pen->robot->mu, 1.6, pen_volume(d, size, "cavity"));
    pen_loads(pen, "tip", size[1] * size[2], pen->robot->mu);
}

static inline void pen_finish_cable(random_pen *pen, const double *size)
{
    // [length width height knuckles notch_width notch_depth notch_flat]
    pen_write(pen, "  size: %.6g\nmaterials:\n", 0.3 * size[2]);
    const double mu = pen->robot->mu = pen_material(pen, "soft", 0.05, 0.5);
    pen_write(pen, "regions: {body: soft}\nfixed: [{surface: base}]\nactuators:\n");

    // what bends each hinge of thickness t by 0.6 rad: T 0.8 h = 3 mu w t^3 / 12 / notch width * 0.6
    const double hinge = size[2] - size[5], bend = 0.19 * mu * size[1] * pow(hinge, 3) / (size[4] * size[2]);
    const double back = 0.1 * mu * size[1] * hinge, radius = 0.12 * size[2];
    const int n = (int)size[3];
    pen_cable(pen, "flexor", size[0], n, size[4], 0, 0.16 * size[2], radius, 0.13 * size[0], bend);
    pen_cable(pen, "left", size[0], n, size[4], 0.3 * size[1], 0.84 * size[2], radius, 0.06 * size[0], back);
    pen_cable(pen, "right", size[0], n, size[4], -0.3 * size[1], 0.84 * size[2], radius, 0.06 * size[0],
              back);
    pen_loads(pen, "tip", 0.5 * size[1] * hinge, mu);
}

static inline void pen_finish_trunk(random_pen *pen, const pl_design *d, const double *size, bool round)
{
    static const char *const chamber[] = {"chamber1", "chamber2", "chamber3"};

    // [width height chamber_diameter chamber_offset cap]
    pen_write(pen, "  size: %.6g\nmaterials:\n", (round ? 0.3 : 0.28) * size[0]);
    pen->robot->mu = pen_material(pen, "soft", 0.05, 0.5);
    pen_write(pen, "regions: {body: soft}\nfixed: [{surface: base}]\n");

    // the designs' own ranges, less where the walls are thinner than theirs
    const double wall = 0.5 * size[0] - size[3] - 0.5 * size[2],
                 thin = fmax(wall, 0.01 * size[0]) / (round ? 0.286 : 0.25) / size[2];
    pen_chambers(pen, 3, chamber, (round ? 0.4 : 0.2) * fmin(1, thin) * pen->robot->mu, 1 + fmin(1, thin),
                 pen_volume(d, size, "chamber1"));
    pen_loads(pen, "tip", size[0] * size[0], pen->robot->mu);
}

static inline void pen_finish_specimen(random_pen *pen, const double *size)
{
    // [soft_length stiff_length width height]
    pen_write(pen, "  size: %.6g\nmaterials:\n", 0.4 * fmin(size[2], size[3]));
    pen->robot->mu = pen_material(pen, "soft", 0.05, 0.5);
    pen_material(pen, "stiff", 0.1, 2);
    const double pull = pl_random_uniform(pen->random, -0.08, 0.7) * (size[0] + size[1]);
    pen_write(pen, "regions: {soft: soft, stiff: stiff}\nfixed:\n  - {surface: base}\n");
    pen_write(
        pen,
        "  - {surface: tip, move: [%.6g, 0, 0], rotate: {axis: [1, 0, 0], angle: %.6g, about: [0, 0, 0]}}\n",
        pull, pl_random_uniform(pen->random, 0, 1.5));
}

static inline void pen_finish_beam(random_pen *pen, const double *size)
{
    // [length width height]
    pen_write(pen, "  size: %.6g\nmaterials:\n", 0.3 * fmin(size[1], size[2]));
    const double mu = pen->robot->mu = pen_material(pen, "soft", 0.05, 0.5);
    pen_write(pen, "regions: {body: soft}\nfixed: [{surface: base}]\nactuators:\n");
    pen_cable(pen, "tendon", size[0], 3, 0.1 * size[0], 0, 0.36 * size[2], 0.13 * size[2], 0.12 * size[0],
              0.1 * mu * size[1] * size[2]);
    pen_loads(pen, "tip", size[1] * size[2], mu);
}

static inline void pen_finish_round(random_pen *pen, const pl_design *d, const double *size, bool tube)
{
    static const char *const cavity[] = {"cavity"};

    // sphere [inner_radius wall octant], tube [inner_radius wall length quarter]
    pen_write(pen, "  size: %.6g\nmaterials:\n", 0.9 * size[1]);
    pen->robot->mu = pen_material(pen, "soft", 0.05, 0.5);
    pen_write(pen,
              "regions: {%s: soft}\nfixed:\n  - {surface: sx, axes: [x]}\n  - {surface: sy, axes: [y]}\n",
              tube ? "tube" : "shell");
    pen_write(pen, tube ? "  - {surface: bottom, axes: [z]}\n  - {surface: top, axes: [z]}\n"
                        : "  - {surface: sz, axes: [z]}\n");

    // below the pressure maximum of a thin wall
    const double wall = size[1] / size[0];
    pen_chambers(pen, 1, cavity, (tube ? 0.4 : 0.6) * pen->robot->mu * wall, tube ? 2.5 : 4,
                 pen_volume(d, size, "cavity"));
}

static inline bool pen_robot(random_pen *pen)
{
    random_robot *r = pen->robot;

    // the designs whose rest of the file is drawn below; the arm and the crawler are not among them
    static const char *const kinds[] = {"bending_finger", "cable_finger", "three_chamber", "segment",
                                        "specimen",       "beam",         "sphere_shell",  "tube"};
    const pl_design *d = pl_design_find(kinds[pen_pick(pen, PL_COUNT(kinds))]);

    pen->length = 0;
    r->design = d->kind;
    pen_design(pen, d, r->size);
    if (strcmp(d->kind, "bending_finger") == 0) {
        pen_finish_bending(pen, d, r->size);
    } else if (strcmp(d->kind, "cable_finger") == 0) {
        pen_finish_cable(pen, r->size);
    } else if (strcmp(d->kind, "three_chamber") == 0 || strcmp(d->kind, "segment") == 0) {
        pen_finish_trunk(pen, d, r->size, strcmp(d->kind, "segment") == 0);
    } else if (strcmp(d->kind, "specimen") == 0) {
        pen_finish_specimen(pen, r->size);
    } else if (strcmp(d->kind, "beam") == 0) {
        pen_finish_beam(pen, r->size);
    } else {
        pen_finish_round(pen, d, r->size, strcmp(d->kind, "tube") == 0);
    }

    for (int c = 0; c < RANDOM_COMMANDS; ++c) {
        r->fraction[c] = pen_chance(pen, 0.15) ? NAN : pl_random_uniform(pen->random, 0, 1);
    }

    return pen->length > 0;
}

// Draws until the sizes fit together, at most 30 times. The robot is the caller's.
static inline pl_status random_robot_create(uint64_t seed, random_robot *r, pl_error *err)
{
    pl_random random;
    pl_random_seed(&random, seed);
    *r = (random_robot){.seed = seed};
    random_pen pen = {&random, r, 0};
    pl_status status = PL_BAD_INPUT;
    const pl_load_options load = {.mesher = pl_meshing_mesher(), .no_cache = true};
    for (int i = 0; i < 30 && status == PL_BAD_INPUT; ++i) {
        if (!pen_robot(&pen)) {
            return pl_fail(err, PL_FAILED, "the random robot's text does not fit");
        }
        status = pl_robot_load_text(r->yaml, pen.length, "random.yaml", &load, &r->robot, NULL, err);
        // only sizes that contradict each other may be drawn again; every other refusal is a finding
        if (status == PL_BAD_INPUT && !strstr(err->text, "design ")) {
            return PL_FAILED;
        }
        r->redrawn += status == PL_BAD_INPUT;
    }

    return status;
}

// ---- solving
static inline void random_robot_run(random_robot *r, random_result *out)
{
    pl_error err = {0};
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    double command[RANDOM_COMMANDS] = {0}, residual = 0, largest = 0;
    bool inverted = false;

    *out = (random_result){.verdict = RANDOM_REFUSED};
    const double started = pl_seconds();
    pl_statics_options options = pl_statics_options_default();
    const int count = pl_robot_command_count(r->robot);
    const pl_mesh *mesh = pl_robot_mesh(r->robot);
    out->elements = pl_mesh_get(mesh).element_count;

    // a body without load has no force to compare with: then that of a strain of 1e-6 on one element
    const double h = cbrt(pl_mesh_region_volume(mesh, -1) / out->elements), least = 1e-6 * r->mu * h * h;
    for (int c = 0; c < count && c < RANDOM_COMMANDS; ++c) {
        const pl_command_info info = pl_robot_command(r->robot, c);
        command[c] = info.range[0] + r->fraction[c] * (info.range[1] - info.range[0]);
    }

    if (pl_statics_create(r->robot, &options, &statics, &err) == PL_OK &&
        pl_state_create(r->robot, &state, &err) == PL_OK &&
        pl_statics_solve(statics, state, command, &out->report, &err) == PL_OK &&
        pl_statics_check(statics, state, &residual, &largest, &inverted, &err) == PL_OK) {
        out->outcome = out->report.outcome;
        out->relative = residual / fmax(largest, least);
        out->verdict = out->outcome != PL_SOLVED ? RANDOM_NOT_SOLVED
                       : out->relative > 1e-5 || inverted || out->report.constraint_error > 1e-9
                           ? RANDOM_WRONG
                           : RANDOM_GOOD;
    }

    snprintf(out->words, sizeof out->words, "%.390s",
             out->verdict == RANDOM_REFUSED ? err.text : out->report.message);
    if (out->verdict == RANDOM_WRONG) {
        snprintf(out->words, sizeof out->words,
                 "called solved with residual %.3g of %.3g N, constraint error %.3g%s", residual, largest,
                 out->report.constraint_error, inverted ? ", inverted" : "");
    }

    out->seconds = pl_seconds() - started;
    pl_state_destroy(state);
    pl_statics_destroy(statics);
}

#endif
