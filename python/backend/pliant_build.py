"""The build backend of `pip install .` and `pip wheel .` (PEP 517): CMake builds the module and the command, this file packs
the wheel with the page of the view. No network: three.js is taken from web/node_modules (tools/install-web).

Settings of pip's --config-settings: build-dir=FOLDER builds in that folder (default: build-pip), jobs=N.
"""
from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _project() -> dict:
    with open(os.path.join(_ROOT, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def _build(settings: dict) -> str:
    """Builds module and command; returns the folder of the build."""
    folder = os.path.join(_ROOT, settings.get("build-dir", "build-pip"))
    # pip hides the packages of the system from its own Python; the build may look for them
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    if "build-dir" not in settings or not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        configure = [
            "cmake", "-S", _ROOT, "-B", folder, "-DPLIANT_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release",
            "-DPLIANT_PYTHON_INCLUDE=" + sysconfig.get_paths()["include"],
        ]  # fmt: skip
        if subprocess.run(["ninja", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            configure += ["-G", "Ninja"]
        subprocess.run(configure, check=True, env=env)
    jobs = settings.get("jobs", str(os.cpu_count() or 1))
    if not os.path.exists(os.path.join(_ROOT, "web", "node_modules", "three")):
        print("pliant: three.js is not there (tools/install-web): the wheel has no view", file=sys.stderr)
    targets = ["python_module", "pliant_command"]
    subprocess.run(["cmake", "--build", folder, "--target", *targets, "-j", jobs], check=True, env=env)
    return folder


def _read(name: str) -> str:
    with open(os.path.join(_ROOT, name), encoding="utf-8") as file:
        return file.read()


def _metadata(project: dict) -> str:
    lines = [
        "Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
        f"Summary: {project['description']}", f"License: {project['license']['text']}", "License-File: LICENSE",
        *(f"Author: {a['name']}" for a in project["authors"]), f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {c}" for c in project["classifiers"]), f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {d}" for d in project["dependencies"]), "Description-Content-Type: text/markdown",
    ]  # fmt: skip
    return "\n".join(lines) + "\n\n" + _read(project["readme"])


def _about(project: dict) -> dict[str, str]:
    """The files of the dist-info folder but RECORD."""
    scripts = "".join(f"{name} = {where}\n" for name, where in project["scripts"].items())
    return {
        "METADATA": _metadata(project),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: pliant_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n",
        "entry_points.txt": "[console_scripts]\n" + scripts,
        "LICENSE": _read("LICENSE"),
    }


def _tag() -> str:
    return "cp311-abi3-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = _project()
    folder = _build(config_settings or {})
    package = os.path.join(folder, "python", "pliant")
    info = f"{project['name']}-{project['version']}.dist-info"
    name = f"{project['name']}-{project['version']}-{_tag()}.whl"
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def put(path: str, data: bytes, mode: int = 0o644) -> None:
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")

        for inside, folders, files in os.walk(package):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for file in sorted(files):
                path = os.path.join(inside, file)
                with open(path, "rb") as data:
                    put("pliant/" + os.path.relpath(path, package), data.read(), 0o755 if file.endswith(".so") else 0o644)
        with open(os.path.join(folder, "pliant"), "rb") as data:
            put("pliant/bin/pliant", data.read(), 0o755)
        for file, text in _about(project).items():
            put(f"{info}/{file}", text.encode())
        record.append(f"{info}/RECORD,,")
        wheel.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    project = _project()
    info = f"{project['name']}-{project['version']}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info), exist_ok=True)
    for file, text in _about(project).items():
        with open(os.path.join(metadata_directory, info, file), "w", encoding="utf-8") as out:
            out.write(text)
    return info


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    base = f"{project['name']}-{project['version']}"
    listed = subprocess.run(["git", "ls-files"], cwd=_ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as out:
        for path in filter(None, listed):
            out.add(os.path.join(_ROOT, path), os.path.join(base, path), recursive=False)
    return base + ".tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


if __name__ == "__main__":
    print(build_wheel(sys.argv[1], {"build-dir": sys.argv[2]} if len(sys.argv) > 2 else None))
