// The stage: renderer, camera, light, grid, the axes in the corner and the scale bar.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Shadow } from "./shadow.js";

const views = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1], "-x": [-1, 0, 0], "-y": [0, -1, 0], "-z": [0, 0, -1] };
const axisInk = { x: "#d2554b", y: "#4f9d5b", z: "#4678c8" };

export class Stage {
    constructor(canvas) {
        this.canvas = canvas;
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
        this.renderer.localClippingEnabled = true;
        this.renderer.setClearColor(0, 0);
        this.scene = new THREE.Scene();
        this.camera = new THREE.PerspectiveCamera(32, 1, 0.1, 10000);
        this.camera.up.set(0, 0, 1);
        this.camera.position.set(200, -260, 160);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.enableDamping = false;
        this.controls.zoomToCursor = true;
        this.controls.addEventListener("change", () => this.invalidate());
        this.controls.addEventListener("start", () => (this.held = true)); // a hand has chosen where to look from
        // daylight from above, a lamp over the eye's left shoulder, a weak one from the right, an edge from behind
        this.scene.add(new THREE.HemisphereLight(0xffffff, 0xa8b0b8, 1.25));
        this.lamps = [
            [new THREE.DirectionalLight(0xfff8ee, 2.0), [-0.55, 0.75, 0.85]],
            [new THREE.DirectionalLight(0xe8f0ff, 0.55), [1, -0.15, 0.6]],
            [new THREE.DirectionalLight(0xffffff, 0.8), [0.35, 0.8, -1]],
        ];
        this.scene.add(...this.lamps.flatMap(([lamp]) => [lamp, lamp.target]));
        this.shadow = new Shadow(this);
        this.grid = null;
        this.low = new THREE.Vector3(-50, -50, -50);
        this.high = new THREE.Vector3(50, 50, 50);
        this.times = { render: [], update: [], frames: 0 };
        this.after = []; // called after every drawing
        this.gizmo();
        new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
        this.resize();
    }

    resize() {
        const box = this.canvas.parentElement.getBoundingClientRect();
        const width = Math.max(1, Math.round(box.width));
        const height = Math.max(1, Math.round(box.height));
        this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
        this.renderer.setSize(width, height, false);
        this.camera.aspect = width / height;
        this.camera.updateProjectionMatrix();
        this.width = width;
        this.height = height;
        this.invalidate();
    }

    invalidate() {
        if (!this.waiting) {
            this.waiting = true;
            requestAnimationFrame(() => this.draw());
        }
    }

    draw() {
        this.waiting = false;
        const start = performance.now();
        const away = this.camera.position.distanceTo(this.controls.target);
        for (const [lamp, place] of this.lamps) {
            lamp.position.fromArray(place).multiplyScalar(away).applyQuaternion(this.camera.quaternion).add(this.controls.target);
            lamp.target.position.copy(this.controls.target);
        }
        if (this.cast) {
            this.shadow.update(this.cast);
            this.cast = null;
        }
        this.renderer.render(this.scene, this.camera);
        this.scaleBar();
        this.turnGizmo();
        for (const call of this.after) {
            call();
        }
        this.times.render.push(performance.now() - start);
        this.times.render.splice(0, Math.max(0, this.times.render.length - 400));
        ++this.times.frames;
    }

    // The box of the robot, mm.
    setBox(low, high) {
        this.now = null;
        this.held = false;
        this.low.fromArray(low);
        this.high.fromArray(high);
        const size = this.low.distanceTo(this.high);
        const step = niceStep(size / 6);
        const cells = 2 * Math.ceil((1.1 * size) / step);
        if (this.grid) {
            this.scene.remove(this.grid);
            this.grid.geometry.dispose();
        }
        this.grid = new THREE.GridHelper(cells * step, cells, 0x888888, 0x888888);
        this.grid.rotation.x = Math.PI / 2;
        this.grid.material.transparent = true;
        this.grid.material.opacity = 0.16;
        this.grid.material.depthWrite = false;
        const middle = this.low.clone().add(this.high).multiplyScalar(0.5);
        this.grid.position.set(Math.round(middle.x / step) * step, Math.round(middle.y / step) * step, this.low.z - 0.25 * size);
        this.scene.add(this.grid);
        this.shadow.place(middle, size, this.grid.position.z);
    }

    // The body has another shape: its shadow is drawn again with the next picture.
    casts(geometry) {
        this.cast = geometry;
    }

    // The shape shown, 3 numbers per vertex. One that has left the view is brought back, unless a hand has turned the view.
    keepInView(x) {
        const low = new THREE.Vector3(Infinity, Infinity, Infinity);
        const high = low.clone().negate();
        const p = new THREE.Vector3();
        for (let i = 0; i < x.length; i += 3) {
            p.fromArray(x, i);
            low.min(p);
            high.max(p);
        }
        this.now = { low, high };
        this.camera.updateMatrixWorld();
        const out = [0, 1, 2, 3, 4, 5, 6, 7].some((k) => {
            p.set(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z).project(this.camera);
            return Math.abs(p.x) > 1 || Math.abs(p.y) > 1;
        });
        if (out && !this.held) {
            this.fit();
        }
    }

    // Puts the whole robot, at rest and as it is shown, into the view, seen from `direction` (or from where the eye is).
    fit(direction) {
        const low = this.low.clone().min(this.now?.low ?? this.low);
        const high = this.high.clone().max(this.now?.high ?? this.high);
        const middle = low.clone().add(high).multiplyScalar(0.5);
        const radius = 0.5 * low.distanceTo(high);
        const d = direction
            ? new THREE.Vector3().fromArray(direction).normalize()
            : this.camera.position.clone().sub(this.controls.target).normalize();
        const half = (this.camera.fov * Math.PI) / 360;
        const across = Math.min(1, this.camera.aspect);
        const distance = (1.28 * radius) / (Math.sin(half) * across);
        // straight down there is no up: lean a little
        if (Math.abs(d.z) > 0.999) {
            d.y = -1e-3;
            d.normalize();
        }
        this.controls.target.copy(middle);
        this.camera.position.copy(middle).addScaledVector(d, distance);
        this.camera.near = distance / 200;
        this.camera.far = distance * 20;
        this.camera.updateProjectionMatrix();
        this.controls.update();
        this.invalidate();
    }

    // Puts the eye somewhere, mm.
    look(eye, target) {
        this.held = true;
        this.camera.position.fromArray(eye);
        this.controls.target.fromArray(target);
        this.controls.update();
        this.invalidate();
    }

    orbit(across, up) {
        const offset = this.camera.position.clone().sub(this.controls.target);
        const s = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
        s.theta += across;
        s.phi = Math.min(Math.PI - 0.01, Math.max(0.01, s.phi + up));
        const p = new THREE.Vector3().setFromSpherical(s);
        this.camera.position.set(p.x, -p.z, p.y).add(this.controls.target);
        this.controls.update();
        this.invalidate();
    }

    zoom(factor) {
        this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
        this.controls.update();
        this.invalidate();
    }

    // mm per pixel at a point
    pixelSize(point) {
        const depth = Math.abs(point.clone().applyMatrix4(this.camera.matrixWorldInverse).z);
        return (2 * depth * Math.tan((this.camera.fov * Math.PI) / 360)) / this.height;
    }

    // Where a point lies on the canvas, in pixels.
    project(point) {
        const p = point.clone().project(this.camera);
        return { x: 0.5 * (p.x + 1) * this.width, y: 0.5 * (1 - p.y) * this.height, z: p.z };
    }

    scaleBar() {
        const mm = this.pixelSize(this.controls.target);
        const length = niceStep(150 * mm);
        const element = document.getElementById("scale");
        element.querySelector("i").style.width = `${(length / mm).toFixed(1)}px`;
        element.querySelector("span").textContent = length >= 1 ? `${length} mm` : `${Math.round(1000 * length)} µm`;
    }

    // ---- the axes in the corner; each end is a button that looks along it
    gizmo() {
        const svg = document.getElementById("gizmo");
        this.ends = Object.entries(views).map(([name, direction]) => {
            const g = document.createElementNS("http://www.w3.org/2000/svg", "g");
            const positive = name.length === 1;
            const ink = axisInk[name.at(-1)];
            g.innerHTML = `${positive ? `<line stroke="${ink}" stroke-width="3" stroke-linecap="round"/>` : ""}<circle r="${positive ? 11 : 7}" fill="${ink}" fill-opacity="${positive ? 1 : 0.3}"/>${positive ? `<text>${name}</text>` : ""}`;
            g.setAttribute("role", "button");
            g.setAttribute("tabindex", positive ? "0" : "-1");
            g.setAttribute("aria-label", `Look from ${name}`);
            const go = () => this.fit(direction);
            g.addEventListener("click", go);
            g.addEventListener("keydown", (e) => (e.key === "Enter" || e.key === " ") && (e.preventDefault(), go()));
            svg.append(g);
            return { g, direction: new THREE.Vector3().fromArray(direction) };
        });
    }

    turnGizmo() {
        const inverse = this.camera.quaternion.clone().invert();
        const placed = this.ends.map(({ g, direction }) => {
            const d = direction.clone().applyQuaternion(inverse);
            const x = (36 * d.x).toFixed(1);
            const y = (-36 * d.y).toFixed(1);
            g.querySelector("circle").setAttribute("cx", x);
            g.querySelector("circle").setAttribute("cy", y);
            const line = g.querySelector("line");
            line?.setAttribute("x2", x);
            line?.setAttribute("y2", y);
            const text = g.querySelector("text");
            text?.setAttribute("x", x);
            text?.setAttribute("y", y);
            return { g, depth: d.z };
        });
        // nearer ends are drawn later; moving a focused element would take its focus away
        const order = placed.sort((a, b) => a.depth - b.depth).map((p) => p.g);
        const svg = order[0].parentNode;
        if (!svg.contains(document.activeElement) && order.some((g, i) => svg.children[i] !== g)) {
            svg.append(...order);
        }
    }

    picture() {
        this.draw();
        const from = this.renderer.domElement;
        const flat = document.createElement("canvas");
        flat.width = from.width;
        flat.height = from.height;
        const context = flat.getContext("2d");
        context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--ground");
        context.fillRect(0, 0, flat.width, flat.height);
        context.drawImage(from, 0, 0);
        return flat;
    }
}

// 1, 2 or 5 times a power of ten, not above `size`.
export function niceStep(size) {
    const power = 10 ** Math.floor(Math.log10(size));
    const lead = size / power;
    return Number(((lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power).toPrecision(1));
}
