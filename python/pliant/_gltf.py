"""glTF files of a shape: the deformed boundary in metres, y up, colours by region."""
from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ._table import array

if TYPE_CHECKING:
    from ._state import State

_COLOURS = ((0.85, 0.55, 0.42), (0.36, 0.55, 0.72), (0.55, 0.69, 0.44), (0.78, 0.66, 0.35), (0.6, 0.47, 0.68), (0.5, 0.5, 0.5))


def write(state: "State", path: str) -> None:
    """Writes .glb (binary) or .gltf (with the data inside)."""
    mesh = state.mesh
    corners, regions = (array(a) for a in mesh.core.triangles(-1))
    blob = bytearray()
    views: list[dict[str, int]] = []
    accessors: list[dict[str, Any]] = []

    def add(values: Any, kind: int, shape: str, target: int, limits: bool) -> int:
        data = np.ascontiguousarray(values).tobytes()
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": len(data), "target": target})
        blob.extend(data + b"\0" * (-len(data) % 4))
        one: dict[str, Any] = {"bufferView": len(views) - 1, "componentType": kind, "count": len(values), "type": shape}
        if limits:
            one["min"], one["max"] = values.min(0).tolist(), values.max(0).tolist()
        accessors.append(one)
        return len(accessors) - 1

    primitives, materials = [], []
    for region, name in enumerate(mesh.region_names):
        triangles = corners[regions == region]
        if len(triangles) == 0:
            continue
        used, local = np.unique(triangles, return_inverse=True)
        x = mesh.points[used] * 1e-3
        local = local.reshape(-1, 3)
        normal = np.zeros_like(x)
        face = np.cross(x[local[:, 1]] - x[local[:, 0]], x[local[:, 2]] - x[local[:, 0]])
        for k in range(3):
            np.add.at(normal, local[:, k], face)
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        normal = np.where(length > 0, normal / np.maximum(length, 1e-300), [0, 0, 1])
        materials.append(
            {"name": name, "pbrMetallicRoughness": {"baseColorFactor": [*_COLOURS[region % len(_COLOURS)], 1],
                                                    "metallicFactor": 0, "roughnessFactor": 0.7}}
        )  # fmt: skip
        primitives.append(
            {"attributes": {"POSITION": add(x.astype("<f4"), 5126, "VEC3", 34962, True),
                            "NORMAL": add(normal.astype("<f4"), 5126, "VEC3", 34962, False)},
             "indices": add(local.reshape(-1).astype("<u4"), 5125, "SCALAR", 34963, False),
             "material": len(materials) - 1}
        )  # fmt: skip
    # z up in Pliant, y up in glTF
    s = float(np.sqrt(0.5))
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "pliant"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"name": state.robot.name, "mesh": 0, "rotation": [-s, 0, 0, s]}],
        "meshes": [{"primitives": primitives}], "materials": materials, "accessors": accessors, "bufferViews": views,
        "buffers": [{"byteLength": len(blob)}],
    }  # fmt: skip
    if path.lower().endswith(".gltf"):
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(bytes(blob)).decode()
        with open(path, "w", encoding="utf-8") as text_file:
            json.dump(document, text_file)
        return
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = [(b"JSON", text), (b"BIN\0", bytes(blob))]
    total = 12 + sum(8 + len(data) for _, data in chunks)
    with open(path, "wb") as file:
        file.write(b"glTF" + np.array([2, total], "<u4").tobytes())
        for kind, data in chunks:
            file.write(np.array([len(data)], "<u4").tobytes() + kind + data)
