/**
 * Drawing a frame: shadow, surfaces, ground, openness, fog, in that order.
 * @module
 */

import { backColour, objectColour, scalePixels } from "./colours.js";
import {
  add, identity, inverseAffine, length, lookAt, multiply, normalize, orthographic, placed, rigid, scale, sub, transform,
} from "./linalg.js";
import { Program, Shelf, Slot, Target, texture } from "./resources.js";
import { PROGRAMS } from "./shaders.js";

/** @typedef {import("./types.js").Vec3} Vec3 */
/** @typedef {import("./types.js").Mat4} Mat4 */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Field} Field */
/** @typedef {import("./types.js").ObjectRecord} ObjectRecord */
/** @typedef {import("./types.js").Shading} Shading */

/**
 * @typedef {object} View How to draw.
 * @property {Shading} shading
 * @property {boolean} grid
 * @property {boolean} shadows
 * @property {boolean} dark
 * @property {import("./groups.js").Hidden} hidden Objects that are not shown.
 * @property {[number, number]} heatRange
 * @property {boolean} diverging
 * @property {number} fogDensity Factor on the automatic one.
 * @property {number} pointSize Factor on the automatic one.
 * @property {number} resolution Share of the canvas's pixels along each edge that surfaces are drawn with.
 * @property {boolean} openness Whether crevices are darkened.
 */

const MODES = { smooth: 0, flat: 1, wire: 2, normal: 3, heat: 4 };
const SHADOW_SIZE = 2048;
/** Towards the lights; the first one casts the shadow. */
const KEY = normalize([-0.35, -0.62, 0.9]);
const FILL = normalize([0.8, 0.3, 0.35]);
const BACKDROPS = {
  light: { low: [0.965, 0.962, 0.955], high: [0.80, 0.81, 0.825], line: [0.60, 0.61, 0.63], edge: [0.08, 0.09, 0.12, 0.5], fog: [0.36, 0.37, 0.39] },
  dark: { low: [0.155, 0.163, 0.18], high: [0.055, 0.058, 0.066], line: [0.30, 0.315, 0.345], edge: [0.02, 0.02, 0.03, 0.62], fog: [0.72, 0.73, 0.75] },
};

export class Renderer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", {
      alpha: false, antialias: false, depth: false, stencil: false, powerPreference: "high-performance",
    });
    if (!gl) throw new Error("this browser offers no WebGL2");
    this.canvas = canvas;
    this.gl = gl;
    const names = /** @type {(keyof typeof PROGRAMS)[]} */ (Object.keys(PROGRAMS));
    // All are handed over before any is asked about, so that the driver may compile them side by side.
    const made = names.map((name) => [name, new Program(gl, name, PROGRAMS[name])]);
    /** @type {Record<keyof typeof PROGRAMS, Program>} */
    this.programs = Object.fromEntries(made);
    this.shelf = new Shelf(gl);
    /** @type {Map<string, Slot>} By object name. */
    this.slots = new Map();
    /** @type {Slot[]} In the frame's order. */
    this.shown = [];
    /** @type {Frame | null} */
    this.frame = null;
    this.target = new Target(gl);
    this.samples = Math.min(4, gl.getParameter(gl.MAX_SAMPLES));
    this.shadowMap = texture(gl, gl.DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    this.shadowTarget = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowTarget);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shadowMap, 0);
    this.maps = [false, true].map((diverging) => {
      const map = texture(gl, gl.RGBA8, 256, 1, gl.LINEAR);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, scalePixels(diverging));
      return map;
    });
    this.pointSizes = gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE);
    this.empty = gl.createVertexArray();
    /** Turns the run's up axis to z. */
    this.upright = identity();
    /** @type {[Vec3, Vec3]} What the ground and the shadow cover, z up [m]. */
    this.box = [[-1, -1, 0], [1, 1, 1]];
    this.groundHeight = 0;
    /** @type {Record<string, import("./types.js").SurfaceLook>} */
    this.looks = {};
    /** @type {Map<string, number>} Numbers of object names, for their colours. */
    this.numbers = new Map();
    /** @type {Map<string, number>} Largest value of each grid in the frames shown so far. */
    this.gridTops = new Map();
  }

  /** Forgets the objects of a run that is gone. */
  clear() {
    this.slots.forEach((slot) => slot.free());
    this.slots.clear();
    this.shown = [];
    this.frame = null;
    this.gridTops.clear();
  }

  /** Brings a frame to the card. @param {Frame} frame @param {Field | null} field */
  show(frame, field) {
    this.frame = frame;
    this.shown = frame.objects.map((object, k) => {
      const name = frame.catalogue.objects[k]?.name ?? String(k);
      if (!this.numbers.has(name)) this.numbers.set(name, this.numbers.size);
      let slot = this.slots.get(name);
      if (!slot) {
        slot = new Slot(this.gl, this.shelf);
        this.slots.set(name, slot);
      }
      slot.show(object, field?.columns[k] ?? null);
      if (object.kind === "grid") this.gridTops.set(name, Math.max(this.gridTops.get(name) ?? 0, object.range[1]));
      return slot;
    });
  }

  /** Front and back colour of an object, linear. @param {string} name @returns {[Vec3, Vec3]} */
  colours(name) {
    const look = this.looks[name];
    const colour = look?.colour ?? objectColour(this.numbers.get(name) ?? 0);
    return [colour, look?.back ?? backColour(colour)];
  }

  /** Object coordinates to the world with z up. @param {ObjectRecord} object */
  bodyToWorld(object) {
    return multiply(this.upright, rigid(object.rotation, object.position));
  }

  /**
   * Bounds of the objects of the frame shown, z up.
   * @param {(name: string) => boolean} [wanted]
   * @returns {[Vec3, Vec3] | null}
   */
  bounds(wanted = () => true) {
    /** @type {[Vec3, Vec3] | null} */
    let found = null;
    this.frame?.objects.forEach((object, k) => {
      if (!wanted(this.frame?.catalogue.objects[k]?.name ?? "") || object.vertices === 0) return;
      const toWorld = multiply(this.bodyToWorld(object), placed(object.origin, object.step));
      const top = object.kind === "grid" ? object.dims.map((n) => n - 1) : [2097151, 2097151, 2097151];
      for (let corner = 0; corner < 8; corner++) {
        const [x, y, z] = transform(toWorld, [corner & 1 ? top[0] : 0, corner & 2 ? top[1] : 0, corner & 4 ? top[2] : 0]);
        const [low, high] = found ?? [[x, y, z], [x, y, z]];
        found = [
          [Math.min(low[0], x), Math.min(low[1], y), Math.min(low[2], z)],
          [Math.max(high[0], x), Math.max(high[1], y), Math.max(high[2], z)],
        ];
      }
    });
    return found;
  }

  /** Draws the frame to the canvas. @param {import("./camera.js").Camera} camera @param {View} view */
  draw(camera, view) {
    const { gl, canvas } = this;
    if (canvas.width === 0 || canvas.height === 0 || gl.isContextLost()) return;
    const [width, height] = [canvas.width, canvas.height].map((n) => Math.max(1, Math.round(n * view.resolution)));
    const worldToView = camera.view();
    const viewToClip = camera.projection(width / height);
    const scene = {
      view, width, height, worldToView, viewToClip,
      viewToWorld: inverseAffine(worldToView),
      shadow: this.shadowMatrix(),
      backdrop: view.dark ? BACKDROPS.dark : BACKDROPS.light,
      unproject: [1 / viewToClip[0], 1 / viewToClip[5], viewToClip[10], viewToClip[14]],
      pixels: (viewToClip[5] * height) / 2,
      eye: camera.eye,
    };
    if (view.shadows) this.drawShadow(scene);
    this.target.resize(width, height, this.samples);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target.drawn);
    gl.viewport(0, 0, width, height);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.drawBackdrop(scene);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    this.drawObjects(scene);
    if (view.grid) this.drawGround(scene);
    this.target.resolve();
    const volumes = this.volumes(scene);
    gl.disable(gl.DEPTH_TEST);
    if (view.openness) this.drawOpenness(scene);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    Object.assign(scene, { width: canvas.width, height: canvas.height });
    this.compose(scene);
    this.drawVolumes(scene, volumes);
    gl.bindVertexArray(null);
  }

  /** World to the shadow map, which covers the box and its shadow on the ground. */
  shadowMatrix() {
    const centre = scale(add(this.box[0], this.box[1]), 0.5);
    const radius = Math.max(length(sub(this.box[1], this.box[0])) / 2, 1e-6);
    const view = lookAt(add(centre, scale(KEY, 3 * radius)), centre, [0, 0, 1]);
    // Room below the box for shadows that fall on the ground.
    return { matrix: multiply(orthographic(1.25 * radius, 0.5 * radius, 8 * radius), view), radius };
  }

  /** @param {Scene} scene */
  drawShadow(scene) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowTarget);
    gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 2);
    const program = this.programs.depth.use();
    for (const { slot, object, toWorld } of this.visible(scene, "triangles")) {
      program.matrix("u_codeToClip", multiply(scene.shadow.matrix, toWorld));
      gl.bindVertexArray(slot.vao);
      gl.drawElements(gl.TRIANGLES, 3 * object.elements, slot.indexType, 0);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  /** Objects of a kind that are not hidden. @param {Scene} scene @param {ObjectRecord["kind"]} kind */
  visible(scene, kind) {
    const frame = this.frame;
    if (!frame) return [];
    return frame.objects.flatMap((object, k) => {
      const name = frame.catalogue.objects[k]?.name ?? String(k);
      if (object.kind !== kind || scene.view.hidden.has(name) || object.vertices === 0) return [];
      const body = this.bodyToWorld(object);
      const toWorld = multiply(body, placed(object.origin, object.step));
      return [{ slot: this.shown[k], object, name, body, toWorld }];
    });
  }

  /** @param {Scene} scene */
  drawBackdrop(scene) {
    const { gl } = this;
    gl.disable(gl.DEPTH_TEST);
    const program = this.programs.backdrop.use();
    this.setBackdrop(program, scene);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** @param {Program} program @param {Scene} scene */
  setBackdrop(program, scene) {
    program.vector("u_low", scene.backdrop.low);
    program.vector("u_high", scene.backdrop.high);
    program.vector("u_viewport", [scene.width, scene.height]);
  }

  /** Lights and shadow. @param {Program} program @param {Scene} scene */
  setLight(program, scene) {
    const { gl } = this;
    const turned = (/** @type {Vec3} */ v) => transform(scene.worldToView, v).slice(0, 3).map((x, k) => x - scene.worldToView[12 + k]);
    program.vector("u_key", turned(KEY));
    program.vector("u_fill", turned(FILL));
    program.vector("u_sky", turned([0, 0, 1]));
    program.float("u_shadowOn", scene.view.shadows ? 1 : 0);
    program.float("u_shadowTexel", 1 / SHADOW_SIZE);
    const half = placed([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]);
    program.matrix("u_viewToShadow", multiply(half, multiply(scene.shadow.matrix, scene.viewToWorld)));
    program.matrix("u_viewToClip", scene.viewToClip);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadowMap);
    program.int("u_shadow", 0);
  }

  /** Colours, mode and heat map of an object. @param {Program} program @param {Scene} scene @param {Drawn} drawn */
  setMaterial(program, scene, { slot, name, object }) {
    const { gl } = this;
    const [front, back] = this.colours(name);
    const { shading, heatRange, diverging } = scene.view;
    const flat = shading === "smooth" && this.looks[name]?.flat;
    program.vector("u_colour", shading === "wire" ? mixed(front, scene.view.dark ? 0.2 : 0.75) : front);
    program.vector("u_back", shading === "wire" ? mixed(back, scene.view.dark ? 0.16 : 0.6) : back);
    program.int("u_mode", shading === "heat" && object.kind !== "grid" ? 4 : flat ? 1 : MODES[shading] % 4);
    program.rotation("u_viewToWorld", scene.viewToWorld);
    const column = slot.column;
    program.vector("u_column", column ? [column.low, column.high - column.low] : [0, 0]);
    program.vector("u_scale", [heatRange[0], 1 / Math.max(heatRange[1] - heatRange[0], 1e-30)]);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.maps[diverging ? 1 : 0]);
    program.int("u_map", 1);
    // Objects without the field have no value at any vertex.
    gl.vertexAttribI4ui(1, 65535, 0, 0, 0);
  }

  /** @param {Scene} scene */
  drawObjects(scene) {
    const { gl } = this;
    const wire = scene.view.shading === "wire";
    for (const drawn of this.visible(scene, "triangles")) {
      const { slot, object, body, toWorld } = drawn;
      const program = this.programs.surface.use();
      this.setLight(program, scene);
      this.setMaterial(program, scene, drawn);
      program.matrix("u_codeToView", multiply(scene.worldToView, toWorld));
      program.rotation("u_bodyToView", multiply(scene.worldToView, body));
      gl.bindVertexArray(slot.vao);
      gl.drawElements(gl.TRIANGLES, 3 * object.elements, slot.indexType, 0);
      if (wire) this.drawEdges(scene, drawn);
    }
    for (const drawn of this.visible(scene, "points")) this.drawPoints(scene, drawn);
    for (const drawn of this.visible(scene, "lines")) this.drawLines(scene, drawn);
  }

  /** @param {Scene} scene @param {Drawn} drawn */
  drawEdges(scene, { slot, toWorld }) {
    const { gl } = this;
    slot.prepareEdges();
    const program = this.programs.edges.use();
    program.matrix("u_codeToView", multiply(scene.worldToView, toWorld));
    program.matrix("u_viewToClip", scene.viewToClip);
    program.vector("u_line", scene.backdrop.edge);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindVertexArray(slot.edgesVao);
    gl.drawElements(gl.LINES, slot.edgeCount, gl.UNSIGNED_INT, 0);
    gl.disable(gl.BLEND);
  }

  /** @param {Scene} scene @param {Drawn} drawn */
  drawPoints(scene, drawn) {
    const { gl } = this;
    const { slot, object, toWorld, name } = drawn;
    const program = this.programs.points.use();
    this.setLight(program, scene);
    this.setMaterial(program, scene, drawn);
    program.matrix("u_codeToView", multiply(scene.worldToView, toWorld));
    program.float("u_radius", (this.looks[name]?.radius ?? spacing(object) * 0.3) * scene.view.pointSize);
    program.float("u_pixels", scene.pixels);
    program.vector("u_sizes", [1.6, Math.min(this.pointSizes[1], 256)]);
    gl.bindVertexArray(slot.vao);
    gl.drawArrays(gl.POINTS, 0, object.vertices);
  }

  /** @param {Scene} scene @param {Drawn} drawn */
  drawLines(scene, drawn) {
    const { gl } = this;
    const { slot, object, toWorld, name } = drawn;
    const program = this.programs.lines.use();
    this.setMaterial(program, scene, drawn);
    program.matrix("u_codeToView", multiply(scene.worldToView, toWorld));
    program.matrix("u_viewToClip", scene.viewToClip);
    program.vector("u_viewport", [scene.width, scene.height]);
    program.float("u_radius", (this.looks[name]?.radius ?? 0) * scene.view.pointSize);
    program.float("u_pixels", scene.pixels);
    gl.bindVertexArray(slot.vao);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, object.elements);
  }

  /** @param {Scene} scene */
  drawGround(scene) {
    const { gl } = this;
    const size = length(sub(this.box[1], this.box[0]));
    if (scene.eye[2] <= this.groundHeight || size === 0) return;
    const program = this.programs.ground.use();
    this.setLight(program, scene);
    this.setBackdrop(program, scene);
    const centre = scale(add(this.box[0], this.box[1]), 0.5);
    const cell = 10 ** Math.floor(Math.log10(size / 4));
    program.matrix("u_worldToView", scene.worldToView);
    // A hair below, so that a ground that the run itself shows wins.
    program.vector("u_centre", [centre[0], centre[1], this.groundHeight - 5e-4 * size]);
    program.vector("u_offset", [centre[0] % (10 * cell), centre[1] % (10 * cell)]);
    program.float("u_reach", 6 * size);
    program.float("u_cell", cell);
    program.float("u_dark", scene.view.dark ? 1 : 0);
    program.vector("u_line", scene.backdrop.line);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** @param {Scene} scene */
  drawOpenness(scene) {
    const { gl, target } = this;
    const [width, height] = [Math.ceil(scene.width / 2), Math.ceil(scene.height / 2)];
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.open);
    gl.viewport(0, 0, width, height);
    const program = this.programs.occlusion.use();
    this.bindDepth(program, scene);
    program.vector("u_viewport", [width, height]);
    program.float("u_radius", 0.09 * length(sub(this.box[1], this.box[0])));
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** @param {Program} program @param {Scene} scene */
  bindDepth(program, scene) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, this.target.depth);
    program.int("u_depth", 2);
    program.vector("u_unproject", scene.unproject);
  }

  /** @param {Scene} scene */
  compose(scene) {
    const { gl, target } = this;
    const program = this.programs.composite.use();
    this.bindDepth(program, scene);
    program.vector("u_viewport", [scene.width, scene.height]);
    program.float("u_openOn", scene.view.openness && scene.view.shading !== "normal" ? 1 : 0);
    gl.activeTexture(gl.TEXTURE3);
    gl.bindTexture(gl.TEXTURE_2D, target.picture);
    program.int("u_picture", 3);
    gl.activeTexture(gl.TEXTURE4);
    gl.bindTexture(gl.TEXTURE_2D, target.openness);
    program.int("u_open", 4);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** Grids to draw, the farthest first. @param {Scene} scene */
  volumes(scene) {
    const drawn = this.visible(scene, "grid").filter(({ object }) => object.dims.every((n) => n > 0));
    const depth = (/** @type {Drawn} */ d) =>
      transform(multiply(scene.worldToView, d.toWorld), /** @type {Vec3} */ (d.object.dims.map((n) => (n - 1) / 2)))[2];
    return drawn.sort((a, b) => depth(a) - depth(b));
  }

  /** @param {Scene} scene @param {Drawn[]} volumes */
  drawVolumes(scene, volumes) {
    const { gl } = this;
    if (volumes.length === 0) return;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.FRONT);
    for (const drawn of volumes) {
      const { slot, object, name, body } = drawn;
      const look = this.looks[name];
      const size = /** @type {Vec3} */ (object.dims.map((n, k) => Math.max(n - 1, 1) * object.step[k]));
      const boxToView = multiply(scene.worldToView, multiply(body, placed(object.origin, size)));
      const program = this.programs.volume.use();
      this.setLight(program, scene);
      this.setMaterial(program, scene, drawn);
      this.bindDepth(program, scene);
      program.vector("u_viewport", [scene.width, scene.height]);
      program.matrix("u_boxToView", boxToView);
      const viewToBox = inverseAffine(boxToView);
      program.matrix("u_viewToBox", viewToBox);
      program.rotation("u_bodyToView", multiply(scene.worldToView, body));
      program.vector("u_nodes", object.dims);
      program.vector("u_size", size);
      const toBox = multiply(viewToBox, scene.worldToView);
      program.vector("u_keyBox", transform(toBox, KEY).slice(0, 3).map((x, k) => x - toBox[12 + k]));
      const surface = look?.grid ? look.grid === "surface" : object.range[0] < 0;
      program.int("u_surface", surface ? 1 : 0);
      // Without a given density, light fades to 1/e in a fortieth of the box where the fog is thickest.
      const top = Math.max(this.gridTops.get(name) ?? 0, 1e-30);
      const extinction = look?.density ?? 40 / (top * Math.max(...size));
      program.float("u_extinction", (extinction * scene.view.fogDensity) / object.scale);
      program.vector("u_colour", surface || look?.colour ? this.colours(name)[0] : scene.backdrop.fog);
      gl.activeTexture(gl.TEXTURE5);
      gl.bindTexture(gl.TEXTURE_3D, slot.volume);
      program.int("u_grid", 5);
      gl.bindVertexArray(this.empty);
      gl.drawArrays(gl.TRIANGLES, 0, 36);
    }
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
  }
}

/**
 * @typedef {object} Scene What all passes of one picture share.
 * @property {View} view
 * @property {number} width
 * @property {number} height
 * @property {Mat4} worldToView
 * @property {Mat4} viewToClip
 * @property {Mat4} viewToWorld
 * @property {{matrix: Mat4, radius: number}} shadow
 * @property {typeof BACKDROPS.light} backdrop
 * @property {number[]} unproject
 * @property {number} pixels Per unit of slope.
 * @property {Vec3} eye
 */

/** @typedef {{slot: Slot, object: ObjectRecord, name: string, body: Mat4, toWorld: Mat4}} Drawn */

/** A colour mixed with white or, in the dark, with grey. @param {Vec3} c @param {number} grey @returns {Vec3} */
const mixed = (c, grey) => /** @type {Vec3} */ (c.map((x) => 0.35 * x + 0.65 * grey));

/** Typical distance of points that fill their bounds [m]. @param {ObjectRecord} object */
function spacing(object) {
  const edges = object.step.map((s) => s * 2097151).filter((e) => e > 0);
  const volume = edges.reduce((product, e) => product * e, 1);
  return edges.length > 0 ? (volume / object.vertices) ** (1 / edges.length) : 1;
}
