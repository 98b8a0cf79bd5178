/**
 * The page as a whole: what is shown, and how its parts talk to each other.
 * @module
 */

import { Camera } from "./camera.js";
import { connectControls } from "./controls.js";
import { FrameStore, getJson } from "./frames.js";
import { listen } from "./gestures.js";
import { Hidden } from "./groups.js";
import { Legend } from "./legend.js";
import { identity, length, sub, transform } from "./linalg.js";
import { readLink, writeLink } from "./link.js";
import { ObjectList } from "./objects.js";
import { Player } from "./player.js";
import { Plots } from "./plots.js";
import { Renderer } from "./renderer.js";
import { listenKeys } from "./shortcuts.js";
import { Theme } from "./theme.js";
import { Timeline } from "./timeline.js";

/** @typedef {import("./types.js").Vec3} Vec3 */
/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Table} Table */
/** @typedef {import("./types.js").Shading} Shading */

/** Turns y up to z up. */
const Y_UP = new Float64Array([1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1]);
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
/** Pictures slower than this while something moves are drawn coarser [ms]. */
const SLOW = 50;

/** @template {HTMLElement} T @param {string} id @returns {T} */
export function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return /** @type {T} */ (found);
}

export class App {
  constructor() {
    this.canvas = /** @type {HTMLCanvasElement} */ (element("picture"));
    this.stage = element("stage");
    /** @type {Run} */
    this.run = { version: 0, epoch: 0, status: "waiting", frames: [] };
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Table["bounds"]} */
    this.tableBounds = null;
    /** @type {Vec3[]} The outermost points of the frames known so far. */
    this.hull = [];
    /** @type {Table["fields"]} */
    this.fieldRanges = {};
    /** @type {import("./renderer.js").View} */
    this.view = {
      shading: "smooth", grid: true, shadows: true, dark: false, hidden: new Hidden(), heatRange: [0, 1], diverging: false,
      fogDensity: 1, pointSize: 1, resolution: 1, openness: true,
    };
    this.camera = new Camera();
    this.renderer = new Renderer(this.canvas);
    this.store = new FrameStore();
    this.player = new Player(this.store, { show: (index) => this.present(index), changed: () => this.timeline.update() });
    this.store.onError = (_, error) => this.notice(error.message);
    this.timeline = new Timeline(this);
    this.objects = new ObjectList(this);
    this.plots = new Plots(this);
    this.legend = new Legend(this);
    this.theme = new Theme((dark) => {
      this.view.dark = dark;
      this.plots.update();
      this.timeline.update();
      this.invalidate();
    });
    /** Whether the camera keeps everything in view by itself: until someone moves it. */
    this.autoFrame = true;
    /** Whether it is known what there is to see, and whether the camera has been placed once. */
    this.hasBox = false;
    this.placed = false;
    this.hullUsed = false;
    this.link = readLink(location.hash);
    this.pending = false;
    this.before = 0;
    /** Longest recent time between pictures while something moved [ms]. */
    this.pace = 0;
    this.coarse = 0;
    this.linkTimer = 0;
    this.noticeTimer = 0;
    /** @type {{frames: number, time: number}[]} When frames came, to tell how long the rest will take. */
    this.arrivals = [];
  }

  async start() {
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    this.camera.reducedMotion = still.matches;
    still.addEventListener("change", () => (this.camera.reducedMotion = still.matches));
    connectControls(this);
    listenKeys(this);
    listen(this.canvas, this.camera, {
      changed: () => this.cameraMoved(),
      tapped: () => this.frameAll(),
    });
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.notice("The graphics driver stopped; reload the page to go on.");
    });
    addEventListener("hashchange", () => this.follow(readLink(location.hash)));
    this.resize();
    this.applyLink();
    await this.take(await getJson("run"));
    this.watch();
  }

  /** Asks for news of the run for as long as the page is looked at. */
  async watch() {
    let failures = 0;
    for (;;) {
      if (document.hidden) {
        await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
        continue;
      }
      try {
        await this.take(await getJson(`watch/${this.run.version}`));
        failures = 0;
      } catch {
        failures++;
        this.showStatus("disconnected");
        await new Promise((resolve) => setTimeout(resolve, Math.min(500 * failures, 5000)));
      }
    }
  }

  /** Takes in what the server says of the run. @param {Run} run */
  async take(run) {
    if (run.epoch !== this.run.epoch) {
      this.store.clear();
      this.renderer.clear();
      this.player.shown = null;
      this.rows = [];
      this.tableBounds = null;
      this.hull = [];
      this.fieldRanges = {};
      this.legend.seen.clear();
    }
    const fresh = this.run.status === "waiting" && run.status !== "waiting";
    this.run = run;
    this.player.fps = run.fps ?? 24;
    this.renderer.upright = run.up === "y" ? Y_UP : identity();
    this.renderer.looks = run.look?.objects ?? {};
    if (run.look?.camera?.fov) this.setFov(run.look.camera.fov, fresh);
    if (fresh && !this.link.hidden) this.view.hidden = this.hiddenAtFirst();
    document.title = run.title ? `${run.title} – Billow` : "Billow viewer";
    element("title").textContent = run.title || run.name || "Billow";
    this.player.setRanges(run.frames);
    if (this.link.frame !== undefined && this.player.available.length > 0) {
      this.player.seek(this.link.frame);
      if (this.player.wanted === this.link.frame) delete this.link.frame;
    }
    this.noteArrival();
    this.showStatus();
    this.timeline.update();
    await this.refreshTable();
  }

  /** Fetches statistics of frames not known yet. */
  async refreshTable() {
    while ((this.run.indexed ?? 0) > this.rows.length) {
      const table = /** @type {Table} */ (await getJson(`table/${this.rows.length}`));
      if (table.epoch !== this.run.epoch) return;
      if (table.rows.length === 0) break;
      this.rows.push(...table.rows);
      this.tableBounds = table.bounds;
      this.hull = table.hull;
      this.fieldRanges = table.fields;
    }
    this.plots.update();
    this.legend.update();
    this.updateBox();
  }

  noteArrival() {
    const frames = this.player.available.length;
    if (this.arrivals.at(-1)?.frames === frames) return;
    this.arrivals.push({ frames, time: performance.now() / 1000 });
    if (this.arrivals.length > 12) this.arrivals.shift();
  }

  /** Time until the run is done, judging by the last frames [s]. */
  timeLeft() {
    const [a, b] = [this.arrivals[0], this.arrivals.at(-1)];
    if (!a || !b || b.frames <= a.frames || this.arrivals.length < 3) return null;
    const goal = (this.run.last ?? 0) - (this.run.first ?? 0) + 1;
    return ((goal - b.frames) * (b.time - a.time)) / (b.frames - a.frames);
  }

  /** @param {string} [override] */
  showStatus(override) {
    this.timeline.showStatus(override ?? this.run.status);
  }

  /** Sets what ground, shadow and camera cover. */
  updateBox() {
    const { renderer } = this;
    const now = renderer.bounds();
    const all = this.tableBounds ? turned(renderer.upright, this.tableBounds) : null;
    const box = all && now ? union(all, now) : (all ?? now);
    if (!box) return;
    const size = Math.max(length(sub(box[1], box[0])), 1e-9);
    const before = length(sub(renderer.box[1], renderer.box[0]));
    const grown = !this.hasBox || size > 1.02 * before || this.hull.length > 0 !== this.hullUsed;
    this.hullUsed = this.hull.length > 0;
    this.hasBox = true;
    renderer.box = box;
    this.camera.extent = size;
    const low = box[0][2];
    const given = this.run.look?.ground?.height;
    renderer.groundHeight = given ?? (low > -0.01 * size && low < 0.75 * size ? Math.min(0, low) : low);
    if (this.autoFrame && grown) this.placeCamera(before === 0);
    this.invalidate();
  }

  /** Puts the camera where the address, the scene or everything in view asks for. @param {boolean} [at] */
  placeCamera(at = false) {
    const first = !this.placed;
    this.placed = true;
    const look = this.run.look?.camera;
    if (this.link.camera) {
      this.camera.stand(this.upright(this.link.camera.eye), this.upright(this.link.camera.target));
      this.autoFrame = false;
    } else if (look?.position) {
      const target = look.target ? this.upright(look.target) : /** @type {Vec3} */ (centre(this.renderer.box));
      this.camera.stand(this.upright(look.position), target);
      this.autoFrame = false;
    } else {
      if (first && look?.direction) {
        const d = this.upright(look.direction);
        this.camera.stand(/** @type {Vec3} */ (d.map((x) => -x)), [0, 0, 0]);
      }
      this.camera.frame(this.everything(), this.aspect, at || first);
    }
    this.invalidate();
  }

  /** Run coordinates to z up. @param {Vec3} v @returns {Vec3} */
  upright(v) {
    const [x, y, z] = transform(this.renderer.upright, v);
    return [x, y, z];
  }

  /** Points that bound everything in the run, as far as it is known. */
  everything() {
    return this.hull.length > 0 ? this.hull.map((p) => this.upright(p)) : corners(this.renderer.box);
  }

  get aspect() {
    return this.canvas.width / Math.max(this.canvas.height, 1);
  }

  /** Shows a frame that is here. @param {number} index */
  present(index) {
    const entry = this.store.get(index);
    if (!entry) return;
    this.renderer.show(entry.frame, entry.field);
    this.legend.look(entry.field);
    this.objects.update();
    this.legend.update();
    this.plots.update();
    if (!this.hasBox) this.updateBox();
    this.linkSoon();
    this.invalidate();
  }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.stage.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.stage.clientHeight * ratio));
    if (width === this.canvas.width && height === this.canvas.height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    if (this.autoFrame && this.hasBox) this.camera.frame(this.everything(), this.aspect, true);
    // At once, so that a stretched picture never shows.
    this.renderer.draw(this.camera, this.view);
    this.invalidate();
  }

  /** Draws a new picture soon. */
  invalidate() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  /** @param {number} now [ms] */
  tick(now) {
    this.pending = false;
    const dt = this.before > 0 ? Math.min((now - this.before) / 1000, 0.25) : 1 / 60;
    const moving = this.camera.settle(now / 1000, dt);
    const playing = this.player.tick(dt);
    if (moving || playing) {
      this.pace = this.before > 0 ? 0.8 * this.pace + 0.2 * (now - this.before) : 0;
      if (this.pace > SLOW && this.coarse < 2) {
        this.coarse++;
        this.pace = 0;
      }
      this.before = now;
    } else {
      this.before = 0;
    }
    const level = moving || playing ? this.coarse : 0;
    this.view.resolution = [1, 0.7, 0.5][level];
    this.view.openness = this.view.shadows && level === 0;
    this.renderer.draw(this.camera, this.view);
    this.timeline.drawAxes();
    if (moving || playing) this.invalidate();
  }

  cameraMoved() {
    this.autoFrame = false;
    this.linkSoon();
    this.invalidate();
  }

  frameAll() {
    const shown = this.renderer.bounds((name) => !this.view.hidden.has(name));
    const everything = this.view.hidden.size === 0;
    if (!everything && !shown) return;
    this.autoFrame = everything;
    delete this.link.camera;
    this.camera.frame(shown && !everything ? corners(shown) : this.everything(), this.aspect);
    this.linkSoon();
    this.invalidate();
  }

  /** Fits one object. @param {string} name */
  frameObject(name) {
    const box = this.renderer.bounds((other) => other === name);
    if (!box) return;
    this.autoFrame = false;
    this.camera.frame(corners(box), this.aspect);
    this.linkSoon();
    this.invalidate();
  }

  /** @param {Shading} shading */
  setShading(shading) {
    this.view.shading = shading;
    const radio = document.querySelector(`input[name=shading][value=${shading}]`);
    if (radio instanceof HTMLInputElement) radio.checked = true;
    this.legend.update();
    this.setField(shading === "heat" ? this.legend.field : null);
    this.linkSoon();
    this.invalidate();
  }

  /** @param {string | null} name */
  setField(name) {
    if (this.store.field === name) return;
    this.store.field = name;
    this.player.shown = null;
    this.player.fetch();
  }

  /** @param {"grid" | "shadows"} key */
  toggleView(key) {
    this.view[key] = !this.view[key];
    /** @type {HTMLInputElement} */ (element(`set-${key}`)).checked = this.view[key];
    this.invalidate();
  }

  /** @param {string} name @param {boolean} visible */
  setVisible(name, visible) {
    this.view.hidden.set(name, visible, this.renderer.frame?.catalogue.objects.map((o) => o.name) ?? []);
    this.hiddenChanged();
  }

  /** What the scene does not show. */
  hiddenAtFirst() {
    return new Hidden(Object.entries(this.renderer.looks).flatMap(([name, look]) => (look.hidden ? [name] : [])));
  }

  hiddenChanged() {
    this.objects.update();
    this.linkSoon();
    this.invalidate();
  }

  /** @param {number} degrees @param {boolean} [write] */
  setFov(degrees, write = true) {
    if (!write) return;
    this.camera.fov = (degrees * Math.PI) / 180;
    /** @type {HTMLInputElement} */ (element("set-fov")).value = String(degrees);
    if (this.autoFrame && this.hasBox) this.camera.frame(this.everything(), this.aspect, true);
    this.invalidate();
  }

  toggleLoop() {
    this.player.loop = !this.player.loop;
    this.timeline.update();
  }

  /** @param {number} steps */
  changeSpeed(steps) {
    const at = SPEEDS.indexOf(this.player.speed) + steps;
    this.player.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    this.timeline.update();
  }

  /** Goes to the last frame and stays with it. */
  goLive() {
    this.player.step(1e9);
    this.player.follow = this.run.status === "running";
    this.timeline.update();
  }

  togglePanel() {
    const closed = document.body.classList.toggle("panel-closed");
    element("panel-toggle").setAttribute("aria-expanded", String(!closed));
  }

  toggleHelp() {
    const dialog = /** @type {HTMLDialogElement} */ (element("help"));
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  /** What the address should say. @param {boolean} camera */
  linked(camera) {
    const down = (/** @type {Vec3} */ v) => /** @type {Vec3} */ (this.run.up === "y" ? [v[0], v[2], -v[1]] : v);
    const { goal } = this.camera;
    const back = /** @type {Vec3} */ ([
      Math.cos(goal.elevation) * Math.cos(goal.azimuth),
      Math.cos(goal.elevation) * Math.sin(goal.azimuth),
      Math.sin(goal.elevation),
    ]);
    const eye = /** @type {Vec3} */ (goal.target.map((x, k) => x + goal.distance * back[k]));
    return writeLink({
      frame: this.player.wanted,
      shading: this.view.shading,
      field: this.legend.field ?? undefined,
      camera: camera ? { eye: down(eye), target: down(goal.target) } : undefined,
      hidden: same(this.view.hidden, this.hiddenAtFirst()) ? undefined : [...this.view.hidden],
    });
  }

  /** Writes the address when things have come to rest. */
  linkSoon() {
    clearTimeout(this.linkTimer);
    this.linkTimer = setTimeout(() => {
      if (!this.player.playing) history.replaceState(null, "", this.linked(!this.autoFrame));
    }, 300);
  }

  applyLink() {
    if (this.link.hidden) this.view.hidden = new Hidden(this.link.hidden);
    if (this.link.field) this.legend.field = this.link.field;
    if (this.link.shading) this.setShading(this.link.shading);
  }

  /** Goes where a changed address points. @param {import("./link.js").Linked} link */
  follow(link) {
    this.link = link;
    this.view.hidden = this.hiddenAtFirst();
    this.applyLink();
    if (!link.shading) this.setShading("smooth");
    if (link.camera) this.placeCamera();
    if (link.frame !== undefined) this.player.seek(link.frame);
    this.objects.update();
    this.invalidate();
  }

  async copyLink() {
    const address = location.href.split("#")[0] + this.linked(true);
    history.replaceState(null, "", this.linked(true));
    try {
      await navigator.clipboard.writeText(address);
      this.notice("Link copied. It works while the viewer runs.");
    } catch {
      this.notice("The link now stands in the address bar.");
    }
  }

  async screenshot() {
    this.view.resolution = 1;
    this.view.openness = this.view.shadows;
    this.renderer.draw(this.camera, this.view);
    // The picture must be taken in the same turn as it was drawn.
    const blob = await new Promise((/** @type {(b: Blob | null) => void} */ resolve) => this.canvas.toBlob(resolve, "image/png"));
    if (!blob) {
      this.notice("The browser made no picture.");
      return;
    }
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(blob);
    anchor.download = `${this.run.name ?? "billow"}-${String(this.player.shown ?? 0).padStart(4, "0")}.png`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
    this.notice(`Saved ${anchor.download}`);
  }

  /** Says something for a few seconds. @param {string} text */
  notice(text) {
    const place = element("notice");
    place.textContent = text;
    place.hidden = false;
    clearTimeout(this.noticeTimer);
    this.noticeTimer = setTimeout(() => (place.hidden = true), 5000);
  }
}

/** Whether the same is hidden. @param {Hidden} a @param {Hidden} b */
const same = (a, b) => a.size === b.size && [...a].every((name) => b.names.has(name));

/** @param {[Vec3, Vec3]} box */
const centre = ([low, high]) => low.map((x, k) => (x + high[k]) / 2);

/** @param {[Vec3, Vec3]} box @returns {Vec3[]} */
const corners = ([low, high]) =>
  [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]]);

/** @param {[Vec3, Vec3]} a @param {[Vec3, Vec3]} b @returns {[Vec3, Vec3]} */
const union = (a, b) => [
  /** @type {Vec3} */ (a[0].map((x, k) => Math.min(x, b[0][k]))),
  /** @type {Vec3} */ (a[1].map((x, k) => Math.max(x, b[1][k]))),
];

/** A box through a turn by right angles. @param {import("./types.js").Mat4} m @param {[Vec3, Vec3]} box @returns {[Vec3, Vec3]} */
function turned(m, [low, high]) {
  const [a, b] = [transform(m, low), transform(m, high)];
  return [
    [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.min(a[2], b[2])],
    [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.max(a[2], b[2])],
  ];
}
