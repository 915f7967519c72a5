// One ply of a game is chosen. Boards, curves, list and words show it, in the elements of page.html.

import { PLANES, moveName, sideName, squareName } from "obscuro/game.js";
import { BoardView } from "obscuro/board.js";
import { CurveSet } from "obscuro/curve_set.js";
import { detailsOf, ending } from "obscuro/details.js";
import { MoveList } from "obscuro/moves.js";
import { knowledgeText, lacksWeights, sideBoard, squareText, trueBoard } from "obscuro/sights.js";
import { byId, html } from "obscuro/elements.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Side} Side
 * @typedef {import("obscuro/game.js").Advice} Advice
 */

/** @type {Side[]} */
const SIDES = ["white", "black"];
/** Which boards are shown: all of them, or one that is large. */
const VIEWS = [
  ["all", "Three boards"],
  ["white", "As White"],
  ["truth", "As it was"],
  ["black", "As Black"],
];
/** How much the positions of a belief count. */
const WEIGHTINGS = [
  ["All alike", "All possible positions count alike"],
  ["By plausible play", "A position counts by how plausibly the opponent played to reach it"],
];
const NARROW = "(max-width: 640px)"; // as in the style sheet

export class Viewer {
  /**
   * @param {Game} game
   * @param {(ply: number) => void} onPly is called whenever a ply is chosen
   */
  constructor(game, onPly) {
    this.game = game;
    this.onPly = onPly;
    this.onShow = () => {}; // called whenever the boards are drawn
    this.ply = 0;
    /** @type {Map<number, Advice>} */
    this.asked = new Map(); // by ply, what the engine was asked in this page
    /** @type {import("obscuro/sights.js").Choice} */
    this.choice = {
      plane: 0,
      weighted: false,
      arrows: true,
      advised: true,
      flipped: false,
      chosen: null,
    };
    this.view = matchMedia(NARROW).matches ? "white" : "all";
    /** @param {number} square */
    const choose = (square) => this.chooseSquare(square);
    this.boards = {
      white: new BoardView(byId("white"), choose),
      truth: new BoardView(byId("truth"), choose),
      black: new BoardView(byId("black"), choose),
    };
    this.slider = /** @type {HTMLInputElement} */ (byId("ply"));
    /** @param {number} ply */
    const go = (ply) => this.go(ply);
    this.curves = new CurveSet(byId("curves"), go);
    this.list = new MoveList(byId("moves"), go);
    this.pills = ["off", ...PLANES].map((name, index) => {
      const text = name[0].toUpperCase() + name.slice(1);
      return pill(text, () => this.choosePlane(index ? index - 1 : null));
    });
    byId("pieces").append(...this.pills);
    this.weightings = WEIGHTINGS.map(([name, title], index) => {
      const button = pill(name, () => this.weigh(index === 1));
      button.title = title;
      return button;
    });
    byId("weights").append(...this.weightings);
    this.views = VIEWS.map(([view, text]) => pill(text, () => this.chooseView(view)));
    byId("views").append(...this.views);
    this.listen();
    this.fill();
  }

  /** The last ply. */
  get last() {
    return this.game.positions.length - 1;
  }

  listen() {
    /** @type {[string, () => void][]} */
    const buttons = [
      ["first", () => this.go(0)],
      ["back", () => this.go(this.ply - 1)],
      ["on", () => this.go(this.ply + 1)],
      ["last", () => this.go(this.last)],
      ["arrows", () => this.toggle("arrows")],
      ["advised", () => this.toggle("advised")],
      ["flip", () => this.toggle("flipped")],
    ];
    for (const [id, act] of buttons) byId(id).addEventListener("click", act);
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
  }

  /**
   * Show a game that has changed. Who looks at its last ply goes on to the new one.
   * @param {Game} game
   * @param {number} lastBefore the last ply before the change
   */
  update(game, lastBefore) {
    const follows = this.ply >= lastBefore;
    this.game = game;
    this.fill();
    this.go(follows ? this.last : this.ply);
  }

  /** Write all that depends on the whole game. */
  fill() {
    this.slider.max = String(this.last);
    this.curves.update(this.game);
    this.list.update(this.game);
  }

  /**
   * Choose a ply; the nearest one there is.
   * @param {number} wanted
   */
  go(wanted) {
    this.ply = Math.min(this.last, Math.max(0, wanted));
    const { ply, last } = this;
    this.show();
    this.tell();
    this.slider.value = String(ply);
    this.slider.setAttribute("aria-valuetext", `ply ${ply} of ${last}`);
    this.curves.select(ply);
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

  /** @param {boolean} weighted whether the weights of a belief count, where it has any */
  weigh(weighted) {
    this.choice.weighted = weighted;
    this.show();
  }

  /** @param {string} view one of VIEWS */
  chooseView(view) {
    this.view = view;
    this.show();
  }

  nextView() {
    const index = VIEWS.findIndex(([view]) => view === this.view);
    this.chooseView(VIEWS[(index + 1) % VIEWS.length][0]);
  }

  /** @param {number} square the one that is chosen already: none */
  chooseSquare(square) {
    this.choice.chosen = this.choice.chosen === square ? null : square;
    this.show();
  }

  /** @param {"arrows" | "advised" | "flipped"} what */
  toggle(what) {
    this.choice[what] = !this.choice[what];
    this.show();
    if (what === "flipped") this.tell();
  }

  /**
   * Show what the engine answered.
   * @param {number} ply
   * @param {Advice} advice
   */
  advise(ply, advice) {
    this.asked.set(ply, advice);
    this.choice.arrows = true;
    this.choice.advised = true;
    this.show();
    if (ply === this.ply) this.tell();
  }

  /** Say in words what is to say of this position. Screen readers read it. */
  tell() {
    const { game, ply, choice, advice } = this;
    byId("details").replaceChildren(...detailsOf(game, ply, advice, choice.flipped));
  }

  /** What an engine would play in this position, if anybody asked. */
  get advice() {
    return this.asked.get(this.ply) ?? this.game.moves[this.ply]?.advice ?? null;
  }

  /** Draw what depends on the ply and on the choices. */
  show() {
    const { game, ply, choice, advice } = this;
    for (const side of SIDES) {
      if (!this.hides(side)) {
        this.boards[side].draw(sideBoard(game, ply, side, choice, advice));
      }
      caption(side, knowledgeText(game, ply, side));
    }
    if (!this.hides("truth")) this.boards.truth.draw(trueBoard(game, ply, choice));
    const next = game.moves[ply];
    caption("truth", next ? `${sideName(next.mover)} plays ${moveName(next)}` : ending(game));
    byId("square").replaceChildren(...this.squareWords());
    this.showChoices();
    this.onShow();
  }

  /** @param {string} board */
  hides(board) {
    return this.view !== "all" && this.view !== board;
  }

  /** Draw the buttons as they are pressed. */
  showChoices() {
    const { choice, advice } = this;
    this.pills.forEach((button, index) => {
      press(button, choice.plane === (index ? index - 1 : null));
    });
    this.weightings.forEach((button, index) => {
      press(button, choice.weighted === (index === 1));
    });
    this.views.forEach((button, index) => press(button, VIEWS[index][0] === this.view));
    byId("boards").dataset.view = this.view;
    press(byId("arrows"), choice.arrows);
    press(byId("advised"), choice.advised);
    byId("advised").hidden = !(advice && this.game.moves[this.ply]?.policy.length);
    press(byId("flip"), choice.flipped);
    byId("legend").hidden = choice.plane === null;
    const lacking = SIDES.filter(
      (side) => choice.weighted && !this.hides(side) && lacksWeights(this.game, this.ply, side),
    ).map(sideName);
    byId("unweighted").textContent = lacking.length
      ? `no weights for ${lacking.join(" and ")}: all alike`
      : "";
  }

  /**
   * What both sides believed of the chosen square.
   * @returns {(Node | string)[]}
   */
  squareWords() {
    const { game, ply, choice } = this;
    const square = choice.chosen;
    if (square === null) return [];
    const said = SIDES.map(
      (side) => `${sideName(side)}: ${squareText(game, ply, side, choice, square)}`,
    );
    return [html("strong", {}, squareName(square)), ` ${said.join(" · ")}`];
  }
}

/**
 * @param {string} text
 * @param {() => void} onClick
 */
function pill(text, onClick) {
  const button = html("button", { type: "button" }, text);
  button.addEventListener("click", onClick);
  return button;
}

/**
 * @param {HTMLElement} button
 * @param {boolean} on
 */
function press(button, on) {
  button.setAttribute("aria-pressed", String(on));
}

/**
 * @param {string} figure
 * @param {string} text
 */
function caption(figure, text) {
  const place = byId(figure).querySelector("figcaption span");
  if (place) place.textContent = text;
}
