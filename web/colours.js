// Colour scales and the legend's numbers.

const sequential = ["#36175e", "#3f4a8a", "#2f7391", "#23998a", "#55be6c", "#a6d854", "#fde725"];
const diverging = ["#2b5ea8", "#6f9fd0", "#bcd3e6", "#f4f1ea", "#f2c0a0", "#da7a5c", "#a92e2c"];
const heat = ["#4c78a8", "#6fb07f", "#e0c04c", "#e8853a", "#d23b2f"];

export const regionColours = ["#f0d5ae", "#6f86a1", "#a9bf95", "#c79a92", "#b2a4cc", "#cfc07c", "#8fb5bd", "#a08f7e"];

function channels(hex) {
    const n = parseInt(hex.slice(1), 16);
    return [(n >> 16) / 255, ((n >> 8) & 255) / 255, (n & 255) / 255];
}

// sRGB to the linear values a renderer works with
function linear(c) {
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

export function linearRgb(hex) {
    return channels(hex).map(linear);
}

function table(stops) {
    const size = 256;
    const out = new Float32Array(3 * size);
    for (let i = 0; i < size; ++i) {
        const at = (i / (size - 1)) * (stops.length - 1);
        const k = Math.min(stops.length - 2, Math.floor(at));
        const a = channels(stops[k]);
        const b = channels(stops[k + 1]);
        for (let c = 0; c < 3; ++c) {
            out[3 * i + c] = linear(a[c] + (b[c] - a[c]) * (at - k));
        }
    }
    return out;
}

export const scales = {
    sequential: { table: table(sequential), css: `linear-gradient(90deg, ${sequential.join(",")})` },
    diverging: { table: table(diverging), css: `linear-gradient(90deg, ${diverging.join(",")})` },
};

// What the body can be coloured by. `centre`: the value in the middle of a diverging scale.
export const fields = [
    { key: "region", name: "Region" },
    { key: "displacement", name: "Move", title: "Displacement, mm", scale: scales.sequential, digits: 2 },
    { key: "strain", name: "Strain", title: "Largest strain, %", long: "Largest strain", unit: "%", scale: scales.sequential, digits: 1 },
    { key: "stress", name: "Stress", title: "Von Mises stress, kPa", long: "Von Mises stress", unit: "kPa", scale: scales.sequential, digits: 1 },
    { key: "J", name: "J", title: "Volume ratio J", long: "Volume ratio J", unit: "", scale: scales.diverging, centre: 1, digits: 3 },
    { key: "contact", name: "Contact", title: "Contact pressure, kPa", long: "Contact pressure", unit: "kPa", scale: scales.sequential, digits: 2 },
    { key: "bend", name: "Bend", title: "Curvature, 1/m", long: "Curvature", unit: "1/m", scale: scales.sequential, digits: 2 },
    { key: "stretch", name: "Stretch", title: "Stretch of the centre line, %", long: "Stretch of the centre line", unit: "%", scale: scales.diverging, centre: 0, digits: 2 },
];

const heatTable = table(heat);
export const heatCss = `linear-gradient(90deg, ${heat.join(",")})`;

// A CSS colour between calm and hot, for tension and pressure as a share of the most expected.
export function heatColour(share, out) {
    const i = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
    return out.setRGB(heatTable[i], heatTable[i + 1], heatTable[i + 2]);
}

// Fixed digits behind the point, a proper minus, no minus zero.
export function format(value, digits = 3) {
    if (!Number.isFinite(value)) {
        return "–";
    }
    const text = value.toFixed(digits);
    return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

// About three figures, whatever the size.
export function brief(value) {
    const size = Math.abs(value);
    if (size > 1e-9 && size < 1e-3) {
        return value.toExponential(1).replaceAll("-", "−");
    }
    return format(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

// "maxwell_stress_kpa" -> "Maxwell stress"
export function effortWord(name) {
    return name.replace(/_kpa$/, "").replaceAll("_", " ").replace("maxwell", "Maxwell");
}
