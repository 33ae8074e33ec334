"""Motions in time: the same as those of the command, energy, and what is refused."""
import csv
import os
import subprocess
import unittest

import numpy as np
import pliant as pl
import pliant.testing


class Motions(unittest.TestCase):
    beam = pliant.testing.beam()

    def test_same_as_the_command(self):
        m = self.beam.simulate("0.1 s", {"tendon": "4 mm"}, ramp="50 ms", every="20 ms")
        self.assertEqual((m.outcome, len(m)), ("done", 6))
        m.save("python.csv")
        pliant_command = os.environ["PLIANT_COMMAND"]
        subprocess.run([pliant_command, "new", "beam", "beam"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([pliant_command, "simulate", "beam", "--size", "30", "--until", "0.1s", "--set", "tendon=4mm", "--ramp", "50ms",
                        "--every", "20ms", "--out", "command.csv"], check=True, stdout=subprocess.DEVNULL)
        tables = []
        for name in ("python.csv", "command.csv"):
            with open(name, newline="") as file:
                tables.append(list(csv.reader(file)))
        self.assertEqual(tables[0][0], tables[1][0])
        apart = np.abs(np.array(tables[0][1:], float) - np.array(tables[1][1:], float)).max()
        print(f"python and command: {apart:.1e} apart")
        self.assertLess(apart, 1e-5)

    def test_let_go_and_go_on(self):
        first = self.beam.simulate(0.1, start="undeformed", every=0.01, shapes=True)
        on = self.beam.simulate("0.15 s", start=first, every="10 ms")
        whole = self.beam.simulate("0.15 s", start="undeformed", every="1 ms")
        self.assertEqual(first.shapes.shape, (11, len(self.beam.mesh.points), 3))
        self.assertAlmostEqual(on.time[0], 0.1)
        self.assertLess(np.abs(on["tip"][-1] - whole["tip"][-1]).max(), 0.02)
        # velocities are the slopes of positions, and no energy is created
        slope = np.gradient(whole["tip"][:, 2], whole.time)
        self.assertLess(np.abs(slope - whole.velocities["tip"][:, 2])[2:-2].max(), 0.02 * np.abs(slope).max())
        self.assertLess(whole.energy["imbalance"].max(), 1e-3 * np.abs(whole.energy["loads"]).max())
        self.assertTrue(np.allclose(whole.at(0.05)["tip"], whole["tip"][50]))

    def test_signals(self):
        wave = self.beam.simulate("0.1 s", {"tendon": {"mean": 2, "amplitude": "1 mm", "frequency": 5}}, every="50 ms")
        self.assertTrue(np.allclose(wave["tendon"], [2, 3, 2], atol=1e-9))
        table = self.beam.simulate("0.1 s", {"tendon": ([0, "50 ms", 0.1], [0, 2, 2])}, every="25 ms")
        self.assertTrue(np.allclose(table["tendon"], [0, 1, 2, 2, 2], atol=1e-9))
        heavy = self.beam.simulate("60 ms", start="undeformed", masses={"tip": "52 g"}, every="60 ms")
        light = self.beam.simulate("60 ms", start="undeformed", every="60 ms")
        self.assertLess(heavy["tip"][-1, 2], light["tip"][-1, 2])

    def test_environment(self):
        # steps of an environment in time are one motion; velocities are part of what is observed
        env = pl.Env(self.beam, dt="10 ms", step=0.2, target=[0, 0, 0])
        seen, _ = env.reset(seed=1)
        self.assertEqual(seen.shape, env.observation_space.shape)
        self.assertEqual(len(seen), len(self.beam.commands) + 9)
        self.assertTrue((seen[-3:] == 0).all())
        middle = float(env._values[0])
        values, times = [middle], [0.0]
        for action in (1, 1, -1, 0):
            seen, reward, _, _, info = env.step([action])
            self.assertTrue(info["converged"])
            values.append(float(env._values[0]))
            times.append(times[-1] + 0.01)
        whole = self.beam.simulate(times[-1], {"tendon": (times, values)}, every="10 ms")
        moved = np.abs(whole["tip"][-1] - whole["tip"][0]).max()
        apart = np.abs(seen[1:4] - whole["tip"][-1]).max()
        print(f"environment in time: {apart:.2e} mm from one motion, which moves {moved:.2f} mm")
        self.assertLess(apart, 0.01 * moved)
        # the tolerance of steps is one of positions; a corner of a prescribed length makes velocities ring
        self.assertLess(np.abs(seen[-3:] - whole.velocities["tip"][-1]).max(), 0.1 * np.abs(whole.velocities["tip"]).max())
        with self.assertRaises(pl.InputError):
            pl.Env(self.beam, dt=0)

    def test_refused(self):
        for call, word in (
            (lambda: self.beam.simulate("0.1 s", {"tendn": 1}), "tendon"),
            (lambda: self.beam.simulate("0.1 kPa"), "kPa"),
            (lambda: self.beam.simulate("0.1 s", start="nowhere"), "nowhere"),
            (lambda: pliant.testing.arm().simulate("0.1 s"), "full body"),
            (lambda: pliant.testing.bar().simulate("0.1 s"), "density"),
            (lambda: self.beam.simulate("0.1 s", {"tendon": {"mean": 1}}), "frequency"),
        ):
            with self.assertRaises(pl.InputError) as caught:
                call()
            self.assertIn(word, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
