// A solved robot as a job for CalculiX and Abaqus: mesh, materials, supports, pressures that follow the
// surface, and all other loads (cables, springs, weights, contacts) as the nodal forces they exert at the
// solution. With g = dE/dx the elastic forces at the solution x and f_p = -p int N n dA those of the
// pressures,
//   f = g - f_p,
// so that x is an equilibrium of the job whatever exerted f. Such forces do not turn with the body, and those
// of a cable would buckle it on the load path: where cables pull, the loaded nodes are moved to where they
// are instead (their reactions are f).
#include <stdio.h>
#include "meshfile/meshfile_inp.h"
#include "model/model.h"
#include "pliant/result.h"
#include "robot/robot.h"
#include "robot/robot_kind.h"

#define DECK_SMALL 1e-6 // of the largest nodal force: what the solve leaves is no load

// ---- laws that CalculiX knows, with D1 = 2 / K
static pl_status deck_material(pl_text *t, const pl_material *m, const char *name, pl_findings *findings,
                               pl_error *err)
{
    double mu, bulk;
    pl_material_moduli(m, &mu, &bulk);
    const double d = 2 / bulk;
    pl_text_add(t, "*MATERIAL, NAME=");
    pl_inp_put_name(t, name);
    pl_text_add(t, "\n");

    switch (m->model) {
    case PL_LINEAR:
        pl_findings_add(
            findings, PL_WARNING, NULL, 0,
            "material '%s': the corotated linear law becomes *ELASTIC, which differs at large strains", name);
        // fall through
    case PL_STVK:
        pl_text_add(t, "*ELASTIC\n%.12g, %.12g\n", m->young, m->poisson);
        return PL_OK;
    case PL_NEO_HOOKEAN:
        pl_text_add(t, "*HYPERELASTIC, NEO HOOKE\n%.12g, %.12g\n", m->c10, d);
        return PL_OK;
    case PL_MOONEY_RIVLIN:
        pl_text_add(t, "*HYPERELASTIC, MOONEY-RIVLIN\n%.12g, %.12g, %.12g\n", m->c10, m->c01, d);
        return PL_OK;
    case PL_YEOH:
        // the terms (J - 1)^4 / D2 and (J - 1)^6 / D3 vanish with large constants
        pl_text_add(t, "*HYPERELASTIC, YEOH\n%.12g, %.12g, %.12g, %.12g, 1e12, 1e12\n", m->c10, m->c20,
                    m->c30, d);
        return PL_OK;
    case PL_OGDEN: {
        int terms = 0;
        for (int i = 0; i < PL_OGDEN_TERMS; ++i) {
            terms += m->ogden_mu[i] != 0;
        }
        pl_text_add(t, "*HYPERELASTIC, OGDEN, N=%d\n", terms);

        for (int i = 0, k = 0; i < PL_OGDEN_TERMS; ++i) {
            if (m->ogden_mu[i] != 0) {
                pl_text_add(t, "%s%.12g, %.12g", k++ ? ", " : "", m->ogden_mu[i], m->ogden_alpha[i]);
            }
        }

        // eight numbers per line; the further D vanish as above
        pl_text_add(t, ", %.12g%s\n", d, terms == 1 ? "" : terms == 2 ? ", 1e12" : ", 1e12,\n1e12");
        return PL_OK;
    }
    default:
        return pl_fail(err, PL_BAD_INPUT, "material '%s': CalculiX has no law %s", name,
                       pl_material_model_name(m->model));
    }
}

static pl_status deck_materials(pl_text *t, const pl_robot *robot, pl_findings *findings, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(robot));
    pl_status status = PL_OK;

    for (int i = 0; status == PL_OK && i < pl_robot_material_count(robot); ++i) {
        const pl_material m = pl_robot_material(robot, i);
        const char *name = pl_robot_material_name(robot, i);
        bool used = false;
        for (int r = 0; r < v.region_count; ++r) {
            used = used || strcmp(pl_robot_region_material(robot, r), name) == 0;
        }
        if (used) {
            status = deck_material(t, &m, name, findings, err);
        }
    }

    for (int r = 0; status == PL_OK && r < v.region_count; ++r) {
        pl_text_add(t, "*SOLID SECTION, ELSET=");
        pl_inp_put_name(t, v.region_name[r]);
        pl_text_add(t, ", MATERIAL=");
        pl_inp_put_name(t, pl_robot_region_material(robot, r));
        pl_text_add(t, "\n");
    }

    return status;
}

// What a job of solids cannot have.
static pl_status deck_check(const pl_model *model, const pl_robot *robot, const char *path, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    if (!robot || strcmp(info.method, "exact") != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: needs a full body with the exact method, this robot is '%s'",
                       path, info.method);
    }

    if (robot->rigid_count > 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: rigid regions are not written; give them a stiff material",
                       path);
    }

    if (pl_robot_layer_count(robot) > 0 || pl_robot_fibre_count(robot) > 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: layers and fibres are not written", path);
    }

    for (int a = 0; a < info.actuator_count; ++a) {
        const pl_actuator_kind kind = info.actuator[a].kind;
        if (info.actuator[a].growth || (!pl_actuator_encloses(kind) && !pl_actuator_pulls_only(kind))) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s: actuator '%s' changes the stress-free shape or acts through a field, which "
                           "is not written",
                           path, info.actuator[a].name);
        }
    }

    return PL_OK;
}

// ---- pressures
// Shape functions of a face with 3, 6, 4 or 8 nodes and their derivatives at (u, w): triangles over u, w >=
// 0, u + w <= 1, quadrilaterals over [-1, 1]^2.
static void deck_shape(int nodes, double u, double w, double *N, double *Nu, double *Nw)
{
    if (nodes == 3 || nodes == 6) {
        const double L[3] = {1 - u - w, u, w}, du[3] = {-1, 1, 0}, dw[3] = {-1, 0, 1};
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3;
            const bool curved = nodes == 6;
            N[a] = curved ? L[a] * (2 * L[a] - 1) : L[a];
            Nu[a] = curved ? (4 * L[a] - 1) * du[a] : du[a];
            Nw[a] = curved ? (4 * L[a] - 1) * dw[a] : dw[a];

            if (curved) {
                N[3 + a] = 4 * L[a] * L[b];
                Nu[3 + a] = 4 * (du[a] * L[b] + L[a] * du[b]);
                Nw[3 + a] = 4 * (dw[a] * L[b] + L[a] * dw[b]);
            }
        }

        return;
    }

    static const double cu[4] = {-1, 1, 1, -1}, cw[4] = {-1, -1, 1, 1};
    for (int a = 0; a < 4; ++a) {
        const double p = 1 + u * cu[a], q = 1 + w * cw[a];
        const double more = nodes == 8 ? u * cu[a] + w * cw[a] - 1 : 1;
        N[a] = 0.25 * p * q * more;
        Nu[a] = 0.25 * cu[a] * q * (more + (nodes == 8 ? p : 0));
        Nw[a] = 0.25 * cw[a] * p * (more + (nodes == 8 ? q : 0));
    }

    for (int a = 0; nodes == 8 && a < 4; ++a) {
        // sides 0 and 2 run along u, 1 and 3 along w
        const double s = a == 0 ? -1 : 1, e = a == 3 ? -1 : 1;
        const bool along = a % 2 == 0;
        const double p = along ? 1 - u * u : 1 + e * u, q = along ? 1 + s * w : 1 - w * w;
        N[4 + a] = 0.5 * p * q;
        Nu[4 + a] = 0.5 * (along ? -2 * u : e) * q;
        Nw[4 + a] = 0.5 * p * (along ? s : -2 * w);
    }
}

// Points and weights: exact for polynomials of degree 4 on triangles, 5 on quadrilaterals.
static int deck_points(int nodes, double point[9][3])
{
    static const double triangle[6][3] = {{0.445948490915965, 0.445948490915965, 0.111690794839005},
                                          {0.108103018168070, 0.445948490915965, 0.111690794839005},
                                          {0.445948490915965, 0.108103018168070, 0.111690794839005},
                                          {0.091576213509771, 0.091576213509771, 0.054975871827661},
                                          {0.816847572980459, 0.091576213509771, 0.054975871827661},
                                          {0.091576213509771, 0.816847572980459, 0.054975871827661}};
    if (nodes == 3 || nodes == 6) {
        memcpy(point, triangle, sizeof triangle);
        return 6;
    }

    static const double at[3] = {-0.774596669241483, 0, 0.774596669241483},
                        weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    for (int i = 0; i < 9; ++i) {
        point[i][0] = at[i % 3];
        point[i][1] = at[i / 3];
        point[i][2] = weight[i % 3] * weight[i / 3];
    }

    return 9;
}

// Adds -p int N_a x_u cross x_w over the faces: the normal points out of the body.
static void deck_pressure(const pl_mesh *mesh, const double *x, const int64_t *face, int64_t faces, double p,
                          double *force)
{
    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        double point[9][3], N[8], Nu[8], Nw[8];
        const int nodes = pl_mesh_face_nodes(mesh, face[f], node);
        const int points = deck_points(nodes, point);

        for (int q = 0; q < points; ++q) {
            double u[3] = {0, 0, 0}, w[3] = {0, 0, 0};
            deck_shape(nodes, point[q][0], point[q][1], N, Nu, Nw);

            for (int a = 0; a < nodes; ++a) {
                for (int i = 0; i < 3; ++i) {
                    u[i] += Nu[a] * x[3 * (int64_t)node[a] + i];
                    w[i] += Nw[a] * x[3 * (int64_t)node[a] + i];
                }
            }

            const double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2],
                                 u[0] * w[1] - u[1] * w[0]};
            for (int a = 0; a < nodes; ++a) {
                for (int i = 0; i < 3; ++i) {
                    force[3 * (int64_t)node[a] + i] -= p * point[q][2] * N[a] * n[i];
                }
            }
        }
    }
}

// Surfaces under pressure, as *SURFACE (loads false) or as *DSLOAD; takes their forces off `force` if given.
static void deck_pressures(pl_text *t, const pl_model *model, const pl_robot *robot, const double *x,
                           bool loads, double *force)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_model_info info = pl_model_get_info(model);
    const double *effort = pl_model_get_answer(model).effort;
    const int chambers = info.actuator_count, all = chambers + pl_robot_pressure_count(robot);

    for (int i = 0; i < all; ++i) {
        char name[120];
        const int64_t *face = NULL;
        double pressure = 0;
        int64_t faces;

        if (i < chambers) {
            faces =
                pl_actuator_encloses(info.actuator[i].kind) ? pl_robot_actuator_faces(robot, i, &face) : 0;
            pressure = effort[i];
            snprintf(name, sizeof name, "chamber_%s", info.actuator[i].name);
        } else {
            faces = pl_robot_pressure_faces(robot, i - chambers, &face, &pressure);
            snprintf(name, sizeof name, "pressure_%d", i - chambers + 1);
        }

        if (faces == 0 || isnan(pressure)) {
            continue;
        }
        if (!loads) {
            pl_inp_put_surface(t, mesh, name, face, faces);
        } else if (pressure != 0) {
            pl_text_add(t, "*DSLOAD\n");
            pl_inp_put_name(t, name);
            pl_text_add(t, ", P, %.12g\n", pressure);
        }

        if (force) {
            deck_pressure(mesh, x, face, faces, -pressure, force);
        }
    }
}

// ---- supports
// Where the solve has put what is held; marks the components (held: 3 per vertex).
static void deck_supports(pl_text *t, const pl_robot *robot, const double *x, bool *held)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(robot));
    pl_text_add(t, "*BOUNDARY\n");
    for (int s = 0; s < pl_robot_fixed_count(robot); ++s) {
        const int32_t *vertex;
        bool axis[3];
        const int32_t count = pl_robot_fixed_vertices(robot, s, &vertex, axis);

        for (int32_t k = 0; k < count; ++k) {
            for (int i = 0; i < 3; ++i) {
                const int64_t c = 3 * (int64_t)vertex[k] + i;

                if (axis[i] && !held[c]) {
                    held[c] = true;
                    pl_text_add(t, "%d, %d, %d", (int)vertex[k] + 1, i + 1, i + 1);
                    pl_inp_put_real(t, x[c] - v.position[c]);
                    pl_text_add(t, "\n");
                }
            }
        }
    }
}

static bool deck_pulled(const pl_model *model)
{
    const pl_model_info info = pl_model_get_info(model);
    const double *effort = pl_model_get_answer(model).effort;
    bool pulled = false;

    for (int a = 0; a < info.actuator_count; ++a) {
        pulled = pulled || (pl_actuator_pulls_only(info.actuator[a].kind) && effort[a] > 0);
    }

    return pulled;
}

// Loads (components of nodes with a force), or displacements `moved` of these nodes.
static void deck_forces(pl_text *t, const double *force, const double *moved, const bool *held, int64_t n)
{
    double largest = 0;
    bool begun = false;

    for (int64_t c = 0; c < n; ++c) {
        largest = fmax(largest, fabs(force[c]));
    }

    for (int64_t c = 0; c < n; ++c) {
        if (!held[c] && fabs(force[c]) > DECK_SMALL * largest) {
            const char *head = begun ? "" : moved ? "*BOUNDARY\n" : "*CLOAD\n";
            const int axis = (int)(c % 3) + 1;
            if (moved) {
                pl_text_add(t, "%s%d, %d, %d", head, (int)(c / 3) + 1, axis, axis);
            } else {
                pl_text_add(t, "%s%d, %d", head, (int)(c / 3) + 1, axis);
            }
            pl_inp_put_real(t, moved ? moved[c] : force[c]);
            pl_text_add(t, "\n");
            begun = true;
        }
    }
}

static void deck_head(pl_text *t, const pl_model *model)
{
    const pl_model_info info = pl_model_get_info(model);
    const pl_model_answer answer = pl_model_get_answer(model);

    pl_text_add(t, "** %s, written by pliant %s for CalculiX (ccx) and Abaqus; mm, N, MPa\n", info.name,
                pl_version());
    for (int c = 0; c < info.command_count; ++c) {
        if (!isnan(answer.command[c])) {
            pl_text_add(t, "** command %s = %.9g %s\n", info.command[c].name,
                        answer.command[c] / pl_drive_scale(info.command[c].drive),
                        pl_drive_unit(info.command[c].drive));
        }
    }

    for (int k = 0; k < info.marker_count; ++k) {
        const double *x = answer.marker + 3 * (int64_t)k;
        pl_text_add(t, "** solved: marker %s at %.6f %.6f %.6f\n", info.marker_name[k], x[0], x[1], x[2]);
    }

    pl_text_add(
        t,
        "** Pressures follow the surface. Springs, weights and contacts are the nodal forces that they "
        "exert\n"
        "** at this solution; where cables pull, the nodes they act on are moved to where they are at it.\n"
        "** These are standard displacement elements: the shape is that of `pliant fk --displacement`; near\n"
        "** incompressibility they are too stiff.\n");
}

pl_status pl_model_write_deck(pl_model *model, const char *path, pl_findings *findings, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(model);
    pl_status status = deck_check(model, robot, path, err);

    if (status != PL_OK) {
        return status;
    }

    const pl_mesh *mesh = pl_robot_mesh(robot);
    const int64_t n = 3 * (int64_t)pl_mesh_get(mesh).vertex_count;
    const size_t size = pl_model_state_size(model);
    double *force = PL_NEW_ARRAY(double, n), *moved = PL_NEW_ARRAY(double, n),
           *block = PL_NEW_ARRAY(double, size);
    bool *held = PL_NEW_ARRAY(bool, n);
    pl_state *state = NULL;
    pl_text t = {0};
    status =
        force && moved && block && held ? pl_state_create(robot, &state, err) : pl_fail_memory(err, path);

    // elastic forces at the solution
    if (status == PL_OK) {
        pl_model_pack(model, block);
        status = pl_state_unpack(state, block, size, err);
    }

    if (status == PL_OK) {
        pl_statics_elastic(pl_model_statics(model), state, force);
        deck_head(&t, model);
        pl_inp_put_mesh(&t, mesh);
        deck_pressures(&t, model, robot, pl_state_positions(state), false, force);
        status = deck_materials(&t, robot, findings, err);
    }

    // one step from the undeformed configuration; residual and correction far below the defaults of 0.5 and 1
    // %
    if (status == PL_OK) {
        pl_text_add(&t, "*STEP, NLGEOM, INC=2000\n*STATIC\n0.1, 1., 1e-5, 0.2\n"
                        "*CONTROLS, PARAMETERS=FIELD\n1e-5, 1e-4, , , 1e-5, 1e-5\n");
        deck_supports(&t, robot, pl_state_positions(state), held);
        deck_pressures(&t, model, robot, pl_state_positions(state), true, NULL);
        const double *X = pl_mesh_get(mesh).position;
        for (int64_t c = 0; c < n; ++c) {
            moved[c] = pl_state_positions(state)[c] - X[c];
        }
        deck_forces(&t, force, deck_pulled(model) ? moved : NULL, held, n);
        pl_text_add(&t, "*NODE FILE\nU\n*EL FILE\nS\n*NODE PRINT, NSET=Nall, FREQUENCY=9999\nU\n*END STEP\n");
        status = t.failed ? pl_fail_memory(err, path) : pl_file_write(path, t.data, t.length, err);
    }

    pl_text_clear(&t);
    pl_state_destroy(state);
    pl_free(force);
    pl_free(moved);
    pl_free(block);
    pl_free(held);

    return status;
}
