// The chain as URDF, SDF (Gazebo, Drake) and MJCF (MuJoCo), in SI units. At joint values 0 the chain is
// straight, as the body at rest. Springs are free at `reference`; in MJCF every command is an actuator that
// moves the free values along their derivatives (a fixed tendon whose coefficients are stiffness times
// slope).
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include "meshfile/meshfile_vtu.h"
#include "result/result_chain.h"

#define CHAIN_TIME                                                                                           \
    0.02 // s: damping over stiffness of a joint; simulators need some, and statics measures none
#define CHAIN_GRAIN 2e-6 // kg: links between the hinges of a joint; to Gazebo up to 1e-6 is no mass

static const char *const chain_dof[CHAIN_DOFS] = {"stretch", "bend_x", "bend_y", "twist"};
static const char *const chain_axis[CHAIN_DOFS] = {"0 0 1", "1 0 0", "0 1 0", "0 0 1"};

// N/m or N m/rad; a direction that does not give has no joint.
static double chain_stiffness(const chain *c, int joint, int dof)
{
    const double k = 1 / c->joint[joint].compliance[dof];
    return dof == CHAIN_STRETCH ? 1e3 * k : 1e-3 * k;
}

static bool chain_moves(const chain *c, int joint, int dof)
{
    return c->joint[joint].compliance[dof] > 0;
}

static double chain_si(int dof, double value)
{
    return dof == CHAIN_STRETCH ? 1e-3 * value : value;
}

// Where joint i is in the frame of the link before it, m.
static double chain_step(const chain *c, int joint)
{
    return 1e-3 * (joint == 0 ? 0.5 : 1) * c->pitch;
}

// Names are letters, digits, '_' and '-'.
static void chain_word(pl_text *t, const char *name)
{
    for (; *name; ++name) {
        pl_text_add_bytes(t, isalnum((unsigned char)*name) || *name == '-' ? name : "_", 1);
    }
}

// Fixed angles about x, y, z that give the axes of the links at rest (the columns of the rotation).
static void chain_rpy(const chain *c, double rpy[3])
{
    const double *x = c->frame, *y = c->frame + 3, *z = c->frame + 6;
    rpy[1] = -asin(fmin(fmax(x[2], -1), 1));
    rpy[0] = atan2(y[2], z[2]);
    rpy[2] = atan2(x[1], x[0]);
    if (fabs(x[2]) > 1 - 1e-12) {
        rpy[0] = atan2(-z[1], y[1]);
        rpy[2] = 0;
    }
}

static void chain_about(pl_text *t, const chain *c, const pl_chain_report *r)
{
    pl_text_add(t, "<!-- ");
    pl_vtu_add_escaped(t, c->name);
    pl_text_add(t, " as %d rigid links with springs, written by pliant %s. Units: m, kg, N, rad.\n",
                c->link_count, pl_version());
    pl_text_add(t, "     Tangent model at");
    for (int k = 0; k < c->command_count; ++k) {
        if (!isnan(c->at[k])) {
            pl_text_add(t, " %s = %.9g %s", c->command[k].name,
                        c->at[k] / pl_drive_scale(c->command[k].drive), pl_drive_unit(c->command[k].drive));
        }
    }

    pl_text_add(t, ".\n     Against the full body: %s off by %.4g mm", c->marker, r->position_error);
    if (!isnan(r->rotation_error)) {
        pl_text_add(t, " and %.3g deg", r->rotation_error * 180 / PL_PI);
    }
    pl_text_add(t, " (it moved %.4g mm), compliance there off by %.3g %%", r->motion,
                100 * r->compliance_error);
    if (!isnan(r->half_error)) {
        pl_text_add(t, ", %.4g mm at half of the commands", r->half_error);
    }
    pl_text_add(t, ".\n     %s Damping (%g s times the stiffness) is assumed. -->\n",
                r->density_assumed
                    ? "The robot has no densities: masses are those of water, weightless in the solve."
                    : "Springs are free where the weight of the links, as solved, leaves them.",
                CHAIN_TIME);
}

static void chain_inertia(const chain_link *l, double out[6])
{
    // t mm^2 to kg m^2; never singular
    const double least = 1e-3 * CHAIN_GRAIN * 1e-3;
    for (int i = 0; i < 6; ++i) {
        out[i] = 1e-3 * l->inertia[i] + (i < 3 ? least : 0);
    }
}

// ---- URDF
static void urdf_inertial(pl_text *t, const chain_link *l)
{
    double I[6];
    chain_inertia(l, I);
    pl_text_add(t,
                "    <inertial><origin xyz=\"%.9g %.9g %.9g\"/><mass value=\"%.9g\"/><inertia ixx=\"%.9g\" "
                "iyy=\"%.9g\" "
                "izz=\"%.9g\" ixy=\"%.9g\" ixz=\"%.9g\" iyz=\"%.9g\"/></inertial>\n",
                1e-3 * l->centre[0], 1e-3 * l->centre[1], 1e-3 * l->centre[2], 1e3 * l->mass + CHAIN_GRAIN,
                I[0], I[1], I[2], I[3], I[4], I[5]);
}

static void urdf_link(pl_text *t, const char *name, const chain_link *l)
{
    pl_text_add(t, "  <link name=\"%s\">\n", name);
    urdf_inertial(t, l);
    for (int k = 0; k < 2; ++k) {
        const char *what = k ? "collision" : "visual";
        pl_text_add(t,
                    "    <%s><origin xyz=\"0 0 %.9g\"/><geometry><cylinder radius=\"%.6g\" "
                    "length=\"%.6g\"/></geometry>"
                    "</%s>\n",
                    what, 0.5e-3 * l->extent[1], 1e-3 * l->radius, 1e-3 * l->extent[1], what);
    }

    pl_text_add(t, "  </link>\n");
}

static void urdf_grain(pl_text *t, const char *name)
{
    const double least = 1e-3 * CHAIN_GRAIN * 1e-3;
    pl_text_add(t,
                "  <link name=\"%s\"><inertial><mass value=\"%g\"/><inertia ixx=\"%g\" iyy=\"%g\" izz=\"%g\" "
                "ixy=\"0\" "
                "ixz=\"0\" iyz=\"0\"/></inertial></link>\n",
                name, CHAIN_GRAIN, least, least, least);
}

static void chain_urdf(const chain *c, const pl_chain_report *report, pl_text *t)
{
    double rpy[3];
    char parent[60] = "link_0";
    chain_rpy(c, rpy);
    pl_text_add(t, "<?xml version=\"1.0\"?>\n");
    chain_about(t, c, report);
    pl_text_add(t, "<robot name=\"");
    chain_word(t, c->name);
    pl_text_add(t,
                "\">\n  <link name=\"base\"/>\n  <joint name=\"base_joint\" type=\"fixed\"><parent "
                "link=\"base\"/><child "
                "link=\"link_0\"/><origin xyz=\"%.9g %.9g %.9g\" rpy=\"%.9g %.9g %.9g\"/></joint>\n",
                1e-3 * c->base[0], 1e-3 * c->base[1], 1e-3 * c->base[2], rpy[0], rpy[1], rpy[2]);
    urdf_link(t, "link_0", &c->link[0]);
    for (int i = 0; i < c->link_count; ++i) {
        char child[60];
        double step = chain_step(c, i);
        int last = CHAIN_DOFS - 1;
        while (last > 0 && !chain_moves(c, i, last)) {
            --last;
        }
        for (int a = 0; a <= last; ++a) {
            const bool end = a == last, moves = chain_moves(c, i, a);
            snprintf(child, sizeof child, end ? "link_%d" : "link_%d_%s", i + 1, chain_dof[a]);
            if (end) {
                urdf_link(t, child, &c->link[i + 1]);
            } else {
                urdf_grain(t, child);
            }
            const double k = moves ? chain_stiffness(c, i, a) : 0,
                         bound = a == CHAIN_STRETCH ? 1e-3 * c->pitch : 3.2;
            pl_text_add(t,
                        "  <joint name=\"%s_%d\" type=\"%s\"><parent link=\"%s\"/><child "
                        "link=\"%s\"/><origin xyz=\"0 0 %.9g\"/>",
                        chain_dof[a], i + 1,
                        !moves               ? "fixed"
                        : a == CHAIN_STRETCH ? "prismatic"
                                             : "revolute",
                        parent, child, step);
            if (moves) {
                pl_text_add(t,
                            "<axis xyz=\"%s\"/><limit lower=\"%.6g\" upper=\"%.6g\" effort=\"1000\" "
                            "velocity=\"100\"/>"
                            "<dynamics damping=\"%.9g\"/>",
                            chain_axis[a], -bound, bound, CHAIN_TIME * k);
            }
            pl_text_add(t, "</joint>\n");
            if (moves) {
                pl_text_add(t,
                            "  <gazebo "
                            "reference=\"%s_%d\"><springStiffness>%.9g</springStiffness><springReference>%.9g"
                            "</springReference></gazebo>\n",
                            chain_dof[a], i + 1, k, chain_si(a, c->joint[i].reference[a]));
            }
            snprintf(parent, sizeof parent, "%s", child);
            step = 0;
        }
    }
    pl_text_add(t, "  <link name=\"marker_");
    chain_word(t, c->marker);
    pl_text_add(
        t, "\"/>\n  <joint name=\"marker_joint\" type=\"fixed\"><parent link=\"%s\"/><child link=\"marker_",
        parent);
    chain_word(t, c->marker);
    pl_text_add(t, "\"/><origin xyz=\"0 0 %.9g\"/></joint>\n</robot>\n", 0.5e-3 * c->pitch);
}

// ---- SDF
static void sdf_link(pl_text *t, const char *name, const char *parent, double step, const chain_link *l)
{
    double I[6] = {1e-3 * CHAIN_GRAIN * 1e-3, 1e-3 * CHAIN_GRAIN * 1e-3, 1e-3 * CHAIN_GRAIN * 1e-3, 0, 0, 0};
    pl_text_add(t, "    <link name=\"%s\">\n", name);
    if (parent) {
        pl_text_add(t, "      <pose relative_to=\"%s\">0 0 %.9g 0 0 0</pose>\n", parent, step);
    }
    if (l) {
        chain_inertia(l, I);
    }
    pl_text_add(t,
                "      <inertial><pose>%.9g %.9g %.9g 0 0 "
                "0</pose><mass>%.9g</mass><inertia><ixx>%.9g</ixx><iyy>%.9g</iyy>"
                "<izz>%.9g</izz><ixy>%.9g</ixy><ixz>%.9g</ixz><iyz>%.9g</iyz></inertia></inertial>\n",
                l ? 1e-3 * l->centre[0] : 0, l ? 1e-3 * l->centre[1] : 0, l ? 1e-3 * l->centre[2] : 0,
                l ? 1e3 * l->mass + CHAIN_GRAIN : CHAIN_GRAIN, I[0], I[1], I[2], I[3], I[4], I[5]);
    for (int k = 0; l && k < 2; ++k) {
        const char *what = k ? "collision" : "visual";
        pl_text_add(t,
                    "      <%s name=\"%s\"><pose>0 0 %.9g 0 0 "
                    "0</pose><geometry><cylinder><radius>%.6g</radius><length>%.6g"
                    "</length></cylinder></geometry></%s>\n",
                    what, what, 0.5e-3 * l->extent[1], 1e-3 * l->radius, 1e-3 * l->extent[1], what);
    }

    pl_text_add(t, "    </link>\n");
}

static void chain_sdf(const chain *c, const pl_chain_report *report, pl_text *t)
{
    double rpy[3];
    char parent[60] = "link_0";
    chain_rpy(c, rpy);
    pl_text_add(t, "<?xml version=\"1.0\"?>\n");
    chain_about(t, c, report);
    pl_text_add(t, "<sdf version=\"1.9\">\n  <model name=\"");
    chain_word(t, c->name);
    pl_text_add(t, "\" canonical_link=\"link_0\">\n    <pose>%.9g %.9g %.9g %.9g %.9g %.9g</pose>\n",
                1e-3 * c->base[0], 1e-3 * c->base[1], 1e-3 * c->base[2], rpy[0], rpy[1], rpy[2]);
    pl_text_add(t, "    <joint name=\"base_joint\" "
                   "type=\"fixed\"><parent>world</parent><child>link_0</child></joint>\n");
    sdf_link(t, "link_0", NULL, 0, &c->link[0]);
    for (int i = 0; i < c->link_count; ++i) {
        double step = chain_step(c, i);
        int last = CHAIN_DOFS - 1;
        while (last > 0 && !chain_moves(c, i, last)) {
            --last;
        }
        for (int a = 0; a <= last; ++a) {
            char child[60];
            const bool end = a == last, moves = chain_moves(c, i, a);
            snprintf(child, sizeof child, end ? "link_%d" : "link_%d_%s", i + 1, chain_dof[a]);
            sdf_link(t, child, parent, step, end ? &c->link[i + 1] : NULL);
            pl_text_add(t, "    <joint name=\"%s_%d\" type=\"%s\"><parent>%s</parent><child>%s</child>",
                        chain_dof[a], i + 1,
                        !moves               ? "fixed"
                        : a == CHAIN_STRETCH ? "prismatic"
                                             : "revolute",
                        parent, child);
            if (moves) {
                const double k = chain_stiffness(c, i, a), bound = a == CHAIN_STRETCH ? 1e-3 * c->pitch : 3.2;
                pl_text_add(t,
                            "<axis><xyz>%s</xyz><limit><lower>%.6g</lower><upper>%.6g</upper></"
                            "limit><dynamics><damping>%.9g"
                            "</damping><spring_reference>%.9g</spring_reference><spring_stiffness>%.9g</"
                            "spring_stiffness>"
                            "</dynamics></axis>",
                            chain_axis[a], -bound, bound, CHAIN_TIME * k,
                            chain_si(a, c->joint[i].reference[a]), k);
            }
            pl_text_add(t, "</joint>\n");
            snprintf(parent, sizeof parent, "%s", child);
            step = 0;
        }
    }
    pl_text_add(t, "    <frame name=\"marker_");
    chain_word(t, c->marker);
    pl_text_add(t, "\" attached_to=\"%s\"><pose>0 0 %.9g 0 0 0</pose></frame>\n  </model>\n</sdf>\n", parent,
                0.5e-3 * c->pitch);
}

// ---- MJCF
// The value at which the spring is free when all commands are 0, and moved by them from there.
static double mjcf_reference(const chain *c, int joint, int dof)
{
    double value = c->joint[joint].reference[dof];
    for (int k = 0; k < c->command_count; ++k) {
        value -= isnan(c->at[k]) ? 0 : c->joint[joint].slope[dof][k] * c->at[k];
    }
    return chain_si(dof, value);
}

static void mjcf_body(pl_text *t, const chain *c, int i)
{
    const chain_link *l = &c->link[i];
    double I[6];
    chain_inertia(l, I);
    for (int a = 0; i > 0 && a < CHAIN_DOFS; ++a) {
        if (chain_moves(c, i - 1, a)) {
            const double k = chain_stiffness(c, i - 1, a);
            pl_text_add(t,
                        "      <joint name=\"%s_%d\" type=\"%s\" axis=\"%s\" stiffness=\"%.9g\" "
                        "springref=\"%.9g\" damping=\"%.9g\"/>\n",
                        chain_dof[a], i, a == CHAIN_STRETCH ? "slide" : "hinge", chain_axis[a], k,
                        mjcf_reference(c, i - 1, a), CHAIN_TIME * k);
        }
    }
    pl_text_add(t,
                "      <inertial pos=\"%.9g %.9g %.9g\" mass=\"%.9g\" fullinertia=\"%.9g %.9g %.9g %.9g %.9g "
                "%.9g\"/>\n",
                1e-3 * l->centre[0], 1e-3 * l->centre[1], 1e-3 * l->centre[2], 1e3 * l->mass + CHAIN_GRAIN,
                I[0], I[1], I[2], I[3], I[4], I[5]);
    pl_text_add(t,
                "      <geom type=\"capsule\" fromto=\"0 0 0 0 0 %.9g\" size=\"%.6g\" contype=\"0\" "
                "conaffinity=\"0\"/>\n",
                1e-3 * l->extent[1], 1e-3 * l->radius);
}

static void chain_mjcf(const chain *c, const pl_chain_report *report, pl_text *t)
{
    const double *x = c->frame, *y = c->frame + 3, *g = c->gravity;
    chain_about(t, c, report);
    pl_text_add(t, "<mujoco model=\"");
    chain_word(t, c->name);
    pl_text_add(
        t,
        "\">\n  <compiler angle=\"radian\" autolimits=\"true\"/>\n  <option gravity=\"%.9g %.9g %.9g\" "
        "integrator=\"implicit\" timestep=\"0.001\"/>\n  <worldbody>\n",
        report->density_assumed ? 0 : 1e-3 * g[0], report->density_assumed ? 0 : 1e-3 * g[1],
        report->density_assumed ? 0 : 1e-3 * g[2]);
    pl_text_add(
        t, "    <body name=\"link_0\" pos=\"%.9g %.9g %.9g\" xyaxes=\"%.9g %.9g %.9g %.9g %.9g %.9g\">\n",
        1e-3 * c->base[0], 1e-3 * c->base[1], 1e-3 * c->base[2], x[0], x[1], x[2], y[0], y[1], y[2]);
    mjcf_body(t, c, 0);
    for (int i = 1; i <= c->link_count; ++i) {
        pl_text_add(t, "    <body name=\"link_%d\" pos=\"0 0 %.9g\">\n", i, chain_step(c, i - 1));
        mjcf_body(t, c, i);
    }
    pl_text_add(t, "      <site name=\"marker_");
    chain_word(t, c->marker);
    pl_text_add(t, "\" pos=\"0 0 %.9g\" size=\"0.002\"/>\n", 0.5e-3 * c->pitch);
    for (int i = 0; i <= c->link_count; ++i) {
        pl_text_add(t, "    </body>\n");
    }
    pl_text_add(t, "  </worldbody>\n");

    // commands in their units on the terminal: torque = stiffness slope unit times the control
    pl_text_add(t, "  <tendon>\n");
    for (int k = 0; k < c->command_count; ++k) {
        if (isnan(c->at[k])) {
            continue;
        }
        pl_text_add(t, "    <fixed name=\"command_%s\">\n", c->command[k].name);
        for (int i = 0; i < c->link_count; ++i) {
            for (int a = 0; a < CHAIN_DOFS; ++a) {
                if (chain_moves(c, i, a)) {
                    pl_text_add(t, "      <joint joint=\"%s_%d\" coef=\"%.9g\"/>\n", chain_dof[a], i + 1,
                                chain_stiffness(c, i, a) * chain_si(a, c->joint[i].slope[a][k]) *
                                    pl_drive_scale(c->command[k].drive));
                }
            }
        }
        pl_text_add(t, "    </fixed>\n");
    }
    pl_text_add(t, "  </tendon>\n  <actuator>\n");
    for (int k = 0; k < c->command_count; ++k) {
        if (!isnan(c->at[k])) {
            pl_text_add(t, "    <motor name=\"%s\" tendon=\"command_%s\"/> <!-- control in %s -->\n",
                        c->command[k].name, c->command[k].name, pl_drive_unit(c->command[k].drive));
        }
    }
    // a blank at the end of a list would be one number more for some readers
    pl_text_add(t, "  </actuator>\n  <keyframe>\n    <key name=\"solved\" qpos=\"");
    const char *between = "";
    for (int i = 0; i < c->link_count; ++i) {
        for (int a = 0; a < CHAIN_DOFS; ++a) {
            if (chain_moves(c, i, a)) {
                pl_text_add(t, "%s%.9g", between, chain_si(a, c->joint[i].value[a]));
                between = " ";
            }
        }
    }
    between = "\" ctrl=\"";
    for (int k = 0; k < c->command_count; ++k) {
        if (!isnan(c->at[k])) {
            pl_text_add(t, "%s%.9g", between, c->at[k] / pl_drive_scale(c->command[k].drive));
            between = " ";
        }
    }
    pl_text_add(t, "\"/>\n  </keyframe>\n</mujoco>\n");
}

void result_chain_write(const chain *c, const pl_chain_report *report, const char *path, pl_text *out)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcasecmp(dot, ".urdf") == 0) {
        chain_urdf(c, report, out);
    } else if (dot && strcasecmp(dot, ".sdf") == 0) {
        chain_sdf(c, report, out);
    } else {
        chain_mjcf(c, report, out);
    }
}
