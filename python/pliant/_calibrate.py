"""Parameters from measurements."""
from __future__ import annotations

import os
from typing import Any, Union

from . import _core
from ._table import Table, array


def _read(path: Union[str, "os.PathLike[str]"]) -> tuple[str, str]:
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8", errors="replace") as file:
            return file.read(), name
    except OSError as error:
        raise _core.FileError(f"{name}: {error.strerror}") from error


class Tensile:
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
    """Fits a material to a tensile test (CSV of strain and stress); strain: fit up to here (0: all)."""
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
