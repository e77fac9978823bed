// @vitest-environment jsdom
import { library } from "$lib/app/library.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { testids } from "$lib/testids";
import { mounted } from "$lib/testing/mounted";
import { press, until, write } from "$lib/testing/stage";
import { describe, expect, it } from "vitest";
import NewSession from "./NewSession.svelte";

const { replayed, show, get, close } = mounted();

describe("a new session", () => {
  it("has the name it is given; without one the core makes it from the first message", async () => {
    await replayed.begin("main");
    await Promise.all([preferences.begin(), library.begin()]);
    for (const [name, title] of [
      ["  The release of May ", "The release of May"],
      ["   ", undefined],
    ] as const) {
      show(NewSession, { place: "/work" });
      const field = get(testids.newTitle) as HTMLInputElement;
      write(field, name);
      press(field, "Enter");
      await until(() => expect(document.activeElement).toBe(get(testids.composer)));
      write(get(testids.composer) as HTMLTextAreaElement, "Say one");
      press(get(testids.composer), "Enter");
      await until(() => expect(replayed.last("start_session")?.folder).toBe("/work"));
      expect(replayed.last("start_session")?.title).toBe(title);
      await close();
      await replayed.begin("main");
    }
  });
});
