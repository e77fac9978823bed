/** Whether the person can see the window: one that is hidden or minimised is not looked at. */
class Attention {
  here = $state(document.visibilityState === "visible");

  constructor() {
    document.addEventListener("visibilitychange", () => (this.here = document.visibilityState === "visible"));
  }
}

/** The window's attention. */
export const attention = new Attention();
