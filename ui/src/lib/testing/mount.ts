/** Mounting components in a test file: they are removed after each test. */
import { setLanguage } from "$lib/words/words.svelte";
import { type Component, flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, vi } from "vitest";
import { ReplayCore } from "./replay-core";
import { installStubs, within } from "./dom";

/** Sets up the file: each test starts in English and begins its own scene (see {@link ReplayCore}). */
export function mountStage() {
  const replayed = new ReplayCore();
  const target = document.createElement("div");
  let mounted: Record<string, unknown> | null = null;

  function show<Props extends Record<string, unknown>>(component: Component<Props>, props: Props): void {
    mounted = mount(component, { target, props });
    flushSync();
  }

  async function close(): Promise<void> {
    if (mounted) await unmount(mounted);
    mounted = null;
  }

  // Generous limits for a busy machine; nothing here depends on time.
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

  beforeAll(() => {
    installStubs();
    // Menus and popovers render their content on opening.
    HTMLElement.prototype.showPopover = function () {
      this.dispatchEvent(Object.assign(new Event("beforetoggle"), { newState: "open" }));
      flushSync();
    };
    document.body.append(target);
  });

  beforeEach(async () => {
    history.replaceState(null, "", "/?fast");
    await setLanguage("en");
  });

  afterEach(close);

  return { replayed, target, show, close, ...within(target) };
}
