// What stands around a game: its players and headers, the legend, and how figures are computed.

import { countText } from "obscuro/game.js";
import { heatOpacity } from "obscuro/board.js";
import { html } from "obscuro/elements.js";

/** @typedef {import("obscuro/game.js").Game} Game */

const LEGEND = [0.01, 0.05, 0.2, 0.5, 1];
const UNSHOWN = ["Fingerprint"];
/** How headers are named; others have their name and a colon before them. */
const HEADERS = new Map([
  ["Event", ""],
  ["Site", ""],
  ["Date", ""],
  ["Round", "round "],
  ["Opening", "opening "],
  ["MoveTime", "for each move "],
  ["TimeControl", "clock "],
  ["WhiteTime", "White's time "],
  ["BlackTime", "Black's time "],
  ["WhiteTold", "White was told "],
  ["BlackTold", "Black was told "],
]);

/** @param {Game} game */
export function titleOf(game) {
  return `${game.white} – ${game.black} ${game.result}`;
}

/**
 * The ending and the headers that say something, in a line.
 * @param {Game} game
 */
export function eventText(game) {
  const known = game.headers.filter(
    ([name, value]) => value && !/^[?\-.]+$/.test(value) && !UNSHOWN.includes(name),
  );
  const words = known.map(([name, value]) => `${HEADERS.get(name) ?? `${name}: `}${value}`);
  return [game.ending ?? "", ...words].filter(Boolean).join(" · ");
}

/**
 * The colours of some shares.
 * @returns {(Node | string)[]}
 */
export function legend() {
  const swatches = LEGEND.map((share) => {
    const color = html("b");
    color.style.opacity = String(heatOpacity(share));
    const swatch = html("i", { "aria-hidden": "true" }, color);
    return html("span", {}, swatch, ` ${Math.round(100 * share)} %`);
  });
  return ["likely: ", ...swatches];
}

/**
 * How the figures are computed.
 * @param {Game} game
 * @returns {Node[]}
 */
export function method(game) {
  const belief =
    "Belief: the share of the positions that a side held possible in which the piece stands on " +
    "the square. A sample is shown where there are more than " +
    `${countText(game.max_positions)}. All positions count alike, or each by how plausibly the ` +
    "opponent played to reach it: a model fitted to games of engines says how likely each move " +
    "was. A belief that was drawn anew, or that is very large, has no weights: then " +
    "all count alike, and the page says so.";
  const rings =
    "Rings: a belief that is a sample; a true position that the search did not expand, or did " +
    "not have.";
  const loss =
    "Loss: the points of 100 that the mover expected when it chose the move, less those that it " +
    "expected at its next turn (if it had none: the result). Both are its own evaluation p in " +
    `pawns, as (1 + tanh(p / ${game.tau})) / 2. The answer, and what the mover then saw, are in ` +
    `it too. Marked are the ${game.most_marks} largest losses of each side from ` +
    `${Math.round(100 * game.least_loss)} points on.`;
  const evaluated = game.moves.some((move) => move.pawns !== null);
  const texts = evaluated ? [belief, loss, rings] : [belief, rings];
  if (game.analysis) texts.push(analysed(game.analysis));
  return texts.map((text) => html("p", {}, text));
}

/** @param {import("obscuro/game.js").Analysis} analysis */
function analysed({ by, limit }) {
  return (
    `Analysis: by ${by}, ${limit}, with the fog of the side to move. Where it compared the move ` +
    "that was played with the best one, a loss is the difference of the two in the same search. " +
    "Evaluation and coverage of a player that told none are those of the analysis."
  );
}

/** Which keys there are. */
export function keysHelp() {
  const keys = [
    ["← →", "one ply"],
    ["Home End", "start, end"],
    ["m M", "next, previous marked move"],
    ["b", "belief"],
    ["w", "positions alike, or by plausible play"],
    ["a", "arrows"],
    ["f", "flip"],
    ["v", "one board or three"],
  ];
  const parts = keys.flatMap(([key, what]) => [html("kbd", {}, key), ` ${what}  `]);
  return html("p", { class: "keys" }, ...parts);
}
