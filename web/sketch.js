// A robot that is being opened: its picture, then its body as drawn, until its solver is ready. What stood there before is
// kept behind the veil, for the case that the new one cannot be opened.
import * as THREE from "three";
import { linearRgb, regionColours } from "./colours.js";

const $ = (id) => document.getElementById(id);

export class Sketch {
    // app: stage, body, parts, forces, bonded, robot, truth
    constructor(app) {
        this.app = app;
        this.object = null;
        this.veiled = false;
    }

    // The picture of a design takes the place of the robot before.
    begin(picture, name) {
        $("opening").replaceChildren(picture, Object.assign(document.createElement("p"), { textContent: `Opening ${name}…` }));
        $("opening").hidden = false;
        this.veil(true);
    }

    // The body as drawn: a mesh message of level "drawn".
    draw({ head, arrays }) {
        const { app } = this;
        if (app.robot?.ok && !this.veiled) {
            return; // a file that was changed: the robot before stands until the new one does
        }
        this.remove();
        this.veil(true);
        const geometry = new THREE.BufferGeometry();
        const { rest, tri, region } = arrays;
        const position = new Float32Array(3 * tri.length);
        const colour = new Float32Array(3 * tri.length);
        const inks = regionColours.map(linearRgb);
        for (let i = 0; i < tri.length; ++i) {
            position.set(rest.subarray(3 * tri[i], 3 * tri[i] + 3), 3 * i);
            colour.set(inks[region[Math.floor(i / 3)] % inks.length], 3 * i);
        }
        geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
        geometry.setAttribute("color", new THREE.BufferAttribute(colour, 3));
        geometry.computeVertexNormals(); // flat: corners are not shared
        const offset = { side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
        const pale = new THREE.Mesh(geometry, new THREE.MeshPhongMaterial({ vertexColors: true, specular: 0x1c1c1c, shininess: 26, transparent: true, opacity: 0.55, ...offset }));
        const depth = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ colorWrite: false, ...offset }));
        depth.renderOrder = -1;
        this.object = new THREE.Group();
        this.object.add(depth, pale);
        pale.frustumCulled = depth.frustumCulled = false;
        app.stage.scene.add(this.object);
        $("opening").hidden = true;
        $("name").textContent = head.name.replaceAll("_", " ");
        app.stage.setBox(head.low, head.high);
        app.stage.fit([0.75, -1, 0.55]);
        app.stage.casts(geometry);
        app.truth.say();
    }

    // The robot has come (`good`), or will not: then the one before is shown again.
    end(good) {
        $("opening").hidden = true;
        this.remove();
        if (!this.veiled) {
            return;
        }
        this.veil(false);
        const { app } = this;
        if (!good && app.robot?.ok) {
            $("name").textContent = app.robot.name.replaceAll("_", " ");
            app.stage.setBox(app.robot.low, app.robot.high);
            app.stage.fit([0.75, -1, 0.55]);
            app.truth.decide();
        }
    }

    text() {
        return this.object ? "As drawn; its solver is being prepared." : "";
    }

    remove() {
        if (this.object) {
            this.app.stage.scene.remove(this.object);
            for (const { geometry, material } of this.object.children) {
                geometry.dispose();
                material.dispose();
            }
            this.object = null;
        }
    }

    // Numbers and controls of the robot before must not stand beside the new one.
    veil(on) {
        const { app } = this;
        this.veiled = on;
        for (const group of [app.body.group, app.parts.group, app.bonded.group]) {
            group.visible = !on;
        }
        app.forces.group.visible = !on && $("show-forces").checked;
        document.body.classList.toggle("veiled", on);
        $("panel").inert = on;
        app.stage.invalidate();
    }
}
