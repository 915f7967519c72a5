// The list of moves: each is a button, and the moves that lost most have a mark.

import { moveName } from "obscuro/game.js";
import { lossText } from "obscuro/charts.js";
import { html } from "obscuro/elements.js";

/** @typedef {import("obscuro/game.js").Game} Game */

export class MoveList {
  /**
   * @param {HTMLElement} host scrolls by itself, and is what its children are positioned in
   * @param {Game} game
   * @param {(ply: number) => void} onPick is called with the ply after the move
   */
  constructor(host, game, onPick) {
    this.host = host;
    /** @type {HTMLElement[]} */
    this.buttons = [];
    const list = html("ol");
    /** @type {HTMLElement | null} */
    let row = null;
    game.moves.forEach((move, index) => {
      if (!row || move.mover === "white") {
        row = html("li", {}, html("span", { class: "number" }, `${move.number}.`));
        if (move.mover === "black") row.append(html("span", { class: "gap" }, "…"));
        list.append(row);
      }
      const loss = lossText(move);
      const label = loss || moveName(move);
      const button = html("button", { type: "button", "aria-label": label }, move.san);
      if (loss) button.append(html("span", { class: "bad", title: loss }, "?"));
      button.addEventListener("click", () => onPick(index + 1));
      this.buttons.push(button);
      row.append(button);
    });
    list.append(html("li", { class: "result" }, game.result));
    host.replaceChildren(list);
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
