"""python -m pliant: the command, with the page of this package."""
from __future__ import annotations

import os
import sys

from ._program import command, environment


def main() -> None:
    """Runs the program in place of this one."""
    program = command()
    if program is None:
        sys.exit("pliant: error: the command is not there: install the package pliant, or name it in PLIANT_COMMAND")
    os.execve(program, ["pliant", *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
