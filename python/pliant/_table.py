"""Tables with a plain and a rich display, and small helpers for names."""
from __future__ import annotations

import html
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Optional, Sequence, TypeVar

import numpy as np

from . import _core

V = TypeVar("V")


def array(given: Any) -> Any:
    """A view of an array of the library, without a copy."""
    return np.asarray(given)


def fixed(given: Any) -> Any:
    """The numbers in memory that cannot be written: results are records of what was computed; a copy may be changed."""
    return np.frombuffer(given.tobytes(), given.dtype).reshape(given.shape)


def sealed_array(given: Any) -> Any:
    """The same array, read-only from now on; for one that nobody else holds."""
    given.flags.writeable = False
    return given


class _Made(ABCMeta):
    """Notes when a record is complete: its own ``__init__`` and those of its bases have run."""

    def __call__(cls, *given: Any, **named: Any) -> Any:
        made = super().__call__(*given, **named)
        object.__setattr__(made, "_made", True)
        return made


class Record(metaclass=_Made):
    """What was computed, or a robot: its attributes cannot be assigned, neither those it has nor misspelt ones.

    >>> try:
    ...     pliant.testing.arm().rest.forcse = 3
    ... except AttributeError as error:
    ...     print(error)
    State has no attribute 'forcse'; did you mean 'forces'?
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # where a class has __setattr__, type checkers accept every name

        def __setattr__(self, name: str, value: Any) -> None:
            if name.startswith("_") or not getattr(self, "_made", False):
                object.__setattr__(self, name, value)
                return
            kind, names = type(self).__name__, [n for n in dir(self) if not n.startswith("_")]
            if name in names:
                raise AttributeError(f"{kind}.{name} cannot be assigned: it was computed or read, and stays as it is")
            near = _core.nearest(name, names)
            raise AttributeError(f"{kind} has no attribute '{name}'" + (f"; did you mean '{near}'?" if near else ""))


class UnknownNameError(_core.InputError, KeyError):
    """A name that the robot does not have; also a KeyError.

    >>> pliant.testing.arm().rest.markers.get("top") is None
    True
    >>> try:
    ...     pliant.testing.arm().rest["tp"]
    ... except KeyError as error:
    ...     print(str(error).splitlines()[0])
    the robot has no marker, actuator or sensor 'tp'; did you mean 'tip'?
    """

    def __str__(self) -> str:
        return str(self.args[0])


def unknown(what: str, name: Any, known: Iterable[str]) -> UnknownNameError:
    """The sentence of the command about a name that does not exist."""
    names = list(known)
    near = _core.nearest(name, names) if isinstance(name, str) else None
    text = f"the robot has no {what} '{name}'" + (f"; did you mean '{near}'?" if near else "")
    advice = "it has " + ", ".join(names) if names else "it has none"
    return UnknownNameError(f"{text}\n    {advice}")


def unknown_heading(heading: Any, known: Sequence[str]) -> UnknownNameError:
    """A column that a table does not have."""
    return UnknownNameError(f"the table has no column '{heading}'\n    it has " + ", ".join(known))


class Named(Record, Mapping[str, V]):
    """Values by name, in the order of the robot file."""

    def __init__(self, what: str, values: Mapping[str, V]) -> None:
        self._what = what
        self._values = dict(values)

    def __getitem__(self, name: str) -> V:
        try:
            return self._values[name]
        except (KeyError, TypeError):
            raise unknown(self._what, name, self._values) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._values)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k}: {v!r}" for k, v in self._values.items()) + "}"


def number(value: Any) -> str:
    """A number as people read it."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


class Table(Record):
    """Rows of cells under headings."""

    def __init__(self, head: Sequence[str], rows: Sequence[Sequence[Any]], title: Optional[str] = None) -> None:
        self.head = list(head)
        self.rows = [list(row) for row in rows]
        self.title = title

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.rows)

    def __getitem__(self, heading: str) -> list[Any]:
        """A column by its heading.

        >>> "bending_finger" in pliant.designs()["design"]
        True
        """
        if heading not in self.head:
            raise unknown_heading(heading, self.head)
        return [row[self.head.index(heading)] for row in self.rows]

    def _ipython_key_completions_(self) -> list[str]:
        return self.head

    def __repr__(self) -> str:
        cells = [self.head] + [[number(cell) for cell in row] for row in self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.head))]
        right = [all(not isinstance(row[k], str) for row in self.rows) for k in range(len(self.head))]
        lines = ["  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)).rstrip() for row in cells]
        return "\n".join(([self.title, ""] if self.title else []) + lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(str(c))}</th>" for c in self.head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(number(c))}</td>" for c in row) + "</tr>" for row in self.rows
        )
        title = f"<p>{html.escape(self.title)}</p>" if self.title else ""
        return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; needs pandas."""
        import pandas  # type: ignore[import]

        return pandas.DataFrame(self.rows, columns=self.head)
