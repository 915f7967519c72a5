// The page: one ply is chosen; boards, curves, list and words show it. Keys, clicks and the hash
// choose another.

import { PLANES, countText, moveName, readGame, sideName, squareName } from "obscuro/game.js";
import { BoardView, heatOpacity } from "obscuro/board.js";
import { Curve } from "obscuro/curves.js";
import { chartsOf } from "obscuro/charts.js";
import { detailsOf, ending } from "obscuro/details.js";
import { MoveList } from "obscuro/moves.js";
import { knowledgeText, sideBoard, squareText, trueBoard } from "obscuro/sights.js";
import { byId, html } from "obscuro/elements.js";

/** @typedef {import("obscuro/game.js").Side} Side */

/** @type {Side[]} */
const SIDES = ["white", "black"];
const HASH_DELAY = 120; // ms; some browsers refuse to change the address too often
const LEGEND = [0.01, 0.05, 0.2, 0.5, 1];
/** @type {Record<string, string>} */
const HEADERS = {
  Event: "",
  Site: "",
  Date: "",
  Round: "round ",
  Opening: "opening ",
  MoveTime: "for each move ",
  TimeControl: "clock ",
  WhiteTime: "White's time ",
  BlackTime: "Black's time ",
  WhiteTold: "White was told ",
  BlackTold: "Black was told ",
};
const UNSHOWN = ["Fingerprint"];
const game = readGame(byId("game").textContent ?? "");
const final = game.positions.length - 1;

/** @type {import("obscuro/sights.js").Choice} */
const choice = { plane: 0, arrows: true, flipped: false, chosen: null };
let ply = 0;
let pending = 0;

const boards = {
  white: new BoardView(byId("white"), chooseSquare),
  truth: new BoardView(byId("truth"), chooseSquare),
  black: new BoardView(byId("black"), chooseSquare),
};
const slider = /** @type {HTMLInputElement} */ (byId("ply"));
const pills = ["off", ...PLANES].map((name, index) => {
  const text = name[0].toUpperCase() + name.slice(1);
  const pill = html("button", { type: "button", title: index ? false : "b: the next one" }, text);
  pill.addEventListener("click", () => choosePlane(index ? index - 1 : null));
  return pill;
});

/** Draw what depends on the ply or on what is to be shown. */
function show() {
  for (const side of SIDES) {
    boards[side].draw(sideBoard(game, ply, side, choice));
    caption(side, knowledgeText(game, ply, side));
  }
  boards.truth.draw(trueBoard(game, ply, choice));
  const next = game.moves[ply];
  caption("truth", next ? `${sideName(next.mover)} plays ${moveName(next)}` : ending(game));
  const squareNote = choice.chosen === null ? [] : squareWords(choice.chosen);
  byId("square").replaceChildren(...squareNote);
  pills.forEach((pill, index) => {
    const on = choice.plane === (index ? index - 1 : null);
    pill.setAttribute("aria-pressed", String(on));
  });
  byId("arrows").setAttribute("aria-pressed", String(choice.arrows));
  byId("flip").setAttribute("aria-pressed", String(choice.flipped));
  byId("legend").hidden = choice.plane === null;
}

/**
 * @param {string} figure
 * @param {string} text
 */
function caption(figure, text) {
  const place = byId(figure).querySelector("figcaption span");
  if (place) place.textContent = text;
}

/** @param {number} square */
function squareWords(square) {
  const said = SIDES.map((side) => `${sideName(side)}: ${squareText(game, ply, side, square)}`);
  return [html("strong", {}, squareName(square)), ` ${said.join(" · ")}`];
}

/** @param {number} wanted */
function go(wanted) {
  ply = Math.min(final, Math.max(0, wanted));
  show();
  slider.value = String(ply);
  slider.setAttribute("aria-valuetext", `ply ${ply} of ${final}`);
  byId("details").replaceChildren(...detailsOf(game, ply));
  for (const curve of curves) curve.select(ply);
  list.select(ply);
  for (const name of ["first", "back"]) byId(name).toggleAttribute("disabled", ply === 0);
  for (const name of ["on", "last"]) byId(name).toggleAttribute("disabled", ply === final);
  clearTimeout(pending);
  pending = setTimeout(() => history.replaceState(null, "", `#${ply}`), HASH_DELAY);
}

/** @param {number | null} plane */
function choosePlane(plane) {
  choice.plane = plane;
  show();
}

/** @param {number} square */
function chooseSquare(square) {
  choice.chosen = choice.chosen === square ? null : square;
  show();
}

/** @param {"arrows" | "flipped"} what */
function toggle(what) {
  choice[what] = !choice[what];
  show();
}

/**
 * Go to the next position before a marked move.
 * @param {1 | -1} direction
 */
function goToMark(direction) {
  for (let at = ply + direction; at >= 0 && at < final; at += direction) {
    if (game.moves[at].loss) return go(at);
  }
}

/** The ply in the address; 0 if there is none. */
function plyOfHash() {
  const number = Number(location.hash.slice(1));
  return Number.isInteger(number) ? number : 0;
}

/** @type {Record<string, () => void>} */
const KEYS = {
  ArrowLeft: () => go(ply - 1),
  ArrowRight: () => go(ply + 1),
  Home: () => go(0),
  End: () => go(final),
  a: () => toggle("arrows"),
  f: () => toggle("flipped"),
  b: () => pills[((choice.plane ?? -1) + 2) % pills.length].click(),
  m: () => goToMark(1),
  M: () => goToMark(-1),
};

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target === slider) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function header() {
  document.title = `${game.white} – ${game.black} ${game.result}`;
  byId("players").append(
    html("span", { class: "white" }, game.white),
    " – ",
    html("span", { class: "black" }, game.black),
    ` ${game.result}`,
  );
  const known = game.headers.filter(
    ([name, value]) => value && !/^[?\-.]+$/.test(value) && !UNSHOWN.includes(name),
  );
  const words = known.map(([name, value]) => `${HEADERS[name] ?? `${name}: `}${value}`);
  byId("event").textContent = [game.ending ?? "", ...words].filter(Boolean).join(" · ");
}

function legend() {
  const swatches = LEGEND.map((share) => {
    const swatch = html("i", { "aria-hidden": "true" }, html("b"));
    const color = /** @type {HTMLElement} */ (swatch.firstChild);
    color.style.opacity = String(heatOpacity(share));
    return html("span", {}, swatch, ` ${Math.round(100 * share)} %`);
  });
  byId("legend").append("of the positions: ", ...swatches);
}

header();
legend();
byId("pieces").append(...pills);
slider.max = String(final);
byId("method").append(...method(), keysHelp());
byId("loading").remove();
byId("main").hidden = false;
const curves = chartsOf(game, go).map((chart) => new Curve(byId("curves"), chart));
const list = new MoveList(byId("moves"), game, go);

slider.addEventListener("input", () => go(Number(slider.value)));
byId("first").addEventListener("click", () => go(0));
byId("back").addEventListener("click", () => go(ply - 1));
byId("on").addEventListener("click", () => go(ply + 1));
byId("last").addEventListener("click", () => go(final));
byId("arrows").addEventListener("click", () => toggle("arrows"));
byId("flip").addEventListener("click", () => toggle("flipped"));
addEventListener("keydown", onKey);
addEventListener("hashchange", () => go(plyOfHash()));
go(plyOfHash());

/** How the figures are computed. */
function method() {
  const belief =
    "Belief: the share of the positions that a side held possible in which the piece stands on the " +
    "square. All positions count alike; the side need not think them equally likely. A sample is " +
    `shown where there are more than ${countText(game.max_positions)}.`;
  const rings =
    "Rings: a belief that is a sample; a true position that the search did not expand, or did not " +
    "have.";
  const loss =
    "Loss: the points of 100 that the mover expected when it chose the move, less those that it " +
    "expected at its next turn (if it had none: the result). Both are its own evaluation p in " +
    `pawns, as (1 + tanh(p / ${game.tau})) / 2. The answer, and what the mover then saw, are in it ` +
    `too. Marked are the ${game.most_marks} largest losses of each side from ` +
    `${Math.round(100 * game.least_loss)} points on.`;
  const marks = game.moves.some((move) => move.pawns !== null);
  return (marks ? [belief, loss, rings] : [belief, rings]).map((text) => html("p", {}, text));
}

function keysHelp() {
  const keys = [
    ["← →", "one ply"],
    ["Home End", "start, end"],
    ["m M", "next, previous marked move"],
    ["b", "belief"],
    ["a", "arrows"],
    ["f", "flip"],
  ];
  const parts = keys.flatMap(([key, what]) => [html("kbd", {}, key), ` ${what}  `]);
  return html("p", { class: "keys" }, ...parts);
}
