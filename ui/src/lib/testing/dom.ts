/** The setup of component tests: stand-ins for browser features missing in jsdom, and queries. */
import { flushSync } from "svelte";
import { vi } from "vitest";

/** Installs stand-ins for features jsdom lacks: no resizing or scrolling, a wide window, dialogs that open. */
export function installStubs(): void {
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

/** Returns finders of elements by test id below an element. */
export function within(target: HTMLElement): {
  all: (id: string) => HTMLElement[];
  get: (id: string) => HTMLElement;
} {
  const all = (id: string) => [...target.querySelectorAll<HTMLElement>(`[data-testid="${id}"]`)];
  const get = (id: string) => {
    const element = all(id)[0];
    if (!element) throw new Error(`no ${id} in ${target.textContent}`);
    return element;
  };
  return { all, get };
}

/** Returns an element's text with whitespace as displayed. */
export function words(element: Element): string {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** Waits until a check passes. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(
    () => {
      flushSync();
      check();
    },
    { timeout: 10_000, interval: 5 },
  );
}

/** Types a text into a field. */
export function write(field: HTMLElement, text: string): void {
  (field as HTMLTextAreaElement).value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}

/** Presses a key. */
export function press(element: HTMLElement, key: string, more: KeyboardEventInit = {}): void {
  element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  flushSync();
}
