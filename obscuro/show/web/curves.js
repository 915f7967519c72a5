// Draws one chart over the plies of a game. A click or tap picks a ply. It knows no game.

import { html, svg } from "obscuro/elements.js";

/**
 * @typedef {{ply: number, value: number, hollow: boolean, text: string}} Point
 *   hollow: drawn as a ring. text: the value in words.
 * @typedef {{name: string, className: string, points: Point[]}} Line
 * @typedef {{ply: number, value: number, text: string}} Mark
 * @typedef {{value: number, text: string}} Tick
 * @typedef {{title: string, plies: number, lines: Line[], marks: Mark[], ticks: Tick[],
 *   low: number, high: number, gap: number, onPick: (ply: number) => void}} Chart
 *   plies: the last ply. low, high: the ends of the axis. gap: lines join points at most so many
 *   plies apart.
 */

const HEIGHT = 104;
const LEFT = 46;
const RIGHT = 8;
const TOP = 6;
const BOTTOM = 8;
const MOST_DOTS = 150; // on more points, dots would hide the line

export class Curve {
  /**
   * @param {HTMLElement} host
   * @param {Chart} chart
   */
  constructor(host, chart) {
    this.chart = chart;
    this.ply = 0;
    this.width = 0;
    this.readout = html("span", { class: "readout" });
    this.root = svg("svg", { class: "chart", role: "img", "aria-label": summary(chart) });
    this.root.addEventListener("click", (event) => {
      const mouse = /** @type {MouseEvent} */ (event);
      chart.onPick(this.plyAt(mouse.clientX - this.root.getBoundingClientRect().left));
    });
    const title = html("figcaption", {}, html("strong", {}, chart.title), " ", this.readout);
    const figure = html("figure", { class: "curve" }, title, this.root);
    host.append(figure);
    new ResizeObserver(() => this.resize()).observe(figure);
    this.resize();
  }

  resize() {
    const width = Math.round(this.root.getBoundingClientRect().width);
    if (width && width !== this.width) {
      this.width = width;
      this.draw();
    }
  }

  /**
   * Move the cursor to a ply.
   * @param {number} ply
   */
  select(ply) {
    this.ply = ply;
    const x = this.x(ply);
    this.cursor?.setAttribute("x1", String(x));
    this.cursor?.setAttribute("x2", String(x));
    const texts = this.chart.lines.map((line) => {
      const point = latest(line.points, ply, this.chart.gap);
      return html(
        "span",
        { class: line.className },
        svg("svg", { class: "key", viewBox: "0 0 22 8", "aria-hidden": "true" }, keyLine()),
        ` ${line.name}${point ? ` ${point.text}` : ""}`,
      );
    });
    this.readout.replaceChildren(...texts);
  }

  draw() {
    const { chart, width } = this;
    this.root.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const drawn = [];
    for (const tick of chart.ticks) {
      const y = this.y(tick.value);
      drawn.push(
        svg("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "grid" }),
        svg("text", { x: LEFT - 5, y: y + 3.5, class: "tick" }, tick.text),
      );
    }
    this.cursor = svg("line", { y1: TOP - 4, y2: HEIGHT - BOTTOM + 4, class: "cursor" });
    drawn.push(this.cursor);
    for (const line of chart.lines) drawn.push(this.line(line));
    for (const mark of chart.marks) drawn.push(this.mark(mark));
    this.root.replaceChildren(...drawn);
    this.select(this.ply);
  }

  /** @param {Line} line */
  line(line) {
    const group = svg("g", { class: `line ${line.className}` });
    let path = "";
    let before = -Infinity;
    for (const { ply, value } of line.points) {
      path += `${ply - before > this.chart.gap ? "M" : "L"}${this.x(ply)},${this.y(value)}`;
      before = ply;
    }
    if (path) group.append(svg("path", { d: path }));
    const dots = line.points.length <= MOST_DOTS;
    for (const { ply, value, hollow } of line.points) {
      if (!dots && !hollow) continue;
      const place = { cx: this.x(ply), cy: this.y(value), "data-ply": ply };
      group.append(svg("circle", { ...place, r: hollow ? 2.6 : 1.9, class: hollow && "hollow" }));
    }
    return group;
  }

  /** @param {Mark} mark */
  mark(mark) {
    const [x, y] = [this.x(mark.ply), this.y(mark.value)];
    const points = `${x},${y - 4} ${x - 5},${y - 13} ${x + 5},${y - 13}`;
    const below = `${x},${y + 4} ${x - 5},${y + 13} ${x + 5},${y + 13}`;
    const shape = y < TOP + 14 ? below : points;
    const shown = { points: shape, class: "mark", "data-mark": mark.ply };
    return svg("polygon", shown, svg("title", {}, mark.text));
  }

  /** @param {number} ply */
  x(ply) {
    const room = this.width - LEFT - RIGHT;
    return round(LEFT + (room * ply) / Math.max(1, this.chart.plies));
  }

  /** @param {number} value */
  y(value) {
    const { low, high } = this.chart;
    const share = (Math.min(Math.max(value, low), high) - low) / (high - low);
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM));
  }

  /** @param {number} x */
  plyAt(x) {
    const share = (x - LEFT) / (this.width - LEFT - RIGHT);
    return Math.min(this.chart.plies, Math.max(0, Math.round(share * this.chart.plies)));
  }
}

function keyLine() {
  return svg("path", { d: "M1,4L21,4" });
}

/** @param {number} value */
function round(value) {
  return Math.round(10 * value) / 10;
}

/**
 * The last point at or before a ply, if it is near.
 * @param {Point[]} points
 * @param {number} ply
 * @param {number} gap
 */
function latest(points, ply, gap) {
  const found = points.findLast((point) => point.ply <= ply);
  return found && ply - found.ply < gap ? found : null;
}

/** @param {Chart} chart */
function summary(chart) {
  const parts = chart.lines.map((line) => {
    const first = line.points[0];
    const last = line.points[line.points.length - 1];
    if (!first) return `${line.name}: nothing`;
    return `${line.name}: ${first.text} at ply ${first.ply}, ${last.text} at ply ${last.ply}`;
  });
  const marks = chart.marks.length ? `, ${chart.marks.length} moves marked` : "";
  return `${chart.title}. ${parts.join("; ")}${marks}`;
}
