// Words of the field, explained where they stand: on hover, on focus, on touch.

const words = {
    J: "Volume ratio J: how many times larger a small piece of material has become. 1: unchanged. At 0 or below it would be turned inside out.",
    residual: "Residual: the largest force at any node that is not in balance. The solver stops when it is below a millionth of the forces involved.",
    idle: "Idle: the actuator has no command. A cable hangs slack, a chamber is vented (unless the robot file says hold).",
    ratio: "Ratio ×: length, volume or area of the actuator now, over that of the robot as drawn.",
    predicted: "Predicted: not solved, but computed from the last solved shape and its derivative. The solved shape follows when the hand rests.",
    mesh: "The mesh divides the body into elements. A coarse one answers sooner, the fine one counts.",
    iterations: "Iterations: steps of the solver towards balance, in this solve.",
    slack: "Slack: the cable is longer than its path and pulls with no force.",
};

export function word(key, text = key) {
    const element = document.createElement("dfn");
    element.className = "word";
    element.tabIndex = 0;
    element.dataset.word = key;
    element.textContent = text;
    return element;
}

// A text whose known words are explained.
export function explained(text) {
    const pattern = new RegExp(`\\b(${["residual", "iterations?", "mesh"].join("|")})\\b`);
    const at = pattern.exec(text);
    return at ? [text.slice(0, at.index), word(at[1].replace(/^iteration$/, "iterations"), at[1]), ...explained(text.slice(at.index + at[1].length))] : [text];
}

export class Words {
    constructor() {
        this.tip = document.getElementById("word-tip");
        const find = (e) => e.target.closest?.("[data-word]");
        document.addEventListener("mouseover", (e) => this.show(find(e)));
        document.addEventListener("focusin", (e) => this.show(find(e)));
        document.addEventListener("focusout", () => this.show(null));
        document.addEventListener("pointerdown", (e) => this.show(find(e)));
        document.addEventListener("keydown", (e) => e.key === "Escape" && this.show(null));
    }

    show(element) {
        const text = element && words[element.dataset.word];
        this.of?.removeAttribute("aria-describedby");
        this.of = text ? element : null;
        this.tip.hidden = !text;
        if (text) {
            element.setAttribute("aria-describedby", "word-tip");
            this.tip.textContent = text;
            const box = element.getBoundingClientRect();
            const left = Math.min(Math.max(8, box.left), window.innerWidth - this.tip.offsetWidth - 8);
            const below = box.bottom + 6 + this.tip.offsetHeight < window.innerHeight;
            this.tip.style.left = `${left}px`;
            this.tip.style.top = `${below ? box.bottom + 6 : box.top - 6 - this.tip.offsetHeight}px`;
        }
    }
}
