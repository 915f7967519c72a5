// Short tones for moves. They are off until the player switches them on, and come from no file.

import { recall, remember } from "obscuro/remembered.js";

const STORED = "sounds";
const LENGTH = 0.09; // s, of one tone
const LOUDNESS = 0.12;

/** @typedef {"move" | "capture" | "end"} Sound */

/** @type {Record<Sound, number[]>} */
const TONES = { move: [440], capture: [330, 247], end: [392, 494, 587] }; // Hz, one after another

export class Sounds {
  constructor() {
    this.on = recall(STORED) === "on";
    /** @type {AudioContext | null} */
    this.context = null;
  }

  toggle() {
    this.on = !this.on;
    remember(STORED, this.on ? "on" : "off");
    this.play("move");
  }

  /** @param {Sound} sound */
  play(sound) {
    if (!this.on) return;
    this.context ??= new AudioContext();
    const begin = this.context.currentTime;
    TONES[sound].forEach((pitch, index) => this.tone(pitch, begin + index * LENGTH));
  }

  /**
   * @param {number} pitch in Hz
   * @param {number} begin in seconds of the context
   */
  tone(pitch, begin) {
    if (!this.context) return;
    const source = new OscillatorNode(this.context, { frequency: pitch, type: "triangle" });
    const volume = new GainNode(this.context, { gain: LOUDNESS });
    volume.gain.setTargetAtTime(0, begin + LENGTH / 2, LENGTH / 4); // or it would click
    source.connect(volume).connect(this.context.destination);
    source.start(begin);
    source.stop(begin + 2 * LENGTH);
  }
}
