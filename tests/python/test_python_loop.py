"""Studies, simulated robots, loops and margins in Python give the numbers of the command, and refuse in its words."""
import json
import os
import subprocess
import unittest

import numpy as np
import pliant as pl
import pliant.testing

COMMAND = os.environ["PLIANT_COMMAND"]
ARM = pliant.testing.arm()
ARM.save("arm.yaml")


def command(*arguments):
    done = subprocess.run([COMMAND, *arguments, "--json", "-"], capture_output=True, text=True)
    return json.loads(done.stdout)


class Loop(unittest.TestCase):
    def test_study(self):
        s = ARM.study({"model.sections.0.young": ["0.5 MPa", "1 MPa"], "t1": [0, 1.5]}, {"t2": 0.5})
        record = command("study", "arm.yaml", "--vary", "model.sections.0.young=0.5 MPa,1 MPa", "--vary", "t1=0N,1.5N", "--set", "t2=0.5N")
        self.assertEqual(s.quantities, record["quantities"])
        for q in s.quantities:
            given = [np.nan if row["results"][q] is None else row["results"][q] for row in record["rows"]]
            # the record has nine digits
            self.assertTrue(np.allclose(s[q], given, rtol=1e-8, atol=1e-9, equal_nan=True), q)
        self.assertEqual(s.varied["t1"], ["0 N", "1.5 N"] * 2)
        with self.assertRaises(ValueError):
            s["tip.x"][0] = 1

    def test_study_is_of_the_robot_as_it_was_loaded(self):
        mixed = pliant.testing.bar()
        plain = pl.load(json.loads(mixed.text), displacement=True)
        softer = {"materials.rubber.c10": ["0.1 MPa"]}
        expected = [r.solve()["tip"].position[2] for r in (mixed, plain)]
        self.assertGreater(abs(expected[0] - expected[1]), 1e-5)
        for robot, z in zip((mixed, plain), expected):
            self.assertAlmostEqual(robot.study(softer)["tip.z"][0], z, delta=1e-8)

    def test_study_beyond_ranges(self):
        high = 2 * ARM.commands["t1"].range[1]
        self.assertIn("outside its range", ARM.study({"t1": [high, 1]}).outcome[0])
        self.assertTrue(ARM.study({"t1": [high, 1]}, beyond_range=True).solved.all())

    def test_run_tells_what_is_uncertain(self):
        rod = pliant.testing.beam().reduce("rod", samples=20)
        aim = rod.solve(tendon=1)["tip"].position
        wide = rod.run(aim, steps=80, control_marker=True, tolerance=20)
        off = wide.goals[0].uncertainty
        narrow = rod.run(aim, steps=80, control_marker=True, tolerance=off / 2)
        print(wide, narrow, sep="\n")
        self.assertTrue(wide.reached and not wide.goals[0].uncertain)
        self.assertEqual((narrow.reached, narrow.goals[0].uncertain), (False, True))

    def test_store_and_interruption(self):
        axes = {"t1": [0, 1, 2]}
        self.assertEqual(ARM.study(axes, store="kept.csv").kept, 0)
        self.assertEqual(ARM.study(axes, store="kept.csv").kept, 3)

        def stop(fraction, text):
            raise KeyboardInterrupt

        with self.assertRaises(pl.Interrupted) as caught:
            ARM.study({"t1": list(np.linspace(0, 9, 400))}, progress=stop)
        self.assertEqual(len(caught.exception.result), 400)
        self.assertLess(int(caught.exception.result.solved.sum()), 400)

    def test_plant_is_that_of_the_command(self):
        process = subprocess.Popen([COMMAND, "plant", "arm.yaml", "--stdio", "--seed", "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        hello = json.loads(process.stdout.readline())
        with ARM.plant(seed=3) as plant:
            self.assertEqual(plant.period, hello["period"])
            for k in range(5):
                process.stdin.write(json.dumps({"seq": k, "t": k * 0.1, "set": {"t1": 0.5 * k, "t2": 0.1}}) + "\n")
                process.stdin.flush()
                other = json.loads(process.stdout.readline())
                mine = plant.step(t1=0.5 * k, t2="0.1 N")
                for name, value in other["sensors"].items():
                    self.assertAlmostEqual(mine.sensors[name], value, delta=1e-7)
                self.assertTrue(np.allclose(mine.markers["tip"], other["markers"]["tip"], atol=1e-7))
        process.stdin.close()
        process.stdout.close()
        process.wait()

    def test_loop_is_that_of_the_command(self):
        run = ARM.run((10, 5, 95), steps=25)
        plant, loop = ARM.plant(), ARM.loop()
        self.assertLess(loop.goal((10, 5, 95)), 0.01)
        for k in range(25):
            reading = plant.step(loop.commands)
            tick = loop.tick(reading.sensors)
            for name in ARM.commands:
                self.assertAlmostEqual(tick.commands[name], run[name][k], delta=1e-6)
            self.assertTrue(np.allclose(tick.markers["tip"], [run[f"tip.{a} estimated"][k] for a in "xyz"], atol=1e-5))

    def test_margin_is_that_of_the_command(self):
        m = ARM.control(kp=0.3, delay="0.1 s", lag=0.05)
        record = command("control", "check", "arm.yaml", "--kp", "0.3", "--delay", "0.1s", "--lag", "0.05s")
        for key in ("stable", "damped", "overshoot", "sensitivity", "gamma", "settled", "kp", "ki", "delay", "lag", "period"):
            self.assertAlmostEqual(getattr(m, key), record[key], delta=1e-8, msg=key)

    def test_refusals(self):
        plant, loop = ARM.plant(), ARM.loop()
        wrong = [
            (lambda: ARM.study({"t9": [1, 2]}), "'t9' is neither a command of the robot nor a value of its file"),
            (lambda: ARM.study({}), "nothing is varied"),
            (lambda: ARM.study({"t1": [1]}, blocked="q"), "expected True, x, y or z"),
            (lambda: ARM.study({"t1": "1:2"}), "t1=1:2"),
            (lambda: plant.step(t1=None), "t1 is None"),
            (lambda: plant.step(t1=1e6), "outside its range of 0 to 10 N"),
            (lambda: plant.step(t1=float("nan")), "expected a finite number"),
            (lambda: ARM.plant(period="1 mm"), "expected a time"),
            (lambda: ARM.plant(period=-1), "expected a time"),
            (lambda: ARM.loop(controller="pid"), "expected open, pi, track or impedance"),
            (lambda: ARM.loop(controller="impedance"), "impedance controls a marker"),
            (lambda: ARM.loop("top"), "no marker 'top'"),
            (lambda: loop.goal((1, 2)), "goal"),
            (lambda: loop.tick({"s9": 1}), "no sensor 's9'"),
            (lambda: ARM.control(kp=-1), "kp is -1"),
            (lambda: pl.design("segment_beam").loop(), "no sensors to control"),
        ]
        for call, words in wrong:
            with self.assertRaises(pl.InputError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertNotIn("beyond_range", str(caught.exception))
        plant.close()
        with self.assertRaises(pl.InputError):
            plant.step(t1=1)

    def test_no_command_is_needed(self):
        held = os.environ.pop("PLIANT_COMMAND"), os.environ["PATH"]
        os.environ["PATH"] = "/nowhere"
        try:
            self.assertTrue(ARM.study({"t1": [0, 1]}).solved.all())
            self.assertTrue(ARM.plant().step(t1=1).solved)
            self.assertTrue(ARM.control().stable)
        finally:
            os.environ["PLIANT_COMMAND"], os.environ["PATH"] = held


if __name__ == "__main__":
    unittest.main()
