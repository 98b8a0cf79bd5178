/**
 * Starts the page, or says why it cannot.
 * @module
 */

import { App, element } from "./app.js";

try {
  const app = new App();
  // For the console and for tests.
  Object.assign(globalThis, { billow: app });
  await app.start();
} catch (error) {
  const place = element("empty");
  place.hidden = false;
  const message = error instanceof Error ? error.message : String(error);
  /** @type {HTMLElement} */ (place.firstElementChild).textContent = `The viewer cannot start: ${message}.`;
  console.error(error);
}
