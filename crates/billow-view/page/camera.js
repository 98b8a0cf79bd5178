/**
 * The orbit camera: a target, a distance and two angles. Its world has z up; a run with y up is turned on the way in.
 * @module
 */

import { add, clamp, cross, dot, length, lookAt, normalize, perspective, scale, sub } from "./linalg.js";

/** @typedef {import("./types.js").Vec3} Vec3 */

const STEEPEST = Math.PI / 2 - 1e-3;
/** Time constant with which a moved camera comes to rest [s]. */
const SETTLE = 0.07;
/** Length of a flight to a new place [s]. */
const FLIGHT = 0.45;

/**
 * @typedef {object} Place
 * @property {Vec3} target [m]
 * @property {number} distance [m]
 * @property {number} azimuth Of the eye around z, 0 along x [rad].
 * @property {number} elevation Of the eye above the horizon [rad].
 */

export class Camera {
  constructor() {
    /** Vertical angle of view [rad]. */
    this.fov = (30 * Math.PI) / 180;
    /** @type {Place} */
    this.place = { target: [0, 0, 0], distance: 5, azimuth: (-55 * Math.PI) / 180, elevation: (20 * Math.PI) / 180 };
    /** @type {Place} Where the place is heading. */
    this.goal = structuredClone(this.place);
    /** @type {{from: Place, start: number} | null} */
    this.flight = null;
    /** Size of what there is to see, which bounds zoom and clip planes [m]. */
    this.extent = 5;
    this.reducedMotion = false;
  }

  /** @returns {Vec3} */
  get eye() {
    const { target, distance } = this.place;
    return add(target, scale(outward(this.place), distance));
  }

  /** World to camera. */
  view() {
    return lookAt(this.eye, this.place.target, [0, 0, 1]);
  }

  /** @param {number} aspect */
  projection(aspect) {
    const { near, far } = this.clip();
    return perspective(this.fov, aspect, near, far);
  }

  clip() {
    const d = this.place.distance;
    return { near: Math.max(d * 0.02, d - 4 * this.extent) * 0.5, far: d + 60 * this.extent };
  }

  /** @param {number} right [rad] @param {number} up [rad] */
  orbit(right, up) {
    this.flight = null;
    this.goal.azimuth -= right;
    this.goal.elevation = clamp(this.goal.elevation + up, -STEEPEST, STEEPEST);
  }

  /** Moves the target in the plane of the picture. @param {number} right As a share of the picture's height. @param {number} up */
  pan(right, up) {
    this.flight = null;
    const height = 2 * this.goal.distance * Math.tan(this.fov / 2);
    const back = outward(this.goal);
    const side = normalize(cross([0, 0, 1], back));
    const above = cross(back, side);
    this.goal.target = add(this.goal.target, add(scale(side, -right * height), scale(above, -up * height)));
  }

  /** @param {number} factor Below one moves closer. */
  zoom(factor) {
    this.flight = null;
    this.goal.distance = clamp(this.goal.distance * factor, this.extent * 1e-3, this.extent * 50);
  }

  /** Flies to where some points just fit the picture. @param {Vec3[]} points @param {number} aspect @param {boolean} [at] At once. */
  frame(points, aspect, at = false) {
    this.fly(this.framing(points, aspect, this.goal), at);
  }

  /**
   * The place that sees some points from the given angles, as close as can be.
   *
   * With the eye at (x, y, z) along side, above and back, a point (a, b, c) is inside the picture's left and right
   * edges if z ≥ c ± (a − x) / t, where t is the tangent of half the angle; the tightest z lies where both meet.
   * @param {Vec3[]} points @param {number} aspect @param {{azimuth: number, elevation: number}} angles @returns {Place}
   */
  framing(points, aspect, { azimuth, elevation }) {
    const back = outward({ azimuth, elevation });
    const side = normalize(cross([0, 0, 1], back));
    const above = cross(back, side);
    const room = 0.88;
    const middle = { x: 0, y: 0, z: -Infinity, near: -Infinity, far: Infinity };
    const edges = /** @type {const} */ ([["x", side, aspect], ["y", above, 1]]);
    for (const [axis, direction, wide] of edges) {
      const t = Math.tan(this.fov / 2) * wide * room;
      let [left, right] = [-Infinity, -Infinity];
      for (const p of points) {
        const [a, c] = [dot(p, direction), dot(p, back)];
        left = Math.max(left, c - a / t);
        right = Math.max(right, c + a / t);
        middle.near = Math.max(middle.near, c);
        middle.far = Math.min(middle.far, c);
      }
      middle[axis] = (t * (right - left)) / 2;
      middle.z = Math.max(middle.z, (left + right) / 2);
    }
    const depth = (middle.near + middle.far) / 2;
    const target = add(add(scale(side, middle.x), scale(above, middle.y)), scale(back, depth));
    return { target, distance: Math.max(middle.z - depth, this.extent * 1e-3), azimuth, elevation };
  }

  /** Flies to a place. @param {Place} place @param {boolean} [at] At once. */
  fly(place, at = false) {
    const turns = Math.round((place.azimuth - this.place.azimuth) / (2 * Math.PI));
    this.goal = { ...place, azimuth: place.azimuth - 2 * Math.PI * turns };
    if (at || this.reducedMotion) {
      this.place = structuredClone(this.goal);
      this.flight = null;
    } else {
      this.flight = { from: structuredClone(this.place), start: performance.now() / 1000 };
    }
  }

  /** Stands at `eye` looking at `target`. @param {Vec3} eye @param {Vec3} target @param {boolean} [at] */
  stand(eye, target, at = true) {
    const d = sub(eye, target);
    const distance = Math.max(length(d), 1e-9);
    const elevation = clamp(Math.asin(clamp(d[2] / distance, -1, 1)), -STEEPEST, STEEPEST);
    const azimuth = Math.hypot(d[0], d[1]) > 1e-9 * distance ? Math.atan2(d[1], d[0]) : this.place.azimuth;
    this.fly({ target, distance, azimuth, elevation }, at);
  }

  /** Moves towards the goal; true while there is way to go. @param {number} now [s] @param {number} dt [s] */
  settle(now, dt) {
    const { place, goal } = this;
    if (this.flight) {
      const { from, start } = this.flight;
      const t = clamp((now - start) / FLIGHT, 0, 1);
      const s = t * t * t * (t * (6 * t - 15) + 10);
      const mix = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) * s;
      place.target = /** @type {Vec3} */ (from.target.map((x, k) => mix(x, goal.target[k])));
      place.distance = from.distance * (goal.distance / from.distance) ** s;
      place.azimuth = mix(from.azimuth, goal.azimuth);
      place.elevation = mix(from.elevation, goal.elevation);
      if (t < 1) return true;
      this.flight = null;
      this.place = structuredClone(goal);
      return false;
    }
    const share = this.reducedMotion ? 1 : 1 - Math.exp(-dt / SETTLE);
    const gap =
      Math.abs(goal.azimuth - place.azimuth) +
      Math.abs(goal.elevation - place.elevation) +
      Math.abs(Math.log(goal.distance / place.distance)) +
      length(sub(goal.target, place.target)) / place.distance;
    if (gap < 1e-4) {
      this.place = structuredClone(goal);
      return false;
    }
    place.azimuth += (goal.azimuth - place.azimuth) * share;
    place.elevation += (goal.elevation - place.elevation) * share;
    place.distance *= (goal.distance / place.distance) ** share;
    place.target = add(place.target, scale(sub(goal.target, place.target), share));
    return true;
  }
}

/** From the target to the eye. @param {{azimuth: number, elevation: number}} place @returns {Vec3} */
function outward({ azimuth, elevation }) {
  const c = Math.cos(elevation);
  return [c * Math.cos(azimuth), c * Math.sin(azimuth), Math.sin(elevation)];
}
