"""Pliant: the kinematics of soft robots.

    import pliant as pl
    r = pl.design("bending_finger", length=100)     # or pl.load("finger.yaml"), or a dictionary
    s = r.solve(air="30 kPa")                       # a text with a unit, or a number in the command's unit
    s["tip"].position, s["air"].effort, s.converged
    s.jacobian("tip", wrt="air")                    # exact, mm per kPa

Robots are immutable and may be used by several threads; every solve gives a new State. Lengths are in mm, forces in N,
pressures in kPa, stresses and moduli in MPa, volumes in mm^3, angles in rad unless a name says otherwise.
"""
from __future__ import annotations

from typing import Any, Optional, Sequence

from . import _core, _goal as goal
from ._calibrate import Fit, Tensile, syringe, tensile
from ._command import Loop, Margin, Plant, Reading, Run, Study, Tick
from ._core import Error, FileError, InputError, NoMemoryError, SolverError, StoppedError
from ._measure import Cameras, Cycles, Modes, Ratio, Relaxation, Release, Track, cameras, cycles, ratio, relaxation
from ._results import IK, Bound, Comparison, Path, Solutions, Task, Workspace
from ._robot import Command, Dataset, Estimate, Finding, Learned, Reduced, Robot, design, guess, load
from ._shapes import Shape, Shapes
from ._simulate import Motion
from ._state import Actuator, Compliance, Interrupted, Marker, Mesh, ModelError, NotSolvedError, Picture, Reaction, Report, Sensor, State
from ._table import Table, UnknownNameError, array as _array

__version__: str = _core.version
__all__ = [
    "Actuator", "Bound", "Cameras", "Command", "Comparison", "Compliance", "Cycles", "Dataset", "Env", "Error", "Estimate", "FileError", "Finding", "Fit", "IK", "InputError",
    "Interrupted", "Learned", "Loop", "Margin", "Marker", "Mesh", "ModelError", "Modes", "NoMemoryError", "NotSolvedError", "Path", "Picture", "Plant", "Ratio", "Reaction", "Reading", "Reduced",
    "Relaxation", "Release", "Motion", "Report", "Robot", "Run", "Sensor", "Shape", "Shapes", "Solutions", "SolverError", "State", "StoppedError", "Study", "Table", "Task", "Tensile", "Tick", "Track",
    "UnknownNameError", "Workspace",
    "cameras", "cycles", "design", "designs", "goal", "guess", "load", "materials", "path", "ratio", "relaxation", "syringe", "tensile", "threads", "torch_solve",
]  # fmt: skip


def designs() -> Table:
    """The designs and their parameters (defaults in mm).

    >>> pliant.designs().head
    ['design', 'what it is', 'parameters']
    """
    rows = [
        [kind, summary, ", ".join(f"{p[0]}={p[3]:g}" for p in parameters)]
        for kind, summary, _, parameters in _core.designs()
    ]
    return Table(["design", "what it is", "parameters"], rows)


def materials() -> Table:
    """The material library: names for `use:` in a robot file, constants in MPa.

    >>> pliant.materials().head[0], len(pliant.materials()) > 10
    ('name', True)
    """
    rows = []
    for name, title, material, _, strain, error, source in _core.materials():
        constants = ", ".join(f"{k} {v:.4g}" for k, v in material.items() if k not in ("model", "poisson", "density"))
        rows.append([name, title, material["model"], constants, strain, error if error >= 0 else float("nan"), source])
    return Table(["name", "product", "model", "constants MPa", "fitted to strain", "fit error", "source"], rows)


def path(
    kind: str,
    centre: Sequence[float] = (0, 0, 0),
    size: Any = 20.0,
    x: Sequence[float] = (1, 0, 0),
    y: Sequence[float] = (0, 1, 0),
    count: int = 60,
) -> Any:
    """Points of a named path, (count, 3) mm: circle, eight, flower, square, ell, flame, line, box.

    size: diameter or width, or (width, height, depth); x, y: the axes of its plane.

    >>> p = pliant.path("circle", (100, 0, 0), 20, count=8)
    >>> bool(np.allclose(np.linalg.norm(p - [100, 0, 0], axis=1), 10))
    True
    """
    three = tuple(float(v) for v in (size if hasattr(size, "__len__") else (size,)))
    three = (three + (0.0, 0.0))[:3]
    return _array(_core.path(kind, tuple(map(float, centre)), three, tuple(map(float, x)), tuple(map(float, y)), int(count)))


def threads(count: Optional[int] = None) -> int:
    """Number of threads of the library inside one solve (0: all processors); results do not depend on it.

    >>> pliant.threads() >= 1
    True
    """
    return _core.threads(count)


def __getattr__(name: str) -> Any:
    # what needs other packages is loaded when it is asked for
    if name == "Env":
        from ._env import Env

        return Env
    if name == "torch_solve":
        from ._torch import torch_solve

        return torch_solve
    raise AttributeError(f"module 'pliant' has no attribute '{name}'")
