// Tables of numbers over time: logs of `pliant run`, `sweep`, `follow`, `task`, and measured markers. A column is called
// `name [unit]`; lines that begin with # are comments; separators are commas, semicolons or tabs.

const units = {
    s: [1, "s"], ms: [1e-3, "s"], min: [60, "s"],
    mm: [1, "mm"], cm: [10, "mm"], m: [1000, "mm"], um: [1e-3, "mm"], "µm": [1e-3, "mm"],
    kPa: [1, "kPa"], Pa: [1e-3, "kPa"], MPa: [1000, "kPa"], bar: [100, "kPa"], mbar: [0.1, "kPa"],
    N: [1, "N"], mN: [1e-3, "N"], mL: [1, "mL"], ml: [1, "mL"], V: [1, "V"], kV: [1000, "V"], deg: [1, "deg"], rad: [180 / Math.PI, "deg"], "1": [1, ""], "": [1, ""],
};

// Cells of a line; quotes keep a separator.
function cells(line, separator) {
    const out = [];
    let cell = "";
    let quoted = false;
    for (const c of line) {
        if (c === '"') {
            quoted = !quoted;
        } else if (c === separator && !quoted) {
            out.push(cell.trim());
            cell = "";
        } else {
            cell += c;
        }
    }
    return [...out, cell.trim()];
}

// { time: [] or null, marker: the text of the column `marker`, or null, columns: [{ name, unit, values }] }; throws a sentence.
export function readTable(text, file) {
    const lines = text.split(/\r?\n/).filter((l) => l.trim() && !l.startsWith("#"));
    if (lines.length < 2) {
        throw new Error(`${file}: a table needs a line of names and at least one row.`);
    }
    const separator = [";", "\t", ","].find((s) => lines[0].includes(s)) ?? ",";
    const titles = cells(lines[0], separator);
    if (titles.every((t) => t !== "" && Number.isFinite(Number(t)))) {
        throw new Error(`${file}: the first line must name the columns, for example t [s],tip.x [mm].`);
    }
    const columns = titles.map((title) => {
        const found = /^(.*?)\s*(?:\[([^\]]*)\])?$/.exec(title);
        const unit = found[2] ?? "";
        return { name: found[1], unit: units[unit]?.[1] ?? unit, factor: units[unit]?.[0] ?? 1, values: [] };
    });
    let marker;
    lines.slice(1).forEach((line, k) => {
        const row = cells(line, separator);
        if (row.length !== columns.length) {
            throw new Error(`${file}: row ${k + 1} has ${row.length} cells, the line of names has ${columns.length}.`);
        }
        row.forEach((cell, i) => {
            if (columns[i].name === "marker") {
                marker = marker === undefined || marker === cell ? cell : null; // null: several
            }
            const comma = /^-?\d+,\d+$/.test(cell) && separator !== ",";
            columns[i].values.push(cell === "" || comma ? NaN : columns[i].factor * Number(cell));
            if (comma) {
                throw new Error(`${file}: row ${k + 1}: write a decimal point: ${cell.replace(",", ".")}.`);
            }
        });
    });
    const clock = columns.find((c) => /^(t|time)$/i.test(c.name));
    const numbers = columns.filter((c) => c !== clock && c.values.some(Number.isFinite));
    if (numbers.length === 0) {
        throw new Error(`${file}: no column holds numbers.`);
    }
    if (clock?.values.some((t, i) => !Number.isFinite(t) || (i > 0 && t < clock.values[i - 1]))) {
        throw new Error(`${file}: the times must be numbers that do not decrease.`);
    }
    return { time: clock?.values ?? null, marker: marker || null, columns: numbers.map(({ name, unit, values }) => ({ name, unit, values })) };
}
