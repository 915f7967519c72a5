// The state of a game as the server sends it to a player, and how its parts are read.

import { sideName, squaresOf } from "obscuro/game.js";

/**
 * @typedef {import("obscuro/game.js").Side} Side
 * @typedef {{ply: number, number: number, mover: Side, san: string | null, uci: string | null,
 *   note: string | null}} SheetMove
 *   san: of own moves. uci: if both squares were seen. note: what was seen of the other side's.
 * @typedef {{white: number, black: number, running: Side | null}} Clocks in milliseconds
 * @typedef {{winner: Side | null, ending: string, score: string, placement: string,
 *   rematch: string | null}} Result
 *   score: as in PGN; "*" where the game was aborted
 * @typedef {{type: "state", game: string, version: number, you: Side,
 *   status: "preparing" | "playing" | "over", turn: Side, ply: number, start: string,
 *   seen: string, moves: string[], sheet: SheetMove[], last: string[],
 *   captured: {you: string, enemy: string}, clocks: Clocks | null, movetime: number | null,
 *   level: number | null, takebacks: boolean, can_take_back: boolean, draw_offered: boolean,
 *   note: string | null, engine: "thinking" | "idle" | "starting anew" | "waiting",
 *   result: Result | null}} PlayState
 * @typedef {{type: "move", uci: string, ply: number} | {type: "resign"} | {type: "draw"} |
 *   {type: "takeback"} | {type: "rematch"} | {type: "abort"}} PlayRequest
 */

const PIECE_NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

/** @param {string} symbol as in a FEN, of either case */
export function pieceName(symbol) {
  return PIECE_NAMES[/** @type {keyof typeof PIECE_NAMES} */ (symbol.toLowerCase())];
}

/** @param {string} symbol as in a FEN @returns {Side} */
export function pieceSide(symbol) {
  return symbol === symbol.toLowerCase() ? "black" : "white";
}

/** @param {Side} side @returns {Side} */
export function otherSide(side) {
  return side === "white" ? "black" : "white";
}

/**
 * What the player may see of the board, a1 first: all of it once the game is over.
 * @param {PlayState} state
 */
export function shownSquares(state) {
  return squaresOf(state.result ? state.result.placement : state.seen);
}

/**
 * Whether the player may move: that is so while the engine still gets ready, too.
 * @param {PlayState} state
 */
export function isYourTurn(state) {
  return state.status !== "over" && state.turn === state.you;
}

/**
 * Whether the game can still be left without a result: until both sides have moved.
 * @param {PlayState} state
 */
export function canAbort(state) {
  return state.sheet.length < 2;
}

/**
 * The squares of the last move; where nothing was seen of it, those of the player's own before it.
 * @param {PlayState} state
 */
export function lastSquares(state) {
  if (state.last.length) return state.last;
  const own = state.sheet.findLast((move) => move.mover === state.you)?.uci;
  return own ? [own.slice(0, 2), own.slice(2, 4)] : [];
}

/** @param {PlayState} state */
export function resultText(state) {
  if (!state.result) return "";
  const { winner, score } = state.result;
  const ending = state.result.ending.replace(/^(white|black)/, (side) =>
    sideName(/** @type {Side} */ (side)),
  );
  if (score === "*") return `No result: ${ending}`;
  if (winner === null) return `Draw: ${ending}`;
  const won = winner === state.you;
  return `${won ? "You won" : "You lost"}: ${ending}`;
}

/**
 * What the first line above the sheet says: who is to move, or how the game ended.
 * @param {PlayState} state
 */
export function turnText(state) {
  if (state.status === "over") return `${resultText(state)}.`;
  if (isYourTurn(state)) return "Your move.";
  if (state.engine === "waiting") return "The server is full. Your game waits for an engine …";
  if (state.status === "preparing") return "The engine gets ready …";
  if (state.engine === "starting anew") return "The engine starts anew …";
  return `${sideName(state.turn)} thinks …`;
}
