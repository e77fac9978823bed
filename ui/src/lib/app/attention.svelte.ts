/** Whether the window is visible: a hidden or minimised one is not being looked at. */
class Attention {
  here = $state(document.visibilityState === "visible");
  #waiting: (() => void)[] = [];

  constructor() {
    document.addEventListener("visibilitychange", () => {
      this.here = document.visibilityState === "visible";
      if (!this.here) return;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const run of waiting) run();
    });
  }

  /** Runs a function once the window is visible: now, or when it reappears. */
  once(run: () => void): void {
    if (this.here) run();
    else this.#waiting.push(run);
  }
}

/** This window's visibility. */
export const attention = new Attention();
