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
        $("save-gltf").addEventListener("click", () => this.gltf());
        $("save-csv").addEventListener("click", () => download(`${this.name}.csv`, this.csv(), "text/csv"));
        for (const format of ["vtu", "stl"]) {
            $(`save-${format}`).addEventListener("click", () => this.ask({ format }));
        }
        $("save-gcode").addEventListener("click", () => this.ask({ format: "gcode", shapes: this.poses().map((p) => p.shape) }));
    }

    get name() {
        return (this.app.robot?.name || "robot").replace(/[^\w.-]+/g, "_");
    }

    ask(what) {
        this.app.link.send({ type: "export", robot: this.app.robot.robot, ...what });
    }

    png() {
        this.app.stage.picture().toBlob((blob) => download(`${this.name}.png`, blob, "image/png"), "image/png");
    }

    // The surface shown, with its colours; glTF counts in metres and has y up.
    gltf() {
        const current = this.app.body.current;
        const scene = new THREE.Scene();
        const mesh = new THREE.Mesh(current.surface.geometry.clone(), new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.6, metalness: 0 }));
        mesh.name = this.name;
        mesh.scale.setScalar(1e-3);
        mesh.rotation.x = -Math.PI / 2;
        scene.add(mesh);
        new GLTFExporter().parse(scene, (data) => download(`${this.name}.glb`, data, "model/gltf-binary"), (e) => this.app.toast(`glTF: ${e.message}`), { binary: true });
    }

    // What is saved: every step of the last sweep or path, or the pose shown.
    poses() {
        const { move, reach, shown } = this.app;
        if (reach.record?.waypoints.length) {
            return reach.record.waypoints.map((w) => ({ shape: w.shape, commands: w.commands, markers: w.markers, efforts: w.efforts }));
        }
        const heads = move.frames.length ? move.frames.map((f) => f.head) : [shown.head];
        return heads.map((h) => ({ shape: h.shape, commands: h.commands, markers: h.markers.map((m) => m.position), efforts: h.actuators.map((a) => a.effort) }));
    }

    csv() {
        const { robot } = this.app;
        const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
        const head = [
            ...robot.commands.map((c) => `${c.name}${c.unit ? ` (${c.unit})` : ""}`),
            ...robot.markers.flatMap((m) => ["x", "y", "z"].map((a) => `${m.name} ${a} (mm)`)),
            ...robot.actuators.map((a) => `${a.name} ${a.effort} (${a.unit})`),
        ];
        const rows = this.poses().map((p) => [...p.commands, ...p.markers.flat(), ...p.efforts].map((v) => (v === null ? "" : Number(v.toPrecision(9)))));
        return [head.map(quote), ...rows].map((r) => r.join(",")).join("\n") + "\n";
    }

    // A file message.
    hear(message) {
        download(message.head.name, message.arrays.bytes, "application/octet-stream");
    }
}
