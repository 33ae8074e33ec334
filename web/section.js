// A section through the body: every tetrahedral cell that the plane crosses gives one triangle or two.

// Corner pairs of the crossed edges in order around the cut, by which corners lie behind the plane (4 bits).
const cases = [];
for (let bits = 0; bits < 16; ++bits) {
    const behind = [0, 1, 2, 3].filter((k) => bits & (1 << k));
    const before = [0, 1, 2, 3].filter((k) => !(bits & (1 << k)));
    if (behind.length === 1 || before.length === 1) {
        const lone = behind.length === 1 ? behind[0] : before[0];
        cases.push([0, 1, 2, 3].filter((k) => k !== lone).map((k) => [lone, k]));
    } else if (behind.length === 2) {
        const [a, b] = behind;
        const [c, d] = before;
        cases.push([[a, c], [a, d], [b, d], [b, c]]);
    } else {
        cases.push([]);
    }
}

// Cuts `cell` (4 vertices each) by the plane n . x = at. Returns positions and colours of triangles.
export function cutCells(x, cell, region, n, at, paint) {
    const height = new Float32Array(x.length / 3);
    for (let v = 0; v < height.length; ++v) {
        height[v] = n[0] * x[3 * v] + n[1] * x[3 * v + 1] + n[2] * x[3 * v + 2];
    }
    const position = [];
    const colour = [];
    const point = [];
    const rgb = [];
    for (let c = 0; c < cell.length; c += 4) {
        let bits = 0;
        for (let k = 0; k < 4; ++k) {
            bits |= height[cell[c + k]] < at ? 1 << k : 0;
        }
        const edges = cases[bits];
        if (edges.length === 0) {
            continue;
        }
        for (let k = 0; k < edges.length; ++k) {
            const a = cell[c + edges[k][0]];
            const b = cell[c + edges[k][1]];
            const s = (at - height[a]) / (height[b] - height[a]);
            for (let i = 0; i < 3; ++i) {
                point[3 * k + i] = x[3 * a + i] + s * (x[3 * b + i] - x[3 * a + i]);
            }
            if (paint.colourOf) {
                const ka = paint.colourOf(a);
                const kb = paint.colourOf(b);
                for (let i = 0; i < 3; ++i) {
                    rgb[3 * k + i] = paint.table[ka + i] + s * (paint.table[kb + i] - paint.table[ka + i]);
                }
            } else {
                const fixed = paint.regions[region[c / 4] % paint.regions.length];
                for (let i = 0; i < 3; ++i) {
                    rgb[3 * k + i] = 0.82 * fixed[i];
                }
            }
        }
        for (let k = 1; k + 1 < edges.length; ++k) {
            for (const corner of [0, k, k + 1]) {
                position.push(point[3 * corner], point[3 * corner + 1], point[3 * corner + 2]);
                colour.push(rgb[3 * corner], rgb[3 * corner + 1], rgb[3 * corner + 2]);
            }
        }
    }
    return { position: new Float32Array(position), colour: new Float32Array(colour) };
}
