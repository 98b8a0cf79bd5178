/**
 * Getting frames: requests to the server, what is kept, and what is fetched ahead.
 *
 * A frame that is wanted goes before one that may be wanted soon; a request that nobody wants any more is given up.
 * @module
 */

import { decodeField, decodeFrame } from "./wire.js";

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Field} Field */
/** @typedef {import("./types.js").ArrayRef} ArrayRef */

/** Frames and fields kept [bytes]. */
const KEPT_BYTES = 384 * 2 ** 20;
/** Requests under way at once; browsers allow six per server, and one waits for news. */
const AT_ONCE = 4;

/** A failure that the server explained. */
export class ServerError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {string} path @param {AbortSignal} [signal] */
async function get(path, signal) {
  const response = await fetch(path, { signal, cache: "no-store" });
  if (!response.ok) throw new ServerError(response.status, await response.text());
  return response;
}

/** @template T @param {string} path @param {AbortSignal} [signal] @returns {Promise<T>} */
export const getJson = async (path, signal) => (await get(path, signal)).json();

export class FrameStore {
  constructor() {
    /** @type {Map<string, {frame: Frame, field: Field | null, bytes: number}>} Oldest use first. */
    this.kept = new Map();
    /** @type {Map<string, AbortController>} */
    this.underWay = new Map();
    /** @type {Map<string, Promise<Uint8Array>>} Arrays that frames have in common, by hash. */
    this.arrays = new Map();
    /** @type {Map<string, Promise<import("./types.js").Catalogue>>} */
    this.catalogues = new Map();
    /** @type {number[]} Frames to have, most urgent first. */
    this.wanted = [];
    /** @type {string | null} Field that is shown with the frames. */
    this.field = null;
    this.bytes = 0;
    /** @type {(index: number) => void} Called when a frame has arrived. */
    this.onFrame = () => {};
    /** @type {(index: number, error: Error) => void} Called when a frame cannot be had. */
    this.onError = () => {};
    /** @type {Set<string>} Frames that cannot be had. */
    this.failed = new Set();
    this.generation = 0;
  }

  /** Forgets everything: the run was replaced. */
  clear() {
    this.generation++;
    this.underWay.forEach((abort) => abort.abort());
    this.underWay.clear();
    this.kept.clear();
    this.arrays.clear();
    this.catalogues.clear();
    this.failed.clear();
    this.wanted = [];
    this.bytes = 0;
  }

  /** @param {number} index */
  key(index) {
    return `${index}/${this.field ?? ""}`;
  }

  /** A frame that is here. @param {number} index */
  get(index) {
    const key = this.key(index);
    const entry = this.kept.get(key);
    if (entry) {
      this.kept.delete(key);
      this.kept.set(key, entry);
    }
    return entry ?? null;
  }

  /** @param {number} index */
  has(index) {
    return this.kept.has(this.key(index));
  }

  /** Number of frames that half of the store holds, judging by those that are here. */
  room() {
    const size = this.kept.size > 0 ? this.bytes / this.kept.size : 1;
    return Math.max(2, Math.floor(KEPT_BYTES / 2 / Math.max(size, 1)));
  }

  /** Says which frames to have, most urgent first; everything else under way is given up. @param {number[]} indices */
  want(indices) {
    this.wanted = indices;
    const keys = new Set(indices.map((index) => this.key(index)));
    for (const [key, abort] of this.underWay) {
      if (!keys.has(key)) {
        abort.abort();
        this.underWay.delete(key);
      }
    }
    this.pump();
  }

  pump() {
    for (const index of this.wanted) {
      if (this.underWay.size >= AT_ONCE) return;
      const key = this.key(index);
      if (!this.kept.has(key) && !this.underWay.has(key) && !this.failed.has(key)) this.start(index, key);
    }
  }

  /** @param {number} index @param {string} key */
  async start(index, key) {
    const abort = new AbortController();
    this.underWay.set(key, abort);
    const { generation, field: fieldName } = this;
    try {
      const [frame, field] = await Promise.all([
        this.fetchFrame(index, abort.signal),
        fieldName === null ? null : this.fetchField(index, fieldName, abort.signal),
      ]);
      if (generation !== this.generation) return;
      this.keep(key, frame, field);
      this.underWay.delete(key);
      this.onFrame(index);
    } catch (error) {
      if (generation !== this.generation) return;
      if (this.underWay.get(key) === abort) this.underWay.delete(key);
      if (!(error instanceof DOMException && error.name === "AbortError")) {
        this.failed.add(key);
        // A lost connection may come back at once; a damaged file is rarely repaired.
        setTimeout(() => this.failed.delete(key), error instanceof ServerError ? 60000 : 2000);
        this.onError(index, /** @type {Error} */ (error));
      }
    }
    this.pump();
  }

  /** @param {string} key @param {Frame} frame @param {Field | null} field */
  keep(key, frame, field) {
    const bytes = frame.bytes + (field?.columns.reduce((n, c) => n + (c?.codes.byteLength ?? 0), 0) ?? 0);
    this.kept.set(key, { frame, field, bytes });
    this.bytes += bytes;
    for (const [old, entry] of this.kept) {
      if (this.bytes <= KEPT_BYTES || old === key) break;
      this.kept.delete(old);
      this.bytes -= entry.bytes;
    }
  }

  /** @param {number} index @param {AbortSignal} signal @returns {Promise<Frame>} */
  async fetchFrame(index, signal) {
    const frame = decodeFrame(await (await get(`frame/${index}`, signal)).arrayBuffer());
    const parts = frame.objects.flatMap((object, k) => [
      this.resolve(object.vertexArray, `part/${index}/${k}/vertices`),
      this.resolve(object.indexArray, `part/${index}/${k}/indices`),
    ]);
    const [catalogue] = await Promise.all([this.catalogue(frame.catalogueHash, index), ...parts]);
    return { ...frame, catalogue };
  }

  /** Fetches an array sent by name, once for all frames that name it. @param {ArrayRef} array @param {string} path */
  async resolve(array, path) {
    if (array.data) return;
    let found = this.arrays.get(array.hash);
    if (!found) {
      found = get(path).then(async (response) => new Uint8Array(await response.arrayBuffer()));
      found.catch(() => this.arrays.delete(array.hash));
      this.arrays.set(array.hash, found);
    }
    array.data = await found;
  }

  /** @param {string} hash @param {number} index */
  catalogue(hash, index) {
    let found = this.catalogues.get(hash);
    if (!found) {
      found = getJson(`catalogue/${index}`);
      found.catch(() => this.catalogues.delete(hash));
      this.catalogues.set(hash, found);
    }
    return found;
  }

  /** @param {number} index @param {string} name @param {AbortSignal} signal @returns {Promise<Field>} */
  async fetchField(index, name, signal) {
    return decodeField(await (await get(`field/${index}/${encodeURIComponent(name)}`, signal)).arrayBuffer());
  }
}
