// One row beside the board: who plays, what that side has taken, and its clock.

import { ClockFace } from "obscuro/clock_face.js";
import { html } from "obscuro/elements.js";
import { sideName } from "obscuro/game.js";
import { pieceName } from "obscuro/play_state.js";

/** @typedef {import("obscuro/game.js").Side} Side */

const ORDER = "QRBNPqrbnp";

export class PlayerRow {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.name = html("strong", {});
    this.taken = html("span", { class: "taken cg-wrap" });
    const face = html("span", { class: "clock", role: "timer" });
    this.face = face;
    this.clock = new ClockFace(face);
    this.dot = html("span", { class: "dot", "aria-hidden": "true" });
    host.append(html("span", { class: "name" }, this.dot, this.name), this.taken, face);
  }

  /**
   * @param {string} name
   * @param {Side} side
   */
  call(name, side) {
    this.name.textContent = name;
    this.dot.classList.toggle("black", side === "black");
    this.face.setAttribute("aria-label", `Clock of ${sideName(side)}`);
  }

  /**
   * Show the pieces that this side has taken.
   * @param {string} letters
   * @param {Side} side whose pieces they were
   */
  take(letters, side) {
    const sorted = [...letters].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
    const pictures = sorted.map((letter) =>
      html("piece", { class: `${pieceName(letter)} ${side}`, "aria-hidden": "true" }),
    );
    const words = sorted.length ? `has taken: ${sorted.map(pieceName).join(", ")}` : "";
    this.taken.replaceChildren(...pictures, html("span", { class: "spoken" }, words));
  }
}
