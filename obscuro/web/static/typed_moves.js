// Finds the legal move that a player typed: `e4`, `Nf3`, `exd5`, `e8=Q`, `O-O` or `e2e4`.

import { squareOf } from "obscuro/game.js";

/**
 * @typedef {{uci: string, fault: null} | {uci: null, fault: string}} TypedMove
 *   fault: one sentence for the player
 */

const SQUARES = /^([a-h][1-8])-?x?([a-h][1-8])=?([qrbnQRBN])?$/;
const NAMED = /^([KQRBN])?([a-h])?([1-8])?x?([a-h][1-8])=?([qrbnQRBN])?$/;
const CASTLE = /^[O0o]-?[O0o](-?[O0o])?$/;
const TRIMMING = /[\s+#!?]|e\.?p\.?$/g;

/**
 * @param {string} text
 * @param {string[]} moves the legal ones, in UCI
 * @param {string[]} squares what stands on each; see `squaresOf`
 * @returns {TypedMove}
 */
export function findTypedMove(text, moves, squares) {
  // A small letter will do for a piece. A small b is a pawn's file first, and then a bishop.
  const typed = text.replace(TRIMMING, "").replace(/^[kqrn]/, (letter) => letter.toUpperCase());
  let found = moves.filter((uci) => fits(typed, uci, squares));
  if (found.length === 0 && typed.startsWith("b")) {
    found = moves.filter((uci) => fits(`B${typed.slice(1)}`, uci, squares));
  }
  if (found.length === 1) return { uci: found[0], fault: null };
  if (found.length === 0) {
    const known = [SQUARES, NAMED, CASTLE].some((form) => form.test(typed));
    const why = known
      ? "is not a move that you can make here"
      : "is not a move; type one like e4, Nf3, exd5, e8=Q, O-O or e2e4";
    return { uci: null, fault: `“${text.trim()}” ${why}.` };
  }
  const which = found.map((uci) => exactName(uci, squares)).join(" or ");
  return { uci: null, fault: `“${text.trim()}” can be more than one move: ${which}.` };
}

/**
 * @param {string} typed
 * @param {string} uci
 * @param {string[]} squares
 */
function fits(typed, uci, squares) {
  const piece = squares[squareOf(uci)].toUpperCase();
  const [from, to, promotion] = [uci.slice(0, 2), uci.slice(2, 4), uci.slice(4)];
  const castle = castleOf(uci, squares);
  const long = CASTLE.exec(typed);
  if (long) return castle !== null && (castle.side === "a") === Boolean(long[1]);
  const plain = SQUARES.exec(typed);
  if (plain) {
    const reaches = plain[2] === to || (castle !== null && plain[2] === castle.rook);
    return plain[1] === from && reaches && isPromotion(plain[3], promotion);
  }
  const named = NAMED.exec(typed);
  if (!named) return false;
  const [, name = "P", file, rank, target, chosen] = named;
  if (name !== piece || target !== to || !isPromotion(chosen, promotion)) return false;
  if (piece === "P" && !file && from[0] !== to[0]) return false; // `d5` is not `exd5`
  return (!file || file === from[0]) && (!rank || rank === from[1]);
}

/**
 * @param {string | undefined} typed undefined fits all: so the player is asked which one
 * @param {string} promotion
 */
function isPromotion(typed, promotion) {
  return typed === undefined || typed.toLowerCase() === promotion;
}

/**
 * The rook of a castling move, or null if the move is another. In Chess960 the king goes to its rook.
 * @param {string} uci
 * @param {string[]} squares
 */
export function castleOf(uci, squares) {
  const piece = squares[squareOf(uci)];
  if (piece.toUpperCase() !== "K") return null;
  if (squares[squareOf(uci.slice(2))] === (piece === "K" ? "R" : "r")) {
    return { side: uci[2] > uci[0] ? "h" : "a", rook: uci.slice(2, 4) };
  }
  if (Math.abs(uci.charCodeAt(0) - uci.charCodeAt(2)) !== 2) return null;
  const side = uci[2] === "g" ? "h" : "a";
  return { side, rook: side + uci[1] };
}

/**
 * @param {string} uci
 * @param {string[]} squares
 */
function exactName(uci, squares) {
  const piece = squares[squareOf(uci)].toUpperCase();
  if (uci.length > 4) return `${uci.slice(2, 4)}=${uci[4].toUpperCase()}`;
  return `${piece === "P" ? "" : piece}${uci.slice(0, 2)}${uci.slice(2)}`;
}
