// The page in Chromium: loading, sliders, colours, pointing, two viewers, a server that dies and comes back, a robot
// file that is broken and mended, another method, coarse meshes, a shape that takes its time. Pictures are kept.
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
// In the page: drags the first slider over 40 % of its range and counts what is drawn meanwhile.
async function dragSlider([rate, time]) {
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
    const slider = document.getElementById("knob-0");
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

    // ---- numbers that make no sense are refused beside their field
    for (const [text, why] of [["999", /outside 0 to 40 kPa/], ["12,5", /decimal point: 12\.5/], ["lots", /not a number/]]) {
        const serial = await lastSerial(page);
        await page.fill("#number-1", text);
        await page.press("#number-1", "Enter");
        const said = await page.textContent("#number-1-complaint");
        check(`${text} in a field is refused in words`, why.test(said) && (await lastSerial(page)) === serial && (await page.inputValue("#number-1")) === text, said);
    }
    await shot(page, "refused");

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
    const place = () => page.evaluate(() => window.pliant.reach.place().toArray());
    await page.evaluate(() => window.pliant.move.go([27, 17, 20]));
    await settled(page, await lastSerial(page));
    const there = await place();
    await toMiddle();
    const here = await place();
    // seen from across the way from here to there, so close that it is 100 pixels long
    const [from, to] = await page.evaluate(([a, b]) => {
        const { reach, stage } = window.pliant;
        const way = reach.place().fromArray(b).sub(reach.place().fromArray(a));
        const across = way.clone().cross(stage.camera.up).normalize();
        stage.fit(across.toArray());
        const shift = reach.place().sub(stage.controls.target);
        stage.controls.target.add(shift);
        stage.camera.position.add(shift);
        stage.draw();
        stage.zoom(way.length() / stage.pixelSize(reach.place()) / 100);
        stage.camera.near *= 0.01;
        stage.camera.updateProjectionMatrix();
        stage.draw();
        const box = stage.canvas.getBoundingClientRect();
        return [a, b].map((x) => {
            const p = stage.project(reach.place().fromArray(x));
            return { x: p.x + box.left, y: p.y + box.top };
        });
    }, [here, there]);
    const dragged = Math.hypot(to.x - from.x, to.y - from.y);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 5 });
    await page.mouse.up();
    await settled(page, await lastSerial(page));
    const ik = await page.evaluate(() => ({ ...window.pliant.shape.head.ik, at: window.pliant.shape.head.markers[0].position }));
    const way = distance(here, there);
    check("the marker is dragged far", dragged > 80 && dragged < 120, `${dragged.toFixed(1)} pixels, ${way.toFixed(2)} mm`);
    check("its target goes along with the pointer", distance(ik.target, there) < (2 * way) / dragged, `${distance(ik.target, there).toFixed(4)} mm beside, a pixel is ${(way / dragged).toFixed(4)} mm`);
    check("a dragged marker is reached", ik.outcome === "reached" && distance(ik.target, ik.at) < 0.02, `${ik.outcome}, ${distance(ik.target, ik.at).toFixed(4)} mm off`);
    await page.evaluate(() => window.pliant.stage.fit([0.75, -1, 0.55]));
    check("the sliders follow", await page.evaluate(() => window.pliant.move.commands.some((c) => c !== null && c !== 20)));
    await page.fill("#target-x", "5");
    await page.press("#target-x", "Enter");
    await settled(page, await lastSerial(page));
    const far = await page.textContent("#reach-result");
    check("out of reach: the nearest point, its bounds and its target", /^\(5\.00, .* mm on the fine mesh: .*nearest point/.test(far) && /limit/.test(far), far);
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
    // ---- a path from a file is read as the command reads it
    const table = join(work, "way.csv");
    writeFileSync(table, "# drawn by hand\nt [s];x [cm];y [mm];z [mm]\n0;0.1;2;100\n1;0.2;3;101\n");
    await page.setInputFiles("#path-file", table);
    await page.waitForFunction(() => /^2 points/.test(document.getElementById("path-text").textContent), null, patience);
    const way2 = await page.evaluate(() => window.pliant.reach.points);
    check("a path's header and units are read", distance(way2, [1, 2, 100, 2, 3, 101]) < 1e-9, way2.join(" "));
    writeFileSync(table, "x,y\n1,2\n");
    await page.setInputFiles("#path-file", table);
    await page.waitForSelector("#toast:not([hidden])", patience);
    check("a table that is no path is refused in words", /^way\.csv/.test(await page.textContent("#toast")), await page.textContent("#toast"));
    await page.click("#path-clear");
    await page.click("#tab-move");
    await page.fill("#sweep-steps", "3");
    await page.click("#sweep-run");
    await page.waitForFunction(() => window.pliant.move.frames.length === 3 && !window.pliant.move.running, null, patience);
    await page.locator("#frame").fill("0");
    check("a sweep can be played back", /^1 of 3/.test(await page.textContent("#frame-text")) && (await page.isVisible("#sweep-plot svg")));
    await page.click("#live");

    // ---- files are of what is shown: the sweep's table, then the pose scrubbed to, then the live one
    await page.click("#tab-save");
    const saved = async (button) => {
        const [download] = await Promise.all([page.waitForEvent("download", patience), page.click(`#save-${button}`)]);
        const path = join(work, `seen-${download.suggestedFilename()}`);
        await download.saveAs(path);
        return readFileSync(path);
    };
    const rowsOf = (csv) => csv.toString().split("\n").filter((l) => l && !l.startsWith("#"));
    check("after a sweep the table has its steps", rowsOf(await saved("csv")).length === 4, await page.textContent("#save-run-text"));
    await page.locator("#frame").fill("0");
    const firstStep = await page.evaluate(() => window.pliant.shown.head);
    const stl = await saved("stl");
    const written = [];
    for (let i = 0; i < stl.readUInt32LE(80); ++i) {
        for (let k = 0; k < 9; ++k) {
            written.push(stl.readFloatLE(84 + 50 * i + 12 + 4 * k));
        }
    }
    const highest = (list, k) => list.reduce((m, v, i) => (i % 3 === k ? Math.max(m, v) : m), -Infinity);
    const reach = await page.evaluate(() => [0, 1, 2].map((k) => window.pliant.shown.arrays.x.reduce((m, v, i) => (i % 3 === k ? Math.max(m, v) : m), -Infinity)));
    const off = Math.max(...reach.map((v, k) => Math.abs(v - highest(written, k))));
    check("scrubbed, then STL: the shape scrubbed to", off < 0.01 && stl.subarray(0, 80).toString("latin1").includes(`shape ${firstStep.shape}, fine mesh, chamber1`), `${off.toFixed(5)} mm beside, "${stl.subarray(0, 60).toString("latin1")}"`);
    check("and VTU says which", (await saved("vtu")).subarray(0, 400).toString().includes(`shape ${firstStep.shape}, fine mesh`));
    await page.uncheck("#save-run");
    const one = (await saved("csv")).toString();
    check("one pose is one row, with commands and mesh", rowsOf(one).length === 2 && /^# pliant .*: segment, shape \d+, fine mesh, chamber1 /.test(one) && /\nchamber1 \[kPa\],/.test(one), one.split("\n")[0]);
    await page.click("#tab-move");
    await page.click("#live");

    // ---- files
    await page.click("#tab-save");
    for (const [button, least, begins] of [["csv", 60, "# pliant "], ["vtu", 10000, "<?xml"], ["stl", 5000, "segment, shape "], ["gltf", 5000, "glTF"], ["png", 2000, "\x89PNG"]]) {
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
    for (const viewer of [page, second]) {
        await viewer.waitForFunction(() => window.pliant.shape.head.commands[2] === 30 && window.pliant.shape.head.level === "fine" && window.pliant.state === "ready", null, patience);
    }
    check("handed over, it moves the robot for both", distance(await tip(second), await tip(page)) < 0.011);
    const wide = await second.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
    check("nothing overflows on a small screen", wide);
    await second.close();

    // ---- a server that hangs
    server.child.kill("SIGSTOP");
    const stopped = Date.now();
    await page.waitForFunction(() => /No answer from the server for \d+ s/.test(document.getElementById("status-text").textContent), null, patience);
    console.log(`  a stopped server is noticed after ${((Date.now() - stopped) / 1000).toFixed(1)} s`);
    check("a hung server is said, and the shape dims", await page.evaluate(() => window.pliant.body.dim), await page.textContent("#status-text"));
    await shot(page, "hung");
    server.child.kill("SIGCONT");
    await page.waitForFunction(() => /^Solved/.test(document.getElementById("status-text").textContent) && !window.pliant.body.dim, null, patience);
    check("when it goes on, the page does too", true);

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

    // ---- a file that asks for another method
    check("nothing is said of methods", await page.isHidden("#method"));
    writeFileSync(file, `${text}\nsolver: {method: local_global}\n`);
    await page.waitForSelector("#method", { state: "visible", ...patience });
    await settled(page, 0);
    await page.evaluate(() => window.pliant.move.go([20, null, null]));
    await settled(page, await lastSerial(page));
    const answered = await page.evaluate(() => ({ method: window.pliant.robot.method, solved: window.pliant.shape.head.solved, outcome: window.pliant.shape.head.outcome, moved: Math.hypot(...window.pliant.shape.head.markers[0].displacement) }));
    check("a file's own method answers", answered.method === "local_global" && answered.solved && answered.moved > 0.1, `${answered.method}, ${answered.outcome}, tip moved ${answered.moved.toFixed(2)} mm`);

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

    // ---- a full body: dragged at 60 Hz, predicted between its solves
    const levels = async (kind, change, ...parameters) => {
        const folder = join(work, kind);
        execFileSync(pliant, ["new", kind, folder, ...parameters.flatMap((p) => ["--param", p])]);
        const yaml = join(folder, "robot.yaml");
        writeFileSync(yaml, change(readFileSync(yaml, "utf8")));
        await kill(server, "SIGTERM");
        server = await serve([folder]);
        const view = await open(900, 600);
        await view.evaluate(() => {
            window.seen = [];
            const note = () => window.seen.push([document.getElementById("level").textContent, document.getElementById("status-text").textContent]);
            new MutationObserver(note).observe(document.getElementById("top"), { childList: true, characterData: true, subtree: true });
        });
        await settled(view, 0);
        return view;
    };
    const finger = await levels("bending_finger", (t) => t.replace(/^ {2}size: .*$/m, "  size: 7"), "modules=4", "length=50");
    await finger.waitForFunction(() => window.pliant.predict.meshes.has(window.pliant.shape.head.mesh), null, patience);
    const dragged60 = await finger.evaluate(dragSlider, [60, 3000]);
    console.log(`  60 Hz drag for 3 s on ${dragged60.vertices} vertices: ${dragged60.events} events, ${dragged60.solved} solved and ${dragged60.predicted} predicted shapes shown, ${((dragged60.solved + dragged60.predicted) / 3).toFixed(1)} a second`);
    check("shapes appear while a slider is dragged", dragged60.solved + dragged60.predicted > 3, dragged60.solved + dragged60.predicted);
    check("predicted ones say so, with both commands", /^Predicted: .* kPa, from the solved shape at /.test(dragged60.said) && dragged60.badge && dragged60.dim, dragged60.said);
    await settled(finger, await lastSerial(finger));
    check("at rest the solved shape is shown", await finger.evaluate(() => window.pliant.shown === window.pliant.shape && document.getElementById("truth").hidden && document.getElementById("predicted").hidden && !window.pliant.body.dim));
    // what the prediction of a step is worth: against the solve of the same step
    await finger.waitForFunction(() => window.pliant.predict.meshes.get(window.pliant.shape.head.mesh)?.at[0] === window.pliant.shape.head.commands[0], null, patience);
    const guess = await finger.evaluate(() => {
        const { predict, shape, body, move } = window.pliant;
        const to = [shape.head.commands[0] * 1.15];
        const p = predict.forward(shape, body.meshes.get(shape.head.mesh), to);
        move.go(to);
        return { from: shape.head.markers[0].position, to: p.head.markers[0].position };
    });
    await settled(finger, await lastSerial(finger));
    const truly = await finger.evaluate(() => window.pliant.shape.head.markers[0].position);
    const missed = distance(guess.to, truly) / distance(guess.from, truly);
    check("a predicted step of 15 % is near the solved one", missed < 0.2, `${distance(guess.from, truly).toFixed(2)} mm, missed by ${distance(guess.to, truly).toFixed(2)} mm`);
    const levelsSeen = new Set(await finger.evaluate(() => window.seen.map((s) => s[0])));
    check("no shape of stiffer elements is shown", ![...levelsSeen].some((l) => /stiff/.test(l)), [...levelsSeen].join(", "));
    await shot(finger, "finger");

    // ---- its marker dragged at 60 Hz
    await finger.click("#tab-reach");
    const pulled = await finger.evaluate(async () => {
        const { pliant } = window;
        const seen = { solved: 0, predicted: 0, said: "", start: pliant.reach.place().toArray() };
        const show = pliant.body.show;
        let last = null;
        pliant.body.show = function (number, x, values) {
            if (x !== last) {
                last = x;
                ++seen[pliant.shown.head.predicted ? "predicted" : "solved"];
                seen.said = pliant.shown.head.predicted ? document.getElementById("truth").textContent || seen.said : seen.said;
            }
            return show.call(this, number, x, values);
        };
        const from = pliant.reach.place();
        // back along the way it came, so that it is reached
        const to = from.clone().fromArray(pliant.robot.markers[0].rest).sub(from).multiplyScalar(0.1);
        const start = performance.now();
        await new Promise((give) => {
            const timer = setInterval(() => {
                const t = Math.min(1, (performance.now() - start) / 2000);
                pliant.reach.aim(from.clone().addScaledVector(to, t));
                if (t >= 1) {
                    clearInterval(timer);
                    give();
                }
            }, 1000 / 60);
        });
        pliant.body.show = show;
        return seen;
    });
    console.log(`  60 Hz drag of a marker for 2 s: ${pulled.solved} solved and ${pulled.predicted} predicted shapes shown, ${((pulled.solved + pulled.predicted) / 2).toFixed(1)} a second`);
    check("shapes appear while a marker is dragged", pulled.predicted > 2 && /^Predicted: .*asked \(.*\) mm/.test(pulled.said), pulled.said);
    await settled(finger, await lastSerial(finger));
    const verdict = await finger.textContent("#reach-result");
    check("then the true inverse answers, for its target", /on the fine mesh: /.test(verdict) && (await finger.isHidden("#predicted")), verdict);
    await finger.close();

    // ---- a robot that is not at rest as drawn: how far the solve is (of the coarse mesh, or of the fine one when the page
    // comes after it), then the arch; going home takes no way
    const crawler = await levels("dea_crawler", (t) => t.replace(/^ {2}size: .*$/m, "  size: 9"));
    const said2 = await crawler.evaluate(() => window.seen.map((s) => s[1]));
    const foot = (await tip(crawler))[0];
    check("the way to a shape that is not at rest is told", said2.some((s) => /(as drawn|is solving).* \d+ %/.test(s)), [...new Set(said2)].slice(0, 4).join(" | "));
    check("the crawler has arched", foot < 62, `front foot at ${foot} mm`);
    await crawler.evaluate(() => window.pliant.move.go([window.pliant.robot.commands[0].high * 0.6]));
    await settled(crawler, await lastSerial(crawler));
    check("60 % of the voltage lets it down", (await tip(crawler))[0] > foot + 0.8 && (await crawler.evaluate(() => window.pliant.shape.head.load_reached)) === 1, `front foot at ${(await tip(crawler))[0]} mm`);
    await shot(crawler, "crawler");
    await crawler.click("#home");
    await settled(crawler, await lastSerial(crawler));
    const back = await crawler.evaluate(() => window.pliant.shape.head.iterations);
    check("going home takes no way from flat", Math.abs((await tip(crawler))[0] - foot) < 0.02 && back < 20, `${back} iterations`);
    check("no errors there either", errors.length === 0, errors.slice(0, 3).join(" | "));
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
