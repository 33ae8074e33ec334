"""Motions in time, as `pliant simulate` computes them."""
from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._files import replacing, write_arrays
from ._progress import Progress, Shown
from ._state import Interrupted, State
from ._table import Named, Record, Table, array, fixed, sealed_array, unknown

if TYPE_CHECKING:
    from ._robot import Robot

Time = Union[str, float]
_DIM_TIME, _DIM_MASS = 7, 15
ENERGIES = ("kinetic", "elastic", "viscous", "damped", "actuators", "loads", "imbalance")


def seconds(given: Time, what: str) -> float:
    """A time in s: a number, or a text with a unit."""
    value = _core.quantity(given, _DIM_TIME) if isinstance(given, str) else float(given)
    if not np.isfinite(value) or value < 0:
        raise _core.InputError(f"{what}: expected a time in s or a text with a unit, found {given!r}")
    return value


class Motion(Record):
    """A motion in time, one row per sample. ``m["tip"]`` is (n, 3) mm, ``m["air"]`` the values of a command.

    >>> m = pliant.testing.beam().simulate("50ms", start="undeformed", every="10ms")
    >>> m.outcome, m["tip"].shape, bool(m["tip"][-1, 2] < -1)
    ('done', (6, 3), True)
    """

    def __init__(self, robot: "Robot", record: Mapping[str, Any], state: State) -> None:
        self.robot = robot
        self.outcome: str = record["outcome"]  #: "done", "interrupted" or "stalled"
        self.message: str = record["message"]  #: why it stalled
        self.steps: int = record["steps"]
        self.rejected: int = record["rejected"]
        self.factorizations: int = record["factorizations"]
        self.solves: int = record["solves"]
        self.smallest_step: float = record["smallest_step"]  #: s
        self.seconds: float = record["seconds"]  #: wall clock
        self.state = state  #: the shape at the end
        self._end = fixed(array(record["state"]))
        rows = fixed(array(record["rows"]))
        info = robot._info
        counts = [1, len(info["commands"]), 3 * len(info["markers"]), 3 * len(info["markers"]), len(info["actuators"]), len(info["sensors"]), 7]
        ends = np.cumsum(counts)
        part = [rows[:, end - count : end] for end, count in zip(ends, counts)]
        self.time = part[0][:, 0]  #: s, (n,)
        #: in the units of the commands, (n,) each
        self.commands = Named("command", {c["name"]: sealed_array(part[1][:, k] / c["scale"]) for k, c in enumerate(info["commands"])})
        #: mm, (n, 3) each
        self.positions = Named("marker", {m["name"]: part[2][:, 3 * k : 3 * k + 3] for k, m in enumerate(info["markers"])})
        #: mm/s, (n, 3) each
        self.velocities = Named("marker", {m["name"]: part[3][:, 3 * k : 3 * k + 3] for k, m in enumerate(info["markers"])})
        #: N, kPa
        self.efforts = Named("actuator", {a["name"]: sealed_array(part[4][:, k] / a["effort_scale"]) for k, a in enumerate(info["actuators"])})
        #: mm, mm^3, kPa
        self.sensors = Named("sensor", {s["name"]: sealed_array(part[5][:, k] / s["scale"]) for k, s in enumerate(info["sensors"])})
        self.energy = {name: part[6][:, k] for k, name in enumerate(ENERGIES)}  #: mJ, (n,) each
        shapes = fixed(array(record["shapes"]))
        self._shapes = shapes.reshape(len(shapes), shapes.shape[1] // 3, 3)

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.positions, *self.commands, *self.sensors, *self.efforts]))

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __getitem__(self, name: str) -> Any:
        """A marker (n, 3), or a command, effort or sensor (n,) by name."""
        for values in (self.positions, self.commands, self.sensors, self.efforts):
            if name in values:
                return values[name]
        raise unknown("marker, command, sensor or actuator", name, self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def shapes(self) -> Any:
        """Positions of the vertices of ``robot.mesh``, (n, v, 3) mm; empty without ``shapes=True``."""
        return self._shapes

    def at(self, time: Time) -> dict[str, Any]:
        """Markers, commands and sensors at a time, linear between rows.

        >>> m = pliant.testing.beam().simulate("20ms", start="undeformed", every="10ms")
        >>> bool(np.allclose(m.at("15ms")["tip"], (m["tip"][1] + m["tip"][2]) / 2))
        True
        """
        t = seconds(time, "time")
        if not self.time[0] <= t <= self.time[-1]:
            raise _core.InputError(f"{t:g} s lies outside of the motion, {self.time[0]:g} to {self.time[-1]:g} s")
        out: dict[str, Any] = {}
        for name in self:
            values = self[name]
            columns = [np.interp(t, self.time, column) for column in np.atleast_2d(values.T)]
            out[name] = np.array(columns) if values.ndim == 2 else columns[0]
        return out

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the rows as a table (.csv) or arrays (.npz, with the shapes where they were kept), with units.

        >>> pliant.testing.beam().simulate("20ms", start="undeformed", every="10ms").save("motion.csv")
        """
        path = os.fspath(path)
        if not path.lower().endswith((".csv", ".npz")):
            raise _core.InputError(f"{path}: expected .csv or .npz")
        info = self.robot._info
        columns: dict[str, Any] = {"t [s]": self.time}
        columns |= {f"{c['name']} [{c['unit']}]": self.commands[c["name"]] for c in info["commands"]}
        for name in self.positions:
            columns |= {f"{name}.{axis} [mm]": self.positions[name][:, k] for k, axis in enumerate("xyz")}
            columns |= {f"{name}.v{axis} [mm/s]": self.velocities[name][:, k] for k, axis in enumerate("xyz")}
        columns |= {f"{a['name']}.effort [{a['effort_unit']}]": self.efforts[a["name"]] for a in info["actuators"]}
        columns |= {f"{s['name']} [{s['unit']}]": self.sensors[s["name"]] for s in info["sensors"]}
        columns |= {f"{name} [mJ]": values for name, values in self.energy.items()}
        if path.lower().endswith(".npz"):
            write_arrays(path, {**columns, **({"shapes [mm]": self.shapes} if self.shapes.size else {})})
            return
        with replacing(path) as file:
            out = csv.writer(file)
            out.writerow(columns)
            out.writerows(zip(*(values.tolist() for values in columns.values())))

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws markers (their displacement from the start), commands or sensors over time with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt

        axes = axes if axes is not None else plt.subplots()[1]
        for name in names or tuple(self.positions):
            values = self[name]
            if values.ndim == 2:
                for k, axis in enumerate("xyz"):
                    axes.plot(self.time, values[:, k] - values[0, k], label=f"{name}.{axis}")
            else:
                axes.plot(self.time, values, label=name)
        axes.set_xlabel("t [s]")
        axes.legend()
        return axes

    def _table(self) -> Table:
        head = ["t s", *self.commands, *(f"{name}.{axis}" for name in self.positions for axis in "xyz")]
        rows: list[list[Any]] = [
            [t, *(c[k] for c in self.commands.values()), *(v for p in self.positions.values() for v in p[k])] for k, t in enumerate(self.time)
        ]
        shown = rows if len(rows) <= 20 else rows[:10] + [["..."] * len(head)] + rows[-5:]
        return Table(head, shown, f"{self.robot.name}: {self.outcome}, {self.time[-1] if len(self) else 0:g} s in {self.steps} steps")

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


def _asked(robot: "Robot", name: str, given: Any, begin: float, beyond: bool) -> tuple[Any, ...]:
    """What a command is asked to be: a value; (times, values) as a table; or {mean, amplitude, frequency}."""
    index = robot._index("command", name)

    def value(v: Any) -> float:
        out: float = robot._first.commands({name: v}, None, beyond)[index]
        return out

    if isinstance(given, Mapping):
        if set(given) != {"mean", "amplitude", "frequency"}:
            raise _core.InputError(f"{name}: a sine has mean, amplitude and frequency (Hz), found {', '.join(map(str, given))}")
        mean, high = value(given["mean"]), value(given["amplitude"])
        return (index, "sine", begin, mean, high, float(given["frequency"]))
    if isinstance(given, tuple) and len(given) == 2:
        times = np.ascontiguousarray([seconds(t, name) for t in given[0]], dtype=float)
        values = np.ascontiguousarray([value(None if v is None or v != v else v) for v in given[1]], dtype=float)
        if times.shape != values.shape or len(times) == 0:
            raise _core.InputError(f"{name}: expected as many times as values, found {len(times)} and {len(values)}")
        return (index, "table", times, values)
    return (index, "set", value(given))


def simulate(
    robot: "Robot", until: Time, commands: Mapping[str, Any], *, start: Union[str, State, "Motion"], before: Mapping[str, Any], ramp: Time,
    load_ramp: Time, every: Optional[Time], tolerance: float, step: Time, first_step: Time, damping: float, masses: Mapping[str, Union[str, float]],
    hang: bool, shapes: bool, beyond_range: bool, progress: Progress,
) -> Motion:  # fmt: skip
    end, duration = seconds(until, "until"), seconds(ramp, "ramp")
    state: Optional[State] = None
    block, kind, begin = None, "equilibrium", 0.0
    if isinstance(start, Motion):
        kind, block, begin = "state", start._end, float(start.time[-1]) if len(start) else 0.0
    elif isinstance(start, State):
        state = start
    elif start not in ("equilibrium", "undeformed"):
        raise _core.InputError(f"start: expected 'equilibrium', 'undeformed', a State or a Motion, found {start!r}")
    else:
        kind = start
    if begin >= end:
        raise _core.InputError(f"until is {end:g} s, the motion begins at {begin:g} s")
    if before and (kind != "equilibrium" or state is not None):
        raise _core.InputError("before: commands of an equilibrium at the start; not with another start")
    asked = [_asked(robot, name, given, begin, beyond_range) for name, given in commands.items()]

    # masses at markers, with their weight
    mass = np.zeros(len(robot.markers))
    for name, given in masses.items():
        mass[robot._index("marker", name)] = _core.quantity(given, _DIM_MASS) if isinstance(given, str) else given * 1e-6
    force = np.outer(mass, np.asarray(robot._first.gravity())) if masses else None

    # the equilibrium where it begins; a command that is going to be used is at rest there, not idle
    if kind == "equilibrium" and state is None:
        used = {robot._info["commands"][a[0]]["name"]: robot._info["commands"][a[0]] for a in asked}
        first = {**{name: a["rest"] for name, a in used.items()}, **before}
        for name, given in commands.items():
            if isinstance(given, tuple) and name not in before:
                first[name] = given[1][0]
            if isinstance(given, Mapping) and name not in before:
                first[name] = given["mean"]
        forces = {name: tuple(force[k]) for k, name in enumerate(robot.markers)} if force is not None else None
        state = robot.solve(first, check=True, forces=forces, beyond_range=beyond_range)
    sent = []
    for item in asked:
        sent.append((item[0], "ramp", begin, duration, item[2]) if item[1] == "set" else item)

    model = robot._take(state)
    record, last = None, None
    try:
        with Shown(progress) as callback:
            record = model.simulate(
                kind if block is None else "state", block, sent, end, seconds(every, "every") if every is not None else (end - begin) / 200, tolerance,
                seconds(step, "step"), seconds(first_step, "first_step"), damping, mass if masses else None, hang, force,
                seconds(load_ramp, "load_ramp"), shapes, callback,
            )  # fmt: skip
        last = State(robot, model.at())
        motion = Motion(robot, record, last)
        pending = model.pending()
        if isinstance(pending, KeyboardInterrupt):
            raise Interrupted(last, motion) from None
        if pending is not None:
            raise pending
        return motion
    finally:
        robot._give(model, last)
