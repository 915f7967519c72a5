// The list of moves: each is a button, and the moves that lost most have a mark.

import { moveName } from "obscuro/game.js";
import { lossText } from "obscuro/charts.js";
import { html } from "obscuro/elements.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Move} Move
 */

export class MoveList {
  /**
   * @param {HTMLElement} host scrolls by itself, and is what its children are positioned in
   * @param {(ply: number) => void} onPick is called with the ply after the move
   */
  constructor(host, onPick) {
    this.host = host;
    this.onPick = onPick;
    /** @type {HTMLElement[]} */
    this.buttons = [];
    /** @type {string[]} */
    this.labels = []; // of the buttons
    /** @type {HTMLElement | null} */
    this.row = null; // the last one
    this.result = html("li", { class: "result" });
    this.list = html("ol", {}, this.result);
    host.replaceChildren(this.list);
  }

  /**
   * List the moves of a game. What is listed already stays, unless there is something else to say.
   * @param {Game} game
   */
  update(game) {
    const labels = game.moves.map((move) => lossText(move) || moveName(move));
    if (this.labels.some((label, index) => label !== labels[index])) this.clear();
    const known = this.labels.length;
    this.labels = labels;
    game.moves.slice(known).forEach((move, index) => this.append(move, known + index));
    this.result.textContent = game.result;
  }

  clear() {
    const top = this.host.scrollTop;
    this.list.replaceChildren(this.result);
    this.host.scrollTop = top;
    this.buttons = [];
    this.labels = [];
    this.row = null;
  }

  /**
   * @param {Move} move
   * @param {number} index
   */
  append(move, index) {
    if (!this.row || move.mover === "white") {
      this.row = html("li", {}, html("span", { class: "number" }, `${move.number}.`));
      if (move.mover === "black") this.row.append(html("span", { class: "gap" }, "…"));
      this.result.before(this.row);
    }
    const button = this.button(move, index);
    this.row.append(button);
    this.buttons.push(button);
  }

  /**
   * @param {Move} move
   * @param {number} index
   */
  button(move, index) {
    const loss = lossText(move);
    const label = loss || moveName(move);
    const button = html("button", { type: "button", "aria-label": label }, move.san);
    if (loss) button.append(html("span", { class: "bad", title: loss }, "?"));
    button.addEventListener("click", () => this.onPick(index + 1));
    return button;
  }

  /**
   * Show which move led to a ply, and scroll to it within the list.
   * @param {number} ply
   */
  select(ply) {
    this.buttons.forEach((button, index) => {
      if (index === ply - 1) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    const current = this.buttons[ply - 1];
    const top = current ? current.offsetTop : 0;
    const room = this.host.clientHeight;
    if (top < this.host.scrollTop + 30 || top > this.host.scrollTop + room - 60) {
      this.host.scrollTop = top - room / 2;
    }
  }
}
