// Numbers people type: read as they stand, or refused in words beside the field.

// The number in a field, or null after saying what is wrong with it. An empty field is null without a word.
export function readNumber(input, { name = "", low = -Infinity, high = Infinity, unit = "", whole = false } = {}) {
    const text = input.value.trim().replace("−", "-");
    const value = Number(text);
    const tail = unit ? ` ${unit}` : "";
    let why = "";
    if (/^[-+]?\d+,\d+$/.test(text)) {
        why = `Write a decimal point: ${text.replace(",", ".")}`;
    } else if (text !== "" && !Number.isFinite(value)) {
        why = `“${text.slice(0, 20)}” is not a number`;
    } else if (text !== "" && whole && value !== Math.round(value)) {
        why = `${text} is not a whole number`;
    } else if (text !== "" && (value < low || value > high)) {
        why = Number.isFinite(low) && Number.isFinite(high) ? `${text} is outside ${tidy(low)} to ${tidy(high)}${tail}` : `${text} must be ${value < low ? `at least ${tidy(low)}` : `at most ${tidy(high)}`}${tail}`;
    }
    complain(input, why && `${name ? `${name}: ` : ""}${why}.`);
    return why || text === "" ? null : value;
}

// Writes a complaint below the field, or takes it away.
export function complain(input, text) {
    const id = `${input.id}-complaint`;
    let p = document.getElementById(id);
    if (!text) {
        p?.remove();
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
        return;
    }
    if (!p) {
        p = document.createElement("p");
        p.id = id;
        p.className = "complaint";
        p.setAttribute("role", "alert");
        const line = input.closest(".three") ?? input.closest(".slider-line") ?? input;
        line.after(p);
    }
    p.textContent = text;
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", id);
}

function tidy(value) {
    return String(Number(value.toPrecision(6))).replace("-", "−");
}
