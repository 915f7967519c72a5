// Lists the moves: the player's own in full, the other side's as far as they were seen.

import { html } from "obscuro/elements.js";
import { sideName } from "obscuro/game.js";

/** @typedef {import("obscuro/play_state.js").SheetMove} SheetMove */

/**
 * What the sheet prints for a move.
 * @param {SheetMove} move
 */
export function sheetText(move) {
  if (move.san !== null) return move.san;
  if (move.note !== null) return move.note;
  return move.uci ?? "?";
}

export class ScoreSheet {
  /** @param {HTMLElement} host an element that scrolls */
  constructor(host) {
    this.host = host;
    this.shown = "";
  }

  /** @param {SheetMove[]} moves */
  show(moves) {
    const text = JSON.stringify(moves);
    if (text === this.shown) return; // so that a selection of text survives a message
    this.shown = text;
    /** @type {Map<number, SheetMove[]>} */
    const rows = new Map();
    for (const move of moves) rows.set(move.number, [...(rows.get(move.number) ?? []), move]);
    const items = [...rows].map(([number, row]) => this.row(number, row));
    this.host.replaceChildren(
      html(
        "table",
        {},
        html("colgroup", {}, html("col", { class: "numbers" }), html("col"), html("col")),
        html("tbody", {}, ...items),
      ),
    );
    this.host.scrollTop = this.host.scrollHeight;
  }

  /**
   * @param {number} number
   * @param {SheetMove[]} row
   */
  row(number, row) {
    const white = row.find((move) => move.mover === "white");
    const black = row.find((move) => move.mover === "black");
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, `${number}.`),
      white ? this.cell(white) : html("td", { class: "absent" }, "…"),
      black ? this.cell(black) : html("td", {}),
    );
  }

  /** @param {SheetMove} move */
  cell(move) {
    const text = sheetText(move);
    if (text !== "?") return html("td", { class: move.san === null ? "glimpse" : false }, text);
    const label = `${sideName(move.mover)} moved in the fog`;
    return html("td", { class: "unseen", title: label }, html("span", { class: "spoken" }, label));
  }
}
