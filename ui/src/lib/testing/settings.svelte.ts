/** The setup of settings tests: a replay, and their pages opened one by one. */
import SettingsView from "$components/settings/SettingsView.svelte";
import { browser } from "$lib/app/browser.svelte";
import { library } from "$lib/app/library.svelte";
import type { SettingsPage } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { beforeEach } from "vitest";
import { mounted } from "./mounted";

/** Begins the main scene before each test of a file, and closes everything a test opened after it. */
export function settingsStage() {
  const stage = mounted();
  const props = $state<{ section: SettingsPage }>({ section: "models" });

  function open(section: SettingsPage): void {
    props.section = section;
    stage.show(SettingsView, props);
  }

  beforeEach(async () => {
    await stage.replayed.begin("main");
    await preferences.begin();
    await library.begin();
    browser.begin();
  });

  return { ...stage, props, open };
}
