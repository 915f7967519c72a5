// The buttons below the sheet. Resigning asks once more; what can't be done now is switched off.

import { byId } from "obscuro/elements.js";
import { canAbort } from "obscuro/play_state.js";

/**
 * @typedef {import("obscuro/play_state.js").PlayState} PlayState
 * @typedef {import("obscuro/play_state.js").PlayRequest} PlayRequest
 */

/** @param {string} id */
function button(id) {
  return /** @type {HTMLButtonElement} */ (byId(id));
}

export class GameButtons {
  /** @param {(request: PlayRequest) => void} send */
  constructor(send) {
    this.send = send;
    this.takeBack = button("take-back");
    this.draw = button("draw");
    this.resign = button("resign");
    this.sure = byId("sure");
    this.aborts = false;
    this.takeBack.addEventListener("click", () => send({ type: "takeback" }));
    this.draw.addEventListener("click", () => send({ type: "draw" }));
    this.resign.addEventListener("click", () => this.ask());
    button("sure-yes").addEventListener("click", () => this.answer(true));
    button("sure-no").addEventListener("click", () => this.answer(false));
    this.sure.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.answer(false);
    });
  }

  /** @param {PlayState} state */
  show(state) {
    const playing = state.status === "playing";
    this.aborts = canAbort(state);
    byId("buttons").hidden = state.status === "over";
    this.takeBack.hidden = !state.takebacks;
    this.takeBack.disabled = !state.can_take_back;
    this.draw.disabled = !playing || state.draw_offered;
    this.resign.textContent = this.aborts ? "Abort" : "Resign";
    if (!playing) this.sure.hidden = true;
  }

  ask() {
    byId("sure-question").textContent = this.aborts ? "Abort the game?" : "Resign the game?";
    this.sure.hidden = false;
    button("sure-yes").focus();
  }

  /** @param {boolean} yes */
  answer(yes) {
    this.sure.hidden = true;
    this.resign.focus();
    if (yes) this.send({ type: this.aborts ? "abort" : "resign" });
  }
}
