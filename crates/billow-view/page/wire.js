/**
 * Decoding of the messages that docs/viewer.md describes.
 * @module
 */

/** @typedef {import("./types.js").ObjectRecord} ObjectRecord */
/** @typedef {import("./types.js").ArrayRef} ArrayRef */
/** @typedef {import("./types.js").Vec3} Vec3 */

const FRAME_MAGIC = 0x31465642; // "BVF1"
const FIELD_MAGIC = 0x31415642; // "BVA1"
const FRAME_HEADER = 40;
const FRAME_RECORD = 176;
const FIELD_HEADER = 16;
const FIELD_RECORD = 24;

const KINDS = /** @type {const} */ (["triangles", "points", "lines", "grid"]);

/**
 * Decodes a frame; arrays sent by name have no data yet.
 * @param {ArrayBuffer} buffer
 */
export function decodeFrame(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < FRAME_HEADER || view.getUint32(0, true) !== FRAME_MAGIC) {
    throw new Error("the server's answer is no frame");
  }
  const objects = [];
  const count = view.getUint32(32, true);
  for (let k = 0; k < count; k++) objects.push(decodeRecord(buffer, view, FRAME_HEADER + k * FRAME_RECORD));
  return {
    index: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    catalogueHash: hex(view, 16),
    objects,
    bytes: buffer.byteLength,
  };
}

/** @param {ArrayBuffer} buffer @param {DataView} view @param {number} at @returns {ObjectRecord} */
function decodeRecord(buffer, view, at) {
  const u32 = (/** @type {number} */ k) => view.getUint32(at + k, true);
  const f32 = (/** @type {number} */ k) => view.getFloat32(at + k, true);
  const f64 = (/** @type {number} */ k) => view.getFloat64(at + k, true);
  const vec = (/** @type {number} */ k) => /** @type {Vec3} */ ([f64(k), f64(k + 8), f64(k + 16)]);
  const array = (/** @type {number} */ k) => {
    const [offset, bytes] = [u32(k + 16), u32(k + 20)];
    return /** @type {ArrayRef} */ ({
      hash: hex(view, at + k),
      bytes,
      data: offset > 0 || bytes === 0 ? new Uint8Array(buffer, offset, bytes) : null,
    });
  };
  return {
    kind: KINDS[u32(0)],
    vertices: u32(4),
    elements: u32(8),
    nonFinite: u32(12),
    position: vec(16),
    origin: vec(40),
    step: vec(64),
    rotation: [f32(88), f32(92), f32(96), f32(100)],
    dims: [u32(104), u32(108), u32(112)],
    range: [f32(116), f32(120)],
    scale: f32(124),
    vertexArray: array(128),
    indexArray: array(152),
  };
}

/** Decodes a field. @param {ArrayBuffer} buffer @returns {import("./types.js").Field} */
export function decodeField(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < FIELD_HEADER || view.getUint32(0, true) !== FIELD_MAGIC) {
    throw new Error("the server's answer is no field");
  }
  const columns = [];
  const count = view.getUint32(8, true);
  for (let k = 0; k < count; k++) {
    const at = FIELD_HEADER + k * FIELD_RECORD;
    const present = view.getUint32(at, true) === 1;
    columns.push(
      present
        ? {
            low: view.getFloat32(at + 8, true),
            high: view.getFloat32(at + 12, true),
            codes: new Uint16Array(buffer, view.getUint32(at + 16, true), view.getUint32(at + 4, true)),
          }
        : null,
    );
  }
  return { index: view.getUint32(4, true), columns };
}

/** Sixteen bytes as text. @param {DataView} view @param {number} at */
function hex(view, at) {
  let text = "";
  for (let k = 0; k < 16; k++) text += view.getUint8(at + k).toString(16).padStart(2, "0");
  return text;
}
