"""glTF as text (.gltf), made of the binary form (.glb)."""
from __future__ import annotations

import base64
import json
import os
import struct
import tempfile
from typing import Callable


def write_gltf(path: str, write_glb: Callable[[str], None]) -> None:
    """The document of a .glb, with its data inside."""
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.TemporaryDirectory(dir=folder, prefix=".pliant-") as place:
        glb, text = os.path.join(place, "shape.glb"), os.path.join(place, "shape.gltf")
        write_glb(glb)
        with open(glb, "rb") as file:
            data = file.read()
        (length,) = struct.unpack("<I", data[12:16])
        document = json.loads(data[20 : 20 + length])
        blob = base64.b64encode(data[28 + length :]).decode()
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + blob
        with open(text, "w", encoding="utf-8") as out:
            json.dump(document, out)
        os.replace(text, path)
