/**
 * Numbers, names and units as people read them.
 * @module
 */

/** Units of quantities by words in their names, the first match wins. */
const UNITS = /** @type {const} */ ([
  [/second|elapsed|wall/, "s"],
  [/velocity|speed/, "m/s"],
  [/energy|work/, "J"],
  [/volume/, "m³"],
  [/area/, "m²"],
  [/angular momentum/, "kg m²/s"],
  [/momentum/, "kg m/s"],
  [/mass/, "kg"],
  [/force/, "N"],
  [/pressure|stress/, "Pa"],
  [/temperature/, "K"],
  [/density/, "kg/m³"],
  [/thickness|distance|depth|length|radius/, "m"],
  [/time/, "s"],
]);

/** A field's or statistic's name without its unit, and the unit. @param {string} name */
export function nameAndUnit(name) {
  const given = /^(.*?)\s*\[([^\]]*)\]$/.exec(name);
  const plain = (given ? given[1] : name).replace(/[_.-]+/g, " ").trim();
  const title = plain.charAt(0).toUpperCase() + plain.slice(1);
  const unit = given ? given[2] : (UNITS.find(([words]) => words.test(plain.toLowerCase()))?.[1] ?? "");
  return { title: name === "velocity" ? "Speed" : title, unit: unit === "-" ? "" : unit };
}

/** A number in at most about six characters. @param {number} x */
export function number(x) {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (x === 0) return "0";
  if (size >= 1e6 || size < 1e-4) {
    const [m, e] = x.toExponential(size >= 1e100 || size < 1e-99 ? 1 : 2).split("e");
    return `${Number(m)}e${Number(e)}`.replace("-", "−").replace("e-", "e−");
  }
  if (Number.isInteger(x)) return whole(x);
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return String(Number(x.toFixed(Math.min(digits, 7)))).replace("-", "−");
}

/** An integer with its thousands apart. @param {number} n */
export const whole = (n) => n.toLocaleString("en").replaceAll(",", "\u202f").replace("-", "−");

/** @param {number} x @param {string} unit */
export const quantity = (x, unit) => (unit ? `${number(x)}\u202f${unit}` : number(x));

/** A time span as people say it. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** Round values that cover a range, for axes. @param {number} low @param {number} high @param {number} about How many. */
export function ticks(low, high, about) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? raw;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) found.push(k * step);
  return found;
}
