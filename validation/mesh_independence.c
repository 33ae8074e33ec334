// Does the answer depend on the mesh? The tip of the bending finger and of the cable finger on three
// refinements and on a mesh graded along the finger, with the observed order; and what the plain element
// loses to locking at 4 mm edges.
#include <unistd.h>
#include "graded_mesh.h"
#include "validate.h"

typedef struct study {
    const char *name, *kind, *rest; // the design; what follows the mesh block in the robot file
    const char *surfaces;           // the same names for a mesh from a file
    double length;                  // mm, of the finger
    double size[3];                 // coarse to fine
    double command;
} study;

static const char finger_rest[] =
    "materials:\n  silicone: {model: neo_hookean, c10: 0.12, poisson: 0.49}\n"
    "  fabric: {model: linear, young: 30, poisson: 0.4}\n"
    "regions: {skin: silicone, layer: fabric}\nfixed: [{surface: base}]\n"
    "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}]\n"
    "markers: {tip: {surface: tip}}\n";
static const char cable_rest[] = "materials: {silicone: {model: neo_hookean, c10: 0.2, poisson: 0.49}}\n"
                                 "regions: {body: silicone}\nfixed: [{surface: base}]\n"
                                 "actuators:\n  - {name: flexor, kind: cable, radius: 2, drive: shortening,\n"
                                 "     through: [[0, 0, 4], [20, 0, 4], [40, 0, 4], [50, 0, 4], [70, 0, 4], "
                                 "[80, 0, 4], [100, 0, 4], [116, 0, 4]]}\n"
                                 "markers: {tip: {surface: tip}}\n";

typedef struct answer {
    double tip[3], way;
    int32_t elements;
    bool good;
} answer;

// `mesh` is the text of the mesh block, `label` says which it is.
static answer solve_tip(validate_table *t, const study *s, const char *mesh, const char *label,
                        bool displacement)
{
    answer a = {.good = false};
    validate_robot v;
    pl_statics_options options = pl_statics_options_default();
    options.displacement = displacement;
    if (!validate_open(&v, &options, "pliant: 1\nname: study\n%s%s", mesh, s->rest)) {
        validate_verdict(t, false);
        return a;
    }
    a.good = validate_solve(t, &v, &s->command);
    a.elements = validate_elements(&v);
    for (int i = 0; i < 3; ++i) {
        a.tip[i] = validate_tip(&v, 0, i);
    }
    a.way = sqrt(a.tip[0] * a.tip[0] + a.tip[1] * a.tip[1] + a.tip[2] * a.tip[2]);
    printf("  %-15s %-10s %s %7d elements   tip %9.4f %9.4f   way %9.4f mm   %d factors, %d solves, %.1f s\n",
           s->name, label, displacement ? "plain  " : "default", (int)a.elements, a.tip[0], a.tip[2], a.way,
           v.report.factorizations, v.report.solves, v.report.seconds);
    fflush(stdout);
    validate_close(&v);
    return a;
}

static answer solve_size(validate_table *t, const study *s, double size, bool displacement)
{
    char mesh[200], label[40];
    snprintf(mesh, sizeof mesh, "mesh:\n  design: {kind: %s}\n  size: %g\n", s->kind, size);
    snprintf(label, sizeof label, "size %.2f", size);
    return solve_tip(t, s, mesh, label, displacement);
}

// Element edges go as elements^(-1/3); from three answers y the order q and the limit y + (y3 - y2) / (r^q -
// 1).
static double observed_order(const answer a[3], double *limit)
{
    const double h[3] = {cbrt(1. / a[0].elements), cbrt(1. / a[1].elements), cbrt(1. / a[2].elements)};
    const double change = (a[0].way - a[1].way) / (a[1].way - a[2].way);
    double best = NAN, least = INFINITY;
    for (double q = 0.5; change > 0 && q <= 6; q += 0.01) {
        const double want = (pow(h[0], q) - pow(h[1], q)) / (pow(h[1], q) - pow(h[2], q));
        if (fabs(want - change) < least) {
            least = fabs(want - change);
            best = q;
        }
    }
    const double q = isnan(best) ? 2 : best;
    *limit = a[2].way + (a[2].way - a[1].way) * pow(h[2], q) / (pow(h[1], q) - pow(h[2], q));
    return best;
}

// Three refinements and, for the finest, how far it is from the limit they point to.
static double refine(validate_table *t, const study *s)
{
    answer a[3];
    for (int i = 0; i < 3; ++i) {
        a[i] = solve_size(t, s, s->size[i], false);
        if (!a[i].good) {
            return NAN;
        }
    }
    double limit;
    char name[80];
    const double order = observed_order(a, &limit);
    if (isnan(order)) {
        printf("  %s: the changes do not shrink one way; limit taken with order 2: %.4f mm\n", s->name,
               limit);
    } else {
        printf("  %s: observed order %.2f, limit %.4f mm\n", s->name, order, limit);
    }
    for (int i = 0; i < 3; ++i) {
        snprintf(name, sizeof name, "%s, size %.2f: way of the tip mm", s->name, s->size[i]);
        validate_row(t, name, limit, a[i].way, 0.03);
    }
    return limit;
}

// The same edges, locking-free and plain, against the limit.
static void locking(validate_table *t, const study *s, double limit)
{
    const answer free4 = solve_size(t, s, 4, false), plain4 = solve_size(t, s, 4, true);
    char name[80];
    if (free4.good && plain4.good) {
        snprintf(name, sizeof name, "%s, default at 4 mm: way mm", s->name);
        validate_row(t, name, limit, free4.way, 0.03);
        printf("  the plain element at 4 mm is off by %+.2f %%, the default by %+.2f %%\n",
               100 * (plain4.way / limit - 1), 100 * (free4.way / limit - 1));
    }
}

// The coarse mesh, with edges in the third next to the base (or the tip) split down to half their length.
static void graded(validate_table *t, const study *s, bool at_tip, double limit)
{
    const char *path = "/tmp/pliant_graded.vtu";
    char mesh[400], name[80];
    pl_error err = {0};
    const graded_wish wish = {.kind = s->kind,
                              .size = s->size[0],
                              .from = at_tip ? 0.67 * s->length : 0,
                              .to = at_tip ? s->length : 0.33 * s->length,
                              .edge = 0.6 * s->size[0]};
    if (graded_mesh_write(&wish, path, &err) != PL_OK) {
        printf("no graded mesh: %s", err.text);
        validate_verdict(t, false);
        return;
    }
    snprintf(mesh, sizeof mesh, "mesh: {file: %s, unit: mm}\n%s", path, s->surfaces);
    const answer a = solve_tip(t, s, mesh, at_tip ? "fine tip" : "fine base", false);
    unlink(path);
    if (a.good) {
        snprintf(name, sizeof name, "%s, graded, %s: way mm", s->name, at_tip ? "fine tip" : "fine base");
        validate_row(t, name, limit, a.way, 0.03);
    }
}

static void study_all(validate_table *t, const study *s)
{
    const double limit = refine(t, s);
    if (!isnan(limit)) {
        graded(t, s, false, limit);
        graded(t, s, true, limit);
        locking(t, s, limit);
    }
}

int main(void)
{
    const study bending = {.name = "bending finger",
                           .kind = "bending_finger",
                           .rest = finger_rest,
                           .surfaces = "surfaces:\n  base: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}\n"
                                       "  tip: {plane: {point: [100, 0, 0], normal: [1, 0, 0]}}\n"
                                       "  cavity: {seen_from: [50, 0, 3.5]}\n",
                           .length = 100,
                           .size = {4, 3, 2.2},
                           .command = 0.03};
    const study cable = {.name = "cable finger",
                         .kind = "cable_finger",
                         .rest = cable_rest,
                         .surfaces = "surfaces:\n  base: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}\n"
                                     "  tip: {plane: {point: [120, 0, 0], normal: [1, 0, 0]}}\n",
                         .length = 120,
                         .size = {6, 4, 2.7},
                         .command = 12};
    validate_table t = {0, 0};
    validate_head("mesh independence; expected: the limit of three refinements");
    study_all(&t, &cable);
    study_all(&t, &bending);
    return validate_end(&t);
}
