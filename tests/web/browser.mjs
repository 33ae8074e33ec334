// The page in Chromium: loading, sliders, colours, pointing, two viewers, a server that dies and comes back, a robot
// file that is broken and mended. Pictures of every stage are kept.
// usage: node browser.mjs PLIANT SCREENS CHROMIUM
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [pliant, screens, chromiumPath] = process.argv.slice(2);
const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const { chromium } = await import(join(web, "node_modules/playwright-core/index.mjs"));
const patience = { timeout: 60000 };

let checks = 0;
let failures = 0;
function check(what, good, got = "") {
    ++checks;
    failures += good ? 0 : 1;
    console.log(`  ${good ? "ok     " : "FAILED "} ${what}${got === "" ? "" : `: ${got}`}`);
}

// ---- the server
function serve(args, port = 0) {
    return new Promise((give, fail) => {
        const child = spawn(pliant, ["serve", ...args, "--port", String(port), "--threads", "1"], { env: { ...process.env, OMP_NUM_THREADS: "1" } });
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

function kill(server, signal) {
    return new Promise((give) => {
        server.child.removeAllListeners("exit");
        server.child.on("exit", give);
        server.child.kill(signal);
    });
}

// ---- the page
const tip = (page) => page.evaluate(() => [...document.querySelectorAll('#readout tr[data-marker="0"] td')].slice(0, 3).map((td) => Number(td.textContent.replace("−", "-"))));
const settled = (page, serial) => page.waitForFunction((s) => window.pliant?.shape?.head.level === "fine" && window.pliant.shape.head.serial >= s && window.pliant.state === "ready", serial, patience);
const lastSerial = (page) => page.evaluate(() => window.pliant.link.serial);
const distance = (a, b) => Math.hypot(...a.map((v, i) => v - b[i]));

// How many pixels of the canvas differ between now and the picture kept before under the same name.
async function changedPixels(page) {
    return page.evaluate(() => {
        const now = window.pliant.stage.picture();
        const data = now.getContext("2d").getImageData(0, 0, now.width, now.height).data;
        const before = window.keptPicture;
        window.keptPicture = data;
        let count = before ? 0 : -1;
        for (let i = 0; before && i < data.length; i += 4) {
            count += Math.abs(data[i] - before[i]) + Math.abs(data[i + 1] - before[i + 1]) + Math.abs(data[i + 2] - before[i + 2]) > 24 ? 1 : 0;
        }
        return count;
    });
}

const work = mkdtempSync(join(tmpdir(), "pliant-browser-"));
const robot = join(work, "robot");
execFileSync(pliant, ["new", "segment", robot, "--param", "height=100"]);
const file = join(robot, "robot.yaml");
writeFileSync(file, readFileSync(file, "utf8").replace(/^ {2}size: .*$/m, "  size: 8").replace(/^ {2}order: .*$/m, "  order: 1"));

let server = await serve([robot]);
const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
const errors = [];
async function open(width, height, colorScheme = "light") {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, acceptDownloads: true });
    page.on("pageerror", (e) => errors.push(e.message));
    page.on("console", (m) => m.type() === "error" && !/WebSocket|ERR_CONNECTION|404/.test(m.text()) && errors.push(m.text()));
    await page.goto(server.address);
    return page;
}
const shot = (page, name) => page.screenshot({ path: join(screens, `${name}.png`) });

try {
    // ---- it loads
    const page = await open(900, 600);
    await settled(page, 0);
    check("the page names the robot", (await page.textContent("#name")) === "segment");
    check("it says that it is solved", /^Solved in/.test(await page.textContent("#status-text")), await page.textContent("#status-text"));
    check("there is a slider per command", (await page.locator("#knobs input[type=range]").count()) === 3);
    await changedPixels(page);
    const rest = await tip(page);

    // ---- a slider moves the tip and the picture
    await page.focus("#knob-0");
    await page.keyboard.press("End");
    await settled(page, await lastSerial(page));
    const bent = await tip(page);
    const moved = await changedPixels(page);
    check("a slider moves the tip's number", distance(rest, bent) > 0.3, `${distance(rest, bent).toFixed(2)} mm`);
    check("and the picture", moved > 1000, `${moved} pixels`);
    check("the effort stands beside it", /pressure 40\.0 kPa/.test(await page.textContent(".efforts")), await page.textContent(".efforts"));
    await shot(page, "slider");

    // ---- undo
    await page.click("#undo");
    await settled(page, await lastSerial(page));
    check("undo goes back", distance(await tip(page), rest) < 0.02);

    // ---- colours and what is shown
    await page.fill("#number-1", "35");
    await page.press("#number-1", "Enter");
    await settled(page, await lastSerial(page));
    await page.click("#tab-look");
    await changedPixels(page);
    for (const name of ["Move", "Strain", "Stress", "J"]) {
        await page.click(`#colours button:text-is("${name}")`);
        const changed = await changedPixels(page);
        // in a body of one material stress looks as strain does; its legend differs
        const good = (changed > 1000 || name === "Stress") && (await page.isVisible("#legend-bar"));
        check(`colours by ${name}`, good, `${changed} pixels, ${await page.textContent("#legend-title")}`);
    }
    await page.click('#section-axis button:text-is("y")');
    check("a section shows the inside", (await changedPixels(page)) > 1000);
    await page.check("#show-edges");
    check("elements are drawn", (await changedPixels(page)) > 300);
    await shot(page, "section");
    await page.click('#section-axis button:text-is("Off")');
    await page.uncheck("#show-edges");
    await page.click('#colours button:text-is("Region")');

    // ---- pointing, from the middle of the workspace
    const toMiddle = async () => {
        await page.click("#tab-move");
        await page.evaluate(() => window.pliant.move.go([20, 20, 20]));
        await settled(page, await lastSerial(page));
        await page.click("#tab-reach");
    };
    const pixel = () => page.evaluate(() => {
        const { reach, stage } = window.pliant;
        const box = stage.canvas.getBoundingClientRect();
        const p = stage.project(reach.place());
        return { x: p.x + box.left, y: p.y + box.top };
    });
    await page.evaluate(() => window.pliant.move.go([27, 17, 20]));
    await settled(page, await lastSerial(page));
    const there = await pixel();
    await toMiddle();
    const at = await pixel();
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(there.x, there.y, { steps: 3 });
    await page.mouse.up();
    await settled(page, await lastSerial(page));
    const ik = await page.evaluate(() => ({ ...window.pliant.shape.head.ik, at: window.pliant.shape.head.markers[0].position }));
    check("a dragged marker is reached", ik.outcome === "reached" && distance(ik.target, ik.at) < 0.02, `${ik.outcome}, ${distance(ik.target, ik.at).toFixed(4)} mm off, dragged by ${Math.hypot(there.x - at.x, there.y - at.y).toFixed(1)} pixels`);
    check("the sliders follow", await page.evaluate(() => window.pliant.move.commands.some((c) => c !== null && c !== 20)));
    await page.fill("#target-x", "5");
    await page.press("#target-x", "Enter");
    await settled(page, await lastSerial(page));
    const far = await page.textContent("#reach-result");
    check("out of reach: the nearest point and its bounds", /nearest point/.test(far) && /limit/.test(far), far);
    await shot(page, "reach");

    // ---- a path, the workspace, a sweep
    await toMiddle();
    await page.fill("#path-size", "0.3");
    await page.fill("#path-count", "5");
    await page.selectOption("#path-plane", "xy");
    await page.click("#path-line");
    await page.click("#path-follow");
    await page.waitForFunction(() => window.pliant.reach.record?.done, null, patience);
    check("a path is followed", await page.evaluate(() => window.pliant.reach.record.waypoints.filter((w) => w.outcome === "reached").length === 5) && (await page.isVisible("#path-plot svg")), await page.textContent("#path-text"));
    await page.click("#live");
    await page.evaluate(() => window.pliant.link.send({ type: "cloud", robot: window.pliant.robot.robot, marker: 0, count: 12 }));
    await page.waitForFunction(() => /^12 of 12/.test(document.getElementById("cloud-text").textContent), null, patience);
    check("the workspace is shown", await page.evaluate(() => Boolean(window.pliant.parts.cloud)), await page.textContent("#cloud-text"));
    await page.click("#path-clear");
    await page.click("#tab-move");
    await page.fill("#sweep-steps", "3");
    await page.click("#sweep-run");
    await page.waitForFunction(() => window.pliant.move.frames.length === 3 && !window.pliant.move.running, null, patience);
    await page.locator("#frame").fill("0");
    check("a sweep can be played back", /^1 of 3/.test(await page.textContent("#frame-text")) && (await page.isVisible("#sweep-plot svg")));
    await page.click("#live");

    // ---- files
    await page.click("#tab-save");
    for (const [button, least, begins] of [["csv", 60, "chamber1 (kPa)"], ["vtu", 10000, "<?xml"], ["stl", 5000, ""], ["gltf", 5000, "glTF"], ["png", 2000, "\x89PNG"]]) {
        const [download] = await Promise.all([page.waitForEvent("download", patience), page.click(`#save-${button}`)]);
        const path = join(work, download.suggestedFilename());
        await download.saveAs(path);
        const head = readFileSync(path).subarray(0, begins.length).toString("latin1");
        check(`saves ${button}`, statSync(path).size >= least && head === begins, `${download.suggestedFilename()}, ${statSync(path).size} bytes`);
    }

    // ---- two viewers
    const second = await open(390, 780, "dark");
    await settled(second, 0);
    check("a second viewer sees the same tip", distance(await tip(second), await tip(page)) < 0.011);
    check("and may look only", (await second.isVisible("#guest")) && (await second.isDisabled("#knob-0")));
    await shot(second, "phone-dark");
    await second.click("#ask");
    await page.click("#give-yes", patience);
    await second.waitForFunction(() => window.pliant.mayMove(), null, patience);
    await second.fill("#number-2", "30");
    await second.press("#number-2", "Enter");
    await settled(second, await lastSerial(second));
    await page.waitForFunction(() => window.pliant.shape.head.commands[2] === 30 && window.pliant.shape.head.level === "fine", null, patience);
    check("handed over, it moves the robot for both", distance(await tip(second), await tip(page)) < 0.011);
    const wide = await second.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
    check("nothing overflows on a small screen", wide);
    await second.close();

    // ---- the server dies and comes back
    await kill(server, "SIGKILL");
    await page.waitForFunction(() => /Connection lost/.test(document.getElementById("status-text").textContent), null, patience);
    check("a lost connection is said", true);
    server = await serve([robot], server.port);
    await page.waitForFunction(() => window.pliant.online && /^Solved/.test(document.getElementById("status-text").textContent), null, patience);
    check("the page connects again", await page.evaluate(() => window.pliant.mayMove()));

    // ---- a broken file, mended
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("fixed:", "fixd:"));
    await page.waitForSelector("#findings li.error", patience);
    const said = await page.textContent("#findings");
    check("a broken file is explained", /fixd/.test(said) && /line \d+/.test(said), said.slice(0, 90));
    await shot(page, "broken");
    writeFileSync(file, text);
    await page.waitForSelector("#empty", { state: "hidden", ...patience });
    await settled(page, 0);
    check("a mended file is shown at once", true);

    // a frame with the wait for its pixels, as a software renderer draws them
    const times = await page.evaluate(() => {
        const { stage } = window.pliant;
        const gl = stage.renderer.getContext();
        return [...Array(9)].map(() => {
            const start = performance.now();
            stage.draw();
            gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
            return performance.now() - start;
        }).sort((a, b) => a - b);
    });
    const updates = await page.evaluate(() => window.pliant.stage.times.update.slice(-20).sort((a, b) => a - b));
    console.log(`  a frame takes ${times[4].toFixed(1)} ms with a software renderer, a new shape ${updates[updates.length >> 1].toFixed(1)} ms (medians)`);
    check("no errors in the console", errors.length === 0, errors.slice(0, 3).join(" | "));
} catch (error) {
    check("the run went through", false, error.message);
} finally {
    await browser.close();
    const code = await kill(server, "SIGTERM");
    check("the server ends cleanly", code === 0, code);
    rmSync(work, { recursive: true, force: true });
}
console.log(`${checks} checks, ${failures} failed; pictures in ${screens}`);
process.exit(failures ? 1 : 0);
