// Every design of the gallery: opening it cold (without a stored mesh) and warm (the second time), in seconds until its body
// is seen (as drawn) and until it is solved; then its first slider is dragged for 3 s at 60 events a second: solved shapes that came meanwhile, shapes
// shown (most of them predicted from these), and the time from letting go to the fine shape. Prints a table; asserts nothing about seconds.
// usage: node drag.mjs PLIANT CHROMIUM [DESIGN ...]
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [pliant, chromiumPath, ...only] = process.argv.slice(2);
const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const { chromium } = await import(join(web, "node_modules/playwright-core/index.mjs"));
const patience = { timeout: 240000 };
const args = ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

const browser = await chromium.launch({ executablePath: chromiumPath, args });
async function begin(...more) {
    const child = spawn(pliant, ["serve", "--demo", "--port", "0", ...more]);
    const address = await new Promise((give) => {
        let text = "";
        child.stdout.on("data", (data) => {
            text += data;
            const found = /http:\/\/\S+/.exec(text);
            found && give(found[0]);
        });
    });
    const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
    await page.goto(address);
    await page.waitForSelector("#designs button", patience);
    return { child, page };
}

// Opens a design; seconds until its body is seen, and until it is solved.
async function openDesign(page, kind) {
    const before = await page.evaluate(() => window.pliant.robot?.robot ?? 0);
    const start = Date.now();
    await page.evaluate((k) => window.pliant.gallery.pick(k), kind);
    await page.waitForFunction((r) => window.pliant.sketch.object || (window.pliant.robot?.robot > r && window.pliant.body.current), before, patience);
    const seen = (Date.now() - start) / 1000;
    await page.waitForFunction((r) => window.pliant.robot?.robot > r && window.pliant.shape?.head.level === "fine" && window.pliant.state === "ready", before, patience);
    return [seen, (Date.now() - start) / 1000];
}

const cold = await begin("--no-cache");
const designs = only.length ? only : await cold.page.evaluate(() => window.pliant.gallery.designs.map((d) => d.kind));
const opened = new Map();
for (const kind of designs) {
    opened.set(kind, await openDesign(cold.page, kind).catch(() => [NaN, NaN]));
}
await cold.page.close();
cold.child.kill("SIGTERM");
const { child, page } = await begin();

// In the page: moves a slider up and down its lower 60 % for 3 s and counts what was drawn meanwhile.
async function drag() {
    const { pliant } = window;
    const seen = { solved: 0, shown: 0 };
    const first = pliant.shape.head.shape;
    const came = new Set();
    const show = pliant.body.show;
    let last = "";
    pliant.body.show = function (number, x, values) {
        const key = `${number}:${x[x.length - 1]}:${x[x.length >> 1]}:${x[x.length >> 2]}`;
        if (key !== last) {
            last = key;
            ++seen.shown;
        }
        return show.call(this, number, x, values);
    };
    const slider = document.getElementById("slider-0");
    const [low, high, start] = [Number(slider.min), Number(slider.max), performance.now()];
    const rest = pliant.robot.commands[0].rest;
    const end = Math.abs(high - rest) >= Math.abs(low - rest) ? high : low;
    await new Promise((give) => {
        const timer = setInterval(() => {
            const t = (performance.now() - start) / 3000;
            pliant.shape.head.solved && pliant.shape.head.shape > first && came.add(pliant.shape.head.shape);
            slider.value = rest + 0.6 * Math.min(1, t) * (end - rest);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            if (t >= 1) {
                clearInterval(timer);
                slider.dispatchEvent(new Event("change", { bubbles: true }));
                give();
            }
        }, 1000 / 60);
    });
    pliant.body.show = show;
    return { ...seen, solved: came.size, released: performance.now() };
}

const text = (v, digits, width) => v.toFixed(digits).padStart(width);
console.log("design            vertices  cold: seen, solved s  warm: seen, solved s  solved  shown/s  release to fine, s");
for (const kind of designs) {
    try {
        await openDesign(page, kind); // stores its meshes
        await openDesign(page, kind === "trunk_cc" ? "segment_beam" : "trunk_cc");
        const warm = await openDesign(page, kind);
        const vertices = await page.evaluate(() => window.pliant.fine.vertices);
        const opening = [...opened.get(kind), ...warm].map((v) => text(v, 2, 9)).join("  ");
        if (await page.evaluate(() => window.pliant.robot.commands.length === 0)) {
            console.log(`${kind.padEnd(17)} ${String(vertices).padStart(8)} ${opening}`);
            continue;
        }
        // the derivative comes a moment after the shape; models that answer at once send none
        await page.waitForFunction(() => window.pliant.shape.head.seconds < 0.04 || window.pliant.predict?.meshes.has(window.pliant.shape.head.mesh), null, { timeout: 30000 }).catch(() => 0);
        const { solved, shown, released } = await page.evaluate(drag);
        const fine = await page.waitForFunction((r) => window.pliant.shape.head.level === "fine" && window.pliant.shape.head.serial >= window.pliant.link.serial && performance.now() - r, released, patience);
        const seconds = (await fine.jsonValue()) / 1000;
        console.log(`${kind.padEnd(17)} ${String(vertices).padStart(8)} ${opening}  ${String(solved).padStart(6)}  ${text(shown / 3, 1, 7)}  ${text(seconds, 2, 18)}`);
    } catch (error) {
        console.log(`${kind}: ${error.message.split("\n")[0]}`);
    }
}
await browser.close();
child.kill("SIGTERM");
