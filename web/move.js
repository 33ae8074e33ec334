// Moving the robot by its commands: sliders, number fields, efforts, presets, undo, sweeps.
import { brief, effortWord } from "./colours.js";
import { escaped, plotSvg } from "./plot.js";
import { Run } from "./runs.js";
import { complain, readNumber } from "./fields.js";

const $ = (id) => document.getElementById(id);

export class Move {
    // app: link, robot, shape, show(frame), toast(text), mayMove()
    constructor(app) {
        this.app = app;
        this.sliders = [];
        this.history = [];
        this.commands = [];
        $("home").addEventListener("click", () => this.go(this.commands.map(() => null)));
        $("undo").addEventListener("click", () => this.undo());
        $("sweep").addEventListener("submit", (e) => {
            e.preventDefault();
            this.sweep();
        });
        $("sweep-command").addEventListener("change", () => this.fillSweep());
    }

    // ---- a robot
    // `commands`: those it is asked for at once, if any. The sliders of the same commands stay, with what a hand may hold, and so does
    // what can be undone.
    reset(robot, commands) {
        const same = this.robot?.file === robot.file && JSON.stringify(this.robot.commands) === JSON.stringify(robot.commands);
        this.robot = robot;
        this.commands = commands ?? robot.commands.map(() => null);
        this.cancelled = true;
        $("sweep-plot").hidden = true;
        if (!same) {
            this.history = [];
            this.before = null;
            this.build();
        }
        this.buildPresets();
        this.refresh();
    }

    build() {
        $("sliders").replaceChildren();
        this.sliders = this.robot.commands.map((c, i) => this.buildSlider(c, i));
        $("sweep-command").replaceChildren(...this.robot.commands.map((c, i) => new Option(c.name, i)));
        $("sweep").hidden = this.robot.commands.length === 0;
        this.fillSweep();
        if (this.robot.commands.length === 0) {
            const p = document.createElement("p");
            p.className = "hint";
            p.textContent = "This robot has no commands. Loads alone decide its shape.";
            $("sliders").append(p);
        }
    }

    buildSlider(c, i) {
        const root = document.createElement("div");
        root.className = "slider";
        const step = (c.high - c.low) / 500;
        root.innerHTML = `<div class="slider-line"><label for="slider-${i}"></label>
            <input id="number-${i}" type="text" inputmode="decimal"><span class="unit"></span></div>
            <input id="slider-${i}" type="range">
            <div class="efforts"><span></span><button type="button" data-word="idle">idle</button></div>`;
        root.querySelector("label").textContent = c.name;
        root.querySelector(".unit").textContent = c.unit;
        const number = root.querySelector("input[type=text]");
        const slider = root.querySelector("input[type=range]");
        const idle = root.querySelector("button");
        number.setAttribute("aria-label", `${c.name}${c.unit ? ` in ${c.unit}` : ""}`);
        idle.setAttribute("aria-label", `Leave ${c.name} idle`);
        Object.assign(slider, { min: c.low, max: c.high, step, value: c.rest });
        const set = (value, done) => {
            const v = Math.min(c.high, Math.max(c.low, value));
            if (!this.before) {
                this.before = [...this.commands];
            }
            this.commands[i] = Number(v.toPrecision(6));
            this.send();
            this.refresh();
            if (done) {
                this.keep();
            }
        };
        slider.addEventListener("input", () => {
            complain(number, "");
            set(Number(slider.value), false);
        });
        slider.addEventListener("change", () => this.keep());
        number.addEventListener("change", () => {
            const value = readNumber(number, { name: c.name, low: c.low, high: c.high, unit: c.unit });
            if (value !== null) {
                set(value, true);
            }
        });
        idle.addEventListener("click", () => this.go(this.commands.map((v, k) => (k === i ? null : v))));
        $("sliders").append(root);
        return { root, slider, number, idle, effort: root.querySelector(".efforts span") };
    }

    // ---- where it should be
    send() {
        this.app.timeline.backToLive();
        this.serial = this.app.truth.ask({ commands: [...this.commands] });
        this.app.save.wholeRun(false);
        return this.serial;
    }

    // All commands at once; what was before can be undone.
    go(commands) {
        this.before = [...this.commands];
        this.commands = [...commands];
        this.send();
        this.refresh();
        this.keep();
    }

    keep() {
        if (this.before && this.before.some((v, i) => v !== this.commands[i])) {
            this.history.push(this.before);
            this.history.splice(0, Math.max(0, this.history.length - 200));
        }
        this.before = null;
        $("undo").disabled = this.history.length === 0 || !this.app.mayAsk();
    }

    undo() {
        const last = this.history.pop();
        if (last) {
            this.commands = [...last];
            this.send();
            this.refresh();
            this.before = null;
            $("undo").disabled = this.history.length === 0;
        }
    }

    // Inverse kinematics moved the commands.
    adopt(commands) {
        this.commands = commands.map((v) => v);
        this.refresh();
    }

    // ---- what the panel shows
    refresh() {
        const free = this.app.mayAsk();
        this.sliders.forEach((k, i) => {
            const c = this.robot.commands[i];
            const value = (this.app.timeline.played ?? this.commands)[i];
            const shown = value ?? c.rest;
            k.root.classList.toggle("idle", value === null);
            if (document.activeElement !== k.slider || Number(k.slider.value) !== shown) {
                k.slider.value = shown;
            }
            const zero = Math.min(c.high, Math.max(c.low, c.rest));
            k.slider.style.setProperty("--fill", `${(100 * (shown - c.low)) / (c.high - c.low || 1)}%`);
            k.slider.setAttribute("aria-valuetext", value === null ? `idle, at ${brief(zero)}` : `${brief(value)} ${c.unit}`);
            if (document.activeElement !== k.number && !k.number.hasAttribute("aria-invalid")) {
                k.number.value = value === null ? "" : String(Number(shown.toPrecision(4)));
                k.number.placeholder = value === null ? "idle" : "";
            }
            k.idle.style.visibility = value === null ? "hidden" : "visible";
            for (const element of [k.slider, k.number, k.idle]) {
                element.disabled = !free;
            }
        });
        for (const id of ["home", "sweep-run"]) {
            $(id).disabled = !free;
        }
        $("undo").disabled = this.history.length === 0 || !free;
    }

    // Efforts of a shape beside their sliders.
    showEfforts(head) {
        this.sliders.forEach((k, i) => {
            const parts = this.robot.actuators
                .map((a, n) => ({ a, r: head.actuators[n] }))
                .filter(({ a }) => a.command === i)
                .map(({ a, r }) => {
                    const name = this.robot.actuators.filter((b) => b.command === i).length > 1 ? `${escaped(a.name)} ` : "";
                    const state = r.slack ? "slack" : `${escaped(effortWord(a.effort))} <b>${brief(r.effort)} ${escaped(a.unit)}</b>`;
                    return `${name}${state} · <dfn class="word" data-word="ratio" tabindex="0">×${brief(r.ratio)}</dfn>`;
                });
            k.effort.innerHTML = parts.slice(0, 3).join("<br>");
        });
    }

    // ---- presets
    buildPresets() {
        const own = this.stored();
        const chips = [];
        if (this.robot.commands.length > 0) {
            chips.push(this.chip("Half", () => this.full(0.5)), this.chip("Full", () => this.full(1)));
            if (this.robot.commands.length > 1 && this.robot.commands.length <= 8) {
                this.robot.commands.forEach((c, i) =>
                    chips.push(this.chip(`Only ${c.name}`, () => this.go(this.robot.commands.map((d, k) => (k === i ? 0.7 * far(d) + 0.3 * d.rest : null))))));
            }
        }
        for (const [name, commands] of Object.entries(own)) {
            const span = document.createElement("span");
            span.className = "chip";
            const remove = this.chip("×", () => {
                delete own[name];
                this.store(own);
            });
            remove.setAttribute("aria-label", `Forget ${name}`);
            span.append(this.chip(name, () => this.go(this.robot.commands.map((c) => commands[c.name] ?? null))), remove);
            chips.push(span);
        }
        chips.push(this.chip("+ Keep this pose", () => {
            const name = `Pose ${Object.keys(own).length + 1}`;
            own[name] = Object.fromEntries(this.robot.commands.map((c, i) => [c.name, this.commands[i]]));
            this.store(own);
        }));
        $("presets").replaceChildren(...chips);
    }

    // To the pose that moves the tip (or the last marker) farthest: antagonists would only hold each other.
    async full(share) {
        const { robot } = this;
        const several = robot.commands.length > 1 && robot.markers.length > 0;
        const tip = robot.markers.findIndex((m) => /tip/.test(m.name));
        const best = several ? await this.app.suggest(tip < 0 ? robot.markers.length - 1 : tip) : null;
        if (robot === this.robot) {
            const ends = best?.full ?? robot.commands.map(far);
            this.go(robot.commands.map((c, i) => (ends[i] === null ? null : c.rest + share * (ends[i] - c.rest))));
        }
    }

    chip(text, act) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = text;
        button.addEventListener("click", () => (this.app.mayAsk() ? act() : this.app.toast("Another viewer has the controls.")));
        return button;
    }

    stored() {
        try {
            return JSON.parse(localStorage.getItem(`pliant:${this.robot.name}`) ?? "{}");
        } catch {
            return {};
        }
    }

    store(own) {
        localStorage.setItem(`pliant:${this.robot.name}`, JSON.stringify(own));
        this.buildPresets();
    }

    // ---- sweep
    fillSweep() {
        const c = this.robot?.commands[Number($("sweep-command").value)];
        if (c) {
            $("sweep-from").value = Number(c.rest.toPrecision(5));
            $("sweep-to").value = Number(far(c).toPrecision(5));
        }
    }

    async sweep() {
        if (this.running) {
            this.cancelled = true;
            return;
        }
        const i = Number($("sweep-command").value);
        const c = this.robot.commands[i];
        const range = { low: c.low, high: c.high, unit: c.unit };
        const from = readNumber($("sweep-from"), { name: "From", ...range });
        const to = readNumber($("sweep-to"), { name: "To", ...range });
        const steps = readNumber($("sweep-steps"), { name: "Steps", low: 2, high: 200, whole: true });
        if (from === null || to === null || steps === null) {
            return;
        }
        this.running = true;
        this.cancelled = false;
        $("sweep-run").textContent = "Stop";
        const frames = [];
        const start = [...this.commands];
        for (let k = 0; k < steps && !this.cancelled; ++k) {
            this.commands[i] = Number((from + ((to - from) * k) / (steps - 1)).toPrecision(8));
            const shape = await this.app.solved(this.send());
            if (!shape) {
                this.app.toast("The sweep ended early: no answer came.");
                break;
            }
            frames.push(shape);
            this.refresh();
        }
        this.running = false;
        $("sweep-run").textContent = "Run the sweep";
        this.history.push(start);
        this.refresh();
        if (frames.length > 1) {
            this.swept = { command: i, frames };
            this.plotSweep();
            this.app.timeline.add(Run.fromFrames(this.robot, `sweep of ${c.name}`, frames));
        }
    }

    plotSweep() {
        if (this.robot.markers.length === 0) {
            return;
        }
        const { command, frames } = this.swept;
        const c = this.robot.commands[command];
        const x = frames.map((f) => f.head.commands[command]);
        const y = frames.map((f) => Math.hypot(...f.head.markers[0].displacement));
        $("sweep-plot").innerHTML = plotSvg({
            curves: [{ x, y }],
            xLabel: `${c.name}${c.unit ? `, ${c.unit}` : ""}`, yLabel: `displacement of ${this.robot.markers[0].name}, mm`,
        });
        $("sweep-plot").hidden = false;
    }
}

// The end of a command's range that is farther from rest.
function far(c) {
    return Math.abs(c.high - c.rest) >= Math.abs(c.low - c.rest) ? c.high : c.low;
}
