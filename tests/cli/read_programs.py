"""Reads what pliant has written for simulators: chains (URDF, SDF, MJCF) by their own kinematics and statics, a SOFA scene by
running it against nodes that only record. usage: read_programs.py STEM RECORD.json COMPLIANCE.json"""
import json
import re
import sys
import xml.etree.ElementTree as ET

import numpy as np

stem, record, compliance = sys.argv[1], json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))
failed = 0


def check(what, good, found=""):
    global failed
    failed += not good
    print(f"  {'ok     ' if good else 'FAILED '} {what} {found}")


def turn(axis, angle):
    axis = np.asarray(axis, float)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def rpy(a):
    return turn([0, 0, 1], a[2]) @ turn([0, 1, 0], a[1]) @ turn([1, 0, 0], a[0])


def words(text):
    return np.array([float(w) for w in text.split()])


def pose(steps, q):
    """steps: (offset, rotation, kind, axis) of every joint; the end, and its derivatives."""
    p, R, at = np.zeros(3), np.eye(3), []
    for (offset, rotation, kind, axis), value in zip(steps, q):
        p, R = p + R @ offset, R @ rotation
        at.append((p.copy(), R @ axis, kind))
        if kind == "slide":
            p = p + R @ axis * value
            at[-1] = (p.copy(), R @ axis, kind)
        elif kind == "hinge":
            R = R @ turn(axis, value)
    J = np.array([a if kind == "slide" else np.cross(a, p - c) if kind == "hinge" else np.zeros(3) for c, a, kind in at]).T
    return p, J


def read_urdf(path):
    root = ET.parse(path).getroot()
    spring = {g.get("reference"): (float(g.find("springStiffness").text), float(g.find("springReference").text)) for g in root.findall("gazebo")}
    links = [link.get("name") for link in root.findall("link")]
    steps, k, q, seen = [], [], [], "base"
    for joint in root.findall("joint"):
        assert joint.find("parent").get("link") == seen and joint.find("child").get("link") in links
        seen = joint.find("child").get("link")
        origin, kind = joint.find("origin"), {"fixed": "fixed", "prismatic": "slide", "revolute": "hinge"}[joint.get("type")]
        axis = words(joint.find("axis").get("xyz")) if kind != "fixed" else np.zeros(3)
        steps.append((words(origin.get("xyz")), rpy(words(origin.get("rpy", "0 0 0"))), kind, axis))
        k.append(spring[joint.get("name")][0] if kind != "fixed" else np.inf)
        q.append(spring[joint.get("name")][1] if kind != "fixed" else 0)
    masses = [float(m.get("value")) for m in root.iter("mass")]
    return steps, np.array(q), np.array(k), masses


def read_sdf(path):
    model = ET.parse(path).getroot().find("model")
    place = {link.get("name"): link.find("pose") for link in model.findall("link")}
    first = words(model.find("pose").text)
    steps, k, q, seen = [(first[:3], rpy(first[3:]), "fixed", np.zeros(3))], [np.inf], [0], "link_0"
    for joint in model.findall("joint")[1:]:
        child = joint.find("child").text
        assert joint.find("parent").text == seen == place[child].get("relative_to")
        seen = child
        kind = {"fixed": "fixed", "prismatic": "slide", "revolute": "hinge"}[joint.get("type")]
        spring = joint.find("axis/dynamics")
        steps.append((words(place[child].text)[:3], np.eye(3), kind, words(joint.find("axis/xyz").text) if spring is not None else np.zeros(3)))
        k.append(float(spring.find("spring_stiffness").text) if spring is not None else np.inf)
        q.append(float(spring.find("spring_reference").text) if spring is not None else 0)
    steps.append((words(model.find("frame/pose").text)[:3], np.eye(3), "fixed", np.zeros(3)))
    return steps, np.array(q + [0]), np.array(k + [np.inf])


def read_mjcf(path):
    """Values at which all springs and commands are in balance, without weights."""
    root = ET.parse(path).getroot()
    key = root.find("keyframe/key")
    ctrl = dict(zip([m.get("tendon") for m in root.find("actuator")], words(key.get("ctrl"))))
    drive = {}
    for tendon in root.find("tendon"):
        for joint in tendon:
            drive[joint.get("joint")] = drive.get(joint.get("joint"), 0) + float(joint.get("coef")) * ctrl[tendon.get("name")]
    body, steps, k, q = root.find("worldbody/body"), [], [], []
    axes = words(body.get("xyaxes"))
    R = np.stack([axes[:3], axes[3:], np.cross(axes[:3], axes[3:])], 1)
    while body is not None:
        steps.append((words(body.get("pos")), R, "fixed", np.zeros(3)))
        k.append(np.inf)
        q.append(0)
        R = np.eye(3)
        for joint in body.findall("joint"):
            steps.append((np.zeros(3), np.eye(3), joint.get("type"), words(joint.get("axis"))))
            k.append(float(joint.get("stiffness")))
            q.append(float(joint.get("springref")) + drive.get(joint.get("name"), 0) / k[-1])
        site, body = body.find("site"), body.find("body")
    steps.append((words(site.get("pos")), np.eye(3), "fixed", np.zeros(3)))
    solved = words(key.get("qpos"))
    return steps, np.array(q + [0]), np.array(k + [np.inf]), solved


text = open(f"{stem}.urdf").read()
said = float(re.search(r"off by ([\d.e+-]+) mm", text).group(1))
said_compliance = float(re.search(r"compliance there off by ([\d.e+-]+) %", text).group(1)) / 100
goal = np.array(record["markers"]["tip"]["position"])
moved = np.linalg.norm(record["markers"]["tip"]["displacement"])

steps, q, k, masses = read_urdf(f"{stem}.urdf")
tip, J = pose(steps, q)
off = np.linalg.norm(1e3 * tip - goal)
check("URDF: its kinematics lead to where its error says", abs(off - said) < 1e-3, f"{off:.4f} mm off, {said} said")
check("URDF: a few percent of the motion", off < 0.05 * moved, f"{off:.3f} of {moved:.2f} mm")
check("URDF: masses are positive", min(masses) > 0 and 1e-4 < sum(masses) < 1, f"{sum(masses):.4f} kg")
C = 1e3 * (J / k) @ J.T  # mm per N
one = compliance["compliance"]
row = [i for i, o in enumerate(one["outputs"]) if o["name"].startswith("tip.")][:3]
column = [i for i, o in enumerate(one["inputs"]) if o["name"].startswith("force at tip.")]
W = np.array(one["W"])[np.ix_(row, column)]
# `jacobian --compliance` lets efforts go; only robots driven by pressure have the same compliance at constant commands
wrong = np.linalg.norm(C - W) / np.linalg.norm(W)
check("URDF: compliance of the tip off as said", abs(wrong - said_compliance) < 0.02, f"{wrong:.3f}, {said_compliance} said")
for name, read in (("SDF", read_sdf), ("MJCF", read_mjcf)):
    other = read(f"{stem}.{name.lower()}")
    end, J2 = pose(other[0], other[1])
    check(f"{name}: the same end and compliance", np.allclose(end, tip, atol=1e-7) and np.allclose(1e3 * (J2 / other[2]) @ J2.T, C, rtol=1e-5, atol=1e-6))
    if name == "MJCF":
        free = other[1][np.isfinite(other[2])]
        check("MJCF: springs and commands balance at the keyframe", np.allclose(free, other[3], atol=1e-6), f"{np.abs(free - other[3]).max():.1e}")


# ---- SOFA
class Node:
    def __init__(self, name):
        self.name, self.objects, self.children = name, [], []

    def addObject(self, kind, **data):
        self.objects.append((kind, data))

    def addChild(self, name):
        self.children.append(Node(name))
        return self.children[-1]


scene = {}
exec(compile(open(f"{stem}.py").read(), f"{stem}.py", "exec"), scene)
root = Node("root")
scene["createScene"](root)
body = root.children[0]
x = np.array(scene["POSITION"])
tets = np.array(sum(scene["TETRAHEDRA"].values(), []))
a, b, c, d = (x[tets[:, i]] for i in range(4))
volume = np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a)) / 6
check("SOFA: tetrahedra are right-handed, all vertices are used", (volume > 0).all() and len(np.unique(tets)) == len(x), f"{len(tets)} tetrahedra, {volume.sum():.4g} mm^3")
cavity = next(n for n in body.children if n.name == "chamber_air")
kinds = [kind for kind, _ in cavity.objects]
pressure = next(data for kind, data in cavity.objects if kind == "SurfacePressureConstraint")
wall = np.array(pressure["triangles"])
inside = np.einsum("ij,ij->i", x[wall[:, 0]], np.cross(x[wall[:, 1]], x[wall[:, 2]])).sum() / 6
check("SOFA: the walls of the chamber enclose its volume, normals out of it", inside > 0, f"{inside:.5g} mm^3")
check("SOFA: the pressure", abs(1e3 * pressure["value"] - record["commands"]["air"]["value"]) < 1e-9 and "IdentityMapping" in kinds)
check("SOFA: a force field per region and supports", sum(any("Hyperelasticity" in kind for kind, _ in n.objects) for n in body.children) == len(scene["TETRAHEDRA"]) and any(kind == "FixedProjectiveConstraint" for kind, _ in body.objects))
sys.exit(failed > 0)
