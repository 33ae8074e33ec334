// One rule: whenever the shape shown is not the solved shape that was asked for, the page says both and dims it; and when
// the server falls silent, it says so within two seconds. What was asked for is kept until it is answered or the robot is
// moved from elsewhere: what could not be sent, or went with a lost connection, is sent when the page may move the robot again.
import { brief } from "./colours.js";

const $ = (id) => document.getElementById(id);
const silence = 1500; // ms without a word; the server gives a sign of life every 500

export class Truth {
    // app: link, robot, shape, shown, show(message, live), predict, body, move, status()
    constructor(app) {
        this.app = app;
        this.asked = null;
        this.solverAge = 0;
        this.silent = false;
        setInterval(() => this.listen(), 250);
    }

    // What the owner of the controls asks for: { commands }, { marker, target }, { commands, hand, at } or { follow }. The
    // number of the request, 0 when it could not be sent yet.
    ask(request) {
        this.asked = request;
        this.send();
        this.schedule();
        return request.serial ?? 0;
    }

    // The request gets the number that its answer will repeat, and the viewer that sent it: `serial` and `viewer`.
    send() {
        const { app, asked } = this;
        if (!app.mayMove() || !asked || asked.follow) {
            return;
        }
        const { commands, marker, target, at, hand } = asked;
        const message = target ? { type: "target", marker, target } : hand ? { type: "pull", commands, at, hand } : { type: "set", commands };
        const serial = app.link.request({ ...message, robot: app.robot.robot });
        if (serial) {
            Object.assign(asked, { serial, viewer: app.viewer });
        }
    }

    // The page may move the robot again: what the server has not heard from this viewer is sent.
    resend() {
        if (this.waits) {
            this.send();
            this.schedule();
        }
    }

    // The connection is lost: a hand lets go, a path is not begun again, the rest waits.
    lost() {
        const { asked } = this;
        this.asked = asked?.follow ? null : asked?.hand ? { commands: asked.commands } : asked;
    }

    // The robot is opened: what was asked of the same one before is asked again, by the names of the commands.
    renew(request) {
        this.asked = null;
        if (request) {
            this.ask(request);
        }
        this.say();
    }

    // The robot is moved by somebody else, or by a path it follows.
    yield() {
        this.asked = null;
    }

    // Whether a shape answers the last request.
    answers(head) {
        const { asked } = this;
        return !asked || asked.follow || (asked.serial !== undefined && head.viewer === asked.viewer && head.serial >= asked.serial);
    }

    // Whether the robot stands there for another reason than the last request of this page: another viewer, or a path.
    fromElsewhere(head) {
        const { app, asked } = this;
        const path = head.waypoint !== undefined && (!asked || asked.follow);
        const mine = app.mayMove() && asked?.viewer === app.viewer; // what others asked for came before
        return path || (head.viewer !== 0 && !app.own.has(head.viewer) && !mine);
    }

    schedule() {
        this.frame ??= requestAnimationFrame(() => {
            this.frame = null;
            this.decide();
        });
    }

    // Shows the solved shape when it is the one asked for, a prediction from it otherwise.
    decide() {
        const { app } = this;
        if (!app.shape || app.timeline.played) {
            this.say();
            return;
        }
        const predicted = this.answers(app.shape.head) ? null : this.predicted();
        app.show(predicted ?? app.shape, !predicted);
        app.reach.refresh();
        this.say();
    }

    predicted() {
        if (this.app.link.live) {
            return null; // derivatives of equilibria say nothing about a motion
        }
        const { app, asked } = this;
        const mesh = app.body.meshes.get(app.shape.head.mesh);
        if (asked.hand) {
            return this.pulled(mesh);
        }
        const commands = asked.commands ?? app.predict.inverse(app.shape, asked.marker, asked.target);
        return mesh && commands ? app.predict.forward(app.shape, mesh, commands) : null;
    }

    // A shape pulled by the hand where it is now, from the last one that was solved.
    pulled(mesh) {
        const { app, asked } = this;
        const { head } = app.shape;
        const known = app.predict.pulled;
        if (!mesh || !head.pull || head.pull.at.some((v, i) => Math.abs(v - asked.at[i]) > 1e-6 * app.size) || known?.shape !== head.shape) {
            return null;
        }
        const step = app.pull.estimate(head.pull, known.compliance, asked.hand);
        return app.predict.pull(app.shape, mesh, step);
    }

    // ---- in words
    // Commands that differ between two lists, as [name and first value, second value] texts.
    differences(a, b) {
        const text = (v, c) => (v === null ? "idle" : `${brief(v)}${c.unit ? ` ${c.unit}` : ""}`);
        return this.app.robot.commands.flatMap((c, i) => {
            const same = a[i] === b[i] || (a[i] !== null && b[i] !== null && Math.abs(a[i] - b[i]) <= 1e-6 * (c.high - c.low));
            return same ? [] : [[`${c.name} ${text(a[i], c)}`, text(b[i], c)]];
        });
    }

    pairs(list, join) {
        const more = list.length > 2 ? ` and ${list.length - 2} more` : "";
        return list.slice(0, 2).map(([shown, asked]) => `${shown}${join}${asked}`).join("; ") + more;
    }

    text() {
        const { app, asked } = this;
        const head = app.shown?.head;
        if (app.sketch.text()) {
            return app.sketch.text();
        }
        if (!head || !app.robot?.ok) {
            return "";
        }
        const mesh = app.robot.model === "full" ? `${head.level} mesh` : app.robot.model.replaceAll("_", " ");
        if (app.timeline.played) {
            const far = this.differences(head.commands, app.shape.head.commands);
            return `Showing step ${app.timeline.at + 1} of ${app.timeline.frames.length} (${mesh})${far.length ? `: ${this.pairs(far, ", the robot stands at ")}` : ""}.`;
        }
        if (head.pull) {
            const pulled = app.pull.text(head.pull);
            return head.predicted ? `Predicted (${mesh}): ${pulled}` : this.answers(head) ? "" : `Showing (${mesh}): ${pulled}`;
        }
        if (asked?.hand) {
            return `The body is gripped; its shape is being solved (${mesh}).`;
        }
        if (head.predicted) {
            const far = this.differences(head.commands, head.from);
            const short = asked.commands ? this.differences(head.commands, asked.commands) : [];
            const aim = asked.target ? `, asked ${point(asked.target)}` : short.length ? `, asked ${short.map((s) => s[1]).join(", ")}` : "";
            return `Predicted: ${this.pairs(far, ", from the solved shape at ")}${aim} (${mesh}).`;
        }
        if (asked?.commands) {
            const far = this.differences(head.commands, asked.commands);
            return far.length ? `Showing ${this.pairs(far, ", asked ")} (${mesh}).` : "";
        }
        if (asked?.target && !this.answers(head)) {
            const name = app.robot.markers[asked.marker].name;
            return `Showing ${name} at ${point(head.markers[asked.marker].position)}, asked ${point(asked.target)} (${mesh}).`;
        }
        return "";
    }

    // Whether the last request waits for a connection, or for the controls.
    get waits() {
        return Boolean(this.asked && !this.asked.follow && this.asked.viewer !== this.app.viewer);
    }

    say() {
        const { app } = this;
        const words = this.text();
        const text = words && this.waits ? `${words} Not sent yet.` : words;
        const stuck = this.solverAge > 5 && app.online ? ` The solver has given no sign for ${Math.round(this.solverAge)} s.` : "";
        const shown = `${text}${stuck}`.trim();
        if ($("truth").textContent !== shown) {
            $("truth").textContent = shown;
        }
        $("truth").hidden = shown === "";
        const predicted = Boolean(app.shown?.head.predicted);
        $("level").classList.toggle("warn", predicted);
        $("predicted").hidden = !predicted;
        app.body.setDim(Boolean((text && !app.timeline.played) || this.silent || !app.online));
        app.stage.invalidate();
    }

    // ---- signs of life
    tick(message) {
        this.solverAge = message.busy ? message.age : 0;
        this.say();
    }

    listen() {
        const { app } = this;
        const quiet = performance.now() - app.link.heard;
        const silent = app.online && quiet > silence;
        const changed = silent !== this.silent;
        this.silent = silent;
        if (silent) {
            $("dot").className = "dot bad";
            $("status-text").textContent = `No answer from the server for ${Math.floor(quiet / 1000)} s.`;
            $("progress").classList.remove("on");
        } else if (changed) {
            app.status(...app.said); // it is back
        }
        if (changed) {
            this.say();
        }
    }
}

export function point(p) {
    return `(${p.map((v) => brief(v)).join(", ")}) mm`;
}
