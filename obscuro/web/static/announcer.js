// Puts into words what changed between two states of a game, for who hears the page.

import { sideName } from "obscuro/game.js";
import { otherSide, pieceName, turnText } from "obscuro/play_state.js";

/**
 * @typedef {import("obscuro/play_state.js").PlayState} PlayState
 * @typedef {import("obscuro/play_state.js").SheetMove} SheetMove
 */

/**
 * One or more sentences. What is not news is left out, but for who is to move.
 * @param {PlayState | null} before null: the page has only been opened
 * @param {PlayState} after
 */
export function newsOf(before, after) {
  const told = before === null ? [greeting(after)] : changes(before, after);
  if (after.note !== null && after.note !== before?.note) told.push(sentenceOf(after.note));
  told.push(turnText(after));
  return told.join(" ");
}

/** @param {PlayState} state */
function greeting(state) {
  return `You play ${sideName(state.you)}.`;
}

/**
 * @param {PlayState} before
 * @param {PlayState} after
 */
function changes(before, after) {
  if (after.sheet.length < before.sheet.length) return ["Moves were taken back."];
  const told = after.sheet
    .slice(before.sheet.length)
    .map((move) => (move.mover === after.you ? ownMove(move) : otherMove(move)));
  const lost = added(before.captured.enemy, after.captured.enemy);
  if (lost.length && !told.some((each) => each.includes("took your"))) {
    told.push(`${sideName(otherSide(after.you))} took your ${listed(lost)}.`);
  }
  const won = added(before.captured.you, after.captured.you);
  if (won.length) told.push(`You took a ${listed(won)}.`);
  return told;
}

/** @param {SheetMove} move */
function ownMove(move) {
  return `You played ${move.san ?? move.uci}.`;
}

/** @param {SheetMove} move */
function otherMove(move) {
  const side = sideName(move.mover);
  const seen = move.san ?? move.note ?? move.uci;
  return seen === null ? `${side} moved in the fog.` : `${side}: ${seen}.`;
}

/**
 * A remark of the server as a sentence.
 * @param {string} remark
 */
export function sentenceOf(remark) {
  const text = remark.slice(0, 1).toUpperCase() + remark.slice(1);
  return text === "" || /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * The letters that are in the second text and not in the first.
 * @param {string} before
 * @param {string} after
 */
function added(before, after) {
  const rest = [...before];
  return [...after].filter((letter) => {
    const index = rest.indexOf(letter);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}

/** @param {string[]} letters */
function listed(letters) {
  return letters.map(pieceName).join(" and ");
}
