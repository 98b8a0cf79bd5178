/**
 * The GLSL programs. Lighting happens in camera space; colours are linear until the last pass.
 * @module
 */

/** Unpacks a position code; `bad` is one for a vertex that is not finite. */
const UNPACK = `
vec3 unpackCode(uvec2 c, out float bad) {
  bad = float(c.y >> 31u);
  return vec3(float(c.x & 0x1fffffu), float((c.x >> 21u) | ((c.y & 0x3ffu) << 11u)), float((c.y >> 10u) & 0x1fffffu));
}
vec3 unpackNormal(uint w) {
  vec2 e = vec2(float(int(w << 16u) >> 16), float(int(w) >> 16)) / 32767.0;
  vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
  float t = max(-n.z, 0.0);
  n.xy -= vec2(n.x >= 0.0 ? t : -t, n.y >= 0.0 ? t : -t);
  return normalize(n);
}`;

/** A field's code to a position on the colour scale; below zero where there is no value. */
const HEAT = `
uniform vec2 u_column; // lowest value of the object's column and its span
uniform vec2 u_scale; // lower end of the colour scale and one over its span
float heatOf(uint code) {
  return code == 65535u ? -1.0 : clamp((u_column.x + u_column.y * float(code) / 65534.0 - u_scale.x) * u_scale.y, 0.0, 1.0);
}`;

/** Lights in camera space and the shadow of the first one. */
const LIGHT = `
uniform vec3 u_key, u_fill, u_sky; // directions towards the lights, in camera space
uniform highp sampler2DShadow u_shadow;
uniform float u_shadowTexel, u_shadowOn;
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
float lit(vec3 s, float facing) {
  if (u_shadowOn < 0.5 || any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
  float bias = u_shadowTexel * mix(5.0, 1.2, facing), sum = 0.0, turn = 6.2831853 * noise(gl_FragCoord.xy);
  for (int k = 0; k < 16; k++) {
    float r = sqrt((float(k) + 0.5) / 16.0) * 6.5 * u_shadowTexel, a = turn + 2.3999632 * float(k);
    sum += texture(u_shadow, vec3(s.xy + r * vec2(cos(a), sin(a)), s.z - bias));
  }
  return sum / 16.0;
}
vec3 shade(vec3 albedo, vec3 n, vec3 v, float sun, float gloss) {
  float wrap = 0.18;
  float key = max((dot(n, u_key) + wrap) / (1.0 + wrap), 0.0);
  float fill = max(dot(n, u_fill), 0.0);
  vec3 ambient = mix(vec3(0.15, 0.14, 0.135), vec3(0.36, 0.385, 0.43), 0.5 + 0.5 * dot(n, u_sky));
  vec3 light = ambient + vec3(1.16, 1.10, 1.00) * key * sun + vec3(0.11, 0.13, 0.17) * fill;
  vec3 h = normalize(u_key + v);
  float spec = pow(max(dot(n, h), 0.0), 48.0) * 0.22 * sun * gloss;
  float rim = pow(1.0 - max(dot(n, v), 0.0), 4.0) * 0.16;
  return albedo * light + spec + rim * ambient;
}`;

/** What every surface pass writes: linear light, turned to the screen's encoding. */
const OUTPUT = `
// Values are never below zero, but at the edge of a triangle they may be continued a little beyond it.
const float NONE = -0.05;
vec3 encode(vec3 c) {
  c = c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);
  return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
}
vec3 decode(vec3 c) { return pow(c, vec3(2.2)); }`;

const SURFACE = {
  vertex: `#version 300 es
layout(location = 0) in uvec3 a_code;
layout(location = 1) in uint a_heat;
uniform mat4 u_codeToView, u_viewToClip, u_viewToShadow;
uniform mat3 u_bodyToView;
out vec3 v_view, v_normal, v_shadow;
out float v_heat, v_bad;
${UNPACK}
${HEAT}
void main() {
  vec3 code = unpackCode(a_code.xy, v_bad);
  v_view = (u_codeToView * vec4(code, 1.0)).xyz;
  v_normal = u_bodyToView * unpackNormal(a_code.z);
  v_shadow = (u_viewToShadow * vec4(v_view, 1.0)).xyz;
  v_heat = heatOf(a_heat);
  gl_Position = u_viewToClip * vec4(v_view, 1.0);
}`,
  fragment: `#version 300 es
precision highp float;
in vec3 v_view, v_normal, v_shadow;
in float v_heat, v_bad;
uniform vec3 u_colour, u_back;
uniform int u_mode; // 0 smooth, 1 flat, 2 wire, 3 normal, 4 heat
uniform mat3 u_viewToWorld;
uniform highp sampler2D u_map;
out vec4 o_colour;
${LIGHT}
${OUTPUT}
void main() {
  if (v_bad > 0.0) discard;
  vec3 v = normalize(-v_view);
  vec3 facet = normalize(cross(dFdx(v_view), dFdy(v_view)));
  bool front = gl_FrontFacing;
  vec3 n = normalize(v_normal);
  n = front ? n : -n;
  if (u_mode == 1 || u_mode == 2 || !(dot(n, n) > 0.5)) n = dot(facet, v) < 0.0 ? -facet : facet;
  if (u_mode == 3) {
    o_colour = vec4(0.5 + 0.5 * (u_viewToWorld * n), 1.0);
    return;
  }
  vec3 albedo = front ? u_colour : u_back;
  float gloss = 1.0;
  if (u_mode == 4) {
    albedo = v_heat < NONE ? vec3(0.30) : decode(texture(u_map, vec2(v_heat, 0.5)).rgb);
    gloss = 0.25;
  }
  float sun = lit(v_shadow, max(dot(n, u_key), 0.0));
  o_colour = vec4(encode(shade(albedo, n, v, sun, gloss)), 1.0);
}`,
};

const DEPTH = {
  vertex: `#version 300 es
layout(location = 0) in uvec3 a_code;
uniform mat4 u_codeToClip;
${UNPACK}
void main() {
  float bad;
  vec3 code = unpackCode(a_code.xy, bad);
  gl_Position = u_codeToClip * vec4(code, 1.0);
  if (bad > 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`,
  fragment: `#version 300 es
precision mediump float;
void main() {}`,
};

const EDGES = {
  vertex: `#version 300 es
layout(location = 0) in uvec3 a_code;
uniform mat4 u_codeToView, u_viewToClip;
out float v_bad;
${UNPACK}
void main() {
  vec3 view = (u_codeToView * vec4(unpackCode(a_code.xy, v_bad), 1.0)).xyz;
  // Drawn a little closer than the surface it lies on.
  gl_Position = u_viewToClip * vec4(view * 0.9994, 1.0);
}`,
  fragment: `#version 300 es
precision highp float;
in float v_bad;
uniform vec4 u_line;
out vec4 o_colour;
void main() {
  if (v_bad > 0.0) discard;
  o_colour = u_line;
}`,
};

const POINTS = {
  vertex: `#version 300 es
layout(location = 0) in uvec2 a_code;
layout(location = 1) in uint a_heat;
uniform mat4 u_codeToView, u_viewToClip, u_viewToShadow;
uniform float u_radius, u_pixels; // radius [m], pixels per unit of slope
uniform vec2 u_sizes; // smallest and largest point [pixels]
out vec3 v_view, v_shadow;
out float v_heat, v_bad, v_radius;
${UNPACK}
${HEAT}
void main() {
  v_view = (u_codeToView * vec4(unpackCode(a_code, v_bad), 1.0)).xyz;
  v_heat = heatOf(a_heat);
  v_shadow = (u_viewToShadow * vec4(v_view, 1.0)).xyz;
  float size = clamp(2.0 * u_radius * u_pixels / max(-v_view.z, 1e-9), u_sizes.x, u_sizes.y);
  v_radius = 0.5 * size * -v_view.z / u_pixels;
  gl_PointSize = size;
  gl_Position = u_viewToClip * vec4(v_view, 1.0);
}`,
  fragment: `#version 300 es
precision highp float;
in vec3 v_view, v_shadow;
in float v_heat, v_bad, v_radius;
uniform vec3 u_colour;
uniform int u_mode;
uniform mat3 u_viewToWorld;
uniform mat4 u_viewToClip;
uniform highp sampler2D u_map;
out vec4 o_colour;
${LIGHT}
${OUTPUT}
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r2 = dot(p, p);
  if (v_bad > 0.0 || r2 > 1.0) discard;
  vec3 n = vec3(p.x, -p.y, sqrt(1.0 - r2));
  vec4 clip = u_viewToClip * vec4(v_view + v_radius * n, 1.0);
  gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
  if (u_mode == 3) {
    o_colour = vec4(0.5 + 0.5 * (u_viewToWorld * n), 1.0);
    return;
  }
  vec3 albedo = u_colour;
  if (u_mode == 4) albedo = v_heat < NONE ? vec3(0.30) : decode(texture(u_map, vec2(v_heat, 0.5)).rgb);
  o_colour = vec4(encode(shade(albedo, n, normalize(-v_view), lit(v_shadow, 1.0), 0.4)), 1.0);
}`,
};

const LINES = {
  vertex: `#version 300 es
layout(location = 0) in uvec2 a_from;
layout(location = 1) in uvec2 a_to;
layout(location = 2) in uvec2 a_heat;
uniform mat4 u_codeToView, u_viewToClip;
uniform vec2 u_viewport; // [pixels]
uniform float u_radius, u_pixels;
out float v_heat, v_bad, v_across;
${UNPACK}
${HEAT}
void main() {
  // Corners of a strip of two triangles: along 0 or 1, across -1 or 1.
  float along = float(gl_VertexID / 2), across = float(gl_VertexID % 2) * 2.0 - 1.0;
  float badA, badB;
  vec3 a = (u_codeToView * vec4(unpackCode(a_from, badA), 1.0)).xyz;
  vec3 b = (u_codeToView * vec4(unpackCode(a_to, badB), 1.0)).xyz;
  v_bad = badA + badB;
  float near = -1e-3;
  if (a.z > near && b.z < near) a = mix(b, a, (near - b.z) / (a.z - b.z));
  if (b.z > near && a.z < near) b = mix(a, b, (near - a.z) / (b.z - a.z));
  vec4 ca = u_viewToClip * vec4(a, 1.0), cb = u_viewToClip * vec4(b, 1.0);
  vec2 d = (cb.xy / cb.w - ca.xy / ca.w) * u_viewport;
  d = dot(d, d) > 0.0 ? normalize(d) : vec2(1.0, 0.0);
  vec4 c = along > 0.5 ? cb : ca;
  float width = max(u_radius * u_pixels / c.w, 0.9);
  c.xy += across * width * 2.0 * vec2(-d.y, d.x) / u_viewport * c.w;
  gl_Position = c;
  v_across = across;
  float ha = heatOf(a_heat.x), hb = heatOf(a_heat.y);
  v_heat = along > 0.5 ? hb : ha;
}`,
  fragment: `#version 300 es
precision highp float;
in float v_heat, v_bad, v_across;
uniform vec3 u_colour;
uniform int u_mode;
uniform highp sampler2D u_map;
out vec4 o_colour;
${OUTPUT}
void main() {
  if (v_bad > 0.0) discard;
  vec3 albedo = u_mode == 4 ? (v_heat < NONE ? vec3(0.30) : decode(texture(u_map, vec2(v_heat, 0.5)).rgb)) : u_colour;
  o_colour = vec4(encode(albedo * mix(1.25, 0.7, abs(v_across))), 1.0);
}`,
};

/** The background's gradient, which the ground fades into. */
const BACKGROUND = `
uniform vec3 u_low, u_high; // as shown on the screen
uniform vec2 u_viewport;
vec3 background() {
  vec2 p = gl_FragCoord.xy / u_viewport;
  float d = length((p - vec2(0.5, 0.42)) * vec2(1.0, 0.9));
  float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  return mix(u_low, u_high, smoothstep(0.05, 0.95, d)) + grain / 255.0;
}`;

const GROUND = {
  vertex: `#version 300 es
uniform mat4 u_viewToClip, u_worldToView, u_viewToShadow;
uniform vec3 u_centre;
uniform float u_reach;
out vec3 v_view, v_shadow;
out vec2 v_plane;
void main() {
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0 - 1.0;
  v_plane = corner * u_reach;
  v_view = (u_worldToView * vec4(u_centre + vec3(v_plane, 0.0), 1.0)).xyz;
  v_shadow = (u_viewToShadow * vec4(v_view, 1.0)).xyz;
  gl_Position = u_viewToClip * vec4(v_view, 1.0);
}`,
  fragment: `#version 300 es
precision highp float;
in vec3 v_view, v_shadow;
in vec2 v_plane;
uniform vec2 u_offset; // of the grid's origin from the centre [m]
uniform float u_cell, u_reach, u_dark;
uniform vec3 u_line;
out vec4 o_colour;
${BACKGROUND}
${LIGHT}
float lines(vec2 p, float cell) {
  vec2 q = p / cell, w = fwidth(q);
  vec2 d = abs(fract(q - 0.5) - 0.5) / max(w, vec2(1e-6));
  // Lines closer than a few pixels melt into an even tone.
  float fade = clamp(1.0 - max(w.x, w.y) * 2.5, 0.0, 1.0);
  return (1.0 - min(min(d.x, d.y), 1.0)) * fade;
}
void main() {
  float far = length(v_plane) / u_reach;
  float fade = 1.0 - smoothstep(0.25, 1.0, far);
  vec3 c = background();
  c += (u_dark > 0.5 ? 0.012 : 0.02) * fade;
  vec2 p = v_plane + u_offset;
  float line = max(lines(p, u_cell) * 0.32, lines(p, 10.0 * u_cell) * 0.62);
  float sun = lit(v_shadow, 1.0);
  c = mix(c, u_line, line * fade);
  c *= mix(1.0, mix(u_dark > 0.5 ? 0.42 : 0.60, 1.0, sun), 1.0 - smoothstep(0.5, 1.0, far));
  o_colour = vec4(c, 1.0);
}`,
};

const FULL_SCREEN = `#version 300 es
void main() {
  vec2 p = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2));
  gl_Position = vec4(2.0 * p - 1.0, 0.0, 1.0);
}`;

const BACKDROP = {
  vertex: FULL_SCREEN,
  fragment: `#version 300 es
precision highp float;
out vec4 o_colour;
${BACKGROUND}
void main() { o_colour = vec4(background(), 1.0); }`,
};

/** How open the surroundings of each pixel are, from the depths around it, at half resolution. */
const OCCLUSION = {
  vertex: FULL_SCREEN,
  fragment: `#version 300 es
precision highp float;
uniform highp sampler2D u_depth;
uniform vec4 u_unproject; // one over the projection's diagonal, and its two depth terms
uniform float u_radius; // [m]
uniform vec2 u_viewport;
out vec4 o_colour;
vec3 viewAt(vec2 uv) {
  float d = 2.0 * textureLod(u_depth, uv, 0.0).r - 1.0;
  float z = -u_unproject.w / (d + u_unproject.z);
  return vec3((2.0 * uv - 1.0) * u_unproject.xy * -z, z);
}
void main() {
  vec2 uv = gl_FragCoord.xy / u_viewport;
  float d = textureLod(u_depth, uv, 0.0).r;
  if (d >= 1.0) { o_colour = vec4(1.0); return; }
  vec3 p = viewAt(uv);
  vec2 t = 1.0 / u_viewport;
  vec3 r = viewAt(uv + vec2(t.x, 0.0)) - p, l = p - viewAt(uv - vec2(t.x, 0.0));
  vec3 u = viewAt(uv + vec2(0.0, t.y)) - p, b = p - viewAt(uv - vec2(0.0, t.y));
  vec3 n = normalize(cross(abs(r.z) < abs(l.z) ? r : l, abs(u.z) < abs(b.z) ? u : b));
  float reach = clamp(u_radius / (-p.z * 2.0 * u_unproject.y), 0.003, 0.14);
  float turn = 6.2831853 * fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715))));
  float sum = 0.0;
  for (int k = 0; k < 12; k++) {
    float a = turn + 2.3999632 * float(k), s = reach * (float(k) + 0.6) / 12.0;
    vec3 q = viewAt(uv + s * vec2(cos(a) * u_viewport.y / u_viewport.x, sin(a))) - p;
    float d2 = dot(q, q);
    sum += max(dot(q, n) * inversesqrt(d2 + 1e-12) - 0.09, 0.0) * clamp(1.0 - d2 / (u_radius * u_radius), 0.0, 1.0);
  }
  o_colour = vec4(vec3(clamp(1.0 - 1.8 * sum / 12.0, 0.0, 1.0)), 1.0);
}`,
};

/** Picture times openness, smoothed over the 4×4 pattern of its noise where depths agree. */
const COMPOSITE = {
  vertex: FULL_SCREEN,
  fragment: `#version 300 es
precision highp float;
uniform sampler2D u_picture, u_open;
uniform highp sampler2D u_depth;
uniform float u_openOn;
uniform vec4 u_unproject;
uniform vec2 u_viewport;
out vec4 o_colour;
float depthAt(vec2 uv) { return u_unproject.w / (2.0 * textureLod(u_depth, uv, 0.0).r - 1.0 + u_unproject.z); }
void main() {
  vec2 uv = gl_FragCoord.xy / u_viewport;
  vec3 c = texture(u_picture, uv).rgb;
  if (u_openOn > 0.5 && textureLod(u_depth, uv, 0.0).r < 1.0) {
    vec2 t = 2.0 / u_viewport;
    float z = depthAt(uv), sum = 0.0, weight = 0.0;
    for (int k = 0; k < 16; k++) {
      vec2 q = uv + (vec2(float(k & 3), float(k >> 2)) - 1.5) * t;
      float w = exp(-abs(depthAt(q) - z) / (0.02 * abs(z)));
      sum += w * texture(u_open, q).r;
      weight += w;
    }
    float open = sum / max(weight, 1e-4);
    c *= mix(vec3(0.22, 0.23, 0.27), vec3(1.0), open);
  }
  o_colour = vec4(c, 1.0);
}`,
};

/** Fog and level sets: a walk through a 3D texture, behind nothing that was drawn before. */
const VOLUME = {
  vertex: `#version 300 es
uniform mat4 u_boxToView, u_viewToClip;
out vec3 v_view;
void main() {
  // The faces of the unit box, two triangles each.
  const int corners[36] = int[36](0,2,1, 1,2,3, 4,5,6, 5,7,6, 0,1,4, 1,5,4, 2,6,3, 3,6,7, 0,4,2, 2,4,6, 1,3,5, 3,7,5);
  int k = corners[gl_VertexID];
  v_view = (u_boxToView * vec4(vec3(float(k & 1), float((k >> 1) & 1), float(k >> 2)), 1.0)).xyz;
  gl_Position = u_viewToClip * vec4(v_view, 1.0);
}`,
  fragment: `#version 300 es
precision highp float;
precision highp sampler3D;
in vec3 v_view;
uniform sampler3D u_grid;
uniform highp sampler2D u_depth;
uniform mat4 u_viewToBox;
uniform vec3 u_nodes, u_size; // nodes along the axes; edges of the box [m]
uniform vec3 u_colour, u_keyBox; // direction towards the light, in the box
uniform mat3 u_bodyToView;
uniform vec4 u_unproject;
uniform vec2 u_viewport;
uniform float u_extinction; // per unit of texture value [1/m]
uniform int u_surface, u_mode;
uniform mat3 u_viewToWorld;
out vec4 o_colour;
${LIGHT}
${OUTPUT}
float at(vec3 p) { return texture(u_grid, (p * (u_nodes - 1.0) + 0.5) / u_nodes).r; }
vec3 slope(vec3 p) {
  vec3 h = 1.0 / max(u_nodes - 1.0, 1.0);
  return vec3(at(p + vec3(h.x, 0, 0)) - at(p - vec3(h.x, 0, 0)), at(p + vec3(0, h.y, 0)) - at(p - vec3(0, h.y, 0)),
    at(p + vec3(0, 0, h.z)) - at(p - vec3(0, 0, h.z))) / (2.0 * h * u_size);
}
void main() {
  vec2 uv = gl_FragCoord.xy / u_viewport;
  float d = 2.0 * textureLod(u_depth, uv, 0.0).r - 1.0;
  float solid = u_unproject.w / (d + u_unproject.z); // depth of what was drawn before [m]
  vec3 ray = v_view / -v_view.z; // reaches depth t at t · ray
  vec3 o = (u_viewToBox * vec4(0.0, 0.0, 0.0, 1.0)).xyz, r = (u_viewToBox * vec4(ray, 0.0)).xyz;
  vec3 a = -o / r, b = (1.0 - o) / r;
  vec3 lo = min(a, b), hi = max(a, b);
  float t0 = max(max(max(lo.x, lo.y), lo.z), 1e-4), t1 = min(min(min(hi.x, hi.y), hi.z), solid);
  if (t1 <= t0) discard;
  float metre = length(ray);
  float cell = min(min(u_size.x / u_nodes.x, u_size.y / u_nodes.y), u_size.z / u_nodes.z);
  float steps = clamp(ceil((t1 - t0) * metre / (0.8 * cell)), 8.0, 200.0);
  float dt = (t1 - t0) / steps;
  float t = t0 + dt * (u_surface == 1 ? 0.0 : noise(gl_FragCoord.xy));
  if (u_surface == 1) {
    float before = at(o + t * r);
    for (int k = 0; k < 200; k++) {
      if (before <= 0.0 || float(k) >= steps) break;
      t += dt;
      before = at(o + t * r);
    }
    if (before > 0.0) discard;
    float near = t - dt, far = t;
    for (int k = 0; k < 6; k++) {
      float middle = 0.5 * (near + far);
      if (at(o + middle * r) > 0.0) near = middle; else far = middle;
    }
    vec3 n = normalize(u_bodyToView * slope(o + far * r)), v = normalize(-ray);
    if (!(dot(n, n) > 0.5)) n = v;
    vec3 c = u_mode == 3 ? 0.5 + 0.5 * (u_viewToWorld * n) : encode(shade(u_colour, n, v, 1.0, 1.4));
    o_colour = vec4(c, 1.0);
    return;
  }
  float through = 1.0;
  vec3 sum = vec3(0.0);
  float walk = 0.5 * max(max(u_size.x, u_size.y), u_size.z) / 6.0;
  for (int k = 0; k < 200; k++) {
    if (float(k) >= steps || through < 0.01) break;
    vec3 p = o + t * r;
    float sigma = max(at(p), 0.0) * u_extinction;
    if (sigma > 0.0) {
      float thick = 0.0;
      for (int j = 0; j < 5; j++) {
        vec3 q = p + u_keyBox * walk * (float(j) + 0.5) * 0.6;
        if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) break;
        thick += max(at(q), 0.0) * u_extinction * walk * 0.6;
      }
      vec3 light = vec3(1.35, 1.28, 1.18) * (0.85 * exp(-thick) + 0.15 * exp(-0.25 * thick)) + vec3(0.30, 0.33, 0.38);
      float left = exp(-sigma * dt * metre);
      sum += through * (1.0 - left) * u_colour * light;
      through *= left;
    }
    t += dt;
  }
  float cover = 1.0 - through;
  if (cover < 0.002) discard;
  o_colour = vec4(encode(sum / cover) * cover, cover);
}`,
};

export const PROGRAMS = {
  surface: SURFACE,
  depth: DEPTH,
  edges: EDGES,
  points: POINTS,
  lines: LINES,
  ground: GROUND,
  backdrop: BACKDROP,
  occlusion: OCCLUSION,
  composite: COMPOSITE,
  volume: VOLUME,
};
