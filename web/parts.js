// What is not body: cables, chambers, markers with their traces, the target and its handle, paths, the workspace.
import * as THREE from "three";
import { heatColour } from "./colours.js";

const axisColours = [0xd2554b, 0x4f9d5b, 0x4678c8];

function disc(size, colour, opacity = 1) {
    const material = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity, depthTest: false });
    return new THREE.Mesh(new THREE.SphereGeometry(size, 20, 14), material);
}

function line(colour, opacity = 1, dashed = false) {
    const material = dashed
        ? new THREE.LineDashedMaterial({ color: colour, transparent: true, opacity, depthTest: false, dashSize: 2, gapSize: 1.5 })
        : new THREE.LineBasicMaterial({ color: colour, transparent: true, opacity, depthTest: false });
    const object = new THREE.Line(new THREE.BufferGeometry(), material);
    object.frustumCulled = false;
    object.renderOrder = 6;
    object.visible = false;
    return object;
}

export class Parts {
    constructor(scene) {
        this.group = new THREE.Group();
        scene.add(this.group);
        this.actuators = new THREE.Group();
        this.markers = new THREE.Group();
        this.traces = new THREE.Group();
        this.handle = new THREE.Group();
        this.group.add(this.actuators, this.markers, this.traces, this.handle);
        this.path = line(0x888888, 0.9);
        this.reached = line(0x888888, 1);
        this.gap = line(0x888888, 1, true);
        this.other = line(0x888888, 0.8, true); // markers of a second run
        this.group.add(this.path, this.reached, this.gap, this.other);
        this.colour = new THREE.Color();
        this.accent = new THREE.Color("#0b7f73");
        this.size = 100;
        this.clipping = [];
        this.plain = true; // the body is coloured by region
        this.handle.visible = false;
    }

    setTheme(dark) {
        this.accent.set(dark ? "#3cc9b8" : "#0b7f73");
        this.path.material.color.set(dark ? 0x9aa6b2 : 0x5b6670);
        this.gap.material.color.set(dark ? 0xff8a7a : 0xb42318);
        this.reached.material.color.copy(this.accent);
        this.other.material.color.set(dark ? 0xd7b26a : 0x8a5a00);
        for (const object of [...this.markers.children, ...this.traces.children]) {
            object.material.color.copy(this.accent);
        }
        this.ring?.material.color.copy(this.accent);
        this.cloud?.material.color.copy(this.accent);
    }

    // The section plane cuts cables and chambers too.
    setClipping(planes) {
        this.clipping = planes;
        for (const object of this.actuators.children) {
            object.material.clippingPlanes = planes;
            object.material.needsUpdate = true;
        }
    }

    clear(group) {
        for (const object of [...group.children]) {
            group.remove(object);
            object.geometry?.dispose();
            object.material?.dispose();
        }
    }

    // A new robot of about this many mm.
    reset(robot, size) {
        this.size = size;
        this.robot = robot;
        for (const group of [this.actuators, this.markers, this.traces, this.handle]) {
            this.clear(group);
        }
        this.chamberOf = new Map();
        this.cableOf = new Map();
        this.chamberMesh = 0;
        this.traceOf = [];
        for (let k = 0; k < robot.markers.length; ++k) {
            const dot = disc(0.011 * size, this.accent);
            dot.renderOrder = 8;
            dot.position.fromArray(robot.markers[k].rest);
            this.markers.add(dot);
            const trace = line(this.accent, 0.7);
            this.traces.add(trace);
            this.traceOf.push([]);
        }
        this.makeHandle();
        this.setPath(null);
        this.setReached(null);
        this.setGap(null);
        this.setOther(null);
        this.setMeasured(null);
        this.setMeasuredNow(null);
        this.setCloud(null);
    }

    makeHandle() {
        const size = 0.045 * this.size;
        this.ring = new THREE.Mesh(
            new THREE.TorusGeometry(size, 0.14 * size, 10, 40),
            new THREE.MeshBasicMaterial({ color: this.accent, depthTest: false, transparent: true }),
        );
        this.ring.renderOrder = 10;
        this.handle.add(this.ring);
        this.arms = [0, 1, 2].map((axis) => {
            const arm = new THREE.Group();
            const material = new THREE.MeshBasicMaterial({ color: axisColours[axis], depthTest: false, transparent: true, opacity: 0.9 });
            const rod = new THREE.Mesh(new THREE.CylinderGeometry(0.07 * size, 0.07 * size, 1.5 * size, 8), material);
            const tip = new THREE.Mesh(new THREE.ConeGeometry(0.24 * size, 0.7 * size, 14), material);
            rod.position.y = 2.1 * size;
            tip.position.y = 3.1 * size;
            rod.renderOrder = tip.renderOrder = 9;
            arm.add(rod, tip);
            if (axis === 0) {
                arm.rotation.z = -Math.PI / 2;
            } else if (axis === 2) {
                arm.rotation.x = Math.PI / 2;
            }
            this.handle.add(arm);
            return arm;
        });
        this.armLength = 3.1 * size;
    }

    // Chambers follow the vertices of the mesh shown.
    useMesh(mesh) {
        if (this.chamberMesh === mesh.head.mesh) {
            return;
        }
        this.chamberMesh = mesh.head.mesh;
        for (const object of this.chamberOf.values()) {
            this.actuators.remove(object.inside, object.hint);
            object.inside.geometry.dispose();
        }
        this.chamberOf.clear();
        for (const c of mesh.head.chambers) {
            const geometry = new THREE.BufferGeometry();
            const nodes = mesh.chamber.slice(3 * c.start, 3 * (c.start + c.count));
            const used = [...new Set(nodes)].sort((a, b) => a - b);
            const place = new Map(used.map((v, i) => [v, i]));
            geometry.setIndex([...nodes].map((v) => place.get(v)));
            geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * used.length), 3));
            const common = { transparent: true, depthWrite: false, side: THREE.DoubleSide, clippingPlanes: this.clipping };
            const inside = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ ...common, opacity: 0.34 }));
            // a faint hint of the chamber even behind an opaque body
            const hint = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ ...common, opacity: 0.05, depthTest: false }));
            inside.renderOrder = 3;
            hint.renderOrder = 4;
            inside.frustumCulled = hint.frustumCulled = false;
            this.actuators.add(inside, hint);
            this.chamberOf.set(c.actuator, { inside, hint, used });
        }
    }

    showActuators(head, arrays, share) {
        for (const [a, { inside, hint, used }] of this.chamberOf) {
            const p = inside.geometry.getAttribute("position");
            for (let i = 0; i < used.length; ++i) {
                p.array.set(arrays.x.subarray(3 * used[i], 3 * used[i] + 3), 3 * i);
            }
            p.needsUpdate = true;
            inside.geometry.computeVertexNormals();
            heatColour(share(a), this.colour);
            inside.material.color.copy(this.colour);
            hint.material.color.copy(this.colour);
            // over the colours of a field it would falsify them
            hint.material.opacity = this.plain ? 0.22 * Math.min(1, Math.max(0, share(a))) : 0;
            hint.visible = hint.material.opacity > 0.01;
        }
        for (const c of head.cables) {
            this.showCable(c, arrays.cable, head.actuators[c.actuator], share(c.actuator));
        }
    }

    showCable(c, points, result, share) {
        let object = this.cableOf.get(c.actuator);
        if (!object) {
            object = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, clippingPlanes: this.clipping }));
            object.renderOrder = 5;
            object.frustumCulled = false;
            this.actuators.add(object);
            this.cableOf.set(c.actuator, object);
        }
        const curve = new THREE.CurvePath();
        const at = (i) => new THREE.Vector3().fromArray(points, 3 * (c.start + i));
        for (let i = 0; i + 1 < c.count; ++i) {
            curve.add(new THREE.LineCurve3(at(i), at(i + 1)));
        }
        object.geometry.dispose();
        object.geometry = new THREE.TubeGeometry(curve, Math.max(8, 4 * c.count), 0.005 * this.size, 6, false);
        if (result.slack) {
            object.material.color.set(0x98a2ad);
        } else {
            object.material.color.copy(heatColour(share, this.colour));
        }
        object.material.opacity = result.slack ? 0.55 : 0.95;
    }

    showMarkers(head, live) {
        head.markers.forEach((marker, k) => {
            this.markers.children[k].position.fromArray(marker.position);
            if (!live) {
                return;
            }
            const trace = this.traceOf[k];
            const last = trace.slice(-3);
            if (trace.length === 0 || Math.hypot(...marker.position.map((p, i) => p - last[i])) > 1e-3 * this.size) {
                trace.push(...marker.position);
                trace.splice(0, Math.max(0, trace.length - 3 * 600));
                this.setLine(this.traces.children[k], trace);
            }
        });
    }

    clearTraces() {
        this.traceOf.forEach((trace, k) => {
            trace.length = 0;
            this.setLine(this.traces.children[k], trace);
        });
    }

    setLine(object, points) {
        object.geometry.dispose();
        object.geometry = new THREE.BufferGeometry();
        object.geometry.setAttribute("position", new THREE.Float32BufferAttribute(points ?? [], 3));
        object.visible = Boolean(points && points.length > 3);
        if (object.visible && object.material.isLineDashedMaterial) {
            object.material.dashSize = 0.012 * this.size;
            object.material.gapSize = 0.008 * this.size;
            object.computeLineDistances();
        }
    }

    setPath(points) {
        this.setLine(this.path, points);
    }

    setReached(points) {
        this.setLine(this.reached, points);
    }

    setGap(points) {
        this.setLine(this.gap, points);
    }

    setOther(points) {
        this.setLine(this.other, points);
    }

    // Measured places of markers, and those of the moment shown.
    setMeasured(points) {
        this.measured = this.dots(this.measured, points, 0.011, 0.8);
    }

    setMeasuredNow(points) {
        this.measuredNow = this.dots(this.measuredNow, points, 0.026, 1);
    }

    dots(old, points, size, opacity) {
        if (old) {
            this.group.remove(old);
            old.geometry.dispose();
            old.material.dispose();
        }
        if (!points) {
            return null;
        }
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
        const object = new THREE.Points(geometry, new THREE.PointsMaterial({ color: 0xc26a00, size: size * this.size, transparent: true, opacity, depthTest: false }));
        object.frustumCulled = false;
        object.renderOrder = 7;
        this.group.add(object);
        return object;
    }

    setCloud(points) {
        if (this.cloud) {
            this.group.remove(this.cloud);
            this.cloud.geometry.dispose();
            this.cloud.material.dispose();
            this.cloud = null;
        }
        if (points) {
            const geometry = new THREE.BufferGeometry();
            geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
            this.cloud = new THREE.Points(geometry, new THREE.PointsMaterial({ color: this.accent, size: 0.012 * this.size, transparent: true, opacity: 0.55, depthWrite: false }));
            this.cloud.frustumCulled = false;
            this.group.add(this.cloud);
        }
    }
}
