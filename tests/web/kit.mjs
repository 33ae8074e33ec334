// What the browser tests share: checks, a server, a browser, what the page says.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
// Looked every 50 ms whether it has come: a look with every frame makes the browser draw them.
export const polling = 50;
export const patience = { timeout: 120000, polling };
export const distance = (a, b) => Math.hypot(...a.map((v, i) => v - b[i]));

// ---- checks
export const score = { checks: 0, failures: 0 };
const begun = Date.now();
export function check(what, good, got = "") {
    ++score.checks;
    score.failures += good ? 0 : 1;
    console.log(`  ${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s ${good ? "ok     " : "FAILED "} ${what}${got === "" ? "" : `: ${got}`}`);
}

// ---- the server
export function serve(pliant, args, { port = 0, env = {} } = {}) {
    return new Promise((give, fail) => {
        const child = spawn(pliant, ["serve", ...args, "--port", String(port), "--threads", "1"], { env: { ...process.env, OMP_NUM_THREADS: "1", ...env } });
        let text = "";
        child.stdout.on("data", (data) => {
            text += data;
            const found = /http:\/\/\S+/.exec(text);
            if (found) {
                give({ child, address: found[0], port: Number(new URL(found[0]).port) });
            }
        });
        child.on("exit", (code) => fail(new Error(`the server ended with ${code}: ${text}`)));
        child.stderr.on("data", (data) => (text += data));
    });
}

export function kill(server, signal) {
    return new Promise((give) => {
        server.child.removeAllListeners("exit");
        server.child.on("exit", give);
        server.child.kill(signal);
    });
}

// ---- the browser
// Only the view itself is drawn by the software renderer: the rest of the page, drawn by it too, takes five times as long.
export async function launch(executablePath) {
    const { chromium } = await import(join(web, "node_modules/playwright-core/index.mjs"));
    return chromium.launch({
        executablePath,
        args: ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu-compositing", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    });
}

// Without the four samples of each pixel that smooth edges take, which are most of the work; pictures to look at have them.
export async function coarsely(page, deviceScaleFactor) {
    if (deviceScaleFactor < 1) {
        await page.addInitScript(() => {
            const whole = HTMLCanvasElement.prototype.getContext;
            HTMLCanvasElement.prototype.getContext = function (kind, how) {
                return whole.call(this, kind, how && { ...how, antialias: false });
            };
        });
    }
}

// ---- the page
export const tip = (page) => page.evaluate(() => [...document.querySelectorAll('#readout tr[data-marker="0"] td')].slice(0, 3).map((td) => Number(td.textContent.replace("−", "-"))));
// The answer to a request: on the fine mesh, and no shape between the start and a target that is still searched for.
export const settled = (page, serial) =>
    page.waitForFunction(
        (s) => {
            const head = window.pliant?.shape?.head;
            return head?.level === "fine" && !head.ik?.searching && head.serial >= s && window.pliant.state === "ready";
        },
        serial,
        patience,
    );
export const lastSerial = (page) => page.evaluate(() => window.pliant.link.serial);
export const rest = async (page) => settled(page, await lastSerial(page));
export const go = async (page, commands) => {
    await page.evaluate((c) => window.pliant.move.go(c), commands);
    await rest(page);
};

// How many pixels of the canvas (of the page, not of the device) differ between now and the picture kept before.
export function changedPixels(page) {
    return page.evaluate(() => {
        const now = window.pliant.stage.picture();
        const data = now.getContext("2d").getImageData(0, 0, now.width, now.height).data;
        const before = window.keptPicture;
        window.keptPicture = data;
        let count = before ? 0 : -1;
        for (let i = 0; before && i < data.length; i += 4) {
            count += Math.abs(data[i] - before[i]) + Math.abs(data[i + 1] - before[i + 1]) + Math.abs(data[i + 2] - before[i + 2]) > 24 ? 1 : 0;
        }
        return count / devicePixelRatio ** 2;
    });
}

// What axe-core finds wrong with the page as it is, or with a part of it, in words.
export async function axe(page, part) {
    if (!(await page.evaluate(() => Boolean(window.axe)))) {
        await page.evaluate(readFileSync(join(web, "node_modules/axe-core/axe.min.js"), "utf8"));
    }
    return page.evaluate(async (selector) => {
        const { violations } = await window.axe.run(selector ?? document, { resultTypes: ["violations"] });
        return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 2).map((n) => n.target.join(" ")).join(", ")}`);
    }, part);
}

// Pairs of things over the view that overlap, in words.
export function overlaps(page) {
    return page.evaluate(() => {
        const boxes = ["#name", "#status-text", "#truth", "#corner", "#gizmo", "#readout", "#legend", "#scale", "#player"].flatMap((id) => {
            const element = document.querySelector(id);
            const range = document.createRange();
            range.selectNodeContents(element);
            const r = /text|truth|name/.test(id) ? range.getBoundingClientRect() : element.getBoundingClientRect();
            return element.checkVisibility() && r.width * r.height > 0 ? [[id, r]] : [];
        });
        const wide = [...document.querySelectorAll("#player > *, #corner > *")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => `${e.id} leaves the screen`);
        return [...wide, ...boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1).map(([b]) => `${a} and ${b}`))];
    });
}

// In the page: drags the first slider over 40 % of its range and counts what is drawn meanwhile.
export async function dragSlider([rate, time]) {
    const { pliant } = window;
    const seen = { solved: 0, predicted: 0, events: 0, said: "", badge: false, dim: false, vertices: pliant.fine.vertices };
    const show = pliant.body.show;
    let last = null;
    pliant.body.show = function (number, x, values) {
        if (x !== last) {
            last = x;
            ++seen[pliant.shown.head.predicted ? "predicted" : "solved"];
        }
        return show.call(this, number, x, values);
    };
    const slider = document.getElementById("slider-0");
    const start = performance.now();
    await new Promise((give) => {
        const timer = setInterval(() => {
            const t = Math.min(1, (performance.now() - start) / time);
            slider.value = Number(slider.min) + 0.4 * t * (slider.max - slider.min);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            ++seen.events;
            if (!document.getElementById("predicted").hidden) {
                seen.badge = true;
                seen.dim ||= pliant.body.dim;
                seen.said = document.getElementById("truth").textContent;
            }
            if (t >= 1) {
                clearInterval(timer);
                slider.dispatchEvent(new Event("change", { bubbles: true }));
                give();
            }
        }, 1000 / rate);
    });
    pliant.body.show = show;
    return seen;
}
