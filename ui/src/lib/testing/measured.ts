/** What measures a list for it, in a page that is laid out nowhere. */
import { vi } from "vitest";

/** A list draws what is in view: from now on that is all of it, in whatever scrolls it. */
export function drawsAll(scroller: string): void {
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
