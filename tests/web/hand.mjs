// What the hand leaves on a slider stays there. The slider never moves except by the hand, or to a state that the server
// reports from elsewhere; what was released is solved in the end, or the page says that it is not. Held against a slow page, a
// slow server, and a connection that is lost, half lost or deaf while the hand drags.
// usage: node hand.mjs PLIANT SCREENS CHROMIUM [CASE ...]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, coarsely, kill, launch, patience, polling, score, serve, settled } from "./kit.mjs";

const [pliant, screens, chromiumPath, ...only] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "pliant-hand-"));
const wait = (ms) => new Promise((give) => setTimeout(give, ms));

// ---- a connection that can fail
class Wire {
    constructor(port) {
        Object.assign(this, { port, pairs: new Set(), cut: false, deaf: false, delay: 0 });
        this.server = createServer((page) => this.join(page));
    }

    listen() {
        return new Promise((give) => this.server.listen(0, "127.0.0.1", () => give(`http://127.0.0.1:${this.server.address().port}/`)));
    }

    join(page) {
        if (this.cut) {
            page.destroy();
            return;
        }
        const pair = { page, server: connect(this.port, "127.0.0.1") };
        this.pairs.add(pair);
        const pass = (to) => {
            let before = Promise.resolve(); // what is late keeps its order
            return (data) => (before = Promise.all([before, this.delay && wait(this.delay)]).then(() => to.write(data)));
        };
        const up = pass(pair.server);
        page.on("data", (data) => this.deaf || up(data));
        pair.server.on("data", pass(page));
        for (const [one, other] of [[page, pair.server], [pair.server, page]]) {
            one.on("error", () => 0);
            one.on("close", () => pair.ghost || other.destroy());
        }
    }

    // Both ends learn of it; or only the page (ghost): to the server the viewer is still there.
    lose(ghost = false) {
        for (const pair of this.pairs) {
            pair.ghost = ghost;
            pair.page.destroy();
            if (!ghost) {
                pair.server.destroy();
                this.pairs.delete(pair);
            }
        }
    }

    end() {
        this.cut = true;
        this.lose();
        this.server.close();
    }
}

// ---- robots
function robot(name, size, change = (text) => text) {
    const folder = join(work, name);
    execFileSync(pliant, ["new", "cable_finger", folder]);
    const file = join(folder, "robot.yaml");
    writeFileSync(file, change(readFileSync(file, "utf8").replace(/^ {2}size: .*$/m, `  size: ${size}`).replace(/^ {2}order: .*$/m, "  order: 1")));
    return folder;
}
const small = robot("small", 12);
const browser = await launch(chromiumPath);

// In the page: every value of the slider that is neither the hand's nor adopted from elsewhere.
function watch() {
    const slider = () => document.getElementById("slider-0");
    window.moved = [];
    window.left = Number(slider().value);
    window.elsewhere = false;
    document.addEventListener("input", (e) => e.target.id === "slider-0" && (window.left = Number(e.target.value)), true);
    const look = () => {
        const value = Number(slider().value);
        if (!window.elsewhere && Math.abs(value - window.left) > 1e-9 && window.moved.length < 5) {
            window.moved.push(`${window.left} to ${value}`);
        }
    };
    setInterval(look, 20); // not with the frames: each would be drawn for it
}

// Presses the first slider where it stands, moves it to a share of its range with something happening in between, releases.
async function drag(page, share, meanwhile = {}, steps = 12) {
    const box = await page.locator("#slider-0").boundingBox();
    const x = (f) => box.x + 8 + f * (box.width - 16);
    const y = box.y + box.height / 2;
    const from = await page.evaluate(() => { const s = document.getElementById("slider-0"); return (s.value - s.min) / (s.max - s.min); });
    await page.mouse.move(x(from), y);
    await page.mouse.down();
    for (let i = 1; i <= steps; ++i) {
        await page.mouse.move(x(from + ((share - from) * i) / steps), y);
        await wait(16);
        await meanwhile[i]?.();
    }
    await page.mouse.up();
}

const state = (page) => page.evaluate(() => {
    const { pliant: p } = window;
    const s = document.getElementById("slider-0");
    return { share: (s.value - s.min) / (s.max - s.min), value: Number(s.value), number: document.getElementById("number-0").value, shown: p.shown?.head.commands[0], level: p.shape?.head.level, truth: document.getElementById("truth").textContent, status: document.getElementById("status-text").textContent, moved: window.moved, disabled: s.disabled };
});

// The law, in the end: the slider where the hand left it, and that solved and shown.
async function lands(page, what, share) {
    const there = await page.waitForFunction((f) => {
        const { shape, shown } = window.pliant;
        const s = document.getElementById("slider-0");
        return Math.abs((s.value - s.min) / (s.max - s.min) - f) < 0.02 && shape?.head.level === "fine" && shown === shape && Math.abs(shape.head.commands[0] - s.value) < 1e-6 && document.getElementById("truth").hidden && /^Solved/.test(document.getElementById("status-text").textContent);
    }, share, { timeout: 30000, polling }).catch(() => false);
    const now = await state(page);
    check(`${what}: released is solved`, Boolean(there), there ? `${now.value}` : JSON.stringify(now));
    check(`${what}: the slider moves by the hand only`, now.moved.length === 0, now.moved.join(", "));
}

// Until the connection is back, the page must not pretend: the slider as released, and words.
async function confesses(page, what, share) {
    const now = await state(page);
    check(`${what}: until then it says that it is not`, Math.abs(now.share - share) < 0.02 && (now.shown === now.value || /asked|Predicted/.test(now.truth)) && /Connection lost/.test(now.status), JSON.stringify(now));
}

async function open(wire, address) {
    const page = await browser.newPage({ viewport: { width: 480, height: 420 }, deviceScaleFactor: 0.5 });
    await coarsely(page, 0.5);
    await page.goto(address);
    await settled(page, 0);
    await page.evaluate(watch);
    return page;
}

const cases = {
    async "a page of a tenth of the speed"({ page }) {
        const cdp = await page.context().newCDPSession(page);
        await cdp.send("Emulation.setCPUThrottlingRate", { rate: 10 });
        await drag(page, 0.6, {}, 8);
        await lands(page, "slow page", 0.6);
    },
    async "a server that answers late"({ page, wire }) {
        wire.delay = 700;
        await drag(page, 0.6);
        await lands(page, "late answers", 0.6);
        await drag(page, 0.3);
        wire.delay = 0;
        await lands(page, "and back", 0.3);
    },
    async "a connection lost in a drag and back before its end"({ page, wire }) {
        await drag(page, 0.6, { 8: () => wire.lose(), 9: () => page.waitForFunction(() => window.pliant.online, null, patience) }, 20);
        await lands(page, "lost and back", 0.6);
        await page.click("#undo");
        await page.evaluate(() => (window.elsewhere = true));
        await page.waitForFunction(() => document.querySelector("#sliders .slider").classList.contains("idle"), null, patience).catch(() => 0);
        check("undo goes back to where the drag began", (await page.evaluate(() => window.pliant.move.commands[0])) === null);
    },
    async "a connection lost in a drag and back after its end"({ page, wire }) {
        await drag(page, 0.6, { 8: () => { wire.cut = true; wire.lose(); } });
        await confesses(page, "lost", 0.6);
        await page.screenshot({ path: join(screens, "hand-lost.png") });
        wire.cut = false;
        await lands(page, "back", 0.6);
        await page.screenshot({ path: join(screens, "hand-back.png") });
    },
    async "requests that are sent and never arrive"({ page, wire }) {
        await drag(page, 0.6, { 8: () => (wire.deaf = true) });
        await wait(300);
        wire.deaf = false;
        wire.lose();
        await lands(page, "deaf", 0.6);
    },
    async "a lost connection that the server takes for a viewer"({ page, wire }) {
        await drag(page, 0.6, { 8: () => wire.lose(true) });
        await wait(1500);
        const now = await state(page);
        check("beside its ghost: the slider stays, and the page says so", Math.abs(now.share - 0.6) < 0.02 && /asked|Predicted/.test(now.truth), JSON.stringify(now));
        for (const pair of wire.pairs) {
            pair.ghost && pair.server.destroy();
        }
        await lands(page, "the ghost gone", 0.6);
    },
    async "the answer to a target that comes while a slider is dragged"({ page, wire }) {
        wire.delay = 400;
        await page.evaluate(() => {
            const { reach, robot } = window.pliant;
            reach.aim(reach.place().fromArray(robot.markers[0].rest).add({ x: -6, y: 4, z: -20 }));
        });
        await drag(page, 0.6);
        wire.delay = 0;
        await lands(page, "after a target", 0.6);
        // the other commands stay where the hand found them
        const sent = await page.evaluate(() => [window.pliant.shape.head.commands, window.pliant.truth.asked.commands]);
        check("the body stands at what the hand asked for", JSON.stringify(sent[0]) === JSON.stringify(sent[1]), JSON.stringify(sent));
    },
    async "a path that is still followed when a slider is dragged"({ page, wire }) {
        await page.evaluate((r) => {
            const { reach, robot } = window.pliant;
            const [x, y, z] = robot.markers[0].rest;
            reach.setPoints([...Array(60).keys()].flatMap((k) => [x - 0.002 * k * k, y, z - 0.4 * k]));
            reach.follow();
        });
        await page.evaluate(() => {
            window.elsewhere = true; // until the hand takes hold
            document.getElementById("slider-0").addEventListener("input", () => (window.elsewhere = false), { once: true });
        });
        await page.waitForFunction(() => window.pliant.shape.head.waypoint > 2, null, patience);
        wire.delay = 400;
        await drag(page, 0.6);
        wire.delay = 0;
        await lands(page, "after a path", 0.6);
    },
    async "going to rest without a connection"({ page, wire }) {
        await drag(page, 0.6);
        await lands(page, "first", 0.6);
        wire.cut = true;
        wire.lose();
        await page.waitForFunction(() => !window.pliant.online, null, patience);
        await page.evaluate(() => { window.elsewhere = true; });
        await page.click("#home");
        wire.cut = false;
        await page.waitForFunction(() => window.pliant.online && window.pliant.state === "ready" && window.pliant.shape?.head.commands[0] === null, null, { timeout: 20000, polling }).catch(() => 0);
        check("rest is asked for again", await page.evaluate(() => window.pliant.shape?.head.commands[0] === null && window.pliant.move.commands[0] === null), JSON.stringify(await state(page)));
    },
    async "a server that begins again in a drag"({ page, wire, server }) {
        await drag(page, 0.6, {
            8: async () => {
                await kill(server.now, "SIGKILL");
                server.now = await serve(pliant, [small], { port: server.now.port });
            },
        });
        await lands(page, "begun again", 0.6);
    },
    async "a file that changes in a drag"({ page }) {
        const file = join(small, "robot.yaml");
        const text = readFileSync(file, "utf8");
        await drag(page, 0.6, { 8: () => writeFileSync(file, `${text}\n# touched\n`), 16: () => page.waitForFunction(() => window.pliant.robot.robot > 1, null, patience) }, 20);
        await lands(page, "read again", 0.6);
        writeFileSync(file, text);
    },
    async "another viewer who takes the controls meanwhile"({ page, wire, address }) {
        const second = await open(wire, address);
        await second.evaluate(() => (window.elsewhere = true)); // until it has the controls
        wire.cut = true;
        await drag(page, 0.6, { 8: () => page.evaluate(() => window.pliant.link.socket.close()) });
        await second.waitForFunction(() => window.pliant.mayMove(), null, patience);
        await second.evaluate(() => (window.left = Number(document.getElementById("slider-0").value), window.elsewhere = false));
        await drag(second, 0.3);
        await lands(second, "the second", 0.3);
        await page.evaluate(() => (window.elsewhere = true));
        wire.cut = false;
        await page.waitForFunction(() => window.pliant.online && window.pliant.shape?.head.level === "fine", null, patience);
        await wait(500);
        const [a, b] = [await state(page), await state(second)];
        check("the first sees what the second asked for", Math.abs(a.share - 0.3) < 0.02 && a.disabled && a.shown === b.shown && a.truth === "", JSON.stringify(a));
        await second.close();
    },
};

try {
    for (const [name, run] of Object.entries(cases)) {
        if (only.length > 0 && !only.some((o) => name.includes(o))) {
            continue;
        }
        console.log(name);
        const server = { now: await serve(pliant, [small]) };
        const wire = new Wire(server.now.port);
        const address = await wire.listen();
        const page = await open(wire, address);
        const errors = [];
        page.on("pageerror", (e) => errors.push(e.message));
        try {
            await run({ page, wire, server, address });
        } catch (error) {
            check(`${name}: went through`, false, error.message.split("\n")[0]);
        }
        check("no errors in the page", errors.length === 0, errors.join(" | "));
        await page.close();
        wire.end();
        await kill(server.now, "SIGTERM");
    }
} finally {
    await browser.close();
    rmSync(work, { recursive: true, force: true });
}
console.log(`${score.checks} checks, ${score.failures} failed`);
process.exit(score.failures ? 1 : 0);
