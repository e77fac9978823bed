// @vitest-environment jsdom
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { until, words } from "$lib/testing/dom";
import { describe, expect, it } from "vitest";
import App from "../../App.svelte";
import QuickAsk from "./QuickAsk.svelte";

const { replayed, target, show, get } = mountStage();

describe("the replay's address parameters", () => {
  it("can open the question about closing the window", async () => {
    history.replaceState(null, "", "/?fast&closing");
    await replayed.begin("main");
    show(App, {});
    await until(() => expect((get(testids.closing) as HTMLDialogElement).open).toBe(true));
  });

  it("can open the quick question, which has a heading and names its folder", async () => {
    await replayed.begin("main");
    show(QuickAsk, {});
    await until(() => expect(words(get(testids.quickAsk))).toContain("harbor"));
    expect(target.querySelectorAll("h1").length).toBe(1);
  });
});
