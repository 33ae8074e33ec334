#!/usr/bin/env python3
"""A viewer without a browser: connects to `pliant serve`, waits for the robot, sets its commands and prints where the
first marker went, or why the robot cannot be opened.

usage: talk_serve.py PORT VALUE,VALUE,...        values in internal units
"""
import json
import os
import signal
import socket
import struct
import sys

signal.alarm(120)  # whatever comes, this ends
port, values = int(sys.argv[1]), [float(v) for v in sys.argv[2].split(",")]
link = socket.create_connection(("127.0.0.1", port), timeout=60)
link.sendall(
    f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Protocol: pliant\r\n\r\n".encode()
)
stream = link.makefile("rb")
if b" 101 " not in stream.readline():
    sys.exit("the server refuses")
while stream.readline().strip():
    pass


def say(message):
    data, mask = json.dumps(message).encode(), os.urandom(4)
    size = bytes([128 | len(data)]) if len(data) < 126 else bytes([128 | 126]) + struct.pack(">H", len(data))
    link.sendall(b"\x81" + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))


def hear():
    """The next message as JSON; of a binary one its head."""
    while True:
        first, second = stream.read(2)
        length = second & 127
        if length == 126:
            (length,) = struct.unpack(">H", stream.read(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", stream.read(8))
        data = stream.read(length)
        if first & 15 == 9:
            link.sendall(b"\x8a\x80\0\0\0\0")
        elif first & 15 == 1:
            return json.loads(data)
        elif first & 15 == 2:
            (arrays,) = struct.unpack("<I", data[12:16])
            text = data[16 + 16 * arrays :]
            return {"binary": json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))[0]}


robot, asked = None, False
while True:
    message = hear()
    if message.get("type") == "problem":
        print("refused:", json.dumps(message))
        sys.exit(1)
    if message.get("type") == "robot":
        robot = message["robot"]
    if robot is not None and not asked and message.get("state") == "ready":
        say({"type": "set", "robot": robot, "serial": 7, "commands": values})
        asked = True
    head = message.get("binary", {})
    if asked and head.get("serial") == 7 and "record" in head:
        first = next(iter(head["record"]["markers"].values()))
        print(*first["position"])
        sys.exit(0)
