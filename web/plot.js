// A small plot: one or two curves over a common axis, as SVG that follows the theme.
import { brief } from "./colours.js";

const width = 316;
const height = 150;
const pad = { left: 44, right: 8, top: 10, bottom: 30 };

// curves: [{ x, y, quiet }]; returns an SVG text.
export function plotSvg({ curves, xLabel, yLabel, mark }) {
    const xs = curves.flatMap((c) => c.x).filter(Number.isFinite);
    const ys = curves.flatMap((c) => c.y).filter(Number.isFinite);
    const [x0, x1] = span(xs, false);
    const [y0, y1] = span(ys, true);
    const px = (x) => pad.left + ((x - x0) / (x1 - x0)) * (width - pad.left - pad.right);
    const py = (y) => height - pad.bottom - ((y - y0) / (y1 - y0)) * (height - pad.top - pad.bottom);
    const rows = [y0, 0.5 * (y0 + y1), y1]
        .map((y) => `<line x1="${pad.left}" x2="${width - pad.right}" y1="${py(y)}" y2="${py(y)}" stroke="var(--line)"/><text x="${pad.left - 6}" y="${py(y) + 4}" text-anchor="end">${brief(y)}</text>`)
        .join("");
    const columns = [x0, x1]
        .map((x, i) => `<text x="${px(x)}" y="${height - 15}" text-anchor="${i ? "end" : "start"}">${brief(x)}</text>`)
        .join("");
    const lines = curves
        .map((c) => {
            const d = c.x.map((x, i) => (Number.isFinite(c.y[i]) ? `${i ? "L" : "M"}${px(x).toFixed(1)} ${py(c.y[i]).toFixed(1)}` : "")).join("");
            return `<path d="${d}" fill="none" stroke="${c.quiet ? "var(--quiet)" : "var(--accent)"}" stroke-width="2" stroke-linejoin="round"/>`;
        })
        .join("");
    const cursor = Number.isFinite(mark) ? `<line x1="${px(mark)}" x2="${px(mark)}" y1="${pad.top}" y2="${height - pad.bottom}" stroke="var(--text)" stroke-dasharray="3 3"/>` : "";
    return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${yLabel} over ${xLabel}" fill="var(--quiet)" font-size="11">${rows}${columns}${lines}${cursor}<text x="${(pad.left + width) / 2}" y="${height - 3}" text-anchor="middle">${xLabel}</text></svg><figcaption>${yLabel}</figcaption>`;
}

function span(values, fromZero) {
    let low = Math.min(...values);
    let high = Math.max(...values);
    if (!(low <= high)) {
        return [0, 1];
    }
    if (fromZero && low > 0) {
        low = 0;
    }
    return high > low ? [low, high] : [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)];
}
