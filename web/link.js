// The connection to the server: decodes what docs/reference/protocol.md describes, connects again when it is lost.

const widths = { 1: Float32Array, 2: Uint32Array, 3: Uint16Array, 4: Uint8Array };
const kinds = { 1: "mesh", 2: "shape", 3: "cloud", 4: "file", 5: "tangent" };

// A binary message: { type, head, arrays }. Throws when it is not one.
export function decode(buffer) {
    const view = new DataView(buffer);
    if (buffer.byteLength < 16 || view.getUint32(0, false) !== 0x504c5631) {
        throw new Error("not a message of Pliant");
    }
    const type = kinds[view.getUint32(4, true)];
    const words = view.getUint32(8, true);
    const count = view.getUint32(12, true);
    const text = new TextDecoder();
    const entries = [];
    for (let i = 0; i < count; ++i) {
        const at = 16 + 16 * i;
        entries.push({
            name: text.decode(new Uint8Array(buffer, at, 8)).replace(/\0+$/, ""),
            array: widths[view.getUint32(at + 8, true)],
            count: view.getUint32(at + 12, true),
        });
    }
    let at = 16 + 16 * count;
    const head = JSON.parse(text.decode(new Uint8Array(buffer, at, words)));
    at += words;
    const arrays = {};
    for (const e of entries) {
        arrays[e.name] = new e.array(buffer, at, e.count);
        at += Math.ceil((e.count * e.array.BYTES_PER_ELEMENT) / 4) * 4;
    }
    return { type, head, arrays, bytes: buffer.byteLength };
}

export class Link {
    // `hear` gets every message; `change` gets true when connected, false when lost.
    constructor(hear, change) {
        this.hear = hear;
        this.change = change;
        this.wait = 300;
        this.serial = 0;
        this.live = false;
        this.heard = performance.now(); // ms, when the server said anything
        this.connect();
    }

    connect() {
        const token = new URLSearchParams(location.search).get("token");
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const address = `${scheme}//${location.host}/${token ? `?token=${encodeURIComponent(token)}` : ""}`;
        this.socket = new WebSocket(address, "pliant");
        this.socket.binaryType = "arraybuffer";
        this.socket.onopen = () => {
            this.wait = 300;
            this.heard = performance.now();
            this.change(true);
        };
        this.socket.onmessage = (event) => {
            this.heard = performance.now();
            const message = typeof event.data === "string" ? JSON.parse(event.data) : decode(event.data);
            this.hear(message);
        };
        this.socket.onclose = () => {
            this.change(false);
            setTimeout(() => this.connect(), this.wait);
            this.wait = Math.min(3000, 1.6 * this.wait);
        };
    }

    get open() {
        return this.socket.readyState === WebSocket.OPEN;
    }

    send(message) {
        if (this.open) {
            this.socket.send(JSON.stringify(message));
        }
        return this.open;
    }

    // A request that shapes will answer with the same number.
    request(message) {
        message.serial = ++this.serial;
        if (this.live && (message.type === "set" || message.type === "pull")) {
            message.live = true; // in time: see motion.js
        }
        return this.send(message) ? message.serial : 0;
    }
}
