/** What component tests stand on: the parts of a browser that jsdom has none of, and looking at what is shown. */
import { flushSync } from "svelte";
import { vi } from "vitest";

/** Puts stand-ins where jsdom has nothing: nothing is ever resized or scrolled, the window is wide, dialogs open. */
export function standIn(): void {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  Element.prototype.scrollIntoView = () => undefined;
  HTMLElement.prototype.hidePopover = () => undefined;
  HTMLElement.prototype.showPopover = () => undefined;
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function () {
    this.open = false;
    this.dispatchEvent(new Event("close"));
  };
}

/** Finds what carries a test id below an element. */
export function within(target: HTMLElement): {
  all: (id: string) => HTMLElement[];
  get: (id: string) => HTMLElement;
} {
  const all = (id: string) => [...target.querySelectorAll<HTMLElement>(`[data-testid="${id}"]`)];
  const get = (id: string) => {
    const found = all(id)[0];
    if (!found) throw new Error(`no ${id} in ${target.textContent}`);
    return found;
  };
  return { all, get };
}

/** What is read of an element, spaces as one sees them. */
export function words(element: Element): string {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** Waits until a check holds of what is shown. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(
    () => {
      flushSync();
      check();
    },
    { timeout: 10_000, interval: 5 },
  );
}

/** Writes into a field, as typing does. */
export function write(field: HTMLElement, text: string): void {
  (field as HTMLTextAreaElement).value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}

/** Presses a key. */
export function press(at: HTMLElement, key: string, more: KeyboardEventInit = {}): void {
  at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  flushSync();
}
