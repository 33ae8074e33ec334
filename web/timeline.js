// One timeline for sweeps, paths, recordings and logs: play, scrub, speed, a second run laid over it, measured markers; and
// plots of any channel over time.
import { brief, format } from "./colours.js";
import { plotSvg } from "./plot.js";
import { readTable } from "./table.js";
import { Run, compare } from "./runs.js";

const $ = (id) => document.getElementById(id);
const recordLimit = 150e6; // bytes of shapes in one recording
const liveRows = 600;
const logPause = 500; // ms between two looks at the log of a run
const logRows = 2000; // that the server sends at most in one message
const plotRows = 1500; // of a curve: of more, every nth

export class Timeline {
    // app: robot, show(message, live), truth, save, parts, body, mayMove(), toast(), link, solved()
    constructor(app) {
        this.app = app;
        this.runs = [];
        this.run = this.other = this.measured = null;
        this.at = 0;
        this.played = null; // commands of the row shown; null: live
        this.chosen = [];
        $("play").addEventListener("click", () => this.play(!this.playing));
        $("frame").addEventListener("input", () => {
            this.play(false);
            this.showRow(Number($("frame").value));
        });
        $("live").addEventListener("click", () => this.backToLive());
        $("speed").addEventListener("change", () => this.playing && this.play(true));
        $("record").addEventListener("click", () => this.record(!this.recording));
        $("log-open").addEventListener("click", () => $("log-file").click());
        $("log-file").addEventListener("change", () => this.open());
        $("log-solve").addEventListener("click", () => this.solveAll());
        $("run-shown").addEventListener("change", () => this.choose(this.runs[Number($("run-shown").value)]));
        $("run-other").addEventListener("change", () => this.overlay(this.runs[Number($("run-other").value)] ?? null));
        $("run-forget").addEventListener("click", () => this.forget(this.run));
        this.play(false);
    }

    reset(robot) {
        this.robot = robot;
        this.runs = [];
        this.run = this.other = this.measured = this.recording = null;
        this.live = new Run(robot, "live");
        this.log = null;
        this.logAsked = false;
        this.chosen = [];
        this.begun = performance.now();
        this.played = null;
        $("player").hidden = true;
        this.play(false);
        this.fillRuns();
        this.fillChannels();
        this.plot();
    }

    // ---- recording
    // Every solved shape passes here.
    hear(message) {
        const seconds = (performance.now() - this.begun) / 1000;
        this.live.add(message, seconds, false);
        if (this.live.count > liveRows + 100) {
            this.trim();
        }
        if (this.recording) {
            this.recording.add(message, (performance.now() - this.recordBegun) / 1000);
            if (this.recording.bytes > recordLimit) {
                this.app.toast("The recording is full: 150 MB of shapes.");
                this.record(false);
            }
        }
        this.fillChannels();
        if (!$("page-time").hidden && !this.played) {
            this.plot();
        }
        this.sayRecord();
    }

    trim() {
        const drop = this.live.count - liveRows;
        for (const list of [this.live.time, this.live.frames, this.live.commands, ...[...this.live.channels.values()].map((c) => c.values)]) {
            list.splice(0, drop);
        }
    }

    record(on) {
        if (on) {
            this.recording = new Run(this.robot, `recording ${this.runs.filter((r) => /^recording/.test(r.name)).length + 1}`);
            this.recording.clock = true;
            this.recordBegun = performance.now();
        } else if (this.recording) {
            const run = this.recording;
            this.recording = null;
            if (run.count > 1) {
                this.add(run);
            } else {
                this.app.toast("Nothing moved while it was recording.");
            }
        }
        this.sayRecord();
    }

    sayRecord() {
        $("record").setAttribute("aria-pressed", String(Boolean(this.recording)));
        $("record").textContent = this.recording ? `Stop (${this.recording.count} shapes)` : "Record";
    }

    // ---- runs
    add(run, show = true) {
        this.runs.push(run);
        this.fillRuns();
        if (show) {
            this.choose(run);
            this.showRow(run.count - 1);
            this.backToLive();
        }
    }

    choose(run) {
        this.run = run ?? null;
        this.at = 0;
        if (this.other === run) {
            this.overlay(null);
        }
        $("player").hidden = !run;
        if (run) {
            $("frame").max = run.count - 1;
            $("frame").value = 0;
            this.showRow(0);
        } else {
            this.backToLive();
        }
        this.fillRuns();
        this.fillChannels();
        this.plot();
        this.app.save.wholeRun(Boolean(run && this.solvedRows().length));
    }

    overlay(run) {
        this.other = run === this.run ? null : run;
        this.showOverlay();
        this.fillRuns();
        this.plot();
    }

    forget(run) {
        this.runs = this.runs.filter((r) => r !== run);
        this.measured = this.runs.includes(this.measured) ? this.measured : null;
        this.other = this.runs.includes(this.other) ? this.other : null;
        this.choose(this.runs.at(-1) ?? null);
        this.showMeasured();
    }

    fillRuns() {
        const options = (list, none) => [...(none ? [new Option(none, "-1")] : []), ...list.map((r) => new Option(r.name, this.runs.indexOf(r)))];
        $("run-shown").replaceChildren(...options(this.runs));
        $("run-shown").value = String(this.runs.indexOf(this.run));
        $("run-other").replaceChildren(...options(this.runs.filter((r) => r !== this.run), "none"));
        $("run-other").value = String(this.runs.indexOf(this.other));
        $("runs").hidden = this.runs.length === 0;
        const open = this.run?.posed ? this.run.frames.filter((f) => !f).length : 0;
        $("log-solve").hidden = !open;
        $("log-solve").textContent = this.solving ? "Stop" : `Solve its ${this.run?.count ?? 0} poses`;
    }

    solvedRows() {
        return (this.run?.frames ?? []).filter(Boolean);
    }

    // ---- tables
    async open() {
        const file = $("log-file").files[0];
        $("log-file").value = "";
        if (!file) {
            return;
        }
        try {
            if (file.size > 20e6) {
                throw new Error(`${file.name}: ${Math.round(file.size / 1e6)} MB are too much for the page.`);
            }
            this.read(await file.text(), file.name);
        } catch (error) {
            this.app.toast(error.message);
        }
    }

    read(text, name) {
        const run = Run.fromTable(this.robot, name, readTable(text, name));
        const known = this.robot.markers.some((m) => run.path(m.name));
        if (!run.posed && !known && ![...run.channels.keys()].some((k) => this.live.channels.has(k))) {
            throw new Error(`${name}: no column is called as a command, sensor or marker of this robot (${[...this.live.channels.keys()].slice(0, 4).join(", ")} …).`);
        }
        this.add(run, run.posed);
        if (run.unassigned) {
            this.app.toast(`${name}: x, y, z belong to no marker: ${run.unassigned}.`);
        }
        if (known) {
            this.measured = run;
            this.showMeasured();
        }
        if (!run.posed && !this.run) {
            this.choose(run);
        }
        this.fillChannels();
        this.plot();
        return run;
    }

    // ---- a run that goes on: the server has its log, the page asks for the rows it does not have yet
    watch(name) {
        this.logName = name;
        clearInterval(this.watching);
        $("log-live").hidden = !name;
        this.watching = name ? setInterval(() => this.askLog(), logPause) : 0;
        this.sayLog();
    }

    askLog() {
        if (this.robot?.ok && !this.logAsked && this.app.link.send({ type: "log", from: this.log?.run.count ?? 0 })) {
            this.logAsked = true;
        }
    }

    hearLog(message) {
        this.logAsked = false;
        if (this.log && message.total < this.log.run.count) {
            this.log = null; // another run in its place: from the beginning
        } else if (message.rows > 0 && message.from === (this.log?.run.count ?? 0)) {
            try {
                this.grow(message);
            } catch (error) {
                this.watch(null);
                this.app.toast(error.message);
            }
            if (message.rows === logRows) {
                this.askLog(); // there are more
            }
        }
        this.sayLog();
    }

    grow(message) {
        const more = Run.fromTable(this.robot, this.logName, readTable(message.text, this.logName));
        if (this.log) {
            this.log.run.append(more);
        } else {
            this.log = { run: more };
            this.add(more, false);
            if (!this.played) {
                this.run = more;
                this.at = 0;
                $("player").hidden = false;
                $("frame-text").textContent = "live";
                this.chosen = [...more.channels.keys()].filter((n) => /^(set point|output) 1$/.test(n) || n === this.robot.commands[0]?.name || / estimated$/.test(n)).slice(0, 6);
                this.channelKey = null;
            }
            this.measured = this.robot.markers.some((m) => more.path(m.name)) ? more : this.measured;
        }
        this.log.heard = performance.now();
        if (this.run === this.log.run) {
            $("frame").max = this.run.count - 1;
        }
        this.fillRuns();
        this.fillChannels();
        this.showMeasured();
        if (!$("page-time").hidden && !this.played) {
            this.plot();
        }
        this.alongLog();
    }

    // The robot shown goes along with the newest commands, as fast as it can be solved.
    alongLog() {
        const { app } = this;
        const commands = this.log?.run.posed ? this.log.run.commands.at(-1) : null;
        if ($("log-along").checked && commands && app.mayMove() && !app.move.before && !this.played && app.truth.answers(app.shape?.head ?? { serial: 0 })) {
            app.move.adopt(commands);
            app.move.send();
        }
    }

    sayLog() {
        const { log } = this;
        const last = log ? `${log.run.count} rows, the last at ${format(log.run.time.at(-1), 2)} s` : "waiting for its first rows";
        const quiet = log ? Math.floor((performance.now() - log.heard) / 1000) : 0;
        $("log-live-text").textContent = this.logName ? `${this.logName}: ${last}${quiet > 2 ? `; no new row for ${quiet} s` : ""}.` : "";
    }

    // Where markers were measured: dots along their ways.
    showMeasured() {
        const points = this.measured ? this.robot.markers.flatMap((m) => (this.measured.path(m.name) ?? []).filter((p) => p.every(Number.isFinite)).flat()) : [];
        this.app.parts.setMeasured(points.length ? new Float32Array(points) : null);
        this.markMeasured();
        this.app.stage.invalidate();
    }

    // The dot of the moment shown.
    markMeasured() {
        const { parts } = this.app;
        const k = this.measured && this.run && this.played ? (this.measured === this.run ? this.at : this.measured.rowAt(this.run.time[this.at])) : -1;
        const now = k < 0 ? [] : this.robot.markers.flatMap((m) => this.measured.path(m.name)?.[k] ?? []);
        parts.setMeasuredNow(now.length && now.every(Number.isFinite) ? new Float32Array(now) : null);
    }

    // ---- one row
    get frames() {
        return this.run?.frames ?? [];
    }

    showRow(k) {
        const run = this.run;
        this.at = k;
        $("frame").value = k;
        $("frame").style.setProperty("--fill", `${(100 * k) / Math.max(1, run.count - 1)}%`);
        $("frame").setAttribute("aria-valuetext", `step ${k + 1} of ${run.count}, ${format(run.time[k], 2)} s`);
        $("frame-text").textContent = `${k + 1} of ${run.count}${run.clock ? ` · ${format(run.time[k], 2)} s` : ""}`;
        this.played = run.posed || run.frames[k] ? run.commands[k] : null;
        if (run.frames[k]) {
            this.app.show(run.frames[k], false);
        } else if (this.played) {
            this.solveRow(k);
        }
        this.app.move.refresh();
        this.showOverlay();
        this.markMeasured();
        this.app.truth.say();
        this.app.save.refresh();
        this.plot();
    }

    // A row of a log has no shape yet: the server solves it, while nobody plays.
    async solveRow(k) {
        const { app, run } = this;
        if (!app.mayMove() || this.playing || this.asking) {
            return false;
        }
        this.asking = true;
        const serial = app.truth.ask({ commands: run.commands[k] });
        this.asked = app.solved(serial);
        const shape = await this.asked;
        this.asking = false;
        if (shape) {
            run.frames[k] = shape;
            run.bytes += shape.bytes ?? 0;
        }
        if (this.run === run && this.played) {
            if (this.at === k && shape) {
                app.show(shape, false);
                app.truth.say();
                app.save.refresh();
            } else if (this.at !== k && !run.frames[this.at]) {
                this.solveRow(this.at);
            }
        }
        this.fillRuns();
        return Boolean(shape);
    }

    async solveAll() {
        if (this.solving) {
            this.solving = false;
            return;
        }
        const run = this.run;
        const out = new Run(this.robot, `${run.name}, solved`); // so that the log can be laid over it
        out.clock = run.clock;
        this.solving = true;
        this.play(false);
        const step = Math.max(1, Math.ceil(run.count / 200)); // of a long log every nth row
        for (let k = 0; k < run.count && this.solving && this.run === run; k += step) {
            while (this.asking) {
                await this.asked; // a row that was looked at before comes first
            }
            if (!run.frames[k]) {
                this.at = k;
                this.played = run.commands[k];
                if (!(await this.solveRow(k)) || run.bytes > recordLimit) {
                    break;
                }
            }
            this.showRow(k);
            out.add(run.frames[k], run.time[k]);
        }
        this.solving = false;
        this.fillRuns();
        if (out.count > 1) {
            this.add(out);
        }
    }

    showOverlay() {
        const frame = this.other?.frames[this.run && this.played ? this.other.rowAt(this.run.time[this.at]) : this.other.count - 1];
        this.app.body.setOverlay(frame?.head.mesh, frame?.arrays.x);
        const paths = this.other ? this.robot.markers.flatMap((m) => this.other.path(m.name) ?? []) : [];
        this.app.parts.setOther(paths.length ? paths.flat() : null);
        this.app.stage.invalidate();
    }

    // ---- playing
    // Through the rows in their own time; steps that have none, ten a second.
    play(on) {
        clearInterval(this.playing);
        this.playing = 0;
        if (on && this.run?.count > 1) {
            const { time } = this.run;
            const start = this.at >= this.run.count - 1 ? 0 : this.at;
            const begun = performance.now();
            const rate = Number($("speed").value);
            const whole = time.at(-1) - time[0];
            this.playing = setInterval(() => {
                const t = time[start] + (rate * (performance.now() - begun)) / 1000;
                const round = whole > 0 ? time[0] + ((t - time[0]) % (whole + pauseOf(time))) : time[0];
                const row = this.run.rowAt(Math.min(round, time.at(-1)));
                if (row !== this.at) {
                    this.showRow(row);
                }
            }, 33);
        }
        $("play").innerHTML = this.playing
            ? '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 2h4v12H3zM9 2h4v12H9z" fill="currentColor"/></svg>'
            : '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M4 2l10 6-10 6z" fill="currentColor"/></svg>';
        $("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    }

    backToLive() {
        this.play(false);
        if (this.played) {
            this.played = null;
            this.app.move.refresh();
            this.markMeasured();
            this.showOverlay();
            this.plot();
        }
        $("frame-text").textContent = "live";
        this.app.truth.decide();
        this.app.save.refresh();
    }

    // ---- plots
    fillChannels() {
        const source = this.run ?? this.live;
        const names = new Set([...source.channels.keys(), ...(this.measured?.channels.keys() ?? []), ...(this.run ? [] : this.live.channels.keys())]);
        const key = [...names].join();
        if (key === this.channelKey) {
            return;
        }
        this.channelKey = key;
        this.chosen = this.chosen.filter((n) => names.has(n));
        if (this.chosen.length === 0) {
            const first = this.robot.markers[0] && `${this.robot.markers[0].name} moved`;
            const more = this.robot.markers[0] && `${this.robot.markers[0].name}.x`;
            this.chosen = [names.has(first) ? first : names.has(more) ? more : [...names][0]].filter(Boolean);
        }
        $("channels").replaceChildren(...[...names].map((name) => {
            const label = document.createElement("label");
            label.className = "check";
            const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: this.chosen.includes(name) });
            box.addEventListener("change", () => {
                this.chosen = box.checked ? [...this.chosen, name] : this.chosen.filter((n) => n !== name);
                this.plot();
            });
            label.append(box, name);
            return label;
        }));
    }

    plot() {
        const source = this.run ?? this.live;
        const plots = this.chosen.slice(0, 6).flatMap((name) => {
            const curves = [];
            const unit = source?.channels.get(name)?.unit ?? this.measured?.channels.get(name)?.unit ?? "";
            const push = (run, style) => run?.channels.get(name) && curves.push({ x: thin(run.time), y: thin(run.channels.get(name).values), ...style });
            push(this.other, { quiet: true, name: this.other?.name });
            push(source, { name: source === this.live ? "live" : source?.name, dots: source?.measured });
            if (this.measured !== source) {
                push(this.measured, { dots: true, name: this.measured?.name });
            }
            return curves.length ? [plotSvg({ curves, mark: this.played ? source.time[this.at] : undefined, xLabel: "time, s", yLabel: `${name}${unit ? `, ${unit}` : ""}`, legend: curves.length > 1 })] : [];
        });
        $("time-plot").innerHTML = plots.map((p) => `<figure>${p}</figure>`).join("");
        $("time-plot-hint").hidden = plots.length > 0;
        const against = this.measured && this.measured !== this.run ? compare(source, this.measured) : [];
        $("measured-text").textContent = against.map((c) => `${c.marker}: measured positions are ${brief(c.rms)} mm (rms) and at most ${brief(c.most)} mm from the run, over ${c.rows} rows.`).join(" ");
    }
}

function thin(values) {
    const step = Math.ceil(values.length / plotRows);
    return step > 1 ? values.filter((_, i) => i % step === 0 || i === values.length - 1) : values;
}

function pauseOf(time) {
    return Math.max(0.1, (time.at(-1) - time[0]) / Math.max(1, time.length - 1));
}
