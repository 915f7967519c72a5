// The board to play on: chessground with fog, premoves and castling, and the grid for keys.

import { Chessground } from "chessground";
import { BoardGrid } from "obscuro/board_grid.js";
import { html } from "obscuro/elements.js";
import { FOG, squareName, squareOf } from "obscuro/game.js";
import { isYourTurn, lastSquares, shownSquares } from "obscuro/play_state.js";
import { choosePromotion } from "obscuro/promotion.js";
import { castleOf } from "obscuro/typed_moves.js";

/**
 * @typedef {import("obscuro/play_state.js").PlayState} PlayState
 * @typedef {import("chessground/types.js").Key} Key
 * @typedef {import("chessground/types.js").MoveMetadata} MoveMetadata
 */

const ANIMATION = 150; // ms

export class PlayBoard {
  /**
   * @param {HTMLElement} host
   * @param {{onMove: (uci: string) => void, onPremove: (text: string) => void}} player
   *   onPremove: is given a sentence
   */
  constructor(host, player) {
    this.host = host;
    this.player = player;
    this.flipped = false;
    /** @type {PlayState | null} */
    this.state = null;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const ground = html("div", { "aria-hidden": "true" });
    host.append(ground);
    this.ground = Chessground(ground, {
      fen: "8/8/8/8/8/8/8/8",
      coordinates: true,
      animation: { enabled: !calm, duration: ANIMATION },
      draggable: { showGhost: true },
      drawable: { enabled: true },
      movable: {
        free: false,
        rookCastle: true,
        events: { after: (from, to, how) => void this.afterMove(from, to, how) },
      },
      premovable: {
        events: {
          set: (from, to) => player.onPremove(`Premove from ${from} to ${to}.`),
          unset: () => this.label(),
        },
      },
      events: { select: () => setTimeout(() => this.label()) },
    });
    /** @param {string} name */
    const choose = (name) => this.choose(/** @type {Key} */ (name));
    this.grid = new BoardGrid(host, choose, () => this.dropAll());
  }

  /** @param {PlayState} state */
  show(state) {
    this.state = state;
    const squares = shownSquares(state);
    const playing = state.status !== "over";
    this.ground.set({
      fen: placementOf(squares),
      orientation: this.orientation(state),
      turnColor: state.turn,
      lastMove: /** @type {Key[]} */ (lastSquares(state)),
      highlight: { custom: fogOf(squares) },
      movable: { color: playing ? state.you : undefined, dests: destinations(state, squares) },
      premovable: { enabled: playing },
    });
    if (!playing) this.dropAll();
    else if (isYourTurn(state)) {
      this.ground.playPremove();
      this.ground.cancelPremove(); // one that has become illegal
    }
    this.label();
  }

  flip() {
    this.flipped = !this.flipped;
    if (!this.state) return;
    this.ground.set({ orientation: this.orientation(this.state) });
    this.label();
  }

  /** @param {PlayState} state */
  orientation(state) {
    return this.flipped === (state.you === "white") ? "black" : "white";
  }

  /**
   * What a click on the square does, for the keyboard.
   * @param {Key} key
   */
  choose(key) {
    if (this.ground.state.selected === key) this.ground.selectSquare(null);
    else this.ground.selectSquare(key, true);
    this.label();
  }

  dropAll() {
    this.ground.selectSquare(null);
    this.ground.cancelPremove();
    this.label();
  }

  label() {
    if (!this.state) return;
    const flipped = this.orientation(this.state) === "black";
    const { selected, movable } = this.ground.state;
    const targets = (selected && movable.dests?.get(selected)) ?? [];
    this.grid.show(shownSquares(this.state), flipped, selected, targets);
  }

  /**
   * @param {Key} from
   * @param {Key} to
   * @param {MoveMetadata} how
   */
  async afterMove(from, to, how) {
    const state = this.state;
    if (!state) return;
    this.label();
    const fitting = state.moves.filter((uci) => reaches(uci, from, to, shownSquares(state)));
    let uci = fitting[0];
    if (fitting.length > 1) {
      const letter = how.premove ? "q" : await this.promote(state, fitting);
      uci = fitting.find((each) => each.endsWith(letter)) ?? "";
    }
    const now = this.state ?? state; // another one may have come while the player chose
    if (uci && now.ply === state.ply) this.player.onMove(uci);
    else this.show(now);
  }

  /**
   * @param {PlayState} state
   * @param {string[]} fitting moves that differ by the piece only
   */
  async promote(state, fitting) {
    const letter = await choosePromotion(
      this.host,
      state.you,
      fitting.map((uci) => uci.slice(4)),
    );
    return letter || "none";
  }
}

/**
 * Chessground's form of a placement: the fog is empty there.
 * @param {string[]} squares
 */
function placementOf(squares) {
  const rows = Array.from({ length: 8 }, (_, row) =>
    squares
      .slice(8 * (7 - row), 8 * (8 - row))
      .map((content) => (content === "" || content === FOG ? "1" : content))
      .join(""),
  );
  return rows.join("/");
}

/** @param {string[]} squares @returns {Map<Key, string>} */
function fogOf(squares) {
  const fogged = squares.flatMap((content, square) => (content === FOG ? [square] : []));
  return new Map(fogged.map((square) => [/** @type {Key} */ (squareName(square)), "fog"]));
}

/**
 * @param {PlayState} state
 * @param {string[]} squares
 * @returns {Map<Key, Key[]>}
 */
function destinations(state, squares) {
  const all = new Map();
  if (!isYourTurn(state)) return all;
  for (const uci of state.moves) {
    const castle = castleOf(uci, squares);
    const to = castle ? [uci.slice(2, 4), castle.rook] : [uci.slice(2, 4)];
    all.set(uci.slice(0, 2), [...(all.get(uci.slice(0, 2)) ?? []), ...to]);
  }
  return all;
}

/**
 * Whether a move of the list is the one that leads from a square to another on the board.
 * @param {string} uci
 * @param {Key} from
 * @param {Key} to
 * @param {string[]} squares
 */
function reaches(uci, from, to, squares) {
  if (!uci.startsWith(from)) return false;
  return uci.slice(2, 4) === to || castleOf(uci, squares)?.rook === to;
}
