"""python -m pliant: the command, with the page of this package."""
from __future__ import annotations

import os
import shutil
import sys
from typing import Optional


def command() -> Optional[str]:
    """The program `pliant`: the one PLIANT_COMMAND names, that of this package, or the installed one; None: there is none."""
    here = os.path.dirname(os.path.abspath(__file__))
    own = os.path.join(here, "bin", "pliant")
    return os.environ.get("PLIANT_COMMAND") or (own if os.access(own, os.X_OK) else shutil.which("pliant"))


def environment() -> dict[str, str]:
    """Of the program: where its page is, unless it is told."""
    web = os.path.join(os.path.dirname(os.path.abspath(__file__)), "web")
    out = dict(os.environ)
    if os.path.exists(os.path.join(web, "three", "build")):
        out.setdefault("PLIANT_WEB", web)
    return out


def main() -> None:
    """Runs the program in place of this one."""
    program = command()
    if program is None:
        sys.exit("pliant: error: the command is not there: install the package pliant, or name it in PLIANT_COMMAND")
    os.execve(program, ["pliant", *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
