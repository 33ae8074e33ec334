// Pointing: the handle of a marker is dragged, the robot follows; paths are drawn, loaded, followed; the workspace.
import * as THREE from "three";
import { brief, format } from "./colours.js";
import { plotSvg } from "./plot.js";
import { readNumber } from "./fields.js";
import { Run } from "./runs.js";
import { point } from "./truth.js";

const $ = (id) => document.getElementById(id);
const axes = ["x", "y", "z"];

export class Reach {
    // app: link, robot, stage, parts, mayMove(), toast(), move
    constructor(app) {
        this.app = app;
        this.active = false;
        this.marker = 0;
        this.target = null; // THREE.Vector3, mm
        this.points = null; // of the path, flat
        const canvas = app.stage.canvas;
        canvas.addEventListener("pointerdown", (e) => this.down(e), true);
        canvas.addEventListener("pointermove", (e) => this.drag(e), true);
        for (const name of ["pointerup", "pointercancel"]) {
            canvas.addEventListener(name, (e) => this.up(e), true);
        }
        $("reach-marker").addEventListener("change", () => {
            this.marker = Number($("reach-marker").value);
            this.target = null;
            this.refresh();
        });
        axes.forEach((a, i) => $(`target-${a}`).addEventListener("change", (e) => {
            const value = readNumber(e.target, { name: a });
            if (value !== null) {
                const goal = this.goal().clone();
                goal.setComponent(i, value);
                this.aim(goal);
            }
        }));
        this.wirePath();
        this.app.stage.after.push(() => this.placeLabel());
    }

    reset(robot) {
        this.robot = robot;
        this.marker = 0;
        this.target = null;
        this.points = null;
        this.record = null;
        $("reach-marker").replaceChildren(...robot.markers.map((m, i) => new Option(m.name, i)));
        $("path-plot").hidden = true;
        $("path-text").innerHTML = "&nbsp;";
        $("cloud-text").innerHTML = "&nbsp;";
        $("cloud-clear").disabled = true;
        this.tell("", "");
        this.setPoints(null);
        this.refresh();
    }

    // The target that is asked for again of a robot that was opened again.
    resume(request) {
        if (request?.target) {
            this.marker = request.marker;
            $("reach-marker").value = request.marker;
            this.target = new THREE.Vector3().fromArray(request.target);
            this.refresh();
        }
    }

    setActive(on) {
        this.active = on;
        this.refresh();
    }

    // Where the marker is, and where it should be.
    place() {
        return new THREE.Vector3().fromArray(this.app.shown?.head.markers[this.marker]?.position ?? this.robot.markers[this.marker].rest);
    }

    goal() {
        return this.target ?? this.place();
    }

    get possible() {
        return Boolean(this.robot && this.robot.markers.length > 0 && this.robot.commands.length > 0);
    }

    refresh() {
        const { parts, stage } = this.app;
        const on = this.active && this.possible && this.app.mayMove();
        parts.handle.visible = on;
        for (const a of axes) {
            $(`target-${a}`).disabled = !this.possible || !this.app.mayMove();
        }
        for (const id of ["path-draw", "path-load", "path-circle", "path-eight", "path-line", "cloud"]) {
            $(id).disabled = !this.possible || !this.app.mayMove();
        }
        $("path-follow").disabled = !this.points || !this.app.mayMove();
        $("path-clear").disabled = !this.points;
        if (!this.robot || !this.possible) {
            $("reach-hint").textContent = "Pointing needs a marker and at least one command; this robot lacks one of them.";
            return;
        }
        const goal = this.goal();
        parts.handle.position.copy(goal);
        axes.forEach((a, i) => {
            if (document.activeElement !== $(`target-${a}`) && !$(`target-${a}`).hasAttribute("aria-invalid")) {
                $(`target-${a}`).value = format(goal.getComponent(i), 2).replace("−", "-");
            }
        });
        const here = this.place();
        const short = this.target && here.distanceTo(this.target) > 0.004 * parts.size;
        parts.setGap(this.active && short ? [...here.toArray(), ...this.target.toArray()] : null);
        stage.invalidate();
    }

    placeLabel() {
        const { parts, stage } = this.app;
        if (parts.ring && parts.handle.visible) {
            parts.ring.quaternion.copy(stage.camera.quaternion);
        }
        const label = $("target-label");
        const far = this.active && this.target ? this.place().distanceTo(this.target) : 0;
        label.hidden = !parts.gap.visible;
        if (!label.hidden) {
            const p = stage.project(this.target);
            label.style.left = `${p.x}px`;
            label.style.top = `${p.y}px`;
            label.textContent = `${brief(far)} mm away`;
        }
    }

    // ---- dragging
    // Which part of the handle lies under the pointer: "plane", 0, 1, 2 or null.
    pick(event) {
        const { parts, stage } = this.app;
        const box = stage.canvas.getBoundingClientRect();
        const x = event.clientX - box.left;
        const y = event.clientY - box.top;
        const near = event.pointerType === "touch" ? 30 : 20;
        const distance = (p) => {
            const q = stage.project(p);
            return Math.hypot(q.x - x, q.y - y);
        };
        const centre = this.goal();
        let best = null;
        let least = near;
        for (let axis = 0; axis < 3; ++axis) {
            const tip = centre.clone();
            tip.setComponent(axis, tip.getComponent(axis) + parts.armLength);
            // an arm that points at the eye lies on the ring
            if (distance(tip) < least && stage.project(centre) && Math.hypot(stage.project(tip).x - stage.project(centre).x, stage.project(tip).y - stage.project(centre).y) > 18) {
                least = distance(tip);
                best = axis;
            }
        }
        if (distance(centre) < Math.max(near, (0.06 * parts.size) / stage.pixelSize(centre)) && (best === null || distance(centre) < least)) {
            best = "plane";
        }
        return best;
    }

    ray(event) {
        const { stage } = this.app;
        const box = stage.canvas.getBoundingClientRect();
        const caster = new THREE.Raycaster();
        caster.setFromCamera(new THREE.Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height), stage.camera);
        return caster.ray;
    }

    down(event) {
        if (!this.active || !this.app.parts.handle.visible || event.button !== 0) {
            return;
        }
        if (this.drawing) {
            this.startDrawing(event);
            return;
        }
        const part = this.pick(event);
        if (part === null) {
            return;
        }
        event.stopImmediatePropagation();
        event.preventDefault();
        this.app.stage.canvas.setPointerCapture(event.pointerId);
        const normal = this.app.stage.camera.getWorldDirection(new THREE.Vector3());
        const from = this.goal().clone();
        this.grip = { id: event.pointerId, part, from, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, from) };
        const hit = this.hit(event);
        this.grip.offset = hit ? from.clone().sub(hit) : new THREE.Vector3();
        this.before = [...this.app.move.commands];
    }

    // Where the pointer's ray meets the plane of the view, or comes nearest to the axis dragged.
    hit(event) {
        const ray = this.ray(event);
        const { part, from, plane } = this.grip;
        if (part === "plane") {
            return ray.intersectPlane(plane, new THREE.Vector3());
        }
        // nearest point of the line from + s a to the ray
        const a = new THREE.Vector3().setComponent(part, 1);
        const w = from.clone().sub(ray.origin);
        const b = a.dot(ray.direction);
        const denominator = 1 - b * b;
        if (denominator < 1e-4) {
            return null;
        }
        const s = (b * w.dot(ray.direction) - w.dot(a)) / denominator;
        return from.clone().addScaledVector(a, s);
    }

    drag(event) {
        if (this.pen && event.pointerId === this.pen.id) {
            this.draw(event);
            return;
        }
        if (!this.grip || event.pointerId !== this.grip.id) {
            if (this.active && event.pointerType === "mouse" && !event.buttons) {
                this.app.stage.canvas.style.cursor = this.drawing ? "crosshair" : this.pick(event) === null ? "" : "grab";
            }
            return;
        }
        event.stopImmediatePropagation();
        const hit = this.hit(event);
        if (hit) {
            this.aim(hit.add(this.grip.offset));
        }
    }

    up(event) {
        if (this.pen && event.pointerId === this.pen.id) {
            this.endDrawing(event);
        } else if (this.grip && event.pointerId === this.grip.id) {
            event.stopImmediatePropagation();
            this.grip = null;
            this.app.move.before = this.before;
            this.settle = true; // what the answer brings can be undone as one step
        }
    }

    // A new target; the robot follows.
    aim(goal) {
        this.target = goal.clone();
        this.app.timeline.backToLive();
        this.app.truth.ask({ marker: this.marker, target: goal.toArray() });
        this.tell("", `${point(goal.toArray())}: solving…`);
        this.refresh();
    }

    nudge(across, up, away) {
        const camera = this.app.stage.camera;
        const goal = this.goal().clone();
        const step = new THREE.Vector3(across, up, -away).applyQuaternion(camera.quaternion);
        this.aim(goal.add(step));
    }

    // ---- what came of it
    hear(head) {
        if (!head.ik) {
            if (!this.grip && head.level === "fine") {
                this.target = null; // commands moved the robot: the handle goes back to the marker
                this.tell("", "");
            }
            return;
        }
        if (this.app.truth.asked?.target) {
            this.app.move.adopt(head.commands);
        }
        if (this.settle && head.level === "fine") {
            this.settle = false;
            this.app.move.keep();
        }
        const { outcome, distance, bounds, target } = head.ik;
        // the verdict names its target, and says when another has been asked for since
        const current = this.app.truth.answers(head) || head.towards === this.app.link.serial;
        const about = `${current ? "" : "Earlier target "}${point(target)} on the ${this.robot.model === "full" ? `${head.level} mesh` : `${this.robot.model.replaceAll("_", " ")} model`}:`;
        if (head.ik.searching) {
            this.tell("warn", `${about} ${brief(distance)} mm away so far, still searching.`);
        } else if (outcome === "reached") {
            const model = head.ik.model_error > 0 ? ` by the model, whose own error is at most ${brief(head.ik.model_error)} mm (${Math.round(100 * head.ik.confidence)} %)` : "";
            this.tell("good", `${about} reached, ${brief(distance)} mm off${model}.`);
        } else if (outcome === "uncertain") {
            this.tell("warn", `${about} ${head.ik.message}.`);
        } else if (outcome === "nearest") {
            const which = bounds.length ? ` At its limit: ${bounds.map((b) => `${b.name} (${b.upper ? "upper" : "lower"})`).join(", ")}.` : "";
            this.tell("warn", `${about} out of reach. This is the nearest point, ${brief(distance)} mm away.${which}`);
        } else {
            this.tell("bad", `${about} ${head.ik.message || outcome} (${brief(distance)} mm away).`);
        }
    }

    tell(tone, text) {
        $("reach-result").className = `result ${tone}`;
        $("reach-result").textContent = text || "\u00a0";
    }

    // ---- paths
    wirePath() {
        $("path-draw").addEventListener("click", () => this.setDrawing(!this.drawing));
        $("path-load").addEventListener("click", () => $("path-file").click());
        $("path-file").addEventListener("change", () => this.load());
        $("path-circle").addEventListener("click", () => this.shape(Object.assign((s) => [Math.cos(s) - 1, Math.sin(s)], { from: 1 })));
        $("path-eight").addEventListener("click", () => this.shape((s) => [Math.sin(s), 0.5 * Math.sin(2 * s)]));
        $("path-line").addEventListener("click", () => this.shape(Object.assign((s) => [1 - Math.cos(s), 0], { from: -1 })));
        $("path-clear").addEventListener("click", () => this.setPoints(null));
        $("path-follow").addEventListener("click", () => this.follow());
        $("cloud").addEventListener("click", () => this.askCloud());
        $("cloud-clear").addEventListener("click", () => this.showCloud(null));
    }

    basis() {
        const plane = $("path-plane").value;
        const q = this.app.stage.camera.quaternion;
        const unit = (k) => new THREE.Vector3().setComponent(k, 1);
        return plane === "view"
            ? [new THREE.Vector3(1, 0, 0).applyQuaternion(q), new THREE.Vector3(0, 1, 0).applyQuaternion(q)]
            : [unit(axes.indexOf(plane[0])), unit(axes.indexOf(plane[1]))];
    }

    // A closed curve that begins where the marker is; `curve` is of size 2.
    async shape(curve) {
        const fits = $("path-plane").value === "workspace";
        if (fits) {
            $("path-text").textContent = "Trying where the marker can go…";
        }
        const inside = fits ? await this.app.suggest(this.marker, true) : null;
        const typed = $("path-size").value.trim() !== "" ? readNumber($("path-size"), { name: "Size", low: 0.001, high: 1e5, unit: "mm" }) : 0;
        const count = readNumber($("path-count"), { name: "Points", low: 2, high: 400, whole: true });
        if (typed === null || count === null) {
            $("path-text").textContent = "\u00a0";
            return;
        }
        if (inside?.directions === 1 && inside.path.length >= 6) {
            this.along(inside.path);
            return;
        }
        if (inside && (inside.directions === 0 || (!typed && !(inside.reach[1] > 0)))) {
            this.setPoints(null);
            $("path-text").textContent = "No curve of this marker was found that the robot can follow; load or draw one.";
            return;
        }
        // without a size, as large as fits into the workspace about its middle
        const [u, v] = inside ? [inside.u, inside.v].map((a) => new THREE.Vector3().fromArray(a)) : this.basis();
        const room = inside ? Math.min(...inside.reach) : 0.05 * this.app.parts.size;
        const size = typed || roundDown(2 * room);
        const half = 0.5 * size;
        const origin = inside ? new THREE.Vector3().fromArray(inside.place).addScaledVector(u, inside && curve.from ? curve.from * half : 0) : this.place();
        const points = [];
        for (let k = 0; k < count; ++k) {
            const [a, b] = curve((2 * Math.PI * k) / (count - 1));
            points.push(...origin.clone().addScaledVector(u, half * a).addScaledVector(v, half * b).toArray());
        }
        this.setPoints(points);
        $("path-text").textContent += ` ${brief(size)} mm wide.`;
    }

    // A marker that moves along one curve only follows that, to and fro.
    along(curve) {
        const back = [];
        for (let k = curve.length - 6; k >= 0; k -= 3) {
            back.push(...curve.slice(k, k + 3));
        }
        this.setPoints([...curve, ...back]);
        $("path-text").textContent += " The marker moves along one curve only: the path lies on it.";
    }

    setPoints(points) {
        this.points = points;
        this.record = null;
        this.app.parts.setPath(points);
        this.app.parts.setReached(null);
        $("path-plot").hidden = true;
        $("path-text").textContent = points ? `${points.length / 3} points, ${brief(pathLength(points))} mm long.` : "\u00a0";
        this.refresh();
        this.app.stage.invalidate();
    }

    setDrawing(on) {
        this.drawing = on;
        $("path-draw").setAttribute("aria-pressed", String(on));
        if (on) {
            $("path-text").textContent = "Draw in the view, in its plane through the marker.";
        }
    }

    startDrawing(event) {
        event.stopImmediatePropagation();
        this.app.stage.canvas.setPointerCapture(event.pointerId);
        const from = this.place();
        const normal = this.app.stage.camera.getWorldDirection(new THREE.Vector3());
        this.pen = { id: event.pointerId, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, from), points: [] };
        this.draw(event);
    }

    draw(event) {
        event.stopImmediatePropagation();
        const hit = this.ray(event).intersectPlane(this.pen.plane, new THREE.Vector3());
        const p = this.pen.points;
        if (hit && (p.length === 0 || hit.distanceTo(new THREE.Vector3().fromArray(p, p.length - 3)) > 0.004 * this.app.parts.size)) {
            p.push(...hit.toArray());
            this.app.parts.setPath(p);
            this.app.stage.invalidate();
        }
    }

    endDrawing(event) {
        event.stopImmediatePropagation();
        const points = this.pen.points;
        this.pen = null;
        this.setDrawing(false);
        if (points.length >= 6) {
            this.setPoints(resample(points, Math.max(2, Math.min(400, Math.round(Number($("path-count").value)) || 24))));
        }
    }

    async load() {
        const file = $("path-file").files[0];
        $("path-file").value = "";
        if (!file) {
            return;
        }
        const text = await file.text();
        if (text.length > 200000) {
            this.app.toast(`${file.name}: ${Math.round(text.length / 1000)} kB are too much for a path of at most 4000 points.`);
            return;
        }
        this.app.link.send({ type: "read", name: file.name, text }); // headers and units as in `pliant follow`
    }

    follow() {
        if (this.following) {
            this.app.link.send({ type: "cancel" });
            return;
        }
        this.app.timeline.backToLive();
        this.frames = [];
        this.following = this.app.link.send({ type: "follow", robot: this.robot.robot, marker: this.marker, points: this.points });
        if (this.following) {
            this.app.truth.ask({ follow: true });
        }
        $("path-follow").textContent = "Stop";
    }

    // A path message: what has been followed so far.
    hearPath(message) {
        this.record = message;
        const reached = message.waypoints.flatMap((w) => w.position);
        this.app.parts.setReached(reached);
        const errors = message.waypoints.map((w) => w.distance);
        if (errors.length > 1) {
            $("path-plot").innerHTML = plotSvg({ curves: [{ x: errors.map((_, i) => i + 1), y: errors }], xLabel: "point", yLabel: "distance from the path, mm" });
            $("path-plot").hidden = false;
        }
        const uncertain = message.waypoints.filter((w) => w.outcome === "uncertain");
        const missed = message.waypoints.filter((w) => w.outcome !== "reached").length - uncertain.length;
        const known = uncertain.every((w) => w.model_error !== null);
        const own = uncertain.length ? `; the model itself may be ${known ? `${brief(Math.max(...uncertain.map((w) => w.model_error)))} mm off` : "off by an unknown error"}` : "";
        $("path-text").textContent = `${message.waypoints.length} of ${message.count} points; largest distance ${brief(Math.max(0, ...errors))} mm${missed ? `; ${missed} out of reach` : ""}${own}.`;
        if (message.done) {
            this.following = false;
            $("path-follow").textContent = "Follow";
            if (this.frames?.length > 1) {
                this.app.timeline.add(Run.fromFrames(this.robot, `path of ${this.robot.markers[message.marker].name}`, this.frames));
            }
            this.frames = [];
        }
        this.app.stage.invalidate();
    }

    // ---- the workspace
    askCloud() {
        if (this.sampling) {
            this.app.link.send({ type: "cancel" });
            return;
        }
        this.sampling = this.app.link.send({ type: "cloud", robot: this.robot.robot, marker: this.marker, count: 300 });
        $("cloud").textContent = "Stop";
    }

    hearCloud(message) {
        this.showCloud(message.arrays.point.slice());
        const { count, planned, done, level, hull } = message.head;
        $("cloud-text").textContent = `${count} of ${planned} poses on the ${level} mesh${hull ? `; the points span ${hull}` : ""}.`;
        if (done) {
            this.sampling = false;
            $("cloud").textContent = "Show where it can go";
        }
    }

    showCloud(points) {
        this.app.parts.setCloud(points?.length ? points : null);
        $("cloud-clear").disabled = !points;
        if (!points) {
            $("cloud-text").innerHTML = "&nbsp;";
        }
        this.app.stage.invalidate();
    }

    // A request was refused: nothing runs.
    refused() {
        this.following = this.sampling = false;
        $("path-follow").textContent = "Follow";
        $("cloud").textContent = "Show where it can go";
    }
}

function pathLength(p) {
    let sum = 0;
    for (let i = 3; i < p.length; i += 3) {
        sum += Math.hypot(p[i] - p[i - 3], p[i + 1] - p[i - 2], p[i + 2] - p[i - 1]);
    }
    return sum;
}

// `count` points equally far apart along a polyline.
export function resample(p, count) {
    const total = pathLength(p);
    const out = [];
    let i = 3;
    let walked = 0;
    for (let k = 0; k < count; ++k) {
        const wanted = (total * k) / (count - 1);
        let piece = Math.hypot(p[i] - p[i - 3], p[i + 1] - p[i - 2], p[i + 2] - p[i - 1]);
        while (walked + piece < wanted && i + 3 < p.length) {
            walked += piece;
            i += 3;
            piece = Math.hypot(p[i] - p[i - 3], p[i + 1] - p[i - 2], p[i + 2] - p[i - 1]);
        }
        const s = piece > 0 ? Math.min(1, (wanted - walked) / piece) : 0;
        for (let c = 0; c < 3; ++c) {
            out.push(p[i - 3 + c] + s * (p[i + c] - p[i - 3 + c]));
        }
    }
    return out;
}

// To two digits, not above.
function roundDown(value) {
    const step = 10 ** (Math.floor(Math.log10(value)) - 1);
    return Number((step * Math.floor(value / step + 1e-9)).toPrecision(2));
}
