// The page: hears the server, keeps what is shown, and hands the rest to its parts.
import { Link } from "./link.js";
import { Stage } from "./scene.js";
import { Body } from "./body.js";
import { Parts } from "./parts.js";
import { Move } from "./move.js";
import { Reach } from "./reach.js";
import { Look } from "./look.js";
import { Save } from "./save.js";
import { Predict } from "./predict.js";
import { Forces } from "./forces.js";
import { Bonded } from "./bonded.js";
import { Probe } from "./probe.js";
import { Motion } from "./motion.js";
import { Pull } from "./pull.js";
import { Efforts } from "./efforts.js";
import { Timeline } from "./timeline.js";
import { Sketch } from "./sketch.js";
import { Gallery } from "./gallery.js";
import { Words, explained } from "./words.js";
import { Tour } from "./tour.js";
import { Truth } from "./truth.js";
import { brief, format } from "./colours.js";
import { escaped } from "./plot.js";

const $ = (id) => document.getElementById(id);

class App {
    constructor() {
        this.robot = null;
        this.shape = null; // the newest
        this.shown = null; // it, a prediction from it, or a frame of a playback
        this.waiting = new Map(); // by number of the request
        this.own = new Set(); // the viewers that this page was, one for each connection
        this.stage = new Stage($("canvas"));
        this.body = new Body(this.stage.scene);
        this.parts = new Parts(this.stage.scene);
        this.forces = new Forces(this.stage);
        this.bonded = new Bonded(this.stage.scene);
        this.efforts = new Efforts();
        this.predict = new Predict();
        this.timeline = new Timeline(this);
        this.sketch = new Sketch(this);
        this.truth = new Truth(this);
        this.move = new Move(this);
        this.look = new Look(this);
        this.reach = new Reach(this);
        this.save = new Save(this);
        this.pull = new Pull(this);
        this.motion = new Motion(this);
        this.probe = new Probe(this);
        this.wireTabs();
        this.wireKeys();
        this.wireTheme();
        $("ask").addEventListener("click", () => {
            this.link.send({ type: "ask" });
            this.toast("Asked. If nobody answers, the controls are yours in 15 seconds.");
        });
        $("give-yes").addEventListener("click", () => this.link.send({ type: "give", yes: true }));
        $("give-no").addEventListener("click", () => this.link.send({ type: "give", yes: false }));
        this.gallery = new Gallery(this);
        this.words = new Words();
        this.tour = new Tour();
        this.link = new Link((m) => this.hear(m), (on) => this.connected(on));
        this.status("busy", "Connecting…");
    }

    // ---- the connection
    connected(on) {
        this.held = !on && this.mayAsk() ? true : this.held; // until another viewer has the controls
        this.online = on;
        if (!on) {
            this.owner = 0;
            this.known = false;
            this.status("bad", "Connection lost. Trying again…");
            this.sketch.end(false);
            this.timeline.logAsked = false;
            for (const give of this.waiting.values()) {
                give(null);
            }
            this.waiting.clear();
            this.reach.refused();
            this.pull.release(false);
            this.truth.lost();
            this.refreshControl();
        }
        this.truth.say();
    }

    hear(message) {
        const act = {
            hello: () => this.hello(message),
            control: () => this.control(message),
            robot: () => this.setRobot(message),
            status: () => this.hearStatus(message),
            refused: () => this.refused(message),
            mesh: () => (message.head.level === "drawn" ? this.sketch.draw(message) : this.addMesh(message)),
            shape: () => this.hearShape(message),
            tangent: () => this.hearTangent(message),
            tick: () => this.truth.tick(message),
            path: () => message.robot === this.robot?.robot && this.reach.hearPath(message),
            cloud: () => message.head.robot === this.robot?.robot && this.reach.hearCloud(message),
            file: () => this.save.hear(message),
            points: () => this.reach.setPoints(message.points),
            problem: () => this.gallery.problem(message),
            log: () => this.timeline.hearLog(message),
            suggestion: () => this.suggested?.(message),
        }[message.type];
        act?.();
    }

    hello(message) {
        this.viewer = message.viewer;
        this.own.add(this.viewer);
        this.viewerVersion = message.pliant;
        this.gallery.fill(message.gallery);
        this.timeline.watch(message.log ?? null);
        this.gallery.expects = message.robot;
        if (!message.robot) {
            this.status("good", "Connected. Pick a robot to begin.");
            this.gallery.open();
        }
    }

    // Whether a request would be heard.
    mayMove() {
        return Boolean(this.online && this.known && this.robot?.ok && this.owner === this.viewer);
    }

    // Whether one may be made, to be sent as soon as it can be.
    mayAsk() {
        return Boolean(this.robot?.ok && (this.mayMove() || this.held));
    }

    control(message) {
        this.owner = message.owner;
        if (!this.own.has(this.owner)) {
            this.held = false;
            this.truth.yield();
            this.shape && this.move.adopt(this.shape.head.commands);
        } else if (this.owner !== this.viewer && !message.asking) {
            this.link.send({ type: "ask" }); // a lost connection of this page that the server still waits for
        }
        $("asking").hidden = !(message.asking && this.owner === this.viewer);
        this.refreshControl();
        this.truth.resend();
        if (this.owner === this.viewer) {
            this.gallery.follow(); // where the address leads
        }
    }

    refreshControl() {
        $("guest").hidden = !this.online || this.owner === this.viewer || this.own.has(this.owner);
        if (this.robot?.ok) {
            this.move.refresh();
            this.reach.refresh();
        }
    }

    refused(message) {
        this.toast(message.text);
        this.sketch.end(false);
        this.reach.refused();
        if (/^no motion/.test(message.text)) {
            this.motion.end();
        }
        for (const give of this.waiting.values()) {
            give(null);
        }
        this.waiting.clear();
    }

    toast(text) {
        $("toast").textContent = text;
        $("toast").hidden = false;
        clearTimeout(this.toastTimer);
        this.toastTimer = setTimeout(() => ($("toast").hidden = true), 6000);
    }

    // ---- the robot
    setRobot(robot) {
        const before = this.robot;
        const [commands, request] = before?.ok && before.file === robot.file && this.mayAsk() ? this.requestAgain(before, robot) : [null, null];
        // what a page without a server may leave out
        this.robot = { gravity: [0, 0, 0], loads: [], supports: [], obstacles: [], parameters: [], fibres: [], springs: [], pulls: false, ...robot };
        robot = this.robot;
        this.shape = this.shown = null;
        $("name").textContent = robot.name.replaceAll("_", " ");
        document.title = `${robot.name} · Pliant`;
        this.size = Math.hypot(...robot.high.map((h, i) => h - robot.low[i]));
        this.body.dispose();
        this.body.least = 0.01 * this.size;
        this.parts.reset(robot, this.size);
        this.parts.setTheme(this.dark);
        this.forces.reset(robot, this.size);
        this.bonded.reset(robot, this.size);
        this.efforts.reset(robot);
        this.probe.clear();
        this.stage.setBox(robot.low, robot.high);
        if (!before?.ok || before.file !== robot.file) {
            this.stage.fit([0.75, -1, 0.55]);
        }
        this.predict.reset(robot);
        this.look.reset(robot);
        this.reach.reset(robot);
        this.pull.reset(robot);
        this.motion.reset(this.robot);
        this.timeline.reset(robot);
        this.known = true;
        this.move.reset(robot, commands);
        this.truth.renew(request);
        this.reach.resume(request);
        this.gallery.reset(robot);
        this.refreshControl();
        $("level").hidden = true;
        $("method").hidden = !robot.method.includes("local_global");
        $("readout").replaceChildren();
    }

    // The commands of a robot that is opened again, by their names, and what is asked of it: the target that was not reached yet, or
    // these commands.
    requestAgain(before, robot) {
        const { asked } = this.truth;
        const aim = asked?.target && !(this.shape && this.truth.answers(this.shape.head));
        const marker = aim ? robot.markers.findIndex((m) => m.name === before.markers[asked.marker].name) : -1;
        const then = asked?.commands ?? this.move.commands;
        const commands = robot.commands.map((c) => then[before.commands.findIndex((b) => b.name === c.name)] ?? null);
        const moved = commands.some((c) => c !== null);
        return [commands, marker >= 0 ? { marker, target: asked.target } : asked || moved ? { commands } : null];
    }

    addMesh(message) {
        if (!this.robot?.ok) {
            return;
        }
        const none = new Uint32Array(0);
        Object.assign(message.head, { supports: [], pressures: [], layers: [], obstacles: [], ...message.head });
        const m = this.body.add(message.head, { held: none, pressed: none, layer: none, obstacle: new Float32Array(0), ...message.arrays });
        if (message.head.level === "fine") {
            this.fine = message.head;
            this.facts();
            if (!this.shape) {
                this.body.show(m.head.mesh, m.rest, null);
                this.parts.useMesh(m);
                this.stage.casts(m.surface.geometry);
                this.stage.invalidate();
            }
            this.sketch.end(true);
        } else {
            this.coarse = message.head;
        }
    }

    facts() {
        const r = this.robot;
        const rows = [
            ["File", r.file],
            [r.model === "full" ? "Mesh" : "Drawn as", `${this.fine.elements.toLocaleString("en")} elements, ${this.fine.vertices.toLocaleString("en")} vertices`],
            ["Size", r.high.map((h, i) => brief(h - r.low[i])).join(" × ") + " mm"],
            ["Regions", r.regions.map((g) => (g.material ? `${g.name} (${g.material})` : g.name)).join(", ")],
            ["Actuators", r.actuators.map((a) => `${a.name} (${a.kind}, ${a.drive})`).join(", ") || "none"],
            ...r.findings.filter((f) => f.severity === "warning").map((f) => ["Warning", f.text]),
        ];
        $("facts").replaceChildren(...rows.flatMap(([k, v]) => {
            const dt = document.createElement("dt");
            const dd = document.createElement("dd");
            dt.textContent = k;
            dd.textContent = v;
            return [dt, dd];
        }));
    }

    // ---- shapes
    // The first fine shape that answers a request, or null.
    solved(serial) {
        if (!serial) {
            return Promise.resolve(null);
        }
        return new Promise((give) => {
            this.waiting.set(serial, give);
            setTimeout(() => this.waiting.delete(serial) && give(null), 120000);
        });
    }

    hearShape(message) {
        if (message.head.robot !== this.robot?.robot) {
            return;
        }
        const head = message.head;
        unpack(head, this.robot);
        head.threads ??= [];
        message.arrays.thread ??= new Float32Array(0);
        // a large body's shape comes twice: at once, and with its details when the server has had time for them
        if (this.shape?.head.brief && this.shape.head.shape === head.shape) {
            Object.assign(this.shape.head, head, { brief: false });
            Object.assign(this.shape.arrays, message.arrays);
            this.detailed = this.shape;
            this.truth.decide();
            this.shapeStatus(this.shape.head);
            return;
        }
        if (!head.brief) {
            this.detailed = message;
        }
        this.shape = message;
        this.bytes = message.bytes;
        // numbers go on where an earlier page, or another viewer, left them: an old shape is no answer to a new request
        this.link.serial = Math.max(this.link.serial, head.serial ?? 0);
        // the sliders show the commands of the shape, unless this page has asked for others
        if (this.truth.fromElsewhere(head)) {
            this.truth.yield();
        }
        if (!this.truth.asked) {
            this.move.adopt(head.commands);
        }
        this.truth.decide();
        if (head.level === "fine") {
            this.timeline.hear(message);
        }
        this.reach.hear(head);
        this.reach.refresh();
        if (head.waypoint !== undefined && this.reach.frames) {
            this.reach.frames.push(message);
        }
        if (head.level === "fine") {
            for (const [serial, give] of this.waiting) {
                if (serial <= head.serial && head.viewer === this.viewer) {
                    this.waiting.delete(serial);
                    give(message);
                }
            }
        }
        this.shapeStatus(head);
    }

    hearTangent(message) {
        if (message.head.robot === this.robot?.robot) {
            this.predict.hear(message);
            this.truth.schedule();
        }
    }

    // Puts a shape on the stage.
    show(message, live) {
        const start = performance.now();
        const { head, arrays } = message;
        const mesh = this.body.meshes.get(head.mesh);
        if (!mesh) {
            return;
        }
        this.shown = message;
        this.parts.useMesh(mesh);
        this.look.offer(head);
        this.body.show(head.mesh, arrays.x, this.look.values(message, mesh));
        if (!head.predicted && this.truth.answers(head)) {
            this.stage.keepInView(arrays.x);
        }
        this.stage.casts(this.body.current.surface.geometry);
        this.parts.showActuators(head, arrays, (a) => this.efforts.share(a, head));
        this.parts.showMarkers(head, live);
        this.forces.useMesh(mesh);
        this.forces.show(message);
        this.bonded.useMesh(mesh);
        this.bonded.show(message, this.parts.plain);
        this.pull.draw();
        this.probe.show();
        this.move.showEfforts(head);
        this.readout(head);
        this.look.legend();
        this.save.refresh();
        this.stage.times.update.push(performance.now() - start);
        this.stage.invalidate();
    }

    readout(head) {
        const rows = this.robot.markers.map((m, k) => {
            const { position, displacement } = head.markers[k];
            return `<tr data-marker="${k}"><th scope="row"></th>${position.map((p) => `<td>${format(p, 2)}</td>`).join("")}<td class="change">${format(Math.hypot(...displacement), 2)}</td></tr>`;
        });
        const sensors = this.robot.sensors.map((s, k) => `<tr data-sensor="${k}"><th scope="row"></th><td colspan="3">${brief(head.sensors[k])} ${escaped(s.unit)}</td></tr>`);
        const springs = Object.values(head.record.springs ?? {}).map((s, k) => `<tr data-spring="${k}"><th scope="row"></th><td colspan="3">${brief(s.tension)} N, ${brief(s.length)} mm</td></tr>`);
        if (rows.length + sensors.length + springs.length === 0) {
            return;
        }
        const titles = rows.length ? '<thead><tr><td></td><td>x</td><td>y</td><td>z, mm</td><td class="change">moved</td></tr></thead>' : "";
        $("readout").innerHTML = `<table>${titles}<tbody>${rows.join("")}${sensors.join("")}${springs.join("")}</tbody></table>`;
        $("readout").querySelectorAll("tr[data-marker]").forEach((tr) => (tr.querySelector("th").textContent = this.robot.markers[tr.dataset.marker].name));
        $("readout").querySelectorAll("tr[data-spring]").forEach((tr) => (tr.querySelector("th").textContent = Object.keys(head.record.springs)[tr.dataset.spring]));
        $("readout").querySelectorAll("tr[data-sensor]").forEach((tr) => (tr.querySelector("th").textContent = this.robot.sensors[tr.dataset.sensor].name));
    }

    // ---- status in words
    status(tone, text, fraction) {
        this.said = [tone, text, fraction];
        if (this.truth?.silent) {
            return;
        }
        $("dot").className = `dot ${tone}`;
        if ($("status-text").textContent !== text) {
            $("status-text").replaceChildren(...explained(text));
        }
        $("progress").classList.toggle("on", fraction !== undefined);
        $("progress").firstElementChild.style.width = `${100 * (fraction ?? 0)}%`;
    }

    hearStatus(message) {
        this.state = message.state;
        if (message.state === "loading") {
            this.status("busy", `Opening the robot${message.text ? `: ${message.text}` : ""}`, message.fraction ?? 0);
        } else if (message.state === "solving") {
            const shown = this.shape?.head.level === "coarse" ? coarseText : this.shape ? "Solving" : "The robot is shown as drawn while its shape is solved";
            // the library says what it does as "solving: factorisation 80 %": one verb, one percentage
            const text = (message.text ?? "").replace(/^solving(: )?/, "");
            const done = text.endsWith("%") ? "" : message.fraction > 0 ? ` ${Math.floor(100 * message.fraction)} %` : "…";
            this.status("busy", `${shown}${text ? `: ${text}` : ""}${done}`, message.fraction ?? 0);
        } else if (message.state === "ready" && this.shape) {
            this.shapeStatus(this.shape.head);
        } else if (message.state === "problem") {
            this.status("bad", message.text);
        }
    }

    shapeStatus(head) {
        const coarse = head.level === "coarse";
        $("level").hidden = false;
        $("level").textContent = this.robot.model !== "full" ? this.robot.model.replaceAll("_", " ") : `${head.level} mesh`;
        if (head.live) {
            this.status("busy", this.motion.text(head.live));
        } else if (!this.truth.answers(head)) {
            this.status("busy", this.truth.waits ? "Waiting for the controls…" : "Solving…");
        } else if (coarse && head.waypoint === undefined) {
            this.status("busy", coarseText);
        } else if (head.solved) {
            const { pairs } = head.record.crossings ?? { pairs: 0 };
            const crossing = pairs > 0 ? ` But the body penetrates itself: ${pairs} pair${pairs === 1 ? "" : "s"} of surface triangles intersect.` : "";
            const mesh = head.mesh_error > 0.03 ? ` The mesh is coarse: the motion may be wrong by about ${brief(100 * head.mesh_error)} %.` : "";
            const model = modelErrorText(head.model_error);
            this.status(crossing || mesh || model.unknown ? "warn" : "good", `Solved in ${duration(head.seconds)}: ${head.iterations} iteration${head.iterations === 1 ? "" : "s"}${residualText(head.residual)}.${crossing}${mesh}${model.text}`);
        } else {
            this.status("warn", `Not solved (${head.outcome}): ${head.message}${unsolvedText(head)}`);
        }
    }

    // What the robot can do with a marker, from the server; null when it does not know. With `curve` it tries the curve out.
    suggest(marker, curve = false) {
        return new Promise((give) => {
            this.suggested = (message) => give(message.known ? message : null);
            if (!this.link.send({ type: "suggest", robot: this.robot.robot, marker, curve })) {
                give(null);
            }
        });
    }

    // ---- tabs, keys, theme
    wireTabs() {
        const tabs = [...$("tabs").children];
        const pick = (tab, focus) => {
            for (const t of tabs) {
                const on = t === tab;
                t.setAttribute("aria-selected", String(on));
                t.tabIndex = on ? 0 : -1;
                $(t.getAttribute("aria-controls")).hidden = !on;
            }
            this.reach.setActive(tab.id === "tab-reach");
            if (tab.id === "tab-time") {
                this.timeline.plot();
            }
            if (focus) {
                tab.focus();
            }
        };
        tabs.forEach((tab, i) => {
            tab.addEventListener("click", () => pick(tab));
            tab.addEventListener("keydown", (e) => {
                const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
                if (step) {
                    pick(tabs[(i + step + tabs.length) % tabs.length], true);
                }
            });
        });
    }

    wireKeys() {
        const keys = {
            f: ["Fit the robot into the view", () => this.stage.fit()],
            r: ["Go to rest", () => this.mayMove() && $("home").click()],
            u: ["Undo", () => this.mayMove() && this.move.undo()],
            g: ["Rest shape on or off", () => $("show-ghost").click()],
            e: ["Elements on or off", () => $("show-edges").click()],
            s: ["See through the body", () => $("show-inside").click()],
            c: ["Next colouring", () => this.look.next()],
            p: ["Pull the body with the mouse", () => this.pull.setOn(!this.pull.on)],
            " ": ["Play or pause", () => this.timeline.run && this.timeline.play(!this.timeline.playing)],
            "?": ["This list", () => this.showHelp()],
        };
        this.keys = keys;
        document.addEventListener("keydown", (e) => {
            // letters are keys everywhere but where text is typed; Space and Enter press the button that has the focus
            const target = e.target;
            const typing = /^(SELECT|TEXTAREA)$/.test(target.tagName) || (target.tagName === "INPUT" && !/^(checkbox|range)$/.test(target.type)) || Boolean(document.querySelector("dialog[open]"));
            const pressed = (e.key === " " || e.key === "Enter") && target !== this.stage.canvas && target !== document.body;
            if ((e.ctrlKey || e.metaKey) && e.key === "z" && this.mayMove()) {
                e.preventDefault();
                this.move.undo();
                return;
            }
            if (e.ctrlKey || e.metaKey || e.altKey || typing || pressed) {
                return;
            }
            if (keys[e.key]) {
                e.preventDefault();
                keys[e.key][1]();
            } else if (e.target === this.stage.canvas) {
                this.canvasKey(e);
            }
        });
        $("help-button").addEventListener("click", () => this.showHelp());
    }

    // On the view, arrows turn it; while pointing they move the target.
    canvasKey(e) {
        const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
        const step = (e.shiftKey ? 0.05 : 0.01) * (this.size || 100);
        if (arrow && this.parts.handle.visible) {
            this.reach.nudge(step * arrow[0], step * arrow[1], 0);
        } else if (arrow) {
            this.stage.orbit(-0.12 * arrow[0], -0.12 * arrow[1]);
        } else if ((e.key === "PageUp" || e.key === "PageDown") && this.parts.handle.visible) {
            this.reach.nudge(0, 0, e.key === "PageUp" ? step : -step);
        } else if (e.key === "+" || e.key === "=" || e.key === "-") {
            this.stage.zoom(e.key === "-" ? 1.15 : 1 / 1.15);
        } else {
            return;
        }
        e.preventDefault();
    }

    showHelp() {
        const rows = [
            ["Click", "probe a point of the body"],
            ["Shift + drag", "pull the body"],
            ["Drag", "turn; with the right button or two fingers move; wheel or pinch zoom"],
            ["Arrows", "turn the view; in Reach move the target (Shift: five times as far, Page keys: away and near)"],
            ["+ −", "zoom"],
            ...Object.entries(this.keys).map(([k, v]) => [k === " " ? "Space" : k.toUpperCase(), v[0]]),
        ];
        $("keys").innerHTML = rows.map(([k, v]) => `<dt><kbd>${k}</kbd></dt><dd>${v}</dd>`).join("");
        $("help").showModal();
    }

    wireTheme() {
        const system = matchMedia("(prefers-color-scheme: dark)");
        const set = (dark) => {
            this.dark = dark;
            document.documentElement.dataset.theme = dark ? "dark" : "light";
            this.body.setTheme(dark);
            this.parts.setTheme(dark);
            this.forces.setTheme(dark);
            this.stage.shadow.setTheme(dark);
            this.stage.invalidate();
        };
        const stored = localStorage.getItem("pliant:theme");
        set(stored ? stored === "dark" : system.matches);
        system.addEventListener("change", (e) => !localStorage.getItem("pliant:theme") && set(e.matches));
        $("theme-button").addEventListener("click", () => {
            localStorage.setItem("pliant:theme", this.dark ? "light" : "dark");
            set(!this.dark);
        });
    }
}

// The record of a shape, as `pliant fk --json` writes it, goes by name; the page counts as the robot message does.
function unpack(head, robot) {
    const { commands, actuators, markers, sensors, ...report } = head.record;
    const { outcome, message, iterations, residual, load_reached, mesh_error, model_error } = report;
    Object.assign(head, {
        solved: report.converged, outcome, message, iterations, residual, load_reached, // only `converged` says what is an answer
        mesh_error: mesh_error ?? 0,
        model_error: model_error ?? null,
        commands: robot.commands.map((c) => commands[c.name].value),
        actuators: robot.actuators.map((a) => ({ ...actuators[a.name], effort: actuators[a.name][a.effort] })),
        markers: robot.markers.map((m) => markers[m.name]),
        sensors: robot.sensors.map((s) => sensors[s.name]),
    });
}

// The error of a reduced, learned or adapted model, which every answer of it carries.
function modelErrorText(error) {
    if (!error || error.source === "not measured") {
        return { text: "", unknown: false };
    }
    return error.mm === null
        ? { text: " The error of the model is not known here.", unknown: true }
        : { text: ` The model itself may be ${brief(error.mm)} mm off (${Math.round(100 * error.confidence)} %, from ${error.source}).`, unknown: false };
}

const coarseText = "The coarse mesh is shown while the fine one is solving";

// What is shown in place of an answer.
function unsolvedText({ record, load_reached: reached }) {
    if (record.equilibrium === false) {
        return " No equilibrium was found: the shape before is shown.";
    }
    return reached < 1 ? ` Shown: the equilibrium at ${Math.round(100 * reached)} % of the load.` : "";
}

// After inverse kinematics of a reduced model there is none.
function residualText(residual) {
    return residual === null ? "" : `, residual ${residual.toExponential(1).replace("-", "−")} N`;
}

function duration(seconds) {
    return seconds >= 0.995 ? `${brief(seconds)} s` : seconds >= 0.001 ? `${Math.round(1000 * seconds)} ms` : "less than 1 ms";
}

// Without WebGL there is no view: the page says so instead of waiting.
function start() {
    try {
        window.pliant = new App();
    } catch (error) {
        const gl = document.createElement("canvas").getContext("webgl2");
        $("dot").className = "dot bad";
        $("status-text").textContent = gl ? `The page cannot start: ${error.message}` : "This browser has no WebGL 2, which the view is drawn with. Turn on hardware acceleration, or use another browser.";
    }
}

start();
