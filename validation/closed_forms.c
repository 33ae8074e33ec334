// Closed forms: homogeneous stretch, inflated thick sphere and tube, elastica, full circle, short beam,
// weight, rigid turn and balance of forces.
#include "validate.h"

#define PI 3.14159265358979323846
#define E_BEAM 1.0 // MPa, of the beams below

// ---- homogeneous stretch of a compressible Mooney-Rivlin block
// dW/dl_i for principal stretches l, with I1 = sum l_i^2, I2 = I1-like of pairs, J = l1 l2 l3.
static double mooney_stress(const double l[3], double c10, double c01, double K, int i)
{
    const double J = l[0] * l[1] * l[2], I1 = l[0] * l[0] + l[1] * l[1] + l[2] * l[2];
    const double I2 = l[0] * l[0] * l[1] * l[1] + l[1] * l[1] * l[2] * l[2] + l[2] * l[2] * l[0] * l[0];
    const double a = pow(J, -2. / 3), b = a * a;
    return c10 * a * (2 * l[i] - 2. / 3 * I1 / l[i]) +
           c01 * b * (2 * l[i] * (I1 - l[i] * l[i]) - 4. / 3 * I2 / l[i]) + K * (J - 1) * J / l[i];
}

// The free stretches (those from `first` on, all alike) that carry no stress.
static void mooney_relax(double l[3], int first, double c10, double c01, double K)
{
    double low = 0.05, high = 3;
    for (int k = 0; k < 200; ++k) {
        for (int i = first; i < 3; ++i) {
            l[i] = 0.5 * (low + high);
        }
        if (mooney_stress(l, c10, c01, K, 2) > 0) {
            high = l[2];
        } else {
            low = l[2];
        }
    }
}

static void stretch_block(validate_table *t, double stretch, bool both)
{
    const double c10 = 0.119, c01 = 0.023, K = 5, a = 10;
    pl_statics_options options = pl_statics_options_default();

    options.force_tolerance = 1e-11;
    options.length_tolerance = 1e-9;
    validate_robot v;
    const double move = (stretch - 1) * a;
    if (!validate_open(&v, &options,
                       "pliant: 1\nname: block\n"
                       "mesh: {design: {kind: beam, length: %g, width: %g, height: %g}, size: 5}\n"
                       "surfaces:\n"
                       "  left: {plane: {point: [0, %g, 0], normal: [0, 1, 0]}}\n"
                       "  right: {plane: {point: [0, %g, 0], normal: [0, 1, 0]}}\n"
                       "materials: {rubber: {model: mooney_rivlin, c10: %g, c01: %g, bulk: %g}}\n"
                       "regions: {body: rubber}\n"
                       "fixed:\n"
                       "  - {surface: base, axes: [x]}\n  - {surface: tip, axes: [x], move: [%.17g, 0, 0]}\n"
                       "  - {surface: left, axes: [y]}\n  - {surface: bottom, axes: [z]}\n"
                       "%s%.17g%s"
                       "markers: {tip: {surface: tip}, top: {surface: top}}\n",
                       a, a, a, -a / 2, a / 2, c10, c01, K, move,
                       both ? "  - {surface: right, axes: [y], move: [0, " : "#", both ? move : 0.,
                       both ? ", 0]}\n" : "\n")) {
        validate_verdict(t, false);
        return;
    }

    double l[3] = {stretch, stretch, 1};
    mooney_relax(l, both ? 2 : 1, c10, c01, K);
    pl_reaction reaction[5];
    char name[60];
    const char *what = both ? "Mooney-Rivlin biaxial" : "Mooney-Rivlin uniaxial";
    if (validate_solve(t, &v, NULL) && pl_statics_reactions(v.statics, v.state, reaction) == PL_OK) {
        snprintf(name, sizeof name, "%s %.2f: stress MPa", what, stretch);
        validate_row(t, name, mooney_stress(l, c10, c01, K, 0), reaction[1].force[0] / (a * a), 1e-8);
        snprintf(name, sizeof name, "%s %.2f: free stretch", what, stretch);
        validate_row(t, name, l[2], 1 + validate_tip(&v, 1, 2) / a, 1e-8);
    }

    validate_close(&v);
}

// ---- thick sphere and tube: p = integral of W'(l) / (l^n - 1) dl from the outer to the inner hoop stretch,
// n = 3 with W = C10 (2 l^2 + l^-4 - 3) + C01 (l^4 + 2 l^-2 - 3), n = 2 with W = (C10 + C01) (l^2 + l^-2 - 2)
static double inflate_slope(double l, int n, double c10, double c01)
{
    if (n == 3) {
        return (c10 * (4 * l - 4 * pow(l, -5)) + c01 * (4 * l * l * l - 4 * pow(l, -3))) / (l * l * l - 1);
    }
    return (c10 + c01) * (2 * l - 2 * pow(l, -3)) / (l * l - 1);
}

static double inflate_pressure(double ratio, double a, double b, int n, double c10, double c01)
{
    const double inner = pow(ratio, 1. / n), outer = pow(1 + (ratio - 1) * pow(a / b, n), 1. / n);
    const int steps = 400;
    double sum = 0;

    for (int i = 0; i <= steps; ++i) {
        const double l = outer + (inner - outer) * i / steps;
        sum += inflate_slope(l, n, c10, c01) * (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2);
    }

    return sum * (inner - outer) / steps / 3;
}

static bool inflate_open(validate_robot *v, bool sphere, double wall, double size, double c10, double c01)
{
    return validate_open(v, NULL,
                         "pliant: 1\nname: round\n"
                         "mesh: {design: {kind: %s, inner_radius: 10, wall: %g%s}, size: %g}\n"
                         "materials: {rubber: {model: mooney_rivlin, c10: %g, c01: %g, poisson: 0.4995}}\n"
                         "regions: {%s: rubber}\n"
                         "fixed:\n  - {surface: sx, axes: [x]}\n  - {surface: sy, axes: [y]}\n%s"
                         "actuators: [{name: air, kind: chamber, surface: cavity, drive: volume_ratio}]\n",
                         sphere ? "sphere_shell" : "tube", wall, sphere ? "" : ", length: 3", size, c10, c01,
                         sphere ? "shell" : "tube",
                         sphere ? "  - {surface: sz, axes: [z]}\n"
                                : "  - {surface: bottom, axes: [z]}\n  - {surface: top, axes: [z]}\n");
}

static void inflate(validate_table *t, bool sphere, double c01, const double *ratio, int count)
{
    const double c10 = 0.2, wall = 5;
    validate_robot v;

    if (!inflate_open(&v, sphere, wall, 2.5, c10, c01)) {
        validate_verdict(t, false);
        return;
    }

    double highest = 0, last = 0;
    for (int i = 0; i < count; ++i) {
        if (!validate_solve(t, &v, &ratio[i])) {
            break;
        }
        const double p = inflate_pressure(ratio[i], 10, 10 + wall, sphere ? 3 : 2, c10, c01);
        last = pl_statics_actuator(v.statics, v.state, 0).effort;
        highest = fmax(highest, last);
        char name[60];
        snprintf(name, sizeof name, "%s, c01 %g: V/V0 %.2f, p kPa", sphere ? "sphere" : "tube", c01,
                 ratio[i]);
        validate_row(t, name, 1e3 * p, 1e3 * last, 0.01);
    }

    if (ratio[count - 1] >= 8) {
        printf("  (%d elements) the pressure rose to %.3f kPa and fell to %.3f: the maximum is passed\n",
               (int)validate_elements(&v), 1e3 * highest, 1e3 * last);
        validate_absolute(t, "sphere: pressure falls at the end (1: yes)", 1, last < 0.99 * highest, 0);
    }

    validate_close(&v);
}

// ---- slender beams
typedef struct beam_case {
    double length, height, size; // square section
    double poisson, density;     // t/mm^3
    double force, moment;        // N, N mm at the tip: along z, about -y (bends upwards)
    bool plane; // its sides stay in their planes: far past where it would fall sideways
} beam_case;

static bool beam_open(validate_robot *v, const beam_case *b)
{
    return validate_open(v, NULL,
                         "pliant: 1\nname: slender\n"
                         "mesh: {design: {kind: beam, length: %g, width: %g, height: %g}, size: %g}\n"
                         "materials: {m: {model: linear, young: %g, poisson: %g, density: %.9g kg/m^3}}\n"
                         "regions: {body: m}\nsurfaces:\n"
                         "  side: {plane: {point: [0, %g, 0], normal: [0, 1, 0]}}\n"
                         "fixed:\n  - {surface: base}\n%s"
                         "markers: {tip: {surface: tip}}\n"
                         "loads:\n  gravity: [0, 0, %s]\n"
                         "  forces: [{marker: tip, force: [0, 0, %.12g], moment: [0, %.12g, 0]}]\n",
                         b->length, b->height, b->height, b->size, E_BEAM, b->poisson,
                         fmax(b->density, 1e-12) * 1e12, -b->height / 2,
                         b->plane ? "  - {surface: side, axes: [y]}\n" : "",
                         b->density > 0 ? "-9.81 m/s^2" : "0 m/s^2", b->force, -b->moment);
}

static double beam_inertia(const beam_case *b)
{
    return pow(b->height, 4) / 12;
}

// Elastica under a dead transverse tip load, k = P L^2 / EI: theta'' = -k cos theta, theta(0) = 0, theta'(1)
// = 0, by shooting on theta'(0) with a fourth-order Runge-Kutta. Returns theta'(1); tip[] gets x and z over
// L.
static double elastica_shoot(double k, double start, double tip[2])
{
    const int steps = 4000;
    const double h = 1. / steps;
    double theta = 0, slope = start;

    tip[0] = tip[1] = 0;
    for (int i = 0; i < steps; ++i) {
        const double k1 = slope, m1 = -k * cos(theta);
        const double k2 = slope + 0.5 * h * m1, m2 = -k * cos(theta + 0.5 * h * k1);
        const double k3 = slope + 0.5 * h * m2, m3 = -k * cos(theta + 0.5 * h * k2);
        const double k4 = slope + h * m3, m4 = -k * cos(theta + h * k3);
        const double middle = theta + 0.5 * h * slope + 0.125 * h * h * m1;
        const double end = theta + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6;
        tip[0] += h * (cos(theta) + 4 * cos(middle) + cos(end)) / 6;
        tip[1] += h * (sin(theta) + 4 * sin(middle) + sin(end)) / 6;
        theta = end;
        slope += h * (m1 + 2 * m2 + 2 * m3 + m4) / 6;
    }

    return slope;
}

static void elastica(double k, double tip[2])
{
    double low = 0, high = k;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        if (elastica_shoot(k, middle, tip) > 0) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

static void elastica_rows(validate_table *t)
{
    static const double k[] = {0.5, 2, 5, 10};
    for (int i = 0; i < 4; ++i) {
        beam_case b = {.length = 100, .height = 2, .size = 2, .plane = true};
        b.force = k[i] * E_BEAM * beam_inertia(&b) / (b.length * b.length);
        validate_robot v;
        double tip[2];
        elastica(k[i], tip);
        if (!beam_open(&v, &b)) {
            validate_verdict(t, false);
            return;
        }
        if (validate_solve(t, &v, NULL)) {
            const double x = validate_tip(&v, 0, 0) / 100 + 1, z = validate_tip(&v, 0, 2) / 100;
            const double moved = hypot(1 - tip[0], tip[1]);
            char name[60];
            snprintf(name, sizeof name, "elastica, P = %g EI/L^2: tip z / L", k[i]);
            validate_row(t, name, tip[1], z, 0.01);
            snprintf(name, sizeof name, "elastica, P = %g EI/L^2: 1 - x / L", k[i]);
            validate_row(t, name, 1 - tip[0], 1 - x, 0.01);
            snprintf(name, sizeof name, "elastica, P = %g EI/L^2: miss over displacement", k[i]);
            validate_absolute(t, name, 0, hypot(x - tip[0], z - tip[1]) / moved, 0.01);
        }
        validate_close(&v);
    }
}

// A tip moment of 2 pi c EI / L bends a straight beam into c of a circle. Without the plane support a square
// beam falls sideways at a quarter of it (pi / 2 sqrt(EI GJ) / L).
static void circle_rows(validate_table *t)
{
    static const double part[] = {0.25, 0.5, 1};
    for (int i = 0; i < 3; ++i) {
        beam_case b = {.length = 100, .height = 2, .size = 2, .plane = true};
        b.moment = 2 * PI * part[i] * E_BEAM * beam_inertia(&b) / b.length;
        validate_robot v;
        if (!beam_open(&v, &b)) {
            validate_verdict(t, false);
            return;
        }
        const double angle = 2 * PI * part[i];
        char name[60];
        if (validate_solve(t, &v, NULL)) {
            snprintf(name, sizeof name, "%g of a circle: tip x / L", part[i]);
            validate_absolute(t, name, sin(angle) / angle, 1 + validate_tip(&v, 0, 0) / 100, 0.01);
            snprintf(name, sizeof name, "%g of a circle: tip z / L", part[i]);
            validate_absolute(t, name, (1 - cos(angle)) / angle, validate_tip(&v, 0, 2) / 100, 0.01);
        }
        validate_close(&v);
    }
}

// Timoshenko's beam: w = P L^3 / 3 EI + P L / (5/6 G A); own weight q: q L^4 / 8 EI + q L^2 / (2 * 5/6 G A).
static void timoshenko_row(validate_table *t, const char *name, const beam_case *b, double allowed)
{
    validate_robot v;
    if (!beam_open(&v, b)) {
        validate_verdict(t, false);
        return;
    }

    const double L = b->length, A = b->height * b->height, EI = E_BEAM * beam_inertia(b);
    const double GA = E_BEAM / (2 * (1 + b->poisson)) * A * 10 * (1 + b->poisson) / (12 + 11 * b->poisson);
    const double q = b->density * 9810 * A;
    const double w =
        b->force * (L * L * L / (3 * EI) + L / GA) - q * (L * L * L * L / (8 * EI) + L * L / (2 * GA));
    pl_reaction reaction;
    if (validate_solve(t, &v, NULL) && pl_statics_reactions(v.statics, v.state, &reaction) == PL_OK) {
        validate_row(t, name, w, validate_tip(&v, 0, 2), allowed);
        validate_row(t, "  reaction balances the load: force N", q * L - b->force, reaction.force[2], 1e-5);
        // the arms are those of the deformed shape; at these loads they differ by the slope squared
        validate_row(t, "  and moment N mm", -q * L * L / 2 + b->force * L, reaction.moment[1], 2e-3);
    }

    validate_close(&v);
}

static void timoshenko_rows(validate_table *t)
{
    timoshenko_row(t, "short beam, L/h 3, tip load: drop mm",
                   &(beam_case){.length = 30, .height = 10, .size = 2.5, .force = 0.02}, 0.01);
    timoshenko_row(t, "short beam, L/h 2, tip load: drop mm",
                   &(beam_case){.length = 20, .height = 10, .size = 2.5, .force = 0.02}, 0.01);
    timoshenko_row(t, "own weight, L/h 10: drop mm",
                   &(beam_case){.length = 100, .height = 10, .size = 5, .density = 2e-12}, 0.01);
    timoshenko_row(t, "own weight, L/h 40, poisson 0.49: drop mm",
                   &(beam_case){.length = 400, .height = 10, .size = 5, .poisson = 0.49, .density = 1e-12},
                   0.01);
}

// A clamp that turns and moves a body carries it along without straining it.
static void rigid_rows(validate_table *t)
{
    validate_robot v;
    if (!validate_open(
            &v, NULL,
            "pliant: 1\nname: turned\nmesh: {design: {kind: beam, length: 40}, size: 12}\n"
            "materials: {m: {model: neo_hookean, c10: 0.1, poisson: 0.49}}\nregions: {body: m}\n"
            "fixed: [{surface: base, rotate: {axis: [0, 1, 0], angle: -120 deg, about: [0, 0, 0]}, "
            "move: [3, 4, 5]}]\nmarkers: {tip: {surface: tip}}\n")) {
        validate_verdict(t, false);
        return;
    }

    if (validate_solve(t, &v, NULL)) {
        const double want[3] = {40 * cos(2 * PI / 3) + 3, 4, 40 * sin(2 * PI / 3) + 5};
        const pl_marker_result tip = pl_statics_marker(v.statics, v.state, 0);
        validate_row(t, "rigid turn by 120 degrees: tip x mm", want[0], tip.position[0], 1e-6);
        validate_row(t, "rigid turn by 120 degrees: tip z mm", want[2], tip.position[2], 1e-6);
        validate_absolute(t, "rigid turn by 120 degrees: energy mJ", 0, v.report.energy, 1e-9);
    }

    validate_close(&v);
}

int main(void)
{
    static const double ratio[] = {1.2, 1.5, 2, 3, 4}, far[] = {1.2, 1.5, 2, 3, 4, 5, 6, 7, 8};
    validate_table t = {0, 0};

    validate_head("closed forms");
    stretch_block(&t, 0.7, false);
    stretch_block(&t, 1.5, false);
    stretch_block(&t, 2.5, false);
    stretch_block(&t, 1.5, true);
    rigid_rows(&t);
    timoshenko_rows(&t);
    elastica_rows(&t);
    circle_rows(&t);
    inflate(&t, false, 0, ratio, 5);
    inflate(&t, false, 0.04, ratio, 5);
    inflate(&t, true, 0.04, ratio, 5);
    inflate(&t, true, 0, far, 9);

    return validate_end(&t);
}
