// Puts a game into the page: its names, the boards and curves, the keys, and the ply in the address.

import { eventText, keysHelp, legend, method, titleOf } from "obscuro/about.js";
import { Viewer } from "obscuro/viewer.js";
import { byId } from "obscuro/elements.js";

/** @typedef {import("obscuro/game.js").Game} Game */

const HASH_DELAY = 120; // ms; some browsers refuse to change the address too often

/**
 * Show a game. The page does it once; `Viewer.update` shows what changes later.
 * @param {Game} game
 * @returns {Viewer}
 */
export function showGame(game) {
  byId("legend").prepend(...legend());
  byId("loading").remove();
  byId("main").hidden = false;
  describe(game);
  let pending = 0;
  const viewer = new Viewer(game, (ply) => {
    clearTimeout(pending);
    pending = setTimeout(() => history.replaceState(null, "", `#${ply}`), HASH_DELAY);
  });
  listenToKeys(viewer);
  addEventListener("hashchange", () => viewer.go(plyOfHash() ?? 0));
  viewer.go(plyOfHash() ?? 0);
  return viewer;
}

/**
 * Write what stands around the boards.
 * @param {Game} game
 */
export function describe(game) {
  document.title = titleOf(game);
  byId("players").textContent = titleOf(game);
  byId("event").textContent = eventText(game);
  byId("method").replaceChildren(...method(game), keysHelp());
}

/** @param {Viewer} viewer */
function listenToKeys(viewer) {
  /** @type {Map<string, () => void>} */
  const steps = new Map([
    ["ArrowLeft", () => viewer.go(viewer.ply - 1)],
    ["ArrowRight", () => viewer.go(viewer.ply + 1)],
    ["Home", () => viewer.go(0)],
    ["End", () => viewer.go(viewer.last)],
  ]);
  /** @type {Map<string, () => void>} */
  const letters = new Map([
    ["a", () => viewer.toggle("arrows")],
    ["f", () => viewer.toggle("flipped")],
    ["b", () => viewer.nextPlane()],
    ["w", () => viewer.weigh(!viewer.choice.weighted)],
    ["v", () => viewer.nextView()],
    ["m", () => viewer.goToMark(1)],
    ["M", () => viewer.goToMark(-1)],
  ]);
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (document.querySelector("dialog[open]")) return; // which Escape closes
    const onSlider = event.target === viewer.slider; // which steps by itself
    const act = letters.get(event.key) ?? (onSlider ? undefined : steps.get(event.key));
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** The ply in the address; null if there is none. */
export function plyOfHash() {
  const text = location.hash.slice(1);
  const number = Number(text);
  return text && Number.isInteger(number) ? number : null;
}
