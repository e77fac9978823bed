// @vitest-environment jsdom
import { Conversation } from "$lib/app/conversation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { BROWSER_SESSION } from "$lib/ipc/fake-browser";
import { testids } from "$lib/testids";
import { ReplayCore } from "$lib/testing/replay-core";
import { installStubs, until, within, words } from "$lib/testing/dom";
import { setLanguage } from "$lib/words/words.svelte";
import { type Component, mount, unmount } from "svelte";
import { expect, it, vi } from "vitest";
import SessionView from "./SessionView.svelte";

const drawing = vi.hoisted(() => ({ tries: 0 }));
vi.mock("../transcript/Transcript.svelte", () => ({
  default: () => {
    drawing.tries += 1;
    throw new RangeError("Invalid time value");
  },
}));

it("a transcript that cannot be rendered leaves the title and the message field usable", async () => {
  installStubs();
  history.replaceState(null, "", "/?fast");
  const replayed = new ReplayCore();
  const target = document.createElement("div");
  document.body.append(target);
  await setLanguage("en");
  await replayed.begin("browser");
  await preferences.begin();
  const conversation = new Conversation(BROWSER_SESSION, () => undefined);
  const view = mount(SessionView as unknown as Component<{ conversation: Conversation }>, {
    target,
    props: { conversation },
  });
  const { all } = within(target);
  await until(() => expect(all(testids.composer)).toHaveLength(1));
  const fault = target.querySelector(".error");
  expect(words(fault as Element)).toContain("went wrong inside Octo");
  expect(words(target.querySelector("h1") as Element)).toContain("watering can");
  // It offers a retry.
  expect(drawing.tries).toBe(1);
  fault?.querySelector("button")?.click();
  await until(() => expect(drawing.tries).toBe(2));
  expect(all(testids.composer)).toHaveLength(1);
  await unmount(view);
}, 20_000);
