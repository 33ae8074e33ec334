"""Files that are replaced whole or not at all, and pickles with a version and a checksum."""
from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from typing import IO, Any, Iterator, Mapping, Sequence, Union

from . import _core

PICKLE_VERSION = 1


@contextlib.contextmanager
def replacing(path: Union[str, "os.PathLike[str]"], mode: str = "w") -> Iterator[IO[Any]]:
    """A file open for writing that takes the place of `path` when all of it is written; after an exception the file at
    `path` is as it was."""
    path = os.fspath(path)
    encoding = None if "b" in mode else "utf-8"
    target = os.path.realpath(path)  # a link keeps pointing to the file
    folder, name = os.path.split(target)
    try:
        if os.path.exists(target) and not os.path.isfile(target):  # a device or a pipe cannot be replaced
            with open(target, mode, encoding=encoding) as file:
                yield file
            return
        handle, part = tempfile.mkstemp(prefix=f".{name[:100]}.", dir=folder or ".")
        try:
            with open(handle, mode, encoding=encoding) as file:
                yield file
                file.flush()
                os.fsync(handle)
            os.chmod(part, _mode(target))
            os.replace(part, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(part)
            raise
    except _core.Error:
        raise
    except OSError as error:
        raise _core.FileError(f"{path}: {error.strerror or error}") from error


def write_arrays(path: str, columns: Mapping[str, Any]) -> None:
    """Arrays by name as .npz; written beside the old file and renamed, so that a full disk leaves the old one as it was."""
    import numpy as np

    with replacing(path, "wb") as file:
        np.savez_compressed(file, **{name: np.asarray(values) for name, values in columns.items()})


def read_text(path: str, errors: str) -> str:
    """The text of a file; pipes and devices are refused at once, except those that a shell makes of <(...)."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe is not waited for
        with open(handle, encoding="utf-8", errors=errors) as file:
            kind = os.fstat(handle).st_mode
            if not stat.S_ISREG(kind) and not path.startswith(("/dev/", "/proc/")):
                what = "named pipe" if stat.S_ISFIFO(kind) else "device"
                raise _core.FileError(f"{path}: is a {what}, expected a file")
            os.set_blocking(handle, True)
            return file.read()
    except _core.Error:  # some of them are errors of the system too
        raise
    except OSError as error:
        raise _core.FileError(f"{path}: {error.strerror}") from error


def _mode(path: str) -> int:
    """Permissions of the file that is replaced, or those of a new one."""
    try:
        return os.stat(path).st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _digest(parts: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def sealed(what: str, *parts: Any) -> tuple[Any, ...]:
    """What a pickle contains: its kind, version, checksum, and the parts (bytes, texts, numbers)."""
    return what, PICKLE_VERSION, _digest(parts), *parts


def unsealed(what: str, given: Sequence[Any]) -> Sequence[Any]:
    """The parts of a pickle; refused if they are damaged or of another version."""
    seal = given[0] if len(given) == 1 else ()
    if not isinstance(seal, tuple) or len(seal) < 3 or seal[0] != what:
        raise _core.FileError(f"the pickle of a {what} has no version: it was written by an older pliant; save it again")
    if seal[1] != PICKLE_VERSION:
        raise _core.FileError(f"the pickle of a {what} has version {seal[1]}, this pliant reads version {PICKLE_VERSION}")
    parts = seal[3:]
    if _digest(parts) != seal[2]:
        raise _core.FileError(f"the pickle of a {what} is damaged: its checksum does not match")
    return parts
