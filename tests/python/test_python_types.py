"""The stub of the C extension names what the extension has, and mypy finds nothing to complain about. The latter is left
out where mypy is not installed."""
import ast
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import pliant
from pliant import _core

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.dirname(pliant.__file__)
PROGRAM = """
import numpy as np
import pliant as pl

r: pl.Robot = pl.load("robot.yaml", order=1)
s: pl.State = r.solve(air="30 kPa")
ok: bool = s.converged
angle = s.markers["tip"].turned
q: pl.IK = r.ik(tip=[1.0, 2.0, 3.0])
bounds: list[pl.Bound] = q.active_bounds
t: pl.Solutions = r.sweep(air=np.linspace(0, 1, 3), jobs=2)
w: pl.Workspace = r.workspace(8)
path: pl.Path = r.follow("tip", [[1, 2, 3], [2, 3, 4]])
task: pl.Task = r.task("pick.yaml")
compared: pl.Comparison = r.compare(air=10)
motion: pl.Motion = r.simulate("1 s", {"air": 3})
shapes: pl.Shapes = r.shapes({"air": 3})
shape: pl.Shape = shapes[0]
study: pl.Study = r.study({"design.wall": "1:2:5"}, {"air": "20 kPa"})
loop: pl.Run = r.run((1, 2, 3))
plant: pl.Plant = r.plant(seed=1)
reading: pl.Reading = plant.step(air=1)
closed: pl.Loop = r.loop("tip", controller="pi")
tick: pl.Tick = closed.tick(reading.sensors)
margin: pl.Margin = r.control(kp=0.3)
fit: pl.Fit = r.calibrate("measured.csv", free=["silicone.c10"])
tensile: pl.Tensile = pl.tensile("test.csv")
estimate: pl.Estimate = r.estimate({"air": 3}, {"tip": [1, 2, 3]})
reduced: pl.Reduced = r.reduce("rod")
learned: pl.Learned = r.learn(samples=8)
table: pl.Table = pl.designs()
column: list[object] = table["design"]
compliance: pl.Compliance = s.compliance()
actuator: pl.Actuator = s.actuators["air"]
sensor: pl.Sensor = s.sensors["s1"]
reaction: pl.Reaction = s.reactions["base"]
report: pl.Report = s.report
command: pl.Command = r.commands["air"]
picture: pl.Picture = s.plot()
"""
RESULTS = ["s", "q", "bounds[0]", "t", "w", "path", "task", "compared", "motion", "shapes", "shape", "study", "loop", "closed", "tick", "plant", "reading", "margin", "fit",
           "tensile", "estimate", "reduced", "learned", "table", "compliance", "actuator", "sensor", "reaction", "report", "command", "picture"]  # fmt: skip
# a wrong type, and misspelt attributes of robots, states, markers and results
WRONG = ["n: int = s.outcome", "r.comands", "s.convergd", 's.markers["tip"].positon', "q.reachd", "t.convergd", "r.run((1, 2, 3)).reachd"]
WRONG += ["r.comands = 3", "s.forcse = [0, 0, 1]", "s.converged = True", "t.comands = 3"]
WRONG += [f"{name}.mispelt" for name in RESULTS]


class Types(unittest.TestCase):
    maxDiff = None

    def test_stub_is_complete(self):
        with open(os.path.join(FOLDER, "_core.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())

        def names(body):
            out = {n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
            return out | {n.target.id for n in body if isinstance(n, ast.AnnAssign)}

        def public(thing):
            return {n for n in dir(thing) if not n.startswith("_")}

        self.assertEqual({n for n in names(tree.body) if not n.startswith("_")}, public(_core))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not issubclass(getattr(_core, node.name), Exception):
                stub = {n for n in names(node.body) if not n.startswith("__")}
                self.assertEqual(stub, public(getattr(_core, node.name)), node.name)

    def test_docstrings(self):
        bare = []
        for name in pliant.__all__:
            if name in ("Env", "torch_solve"):
                continue
            thing = getattr(pliant, name)
            if not (thing.__doc__ or "").strip():
                bare.append(name)
            for part in vars(thing).values() if isinstance(thing, type) else ():
                function = part.fget if isinstance(part, property) else part
                if callable(function) and not getattr(function, "__name__", "_").startswith("_") and not function.__doc__:
                    bare.append(f"{name}.{function.__name__}")
        self.assertEqual([b for b in bare if b not in ("Robot.name",)], [])

    def test_units_are_said(self):
        """Every number that a result or a robot hands out says its unit, in the comment beside it or in its docstring."""
        unit = re.compile(
            r"\b(mm|N|kPa|MPa|mJ|s|ms|Hz|rad|degrees|g|pixels|V|fractions?|share|ratios?|count|booleans?|unit|units|without unit|matrix|index|number|numbers|"
            r"vertices|dictionary|ticks|eigenvalues|(?:n|ticks), 3\)|3, 3\))|%|3 x 3"
        )
        bare = []
        for name in sorted(n for n in os.listdir(FOLDER) if n.endswith(".py")):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                text = file.read()
            lines = text.splitlines()
            for kind in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ClassDef) and not n.name.startswith("_")):
                for part in kind.body:
                    if isinstance(part, ast.FunctionDef) and any(ast.unparse(d).endswith("property") for d in part.decorator_list):
                        what, kept, said = part.name, ast.unparse(part.returns) if part.returns else "", ast.get_docstring(part) or ""
                    elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        what, kept, said = part.target.id, ast.unparse(part.annotation), lines[part.lineno - 1].partition("#:")[2]
                    else:
                        continue
                    if re.search(r"\bfloat\b|^Any$|Named\[Any\]", kept) and not what.startswith("_") and not unit.search(said):
                        bare.append(f"{kind.name}.{what}: {said}")
                for made in (n for p in kind.body if isinstance(p, ast.FunctionDef) and p.name == "__init__" for n in ast.walk(p)):
                    if isinstance(made, ast.AnnAssign) and "float" in ast.unparse(made.annotation) and not ast.unparse(made.target).startswith("self._"):
                        said = lines[made.lineno - 1].partition("#:")[2] + lines[made.lineno - 2].partition("#:")[2]
                        if not unit.search(said):
                            bare.append(f"{kind.name}, {ast.unparse(made.target)}: {said}")
        self.assertEqual(bare, [])

    @unittest.skipUnless(shutil.which("mypy", path="/usr/bin"), "mypy is not there")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("right.py", PROGRAM), ("wrong.py", PROGRAM + "\n".join(WRONG) + "\n")):
                path = os.path.join(folder, name)
                with open(path, "w") as file:
                    file.write(text)
            command = ["/usr/bin/mypy", "--config-file", os.path.join(SOURCE, "pyproject.toml"), "--cache-dir", os.path.join(folder, "cache")]
            env = {**os.environ, "MYPYPATH": os.path.dirname(FOLDER)}
            env.pop("LD_PRELOAD", None)
            right = subprocess.run([*command, "-p", "pliant"], capture_output=True, text=True, env=env, cwd=folder)
            print(right.stdout.strip())
            self.assertEqual(right.returncode, 0, right.stdout)
            right = subprocess.run([*command, "right.py"], capture_output=True, text=True, env=env, cwd=folder)
            self.assertEqual(right.returncode, 0, right.stdout)
            wrong = subprocess.run([*command, "wrong.py"], capture_output=True, text=True, env=env, cwd=folder)
            self.assertEqual(wrong.returncode, 1, wrong.stdout)
            self.assertIn(f"Found {len(WRONG)} errors", wrong.stdout)


if __name__ == "__main__":
    unittest.main()
