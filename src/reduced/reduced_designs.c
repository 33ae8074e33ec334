// Ready reduced robots, as `pliant new` writes them: commented robot files as text.
#include "reduced/reduced_impl.h"

static const char trunk_yaml[] =
    "# A trunk of two sections driven by six lengths, as the compact bionic handling assistant: circular "
    "arcs.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: trunk\n"
    "\n"
    "# A reduced model instead of a mesh. kind may be constant_curvature or vertebrae with what is given "
    "here;\n"
    "# beam and rod need a stiffness as well (young: 2 MPa) and then take gravity and other loads.\n"
    "model:\n"
    "  kind: constant_curvature\n"
    "  base: {at: [0, 0, 0], axis: [0, 0, 1]}    # where the trunk starts, and its direction\n"
    "  sections:                                 # from the base; diameters at the start and at the end\n"
    "    - {name: lower, length: 103, diameter: [100, 90], arcs: 8}   # a cone: arcs in series\n"
    "    - {name: upper, length: 103, diameter: [90, 80], arcs: 8}\n"
    "  tendons:                                  # bellows along the wall, by their length\n"
    "    - {name: l1, section: lower, angle: 0 deg, drive: length, range: [85, 135]}\n"
    "    - {name: l2, section: lower, angle: 120 deg, drive: length, range: [85, 135]}\n"
    "    - {name: l3, section: lower, angle: 240 deg, drive: length, range: [85, 135]}\n"
    "    - {name: l4, section: upper, angle: 0 deg, drive: length, range: [85, 135]}\n"
    "    - {name: l5, section: upper, angle: 120 deg, drive: length, range: [85, 135]}\n"
    "    - {name: l6, section: upper, angle: 240 deg, drive: length, range: [85, 135]}\n"
    "\n"
    "# Points whose displacement is reported, by their position along the centre line.\n"
    "markers:\n"
    "  middle: {at: 103}\n"
    "  tip: {at: 206}\n";

static const char segment_yaml[] =
    "# A round segment with three chambers as a chain of beam elements: the reduced version of the design\n"
    "# `segment`. `pliant reduce` fits such a file to a full robot.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: segment-beam\n"
    "\n"
    "model:\n"
    "  kind: beam\n"
    "  # as_published: true      # one linear element, the equations of the paper as they were printed\n"
    "  sections:                 # area, inertia and torsion follow from the diameter where they are not "
    "given\n"
    "    - {name: segment, length: 45, diameter: 25, young: 0.3 MPa, poisson: 0.45, elements: 20}\n"
    "  chambers:                 # at 7 mm from the axis; the walls do not widen\n"
    "    - {name: chamber1, radius: 7, angle: 90 deg, area: 38.5, drive: pressure, range: [0 kPa, 160 kPa]}\n"
    "    - {name: chamber2, radius: 7, angle: 210 deg, area: 38.5, drive: pressure, range: [0 kPa, 160 "
    "kPa]}\n"
    "    - {name: chamber3, radius: 7, angle: 330 deg, area: 38.5, drive: pressure, range: [0 kPa, 160 "
    "kPa]}\n"
    "\n"
    "markers:\n"
    "  tip: {at: 45}\n"
    "\n"
    "# loads:\n"
    "#   forces: [{marker: tip, force: [0.1, 0, 0]}]\n";

static const pl_reduced_design designs[] = {
    {"trunk_cc", "trunk of two sections driven by six lengths, circular arcs (reduced model)", trunk_yaml},
    {"segment_beam", "round segment with three chambers as a chain of beams (reduced model)", segment_yaml},
};

int pl_reduced_design_count(void)
{
    return PL_COUNT(designs);
}

const pl_reduced_design *pl_reduced_design_at(int i)
{
    return i >= 0 && i < PL_COUNT(designs) ? &designs[i] : NULL;
}
