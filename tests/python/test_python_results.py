"""Laws of all results: names work as in a dictionary, arrays cannot be written, units are those of the command, files read back."""
import json
import os
import subprocess
import unittest

import numpy as np
import pliant as pl
from pliant import _program
from pliant.testing import arm, beam, finger

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def results():
    """One of each kind of result that has names."""
    r = arm()
    return {
        "State": r.solve(t1=1),
        "Solutions": r.sweep(np.array([[0, 0, 0], [1, 0, 0.5]]), jacobian=True, shapes=True),
        "Workspace": r.workspace(8),
        "IK": r.ik(tip=(10, 5, 95)),
        "Path": r.follow("tip", [(10, 5, 95), (12, 0, 95)]),
        "Motion": beam().simulate("20ms", start="undeformed", every="10ms", shapes=True),
        "Study": r.study({"t1": "0N:2N:2"}),
        "Run": r.run((10, 5, 95), steps=3),
    }


def arrays(thing, path, seen, out):
    """All arrays that public attributes and items of a result lead to."""
    if id(thing) in seen or isinstance(thing, (str, bytes, int, float, type(None), pl.Robot)) or type(thing).__name__ == "module":
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        out.append((path, thing))
    elif isinstance(thing, (list, tuple)):
        for k, one in enumerate(thing):
            arrays(one, f"{path}[{k}]", seen, out)
    elif hasattr(thing, "items"):
        for name, one in thing.items():
            arrays(one, f"{path}[{name!r}]", seen, out)
    if type(thing).__module__.startswith("pliant"):
        for name in dir(thing):
            if not name.startswith("_") and not callable(getattr(type(thing), name, None)) and name != "core":
                try:
                    value = getattr(thing, name)
                except pl.InputError:  # not computed: Jacobians, shapes
                    continue
                arrays(value, f"{path}.{name}", seen, out)


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = results()

    def test_names(self):
        for kind, result in self.all.items():
            with self.subTest(kind):
                self.assertEqual(type(result).__name__, kind)
                names = list(result)
                self.assertTrue(names)
                self.assertEqual(len(names), len(set(names)))
                for name in names:
                    self.assertIn(name, result)
                    self.assertIsNotNone(result[name])
                self.assertNotIn("no such name", result)
                with self.assertRaises(KeyError):
                    result["no such name"]
                for name in result._ipython_key_completions_():
                    self.assertIn(name, result)
                self.assertIn("<", result._repr_html_())
                self.assertTrue(repr(result))

    def test_arrays_are_read_only(self):
        count = 0
        for kind, result in self.all.items():
            found = []
            arrays(result, kind, {}, found)
            for name in result:
                arrays(result[name], f"{kind}[{name!r}]", {}, found)
            count += len(found)
            self.assertEqual([path for path, one in found if one.flags.writeable], [], kind)
        state = finger().solve(flexor=2)
        for one in (state.jacobian(), state.mesh.points, state.fields["displacement"], state.compliance().matrix, state.line("flexor")):
            self.assertFalse(one.flags.writeable)
        print(f"{count} arrays of {len(self.all)} kinds of results, none can be written")
        self.assertGreater(count, 60)

    def test_attributes_cannot_be_assigned(self):
        """Neither those that exist nor misspelt ones, on results, on what they hand out and on robots."""
        state = self.all["State"]
        others = [arm(), state["tip"], state["t1"], state.report, state.markers, finger().mesh, arm().commands["t1"], pl.materials()]
        for thing in [*self.all.values(), *others]:
            kind = type(thing).__name__
            with self.subTest(kind):
                with self.assertRaises(AttributeError):
                    thing.forcse = [0, 0, 1]
                for name in dir(thing):
                    if not name.startswith("_"):
                        with self.assertRaises((AttributeError, TypeError), msg=f"{kind}.{name}"):
                            setattr(thing, name, 1)
        with self.assertRaisesRegex(AttributeError, "did you mean 'forces'"):
            state.forcse = [0, 0, 1]

    def test_saved_robots_are_the_same(self):
        """What a robot was loaded with besides its text is written into its file."""
        bar = {
            "pliant": 1, "name": "bar", "mesh": {"design": {"kind": "beam", "length": 40}, "size": 8}, "regions": {"body": "rubber"},
            "materials": {"rubber": {"model": "neo_hookean", "c10": "0.1 MPa"}}, "fixed": [{"surface": "base"}], "markers": {"tip": {"surface": "tip"}},
        }  # fmt: skip
        block = {key: bar[key] for key in ("mesh", "regions", "fixed", "markers")}
        two = {
            "pliant": 1, "name": "two", "materials": bar["materials"],
            "bodies": [{"name": "low", **block}, {"name": "high", "pose": {"move": [0, 0, 50]}, **block}],
        }  # fmt: skip
        for robot in (
            finger(), pl.design("cable_finger", size=12, order=1, method="local_global"), pl.load(bar, size=12, order=1, displacement=True),
            pl.load(two, size=12, order=1), arm(),
        ):  # fmt: skip
            robot.save("saved.yaml")
            again = pl.load("saved.yaml")
            self.assertEqual((again.hash, again.method), (robot.hash, robot.method))

    def test_shapes_of_a_sweep(self):
        r = finger()
        values = {"flexor": [0.0, 1.0, 2.0], "left": 0, "right": 0}
        t = r.sweep(values, shapes=True)
        again = [s.points for s in r.sweep(values).shapes()]
        kept = [s.points for s in t.shapes()]
        self.assertEqual(t.points.shape, (3, len(r.mesh.points), 3))
        for a, b, c in zip(kept, again, t.points):
            self.assertLess(np.abs(a - b).max(), 1e-6)
            self.assertTrue((a == c).all())
        last = list(t.shapes())[-1]
        self.assertEqual(last.commands["flexor"], 2.0)
        self.assertTrue(np.array_equal(last["tip"].position, t["tip"][-1]))
        self.assertLess(np.abs(last.jacobian("tip") - r.sweep(values, jacobian=True).jacobians["tip"][-1]).max(), 1e-6)
        with self.assertRaises(pl.InputError):
            r.sweep(values).points

    def test_shapes_solved_again_have_the_forces(self):
        """Shapes that were not kept are solved again: under the forces of the start, as the table was."""
        r = arm()
        start = r.solve(t1=0.5, forces={"tip": (0.01, 0, 0)})
        table = r.sweep(t1=[0.5, 1], start=start)
        self.assertGreater(np.linalg.norm(table["tip"][0] - r.solve(t1=0.5)["tip"].position), 0.1)
        for row, state in enumerate(table.shapes()):
            np.testing.assert_allclose(state["tip"].position, table["tip"][row], atol=1e-3)

    def test_npz(self):
        for kind in ("State", "Solutions", "Path", "Motion", "Study"):
            result = self.all[kind]
            result.save(f"{kind}.npz")
            with np.load(f"{kind}.npz") as back:
                self.assertTrue(all("[" in n or n.split(".")[-1] in ("outcome", "rotation") or n in getattr(result, "varied", ()) for n in back.files), back.files)
                for name in (n for n in ("tip", "t1", "tip.x") if n in result):
                    column = next((n for n in back.files if n.split(" [")[0] == name), None)
                    if column is not None:
                        value = result[name]
                        value = value.position if isinstance(value, pl.Marker) else result.commands["t1"] if isinstance(value, pl.Actuator) else value
                        self.assertTrue(np.array_equal(back[column], value), f"{kind}: {column}")
        state = finger().solve(flexor=2)
        state.save("finger.npz")
        with np.load("finger.npz") as back:
            self.assertTrue(np.array_equal(back["points [mm]"], state.mesh.points))
            self.assertTrue(np.array_equal(back["points [mm]"] - back["rest points [mm]"], state.fields["displacement"]))
            self.assertEqual(len(back["elements.tetra"]), len(state.mesh.kind))


class Pictures(unittest.TestCase):
    def test_pixels(self):
        """Every filter that a PNG may use gives the picture back."""
        import struct
        import zlib

        from pliant._env import _pixels

        want = np.random.default_rng(1).integers(0, 256, (10, 7, 4)).astype(np.uint8)
        lines = b""
        for y in range(10):
            for k, filtered in ((y % 5, np.zeros((7, 4), int)),):
                for x in range(7):
                    now = want[y, x].astype(int)
                    left = want[y, x - 1].astype(int) if x else np.zeros(4, int)
                    up = want[y - 1, x].astype(int) if y else np.zeros(4, int)
                    corner = want[y - 1, x - 1].astype(int) if x and y else np.zeros(4, int)
                    nearest = [min(((abs(a + b - c - v), i, v) for i, v in enumerate((a, b, c))))[2] for a, b, c in zip(left, up, corner)]
                    filtered[x] = now - (0, left, up, (left + up) // 2, np.array(nearest))[k]
                lines += bytes([k]) + (filtered & 255).astype(np.uint8).tobytes()

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        head = struct.pack(">IIBBBBB", 7, 10, 8, 6, 0, 0, 0)
        png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
        self.assertTrue((_pixels(png) == want[:, :, :3]).all())


class Units(unittest.TestCase):
    """A number has the same unit in Python and in the command."""

    def check(self, folder, **commands):
        r = pl.load(folder)
        s = r.solve(**commands)
        given = [f"--set={n}={v}{r.commands[n].unit}" for n, v in commands.items()]
        path = folder if os.path.isfile(folder) else os.path.join(folder, "robot.yaml")
        said = subprocess.run(
            [_program.command(), "jacobian", path, "--compliance", *given, "--json", "-"], stdout=subprocess.PIPE, text=True, check=True, env=_program.environment()
        )
        record = json.loads(said.stdout)
        for a in s.actuators.values():
            reported = record["actuators"][a.name]
            measure = r.actuators[a.name]["measure"]
            self.assertAlmostEqual(reported[next(k for k in reported if k.split("_")[0] == measure)], a.measure, delta=1e-6 * abs(a.measure))
            self.assertAlmostEqual(r.actuators[a.name]["rest"] * a.ratio, a.measure, delta=1e-6 * abs(a.measure))
        c, reported = s.compliance(), record["compliance"]
        self.assertEqual([u["unit"] for u in reported["outputs"]], list(c.output_units))
        self.assertEqual([u["unit"] for u in reported["inputs"]], list(c.input_units))
        self.assertEqual([u["name"] for u in reported["outputs"]], list(c.outputs))
        self.assertTrue(np.allclose(reported["W"], c.matrix, rtol=1e-9, atol=1e-12 * np.abs(c.matrix).max()))
        return r, s, c

    def test_chamber(self):
        pl.design("bending_finger", size=8, order=1).save("chamber.yaml")  # the file has the size and the order
        r, s, c = self.check("chamber.yaml", air=6)
        # a compliance is the derivative: per kPa, not per MPa
        h = 0.01
        difference = (r.solve(air=6 + h)["air"].measure - r.solve(air=6 - h)["air"].measure) / (2 * h)
        self.assertLess(abs(c["air.volume", "air"] / difference - 1), 1e-4)
        slope = s.vjp(np.zeros((len(r.markers), 3)), "air", by_effort=[1.0])
        self.assertLess(abs(slope - s.jacobian("air.effort", wrt="air")), 1e-9)

    def test_magnet(self):
        folder = os.path.join(SOURCE, "examples", "magnet")
        name = next(n for n in os.listdir(folder) if n.endswith(".yaml"))
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read().replace("size: 1.2", "size: 6").replace("order: 2", "order: 1")
        with open("magnet.yaml", "w", encoding="utf-8") as file:
            file.write(text)
        r, s, c = self.check("magnet.yaml", coil=5)
        path = r.follow("tip", [s["tip"].position])
        path.save("magnet.csv")
        with open("magnet.csv", encoding="utf-8") as file:
            rows = [line.strip().split(",") for line in file]
        self.assertIn("coil.moment [mA m^2]", rows[0])
        self.assertAlmostEqual(float(rows[1][rows[0].index("coil.moment [mA m^2]")]), path.state["coil"].measure, places=9)


if __name__ == "__main__":
    unittest.main()
