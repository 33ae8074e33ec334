"""Where the program `pliant` is, and what it needs to find the page of this package."""
from __future__ import annotations

import os
import shutil
from typing import Optional


def command() -> Optional[str]:
    """The program: the one PLIANT_COMMAND names, that of this package, or the installed one; None: there is none."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pliant")
    return os.environ.get("PLIANT_COMMAND") or (own if os.access(own, os.X_OK) else shutil.which("pliant"))


def environment() -> dict[str, str]:
    """Of the program: PLIANT_WEB is the page of this package, unless it is set."""
    web = os.path.join(os.path.dirname(os.path.abspath(__file__)), "web")
    out = dict(os.environ)
    if os.path.exists(os.path.join(web, "three", "build")):
        out.setdefault("PLIANT_WEB", web)
    return out
