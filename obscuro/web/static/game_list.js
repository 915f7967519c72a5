// Items of the start page's lists of games.

import { ROOT } from "obscuro/api.js";
import { html } from "obscuro/elements.js";
import { sideName } from "obscuro/game.js";

/**
 * @typedef {import("obscuro/api.js").OwnGame} OwnGame
 * @typedef {import("obscuro/api.js").Moment} Moment
 */

/**
 * A game of the visitor: one that goes on leads to its board, another to the viewer.
 * @param {OwnGame} game
 */
export function gameItem(game) {
  const over = game.status === "over";
  const plays = !over && game.you !== null;
  const href = plays ? `${ROOT}play/${game.game}` : `${ROOT}look/${game.game}`;
  const count = Math.ceil(game.plies / 2);
  const moves = count === 1 ? "1 move" : `${count} moves`;
  return html(
    "li",
    {},
    html("a", { href }, plays ? "Go on" : over ? "Look" : "Watch"),
    playersOf(game),
    html("span", {}, over ? (game.result ?? "") : "", ` ${moves}`),
    html("span", {}, new Date(game.started).toLocaleString()),
    ...momentList(game.game, game.moments ?? []),
  );
}

/** @param {OwnGame} game */
function playersOf(game) {
  if (game.white && game.black) return `${game.white} – ${game.black}`;
  if (game.you === null) return "Two engines";
  const level = game.level === null ? "full strength" : `level ${game.level}`;
  return `${sideName(game.you)} against ${level}`;
}

/**
 * A game of a file that was opened.
 * @param {import("obscuro/api.js").FileGame} game
 */
export function fileItem(game) {
  const players = `${game.white} – ${game.black}`;
  return html(
    "li",
    {},
    html("a", { href: `${ROOT}look/${game.game}` }, players),
    html("span", {}, game.result),
    ...momentList(game.game, game.moments),
  );
}

/**
 * The worst moments of a game; each leads to its position.
 * @param {string} game
 * @param {Moment[]} moments
 */
function momentList(game, moments) {
  if (moments.length === 0) return [];
  const items = moments.map(({ ply, text }) =>
    html("li", {}, html("a", { href: `${ROOT}look/${game}#${ply}` }, text)),
  );
  return [html("ul", { class: "moments", "aria-label": "Worst moments" }, ...items)];
}
