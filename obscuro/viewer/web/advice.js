// What an engine would play in a position, and why another move was worse: words and small boards.

import { countText, moveName, pawnsText, shareText, sideName, squaresOf } from "obscuro/game.js";
import { BoardView } from "obscuro/board.js";
import { coverageText } from "obscuro/charts.js";
import { byId, html } from "obscuro/elements.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Side} Side
 * @typedef {import("obscuro/game.js").Move} Move
 * @typedef {import("obscuro/game.js").Option} Option
 * @typedef {import("obscuro/game.js").Advice} Advice
 * @typedef {import("obscuro/game.js").Comparison} Comparison
 * @typedef {import("obscuro/game.js").Reason} Reason
 */

const MOST_OPTIONS = 6;
const ARROW = 0.3; // how thick the arrows of the two moves are

/**
 * @param {Advice} advice
 * @param {Side} side who was to move
 * @param {Move | undefined} move what was played
 * @param {boolean} flipped how the boards stand
 * @returns {HTMLElement}
 */
export function adviceSection(advice, side, move, flipped) {
  /** @type {Node[]} */
  const parts = [
    html("h3", {}, `What ${advice.by} would play`),
    html("p", {}, "Knowing only what ", sideName(side), " knew: ", html("strong", {}, advice.san)),
  ];
  if (advice.policy.length > 1) parts.push(policyList(advice.policy, side, move?.uci));
  parts.push(factList(factsOf(advice)));
  if (advice.why) parts.push(whyList(advice.why));
  if (advice.comparison && move) parts.push(...comparison(advice, advice.comparison, move, flipped));
  return html("section", { class: "advice", "aria-label": "Advice" }, ...parts);
}

/**
 * @param {Option[]} options
 * @param {Side} side
 * @param {string | undefined} played
 */
export function policyList(options, side, played) {
  const shown = options.slice(0, MOST_OPTIONS);
  const rest = options.length - shown.length;
  const items = shown.map((option) =>
    html(
      "li",
      { class: option.uci === played && "played" },
      html("span", { class: "san" }, option.san),
      html("meter", { min: 0, max: 1, value: option.share, "aria-hidden": "true" }),
      html("span", { class: "amount" }, shareText(option.share)),
    ),
  );
  if (rest) items.push(html("li", { class: "rest" }, `and ${rest} more`));
  return html("ul", { class: "policy", "aria-label": `${sideName(side)}'s policy` }, ...items);
}

/** @param {[string, string][]} facts */
export function factList(facts) {
  return html(
    "dl",
    {},
    ...facts.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]),
  );
}

/**
 * What a report says in figures, whoever made it.
 * @param {Move | Advice} report
 * @returns {[string, string][]}
 */
export function factsOf(report) {
  /** @type {[string, string][]} */
  const facts = [];
  if (report.pawns !== null) facts.push(["evaluation", `${pawnsText(report.pawns)} for White`]);
  if (report.belief !== null) {
    const sample = report.belief_exact === false ? ", a sample" : "";
    facts.push(["|P| it reported", `${countText(report.belief)}${sample}`]);
  }
  if (report.coverage) facts.push(["true position", coverageText(report.coverage)]);
  if (report.seconds !== null) facts.push(["time", `${report.seconds.toFixed(2)} s`]);
  if (report.nodes !== null) facts.push(["nodes", countText(report.nodes)]);
  if (report.depth !== null) facts.push(["depth", String(report.depth)]);
  return facts;
}

/**
 * Why the move was a mistake: the parts of its loss, in sentences.
 * @param {import("obscuro/game.js").Why} why
 */
function whyList(why) {
  const items = why.text.map((sentence) => html("li", {}, sentence));
  return html("ul", { class: "why", "aria-label": "Why it was a mistake" }, ...items);
}

/**
 * The move that was played beside the other one, and the positions that made the difference.
 * @param {Advice} advice
 * @param {Comparison} found
 * @param {Move} move
 * @param {boolean} flipped
 * @returns {Node[]}
 */
function comparison(advice, found, move, flipped) {
  const mover = sideName(move.mover);
  const other = `${pointsText(found.better, found.better_nodes)} with ${found.san}`;
  const played = `${pointsText(found.played, found.played_nodes)} with ${move.san}`;
  const parts = [
    html("p", { class: "comparison" }, `Of 100 points ${mover} expects ${played}, ${other}.`),
  ];
  if (!found.because.length) return parts;
  const boards = found.because.map((reason, index) =>
    reasonButton(reason, found, move, flipped, advice.why?.held[index] === false),
  );
  parts.push(html("p", {}, reasonsTitle(found, move)));
  parts.push(html("div", { class: "reasons" }, ...boards));
  return parts;
}

/**
 * @param {Comparison} found
 * @param {Move} move
 */
function reasonsTitle({ better, played, san }, move) {
  if (Math.round(100 * better) === Math.round(100 * played)) {
    return "The possible positions in which the two differ most:";
  }
  const prefers = better > played ? san : move.san;
  return `What speaks most for ${prefers}, of the positions that were possible:`;
}

/**
 * @param {number} score in [0, 1]
 * @param {number} nodes that the search added
 */
function pointsText(score, nodes) {
  return `${Math.round(100 * score)}${nodes ? "" : " (evaluated, not searched)"}`;
}

/**
 * A small board that a click shows large.
 * @param {Reason} reason
 * @param {Comparison} found
 * @param {Move} move
 * @param {boolean} flipped
 * @param {boolean} missed whether a short look does not find the position
 */
function reasonButton(reason, found, move, flipped, missed) {
  const text = reasonText(reason, found, move) + (missed ? ", not found by a short look" : "");
  const button = html("button", { type: "button", class: "reason", "aria-label": text });
  drawReason(button, reason, found, move, flipped);
  button.append(html("span", {}, text));
  button.addEventListener("click", () => {
    const dialog = /** @type {HTMLDialogElement} */ (byId("large"));
    const close = html("button", { type: "button" }, "Close");
    close.addEventListener("click", () => dialog.close());
    dialog.replaceChildren(html("p", {}, text));
    drawReason(dialog, reason, found, move, flipped);
    dialog.append(close);
    dialog.showModal();
  });
  return button;
}

/**
 * @param {HTMLElement} host
 * @param {Reason} reason
 * @param {Comparison} found
 * @param {Move} move
 * @param {boolean} flipped
 */
function drawReason(host, reason, found, move, flipped) {
  new BoardView(host, () => {}).draw({
    squares: squaresOf(reason.placement),
    last: [],
    arrows: [
      { uci: found.uci, share: ARROW, played: false, labelled: false },
      { uci: move.uci, share: ARROW, played: true, labelled: false },
    ],
    heat: new Array(64).fill(null),
    chosen: null,
    flipped,
    label: reason.placement,
  });
}

/**
 * @param {Reason} reason
 * @param {Comparison} found
 * @param {Move} move
 */
function reasonText(reason, found, move) {
  const values =
    `${found.san} ${Math.round(100 * reason.better)}, ` +
    `${move.san} ${Math.round(100 * reason.played)}`;
  const share = `${shareText(reason.share)} of the positions weighed`;
  return `${values}: ${share}${reason.true ? ", and the true one" : ""}`;
}

/**
 * What a move lost, in a sentence.
 * @param {Move} move
 * @param {Advice | null} advice
 */
export function lossSentence(move, advice) {
  if (!move.loss) throw new Error("the move lost nothing");
  const { before, after, analysed } = move.loss;
  const [more, less] = [before, after].map((score) => Math.round(100 * score));
  const lost = `${moveName(move)} lost ${more - less} points`;
  const mover = sideName(move.mover);
  if (analysed && advice?.comparison) {
    const better = advice.comparison.san;
    return `${lost}: ${mover} could expect ${more} of 100 with ${better}, and ${less} with it.`;
  }
  return `${lost}: ${mover} expected ${more} of 100 before it, and ${less} at its next turn.`;
}
