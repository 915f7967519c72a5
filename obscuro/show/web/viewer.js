// One ply of a game is chosen. Boards, curves, list and words show it, in the elements of page.html.

import { PLANES, moveName, sideName, squareName } from "obscuro/game.js";
import { BoardView } from "obscuro/board.js";
import { Curve } from "obscuro/curves.js";
import { chartsOf } from "obscuro/charts.js";
import { detailsOf, ending } from "obscuro/details.js";
import { MoveList } from "obscuro/moves.js";
import { knowledgeText, sideBoard, squareText, trueBoard } from "obscuro/sights.js";
import { byId, html } from "obscuro/elements.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Side} Side
 */

/** @type {Side[]} */
const SIDES = ["white", "black"];

export class Viewer {
  /**
   * @param {Game} game
   * @param {(ply: number) => void} onPly is called whenever a ply is chosen
   */
  constructor(game, onPly) {
    this.game = game;
    this.onPly = onPly;
    this.ply = 0;
    this.last = game.positions.length - 1;
    /** @type {import("obscuro/sights.js").Choice} */
    this.choice = { plane: 0, arrows: true, flipped: false, chosen: null };
    /** @param {number} square */
    const choose = (square) => this.chooseSquare(square);
    this.boards = {
      white: new BoardView(byId("white"), choose),
      truth: new BoardView(byId("truth"), choose),
      black: new BoardView(byId("black"), choose),
    };
    this.slider = /** @type {HTMLInputElement} */ (byId("ply"));
    this.slider.max = String(this.last);
    /** @param {number} ply */
    const go = (ply) => this.go(ply);
    this.curves = chartsOf(game, go).map((chart) => new Curve(byId("curves"), chart));
    this.list = new MoveList(byId("moves"), game, go);
    this.pills = ["off", ...PLANES].map((name, index) => this.pill(name, index ? index - 1 : null));
    byId("pieces").append(...this.pills);
    this.listen();
  }

  /**
   * A button that shows the belief of one piece.
   * @param {string} name
   * @param {number | null} plane
   */
  pill(name, plane) {
    const text = name[0].toUpperCase() + name.slice(1);
    const button = html("button", { type: "button" }, text);
    button.addEventListener("click", () => this.choosePlane(plane));
    return button;
  }

  listen() {
    /** @type {[string, () => void][]} */
    const buttons = [
      ["first", () => this.go(0)],
      ["back", () => this.go(this.ply - 1)],
      ["on", () => this.go(this.ply + 1)],
      ["last", () => this.go(this.last)],
      ["arrows", () => this.toggle("arrows")],
      ["flip", () => this.toggle("flipped")],
    ];
    for (const [id, act] of buttons) byId(id).addEventListener("click", act);
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
  }

  /**
   * Choose a ply; the nearest one there is.
   * @param {number} wanted
   */
  go(wanted) {
    this.ply = Math.min(this.last, Math.max(0, wanted));
    const { ply, last } = this;
    this.show();
    this.slider.value = String(ply);
    this.slider.setAttribute("aria-valuetext", `ply ${ply} of ${last}`);
    byId("details").replaceChildren(...detailsOf(this.game, ply));
    for (const curve of this.curves) curve.select(ply);
    this.list.select(ply);
    for (const name of ["first", "back"]) byId(name).toggleAttribute("disabled", ply === 0);
    for (const name of ["on", "last"]) byId(name).toggleAttribute("disabled", ply === last);
    this.onPly(ply);
  }

  /**
   * Go to the next position before a marked move.
   * @param {1 | -1} direction
   */
  goToMark(direction) {
    for (let at = this.ply + direction; at >= 0 && at < this.last; at += direction) {
      if (this.game.moves[at].loss) return this.go(at);
    }
  }

  /** @param {number | null} plane index in PLANES; null: show no belief */
  choosePlane(plane) {
    this.choice.plane = plane;
    this.show();
  }

  nextPlane() {
    const next = (this.choice.plane ?? -1) + 1;
    this.choosePlane(next < PLANES.length ? next : null);
  }

  /** @param {number} square the one that is chosen already: none */
  chooseSquare(square) {
    this.choice.chosen = this.choice.chosen === square ? null : square;
    this.show();
  }

  /** @param {"arrows" | "flipped"} what */
  toggle(what) {
    this.choice[what] = !this.choice[what];
    this.show();
  }

  /** Draw what depends on the ply and on the choices. */
  show() {
    const { game, ply, choice } = this;
    for (const side of SIDES) {
      this.boards[side].draw(sideBoard(game, ply, side, choice));
      caption(side, knowledgeText(game, ply, side));
    }
    this.boards.truth.draw(trueBoard(game, ply, choice));
    const next = game.moves[ply];
    caption("truth", next ? `${sideName(next.mover)} plays ${moveName(next)}` : ending(game));
    byId("square").replaceChildren(...this.squareWords());
    this.pills.forEach((pill, index) => {
      const on = choice.plane === (index ? index - 1 : null);
      pill.setAttribute("aria-pressed", String(on));
    });
    byId("arrows").setAttribute("aria-pressed", String(choice.arrows));
    byId("flip").setAttribute("aria-pressed", String(choice.flipped));
    byId("legend").hidden = choice.plane === null;
  }

  /**
   * What both sides believed of the chosen square.
   * @returns {(Node | string)[]}
   */
  squareWords() {
    const { game, ply } = this;
    const square = this.choice.chosen;
    if (square === null) return [];
    const said = SIDES.map((side) => `${sideName(side)}: ${squareText(game, ply, side, square)}`);
    return [html("strong", {}, squareName(square)), ` ${said.join(" · ")}`];
  }
}

/**
 * @param {string} figure
 * @param {string} text
 */
function caption(figure, text) {
  const place = byId(figure).querySelector("figcaption span");
  if (place) place.textContent = text;
}
