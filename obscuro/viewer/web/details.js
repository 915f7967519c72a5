// What is to say of one position in words: the move to come, what its mover thought, what it lost.

import { clockText, moveName, sideName } from "obscuro/game.js";
import { adviceSection, factList, factsOf, lossSentence, policyList } from "obscuro/advice.js";
import { truthText } from "obscuro/sights.js";
import { html } from "obscuro/elements.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Side} Side
 * @typedef {import("obscuro/game.js").Move} Move
 * @typedef {import("obscuro/game.js").Advice} Advice
 */

/**
 * @param {Game} game
 * @param {number} ply
 * @param {Advice | null} advice for this position
 * @param {boolean} flipped how the boards stand
 * @returns {Node[]}
 */
export function detailsOf(game, ply, advice, flipped) {
  const before = game.moves[ply - 1];
  const next = game.moves[ply];
  const { turn } = game.positions[ply];
  const where = before ? `After ${moveName(before)}` : "At the start";
  const what = next ? `, ${sideName(turn)} to move` : `: ${ending(game)}`;
  const parts = [html("h2", {}, `${where}${what}`)];
  if (before?.loss) parts.push(lossLine(before, before.advice));
  if (before?.text) parts.push(html("p", { class: "comment" }, before.text));
  if (next) parts.push(...choiceOf(next, advice));
  parts.push(...truthOf(game, ply));
  if (advice) parts.push(adviceSection(advice, turn, next, flipped));
  return parts;
}

/**
 * How likely the true position was to both sides.
 * @param {Game} game
 * @param {number} ply
 * @returns {HTMLElement[]}
 */
function truthOf(game, ply) {
  /** @type {[string, string][]} */
  const told = [];
  for (const side of /** @type {Side[]} */ (["white", "black"])) {
    const text = truthText(game, ply, side);
    if (text !== null) told.push([`to ${sideName(side)}`, text]);
  }
  return told.length ? [html("h3", {}, "How likely the truth was"), factList(told)] : [];
}

/**
 * The move that comes, and what its mover said of it.
 * @param {Move} next
 * @param {Advice | null} advice
 * @returns {HTMLElement[]}
 */
function choiceOf(next, advice) {
  const parts = [
    html("p", {}, sideName(next.mover), " plays ", html("strong", {}, moveName(next))),
  ];
  if (next.loss) parts.push(lossLine(next, advice));
  if (next.policy.length) parts.push(policyList(next.policy, next.mover, next.uci));
  const facts = factsOf(next);
  if (next.clock !== null) facts.push(["clock after it", clockText(next.clock)]);
  if (facts.length) parts.push(factList(facts));
  return parts;
}

/** @param {Game} game */
export function ending(game) {
  return game.ending ? `${game.result}, ${game.ending}` : game.result;
}

/**
 * @param {Move} move
 * @param {Advice | null} advice
 */
function lossLine(move, advice) {
  return html("p", { class: "loss" }, lossSentence(move, advice));
}
