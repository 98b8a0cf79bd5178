/**
 * Statistics over time: one small plot per quantity, with the frame that is shown.
 * @module
 */

import { element } from "./app.js";
import { nameAndUnit, number, quantity, ticks } from "./format.js";

/** Quantities that people ask for first. */
const FIRST = [/^seconds/, /collision|contact|impact/, /energy/, /volume/, /retr|sub_?step|iteration/];

const HEIGHT = 74;

/**
 * @typedef {object} Plot
 * @property {HTMLElement} figure
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} value
 */

export class Plots {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, Plot>} */
    this.plots = new Map();
    this.queued = false;
    addEventListener("resize", () => this.update());
  }

  /** Redraws with the next picture, if they can be seen. */
  update() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      if (!element("pane-statistics").hidden) this.redraw();
    });
  }

  redraw() {
    const names = this.names();
    element("statistics-empty").hidden = names.length > 0;
    if ([...this.plots.keys()].join("\n") !== names.join("\n")) {
      const known = this.plots;
      this.plots = new Map(names.map((name) => [name, known.get(name) ?? this.make(name)]));
      element("plots").replaceChildren(...[...this.plots.values()].map((plot) => plot.figure));
    }
    for (const [name, plot] of this.plots) this.draw(name, plot);
  }

  names() {
    const names = new Set(this.app.rows.flatMap((row) => Object.keys(row.stats ?? {})));
    const rank = (/** @type {string} */ name) => {
      const k = FIRST.findIndex((words) => words.test(name.toLowerCase()));
      return k < 0 ? FIRST.length : k;
    };
    return [...names].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  }

  /** @param {string} name @returns {Plot} */
  make(name) {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const title = Object.assign(document.createElement("span"), { textContent: nameAndUnit(name).title });
    const value = Object.assign(document.createElement("output"), { className: "plot-value" });
    caption.append(title, value);
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    const seek = (/** @type {PointerEvent} */ event) => {
      if (event.buttons === 0 && event.type === "pointermove") return;
      const box = canvas.getBoundingClientRect();
      const [first, last] = this.span();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left - 4) / Math.max(box.width - 8, 1)));
      this.app.player.playing = false;
      this.app.player.seek(Math.round(first + share * (last - first)));
      this.app.invalidate();
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    canvas.addEventListener("pointermove", seek);
    figure.append(caption, canvas);
    return { figure, canvas, value };
  }

  /** First and last frame of the axis. @returns {[number, number]} */
  span() {
    const { run, player } = this.app;
    return [run.first ?? 0, Math.max(run.last ?? 0, player.available.at(-1) ?? 0, (run.first ?? 0) + 1)];
  }

  /** @param {string} name @param {Plot} plot */
  draw(name, { canvas, value }) {
    const points = this.app.rows.flatMap((row) => {
      const y = row.stats?.[name];
      return typeof y === "number" && Number.isFinite(y) ? [/** @type {const} */ ([row.frame, y])] : [];
    });
    const { unit, title } = nameAndUnit(name);
    const shown = this.app.player.shown ?? this.app.player.wanted;
    const current = points.find(([frame]) => frame === shown)?.[1];
    value.textContent = current === undefined ? "–" : quantity(current, unit);
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const context = canvas.getContext("2d");
    if (!context || points.length === 0 || width === 0) return;
    context.scale(ratio, ratio);
    let [low, high] = [Infinity, -Infinity];
    for (const [, y] of points) [low, high] = [Math.min(low, y), Math.max(high, y)];
    canvas.setAttribute("aria-label", `${title} over the frames, from ${quantity(low, unit)} to ${quantity(high, unit)}`);
    // Zero belongs to the picture unless the values lie far from it.
    if (low > 0 && low < 0.6 * high) low = 0;
    if (high < 0 && high > 0.6 * low) high = 0;
    if (low === high) [low, high] = [low - Math.max(Math.abs(low) * 0.1, 0.5), high + Math.max(Math.abs(high) * 0.1, 0.5)];
    this.paint(context, points, [low, high], shown);
  }

  /** @param {CanvasRenderingContext2D} context @param {(readonly [number, number])[]} points @param {[number, number]} range @param {number} shown */
  paint(context, points, [low, high], shown) {
    const style = getComputedStyle(element("plots"));
    const colour = (/** @type {string} */ key) => style.getPropertyValue(key);
    const width = context.canvas.clientWidth;
    const [first, last] = this.span();
    const x = (/** @type {number} */ frame) => 4 + ((frame - first) / (last - first)) * (width - 8);
    const y = (/** @type {number} */ v) => HEIGHT - 6 - ((v - low) / (high - low)) * (HEIGHT - 14);

    context.font = "10px system-ui, sans-serif";
    context.fillStyle = colour("--dim");
    context.strokeStyle = colour("--hair");
    context.lineWidth = 1;
    for (const tick of ticks(low, high, 2)) {
      context.beginPath();
      context.moveTo(4, Math.round(y(tick)) + 0.5);
      context.lineTo(width - 4, Math.round(y(tick)) + 0.5);
      context.stroke();
      context.fillText(number(tick), 5, y(tick) - 2.5);
    }

    context.strokeStyle = colour("--accent");
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.beginPath();
    let before = NaN;
    for (const [frame, v] of points) {
      // A missing frame is a gap.
      if (frame === before + 1) context.lineTo(x(frame), y(v));
      else context.moveTo(x(frame), y(v));
      before = frame;
    }
    context.stroke();
    context.globalAlpha = 0.12;
    context.lineTo(x(before), HEIGHT - 5);
    context.lineTo(x(points[0][0]), HEIGHT - 5);
    context.fillStyle = colour("--accent");
    context.fill();
    context.globalAlpha = 1;

    context.strokeStyle = colour("--ink");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x(shown)) + 0.5, 2);
    context.lineTo(Math.round(x(shown)) + 0.5, HEIGHT - 2);
    context.stroke();
    const here = points.find(([frame]) => frame === shown);
    if (here) {
      context.beginPath();
      context.arc(x(shown), y(here[1]), 3, 0, 7);
      context.fillStyle = colour("--accent");
      context.fill();
    }
  }
}
