"""The interactive view of a shape: the page of `pliant serve` with its scripts and one shape inside, no server needed.

The page speaks the protocol of docs/reference/protocol.md. Here a small stand-in for its WebSocket plays the messages that a server
would send for one solved shape; between solved shapes the page predicts from the tangent, and says so.
"""
from __future__ import annotations

import base64
import html
import json
import os
import re
import subprocess
import tempfile
import zlib
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _core, _program
from ._files import replacing
from ._table import array

if TYPE_CHECKING:
    from ._robot import Robot
    from ._state import State

_TYPES = {"f": 1, "I": 2, "H": 3, "B": 4}


def _web() -> str:
    """The folder of the page: beside this file, or where `make install` puts it."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.path.join(here, "web"), "/usr/share/pliant/web", "/usr/local/share/pliant/web"):
        if os.path.exists(os.path.join(folder, "index.html")) and os.path.exists(os.path.join(folder, "three", "build")):
            return folder
    raise _core.FileError("the page of the view is not there: three.js was missing when Pliant was built (tools/install-web)")


def _pack(kind: int, head: dict[str, Any], arrays: list[tuple[str, Any]]) -> bytes:
    """A binary message of the protocol."""
    text = json.dumps(head, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    out = [b"PLV1", np.array([kind, len(text), len(arrays)], "<u4").tobytes()]
    for name, values in arrays:
        out.append(name.encode().ljust(8, b"\0") + np.array([_TYPES[values.dtype.char], values.size], "<u4").tobytes())
    out.append(text)
    for _, values in arrays:
        data = values.tobytes()
        out.append(data + b"\0" * (-len(data) % 4))
    return b"".join(out)


def _clean(value: Any) -> Any:
    """Without numbers JSON does not know."""
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return _clean(value.tolist())
    return value


def _robot_message(state: "State", record: dict[str, Any]) -> dict[str, Any]:
    robot, mesh = state.robot, state.mesh
    materials = robot._first.region_materials()
    kinds = {"cable": "tension", "chamber": "pressure_kpa", "film": "maxwell_stress_kpa"}
    return {
        "type": "robot", "robot": 1, "ok": True, "name": robot.name, "model": robot.kind, "method": robot.method,
        "file": robot.source.path or robot.name, "hash": robot.hash,
        "low": mesh.rest.min(0), "high": mesh.rest.max(0),
        "commands": [
            {"name": c.name, "drive": c.drive, "unit": "" if c.unit == "1" else c.unit, "low": c.span[0],
             "high": c.span[1], "rest": min(max(c.rest, c.span[0]), c.span[1]), "assumed": c.range is None}
            for c in robot.commands.values()
        ],
        "actuators": [
            {"name": a["name"], "kind": a["kind"], "drive": a["drive"], "effort": kinds[a["kind"]],
             "unit": a["effort_unit"], "command": a["command"], "rest": a["rest"] * a["measure_scale"]}
            for a in robot._info["actuators"]
        ],
        "markers": [{"name": m["name"], "rest": list(m["rest"])} for m in robot._info["markers"]],
        "sensors": [{"name": s["name"], "unit": s["unit"]} for s in robot._info["sensors"]],
        "regions": [
            {"name": name, "material": (materials[k] if k < len(materials) else None) or "",
             "volume": mesh.core.volume(k)}
            for k, name in enumerate(mesh.region_names)
        ],
        "findings": [
            {"severity": f.severity, "text": f.text, "advice": f.advice, "file": f.file, "line": f.line}
            for f in robot.findings
        ],
    }  # fmt: skip


def _outline(faces: Any) -> Any:
    """Pieces of the edges of faces (3, 6, 4 or 8 nodes), each once."""
    count = (faces >= 0).sum(1)
    rings = {3: [0, 1, 2], 6: [0, 3, 1, 4, 2, 5], 4: [0, 1, 2, 3], 8: [0, 4, 1, 5, 2, 6, 3, 7]}
    pieces = []
    for nodes, ring in rings.items():
        some = faces[count == nodes]
        for a, b in zip(ring, ring[1:] + ring[:1]):
            pieces.append(some[:, [a, b]])
    return np.unique(np.sort(np.concatenate(pieces), axis=1), axis=0)


def _mesh_message(state: "State") -> bytes:
    mesh, robot = state.mesh, state.robot
    corners, regions = (array(a) for a in mesh.core.triangles(-1))
    cells, cell_regions = (array(a) for a in mesh.core.cells())
    chambers, walls, start = [], [], 0
    for k in range(len(robot.actuators)):
        faces = array(robot._first.actuator_faces(k))
        if len(faces):
            some = array(mesh.core.triangles(np.ascontiguousarray(faces))[0])
            chambers.append({"actuator": k, "start": start, "count": len(some)})
            walls.append(some)
            start += len(some)
    wall = np.concatenate(walls) if walls else np.zeros((0, 3))
    head = {"mesh": 1, "level": "fine", "vertices": len(mesh.rest), "elements": len(mesh.kind), "chambers": chambers}
    return _pack(
        1,
        head,
        [
            ("rest", mesh.rest.astype("f4")), ("tri", corners.astype("u4")), ("region", regions.astype("u1")),
            ("edge", _outline(array(mesh.core.faces(-1))).astype("u4")), ("cell", cells.astype("u4")),
            ("cellreg", cell_regions.astype("u1")), ("chamber", wall.astype("u4")),
        ],
    )  # fmt: skip


def _shape_message(state: "State", record: dict[str, Any]) -> bytes:
    mesh = state.mesh
    ranges: dict[str, list[float]] = {}
    fields: list[tuple[str, Any]] = []
    for name, field, scale, shift in (("strain", "stretch", 100, -100), ("stress", "von_mises", 1000, 0), ("J", "J", 1, 0)):
        if field not in state.fields:
            fields.append((name, np.zeros(0, "u2")))
            continue
        values = np.array(state.fields[field])
        if len(values) != len(mesh.points):
            total, count = np.zeros(len(mesh.points)), np.zeros(len(mesh.points))
            np.add.at(total, mesh.node, np.repeat(values, np.diff(mesh.node_start)))
            np.add.at(count, mesh.node, 1)
            values = np.where(count > 0, total / np.maximum(count, 1), 1)
        values = values * scale + shift
        low, high = float(values.min()), float(values.max())
        ranges[name] = [low, high]
        fields.append((name, np.round((values - low) / max(high - low, 1e-300) * 65535).astype("u2")))
    cables, points, start = [], [], 0
    for k, name in enumerate(state.robot.actuators):
        line = state.line(name)
        if len(line):
            cables.append({"actuator": k, "start": start, "count": len(line)})
            points.append(line)
            start += len(line)
    cable = np.concatenate(points) if points else np.zeros((0, 3))
    head = _clean(
        {"robot": 1, "mesh": 1, "level": "fine", "shape": 1, "serial": 0, "seconds": state._report[9], "record": record,
         "ranges": ranges, "cables": cables}
    )  # fmt: skip
    return _pack(2, head, [("x", mesh.points.astype("f4")), *fields, ("cable", cable.astype("f4"))])


_LINES = ("rod", "beam", "constant_curvature", "vertebrae")


def _tube_slopes(state: "State", active: list[int]) -> Any:
    """Derivatives of the vertices of a drawn tube, (3 n, commands), internal units: central differences of solves, which
    take microseconds."""
    robot = state.robot
    out = np.zeros((state.mesh.points.size, len(robot.commands)))
    for j in active:
        command = list(robot.commands.values())[j]
        value = float(state._part("command")[j]) / command.scale
        h = 1e-4 * (command.span[1] - command.span[0])
        ends = [state.solve({command.name: value + side * h}, beyond_range=True).mesh.points for side in (1, -1)]
        out[:, j] = (ends[0] - ends[1]).reshape(-1) / (2 * h * command.scale)
    return out


def _tangent_message(state: "State") -> Optional[bytes]:
    robot = state.robot
    info = robot._info
    line = robot.kind in _LINES
    if not line and (robot.kind != "full" or robot.method != "exact") or not 0 < len(robot.commands) <= 8:
        return None
    given = state._part("command")
    active = [j for j in range(len(given)) if not np.isnan(given[j])]
    if not active:
        return None
    with state._model() as model:
        found = {k: array(v) for k, v in model.differentiate(1 | 8 | 16 | (0 if line else 32), 0.0)[0].items()}
    if line:
        found["point"] = _tube_slopes(state, active)
    scales = [c.scale for c in robot.commands.values()]
    efforts = np.array([a["effort_scale"] for a in info["actuators"]])
    rests = np.array([a["rest"] * a["measure_scale"] for a in info["actuators"]])
    columns = [
        {"command": j, "markers": scales[j] * found["marker"][:, j] if "marker" in found else [],
         "efforts": scales[j] / efforts * found["effort"][:, j], "ratios": scales[j] / rests * found["measure"][:, j]}
        for j in active
    ]  # fmt: skip
    head = _clean({"robot": 1, "mesh": 1, "commands": [v / s for v, s in zip(given, scales)], "columns": columns})
    return _pack(5, head, [(f"dx{j}", (scales[j] * found["point"][:, j]).astype("f4")) for j in active])


_PLAYER = r"""
// A stand-in for the server: plays the messages of one solved shape.
const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
};
const quiet = "This page is a snapshot of one solved shape; pliant serve solves others.";
let sent = false;
window.WebSocket = class {
    static OPEN = 1;
    constructor() {
        this.readyState = 1;
        setTimeout(() => this.play(), 0);
    }
    say(data) { this.onmessage?.({ data }); }
    async play() {
        this.onopen?.();
        for (const m of pliantSnapshot.messages) {
            this.say(m.json ?? await unpack(m.binary));
        }
        setInterval(() => this.say('{"type": "tick", "busy": false, "age": 0}'), 500);
    }
    send(text) {
        const type = JSON.parse(text).type;
        if (type !== "set" || !sent) {
            sent = sent || type === "set";
            if (type === "export") {
                this.say(JSON.stringify({ type: "refused", text: "This page is a snapshot: use state.save() in Python." }));
            } else if (type !== "set") {
                this.say(JSON.stringify({ type: "refused", text: quiet }));
            }
        }
    }
    close() {}
};
(async () => {
    const imports = {};
    for (const [name, text] of Object.entries(pliantSnapshot.modules)) {
        imports[name] = URL.createObjectURL(new Blob([await unpack(text)], { type: "text/javascript" }));
    }
    const map = document.createElement("script");
    map.type = "importmap";
    map.textContent = JSON.stringify({ imports });
    document.head.append(map);
    const app = document.createElement("script");
    app.type = "module";
    app.textContent = 'import "pliant/app.js";';
    document.body.append(app);
})();
"""


def _zip(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode()


def _modules(web: str) -> dict[str, str]:
    """All scripts of the page by the names they import each other with."""
    three = os.path.join(web, "three")
    files = {f"pliant/{f}": os.path.join(web, f) for f in sorted(os.listdir(web)) if f.endswith(".js")}
    files["three"] = os.path.join(three, "build", "three.module.js")
    files["three-core"] = os.path.join(three, "build", "three.core.js")
    files["three/addons/controls/OrbitControls.js"] = os.path.join(three, "examples/jsm/controls/OrbitControls.js")
    files["three/addons/exporters/GLTFExporter.js"] = os.path.join(three, "examples/jsm/exporters/GLTFExporter.js")
    out = {}
    for name, path in files.items():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # scripts in memory have no folder: relative names become names of the map
        text = text.replace("'./three.core.js'", "'three-core'").replace('"./three.core.js"', '"three-core"')
        text = re.sub(r"""(from\s*|import\s*)(["'])\./([\w.]+\.js)\2""", r"\1\2pliant/\3\2", text)
        out[name] = _zip(text.encode())
    return out


def page(state: "State", tangent: bool = True) -> str:
    """The page of a state as one HTML text."""
    web = _web()
    with open(os.path.join(web, "index.html"), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(web, "style.css"), encoding="utf-8") as file:
        style = file.read()
    record = state.to_dict()
    binary = [_mesh_message(state), _shape_message(state, record)]
    predicted = _tangent_message(state) if tangent else None
    if predicted is not None:
        binary.append(predicted)
    hello = {"type": "hello", "protocol": 1, "viewer": 1, "pliant": _core.version, "gallery": [], "robot": True}
    # looking on until the shape is there, so that the sliders take its commands
    guest: dict[str, Any] = {"type": "control", "owner": 0, "asking": 0, "viewers": 1}
    control: dict[str, Any] = {**guest, "owner": 1}
    ready: dict[str, Any] = {"type": "status", "state": "ready", "text": "", "serial": 0}
    words: list[Any] = [hello, guest, _clean(_robot_message(state, record))]
    messages: list[dict[str, str]] = [{"json": json.dumps(m)} for m in words]
    messages += [{"binary": _zip(m)} for m in binary] + [{"json": json.dumps(m)} for m in (control, ready)]
    snapshot = json.dumps({"messages": messages, "modules": _modules(web)}).replace("</", "<\\/")
    text = re.sub(r'<link rel="icon"[^>]*>\s*', "", text)
    text = re.sub(r'<link rel="stylesheet"[^>]*>', lambda _: f"<style>{style}</style>", text)
    text = re.sub(r'<script type="importmap">.*?</script>\s*', "", text, flags=re.S)
    scripts = f"<script>const pliantSnapshot = {snapshot};{_PLAYER}</script>"
    return re.sub(r'<script type="module" src="app.js"></script>\s*', "", text).replace("</body>", scripts + "</body>")


class View:
    """The interactive view of a state; draws itself in a notebook."""

    def __init__(self, state: "State", width: str = "100%", height: int = 600, tangent: bool = True) -> None:
        self.state = state
        self.width = width
        self.height = height
        self._html: Optional[str] = None
        self._tangent = tangent

    @property
    def html(self) -> str:
        """The page, self-contained."""
        if self._html is None:
            self._html = page(self.state, self._tangent)
        return self._html

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the page."""
        with replacing(path) as file:
            file.write(self.html)

    def open(self) -> str:
        """Writes the page to a temporary file, opens it in a browser, returns the path."""
        import webbrowser

        handle, path = tempfile.mkstemp(prefix="pliant-", suffix=".html")
        os.close(handle)
        self.save(path)
        webbrowser.open("file://" + path)
        return path

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html, quote=True)}" width="{self.width}" height="{self.height}" '
            'style="border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<view of {self.state._title()}; .open() shows it in a browser, .save(path) writes it>"


class Live:
    """A running `pliant serve`; draws its page in a notebook. Ends with close() or with Python."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, width: str, height: int) -> None:
        self.process = process
        self.address = address
        self._size = (width, height)

    def _repr_html_(self) -> str:
        return f'<iframe src="{html.escape(self.address)}" width="{self._size[0]}" height="{self._size[1]}" style="border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<live view at {self.address}>"

    def close(self) -> None:
        """Ends the server."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    __del__ = close


def serve(robot: "Robot", port: int, width: str, height: int) -> Live:
    """Starts `pliant serve` on this machine for the robot's file."""
    command = _program.command()
    if command is None:
        raise _core.FileError("the command pliant is not installed; it serves the live view")
    path = robot.source.path
    if path is None or not os.path.exists(path):
        folder = tempfile.mkdtemp(prefix="pliant-")
        path = os.path.join(folder, "robot.yaml")
        robot.save(path)
    call = [command, "serve", path, "--port", str(port)]
    call += ["--size", str(robot.source.size)] if robot.source.size > 0 else []
    call += ["--order", str(robot.source.order)] if robot.source.order > 0 else []
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=_program.environment())
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        found = re.search(r"http://\S+", line)
        if found:
            return Live(process, found.group(0).rstrip("."), width, height)
    process.wait()
    raise _core.SolverError("pliant serve ended: " + "".join(said).strip())
