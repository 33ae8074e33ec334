// The colours of cables and chambers: one fixed scale per unit, so that equal colours mean equal efforts.
import { effortWord } from "./colours.js";

export class Efforts {
    reset(robot) {
        this.robot = robot;
        this.most = new Map(); // by unit
        for (const a of robot.actuators) {
            const c = robot.commands[a.command];
            // what a command can set is known before; the rest grows in steps of 1, 2, 5
            const expected = c && (a.drive === "pressure" || a.drive === "tension") ? Math.max(Math.abs(c.low), Math.abs(c.high)) : 0;
            this.most.set(a.unit, Math.max(this.most.get(a.unit) ?? 0, expected));
        }
    }

    share(a, head) {
        const { unit } = this.robot.actuators[a];
        const effort = Math.abs(head.actuators[a].effort ?? 0);
        if (effort > 1.0001 * this.most.get(unit)) {
            const power = 10 ** Math.floor(Math.log10(effort));
            this.most.set(unit, [1, 2, 5, 10].map((f) => f * power).find((v) => v >= effort));
        }
        return this.most.get(unit) > 0 ? effort / this.most.get(unit) : 0;
    }

    // [{ name, unit, most }] of the scales in use.
    scales() {
        return [...(this.most ?? [])].filter(([, most]) => most > 0).map(([unit, most]) => {
            const of = this.robot.actuators.filter((a) => a.unit === unit);
            const kinds = [...new Set(of.map((a) => `${a.kind}s`))].join(", ");
            return { name: `${kinds[0].toUpperCase()}${kinds.slice(1)}: ${effortWord(of[0].effort)}`, unit, most };
        });
    }
}
