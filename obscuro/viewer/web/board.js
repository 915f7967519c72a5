// Draws one board: squares, fog, pieces, the heat of a belief, and arrows. It knows no game.

import { FOG, levelText, squareName, squareOf } from "obscuro/game.js";
import { svg } from "obscuro/elements.js";

/**
 * @typedef {{uci: string, share: number, played: boolean, labelled: boolean}} Arrow
 * @typedef {{level: number, ghost: string, ghostLevel: number, text: string}} Heat
 *   level: in 255ths. ghost: the piece to hint at, as in a FEN, or "". text: all that is known.
 * @typedef {{squares: string[], last: number[], arrows: Arrow[], heat: (Heat | null)[],
 *   chosen: number | null, flipped: boolean, label: string}} BoardState
 *   squares: see `squaresOf`. last: squares of the last move to mark. heat: by square; null: none.
 */

const SIZE = 45; // of a square, as python-chess draws pieces
const BOARD = 8 * SIZE;
const EDGE = 13; // left of the board and below it, for the coordinates
const FRAME = 3; // of fog around the colour of a belief
const LEAST_TEXT = 3; // in 255ths: what is rarer has a colour but no number
const LEAST_GHOST = 13; // 5 %
const PIECES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

export class BoardView {
  /**
   * @param {HTMLElement} host
   * @param {(square: number) => void} onSquare is called with the square that was clicked
   */
  constructor(host, onSquare) {
    this.flipped = false;
    const whole = BOARD + EDGE;
    this.root = svg("svg", {
      viewBox: `${-EDGE} 0 ${whole} ${whole}`,
      class: "board",
      role: "img",
    });
    this.root.addEventListener("click", (event) => {
      const box = this.root.getBoundingClientRect();
      const mouse = /** @type {MouseEvent} */ (event);
      const scale = whole / box.width;
      const column = Math.floor((scale * (mouse.clientX - box.left) - EDGE) / SIZE);
      const row = Math.floor((scale * (mouse.clientY - box.top)) / SIZE);
      if (column < 0 || row < 0 || column > 7 || row > 7) return;
      onSquare(this.flipped ? 8 * row + 7 - column : 8 * (7 - row) + column);
    });
    host.append(this.root);
  }

  /** @param {BoardState} state */
  draw(state) {
    this.flipped = state.flipped;
    this.root.setAttribute("aria-label", state.label);
    const squares = svg("g");
    const pieces = svg("g");
    for (let square = 0; square < 64; square++) {
      squares.append(...this.square(state, square));
      if (state.squares[square] !== FOG && state.squares[square] !== "") {
        pieces.append(this.piece(state.squares[square], square, 1));
      }
    }
    this.root.replaceChildren(squares, this.coordinates(), pieces, ...this.arrows(state.arrows));
  }

  /**
   * @param {BoardState} state
   * @param {number} square
   */
  square(state, square) {
    const [x, y] = this.corner(square);
    const box = { x, y, width: SIZE, height: SIZE };
    const fogged = state.squares[square] === FOG;
    const dark = (square + Math.floor(square / 8)) % 2 === 0;
    const kind = `${dark ? "dark" : "light"}${fogged ? " fog" : ""}`;
    const name = squareName(square);
    const drawn = [svg("rect", { ...box, class: `square ${kind}`, "data-square": name })];
    if (fogged) drawn.push(svg("rect", { ...box, fill: "url(#hatch)", class: "over" }));
    if (state.last.includes(square)) drawn.push(svg("rect", { ...box, class: "last over" }));
    const heat = state.heat[square];
    if (heat?.level) drawn.push(this.heat(heat, square), ...this.hint(heat, square));
    if (state.chosen === square) {
      const inner = { x: x + 1.5, y: y + 1.5, width: SIZE - 3, height: SIZE - 3 };
      drawn.push(svg("rect", { ...inner, class: "chosen over" }));
    }
    return drawn;
  }

  /**
   * The colour of a share, with all that is known of the square for who points at it.
   * @param {Heat} heat
   * @param {number} square
   */
  heat(heat, square) {
    const [x, y] = this.corner(square);
    return svg(
      "rect",
      {
        x: x + FRAME,
        y: y + FRAME,
        width: SIZE - 2 * FRAME,
        height: SIZE - 2 * FRAME,
        rx: 7,
        class: "heat",
        "fill-opacity": heatOpacity(heat.level / 255).toFixed(3),
        "data-level": heat.level,
        "data-heat": squareName(square),
      },
      svg("title", {}, heat.text),
    );
  }

  /**
   * The piece that may stand there, and its share in numbers.
   * @param {Heat} heat
   * @param {number} square
   */
  hint(heat, square) {
    const [x, y] = this.corner(square);
    const drawn = [];
    if (heat.ghost && heat.ghostLevel >= LEAST_GHOST) {
      drawn.push(this.piece(heat.ghost, square, 0.2 + (0.65 * heat.ghostLevel) / 255));
    }
    if (heat.level >= LEAST_TEXT) {
      const text = levelText(heat.level).replace(" %", "");
      drawn.push(svg("text", { x: x + SIZE - 3, y: y + SIZE - 4, class: "share" }, text));
    }
    return drawn;
  }

  /**
   * @param {string} symbol
   * @param {number} square
   * @param {number} opacity below 1: a ghost, which may be there
   */
  piece(symbol, square, opacity) {
    const [x, y] = this.corner(square);
    const lower = symbol.toLowerCase();
    const color = symbol === lower ? "black" : "white";
    const name = PIECES[/** @type {keyof typeof PIECES} */ (lower)];
    return svg("use", {
      href: `#${color}-${name}`,
      x,
      y,
      class: opacity < 1 ? "ghost over" : "piece over",
      opacity: opacity < 1 && opacity.toFixed(2),
      "data-piece": opacity < 1 ? false : squareName(square) + symbol,
    });
  }

  coordinates() {
    const drawn = svg("g", { class: "coordinates over" });
    for (let index = 0; index < 8; index++) {
      const shown = this.flipped ? 7 - index : index;
      drawn.append(
        svg("text", { x: SIZE * (index + 0.5), y: BOARD + 10 }, "abcdefgh"[shown]),
        svg("text", { x: -EDGE / 2 - 1, y: SIZE * (index + 0.5) + 4 }, String(8 - shown)),
      );
    }
    return drawn;
  }

  /**
   * The arrows, and their labels above all of them. The move that was played is drawn last.
   * @param {Arrow[]} arrows
   */
  arrows(arrows) {
    const shown = [...arrows].sort(
      (a, b) => Number(a.played) - Number(b.played) || a.share - b.share,
    );
    const bodies = shown.map((arrow) => this.arrow(arrow));
    const labels = shown.filter((arrow) => arrow.labelled).map((arrow) => this.arrowLabel(arrow));
    return [...bodies, ...labels];
  }

  /** @param {Arrow} arrow */
  arrow(arrow) {
    const [from, to] = this.ends(arrow);
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
    const half = 1.5 + 4 * arrow.share;
    const head = Math.min(5 + 2.2 * half, length / 2);
    const neck = { x: to.x - head * along.x, y: to.y - head * along.y };
    /** @param {{x: number, y: number}} point @param {number} aside */
    const beside = (point, aside) =>
      `${(point.x - aside * along.y).toFixed(1)},${(point.y + aside * along.x).toFixed(1)}`;
    const points = [
      beside(from, half),
      beside(neck, half),
      beside(neck, half + 4),
      beside(to, 0),
      beside(neck, -half - 4),
      beside(neck, -half),
      beside(from, -half),
    ];
    return svg("polygon", {
      points: points.join(" "),
      class: `arrow over${arrow.played ? " played" : ""}`,
      "data-arrow": arrow.uci,
    });
  }

  /** @param {Arrow} arrow */
  arrowLabel(arrow) {
    const [from, to] = this.ends(arrow);
    const x = from.x + 0.68 * (to.x - from.x);
    const y = from.y + 0.68 * (to.y - from.y) + 4;
    const text = `${Math.max(1, Math.round(100 * arrow.share))}`;
    return svg("text", { x, y, class: "arrow-label over" }, text);
  }

  /** @param {Arrow} arrow */
  ends(arrow) {
    return [arrow.uci.slice(0, 2), arrow.uci.slice(2, 4)].map((name) => {
      const [x, y] = this.corner(squareOf(name));
      return { x: x + SIZE / 2, y: y + SIZE / 2 };
    });
  }

  /**
   * The upper left corner of a square.
   * @param {number} square
   */
  corner(square) {
    const file = square % 8;
    const rank = Math.floor(square / 8);
    return this.flipped ? [SIZE * (7 - file), SIZE * rank] : [SIZE * file, SIZE * (7 - rank)];
  }
}

/**
 * How strong the colour of a share is. Small shares are lifted, or nobody could see them.
 * @param {number} share in [0, 1]
 */
export function heatOpacity(share) {
  return share === 0 ? 0 : 0.08 + 0.84 * share ** 0.6;
}
