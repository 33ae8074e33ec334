"""State: one equilibrium of a robot, with its results by name."""
from __future__ import annotations

import inspect
import json
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._gltf import write_gltf
from ._files import replacing, sealed, unsealed, write_arrays
from ._table import Named, Record, Table, array, fixed, number, sealed_array, unknown

if TYPE_CHECKING:
    from ._robot import Robot

_NAMES = _core.names()
OUTCOMES: list[str] = _NAMES["outcomes"]
SOLVED: int = _NAMES["solved"]  #: the only outcome that is an answer
FIELDS: list[str] = [name for name, _, _ in _NAMES["fields"]]
LABELS: dict[str, tuple[str, float]] = {name: (label, scale) for name, label, scale in _NAMES["fields"]}  # in files
CONSTANTS: list[str] = _NAMES["constants"]
# pl_model_part
_MARKER, _ROTATION, _SENSOR, _EFFORT, _MEASURE, _POINT, _ENERGY, _READING = 1, 2, 4, 8, 16, 32, 64, 128
# pl_parameter_kind
_COMMAND, _GRAVITY, _MATERIAL, _MARKER_FORCE = 0, 3, 5, 6


class NotSolvedError(_core.Error):
    """No stable equilibrium at the given commands. `state` is what the solve ended with; its `outcome` says why it is no
    answer."""

    def __init__(self, text: str, state: "State") -> None:
        super().__init__(text)
        self.state = state


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a computation. `state` is the last equilibrium, `result` what was computed until then."""

    def __init__(self, state: Optional["State"] = None, result: Any = None) -> None:
        super().__init__("interrupted; the last equilibrium is in .state")
        self.state = state
        self.result = result


@dataclass(frozen=True)
class Marker:
    """A marker in a state."""

    name: str
    position: Any  #: mm, shape (3,)
    displacement: Any  #: mm, from the undeformed configuration
    rotation: Any  #: 3 x 3, from the undeformed configuration; None: the marker has no frame

    @property
    def turned(self) -> Optional[float]:
        """Rotation angle from the undeformed configuration, degrees."""
        if self.rotation is None:
            return None
        cosine = 0.5 * (float(np.trace(self.rotation)) - 1)
        return float(np.degrees(np.arccos(min(1.0, max(-1.0, cosine)))))


@dataclass(frozen=True)
class ModelError:
    """How far the markers of a reduced, learned or adapted model may be from the robot that it stands for."""

    mm: float  #: mm, the largest of the markers; nan: not known here
    confidence: float  #: probability that the error is below, as a fraction
    source: str  #: what it was measured against: full body, held-out samples, measurements; not measured
    markers: dict[str, float]  #: mm, of each


@dataclass(frozen=True)
class Actuator:
    """An actuator in a state."""

    name: str
    kind: str  #: cable, chamber, film, magnet
    effort: float  #: tension N, gauge pressure kPa, Maxwell stress kPa, field mT
    effort_unit: str
    measure: float  #: length mm, volume mm^3, area mm^2, moment along the field mA m^2
    measure_unit: str
    ratio: float  #: measure over its undeformed value, as a fraction
    asked: float  #: prescribed ratio, as a fraction; nan: idle, or driven by an effort
    reached: float  #: ratio reached, on the mesh of the method
    slack: bool  #: a cable without tension


@dataclass(frozen=True)
class Sensor:
    """A sensor in a state."""

    name: str
    value: float  #: in `unit`
    unit: str  #: mm, mm^3, kPa or N


@dataclass(frozen=True)
class Reaction:
    """What a support exerts on the body."""

    name: str
    force: Any  #: N
    moment: Any  #: N mm, about the origin


class Readings(Record, Mapping[str, float]):
    """What one thing (a spring, an obstacle) reports: quantities by name, also as attributes."""

    def __init__(self, name: str, values: dict[str, float], units: dict[str, str]) -> None:
        self.name = name
        self.units = units
        self._values = values

    def __getitem__(self, quantity: str) -> float:
        return self._values[quantity]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, quantity: str) -> Any:
        if quantity.startswith("__"):
            raise AttributeError(quantity)
        values = self.__dict__.get("_values", {})
        if quantity in values:
            return values[quantity]
        axes = [quantity + "_" + axis for axis in "xyz"]
        if all(axis in values for axis in axes):
            return np.array([values[axis] for axis in axes])
        raise AttributeError(f"'{self.__dict__.get('name')}' reports {', '.join(values)}, no '{quantity}'")

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k}: {v:.6g} {self.units[k]}" for k, v in self._values.items()) + "}"


@dataclass(frozen=True)
class Compliance:
    """How efforts and forces move the robot with all efforts free: d(outputs) = matrix d(inputs). ``c["tip.x", "air"]`` is one
    of its numbers, in the unit of the output per unit of the input."""

    matrix: Any  #: (outputs, inputs), units of the outputs per unit of the inputs
    outputs: tuple[str, ...]  #: shortening or volume of the actuators ("t1.shortening"), "tip.x", sensors
    output_units: tuple[str, ...]  #: mm, mm^3, kPa
    inputs: tuple[str, ...]  #: efforts of the actuators by their names, forces at markers ("tip.force.x")
    input_units: tuple[str, ...]  #: N, kPa

    def __getitem__(self, which: tuple[str, str]) -> float:
        """One number: (output, input)."""
        output, by = which
        if output not in self.outputs:
            raise unknown("output", output, self.outputs)
        if by not in self.inputs:
            raise unknown("input", by, self.inputs)
        return float(self.matrix[self.outputs.index(output), self.inputs.index(by)])

    def _table(self) -> Table:
        head = ["of", "in", *(f"per {u} of {n}" for n, u in zip(self.inputs, self.input_units))]
        return Table(head, [[n, u, *row] for n, u, row in zip(self.outputs, self.output_units, self.matrix)])

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


class Report(Record):
    """What the solver did: outcome, message, counts, residual."""

    _keys = (
        "outcome", "message", "iterations", "factorizations", "solves", "increments", "residual",
        "residual_relative", "step", "seconds", "energy", "load_reached", "constraint_error", "min_J",
        "max_stretch", "negative_count", "buckling_load", "limit_load",
    )  # fmt: skip
    outcome: str  #: solved, unstable, penetrating, uncertain, limit point, inverted, interrupted ...; see OUTCOMES
    message: str
    iterations: int
    factorizations: int
    solves: int
    increments: int  #: of the load
    residual: float  #: N, largest nodal residual force
    residual_relative: float  #: over the largest nodal force, as a fraction
    step: float  #: mm, largest displacement of the next step
    seconds: float  #: s
    energy: float  #: mJ, elastic
    load_reached: float  #: fraction of the load path
    constraint_error: float  #: largest, over the prescribed value, as a fraction
    min_J: float  #: smallest ratio of volumes
    max_stretch: float  #: largest principal stretch, a ratio of lengths
    negative_count: int  #: negative eigenvalues of the tangent; 0: stable, -1: unknown
    buckling_load: float  #: fraction of the load path at which the body buckles; 0: nowhere
    limit_load: float  #: fraction of the load path at which it snaps; 0: nowhere

    def __init__(self, values: Sequence[Any]) -> None:
        for key, value in zip(self._keys, values):
            setattr(self, key, OUTCOMES[value] if key == "outcome" else value)

    def __repr__(self) -> str:
        return "\n".join(f"{key}: {number(getattr(self, key))}" for key in self._keys)


class Mesh(Record):
    """A mesh as arrays that view the memory of the library; read-only, without copies.

    points: (n, 3) mm; kind: per element; node_start, node: vertices of element e are
    node[node_start[e]:node_start[e + 1]]; region: per element; region_names, surface_names.
    """

    KINDS = ("tetra", "tetra10", "wedge", "wedge15")

    def __init__(self, core: _core.Mesh, points: Any = None) -> None:
        self.core = core
        arrays = core.arrays()
        #: mm, undeformed
        self.rest = array(arrays["points"])
        self.points = self.rest if points is None else points
        self.kind = array(arrays["kind"])
        self.node_start = array(arrays["node_start"])
        self.node = array(arrays["node"])
        self.region = array(arrays["region"])
        self.region_names: tuple[str, ...] = arrays["region_names"]
        self.surface_names: tuple[str, ...] = arrays["surface_names"]

    def _which(self, surface: Optional[str]) -> int:
        if surface is None:
            return -1
        if not isinstance(surface, str) or surface not in self.surface_names:
            raise unknown("surface", surface, self.surface_names)
        return self.surface_names.index(surface)

    def triangles(self, surface: Optional[str] = None) -> Any:
        """Flat triangles of a surface (None: the boundary), (m, 3) vertex numbers; curved faces are split.

        >>> pliant.testing.bar().mesh.triangles("base").shape[1]
        3
        """
        return array(self.core.triangles(self._which(surface))[0])

    def cells(self) -> dict[str, Any]:
        """Elements by kind (tetra, tetra10, wedge, wedge15): vertex numbers, one row per element.

        >>> list(pliant.testing.bar().mesh.cells())
        ['tetra']
        """
        counts = np.diff(self.node_start)
        out = {}
        for k, name in enumerate(self.KINDS):
            which = np.flatnonzero(self.kind == k)
            if len(which):
                width = int(counts[which[0]])
                out[name] = self.node[self.node_start[which][:, None] + np.arange(width)]
        return out

    def volume(self, region: Optional[str] = None) -> float:
        """Volume of a region (None: all), undeformed, mm^3.

        >>> m = pliant.testing.bar().mesh
        >>> abs(m.volume() - m.volume("body")) < 1e-9
        True
        """
        if region is not None and region not in self.region_names:
            raise unknown("region", region, self.region_names)
        return self.core.volume(-1 if region is None else self.region_names.index(region))

    def quality(self) -> dict[str, Any]:
        """Quality of the elements; edges in mm.

        >>> isinstance(pliant.testing.bar().mesh.quality(), dict)
        True
        """
        return self.core.quality()

    def __repr__(self) -> str:
        return f"<mesh of {len(self.kind)} elements, {len(self.rest)} vertices; regions {', '.join(self.region_names)}>"


class Fields(Record, Mapping[str, Any]):
    """Fields of a state: displacement (mm), strain (logarithmic, xx yy zz xy yz zx), stress (Cauchy, MPa, in the same
    order), von_mises (MPa), stretch on the vertices; J, J_bound on the elements. Computed when asked for. The name of a
    field in files ("von_mises_kpa") gives it in the unit of that name."""

    def __init__(self, state: "State") -> None:
        self._state = state
        bits = state.robot._info["fields"]
        self._names = [name for k, name in enumerate(FIELDS) if bits >> k & 1]
        self._kept: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        for plain in self._names:
            if name == LABELS[plain][0] != plain:
                return self[plain] * LABELS[plain][1]
        if not isinstance(name, str) or name not in self._names:
            raise unknown("field", name, self._names)
        if name not in self._kept:
            with self._state._model() as model:
                self._kept[name] = array(model.field(FIELDS.index(name)))
        return self._kept[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names or any(name == LABELS[plain][0] for plain in self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._names)


class _Standing:
    """A model of the pool, moved to a state, for the time of a `with`."""

    def __init__(self, state: "State") -> None:
        self.state = state

    def __enter__(self) -> _core.Model:
        self.model = self.state.robot._take(self.state)
        return self.model

    def __exit__(self, *unused: object) -> None:
        self.state.robot._give(self.model, self.state)


class State(Record):
    """One equilibrium of a robot. Made by ``Robot.solve``, ``Robot.ik`` and others; immutable, light, picklable."""

    __slots__ = ("robot", "_report", "_answer", "_block", "_cache", "_made", "__weakref__")
    robot: "Robot"

    def __init__(self, robot: "Robot", standing: tuple[tuple[Any, ...], Any, Any]) -> None:
        self.robot = robot
        self._report, self._answer, self._block = standing
        self._cache: dict[str, Any] = {}

    def __reduce__(self) -> Any:
        if "after" in self._cache:
            raise TypeError("a state held for a time cannot be pickled: its viscous stresses are not part of it")
        numbers = (np.asarray(self._answer).tobytes(), np.asarray(self._block).tobytes())
        return _restore, (self.robot, sealed("state", self.robot.hash, tuple(self._report), *numbers))

    def _model(self) -> _Standing:
        return _Standing(self)

    def _part(self, name: str) -> Any:
        start, stop = self.robot._layout[name]
        return np.asarray(self._answer)[start:stop]

    # ---- outcome
    @property
    def converged(self) -> bool:
        """Whether this is a stable equilibrium at the given commands."""
        return bool(self._report[0] == SOLVED)

    @property
    def outcome(self) -> str:
        """solved, or why this is no answer: unstable, penetrating, uncertain, limit point, inverted, interrupted, ..."""
        return OUTCOMES[self._report[0]]

    @property
    def message(self) -> str:
        """Why the solve stopped, for people; empty when solved."""
        return str(self._report[1])

    @property
    def report(self) -> Report:
        """What the solver did."""
        return Report(self._report)

    def require(self) -> "State":
        """Itself if it is solved; raises NotSolvedError otherwise.

        >>> pliant.testing.arm().solve(t1=1).require().converged
        True
        """
        if not self.converged:
            page = self.outcome.replace(" ", "_")
            raise NotSolvedError(f"not converged: {self.message or self.outcome}\n    `pliant help {page}`: what it means, causes, what to try", self)
        return self

    # ---- results by name
    @property
    def commands(self) -> dict[str, Optional[float]]:
        """Commands of this state, in their own units; None: idle."""
        values = self._part("command")
        return {
            c.name: None if np.isnan(v) else float(v) / c.scale for c, v in zip(self.robot.commands.values(), values)
        }

    @property
    def forces(self) -> dict[str, Any]:
        """Forces at markers, (3,) N, given by ``solve(forces=...)`` in addition to the loads of the robot; those not 0."""
        rows = self._part("force").reshape(-1, 3)
        return {m: f for m, f in zip(self.robot.markers, rows) if f.any()}

    @property
    def model_error(self) -> Optional[ModelError]:
        """The error of a reduced, learned or adapted model at this point; None: the model is none of these."""
        source, confidence, *each = (float(v) for v in self._part("error"))
        if source == 0:
            return None
        largest = float(np.max(each)) if each else float("nan")
        return ModelError(largest, confidence, _NAMES["error_sources"][int(source)], dict(zip(self.robot.markers, each)))

    @property
    def markers(self) -> Named[Marker]:
        """Markers by name."""
        if "markers" not in self._cache:
            place = self._part("marker").reshape(-1, 3)
            turn = self._part("rotation").reshape(-1, 3, 3)
            self._cache["markers"] = Named(
                "marker",
                {
                    m["name"]: Marker(m["name"], p, fixed(p - np.array(m["rest"])), None if np.isnan(R[0, 0]) else R)
                    for m, p, R in zip(self.robot._info["markers"], place, turn)
                },
            )
        return self._cache["markers"]  # type: ignore[no-any-return]

    @property
    def actuators(self) -> Named[Actuator]:
        """Actuators by name."""
        effort, measure = self._part("effort"), self._part("measure")
        rows = self._part("actuator").reshape(-1, 7)
        return Named(
            "actuator",
            {
                a["name"]: Actuator(
                    a["name"], a["kind"], float(e) / a["effort_scale"], a["effort_unit"], float(m) / a["measure_scale"], a["measure_unit"],
                    float(r[0]), float(r[1]), float(r[2]), bool(r[5]),
                )
                for a, e, m, r in zip(self.robot._info["actuators"], effort, measure, rows)
            },
        )  # fmt: skip

    @property
    def sensors(self) -> Named[Sensor]:
        """Sensors by name: lengths mm, volumes mm^3, pressures kPa, tensions N."""
        values = self._part("sensor")
        return Named(
            "sensor",
            {s["name"]: Sensor(s["name"], float(v) / s["scale"], s["unit"]) for s, v in zip(self.robot._info["sensors"], values)},
        )

    @property
    def reactions(self) -> Named[Reaction]:
        """What the supports exert on the body, by name: N, N mm."""
        if "reactions" not in self._cache:
            with self._model() as model:
                rows = array(model.reactions())
            names = self.robot._info["supports"]
            self._cache["reactions"] = Named(
                "support", {name: Reaction(name, row[:3], row[3:]) for name, row in zip(names, rows)}
            )
        return self._cache["reactions"]  # type: ignore[no-any-return]

    @property
    def readings(self) -> dict[str, dict[str, Readings]]:
        """What springs, obstacles and other parts report: readings["springs"]["s1"]["tension"], in the units of its ``units``."""
        out: dict[str, dict[str, tuple[dict[str, float], dict[str, str]]]] = {}
        for (group, name, quantity, unit), value in zip(self.robot._info["readings"], self._part("reading")):
            values, units = out.setdefault(group, {}).setdefault(name, ({}, {}))
            values[quantity] = float(value)
            units[quantity] = unit
        return {g: {n: Readings(n, v, u) for n, (v, u) in names.items()} for g, names in out.items()}

    @property
    def contacts(self) -> Named[Readings]:
        """Contacts by name of the obstacle, with force (N) and what else the robot reports of them."""
        groups = self.readings
        return Named("contact", groups.get("contacts", groups.get("contact", {})))

    def __getitem__(self, name: str) -> Any:
        """The marker, actuator or sensor of that name."""
        groups: list[Named[Any]] = [self.markers, self.actuators, self.sensors]
        for things in groups:
            if name in things:
                return things[name]
        raise unknown("marker, actuator or sensor", name, list(self))

    def __contains__(self, name: object) -> bool:
        """Whether there is a marker, actuator or sensor of that name.

        >>> s = pliant.testing.arm().rest
        >>> "tip" in s, "top" in s
        (True, False)
        """
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        """Names of markers, actuators and sensors.

        >>> list(pliant.testing.arm().rest)[:4]
        ['tip', 't1', 't2', 't3']
        """
        return iter(dict.fromkeys([*self.robot.markers, *self.robot.actuators, *self.robot.sensors]))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def crossing(self) -> str:
        """Where the body penetrates itself, as the command says it; empty: it does not."""
        return self._record()[3]

    @property
    def energy(self) -> float:
        """Elastic energy, mJ."""
        return float(self._part("energy")[0])

    # ---- shape
    @property
    def mesh(self) -> Mesh:
        """The mesh in this state: ``mesh.points`` are the deformed positions, ``mesh.rest`` the undeformed ones."""
        if "mesh" not in self._cache:
            core = self.robot._body()
            with self._model() as model:
                shape = model.shape()
            self._cache["shape"] = shape
            self._cache["mesh"] = Mesh(core, array(shape))
        return self._cache["mesh"]  # type: ignore[no-any-return]

    @property
    def points(self) -> Any:
        """Positions of the body points, (n, 3), mm: vertices of a full body, points of a centre line."""
        if "points" not in self._cache:
            with self._model() as model:
                self._cache["points"] = array(model.points())
        return self._cache["points"]

    @property
    def fields(self) -> Fields:
        """Fields by name, computed when asked for."""
        if "fields" not in self._cache:
            self._cache["fields"] = Fields(self)
        return self._cache["fields"]  # type: ignore[no-any-return]

    def line(self, actuator: str) -> Any:
        """Polyline of a cable in this shape, (n, 3), mm.

        >>> pliant.testing.arm().solve(t1=1).line("t1").shape[1]
        3
        """
        with self._model() as model:
            return array(model.line(self.robot._index("actuator", actuator)))

    def check(self) -> dict[str, Any]:
        """Independent check: largest nodal residual force (N), largest force (N), whether an element is inverted.

        >>> pliant.testing.bar().solve().check()["residual"] < 1e-6
        True
        """
        with self._model() as model:
            residual, largest, inverted = model.judge()
        return {"residual": residual, "largest_force": largest, "inverted": inverted}

    def mesh_error(self) -> dict[str, float]:
        """Estimated error of the markers' motion because of the mesh: ``relative``, as a fraction of the motion (nan: not known), and
        ``factor``, by which it may be off in either direction. Costs about a fifth of the solve; full bodies by the method `exact`.

        >>> error = pliant.testing.bar().solve().mesh_error()
        >>> 0 < error["relative"] < 1, error["factor"]
        (True, 3.0)
        """
        with self._model() as model:
            relative, factor = model.mesh_error()
        return {"relative": relative, "factor": factor}

    # ---- derivatives
    def _outputs(self, of: str) -> tuple[str, int, int, float]:
        """Part of the derivative, first row, rows, and the internal value of one display unit."""
        robot = self.robot
        info = robot._info
        name, _, what = of.partition(".")
        if of == "energy":
            return "energy", 0, 1, 1.0
        if name in robot.markers and what in ("", "position", "rotation"):
            return ("rotation" if what == "rotation" else "marker"), 3 * robot._index("marker", name), 3, 1.0
        if name in robot.actuators and what:
            i = robot._index("actuator", name)
            a = info["actuators"][i]
            if what == "effort":
                return "effort", i, 1, float(a["effort_scale"])
            if what in (a["measure"], "measure"):
                return "measure", i, 1, float(a["measure_scale"])
            raise _core.InputError(f"{of}: an actuator has effort and {a['measure']}")
        if name in robot.sensors and not what:
            i = robot._index("sensor", name)
            return "sensor", i, 1, float(info["sensors"][i]["scale"])
        for k, (group, thing, quantity, _unit) in enumerate(info["readings"]):
            if of == f"{group}.{thing}.{quantity}":
                return "reading", k, 1, 1.0
        known = [*robot.markers, *robot.sensors, *(f"{a}.effort" for a in robot.actuators), "energy"]
        raise unknown("result", of, known)

    def _parameter(self, wrt: str) -> tuple[tuple[int, int, int], float]:
        """A parameter, and the internal value of its unit."""
        robot = self.robot
        if wrt in robot.commands:
            return (_COMMAND, robot._index("command", wrt), 0), robot.commands[wrt].scale
        name, _, what = wrt.rpartition(".")
        if name == "gravity" and what in ("x", "y", "z"):
            return (_GRAVITY, 0, "xyz".index(what)), 1e3  # per m/s^2
        marker, _, force = name.rpartition(".")
        if marker in robot.markers and force == "force" and what in ("x", "y", "z"):
            return (_MARKER_FORCE, robot._index("marker", marker), "xyz".index(what)), 1.0
        for k, material in enumerate(robot._info["materials"]):
            if material["name"] == name and what in material:
                return (_MATERIAL, k, CONSTANTS.index(what)), 1.0
        known = [*robot.commands, *(f"{m}.force.z" for m in robot.markers), "gravity.z"]
        known += [f"{m['name']}.{c}" for m in robot._info["materials"] for c in m if c not in ("name", "model")]
        raise unknown("parameter", wrt, known)

    def jacobian(self, of: Optional[str] = None, wrt: Union[None, str, Sequence[str]] = None) -> Any:
        """Exact derivatives at this state.

        of: a marker ("tip": position in mm, "tip.rotation": rotation vector in rad), "air.effort" (N or kPa),
        "air.volume" / ".length" / ".area", a sensor, "energy" (mJ), a reading ("springs.s1.tension"); None: the
        positions of all markers. wrt: a command (per its own unit), a material constant ("silicone.c10", per MPa),
        "tip.force.z" (per N), "gravity.z" (per m/s^2), or a list of them; None: all commands.

        Shape: (rows, columns); without the column axis if wrt is a name, without the row axis if `of` is a number.

        >>> s = pliant.testing.arm().solve(t1=1, t2=0, t3=0)
        >>> s.jacobian("tip").shape, s.jacobian("tip", wrt="tip.force.z").shape
        ((3, 3), (3,))
        """
        single = isinstance(wrt, str)
        names = [wrt] if isinstance(wrt, str) else list(self.robot.commands) if wrt is None else list(wrt)
        params = [self._parameter(name) for name in names]
        if of is None:
            part, first, rows, unit = "marker", 0, 3 * len(self.robot.markers), 1.0
        else:
            part, first, rows, unit = self._outputs(of)
        bits = {
            "marker": _MARKER, "rotation": _ROTATION, "sensor": _SENSOR, "effort": _EFFORT, "measure": _MEASURE,
            "energy": _ENERGY, "reading": _READING,
        }  # fmt: skip
        scale = np.array([s for _, s in params]) / unit
        with self._model() as model:
            if all(p[0] == _COMMAND for p, _ in params):
                found, report = model.differentiate(bits[part], 0.0)
                whole = np.zeros((rows, 0)) if part not in found else array(found[part])[first : first + rows]
                out = whole[:, [p[1] for p, _ in params]] * scale
            elif part == "energy":
                raise _core.InputError("energy: derivatives with respect to commands only")
            else:
                found, report = model.sensitivity([p for p, _ in params])
                out = array(found[part])[first : first + rows] * scale
        self._cache["one_sided"] = bool(report[3])
        if single:
            out = out[:, 0]
        if rows == 1 and of is not None:
            out = out[0]
        return sealed_array(out) if isinstance(out, np.ndarray) else out

    @property
    def one_sided(self) -> bool:
        """Whether the last jacobian is one-sided: a cable just taut, or a one-sided command at 0."""
        return bool(self._cache.get("one_sided", False))

    def grad(
        self,
        f: Callable[..., Any],
        wrt: Union[None, str, Sequence[str]] = None,
        derivative: Optional[Callable[..., Any]] = None,
    ) -> Any:
        """Gradient of a function of marker positions by one adjoint solve, whatever the number of parameters.

        f: its arguments are names of markers and get their positions (mm), for example
        ``lambda tip: (tip[0] - 80) ** 2``; names of actuators get their effort. derivative: returns the derivatives
        of f with respect to each argument; without it they are computed by fourth-order differences of f alone,
        which needs no solve. wrt: as in jacobian. Returns a number if wrt is a name, otherwise a dictionary.

        >>> s = pliant.testing.arm().solve(t1=1)
        >>> g = s.grad(lambda tip: tip[0] ** 2)
        >>> bool(abs(g["t1"] - 2 * s["tip"].position[0] * s.jacobian("tip", wrt="t1")[0]) < 1e-6)
        True
        """
        names = list(inspect.signature(f).parameters)
        values: list[Any] = []
        for name in names:
            if name in self.markers:
                values.append(np.array(self.markers[name].position))
            elif name in self.actuators:
                values.append(np.array(self.actuators[name].effort))
            else:
                raise unknown("marker", name, self.markers)
        if derivative is not None:
            slopes = derivative(*values)
            slopes = list(slopes) if isinstance(slopes, (tuple, list)) and len(names) > 1 else [slopes]
        else:
            slopes = [_difference(f, values, k, self.robot.size) for k in range(len(values))]
        by_marker = np.zeros((len(self.markers), 3))
        by_effort = np.zeros(len(self.actuators))
        for name, slope in zip(names, slopes):
            if name in self.markers:
                by_marker[self.robot._index("marker", name)] += np.asarray(slope, dtype=float).reshape(3)
            else:
                i = self.robot._index("actuator", name)
                by_effort[i] += float(slope)
        return self.vjp(by_marker, wrt, by_effort if by_effort.any() else None)

    def vjp(self, by_marker: Any, wrt: Union[None, str, Sequence[str]] = None, by_effort: Any = None) -> Any:
        """Vector-Jacobian product: the gradient, given the derivatives of a function with respect to the marker
        positions, (markers, 3) per mm, and the efforts of the actuators, (actuators,) per N or kPa; by one adjoint solve.

        >>> s = pliant.testing.arm().solve(t1=1)
        >>> bool(abs(s.vjp([[1, 0, 0]], wrt="t1") - s.jacobian("tip", wrt="t1")[0]) < 1e-9)
        True
        """
        wanted = [wrt] if isinstance(wrt, str) else list(self.robot.commands) if wrt is None else list(wrt)
        params = [self._parameter(name) for name in wanted]
        rows = np.ascontiguousarray(by_marker, dtype=float).reshape(-1)
        if rows.size != 3 * len(self.robot.markers):
            raise _core.InputError(f"by_marker: expected ({len(self.robot.markers)}, 3) numbers, found {np.shape(by_marker)}")
        if not np.isfinite(rows).all():
            raise _core.InputError("by_marker: the derivative of the function is not finite")
        efforts = None
        if by_effort is not None:
            scale = np.array([a["effort_scale"] for a in self.robot._info["actuators"]])
            efforts = np.ascontiguousarray(by_effort, dtype=float).reshape(-1)
            if efforts.shape != scale.shape:
                raise _core.InputError(f"by_effort: expected {len(scale)} numbers, found {np.shape(by_effort)}")
            efforts = efforts / scale
        with self._model() as model:
            gradient, report = model.adjoint(rows, None, efforts, None, [p for p, _ in params])
        self._cache["one_sided"] = bool(report[3])
        out = array(gradient) * np.array([s for _, s in params])
        return float(out[0]) if isinstance(wrt, str) else dict(zip(wanted, map(float, out)))

    def compliance(self) -> Compliance:
        """How efforts and forces move the robot with all efforts free, exact, in the units of `pliant jacobian --compliance`: one
        column per effort (N, kPa) and per force component of the markers (N), one row per actuator (shortening mm, volume
        mm^3), marker coordinate (mm) and sensor.

        >>> c = pliant.testing.arm().solve(t1=1).compliance()
        >>> c.inputs[:4], c.matrix.shape
        (('t1', 't2', 't3', 'tip.force.x'), (12, 6))
        >>> round(c["tip.x", "tip.force.x"], 3)
        171.036
        """
        with self._model() as model:
            matrix = array(model.compliance())
        axes = [f"{m}.{{}}{axis}" for m in self.robot.markers for axis in "xyz"]
        drawn, sensed = self.robot._info["actuators"], self.robot._info["sensors"]
        per = np.array([*(a["effort_scale"] for a in drawn), *(1.0 for _ in axes)])
        of = np.array([*(a["measure_scale"] for a in drawn), *(1.0 for _ in axes), *(s["scale"] for s in sensed)])
        return Compliance(
            sealed_array(matrix * per / of[:, None]),
            (*(f"{a['name']}.{a['displacement']}" for a in drawn), *(a.format("") for a in axes), *self.robot.sensors),
            (*(a["measure_unit"] for a in drawn), *("mm" for _ in axes), *(s["unit"] for s in sensed)),
            (*self.robot.actuators, *(a.format("force.") for a in axes)),
            (*(a["effort_unit"] for a in drawn), *("N" for _ in axes)),
        )

    # ---- going on from here
    def solve(self, *named: Mapping[str, Any], **commands: Any) -> "State":
        """As Robot.solve, starting from this state; commands that are not named keep their values, and forces that are
        not given theirs.

        >>> s = pliant.testing.arm().solve(t1=1, t2=1)
        >>> s.solve(t1=2).commands
        {'t1': 2.0, 't2': 1.0, 't3': None}
        """
        return self.robot.solve(*named, start=self, **commands)

    # ---- files and tables
    def _record(self) -> tuple[str, str, str, str]:
        if "record" not in self._cache:
            with self._model() as model:
                self._cache["record"] = model.record()
        return self._cache["record"]  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """The record of the result, as `pliant fk --json` writes it.

        >>> pliant.testing.arm().solve(t1=1).to_dict()["outcome"]
        'solved'
        """
        return json.loads(self._record()[0])  # type: ignore[no-any-return]

    def to_pandas(self) -> Any:
        """One row with the columns of `pliant sweep`; needs pandas."""
        import io

        import pandas

        record = self._record()
        return pandas.read_csv(io.StringIO(record[1] + record[2]))

    def to_meshio(self) -> Any:
        """A meshio.Mesh of the deformed body with its regions and its fields, named as in files; needs meshio."""
        import meshio  # type: ignore[import]

        mesh = self.mesh
        cells = list(mesh.cells().items())
        kinds = [mesh.KINDS.index(name) for name, _ in cells]
        point_data, cell_data = {}, {}
        for name in self.fields:
            label = LABELS[name][0]
            values = self.fields[label]
            if len(values) == len(mesh.points):
                point_data[label] = values
            else:
                cell_data[label] = [values[mesh.kind == k] for k in kinds]
        cell_data["region"] = [mesh.region[mesh.kind == k] for k in kinds]
        return meshio.Mesh(mesh.points, cells, point_data=point_data, cell_data=cell_data)

    def save(self, path: Union[str, "os.PathLike[str]"], surface: Optional[str] = None, **picture: Any) -> None:
        """Writes a file by its extension: .vtu and .xdmf (the body with all fields), .vtm (body, cavities and cables as
        blocks), .stl (mm; surface: this one only), .obj and .ply (mm), .glb and .gltf (metres; color: displacement,
        von_mises, stretch or region), .usda (mm), .inp (a job for CalculiX), .py (a scene for SOFA), .urdf, .sdf and .mjcf
        (a chain of rigid links; see ``save_chain``), .png and .svg (options of plot), .html (the interactive view), .csv, .json (the
        record), .npz (arrays: commands, markers, efforts, sensors, points, elements and fields, units in the names), .state (for
        `pliant fk --state`).

        >>> pliant.testing.arm().solve(t1=1).save("arm.vtu")
        """
        path = os.fspath(path)
        kind = os.path.splitext(path)[1].lower()
        if kind in (".vtu", ".vtm", ".xdmf", ".stl", ".state"):
            with self._model() as model:
                model.write(path, kind[1:], surface, 0)
        elif kind in (".png", ".svg"):
            self._picture(path, **picture)
        elif kind in (".inp", ".py"):
            with self._model() as model:
                model.write(path, kind[1:], None, 0)
        elif kind in (".urdf", ".sdf", ".mjcf", ".xml"):
            self.save_chain(path)
        elif kind in (".obj", ".ply", ".glb", ".gltf", ".usda"):
            color = self._surface_color(picture.pop("color", None if kind == ".obj" else "displacement"))
            if picture:
                raise TypeError(f"{kind} files have no {', '.join(picture)}")
            with self._model() as model:
                if kind == ".gltf":
                    write_gltf(path, lambda glb: model.write(glb, "glb", None, color))
                else:
                    model.write(path, kind[1:], None, color)
        elif kind == ".npz":
            write_arrays(path, self._arrays())
        elif kind == ".html":
            self.show().save(path)
        elif kind == ".json":
            _write(path, self._record()[0])
        elif kind == ".csv":
            _write(path, "".join(self._record()[1:3]))
        else:
            raise _core.InputError(f"{path}: expected .vtu .vtm .xdmf .stl .obj .ply .glb .gltf .usda .inp .py .urdf .sdf .mjcf .png .svg .html .csv .json .npz or .state")

    def _arrays(self) -> dict[str, Any]:
        """All numbers by name, with units; nan: idle commands, markers without a frame."""
        out: dict[str, Any] = {"outcome": self.outcome}
        for name, value in self.commands.items():
            out[f"{name} [{self.robot.commands[name].unit}]"] = np.nan if value is None else value
        for m in self.markers.values():
            out[f"{m.name} [mm]"] = m.position
            out[f"{m.name}.rotation"] = np.full((3, 3), np.nan) if m.rotation is None else m.rotation
        for a in self.actuators.values():
            out[f"{a.name}.effort [{a.effort_unit}]"] = a.effort
            out[f"{a.name}.{self.robot.actuators[a.name]['measure']} [{a.measure_unit}]"] = a.measure
        for s in self.sensors.values():
            out[f"{s.name} [{s.unit}]"] = s.value
        out["energy [mJ]"] = self.energy
        if self.robot.kind != "full":
            out["points [mm]"] = self.points
            return out
        out["points [mm]"], out["rest points [mm]"] = self.mesh.points, self.mesh.rest
        out.update({f"elements.{kind}": nodes for kind, nodes in self.mesh.cells().items()})
        out.update({f"field.{LABELS[name][0]}": self.fields[LABELS[name][0]] for name in self.fields})
        return out

    def save_chain(self, path: Union[str, "os.PathLike[str]"], marker: Optional[str] = None, links: int = 8) -> dict[str, Any]:
        """Writes the body as a chain of rigid links with springs, from its support to a marker (default: the first), for
        MuJoCo (.mjcf), Drake and Gazebo (.urdf, .sdf). Returns its error: ``position_error``, ``motion`` and ``half_error``
        (at half of the commands) in mm, ``rotation_error`` in rad, ``compliance_error`` relative.

        >>> error = pliant.testing.bar().solve().save_chain("bar.urdf", links=3)
        >>> error["links"], error["position_error"] < 0.1
        (3, True)
        """
        names = list(self.robot.markers)
        if marker is not None and marker not in names:
            raise unknown("marker", marker, names)
        with self._model() as model:
            return model.write_chain(os.fspath(path), names.index(marker) if marker is not None else 0, links)

    def _surface_color(self, color: Optional[str]) -> int:
        """The number of the field by which a surface is coloured; past the last: by region."""
        for k, name in enumerate(FIELDS):
            if color in (name, LABELS[name][0]) and name in self.fields and name not in ("strain", "stress", "J", "min_J"):
                return k
        if color in (None, "region", "displacement"):
            return len(FIELDS)
        raise _core.InputError(f"{color}: expected displacement, von_mises, stretch or region")

    # ---- for the eye
    def _picture(
        self,
        path: str,
        color: Optional[str] = None,
        view: Union[None, str, Sequence[float]] = None,
        width: int = 1200,
        height: int = 800,
        edges: bool = False,
        ghost: bool = True,
        cut: Optional[str] = None,
        title: Optional[str] = None,
    ) -> None:
        values = legend = None
        if color not in (None, "region"):
            assert color is not None
            field = self.fields[color]
            if len(field) != len(self.mesh.points):
                raise _core.InputError(f"{color}: expected displacement, von_mises, stretch or region")
            if color in ("strain", "stress"):
                raise _core.InputError(f"{color}: expected displacement, von_mises, stretch or region")
            values = np.linalg.norm(field, axis=1) if field.ndim == 2 else field
            values = 1e3 * values if color == "von_mises" else values
            legend = {"displacement": "displacement, mm", "von_mises": "von Mises stress, kPa"}.get(color, color)
        if view is not None and not isinstance(view, str):
            view = ",".join(str(float(v)) for v in view)
        if cut not in (None, "x", "y", "z"):
            raise _core.InputError(f"cut: expected x, y or z, found {cut!r}")
        normal = tuple(float(axis == cut) for axis in "xyz")
        middle = tuple(0.5 * (self.mesh.rest.min(0) + self.mesh.rest.max(0)).astype(float)) if cut else (0.0, 0.0, 0.0)
        values = None if values is None else np.ascontiguousarray(values, dtype=float)
        with self._model() as model:
            model.picture(
                path, values, legend, title or self._commands_text(), view, width, height, edges, ghost, normal, middle
            )

    def plot(self, **options: Any) -> "Picture":
        """A picture of the shape. color: displacement, von_mises, stretch or region; view: iso, front, left, ... or
        (x, y, z), from the body to the viewer; cut: x, y or z; edges, ghost, width, height (pixels), title.

        >>> pliant.testing.arm().rest.plot(width=200, height=200)._repr_png_()[:4]
        b'\\x89PNG'
        """
        folder = tempfile.mkdtemp(prefix="pliant-")
        path = os.path.join(folder, "shape.png")
        try:
            self._picture(path, **options)
            with open(path, "rb") as file:
                return Picture(file.read())
        finally:
            if os.path.exists(path):
                os.remove(path)
            os.rmdir(folder)

    def show(self, **options: Any) -> Any:
        """The interactive view of this shape as a self-contained page: inline in a notebook, otherwise
        ``show().open()`` opens it in a browser and ``show().save(path)`` writes it.

        >>> pliant.testing.arm().solve(t1=1).show()  # doctest: +SKIP
        <view of arm at t1 = 1 N: solved; .open() shows it in a browser, .save(path) writes it>
        """
        from ._view import View

        return View(self, **options)

    def _commands_text(self) -> str:
        parts = []
        for name, value in self.commands.items():
            if value is not None:
                unit = self.robot.commands[name].unit
                parts.append(f"{name} = {value:.6g}" + ("" if unit == "1" else f" {unit}"))
        return ", ".join(parts) or "no command set"

    def _tables(self) -> list[Table]:
        markers = [
            [m.name, *m.position, *m.displacement, float(np.linalg.norm(m.displacement)), m.turned]
            for m in self.markers.values()
        ]
        tables = [Table(["marker", "x", "y", "z mm", "dx", "dy", "dz mm", "moved mm", "turned deg"], markers)]
        if self.actuators:
            rows = [
                [a.name, a.kind, a.measure, a.measure_unit, a.ratio, a.effort, a.effort_unit]
                for a in self.actuators.values()
            ]
            tables.append(Table(["actuator", "kind", "now", "", "of rest", "effort", ""], rows))
        if self.sensors:
            tables.append(Table(["sensor", "value", ""], [[s.name, s.value, s.unit] for s in self.sensors.values()]))
        return tables

    def _title(self) -> str:
        return f"{self.robot.name} at {self._commands_text()}: {self.outcome}"

    def __repr__(self) -> str:
        return "\n\n".join([self._title() + (f"\n  {self.message}" if self.message else "")] + [repr(t) for t in self._tables()])

    def _repr_html_(self) -> str:
        import html

        head = f"<p><b>{html.escape(self._title())}</b> {html.escape(self.message)}</p>"
        return head + "".join(t._repr_html_() for t in self._tables())


class Picture(Record):
    """A picture: shown in a notebook, or saved."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def _repr_png_(self) -> bytes:
        return self.png

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the PNG file.

        >>> pliant.testing.arm().rest.plot(width=200, height=200).save("arm.png")
        """
        with replacing(path, "wb") as file:
            file.write(self.png)

    def __repr__(self) -> str:
        return f"<picture of {len(self.png)} bytes; .save(path) writes it>"


def _write(path: str, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


def _difference(f: Callable[..., Any], values: list[Any], k: int, size: float) -> Any:
    """d f / d values[k] by fourth-order central differences; the step is 1e-3 of the size of the robot at most."""
    x = values[k]
    out = np.zeros(x.shape)
    h = 1e-3 * max(1.0, float(np.max(np.abs(x)))) if x.ndim == 0 else min(0.01, 1e-4 * size)
    for i in np.ndindex(x.shape):
        samples = []
        for step in (-2, -1, 1, 2):
            moved = [np.array(v) for v in values]
            moved[k][i] += step * h
            y = np.asarray(f(*moved), dtype=float)
            if y.shape != ():
                raise _core.InputError(f"the function must return a number, found an array of shape {y.shape}")
            samples.append(float(y))
        out[i] = (samples[0] - 8 * samples[1] + 8 * samples[2] - samples[3]) / (12 * h)
    return out


def _restore(robot: "Robot", *pickled: Any) -> State:
    hash_, report, answer, block = unsealed("state", pickled)
    if hash_ != robot.hash:
        raise _core.FileError(f"the pickled state belongs to another robot than {robot.name} as it is now: its files have changed")
    return State(robot, (report, np.frombuffer(answer), np.frombuffer(block)))
