// Starts the page that is one file: the game is in it.

import { readGame } from "obscuro/game.js";
import { showGame } from "obscuro/shown_game.js";
import { byId } from "obscuro/elements.js";

showGame(readGame(byId("game").textContent ?? ""));
