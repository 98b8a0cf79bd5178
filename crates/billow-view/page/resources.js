/**
 * Things that live on the graphics card: programs, targets, and the buffers of the frame that is shown.
 * @module
 */

import { edgesOf, gatherSegments } from "./wireframe.js";

/** @typedef {import("./types.js").ObjectRecord} ObjectRecord */
/** @typedef {import("./types.js").FieldColumn} FieldColumn */
/** @typedef {WebGL2RenderingContext} GL */


/** A linked program and where its uniforms are. */
export class Program {
  /** @param {GL} gl @param {string} name @param {{vertex: string, fragment: string}} source */
  constructor(gl, name, source) {
    const program = gl.createProgram();
    for (const [kind, text] of /** @type {[number, string][]} */ ([
      [gl.VERTEX_SHADER, source.vertex],
      [gl.FRAGMENT_SHADER, source.fragment],
    ])) {
      const shader = gl.createShader(kind);
      if (!shader) throw new Error("the graphics context was lost");
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    this.gl = gl;
    this.name = name;
    this.program = program;
    this.checked = false;
    /** @type {Map<string, WebGLUniformLocation | null>} */
    this.places = new Map();
  }

  use() {
    if (!this.checked) {
      this.checked = true;
      if (!this.gl.getProgramParameter(this.program, this.gl.LINK_STATUS) && !this.gl.isContextLost()) {
        const shaders = this.gl.getAttachedShaders(this.program) ?? [];
        const logs = shaders.map((s) => this.gl.getShaderInfoLog(s)).join("\n");
        throw new Error(`the ${this.name} program does not link: ${this.gl.getProgramInfoLog(this.program)}\n${logs}`);
      }
    }
    this.gl.useProgram(this.program);
    return this;
  }

  /** @param {string} name */
  at(name) {
    let place = this.places.get(name);
    if (place === undefined) {
      place = this.gl.getUniformLocation(this.program, name);
      this.places.set(name, place);
    }
    return place;
  }

  /** @param {string} name @param {number} x */
  float(name, x) {
    this.gl.uniform1f(this.at(name), x);
  }
  /** @param {string} name @param {number} x */
  int(name, x) {
    this.gl.uniform1i(this.at(name), x);
  }
  /** @param {string} name @param {number[]} v */
  vector(name, v) {
    const set = [this.gl.uniform1fv, this.gl.uniform1fv, this.gl.uniform2fv, this.gl.uniform3fv, this.gl.uniform4fv];
    set[v.length].call(this.gl, this.at(name), v);
  }
  /** @param {string} name @param {import("./types.js").Mat4} m */
  matrix(name, m) {
    this.gl.uniformMatrix4fv(this.at(name), false, new Float32Array(m));
  }
  /** The rotation part of a matrix. @param {string} name @param {import("./types.js").Mat4} m */
  rotation(name, m) {
    this.gl.uniformMatrix3fv(this.at(name), false, [m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]]);
  }
}

/** The picture before the last pass: colours and depths, several samples per pixel. */
export class Target {
  /** @param {GL} gl */
  constructor(gl) {
    this.gl = gl;
    this.width = 0;
    this.height = 0;
    this.samples = 0;
    /** @type {(WebGLRenderbuffer | null)[]} */
    this.buffers = [];
    /** @type {(WebGLTexture | null)[]} */
    this.textures = [];
    this.drawn = gl.createFramebuffer();
    this.resolved = gl.createFramebuffer();
    this.open = gl.createFramebuffer();
  }

  get picture() {
    return this.textures[0];
  }
  get depth() {
    return this.textures[1];
  }
  get openness() {
    return this.textures[2];
  }

  /** @param {number} width @param {number} height @param {number} samples */
  resize(width, height, samples) {
    const { gl } = this;
    if (width === this.width && height === this.height && samples === this.samples) return;
    Object.assign(this, { width, height, samples });
    this.buffers.forEach((b) => gl.deleteRenderbuffer(b));
    this.textures.forEach((t) => gl.deleteTexture(t));

    gl.bindFramebuffer(gl.FRAMEBUFFER, this.drawn);
    this.buffers = [
      [gl.RGBA8, gl.COLOR_ATTACHMENT0],
      [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT],
    ].map(([format, point]) => {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, point, gl.RENDERBUFFER, buffer);
      return buffer;
    });

    this.textures = [
      texture(gl, gl.RGBA8, width, height, gl.LINEAR),
      texture(gl, gl.DEPTH_COMPONENT24, width, height, gl.NEAREST),
      texture(gl, gl.R8, Math.ceil(width / 2), Math.ceil(height / 2), gl.LINEAR),
    ];
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.resolved);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.picture, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depth, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.open);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.openness, 0);
  }

  /** Averages the samples into the textures. */
  resolve() {
    const { gl, width, height } = this;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.drawn);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.resolved);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT, gl.NEAREST);
  }
}

/** @param {GL} gl @param {number} format @param {number} width @param {number} height @param {number} filter */
export function texture(gl, format, width, height, filter) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  return made;
}

/** Buffers of one object of the frame that is shown. */
export class Slot {
  /** @param {GL} gl @param {Shelf} shelf */
  constructor(gl, shelf) {
    this.gl = gl;
    this.shelf = shelf;
    this.vao = gl.createVertexArray();
    this.edgesVao = gl.createVertexArray();
    this.vertices = gl.createBuffer();
    this.indices = gl.createBuffer();
    this.heat = gl.createBuffer();
    /** @type {WebGLTexture | null} */
    this.volume = null;
    /** @type {WebGLBuffer | null} */
    this.edges = null;
    this.edgeCount = 0;
    /** @type {number} */
    this.indexType = gl.UNSIGNED_SHORT;
    this.shownVertices = "";
    this.shownIndices = "";
    this.edgesOfIndices = "";
    /** @type {FieldColumn | null} */
    this.column = null;
    /** @type {ObjectRecord | null} */
    this.object = null;
  }

  /** Brings an object's arrays to the card unless they are there. @param {ObjectRecord} object @param {FieldColumn | null} column */
  show(object, column) {
    const fresh = object.vertexArray.hash !== this.shownVertices || object.kind !== this.object?.kind;
    const freshIndices = object.indexArray.hash !== this.shownIndices;
    const freshColumn = column !== this.column;
    this.object = object;
    this.column = column;
    if (object.kind === "grid") {
      if (fresh) this.volume = this.shelf.volume(object);
    } else if (object.kind === "lines") {
      if (fresh || freshIndices || freshColumn) this.showLines(object, column);
    } else {
      if (fresh) this.upload(this.vertices, object.vertexArray.data);
      if (freshIndices && object.kind === "triangles") this.uploadIndices(object);
      if (freshColumn && column) this.upload(this.heat, column.codes);
      if (fresh || freshIndices || freshColumn) this.describe(object.kind === "triangles" ? 3 : 2, column !== null);
    }
    this.shownVertices = object.vertexArray.hash;
    this.shownIndices = object.indexArray.hash;
  }

  /** @param {WebGLBuffer | null} buffer @param {ArrayBufferView | null} data */
  upload(buffer, data) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data ?? new Uint8Array(0), this.gl.DYNAMIC_DRAW);
  }

  /** @param {ObjectRecord} object */
  uploadIndices(object) {
    const { gl } = this;
    this.indexType = object.vertices <= 65535 ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, object.indexArray.data ?? new Uint8Array(0), gl.DYNAMIC_DRAW);
  }

  /** @param {number} words Per vertex. @param {boolean} heated */
  describe(words, heated) {
    const { gl } = this;
    for (const vao of [this.vao, this.edgesVao]) {
      gl.bindVertexArray(vao);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.vertices);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribIPointer(0, words, gl.UNSIGNED_INT, 4 * words, 0);
      if (heated && vao === this.vao) {
        gl.bindBuffer(gl.ARRAY_BUFFER, this.heat);
        gl.enableVertexAttribArray(1);
        gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_SHORT, 2, 0);
      } else {
        gl.disableVertexAttribArray(1);
      }
    }
    gl.bindVertexArray(this.vao);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices);
    gl.bindVertexArray(null);
  }

  /** Segments are drawn as strips, one instance each. @param {ObjectRecord} object @param {FieldColumn | null} column */
  showLines(object, column) {
    const { gl } = this;
    const { codes, heat } = gatherSegments(object, column);
    this.upload(this.vertices, codes);
    this.upload(this.heat, heat);
    gl.bindVertexArray(this.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.vertices);
    for (const [place, offset] of [[0, 0], [1, 8]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribIPointer(place, 2, gl.UNSIGNED_INT, 16, offset);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.heat);
    gl.enableVertexAttribArray(2);
    gl.vertexAttribIPointer(2, 2, gl.UNSIGNED_SHORT, 4, 0);
    gl.vertexAttribDivisor(2, 1);
    gl.bindVertexArray(null);
  }

  /** Makes the edges of the triangles ready to draw. */
  prepareEdges() {
    const object = this.object;
    if (!object || this.edgesOfIndices === object.indexArray.hash) return;
    const { gl } = this;
    const { buffer, count } = this.shelf.edges(object);
    this.edges = buffer;
    this.edgeCount = count;
    this.edgesOfIndices = object.indexArray.hash;
    gl.bindVertexArray(this.edgesVao);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.bindVertexArray(null);
  }

  free() {
    const { gl } = this;
    [this.vao, this.edgesVao].forEach((vao) => gl.deleteVertexArray(vao));
    [this.vertices, this.indices, this.heat].forEach((buffer) => gl.deleteBuffer(buffer));
  }
}

/** Edge lists and 3D textures by the hash of what they were made from; those used last stay. */
export class Shelf {
  /** @param {GL} gl */
  constructor(gl) {
    this.gl = gl;
    /** @type {Map<string, {buffer: WebGLBuffer, count: number}>} */
    this.edgeLists = new Map();
    /** @type {Map<string, {texture: WebGLTexture, bytes: number}>} */
    this.volumes = new Map();
  }

  /** @param {ObjectRecord} object */
  edges(object) {
    const { gl } = this;
    const known = this.edgeLists.get(object.indexArray.hash);
    if (known) return known;
    const list = edgesOf(object);
    const buffer = gl.createBuffer();
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list, gl.STATIC_DRAW);
    const made = { buffer, count: list.length };
    this.edgeLists.set(object.indexArray.hash, made);
    // A surface with new triangles in every frame would fill the card.
    if (this.edgeLists.size > 64) {
      const [hash, oldest] = /** @type {[string, {buffer: WebGLBuffer}]} */ (this.edgeLists.entries().next().value);
      gl.deleteBuffer(oldest.buffer);
      this.edgeLists.delete(hash);
    }
    return made;
  }

  /** @param {ObjectRecord} object */
  volume(object) {
    const { gl } = this;
    const hash = object.vertexArray.hash;
    const known = this.volumes.get(hash);
    if (known) {
      this.volumes.delete(hash);
      this.volumes.set(hash, known);
      return known.texture;
    }
    const made = gl.createTexture();
    const data = object.vertexArray.data ?? new Uint8Array(0);
    gl.bindTexture(gl.TEXTURE_3D, made);
    gl.texStorage3D(gl.TEXTURE_3D, 1, gl.R16F, ...object.dims);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 2);
    const halves = new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2);
    gl.texSubImage3D(gl.TEXTURE_3D, 0, 0, 0, 0, ...object.dims, gl.RED, gl.HALF_FLOAT, halves);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R]) {
      gl.texParameteri(gl.TEXTURE_3D, wrap, gl.CLAMP_TO_EDGE);
    }
    gl.texParameteri(gl.TEXTURE_3D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_3D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    this.volumes.set(hash, { texture: made, bytes: data.byteLength });
    let held = [...this.volumes.values()].reduce((sum, v) => sum + v.bytes, 0);
    for (const [old, entry] of this.volumes) {
      if (held <= 192 * 2 ** 20 || old === hash) break;
      gl.deleteTexture(entry.texture);
      this.volumes.delete(old);
      held -= entry.bytes;
    }
    return made;
  }
}
