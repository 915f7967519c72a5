// What is to say of one position in words: the move to come, what its mover thought, what it lost.

import { clockText, countText, moveName, pawnsText, pointsLost } from "obscuro/game.js";
import { shareText, sideName } from "obscuro/game.js";
import { coverageText } from "obscuro/charts.js";
import { html } from "obscuro/elements.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Move} Move
 */

const MOST_OPTIONS = 6;

/**
 * @param {Game} game
 * @param {number} ply
 * @returns {Node[]}
 */
export function detailsOf(game, ply) {
  const before = game.moves[ply - 1];
  const next = game.moves[ply];
  const where = before ? `After ${moveName(before)}` : "At the start";
  const turn = `${sideName(game.positions[ply].turn)} to move`;
  const parts = [html("h2", {}, next ? `${where}, ${turn}` : `${where}: ${ending(game)}`)];
  if (before?.loss) parts.push(lossLine(before));
  if (before?.text) parts.push(html("p", { class: "comment" }, before.text));
  if (next) {
    parts.push(html("p", {}, sideName(next.mover), " plays ", html("strong", {}, moveName(next))));
    if (next.loss) parts.push(lossLine(next));
    if (next.policy.length) parts.push(policy(next));
    const facts = factsOf(next);
    if (facts.length) {
      const rows = facts.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]);
      parts.push(html("dl", {}, ...rows));
    }
  }
  return parts;
}

/** @param {Game} game */
export function ending(game) {
  return game.ending ? `${game.result}, ${game.ending}` : game.result;
}

/** @param {Move} move */
function lossLine(move) {
  if (!move.loss) throw new Error("the move lost nothing");
  const { before, after } = move.loss;
  const text =
    `${moveName(move)} lost ${pointsLost(move.loss)} points: ${sideName(move.mover)} expected ` +
    `${Math.round(100 * before)} of 100 before it, and ${Math.round(100 * after)} at its next turn.`;
  return html("p", { class: "loss" }, text);
}

/** @param {Move} move */
function policy(move) {
  const shown = move.policy.slice(0, MOST_OPTIONS);
  const rest = move.policy.length - shown.length;
  const items = shown.map((option) =>
    html(
      "li",
      { class: option.uci === move.uci && "played" },
      html("span", { class: "san" }, option.san),
      html("meter", { min: 0, max: 1, value: option.share, "aria-hidden": "true" }),
      html("span", { class: "amount" }, shareText(option.share)),
    ),
  );
  if (rest) items.push(html("li", { class: "rest" }, `and ${rest} more`));
  return html(
    "ul",
    { class: "policy", "aria-label": `${sideName(move.mover)}'s policy` },
    ...items,
  );
}

/**
 * @param {Move} move
 * @returns {[string, string][]}
 */
function factsOf(move) {
  /** @type {[string, string][]} */
  const facts = [];
  if (move.pawns !== null) facts.push(["evaluation", `${pawnsText(move.pawns)} for White`]);
  if (move.belief !== null) {
    const sample = move.belief_exact === false ? ", a sample" : "";
    facts.push(["|P| it reported", `${countText(move.belief)}${sample}`]);
  }
  if (move.coverage) facts.push(["true position", coverageText(move.coverage)]);
  if (move.seconds !== null) facts.push(["time", `${move.seconds.toFixed(2)} s`]);
  if (move.clock !== null) facts.push(["clock after it", clockText(move.clock)]);
  if (move.nodes !== null) facts.push(["nodes", countText(move.nodes)]);
  if (move.depth !== null) facts.push(["depth", String(move.depth)]);
  return facts;
}
