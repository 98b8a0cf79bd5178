/**
 * Lists that the card draws lines from: each edge of a mesh once, and both ends of each segment.
 * @module
 */

/** @typedef {import("./types.js").ObjectRecord} ObjectRecord */
/** @typedef {import("./types.js").FieldColumn} FieldColumn */

/** An object's indices as numbers. @param {ObjectRecord} object */
export function indicesOf(object) {
  const bytes = object.indexArray.data ?? new Uint8Array(0);
  return object.vertices <= 65535
    ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2)
    : new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

/** Both ends of every edge of a triangle mesh, each edge once. @param {ObjectRecord} object */
export function edgesOf(object) {
  const indices = indicesOf(object);
  const n = object.vertices;
  // Edges are numbers low · n + high, exact below 2⁵³; sorted, the doubles stand side by side.
  const keys = new Float64Array(indices.length);
  for (let t = 0; t < indices.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const [a, b] = [indices[t + k], indices[t + ((k + 1) % 3)]];
      keys[t + k] = a < b ? a * n + b : b * n + a;
    }
  }
  keys.sort();
  const edges = new Uint32Array(2 * keys.length);
  let count = 0;
  for (let k = 0; k < keys.length; k++) {
    if (k > 0 && keys[k] === keys[k - 1]) continue;
    edges[count++] = Math.floor(keys[k] / n);
    edges[count++] = keys[k] % n;
  }
  return edges.slice(0, count);
}

/** Codes and field values at both ends of every segment. @param {ObjectRecord} object @param {FieldColumn | null} column */
export function gatherSegments(object, column) {
  const indices = indicesOf(object);
  const bytes = object.vertexArray.data ?? new Uint8Array(0);
  const codes = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const out = new Uint32Array(2 * indices.length);
  const heat = new Uint16Array(indices.length);
  for (let k = 0; k < indices.length; k++) {
    out[2 * k] = codes[2 * indices[k]];
    out[2 * k + 1] = codes[2 * indices[k] + 1];
    heat[k] = column ? column.codes[indices[k]] : 65535;
  }
  return { codes: out, heat };
}
