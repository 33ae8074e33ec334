// How it looks: colours by field with their range, what is shown, the section plane, the legend.
import { readNumber } from "./fields.js";
import { brief, fields, format, heatCss, regionColours } from "./colours.js";
import { SectionPlane } from "./plane.js";

const $ = (id) => document.getElementById(id);

// A row of buttons of which one is chosen.
function segments(root, names, choose) {
    const buttons = names.map((name, i) => {
        const b = document.createElement("button");
        b.type = "button";
        b.textContent = name;
        b.setAttribute("role", "radio");
        b.addEventListener("click", () => pick(i));
        b.addEventListener("keydown", (e) => {
            const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
            if (step) {
                e.preventDefault();
                const k = (i + step + names.length) % names.length;
                pick(k);
                buttons[k].focus();
            }
        });
        return b;
    });
    const pick = (i) => {
        buttons.forEach((b, k) => {
            b.setAttribute("aria-checked", String(k === i));
            b.tabIndex = k === i ? 0 : -1;
        });
        choose(i);
    };
    root.replaceChildren(...buttons);
    return pick;
}

export class Look {
    constructor(app) {
        this.app = app;
        this.field = 0;
        this.axis = -1;
        this.plane = new SectionPlane(app.stage, (at) => this.moveSection(at));
        this.range = null; // fixed by hand, or null
        this.pickField = segments($("colours"), fields.map((f) => f.name), (i) => this.setField(i));
        [...$("colours").children].find((b) => b.textContent === "J").dataset.word = "J";
        this.pickSection = segments($("section-axis"), ["Off", "x", "y", "z", "View"], (i) => this.setSection(i - 1));
        for (const [id, key] of [["show-ghost", "ghost"], ["show-edges", "edges"], ["show-inside", "inside"]]) {
            $(id).addEventListener("change", () => this.apply({ [key]: $(id).checked }));
        }
        for (const [id, group] of [["show-actuators", "actuators"], ["show-markers", "markers"], ["show-trace", "traces"], ["show-forces", "forces"], ["show-layers", "layers"], ["show-strings", "strings"]]) {
            $(id).addEventListener("change", () => {
                if (group === "layers") {
                    app.bonded.lines.visible = $(id).checked;
                }
                (group === "forces" ? app.forces.group : app.parts[group] ?? app.bonded[group]).visible = $(id).checked;
                app.stage.invalidate();
            });
        }
        $("range-auto").addEventListener("change", () => this.setAuto($("range-auto").checked));
        for (const id of ["range-low", "range-high"]) {
            $(id).addEventListener("change", () => this.readRange());
        }
        $("legend-most").addEventListener("click", () => this.probeMost());
        $("section-at").addEventListener("input", () => this.applySection());
        $("section-flip").addEventListener("click", () => {
            this.flip = !this.flip;
            this.applySection();
        });
        this.pickField(0);
        this.pickSection(0);
    }

    reset(robot) {
        this.robot = robot;
        this.offered = null;
        this.span = null;
        this.setFields(new Set(["region", "displacement", ...(robot.model === "full" ? ["strain", "stress", "J"] : ["bend", "stretch"]), ...(robot.obstacles.length ? ["contact"] : [])]));
        this.setAuto(true);
        this.applySection();
        this.legend();
    }

    apply(look) {
        const { body, parts, forces, stage } = this.app;
        body.setLook(look);
        if ("section" in look) {
            const planes = look.section ? [body.plane] : [];
            parts.setClipping(planes);
            forces.setClipping(planes);
            this.app.bonded.setClipping(planes);
            this.plane.set(look.section, this.robot);
        }
        stage.invalidate();
    }

    next() {
        const buttons = [...$("colours").children];
        let k = this.field;
        do {
            k = (k + 1) % fields.length;
        } while (buttons[k].hidden);
        this.pickField(k);
    }

    // ---- colours
    // Which fields the model knows; the others are not offered.
    setFields(known) {
        [...$("colours").children].forEach((b, i) => (b.hidden = !known.has(fields[i].key)));
        if (!known.has(fields[this.field].key)) {
            this.pickField(0);
        }
    }

    setField(i) {
        this.field = i;
        this.app.parts.plain = i === 0;
        $("range-row").style.visibility = i === 0 ? "hidden" : "visible";
        this.setAuto(true);
    }

    setAuto(on) {
        $("range-auto").checked = on;
        $("range-low").disabled = $("range-high").disabled = on;
        this.range = on ? null : [Number($("range-low").value), Number($("range-high").value)];
        this.repaint();
    }

    readRange() {
        const low = readNumber($("range-low"), { name: "Low" });
        const high = low === null ? null : readNumber($("range-high"), { name: "High", low: low + 1e-12 * Math.abs(low) });
        if (low !== null && high !== null) {
            this.range = [low, high];
            this.repaint();
        }
    }

    repaint() {
        const { body, shown } = this.app;
        if (shown && body.current) {
            body.paint(this.values(shown, body.current));
            this.app.parts.showActuators(shown.head, shown.arrays, (a) => this.app.efforts.share(a, shown.head));
            this.app.bonded.show(shown, this.app.parts.plain);
            this.app.stage.invalidate();
        }
        this.legend();
    }

    // The fields of a shape are offered, others not.
    offer(head) {
        if (head.brief) {
            return; // its fields are being sent
        }
        const key = Object.keys(head.ranges).join();
        if (key !== this.offered) {
            this.offered = key;
            this.setFields(new Set(["region", "displacement", ...Object.keys(head.ranges).filter((k) => k !== "contact" || this.robot.obstacles.length || head.record?.contacts)]));
        }
    }

    // The values to colour by: value[vertex] * unit + base, between low and high.
    values(message, mesh) {
        const field = fields[this.field];
        // until the fields of a shape have come, those of the last one colour it; not in what is played back
        const { detailed, timeline } = this.app;
        const shape = message.head.brief && !timeline.played && field.key !== "displacement" && detailed?.head.mesh === message.head.mesh ? detailed : message;
        this.span = null;
        // which fields a model knows, it says with its shapes
        if (field.key === "region" || (field.key !== "displacement" && !shape.head.ranges[field.key])) {
            return null;
        }
        let values;
        if (field.key === "displacement") {
            const x = shape.arrays.x;
            const rest = mesh.rest;
            const value = new Float32Array(x.length / 3);
            for (let v = 0; v < value.length; ++v) {
                value[v] = Math.hypot(x[3 * v] - rest[3 * v], x[3 * v + 1] - rest[3 * v + 1], x[3 * v + 2] - rest[3 * v + 2]);
            }
            values = { value, unit: 1, base: 0, low: 0, high: value.reduce((a, b) => Math.max(a, b), 0) };
        } else {
            const [low, high] = shape.head.ranges[field.key];
            values = { value: shape.arrays[field.key], unit: (high - low) / 65535, base: low, low, high };
        }
        values.most = values.high;
        // strain and stress peak at a few corners: the scale ends where 99.5 % of the body does
        if (field.key === "strain" || field.key === "stress") {
            values.high = values.base + values.unit * quantile(values.value, 0.995);
            values.low = Math.min(values.low, 0);
        }
        // below what the solver resolves there is nothing to be seen
        values.high = Math.max(values.high, values.low + this.floor(field.key, shape.head));
        if (field.centre !== undefined) {
            const reach = Math.max(values.high - field.centre, field.centre - values.low, 1e-3);
            values.low = field.centre - reach;
            values.high = field.centre + reach;
        }
        if (!(values.high > values.low)) {
            values.high = values.low + 1e-6;
        }
        if (this.range) {
            [values.low, values.high] = this.range;
        } else {
            $("range-low").value = Number(values.low.toPrecision(4));
            $("range-high").value = Number(values.high.toPrecision(4));
        }
        this.span = [values.low, values.high];
        this.most = values.most;
        this.least = field.key === "J" || field.key === "stretch" ? values.base : null;
        return { ...values, scale: field.scale };
    }

    // Positions are solved to a tolerance, so that strains are known to that over the length of an edge; where the largest
    // strain is smaller, stresses are noise in the same measure.
    floor(key, { ranges, record }) {
        const { robot, size } = this.app;
        const length = robot.resolution ?? 1e-5;
        const strain = (100 * length * Math.cbrt(record.elements ?? 1)) / size;
        const most = ranges.strain?.[1] ?? Infinity;
        const known = { displacement: length, strain, stress: most < strain ? ranges.stress?.[1] * (strain / Math.max(most, 1e-12)) : 0 };
        return known[key] ?? 0;
    }

    legend() {
        const field = fields[this.field];
        const shown = this.app.shown;
        $("legend").hidden = !this.robot?.ok || (field.key !== "region" && (!shown || !this.span));
        const byRegion = field.key === "region";
        $("legend-bar").hidden = $("legend-ticks").hidden = $("legend-title").hidden = byRegion;
        $("legend-regions").hidden = !byRegion;
        $("legend-most").hidden = byRegion;
        this.efforts();
        this.bonded();
        if (byRegion) {
            $("legend-regions").replaceChildren(...(this.robot?.regions ?? []).map((r, i) => {
                const li = document.createElement("li");
                const box = document.createElement("i");
                const small = document.createElement("small");
                box.style.background = regionColours[i % regionColours.length];
                small.textContent = r.material;
                li.append(box, r.name, small);
                return li;
            }));
        } else if (this.span) {
            // stress and strain of a predicted shape are not known
            const old = shown.head.predicted && field.key !== "displacement";
            $("legend-title").textContent = `${field.title}${old ? " (of the shape solved last)" : ""}`;
            $("legend-bar").style.background = field.scale.css;
            const [low, high] = this.span;
            $("legend-ticks").replaceChildren(...[low, 0.5 * (low + high), high].map((v) => {
                const span = document.createElement("span");
                span.textContent = format(v, field.digits);
                return span;
            }));
            $("legend-most").textContent = `${this.least === null ? "" : `smallest ${format(this.least, field.digits)}, `}largest ${format(this.most, field.digits)}`;
        }
    }

    // Layers, fibres, sensors, springs.
    bonded() {
        $("legend-bonded").replaceChildren(...this.app.bonded.entries().map(({ colour, name, small, line }) => {
            const li = document.createElement("li");
            const box = document.createElement("i");
            box.style.background = colour;
            box.className = line ? "line" : "";
            li.append(box, name, Object.assign(document.createElement("small"), { textContent: small }));
            return li;
        }));
    }

    // Cables and chambers: one fixed scale per unit.
    efforts() {
        const scales = this.app.efforts?.scales() ?? [];
        $("legend-efforts").replaceChildren(...scales.map(({ name, unit, most }) => {
            const row = document.createElement("div");
            const bar = document.createElement("i");
            bar.style.background = heatCss;
            const text = (value) => Object.assign(document.createElement("span"), { textContent: value });
            const title = Object.assign(document.createElement("p"), { textContent: name });
            row.append(text("0"), bar, text(`${brief(most)} ${unit}`));
            const box = document.createElement("div");
            box.append(title, row);
            return box;
        }));
    }

    // The point of the surface where the field is largest gets the probe.
    probeMost() {
        const { shown, body, probe } = this.app;
        const field = fields[this.field];
        const m = body.current;
        const values = shown && m && this.values(shown, m);
        if (values) {
            let best = m.tri[0];
            for (const v of m.tri) {
                best = values.value[v] > values.value[best] ? v : best;
            }
            probe.set([0, 1, 2].map((k) => m.rest[3 * best + k]));
        }
        return field.key;
    }

    // ---- section
    setSection(axis) {
        this.axis = axis;
        const eye = this.app.stage.camera.getWorldDirection(this.plane.normal.clone());
        this.normal = axis < 0 ? [1, 0, 0] : axis < 3 ? [0, 1, 2].map((k) => Number(k === axis)) : eye.toArray();
        this.flip = axis === 1 || axis === 3; // look into the half away from the usual eye
        $("section-at").disabled = $("section-flip").disabled = axis < 0;
        $("section-at").value = 0.5;
        this.applySection();
    }

    // Distances along the normal: the middle of the robot, and as far as it may have moved.
    sectionSpan() {
        const { low, high } = this.robot;
        const size = Math.hypot(...high.map((h, i) => h - low[i]));
        const middle = this.normal.reduce((s, n, i) => s + 0.5 * n * (low[i] + high[i]), 0);
        const half = this.normal.reduce((s, n, i) => s + 0.5 * Math.abs(n) * (high[i] - low[i]), 0) + 0.3 * size;
        return { middle, half, size };
    }

    applySection() {
        if (this.axis < 0 || !this.robot?.ok) {
            this.apply({ section: null });
            $("section-text").textContent = "";
            return;
        }
        const { middle, half, size } = this.sectionSpan();
        const s = Number($("section-at").value);
        const at = middle + (2 * s - 1) * half;
        $("section-at").style.setProperty("--fill", `${100 * s}%`);
        $("section-text").textContent = this.axis < 3 ? `${"xyz"[this.axis]} = ${format(at, 1)} mm` : `${format(at - middle, 1)} mm from the middle`;
        this.apply({ section: { normal: this.normal, at: at + 1e-5 * size, flip: this.flip } });
    }

    // The plane was dragged in the view.
    moveSection(at) {
        const { middle, half } = this.sectionSpan();
        $("section-at").value = Math.min(1, Math.max(0, 0.5 + (0.5 * (at - middle)) / half));
        this.applySection();
    }
}

// The value below which a share of 16-bit values lies.
function quantile(values, share) {
    const bins = new Uint32Array(65536);
    for (let i = 0; i < values.length; ++i) {
        ++bins[values[i]];
    }
    let left = share * values.length;
    let k = 0;
    for (; k < 65535 && left > bins[k]; ++k) {
        left -= bins[k];
    }
    return k;
}
