/** A place in the document for the components of a test file: what is shown there goes after each test. */
import { speak } from "$lib/words/words.svelte";
import { type Component, flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, vi } from "vitest";
import { Replayed } from "./replayed";
import { standIn, within } from "./stage";

/** Sets the file up; each test begins in English, and its scene by itself (see {@link Replayed}). */
export function mounted() {
  const replayed = new Replayed();
  const target = document.createElement("div");
  let shown: Record<string, unknown> | null = null;

  function show<Props extends Record<string, unknown>>(component: Component<Props>, props: Props): void {
    shown = mount(component, { target, props });
    flushSync();
  }

  async function close(): Promise<void> {
    if (shown) await unmount(shown);
    shown = null;
  }

  // A busy machine: nothing here waits for time.
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

  beforeAll(() => {
    standIn();
    // Menus and popovers fill when they open.
    HTMLElement.prototype.showPopover = function () {
      this.dispatchEvent(Object.assign(new Event("beforetoggle"), { newState: "open" }));
      flushSync();
    };
    document.body.append(target);
  });

  beforeEach(async () => {
    history.replaceState(null, "", "/?fast");
    await speak("en");
  });

  afterEach(close);

  return { replayed, target, show, close, ...within(target) };
}
