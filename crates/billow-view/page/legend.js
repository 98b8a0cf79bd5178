/**
 * The heat map's quantity, its colour scale and its range.
 * @module
 */

import { element } from "./app.js";
import { scalePixels } from "./colours.js";
import { nameAndUnit, number } from "./format.js";

/** Fields that people ask for first. */
const FIRST = ["strain", "contacts", "contact_count", "velocity", "speed", "stretch"];

export class Legend {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    /** @type {string | null} */
    this.field = null;
    /** @type {"run" | "frame" | "fixed"} */
    this.mode = "run";
    /** @type {[number, number]} */
    this.fixed = [0, 1];
    /** @type {Map<string, [number, number]>} Extremes of fields in the frames shown so far. */
    this.seen = new Map();
    /** @type {[number, number] | null} Extremes in the frame that is shown. */
    this.now = null;
    /** @type {boolean | null} Which scale stands in the legend. */
    this.drawn = null;
    this.select = /** @type {HTMLSelectElement} */ (element("field"));
    this.modes = /** @type {HTMLSelectElement} */ (element("range-mode"));
    this.ends = ["range-low", "range-high"].map((id) => /** @type {HTMLInputElement} */ (element(id)));
    this.select.addEventListener("change", () => {
      this.field = this.select.value;
      if (this.mode === "fixed") this.mode = "run";
      app.setField(this.field);
      app.linkSoon();
      this.update();
    });
    this.modes.addEventListener("change", () => {
      this.fixed = [...this.app.view.heatRange];
      this.mode = /** @type {any} */ (this.modes.value);
      this.update();
    });
    this.ends.forEach((input, k) =>
      input.addEventListener("change", () => {
        const value = Number(input.value.replaceAll("−", "-").replace(",", "."));
        if (!Number.isFinite(value)) return this.update();
        this.fixed = [...this.app.view.heatRange];
        this.fixed[k] = value;
        if (this.fixed[0] > this.fixed[1]) this.fixed.reverse();
        this.mode = "fixed";
        this.update();
      }),
    );
  }

  /** Takes note of a field that is shown now. @param {import("./types.js").Field | null} field */
  look(field) {
    const columns = field?.columns.filter((c) => c !== null && c.codes.length > 0) ?? [];
    this.now = columns.length === 0 ? null : [Math.min(...columns.map((c) => c?.low ?? 0)), Math.max(...columns.map((c) => c?.high ?? 0))];
    if (!this.now || this.field === null) return;
    const [low, high] = this.seen.get(this.field) ?? this.now;
    this.seen.set(this.field, [Math.min(low, this.now[0]), Math.max(high, this.now[1])]);
  }

  /** Names of all fields of the frame that is shown, those asked for most first. */
  fields() {
    const names = new Set(this.app.renderer.frame?.catalogue.objects.flatMap((o) => o.fields.map((f) => f.name)) ?? []);
    const rank = (/** @type {string} */ name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
    return [...names].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  }

  /** Whether a field is worked out by the viewer. @param {string} name */
  derived(name) {
    const objects = this.app.renderer.frame?.catalogue.objects ?? [];
    return objects.some((o) => o.fields.some((f) => f.name === name && f.values === "derived"));
  }

  update() {
    const { app } = this;
    const heat = app.view.shading === "heat";
    const names = this.fields();
    element("legend").hidden = !heat || names.length === 0;
    if (!heat || names.length === 0) return;
    if (this.field === null || !names.includes(this.field)) {
      this.field = names[0];
      app.setField(this.field);
    }
    this.fill(names);
    const range = this.range(this.field);
    app.view.diverging = range[0] < 0 && range[1] > 0;
    if (app.view.diverging && this.mode !== "fixed") {
      const reach = Math.max(-range[0], range[1]);
      range[0] = -reach;
      range[1] = reach;
    }
    app.view.heatRange = range;
    this.modes.value = this.mode;
    this.ends.forEach((input, k) => {
      if (document.activeElement !== input) input.value = number(range[k]);
    });
    const { unit } = nameAndUnit(this.field);
    element("legend-unit").textContent = unit ? `[${unit}]` : "";
    this.drawScale(app.view.diverging);
    app.invalidate();
  }

  /** @param {string} name @returns {[number, number]} */
  range(name) {
    if (this.mode === "fixed") return [...this.fixed];
    const run = this.app.fieldRanges[name];
    const found = this.mode === "frame" ? this.now : (this.derived(name) ? this.seen.get(name) : run) ?? this.seen.get(name);
    return found ? [...found] : [0, 1];
  }

  /** @param {string[]} names */
  fill(names) {
    const known = [...this.select.options].map((o) => o.value);
    if (known.join("\n") !== names.join("\n")) {
      this.select.replaceChildren(
        ...names.map((name) => {
          const { title } = nameAndUnit(name);
          return new Option(this.derived(name) ? `${title}, derived` : title, name);
        }),
      );
    }
    if (this.field) this.select.value = this.field;
  }

  /** @param {boolean} diverging */
  drawScale(diverging) {
    if (this.drawn === diverging) return;
    this.drawn = diverging;
    const canvas = /** @type {HTMLCanvasElement} */ (element("scale"));
    const image = new ImageData(new Uint8ClampedArray(scalePixels(diverging)), 256, 1);
    canvas.getContext("2d")?.putImageData(image, 0, 0);
  }
}
