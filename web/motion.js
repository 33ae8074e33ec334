// Motion in time: while the button is on, sliders and pulls move the body as its mass allows. The server sends frames, which are
// no equilibria; once the body rests, its equilibrium is solved.
import { brief } from "./colours.js";

const $ = (id) => document.getElementById(id);

export class Motion {
    constructor(app) {
        this.app = app;
        $("motion-button").addEventListener("click", () => this.set(!app.link.live));
    }

    reset(robot) {
        const { app } = this;
        app.link.live = app.link.live && Boolean(robot.pulls);
        $("motion-button").disabled = !robot.pulls;
        $("motion-button").title = robot.pulls ? "Let the body move in time: pull it and let go" : "Only a full body with the exact method moves in time";
        this.show();
    }

    set(on) {
        const { app } = this;
        if (!app.mayMove()) {
            return;
        }
        app.link.live = on;
        this.show();
        app.move.send();
    }

    // The server cannot: materials without density, contact.
    end() {
        this.app.link.live = false;
        this.show();
    }

    show() {
        $("motion-button").setAttribute("aria-pressed", String(this.app.link.live));
    }

    text({ time, speed, ratio }) {
        const pace = ratio < 0.95 ? `, ${brief(ratio)} times as fast as the clock` : "";
        return `In motion: ${time.toFixed(2)} s, markers at up to ${brief(speed)} mm/s${pace}. Not an equilibrium.`;
    }
}
