/**
 * Light or dark: as the system says until the reader chooses.
 * @module
 */

const KEY = "billow-theme";

/** @returns {"light" | "dark" | null} */
function chosen() {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

export class Theme {
  /** @param {(dark: boolean) => void} changed */
  constructor(changed) {
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.choice = chosen();
    this.changed = changed;
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }

  get dark() {
    return this.choice ? this.choice === "dark" : this.system.matches;
  }

  toggle() {
    this.choice = this.dark ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.choice);
    } catch {
      // A browser that keeps nothing still shows the choice.
    }
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.dark ? "dark" : "light";
    this.changed(this.dark);
  }
}
