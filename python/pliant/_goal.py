"""Goals of inverse kinematics, for ``Robot.ik(goals=[...])``."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _core

# pl_objective_kind
KINDS = (
    "position", "direction", "orientation", "distance", "orthogonal", "shape", "curvature", "sensor", "effort",
    "energy", "command",
)  # fmt: skip


@dataclass
class Goal:
    """One goal; made by the functions of this module."""

    kind: str
    name: Optional[str] = None  #: marker, sensor or actuator
    target: Any = (0.0, 0.0, 0.0)
    axis: Any = (0.0, 0.0, 0.0)
    rotation: Any = field(default_factory=lambda: np.eye(3))
    value: float = 0.0
    weight: float = 1.0
    tolerance: float = 0.0
    axes: str = ""
    points: Any = None  #: body points: a name of a surface or region, or numbers
    places: Any = None


def _three(given: Any, what: str) -> Any:
    out = np.asarray(given, dtype=float)
    if out.shape != (3,) or not np.isfinite(out).all():
        raise _core.InputError(f"{what}: expected three numbers, found {given!r}")
    return out


def position(marker: str, target: Any, axes: str = "", weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """The marker is at `target` (mm), on the world axes named in `axes` ("xz"; empty: all)."""
    return Goal("position", marker, _three(target, marker), axes=axes, weight=weight, tolerance=tolerance)


def direction(marker: str, target: Any, axis: Any = (0, 0, 1), weight: float = 20.0, tolerance: float = 0.0) -> Goal:
    """The marker's `axis` (undeformed) points along `target`; the weight is in mm per rad."""
    return Goal("direction", marker, _three(target, marker), _three(axis, "axis"), weight=weight, tolerance=tolerance)


def orientation(marker: str, rotation: Any, weight: float = 20.0, tolerance: float = 0.0) -> Goal:
    """The rotation of the marker from the undeformed configuration: a 3 x 3 matrix or a rotation vector (rad)."""
    given = np.asarray(rotation, dtype=float)
    return Goal(
        "orientation", marker, rotation=given if given.shape == (3, 3) else rotation_of(given), weight=weight,
        tolerance=tolerance,
    )  # fmt: skip


def distance(marker: str, target: Any, value: float, weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """The marker is `value` mm away from `target`."""
    return Goal("distance", marker, _three(target, marker), value=value, weight=weight, tolerance=tolerance)


def shape(points: Union[str, Sequence[int]], places: Any, weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """Body points (numbers, or the name of a surface or region) are at `places`, (n, 3), mm, root mean square."""
    return Goal("shape", points=points, places=np.asarray(places, dtype=float), weight=weight, tolerance=tolerance)


def sensor(name: str, value: float, weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """The sensor reads `value`: mm, mm^3 or kPa."""
    return Goal("sensor", name, value=value, weight=weight, tolerance=tolerance)


def least_effort(actuator: str, value: float = 0.0, weight: float = 1e-3) -> Goal:
    """Among several solutions, the effort close to `value` (N or kPa)."""
    return Goal("effort", actuator, value=value, weight=weight)


def least_energy(weight: float = 1e-3) -> Goal:
    """Among several solutions, the one of least elastic energy."""
    return Goal("energy", weight=weight)


def rotation_of(w: Any) -> Any:
    """The rotation matrix of a rotation vector (rad)."""
    w = _three(w, "rotation vector")
    t = float(np.linalg.norm(w))
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + np.sinc(t / np.pi) * K + 0.5 * np.sinc(t / (2 * np.pi)) ** 2 * K @ K
