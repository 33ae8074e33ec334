"""Random calls with wrong and right arguments end in answers or named exceptions, never in a crash (under the address
sanitizer: without a report); 10,000 solves leave the resident memory where it was."""
import os
import random
import unittest

import numpy as np
import pliant as pl
from pliant import _core

SANITIZED = bool(os.environ.get("PLIANT_SANITIZER"))
CALLS = int(os.environ.get("PLIANT_CALLS", "10000" if SANITIZED else "3000"))
GOOD = (pl.Error, TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, UnicodeError, OSError)


class Calls:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.robots = [pl.design("segment_beam"), pl.design("trunk_cc")]
        self.states = [r.solve() for r in self.robots]
        self.solved = self.refused = 0

    def pick(self, *things):
        return self.rng.choice(things)

    def junk(self, depth=0):
        r = self.rng
        simple = [
            None, True, 0, -1, 3, 2**40, -(2**70), 0.5, -1e300, float("nan"), float("inf"), "", "tip", "chamber1", "30 kPa",
            "-5 bar", "1e999 kPa", "kPa", "\0", "ü€😀", "a" * 3000, b"tip", (), [], {}, object(), np.zeros(3), np.zeros((2, 3)),
            np.zeros(0), np.arange(6, dtype=np.int32), np.array("x"), np.float32(2), 1 + 2j, "../..", "nowhere.yaml",
        ]
        if depth < 2 and r.random() < 0.3:
            return [self.junk(depth + 1) for _ in range(r.randrange(4))]
        if depth < 2 and r.random() < 0.1:
            return {self.pick("chamber1", "pliant", "mesh", "model", "tip"): self.junk(depth + 1) for _ in range(r.randrange(3))}
        return r.choice(simple)

    def value(self):
        r = self.rng
        return r.choice([r.uniform(0, 100), f"{r.uniform(0, 100):.3f} kPa", None, self.junk(), r.uniform(-50, 500), r.uniform(0, 20)])

    def call(self):
        r = self.rng
        robot = r.choice(self.robots)
        state = r.choice(self.states)
        names = list(robot.commands)
        name = r.choice([*names, *names, *names, "tip", "air", "", "chamber9"])
        point = r.choice([lambda: np.array(state["tip"].position) + r.uniform(-2, 2), lambda: [r.uniform(-30, 30) for _ in range(3)], self.junk])()
        calls = [
            lambda: self.keep(robot.solve({name: self.value()}, beyond_range=r.random() < 0.3)),
            lambda: self.keep(robot.solve({n: r.uniform(0, 60) for n in names})),
            lambda: self.keep(state.solve({name: self.value()})),
            lambda: state[self.pick("tip", "chamber1", "x", self.junk())],
            lambda: state.jacobian(self.pick("tip", "tip.rotation", "chamber1.effort", "energy", None, self.junk()), self.pick(None, name, [name], self.junk())),
            lambda: state.grad(self.pick(lambda tip: tip[0], lambda tip: tip, lambda nobody: 1.0, self.junk()), wrt=self.pick(None, name)),
            lambda: state.vjp(self.junk(), self.pick(None, name)),
            lambda: robot.ik(**{self.pick("tip", "tip", "nose"): point}, iterations=self.pick(3, 5, None, self.junk()), hold=self.pick((), [name], self.junk())),
            lambda: robot.ik(point, bounds={name: self.pick((0, 10), self.junk())}),
            lambda: robot.follow(self.pick("tip", None, self.junk()), self.pick([point, point], self.junk()), iterations=3),
            lambda: robot.sweep({name: self.pick([0, 10, 20], self.junk())}, grid=r.random() < 0.5, jobs=self.pick(1, 2)),
            lambda: robot.workspace(self.pick(3, 0, -1, 7), grid=r.random() < 0.3),
            lambda: pl.path(self.pick("circle", "eight", self.junk()), size=self.pick(3.0, (1, 2), self.junk()), count=self.pick(5, 0, -3, 2**40)),
            lambda: pl.design(self.pick("segment_beam", "beam", self.junk()), **{self.pick("length", "xyz"): self.junk()}) if r.random() < 0.02 else None,
            lambda: pl.load(self.junk()) if r.random() < 0.2 else None,
            lambda: state.fields[self.pick("stretch", self.junk())],
            lambda: state.line(self.pick("chamber1", self.junk())),
            lambda: (state.mesh.triangles(self.pick(None, "base", self.junk())), state.points.sum()),
            lambda: state.save(self.junk()) if r.random() < 0.1 else state.to_dict(),
            lambda: state.plot(**{self.pick("color", "view", "cut", "width"): self.junk()}) if r.random() < 0.02 else None,
            lambda: (repr(state), state._repr_html_(), state.actuators, state.sensors, state.readings, state.reactions),
            lambda: robot.solve(forces={self.pick("tip", "x"): self.junk()}),
            lambda: self.core(robot),
        ]
        try:
            r.choice(calls)()
            self.solved += 1
        except GOOD:
            self.refused += 1

    def core(self, robot):
        """The C functions with anything."""
        model = robot._take()
        try:
            things = [getattr(model, n) for n in dir(model) if not n.startswith("_") and callable(getattr(model, n))]
            things += [getattr(_core, n) for n in dir(_core) if not n.startswith("_") and callable(getattr(_core, n)) and n not in ("threads", "guess")]
            f = self.rng.choice(things)
            f(*[self.junk() for _ in range(self.rng.randrange(12) if self.rng.random() < 0.5 else self.rng.randrange(4))])
        finally:
            robot._give(model, None)

    def keep(self, state):
        self.states[self.rng.randrange(len(self.states))] = state


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(unittest.TestCase):
    def test_random_calls(self):
        calls = Calls(20)
        for _ in range(CALLS):
            calls.call()
        print(f"{CALLS} random calls: {calls.solved} answered, {calls.refused} refused by name")
        self.assertGreater(calls.solved, CALLS // 5)
        self.assertGreater(calls.refused, CALLS // 10)
        for robot in calls.robots:
            self.assertTrue(robot.solve().converged)

    @unittest.skipIf(SANITIZED, "the sanitizer keeps freed memory for a while")
    def test_no_leak(self):
        robot = pl.design("trunk_cc")
        name = next(iter(robot.commands))
        span = robot.commands[name].span

        def work(count):
            for k in range(count):
                s = robot.solve({name: span[0] + (span[1] - span[0]) * (k % 97) / 97})
                if k % 10 == 0:
                    s.jacobian("tip"), s.points, s.grad(lambda tip: tip[0]), s.to_dict()
                    try:
                        robot.solve(nobody=3)
                    except pl.InputError:
                        pass

        work(1000)
        before = resident()
        work(10000)
        grown = resident() - before
        print(f"10,000 solves: resident memory {before / 1e6:.1f} MB, grown by {grown / 1e3:.0f} kB")
        self.assertLess(grown, 1e6)


if __name__ == "__main__":
    unittest.main()
