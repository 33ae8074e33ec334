// Runs: what happened over time, as channels (any command, effort, sensor, marker) and, where they were solved, shapes.
import { effortWord } from "./colours.js";

const pace = 0.1; // s per step of a run that has no clock

// Values of a solved shape by channel.
export function readings(robot, head) {
    const out = new Map();
    robot.commands.forEach((c, i) => out.set(c.name, { unit: c.unit, value: head.commands[i] ?? NaN }));
    robot.actuators.forEach((a, i) => {
        out.set(`${a.name} ${effortWord(a.effort)}`, { unit: a.unit, value: head.actuators[i].effort ?? NaN });
        out.set(`${a.name} ratio`, { unit: "", value: head.actuators[i].ratio ?? NaN });
    });
    robot.sensors.forEach((s, i) => out.set(s.name, { unit: s.unit, value: head.sensors[i] ?? NaN }));
    robot.markers.forEach((m, i) => {
        const { position, displacement } = head.markers[i];
        ["x", "y", "z"].forEach((axis, k) => out.set(`${m.name}.${axis}`, { unit: "mm", value: position[k] }));
        out.set(`${m.name} moved`, { unit: "mm", value: Math.hypot(...displacement) });
    });
    for (const [name, c] of Object.entries(head.record?.contacts ?? {})) {
        out.set(`${name} contact force`, { unit: "N", value: c.normal_force });
    }
    if (head.pull) {
        out.set("pull", { unit: "N", value: head.pull.newton });
    }
    return out;
}

export class Run {
    constructor(robot, name) {
        this.robot = robot;
        this.name = name;
        this.time = [];
        this.channels = new Map(); // name -> { unit, values }
        this.frames = []; // a shape per row, or null
        this.commands = []; // per row
        this.bytes = 0;
    }

    get count() {
        return this.time.length;
    }

    // A solved shape; without a time, one step after the last.
    add(message, time = this.count * pace, keep = true) {
        const row = this.count;
        this.time.push(time);
        this.frames.push(keep ? message : null);
        this.commands.push(message.head.commands);
        this.bytes += keep ? message.bytes ?? 0 : 0;
        for (const [name, { unit, value }] of readings(this.robot, message.head)) {
            if (!this.channels.has(name)) {
                this.channels.set(name, { unit, values: new Array(row).fill(NaN) });
            }
            this.channels.get(name).values.push(value);
        }
        for (const c of this.channels.values()) {
            c.values.length === row && c.values.push(NaN);
        }
    }

    static fromFrames(robot, name, frames) {
        const run = new Run(robot, name);
        frames.forEach((f) => run.add(f));
        return run;
    }

    // A table: commands where all of the robot's are in it, otherwise measurements.
    static fromTable(robot, name, table) {
        const run = new Run(robot, name);
        const rows = table.columns[0].values.length;
        run.time = table.time ?? Array.from({ length: rows }, (_, i) => i * pace);
        run.clock = Boolean(table.time);
        for (const { name: title, unit, values } of table.columns) {
            run.channels.set(title, { unit, values });
        }
        // tables of `follow` and `task` have one marker, named in a column of its own
        if (["x", "y", "z"].every((a) => run.channels.has(a))) {
            const named = table.marker ?? (robot.markers.length === 1 ? robot.markers[0].name : null);
            const owner = robot.markers.find((m) => m.name === named);
            for (const a of owner ? ["x", "y", "z"] : []) {
                run.channels.set(`${owner.name}.${a}`, run.channels.get(a));
                run.channels.delete(a);
            }
            run.unassigned = !owner && (table.marker ? `the robot has no marker ${table.marker}` : "the table does not name its marker");
        }
        const of = robot.commands.map((c) => table.columns.find((t) => t.name === c.name));
        const wrong = robot.commands.find((c, i) => of[i] && of[i].unit !== c.unit);
        if (wrong) {
            throw new Error(`${name}: the column ${wrong.name} needs the unit ${wrong.unit || "of a ratio"}: ${wrong.name} [${wrong.unit || "1"}].`);
        }
        run.posed = of.length > 0 && of.some(Boolean);
        run.frames = new Array(rows).fill(null);
        run.commands = run.time.map((_, k) => of.map((t) => (t && Number.isFinite(t.values[k]) ? t.values[k] : null)));
        run.measured = !run.posed;
        return run;
    }

    // More rows of the same table.
    append(more) {
        const rows = this.count;
        const shift = this.clock ? 0 : rows * pace;
        this.time.push(...more.time.map((t) => t + shift));
        this.frames.push(...more.frames);
        this.commands.push(...more.commands);
        for (const [name, { unit, values }] of more.channels) {
            if (!this.channels.has(name)) {
                this.channels.set(name, { unit, values: new Array(rows).fill(NaN) });
            }
            this.channels.get(name).values.push(...values);
        }
        for (const c of this.channels.values()) {
            while (c.values.length < this.count) {
                c.values.push(NaN);
            }
        }
    }

    // Positions of a marker over the rows, 3 each, or null.
    path(marker, suffix = "") {
        const axes = ["x", "y", "z"].map((a) => this.channels.get(`${marker}.${a}${suffix}`)?.values);
        return axes.every(Boolean) ? axes[0].map((_, k) => axes.map((a) => a[k])) : null;
    }

    // The row at a time, the last one before it.
    rowAt(time) {
        let low = 0;
        let high = this.count - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            this.time[middle] <= time + 1e-9 ? (low = middle) : (high = middle - 1);
        }
        return low;
    }

    // A channel at a time, between its rows.
    at(values, time) {
        const k = this.rowAt(time);
        const next = Math.min(this.count - 1, k + 1);
        const span = this.time[next] - this.time[k];
        const s = span > 0 ? Math.min(1, Math.max(0, (time - this.time[k]) / span)) : 0;
        return values[k] + (s > 0 ? s * (values[next] - values[k]) : 0);
    }
}

// How far measured markers are from those of a run: { marker, rms, most, rows } each; by time where both have clocks, else by row.
export function compare(run, measured) {
    return run.robot.markers.flatMap(({ name }) => {
        const a = run.path(name);
        const b = measured.path(name);
        if (!a || !b) {
            return [];
        }
        const byRow = !measured.clock || run.count === measured.count;
        const gaps = b.flatMap((p, k) => {
            const t = measured.time[k];
            const q = byRow ? a[k] : t < run.time[0] || t > run.time.at(-1) ? null : [0, 1, 2].map((i) => run.at(run.channels.get(`${name}.${"xyz"[i]}`).values, t));
            const gap = q ? Math.hypot(...p.map((v, i) => v - q[i])) : NaN;
            return Number.isFinite(gap) ? [gap] : [];
        });
        return gaps.length ? [{ marker: name, rows: gaps.length, rms: Math.sqrt(gaps.reduce((s, g) => s + g * g, 0) / gaps.length), most: Math.max(...gaps) }] : [];
    });
}
