// Law: a rigid body on a slab is held below Coulomb's limit and slips above it. Free boxes, balls and
// cylinders, on two mesh sizes, aligned with the mesh and at random places, with random friction; pulled
// sideways on a level slab, or on a slope (tilted gravity). Without friction, and where a ball or a cylinder
// can roll, nothing is held. Below the limit `uncertain` is no failure, but is counted: it says that no
// equilibrium was found, and nothing about the body. Any other outcome below the limit, or a body held beyond
// it, is one.
//   law_contact_free [case]      one case, with what the solver does
#include "validate.h"

#define WEIGHT 0.01635 // N

typedef struct law_case {
    int kind; // of law_name
    double size, dx, dy, mu;
    bool slope;
    double part; // of the limit
} law_case;

static const char *const law_name[] = {"box", "cylinder along", "cylinder across", "ball"};

static double law_between(uint64_t *seed, double a, double b)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return a + (b - a) * (double)(*seed >> 11) / 9007199254740992.0;
}

static bool law_open(validate_robot *v, const law_case *c)
{
    static const char *const shape[] = {
        "box: {centre: [%g, %g, 7.501], size: [15.2, 15.2, 5]}",
        "cylinder: {centre: [%g, %g, 10.001], axis: [1, 0, 0], radius: 5, length: 15}",
        "cylinder: {centre: [%g, %g, 10.001], axis: [0, 1, 0], radius: 5, length: 15}",
        "sphere: {centre: [%g, %g, 10.001], radius: 5}"};
    char text[200];

    snprintf(text, sizeof text, shape[c->kind], 20 + c->dx, c->dy);

    // tan(angle) is the part of mu; without friction of 0.05
    const double angle = c->slope ? atan(c->part * (c->mu > 0 ? c->mu : 0.05)) : 0;
    return validate_open(
        v, NULL,
        "pliant: 1\nname: slab\nmesh: {design: {kind: beam, length: 40, width: 40, height: 10}, size: %g}\n"
        "materials: {m: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.45}}\nregions: {body: m}\n"
        "fixed: [{box: [[-1, -21, -5.1], [41, 21, -4.9]]}]\nloads: {gravity: [%.12g m/s^2, 0, %.12g m/s^2]}\n"
        "contact: {obstacles: [{name: thing, %s, free: true, mass: %.9g g, friction: %g, pull: [1, 0, 0], "
        "range: [0 N, 1 N]}]}\n",
        c->size, 9.81 * sin(angle), -9.81 * cos(angle), text, WEIGHT / 9.81 * 1000, c->mu);
}

static void law_log(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    printf("%s\n", text);
}

typedef enum law_answer { LAW_RIGHT, LAW_BEYOND, LAW_REFUSED, LAW_UNCERTAIN } law_answer;

static law_answer law_judge(const law_case *c, int number, int *factorizations)
{
    validate_robot v;
    if (!law_open(&v, c)) {
        return LAW_REFUSED;
    }

    const double pull = c->slope ? 0 : c->part * (c->mu > 0 ? c->mu : 0.05) * WEIGHT;
    const pl_status status = pl_statics_solve(v.statics, v.state, &pull, &v.report, &v.err);
    const bool held = status == PL_OK && v.report.outcome == PL_SOLVED,
               holds = c->mu > 0 && c->part < 1 && c->kind < 2;
    const law_answer answer = held == holds                      ? LAW_RIGHT
                              : held                             ? LAW_BEYOND
                              : v.report.outcome == PL_UNCERTAIN ? LAW_UNCERTAIN
                                                                 : LAW_REFUSED;
    *factorizations += v.report.factorizations;
    printf("%3d %-15s size %g, at %+.2f %+.2f, mu %.2f, %s %.2f of the limit: %s (%s, %d factorisations)%s\n",
           number, law_name[c->kind], c->size, c->dx, c->dy, c->mu, c->slope ? "slope" : "pull", c->part,
           held ? "held" : "not held", pl_outcome_name(v.report.outcome), v.report.factorizations,
           answer == LAW_BEYOND      ? "   <-- FAIL: held"
           : answer == LAW_REFUSED   ? "   <-- FAIL: refused"
           : answer == LAW_UNCERTAIN ? "   <-- uncertain below the limit"
                                     : "");
    fflush(stdout);
    validate_close(&v);

    return answer;
}

int main(int argc, char *argv[])
{
    static const double part[] = {0.97, 1.03};
    const int chosen = argc > 1 ? atoi(argv[1]) : -1;
    uint64_t seed = 5;
    int cases = 0, count[4] = {0}, factorizations = 0, number = 0;

    if (chosen >= 0) {
        pl_log_set(law_log, NULL, 2);
    }

    for (int mesh = 0; mesh < 2; ++mesh) {
        for (int kind = 0; kind < 4; ++kind) {
            for (int place = 0; place < 4; ++place) {
                // aligned, offset, offset on a slope, offset without friction
                const double dx = (place > 0) * law_between(&seed, -2, 2),
                             dy = (place > 0) * law_between(&seed, -2, 2),
                             mu = (place < 3) * law_between(&seed, 0.2, 0.8);
                for (int k = 0; k < (int)(sizeof part / sizeof *part); ++k, ++number) {
                    const law_case c = {kind, mesh ? 5 : 8, dx, dy, mu, place == 2, part[k]};
                    if (chosen >= 0 && number != chosen) {
                        continue;
                    }
                    ++count[law_judge(&c, number, &factorizations)];
                    ++cases;
                }
            }
        }
    }

    const int wrong = count[LAW_BEYOND] + count[LAW_REFUSED];
    printf("law: Coulomb on free bodies | cases %d (%d factorisations, %d uncertain below the limit) | worst "
           "%d held "
           "beyond the limit, %d refused below it | allowed 0, 0 | %s\n",
           cases, factorizations, count[LAW_UNCERTAIN], count[LAW_BEYOND], count[LAW_REFUSED],
           wrong > 0 ? "FAIL" : "ok");

    return wrong > 0;
}
