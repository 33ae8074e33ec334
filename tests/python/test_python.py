"""The module pliant: the twenty lines people start with, results by name, derivatives against differences, sentences of
the command, arrays without copies, threads, interruption, pickles, files."""
import json
import os
import pickle
import resource
import signal
import subprocess
import threading
import time
import unittest

import numpy as np
import pliant as pl
import pliant.testing

COMMAND = os.environ["PLIANT_COMMAND"]


# a reduced robot and a coarse full one
BEAM = pl.design("segment_beam")
FINGER = pl.design("bending_finger", size=6, order=1)


class Shared(unittest.TestCase):
    beam, finger = BEAM, FINGER


class TwentyLines(Shared):
    def test_they_run(self):
        # a finger with a ball beside it, and measurements of a stiffer one
        text = self.finger.text + "\ncontact:\n  obstacles: [{name: ball, sphere: {centre: [97, 0, -12], radius: 8}}]\n"
        with open("finger.yaml", "w") as file:
            file.write(text)
        with open("stiff.yaml", "w") as file:
            file.write(self.finger.text.replace("c10: 0.12", "c10: 0.14"))
        truth = pl.load("stiff.yaml", size=6, order=1).sweep(air=[3, 6])
        with open("measured.csv", "w") as file:
            file.write("air [kPa],tip.x [mm],tip.y [mm],tip.z [mm]\n")
            for air, tip in zip(truth["air"], truth["tip"]):
                file.write(",".join(f"{v:.9g}" for v in (air, *tip)) + "\n")

        r = pl.load("finger.yaml", size=6, order=1)
        s = r.solve(air="10 kPa")
        print(s["tip"].position, s.contacts["ball"].force, s.converged)
        self.assertTrue(s.converged)
        self.assertEqual(s.contacts["ball"].force.shape, (3,))
        J = s.jacobian("tip", wrt="air")
        self.assertEqual(J.shape, (3,))
        T = r.sweep(air=np.linspace(0, 6, 4))
        self.assertEqual(T["tip"].shape, (4, 3))
        q = r.ik(tip=T["tip"][2])
        print(q.reached, q.error, q.active_bounds)
        self.assertTrue(q.reached)
        self.assertLess(q.error, 0.005)
        self.assertEqual(q.active_bounds, [])
        p = r.follow("tip", T["tip"][[1, 2]])
        self.assertTrue(p.reached.all())
        self.assertLess(abs(p.commands["air"][1] - 4), 0.01)
        fit = self.finger.calibrate("measured.csv", free=["silicone.c10"])
        print(fit)
        self.assertLess(abs(fit["silicone.c10"] - 0.14), 1e-5)
        self.assertLess(np.abs(fit.robot.solve(air=6)["tip"].position - truth["tip"][1]).max(), 1e-3)
        m = self.beam.learn(samples=32, jobs=2, hidden=[6], epochs=10)  # a full robot takes longer
        m.solve(chamber1="30 kPa")
        self.assertLess(m.error, 1)
        self.assertAlmostEqual(s.grad(lambda tip: tip[2])["air"], J[2], places=6)
        s.save("pose.vtu")
        self.assertTrue(os.path.getsize("pose.vtu") > 1000)
        self.assertEqual(s.mesh.points.shape, s.mesh.rest.shape)
        if os.path.exists(os.path.join(os.path.dirname(pl.__file__), "web", "three")):
            self.assertIn("snapshot", s.show().html)


class Results(Shared):
    def test_same_as_the_command(self):
        claw = pl.design("cable_finger", size=12, order=1)
        claw.save("f.yaml")
        said = subprocess.run(
            [COMMAND, "fk", "f.yaml", "--size", "12", "--order", "1", "--set", "flexor=3", "--json", "-"],
            capture_output=True, text=True, check=True,
        )
        want = json.loads(said.stdout)
        s = claw.solve(flexor=3)
        self.assertLess(np.abs(s["tip"].position - want["markers"]["tip"]["position"]).max(), 1e-6)
        self.assertAlmostEqual(s["flexor"].effort, want["actuators"]["flexor"]["tension"], places=6)
        self.assertEqual(s.to_dict()["markers"].keys(), want["markers"].keys())
        self.assertEqual(claw.hash, want["robot"])

    def test_units(self):
        a = self.beam.solve(chamber1="0.3 bar", chamber2=None)
        b = self.beam.solve({"chamber1": 30.0})
        self.assertTrue((a["tip"].position == b["tip"].position).all())
        self.assertEqual(a.commands, {"chamber1": 30.0, "chamber2": None, "chamber3": None})
        again = a.solve(chamber2="10 kPa")
        self.assertEqual(again.commands["chamber1"], 30.0)

    def test_answers_do_not_depend_on_history(self):
        # the same commands, to the last bit: after other solves, their derivatives, and in a model of its own
        first = self.finger.solve(air=8)
        self.finger.solve(air=15).jacobian("tip")
        first.solve(air=9).solve(air=10)
        again = self.finger.solve(air=8)
        self.assertEqual(np.asarray(again._block).tobytes(), np.asarray(first._block).tobytes())
        other = pl.design("bending_finger", size=6, order=1, cache=False).solve(air=8)
        self.assertEqual(np.asarray(other._block).tobytes(), np.asarray(first._block).tobytes())

    def test_paths_do_not_depend_on_history(self):
        # prescribed lengths and volumes: where the path begins, no multipliers are left of a factor from before; bodies
        # that touch: neither entries in the tangent nor faces that points kept to
        for kind, size in (("cable_finger", 16), ("beam", 12), ("three_chamber", 10), ("membrane", 40)):
            robot = pl.design(kind, size=size, order=1)
            near, far = ({n: c.span[0] + part * (c.span[1] - c.span[0]) for n, c in robot.commands.items()} for part in (0.1, 0.25))
            first = robot.solve(near)
            robot.solve(far)
            same = np.asarray(robot.solve(near)._block).tobytes() == np.asarray(first._block).tobytes()
            self.assertTrue(same, kind)

    def test_one_outcome_is_solved(self):
        names = pl._state._core.names()
        self.assertEqual(names["outcomes"][names["solved"]], "solved")
        s = self.beam.solve(chamber1=10)
        for k, name in enumerate(names["outcomes"]):
            other = pl.State(self.beam, ((k, "why", *s._report[2:]), s._answer, s._block))
            self.assertEqual((other.outcome, other.converged), (name, name == "solved"))
            if name != "solved":
                with self.assertRaises(pl.NotSolvedError):
                    other.require()
                table = pl.Solutions(self.beam, np.zeros((1, 3)), np.ones((1, 60)), np.array([k]))
                self.assertTrue(np.isnan(table["tip"]).all())

    def test_results_are_read_only(self):
        # whatever is handed out: writing raises, and what was computed stays
        s = self.finger.solve(air=8)
        want = json.dumps(s.to_dict()["markers"])
        tip = s["tip"]
        arrays = [
            tip.position, tip.displacement, tip.rotation, s.points, s.mesh.points, s.mesh.rest, s.fields["von_mises"],
            s.reactions["base"].force, self.finger.markers["tip"], np.asarray(s._answer), np.asarray(s._block),
        ]
        again = pickle.loads(pickle.dumps(s))
        arrays += [again["tip"].position, np.asarray(again._block)]
        for a in arrays:
            with self.assertRaises(ValueError):
                a[...] = 0
            with self.assertRaises(ValueError):
                a.setflags(write=True)
        with self.assertRaises(TypeError):
            self.finger.actuators["air"]["effort_scale"] = 7
        self.assertEqual(json.dumps(s.to_dict()["markers"]), want)
        self.assertEqual(json.dumps(again.to_dict()["markers"]), want)

    def test_dictionary(self):
        robot = {
            "pliant": 1, "name": "block", "mesh": {"design": {"kind": "beam", "length": np.float64(40)}, "size": 8, "order": 1},
            "materials": {"rubber": {"model": "neo_hookean", "c10": "0.1 MPa"}}, "regions": {"body": "rubber"},
            "fixed": [{"surface": "base"}], "markers": {"tip": {"surface": "tip"}},
            "loads": {"forces": [{"marker": "tip", "force": [0, 0, -0.001]}]},
        }
        r = pl.load(robot)
        self.assertEqual(r.name, "block")
        s = r.solve()
        self.assertLess(s["tip"].displacement[2], 0)
        self.assertAlmostEqual(s.reactions["base"].force[2], 0.001, places=8)
        bad = {**robot, "markers": {"tip": {"surfac": "tip"}}, "regions": {"body": "ruber"}}
        with self.assertRaises(pl.InputError) as caught:
            pl.load(bad)
        self.assertGreaterEqual(len(caught.exception.findings), 2)
        self.assertIn("did you mean 'rubber'?", str(caught.exception))

    def test_forces_of_markers(self):
        s = self.finger.solve(air=5, forces={"tip": [0, 0, -0.05]})
        free = self.finger.solve(air=5)
        slope = free.jacobian("tip.position", wrt="tip.force.z")
        moved = s["tip"].position - free["tip"].position
        self.assertLess(np.abs(moved / -0.05 - slope).max(), 0.1 * np.abs(slope).max())
        self.assertEqual(self.finger.solve(air=5)["tip"].position.tolist(), free["tip"].position.tolist())

    def test_forces_are_part_of_the_state(self):
        free = self.finger.solve(air=5)
        s = self.finger.solve(air=5, forces={"tip": [0, 0, -0.05]})
        self.assertEqual(free.forces, {})
        self.assertEqual(free.to_dict()["forces"], {})
        self.assertEqual(s.to_dict()["forces"], {"tip": [0, 0, -0.05]})
        s.save("pulled.csv")
        with open("pulled.csv") as file:
            head, row = (line.rstrip("\n").split(",") for line in file)
        self.assertEqual(float(row[head.index("tip.force.z [N]")]), -0.05)
        # they remain: in the next solves, in a file, in a pickle
        on = s.solve(air=6)
        self.assertEqual(on.forces["tip"].tolist(), [0, 0, -0.05])
        self.assertLess(np.abs(on.solve(air=5)["tip"].position - s["tip"].position).max(), 2e-5)
        self.assertLess(np.abs(s.solve(forces={})["tip"].position - free["tip"].position).max(), 2e-5)
        self.assertEqual(s.solve(forces={}).forces, {})
        s.save("pulled.state")
        self.assertEqual(self.finger.load_state("pulled.state").forces["tip"].tolist(), [0, 0, -0.05])
        self.assertEqual(pickle.loads(pickle.dumps(s)).to_dict()["forces"], {"tip": [0, 0, -0.05]})
        rows = self.finger.sweep(air=[5, 6], start=s)
        self.assertLess(np.abs(rows["tip"][1] - on["tip"].position).max(), 2e-5)
        self.assertIn("tip.force.z [N]", rows._columns())


class Contact(Shared):
    def test_floor(self):
        robot = {
            "pliant": 1, "name": "press", "mesh": {"design": {"kind": "beam", "length": 40}, "size": 10, "order": 1},
            "materials": {"rubber": {"model": "neo_hookean", "c10": "0.1 MPa"}}, "regions": {"body": "rubber"},
            "fixed": [{"surface": "base"}], "markers": {"tip": {"surface": "tip"}},
            "loads": {"forces": [{"marker": "tip", "force": [0, 0, -1]}]},
            "contact": {"obstacles": [{"name": "floor", "plane": {"point": [0, 0, -15.1], "normal": [0, 0, 1]}}]},
        }
        s = pl.load(robot).solve(check=True)
        floor = s.contacts["floor"]
        print(floor, s.reactions["base"].force)
        self.assertGreater(floor.force[2], 0.05)
        self.assertEqual(floor.force.shape, (3,))
        self.assertLess(abs(s.reactions["base"].force[2] + floor.force[2] - 1), 1e-3)
        self.assertGreater(floor.area, 0)
        with self.assertRaises(pl.InputError):
            s.contacts["ball"]


class Derivatives(Shared):
    def difference(self, robot, of, name, value, h, **fixed):
        def at(v):
            return of(robot.solve({name: v}, **fixed))

        return (at(value - 2 * h) - 8 * at(value - h) + 8 * at(value + h) - at(value + 2 * h)) / (12 * h)

    def test_jacobian(self):
        fixed = {"chamber2": 20.0, "chamber3": 5.0}
        s = self.beam.solve(chamber1=40, **fixed)
        for of, pick in (
            ("tip", lambda s: s["tip"].position), ("chamber1.volume", lambda s: s["chamber1"].measure),
            ("chamber1.effort", lambda s: s["chamber1"].effort), ("energy", lambda s: s.energy),
        ):
            want = self.difference(self.beam, pick, "chamber1", 40.0, 0.5, **fixed)
            got = s.jacobian(of, wrt="chamber1")
            error = np.abs(got - want).max() / np.abs(want).max()
            print(f"d {of} / d chamber1: relative error {error:.1e}")
            self.assertLess(error, 1e-6)
        self.assertEqual(s.jacobian().shape, (3, 3))
        self.assertEqual(s.jacobian("tip", wrt=["chamber2"]).shape, (3, 1))

    def test_grad_is_the_adjoint(self):
        for robot, commands in ((self.beam, {"chamber1": 40.0, "chamber2": 10.0}), (self.finger, {"air": 10.0})):
            s = robot.solve(commands)
            target = np.array([10.0, -5.0, 30.0])
            got = s.grad(lambda tip: np.linalg.norm(tip - target) ** 2 + np.sin(tip[0]))
            p = s["tip"].position
            by = 2 * (p - target) + [np.cos(p[0]), 0, 0]
            for name in commands:
                want = by @ s.jacobian("tip", wrt=name)
                print(f"{robot.name} d f / d {name}: {got[name]:.10g}, {want:.10g}")
                self.assertLess(abs(got[name] - want), 1e-7 * abs(want))
        by_c10 = s.grad(lambda tip: tip[2], wrt="silicone.c10")
        want = s.jacobian("tip", wrt="silicone.c10")[2]
        self.assertLess(abs(by_c10 - want), 1e-7 * abs(want))


class Sentences(Shared):
    """Wrong input: the sentences of the command, as exceptions of named classes."""

    def said(self, *arguments):
        out = subprocess.run([COMMAND, *arguments], capture_output=True, text=True)
        self.assertEqual(out.returncode, 2)
        return out.stderr

    def test_commands(self):
        self.beam.save("b.yaml")
        cases = [
            (["--set", "chamber1=20"], {"chamber1": "20"}), (["--set", "chambr1=20kPa"], {"chambr1": "20 kPa"}),
            (["--set", "chamber1=500kPa"], {"chamber1": 500}), (["--set", "chamber1=2 mm"], {"chamber1": "2 mm"}),
        ]
        for options, commands in cases:
            with self.assertRaises(pl.InputError) as caught:
                self.beam.solve(commands)
            sentence = str(caught.exception).split("\n")[0]
            said = self.said("fk", "b.yaml", *options).split("\n")[0]
            print(f"{sentence!r} in {said!r}")
            self.assertIn(sentence.split(": ", 1)[-1] if "=" in sentence else sentence, said)
            self.assertIsInstance(caught.exception, ValueError)

    def test_files(self):
        with self.assertRaises(pl.FileError):
            pl.load("nowhere.yaml")
        with open("bad.yaml", "w") as file:
            file.write(self.finger.text.replace("order:", "ordr:").replace("c10: 0.12", "c10: -0.12"))
        with self.assertRaises(pl.InputError) as caught:
            pl.load("bad.yaml")
        self.assertEqual(str(caught.exception).strip(), self.said("fk", "bad.yaml").strip())
        self.assertGreaterEqual(caught.exception.findings[0].line, 1)

    def test_names(self):
        s = self.beam.solve()
        for call, text in (
            (lambda: s["tp"], "did you mean 'tip'?"), (lambda: s.jacobian("tp"), "no result 'tp'"),
            (lambda: self.beam.ik(tp=[0, 0, 0]), "no marker 'tp'"), (lambda: self.beam.ik(), "nothing is asked for"),
            (lambda: self.beam.ik(tip=[0, 0]), "expected three numbers"), (lambda: pl.design("bending_fingr"), "did you mean"),
            (lambda: pl.design("bending_finger", lenght=3), "did you mean 'length'?"),
            (lambda: self.beam.sweep(chamber1=3), "nothing is varied"), (lambda: s.save("x.abc"), "expected .vtu"),
            (lambda: self.beam.sweep(chamber1=[1, 2], chamber2=[1, 2, 3]), "grid=True"),
            (lambda: self.beam.solve(chamber1=float("nan")), "finite"), (lambda: self.beam.solve(chamber1=[1]), "expected a number"),
            (lambda: pl.path("cirle"), "expected circle"), (lambda: self.finger.solve(start=s), "another robot"),
        ):
            with self.assertRaises(pl.InputError) as caught:
                call()
            self.assertIn(text, str(caught.exception))

    def test_not_solved(self):
        ball = pl.load({
            "pliant": 1, "mesh": {"design": {"kind": "sphere_shell"}, "size": 8, "order": 1, "accept": True},
            "materials": {"rubber": {"model": "neo_hookean", "c10": 0.05}}, "regions": {"shell": "rubber"}, "fixed": [{"box": [[-100, -100, -100], [100, 100, -10]]}],
            "actuators": [{"name": "air", "kind": "chamber", "surface": "cavity", "drive": "pressure", "range": ["0 kPa", "5000 kPa"]}],
        })
        s = ball.solve(air=5000)
        self.assertFalse(s.converged)
        self.assertTrue(0 < s.report.load_reached < 1)
        with self.assertRaises(pl.NotSolvedError) as caught:
            ball.solve(air=5000, check=True)
        self.assertTrue(0 < caught.exception.state.report.load_reached < 1)
        self.assertIn("`pliant help limit_point`", str(caught.exception))


class Memory(Shared):
    def test_no_copy(self):
        mesh = self.finger.mesh
        self.assertEqual(mesh.points.ctypes.data, mesh.core.address)
        self.assertFalse(mesh.points.flags.owndata)
        self.assertFalse(mesh.points.flags.writeable)
        s = self.finger.solve(air=3)
        self.assertEqual(s.mesh.points.ctypes.data, s._cache["shape"].address)
        self.assertEqual(s.mesh.rest.ctypes.data, mesh.core.address)
        field = s.fields["von_mises"]
        self.assertFalse(field.flags.owndata)
        points = mesh.points
        del mesh, s
        self.assertTrue(np.isfinite(points).all())

    @unittest.skipIf(os.environ.get("PLIANT_SANITIZER"), "a sanitizer has costs of its own")
    def test_overhead(self):
        # the least of many calls, so that other programs on the machine do not matter
        model = self.beam._idle[-1][0]
        least = 1.0
        for k in range(400):
            value = 30 + 1e-3 * k
            begin = time.perf_counter()
            self.beam.solve(chamber1=value)
            least = min(least, time.perf_counter() - begin - self.beam._idle[-1][0].spent)
        print(f"overhead of a call: {1e6 * least:.1f} us")
        self.assertLess(least, 20e-6)
        self.assertIs(model, self.beam._idle[-1][0])

    def test_pickle(self):
        s = self.finger.solve(air=6)
        data = pickle.dumps(s)
        other = pickle.loads(data)
        self.assertIs(other.robot, self.finger)
        self.assertTrue((other["tip"].position == s["tip"].position).all())
        self.assertLess(np.abs(other.jacobian("tip") - s.jacobian("tip")).max(), 1e-7)
        print(f"{len(data)} bytes for {len(s.mesh.points)} vertices")


class Threads(Shared):
    def test_four_at_once(self):
        wanted = [self.finger.solve(air=2.0 * k + 2)["tip"].position for k in range(4)]
        found, inside, most = [None] * 4, 0, 0
        lock = threading.Lock()

        def work(k):
            nonlocal inside, most
            with lock:
                inside += 1
                most = max(most, inside)
            found[k] = self.finger.solve(air=2.0 * k + 2)["tip"].position
            with lock:
                inside -= 1

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        print(f"{most} solves at once, {len(self.finger._idle)} models of one robot")
        self.assertEqual(most, 4)
        for a, b in zip(found, wanted):
            self.assertLess(np.abs(a - b).max(), 2e-5)  # twice the length tolerance of a solve

    def test_gil_is_released(self):
        count, stop = 0, threading.Event()

        def count_up():
            nonlocal count
            while not stop.is_set():
                count += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count_up)
        thread.start()
        begin = time.perf_counter()
        self.finger.solve(air=12)
        wall = time.perf_counter() - begin
        stop.set()
        thread.join()
        print(f"another thread ran {count} times during a solve of {wall:.2f} s")
        self.assertGreater(count, 3)  # it starts once, and may run once more at the end, without the lock

    def test_jobs(self):
        one = self.beam.sweep(chamber1=np.linspace(0, 50, 9), chamber2=10.0)
        two = self.beam.sweep(chamber1=np.linspace(0, 50, 9), chamber2=10.0, jobs=3)
        self.assertLess(np.abs(one["tip"] - two["tip"]).max(), 1e-8)
        self.assertEqual(len(self.beam.sweep(chamber1=[0, 1], chamber2=[0, 1, 2], grid=True)), 6)
        w = self.beam.workspace(60, jobs=2)
        self.assertTrue(w.converged.all())
        self.assertGreater(w.hull()["volume"], 1)
        q = self.beam.ik(tip=w["tip"][7], workspace=w)
        self.assertTrue(q.reached, q)

    def test_interrupt(self):
        robot = self.finger
        begin = time.perf_counter()
        robot.sweep(air=np.linspace(0, 40, 4000)[:8])
        while_eight = time.perf_counter() - begin

        def press():
            time.sleep(max(0.2, 2 * while_eight))
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(pl.Interrupted) as caught:
            robot.sweep(air=np.linspace(0, 40, 4000))
        thread.join()
        self.assertGreater(len(caught.exception.result), 0)
        thread = threading.Thread(target=press)
        thread.start()
        begin = time.perf_counter()
        with self.assertRaises(pl.Interrupted) as caught:
            while True:
                robot.solve(air=45)
        thread.join()
        print(f"interrupted {time.perf_counter() - begin:.2f} s after the start")
        if caught.exception.state is not None:
            check = caught.exception.state.check()
            self.assertLess(check["residual"], 1e-4 * max(1, check["largest_force"]))
        # and everything goes on afterwards
        self.assertTrue(robot.solve(air=2).converged)

    def test_progress_may_stop(self):
        calls = []

        def step(fraction, text):
            calls.append(fraction)
            return len(calls) < 2

        s = self.finger.solve(air=45, progress=step)
        if calls:
            self.assertIn(s.outcome, ("interrupted", "solved"))

        def broken(fraction, text):
            raise ZeroDivisionError("mine")

        with self.assertRaises(ZeroDivisionError):
            while True:
                self.finger.solve(air=45, progress=broken)


class Files(Shared):
    def test_formats(self):
        s = self.finger.solve(air=5)
        for name in ("a.vtu", "a.stl", "a.glb", "a.gltf", "a.png", "a.svg", "a.csv", "a.json", "a.state", "a.html"):
            if name == "a.html" and not os.path.exists(os.path.join(os.path.dirname(pl.__file__), "web", "three")):
                continue  # built without three.js
            small = {"width": 300, "height": 200} if name in ("a.png", "a.svg") else {}
            s.save(name, **small)
            self.assertGreater(os.path.getsize(name), 100, name)
        back = self.finger.load_state("a.state")
        self.assertTrue((back["tip"].position == s["tip"].position).all())
        with open("a.glb", "rb") as file:
            head = np.frombuffer(file.read(20), "<u4")
        self.assertEqual(head[2], os.path.getsize("a.glb"))
        self.assertTrue(s.plot(color="von_mises", width=300, height=200).png.startswith(b"\x89PNG"))
        with self.assertRaises(pl.FileError):
            s.save("no/such/folder/a.vtu")

    def test_failed_save_keeps_the_file(self):
        # a full disk: whatever is written ends in an error, and the file that was there stays as it was
        s = self.finger.solve(air=5)
        table = self.beam.sweep(chamber1=np.linspace(0, 10, 40))
        names = ["b.vtu", "b.vtm", "b.stl", "b.obj", "b.ply", "b.glb", "b.gltf", "b.png", "b.csv", "b.json", "b.state"]
        writers = {name: s.save for name in names}
        writers["t.csv"] = table.save
        writers["r.yaml"] = self.finger.save
        picture = s.plot(width=300, height=200)
        writers["p.png"] = picture.save
        if os.path.exists(os.path.join(os.path.dirname(pl.__file__), "web", "three")):
            writers["b.html"] = s.save
        for name, write in writers.items():
            with open(name, "w") as file:
                file.write("what was there")
            os.chmod(name, 0o640)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            for name, write in writers.items():
                with self.assertRaises(pl.Error, msg=name):
                    write(name)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        for name, write in writers.items():
            with open(name) as file:
                self.assertEqual(file.read(), "what was there", name)
        self.assertEqual([f for f in os.listdir() if f.startswith(".")], [])
        for name in ("t.csv", "r.yaml", "p.png"):
            writers[name](name)
            self.assertEqual(os.stat(name).st_mode & 0o777, 0o640)
            self.assertGreater(os.path.getsize(name), 100)

    def test_pipes_are_not_waited_for(self):
        os.mkfifo("pipe.yaml")
        with self.assertRaisesRegex(pl.FileError, "named pipe"):
            pl.load("pipe.yaml")
        with self.assertRaisesRegex(pl.FileError, "named pipe"):
            pl.tensile("pipe.yaml")
        data = pl.Dataset(self.beam, "pipe.yaml", 10, 0, 0)
        with self.assertRaisesRegex(pl.Error, "named pipe"):
            self.beam.learn(data)

    def test_damaged_pickles_are_refused(self):
        s = self.beam.solve(chamber1=20)
        learned = self.beam.learn(samples=16, hidden=[4], epochs=2)
        rng = np.random.default_rng(5)
        for thing in (s, self.beam, learned):
            data = pickle.dumps(thing)
            want = str(pickle.loads(data))
            for k in rng.integers(0, len(data), 40):
                wrong = bytearray(data)
                wrong[k] ^= 1 << int(rng.integers(8))
                try:
                    found = str(pickle.loads(bytes(wrong)))
                except Exception:  # by pickle itself, or by the checksum
                    continue
                self.assertEqual(found, want)
        # a number of the answer
        data = pickle.dumps(s)
        at = data.index(s["tip"].position.tobytes())
        with self.assertRaisesRegex(pl.FileError, "checksum"):
            pickle.loads(data[:at] + b"\1" + data[at + 1 :])
        old = (self.beam, s._report, np.asarray(s._answer), np.asarray(s._block))
        with self.assertRaisesRegex(pl.FileError, "version"):
            pl._state._restore(*old)

    def test_meshio_and_pandas(self):
        s = self.finger.solve(air=5)
        try:
            import meshio
        except ImportError:
            print("meshio is not there")
        else:
            m = s.to_meshio()
            self.assertEqual(len(m.points), len(s.mesh.points))
            m.write("m.vtu")
            self.assertTrue((meshio.read("m.vtu").points == s.mesh.points).all())
            self.assertEqual(sum(len(c.data) for c in m.cells), len(s.mesh.kind))
        try:
            import pandas
        except ImportError:
            print("pandas is not there")
        else:
            frame = self.beam.sweep(chamber1=[0, 10]).to_pandas()
            self.assertIsInstance(frame, pandas.DataFrame)
            self.assertEqual(list(frame["chamber1 [kPa]"]), [0.0, 10.0])
            self.assertEqual(len(s.to_pandas()), 1)

    def test_display(self):
        s = self.beam.solve(chamber1=5)
        for thing in (s, self.beam, self.beam.sweep(chamber1=[0, 5]), pl.designs(), pl.materials(), self.beam.ik(tip=s["tip"].position)):
            self.assertIn("<t", thing._repr_html_())
            self.assertTrue(repr(thing))

    def test_path_files(self):
        s = self.beam.solve(chamber1=30, chamber2=10, chamber3=5)
        p = self.beam.follow("tip", [s["tip"].position, s["tip"].position], start=s)
        self.assertTrue(p.reached.all())
        p.save("p.csv")
        p.save("p.html")
        p.save("p.txt", kind="pressures")
        with open("path.csv", "w") as file:
            file.write("x [mm],y [mm],z [mm]\n" + "\n".join(",".join(map(str, s["tip"].position)) for _ in range(2)))
        self.assertTrue(self.beam.follow("tip", "path.csv").reached.all())


class Estimation(Shared):
    def test_stiffness(self):
        # a body a tenth stiffer than the model, its tensions known: strings tell the stiffness, and the tip with it
        model = pl.testing.arm()
        stiff = pl.load(json.loads(model.text.replace("1 MPa", "1.1 MPa")))
        s = stiff.solve(t1=2, t2=0, t3=1)
        found = model.estimate(s.commands, s.sensors, sigma=0.02)
        print(found)
        self.assertLess(abs(found.stiffness - 1.1), 3 * found.stiffness_sigma + 1e-6)
        self.assertLess(found.stiffness_sigma, 0.05)
        exact = model.estimate(s.commands, s.sensors, sigma=0.02, stiffness_sigma=0)
        off = [np.linalg.norm(e.markers["tip"] - s["tip"].position) for e in (found, exact)]
        print(off)
        self.assertLess(off[0], 0.2 * off[1])
        wrong = {**{n: v.value for n, v in s.sensors.items()}, "s3": s.sensors["s3"].value + 5}
        self.assertEqual(model.estimate(s.commands, wrong, sigma=0.02).rejected, ["s3"])

    def test_force_and_command(self):
        truth = self.finger.solve(air=6, forces={"tip": [0, 0, -0.03]})
        found = self.finger.estimate({"air": 6}, {"tip": truth["tip"].position}, sigma=0.01, forces=["tip"], force_sigma=0.1)
        self.assertIn("force at tip.x", found._repr_html_())
        print(found)
        self.assertLess(abs(found.forces["tip"][2] + 0.03), 2 * found.force_sigma["tip"][2])
        other = self.finger.estimate({"air": 5}, {"tip": self.finger.solve(air=6)["tip"].position}, sigma=0.01, command_sigma={"air": 10})
        self.assertLess(abs(other.commands["air"] - 6), 4 * other.command_sigma["air"])
        W = other.state.compliance()
        self.assertEqual(W.inputs, ("air", "tip.force.x", "tip.force.y", "tip.force.z"))
        # symmetric in N, mm and MPa; the column of the pressure is per kPa
        square = W.matrix[:4, :4] * [1000, 1, 1, 1]
        self.assertLess(np.abs(square - square.T).max(), 1e-8 * np.abs(square).max())


class Learning(Shared):
    def test_learn_and_adapt(self):
        data = self.beam.sample(48, "data.sqlite", jobs=2)
        self.assertEqual((data.computed, data.failed), (48, 0))
        self.assertEqual(self.beam.sample(48, "data.sqlite").computed, 0)  # continued: nothing is missing
        m = self.beam.learn(data, hidden=[8], epochs=25)
        s = m.solve(chamber1="30 kPa", chamber2=20, chamber3=10)
        full = self.beam.solve(chamber1="30 kPa", chamber2=20, chamber3=10)
        error = np.linalg.norm(s["tip"].position - full["tip"].position)
        print(f"learned from 48 samples: {m.error:.2g} mm on those held out, {error:.2g} mm here")
        self.assertLess(m.error, 0.05)
        self.assertLess(error, 3 * m.error)
        # every answer carries the error of the model, and a target is reached when both are within the tolerance
        e = s.model_error
        self.assertEqual(full.model_error.source, "not measured")  # a reduced model written by hand
        self.assertEqual((e.source, e.mm), ("held-out samples", e.markers["tip"]))
        self.assertTrue(0 < e.mm < 1 and 0.9 < e.confidence <= 0.95, e)
        goal = lambda tolerance: pl.goal.position("tip", full["tip"].position, tolerance=tolerance)
        q = m.ik(goals=[goal(0.1 * e.mm)])
        self.assertEqual((q.outcome, q.reached), ("uncertain", False))
        self.assertIn("which is itself", q.message)
        self.assertTrue(q.model_error > 0 and m.ik(goals=[goal(2)]).reached)
        path = m.follow("tip", [full["tip"].position])
        self.assertEqual(path.outcome, ["uncertain"] if path.model_errors[0] > 0.005 else ["reached"])
        self.assertIn("learned", s.readings)
        self.assertTrue((pickle.loads(pickle.dumps(s))["tip"].position == s["tip"].position).all())
        T = self.beam.sweep(chamber1=np.linspace(5, 100, 20), chamber2=20, chamber3=np.linspace(30, 10, 20))
        with open("measured.csv", "w") as file:
            file.write("chamber1 [kPa],chamber2 [kPa],chamber3 [kPa],tip.x [mm],tip.y [mm],tip.z [mm]\n")
            for row in zip(T["chamber1"], T["chamber2"], T["chamber3"], *(T["tip"] + [0.3, -0.2, 0.1]).T):
                file.write(",".join(f"{v:.9g}" for v in row) + "\n")
        real = m.adapt("measured.csv")
        moved = real.solve(chamber1=50, chamber2=20, chamber3=20)["tip"].position - m.solve(chamber1=50, chamber2=20, chamber3=20)["tip"].position
        self.assertLess(np.abs(moved - [0.3, -0.2, 0.1]).max(), 0.05)
        self.assertLess(real.error, 0.02)

    def test_environment(self):
        with pl.Env(self.beam, limit=2) as whole:  # gymnasium's protocol, with or without it
            whole.reset(seed=3)
            self.assertIs(whole.unwrapped, whole)
            self.assertEqual(whole.np_random_seed, 3)
            self.assertTrue(whole.np_random.random() < 1)
            self.assertIsNone(whole.render())
            seen = pl.Env(self.beam, render_mode="rgb_array")
            seen.reset(seed=3)
            self.assertEqual((seen.render().shape, str(seen.render().dtype)), ((400, 600, 3), "uint8"))
            self.assertTrue(seen.observation_space.contains(seen.step(seen.action_space.sample())[0]))
            self.assertEqual(whole.action_space, pl.Env(self.beam).action_space)
            self.assertTrue(whole.action_space.contains(whole.action_space.sample()))
        env = pl.Env(self.beam, tolerance=0.05, limit=5)
        first, info = env.reset(seed=3)
        self.assertEqual(first.shape, env.observation_space.shape)
        again, _ = env.reset(seed=3)
        self.assertTrue((first == again).all())
        total = 0
        for _ in range(5):
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            total += reward
            self.assertLessEqual(reward, 0)
        self.assertTrue(truncated)
        self.assertIn(observation[: len(self.beam.commands)].max() <= 1, (True,))
        # the path there is known: the exact Jacobian leads to the target
        env.reset(seed=1)
        for _ in range(60):
            J = env.state.jacobian("tip")
            away = env.target - env.state["tip"].position
            move = np.linalg.pinv(J) @ away / (env.step_size * 160)
            _, _, terminated, _, info = env.step(np.clip(move, -1, 1))
            if terminated:
                break
        print(f"environment: {info['distance']:.3g} mm from the target")
        self.assertTrue(terminated)


if __name__ == "__main__":
    unittest.main()
