"""Parameters from measurements."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._files import read_text
from ._progress import Progress, Shown
from ._table import Record, Table, array

if TYPE_CHECKING:
    from ._robot import Robot

# pl_pose_kind
_NUMBER, _MATERIAL, _FACTOR, _OFFSET, _BASE = range(5)
_BASES = ("base.x", "base.y", "base.z", "base.rx", "base.ry", "base.rz")


def _read(path: Union[str, "os.PathLike[str]"]) -> tuple[str, str]:
    name = os.fspath(path)
    return read_text(name, "replace"), name


class Tensile(Record):
    """A material fitted to a tensile test. `material` can be used in a robot dictionary."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.title: str = found["title"]
        self.material: dict[str, Any] = found["material"]  #: model and constants, MPa
        self.error: float = found["error"]  #: root mean square over the largest stress
        self.strain_range = (found["strain_low"], found["strain_high"])
        self.stable: bool = found["stable"]
        self.strain = array(found["strain"])  #: measured, 1 = 100 %
        self.stress = array(found["stress"])  #: measured, MPa

    def __repr__(self) -> str:
        values = ", ".join(f"{k} {v:.6g}" for k, v in self.material.items() if k != "model")
        return f"{self.material['model']}: {values}; error {100 * self.error:.2g} % of the largest stress"


def tensile(path: Union[str, "os.PathLike[str]"], model: str = "yeoh", strain: float = 0.0) -> Tensile:
    """Fits a material to a tensile test (CSV of strain and stress); strain: fit up to here (0: all).

    >>> with open("test.csv", "w") as file:
    ...     _ = file.write("strain,stress [MPa]\\n" + "".join(f"{e},{0.2 * ((1 + e) - (1 + e) ** -2)}\\n" for e in np.linspace(0, 1, 20)))
    >>> f = pliant.tensile("test.csv", "neo_hookean")
    >>> f.material["model"], f.error < 0.01, f.stable
    ('neo_hookean', True, True)
    """
    text, name = _read(path)
    return Tensile(_core.tensile(text, name, model, float(strain)))


def syringe(
    path: Union[str, "os.PathLike[str]"], chamber: float, tube: float, syringe: float, ambient: float = 101.325,
    gauge: bool = True,
) -> dict[str, Table]:  # fmt: skip
    """Volume ratio over gauge pressure (kPa) of a chamber from a syringe test; volumes in mL, pressures in kPa."""
    text, name = _read(path)
    branches = _core.syringe(text, name, 1e3 * chamber, 1e3 * tube, 1e3 * syringe, 1e-3 * ambient, gauge)
    return {
        kind: Table(["pressure kPa", "ratio"], [[1e3 * p, r] for p, r in zip(array(b["pressure"]), array(b["ratio"]))])
        for kind, b in zip(("loading", "unloading"), branches)
    }


class Fit(Record):
    """Parameters found from measured poses. ``robot`` is the calibrated robot."""

    def __init__(self, robot: "Robot", names: list[str], units: list[str], measured: Any, found: dict[str, Any]) -> None:
        self.robot = robot
        #: values in the units of the robot file, and their standard deviations
        self.values = dict(zip(names, map(float, array(found["value"]))))
        self.deviations = dict(zip(names, map(float, array(found["deviation"]))))
        self.units = dict(zip(names, units))
        self.rms_start: float = found["rms_start"]  #: mm per marker
        self.rms: float = found["rms_fit"]  #: mm per marker, of the rows used
        self.rms_held: float = found["rms_held"]  #: mm per marker, of the rows held; nan: none
        self.interval: float = found["quantile"]  #: 95 %: value +- interval * deviation
        self.converged: bool = found["converged"]
        self.solves: int = found["solves"]
        self.measured = measured  #: (rows, markers, 3), mm
        self.predicted = array(found["predicted"]).reshape(measured.shape)  #: mm

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def _table(self) -> Table:
        rows = [[n, v, self.interval * self.deviations[n], self.units[n]] for n, v in self.values.items()]
        return Table(["parameter", "value", "95 %: +-", ""], rows, f"{self.rms_start:.3g} mm before, {self.rms:.3g} mm after")

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


def _parameter(robot: "Robot", name: str) -> tuple[tuple[Any, ...], str]:
    """A parameter of `free`, and its unit."""
    source = robot.source
    thing, _, what = name.rpartition(".")
    if name in _BASES:
        k = _BASES.index(name)
        return (name, None, _BASE, k, 0, 1.0, 0.0, 1.0 if k < 3 else 0.01), "mm" if k < 3 else "rad"
    if thing in robot.commands and what in ("factor", "offset"):
        c = robot.commands[thing]
        k = robot._index("command", thing)
        if what == "factor":
            return (name, None, _FACTOR, k, 0, 1.0, 1.0, 1.0), ""
        return (name, None, _OFFSET, k, 0, c.scale, 0.0, 0.05 * (c.span[1] - c.span[0])), c.unit
    constants = _core.names()["constants"]
    for k, material in enumerate(robot._info["materials"]):
        if material["name"] == thing and what in material:
            key = f"materials.{name}"
            value, unit = _core.text_number(source.text, source.path, key)
            plain = what in ("poisson", "jm") or what.startswith("alpha")
            dimension = 8 if what == "density" else 0 if plain else 4
            one = _core.quantity(f"1 {unit}", dimension) if unit else 1.0
            return (name, key, _MATERIAL, k, constants.index(what), one, value, 0.0), unit or ("" if plain else "MPa")
    try:
        value, unit = _core.text_number(source.text, source.path, name)
    except _core.InputError as error:
        raise _core.InputError(
            f"free {name}: expected MATERIAL.CONSTANT, COMMAND.factor, COMMAND.offset, base.x to base.rz, or the path of a "
            f"number in the robot file\n    {error}"
        ) from None
    return (name, name, _NUMBER, 0, 0, 1.0, value, 0.0), unit


def poses(
    robot: "Robot",
    measured: Any,
    free: Union[str, Sequence[str]],
    hold: Sequence[int] = (),
    progress: Progress = None,
) -> Fit:
    """See Robot.calibrate."""
    from ._robot import Source, _robot_of
    from ._state import Interrupted

    names = [free] if isinstance(free, str) else list(free)
    parameters = [_parameter(robot, name) for name in names]
    commands, markers = (np.ascontiguousarray(array(a)) for a in _core.measured(os.fspath(measured), robot._first))
    used = np.ones(len(commands), dtype=np.uint8)
    for row in hold:
        if not 0 <= int(row) < len(used):
            raise _core.InputError(f"hold: expected rows from 0 to {len(used) - 1}, found {row}")
        used[int(row)] = 0
    s = robot.source
    with Shown(progress) as callback:
        try:
            found = _core.poses(
                s.text, s.path, s.method, s.size, s.order, [p for p, _ in parameters], len(robot.commands),
                len(robot.markers), commands, markers, used, callback,
            )  # fmt: skip
        except KeyboardInterrupt:
            raise Interrupted() from None
    again = Source(found["text"], s.path, s.method, s.size, s.order, s.displacement, s.cache, s.time_limit, s.named, s.stop_at_limit)
    return Fit(_robot_of(again), names, [u for _, u in parameters], markers.reshape(len(markers), -1, 3), found)
