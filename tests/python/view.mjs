// Opens pages of State.show() from files, offline, in one browser, and prints what each shows as JSON.
// usage: node view.mjs CHROMIUM WEB PAGE.html... (a picture of each is put beside it: PAGE.png)
import { createRequire } from "module";

const [chromium_path, web, ...paths] = process.argv.slice(2);
const require = createRequire(`${web}/`);
const { chromium } = require("playwright-core");
const browser = await chromium.launch({
    executablePath: chromium_path,
    args: ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"],
});

async function look(path) {
    const page = await browser.newPage({ viewport: { width: 600, height: 400 } });
    const errors = [];
    const asked = [];
    page.on("pageerror", (e) => errors.push(e.message));
    page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
    page.on("request", (r) => /^(https?|wss?):/.test(r.url()) && asked.push(r.url()));
    await page.goto(`file://${path}`);
    await page.waitForFunction(() => document.getElementById("status-text").textContent.startsWith("Solved"), null, { timeout: 60000 });
    await page.screenshot({ path: path.replace(/html$/, "png") });
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
    said.predicted = await page
        .waitForFunction(() => !document.getElementById("predicted").hidden, null, { timeout: 20000 })
        .then(() => true, () => false);
    await page.close();
    return { ...said, errors, asked };
}

const all = [];
for (const path of paths) {
    all.push(await look(path));
}
await browser.close();
console.log(JSON.stringify(all));
