/** Whether the person can see the window: one that is hidden or minimised is not looked at. */
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

  /** Does something once the window can be seen: now, or when it comes back. */
  once(run: () => void): void {
    if (this.here) run();
    else this.#waiting.push(run);
  }
}

/** The window's attention. */
export const attention = new Attention();
