// Asks which piece a pawn becomes, in a dialog that keys can answer.

import { html } from "obscuro/elements.js";
import { pieceName } from "obscuro/play_state.js";

/** @typedef {import("obscuro/game.js").Side} Side */

/**
 * Ask the player. Gives "" if the player thinks better of it.
 * @param {HTMLElement} host
 * @param {Side} side
 * @param {string[]} letters what can be chosen, in lower case
 * @returns {Promise<string>}
 */
export function choosePromotion(host, side, letters) {
  const order = [..."qnrb"].filter((letter) => letters.includes(letter)); // as often as they are used
  const buttons = order.map((letter) => {
    const name = pieceName(letter);
    const picture = html("piece", { class: `${name} ${side}`, "aria-hidden": "true" });
    return html("button", { value: letter, "aria-label": name, title: name }, picture);
  });
  const form = html("form", { method: "dialog", class: "cg-wrap" }, ...buttons);
  const dialog = /** @type {HTMLDialogElement} */ (
    html("dialog", { class: "promotion", "aria-label": "Promote to" }, form)
  );
  host.append(dialog);
  dialog.showModal();
  const [board, box] = [host.getBoundingClientRect(), dialog.getBoundingClientRect()];
  dialog.style.left = `${board.left + (board.width - box.width) / 2}px`;
  dialog.style.top = `${board.top + (board.height - box.height) / 2}px`;
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(""); // beside the buttons
  });
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}
