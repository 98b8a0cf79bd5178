/**
 * Buttons, tabs and settings, each tied to what it does.
 * @module
 */

import { element } from "./app.js";
import { explainKeys } from "./shortcuts.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function connectControls(app) {
  /** @type {[string, () => void][]} */
  const buttons = [
    ["frame-all", () => app.frameAll()],
    ["screenshot", () => void app.screenshot()],
    ["copy-link", () => void app.copyLink()],
    ["theme", () => app.theme.toggle()],
    ["panel-toggle", () => app.togglePanel()],
    ["help-open", () => app.toggleHelp()],
    ["help-close", () => app.toggleHelp()],
    ["first", () => app.player.step(-1e9)],
    ["back", () => app.player.step(-1)],
    ["play", () => app.player.toggle()],
    ["on", () => app.player.step(1)],
    ["last", () => app.goLive()],
    ["loop", () => app.toggleLoop()],
    ["live", () => app.goLive()],
  ];
  for (const [id, act] of buttons) {
    element(id).addEventListener("click", () => {
      act();
      app.invalidate();
    });
  }
  element("shading").addEventListener("change", (event) => {
    app.setShading(/** @type {any} */ (/** @type {HTMLInputElement} */ (event.target).value));
  });
  connectTabs();
  connectSettings(app);
  explainKeys(element("keys"));
  const dialog = /** @type {HTMLDialogElement} */ (element("help"));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  if (matchMedia("(max-width: 760px)").matches) app.togglePanel();
}

function connectTabs() {
  const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[role=tab]")]);
  const select = (/** @type {HTMLElement} */ chosen) => {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      element(tab.getAttribute("aria-controls") ?? "").hidden = !on;
    }
    dispatchEvent(new Event("resize"));
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(k + step + tabs.length) % tabs.length];
      select(next);
      next.focus();
    });
  });
}

/** @param {App} app */
function connectSettings(app) {
  const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (element(id));
  input("set-grid").addEventListener("change", () => app.toggleView("grid"));
  input("set-shadows").addEventListener("change", () => app.toggleView("shadows"));
  input("set-fov").addEventListener("input", () => app.setFov(Number(input("set-fov").value)));
  for (const [id, key] of /** @type {["set-fog" | "set-points", "fogDensity" | "pointSize"][]} */ ([
    ["set-fog", "fogDensity"],
    ["set-points", "pointSize"],
  ])) {
    input(id).addEventListener("input", () => {
      app.view[key] = 2 ** (2 * Number(input(id).value));
      app.invalidate();
    });
  }
}
