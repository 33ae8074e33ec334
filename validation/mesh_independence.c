// Does the answer depend on the mesh? The tip of the bending finger and of the cable finger on three
// refinements and on a mesh graded along the finger, with the observed order; and what the plain element
// loses to locking at 4 mm edges.
#include <unistd.h>
#include "graded_mesh.h"
#include "validate.h"

#define SIZES 4

typedef struct study {
    const char *name, *kind, *rest; // the design; what follows the mesh block in the robot file
    const char *surfaces;           // the same names for a mesh from a file
    double length;                  // mm, of the finger
    double size[SIZES];             // coarse to fine
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
    double tip[3], travel;
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
    a.travel = sqrt(a.tip[0] * a.tip[0] + a.tip[1] * a.tip[1] + a.tip[2] * a.tip[2]);
    printf("  %-15s %-10s %s %7d elements   tip %9.4f %9.4f   moved %9.4f mm   %d factors, %d solves, %.1f s\n",
           s->name, label, displacement ? "plain  " : "default", (int)a.elements, a.tip[0], a.tip[2], a.travel,
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

// Element edges h go as elements^(-1/3). The order q in [1, 4] for in which direction = limit + c h^q fits
// best (meshes computed again for every size scatter by half a percent, so it is a rough number).
static double observed_order(const answer a[SIZES], double *limit)
{
    double best = NAN, least = INFINITY;
    for (double q = 1; q <= 4; q += 0.01) {
        double n = SIZES, sx = 0, sy = 0, sxx = 0, sxy = 0, error = 0;
        for (int i = 0; i < SIZES; ++i) {
            const double x = pow(a[i].elements, -q / 3);
            sx += x;
            sy += a[i].travel;
            sxx += x * x;
            sxy += x * a[i].travel;
        }
        const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx), start = (sy - slope * sx) / n;
        for (int i = 0; i < SIZES; ++i) {
            error += pow(start + slope * pow(a[i].elements, -q / 3) - a[i].travel, 2);
        }
        if (error < least) {
            least = error;
            best = q;
            *limit = start;
        }
    }

    return best;
}

// What the finest mesh says, and what all of them point to.
typedef struct truth {
    double travel, limit;
} truth;

static void judge(validate_table *t, const study *s, const char *label, const answer *a, truth y)
{
    char name[80];
    snprintf(name, sizeof name, "%s, %s: displacement mm", s->name, label);
    if (a->good) {
        validate_row(t, name, y.travel, a->travel, 0.03);
        printf("    off what they point to by %+.2f %%\n", 100 * (a->travel / y.limit - 1));
    }
}

static bool refine(validate_table *t, const study *s, truth *y)
{
    answer a[SIZES];
    for (int i = 0; i < SIZES; ++i) {
        a[i] = solve_size(t, s, s->size[i], false);
        if (!a[i].good) {
            return false;
        }
    }

    const double order = observed_order(a, &y->limit);
    y->travel = a[SIZES - 1].travel;
    printf("  %s: observed order %.2f, pointing to %.4f mm\n", s->name, order, y->limit);
    for (int i = 0; i + 1 < SIZES; ++i) {
        char label[40];
        snprintf(label, sizeof label, "size %.2f", s->size[i]);
        judge(t, s, label, &a[i], *y);
    }

    return true;
}

// The same edges, locking-free and plain, against the finest mesh. That mesh still has part of the error that
// is to be measured, so the distance from what the refinements point to is printed beside it; with an order
// near 1 (sharp edges everywhere) that point is a guess.
static void locking(validate_table *t, const study *s, truth y)
{
    const answer free4 = solve_size(t, s, 4, false), plain4 = solve_size(t, s, 4, true);
    char name[80];

    if (free4.good && plain4.good) {
        snprintf(name, sizeof name, "%s, default at 4 mm: displacement mm", s->name);
        validate_row(t, name, y.travel, free4.travel, 0.03);
        printf("    off what they point to by %+.2f %%; the plain element by %+.2f %%, off the finest mesh "
               "by %+.2f %%\n",
               100 * (free4.travel / y.limit - 1), 100 * (plain4.travel / y.limit - 1),
               100 * (plain4.travel / y.travel - 1));
    }
}

// The coarse mesh, with edges in the third next to the base (or the tip) split until none is longer than 0.9
// of the size.
static void graded(validate_table *t, const study *s, bool at_tip, truth y)
{
    const char *path = "/tmp/pliant_graded.vtu";
    char mesh[400];
    pl_error err = {0};
    const graded_request request = {.kind = s->kind,
                              .size = s->size[0],
                              .from = at_tip ? 0.67 * s->length : 0,
                              .to = at_tip ? s->length : 0.33 * s->length,
                              .edge = 0.9 * s->size[0]};

    if (graded_mesh_write(&request, path, &err) != PL_OK) {
        printf("no graded mesh: %s", err.text);
        validate_verdict(t, false);
        return;
    }

    snprintf(mesh, sizeof mesh, "mesh: {file: %s, unit: mm}\n%s", path, s->surfaces);
    const answer a = solve_tip(t, s, mesh, at_tip ? "fine tip" : "fine base", false);
    unlink(path);
    judge(t, s, at_tip ? "graded, fine tip" : "graded, fine base", &a, y);
}

static void study_all(validate_table *t, const study *s)
{
    truth y;
    if (refine(t, s, &y)) {
        graded(t, s, false, y);
        graded(t, s, true, y);
        locking(t, s, y);
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
                           .size = {4, 3, 2.2, 1.7},
                           .command = 0.03};
    const study cable = {.name = "cable finger",
                         .kind = "cable_finger",
                         .rest = cable_rest,
                         .surfaces = "surfaces:\n  base: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}\n"
                                     "  tip: {plane: {point: [120, 0, 0], normal: [1, 0, 0]}}\n",
                         .length = 120,
                         .size = {7, 5, 3.6, 2.7},
                         .command = 12};
    validate_table t = {0, 0};

    validate_head("mesh independence; expected: the finest mesh");
    study_all(&t, &cable);
    study_all(&t, &bending);

    return validate_end(&t);
}
