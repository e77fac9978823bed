/** Tracks whether an element is being pressed: a layout shift then would move the press target. */

/** How long a press lasts after its release, in milliseconds: the click follows it, and a second one may. */
const AGAIN = 300;

/** A press being tracked. */
export interface Press {
  readonly lasts: boolean;
  /** Stops tracking. */
  stop(): void;
}

/** Watches presses in `element`; calls `onend` when one has ended and its click was handled. */
export function watchPress(element: HTMLElement, onend: () => void): Press {
  let continues = false;
  let ending: ReturnType<typeof setTimeout> | undefined;
  const begin = ({ pointerType, button }: PointerEvent): void => {
    // Touch scrolls the list itself, and the system menu may swallow the release of other buttons.
    if (pointerType === "touch" || button !== 0) return;
    clearTimeout(ending);
    ending = undefined;
    continues = true;
  };
  const end = (): void => {
    if (!continues || ending !== undefined) return;
    ending = setTimeout(() => {
      ending = undefined;
      continues = false;
      onend();
    }, AGAIN);
  };
  // A missed release, for example over another window, shows in the next move event.
  const move = ({ buttons }: PointerEvent): void => {
    if (buttons === 0) end();
  };
  element.addEventListener("pointerdown", begin);
  for (const type of ["pointerup", "pointercancel", "blur"]) addEventListener(type, end);
  addEventListener("pointermove", move);
  return {
    get lasts() {
      return continues;
    },
    stop() {
      clearTimeout(ending);
      element.removeEventListener("pointerdown", begin);
      for (const type of ["pointerup", "pointercancel", "blur"]) removeEventListener(type, end);
      removeEventListener("pointermove", move);
    },
  };
}
