// What is bonded to the body or spans it: layers, fibres, the strings of length sensors, springs. Layers are faces of the mesh
// shown; fibres and strings come as polylines with every shape; springs run between markers.
import * as THREE from "three";
import { Patch } from "./forces.js";
import { brief } from "./colours.js";

const inks = { layer: ["#7d6bb0", "#4f8f8b", "#b0784f"], fibre: "#4a3f8f", sensor: "#b0307a", spring: "#2f6f3e" };
const coils = 7;

// A line seen on the body, and faintly through it.
function threads(colour, dashed) {
    const kind = dashed ? THREE.LineDashedMaterial : THREE.LineBasicMaterial;
    const geometry = new THREE.BufferGeometry();
    const near = new THREE.LineSegments(geometry, new kind({ color: colour }));
    const through = new THREE.LineSegments(geometry, new kind({ color: colour, transparent: true, opacity: dashed ? 0.7 : 0.22, depthTest: false }));
    near.renderOrder = 2;
    through.renderOrder = 5;
    near.frustumCulled = through.frustumCulled = false;
    return [near, through];
}

export class Bonded {
    constructor(scene) {
        this.layers = new THREE.Group();
        this.lines = new THREE.Group();
        this.strings = new THREE.Group();
        this.group = new THREE.Group();
        this.group.add(this.layers, this.lines, this.strings);
        scene.add(this.group);
        this.clipping = [];
        this.patches = [];
    }

    reset(robot, size) {
        this.robot = robot;
        this.size = size;
        this.mesh = null;
        this.patches = [];
        for (const group of [this.layers, this.lines, this.strings]) {
            group.traverse((o) => (o.geometry?.dispose(), o.material?.dispose()));
            group.clear();
        }
        this.fibres = threads(inks.fibre, false);
        this.sensors = threads(inks.sensor, true);
        this.springs = threads(inks.spring, false);
        this.lines.add(...this.fibres);
        this.strings.add(...this.sensors, ...this.springs);
        this.setClipping(this.clipping);
    }

    // The section plane cuts these too.
    setClipping(planes) {
        this.clipping = planes;
        this.group.traverse((o) => {
            if (o.material) {
                o.material.clippingPlanes = planes;
                o.material.needsUpdate = true;
            }
        });
    }

    useMesh(mesh) {
        if (this.mesh === mesh) {
            return;
        }
        this.mesh = mesh;
        this.layers.traverse((o) => (o.geometry?.dispose(), o.material?.dispose()));
        this.layers.clear();
        this.patches = mesh.head.layers.map((l, i) => {
            const material = new THREE.MeshLambertMaterial({ color: inks.layer[i % inks.layer.length], transparent: true, opacity: 0.85, side: THREE.DoubleSide, clippingPlanes: this.clipping, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1 });
            const patch = new Patch(mesh.layer.subarray(3 * l.start, 3 * (l.start + l.count)), material);
            this.layers.add(patch.mesh);
            return patch;
        });
    }

    // `plain`: the body is coloured by region; over the colours of a field a layer would falsify them.
    show({ head, arrays }, plain) {
        for (const patch of this.patches) {
            patch.follow(arrays.x);
            patch.mesh.geometry.computeVertexNormals();
            patch.mesh.visible = plain;
        }
        this.setThreads(this.fibres, "fibre", head, arrays.thread);
        this.setThreads(this.sensors, "sensor", head, arrays.thread);
        this.setLines(this.springs, this.robot.springs.flatMap((s) => this.coil(s, head)));
    }

    setThreads(pair, kind, head, points) {
        const out = [];
        for (const t of head.threads.filter((one) => one.kind === kind)) {
            for (let i = t.start; i + 1 < t.start + t.count; ++i) {
                out.push(...points.subarray(3 * i, 3 * i + 6));
            }
        }
        this.setLines(pair, out);
    }

    setLines(pair, points) {
        const { geometry } = pair[0];
        const old = geometry.getAttribute("position");
        if (old?.array.length === points.length) {
            old.array.set(points);
            old.needsUpdate = true;
        } else {
            geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
        }
        for (const line of pair) {
            line.visible = points.length > 0;
            if (line.visible && line.material.isLineDashedMaterial) {
                line.material.dashSize = 0.02 * this.size;
                line.material.gapSize = 0.012 * this.size;
                line.computeLineDistances();
            }
        }
    }

    // A spring as a draughtsman draws it: a zigzag between its ends.
    coil(spring, head) {
        const a = new THREE.Vector3().fromArray(head.markers[spring.from].position);
        const b = new THREE.Vector3().fromArray(spring.to < 0 ? spring.point : head.markers[spring.to].position);
        const along = b.clone().sub(a);
        const across = along.clone().cross(new THREE.Vector3(0.31, 0.52, 0.79)).normalize().multiplyScalar(0.018 * this.size);
        const points = [a];
        for (let k = 1; k < 2 * coils; ++k) {
            points.push(a.clone().addScaledVector(along, 0.1 + (0.8 * k) / (2 * coils)).addScaledVector(across, k % 2 ? 1 : -1));
        }
        points.push(b);
        return points.slice(1).flatMap((p, k) => [...points[k].toArray(), ...p.toArray()]);
    }

    // [{ colour, name, small, line }] for the legend.
    entries() {
        const { robot, mesh } = this;
        if (!robot?.ok) {
            return [];
        }
        const strings = (mesh?.head.layers ?? []).map((l, i) => ({ colour: inks.layer[i % inks.layer.length], name: l.name, small: `${l.material} layer, ${brief(l.thickness)} mm` }));
        return [
            ...strings,
            ...robot.fibres.map((f) => ({ colour: inks.fibre, name: f.name, small: f.inextensible ? "fibre, inextensible" : "fibre", line: true })),
            ...(this.sensors?.[0].visible ? [{ colour: inks.sensor, name: "strings", small: "length sensors", line: true }] : []),
            ...robot.springs.slice(0, 1).map((s) => ({ colour: inks.spring, name: robot.springs.length > 1 ? "springs" : s.name, small: `spring${robot.springs.length > 1 ? "s" : ""}`, line: true })),
        ];
    }
}
