// The page of the opening trees: one node at a time, its boards, and what was played from there.

import { BoardView } from "obscuro/board.js";
import { byId, html } from "obscuro/elements.js";
import { squareOf, squaresOf } from "obscuro/game.js";

/**
 * @typedef {{label: string, results: number[], turn: "white" | "black" | null, seen: string[],
 *   truth: string, truths: number, common: number, last: string, rest: number, games: string[],
 *   below: Branch[]}} Branch see `ShownBranch` of obscuro/viewer/opening_tree.py
 * @typedef {"white" | "black" | "whole"} TreeName
 * @typedef {{title: string, games: number, faults: number, stopped: string, most: number,
 *   white: Branch, black: Branch, whole: Branch}} Trees
 */

const NAMES = /** @type {TreeName[]} */ (["white", "black", "whole"]);
const SIDES = { white: "White", black: "Black" };
const HELP =
  "Keys: ↑ ↓ choose a row, → or Enter goes in, ← goes back, Home to the start; 1 2 3 change the " +
  "tree, f flips.";

/** @param {number[]} results */
const gamesOf = (results) => results.reduce((sum, each) => sum + each, 0);

/** @param {number} count */
const gamesText = (count) => `${count.toLocaleString("en")} game${count === 1 ? "" : "s"}`;

/**
 * The share of points of a side, in hundredths; a dash where no game has a result.
 * @param {number[]} results
 * @param {boolean} white
 */
function scoreText([won, drawn, lost], white) {
  const decided = won + drawn + lost;
  if (!decided) return "–";
  return `${Math.round((100 * ((white ? won : lost) + drawn / 2)) / decided)}\u00a0%`;
}

/** @param {number[]} results */
const resultsText = ([won, drawn, lost, none]) =>
  `White won ${won}, drawn ${drawn}, Black won ${lost}` + (none ? `, no result ${none}` : "");

class Explorer {
  /** @param {Trees} trees */
  constructor(trees) {
    this.trees = trees;
    this.name = /** @type {TreeName} */ ("white");
    /** @type {number[]} */
    this.path = []; // the places of the branches on the way here
    this.chosen = 0;
    this.flipped = false;
    this.readAddress();
    for (const name of NAMES) byId(`tree-${name}`).onclick = () => this.show(name);
    byId("start").onclick = () => this.go([]);
    byId("back").onclick = () => this.back();
    byId("flip").onclick = () => this.flip();
    addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("hashchange", () => {
      this.readAddress();
      this.draw();
    });
    this.draw();
  }

  /** All nodes from the root to this one. */
  line() {
    const line = [this.trees[this.name]];
    for (const place of this.path) line.push(line[line.length - 1].below[place]);
    return line;
  }

  /** The address has the tree and the way, such as `#black/0/2`; what does not exist is left. */
  readAddress() {
    const [name, ...places] = location.hash.slice(1).split("/");
    if (!NAMES.includes(/** @type {TreeName} */ (name))) return;
    this.name = /** @type {TreeName} */ (name);
    this.path = [];
    this.chosen = 0;
    let node = this.trees[this.name];
    for (const place of places.map(Number)) {
      if (!node.below[place]) break;
      this.path.push(place);
      node = node.below[place];
    }
  }

  /** @param {TreeName} name */
  show(name) {
    this.name = name;
    this.go([]);
  }

  /** @param {number[]} path @param {number} chosen */
  go(path, chosen = 0) {
    this.path = path;
    this.chosen = chosen;
    history.replaceState(null, "", `#${[this.name, ...path].join("/")}`);
    this.draw();
  }

  back() {
    if (this.path.length) this.go(this.path.slice(0, -1), this.path[this.path.length - 1]);
  }

  flip() {
    this.flipped = !this.flipped;
    this.draw();
  }

  /** @param {number} by */
  choose(by) {
    const rows = byId("list").children;
    this.chosen = Math.max(0, Math.min(rows.length - 1, this.chosen + by));
    [...rows].forEach((row, place) => {
      row.setAttribute("aria-selected", String(place === this.chosen));
    });
    rows[this.chosen]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const onButton = event.target instanceof HTMLButtonElement;
    if (onButton && (event.key === "Enter" || event.key === " ")) return;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowDown: () => this.choose(1),
      ArrowUp: () => this.choose(-1),
      ArrowRight: () => this.enter(this.chosen),
      Enter: () => this.enter(this.chosen),
      ArrowLeft: () => this.back(),
      Home: () => this.go([]),
      1: () => this.show("white"),
      2: () => this.show("black"),
      3: () => this.show("whole"),
      f: () => this.flip(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** @param {number} place */
  enter(place) {
    const line = this.line();
    if (line[line.length - 1].below[place]) this.go([...this.path, place]);
  }

  draw() {
    const line = this.line();
    const node = line[line.length - 1];
    for (const name of NAMES) {
      byId(`tree-${name}`).setAttribute("aria-pressed", String(name === this.name));
    }
    byId("flip").setAttribute("aria-pressed", String(this.flipped));
    byId("path").replaceChildren(...line.map((each, depth) => this.step(each, depth)));
    this.drawBoards(node);
    this.drawList(node);
  }

  /** @param {Branch} node @param {number} depth */
  step(node, depth) {
    const label = depth ? node.label : "Start";
    const button = html("button", { type: "button" }, label);
    if (depth === this.path.length) button.setAttribute("aria-current", "step");
    button.onclick = () => this.go(this.path.slice(0, depth), this.path[depth] ?? 0);
    return button;
  }

  /** @param {Branch} node */
  drawBoards(node) {
    const total = gamesOf(node.results);
    const truth =
      node.truths === 1
        ? "the same in all games"
        : `the commonest of ${node.truths.toLocaleString("en")}, in ${gamesText(node.common)}` +
          ` of ${total.toLocaleString("en")}`;
    /** @type {[string, string, string][]} */
    const shown =
      this.name === "whole"
        ? [
            ["As White saw it", "", node.seen[0]],
            ["As it was", "", node.truth],
            ["As Black saw it", "", node.seen[1]],
          ]
        : [
            [`As ${SIDES[this.name]} saw it`, "", node.seen[0]],
            ["As it was", truth, node.truth],
          ];
    byId("boards").style.setProperty("--boards", String(shown.length));
    byId("boards").replaceChildren(
      ...shown.map(([title, more, placement]) => {
        const figure = html("figure");
        figure.append(html("figcaption", {}, html("strong", {}, title), " ", html("span", {}, more)));
        new BoardView(figure, () => {}).draw({
          squares: squaresOf(placement),
          last: node.last ? [node.last.slice(0, 2), node.last.slice(2, 4)].map(squareOf) : [],
          arrows: [],
          heat: new Array(64).fill(null),
          chosen: null,
          flipped: this.flipped !== (this.name === "black"),
          label: title,
        });
        return figure;
      }),
    );
  }

  /** @param {Branch} node */
  drawList(node) {
    const side = node.turn ?? (this.name === "whole" ? "white" : this.name);
    const own = node.turn === null;
    byId("question").textContent = own
      ? `What ${SIDES[side]} then saw`
      : `${SIDES[side]} to move`;
    const total = gamesOf(node.results);
    byId("summary").textContent =
      `${gamesText(total)}: ${resultsText(node.results)}. ` +
      `${SIDES[side]} scored ${scoreText(node.results, side === "white")}.`;
    byId("list").replaceChildren(
      ...node.below.map((each, place) => this.row(each, place, side === "white")),
    );
    byId("rest").textContent = restText(node);
    this.choose(0);
  }

  /** @param {Branch} node @param {number} place @param {boolean} white */
  row(node, place, white) {
    const [won, drawn, lost] = node.results;
    const bar = html("span", { class: "results", title: resultsText(node.results) });
    /** @type {[string, number][]} */
    const parts = [
      ["won-white", won],
      ["drawn", drawn],
      ["won-black", lost],
    ];
    for (const [kind, count] of parts) {
      const part = html("span", { class: kind });
      part.style.flexGrow = String(count);
      if (count) bar.append(part);
    }
    const row = html(
      "button",
      { type: "button", class: "branch", role: "option", tabindex: -1 },
      html("span", { class: "label" }, node.label),
      html("span", { class: "number" }, gamesOf(node.results).toLocaleString("en")),
      html("span", { class: "number" }, scoreText(node.results, white)),
      bar,
    );
    row.setAttribute(
      "aria-label",
      `${node.label}: ${gamesText(gamesOf(node.results))}, ${resultsText(node.results)}`,
    );
    if (node.games.length) row.append(html("span", { class: "named" }, node.games.join("; ")));
    row.onclick = () => this.enter(place);
    return row;
  }
}

/** @param {Branch} node */
function restText(node) {
  if (node.rest) {
    return `${gamesText(node.rest)} went on from here; so rare a branch is not followed.`;
  }
  return node.below.length ? "" : "No game went on from here.";
}

/** @param {Trees} trees */
function describe(trees) {
  const facts = [gamesText(trees.games)];
  if (trees.faults) facts.push(`${trees.faults} more can't be read`);
  if (trees.stopped) facts.push(trees.stopped);
  byId("event").textContent = facts.join(" · ");
  byId("method").textContent =
    "With White's or Black's eyes, games stay together as long as that side did and saw the same. " +
    `Each tree follows the most frequent branches, ${trees.most.toLocaleString("en")} of them; ` +
    `a single game is not followed. ${HELP}`;
}

const trees = /** @type {Trees} */ (JSON.parse(byId("trees").textContent ?? ""));
describe(trees);
byId("loading").remove();
byId("main").hidden = false;
new Explorer(trees);
