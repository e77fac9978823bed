/** The setup of settings tests: a replay, and their pages opened one by one. */
import SettingsView from "$components/settings/SettingsView.svelte";
import { browser } from "$lib/app/browser.svelte";
import { sessionList } from "$lib/app/session-list.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import type { SettingsPage } from "$lib/app/settings-pages";
import { beforeEach, expect } from "vitest";
import { mountStage } from "./mount";
import { until } from "./dom";

/** Begins the main scene before each test of a file, and closes everything a test opened after it. */
export function settingsStage() {
  const stage = mountStage();
  const props = $state<{ section: SettingsPage }>({ section: "models" });

  async function open(section: SettingsPage): Promise<void> {
    props.section = section;
    stage.show(SettingsView, props);
    await until(() => expect(stage.target.querySelector(".settings-page > *")).toBeTruthy());
  }

  beforeEach(async () => {
    await stage.replayed.begin("main");
    await preferences.begin();
    await sessionList.begin();
    browser.begin();
  });

  return { ...stage, props, open };
}
