"""Progress of long computations: a bar in a terminal or a notebook, nothing elsewhere."""
from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Union

Callback = Callable[[float, str], Any]
#: ``None``: a bar where a person can see it; ``False``: none; a function ``f(fraction, text)``: called ten times per
#: second at most, stops the computation by returning ``False``.
Progress = Union[None, bool, Callback]

_AFTER = 1.0  # s before a bar appears


def _notebook() -> Any:
    """IPython's display function in a notebook, otherwise None."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return None
    running = shell.get_ipython()
    if running is None or type(running).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import]

    return display


class _Bar:
    """A bar on standard error, or an HTML progress element in a notebook."""

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.handle: Any = None
        self.shown = False

    def __call__(self, fraction: float, text: str) -> bool:
        if time.monotonic() - self.begin < _AFTER:
            return True
        display = _notebook()
        if display is not None:
            from IPython.display import HTML

            value = f' value="{fraction:.3f}"' if fraction >= 0 else ""
            html = HTML(f"<progress{value}></progress> {text}")
            if self.handle is None:
                self.handle = display(html, display_id=True)
            else:
                self.handle.update(html)
        elif sys.stderr.isatty():
            width = 30
            done = int(width * min(max(fraction, 0.0), 1.0))
            bar = "#" * done + "." * (width - done) if fraction >= 0 else "." * width
            sys.stderr.write(f"\r[{bar}] {text[:40]:<40}")
            sys.stderr.flush()
        self.shown = True
        return True

    def close(self) -> None:
        if self.shown and self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))
        elif self.shown:
            sys.stderr.write("\r" + 75 * " " + "\r")
            sys.stderr.flush()


class Shown:
    """``with Shown(progress) as callback``: what to hand to the library."""

    def __init__(self, progress: Progress) -> None:
        self.bar: Optional[_Bar] = None
        self.callback: Optional[Callback] = None
        if callable(progress):
            self.callback = progress
        elif progress is True or (progress is None and (sys.stderr.isatty() or _notebook() is not None)):
            self.bar = _Bar()
            self.callback = self.bar

    def __enter__(self) -> Optional[Callback]:
        return self.callback

    def __exit__(self, *unused: object) -> None:
        if self.bar is not None:
            self.bar.close()
