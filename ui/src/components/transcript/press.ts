/** Whether something in an element is being pressed: what moves then is not what was pressed any more. */

/** How long a press lasts after its release, in milliseconds: the click comes after it, and a second one may. */
const AGAIN = 300;

/** A press that lasts. */
export interface Press {
  readonly lasts: boolean;
  /** Ends the watching. */
  stop(): void;
}

/** Watches the presses in `element`; `over` is told when one has ended and was acted upon. */
export function watchPress(element: HTMLElement, over: () => void): Press {
  let lasts = false;
  let ending: ReturnType<typeof setTimeout> | undefined;
  const begin = ({ pointerType, button }: PointerEvent): void => {
    // A finger moves the list itself, and of other buttons the system's menu may take the release.
    if (pointerType === "touch" || button !== 0) return;
    clearTimeout(ending);
    ending = undefined;
    lasts = true;
  };
  const end = (): void => {
    if (!lasts || ending !== undefined) return;
    ending = setTimeout(() => {
      ending = undefined;
      lasts = false;
      over();
    }, AGAIN);
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
      clearTimeout(ending);
      element.removeEventListener("pointerdown", begin);
      for (const type of ["pointerup", "pointercancel", "blur"]) removeEventListener(type, end);
      removeEventListener("pointermove", move);
    },
  };
}
