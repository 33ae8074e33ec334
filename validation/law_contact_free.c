// Law: a rigid body on a slab, pulled sideways, is held below mu m g and slips above it. Free boxes, balls
// and cylinders, on two mesh sizes, at random places, with random friction.
#include "validate.h"

#define WEIGHT 0.01635 // N

static double law_between(uint64_t *seed, double a, double b)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return a + (b - a) * (double)(*seed >> 11) / 9007199254740992.0;
}

static bool law_open(validate_robot *v, int kind, double size, double dx, double dy, double mu)
{
    static const char *const shape[] = {
        "box: {centre: [%g, %g, 7.501], size: [15.2, 15.2, 5]}",
        "sphere: {centre: [%g, %g, 10.001], radius: 5}",
        "cylinder: {centre: [%g, %g, 10.001], axis: [1, 0, 0], radius: 5, length: 15}"};
    char text[200];
    snprintf(text, sizeof text, shape[kind], 20 + dx, dy);
    return validate_open(
        v, NULL,
        "pliant: 1\nname: slab\nmesh: {design: {kind: beam, length: 40, width: 40, height: 10}, size: %g}\n"
        "materials: {m: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.45}}\nregions: {body: m}\n"
        "fixed: [{box: [[-1, -21, -5.1], [41, 21, -4.9]]}]\nloads: {gravity: [0, 0, -9.81 m/s^2]}\n"
        "contact: {obstacles: [{name: thing, %s, free: true, mass: %.9g g, friction: %g, pull: [1, 0, 0], "
        "range: [0 N, 1 N]}]}\n",
        size, text, WEIGHT / 9.81 * 1000, mu);
}

static void law_log(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    if (strstr(text, "wrong normals")) {
        printf("%s\n", text);
    }
}

int main(int argc, char *argv[])
{
    static const double part[] = {0.5, 0.97, 1.03, 1.5};
    static const char *const name[] = {"box", "ball", "cylinder"};
    if (argc > 1 && strcmp(argv[1], "log") == 0) {
        pl_log_set(law_log, NULL, 2);
    }
    uint64_t seed = 5;
    int cases = 0, held = 0, wrong = 0, uncertain = 0;
    for (int mesh = 0; mesh < 2; ++mesh) {
        for (int kind = 0; kind < 3; ++kind) {
            for (int place = 0; place < 2; ++place) {
                const double dx = place * law_between(&seed, -2, 2), dy = place * law_between(&seed, -2, 2),
                             mu = place == 0 ? 0 : law_between(&seed, 0.2, 0.8);
                for (int k = 0; k < 4; ++k) {
                    validate_robot v;
                    if (!law_open(&v, kind, mesh ? 5 : 8, dx, dy, mu)) {
                        return 1;
                    }
                    const double pull = part[k] * (mu > 0 ? mu : 0.05) * WEIGHT;
                    pl_statics_solve(v.statics, v.state, &pull, &v.report, &v.err);
                    // a ball that is pulled at its centre rolls
                    const bool solved = v.report.outcome == PL_SOLVED,
                               holds = mu > 0 && part[k] < 1 && kind != 1;
                    ++cases;
                    held += solved;
                    uncertain += v.report.outcome == PL_UNCERTAIN;
                    wrong += solved && !holds;
                    printf("%s, size %d, mu %.2f, pull %.2f of the limit: %s, %s%s\n", name[kind],
                           mesh ? 5 : 8, mu, part[k], pl_outcome_name(v.report.outcome), v.report.message,
                           solved && !holds ? "   <-- FAIL" : "");
                    fflush(stdout);
                    validate_close(&v);
                }
            }
        }
    }
    printf("law: Coulomb on free bodies | cases %d | worst %d held beyond the limit, %d uncertain, %d held "
           "below it | allowed 0 "
           "| %s\n",
           cases, wrong, uncertain, held, wrong ? "FAIL" : "ok");
    return wrong > 0;
}
