// Draws one chart over the plies of a game, by uPlot. A click or tap picks a ply. It knows no game.

import uPlot from "uplot";
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
const LEFT = 46; // for the texts of the axis
const PADDING = [6, 8, 8, 0]; // top, right, bottom, left
const MOST_DOTS = 150; // on more points, dots would hide the line
const DOT = 3.8;
const RING = 5.2;
const HOVERS = "plies"; // all charts show the ply that the mouse points at in one of them
const DASHES = new Map([["black", [4, 3]]]); // so that colour is not all that tells lines apart
const darkness = matchMedia("(prefers-color-scheme: dark)");
/** @type {Map<string, string>} */
const colors = new Map(); // of the style sheet, by property; to ask the browser each time is slow
darkness.addEventListener("change", () => colors.clear());

export class Curve {
  /**
   * @param {HTMLElement} host
   * @param {Chart} chart
   */
  constructor(host, chart) {
    this.chart = chart;
    this.ply = 0;
    this.readout = html("span", { class: "readout" });
    this.place = html("div", { class: "chart", role: "img", "aria-label": summary(chart) });
    const title = html("figcaption", {}, html("strong", {}, chart.title), " ", this.readout);
    this.root = html("figure", { class: "curve" }, title, this.place);
    host.append(this.root);
    this.cursor = html("div", { class: "cursor" });
    this.plot = new uPlot(this.options(), columnsOf(chart), this.place);
    this.plot.over.append(this.cursor);
    this.plot.over.addEventListener("click", (event) => {
      const left = event.clientX - this.plot.over.getBoundingClientRect().left;
      this.chart.onPick(this.plyAt(left));
    });
    new ResizeObserver(() => this.resize()).observe(this.place);
    darkness.addEventListener("change", () => this.plot.redraw(false));
    this.drawMarks();
    this.select(0);
  }

  /** @returns {uPlot.Options} */
  options() {
    return {
      width: Math.max(1, this.place.clientWidth),
      height: HEIGHT,
      padding: /** @type {uPlot.Padding} */ (PADDING),
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false, setScale: false },
        points: { show: false },
        sync: { key: HOVERS, setSeries: false },
      },
      scales: {
        x: { time: false, range: () => [0, Math.max(1, this.chart.plies)] },
        y: { range: () => [this.chart.low, this.chart.high] },
      },
      axes: [{ show: false }, this.axis()],
      series: [{}, ...this.chart.lines.flatMap((line, index) => this.series(line, index))],
      hooks: {
        draw: [() => this.moveOverlays()],
        setCursor: [() => this.read(this.hovered() ?? this.ply)],
      },
    };
  }

  /** @returns {uPlot.Axis} */
  axis() {
    return {
      size: LEFT,
      gap: 5,
      font: '10px system-ui, "Liberation Sans", sans-serif',
      stroke: () => this.color("--soft"),
      grid: { stroke: () => this.color("--rule"), width: 1 },
      ticks: { show: false },
      splits: () => this.chart.ticks.map((tick) => tick.value),
      values: () => this.chart.ticks.map((tick) => tick.text),
    };
  }

  /**
   * The line with its dots, and the rings on it.
   * @param {Line} line
   * @param {number} index of the line in the chart
   * @returns {uPlot.Series[]}
   */
  series({ name, className }, index) {
    const stroke = () => this.color(`--${className}-side`);
    const dots = () => {
      const { points } = this.chart.lines[index];
      const shown = points.length <= MOST_DOTS ? points.filter((point) => !point.hollow) : [];
      return shown.map((point) => point.ply);
    };
    const dot = { show: true, size: DOT, stroke, fill: stroke, filter: dots };
    const ring = { show: true, size: RING, width: 1.3, stroke, fill: () => this.color("--card") };
    return [
      { label: name, stroke, width: 1.6, dash: DASHES.get(className), points: dot },
      { label: `${name}, rings`, stroke, paths: () => null, points: ring },
    ];
  }

  /**
   * Show another chart of the same title and lines. `select` comes next.
   * @param {Chart} chart
   */
  update(chart) {
    this.chart = chart;
    this.ply = Math.min(this.ply, chart.plies);
    this.place.setAttribute("aria-label", summary(chart));
    this.plot.setData(columnsOf(chart));
    this.drawMarks();
  }

  resize() {
    const width = this.place.clientWidth;
    if (width && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  /**
   * Move the cursor to a ply.
   * @param {number} ply
   */
  select(ply) {
    this.ply = ply;
    this.cursor.style.left = `${this.plot.valToPos(ply, "x")}px`;
    this.read(ply);
  }

  /** The ply that the mouse points at in this chart or in another one. */
  hovered() {
    const left = this.plot?.cursor.left ?? -1;
    return left < 0 ? null : this.plyAt(left);
  }

  /**
   * Say what the lines are at a ply.
   * @param {number} ply
   */
  read(ply) {
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

  drawMarks() {
    for (const old of this.plot.over.querySelectorAll(".mark")) old.remove();
    const marks = this.chart.marks.map(({ ply, text }) =>
      html("div", { class: "mark", title: text, "data-mark": ply }),
    );
    this.plot.over.append(...marks);
    this.moveOverlays();
  }

  /** Put the marks and the cursor where their plies are. */
  moveOverlays() {
    if (!this.plot) return; // the first drawing, before the plot is ours
    const marks = /** @type {NodeListOf<HTMLElement>} */ (
      this.plot.over.querySelectorAll(".mark")
    );
    marks.forEach((mark, index) => {
      const { ply, value } = this.chart.marks[index];
      const top = this.plot.valToPos(value, "y");
      mark.style.left = `${this.plot.valToPos(ply, "x")}px`;
      mark.style.top = `${top}px`;
      mark.classList.toggle("below", top < 14); // there is no room above
    });
    this.cursor.style.left = `${this.plot.valToPos(this.ply, "x")}px`;
  }

  /** @param {number} left of the plot, in CSS pixels */
  plyAt(left) {
    const ply = Math.round(this.plot.posToVal(left, "x"));
    return Math.min(this.chart.plies, Math.max(0, ply));
  }

  /** @param {string} name of a property in the style sheet; it differs in dark colours */
  color(name) {
    let color = colors.get(name);
    if (!color) {
      color = getComputedStyle(this.place).getPropertyValue(name);
      colors.set(name, color);
    }
    return color;
  }
}

/**
 * A chart as uPlot takes it: the plies, and of each line what joins and what is a ring.
 *
 * uPlot breaks a line at null and passes over undefined.
 * @param {Chart} chart
 * @returns {uPlot.AlignedData}
 */
function columnsOf({ plies, lines, gap }) {
  const all = Array.from({ length: plies + 1 }, (_, ply) => ply);
  const columns = lines.flatMap(({ points }) => {
    /** @type {(number | null | undefined)[]} */
    const values = all.map(() => null);
    /** @type {(number | null)[]} */
    const rings = all.map(() => null);
    let before = Infinity;
    for (const { ply, value, hollow } of points) {
      if (ply - before <= gap) values.fill(undefined, before + 1, ply);
      values[ply] = value;
      if (hollow) rings[ply] = value;
      before = ply;
    }
    return [values, rings];
  });
  return [all, ...columns];
}

function keyLine() {
  return svg("path", { d: "M1,4L21,4" });
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
