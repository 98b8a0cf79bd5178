/**
 * Colours of objects and of heat maps.
 * @module
 */

/** @typedef {import("./types.js").Vec3} Vec3 */

/** One colour per object, told apart by most eyes and calm beside each other. */
const OBJECTS = ["#d9644a", "#4f86b8", "#e0b04c", "#5fa58a", "#9a7fb8", "#c98aa0", "#8a9a5b", "#6d7f94"];

/** Even steps from dark to bright, also in grey and for the colour-blind. */
const SEQUENTIAL = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

/** Blue below zero, red above, pale in between. */
const DIVERGING = ["#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d", "#b2182b"];

/** @param {string} hex @returns {Vec3} */
const bytes = (hex) => /** @type {Vec3} */ ([1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)));

/** Linear light of a colour. @param {string} hex @returns {Vec3} */
export const linear = (hex) => /** @type {Vec3} */ (bytes(hex).map((c) => (c / 255) ** 2.2));

/** A screen colour of linear light. @param {Vec3} rgb */
export const css = (rgb) => `rgb(${rgb.map((c) => Math.round(255 * Math.min(1, Math.max(0, c)) ** (1 / 2.2))).join(" ")})`;

/** The colour of the object with this number. @param {number} k @returns {Vec3} */
export const objectColour = (k) => linear(OBJECTS[k % OBJECTS.length]);

/** The back of a surface: the same hue, a little duller. @param {Vec3} c @returns {Vec3} */
export function backColour(c) {
  const grey = 0.3 * c[0] + 0.6 * c[1] + 0.1 * c[2];
  return /** @type {Vec3} */ (c.map((x) => 0.8 * (0.85 * x + 0.15 * grey)));
}

/** A colour scale as a row of 256 pixels. @param {boolean} diverging */
export function scalePixels(diverging) {
  const anchors = (diverging ? DIVERGING : SEQUENTIAL).map(bytes);
  const pixels = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k++) {
    const x = (k / 255) * (anchors.length - 1);
    const j = Math.min(Math.floor(x), anchors.length - 2);
    for (let c = 0; c < 3; c++) pixels[4 * k + c] = anchors[j][c] + (anchors[j + 1][c] - anchors[j][c]) * (x - j);
    pixels[4 * k + 3] = 255;
  }
  return pixels;
}
