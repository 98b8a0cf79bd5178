/**
 * Mouse and touch on the picture: drag to orbit, with the right button or shift to pan, wheel or pinch to zoom.
 * @module
 */

/** Angle of a drag across the picture's height [rad]. */
const TURN = Math.PI;

/**
 * @param {HTMLElement} area
 * @param {import("./camera.js").Camera} camera
 * @param {{changed: () => void, tapped: (twice: boolean) => void}} notify
 */
export function listen(area, camera, notify) {
  /** @type {Map<number, {x: number, y: number, pan: boolean}>} */
  const fingers = new Map();

  area.addEventListener("pointerdown", (event) => {
    area.setPointerCapture(event.pointerId);
    const pan = event.button !== 0 || event.shiftKey;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, pan });
    area.classList.add("grabbed");
  });

  area.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    const height = area.clientHeight || 1;
    const [dx, dy] = [event.clientX - finger.x, event.clientY - finger.y];
    if (fingers.size === 1) {
      if (finger.pan) camera.pan(dx / height, -dy / height);
      else camera.orbit((dx / height) * TURN, (dy / height) * TURN);
    } else if (fingers.size === 2) {
      const other = [...fingers.entries()].find(([id]) => id !== event.pointerId)?.[1] ?? finger;
      const before = Math.hypot(finger.x - other.x, finger.y - other.y);
      const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      if (before > 0 && after > 0) camera.zoom(before / after);
      // Each of the two fingers carries the picture half of its own way.
      camera.pan(dx / height / 2, -dy / height / 2);
    }
    finger.x = event.clientX;
    finger.y = event.clientY;
    notify.changed();
  });

  const release = (/** @type {PointerEvent} */ event) => {
    fingers.delete(event.pointerId);
    if (fingers.size === 0) area.classList.remove("grabbed");
  };
  area.addEventListener("pointerup", release);
  area.addEventListener("pointercancel", release);
  area.addEventListener("contextmenu", (event) => event.preventDefault());
  area.addEventListener("dblclick", () => notify.tapped(true));

  area.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      // Lines and pages of the wheel, in pixels.
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? area.clientHeight : 1;
      const steps = Math.max(-120, Math.min(120, event.deltaY * unit));
      camera.zoom(Math.exp(steps * (event.ctrlKey ? 0.01 : 0.0016)));
      notify.changed();
    },
    { passive: false },
  );
}
