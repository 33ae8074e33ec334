// A probe: click the body and read position, displacement, strain and stress of that point; it goes along with the body.
import * as THREE from "three";
import { fields, format } from "./colours.js";
import { fieldAt, hitBody, locate, mean, rayOf } from "./surface.js";

const $ = (id) => document.getElementById(id);

export class Probe {
    constructor(app) {
        this.app = app;
        this.rest = null; // of the point, mm in the undeformed body
        this.places = new Map(); // on each mesh
        this.dot = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({ color: 0xd9480f, depthTest: false, transparent: true }));
        this.dot.renderOrder = 9;
        this.dot.visible = false;
        app.stage.scene.add(this.dot);
        const canvas = app.stage.canvas;
        canvas.addEventListener("pointerdown", (e) => (this.press = e.button === 0 && e.isPrimary ? { x: e.clientX, y: e.clientY } : null));
        canvas.addEventListener("pointerup", (e) => {
            // a click, not a turn of the view
            if (this.press && Math.hypot(e.clientX - this.press.x, e.clientY - this.press.y) < 4 && !e.shiftKey) {
                this.click(e);
            }
            this.press = null;
        });
        $("probe-close").addEventListener("click", () => this.clear());
        app.stage.after.push(() => this.place());
    }

    click(event) {
        const hit = hitBody(this.app.body, rayOf(this.app.stage, event));
        if (hit) {
            this.set(mean(this.app.body.current.rest, hit));
        } else {
            this.clear();
        }
    }

    set(rest) {
        this.rest = rest;
        this.places.clear();
        this.show();
    }

    clear() {
        this.rest = null;
        this.show();
    }

    // The point on the mesh of a shape.
    on(mesh) {
        if (!this.places.has(mesh)) {
            this.places.set(mesh, locate(mesh, this.rest));
        }
        return this.places.get(mesh);
    }

    show() {
        const { shown, body, parts, stage } = this.app;
        const mesh = shown && body.meshes.get(shown.head.mesh);
        this.dot.visible = Boolean(this.rest && mesh);
        $("probe").hidden = !this.dot.visible;
        stage.invalidate();
        if (!this.dot.visible) {
            return;
        }
        const point = this.on(mesh);
        const at = mean(shown.arrays.x, point);
        const start = mean(mesh.rest, point);
        const moved = at.map((v, k) => v - start[k]);
        this.dot.position.fromArray(at);
        this.dot.scale.setScalar(0.009 * parts.size);
        const rows = [
            ["Position", `${at.map((v) => format(v, 2)).join(", ")} mm`],
            ["Moved", `${format(Math.hypot(...moved), 2)} mm (${moved.map((v) => format(v, 2)).join(", ")})`],
        ];
        for (const f of fields) {
            const value = f.unit === undefined ? null : fieldAt(shown, f.key, point);
            if (value !== null && !shown.head.predicted && !shown.head.brief) {
                rows.push([f.long, `${format(value, f.digits)}${f.unit ? ` ${f.unit}` : ""}`]);
            }
        }
        if (shown.head.predicted || shown.head.brief) {
            rows.push(["Fields", shown.head.predicted ? "not known of a predicted shape" : "being computed"]);
        }
        $("probe-rows").replaceChildren(...rows.flatMap(([k, v]) => {
            const dt = document.createElement("dt");
            const dd = document.createElement("dd");
            dt.textContent = k;
            dd.textContent = v;
            return [dt, dd];
        }));
        this.values = rows;
    }

    // The card stands beside the point, inside the view.
    place() {
        const card = $("probe");
        if (card.hidden) {
            return;
        }
        const { stage } = this.app;
        const p = stage.project(this.dot.position);
        const left = p.x + 18 + card.offsetWidth < stage.width ? p.x + 18 : Math.max(8, p.x - 18 - card.offsetWidth);
        const top = Math.min(Math.max(8, p.y - 0.5 * card.offsetHeight), stage.height - card.offsetHeight - 8);
        card.style.transform = `translate(${left.toFixed(0)}px, ${top.toFixed(0)}px)`;
    }
}
