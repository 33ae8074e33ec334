"""What the command does in a process of its own: studies over variants of the robot file, closed loops, simulated robots.
The names of options are those of `pliant study`, `run`, `plant` and `control`."""
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
from ._files import replacing, write_arrays
from ._table import Named, Table, sealed_array, unknown

if TYPE_CHECKING:
    from ._robot import Robot

Quantity = Union[str, float]


def program() -> str:
    """The command, or an error that says what is missing."""
    found = _program.command()
    if found is None:
        raise _core.FileError("the command pliant is not installed; it runs studies, loops and the live view")
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
    raise (_core.InputError if done.returncode == 2 else _core.SolverError)(text)


def option(name: str, value: Any) -> list[str]:
    """An option of the command; None and False: not given."""
    if value is None or value is False:
        return []
    return [f"--{name}"] if value is True else [f"--{name}", str(value)]


class Study:
    """Results at all combinations of what was varied. ``s["tip.x"]`` is (n,); ``s.varied["air"]`` the values given."""

    def __init__(self, robot: "Robot", record: Mapping[str, Any]) -> None:
        self.robot = robot
        rows = record["rows"]
        #: why a row has no results, or "solved"; None: not reached
        self.outcome: list[Optional[str]] = [row["outcome"] for row in rows]
        #: by name, as texts with units, (n,) each
        self.varied: dict[str, list[str]] = {name: [row["given"][name] for row in rows] for name in (rows[0]["given"] if rows else ())}
        #: names with units: "tip.x [mm]"
        self.quantities: list[str] = record["quantities"]
        self._values = {
            q: np.array([float("nan") if row["results"][q] is None else row["results"][q] for row in rows]) for q in self.quantities
        }
        for values in self._values.values():
            values.flags.writeable = False

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


def study(
    robot: "Robot", vary: Mapping[str, Union[str, Sequence[Quantity]]], set: Mapping[str, Quantity], marker: Optional[str], stiffness: bool,
    blocked: Union[bool, str], jobs: Optional[int], store: Optional[str],
) -> Study:  # fmt: skip
    """See Robot.study."""
    arguments: list[str] = []
    for name, values in vary.items():
        text = values if isinstance(values, str) else ",".join(str(v) for v in values)
        arguments += ["--vary", f"{name}={text}"]
    for name, value in set.items():
        arguments += ["--set", f"{name}={value}"]
    arguments += option("marker", marker) + option("stiffness", stiffness)
    arguments += option("blocked-axis", blocked) if isinstance(blocked, str) else option("blocked", blocked)
    arguments += option("jobs", jobs) + option("store", store)
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        _, record, _ = call(["study", robot_file(robot, folder), *arguments, *mesh_options(robot)])
    return Study(robot, record)


@dataclass(frozen=True)
class Goal:
    """How a goal of a run ended."""

    time: float  #: s, from when on
    target: tuple[float, float, float]  #: mm
    reached: bool  #: within the tolerance, as estimated and as measured
    miss: Optional[float]  #: mm, the marker from the target at the end
    settled: Optional[int]  #: ticks until the error stayed small
    overshoot: float  #: over the first error


class Run:
    """A closed loop: ``r["t1"]``, ``r["s1"]`` and ``r["tip.x"]`` are (ticks,) by the names of the log."""

    def __init__(self, robot: "Robot", record: Mapping[str, Any], log: Mapping[str, Any], said: str) -> None:
        self.robot = robot
        self.record = dict(record)  #: all that `pliant run --json` writes
        self.goals = [
            Goal(g["from"], (g["target"][0], g["target"][1], g["target"][2]), bool(g["reached"]), g["miss"], g["settled"], g["overshoot"]) for g in record["goals"]
        ]
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
        rows = [[g.time, *g.target, g.miss, g.settled, g.overshoot, g.reached] for g in self.goals]
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
    """An answer of a simulated robot."""

    time: float  #: s
    sensors: dict[str, Optional[float]]  #: in their units; None: no reading
    markers: dict[str, Any]  #: measured positions, mm
    commands: dict[str, float]  #: that act, after delay, lag and dead zone
    solved: bool


class Plant:
    """A simulated robot in a process of its own; a context manager. Made by ``Robot.plant``."""

    def __init__(self, robot: "Robot", period: Optional[float], seed: Optional[int]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pliant-")
        arguments = ["plant", robot_file(robot, self._folder.name), "--stdio", *option("seed", seed), *mesh_options(robot)]
        arguments += [] if period is None else ["--period", f"{period}s"]
        self._process = subprocess.Popen(
            [program(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_program.environment()
        )
        self._seq = 0
        self._time = 0.0
        #: what it says of itself: period, commands with unit and range, sensors, markers
        self.greeting = self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None and self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            raise _core.SolverError("the simulated robot ended: " + self._process.stderr.read().strip())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise _core.InputError(answer["error"])
        return answer

    def step(self, **commands: float) -> Reading:
        """Sends commands (numbers in their units; those not named stay as they are) and returns the readings one period later.

        >>> with pliant.testing.arm().plant(seed=1) as p:
        ...     p.step(t1=1).time
        0.1
        """
        assert self._process.stdin is not None
        self._seq += 1
        self._process.stdin.write(json.dumps({"seq": self._seq, "t": self._time, "set": {n: float(v) for n, v in commands.items()}}) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        self._time = float(answer["t"])
        markers = {n: sealed_array(np.array(p, dtype=float)) for n, p in answer.get("markers", {}).items()}
        return Reading(self._time, answer["sensors"], markers, answer.get("acts", {}), bool(answer.get("solved", True)))

    def close(self) -> None:
        """Ends it.

        >>> p = pliant.testing.arm().plant()
        >>> p.close()
        """
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> "Plant":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()


@dataclass(frozen=True)
class Margin:
    """The stability of a PI loop."""

    stable: bool
    damped: bool  #: no disturbance is amplified more than twice
    overshoot: float  #: of a step, as a fraction
    sensitivity: float  #: largest amplification of a disturbance
    gamma: float  #: errors of the Jacobian below this leave the loop stable
    kp: float
    ki: float
    delay: float  #: s
    lag: float  #: s
    period: float  #: s


def control(robot: "Robot", options: Mapping[str, Any]) -> Margin:
    """See Robot.control."""
    arguments: list[str] = []
    for name, value in options.items():
        arguments += option(name, value)
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        _, record, _ = call(["control", "check", robot_file(robot, folder), *arguments, *mesh_options(robot)])
    keys = ("stable", "damped", "overshoot", "sensitivity", "gamma", "kp", "ki", "delay", "lag", "period")
    return Margin(**{k: float("nan") if record[k] is None else record[k] for k in keys})
