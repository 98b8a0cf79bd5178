/**
 * The part of the address that says what is shown, so that a view can be shared and survives a reload.
 * @module
 */

/** @typedef {import("./types.js").Vec3} Vec3 */

/**
 * @typedef {object} Linked
 * @property {number} [frame]
 * @property {import("./types.js").Shading} [shading]
 * @property {string} [field]
 * @property {{eye: Vec3, target: Vec3}} [camera]
 * @property {string[]} [hidden] Objects and groups; without it, those the scene hides.
 */

const SHADINGS = ["smooth", "flat", "wire", "normal", "heat"];

/** @param {string} hash @returns {Linked} */
export function readLink(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  /** @type {Linked} */
  const found = {};
  const frame = parts.get("frame");
  if (frame !== null && /^\d{1,9}$/.test(frame)) found.frame = Number(frame);
  const shading = parts.get("shading");
  if (shading !== null && SHADINGS.includes(shading)) found.shading = /** @type {any} */ (shading);
  const field = parts.get("field");
  if (field) found.field = field;
  const camera = (parts.get("camera") ?? "").split(",").map(Number);
  if (camera.length === 6 && camera.every(Number.isFinite)) {
    found.camera = { eye: [camera[0], camera[1], camera[2]], target: [camera[3], camera[4], camera[5]] };
  }
  const hidden = parts.getAll("hide");
  // A lone empty name says that nothing is hidden, not even what the scene hides.
  if (hidden.length > 0) found.hidden = hidden.filter((name) => name !== "");
  return found;
}

/** @param {Linked} linked */
export function writeLink(linked) {
  const parts = new URLSearchParams();
  if (linked.frame !== undefined) parts.set("frame", String(linked.frame));
  if (linked.shading && linked.shading !== "smooth") parts.set("shading", linked.shading);
  if (linked.field && linked.shading === "heat") parts.set("field", linked.field);
  if (linked.camera) {
    const numbers = [...linked.camera.eye, ...linked.camera.target].map((x) => Number(x.toPrecision(7)));
    parts.set("camera", numbers.join(","));
  }
  (linked.hidden?.length === 0 ? [""] : linked.hidden)?.forEach((name) => parts.append("hide", name));
  return `#${parts.toString().replaceAll("%2C", ",")}`;
}
