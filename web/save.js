// Saving: pictures, shapes, commands.
import * as THREE from "three";
import { GLTFExporter } from "three/addons/exporters/GLTFExporter.js";

const $ = (id) => document.getElementById(id);

export function download(name, data, type) {
    const url = URL.createObjectURL(new Blob([data], { type }));
    const a = document.createElement("a");
    a.href = url;
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export class Save {
    constructor(app) {
        this.app = app;
        $("save-png").addEventListener("click", () => this.png());
        $("save-gltf").addEventListener("click", () => this.solved() && this.gltf());
        $("save-csv").addEventListener("click", () => this.solved() && this.ask({ format: "csv", shapes: this.shapes() }));
        for (const format of ["vtu", "stl", "obj", "ply"]) {
            $(`save-${format}`).addEventListener("click", () => this.solved() && this.ask({ format, shapes: [this.app.shown.head.shape] }));
        }
        $("save-gcode").addEventListener("click", () => this.solved() && this.ask({ format: "gcode", shapes: this.shapes() }));
        $("save-run").addEventListener("change", () => this.refresh());
    }

    get name() {
        return (this.app.robot?.name || "robot").replace(/[^\w.-]+/g, "_");
    }

    ask(what) {
        this.app.link.send({ type: "export", robot: this.app.robot.robot, ...what });
    }

    // A predicted shape is no result: nothing is written of it.
    solved() {
        const head = this.app.shown?.head;
        if (!head || head.predicted) {
            this.app.toast(head ? "The shape shown is predicted. Files are written of solved shapes: wait a moment." : "Nothing is solved yet.");
        }
        return Boolean(head && !head.predicted);
    }

    // ---- what is written
    // After a sweep or a path every step of it; after the next move the pose shown.
    wholeRun(on) {
        $("save-run").checked = on;
        this.refresh();
    }

    refresh() {
        const { timeline, shown } = this.app;
        const steps = timeline.solvedRows().length;
        $("save-run").disabled = !steps;
        $("save-run-text").textContent = steps ? `Every step of the ${timeline.run.name} (${steps} steps)` : "Every step of a run";
        $("save-hint").textContent = shown ? `Files hold the pose shown: ${this.title(shown.head)}.` : "Nothing is shown yet.";
    }

    // A shape in one line: commands and mesh.
    title(head) {
        const commands = this.app.robot.commands.map((c, i) => `${c.name} ${head.commands[i] === null ? "idle" : `${Number(head.commands[i].toPrecision(6))}${c.unit ? ` ${c.unit}` : ""}`}`);
        const mesh = this.app.robot.model === "full" ? `${head.level} mesh` : this.app.robot.model;
        return `${[...commands, mesh].join(", ")}${head.solved ? "" : `, not solved (${head.outcome})`}`;
    }

    png() {
        this.app.stage.picture().toBlob((blob) => download(`${this.name}.png`, blob, "image/png"), "image/png");
    }

    // The surface shown, with its colours; glTF counts in metres and has y up.
    gltf() {
        const { body, robot, shown, viewerVersion } = this.app;
        const scene = new THREE.Scene();
        const mesh = new THREE.Mesh(body.current.surface.geometry.clone(), new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.6, metalness: 0 }));
        mesh.name = this.name;
        mesh.userData = { robot: robot.name, hash: robot.hash, shape: this.title(shown.head), sensors: Object.fromEntries(robot.sensors.map((s, k) => [`${s.name} [${s.unit}]`, shown.head.sensors[k]])), pliant: viewerVersion, written: new Date().toISOString() };
        mesh.scale.setScalar(1e-3);
        mesh.rotation.x = -Math.PI / 2;
        scene.add(mesh);
        new GLTFExporter().parse(scene, (data) => download(`${this.name}.glb`, data, "model/gltf-binary"), (e) => this.app.toast(`glTF: ${e.message}`), { binary: true });
    }

    // Numbers of the shapes of the run on the timeline.
    run() {
        return this.app.timeline.solvedRows().map((f) => f.head.shape);
    }

    shapes() {
        return $("save-run").checked ? this.run() : [this.app.shown.head.shape];
    }

    // A file message.
    hear(message) {
        download(message.head.name, message.arrays.bytes, "application/octet-stream");
    }
}
