// Points on the body: where a ray meets it, the same point on another mesh, and what the fields are there.
import * as THREE from "three";

// The pointer's ray through the canvas.
export function rayOf(stage, event) {
    const box = stage.canvas.getBoundingClientRect();
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height), stage.camera);
    return caster.ray;
}

// The nearest point of the surface shown that a ray meets, as { nodes, weights, at }; null: it misses.
export function hitBody(body, ray) {
    const m = body.current;
    if (!m) {
        return null;
    }
    const { x, tri } = m;
    const o = ray.origin;
    const d = ray.direction;
    let best = Infinity;
    let found = null;
    for (let t = 0; t < tri.length; t += 3) {
        const a = 3 * tri[t], b = 3 * tri[t + 1], c = 3 * tri[t + 2];
        const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
        const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
        const px = d.y * vz - d.z * vy, py = d.z * vx - d.x * vz, pz = d.x * vy - d.y * vx;
        const det = ux * px + uy * py + uz * pz;
        if (Math.abs(det) < 1e-14) {
            continue;
        }
        const sx = o.x - x[a], sy = o.y - x[a + 1], sz = o.z - x[a + 2];
        const u = (sx * px + sy * py + sz * pz) / det;
        if (u < 0 || u > 1) {
            continue;
        }
        const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
        const v = (d.x * qx + d.y * qy + d.z * qz) / det;
        const s = (vx * qx + vy * qy + vz * qz) / det;
        if (v < 0 || u + v > 1 || s <= 0 || s >= best) {
            continue;
        }
        const at = ray.at(s, new THREE.Vector3());
        if (body.look.section && body.plane.distanceToPoint(at) < 0) {
            continue; // cut away
        }
        best = s;
        found = { nodes: [tri[t], tri[t + 1], tri[t + 2]], weights: [1 - u - v, u, v], at };
    }
    return found;
}

export function mean(x, { nodes, weights }) {
    return [0, 1, 2].map((k) => nodes.reduce((s, v, i) => s + weights[i] * x[3 * v + k], 0));
}

// The point of a mesh's surface nearest to a place in the undeformed body.
export function locate(mesh, rest) {
    const { tri } = mesh;
    const p = new THREE.Vector3().fromArray(rest);
    const triangle = new THREE.Triangle();
    const near = new THREE.Vector3();
    let least = Infinity;
    let found = null;
    for (let t = 0; t < tri.length; t += 3) {
        triangle.a.fromArray(mesh.rest, 3 * tri[t]);
        triangle.b.fromArray(mesh.rest, 3 * tri[t + 1]);
        triangle.c.fromArray(mesh.rest, 3 * tri[t + 2]);
        triangle.closestPointToPoint(p, near);
        const far = near.distanceToSquared(p);
        if (far < least) {
            const w = triangle.getBarycoord(near, new THREE.Vector3());
            if (w) {
                least = far;
                found = { nodes: [tri[t], tri[t + 1], tri[t + 2]], weights: w.toArray() };
            }
        }
    }
    return found;
}

// A field of a shape at a point of its surface; null when the model does not know it.
export function fieldAt({ head, arrays }, key, { nodes, weights }) {
    const range = head.ranges[key];
    return range ? nodes.reduce((s, v, i) => s + weights[i] * (range[0] + (arrays[key][v] * (range[1] - range[0])) / 65535), 0) : null;
}
