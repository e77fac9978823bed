// @vitest-environment jsdom
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { until, words } from "$lib/testing/dom";
import { describe, expect, it } from "vitest";
import App from "../../App.svelte";
import QuickAsk from "./QuickAsk.svelte";

const { replayed, target, show, get } = mountStage();

describe("what pictures are taken of in a replay", () => {
  it("is the question what closing does, when the address asks for it", async () => {
    history.replaceState(null, "", "/?fast&closing");
    await replayed.begin("main");
    show(App, {});
    await until(() => expect((get(testids.closing) as HTMLDialogElement).open).toBe(true));
  });

  it("is the small window, which says where a question goes and has a heading", async () => {
    await replayed.begin("main");
    show(QuickAsk, {});
    await until(() => expect(words(get(testids.quickAsk))).toContain("harbor"));
    expect(target.querySelectorAll("h1").length).toBe(1);
  });
});
