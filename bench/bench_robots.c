// Thin-walled and slender robots that no threshold of the solver was tuned on: from rest, then ten increments
// of 2 % of the command, with the default elements; beside CalculiX on the same mesh and law where it has the
// drive. Reports every robot and the worst.
//
//   bench_robots [ours|all] [FOLDER] [NAME ...]     `all` runs CalculiX too; FOLDER keeps the meshes
// PLIANT_BENCH_COLD=1 leaves the moves out.
#include <sys/stat.h>
#include "bench_ccx.h"

#define INCREMENTS 10
#define COMMANDS_MAX 6

typedef struct drawn {
    const char *name, *text;
    double command[COMMANDS_MAX];
    const char *surface[COMMANDS_MAX]; // of the chambers, for CalculiX; none: not compared
} drawn;

#define FINGER(parameters, size, skin, layer)                                                                \
    "pliant: 1\nname: finger\nmesh:\n  design: {kind: bending_finger, " parameters "}\n  size: " size        \
    "\n  order: 2\nmaterials:\n  silicone: {" skin "}\n  sheet: {" layer "}\n"                               \
    "regions: {skin: silicone, layer: sheet}\nfixed: [{surface: base}]\n"                                    \
    "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 300 kPa]}]\n"   \
    "markers: {tip: {surface: tip}}\n"

static const drawn robots[] = {
    {"finger",
     FINGER("modules: 8", "3.8", "model: neo_hookean, c10: 0.12 MPa, poisson: 0.45",
            "model: stvk, young: 30 MPa, poisson: 0.4"),
     {0.034},
     {"cavity"}},
    {"finger49",
     FINGER("modules: 8", "3.8", "model: neo_hookean, c10: 0.12 MPa, poisson: 0.49",
            "model: stvk, young: 30 MPa, poisson: 0.4"),
     {0.034},
     {"cavity"}},
    {"bellows",
     FINGER("length: 90, width: 18, height: 17, modules: 7, slot: 2.4, wall: 1.7, side_wall: 2, top_wall: 2, "
            "layer: 1.8",
            "3.3", "model: neo_hookean, c10: 0.1 MPa, poisson: 0.45",
            "model: stvk, young: 25 MPa, poisson: 0.4"),
     {0.023},
     {"cavity"}},
    {"pneunet",
     FINGER("length: 60, width: 20, height: 14, modules: 6, slot: 1.5, wall: 1.2, side_wall: 1.4, "
            "top_wall: 1.4, channel_height: 2, channel_width: 4, layer: 1.2",
            "4.5", "model: neo_hookean, c10: 0.16 MPa, poisson: 0.48",
            "model: stvk, young: 200 MPa, poisson: 0.3"),
     {0.022},
     {"cavity"}},
    {"paper",
     FINGER(
         "length: 50, width: 16, height: 16, modules: 4, slot: 2, wall: 1.5, side_wall: 1.5, top_wall: 1.5, "
         "layer: 0.8",
         "5", "model: neo_hookean, c10: 0.12 MPa, poisson: 0.49",
         "model: stvk, young: 1500 MPa, poisson: 0.3"),
     {0.022},
     {"cavity"}},
    {"wide",
     FINGER(
         "length: 70, width: 34, height: 16, modules: 5, slot: 3, wall: 2.2, side_wall: 2.2, top_wall: 1.8, "
         "channel_width: 12, layer: 2.5",
         "4", "model: neo_hookean, c10: 0.2 MPa, poisson: 0.47", "model: stvk, young: 12 MPa, poisson: 0.4"),
     {0.025},
     {"cavity"}},
    {"segment",
     "pliant: 1\nname: segment\nmesh:\n  design: {kind: segment, diameter: 22, height: 60, chamber_diameter: "
     "7, "
     "chamber_offset: 6, cap: 3}\n  size: 5\n  order: 2\nmaterials:\n"
     "  silicone: {model: neo_hookean, c10: 0.06 MPa, poisson: 0.485}\nregions: {body: silicone}\n"
     "fixed: [{surface: base}]\nactuators:\n"
     "  - {name: a, kind: chamber, surface: chamber1, drive: pressure, range: [0 kPa, 90 kPa]}\n"
     "  - {name: b, kind: chamber, surface: chamber2, drive: pressure, range: [0 kPa, 90 kPa]}\n"
     "  - {name: c, kind: chamber, surface: chamber3, drive: pressure, range: [0 kPa, 90 kPa]}\n"
     "markers: {tip: {surface: tip}}\n",
     {0.035, 0.014, 0}, // it balloons at 48 kPa
     {"chamber1", "chamber2"}},
    {"trunk",
     "pliant: 1\nname: trunk\nmesh:\n  design: {kind: beam, length: 160, width: 20, height: 20}\n  size: "
     "6.5\n"
     "  order: 2\nmaterials:\n  silicone: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}\n"
     "regions: {body: silicone}\nfixed: [{surface: base}]\nactuators:\n"
     "  - {name: up, kind: cable, through: [[0,0,7],[40,0,7],[80,0,7],[120,0,7],[155,0,7]], radius: 2, "
     "drive: shortening, range: [0, 60]}\n"
     "  - {name: side, kind: cable, through: [[0,7,-4],[40,7,-4],[80,7,-4],[120,7,-4],[155,7,-4]], radius: "
     "2, "
     "drive: tension, range: [0, 20]}\n"
     "markers: {tip: {surface: tip}}\n",
     {22, 1.5},
     {0}},
    {"volume",
     "pliant: 1\nname: volume\nmesh:\n  design: {kind: three_chamber, width: 40, height: 120, "
     "chamber_diameter: 13, "
     "chamber_offset: 10, cap: 6}\n  size: 7.5\n  order: 2\nmaterials:\n"
     "  silicone: {model: yeoh, c10: 0.09 MPa, c20: 0.004 MPa, c30: 0.0003 MPa, poisson: 0.49}\n"
     "regions: {body: silicone}\n"
     "fixed: [{surface: base}]\nactuators:\n"
     "  - {name: a, kind: chamber, surface: chamber1, drive: volume_ratio, range: [1, 3]}\n"
     "  - {name: b, kind: chamber, surface: chamber2, drive: volume_ratio, range: [1, 3]}\n"
     "  - {name: c, kind: chamber, surface: chamber3, drive: volume_ratio, range: [1, 3]}\n"
     "markers: {tip: {surface: tip}}\n",
     {1.9, 1.2, 1},
     {0}},
    {"arm",
     "pliant: 1\nname: arm\nmesh:\n  design: {kind: planar_arm, section1: 45, section2: 45, "
     "section3: 45, cells: 2}\n  size: 14\n  order: 2\nmaterials:\n"
     "  silicone: {model: neo_hookean, c10: 0.03 MPa, poisson: 0.48}\n"
     "  fabric: {model: neo_hookean, c10: 1 MPa, poisson: 0.45}\n"
     "regions: {body: silicone, spine: fabric, base_plate: fabric, plate1: fabric, plate2: "
     "fabric, "
     "plate3: fabric}\nfixed: [{surface: base}]\n"
     "actuators:\n"
     "  - {name: r1, kind: chamber, surface: right1, drive: pressure, range: [0 kPa, 60 kPa]}\n"
     "  - {name: l2, kind: chamber, surface: left2, drive: pressure, range: [0 kPa, 60 kPa]}\n"
     "  - {name: r3, kind: chamber, surface: right3, drive: pressure, range: [0 kPa, 60 kPa]}\n"
     "markers: {tip: {surface: tip}}\n",
     {0.012, 0.009, 0.014},
     {0}},
    {"film",
     "pliant: 1\nname: film\nmesh:\n  design: {kind: dea_crawler, length: 80, width: 36, film: 0.4, frame: "
     "0.8}\n"
     "  size: 3\n  order: 2\nmaterials:\n  elastomer: {model: neo_hookean, c10: 0.03 MPa, poisson: 0.49}\n"
     "  plastic: {model: linear, young: 80 MPa, poisson: 0.4}\n"
     "regions:\n  film: {material: elastomer, rest_area: 0.75}\n  rim: {material: elastomer, rest_area: "
     "0.75}\n"
     "  frame: plastic\nfixed:\n"
     "  - {name: rear, box: [[-0.01, -500, -0.001], [0.01, 500, 0.001]], axes: [x, z]}\n"
     "  - {name: front, box: [[79.99, -500, -0.001], [80.01, 500, 0.001]], axes: [z]}\n"
     "  - {name: sideways, box: [[-0.01, -18.01, -0.001], [0.01, -17.99, 0.001]], axes: [y]}\n"
     "actuators: [{name: voltage, kind: film, region: film, drive: voltage, thickness: 0.4, permittivity: "
     "4.7, "
     "range: [0, 9 kV]}]\nsurfaces: {front: {plane: {point: [80, 0, 0], normal: [1, 0, 0]}}}\n"
     "markers: {tip: {surface: front}}\n",
     {3500},
     {0}},
};

typedef struct totals {
    double cold_cpu, warm_cpu, factor, solves, factor_max, solves_max;
} totals;

static bool robot_load(bench_robot *b, const drawn *d, const char *folder)
{
    char path[700];
    *b = (bench_robot){0};
    pl_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, d->name);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/robot.yaml", folder, d->name);
    FILE *file = fopen(path, "w");

    // PLIANT_BENCH_SCALE=2: elements twice as large
    const char *scale = getenv("PLIANT_BENCH_SCALE"), *size = strstr(d->text, "\n  size: ") + 9;
    if (!file ||
        fprintf(file, "%.*s%g%s", (int)(size - d->text), d->text, atof(size) * (scale ? atof(scale) : 1),
                size + strcspn(size, "\n")) < 0 ||
        fclose(file) != 0) {
        printf("%s cannot be written\n", path);
        return false;
    }

    const pl_load_options load = {.mesher = pl_meshing_mesher()};

    return pl_robot_load(path, &load, &b->robot, NULL, &err) == PL_OK || bench_failed(d->name, &err);
}

static bool robot_warm(bench_robot *b, const drawn *d, totals *t)
{
    const int count = pl_robot_command_count(b->robot);
    for (int i = 1; i <= INCREMENTS; ++i) {
        double command[COMMANDS_MAX];
        for (int c = 0; c < count; ++c) {
            // ratios of volume start at 1
            const double rest = strstr(d->text, "volume_ratio") ? 1 : 0;
            command[c] = rest + (d->command[c] - rest) * (1 + 0.02 * i);
        }
        if (!bench_solve(b, command)) {
            return false;
        }
        t->factor += b->report.factorizations;
        t->factor_max = fmax(t->factor_max, b->report.factorizations);
        t->solves += b->report.solves;
        t->solves_max = fmax(t->solves_max, b->report.solves);
        t->warm_cpu += b->solve.cpu;
    }

    return true;
}

static bool robot_run(const drawn *d, const char *folder, bool with_ccx, double *worst)
{
    bench_robot b;
    bench_ccx c;
    totals t = {0};

    pl_threads_set(1);
    const pl_statics_options options = pl_statics_options_default();
    if (!robot_load(&b, d, folder) || !bench_start(&b, &options)) {
        return false;
    }

    const bool solved = bench_solve(&b, d->command);
    const pl_solve_report cold = b.report;
    t.cold_cpu = b.create.cpu + b.solve.cpu;
    const double turn = bench_turn(&b);
    const int elements = (int)pl_mesh_get(pl_robot_mesh(b.robot)).element_count;
    printf("%-9s %6d %7.1f %5d %5d %6d %6d %8.2f %8.2f", d->name, elements, turn, cold.increments,
           cold.iterations, cold.factorizations, cold.solves, b.create.cpu, b.solve.cpu);
    fflush(stdout);
    bool done = solved && (getenv("PLIANT_BENCH_COLD") || robot_warm(&b, d, &t));
    if (done) {
        printf(" | %5.2f %3.0f %6.1f %3.0f %7.0f", t.factor / INCREMENTS, t.factor_max, t.solves / INCREMENTS,
               t.solves_max, 1e3 * t.warm_cpu / INCREMENTS);
    } else {
        printf(" | NOT SOLVED");
    }

    fflush(stdout);
    if (solved && with_ccx && d->surface[0] &&
        bench_ccx_run_loads(b.robot, d->surface, d->command, 0.1, &c)) {
        printf(" | %8.1f %5d %8.1f", c.cpu, c.factorizations, c.cpu / t.cold_cpu);
        *worst = fmin(*worst, c.cpu / t.cold_cpu);
    }

    printf("\n");
    fflush(stdout);
    bench_close(&b);

    return done;
}

static void show(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    if (getenv("PLIANT_BENCH_LOG")) {
        pl_log_set(show, NULL, atoi(getenv("PLIANT_BENCH_LOG")));
    }

    char own[] = "/tmp/pliant-robots-XXXXXX";
    const bool with_ccx = argc > 1 && strcmp(argv[1], "all") == 0;
    const char *folder = argc > 2 ? argv[2] : mkdtemp(own);
    bool done = folder != NULL, all = true;
    double worst = INFINITY;
    bench_title("untuned robots, default elements, one thread");
    printf("%-9s %6s %7s %5s %5s %6s %6s %8s %8s | %9s %10s %7s | %8s %5s %8s\n", "", "tet10", "degrees",
           "incr", "iter", "factor", "solves", "create s", "solve s", "factor", "solves", "CPU ms", "ccx s",
           "fact", "ratio");
    for (int i = 0; done && i < PL_COUNT(robots); ++i) {
        bool wanted = argc <= 3;
        for (int k = 3; k < argc; ++k) {
            wanted = wanted || strcmp(argv[k], robots[i].name) == 0;
        }
        all = (!wanted || robot_run(&robots[i], folder, with_ccx, &worst)) && all;
    }

    if (isfinite(worst)) {
        printf("CPU seconds of CalculiX over ours, worst: %.1f\n", worst);
    }

    return done && all ? 0 : 1;
}
