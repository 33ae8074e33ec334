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
    target: Any = (0.0, 0.0, 0.0)  #: mm; a direction: any length
    axis: Any = (0.0, 0.0, 0.0)  #: of the marker, any length, without unit
    rotation: Any = field(default_factory=lambda: np.eye(3))  #: 3 x 3 matrix
    value: float = 0.0  #: a distance in mm; a sensor, an effort: mm, mm^3, N or kPa
    weight: float = 1.0  #: without unit; mm per rad for directions and orientations
    tolerance: float = 0.0  #: mm; directions and orientations: rad; in the unit of `value`; 0: the default
    axes: str = ""
    points: Any = None  #: body points: a name of a surface or region, or numbers
    places: Any = None  #: (n, 3), mm


def _three(given: Any, what: str) -> Any:
    out = np.asarray(given, dtype=float)
    if out.shape != (3,) or not np.isfinite(out).all():
        raise _core.InputError(f"{what}: expected three numbers, found {given!r}")
    return out


def position(marker: str, target: Any, axes: str = "", weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """The marker is at `target` (mm), on the world axes named in `axes` ("xz"; empty: all); tolerance: mm.

    >>> pliant.testing.arm().ik(goals=[pliant.goal.position("tip", (10, 5, 0), axes="xy")]).reached
    True
    """
    return Goal("position", marker, _three(target, marker), axes=axes, weight=weight, tolerance=tolerance)


def direction(marker: str, target: Any, axis: Any = (0, 0, 1), weight: float = 20.0, tolerance: float = 0.0) -> Goal:
    """The marker's `axis` (undeformed) points along `target`; the weight is in mm per rad, the tolerance in rad.

    >>> q = pliant.testing.arm().ik(goals=[pliant.goal.direction("tip", (0.2, 0, 1))])
    >>> q.reached, (q.state["tip"].rotation @ [0, 0, 1]).round(2).tolist()
    (True, [0.2, 0.0, 0.98])
    """
    return Goal("direction", marker, _three(target, marker), _three(axis, "axis"), weight=weight, tolerance=tolerance)


def orientation(marker: str, rotation: Any, weight: float = 20.0, tolerance: float = 0.0) -> Goal:
    """The rotation of the marker from the undeformed configuration: a 3 x 3 matrix or a rotation vector (rad); weight: mm
    per rad, tolerance: rad.

    >>> pliant.testing.arm().ik(goals=[pliant.goal.orientation("tip", (0, 0.2, 0))]).reached
    True
    """
    given = np.asarray(rotation, dtype=float)
    return Goal(
        "orientation", marker, rotation=given if given.shape == (3, 3) else rotation_of(given), weight=weight,
        tolerance=tolerance,
    )  # fmt: skip


def distance(marker: str, target: Any, value: float, weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """The marker is `value` mm away from `target` (mm); tolerance: mm.

    >>> q = pliant.testing.arm().ik(goals=[pliant.goal.distance("tip", (30, 0, 90), 20)])
    >>> q.reached, round(float(np.linalg.norm(q.state["tip"].position - [30, 0, 90])), 1)
    (True, 20.0)
    """
    return Goal("distance", marker, _three(target, marker), value=value, weight=weight, tolerance=tolerance)


def shape(points: Union[str, Sequence[int]], places: Any, weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """Body points (numbers, or the name of a surface or region) are at `places`, (n, 3), mm, root mean square; tolerance: mm.

    >>> pliant.goal.shape([0, 1], pliant.testing.finger().mesh.rest[:2]).places.shape
    (2, 3)
    """
    return Goal("shape", points=points, places=np.asarray(places, dtype=float), weight=weight, tolerance=tolerance)


def sensor(name: str, value: float, weight: float = 1.0, tolerance: float = 0.0) -> Goal:
    """The sensor reads `value`: mm, mm^3, kPa or N; the tolerance in the same unit.

    >>> q = pliant.testing.arm().ik(goals=[pliant.goal.sensor("s1", 96)])
    >>> q.reached, round(q.state.sensors["s1"].value, 1)
    (True, 96.0)
    """
    return Goal("sensor", name, value=value, weight=weight, tolerance=tolerance)


def least_effort(actuator: str, value: float = 0.0, weight: float = 1e-3) -> Goal:
    """Among several solutions, the effort close to `value` (N or kPa).

    >>> goals = [pliant.goal.position("tip", (10, 5, 0), axes="xy"), pliant.goal.least_effort("t1")]
    >>> pliant.testing.arm().ik(goals=goals).reached
    True
    """
    return Goal("effort", actuator, value=value, weight=weight)


def least_energy(weight: float = 1e-3) -> Goal:
    """Among several solutions, the one of least elastic energy.

    >>> pliant.goal.least_energy().kind
    'energy'
    """
    return Goal("energy", weight=weight)


def rotation_of(w: Any) -> Any:
    """The rotation matrix of a rotation vector (rad).

    >>> pliant.goal.rotation_of((0, 0, np.pi / 2)).round(6).tolist()[0]
    [0.0, -1.0, 0.0]
    """
    w = _three(w, "rotation vector")
    t = float(np.linalg.norm(w))
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + np.sinc(t / np.pi) * K + 0.5 * np.sinc(t / (2 * np.pi)) ** 2 * K @ K
