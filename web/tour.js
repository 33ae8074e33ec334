// A short tour: six things to try, each beside the part of the page it is about.

const $ = (id) => document.getElementById(id);

const steps = [
    ["tab-move", "Move", "Each slider is a command of the robot. Drag one: the shape follows. Below it stand the effort and how far the actuator has gone."],
    ["tab-reach", "Reach", "Drag the ring in the view and the robot finds the commands that bring its marker there, or the nearest point it can reach."],
    ["pull-button", "Pull", "Pull the body with the mouse and read the force in newtons and how far it yields. Let go, and it returns."],
    ["tab-look", "Look inside", "Colour the body by stress, strain or contact, and cut it open: the plane can be dragged in the view. A click on the body probes a point."],
    ["tab-time", "Time", "Record what you do, plot anything over time, open logs and measurements and lay them over each other."],
    ["status", "What is true", "Here stands what is shown: solved, predicted, which mesh. If the server falls silent you read it here, too."],
];

export class Tour {
    constructor() {
        $("tour-next").addEventListener("click", () => this.go(this.at + 1));
        $("tour-end").addEventListener("click", () => this.end());
        $("tour-button").addEventListener("click", () => {
            $("help").close();
            this.go(0);
        });
        document.addEventListener("keydown", (e) => e.key === "Escape" && !$("tour").hidden && this.end());
        addEventListener("resize", () => !$("tour").hidden && this.place());
    }

    go(k) {
        document.querySelector(".toured")?.classList.remove("toured");
        if (k >= steps.length) {
            this.end();
            return;
        }
        this.at = k;
        const [id, title, text] = steps[k];
        if (id.startsWith("tab-")) {
            $(id).click();
        }
        $(id).classList.add("toured");
        $("tour-title").textContent = `${k + 1} of ${steps.length}: ${title}`;
        $("tour-text").textContent = text;
        $("tour-next").textContent = k + 1 < steps.length ? "Next" : "Done";
        $("tour").hidden = false;
        this.place();
        $("tour-next").focus();
    }

    place() {
        const card = $("tour");
        const box = $(steps[this.at][0]).getBoundingClientRect();
        const left = Math.min(Math.max(8, box.left), window.innerWidth - card.offsetWidth - 8);
        const below = box.bottom + 10 + card.offsetHeight < window.innerHeight;
        card.style.left = `${left}px`;
        card.style.top = `${below ? box.bottom + 10 : Math.max(8, box.top - 10 - card.offsetHeight)}px`;
    }

    end() {
        document.querySelector(".toured")?.classList.remove("toured");
        $("tour").hidden = true;
    }
}
