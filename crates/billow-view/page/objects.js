/**
 * The list of objects: what each is, its colour, and whether it is shown.
 * @module
 */

import { element } from "./app.js";
import { css } from "./colours.js";
import { whole } from "./format.js";
import { groupOf } from "./groups.js";

/** Rows made at most; the filter finds the others. */
const MOST = 400;
/** Bodies of an array from which on they share one row until it is opened. */
const SHARED = 4;

/** @typedef {{entry: import("./types.js").CatalogueEntry, object: import("./types.js").ObjectRecord}} Listed */

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
    /** @type {Set<string>} Groups whose bodies have rows of their own. */
    this.open = new Set();
    this.filter.addEventListener("input", () => this.update());
    element("show-all").addEventListener("click", () => {
      app.view.hidden.clear();
      app.hiddenChanged();
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
    const signature = JSON.stringify([...this.open, ...entries.map(({ entry, object }) => [entry.name, object.nonFinite, describe(entry, object), hidden.has(entry.name)])]);
    if (signature === this.signature) return;
    this.signature = signature;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    const rows = this.rows(entries, wanted !== "");
    this.list.replaceChildren(...rows.slice(0, MOST).map((make) => make()));
    if (rows.length > MOST) {
      const more = document.createElement("li");
      more.className = "hint";
      more.textContent = `and ${whole(rows.length - MOST)} more; filter to find them`;
      this.list.append(more);
    }
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    element("show-all").hidden = hidden.size === 0;
    this.facts(frame);
  }

  /** What makes each row: one per object, one per group of an array. @param {Listed[]} entries @param {boolean} filtered */
  rows(entries, filtered) {
    /** @type {Map<string, Listed[]>} */
    const groups = new Map();
    for (const listed of filtered ? [] : entries) {
      const group = groupOf(listed.entry.name);
      if (group === null) continue;
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group)?.push(listed);
    }
    /** @type {(() => HTMLLIElement)[]} */
    const rows = [];
    for (const { entry, object } of entries) {
      const group = groupOf(entry.name) ?? "";
      const members = groups.get(group) ?? [];
      const shared = members.length >= SHARED;
      if (shared && members[0].entry === entry) rows.push(() => this.groupRow(group, members));
      if (!shared || this.open.has(group)) rows.push(() => this.row(entry, object, shared));
    }
    return rows;
  }

  /** @param {string} group @param {Listed[]} members */
  groupRow(group, members) {
    const { hidden } = this.app.view;
    const shown = members.filter(({ entry }) => !hidden.has(entry.name)).length;
    const open = this.open.has(group);
    const row = document.createElement("li");
    row.classList.toggle("off", shown === 0);
    const name = document.createElement("button");
    name.type = "button";
    name.className = "object-name group";
    name.dataset.key = `open ${group}`;
    name.title = open ? "Fold" : "Unfold";
    name.setAttribute("aria-expanded", String(open));
    const count = shown === members.length || shown === 0 ? whole(members.length) : `${whole(shown)} of ${whole(members.length)}`;
    const title = group.slice(0, -2);
    name.setAttribute("aria-label", `${title}, ${count} bodies`);
    name.append(
      Object.assign(document.createElement("span"), { textContent: title }),
      Object.assign(document.createElement("small"), { textContent: `${count} bodies` }),
    );
    name.addEventListener("click", () => {
      if (!this.open.delete(group)) this.open.add(group);
      this.update();
    });
    row.append(this.swatch(members[0].entry.name), name, this.eye(group, shown > 0, () => {
      hidden.setGroup(group, shown === 0);
      this.app.hiddenChanged();
    }));
    return row;
  }

  /** @param {string} name */
  swatch(name) {
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = css(this.app.renderer.colours(name)[0]);
    return swatch;
  }

  /** A button that shows and hides. @param {string} name @param {boolean} visible @param {(event: MouseEvent) => void} act */
  eye(name, visible, act) {
    const eye = document.createElement("button");
    eye.type = "button";
    eye.className = "icon";
    eye.dataset.key = `eye ${name}`;
    eye.setAttribute("aria-label", `Show ${name}`);
    eye.setAttribute("aria-pressed", String(visible));
    eye.title = visible ? "Hide (alt-click: hide all others)" : "Show";
    eye.innerHTML = `<svg><use href="#i-eye${visible ? "" : "-off"}"/></svg>`;
    eye.addEventListener("click", (event) => (event.altKey ? this.solo(name) : act(event)));
    return eye;
  }

  /** @param {Listed["entry"]} entry @param {Listed["object"]} object @param {boolean} inGroup */
  row(entry, object, inGroup) {
    const { app } = this;
    const visible = !app.view.hidden.has(entry.name);
    const row = document.createElement("li");
    row.classList.toggle("off", !visible);
    row.classList.toggle("member", inGroup);
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
    row.append(this.swatch(entry.name), name, this.eye(entry.name, visible, () => app.setVisible(entry.name, !visible)));
    return row;
  }

  /** Hides all others. @param {string} name Of an object or a group. */
  solo(name) {
    const { hidden } = this.app.view;
    const names = this.app.renderer.frame?.catalogue.objects.map((o) => o.name) ?? [];
    hidden.clear();
    for (const other of names) {
      const group = groupOf(other);
      if (other === name || group === name) continue;
      // Groups as wholes, except the one that a lone body is left of.
      hidden.add(group !== null && group !== groupOf(name) ? group : other);
    }
    this.app.hiddenChanged();
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
