// Items of the start page's lists of games.

import { html } from "obscuro/elements.js";
import { sideName } from "obscuro/game.js";

/**
 * A game of the visitor: one that goes on leads to its board, a finished one to the viewer.
 * @param {import("obscuro/api.js").OwnGame} game
 */
export function gameItem(game) {
  const over = game.status === "over";
  const href = over ? `/look/${game.game}` : `/play/${game.game}`;
  const level = game.level === null ? "full strength" : `level ${game.level}`;
  const count = Math.ceil(game.plies / 2);
  const moves = count === 1 ? "1 move" : `${count} moves`;
  return html(
    "li",
    {},
    html("a", { href }, over ? "Look" : "Go on"),
    `${sideName(game.you)} against ${level}`,
    html("span", {}, over ? (game.result ?? "") : "", ` ${moves}`),
    html("span", {}, new Date(game.started).toLocaleString()),
  );
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
    html("a", { href: `/look/${game.game}` }, players),
    html("span", {}, game.result),
  );
}
