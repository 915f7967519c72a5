// Asks the server over HTTP.

/**
 * @typedef {{number: number, elo: number | null, name: string}} Level
 * @typedef {{name: string, base: number, increment: number}} TimeControl
 * @typedef {{levels: Level[], full: string, times: TimeControl[], moves: number[],
 *   limits: {matches: boolean}}} Settings
 * @typedef {{game: string, you: "white" | "black" | null, status: string, result: string | null,
 *   level: number | null, started: string, plies: number, white?: string,
 *   black?: string, moments?: Moment[]}} OwnGame
 *   you: null where the visitor only watches; white and black are the names of the players then
 * @typedef {{ply: number, text: string}} Moment a bad one of a game; ply: before the move
 * @typedef {{game: string, white: string, black: string, result: string,
 *   moments: Moment[]}} FileGame
 */

/** What all paths of this server begin with: `/`, or more if it is behind a proxy. */
export const ROOT = new URL("..", import.meta.url).pathname;

/** The message is one line for the player. */
export class RefusedError extends Error {}

/**
 * Get or post. Throws RefusedError.
 * @param {string} path below `ROOT`
 * @param {object | Blob} [body] a file goes as it is; anything else as JSON; none: GET
 * @returns {Promise<any>}
 */
export async function ask(path, body) {
  const file = body instanceof Blob;
  /** @type {RequestInit} */
  const options = { headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.method = "POST";
    options.body = file ? body : JSON.stringify(body);
    options.headers = { "Content-Type": file ? "application/octet-stream" : "application/json" };
  }
  let answer;
  try {
    answer = await fetch(`${ROOT}${path}`, options);
  } catch {
    throw new RefusedError("The server does not answer. Is it still running?");
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new RefusedError(content.error ?? `The server answers with code ${answer.status}.`);
  }
  return content;
}

/**
 * The name of a strength.
 * @param {Settings} settings
 * @param {number | null} level
 */
export function levelName(settings, level) {
  if (level === null) return settings.full;
  const found = settings.levels.find((each) => each.number === level);
  const elo = found?.elo ? ` · Elo ${found.elo}` : "";
  return `level ${level}${elo}`;
}
