/**
 * Which frame is wanted, which is shown, and the clock that moves on while playing.
 * @module
 */

import { clamp } from "./linalg.js";

/** Frames fetched ahead of the one wanted, and behind it. */
const AHEAD = 40;
const BEHIND = 4;

export class Player {
  /** @param {import("./frames.js").FrameStore} store @param {{show: (index: number) => void, changed: () => void}} notify */
  constructor(store, notify) {
    this.store = store;
    this.notify = notify;
    /** @type {number[]} Frames that are there, increasing. */
    this.available = [];
    /** Place of the wanted frame in `available`. */
    this.at = 0;
    /** @type {number | null} Number of the frame that is shown. */
    this.shown = null;
    this.playing = false;
    this.loop = true;
    this.speed = 1;
    this.fps = 24;
    /** Whether to jump to new frames as they come. */
    this.follow = false;
    this.direction = 1;
    /** Part of the next frame's time that has passed while playing [frames]. */
    this.clock = 0;
    store.onFrame = (index) => this.arrived(index);
  }

  get wanted() {
    return this.available[this.at] ?? 0;
  }

  /** Whether the frame that is wanted is not the one that is shown. */
  get waiting() {
    return this.available.length > 0 && this.shown !== this.wanted;
  }

  /** @param {[number, number][]} ranges */
  setRanges(ranges) {
    const wanted = this.wanted;
    const had = this.available.length;
    this.available = ranges.flatMap(([a, b]) => Array.from({ length: b - a + 1 }, (_, k) => a + k));
    if (this.follow && this.available.length > had) this.at = this.available.length - 1;
    else this.at = this.nearest(wanted);
    this.fetch();
  }

  /** Place of the frame closest to a number. @param {number} index */
  nearest(index) {
    let [low, high] = [0, this.available.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.available[middle] < index) low = middle + 1;
      else high = middle;
    }
    const before = this.available[low - 1];
    return Math.max(0, before !== undefined && index - before < this.available[low] - index ? low - 1 : low);
  }

  /** Goes to the frame closest to a number. @param {number} index */
  seek(index) {
    this.moveTo(this.nearest(index));
  }

  /** @param {number} steps */
  step(steps) {
    this.playing = false;
    this.moveTo(this.at + steps);
  }

  /** @param {number} at */
  moveTo(at) {
    const next = clamp(at, 0, Math.max(0, this.available.length - 1));
    if (next !== this.at) this.direction = next > this.at ? 1 : -1;
    this.at = next;
    this.follow = this.follow && next === this.available.length - 1;
    this.clock = 0;
    this.fetch();
    this.notify.changed();
  }

  toggle() {
    this.playing = !this.playing;
    this.follow = false;
    this.clock = 0;
    // At the end, playing starts over.
    if (this.playing && this.at >= this.available.length - 1 && this.available.length > 1) this.moveTo(0);
    this.direction = 1;
    this.fetch();
    this.notify.changed();
  }

  /** Moves on by a time; true while playing. @param {number} dt [s] */
  tick(dt) {
    const count = this.available.length;
    if (!this.playing || count < 2) return false;
    if (this.waiting) return true;
    this.clock += Math.min(dt, 0.25) * this.fps * this.speed;
    let steps = Math.floor(this.clock);
    if (steps < 1) return true;
    this.clock -= steps;
    let next = this.at + steps;
    if (next >= count) {
      if (!this.loop) {
        this.playing = false;
        this.moveTo(count - 1);
        return false;
      }
      next %= count;
    }
    this.at = next;
    this.fetch();
    this.notify.changed();
    return true;
  }

  /** Shows the wanted frame if it is here and asks for those that come next. */
  fetch() {
    if (this.available.length === 0) return;
    const list = [this.wanted];
    const count = this.available.length;
    const ahead = Math.min(AHEAD, this.store.room());
    for (let k = 1; k <= ahead; k++) {
      const at = this.at + k * this.direction;
      const wrapped = this.loop && this.playing ? ((at % count) + count) % count : at;
      if (wrapped >= 0 && wrapped < count) list.push(this.available[wrapped]);
      if (k <= BEHIND && this.at - k * this.direction >= 0 && this.at - k * this.direction < count) {
        list.push(this.available[this.at - k * this.direction]);
      }
    }
    this.store.want([...new Set(list)]);
    if (this.store.has(this.wanted)) this.present(this.wanted);
  }

  /** Shows a frame that has come if it is closer to the wanted one. @param {number} index */
  arrived(index) {
    const gap = this.shown === null ? Infinity : Math.abs(this.shown - this.wanted);
    if (index === this.wanted || (!this.playing && Math.abs(index - this.wanted) < gap)) this.present(index);
    this.notify.changed();
  }

  /** @param {number} index */
  present(index) {
    if (this.shown === index) return;
    this.shown = index;
    this.notify.show(index);
  }
}
