// What acts on the body: supports, gravity, loads, reactions, contact and a hand that pulls. Arrows carry the numbers of the
// server; supports are hatched, obstacles grey.
import * as THREE from "three";
import { brief } from "./colours.js";
import { niceStep } from "./scene.js";

const inks = { load: 0x3d6fd6, reaction: 0x8457c4, contact: 0xc2500f, gravity: 0x7a8691, pull: 0x0b7f73 };
const longest = 0.2; // of the robot: the longest arrow

function arrow(colour) {
    const group = new THREE.Group();
    const material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.95 });
    const rod = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material);
    const tip = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 16).translate(0, -0.5, 0), material);
    rod.renderOrder = tip.renderOrder = 7;
    group.add(rod, tip);
    group.userData = { rod, tip };
    return group;
}

// From `from` along the unit vector `along`.
function placeArrow(group, from, along, length, size) {
    const { rod, tip } = group.userData;
    const thick = 0.006 * size;
    const head = Math.min(0.05 * size, 0.6 * length);
    group.position.copy(from);
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along);
    rod.scale.set(thick, Math.max(1e-6, length - 0.8 * head), thick);
    tip.scale.set(0.4 * head, head, 0.4 * head);
    tip.position.y = length;
}

// Diagonal stripes of fixed width on the screen, as a draughtsman hatches what is held.
function hatching() {
    return new THREE.ShaderMaterial({
        clipping: true,
        side: THREE.DoubleSide,
        polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
        uniforms: { ink: { value: new THREE.Color(0x2c3640) } },
        vertexShader: `#include <clipping_planes_pars_vertex>
            void main() {
                #include <begin_vertex>
                #include <project_vertex>
                #include <clipping_planes_vertex>
            }`,
        fragmentShader: `uniform vec3 ink;
            #include <clipping_planes_pars_fragment>
            void main() {
                #include <clipping_planes_fragment>
                if (fract((gl_FragCoord.x + gl_FragCoord.y) / 8.0) > 0.32) discard;
                gl_FragColor = vec4(ink, 1.0);
            }`,
    });
}

// The triangles of `tri` all of whose corners are in `nodes`, or those given, following the vertices of the mesh shown.
export class Patch {
    constructor(triangles, material) {
        const used = [...new Set(triangles)];
        const place = new Map(used.map((v, i) => [v, i]));
        const geometry = new THREE.BufferGeometry();
        geometry.setIndex(Array.from(triangles, (v) => place.get(v)));
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * used.length), 3));
        this.used = used;
        this.mesh = new THREE.Mesh(geometry, material);
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = 1;
    }

    follow(x) {
        const p = this.mesh.geometry.getAttribute("position");
        this.used.forEach((v, i) => p.array.set(x.subarray(3 * v, 3 * v + 3), 3 * i));
        p.needsUpdate = true;
    }
}

export class Forces {
    constructor(stage) {
        this.stage = stage;
        this.group = new THREE.Group();
        this.arrows = new THREE.Group();
        this.fixtures = new THREE.Group();
        this.obstacles = new THREE.Group();
        this.group.add(this.arrows, this.fixtures, this.obstacles);
        stage.scene.add(this.group);
        this.hatch = hatching();
        this.pressed = new THREE.MeshBasicMaterial({ color: inks.load, transparent: true, opacity: 0.35, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 });
        this.grey = new THREE.MeshLambertMaterial({ color: 0x9aa3ab, transparent: true, opacity: 0.55, side: THREE.DoubleSide, depthWrite: false });
        this.labels = document.getElementById("labels");
        this.pool = new Map(); // arrows by name
        stage.after.push(() => this.placeLabels());
    }

    setTheme(dark) {
        this.hatch.uniforms.ink.value.set(dark ? 0xcfd8e0 : 0x2c3640);
        this.grey.color.set(dark ? 0x717b84 : 0x9aa3ab);
        this.dark = dark;
    }

    reset(robot, size) {
        this.robot = robot;
        this.size = size;
        this.mesh = null;
        this.patches = [];
        this.scale = 0;
        for (const group of [this.arrows, this.fixtures, this.obstacles]) {
            group.traverse((o) => o.geometry?.dispose());
            group.clear();
        }
        this.pool.clear();
        this.labels.replaceChildren();
    }

    setClipping(planes) {
        for (const material of [this.hatch, this.pressed]) {
            material.clippingPlanes = planes;
            material.needsUpdate = true;
        }
    }

    // Fixtures of a mesh; obstacles come with it.
    useMesh(mesh) {
        if (this.mesh === mesh) {
            return;
        }
        this.mesh = mesh;
        this.fixtures.traverse((o) => o.geometry?.dispose());
        this.fixtures.clear();
        this.obstacles.traverse((o) => o.geometry?.dispose());
        this.obstacles.clear();
        const { head, tri } = mesh;
        this.held = head.supports.map((s) => mesh.held.subarray(s.start, s.start + s.count));
        const held = new Uint8Array(head.vertices);
        mesh.held.forEach((v) => (held[v] = 1));
        const all = [];
        for (let t = 0; t < tri.length; t += 3) {
            if (held[tri[t]] && held[tri[t + 1]] && held[tri[t + 2]]) {
                all.push(tri[t], tri[t + 1], tri[t + 2]);
            }
        }
        this.patches = [new Patch(all, this.hatch), new Patch([...mesh.pressed], this.pressed)];
        this.fixtures.add(...this.patches.map((p) => p.mesh));
        head.obstacles.forEach((o) => {
            const geometry = new THREE.BufferGeometry();
            geometry.setAttribute("position", new THREE.BufferAttribute(mesh.obstacle.slice(9 * o.start, 9 * (o.start + o.count)), 3));
            geometry.computeVertexNormals();
            const object = new THREE.Mesh(geometry, this.grey);
            object.frustumCulled = false;
            this.obstacles.add(object);
        });
    }

    // ---- arrows
    // All forces of a shape as { name, kind, at, force, text }.
    list(message) {
        const { head, arrays } = message;
        const record = head.record;
        const out = [];
        this.robot.loads.forEach((l, i) => out.push({ name: `load${i}`, kind: "load", at: head.markers[l.marker].position, force: l.force, text: `${newtons(l.force)}` }));
        this.robot.supports.forEach((name, i) => {
            const r = record.reactions?.[name];
            if (r && this.held?.[i]?.length && Math.hypot(...r.force) > noise(record)) {
                const at = centroid(arrays.x, this.held[i]);
                const m = r.moment.map((v, k) => v - cross(at, r.force)[k]); // about the support itself
                out.push({ name: `reaction${i}`, kind: "reaction", at, force: r.force, text: `${name}: ${newtons(r.force)}, ${brief(Math.hypot(...m))} N mm` });
            }
        });
        for (const [name, c] of Object.entries(record.contacts ?? {})) {
            if (Math.hypot(...c.force) > noise(record)) {
                out.push({ name: `contact:${name}`, kind: "contact", at: this.lineOfAction(c, message), force: c.force, text: `${name}: ${newtons(c.force)}, up to ${brief(c.max_pressure_kpa)} kPa` });
            }
        }
        if (head.pull) {
            out.push({ name: "pull", kind: "pull", at: head.pull.place, force: head.pull.force, text: `${brief(head.pull.newton)} N, moved ${brief(head.pull.deflection)} mm` });
        }
        return out;
    }

    // The point of a contact force's line of action (from force and moment about the origin) nearest to where it presses.
    lineOfAction(c, { head, arrays }) {
        const f2 = c.force.reduce((s, v) => s + v * v, 0);
        const p0 = cross(c.force, c.moment).map((v) => v / f2);
        const range = head.ranges.contact;
        let sum = 0;
        const middle = [0, 0, 0];
        if (range) {
            const { x, contact } = arrays;
            for (let v = 0; v < contact.length; ++v) {
                const p = range[0] + (contact[v] * (range[1] - range[0])) / 65535;
                if (p > 0.02 * range[1]) {
                    sum += p;
                    for (let k = 0; k < 3; ++k) {
                        middle[k] += p * x[3 * v + k];
                    }
                }
            }
        }
        const near = sum > 0 ? middle.map((v) => v / sum) : p0;
        const s = c.force.reduce((t, v, k) => t + v * (near[k] - p0[k]), 0) / f2;
        return p0.map((v, k) => v + s * c.force[k]);
    }

    show(message) {
        const { head, arrays } = message;
        for (const patch of this.patches) {
            patch.follow(arrays.x);
        }
        head.obstacles?.forEach((pose, i) => {
            const object = this.obstacles.children[i];
            object?.position.fromArray(pose);
            if (object && pose.length === 12) {
                const [a, b, c, d, e, f, g, h, k] = pose.slice(3);
                object.quaternion.setFromRotationMatrix(new THREE.Matrix4().set(a, b, c, 0, d, e, f, 0, g, h, k, 0, 0, 0, 0, 1));
            }
        });
        const forces = head.predicted && !head.pull ? [] : this.list(message).filter((f) => Math.hypot(...f.force) > 0);
        const most = Math.max(0, ...forces.map((f) => Math.hypot(...f.force)));
        // mm per N: changes in steps of 1, 2, 5, so that arrows grow with their forces
        if (most > 0 && (!(this.scale > 0) || most * this.scale > longest * this.size || most * this.scale < 0.3 * longest * this.size)) {
            this.scale = niceStep((longest * this.size) / most);
        }
        const g = this.robot.gravity;
        const weight = Math.hypot(...g);
        const all = forces.map((f) => ({ ...f, length: Math.max(0.03 * this.size, this.scale * Math.hypot(...f.force)) }));
        if (weight > 0) {
            all.push({ name: "gravity", kind: "gravity", at: this.robot.low.map((v, k) => (k === 2 ? this.robot.high[2] : v) - (k === 2 ? 0 : 0.12 * this.size)), force: g, length: 0.14 * this.size, text: `gravity ${brief(weight)} m/s²` });
        }
        this.draw(all);
    }

    draw(all) {
        const names = new Set(all.map((f) => f.name));
        for (const [name, a] of this.pool) {
            if (!names.has(name)) {
                this.arrows.remove(a.group);
                a.label.remove();
                this.pool.delete(name);
            }
        }
        for (const f of all) {
            let a = this.pool.get(f.name);
            if (!a) {
                a = { group: arrow(inks[f.kind]), label: document.createElement("span") };
                a.label.className = `label ${f.kind}`;
                this.labels.append(a.label);
                this.arrows.add(a.group);
                this.pool.set(f.name, a);
            }
            const along = new THREE.Vector3().fromArray(f.force).normalize();
            a.at = new THREE.Vector3().fromArray(f.at);
            a.end = a.at.clone().addScaledVector(along, f.length);
            placeArrow(a.group, a.at, along, f.length, this.size);
            if (a.label.textContent !== f.text) {
                a.label.textContent = f.text;
            }
        }
    }

    placeLabels() {
        const shown = this.group.visible && this.arrows.visible;
        for (const a of this.pool.values()) {
            const p = this.stage.project(a.end);
            a.label.hidden = !shown || p.z > 1;
            const right = p.x + 14 + a.label.offsetWidth > this.stage.width;
            a.label.style.transform = `translate(${p.x.toFixed(1)}px, ${p.y.toFixed(1)}px) translate(${right ? "calc(-100% - 10px)" : "10px"}, -50%)`;
        }
    }
}

// What is left of the balance, N: the forces at the nodes that are not in balance add up in reactions. Below it a force is
// no force.
function noise(record) {
    return Math.max(1e-9, Math.sqrt(3) * (record.vertices ?? 0) * (record.residual ?? 0));
}

function newtons(force) {
    return `${brief(Math.hypot(...force))} N`;
}

function cross(a, b) {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function centroid(x, nodes) {
    const sum = [0, 0, 0];
    nodes.forEach((v) => {
        for (let k = 0; k < 3; ++k) {
            sum[k] += x[3 * v + k];
        }
    });
    return sum.map((s) => s / nodes.length);
}
