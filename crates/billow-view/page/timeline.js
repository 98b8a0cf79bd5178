/**
 * The bar at the bottom: transport, the track with what is there and what is loaded, and the status line.
 * @module
 */

import { element } from "./app.js";
import { duration, whole } from "./format.js";

/** @typedef {import("./app.js").App} App */

const AXES = /** @type {const} */ ([["x", "var(--axis-x)"], ["y", "var(--axis-y)"], ["z", "var(--axis-z)"]]);
const SVG = "http://www.w3.org/2000/svg";

export class Timeline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.scrub = /** @type {HTMLInputElement} */ (element("scrub"));
    this.track = /** @type {HTMLCanvasElement} */ (element("track"));
    this.number = /** @type {HTMLInputElement} */ (element("frame-number"));
    this.speed = /** @type {HTMLSelectElement} */ (element("speed"));
    this.queued = false;
    this.axisOrder = "";
    this.scrub.addEventListener("input", () => {
      app.player.playing = false;
      app.player.seek(Number(this.scrub.value));
      app.invalidate();
    });
    this.number.addEventListener("change", () => {
      const index = Number(this.number.value);
      if (Number.isFinite(index)) app.player.seek(index);
      this.update();
    });
    this.speed.addEventListener("change", () => (app.player.speed = Number(this.speed.value)));
    new ResizeObserver(() => this.update()).observe(this.track);
    this.axes = element("axes");
    for (const [name, colour] of AXES) {
      const group = document.createElementNS(SVG, "g");
      group.dataset.axis = name;
      group.style.setProperty("--c", colour);
      for (const part of ["line", "circle", "text"]) group.append(document.createElementNS(SVG, part));
      /** @type {Element} */ (group.lastElementChild).textContent = name;
      this.axes.append(group);
    }
  }

  /** Redraws with the next picture. */
  update() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.redraw();
    });
  }

  redraw() {
    const { player, run } = this.app;
    const [first, last] = [run.first ?? 0, Math.max(run.last ?? 0, player.available.at(-1) ?? 0)];
    const frame = player.wanted;
    this.scrub.min = String(first);
    this.scrub.max = String(last);
    if (document.activeElement !== this.scrub || Number(this.scrub.value) !== frame) this.scrub.value = String(frame);
    const time = (frame - first) / player.fps;
    this.scrub.setAttribute("aria-valuetext", `frame ${frame}, ${time.toFixed(2)} seconds`);
    if (document.activeElement !== this.number) this.number.value = String(frame);
    element("frame-total").textContent = `/ ${whole(last)}`;
    element("time").textContent = `${time.toFixed(2)} s`;
    this.speed.value = String(player.speed);
    const play = element("play");
    play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
    play.querySelector("use")?.setAttribute("href", player.playing ? "#i-pause" : "#i-play");
    element("loop").setAttribute("aria-pressed", String(player.loop));
    const live = element("live");
    live.hidden = run.status !== "running";
    live.setAttribute("aria-pressed", String(player.follow));
    element("busy").classList.toggle("on", player.waiting);
    if (player.playing) this.app.invalidate();
    this.drawTrack(first, last);
  }

  /** Frames that are there, those loaded, and those damaged. @param {number} first @param {number} last */
  drawTrack(first, last) {
    const { app, track } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [track.clientWidth, track.clientHeight];
    track.width = Math.round(width * ratio);
    track.height = Math.round(height * ratio);
    const context = track.getContext("2d");
    if (!context || width === 0) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(track);
    const inset = 8;
    const count = Math.max(1, last - first);
    const x = (/** @type {number} */ frame) => inset + ((frame - first) / count) * (width - 2 * inset);
    const y = height / 2;
    const bar = (/** @type {number} */ a, /** @type {number} */ b, /** @type {string} */ colour, /** @type {number} */ h) => {
      context.fillStyle = style.getPropertyValue(colour);
      context.beginPath();
      context.roundRect(a, y - h / 2, Math.max(b - a, 1.5), h, h / 2);
      context.fill();
    };
    bar(inset, width - inset, "--track", 5);
    for (const [a, b] of app.run.frames) bar(x(a), x(b), "--track-there", 5);
    const half = (x(first + 1) - x(first)) / 2;
    let start = -1;
    const { available } = app.player;
    for (let k = 0; k <= available.length; k++) {
      const here = k < available.length && app.store.has(available[k]);
      if (here && start < 0) start = k;
      if (!here && start >= 0) {
        bar(Math.max(x(available[start]) - half, inset), Math.min(x(available[k - 1]) + half, width - inset), "--track-loaded", 5);
        start = -1;
      }
    }
    for (const row of app.rows) if (row.error) bar(x(row.frame) - 1.5, x(row.frame) + 1.5, "--bad", 11);
    const { progress, status } = app.run;
    if (progress && status === "running") bar(x(progress.frame - 1), x(progress.frame - 1 + progress.fraction), "--accent", 3);
  }

  /** @param {string} status */
  showStatus(status) {
    const { app } = this;
    const { run } = app;
    const frames = app.player.available.length;
    const of = (run.last ?? 0) - (run.first ?? 0) + 1;
    const left = app.timeLeft();
    const texts = /** @type {Record<string, string>} */ ({
      waiting: "waiting for the first frame",
      running: `computing frame ${run.progress?.frame ?? (app.player.available.at(-1) ?? -1) + 1} of ${run.last ?? 0}` +
        (left === null || left <= 0 ? "" : ` · ${duration(left)} left`),
      finished: `${whole(frames)} frames · finished`,
      interrupted: `${whole(frames)} of ${whole(of)} frames · interrupted`,
      failed: `${whole(frames)} of ${whole(of)} frames · failed${run.message ? `: ${run.message}` : ""}`,
      disconnected: "the viewer's server has gone; trying again",
    });
    const place = element("status");
    place.dataset.status = status;
    element("status-text").textContent = texts[status] ?? status;
    place.title = texts[status] ?? status;
    const empty = element("empty");
    empty.hidden = frames > 0 || status === "disconnected";
    /** @type {HTMLElement} */ (empty.firstElementChild).textContent =
      status === "waiting" || status === "running" ? "Waiting for the first frame…" : "This run has no frames.";
  }

  /** Directions of the run's axes in the corner. */
  drawAxes() {
    const { camera, renderer } = this.app;
    const view = camera.view();
    const up = renderer.upright;
    const ends = [0, 1, 2].map((k) => {
      const axis = [up[4 * k], up[4 * k + 1], up[4 * k + 2]];
      return [0, 1, 2].map((r) => view[r] * axis[0] + view[4 + r] * axis[1] + view[8 + r] * axis[2]);
    });
    const groups = [...this.axes.children];
    AXES.forEach(([name], k) => {
      const group = groups.find((g) => /** @type {SVGElement} */ (g).dataset.axis === name);
      if (!group) return;
      const [x, y] = [26 * ends[k][0], -26 * ends[k][1]];
      const [line, circle, text] = [...group.children];
      for (const [part, key, value] of /** @type {[Element, string, number][]} */ ([
        [line, "x2", x], [line, "y2", y], [circle, "cx", x], [circle, "cy", y], [text, "x", x], [text, "y", y],
      ])) part.setAttribute(key, value.toFixed(1));
      circle.setAttribute("r", "7.5");
    });
    // The axis that comes towards the viewer is drawn last.
    const order = AXES.map(([name], k) => ({ name, depth: ends[k][2] })).sort((a, b) => a.depth - b.depth);
    const wanted = order.map(({ name }) => name).join("");
    if (wanted === this.axisOrder) return;
    this.axisOrder = wanted;
    for (const { name } of order) {
      const group = groups.find((g) => /** @type {SVGElement} */ (g).dataset.axis === name);
      if (group) this.axes.append(group);
    }
  }
}
