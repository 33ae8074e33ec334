// Laws of chambers in parts cut along planes of symmetry, on generated bodies and two mesh sizes:
//   symmetric parts   a half, quarter or eighth answers as the body made of it and its mirror images: rest
//                     volume, volume, pressure and motion; driven by pressure and by volume
//   pressurised ball  an eighth of a thick ball follows the closed form of incompressible neo-Hookean rubber
// law_chambers [CASES [SEED]]
#include "../tests/mirror_mesh.h"
#include "statics/statics.h"
#include "robot/robot_def.h"

// ---- random bodies: one layer of wall around a cavity of cells in the first octant
typedef struct octant {
    int n[3], floor, top, fine; // cells of the cavity, below and above it; each is split into fine^3
    double swell, waves;
    char cut[4], kept[4]; // planes of symmetry, and those along which the part is cut
} octant;

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static octant octant_draw(uint64_t *seed)
{
    octant o = {.n = {1 + (int)(2 * draw(seed)), 1 + (int)(2 * draw(seed)), 2 + (int)(3 * draw(seed))},
                .floor = (int)(2 * draw(seed)),
                .swell = 0.3 * (draw(seed) - 0.5),
                .waves = 3 + 8 * draw(seed),
                .fine = 1};
    const bool octant_only = draw(seed) < 0.3;

    snprintf(o.cut, sizeof o.cut, "%s", octant_only ? "xyz" : "xy");
    while (!o.kept[0]) {
        int kept = 0;
        for (const char *c = o.cut; *c; ++c) {
            if (draw(seed) < 0.7) {
                o.kept[kept++] = *c;
            }
        }
    }

    o.floor = octant_only ? 0 : o.floor;
    o.top = octant_only || o.floor == 0 || draw(seed) < 0.7 ? 1 : 0;

    return o;
}

static double octant_height(const octant *o)
{
    return 2.0 * (o->floor + o->n[2] + o->top);
}

static pl_mesh *octant_mesh(const octant *o)
{
    const int s = o->fine, nx = s * (o->n[0] + 1), ny = s * (o->n[1] + 1),
              nz = s * (o->floor + o->n[2] + o->top);
    bool *hole = calloc((size_t)(nx * ny * nz), sizeof *hole);

    for (int c = 0; c < nx * ny * nz; ++c) {
        const int k = c / (nx * ny) - s * o->floor;
        hole[c] = c % nx < s * o->n[0] && c / nx % ny < s * o->n[1] && k >= 0 && k < s * o->n[2];
    }

    const double size[3] = {2.0 * nx / s, 2.0 * ny / s, 2.0 * nz / s};
    pl_mesh *linear = NULL, *mesh = NULL;
    pl_error err;
    if (box_mesh(nx, ny, nz, size, hole, NULL, &linear, &err) != PL_OK ||
        pl_mesh_raise(linear, &mesh, &err) != PL_OK) {
        abort();
    }

    pl_mesh_destroy(linear);
    free(hole);
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double scale = 1 + o->swell * sin(o->waves * v.position[3 * i + 2] / octant_height(o));
        x[3 * i] = scale * v.position[3 * i];
        x[3 * i + 1] = scale * v.position[3 * i + 1];
        x[3 * i + 2] = v.position[3 * i + 2];
    }

    mesh = moved_mesh(mesh, x);
    free(x);

    return mesh;
}

// ---- a robot of such a body
typedef struct answer {
    bool good;
    double rest, volume, effort, tip[3];
} answer;

static const char *const axis_name[] = {"x", "y", "z"};
static const pl_body_def one_body = {.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static pl_surface_def plane_at(const char *name, int axis, double at)
{
    pl_surface_def s = {.name = name, .pick = {.kind = PL_PICK_PLANE}};
    s.pick.point[axis] = at;
    s.pick.normal[axis] = 1;
    return s;
}

// The supports: planes of symmetry that the part keeps, slabs of vertices where the images meet (they stay in
// their plane; against rigid motions), and the clamped base of a body that is not cut there.
static int octant_fixed(const char *cut, const char *kept, pl_fixed_def *f)
{
    int count = 0;
    for (const char *c = cut; *c; ++c, ++count) {
        const int i = *c - 'x';
        f[count] = (pl_fixed_def){.name = axis_name[i], .body = -1, .has_box = !strchr(kept, *c)};
        f[count].surface = f[count].has_box ? NULL : axis_name[i];
        f[count].axis[i] = true;
        for (int k = 0; k < 3; ++k) {
            f[count].high[k] = k == i ? 1e-6 : 1e3;
            f[count].low[k] = -f[count].high[k];
        }
    }

    if (!strchr(cut, 'z')) {
        f[count++] = (pl_fixed_def){.name = "z", .surface = "z", .body = -1, .axis = {true, true, true}};
    }

    return count;
}

static answer robot_answer(pl_mesh *mesh, const char *cut, const char *kept, const double eye[3],
                           const double tip[3], double poisson, pl_drive drive, double command)
{
    pl_surface_def surface[5];
    pl_fixed_def fixed[5];
    int surfaces = 0;

    for (int i = 0; i < 3; ++i) {
        if (strchr(kept, *axis_name[i]) || (i == 2 && !strchr(cut, 'z'))) {
            surface[surfaces++] = plane_at(axis_name[i], i, 0);
        }
    }

    surface[surfaces++] = (pl_surface_def){
        .name = "cavity", .pick = {.kind = PL_PICK_SEEN_FROM, .point = {eye[0], eye[1], eye[2]}}};
    const pl_material_def material = {.name = "rubber",
                                      .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = poisson}};
    const pl_region_def region = {.region = "body", .material = "rubber"};
    const pl_actuator_def air = {.name = "air", .kind = PL_CHAMBER, .drive = drive, .surface = "cavity"};
    const pl_marker_def marker = {.name = "tip", .at = {tip[0], tip[1], tip[2]}};
    const pl_robot_def def = {.name = "part",
                              .body = &one_body,
                              .body_count = 1,
                              .surface = surface,
                              .surface_count = surfaces,
                              .material = &material,
                              .material_count = 1,
                              .region = &region,
                              .region_count = 1,
                              .fixed = fixed,
                              .fixed_count = octant_fixed(cut, kept, fixed),
                              .actuator = &air,
                              .actuator_count = 1,
                              .marker = &marker,
                              .marker_count = 1};
    answer out = {0};
    pl_robot *robot = NULL;
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    pl_error err = {0};
    pl_solve_report report = {0};
    pl_statics_options options = pl_statics_options_default();
    options.force_tolerance = 1e-9;
    options.length_tolerance = 1e-8;
    out.good = pl_robot_create(&def, (const pl_mesh *const[]){mesh}, &robot, NULL, &err) == PL_OK &&
               pl_statics_create(robot, &options, &statics, &err) == PL_OK &&
               pl_state_create(robot, &state, &err) == PL_OK &&
               pl_statics_solve(statics, state, &command, &report, &err) == PL_OK &&
               report.outcome == PL_SOLVED;
    if (out.good) {
        const pl_actuator_result a = pl_statics_actuator(statics, state, 0);
        out.rest = pl_robot_actuator(robot, 0).rest;
        out.volume = a.measure;
        out.effort = a.effort;
        memcpy(out.tip, pl_statics_marker(statics, state, 0).displacement, sizeof out.tip);
    } else {
        printf("  %s %s\n", err.text, report.message);
    }

    pl_state_destroy(state);
    pl_statics_destroy(statics);
    pl_robot_destroy(robot);

    return out;
}

static answer octant_answer(const octant *o, const char *kept, pl_drive drive, double command)
{
    pl_mesh *mesh = octant_mesh(o);
    double share = 1;

    for (const char *c = o->cut; *c; ++c) {
        if (!strchr(kept, *c)) {
            mesh = mirror_mesh(mesh, *c - 'x');
            share *= 2;
        }
    }

    const double z = 2.0 * (o->floor + o->n[2]), scale = 1 + o->swell * sin(o->waves * z / octant_height(o)),
                 eye[3] = {0.4, 0.5, 2.0 * o->floor + 0.8 * o->n[2]},
                 tip[3] = {scale * 2 * (o->n[0] + 1), scale * 2 * (o->n[1] + 1), z};
    answer a = robot_answer(mesh, o->cut, kept, eye, tip, 0.47, drive, command);
    a.rest /= share;
    a.volume /= share;
    pl_mesh_destroy(mesh);

    return a;
}

static double answers_off(const answer *a, const answer *b)
{
    double tip = 0, size = 0;
    for (int i = 0; i < 3; ++i) {
        tip += fabs(a->tip[i] - b->tip[i]);
        size += fabs(b->tip[i]);
    }

    return fmax(fmax(fabs(a->rest / b->rest - 1), fabs(a->volume / b->volume - 1)),
                fmax(fabs(a->effort / b->effort - 1), tip / size));
}

static bool law_parts(int count, uint64_t seed)
{
    double worst = 0;
    int cases = 0, failed = 0;

    for (int k = 0; k < count; ++k) {
        octant o = octant_draw(&seed);
        for (o.fine = 1; o.fine <= 2; ++o.fine) {
            const pl_drive drive = k % 2 ? PL_DRIVE_VOLUME_RATIO : PL_DRIVE_PRESSURE;
            const double command = k % 2 ? 1.1 : 0.006;
            const answer whole = octant_answer(&o, "", drive, command),
                         part = octant_answer(&o, o.kept, drive, command);
            const double off = whole.good && part.good ? answers_off(&part, &whole) : 1;
            printf("body %2d, cavity %d x %d x %d, floor %d, top %d, cut along %-3s, cells / %d: V0 %.4f "
                   "(%.4f), "
                   "off %.1e\n",
                   k, o.n[0], o.n[1], o.n[2], o.floor, o.top, o.kept, o.fine, part.rest, whole.rest, off);
            fflush(stdout);
            failed += !(off <= 1e-3);
            worst = fmax(worst, off);
            ++cases;
        }
    }

    printf(
        "law: symmetric parts | cases %d | worst %.1e of volume, pressure or motion | allowed 1e-03 | %s\n",
        cases, worst, failed ? "FAIL" : "ok");
    return failed == 0;
}

// ---- an eighth of a ball: a cube of cells drawn into spheres
static pl_mesh *ball_mesh(int cells, int hollow, double outer)
{
    bool *hole = calloc((size_t)(cells * cells * cells), sizeof *hole);
    for (int c = 0; c < cells * cells * cells; ++c) {
        hole[c] = c % cells < hollow && c / cells % cells < hollow && c / (cells * cells) < hollow;
    }

    pl_mesh *linear = NULL, *mesh = NULL;
    pl_error err;
    const double size[3] = {outer, outer, outer};
    if (box_mesh(cells, cells, cells, size, hole, NULL, &linear, &err) != PL_OK ||
        pl_mesh_raise(linear, &mesh, &err) != PL_OK) {
        abort();
    }

    pl_mesh_destroy(linear);
    free(hole);
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * (size_t)i,
                     scale = fmax(p[0], fmax(p[1], p[2])) / sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int k = 0; k < 3; ++k) {
            x[3 * i + k] = scale * p[k];
        }
    }

    mesh = moved_mesh(mesh, x);
    free(x);

    return mesh;
}

// p = mu (2/b + 1/(2 b^4) - 2/a - 1/(2 a^4)) with the stretches a, b of the inner and outer surface
static double ball_pressure(double inner, double outer, double a, double mu)
{
    const double b = cbrt(1 + (a * a * a - 1) * pow(inner / outer, 3));
    return mu * (2 / b + 0.5 * pow(b, -4) - 2 / a - 0.5 * pow(a, -4));
}

static bool law_ball(void)
{
    double worst = 0;
    int cases = 0, failed = 0;

    for (int cells = 3; cells <= 6; cells += 3) {
        for (int k = 0; k < 5; ++k) {
            const double outer = 12, inner = 8, ratio = 1.1 + 0.3 * k, a = cbrt(ratio);
            pl_mesh *mesh = ball_mesh(cells, 2 * cells / 3, outer);
            const double eye[3] = {2, 2.1, 2.2}, tip[3] = {inner, 0, 0};
            const answer got =
                robot_answer(mesh, "xyz", "xyz", eye, tip, 0.4999, PL_DRIVE_VOLUME_RATIO, ratio);
            pl_mesh_destroy(mesh);
            const double want = ball_pressure(inner, outer, a, 0.2),
                         V = 4 * 3.14159265358979 / 24 * pow(inner, 3),
                         off = got.good ? fmax(fabs(got.effort / want - 1), fabs(got.rest / V - 1)) : 1;
            printf(
                "ball of %d cells, V/V0 %.1f: %.5f MPa, closed form %.5f, V0 %.3f of %.3f mm^3, off %.1e\n",
                cells, ratio, got.effort, want, got.rest, V, off);
            fflush(stdout);
            failed += !(off <= 1e-2);
            worst = fmax(worst, off);
            ++cases;
        }
    }

    printf("law: pressurised ball | cases %d | worst %.1e of pressure or rest volume | allowed 1e-02 | %s\n",
           cases, worst, failed ? "FAIL" : "ok");
    return failed == 0;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 10;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 27;
    const bool parts = law_parts(count, seed), ball = law_ball();
    return parts && ball ? 0 : 1;
}
