// The section plane in the view: a pane with a frame and a handle that is dragged along its normal.
import * as THREE from "three";
import { rayOf } from "./surface.js";

export class SectionPlane {
    // `moved` gets the new distance along the normal, mm.
    constructor(stage, moved) {
        this.stage = stage;
        this.moved = moved;
        this.normal = new THREE.Vector3(1, 0, 0);
        this.group = new THREE.Group();
        this.group.visible = false;
        const ink = 0x3d7fd6;
        this.pane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.MeshBasicMaterial({ color: ink, transparent: true, opacity: 0.07, side: THREE.DoubleSide, depthWrite: false }));
        const corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].flatMap(([x, y]) => [x, y, 0]);
        const frame = new THREE.BufferGeometry();
        frame.setAttribute("position", new THREE.Float32BufferAttribute(corners, 3));
        this.frame = new THREE.LineLoop(frame, new THREE.LineBasicMaterial({ color: ink, transparent: true, opacity: 0.7 }));
        this.handle = new THREE.Mesh(new THREE.SphereGeometry(1, 20, 14), new THREE.MeshBasicMaterial({ color: ink, depthTest: false, transparent: true }));
        this.handle.renderOrder = 9;
        this.pane.renderOrder = 3;
        this.group.add(this.pane, this.frame);
        stage.scene.add(this.group, this.handle);
        this.handle.visible = false;
        const canvas = stage.canvas;
        canvas.addEventListener("pointerdown", (e) => this.down(e), true);
        canvas.addEventListener("pointermove", (e) => this.drag(e), true);
        for (const name of ["pointerup", "pointercancel"]) {
            canvas.addEventListener(name, (e) => this.up(e), true);
        }
    }

    set(section, robot) {
        this.group.visible = this.handle.visible = Boolean(section && robot?.ok);
        if (!this.group.visible) {
            return;
        }
        const low = new THREE.Vector3().fromArray(robot.low);
        const high = new THREE.Vector3().fromArray(robot.high);
        const size = low.distanceTo(high);
        const middle = low.clone().add(high).multiplyScalar(0.5);
        this.normal.fromArray(section.normal);
        const foot = middle.clone().addScaledVector(this.normal, section.at - middle.dot(this.normal));
        this.group.position.copy(foot);
        this.group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.normal);
        // as wide as the robot is across it
        const x = new THREE.Vector3(1, 0, 0).applyQuaternion(this.group.quaternion);
        const y = new THREE.Vector3(0, 1, 0).applyQuaternion(this.group.quaternion);
        const box = high.clone().sub(low);
        const across = (d) => Math.abs(d.x) * box.x + Math.abs(d.y) * box.y + Math.abs(d.z) * box.z + 0.25 * size;
        this.group.scale.set(across(x), across(y), 1);
        // on the highest corner
        const corner = [[1, 1], [1, -1], [-1, 1], [-1, -1]].map(([a, b]) => foot.clone().addScaledVector(x, 0.5 * a * across(x)).addScaledVector(y, 0.5 * b * across(y)));
        this.handle.position.copy(corner.reduce((a, b) => (b.z + 0.01 * b.x > a.z + 0.01 * a.x ? b : a)));
        this.handle.scale.setScalar(0.016 * size);
    }

    down(event) {
        if (!this.handle.visible || event.button !== 0) {
            return;
        }
        const box = this.stage.canvas.getBoundingClientRect();
        const p = this.stage.project(this.handle.position);
        if (Math.hypot(p.x - event.clientX + box.left, p.y - event.clientY + box.top) > (event.pointerType === "touch" ? 28 : 16)) {
            return;
        }
        event.stopImmediatePropagation();
        this.stage.canvas.setPointerCapture(event.pointerId);
        this.grip = { id: event.pointerId, from: this.handle.position.clone() };
    }

    drag(event) {
        if (!this.grip || this.grip.id !== event.pointerId) {
            return;
        }
        event.stopImmediatePropagation();
        // the point of the line through the handle along the normal that is nearest to the ray
        const ray = rayOf(this.stage, event);
        const w = this.grip.from.clone().sub(ray.origin);
        const b = this.normal.dot(ray.direction);
        if (1 - b * b > 1e-3) {
            const s = (b * w.dot(ray.direction) - w.dot(this.normal)) / (1 - b * b);
            this.moved(this.grip.from.clone().addScaledVector(this.normal, s).dot(this.normal));
        }
    }

    up(event) {
        if (this.grip && this.grip.id === event.pointerId) {
            event.stopImmediatePropagation();
            this.grip = null;
        }
    }
}
