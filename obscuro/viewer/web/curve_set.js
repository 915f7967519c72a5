// All curves of a game; they may grow with it.

import { chartsOf } from "obscuro/charts.js";
import { Curve } from "obscuro/curves.js";

/** @typedef {import("obscuro/game.js").Game} Game */

export class CurveSet {
  /**
   * @param {HTMLElement} host
   * @param {(ply: number) => void} onPick
   */
  constructor(host, onPick) {
    this.host = host;
    this.onPick = onPick;
    /** @type {Map<string, Curve>} */
    this.curves = new Map(); // by title
  }

  /** @param {Game} game */
  update(game) {
    const charts = chartsOf(game, this.onPick);
    const before = this.curves.size;
    for (const chart of charts) {
      const curve = this.curves.get(chart.title);
      if (curve) curve.update(chart);
      else this.curves.set(chart.title, new Curve(this.host, chart));
    }
    if (this.curves.size === before) return;
    // A curve that became known later is at its place all the same.
    for (const { title } of charts) this.host.append(this.curves.get(title)?.root ?? "");
  }

  /** @param {number} ply */
  select(ply) {
    for (const curve of this.curves.values()) curve.select(ply);
  }
}
