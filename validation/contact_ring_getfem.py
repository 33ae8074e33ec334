#!/usr/bin/env python3
"""GetFEM's side of `contact_ring`: a half ring pressed on a block, plane strain, quadratic displacements.

Ray-traced contact with multipliers (large sliding, without friction). Prints "approach force" lines: the approach of
the ring's ends in mm, the force per mm of depth in N. Exits with 77 when GetFEM is not installed (Debian: python3-getfem).

    /usr/bin/python3 validation/contact_ring_getfem.py R_OUT R_IN GAP WIDTH HEIGHT C10_RING K_RING C10_BLOCK K_BLOCK D ...
"""
import sys

try:
    import getfem as gf
    import numpy as np
except ImportError:
    sys.exit(77)


def ring(outer, inner, centre, around, across):
    """Lower half of a ring from two layers of angles and radii."""
    mesh = gf.Mesh("cartesian Q1", np.linspace(0, np.pi, around + 1), np.linspace(inner, outer, across + 1))
    points = mesh.pts()
    mesh.set_pts(np.array([points[1] * np.cos(points[0]), centre - points[1] * np.sin(points[0])]))
    return mesh


def faces_where(mesh, number, test):
    """A region of the boundary faces whose middle passes the test."""
    chosen = []
    border = mesh.outer_faces()
    for k in range(border.shape[1]):
        element, face = int(border[0, k]), int(border[1, k])
        corners = np.array([mesh.pts([i])[:, 0] for i in mesh.pid_in_faces(np.array([[element], [face]]))]).T
        if test(corners.mean(axis=1)):
            chosen.append([element, face])
    mesh.set_region(number, np.array(chosen).T)
    return len(chosen)


def main():
    number = [float(a) for a in sys.argv[1:]]
    outer, inner, gap, width, height, c_ring, k_ring, c_block, k_block = number[:9]
    gf.util("trace level", 0)
    gf.util("warning level", 0)
    centre = outer + gap
    m1 = ring(outer, inner, centre, 96, 4)
    m2 = gf.Mesh("cartesian", np.linspace(-width / 2, width / 2, 61), np.linspace(-height, 0, 17))
    OUT, ENDS, TOP, BASE = 1, 2, 3, 4
    faces_where(m1, OUT, lambda p: abs(np.hypot(p[0], p[1] - centre) - outer) < 0.01)
    faces_where(m1, ENDS, lambda p: abs(p[1] - centre) < 1e-6)
    faces_where(m2, TOP, lambda p: abs(p[1]) < 1e-9)
    faces_where(m2, BASE, lambda p: abs(p[1] + height) < 1e-9)
    u1, u2 = gf.MeshFem(m1, 2), gf.MeshFem(m2, 2)
    u1.set_fem(gf.Fem("FEM_QK(2,2)"))
    u2.set_fem(gf.Fem("FEM_QK(2,2)"))
    stress = gf.MeshFem(m1, 2)
    stress.set_fem(gf.Fem("FEM_QK(2,1)"))
    rule = gf.Integ("IM_GAUSS_PARALLELEPIPED(2,4)")
    im1, im2 = gf.MeshIm(m1, rule), gf.MeshIm(m2, rule)
    md = gf.Model("real")
    md.add_fem_variable("u1", u1)
    md.add_fem_variable("u2", u2)
    md.add_filtered_fem_variable("t", stress, OUT)
    md.add_initialized_data("law1", [c_ring, k_ring / 2])
    md.add_initialized_data("law2", [c_block, k_block / 2])
    md.add_finite_strain_elasticity_brick(im1, "Compressible Neo Hookean", "u1", "law1")
    md.add_finite_strain_elasticity_brick(im2, "Compressible Neo Hookean", "u2", "law2")
    md.add_initialized_data("down", [0.0, 0.0])
    md.add_Dirichlet_condition_with_multipliers(im1, "u1", u1, ENDS, "down")
    md.add_Dirichlet_condition_with_multipliers(im2, "u2", u2, BASE)
    md.add_initialized_data("r", [10 * c_block])
    contact = md.add_integral_large_sliding_contact_brick_raytracing("r", 1.0)
    md.add_slave_contact_boundary_to_large_sliding_contact_brick(contact, im1, OUT, "u1", "t")
    md.add_master_contact_boundary_to_large_sliding_contact_brick(contact, im2, TOP, "u2")
    now = 0.0
    for target in number[9:]:
        steps = max(1, int(np.ceil((target - now) / 0.1)))
        for k in range(1, steps + 1):
            md.set_variable("down", [0.0, -(now + (target - now) * k / steps)])
            md.solve("max_res", 1e-9, "max_iter", 60, "lsearch", "simplest", "alpha min", 0.2)
        now = target
        force = gf.asm_generic(im1, 0, "t(2)", OUT, md)
        print(f"{target:.6g} {abs(float(force)):.9g}", flush=True)


main()
