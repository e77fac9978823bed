/** What tests of the settings stand on: a replay, and their pages opened one by one. */
import SettingsView from "$components/settings/SettingsView.svelte";
import { browser } from "$lib/app/browser.svelte";
import { library } from "$lib/app/library.svelte";
import type { SettingsPage } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { speak } from "$lib/words/words.svelte";
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, vi } from "vitest";
import { Replayed } from "./replayed";
import { standIn, within } from "./stage";

/** Begins the main scene before each test of a file, and closes what a test opened after it. */
export function settingsStage() {
  const replayed = new Replayed();
  const target = document.createElement("div");
  const props = $state<{ section: SettingsPage }>({ section: "models" });
  let shown: Record<string, unknown> | null = null;

  function open(section: SettingsPage): void {
    props.section = section;
    shown = mount(SettingsView, { target, props });
    flushSync();
  }

  async function close(): Promise<void> {
    if (shown) await unmount(shown);
    shown = null;
  }

  // A busy machine: nothing here waits for time.
  vi.setConfig({ testTimeout: 60_000 });

  beforeAll(() => {
    standIn();
    document.body.append(target);
  });

  beforeEach(async () => {
    history.replaceState(null, "", "/?fast");
    await replayed.begin("main");
    await preferences.begin();
    await library.begin();
    browser.begin();
    await speak("en");
  });

  afterEach(close);

  return { replayed, target, props, open, close, ...within(target) };
}
