/**
 * The words the modules share. Nothing runs here: the type checker reads it.
 * @module
 */

/** @typedef {[number, number, number]} Vec3 */
/** @typedef {Float64Array} Mat4 Column-major 4×4 matrix. */

/**
 * @typedef {object} Run What the server says about the run.
 * @property {number} version Grows with every change.
 * @property {number} epoch Grows when frames that were there are gone.
 * @property {string} [name]
 * @property {string} [title]
 * @property {string} [program]
 * @property {number} [fps] Frames per second of simulated time [1/s].
 * @property {number} [first]
 * @property {number} [last] Last frame the run is going to have.
 * @property {"y" | "z"} [up]
 * @property {"waiting" | "running" | "finished" | "interrupted" | "failed"} status
 * @property {string | null} [message]
 * @property {[number, number][]} frames Frames that are there, as ranges.
 * @property {{frame: number, fraction: number} | null} [progress]
 * @property {Look | null} [look]
 * @property {number} [indexed]
 */

/**
 * @typedef {object} Look How the scene wants to be shown; every part may be missing.
 * @property {{position?: Vec3, target?: Vec3, direction?: Vec3, fov?: number}} [camera]
 * @property {Record<string, SurfaceLook>} [objects]
 * @property {{visible?: boolean, height?: number}} [ground]
 */

/**
 * @typedef {object} SurfaceLook
 * @property {Vec3} [colour] Linear light.
 * @property {Vec3} [back]
 * @property {number} [radius] Of particles and lines [m].
 * @property {number} [density] Extinction per unit of grid value [1/m].
 * @property {"surface" | "fog"} [grid]
 * @property {boolean} [hidden]
 * @property {boolean} [flat]
 */

/**
 * @typedef {object} Row Statistics of a frame.
 * @property {number} frame
 * @property {number} [time]
 * @property {Record<string, number | null>} [stats]
 * @property {string} [error]
 */

/**
 * @typedef {object} Table
 * @property {Row[]} rows
 * @property {number} known
 * @property {number} epoch
 * @property {[Vec3, Vec3] | null} bounds
 * @property {Vec3[]} hull The outermost points of all frames in many directions.
 * @property {Record<string, [number, number]>} fields
 */

/**
 * @typedef {object} CatalogueEntry
 * @property {string} name
 * @property {"triangles" | "tets" | "points" | "lines" | "grid"} shape
 * @property {number} elements
 * @property {{name: string, domain: string, values: string}[]} fields
 */

/** @typedef {{objects: CatalogueEntry[]}} Catalogue */

/**
 * @typedef {object} ObjectRecord An object of a frame, its arrays resolved.
 * @property {"triangles" | "points" | "lines" | "grid"} kind
 * @property {number} vertices
 * @property {number} elements
 * @property {number} nonFinite
 * @property {Vec3} position Of the pose [m].
 * @property {[number, number, number, number]} rotation Unit quaternion x, y, z, w.
 * @property {Vec3} origin Position of code 0 [m].
 * @property {Vec3} step Distance between codes, or between grid nodes [m].
 * @property {Vec3} dims Nodes of a grid.
 * @property {[number, number]} range Of a grid's values.
 * @property {number} scale What a grid's samples were multiplied by.
 * @property {ArrayRef} vertexArray
 * @property {ArrayRef} indexArray
 */

/**
 * @typedef {object} ArrayRef
 * @property {string} hash
 * @property {number} bytes
 * @property {Uint8Array | null} data Null until an array sent by name has been fetched.
 */

/**
 * @typedef {object} Frame
 * @property {number} index
 * @property {number} time
 * @property {string} catalogueHash
 * @property {Catalogue} catalogue
 * @property {ObjectRecord[]} objects
 * @property {number} bytes Size of the message.
 */

/**
 * @typedef {object} FieldColumn Values of one object.
 * @property {number} low
 * @property {number} high
 * @property {Uint16Array} codes
 */

/** @typedef {{index: number, columns: (FieldColumn | null)[]}} Field */

/** @typedef {"smooth" | "flat" | "wire" | "normal" | "heat"} Shading */

export {};
