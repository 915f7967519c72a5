// Keeps a WebSocket open: after a loss it tries again, with longer and longer pauses.

export const GONE = 4404; // the server closes with this code where there is no such game

const LEAST_REFUSAL = 4000; // and all codes above it

const FIRST_PAUSE = 500; // ms
const LONGEST_PAUSE = 8000;
const ANSWER_LIMIT = 10_000; // ms; a dead network doesn't close a socket by itself

/**
 * @typedef {{onMessage: (message: any) => void, onOpen: () => void,
 *   onLost: (refused: boolean) => void, onGone: () => void}} Listener
 *   onLost: once for each loss; refused: the server closed it, and has said why. onGone: the server
 *   knows no such game; nothing comes after it.
 */

export class Connection {
  /**
   * @param {string} path
   * @param {Listener} listener
   */
  constructor(path, listener) {
    const url = new URL(path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.url = url.href;
    this.listener = listener;
    this.pause = FIRST_PAUSE;
    this.lost = false;
    this.retry = 0;
    this.overdue = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    addEventListener("online", () => this.hurry());
    addEventListener("visibilitychange", () => this.hurry());
    this.open();
  }

  open() {
    clearTimeout(this.retry);
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.pause = FIRST_PAUSE;
      this.lost = false;
      this.listener.onOpen();
    });
    socket.addEventListener("message", (event) => {
      clearTimeout(this.overdue);
      this.listener.onMessage(JSON.parse(event.data));
    });
    socket.addEventListener("close", (event) => {
      if (this.socket !== socket) return;
      if (event.code === GONE) this.listener.onGone();
      else this.onClosed(event.code > LEAST_REFUSAL);
    });
  }

  /** @param {boolean} refused */
  onClosed(refused) {
    this.socket = null;
    clearTimeout(this.overdue);
    this.retry = setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    if (!this.lost) this.listener.onLost(refused);
    this.lost = true;
  }

  /** Try at once, because the network or the player is back. */
  hurry() {
    if (this.lost && this.socket === null && !document.hidden) this.open();
  }

  /**
   * Send a message. Returns false if there is no connection; then nothing is sent.
   * @param {object} message
   */
  send(message) {
    const socket = this.socket;
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    clearTimeout(this.overdue);
    this.overdue = setTimeout(() => this.giveUp(socket), ANSWER_LIMIT);
    return true;
  }

  /** @param {WebSocket} socket */
  giveUp(socket) {
    if (this.socket !== socket) return;
    socket.close(); // its own end may take a minute more
    this.onClosed(false);
  }
}
