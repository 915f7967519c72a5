// Keeps a few choices in this browser. Where that is forbidden, they last as long as the page.

const PREFIX = "obscuro.";

/** @type {Map<string, string>} */
const kept = new Map();

/**
 * @param {string} name
 * @returns {string | null} null if there is none
 */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return kept.get(name) ?? null;
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  kept.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // The browser keeps nothing for us; `kept` has it.
  }
}
