#!/usr/bin/env python3
"""Attacks on a running `pliant serve`, without a browser: requests in any order on two pages, pages that are loaded again, more connections than descriptors, viewers that never read,
exports beside a slider, damaged parts put under a server that looks at them.

usage: attack_serve.py PLIANT [order] [descriptors] [deaf] [files] [jobs] [step]     (default: all)

Prints one line per attack with its numbers. Exit status 1: the server crashed, spun, grew or fell silent.
"""
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

pliant = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="pliant-serve-")
bad = 0


def verdict(good, text):
    global bad
    bad |= not good
    print(("  ok      " if good else "  FAILED  ") + text, flush=True)


class Viewer:
    """One WebSocket; `narrow` keeps the kernel's receive buffer small."""

    def __init__(self, port, narrow=False, timeout=30):
        self.link = socket.socket()
        if narrow:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.link.settimeout(timeout)
        self.link.connect(("127.0.0.1", port))
        self.link.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: pliant\r\n\r\n".encode()
        )
        self.stream = self.link.makefile("rb")
        if b" 101 " not in self.stream.readline():
            raise OSError("refused")
        while self.stream.readline().strip():
            pass

    def say(self, message):
        data, mask = json.dumps(message).encode(), os.urandom(4)
        size = bytes([128 | len(data)]) if len(data) < 126 else bytes([128 | 126]) + struct.pack(">H", len(data))
        self.link.sendall(b"\x81" + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def hear(self):
        while True:
            head = self.stream.read(2)
            if len(head) < 2:
                raise OSError("closed")
            length = head[1] & 127
            if length == 126:
                (length,) = struct.unpack(">H", self.stream.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.stream.read(8))
            data = self.stream.read(length)
            if head[0] & 15 == 9:
                self.link.sendall(b"\x8a\x80\0\0\0\0")
            elif head[0] & 15 == 1:
                return json.loads(data)
            elif head[0] & 15 == 2:
                (arrays,) = struct.unpack("<I", data[12:16])
                return {"binary": json.JSONDecoder().raw_decode(data[16 + 16 * arrays :].decode("utf-8", "replace"))[0]}
            elif head[0] & 15 == 8:
                raise OSError("closed")

    def until(self, wanted, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.link.settimeout(max(0.1, end - time.monotonic()))
            message = self.hear()
            if wanted(message):
                return message
        raise TimeoutError

    def ready(self, seconds=60):
        robot = self.until(lambda m: m.get("type") == "robot", seconds)
        self.until(lambda m: m.get("state") == "ready", seconds)
        return robot

    def close(self):
        self.stream.close()
        self.link.close()

    def leave(self, seconds=30):
        """As a browser does for a page that is loaded again: what was sent goes before, and what comes is read until
        the server hangs up. A socket closed with unread data is reset, and what was sent may be lost with it."""
        self.link.sendall(b"\x88\x82\0\0\0\0\x03\xe9")  # 1001: going away
        try:
            self.until(lambda m: False, seconds)
        except OSError:
            pass
        self.close()


class Server:
    def __init__(self, *arguments, limit=None):
        page = os.path.join(work, "page")
        os.makedirs(os.path.join(page, "three/build"), exist_ok=True)
        for name in ("index.html", "three/build/three.module.js"):
            open(os.path.join(page, name), "w").close()
        env = dict(os.environ, PLIANT_WEB=page, XDG_CACHE_HOME=os.path.join(work, "cache"))

        def before():
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        self.log = open(os.path.join(work, "serve.txt"), "w+")
        self.process = subprocess.Popen(
            [pliant, "serve", *arguments, "--port", "0"], stdout=self.log, stderr=self.log, env=env, preexec_fn=before
        )
        for _ in range(400):
            found = re.search(r"http://127.0.0.1:(\d+)/", open(self.log.name).read())
            if found:
                self.port = int(found.group(1))
                return
            time.sleep(0.05)
        raise SystemExit("no address: " + open(self.log.name).read())

    def memory(self):
        text = open(f"/proc/{self.process.pid}/status").read()
        return int(re.search(r"VmRSS:\s*(\d+)", text).group(1)) / 1024

    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        if self.alive():
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "does not end"


def robot(name, design="segment"):
    folder = os.path.join(work, name)
    if not os.path.exists(folder):
        subprocess.run([pliant, "new", design, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


small = ("--order", "1", "--size", "9", "--threads", "1")


def solved_by_command(folder, meshed, values):
    """Markers by `pliant fk` at these commands (units of the robot message)."""
    out = os.path.join(work, "fk.json")
    sets = [a for name, value, unit in values for a in ("--set", f"{name}={value!r}{unit if unit != '1' else ''}")]
    env = dict(os.environ, XDG_CACHE_HOME=os.path.join(work, "cache"))
    subprocess.run([pliant, "fk", folder, *meshed, *sets, "--no-mesh-error", "--force", "--json", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    record = json.load(open(out))
    return record["outcome"], {name: m["position"] for name, m in record["markers"].items()}


class Page:
    """A viewer that keeps what a page would show: the robot and its newest shape."""

    def __init__(self, port):
        self.viewer, self.robot, self.shape, self.refused = Viewer(port), None, None, []

    def follow(self, done, seconds=90):
        end = time.monotonic() + seconds
        while not done(self):
            if time.monotonic() > end:
                return False
            self.viewer.link.settimeout(max(0.1, end - time.monotonic()))
            try:
                m = self.viewer.hear()
            except (socket.timeout, TimeoutError):
                return False
            if m.get("type") == "robot":
                self.robot, self.shape = m, None
            elif m.get("type") == "refused":
                self.refused.append(m["text"])
            elif "record" in m.get("binary", {}):
                self.shape = m["binary"]
        return True

    def shows(self, serial, robot=None):
        s = self.shape
        return (
            s is not None and self.robot and s.get("robot") == self.robot["robot"] and s.get("serial") == serial
            and not s.get("brief") and "towards" not in s and s.get("level") == "fine"
        )


def attack_order():
    """What the pages show in the end is the last request, solved, whatever came before and in between."""
    draw = random.Random(20261118)
    worst, cases, wrong = 0.0, 0, []
    for design, size in (("segment", "9"), ("cable_finger", "6")):
        folder = robot("order_" + design, design)
        meshed = ("--order", "1", "--size", size, "--threads", "1")
        server = Server(folder, *meshed)
        pages = [Page(server.port)]
        pages[0].follow(lambda p: p.robot and p.shape)
        pages.append(Page(server.port))
        serial = 100
        for case in range(14):
            kind = ("burst", "backwards", "page reload", "robot reload", "target between", "second page", "edit and undo")[case % 7]
            owner = pages[0]
            commands = owner.robot["commands"]
            values = []
            for k in range(draw.randint(2, 6)):
                values = [None if draw.random() < 0.15 else c["low"] + draw.random() * 0.5 * (c["high"] - c["low"]) for c in commands]
                serial += 1
                owner.viewer.say({"type": "set", "robot": owner.robot["robot"], "serial": 10000 - serial if kind == "backwards" else serial, "commands": values})
                if kind == "target between" and k == 0:
                    serial += 1
                    rest = owner.robot["markers"][0]["rest"]
                    owner.viewer.say({"type": "target", "robot": owner.robot["robot"], "serial": serial, "marker": 0, "target": [v + draw.uniform(-9, 9) for v in rest]})
                time.sleep(draw.choice((0, 0.005, 0.05, 0.3)))
            last = 10000 - serial if kind == "backwards" else serial
            if kind == "page reload":  # the owner's page is loaded again in the middle of the solve
                owner.viewer.leave()
                pages[0], pages[1] = pages[1], Page(server.port)
            elif kind == "second page":
                pages[1].viewer.close()
                pages[1] = Page(server.port)
            elif kind in ("robot reload", "edit and undo"):
                edited = {p["name"]: p["value"] for p in owner.robot["parameters"]} if kind == "edit and undo" else {}
                size = next((name for name in ("height", "length") if name in edited), None)
                for message in [{"type": "parameters", "values": {**edited, size: 1.1 * edited[size]}}, {"type": "parameters", "values": edited}] if size else [{"type": "reload"}]:
                    owner.viewer.say(message)
                    for p in pages:
                        p.robot = None
                    if not all(p.follow(lambda q: q.robot and q.shape) for p in pages):
                        wrong.append(f"{design} {kind}: no robot after {message['type']}")
                        break
                if wrong:
                    break
                serial += 1
                last = serial
                pages[0].viewer.say({"type": "set", "robot": pages[0].robot["robot"], "serial": last, "commands": values})
            cases += 1
            if not all(p.follow(lambda q: q.shows(last)) for p in pages):
                wrong.append(f"{design} {kind}: the last request ({last}) is never shown: {[(p.shape or {}).get('serial') for p in pages]}, {owner.refused[-1:]}")
                break
            outcome, markers = solved_by_command(folder, meshed, [(c["name"], v, c["unit"]) for c, v in zip(commands, values) if v is not None])
            for p in pages:
                record = p.shape["record"]
                shown = [record["commands"].get(c["name"]) for c in commands]
                shown = [s["value"] if isinstance(s, dict) else s for s in shown]
                if any((a is None) != (b is None) or (a is not None and abs(a - b) > 1e-8 * max(1, abs(b))) for a, b in zip(shown, values)):
                    wrong.append(f"{design} {kind}: shows commands {shown}, asked for {values}")
                if record["outcome"] != outcome:
                    wrong.append(f"{design} {kind}: shows '{record['outcome']}', fk is '{outcome}'")
                elif outcome == "solved":
                    far = max(abs(a - b) for name, x in markers.items() for a, b in zip(x, record["markers"][name]["position"]))
                    worst = max(worst, far)
                    if far > 1e-3:
                        wrong.append(f"{design} {kind}: markers {far:.2g} mm from fk at {values}")
        if not server.alive():
            wrong.append(f"{design}: the server has ended")
        server.stop()
    for text in wrong[:8]:
        print("          " + text)
    verdict(not wrong, f"order: {cases} sequences of requests on two pages end at the last one, {worst:.1e} mm from fk (1e-3 allowed)")


def attack_descriptors():
    server = Server(robot("many"), *small, limit=40)
    first = Viewer(server.port)
    first.ready()
    first.close()
    time.sleep(1)
    links, refused = [], 0
    for _ in range(100):
        link = socket.socket()
        link.settimeout(2)
        try:
            link.connect(("127.0.0.1", server.port))
            link.sendall(b"GET / HTTP/1.1\r\n")  # and never the rest
        except OSError:
            refused += 1
        links.append(link)
    time.sleep(0.5)
    before, seconds = server.cpu(), 3
    time.sleep(seconds)
    spent = server.cpu() - before
    for link in links:
        link.close()
    try:
        viewer = Viewer(server.port)
        viewer.ready()
        viewer.close()
        recovered = True
    except (OSError, TimeoutError):
        recovered = False
    # the same with whole viewers
    viewers = []
    for _ in range(100):
        try:
            viewers.append(Viewer(server.port, timeout=0.3))
        except OSError:
            pass
    before = server.cpu()
    time.sleep(seconds)
    spent2 = server.cpu() - before
    for viewer in viewers:
        viewer.close()
    try:
        Viewer(server.port).ready()
        again = True
    except (OSError, TimeoutError):
        again = False
    entered = len(viewers)
    verdict(
        server.alive() and spent < 0.2 * seconds and spent2 < 0.3 * seconds and recovered and again,
        f"40 descriptors: 100 half requests cost {100 * spent / seconds:.0f} % of a core, {entered} of 100 viewers entered "
        f"and cost {100 * spent2 / seconds:.0f} %, {'answers' if recovered and again else 'DOES NOT ANSWER'} afterwards",
    )
    status = server.stop()
    verdict(status == 0, f"40 descriptors: ends with {status}")


def attack_deaf():
    server = Server(robot("deaf"), *small)
    owner = Viewer(server.port)
    head = owner.ready()
    number = head["robot"]
    count = len(head.get("commands", [])) or 3
    before = server.memory()
    viewers = [Viewer(server.port, narrow=True) for _ in range(60)]
    owner.close()  # the first of them has the controls now
    time.sleep(0.5)
    sent = 0
    end = time.monotonic() + 12
    most = before
    while time.monotonic() < end:
        for i, viewer in enumerate(viewers):
            viewer.link.settimeout(0.05)
            try:
                for k in range(5):
                    viewer.say({"type": "set", "robot": number, "serial": sent, "commands": [0.01 * random.random()] * count})
                    viewer.say({"type": "export", "robot": number, "format": "vtu", "shapes": [1 + sent % 50]})
                    viewer.say({"type": "fly" * 10})
                    sent += 3
            except OSError:
                pass
        most = max(most, server.memory())
    after = server.memory()
    for viewer in viewers:
        viewer.close()
    time.sleep(2)
    try:
        Viewer(server.port).ready()
        there = True
    except (OSError, TimeoutError):
        there = False
    verdict(
        server.alive() and there and most - before < 200,
        f"60 viewers that never read, {sent} messages: resident {before:.0f} MB before, at most {most:.0f}, {after:.0f} at the end, "
        f"{server.memory():.0f} when they left; {'answers' if there else 'DOES NOT ANSWER'}",
    )
    status = server.stop()
    verdict(status == 0, f"deaf viewers: ends with {status}")


def attack_files():
    """Viewers that ask for files only, one after another, and never fetch them."""
    server = Server(robot("files"), "--threads", "1", "--order", "1", "--size", "4")
    first = Viewer(server.port)
    number = first.ready(120)["robot"]
    before = most = server.memory()
    viewers = [Viewer(server.port, narrow=True) for _ in range(60)]
    end, turn, hung = time.monotonic() + 30, 0, 0
    while time.monotonic() < end:
        try:
            viewers[turn % 60].say({"type": "export", "robot": number, "format": "vtu", "shapes": [1]})
        except OSError:  # hung up on: it comes again
            hung += 1
            viewers[turn % 60] = Viewer(server.port, narrow=True)
        turn += 1
        time.sleep(0.02)
        most = max(most, server.memory())
    there = server.alive()
    for viewer in viewers:
        viewer.close()
    time.sleep(2)
    verdict(
        there and server.alive() and most - before < 300,
        f"60 viewers that fetch none of their files, {turn} asked for, {hung} hung up on: resident {before:.0f} MB before, at most {most:.0f}, "
        f"{server.memory():.0f} when they left",
    )
    status = server.stop()
    verdict(status == 0, f"files: ends with {status}")


def attack_jobs():
    server = Server(robot("jobs"), "--threads", "1")
    owner = Viewer(server.port)
    head = owner.ready(300)
    number = head["robot"]
    count = len(head.get("commands", [])) or 3
    greedy = Viewer(server.port)
    greedy.ready(60)
    delays = []

    def move(serial):
        owner.say({"type": "set", "robot": number, "serial": serial, "commands": [0.002 * (serial % 5)] * count})
        start = time.monotonic()
        owner.until(lambda m: m.get("binary", {}).get("serial") == serial, 60)
        return time.monotonic() - start

    quiet = [move(1 + i) for i in range(6)]
    serial = 100
    for i in range(12):
        for k in range(10):
            greedy.say({"type": "export", "robot": number, "format": "vtu", "shapes": [1 + k]})
        serial += 1
        delays.append(move(serial))
    # somebody else's file while one viewer asks without end
    other = Viewer(server.port)
    other.ready(60)
    for k in range(30):
        greedy.say({"type": "export", "robot": number, "format": "vtu", "shapes": [1 + k % 5]})
    other.say({"type": "export", "robot": number, "format": "csv", "shapes": [1]})
    answer = other.until(lambda m: m.get("type") == "refused" or list(m.get("binary", [])) == ["name"], 60)
    words = json.dumps(answer)[:160]
    verdict(
        server.alive() and max(delays) < 5 * max(max(quiet), 0.2),
        f"a slider beside 120 exports: first answer after {1000 * max(quiet):.0f} ms at most without, {1000 * max(delays):.0f} ms with",
    )
    verdict(answer.get("type") != "refused", f"a file for a second viewer beside them: {words}")
    status = server.stop()
    verdict(status == 0, f"jobs: ends with {status}")


STEP = """SetFactory("OpenCASCADE");
Box(1) = {0, -5, -5, 40, 10, 10};
Cylinder(2) = {20, 0, -6, 0, 0, 12, 2};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Save "%s";
"""
ROBOT = """pliant: 1
mesh: {%s, size: 12, order: 1}
surfaces: {base: {plane: {point: [0, 0, 0], normal: [-1, 0, 0]}}}
materials: {m: {use: dragon_skin_20}}
regions: {body: m}
fixed: [{surface: base}]
markers: {tip: {at: [40, 0, 0]}}
loads: {gravity: [0, 0, -9.81 m/s^2]}
"""


def attack_step():
    folder = os.path.join(work, "step")
    os.makedirs(folder)
    whole = os.path.join(folder, "whole.step")
    with open(os.path.join(folder, "part.geo"), "w") as f:
        f.write(STEP % whole)
    subprocess.run(["gmsh", "-0", "-v", "1", os.path.join(folder, "part.geo")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    data = open(whole, "rb").read()
    part = os.path.join(folder, "part.step")
    with open(part, "wb") as f:
        f.write(data)
    with open(os.path.join(folder, "robot.yaml"), "w") as f:
        f.write(ROBOT % "step: part.step")
    server = Server(folder, "--threads", "1")
    viewer = Viewer(server.port)
    viewer.ready()
    outcome = {}
    draw = random.Random(7)
    for i in range(int(os.environ.get("COUNT", "12"))):
        at = draw.randrange(len(data))
        if i % 2:
            cut = data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]
        else:
            cut = data[:at] + data[at + 1 :]
        # a robot of its own each time, so that no cache answers
        with open(part + ".new", "wb") as f:
            f.write(cut)
        os.replace(part + ".new", part)
        shutil.rmtree(os.path.join(folder, ".pliant"), ignore_errors=True)
        try:
            seen = viewer.until(lambda m: m.get("type") in ("problem", "robot"), 90)
            word = "opened" if seen.get("type") == "robot" else "refused with a sentence"
        except TimeoutError:
            word = "SILENT"
        except OSError:
            word = "CLOSED"
        outcome[word] = outcome.get(word, 0) + 1
        if not server.alive():
            break
    verdict(server.alive() and not {"SILENT", "CLOSED"} & set(outcome), f"damaged STEP files under a running server: {outcome}")
    with open(part, "wb") as f:
        f.write(data)
    try:
        viewer.until(lambda m: m.get("type") == "robot", 60)
        verdict(True, "the whole file again: opened")
    except (OSError, TimeoutError):
        verdict(False, "the whole file again: not opened")
    status = server.stop()
    verdict(status == 0, f"damaged STEP: ends with {status}")


known = {name[7:]: act for name, act in list(globals().items()) if name.startswith("attack_")}
try:
    for name in sys.argv[2:] or known:
        known[name]()
finally:
    shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if bad else 0)
