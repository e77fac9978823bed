// @vitest-environment jsdom
import { afterEach, describe, expect, it } from "vitest";
import { setLanguage } from "$lib/words/words.svelte";
import { argumentWords, commandWords } from "./commands";

const model = { name: "model", description: null, description_zh: null, argument: "name", argument_zh: null };
const mode = { ...model, name: "mode", argument: "ask | ask_risky | autonomous" };
const notes = {
  ...model,
  name: "notes",
  description: "Notes",
  description_zh: "说明",
  argument: "tag",
  argument_zh: "标签",
};

describe("slash commands", () => {
  afterEach(() => setLanguage("en"));

  it("are described in the current language, with typed parts unchanged", async () => {
    expect([commandWords(notes), argumentWords(notes)]).toEqual(["Notes", "tag"]);
    expect([argumentWords(model), argumentWords(mode)]).toEqual(["name", mode.argument]);
    await setLanguage("zh");
    expect([commandWords(notes), argumentWords(notes)]).toEqual(["说明", "标签"]);
    expect([argumentWords(model), argumentWords(mode)]).toEqual(["名称", mode.argument]);
  });

  it("fall back to the skill's own description", async () => {
    await setLanguage("zh");
    const english = { ...notes, description_zh: null, argument_zh: null };
    expect([commandWords(english), argumentWords(english)]).toEqual(["Notes", "tag"]);
  });
});
