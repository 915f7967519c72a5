// A grid of 64 cells over the board, for keys and screen readers. The mouse goes through it.

import { html } from "obscuro/elements.js";
import { FOG, squareName, squareOf } from "obscuro/game.js";
import { pieceName, pieceSide } from "obscuro/play_state.js";

/** @typedef {import("obscuro/game.js").Side} Side */

/** @type {Record<string, [number, number]>} columns to the right and rows down */
const STEPS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * What a screen reader says of a square.
 * @param {number} square
 * @param {string} content as `squaresOf` gives it
 */
export function squareLabel(square, content) {
  const name = squareName(square);
  if (content === FOG) return `${name}, fog`;
  if (content === "") return `${name}, empty`;
  return `${name}, ${pieceSide(content)} ${pieceName(content)}`;
}

export class BoardGrid {
  /**
   * @param {HTMLElement} host
   * @param {(name: string) => void} onChoose is called with the square where Enter was pressed
   * @param {() => void} onEscape
   */
  constructor(host, onChoose, onEscape) {
    this.onChoose = onChoose;
    this.onEscape = onEscape;
    this.flipped = false;
    this.current = squareOf("e2");
    this.cells = Array.from({ length: 64 }, (_, square) =>
      html("div", { role: "gridcell", tabindex: -1, "data-square": squareName(square) }),
    );
    this.root = html("div", { role: "grid", class: "cells", "aria-label": "Board" });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.root.addEventListener("focusin", (event) => this.onFocus(event));
    // A screen reader clicks a cell that the mouse can't hit.
    this.root.addEventListener("click", (event) => {
      this.onFocus(event);
      this.onChoose(squareName(this.current));
    });
    host.append(this.root);
    this.layOut();
    this.mark(this.current);
  }

  /**
   * @param {string[]} squares
   * @param {boolean} flipped
   * @param {string | undefined} selected the name of the square whose piece is to move
   * @param {string[]} targets the names of the squares that it can move to
   */
  show(squares, flipped, selected, targets) {
    this.cells.forEach((cell, square) => {
      const name = squareName(square);
      const state = name === selected ? ", chosen" : targets.includes(name) ? ", can go here" : "";
      cell.setAttribute("aria-label", squareLabel(square, squares[square]) + state);
      cell.setAttribute("aria-selected", String(name === selected));
    });
    if (flipped === this.flipped) return;
    this.flipped = flipped;
    this.layOut();
  }

  layOut() {
    const held = this.root.contains(document.activeElement);
    const rows = Array.from({ length: 8 }, (_, row) => {
      const cells = Array.from({ length: 8 }, (_, column) => this.cells[this.at(column, row)]);
      return html("div", { role: "row" }, ...cells);
    });
    this.root.replaceChildren(...rows);
    if (held) this.cells[this.current].focus();
  }

  /**
   * The square in a column from the left and a row from above.
   * @param {number} column
   * @param {number} row
   */
  at(column, row) {
    return this.flipped ? 8 * row + 7 - column : 8 * (7 - row) + column;
  }

  /** @param {Event} event */
  onFocus(event) {
    const square = this.cells.findIndex((cell) => cell === event.target);
    if (square >= 0) this.mark(square);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = STEPS[event.key];
    if (step) this.walk(step);
    else if (event.key === "Enter" || event.key === " ") this.onChoose(squareName(this.current));
    else if (event.key === "Escape") this.onEscape();
    else return;
    event.preventDefault();
  }

  /** @param {[number, number]} step */
  walk([right, down]) {
    const sign = this.flipped ? -1 : 1;
    const file = (this.current % 8) + sign * right;
    const rank = Math.floor(this.current / 8) - sign * down;
    if (file < 0 || file > 7 || rank < 0 || rank > 7) return;
    this.mark(8 * rank + file);
    this.cells[this.current].focus();
  }

  /** @param {number} square the only one that the Tab key reaches */
  mark(square) {
    this.cells[this.current].tabIndex = -1;
    this.current = square;
    this.cells[square].tabIndex = 0;
  }
}
