/**
 * What the keyboard does. One table serves the keys and the overlay that explains them.
 * @module
 */

/** @typedef {import("./app.js").App} App */

/** Angle of one key press [rad]. */
const TURN = Math.PI / 24;

/**
 * @typedef {object} Shortcut
 * @property {string[]} keys As `event.key`; `shift+` in front where it matters.
 * @property {string} shown
 * @property {string} does
 * @property {(app: App, key: string) => void} run
 */

/** @type {{title: string, shortcuts: Shortcut[]}[]} */
export const GROUPS = [
  {
    title: "Time",
    shortcuts: [
      { keys: [" ", "k"], shown: "Space", does: "play or pause", run: (app) => app.player.toggle() },
      { keys: ["ArrowLeft"], shown: "←", does: "one frame back", run: (app) => app.player.step(-1) },
      { keys: ["ArrowRight"], shown: "→", does: "one frame on", run: (app) => app.player.step(1) },
      { keys: ["PageUp"], shown: "Page ↑", does: "ten frames back", run: (app) => app.player.step(-10) },
      { keys: ["PageDown"], shown: "Page ↓", does: "ten frames on", run: (app) => app.player.step(10) },
      { keys: ["Home"], shown: "Home", does: "first frame", run: (app) => app.player.step(-1e9) },
      { keys: ["End"], shown: "End", does: "last frame, and follow a running simulation", run: (app) => app.goLive() },
      { keys: ["l"], shown: "L", does: "loop on or off", run: (app) => app.toggleLoop() },
      { keys: [",", "."], shown: ", .", does: "slower, faster", run: (app, key) => app.changeSpeed(key === "." ? 1 : -1) },
    ],
  },
  {
    title: "Camera",
    shortcuts: [
      { keys: ["f"], shown: "F", does: "frame all", run: (app) => app.frameAll() },
      {
        keys: ["shift+ArrowLeft", "shift+ArrowRight", "shift+ArrowUp", "shift+ArrowDown"],
        shown: "Shift ← → ↑ ↓",
        does: "orbit",
        run: (app, key) => {
          const [right, up] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1] }[key] ?? [0, -1];
          app.camera.orbit(right * TURN, up * TURN);
          app.cameraMoved();
        },
      },
      {
        keys: ["w", "a", "s", "d"],
        shown: "W A S D",
        does: "pan",
        run: (app, key) => {
          const [right, up] = { a: [1, 0], d: [-1, 0], w: [0, -1] }[key] ?? [0, 1];
          app.camera.pan(right * 0.06, up * 0.06);
          app.cameraMoved();
        },
      },
      {
        keys: ["+", "=", "-"],
        shown: "+ −",
        does: "zoom",
        run: (app, key) => {
          app.camera.zoom(key === "-" ? 1.15 : 1 / 1.15);
          app.cameraMoved();
        },
      },
    ],
  },
  {
    title: "Picture",
    shortcuts: [
      {
        keys: ["1", "2", "3", "4", "5"],
        shown: "1 – 5",
        does: "smooth, flat, wire, normal, heat map",
        run: (app, key) => app.setShading(/** @type {const} */ (["smooth", "flat", "wire", "normal", "heat"])[Number(key) - 1]),
      },
      { keys: ["g"], shown: "G", does: "ground and grid", run: (app) => app.toggleView("grid") },
      { keys: ["o"], shown: "O", does: "shadows", run: (app) => app.toggleView("shadows") },
      { keys: ["p"], shown: "P", does: "save a picture", run: (app) => void app.screenshot() },
      { keys: ["c"], shown: "C", does: "copy a link to this view", run: (app) => void app.copyLink() },
      { keys: ["t"], shown: "T", does: "light or dark", run: (app) => app.theme.toggle() },
      { keys: ["b"], shown: "B", does: "side panel", run: (app) => app.togglePanel() },
      { keys: ["?", "h"], shown: "?", does: "this overview", run: (app) => app.toggleHelp() },
    ],
  },
];

/** @param {App} app */
export function listenKeys(app) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.matches("input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select");
    // Controls keep the keys they answer to themselves.
    const own = target.matches("button, summary, a, input[type=checkbox], input[type=radio]") && [" ", "Enter"].includes(event.key);
    const arrows = target.matches("input[type=range], input[type=radio], [role=tab]") && /^(Arrow|Page|Home|End)/.test(event.key);
    if (typing || own || arrows || document.querySelector("dialog[open]")) return;
    const plain = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const key = event.shiftKey && plain.startsWith("Arrow") ? `shift+${plain}` : plain;
    const found = GROUPS.flatMap((group) => group.shortcuts).find((shortcut) => shortcut.keys.includes(key));
    if (!found) return;
    event.preventDefault();
    found.run(app, plain);
  });
}

/** Fills the overlay. @param {HTMLElement} place */
export function explainKeys(place) {
  for (const { title, shortcuts } of GROUPS) {
    const section = document.createElement("section");
    const heading = document.createElement("h3");
    heading.textContent = title;
    const list = document.createElement("dl");
    for (const { shown, does } of shortcuts) {
      const [key, text] = [document.createElement("dt"), document.createElement("dd")];
      key.append(...shown.split(" ").map((k) => Object.assign(document.createElement("kbd"), { textContent: k })));
      text.textContent = does;
      list.append(key, text);
    }
    section.append(heading, list);
    place.append(section);
  }
}
