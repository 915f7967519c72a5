// The options of the start page's lists, and what a chosen one means for the server.

import { html } from "obscuro/elements.js";

/** @typedef {import("obscuro/api.js").Settings} Settings */

/** The value of the option whose minutes and seconds the player types. */
export const OTHER_CLOCK = "other";

/**
 * @param {string} value
 * @param {string} text
 * @param {boolean} selected
 */
function option(value, text, selected = false) {
  return html("option", { value, selected }, text);
}

/** @param {Settings} settings weakest first; one that a newcomer can beat is chosen */
export function levelOptions(settings) {
  const first = settings.levels[Math.floor(settings.levels.length / 4)];
  const levels = settings.levels.map((level) => {
    const elo = level.elo === null ? "" : ` · Elo ${level.elo}`;
    const name = `${level.number} · ${level.name}${elo}`;
    return option(String(level.number), name, level === first);
  });
  const full = settings.full.slice(0, 1).toUpperCase() + settings.full.slice(1);
  return [...levels, option("", full, settings.levels.length === 0)];
}

/** @param {Settings} settings */
export function timeOptions(settings) {
  const calm = settings.moves.map((move, index) =>
    option(JSON.stringify({ move }), `No clock · engine ${move} s a move`, index === 0),
  );
  const clocks = settings.times.map(({ base, increment }) =>
    option(JSON.stringify({ base, increment }), `${base / 60} min + ${increment} s a move`),
  );
  return [...calm, ...clocks, option(OTHER_CLOCK, "Another clock …")];
}

/** @param {Settings} settings */
export function moveOptions(settings) {
  return settings.moves.map((seconds, index) =>
    option(String(seconds), `${seconds} s a move`, index === 0),
  );
}
