/**
 * Bodies of an array, `ring-000` to `ring-999`, as one group, `ring-*`; and which objects are hidden.
 * @module
 */

/** The group an object may belong to. @param {string} name */
export function groupOf(name) {
  const found = /^(.+)-\d+$/.exec(name);
  return found ? `${found[1]}-*` : null;
}

/** Names of objects and groups that are not shown. */
export class Hidden {
  /** @param {Iterable<string>} [names] */
  constructor(names = []) {
    this.names = new Set(names);
  }

  get size() {
    return this.names.size;
  }

  /** @param {string} name */
  has(name) {
    const group = groupOf(name);
    return this.names.has(name) || (group !== null && this.names.has(group));
  }

  /** @param {string} name */
  add(name) {
    this.names.add(name);
  }

  clear() {
    this.names.clear();
  }

  /** Shows or hides one object. @param {string} name @param {boolean} visible @param {string[]} all Names of all objects. */
  set(name, visible, all) {
    const group = groupOf(name);
    if (group !== null && this.names.delete(group)) {
      for (const other of all) if (groupOf(other) === group) this.names.add(other);
    }
    if (visible) this.names.delete(name);
    else this.names.add(name);
  }

  /** Shows or hides all objects of a group. @param {string} group @param {boolean} visible */
  setGroup(group, visible) {
    for (const name of [...this.names]) if (groupOf(name) === group) this.names.delete(name);
    if (visible) this.names.delete(group);
    else this.names.add(group);
  }

  [Symbol.iterator]() {
    return this.names.values();
  }
}
