"""Robot: what does not change. Immutable, shared between threads; every solve gives a new State."""
from __future__ import annotations

import concurrent.futures
import itertools
import json
import os
import shutil
import tempfile
import threading
import weakref
from dataclasses import astuple, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core, _goal
from ._files import read_text, replacing, sealed, unsealed
from ._goal import Goal
from ._progress import Progress, Shown
from ._results import IK, Comparison, Path, Solutions, Task, Workspace
from ._state import Interrupted, Mesh, NotSolvedError, State
from ._table import Named, Record, Table, array, fixed, unknown

if TYPE_CHECKING:
    from ._calibrate import Fit
    from ._command import Loop, Margin, Plant, Run, Study
    from ._measure import Modes, Release
    from ._shapes import Shapes
    from ._simulate import Motion

_DIM_FORCE, _DIM_PRESSURE, _DIM_TIME = 2, 3, 7
_METHODS = ("newton", "gradient", "descent")


@dataclass(frozen=True)
class Finding:
    """Something found in a robot file or mesh."""

    severity: str  #: note, warning, error
    file: Optional[str]
    line: int  #: 0: unknown
    text: str
    advice: str
    place: Optional[tuple[float, float, float]]  #: mm
    elements: tuple[int, ...]

    def __str__(self) -> str:
        where = "" if self.file is None else f"{self.file}:" + (f"{self.line}:" if self.line else "") + " "
        return f"{where}{self.severity}: {self.text}" + (f"\n    {self.advice}" if self.advice else "")


def findings(rows: Optional[list[Any]]) -> list[Finding]:
    """Findings of the library."""
    return [
        Finding(("note", "warning", "error")[head[0]], head[1], head[2], head[3], head[4], place, elements)
        for head, place, elements in rows or []
    ]


@dataclass(frozen=True)
class Command:
    """A command of a robot. Values are in `unit`."""

    name: str
    drive: str
    unit: str  #: kPa, mm, N, mL, V, or 1
    range: Optional[tuple[float, float]]  #: None: not limited
    span: tuple[float, float]  #: the range, or a typical one, in `unit`
    rest: float  #: the value at which its actuators are at rest, in `unit`
    rate: float  #: largest change, in `unit` per s; 0: no limit
    scale: float  #: internal value (mm, N, MPa) of one `unit`


@dataclass(frozen=True)
class Source:
    """Where a robot comes from; all that is needed to load it again."""

    text: str
    path: Optional[str]
    method: Optional[str] = None
    size: float = 0.0  #: mm; 0: as in the text
    order: int = 0
    displacement: bool = False
    cache: bool = True
    time_limit: float = 0.0  #: s; 0: none
    named: bool = True  #: the text is a file, so lines mean something
    stop_at_limit: bool = False


_loaded: "weakref.WeakValueDictionary[Source, Robot]" = weakref.WeakValueDictionary()
_loading = threading.Lock()


def _unpickled(*pickled: Any) -> tuple[Source, Mapping[str, Any]]:
    values, fit = unsealed("robot", pickled)
    return Source(*values), fit


def _again(*pickled: Any) -> "Robot":
    """A robot of this process with the same source, for unpickling."""
    source, _ = _unpickled(*pickled)
    with _loading:
        robot = _loaded.get(source)
        if robot is None:
            robot = Robot(source, None)
            _loaded[source] = robot
        return robot


class Robot(Record):
    """A robot. Made by ``pliant.load`` and ``pliant.design``; may be used by several threads at once.

    Commands are given by name: a text with a unit (``air="30 kPa"``), a number in the command's own unit
    (``air=30``), or None (idle). Commands that are not given are idle.
    """

    def __init__(self, source: Source, progress: Progress) -> None:
        self.source = source
        self._idle: list[tuple[_core.Model, Optional[State]]] = []
        self._lock = threading.Lock()
        with Shown(progress) as callback:
            self._first, found = self._load(None, None, callback)
        #: notes and warnings of loading
        self.findings = findings(found)
        self._info: dict[str, Any] = self._first.info()
        self.commands: Named[Command] = Named("command", {c["name"]: _command(c) for c in self._info["commands"]})
        #: name, kind, drive, rest measure, ... by name
        self.actuators: Named[Mapping[str, Any]] = Named(
            "actuator", {a["name"]: MappingProxyType(a) for a in self._info["actuators"]}
        )
        #: undeformed positions, mm
        self.markers: Named[Any] = Named("marker", {m["name"]: fixed(np.array(m["rest"])) for m in self._info["markers"]})
        self.sensors: Named[Mapping[str, Any]] = Named(
            "sensor", {s["name"]: MappingProxyType(s) for s in self._info["sensors"]}
        )
        self._layout = self._make_layout()
        self._idle.append((self._first, None))

    def _load(
        self, share: Optional[_core.Model], probe: Optional[str], callback: Optional[Callable[[float, str], Any]], **other: Any
    ) -> tuple[_core.Model, list[Any]]:
        s = self.source
        values: dict[str, Any] = {"method": s.method, "order": s.order, **other}
        try:
            return _core.load(
                s.text, s.path, values["method"], s.size, values["order"], s.displacement, s.cache, s.time_limit, s.stop_at_limit,
                probe, share, callback,
            )  # fmt: skip
        except _core.Error as error:
            if error.findings is not None:
                error.findings = findings(error.findings)
            raise
        except KeyboardInterrupt:
            raise Interrupted() from None

    def _make_layout(self) -> dict[str, tuple[int, int]]:
        i = self._info
        out, at = {}, 0
        for name, width in (
            ("command", len(i["commands"])), ("marker", 3 * len(i["markers"])), ("rotation", 9 * len(i["markers"])),
            ("sensor", len(i["sensors"])), ("effort", len(i["actuators"])), ("measure", len(i["actuators"])),
            ("reading", len(i["readings"])), ("actuator", 7 * len(i["actuators"])), ("energy", 1),
            ("force", 3 * len(i["markers"])), ("error", 2 + len(i["markers"])),
        ):  # fmt: skip
            out[name] = (at, at + width)
            at += width
        return out

    def __reduce__(self) -> Any:
        return _again, (sealed("robot", astuple(self.source), None),)

    # ---- the pool of models: one per thread at work
    def _take(self, state: Optional[State] = None) -> _core.Model:
        """A model of one's own, at the given state (None: anywhere); its solves lead to the forces of that state."""
        model, where = None, None
        with self._lock:
            for k in range(len(self._idle) - 1, -1, -1):
                if state is None or self._idle[k][1] is state:
                    model, where = self._idle.pop(k)
                    break
            else:
                if self._idle:
                    model, where = self._idle.pop()
        if model is None:
            model, _ = self._load(self._first, None, None)
        try:
            if state is not None and where is not state and "after" in state._cache:
                raise _core.InputError(
                    f"a shape held for {state._cache['after']:g} s has stresses of its own, which are gone once the robot has "
                    "solved for another: ask for them before, or solve again"
                )
            if state is not None and where is not state:
                model.move(np.asarray(state._block))
            model.set_forces(np.ascontiguousarray(state._part("force")) if state is not None and state.forces else None)
        except BaseException:
            self._give(model, None)
            raise
        return model

    def _give(self, model: _core.Model, state: Optional[State]) -> None:
        with self._lock:
            self._idle.append((model, state))

    # ---- what it is
    @property
    def name(self) -> str:
        return str(self._info["name"])

    @property
    def kind(self) -> str:
        """full, or the kind of a reduced model: rod, beam, constant_curvature, vertebrae."""
        return str(self._info["kind"])

    @property
    def method(self) -> str:
        """exact, local_global, or the kind of a reduced model."""
        return str(self._info["method"])

    @property
    def hash(self) -> str:
        """Of everything that determines the results."""
        return f"{self._info['hash']:016x}"

    @property
    def size(self) -> float:
        """mm, of the whole robot."""
        return float(self._info["size"])

    @property
    def materials(self) -> dict[str, dict[str, Any]]:
        """Materials of a full body by name: model and constants (MPa, t/mm^3)."""
        return {m["name"]: {k: v for k, v in m.items() if k != "name"} for m in self._info["materials"]}

    @property
    def text(self) -> str:
        """The robot file."""
        return self.source.text

    def _body(self) -> _core.Mesh:
        body = self._first.body()
        if body is None:
            raise _core.InputError("the model has no body to draw")
        return body

    @property
    def mesh(self) -> Mesh:
        """The undeformed mesh; its arrays are the library's own memory."""
        return Mesh(self._body())

    def _index(self, what: str, name: str) -> int:
        known: Mapping[str, Any] = {
            "command": self.commands, "marker": self.markers, "sensor": self.sensors, "actuator": self.actuators
        }[what]  # fmt: skip
        known[name]
        return list(known).index(name)

    def examine(self) -> list[Finding]:
        """What looks wrong with the robot, as `pliant doctor` reports.

        >>> [f.severity for f in pliant.testing.arm().examine() if f.severity == "error"]
        []
        """
        model = self._take()
        try:
            return findings(model.examine())
        finally:
            self._give(model, None)

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.kind} ({self.method}), {self._info['elements']} elements, {self._info['vertices']} vertices"]
        for c in self.commands.values():
            limits = f"{c.range[0]:g} to {c.range[1]:g}" if c.range else "no range"
            lines.append(f"  command {c.name}: {c.drive}, {limits} {c.unit}")
        if self.markers:
            lines.append("  markers " + ", ".join(self.markers))
        if self.sensors:
            lines.append("  sensors " + ", ".join(self.sensors))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [[c.name, c.drive, c.range[0] if c.range else None, c.range[1] if c.range else None, c.unit, c.rest] for c in self.commands.values()]
        title = f"{self.name}: {self.kind} ({self.method}), {self._info['elements']} elements; markers {', '.join(self.markers)}"
        return Table(["command", "drive", "from", "to", "unit", "rest"], rows, title)._repr_html_()

    # ---- solving
    def _stopped(self, model: _core.Model, state: Optional[State], result: Any = None) -> None:
        """Raises what stopped a call of the library, with the last equilibrium."""
        pending = model.pending()
        if pending is None:
            return
        if isinstance(pending, KeyboardInterrupt):
            raise Interrupted(state, result) from None
        raise pending

    def solve(
        self,
        *named: Union[Mapping[str, Any], Sequence[float], "np.ndarray[Any, Any]"],
        start: Optional[State] = None,
        beyond_range: bool = False,
        check: bool = False,
        forces: Optional[Mapping[str, Any]] = None,
        after: Union[None, float, str] = None,
        progress: Progress = None,
        **commands: Any,
    ) -> State:
        """The equilibrium at the given commands.

        start: a state to start from; commands that are not named then keep its values. Without it the solve starts
        from the undeformed configuration and uses nothing of earlier solves, so that the same commands give the same
        numbers to the last bit. beyond_range: allow values outside the ranges. check: raise NotSolvedError unless solved.
        forces: {marker: (fx, fy, fz)} in N, in addition to the loads of the robot; not given: those of `start`; {}: none.
        Ctrl-C raises Interrupted, which has the last equilibrium in `.state`. A dictionary may be given for names that
        are no Python words, or an array with one number per command, in its unit and in the order of `r.commands`
        (nan: idle). after: the shape that long (s, or a text with a unit) after the commands were applied at once, where
        materials have viscous branches (`prony`); not given: the relaxed shape, which lasts. Derivatives of such a state are
        those of a sudden further change of commands and forces; with respect to constants of materials they are refused.

        >>> r = pliant.testing.arm()
        >>> a, b = r.solve(t1=2, t3="1 N"), r.solve([2, np.nan, 1])
        >>> bool((a["tip"].position == b["tip"].position).all())
        True
        """
        for one in named:
            commands = {**self._by_name(one), **commands}
        model = self._first
        base = None if start is None else self._base(start)
        values = model.commands(commands, base, beyond_range)
        model = self._take(start)
        state = None
        try:
            if start is None:
                model.reset()
            if forces is not None:
                pull = np.zeros((len(self.markers), 3))
                for name, force in forces.items():
                    pull[self._index("marker", name)] = _goal._three(force, name)
                model.set_forces(pull)
            with Shown(progress) as callback:
                if after is None:
                    state = State(self, model.fk(values, callback))
                else:
                    from ._simulate import seconds

                    held = seconds(after, "after")
                    state = State(self, model.fk(values, callback, held))
                    state._cache["after"] = held
            self._stopped(model, state)
        except KeyboardInterrupt as stop:  # also one that came when the solve had just ended
            raise stop if isinstance(stop, Interrupted) else Interrupted(state) from None
        finally:
            self._give(model, state)
        return state.require() if check else state

    def _by_name(self, given: Any) -> Mapping[str, Any]:
        """Commands from a dictionary, or from one number per command."""
        if isinstance(given, Mapping):
            return given
        row = np.asarray(given, dtype=float)
        if row.shape != (len(self.commands),):
            raise _core.InputError(f"expected {len(self.commands)} numbers, one per command ({', '.join(self.commands)}), found {row.shape}")
        return {name: None if np.isnan(v) else float(v) for name, v in zip(self.commands, row)}

    def _base(self, state: State) -> list[float]:
        if state.robot is not self and state.robot._info["robot_hash"] != self._info["robot_hash"]:
            raise _core.InputError(f"the state belongs to another robot, '{state.robot.name}'")
        return [float(v) for v in state._part("command")]

    @property
    def rest(self) -> State:
        """The undeformed configuration, with all commands idle (without loads applied)."""
        model = self._take()
        state = None
        try:
            model.reset()
            state = State(self, model.at())
        finally:
            self._give(model, state)
        return state

    def _state_of(self, block: Any) -> State:
        """The state whose numbers were kept."""
        model = self._take()
        state = None
        try:
            model.move(np.ascontiguousarray(block))
            state = State(self, model.at())
        finally:
            self._give(model, state)
        return state

    def load_state(self, path: Union[str, "os.PathLike[str]"]) -> State:
        """Reads a state file written by ``State.save("x.state")`` or `pliant fk --state`.

        >>> r = pliant.testing.bar()
        >>> s = r.solve()
        >>> s.save("bar.state")
        >>> bool((r.load_state("bar.state")["tip"].position == s["tip"].position).all())
        True
        """
        model = self._take()
        state = None
        try:
            model.read_state(os.fspath(path))
            state = State(self, model.at())
        finally:
            self._give(model, state)
        return state

    # ---- many solves
    def _rows(self, named: Mapping[str, Any], grid: bool, beyond_range: bool) -> Any:
        """Commands of a sweep, (n, commands), internal units."""
        axes: dict[str, list[float]] = {}
        fixed: dict[str, Any] = {}
        for name, given in named.items():
            index = self._index("command", name)
            if given is None or isinstance(given, (str, int, float, np.number)) or np.ndim(given) == 0:
                fixed[name] = given
                continue
            axes[name] = [self._first.commands({name: v}, None, beyond_range)[index] for v in given]
        if not axes:
            raise _core.InputError("nothing is varied: give a command a list of values")
        counts = {name: len(values) for name, values in axes.items()}
        if not grid and len(set(counts.values())) > 1:
            found = list(counts.values())
            other = next(c for c in found if c != found[0])
            raise _core.InputError(
                f"commands varied together need the same number of points, found {found[0]} and {other}\n"
                "    add grid=True for all combinations"
            )
        base = self._first.commands(fixed, None, beyond_range)
        if grid:
            columns = dict(zip(axes, (m.ravel() for m in np.meshgrid(*axes.values(), indexing="ij"))))
        else:
            columns = {name: np.array(values) for name, values in axes.items()}
        count = len(next(iter(columns.values())))
        rows = np.tile(np.array(base, dtype=float), (count, 1))
        for name, column in columns.items():
            rows[:, self._index("command", name)] = column
        return rows

    def _run(self, rows: Any, jobs: int, progress: Progress, start: Optional[State], kind: type, jacobian: bool = False, shapes: bool = False) -> Any:
        """Solves at all rows, on `jobs` threads, each with a contiguous part."""
        jobs = max(1, min(int(jobs), len(rows)))
        parts = np.array_split(np.ascontiguousarray(rows, dtype=float), jobs)
        models: list[_core.Model] = []
        done = [0.0] * jobs
        failure: Optional[BaseException] = None
        with Shown(progress) as callback:

            def tell(k: int) -> Optional[Callable[[float, str], Any]]:
                if callback is None:
                    return None
                shown = callback

                def step(fraction: float, text: str) -> Any:
                    if text == "samples":
                        done[k] = max(fraction, 0.0)
                    return shown(sum(done) / jobs, "solving")

                return step

            try:
                for _ in range(jobs):
                    models.append(self._take(start))
                for model in models:
                    if start is None:
                        model.reset()
                if jobs == 1:
                    answers = [models[0].run(parts[0], jacobian, shapes, tell(0))]
                else:
                    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                        calls = [pool.submit(m.run, p, jacobian, shapes, tell(k)) for k, (m, p) in enumerate(zip(models, parts))]
                        try:
                            concurrent.futures.wait(calls, return_when=concurrent.futures.FIRST_EXCEPTION)
                        except KeyboardInterrupt as stop:
                            failure = stop
                        if failure is not None or any(c.done() and c.exception() for c in calls):
                            while not all(c.done() for c in calls):
                                for model in models:
                                    model.stop()
                                concurrent.futures.wait(calls, timeout=0.05)
                        answers = [c.result() for c in calls]
                for model in models:
                    pending = model.pending()
                    failure = pending if failure is None else failure
            finally:
                for model in models:
                    self._give(model, None)
        values = np.concatenate([array(v)[:n] for n, v, _, _, _ in answers])
        outcomes = np.concatenate([array(o)[:n] for n, _, o, _, _ in answers])
        asked = np.concatenate([p[: a[0]] for p, a in zip(parts, answers)])
        slopes = np.concatenate([array(j)[:n] for n, _, _, j, _ in answers if j is not None]) if jacobian and self.markers else None
        blocks = np.concatenate([array(b)[:n] for n, _, _, _, b in answers if b is not None]) if shapes else None
        result = kind(self, asked, values, outcomes, start.forces if start is not None else None, slopes, blocks)
        result._start = start
        if isinstance(failure, KeyboardInterrupt):
            raise Interrupted(None, result) from None
        if failure is not None:
            raise failure
        return result

    def sweep(
        self,
        *named: Union[Mapping[str, Any], Sequence[Sequence[float]], "np.ndarray[Any, Any]"],
        grid: bool = False,
        jobs: int = 1,
        jacobian: bool = False,
        shapes: bool = False,
        start: Optional[State] = None,
        beyond_range: bool = False,
        progress: Progress = None,
        **commands: Any,
    ) -> Solutions:
        """Solutions at lists of values: ``r.sweep(air=np.linspace(0, 60, 61))``.

        Commands with several values are varied together, or with grid=True in all combinations (the last one
        fastest); the others are constant. Each solve starts from the previous one, the first one from `start` (whose
        forces act throughout). An array of (n, commands) numbers in the commands' units may be given instead (nan: idle).
        jobs: threads. jacobian: also the exact derivatives of the markers at every row (``t.jacobians["tip"]``). shapes: keep
        the shape of every row (``t.points``; ``t.shapes()`` then solves nothing again). Ctrl-C raises Interrupted with what was solved in `.result`.

        >>> r = pliant.testing.arm()
        >>> t = r.sweep(np.array([[0, 0, 0], [1, 0, 0], [2, 0, 1]]), jacobian=True)
        >>> t["tip"].shape, t.jacobians["tip"].shape
        ((3, 3), (3, 3, 3))
        >>> bool(np.allclose(t.jacobians["tip"][2], r.solve(t1=2, t2=0, t3=1).jacobian("tip"), atol=1e-6))
        True
        """
        if len(named) == 1 and not isinstance(named[0], Mapping):
            if commands:
                raise _core.InputError("sweep: an array has all commands; no further ones can be named")
            rows = self._array_rows(named[0], beyond_range)
        else:
            for one in named:
                if not isinstance(one, Mapping):
                    raise _core.InputError("sweep: expected one array, or dictionaries")
                commands = {**one, **commands}
            rows = self._rows(commands, grid, beyond_range)
        return self._run(rows, jobs, progress, start, Solutions, jacobian, shapes)  # type: ignore[no-any-return]

    def _array_rows(self, given: Any, beyond_range: bool) -> Any:
        """Rows of commands in their units, checked, as internal values."""
        rows = np.asarray(given, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.commands) or not len(rows):
            raise _core.InputError(f"sweep: expected (n, {len(self.commands)}) numbers, one column per command, found {rows.shape}")
        out = np.array(rows)
        for k, c in enumerate(self.commands.values()):
            column = rows[:, k]
            # the ends say whether all of a column are within the range, in the words of the command
            for value in (np.nanmin(column), np.nanmax(column)) if not np.isnan(column).all() else ():
                self._first.commands({c.name: float(value)}, None, beyond_range)
            out[:, k] = column * c.scale
        return out

    def workspace(
        self,
        count: int = 500,
        grid: bool = False,
        steps: Optional[Mapping[str, int]] = None,
        bounds: Optional[Mapping[str, Sequence[Any]]] = None,
        jobs: int = 1,
        progress: Progress = None,
    ) -> Workspace:
        """Samples the reachable points within the ranges of the commands.

        count: samples, low-discrepancy (Halton) points; grid=True: a grid of about that many, or with `steps` values
        per command. bounds: {command: (low, high)} instead of the ranges. jobs: threads.

        >>> w = pliant.testing.arm().workspace(40)
        >>> len(w), w.hull()["volume"] > 0
        (40, True)
        """
        low, high = self._bounds(bounds)
        model = self._take()
        try:
            number = None
            if steps is not None:
                grid = True
                number = np.ones(len(self.commands), dtype=np.int32)
                for name, value in steps.items():
                    number[self._index("command", name)] = value
            rows = array(model.plan(0 if grid else 1, int(count), number, low, high))
        finally:
            self._give(model, None)
        return self._run(rows, jobs, progress, None, Workspace)  # type: ignore[no-any-return]

    # ---- inverse kinematics
    def _bounds(self, bounds: Optional[Mapping[str, Sequence[Any]]]) -> tuple[Any, Any]:
        low, high = np.full(len(self.commands), np.nan), np.full(len(self.commands), np.nan)
        for name, pair in (bounds or {}).items():
            i = self._index("command", name)
            low[i] = self._first.commands({name: pair[0]}, None, True)[i]
            high[i] = self._first.commands({name: pair[1]}, None, True)[i]
        return low, high

    def _marker(self, marker: Optional[str]) -> str:
        if marker is not None:
            self.markers[marker]
            return marker
        if len(self.markers) == 1 or "tip" in self.markers:
            return "tip" if "tip" in self.markers else next(iter(self.markers))
        raise _core.InputError("the marker is not given\n    the robot has " + (", ".join(self.markers) or "none"))

    def _goal(self, goal: Goal) -> tuple[Any, ...]:
        kind = _goal.KINDS.index(goal.kind)
        index, value, weight = 0, goal.value, goal.weight
        if goal.kind in ("position", "direction", "orientation", "distance", "orthogonal"):
            index = self._index("marker", str(goal.name))
        elif goal.kind == "sensor":
            index = self._index("sensor", str(goal.name))
            value *= self._info["sensors"][index]["scale"]
        elif goal.kind == "effort":
            index = self._index("actuator", str(goal.name))
            scale = self._info["actuators"][index]["effort_scale"]
            value, weight = value * scale, weight / scale
        numbers = np.concatenate([np.ravel(goal.target), np.ravel(goal.axis), np.ravel(goal.rotation), [value]]).astype(float)
        points = goal.points
        if isinstance(points, str):
            points = array(self._first.body_points(points, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        if points is not None:
            points = np.ascontiguousarray(points, dtype=np.int32)
        places = None if goal.places is None else np.ascontiguousarray(goal.places, dtype=float)
        axes = sum(1 << "xyz".index(a) for a in goal.axes)
        return kind, index, float(weight), float(goal.tolerance), axes, numbers, points, places, None

    def _effort_bounds(self, largest: Mapping[str, Any]) -> list[tuple[int, float, float]]:
        """Largest efforts by actuator, numbers in their units or texts, as bounds of the library."""
        out = []
        for name, value in largest.items():
            i = self._index("actuator", name)
            a = self._info["actuators"][i]
            if isinstance(value, str):
                value = _core.quantity(value, _DIM_FORCE if a["kind"] == "cable" else _DIM_PRESSURE)
            else:
                value = value * a["effort_scale"]
            out.append((i, -float("inf"), float(value)))
        return out

    def _limits(
        self, bounds: Any, hold: Any, max_effort: Any, least: Any, method: str, iterations: Any, time_limit: Any,
        workspace: Any, starts: Any, rate: Any, period: Any,
    ) -> dict[str, Any]:  # fmt: skip
        if method not in _METHODS:
            raise _core.InputError(f"method {method}: expected newton, gradient or descent")
        low, high = self._bounds(bounds)
        held = np.zeros(len(self.commands), dtype=np.uint8)
        for name in [hold] if isinstance(hold, str) else hold or ():
            held[self._index("command", name)] = 1
        for c in self.commands.values():
            i = self._index("command", c.name)
            if c.range is None and not held[i] and (np.isnan(low[i]) or np.isnan(high[i])):
                raise _core.InputError(
                    f"command {c.name} has no range\n    give its actuator a range in the robot file, or hold=['{c.name}']"
                )
        efforts = self._effort_bounds(max_effort or {})
        options: dict[str, Any] = {
            "method": _METHODS.index(method), "low": low, "high": high, "hold": held, "efforts": efforts,
            "least_motion": least, "iterations": iterations, "starts": starts, "period": period,
            "time_limit": _core.quantity(time_limit, _DIM_TIME) if isinstance(time_limit, str) else time_limit,
        }  # fmt: skip
        if rate is not None:
            options["rate"] = np.full(len(self.commands), np.nan)
            for name, value in rate.items():
                options["rate"][self._index("command", name)] = float(value) * self.commands[name].scale
        if workspace is not None:
            options.update(workspace._samples())
        return options

    def ik(
        self,
        target: Any = None,
        *,
        marker: Optional[str] = None,
        goals: Iterable[Goal] = (),
        start: Optional[State] = None,
        bounds: Optional[Mapping[str, Sequence[Any]]] = None,
        hold: Union[str, Sequence[str]] = (),
        max_effort: Optional[Mapping[str, Any]] = None,
        least_motion: Optional[float] = None,
        method: str = "newton",
        iterations: Optional[int] = None,
        time_limit: Union[None, float, str] = None,
        workspace: Optional[Workspace] = None,
        starts: Optional[int] = None,
        rate: Optional[Mapping[str, float]] = None,
        period: Optional[float] = None,
        progress: Progress = None,
        **positions: Any,
    ) -> IK:
        """Commands that bring markers to targets: ``r.ik(tip=[80, 0, 40])`` (mm), within the ranges of the commands.

        goals: further goals (pliant.goal). start: a state to start from. bounds: {command: (low, high)}; hold:
        commands that stay constant; max_effort: {actuator: bound} in N or kPa; least_motion: mm per range, resolves
        redundancy. workspace: starts from its samples too. If the target is out of reach, the answer is the nearest
        point found and `active_bounds` names what stops it.

        >>> q = pliant.testing.arm().ik(tip=(10, 5, 95))
        >>> q.reached, q.error < 0.01
        (True, True)
        """
        wanted = [*goals]
        if target is not None:
            wanted.append(_goal.position(self._marker(marker), target))
        wanted += [_goal.position(name, place) for name, place in positions.items()]
        if not wanted:
            raise _core.InputError("nothing is asked for: give a target, such as tip=[80, 0, 40]")
        rows = [self._goal(g) for g in wanted]
        options = self._limits(
            bounds, hold, max_effort, least_motion, method, iterations, time_limit, workspace, starts, rate, period
        )
        if start is not None:
            self._base(start)
        model = self._take(start)
        state = None
        try:
            if start is None:
                model.reset()
            with Shown(progress) as callback:
                report, deviations, standing = model.ik(rows, options, None, callback)
            state = State(self, standing)
            answer = IK(self, report, deviations, state)
            self._stopped(model, state, answer)
            return answer
        finally:
            self._give(model, state)

    def follow(
        self,
        marker: Optional[str] = None,
        path: Any = None,
        *,
        directions: Any = None,
        rotations: Any = None,
        start: Optional[State] = None,
        period: float = 1.0,
        extrapolate: bool = True,
        bounds: Optional[Mapping[str, Sequence[Any]]] = None,
        hold: Union[str, Sequence[str]] = (),
        max_effort: Optional[Mapping[str, Any]] = None,
        least_motion: Optional[float] = None,
        method: str = "newton",
        iterations: Optional[int] = None,
        time_limit: Union[None, float, str] = None,
        workspace: Optional[Workspace] = None,
        starts: Optional[int] = None,
        rate: Optional[Mapping[str, float]] = None,
        free_start: bool = True,
        progress: Progress = None,
    ) -> Path:
        """Moves a marker along a path: (n, 3) points in mm, or the name of a file as `pliant follow --path` reads it.

        directions: (n, 3), of the marker's normal; rotations: (n, 3) rotation vectors, rad. period: s between
        waypoints; rate: {command: largest change per second}. The other options are those of ik. Ctrl-C raises
        Interrupted with the waypoints done in `.result`.

        >>> p = pliant.testing.arm().follow("tip", [(10, 5, 95), (12, 0, 95)])
        >>> p.reached.tolist()
        [True, True]
        """
        if isinstance(path, (str, os.PathLike)):
            read: list[Any] = [None if a is None else array(a) for a in _core.path_file(os.fspath(path))]
            points, directions, rotations, times = read
            if times is not None and len(times) > 1:
                period = float(np.mean(np.diff(times)))
        else:
            points = np.ascontiguousarray(path, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0 or not np.isfinite(points).all():
            raise _core.InputError(f"path: expected (n, 3) numbers, found an array of shape {points.shape}")
        name = self._marker(marker)
        goals = [_goal.position(name, points[0])]
        targets = [(0, 3, points)]
        if directions is not None:
            rows = np.ascontiguousarray(directions, dtype=float)
            targets.append((len(goals), 3, rows))
            goals.append(_goal.direction(name, rows[0]))
        if rotations is not None:
            turns = np.ascontiguousarray([_goal.rotation_of(w) for w in rotations])
            targets.append((len(goals), 9, turns.reshape(len(turns), 9)))
            goals.append(_goal.orientation(name, turns[0]))
        options = self._limits(
            bounds, hold, max_effort, least_motion, method, iterations, time_limit, workspace, starts, rate, period
        )
        if start is not None:
            self._base(start)
        model = self._take(start)
        state = None
        try:
            if start is None:
                model.reset()
            with Shown(progress) as callback:
                motion, report, standing = model.follow(
                    [self._goal(g) for g in goals], options, targets, self._index("marker", name), extrapolate,
                    free_start, float(period), None, callback,
                )  # fmt: skip
            state = State(self, standing)
            answer = Path(self, motion, name, state, report)
            self._stopped(model, state, answer)
            return answer
        finally:
            self._give(model, state)

    def task(
        self,
        path: Union[str, "os.PathLike[str]"],
        *,
        marker: Optional[str] = None,
        start: Optional[State] = None,
        hold: Union[str, Sequence[str]] = (),
        max_effort: Optional[Mapping[str, Any]] = None,
        method: str = "newton",
        iterations: Optional[int] = None,
        time_limit: Union[None, float, str] = None,
        progress: Progress = None,
    ) -> Task:
        """Runs a task file: move, reach, grasp, place (see `pliant task`).

        >>> with open("task.yaml", "w") as file:
        ...     _ = file.write("task: 1\\nname: one move\\nmarker: tip\\nstages:\\n  - {do: move, to: [10, 5, 95]}\\n")
        >>> t = pliant.testing.arm().task("task.yaml")
        >>> t.stages, t.reached.tolist()
        (['move'], [True])
        """
        name = self._marker(marker) if marker or len(self.markers) == 1 or "tip" in self.markers else next(iter(self.markers))
        options = self._limits(None, hold, max_effort, None, method, iterations, time_limit, None, None, None, None)
        model = self._take(start)
        state = None
        try:
            if start is None:
                model.reset()
            with Shown(progress) as callback:
                motion, stages, title, standing = model.task(os.fspath(path), options, self._index("marker", name), callback)
            state = State(self, standing)
            answer = Task(self, motion, name, state, stages, title)
            self._stopped(model, state, answer)
            return answer
        finally:
            self._give(model, state)

    # ---- other models
    def compare(
        self,
        *named: Mapping[str, Any],
        methods: Sequence[str] = ("exact", "local_global", "fang2020"),
        beyond_range: bool = False,
        time_limit: float = 0.0,
        progress: Progress = None,
        **commands: Any,
    ) -> Comparison:
        """Solves with several methods at the same commands and compares the shapes (see `pliant compare`).

        >>> c = pliant.testing.finger().compare(flexor=2, methods=("exact",))
        >>> [row["outcome"] for row in c.rows_by_name.values()]
        ['solved']
        """
        for one in named:
            commands = {**one, **commands}
        for method in methods:
            if method not in ("exact", "local_global", "fang2020"):
                raise _core.InputError(f"there is no method '{method}'; expected exact, local_global or fang2020")
        with Shown(progress) as callback:
            full, _ = self._load(None, None, callback, method="local_global" if "fang2020" in methods else "exact")
            linear, _ = self._load(None, None, callback, method="exact", order=1)
            values = full.commands(commands, None, beyond_range)
            rows = full.compare(linear, self.source.text, self.source.path, tuple(methods), values, time_limit, callback)
        return Comparison(self, rows)

    def reduce(
        self, kind: str = "rod", marker: Optional[str] = None, samples: int = 60, seed: int = 1, progress: Progress = None
    ) -> "Reduced":
        """Fits a reduced model (rod, beam, constant_curvature) and measures its error at random commands.

        The result is a Robot; `fit` has the errors (mm, rad), `text` the robot file.

        >>> m = pliant.testing.finger().reduce("rod", samples=3)
        >>> m.kind, m.fit["samples"]
        ('rod', 3)
        """
        if self.kind != "full":
            raise _core.InputError(f"{self.name} is already a reduced robot")
        if not self.markers:
            raise _core.InputError("the robot has no markers; give it one at its tip")
        name = marker if marker is not None else next(iter(self.markers))
        self.markers[name]
        with Shown(progress) as callback, tempfile.TemporaryDirectory(prefix="pliant-") as folder:
            full, _ = self._load(None, name, callback, method="exact")
            path = os.path.join(folder, "reduced.yaml")
            report = full.reduce(kind, name, int(samples), int(seed), path, None, callback)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        return Reduced(Source(text, f"{self.name}-{kind}.yaml", cache=False), report)

    # ---- learning
    def sample(
        self,
        samples: int = 500,
        path: Union[None, str, "os.PathLike[str]"] = None,
        *,
        jobs: int = 1,
        jacobians: bool = True,
        shapes: bool = False,
        progress: Progress = None,
    ) -> "Dataset":
        """A data set as `pliant sample` makes it: commands spread over the ranges, with exact Jacobians.

        path: an SQLite file, which is continued if it exists (None: a temporary one). jobs: threads. Ctrl-C raises
        Interrupted; the samples done are in the file.

        >>> d = pliant.testing.arm().sample(12, "samples.sqlite")
        >>> d.planned, d.failed
        (12, 0)
        """
        for c in self.commands.values():
            if c.range is None:
                raise _core.InputError(f"command {c.name} has no range\n    give its actuator a range in the robot file")
        folder = None
        if path is None:
            folder = tempfile.mkdtemp(prefix="pliant-")
            path = os.path.join(folder, "data.sqlite")
        place = os.fspath(path)
        # as the command: the outermost points are moved to the bounds
        plan = np.array(array(self._first.plan(1, int(samples), None, None, None)))
        scales = np.array([c.scale for c in self.commands.values()])
        spans = np.array([c.span for c in self.commands.values()]) * scales[:, None]
        low, high = plan.min(0), plan.max(0)
        wide = high > low
        plan[:, wide] = spans[wide, 0] + (spans[wide, 1] - spans[wide, 0]) * (plan[:, wide] - low[wide]) / (high - low)[wide]
        rows = np.ascontiguousarray(plan)
        s = self.source
        file = os.path.abspath(s.path) if s.named and s.path and os.path.exists(s.path) else None
        jobs = max(1, min(int(jobs), (len(rows) + 15) // 16))
        # models of their own, fresh: chains agree to the last bit in any order
        models = [self._load(self._first, None, None)[0] for _ in range(jobs)]
        fresh = [np.array(array(model.at()[2])) for model in models]
        failure: Optional[BaseException] = None
        with Shown(progress) as callback:

            def work(k: int) -> tuple[int, int]:
                return models[k].sample(
                    place, f"samples {len(rows)}", file, jacobians, shapes, s.size, s.order, rows, fresh[k], k, jobs,
                    callback,
                )  # fmt: skip

            # the first one makes the file and its plan
            if jobs == 1:
                counts = [work(0)]
            else:
                models[0].sample(
                    place, f"samples {len(rows)}", file, jacobians, shapes, s.size, s.order, rows, fresh[0], len(rows),
                    len(rows) + 1, None,
                )  # fmt: skip
                with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                    calls = [pool.submit(work, k) for k in range(jobs)]
                    try:
                        concurrent.futures.wait(calls, return_when=concurrent.futures.FIRST_EXCEPTION)
                    except KeyboardInterrupt as stop:
                        failure = stop
                    if failure is not None or any(c.done() and c.exception() for c in calls):
                        while not all(c.done() for c in calls):
                            for model in models:
                                model.stop()
                            concurrent.futures.wait(calls, timeout=0.05)
                    counts = [c.result() for c in calls]
        for model in models:
            pending = model.pending()
            failure = pending if failure is None else failure
        result = Dataset(self, place, len(rows), sum(c[0] for c in counts), sum(c[1] for c in counts), folder)
        if isinstance(failure, KeyboardInterrupt):
            raise Interrupted(None, result) from None
        if failure is not None:
            raise failure
        return result

    def learn(
        self,
        samples: Union[int, "Dataset"] = 500,
        *,
        jobs: int = 1,
        hidden: Sequence[int] = (24, 24),
        epochs: int = 0,
        seed: int = 1,
        inverse: bool = False,
        progress: Progress = None,
    ) -> "Learned":
        """A learned model: networks fitted to samples and their Jacobians, a robot that answers in microseconds.

        samples: their number, or a data set of ``sample``. hidden: neurons per layer; epochs: 0: as many as help.
        The result is a Robot; `error` is its largest error (mm) on samples held out, `fit` the report.

        >>> m = pliant.testing.arm().learn(samples=40, hidden=[6], epochs=10)
        >>> m.kind, m.error > 0
        ('learned', True)
        """
        data = samples if isinstance(samples, Dataset) else self.sample(samples, jobs=jobs, progress=progress)
        with Shown(progress) as callback, tempfile.TemporaryDirectory(prefix="pliant-") as folder:
            out = os.path.join(folder, "model.yaml")
            try:
                fit = _core.learn(data.path, out, tuple(int(h) for h in hidden), int(epochs), int(seed), inverse, callback)
            except KeyboardInterrupt:
                raise Interrupted(None, data) from None
            with open(out, encoding="utf-8") as file:
                text = file.read()
        return Learned(Source(text, f"{self.name}-learned.yaml", cache=False), fit)

    # ---- estimation
    def estimate(
        self,
        sent: Mapping[str, Any],
        measured: Mapping[str, Any],
        *,
        sigma: Union[float, Mapping[str, float]] = 0.1,
        command_sigma: Optional[Mapping[str, float]] = None,
        forces: Sequence[str] = (),
        force_sigma: float = float("inf"),
        stiffness_sigma: Optional[float] = None,
        model_error: Optional[float] = None,
        outlier: float = 3.0,
        start: Optional[State] = None,
        progress: Progress = None,
    ) -> "Estimate":
        """The state that fits measurements: which commands and forces really act.

        sent: commands as sent. measured: {sensor: value, marker: (x, y, z) mm, "air.effort": kPa, "air.volume": mm^3}, or
        the sensors and markers of a state; nan: missing. sigma: standard deviation of the measured numbers, in their units. command_sigma: of the
        difference between true and sent commands, in their units (not named: exactly as sent; inf: unknown). forces:
        markers where an unknown force acts, of expected size force_sigma (N). stiffness_sigma: the body may be stiffer or
        softer than the model by this fraction (None: 0.2, as `pliant estimate`; 0: exactly the model). outlier: readings
        farther than this many sigmas, and farther than the fraction model_error of their change from rest (None: 0.03),
        from what the others tell are not used.

        >>> r = pliant.testing.arm()
        >>> s = r.solve(t1=2, t2=0, t3=1, forces={"tip": (0.03, -0.02, 0.04)})
        >>> e = r.estimate(s.commands, s.sensors, sigma=0.02, forces=["tip"], stiffness_sigma=0)
        >>> e.forces["tip"].round(4)
        array([ 0.03, -0.02,  0.04])
        """
        rows: list[tuple[int, int, int, float]] = []
        values: list[float] = []
        for name, given in measured.items():
            spread = float(sigma[name] if isinstance(sigma, Mapping) else sigma)
            thing, _, what = name.partition(".")
            if name in self.markers:
                i = self._index("marker", name)
                for axis, v in enumerate(np.asarray(getattr(given, "position", given), dtype=float).reshape(3)):
                    rows.append((1, i, axis, spread))
                    values.append(float(v))
            elif name in self.sensors:
                i = self._index("sensor", name)
                scale = self._info["sensors"][i]["scale"]
                rows.append((0, i, 0, spread * scale))
                values.append(float(getattr(given, "value", given)) * scale)
            elif thing in self.actuators and what:
                i = self._index("actuator", thing)
                effort = what == "effort"
                scale = self._info["actuators"][i]["effort_scale"] if effort else 1.0
                rows.append((2 if effort else 3, i, 0, spread * scale))
                values.append(float(given) * scale)
            else:
                raise unknown("sensor, marker or actuator", name, [*self.sensors, *self.markers, *(f"{a}.effort" for a in self.actuators)])
        known = np.zeros(len(self.commands))
        for name, value in (command_sigma or {}).items():
            known[self._index("command", name)] = float(value) * self.commands[name].scale
        pulled = np.array([self._index("marker", name) for name in forces], dtype=np.int32)
        commands = self._first.commands(dict(sent), None, True)
        model = self._take(start)
        state = None
        try:
            if start is None:
                model.reset()
            with Shown(progress) as callback:
                found = model.estimate(
                    rows, commands, np.array(values), known, pulled if len(pulled) else None, float(force_sigma),
                    float("nan") if stiffness_sigma is None else float(stiffness_sigma),
                    float("nan") if model_error is None else float(model_error), float(outlier), callback,
                )  # fmt: skip
            state = State(self, found.pop("standing"))
            names = [name for name in measured for _ in range(3 if name in self.markers else 1)]
            found["rejected"] = sorted({names[k] for k in found["rejected"]})
            return Estimate(self, state, list(forces), {k: array(v) if isinstance(v, _core.Array) else v for k, v in found.items()})
        finally:
            self._give(model, None)

    def calibrate(
        self,
        measured: Union[str, "os.PathLike[str]"],
        free: Union[str, Sequence[str]],
        *,
        hold: Sequence[int] = (),
        progress: Progress = None,
    ) -> "Fit":
        """Parameters from measured poses: ``r.calibrate("measured.csv", free=["silicone.c10"])``.

        measured: a CSV with one column per command (unit in brackets) and three per marker ("tip.x [mm]", ...). free:
        MATERIAL.CONSTANT, COMMAND.factor, COMMAND.offset, base.x to base.rz, or the path of a number in the robot file.
        hold: rows (from 0) that are predicted but not used. The answer has values with standard deviations and the
        calibrated robot.

        >>> r = pliant.testing.arm()
        >>> with open("measured.csv", "w") as file:
        ...     _ = file.write("t1 [N],t2 [N],t3 [N],tip.x [mm],tip.y [mm],tip.z [mm]\\n")
        ...     for t in (1, 2, 3):
        ...         x, y, z = r.solve(t1=t, t2=0, t3=0)["tip"].position
        ...         _ = file.write(f"{t},0,0,{x + 1},{y},{z}\\n")
        >>> f = r.calibrate("measured.csv", free=["base.x"])
        >>> round(f["base.x"], 6)
        1.0
        """
        from ._calibrate import poses

        return poses(self, measured, free, hold, progress)

    # ---- studies
    def study(
        self,
        vary: Mapping[str, Union[str, Sequence[Union[str, float]]]],
        set: Optional[Mapping[str, Union[str, float]]] = None,
        *,
        marker: Optional[str] = None,
        stiffness: bool = False,
        blocked: Union[bool, str] = False,
        beyond_range: bool = False,
        jobs: Optional[int] = None,
        store: Union[None, str, "os.PathLike[str]"] = None,
        progress: Progress = None,
    ) -> "Study":
        """Results at all combinations of commands and of values of the robot file, as `pliant study`.

        vary: {name: "FROM:TO:COUNT" or a list}; names are commands (a number is in the command's unit) or paths in the file
        ("design.wall", "materials.silicone.c10"). set: commands and values that stay the same. stiffness, blocked: also the
        stiffness of a marker (N/mm), and the force it exerts where it is held (N; "x", "y", "z": along that axis alone).
        beyond_range: allow values outside the ranges; otherwise such points are not solved, and `outcome` says so. jobs: variants
        solved at the same time (None: one per processor). store: a file that keeps solved points for the next time. Variants are meshed and solved as this robot was loaded (method, size, order, displacement, time limit). Ctrl-C raises
        Interrupted with the points solved in `.result`.

        >>> s = pliant.testing.arm().study({"model.sections.0.young": ["0.5 MPa", "1 MPa"], "t1": "0N:2N:3"})
        >>> len(s), bool(s.solved.all()), s["tip.x"].round(2).tolist()
        (6, True, [0.0, 25.56, 46.99, 0.0, 13.09, 25.56])
        """
        from ._command import study

        return study(self, vary, set or {}, marker, stiffness, blocked, beyond_range, jobs, None if store is None else os.fspath(store), progress)

    # ---- motions in time
    def simulate(
        self,
        until: Union[str, float],
        commands: Optional[Mapping[str, Any]] = None,
        *,
        start: Union[str, State, "Motion"] = "equilibrium",
        before: Optional[Mapping[str, Any]] = None,
        ramp: Union[str, float] = 0.0,
        load_ramp: Union[str, float] = 0.0,
        every: Union[None, str, float] = None,
        tolerance: float = 1e-3,
        step: Union[str, float] = 0.0,
        first_step: Union[str, float] = 0.0,
        damping: float = 0.0,
        masses: Optional[Mapping[str, Union[str, float]]] = None,
        hang: bool = False,
        shapes: bool = False,
        beyond_range: bool = False,
        progress: Progress = None,
    ) -> "Motion":
        """The motion in time until a time (s, or a text with a unit), as `pliant simulate`. Every material needs a density.

        commands: each a value reached at once or in `ramp`; ([times], [values]), linear between; or a sine,
        {"mean": .., "amplitude": .., "frequency": Hz}. start: "equilibrium" (at the commands `before`; those named are
        at rest there), "undeformed" (loads act at once, or within `load_ramp`), a State, or a Motion to go on from.
        every: s between rows. tolerance: error over the largest displacement; step: fixed, s. damping: mass-proportional,
        1/s. masses: {marker: g, or a text}, with their weight; hang: on long strings. shapes: keep the shape of every row.

        >>> m = pliant.testing.beam().simulate("0.1 s", {"tendon": "4 mm"}, ramp="50 ms", every="20 ms")
        >>> m["tendon"].round(2).tolist()
        [0.0, 1.6, 3.2, 4.0, 4.0, 4.0]
        """
        from ._simulate import simulate

        return simulate(
            self, until, commands or {}, start=start, before=before or {}, ramp=ramp, load_ramp=load_ramp, every=every, tolerance=tolerance, step=step,
            first_step=first_step, damping=damping, masses=masses or {}, hang=hang, shapes=shapes, beyond_range=beyond_range, progress=progress,
        )  # fmt: skip

    def modes(
        self,
        commands: Optional[Mapping[str, Union[str, float]]] = None,
        *,
        count: int = 6,
        masses: Optional[Mapping[str, Union[str, float]]] = None,
        hang: bool = False,
        beyond_range: bool = False,
    ) -> "Modes":
        """Free vibrations about the equilibrium at given commands, as `pliant modes`: Hz, damping ratios. Every material needs a density.

        masses: {marker: g, or a text}, with their weight; hang: on long strings.

        >>> m = pliant.testing.beam().modes({"tendon": "2 mm"}, count=2)
        >>> len(m), m.frequency.round(1).tolist()
        (2, [11.4, 14.0])
        """
        from ._measure import modes

        return modes(self, commands or {}, int(count), masses or {}, hang, beyond_range)

    def release(
        self, runs: Any, free: Union[str, Sequence[str]], *, until: Union[str, float] = 3.0, step: Union[str, float] = 0.005
    ) -> "Release":
        """Stiffness and viscous weights from recordings of markers after the body was let go (tables of t [s], tip.x [mm] ...), as
        `pliant calibrate release`; `free` as "silicone.young", "silicone.prony.0.g". until: time compared, s; step: of the motions, s.

        >>> try:
        ...     pliant.testing.beam().release("nowhere.csv", "silicone.c10")
        ... except pliant.Error as error:
        ...     print("nowhere.csv" in str(error))
        True
        """
        from ._measure import release

        return release(self, runs, free, until, step)

    def shapes(
        self,
        commands: Optional[Mapping[str, Union[str, float]]] = None,
        *,
        modes: Optional[int] = None,
        up_to: Optional[float] = None,
        branches: bool = True,
        beyond_range: bool = False,
    ) -> "Shapes":
        """The stable shapes at given commands, as `pliant shapes`: those that a body which buckles or snaps can take.

        modes: softest modes of each shape along which searches start. up_to: load up to which shapes are followed, a multiple of
        the one given. branches=False: without the loads at which they appear and disappear.

        >>> found = pliant.testing.bar().shapes()
        >>> len(found), found[0].state.converged, found[0].appears
        (1, True, 'continues')
        """
        from ._shapes import shapes

        return shapes(self, commands or {}, modes, up_to, branches, beyond_range)

    def run(
        self,
        goal: Any,
        *,
        steps: int = 200,
        marker: Optional[str] = None,
        controller: Optional[str] = None,
        control_marker: bool = False,
        estimator: bool = True,
        plant: Union[None, str, "Robot"] = None,
        period: Optional[str] = None,
        real_time: bool = False,
        tolerance: Optional[float] = None,
        on_stop: str = "hold",
        max_effort: Optional[Mapping[str, Union[str, float]]] = None,
        max_pressure: Optional[str] = None,
        max_tension: Optional[str] = None,
        timeout: Optional[str] = None,
    ) -> "Run":
        """A closed loop on a simulated or real robot, as `pliant run`.

        goal: (x, y, z) mm, or a list of (time, (x, y, z)). plant: another robot that is simulated (None: this one), or the
        address of one that speaks the protocol of docs/howto/control.md ("127.0.0.1:5555"). controller: open, pi, track or
        impedance. period, max_pressure, max_tension and timeout: texts with units. A goal that is missed is no exception:
        see `reached`.

        >>> loop = pliant.testing.arm().run((10, 5, 95), steps=60)
        >>> loop.reached, loop.ticks, loop["t1"].shape
        (True, 60, (60,))
        """
        from ._command import run

        options = {
            "steps": steps, "marker": marker, "controller": controller, "control-marker": control_marker, "no-estimator": not estimator,
            "period": period, "real-time": real_time, "tolerance": tolerance, "on-stop": on_stop, "max-pressure": max_pressure,
            "max-tension": max_tension, "timeout": timeout,
        }  # fmt: skip
        return run(self, goal, plant, options, max_effort or {})

    def plant(self, period: Union[None, str, float] = None, seed: Optional[int] = None, *, motion: bool = False) -> "Plant":
        """This robot simulated, with the delays, lag, noise, faults and payload of its file, as `pliant plant`.

        period: between two steps, s or a text with a unit (None: that of the controller in the file). seed: of the noise.
        motion: the body moves in time, with inertia and viscosity, whatever the file says; otherwise equilibrium after equilibrium.

        >>> with pliant.testing.arm().plant(seed=1) as p:
        ...     reading = p.step(t1=1, t2=0, t3=0)
        >>> sorted(reading.sensors), reading.solved
        (['s1', 's2', 's3', 's4', 's5', 's6'], True)
        """
        from ._command import Plant

        return Plant(self, period, seed, motion)

    def loop(
        self,
        marker: Optional[str] = None,
        *,
        controller: Optional[str] = None,
        control_marker: bool = False,
        estimator: bool = True,
        period: Union[None, str, float] = None,
        max_effort: Optional[Mapping[str, Union[str, float]]] = None,
    ) -> "Loop":
        """The controller and estimator of the file, to close a loop with readings of one's own: a tick of `pliant run`.

        marker: of the goals (None: that of the file, or the first). controller: open, pi, track or impedance.
        control_marker: the outputs are the marker's position instead of the sensors. estimator=False: the Jacobian is taken at the
        commands sent. period: s or a text with a unit. max_effort: {actuator: bound}, in its unit or a text.

        >>> loop = pliant.testing.arm().loop("tip", controller="pi", period="0.1 s")
        >>> loop.goal((10, 5, 95)) < 0.01, loop.tick({}).held is None
        (True, False)
        """
        from ._command import Loop

        return Loop(self, marker, controller, control_marker, estimator, period, max_effort or {})

    def control(
        self,
        kp: Optional[float] = None,
        ki: Optional[float] = None,
        *,
        delay: Union[None, str, float] = None,
        lag: Union[None, str, float] = None,
        period: Union[None, str, float] = None,
    ) -> "Margin":
        """The stability of the PI loop with the delay and lag of the file, as `pliant control check`.

        kp, ki: gains per tick. Times in s, or texts with units.

        >>> m = pliant.testing.arm().control(kp=0.5, delay="0.2 s", lag="0.1 s")
        >>> m.stable, m.damped
        (True, False)
        """
        from ._command import control

        return control(self, {"kp": kp, "ki": ki, "delay": delay, "lag": lag, "period": period})

    # ---- the view
    def serve(self, port: int = 0, width: str = "100%", height: int = 600) -> Any:
        """Starts `pliant serve` for this robot and shows the live view: inline in a notebook, otherwise its address.

        >>> live = pliant.testing.segment().serve()  # doctest: +SKIP
        >>> live.address  # doctest: +SKIP
        'http://127.0.0.1:8080/'
        """
        from ._view import serve

        return serve(self, port, width, height)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the robot file, with the size (mm) and order of elements, method and formulation that it was loaded with.

        >>> pliant.testing.arm().save("arm.yaml")
        >>> pliant.load("arm.yaml").name
        'arm'
        """
        with replacing(path) as file:
            file.write(_as_loaded(self.source) if self._first.body() is not None else self.source.text)


class Estimate(Record):
    """A state that fits measurements, with error bars (one standard deviation)."""

    def __init__(self, robot: Robot, state: State, forces: list[str], found: dict[str, Any]) -> None:
        self.robot = robot
        self.state = state
        self.converged: bool = found["converged"]
        scales = np.array([c.scale for c in robot.commands.values()])
        #: commands that really act, and their standard deviations, in their units
        self.commands = dict(zip(robot.commands, found["command"] / scales))
        self.command_sigma = dict(zip(robot.commands, found["command_sigma"] / scales))
        #: unknown forces, N
        self.forces = dict(zip(forces, found["force"]))
        self.force_sigma = dict(zip(forces, found["force_sigma"]))
        #: marker positions, mm
        self.markers = dict(zip(robot.markers, found["marker"]))
        self.marker_sigma = dict(zip(robot.markers, found["marker_sigma"]))
        self.residuals = found["residual"]  #: (measured - estimated) / sigma; nan: missing
        self.fit: float = found["fit"]  #: root mean square of the residuals; about 1 when the sigmas are right
        self.used: int = found["used"]
        self.outliers: int = found["outliers"]
        self.rejected: list[str] = found["rejected"]  #: measured names that disagree with the others and were not used
        self.contradicted: bool = found["contradicted"]  #: no shape agrees with most readings and with the commands sent
        self.stiffness: float = 1 + found["stiffness"]  #: of the body over that of the model, a ratio
        self.stiffness_sigma: float = found["stiffness_error"]  #: its standard deviation, as a ratio
        self.unseen: int = found["unseen"]  #: directions of the unknowns that the readings say little about

    def __repr__(self) -> str:
        lines = [f"{self.robot.name}: estimate from {self.used} readings, fit {self.fit:.3g}"]
        lines += [f"  {n} = {v:.6g} +- {self.command_sigma[n]:.2g} {self.robot.commands[n].unit}" for n, v in self.commands.items()]
        lines += [f"  force at {n}: {np.round(v, 6)} +- {np.round(self.force_sigma[n], 6)} N" for n, v in self.forces.items()]
        if self.stiffness_sigma > 0:
            lines.append(f"  stiffness {self.stiffness:.4g} +- {self.stiffness_sigma:.2g} times that of the model")
        if self.rejected:
            lines.append("  not used: " + ", ".join(self.rejected))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows: list[list[Any]] = [[n, v, self.command_sigma[n], self.robot.commands[n].unit] for n, v in self.commands.items()]
        for name, force in self.forces.items():
            rows += [[f"force at {name}.{axis}", f, s, "N"] for axis, f, s in zip("xyz", force, self.force_sigma[name])]
        for name, place in self.markers.items():
            rows += [[f"{name}.{axis}", p, s, "mm"] for axis, p, s in zip("xyz", place, self.marker_sigma[name])]
        if self.stiffness_sigma > 0:
            rows.append(["stiffness", self.stiffness, self.stiffness_sigma, "of the model"])
        title = f"{self.robot.name}: estimate from {self.used} readings, fit {self.fit:.3g}"
        return Table(["", "estimated", "+-", "unit"], rows, title)._repr_html_()


class Dataset(Record):
    """Samples of a robot in an SQLite file (docs/howto/learn.md)."""

    def __init__(self, robot: Robot, path: str, planned: int, solved: int, failed: int, folder: Optional[str] = None) -> None:
        self.robot = robot
        self.path = path
        self.planned = planned
        self.computed = solved  #: in this run
        self.failed = failed
        if folder is not None:  # a temporary one lives as long as its data set
            weakref.finalize(self, shutil.rmtree, folder, True)

    def __len__(self) -> int:
        return self.planned

    def __repr__(self) -> str:
        return f"<{self.planned} samples of {self.robot.name} in {self.path}, {self.computed} computed now, {self.failed} failed>"


class Learned(Robot):
    """A learned model. Every answer says how far it is outside of its samples (``state.readings["learned"]``)."""

    def __init__(self, source: Source, fit: Mapping[str, Any]) -> None:
        super().__init__(source, None)
        self.fit = dict(fit)

    def __reduce__(self) -> Any:
        return _fitted, (Learned, sealed("robot", astuple(self.source), self.fit))

    @property
    def error(self) -> float:
        """Largest error of the marker positions on samples (after adapt: measurements) held out, mm."""
        return float(self.fit["held_largest"] if "held_largest" in self.fit else self.fit["parts"]["position"]["largest"])

    @property
    def rms(self) -> float:
        """Root mean square of that error, mm."""
        return float(self.fit["held_rms"] if "held_rms" in self.fit else self.fit["parts"]["position"]["rms"])

    def adapt(
        self, measured: Union[str, "os.PathLike[str]"], *, kind: str = "process", seed: int = 1, progress: Progress = None
    ) -> "Learned":
        """Corrected by measurements of the real robot: a CSV with a column per command and three per marker.

        kind: process (a Gaussian process with error bars) or layer (as published).

        >>> r = pliant.testing.arm()
        >>> m = r.learn(samples=40, hidden=[6], epochs=10)
        >>> with open("real.csv", "w") as file:
        ...     _ = file.write("t1 [N],t2 [N],t3 [N],tip.x [mm],tip.y [mm],tip.z [mm]\\n")
        ...     for k in range(12):
        ...         x, y, z = m.solve(t1=k % 4, t2=k % 3, t3=k % 5)["tip"].position
        ...         _ = file.write(f"{k % 4},{k % 3},{k % 5},{x + 1},{y},{z}\\n")
        >>> a = m.adapt("real.csv")
        >>> bool(abs(a.solve(t1=2, t2=1, t3=1)["tip"].position[0] - m.solve(t1=2, t2=1, t3=1)["tip"].position[0] - 1) < 0.2)
        True
        """
        with Shown(progress) as callback, tempfile.TemporaryDirectory(prefix="pliant-") as folder:
            out = os.path.join(folder, "model.yaml")
            fit = _core.adapt(self.source.text, self.source.path, os.fspath(measured), out, kind, int(seed), callback)
            with open(out, encoding="utf-8") as file:
                text = file.read()
        return Learned(Source(text, self.source.path, cache=False), fit)


class Reduced(Robot):
    """A reduced model fitted to a full robot; `fit` has the errors over random commands (mm, rad)."""

    def __init__(self, source: Source, fit: Mapping[str, Any]) -> None:
        super().__init__(source, None)
        self.fit = dict(fit)

    def __reduce__(self) -> Any:
        return _fitted, (Reduced, sealed("robot", astuple(self.source), self.fit))


def _fitted(kind: Any, *pickled: Any) -> Robot:
    """A learned or reduced robot, for unpickling."""
    source, fit = _unpickled(*pickled)
    return kind(source, fit)  # type: ignore[no-any-return]


def _mesh_set(text: str, path: Optional[str], key: str, value: str) -> str:
    """The text with a value in the block `mesh` of the robot, or of each of its bodies."""
    try:
        return _core.text_set(text, path, f"mesh.{key}", value)
    except _core.InputError:  # the bodies have their own
        text = _core.text_set(text, path, f"bodies.0.mesh.{key}", value)
    for b in itertools.count(1):
        try:
            text = _core.text_set(text, path, f"bodies.{b}.mesh.{key}", value)
        except _core.InputError:  # it was the last
            break
    return text


def _as_loaded(s: Source) -> str:
    """The text of a full body with what it was loaded with besides."""
    text = s.text
    if s.size > 0:
        text = _mesh_set(text, s.path, "size", f"{s.size:.15g} mm")
    if s.order > 0:
        text = _mesh_set(text, s.path, "order", str(s.order))
    for key, value in (("method", s.method), ("formulation", "displacement" if s.displacement else None)):
        if value is not None:
            try:
                text = _core.text_set(text, s.path, f"solver.{key}", value)
            except _core.InputError:  # there is no such block
                flow = text.rstrip().endswith("}") and text.lstrip().startswith("{")
                end = text.rstrip()
                text = f'{end[:-1].rstrip()}, "solver": {{"{key}": "{value}"}}}}\n' if flow else f"{end}\nsolver:\n  {key}: {value}\n"
    return text


def _command(c: dict[str, Any]) -> Command:
    span = (float(c["low"]), float(c["high"]))
    return Command(c["name"], c["drive"], c["unit"], span if c["has_range"] else None, span, c["rest"], c["rate"], c["scale"])


def _robot_of(source: Source) -> Robot:
    return Robot(source, None)


# ---- making robots
def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as what JSON knows."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise _core.InputError(f"a robot consists of texts, numbers, lists and dictionaries, found {type(value).__name__}")


def load(
    source: Union[str, "os.PathLike[str]", Mapping[str, Any]],
    *,
    method: Optional[str] = None,
    size: float = 0.0,
    order: int = 0,
    displacement: bool = False,
    cache: bool = True,
    time_limit: float = 0.0,
    stop_at_limit: bool = False,
    folder: Union[None, str, "os.PathLike[str]"] = None,
    progress: Progress = None,
) -> Robot:
    """A robot from a file (or a folder with robot.yaml), or from a dictionary with the keys of a robot file.

    method: exact, local_global or fang2020 (default: as in the file); size: target edge length in mm; order: 1 or 2;
    displacement: standard displacement elements; cache: keep meshes beside the file; time_limit: s per solve;
    stop_at_limit: a body that would snap stays at its limit point (outcome "limit point") instead of landing beyond it; folder: what relative paths in a dictionary refer to (default: the working directory).

    Raises InputError with all defects of the file, as the command prints them; `findings` lists them.

    >>> section = {"name": "s", "length": 50, "diameter": 8, "young": "1 MPa", "poisson": 0.45}
    >>> pliant.load({"pliant": 1, "name": "rod", "model": {"kind": "rod", "sections": [section]}, "markers": {"tip": {"at": 50}}}).size
    50.0
    """
    how = dict(method=method, size=float(size), order=int(order), displacement=displacement, time_limit=float(time_limit), stop_at_limit=bool(stop_at_limit))
    if isinstance(source, Mapping):
        text = json.dumps(_plain(source), indent=1, ensure_ascii=False)
        base = os.path.join(os.path.abspath(folder) if folder is not None else os.getcwd(), "robot")
        try:
            return Robot(Source(text, base, cache=False, named=False, **how), progress)  # type: ignore[arg-type]
        except _core.Error as error:
            raise _unnamed(error) from None
    path = os.fspath(source)
    if os.path.isdir(path):
        path = os.path.join(path, "robot.yaml")
    text = read_text(path, "surrogateescape")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _core.InputError(f"{path}: the file is not a text in UTF-8") from None
    source_of = Source(text, path, cache=cache, **how)  # type: ignore[arg-type]
    robot = Robot(source_of, progress)
    with _loading:
        _loaded.setdefault(source_of, robot)
    return robot


def _unnamed(error: _core.Error) -> _core.Error:
    """Without lines of a file that does not exist."""
    if not error.findings:
        return error
    lines = [f"{f.severity}: {f.text}" + (f"\n    {f.advice}" if f.advice else "") for f in error.findings if f.severity == "error"]
    out = type(error)("\n".join(lines))
    out.findings = error.findings
    return out


def _design(kind: str) -> Any:
    known = {d[0]: d for d in _core.designs()}
    if kind not in known:
        near = _core.nearest(kind, list(known))
        raise _core.InputError(
            f"there is no design '{kind}'" + (f"; did you mean '{near}'?" if near else "") + "\n    there are " + ", ".join(known)
        )
    return known[kind]


def design(
    kind: str, *, method: Optional[str] = None, size: float = 0.0, order: int = 0, cache: bool = True,
    progress: Progress = None, **parameters: Any,
) -> Robot:  # fmt: skip
    """A parametric design: ``pliant.design("bending_finger", length=100)``; ``pliant.designs()`` lists them.

    Lengths in mm (or texts with units). Meshes are kept in the user's cache folder.

    >>> pliant.design("segment_beam").kind
    'beam'
    """
    _, _, text, known = _design(kind)
    names = {p[0]: p for p in known}
    for name, value in parameters.items():
        if name not in names:
            near = _core.nearest(name, list(names))
            raise _core.InputError(
                f"{kind} has no parameter '{name}'" + (f"; did you mean '{near}'?" if near else "")
                + "\n    it has " + (", ".join(names) or "none")
            )  # fmt: skip
        number = _core.quantity(value, 1 if names[name][1] == "mm" else 0) if isinstance(value, str) else float(value)
        text = _core.design_set(text, name, number)
    path = f"{kind}.yaml"
    if cache:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(base, "pliant")
        try:
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, path)
        except OSError:
            cache = False
    source = Source(text, path, method=method, size=float(size), order=int(order), cache=cache)
    robot = Robot(source, progress)
    with _loading:
        _loaded.setdefault(source, robot)
    return robot


def guess(path: Union[str, "os.PathLike[str]"], unit: Union[str, float, None] = None, material: Optional[str] = None) -> str:
    """A first robot file for your own part, as `pliant new --from`: base, tip, chambers and tendons are guessed, and comments say what was
    guessed. Returns the text; save it beside the part, then load it.

    A closed surface (STL, OBJ) has no unit (default: mm; a number is mm per unit of the file); STEP assemblies and meshes know theirs, and
    need the command. material: a name of ``pliant.materials()``.

    >>> _ = pliant.testing.bar().rest.save("part.stl")
    >>> text = pliant.guess("part.stl", unit="mm", material="ecoflex_00_50")
    >>> "mesh:" in text, "use: ecoflex_00_50" in text
    (True, True)
    """
    path = os.fspath(path)
    if material is not None and material not in (row[0] for row in _core.materials()):
        near = _core.nearest(material, [row[0] for row in _core.materials()])
        raise _core.InputError(f"material: the library has no '{material}'" + (f"; did you mean '{near}'?" if near else ""))
    if path.lower().endswith((".stl", ".obj")):
        given = "mm" if unit is None else unit
        scale = {"mm": 1.0, "cm": 10.0, "m": 1000.0, "in": 25.4, "inch": 25.4}.get(given) if isinstance(given, str) else float(given)
        if scale is None:
            raise _core.InputError(f"unit {unit!r}: expected mm, cm, m or in")
        text = _core.guess(path, os.path.basename(path), scale)
    else:
        from ._command import call, option

        if unit is not None and not isinstance(unit, str):
            raise _core.InputError(f"unit {unit!r}: expected mm, cm, m or in")
        with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
            call(["new", "--from", path, folder, "--force", *option("unit", unit)])
            text = read_text(os.path.join(folder, "robot.yaml"), "strict")
    return text if material is None else _core.text_set(text, None, "materials.silicone", f"{{use: {material}}}")
