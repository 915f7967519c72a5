// Starts the page of a game: the server's state goes to all parts, the player's wishes go back.

import { newsOf, sentenceOf } from "obscuro/announcer.js";
import { ROOT, ask, levelName } from "obscuro/api.js";
import { Connection } from "obscuro/connection.js";
import { byId } from "obscuro/elements.js";
import { sideName } from "obscuro/game.js";
import { GameButtons } from "obscuro/game_buttons.js";
import { PlayBoard } from "obscuro/play_board.js";
import { isYourTurn, otherSide, resultText, shownSquares, turnText } from "obscuro/play_state.js";
import { PlayerRow } from "obscuro/player_row.js";
import { ScoreSheet } from "obscuro/score_sheet.js";
import { Sounds } from "obscuro/sounds.js";
import { findTypedMove } from "obscuro/typed_moves.js";

/**
 * @typedef {import("obscuro/play_state.js").PlayState} PlayState
 * @typedef {import("obscuro/play_state.js").PlayRequest} PlayRequest
 * @typedef {import("obscuro/api.js").Settings} Settings
 */

const name = location.pathname.split("/").at(-1) ?? "";

class PlayPage {
  constructor() {
    /** @type {PlayState | null} */
    this.state = null;
    /** @type {{uci: string, ply: number} | null} a move that the server hasn't confirmed */
    this.unconfirmed = null;
    this.anew = true; // the next state is the first of its connection
    this.lasting = false; // the notice stays until the player moves
    /** @type {Settings | null} */
    this.settings = null;
    this.sounds = new Sounds();
    this.sheet = new ScoreSheet(byId("sheet"));
    this.own = new PlayerRow(byId("own-row"));
    this.other = new PlayerRow(byId("other-row"));
    this.board = new PlayBoard(byId("board"), {
      onMove: (uci) => this.move(uci),
      onPremove: (text) => (byId("news").textContent = text),
    });
    this.buttons = new GameButtons((request) => this.request(request));
    this.field = /** @type {HTMLInputElement} */ (byId("typed"));
    this.listen();
    this.connection = new Connection(`${ROOT}ws/play/${name}`, {
      onMessage: (message) => this.onMessage(message),
      onOpen: () => this.onOpen(),
      onLost: (refused) => {
        if (!refused) this.tell("The connection is lost. The page tries to get it back …");
      },
      onGone: () => this.tell("There is no such game here. It may be another visitor's, or too old."),
    });
  }

  listen() {
    byId("typing").addEventListener("submit", (event) => {
      event.preventDefault();
      this.type();
    });
    byId("flip").addEventListener("click", () => this.board.flip());
    byId("sound").addEventListener("click", () => {
      this.sounds.toggle();
      this.showSound();
    });
    byId("rematch").addEventListener("click", () => this.rematch());
    this.showSound();
  }

  onOpen() {
    this.anew = true;
    this.tell("");
  }

  /** @param {any} message */
  onMessage(message) {
    if (message.type === "state") {
      this.onState(message);
    } else if (message.type === "error") {
      this.unconfirmed = null;
      this.tell(sentenceOf(message.error));
      if (this.state) this.board.show(this.state); // a move that was refused goes back
    }
  }

  /** @param {PlayState} state */
  onState(state) {
    const before = this.state;
    this.state = state;
    this.board.show(state);
    this.sheet.show(state.sheet);
    this.buttons.show(state);
    this.showRows(state);
    this.showEnd(state);
    byId("turn").textContent = turnText(state);
    byId("turn").hidden = state.result !== null; // it stands in the box of the result
    if (before?.version !== state.version) this.announce(before, state);
    this.resend(state);
    this.anew = false;
  }

  /**
   * @param {PlayState | null} before
   * @param {PlayState} state
   */
  announce(before, state) {
    byId("news").textContent = newsOf(before, state);
    byId("note").textContent = sentenceOf(state.note ?? "");
    document.title = `${isYourTurn(state) ? "● Your move" : turnText(state)} – Obscuro`;
    if (!before) return;
    if (before.ply !== state.ply && !this.lasting) this.tell("");
    const taken = (/** @type {PlayState} */ each) => each.captured.you + each.captured.enemy;
    if (state.status === "over" && before.status !== "over") this.sounds.play("end");
    else if (taken(state).length > taken(before).length) this.sounds.play("capture");
    else if (state.ply > before.ply) this.sounds.play("move");
  }

  /**
   * A move that was made while there was no connection is sent when it is back, if it still can be
   * made. The server takes no move twice, because each goes with its ply.
   * @param {PlayState} state
   */
  resend(state) {
    const waiting = this.unconfirmed;
    if (!waiting) return;
    if (state.ply === waiting.ply && state.moves.includes(waiting.uci)) {
      if (this.anew) this.connection.send({ type: "move", ...waiting });
      return;
    }
    this.unconfirmed = null;
    const made = state.sheet.some((move) => move.ply > waiting.ply && move.uci === waiting.uci);
    if (made) return;
    this.tell("Your move could not be made any more.");
    this.lasting = true; // the answer to another tab's move may come at once
  }

  /** @param {string} uci */
  move(uci) {
    if (!this.state) return;
    this.unconfirmed = { uci, ply: this.state.ply };
    this.tell("");
    if (!this.connection.send({ type: "move", ...this.unconfirmed })) {
      this.tell("There is no connection. Your move is sent as soon as it is back.");
    }
  }

  /** @param {PlayRequest} request */
  request(request) {
    if (this.connection.send(request)) return;
    this.tell("There is no connection, so nothing was sent. Try again when it is back.");
  }

  type() {
    const text = this.field.value;
    if (text.trim() === "") return;
    if (!this.state) {
      this.tell("The game is not here yet. Try again in a moment.");
      return;
    }
    if (!isYourTurn(this.state)) {
      this.tell(this.state.status === "over" ? "The game is over." : "It is not your turn yet.");
      return;
    }
    const found = findTypedMove(text, this.state.moves, shownSquares(this.state));
    this.tell(found.fault ?? "");
    if (found.uci === null) return;
    this.field.value = "";
    this.move(found.uci);
  }

  rematch() {
    const next = this.state?.result?.rematch;
    if (next) location.assign(`${ROOT}play/${next}`);
    else this.request({ type: "rematch" });
  }

  /** @param {PlayState} state */
  showRows(state) {
    const enemy = otherSide(state.you);
    const level = this.settings ? `, ${levelName(this.settings, state.level)}` : "";
    this.own.call(`You, ${sideName(state.you)}`, state.you);
    this.other.call(`Obscuro${level}`, enemy);
    this.own.take(state.captured.you, enemy);
    this.other.take(state.captured.enemy, state.you);
    const running = state.status === "over" ? null : (state.clocks?.running ?? null);
    this.own.clock.show(state.clocks?.[state.you] ?? null, running === state.you);
    this.other.clock.show(state.clocks?.[enemy] ?? null, running === enemy);
  }

  /** @param {PlayState} state */
  showEnd(state) {
    const before = byId("end").hidden;
    byId("end").hidden = state.result === null;
    byId("typing").hidden = state.result !== null;
    if (!state.result) return;
    byId("result").textContent = resultText(state);
    byId("look").setAttribute("href", `${ROOT}look/${state.game}`);
    if (state.result.rematch && !before) location.assign(`${ROOT}play/${state.result.rematch}`);
  }

  showSound() {
    byId("sound").setAttribute("aria-pressed", String(this.sounds.on));
  }

  /** @param {string} text one sentence about the page or the connection; "" for none */
  tell(text) {
    this.lasting = false;
    byId("notice").textContent = text;
  }
}

const page = new PlayPage();
ask("api/settings").then(
  (settings) => {
    page.settings = settings;
    if (page.state) page.showRows(page.state);
  },
  (error) => page.tell(error.message),
);
