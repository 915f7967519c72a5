// Starts the server's page of a game: the game comes over a socket, and may go on meanwhile.

import { ROOT, RefusedError, ask } from "obscuro/api.js";
import { Connection } from "obscuro/connection.js";
import { byId } from "obscuro/elements.js";
import { SCHEMA } from "obscuro/game.js";
import { describe, showGame } from "obscuro/shown_game.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/viewer.js").Viewer} Viewer
 */

const id = location.pathname.split("/").at(-1) ?? "";
const liveButton = /** @type {HTMLButtonElement} */ (byId("live"));
const askButton = /** @type {HTMLButtonElement} */ (byId("ask"));
const analyseButton = /** @type {HTMLButtonElement} */ (byId("analyse"));

/** @type {Viewer | null} */
let viewer = null;
/** @type {Game | null} */
let changed = null; // the game as it is, if that is not drawn yet
let live = false;
let canAsk = false;
let analysing = false;
let asking = false;

/** @type {Record<string, (message: any) => void>} */
const HANDLERS = {
  document: takeDocument,
  ply: ({ position, move }) =>
    change((game) => ({
      ...game,
      positions: [...game.positions, position],
      moves: [...game.moves, move],
    })),
  moves: ({ from, moves }) =>
    change((game) => ({
      ...game,
      moves: game.moves.toSpliced(from, moves.length, ...moves),
    })),
  analysed: ({ analysis, moves }) => {
    analysing = false;
    say("");
    change((game) => ({ ...game, analysis, moves }));
  },
  end: ({ result, ending, moves, can_ask }) => {
    live = false;
    canAsk = can_ask;
    change((game) => ({ ...game, result, ending, moves }));
  },
  progress: ({ what, done, of }) => {
    if (what === "analysis") analysing = true;
    say(
      what === "analysis"
        ? `The engine has looked at ${done} of ${of} moves.`
        : `What both sides could know is worked out: ply ${done} of ${of}.`,
    );
    showButtons();
  },
  error: ({ error, analysing: goesOn }) => {
    if (goesOn === false) analysing = false;
    say(error);
    showButtons();
  },
};

const connection = new Connection(`${ROOT}ws/look/${id}`, {
  onMessage: (message) => HANDLERS[message.type]?.(message),
  onOpen: () => say(viewer ? "" : "The game is loaded."),
  onLost: (refused) => {
    if (!refused) say("The connection is lost. Trying again.");
  },
  onGone: () => {},
});
addEventListener("pagehide", () => connection.socket?.close());

/** @param {{document: Game, live: boolean, can_ask: boolean, analysing: boolean}} message */
function takeDocument(message) {
  const game = message.document;
  if (game.schema !== SCHEMA) return location.reload(); // the server has become another one
  ({ live, can_ask: canAsk, analysing } = message);
  if (viewer) change(() => game);
  else {
    viewer = showGame(game);
    viewer.onShow = showButtons;
    byId("engine").hidden = false;
    if (live && !location.hash) viewer.go(viewer.last);
  }
  if (!analysing) say("");
  showButtons();
}

/**
 * Change the game, and draw it with the next frame: where plies come quicker than the browser can
 * draw them, it leaves some out. A tab that nobody sees draws none.
 * @param {(game: Game) => Game} how
 */
function change(how) {
  if (!viewer) return;
  if (!changed) requestAnimationFrame(draw);
  changed = how(changed ?? viewer.game);
}

function draw() {
  if (!viewer || !changed) return;
  const [game, last] = [changed, viewer.last];
  changed = null;
  viewer.update(game, last);
  describe(game);
  showButtons();
}

function showButtons() {
  if (!viewer) return;
  const { game, ply, last } = viewer;
  const over = ply === last && game.positions[ply].white.belief === null;
  liveButton.hidden = !live;
  liveButton.setAttribute("aria-pressed", String(ply === last));
  askButton.hidden = !canAsk;
  askButton.disabled = over || asking || viewer.asked.has(ply);
  analyseButton.hidden = !canAsk || game.analysis !== null;
  analyseButton.disabled = analysing;
}

/**
 * Tell the user something, where the game is or will be.
 * @param {string} text
 */
function say(text) {
  const place = viewer ? byId("status") : byId("loading");
  place.textContent = text;
}

liveButton.addEventListener("click", () => viewer?.go(viewer.last));

askButton.addEventListener("click", async () => {
  if (!viewer) return;
  const { ply } = viewer;
  asking = true;
  say("The engine thinks.");
  showButtons();
  try {
    viewer.advise(ply, await ask(`api/games/${id}/advice`, { ply }));
    say("");
  } catch (error) {
    sayRefusal(error);
  } finally {
    asking = false;
    showButtons();
  }
});

analyseButton.addEventListener("click", async () => {
  analyseButton.disabled = true;
  try {
    await ask(`api/games/${id}/analysis`, {});
  } catch (error) {
    sayRefusal(error);
    showButtons();
  }
});

/** @param {unknown} error */
function sayRefusal(error) {
  if (!(error instanceof RefusedError)) throw error;
  say(error.message);
}
