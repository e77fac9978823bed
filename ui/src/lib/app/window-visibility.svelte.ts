/** Whether the window is visible: a hidden or minimised one is not being looked at. */
class WindowVisibility {
  visible = $state(document.visibilityState === "visible");
  #waiting: (() => void)[] = [];

  constructor() {
    document.addEventListener("visibilitychange", () => {
      this.visible = document.visibilityState === "visible";
      if (!this.visible) return;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const run of waiting) run();
    });
  }

  /** Runs a function once the window is visible: now, or when it reappears. */
  whenVisible(run: () => void): void {
    if (this.visible) run();
    else this.#waiting.push(run);
  }
}

/** This window's visibility. */
export const windowVisibility = new WindowVisibility();
