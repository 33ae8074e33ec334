// Choosing a robot: the gallery as a dialog, the picture of a design while it opens, the parameters of a design, what is
// wrong with a file while the last good robot stands, links to a pose.
import { complain, readNumber } from "./fields.js";
import { fields } from "./colours.js";

const $ = (id) => document.getElementById(id);
const groups = [["robot", "Robots"], ["model", "Reduced models"], ["test", "Test bodies"]];

export class Gallery {
    // app: link, robot, owner, viewer, status(), toast(), move, stage, look
    constructor(app) {
        this.app = app;
        this.designs = [];
        $("gallery-button").addEventListener("click", () => this.open());
        $("gallery-close").addEventListener("click", () => $("gallery").close());
        // without a robot there is nothing to go back to
        $("gallery").addEventListener("cancel", (e) => !app.robot?.ok && e.preventDefault());
        $("parameters").addEventListener("submit", (e) => {
            e.preventDefault();
            this.build();
        });
        $("copy-link").addEventListener("click", () => this.copyLink());
        $("trouble-close").addEventListener("click", () => ($("trouble").hidden = true));
        addEventListener("hashchange", () => this.follow());
    }

    // ---- the gallery
    fill(designs) {
        this.designs = designs;
        $("gallery-button").hidden = designs.length === 0;
        $("designs").replaceChildren(...groups.flatMap(([key, title]) => {
            const of = designs.filter((d) => (d.group ?? "robot") === key);
            if (of.length === 0) {
                return [];
            }
            const h = Object.assign(document.createElement("h3"), { textContent: title });
            const grid = document.createElement("div");
            grid.className = `designs ${key}`;
            grid.append(...of.map((d) => this.card(d)));
            return [h, grid];
        }));
    }

    card(d) {
        const button = document.createElement("button");
        button.type = "button";
        button.dataset.design = d.kind;
        const img = this.picture(d.kind);
        const span = document.createElement("span");
        const b = Object.assign(document.createElement("b"), { textContent: d.kind.replaceAll("_", " ") });
        const small = Object.assign(document.createElement("small"), { textContent: d.summary });
        span.append(b, small);
        button.append(img, span);
        button.addEventListener("click", () => this.pick(d.kind));
        return button;
    }

    picture(kind) {
        const img = document.createElement("img");
        img.src = `gallery/${kind}.png`;
        img.alt = "";
        img.loading = "lazy";
        img.addEventListener("error", () => img.remove());
        return img;
    }

    open() {
        $("gallery-close").hidden = !this.app.robot?.ok;
        if (!$("gallery").open) {
            $("gallery").showModal();
        }
    }

    pick(kind) {
        const { app } = this;
        if (app.owner !== app.viewer) {
            app.toast("Another viewer has the controls.");
            return;
        }
        app.link.send({ type: "open", design: kind });
        $("gallery").close();
        this.expects = true;
        app.sketch.begin(this.picture(kind), kind.replaceAll("_", " "));
        app.status("busy", "Opening the robot…", 0);
    }

    // ---- what is wrong with a file
    problem(message) {
        this.app.sketch.end(false);
        $("trouble").hidden = false;
        $("trouble-title").textContent = message.standing ? "The file has changed and cannot be opened; the last good robot is shown" : "This robot cannot be opened yet";
        $("trouble-text").textContent = `${message.file} is watched: mend it, save it, and it appears here.`;
        $("trouble-close").hidden = !message.standing;
        $("findings").replaceChildren(...message.findings.map((f) => {
            const li = document.createElement("li");
            li.className = f.severity;
            const place = Object.assign(document.createElement("small"), { textContent: `${f.severity}${f.file ? ` · ${f.file.split("/").at(-1)}${f.line ? `, line ${f.line}` : ""}` : ""}` });
            const text = Object.assign(document.createElement("div"), { textContent: f.text });
            const advice = Object.assign(document.createElement("em"), { textContent: f.advice });
            li.append(place, text, advice);
            return li;
        }));
    }

    // ---- a robot has come
    reset(robot) {
        $("trouble").hidden = true;
        if ($("gallery").open) {
            $("gallery").close();
        }
        const list = robot.parameters;
        $("parameters").hidden = list.length === 0;
        $("parameter-list").replaceChildren(...list.map((p) => {
            const label = document.createElement("label");
            const input = Object.assign(document.createElement("input"), { type: "text", id: `parameter-${p.name}`, value: Number(p.value.toPrecision(6)) });
            input.inputMode = "decimal";
            label.title = p.help;
            label.append(`${p.name.replaceAll("_", " ")}${p.unit && p.unit !== "1" ? `, ${p.unit}` : ""}`, input);
            return label;
        }));
        if (this.app.mayMove()) {
            this.follow();
        }
    }

    build() {
        const { robot, link } = this.app;
        const values = {};
        let good = this.app.mayMove();
        for (const p of robot.parameters) {
            const input = $(`parameter-${p.name}`);
            const value = readNumber(input, { name: p.name.replaceAll("_", " "), low: p.low, high: p.high, unit: p.unit === "1" ? "" : p.unit, whole: p.whole });
            if (value === null && !input.hasAttribute("aria-invalid")) {
                complain(input, `${p.name.replaceAll("_", " ")}: a number is missing.`);
            }
            good = good && value !== null;
            if (value !== null && value !== Number(p.value.toPrecision(6))) {
                values[p.name] = value;
            }
        }
        if (good && Object.keys(values).length) {
            link.send({ type: "parameters", values });
            this.app.status("busy", "Building the robot again…", 0);
        } else if (good) {
            this.app.toast("No parameter has changed.");
        }
    }

    // ---- links: #design=segment&chamber1=20&colour=stress&eye=x,y,z,x,y,z
    link() {
        const { robot, move, stage, look } = this.app;
        const out = new URLSearchParams();
        const design = this.designs.find((d) => robot.file.includes(`/${d.kind}/`));
        if (design) {
            out.set("design", design.kind);
        }
        robot.commands.forEach((c, i) => move.commands[i] !== null && out.set(c.name, String(move.commands[i])));
        if (look.field > 0) {
            out.set("colour", fields[look.field].key);
        }
        out.set("eye", [...stage.camera.position.toArray(), ...stage.controls.target.toArray()].map((v) => Number(v.toFixed(2))).join(","));
        return `${location.origin}${location.pathname}${location.search}#${out}`;
    }

    async copyLink() {
        const link = this.link();
        history.replaceState(null, "", link);
        try {
            await navigator.clipboard.writeText(link);
            this.app.toast("The link to this pose is copied.");
        } catch {
            this.app.toast("The link to this pose is in the address bar.");
        }
    }

    read() {
        return location.hash.length > 1 ? Object.fromEntries(new URLSearchParams(location.hash.slice(1))) : null;
    }

    // The address names a design that is not shown: open it. The pose follows with the robot.
    follow() {
        const request = this.wanted = this.read();
        const { robot } = this.app;
        if (!request || this.done === location.hash || (!robot && this.expects)) {
            return;
        }
        if (request.design && this.designs.some((d) => d.kind === request.design) && !robot?.file?.includes(`/${request.design}/`)) {
            this.pick(request.design);
        } else if (robot?.ok) {
            this.apply(robot);
        }
    }

    apply(robot) {
        const request = this.wanted;
        if (!request || this.done === location.hash || !this.app.mayMove() || (request.design && !robot.file.includes(`/${request.design}/`))) {
            return;
        }
        this.done = location.hash;
        const commands = robot.commands.map((c) => {
            const v = request[c.name] === undefined ? NaN : Number(request[c.name]);
            return Number.isFinite(v) ? Math.min(c.high, Math.max(c.low, v)) : null;
        });
        if (commands.some((c) => c !== null)) {
            this.app.move.go(commands);
        }
        const field = fields.findIndex((f) => f.key === request.colour);
        if (field > 0) {
            this.app.look.pickField(field);
        }
        const eye = request.eye?.split(",").map(Number);
        if (eye?.length === 6 && eye.every(Number.isFinite)) {
            this.app.stage.look(eye.slice(0, 3), eye.slice(3));
        }
    }
}
