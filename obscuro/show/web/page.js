// Starts the page: reads the document in it, and lets keys and the address choose a ply.

import { readGame } from "obscuro/game.js";
import { eventText, keysHelp, legend, method, titleOf } from "obscuro/about.js";
import { Viewer } from "obscuro/viewer.js";
import { byId } from "obscuro/elements.js";

const HASH_DELAY = 120; // ms; some browsers refuse to change the address too often

const game = readGame(byId("game").textContent ?? "");
byId("players").textContent = titleOf(game);
byId("event").textContent = eventText(game);
byId("legend").append(...legend());
byId("method").append(...method(game), keysHelp());
byId("loading").remove();
byId("main").hidden = false;

let pending = 0;
const viewer = new Viewer(game, (ply) => {
  clearTimeout(pending);
  pending = setTimeout(() => history.replaceState(null, "", `#${ply}`), HASH_DELAY);
});

/** @type {Map<string, () => void>} */
const STEPS = new Map([
  ["ArrowLeft", () => viewer.go(viewer.ply - 1)],
  ["ArrowRight", () => viewer.go(viewer.ply + 1)],
  ["Home", () => viewer.go(0)],
  ["End", () => viewer.go(viewer.last)],
]);

/** @type {Map<string, () => void>} */
const LETTERS = new Map([
  ["a", () => viewer.toggle("arrows")],
  ["f", () => viewer.toggle("flipped")],
  ["b", () => viewer.nextPlane()],
  ["m", () => viewer.goToMark(1)],
  ["M", () => viewer.goToMark(-1)],
]);

addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const onSlider = event.target === viewer.slider; // which steps by itself
  const act = LETTERS.get(event.key) ?? (onSlider ? undefined : STEPS.get(event.key));
  if (!act) return;
  event.preventDefault();
  act();
});

/** The ply in the address; 0 if there is none. */
function plyOfHash() {
  const number = Number(location.hash.slice(1));
  return Number.isInteger(number) ? number : 0;
}

addEventListener("hashchange", () => viewer.go(plyOfHash()));
viewer.go(plyOfHash());
