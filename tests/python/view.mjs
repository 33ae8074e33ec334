// Opens a page of State.show() from a file, offline, and prints what it shows as JSON.
// usage: node view.mjs PAGE.html CHROMIUM WEB SCREEN.png
import { createRequire } from "module";

const [page_path, chromium_path, web, screen] = process.argv.slice(2);
const require = createRequire(`${web}/`);
const { chromium } = require("playwright-core");
const browser = await chromium.launch({
    executablePath: chromium_path,
    args: ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"],
});
const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
const errors = [];
const asked = [];
page.on("pageerror", (e) => errors.push(e.message));
page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
page.on("request", (r) => /^(https?|wss?):/.test(r.url()) && asked.push(r.url()));
await page.goto(`file://${page_path}`);
await page.waitForFunction(() => document.getElementById("status-text").textContent.startsWith("Solved"), null, { timeout: 60000 });
await page.waitForTimeout(500);
await page.screenshot({ path: screen });
const said = await page.evaluate(() => ({
    name: document.getElementById("name").textContent,
    status: document.getElementById("status-text").textContent,
    markers: document.getElementById("readout").textContent,
    sliders: [...document.querySelectorAll("#sliders input[type=text], #sliders input[inputmode]")].map((k) => k.value),
    triangles: window.pliant.body.meshes.get(1)?.head.elements ?? 0,
}));
// away from the solved shape the page predicts and says so
const slider = page.locator("#sliders input[type=range]").first();
await slider.focus();
await page.keyboard.press("ArrowRight");
await page.keyboard.press("ArrowRight");
await page.waitForTimeout(500);
said.predicted = await page.evaluate(() => !document.getElementById("predicted").hidden);
await browser.close();
console.log(JSON.stringify({ ...said, errors, asked }));
