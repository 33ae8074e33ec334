"""Small robots for tests and for the examples of the documentation: they load and solve in milliseconds (``finger``: about
a second with its mesh), are the same at every call and need no files.

    from pliant.testing import arm
    s = arm().solve(t1=2)
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any

from ._robot import Robot, design, load

__all__ = ["arcs", "arm", "bar", "beam", "finger", "segment", "trunk"]


def _line(kind: str, pieces: str) -> dict[str, Any]:
    tendon: dict[str, Any] = {"radius": 5, "drive": "tension", "range": [0, 10]}
    string: dict[str, Any] = {"kind": "length", "radius": 6, "noise": 0.02}
    section: dict[str, Any] = {"name": "s", "length": 100, "diameter": 14, "young": "1 MPa", "poisson": 0.45, pieces: 20}
    return {
        "pliant": 1,
        "name": "arm" if kind == "rod" else "arcs",
        "model": {
            "kind": kind,
            "sections": [section],
            "tendons": [{"name": f"t{k + 1}", "angle": f"{120 * k} deg", **tendon} for k in range(3)],
        },
        "markers": {"tip": {"at": 100}},
        "sensors": [
            *({"name": f"s{k + 1}", "angle": f"{45 + 120 * k} deg", **string} for k in range(3)),
            *({"name": f"s{k + 4}", "angle": f"{120 * k} deg", "to": 50, **string} for k in range(3)),
        ],
    }


@lru_cache(maxsize=None)
def arm() -> Robot:
    """A rod of 100 mm with three tendons (t1 to t3, 0 to 10 N), six strings and a marker `tip`.

    >>> arm().solve(t1=2)["tip"].position[[0, 2]].round(3)
    array([25.563, 94.139])
    """
    return load(_line("rod", "elements"))


@lru_cache(maxsize=None)
def arcs() -> Robot:
    """The same as an arc of constant curvature.

    >>> arcs().kind
    'constant_curvature'
    """
    return load(_line("constant_curvature", "arcs"))


@lru_cache(maxsize=None)
def segment() -> Robot:
    """The segment with three chambers of Lindenroth et al. 2016, as a beam (chamber1 to chamber3, kPa).

    >>> list(segment().commands)
    ['chamber1', 'chamber2', 'chamber3']
    """
    return design("segment_beam")


@lru_cache(maxsize=None)
def trunk() -> Robot:
    """A trunk of two sections of constant curvature with six lengths (l1 to l6, mm).

    >>> len(trunk().commands)
    6
    """
    return design("trunk_cc")


@lru_cache(maxsize=None)
def bar() -> Robot:
    """A full body: a rubber bar of 40 mm, held at one end, 1 mN at the other; a coarse mesh of linear elements.

    >>> bar().solve().converged
    True
    """
    return load(
        {
            "pliant": 1,
            "name": "bar",
            "mesh": {"design": {"kind": "beam", "length": 40}, "size": 8, "order": 1},
            "materials": {"rubber": {"model": "neo_hookean", "c10": "0.1 MPa"}},
            "regions": {"body": "rubber"},
            "fixed": [{"surface": "base"}],
            "markers": {"tip": {"surface": "tip"}},
            "loads": {"forces": [{"marker": "tip", "force": [0, 0, -0.001]}]},
        }
    )


@lru_cache(maxsize=None)
def beam() -> Robot:
    """A full body with a density, for motions: the design `beam` (tendon, mm of shortening) with a coarse mesh.

    >>> list(beam().commands)
    ['tendon']
    """
    return design("beam", size=30, order=2)


@lru_cache(maxsize=None)
def finger() -> Robot:
    """A full body: the design `cable_finger` with a coarse mesh of linear elements (flexor, left, right, mm of shortening).

    >>> list(finger().commands)
    ['flexor', 'left', 'right']
    """
    return design("cable_finger", size=8, order=1)
