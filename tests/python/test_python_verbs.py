"""What the other verbs do, in Python: task, compare, reduce, calibrate, serve."""
import json
import os
import re
import subprocess
import unittest
import urllib.request

import numpy as np
import pliant as pl
import pliant.testing

CLAW = pl.design("cable_finger", size=12, order=1)


def neo_hookean_bar(c10, poisson, stretch):
    """Stress of a bar of undeformed section 1, W = c10 (I1bar - 3) + K/2 (J - 1)^2, its sides free."""
    bulk = 4 * c10 * (1 + poisson) / (3 * (1 - 2 * poisson))
    low, high = 0.1 * stretch**-0.5, 2 * stretch**-0.5
    for _ in range(80):
        side = (low + high) / 2
        J = stretch * side**2
        deviator = 2 * c10 * J ** (-2 / 3) * (stretch**2 - side**2) / 3
        if bulk * J * (J - 1) > deviator:  # Kirchhoff stress across: bulk J (J - 1) - deviator = 0
            high = side
        else:
            low = side
    return (bulk * J * (J - 1) + 2 * deviator) / stretch


class Verbs(unittest.TestCase):
    # what does in Python what a verb, or a kind of `calibrate`, does in the terminal
    SAME = {
        "new": pl.design, "info": pl.Robot.__repr__, "doctor": pl.Robot.examine, "mesh": pl.Mesh.quality, "materials": pl.materials, "track": pl.Cameras.track,
        "fk": pl.Robot.solve, "sweep": pl.Robot.sweep, "jacobian": pl.State.jacobian, "compare": pl.Robot.compare, "simulate": pl.Robot.simulate,
        "modes": pl.Robot.modes, "reduce": pl.Robot.reduce, "ik": pl.Robot.ik, "follow": pl.Robot.follow, "workspace": pl.Robot.workspace, "task": pl.Robot.task,
        "study": pl.Robot.study, "estimate": pl.Robot.estimate, "run": pl.Robot.run, "plant": pl.Robot.plant, "control": pl.Robot.control, "sample": pl.Robot.sample,
        "learn": pl.Robot.learn, "adapt": pl.Learned.adapt, "serve": pl.Robot.serve, "shapes": pl.Robot.shapes, "calibrate": pl.tensile,
    }  # fmt: skip
    CALIBRATE = {
        "tensile": pl.tensile, "relaxation": pl.relaxation, "cycles": pl.cycles, "release": pl.Robot.release, "ratio": pl.ratio, "syringe": pl.syringe,
        "poses": pl.Robot.calibrate, "cameras": pl.cameras,
    }  # fmt: skip

    def test_every_verb(self):
        tables = json.loads(subprocess.run([os.environ["PLIANT_COMMAND"], "help", "--json", "-"], capture_output=True, text=True, check=True).stdout)
        self.assertEqual({v["name"] for v in tables["verbs"]} - set(self.SAME), {"completion"})
        usage = next(v for v in tables["verbs"] if v["name"] == "calibrate")["usage"]
        self.assertEqual(set(re.findall(r"(?:^|\| )(?:calibrate )?([a-z]+)", usage)), set(self.CALIBRATE))

    def test_guess(self):
        for path, error in (("nowhere.step", pl.FileError), ("nowhere.stl", pl.FileError)):
            with self.assertRaises(error):
                pl.guess(path)
        with self.assertRaisesRegex(pl.InputError, "did you mean 'ecoflex_00_50'"):
            pl.guess("nowhere.stl", material="ecoflx_00_50")

    def test_options_of_solves(self):
        error = pl.testing.bar().solve().mesh_error()
        self.assertTrue(0 < error["relative"] < 1 and error["factor"] == 3)
        self.assertTrue(np.isnan(pl.testing.arm().solve(t1=1).mesh_error()["relative"]))
        # a balloon: its pressure has a maximum
        ball = {
            "pliant": 1, "name": "ball", "mesh": {"design": {"kind": "sphere_shell"}, "size": 8, "order": 1, "accept": True},
            "materials": {"rubber": {"model": "neo_hookean", "c10": 0.05}}, "regions": {"shell": "rubber"}, "fixed": [{"box": [[-100, -100, -100], [100, 100, -10]]}],
            "actuators": [{"name": "air", "kind": "chamber", "surface": "cavity", "drive": "pressure", "range": ["0 kPa", "5000 kPa"]}],
        }  # fmt: skip
        self.assertEqual(pl.load(ball, stop_at_limit=True).solve(air=5000).outcome, "limit point")

    def test_tests(self):
        t = np.r_[np.linspace(0, 2, 80), np.linspace(2.2, 30, 60)]
        held = 0.1 * (1 + 0.3 * np.exp(-t / 0.5) + 0.1 * np.exp(-t / 8))
        np.savetxt("held.csv", np.c_[t, held], delimiter=",", header="t [s],stress [MPa]", comments="")
        fit = pl.relaxation("held.csv", [0.5, 8])
        self.assertLess(np.abs(fit.g - [0.3, 0.1]).max(), 1e-4)
        self.assertEqual((fit.prony[1]["tau"], fit.unit), ("8 s", "MPa"))
        np.savetxt("pulled.csv", np.c_[t, 20 * held], delimiter=",", header="t [s],force [N]", comments="")
        self.assertIn("modulus 2 N", repr(pl.relaxation("pulled.csv", [0.5, 8])))
        self.assertAlmostEqual(pl.ratio(0.842, length=80, interface=40, pull=4, size=10).elasticity, 3.75, delta=0.02)
        modes = pl.testing.beam().modes({"tendon": "2 mm"}, count=2)
        print(fit, modes, sep="\n")
        self.assertEqual((len(modes), modes.state.commands["tendon"]), (2, 2.0))
        self.assertGreater(modes.frequency[1], modes.frequency[0])
        with self.assertRaises(pl.InputError):
            CLAW.modes()  # no density

    def test_task(self):
        with open("move.yaml", "w") as file:
            file.write(
                "task: 1\nname: two moves\nmarker: tip\nstages:\n  - {do: move, to: [114.5, 0, -5], steps: 2}\n"
                "  - {do: move, name: sideways, to: [114.5, 1.5, -6]}\n"
            )
        t = CLAW.task("move.yaml")
        print(t)
        self.assertEqual(t.name, "two moves")
        self.assertEqual(t.stages, ["move", "move", "sideways"])
        self.assertTrue(t.reached.all())
        self.assertLess(np.abs(t.state["tip"].position - [114.5, 1.5, -6]).max(), 0.01)
        with open("grasp.yaml", "w") as file:
            file.write(
                "task: 1\ngripper: {marker: tip, normal: [1, 0, 0], clearance: 2, line: [[5, 0, 12], [115, 0, 12]], commands: [left, right]}\n"
                "objects:\n  ball: {center: [116, 0, -15], radius: 8}\nstages:\n  - {do: reach, object: ball}\n"
                "  - {do: place, object: ball, to: [114, 0, -18], steps: 2}\n"
            )
        self.assertEqual(len(CLAW.task("grasp.yaml")), 3)
        with open("wrong.yaml", "w") as file:
            file.write("task: 1\nstages:\n- {do: fly}\n- {do: move, hight: 3}\n")
        with self.assertRaises(pl.InputError) as caught:
            CLAW.task("wrong.yaml")
        self.assertIn("wrong.yaml:3: error", str(caught.exception))
        self.assertIn("'fly' is unknown", str(caught.exception))
        with self.assertRaises(pl.FileError):
            CLAW.task("nowhere.yaml")

    def test_compare(self):
        found = CLAW.compare(flexor=2, methods=("exact", "local_global"))
        print(found)
        self.assertEqual(found.methods[-1]["method"], "local_global")
        self.assertLess(found.methods[-1]["from_corners"], 1)
        with self.assertRaises(pl.InputError):
            CLAW.compare(flexor=2, methods=("exakt",))

    def test_reduce(self):
        beam = CLAW.reduce("rod", samples=3)
        print(beam, beam.fit)
        self.assertEqual(beam.kind, "rod")
        self.assertLess(beam.fit["position_rms"], beam.fit["motion_rms"])
        s = beam.solve(flexor=2)
        self.assertLess(np.linalg.norm(s["tip"].position - CLAW.solve(flexor=2)["tip"].position), 2)
        with self.assertRaises(pl.InputError):
            beam.reduce()

    def test_calibrate(self):
        strain = np.linspace(0.02, 1, 40)
        stretch = 1 + strain
        stress = [neo_hookean_bar(0.1, 0.49, a) for a in stretch]
        with open("test.csv", "w") as file:
            file.write("strain,stress\n" + "\n".join(f"{a:.6f},{b:.8f}" for a, b in zip(strain, stress)))
        fit = pl.tensile("test.csv", model="neo_hookean")
        print(fit)
        self.assertLess(abs(fit.material["c10"] - 0.1), 1e-5)
        self.assertTrue(fit.stable)
        with open("pv.csv", "w") as file:
            file.write("P [kPa], dV [mL]\n")
            for g in (0, 5, 10, 15, 20, 25, 30, 25, 20, 15, 10, 5, 0):
                file.write(f"{g}, {33 - 33 * 101.325 / (101.325 + g) + 0.1 * g:.5f}\n")
        tables = pl.syringe("pv.csv", chamber=10, tube=3, syringe=20)
        ratios = [row[1] for row in tables["loading"]]
        self.assertTrue(all(b >= a for a, b in zip(ratios, ratios[1:])))
        with self.assertRaises(pl.InputError):
            pl.tensile("pv.csv", model="rubber")

    def test_serve(self):
        live = pl.design("segment_beam").serve()
        try:
            page = urllib.request.urlopen(live.address, timeout=20).read()
            self.assertIn(b"<canvas", page)
            self.assertIn(live.address, live._repr_html_())
        finally:
            live.close()
        self.assertIsNotNone(live.process.poll())


if __name__ == "__main__":
    unittest.main()
