"""Reads films and USD that pliant has written, by hand after their specifications, and with ffprobe and three.js where they
are installed. usage: read_films.py STEM FRAMES.png... : STEM.gif, STEM.webm, STEM.usda, STEM.glb of one sweep"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np

stem, pictures = sys.argv[1], sys.argv[2:]
failed = 0


def check(what, good, found=""):
    global failed
    failed += not good
    print(f"  {'ok     ' if good else 'FAILED '} {what} {found}")


# ---- PNG (8 bits, RGB) and GIF
def read_png(path):
    data, at, body = open(path, "rb").read(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            assert depth == 8 and colour == 2
        body += chunk if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + 3 * width)
    out = np.zeros((height, 3 * width), np.uint8)
    for y in range(height):
        kind, row = rows[y, 0], rows[y, 1:].astype(int)
        above = out[y - 1].astype(int) if y else np.zeros(3 * width, int)
        if kind == 2:
            row = (row + above) & 255
        elif kind != 0:
            for x in range(3 * width):
                a, b, c = (row[x - 3] if x > 2 else 0), above[x], (above[x - 3] if x > 2 else 0)
                p = a + b - c
                paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                row[x] = (row[x] + {1: a, 3: (a + b) // 2, 4: paeth}[int(kind)]) & 255
        out[y] = row
    return out.reshape(height, width, 3)


def unpack_lzw(least, data):
    """The numbers of a GIF image."""
    clear, end, out = 1 << least, (1 << least) + 1, bytearray()
    table, width, bits, have, before = {}, least + 1, 0, 0, None
    for byte in data:
        bits |= byte << have
        have += 8
        while have >= width:
            code, bits, have = bits & ((1 << width) - 1), bits >> width, have - width
            if code == clear:
                table = {i: bytes([i]) for i in range(clear)}
                fresh, width, before = end + 1, least + 1, None
                continue
            if code == end:
                return out
            word = table[code] if code in table else before + before[:1]
            out += word
            if before is not None and fresh < 4096:
                table[fresh] = before + word[:1]
                fresh += 1
                width += fresh == 1 << width and width < 12
            before = word
    raise ValueError("no end code")


def read_gif(path):
    """Frames as they are seen, and their times in s."""
    data = open(path, "rb").read()
    assert data[:6] == b"GIF89a" and data[10] == 0xF7
    width, height = struct.unpack("<HH", data[6:10])
    table = np.frombuffer(data[13 : 13 + 768], np.uint8).reshape(256, 3)
    canvas, frames, times, at = np.zeros((height, width), np.uint8), [], [], 13 + 768

    def blocks(at):
        out = b""
        while data[at]:
            out += data[at + 1 : at + 1 + data[at]]
            at += 1 + data[at]
        return out, at + 1

    while data[at] != 0x3B:
        if data[at] == 0x21:
            body, after = blocks(at + 2)
            if data[at + 1] == 0xF9:
                times.append(struct.unpack("<H", body[1:3])[0] / 100)
            at = after
        else:
            assert data[at] == 0x2C
            left, top, wide, high, flags = struct.unpack("<HHHHB", data[at + 1 : at + 10])
            least = data[at + 10]
            body, at = blocks(at + 11)
            pixels = np.frombuffer(bytes(unpack_lzw(least, body)), np.uint8)
            assert len(pixels) == wide * high and flags == 0
            canvas = canvas.copy()
            canvas[top : top + high, left : left + wide] = pixels.reshape(high, wide)
            frames.append(table[canvas])
    assert at == len(data) - 1
    return frames, times


frames, times = read_gif(f"{stem}.gif")
check("GIF: a frame per shape", len(frames) == len(pictures), f"{len(frames)} frames, {sum(times):.2f} s")
check("GIF: plays for two seconds and more", 2 <= sum(times) < 4)
last = read_png(pictures[-1])
off = np.abs(frames[-1].astype(int) - last.astype(int))
check("GIF: the last frame is the last picture, in 256 colours", off.mean() < 3 and (off > 40).mean() < 0.002, f"mean {off.mean():.2f} of 255")
check("GIF: the body moves, the corner does not", (frames[0] != frames[-1]).mean() > 0.02 and (frames[0][:20, -20:] == frames[-1][:20, -20:]).all())

# ---- video
if os.path.exists(f"{stem}.webm") and shutil.which("ffprobe"):
    about = json.loads(
        subprocess.run(
            ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json", f"{stem}.webm"], capture_output=True, check=True
        ).stdout
    )
    one = about["streams"][0]
    length = float(about["format"]["duration"])
    check("WebM: VP9, as long as the GIF", one["codec_name"] == "vp9" and abs(length - sum(times)) < 0.1, f"{length} s, {one['nb_read_frames']} frames")
    check("WebM: the size of the pictures", (one["height"], one["width"]) == last.shape[:2])
else:
    print("  skipped: no ffmpeg, no WebM")


# ---- USD
def volume(x, triangle):
    a, b, c = (x[triangle[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def numbers(text):
    return np.array([float(w) for w in re.findall(r"[-+.\de]+", text)])


text = open(f"{stem}.usda").read()
check("USDA: head", text.startswith("#usda 1.0\n") and "metersPerUnit = 0.001" in text and 'upAxis = "Z"' in text and text.count("{") == text.count("}"))
total = {}
for part in re.split(r"\n    def ", text)[1:]:
    kind, name = re.match(r'(\w+) "(\w+)"', part).groups()
    if kind != "Mesh":
        continue
    triangle = numbers(re.search(r"faceVertexIndices = \[(.*?)\]", part).group(1)).astype(int).reshape(-1, 3)
    points = re.search(r"points.timeSamples = \{(.*?)\n        \}", part, re.S).group(1)
    colours = re.search(r"displayColor.timeSamples = \{(.*?)\n        \}", part, re.S).group(1)
    for line, colour in zip(points.strip().split("\n"), colours.strip().split("\n")):
        code, rest = line.split(":", 1)
        x = numbers(rest).reshape(-1, 3)
        assert len(numbers(colour.split(":", 1)[1])) == x.size and triangle.max() == len(x) - 1
        total[float(code)] = total.get(float(code), 0) + volume(x, triangle)
codes = sorted(total)
check("USDA: a sample per shape, one second apart", len(codes) == len(pictures) and np.allclose(np.diff(codes), 24))

# the surface of the same shapes in the GLB
data = open(f"{stem}.glb", "rb").read()
length = struct.unpack("<I", data[12:16])[0]
document, blob = json.loads(data[20 : 20 + length]), data[28 + length :]


def accessor(i):
    a = document["accessors"][i]
    kind, wide = {5126: ("<f4", 3), 5125: ("<u4", 1)}[a["componentType"]]
    return np.frombuffer(blob, kind, a["count"] * wide, document["bufferViews"][a["bufferView"]]["byteOffset"])


same = []
for k in range(len(codes)):
    v = 0
    for mesh in document["meshes"]:
        p = mesh["primitives"][0]
        x = accessor(p["attributes"]["POSITION"]).astype(float)
        x = x + accessor(p["targets"][k - 1]["POSITION"]) if k else x
        v += volume(x.reshape(-1, 3), accessor(p["indices"]).reshape(-1, 3))
    same.append(abs(total[codes[k]] / v - 1))
check("USDA: volumes of the shapes as in the GLB", max(same) < 1e-4, f"within {max(same):.1e}")

# three.js parses the text; its exit status says whether
three = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../web/node_modules/three/examples/jsm/loaders/usd/USDAParser.js")
if shutil.which("node") and os.path.exists(three):
    program = f"""
import {{ readFileSync }} from 'fs';
import * as parser from '{os.path.abspath(three)}';
const text = readFileSync('{os.path.abspath(stem)}.usda', 'utf8');
const root = new parser.USDAParser().parseData(text);
console.log(Object.keys(root.specsByPath).join(' '));
"""
    done = subprocess.run(["node", "--input-type=module", "-e", program], capture_output=True, text=True)
    check("USDA: parsed by three.js", done.returncode == 0 and "/robot/body.points" in done.stdout and "/robot/air.points" in done.stdout, done.stderr[-400:])
else:
    print("  skipped: no node or three.js, USD is not read by others")
sys.exit(failed > 0)
