/** Fake measurements for virtual lists, in a page without layout. */
import { vi } from "vitest";

/** Makes virtual lists in a scroller render all their rows. */
export function renderAllRows(scroller: string): void {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(readonly told: (entries: unknown[]) => void) {}
      observe(target: Element) {
        const height = target.matches(scroller) ? 900 : 28;
        queueMicrotask(() => this.told([{ target, contentRect: { width: 240, height } }]));
      }
      unobserve() {}
      disconnect() {}
    },
  );
  Object.defineProperty(HTMLElement.prototype, "offsetParent", { get: () => document.body });
}
