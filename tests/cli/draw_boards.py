"""Pictures of a chessboard and of two dots by two cameras with distortion, as PNG: draw_boards.py FOLDER."""
import math
import struct
import sys
import zlib

W, H, F, K1 = 200, 150, 260.0, -0.12
COLUMNS, ROWS, SQUARE = 6, 5, 8.0


def rotation(x, y, z):
    cx, sx, cy, sy, cz, sz = math.cos(x), math.sin(x), math.cos(y), math.sin(y), math.cos(z), math.sin(z)
    return [[cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx], [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx]]


def multiply(A, B):
    return [[sum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def apply(A, x):
    return [sum(A[i][k] * x[k] for k in range(3)) for i in range(3)]


CAMERAS = [(rotation(0, 0, 0), [0, 0, 0]), (rotation(0, 0.2, 0), [-40, 0, 5])]


def ray(u, v):
    """The direction of a pixel: the distortion inverted by a fixed point."""
    a0, b0 = (u - (W - 1) / 2) / F, (v - (H - 1) / 2) / F
    a, b = a0, b0
    for _ in range(6):
        d = 1 + K1 * (a * a + b * b)
        a, b = a0 / d, b0 / d
    return a, b




PARTS = ((-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25))
RAYS = [[ray(u + du, v + dv) for du, dv in PARTS] for v in range(H) for u in range(W)]


def png(path, pixels):
    rows = b"".join(b"\0" + bytes(pixels[3 * W * v:3 * W * (v + 1)]) for v in range(H))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def board(camera, R, t):
    """The board at R, t in the frame of camera 1, four rays per pixel."""
    Rc, tc = camera
    A, s = multiply(Rc, R), [a + b for a, b in zip(apply(Rc, t), tc)]
    n = [A[0][2], A[1][2], A[2][2]]
    depth = sum(n[i] * s[i] for i in range(3))
    out = bytearray(3 * W * H)
    for v in range(H):
        for u in range(W):
            light = 0
            for a, b in RAYS[W * v + u]:
                z = depth / (n[0] * a + n[1] * b + n[2])
                p = [z * a - s[0], z * b - s[1], z - s[2]]
                x = (A[0][0] * p[0] + A[1][0] * p[1] + A[2][0] * p[2]) / SQUARE
                y = (A[0][1] * p[0] + A[1][1] * p[1] + A[2][1] * p[2]) / SQUARE
                dark = -1 < x < COLUMNS and -1 < y < ROWS and (math.floor(x) + math.floor(y)) % 2 == 0
                light += 8 if dark else 55
            out[3 * (W * v + u):3 * (W * v + u) + 3] = bytes((light, light, light))
    return out


def dots(camera, points):
    Rc, tc = camera
    out = bytearray(b"\x60" * (3 * W * H))
    for (x, y, z), color in points:
        p = [a + b for a, b in zip(apply(Rc, [x, y, z]), tc)]
        a, b = p[0] / p[2], p[1] / p[2]
        d = 1 + K1 * (a * a + b * b)
        cu, cv = F * a * d + (W - 1) / 2, F * b * d + (H - 1) / 2
        for v in range(int(cv) - 8, int(cv) + 9):
            for u in range(int(cu) - 8, int(cu) + 9):
                share = min(max(5.5 - math.hypot(u - cu, v - cv), 0), 1)
                for i in range(3):
                    at = 3 * (W * v + u) + i
                    out[at] = round(out[at] + share * (color[i] - out[at]))
    return out


folder = sys.argv[1]
for k, (rx, ry, rz, x, y, z) in enumerate([(0.4, 0.1, 0.1, -20, -16, 110), (-0.4, 0.3, 0, -18, -14, 120), (0.1, -0.5, 0.3, -10, -22, 125),
                                           (0.3, 0.4, -0.3, -22, -8, 115), (-0.2, -0.3, 0.2, -14, -18, 100)]):
    for name, camera in zip(("left", "right"), CAMERAS):
        png(f"{folder}/{name}_{k}.png", board(camera, rotation(rx, ry, rz), [x, y, z]))
for name, camera in zip(("left", "right"), CAMERAS):
    png(f"{folder}/dots_{name}_a.png", dots(camera, [((5, -6, 120), (230, 20, 20)), ((-8, 4, 128), (20, 40, 230))]))
