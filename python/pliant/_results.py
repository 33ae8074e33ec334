"""Results of many solves: sweeps, workspaces, inverse kinematics, paths, tasks, comparisons."""
from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import _core
from ._files import replacing, write_arrays
from ._state import OUTCOMES, SOLVED, State
from ._table import Named, Record, Table, array, number, sealed_array, unknown

if TYPE_CHECKING:
    from ._robot import Robot

IK_OUTCOMES: list[str] = _core.names()["ik_outcomes"]
REACHED: int = _core.names()["reached"]


class Solutions(Record):
    """Solutions at many commands. ``t["tip"]`` is (n, 3) mm, ``t["air"]`` (n,) in the command's unit; rows that were
    not solved are nan."""

    def __init__(
        self, robot: "Robot", asked: Any, values: Any, outcomes: Any, forces: Optional[dict[str, Any]] = None, slopes: Any = None,
        blocks: Any = None,
    ) -> None:  # fmt: skip
        self.robot = robot
        self._blocks = blocks  # (n, numbers of a state), of sweep(..., shapes=True)
        self._slopes = slopes  # (n, 3 markers, commands), internal units
        self._start: Optional[State] = None  # where the first row began
        self.forces: dict[str, Any] = forces or {}  #: at markers, (3,) N, of the state they started from
        self._asked = asked  # internal units
        self._values = values
        self._outcomes = outcomes
        self._at: dict[str, tuple[int, int]] = {}
        at = 0
        info = robot._info
        for name, width in (
            ("command", len(info["commands"])), ("marker", 3 * len(info["markers"])),
            ("rotation", 9 * len(info["markers"])), ("sensor", len(info["sensors"])),
            ("effort", len(info["actuators"])), ("measure", len(info["actuators"])),
            ("reading", len(info["readings"])), ("energy", 1), ("error", len(info["markers"])),
        ):  # fmt: skip
            self._at[name] = (at, at + width)
            at += width

    def _part(self, name: str) -> Any:
        start, stop = self._at[name]
        out = self._values[:, start:stop].copy()
        out[~self.converged] = np.nan
        out.flags.writeable = False
        return out

    def __len__(self) -> int:
        return len(self._outcomes)

    @property
    def converged(self) -> Any:
        """Whether each row is an equilibrium, (n,) booleans."""
        return sealed_array(self._outcomes == SOLVED)

    @property
    def outcome(self) -> list[str]:
        """Outcome of each row."""
        return [OUTCOMES[k] for k in self._outcomes]

    @property
    def commands(self) -> Named[Any]:
        """Commands as given, in their own units; nan: idle."""
        return Named("command", {c.name: sealed_array(self._asked[:, k] / c.scale) for k, c in enumerate(self.robot.commands.values())})

    @property
    def markers(self) -> Named[Any]:
        """Positions of the markers, (n, 3) mm each."""
        part = self._part("marker")
        return Named("marker", {m: part[:, 3 * k : 3 * k + 3] for k, m in enumerate(self.robot.markers)})

    @property
    def jacobians(self) -> Named[Any]:
        """Derivatives of the marker positions with respect to all commands, (n, 3, commands) each, mm per unit of the
        command; of ``sweep(..., jacobian=True)``. Idle commands have 0, rows that were not solved nan."""
        if self._slopes is None:
            raise _core.InputError("the Jacobians were not computed: sweep(..., jacobian=True)")
        scale = np.array([c.scale for c in self.robot.commands.values()])
        part = self._slopes.reshape(len(self), len(self.robot.markers), 3, len(scale)) * scale
        part.flags.writeable = False
        return Named("marker", {m: part[:, k] for k, m in enumerate(self.robot.markers)})

    @property
    def rotations(self) -> Named[Any]:
        """Rotations of the markers from the undeformed configuration, (n, 3, 3) each; nan: no frame."""
        part = self._part("rotation").reshape(len(self), -1, 3, 3)
        return Named("marker", {m: part[:, k] for k, m in enumerate(self.robot.markers)})

    @property
    def efforts(self) -> Named[Any]:
        """Efforts of the actuators, (n,) each: N, kPa."""
        part = self._part("effort")
        return Named(
            "actuator", {a["name"]: sealed_array(part[:, k] / a["effort_scale"]) for k, a in enumerate(self.robot._info["actuators"])}
        )

    @property
    def measures(self) -> Named[Any]:
        """Lengths (mm), volumes (mm^3), areas (mm^2), moments (mA m^2) of the actuators, (n,) each."""
        part = self._part("measure")
        drawn = self.robot._info["actuators"]
        return Named("actuator", {a["name"]: sealed_array(part[:, k] / a["measure_scale"]) for k, a in enumerate(drawn)})

    @property
    def sensors(self) -> Named[Any]:
        """Sensors, (n,) each: mm, mm^3, kPa."""
        part = self._part("sensor")
        return Named("sensor", {s["name"]: sealed_array(part[:, k] / s["scale"]) for k, s in enumerate(self.robot._info["sensors"])})

    @property
    def readings(self) -> dict[str, Any]:
        """Readings of springs, obstacles, ... by "group.name.quantity", (n,) each, in the units that the columns of ``save`` name."""
        part = self._part("reading")
        return {".".join(r[:3]): part[:, k] for k, r in enumerate(self.robot._info["readings"])}

    @property
    def energy(self) -> Any:
        """Elastic energy, mJ."""
        return self._part("energy")[:, 0]

    @property
    def model_errors(self) -> dict[str, Any]:
        """Error of each marker of a reduced, learned or adapted model (95 %), (n,) mm; nan: not known, or no such model."""
        part = self._part("error")
        return {m["name"]: part[:, k] for k, m in enumerate(self.robot._info["markers"])}

    def __getitem__(self, name: str) -> Any:
        """Marker positions (n, 3), commands (n,) or sensors (n,) by name."""
        for things in (self.markers, self.commands, self.sensors):
            if name in things:
                return things[name]
        raise unknown("marker, command or sensor", name, list(self))

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        """Names of markers, commands and sensors, as columns of a table."""
        return iter(dict.fromkeys([*self.robot.markers, *self.robot.commands, *self.robot.sensors]))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _columns(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, values in self.commands.items():
            out[f"{name} [{self.robot.commands[name].unit}]"] = values
        for name, values in self.markers.items():
            for k, axis in enumerate("xyz"):
                out[f"{name}.{axis} [mm]"] = values[:, k]
            if np.isfinite(self.model_errors[name]).any():
                out[f"{name}.model_error [mm]"] = self.model_errors[name]
        for a in self.robot._info["actuators"]:
            out[f"{a['name']}.effort [{a['effort_unit']}]"] = self.efforts[a["name"]]
            out[f"{a['name']}.{a['measure']} [{a['measure_unit']}]"] = self.measures[a["name"]]
        for s in self.robot._info["sensors"]:
            out[f"{s['name']} [{s['unit']}]"] = self.sensors[s["name"]]
        for r, values in zip(self.robot._info["readings"], self.readings.values()):
            out[f"{r[0]}.{r[1]}.{r[2]} [{r[3]}]"] = values
        for name, force in self.forces.items():
            for k, axis in enumerate("xyz"):
                out[f"{name}.force.{axis} [N]"] = np.full(len(self), force[k])
        out["outcome"] = self.outcome
        return out

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with units in the column names; needs pandas."""
        import pandas

        return pandas.DataFrame(self._columns())

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a table (.csv), or arrays (.npz): one array per column with its unit in the name, ``outcome`` as text,
        Jacobians as ``NAME.jacobian [mm per unit]`` where they were computed; or the shapes as a series (.pvd, .xdmf, .glb,
        .usda) or film (.gif, .webm, .mp4, ``frame_%04d.png``), for which each row is solved again.

        >>> pliant.testing.arm().sweep(t1=[0, 1, 2]).save("sweep.glb")
        >>> pliant.testing.arm().sweep(t1=[0, 1, 2]).save("sweep.csv")
        >>> pliant.testing.arm().sweep(t1=[0, 1, 2]).save("sweep.npz")
        """
        path = os.fspath(path)
        if os.path.splitext(path)[1].lower() in (".pvd", ".xdmf", ".glb", ".usda", ".gif", ".webm", ".mp4", ".png"):
            shapes = list(self.shapes())
            if not shapes:
                raise _core.InputError(f"{path}: no row is solved")
            with shapes[0]._model() as model:
                model.write_series(path, [np.asarray(s._block) for s in shapes], shapes[0]._surface_color("displacement"))
            return
        columns = self._columns()
        if path.lower().endswith(".npz"):
            if self._slopes is not None:
                columns.update({f"{name}.jacobian [mm per unit]": values for name, values in self.jacobians.items()})
            if self._blocks is not None:
                columns["points [mm]"] = self.points
            write_arrays(path, columns)
            return
        if not path.lower().endswith(".csv"):
            raise _core.InputError(f"{path}: expected .csv, .npz, .pvd, .xdmf, .glb, .usda, .gif, .webm, .mp4 or NAME_%04d.png")
        with replacing(path) as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(columns)
            for row in zip(*columns.values()):
                table.writerow([v if isinstance(v, str) else "" if np.isnan(v) else f"{v:.10g}" for v in row])

    @property
    def points(self) -> Any:
        """Positions of the body points at each row, (n, points, 3) mm, of ``sweep(..., shapes=True)``; nan: not solved.

        >>> pliant.testing.arm().sweep(t1=[0, 1], shapes=True).points.shape
        (2, 21, 3)
        """
        if self._blocks is None:
            raise _core.InputError("the shapes were not kept: sweep(..., shapes=True)")
        out = np.full((len(self), self.robot._info["points"], 3), np.nan)
        for row, state in zip(np.flatnonzero(self.converged), self.shapes()):
            out[row] = state.points
        return sealed_array(out)

    def shapes(self) -> Iterator["State"]:
        """The state of each solved row, in turn: shapes, fields and files of it. As kept by ``sweep(..., shapes=True)``;
        otherwise solved again, each from the one before, so that only one shape is in memory.

        >>> [s.converged for s in pliant.testing.arm().sweep(t1=[0, 1]).shapes()]
        [True, True]
        """
        last = self._start
        for row in np.flatnonzero(self.converged):
            if self._blocks is not None:
                yield self.robot._state_of(self._blocks[row])
                continue
            given = {name: float(v[row]) for name, v in self.commands.items() if not np.isnan(v[row])}
            last = self.robot.solve(given, start=last, beyond_range=True)
            yield last

    def _table(self) -> Table:
        columns = self._columns()
        rows = list(zip(*columns.values()))
        shown = rows if len(rows) <= 20 else rows[:10] + [tuple("..." for _ in columns)] + rows[-5:]
        title = f"{self.robot.name}: {int(self.converged.sum())} of {len(self)} solved"
        return Table(list(columns), shown, title)

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


class Workspace(Solutions):
    """Reachable points; can be handed to ``Robot.ik(workspace=...)`` and ``follow``."""

    def hull(self, marker: Optional[str] = None) -> dict[str, float]:
        """Convex hull of a marker's positions: dimension, volume mm^3, area mm^2, length mm.

        >>> pliant.testing.arm().workspace(30).hull("tip")["dimension"]
        3
        """
        name = marker if marker is not None else next(iter(self.robot.markers))
        points = np.ascontiguousarray(self.markers[name][self.converged])
        dimension, volume, area, length, facets, vertices = _core.hull(points)
        return {
            "dimension": dimension, "volume": volume, "area": area, "length": length, "facets": facets,
            "vertices": vertices,
        }  # fmt: skip

    def _samples(self) -> dict[str, Any]:
        good = self.converged & np.isfinite(self._asked).all(1)
        start, stop = self._at["marker"]
        return {
            "sample_command": np.ascontiguousarray(self._asked[good]),
            "sample_marker": np.ascontiguousarray(self._values[good][:, start:stop]),
        }


class Bound(Record):
    """An active bound of inverse kinematics."""

    def __init__(self, robot: "Robot", row: Sequence[Any]) -> None:
        kind, index, name, upper, value, multiplier = row
        self.kind = ("command", "rate", "effort")[kind]
        self.name: str = name
        self.upper: bool = upper
        if kind == 2:
            scale, self.unit = robot._info["actuators"][index]["effort_scale"], robot._info["actuators"][index]["effort_unit"]
        else:
            scale, self.unit = robot.commands[name].scale, robot.commands[name].unit
        self.value: float = value / scale  #: in `unit`
        self.multiplier: float = multiplier * scale  #: decrease of the objective per `unit` by which the bound is relaxed; at least 0

    def __repr__(self) -> str:
        return f"{self.kind} {self.name} at its {'upper' if self.upper else 'lower'} bound of {self.value:.6g} {self.unit}"


class IK(Record):
    """The answer of inverse kinematics. ``state`` is the equilibrium at ``commands``; ``q["tip"]`` looks into it."""

    def __init__(self, robot: "Robot", report: Sequence[Any], deviations: list[float], state: State) -> None:
        self.robot = robot
        self.state = state
        self.outcome = IK_OUTCOMES[report[0]]
        self.message: str = report[1]
        #: largest deviation of the goals that are lengths, mm
        self.error: float = report[2]
        #: largest deviation of a goal over its tolerance; at most 1: all met
        self.error_over_tolerance: float = report[3]
        self.objective: float = report[4]  #: half the sum of the squares of the weighted deviations; mm^2 where the weights have no unit
        #: certificate: relative projected gradient with the exact Jacobian; nan: none was needed
        self.gradient: float = report[5]
        self.active_bounds = [Bound(robot, row) for row in report[6]]
        self.iterations: int = report[7]
        self.starts: int = report[8]
        self.seconds: float = report[9]  #: s
        #: how many of the starts ended at the reported point; 0 if it is not stationary
        self.agreed: int = report[13]
        #: error of a reduced, learned or adapted model in the goals that are lengths, mm; 0: another model, nan: not known
        self.model_error: float = report[14]
        #: probability (a fraction) that the error is below; nan: another model, or not known
        self.confidence: float = report[15]
        #: deviation of each goal in its own unit
        self.deviations = deviations

    @property
    def reached(self) -> bool:
        """Whether all goals are met within their tolerances, the error of the model included."""
        return self.outcome == IK_OUTCOMES[REACHED]

    @property
    def commands(self) -> dict[str, Optional[float]]:
        """The commands found, in their own units."""
        return self.state.commands

    def __getitem__(self, name: str) -> Any:
        return self.state[name]

    def __contains__(self, name: object) -> bool:
        return name in self.state

    def __iter__(self) -> Iterator[str]:
        return iter(self.state)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        commands = self.state._commands_text()
        bounds = "".join(f"\n  {bound!r}" for bound in self.active_bounds)
        return f"{self.robot.name}: {self.outcome} at {commands}, off by {self.error:.3g} mm{bounds}"

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(repr(self))}</p>" + self.state._repr_html_()


class Path(Record):
    """Inverse kinematics along a path, one row per waypoint."""

    def __init__(self, robot: "Robot", motion: _core.Motion, marker: str, state: State, report: Sequence[Any] = ()) -> None:
        self.robot = robot
        self.marker = marker
        self.state = state  #: at the last waypoint
        self._motion = motion
        self._arrays = {k: array(v) for k, v in motion.arrays().items()}
        self._report = report

    def __len__(self) -> int:
        return len(self._arrays["time"])

    @property
    def time(self) -> Any:
        """s"""
        return self._arrays["time"]

    @property
    def targets(self) -> Any:
        """(n, 3) mm; nan: none."""
        return self._arrays["target"]

    @property
    def positions(self) -> Any:
        """Of the marker, (n, 3) mm."""
        return self._arrays["position"]

    @property
    def errors(self) -> Any:
        """Distances from the targets, (n,) mm."""
        return self._arrays["distance"]

    @property
    def model_errors(self) -> Any:
        """Error of the marker of a reduced, learned or adapted model, (n,) mm; nan: not known, or no such model."""
        return self._arrays["model_error"]

    @property
    def confidence(self) -> Any:
        """Probability (a fraction) that the errors of the model are below ``model_errors``, (n,)."""
        return self._arrays["confidence"]

    @property
    def reached(self) -> Any:
        """Whether each waypoint met its goals, the error of the model included, (n,) booleans."""
        return sealed_array(self._arrays["reached"].astype(bool))

    @property
    def outcome(self) -> list[str]:
        """Outcome of each waypoint."""
        return [IK_OUTCOMES[k] for k in self._arrays["outcome"]]

    @property
    def commands(self) -> Named[Any]:
        """Commands at the waypoints, (n,) each, in their own units."""
        rows = self._arrays["command"].reshape(len(self), -1)
        return Named("command", {c.name: sealed_array(rows[:, k] / c.scale) for k, c in enumerate(self.robot.commands.values())})

    @property
    def efforts(self) -> Named[Any]:
        """Efforts of the actuators, (n,) each: N, kPa."""
        rows = self._arrays["effort"].reshape(len(self), -1)
        drawn = self.robot._info["actuators"]
        return Named("actuator", {a["name"]: sealed_array(rows[:, k] / a["effort_scale"]) for k, a in enumerate(drawn)})

    def __getitem__(self, name: str) -> Any:
        """Positions of the marker that follows, (n, 3) mm, or a command, (n,)."""
        if name == self.marker:
            return self.positions
        if name in self.commands:
            return self.commands[name]
        raise unknown("marker or command", name, list(self))

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([self.marker, *self.commands]))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def save(self, path: Union[str, "os.PathLike[str]"], kind: Optional[str] = None) -> None:
        """Writes a table (.csv), arrays (.npz), a report (.html), G-code (.gcode, .g) or, with kind="pressures", a pressure table.

        >>> pliant.testing.arm().follow("tip", [(10, 5, 95)]).save("path.csv")
        """
        path = os.fspath(path)
        known = {".csv": "csv", ".html": "html", ".gcode": "gcode", ".g": "gcode"}
        kind = kind or known.get(os.path.splitext(path)[1].lower())
        if kind is None and path.lower().endswith(".npz"):
            columns = {f"{n} [{self.robot.commands[n].unit}]": v for n, v in self.commands.items()}
            places = {f"{self.marker} [mm]": self.positions, "target [mm]": self.targets, "error [mm]": self.errors}
            write_arrays(path, {"time [s]": self.time, **columns, **places, "outcome": self.outcome})
            return
        if kind not in ("csv", "html", "gcode", "pressures"):
            raise _core.InputError(f"{path}: expected .csv, .npz, .html or .gcode")
        self._motion.write(path, kind, f"{self.robot.name}: {self.marker}")

    def _table(self) -> Table:
        head = ["time s", "x", "y", "z mm", "error mm", *(f"{n} {self.robot.commands[n].unit}" for n in self.commands), ""]
        rows: list[list[Any]] = [
            [t, *p, e, *(c[k] for c in self.commands.values()), o]
            for k, (t, p, e, o) in enumerate(zip(self.time, self.positions, self.errors, self.outcome))
        ]
        shown = rows if len(rows) <= 20 else rows[:10] + [["..."] * len(head)] + rows[-5:]
        worst = number(float(np.max(self.errors))) if len(self) else ""
        return Table(head, shown, f"{self.robot.name}: {int(self.reached.sum())} of {len(self)} reached, largest error {worst} mm")

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


class Task(Path):
    """The steps of a task file."""

    def __init__(self, robot: "Robot", motion: _core.Motion, marker: str, state: State, stages: list[str], name: Optional[str]) -> None:
        super().__init__(robot, motion, marker, state)
        self.stages = stages  #: name of the stage of every step
        self.name = name


class Comparison(Table):
    """Methods compared at the same commands; ``rows_by_name["exact, quadratic"]`` has all numbers."""

    def __init__(self, robot: "Robot", rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["tip"] = np.array(row["tip"])
            row["ratio"] = dict(zip(robot.actuators, array(row["ratio"])))
            row["asked"] = dict(zip(robot.actuators, array(row["asked"])))
        self.methods = rows
        self.rows_by_name = {row["name"]: row for row in rows}
        cells = [
            [r["name"], *r["tip"], r["energy"], r["iterations"], r["factorizations"], r["seconds"], r["from_corners"],
             r["from_quadratic"], r["outcome"]]
            for r in rows
        ]  # fmt: skip
        super().__init__(
            ["method", "x", "y", "z mm", "energy mJ", "iterations", "factors", "s", "from corners mm",
             "from quadratic mm", "outcome"],
            cells,
        )  # fmt: skip
