// A small plot: curves over a common axis, as SVG that follows the theme.
import { brief } from "./colours.js";

const width = 316;
const height = 150;
const pad = { left: 44, right: 8, top: 10, bottom: 30 };

// curves: [{ x, y, quiet, dots, name }]; returns an SVG text and its caption.
export function plotSvg({ curves, xLabel, yLabel, mark, legend }) {
    const [x0, x1] = span(curves.map((c) => c.x), false);
    const [y0, y1] = span(curves.map((c) => c.y), true);
    const px = (x) => pad.left + ((x - x0) / (x1 - x0)) * (width - pad.left - pad.right);
    const py = (y) => height - pad.bottom - ((y - y0) / (y1 - y0)) * (height - pad.top - pad.bottom);
    const rows = [y0, 0.5 * (y0 + y1), y1]
        .map((y) => `<line x1="${pad.left}" x2="${width - pad.right}" y1="${py(y)}" y2="${py(y)}" stroke="var(--line)"/><text x="${pad.left - 6}" y="${py(y) + 4}" text-anchor="end">${brief(y)}</text>`)
        .join("");
    const columns = [x0, x1]
        .map((x, i) => `<text x="${px(x)}" y="${height - 15}" text-anchor="${i ? "end" : "start"}">${brief(x)}</text>`)
        .join("");
    const lines = curves.map((c) => (c.dots ? dots(c, px, py) : path(c, px, py))).join("");
    const cursor = Number.isFinite(mark) ? `<line x1="${px(mark)}" x2="${px(mark)}" y1="${pad.top}" y2="${height - pad.bottom}" stroke="var(--text)" stroke-dasharray="3 3"/>` : "";
    const names = legend ? ` <small>${curves.map((c) => `<i class="key ${keyOf(c)}"></i>${escaped(c.name ?? "")}`).join(" ")}</small>` : "";
    return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(yLabel)} over ${escaped(xLabel)}" fill="var(--quiet)" font-size="11">${rows}${columns}${lines}${cursor}<text x="${(pad.left + width) / 2}" y="${height - 3}" text-anchor="middle">${escaped(xLabel)}</text></svg><figcaption>${escaped(yLabel)}${names}</figcaption>`;
}

function keyOf(c) {
    return c.dots ? "dots" : c.quiet ? "quiet" : "";
}

// A gap in the values is a gap in the line; of long series every nth point.
function path(c, px, py) {
    const step = Math.max(1, Math.floor(c.x.length / 600));
    let pen = "M";
    let d = "";
    for (let i = 0; i < c.x.length; i += step) {
        if (Number.isFinite(c.y[i])) {
            d += `${pen}${px(c.x[i]).toFixed(1)} ${py(c.y[i]).toFixed(1)}`;
            pen = "L";
        } else {
            pen = "M";
        }
    }
    return `<path d="${d}" fill="none" stroke="${c.quiet ? "var(--quiet)" : "var(--accent)"}" stroke-width="2" stroke-linejoin="round"${c.quiet ? ' stroke-dasharray="5 3"' : ""}/>`;
}

function dots(c, px, py) {
    const step = Math.max(1, Math.floor(c.x.length / 300));
    let out = "";
    for (let i = 0; i < c.x.length; i += step) {
        out += Number.isFinite(c.y[i]) ? `<circle cx="${px(c.x[i]).toFixed(1)}" cy="${py(c.y[i]).toFixed(1)}" r="2" fill="var(--warn)"/>` : "";
    }
    return out;
}

export function escaped(text) {
    return String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function span(lists, fromZero) {
    let low = Infinity;
    let high = -Infinity;
    for (const list of lists) {
        for (const v of list) {
            if (Number.isFinite(v)) {
                low = Math.min(low, v);
                high = Math.max(high, v);
            }
        }
    }
    if (!(low <= high)) {
        return [0, 1];
    }
    if (fromZero && low > 0 && low < 0.5 * high) {
        low = 0;
    }
    return high > low ? [low, high] : [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)];
}
