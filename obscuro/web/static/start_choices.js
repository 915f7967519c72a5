// The options of the start page's lists, and what a chosen one means for the server.

import { html } from "obscuro/elements.js";

/** @typedef {import("obscuro/api.js").Settings} Settings */

/**
 * @param {string} value
 * @param {string} text
 * @param {boolean} selected
 */
function option(value, text, selected = false) {
  return html("option", { value, selected }, text);
}

/** @param {Settings} settings strongest last; the middle level is chosen */
export function levelOptions(settings) {
  const middle = settings.levels[Math.floor((settings.levels.length - 1) / 2)];
  const levels = settings.levels.map((level) => {
    const elo = level.elo === null ? "" : ` · Elo ${level.elo}`;
    return option(String(level.number), `${level.name}${elo}`, level === middle);
  });
  return [...levels, option("", settings.full, settings.levels.length === 0)];
}

/** @param {Settings} settings */
export function timeOptions(settings) {
  const calm = settings.moves.map((move, index) =>
    option(JSON.stringify({ move }), `No clock; the engine takes ${move} s a move`, index === 0),
  );
  const clocks = settings.times.map(({ name, base, increment }) =>
    option(JSON.stringify({ base, increment }), `${name} (minutes + seconds a move)`),
  );
  return [...calm, ...clocks];
}

/** @param {Settings} settings */
export function moveOptions(settings) {
  return settings.moves.map((seconds, index) =>
    option(String(seconds), `${seconds} s a move`, index === 0),
  );
}
