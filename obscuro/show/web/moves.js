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
  }

  /**
   * List the moves of a game anew. The button that has the focus keeps it.
   * @param {Game} game
   */
  update(game) {
    const focused = this.buttons.findIndex((button) => button === document.activeElement);
    const list = html("ol");
    this.buttons = game.moves.map((move, index) => this.button(move, index));
    /** @type {HTMLElement | null} */
    let row = null;
    game.moves.forEach((move, index) => {
      if (!row || move.mover === "white") {
        row = html("li", {}, html("span", { class: "number" }, `${move.number}.`));
        if (move.mover === "black") row.append(html("span", { class: "gap" }, "…"));
        list.append(row);
      }
      row.append(this.buttons[index]);
    });
    list.append(html("li", { class: "result" }, game.result));
    const top = this.host.scrollTop;
    this.host.replaceChildren(list);
    this.host.scrollTop = top;
    this.buttons[focused]?.focus({ preventScroll: true });
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
