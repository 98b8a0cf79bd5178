/**
 * Vectors and matrices in double precision; matrices are column-major as WebGL wants them.
 * @module
 */

/** @typedef {import("./types.js").Vec3} Vec3 */
/** @typedef {import("./types.js").Mat4} Mat4 */

/** @param {Vec3} a @param {Vec3} b @returns {Vec3} */
export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
/** @param {Vec3} a @param {Vec3} b @returns {Vec3} */
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
/** @param {Vec3} a @param {number} s @returns {Vec3} */
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
/** @param {Vec3} a @param {Vec3} b */
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/** @param {Vec3} a */
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
/** @param {Vec3} a @param {Vec3} b @returns {Vec3} */
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/** @param {Vec3} a @returns {Vec3} */
export const normalize = (a) => scale(a, 1 / (length(a) || 1));
/** @param {number} x @param {number} low @param {number} high */
export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** @returns {Mat4} */
export const identity = () => new Float64Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

/** The product a·b. @param {Mat4} a @param {Mat4} b @returns {Mat4} */
export function multiply(a, b) {
  const out = new Float64Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      out[4 * column + row] = sum;
    }
  }
  return out;
}

/** Translation, then scale along the axes, applied in the order: scale first. @param {Vec3} move @param {Vec3} by @returns {Mat4} */
export const placed = (move, by) =>
  new Float64Array([by[0], 0, 0, 0, 0, by[1], 0, 0, 0, 0, by[2], 0, move[0], move[1], move[2], 1]);

/** A rigid transform from a unit quaternion and a translation. @param {[number, number, number, number]} q @param {Vec3} p @returns {Mat4} */
export function rigid([x, y, z, w], p) {
  return new Float64Array([
    1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0,
    2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0,
    2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1,
  ]);
}

/** World to camera. @param {Vec3} eye @param {Vec3} target @param {Vec3} up @returns {Mat4} */
export function lookAt(eye, target, up) {
  const back = normalize(sub(eye, target));
  const right = normalize(cross(up, back));
  const above = cross(back, right);
  return new Float64Array([
    right[0], above[0], back[0], 0,
    right[1], above[1], back[1], 0,
    right[2], above[2], back[2], 0,
    -dot(right, eye), -dot(above, eye), -dot(back, eye), 1,
  ]);
}

/** Central projection. @param {number} fov Vertical angle [rad]. @param {number} aspect @param {number} near @param {number} far @returns {Mat4} */
export function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2);
  const out = new Float64Array(16);
  out[0] = f / aspect;
  out[5] = f;
  out[10] = (far + near) / (near - far);
  out[11] = -1;
  out[14] = (2 * far * near) / (near - far);
  return out;
}

/** Parallel projection of the box of half-width `half` and depth `near`…`far`. @param {number} half @param {number} near @param {number} far @returns {Mat4} */
export const orthographic = (half, near, far) =>
  new Float64Array([
    1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 / (near - far), 0, 0, 0, (far + near) / (near - far), 1,
  ]);

/** A point through a matrix, without the division. @param {Mat4} m @param {Vec3} p @returns {[number, number, number, number]} */
export const transform = (m, [x, y, z]) => [
  m[0] * x + m[4] * y + m[8] * z + m[12],
  m[1] * x + m[5] * y + m[9] * z + m[13],
  m[2] * x + m[6] * y + m[10] * z + m[14],
  m[3] * x + m[7] * y + m[11] * z + m[15],
];

/** Inverse of an affine matrix. @param {Mat4} m @returns {Mat4} */
export function inverseAffine(m) {
  const [a, b, c] = [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]];
  const rows = [cross(v(b), v(c)), cross(v(c), v(a)), cross(v(a), v(b))];
  const det = dot(v(a), rows[0]) || 1;
  const r = rows.map((row) => scale(row, 1 / det));
  const p = v([m[12], m[13], m[14]]);
  return new Float64Array([
    r[0][0], r[1][0], r[2][0], 0,
    r[0][1], r[1][1], r[2][1], 0,
    r[0][2], r[1][2], r[2][2], 0,
    -dot(r[0], p), -dot(r[1], p), -dot(r[2], p), 1,
  ]);
}

/** @param {number[]} a @returns {Vec3} */
const v = (a) => [a[0], a[1], a[2]];
