// Closed forms: homogeneous stretch, the patch test, rigid motion, beams under force, moment and weight.
#include "statics_robot.h"

static const char *const kind_name[] = {"tet4", "tet10", "prism6", "prism15"};

// ---- homogeneous stretch: a along x, b across, J = a b^2

static const pl_material laws[] = {
    {.model = PL_LINEAR, .young = 0.8, .poisson = 0.35},
    {.model = PL_STVK, .young = 0.8, .poisson = 0.3},
    {.model = PL_NEO_HOOKEAN, .c10 = 0.12, .bulk = 3},
    {.model = PL_MOONEY_RIVLIN, .c10 = 0.119, .c01 = 0.023, .poisson = 0.49},
    {.model = PL_YEOH, .c10 = 0.11, .c20 = 0.02, .c30 = 0.001, .poisson = 0.48},
};

// dW/da in *along; returns dW/db, which vanishes when the sides are free.
static double stretch_stress(const pl_material *m, double a, double b, double *along)
{
    double mu, kappa;
    pl_material_moduli(m, &mu, &kappa);
    if (m->model == PL_LINEAR) {
        const double trace = kappa * (a + 2 * b - 3);
        *along = 2 * mu * (a - 1) + trace;
        return 2 * (2 * mu * (b - 1) + trace);
    }

    if (m->model == PL_STVK) {
        const double Ea = (a * a - 1) / 2, Eb = (b * b - 1) / 2, trace = kappa * (Ea + 2 * Eb);
        *along = a * (2 * mu * Ea + trace);
        return 2 * b * (2 * mu * Eb + trace);
    }

    const double J = a * b * b, j2 = pow(J, -2.0 / 3), j4 = j2 * j2;
    const double I1 = j2 * (a * a + 2 * b * b), I2 = j4 * (2 * a * a * b * b + b * b * b * b);
    const double W1 = m->c10 + 2 * m->c20 * (I1 - 3) + 3 * m->c30 * (I1 - 3) * (I1 - 3), W2 = m->c01;
    *along = W1 * (j2 * 2 * a - 2.0 / 3 * I1 / a) + W2 * (j4 * 4 * a * b * b - 4.0 / 3 * I2 / a) +
             kappa * (J - 1) * b * b;

    return W1 * (j2 * 4 * b - 4.0 / 3 * I1 / b) + W2 * (j4 * 4 * (a * a * b + b * b * b) - 8.0 / 3 * I2 / b) +
           kappa * (J - 1) * 2 * a * b;
}

static double stretch_lateral(const pl_material *m, double a)
{
    double low = 0.2, high = 2, along;
    for (int i = 0; i < 200; ++i) {
        const double b = 0.5 * (low + high);
        *(stretch_stress(m, a, b, &along) < 0 ? &low : &high) = b;
    }
    return 0.5 * (low + high);
}

static void check_stretch(pl_element_kind kind, pl_material material, double a)
{
    static plan p;
    pl_mesh *mesh = kind_box(kind, 2, 2, 2, 4, 3, 2);

    plan_init(&p, mesh, material);
    plan_plane(&p, "x0", 0, 0);
    plan_plane(&p, "x1", 0, 4);
    plan_plane(&p, "y0", 1, 0);
    plan_plane(&p, "z0", 2, 0);

    // the driven face first: vertices it shares with a symmetry plane are held by both
    plan_hold(&p, "x1", "x")->move[0] = 4 * (a - 1);
    plan_hold(&p, "x0", "x");
    plan_hold(&p, "y0", "y");
    plan_hold(&p, "z0", "z");
    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    const double b = stretch_lateral(&material, a), *x = rig_x(&r), *X = rig_rest(&r);
    double worst = 0, along;
    for (int32_t v = 0; v < pl_state_vertex_count(r.state); ++v) {
        for (int i = 0; i < 3; ++i) {
            worst = fmax(worst, fabs(x[3 * v + i] - (i == 0 ? a : b) * X[3 * v + i]));
        }
    }

    stretch_stress(&material, a, b, &along);
    pl_reaction reaction[4];
    assert_int_equal(pl_statics_reactions(r.statics, r.state, reaction), PL_OK);
    const double force = reaction[0].force[0] / (6 * along) - 1;
    print_message("%s %s stretch %.2f: shape off by %.1e mm, force by %.1e\n", kind_name[kind],
                  pl_material_model_name(material.model), a, worst, fabs(force));
    PL_CHECK_BELOW(worst, 1e-8);
    PL_CHECK_BELOW(fabs(force), 1e-8);

    // every support carries its own axis alone
    PL_CHECK_NEAR(reaction[1].force[0], -reaction[0].force[0], 1e-8 * fabs(along));
    PL_CHECK_NEAR(reaction[0].force[1], 0, 0);
    PL_CHECK_NEAR(reaction[2].force[1], 0, 1e-8 * fabs(along));

    // the Cauchy stress is the force per deformed area, along x alone
    const double want[6] = {along / (b * b)};
    double *stress = malloc(6 * (size_t)pl_state_vertex_count(r.state) * sizeof *stress), off = 0;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_field(r.statics, r.state, PL_FIELD_STRESS, stress, &err));
    for (int32_t i = 0; i < 6 * pl_state_vertex_count(r.state); ++i) {
        off = fmax(off, fabs(stress[i] - want[i % 6]) / fabs(want[0]));
    }
    free(stress);
    PL_CHECK_BELOW(off, 1e-7);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

static void test_stretch(void **state)
{
    (void)state;
    for (int m = 0; m < (int)(sizeof laws / sizeof *laws); ++m) {
        const bool small = laws[m].model == PL_LINEAR || laws[m].model == PL_STVK;
        for (int kind = PL_TET4; kind <= PL_PRISM15; ++kind) {
            for (int formulation = 0; formulation < 2; ++formulation) {
                pl_material material = laws[m];
                material.formulation = formulation ? PL_DISPLACEMENT : PL_LOCKING_FREE;
                check_stretch((pl_element_kind)kind, material, small ? 1.2 : 1.8);
                check_stretch((pl_element_kind)kind, material, 0.8);
            }
        }
    }
}

// ---- patch test: the boundary moved by an affine map, the inside follows

static bool on_boundary(const double *X)
{
    for (int i = 0; i < 3; ++i) {
        if (X[i] < 1e-9 || X[i] > 3 - 1e-9) {
            return true;
        }
    }
    return false;
}

// A cube of 3 mm with its inner vertices moved at random, so that no element is regular.
static pl_mesh *crooked_cube(int order)
{
    pl_error err = {0};
    pl_mesh *plain = tet_box(3, 3, 3, 3, 3, 3, 1, NULL), *crooked = NULL, *raised = NULL;
    const pl_mesh_view v = pl_mesh_get(plain);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    unsigned seed = 7;

    for (int32_t i = 0; i < v.vertex_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            seed = seed * 1664525u + 1013904223u;
            const double shift = 0.3 * ((double)(seed >> 8) / (1 << 24) - 0.5);
            x[3 * i + k] = v.position[3 * i + k] + (on_boundary(v.position + 3 * i) ? 0 : shift);
        }
    }

    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = x,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = 1,
                             .region_name = v.region_name};
    PL_CHECK_OK(pl_mesh_create(&def, &crooked, NULL, &err));
    pl_mesh_destroy(plain);
    free(x);
    if (order == 1) {
        return crooked;
    }
    PL_CHECK_OK(pl_mesh_raise(crooked, &raised, &err));
    pl_mesh_destroy(crooked);

    return raised;
}

static void check_patch(int order, pl_formulation formulation)
{
    static const double F[9] = {1.15, 0.2, -0.05, 0.03, 0.9, 0.1, -0.1, 0.07, 1.05};
    static plan p;
    pl_mesh *mesh = crooked_cube(order);
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_material material = laws[3];

    material.formulation = formulation;
    plan_init(&p, mesh, material);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *X = v.position + 3 * i;
        if (!on_boundary(X)) {
            continue;
        }
        assert_true(p.def.fixed_count < PLAN_FIXED);
        pl_fixed_def *f = &p.fixed[p.def.fixed_count++];
        *f = (pl_fixed_def){.name = "point", .has_box = true, .body = -1, .axis = {true, true, true}};
        for (int k = 0; k < 3; ++k) {
            f->low[k] = X[k] - 1e-6;
            f->high[k] = X[k] + 1e-6;
            f->move[k] = F[3 * k] * X[0] + F[3 * k + 1] * X[1] + F[3 * k + 2] * X[2] - X[k];
        }
    }

    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    const double *x = rig_x(&r), *X = rig_rest(&r);
    double worst = 0;
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            const double want =
                F[3 * k] * X[3 * i] + F[3 * k + 1] * X[3 * i + 1] + F[3 * k + 2] * X[3 * i + 2];
            worst = fmax(worst, fabs(x[3 * i + k] - want));
        }
    }

    print_message("patch of order %d: off by %.1e mm\n", order, worst);
    PL_CHECK_BELOW(worst, 1e-12);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

static void test_patch(void **state)
{
    (void)state;
    check_patch(1, PL_LOCKING_FREE);
    check_patch(1, PL_DISPLACEMENT);
    check_patch(2, PL_LOCKING_FREE);
    check_patch(2, PL_DISPLACEMENT);
}

// ---- rigid motion: a body whose clamp turns by 90 degrees and moves follows without stress

static void test_rigid_motion(void **state)
{
    (void)state;
    for (int m = 0; m < (int)(sizeof laws / sizeof *laws); ++m) {
        static plan p;
        pl_mesh *mesh = tet_box(4, 1, 1, 8, 2, 2, 2, NULL);
        plan_init(&p, mesh, laws[m]);
        plan_plane(&p, "base", 0, 0);
        pl_fixed_def *clamp = plan_hold(&p, "base", "xyz");
        *clamp = (pl_fixed_def){.name = "base",
                                .surface = "base",
                                .body = -1,
                                .axis = {true, true, true},
                                .move = {3, -2, 1},
                                .rotate = {0, 0, acos(-1) / 2},
                                .about = {1, 1, 0}};
        rig r = plan_build(&p, NULL);
        const pl_solve_report report = rig_try(&r, NULL);
        assert_int_equal(report.outcome, PL_SOLVED);
        const double *x = rig_x(&r), *X = rig_rest(&r);
        double worst = 0;
        for (int32_t i = 0; i < pl_state_vertex_count(r.state); ++i) {
            const double want[3] = {1 - (X[3 * i + 1] - 1) + 3, 1 + (X[3 * i] - 1) - 2, X[3 * i + 2] + 1};
            for (int k = 0; k < 3; ++k) {
                worst = fmax(worst, fabs(x[3 * i + k] - want[k]));
            }
        }
        double *mises = malloc((size_t)pl_state_vertex_count(r.state) * sizeof *mises), stress = 0;
        pl_error err = {0};
        PL_CHECK_OK(pl_statics_field(r.statics, r.state, PL_FIELD_VON_MISES, mises, &err));
        for (int32_t i = 0; i < pl_state_vertex_count(r.state); ++i) {
            stress = fmax(stress, mises[i]);
        }
        free(mises);
        print_message("%s turned: off by %.1e mm, stress %.1e MPa, energy %.1e mJ\n",
                      pl_material_model_name(laws[m].model), worst, stress, report.energy);
        PL_CHECK_BELOW(worst, 1e-8);
        PL_CHECK_BELOW(stress, 1e-9);
        PL_CHECK_BELOW(fabs(report.energy), 1e-14);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// ---- beams along x, clamped at x = 0, with a marker on the end

static void plan_beam(plan *p, const pl_mesh *mesh, pl_material material, double length)
{
    plan_init(p, mesh, material);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, length);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
}

// Tip drop of a cantilever of square section h under a small force F: F L^3 / 3 E I + F L / (k G A).
static void test_timoshenko(void **state)
{
    (void)state;
    static plan p;
    const double L = 20, h = 4, E = 1.5, nu = 0.3, F = 1e-5, I = h * h * h * h / 12;
    const double k = 10 * (1 + nu) / (12 + 11 * nu), G = E / (2 * (1 + nu));
    const double want = F * L * L * L / (3 * E * I) + F * L / (k * G * h * h);
    for (int kind = 0; kind < 4; ++kind) {
        pl_mesh *mesh = kind % 2 ? prism_box(10, 3, 3, L, h, h, 2) : tet_box(10, 3, 3, L, h, h, 2, NULL);
        const pl_material material = {.model = PL_LINEAR,
                                      .young = E,
                                      .poisson = nu,
                                      .formulation = kind / 2 ? PL_DISPLACEMENT : PL_LOCKING_FREE};
        plan_beam(&p, mesh, material, L);
        p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {0, 0, -F}};
        rig r = plan_build(&p, NULL);
        rig_solve(&r, NULL);
        const double got = -pl_statics_marker(r.statics, r.state, 0).displacement[2];
        print_message("cantilever %d: %.4g of Timoshenko's drop\n", kind, got / want);
        PL_CHECK_NEAR(got / want, 1, 0.025);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// A wall of a single element bends as a beam does, in both formulations: the dilatation varies across it, and
// a formulation that flattens it is too soft (by a fifth, with a lumped pressure mass).
static void test_single_wall(void **state)
{
    (void)state;
    static plan p;
    const double L = 24, b = 3, h = 2, E = 1.5, nu = 0.3, F = 1e-6, I = b * h * h * h / 12;
    const double want = F * L * L * L / (3 * E * I) + F * L / (5.0 / 6 * E / (2 * (1 + nu)) * b * h);
    for (int kind = 0; kind < 4; ++kind) {
        pl_mesh *mesh = kind % 2 ? prism_box(12, 2, 1, L, b, h, 2) : tet_box(12, 2, 1, L, b, h, 2, NULL);
        const pl_material material = {.model = PL_LINEAR,
                                      .young = E,
                                      .poisson = nu,
                                      .formulation = kind / 2 ? PL_DISPLACEMENT : PL_LOCKING_FREE};
        plan_beam(&p, mesh, material, L);
        p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {0, 0, -F}};
        rig r = plan_build(&p, NULL);
        rig_solve(&r, NULL);
        const double got = -pl_statics_marker(r.statics, r.state, 0).displacement[2];
        print_message("single wall %d: %.4g of the beam's drop\n", kind, got / want);
        PL_CHECK_NEAR(got / want, 1, 0.03);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// A moment M on the end of a slender beam turns it by M L / E I, however far. About an axis fixed in space
// that is stable in its plane only (a square beam would leave it sideways near a quarter turn), so one side
// is kept plane; without Poisson's effect it stays so anyway.
static void test_pure_bending(void **state)
{
    (void)state;
    static plan p;
    const double L = 60, h = 2, E = 1, I = h * h * h * h / 12, angle[] = {0.1, 1.2, 2.8};
    for (int i = 0; i < 3; ++i) {
        pl_mesh *mesh = tet_box(24, 1, 2, L, h, h, 2, NULL);
        const pl_material material = {.model = PL_LINEAR, .young = E, .poisson = 0};
        plan_beam(&p, mesh, material, L);
        plan_plane(&p, "side", 1, 0);
        plan_hold(&p, "side", "y");
        p.force[p.def.force_count++] =
            (pl_force_def){.marker = "tip", .moment = {0, -angle[i] * E * I / L, 0}};
        rig r = plan_build(&p, NULL);
        const pl_solve_report report = rig_solve(&r, NULL);
        const pl_marker_result tip = pl_statics_marker(r.statics, r.state, 0);
        assert_true(tip.has_rotation);
        // about -y: x turns towards +z
        const double got = atan2(tip.rotation[6], tip.rotation[0]), R = L / angle[i];
        print_message("bent by %.2f rad: got %.4f, end at %.3f %.3f, circle %.3f %.3f, %d increments\n",
                      angle[i], got, tip.position[0], tip.position[2] - h / 2, R * sin(angle[i]),
                      R * (1 - cos(angle[i])), report.increments);
        PL_CHECK_NEAR(got / angle[i], 1, 0.01);
        PL_CHECK_NEAR(tip.position[0], R * sin(angle[i]), 0.01 * L);
        PL_CHECK_NEAR(tip.position[2] - h / 2, R * (1 - cos(angle[i])), 0.01 * L);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// A beam under its own weight q per length drops by q L^4 / 8 E I + q L^2 / (2 k G A).
static void test_own_weight(void **state)
{
    (void)state;
    static plan p;
    const double L = 30, h = 3, E = 2, nu = 0.3, I = h * h * h * h / 12, rho = 1e-9, gravity = 9810;
    const double k = 10 * (1 + nu) / (12 + 11 * nu), G = E / (2 * (1 + nu)), q = rho * gravity * h * h;
    pl_mesh *mesh = tet_box(15, 3, 3, L, h, h, 2, NULL);
    const pl_material material = {.model = PL_LINEAR, .young = E, .poisson = nu, .density = rho};
    plan_beam(&p, mesh, material, L);
    p.def.gravity[1] = -gravity;
    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    const double want = q * L * L * L * L / (8 * E * I) + q * L * L / (2 * k * G * h * h);
    const double got = -pl_statics_marker(r.statics, r.state, 0).displacement[1];
    print_message("own weight: %.4g mm, beam theory %.4g mm\n", got, want);
    PL_CHECK_NEAR(got / want, 1, 0.02);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// ---- a thick tube under pressure

// A quarter of a tube between the radii a and b: a box, bent. Its inner wall is the surface `inner`.
static pl_mesh *quarter_tube(int across, int around, double a, double b, double length)
{
    pl_error err = {0};
    pl_mesh *box = tet_box(across, around, 1, 1, 1, length, 2, NULL), *tube = NULL;
    const pl_mesh_view v = pl_mesh_get(box);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);

    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double r = a + (b - a) * v.position[3 * i], turn = acos(-1) / 2 * v.position[3 * i + 1];
        const double place[3] = {r * cos(turn), r * sin(turn), v.position[3 * i + 2]};
        memcpy(x + 3 * i, place, sizeof place);
    }

    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(box, &face);
    int32_t *corner = malloc(4 * (size_t)faces * sizeof *corner);
    int64_t start[2] = {0, 0};
    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        pl_mesh_face_nodes(box, face[f], node);
        if (v.position[3 * node[0]] + v.position[3 * node[1]] + v.position[3 * node[2]] < 1e-9) {
            const int32_t one[4] = {node[0], node[1], node[2], -1};
            memcpy(corner + 4 * start[1]++, one, sizeof one);
        }
    }

    static const char *const inner = "inner";
    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = x,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = v.region_count,
                             .region_name = v.region_name,
                             .surface_count = 1,
                             .surface_name = &inner,
                             .surface_start = start,
                             .surface_corner = corner};
    PL_CHECK_OK(pl_mesh_create(&def, &tube, NULL, &err));
    pl_mesh_destroy(box);
    free(x);
    free(corner);

    return tube;
}

// The stress tensor against Lame's: radial q (1 - b^2/r^2), hoop q (1 + b^2/r^2), along 2 nu q, with
// q = p a^2 / (b^2 - a^2); no shear in these directions. Averages at the walls are one-sided, so the error
// there falls with the first power of the size. Root mean square over the vertices, and the largest, in parts
// of p.
static void tube_error(int across, int around, double *mean, double *most)
{
    static plan p;
    const double a = 10, b = 15, pressure = 1e-6, nu = 0.3;
    pl_mesh *mesh = quarter_tube(across, around, a, b, 2);

    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = nu});
    plan_plane(&p, "x0", 0, 0);
    plan_plane(&p, "y0", 1, 0);
    plan_plane(&p, "z0", 2, 0);
    plan_plane(&p, "z1", 2, 2);
    plan_hold(&p, "x0", "x");
    plan_hold(&p, "y0", "y");
    plan_hold(&p, "z0", "z");
    plan_hold(&p, "z1", "z");
    p.pressure[p.def.pressure_count++] = (pl_surface_pressure_def){.surface = "inner", .pressure = pressure};
    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    const int32_t n = pl_state_vertex_count(r.state);
    const double *X = rig_rest(&r), q = pressure * a * a / (b * b - a * a);
    double *T = malloc(6 * (size_t)n * sizeof *T), sum = 0;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_field(r.statics, r.state, PL_FIELD_STRESS, T, &err));
    *most = 0;
    for (int32_t i = 0; i < n; ++i) {
        const double x = X[3 * i], y = X[3 * i + 1], r2 = x * x + y * y, *t = T + 6 * i;
        const double radial = q * (1 - b * b / r2), hoop = q * (1 + b * b / r2);
        const double want[6] = {(radial * x * x + hoop * y * y) / r2,
                                (radial * y * y + hoop * x * x) / r2,
                                2 * nu * q,
                                (radial - hoop) * x * y / r2,
                                0,
                                0};
        for (int k = 0; k < 6; ++k) {
            const double off = fabs(t[k] - want[k]) / pressure;
            sum += off * off;
            *most = fmax(*most, off);
        }
    }

    *mean = sqrt(sum / (6.0 * n));
    free(T);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

static void test_tube_stress(void **state)
{
    (void)state;
    double mean[2], most[2];
    tube_error(3, 8, &mean[0], &most[0]);
    tube_error(6, 16, &mean[1], &most[1]);
    print_message(
        "stress in a tube, parts of the pressure: %.4f rms, %.4f largest; half the size %.4f, %.4f\n",
        mean[0], most[0], mean[1], most[1]);
    PL_CHECK_BELOW(mean[1], 0.03);
    PL_CHECK_BELOW(most[1], 0.3);
    PL_CHECK_BELOW(mean[1] / mean[0], 0.65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stretch),      cmocka_unit_test(test_patch),
        cmocka_unit_test(test_rigid_motion), cmocka_unit_test(test_timoshenko),
        cmocka_unit_test(test_pure_bending), cmocka_unit_test(test_own_weight),
        cmocka_unit_test(test_single_wall),  cmocka_unit_test(test_tube_stress),
    };
    pl_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
