import { describe, expect, it } from "vitest";
import { answerDraftsOf } from "./answer-drafts.svelte";

describe("unfinished answers", () => {
  it("belong to a session and stay while their questions are open", () => {
    const drafts = answerDraftsOf("a");
    drafts.words.set("1", "because");
    drafts.words.set("2", "not that");
    drafts.choices.set("2", "the first");
    expect(answerDraftsOf("b").words.size).toBe(0);
    answerDraftsOf("a").keep(["2"]);
    expect([...answerDraftsOf("a").words]).toEqual([["2", "not that"]]);
    expect([...answerDraftsOf("a").choices]).toEqual([["2", "the first"]]);
    answerDraftsOf("a").keep([]);
    expect([drafts.words.size, drafts.choices.size]).toEqual([0, 0]);
  });
});
