/** Whether something in an element is being pressed: what moves then is not what was pressed any more. */

/** A press that lasts. */
export interface Press {
  readonly lasts: boolean;
  /** Ends the watching. */
  stop(): void;
}

/** Watches the presses in `element`; `over` is told when one has ended and was acted upon. */
export function watchPress(element: HTMLElement, over: () => void): Press {
  let lasts = false;
  let ending = 0;
  const begin = ({ pointerType }: PointerEvent): void => {
    // A finger moves the list itself; only what is pressed with a pointer must stand still.
    if (pointerType === "touch") return;
    cancelAnimationFrame(ending);
    lasts = true;
  };
  const end = (): void => {
    if (!lasts) return;
    // The click comes after the release, and has to find what was pressed.
    cancelAnimationFrame(ending);
    ending = requestAnimationFrame(() => {
      lasts = false;
      over();
    });
  };
  // A release that was not told, as of a pointer let go over another window, shows in its next move.
  const move = ({ buttons }: PointerEvent): void => {
    if (buttons === 0) end();
  };
  element.addEventListener("pointerdown", begin);
  for (const type of ["pointerup", "pointercancel", "blur"]) addEventListener(type, end);
  addEventListener("pointermove", move);
  return {
    get lasts() {
      return lasts;
    },
    stop() {
      cancelAnimationFrame(ending);
      element.removeEventListener("pointerdown", begin);
      for (const type of ["pointerup", "pointercancel", "blur"]) removeEventListener(type, end);
      removeEventListener("pointermove", move);
    },
  };
}
