// Shows one clock. Between two messages of the server it counts on by itself.

import { clockText } from "obscuro/game.js";

const LOW = 10_000; // ms; from here on the clock is red and shows tenths
const TICK = 100;

export class ClockFace {
  /** @param {HTMLElement} face */
  constructor(face) {
    this.face = face;
    this.left = 0;
    this.since = 0;
    this.timer = 0;
  }

  /**
   * @param {number | null} left in milliseconds; null: there are no clocks
   * @param {boolean} running
   */
  show(left, running) {
    clearInterval(this.timer);
    this.face.hidden = left === null;
    if (left === null) return;
    this.left = left;
    this.since = performance.now();
    this.face.classList.toggle("running", running);
    this.draw(0);
    if (running) {
      this.timer = setInterval(() => this.draw(performance.now() - this.since), TICK);
    }
  }

  /** @param {number} spent in milliseconds */
  draw(spent) {
    const left = Math.max(0, this.left - spent);
    this.face.classList.toggle("low", left < LOW);
    const tenths = `.${Math.floor(left / 100) % 10}`;
    this.face.textContent = clockText(left / 1000) + (left < LOW ? tenths : "");
  }
}
