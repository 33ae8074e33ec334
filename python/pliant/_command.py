"""Studies over variants of the robot file, closed loops, simulated robots. Words are those of `pliant study`, `run`, `plant`
and `control`. All is done in this process, except `run`, which starts the command (and with it the simulated robot)."""
from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core, _program
from ._goal import _three
from ._files import replacing, write_arrays
from ._progress import Progress, Shown
from ._table import Named, Record, Table, sealed_array, unknown

if TYPE_CHECKING:
    from ._robot import Finding, Robot

Quantity = Union[str, float]


def program() -> str:
    """The command, or an error that says what is missing."""
    found = _program.command()
    if found is None:
        raise _core.FileError("the command pliant is not installed; it runs fits of recorded tests, `run`, `shapes`, `modes` and the view")
    return found


def robot_file(robot: "Robot", folder: str) -> str:
    """The robot as a file: its own where that has the same text, so that what it names is found, otherwise a copy in `folder`."""
    path = robot.source.path
    if path is not None and os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == robot.source.text:
                return path
    path = os.path.join(folder, "robot.yaml")
    robot.save(path)
    return path


def mesh_options(robot: "Robot") -> list[str]:
    """Options of the mesh that the robot was loaded with."""
    out = ["--size", str(robot.source.size)] if robot.source.size > 0 else []
    return out + (["--order", str(robot.source.order)] if robot.source.order > 0 else [])


def call(arguments: Sequence[str]) -> tuple[int, dict[str, Any], str]:
    """Runs the command with `--json -`: exit status, its record, what it said. Raises where there is no record."""
    done = subprocess.run(
        [program(), *arguments, "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_program.environment()
    )
    said = done.stderr.strip()
    record = json.loads(done.stdout) if done.stdout.strip() else {}
    if record and "failure" not in record:
        return done.returncode, record, said
    lines = [line.split(": error: ", 1)[-1] for line in said.splitlines() if line.strip()]
    text = "\n".join(lines) or f"pliant {arguments[0]} ended with {done.returncode}"
    raise {2: _core.InputError, 3: _core.FileError}.get(done.returncode, _core.SolverError)(text)


def option(name: str, value: Any) -> list[str]:
    """An option of the command; None and False: not given."""
    if value is None or value is False:
        return []
    return [f"--{name}"] if value is True else [f"--{name}", str(value)]


class Study(Record):
    """Results at all combinations of what was varied. ``s["tip.x"]`` is (n,); ``s.varied["air"]`` the values given."""

    def __init__(self, robot: "Robot", found: Mapping[str, Any]) -> None:
        self.robot = robot
        axes, settings = found["axes"], found["settings"]
        #: why a row has no results, or "solved"; None: not reached
        self.outcome: list[Optional[str]] = found["outcomes"]
        #: by name, as texts with units, (n,) each
        self.varied: Named[list[str]] = Named("axis", {name: settings[k :: len(axes)] for k, name in enumerate(axes)})
        #: names with units: "tip.x [mm]"
        self.quantities: list[str] = found["quantities"]
        #: rows that were in the store, and not solved again
        self.kept: int = found["kept"]
        #: what was noted while the variants were loaded
        self.findings: list["Finding"] = found["findings"]
        values = np.array(found["values"]).reshape(len(self.outcome), max(len(self.quantities), 1))
        self._values = {q: sealed_array(np.array(values[:, k])) for k, q in enumerate(self.quantities)}

    @property
    def solved(self) -> Any:
        """Whether each row is solved, (n,) booleans."""
        return sealed_array(np.array([o == "solved" for o in self.outcome]))

    def __len__(self) -> int:
        return len(self.outcome)

    def __iter__(self) -> Iterator[str]:
        return iter(self.quantities)

    def __contains__(self, name: object) -> bool:
        return any(name in (q, q.split(" [")[0]) for q in self.quantities)

    def __getitem__(self, name: str) -> Any:
        """A quantity by its name, with or without the unit."""
        for q in self.quantities:
            if name in (q, q.split(" [")[0]):
                return self._values[q]
        raise unknown("quantity", name, [q.split(" [")[0] for q in self.quantities])

    def _ipython_key_completions_(self) -> list[str]:
        return [q.split(" [")[0] for q in self.quantities]

    def _columns(self) -> dict[str, Any]:
        return {**self.varied, "outcome": [o or "" for o in self.outcome], **self._values}

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a table (.csv) or arrays (.npz).

        >>> pliant.testing.arm().study({"t1": "0N:2N:2"}).save("study.csv")
        """
        columns = self._columns()
        path = os.fspath(path)
        if path.lower().endswith(".npz"):
            write_arrays(path, columns)
            return
        if not path.lower().endswith(".csv"):
            raise _core.InputError(f"{path}: expected .csv or .npz")
        with replacing(path) as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(columns)
            for row in zip(*columns.values()):
                table.writerow([v if isinstance(v, str) else "" if np.isnan(v) else f"{v:.10g}" for v in row])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; needs pandas."""
        import pandas

        return pandas.DataFrame(self._columns())

    def _table(self) -> Table:
        columns = self._columns()
        return Table(list(columns), list(zip(*columns.values())), f"{self.robot.name}: {int(self.solved.sum())} of {len(self)} solved")

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


def _setting(robot: "Robot", name: str, value: Any) -> str:
    """A value as a text: a number for a command is in its unit, as everywhere."""
    if isinstance(value, str):
        return value
    text = repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
    command = robot.commands.get(name)
    return text if command is None or command.unit == "1" else f"{text} {command.unit}"


def study(
    robot: "Robot", vary: Mapping[str, Union[str, Sequence[Quantity]]], set: Mapping[str, Quantity], marker: Optional[str], stiffness: bool,
    blocked: Union[bool, str], beyond_range: bool, jobs: Optional[int], store: Optional[str], progress: Progress,
) -> Study:  # fmt: skip
    """See Robot.study."""
    from ._robot import findings
    from ._state import Interrupted

    if isinstance(blocked, str) and blocked not in ("x", "y", "z"):
        raise _core.InputError(f"blocked {blocked!r}: expected True, x, y or z")
    axes = [f"{n}={v if isinstance(v, str) else ','.join(_setting(robot, n, one) for one in v)}" for n, v in vary.items()]
    s = robot.source
    with Shown(progress) as callback:
        try:
            found = _core.study(
                s.text, s.path, s.method, s.size, s.order, s.displacement, s.cache, s.time_limit, axes, [(n, _setting(robot, n, v)) for n, v in set.items()],
                marker, stiffness, bool(blocked), "xyz".index(blocked) + 1 if isinstance(blocked, str) else 0, beyond_range, jobs or 0, store, callback,
            )  # fmt: skip
        except _core.Error as error:
            if error.findings is not None:
                error.findings = findings(error.findings)
            raise
    found["findings"] = findings(found["findings"])
    pending = found.pop("pending")
    answer = Study(robot, found)
    if isinstance(pending, KeyboardInterrupt):
        raise Interrupted(None, answer) from None
    if pending is not None:
        raise pending
    return answer


@dataclass(frozen=True)
class Goal:
    """How a goal of a run ended."""

    time: float  #: s, from when on
    target: tuple[float, float, float]  #: mm
    reached: bool  #: within the tolerance, as estimated and as measured, and within their uncertainty
    uncertain: bool  #: within the tolerance, but not with the uncertainty
    uncertainty: Optional[float]  #: mm (95 %), of the estimate, and of a surrogate where nothing measured the marker; None: not known
    miss: Optional[float]  #: mm, the marker from the target at the end
    settled: Optional[int]  #: ticks until the error stayed small
    overshoot: float  #: over the first error, as a fraction


class Run(Record):
    """A closed loop: ``r["t1"]``, ``r["s1"]`` and ``r["tip.x"]`` are (ticks,) by the names of the log."""

    def __init__(self, robot: "Robot", record: Mapping[str, Any], log: Mapping[str, Any], said: str) -> None:
        self.robot = robot
        self.record = dict(record)  #: all that `pliant run --json` writes
        self.goals = [
            Goal(
                g["from"], (g["target"][0], g["target"][1], g["target"][2]), bool(g["reached"]), g["uncertain"], g["uncertainty"], g["miss"], g["settled"],
                g["overshoot"],
            )
            for g in record["goals"]
        ]  # fmt: skip
        self.ticks: int = record["ticks"]
        self.rejected: dict[str, int] = record["rejected"]  #: readings of each sensor that were not used
        self.stopped: Optional[str] = record["stopped"]  #: why it ended early; None: it did not
        self.messages = said.splitlines()  #: what was reported during the run
        #: columns by their names with units
        self.log: Named[Any] = Named("column", log)

    @property
    def reached(self) -> bool:
        """Whether all goals were."""
        return all(g.reached for g in self.goals)

    def __getitem__(self, name: str) -> Any:
        """A column of the log, with or without its unit."""
        for column, values in self.log.items():
            if name in (column, column.split(" [")[0]):
                return values
        raise unknown("column", name, [c.split(" [")[0] for c in self.log])

    def __contains__(self, name: object) -> bool:
        return any(name in (c, c.split(" [")[0]) for c in self.log)

    def __iter__(self) -> Iterator[str]:
        return iter(self.log)

    def _ipython_key_completions_(self) -> list[str]:
        return [c.split(" [")[0] for c in self.log]

    def _table(self) -> Table:
        rows = [[g.time, *g.target, g.miss, g.settled, g.overshoot, "uncertain" if g.uncertain else g.reached] for g in self.goals]
        head = ["from s", "x", "y", "z mm", "misses by mm", "settled ticks", "overshoot", "reached"]
        return Table(head, rows, f"{self.robot.name}: {self.ticks} ticks" + (f"; stopped: {self.stopped}" if self.stopped else ""))

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


def _goals(given: Any) -> list[str]:
    rows = [given] if np.ndim(given[0]) == 0 else list(given)
    out = []
    for row in rows:
        time, place = (row[0], row[1]) if len(row) == 2 else (None, row)
        text = ",".join(repr(float(v)) for v in np.asarray(place, dtype=float).reshape(3))
        out += ["--goal", text if time is None else f"{time if isinstance(time, str) else f'{float(time)}s'}:{text}"]
    return out


def run(robot: "Robot", goal: Any, plant: Any, options: Mapping[str, Any], max_effort: Mapping[str, Quantity]) -> Run:
    """See Robot.run."""
    arguments = _goals(goal)
    for name, value in options.items():
        arguments += option(name, value)
    for name, value in max_effort.items():
        arguments += ["--max-effort", f"{name}={value}"]
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        path = robot_file(robot, folder)
        if plant is not None:
            other = os.path.join(folder, "plant")
            os.mkdir(other)
            arguments += ["--plant", plant if isinstance(plant, str) else robot_file(plant, other)]
        log = os.path.join(folder, "log.csv")
        _, record, said = call(["run", path, *arguments, "--out", log, *mesh_options(robot)])
        with open(log, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))

    def cell(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return float("nan")

    columns = {name: sealed_array(np.array([cell(row[k]) for row in rows[1:]])) for k, name in enumerate(rows[0])}
    return Run(robot, record, columns, said)


@dataclass(frozen=True)
class Reading:
    """What a simulated robot answers to its commands, one period later."""

    time: float  #: s
    sensors: Mapping[str, float]  #: in their units; nan: no reading
    markers: Mapping[str, Any]  #: true positions, mm
    commands: Mapping[str, float]  #: that act, after delay, lag and dead zone, in their units
    solved: bool  #: False: the body could not follow; the shape is the last one it reached


class Plant(Record):
    """A simulated robot, made by ``Robot.plant``. Belongs to one thread at a time; a context manager."""

    def __init__(self, robot: "Robot", period: Union[None, str, float], seed: Optional[int], motion: bool) -> None:
        from ._simulate import seconds

        self.robot = robot
        s = robot.source
        model, _ = robot._load(robot._first, None, None)
        self._plant: Optional[_core.Plant] = _core.plant(
            model, s.text, s.path, 0.0 if period is None else seconds(period, "period"), -1 if seed is None else int(seed), motion
        )
        self._sent: dict[str, float] = {c.name: c.rest for c in robot.commands.values()}
        #: s between two steps
        self.period: float = self._plant.period

    def step(self, *named: Mapping[str, Any], **commands: Any) -> Reading:
        """Sends commands (those not named stay as they are) and returns the readings one period later.

        >>> with pliant.testing.arm().plant(seed=1) as p:
        ...     p.step(t1=1).time, p.step(t1="2 N").commands["t1"] > 0
        (0.1, True)
        """
        if self._plant is None:
            raise _core.InputError("the simulated robot has been closed")
        for one in named:
            commands = {**one, **commands}
        robot = self.robot
        given: dict[str, Any] = {**self._sent, **commands}
        for name, value in commands.items():
            if value is None:
                raise _core.InputError(f"{name} is None: a command of a simulated robot is a number or a text with a unit")
        try:
            values = robot._first.commands(given, None, False)
        except _core.InputError as error:  # a simulated robot cannot be asked beyond its ranges
            raise type(error)(str(error).replace("\n    add beyond_range=True to try it anyway", "")) from None
        self._sent = {c.name: v / c.scale for c, v in zip(robot.commands.values(), values)}
        time, sensors, markers, acts, solved = self._plant.step(values, None)
        scales = [s["scale"] for s in robot.sensors.values()]
        return Reading(
            time,
            Named("sensor", {n: float(v) / k for n, v, k in zip(robot.sensors, np.asarray(sensors), scales)}),
            Named("marker", {n: sealed_array(np.array(p)) for n, p in zip(robot.markers, np.asarray(markers))}),
            Named("command", {c.name: float(v) / c.scale for c, v in zip(robot.commands.values(), np.asarray(acts))}),
            bool(solved),
        )

    def close(self) -> None:
        """Gives its memory back; it can take no step afterwards.

        >>> p = pliant.testing.arm().plant()
        >>> p.close()
        """
        self._plant = None

    def __enter__(self) -> "Plant":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{self.robot.name}, simulated with a period of {self.period:g} s>"


@dataclass(frozen=True)
class Tick:
    """What a controller did in one period."""

    commands: Mapping[str, float]  #: the next ones, in their units
    markers: Mapping[str, Any]  #: as estimated, or of the model; mm
    aim: Any  #: where the marker of the goal should be; mm
    set_point: Any  #: of what is controlled: sensors in their units, or a position in mm
    output: Any  #: the same, as measured or estimated
    forces: Mapping[str, Any]  #: estimated, by marker; N
    rejected: tuple[str, ...]  #: sensors whose readings were not used
    missing: int  #: readings that were nan, or rejected
    held: Optional[str]  #: why the last commands were kept; None: they were not
    saturated: int  #: commands at a limit or at their largest rate
    contradicted: bool  #: no shape agrees with most readings and with the commands


class Loop(Record):
    """A controller with its estimator, made by ``Robot.loop``. Belongs to one thread at a time."""

    def __init__(
        self, robot: "Robot", marker: Optional[str], controller: Optional[str], control_marker: bool, estimator: bool, period: Union[None, str, float],
        max_effort: Mapping[str, Quantity],
    ) -> None:  # fmt: skip
        from ._simulate import seconds

        self.robot = robot
        s = robot.source
        model, _ = robot._load(robot._first, None, None)
        self._loop = _core.loop(
            model, s.text, s.path, controller, 0.0 if period is None else seconds(period, "period"), -1 if marker is None else robot._index("marker", marker),
            control_marker, estimator, robot._effort_bounds(max_effort),
        )  # fmt: skip
        #: s between two ticks
        self.period: float = self._loop.period
        #: open, pi, track or impedance
        self.controller: str = self._loop.kind

    @property
    def commands(self) -> Mapping[str, float]:
        """The last ones, in their units."""
        return self._commands(np.asarray(self._loop.command))

    def _commands(self, values: Any) -> Mapping[str, float]:
        return Named("command", {c.name: float(v) / c.scale for c, v in zip(self.robot.commands.values(), values)})

    def goal(self, target: Sequence[float]) -> float:
        """Where the marker shall be, mm. Returns how far from it the nearest point is that the model reaches, mm.

        >>> pliant.testing.arm().loop().goal((10, 5, 95)) < 0.01
        True
        """
        return self._loop.goal(_three(target, "goal"), None)

    def tick(self, sensors: Mapping[str, Optional[float]]) -> Tick:
        """Readings, in their units (None, nan or not named: missing), to the next commands.

        >>> robot = pliant.testing.arm()
        >>> loop, plant = robot.loop(), robot.plant(seed=1)
        >>> _ = loop.goal((10, 5, 95))
        >>> for _ in range(40):
        ...     reading = plant.step(loop.commands)
        ...     tick = loop.tick(reading.sensors)
        >>> bool(np.linalg.norm(reading.markers["tip"] - (10, 5, 95)) < 1)
        True
        """
        robot = self.robot
        row = np.full(len(robot.sensors), np.nan)
        for name, value in sensors.items():
            i = robot._index("sensor", name)
            row[i] = np.nan if value is None else float(value) * robot.sensors[name]["scale"]
        r = self._loop.tick(row, None)
        names = list(robot.sensors)
        return Tick(
            self._commands(np.asarray(r["command"])), Named("marker", {n: sealed_array(np.array(p)) for n, p in zip(robot.markers, np.asarray(r["marker"]))}),
            sealed_array(np.array(r["aim"])), sealed_array(self._outputs(r["set_point"])), sealed_array(self._outputs(r["output"])),
            Named("force", {n: sealed_array(np.array(f)) for n, f in zip((list(robot.markers)[k] for k in self._loop.force_markers), np.asarray(r["force"]))} if r["force"] is not None else {}),
            tuple(n for n, away in zip(names, r["rejected"]) if away), r["missing"], r["why"] if r["held"] else None, r["saturated"], r["contradicted"],
        )  # fmt: skip

    def _outputs(self, values: Any) -> Any:
        row = np.array(values)
        if not self._loop.controls_marker:
            row /= [s["scale"] for s in self.robot.sensors.values()]
        return row

    def __repr__(self) -> str:
        return f"<controller {self.controller} of {self.robot.name}, a tick every {self.period:g} s>"


@dataclass(frozen=True)
class Margin:
    """The stability of a PI loop."""

    stable: bool
    damped: bool  #: no disturbance is amplified more than twice
    overshoot: float  #: of a step, as a fraction
    sensitivity: float  #: largest amplification of a disturbance, a ratio
    settled: Optional[int]  #: ticks until the error of a step stays below 5 %; None: it does not
    gamma: float  #: relative errors of the Jacobian below this leave the loop stable
    kp: float  #: share of the error that is corrected per tick
    ki: float  #: the same of its sum, per tick
    delay: float  #: s
    lag: float  #: s
    period: float  #: s


def _margin(found: Mapping[str, Any]) -> Margin:
    settled = found["settled"]
    return Margin(**{**found, "settled": settled if settled >= 0 else None})


def control(robot: "Robot", options: Mapping[str, Union[None, str, float]]) -> Margin:
    """See Robot.control."""
    from ._simulate import seconds

    def number(name: str) -> float:
        value = options[name]
        if value is None:
            return float("nan")
        if name not in ("kp", "ki"):
            return seconds(value, name)
        gain = float(value)
        if not 0 <= gain <= 1e6:
            raise _core.InputError(f"{name} is {gain:g}, expected a gain per tick from 0 to 1e6")
        return gain

    s = robot.source
    return _margin(_core.margin(robot._first, s.text, s.path, number("kp"), number("ki"), number("delay"), number("lag"), number("period")))
