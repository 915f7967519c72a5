// What each of the three boards shows at a ply, and how to say it in words.

import * as doc from "obscuro/game.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Side} Side
 * @typedef {import("obscuro/game.js").Belief} Belief
 * @typedef {import("obscuro/game.js").HeatMap} HeatMap
 * @typedef {import("obscuro/board.js").Heat} Heat
 * @typedef {import("obscuro/board.js").Arrow} Arrow
 * @typedef {import("obscuro/board.js").BoardState} BoardState
 * @typedef {import("obscuro/game.js").Advice} Advice
 * @typedef {{plane: number | null, weighted: boolean, arrows: boolean, advised: boolean,
 *   flipped: boolean, chosen: number | null}} Choice
 *   plane: index in PLANES of the enemy piece whose belief is shown; null: no belief. weighted: the
 *   positions of a belief count by its weights, if it has any. advised: the arrows are those of the
 *   advice, if there is any, and not the mover's own.
 */

const LETTERS = ["", "p", "n", "b", "r", "q", "k"]; // by plane
const LEAST_ARROW = 0.01;
const MOST_ARROWS = 8;
const MOST_PLACES = 4;
const KING = 6;

/**
 * The board as a side saw it.
 * @param {Game} game
 * @param {number} ply
 * @param {Side} side
 * @param {Choice} choice
 * @param {Advice | null} advice for this position
 * @returns {BoardState}
 */
export function sideBoard(game, ply, side, choice, advice) {
  const { seen, belief } = game.positions[ply][side];
  const squares = doc.squaresOf(seen);
  const known = belief && heatMap(belief, choice.weighted);
  const { plane } = choice;
  const heat = squares.map((symbol, square) =>
    symbol === doc.FOG && known && plane !== null ? heatAt(known, plane, square, side) : null,
  );
  const moved = game.moves[ply - 1];
  const last = lastSquares(game, ply).filter(
    (square) => moved.mover === side || squares[square] !== doc.FOG,
  );
  const mayShow = choice.arrows && game.positions[ply].turn === side;
  const arrows = mayShow ? arrowsAt(game, ply, choice.advised ? advice : null) : [];
  const label = `As ${doc.sideName(side)} saw it. ${inWords(squares, side, known)}`;
  const { chosen, flipped } = choice;
  return { squares, last, arrows, heat, chosen, flipped, label };
}

/**
 * The whole board, which nobody saw.
 * @param {Game} game
 * @param {number} ply
 * @param {Choice} choice
 * @returns {BoardState}
 */
export function trueBoard(game, ply, choice) {
  const squares = doc.squaresOf(game.positions[ply].placement);
  const next = game.moves[ply];
  const played = { uci: next?.uci, share: 0.3, played: true, labelled: false };
  const label = `As it was. White: ${pieces(squares, "white")}. Black: ${pieces(squares, "black")}.`;
  return {
    squares,
    last: lastSquares(game, ply),
    arrows: choice.arrows && next ? [played] : [],
    heat: new Array(64).fill(null),
    chosen: choice.chosen,
    flipped: choice.flipped,
    label,
  };
}

/**
 * @param {Belief} belief
 * @param {boolean} weighted whether its weights count, if it has any
 * @returns {HeatMap}
 */
function heatMap(belief, weighted) {
  return (weighted && belief.weighted) || belief.even;
}

/**
 * What a side knew, in a few words above its board.
 * @param {Game} game
 * @param {number} ply
 * @param {Side} side
 */
export function knowledgeText(game, ply, side) {
  const { seen, belief } = game.positions[ply][side];
  const fogged = doc.squaresOf(seen).filter((symbol) => symbol === doc.FOG).length;
  const sees = `${64 - fogged} squares`;
  if (!belief) return sees;
  const count = `${doc.countText(belief.size)} position${belief.size === 1 ? "" : "s"}`;
  if (belief.exact) return `${sees}, ${count}`;
  return `${sees}, ${count}: ${belief.rebuilt ? "drawn anew" : "a sample"}`;
}

/**
 * Whether the positions of a side count alike for want of weights.
 * @param {Game} game
 * @param {number} ply
 * @param {Side} side
 */
export function lacksWeights(game, ply, side) {
  const { belief } = game.positions[ply][side];
  return belief !== null && belief.size > 1 && !belief.weighted;
}

/**
 * How likely the true position was to a side, in both views of its belief; null: not known.
 * @param {Game} game
 * @param {number} ply
 * @param {Side} side
 */
export function truthText(game, ply, side) {
  const { belief } = game.positions[ply][side];
  if (!belief || belief.even.truth === null) return null;
  if (belief.even.truth === 0) return "not in its belief";
  const even = doc.oddsText(belief.even.truth);
  const weighted = belief.weighted?.truth;
  return weighted ? `${even} alike, ${doc.oddsText(weighted)} by plausible play` : even;
}

/**
 * What a side believed of one square.
 * @param {Game} game
 * @param {number} ply
 * @param {Side} side
 * @param {Choice} choice
 * @param {number} square
 */
export function squareText(game, ply, side, choice, square) {
  const { seen, belief } = game.positions[ply][side];
  if (doc.squaresOf(seen)[square] !== doc.FOG) return "in sight";
  return belief ? placesText(heatMap(belief, choice.weighted), square) : "in the fog";
}

/**
 * @param {HeatMap} known
 * @param {number} square
 */
function placesText(known, square) {
  const found = doc.PLANES.map((name, plane) => ({
    name,
    level: doc.shareAt(known, plane, square),
  }));
  const empty = { name: "empty", level: doc.CERTAIN - found[0].level };
  return [...found.slice(1), empty]
    .filter(({ level }) => level)
    .sort((a, b) => b.level - a.level)
    .map(({ name, level }) => `${name} ${doc.levelText(level)}`)
    .join(", ");
}

/**
 * @param {HeatMap} known
 * @param {number} plane
 * @param {number} square
 * @param {Side} side whose belief it is
 * @returns {Heat}
 */
function heatAt(known, plane, square, side) {
  const level = doc.shareAt(known, plane, square);
  let ghost = plane;
  if (plane === 0) {
    ghost = 1;
    for (let other = 2; other < doc.PLANES.length; other++) {
      if (doc.shareAt(known, other, square) > doc.shareAt(known, ghost, square)) ghost = other;
    }
  }
  const letter = side === "white" ? LETTERS[ghost] : LETTERS[ghost].toUpperCase();
  const text = `${doc.squareName(square)}: ${placesText(known, square)}`;
  return { level, ghost: letter, ghostLevel: doc.shareAt(known, ghost, square), text };
}

/**
 * A policy, the move that was played always among it. The mover's own is shown where it has one and
 * no advice is wanted.
 * @param {Game} game
 * @param {number} ply
 * @param {Advice | null} advice
 * @returns {Arrow[]}
 */
function arrowsAt(game, ply, advice) {
  const move = game.moves[ply];
  const own = move?.policy ?? [];
  const options = advice ? advised(advice) : own;
  const shown = options
    .filter(
      ({ share, uci }, index) =>
        (share >= LEAST_ARROW && index < MOST_ARROWS) || uci === move?.uci,
    )
    .map(({ uci, share }) => ({ uci, share, played: uci === move?.uci, labelled: true }));
  if (advice && move && !shown.some((arrow) => arrow.played)) {
    shown.push({ uci: move.uci, share: 0, played: true, labelled: false });
  }
  return shown;
}

/**
 * The policy of an advice. A move without a search has none, and is certain.
 * @param {Advice} advice
 */
function advised(advice) {
  return advice.policy.length ? advice.policy : [{ uci: advice.uci, share: 1 }];
}

/**
 * @param {Game} game
 * @param {number} ply
 */
function lastSquares(game, ply) {
  const move = game.moves[ply - 1];
  return move ? [move.uci.slice(0, 2), move.uci.slice(2, 4)].map(doc.squareOf) : [];
}

/**
 * @param {string[]} squares
 * @param {Side} side whose board it is
 * @param {HeatMap | null} known
 */
function inWords(squares, side, known) {
  const enemy = side === "white" ? "black" : "white";
  const fogged = squares.filter((symbol) => symbol === doc.FOG).length;
  const parts = [
    `Own pieces: ${pieces(squares, side)}`,
    `Enemy pieces in sight: ${pieces(squares, enemy)}`,
    `${fogged} squares in the fog`,
  ];
  if (known) parts.push(`Enemy king: ${likeliest(known, KING)}`);
  return `${parts.join(". ")}.`;
}

/**
 * @param {string[]} squares
 * @param {Side} side
 */
function pieces(squares, side) {
  const found = squares.flatMap((symbol, square) => {
    if (symbol === "" || symbol === doc.FOG) return [];
    const white = symbol !== symbol.toLowerCase();
    return white === (side === "white") ? [`${symbol.toUpperCase()}${doc.squareName(square)}`] : [];
  });
  return found.join(", ") || "none";
}

/**
 * The squares where a piece is most likely.
 * @param {HeatMap} known
 * @param {number} plane
 */
export function likeliest(known, plane) {
  return Array.from({ length: 64 }, (_, square) => square)
    .map((square) => ({ square, level: doc.shareAt(known, plane, square) }))
    .filter(({ level }) => level)
    .sort((a, b) => b.level - a.level)
    .slice(0, MOST_PLACES)
    .map(({ square, level }) => `${doc.squareName(square)} ${doc.levelText(level)}`)
    .join(", ");
}
