"""Fits that the command makes of recorded tests (`pliant calibrate`, `pliant track`), and free vibrations (`pliant modes`)."""
from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._command import call, mesh_options, option, robot_file
from ._files import replacing
from ._table import Record, Table, fixed

if TYPE_CHECKING:
    from ._robot import Robot
    from ._state import State

Path = Union[str, "os.PathLike[str]"]


def _array(values: Any) -> Any:
    return fixed(np.array([np.nan if v is None else v for v in values], dtype=float))


class Relaxation(Record):
    """Viscous branches fitted to a relaxation test."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.modulus: float = found["modulus"]  #: long-term, in `unit`
        self.unit: str = found["unit"]  #: MPa; N of a table of forces; empty: the table names none
        self.tau = _array(found["tau_s"])  #: s, per branch
        self.g = _array(found["g"])  #: per branch, over the long-term modulus, at the first reading
        self.half_width = _array(found["half_width"])  #: of the 95 % intervals of g
        self.error: float = found["error"]  #: root mean square over the largest stress

    @property
    def prony(self) -> list[dict[str, Any]]:
        """The branches as a material of a robot dictionary has them, tau in s."""
        return [{"g": float(g), "tau": f"{tau:.9g} s"} for g, tau in zip(self.g, self.tau)]

    def __repr__(self) -> str:
        rows = [[g, h, tau] for g, h, tau in zip(self.g, self.half_width, self.tau)]
        return repr(Table(["g", "95 %: +-", "tau s"], rows, f"long-term modulus {self.modulus:.4g} {self.unit}".rstrip()))


def relaxation(path: Path, times: Optional[Sequence[float]] = None) -> Relaxation:
    """Fits viscous branches to a table of t [s], stress and, if it is recorded, strain; times: of the branches, s (default: those that
    the test resolves).

    >>> t = np.linspace(0, 5, 100)
    >>> np.savetxt("held.csv", np.c_[t, 0.1 * (1 + 0.3 * np.exp(-t / 0.5))], delimiter=",", header="t [s],stress [MPa]", comments="")
    >>> fit = pliant.relaxation("held.csv", [0.5])
    >>> round(fit.modulus, 3), fit.g.round(3).tolist(), fit.prony[0]["tau"]
    (0.1, [0.3], '0.5 s')
    """
    return Relaxation(call(["calibrate", "relaxation", os.fspath(path), *option("times", times and ",".join(f"{t:.9g}s" for t in times))])[1])


class Cycles(Record):
    """A law and its softening fitted to loading and unloading."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        r, m, beta = found["mullins"]
        #: for a robot dictionary: model, constants in MPa, mullins (r and beta without unit, m in MPa)
        self.material: dict[str, Any] = {"model": found["model"], **found["constants"], "mullins": {"r": r, "m": f"{m:.9g} MPa", "beta": beta}}
        self.half_width = _array(found["half_width"])  #: of the 95 % intervals of r, m and beta
        self.error: float = found["error"]  #: root mean square over the largest stress
        self.lost: float = found["lost"]  #: share of the work that does not come back
        self.lost_measured: float = found["lost_measured"]  #: the same, measured
        self.stable: bool = found["stable"]

    def __repr__(self) -> str:
        return f"{self.material}; error {100 * self.error:.2g} % of the largest stress, {100 * self.lost:.3g} % of the work lost"


def cycles(path: Path, model: str = "yeoh", strain: Optional[float] = None) -> Cycles:
    """Fits a law and its softening to strain and stress of a bar that is loaded and unloaded, in the order of measurement; strain: up
    to this one (1 = 100 %).

    >>> up = np.r_[np.linspace(0, 1, 30), np.linspace(1, 0, 30), np.linspace(0, 1.6, 30)]
    >>> np.savetxt("cyclic.csv", np.c_[up, 0.1 * (1 + up - (1 + up) ** -2)], delimiter=",", header="strain,stress [MPa]", comments="")
    >>> fit = pliant.cycles("cyclic.csv", "neo_hookean")
    >>> round(fit.material["c10"], 2), fit.stable
    (0.05, True)
    """
    return Cycles(call(["calibrate", "cycles", os.fspath(path), "--model", model, *option("max-strain", strain)])[1])


class Ratio(Record):
    """Shape parameters of the two materials of a bar."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.elasticity: float = found["elasticity"]  #: ratio of the elasticities
        self.r_omega = _array(found["r_omega"])  #: (2,), shape parameters
        self.ratio: float = found["ratio"]  #: of the weights
        self.young = _array(found["young"])  #: (2,), MPa where the weight is 1
        self.poisson = _array(found["poisson"])  #: (2,)

    def __repr__(self) -> str:
        return f"R_omega {self.r_omega[0]:.4g} and {self.r_omega[1]:.4g}, elasticity ratio {self.elasticity:.4g}"


def ratio(
    moved: Optional[float] = None, *, elasticity: Optional[float] = None, length: float = 80.0, interface: Optional[float] = None, pull: float = 4.0,
    r_omega: float = 1.0, method: Optional[str] = None, size: Optional[float] = None,
) -> Ratio:  # fmt: skip
    """Shape parameters of two materials from how far (mm) their interface moves when a bar made of both is pulled (mm), or from the
    elasticity ratio itself. length: of the bar, mm; interface: its distance from the clamped end, mm (default: the middle); size: of the
    elements, mm.

    >>> round(pliant.ratio(elasticity=1.0, size=10).ratio, 3)
    1.0
    """
    words = option("moved", moved) + option("elasticity", elasticity) + option("length", length) + option("interface", interface)
    return Ratio(call(["calibrate", "ratio", *words, "--pull", str(pull), "--r-omega", str(r_omega), *option("method", method), *option("size", size)])[1])


class Release(Record):
    """Stiffness and viscosity of a robot that was let go. ``robot`` has the fitted numbers."""

    def __init__(self, found: Mapping[str, Any], robot: "Robot") -> None:
        self.robot = robot
        #: values in the units of the robot file
        self.values: dict[str, float] = {p["name"]: p["value"] for p in found["parameters"]}
        self.units: dict[str, str] = {p["name"]: p["unit"] for p in found["parameters"]}
        #: standard deviations of their logarithms
        self.log_deviations: dict[str, float] = {p["name"]: p["log_deviation"] for p in found["parameters"]}
        self.correlation = fixed(np.array([p["correlation"] for p in found["parameters"]], dtype=float))  #: between them
        self.rms: float = found["rms_mm"]  #: mm
        self.converged: bool = found["converged"]

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __repr__(self) -> str:
        rows = [[n, v, self.units[n]] for n, v in self.values.items()]
        return repr(Table(["parameter", "value", ""], rows, f"{self.rms:.3g} mm rms"))


def release(
    robot: "Robot", runs: Union[Path, Sequence[Path]], free: Union[str, Sequence[str]], until: Union[str, float], step: Union[str, float],
) -> Release:  # fmt: skip
    """See Robot.release."""
    from ._robot import load

    files = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    names = free if isinstance(free, str) else ",".join(free)
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        place = os.path.join(folder, "fitted.yaml")
        times = [f"--{n}={t if isinstance(t, str) else f'{t} s'}" for n, t in (("until", until), ("step", step))]
        s = robot.source
        path = robot_file(robot, folder)
        if s.size > 0 or s.order > 0 or s.displacement:  # the verb has no options for them
            path = os.path.join(folder, "as_loaded.yaml")
            robot.save(path)
        _, record, _ = call(["calibrate", "release", path, *(os.fspath(f) for f in files), "--free", names, *times, "--out", place])
        return Release(record, load(place, method=s.method, size=s.size, order=s.order, displacement=s.displacement, cache=False))


class Cameras(Record):
    """Calibrated cameras: focal lengths and centres in pixels, distortion, places."""

    def __init__(self, text: str, found: Optional[Mapping[str, Any]]) -> None:
        self.text = text  #: the file that `pliant track` and `calibrate poses --images` read
        self.rms: float = found["rms_px"] if found else float("nan")  #: pixels
        self.baseline: Optional[float] = found["baseline_mm"] if found else None  #: mm, between the first two
        #: (value, half width of its 95 % interval) by name, per camera; pixels, distortion without unit
        self.constants: list[dict[str, tuple[float, float]]] = [{k: (v[0], v[1]) for k, v in c.items()} for c in found["cameras"]] if found else []

    def save(self, path: Path) -> None:
        """Writes the file that `pliant track` reads (.json).

        >>> pliant.Cameras("{}", None).save("cameras.json")
        """
        with replacing(path) as file:
            file.write(self.text)

    def __repr__(self) -> str:
        return f"{len(self.constants) or len(json.loads(self.text).get('cameras', []))} cameras, {self.rms:.3g} pixels rms"

    def track(self, patterns: Sequence[str], dots: Mapping[str, str], reach: float = 0.3, smallest: int = 12) -> "Track":
        """Positions of dots of given colours ("#e02020") in pictures of these cameras, one pattern with a * per camera.

        reach: distance in RGB (0 to 1) from the colour; smallest: size of a dot, pixels.

        >>> try:
        ...     pliant.Cameras("{}", None).track(["left_*.png"], {"tip": "red"})
        ... except pliant.Error as error:
        ...     print(type(error).__name__)
        InputError
        """
        with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
            place = os.path.join(folder, "cameras.json")
            self.save(place)
            colours = [f"--dot={name}={colour}" for name, colour in dots.items()]
            return Track(call(["track", place, *patterns, *colours, "--reach", str(reach), "--smallest", str(smallest)])[1], list(dots))


def cameras(patterns: Sequence[str], board: tuple[int, int], square: float) -> Cameras:
    """Calibrates cameras from pictures of a chessboard; board: inner corners, square: mm; one pattern of files with a * per camera,
    pictures of one moment have the same text in its place.

    >>> try:
    ...     pliant.cameras(["none_*.png"], (9, 6), 5.5)
    ... except pliant.Error as error:
    ...     print("none_*.png" in str(error))
    True
    """
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        place = os.path.join(folder, "cameras.json")
        words = [*patterns, "--board", f"{board[0]}x{board[1]}", "--square", f"{square} mm", "--out", place]
        _, found, _ = call(["calibrate", "cameras", *words])
        with open(place, encoding="utf-8") as file:
            return Cameras(file.read(), found)


class Track(Record):
    """Dots in pictures. ``t["tip"]`` is (frames, 3), mm, in the frame of the first camera; nan where fewer than two cameras see it, or
    where they see different dots."""

    def __init__(self, found: Mapping[str, Any], names: Sequence[str]) -> None:
        frames = found["frames"]
        self.frames: list[str] = [f["frame"] for f in frames]  #: what stands for the * of the patterns

        def column(name: str, key: str) -> Any:
            return fixed(np.array([[np.nan if v is None else v for v in np.atleast_1d(f["markers"][name][key])] for f in frames], dtype=float))

        self.positions: dict[str, Any] = {n: column(n, "position_mm") for n in names}  #: mm
        self.pixels: dict[str, Any] = {n: column(n, "pixels") for n in names}  #: u, v per camera
        self.rms: dict[str, Any] = {n: column(n, "rms_px")[:, 0] for n in names}  #: pixels

    def __getitem__(self, name: str) -> Any:
        return self.positions[name]

    def __contains__(self, name: object) -> bool:
        return name in self.positions

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return f"{len(self)} frames, dots " + ", ".join(self.positions)


class Modes(Record):
    """Free vibrations about an equilibrium, lowest first."""

    def __init__(self, state: "State", found: Mapping[str, Any]) -> None:
        self.state = state
        rows = found["modes"]
        self.frequency = _array([m["frequency_hz"] for m in rows])  #: Hz, with the long-term stiffness
        self.mass = _array([m.get("modal_mass_g") for m in rows])  #: g, modal masses for a largest displacement of 1
        self.ringing = _array([m.get("ringing_hz") for m in rows])  #: Hz, with the viscous branches
        self.damping = fixed(_array([m.get("damping") for m in rows]) + 0.0)  #: damping ratios, 1: critical

    def __len__(self) -> int:
        return len(self.frequency)

    def _table(self) -> Table:
        head = ["mode", "frequency Hz", "rings at Hz", "damping ratio", "mass g"]
        return Table(head, [[k + 1, *row] for k, row in enumerate(zip(self.frequency, self.ringing, self.damping, self.mass))])

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


def modes(
    robot: "Robot", commands: Mapping[str, Union[str, float]], count: int, masses: Mapping[str, Union[str, float]], hang: bool, beyond_range: bool,
) -> Modes:  # fmt: skip
    """See Robot.modes."""
    state = robot.solve(commands, beyond_range=beyond_range, check=True)
    words = [f"--mass={name}={value if isinstance(value, str) else f'{value} g'}" for name, value in masses.items()]
    words += ["--count", str(count), *option("hang", hang), *option("beyond-range", beyond_range)]
    words += [f"--set={c.name}={v!r}{'' if c.unit == '1' else c.unit}" for c in robot.commands.values() for v in (state.commands[c.name],) if v is not None]
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        s = robot.source
        words += option("displacement", s.displacement) + mesh_options(robot)
        return Modes(state, call(["modes", robot_file(robot, folder), *words])[1])
