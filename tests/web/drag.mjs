// Dragging a slider of every design of the gallery for 3 s at 60 events a second: shapes shown meanwhile, solved and
// predicted, and the time from letting go to the fine shape. Prints a table; asserts nothing about seconds.
// usage: node drag.mjs PLIANT CHROMIUM [DESIGN ...]
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [pliant, chromiumPath, ...only] = process.argv.slice(2);
const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const { chromium } = await import(join(web, "node_modules/playwright-core/index.mjs"));
const patience = { timeout: 240000 };
const args = ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

const child = spawn(pliant, ["serve", "--demo", "--port", "0"]);
const address = await new Promise((give) => {
    let text = "";
    child.stdout.on("data", (data) => {
        text += data;
        const found = /http:\/\/\S+/.exec(text);
        found && give(found[0]);
    });
});
const browser = await chromium.launch({ executablePath: chromiumPath, args });
const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
await page.goto(address);
await page.waitForSelector("#designs button", patience);
const designs = await page.evaluate(() => window.pliant.gallery.map((d) => d.kind));

// In the page: moves a slider up and down its lower 60 % for 3 s and counts what was drawn meanwhile.
async function drag() {
    const { pliant } = window;
    const seen = { solved: 0, predicted: 0 };
    const show = pliant.body.show;
    let last = "";
    pliant.body.show = function (number, x, values) {
        const key = `${number}:${x[x.length - 1]}:${x[x.length >> 1]}:${x[x.length >> 2]}`;
        if (key !== last) {
            last = key;
            pliant.shown?.head.predicted ? ++seen.predicted : ++seen.solved;
        }
        return show.call(this, number, x, values);
    };
    const slider = document.getElementById("knob-0");
    const [low, high, start] = [Number(slider.min), Number(slider.max), performance.now()];
    const rest = pliant.robot.commands[0].rest;
    const end = Math.abs(high - rest) >= Math.abs(low - rest) ? high : low;
    await new Promise((give) => {
        const timer = setInterval(() => {
            const t = (performance.now() - start) / 3000;
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
    return { ...seen, released: performance.now() };
}

console.log("design                    vertices  solved  predicted  shapes/s  release to fine, s  shape to derivative, s");
for (const kind of only.length ? only : designs) {
    try {
        await page.evaluate((k) => window.pliant.link.send({ type: "open", design: k }), kind);
        await page.waitForFunction((k) => window.pliant.robot?.ok && window.pliant.robot.file.includes(`/${k}/`), kind, patience);
        await page.waitForFunction(() => window.pliant.shape?.head.level === "fine" && window.pliant.state === "ready", null, patience);
        await page.evaluate(() => (document.getElementById("empty").hidden = true));
        if (await page.evaluate(() => window.pliant.robot.commands.length === 0)) {
            continue;
        }
        // the derivative comes a moment after the shape; models that answer at once send none
        const waited = Date.now();
        await page.waitForFunction(() => window.pliant.shape.head.seconds < 0.04 || window.pliant.predict?.meshes.has(window.pliant.shape.head.mesh), null, { timeout: 30000 }).catch(() => 0);
        const ready = (Date.now() - waited) / 1000;
        const { solved, predicted, released } = await page.evaluate(drag);
        const fine = await page.waitForFunction((r) => window.pliant.shape.head.level === "fine" && window.pliant.shape.head.serial >= window.pliant.link.serial && performance.now() - r, released, patience);
        const seconds = (await fine.jsonValue()) / 1000;
        const vertices = await page.evaluate(() => window.pliant.fine.vertices);
        console.log(`${kind.padEnd(25)} ${String(vertices).padStart(8)} ${String(solved).padStart(7)} ${String(predicted).padStart(10)} ${((solved + predicted) / 3).toFixed(1).padStart(9)} ${seconds.toFixed(2).padStart(12)} ${ready.toFixed(2).padStart(20)}`);
    } catch (error) {
        console.log(`${kind}: ${error.message.split("\n")[0]}`);
    }
}
await browser.close();
child.kill("SIGTERM");
