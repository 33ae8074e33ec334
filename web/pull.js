// Pulling the body with the mouse: a spring between the pointer and the point gripped. The server solves it; between its
// answers the shape is predicted from the compliance dx/df it sends. Letting go, the robot returns.
import * as THREE from "three";
import { hitBody, mean, rayOf } from "./surface.js";
import { solve3 } from "./predict.js";
import { brief } from "./colours.js";

const $ = (id) => document.getElementById(id);

export class Pull {
    constructor(app) {
        this.app = app;
        this.on = false; // the tool; Shift pulls without it
        this.grip = null;
        this.string = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineDashedMaterial({ color: 0x0b7f73, depthTest: false, transparent: true }));
        this.string.frustumCulled = false;
        this.string.renderOrder = 8;
        this.string.visible = false;
        app.stage.scene.add(this.string);
        const canvas = app.stage.canvas;
        canvas.addEventListener("pointerdown", (e) => this.down(e), true);
        canvas.addEventListener("pointermove", (e) => this.move(e), true);
        for (const name of ["pointerup", "pointercancel"]) {
            canvas.addEventListener(name, (e) => this.up(e), true);
        }
        $("pull-button").addEventListener("click", () => this.setOn(!this.on));
    }

    reset(robot) {
        this.robot = robot;
        this.release(false);
        $("pull-button").disabled = !robot.pulls;
        $("pull-button").title = robot.pulls ? "Pull the body with the mouse (Shift and drag)" : "Only a full body with the exact method can be pulled";
        if (!robot.pulls) {
            this.setOn(false);
        }
    }

    setOn(on) {
        this.on = on && Boolean(this.robot?.pulls);
        $("pull-button").setAttribute("aria-pressed", String(this.on));
        this.app.stage.canvas.style.cursor = this.on ? "grab" : "";
    }

    down(event) {
        if (event.button !== 0 || !(this.on || event.shiftKey) || !this.robot?.pulls || this.app.reach.grip) {
            return;
        }
        const { app } = this;
        if (!app.mayMove()) {
            return;
        }
        const hit = hitBody(app.body, rayOf(app.stage, event));
        if (!hit) {
            return;
        }
        event.stopImmediatePropagation();
        event.preventDefault();
        app.stage.canvas.setPointerCapture(event.pointerId);
        app.timeline.backToLive();
        const normal = app.stage.camera.getWorldDirection(new THREE.Vector3());
        this.grip = {
            id: event.pointerId,
            at: mean(app.body.current.rest, hit).map((v) => Number(v.toPrecision(9))),
            plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.at),
            hand: hit.at.toArray(),
            from: hit.at.toArray(),
        };
        app.stage.canvas.style.cursor = "grabbing";
        this.request();
    }

    move(event) {
        if (!this.grip || event.pointerId !== this.grip.id) {
            return;
        }
        event.stopImmediatePropagation();
        const hit = rayOf(this.app.stage, event).intersectPlane(this.grip.plane, new THREE.Vector3());
        if (hit) {
            this.grip.hand = hit.toArray();
            this.request();
        }
    }

    up(event) {
        if (this.grip && event.pointerId === this.grip.id) {
            event.stopImmediatePropagation();
            this.app.stage.canvas.style.cursor = this.on ? "grab" : "";
            this.release(true);
        }
    }

    request() {
        const { app, grip } = this;
        app.truth.ask({ commands: [...app.move.commands], hand: grip.hand, at: grip.at });
        app.save.wholeRun(false);
        this.draw();
    }

    release(send) {
        this.grip = null;
        this.string.visible = false;
        if (send) {
            this.app.move.send();
        }
        this.app.stage.invalidate();
    }

    // From the hand to the point as it is shown.
    draw() {
        const pull = this.app.shown?.head.pull;
        this.string.visible = Boolean(this.grip);
        if (this.grip) {
            const from = pull?.place ?? this.grip.from;
            this.string.geometry.setAttribute("position", new THREE.Float32BufferAttribute([...from, ...this.grip.hand], 3));
            this.string.material.dashSize = this.string.material.gapSize = 0.01 * this.app.parts.size;
            this.string.computeLineDistances();
        }
        this.app.stage.invalidate();
    }

    // The force and place at which the spring's law holds to first order, from a pulled shape and its compliance.
    estimate(pull, C, hand) {
        const k = pull.stiffness;
        const r = [0, 1, 2].map((i) => hand[i] - pull.place[i] - pull.force[i] / k);
        const a = [0, 1, 2].map((i) => [0, 1, 2].map((j) => C[3 * i + j] + (i === j ? 1 / k : 0)));
        return solve3(a, r);
    }

    text(pull) {
        return `Pulled with ${brief(pull.newton)} N: the point moved ${brief(pull.deflection)} mm.`;
    }
}
