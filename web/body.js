// The body: its surface with colours, element edges, the rest shape as a ghost, and a section through it.
import * as THREE from "three";
import { linearRgb, regionColours } from "./colours.js";
import { cutCells } from "./section.js";

const creaseCosine = Math.cos((38 * Math.PI) / 180);

// Splits vertices where the rest shape has a crease or regions meet: edges stay sharp, round walls smooth. Returns,
// per corner of each triangle, a drawn vertex, and for each of those the vertex of the mesh.
function splitAtCreases(rest, tri, region) {
    const count = tri.length / 3;
    const normal = new Float32Array(tri.length);
    for (let t = 0; t < count; ++t) {
        faceNormal(rest, tri, t, normal);
    }
    const start = new Uint32Array(rest.length / 3 + 1);
    for (let i = 0; i < tri.length; ++i) {
        ++start[tri[i] + 1];
    }
    for (let v = 0; v + 1 < start.length; ++v) {
        start[v + 1] += start[v];
    }
    const fill = start.slice();
    const around = new Uint32Array(tri.length);
    for (let i = 0; i < tri.length; ++i) {
        around[fill[tri[i]]++] = i;
    }
    const corner = new Uint32Array(tri.length);
    const source = [];
    const groups = [];
    for (let v = 0; v + 1 < start.length; ++v) {
        groups.length = 0;
        for (let k = start[v]; k < start[v + 1]; ++k) {
            const t = 3 * Math.floor(around[k] / 3);
            // the group whose first face turns least from this one
            let best = -1;
            let cosine = creaseCosine;
            for (let g = 0; g < groups.length; ++g) {
                const o = groups[g].face;
                const c = normal[t] * normal[o] + normal[t + 1] * normal[o + 1] + normal[t + 2] * normal[o + 2];
                if (c > cosine && region[o / 3] === region[t / 3]) {
                    cosine = c;
                    best = g;
                }
            }
            if (best < 0) {
                best = groups.push({ face: t, vertex: source.length }) - 1;
                source.push(v);
            }
            corner[around[k]] = groups[best].vertex;
        }
    }
    return { corner, source: new Uint32Array(source) };
}

function faceNormal(x, tri, t, out) {
    const a = 3 * tri[3 * t];
    const b = 3 * tri[3 * t + 1];
    const c = 3 * tri[3 * t + 2];
    const ux = x[b] - x[a];
    const uy = x[b + 1] - x[a + 1];
    const uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a];
    const vy = x[c + 1] - x[a + 1];
    const vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    const n = Math.hypot(nx, ny, nz) || 1;
    out[3 * t] = nx / n;
    out[3 * t + 1] = ny / n;
    out[3 * t + 2] = nz / n;
}

export class Body {
    constructor(scene) {
        this.group = new THREE.Group();
        scene.add(this.group);
        this.plane = new THREE.Plane(new THREE.Vector3(-1, 0, 0), 0);
        this.look = { ghost: true, edges: false, inside: false, section: null };
        const offset = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
        this.material = new THREE.MeshPhongMaterial({ vertexColors: true, specular: 0x1c1c1c, shininess: 26, side: THREE.DoubleSide, ...offset });
        // pale, the body shows its outside only: depth first, then colour
        this.depthMaterial = new THREE.MeshBasicMaterial({ colorWrite: false, side: THREE.DoubleSide, ...offset });
        this.cutMaterial = new THREE.MeshLambertMaterial({ vertexColors: true, side: THREE.DoubleSide, ...offset });
        this.edgeMaterial = new THREE.LineBasicMaterial({ color: 0x20262c, transparent: true, opacity: 0.45 });
        this.ghostMaterial = new THREE.MeshLambertMaterial({ color: 0x8f9aa5, transparent: true, opacity: 0.16, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 8, polygonOffsetUnits: 8 });
        this.meshes = new Map(); // by number
        this.least = 0.5; // mm that count as moved
        this.dim = false;
    }

    dispose() {
        for (const m of this.meshes.values()) {
            this.drop(m);
        }
        this.meshes.clear();
        this.current = null;
        this.setOverlay(0, null);
    }

    drop(m) {
        for (const object of [m.surface, m.depth, m.edges, m.ghost, m.cut]) {
            this.group.remove(object);
            object.geometry.dispose();
        }
    }

    // A mesh message.
    add(head, arrays) {
        const { corner, source } = splitAtCreases(arrays.rest, arrays.tri, arrays.region);
        const vertices = source.length;
        const geometry = new THREE.BufferGeometry();
        geometry.setIndex(new THREE.BufferAttribute(corner, 1));
        for (const name of ["position", "normal", "color"]) {
            geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * vertices), 3).setUsage(THREE.DynamicDrawUsage));
        }
        const shared = new THREE.BufferAttribute(new Float32Array(arrays.rest), 3).setUsage(THREE.DynamicDrawUsage);
        const edges = new THREE.BufferGeometry();
        edges.setAttribute("position", shared);
        edges.setIndex(new THREE.BufferAttribute(arrays.edge, 1));
        const ghost = new THREE.BufferGeometry();
        ghost.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * vertices), 3));
        ghost.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(3 * vertices), 3));
        ghost.setIndex(new THREE.BufferAttribute(corner, 1));
        const m = {
            head, ...arrays, corner, source,
            surface: new THREE.Mesh(geometry, this.material),
            depth: new THREE.Mesh(geometry, this.depthMaterial),
            edges: new THREE.LineSegments(edges, this.edgeMaterial),
            ghost: new THREE.Mesh(ghost, this.ghostMaterial),
            cut: new THREE.Mesh(new THREE.BufferGeometry(), this.cutMaterial),
            x: arrays.rest,
            regionOf: new Uint8Array(vertices),
            values: null,
        };
        for (let i = 0; i < corner.length; ++i) {
            m.regionOf[corner[i]] = arrays.region[Math.floor(i / 3)];
        }
        this.place(m, arrays.rest, ghost);
        for (const object of [m.surface, m.depth, m.edges, m.ghost, m.cut]) {
            object.frustumCulled = false;
            object.visible = false;
            this.group.add(object);
        }
        m.depth.renderOrder = -1;
        m.ghost.renderOrder = 2;
        const old = [...this.meshes.values()].find((o) => o.head.level === head.level);
        if (old) {
            this.drop(old);
            this.meshes.delete(old.head.mesh);
            this.current = this.current === old ? null : this.current;
        }
        this.meshes.set(head.mesh, m);
        return m;
    }

    // Positions and smooth normals of the drawn vertices.
    place(m, x, geometry) {
        const position = geometry.getAttribute("position");
        const normal = geometry.getAttribute("normal");
        const p = position.array;
        const n = normal.array;
        for (let i = 0; i < m.source.length; ++i) {
            const v = 3 * m.source[i];
            p[3 * i] = x[v];
            p[3 * i + 1] = x[v + 1];
            p[3 * i + 2] = x[v + 2];
        }
        n.fill(0);
        for (let t = 0; t < m.corner.length; t += 3) {
            const a = 3 * m.corner[t];
            const b = 3 * m.corner[t + 1];
            const c = 3 * m.corner[t + 2];
            const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
            const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
            const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
            for (const k of [a, b, c]) {
                n[k] += nx;
                n[k + 1] += ny;
                n[k + 2] += nz;
            }
        }
        for (let i = 0; i < n.length; i += 3) {
            const s = 1 / (Math.hypot(n[i], n[i + 1], n[i + 2]) || 1);
            n[i] *= s;
            n[i + 1] *= s;
            n[i + 2] *= s;
        }
        position.needsUpdate = true;
        normal.needsUpdate = true;
    }

    // Shows positions of a mesh; `values` per vertex of the mesh with their range and scale, or null for regions.
    show(number, x, values) {
        const m = this.meshes.get(number);
        if (!m) {
            return false;
        }
        this.current = m;
        m.x = x;
        this.place(m, x, m.surface.geometry);
        const shared = m.edges.geometry.getAttribute("position");
        shared.array.set(x);
        shared.needsUpdate = true;
        // at rest the ghost would lie in the body's own skin
        m.moved = false;
        for (let i = 0; i < x.length && !m.moved; ++i) {
            m.moved = Math.abs(x[i] - m.rest[i]) > this.least;
        }
        this.paint(values);
        this.update();
        return true;
    }

    paint(values) {
        const m = this.current;
        if (!m) {
            return;
        }
        m.values = values;
        const attribute = m.surface.geometry.getAttribute("color");
        const colour = attribute.array;
        const regions = regionColours.map(linearRgb);
        for (let i = 0; i < m.source.length; ++i) {
            if (values) {
                const k = 3 * paletteIndex(values, m.source[i]);
                colour[3 * i] = values.scale.table[k];
                colour[3 * i + 1] = values.scale.table[k + 1];
                colour[3 * i + 2] = values.scale.table[k + 2];
            } else {
                colour.set(regions[m.regionOf[i] % regions.length], 3 * i);
            }
        }
        attribute.needsUpdate = true;
        this.cut();
    }

    // Sets what is shown: ghost, edges, inside (see-through), section ({ normal, at, flip } or null).
    setLook(look) {
        Object.assign(this.look, look);
        this.update();
        this.cut();
    }

    // What is shown is not what was asked for.
    setDim(on) {
        if (on !== this.dim) {
            this.dim = on;
            this.update();
        }
    }

    update() {
        const { ghost, edges, inside, section } = this.look;
        this.material.transparent = inside || this.dim;
        this.material.opacity = (inside ? 0.32 : 1) * (this.dim ? 0.55 : 1);
        this.material.depthWrite = !inside;
        const clipping = section ? [this.plane] : [];
        if (section) {
            const sign = section.flip ? 1 : -1;
            this.plane.normal.fromArray(section.normal).multiplyScalar(sign);
            this.plane.constant = -sign * section.at;
        }
        for (const material of [this.material, this.depthMaterial, this.edgeMaterial]) {
            if (material.clippingPlanes?.length !== clipping.length) {
                material.clippingPlanes = clipping;
                material.needsUpdate = true;
            }
        }
        for (const m of this.meshes.values()) {
            const shown = m === this.current;
            m.surface.visible = shown;
            m.depth.visible = shown && this.dim && !inside;
            m.edges.visible = shown && edges;
            m.ghost.visible = shown && ghost && m.moved;
            m.cut.visible = shown && Boolean(section);
        }
    }

    // The cut face, coloured like the body.
    cut() {
        const m = this.current;
        if (!m || !this.look.section) {
            return;
        }
        const regions = regionColours.map(linearRgb);
        const values = m.values;
        const colourOf = values
            ? (v) => 3 * paletteIndex(values, v)
            : null;
        const { position, colour } = cutCells(m.x, m.cell, m.cellreg, this.look.section.normal, this.look.section.at, {
            regions, table: values?.scale.table, colourOf,
        });
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
        geometry.setAttribute("color", new THREE.BufferAttribute(colour, 3));
        const normal = new Float32Array(position.length);
        const sign = this.look.section.flip ? -1 : 1;
        for (let i = 0; i < normal.length; ++i) {
            normal[i] = sign * this.look.section.normal[i % 3];
        }
        geometry.setAttribute("normal", new THREE.BufferAttribute(normal, 3));
        m.cut.geometry.dispose();
        m.cut.geometry = geometry;
    }

    // A second shape, laid over the one shown as a pale body; without positions: none.
    setOverlay(number, x) {
        const m = this.meshes.get(number);
        this.over ??= new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshLambertMaterial({ color: 0xd9a441, transparent: true, opacity: 0.4, depthWrite: false, side: THREE.DoubleSide }));
        this.over.visible = Boolean(m && x);
        if (!this.over.visible) {
            return;
        }
        const geometry = new THREE.BufferGeometry();
        geometry.setIndex(new THREE.BufferAttribute(m.corner, 1));
        for (const name of ["position", "normal"]) {
            geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * m.source.length), 3));
        }
        this.place(m, x, geometry);
        this.over.geometry.dispose();
        this.over.geometry = geometry;
        this.over.frustumCulled = false;
        this.over.renderOrder = 2;
        this.group.add(this.over);
    }

    setTheme(dark) {
        this.edgeMaterial.color.set(dark ? 0x0c0f12 : 0x20262c);
        this.ghostMaterial.color.set(dark ? 0xb9c4cf : 0x7b8793);
        this.ghostMaterial.opacity = dark ? 0.13 : 0.17;
    }
}

function paletteIndex(values, vertex) {
    const share = (values.value[vertex] * values.unit + values.base - values.low) / (values.high - values.low || 1);
    return Math.round(255 * Math.min(1, Math.max(0, share)));
}
