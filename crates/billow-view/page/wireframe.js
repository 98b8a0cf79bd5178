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
  const after = (/** @type {number} */ k) => (k % 3 === 2 ? indices[k - 2] : indices[k + 1]);
  // Edges are sorted into the rows of their lower ends; within a row, few, each is looked for before it is added.
  const start = new Uint32Array(object.vertices + 1);
  for (let k = 0; k < indices.length; k++) start[Math.min(indices[k], after(k)) + 1]++;
  for (let v = 0; v < object.vertices; v++) start[v + 1] += start[v];
  const row = new Uint32Array(indices.length);
  const filled = new Uint32Array(object.vertices);
  const edges = new Uint32Array(2 * indices.length);
  let count = 0;
  for (let k = 0; k < indices.length; k++) {
    const [a, b] = [indices[k], after(k)];
    const [low, high] = a < b ? [a, b] : [b, a];
    const [from, to] = [start[low], start[low] + filled[low]];
    let j = from;
    while (j < to && row[j] !== high) j++;
    if (j < to) continue;
    row[to] = high;
    filled[low]++;
    edges[count++] = low;
    edges[count++] = high;
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
