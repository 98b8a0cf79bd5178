/**
 * The list of objects: what each is, its colour, and whether it is shown.
 * @module
 */

import { element } from "./app.js";
import { css } from "./colours.js";
import { whole } from "./format.js";

/** Rows made at most; the filter finds the others. */
const MOST = 400;

const WORDS = /** @type {Record<string, string>} */ ({
  triangles: "triangles", tets: "tetrahedra", points: "particles", lines: "segments", grid: "grid",
});

export class ObjectList {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.list = element("objects");
    this.filter = /** @type {HTMLInputElement} */ (element("object-filter"));
    this.signature = "";
    this.filter.addEventListener("input", () => this.update());
    element("show-all").addEventListener("click", () => {
      app.view.hidden.clear();
      this.update();
      app.linkSoon();
      app.invalidate();
    });
  }

  update() {
    const { frame } = this.app.renderer;
    if (!frame) return;
    const wanted = this.filter.value.trim().toLowerCase();
    const entries = frame.catalogue.objects
      .map((entry, k) => ({ entry, object: frame.objects[k] }))
      .filter(({ entry }) => entry.name.toLowerCase().includes(wanted));
    this.filter.hidden = frame.objects.length < 9;
    // The list is only built anew when it would look different.
    const hidden = this.app.view.hidden;
    const signature = JSON.stringify(entries.map(({ entry, object }) => [entry.name, object.nonFinite, describe(entry, object), hidden.has(entry.name)]));
    if (signature === this.signature) return;
    this.signature = signature;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    this.list.replaceChildren(...entries.slice(0, MOST).map(({ entry, object }) => this.row(entry, object)));
    if (entries.length > MOST) {
      const more = document.createElement("li");
      more.className = "hint";
      more.textContent = `and ${whole(entries.length - MOST)} more; filter to find them`;
      this.list.append(more);
    }
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    element("show-all").hidden = hidden.size === 0;
    this.facts(frame);
  }

  /** @param {import("./types.js").CatalogueEntry} entry @param {import("./types.js").ObjectRecord} object */
  row(entry, object) {
    const { app } = this;
    const visible = !app.view.hidden.has(entry.name);
    const row = document.createElement("li");
    row.classList.toggle("off", !visible);
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = css(app.renderer.colours(entry.name)[0]);
    const name = document.createElement("button");
    name.type = "button";
    name.className = "object-name";
    name.dataset.key = `frame ${entry.name}`;
    name.title = `Frame ${entry.name}`;
    name.setAttribute("aria-label", `Frame ${entry.name}`);
    const title = Object.assign(document.createElement("span"), { textContent: entry.name });
    const detail = Object.assign(document.createElement("small"), { textContent: describe(entry, object) });
    name.append(title, detail);
    if (object.nonFinite > 0) {
      const bad = `${whole(object.nonFinite)} values are not finite`;
      name.append(Object.assign(document.createElement("small"), { textContent: bad, className: "bad" }));
    }
    name.addEventListener("click", () => app.frameObject(entry.name));
    const eye = document.createElement("button");
    eye.type = "button";
    eye.className = "icon";
    eye.dataset.key = `eye ${entry.name}`;
    eye.setAttribute("aria-label", `Show ${entry.name}`);
    eye.setAttribute("aria-pressed", String(visible));
    eye.title = visible ? "Hide (alt-click: hide all others)" : "Show";
    eye.innerHTML = `<svg><use href="#i-eye${visible ? "" : "-off"}"/></svg>`;
    eye.addEventListener("click", (event) => {
      if (event.altKey) this.solo(entry.name);
      else app.setVisible(entry.name, !visible);
    });
    row.append(swatch, name, eye);
    return row;
  }

  /** Hides all other objects. @param {string} name */
  solo(name) {
    const names = this.app.renderer.frame?.catalogue.objects.map((o) => o.name) ?? [];
    this.app.view.hidden = new Set(names.filter((other) => other !== name));
    this.app.setVisible(name, true);
  }

  /** @param {import("./types.js").Frame} frame */
  facts(frame) {
    const sum = (/** @type {string} */ kind) => frame.objects.reduce((n, o) => n + (o.kind === kind ? (kind === "points" ? o.vertices : o.elements) : 0), 0);
    const { run } = this.app;
    const rows = [
      ["Run", run.name ?? ""],
      ["Made by", run.program ?? ""],
      ["Frame rate", `${run.fps ?? 0} per second`],
      ["Objects", whole(frame.objects.length)],
      ["Triangles shown", whole(sum("triangles"))],
      ["Particles", whole(sum("points"))],
    ].filter(([, value]) => value !== "" && value !== "0");
    element("facts").replaceChildren(
      ...rows.flatMap(([name, value]) => [
        Object.assign(document.createElement("dt"), { textContent: name }),
        Object.assign(document.createElement("dd"), { textContent: value }),
      ]),
    );
  }
}

/** @param {import("./types.js").CatalogueEntry} entry @param {import("./types.js").ObjectRecord} object */
function describe(entry, object) {
  if (entry.shape === "grid") return `grid ${object.dims.join(" × ")}`;
  if (entry.shape === "points") return `${whole(object.vertices)} particles`;
  return `${whole(entry.elements)} ${WORDS[entry.shape]}`;
}
