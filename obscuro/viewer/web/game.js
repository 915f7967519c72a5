// The document of a game, as `obscuro/viewer/document.py` declares it, and how its parts are read.

/**
 * @typedef {"white" | "black"} Side
 * @typedef {{shares: string, truth: number | null}} HeatMap
 * @typedef {{size: number, exact: boolean, rebuilt: boolean, even: HeatMap,
 *   weighted: HeatMap | null}} Belief
 * @typedef {{seen: string, belief: Belief | null}} SideView
 * @typedef {{placement: string, turn: Side, white: SideView, black: SideView}} Position
 * @typedef {{uci: string, san: string, share: number}} Option
 * @typedef {{belief: boolean | null, infoset: boolean | null, expanded: boolean | null,
 *   weight: number | null}} Coverage
 * @typedef {{before: number, after: number, analysed: boolean}} Loss
 * @typedef {{placement: string, fen: string, true: boolean, share: number, played: number,
 *   better: number}} Reason
 * @typedef {{played: number, played_nodes: number, better: number, better_nodes: number,
 *   uci: string, san: string, because: Reason[]}} Comparison
 * @typedef {{lost: number, unknowable: number, unthought: number, chosen: number, uci: string,
 *   san: string, held: boolean[], text: string[]}} Why
 * @typedef {{by: string, uci: string, san: string, pawns: number | null, policy: Option[],
 *   belief: number | null, belief_exact: boolean | null, coverage: Coverage | null,
 *   seconds: number, nodes: number | null, depth: number | null,
 *   comparison: Comparison | null, why: Why | null}} Advice
 * @typedef {{uci: string, san: string, mover: Side, number: number, pawns: number | null,
 *   policy: Option[], belief: number | null, belief_exact: boolean | null,
 *   coverage: Coverage | null, seconds: number | null,
 *   clock: number | null, nodes: number | null, depth: number | null, text: string,
 *   loss: Loss | null, advice: Advice | null}} Move
 * @typedef {{by: string, limit: string}} Analysis
 * @typedef {{schema: number, white: string, black: string, result: string, ending: string | null,
 *   headers: [string, string][], max_positions: number, tau: number,
 *   least_loss: number, most_marks: number, analysis: Analysis | null,
 *   positions: Position[], moves: Move[]}} Game
 */

export const SCHEMA = 4;

/** What each row of a belief's shares is about. */
export const PLANES = ["any", "pawn", "knight", "bishop", "rook", "queen", "king"];

export const CERTAIN = 255;
export const FOG = "*";

/**
 * Read the document. Throws an Error if it is of another form.
 * @param {string} text
 * @returns {Game}
 */
export function readGame(text) {
  const game = JSON.parse(text);
  if (game.schema !== SCHEMA) {
    throw new Error(`this page reads games of form ${SCHEMA}, not ${game.schema}`);
  }
  return game;
}

/**
 * What stands on each square, a1 first: the letter as in a FEN, "" for empty, FOG where not seen.
 * @param {string} placement of a FEN or of an observation
 * @returns {string[]} 64 of them
 */
export function squaresOf(placement) {
  const squares = new Array(64).fill("");
  placement
    .split(",")[0]
    .split("/")
    .forEach((rank, row) => {
      let file = 0;
      for (const symbol of rank) {
        if (symbol >= "1" && symbol <= "8") {
          file += Number(symbol);
        } else {
          squares[8 * (7 - row) + file++] = symbol;
        }
      }
    });
  return squares;
}

/** @type {WeakMap<HeatMap, Uint8Array>} */
const decoded = new WeakMap();

/**
 * The shares of a heat map: PLANES by 64 squares, in 255ths; see the document.
 * @param {HeatMap} heat
 * @returns {Uint8Array}
 */
export function sharesOf(heat) {
  let shares = decoded.get(heat);
  if (!shares) {
    shares = Uint8Array.from(atob(heat.shares), (byte) => byte.charCodeAt(0));
    decoded.set(heat, shares);
  }
  return shares;
}

/**
 * The share of one enemy piece on one square, in 255ths.
 * @param {HeatMap} heat
 * @param {number} plane index in PLANES
 * @param {number} square
 */
export function shareAt(heat, plane, square) {
  return sharesOf(heat)[64 * plane + square];
}

/** @param {number} level in 255ths */
export function levelText(level) {
  if (level === 0 || level === CERTAIN) return level ? "100 %" : "0 %";
  const percent = Math.round((100 * level) / CERTAIN);
  if (percent < 1) return "<1 %";
  return percent > 99 ? ">99 %" : `${percent} %`;
}

/** @param {number} square */
export function squareName(square) {
  return "abcdefgh"[square % 8] + (Math.floor(square / 8) + 1);
}

/** @param {string} name such as e4 */
export function squareOf(name) {
  return name.charCodeAt(0) - 97 + 8 * (name.charCodeAt(1) - 49);
}

/** @param {Side} side */
export function sideName(side) {
  return side === "white" ? "White" : "Black";
}

/** @param {Move} move */
export function moveName(move) {
  return `${move.number}${move.mover === "white" ? "." : "…"} ${move.san}`;
}

/** @param {number} pawns */
export function pawnsText(pawns) {
  const size = Math.abs(pawns).toFixed(2);
  return Number(size) === 0 ? size : `${pawns < 0 ? "−" : "+"}${size}`;
}

/** @param {number} share in [0, 1] */
export function shareText(share) {
  return share > 0 && share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
}

/**
 * A share that may be very small: in percent, or as one in so many.
 * @param {number} share above 0 and up to 1
 */
export function oddsText(share) {
  return share < 0.01 ? `1 in ${countText(Math.round(1 / share))}` : shareText(share);
}

/** @param {number} count */
export function countText(count) {
  return count.toLocaleString("en");
}

/** @param {number} seconds */
export function clockText(seconds) {
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/**
 * Points of 100 that a move lost.
 * @param {Loss} loss
 */
export function pointsLost(loss) {
  return Math.round(100 * (loss.before - loss.after));
}
