// The page in Chromium, on bodies of a few hundred vertices: it loads, moves, tells the truth, shows the physics, keeps
// time, writes files of what is shown, and survives hung, lost and broken things. Pictures are kept.
// usage: node browser.mjs PLIANT SCREENS CHROMIUM [PART ...]      (a part: moves, physics, reaches ...)
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { axe, changedPixels, check, coarsely, distance, dragSlider, go, kill, lastSerial, launch, overlaps, patience, rest, score, serve, settled, tip } from "./kit.mjs";

const [pliant, screens, chromiumPath, ...only] = process.argv.slice(2);
const wanted = (part) => only.length === 0 || only.includes(part.name);
const work = mkdtempSync(join(tmpdir(), "pliant-browser-"));
const shot = (page, name) => page.screenshot({ path: join(screens, `${name}.png`) });

// A cable-driven finger of 240 vertices: gravity, a load, two sensors.
const robot = join(work, "robot");
const file = join(robot, "robot.yaml");
execFileSync(pliant, ["new", "cable_finger", robot]);
writeFileSync(file, `${readFileSync(file, "utf8").replace(/^ {2}size: .*$/m, "  size: 12").replace(/^ {2}order: .*$/m, "  order: 1").replace(/^( {2}tip: .*)$/m, "$1\n  middle: {at: [60, 0, 20]}")}
sensors:
  - {name: string1, kind: length, through: [[0, 5, 20], [116, 5, 20]]}
  - {name: string2, kind: length, through: [[0, -5, 20], [116, -5, 20]]}
loads:
  gravity: [0, 0, -9.81 m/s^2]
  forces: [{marker: tip, force: [0, 0, -0.02]}]
`);

let server = await serve(pliant, [robot]);
const browser = await launch(chromiumPath);
const errors = [];
// half the processor time goes into drawing without a graphics card; a quarter of the pixels shows as much. SCREENS_SCALE=1: sharp pictures
const deviceScaleFactor = Number(process.env.SCREENS_SCALE ?? 0.5);
async function open(width, height, { colorScheme = "light", hash = "" } = {}) {
    const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor, colorScheme, acceptDownloads: true });
    page.on("pageerror", (e) => errors.push(e.message));
    page.on("console", (m) => m.type() === "error" && !/WebSocket|ERR_CONNECTION|404/.test(m.text()) && errors.push(m.text()));
    await coarsely(page, deviceScaleFactor);
    await page.goto(`${server.address}${hash}`);
    return page;
}

// ---- it loads and moves
async function moves(page) {
    await settled(page, 0);
    check("the page names the robot", (await page.textContent("#name")) === "cable-finger");
    check("it says that it is solved", /^Solved in/.test(await page.textContent("#status-text")), await page.textContent("#status-text"));
    check("there is a slider per command", (await page.locator("#sliders input[type=range]").count()) === 3);
    await changedPixels(page);
    const before = await tip(page);
    await page.focus("#slider-0");
    await page.keyboard.press("End");
    await rest(page);
    const bent = await tip(page);
    const moved = await changedPixels(page);
    check("a slider moves the tip's number", distance(before, bent) > 10, `${distance(before, bent).toFixed(2)} mm`);
    check("and the picture", moved > 1000, `${moved} pixels`);
    check("the effort stands beside it", /tension .* N/.test(await page.textContent(".efforts")), await page.textContent(".efforts"));
    check("all sensors are shown", (await page.locator("#readout tr[data-sensor]").count()) === 2);
    await shot(page, "slider");
    await page.click("#undo");
    await rest(page);
    check("undo goes back", distance(await tip(page), before) < 0.02);
    for (const [text, why] of [["999", /outside 0 to 8 mm/], ["2,5", /decimal point: 2\.5/], ["lots", /not a number/]]) {
        const serial = await lastSerial(page);
        await page.fill("#number-1", text);
        await page.press("#number-1", "Enter");
        const said = await page.textContent("#number-1-complaint");
        check(`${text} in a field is refused in words`, why.test(said) && (await lastSerial(page)) === serial && (await page.inputValue("#number-1")) === text, said);
    }
    await shot(page, "refused");
    await page.fill("#number-1", "3");
    await page.press("#number-1", "Enter");
    await rest(page);
    // a shape that leaves the view is brought back; not after a hand has turned the view
    await page.evaluate(() => {
        const { stage } = window.pliant;
        stage.fit([0.75, -1, 0.55]);
        stage.zoom(0.4);
    });
    const inside = () => page.evaluate(() => {
        const { stage, shown, reach } = window.pliant;
        stage.draw();
        const at = reach.place();
        return shown.arrays.x.every((_, i, x) => i % 3 || (Math.abs(at.fromArray(x, i).project(stage.camera).x) <= 1 && Math.abs(at.y) <= 1));
    });
    const before3 = await inside();
    await go(page, [20, null, null]);
    check("a shape that leaves the view is brought back", !before3 && (await inside()));
    await page.evaluate(() => {
        window.pliant.stage.held = true;
        window.pliant.stage.zoom(0.4);
    });
    await go(page, [null, 3, null]);
    check("but not after a hand has turned the view", !(await inside()));
    await page.evaluate(() => {
        window.pliant.stage.held = false;
        window.pliant.stage.fit([0.75, -1, 0.55]);
    });
    // keys after a click on a button; words on hover
    await page.click("#undo");
    await rest(page);
    const colour = await page.evaluate(() => window.pliant.look.field);
    await page.keyboard.press("c");
    check("keys work after a click on a button", (await page.evaluate(() => window.pliant.look.field)) === colour + 1);
    await page.hover("#status-text .word[data-word=residual]");
    check("words are explained on hover", /not in balance/.test(await page.textContent("#word-tip")) && (await page.isVisible("#word-tip")), await page.textContent("#word-tip"));
    await page.evaluate(() => window.pliant.look.pickField(0));
    await page.mouse.move(300, 300);
}

// ---- colours, section, forces, probe, pull
async function physics(page) {
    await page.click("#tab-look");
    await changedPixels(page);
    for (const name of ["Move", "Strain", "Stress", "J"]) {
        await page.click(`#colours button:text-is("${name}")`);
        const changed = await changedPixels(page);
        // in a body of one material stress looks as strain does; its legend differs
        const good = (changed > 1000 || name === "Stress") && (await page.isVisible("#legend-bar"));
        check(`colours by ${name}`, good, `${changed} pixels, ${await page.textContent("#legend-title")}`);
    }
    await page.click('#colours button:text-is("Stress")');
    const most = await page.evaluate(() => window.pliant.shown.head.ranges.stress[1]);
    check("the legend has the true maximum", (await page.textContent("#legend-most")).includes(`largest ${most.toFixed(1)}`), await page.textContent("#legend-most"));
    check("cables have a scale with its end", /Cables: tension/.test(await page.textContent("#legend-efforts")) && /N$/.test(await page.textContent("#legend-efforts")), await page.textContent("#legend-efforts"));
    const labels = (await page.locator("#labels .label:visible").allTextContents()).join(" | ");
    check("gravity, load and reaction are drawn with their numbers", /gravity 9\.81 m\/s²/.test(labels) && /0\.020 N/.test(labels) && /base: .* N, .* N mm/.test(labels), labels);
    // the reaction carries weight and load
    const balance = await page.evaluate(() => window.pliant.shown.head.record.reactions.base.force);
    check("the reaction is the server's", Math.abs(balance[2]) > 0.0199 && labels.includes(`base: ${Math.hypot(...balance).toFixed(3)} N`), balance.map((v) => v.toFixed(4)).join(" "));
    await changedPixels(page);
    await page.click("#show-forces");
    check("they can be hidden", (await changedPixels(page)) > 100 && (await page.locator("#labels .label:visible").count()) === 0);
    await page.click("#show-forces");

    // the section cuts the body and its cables, and is an object to drag
    const drawn = () => page.evaluate(() => {
        const { stage, body, parts, forces } = window.pliant;
        stage.draw();
        return { cables: [...parts.cableOf.values()].every((c) => c.material.clippingPlanes.length === 1), plane: body.plane.constant, hatch: forces.hatch.clippingPlanes.length };
    });
    await page.click('#section-axis button:text-is("y")');
    check("a section shows the inside", (await changedPixels(page)) > 1000);
    const cut = await drawn();
    const handle = await page.evaluate(() => {
        const { stage, look } = window.pliant;
        const box = stage.canvas.getBoundingClientRect();
        const p = stage.project(look.plane.handle.position);
        return { x: p.x + box.left, y: p.y + box.top };
    });
    await page.mouse.move(handle.x, handle.y);
    await page.mouse.down();
    await page.mouse.move(handle.x - 30, handle.y - 12, { steps: 3 });
    await page.mouse.up();
    check("its plane cuts cables too and is dragged in the view", cut.cables && Math.abs((await drawn()).plane - cut.plane) > 0.5, `${cut.plane.toFixed(2)} to ${(await drawn()).plane.toFixed(2)} mm`);
    await page.check("#show-edges");
    check("elements are drawn", (await changedPixels(page)) > 300);
    await shot(page, "section");
    await page.click('#section-axis button:text-is("Off")');
    await page.uncheck("#show-edges");

    // the probe: where the tip's marker is
    const spot = await page.evaluate(() => {
        const { stage, shown } = window.pliant;
        const m = window.pliant.body.current;
        const box = stage.canvas.getBoundingClientRect();
        // a vertex of the upper side
        let v = 0;
        for (let k = 0; k < m.rest.length; k += 3) {
            v = m.rest[k + 2] > 24.9 && Math.abs(m.rest[k] - 60) + Math.abs(m.rest[k + 1]) < Math.abs(m.rest[v] - 60) + Math.abs(m.rest[v + 1]) + (m.rest[v + 2] > 24.9 ? 0 : 1e9) ? k : v;
        }
        const at = [...shown.arrays.x.subarray(v, v + 3)];
        const p = stage.project(window.pliant.reach.place().fromArray(at));
        const [low, high] = shown.head.ranges.stress;
        return { x: p.x + box.left, y: p.y + box.top, at, moved: Math.hypot(...at.map((q, k) => q - m.rest[v + k])), stress: low + (shown.arrays.stress[v / 3] * (high - low)) / 65535 };
    });
    await page.mouse.click(spot.x, spot.y);
    const rows = await page.evaluate(() => Object.fromEntries(window.pliant.probe.values));
    const numbers = (text) => text.replaceAll("−", "-").match(/-?[\d.]+/g).map(Number);
    check("a click probes the point", distance(numbers(rows.Position).slice(0, 3), spot.at) < 1.5 && Math.abs(numbers(rows.Moved)[0] - spot.moved) < 1 && rows["Largest strain"].endsWith("%"), JSON.stringify(rows));
    await shot(page, "probe");
    await page.click("#probe-close");
    await page.click('#colours button:text-is("Region")');

    // a hand pulls the body sideways and lets go
    const home = await page.evaluate(() => window.pliant.shape.head.markers[0].position);
    await page.click("#pull-button");
    const grip = await page.evaluate(() => {
        const { stage, shape, reach } = window.pliant;
        stage.fit([0, -1, 0.3]);
        stage.draw();
        const box = stage.canvas.getBoundingClientRect();
        const p = stage.project(reach.place().fromArray(shape.head.markers[0].position));
        return { x: p.x + box.left - 14, y: p.y + box.top };
    });
    await page.mouse.move(grip.x, grip.y);
    await page.mouse.down();
    await page.mouse.move(grip.x, grip.y - 40, { steps: 6 });
    await page.waitForFunction(() => window.pliant.shape.head.pull && window.pliant.shape.head.serial >= window.pliant.link.serial && window.pliant.state === "ready", null, patience);
    // it is followed in rounds, and each is shown: the last one is where the hand's spring is in balance
    await page.waitForFunction(() => {
        const { stiffness, hand, place, force, newton } = window.pliant.shape.head.pull;
        return Math.hypot(...hand.map((h, k) => stiffness * (h - place[k]) - force[k])) < 0.03 * newton;
    }, null, patience);
    const pull = await page.evaluate(() => ({ ...window.pliant.shape.head.pull, reaction: window.pliant.shape.head.record.reactions.base.force, before: null, label: document.querySelector("#labels .pull").textContent, tip: window.pliant.shape.head.markers[0].position }));
    const spring = Math.hypot(...pull.hand.map((h, k) => pull.stiffness * (h - pull.place[k]) - pull.force[k]));
    check("pulled, the body follows and the force is reported", pull.newton > 0 && pull.deflection > 1 && distance(pull.tip, home) > 1 && / N, moved .* mm/.test(pull.label), pull.label);
    check("the force is the spring's, and the base bears it", spring < 0.03 * pull.newton && Math.hypot(...pull.reaction.map((r, k) => r - balance[k] + pull.force[k])) < 0.02 * pull.newton + 1e-4, `${spring.toExponential(1)} N beside ${pull.newton.toFixed(4)} N`);
    await shot(page, "pull");
    await page.mouse.up();
    await rest(page);
    check("let go, it returns", distance(await page.evaluate(() => window.pliant.shape.head.markers[0].position), home) < 1e-3 && (await page.evaluate(() => !window.pliant.shape.head.pull)));
    await page.click("#pull-button");
    await page.evaluate(() => window.pliant.stage.fit([0.75, -1, 0.55]));
}

// ---- pointing, from the middle of the workspace
async function reaches(page) {
    const middle = [8, 3, 3];
    const place = () => page.evaluate(() => window.pliant.reach.place().toArray());
    await go(page, [10, 4, 3]);
    const there = await place();
    await go(page, middle);
    await page.click("#tab-reach");
    const here = await place();
    // seen from across the path from here to there, so close that it is 100 pixels long
    const [from, to] = await page.evaluate(([a, b]) => {
        const { reach, stage } = window.pliant;
        const segment = reach.place().fromArray(b).sub(reach.place().fromArray(a));
        const across = segment.clone().cross(stage.camera.up).normalize();
        stage.fit(across.toArray());
        const shift = reach.place().sub(stage.controls.target);
        stage.controls.target.add(shift);
        stage.camera.position.add(shift);
        stage.draw();
        stage.zoom(segment.length() / stage.pixelSize(reach.place()) / 100);
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
    await rest(page);
    const ik = await page.evaluate(() => ({ ...window.pliant.shape.head.ik, at: window.pliant.shape.head.markers[0].position }));
    const distance_moved = distance(here, there);
    check("the marker is dragged far", dragged > 80 && dragged < 120, `${dragged.toFixed(1)} pixels, ${distance_moved.toFixed(2)} mm`);
    check("its target goes along with the pointer", distance(ik.target, there) < (2 * distance_moved) / dragged, `${distance(ik.target, there).toFixed(4)} mm beside, a pixel is ${(distance_moved / dragged).toFixed(4)} mm`);
    check("a dragged marker is reached", ik.outcome === "reached" && distance(ik.target, ik.at) < 0.05, `${ik.outcome}, ${distance(ik.target, ik.at).toFixed(4)} mm off`);
    await page.evaluate(() => window.pliant.stage.fit([0.75, -1, 0.55]));
    check("the sliders follow", await page.evaluate((m) => window.pliant.move.commands.some((c, i) => c !== null && c !== m[i]), middle));
    await page.fill("#target-y", "60");
    await page.press("#target-y", "Enter");
    await rest(page);
    const far = await page.textContent("#reach-result");
    check("out of reach: the nearest point, its bounds and its target", /^\(.*60\.0, .* mm on the fine mesh: .*nearest point/.test(far) && /limit/.test(far), far);
    await shot(page, "reach");
    await page.click("#tab-move");
    await go(page, middle);
    await page.click("#tab-reach");
    await page.fill("#path-size", "2");
    await page.fill("#path-count", "4");
    await page.selectOption("#path-plane", "yz");
    await page.click("#path-line");
    await page.click("#path-follow");
    await page.waitForFunction(() => window.pliant.reach.record?.done, null, patience);
    check("a path is followed", await page.evaluate(() => window.pliant.reach.record.waypoints.filter((w) => w.outcome === "reached").length === 4) && (await page.isVisible("#path-plot svg")), await page.textContent("#path-text"));
    await page.click("#live");
    await page.evaluate(() => window.pliant.link.send({ type: "cloud", robot: window.pliant.robot.robot, marker: 0, count: 12 }));
    await page.waitForFunction(() => /^12 of 12/.test(document.getElementById("cloud-text").textContent), null, patience);
    check("the workspace is shown", await page.evaluate(() => Boolean(window.pliant.parts.cloud)), await page.textContent("#cloud-text"));
    // a path from a file is read as the command reads it
    const table = join(work, "path.csv");
    writeFileSync(table, "# drawn by hand\nt [s];x [cm];y [mm];z [mm]\n0;0.1;2;100\n1;0.2;3;101\n");
    await page.setInputFiles("#path-file", table);
    await page.waitForFunction(() => /^2 points/.test(document.getElementById("path-text").textContent), null, patience);
    const points = await page.evaluate(() => window.pliant.reach.points);
    check("a path's header and units are read", distance(points, [1, 2, 100, 2, 3, 101]) < 1e-9, points.join(" "));
    writeFileSync(table, "x,y\n1,2\n");
    await page.setInputFiles("#path-file", table);
    await page.waitForSelector("#toast:not([hidden])", patience);
    check("a table that is no path is refused in words", /^path\.csv/.test(await page.textContent("#toast")), await page.textContent("#toast"));
    await page.click("#path-clear");
}

// ---- time: a sweep, a recording, a log with measured markers
async function keepsTime(page) {
    await page.click("#tab-move");
    await page.fill("#sweep-steps", "3");
    await page.click("#sweep-run");
    await page.waitForFunction(() => window.pliant.timeline.frames.length === 3 && !window.pliant.move.running, null, patience);
    await page.locator("#frame").fill("0");
    check("a sweep can be played back", /^1 of 3/.test(await page.textContent("#frame-text")) && (await page.isVisible("#sweep-plot svg")));
    await page.click("#live");
    const sweep = await page.evaluate(() => window.pliant.timeline.runs.length - 1);
    await page.click("#tab-time");
    await page.click("#record");
    await go(page, [6, null, null]);
    await go(page, [12, 2, null]);
    await page.click("#record");
    check("a recording keeps the shapes in their time", await page.evaluate(() => {
        const { run } = window.pliant.timeline;
        return run.count === 2 && run.time[1] > run.time[0] && run.commands[1][0] === 12 && run.channels.get("string1").values.every(Number.isFinite);
    }));
    // a log as `pliant run` writes it; the markers in it are measured
    const log = join(work, "log.csv");
    const at = await page.evaluate(() => window.pliant.timeline.run.frames.map((f) => f.head.markers[0].position));
    const row = (t, c, p) => `${t},${c.join(",")},1,1,${p.map((v) => v / 10).join(",")},0.1,0`;
    const off = at.map((p) => [p[0] + 3, p[1], p[2] + 4]);
    writeFileSync(log, ["t [s],flexor [mm],left [mm],right [mm],set point 1,output 1,tip.x [cm],tip.y [cm],tip.z [cm],error,held", row(0, [6, "", ""], off[0]), row(0.1, [12, 2, ""], off[1])].join("\n"));
    await page.setInputFiles("#log-file", log);
    await page.waitForSelector("#log-solve:not([hidden])", patience);
    await page.click("#log-solve");
    await page.waitForFunction(() => /solved$/.test(window.pliant.timeline.run?.name) && !window.pliant.timeline.solving, null, patience);
    const measured = await page.textContent("#measured-text");
    check("measured markers are laid over the poses of a log", /^tip: measured positions are 5\.00 mm \(rms\)/.test(measured) && (await page.evaluate(() => Boolean(window.pliant.parts.measured))), measured);
    await page.selectOption("#run-other", String(sweep));
    await page.locator("#frame").fill("1");
    const laid = await page.evaluate(() => [window.pliant.body.over.visible, document.querySelectorAll("#time-plot path").length, document.querySelectorAll("#time-plot circle").length]);
    check("two runs are overlaid, in the view and in the plot", laid[0] && laid[1] === 2 && laid[2] === 2, JSON.stringify(laid));
    await shot(page, "time");
    await page.selectOption("#speed", "5");
    await page.click("#play");
    await page.waitForFunction(() => window.pliant.timeline.at === 0, null, patience);
    await page.click("#play");
    writeFileSync(log, "t [s],nobody.x [mm]\n0,1\n1,2\n");
    await page.setInputFiles("#log-file", log);
    await page.waitForFunction(() => /^log\.csv: no column/.test(document.getElementById("toast").textContent), null, patience);
    check("a table about something else is refused in words", true, await page.textContent("#toast"));
    await page.selectOption("#run-other", "-1");
    await page.selectOption("#run-shown", String(sweep));
    await page.click("#live");
}

// ---- files are of what is shown: the sweep's table, then the pose scrubbed to, then the live one
async function saves(page) {
    await page.click("#tab-save");
    const saved = async (button) => {
        const [download] = await Promise.all([page.waitForEvent("download", patience), page.click(`#save-${button}`)]);
        const path = join(work, `seen-${download.suggestedFilename()}`);
        await download.saveAs(path);
        return readFileSync(path);
    };
    const rowsOf = (csv) => csv.toString().split("\n").filter((l) => l && !l.startsWith("#"));
    await page.check("#save-run");
    check("after a sweep the table has its steps", rowsOf(await saved("csv")).length === 4, await page.textContent("#save-run-text"));
    await page.locator("#frame").fill("0");
    const firstStep = await page.evaluate(() => ({ shape: window.pliant.shown.head.shape, live: window.pliant.shape.head.shape }));
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
    check("scrubbed, then STL: the shape scrubbed to", firstStep.shape !== firstStep.live && off < 0.01 && stl.subarray(0, 80).toString("latin1").includes(`shape ${firstStep.shape}, fine mesh, flexor`), `${off.toFixed(5)} mm beside, "${stl.subarray(0, 60).toString("latin1")}"`);
    check("and VTU says which", (await saved("vtu")).subarray(0, 400).toString().includes(`shape ${firstStep.shape}, fine mesh`));
    const named = new RegExp(`shape ${firstStep.shape}, fine mesh, flexor .*, string1 [\\d.]+ mm, string2`);
    const obj = (await saved("obj")).toString();
    const corners = obj.split("\n").filter((l) => l.startsWith("v ")).map((l) => l.split(" ").slice(1).map(Number));
    const wide = Math.max(...reach.map((v, k) => Math.abs(v - Math.max(...corners.map((c) => c[k])))));
    check("OBJ is of the same shape and names commands and sensors", named.test(obj.slice(0, 400)) && wide < 0.5, `${wide.toFixed(4)} mm beside, ${obj.split("\n")[0]}`);
    const ply = (await saved("ply")).toString("latin1");
    check("PLY too", ply.startsWith("ply\nformat") && named.test(ply.slice(0, 500)) && ply.includes("end_header"));
    await page.uncheck("#save-run");
    const one = (await saved("csv")).toString();
    check("one pose is one row, with commands and mesh", rowsOf(one).length === 2 && /^# pliant .*: cable-finger, shape \d+, fine mesh, flexor /.test(one) && /\nflexor \[mm\],/.test(one), one.split("\n")[0]);
    await page.click("#live");
    for (const [button, least, begins] of [["stl", 5000, "cable-finger, shape "], ["gltf", 5000, "glTF"], ["png", 2000, "\x89PNG"]]) {
        const [download] = await Promise.all([page.waitForEvent("download", patience), page.click(`#save-${button}`)]);
        const path = join(work, download.suggestedFilename());
        await download.saveAs(path);
        const head = readFileSync(path).subarray(0, begins.length).toString("latin1");
        check(`saves ${button}`, statSync(path).size >= least && head === begins, `${download.suggestedFilename()}, ${statSync(path).size} bytes`);
    }
}

// ---- two viewers, the second on a phone
async function shares(page) {
    const second = await open(390, 780, { colorScheme: "dark" });
    await settled(second, 0);
    check("a second viewer sees the same tip", distance(await tip(second), await tip(page)) < 0.011);
    check("and may look only", (await second.isVisible("#guest")) && (await second.isDisabled("#slider-0")));
    await shot(second, "phone-dark");
    const dark = await axe(second);
    check("axe finds nothing in the dark", dark.length === 0, dark.join(" | "));
    await second.click("#ask");
    await page.click("#give-yes", patience);
    await second.waitForFunction(() => window.pliant.mayMove(), null, patience);
    await second.fill("#number-2", "5");
    await second.press("#number-2", "Enter");
    await rest(second);
    for (const viewer of [page, second]) {
        await viewer.waitForFunction(() => window.pliant.shape.head.commands[2] === 5 && window.pliant.shape.head.level === "fine" && window.pliant.state === "ready", null, patience);
    }
    check("handed over, it moves the robot for both", distance(await tip(second), await tip(page)) < 0.011);
    check("nothing overflows on a small screen", await second.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    await second.fill("#sweep-steps", "2");
    await second.evaluate(() => document.getElementById("sweep-run").click());
    await second.waitForFunction(() => window.pliant.timeline.run && !window.pliant.move.running, null, patience);
    const crossing = [];
    for (const [tab, colour] of [["move", 0], ["look", 3]]) {
        await second.click(`#tab-${tab}`);
        await second.evaluate((c) => window.pliant.look.pickField(c), colour);
        crossing.push(...(await overlaps(second)));
    }
    for (const [width, height] of [[780, 390], [320, 568]]) {
        await second.setViewportSize({ width, height });
        for (const colour of [0, 3]) {
            await second.evaluate((c) => window.pliant.look.pickField(c), colour);
            crossing.push(...(await overlaps(second)).map((o) => `${width} x ${height}: ${o}`));
        }
    }
    await second.setViewportSize({ width: 390, height: 780 });
    check("nothing overlaps on a phone, upright or on its side", crossing.length === 0, crossing.join("; "));
    await shot(second, "phone-look");
    await second.close();
}

// ---- a server that hangs, dies, comes back; a file that breaks and is fixed; another method
async function survives(page) {
    server.child.kill("SIGSTOP");
    const stopped = Date.now();
    await page.waitForFunction(() => /No answer from the server for \d+ s/.test(document.getElementById("status-text").textContent), null, patience);
    console.log(`  a stopped server is noticed after ${((Date.now() - stopped) / 1000).toFixed(1)} s`);
    check("a hung server is said, and the shape dims", await page.evaluate(() => window.pliant.body.dim), await page.textContent("#status-text"));
    await shot(page, "hung");
    server.child.kill("SIGCONT");
    await page.waitForFunction(() => /^Solved/.test(document.getElementById("status-text").textContent) && !window.pliant.body.dim, null, patience);
    check("when it goes on, the page does too", true);
    await kill(server, "SIGKILL");
    await page.waitForFunction(() => /Connection lost/.test(document.getElementById("status-text").textContent), null, patience);
    check("a lost connection is said", true);
    server = await serve(pliant, [robot], { port: server.port });
    await page.waitForFunction(() => window.pliant.online && /^Solved/.test(document.getElementById("status-text").textContent), null, patience);
    check("the page connects again", await page.evaluate(() => window.pliant.mayMove()));
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("fixed:", "fixd:"));
    await page.waitForSelector("#findings li.error", patience);
    const said = await page.textContent("#findings");
    check("a broken file is explained", /fixd/.test(said) && /line \d+/.test(said), said.slice(0, 90));
    await go(page, [5, null, null]);
    check("the last good robot stands and moves", await page.evaluate(() => window.pliant.robot.ok && window.pliant.shape.head.solved && window.pliant.shape.head.commands[0] === 5), await page.textContent("#trouble-title"));
    await shot(page, "broken");
    writeFileSync(file, text);
    await page.waitForSelector("#findings li.error", { state: "hidden", ...patience });
    await settled(page, 0);
    check("a fixed file is shown at once", true);
    check("nothing is said of methods", await page.isHidden("#method"));
    writeFileSync(file, `${text}\nsolver: {method: local_global}\n`);
    await page.waitForSelector("#method", { state: "visible", ...patience });
    await settled(page, 0);
    await page.evaluate(() => window.pliant.move.go([4, null, null]));
    await rest(page);
    const answered = await page.evaluate(() => ({ method: window.pliant.robot.method, outcome: window.pliant.shape.head.outcome, moved: Math.hypot(...window.pliant.shape.head.markers[0].displacement), pulls: document.getElementById("pull-button").disabled }));
    check("a file's own method answers", answered.method === "local_global" && answered.moved > 0.1, `${answered.method}, ${answered.outcome}, tip moved ${answered.moved.toFixed(2)} mm`);
    check("what cannot be pulled says so", answered.pulls);
    // a frame with the wait for its pixels, as a software renderer draws them
    const times = await page.evaluate(() => {
        const { stage } = window.pliant;
        const gl = stage.renderer.getContext();
        return [...Array(5)].map(() => {
            const start = performance.now();
            stage.draw();
            gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
            return performance.now() - start;
        }).sort((a, b) => a - b);
    });
    const updates = await page.evaluate(() => window.pliant.stage.times.update.slice(-20).sort((a, b) => a - b));
    console.log(`  a frame takes ${times[2].toFixed(1)} ms with a software renderer, a new shape ${updates[updates.length >> 1].toFixed(1)} ms (medians)`);
    writeFileSync(file, text); // what follows takes the exact method
}

// ---- the gallery, a reduced model, links, parameters, the tour; axe on every page
async function gallery() {
    await kill(server, "SIGTERM");
    server = await serve(pliant, ["--demo", "--no-cache", "--size", "20", "--order", "1"], { env: { HOME: work, XDG_CACHE_HOME: "" } });
    const page = await open(1000, 700);
    await page.waitForSelector("#gallery[open] .designs.test", patience);
    const found = await axe(page);
    check("the gallery is a dialog with the product's name, test bodies apart", (await page.textContent("#gallery .brand")).includes("Pliant") && (await page.locator(".designs.test button").count()) === 4, `${await page.locator("#designs button").count()} designs`);
    const bare = await page.evaluate(async () => {
        const has = await Promise.all(window.pliant.gallery.designs.map(async (d) => ((await fetch(`gallery/${d.kind}.png`)).ok ? "" : d.kind)));
        return has.filter(Boolean);
    });
    check("designs have pictures (a new one may wait for its own)", bare.length < 3, bare.join(", "));
    await page.keyboard.press("Escape");
    check("without a robot it stays", await page.evaluate(() => document.getElementById("gallery").open));
    await shot(page, "gallery");
    await page.evaluate(() => new MutationObserver(() => (window.sawPicture ||= !document.getElementById("opening").hidden && Boolean(document.querySelector("#opening img")))).observe(document.getElementById("opening"), { attributes: true, childList: true }));
    await page.click('[data-design="trunk_cc"]');
    await settled(page, 0);
    check("a picture stands there while it opens", (await page.evaluate(() => window.sawPicture)) && (await page.isHidden("#opening")));
    check("a reduced model has its own fields", (await page.locator("#colours button:not([hidden])").allTextContents()).join() === "Region,Move,Bend,Stretch");
    await page.click('#presets button:text-is("Full")');
    await page.waitForFunction(() => window.pliant.move.commands.some((c) => c !== null), null, patience);
    await rest(page);
    const full = await page.evaluate(() => ({ commands: window.pliant.move.commands, bent: Math.hypot(...window.pliant.shape.head.markers.at(-1).displacement.slice(0, 2)) }));
    check("full bends a trunk", full.commands.includes(null) && full.bent > 50, `${JSON.stringify(full.commands)}, ${full.bent.toFixed(1)} mm`);
    for (const tab of ["move", "reach", "time", "look", "save"]) {
        await page.click(`#tab-${tab}`);
        // what surrounds the panel is the same for all of them
        found.push(...(await axe(page, tab === "move" ? undefined : "#panel")).map((v) => `${tab}: ${v}`));
    }
    // a circle inside the workspace, whatever the pose
    await page.click("#tab-reach");
    await page.click("#path-circle");
    await page.waitForFunction(() => window.pliant.reach.points, null, patience);
    await page.click("#path-follow");
    await page.waitForFunction(() => window.pliant.reach.record?.done, null, patience);
    check("the default circle lies inside the workspace", await page.evaluate(() => window.pliant.reach.record.waypoints.every((w) => w.outcome === "reached")), await page.textContent("#path-text"));
    // a link to the pose, in a page of its own
    await page.click("#tab-move");
    await page.click('#presets button:text-is("Full")');
    await page.waitForFunction(() => window.pliant.move.commands.includes(null), null, patience);
    const link = await page.evaluate(() => {
        window.pliant.look.pickField(5 + 1);
        return window.pliant.gallery.link();
    });
    await page.close();
    const other = await open(1000, 700, { hash: new URL(link).hash });
    await other.waitForFunction(() => window.pliant.shape?.head.commands.includes(null) && window.pliant.shape.head.commands.some((c) => c !== null), null, patience);
    const there = await other.evaluate(() => [window.pliant.shape.head.commands, window.pliant.look.field]);
    check("a link leads to the pose and its colours", JSON.stringify(there) === JSON.stringify([full.commands, 6]), link.slice(link.indexOf("#")));
    // parameters
    await other.click("#gallery-button");
    await other.evaluate(() => {
        const { sketch, body } = window.pliant;
        const draw = sketch.draw;
        sketch.draw = function (message) {
            draw.call(this, message);
            window.sawDrawn = { said: document.getElementById("truth").textContent, triangles: message.arrays.tri.length / 3, old: body.group.visible, name: document.getElementById("name").textContent };
        };
    });
    await other.click('[data-design="gripper_finger"]');
    await other.waitForFunction(() => /gripper/.test(window.pliant.robot.name), null, patience);
    await settled(other, 0);
    const drawn = await other.evaluate(() => window.sawDrawn);
    // a solver that is ready before the page has asked leaves nothing to show: then there is nothing to judge
    check("the body is shown as drawn before its solver is ready, alone", !drawn || (/^As drawn/.test(drawn.said) && drawn.triangles > 50 && !drawn.old && /gripper/.test(drawn.name)), drawn ? JSON.stringify(drawn) : "the solver was ready at once");
    await other.evaluate(() => window.pliant.gallery.pick("nobody"));
    await other.waitForFunction(() => !document.getElementById("toast").hidden, null, patience);
    check("after a design that cannot be opened the robot before is shown again", await other.evaluate(() => window.pliant.body.group.visible && !document.getElementById("panel").inert && !window.pliant.sketch.object), await other.textContent("#toast"));
    // one command: the path lies on the only curve there is
    await other.click("#tab-reach");
    await other.click("#path-circle");
    await other.waitForFunction(() => window.pliant.reach.points, null, patience);
    const offered = await other.textContent("#path-text");
    await other.click("#path-follow");
    await other.waitForFunction(() => window.pliant.reach.record?.done, null, patience);
    check("a marker that moves along one curve is offered a path on it, and follows", /along one curve/.test(offered) && (await other.evaluate(() => window.pliant.reach.record.waypoints.length === 11 && window.pliant.reach.record.waypoints.every((w) => w.outcome === "reached"))), `${offered} ${await other.textContent("#path-text")}`);
    await other.click("#live");
    await other.click("#tab-save");
    const wide = () => other.evaluate(() => window.pliant.robot.high[1] - window.pliant.robot.low[1]);
    const width = await wide();
    await other.fill("#parameter-width", "100000");
    await other.click("#parameters-build");
    check("a parameter out of its limits is refused in words", /outside/.test(await other.textContent("#parameter-width-complaint")), await other.textContent("#parameter-width-complaint"));
    const build = async (id, value) => {
        await other.fill(`#parameter-${id}`, value);
        await other.click("#parameters-build");
    };
    const foreign = join(dirname(await other.evaluate(() => window.pliant.robot.file)), "robot.edited.yaml");
    writeFileSync(foreign, "a file of somebody else\n");
    await build("width", "24");
    await other.waitForFunction(() => /robot\.edited2\.yaml$/.test(window.pliant.robot.file) && window.pliant.shape, null, patience);
    check("a changed parameter builds the robot again", Math.abs((await wide()) - 24) < 0.01, `${width} to ${await wide()} mm wide`);
    check("a file that the view did not write stays as it was", readFileSync(foreign, "utf8") === "a file of somebody else\n");
    await settled(other, 0);
    await build("length", "144");
    await other.waitForSelector("#findings li.error", patience);
    check("one that makes no body is explained, and the last good robot stands", /notch/.test(await other.textContent("#findings")) && Math.abs((await wide()) - 24) < 0.01, await other.textContent("#findings"));
    await other.click("#trouble-close");
    // the tour
    await other.click("#help-button");
    await other.click("#tour-button");
    let steps = 0;
    for (; steps < 20 && (await other.isVisible("#tour")); ++steps) {
        found.push(...(steps === 0 ? await axe(other) : []));
        await other.click("#tour-next");
    }
    check("a tour of six steps", steps === 6, steps);
    check("axe finds nothing", found.length === 0, found.join(" | "));
    await other.close();
}

// ---- a full body dragged at 60 Hz: predicted between its solves
async function drags(levels) {
    const finger = await levels("bending_finger", (t) => t.replace(/^ {2}size: .*$/m, "  size: 3.5"), "modules=1", "length=20");
    await finger.waitForFunction(() => window.pliant.predict.meshes.has(window.pliant.shape.head.mesh), null, patience);
    const seen = await finger.evaluate(dragSlider, [60, 1000]);
    console.log(`  60 Hz drag for 1 s on ${seen.vertices} vertices: ${seen.events} events, ${seen.solved} solved and ${seen.predicted} predicted shapes shown, ${(seen.solved + seen.predicted).toFixed(1)} a second`);
    check("shapes appear while a slider is dragged", seen.solved + seen.predicted > 3, seen.solved + seen.predicted);
    check("predicted ones say so, with both commands", /^Predicted: .* kPa, from the solved shape at /.test(seen.said) && seen.badge && seen.dim, seen.said);
    await rest(finger);
    check("at rest the solved shape is shown", await finger.evaluate(() => window.pliant.shown === window.pliant.shape && document.getElementById("truth").hidden && document.getElementById("predicted").hidden && !window.pliant.body.dim));
    await finger.waitForFunction(() => window.pliant.shape.head.brief === false, null, patience);
    const late = await finger.evaluate(() => {
        const { head, arrays } = window.pliant.shape;
        return { known: Boolean(head.ranges.stress) && head.record.crossings !== null, same: arrays.stress.length === arrays.x.length / 3, residual: head.residual };
    });
    check("its fields and crossings follow it", late.known && late.same, JSON.stringify(late));
    // what the prediction of a step is worth: against the solve of the same step
    await finger.waitForFunction(() => window.pliant.predict.meshes.get(window.pliant.shape.head.mesh)?.at[0] === window.pliant.shape.head.commands[0], null, patience);
    const guess = await finger.evaluate(() => {
        const { predict, shape, body, move } = window.pliant;
        const to = [shape.head.commands[0] * 1.15];
        const p = predict.forward(shape, body.meshes.get(shape.head.mesh), to);
        move.go(to);
        return { from: shape.head.markers[0].position, to: p.head.markers[0].position };
    });
    await rest(finger);
    const truly = await finger.evaluate(() => window.pliant.shape.head.markers[0].position);
    const missed = distance(guess.to, truly) / distance(guess.from, truly);
    check("a predicted step of 15 % is near the solved one", missed < 0.2, `${distance(guess.from, truly).toFixed(2)} mm, missed by ${distance(guess.to, truly).toFixed(2)} mm`);
    const levelsSeen = new Set(await finger.evaluate(() => window.seen.map((s) => s[0])));
    check("no shape of stiffer elements is shown", ![...levelsSeen].some((l) => /stiff/.test(l)), [...levelsSeen].join(", "));
    await shot(finger, "finger");

    // its marker dragged at 60 Hz
    await finger.click("#tab-reach");
    const pulled = await finger.evaluate(async () => {
        const { pliant } = window;
        const seen = { solved: 0, predicted: 0, said: "" };
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
        // back along the path it came, so that it is reached
        const to = from.clone().fromArray(pliant.robot.markers[0].rest).sub(from).multiplyScalar(0.1);
        const start = performance.now();
        await new Promise((give) => {
            const timer = setInterval(() => {
                const t = Math.min(1, (performance.now() - start) / 1500);
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
    console.log(`  60 Hz drag of a marker for 1.5 s: ${pulled.solved} solved and ${pulled.predicted} predicted shapes shown, ${((pulled.solved + pulled.predicted) / 1.5).toFixed(1)} a second`);
    check("shapes appear while a marker is dragged", pulled.predicted > 2 && /^Predicted: .*asked \(.*\) mm/.test(pulled.said), pulled.said);
    await rest(finger);
    const verdict = await finger.textContent("#reach-result");
    check("then the true inverse answers, for its target", /on the fine mesh: /.test(verdict) && (await finger.isHidden("#predicted")), verdict);
    await finger.close();
}

// ---- a layer, windings, a string and a spring are drawn where they are
async function bonds(levels) {
    const bender = await levels("fiber_bender", (t) => `${t.replace(/^ {2}size: .*$/m, "  size: 6").replace(/^ {2}order: .*$/m, "  order: 1").replace("pitch: 3", "pitch: 10")}
sensors:
  - {name: string, kind: length, through: [[8, 0, 0], [8, 0, 50], [8, 0, 100]]}
springs:
  - {name: band, from: tip, to: [40, 0, 100], stiffness: 0.002 N/mm}
`);
    await go(bender, [30]);
    const seen = await bender.evaluate(() => {
        const { shape, robot, bonded, body } = window.pliant;
        const { head, arrays } = shape;
        const length = (t) => {
            let sum = 0;
            for (let i = t.start; i + 1 < t.start + t.count; ++i) {
                sum += Math.hypot(...[0, 1, 2].map((k) => arrays.thread[3 * i + 3 + k] - arrays.thread[3 * i + k]));
            }
            return sum;
        };
        const of = (kind) => head.threads.filter((t) => t.kind === kind).reduce((sum, t) => sum + length(t), 0);
        const ends = bonded.springs[0].geometry.getAttribute("position").array;
        const layer = [...body.current.layer];
        return {
            string: [of("sensor"), head.sensors[0]], fibre: [of("fibre"), robot.fibres[0].length],
            spring: [Math.hypot(...[0, 1, 2].map((k) => ends[k] - head.markers[0].position[k])), Math.hypot(...[40, 0, 100].map((v, k) => ends[ends.length - 3 + k] - v))],
            // the strip lies under the floor
            layer: layer.length / 3, below: layer.every((v) => Math.abs(body.current.rest[3 * v] - body.current.rest[3 * layer[0]]) < 1e-4),
            legend: document.getElementById("legend-bonded").textContent, readout: document.querySelector("#readout tr[data-spring]")?.textContent,
        };
    });
    check("a string is drawn as long as its sensor says", Math.abs(seen.string[0] - seen.string[1]) < 1e-3 * seen.string[1], seen.string.map((v) => v.toFixed(3)).join(" and "));
    // inextensible: the windings keep their length
    check("windings are drawn with their length", Math.abs(seen.fibre[0] - seen.fibre[1]) < 0.03 * seen.fibre[1], seen.fibre.map((v) => v.toFixed(1)).join(" and "));
    check("a spring hangs between its ends, and its force is reported", Math.max(...seen.spring) < 1e-3 && /^band.* N, .* mm$/.test(seen.readout), seen.readout);
    check("a layer covers its faces", seen.layer > 10 && seen.below, `${seen.layer} triangles`);
    check("the legend names all of them", /strip.*layer.*thread.*fibre.*strings.*band/.test(seen.legend), seen.legend);
    await bender.evaluate(() => window.pliant.stage.fit([0.5, -1, 0.4]));
    await shot(bender, "bonds");
    await changedPixels(bender);
    await bender.click("#tab-look");
    await bender.uncheck("#show-layers");
    check("they can be hidden", (await changedPixels(bender)) > 100);
    await bender.close();
}

// ---- the log of a run that goes on beside the view: plots, measured marker, the robot along with it
async function goesAlong() {
    const log = join(work, "run.sqlite");
    await kill(server, "SIGTERM");
    server = await serve(pliant, [robot, "--log", log]);
    const page = await open(900, 600);
    await settled(page, 0);
    await page.click("#tab-time");
    check("a log that is not there yet is waited for", /run\.sqlite: waiting/.test(await page.textContent("#log-live-text")), await page.textContent("#log-live-text"));
    await page.check("#log-along");
    const run = (steps) => new Promise((give) => spawn(pliant, ["run", robot, "--goal", "108,0,-5", "--steps", String(steps), "--out", log, "--threads", "1"], { stdio: "ignore" }).on("exit", give));
    const ended = run(14);
    const code = await ended;
    check("the run writes it undisturbed, and says that 14 ticks are too few", code === 1, code);
    await page.waitForFunction(() => window.pliant.timeline.log?.run.count === 14, null, patience);
    const seen = await page.evaluate(() => {
        const { timeline, parts } = window.pliant;
        const { run } = timeline.log;
        return { time: run.time, names: [...run.channels.keys()], chosen: timeline.chosen, plots: document.querySelectorAll("#time-plot figure").length, dots: parts.measured?.geometry.getAttribute("position").count, last: run.commands.at(-1) };
    });
    check("its rows are on the timeline: set point, output, estimate, commands", seen.time.every((t, k) => Math.abs(t - 0.1 * k) < 1e-6) && ["set point 1", "output 1", "flexor", "string1", "tip.x estimated", "tip.x"].every((n) => seen.names.includes(n)), seen.names.join(", "));
    check("and plotted while it goes on", ["set point 1", "output 1"].every((n) => seen.chosen.includes(n)) && seen.plots === seen.chosen.length && seen.dots === 14, `${seen.plots} plots, ${seen.dots} dots`);
    await page.waitForFunction((last) => window.pliant.shape.head.level === "fine" && window.pliant.shape.head.commands.every((c, i) => Math.abs(c - last[i]) < 1e-5), seen.last, patience).catch(() => 0);
    check("the robot goes along", await page.evaluate((last) => window.pliant.shape.head.commands.every((c, i) => Math.abs(c - last[i]) < 1e-5), seen.last), seen.last.map((v) => v.toFixed(3)).join(" "));
    await shot(page, "run");
    const wrong = await axe(page);
    check("axe finds nothing there", wrong.length === 0, wrong.join(" | "));
    // another run in its place
    rmSync(log);
    await run(5);
    await page.waitForFunction(() => window.pliant.timeline.log?.run.count === 5, null, patience);
    check("another run in the same place begins again", true);
    await page.close();
}

// ---- a robot that is not at rest as drawn: how far the solve is, then the arch; going home takes no path
async function arches(levels) {
    const crawler = await levels("dea_crawler", (t) => t.replace(/^ {2}size: .*$/m, "  size: 12"));
    const said = await crawler.evaluate(() => window.seen.map((s) => s[1]));
    const foot = (await tip(crawler))[0];
    // nothing was said to a page that opened after the solve; one that takes seconds says how far it is
    const [, took, unit] = said.join(" ").match(/Solved in ([\d.]+) (ms|s)\b/) ?? [];
    const long = unit === "s" && Number(took) > 2;
    check("the path to a shape that is not at rest is reported", !said.some((s) => /solving|is solved/.test(s)) || said.some((s) => (long ? /(as drawn|is solving).* \d+ %/ : /(as drawn|is solving)/).test(s)), [...new Set(said)].slice(0, 4).join(" | "));
    check("the crawler has arched", foot < 62, `front foot at ${foot} mm`);
    await go(crawler, [(await crawler.evaluate(() => window.pliant.robot.commands[0].high)) * 0.6]);
    check("60 % of the voltage lets it down", (await tip(crawler))[0] > foot + 0.8 && (await crawler.evaluate(() => window.pliant.shape.head.load_reached)) === 1, `front foot at ${(await tip(crawler))[0]} mm`);
    await shot(crawler, "crawler");
    await crawler.click("#home");
    await rest(crawler);
    const back = await crawler.evaluate(() => window.pliant.shape.head.iterations);
    check("going home takes no path from flat", Math.abs((await tip(crawler))[0] - foot) < 0.02 && back < 20, `${back} iterations`);
    await crawler.close();
}

// ---- what the page says is so: commands after a reload, whose path a log is, what is solved, names as text, no WebGL
async function honest() {
    const page = await open(900, 600);
    await settled(page, 0);
    const middle = () => page.evaluate(() => window.pliant.shape.head.markers[1].position);
    const sliders = () => page.evaluate(() => [...document.querySelectorAll("#sliders input[type=range]")].map((s) => Number(s.value)));
    await go(page, [4, null, 2]);
    const first = await middle();
    await go(page, [6, null, 3]);
    const second = await middle();
    await page.reload();
    await settled(page, 0);
    const after = await sliders();
    const commands = await page.evaluate(() => window.pliant.shape.head.commands);
    const idle = await page.evaluate(() => [...document.querySelectorAll("#sliders .slider")].map((k) => k.classList.contains("idle")));
    check("after a reload the sliders stand where the body does", Math.abs(after[0] - 6) < 0.05 && Math.abs(after[2] - 3) < 0.05 && commands[0] === 6 && idle.join() === "false,true,false", `${after} for ${commands}`);
    await go(page, [null, null, null]);
    check("and going home from there works", (await page.evaluate(() => window.pliant.shape.head.commands)).every((c) => c === null));

    // a log of `follow` belongs to the marker it was made for
    const points = join(work, "points.csv"), log = join(work, "middle.csv");
    writeFileSync(points, `x [mm],y [mm],z [mm]\n${first.join()}\n${second.join()}\n`);
    execFileSync(pliant, ["follow", robot, points, "--marker", "middle", "--out", log, "--threads", "1"]);
    const whose = await page.evaluate(([text, name]) => {
        const { timeline } = window.pliant;
        const run = timeline.read(text, name);
        return { tip: run.path("tip"), middle: run.path("middle"), target: ["x", "y", "z"].map((a) => run.channels.get(`target.${a}`).values[1]) };
    }, [readFileSync(log, "utf8"), "middle.csv"]);
    check("a log of follow is assigned to its marker", whose.tip === null && distance(whose.middle[1], second) < 0.05, `middle at ${whose.middle?.[1]}, target ${whose.target}`);
    const unnamed = await page.evaluate((text) => {
        const { timeline } = window.pliant;
        const run = timeline.read(text.replace(/,marker/, ",other"), "unnamed.csv");
        return [run.path("tip"), run.path("middle"), document.getElementById("toast").textContent];
    }, readFileSync(log, "utf8"));
    check("one that does not name it to none", unnamed[0] === null && unnamed[1] === null && /does not name its marker/.test(unnamed[2]), unnamed[2]);
    await page.click("#live");

    // one predicate: only `converged` is solved, whatever the outcome is called
    const said = await page.evaluate(() => {
        const { pliant } = window;
        const { head } = pliant.shape;
        const say = (change, record = {}) => {
            pliant.shapeStatus({ ...head, ...change, record: { ...head.record, ...record } });
            return [document.getElementById("status-text").textContent, document.getElementById("dot").className];
        };
        const out = ["unstable", "penetrating", "uncertain", "limit point", "a new one"].map((outcome) => say({ solved: false, outcome, message: "why" }));
        return { out, none: say({ solved: false, outcome: "step limit", message: "why" }, { equilibrium: false }), crossed: say({ solved: true }, { crossings: { pairs: 3, at: [0, 0, 0] } }), plain: say({ solved: true }, { crossings: { pairs: 0, at: null } }) };
    });
    check("every other outcome is not solved", said.out.every(([text, dot]) => /^Not solved \((unstable|penetrating|uncertain|limit point|a new one)\): why/.test(text) && /warn/.test(dot)), said.out[0][0]);
    check("without an equilibrium the page says what is shown", /No equilibrium was found/.test(said.none[0]), said.none[0]);
    check("a body that penetrates itself is reported beside it", /^Solved .*penetrates itself: 3 pairs/.test(said.crossed[0]) && /warn/.test(said.crossed[1]) && !/penetrates/.test(said.plain[0]), said.crossed[0]);

    // names are text
    const evil = await page.evaluate(() => {
        const { move, shape } = window.pliant;
        const whole = move.robot;
        const name = '<img src=x onerror="window.hacked = 1">';
        move.robot = { ...whole, actuators: whole.actuators.map((a) => ({ ...a, name, unit: name, command: 0 })) };
        move.showEfforts(shape.head);
        const { effort } = move.sliders[0];
        const out = { images: effort.querySelectorAll("img").length, text: effort.textContent };
        move.robot = whole;
        return out;
    });
    check("names are never markup", evil.images === 0 && evil.text.includes("<img") && !(await page.evaluate(() => window.hacked)), evil.text.slice(0, 60));
    await page.close();

    const blind = await browser.newPage();
    await blind.addInitScript(() => (HTMLCanvasElement.prototype.getContext = () => null));
    await blind.goto(server.address);
    await blind.waitForFunction(() => !/Connecting/.test(document.getElementById("status-text").textContent), null, patience);
    check("without WebGL the page says so", /no WebGL/.test(await blind.textContent("#status-text")), await blind.textContent("#status-text"));
    await blind.close();
}

// ---- inverse kinematics that ends at rest: solved, and what is left of the balance is not drawn
async function rests(levels) {
    const finger = await levels("bending_finger", (t) => t.replace(/^ {2}size: .*$/m, "  size: 8").replace(/^ {2}order: .*$/m, "  order: 1"), "modules=3", "length=40");
    await go(finger, [6]);
    await finger.click("#tab-reach");
    await finger.evaluate(() => {
        const { reach, robot } = window.pliant;
        reach.aim(reach.place().fromArray(robot.markers[0].rest));
    });
    await rest(finger);
    // a shape comes before its fields
    await finger.evaluate(() => window.pliant.look.pickField(3));
    await finger.waitForFunction(() => window.pliant.shape.head.ranges.stress, null, patience);
    const seen = await finger.evaluate(() => {
        const { shape, look, forces } = window.pliant;
        const { residual, vertices, reactions } = shape.head.record;
        return { said: document.getElementById("status-text").textContent, command: shape.head.commands[0], span: look.span, most: shape.head.ranges.stress?.[1], arrows: [...forces.pool.keys()], force: Math.hypot(...reactions.base.force), noise: residual * vertices };
    });
    check("an ik that ends at rest is solved", /^Solved/.test(seen.said) && Math.abs(seen.command) < 0.02, `${seen.said} at ${seen.command} kPa`);
    check("what is left of the balance is neither an arrow nor a stress", (seen.force > 1e-3 || seen.arrows.length === 0) && seen.span[1] >= seen.most, JSON.stringify(seen));
    await finger.close();
}

// A design with a changed file, in a server of its own; what the page says from the beginning is noted.
async function levels(kind, change, ...parameters) {
    const folder = mkdtempSync(join(work, `${kind}-`));
    execFileSync(pliant, ["new", kind, folder, "--force", ...parameters.flatMap((p) => ["--param", p])]);
    const yaml = join(folder, "robot.yaml");
    writeFileSync(yaml, change(readFileSync(yaml, "utf8")));
    await kill(server, "SIGTERM");
    server = await serve(pliant, [folder]);
    const view = await open(800, 560);
    await view.evaluate(() => {
        window.seen = [];
        const note = () => window.seen.push([document.getElementById("level").textContent, document.getElementById("status-text").textContent]);
        new MutationObserver(note).observe(document.getElementById("top"), { childList: true, characterData: true, subtree: true });
    });
    await settled(view, 0);
    return view;
}

try {
    const page = await open(900, 600);
    await settled(page, 0);
    for (const part of [moves, physics, reaches, keepsTime, saves, shares, survives].filter(wanted)) {
        await part(page);
    }
    await page.close();
    check("no errors in the console", errors.length === 0, errors.slice(0, 3).join(" | "));
    if (wanted(honest)) {
        await honest();
    }
    if (wanted(gallery)) {
        await gallery();
    }
    if (wanted(goesAlong)) {
        await goesAlong();
    }
    for (const part of [drags, rests, bonds, arches].filter(wanted)) {
        await part(levels);
    }
    check("no errors there either", errors.length === 0, errors.slice(0, 3).join(" | "));
} catch (error) {
    check("the run went through", false, error.stack);
} finally {
    await browser.close();
    const code = await kill(server, "SIGTERM");
    check("the server ends cleanly", code === 0, code);
    rmSync(work, { recursive: true, force: true });
}
console.log(`${score.checks} checks, ${score.failures} failed; pictures in ${screens}`);
process.exit(score.failures ? 1 : 0);
