"""The stable shapes at given commands, as `pliant shapes` finds them."""
from __future__ import annotations

import glob
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Union

from ._command import call, mesh_options, option, robot_file
from ._table import Record, Table

if TYPE_CHECKING:
    from ._robot import Robot
    from ._state import State


@dataclass(frozen=True)
class Shape:
    """A stable shape. It is stable between two loads, fractions of the commands (of the dead loads, if none is set)."""

    state: "State"
    energy: float  #: mJ, elastic
    above_lowest: float  #: mJ, potential of body and loads above that of the lowest shape
    softest: Optional[float]  #: N/mm, stiffness of the softest mode
    load_from: Optional[float]  #: fraction of the load; None: not known
    load_to: Optional[float]  #: fraction of the load; None: not known
    appears: str  #: "limit", "bifurcation", "continues" (down to no load) or "unknown"
    disappears: str  #: "limit", "bifurcation", "continues" (as far as it was followed) or "unknown"
    found_by: str  #: load path, other commands, branch, mode or deflation
    image_of: Optional[int]  #: index of the shape that it is an image of
    image: Optional[str]  #: by which map, "mirrored in y"


class Shapes(Record):
    """Stable shapes, lowest potential first: a sequence of Shape."""

    def __init__(self, robot: "Robot", record: Mapping[str, Any], states: list["State"]) -> None:
        self.robot = robot
        self.search: dict[str, Any] = dict(record["search"])  #: counts of the search, and whether it was complete
        self._shapes = [
            Shape(
                state, s["energy_mj"], s["above_lowest_mj"], s["softest_n_per_mm"], s["from"]["load"], s["to"]["load"], s["from"]["end"],
                s["to"]["end"], s["found_by"], None if s["image_of"] is None else s["image_of"] - 1, s["image"],
            )  # fmt: skip
            for s, state in zip(record["shapes"], states)
        ]

    def __len__(self) -> int:
        return len(self._shapes)

    def __getitem__(self, i: int) -> Shape:
        return self._shapes[i]

    def __iter__(self) -> Iterator[Shape]:
        return iter(self._shapes)

    def _table(self) -> Table:
        head = ["energy [mJ]", "above lowest [mJ]", "from", "to", "found by", "image"]
        rows = [(s.energy, s.above_lowest, _number(s.load_from), _number(s.load_to), s.found_by, s.image or "") for s in self]
        return Table(head, rows, f"{self.robot.name}: {len(self)} stable shapes")

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()


def _number(value: Optional[float]) -> float:
    return float("nan") if value is None else value


def shapes(robot: "Robot", commands: Mapping[str, Union[str, float]], modes: Optional[int], up_to: Optional[float], branches: bool, beyond_range: bool) -> Shapes:
    """See Robot.shapes."""
    arguments: list[str] = []
    for name, value in commands.items():
        arguments += ["--set", f"{name}={value}"]
    arguments += option("modes", modes) + option("up-to", up_to) + option("no-branches", not branches) + option("beyond-range", beyond_range)
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        place = os.path.join(folder, "shape.state")
        _, record, _ = call(["shapes", robot_file(robot, folder), *arguments, "--save-state", place, *mesh_options(robot)])
        count = len(glob.glob(os.path.join(folder, "shape-*.state")))
        states = [robot.load_state(os.path.join(folder, f"shape-{k + 1}.state")) for k in range(count)]
    return Shapes(robot, record, states)
