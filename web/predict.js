// Shapes between two solves, predicted from the derivative dx/dc that the server sends: while a hand drags, requests come
// faster than solves. A prediction is marked as one everywhere it is shown.

// A straight step dx = dx/dc (c - c0) would swell what it turns. A point of a bending body turns along: with the body's
// spin w at the point, the velocity turns at 2/3 w (exact to second order for a beam of growing curvature), so the step is
//   dx + (1 - cos t)/t^2 u x dx + (t - sin t)/t^3 u x (u x dx),   u = 2/3 w, t = |u|.
const turnShare = 2 / 3;
const farthest = 0.9; // rad that half of the most turning points may be predicted to turn; beyond, the step is shortened

// Second order where two solved shapes are at hand, x0 at c0 with its derivative and x1 before it at c1, on a line with the
// step. With s the step over the previous step from c0 to c1, p(s) the step above:
//   x(s) = p(s) + s^2 (x1 - p(1)),
// and where the derivative was taken at x1 only, that at x0 is the one of the parabola, 2 (x0 - x1) / (c0 - c1) - x1'.
const along = 0.98; // cosine between the previous step and the step
const trusted = 0.4; // of the first order: a larger second one says little about the third; the step is shortened
const reachBack = [0.15, 6]; // the previous step over the step: shorter ones amplify errors, longer ones are another curve

// The spin, half the curl, of a displacement field: the mean over the cells around each vertex.
function spinOf(x, dx, cell) {
    const n = x.length / 3;
    const spin = new Float32Array(3 * n);
    const weight = new Float32Array(n);
    for (let c = 0; c < cell.length; c += 4) {
        const o = 3 * cell[c];
        const e = [];
        const d = [];
        for (let k = 1; k < 4; ++k) {
            const p = 3 * cell[c + k];
            e.push(x[p] - x[o], x[p + 1] - x[o + 1], x[p + 2] - x[o + 2]);
            d.push(dx[p] - dx[o], dx[p + 1] - dx[o + 1], dx[p + 2] - dx[o + 2]);
        }
        // rows of the inverse of (e0 e1 e2) are the gradients of the linear shape functions, times the volume 6 V
        const g = [
            e[4] * e[8] - e[5] * e[7], e[5] * e[6] - e[3] * e[8], e[3] * e[7] - e[4] * e[6],
            e[7] * e[2] - e[8] * e[1], e[8] * e[0] - e[6] * e[2], e[6] * e[1] - e[7] * e[0],
            e[1] * e[5] - e[2] * e[4], e[2] * e[3] - e[0] * e[5], e[0] * e[4] - e[1] * e[3],
        ];
        const volume = e[0] * g[0] + e[1] * g[1] + e[2] * g[2];
        const sign = Math.sign(volume);
        // curl_i = sum_k (grad N_k x d_k)_i
        let sx = 0;
        let sy = 0;
        let sz = 0;
        for (let k = 0; k < 9; k += 3) {
            sx += g[k + 1] * d[k + 2] - g[k + 2] * d[k + 1];
            sy += g[k + 2] * d[k] - g[k] * d[k + 2];
            sz += g[k] * d[k + 1] - g[k + 1] * d[k];
        }
        for (let k = 0; k < 4; ++k) {
            const v = cell[c + k];
            spin[3 * v] += 0.5 * sign * sx;
            spin[3 * v + 1] += 0.5 * sign * sy;
            spin[3 * v + 2] += 0.5 * sign * sz;
            weight[v] += Math.abs(volume);
        }
    }
    for (let v = 0; v < n; ++v) {
        const s = weight[v] > 0 ? 1 / weight[v] : 0;
        spin[3 * v] *= s;
        spin[3 * v + 1] *= s;
        spin[3 * v + 2] *= s;
    }
    return spin;
}

// Least-squares step of a marker, min |M y - r|^2 + |damping y|^2 with y in parts of the ranges, low <= y <= high: the
// normal equations, commands at a bound taken out one round after the other.
function boundedStep(columns, r, low, high) {
    const n = columns.length;
    const y = new Array(n).fill(0);
    const fixed = new Array(n).fill(false);
    const most = Math.max(...columns.map((c) => Math.hypot(...c)), 1e-12);
    for (let round = 0; round <= n; ++round) {
        const free = columns.map((_, i) => i).filter((i) => !fixed[i]);
        const left = r.map((v, k) => v - columns.reduce((sum, c, i) => sum + (fixed[i] ? c[k] * y[i] : 0), 0));
        // (M Mt + damping) z = left, y = Mt z
        const a = [0, 1, 2].map((i) => [0, 1, 2].map((j) => free.reduce((s, f) => s + columns[f][i] * columns[f][j], i === j ? 1e-4 * most * most : 0)));
        const z = solve3(a, left);
        let worst = -1;
        let excess = 1e-9;
        for (const i of free) {
            y[i] = columns[i][0] * z[0] + columns[i][1] * z[1] + columns[i][2] * z[2];
            const over = Math.max(y[i] - high[i], low[i] - y[i]);
            if (over > excess) {
                excess = over;
                worst = i;
            }
        }
        if (worst < 0) {
            break;
        }
        fixed[worst] = true;
        y[worst] = Math.min(high[worst], Math.max(low[worst], y[worst]));
    }
    return y;
}

// Cramer's rule.
export function solve3(a, b) {
    const det = (m) => m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    const d = det(a);
    return [0, 1, 2].map((k) => det(a.map((row, i) => row.map((v, j) => (j === k ? b[i] : v)))) / d);
}

export class Predict {
    reset(robot) {
        this.robot = robot;
        this.meshes = new Map(); // number -> { columns: by command, at: commands }
        this.nearest = new Map(); // by name of the polylines
        this.pulled = null; // of the shape pulled last: { shape, compliance, columns: by axis of the force }
        this.base = null; // the last two solved shapes predicted from
        this.before = null;
        this.bend = null; // what these two tell beyond the derivative
    }

    remember(base) {
        if (base !== this.base) {
            const same = this.base?.head.mesh === base.head.mesh && this.base.head.robot === base.head.robot;
            this.before = same ? this.base : null;
            this.base = base;
            this.bend = null;
        }
    }

    // A tangent message. Columns of commands that were idle are not in it: older ones stay.
    hear(message) {
        const { mesh, columns, commands, pulls, shape, compliance } = message.head;
        if (pulls) {
            this.pulled = { shape, compliance, columns: pulls.map((c) => ({ ...c, dx: message.arrays[`df${c.force}`], spin: null })) };
            return;
        }
        const known = this.meshes.get(mesh) ?? { columns: [] };
        this.meshes.set(mesh, known);
        known.at = commands; // where it was taken
        this.bend = null;
        for (const c of columns) {
            known.columns[c.command] = { ...c, dx: message.arrays[`dx${c.command}`], spin: null };
        }
    }

    // The value an idle command stands at.
    value(commands, i) {
        return commands[i] ?? this.robot.commands[i].rest;
    }

    columnsFor(base) {
        const known = this.meshes.get(base.head.mesh);
        return known && known.columns[this.robot.commands.findIndex((_, i) => known.columns[i])]?.dx.length === base.arrays.x.length ? known.columns : null;
    }

    // The shape at `commands`, from the solved shape `base` on `mesh`; null when no derivative is known for a command that
    // moves. A step too long to be accepted is shortened: the head tells the commands it is for.
    forward(base, mesh, commands) {
        const columns = this.columnsFor(base);
        const step = this.robot.commands.map((_, i) => this.value(commands, i) - this.value(base.head.commands, i));
        const moving = step.map((s, i) => i).filter((i) => step[i] !== 0);
        if (!columns || moving.length === 0 || moving.some((i) => !columns[i])) {
            return null;
        }
        this.remember(base);
        const at = (share) => (share < 1 ? this.robot.commands.map((_, i) => (step[i] === 0 ? base.head.commands[i] : this.value(base.head.commands, i) + share * step[i])) : commands);
        return this.step(base, mesh, columns, step, moving, at, this.curve(base, mesh, columns, step));
    }

    // Commands of a shape that differ, in parts of their ranges.
    difference(from, to) {
        return this.robot.commands.map((c, i) => (this.value(to, i) - this.value(from, i)) / (c.high - c.low || 1));
    }

    // What two solved shapes tell beyond the derivative: { back, length: of the previous step over the step, dx, spin: the
    // derivative along the previous step where it was not taken at `base`, miss: of the rotated step back, 3 per vertex }; null
    // when they do not lie on a line with the step.
    curve(base, mesh, columns, step) {
        const { before } = this;
        if (!before || before.arrays.x.length !== base.arrays.x.length) {
            return null;
        }
        const back = this.difference(base.head.commands, before.head.commands);
        const ahead = step.map((s, i) => s / (this.robot.commands[i].high - this.robot.commands[i].low || 1));
        const [a, b] = [Math.hypot(...back), Math.hypot(...ahead)];
        const dot = back.reduce((sum, v, i) => sum + v * ahead[i], 0);
        const length = (Math.sign(dot) * a) / b; // of the previous step, in steps; negative: the step goes on
        if (!(Math.abs(dot) > along * a * b) || !(Math.abs(length) > reachBack[0]) || !(Math.abs(length) < reachBack[1])) {
            return null;
        }
        const { at } = this.meshes.get(base.head.mesh);
        const near = (commands) => this.difference(at, commands).every((v) => Math.abs(v) < 1e-6);
        this.bend ??= near(base.head.commands) ? this.missed(base, before, mesh, columns) : near(before.head.commands) ? this.parabola(base, before, mesh, columns) : null;
        return this.bend && { ...this.bend, length };
    }

    // The derivative at `base` times the previous step to `before`, and by how much the step back misses it.
    missed(base, before, mesh, columns) {
        const [dx, spin] = this.combine(base, mesh, columns, this.change(base, before));
        const miss = new Float32Array(dx.length);
        for (let k = 0; k < miss.length; k += 3) {
            turned(base.arrays.x, dx, spin, 1, k, miss);
        }
        miss.forEach((v, k) => (miss[k] = before.arrays.x[k] - v));
        return { miss, largest: largest(miss), first: largest(dx) };
    }

    // The derivative at `base` times the previous step, from that at `before`.
    parabola(base, before, mesh, columns) {
        const [there] = this.combine(base, mesh, columns, this.change(base, before));
        const dx = there.map((v, k) => 2 * (before.arrays.x[k] - base.arrays.x[k]) - v);
        return { dx, spin: spinOf(base.arrays.x, dx, mesh.cell) };
    }

    // The change of the commands from one shape to another, in their units.
    change(from, to) {
        return this.robot.commands.map((_, i) => this.value(to.head.commands, i) - this.value(from.head.commands, i));
    }

    // The derivative times a step of the commands, and the spin of that; null columns do not move.
    combine(base, mesh, columns, step) {
        const dx = new Float32Array(base.arrays.x.length);
        const spin = new Float32Array(dx.length);
        step.forEach((s, i) => {
            const c = s !== 0 && columns[i];
            if (c) {
                c.spin ??= spinOf(base.arrays.x, c.dx, mesh.cell);
                for (let k = 0; k < dx.length; ++k) {
                    dx[k] += s * c.dx[k];
                    spin[k] += s * c.spin[k];
                }
            }
        });
        return [dx, spin];
    }

    // The shape when the force of a hand changes by `step`, N.
    pull(base, mesh, step) {
        const shape = this.step(base, mesh, this.pulled.columns, step, [0, 1, 2], () => base.head.commands);
        const { pull } = base.head;
        const C = this.pulled.compliance;
        const share = shape.head.share;
        const force = pull.force.map((f, i) => f + share * step[i]);
        const place = pull.place.map((p, i) => p + share * (C[3 * i] * step[0] + C[3 * i + 1] * step[1] + C[3 * i + 2] * step[2]));
        shape.head.pull = { ...pull, force, newton: Math.hypot(...force), place, deflection: Math.hypot(...place.map((v, i) => v - pull.from[i])) };
        return shape;
    }

    step(base, mesh, columns, step, moving, at, curve = null) {
        let [dx, spin] = curve?.dx ? [null, null] : this.combine(base, mesh, columns, step);
        if (curve?.dx) {
            // the previous step is so many steps long, and leads in the other direction
            dx = curve.dx.map((v) => v / curve.length);
            spin = curve.spin.map((v) => v / curve.length);
        }
        let share = Math.min(1, farthest / Math.max(1e-12, mostTurned(spin)));
        if (curve?.miss) {
            // the second order at a share of the step is share^2 / length^2 of the miss, the first share / |length| of `first`
            share = Math.min(share, (trusted * curve.first * Math.abs(curve.length)) / Math.max(1e-12, curve.largest));
        }
        return this.shape(base, { columns, step, moving, share, commands: at(share), dx, spin, better: Boolean(curve?.dx), miss: curve?.miss, square: curve?.miss ? (share / curve.length) ** 2 : 0 });
    }

    shape(base, p) {
        const { head, arrays } = base;
        const x = new Float32Array(arrays.x.length);
        for (let k = 0; k < x.length; k += 3) {
            turned(arrays.x, p.dx, p.spin, p.share, k, x);
        }
        for (let k = 0; p.miss && k < x.length; ++k) {
            x[k] += p.square * p.miss[k];
        }
        const sum = (from, pick) => p.moving.reduce((v, i) => v + p.share * p.step[i] * (pick(p.columns[i]) ?? 0), from);
        return {
            head: {
                ...head,
                predicted: true,
                commands: p.commands,
                share: p.share,
                from: head.commands,
                markers: head.markers.map((m, k) => {
                    // it moves with the vertex nearest to it, as far as that is known better than by its own derivative
                    const v = this.nearestTo(base, k);
                    const step = [0, 1, 2].map((i) => sum(0, (c) => c.markers[3 * k + i]));
                    const turnedTo = turnedPoint(m.position, step, p.spin, p.share, v);
                    const position = p.better ? m.position.map((c, i) => c + x[v + i] - arrays.x[v + i]) : turnedTo.map((c, i) => c + (p.miss ? p.square * p.miss[v + i] : 0));
                    return { ...m, position, displacement: position.map((c, i) => c - this.robot.markers[k].rest[i]) };
                }),
                actuators: head.actuators.map((a, k) => ({ ...a, effort: sum(a.effort, (c) => c.efforts[k]), ratio: sum(a.ratio, (c) => c.ratios[k]) })),
            },
            arrays: { ...arrays, x, cable: this.lines(base, x, "cable"), thread: this.lines(base, x, "thread") },
        };
    }

    // The vertex nearest to a marker, which turns with it.
    nearestTo(base, k) {
        if (base !== this.markerBase) {
            this.markerBase = base;
            this.markerVertex = base.head.markers.map((m) => nearestVertex(base.arrays.x, m.position, 0));
        }
        return this.markerVertex[k];
    }

    // Points of cables, fibres and strings move with the vertex of the body nearest to them. They are points of the body:
    // the vertices are found once per mesh.
    lines(base, x, name) {
        const x0 = base.arrays.x;
        const points = base.arrays[name];
        const known = this.nearest.get(name);
        if (known?.mesh !== base.head.mesh || known.vertex.length !== points.length / 3) {
            const vertex = new Uint32Array(points.length / 3);
            vertex.forEach((_, p) => (vertex[p] = nearestVertex(x0, points, 3 * p)));
            this.nearest.set(name, { mesh: base.head.mesh, vertex });
        }
        const { vertex } = this.nearest.get(name);
        return points.map((value, i) => value + x[vertex[Math.floor(i / 3)] + (i % 3)] - x0[vertex[Math.floor(i / 3)] + (i % 3)]);
    }

    // The commands that bring a marker towards a target, to first order, within their ranges; null when unknown.
    inverse(base, marker, target) {
        const columns = this.columnsFor(base);
        if (!columns) {
            return null;
        }
        const known = this.robot.commands.map((_, i) => i).filter((i) => columns[i]);
        const span = known.map((i) => this.robot.commands[i].high - this.robot.commands[i].low || 1);
        const m = known.map((i, n) => [0, 1, 2].map((k) => span[n] * columns[i].markers[3 * marker + k]));
        const here = known.map((i) => this.value(base.head.commands, i));
        const low = known.map((i, n) => (this.robot.commands[i].low - here[n]) / span[n]);
        const high = known.map((i, n) => (this.robot.commands[i].high - here[n]) / span[n]);
        const y = boundedStep(m, target.map((v, k) => v - base.head.markers[marker].position[k]), low, high);
        const commands = [...base.head.commands];
        known.forEach((i, n) => (commands[i] = Math.abs(y[n]) > 1e-6 ? here[n] + span[n] * y[n] : base.head.commands[i]));
        return commands;
    }
}

function largest(field) {
    let most = 0;
    for (let k = 0; k < field.length; ++k) {
        most = Math.max(most, Math.abs(field[k]));
    }
    return most;
}

// The angle (rad) of the vertices that turn much: half of the largest, robust against single bad cells.
function mostTurned(spin) {
    const angle = new Float32Array(spin.length / 3);
    for (let v = 0; v < angle.length; ++v) {
        angle[v] = Math.hypot(spin[3 * v], spin[3 * v + 1], spin[3 * v + 2]);
    }
    angle.sort();
    return angle[Math.floor(0.95 * (angle.length - 1))];
}

// Where the vertex nearest to a point begins in x.
function nearestVertex(x, point, at) {
    let least = Infinity;
    let found = 0;
    for (let v = 0; v < x.length; v += 3) {
        const d = (x[v] - point[at]) ** 2 + (x[v + 1] - point[at + 1]) ** 2 + (x[v + 2] - point[at + 2]) ** 2;
        if (d < least) {
            least = d;
            found = v;
        }
    }
    return found;
}

// A marker that turns with the vertex at v; its step is already shortened.
function turnedPoint(position, step, spin, share, v) {
    const out = [0, 0, 0];
    turned(position, step, [share * spin[v], share * spin[v + 1], share * spin[v + 2]], 1, 0, out);
    return out;
}

function turned(x0, dx, spin, share, k, out) {
    const [a, b, c] = [share * dx[k], share * dx[k + 1], share * dx[k + 2]];
    const s = turnShare * share;
    const [u, v, w] = [s * spin[k], s * spin[k + 1], s * spin[k + 2]];
    const t2 = u * u + v * v + w * w;
    const t = Math.sqrt(t2);
    const p = t > 1e-3 ? (1 - Math.cos(t)) / t2 : 0.5 - t2 / 24;
    const q = t > 1e-3 ? (t - Math.sin(t)) / (t2 * t) : 1 / 6 - t2 / 120;
    const [ux, uy, uz] = [v * c - w * b, w * a - u * c, u * b - v * a];
    out[k] = x0[k] + a + p * ux + q * (v * uz - w * uy);
    out[k + 1] = x0[k + 1] + b + p * uy + q * (w * ux - u * uz);
    out[k + 2] = x0[k + 2] + c + p * uz + q * (u * uy - v * ux);
}
