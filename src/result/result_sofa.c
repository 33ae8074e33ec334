// A solved robot as a scene for SOFA (https://www.sofa-framework.org) with the plugin SoftRobots: a Python
// file that holds the mesh, so that it needs no other file. SOFA has linear tetrahedra: the corners of ours.
// Units are those of the robot: mm, N, MPa, t, s.
#include "model/model.h"
#include "material/material.h"
#include "pliant/result.h"
#include "robot/robot.h"
#include "robot/robot_kind.h"

typedef struct sofa {
    pl_model *model;
    const pl_robot *robot;
    const pl_mesh *mesh;
    pl_mesh_view view;
    int32_t *number; // of the corners among themselves; -1: a mid node
    int32_t corners;
    pl_text *t;
} sofa;

static pl_status sofa_check(const sofa *s, const char *path, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(s->model);
    if (!s->robot || strcmp(info.method, "exact") != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: needs a full body with the exact method, this robot is '%s'",
                       path, info.method);
    }

    if (s->robot->rigid_count > 0 || pl_robot_layer_count(s->robot) > 0 ||
        pl_robot_fibre_count(s->robot) > 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: rigid regions, layers and fibres are not written", path);
    }

    for (int a = 0; a < info.actuator_count; ++a) {
        const pl_actuator_kind kind = info.actuator[a].kind;
        if (info.actuator[a].growth || (!pl_actuator_encloses(kind) && !pl_actuator_pulls_only(kind))) {
            return pl_fail(err, PL_BAD_INPUT, "%s: actuator '%s' is neither a chamber nor a cable", path,
                           info.actuator[a].name);
        }
    }

    for (int32_t e = 0; e < s->view.element_count; ++e) {
        if (!pl_element_is_tet(s->view.kind[e])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s: the mesh has prisms, and SOFA's force fields take tetrahedra", path);
        }
    }

    return PL_OK;
}

static bool sofa_corners(sofa *s)
{
    s->number = PL_NEW_ARRAY(int32_t, s->view.vertex_count);
    for (int32_t e = 0; s->number && e < s->view.element_count; ++e) {
        for (int a = 0; a < 4; ++a) {
            s->number[s->view.node[s->view.node_start[e] + a]] = 1;
        }
    }

    for (int32_t v = 0; s->number && v < s->view.vertex_count; ++v) {
        s->number[v] = s->number[v] ? s->corners++ : -1;
    }

    return s->number != NULL;
}

static void sofa_comma(pl_text *t, int64_t i, int per_line)
{
    pl_text_add(t, i == 0 ? "" : i % per_line == 0 ? ",\n    " : ", ");
}

static void sofa_mesh(const sofa *s)
{
    pl_text *t = s->t;
    pl_text_add(t, "POSITION = [ # mm, undeformed\n    ");
    for (int32_t v = 0, i = 0; v < s->view.vertex_count; ++v) {
        const double *x = s->view.position + 3 * (int64_t)v;
        if (s->number[v] >= 0) {
            sofa_comma(t, i++, 4);
            pl_text_add(t, "[%.9g, %.9g, %.9g]", x[0], x[1], x[2]);
        }
    }

    pl_text_add(t, "]\nTETRAHEDRA = { # by region\n");
    for (int r = 0; r < s->view.region_count; ++r) {
        int64_t i = 0;
        pl_text_add(t, "  \"%s\": [\n    ", s->view.region_name[r]);

        for (int32_t e = 0; e < s->view.element_count; ++e) {
            const int32_t *node = s->view.node + s->view.node_start[e];
            if (s->view.region[e] == r) {
                sofa_comma(t, i++, 6);
                pl_text_add(t, "[%d, %d, %d, %d]", (int)s->number[node[0]], (int)s->number[node[1]],
                            (int)s->number[node[2]], (int)s->number[node[3]]);
            }
        }

        pl_text_add(t, "],\n");
    }

    pl_text_add(t, "}\n");
}

// Small strains give the constants where SOFA has another law.
static void sofa_materials(const sofa *s, pl_findings *findings)
{
    pl_text_add(s->t, "MATERIALS = { # law, its constants in MPa, density in t/mm^3\n");
    for (int r = 0; r < s->view.region_count; ++r) {
        const char *name = pl_robot_region_material(s->robot, r);
        pl_material m = {0};
        double mu, kappa;

        for (int i = 0; i < pl_robot_material_count(s->robot); ++i) {
            if (strcmp(pl_robot_material_name(s->robot, i), name) == 0) {
                m = pl_robot_material(s->robot, i);
            }
        }

        pl_material_moduli(&m, &mu, &kappa);
        const bool rubber = pl_material_is_rubber(m.model);
        if (m.model != PL_NEO_HOOKEAN && m.model != PL_STVK) {
            pl_findings_add(findings, PL_WARNING, NULL, 0,
                            "material '%s': the law %s becomes %s with the same stiffness at small strains",
                            name, pl_material_model_name(m.model),
                            rubber ? "NeoHookean" : "StVenantKirchhoff");
        }

        pl_text_add(s->t, "  \"%s\": (\"%s\", [%.9g, %.9g], %.9g), # %s\n", s->view.region_name[r],
                    rubber ? "NeoHookean" : "StVenantKirchhoff", mu, kappa, m.density > 0 ? m.density : 1e-9,
                    name);
    }

    pl_text_add(s->t, "}\n");
}

static void sofa_supports(const sofa *s)
{
    pl_text_add(s->t, "SUPPORTS = [ # vertices, and the axes they are held in\n");
    for (int i = 0; i < pl_robot_fixed_count(s->robot); ++i) {
        const int32_t *vertex;
        bool axis[3];
        int64_t k = 0;
        const int32_t count = pl_robot_fixed_vertices(s->robot, i, &vertex, axis);
        pl_text_add(s->t, "  ([");

        for (int32_t j = 0; j < count; ++j) {
            if (s->number[vertex[j]] >= 0) {
                sofa_comma(s->t, k++, 20);
                pl_text_add(s->t, "%d", (int)s->number[vertex[j]]);
            }
        }

        pl_text_add(s->t, "], [%d, %d, %d]), # %s\n", axis[0], axis[1], axis[2],
                    pl_robot_fixed_name(s->robot, i));
    }

    pl_text_add(s->t, "]\n");
}

// Walls with normals out of the cavity, as SurfacePressureConstraint wants them: ours point out of the body.
static void sofa_chambers(const sofa *s)
{
    const pl_model_info info = pl_model_get_info(s->model);
    const double *effort = pl_model_get_answer(s->model).effort;

    pl_text_add(s->t, "CHAMBERS = { # pressure in MPa, triangles\n");
    for (int a = 0; a < info.actuator_count; ++a) {
        const int64_t *face;
        const int64_t faces =
            pl_actuator_encloses(info.actuator[a].kind) ? pl_robot_actuator_faces(s->robot, a, &face) : 0;
        if (faces == 0) {
            continue;
        }
        pl_text_add(s->t, "  \"%s\": (%.9g, [\n    ", info.actuator[a].name,
                    isnan(effort[a]) ? 0 : effort[a]);
        for (int64_t f = 0; f < faces; ++f) {
            int32_t node[PL_FACE_NODES_MAX];
            pl_mesh_face_nodes(s->mesh, face[f], node);
            sofa_comma(s->t, f, 8);
            pl_text_add(s->t, "[%d, %d, %d]", (int)s->number[node[0]], (int)s->number[node[2]],
                        (int)s->number[node[1]]);
        }

        pl_text_add(s->t, "]),\n");
    }

    pl_text_add(s->t, "}\n");
}

static pl_status sofa_cables(const sofa *s, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(s->model);
    const pl_model_answer answer = pl_model_get_answer(s->model);
    pl_statics *statics = pl_model_statics(s->model);
    pl_state *rest = NULL;
    pl_status status = pl_state_create(s->robot, &rest, err);

    pl_text_add(s->t, "CABLES = { # value in mm pulled in or in N, what it is, guide points (undeformed)\n");
    for (int a = 0; status == PL_OK && a < info.actuator_count; ++a) {
        const pl_actuator_info *k = &info.actuator[a];
        const int count =
            pl_actuator_pulls_only(k->kind) ? pl_statics_cable_points(statics, rest, a, NULL, 0) : 0;
        double *point = count > 0 ? PL_NEW_ARRAY(double, 3 * count) : NULL;
        if (count == 0) {
            continue;
        }
        if (!point) {
            status = pl_fail_memory(err, "scene");
            break;
        }

        pl_statics_cable_points(statics, rest, a, point, count);
        const bool length = pl_drive_is_geometric(k->drive);
        const double pulled = length ? k->rest - answer.measure[a] : answer.effort[a];
        pl_text_add(s->t, "  \"%s\": (%.9g, \"%s\", [\n    ", k->name, isnan(pulled) ? 0 : pulled,
                    length ? "displacement" : "force");
        for (int i = 0; i < count; ++i) {
            sofa_comma(s->t, i, 4);
            pl_text_add(s->t, "[%.9g, %.9g, %.9g]", point[3 * i], point[3 * i + 1], point[3 * i + 2]);
        }

        pl_text_add(s->t, "]),\n");
        pl_free(point);
    }

    pl_text_add(s->t, "}\n");
    pl_state_destroy(rest);

    return status;
}

static const char sofa_scene[] =
    "\n\ndef createScene(root):\n"
    "    root.gravity = GRAVITY\n"
    "    root.dt = 0.02\n"
    "    for plugin in (\"SoftRobots\", \"Sofa.Component.AnimationLoop\", "
    "\"Sofa.Component.Constraint.Lagrangian.Correction\",\n"
    "                   \"Sofa.Component.Constraint.Lagrangian.Solver\", "
    "\"Sofa.Component.Constraint.Projective\",\n"
    "                   \"Sofa.Component.LinearSolver.Direct\", \"Sofa.Component.Mapping.Linear\", "
    "\"Sofa.Component.Mass\",\n"
    "                   \"Sofa.Component.ODESolver.Backward\", "
    "\"Sofa.Component.SolidMechanics.FEM.HyperElastic\",\n"
    "                   \"Sofa.Component.StateContainer\", \"Sofa.Component.Topology.Container.Dynamic\", "
    "\"Sofa.Component.Visual\"):\n"
    "        root.addObject(\"RequiredPlugin\", name=plugin)\n"
    "    root.addObject(\"VisualStyle\", displayFlags=\"showForceFields showBehaviorModels\")\n"
    "    root.addObject(\"FreeMotionAnimationLoop\")\n"
    "    root.addObject(\"GenericConstraintSolver\", tolerance=1e-7, maxIterations=1000)\n"
    "    body = root.addChild(\"body\")\n"
    "    body.addObject(\"EulerImplicitSolver\", rayleighStiffness=0.1, rayleighMass=0.1)\n"
    "    body.addObject(\"SparseLDLSolver\", template=\"CompressedRowSparseMatrixMat3x3d\")\n"
    "    body.addObject(\"TetrahedronSetTopologyContainer\", name=\"all\", position=POSITION, "
    "tetrahedra=sum(TETRAHEDRA.values(), []))\n"
    "    body.addObject(\"MechanicalObject\", name=\"state\", template=\"Vec3d\")\n"
    "    for region, (law, constants, density) in MATERIALS.items():\n"
    "        part = body.addChild(region)\n"
    "        part.addObject(\"TetrahedronSetTopologyContainer\", name=\"part\", position=POSITION, "
    "tetrahedra=TETRAHEDRA[region])\n"
    "        part.addObject(\"MechanicalObject\", template=\"Vec3d\")\n"
    "        part.addObject(\"MeshMatrixMass\", massDensity=density, topology=\"@part\")\n"
    "        part.addObject(\"TetrahedronHyperelasticityFEMForceField\", materialName=law, "
    "ParameterSet=constants, topology=\"@part\")\n"
    "        part.addObject(\"IdentityMapping\")\n"
    "    for vertices, axes in SUPPORTS:\n"
    "        if all(axes):\n"
    "            body.addObject(\"FixedProjectiveConstraint\", indices=vertices)\n"
    "        else:\n"
    "            body.addObject(\"PartialFixedProjectiveConstraint\", indices=vertices, "
    "fixedDirections=axes)\n"
    "    body.addObject(\"LinearSolverConstraintCorrection\")\n"
    "    for name, (pressure, triangles) in CHAMBERS.items():\n"
    "        cavity = body.addChild(\"chamber_\" + name)\n"
    "        cavity.addObject(\"TriangleSetTopologyContainer\", name=\"walls\", position=POSITION, "
    "triangles=triangles)\n"
    "        cavity.addObject(\"MechanicalObject\", template=\"Vec3d\")\n"
    "        cavity.addObject(\"SurfacePressureConstraint\", name=name, triangles=triangles, value=pressure, "
    "valueType=\"pressure\")\n"
    "        cavity.addObject(\"IdentityMapping\")\n"
    "    for name, (value, kind, points) in CABLES.items():\n"
    "        cable = body.addChild(\"cable_\" + name)\n"
    "        cable.addObject(\"MechanicalObject\", template=\"Vec3d\", position=points)\n"
    "        cable.addObject(\"CableConstraint\", name=name, indices=list(range(len(points))), value=value, "
    "valueType=kind)\n"
    "        cable.addObject(\"BarycentricMapping\")\n"
    "    return root\n";

static void sofa_head(const sofa *s)
{
    const pl_model_info info = pl_model_get_info(s->model);
    const pl_model_answer answer = pl_model_get_answer(s->model);
    double g[3];
    pl_robot_gravity(s->robot, g);
    pl_text_add(s->t,
                "\"\"\"%s for SOFA (23.12 or later) with the plugin SoftRobots, written by pliant %s. Units: "
                "mm, N, MPa, t, s.\n\n",
                info.name, pl_version());
    for (int c = 0; c < info.command_count; ++c) {
        if (!isnan(answer.command[c])) {
            pl_text_add(s->t, "%s = %.9g %s\n", info.command[c].name,
                        answer.command[c] / pl_drive_scale(info.command[c].drive),
                        pl_drive_unit(info.command[c].drive));
        }
    }

    for (int k = 0; k < info.marker_count; ++k) {
        const double *x = answer.marker + 3 * (int64_t)k;
        pl_text_add(s->t, "solved by pliant: %s at %.4f %.4f %.4f\n", info.marker_name[k], x[0], x[1], x[2]);
    }

    pl_text_add(s->t,
                "Linear tetrahedra are stiffer in bending than the elements of pliant: refine the mesh "
                "(--size) to compare.\n\"\"\"\n\n"
                "GRAVITY = [%.9g, %.9g, %.9g]\n",
                g[0], g[1], g[2]);
}

pl_status pl_model_write_sofa(pl_model *model, const char *path, pl_findings *findings, pl_error *err)
{
    pl_text text = {0};
    sofa s = {.model = model, .robot = pl_model_robot(model), .t = &text};

    if (s.robot) {
        s.mesh = pl_robot_mesh(s.robot);
        s.view = pl_mesh_get(s.mesh);
    }

    pl_status status = sofa_check(&s, path, err);
    if (status == PL_OK && !sofa_corners(&s)) {
        status = pl_fail_memory(err, path);
    }

    if (status == PL_OK) {
        sofa_head(&s);
        sofa_mesh(&s);
        sofa_materials(&s, findings);
        sofa_supports(&s);
        sofa_chambers(&s);
        status = sofa_cables(&s, err);
    }

    if (status == PL_OK) {
        pl_text_add_bytes(&text, sofa_scene, sizeof sofa_scene - 1);
        status = text.failed ? pl_fail_memory(err, path) : pl_file_write(path, text.data, text.length, err);
    }

    pl_free(s.number);
    pl_text_clear(&text);

    return status;
}
