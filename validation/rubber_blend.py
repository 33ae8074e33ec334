#!/usr/bin/env python3
"""Why R_omega(eps) of Fang et al. 2022 cannot give the pressure of a balloon: closed forms, no solver.

    rubber_blend.py

The target of an incompressible element is T = R Rot + (1 - R) F, so its stress is 2 w (F - T) = 2 w R (F - Rot), and with principal
stretches l_i the differences of its true stresses are 2 w R [l_i (l_i - 1) - l_j (l_j - 1)]: the only freedom is the number R.
A tensile bar (l, l^-1/2, l^-1/2) of a law with stress s_u(l) and a balloon (l, l, l^-2) with s_b(l) need

    2 w R_u(l) = s_u(l) / [l^2 - l - 1/l + l^-1/2],      2 w R_b(l) = s_b(l) / [l^2 - l - l^-4 + l^-2].

R is one function of one strain. Calibrated with the bar and used in the balloon, its stress is wrong by R_u / R_b at equal strain, whatever the law of
the bar; this prints that ratio, and the pressure of a ball (inner radius 10, wall 5 mm) as an integral over its wall,
p = int 2 (s_theta - s_r) / (l (l^3 - 1)) dl from the outer to the inner surface.
"""
import math

LAWS = {
    "neo-Hookean": (1.0, 0.0),
    "Mooney-Rivlin of the paper, 0.0418 and 0.0106 MPa": (0.0418, 0.0106),
}


def bar(law, l):
    """True stress of a bar."""
    return 2 * (law[0] + law[1] / l) * (l * l - 1 / l)


def balloon(law, l):
    """s_theta - s_r at equal stretches l in the wall."""
    return 2 * (law[0] + law[1] * l * l) * (l * l - l ** -4)


def shape_bar(l):
    return l * l - l - 1 / l + l ** -0.5


def shape_balloon(l):
    return l * l - l - l ** -4 + l ** -2


def bisect(f, low, high):
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def same_I1(l):
    """The stretch of a bar with the first invariant of the balloon."""
    I1 = 2 * l * l + l ** -4
    return bisect(lambda u: u * u + 2 / u - I1, 1, 100)


STRAINS = {"I1": same_I1, "largest stretch": lambda l: l, "thinning": lambda l: l ** 4}  # of a bar: l^-1/2 = l_balloon^-2


def blended(law, strain, l):
    u = max(STRAINS[strain](l), 1 + 1e-7)
    return bar(law, u) / shape_bar(u) * shape_balloon(l)


def pressure(stress, ratio, a=10.0, b=15.0, steps=4000):
    """Of a ball whose cavity has grown by `ratio`."""
    inner = ratio ** (1 / 3)
    outer = ((b ** 3 + (ratio - 1) * a ** 3) / b ** 3) ** (1 / 3)
    h = (inner - outer) / steps
    total = 0
    for k in range(steps):
        l = outer + (k + 0.5) * h
        total += 2 * stress(l) / (l * (l ** 3 - 1)) * h
    return total


def main():
    worst = 0
    for name, law in LAWS.items():
        print(f"\n{name}")
        print("| cavity | exact " + "".join(f"| R over {s}: stress at the inner surface, pressure " for s in STRAINS) + "|")
        print("| --- | --- " + "| --- " * len(STRAINS) + "|")
        for ratio in (2, 4, 8):
            l = ratio ** (1 / 3)
            exact = pressure(lambda x: balloon(law, x), ratio)
            cells = []
            for strain in STRAINS:
                p = pressure(lambda x: blended(law, strain, x), ratio)
                cells.append(f"{100 * (blended(law, strain, l) / balloon(law, l) - 1):+.0f} %, {100 * (p / exact - 1):+.0f} %")
            print(f"| {ratio} | {exact:.4g} | " + " | ".join(cells) + " |")
        # what a curve that is right for the balloon does to a bar, both at the I1 of cavity ratio 8
        u = same_I1(2.0)
        wrong = balloon(law, 2.0) / shape_balloon(2.0) * shape_bar(u) / bar(law, u) - 1
        worst = max(worst, abs(wrong))
        print(f"a curve fitted to the balloon instead: stress of a bar at stretch {u:.2f} off by {100 * wrong:+.0f} %")
    return worst


main()
