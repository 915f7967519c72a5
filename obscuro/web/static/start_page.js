// Starts the start page: fills its forms, and keeps what the player chose last time.

import { ROOT, ask } from "obscuro/api.js";
import { byId, html } from "obscuro/elements.js";
import { fileItem, gameItem } from "obscuro/game_list.js";
import { recall, remember } from "obscuro/remembered.js";
import { OTHER_CLOCK, levelOptions, moveOptions, timeOptions } from "obscuro/start_choices.js";

/**
 * @typedef {import("obscuro/api.js").Settings} Settings
 * @typedef {import("obscuro/api.js").OwnGame} OwnGame
 * @typedef {import("obscuro/api.js").FileGame} FileGame
 */

const STORED = "choices";
const KEPT = ["level", "time", "minutes", "seconds", "takebacks", "stalemate"]; // and the colour

/** @param {string} id */
function field(id) {
  return /** @type {HTMLInputElement | HTMLSelectElement} */ (byId(id));
}

/** @param {string} id */
function isTicked(id) {
  return /** @type {HTMLInputElement} */ (byId(id)).checked;
}

function chosenColor() {
  return new FormData(/** @type {HTMLFormElement} */ (byId("new-game"))).get("color");
}

/** @param {unknown} error */
function complain(error) {
  byId("notice").textContent = error instanceof Error ? error.message : String(error);
  byId("notice").scrollIntoView({ block: "nearest" });
}

/**
 * Call a function when a form is sent. While it runs, the form's button does nothing.
 * @param {string} id
 * @param {() => Promise<void>} act
 */
function onSubmit(id, act) {
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(byId(id).querySelector("button"), act);
  });
}

/**
 * @param {HTMLButtonElement | null} button
 * @param {() => Promise<void>} act
 */
async function attempt(button, act) {
  byId("notice").textContent = "";
  if (button) button.disabled = true;
  try {
    await act();
  } catch (error) {
    complain(error);
  } finally {
    if (button) button.disabled = false;
  }
}

/** @param {string} text of an option; "" is the engine's full strength */
function levelOf(text) {
  return text === "" ? null : Number(text);
}

function chosenTime() {
  if (field("time").value !== OTHER_CLOCK) return JSON.parse(field("time").value);
  return { base: 60 * Number(field("minutes").value), increment: Number(field("seconds").value) };
}

function showClock() {
  byId("clock").hidden = field("time").value !== OTHER_CLOCK;
}

async function play() {
  keepChoices();
  const answer = await ask("api/games", {
    color: chosenColor(),
    time: chosenTime(),
    level: levelOf(field("level").value),
    fen: field("fen").value.trim() || null,
    takebacks: isTicked("takebacks"),
    chess960: isTicked("chess960"),
    stalemate: field("stalemate").value,
  });
  location.assign(`${ROOT}play/${answer.game}`);
}

async function watch() {
  const answer = await ask("api/matches", {
    white: levelOf(field("watch-white").value),
    black: levelOf(field("watch-black").value),
    move: Number(field("watch-move").value),
    chess960: isTicked("watch-chess960"),
  });
  location.assign(`${ROOT}look/${answer.game}`);
}

async function openFile() {
  const input = /** @type {HTMLInputElement} */ (byId("file"));
  const file = input.files?.[0];
  if (!file) return;
  const answer = await ask("api/files", file);
  /** @type {FileGame[]} */
  const games = answer.games;
  byId("file-games").replaceChildren(...games.map(fileItem));
  /** @type {string[]} */
  const faults = answer.faults ?? [];
  byId("file-faults").replaceChildren(...faults.map((fault) => html("li", {}, fault)));
  if (games.length === 1 && faults.length === 0) location.assign(`${ROOT}look/${games[0].game}`);
}

function keepChoices() {
  const chosen = Object.fromEntries(KEPT.map((id) => [id, valueOf(id)]));
  remember(STORED, JSON.stringify({ ...chosen, color: chosenColor() }));
}

/** @param {string} id */
function valueOf(id) {
  return field(id).type === "checkbox" ? isTicked(id) : field(id).value;
}

/** @returns {Record<string, any>} empty if there are none, or if they can't be read */
function storedChoices() {
  try {
    const found = JSON.parse(recall(STORED) ?? "{}");
    return found instanceof Object ? found : {};
  } catch {
    return {};
  }
}

function recallChoices() {
  const chosen = storedChoices();
  for (const id of KEPT) {
    if (!(id in chosen)) continue;
    const each = field(id);
    if (each.type === "checkbox") /** @type {HTMLInputElement} */ (each).checked = chosen[id];
    else if (each instanceof HTMLInputElement) each.value = chosen[id];
    else if ([...each.options].some((option) => option.value === chosen[id])) {
      each.value = chosen[id];
    }
  }
  for (const radio of document.getElementsByName("color")) {
    const input = /** @type {HTMLInputElement} */ (radio);
    if (input.value === chosen.color) input.checked = true;
  }
}

/** @param {Settings} settings */
function fill(settings) {
  for (const id of ["level", "watch-white", "watch-black"]) {
    byId(id).append(...levelOptions(settings));
  }
  byId("time").append(...timeOptions(settings));
  byId("watch-move").append(...moveOptions(settings));
  byId("watch").hidden = !settings.limits.matches;
  recallChoices();
  showClock();
  for (const id of ["new-game", "watch"]) byId(id).inert = false; // before, they had no choices
}

/** @param {OwnGame[]} games */
function list(games) {
  byId("own-games").hidden = games.length === 0;
  byId("games").replaceChildren(...games.map(gameItem));
}

byId("time").addEventListener("change", showClock);
onSubmit("new-game", play);
onSubmit("watch", watch);
byId("file").addEventListener("change", () => void attempt(null, openFile));
ask("api/settings").then(fill, complain);
ask("api/games").then((answer) => list(answer.games ?? answer), complain);
